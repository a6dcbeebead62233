"""The functions along the spike from their definitions, on rules of its own.

    mu0(kappa) = E sigma(r kappa + b + sqrt(c) z),  mu1 = E[z sigma(...)]/sqrt(c),  mu2^2 = E sigma^2 - mu0^2 - c mu1^2,

and y0, y1, y2 of the label likewise, with the target's part across the spike. An activation is evaluated by an
interpreter of its expression; where it has breakpoints the line is cut there, and each part has a Gauss-Legendre rule.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import lru_cache, reduce
from operator import add, mul
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions import tree
from giantsteps.verify.compiled.doubles import Rule, normal_rule

Array = NDArray[np.float64]

_REACH, _ORDER = 12.0, 48
_FUNCTIONS: dict[str, Callable[[Array], Array]] = {
    "asinh": np.arcsinh,
    "atan": np.arctan,
    "Heaviside": lambda u: np.heaviside(u, 0.5),
    "Abs": np.abs,
    "softplus": lambda u: np.logaddexp(0.0, u),
}
_SPECIAL = {"erf": "erf", "erfc": "erfc", "sigmoid": "expit"}
_CONSTANTS = {"pi": math.pi, "e": math.e}
_HOLDS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal}


def evaluated(expression: tree.Expression, z: Array) -> Array:
    """The values of an expression at an array."""
    match expression:
        case tree.Variable():
            return z
        case tree.Number(value):
            return np.full_like(z, float(value))
        case tree.Constant(name):
            return np.full_like(z, _CONSTANTS[name])
        case tree.Sum(terms):
            return reduce(add, (evaluated(term, z) for term in terms))
        case tree.Product(factors):
            return reduce(mul, (evaluated(factor, z) for factor in factors))
        case tree.Power(base, exponent):
            return np.asarray(evaluated(base, z) ** evaluated(exponent, z))
        case tree.Quotient(above, below):
            return np.asarray(evaluated(above, z) / evaluated(below, z))
        case tree.Call(name, argument):
            return np.asarray(_called(name)(evaluated(argument, z)))
        case tree.Maximum(args):
            return reduce(np.maximum, (evaluated(arg, z) for arg in args))
        case tree.Minimum(args):
            return reduce(np.minimum, (evaluated(arg, z) for arg in args))
        case tree.Piecewise(pieces):
            conditions = [
                reduce(np.logical_and, [_HOLDS[c.op](evaluated(c.left, z), evaluated(c.right, z)) for c in condition])
                if condition
                else np.ones_like(z, dtype=bool)
                for _, condition in pieces
            ]
            return np.select(conditions, [evaluated(value, z) for value, _ in pieces])
    raise TypeError(f"not an expression: {expression!r}")


def _called(name: str) -> Callable[[Array], Array]:
    if name in _SPECIAL:
        from scipy import special  # here, since whoever asks what is claimed computes nothing

        return getattr(special, _SPECIAL[name])  # type: ignore[no-any-return]
    return _FUNCTIONS.get(name) or getattr(np, name)


class Averages(NamedTuple):
    """E sigma, E z sigma, E sigma^2 and E (z^2 - 1) sigma at places."""

    mean: Array
    slope: Array
    square: Array
    curve: Array


@lru_cache(maxsize=64)
def _legendre() -> tuple[Array, Array]:
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    return np.asarray(nodes), np.asarray(weights)


def cuts_of(function: Activation) -> tuple[float, ...]:
    """The breakpoints."""
    return tuple(float(point.location.value) for point in function.breakpoints)


def averages(function: Activation, places: Array, scale: float) -> Averages:
    """Of sigma(place + scale z) over a standard normal z. mu0, mu1 and mu2 are made of the same ones."""
    return _averages(function, np.asarray(places, dtype=float).tobytes(), scale)


@lru_cache(maxsize=64)
def _averages(function: Activation, raw: bytes, scale: float) -> Averages:
    places = np.frombuffer(raw)
    with np.errstate(all="ignore"):
        if scale == 0.0:
            values = evaluated(function.expression, places)
            return Averages(values, np.zeros_like(values), values**2, np.zeros_like(values))
        cuts = cuts_of(function)
        z, weights = _cut_rule(places, scale, cuts) if cuts else normal_rule()
        values = evaluated(function.expression, places[:, None] + scale * z)
        summed = values * weights
        weighted = (summed, summed * z, summed * values, summed * (z * z - 1.0))
        return Averages(*(np.sum(each, axis=1) for each in weighted))


def _cut_rule(places: Array, scale: float, cuts: tuple[float, ...], panels: int = 8) -> tuple[Array, Array]:
    """Panels of z, cut where place + scale z meets a breakpoint; (places, nodes)."""
    even = np.linspace(-_REACH, _REACH, panels + 1)
    met = [np.clip((cut - places) / scale, -_REACH, _REACH) for cut in cuts]
    edges = np.sort(np.concatenate([np.broadcast_to(even, (len(places), len(even))), *(m[:, None] for m in met)], 1), 1)
    nodes, weights = _legendre()
    half = 0.5 * np.diff(edges, axis=1)[..., None]
    z = (edges[:, :-1, None] + half * (1.0 + nodes)).reshape(len(places), -1)
    return z, (half * weights).reshape(len(places), -1) * np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


def kappa_rule(cuts: tuple[float, ...] = (), finer: float = 1.0) -> Rule:
    """A rule for kappa: trapezoidal, or panels between places where what is averaged is not smooth."""
    if not cuts:
        return normal_rule(1.0 / (16.0 * finer))
    z, weights = _cut_rule(np.zeros(1), 1.0, cuts, round(8 * finer))
    return Rule(z[0], weights[0])
