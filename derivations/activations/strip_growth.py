"""Growth bounds on a strip: |f(x+iy)| <= A (1+|x|)^k exp(a|x| + q x^2) for all |y| <= height, with f analytic there.

These bound the error of the trapezoidal rule.  A function outside the rules gets None, never a guess.

The strip around the real line on which an expression is analytic: a rigorous lower bound of its half width.

Rules: entire functions keep the strip of their argument; tanh, sigmoid, softplus, atan, asinh of an affine argument and
reciprocals, logarithms and roots of polynomials have theirs from the places of the singularities.  Anything else is
undecided (None), which says nothing against analyticity.
"""

from __future__ import annotations

import functools
import math
from dataclasses import replace
from fractions import Fraction

from giantsteps.derivations.activations import real_roots
from giantsteps.derivations.activations.growth import GrowsTooFast, Growth, exp_upper, exponential_of, inverse_bound
from giantsteps.derivations.activations.intervals import LINE, Undecided, at, enclose, point
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.budget import node_cost, spend
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.normal_form import Normal, TooComplex, as_affine, as_polynomial, normal
from giantsteps.derivations.expressions.tree import Expression, depends_on_z

_BITS = 40
# floor and ceiling of 2^62 pi: written out, so that what needs no other constant need not load flint.
_PI_LOW, _PI_HIGH = Fraction(14488038916154245684, 2**62), Fraction(14488038916154245685, 2**62)


def strip_growth(expr: Expression, height: Fraction) -> Growth | None:
    """The bound on |Im z| <= height, or None where no rule applies (or the strip reaches a singularity)."""
    try:
        bound = _bound(expr, height)
    except (GrowsTooFast, TooComplex, Undecided):
        return None
    return None if bound is None else replace(bound, sharp=False)


@functools.lru_cache(maxsize=16384)
def _bound(expr: Expression, height: Fraction) -> Growth | None:
    # remembered: the derivative of a nested function holds the inner functions once for every level
    spend(node_cost())
    if not depends_on_z(expr):
        return _constant(expr)
    match expr:
        case tree.Variable():
            return Growth(max(Fraction(1), height), Fraction(1))
        case tree.Sum(terms):
            return _combined([_bound(t, height) for t in terms], add=True)
        case tree.Product(factors):
            return _combined([_bound(f, height) for f in factors], add=False)
        case tree.Power(base, tree.Number(q)):
            inner = _bound(base, height)
            if inner is None or (q.denominator != 1 and _inverse(base, height) is None):
                return None
            return inner.to_power(q)
        case tree.Quotient(numerator, denominator):
            above, below = _bound(numerator, height), _inverse(denominator, height)
            return None if above is None or below is None else above.times(Growth(below))
        case tree.Call(name, argument):
            return _call(name, argument, height)
    return None


def _constant(expr: Expression) -> Growth | None:
    box = enclose(expr, point(Fraction(0)), _BITS)
    if isinstance(box.low, float) or isinstance(box.high, float):
        return None
    return Growth(max(abs(box.low), abs(box.high)))


def _combined(parts: list[Growth | None], add: bool) -> Growth | None:
    total: Growth | None = None
    for part in parts:
        if part is None:
            return None
        total = part if total is None else total.plus(part) if add else total.times(part)
    return total


def _affine(u: Expression, height: Fraction) -> tuple[Fraction, Fraction, Fraction] | None:
    """Upper bounds of |slope|, |intercept| and of |Im u| on the strip, for affine u."""
    affine = as_affine(u)
    if affine is None:
        return None
    slope, intercept = _constant(affine[0]), _constant(affine[1])
    if slope is None or intercept is None:
        return None
    return slope.constant, intercept.constant, slope.constant * height


def _inverse(u: Expression, height: Fraction) -> Fraction | None:
    """An upper bound of 1/|u| on the strip, where u is analytic and without zeros."""
    if not depends_on_z(u):
        box = enclose(u, point(Fraction(0)), _BITS)
        least = box.low if box.positive() else -box.high if box.negative() else Fraction(0)
        return 1 / least if isinstance(least, Fraction) and least > 0 else None
    if isinstance(u, tree.Power) and isinstance(u.exponent, tree.Number):
        inner = _inverse(u.base, height)
        return None if inner is None else Growth(inner).to_power(u.exponent.value).constant
    polynomial = as_polynomial(u)
    if polynomial is not None:
        # |c prod (w - w_j)| >= |c| (free height - height)^degree
        gap = real_roots.root_free_height(tuple(polynomial)) - height
        return 1 / (abs(polynomial[-1]) * gap ** (len(polynomial) - 1)) if gap > 0 else None
    match u:
        case tree.Call("sqrt", base):
            inner = _inverse(base, height)
            return None if inner is None else Growth(inner).to_power(Fraction(1, 2)).constant
        case tree.Call("cosh", argument):
            angle = imaginary_bound(argument, height)
            if angle is None or angle >= _PI_LOW / 2:
                return None
            return 1 / at("cos", angle, _BITS)[0]  # |cosh(a+ib)|^2 = sinh^2 a + cos^2 b
        case tree.Call("exp", argument):
            linear = _affine(argument, height)
            return None if linear is None or linear[0] > 0 else exp_upper(linear[1])
        case tree.Sum((tree.Call("exp", argument), tree.Number(one))) if one == 1:
            angle = imaginary_bound(argument, height)
            return None if angle is None else _one_plus_exp(angle)
    # |u(x+iy) - u(x)| <= height sup|u'|, and |u(x)| is bounded from below on the real line
    drift = imaginary_bound(u, height)
    if drift is None:
        return None
    least = 1 / inverse_bound(u, LINE) - drift
    return 1 / least if least > 0 else None


