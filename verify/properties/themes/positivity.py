"""Positivity of sizes, responses and densities; Cauchy-Schwarz and Bessel inequalities for order parameters."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
from hypothesis import strategies as st

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import OrderParameters, Solution
from giantsteps.verify.properties import commands
from giantsteps.verify.properties.margins import FLOOR, at_most, decided, error_of, is_so, trusted
from giantsteps.verify.properties.property import THEORY, Theory, altered, holds, plant
from giantsteps.verify.properties.strategies import (
    ANY,
    KINKED,
    ODD,
    SMOOTH,
    TAME,
    bulks,
    models,
    powers,
    readouts,
    spikes,
    steps,
    tame,
    wide,
)
from giantsteps.verify.properties.themes.orderings import ORDER

SOLVED = "order parameters are solved to 1e-12, with condition numbers up to 1e3"
LIMITED = "order parameters are as far off as the test error, beside their size: 1e4 times its estimate"


def reordered(change: Callable[[OrderParameters], dict[str, Any]]) -> Callable[[Model], Solution]:
    """The solver, with some order parameters altered."""

    def solve(model: Model) -> Solution:
        found = THEORY.solve(model)
        order = found.order_parameters
        return replace(found, order_parameters=replace(order, **change(order)))

    return solve


def _allowed(solution: Solution) -> float:
    """What an inequality between order parameters may be off by, beside the larger side."""
    return ORDER + 1e4 * error_of(solution) / (1.0 + abs(solution.test_error))


def _least(matrix: Any) -> float:
    return float(np.linalg.eigvalsh(np.asarray(matrix))[0])


# ---- overlaps and sizes ----


@holds(
    "result-3-3.saddle.q1", drawn=wide(), reason=LIMITED, shown=commands.solve, examples=32,
    planted=plant("psi is a third too large", solve=reordered(lambda order: {"psi": 4 / 3 * order.psi + 0.05})),
)  # fmt: skip
def overlap_with_the_target(model: Model, theory: Theory) -> float:
    """psi^2 <= q1: the overlap with the target is part of the readout's length across the spike."""
    found = trusted(theory, model)
    psi, q1 = float(found.order_parameters.psi[0]), float(found.order_parameters.q1[0, 0])
    return at_most(psi**2, q1, _allowed(found) * (q1 + 1e-12), q1 + 1e-12)


@holds(
    "result-3-3.saddle.zeta", drawn=wide(), reason=LIMITED, shown=commands.solve, examples=32,
    planted=plant("zeta has the size of m", solve=reordered(lambda order: {"zeta": order.zeta + order.m})),
)  # fmt: skip
def readout_through_the_rows(model: Model, theory: Theory) -> float:
    """zeta^2 + q1 <= c (1 + sqrt beta)^2 q2: |W^T a|^2 is at most |a|^2 times the square of the norm of W."""
    found = trusted(theory, model)
    order = found.order_parameters
    q2 = float(order.q2[0])
    larger = model.bulk * (1.0 + math.sqrt(model.beta)) ** 2 * q2
    return at_most(
        float(order.zeta[0]) ** 2 + float(order.q1[0, 0]), larger, _allowed(found) * (larger + 1e-12), larger + 1e-12
    )


@holds(
    "result-3-3.value", drawn=wide(), reason=LIMITED, shown=commands.solve,
    planted=plant("q2 is the root of itself", solve=reordered(lambda order: {"q2": 30 * order.q2 + 1.0})),
)  # fmt: skip
def the_readout_is_no_longer_than_labels_pay_for(model: Model, theory: Theory) -> float:
    """ridge q2 <= (alpha/beta) E[y^2]: no readout at all costs no more."""
    found = trusted(theory, model)
    larger = model.alpha / model.beta * (theory.constants(model.target).h2 + model.noise)
    return at_most(model.ridge * float(found.order_parameters.q2[0]), larger, _allowed(found) * larger, larger)


