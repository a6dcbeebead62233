"""Rules of equality and order: assuming, algebra of fractions, substitution, rewriting, derivatives, squares."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import count

import sympy as sp

from giantsteps.derivations.kernel.conditions import defined, fixed
from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.statements import (
    Assumption,
    AtLeast,
    Condition,
    Demand,
    Equation,
    Refused,
    Statement,
    Tends,
    sides,
)
from giantsteps.derivations.kernel.terms import (
    any_value,
    averages,
    bound,
    constants,
    defined_where,
    derivative,
    free,
    letters,
    nearby,
    negative,
    nonnegative,
    nonzero,
    shares_sign,
    substitute,
)
from giantsteps.derivations.kernel.theorem import Conclusion, Theorem, rule
from giantsteps.derivations.language.expectation import Expectation

_x, _y = sp.symbols("x y", real=True)
_f = sp.Function("f", real=True)(_x, _y)
EXCHANGE = Assumption.lemma(
    "derivative under an average",
    Equation(sp.Derivative(Expectation(_f, _x), _y), Expectation(sp.Derivative(_f, _y), _x)),
    "dominated convergence, for a derivative of at most exponential growth in the variable averaged over",
)


@rule
def assume(premises: tuple[Theorem, ...], assumed: Assumption) -> Conclusion:
    """Any statement follows from itself. Sound, since it stays among the assumptions for all to see.

    A definition has to give a meaning to a fresh name, which has to have the sign that the name is declared to have; a
    limit has a value only where it exists, so that `name_limit` alone defines by a limit. A limit that is said for any
    value of a symbol holds it constant.
    """
    conditions: frozenset[Condition] = frozenset()
    if not all(isinstance(symbol, sp.Symbol) for symbol in assumed.universal):
        raise Refused(f"{assumed.name}: no symbols stand for any value in {assumed.universal}")
    if isinstance(assumed.statement, Tends):
        if assumed.statement.variable in free(assumed.statement.value):
            raise Refused(f"the limit {assumed.statement.value} depends on {assumed.statement.variable}")
        every = frozenset().union(*map(free, sides(assumed.statement))) if assumed.is_lemma else assumed.universal
        conditions = constants(tuple(every), assumed.statement.variable)
    if assumed.defines:
        if isinstance(assumed.statement, Tends):
            raise Refused(f"{assumed.name}: a limit is named by the rule name_limit, which sees that it exists")
        defined(assumed)
        conditions = signed(*sides(assumed.statement))
    return Conclusion(assumed.statement, frozenset({assumed}), conditions)


@rule
def ring(premises: tuple[Theorem, ...], goal: Equation, cofactors: tuple[sp.Expr, ...] = ()) -> Conclusion:
    """goal.left = goal.right if left - right = sum cofactor * (left - right of a premise), as fractions of atoms.

    Sound: each premise makes its term of the sum zero wherever nothing is divided by zero, and an identity of fractions
    holds wherever no denominator vanishes. Denominators of the cofactors make no conditions (see `vanishing`). A goal
    with both sides the same says nothing, and is refused.
    """
    if goal.left == goal.right:
        raise Refused(f"{goal.left} = {goal.right} says nothing")
    equations = [equation_of(premise) for premise in premises]
    if len(equations) != len(cofactors):
        raise Refused(f"{len(cofactors)} cofactors for {len(equations)} premises")
    used = [c * e.left - c * e.right for c, e in zip(cofactors, equations, strict=True)]
    written = (goal.left, goal.right, *(side for e in equations for side in sides(e)))
    conditions = vanishing(goal.left - goal.right - sp.Add(*used), written, tuple(cofactors))
    if conditions is None:
        raise Refused("{} = {} does not follow by algebra" + ", from: {} = {}" * (len(equations) == 1), *written)
    return Conclusion(goal, conditions=conditions)


@rule
def instantiate(premises: tuple[Theorem, ...], values: Mapping[sp.Symbol, sp.Expr]) -> Conclusion:
    """A theorem with terms for symbols of which its assumptions do not speak.

    Sound: nothing was assumed of such a symbol but that it is real and its declared sign, which the term has to share
    (roots in it make conditions), and the conditions, which are carried over. What was held constant may become what is
    constant.
    """
    (theorem,) = premises
    for symbol, value in values.items():
        if not isinstance(symbol, sp.Symbol):
            raise Refused(f"{symbol} is no symbol")
        if symbol in theorem.fixed:
            raise Refused(f"the assumptions speak of {symbol}")
        if not shares_sign(value, symbol):
            raise Refused(f"{value} does not share the sign of {symbol}")
    statement = theorem.statement
    if isinstance(statement, Tends):
        touched = {statement.variable} & (values.keys() | frozenset().union(*map(free, values.values())))
        if touched:
            raise Refused(f"{statement.variable} is the variable of the limit")
    statement, conditions = in_place(theorem, values)
    return Conclusion(statement, conditions=conditions, instead=True)


@rule
def rewrite(premises: tuple[Theorem, ...], backwards: bool = False) -> Conclusion:
    """The first premise with the left side of the second, an equation, replaced by its right one wherever it stands.

    Sound: equals may be put for equals in any term; under an average only where the equation holds for all values of
    the variables averaged over, so that no assumption or condition of it speaks of them. In a limit the equation holds
    at each value of the variable: what the limit took for constant stays on record.
    """
    theorem, by = premises
    equation = equation_of(by)
    old, new = (equation.right, equation.left) if backwards else (equation.left, equation.right)
    captured: set[sp.Symbol] = set()

    def replaced(term: sp.Expr) -> sp.Expr:
        result, caught = replace(term, old, new)
        captured.update(caught)
        return result

    statement = _mapped(theorem.statement, replaced)
    if statement == theorem.statement:
        raise Refused(f"{old} does not stand in {theorem.statement}")
    return Conclusion(statement, conditions=theorem.conditions | for_all(by, captured), instead=True)


@rule
def congruence(premises: tuple[Theorem, ...], context: sp.Expr, hole: sp.Symbol) -> Conclusion:
    """context(left) = context(right) of an equation, where ``hole`` marks the place, outside of averages.

    Sound: a term has one value for equal values of its parts. Both contexts need their denominators not to vanish,
    which no sign of the place may hide.
    """
    (by,) = premises
    equation = equation_of(by)
    place = sp.Dummy("place", real=True)
    context, hole = substitute(context, {hole: place}), place
    if any(hole in free(average) for average in averages(context)):
        raise Refused("the place is under an average: use the rule average")
    left, right = (substitute(context, {hole: side}) for side in sides(equation))
    if left == right:
        raise Refused(f"{context} does not tell {equation.left} from {equation.right}")
    inside = defined_where(context)
    conditions = inside.union(*(substituted(c, {hole: side}) for c in inside for side in sides(equation)))
    return Conclusion(Equation(left, right), conditions=frozenset(c for c in conditions if hole not in free(c.term)))


@rule
def differentiate(premises: tuple[Theorem, ...], x: sp.Symbol) -> Conclusion:
    """The derivatives of both sides of an equation in a symbol of which no assumption speaks.

    Sound: the equation holds on an open set of values of that symbol. Under an average this is a lemma.
    """
    (theorem,) = premises
    equation = equation_of(theorem)
    if x in theorem.fixed:
        raise Refused(f"the assumptions speak of {x}")
    result = Equation(derivative(equation.left, x), derivative(equation.right, x))
    exchanged = any(x in free(average) for side in sides(equation) for average in averages(side))
    return Conclusion(result, frozenset({EXCHANGE}) if exchanged else frozenset(), inside(theorem.conditions, x))


def inside(conditions: frozenset[Condition], x: sp.Symbol) -> frozenset[Condition]:
    """What makes conditions hold on an open set of values of x: what is not negative is not zero, either, and averages
    exist for values nearby.

    Raises Refused where a term, moduli aside, has no derivative, and so may jump: a modulus does not.
    """
    found: frozenset[Condition] = frozenset()
    for condition in conditions:
        if not condition.of_variable and x in free(condition.term):
            found |= around(condition, x)
    return found


def around(condition: Condition, x: sp.Symbol, *moving: sp.Symbol) -> frozenset[Condition]:
    """What makes a condition hold on an open set of values of x, see `inside`, with what moves along with x."""
    if condition.demand is Demand.EXISTS:
        used = free(condition.term)
        near = ({v: nearby(v, k) for v in (x, *moving)} for k in count())
        values = next(terms for terms in near if not used & free(sp.Add(*terms.values())) - {x, *moving})
        return frozenset({Condition(substitute(condition.term, values), Demand.EXISTS)})
    derivative(condition.term.replace(sp.Abs, lambda t: t), x)
    return frozenset({Condition(condition.term)})


@rule
def order(
    premises: tuple[Theorem, ...],
    goal: AtLeast,
    multipliers: tuple[sp.Expr, ...] = (),
    squares: tuple[tuple[sp.Expr, sp.Expr], ...] = (),
) -> Conclusion:
    """goal.left >= goal.right if the difference is a sum of multiplier * (difference of a premise) and of
    weight * base^2, with multipliers of inequalities and weights that are decidedly not negative.

    Sound: no term of the sum is negative, where its bases are real. Transitivity, sums of inequalities and sums of
    squares are cases of it.
    """
    if len(premises) != len(multipliers):
        raise Refused(f"{len(multipliers)} multipliers for {len(premises)} premises")
    total: sp.Expr = sp.Integer(0)
    written = [*sides(goal)]
    for premise, multiplier in zip(premises, multipliers, strict=True):
        statement = premise.statement
        if isinstance(statement, Tends):
            raise Refused("a limit is no inequality")
        if isinstance(statement, AtLeast) and not nonnegative(multiplier):
            raise Refused(f"the multiplier {multiplier} may be negative")
        total += multiplier * (statement.left - statement.right)
        written += sides(statement)
    for weight, base in squares:
        if not nonnegative(weight):
            raise Refused(f"the weight {weight} may be negative")
        total += weight * base**2
    helpers = (*multipliers, *(term for square in squares for term in square))
    given, asked = (frozenset().union(*map(defined_where, terms)) for terms in (written, helpers))
    if any(c.demand is Demand.NONNEGATIVE for c in asked - given):
        raise Refused("a multiplier or a base is real only where nothing else has to be")
    conditions = vanishing(goal.left - goal.right - total, tuple(written), helpers)
    if conditions is None:
        raise Refused(f"{goal.left} - {goal.right} is not that sum")
    return Conclusion(goal, conditions=conditions | asked)


def in_place(theorem: Theorem, values: Mapping[sp.Symbol, sp.Expr]) -> tuple[Statement, frozenset[Condition]]:
    """A theorem's statement and conditions with terms for symbols, and where these terms are defined."""
    demanded = frozenset().union(*map(defined_where, values.values()))
    conditions = demanded.union(*(substituted(condition, values) for condition in theorem.conditions))
    return _mapped(theorem.statement, lambda term: substitute(term, values)), conditions


