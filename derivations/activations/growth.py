"""Rigorous growth bounds |f(x)| <= A (1+|x|)^k exp(a|x| + q x^2) with rational constants, by rules on the tree."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import reduce
from itertools import pairwise

from giantsteps.derivations.activations import real_roots
from giantsteps.derivations.activations.intervals import (
    LARGEST_ARGUMENT,
    Interval,
    Undecided,
    at,
    enclose,
    point,
    round_up,
)
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.algebra import call, negate, polynomial_tree
from giantsteps.derivations.expressions.normal_form import Normal, TooComplex, as_polynomial, normal
from giantsteps.derivations.expressions.tree import Expression, ExpressionError

_BITS = 32


class GrowsTooFast(ExpressionError):
    """No bound by exp(quadratic) was found."""


@dataclass(frozen=True)
class Growth:
    """|f(x)| <= constant (1+|x|)^degree exp(rate |x| + quadratic x^2) on the piece of the line it was asked for.

    `sharp` says that f is non-zero almost everywhere and that, along at least one end of the line,
    |f(x)| >= C exp(quadratic x^2 + b x) for some C > 0 and b >= 0: then E[f^2] under N(m, v) is infinite from
    quadratic = 1/(4 v) on.
    """

    constant: Fraction
    degree: Fraction = Fraction(0)
    rate: Fraction = Fraction(0)
    quadratic: Fraction = Fraction(0)
    sharp: bool = False

    @property
    def kind(self) -> str:
        """bounded, polynomial, exponential or gaussian."""
        if self.quadratic > 0:
            return "gaussian"
        if self.rate > 0 and self.quadratic == 0:
            return "exponential"
        return "polynomial" if self.degree > 0 and self.quadratic == 0 else "bounded"

    def __str__(self) -> str:
        parts = [f"{_short(self.constant)}"]
        if self.degree:
            parts.append(f"(1+|z|)^{self.degree}")
        exponent = [f"{_short(self.rate)} |z|"] if self.rate else []
        exponent += [f"{_short(self.quadratic)} z^2"] if self.quadratic else []
        if exponent:
            parts.append(f"exp({' + '.join(exponent)})")
        return f"{self.kind}: |sigma(z)| <= {' '.join(parts)}"

    def times(self, other: Growth) -> Growth:
        """Bound of the product."""
        return Growth(
            _up(self.constant * other.constant),
            self.degree + other.degree,
            _up(self.rate + other.rate),
            self.quadratic + other.quadratic,
            self.sharp and other.sharp,
        )

    def plus(self, other: Growth) -> Growth:
        """Bound of the sum, or of two functions at once."""
        dominant = max(self, other, key=lambda g: g.quadratic)
        return Growth(
            _up(self.constant + other.constant),
            max(self.degree, other.degree),
            max(self.rate, other.rate),
            max(self.quadratic, other.quadratic),
            dominant.sharp and self.quadratic != other.quadratic,
        )

    def either(self, other: Growth) -> Growth:
        """Bound valid for both functions."""
        both = self.plus(other)
        dominant = max(self, other, key=lambda g: (g.quadratic, g.sharp))
        return Growth(max(self.constant, other.constant), both.degree, both.rate, both.quadratic, dominant.sharp)

    def to_power(self, q: Fraction) -> Growth:
        """Bound of |f|^q, q > 0."""
        whole = math.ceil(q)
        scale = max(Fraction(1), self.constant) ** whole if self.constant > 1 else Fraction(1)
        if q.denominator == 1:
            scale = self.constant**whole
        return Growth(_up(scale), self.degree * q, self.rate * q, self.quadratic * q, self.sharp)


def _short(value: Fraction) -> str:
    """At most six digits, rounded up."""
    if len(str(value)) <= 9:
        return str(value)
    if value < 10**300:
        return f"{float(value) * (1 + 1e-6):.6g}"
    order = len(str(math.floor(value))) - 1
    return f"{math.ceil(value / 10 ** (order - 5)) / 10**5:.6g}e+{order}"


def _up(x: Fraction) -> Fraction:
    return round_up(x, 40)


def growth(expr: Expression, piece: Interval) -> Growth:
    """A growth bound of an analytic branch on a piece of the line.

    Raises GrowsTooFast where no bound of the form A (1+|x|)^k exp(a|x| + q x^2) is found.
    """
    if isinstance(expr, tree.Number | tree.Constant):
        return _rules(expr, piece)
    bound = _bounded(expr, piece)
    if bound is not None and not _mentions_exp(expr):
        return bound
    try:
        ruled = _rules(expr, piece)
    except GrowsTooFast:
        if bound is None:
            raise
        return bound
    # a decaying bound with a rate, exp(16 |x| - x^2), is worse near its maximum than the plain one
    if bound is not None and (ruled.quadratic >= 0 or ruled.rate > 0):
        return bound
    return ruled


def _mentions_exp(expr: Expression) -> bool:
    return (isinstance(expr, tree.Call) and expr.name == "exp") or any(_mentions_exp(c) for c in expr.children())


def _bounded(expr: Expression, piece: Interval) -> Growth | None:
    try:
        box = enclose(expr, piece, _BITS)
    except Undecided:
        return None
    if isinstance(box.low, float) or isinstance(box.high, float):
        return None
    return Growth(_up(max(abs(box.low), abs(box.high))))


def _rules(expr: Expression, piece: Interval) -> Growth:
    match expr:
        case tree.Variable():
            return Growth(Fraction(1), degree=Fraction(1), sharp=True)
        case tree.Number() | tree.Constant():
            box = enclose(expr, point(Fraction(0)), _BITS)
            if isinstance(box.low, float) or isinstance(box.high, float):
                raise GrowsTooFast(f"the constant {expr} could not be bounded")
            return Growth(_up(max(abs(box.low), abs(box.high))), sharp=box.sign() in (1, -1))
        case tree.Sum(terms):
            return reduce(Growth.plus, (growth(term, piece) for term in terms))
        case tree.Product(factors):
            return reduce(Growth.times, (growth(factor, piece) for factor in factors))
        case tree.Power(base, tree.Number(q)):
            return growth(base, piece).to_power(q)
        case tree.Quotient(numerator, denominator):
            return growth(numerator, piece).times(inverse_growth(denominator, piece))
        case tree.Call(name, argument):
            return _call_growth(name, argument, piece)
        case tree.Maximum(args) | tree.Minimum(args):
            return reduce(Growth.either, (growth(arg, piece) for arg in args))
        case tree.Piecewise(pieces):
            return reduce(Growth.either, (growth(value, piece) for value, _ in pieces))
    raise GrowsTooFast(f"no growth bound is known for {expr}")


def inverse_growth(below: Expression, piece: Interval) -> Growth:
    """A growth bound of 1/below, which has no zero on the piece."""
    match below:
        case tree.Call("exp", u):
            return growth(call("exp", negate(u)), piece)
        case tree.Call("sigmoid", u):  # 1/sigmoid(u) = 1 + exp(-u)
            return growth(call("exp", negate(u)), piece).plus(Growth(Fraction(1)))
        case tree.Power(base, tree.Number(q)):
            return inverse_growth(base, piece).to_power(q)
        case tree.Product(factors):
            return reduce(Growth.times, (inverse_growth(factor, piece) for factor in factors), Growth(Fraction(1)))
        case tree.Quotient(numerator, denominator):
            return growth(denominator, piece).times(inverse_growth(numerator, piece))
    return Growth(inverse_bound(below, piece))


def inverse_bound(below: Expression, piece: Interval) -> Fraction:
    """An upper bound of 1/|below| on the piece, from panels of it."""
    polynomial = as_polynomial(below)
    if polynomial is not None and len(polynomial) > 1:
        return _up(1 / _least_polynomial(polynomial, piece))
    found: list[Fraction] = []
    pending = _pieces(piece)
    for _ in range(4000):
        if not pending:
            return _up(1 / min(found))
        part = pending.pop()
        try:
            box = enclose(below, part, _BITS)
            distance = box.low if box.positive() else -box.high if box.negative() else Fraction(0)
        except Undecided:
            distance = Fraction(0)
        if distance > 0:
            found.append(distance if isinstance(distance, Fraction) else Fraction(1))
            continue
        if isinstance(part.low, float) or isinstance(part.high, float) or part.high - part.low < Fraction(1, 2**30):
            break
        middle = (part.low + part.high) / 2
        pending += [Interval(part.low, middle), Interval(middle, part.high)]
    raise GrowsTooFast(f"it could not be shown that 1/({below}) is bounded")


def _least_polynomial(p: list[Fraction], piece: Interval) -> Fraction:
    """A positive lower bound of |p| on a piece without zeros of p: least at an end or at a zero of p'."""
    brackets = [(x, x) for x in (piece.low, piece.high) if isinstance(x, Fraction)]
    brackets += real_roots.isolate(real_roots.differentiated(p))
    boxes = [
        enclose(polynomial_tree(p), Interval(low, high), _BITS)
        for low, high in brackets
        if high >= piece.low and low <= piece.high
    ]
    distances = [box.low if box.positive() else -box.high for box in boxes]
    # without a bracket it is monotone and has no end: no zero, so no such polynomial of degree >= 1
    least = min(distances, default=Fraction(0))
    if not isinstance(least, Fraction) or least <= 0:
        raise GrowsTooFast(f"it could not be shown that 1/({polynomial_tree(p)}) is bounded")
    return least


