r"""Bounds on the test error over the ridge penalty: Section 4.3 and Appendix E, equations (26)-(27), (165)-(172).

The squared distance of the target from the line through mu0 is the limit of large ridge (see `heavy_ridge`), an upper
bound on the infimum. Whatever the ridge, the prediction lies in the span of mu0, kappa mu1 and mu1 z, plus something
uncorrelated: a lower bound.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.bounds.assumptions import BASIS, combination, orthogonal, test_error
from giantsteps.derivations.free_energy.along_spike import PAPER, mu0, mu1, mu2, over_kappa, y0, y1, y2
from giantsteps.derivations.free_energy.assumptions import cauchy_schwarz
from giantsteps.derivations.free_energy.sample_energy import TEACHER, over_label
from giantsteps.derivations.kernel.algebra import order, rewrite, ring
from giantsteps.derivations.kernel.averages import average
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, expansion
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.inequalities import ONE_READOUT

_other = sp.symbols("b_1' b_2' b_3'", real=True)
APPENDIX_E = f"{PAPER}, Appendix E"


def distance_to(*coefficients: sp.Symbol) -> Theorem:
    """E(g - b1 mu0 - b2 kappa mu1 - b3 mu1 z)^2 over kappa and z for the coefficients given, worked out."""
    return over_label((TEACHER - combination(*coefficients)) ** 2)


def _solved(*coefficients: sp.Symbol) -> tuple[tuple[Theorem, ...], tuple[Theorem, ...]]:
    """The normal equations and their solution, coefficient by coefficient."""
    equations = tuple(orthogonal(b, *coefficients) for b in coefficients)
    gaps = [sides(equation.statement)[0] for equation in equations]
    matrix = sp.Matrix([[sp.diff(gap, b) for b in coefficients] for gap in gaps])
    constants = sp.Matrix([gap.subs(dict.fromkeys(coefficients, 0)) for gap in gaps])
    inverse = matrix.inv()
    best = (-inverse * constants).applyfunc(sp.cancel)
    return equations, tuple(
        ring(equations, Equation(b, best[k]), tuple(inverse.row(k))) for k, b in enumerate(coefficients)
    )


def _least(*coefficients: sp.Symbol) -> tuple[Theorem, Theorem, tuple[Theorem, ...]]:
    """The squared distance as it is meant, as a polynomial in the coefficients, and these by the normal equations."""
    error = Expectation((TEACHER - combination(*coefficients)) ** 2, s.kappa, s.z)
    meaning = define(s.distance, error, "the mean square of the error of the nearest combination")
    return meaning, rewrite((meaning, distance_to(*coefficients))), _solved(*coefficients)[1]


def at_least_distance(others: tuple[sp.Symbol, ...], *coefficients: sp.Symbol) -> Theorem:
    """E(g - any combination)^2 >= distance: the rest is the mean square of the difference of two combinations.

    The error of the nearest one is orthogonal to it.
    """
    difference = combination(*others) - combination(*coefficients)
    square = average((order((), AtLeast(difference**2, sp.Integer(0)), (), ((sp.Integer(1), difference),)),),
                     (s.kappa, s.z))  # fmt: skip
    mean = sides(square.statement)[0]
    in_parts = expansion(mean, s.kappa, s.z)
    equations, _ = _solved(*coefficients)
    _, objective, _ = _least(*coefficients)
    other = distance_to(*others)
    return order(
        (square, in_parts, other, objective, *equations),
        AtLeast(sides(other.statement)[0], s.distance),
        (sp.Integer(1), sp.Integer(-1), sp.Integer(1), sp.Integer(-1),
         *(2 * (b - c) for b, c in zip(coefficients, others, strict=True))),
    )  # fmt: skip


@functools.cache
def span() -> Derivation:
    """Equations (27), (31): the distance of the target from the span of mu0, kappa mu1 and mu1 z."""
    meaning, objective, best = _least(*BASIS)
    known = rewritten(objective, *best)
    least = equal(known, _projections_taken_off())
    return Derivation(
        "distance from the span",
        f"{PAPER}, Section 4.3, (27), (31)",
        proved(
            "Any readout predicts a combination of mu0, kappa mu1 and mu1 z, up to noise; the distance of the "
            "target from their span.",
            meaning,
        ),
        proved("It is quadratic in the coefficients.", objective),
        *(
            proved(f"The error is orthogonal to the span: the normal equations give ${sp.latex(b)}$.", solution)
            for b, solution in zip(BASIS, best, strict=True)
        ),
        proved("No other combination is nearer: the difference is a mean square.", at_least_distance(_other, *BASIS)),
        proved("What they leave: |g|^2 less the projections.", least),
        results={**{b: value(solution) for b, solution in zip(BASIS, best, strict=True)}, s.distance: value(least)},
    )


def _projections_taken_off() -> sp.Expr:
    """|g|^2 less the projection on mu0 and kappa mu1, by their Gram matrix, and on mu1 z."""
    norm, cross, second = over_kappa(mu0**2), over_kappa(s.kappa * mu0 * mu1), over_kappa(s.kappa**2 * mu1**2)
    first, other = over_kappa(mu0 * y0), over_kappa(s.kappa * mu1 * y0)
    along = (first**2 * second - 2 * first * other * cross + other**2 * norm) / (norm * second - cross**2)
    return over_kappa(y2) - s.noise - along - over_kappa(mu1 * y1) ** 2 / over_kappa(mu1**2)


def above_distance() -> Theorem:
    """The test error is never below the squared distance of the target from the span."""
    return lower_bound().theorems[-1]


@functools.cache
def lower_bound() -> Derivation:
    """Equations (170)-(172): the test error is never below the distance from the span."""
    readout = (s.m, s.zeta, s.psi)
    error = averages_expanded(test_error(), s.kappa)
    at_readout, bound = distance_to(*readout), at_least_distance(readout, *BASIS)
    gap = over_kappa(mu1**2) * (s.q1 - s.psi**2) + over_kappa(mu2**2) * s.q2
    above = Equation(s.test_error - sides(at_readout.statement)[0], gap)
    noisy = ring((error, at_readout), above, (sp.Integer(1), sp.Integer(-1)))
    result = order(
        (noisy, bound, cauchy_schwarz()),
        AtLeast(s.test_error, s.distance),
        (sp.Integer(1), sp.Integer(1), over_kappa(mu1**2)),
        ((over_kappa(mu2**2) * s.q2, sp.Integer(1)),),
    )
    return Derivation(
        "lower bound",
        f"{APPENDIX_E}, (170)-(172)",
        proved("The test error of a readout.", error),
        proved(
            "It is the squared distance of the target from the element of the span at b = (m, zeta, psi) plus the "
            "noise of the readout.",
            noisy,
        ),
        proved("That element is no nearer to the target than the nearest one.", bound),
        proved(
            "q1 >= psi^2 by Cauchy-Schwarz, equation (170): with u = Pi W^T a/sqrt(p) they are |u|^2 and the square of "
            "u.theta_perp, |theta_perp| = 1.",
            cauchy_schwarz(),
        ),
        proved("Both terms of the noise are non-negative.", result),
        results=(error,),
        hypotheses=(ONE_READOUT,),
    )
