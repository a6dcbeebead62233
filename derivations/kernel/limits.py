"""Rules of limits at infinity: of terms, and of what is held between them. What a limit holds constant stays on record
among the conditions of its theorem, so that nothing which is defined by way of the variable can be put in its place.
"""

from __future__ import annotations

from collections.abc import Mapping

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.algebra import signed
from giantsteps.derivations.kernel.rational import degrees, vanishing
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Condition, Demand, Equation, Refused, Tends
from giantsteps.derivations.kernel.terms import (
    constants,
    defined_where,
    derivative,
    free,
    nonnegative,
    nonzero,
    positive,
    substitute,
)
from giantsteps.derivations.kernel.theorem import Conclusion, Theorem, rule
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES

_CONTINUOUS = (sp.exp, sp.Abs, sp.tanh, sp.erf, sp.sin, sp.cos)

_x, _d = sp.symbols("x d", real=True)
_f, _slope = (sp.Function(name) for name in ("f", "f'"))
DOMINATED = Assumption.lemma(
    "dominated convergence",
    Tends(Expectation(_f(_x, 1 / _d), _x), Expectation(_f(_x, 0), _x), _d),
    "a Gaussian average of functions that converge almost everywhere and grow at most exponentially, uniformly, "
    "converges to the average of the limit",
)

TAYLOR = Assumption.lemma(
    "Taylor's formula",
    Tends(_d * (_f(_x / _d) - _f(sp.Integer(0))), _x * _slope(sp.Integer(0)), _d),
    "the remainder of Taylor's formula in Peano's form, for functions with as many derivatives at zero",
)


@rule
def limit_rational(
    premises: tuple[Theorem, ...], expression: sp.Expr, value: sp.Expr, variable: sp.Symbol
) -> Conclusion:
    """expression -> value, if their difference is a fraction of smaller degree above than below.

    Sound: such a fraction of polynomials in the variable vanishes at infinity where the leading coefficient below is
    not zero. All else in it is held constant.
    """
    held = constants((expression, value), variable)
    if variable not in free(expression) or variable in free(value):
        raise Refused(f"{expression} does not vary with {variable}, or {value} does")
    found = degrees(expression - value, variable)
    if found.over >= found.under:
        raise Refused(f"{expression} - {value} has degree {found.over} over {found.under} in {variable}")
    leading = () if nonzero(found.leading) else (Condition(found.leading),)
    sides = vanishing(sp.Integer(0), (expression, value)) or frozenset()
    return Conclusion(Tends(expression, value, variable), conditions=held | sides | frozenset(leading))


@rule
def limit_exponential(premises: tuple[Theorem, ...], rate: sp.Expr, variable: sp.Symbol) -> Conclusion:
    """exp(-rate * variable) -> 0, for a rate that is decidedly positive and does not vary."""
    if not positive(rate) or variable in free(rate):
        raise Refused(f"{rate} may not be positive, or varies with {variable}")
    return Conclusion(Tends(sp.exp(-rate * variable), sp.Integer(0), variable), conditions=constants((rate,), variable))


@rule
def limit_compose(premises: tuple[Theorem, ...], context: sp.Expr, holes: tuple[sp.Symbol, ...]) -> Conclusion:
    """context(e) -> context(v) for e -> v, one hole for each premise, if the context is continuous at v.

    Sound: sums, products and powers are continuous; a quotient where its denominator does not vanish, a root where its
    base is positive, or never negative, a logarithm where its argument is positive.
    """
    at, along, variable = _limits(premises, holes)
    conditions = _held(context, holes, variable) | _continuous(context, at, along)
    return Conclusion(Tends(substitute(context, along), substitute(context, at), variable), conditions=conditions)


@rule
def limit_average(premises: tuple[Theorem, ...], context: sp.Expr, holes: tuple[sp.Symbol, ...]) -> Conclusion:
    """E[f(z, e)] -> E[f(z, v)] for e -> v, one hole for each premise.

    Sound by dominated convergence (a lemma), for integrands that are continuous in the holes but at points of measure
    zero. No limit may speak of a variable averaged over.
    """
    at, along, variable = _limits(premises, holes)
    if not isinstance(context, Expectation):
        raise Refused(f"{context} is no average")
    if frozenset().union(*map(free, (*at.values(), *along.values()))) & set(context.variables):
        raise Refused("a limit speaks of a variable averaged over")
    moving = set(context.variables)
    for power in context.integrand.atoms(sp.Pow):
        inside = substitute(power.base, at)
        near = substitute(power.base, along)
        plain = power.exp.is_Integer and power.exp > 0
        if (
            free(power) & at.keys()
            and not plain
            and not (positive(inside) and (positive(near) or not moving & free(near)))
        ):
            raise Refused(f"{power} may not be continuous where {power.base} is {inside}")
    for call in context.integrand.atoms(sp.Function):
        if free(call) & at.keys() and not (isinstance(call, AppliedUndef) or call.func in _CONTINUOUS):
            raise Refused(f"{call.func} may not be continuous")
        if free(call) & at.keys() and isinstance(call, AppliedUndef):
            (argument,) = call.args if len(call.args) == 1 else (sp.Integer(0),)
            if not _spread(substitute(argument, at), moving):
                raise Refused(f"{call.func} may jump where {argument} goes to")
    held = _held(context, holes, variable)
    statement = Tends(substitute(context, along), substitute(context, at), variable)
    return Conclusion(statement, frozenset({DOMINATED}), held)


