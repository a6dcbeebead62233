"""The expression tree: frozen nodes of functions of one real variable z.

A tree is data.  Four interpreters read it (NumPy, mpmath, ball arithmetic, SymPy); none of them is imported here.
Trees are built by the constructors of `expression_algebra`, which keep them canonical.

Canonical text of an expression tree: `parse(to_text(tree))` is the same tree.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

FUNCTIONS = ("exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "asinh", "atan", "erf", "erfc") + (
    "sign",
    "Heaviside",
    "Abs",
    "sigmoid",
    "softplus",
)


class ExpressionError(ValueError):
    """An expression that cannot be read or used; the message is one sentence for the person who wrote it."""


class Expression:
    """Base class of all nodes; compare by value, hashable, immutable.

    The hash is computed once from those of the children, and equality and `walk` are loops: neither depends on how deep
    a tree is.
    """

    __slots__ = ("_children", "_hash", "_own")
    _children: tuple[Expression, ...]
    _own: tuple[object, ...]
    _hash: int

    def __post_init__(self) -> None:
        children: list[Expression] = []
        own: list[object] = []
        for part in self._parts():
            _sort(part, children, own)
        for name, value in (("_children", tuple(children)), ("_own", tuple(own))):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_hash", hash((type(self).__name__, self._own, self._children)))

    def _parts(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.__match_args__)  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return self._hash

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Expression):
            return NotImplemented
        pending, met = [(self, other)], set()
        while pending:
            a, b = pending.pop()
            if a is b or (id(a), id(b)) in met:
                continue
            if type(a) is not type(b) or a._hash != b._hash or a._own != b._own:
                return False
            met.add((id(a), id(b)))
            pending += zip(a._children, b._children, strict=True)
        return True

    def __reduce__(self) -> tuple[type[Expression], tuple[object, ...]]:
        return type(self), self._parts()

    def children(self) -> tuple[Expression, ...]:
        """The direct sub-expressions, in printed order (both sides of every condition included)."""
        return self._children

    def __str__(self) -> str:
        return to_text(self)


def _sort(part: object, children: list[Expression], own: list[object]) -> None:
    """What a node is made of: its children, and what tells it from others of its type with the same children."""
    if isinstance(part, Expression):
        children.append(part)
    elif isinstance(part, Comparison | tuple):
        inner = (part.left, part.op, part.right) if isinstance(part, Comparison) else part
        own.append(len(inner))
        for one in inner:
            _sort(one, children, own)
    else:
        own.append(part)


@dataclass(frozen=True, slots=True, eq=False)
class Number(Expression):
    """A rational number, exact."""

    value: Fraction


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Expression):
    """A named real constant, `pi` or `e`."""

    name: str


@dataclass(frozen=True, slots=True, eq=False)
class Variable(Expression):
    """The variable z."""


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Expression):
    """t_1 + ... + t_n, n >= 2; a number, if any, comes last."""

    terms: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Product(Expression):
    """f_1 ... f_n, n >= 2; a number, if any, comes first."""

    factors: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Power(Expression):
    """base ** exponent with a positive rational exponent (a `Number`), neither 1 nor 1/2."""

    base: Expression
    exponent: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Quotient(Expression):
    """numerator / denominator, both free of a numeric coefficient."""

    numerator: Expression
    denominator: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expression):
    """A primitive function (one of `FUNCTIONS`) of one argument; Heaviside(0) = 1/2, sign(0) = 0."""

    name: str
    argument: Expression


@dataclass(frozen=True, slots=True, eq=False)
class Maximum(Expression):
    """The largest of two or more expressions."""

    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Minimum(Expression):
    """The smallest of two or more expressions."""

    args: tuple[Expression, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """left op right with op one of < <= > >=."""

    left: Expression
    op: str
    right: Expression


# Comparisons that must all hold: one, a chain such as 0 < z < 1, or none, which is always so.
Condition = tuple[Comparison, ...]
ALWAYS: Condition = ()


@dataclass(frozen=True, slots=True, eq=False)
class Piecewise(Expression):
    """The value of the first piece whose condition holds; the last condition is `ALWAYS`."""

    pieces: tuple[tuple[Expression, Condition], ...]


@dataclass(frozen=True, slots=True, eq=False)
class Sampled(Expression):
    """A function without a formula, f(argument): `values` gives doubles at an array, `values.slope` those of f'."""

    name: str
    values: Any
    argument: Expression