def equation_of(theorem: Theorem) -> Equation:
    """What a theorem says. Raises Refused where that is no equation."""
    if not isinstance(theorem.statement, Equation):
        raise Refused(f"{theorem.statement} is no equation")
    return theorem.statement


def _mapped(statement: Statement, change: Callable[[sp.Expr], sp.Expr]) -> Statement:
    first, second = map(change, sides(statement))
    if isinstance(statement, Tends):
        if statement.variable in free(second):
            raise Refused(f"the limit {second} depends on {statement.variable}")
        return Tends(first, second, statement.variable)
    return type(statement)(first, second)


def for_all(by: Theorem, variables: set[sp.Symbol]) -> frozenset[Condition]:
    """The conditions of a theorem for all values of some variables: that an average exists is asked for each of them.

    Raises Refused where an assumption or another condition speaks of one.
    """
    found = frozenset(at_any_value(c, variables) if c.demand is Demand.EXISTS else c for c in by.conditions)
    spoken = fixed(by.assumptions).union(*(free(c.term) for c in found if isinstance(c.term, sp.Expr)))
    if spoken & variables:
        raise Refused(f"{', '.join(map(str, spoken & variables))} is averaged over, and the equation speaks of it")
    return found


def at_any_value(condition: Condition, variables: set[sp.Symbol]) -> Condition:
    """A condition with symbols that stand for any value, and that nothing is put in for, in place of variables."""
    term = condition.term
    for variable in sorted(variables & free(term), key=str):
        names = (any_value(variable, k) for k in count())
        term = substitute(term, {variable: next(name for name in names if name not in free(term))})
    return Condition(term, condition.demand)


