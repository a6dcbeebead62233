"""How a branch behaves at the place where its panel ends: like which power of the distance its derivative grows.

A branch is built of roots and analytic functions, so that beside a place where it is continuous it is a series in a
root of the distance t: a number plus c t^q plus less. The series is differentiated term by term, and
(branch')^2 ~ t^(2q-2) can be integrated up to the place just where q > 1/2.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise

from giantsteps.derivations.activations.activation import Activation, Breakpoint, jump_sign, panel_interval
from giantsteps.derivations.activations.intervals import Undecided, enclose
from giantsteps.derivations.activations.locations import TAIL, Location, difference_sign
from giantsteps.derivations.activations.panels import Panel
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.algebra import substitute
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.normal_form import TooComplex, normal
from giantsteps.derivations.expressions.tree import Expression, ExpressionError, walk

# Functions whose slope is zero nowhere, so that they keep the power of the distance that stands in their argument.
_STEEP = frozenset({"exp", "log", "tan", "sinh", "tanh", "asinh", "atan", "erf", "erfc", "sigmoid", "softplus"})
# Beyond a zero of this order its order is not asked for.
_MOST_ZEROS = 8
_HALF = Fraction(1, 2)
FAR_OUT = f"beyond |z| = {TAIL}, where its breakpoints were not located"


@dataclass(frozen=True)
class Local:
    """Beside the place the expression is of the size t^size, its derivative of the size t^(slope - 1), or smaller.

    That is all of it where it is known to be `sized`, and `sloped`. A slope of 1 stands for any bounded derivative.
    """

    size: Fraction
    sized: bool
    slope: Fraction
    sloped: bool

    @property
    def integrable(self) -> bool | None:
        """Whether the square of the derivative can be integrated up to the place, None where it is not decided."""
        if self.slope > _HALF:
            return True
        return False if self.sloped else None


_BOUNDED, _UNKNOWN = (Local(Fraction(0), False, Fraction(slope), False) for slope in (1, 0))


@dataclass(frozen=True)
class SlopeObstacles:
    """Where the square of sigma' cannot be integrated: at `jumps`, and where sigma is `steep`, like a root at least.

    At the `undecided` places it may be so; at the `unbounded` ones it can be integrated, and sigma' is without bound.
    `far`: there may be such places beyond the located breakpoints.
    """

    jumps: tuple[Breakpoint, ...]
    steep: tuple[Breakpoint, ...]
    undecided: tuple[Breakpoint, ...]
    unbounded: tuple[Breakpoint, ...]
    far: bool


def slope_obstacles(function: Activation) -> SlopeObstacles:
    """What stands in the way of a finite E[sigma'^2], but for growth far out."""
    steep, undecided, unbounded = list[Breakpoint](), list[Breakpoint](), list[Breakpoint]()
    for point in function.breakpoints:
        sides = [beside(branch, point.location) for branch in (point.left, point.right)]
        if any(side.integrable is False for side in sides):
            steep.append(point)
        elif any(side.integrable is None for side in sides) or (point.root and isinstance(point.left, tree.Sampled)):
            undecided.append(point)
        elif any(side.slope < 1 for side in sides):
            unbounded.append(point)
    far = _open_far_out(function)
    return SlopeObstacles(function.jumps, tuple(steep), tuple(undecided), tuple(unbounded), far)


def _open_far_out(function: Activation) -> bool:
    """Whether sigma may jump or rise like a root where its breakpoints were not located."""
    parts = function.panels
    seams = [(a, b) for a, b in pairwise(parts) if a.endless or b.endless]
    return any(_may_be_rough(p) for p in parts if p.endless) or any(jump_sign(a, b) != 0 for a, b in seams)


def _may_be_rough(panel: Panel) -> bool:
    """Whether the expression of a panel has more than corners, also when it is written in its normal form."""
    try:
        return _rough(panel.branch, panel) and _rough(normal(panel.branch).expression(), panel)
    except (TooComplex, ExpressionError):
        return True


def _rough(expr: Expression, panel: Panel) -> bool:
    """Whether an expression may jump or rise like a root, as far as the range of what is under its roots tells."""
    for node in walk(expr):
        match node:
            case tree.Piecewise() | tree.Call("sign" | "Heaviside", _):
                return True
            case tree.Call("sqrt", base) | tree.Power(base, _) if _is_root(node):
                if not enclose(base, panel_interval(panel)).positive():
                    return True
    return False


def beside(branch: Expression, place: Location) -> Local:
    """What is known of a branch at the end of its panel."""
    try:
        return _BOUNDED if _analytic(branch) else local(branch, place)
    except (Undecided, ExpressionError):
        return _UNKNOWN


def local(expr: Expression, place: Location) -> Local:
    """What is known of an expression that is real and continuous beside the place, at the place."""
    if _analytic(expr):
        return _of_analytic(expr, place)
    match expr:
        case tree.Call("sqrt", base):
            return _power(local(base, place), _HALF)
        case tree.Power(base, tree.Number(exponent)):
            inner = local(base, place)
            if exponent.denominator == 1 and exponent > 0 and not inner.sized:
                return _product([inner] * int(exponent))
            return _power(inner, exponent)
        case tree.Quotient(above, below):
            return _product([local(above, place), _power(local(below, place), Fraction(-1))])
        case tree.Product(factors):
            return _product([local(factor, place) for factor in factors])
        case tree.Sum(terms):
            return _sum(expr, [local(term, place) for term in terms], place)
        case tree.Call(name, argument):
            inner = local(argument, place)
            steep = 1 if name in _STEEP else difference_sign(_outer_slope(name, argument), place)
            # f(u)' = f'(u) u', and where f' is zero at the place it is of the size of what u is away from there.
            slope = 2 * inner.slope if steep == 0 else inner.slope
            return _integrated(expr, place, slope, inner.sloped and steep in (1, -1))
    raise Undecided(f"what {expr} does beside z = {place} could not be decided")


def _analytic(expr: Expression) -> bool:
    """Whether no root stands in a branch."""
    return not any(map(_is_root, walk(expr)))


def _is_root(node: Expression) -> bool:
    match node:
        case tree.Call("sqrt", _):
            return tree.depends_on_z(node)
        case tree.Power(_, tree.Number(q)):
            return q.denominator > 1
    return False


def _of_analytic(expr: Expression, place: Location) -> Local:
    """An analytic expression: the first of its derivatives that is not zero at the place tells its size."""
    order, current = 0, expr
    while order < _MOST_ZEROS:
        sign = difference_sign(current, place)
        if sign:
            return Local(Fraction(order), True, Fraction(1), False)
        if sign is None:
            break
        order, current = order + 1, derivative(current)
    return Local(Fraction(order), False, Fraction(1), False)


def _outer_slope(name: str, argument: Expression) -> Expression:
    """f'(u) of f(u)."""
    return substitute(derivative(tree.Call(name, tree.Z)), argument)


def _integrated(expr: Expression, place: Location, slope: Fraction, sloped: bool) -> Local:
    """An expression whose derivative is known, by its value at the place."""
    slope, sloped = min(slope, Fraction(1)), sloped and slope < 1
    value = difference_sign(expr, place)
    if value == 0:
        return Local(slope, sloped, slope, sloped)
    return Local(Fraction(0), value is not None, slope, sloped)


def _grown(size: Fraction, sized: bool, slope: Fraction, sloped: bool) -> Local:
    """An expression of this size: what is t^size, and no more, has the derivative of that."""
    if sized and size > 0:
        slope, sloped = size, True
    return Local(size, sized, min(slope, Fraction(1)), sloped and slope < 1)


def _power(base: Local, exponent: Fraction) -> Local:
    """u^q: where u is not zero it has the slope of u."""
    if base.size == 0 and base.sized:
        return base
    if exponent < 0:
        raise Undecided("what is divided by could be zero")
    if not base.sized:  # u may be smaller than of its size, and is not zero only where that is 1
        least = min(base.size * exponent, base.slope, Fraction(1))
        return Local(base.size * exponent, False, least, False)
    return _grown(base.size * exponent, True, Fraction(1), False)


def _product(factors: list[Local]) -> Local:
    size, sized = sum((f.size for f in factors), Fraction(0)), all(f.sized for f in factors)
    # (u v)' = u' v + u v': the slope of each by the size of the others.
    slopes = [f.slope + size - f.size for f in factors]
    first = slopes.index(min(slopes))
    others = all(f.sized for k, f in enumerate(factors) if k != first)
    return _grown(size, sized, slopes[first], slopes.count(slopes[first]) == 1 and factors[first].sloped and others)


def _sum(expr: Expression, terms: list[Local], place: Location) -> Local:
    steepest, largest = min(t.slope for t in terms), min(t.size for t in terms)
    steep, large = [t for t in terms if t.slope == steepest], [t for t in terms if t.size == largest]
    sloped = len(steep) == 1 and steep[0].sloped
    if largest > 0:
        return _grown(largest, len(large) == 1 and large[0].sized, steepest, sloped)
    return _integrated(expr, place, steepest, sloped)
