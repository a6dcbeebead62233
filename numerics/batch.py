"""Many ridge problems at once: one group, shared activation, target, spike, bulk and alignment.

Points differ in alpha, beta, ridge and label noise. Newton's method runs on all of them in lock step; points that have
converged leave. What a point needs of the functions of kappa is tabulated once (`numerics.profile`); the equations are
in `numerics.batch_equations`.

Rules along the spike get finer step by step: each starts from the solution on the last and tells how far the test error
still moved. A point leaves when that is rounding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from numerics.batch_equations import Array, Flags, Index, Points, Workspace, in_parts, linear, newton, test_errors
from numerics.map_uncertainty import SMALL, neighbours, relative_uncertainty
from numerics.model import Model, ModelError
from numerics.one_group_table import OneGroupTable
from numerics.profile import profile
from numerics.quadrature import ROUNDING
from numerics.ridge import MOST_REFINEMENTS, QUADRATURE_GOAL, QUADRATURE_LIMIT, RESIDUAL_GOAL, extra_reach

# Points at work together: many, for a call of NumPy to be worth its while.
_AT_ONCE = 8192
# Under this many points with the same functions of kappa, solving them one by one is as fast.
FEWEST = 10
# Newton's method stops after a step of this share of (T, tau), on the first rule and on the others. What is left is of
# the order of the square, over the distance to a fold at small ridge.
_CLOSE, _FULL = 1e-6, 1e-9


@dataclass(frozen=True)
class BatchSolution:
    """One entry per point: errors and order parameters as in `Solution` and `OrderParameters` for one group.

    A point that is not accepted or did not converge has converged False, its reason in `status`, and no effect on
    the others; its numbers are not to be used.
    """

    test_error: Array
    training_error: Array
    m: Array
    zeta: Array
    psi: Array
    q1: Array
    q2: Array
    V1: Array
    V2: Array
    residual: Array
    error_estimate: Array
    converged: Flags
    status: tuple[str, ...]


# What a point's solution consists of.
NUMBERS = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2", "residual", "error_estimate")


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


def solve_batch(
    model: Model, *, alpha: ArrayLike, beta: ArrayLike, ridge: ArrayLike, noise: ArrayLike = 0.0, refine: int = 0
) -> BatchSolution:
    """The saddle point at every point of alpha, beta, ridge, noise (broadcast together, flattened in C order).

    Everything else is the model's. Raises ModelError for more than one readout group; a point out of range (ridge
    has to be > 0 here) is marked, not raised.
    """
    if model.unequal_norms:
        raise ModelError("a batch takes an isotropic bulk of rows of equal norm: solve models of a network one by one")
    if len(model.groups) != 1:
        raise ModelError("a batch takes one readout group: solve models with several groups one by one")
    columns = [np.ravel(x) for x in np.broadcast_arrays(*(np.asarray(x, float) for x in (alpha, beta, ridge, noise)))]
    accepted = np.isfinite(columns).all(axis=0) & (np.array(columns[:3]) > 0.0).all(axis=0) & (columns[3] >= 0.0)
    a, b, r, d = (np.where(accepted, column, 1.0) for column in columns)
    points = Points(a / b, b, r, d, model.bulks[0])
    levels = _Levels(model, refine, extra_reach(float(np.min(r, initial=1.0))))
    rows, moved = np.empty((11, len(a))), np.empty(len(a))
    workspace, size = Workspace(), _AT_ONCE
    with np.errstate(all="ignore"):  # a point that goes wrong becomes NaN, and is marked by its residual
        for i in range(0, len(a), size):
            here = slice(i, i + size)
            rows[:, here], moved[here] = _solved(levels, points.at(here), workspace)
        uncertain = relative_uncertainty(model)
        if uncertain > SMALL:
            for other in neighbours(model):
                there = solve_batch(other, alpha=a, beta=b, ridge=r, noise=d, refine=refine).test_error
                moved += np.abs(there - rows[0])
        else:
            rows[10] *= 1.0 + uncertain / ROUNDING
    return _judged(rows, moved, accepted)


def solve_families(models: Sequence[Model]) -> Iterator[tuple[list[int], BatchSolution]]:
    """Those of `models` that a batch can take, one batch per family, with the places of its points in `models`.

    A family shares activation, target, spike, bulk, alignment and readout. Left out are families of fewer than
    FEWEST points, several groups, several directions of the spike, bulks with rows of unequal norm, and ridge = 0.
    """
    families: dict[tuple[object, ...], list[int]] = {}
    for place, model in enumerate(models):
        if len(model.groups) == 1 and model.rank == 1 and not model.unequal_norms and model.ridge > 0.0:
            # Comparing expressions is slow, and the models of a sweep hold the same objects.
            shared = (id(model.activation), id(model.target), model.spike, model.bulk, model.alignment, model.groups)
            families.setdefault(shared, []).append(place)
    for places in families.values():
        if len(places) < FEWEST:
            continue
        members = [models[place] for place in places]
        yield (
            places,
            solve_batch(
                members[0],
                alpha=[model.alpha for model in members],
                beta=[model.beta for model in members],
                ridge=[model.ridge for model in members],
                noise=[model.noise for model in members],
            ),
        )


def solve_together(models: Sequence[Model]) -> dict[int, list[float]]:
    """The numbers NUMBERS of the points that `solve_families` solved and that converged, by their place in `models`."""
    found: dict[int, list[float]] = {}
    for places, batch in solve_families(models):
        rows = np.stack([getattr(batch, name) for name in NUMBERS], axis=1).tolist()
        together = zip(places, rows, batch.converged.tolist(), strict=True)
        found |= {place: numbers for place, numbers, converged in together if converged}
    return found


def _solved(levels: _Levels, points: Points, workspace: Workspace) -> tuple[Array, Array]:
    """Rows as `batch_equations.linear`, the last in absolute numbers, (11, P); how far test errors moved."""
    count = len(points.beta)
    values = newton(levels[0], points, points.largest(), _CLOSE, workspace)
    rows, moved, unresolved = np.empty((11, count)), np.full(count, np.inf), np.zeros(count)
    rows[7:9] = values
    for part in in_parts(levels[0], count):
        rows[0, part] = test_errors(levels[0], points.at(part), values[:, part], workspace)
    pending: Index | slice = slice(None)
    for level in range(1, 1 + levels.last):
        some = points.at(pending)
        values = newton(levels[level], some, rows[7:9, pending], _FULL, workspace)
        parts = in_parts(levels[level], values.shape[1])
        pieces = [linear(levels[level], some.at(part), values[:, part], workspace) for part in parts]
        finer = np.concatenate(pieces, axis=1)
        finer[10] *= ROUNDING
        moved[pending] = np.abs(finer[0] - rows[0, pending])
        rows[:, pending] = finer
        # The inner integrals are checked where they are made, and bring what is left of their error along.
        table = levels[level].profile
        unresolved[pending] = table.unresolved
        if table.exhausted or table.unresolved == 1.0:
            break
        if table.unresolved <= QUADRATURE_GOAL:
            pending = np.flatnonzero(moved > np.maximum(QUADRATURE_GOAL * (1.0 + np.abs(rows[0])), rows[10]))
            if not len(pending):
                break
    return rows, moved + unresolved * (1.0 + np.abs(rows[0]))


_REASONS = (
    "not accepted: alpha, beta and ridge have to be > 0 and finite in a batch, noise >= 0",
    "not converged: the residual is too large; a larger ridge makes the problem better conditioned",
    "not converged in the quadrature: a finer rule along the spike still moves the test error",
    "not converged in double precision: its rounding moves the test error; a larger ridge makes the problem better "
    "conditioned",
    "converged",
)


def _judged(rows: Array, moved: Array, accepted: Flags) -> BatchSolution:
    residual, scale = rows[9], 1.0 + np.abs(rows[0])
    solved = (residual <= RESIDUAL_GOAL) & np.isfinite(rows).all(axis=0)
    resolved, precise = moved <= QUADRATURE_LIMIT * scale, rows[10] <= QUADRATURE_LIMIT * scale
    codes = np.select([~accepted, ~solved, ~resolved, ~precise], [0, 1, 2, 3], 4)
    test, training, m, zeta, psi, q1, q2, overlap, tau = rows[:9]
    return BatchSolution(
        test_error=test,
        training_error=training,
        m=m,
        zeta=zeta,
        psi=psi,
        q1=q1,
        q2=q2,
        V1=overlap,
        V2=tau,
        residual=residual,
        error_estimate=moved + rows[10],
        converged=codes == 4,
        status=tuple(np.array(_REASONS, dtype=object)[codes].tolist()),
    )
