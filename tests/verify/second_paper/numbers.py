"""Numbers that know nothing of the fixed point: averages over the law of Marchenko and Pastur of X^T X/T."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import sympy as sp
from scipy.optimize import minimize_scalar

from giantsteps import Expectation, Law, solve_equations
from giantsteps.verify.checks.points import Point
from tests.verify.second_paper import symbols as s

x = sp.Symbol("x", nonnegative=True)  # an eigenvalue of X^T X/T
square, mixed, shrunk = sp.symbols("square mixed shrunk", positive=True)
EQUATIONS = {
    square: Expectation(s.ridge**2 / (x + s.ridge) ** 2, x),
    mixed: Expectation(x / (x + s.ridge) ** 2, x),
    shrunk: Expectation(s.ridge / (x + s.ridge), x),
    s.effective: shrunk / (1 - shrunk),
    s.bias: s.signal * square,
    s.variance: s.noise / s.ratio * mixed,
    s.training: s.ridge**2 * s.signal * mixed + s.noise * (square / s.ratio + 1 - 1 / s.ratio),
}


def at(point: Point, **changes: float) -> Mapping[str, float]:
    """Bias, variance, training error and effective ridge at a point."""
    given = {k: v for k, v in point.items() if isinstance(v, float)} | changes
    numbers = {symbol: given[symbol.name] for symbol in (s.ratio, s.ridge, s.signal, s.noise)}
    return solve_equations(EQUATIONS, numbers, {x: Law.marchenko_pastur(1 / numbers[s.ratio])}).values


def error(point: Point, ridge: float) -> float:
    """Test error at another ridge, the noise of a new sample left out."""
    found = at(point, **{s.ridge.name: ridge})
    return found[s.bias.name] + found[s.variance.name]


def small_ridge(point: Point) -> Mapping[str, float]:
    """The test error at l = 1e-6: it differs from its limit by O(l)."""
    changes = {s.ratio.name: 1 / (1 + float(point[s.excess.name])), s.ridge.name: 1e-6}
    found = at(point, **changes)
    return {s.ridgeless.name: found[s.bias.name] + found[s.variance.name] + float(point[s.noise.name])}


def height(point: Point) -> Mapping[str, float]:
    """sqrt(l) V at a = 1 and l = 1e-8: it differs from its limit by O(sqrt(l))."""
    found = at(point, **{s.ratio.name: 1.0, s.ridge.name: 1e-8})
    return {s.peak.name: 1e-4 * found[s.variance.name]}


def minimum(point: Point) -> Mapping[str, float]:
    """Where the test error is least, searched in the logarithm of the ridge."""
    found = minimize_scalar(
        lambda log: error(point, float(np.exp(log))), bounds=(-6, 6), method="bounded", options={"xatol": 1e-9}
    )
    return {s.best_ridge.name: float(np.exp(found.x))}
