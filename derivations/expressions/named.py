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
# Called like functions, with conditions among their arguments.
CONSTRUCTIONS = ("Piecewise", "where")
ZERO = number(0)
_MINUS_ONE, _FOUR = number(-1), number(4)
_HALF, _QUARTER = number(Fraction(1, 2)), number(Fraction(1, 4))
_ONE_PERCENT = tree.Number(Fraction(1, 100))
# With these two a layer keeps mean 0 and variance 1 (Klambauer et al. 2017); the digits of PyTorch, JAX and Keras.
_SELU_SCALE = tree.Number(Fraction("1.0507009873554804934193349852946"))
_SELU_ALPHA = tree.Number(Fraction("1.6732632423543772848170429916717"))


@dataclass(frozen=True, slots=True)
class NamedFunction:
    """A function of the language: its builder, how many arguments it needs and allows, an example, and the other names
    that it has in PyTorch, JAX, Keras or NumPy.
    """

    build: Callable[..., Expression]
    least: int
    most: int | None
    example: str
    also: tuple[str, ...] = ()


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
    return _right_of_zero(argument, argument, multiply(scale, _expm1(argument)))


def _selu(argument: Expression) -> Expression:
    below = multiply(_SELU_SCALE, _SELU_ALPHA, _expm1(argument))
    return _right_of_zero(argument, multiply(_SELU_SCALE, argument), below)


def _celu(argument: Expression, scale: Expression = ONE) -> Expression:
    return _right_of_zero(argument, argument, multiply(scale, _expm1(divide(argument, scale))))


def _expm1(argument: Expression) -> Expression:
    return add(call("exp", argument), number(-1))


def _right_of_zero(argument: Expression, above: Expression, below: Expression) -> Expression:
    return piecewise((above, (tree.Comparison(argument, ">", ZERO),)), (below, tree.ALWAYS))


def _threshold(argument: Expression, place: Expression, below: Expression) -> Expression:
    return piecewise((argument, (tree.Comparison(argument, ">", place),)), (below, tree.ALWAYS))


def _gelu(argument: Expression) -> Expression:
    # erfc keeps the relative accuracy of the left tail, where 1 + erf cancels
    tail = call("erfc", negate(divide(argument, call("sqrt", number(2)))))
    return multiply(_HALF, argument, tail)


def _gelu_tanh(argument: Expression) -> Expression:
    # (1 + tanh(u))/2 = sigmoid(2 u), which does not cancel in the left tail
    cubic = add(argument, multiply(tree.Number(Fraction("0.044715")), power(argument, number(3))))
    return multiply(argument, call("sigmoid", multiply(call("sqrt", divide(number(8), tree.Constant("pi"))), cubic)))


def _swish(argument: Expression, slope: Expression = ONE) -> Expression:
    return multiply(argument, call("sigmoid", multiply(slope, argument)))


def _leaky_relu(argument: Expression, slope: Expression = _ONE_PERCENT) -> Expression:
    return _right_of_zero(argument, argument, multiply(slope, argument))


def _prelu(argument: Expression, slope: Expression = _QUARTER) -> Expression:
    return _leaky_relu(argument, slope)


def _softplus(argument: Expression, slope: Expression = ONE) -> Expression:
    return divide(call("softplus", multiply(slope, argument)), slope)


def _squareplus(argument: Expression, curvature: Expression = _FOUR) -> Expression:
    return multiply(_HALF, add(argument, call("sqrt", add(power(argument, number(2)), curvature))))


def _clip(argument: Expression, low: Expression, high: Expression) -> Expression:
    return minimum(maximum(argument, low), high)


def _hardtanh(argument: Expression, low: Expression = _MINUS_ONE, high: Expression = ONE) -> Expression:
    return maximum(low, minimum(argument, high))


def _relu6(argument: Expression) -> Expression:
    return _clip(argument, ZERO, number(6))


def _hardsigmoid(argument: Expression) -> Expression:
    return divide(_relu6(add(argument, number(3))), number(6))


def _hardshrink(argument: Expression, half_width: Expression = _HALF) -> Expression:
    inside = (tree.Comparison(negate(half_width), "<=", argument), tree.Comparison(argument, "<=", half_width))
    return piecewise((ZERO, inside), (argument, tree.ALWAYS))


def _softshrink(argument: Expression, half_width: Expression = _HALF) -> Expression:
    if isinstance(half_width, tree.Number) and half_width.value < 0:
        raise ExpressionError(f"softshrink(z, l) needs l >= 0, not {half_width}; for example softshrink(z, 1/2)")
    return add(maximum(add(argument, negate(half_width)), ZERO), minimum(add(argument, half_width), ZERO))


def _sparse_sigmoid(argument: Expression) -> Expression:
    return _clip(multiply(_HALF, add(argument, ONE)), ZERO, ONE)


def _sparse_plus(argument: Expression) -> Expression:
    between = multiply(_QUARTER, power(add(argument, ONE), number(2)))
    below, above = tree.Comparison(argument, "<=", _MINUS_ONE), tree.Comparison(argument, "<", ONE)
    return piecewise((ZERO, (below,)), (between, (above,)), (argument, tree.ALWAYS))


def _primitive(name: str) -> Callable[..., Expression]:
    return lambda argument: call(name, argument)


def _unary(build: Callable[..., Expression], example: str, *also: str) -> NamedFunction:
    return NamedFunction(build, 1, 1, example, also)