def _spread(term: sp.Expr, variables: set[sp.Symbol]) -> bool:
    """Whether a term takes no value with positive probability: it is linear in a variable with a slope not zero."""
    slopes = [derivative(term, v) for v in variables & free(term) if isinstance(term, sp.Add | sp.Mul | sp.Symbol)]
    return any(not free(slope) & variables and nonzero(slope) for slope in slopes)


@rule
def limit_order(premises: tuple[Theorem, ...], variable: sp.Symbol) -> Conclusion:
    """v >= w from f >= g with f -> v and g -> w; a side that is no limit's expression is held constant.

    Sound: were v < w, then f < g far enough out.
    """
    inequality, *limits = premises
    statement = inequality.statement
    if not isinstance(statement, AtLeast) or not limits:
        raise Refused("an inequality and a limit are needed")
    known = _values(tuple(limits), variable)
    if not known.keys() <= {statement.left, statement.right}:
        raise Refused("a limit is of neither side")
    held = tuple(side for side in (statement.left, statement.right) if side not in known)
    if any(variable in free(side) for side in held):
        raise Refused(f"{variable} is the variable of the limit, and stands in {held}")
    left, right = (known.get(side, side) for side in (statement.left, statement.right))
    return Conclusion(AtLeast(left, right), conditions=constants(held, variable))


@rule
def squeeze(premises: tuple[Theorem, ...]) -> Conclusion:
    """f -> v from u >= f, f >= l, u -> v and l -> v; a bound that is v itself needs no limit.

    Sound: for every neighbourhood of v, u and l are in it far enough out, and f is between them.
    """
    above, below, *limits = premises
    if not (isinstance(above.statement, AtLeast) and isinstance(below.statement, AtLeast) and limits):
        raise Refused("two inequalities and a limit are needed")
    f, upper, lower = above.statement.right, above.statement.left, below.statement.right
    if below.statement.left != f:
        raise Refused(f"{below.statement.left} and {f} are not one term")
    first = limits[0].statement
    if not isinstance(first, Tends):
        raise Refused(f"{first} is no limit")
    known = _values(tuple(limits), first.variable)
    if {known.get(upper, upper), known.get(lower, lower)} != {first.value} or not known.keys() <= {upper, lower}:
        raise Refused(f"{upper} and {lower} do not both tend to {first.value}")
    return Conclusion(Tends(f, first.value, first.variable), conditions=constants((first.value,), first.variable))


@rule
def taylor(
    premises: tuple[Theorem, ...], curve: sp.FunctionClass, order: int, increment: sp.Expr, variable: sp.Symbol
) -> Conclusion:
    """d^n (F(t/d) - sum of F^(k)(0) (t/d)^k/k! over k < n) -> F^(n)(0) t^n/n!, for a function F with named slopes.

    Sound where F has n derivatives at zero (Peano's remainder), as its named slopes say; t and F are held constant.
    """
    slopes = [curve]
    while len(slopes) <= order and slopes[-1] in DERIVATIVES:
        slopes.append(DERIVATIVES[slopes[-1]])
    if not isinstance(order, int) or order < 1 or len(slopes) <= order:
        raise Refused(f"{curve} has no {order} slopes with a name")
    if variable in free(increment):
        raise Refused(f"{increment} varies with {variable}")
    origin, step = sp.Integer(0), increment / variable
    terms = [slope(origin) * step**k / sp.factorial(k) for k, slope in enumerate(slopes[:order])]
    held = constants((increment, *(slope(origin) for slope in slopes)), variable)
    statement = Tends(
        variable**order * (curve(step) - sp.Add(*terms)),
        slopes[order](origin) * increment**order / sp.factorial(order),
        variable,
    )
    return Conclusion(statement, frozenset({TAYLOR}), held)


