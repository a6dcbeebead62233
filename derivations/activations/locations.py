"""Places on the line known exactly or to any precision, their order, and the zeros of an expression on a panel."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from giantsteps.derivations.activations import real_roots
from giantsteps.derivations.activations.intervals import Interval, Undecided, constant_sign, enclose, point
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.algebra import (
    add,
    call,
    divide,
    multiply,
    negate,
    polynomial_tree,
    substitute,
    subtract,
)
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.normal_form import TooComplex, as_affine, as_polynomial, normal, vanishes
from giantsteps.derivations.expressions.tree import Expression, Z, number, walk

_COMPARE_BITS = 256
_MOST_BOXES = 6000
_MOST_TURNS = 600
# The line is first cut at these places, the outermost pieces being the tails. A standard Gaussian is beyond the tails'
# ends with probability exp(-2048): endlessly many zeros are located up to there.
TAIL = Fraction(64)
_CUTS = [Fraction(0)] + [Fraction(2) ** k for k in (-4, -2, -1, 0, 1, 2, 3, 4, 5, 6, 8, 10, 14, 20, 40)]


class EndlessZeros(Undecided):
    """There may be zeros without end on the tails named by `sides`, -1 and 1; those between them are `found`."""

    def __init__(self, what: str, found: list[Location], sides: frozenset[int]) -> None:
        super().__init__(what)
        self.found, self.sides = found, sides


@dataclass(frozen=True)
class Location:
    """A real number: an exact constant expression, or the only zero of `function` in the bracket [low, high].

    In the second case the function is monotone on the bracket and has opposite signs at its ends.
    """

    exact: Expression | None
    function: Expression | None = None
    low: Fraction = Fraction(0)
    high: Fraction = Fraction(0)

    @property
    def value(self) -> float:
        """The place in double precision."""
        low, high = self.enclosure(80)
        return float((low + high) / 2)

    def __str__(self) -> str:
        if self.exact is not None:
            return str(self.exact)
        return f"the zero of {self.function} near {self.value:.15g}"

    def rational(self) -> Fraction | None:
        """The place, where it is known to be rational."""
        return self.exact.value if isinstance(self.exact, tree.Number) else None

    def enclosure(self, bits: int) -> tuple[Fraction, Fraction]:
        """Rational bounds no further apart than 2**-bits."""
        if isinstance(self.exact, tree.Number):
            return self.exact.value, self.exact.value
        if self.exact is not None:
            return _constant_enclosure(self.exact, bits)
        assert self.function is not None
        return _bisected(self.function, self.low, self.high, bits)


@functools.lru_cache(maxsize=4096)
def _bisected(function: Expression, low: Fraction, high: Fraction, bits: int) -> tuple[Fraction, Fraction]:
    """The bracket halved until it is no wider than 2**-bits, starting from what half as many bits gave."""
    at_low = sign_at_rational(function, low)
    if bits > 16:
        low, high = _bisected(function, low, high, bits // 2)
    while high - low > Fraction(1, 2**bits):
        middle = (low + high) / 2
        sign = sign_at_rational(function, middle, most=64 + 2 * bits)
        if sign == 0:
            return middle, middle
        low, high = (middle, high) if sign == at_low else (low, middle)
    return low, high


def rational_location(value: Fraction) -> Location:
    """The place `value`."""
    return Location(tree.Number(value))


@functools.lru_cache(maxsize=4096)
def _constant_enclosure(expr: Expression, bits: int) -> tuple[Fraction, Fraction]:
    working = bits + 16
    for _ in range(8):
        box = enclose(expr, point(Fraction(0)), working)
        low, high = box.low, box.high
        if isinstance(low, Fraction) and isinstance(high, Fraction) and high - low <= Fraction(1, 2**bits):
            return low, high
        working *= 2
    raise Undecided(f"the place {expr} could not be computed to {bits} bits")


def sign_at_rational(u: Expression, x: Fraction, most: int = 1024) -> int:
    """The sign of u(x) at a rational x; Undecided when neither arithmetic nor the normal form can tell it from 0."""
    polynomial = as_polynomial(u)
    if polynomial is not None:
        value = real_roots.value_at(polynomial, x)
        return (value > 0) - (value < 0)
    bits = 64
    while bits <= most:
        sign = enclose(u, point(x), bits).sign()
        if sign is not None:
            return sign
        if bits == 64 and vanishes(substitute(u, tree.Number(x))):
            return 0
        bits *= 2
    raise Undecided(f"whether {u} is zero at z = {float(x):.6g} could not be decided")


def order(a: Location, b: Location) -> int:
    """-1, 0, 1 as a is left of, equal to or right of b; raises Undecided when they cannot be told apart."""
    bits = 32
    while bits <= _COMPARE_BITS:
        (a_low, a_high), (b_low, b_high) = a.enclosure(bits), b.enclosure(bits)
        if a_high < b_low:
            return -1
        if b_high < a_low:
            return 1
        if a_low == a_high == b_low == b_high or (bits == 64 and _same_place(a, b)):
            return 0
        bits *= 2
    raise Undecided(f"whether the breakpoints {a} and {b} are the same place could not be decided")


def _same_place(a: Location, b: Location) -> bool:
    if a.exact is not None and b.exact is not None:
        return vanishes(subtract(a.exact, b.exact))
    if b.exact is not None:
        a, b = b, a
    assert b.function is not None
    low, high = b.enclosure(64)
    if a.exact is not None:
        box = a.enclosure(200)
        return b.low <= box[0] and box[1] <= b.high and vanishes(substitute(b.function, a.exact))
    assert a.function is not None
    if vanishes(subtract(a.function, b.function)) or vanishes(add(a.function, b.function)):
        return b.low <= a.enclosure(64)[0] and a.enclosure(64)[1] <= b.high
    p, q = as_polynomial(a.function), as_polynomial(b.function)
    if p is None or q is None:
        return False
    common = real_roots.common_divisor(p, q)
    low, high = max(low, a.enclosure(64)[0]), min(high, a.enclosure(64)[1])
    return any(_overlap(common, left, right, low, high) for left, right in real_roots.isolate(common))


def _overlap(p: list[Fraction], left: Fraction, right: Fraction, low: Fraction, high: Fraction) -> bool:
    """Whether the root of p in (left, right) lies in [low, high], a bracket whose ends are no roots of p."""
    start, end = max(left, low), min(right, high)
    if start > end:
        return False
    a, b = real_roots.value_at(p, start), real_roots.value_at(p, end)
    return a == 0 or b == 0 or (a > 0) != (b > 0)


def sample_between(left: Location | None, right: Location | None) -> Fraction:
    """A rational number strictly between two places (None is infinity), short where possible."""
    if left is None and right is None:
        return Fraction(0)
    if left is None:
        assert right is not None
        return Fraction(math.floor(right.enclosure(8)[0]) - 1)
    if right is None:
        return Fraction(math.ceil(left.enclosure(8)[1]) + 1)
    bits = 8
    while left.enclosure(bits)[1] >= right.enclosure(bits)[0]:
        bits *= 2
        if bits > 4096:
            raise Undecided(f"the breakpoints {left} and {right} are too close to be separated")
    return (left.enclosure(bits)[1] + right.enclosure(bits)[0]) / 2


def zeros(u: Expression, left: Location | None, right: Location | None) -> list[Location]:
    """The zeros of u between two places, ends included, sorted and distinct; u is smooth on the closed panel.

    Raises EndlessZeros where there could be infinitely many on a tail, with those before it; Undecided for one that
    cannot be isolated (a double zero, say).
    """
    found: list[Location] = []
    sides: set[int] = set()
    for candidate in _zeros(u, left, right, sides):
        outside_left = left is not None and order(candidate, left) < 0
        if outside_left or (right is not None and order(candidate, right) > 0):
            continue
        place, sign = len(found), -1
        while place > 0 and (sign := order(found[place - 1], candidate)) > 0:
            place -= 1
        if sign != 0:
            found.insert(place, candidate)
    if sides:
        what = f"the places where {u} is zero could not be located: there may be infinitely many"
        raise EndlessZeros(what, found, frozenset(sides))
    return found


_ZERO_AT_ZERO = frozenset({"tanh", "sinh", "asinh", "atan", "erf", "tan", "sqrt", "Abs", "sign"})
_NEVER_ZERO = frozenset({"exp", "cosh", "sigmoid", "softplus", "erfc"})


def _zeros(u: Expression, left: Location | None, right: Location | None, sides: set[int]) -> list[Location]:
    """Candidates that include every zero of u on the panel, but for those on the tails put into `sides`."""
    match u:
        case tree.Product(factors):
            return [place for factor in factors for place in _zeros(factor, left, right, sides)]
        case tree.Power(base, _) | tree.Quotient(base, _):
            return _zeros(base, left, right, sides)
        case tree.Call(name, argument) if name in _ZERO_AT_ZERO - {"tan"}:
            return _zeros(argument, left, right, sides)
        case tree.Call("log", argument):
            return _zeros(add(argument, number(-1)), left, right, sides)
        case tree.Call(name, _) if name in _NEVER_ZERO:
            return []
        case tree.Call("sin" | "cos" as name, argument) if (affine := as_affine(argument)) is not None:
            if constant_sign(affine[0]) not in (0, None):
                return _periodic(name, *affine, left, right, sides)
    polynomial = as_polynomial(u)
    if polynomial is not None:
        if polynomial == [0]:
            raise Undecided(f"{u} is zero everywhere")
        return _polynomial_roots(u, polynomial)
    above = _cleared(u)
    polynomial = as_polynomial(above) if above != u else None
    if polynomial is not None and polynomial != [0]:
        return _polynomial_roots(above, polynomial)
    affine = as_affine(u)
    if affine is not None and constant_sign(affine[0]) not in (0, None):
        return [Location(_tidy(negate(divide(affine[1], affine[0]))))]
    return _isolated(u, left, right, sides)


def _cleared(u: Expression) -> Expression:
    """u times its denominators, which have no zero where u is smooth: the same zeros there."""
    return _fraction(u)[0]


def _fraction(u: Expression) -> tuple[Expression, Expression]:
    match u:
        case tree.Sum(terms):
            above, below = _fraction(terms[0])
            for term in terms[1:]:
                other_above, other_below = _fraction(term)
                if below == other_below:
                    above = add(above, other_above)
                else:
                    above = add(multiply(above, other_below), multiply(other_above, below))
                    below = multiply(below, other_below)
            return above, below
        case tree.Product(factors):
            parts = [_fraction(f) for f in factors]
            return multiply(*(p[0] for p in parts)), multiply(*(p[1] for p in parts))
        case tree.Quotient(numerator, denominator):
            above, below = _fraction(numerator)
            return above, multiply(below, denominator)
    return u, number(1)


def _tidy(expr: Expression) -> Expression:
    constant = as_polynomial(expr)
    return tree.Number(constant[0]) if constant is not None and len(constant) == 1 else expr


def _polynomial_roots(u: Expression, polynomial: list[Fraction]) -> list[Location]:
    """The real roots of u, whose coefficients are given: rational numbers and square-root numbers exactly."""
    simple = real_roots.without_multiples(polynomial)
    if len(simple) < len(polynomial):  # where a root is a double one the sign does not change
        u, polynomial = polynomial_tree(simple), simple
    return [_polynomial_root(u, bracket, surd) for bracket, surd in real_roots.real_roots(tuple(polynomial))]


def _polynomial_root(u: Expression, bracket: real_roots.Bracket, surd: real_roots.Surd | None) -> Location:
    low, high = bracket
    if low == high:
        return rational_location(low)
    if surd is None:
        return Location(None, u, low, high)
    centre, factor, radicand = surd
    return Location(add(multiply(tree.Number(factor), call("sqrt", number(radicand))), tree.Number(centre)))


def _periodic(
    name: str, slope: Expression, intercept: Expression, left: Location | None, right: Location | None, sides: set[int]
) -> list[Location]:
    """The zeros (k pi - b)/a of sin(a z + b), and with k + 1/2 of cos, that lie within the tails."""
    low = -TAIL if left is None else max(-TAIL, left.enclosure(8)[0])
    high = TAIL if right is None else min(TAIL, right.enclosure(8)[1])
    sides.update(side for side, end in ((-1, left), (1, right)) if end is None or side * end.value > TAIL)
    shift = Fraction(1, 2) if name == "cos" else Fraction(0)
    box = enclose(divide(add(multiply(slope, Z), intercept), tree.Constant("pi")), Interval(low, high))
    assert isinstance(box.low, Fraction)
    assert isinstance(box.high, Fraction)
    turns = range(math.ceil(box.low - shift), math.floor(box.high - shift) + 1) if low <= high else range(0)
    if len(turns) > _MOST_TURNS:
        raise Undecided(f"{name} has more than {_MOST_TURNS} zeros between -{TAIL} and {TAIL}")
    angles = (multiply(tree.Number(k + shift), tree.Constant("pi")) for k in turns)
    return [Location(_tidy(divide(subtract(angle, intercept), slope))) for angle in angles]


def _isolated(u: Expression, left: Location | None, right: Location | None, sides: set[int]) -> list[Location]:
    start = -math.inf if left is None else left.enclosure(64)[0]
    end = math.inf if right is None else right.enclosure(64)[1]
    cuts = [c for c in sorted({-c for c in _CUTS} | set(_CUTS)) if start < c < end]
    outer = {-1: [c for c in cuts if c < -TAIL], 1: [c for c in cuts if c > TAIL]}
    near = [c for c in cuts if -TAIL <= c <= TAIL]
    smooth = is_smooth(u)
    pending = list(pairwise([start, *near, end]))[::-1]
    slope = derivative(u)
    found: list[Location] = []
    boxes = 0
    while pending:
        low, high = pending.pop()
        if (-1 in sides and high <= -TAIL) or (1 in sides and low >= TAIL):
            continue
        boxes += 1
        if boxes > _MOST_BOXES:
            raise Undecided(f"the places where {u} is zero could not be isolated")
        box = Interval(low, high, low == -math.inf, high == math.inf)
        if _box_sign(u, box) in (1, -1):
            continue
        if isinstance(low, Fraction) and isinstance(high, Fraction):
            if _box_sign(slope, box) in (1, -1):
                found += _monotone_zero(u, low, high)
                continue
            if high - low > Fraction(1, 2**60):
                middle = (low + high) / 2
                pending += [(middle, high), (low, middle)]
                continue
        elif smooth and _tail_sign(u, box, 4) is not None:
            continue
        else:
            side = 1 if isinstance(low, Fraction) else -1
            if outer[side] and isinstance(low, Fraction) != isinstance(high, Fraction):
                # cut the tail further out, and go on with the part that has no end
                cut = outer[side].pop(0 if side > 0 else -1)
                pending += [(low, cut), (cut, high)] if side > 0 else [(cut, high), (low, cut)]
                continue
            if isinstance(low, Fraction) != isinstance(high, Fraction):
                sides.add(side)
                continue
        raise Undecided(f"the places where {u} is zero could not be located: there may be infinitely many")
    return found


def is_smooth(u: Expression) -> bool:
    """Whether no node of u can have a corner or a jump."""
    corners = {"Abs", "sign", "Heaviside"}
    return not any(
        isinstance(n, tree.Maximum | tree.Minimum | tree.Piecewise) or (isinstance(n, tree.Call) and n.name in corners)
        for n in walk(u)
    )


def _tail_sign(u: Expression, box: Interval, depth: int) -> int | None:
    """The sign of u on a tail of the line along which u moves away from 0, None when that is not certain.

    The sign of u' there is found in the same way, `depth` derivatives down.
    """
    plain = _box_sign(u, box)
    if plain in (1, -1) or depth == 0:
        return plain
    rightwards = isinstance(box.low, Fraction)
    end = box.low if rightwards else box.high
    if not isinstance(end, Fraction):
        return None
    change = _tail_sign(derivative(u), box, depth - 1)
    outward = change if rightwards or change is None else -change
    return outward if outward in (1, -1) and _box_sign(u, point(end)) == outward else None


def _box_sign(u: Expression, box: Interval) -> int | None:
    try:
        return enclose(u, box).sign()
    except Undecided:
        if box.width() < Fraction(1, 2**40) or isinstance(box.width(), float):
            raise
        return None


def _monotone_zero(u: Expression, low: Fraction, high: Fraction) -> list[Location]:
    at_low, at_high = sign_at_rational(u, low), sign_at_rational(u, high)
    if at_low == 0 or at_high == 0:
        return [rational_location(low if at_low == 0 else high)]
    return [Location(None, u, low, high)] if at_low != at_high else []


def difference_sign(u: Expression, place: Location) -> int | None:
    """The sign of u at the place, 0 only where it is proved, None when undecided."""
    if place.exact is not None and vanishes(substitute(u, place.exact)):
        return 0
    if place.function is not None and _is_multiple(u, place):
        return 0
    for bits in (64, 256):
        low, high = place.enclosure(bits)
        try:
            sign = enclose(u, Interval(low, high), bits + 32).sign()
        except Undecided:
            continue
        if sign is not None:
            return sign
    return None


def _proportional(u: Expression, v: Expression) -> bool:
    try:
        left, right = normal(u), normal(v)
        return left.same_as(right.scaled(left.leading() / right.leading()))
    except TooComplex:
        return False


def _is_multiple(u: Expression, place: Location) -> bool:
    assert place.function is not None
    if vanishes(u) or _proportional(u, place.function):
        return True
    p, q = as_polynomial(u), as_polynomial(place.function)
    if p is None or q is None:
        return False
    common = real_roots.common_divisor(p, q)
    low, high = place.enclosure(64)
    return any(_overlap(common, a, b, low, high) for a, b in real_roots.isolate(common))
