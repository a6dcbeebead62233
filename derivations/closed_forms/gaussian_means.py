"""Means of functions of a normal variable as theorems: E f(u) for u = x + sqrt(c) z, f made of signs, error functions,
exponentials and waves.

Three things are known beforehand: E sgn(z + a) is an error function, and what shift and change of scale do to an
average. With a weight exp(a z - a^2/2) a mean is itself at x + sqrt(c) a, so that its derivatives in x are the averages
with Hermite polynomials beside f.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step.signs import (
    ERROR_FUNCTION,
    mean_error_function,
    position,
    shift,
    variance,
    without_factor,
)
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import average, dilate, linear, stein, translate
from giantsteps.derivations.kernel.calculus import same_slope
from giantsteps.derivations.kernel.inequalities import antisymmetric, equal_roots, root_of_zero
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.terms import derivative
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn
from giantsteps.derivations.language.normal_probabilities import OwensT
from giantsteps.derivations.language.symbols import c, x, z

# What the averages are of, and a factor 1/k by which a Gaussian weight shrinks the variance.
u = x + sp.sqrt(c) * z
squeeze = sp.Symbol("k", positive=True)
_ZERO, _ONE, _HALF = sp.Integer(0), sp.Integer(1), sp.Rational(1, 2)


def tilted(mean: Theorem) -> Theorem:
    """E[f(u) exp(a z - a^2/2)] = F(x + sqrt(c) a), from E f(u) = F(x)."""
    f = sides(mean.statement)[0].integrand
    moved = translate((), Expectation(f * sp.exp(shift * z - shift**2 / 2), z), z, shift)
    there = instantiate((mean,), {x: x + sp.sqrt(c) * shift})
    same = linear((), value(moved), ((_ONE, sides(there.statement)[0].integrand),))
    return rewrite((rewrite((moved, same)), there))


@functools.cache
def with_power(mean: Theorem, power: int) -> Theorem:
    """E[z^k f(u)], from the k-th derivative of the mean and lower powers."""
    if power == 0:
        return mean
    f = sides(mean.statement)[0].integrand
    slope = tilted(mean)
    for _ in range(power):
        slope = differentiate((slope,), shift)
    slope = instantiate((slope,), {shift: _ZERO})
    polynomial = sp.Poly(sp.cancel(sides(slope.statement)[0].integrand / f), z)
    parts = tuple((factor, z**k * f) for (k,), factor in polynomial.terms())
    if len(parts) > 1 or sides(slope.statement)[0].integrand != z * f:
        slope = rewrite((slope, linear((), sides(slope.statement)[0], parts)))
    found = isolated(Expectation(z**power * f, z), slope)
    return rewritten(found, *(with_power(mean, k) for k in range(power)))


@functools.cache
def mean_of_sign() -> Theorem:
    """E sgn(u) = erf(x/sqrt(2 c))."""
    centre = x / sp.sqrt(c)
    scaled = ring((), Equation(sgn(u), sgn(sp.sqrt(c) * (z + centre))))
    sign = rewrite((scaled, without_factor(sp.sqrt(c), z + centre)))
    return rewrite((average((sign,), (z,)), instantiate((ERROR_FUNCTION,), {shift: centre})))


@functools.cache
def mean_of_erf() -> Theorem:
    """E erf(u) = erf(x/sqrt(1 + 2 c))."""
    return instantiate((mean_error_function(),), {position: x, variance: c})


@functools.cache
def mean_of_erf_below() -> Theorem:
    """E erf(u/sqrt 2) = erf(x/sqrt(2 + 2 c))."""
    return instantiate((mean_error_function(),), {position: x / sp.sqrt(2), variance: c / 2})


def exponential(rate: sp.Expr) -> Theorem:
    """exp(b z) averages to exp(b^2/2)."""
    whole = Expectation(sp.exp(rate * z), z)
    moved = translate((), whole, z, rate)
    return rewrite((moved, linear((), value(moved), ((sp.exp(rate**2 / 2), _ONE),))))


@functools.cache
def exponential_with_sign() -> Theorem:
    """E[exp(sqrt(c) z) sgn(u)] = exp(c/2) erf((x + c)/sqrt(2 c))."""
    weighted = instantiate((tilted(mean_of_sign()),), {shift: sp.sqrt(c)})
    whole = Expectation(sp.exp(sp.sqrt(c) * z) * sgn(u), z)
    return rewrite((linear((), whole, ((sp.exp(c / 2), sides(weighted.statement)[0].integrand),)), weighted))


def under_gaussian(f: sp.Expr, k: sp.Symbol = squeeze) -> Theorem:
    """E[f(u) exp((1 - k) u^2/(2 c))] = exp((1 - k) x^2/(2 c k)) E[f(x/k + (c/k)^(1/2) z)]/k^(1/2), f in terms of x.

    For k = 1 + 2 q c the weight is exp(-q u^2): the law of u under it is normal again.
    """
    weight = sp.exp((1 - k) * u**2 / (2 * c))
    narrow = dilate((), Expectation(f.xreplace({x: u}) * weight, z), z, 1 / sp.sqrt(k))
    (inside,) = value(narrow).atoms(Expectation)
    moved = translate((), inside, z, (1 - k) * x / sp.sqrt(c * k))
    there = x / k + sp.sqrt(c) / sp.sqrt(k) * z
    size = sp.exp((1 - k) * x**2 / (2 * c * k))
    same = linear((), value(moved), ((size, f.xreplace({x: there})),))
    return rewrite((rewrite((narrow, moved)), same))


@functools.cache
def mean_of_bell(k: sp.Symbol = squeeze) -> Theorem:
    """E exp((1 - k) u^2/(2 c)) = exp((1 - k) x^2/(2 c k))/k^(1/2)."""
    return under_gaussian(_ONE, k)


# (1 + 2 c/(1 + 2 c))^(-1/2), which a second smoothing brings.
NOISY, _WIDER, _WIDEST = c + _HALF, 1 + 2 * c, 1 + 4 * c
_NARROW = equal_roots((), Equation(1 / sp.sqrt(1 + 2 * c / _WIDER), sp.sqrt(_WIDER) / sp.sqrt(_WIDEST)), 2)


@functools.cache
def square_of_erf_at_zero() -> Theorem:
    """E erf(sqrt(c) z)^2 = 1 - (4/pi) arctan((1 + 4 c)^(-1/2)): both sides have one slope in c."""
    left = Expectation(sp.erf(sp.sqrt(c) * z) ** 2, z)
    right = 1 - 4 / sp.pi * sp.atan(1 / sp.sqrt(_WIDEST))
    rate = derivative(left, c)
    weighted = instantiate((instantiate((under_gaussian(x * sp.erf(x)),), {x: _ZERO}),), {squeeze: _WIDER})
    known = linear((), rate, ((2 / (c * sp.sqrt(sp.pi)), sides(weighted.statement)[0].integrand),))
    known = rewrite((known, weighted))
    (inside,) = value(known).atoms(Expectation)
    scale = sp.sqrt(c) / sp.sqrt(_WIDER)
    parted = linear((), inside, ((scale, z * sp.erf(scale * z)),))
    parted = rewrite((parted, stein((), Expectation(z * sp.erf(scale * z), z), z, sp.erf(scale * z))))
    bell = instantiate((mean_of_bell(),), {x: _ZERO})
    bell = instantiate((bell,), {squeeze: 1 + 2 * c / _WIDER, c: c / _WIDER})
    (slope,) = value(parted).atoms(Expectation)
    of_bell = linear((), slope, ((2 * scale / sp.sqrt(sp.pi), sides(bell.statement)[0].integrand),))
    known = rewritten(known, parted, of_bell, bell, _NARROW)
    return same_slope((equal(known, derivative(right, c)),), left, right, c, _ZERO)


@functools.cache
def mean_of_erf_square() -> Theorem:
    """E erf(u)^2 = 1 - 8 T(x/(c + 1/2)^(1/2), (1 + 4 c)^(-1/2)), by its slope in x and its value at x = 0."""
    left = Expectation(sp.erf(u) ** 2, z)
    right = 1 - 8 * OwensT(sp.sqrt(2) * x / sp.sqrt(_WIDER), 1 / sp.sqrt(_WIDEST))
    weighted = instantiate((under_gaussian(sp.erf(x)),), {squeeze: _WIDER})
    rate = derivative(left, x)
    known = linear((), rate, ((4 / sp.sqrt(sp.pi), sides(weighted.statement)[0].integrand),))
    known = rewrite((known, weighted))
    mean = instantiate((mean_error_function(),), {position: x / _WIDER, variance: c / _WIDER})
    known = rewritten(known, mean, _NARROW)
    rates = equal(known, derivative(right, x))
    square = same_slope((rates, square_of_erf_at_zero()), left, right, x, _ZERO)
    return rewrite((square, equal_roots((), Equation(1 / sp.sqrt(_WIDER), 1 / (sp.sqrt(2) * sp.sqrt(NOISY))), 2)))


@functools.cache
def mean_of_sine() -> Theorem:
    """E sin(u) = exp(-c/2) sin(x): exp(c/2) E sin(u) has no slope in c, by Stein's lemma."""
    left = sp.exp(c / 2) * Expectation(sp.sin(u), z)
    slope = derivative(left, c)
    (with_z,) = (a for a in slope.atoms(Expectation) if a.integrand.has(sp.cos))
    parted = linear((), with_z, ((1 / (2 * sp.sqrt(c)), z * sp.cos(u)),))
    parted = rewrite((parted, stein((), Expectation(z * sp.cos(u), z), z, sp.cos(u))))
    (inside,) = value(parted).atoms(Expectation)
    parted = rewrite((parted, linear((), inside, ((-sp.sqrt(c), sp.sin(u)),))))
    flat = ring((parted,), Equation(slope, _ZERO), (sp.exp(c / 2),))
    constant = same_slope((flat,), left, sp.sin(x), c, _ZERO)
    return ring((constant,), Equation(Expectation(sp.sin(u), z), sp.exp(-c / 2) * sp.sin(x)), (sp.exp(-c / 2),))


