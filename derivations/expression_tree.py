"""The expression tree: frozen nodes of functions of one real variable z.

A tree is data.  Four interpreters read it (NumPy, mpmath, ball arithmetic, SymPy); none of them is imported here.
Trees are built by the constructors of `expression_algebra`, which keep them canonical.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
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
    """Base class of all nodes; compare by value, hashable, immutable."""

    __slots__ = ()

    def children(self) -> tuple[Expression, ...]:
        """The direct sub-expressions, in printed order (both sides of every condition included)."""
        return ()

    def __str__(self) -> str:
        from derivations.expression_text import to_text

        return to_text(self)


@dataclass(frozen=True, slots=True)
class Number(Expression):
    """A rational number, exact."""

    value: Fraction

    __str__ = Expression.__str__


@dataclass(frozen=True, slots=True)
class Constant(Expression):
    """A named real constant, `pi` or `e`."""

    name: str

    __str__ = Expression.__str__


@dataclass(frozen=True, slots=True)
class Variable(Expression):
    """The variable z."""

    __str__ = Expression.__str__


@dataclass(frozen=True, slots=True)
class Sum(Expression):
    """t_1 + ... + t_n, n >= 2; a number, if any, comes last."""

    terms: tuple[Expression, ...]

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """The terms."""
        return self.terms


@dataclass(frozen=True, slots=True)
class Product(Expression):
    """f_1 ... f_n, n >= 2; a number, if any, comes first."""

    factors: tuple[Expression, ...]

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """The factors."""
        return self.factors


@dataclass(frozen=True, slots=True)
class Power(Expression):
    """base ** exponent with a positive rational exponent (a `Number`), neither 1 nor 1/2."""

    base: Expression
    exponent: Expression

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """Base and exponent."""
        return (self.base, self.exponent)


@dataclass(frozen=True, slots=True)
class Quotient(Expression):
    """numerator / denominator, both free of a numeric coefficient."""

    numerator: Expression
    denominator: Expression

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """Numerator and denominator."""
        return (self.numerator, self.denominator)


@dataclass(frozen=True, slots=True)
class Call(Expression):
    """A primitive function (one of `FUNCTIONS`) of one argument; Heaviside(0) = 1/2, sign(0) = 0."""

    name: str
    argument: Expression

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """The argument."""
        return (self.argument,)


@dataclass(frozen=True, slots=True)
class Maximum(Expression):
    """The largest of two or more expressions."""

    args: tuple[Expression, ...]

    __str__ = Expression.__str__

    def children(self) -> tuple[Expression, ...]:
        """The arguments."""
        return self.args


@dataclass(frozen=True, slots=True)
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


@dataclass(frozen=True, slots=True)
class Piecewise(Expression):
    """The value of the first piece whose condition holds; the last condition is `Always`."""

    pieces: tuple[tuple[Expression, Condition], ...]

    __str__ = Expression.__str__

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
    yield expr
    for child in expr.children():
        yield from walk(child)


def depends_on_z(expr: Expression) -> bool:
    """Whether z occurs in the tree."""
    return any(isinstance(node, Variable) for node in walk(expr))
