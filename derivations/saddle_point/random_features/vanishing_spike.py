r"""A spike that vanishes: r -> 0 after the limit of large dimensions.

With t = 1/r the functions along the spike are mu0 = mu1 kappa/t + O(t^-3) and constants mu1 and mu2 up to O(t^-2). m is
not penalised at leading order: it grows like t and learns the linear part of the target along the spike at no cost.
"""

from __future__ import annotations

import functools
from dataclasses import replace

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, y0
from giantsteps.derivations.free_energy.along_spike import mu0 as mu0_of
from giantsteps.derivations.free_energy.along_spike import mu1 as mu1_of
from giantsteps.derivations.free_energy.along_spike import mu2 as mu2_of
from giantsteps.derivations.kernel.algebra import rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.calculus import average_limit
from giantsteps.derivations.kernel.limits import limit_compose, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, Statement, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.saddle_point import equations
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features.no_spike import ODD, SOURCE, isotropic, k1, k2, target_moments

_ONE = sp.Integer(1)
_t = sp.Symbol("1/r", positive=True)
_rm = sp.Symbol("r m", real=True)
_along, _linear, _noise = (sp.Function(name, real=True)(s.kappa, _t) for name in ("mu_0", "mu_1", "mu_2"))
_holes = sp.symbols("h_0:3", real=True)
_AT_HOLES = replace(ONE_LETTER, mu0=_holes[:1], mu1=_holes[1:2], mu2=_holes[2:])
_LAST = "the limit r -> 0 is taken after d -> infinity; the order parameters but m and zeta are at their limits"


def _model(name: str, statement: Statement, reference: str) -> Theorem:
    return in_model(name, statement, reference, s.kappa)


AT_STRENGTH = tuple(
    _model(f"at strength r, {name}", Equation(name, at), "the functions along the spike change with its strength")
    for name, at in ((mu0_of, _along), (mu1_of, _linear), (mu2_of, _noise))
)
SMALL = tuple(
    _model(f"small spike, {name}", Tends(left, right, _t), f"for an odd activation {why}")
    for name, left, right, why in (
        (mu0_of, _t * _along, k1 * s.kappa, "mu0 is r mu1 kappa up to the order r^3"),
        (mu1_of, _linear, k1, "mu1 is even in r, so that it does not depend on kappa up to the order r^2"),
        (mu2_of, _noise, k2, "mu2 is even in r, so that it does not depend on kappa up to the order r^2"),
    )
)
SCALED = define(_rm, s.m / _t, "r m")


def _weighted(factor: sp.Expr, known: tuple[Theorem, ...] = SMALL) -> Theorem:
    """E[factor/(1 + V)] as the spike vanishes, for a factor in t mu0, mu1 and mu2."""
    pointwise = limit_compose(known, factor * _AT_HOLES.weight, _holes)
    return rewritten(averages_expanded(average_limit((pointwise,), (s.kappa,)), s.kappa), *target_moments())


@functools.cache
def _averages() -> dict[str, Theorem]:
    """The five averages of the equations for m and zeta, each divided by its power of r."""
    scaled, first, _ = _holes
    factors = {
        "A": scaled**2,
        "B": s.kappa * scaled * first,
        "D": s.kappa**2 * first**2,
        "F": scaled * y0,
        "H": s.kappa * first * y0,
    }
    return {name: _weighted(factor) for name, factor in factors.items()}


def _at_strength(theorem: Theorem) -> Theorem:
    return rewritten(theorem, *AT_STRENGTH)