# The functions under the names that messages use. docs/model.md says what each means, and a test compares the two.
_TABLE: dict[str, NamedFunction] = {name: _unary(_primitive(name), f"{name}(z)") for name in FUNCTIONS} | {
    "exp": _unary(_primitive("exp"), "exp(z)", "exponential"),
    "Abs": _unary(_primitive("Abs"), "Abs(z)", "abs", "absolute", "fabs"),
    "atan": _unary(_primitive("atan"), "atan(z)", "arctan"),
    "asinh": _unary(_primitive("asinh"), "asinh(z)", "arcsinh"),
    "Heaviside": _unary(_primitive("Heaviside"), "Heaviside(z)", "heaviside", "step"),
    "sigmoid": _unary(_primitive("sigmoid"), "sigmoid(z)", "expit"),
    "softplus": NamedFunction(_softplus, 1, 2, "softplus(z, 1)"),
    "identity": _unary(lambda u: u, "identity(z)", "linear"),
    "expm1": _unary(_expm1, "expm1(z)"),
    "relu": _unary(lambda u: maximum(u, ZERO), "relu(z)"),
    "relu6": _unary(_relu6, "relu6(z)"),
    "hardtanh": NamedFunction(_hardtanh, 1, 3, "hardtanh(z, -1, 1)", ("hard_tanh",)),
    "hardsigmoid": _unary(_hardsigmoid, "hardsigmoid(z)", "hard_sigmoid"),
    "hardswish": _unary(
        lambda u: multiply(u, _hardsigmoid(u)), "hardswish(z)", "hard_swish", "hardsilu", "hard_silu"
    ),
    "hardshrink": NamedFunction(_hardshrink, 1, 2, "hardshrink(z, 1/2)", ("hard_shrink",)),
    "softshrink": NamedFunction(_softshrink, 1, 2, "softshrink(z, 1/2)", ("soft_shrink",)),
    "tanhshrink": _unary(lambda u: add(u, negate(call("tanh", u))), "tanhshrink(z)", "tanh_shrink"),
    "sparse_sigmoid": _unary(_sparse_sigmoid, "sparse_sigmoid(z)"),
    "sparse_plus": _unary(_sparse_plus, "sparse_plus(z)"),
    "softsign": _unary(lambda u: divide(u, add(call("Abs", u), ONE)), "softsign(z)", "soft_sign"),
    "logsigmoid": _unary(lambda u: negate(call("softplus", negate(u))), "logsigmoid(z)", "log_sigmoid"),
    "gelu": _unary(_gelu, "gelu(z)"),
    "gelu_tanh": _unary(_gelu_tanh, "gelu_tanh(z)"),
    "silu": _unary(_swish, "silu(z)"),
    "swish": NamedFunction(_swish, 1, 2, "swish(z, 2)"),
    "mish": _unary(lambda u: multiply(u, call("tanh", call("softplus", u))), "mish(z)"),
    "squareplus": NamedFunction(_squareplus, 1, 2, "squareplus(z, 4)"),
    "leaky_relu": NamedFunction(_leaky_relu, 1, 2, "leaky_relu(z, 1/100)"),
    "prelu": NamedFunction(_prelu, 1, 2, "prelu(z, 1/4)"),
    "elu": NamedFunction(_elu, 1, 2, "elu(z, 1)"),
    "selu": _unary(_selu, "selu(z)"),
    "celu": NamedFunction(_celu, 1, 2, "celu(z, 1)"),
    "threshold": NamedFunction(_threshold, 3, 3, "threshold(z, 1, 20)"),
    "clip": NamedFunction(_clip, 3, 3, "clip(z, -1, 1)", ("clamp",)),
    "he": NamedFunction(_he, 2, 2, "he(3, z)"),
    "Max": NamedFunction(maximum, 1, None, "Max(z, 0)", ("max", "maximum")),
    "Min": NamedFunction(minimum, 1, None, "Min(z, 1)", ("min", "minimum")),
    # The argument z alone is not real or not finite on the whole line.
    "sqrt": _unary(_primitive("sqrt"), "sqrt(1 + z**2)"),
    "log": _unary(_primitive("log"), "log(1 + z**2)"),
    "log1p": _unary(lambda u: call("log", add(u, ONE)), "log1p(z**2)"),
}  # fmt: skip
NAMED: dict[str, NamedFunction] = _TABLE | {other: known for known in _TABLE.values() for other in known.also}


def named_function(name: str) -> NamedFunction | None:
    """The function called `name` (heK is he(K, .), and a class of PyTorch the function of its letters), or None."""
    if name != name.lower() and name not in NAMED:
        name = _CALLED_OTHERWISE.get(name.lower(), name.lower())
    if name.startswith("he") and name[2:].isdecimal() and len(name) <= 4:
        degree = number(int(name[2:]))
        return _unary(lambda argument: _he(degree, argument), f"{name}(z)")
    return NAMED.get(name)


# What people write for functions of the language, and no misspelling of any.
_CALLED_OTHERWISE = {"ln": "log", "logistic": "sigmoid", "leakyrelu": "leaky_relu"}


def nearest_names(name: str) -> tuple[str, ...]:
    """The functions that a misspelt name may stand for, at most two; none where none is close."""
    lowered, known = name.lower(), [*NAMED, *CONSTRUCTIONS]
    lowered = _CALLED_OTHERWISE.get(lowered, lowered)
    return (lowered,) if lowered in known else tuple(get_close_matches(lowered, known, n=2, cutoff=0.7))


def function_names() -> str:
    """The functions of the language under the names that messages use, separated by commas."""
    return ", ".join([*sorted(_TABLE, key=str.lower), "he2, he3, ...", *CONSTRUCTIONS])


def stands_alone(name: str) -> bool:
    """Whether the bare name means name(z): a function that can do with one argument."""
    known = named_function(name)
    return known is not None and known.least == 1 and known.most is not None
