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
from giantsteps.verify.compiled.program import Program
from giantsteps.verify.compiled.tape import CompileError, Tape

_TINY = 1e-30  # a complex step: the slope is exact to rounding
_MOST = 2000
# A step that no longer halves what is left, below this, is at the rounding of the sweep.
_NEAR = 1e-9
# Of equations that are not linear sweeps come first: an increasing map that grows less than its argument has one fixed
# point, to which they lead from anywhere, while Newton's method may end at one that is none of a model.
_CLOSE = 1e-3


class SolveError(ArithmeticError):
    """The iteration found no solution."""


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
        self,
        tapes: Sequence[Tape],
        rules: Mapping[str, Rule],
        given: Mapping[str, float],
        functions: Mapping[str, Callable[..., Any]],
        program: Callable[..., Program] = Program,
    ) -> None:
        determined = [tape.symbol for tape in tapes]
        twice = sorted({name for name in determined if determined.count(name) > 1 or name in given})
        if twice:
            raise CompileError(f"determined twice: {', '.join(twice)}")
        numbers = Doubles(rules)
        programs = [program(tape, numbers, given, functions, determined) for tape in tapes]
        self._parts = [_Together([programs[k] for k in places]) for places in _in_order(tapes)]
        self._shape = (-1, *([1] * len(rules)))

    def solve(self) -> Solved:
        """The solution. Raises SolveError."""
        values: dict[str, float] = {}
        residual = 0.0
        with np.errstate(all="ignore"):
            for part in self._parts:
                residual = max(residual, part.solve(values, self._shape))
        return Solved(values, residual)


class _Together:
    """Symbols that determine each other."""

    def __init__(self, programs: Sequence[Program]) -> None:
        self.programs = programs
        self.symbols = [program.tape.symbol for program in programs]
        written: set[str] = set()
        unknowns: dict[str, None] = {}
        for program in programs:
            unknowns |= dict.fromkeys(sorted((program.tape.free & set(self.symbols)) - written))
            written.add(program.tape.symbol)
        self.unknowns = list(unknowns)
        positive = {program.tape.symbol for program in programs if program.tape.positive}
        self.positive = np.array([name in positive for name in self.unknowns], dtype=bool)

    def solve(self, values: dict[str, float], shape: tuple[int, ...]) -> float:
        """Put the solution into `values`, which has all that it depends on; the gap that is left."""
        x, gap = np.ones(len(self.unknowns)), 0.0
        if self.unknowns:
            x, gap = self._iterated(values, shape, x)
        start = dict(zip(self.unknowns, x, strict=True))
        found = self._sweep(values, start)
        values |= {symbol: float(np.reshape(np.real(found[symbol]), -1)[0]) for symbol in self.symbols}
        return gap

    def _sweep(self, values: Mapping[str, float], start: Mapping[str, Any]) -> dict[str, Any]:
        found: dict[str, Any] = {**values, **start}
        for symbol, program in zip(self.symbols, self.programs, strict=True):
            found[symbol] = program(found)
        return found

    def _image(
        self, values: Mapping[str, float], x: Any, shape: tuple[int, ...], slopes: bool = True
    ) -> tuple[Any, Any]:
        """The sweep at x, and its slopes: one run with a column for each unknown."""
        columns = x[:, None] + 1j * _TINY * np.eye(len(x)) if slopes else x[:, None]
        found = self._sweep(values, {s: c.reshape(shape) for s, c in zip(self.unknowns, columns, strict=True)})
        size = columns.shape[1]
        images = np.array([np.broadcast_to(found[s], (size, *shape[1:])).reshape(size) for s in self.unknowns])
        return images.real[:, 0], images.imag / _TINY

    def _iterated(self, values: Mapping[str, float], shape: tuple[int, ...], x: Any) -> tuple[Any, float]:
        once, gap = self._newton(values, shape, x, 3)
        if gap < _NEAR and self._admits(once):  # linear equations, from whose solution sweeps may lead away
            return self._newton(values, shape, once, 20)
        left, gap, most = np.inf, np.inf, 0
        while most < _MOST and not gap < _CLOSE:
            image, _ = self._image(values, x, shape, slopes=False)
            gap, x, most = _apart(x, image), image, most + 1
        while most < _MOST:
            there, left = self._newton(values, shape, x, 20)
            if left < _NEAR and self._admits(there):
                return there, left
            for _ in range(20):
                x, most = self._image(values, x, shape, slopes=False)[0], most + 1
        raise SolveError(f"{', '.join(self.unknowns)}: no solution, what is left is {left:.1e}")

    def _admits(self, x: Any) -> bool:
        return bool(np.all(x[self.positive] > 0.0))

    def _newton(self, values: Mapping[str, float], shape: tuple[int, ...], x: Any, most: int) -> tuple[Any, float]:
        """Newton's method until what is left no longer halves; what is left, inf where it led out of reach."""
        before = np.inf
        for _ in range(most):
            image, slopes = self._image(values, x, shape)
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
        return x, _apart(x, self._image(values, x, shape, slopes=False)[0])


def _apart(x: Any, image: Any) -> float:
    return float(np.max(np.abs(x - image) / (1.0 + np.abs(x))))


def _in_order(tapes: Sequence[Tape]) -> list[list[int]]:
    """The equations by what determines each other, each after all that it needs, within a part as they were given."""
    from scipy.sparse.csgraph import connected_components  # here, since whoever asks what is claimed solves nothing

    places = {symbol: place for place, symbol in enumerate(tape.symbol for tape in tapes)}
    needs = [[places[symbol] for symbol in tape.free if symbol in places] for tape in tapes]
    matrix = np.zeros((len(tapes), len(tapes)))
    for place, needed in enumerate(needs):
        matrix[place, needed] = 1.0
    _, label = connected_components(matrix, directed=True, connection="strong")
    waiting = {int(one): [k for k in range(len(tapes)) if label[k] == one] for one in label}
    found: list[list[int]] = []
    while waiting:
        ready = next(
            one for one, members in waiting.items()
            if all(label[k] == one or label[k] not in waiting for member in members for k in needs[member])
        )  # fmt: skip
        found.append(waiting.pop(ready))
    return found