@functools.cache
def readout() -> tuple[Theorem, Theorem, Theorem, Theorem]:
    """The equations for r m and zeta at any strength, and what solves them."""
    A, B, D, F, H = (sides(limit.statement)[0] for limit in _averages().values())
    powers = {A: _t**2, B: _t, F: _t}
    opened = [linear((), whole, ((power, whole.integrand / power),)) for whole, power in powers.items()]
    m = _at_strength(equations.at_saddle(s.m))
    of_m = ring(
        (m, SCALED, *opened),
        Equation(A * _rm + B * s.zeta, F),
        (value(opened[0]) / _t, A, s.m / _t, s.zeta, -_ONE),
    )
    zeta_hat = _at_strength(equations.at_saddle(s.zeta))
    cost = s.alpha * s.c * s.V2
    of_zeta = ring(
        (isotropic(s.zeta_hat), zeta_hat, SCALED, opened[1]),
        Equation(s.zeta, cost * (H - B * _rm - D * s.zeta)),
        (_ONE, s.beta * s.c * s.V2, cost * B, cost * s.m / _t),
    )
    by_zeta = isolated(_rm, of_m)
    zeta = isolated(s.zeta, rewrite((of_zeta, by_zeta)))
    return of_m, of_zeta, zeta, rewritten(by_zeta, zeta)


def _tends(exact: Theorem, goal: sp.Expr) -> Theorem:
    """left -> goal, for an exact value in the five averages."""
    limits = tuple(_averages().values())
    holes = tuple(sp.Dummy(name, real=True) for name in _averages())
    context = value(exact).xreplace({sides(t.statement)[0]: hole for t, hole in zip(limits, holes, strict=True)})
    found = rewrite((limit_compose(limits, context, holes), exact), True)
    at_end = value(found)
    return found if at_end == goal else rewrite((found, ring((), Equation(at_end, goal))))


@functools.cache
def limits() -> tuple[Theorem, Theorem, Theorem]:
    """r m, zeta and the test error as the spike vanishes."""
    _, _, zeta, rm = readout()
    along = s.gamma * s.h1_star
    of_m, of_zeta = _tends(rm, along / k1), _tends(zeta, sp.Integer(0))
    base = equations.test_error().theorem_of(s.test_error)
    exact = rewrite((_at_strength(base), isolated(s.m, SCALED)))
    more = sp.symbols("h_m h_zeta", real=True)
    residual = replace(_AT_HOLES, m=more[:1], zeta=(more[1:],)).e2 - s.noise
    pointwise = limit_compose((*SMALL, of_m, of_zeta), residual, (*_holes, *more))
    error = rewrite((average_limit((pointwise,), (s.kappa,)), exact), True)
    return of_m, of_zeta, rewritten(averages_expanded(error, s.kappa), *target_moments())


@functools.cache
def vanishing_spike() -> Derivation:
    """r -> 0+ after the limit of large dimensions: m grows like 1/r and learns the spike direction at no cost."""
    of_m, of_zeta, zeta, rm = readout()
    to_m, to_zeta, to_error = limits()
    m_limit = name_limit((to_m,), s.m_no_spike, "limit of r m as the spike vanishes")
    zeta_limit = name_limit((to_zeta,), s.zeta_no_spike, "limit of zeta as the spike vanishes")
    error = name_limit((to_error,), s.error_no_spike, "limit of the test error as the spike vanishes")
    return Derivation(
        "spike to zero",
        SOURCE,
        *each_proved("The functions along a small spike.", SMALL),
        proved("The equation for r m has averages of order one,", of_m),
        proved("and so has that for zeta.", of_zeta),
        *each_proved("Each has a limit.", _averages().values()),
        proved("Both equations are linear: zeta", zeta),
        proved("and r m.", rm),
        proved("r m tends to gamma h1*/mu1: mu0 m is gamma h1* kappa, the whole linear part along the spike.", m_limit),
        proved("zeta vanishes: m carries no ridge cost at this order.", zeta_limit),
        proved(
            "The rest is plain random features for the target without that part: h1* -> sqrt(rho) h1* and h2* -> "
            "h2* - gamma^2 h1*^2.",
            error,
        ),
        results=(m_limit, zeta_limit, error),
        hypotheses=(ODD, _LAST),
    )
