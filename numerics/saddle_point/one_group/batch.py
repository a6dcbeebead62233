"""Many ridge problems at once: one group, any bulk, shared activation and target.

Points that share spike, bulk and alignment too are a family. They differ in alpha, beta, ridge and label noise, and
Newton's method runs on all of them in lock step; points that have converged leave. Of a network's own bulk the points
of a family share the law of their rows, hence beta and noise. What a family needs of the functions of kappa is
tabulated once (`numerics.saddle_point.profile`); the equations are in
`numerics.saddle_point.one_group.batch_equations`, and what rows of unequal norm have of their own in
`network_equations` beside it.

Rules along the spike get finer step by step: each starts from the solution on the last and tells how far the test error
still moved. A point leaves when that is rounding.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.documents import ORDER_PARAMETERS, WIDTH, finite
from giantsteps.numerics.models.given import model_of
from giantsteps.numerics.models.model import LARGEST, SMALLEST, Model, ModelError, check_changes
from giantsteps.numerics.models.notebook import ShownGrid
from giantsteps.numerics.models.solution import Overlaps, Solution
from giantsteps.numerics.saddle_point.finite_width import checked_width
from giantsteps.numerics.saddle_point.level import (
    MOST_REFINEMENTS,
    QUADRATURE_GOAL,
    QUADRATURE_LIMIT,
    UNDECIDED,
    settled,
)
from giantsteps.numerics.saddle_point.map_uncertainty import SMALL, neighbours, relative_uncertainty, rounding_growth
from giantsteps.numerics.saddle_point.one_group.batch_equations import (
    Array,
    Flags,
    Index,
    Points,
    Workspace,
    both_errors,
    in_parts,
    linear,
    newton,
    test_errors,
)
from giantsteps.numerics.saddle_point.one_group.grids import (
    SOLVED,
    Refused,
    array_of,
    check_model,
    families_of,
    point_of,
    shape_of,
)
from giantsteps.numerics.saddle_point.profile import OneGroupTable, profile
from giantsteps.numerics.saddle_point.ridgeless import extra_reach
from giantsteps.numerics.saddle_point.solve import solve

# Points at work together: many, for a call of NumPy to be worth its while.
_AT_ONCE = 8192
# Under this many points with the same functions of kappa, solving them one by one is as fast.
FEWEST = 10
# Newton's method stops after a step of this share of (T, tau), on the first rule and on the others. What is left is of
# the order of the square, over the distance to a fold at small ridge.
_CLOSE, _FULL = 1e-6, 1e-9


@dataclass(frozen=True, eq=False)
class BatchAtWidth:
    """Both errors at a finite width in the shape of the grid, and what a finer rule and rounding move the first by."""

    width: float
    test_error: Array
    training_error: Array
    error_estimate: Array


@dataclass(frozen=True)
class _Family:
    """What the values at a finite width follow from: the points with their places in the grid, raveled.

    values holds (T, tau), (2, P); last is the number of the rule that each point ended on; left is the error of the
    limit's own, whose (T, tau) are taken over, but for its rounding, and growth the factor of that.
    """

    model: Model
    places: Index | slice
    levels: _Levels
    points: Points
    values: Array
    last: Index
    left: Array
    growth: float


@dataclass(frozen=True, repr=False, eq=False)
class BatchSolution(Overlaps, ShownGrid):
    """One entry per point of a grid: errors and order parameters as in `Solution`, for one group.

    m, zeta, psi, q1, q2, V1, V2: as `Solution.order_parameters`, in the shape of the grid like all arrays.
    test_error, training_error, residual, error_estimate: as in `Solution`.
    converged: whether the point is a solution. A point out of range is NaN; what did not converge is not to be used.
    status: "converged", or the reason.
    model: what was given.
    given: the parameters that were given beside it, as they were.
    chi: as `Solution.chi`: no entries where all rows have one norm, and 0 for a network without a step.

    A point that is not accepted or did not converge has no effect on the others.

    >>> curve = giantsteps.solve_batch(model, alpha=np.geomspace(0.1, 10, 5))
    >>> curve.shape, bool(curve.converged.all())
    ((5,), True)
    """

    test_error: Array
    training_error: Array
    residual: Array
    error_estimate: Array
    converged: Flags
    status: NDArray[np.object_]
    model: Model | None = None
    given: Mapping[str, Array] = field(default_factory=dict)
    chi: Array = field(default_factory=lambda: np.zeros(0))
    _families: tuple[_Family, ...] = field(default=(), compare=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The shape of the grid."""
        return self.test_error.shape

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be known before these numbers are used: the warnings of the models, each sentence once."""
        return tuple(dict.fromkeys(said for family in self._families for said in family.model.warnings))

    def at_width(self, width: float = WIDTH) -> BatchAtWidth:
        """Both errors at a finite width of p neurons (`numerics.saddle_point.finite_width`), in the shape of the grid.

        Computed when asked for; a point that was not accepted is NaN, and one that did not converge has no meaning
        here either. Raises ModelError for a width below one.
        """
        checked, rows = checked_width(width), np.full((3, self.test_error.size), np.nan)
        for family in self._families:
            rows[:, family.places] = _at_width(family, checked)
        rows[:, np.isnan(self.test_error.ravel())] = np.nan
        test, training, estimate = (row.reshape(self.shape) for row in rows)
        return BatchAtWidth(checked, test, training, estimate)

    def __getitem__(self, place: int | tuple[int, ...]) -> Solution:
        """The solution at one point, by `solve`. Raises IndexError for a part of the grid, ModelError out of range."""
        return solve(cast(Model, self.model).changed(**point_of(self.given, self.shape, place)))

    def to_dict(self) -> dict[str, Any]:
        """As `Solution.to_dict`, with lists nested as the grid is in place of numbers."""
        names = ("test_error", "training_error", "residual", "error_estimate")
        numbers = {name: getattr(self, name).tolist() for name in names}
        names = (*ORDER_PARAMETERS, *(("chi",) if self.chi.size else ()))
        numbers["order_parameters"] = {name: getattr(self, name).tolist() for name in names}
        wide = self.at_width()
        errors = {"test_error": wide.test_error.tolist(), "training_error": wide.training_error.tolist()}
        return {"shape": list(self.shape), **finite(numbers, "it exceeds the range of double precision")} | {
            "converged": self.converged.tolist(), "status": self.status.tolist(),
            "at_width": {"width": wide.width, **finite(errors)}, "warnings": list(self.warnings),
        }  # fmt: skip

    def __repr__(self) -> str:
        return f"BatchSolution(shape={self.shape}, {int(self.converged.sum())} of {self.converged.size} converged)"


# What a point's solution consists of, beside chi where rows differ in norm.
NUMBERS = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2", "residual", "error_estimate")
# And at a finite width.
AT_WIDTH = ("test_error_at_width", "training_error_at_width", "error_estimate_at_width")
# NUMBERS with the rounding of the test error for its estimate, and chi.
_ROWS = 12


class _Levels:
    """The rules of a batch, each about twice as fine as the one before."""

    def __init__(self, model: Model, refine: int, extra: float) -> None:
        self._model, self._refine, self._extra = model, refine, extra
        base = profile(model, refine, refine, extra)
        # The first answer may come from a rule coarser than the first of `ridge.solve`: a finer one checks it.
        first = [profile(model, refine - 1, refine, extra), base] if base.trapezoidal else [base]
        self._tables = [table.one_group for table in first]
        self._finest = refine
        self.last = len(first) - 1 + MOST_REFINEMENTS

    def __getitem__(self, level: int) -> OneGroupTable:
        while len(self._tables) <= level:
            self._finest += 1
            self._tables.append(profile(self._model, self._finest, self._refine, self._extra).one_group)
        return self._tables[level]


@accepts(model=model_of)
def solve_batch(
    model: Model,
    *,
    alpha: ArrayLike | None = None,
    beta: ArrayLike | None = None,
    ridge: ArrayLike | None = None,
    noise: ArrayLike | None = None,
    spike: ArrayLike | None = None,
    bulk: ArrayLike | None = None,
    alignment: ArrayLike | None = None,
    alpha0: ArrayLike | None = None,
    eta: ArrayLike | None = None,
    refine: int = 0,
) -> BatchSolution:
    """The saddle point at every point of a grid: a learning curve, a map, any set of points.

    model: the problem. A parameter that is not given below is the model's.
    alpha, beta, ridge, noise: arrays, as the parameters of the model; the ridge has to be > 0.
    spike, bulk, alignment: arrays, for a model that is given by them.
    alpha0, eta: arrays, for a model of a gradient step.
    refine: how many times the rules along the spike are doubled before the first solution.

    All arrays are broadcast together, and the shape of the result is theirs. For a grid of a and b give a[:, None] and
    b. Every point is `model.changed` by the parameters there, so that a gradient step is mapped again. Points are fast
    where many share spike, bulk and alignment, and with a network's own bulk alpha0, eta, beta and noise. With that
    bulk a point of a very small ridge may be marked as not converged where `solve` has its numbers, and families of one
    point each take twice the time of `solve`.

    Raises ModelError for what is no array of numbers, shapes that do not broadcast together, more than one readout
    group, a spike of several directions, and parameters that the model does not have. A point out of range is marked,
    not raised.

    >>> giantsteps.solve_batch(model, alpha=[1, 2, 3]).test_error
    array([0.14269..., 0.11481..., 0.10230...])
    """
    given = {
        "alpha": alpha, "beta": beta, "ridge": ridge, "noise": noise,
        "spike": spike, "bulk": bulk, "alignment": alignment, "alpha0": alpha0, "eta": eta,
    }  # fmt: skip
    columns = {name: array_of(name, values) for name, values in given.items() if values is not None}
    check_changes(model, columns)
    check_model(model)
    shape = shape_of(columns)
    count = math.prod(shape)
    wide = {name: np.broadcast_to(columns.get(name, getattr(model, name)), shape).ravel() for name in SOLVED}
    accepted = (wide["noise"] == 0.0) | ((wide["noise"] >= SMALLEST) & (wide["noise"] <= LARGEST))
    for name in ("alpha", "beta", "ridge"):
        accepted &= (wide[name] >= SMALLEST) & (wide[name] <= LARGEST)
    rows, moved = np.full((_ROWS, count), np.nan), np.full(count, np.nan)
    refused: list[Refused] = []
    families: list[_Family] = []
    for member, places in families_of(model, columns, shape):
        if isinstance(member, str):
            accepted[places] = False
            refused.append((places, member))
            continue
        here = [np.where(accepted[places], wide[name][places], 1.0) for name in SOLVED]
        try:
            rows[:, places], moved[places], family = _solved_family(member, here, places, refine)
            families.append(family)
        except ModelError as reason:
            accepted[places] = False
            refused.append((places, str(reason)))
    rows[:, ~accepted] = np.nan
    varied = model.gaussian_rows or model.bulk_model == "network"
    return replace(_judged(rows, moved, accepted, refused, families, shape, varied), model=model, given=columns)


def _solved_family(
    model: Model, columns: Sequence[Array], places: Index | slice, refine: int
) -> tuple[Array, Array, _Family]:
    """`_solved` for any number of points, columns as SOLVED, with the functions of kappa of a model.

    The model's own numbers play no part. A point that goes wrong becomes NaN, and is marked by its residual.
    """
    alpha, beta, ridge, noise = columns
    points = _points_of(model, alpha / beta, beta, ridge, noise)
    levels = _Levels(model, refine, extra_reach(float(np.min(ridge, initial=1.0))))
    count = len(alpha)
    rows, moved, last = np.empty((_ROWS, count)), np.empty(count), np.empty(count, dtype=np.intp)
    workspace = Workspace()
    with np.errstate(all="ignore"):
        for i in range(0, count, _AT_ONCE):
            here = slice(i, i + _AT_ONCE)
            rows[:, here], moved[here], last[here] = _solved(levels, points.at(here), workspace)
        uncertain = relative_uncertainty(model)
        if uncertain > SMALL and model.network_step is not None:
            moved += rows[10] * uncertain / ROUNDING
        elif uncertain > SMALL:
            for other in neighbours(model):
                moved += np.abs(_solved_family(other, columns, places, refine)[0][0] - rows[0])
        growth = rounding_growth(uncertain)
        rows[10] *= growth
    return rows, moved, _Family(model, places, levels, points, rows[7:9], last, moved, growth)


def _points_of(model: Model, ratio: Array, beta: Array, ridge: Array, noise: Array) -> Points:
    """Points with the bulk of a model, its law of rows where these differ in norm."""
    if not model.unequal_norms:
        return Points(ratio, beta, ridge, noise, model.bulks[0])
    # Imported here: most batches need no averages over the labels of the gradient step.
    from giantsteps.numerics.bulk.network_gains import gains_of
    from giantsteps.numerics.bulk.of_model import row_laws
    from giantsteps.numerics.saddle_point.one_group.network_equations import NetworkPoints

    (law,) = row_laws(model)
    return NetworkPoints(ratio, beta, ridge, noise, law.bulk, gains=gains_of(law))


def solve_families(models: Sequence[Model]) -> Iterator[tuple[list[int], BatchSolution]]:
    """Those of `models` that a batch can take, one batch per family, with the places of its points in `models`.

    Left out are families of fewer than FEWEST points, other losses, densities of letters, several groups, several
    directions of the spike, and ridge = 0.
    """
    families: dict[tuple[object, ...], list[int]] = {}
    for place, model in enumerate(models):
        groups = () if model.law else model.groups
        one = len(groups) == 1 and model.rank == 1
        if one and model.ridge > 0.0 and model.loss.name == "square":
            # Comparing expressions is slow, and the models of a sweep hold the same objects.
            functions = (id(model.activation), id(model.target))
            numbers = (model.spike, model.bulk, model.alignment, groups, model.given_uncertainty)
            # The law of a network's rows is made from the step, with all its parameters.
            law = (model.network_step, model.beta, model.noise) if model.network_step is not None else None
            shared = (*functions, model.step is None, *numbers, model.gaussian_rows, law)
            families.setdefault(shared, []).append(place)
    for places in families.values():
        if len(places) < FEWEST:
            continue
        members = [models[place] for place in places]
        columns = [np.array([getattr(model, name) for model in members]) for name in SOLVED]
        # The step of the first member may not be that of the others: only its functions of kappa are.
        try:
            rows, moved, family = _solved_family(members[0], columns, slice(None), 0)
        except ModelError:
            continue  # one by one, each of them says why
        count, every = len(places), np.ones(len(places), dtype=bool)
        yield places, _judged(rows, moved, every, (), (family,), (count,), members[0].unequal_norms)


def solve_together(models: Sequence[Model], width: float) -> dict[int, list[float]]:
    """The numbers NUMBERS and, at the width, AT_WIDTH of the points that `solve_families` solved, by place in `models`.

    Where the rows differ in norm chi follows them. Points that did not converge are left out.
    """
    found: dict[int, list[float]] = {}
    for places, batch in solve_families(models):
        wide = batch.at_width(width)
        numbers = [getattr(batch, name) for name in NUMBERS]
        chi = [batch.chi] if batch.chi.size else []
        rows = np.stack([*numbers, wide.test_error, wide.training_error, wide.error_estimate, *chi], axis=1).tolist()
        together = zip(places, rows, batch.converged.tolist(), strict=True)
        found |= {place: numbers for place, numbers, converged in together if converged}
    return found


def _at_width(solved: _Family, width: float) -> Array:
    """Both errors on the last rule of each point and, for the estimate, how far the one before is, (3, P)."""
    points, workspace = replace(solved.points, width=width), Workspace()
    fine, coarse = np.empty((3, len(solved.last))), np.empty((3, len(solved.last)))
    with np.errstate(all="ignore"):
        for level in np.unique(solved.last):
            places = np.flatnonzero(solved.last == level)
            for found, table in ((fine, solved.levels[level]), (coarse, solved.levels[level - 1])):
                for part in in_parts(table, len(places)):
                    some = places[part]
                    found[:, some] = both_errors(table, points.at(some), solved.values[:, some], workspace)
    return np.stack([fine[0], fine[1], np.abs(fine[0] - coarse[0]) + ROUNDING * solved.growth * fine[2] + solved.left])


def _solved(levels: _Levels, points: Points, workspace: Workspace) -> tuple[Array, Array, Index]:
    """Rows as `batch_equations.linear`, with chi or 0, the rounding in absolute numbers, (12, P).

    Beside them how far test errors moved, and the numbers of the rules that the points ended on.
    """
    count = len(points.beta)
    values = newton(levels[0], points, points.largest(), _CLOSE, workspace)
    rows, moved, unresolved = np.zeros((_ROWS, count)), np.full(count, np.inf), np.zeros(count)
    rows[7:9] = values
    for part in in_parts(levels[0], count):
        rows[0, part] = test_errors(levels[0], points.at(part), values[:, part], workspace)
    pending: Index | slice = slice(None)
    last, finished = np.zeros(count, dtype=np.intp), np.zeros(count, dtype=bool)
    for level in range(1, 1 + levels.last):
        some = points.at(pending)
        values = newton(levels[level], some, rows[7:9, pending], _FULL, workspace)
        parts = in_parts(levels[level], values.shape[1])
        pieces = [linear(levels[level], some.at(part), values[:, part], workspace) for part in parts]
        finer = np.concatenate(pieces, axis=1)
        finer[10] *= ROUNDING
        before = moved.copy()
        moved[pending] = np.abs(finer[0] - rows[0, pending])
        rows[: len(finer), pending] = finer
        last[pending] = level
        # The inner integrals are checked where they are made, and bring what is left of their error along.
        table = levels[level].profile
        unresolved[pending] = table.unresolved
        if table.exhausted or table.unresolved == 1.0:
            break
        if table.unresolved <= QUADRATURE_GOAL:
            done = settled(moved, before, 1.0 + np.abs(rows[0]), rows[10])
            pending = np.flatnonzero(~(done | finished))
            finished |= done
            if not len(pending):
                break
    return rows, moved + unresolved * (1.0 + np.abs(rows[0])), last


_REASONS = (
    "not accepted: alpha, beta and ridge have to be from 1e-50 to 1e50 in a batch, noise as well or 0",
    "not converged: the residual is too large; a larger ridge makes the problem better conditioned",
    "not converged in the quadrature: a finer rule along the spike still moves the test error",
    "not converged in double precision: its rounding moves the test error; a larger ridge makes the problem better "
    "conditioned",
    f"not converged in double precision: {UNDECIDED}",
    "converged",
)


def _judged(
    rows: Array,
    moved: Array,
    accepted: Flags,
    refused: Sequence[Refused],
    families: Sequence[_Family],
    shape: tuple[int, ...],
    chi: bool,
) -> BatchSolution:
    """The solution in the shape of its grid, with `chi` where rows may differ in norm."""
    residual, scale = rows[9], 1.0 + np.abs(rows[0])
    solved = (residual <= QUADRATURE_LIMIT) & np.isfinite(rows[:10]).all(axis=0) & ~np.isnan(rows[10])
    resolved, precise = moved <= QUADRATURE_LIMIT * scale, rows[10] <= QUADRATURE_LIMIT * scale
    conditions = [~accepted, ~solved, ~resolved, np.isinf(rows[10]), ~precise]
    codes = np.select(conditions, [0, 1, 2, 4, 3], 5)
    status = np.array(_REASONS, dtype=object)[codes]
    for places, reason in refused:
        status[places] = reason
    numbers = dict(zip(NUMBERS, (*rows[:10], moved + rows[10]), strict=True))
    if chi:
        numbers["chi"] = rows[11]
    return BatchSolution(
        **{name: row.reshape(shape) for name, row in numbers.items()},
        converged=(codes == 5).reshape(shape),
        status=status.reshape(shape),
        _families=tuple(families),
    )