@functools.cache
def mean_of_cosine() -> Theorem:
    """E cos(u) = exp(-c/2) cos(x), the slope of the mean sine."""
    return differentiate((mean_of_sine(),), x)


@functools.cache
def half_angle() -> Theorem:
    """sin(x)^2 = (1 - cos(2 x))/2.

    p = cos(2x) - 1 + 2 sin(x)^2 and q = sin(2x) - 2 sin(x) cos(x) have p' = -2q and, as sin^2 + cos^2 = 1, q' = 2p:
    p^2 + q^2 does not move, and is zero at zero.
    """
    sine, cosine = sp.sin(x), sp.cos(x)
    one = same_slope((), sine**2 + cosine**2, _ONE, x, _ZERO)
    p = sp.cos(2 * x) - 1 + 2 * sine**2
    q = sp.sin(2 * x) - 2 * sine * cosine
    slope = derivative(p**2 + q**2, x)
    rates = ring((one,), Equation(slope, _ZERO), (-4 * q,))
    both = same_slope((rates,), p**2 + q**2, _ZERO, x, _ZERO)
    above = order((both,), AtLeast(_ZERO, p**2), (-_ONE,), ((_ONE, q),))
    below = order((), AtLeast(p**2, _ZERO), (), ((_ONE, p),))
    none = root_of_zero((antisymmetric((below, above)),), p, 2)
    return ring((none,), Equation(sine**2, (1 - sp.cos(2 * x)) / 2), (_HALF,))


@functools.cache
def mean_of_sine_square() -> Theorem:
    """E sin(u)^2 = (1 - exp(-2 c) cos(2 x))/2."""
    halves = average((instantiate((half_angle(),), {x: u}),), (z,))
    mean = instantiate((mean_of_cosine(),), {x: 2 * x, c: 4 * c})
    parts = linear((), value(halves), ((_HALF, _ONE), (-_HALF, sides(mean.statement)[0].integrand)))
    return rewrite((rewrite((halves, parts)), mean))
