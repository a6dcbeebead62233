"""An expression cut into panels of the line on each of which it is one analytic expression, its branch.

Zeros of the arguments of Abs, sign, Heaviside, of the differences inside Max, Min and conditions, and of radicands cut
the line; zeros of denominators and of arguments of log are refused. Where such zeros go on without end, as those of
sin(z), the line is cut up to |z| = 64, and the expression itself stands for its branches on the tails.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise

from giantsteps.derivations.activations.intervals import Interval, Undecided, enclose
from giantsteps.derivations.activations.locations import (
    TAIL,
    EndlessZeros,
    Location,
    order,
    rational_location,
    sample_between,
    sign_at_rational,
    zeros,
)
from giantsteps.derivations.activations.real_roots import square_part
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.algebra import (
    call,
    map_children,
    maximum,
    minimum,
    multiply,
    negate,
    polynomial_tree,
    power,
    subtract,
)
from giantsteps.derivations.expressions.normal_form import as_polynomial, vanishes
from giantsteps.derivations.expressions.tree import ZERO, Expression, ExpressionError, Z, number

CORNER, JUMP, ROOT, END = "corner", "jump", "root", "end"
_MOST_PANELS = 600
# The branch of a condition on a tail where it may hold here and not hold there.
_UNDECIDED = Z


@dataclass(frozen=True)
class Cut:
    """A place where the branch may change, and what kinds of node are responsible."""

    place: Location
    kinds: frozenset[str]


@dataclass(frozen=True)
class Panel:
    """The open interval between two cuts (None is infinity) and the analytic expression valid on it.

    An `endless` panel is a tail with breakpoints of its own that were not located: its branch is not analytic.
    """

    left: Cut | None
    right: Cut | None
    branch: Expression
    endless: bool = False

    def sample(self) -> Fraction:
        """A rational point inside."""
        return sample_between(_place(self.left), _place(self.right))


def _place(cut: Cut | None) -> Location | None:
    return None if cut is None else cut.place


def panels(expr: Expression) -> list[Panel]:
    """The panels of expr over the whole line, left to right; neighbours with the same branch are joined.

    Raises ExpressionError for a pole, a logarithm or root of something that is not positive, infinitely many
    breakpoints, or anything that could not be decided.
    """
    return _joined(_decompose(expr, None, None))


def _joined(parts: list[Panel]) -> list[Panel]:
    result = [parts[0]]
    for part in parts[1:]:
        last = result[-1]
        assert last.right is not None
        assert part.left is not None
        same = last.branch == part.branch or vanishes(subtract(last.branch, part.branch))
        if same and ROOT not in last.right.kinds | part.left.kinds and last.endless == part.endless:
            part = replace(result.pop(), right=part.right)
        result.append(part)
    return result


def _decompose(expr: Expression, left: Cut | None, right: Cut | None) -> list[Panel]:
    if isinstance(expr, tree.Piecewise):
        return _decompose_piecewise(expr, left, right)
    if isinstance(expr, tree.Maximum | tree.Minimum):
        if len(expr.args) > 2:
            kind = type(expr)
            expr = kind((kind(expr.args[:-1]), expr.args[-1]))
    else:
        expr = _squares_out(expr)
    children = expr.children()
    if not children:
        return [Panel(left, right, expr)]
    result: list[Panel] = []
    for low, high, current in _common([_joined(_decompose(child, left, right)) for child in children]):
        branches = [panel.branch for panel in current]
        endless = any(panel.endless for panel in current)
        result += _endless(expr, branches, low, high) if endless else _node(expr, branches, low, high)
        if len(result) > _MOST_PANELS:
            raise ExpressionError(f"the expression has more than {_MOST_PANELS} breakpoints")
    return result


def _squares_out(expr: Expression) -> Expression:
    """A root of what has squared factors, without them: sqrt(u^2 v) = |u| sqrt(v), where what is under it is a power
    or a polynomial; any other expression as it is.
    """
    match expr:
        case tree.Call("sqrt", base):
            exponent = Fraction(1, 2)
        case tree.Power(base, tree.Number(exponent)) if exponent.denominator != 1:
            pass
        case _:
            return expr
    if isinstance(base, tree.Power) and isinstance(base.exponent, tree.Number):
        q = base.exponent.value
        even = q.denominator == 1 and q % 2 == 0
        return power(call("Abs", base.base), number(q * exponent)) if even else expr
    polynomial = as_polynomial(base)
    if polynomial is None or len(polynomial) < 3:
        return expr
    root, rest = square_part(polynomial)
    if len(root) == 1:
        return expr
    outside = power(call("Abs", polynomial_tree(root)), number(2 * exponent))
    return multiply(outside, power(polynomial_tree(rest), number(exponent)))


def _common(parts: list[list[Panel]]) -> list[tuple[Cut | None, Cut | None, list[Panel]]]:
    """The common refinement: every piece with the panel of each part."""
    positions = [0] * len(parts)
    left = functools.reduce(_nearer, [part[0].left for part in parts])  # one place, of which each child knows its kinds
    result: list[tuple[Cut | None, Cut | None, list[Panel]]] = []
    while True:
        current = [part[i] for part, i in zip(parts, positions, strict=True)]
        nearest: Cut | None = None
        for panel in current:
            nearest = _nearer(nearest, panel.right)
        result.append((left, nearest, current))
        ended, left = True, nearest
        for k, panel in enumerate(current):
            reached = panel.right is not None and nearest is not None and order(panel.right.place, nearest.place) == 0
            if reached and positions[k] + 1 < len(parts[k]):
                positions[k] += 1
                ended = False
                left = _nearer(left, parts[k][positions[k]].left)  # what either side of the cut knows
        if ended:
            return result


def _nearer(a: Cut | None, b: Cut | None) -> Cut | None:
    if a is None or b is None:
        return a or b
    sign = order(a.place, b.place)
    if sign == 0:
        return Cut(a.place if a.place.exact is not None else b.place, a.kinds | b.kinds)
    return a if sign < 0 else b


def _endless(expr: Expression, branches: list[Expression], left: Cut | None, right: Cut | None) -> list[Panel]:
    """The panel of a node on a tail where a child has breakpoints that were not located.

    Nothing but the range of the children is known there. Raises Undecided where it does not show that the node is
    real and finite.
    """
    box = Interval(
        -math.inf if left is None else left.place.enclosure(64)[0],
        math.inf if right is None else right.place.enclosure(64)[1],
    )
    safe = True
    match expr:
        case tree.Quotient():
            safe = enclose(branches[1], box).sign() in (1, -1)
        case tree.Call("log", _):
            safe = enclose(branches[0], box).positive()
        case tree.Call("sqrt" | "tan" as name, _):
            safe = name == "sqrt" and enclose(branches[0], box).low >= 0
        case tree.Power(_, tree.Number(q)) if q.denominator != 1:
            safe = enclose(branches[0], box).low >= 0
    if not safe:
        raise Undecided(f"whether {expr} is real and finite far out could not be decided")
    following = iter(branches)
    return [Panel(left, right, map_children(expr, lambda _: next(following)), True)]


def _node(expr: Expression, branches: list[Expression], left: Cut | None, right: Cut | None) -> list[Panel]:
    """The panels of a node whose children have the given branches between left and right."""
    following = iter(branches)
    match expr:
        case tree.Call("Abs", _):
            u = branches[0]
            return _by_sign(u, left, right, CORNER, lambda sign: u if sign >= 0 else negate(u), call("Abs", u))
        case tree.Call("sign" | "Heaviside" as name, _):
            u = branches[0]
            return _by_sign(u, left, right, JUMP, lambda sign: call(name, number(sign)), call(name, u))
        case tree.Maximum() | tree.Minimum():
            a, b = branches
            top = isinstance(expr, tree.Maximum)
            whole = (maximum if top else minimum)(a, b)
            return _by_sign(
                subtract(a, b), left, right, CORNER, lambda sign: a if (sign >= 0) == top or sign == 0 else b, whole
            )
        case tree.Call("sqrt", _) | tree.Power(_, tree.Number()):
            rebuilt = map_children(expr, lambda _: next(following))
            match rebuilt:
                case tree.Call("sqrt", _):
                    return _roots(expr, branches[0], rebuilt, left, right)
                case tree.Power(_, tree.Number(q)) if q.denominator > 1:
                    return _roots(expr, branches[0], rebuilt, left, right)
            return [Panel(left, right, rebuilt)]
        case tree.Quotient(_, denominator):
            _refuse_zero(branches[1], left, right, f"1/({denominator}) has a pole")
        case tree.Call("log", argument):
            _refuse_zero(branches[0], left, right, f"log({argument}) is infinite")
            if _sign_inside(branches[0], left, right) < 0:
                raise ExpressionError(f"log({argument}) is not real: its argument must be positive, as in log(1+z**2)")
        case tree.Call("tan", argument):
            cosine = call("cos", branches[0])
            _refuse_zero(cosine, left, right, f"tan({argument}) has a pole")
    return [Panel(left, right, map_children(expr, lambda _: next(following)))]


def _roots(expr: Expression, u: Expression, rebuilt: Expression, left: Cut | None, right: Cut | None) -> list[Panel]:
    def branch(sign: int) -> Expression:
        if sign < 0:
            raise ExpressionError(f"{expr} is not real: its radicand must not be negative, as in sqrt(1+z**2)")
        return rebuilt if sign else ZERO

    return _by_sign(u, left, right, ROOT, branch)


def _sign_inside(u: Expression, left: Cut | None, right: Cut | None) -> int:
    """The sign of u inside a panel on which it has no zero (or is zero everywhere)."""
    if vanishes(u):
        return 0
    x = sample_between(_place(left), _place(right))
    return sign_at_rational(u, x, most=8192)


def _by_sign(
    u: Expression,
    left: Cut | None,
    right: Cut | None,
    kind: str,
    branch: Callable[[int], Expression],
    whole: Expression | None = None,
) -> list[Panel]:
    """The panel cut at the zeros of u, with branch(sign of u) on each part.

    A zero at an end of the panel adds its kind to that end, whatever cut the panel there. `whole` is the node itself,
    which stands on a tail with zeros without end; without it such a tail is refused.
    """
    if vanishes(u):
        return [Panel(left, right, branch(0))]
    sides: frozenset[int] = frozenset()
    try:
        places = zeros(u, _place(left), _place(right))
    except EndlessZeros as endless:
        if whole is None:
            raise
        places, sides = endless.found, endless.sides
    cuts = [Cut(place, frozenset({kind})) for place in places]
    if -1 in sides:
        cuts.insert(0, Cut(rational_location(-TAIL), frozenset({END})))
    if 1 in sides:
        cuts.append(Cut(rational_location(TAIL), frozenset({END})))
    inside = []
    for cut in cuts:
        after = 1 if left is None else order(cut.place, left.place)
        before = -1 if right is None else order(cut.place, right.place)
        if after == 0:
            left = _nearer(left, cut)
        elif before == 0:
            right = _nearer(right, cut)
        elif after > 0 > before:
            inside.append(cut)
    result: list[Panel] = []
    for a, b in pairwise([left, *inside, right]):
        beyond = (-1 in sides and b is not None and b.place.value <= -TAIL) or (
            1 in sides and a is not None and a.place.value >= TAIL
        )
        if beyond and whole is not None:
            result.append(Panel(a, b, whole, True))
        else:
            result.append(Panel(a, b, branch(_sign_inside(u, a, b))))
    return result


def _refuse_zero(u: Expression, left: Cut | None, right: Cut | None, what: str) -> None:
    try:
        everywhere = vanishes(u)
        found = [] if everywhere else zeros(u, _place(left), _place(right))
    except Undecided as reason:
        raise ExpressionError(
            f"it could not be decided whether {what} on the real line ({reason}); write it so that it plainly has none"
        ) from None
    if everywhere or found:
        where = "everywhere" if everywhere else f"at z = {found[0]}"
        raise ExpressionError(
            f"{what} {where}; the expression must be real and finite on the whole line, as 1/(1+z**2) is"
        )


def _decompose_piecewise(expr: tree.Piecewise, left: Cut | None, right: Cut | None) -> list[Panel]:
    (value, condition), rest = expr.pieces[0], expr.pieces[1:]
    if not rest:
        return _decompose(value, left, right)
    result: list[Panel] = []
    for part in _where(condition, left, right):
        if part.endless:
            for each in (value, _remaining(rest)):
                _decompose(each, part.left, part.right)  # has to be real and finite there
            result.append(Panel(part.left, part.right, expr, True))
            continue
        chosen = value if part.branch != ZERO else _remaining(rest)
        result += _decompose(chosen, part.left, part.right)
    return result


def _remaining(rest: tuple[tuple[Expression, tree.Condition], ...]) -> Expression:
    return tree.Piecewise(rest) if rest[0][1] else rest[0][0]


def _where(condition: tree.Condition, left: Cut | None, right: Cut | None) -> list[Panel]:
    """Panels with branch 1 where the condition holds and 0 where it does not."""
    parts = [Panel(left, right, number(1))]
    for c in condition:
        refined: list[Panel] = []
        for part in parts:
            refined += [part] if part.branch == ZERO or part.endless else _compared(c, part.left, part.right)
        parts = refined
    merged = [parts[0]]
    for part in parts[1:]:
        if part.branch == merged[-1].branch:
            part = replace(part, left=merged.pop().left)
        merged.append(part)
    return merged


def _compared(c: tree.Comparison, left: Cut | None, right: Cut | None) -> list[Panel]:
    upward = c.op in (">", ">=")
    gap = subtract(c.left, c.right) if upward else subtract(c.right, c.left)
    at_equality = c.op in (">=", "<=")
    result: list[Panel] = []
    for part in _decompose(gap, left, right):

        def holds(sign: int) -> Expression:
            return number(int(sign > 0 or (sign == 0 and at_equality)))

        if part.endless:
            result.append(Panel(part.left, part.right, _UNDECIDED, True))
        else:
            result += _by_sign(part.branch, part.left, part.right, JUMP, holds, _UNDECIDED)
    return result
