"""Gaussian integrals of an expression by other means than the suite's: its own reading of the text, composite Gauss
rules in mpmath, panels split at switching points that are found by scanning and bisection.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from functools import lru_cache
from itertools import pairwise
from typing import Any

import mpmath

mp = mpmath.mp
DIGITS = 40
END = 15  # the Gaussian weight beyond is 1e-50
_SCAN = 1401
_WIDTH = 0.5

Function = Callable[[Any], Any]


def _sigmoid(u: Any) -> Any:
    return 1 / (1 + mpmath.exp(-u))


def _softplus(u: Any) -> Any:
    return mpmath.log1p(mpmath.exp(-abs(u))) + max(u, mpmath.mpf(0))


def _heaviside(u: Any) -> Any:
    return (1 + mpmath.sign(u)) / 2


_FUNCTIONS: dict[str, Callable[..., Any]] = {
    "exp": mpmath.exp, "log": mpmath.log, "sqrt": mpmath.sqrt, "sin": mpmath.sin, "cos": mpmath.cos,
    "tanh": mpmath.tanh, "cosh": mpmath.cosh, "sinh": mpmath.sinh, "atan": mpmath.atan, "asinh": mpmath.asinh,
    "erf": mpmath.erf, "erfc": mpmath.erfc, "sign": mpmath.sign, "Heaviside": _heaviside, "step": _heaviside,
    "Abs": abs, "Max": max, "Min": min, "sigmoid": _sigmoid, "softplus": _softplus, "arctan": mpmath.atan,
    "relu": lambda u: max(u, mpmath.mpf(0)),
    "leaky_relu": lambda u, a: u if u > 0 else a * u,
    "elu": lambda u: u if u > 0 else mpmath.expm1(u),
    "gelu": lambda u: u * mpmath.erfc(-u / mpmath.sqrt(2)) / 2,
    "silu": lambda u: u * _sigmoid(u),
    "swish": lambda u, b: u * _sigmoid(b * u),
    "mish": lambda u: u * mpmath.tanh(_softplus(u)),
    "softsign": lambda u: u / (1 + abs(u)),
    "hardtanh": lambda u: max(min(u, mpmath.mpf(1)), -mpmath.mpf(1)),
    "he3": lambda u: u**3 - 3 * u,
}  # fmt: skip
# Where the argument of these changes sign the function may be no longer smooth.
_SWITCHES = {"sign": (0,), "Heaviside": (0,), "step": (0,), "Abs": (0,), "relu": (0,), "leaky_relu": (0,), "elu": (0,),
             "softsign": (0,), "hardtanh": (-1, 1)}  # fmt: skip


def function_of(text: str) -> tuple[Function, list[Function]]:
    """The function that the text means, and the switching functions in it."""
    switches: list[Function] = []
    return _compile(ast.parse(text, mode="eval").body, switches), switches


def _compile(node: ast.expr, switches: list[Function]) -> Function:
    match node:
        case ast.Constant(value):
            number = mpmath.mpf(str(value))
            return lambda z: number
        case ast.Name("z"):
            return lambda z: z
        case ast.Name("pi"):
            return lambda z: mpmath.pi()
        case ast.UnaryOp(ast.USub(), operand):
            inner = _compile(operand, switches)
            return lambda z: -inner(z)
        case ast.BinOp(left, operator, right):
            a, b, join = _compile(left, switches), _compile(right, switches), _JOIN[type(operator)]
            return lambda z: join(a(z), b(z))
        case ast.Call(ast.Name("Piecewise"), pieces):
            return _piecewise(pieces, switches)
        case ast.Call(ast.Name(name), args):
            arguments = [_compile(arg, switches) for arg in args]
            _note_switches(name, arguments, switches)
            outer = _FUNCTIONS[name]
            return lambda z: outer(*(f(z) for f in arguments))
    raise AssertionError(f"the reference does not read {ast.dump(node)}")


_JOIN: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: lambda a, b: a + b, ast.Sub: lambda a, b: a - b, ast.Mult: lambda a, b: a * b,
    ast.Div: lambda a, b: a / b, ast.Pow: lambda a, b: a ** int(b) if b == int(b) else a**b,
}  # fmt: skip


def _difference(a: Function, b: Function) -> Function:
    return lambda z: a(z) - b(z)


def _note_switches(name: str, arguments: list[Function], switches: list[Function]) -> None:
    for level in _SWITCHES.get(name, ()):
        switches.append(_difference(arguments[0], lambda z, level=level: mpmath.mpf(level)))  # type: ignore[misc]
    if name in ("Max", "Min"):
        for k, a in enumerate(arguments):
            switches.extend(_difference(a, b) for b in arguments[k + 1 :])


def _piecewise(pieces: list[ast.expr], switches: list[Function]) -> Function:
    """Piecewise((value, left > right), ..., (value, True))."""
    built: list[tuple[Function, Function | None]] = []
    for piece in pieces:
        assert isinstance(piece, ast.Tuple)
        value, condition = piece.elts
        gap: Function | None = None
        if isinstance(condition, ast.Compare):
            assert isinstance(condition.ops[0], ast.Gt)
            gap = _difference(_compile(condition.left, switches), _compile(condition.comparators[0], switches))
            switches.append(gap)
        built.append((_compile(value, switches), gap))

    def value_at(z: Any) -> Any:
        return next(value(z) for value, gap in built if gap is None or gap(z) > 0)

    return value_at


def switching_points(switches: list[Function]) -> list[Any]:
    """Sign changes of the switching functions on [-15, 15], by a scan in steps of 0.02 and bisection to 1e-40."""
    found: set[Any] = set()
    for gap in switches:
        # off the grid of round numbers, where the sign would be zero
        places = [mpmath.mpf(-END) + mpmath.mpf(2 * END) * (k + mpmath.mpf("0.3137")) / _SCAN for k in range(_SCAN)]
        signs = [mpmath.sign(gap(z)) for z in places]
        for k in range(_SCAN - 1):
            if signs[k] * signs[k + 1] < 0:
                found.add(_bisected(gap, places[k], places[k + 1], signs[k]))
    return sorted(found)


def _bisected(gap: Function, low: Any, high: Any, sign: Any) -> Any:
    for _ in range(140):
        middle = (low + high) / 2
        if mpmath.sign(gap(middle)) == sign:
            low = middle
        else:
            high = middle
    return (low + high) / 2


@lru_cache(maxsize=4)
def _gauss(order: int) -> tuple[tuple[Any, Any], ...]:
    """Gauss-Legendre nodes and weights by Newton's method on the Legendre recurrence."""
    found = []
    for k in range(1, order + 1):
        x = mpmath.cos(mpmath.pi * (k - mpmath.mpf(1) / 4) / (order + mpmath.mpf(1) / 2))
        for _ in range(8):
            before, p = mpmath.mpf(1), x
            for n in range(2, order + 1):
                before, p = p, ((2 * n - 1) * x * p - (n - 1) * before) / n
            slope = order * (x * p - before) / (x * x - 1)
            x -= p / slope
        found.append((x, 2 / ((1 - x * x) * slope**2)))
    return tuple(found)


