"""Gaussian integrals of an expression by other means than the suite's: Python's reading of the text at mpmath numbers,
composite Gauss rules, panels split at switching points that are found by scanning and bisection.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable
from functools import lru_cache
from itertools import combinations, pairwise
from typing import Any

import mpmath
from mpmath.calculus.quadrature import GaussLegendre

mp = mpmath.mp
DIGITS = 40
END = 15  # the Gaussian weight beyond is 1e-50
_SCAN = 1401
_WIDTH = 0.5
_DEGREES = (3, 4)  # rules of 12 and of 24 points

Function = Callable[[Any], Any]


def _sigmoid(u: Any) -> Any:
    return 1 / (1 + mpmath.exp(-u))


def _softplus(u: Any) -> Any:
    return mpmath.log1p(mpmath.exp(-abs(u))) + max(u, mpmath.mpf(0))


def _heaviside(u: Any) -> Any:
    return (1 + mpmath.sign(u)) / 2


def _piecewise(*pieces: tuple[Any, Any]) -> Any:
    return next(value for value, gap in pieces if gap is True or gap > 0)


_FUNCTIONS: dict[str, Any] = {
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
    "he5": lambda u: u**5 - 10 * u**3 + 15 * u,
    "Piecewise": _piecewise,
}  # fmt: skip
# What changes sign, of the arguments of these, where the function may be no longer smooth.
_SWITCHES: dict[str, Callable[..., list[Any]]] = {
    **dict.fromkeys(("sign", "Heaviside", "step", "Abs", "relu", "leaky_relu", "elu", "softsign"), lambda u, *_: [u]),
    "hardtanh": lambda u: [u + 1, u - 1],
    **dict.fromkeys(("Max", "Min"), lambda *args: [a - b for a, b in combinations(args, 2)]),
    "Piecewise": lambda *pieces: [gap for _, gap in pieces if gap is not True],
}


class _Exactly(ast.NodeTransformer):
    """Decimal numbers as numbers of mpmath, and the condition a > b as the difference a - b."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if node.value is True:
            return node
        return ast.parse(f"mpf('{node.value}')", mode="eval").body

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        assert isinstance(node.ops[0], ast.Gt)
        return ast.BinOp(self.visit(node.left), ast.Sub(), self.visit(node.comparators[0]))


def function_of(text: str) -> Callable[[Any], tuple[Any, list[Any]]]:
    """The value of the text at z, and the values of what switches in it."""
    code = compile(ast.fix_missing_locations(_Exactly().visit(ast.parse(text, mode="eval"))), text, "eval")
    seen: list[Any] = []

    def noted(name: str, outer: Callable[..., Any]) -> Callable[..., Any]:
        def called(*args: Any) -> Any:
            seen.extend(_SWITCHES[name](*args))
            return outer(*args)

        return called if name in _SWITCHES else outer

    names = {name: noted(name, outer) for name, outer in _FUNCTIONS.items()} | {"pi": mp.pi, "mpf": mp.mpf}

    def at(z: Any) -> tuple[Any, list[Any]]:
        seen.clear()
        return eval(code, names, {"z": z}), list(seen)

    return at


def switching_points(switches: Callable[[Any], list[Any]]) -> set[Any]:
    """Sign changes on [-15, 15], by a scan in steps of 0.02 and bisection to 1e-40."""
    # off the grid of round numbers, where the sign would be zero
    places = [mpmath.mpf(-END) + mpmath.mpf(2 * END) * (k + mpmath.mpf("0.3137")) / _SCAN for k in range(_SCAN)]
    signs = [[mpmath.sign(gap) for gap in switches(z)] for z in places]
    found = set()
    for (low, before), (high, after) in pairwise(zip(places, signs, strict=True)):
        for k in (k for k in range(len(before)) if before[k] * after[k] < 0):
            left, right = low, high
            for _ in range(140):
                middle = (left + right) / 2
                left, right = (middle, right) if mpmath.sign(switches(middle)[k]) == before[k] else (left, middle)
            found.add((left + right) / 2)
    return found


@lru_cache(maxsize=4096)
def _panel(low: Any, high: Any, degree: int) -> tuple[tuple[Any, Any], ...]:
    """Nodes on a panel, each with its weight under the Gaussian; most panels are those of every function."""
    half, middle = (high - low) / 2, (high + low) / 2
    nodes = [(middle + half * x, half * weight) for x, weight in _gauss(degree)]
    return tuple((z, weight * mpmath.npdf(z)) for z, weight in nodes)


@lru_cache(maxsize=2)
def _gauss(degree: int) -> list[tuple[Any, Any]]:
    nodes: list[tuple[Any, Any]] = GaussLegendre(mp).calc_nodes(degree, mp.prec)
    return nodes


def integrals(text: str, factors: list[Function]) -> list[tuple[Any, Any]]:
    """(value, error) of E[factor(z, sigma(z))] for each factor, called with the pair; the error compares two rules."""
    with mpmath.workdps(DIGITS):
        at = function_of(text)
        even = [mpmath.mpf(-END) + k * mpmath.mpf(_WIDTH) for k in range(round(2 * END / _WIDTH) + 1)]
        edges = sorted({*even, *switching_points(lambda z: at(z)[1])})
        # What lies beyond the last panel falls off within a unit length.
        last = [(z, at(z)[0]) for z in (edges[0], edges[-1])]
        beyond = [sum(abs(f(pair)) * mpmath.npdf(pair[0]) for pair in last) for f in factors]
        rules = []
        for degree in _DEGREES:
            nodes = [node for ends in pairwise(edges) for node in _panel(*ends, degree)]
            pairs, masses = [(z, at(z)[0]) for z, _ in nodes], [mass for _, mass in nodes]
            rules.append([mpmath.fdot(masses, map(f, pairs)) for f in factors])
        return [(fine, abs(fine - coarse) + tail) for coarse, fine, tail in zip(*rules, beyond, strict=True)]


def moments(text: str, shift: float, scale: float) -> list[Any]:
    """E f, E z f, E f^2 and E (z^2 - 1) f for f the text at shift + scale z; the numbers are read as decimals."""
    factors = [lambda p: p[1], lambda p: p[0] * p[1], lambda p: p[1] ** 2, lambda p: (p[0] ** 2 - 1) * p[1]]
    return [value for value, _ in integrals(re.sub(r"\bz\b", f"({shift!r} + {scale!r}*z)", text), factors)]