@holds(
    "one-solution.bounded.tau", drawn=wide(), reason=SOLVED, shown=commands.solve,
    planted=plant("V2 is twice itself", solve=reordered(lambda order: {"V2": 2.0 * order.V2})),
)  # fmt: skip
def responses_are_bounded(model: Model, theory: Theory) -> float:
    """0 <= V2 <= 1/ridge and 0 <= V1 <= c V2."""
    order = trusted(theory, model).order_parameters
    V1, V2, most = float(order.V1[0, 0]), float(order.V2[0]), 1.0 / model.ridge
    return min(
        at_most(V2, most, ORDER * most, most), at_most(V1, model.bulk * V2, ORDER * model.bulk * V2, model.bulk * V2),
        at_most(0.0, V1, 0.0, most), at_most(0.0, V2, 0.0, most),
    )  # fmt: skip


@holds(
    "result-3-3.conjugates", drawn=wide(), reason="a sign", shown=commands.solve,
    planted=plant("D loses 1", solve=reordered(
        lambda order: {"conjugates": replace(order.conjugates, D=order.conjugates.D - 1.0)})),
)  # fmt: skip
def conjugates_are_not_negative(model: Model, theory: Theory) -> float:
    """C, D and their counterparts C^, D^ are averages of squares."""
    hats = trusted(theory, model).order_parameters.conjugates
    values = [float(np.ravel(x)[0]) for x in (hats.C, hats.D, hats.C_hat, hats.D_hat)]
    return min(values) / (max(values) or 1.0)


@holds(
    "appendix-d.saddle.q1", drawn=tame(readout=readouts()), reason=SOLVED, shown=commands.solve,
    planted=plant("overlaps of two groups have the wrong sign", solve=reordered(
        lambda order: {"q1": 2.0 * order.q1 - 3.0 * np.diag(np.diag(order.q1))})),
)  # fmt: skip
def overlaps_of_groups(model: Model, theory: Theory) -> float:
    """Q - psi psi^T is positive semidefinite: Gram matrices of the readout across spike and target."""
    found = trusted(theory, model)
    order = found.order_parameters
    size = float(np.trace(order.q1)) + 1e-12
    return at_most(-_least(order.q1 - np.outer(order.psi, order.psi)), 0.0, _allowed(found) * size, size)


@holds(
    "one-solution.groups", drawn=tame(readout=readouts()), reason=SOLVED, shown=commands.solve,
    planted=plant("responses of two groups have the wrong sign and twice the size", solve=reordered(
        lambda order: {"V1": -order.V1})),
)  # fmt: skip
def responses_of_groups(model: Model, theory: Theory) -> float:
    """V1 and C are positive semidefinite matrices, and the V2 are at most pi_a/ridge."""
    found = trusted(theory, model)
    order = found.order_parameters
    size, of_C = float(np.abs(order.V1).max()) + 1e-12, float(np.abs(order.conjugates.C).max()) + 1e-12
    most = np.array(model.fractions) / model.ridge
    return min(
        at_most(-_least(order.V1), 0.0, ORDER * size, size),
        at_most(-_least(order.conjugates.C), 0.0, ORDER * of_C, of_C),
        float(np.min((most - order.V2) / most)) + ORDER, float(np.min(order.V2 / most)),
    )  # fmt: skip


@holds(
    "result-3-3.test-error", drawn=wide(), reason="ten times the estimate", shown=commands.solve, examples=32,
    planted=altered("the noise is taken away twice", "solve",
                    test_error=lambda found, model: found.test_error - model.noise - 0.1),
)  # fmt: skip
def errors_are_not_negative(model: Model, theory: Theory) -> float:
    """Test and training error are not negative."""
    found = trusted(theory, model)
    allowed, scale = error_of(found), found.test_error + found.training_error + 1e-12
    return min(at_most(0.0, found.test_error, allowed, scale), at_most(0.0, found.training_error, allowed, scale))


# ---- functions along the spike ----

_LINES = st.tuples(st.sampled_from((*SMOOTH, *KINKED)), spikes, bulks)
_KAPPA = np.linspace(-3.0, 3.0, 13)


