"""Assumptions of the tests' own, for the rules to work on."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.kernel.algebra import assume
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground, Statement
from giantsteps.derivations.kernel.theorem import Theorem


def said(statement: Statement, *universal: sp.Symbol, ground: Ground = Ground.HYPOTHESIS) -> Theorem:
    """A statement, assumed."""
    return assume((), Assumption(ground, str(statement), statement, "for a test", frozenset(universal)))


def taken(left: sp.Expr, right: sp.Expr, *universal: sp.Symbol, ground: Ground = Ground.HYPOTHESIS) -> Theorem:
    """left = right, assumed."""
    return said(Equation(left, right), *universal, ground=ground)


def above(left: sp.Expr, right: sp.Expr, *universal: sp.Symbol, ground: Ground = Ground.HYPOTHESIS) -> Theorem:
    """left >= right, assumed."""
    return said(AtLeast(left, right), *universal, ground=ground)