def imaginary_bound(u: Expression, height: Fraction) -> Fraction | None:
    """An upper bound of |u(x+iy) - u(x)|, hence of |Im u|, on |y| <= height: height sup|u'|, u analytic there."""
    bounds = _affine(u, height)
    if bounds is not None:
        return bounds[2]
    slope = _bound(derivative(u), height)
    if slope is None or slope.degree > 0 or slope.rate > 0 or slope.quadratic > 0:
        return None
    return slope.constant * height


def _one_plus_exp(angle: Fraction) -> Fraction | None:
    """Upper bound of 1/|1 + exp(w)| for |Im w| <= angle: 1 up to pi/2, 1/sin(angle) from there to pi."""
    if angle <= _PI_LOW / 2:
        return Fraction(1)
    if angle >= _PI_LOW:
        return None
    sine = at("sin", angle, _BITS)[0]
    return 1 / sine if sine > 0 else None


def _call(name: str, u: Expression, height: Fraction) -> Growth | None:
    if name == "exp":
        return _exp(u, height)
    if name == "tanh" and isinstance(u, tree.Call) and u.name == "softplus":
        return _tanh_softplus(u.argument, height)
    if name in ("sqrt", "log"):
        return _sqrt_log(name, u, height)
    if name in ("sinh", "cosh"):
        bounds = _affine(u, height)
        if bounds is not None:
            return Growth(exp_upper(bounds[1]), rate=bounds[0])
    angle = imaginary_bound(u, height)
    if angle is None:
        return _entire_of_any(name, u, height)
    match name:
        case "sin" | "cos":
            return Growth(exp_upper(angle))
        case "erf" | "erfc":  # erf(a+ib) - erf(a) = (2/sqrt pi) i int_0^b exp(-(a+it)^2) dt
            return Growth(2 + 2 * angle * exp_upper(angle * angle))
        case "tanh":
            if angle >= _PI_LOW / 2:
                return None
            sine, cosine = at("sin", angle, _BITS), at("cos", angle, _BITS)
            # |tanh(a+ib)|^2 = (sinh^2 a + sin^2 b)/(sinh^2 a + cos^2 b)
            return Growth(max(Fraction(1), sine[1] / cosine[0])) if cosine[0] > 0 else None
        case "sigmoid":
            inverse = _one_plus_exp(angle)
            return None if inverse is None else Growth(inverse)
        case "softplus":  # |log(1 + e^w)| <= |w| + log 2 + log(1/inf |1 + e^-w|) + pi
            inverse, linear = _one_plus_exp(angle), _bound(u, height)
            if inverse is None or linear is None:
                return None
            return linear.plus(Growth(4 + at("log", inverse, _BITS)[1]))
        case "atan":  # |Re| < pi/2, |Im| <= atanh(angle) <= angle/(1 - angle)
            return Growth(_PI_HIGH / 2 + angle / (1 - angle)) if angle < 1 else None
        case "asinh":  # |(asinh)'| <= 1/(1 - angle) on the strip
            linear = _bound(u, height)
            return linear.plus(Growth(angle / (1 - angle))) if angle < 1 and linear is not None else None
    return _entire_of_any(name, u, height)


def _entire_of_any(name: str, u: Expression, height: Fraction) -> Growth | None:
    """sin, cos, sinh, cosh of an analytic argument: at most exp(|u|)."""
    inner = _bound(u, height) if name in ("sin", "cos", "sinh", "cosh") else None
    return None if inner is None else exponential_of(inner)


def _exp(u: Expression, height: Fraction) -> Growth | None:
    form = normal(u)
    part = Normal({m: q for m, q in form.terms.items() if not m or (len(m) == 1 and m[0][0] == "z")}, form.atoms)
    rest = Normal({m: q for m, q in form.terms.items() if m not in part.terms}, form.atoms)
    polynomial = part.polynomial()
    if polynomial is None or len(polynomial) > 3:
        return None
    c0, c1, c2 = (polynomial + [Fraction(0)] * 2)[:3]
    # Re of the exponent: c2 (x^2 - y^2) + c1 x + c0
    result = Growth(exp_upper(c0 + max(Fraction(0), -c2) * height * height), rate=abs(c1), quadratic=c2)
    if rest.is_zero():
        return result
    inner = _bound(rest.expression(), height)
    return None if inner is None else result.times(exponential_of(inner))