@holds(
    "result-3-2.residual-variance-is-least", drawn=st.tuples(_LINES, steps(-20, 20, "0.1")), reason="rounding",
    shown=lambda case: commands.activation(case[0][0], spike=case[0][1], bulk=case[0][2]),
    planted=altered("mu2^2 keeps the linear part", "coefficients", mu2=lambda at, *_: np.hypot(at.mu2, at.mu1)),
)  # fmt: skip
def residual_is_least(case: tuple[tuple[str, float, float], float], theory: Theory) -> float:
    """No linear function of z leaves less of the activation than mu2^2."""
    from giantsteps.verify.second_route.grids import LINE, WEIGHT

    (name, spike, bulk), slope = case
    sigma = activation(name)
    found = theory.coefficients(sigma, spike, bulk, 0.0, _KAPPA)
    values = theory.evaluate(sigma.expression, spike * _KAPPA[:, None] + math.sqrt(bulk) * LINE)
    # The grid's own error at kinks and narrow peaks: the square of its step, 1/40.
    left = ((values - found.mu0[:, None] - (slope + math.sqrt(bulk) * found.mu1[:, None]) * LINE) ** 2) @ WEIGHT
    size = 1.0 + float(np.max(found.mu2**2 + slope**2))
    return at_most(float(np.max(found.mu2**2 - left)), 0.0, 1e-3 * size if name in KINKED else 1e-9 * size, size)


@holds(
    "result-3-2.target-across-spike",
    drawn=st.tuples(st.sampled_from(ANY), st.integers(-19, 19)), reason="rounding",
    shown=lambda case: commands.activation("tanh(z)", target=case[0]),
    planted=altered("y1 is taken by twice the angle", "moments", y1=lambda found, *_: 2.0 * found.y1),
)  # fmt: skip
def target_moments_obey_bessel(case: tuple[str, int], theory: Theory) -> float:
    """y0^2 + y1^2 <= y2 at every place along the spike."""
    found = theory.moments(activation(case[0]), case[1] / 20, _KAPPA)
    return float(np.min((found.y2 - found.y0**2 - found.y1**2) / (found.y2 + 1e-300))) + FLOOR * 10


# ---- the spectrum ----


@holds(
    "appendix-f.stieltjes", drawn=st.tuples(tame(), powers(-3, 2), powers(-2, 1)),
    reason="solved to 1e-10",
    shown=lambda case: commands.command("spectrum", **commands.model_options(case[0])),
    planted=plant("the other branch", stieltjes=lambda model, z: THEORY.stieltjes(model, z).conjugate()),
)  # fmt: skip
def stieltjes_transform_of_a_law(case: tuple[Model, float, float], theory: Theory) -> float:
    """Im g > 0, Im z g >= 0 and |g| Im z <= 1 in the upper half plane: g is the transform of a law on the positives."""
    z = complex(case[1], case[2])
    g = theory.stieltjes(case[0], z)
    return min(g.imag * z.imag, (z * g).imag + 1e-10, 1.0 - abs(g) * z.imag + 1e-10)


@holds(
    "appendix-f.stieltjes", examples=1, drawn=models(ODD, ODD, ranges=TAME),
    reason="the panels of the density agree with the cumulative share to 1e-6 (MASS_GOAL)",
    shown=lambda model: commands.command("spectrum", **commands.model_options(model)),
    planted=altered("the density loses a thousandth", "spectrum",
                    density=lambda found, _: 0.999 * found.density - 1e-6, mass=lambda found, _: 0.999 * found.mass),
)  # fmt: skip
def density_is_one(model: Model, theory: Theory) -> float:
    """The density is not negative, its shares grow, and it has mass 1 with the atom max(0, 1 - alpha/beta)."""
    found = theory.spectrum(model)
    decided(found.converged)
    atom = 1.0 - abs(found.atom_at_zero - max(0.0, 1.0 - model.alpha / model.beta)) / 1e-12
    mass = 1.0 - abs(found.mass - 1.0) / 1e-6
    return min(atom, mass, is_so(bool(np.all(found.density >= 0.0) and np.all(np.diff(found.cumulative) >= -1e-12))))


@holds(
    "appendix-f.outlier", drawn=wide(readout=readouts()), reason="a rank", shown=commands.solve,
    planted=plant("samples and neurons change places", atom=lambda model: THEORY.atom(
        model.changed(alpha=model.beta, beta=model.alpha))),
)  # fmt: skip
def atom_is_a_share(model: Model, theory: Theory) -> float:
    """The share of zero eigenvalues lies between 1 - alpha/beta, from the samples, and 1."""
    found = theory.atom(model)
    return min(at_most(1.0 - model.alpha / model.beta, found, 1e-12), at_most(found, 1.0, 1e-12))