Z = Variable()
ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))


def unreadable(expr: Expression) -> Exception:
    """The error for a node that an interpreter does not read."""
    if isinstance(expr, Sampled):
        return ExpressionError(f'{expr} has values alone: give its formula as text or in SymPy, for example "tanh(z)"')
    return TypeError(f"not an expression node: {expr!r}")


def number(value: int | Fraction) -> Number:
    """The exact number `value`."""
    return Number(Fraction(value))


def walk(expr: Expression) -> Iterator[Expression]:
    """Every node of the tree, parents before children."""
    pending = [expr]
    while pending:
        node = pending.pop()
        yield node
        pending += reversed(node.children())


def depth(expr: Expression) -> int:
    """The number of nodes on the longest way from the root to a leaf."""
    level, deepest = [expr], 0
    while level:
        deepest += 1
        level = list({id(child): child for node in level for child in node.children()}.values())
    return deepest


def depends_on_z(expr: Expression) -> bool:
    """Whether z occurs in the tree."""
    return any(isinstance(node, Variable) for node in walk(expr))


# Binding strength of the outermost operator; a child is parenthesised where it binds less than its place demands.
_SUM, _PRODUCT, _FACTOR, _POWER, _ATOM = range(5)


def to_text(expr: Expression) -> str:
    """The tree as text in the language that `parse` reads."""
    return _render(expr)[0]


def _at(expr: Expression, strength: int) -> str:
    text, binding = _render(expr)
    return text if binding >= strength else f"({text})"


def _render(expr: Expression) -> tuple[str, int]:
    match expr:
        case Number(value):
            text = str(value)
            return text, _ATOM if text.isdigit() else _PRODUCT if value > 0 else _SUM
        case Constant(name):
            return name, _ATOM
        case Variable():
            return "z", _ATOM
        case Sum(terms):
            text = _at(terms[0], _SUM)
            for term in terms[1:]:
                part = _at(term, _PRODUCT) if not isinstance(term, Number | Product) else _render(term)[0]
                text += f" - {part[1:]}" if part.startswith("-") else f" + {part}"
            return text, _SUM
        case Product(factors):
            return _render_product(factors)
        case Power(base, exponent):
            return f"{_at(base, _ATOM)}**{_at(exponent, _ATOM)}", _POWER
        case Quotient(numerator, denominator):
            return f"{_at(numerator, _PRODUCT)}/{_at(denominator, _POWER)}", _PRODUCT
        case Call(name, argument) | Sampled(name, _, argument):
            return f"{name}({to_text(argument)})", _ATOM
        case Maximum(args) | Minimum(args):
            name = "Max" if isinstance(expr, Maximum) else "Min"
            return f"{name}({', '.join(map(to_text, args))})", _ATOM
        case Piecewise(pieces):
            inner = ", ".join(f"({to_text(value)}, {_condition_text(condition)})" for value, condition in pieces)
            return f"Piecewise({inner})", _ATOM
    raise TypeError(f"not an expression node: {expr!r}")


def _render_product(factors: tuple[Expression, ...]) -> tuple[str, int]:
    above, below, rest = 1, 1, factors
    if isinstance(factors[0], Number):
        above, below, rest = factors[0].value.numerator, factors[0].value.denominator, factors[1:]
    sign = "-" if above < 0 else ""
    if below == 1 and len(rest) == 1 and isinstance(rest[0], Quotient) and isinstance(rest[0].numerator, Number):
        return f"{sign}{abs(above)}/{_at(rest[0].denominator, _POWER)}", _SUM if sign else _PRODUCT
    text = "*".join(_at(factor, _FACTOR) for factor in rest)
    if abs(above) != 1:
        text = f"{abs(above)}*{text}"
    if below != 1:
        text = f"{text}/{below}"
    return sign + text, _SUM if sign else _PRODUCT


def _condition_text(condition: Condition) -> str:
    if not condition:
        return "True"
    return to_text(condition[0].left) + "".join(f" {part.op} {to_text(part.right)}" for part in condition)
