"""Doubles for compiled theorems: arrays whose last axes are the nodes of the rules."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.verify.compiled.tape import CompileError

Array = NDArray[np.float64]
# The functions of SymPy, of real and complex arrays, by NumPy and by SciPy.
_FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    **{name: getattr(np, name) for name in ("exp", "log", "sin", "cos", "tan", "sinh", "cosh", "tanh")},
    **{f"a{name}": getattr(np, f"arc{name}") for name in ("sin", "cos", "tan", "sinh", "cosh", "tanh")},
    "sign": lambda value: np.sign(np.real(value)),
    "Abs": lambda value: value * np.sign(np.real(value)),
}
_SPECIAL = ("erf", "erfc", "erfi", "gamma", "loggamma", "digamma")


class Rule(NamedTuple):
    """Nodes and weights of a rule for a bound variable."""

    nodes: Array
    weights: Array


def normal_rule(step: float = 1 / 16, reach: float = 12.0) -> Rule:
    """The trapezoidal rule for a standard normal variable: exp(-72) of it lies beyond the reach."""
    count = round(reach / step)
    nodes: Array = step * np.arange(-count, count + 1, dtype=np.float64)
    return Rule(nodes, step * np.exp(-0.5 * nodes**2) / np.sqrt(2.0 * np.pi))


class Doubles:
    """Double precision, real or complex; each bound variable has an axis of its own, the first one the last."""

    def __init__(self, rules: Mapping[str, Rule]) -> None:
        self.axes = {variable: -1 - place for place, variable in enumerate(rules)}
        self.weights = {variable: self._along(variable, rule.weights) for variable, rule in rules.items()}
        self.nodes = {variable: self._along(variable, rule.nodes) for variable, rule in rules.items()}

    def _along(self, variable: str, values: Array) -> Array:
        return values.reshape(-1, *([1] * (-1 - self.axes[variable])))

    def number(self, value: Fraction | str) -> Any:
        """As a double."""
        return np.pi if value == "pi" else float(value)

    def root(self, value: Any) -> Any:
        """The principal square root."""
        return np.sqrt(value)

    def function(self, name: str, value: Any) -> Any:
        """By NumPy and SciPy. Raises CompileError for a function that neither has."""
        if name in _FUNCTIONS:
            return _FUNCTIONS[name](value)
        if name not in _SPECIAL:
            raise CompileError(f"no values for the function {name}")
        from scipy import special

        return getattr(special, name)(value)

    def mean(self, variable: str, value: Any) -> Any:
        """The sum over the axis of the variable."""
        summed = np.sum(np.asarray(value) * self.weights[variable], axis=self.axes[variable], keepdims=True)
        return summed
