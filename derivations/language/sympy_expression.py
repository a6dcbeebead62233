"""The SymPy interpreter of the expression tree.  The only module of the language that imports SymPy at the top."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import sympy as sp

from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.tree import Expression

# Those with derivatives wherever they are defined.
ANALYTIC: dict[str, Callable[[sp.Expr], sp.Expr]] = {
    "exp": sp.exp,
    "log": sp.log,
    "sqrt": sp.sqrt,
    "sin": sp.sin,
    "cos": sp.cos,
    "tan": sp.tan,
    "sinh": sp.sinh,
    "cosh": sp.cosh,
    "tanh": sp.tanh,
    "asinh": sp.asinh,
    "atan": sp.atan,
    "erf": sp.erf,
    "erfc": sp.erfc,
    "sigmoid": lambda u: 1 / (1 + sp.exp(-u)),
    "softplus": lambda u: sp.log(1 + sp.exp(u)),
}
_FUNCTIONS = ANALYTIC | {
    "sign": sp.sign,
    "Heaviside": lambda u: sp.Heaviside(u, sp.Rational(1, 2)),
    "Abs": sp.Abs,
}
_RELATIONS: dict[str, Callable[[sp.Expr, sp.Expr], sp.Basic]] = {
    "<": sp.StrictLessThan,
    "<=": sp.LessThan,
    ">": sp.StrictGreaterThan,
    ">=": sp.GreaterThan,
}


def to_sympy(expr: Expression, z: sp.Expr) -> sp.Expr:
    """The tree as a SymPy expression, with z (a real symbol, or any real expression) for the variable.

    sigmoid and softplus are written out; Heaviside(0) is 1/2.
    """
    match expr:
        case tree.Variable():
            return z
        case tree.Number(value):
            return _rational(value)
        case tree.Constant(name):
            return sp.pi if name == "pi" else sp.E
        case tree.Sum(terms):
            return sp.Add(*(to_sympy(t, z) for t in terms))
        case tree.Product(factors):
            return sp.Mul(*(to_sympy(f, z) for f in factors))
        case tree.Quotient(numerator, denominator):
            return to_sympy(numerator, z) / to_sympy(denominator, z)
        case tree.Power(base, exponent):
            return to_sympy(base, z) ** to_sympy(exponent, z)
        case tree.Call(name, argument):
            return _FUNCTIONS[name](to_sympy(argument, z))
        case tree.Maximum(args):
            return sp.Max(*(to_sympy(a, z) for a in args))
        case tree.Minimum(args):
            return sp.Min(*(to_sympy(a, z) for a in args))
        case tree.Piecewise(pieces):
            return sp.Piecewise(*((to_sympy(value, z), _condition(condition, z)) for value, condition in pieces))
    raise tree.unreadable(expr)


def _rational(value: Fraction) -> sp.Rational:
    return sp.Rational(value.numerator, value.denominator)


def _condition(condition: tree.Condition, z: sp.Expr) -> sp.Basic:
    parts = [_RELATIONS[c.op](to_sympy(c.left, z), to_sympy(c.right, z)) for c in condition]
    return sp.And(*parts) if parts else sp.true
