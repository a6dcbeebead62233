"""Ball arithmetic for closed forms: a SymPy formula of the class at a point, as a rigorous enclosure.

The second interpreter of closed forms beside their proof. It knows rational numbers, pi, i, sums, products, powers,
exp, erf, erfc, sin, cos, atan, asin, and Owen's T and the sign product, which are integrated.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from functools import reduce
from typing import Any

import sympy as sp
from flint import acb, arb, fmpq

from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct

Ball = Any  # an acb


class NoBallError(ValueError):
    """The formula holds something that this interpreter does not know."""


def enclose(formula: sp.Expr, values: Mapping[sp.Symbol, Any]) -> Ball:
    """A ball (acb, at flint's current precision) around ``formula``, symbols at ``values`` (arb, Fraction or int)."""
    return _Enclosing({symbol: _ball(value) for symbol, value in values.items()}).of(formula)


def _ball(value: Any) -> Ball:
    if isinstance(value, Fraction | int):
        return acb(rational_ball(value))
    return acb(value)


def rational_ball(number: Fraction | int) -> Ball:
    """The number as an arb at flint's current precision."""
    return arb(fmpq(*number.as_integer_ratio()))


class _Enclosing:
    def __init__(self, values: Mapping[sp.Symbol, Ball]) -> None:
        self.known: dict[sp.Expr, Ball] = dict(values)

    def of(self, formula: sp.Expr) -> Ball:
        found = self.known.get(formula)
        if found is None:
            found = self.known[formula] = self._of(formula)
        return found

    def _of(self, formula: sp.Expr) -> Ball:
        if formula.is_Rational:
            return acb(arb(fmpq(int(formula.p), int(formula.q))))
        if formula is sp.pi:
            return acb(arb.pi())
        if formula is sp.I:
            return acb(0, 1)
        if formula is sp.E:
            return acb(1).exp()
        parts = [self.of(argument) for argument in formula.args]
        if isinstance(formula, sp.Add):
            return reduce(lambda a, b: a + b, parts)
        if isinstance(formula, sp.Mul):
            return reduce(lambda a, b: a * b, parts)
        if isinstance(formula, sp.exp):
            return parts[-1].exp()
        if isinstance(formula, sp.Pow):
            return _power(parts[0], formula.exp)
        if isinstance(formula, OwensT):
            return owens_t(parts[0], parts[1])
        if isinstance(formula, SignProduct):
            return sign_product(parts[0], parts[1], parts[2])
        name = _METHODS.get(type(formula).__name__)
        if name is None:
            raise NoBallError(f"no enclosure is known for {formula.func}")
        return getattr(parts[0], name)()


_METHODS = {"erf": "erf", "erfc": "erfc", "sin": "sin", "cos": "cos", "atan": "atan", "asin": "asin"}
_METHODS |= {"log": "log", "sinh": "sinh", "cosh": "cosh", "tanh": "tanh", "asinh": "asinh"}


def _power(base: Ball, exponent: sp.Expr) -> Ball:
    if exponent.is_Integer:
        return base ** int(exponent)
    if exponent.is_Rational:  # a square root, or a root of one
        root, order = base, int(exponent.q)
        while order % 2 == 0:
            root, order = root.sqrt(), order // 2
        if order == 1:
            return root ** int(exponent.p)
    raise NoBallError(f"the exponent {exponent} is no square root, or root of one")


def owens_t(h: Ball, a: Ball) -> Ball:
    """T(h, a) = (1/2 pi) int_0^a exp(-h^2 (1+s^2)/2)/(1+s^2) ds for real a, rigorously; it is entire in h."""
    if not a.imag == 0:
        raise NoBallError("Owen's T is enclosed for a real second argument only")
    decay = -h * h / 2
    # The integrand is meromorphic with poles at +-i: near them its ball is not finite, as the integrator asks.
    integral = acb.integral(lambda s, analytic: (decay * (1 + s * s)).exp() / (1 + s * s), 0, acb(a))
    return _real_if(integral / (2 * acb(arb.pi())), h)


def sign_product(h: Ball, k: Ball, rho: Ball) -> Ball:
    r"""E[sign(X + h) sign(Y + k)] for a real correlation |rho| < 1, rigorously; it is entire in h and k.

    By conditioning Y on X and X on Y in turn, with w = sqrt(2 (1 - rho^2)) and the normal density phi, it is
    (2/pi) arcsin(rho) + 2 int_0^h phi(s) erf((k - rho s)/w) ds - 2 int_0^k phi(s) erf(rho s/w) ds.
    """
    rest = 1 - rho * rho
    if not (rho.imag == 0 and rest.real > 0):
        raise NoBallError("the sign product is enclosed for a correlation strictly between -1 and 1")
    width = (2 * rest).sqrt()
    # entire integrands: the path, the segment from 0, does not matter
    over_h = acb.integral(lambda s, analytic: (-s * s / 2).exp() * ((k - rho * s) / width).erf(), 0, acb(h))
    over_k = acb.integral(lambda s, analytic: (-s * s / 2).exp() * (rho * s / width).erf(), 0, acb(k))
    pi = acb(arb.pi())
    return _real_if(2 * rho.asin() / pi + (over_h - over_k) * (2 / pi).sqrt(), h, k)


def _real_if(value: Ball, *arguments: Ball) -> Ball:
    """A value that is real for real arguments, without the imaginary part that rounding gave it."""
    return acb(value.real) if all(argument.imag == 0 for argument in arguments) else value