def substituted(condition: Condition, values: Mapping[sp.Symbol, sp.Expr]) -> frozenset[Condition]:
    """The conditions that come of one when symbols take values."""
    if condition.demand is Demand.IS:
        return frozenset({Condition(substitute(condition.term, values), Demand.IS, condition.variable)})
    if condition.of_variable:
        if condition.term not in values:
            return frozenset({condition})
        if condition.variable in free(values[condition.term]) or condition.term == condition.variable:
            raise Refused(f"{condition.term} is held constant in {condition.variable}")
        return constants((values[condition.term],), condition.variable, condition.demand)
    term = substitute(condition.term, values)
    if condition.demand is Demand.EXISTS:
        return frozenset({Condition(term, Demand.EXISTS)} if averages(term) else ())
    decided = nonzero if condition.demand is Demand.NONZERO else nonnegative
    return frozenset() if decided(term) else frozenset({Condition(term, condition.demand)})


def signed(name: sp.Expr, meaning: sp.Expr) -> frozenset[Condition]:
    """What has to be of a term whose name is declared to have a sign, as far as its own shape does not decide it."""
    found: set[Condition] = set()
    if name.is_nonnegative and not nonnegative(meaning):
        found.add(Condition(meaning, Demand.NONNEGATIVE))
    if name.is_negative and not negative(meaning):
        found.add(Condition(-meaning, Demand.NONNEGATIVE))
    if name.is_nonzero and not nonzero(meaning):
        found.add(Condition(meaning))
    return frozenset(found)


def replace(term: sp.Expr, old: sp.Expr, new: sp.Expr) -> tuple[sp.Expr, frozenset[sp.Symbol]]:
    """``term`` with the subterm ``old`` replaced wherever it stands, and the variables that were bound around it there
    and are free in ``old`` or ``new``.
    """
    if not _may_hold(term, old):
        return term, frozenset()
    if term == old:
        return new, frozenset()
    results = [replace(part, old, new) for part in term.args]
    parts = tuple(part for part, _ in results)
    if all(part is before for part, before in zip(parts, term.args, strict=True)):
        return term, frozenset()
    caught = frozenset().union(*(captured for _, captured in results))
    if isinstance(term, Expectation):
        if parts[1:] != term.args[1:]:
            raise Refused(f"{old} is a variable that {term} binds")
        caught |= bound(term) & (free(old) | free(new))
    return term.func(*parts), caught


def _may_hold(term: sp.Expr, part: sp.Expr) -> bool:
    """False only where ``part`` stands nowhere in a term: most terms of a sum need no other look."""
    return part in averages(term) if isinstance(part, Expectation) else letters(part) <= letters(term)