@lru_cache(maxsize=4096)
def _panel(low: Any, high: Any, order: int) -> tuple[tuple[Any, Any], ...]:
    """Nodes on a panel, each with its weight under the Gaussian; most panels are those of every function."""
    half, middle = (high - low) / 2, (high + low) / 2
    nodes = [(middle + half * x, half * weight) for x, weight in _gauss(order)]
    return tuple((z, weight * mpmath.npdf(z)) for z, weight in nodes)


def integrals(text: str, factors: list[Function]) -> list[tuple[Any, Any]]:
    """(value, error) of E[factor(z, sigma(z))] for each factor, called with the pair; the error compares two rules."""
    with mpmath.workdps(DIGITS):
        sigma, switches = function_of(text)
        count = round(2 * END / _WIDTH)
        edges = [mpmath.mpf(-END) + k * mpmath.mpf(_WIDTH) for k in range(count + 1)]
        edges = sorted({*edges, *switching_points(switches)})
        # What lies beyond the last panel falls off within a unit length.
        last = [(z, sigma(z)) for z in (edges[0], edges[-1])]
        beyond = [sum(abs(f(pair)) * mpmath.npdf(pair[0]) for pair in last) for f in factors]
        rules = []
        for order in (14, 22):
            nodes = [node for ends in pairwise(edges) for node in _panel(*ends, order)]
            pairs, masses = [(z, sigma(z)) for z, _ in nodes], [mass for _, mass in nodes]
            rules.append([mpmath.fdot(masses, map(f, pairs)) for f in factors])
        return [(fine, abs(fine - coarse) + tail) for coarse, fine, tail in zip(*rules, beyond, strict=True)]
