"""Rules of calculus: the logarithm of a product, the derivative of what is defined by way of a variable, limits under
an average, and what has one slope and one value.
"""

from __future__ import annotations

from dataclasses import replace

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.algebra import EXCHANGE, around, at_any_value, for_all
from giantsteps.derivations.kernel.conditions import (
    defined,
    forms,
    meanings_of,
    reached_from,
    resting_on,
    spoken,
    unfolded,
)
from giantsteps.derivations.kernel.limits import DOMINATED
from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.statements import Assumption, Condition, Demand, Equation, Refused, Tends, sides
from giantsteps.derivations.kernel.terms import (
    REAL,
    admit,
    any_value,
    constants,
    defined_where,
    derivative,
    free,
    names,
    negative,
    nonnegative,
    nonzero,
    positive,
    substitute,
)
from giantsteps.derivations.kernel.theorem import Conclusion, Theorem, rule
from giantsteps.derivations.language.expectation import Expectation


@rule
def logarithm(
    premises: tuple[Theorem, ...], whole: sp.Expr, factors: tuple[tuple[sp.Expr, sp.Rational], ...]
) -> Conclusion:
    """log(whole) = sum k log(factor), if whole is the product of factor^k with rational k.

    Sound where every factor is positive; what signs do not decide becomes a condition.
    """
    if not all(isinstance(power, sp.Rational) for _, power in factors):
        raise Refused("the powers of the factors are rational numbers")
    product = sp.Mul(*(factor**power for factor, power in factors))
    conditions = vanishing(whole - product, (whole, product))
    if conditions is None:
        raise Refused(f"{whole} is not the product {product}")
    left, right = sp.log(whole), sp.Add(*(power * sp.log(factor) for factor, power in factors))
    if left == right:
        raise Refused(f"{left} = {right} says nothing")
    signs: set[Condition] = set()
    for factor, _ in factors:
        if negative(factor):
            raise Refused(f"{factor} is negative")
        if not positive(factor):
            signs |= {Condition(factor, Demand.NONNEGATIVE)} | (set() if nonzero(factor) else {Condition(factor)})
    return Conclusion(Equation(left, right), conditions=conditions | signs)


@rule
def slope(premises: tuple[Theorem, ...], x: sp.Symbol, name: sp.Symbol, meaning: str) -> Conclusion:
    """name = d right/dx for quantity = right, where ``name`` is fresh and means the derivative of the quantity, which
    is defined by way of x.

    Sound: definitions can be read at every value of x, so that the theorem holds on an open set of them, if what is
    not a definition speaks neither of x nor of any name that depends on it. Of these names the quantity alone may
    stand in the equation. Lemmas speak of no symbol. That the derivative vanishes is for a hypothesis to say, which
    then speaks of ``name``: no second derivative is taken at a saddle point.
    """
    (theorem,) = premises
    statement = theorem.statement
    if not isinstance(statement, Equation) or not isinstance(statement.left, sp.Symbol):
        raise Refused(f"{statement} does not say what a quantity is")
    meanings = meanings_of(theorem.assumptions)
    moving = resting_on(x, meanings)
    if x in meanings or statement.left not in moving:
        raise Refused(f"{statement.left} is not defined by way of {x}")
    if moving & names(statement.right) or name in names(statement.right) | {statement.left, x}:
        raise Refused(f"{statement.right} speaks of what depends on {x} under a name of its own")
    for assumed in theorem.assumptions:
        if assumed.supposes:
            touched = spoken(assumed) & (moving | {x})
            if touched:
                raise Refused(f"{assumed.name} speaks of {', '.join(map(str, touched))}")
    added = {Assumption.definition(name, Equation(name, sp.Derivative(statement.left, x, evaluate=False)), meaning)}
    if any(x in free(average) for average in statement.right.atoms(Expectation)):
        added.add(EXCHANGE)
    asked = [c for c in theorem.conditions if not c.of_variable and names(c.term) & (moving | {x})]
    held = constants((statement.right,), x, Demand.APART)
    for condition in asked:
        if condition.demand is Demand.EXISTS:
            average = unfolded(condition.term, theorem.assumptions)
            held |= around(Condition(average, Demand.EXISTS), x, *_moved(average, x, moving, theorem.assumptions))
            continue
        *_, whole = forms(condition.term, theorem.assumptions, True)
        whole = unfolded(whole, theorem.assumptions)
        # What has no slope may jump, and hold at one value of x alone: a modulus does not.
        if names(whole) & moving:
            raise Refused(f"{condition.term} may not keep its sign as {x} varies")
        around(Condition(whole, condition.demand), x)
        held |= {Condition(condition.term)}
    found = derivative(statement.right, x)
    held |= {Condition(found, Demand.IS, name)}
    return Conclusion(Equation(name, found), frozenset(added), held)


