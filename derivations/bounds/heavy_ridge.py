"""The readout as the ridge grows, for isotropic rows: Appendix E, equations (165)-(168).

All order parameters but m vanish and the test error becomes the squared distance of the target from the line through
mu0: an upper bound on its infimum over the ridge.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import sympy as sp

from onestep.derivations.bounds import symbols as s
from onestep.derivations.bounds.leaves import test_error
from onestep.derivations.free_energy.along_spike import (
    PAPER,
    V_of_kappa,
    denominator,
    mu0,
    mu1,
    mu2,
    over_kappa,
    over_modes,
    prediction,
    squared_residual,
    varrho,
    y0,
    y1,
    y2,
)
from onestep.derivations.kernel.algebra import assume, order, rewrite, ring
from onestep.derivations.kernel.averages import linear
from onestep.derivations.kernel.limits import limit_average, limit_compose, limit_rational, name_limit
from onestep.derivations.kernel.orders import squeeze
from onestep.derivations.kernel.search import averages_expanded, equal, isolated, proved, rewritten, value
from onestep.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, sides
from onestep.derivations.kernel.terms import free, substitute
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.derivation import Derivation
from onestep.derivations.language.expectation import Expectation

APPENDIX_E = f"{PAPER}, Appendix E"
NOT_ZERO = "mu0 is not zero"
DOMINATED = "limits and the average over kappa are exchanged: 0 < 1/(1+V) <= 1 and the rest is integrable"

_ONE, _ZERO = sp.Integer(1), sp.Integer(0)
_ratio = s.alpha / s.beta
_regular = 1 - s.beta * s.V1_hat**2 * s.V1**2
_gain = 1 + s.beta * s.c * s.V1_hat * s.V2


def _claimed(claim: str, left: sp.Symbol, right: sp.Expr) -> Theorem:
    """An equation of Result 3.3, which is a claim of its own."""
    name = f"Result 3.3, {claim}"
    return assume((), Assumption(Ground.HYPOTHESIS, name, Equation(left, right), f"result-3-3.{claim}"))


@functools.cache
def bound_on_V2() -> Theorem:
    """1/lambda >= V2, from (1/p) tr S S^-1 = 1 for any law of the bulk."""
    V1 = _claimed("saddle.V1", s.V1, over_modes(varrho / denominator))
    V2 = _claimed("saddle.V2", s.V2, over_modes(1 / denominator))
    shift = s.ridge + s.V2_hat
    share = over_modes(s.V1_hat * varrho / denominator)
    rest = linear((), share, ((_ONE, _ONE), (-shift, 1 / denominator)))
    scaled = linear((), share, ((s.V1_hat, varrho / denominator),))
    trace = ring((V2, V1, rest, scaled), Equation(shift * s.V2 + s.V1_hat * s.V1, _ONE), (shift, s.V1_hat, _ONE, -_ONE))
    left_over = ((s.V2_hat * s.V2 / s.ridge, _ONE), (s.V1_hat * s.V1 / s.ridge, _ONE))
    return order((trace,), AtLeast(1 / s.ridge, s.V2), (-1 / s.ridge,), left_over)


@functools.cache
def _law() -> Theorem:
    return _claimed("marchenko-pastur-V1", s.V1, s.c * s.V2 / _gain)


def _not_negative(x: sp.Symbol) -> Theorem:
    return order((), AtLeast(x, _ZERO), (), ((x, _ONE),))


@functools.cache
def traces() -> tuple[Theorem, Theorem]:
    """V2 -> 0 and V1 -> 0: 0 <= V2 <= 1/lambda, 0 <= V1 <= c V2."""
    vanishes = limit_rational((), 1 / s.ridge, _ZERO, s.ridge)
    V2 = squeeze((bound_on_V2(), _not_negative(s.V2), vanishes))
    bound = order((_law(),), AtLeast(s.c * s.V2, s.V1), (-_gain,), ((s.beta * s.c * s.V1_hat * s.V2 * s.V1, _ONE),))
    hole = sp.Dummy("V2", real=True)
    V1 = squeeze((bound, _not_negative(s.V1), limit_compose((V2,), s.c * hole, (hole,))))
    return V2, V1


def tends(exact: Theorem, known: Mapping[sp.Expr, Theorem]) -> Theorem:
    """left -> the limit of its right side, for a term in averages and symbols that have limits."""
    right = value(exact)
    holes: dict[sp.Expr, tuple[sp.Symbol, Theorem]] = {}
    for average in sorted(right.atoms(Expectation), key=sp.default_sort_key):
        inside = {x: sp.Dummy(str(x), real=True) for x in known if x in free(average)}
        if inside:
            limits = tuple(known[x] for x in inside)
            limit = limit_average(limits, substitute(average, inside), tuple(inside.values()))
            holes[average] = sp.Dummy("average", real=True), limit
    outside = right.xreplace({average: hole for average, (hole, _) in holes.items()})
    holes |= {x: (sp.Dummy(str(x), real=True), known[x]) for x in known if x in free(outside)}
    context = outside.xreplace({term: hole for term, (hole, _) in holes.items()})
    found = limit_compose(tuple(limit for _, limit in holes.values()), context, tuple(h for h, _ in holes.values()))
    return rewrite((found, exact), True)


@functools.cache
def readout() -> tuple[Theorem, Theorem, Theorem]:
    """m, zeta and psi from their linear equations, in averages over 1/(1 + V)."""
    weight = 1 / (1 + V_of_kappa)
    m = _claimed(
        "saddle.m", s.m, over_kappa(mu0 * (y0 - s.kappa * mu1 * s.zeta) * weight) / over_kappa(mu0**2 * weight)
    )
    zeta_hat, psi_hat = forces()
    zeta = _claimed("isotropic.zeta", s.zeta, s.beta * s.c * s.V2 * s.zeta_hat)
    psi = _claimed("isotropic.psi", s.psi, s.beta * s.V1 * s.psi_hat)
    m = averages_expanded(m, s.kappa)
    zeta = isolated(s.zeta, rewritten(zeta, zeta_hat, m))
    return rewritten(m, zeta), zeta, rewritten(psi, psi_hat)


@functools.cache
def forces() -> tuple[Theorem, Theorem]:
    """zeta^ and psi^."""
    weight = 1 / (1 + V_of_kappa)
    zeta_hat = _claimed("saddle.zeta-hat", s.zeta_hat, _ratio * over_kappa(s.kappa * mu1 * (y0 - prediction) * weight))
    psi_hat = _claimed("saddle.psi-hat", s.psi_hat, _ratio * over_kappa(mu1 * y1 * weight))
    return averages_expanded(zeta_hat, s.kappa), averages_expanded(psi_hat, s.kappa)


@functools.cache
def moments() -> tuple[Theorem, Theorem, Theorem, Theorem]:
    """V1^ and the second moments of the resolvent, by V1 and V2."""
    V1_hat = _claimed("saddle.V1-hat", s.V1_hat, _ratio * over_kappa(mu1**2 / (1 + V_of_kappa)))
    square = _claimed("resolvent-square", s.resolvent_square, s.V2**2 / _regular)
    mixed = _claimed("resolvent-mixed", s.resolvent_mixed, s.V1**2 / (s.c * _regular))
    inner = s.beta + s.V1**2 / (s.c**2 * s.V2**2 * _regular)
    double = _claimed("resolvent-double", s.resolvent_double, s.V1**2 * inner)
    over = s.V1**2 / (_regular * s.c * s.V2) * (s.V1 / (s.c * s.V2) + 1 / _gain)
    by_law = Equation(s.resolvent_double, s.V1**2 * (s.beta + 1 / (_gain**2 * _regular)))
    return V1_hat, square, mixed, ring((double, _law()), by_law, (_ONE, over))


@functools.cache
def sizes() -> tuple[Theorem, Theorem]:
    """q1 and q2 from their two equations: linear, with moments of the resolvent and forces affine in q1 and q2."""
    conjugates = [
        averages_expanded(
            _claimed(f"saddle.{name}", x, _ratio * over_kappa(mu**2 * squared_residual / (1 + V_of_kappa) ** 2)),
            s.kappa,
        )
        for name, x, mu in (("q1-hat", s.q1_hat, mu1), ("q2-hat", s.q2_hat, mu2))
    ]
    across, along = s.q1_hat + s.beta * s.psi_hat**2, s.q2_hat + s.beta * s.c * s.zeta_hat**2
    equations = [
        rewritten(_claimed(f"isotropic.{name}", x, across * first + along * second), *conjugates)
        for name, x, first, second in (
            ("q1", s.q1, s.resolvent_double, s.resolvent_mixed), ("q2", s.q2, s.resolvent_mixed, s.resolvent_square)
        )
    ]  # fmt: skip
    unknown = (s.q1, s.q2)
    rights = [sp.expand(value(equation)) for equation in equations]
    (a, b), (c, d) = ([sp.diff(right, q) for q in unknown] for right in rights)
    first, second = (right.subs(dict.fromkeys(unknown, 0)) for right in rights)
    determinant = (1 - a) * (1 - d) - b * c
    return (
        ring(tuple(equations), Equation(s.q1, ((1 - d) * first + b * second) / determinant),
             ((1 - d) / determinant, b / determinant)),
        ring(tuple(equations), Equation(s.q2, (c * first + (1 - a) * second) / determinant),
             (c / determinant, (1 - a) / determinant)),
    )  # fmt: skip


@functools.cache
def limits() -> Mapping[sp.Expr, Theorem]:
    """What each order parameter tends to, in the order in which they are found."""
    V2, V1 = traces()
    known: dict[sp.Expr, Theorem] = {s.V2: V2, s.V1: V1}
    m, zeta, psi = readout()
    for theorem in (zeta, m, psi, *forces(), *moments(), *sizes()):
        known[sides(theorem.statement)[0]] = tends(theorem, known)
    return known


@functools.cache
def error_limit() -> Theorem:
    """The test error as the ridge grows."""
    return tends(averages_expanded(test_error(), s.kappa), limits())


def _projection_taken_off() -> sp.Expr:
    return over_kappa(y2) - s.noise - over_kappa(mu0 * y0) ** 2 / over_kappa(mu0**2)


@functools.cache
def heavy_ridge() -> Derivation:
    """Equations (165)-(168): order parameters and test error as lambda -> infinity."""
    found, (_, zeta, psi), (q1, _) = limits(), readout(), sizes()
    m_infinity = name_limit((found[s.m],), s.m_infinity, "the limit of m as the ridge grows")
    error = name_limit((error_limit(),), s.error_infinity, "the limit of the test error as the ridge grows")
    result = equal(error, _projection_taken_off())
    return Derivation(
        "ridge to infinity",
        f"{APPENDIX_E}, (165)-(168)",
        proved("The trace of S S^-1 bounds V2,", bound_on_V2()),
        proved("which vanishes,", found[s.V2]),
        proved("and V1 <= c V2 with it: V(kappa) -> 0 and 1/(1+V) -> 1 under every average.", found[s.V1]),
        proved("m and zeta solve two linear equations.", zeta),
        proved("zeta vanishes with V2,", found[s.zeta]),
        proved("and so m tends to the coefficient of the projection on mu0, equation (165).", m_infinity),
        proved("psi is V1 times an average,", psi),
        proved("and vanishes.", found[s.psi]),
        proved("q1 and q2 are second moments of the resolvent times forces that are affine in q1 and q2;", q1),
        proved("the moments vanish,", found[s.resolvent_double]),
        proved("and so does q1,", found[s.q1]),
        proved("and q2.", found[s.q2]),
        proved(
            "The test error tends to the squared distance of the target from the line through mu0, equation (168).",
            result,
        ),
        results={s.m_infinity: value(m_infinity), s.error_infinity: value(result)},
        hypotheses=(DOMINATED, NOT_ZERO),
    )
