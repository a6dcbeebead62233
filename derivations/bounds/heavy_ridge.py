"""The readout as the ridge grows, for isotropic rows: Appendix E, equations (165)-(168).

All order parameters but m vanish and the test error becomes the squared distance of the target from the line through
mu0: an upper bound on its infimum over the ridge.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import sympy as sp

from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.bounds.assumptions import test_error
from giantsteps.derivations.bulk import marchenko_pastur
from giantsteps.derivations.free_energy.along_spike import PAPER, mu0, over_kappa, y0, y2
from giantsteps.derivations.free_energy.sample_energy import TEACHER, over_label
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.kernel.algebra import instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import average
from giantsteps.derivations.kernel.limits import limit_average, limit_compose, limit_rational, name_limit, squeeze
from giantsteps.derivations.kernel.search.assumptions import proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.terms import free, substitute
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import equations

APPENDIX_E = f"{PAPER}, Appendix E"
NOT_ZERO = "mu0 is not zero"
DOMINATED = "limits and the average over kappa are exchanged: 0 < 1/(1+V) <= 1 and the rest is integrable"

_ONE, _ZERO = sp.Integer(1), sp.Integer(0)
_regular = 1 - s.beta * s.V1_hat**2 * s.V1**2
_gain = 1 + s.beta * s.c * s.V1_hat * s.V2


def _isotropic(variable: sp.Symbol) -> Theorem:
    """The saddle-point equation for isotropic rows from stationarity in ``variable``."""
    return equations.isotropic(variable).theorem_of(CONJUGATE[variable])


@functools.cache
def bound_on_V2() -> Theorem:
    """1/lambda >= V2, from (1/p) tr S S^-1 = 1 for any law of the bulk."""
    trace = marchenko_pastur.named(marchenko_pastur.trace_identity(), *equations.traces())
    left_over = ((s.V2_hat * s.V2 / s.ridge, _ONE), (s.V1_hat * s.V1 / s.ridge, _ONE))
    return order((trace,), AtLeast(1 / s.ridge, s.V2), (-1 / s.ridge,), left_over)


@functools.cache
def _law() -> Theorem:
    return marchenko_pastur.law(*equations.traces())


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
    for mean in sorted(right.atoms(Expectation), key=sp.default_sort_key):
        inside = {x: sp.Dummy(str(x), real=True) for x in known if x in free(mean)}
        if inside:
            limits = tuple(known[x] for x in inside)
            limit = limit_average(limits, substitute(mean, inside), tuple(inside.values()))
            holes[mean] = sp.Dummy("average", real=True), limit
    outside = right.xreplace({mean: hole for mean, (hole, _) in holes.items()})
    holes |= {x: (sp.Dummy(str(x), real=True), known[x]) for x in known if x in free(outside)}
    context = outside.xreplace({term: hole for term, (hole, _) in holes.items()})
    found = limit_compose(tuple(limit for _, limit in holes.values()), context, tuple(h for h, _ in holes.values()))
    return rewrite((found, exact), True)


@functools.cache
def readout() -> tuple[Theorem, Theorem, Theorem]:
    """m, zeta and psi from their linear equations, in averages over 1/(1 + V)."""
    m = equations.at_saddle(s.m)
    zeta_hat, psi_hat = forces()
    zeta, psi = _isotropic(s.zeta_hat), _isotropic(s.psi_hat)
    zeta = isolated(s.zeta, rewritten(zeta, zeta_hat, m))
    return rewritten(m, zeta), zeta, rewritten(psi, psi_hat)


@functools.cache
def forces() -> tuple[Theorem, Theorem]:
    """zeta^ and psi^."""
    return equations.at_saddle(s.zeta), equations.at_saddle(s.psi)


@functools.cache
def moments() -> tuple[Theorem, Theorem, Theorem, Theorem]:
    """V1^ and the second moments of the resolvent, by V1 and V2."""
    square, mixed, double, *_ = marchenko_pastur.moments(*equations.traces())
    over = s.V1**2 / (_regular * s.c * s.V2) * (s.V1 / (s.c * s.V2) + 1 / _gain)
    by_law = Equation(s.resolvent_double, s.V1**2 * (s.beta + 1 / (_gain**2 * _regular)))
    return equations.at_saddle(s.q1), square, mixed, ring((double, _law()), by_law, (_ONE, over))


@functools.cache
def sizes() -> tuple[Theorem, Theorem]:
    """q1 and q2 from their two equations: linear, with moments of the resolvent and forces affine in q1 and q2."""
    conjugates = [equations.at_saddle(x) for x in (s.V1, s.V2)]
    equations_of = [rewritten(_isotropic(x), *conjugates) for x in (s.V1_hat, s.V2_hat)]
    unknown = (s.q1, s.q2)
    rights = [sp.expand(value(equation)) for equation in equations_of]
    (a, b), (c, d) = ([sp.diff(right, q) for q in unknown] for right in rights)
    first, second = (right.subs(dict.fromkeys(unknown, 0)) for right in rights)
    determinant = (1 - a) * (1 - d) - b * c
    return (
        ring(tuple(equations_of), Equation(s.q1, ((1 - d) * first + b * second) / determinant),
             ((1 - d) / determinant, b / determinant)),
        ring(tuple(equations_of), Equation(s.q2, (c * first + (1 - a) * second) / determinant),
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


def distance_is_not_negative(distance: sp.Expr) -> Theorem:
    """``distance`` >= 0, the mean square of g - b mu0 for b = E[mu0 y0]/E[mu0^2]."""
    error = TEACHER - s.b1 * mu0
    square = average((order((), AtLeast(error**2, _ZERO), (), ((_ONE, error),)),), (s.kappa, s.z))
    for_all = rewrite((square, over_label(error**2)))
    nearest = instantiate((for_all,), {s.b1: over_kappa(mu0 * y0) / over_kappa(mu0**2)})
    return order((nearest,), AtLeast(distance, _ZERO), (_ONE,))


@functools.cache
def heavy_ridge() -> Derivation:
    """Equations (165)-(168): order parameters and test error as lambda -> infinity."""
    found, (_, zeta, psi), (q1, _) = limits(), readout(), sizes()
    m_infinity = name_limit((found[s.m],), s.m_infinity, "the limit of m as the ridge grows")
    known = error_limit()
    distance = distance_is_not_negative(value(known))
    error = name_limit((known, distance), s.error_infinity, "the limit of the test error as the ridge grows")
    result = equal(error, over_kappa(y2) - s.noise - over_kappa(mu0 * y0) ** 2 / over_kappa(mu0**2))
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
        results=(m_infinity, result),
        hypotheses=(DOMINATED, NOT_ZERO),
    )
