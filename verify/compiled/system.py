"""Equations of theorems as a system, and its solution.

Each equation determines the symbol on its left. Symbols that determine each other are solved for together, after those
that they need: one sweep evaluates their equations in order, each with what those before it have just given, and the
unknowns are what a sweep reads before it has written it. Sweeps lead near, Newton's method to the end, with complex
steps for slopes, which lose nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantsteps.verify.compiled.doubles import Doubles, Rule
from giantsteps.verify.compiled.program import Functions, Part, Sweep, check, parts_of
from giantsteps.verify.compiled.tape import Tape

_TINY = 1e-30  # a complex step: the slope is exact to rounding
_MOST = 2000
# A step that no longer halves what is left, below this, is at the rounding of the sweep.
_NEAR = 1e-9
# Of equations that are not linear sweeps come first: an increasing map that grows less than its argument has one fixed
# point, to which they lead from anywhere, while Newton's method may end at one that is none of a model.
_CLOSE = 1e-3


class SolveError(ArithmeticError):
    """No solution was found."""


@dataclass(frozen=True)
class Solved:
    """The value of every symbol that an equation determines, and the largest gap |x - F(x)|/(1 + |x|)."""

    values: Mapping[str, float]
    residual: float


class System:
    """Equations on rules, with values for all other symbols and functions of the bound variables.

    Raises CompileError for a symbol that two equations determine, or that none does and that has no value.
    """

    def __init__(
        self, tapes: Sequence[Tape], rules: Mapping[str, Rule], given: Mapping[str, float], functions: Functions,
        sweep: Callable[..., Sweep] = Sweep,
    ) -> None:  # fmt: skip
        self._sweep = sweep
        self._numbers, self._given, self._functions = Doubles(rules), given, functions
        check(tapes, given, self._numbers.nodes, functions)
        self._parts = parts_of(tuple(tapes))

    def solve(self) -> Solved:
        """The solution. Raises SolveError."""
        values: dict[str, float] = {}
        residual = 0.0
        with np.errstate(all="ignore"):
            for part in self._parts:
                sweep = self._sweep(part, self._numbers, {**self._given, **values}, self._functions)
                found, gap = _Iteration(part, sweep, len(self._numbers.nodes)).solve()
                values, residual = values | found, max(residual, gap)
        return Solved(values, residual)


def values_of(
    tapes: Sequence[Tape], rules: Mapping[str, Rule], given: Mapping[str, float], functions: Functions
) -> dict[str, float]:
    """What is given and what the equations determine, by name. Raises CompileError and SolveError."""
    return {**given, **System(tapes, rules, given, functions).solve().values}


class _Iteration:
    """A part over doubles."""

    def __init__(self, part: Part, sweep: Sweep, variables: int) -> None:
        self.unknowns, self.sweep = part.unknowns, sweep
        self.shape = (-1, *([1] * variables))
        positive = {tape.symbol for tape in part.tapes if tape.positive}
        self.positive = np.array([name in positive for name in self.unknowns], dtype=bool)

    def solve(self) -> tuple[dict[str, float], float]:
        """The values, and the gap that is left."""
        x, gap = np.ones(len(self.unknowns)), 0.0
        if self.unknowns:
            x, gap = self._iterated(x)
        found = self.sweep(dict(zip(self.unknowns, x, strict=True)))
        return {name: float(np.reshape(np.real(value), -1)[0]) for name, value in found.items()}, gap

    def _image(self, x: Any, slopes: bool = True) -> tuple[Any, Any]:
        """The sweep at x, and its slopes: one run with a column for each unknown."""
        columns = x[:, None] + 1j * _TINY * np.eye(len(x)) if slopes else x[:, None]
        found = self.sweep({s: c.reshape(self.shape) for s, c in zip(self.unknowns, columns, strict=True)})
        size = columns.shape[1]
        images = np.array([np.broadcast_to(found[s], (size, *self.shape[1:])).reshape(size) for s in self.unknowns])
        return images.real[:, 0], images.imag / _TINY

    def _iterated(self, x: Any) -> tuple[Any, float]:
        once, gap = self._newton(x, 3)
        if gap < _NEAR and self._admits(once):  # linear equations, from whose solution sweeps may lead away
            return self._newton(once, 20)
        left, gap, share, close = np.inf, np.inf, 1.0, _CLOSE
        for _ in range(_MOST):
            if gap < close:
                there, left = self._newton(x, 20)
                if left < _NEAR and self._admits(there):
                    return there, left
                close = 0.1 * gap
            image, _ = self._image(x, slopes=False)
            before, gap = gap, _apart(x, image)
            share = share if gap < 0.99 * before else max(0.5 * share, 0.125)  # where sweeps circle
            x = x + share * (image - x)
        raise SolveError(f"{', '.join(self.unknowns)}: no solution, what is left is {left:.1e}")

    def _admits(self, x: Any) -> bool:
        return bool(np.all(x[self.positive] > 0.0))

    def _newton(self, x: Any, most: int) -> tuple[Any, float]:
        """Newton's method until what is left no longer halves; what is left, inf where it led out of reach."""
        before = np.inf
        for _ in range(most):
            image, slopes = self._image(x)
            gap = _apart(x, image)
            if not np.isfinite(gap) or not np.all(np.isfinite(slopes)):
                return x, np.inf
            if gap < 1e-15 or (gap < _NEAR and gap >= 0.5 * before):
                return x, gap
            before = gap
            try:
                x = x - np.linalg.solve(np.eye(len(x)) - slopes, x - image)
            except np.linalg.LinAlgError:
                return x, np.inf
        return x, _apart(x, self._image(x, slopes=False)[0])


def _apart(x: Any, image: Any) -> float:
    return float(np.max(np.abs(x - image) / (1.0 + np.abs(x))))
