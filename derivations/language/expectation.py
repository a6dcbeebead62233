r"""Gaussian expectations as SymPy objects.

``Expectation(f, z)`` is :math:`\mathbb E_{z\sim N(0,1)}[f]`. It stays symbolic: it is never integrated, only moved
about by the rules below, each of which is an elementary property of the standard normal law:

- linearity (:func:`expand_expectations`): E[a f + b g] = a E[f] + b E[g] for a, b free of the variables;
- differentiation under the expectation in a parameter (a hypothesis on the integrand that each derivation states);
- E[1] = 1, and polynomial moments E[z^k] = (k-1)!! for even k, 0 for odd k.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import sympy as sp
from sympy.printing.printer import Printer


class Expectation(sp.Function):
    """E over independent normal variables, not integrated: `Expectation(integrand, z1, z2, ...)`.

    integrand: a SymPy expression.
    variables: the symbols averaged over. They are bound: no free symbols, and substitution leaves them alone.

    >>> z = sympy.Symbol("z", real=True)
    >>> giantsteps.Expectation(z**2, z).free_symbols
    set()
    """

    is_commutative = True

    @classmethod
    def eval(cls, integrand: sp.Expr, *variables: sp.Symbol) -> sp.Expr | None:
        """Reduce only what needs no integration: an integrand free of the variables."""
        integrand = sp.sympify(integrand)
        used = tuple(v for v in variables if integrand.has(v))
        if not used:
            return integrand
        if used != variables:
            return cls(integrand, *used)
        return None

    @property
    def integrand(self) -> sp.Expr:
        """What is averaged."""
        return self.args[0]

    @property
    def variables(self) -> tuple[sp.Symbol, ...]:
        """The standard normal variables averaged over."""
        return tuple(self.args[1:])

    @property
    def bound_symbols(self) -> list[sp.Symbol]:
        """SymPy's name for the variables averaged over."""
        return list(self.args[1:])

    @property
    def free_symbols(self) -> set[sp.Basic]:
        """The symbols that are not averaged over."""
        return set(self.integrand.free_symbols) - set(self.variables)

    def _eval_derivative(self, symbol: sp.Symbol) -> sp.Expr:
        if symbol in self.variables:
            return sp.S.Zero
        return Expectation(sp.diff(self.integrand, symbol), *self.variables)

    def _eval_subs(self, old: sp.Basic, new: sp.Basic) -> sp.Expr | None:
        if old in self.variables:
            return self
        # A function of the averaged variable may be replaced by another one of it; anything else is renamed first.
        captured = [v for v in self.variables if v in sp.sympify(new).free_symbols and not old.has(v)]
        if captured:
            fresh = {v: sp.Dummy(v.name, **v.assumptions0) for v in captured}
            renamed = Expectation(self.integrand.xreplace(fresh), *(fresh.get(v, v) for v in self.variables))
            return renamed.subs(old, new)
        return None

    def _eval_is_real(self) -> bool | None:
        return True if self.integrand.is_real else None

    def _eval_is_nonnegative(self) -> bool | None:
        return True if self.integrand.is_nonnegative else None

    def _latex(self, printer: Printer, *args: Any, **kwargs: Any) -> str:
        power = kwargs.get("exp")
        names = ",".join(printer._print(v) for v in self.variables)
        body = rf"\mathbb{{E}}_{{{names}}}\left[{printer._print(self.integrand)}\right]"
        return body if power is None else rf"{body}^{{{power}}}"


def expand_expectations(expression: sp.Expr) -> sp.Expr:
    """Rewrite every expectation by linearity: sums split, constants moved out, moments of polynomials evaluated."""
    whole = sp.sympify(expression)
    return whole.xreplace({average: _expand_one(average) for average in whole.atoms(Expectation)})


@lru_cache(maxsize=8192)
def _expand_one(expectation: Expectation) -> sp.Expr:
    variables = expectation.variables
    inner = sp.expand(expand_expectations(expectation.integrand))
    return sp.Add(*(_average_of_term(term, variables) for term in sp.Add.make_args(inner)))


def _average_of_term(term: sp.Expr, variables: tuple[sp.Symbol, ...]) -> sp.Expr:
    constant, rest = _parted(term, frozenset(variables))
    # expand() multiplies constants into denominators; they are taken out again.
    numerator, denominator = sp.fraction(rest)
    if denominator != 1:
        outside, inside = sp.factor_terms(denominator).as_independent(*variables, as_Add=False)
        constant, rest = constant / outside, numerator / inside
    # A monomial in one of several variables averages on its own: independence.
    for variable in variables:
        powers, others = _split_power(rest, variable)
        if powers is not None:
            constant, rest = constant * gaussian_moment(powers), others
    return constant * Expectation(rest, *variables)


def _parted(product: sp.Expr, variables: frozenset[sp.Symbol]) -> tuple[sp.Expr, sp.Expr]:
    """The factors free of ``variables``, and the others."""
    free: list[sp.Expr] = []
    bound: list[sp.Expr] = []
    for factor in sp.Mul.make_args(product):
        (free if variables.isdisjoint(factor.free_symbols) else bound).append(factor)
    return sp.Mul(*free), sp.Mul(*bound)


def _split_power(expression: sp.Expr, variable: sp.Symbol) -> tuple[int | None, sp.Expr]:
    """The exponent k if ``expression`` = variable**k * (free of variable), else None."""
    others, power = _parted(expression, frozenset({variable}))
    base, exponent = power.as_base_exp()
    if base == variable and exponent.is_Integer and exponent >= 0:
        return int(exponent), others
    return None, expression


def gaussian_moment(order: int) -> sp.Integer:
    """E[z^k] for z ~ N(0,1): (k-1)!! for even k, zero for odd k."""
    return sp.Integer(0) if order % 2 else sp.factorial2(order - 1)
