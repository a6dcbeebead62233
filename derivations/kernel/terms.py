"""Terms of the kernel: which are admitted, what is free in them, substitution, signs and derivatives.

A term is built of rational numbers, pi, e, real symbols, sums, products, powers, functions of real value and Gaussian
expectations, which are the only binders. Anything else (floating point, infinities, complex units, integrals, sums
over an index) is refused, so that no rule meets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache
from itertools import product
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef, UndefinedFunction

from onestep.derivations.kernel.statements import Condition, Demand, Refused
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS
from onestep.derivations.language.normal_probabilities import OwensT, SignProduct
from onestep.derivations.language.points import above_somewhere

ELEMENTARY = (sp.exp, sp.log, sp.Abs, sp.Max, sp.tanh, sp.erf, sp.sin, sp.cos, sp.asin, sp.atan, sp.ceiling)
REAL_FUNCTIONS = (*ELEMENTARY, OwensT, SignProduct)
# At most pi/2 in size: with it a variable in an exponent is no more than linear, as in exp(z erf(z)).
_BOUNDED = (sp.erf, sp.tanh, sp.sin, sp.cos, sp.atan)

# What is declared with a sign, or has one of its own.
_DECLARED = (sp.Rational, sp.Symbol, type(sp.pi), type(sp.E), AppliedUndef)

# Numbers, sums, products and averages, and nothing that is derived from their classes.
_NUMBERS = (sp.Integer, sp.Rational, *map(type, (sp.S.Zero, sp.S.One, sp.S.NegativeOne, sp.S.Half, sp.pi, sp.E)))
_PLAIN = (*_NUMBERS, sp.Add, sp.Mul, Expectation)

# A symbol is declared with nothing but a sign: by more (whole, negative) SymPy would simplify on its own account.
REAL, *_SIGNED = (
    sp.Dummy(**sign).assumptions0
    for sign in (
        {"real": True},
        {"positive": True},
        {"nonnegative": True},
        {"real": True, "nonzero": True},
        {"negative": True},
    )
)

# Terms whose parts are all plain, by identity: what says that it equals a plain term need not be one.
_SEEN: dict[int, sp.Basic] = {}
_ORDINARY = vars(sp.Function("f", real=True)).keys()


def plain(term: sp.Expr) -> sp.Expr:
    """``term`` itself, built of nothing but what is admitted. Raises Refused if it is not."""
    if _SEEN.get(id(term)) is term:
        return term
    for part in getattr(term, "args", ()):
        plain(part)
    fine = (
        type(term) in (*_PLAIN, *REAL_FUNCTIONS)
        or (type(term) is sp.Pow and (term.exp.is_Rational or not term.base.is_number or positive(term.base)))
        or (type(term) in (sp.Symbol, sp.Dummy) and term.assumptions0 in (REAL, *_SIGNED))
        or without_formula(type(term))
    )
    if not fine:
        raise Refused(f"{term} is no term: {type(term).__name__} is not admitted")
    if len(_SEEN) > 1 << 18:
        _SEEN.clear()
    _SEEN[id(term)] = term
    return term


def without_formula(head: Any) -> bool:
    """Whether a function is a name with a declared sign, and SymPy knows nothing else of it."""
    if type(head) is not UndefinedFunction or head.__bases__ != (AppliedUndef,):
        return False
    declared = dict(sp.Dummy(**head._kwargs).assumptions0)
    signs = {name: value for name, value in vars(head).items() if name.startswith("is_")}
    ordinary = vars(head).keys() - signs.keys() <= _ORDINARY and {type(v) for v in signs.values()} <= {bool, type(None)}
    return ordinary and dict(head.default_assumptions) == declared and declared in (REAL, *_SIGNED)


def admit(term: sp.Expr) -> sp.Expr:
    """``term`` itself. Raises Refused if it is no term of the kernel."""
    return _admitted(plain(term))


@lru_cache(maxsize=131072)
def _admitted(term: sp.Expr) -> sp.Expr:
    for part in term.args:
        _admitted(part)
    if isinstance(term, Expectation):
        _admit_average(term)
    return term


def _admit_average(term: Expectation) -> None:
    """An average is over symbols without a sign, of what is defined for all their values and grows exponentially at
    most: beyond that the integral may not exist.
    """
    if not all(isinstance(v, sp.Symbol) and v.assumptions0 == REAL for v in term.variables):
        raise Refused(f"{term} is no average over normal variables")
    variables = bound(term).union(*map(bound, averages(term.integrand)))
    # Of a function that is not known a lemma or hypothesis says where it is positive.
    spoken = [c.term for c in defined_where(term.integrand) if free(c.term) & bound(term)]
    if any(free(masked(part, variables)) & variables for part in spoken):
        raise Refused(f"{term} averages over what is not defined")
    if any(power.exp.free_symbols & variables for power in term.integrand.atoms(sp.Pow)):
        raise Refused(f"{term} averages over an exponent")
    for condition in _integrable_where(term):
        if free(condition.term) & variables or negative(condition.term) or condition.term == 0:
            raise Refused(f"{term} may not exist: it grows too fast")


def masked(term: sp.Expr, variables: frozenset[sp.Symbol]) -> sp.Expr:
    """A term with names for what functions that are not known make of ``variables``."""
    return term.xreplace({call: sp.Dummy("call", real=True) for call in _calls(term, variables)})


def _calls(term: sp.Expr, variables: frozenset[sp.Symbol]) -> set[sp.Expr]:
    """The functions that are not known of ``variables`` in a term."""
    return {call for call in term.atoms(AppliedUndef) if call.free_symbols & variables}


_NONE = frozenset({sp.Integer(0)})


@lru_cache(maxsize=16384)
def _integrable_where(average: Expectation) -> frozenset[Condition]:
    """Where an integrand grows by less than exp(z^2/2) in each variable z, as far as signs do not decide it."""
    outer, found = bound(average), set[Condition]()
    integrand = apart(average.integrand, outer | free(average), letters(average))
    everywhere = outer.union(*map(bound, averages(integrand)))
    for variable in everywhere:
        for rate in _rates(integrand, variable, everywhere, variable in outer):
            left = sp.expand(sp.Rational(1, 2) - rate)
            if not positive(left):
                found |= {Condition(left), Condition(left, Demand.NONNEGATIVE)}
    return frozenset(found)


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
    grows = isinstance(term, sp.Add | sp.Mul | Expectation) or term.func in (sp.Abs, sp.Max)
    return frozenset().union(*inner) if grows else _NONE


def _not_steep(term: sp.Expr, among: frozenset[sp.Symbol]) -> bool:
    """Whether a term goes to zero exponentially at most, by the exponents in it: an average of exponentials is not
    below the exponential of the average.
    """
    if isinstance(term, Expectation):
        return _not_steep(term.integrand, among - bound(term))
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
    """The coefficient of z^2 in an exponent. A product c z t of two variables is at most |c| (z^2 + t^2)/2."""
    total: sp.Expr = sp.Integer(0)
    for part in sp.Add.make_args(sp.expand(exponent)):
        constant, rest = part.as_independent(*among, as_Add=False)
        least = sp.Mul(*(_least(factor, among) for factor in sp.Mul.make_args(rest)))
        more, rest = least.as_independent(*among, as_Add=False)
        constant, others = constant * more, rest.free_symbols - {z}
        steady = sp.Mul(*(factor for factor in sp.Mul.make_args(rest) if factor.func not in _BOUNDED))
        # What a function makes of a variable averaged over within is a number, beside which z may grow.
        if z not in rest.free_symbols or steady == 1 or steady in among or _calls(outside_averages(rest), among):
            continue
        if rest == z**2:
            total += constant
        elif len(others) == 1 and rest == z * next(iter(others)):
            total += sp.Abs(constant) / 2
        elif not nonnegative(-part):
            raise Refused(f"exp({exponent}) grows too fast in {z}")
    return total


def _least(factor: sp.Expr, among: frozenset[sp.Symbol]) -> sp.Expr:
    """What a factor with functions of ``among`` is at least, whatever they are, if that is positive: where an average
    grows too fast even so, there are no functions for which it exists. Otherwise the factor.
    """
    least = _floor(factor, among)
    return least if positive(least) and _calls(outside_averages(factor), among) else factor


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


@lru_cache(maxsize=131072)
def free(term: sp.Expr) -> frozenset[sp.Symbol]:
    """The symbols that are free in a term."""
    if isinstance(term, Expectation):
        return free(term.integrand) - bound(term)
    if isinstance(term, sp.Add | sp.Mul | sp.Pow | sp.Function):
        return frozenset().union(*map(free, term.args))
    return frozenset(term.free_symbols)


def constants(
    terms: tuple[sp.Expr, ...], variable: sp.Symbol | None, demand: Demand = Demand.CONSTANT
) -> frozenset[Condition]:
    """Every symbol and every undefined function of the terms but the variable itself, held constant in it."""
    found: set[sp.Expr] = set()
    for term in terms:
        found |= free(term) - {variable}
        found |= {call.func for call in term.atoms(AppliedUndef)}
    return frozenset(Condition(part, demand, variable) for part in found)


@lru_cache(maxsize=65536)
def averages(term: sp.Expr) -> frozenset[Expectation]:
    """The averages in a term, those within others too."""
    inner: frozenset[Expectation] = frozenset().union(*map(averages, term.args))
    return inner | {term} if isinstance(term, Expectation) else inner


def bound(term: sp.Expr) -> frozenset[sp.Symbol]:
    """The variables that a term itself binds."""
    return frozenset(term.variables) if isinstance(term, Expectation) else frozenset()


def substitute(term: sp.Expr, values: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """``term`` with symbols replaced all at once; a bound variable that would capture one is renamed first."""
    inside = free(term)
    values = {symbol: value for symbol, value in values.items() if symbol in inside}
    if not values:
        return term
    if isinstance(term, sp.Symbol):
        return values[term]
    if isinstance(term, Expectation):
        coming = frozenset().union(*(free(value) for value in values.values()))
        fresh = {v: sp.Dummy(v.name, real=True) for v in term.variables if v in coming}
        integrand = substitute(substitute(term.integrand, fresh), values)
        return Expectation(integrand, *(fresh.get(v, v) for v in term.variables))
    return term.func(*(substitute(part, values) for part in term.args))


@lru_cache(maxsize=65536)
def letters(term: sp.Expr) -> frozenset[sp.Symbol]:
    """The symbols in a term, free or bound."""
    return frozenset({term}) if isinstance(term, sp.Symbol) else frozenset().union(*map(letters, term.args))


@lru_cache(maxsize=65536)
def names(term: sp.Expr) -> frozenset[sp.Expr]:
    """The symbols of a term and the heads of its functions."""
    own = (term,) if isinstance(term, sp.Symbol) else (term.func,) if isinstance(term, AppliedUndef) else ()
    return frozenset(own).union(*map(names, term.args))


@lru_cache(maxsize=65536)
def defined_where(term: sp.Expr) -> frozenset[Condition]:
    """Where the denominators of a term do not vanish, and its roots, logarithms and arcsines are real, as far as signs
    do not decide it.
    """
    found = frozenset().union(*map(defined_where, term.args))
    if isinstance(term, sp.Pow) and not nonnegative(term.exp) and not nonzero(term.base):
        found |= {Condition(term.base)}
    if isinstance(term, sp.Pow) and not term.exp.is_Integer and not nonnegative(term.base):
        found |= {Condition(term.base, Demand.NONNEGATIVE)}
    if term.func is sp.log and not positive(term.args[0]):
        found |= {Condition(term.args[0]), Condition(term.args[0], Demand.NONNEGATIVE)}
    if term.func in (sp.asin, SignProduct) and not nonnegative(1 - term.args[-1] ** 2):
        found |= {Condition(1 - term.args[-1] ** 2, Demand.NONNEGATIVE)}
    if isinstance(term, sp.Pow) and not term.exp.is_Rational and not positive(term.base):
        found |= {Condition(term.base), Condition(term.base, Demand.NONNEGATIVE)}
    if isinstance(term, Expectation):
        found = frozenset(condition for condition in found if not free(condition.term) & bound(term))
        found |= frozenset(c for c in _integrable_where(term) if not free(c.term) & bound(term))
    return found


def positive(term: sp.Expr) -> bool:
    """Whether a term is decidedly > 0: by the declared signs of its symbols and functions, and by its shape alone."""
    return _above(term, True)


def negative(term: sp.Expr) -> bool:
    """Whether a term is decidedly < 0, multiplied out: what is above zero somewhere is not, and need not be."""
    return not above_somewhere(term) and positive(sp.expand(-term))


def nonnegative(term: sp.Expr) -> bool:
    """Whether a term is decidedly >= 0 wherever it is defined."""
    return _above(term, False)


@lru_cache(maxsize=32768)
def _above(term: sp.Expr, strictly: bool) -> bool:
    if isinstance(term, _DECLARED):
        return bool(term.is_positive if strictly else term.is_nonnegative)
    if isinstance(term, sp.Add):
        return all(map(nonnegative, term.args)) and (not strictly or any(map(positive, term.args)))
    if isinstance(term, sp.Mul):
        above = [part for part in term.args if not (isinstance(part, sp.Rational | sp.Symbol) and part.is_negative)]
        return (len(term.args) - len(above)) % 2 == 0 and all(_above(part, strictly) for part in above)
    if isinstance(term, sp.Pow):
        # Not negative wherever it is real, which `defined_where` sees to.
        even = term.exp.is_Rational and term.exp.p * term.exp.q % 2 == 0
        return bool(even and not strictly) or _above(term.base, strictly)
    if isinstance(term, Expectation):
        return _above(term.integrand, strictly)
    if term.func is sp.Max:
        return any(_above(part, strictly) for part in term.args)
    return term.func is sp.exp or (term.func is sp.Abs and not strictly)


@lru_cache(maxsize=16384)
def nonzero(term: sp.Expr) -> bool:
    """Whether a term is decidedly not 0."""
    if isinstance(term, sp.Mul):
        return all(map(nonzero, term.args))
    if isinstance(term, sp.Pow):
        return nonzero(term.base)
    if isinstance(term, sp.Symbol):
        return bool(term.is_nonzero)
    return positive(term) or negative(term)


def shares_sign(value: sp.Expr, symbol: sp.Symbol) -> bool:
    """Whether a term decidedly has the sign that a symbol is declared to have."""
    decided = (not symbol.is_positive or positive(value)) and (not symbol.is_nonnegative or nonnegative(value))
    decided &= not symbol.is_negative or negative(value)
    return decided and (not symbol.is_nonzero or nonzero(value))


def outside_averages(term: sp.Expr) -> sp.Expr:
    """A term with one in place of each of its averages."""
    return term.xreplace(dict.fromkeys(averages(term), sp.Integer(1)))


@lru_cache(maxsize=65536)
def derivative(term: sp.Expr, x: sp.Symbol) -> sp.Expr:
    """d ``term``/d ``x`` by the rules of sum, product, power and chain; named functions have named derivatives, those
    of several variables one for each place.

    Under an expectation the derivative is taken of the integrand. Raises Refused where a function has no derivative
    with a name.
    """
    if x not in free(term):
        return sp.Integer(0)
    if term == x:
        return sp.Integer(1)
    if isinstance(term, sp.Add):
        return sp.Add(*(derivative(part, x) for part in term.args))
    if isinstance(term, sp.Mul):
        parts = term.args
        return sp.Add(*(derivative(f, x) * sp.Mul(*parts[:k], *parts[k + 1 :]) for k, f in enumerate(parts)))
    if isinstance(term, sp.Pow) and x not in free(term.exp):
        return term.exp * term.base ** (term.exp - 1) * derivative(term.base, x)
    if isinstance(term, sp.Pow) and x not in free(term.base) and positive(term.base):
        return term * sp.log(term.base) * derivative(term.exp, x)
    if isinstance(term, Expectation):
        return Expectation(derivative(term.integrand, x), *term.variables)
    if len(term.args) == 1:
        (argument,) = term.args
        outer = _outer(term, argument)
        if outer is not None:
            return outer * derivative(argument, x)
    if term.func is OwensT:
        return sp.Add(*(term.fdiff(k) * derivative(argument, x) for k, argument in enumerate(term.args, 1)))
    partials = PARTIALS.get(term.func, ())
    if len(partials) == len(term.args):
        slopes = zip(partials, term.args, strict=True)
        return sp.Add(*(slope(*term.args) * derivative(argument, x) for slope, argument in slopes))
    raise Refused("no derivative of {} in {}", term, x)


def _outer(term: sp.Expr, argument: sp.Expr) -> sp.Expr | None:
    if term.func is sp.exp:
        return term
    if term.func is sp.log:
        return 1 / argument
    if term.func is sp.erf:
        return 2 / sp.sqrt(sp.pi) * sp.exp(-(argument**2))
    if term.func in (sp.sin, sp.cos):
        return sp.cos(argument) if term.func is sp.sin else -sp.sin(argument)
    if term.func is sp.atan:
        return 1 / (1 + argument**2)
    if term.func is sp.tanh:
        return 1 - term**2
    named = DERIVATIVES.get(term.func)
    return None if named is None else named(argument)
