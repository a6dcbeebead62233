"""Terms of the kernel: which are admitted, what is free in them, substitution, signs and derivatives.

A term is built of rational numbers, pi, real symbols, sums, products, powers, functions of real value and Gaussian
expectations, which are the only binders. Anything else (floating point, infinities, complex units, integrals, sums
over an index) is refused, so that no rule meets it.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import sympy as sp

from onestep.derivations.kernel.statements import Condition, Demand, Refused
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import DERIVATIVES

_REAL_FUNCTIONS = (sp.exp, sp.log, sp.Abs, sp.tanh, sp.erf, sp.sin, sp.cos)


@lru_cache(maxsize=65536)
def admit(term: sp.Expr) -> sp.Expr:
    """``term`` itself. Raises Refused if it is no term of the kernel."""
    fine = (
        isinstance(term, sp.Rational | type(sp.pi) | sp.Add | sp.Mul | sp.Pow | Expectation)
        or (isinstance(term, sp.Symbol) and term.is_real)
        or (isinstance(term, sp.Function) and (term.func in _REAL_FUNCTIONS or term.is_real))
    )
    if not fine:
        raise Refused(f"{term} is no term: {type(term).__name__} is not admitted")
    for part in term.args:
        admit(part)
    return term


@lru_cache(maxsize=65536)
def free(term: sp.Expr) -> frozenset[sp.Symbol]:
    """The symbols that are free in a term."""
    return frozenset(term.free_symbols)


def bound(term: sp.Expr) -> frozenset[sp.Symbol]:
    """The variables that a term itself binds."""
    return frozenset(term.variables) if isinstance(term, Expectation) else frozenset()


def substitute(term: sp.Expr, values: Mapping[sp.Symbol, sp.Expr]) -> sp.Expr:
    """``term`` with symbols replaced all at once; a bound variable that would capture one is renamed first."""
    values = {symbol: value for symbol, value in values.items() if symbol in free(term)}
    if not values:
        return term
    if isinstance(term, sp.Symbol):
        return values[term]
    if isinstance(term, Expectation):
        coming = frozenset().union(*(free(value) for value in values.values()))
        fresh = {v: sp.Dummy(v.name, real=True) for v in term.variables if v in coming}
        inside = substitute(substitute(term.integrand, fresh), values)
        return Expectation(inside, *(fresh.get(v, v) for v in term.variables))
    return term.func(*(substitute(part, values) for part in term.args))


def replace(term: sp.Expr, old: sp.Expr, new: sp.Expr) -> tuple[sp.Expr, frozenset[sp.Symbol]]:
    """``term`` with the subterm ``old`` replaced wherever it stands, and the variables that were bound around it there
    and are free in ``old`` or ``new``.
    """
    if term == old:
        return new, frozenset()
    if not term.args or not term.has(old):
        return term, frozenset()
    parts, captured = zip(*(replace(part, old, new) for part in term.args), strict=True)
    caught = frozenset().union(*captured)
    if isinstance(term, Expectation):
        if parts[1:] != term.args[1:]:
            raise Refused(f"{old} is a variable that {term} binds")
        if parts[0] != term.integrand:
            caught |= bound(term) & (free(old) | free(new))
    return term.func(*parts), caught


def real(term: sp.Expr) -> bool:
    """Whether a term has a real value wherever its denominators do not vanish, by the signs of what is under roots."""
    if isinstance(term, sp.Pow) and not term.exp.is_Integer and not nonnegative(term.base):
        return False
    if term.func is sp.log and not positive(term.args[0]):
        return False
    return all(real(part) for part in term.args)


def real_where(term: sp.Expr) -> frozenset[Condition]:
    """The conditions under which a term is real, as far as signs do not decide them.

    Raises Refused where one would speak of a variable averaged over.
    """
    found = frozenset().union(*map(real_where, term.args))
    if isinstance(term, Expectation) and any(free(c.term) & bound(term) for c in found):
        raise Refused(f"{term} averages over what is not real")
    inside = term.base if isinstance(term, sp.Pow) and not term.exp.is_Integer else None
    if term.func is sp.log:
        (inside,) = term.args
    return found if inside is None or nonnegative(inside) else found | {Condition(inside, Demand.NONNEGATIVE)}


@lru_cache(maxsize=16384)
def positive(term: sp.Expr) -> bool:
    """Whether a term is decidedly > 0: by the declared signs of its symbols and functions, and by its shape alone."""
    if isinstance(term, sp.Rational | sp.Symbol | type(sp.pi)):
        return bool(term.is_positive)
    if isinstance(term, sp.Add):
        return all(map(nonnegative, term.args)) and any(map(positive, term.args))
    if isinstance(term, sp.Mul):
        return all(map(positive, term.args))
    if isinstance(term, sp.Pow):
        return positive(term.base)
    if isinstance(term, Expectation):
        return positive(term.integrand)
    return term.func is sp.exp or _declared(term, "is_positive")


@lru_cache(maxsize=16384)
def nonnegative(term: sp.Expr) -> bool:
    """Whether a term is decidedly >= 0."""
    if isinstance(term, sp.Rational | sp.Symbol | type(sp.pi)):
        return bool(term.is_nonnegative)
    if isinstance(term, sp.Add | sp.Mul):
        return all(map(nonnegative, term.args))
    if isinstance(term, sp.Pow):
        even = term.exp.is_Integer and term.exp % 2 == 0 and real(term.base)
        return bool(even) or nonnegative(term.base)
    if isinstance(term, Expectation):
        return nonnegative(term.integrand)
    return term.func in (sp.exp, sp.Abs) or _declared(term, "is_nonnegative")


def _declared(call: sp.Expr, sign: str) -> bool:
    """Whether a function without a formula was declared with that sign."""
    return isinstance(call, sp.core.function.AppliedUndef) and bool(getattr(call, sign))


def nonzero(term: sp.Expr) -> bool:
    """Whether a term is decidedly not 0."""
    if isinstance(term, sp.Mul):
        return all(map(nonzero, term.args))
    if isinstance(term, sp.Pow):
        return nonzero(term.base)
    if isinstance(term, sp.Symbol):
        return bool(term.is_nonzero)
    return positive(term) or positive(sp.expand(-term))


def derivative(term: sp.Expr, x: sp.Symbol) -> sp.Expr:
    """d ``term``/d ``x`` by the rules of sum, product, power and chain; named functions have named derivatives.

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
    if isinstance(term, Expectation):
        return Expectation(derivative(term.integrand, x), *term.variables)
    if len(term.args) == 1:
        (argument,) = term.args
        outer = _outer(term, argument)
        if outer is not None:
            return outer * derivative(argument, x)
    raise Refused(f"no derivative of {term} in {x}")


def _outer(term: sp.Expr, argument: sp.Expr) -> sp.Expr | None:
    if term.func is sp.exp:
        return term
    if term.func is sp.log:
        return 1 / argument
    named = DERIVATIVES.get(term.func)
    return None if named is None else named(argument)
