"""Limits with their rates: no spike, no ridge, a heavy one, few and many samples, narrow and wide, aligned, one step.

A rate is read off at two places: what is left of the limit falls by 2^k where the parameter is halved. Left over may be
a quarter of it, where another rate would be off by half or more, and the next order.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from hypothesis import strategies as st

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import at_most, decided, error_of, near, trusted
from giantsteps.verify.properties.property import THEORY, Theory, altered, holds, plant, plant_in_step
from giantsteps.verify.properties.strategies import ODD, odd, powers, stepped, tame, wide
from giantsteps.verify.protocol.tolerances import CONVEX_SOLVER
from giantsteps.verify.second_route.grids import LINE, WEIGHT

# A rate of another order is off by half or more.
SHARE = 0.25
# Beside the size of the limit the next order has a coefficient of at most this: the parameters are of order one.
NEXT = 1.0
# How much narrower a network is that shows the next order in the inverse of its width.
NARROWER = 16
RATE = "a quarter of what is left of the limit, where another rate is off by half; the next order; the solver's errors"


def rate(left: Callable[[float], float], h: float, order: int, size: float, noise: float, following: int = 0) -> float:
    """The margin of left(h) ~ h^order: 2^order left(h/2) against left(h); the next order is `following` or 1 more."""
    whole, half = left(h), 2**order * left(h / 2)
    return near(half, whole, SHARE * abs(whole) + NEXT * size * h ** (following or order + 1) + noise)


def of_model(model: Model) -> str:
    """giantsteps solve of what was drawn."""
    return commands.solve(model)


def changed(**values: Callable[[Model], Any]) -> Callable[[Model], Solution]:
    """The solver, of another model than the one that it was asked for."""
    return lambda model: THEORY.solve(model.changed(**{name: value(model) for name, value in values.items()}))


def moved(share: Callable[[Model], float]) -> Callable[[Model], Solution]:
    """The solver with a test error that is off by a share of itself."""

    def solve(model: Model) -> Solution:
        found = THEORY.solve(model)
        return replace(found, test_error=found.test_error * (1.0 + share(model)))

    return solve


def size_of(model: Model, theory: Theory) -> float:
    """E[y^2], what no error of a sensible readout exceeds by much."""
    return theory.constants(model.target).h2 + model.noise


def heavier(model: Model) -> float:
    """How much the samples press beside the ridge: that of the square of the features, times samples per neuron."""
    features = model.spike**2 + model.bulk + 1.0
    return features * (1.0 + model.alpha / model.beta + model.alpha)


# ---- the ridge ----


@holds(
    "bounds.error-infinity", drawn=st.tuples(tame(), powers(4, 6)), reason=RATE,
    planted=plant("an eighth of a per cent is missing at any ridge", solve=moved(lambda model: 1.25e-3)),
    shown=lambda case: commands.swept(case[0], "ridge", case[1], 2 * case[1]),
)  # fmt: skip
def heavy_ridge(case: tuple[Model, float], theory: Theory) -> float:
    """As the ridge grows the test error tends to the upper bound, like its inverse."""
    model, factor = case
    upper = theory.bounds(model)
    heavy = heavier(model) * factor

    def left(h: float) -> float:
        return trusted(theory, model.changed(ridge=heavy / (h * factor))).test_error - upper.upper

    noise = error_of(trusted(theory, model.changed(ridge=heavy))) + 10 * upper.error_estimate
    return rate(left, 1 / factor, 1, size_of(model, theory), 3 * noise)


@holds(
    "result-3-3.marchenko-pastur-V2", drawn=st.tuples(tame(), powers(1, 8)),
    reason="exact inequalities on both sides; rounding",
    planted=altered("V2 is that of half the ridge", "solve", order_parameters=lambda _, model: THEORY.solve(
        model.changed(ridge=model.ridge / 2)).order_parameters),
    shown=lambda case: commands.swept(case[0], "ridge", case[1]),
)  # fmt: skip
def response_at_a_heavy_ridge(case: tuple[Model, float], theory: Theory) -> float:
    """1/(ridge + (alpha/beta) E[sigma^2]) <= V2 <= 1/ridge: as the ridge grows V2 tends to its inverse."""
    model, ridge = case
    V2 = float(trusted(theory, model.changed(ridge=ridge)).order_parameters.V2[0])
    # The argument of the activation has variance r^2 + c over new inputs.
    scale = math.hypot(model.spike, math.sqrt(model.bulk))
    square = float(WEIGHT @ theory.evaluate(model.activation.expression, scale * LINE) ** 2)
    low = 1.0 / (ridge + model.alpha / model.beta * square)
    return min(at_most(low, V2, 1e-9 * low, V2), at_most(V2, 1.0 / ridge, 1e-9 / ridge, V2))


@holds(
    "one-solution.without-ridge.above",
    drawn=st.tuples(tame(activations=("sin", "cos(z)+z/2", "gelu", "tanh(2*z)")), powers(-6, -5)), reason=RATE,
    planted=plant("the ridge enters by its root", solve=changed(ridge=lambda model: math.sqrt(model.ridge))),
    shown=lambda case: commands.swept(case[0], "ridge", 0.0, case[1] / 2, case[1]),
)  # fmt: skip
def no_ridge(case: tuple[Model, float], theory: Theory) -> float:
    """With more samples than neurons the test error tends to that without ridge, like the ridge."""
    model, h = case[0].changed(alpha=case[0].alpha + 1.5 * case[0].beta), case[1]
    without = trusted(theory, model.changed(ridge=0.0))
    solved = {x: trusted(theory, model.changed(ridge=x)) for x in (h, h / 2)}
    # Beside the ridge stands (alpha/beta) E[mu2^2/(1+V)], which may be as small as 1e-3.
    size = 1e3 * (without.test_error + model.noise)
    return rate(
        lambda x: solved[x].test_error - without.test_error, h, 1, size, 3 * error_of(without, *solved.values())
    )


@holds(
    "result-3-3.training-error",
    drawn=st.tuples(tame(activations=("sin", "cos(z)+z/2"), spike=powers(-1, 0)), powers(-6, -5)), reason=RATE,
    planted=altered("the labels are not fitted: a millionth of the noise stays", "solve",
                    training_error=lambda found, _: found.training_error + 1e-6),
    shown=lambda case: commands.swept(case[0], "ridge", case[1] / 2, case[1]),
)  # fmt: skip
def interpolation(case: tuple[Model, float], theory: Theory) -> float:
    """With fewer samples than neurons the training error vanishes like the square of the ridge."""
    model, h = case[0].changed(beta=2.0 * (case[0].alpha + case[0].beta)), case[1]

    def left(ridge: float) -> float:
        return trusted(theory, model.changed(ridge=ridge)).training_error

    # The eigenvalues of the kernel are not under 1e-2 here, so that the series is one in some hundred ridges.
    return rate(left, h, 2, 1e5 * size_of(model, theory), 1e-20)


# ---- the spike ----


@holds(
    "no-spike.test-error", drawn=st.tuples(wide(spike=0.0, ridge=powers(-6, 6)), st.integers(-20, 20)),
    reason="ten times the estimates of both errors",
    planted=plant("a tenth of the alignment is left", solve=lambda model: THEORY.solve(
        model.changed(spike=model.spike + 0.1 * model.alignment))),
    shown=lambda case: commands.swept(case[0], "alignment", case[0].alignment, case[1] / 20),
)  # fmt: skip
def no_spike_at_any_alignment(case: tuple[Model, int], theory: Theory) -> float:
    """Without a spike the test error does not depend on the alignment."""
    one, other = (trusted(theory, model) for model in (case[0], case[0].changed(alignment=case[1] / 20)))
    return near(one.test_error, other.test_error, error_of(one, other))


@holds(
    "no-spike.zeta", drawn=odd(spike=0.0), reason="the unknowns are solved to 1e-12, beside numbers up to 1e2",
    planted=plant("the alignment is squared", solve=changed(alignment=lambda model: model.alignment**2)),
    shown=of_model,
)  # fmt: skip
def no_spike_overlaps(model: Model, theory: Theory) -> float:
    """Without a spike zeta : psi = gamma : sqrt(1 - gamma^2): the direction v is one like any other."""
    order = trusted(theory, model).order_parameters
    zeta, psi = float(order.zeta[0]), float(order.psi[0])
    across = math.sqrt(1.0 - model.alignment**2)
    return near(zeta * across, psi * model.alignment, 1e-9 * (abs(zeta) + abs(psi)) + 1e-12)


@holds(
    "vanishing-spike.test-error", drawn=st.tuples(odd(), powers(-3, -2)), reason=RATE,
    planted=plant("the spike enters by its size", solve=changed(
        spike=lambda model: model.spike + (0.02 * abs(model.spike)) ** 0.5)),
    shown=lambda case: commands.swept(case[0], "spike", case[1] / 4, case[1] / 2, case[1]),
)  # fmt: skip
def vanishing_spike(case: tuple[Model, float], theory: Theory) -> float:
    """As the spike vanishes the test error of odd features tends to its limit like the square of the spike."""
    model, r = case
    solved = {x: trusted(theory, model.changed(spike=x)) for x in (r, r / 2, r / 4)}
    size = size_of(model, theory) * (1.0 + 1.0 / model.ridge)

    def left(x: float) -> float:
        return solved[x].test_error - solved[x / 2].test_error

    return rate(left, r, 2, size, 8 * error_of(*solved.values()), 4)


@holds(
    "vanishing-spike.m", drawn=st.tuples(odd(), powers(-4, -3)),
    reason="what is left is of the order of the square of the spike, with a factor 1/ridge; NEXT times that",
    planted=plant("the alignment is that of four fifths", solve=changed(alignment=lambda model: 0.8 * model.alignment)),
    shown=lambda case: commands.swept(case[0], "spike", case[1]),
)  # fmt: skip
def mean_of_a_vanishing_spike(case: tuple[Model, float], theory: Theory) -> float:
    """As the spike vanishes r m tends to gamma h1*/mu1: m alone learns the linear part along the spike."""
    model, r = case[0].changed(spike=case[1]), case[1]
    slope = float(theory.coefficients(model.activation, 0.0, model.bulk, 0.0, np.zeros(1)).mu1[0])
    expected = model.alignment * theory.constants(model.target).h1 / slope
    found = r * float(trusted(theory, model).order_parameters.m[0])
    return near(found, expected, NEXT * r**2 * (1.0 + abs(expected)) * (1.0 + 1.0 / model.ridge) + 1e-9)


# ---- samples and neurons ----


@holds(
    "random-features.many-samples", drawn=st.tuples(tame(), powers(5, 7)), reason=RATE,
    planted=altered("the label noise is left out of the training error", "solve",
                    training_error=lambda found, model: found.training_error - model.noise - 1e-4),
    shown=lambda case: commands.swept(case[0], "alpha", case[1], 2 * case[1]),
)  # fmt: skip
def many_samples(case: tuple[Model, float], theory: Theory) -> float:
    """With many samples the training error tends to test error plus noise, like their inverse."""
    model, alpha = case
    solved = {1 / x: trusted(theory, model.changed(alpha=x)) for x in (alpha, 2 * alpha)}

    def left(h: float) -> float:
        found = solved[min(solved, key=lambda x: abs(x - h))]
        return found.test_error + model.noise - found.training_error

    weak = 1.0 + 1.0 / model.ridge + 1e3 * model.beta**2
    return rate(left, 1 / alpha, 1, weak * size_of(model, theory), 3 * error_of(*solved.values()))


def _readout_of_the_mean(model: Model, theory: Theory) -> float:
    """E(g - m mu0)^2 with m = E[mu0 y0/(1 + V0)]/E[mu0^2/(1 + V0)], V0 = (c mu1^2 + mu2^2)/ridge: no features but the
    mean, weighted as few samples weight it."""
    features = theory.coefficients(model.activation, model.spike, model.bulk, 0.0, LINE)
    labels = theory.moments(model.target, model.alignment, LINE)
    weight = WEIGHT / (1.0 + (model.bulk * features.mu1**2 + features.mu2**2) / model.ridge)
    m = float(weight @ (features.mu0 * labels.y0)) / float(weight @ features.mu0**2)
    return float(WEIGHT @ (labels.y2 - 2.0 * m * features.mu0 * labels.y0 + m**2 * features.mu0**2))


@holds(
    "result-3-3.saddle.m", drawn=st.tuples(tame(ridge=powers(-1, 1)), powers(-7, -5)), reason=RATE,
    planted=plant("a ridge of two thirds", solve=changed(ridge=lambda model: model.ridge / 1.5)),
    shown=lambda case: commands.swept(case[0], "alpha", case[1] / 2, case[1]),
)  # fmt: skip
def few_samples(case: tuple[Model, float], theory: Theory) -> float:
    """With few samples only the mean is learned, and the test error tends to that of the mean like their number."""
    model, alpha = case
    limit = _readout_of_the_mean(model, theory)
    solved = {x: trusted(theory, model.changed(alpha=x)) for x in (alpha, alpha / 2)}
    size = size_of(model, theory) * (1.0 + (model.spike**2 + model.bulk) / model.ridge / model.beta) ** 2
    noise = error_of(*solved.values()) + 1e-9 * limit
    return rate(lambda x: solved[x].test_error - limit, alpha, 1, size, 3 * noise)


@holds(
    "bounds.upper-any-alignment", drawn=st.tuples(tame(), powers(-6, -5)), reason=RATE,
    planted=plant("the width is never under a thousandth", solve=changed(beta=lambda model: max(model.beta, 1e-3))),
    shown=lambda case: commands.swept(case[0], "beta", case[1] / 2, case[1]),
)  # fmt: skip
def narrow(case: tuple[Model, float], theory: Theory) -> float:
    """With few neurons the test error tends to the upper bound, that of their mean, like their number."""
    model, beta = case
    upper = theory.bounds(model)
    solved = {x: trusted(theory, model.changed(beta=x)) for x in (beta, beta / 2)}
    size = 1e2 * size_of(model, theory) * (1.0 + 1.0 / model.alpha)
    noise = error_of(*solved.values()) + 10 * upper.error_estimate
    return rate(lambda x: solved[x].test_error - upper.upper, beta, 1, size, 3 * noise)


@holds(
    "random-features.kernel", drawn=st.tuples(tame(ridge=powers(-1, 1)), powers(5, 6)), reason=RATE,
    planted=plant("the width enters by its root", solve=changed(beta=lambda model: model.beta**0.5)),
    shown=lambda case: commands.swept(case[0], "beta", case[1], 2 * case[1], 4 * case[1]),
)  # fmt: skip
def wide_network(case: tuple[Model, float], theory: Theory) -> float:
    """As the width grows the test error tends to that of the kernel, like the inverse of the width."""
    model, beta = case
    solved = [trusted(theory, model.changed(beta=x)) for x in (beta, 2 * beta, 4 * beta)]
    first, second, third = (one.test_error for one in solved)
    size = 1e3 * size_of(model, theory) * (1.0 + model.alpha) ** 2
    allowed = SHARE * abs(first - second) + NEXT * size / beta**2 + 3 * error_of(*solved)
    return near(2 * (second - third), first - second, allowed)


@holds(
    "dropped.m-hat", drawn=st.tuples(tame(), powers(8, 10)),
    reason="a fiftieth of the first order, a tenth of the second, where 1.2 or 0.9 for the first power is off by more; "
           "the solver's errors",
    planted=altered("at a width stands the value at its root", "solve",
                    widened=lambda found, _: lambda __, width: found.at_width(width**0.5)),
    shown=lambda case: commands.solve(case[0], width=round(case[1])),
)  # fmt: skip
def finite_width(case: tuple[Model, float], theory: Theory) -> float:
    """The test error at a finite width tends to the limit like a/p + b/p^2, the inverse of the width and its square."""
    model, width = case
    limit = trusted(theory, model)
    near_by = [limit.at_width(part * width) for part in (1 / NARROWER, 1.0, 2.0)]
    decided(all(one.converged for one in near_by))
    narrow, whole, half = (one.test_error - limit.test_error for one in near_by)
    # Where mu0 is nearly zero the limit is reached late, at 10^6 neurons, and b is beyond 10^6 a: at one width both may
    # even cancel. Two widths tell a and b, with b to as much as the third order is beside it at the smaller one.
    second = (narrow - NARROWER * whole) / (NARROWER**2 - NARROWER)
    first = whole - second
    noise = 3 * error_of(limit, *near_by)
    return near(half, first / 2 + second / 4, 0.02 * abs(first) + 0.1 * abs(second) + noise)


# ---- the target along the spike, and its argument ----


@holds(
    "result-3-2.target-across-spike", drawn=st.tuples(tame(), powers(-6, -4)), reason=RATE,
    planted=plant("1 - gamma enters by its root", solve=changed(
        alignment=lambda model: 1.0 - 0.01 * (1.0 - model.alignment) ** 0.5)),
    shown=lambda case: commands.swept(case[0], "alignment", 1.0 - case[1], 1.0 - case[1] / 2, 1.0),
)  # fmt: skip
def aligned(case: tuple[Model, float], theory: Theory) -> float:
    """As the spike turns to the target the test error tends to that of the aligned one, like 1 - gamma."""
    model, h = case
    limit = trusted(theory, model.changed(alignment=1.0))
    solved = {x: trusted(theory, model.changed(alignment=1.0 - x)) for x in (h, h / 2)}
    noise = 3 * error_of(limit, *solved.values())
    return rate(lambda x: solved[x].test_error - limit.test_error, h, 1, size_of(model, theory), noise)


@holds(
    "result-3-3.saddle.zeta", drawn=odd(alignment=0.0), reason="exactly zero by parity; rounding of the averages",
    planted=plant("the alignment is never under a hundredth", solve=changed(
        alignment=lambda model: max(model.alignment, 0.01))),
    shown=of_model,
)  # fmt: skip
def across(model: Model, theory: Theory) -> float:
    """Where the target lies across the spike an odd readout has m = zeta = 0."""
    order = trusted(theory, model).order_parameters
    return near([order.m[0], order.zeta[0]], 0.0, 1e-10)


@holds(
    "result-3-2.heat-equation",
    drawn=st.tuples(st.sampled_from(ODD), powers(-5, -4)), reason="a quarter of what is left; the next order; rounding",
    planted=plant("the bulk enters by twice its root", coefficients=lambda activation, spike, bulk, bias, kappa:
                  THEORY.coefficients(activation, spike, 2 * bulk**0.5, bias, kappa)),
    shown=lambda case: commands.activation(case[0], bulk=case[1]),
)  # fmt: skip
def little_bulk(case: tuple[str, float], theory: Theory) -> float:
    """As the bulk vanishes mu0 tends to the activation itself, like the bulk."""
    from giantsteps.derivations.activations.activation import activation

    sigma, c = activation(case[0]), case[1]
    kappa = np.linspace(-2.0, 2.0, 9)
    limit = np.asarray(theory.evaluate(sigma.expression, kappa))
    whole, half = (theory.coefficients(sigma, 1.0, x, 0.0, kappa).mu0 - limit for x in (c, c / 2))
    return near(2 * half, whole, SHARE * float(np.max(np.abs(whole))) + NEXT * c**2 + 1e-14)


# ---- the gradient step ----

_STEPPED = partial(commands.stepped)


@holds(
    "result-3-1.alignment", drawn=stepped(alpha0=powers(3, 5)), reason=RATE,
    planted=plant_in_step("the batch enters by its root", lambda given: {"alpha0": given["alpha0"] ** 0.5}),
    shown=_STEPPED,
)  # fmt: skip
def large_batch(given: dict[str, Any], theory: Theory) -> float:
    """With a large batch the spike is the target's direction: 1 - |gamma| falls like the inverse of the batch."""
    h = 1 / given["alpha0"]

    def left(x: float) -> float:
        return 1.0 - abs(theory.step(**(given | {"alpha0": 1.0 / x})).alignment)

    # E[y^2]/h1*^2 of the targets that are drawn is at most 15 (sin, label noise of 1/2), and enters by its square.
    return rate(left, h, 1, 300.0, 1e-14)


