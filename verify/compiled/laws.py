"""Laws of variables that are averaged over, with rules as fine as they have to be."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np
from numpy.typing import ArrayLike

from giantsteps.verify.compiled.along import kappa_rule
from giantsteps.verify.compiled.doubles import Array, Rule, normal_rule
from giantsteps.verify.compiled.tape import CompileError


@dataclass(frozen=True)
class Law:
    """The law of a variable that is averaged over: `normal`, `uniform`, `marchenko_pastur`, `points`, or one's own.

    text: what it is called.
    rule: `rule(finer)` gives nodes and weights, some `finer` times as many as `rule(1.0)`.

    >>> giantsteps.Law.uniform(0.5, 1.5).text
    'uniform on [0.5, 1.5]'
    """

    text: str
    rule: Callable[[float], tuple[Array, Array]] = field(repr=False)

    @staticmethod
    def normal(*kinks: float) -> Law:
        """The standard normal law, for functions that are smooth but at these places."""
        return Law("standard normal", partial(_normal, tuple(_finite("a kink", kink) for kink in kinks)))

    @staticmethod
    def uniform(low: float, high: float) -> Law:
        """The uniform law on [low, high]. Raises CompileError."""
        low, high = _finite("low", low), _finite("high", high)
        if not low < high:
            raise CompileError(f"uniform on [{low:g}, {high:g}] is not a law: low has to be below high")
        return Law(f"uniform on [{low:g}, {high:g}]", partial(_uniform, low, high))

    @staticmethod
    def marchenko_pastur(ratio: float) -> Law:
        """The eigenvalues of X^T X/n, where X has n rows and d columns of unit variance, d/n -> ratio.

        Raises CompileError.
        """
        ratio = _finite("ratio", ratio)
        if not ratio > 0.0:
            raise CompileError(f"ratio = {ratio:g} is not accepted: Marchenko and Pastur's law has a finite ratio > 0")
        return Law(f"Marchenko-Pastur of ratio {ratio:g}", partial(_marchenko_pastur, ratio))

    @staticmethod
    def points(values: ArrayLike, weights: ArrayLike | None = None) -> Law:
        """Finitely many values, such as eigenvalues, with equal weights or with these, divided by their sum.

        Raises CompileError.
        """
        try:
            nodes = np.array(values, dtype=float)
            given = np.ones_like(nodes) if weights is None else np.array(weights, dtype=float)
        except (TypeError, ValueError):
            nodes, given = np.zeros(0), np.zeros(1)  # refused as other lists that are none of points
        if nodes.ndim != 1 or nodes.shape != given.shape or not np.all(np.isfinite([nodes, given])):
            raise CompileError("points are a list of finite values and, if weights are given, as many finite weights")
        if np.any(given < 0.0) or not np.sum(given) > 0.0:
            raise CompileError("weights of points have to be at least 0, and one above 0")
        rule = Rule(nodes, given / np.sum(given))
        return Law(f"{len(nodes)} points", lambda _: rule)


def _finite(what: str, value: float) -> float:
    """The number. Raises CompileError."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not math.isfinite(number):
        raise CompileError(f"{what} = {value!r} is not accepted: it has to be a finite number")
    return number


def _normal(kinks: tuple[float, ...], finer: float) -> Rule:
    return kappa_rule(kinks, finer) if kinks else normal_rule(1 / (16 * finer), 12.0 * finer**0.25)


def _uniform(low: float, high: float, finer: float) -> Rule:
    nodes, weights = np.polynomial.legendre.leggauss(round(32 * finer))
    return Rule(low + 0.5 * (high - low) * (1 + nodes), 0.5 * weights)


def _marchenko_pastur(ratio: float, finer: float) -> Rule:
    """x = (1 - sqrt c)^2 + 4 sqrt(c) sin(v/2)^2 has the density (2/pi) sin(v)^2/x in v; for c > 1 zero has 1 - 1/c.

    The rule for v is trapezoidal in u, where v = pi/(1 + exp(-pi sinh u)): it resolves poles however near to v = 0.
    The finer, the farther it reaches: what lies beyond is seen where x^(-p) is averaged.
    """
    step, reach = 1 / (32 * finer), 4.0 + 0.4 * math.log(finer)
    u = step * np.arange(-round(reach / step), round(reach / step) + 1)
    grown = np.exp(-np.pi * np.sinh(u))
    v = np.pi / (1 + grown)
    x = ((1 - ratio) / (1 + math.sqrt(ratio))) ** 2 + 4 * math.sqrt(ratio) * np.sin(v / 2) ** 2
    density = 2 / np.pi * np.sin(v) ** 2 / x
    rule = Rule(x, density * step * v * np.pi * np.cosh(u) * grown / (1 + grown))
    return rule if ratio <= 1.0 else Rule(np.append(rule.nodes, 0.0), np.append(rule.weights, (ratio - 1) / ratio))
