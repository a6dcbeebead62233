r"""The letters of the slides for plain random features, and ours at r = 0: what is the same by their meaning.

Features kappa_1 F x/sqrt d + kappa_* xi have F = sqrt(d) W; n/p = alpha/beta and d/p = 1/beta. The p modes of W W^T are
d with beta times the eigenvalues of F^T F/p and p - d null ones. With the overlaps of one system the conjugates of both
are the same, and with the conjugates the overlaps: what solves one system solves the other, and each has one solution.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk.marchenko_pastur import second_names
from giantsteps.derivations.free_energy.along_spike import denominator, over_modes, varrho
from giantsteps.derivations.free_energy.ridge import SAMPLES
from giantsteps.derivations.gradient_step.assumptions import WIDTH
from giantsteps.derivations.kernel.algebra import differentiate, rewrite
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features.convex import eigenvalue, in_resolvents, over_spectrum

ONE_SADDLE_POINT = (
    "each system has one saddle point: order parameters that solve the equations of both systems are those of both"
)

_per_dimension = {s.alpha_p: (s.n / s.p, "n/p, samples per neuron"), s.gamma_p: (s.d / s.p, "d/p, inputs per neuron")}


@functools.cache
def ratios() -> tuple[Theorem, ...]:
    """alpha_p = alpha/beta and gamma_p = 1/beta."""
    found = []
    for name, (meant, why) in _per_dimension.items():
        counted = rewritten(define(name, meant, why), SAMPLES, WIDTH)
        found.append(equal(counted, sp.cancel(value(counted))))
    return tuple(found)


def _same(left: sp.Symbol, right: sp.Expr) -> Theorem:
    return hypothesis(f"one saddle point, {left}", Equation(left, right), ONE_SADDLE_POINT)


# F = sqrt(d) W: |F^T a|^2/(d p) = |W^T a|^2/p, and so on.
OVERLAPS = {s.V_s: s.V1, s.V_w: s.V2, s.m_s: s.M, s.q_s: s.Q1, s.q_w: s.q2}
CONJUGATES = {
    s.V_s_hat: s.beta * s.V1_hat,
    s.V_w_hat: s.V2_hat,
    s.q_s_hat: s.beta * s.q1_hat,
    s.q_w_hat: s.q2_hat,
    s.m_s_hat: s.beta * s.M_hat,
}


def same_overlaps() -> tuple[Theorem, ...]:
    """The overlaps of the slides are ours."""
    return tuple(_same(*pair) for pair in OVERLAPS.items())


def same_conjugates() -> tuple[Theorem, ...]:
    """The conjugates of the slides are ours."""
    return tuple(_same(*pair) for pair in CONJUGATES.items())


_own = s.ridge + s.V2_hat
_shared = over_spectrum(1 / (_own + s.beta * s.V1_hat * eigenvalue))


@functools.cache
def spectra() -> tuple[Theorem, Theorem]:
    """Averages of 1/S and 1/S^2 over the p modes of W W^T by those over the d modes of F^T F/p."""
    law = in_model(
        "modes of F",
        Equation(over_modes(1 / denominator), _shared / s.beta + (1 - 1 / s.beta) / _own),
        "W W^T has beta times the eigenvalues of F^T F/p, F = sqrt(d) W, and p - d null ones, or lacks them",
        s.V1_hat,
        s.V2_hat,
        s.ridge,
    )
    slope = differentiate((law,), s.ridge)
    (change,) = sides(slope.statement)[0].atoms(Expectation)
    slope = rewrite((slope, linear((), change, ((sp.Integer(-1), denominator**-2),))))
    squared = isolated(over_modes(denominator**-2), in_resolvents(slope, eigenvalue, _own, s.beta * s.V1_hat))
    return law, squared


def in_modes_of_F(theorem: Theorem) -> Theorem:
    """``theorem`` with traces over the p modes of W W^T in averages over the d modes of F^T F/p."""
    theorem = rewritten(theorem, *second_names())
    theorem = in_resolvents(theorem, varrho, _own, s.V1_hat)
    return rewritten(theorem, *spectra())
