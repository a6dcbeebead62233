"""The named functions of the expression language, each written out in the primitive nodes.

A name stands for a builder: it takes the arguments of the call and returns a tree.  A new activation is one entry.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from difflib import get_close_matches
from fractions import Fraction

from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.algebra import (
    add,
    call,
    divide,
    maximum,
    minimum,
    multiply,
    negate,
    piecewise,
    power,
    substitute,
)
from giantsteps.derivations.expressions.tree import FUNCTIONS, ONE, Expression, ExpressionError, Z, number

LARGEST_DEGREE = 64
ZERO = number(0)
_ONE_PERCENT = tree.Number(Fraction(1, 100))


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function of the language: its builder, how many arguments it needs and allows, and an example."""

    build: Callable[..., Expression]
    least: int
    most: int | None
    example: str


def hermite(degree: int) -> Expression:
    """The probabilists' Hermite polynomial, He_{k+1} = z He_k - k He_{k-1}, E[He_j He_k] = k! delta_jk."""
    before: list[int] = []
    current = [1]
    for k in range(degree):
        following = [0, *current]
        for i, coefficient in enumerate(before):
            following[i] -= k * coefficient
        before, current = current, following
    return add(*(multiply(number(c), power(Z, number(i))) for i, c in reversed(list(enumerate(current))) if c))


def _he(degree: Expression, argument: Expression) -> Expression:
    if not isinstance(degree, tree.Number) or degree.value.denominator != 1 or not 0 <= degree.value <= LARGEST_DEGREE:
        raise ExpressionError(
            f"he(k, z) needs a whole degree k from 0 to {LARGEST_DEGREE}, not {degree}; for example he(3, z)"
        )
    return substitute(hermite(int(degree.value)), argument)


def _elu(argument: Expression, scale: Expression = ONE) -> Expression:
    below = multiply(scale, add(call("exp", argument), number(-1)))
    return piecewise((argument, tree.Comparison(argument, ">", ZERO)), (below, tree.Always()))


def _gelu(argument: Expression) -> Expression:
    # erfc keeps the relative accuracy of the left tail, where 1 + erf cancels
    tail = call("erfc", negate(divide(argument, call("sqrt", number(2)))))
    return multiply(tree.Number(Fraction(1, 2)), argument, tail)


def _swish(argument: Expression, slope: Expression = ONE) -> Expression:
    return multiply(argument, call("sigmoid", multiply(slope, argument)))


def _leaky_relu(argument: Expression, slope: Expression = _ONE_PERCENT) -> Expression:
    return piecewise((argument, tree.Comparison(argument, ">", ZERO)), (multiply(slope, argument), tree.Always()))


def _primitive(name: str) -> Callable[..., Expression]:
    return lambda argument: call(name, argument)


def _unary(build: Callable[..., Expression], example: str) -> NamedFunction:
    return NamedFunction(build, 1, 1, example)


NAMED: dict[str, NamedFunction] = {name: _unary(_primitive(name), f"{name}(z)") for name in FUNCTIONS}
NAMED |= {
    "abs": NAMED["Abs"],
    "arctan": _unary(_primitive("atan"), "arctan(z)"),
    "arcsinh": _unary(_primitive("asinh"), "arcsinh(z)"),
    "step": _unary(_primitive("Heaviside"), "step(z)"),
    "relu": _unary(lambda u: maximum(u, ZERO), "relu(z)"),
    "hardtanh": _unary(lambda u: maximum(number(-1), minimum(u, ONE)), "hardtanh(z)"),
    "softsign": _unary(lambda u: divide(u, add(call("Abs", u), ONE)), "softsign(z)"),
    "gelu": _unary(_gelu, "gelu(z)"),
    "silu": _unary(_swish, "silu(z)"),
    "mish": _unary(lambda u: multiply(u, call("tanh", call("softplus", u))), "mish(z)"),
    "leaky_relu": NamedFunction(_leaky_relu, 1, 2, "leaky_relu(z, 1/10)"),
    "elu": NamedFunction(_elu, 1, 2, "elu(z, 1)"),
    "swish": NamedFunction(_swish, 1, 2, "swish(z, 2)"),
    "he": NamedFunction(_he, 2, 2, "he(3, z)"),
    "Max": NamedFunction(maximum, 1, None, "Max(z, 0)"),
    "Min": NamedFunction(minimum, 1, None, "Min(z, 1)"),
}
NAMED |= {"max": NAMED["Max"], "min": NAMED["Min"]}
# The argument z alone is not real or not finite on the whole line.
NAMED |= {name: _unary(_primitive(name), f"{name}(1 + z**2)") for name in ("sqrt", "log")}

_NEEDS_ARGUMENTS = frozenset({"he", "Max", "Min", "max", "min"})


def named_function(name: str) -> NamedFunction | None:
    """The function called `name` (heK is he(K, .)), or None."""
    if name.startswith("he") and name[2:].isdecimal() and len(name) <= 4:
        degree = number(int(name[2:]))
        return _unary(lambda argument: _he(degree, argument), f"{name}(z)")
    return NAMED.get(name)


def nearest_names(name: str) -> tuple[str, ...]:
    """The functions that a misspelt name may stand for, at most two; none where none is close."""
    lowered = name.lower()
    return (lowered,) if lowered in NAMED else tuple(get_close_matches(lowered, NAMED, n=2, cutoff=0.7))


def function_names() -> str:
    """The functions of the language, separated by commas."""
    names = {name.lower(): name for name in NAMED}
    return ", ".join([*(names[lowered] for lowered in sorted(names)), "he2, he3, ...", "Piecewise"])


def stands_alone(name: str) -> bool:
    """Whether the bare name means name(z)."""
    return named_function(name) is not None and name not in _NEEDS_ARGUMENTS