def _moved(
    term: sp.Expr, x: sp.Symbol, moving: frozenset[sp.Expr], assumptions: frozenset[Assumption]
) -> list[sp.Symbol]:
    """The names in a term that move with x, by definitions that do not jump. Raises Refused where one may."""
    meanings, used = meanings_of(assumptions), names(term) & moving
    reached = used.union(*(reached_from(name, meanings) for name in used)) & moving
    for assumed in assumptions:
        if assumed.defines and defined(assumed)[0] in reached:
            whole = unfolded(sides(assumed.statement)[1], assumptions)
            for symbol in free(whole) & (moving | {x}):
                derivative(whole.replace(sp.Abs, lambda t: t), symbol)
            if not isinstance(assumed.statement, Equation) or names(whole) & moving - free(whole):
                raise Refused(f"{assumed.name} may jump as {x} varies")
    if not used <= free(term):
        raise Refused(f"{term} may not exist for all values of {x} nearby")
    return sorted(free(term) & used, key=str)


@rule
def average_limit(premises: tuple[Theorem, ...], variables: tuple[sp.Symbol, ...]) -> Conclusion:
    """E[e] -> E[v] for e -> v at all values of the variables.

    Sound by dominated convergence (a lemma), if neither an assumption nor a condition speaks of the variables: but that
    they do not change with the variable of the limit, which is so where they are averaged over.
    """
    (theorem,) = premises
    limit = theorem.statement
    if not isinstance(limit, Tends) or limit.variable in variables:
        raise Refused(f"{limit} is no limit in another variable than those averaged over")
    kept = frozenset(c for c in theorem.conditions if not c.of_variable or c.term not in variables)
    kept = for_all(replace(theorem, conditions=kept), set(variables))
    statement = Tends(Expectation(limit.expression, *variables), Expectation(limit.value, *variables), limit.variable)
    return Conclusion(statement, frozenset({DOMINATED}), kept, instead=True)


@rule
def same_slope(
    premises: tuple[Theorem, ...], left: sp.Expr, right: sp.Expr, x: sp.Symbol, start: sp.Expr
) -> Conclusion:
    """left = right, where their derivatives in x are equal for all values of x, and they are equal at ``start``.

    Sound by the mean value theorem: the values of x, by its sign, and ``start`` make an interval on which both sides
    are defined and continuous. No assumption or condition speaks of x, and functions without a formula do not see it.
    A premise may be left out where it would have the same term on both sides.
    """
    rates = Equation(derivative(left, x), derivative(right, x))
    initial = Equation(substitute(left, {x: start}), substitute(right, {x: start}))
    known = [theorem.statement for theorem in premises]
    if any(statement not in (rates, initial) for statement in known):
        raise Refused(f"a premise does not say that {left} and {right} have one slope, or are equal at {start}")
    for equation, what in ((rates, "have one slope"), (initial, f"are equal at {start}")):
        if equation not in known and admit(equation.left) != equation.right:
            raise Refused(f"nothing says that {left} and {right} {what}")
    conditions = defined_where(admit(start)).union(*(for_all(theorem, {x}) for theorem in premises))
    if x in free(start) or not (x.assumptions0 == REAL or (x.is_nonnegative and nonnegative(start))):
        raise Refused(f"{x} has no interval of values from {start} on")
    closed = any_value(sp.Symbol(x.name, nonnegative=True) if x.is_nonnegative else x, 0)
    for side in (left, right):
        inside = substitute(side, {x: closed})
        exist = {c for c in defined_where(inside) | defined_where(derivative(side, x)) if c.demand is Demand.EXISTS}
        conditions |= {at_any_value(c, {x}) for c in exist}
        if any(closed in free(condition.term) for condition in defined_where(inside) - exist):
            raise Refused(f"{side} is not defined for all values of {x}")
        if any(closed in free(call) for call in inside.atoms(AppliedUndef)):
            raise Refused(f"{side} may jump at an end of the values of {x}")
    averaged = any(x in free(average) for side in (left, right) for average in side.atoms(Expectation))
    lemmas = frozenset({EXCHANGE, DOMINATED}) if averaged else frozenset[Assumption]()
    return Conclusion(Equation(left, right), lemmas, conditions, instead=True)
