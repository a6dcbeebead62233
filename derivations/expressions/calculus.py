"""The derivative of an expression tree, almost everywhere."""

from __future__ import annotations

from fractions import Fraction

from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.algebra import add, call, divide, multiply, negate, piecewise, power, subtract
from giantsteps.derivations.expressions.tree import ONE, ZERO, Expression, number


def derivative(expr: Expression) -> Expression:
    """d expr/dz where it exists; at a jump the Dirac part is left out (`Activation.breakpoints` tells the jumps)."""
    match expr:
        case tree.Number() | tree.Constant():
            return ZERO
        case tree.Sum(terms):
            return add(*map(derivative, terms))
        case tree.Product(factors):
            return add(
                *(multiply(*factors[:i], derivative(factor), *factors[i + 1 :]) for i, factor in enumerate(factors))
            )
        case tree.Quotient(numerator, denominator):
            first = divide(derivative(numerator), denominator)
            second = divide(multiply(numerator, derivative(denominator)), power(denominator, number(2)))
            return subtract(first, second)
        case tree.Power(base, tree.Number(q)):
            return multiply(tree.Number(q), power(base, tree.Number(q - 1)), derivative(base))
        case tree.Call(name, argument):
            return multiply(_outer(name, argument), derivative(argument))
        case tree.Sampled(name, values, argument):
            return multiply(tree.Sampled(f"{name}'", values.slope, argument), derivative(argument))
        case tree.Maximum():
            return _extremum(expr, ">")
        case tree.Minimum():
            return _extremum(expr, "<")
        case tree.Piecewise(pieces):
            return piecewise(*((derivative(value), condition) for value, condition in pieces))
    return ONE


def _extremum(expr: tree.Maximum | tree.Minimum, op: str) -> Expression:
    first, *rest = expr.args
    other = rest[0] if len(rest) == 1 else type(expr)(tuple(rest))
    condition = tree.Comparison(first, op, other)
    return piecewise((derivative(first), (condition,)), (derivative(other), tree.ALWAYS))


def _outer(name: str, u: Expression) -> Expression:
    """f'(u) for the primitive function f called `name`."""
    square = power(u, number(2))
    match name:
        case "exp":
            return call("exp", u)
        case "log":
            return divide(ONE, u)
        case "sqrt":
            return divide(tree.Number(Fraction(1, 2)), call("sqrt", u))
        case "sin":
            return call("cos", u)
        case "cos":
            return negate(call("sin", u))
        case "tan":
            return add(power(call("tan", u), number(2)), ONE)
        case "sinh":
            return call("cosh", u)
        case "cosh":
            return call("sinh", u)
        case "tanh":
            return subtract(ONE, power(call("tanh", u), number(2)))
        case "asinh":
            return divide(ONE, call("sqrt", add(square, ONE)))
        case "atan":
            return divide(ONE, add(square, ONE))
        case "erf" | "erfc":
            sign = number(2 if name == "erf" else -2)
            return multiply(sign, divide(call("exp", negate(square)), call("sqrt", tree.Constant("pi"))))
        case "Abs":
            return call("sign", u)
        case "sigmoid":
            return multiply(call("sigmoid", u), call("sigmoid", negate(u)))
        case "softplus":
            return call("sigmoid", u)
    return ZERO  # sign and Heaviside are flat away from their jump
