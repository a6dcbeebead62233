"""Increasing, strictly subhomogeneous maps of the positive cone: any x <= F(x) lies below every fixed point.

F is increasing if x <= y implies F(x) <= F(y) in each component, and strictly subhomogeneous if F(t x) < t F(x) for
t > 1. Let u = F(u), let t be the least factor >= 1 with x <= t u, and let t > 1. Then x <= F(x) <= F(t u) < t F(u) =
t u, so that a smaller factor would do: t = 1. So there is at most one fixed point (Krasnoselskii, "Positive Solutions
of Operator Equations", 1964, chapter 6).

The proof is a function of theorems: for any number of components, of a map of which no more is known, or of one that
has a formula.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.kernel.algebra import instantiate, order
from giantsteps.derivations.kernel.inequalities import antisymmetric, largest, multiply, root_of_zero, specialise
from giantsteps.derivations.kernel.search.assumptions import in_model
from giantsteps.derivations.kernel.search.steps import rewritten_both, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, Refused, sides
from giantsteps.derivations.kernel.terms import substitute
from giantsteps.derivations.kernel.theorem import Theorem

ZERO, ONE = sp.Integer(0), sp.Integer(1)

Vector = Sequence[sp.Expr]


@dataclass(frozen=True)
class IncreasingMap:
    """What is known of a map F of positive vectors, component by component.

    increasing: F_i(p + h) >= F_i(p) for all p > 0 and h >= 0. subhomogeneous: (1 + s) F_i(p) >= F_i((1 + s) p) + s g_i
    for all p > 0 and s >= 0, with a gap g_i that is decidedly positive. The assumptions speak of neither p, h nor s.
    """

    point: tuple[sp.Symbol, ...]
    step: tuple[sp.Symbol, ...]
    excess: sp.Symbol
    increasing: tuple[Theorem, ...]
    subhomogeneous: tuple[Theorem, ...]
    gaps: tuple[sp.Expr, ...]


def below(of: IncreasingMap, lower: Sequence[Theorem], fixed: Sequence[Theorem]) -> tuple[Theorem, ...]:
    """u_i >= x_i of ``lower``: F_i(x) >= x_i, and ``fixed``: F_i(u) = u_i, for positive symbols x and u."""
    x, u = [value(t) for t in lower], [value(t) for t in fixed]
    ratios = tuple(a / b for a, b in zip(x, u, strict=True))
    terms = (ONE, *ratios)
    most = sp.Max(*terms)
    excess = order((largest((), terms, 0),), AtLeast(most - 1, ZERO), (ONE,))
    above = [order((largest((), terms, i + 1),), AtLeast(most * u[i] - x[i], ZERO), (u[i],)) for i in range(len(x))]
    # x <= F(x) <= F(t u) <= t u - s g, with t = 1 + s.
    at_x = dict(zip(of.point, x, strict=True))
    at_u = dict(zip(of.point, u, strict=True))
    left, gaps = [], []
    for i, strict in enumerate(of.subhomogeneous):
        grown = instantiate((of.increasing[i],), at_x)
        for step, sign in zip(of.step, above, strict=True):
            grown = specialise((grown, sign), step)
        there = rewritten_both(instantiate((strict,), at_u), *fixed)
        gap = substitute(of.gaps[i], at_u)
        for equation in fixed:
            gap = gap.xreplace({_left(equation): value(equation)})
        there = specialise((there, excess), of.excess)
        gaps.append(substitute(gap, {of.excess: most - 1}))
        goal = AtLeast(most * u[i] - (most - 1) * gaps[i] - x[i], ZERO)
        left.append(order((there, grown, lower[i]), goal, (ONE, ONE, ONE)))
    none = _no_excess(excess, above, left, gaps, largest((), terms), u)
    return tuple(order((sign, none), AtLeast(b, a), (ONE, -b)) for sign, a, b in zip(above, x, u, strict=True))


def _left(theorem: Theorem) -> sp.Expr:
    return sides(theorem.statement)[0]


def _no_excess(
    excess: Theorem, above: Sequence[Theorem], left: Sequence[Theorem], gaps: Vector, attained: Theorem, u: Vector
) -> Theorem:
    """s = 0 of s e_1 ... e_n = 0 and e_i >= s g_i, e_i = t u_i - x_i: s e_1 ... e_n >= s^(n+1) g_1 ... g_n."""
    s = _left(excess)
    product, power = s, excess  # s e_1 ... e_k, and s^(k+1) >= 0
    weight: sp.Expr = ONE  # g_1 ... g_k
    known: Theorem | None = None
    for k, (sign, rest, gap) in enumerate(zip(above, left, gaps, strict=True), start=1):
        product = product * _left(sign)
        powers = multiply((rest, power))
        premises, multipliers = [powers], [weight]
        if known is not None:
            premises += [multiply((known, rest)), multiply((known, excess))]
            multipliers += [ONE, gap]
        weight, power = weight * gap, multiply((power, excess))
        known = order(tuple(premises), AtLeast(product, s ** (k + 1) * weight), tuple(multipliers))
    assert known is not None
    whole = sp.Mul(*u)
    low = order((known, attained), AtLeast(ZERO, _left(power)), (1 / weight, -whole / weight))
    return root_of_zero((antisymmetric((power, low)),), s, len(u) + 1)


def at_most_one(of: IncreasingMap, first: Sequence[Theorem], second: Sequence[Theorem]) -> tuple[Theorem, ...]:
    """x_i = u_i of two fixed points F_i(x) = x_i and F_i(u) = u_i."""
    up, down = below(of, _at_least(first), second), below(of, _at_least(second), first)
    return tuple(antisymmetric((b, a)) for a, b in zip(up, down, strict=True))


def _at_least(fixed: Sequence[Theorem]) -> list[Theorem]:
    """F_i(x) >= x_i of F_i(x) = x_i."""
    return [order((t,), AtLeast(*sides(t.statement)), (ONE,)) for t in fixed]


def stated(theorems: Sequence[Theorem], statement: Relational) -> Theorem:
    """The theorem among several that says ``statement``. Raises Refused if none does."""
    equal = isinstance(statement, sp.Equality)
    goal = Equation(statement.lhs, statement.rhs) if equal else AtLeast(statement.gts, statement.lts)
    found = next((theorem for theorem in theorems if theorem.statement == goal), None)
    if found is None:
        raise Refused(f"{statement} is not what was proved")
    return found


# ---- any map: what it is taken for, with two components and more ----


def _taken(name: str, statement: AtLeast | Equation, *universal: sp.Symbol) -> Theorem:
    """A premise of the theorem on any map."""
    return in_model(name, statement, "a premise of the theorem", *universal)


@functools.cache
def any_map(components: int) -> IncreasingMap:
    """An increasing, strictly subhomogeneous map of so many positive numbers, of which no more is known."""
    indices = range(1, components + 1)
    p = tuple(sp.Symbol(f"p{i}", positive=True) for i in indices)
    h = tuple(sp.Symbol(f"h{i}", nonnegative=True) for i in indices)
    s = sp.Symbol("s", nonnegative=True)
    t = 1 + s
    maps = [sp.Function(f"F_{i}", real=True) for i in indices]
    gaps = tuple(sp.Function(f"gap_{i}", positive=True)(s, *p) for i in indices)
    moved, scaled = [a + b for a, b in zip(p, h, strict=True)], [t * a for a in p]
    return IncreasingMap(
        p,
        h,
        s,
        tuple(_taken(f"F_{i} is increasing", AtLeast(F(*moved), F(*p)), *p, *h) for i, F in enumerate(maps, start=1)),
        tuple(
            _taken(f"F_{i} is strictly subhomogeneous", AtLeast(t * F(*p), F(*scaled) + s * gap), *p, s)
            for i, (F, gap) in enumerate(zip(maps, gaps, strict=True), start=1)
        ),
        gaps,
    )


@functools.cache
def two_fixed_points(x: tuple[sp.Symbol, ...], u: tuple[sp.Symbol, ...]) -> tuple[Theorem, ...]:
    """x_i = u_i for two fixed points of `any_map` with positive components."""
    maps = [sp.Function(f"F_{i}", real=True) for i in range(1, len(x) + 1)]
    first, second = (
        [_taken(f"{a} belongs to a fixed point", Equation(F(*point), a)) for F, a in zip(maps, point, strict=True)]
        for point in (x, u)
    )
    return at_most_one(any_map(len(x)), first, second)