def _pieces(piece: Interval) -> list[Interval]:
    cuts = [s * Fraction(4) ** k for k in range(-2, 8) for s in (-1, 1)] + [Fraction(0)]
    ends = [piece.low, *(c for c in sorted(cuts) if piece.low < c < piece.high), piece.high]
    return [Interval(a, b, isinstance(a, float), isinstance(b, float)) for a, b in pairwise(ends)]


def _call_growth(name: str, u: Expression, piece: Interval) -> Growth:
    if name == "exp":
        return _exp_growth(u, piece)
    inner = growth(u, piece)
    match name:
        case "Abs" | "asinh":
            return replace(inner, sharp=inner.sharp and name == "Abs")
        case "softplus":  # softplus(u) <= |u| + log 2
            return inner.plus(Growth(Fraction(7, 10)))
        case "sinh" | "cosh":
            return exponential_of(inner)
        case "sqrt":
            return inner.to_power(Fraction(1, 2))
        case "log":
            return _log_growth(u, inner, piece)
        case "sin" | "cos" | "tanh" | "erf" | "sigmoid" | "sign" | "Heaviside":
            return Growth(Fraction(1))
        case "erfc" | "atan":
            return Growth(Fraction(2))
    raise GrowsTooFast(f"no growth bound is known for {name}({u})")


