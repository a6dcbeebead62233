"""A certified phase diagram: where on a plane of alpha and ridge one of two models has the larger test error.

The plane is cut into cells. A cell is certified where the enclosure of the difference of both test errors (`tiles`)
over all of it, or over each of the parts that it is halved into, excludes zero, with one sign; the rest is uncertain.
Cells that are close together share a rule along the spike, made for all of their (T, tau).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb
from numpy.typing import NDArray

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.certify import GUARD_BITS, unsupported
from giantsteps.numerics.certificates.problems import problem_of
from giantsteps.numerics.certificates.ranges.intervals import Array, Intervals
from giantsteps.numerics.certificates.ranges.moments import Moments
from giantsteps.numerics.certificates.ranges.tiles import Constants, Flags, Plane, Solved, errors_over, solved
from giantsteps.numerics.certificates.ranges.varying import Varying
from giantsteps.numerics.certificates.setting import setting
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.one_group.batch import BatchSolution, solve_batch
from giantsteps.numerics.saddle_point.ridge import solve

Signs = NDArray[np.int8]

# Of the quadrature: below the widths of the tiles by far.
_BITS = 34
# Of the largest and the smallest (T, tau) in a block of cells.
_ROOM = 1.05
# Nodes, from which on a block is cut.
_MANY = 1000
# Halvings of both sides of a cell that is not decided at once.
_HALVINGS = 3
# Of doubles and enclosures: far above the errors of doubles, far below what a slip would do.
_AGREEMENT = 1e-6


@dataclass(frozen=True)
class Corners:
    """Tiles from (alpha, ridge) at the lower left to (alpha, ridge) at the upper right, (P,) each."""

    alpha: tuple[Array, Array]
    ridge: tuple[Array, Array]

    def plane(self) -> Plane:
        """As intervals."""
        return Plane.between((self.alpha[0], self.ridge[0]), (self.alpha[1], self.ridge[1]))

    def at(self, places: NDArray[np.intp] | Flags) -> Corners:
        """Some of them."""
        (a, b), (d, e) = self.alpha, self.ridge
        return Corners((a[places], b[places]), (d[places], e[places]))

    def quarters(self) -> Corners:
        """Each in four, halved on the logarithmic scale; the four parts of all of them, one after another."""
        (a, b), (d, e) = self.alpha, self.ridge
        alpha, ridge = np.sqrt(a * b), np.sqrt(d * e)
        return Corners(
            (np.concatenate([a, alpha, a, alpha]), np.concatenate([alpha, b, alpha, b])),
            (np.concatenate([d, d, ridge, ridge]), np.concatenate([ridge, ridge, e, e])),
        )


class Side:
    """One of both models on a block of the plane: its functions along the spike for all (T, tau) there."""

    def __init__(self, model: Model, block: Corners) -> None:
        """Raises BallError where no rule for all of the block is found, ModelError for what no tiles are built for."""
        why = unsupported(model) or ("" if model.network_step is None else "tiles are built for the isotropic bulk")
        if why:
            raise ModelError(why)
        self._model = model
        grid = [np.concatenate([low, high]) for low, high in (block.alpha, block.ridge)]
        doubles = solve_batch(model, alpha=np.append(grid[0], grid[0]), ridge=np.append(grid[1], grid[1][::-1]))
        ends = [(float(x.min()) / _ROOM, float(x.max()) * _ROOM) for x in (doubles.V1, doubles.V2)]
        if not np.all(np.isfinite(ends)):
            raise BallError("the solutions in double precision are not finite")
        self._box = tuple(Intervals.between(low, high) for low, high in ends)
        centre = model.changed(alpha=float(np.median(grid[0])), ridge=float(np.median(grid[1])))
        with precision(_BITS + GUARD_BITS):
            problem = problem_of(centre)
            box = tuple(arb(float(x.mid), float(x.rad)) for x in self._box)
            place = setting(problem, solve(centre), box, _BITS)
            if len(place.rule.nodes) > _MANY and len(block.alpha[0]) > 1:
                raise BallError("the rule for all of the block would be long, and smaller blocks have shorter ones")
            self._moments = Moments.of(problem, place)
            bulk = problem.bulk
            bulks = Intervals.between(_below(bulk.lower()), -_below(-bulk.upper()))
            self._numbers = Constants(bulks, model.beta, model.noise)
        self._mean_zero = problem.along.slope == 0 and problem.symmetric and problem.student.parity == "odd"

    def solved(self, tiles: Corners) -> tuple[Plane, Solved, BatchSolution]:
        """(T, tau) on tiles of the block, and the solutions in double precision in their middles."""
        plane = tiles.plane()
        doubles = solve_batch(self._model, alpha=plane.alpha, ridge=plane.ridge)
        return plane, solved(plane, self._numbers, self._moments, (doubles.V1, doubles.V2)), doubles

    def errors(self, tiles: Corners) -> tuple[Varying, Flags]:
        """The test error on tiles of the block, and where it is certified."""
        plane, at, doubles = self.solved(tiles)
        found = errors_over(plane, self._numbers, self._moments, at, self._mean_zero)
        within = [x.inside(y) for x, y in zip(at.boxes, self._box, strict=True)]
        known = doubles.test_error
        agrees = np.abs(found.middle.mid - known) <= found.middle.rad + _AGREEMENT * (1.0 + np.abs(known))
        finite = np.isfinite(found.over.mid) & np.isfinite(found.over.rad)
        return found, at.passed & within[0] & within[1] & agrees & finite


def _below(ball: object) -> float:
    return float(np.nextafter(float(ball), -np.inf))  # type: ignore[arg-type]


def differences(sides: Sequence[Side], tiles: Corners) -> tuple[Intervals, Flags]:
    """The test error of the first less that of the second over every tile, and where both are certified."""
    (first, passed), (second, also) = (side.errors(tiles) for side in sides)
    return (first - second).over, passed & also


def signs(models: tuple[Model, Model], block: Corners) -> Signs:
    """The certified sign of the difference on every cell of a block; 0 where it is uncertain.

    A block without a rule for all of its (T, tau) is cut in two. Raises ModelError for models without certificates.
    """
    try:
        with np.errstate(all="ignore"):
            return _decided([Side(model, block) for model in models], block)
    except BallError:
        count = len(block.alpha[0])
        if count == 1:
            return np.zeros(1, dtype=np.int8)
        halves = np.array_split(np.arange(count), 2)
        return np.concatenate([signs(models, block.at(half)) for half in halves])


def _decided(sides: Sequence[Side], cells: Corners) -> Signs:
    owners, tiles = np.arange(len(cells.alpha[0])), cells
    seen = np.zeros((2, len(owners)), dtype=bool)
    for _ in range(_HALVINGS + 1):
        found, certified = differences(sides, tiles)
        negative, positive = certified & (found.upper < 0.0), certified & (found.lower > 0.0)
        seen[0, owners[negative]] = seen[1, owners[positive]] = True
        left = ~(negative | positive) & ~(seen[0] & seen[1])[owners]
        owners, tiles = np.tile(owners[left], 4), tiles.at(left).quarters()
        if not len(owners):
            break
    whole = np.ones(len(cells.alpha[0]), dtype=bool)
    whole[owners] = False
    # Both signs within a cell: the line goes through it.
    decided = np.zeros(len(whole), dtype=np.int8)
    decided[whole & seen[1] & ~seen[0]] = 1
    decided[whole & seen[0] & ~seen[1]] = -1
    return decided


@dataclass(frozen=True)
class Grid:
    """Cells of a plane of alpha and ridge, equally wide on the logarithmic scale."""

    alphas: Array
    ridges: Array

    @classmethod
    def of(cls, alpha: tuple[float, float], ridge: tuple[float, float], columns: int, rows: int) -> Grid:
        """So many cells between the ends."""
        return cls(np.geomspace(*alpha, columns + 1), np.geomspace(*ridge, rows + 1))

    @property
    def shape(self) -> tuple[int, int]:
        """Rows along the ridge, columns along alpha."""
        return len(self.ridges) - 1, len(self.alphas) - 1

    def cells(self, rows: Array | slice, columns: Array | slice) -> Corners:
        """The cells of these rows and columns, row by row."""
        ridge = [side[rows] for side in (self.ridges[:-1], self.ridges[1:])]
        alpha = [side[columns] for side in (self.alphas[:-1], self.alphas[1:])]
        count = len(ridge[0]), len(alpha[0])
        wide = [np.tile(x, count[0]) for x in alpha]
        high = [np.repeat(x, count[1]) for x in ridge]
        return Corners((wide[0], wide[1]), (high[0], high[1]))

    def blocks(self, rows: slice, wide: int) -> Iterator[tuple[slice, Corners]]:
        """These rows in blocks of so many columns."""
        for first in range(0, self.shape[1], wide):
            columns = slice(first, first + wide)
            yield columns, self.cells(rows, columns)


def rows_of_signs(models: tuple[Model, Model], grid: Grid, rows: slice, wide: int = 20) -> Signs:
    """The signs of these rows of a grid, (rows, columns)."""
    found = [signs(models, block) for _, block in grid.blocks(rows, wide)]
    count = len(grid.ridges[:-1][rows])
    return np.concatenate([one.reshape(count, -1) for one in found], axis=1)
