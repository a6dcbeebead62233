"""What a theorem says, and what it is said under.

Terms are SymPy expressions over the reals. Both sides of an equation stay as they are written: nothing is subtracted
before a rule looks at it.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import sympy as sp


@dataclass(frozen=True)
class Equation:
    """``left`` = ``right``."""

    left: sp.Expr
    right: sp.Expr


@dataclass(frozen=True)
class AtLeast:
    """``left`` >= ``right``."""

    left: sp.Expr
    right: sp.Expr


@dataclass(frozen=True)
class Tends:
    """``expression`` -> ``value`` as ``variable`` -> infinity; ``value`` is free of the variable."""

    expression: sp.Expr
    value: sp.Expr
    variable: sp.Symbol


Statement = Equation | AtLeast | Tends


def sides(statement: Statement) -> tuple[sp.Expr, sp.Expr]:
    """The two terms of a statement."""
    if isinstance(statement, Tends):
        return statement.expression, statement.value
    return statement.left, statement.right


def variables(*statements: Statement) -> frozenset[sp.Symbol]:
    """The variables of the limits among statements."""
    return frozenset(statement.variable for statement in statements if isinstance(statement, Tends))


class Ground(StrEnum):
    """The four kinds of assumptions, from the most harmless to the one that carries a verdict of its own."""

    DEFINITION = "definition"
    MODEL = "model"
    LEMMA = "lemma"
    HYPOTHESIS = "hypothesis"


@dataclass(frozen=True)
class Assumption:
    """An assumption: what is taken without proof, why it may be, and which of its symbols stand for any value.

    - a definition is an equation whose left side is a fresh symbol (or a function of ``universal`` symbols), or a
      limit that gives a fresh symbol its value: ``reference`` says what it means;
    - the model says what the setting says;
    - a lemma is a fact of Gaussian calculus or linear algebra: ``reference`` is the source, and a test of its own
      looks at it with numbers;
    - a hypothesis is what the theory takes on trust: ``reference`` is the claim of the ledger that carries it, or the
      sentence in which it is made.
    """

    ground: Ground
    name: str
    statement: Statement
    reference: str
    universal: frozenset[sp.Symbol] = frozenset()

    @property
    def defines(self) -> bool:
        """Whether it gives a symbol its meaning."""
        return self.ground is Ground.DEFINITION

    @property
    def is_lemma(self) -> bool:
        """Whether it is a fact of mathematics."""
        return self.ground is Ground.LEMMA

    @property
    def supposes(self) -> bool:
        """Whether it says something of symbols that have their meaning: the model, or a hypothesis."""
        return self.ground in (Ground.MODEL, Ground.HYPOTHESIS)

    @classmethod
    def definition(cls, name: sp.Expr, statement: Statement, meaning: str, *universal: sp.Symbol) -> Assumption:
        """The assumption that gives ``name`` its meaning, and is called like it."""
        return cls(Ground.DEFINITION, str(name), statement, meaning, frozenset(universal))

    @classmethod
    def lemma(cls, name: str, statement: Statement, reference: str, *universal: sp.Symbol) -> Assumption:
        """The assumption that states a lemma."""
        return cls(Ground.LEMMA, name, statement, reference, frozenset(universal))


class Demand(StrEnum):
    """What a condition asks of its term."""

    NONZERO = "is not zero"
    NONNEGATIVE = "is not negative"
    EXISTS = "exists"
    CONSTANT = "does not depend on"
    APART = "is not defined by way of"
    IS = "is the value of"


@dataclass(frozen=True)
class Condition:
    """Where a theorem holds: what is demanded of ``term``; an average is to exist, and a symbol or a function to be
    constant in the ``variable`` of a limit, or of a derivative: then hypotheses may bind both at the point where it is
    taken. What a name ``variable`` for a limit or a slope was found to be is on record, too.
    """

    term: sp.Expr
    demand: Demand = Demand.NONZERO
    variable: sp.Symbol | None = None

    @property
    def of_variable(self) -> bool:
        """Whether a variable is spoken of, and no value."""
        return self.demand in (Demand.CONSTANT, Demand.APART, Demand.IS)


class Refused(ValueError):
    """A rule does not allow this conclusion; the message says why.

    Terms for the braces of a message are written out when it is read: a search asks for many a conclusion in vain.
    """

    def __str__(self) -> str:
        message, *terms = self.args
        return str(message).format(*terms) if terms else str(message)