def _log_growth(u: Expression, inner: Growth, piece: Interval) -> Growth:
    # |log u| <= log+ (bound of u) + log+ (bound of 1/u), and log(1+|x|) <= 1+|x|
    total, degree = Fraction(0), 0
    for bound in (inner, inverse_growth(u, piece)):
        quadratic = max(Fraction(0), bound.quadratic)
        total += at("log", max(Fraction(1), bound.constant) + 1, _BITS)[1] + bound.degree + bound.rate + quadratic
        degree = max(degree, 2 if quadratic else 1 if bound.rate or bound.degree else 0)
    return Growth(_up(total), Fraction(degree))


def exponential_of(inner: Growth) -> Growth:
    """Bound of exp(|u|) from the growth of u."""
    if inner.rate > 0 or inner.quadratic > 0 or inner.degree > 2:
        raise GrowsTooFast("an exponential of something that grows faster than z**2 has no Gaussian mean")
    scale = inner.constant
    if inner.degree == 0:
        return Growth(exp_upper(scale))
    if inner.degree <= 1:  # exp(A(1+|x|))
        return Growth(exp_upper(scale), rate=scale)
    return Growth(exp_upper(scale), rate=2 * scale, quadratic=scale)  # exp(A(1+|x|)^2)


def exp_upper(x: Fraction) -> Fraction:
    """An upper bound of exp(x), below exp(-3400) that number; raises GrowsTooFast beyond exp(3400)."""
    if x > LARGEST_ARGUMENT:
        raise GrowsTooFast("a factor of the expression is too large to be bounded")
    return _up(at("exp", max(x, -LARGEST_ARGUMENT), _BITS)[1])


def _exp_growth(u: Expression, piece: Interval) -> Growth:
    """exp(p + rest) with p the polynomial part of u."""
    try:
        form = normal(u)
    except TooComplex as reason:
        raise GrowsTooFast(str(reason)) from None
    part = Normal({m: q for m, q in form.terms.items() if not m or (len(m) == 1 and m[0][0] == "z")}, form.atoms)
    rest = Normal({m: q for m, q in form.terms.items() if m not in part.terms}, form.atoms)
    polynomial = part.polynomial()
    if polynomial is None:
        return exponential_of(growth(u, piece))
    result = _exp_polynomial(polynomial, piece)
    if rest.is_zero():
        return result
    tail = rest.expression()
    box = enclose(tail, piece, _BITS)
    if isinstance(box.high, Fraction):
        bounded = isinstance(box.low, Fraction)
        return result.times(Growth(exp_upper(box.high), sharp=bounded))
    return result.times(exponential_of(growth(tail, piece)))


def _exp_polynomial(p: list[Fraction], piece: Interval) -> Growth:
    degree = len(p) - 1
    if degree <= 2:
        c0, c1, c2 = (p + [Fraction(0)] * 2)[:3]
        on_ray = (c1 > 0 and isinstance(piece.high, Fraction)) or (c1 < 0 and isinstance(piece.low, Fraction))
        if on_ray and c2 <= 0 and degree >= 1:
            # exp(c1 x) is largest at the end of the ray
            end = piece.high if c1 > 0 else piece.low
            assert isinstance(end, Fraction)
            return Growth(exp_upper(c0 + c1 * end), quadratic=c2, sharp=False)
        whole_line = isinstance(piece.low, float) and isinstance(piece.high, float)
        return Growth(exp_upper(c0), rate=abs(c1), quadratic=c2, sharp=c1 == 0 or whole_line)
    if degree % 2 == 0 and p[-1] < 0:
        # the maximum of p is at a zero of p'
        brackets = [Interval(a, b) for a, b in real_roots.isolate(real_roots.differentiated(p))]
        return Growth(exp_upper(Fraction(max(enclose(polynomial_tree(p), box, _BITS).high for box in brackets))))
    highest = enclose(polynomial_tree(p), piece, _BITS).high
    if isinstance(highest, Fraction):
        return Growth(exp_upper(highest))
    raise GrowsTooFast("an exponential of something that grows faster than z**2 has no Gaussian mean")
