"""Interval arithmetic with rational or infinite ends, open or closed: enclosures of an expression on a piece of R.

Open ends matter: exp(z) lies in (0, oo), so 1/exp(z) has no pole although 0 bounds the range.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction

from giantsteps.derivations.activations.real_roots import ball_ends
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.budget import node_cost, spend
from giantsteps.derivations.expressions.exact import precision, rational_ball
from giantsteps.derivations.expressions.tree import Expression, ExpressionError

End = Fraction | float  # a float is -inf or inf


class Undecided(ExpressionError):
    """The enclosure is too wide to tell whether the expression is real and finite here."""


@dataclass(frozen=True, slots=True)
class Interval:
    """The reals between low and high; an open end is not attained (infinite ends never are)."""

    low: End
    high: End
    low_open: bool = False
    high_open: bool = False

    def positive(self) -> bool:
        """Whether every member is > 0."""
        return self.low > 0 or (self.low == 0 and self.low_open)

    def negative(self) -> bool:
        """Whether every member is < 0."""
        return self.high < 0 or (self.high == 0 and self.high_open)

    def sign(self) -> int | None:
        """The common sign of all members, None if there is none."""
        if self.positive():
            return 1
        if self.negative():
            return -1
        return 0 if self.low == 0 == self.high else None

    def width(self) -> End:
        """high - low."""
        return _total(self.high, -self.low)


LINE = Interval(-math.inf, math.inf, True, True)


def point(x: Fraction) -> Interval:
    """The interval [x, x]."""
    return Interval(x, x)


def round_up(x: Fraction, bits: int) -> Fraction:
    """The smallest multiple of a power of two above x with `bits` significant bits."""
    return -_round_down(-x, bits)


def _round_down(x: Fraction, bits: int) -> Fraction:
    above, below = x.numerator, x.denominator
    if above.bit_length() <= bits and below.bit_length() <= bits:
        return x
    shift = bits - above.bit_length() + below.bit_length()
    scaled = (above << shift) // below if shift >= 0 else above // (below << -shift)
    return Fraction(scaled, 1 << shift) if shift >= 0 else Fraction(scaled << -shift)


def _rounded(x: Interval, bits: int) -> Interval:
    low = _round_down(x.low, bits) if isinstance(x.low, Fraction) else x.low
    high = round_up(x.high, bits) if isinstance(x.high, Fraction) else x.high
    return Interval(low, high, x.low_open or low != x.low, x.high_open or high != x.high)


def _total(a: End, b: End) -> End:
    # an infinite end wins; Fraction + float would first turn the fraction into a float, which can overflow
    return a if isinstance(a, float) else b if isinstance(b, float) else a + b


def _plus(x: Interval, y: Interval) -> Interval:
    return Interval(_total(x.low, y.low), _total(x.high, y.high), x.low_open or y.low_open, x.high_open or y.high_open)


def _corner(a: End, a_open: bool, b: End, b_open: bool) -> tuple[End, bool]:
    if a == 0 or b == 0:  # 0 times an infinite end is 0: infinity is never attained
        return Fraction(0), not ((a == 0 and not a_open) or (b == 0 and not b_open))
    if isinstance(a, float) or isinstance(b, float):
        return math.inf if (a > 0) == (b > 0) else -math.inf, True
    return a * b, a_open or b_open


def _times(x: Interval, y: Interval) -> Interval:
    if x.low == x.high and y.low == y.high and isinstance(x.low, Fraction) and isinstance(y.low, Fraction):
        return point(x.low * y.low)
    corners = [
        _corner(a, a_open, b, b_open)
        for a, a_open in ((x.low, x.low_open), (x.high, x.high_open))
        for b, b_open in ((y.low, y.low_open), (y.high, y.high_open))
    ]
    low, high = min(c[0] for c in corners), max(c[0] for c in corners)
    low_open = all(is_open for value, is_open in corners if value == low)
    high_open = all(is_open for value, is_open in corners if value == high)
    return Interval(low, high, low_open, high_open)


def _inverse_end(a: End, from_above: bool) -> End:
    if a == 0:
        return math.inf if from_above else -math.inf
    return Fraction(0) if isinstance(a, float) else 1 / a


def _inverse(x: Interval) -> Interval:
    if x.sign() not in (1, -1):
        raise Undecided("a denominator could be zero")
    above = x.sign() == 1
    return Interval(
        _inverse_end(x.high, above),
        _inverse_end(x.low, above),
        x.high_open,
        x.low_open,
    )


def _magnitude(x: Interval) -> Interval:
    if x.low >= 0:
        return x
    if x.high <= 0:
        return Interval(-x.high, -x.low, x.high_open, x.low_open)
    if -x.low == x.high:
        return Interval(Fraction(0), x.high, False, x.low_open and x.high_open)
    return Interval(Fraction(0), max(-x.low, x.high), False, x.low_open if -x.low > x.high else x.high_open)


def _whole_power(x: Interval, k: int) -> Interval:
    base = _magnitude(x) if k % 2 == 0 else x
    return Interval(base.low**k, base.high**k, base.low_open, base.high_open)


def hull(parts: list[Interval]) -> Interval:
    """The smallest interval around all parts."""
    low, high = min(p.low for p in parts), max(p.high for p in parts)
    return Interval(
        low, high, all(p.low_open for p in parts if p.low == low), all(p.high_open for p in parts if p.high == high)
    )


# The limits of increasing functions, erfc(-x) among them, at the ends of their domains, and the largest |x| at which
# they are evaluated: further out the digits of exp would never end. exp(-3400) < 2**-4900, erfc(58) < exp(-3364).
LARGEST_ARGUMENT = Fraction(3400)
_LIMITS: dict[str, tuple[End, End, End]] = {
    "exp": (Fraction(0), math.inf, LARGEST_ARGUMENT),
    "tanh": (Fraction(-1), Fraction(1), LARGEST_ARGUMENT),
    "sigmoid": (Fraction(0), Fraction(1), LARGEST_ARGUMENT),
    "softplus": (Fraction(0), math.inf, math.inf),
    "erf": (Fraction(-1), Fraction(1), Fraction(58)),
    "erfc": (Fraction(0), Fraction(2), Fraction(58)),
    "sinh": (-math.inf, math.inf, LARGEST_ARGUMENT),
    "asinh": (-math.inf, math.inf, math.inf),
    "log": (-math.inf, math.inf, math.inf),
    "sqrt": (Fraction(0), math.inf, math.inf),
}


@functools.lru_cache(maxsize=4096)
def at(name: str, x: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """Rational bounds of a function at a place of its domain, some 2**-bits apart; of erfc(-x) for erfc.

    Kept, since a point is asked for as both ends of an interval. Raises Undecided too close to a pole.
    """
    with precision(bits + 30 + max(0, x.numerator.bit_length() - x.denominator.bit_length())):
        place = rational_ball(x)
        match name:
            case "erfc":
                ball = (-place).erfc()
            case "sigmoid":
                ball = 1 / (1 + (-place).exp())
            case "softplus":  # softplus(x) = x + softplus(-x), and softplus(-x) falls to 0
                size = min(abs(x), LARGEST_ARGUMENT)
                rest = (-rational_ball(size)).exp().log1p()
                ball = (rest if size == abs(x) else rest.union(0)) + max(place, 0)
            case _:
                ball = getattr(place, name)()
        if not ball.is_finite():
            raise Undecided(f"the argument of {name} could reach a pole")
        return ball_ends(ball)


@functools.lru_cache(maxsize=64)
def pi(bits: int) -> tuple[Fraction, Fraction]:
    """Rational bounds of pi, some 2**-bits apart."""
    from flint import arb

    with precision(bits + 8):
        return ball_ends(arb.pi())


def _increasing(name: str, x: Interval, bits: int) -> Interval:
    half = pi(bits)[1] / 2 if name == "atan" else math.inf
    bottom, top, clip = _LIMITS.get(name, (-half, half, math.inf))
    if name == "log" and not x.positive():
        raise Undecided("the argument of log could be zero or negative")
    if name == "sqrt" and x.low < 0:
        raise Undecided("the argument of sqrt could be negative")
    low, low_open = bottom, True
    if isinstance(x.low, Fraction) and x.low >= -clip and not (name == "log" and x.low == 0):
        low = max(bottom, at(name, Fraction(min(x.low, clip)), bits)[0])
        low_open = x.low_open if name == "sqrt" and x.low == 0 else low == bottom
    high, high_open = top, True
    if isinstance(x.high, Fraction) and x.high <= clip:
        high = min(top, at(name, Fraction(max(x.high, -clip)), bits)[1])
        high_open = x.high_open or high == top
    return Interval(low, high, low_open, high_open)


def _cosine(x: Interval, bits: int, quarter: int) -> Interval:
    """Range of cos(t - quarter pi/2): quarter 0 is cos, 1 is sin."""
    if not (isinstance(x.low, Fraction) and isinstance(x.high, Fraction)) or x.high - x.low > 6:
        return Interval(Fraction(-1), Fraction(1))
    ends = [at("sin" if quarter else "cos", e, bits) for e in (x.low, x.high)]
    low, high = max(Fraction(-1), min(e[0] for e in ends)), min(Fraction(1), max(e[1] for e in ends))
    size = max(0, max(abs(x.low), abs(x.high)).numerator.bit_length())
    pi_low, pi_high = pi(bits + size)
    # extremes at t = quarter pi/2 + n pi: cos is +1 for even n, -1 for odd n
    bounds = [(e / p - Fraction(quarter, 2)) for e in {x.low, x.high} for p in (pi_low, pi_high)]
    for n in range(math.ceil(min(bounds)), math.floor(max(bounds)) + 1):
        if n % 2 == 0:
            high = Fraction(1)
        else:
            low = Fraction(-1)
    return Interval(low, high)


def _tangent(x: Interval, bits: int) -> Interval:
    if isinstance(x.low, Fraction) and isinstance(x.high, Fraction):
        size = max(0, max(abs(x.low), abs(x.high)).numerator.bit_length())
        # its poles are at the half turns (k + 1/2) pi: between two of them it increases
        if len({math.floor(e / p + Fraction(1, 2)) for e in (x.low, x.high) for p in pi(bits + size)}) == 1:
            return Interval(at("tan", x.low, bits)[0], at("tan", x.high, bits)[1])
    raise Undecided("the argument of tan could reach a pole")


def _function(name: str, x: Interval, bits: int) -> Interval:
    match name:
        case "sin" | "cos":
            return _cosine(x, bits, 1 if name == "sin" else 0)
        case "tan":
            return _tangent(x, bits)
        case "Abs":
            return _magnitude(x)
        case "cosh":
            m = _magnitude(x)
            clip = LARGEST_ARGUMENT
            high = at("cosh", Fraction(m.high), bits)[1] if m.high <= clip else math.inf
            low = max(Fraction(1), at("cosh", Fraction(min(m.low, clip)), bits)[0])
            return Interval(low, high, False, m.high > clip)
        case "erfc":
            return _increasing("erfc", _negated(x), bits)
        case "sign" | "Heaviside":
            bottom = Fraction(-1 if name == "sign" else 0)
            low = Fraction(1) if x.positive() else bottom
            high = bottom if x.negative() else Fraction(1)
            if x.sign() == 0:
                return point((bottom + 1) / 2)
            return Interval(low, high)
    return _increasing(name, x, bits)


def compare(c: tree.Comparison, z: Interval, bits: int) -> bool | None:
    """Whether the comparison holds on all of z; None when it cannot be told or depends on the point."""
    difference = _plus(enclose(c.left, z, bits), _negated(enclose(c.right, z, bits)))
    if c.op in ("<", "<="):
        difference = _negated(difference)
    if difference.positive() or (c.op in (">=", "<=") and difference.low >= 0):
        return True
    if difference.negative() or (c.op in (">", "<") and difference.high <= 0):
        return False
    return None


def _negated(x: Interval) -> Interval:
    return Interval(-x.high, -x.low, x.high_open, x.low_open)


def enclose(expr: Expression, z: Interval, bits: int = 64) -> Interval:
    """An interval that holds every value of expr over z.

    Raises Undecided where the enclosure meets a pole or leaves the domain of log, sqrt, tan or a root.
    """
    spend(node_cost(bits))
    match expr:
        case tree.Variable():
            return z
        case tree.Number(rational):
            return point(rational)
        case tree.Constant(name):
            return Interval(*(pi(bits) if name == "pi" else at("exp", Fraction(1), bits)))
        case tree.Sum(terms):
            total = point(Fraction(0))
            for term in terms:
                total = _plus(total, enclose(term, z, bits))
            return _rounded(total, bits)
        case tree.Product(factors):
            product = point(Fraction(1))
            for factor in factors:
                product = _rounded(_times(product, enclose(factor, z, bits)), bits)
            return product
        case tree.Quotient(numerator, denominator):
            return _rounded(_times(enclose(numerator, z, bits), _inverse(enclose(denominator, z, bits))), bits)
        case tree.Power(base, tree.Number(q)):
            return _rounded(_power(enclose(base, z, bits), q, bits), bits)
        case tree.Call(name, argument):
            return _rounded(_function(name, enclose(argument, z, bits), bits), bits)
        case tree.Maximum(args) | tree.Minimum(args):
            parts = [enclose(a, z, bits) for a in args]
            return (
                _largest(parts) if isinstance(expr, tree.Maximum) else _negated(_largest([_negated(p) for p in parts]))
            )
        case tree.Piecewise(pieces):
            possible: list[Interval] = []
            for value, condition in pieces:
                states = [compare(c, z, bits) for c in condition]
                if False in states:
                    continue
                possible.append(enclose(value, z, bits))
                if None not in states:
                    break
            return hull(possible)
    raise tree.unreadable(expr)


def _largest(parts: list[Interval]) -> Interval:
    low, high = max(p.low for p in parts), max(p.high for p in parts)
    low_open = any(p.low_open for p in parts if p.low == low)
    return Interval(low, high, low_open, all(p.high_open for p in parts if p.high == high))


def _power(x: Interval, q: Fraction, bits: int) -> Interval:
    if q.denominator == 1:
        return _whole_power(x, int(q))
    if x.low < 0:
        raise Undecided("the base of a fractional power could be negative")
    low = _root(x.low, q, bits)[0] if isinstance(x.low, Fraction) else Fraction(0)
    high = _root(x.high, q, bits)[1] if isinstance(x.high, Fraction) else math.inf
    return Interval(low, high, x.low_open and x.low == 0, False)


def _root(x: Fraction, q: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    with precision(bits + 30 + q.numerator.bit_length()):
        return ball_ends(rational_ball(x) ** rational_ball(q))


def constant_sign(expr: Expression, bits: int = 64, most: int = 1024) -> int | None:
    """The sign of a constant expression, -1, 0 or 1; None if `most` bits cannot tell it from 0."""
    while bits <= most:
        sign = enclose(expr, point(Fraction(0)), bits).sign()
        if sign is not None:
            return sign
        bits *= 2
    return None
