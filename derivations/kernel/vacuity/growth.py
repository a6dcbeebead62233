"""Where averages exist: an integrand that is defined for all values of its variables, and grows slowly enough."""

from __future__ import annotations

from functools import lru_cache
from itertools import count, product

import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.statements import Condition, Demand, Refused
from giantsteps.derivations.kernel.terms import (
    ANY,
    any_value,
    averages,
    bound,
    defined_where,
    free,
    letters,
    negative,
    nonnegative,
    positive,
    substitute,
)
from giantsteps.derivations.language.expectation import Expectation

# At most pi/2 in size: with it a variable in an exponent is no more than linear, as in exp(z erf(z)).
BOUNDED = (sp.erf, sp.tanh, sp.sin, sp.cos, sp.atan)
_NONE = frozenset({sp.Integer(0)})
# Beside a higher power of z, as much of z^2: a number is to be zero or less, or as good as that.
_STEEP = 10**6


@lru_cache(maxsize=131072)
def averages_exist_where(term: sp.Expr) -> frozenset[Condition]:
    """Where the averages in a term exist, as far as signs do not decide it. Raises Refused where they may not."""
    found = frozenset().union(*map(averages_exist_where, term.args))
    if not isinstance(term, Expectation):
        return found
    if any(moves_in(condition.term, bound(term)) for condition in found):
        raise Refused(f"{term} averages over what may not exist")
    return frozenset().union(*(for_some_functions(c, bound(term)) for c in found)) | _exists_where(term)


def for_some_functions(condition: Condition, among: frozenset[sp.Symbol]) -> frozenset[Condition]:
    """What a condition that speaks of all values of symbols, by functions of theirs that are not known, asks of these
    functions: that they are such, for any value; and what they are at best leaves of it.
    """
    if not free(condition.term) & among:
        return frozenset({condition})
    anew = {name: _for_any(name, condition.term) for name in free(condition.term) & among - ANY}
    functions = Condition(substitute(condition.term, anew), condition.demand)
    whole = sp.Add.make_args(_multiplied_out(condition.term))
    parts = [sp.Mul(*(_least(factor, among) for factor in sp.Mul.make_args(part))) for part in whole]
    no_help = all(nonnegative(-part) for part in parts if free(part) & among)
    rest = sp.Add(*(part for part in parts if not free(part) & among))
    if condition.demand is Demand.NONZERO or not no_help or positive(rest):
        return frozenset({functions})
    return frozenset({functions, Condition(rest), Condition(rest, Demand.NONNEGATIVE)})


def _for_any(variable: sp.Symbol, term: sp.Expr) -> sp.Symbol:
    """A symbol for any value of a variable, that stands nowhere in a term."""
    return next(name for k in count() if (name := any_value(variable, k)) not in free(term))


def _exists_where(term: Expectation) -> frozenset[Condition]:
    """An average is of what is defined for all values of its variables and grows exponentially at most: beyond that the
    integral may not exist.
    """
    variables = bound(term).union(*map(bound, averages(term.integrand)))
    # Of a function that is not known a lemma or hypothesis says where it is positive.
    where = (c for c in defined_where(term.integrand) if c.demand is not Demand.EXISTS)
    spoken = [c.term for c in where if free(c.term) & bound(term)]
    if any(moves_in(part, variables) for part in spoken):
        raise Refused(f"{term} averages over what is not defined")
    if any(power.exp.free_symbols & variables for power in term.integrand.atoms(sp.Pow)):
        raise Refused(f"{term} averages over an exponent")
    conditions = _integrable_where(term)
    asked = frozenset[Condition]().union(*(for_some_functions(condition, variables) for condition in conditions))
    alone = any(moves_in(condition.term, variables) for condition in conditions)
    if alone or any(negative(condition.term) or condition.term == 0 for condition in asked):
        raise Refused(f"{term} may not exist: it grows too fast")
    return asked


