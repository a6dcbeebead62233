r"""The alignment of Result 3.1 and the constants in it (Section 3.1, equations (10) and (12) of arXiv 2402.04980).

h1 = E[z sigma] is the mean of sigma'; h1_check = E[(sigma' - h1)^2] is a sum over Hermite coefficients; the alignment
grows with the batch.
"""

from __future__ import annotations

import functools

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.assumptions import H1, H1_STAR, H2_STAR
from giantsteps.derivations.gradient_step.spike import OF_THE_SPIKE, spike
from giantsteps.derivations.kernel.algebra import congruence, instantiate, order, rewrite
from giantsteps.derivations.kernel.averages import stein
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, slope_at
from giantsteps.derivations.kernel.search.steps import equal, named_slope, value
from giantsteps.derivations.kernel.statements import AtLeast
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, sigma, with_slopes

_hole, _ONE = sp.Symbol("hole", real=True), sp.Integer(1)
_in_ratio, *_ = with_slopes("Gamma")


@functools.cache
def first_coefficient() -> Derivation:
    """h1 = E[z sigma] = E[sigma'] by Stein's lemma: what is subtracted from sigma' is its mean."""
    by_stein = rewrite((H1, stein((), value(H1), s.z, sigma(s.z))))
    return Derivation(
        "h1 is the mean of sigma'",
        "Section 3.1, equation (12)",
        proved("Stein's lemma, integration by parts against the density exp(-z^2/2).", by_stein),
        hypotheses=("the activation is absolutely continuous and grows at most exponentially",),
    )


@functools.cache
def least_floor() -> tuple[Theorem, Theorem]:
    """E(g - h1* z)^2 = h2* - h1*^2, which is an average of a square: h2* - h1*^2 >= 0."""
    square = Expectation((g(s.z) - s.h1_star * s.z) ** 2, s.z)
    floor = define(s.linear_floor, square, "the error of the best linear fit of the target")
    named = rewrite((rewrite((averages_expanded(floor), H2_STAR), True), H1_STAR), True)
    named = equal(named, s.h2_star - s.h1_star**2)
    average = order((floor,), AtLeast(s.linear_floor, sp.Integer(0)), (sp.Integer(1),), ((square, sp.Integer(1)),))
    bessel = order((average, named), AtLeast(value(named), sp.Integer(0)), (sp.Integer(1), sp.Integer(-1)), ())
    return named, bessel


def _total(ratio: sp.Expr, noise: sp.Expr = sp.S.Zero) -> sp.Expr:
    """alpha0 times E|v~|^2."""
    return ratio * s.h1_star**2 + s.h2_star + noise


@functools.cache
def square_alignment(noise: sp.Expr = sp.S.Zero) -> Theorem:
    """gamma^2 by Result 3.1."""
    squared = congruence((spike(noise).theorem_of(s.gamma),), _hole**2, _hole)
    return equal(squared, s.alpha0 * s.h1_star**2 / _total(s.alpha0, noise))


@functools.cache
def alignment_growth() -> Derivation:
    """gamma^2 as a function of alpha0: below alpha0/(1 + alpha0), and increasing; consequences of equation (10)."""
    floor, bessel = least_floor()
    square = square_alignment()
    ratio = sp.Symbol("a", positive=True)
    curve = define(
        _in_ratio(ratio), value(square).subs(s.alpha0, ratio), "gamma^2 as a function of the ratio of samples", ratio
    )
    here = instantiate((curve,), {ratio: s.alpha0})
    growth = named_slope(
        s.gamma_square_growth, "the slope of gamma^2 in the ratio of samples", slope_at(curve, ratio, s.alpha0)
    )
    growth = equal(growth, s.h2_star * (s.h1_star / _total(s.alpha0)) ** 2)
    rising = order(
        (growth,), AtLeast(s.gamma_square_growth, sp.Integer(0)), (sp.Integer(1),),
        ((s.h2_star, s.h1_star / _total(s.alpha0)),),
    )  # fmt: skip
    return Derivation(
        "the alignment grows with the batch",
        "Section 3.1, after Result 3.1",
        proved("The best linear fit of the target leaves h2* - h1*^2,", floor),
        proved("which is an average of a square.", bessel),
        proved("The square of the alignment is a function of the ratio of samples.", rewrite((square, here), True)),
        proved("Its derivative in alpha0 is a square over a square, times h2*:", growth),
        proved("it does not decrease.", rising),
        results=(growth, floor),
        hypotheses=OF_THE_SPIKE,
    )


def alignment_bound(statement: Relational) -> Theorem:
    """A bound on gamma^2, if Bessel's inequality h2* >= h1*^2 gives it."""
    _, bessel = least_floor()
    goal = AtLeast(statement.gts, statement.lts)
    weight = s.alpha0 / ((1 + s.alpha0) * _total(s.alpha0))
    return order((square_alignment(), bessel), goal, (sp.Integer(-1), weight), ())


_increase = sp.Symbol("delta", nonnegative=True)
_gamma_in_ratio = sp.Function("gamma of alpha_0", real=True)


def alignment_at_most_one(statement: Relational) -> Theorem:
    """1 >= gamma^2: what is missing is the share of the batch's noise."""
    missing = (s.h2_star + s.noise) / _total(s.alpha0, s.noise)
    goal = AtLeast(statement.gts, statement.lts)
    return order((square_alignment(s.noise),), goal, (-_ONE,), ((missing, _ONE),))


def alignment_increases(more: sp.Symbol, statement: Relational) -> Theorem:
    """gamma'^2 >= gamma^2 for ``more``, the alignment gamma' at a ratio alpha0 + delta, delta >= 0."""
    alignment = spike(s.noise).theorem_of(s.gamma)
    ratio, there = sp.Symbol("a", positive=True), s.alpha0 + _increase
    here, grown = _total(s.alpha0, s.noise), _total(there, s.noise)
    curve = define(
        _gamma_in_ratio(ratio), value(alignment).subs(s.alpha0, ratio), "gamma as a function of the ratio", ratio
    )
    larger = define(more, _gamma_in_ratio(there), "the alignment at a larger ratio of samples")
    at_larger = rewrite((larger, instantiate((curve,), {ratio: there})))
    squared = equal(congruence((at_larger,), _hole**2, _hole), there * s.h1_star**2 / grown)
    weight = (s.h2_star + s.noise) * _increase / (here * grown)
    goal = AtLeast(statement.gts, statement.lts)
    return order((squared, square_alignment(s.noise)), goal, (_ONE, -_ONE), ((weight, s.h1_star),))
