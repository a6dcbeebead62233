"""The expression tree: frozen nodes of functions of one real variable z.

A tree is data.  Four interpreters read it (NumPy, mpmath, ball arithmetic, SymPy); none of them is imported here.
Trees are built by the constructors of `expression_algebra`, which keep them canonical.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction

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

    __slots__ = ("_hash",)
    _hash: int

    def __post_init__(self) -> None:
        own = (type(self).__name__, *(getattr(self, f.name) for f in fields(self)))  # type: ignore[arg-type]
        object.__setattr__(self, "_hash", hash(own))

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
            if type(a) is not type(b) or a._hash != b._hash or a.own() != b.own():
                return False
            met.add((id(a), id(b)))
            pending += zip(a.children(), b.children(), strict=True)
        return True

    def __reduce__(self) -> tuple[type[Expression], tuple[object, ...]]:
        return type(self), tuple(getattr(self, f.name) for f in fields(self))  # type: ignore[arg-type]

    def own(self) -> object:
        """What tells the node from others of its type with the same children."""
        return len(self.children())

    def children(self) -> tuple[Expression, ...]:
        """The direct sub-expressions, in printed order (both sides of every condition included)."""
        return ()

    def __str__(self) -> str:
        from derivations.expression_text import to_text

        return to_text(self)


@dataclass(frozen=True, slots=True, eq=False)
class Number(Expression):
    """A rational number, exact."""

    value: Fraction

    __str__ = Expression.__str__

    def own(self) -> object:
        """The value."""
        return self.value


@dataclass(frozen=True, slots=True, eq=False)
class Constant(Expression):
    """A named real constant, `pi` or `e`."""

    name: str

    __str__ = Expression.__str__

    def own(self) -> object:
        """The name."""
        return self.name


@dataclass(frozen=True, slots=True, eq=False)
class Variable(Expression):
    """The variable z."""

    __str__ = Expression.__str__


@dataclass(frozen=True, slots=True, eq=False)
class Sum(Expression):
    """t_1 + ... + t_n, n >= 2; a number, if any, comes last."""

    terms: tuple[Expression, ...]

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """The terms."""
        return self.terms


@dataclass(frozen=True, slots=True, eq=False)
class Product(Expression):
    """f_1 ... f_n, n >= 2; a number, if any, comes first."""

    factors: tuple[Expression, ...]

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """The factors."""
        return self.factors


@dataclass(frozen=True, slots=True, eq=False)
class Power(Expression):
    """base ** exponent with a positive rational exponent (a `Number`), neither 1 nor 1/2."""

    base: Expression
    exponent: Expression

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """Base and exponent."""
        return (self.base, self.exponent)


@dataclass(frozen=True, slots=True, eq=False)
class Quotient(Expression):
    """numerator / denominator, both free of a numeric coefficient."""

    numerator: Expression
    denominator: Expression

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """Numerator and denominator."""
        return (self.numerator, self.denominator)


@dataclass(frozen=True, slots=True, eq=False)
class Call(Expression):
    """A primitive function (one of `FUNCTIONS`) of one argument; Heaviside(0) = 1/2, sign(0) = 0."""

    name: str
    argument: Expression

    __str__ = Expression.__str__

    def own(self) -> object:
        """The name."""
        return self.name

    def children(self) -> tuple[Expression, ...]:
        """The argument."""
        return (self.argument,)


@dataclass(frozen=True, slots=True, eq=False)
class Maximum(Expression):
    """The largest of two or more expressions."""

    args: tuple[Expression, ...]

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.args


@dataclass(frozen=True, slots=True, eq=False)
class Minimum(Expression):
    """The smallest of two or more expressions."""

    args: tuple[Expression, ...]

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.args


@dataclass(frozen=True, slots=True)
class Comparison:
    """left op right with op one of < <= > >=."""

    left: Expression
    op: str
    right: Expression

    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons that must all hold."""
        return (self,)


@dataclass(frozen=True, slots=True)
class AllOf:
    """A chain of comparisons (0 < z < 1) that must all hold."""

    parts: tuple[Comparison, ...]

    def comparisons(self) -> tuple[Comparison, ...]:
        """The comparisons that must all hold."""
        return self.parts


@dataclass(frozen=True, slots=True)
class Always:
    """The condition True."""

    def comparisons(self) -> tuple[Comparison, ...]:
        """No comparison has to hold."""
        return ()


Condition = Comparison | AllOf | Always


@dataclass(frozen=True, slots=True, eq=False)
class Piecewise(Expression):
    """The value of the first piece whose condition holds; the last condition is `Always`."""

    pieces: tuple[tuple[Expression, Condition], ...]

    __str__ = Expression.__str__

    def own(self) -> object:
        """The comparison signs of each condition."""
        return tuple(tuple(c.op for c in condition.comparisons()) for _, condition in self.pieces)

    def children(self) -> tuple[Expression, ...]:
        """Values and both sides of the conditions."""
        found: list[Expression] = []
        for value, condition in self.pieces:
            found.append(value)
            for comparison in condition.comparisons():
                found += [comparison.left, comparison.right]
        return tuple(found)


Z = Variable()
ZERO = Number(Fraction(0))
ONE = Number(Fraction(1))


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
