"""Averages: of the features and the target along the spike, the constants of the step, summed on a plain grid."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import error_of, near, trusted
from giantsteps.verify.properties.property import THEORY, Property, Theory, altered, holds, plant
from giantsteps.verify.properties.strategies import ANY, ODD, SMOOTH, powers, stepped, steps
from giantsteps.verify.protocol.tolerances import FINITE_DIFFERENCE, QUADRATURE
from giantsteps.verify.second_route.grids import LINE, WEIGHT, average

Array = NDArray[np.float64]
BOTH = "ten times the estimates of both"

# ---- functions along the spike ----

_LINES = st.tuples(st.sampled_from(SMOOTH), steps(-40, 40, "0.05"), steps(5, 40, "0.05"))


def _of_line(case: tuple[str, float, float]) -> str:
    return commands.activation(case[0], spike=abs(case[1]), bulk=case[2])


_LARGER_MU1 = altered("mu1 is a thousandth too large", "coefficients", mu1=lambda at, *_: 1.001 * at.mu1 + 1e-6)


@holds(
    "result-3-2.equivalent-mean", drawn=_LINES, reason=QUADRATURE.reason, shown=_of_line,
    planted=altered("mu0 is a thousandth too large", "coefficients", mu0=lambda at, *_: 1.001 * at.mu0 + 1e-6),
)  # fmt: skip
def mean_of_the_means(case: tuple[str, float, float], theory: Theory) -> float:
    """E mu0(kappa) = E sigma(sqrt(r^2 + c) z)."""
    _, r, c = case
    sigma = activation(case[0])
    found = float(WEIGHT @ theory.coefficients(sigma, r, c, 0.0, LINE).mu0)
    scale = math.hypot(r, math.sqrt(c))
    expected = average(lambda z: theory.evaluate(sigma.expression, scale * z))
    return near(found, expected, QUADRATURE.value * (1.0 + abs(expected)))


@holds(
    "result-3-2.residual-variance", drawn=_LINES, reason=QUADRATURE.reason, shown=_of_line,
    planted=_LARGER_MU1,
)  # fmt: skip
def square_of_the_features(case: tuple[str, float, float], theory: Theory) -> float:
    """E[mu0^2 + c mu1^2 + mu2^2] = E sigma(sqrt(r^2 + c) z)^2."""
    _, r, c = case
    sigma = activation(case[0])
    mu0, mu1, mu2 = theory.coefficients(sigma, r, c, 0.0, LINE)
    scale = math.hypot(r, math.sqrt(c))
    expected = average(lambda z: theory.evaluate(sigma.expression, scale * z) ** 2)
    return near(float(WEIGHT @ (mu0**2 + c * mu1**2 + mu2**2)), expected, QUADRATURE.value * (1.0 + expected))


_PLACES = np.linspace(-2.0, 2.0, 9)


@holds(
    "result-3-2.slope-of-mu0", drawn=_LINES, reason=FINITE_DIFFERENCE.reason, shown=_of_line,
    planted=_LARGER_MU1,
)  # fmt: skip
def slope_of_mu0(case: tuple[str, float, float], theory: Theory) -> float:
    """mu1 is the slope of mu0 in its argument."""
    c, h, sigma = case[2], 1e-4, activation(case[0])
    up, down = (theory.coefficients(sigma, 0.0, c, bias, np.zeros(1)).mu0 for bias in (0.7 + h, 0.7 - h))
    expected = theory.coefficients(sigma, 0.0, c, 0.7, np.zeros(1)).mu1
    return near((up - down) / (2 * h), expected, FINITE_DIFFERENCE.value * (1.0 + float(np.abs(expected[0]))))


@holds(
    "result-3-2.heat-equation", drawn=_LINES, reason="central differences, step 1e-3 of a function of order one: 1e-6, "
    "times twenty for activations that bend on a scale of 1/3", shown=_of_line,
    planted=plant("the bulk enters by its root", coefficients=lambda sigma, r, c, bias, kappa:
                  THEORY.coefficients(sigma, r, c**0.5, bias, kappa)),
)  # fmt: skip
def heat_equation(case: tuple[str, float, float], theory: Theory) -> float:
    """d mu0/dc = (1/2) d^2 mu0/dx^2."""
    c, h, sigma = case[2], 1e-3, activation(case[0])

    def mu0(bulk: float, shift: float) -> Array:
        return theory.coefficients(sigma, 1.0, bulk, shift, _PLACES).mu0

    rise = (mu0(c + h, 0.0) - mu0(c - h, 0.0)) / (2 * h)
    bend = (mu0(c, h) - 2 * mu0(c, 0.0) + mu0(c, -h)) / h**2
    return near(rise, bend / 2, 2e-5)


@holds(
    "result-3-1.first-coefficient", drawn=st.sampled_from((*ANY, "he3", "z**3/6-z/2")),
    reason="ten times the estimates",
    shown=commands.activation,
    planted=altered("h1 is a thousandth too large", "constants", h1=lambda found, _: 1.001 * found.h1 + 1e-6),
)  # fmt: skip
def constants_are_functions_without_a_spike(name: str, theory: Theory) -> float:
    """Without a spike mu0, mu1 and mu2^2 are E[sigma], h1 and h2 - E[sigma]^2 - h1^2."""
    sigma = activation(name)
    found, known = theory.coefficients(sigma, 0.0, 1.0, 0.0, np.zeros(1)), theory.constants(sigma)
    rest = known.h2 - known.mean**2 - known.h1**2
    allowed = 20 * sum(known.errors[:3]) * (1.0 + abs(known.mean) + abs(known.h1)) + 1e-12 * (1.0 + known.h2)
    return near([found.mu0[0], found.mu1[0], found.mu2[0] ** 2], [known.mean, known.h1, rest], allowed)


@holds(
    "result-3-2.target-across-spike", drawn=st.tuples(st.sampled_from(SMOOTH), st.integers(-19, 19)),
    reason=QUADRATURE.reason, shown=lambda case: commands.activation("tanh(z)", target=case[0]),
    planted=altered("y1 is a thousandth too large", "moments", y1=lambda found, *_: 1.001 * found.y1 + 1e-6),
)  # fmt: skip
def target_along_and_across(case: tuple[str, int], theory: Theory) -> float:
    """E[kappa y0] = gamma h1*, E[y1] = sqrt(1 - gamma^2) h1*, E[y2] = h2*."""
    target, gamma = activation(case[0]), case[1] / 20
    found, known = theory.moments(target, gamma, LINE), theory.constants(target)
    summed = [WEIGHT @ (LINE * found.y0), WEIGHT @ found.y1, WEIGHT @ found.y2]
    expected = [gamma * known.h1, math.sqrt(1 - gamma**2) * known.h1, known.h2]
    return near(summed, expected, QUADRATURE.value * (1.0 + known.h2))


# ---- the step ----


def _averages(given: dict[str, Any], theory: Theory) -> tuple[float, float, float, float]:
    """h1, E[(sigma' - h1)^2], h1* and E[y^2], summed on a grid."""
    student, target = (activation(given[name]).expression for name in ("activation", "target"))
    slope_of = theory.derivative(student)
    h1 = average(lambda z: theory.evaluate(slope_of, z))
    check = average(lambda z: (theory.evaluate(slope_of, z) - h1) ** 2)
    first = average(lambda z: z * theory.evaluate(target, z))
    return h1, check, first, average(lambda z: theory.evaluate(target, z) ** 2) + given["noise"]


def _of_step(name: str, claim: str, sentence: str, expected: Callable[..., float], text: str, **wrong: Any) -> Property:
    """A number of the gradient step beside its formula, with averages summed on a grid."""

    def margin(given: dict[str, Any], theory: Theory) -> float:
        value = expected(given, *_averages(given, theory))
        return near(getattr(theory.step(**given), name), value, QUADRATURE.value * (1.0 + abs(value)))

    def planted(**given: Any) -> Model:
        return THEORY.step(**(given | {key: change(given) for key, change in wrong.items()}))

    return Property(
        f"averages.step-{name}", sentence, claim, stepped(noise=steps(0, 20, "0.05"), alpha0=powers(-2, 2)), margin,
        QUADRATURE.reason, plant(text, step=planted), commands.stepped, 16,
    )  # fmt: skip


step_spike = _of_step(
    "spike", "result-3-1.spike-strength-noisy", "r = (eta/beta) h1 sqrt(h1*^2 + E[y^2]/alpha0).",
    lambda g, h1, check, first, second: g["eta"] / g["beta"] * h1 * math.sqrt(first**2 + second / g["alpha0"]),
    "noise by its square", noise=lambda g: g["noise"] ** 2 + 0.01,
)  # fmt: skip
step_alignment = _of_step(
    "alignment", "result-3-1.alignment-noisy", "gamma = h1*/sqrt(h1*^2 + E[y^2]/alpha0).",
    lambda g, h1, check, first, second: first / math.sqrt(first**2 + second / g["alpha0"]),
    "a batch of a hundredth more", alpha0=lambda g: 1.01 * g["alpha0"],
)  # fmt: skip
step_bulk = _of_step(
    "bulk", "result-3-1.bulk-variance-noisy", "c = 1 + (eta/beta)^2 E[(sigma' - h1)^2] E[y^2]/alpha0.",
    lambda g, h1, check, first, second: 1.0 + (g["eta"] / g["beta"]) ** 2 * check * second / g["alpha0"],
    "the width is lost", beta=lambda g: 1.01,
)  # fmt: skip


@holds(
    "result-3-1.spike-concentration", drawn=stepped((*ODD, "relu", "gelu"), (*ODD, "sign", "relu")), reason=BOTH,
    shown=commands.stepped, planted=plant("a step is a hundredth longer", solve=lambda model: THEORY.solve(
        model if model.step is None else model.changed(eta=1.01 * model.step.eta))),
)  # fmt: skip
def a_model_from_a_step_is_the_model_as_given(given: dict[str, Any], theory: Theory) -> float:
    """Spike, bulk and alignment are all that a step leaves: given as numbers they lead to the same errors."""
    model = theory.step(**given)
    one, other = trusted(theory, model), trusted(theory, model.as_given())
    return near([one.test_error, one.training_error], [other.test_error, other.training_error], error_of(one, other))