@holds(
    "result-3-1.alignment-order", drawn=stepped(alpha0=powers(-5, -3)), reason=RATE,
    planted=plant_in_step("the labels have no noise beside the target", lambda given: {"noise": given["noise"] + 0.1}),
    shown=_STEPPED,
)  # fmt: skip
def small_batch(given: dict[str, Any], theory: Theory) -> float:
    """With a small batch the alignment is h1* sqrt(alpha0/E[y^2]), up to the share alpha0."""
    target = theory.constants(theory.step(**given).target)
    second = target.h2 + given["noise"]
    scaled = theory.step(**given).alignment / math.sqrt(given["alpha0"])
    expected = target.h1 / math.sqrt(second)
    return near(scaled, expected, abs(expected) * given["alpha0"] + 1e-12)


@holds(
    "result-3-1.spike-strength", drawn=stepped(alpha0=powers(3, 5)), reason=RATE,
    planted=plant_in_step("the rate is taken beside alpha0",
                          lambda given: {"eta": given["eta"] * (1.0 + given["alpha0"] ** -0.5)}),
    shown=_STEPPED,
)  # fmt: skip
def spike_of_a_large_batch(given: dict[str, Any], theory: Theory) -> float:
    """With a large batch the spike tends to (eta/beta) |h1 h1*|, like the inverse of the batch."""
    student, target = (theory.constants(theory.step(**given).activation), theory.constants(theory.step(**given).target))
    limit = float(given["eta"] / given["beta"] * abs(student.h1 * target.h1))

    def left(x: float) -> float:
        return float(abs(theory.step(**(given | {"alpha0": 1.0 / x})).spike) - limit)

    return rate(left, 1 / given["alpha0"], 1, 300.0 * limit, 1e-12 * limit)


@holds(
    "convex.square-loss-solution", examples=4,
    drawn=odd(ridge=powers(-1, 1)), reason=CONVEX_SOLVER.reason,
    planted=plant("half of the ridge", solve=lambda model: THEORY.solve(
        model if model.loss.name == "square" else model.changed(ridge=model.ridge / 2))),
    shown=lambda model: commands.solve(model, loss="huber:1000"),
)  # fmt: skip
def far_huber(model: Model, theory: Theory) -> float:
    """Huber's loss that turns far out is the square loss."""
    square = trusted(theory, model)
    far = trusted(theory, model.changed(loss="huber:1000"))
    assert far.mean_squared_error is not None
    return near(far.mean_squared_error, square.test_error, CONVEX_SOLVER.value * (1.0 + square.test_error))