@rule
def limit_unique(premises: tuple[Theorem, ...]) -> Conclusion:
    """Two limits of one term are equal."""
    first, second = (premise.statement for premise in premises)
    if not (isinstance(first, Tends) and isinstance(second, Tends) and first.variable == second.variable):
        raise Refused("two limits in one variable are needed")
    conditions = vanishing(first.expression - second.expression, (first.expression, second.expression))
    if conditions is None:
        raise Refused(f"{first.expression} and {second.expression} are not the same term")
    if first.value == second.value:
        raise Refused(f"{first.value} = {second.value} says nothing")
    return Conclusion(Equation(first.value, second.value), conditions=conditions)


@rule
def name_limit(premises: tuple[Theorem, ...], name: sp.Symbol, meaning: str) -> Conclusion:
    """A fresh name for a limit that exists, and its value; that this is not negative may be shown beside it.

    Sound: what is shown not to be negative need not be asked not to be.
    """
    theorem, *signs = premises
    limit = theorem.statement
    if not isinstance(limit, Tends):
        raise Refused(f"{limit} is no limit")
    if name in free(limit.expression) | free(limit.value) | {limit.variable}:
        raise Refused(f"{name} is not fresh")
    assumed = Assumption.definition(name, Tends(limit.expression, name, limit.variable), meaning)
    shown = {Condition(limit.value, Demand.NONNEGATIVE)} if signs else set[Condition]()
    if any(sign.statement != AtLeast(limit.value, sp.Integer(0)) for sign in signs):
        raise Refused(f"{limit.value} >= 0 is not what is shown beside the limit")
    found = Condition(limit.value, Demand.IS, name)
    return Conclusion(Equation(name, limit.value), frozenset({assumed}), (signed(name, limit.value) - shown) | {found})


def _held(context: sp.Expr, holes: tuple[sp.Symbol, ...], variable: sp.Symbol) -> frozenset[Condition]:
    """What a context holds constant, all in it but its holes, and where it is defined apart from these."""
    if variable in free(context):
        raise Refused(f"{variable} is the variable of the limit, and stands in {context}")
    inside = context.integrand if isinstance(context, Expectation) else context
    conditions = defined_where(inside) | frozenset(c for c in constants((context,), variable) if c.term not in holes)
    return frozenset(c for c in conditions if c.of_variable or not free(c.term) & set(holes))


def _limits(
    premises: tuple[Theorem, ...], holes: tuple[sp.Symbol, ...]
) -> tuple[dict[sp.Symbol, sp.Expr], dict[sp.Symbol, sp.Expr], sp.Symbol]:
    """What stands in each hole in the limit and on the way there, and the variable."""
    limits = [premise.statement for premise in premises if isinstance(premise.statement, Tends)]
    if len({limit.variable for limit in limits}) != 1 or not len(premises) == len(limits) == len(set(holes)):
        raise Refused("limits in one variable are needed, one for each hole")
    paired = list(zip(holes, limits, strict=True))
    return {hole: t.value for hole, t in paired}, {hole: t.expression for hole, t in paired}, limits[0].variable


def _continuous(
    context: sp.Expr, at: Mapping[sp.Symbol, sp.Expr], along: Mapping[sp.Symbol, sp.Expr]
) -> frozenset[Condition]:
    """What has to be for a context to be continuous at values of its holes. Raises Refused where nothing is known."""
    if not free(context) & at.keys() or isinstance(context, sp.Symbol):
        return frozenset()
    if isinstance(context, sp.Add | sp.Mul) or context.func is sp.exp:
        return frozenset().union(*(_continuous(part, at, along) for part in context.args))
    if context.func is sp.log:
        if not positive(substitute(context.args[0], at)):
            raise Refused(f"{context} may not be continuous where its argument is {substitute(context.args[0], at)}")
        return _continuous(context.args[0], at, along)
    if not (isinstance(context, sp.Pow) and context.exp.is_Rational):
        raise Refused(f"nothing is known of the continuity of {context}")
    value, nearby = substitute(context.base, at), substitute(context.base, along)
    below = _continuous(context.base, at, along)
    if context.exp.is_Integer:
        if context.exp > 0 or nonzero(value):
            return below
        if vanishing(value, (value,)) is not None:
            raise Refused(f"a denominator tends to {value}, which is zero")
        return below | {Condition(value, Demand.NONZERO)}
    if positive(value) or (context.exp > 0 and nonnegative(nearby)):
        return below
    raise Refused(f"the base {value} of a root may be zero or negative")


def _values(limits: tuple[Theorem, ...], variable: sp.Symbol) -> dict[sp.Expr, sp.Expr]:
    """What each expression tends to."""
    found: dict[sp.Expr, sp.Expr] = {}
    for limit in limits:
        if not isinstance(limit.statement, Tends) or limit.statement.variable != variable:
            raise Refused(f"{limit.statement} is no limit in {variable}")
        found[limit.statement.expression] = limit.statement.value
    return found
