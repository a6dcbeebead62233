"""The sign of a normal variable: what is known of it, and its moments by derivatives in a shift.

E[sgn(z + a)] is the error function, by what that means. A shift of the variable makes it E[sgn(z) exp(a z - a^2/2)],
whose derivatives in a are averages of sgn times Hermite polynomials.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.kernel.algebra import assume, differentiate, instantiate, rewrite
from giantsteps.derivations.kernel.averages import average, iterated, linear, rotate, translate
from giantsteps.derivations.kernel.search.averages import both_expanded, over
from giantsteps.derivations.kernel.search.steps import equal, isolated, replaced, rewritten, value
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn
from giantsteps.derivations.language.symbols import z

shift, position, _x, _noise = sp.symbols("a t x w", real=True)
variance = sp.Symbol("s", nonnegative=True)
_factor = sp.Symbol("b", positive=True)


def _lemma(name: str, left: sp.Expr, right: sp.Expr, reference: str, *universal: sp.Symbol) -> Assumption:
    return Assumption(Ground.LEMMA, name, Equation(left, right), reference, frozenset(universal))


UNIT = _lemma("a sign is one or minus one", sgn(_x) ** 2, sp.Integer(1), "sgn(0) stands for 1", _x)
SCALED = _lemma(
    "sign of a multiple", sgn(_factor * _x), sgn(_x), "a positive factor does not change a sign", _factor, _x
)
MODULUS = _lemma("modulus by sign", sp.Abs(_x), _x * sgn(_x), "|x| = x sgn(x)", _x)
ORDERED = _lemma(
    "signs in order",
    (1 + sgn(_x)) * (1 - sgn(_x + _factor)),
    sp.Integer(0),
    "what is positive after something positive is taken away is positive",
    _factor,
    _x,
)
ERROR_FUNCTION = _lemma(
    "error function",
    Expectation(sgn(z + shift), z),
    sp.erf(shift / sp.sqrt(2)),
    "erf(a/sqrt 2) is the probability that a standard normal variable lies between -a and a",
    shift,
)
WAVE = _lemma(
    "characteristic function",
    Expectation(sp.cos(shift * z), z),
    sp.exp(-(shift**2) / 2),
    "the characteristic function of the standard normal law",
    shift,
)
CHEBYSHEV = Assumption(
    Ground.LEMMA,
    "Chebyshev",
    AtLeast(shift**-2, 1 - sgn(shift) * sp.erf(shift / sp.sqrt(2))),
    "a standard normal variable is beyond -a and a with probability at most 1/a^2",
    frozenset({shift}),
)
LEMMAS = (UNIT, SCALED, MODULUS, ORDERED, ERROR_FUNCTION, WAVE, CHEBYSHEV)


def square_of_sign(argument: sp.Expr) -> Theorem:
    """sgn(argument)^2 = 1."""
    return instantiate((assume((), UNIT),), {_x: argument})


def without_factor(factor: sp.Expr, argument: sp.Expr) -> Theorem:
    """sgn(factor * argument) = sgn(argument), for a factor that is positive."""
    return instantiate((assume((), SCALED),), {_factor: factor, _x: argument})


def modulus(argument: sp.Expr) -> Theorem:
    """|argument| = argument * sgn(argument)."""
    return instantiate((assume((), MODULUS),), {_x: argument})


def in_order(lower: sp.Expr, gap: sp.Expr) -> Theorem:
    """(1 + sgn(x)) (1 - sgn(x + gap)) = 0 for a gap that is positive."""
    return instantiate((assume((), ORDERED),), {_x: lower, _factor: gap})


def mean_cosine(frequency: sp.Expr) -> Theorem:
    """E[cos(a z)] = exp(-a^2/2)."""
    return instantiate((assume((), WAVE),), {shift: frequency})


def chebyshev(threshold: sp.Expr) -> Theorem:
    """1/a^2 >= P(|z| > |a|)."""
    return instantiate((assume((), CHEBYSHEV),), {shift: threshold})


@functools.cache
def mean_sign() -> Theorem:
    """E[sgn(z + a)] = erf(a/sqrt 2)."""
    return assume((), ERROR_FUNCTION)


@functools.cache
def sign_of_noise(argument: sp.Expr, noise: sp.Symbol) -> Theorem:
    """E[sgn(w + x sqrt 2)] = erf(x) for normal noise w."""
    return instantiate((over(noise, mean_sign()),), {shift: sp.sqrt(2) * argument})


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
    mean = rewritten(plain, without_factor(width, z + centre), instantiate((mean_sign(),), {shift: centre}))
    return rewrite((mean, whole))


@functools.cache
def tilted(order: int) -> Theorem:
    """E[sgn(z) He_k(z - a) exp(a z - a^2/2)] = d^k/da^k erf(a/sqrt 2)."""
    if order > 0:
        return differentiate((tilted(order - 1),), shift)
    return rewrite((mean_sign(), translate((), sides(mean_sign().statement)[0], z, -shift)))


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
        return instantiate((mean_sign(),), {shift: sp.Integer(0)})
    known = both_expanded(instantiate((tilted(order),), {shift: sp.Integer(0)}))
    found = isolated(Expectation(z**order * sgn(z), z), known)
    return rewritten(found, *(moment_of_sign(k) for k in range(order)))
