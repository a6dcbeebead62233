"""The strip around the real line on which an expression is analytic: a rigorous lower bound of its half width.

Rules: entire functions keep the strip of their argument; tanh, sigmoid, softplus, atan, asinh of an affine argument and
reciprocals, logarithms and roots of polynomials have theirs from the places of the singularities.  Anything else is
undecided (None), which says nothing against analyticity.
"""

from __future__ import annotations

import math
from fractions import Fraction

from derivations import rational_functions as rf
from derivations import real_roots
from derivations.expression_normal import as_affine, as_polynomial
from derivations.expression_tree import Call, Expression, Number, Power, Quotient
from derivations.rational_intervals import enclose, point

_ENTIRE = frozenset({"exp", "sin", "cos", "sinh", "cosh", "erf", "erfc"})
HalfWidth = Fraction | float | None  # a float is math.inf


def strip_half_width(expr: Expression) -> HalfWidth:
    """y > 0 such that expr (smooth on the line, no breakpoints) is analytic for |Im z| < y; None when undecided."""
    match expr:
        case Call(name, argument) if name not in _ENTIRE:
            return _singular(name, argument)
        case Quotient(numerator, denominator):
            return _narrower([strip_half_width(numerator), _zero_free(denominator)])
        case Power(base, Number(q)) if q.denominator != 1:
            return _narrower([strip_half_width(base), _zero_free(base)])
    return _narrower([strip_half_width(child) for child in expr.children()])


def _narrower(widths: list[HalfWidth]) -> HalfWidth:
    decided = [w for w in widths if w is not None]
    return None if len(decided) < len(widths) else min(decided, default=math.inf)


def _zero_free(u: Expression) -> HalfWidth:
    """Half width of a strip without zeros of u, where u is analytic."""
    if isinstance(u, Power):
        return _zero_free(u.base)
    polynomial = as_polynomial(u)
    if polynomial is not None:
        if len(polynomial) == 1:
            return math.inf
        height = real_roots.root_free_height(polynomial)
        return height if height > 0 else None
    match u:
        case Call("exp", argument):
            return strip_half_width(argument)
        case Call("cosh", argument):
            return _over_slope(argument, rf.pi_pair(64)[0] / 2)
        case Call("sqrt", base):
            return _zero_free(base)
    if all(not child.children() for child in u.children()) and not u.children():
        return math.inf
    return _one_plus_exponential(u)


def _one_plus_exponential(u: Expression) -> HalfWidth:
    """1 + exp(affine) is zero only where the imaginary part of the argument is an odd multiple of pi."""
    children = u.children()
    if len(children) == 2 and children[1] == Number(Fraction(1)):
        first = children[0]
        if isinstance(first, Call) and first.name == "exp":
            return _over_slope(first.argument, rf.pi_pair(64)[0])
    return None


def _over_slope(argument: Expression, height: Fraction) -> HalfWidth:
    """height / |slope| for an affine argument."""
    affine = as_affine(argument)
    if affine is None:
        return None
    box = enclose(affine[0], point(Fraction(0)))
    if isinstance(box.low, float) or isinstance(box.high, float):
        return None
    largest = max(abs(box.low), abs(box.high))
    return height / largest if largest > 0 else math.inf


def _singular(name: str, argument: Expression) -> HalfWidth:
    pi_low = rf.pi_pair(64)[0]
    match name:
        case "tanh" if isinstance(argument, Call) and argument.name == "softplus":
            # 1 - tanh(log(1+E)) = 2/((1+E)^2 + 1) has its poles at E = -1 +- i, arguments +- 3 pi/4
            return _over_slope(argument.argument, pi_low * 3 / 4)
        case "tanh":
            return _over_slope(argument, pi_low / 2)
        case "sigmoid" | "softplus":
            return _over_slope(argument, pi_low)
        case "atan" | "asinh":
            return _over_slope(argument, Fraction(1))
        case "sqrt" | "log":
            return _narrower([strip_half_width(argument), _zero_free(argument)])
    return None