@lru_cache(maxsize=16384)
def _integrable_where(average: Expectation) -> frozenset[Condition]:
    """Where an integrand grows by less than exp(z^2/2) in each variable z, as far as signs do not decide it."""
    outer, found = bound(average), set[Condition]()
    integrand = apart(average.integrand, outer | free(average), letters(average))
    everywhere = outer.union(*map(bound, averages(integrand)))
    for variable in everywhere:
        for rate in _rates(integrand, variable, everywhere, variable in outer):
            left = _multiplied_out(sp.Rational(1, 2) - rate)
            if not positive(left):
                found |= {Condition(left), Condition(left, Demand.NONNEGATIVE)}
    return frozenset(found)


def masked(term: sp.Expr, variables: frozenset[sp.Symbol]) -> sp.Expr:
    """A term with names for what functions that are not known make of ``variables``."""
    return term.xreplace({call: sp.Dummy("call", real=True) for call in _calls(term, variables)})


def moves_in(term: sp.Expr, variables: frozenset[sp.Symbol]) -> bool:
    """Whether a term speaks of variables but in arguments of functions that are not known."""
    return bool(free(term) & variables) and bool(free(masked(term, variables)) & variables)


def _calls(term: sp.Expr, variables: frozenset[sp.Symbol]) -> set[sp.Expr]:
    """The functions that are not known of ``variables`` in a term."""
    return {call for call in term.atoms(AppliedUndef) if call.free_symbols & variables}


def outside_averages(term: sp.Expr) -> sp.Expr:
    """A term with one in place of each of its averages."""
    return term.xreplace(dict.fromkeys(averages(term), sp.Integer(1)))


def apart(term: sp.Expr, taken: frozenset[sp.Symbol], used: frozenset[sp.Symbol]) -> sp.Expr:
    """A term with other names for what an average within it binds again: the rates of one name are those of one
    variable. What is ``taken`` is bound around it or free, and no name that is ``used`` is a new one.
    """
    if not averages(term):
        return term
    if not isinstance(term, Expectation):
        return term.func(*(apart(part, taken, used) for part in term.args))
    own: list[sp.Symbol] = []
    for variable in term.variables:
        name = variable
        while variable in taken and name in used:
            name = sp.Symbol(f"{name.name}'", real=True)
        used |= {name}
        own.append(name)
    integrand = substitute(term.integrand, dict(zip(term.variables, own, strict=True)))
    return Expectation(apart(integrand, taken | {*own}, used), *own)


def _rates(term: sp.Expr, z: sp.Symbol, among: frozenset[sp.Symbol], within: bool) -> frozenset[sp.Expr]:
    """Coefficients of z^2 in the exponents that a term grows by, one for each of its parts, ``within`` an average over
    z or before one.

    What functions that are not known make of ``among`` grows as a lemma says that it may. Raises Refused where a part
    grows faster than exponentially.
    """
    if isinstance(term, Expectation) and z in term.variables:
        return _NONE if within else _rates(term.integrand, z, among, True)
    if not term.has(z):
        return _NONE
    if term.func is sp.exp:
        return _NONE if nonnegative(-term.exp) else frozenset({_rate(term.exp, z, among)})
    inner = [_rates(part, z, among, within) for part in term.args]
    if isinstance(term, sp.Pow):
        if nonnegative(-term.exp):
            if not (bounded_below(term.base, among) or _not_steep(term.base, among)):
                raise Refused(f"{term} may grow too fast where {term.base} is small")
            return _NONE
        return frozenset(sp.Abs(term.exp) * rate for rate in inner[0]) if within else inner[0]
    if isinstance(term, sp.Mul) and within:
        return frozenset(sp.Add(*rates) for rates in product(*inner))
    grows = isinstance(term, sp.Add | sp.Mul | Expectation) or term.func in (sp.Abs, sp.Max, sp.ceiling)
    return frozenset().union(*inner) if grows else _NONE


