"""Terms of the kernel: which are admitted, what is free in them, substitution, signs and derivatives.

A term is built of rational numbers, pi, e, real symbols, sums, products, powers, functions of real value and Gaussian
expectations, which are the only binders. Anything else (floating point, infinities, complex units, integrals, sums
over an index) is refused, so that no rule meets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache, lru_cache
from itertools import count
from typing import Any

import sympy as sp
from sympy.core.function import AppliedUndef, UndefinedFunction

from giantsteps.derivations.kernel.statements import Condition, Demand, Refused
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES, PARTIALS
from giantsteps.derivations.language.normal_probabilities import OwensT, SignProduct
from giantsteps.derivations.language.points import above_somewhere

ELEMENTARY = (sp.exp, sp.log, sp.Abs, sp.Max, sp.tanh, sp.erf, sp.sin, sp.cos, sp.asin, sp.atan, sp.ceiling)
REAL_FUNCTIONS = (*ELEMENTARY, OwensT, SignProduct)

# What is declared with a sign, or has one of its own.
_DECLARED = (sp.Rational, sp.Symbol, type(sp.pi), type(sp.E), AppliedUndef)

# Numbers, sums and products, and nothing that is derived from their classes.
_NUMBERS = (sp.Integer, sp.Rational, *map(type, (sp.S.Zero, sp.S.One, sp.S.NegativeOne, sp.S.Half, sp.pi, sp.E)))
_PLAIN = (*_NUMBERS, sp.Add, sp.Mul)

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
# What stands for any value, and of these what for any near one or zero.
ANY: set[sp.Symbol] = set()
NEAR: dict[sp.Symbol, sp.Expr] = {}
_ORDINARY = vars(sp.Function("f", real=True)).keys()


def admit(term: sp.Expr) -> sp.Expr:
    """``term`` itself, built of nothing but what is admitted. Raises Refused if it is not."""
    if _SEEN.get(id(term)) is term:
        return term
    for part in getattr(term, "args", ()):
        admit(part)
    fine = (
        type(term) in (*_PLAIN, *REAL_FUNCTIONS)
        or (type(term) is Expectation and _normal(term.variables))
        or (type(term) is sp.Pow and (term.exp.is_Rational or not term.base.is_number or positive(term.base)))
        or (type(term) in (sp.Symbol, sp.Dummy) and term.assumptions0 in (REAL, *_SIGNED) and term not in ANY)
        or without_formula(type(term))
    )
    if not fine:
        remedy = f'; declare it sp.Function("{term.func}", real=True)' if isinstance(term, AppliedUndef) else ""
        raise Refused(f"{term} is no term: {type(term).__name__} is not admitted{remedy}")
    if len(_SEEN) > 1 << 18:
        _SEEN.clear()
    _SEEN[id(term)] = term
    return term


def _normal(variables: tuple[sp.Expr, ...]) -> bool:
    """Whether different symbols without a sign are averaged over."""
    real = all(isinstance(v, sp.Symbol) and v.assumptions0 == REAL for v in variables)
    return real and len(set(variables)) == len(variables)


@cache
def any_value(variable: sp.Symbol, number: int) -> sp.Symbol:
    """The symbol of that number that stands for any value of a variable, where a condition asks for all of them: it
    is in no statement, and nothing is put in for it.
    """
    name = sp.Dummy(f"any {variable.name}", **variable.assumptions0)
    ANY.add(name)
    return name


@cache
def nearby(variable: sp.Symbol, number: int) -> sp.Expr:
    """What stands for all values near that of a variable, and of its sign, by symbols of that number."""
    factor = sp.Dummy("near one", positive=True)
    summand = sp.Dummy("near zero", **({"nonnegative": True} if variable.is_nonnegative else {"real": True}))
    NEAR.update({factor: sp.Integer(1), summand: sp.Integer(0)})
    ANY.update((factor, summand))
    if variable.is_nonzero:
        return variable * factor
    return (variable + summand) * factor if variable.is_nonnegative else variable + summand


def without_formula(head: Any) -> bool:
    """Whether a function is a name with a declared sign, and SymPy knows nothing else of it."""
    if type(head) is not UndefinedFunction or head.__bases__ != (AppliedUndef,):
        return False
    declared = dict(sp.Dummy(**head._kwargs).assumptions0)
    signs = {name: value for name, value in vars(head).items() if name.startswith("is_")}
    ordinary = vars(head).keys() - signs.keys() <= _ORDINARY and {type(v) for v in signs.values()} <= {bool, type(None)}
    return ordinary and dict(head.default_assumptions) == declared and declared in (REAL, *_SIGNED)


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


@cache
def _renamed(variable: sp.Symbol, number: int) -> sp.Symbol:
    """Another name for a bound variable: one for each number, so that terms made again are the same."""
    return sp.Dummy(variable.name, real=True)


def substitute(term: sp.Expr, values: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """``term`` with symbols replaced all at once; a bound variable that would capture one is renamed first."""
    inside = free(term)
    if inside.isdisjoint(values):
        return term
    if isinstance(term, sp.Symbol):
        return values[term]
    if isinstance(term, Expectation):
        values = {symbol: value for symbol, value in values.items() if symbol in inside}
        coming = frozenset().union(*(free(value) for value in values.values()))
        taken = coming | letters(term.integrand)
        clashing = [variable for variable in term.variables if variable in coming]
        fresh = {v: next(name for k in count() if (name := _renamed(v, k)) not in taken) for v in clashing}
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
    """Where the denominators of a term do not vanish, its roots, logarithms and arcsines are real, as far as signs do
    not decide it, and its averages exist.
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
        found |= {Condition(term, Demand.EXISTS)}
    return found


def positive(term: sp.Expr) -> bool:
    """Whether a term is decidedly > 0: by the declared signs of its symbols and functions, and by its shape alone."""
    return _above(term, True)


def negative(term: sp.Expr) -> bool:
    """Whether a term is decidedly < 0, as it is or multiplied out: what is above zero somewhere need not be."""
    return not above_somewhere(term) and (positive(-term) or positive(sp.expand(-term)))


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
