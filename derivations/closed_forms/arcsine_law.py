"""The mean of a product of two error functions of one normal variable that is centred: an arcsine.

Both sides have one slope in a scale, which is algebraic: an exponential appears that rescales the variable, and Stein's
lemma turns the other error function into an exponential, too.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.closed_forms.gaussian_means import mean_of_bell, squeeze
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import dilate, linear, stein
from giantsteps.derivations.kernel.calculus import same_slope
from giantsteps.derivations.kernel.inequalities import equal_roots
from giantsteps.derivations.kernel.search.assumptions import lemma
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.terms import derivative
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.symbols import c, x, z

SCALES = first, second = sp.symbols("a b", real=True)
_t = sp.Symbol("t", real=True)
_ZERO, _ONE = sp.Integer(0), sp.Integer(1)

ARCTANGENT = lemma(
    "arcsine by arctangent",
    Equation(sp.asin(_t / sp.sqrt(1 + _t**2)), sp.atan(_t)),
    "the angle of a right triangle with legs t and 1, by its sine and by its tangent",
    _t,
)


def _bell(width: sp.Expr) -> Theorem:
    """E exp((1 - k) z^2/2) = k^(-1/2)."""
    return instantiate((instantiate((mean_of_bell(),), {x: _ZERO, c: _ONE}),), {squeeze: width})


@functools.cache
def _weighted_slope() -> Theorem:
    """E[z erf(b z) exp((1 - k) z^2/2)] = (2/sqrt(pi)) b k^(-3/2) (1 + 2 b^2/k)^(-1/2)."""
    weight = sp.exp((1 - squeeze) * z**2 / 2)
    narrow = dilate((), Expectation(z * sp.erf(second * z) * weight, z), z, 1 / sp.sqrt(squeeze))
    (inside,) = value(narrow).atoms(Expectation)
    scale = second / sp.sqrt(squeeze)
    narrow = rewrite((narrow, linear((), inside, ((1 / sp.sqrt(squeeze), z * sp.erf(scale * z)),))))
    parted = stein((), Expectation(z * sp.erf(scale * z), z), z, sp.erf(scale * z))
    bell = _bell(1 + 2 * second**2 / squeeze)
    constant = linear((), value(parted), ((2 * scale / sp.sqrt(sp.pi), sides(bell.statement)[0].integrand),))
    return rewritten(narrow, parted, constant, bell)


@functools.cache
def arcsine_law() -> Theorem:
    """E[erf(a z) erf(b z)] = (2/pi) arcsin(2 a b/((1 + 2 a^2)(1 + 2 b^2))^(1/2))."""
    one, other = 1 + 2 * first**2, 1 + 2 * second**2
    whole, both = sp.sqrt(one + 2 * second**2), sp.sqrt(one) * sp.sqrt(other)
    tangent = 2 * first * second / whole
    left = Expectation(sp.erf(first * z) * sp.erf(second * z), z)
    right = 2 / sp.pi * sp.atan(tangent)
    slope = instantiate((_weighted_slope(),), {squeeze: one})
    rate = derivative(left, first)
    known = rewrite((linear((), rate, ((2 / sp.sqrt(sp.pi), sides(slope.statement)[0].integrand),)), slope))
    rates = equal(with_roots(known, (2 * second**2, one)), derivative(right, first))
    arctangent = same_slope((rates,), left, right, first, _ZERO)
    angle = instantiate((ARCTANGENT,), {_t: tangent})
    radius = equal_roots((), Equation(1 / sp.sqrt(1 + tangent**2), whole / both), 2)
    sine = rewrite((angle, radius))
    goal = 2 / sp.pi * sides(sine.statement)[0]
    return ring((arctangent, sine), Equation(left, goal), (_ONE, -2 / sp.pi))


def with_roots(theorem: Theorem, *ratios: tuple[sp.Expr, sp.Expr]) -> Theorem:
    """``theorem`` with (1 + over/under)^(-1/2) written as (under/(under + over))^(1/2)."""
    for over, under in ratios:
        written = sp.sqrt(under) / sp.sqrt(under + over)
        theorem = rewrite((theorem, equal_roots((), Equation(1 / sp.sqrt(1 + over / under), written), 2)))
    return theorem
