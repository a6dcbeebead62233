"""Rules of inequalities that the rule `order` lacks: products, the largest of several, two that make an equation, and
symbols that are not negative in place of which stands what was shown not to be.
"""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.kernel.algebra import equation_of, in_place
from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.statements import AtLeast, Equation, Refused, Tends, sides
from giantsteps.derivations.kernel.terms import admit, nonnegative
from giantsteps.derivations.kernel.theorem import Conclusion, Theorem, rule


@rule
def multiply(premises: tuple[Theorem, ...]) -> Conclusion:
    """(a - b) (c - d) >= 0 of a >= b and c >= d.

    Sound: a product of two numbers that are not negative is not negative.
    """
    first, second = map(_inequality, premises)
    return Conclusion(AtLeast((first.left - first.right) * (second.left - second.right), sp.Integer(0)))


@rule
def antisymmetric(premises: tuple[Theorem, ...]) -> Conclusion:
    """a = b of a >= b and b >= a. Sound: the order of the reals is one."""
    first, second = map(_inequality, premises)
    if (first.left, first.right) != (second.right, second.left):
        raise Refused(f"{second.left} >= {second.right} is not the other way round")
    if first.left == first.right:
        raise Refused(f"{first.left} = {first.right} says nothing")
    return Conclusion(Equation(first.left, first.right))


@rule
def largest(premises: tuple[Theorem, ...], terms: tuple[sp.Expr, ...], place: int | None = None) -> Conclusion:
    """max(terms) >= the term at a ``place``; without one, the product of all max(terms) - term is 0.

    Sound: the largest of finitely many real numbers is none below each and equal to one of them.
    """
    if any(admit(term).is_extended_real is False for term in terms):
        raise Refused(f"not all of {terms} are real")
    most = sp.Max(*terms)
    if not terms or most in terms:
        raise Refused(f"the largest of {terms} is {most}: nothing is said")
    if place is None:
        return Conclusion(Equation(sp.Mul(*(most - term for term in terms)), sp.Integer(0)))
    if not isinstance(place, int) or not 0 <= place < len(terms):
        raise Refused(f"{place} is no place among {len(terms)}")
    return Conclusion(AtLeast(most, terms[place]))


@rule
def root_of_zero(premises: tuple[Theorem, ...], base: sp.Expr, power: int) -> Conclusion:
    """base = 0 of an equation that is base^power = 0. Sound: the reals have no divisors of zero."""
    (theorem,) = premises
    equation = theorem.statement
    if not isinstance(equation, Equation) or not isinstance(power, int) or power < 1 or base == 0:
        raise Refused(f"{equation} is no equation of a power")
    difference = equation.left - equation.right
    conditions = vanishing(difference - base**power, (equation.left, equation.right, base))
    if conditions is None:
        raise Refused(f"{equation.left} - {equation.right} is not {base} to the power {power}")
    return Conclusion(Equation(base, sp.Integer(0)), conditions=conditions)


@rule
def equal_roots(premises: tuple[Theorem, ...], goal: Equation, power: int) -> Conclusion:
    """a = b of a^n = b^n, which algebra sees or the premise says, for n >= 1 and two terms that are not negative.

    Sound: powers grow on the numbers that are not negative.
    """
    if not isinstance(power, int) or power < 1 or goal.left == goal.right:
        raise Refused(f"{goal.left} = {goal.right} says nothing, or {power} is no power")
    for side in sides(goal):
        if not nonnegative(side):
            raise Refused(f"{side} may be negative")
    said: sp.Expr = sp.Integer(0)
    written = [*sides(goal)]
    if premises:
        (equation,) = map(equation_of, premises)
        said = equation.left - equation.right
        written += sides(equation)
    conditions = vanishing(goal.left**power - goal.right**power - said, tuple(written))
    if conditions is None:
        raise Refused(f"the powers of {goal.left} and {goal.right} are not equal")
    return Conclusion(goal, conditions=conditions)


@rule
def specialise(premises: tuple[Theorem, ...], symbol: sp.Symbol) -> Conclusion:
    """A theorem with a term for a ``symbol`` that is declared not to be negative, of term >= 0.

    Sound: the theorem holds for all values of the symbol that are not negative, since its assumptions do not speak of
    it; those of term >= 0 join them.
    """
    theorem, sign = premises
    value = _inequality(sign)
    if value.right != 0:
        raise Refused(f"{value.left} >= {value.right} does not say that {value.left} is not negative")
    if not isinstance(symbol, sp.Symbol) or not symbol.is_nonnegative or symbol.is_positive:
        raise Refused(f"{symbol} is no symbol that may take every value that is not negative")
    if symbol in theorem.fixed:
        raise Refused(f"the assumptions speak of {symbol}")
    if isinstance(theorem.statement, Tends):
        raise Refused("what tends to something is not specialised")
    statement, conditions = in_place(theorem, {symbol: value.left})
    return Conclusion(statement, conditions=conditions | sign.conditions, instead=True)


def _inequality(theorem: Theorem) -> AtLeast:
    if not isinstance(theorem.statement, AtLeast):
        raise Refused(f"{theorem.statement} is no inequality")
    return theorem.statement