def _tanh_softplus(argument: Expression, height: Fraction) -> Growth | None:
    """tanh(log(1+E)) = 1 - 2/((1+E)^2 + 1), E = exp(w): the distance of -1 +- i to the sector |arg E| <= angle."""
    bounds = _affine(argument, height)
    if bounds is None or bounds[2] >= _PI_LOW * 3 / 4:
        return None
    angle = max(bounds[2], _PI_HIGH / 4)
    sine = at("sin", _PI_LOW * 3 / 4 - angle, _BITS)[0]
    return Growth(1 + 1 / sine**2) if sine > 0 else None


def _sqrt_log(name: str, u: Expression, height: Fraction) -> Growth | None:
    inner, inverse = _bound(u, height), _inverse(u, height)
    if inner is None or inverse is None:
        return None
    if name == "sqrt":
        return inner.to_power(Fraction(1, 2))
    # |log u| <= |log |u|| + |arg u|
    if inner.quadratic > 0:
        return None
    largest = at("log", max(Fraction(1), inner.constant) + 1, _BITS)[1]
    smallest = at("log", max(Fraction(1), inverse) + 1, _BITS)[1]
    return Growth(largest + smallest + _turn(u) + inner.degree + inner.rate, Fraction(1))


def _turn(u: Expression) -> Fraction:
    """An upper bound of |arg u| on a strip where `_inverse` found a bound, arg u being 0 or pi on the real line.

    The argument turns by at most pi for every root of a polynomial, and by pi for 1 + exp, cosh and small drifts.
    """
    polynomial = as_polynomial(u)
    if polynomial is not None:
        return 4 * Fraction(len(polynomial))
    match u:
        case tree.Power(base, tree.Number(q)):
            return _turn(base) * q
        case tree.Call("sqrt", base):
            return _turn(base)
    return Fraction(8)


_ENTIRE = frozenset({"exp", "sin", "cos", "sinh", "cosh", "erf", "erfc"})
HalfWidth = Fraction | float | None  # a float is math.inf


def strip_half_width(expr: Expression) -> HalfWidth:
    """y > 0 such that expr (smooth on the line, no breakpoints) is analytic for |Im z| < y; None when undecided."""
    match expr:
        case tree.Call(name, argument) if name not in _ENTIRE:
            return _singular(name, argument)
        case tree.Quotient(numerator, denominator):
            return _narrower([strip_half_width(numerator), _zero_free(denominator)])
        case tree.Power(base, tree.Number(q)) if q.denominator != 1:
            return _narrower([strip_half_width(base), _zero_free(base)])
    return _narrower([strip_half_width(child) for child in expr.children()])


def _narrower(widths: list[HalfWidth]) -> HalfWidth:
    decided = [w for w in widths if w is not None]
    return None if len(decided) < len(widths) else min(decided, default=math.inf)


def _zero_free(u: Expression) -> HalfWidth:
    """Half width of a strip without zeros of u, where u is analytic."""
    if isinstance(u, tree.Power):
        return _zero_free(u.base)
    polynomial = as_polynomial(u)
    if polynomial is not None:
        if len(polynomial) == 1:
            return math.inf
        height = real_roots.root_free_height(tuple(polynomial))
        return height if height > 0 else None
    match u:
        case tree.Call("exp", argument):
            return strip_half_width(argument)
        case tree.Call("cosh", argument):
            return _over_slope(argument, _PI_LOW / 2)
        case tree.Call("sqrt", base):
            return _zero_free(base)
    if all(not child.children() for child in u.children()) and not u.children():
        return math.inf
    return _one_plus_exponential(u)


def _one_plus_exponential(u: Expression) -> HalfWidth:
    """1 + exp(affine) is zero only where the imaginary part of the argument is an odd multiple of pi."""
    children = u.children()
    if len(children) == 2 and children[1] == tree.Number(Fraction(1)):
        first = children[0]
        if isinstance(first, tree.Call) and first.name == "exp":
            return _over_slope(first.argument, _PI_LOW)
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
    match name:
        case "tanh" if isinstance(argument, tree.Call) and argument.name == "softplus":
            # 1 - tanh(log(1+E)) = 2/((1+E)^2 + 1) has its poles at E = -1 +- i, arguments +- 3 pi/4
            return _over_slope(argument.argument, _PI_LOW * 3 / 4)
        case "tanh":
            return _over_slope(argument, _PI_LOW / 2)
        case "sigmoid" | "softplus":
            return _over_slope(argument, _PI_LOW)
        case "atan" | "asinh":
            return _over_slope(argument, Fraction(1))
        case "sqrt" | "log":
            return _narrower([strip_half_width(argument), _zero_free(argument)])
    return None
