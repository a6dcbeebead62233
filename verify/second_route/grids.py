"""Numbers straight from definitions, for checks that must not lean on a derivation or on the solver.

Averages over a few standard normal coordinates are sums over a grid: a trapezoidal rule in one dimension, accurate to
rounding for functions smooth on the scale of its step, and Gauss-Hermite products in two to four, for entire functions.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Function = Callable[[Array], Any]


def _special(name: str) -> Callable[..., Any]:
    """A function of SciPy, loaded when its first value is asked for: a quarter of the time in which all claims are
    stated, otherwise.
    """

    def value(*arguments: Any) -> Any:
        import scipy.special

        return getattr(scipy.special, name)(*arguments)

    return value


erf, expit, owens_t = map(_special, ("erf", "expit", "owens_t"))


@lru_cache(maxsize=64)
def normal_line(step: float, reach: float = 9.0) -> tuple[Array, Array]:
    """Points and weights of E f(z), z ~ N(0, 1), by the trapezoidal rule.

    The error is exp(-2 pi w/step) for f analytic within w of the line, beside the tail beyond ``reach``.
    """
    z = np.arange(-reach, reach + step / 2, step)
    return z, step * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


@lru_cache(maxsize=64)
def normal_rule(count: int) -> tuple[Array, Array]:
    """Points and weights of E f(z), z ~ N(0, 1), exact for polynomials of degree below 2 ``count`` (Gauss-Hermite)."""
    z, weight = np.polynomial.hermite_e.hermegauss(count)
    return np.asarray(z), np.asarray(weight / weight.sum())


@lru_cache(maxsize=16)
def _legendre(order: int) -> tuple[Array, Array]:
    node, weight = np.polynomial.legendre.leggauss(order)
    return np.asarray(node), np.asarray(weight)


def panels(edges: Array, order: int) -> tuple[Array, Array]:
    """Points and weights of an integral over panels between ``edges``, by Gauss-Legendre rules of ``order`` points."""
    node, weight = _legendre(order)
    half = np.diff(edges)[:, None] / 2
    return (edges[:-1, None] + half * (node + 1)).ravel(), (half * weight).ravel()


def normal_panels(edges: Array, order: int) -> tuple[Array, Array]:
    """The same for E[f(z); z within the panels], z ~ N(0, 1)."""
    z, weight = panels(edges, order)
    return z, weight * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)


@dataclass(frozen=True)
class Curve:
    """A function with its derivative."""

    value: Function
    prime: Function


@dataclass(frozen=True)
class Smooth(Curve):
    """A function with its first two derivatives."""

    second: Function


def _tanh_second(z: Array) -> Array:
    t = np.tanh(z)
    return np.asarray(-2 * t * (1 - t**2))


# Odd activations and targets of any parity. Products of Gauss-Hermite rules are used with the entire ones of moderate
# growth only.
SMOOTH: dict[str, Smooth] = {
    "tanh": Smooth(np.tanh, lambda z: 1 / np.cosh(z) ** 2, _tanh_second),
    "sin": Smooth(np.sin, np.cos, lambda z: -np.sin(z)),
    "erf": Smooth(
        erf, lambda z: 2 / np.sqrt(np.pi) * np.exp(-(z**2)), lambda z: -4 * z / np.sqrt(np.pi) * np.exp(-(z**2))
    ),
    "cubic": Smooth(lambda z: z - z**3 / 6, lambda z: 1 - z**2 / 2, lambda z: -z),
    "shifted sin": Smooth(lambda z: np.sin(z + 0.7), lambda z: np.cos(z + 0.7), lambda z: -np.sin(z + 0.7)),
    "quadratic": Smooth(lambda z: 0.3 + z + z**2 / 2, lambda z: 1 + z, lambda z: np.ones_like(z)),
}
ODD = ("tanh", "sin", "erf", "cubic")
ODD_ENTIRE = ("sin", "cubic")
ANY = (*ODD, "shifted sin", "quadratic")
ANY_ENTIRE = (*ODD_ENTIRE, "shifted sin", "quadratic")
TARGETS = ("tanh", "sin", "shifted sin", "quadratic")
TARGETS_ENTIRE = ("sin", "shifted sin", "quadratic")

LINE, WEIGHT = normal_line(1 / 40, 12.0)  # exp(-72) = 5e-32: the tail is below rounding


def average(function: Function) -> float:
    """E f(z), z ~ N(0,1), for a smooth function of moderate growth."""
    return float(WEIGHT @ function(LINE))


def distance_from_span(columns: Sequence[Array], right: Array) -> float:
    """min over b of E(right - sum_k b_k columns[k])^2, from values on `LINE`; the columns may be dependent."""
    root = np.sqrt(WEIGHT)
    basis = np.linalg.svd(np.stack(columns, axis=1) * root[:, None], full_matrices=False)[0]
    left = right * root - basis @ (basis.T @ (right * root))
    return float(left @ left)


_NODES = {1: 60, 2: 60, 3: 40, 4: 24}  # per coordinate; a fourth power of a sine is integrated to 1e-11


@lru_cache(maxsize=16)
def grid(dimension: int) -> tuple[Array, Array]:
    """Points (N, dimension) and weights (N,) of the product Gauss-Hermite rule for standard normal coordinates."""
    line, weight = normal_rule(_NODES[dimension])
    points = np.stack([x.ravel() for x in np.meshgrid(*([line] * dimension), indexing="ij")], axis=1)
    weights = weight
    for _ in range(dimension - 1):
        weights = np.multiply.outer(weights, weight).ravel()
    return points, weights


@lru_cache(maxsize=4)
def half_line(count: int = 60, order: int = 20) -> tuple[Array, Array]:
    """Points z > 0 and weights of E[f(z); z > 0]: Gauss-Legendre panels on [0, 12], for functions that jump at zero."""
    return normal_panels(np.linspace(0.0, 12.0, count + 1), order)


def hermite_numbers(activation: str, target: str) -> dict[str, float]:
    """h1, h2, h1_check of the activation, h1*, h2* of the target, from their definitions.

    Keys are the glyphs of the symbols.
    """
    from giantsteps.derivations.language import symbols as s

    student, teacher = SMOOTH[activation], SMOOTH[target]
    h1 = average(lambda z: z * student.value(z))
    return {
        s.h1.name: h1,
        s.h2.name: average(lambda z: student.value(z) ** 2),
        s.h1_check.name: average(lambda z: (student.prime(z) - h1) ** 2),
        s.h1_star.name: average(lambda z: z * teacher.value(z)),
        s.h2_star.name: average(lambda z: teacher.value(z) ** 2),
    }


def interpretation(activation: str, target: str) -> dict[str, Function]:
    """Implementations of the undefined functions of the derivations."""
    student, teacher = SMOOTH[activation], SMOOTH[target]
    h1 = average(lambda z: z * student.value(z))
    return {
        "sigma": student.value,
        "sigma_prime": student.prime,
        "sigma_second": student.second,
        "sigma_check": lambda z: student.prime(z) - h1,
        "g": teacher.value,
        "g_prime": teacher.prime,
    }


# For derivations that need the activation odd, and for those that do not.
INTERPRETATIONS = tuple(
    interpretation(a, b) for a, b in (("tanh", "shifted sin"), ("sin", "quadratic"), ("cubic", "tanh"))
)
ANY_INTERPRETATIONS = tuple(interpretation(a, "sin") for a in ("shifted sin", "tanh", "quadratic"))
