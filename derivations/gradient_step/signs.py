"""The sign of a normal variable: what is known of it, and its moments by derivatives in a shift.

E[sgn(z + a)] is the error function, by what that means. A shift of the variable makes it E[sgn(z) exp(a z - a^2/2)],
whose derivatives in a are averages of sgn times Hermite polynomials.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.kernel.algebra import differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.averages import average, iterated, linear, rotate, translate
from giantsteps.derivations.kernel.search.assumptions import lemma
from giantsteps.derivations.kernel.search.averages import both_expanded, over
from giantsteps.derivations.kernel.search.steps import equal, isolated, replaced, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn
from giantsteps.derivations.language.symbols import z

shift, position, _x, _noise = sp.symbols("a t x w", real=True)
variance = sp.Symbol("s", nonnegative=True)
_factor = sp.Symbol("b", positive=True)


UNIT = lemma("a sign is one or minus one", Equation(sgn(_x) ** 2, sp.Integer(1)), "sgn(0) stands for 1", _x)
SCALED = lemma(
    "sign of a multiple", Equation(sgn(_factor * _x), sgn(_x)), "a positive factor does not change a sign", _factor, _x
)
MODULUS = lemma("modulus by sign", Equation(sp.Abs(_x), _x * sgn(_x)), "|x| = x sgn(x)", _x)
ORDERED = lemma(
    "signs in order",
    Equation((1 + sgn(_x)) * (1 - sgn(_x + _factor)), sp.Integer(0)),
    "what is positive after something positive is taken away is positive",
    _factor,
    _x,
)
ERROR_FUNCTION = lemma(
    "error function",
    Equation(Expectation(sgn(z + shift), z), sp.erf(shift / sp.sqrt(2))),
    "erf(a/sqrt 2) is the probability that a standard normal variable lies between -a and a",
    shift,
)
WAVE = lemma(
    "characteristic function",
    Equation(Expectation(sp.cos(shift * z), z), sp.exp(-(shift**2) / 2)),
    "the characteristic function of the standard normal law",
    shift,
)
CHEBYSHEV = lemma(
    "Chebyshev",
    AtLeast(shift**-2, 1 - sgn(shift) * sp.erf(shift / sp.sqrt(2))),
    "a standard normal variable is beyond -a and a with probability at most 1/a^2",
    shift,
)


def square_of_sign(argument: sp.Expr) -> Theorem:
    """sgn(argument)^2 = 1."""
    return instantiate((UNIT,), {_x: argument})


def without_factor(factor: sp.Expr, argument: sp.Expr) -> Theorem:
    """sgn(factor * argument) = sgn(argument), for a factor that is positive."""
    return instantiate((SCALED,), {_factor: factor, _x: argument})


def modulus(argument: sp.Expr) -> Theorem:
    """|argument| = argument * sgn(argument)."""
    return instantiate((MODULUS,), {_x: argument})


def in_order(lower: sp.Expr, gap: sp.Expr) -> Theorem:
    """(1 + sgn(x)) (1 - sgn(x + gap)) = 0 for a gap that is positive."""
    return instantiate((ORDERED,), {_x: lower, _factor: gap})


def mean_cosine(frequency: sp.Expr) -> Theorem:
    """E[cos(a z)] = exp(-a^2/2)."""
    return instantiate((WAVE,), {shift: frequency})


def chebyshev(threshold: sp.Expr) -> Theorem:
    """1/a^2 >= P(|z| > |a|)."""
    return instantiate((CHEBYSHEV,), {shift: threshold})


@functools.cache
def sign_of_noise(argument: sp.Expr, noise: sp.Symbol) -> Theorem:
    """E[sgn(w + x sqrt 2)] = erf(x) for normal noise w."""
    return instantiate((over(noise, ERROR_FUNCTION),), {shift: sp.sqrt(2) * argument})


@functools.cache
def mean_error_function() -> Theorem:
    """E[erf(t + sqrt(s) z)] = erf(t/sqrt(1 + 2 s)): a rotation of (w, z) leaves one normal variable in the sign of
    w + sqrt(2) (t + sqrt(s) z).
    """
    width = sp.sqrt(1 + 2 * variance)
    inner = sign_of_noise(position + sp.sqrt(variance) * z, _noise)
    both = Expectation(sides(inner.statement)[0].integrand, _noise, z)
    whole = rewrite((iterated((), both, (_noise,)), average((inner,), (z,))))
    cosine, sine = 1 / width, sp.sqrt(2) * sp.sqrt(variance) / width
    turned = rotate((), both, (z, _noise), ((cosine, sine), (sine, -cosine)))
    (call,) = value(turned).atoms(sgn)
    centre = sp.sqrt(2) * position / width
    plain = replaced(turned, call.args[0], width * (z + centre))
    mean = rewritten(plain, without_factor(width, z + centre), instantiate((ERROR_FUNCTION,), {shift: centre}))
    return rewrite((mean, whole))


@functools.cache
def tilted(order: int) -> Theorem:
    """E[sgn(z) He_k(z - a) exp(a z - a^2/2)] = d^k/da^k erf(a/sqrt 2)."""
    if order > 0:
        return differentiate((tilted(order - 1),), shift)
    return rewrite((ERROR_FUNCTION, translate((), sides(ERROR_FUNCTION.statement)[0], z, -shift)))


@functools.cache
def slope_of_sign() -> Theorem:
    """E[z sgn(z + a)] = sqrt(2/pi) exp(-a^2/2), for every a."""
    back = translate((), sides(tilted(1).statement)[0], z, shift)
    plain = rewrite((back, linear((), value(back), ((sp.Integer(1), z * sgn(z + shift)),))))
    return equal(rewrite((tilted(1), plain)), sp.sqrt(2 / sp.pi) * sp.exp(-(shift**2) / 2))


@functools.cache
def moment_of_sign(order: int) -> Theorem:
    """E[z^k sgn(z)], from the k-th derivative at a = 0 and the moments of lower order."""
    if order == 0:
        return instantiate((ERROR_FUNCTION,), {shift: sp.Integer(0)})
    known = both_expanded(instantiate((tilted(order),), {shift: sp.Integer(0)}))
    found = isolated(Expectation(z**order * sgn(z), z), known)
    return rewritten(found, *(moment_of_sign(k) for k in range(order)))