def _not_steep(term: sp.Expr, among: frozenset[sp.Symbol]) -> bool:
    """Whether a term goes to zero exponentially at most, by the exponents in it: an average of exponentials is not
    below the exponential of the average, but may be far above it, so that what it divides is small.
    """
    if isinstance(term, Expectation):
        return _not_steep(term.integrand, among - bound(term))
    if isinstance(term, sp.Pow) and not nonnegative(term.exp) and averages(term.base) and free(term.base) & among:
        return False
    if term.func is sp.exp:
        exponent = sp.expand(masked(term.exp, among))
        used = exponent.free_symbols & among
        return not used or bool(exponent.is_polynomial(*used) and sp.Poly(exponent, *used).total_degree() < 2)
    return isinstance(term, AppliedUndef) or all(_not_steep(part, among) for part in term.args)


def bounded_below(base: sp.Expr, moving: frozenset[sp.Symbol]) -> bool:
    """Whether a term is a sum of what is not negative, and of something positive that does not move."""
    parts = sp.Add.make_args(base)
    return all(map(nonnegative, parts)) and any(positive(part) and not free(part) & moving for part in parts)


def _rate(exponent: sp.Expr, z: sp.Symbol, among: frozenset[sp.Symbol]) -> sp.Expr:
    """The coefficient of z^2 in an exponent. A product c z t of two variables is at most |c| (z^2 + t^2)/2. What
    functions that are not known make of other variables is a number, of which all that is known is its sign; and beside
    what they make of z, that may grow.
    """
    total: sp.Expr = sp.Integer(0)
    for part in sp.Add.make_args(_multiplied_out(exponent)):
        factors = {f: z in free(f) or moves_in(f, among) for f in sp.Mul.make_args(part)}
        constant = sp.Mul(*(factor for factor, moves in factors.items() if not moves))
        least = sp.Mul(*(_least(factor, among) for factor, moves in factors.items() if moves))
        more, rest = least.as_independent(*among, as_Add=False)
        constant, others = constant * more, free(rest) & among - {z}
        steady = sp.Mul(*(factor for factor in sp.Mul.make_args(rest) if factor.func not in BOUNDED))
        if z not in free(rest) or steady == 1 or steady in among or _calls(outside_averages(rest), among):
            continue
        if rest == z**2:
            total += constant
        elif len(others) == 1 and rest == z * next(iter(others)):
            total += sp.Abs(constant) / 2
        elif not nonnegative(-part) and (nonnegative(constant) or masked(constant, among) == constant):
            raise Refused(f"exp({exponent}) grows too fast in {z}")
        elif not nonnegative(-part):
            total += _STEEP * (constant if rest.as_powers_dict()[z] % 2 == 0 and not others else sp.Abs(constant))
    return total


@lru_cache(maxsize=16384)
def _multiplied_out(term: sp.Expr) -> sp.Expr:
    """A term multiplied out, but for what stands under averages, where a square is seen not to be negative."""
    names = {average: sp.Dummy("average", real=True) for average in averages(term)}
    return sp.expand(term.xreplace(names)).xreplace({name: average for average, name in names.items()})


def _least(factor: sp.Expr, among: frozenset[sp.Symbol]) -> sp.Expr:
    """What a factor with functions of ``among`` is at least, whatever they are, if that is positive: where an average
    grows too fast even so, there are no functions for which it exists. Otherwise the factor.
    """
    least = _floor(factor, among)
    known = least != 0 and nonnegative(least) and _calls(outside_averages(factor), among)
    return least if known else factor


def _floor(term: sp.Expr, among: frozenset[sp.Symbol]) -> sp.Expr:
    """What a term is at least, whatever its functions of ``among`` are, where it is not zero: not negative then."""
    if not _calls(outside_averages(term), among):
        return term if nonnegative(term) else sp.Integer(0)
    least = [_floor(part, among) for part in term.args]
    if isinstance(term, sp.Add | sp.Mul):
        return term.func(*least) if all(map(nonnegative, term.args)) else sp.Integer(0)
    if isinstance(term, sp.Pow):
        return least[0] ** term.exp if positive(term.exp) else sp.Integer(0)
    if isinstance(term, sp.Max):
        return sp.Max(0, *least)
    if term.func is sp.exp:
        return sp.exp(least[0]) if nonnegative(term.exp) else sp.Integer(0)
    return least[0] if term.func is sp.Abs else sp.Integer(0)
