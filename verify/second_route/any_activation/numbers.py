"""Numbers for the claims on networks with any activation: the solver's, and exact averages over small batches."""

from __future__ import annotations

import numpy as np

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.resolvent import blocks, forms
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.any_activation.curves import CURVES
from giantsteps.verify.second_route.grids import grid
from giantsteps.verify.second_route.networks.numbers import conjugates_at, law_of, model_at, step_at
from giantsteps.verify.second_route.networks.step import Step, law
from giantsteps.verify.second_route.values import by_glyph


def functions_of(step: Step) -> Functions:
    """Implementations of sigma and g."""
    return {"sigma": CURVES[step.student].value, "g": CURVES[step.target].value}


def point_functions(point: Point) -> Functions:
    """Implementations of sigma and g at a point."""
    return functions_of(step_at(point))


def solver_law(point: Point) -> dict[str, float]:
    """Spike, alignment, bulk and the law of the rows by the solver's averages and its forms at g = 0."""
    step = step_at(point)
    rows, model = law_of(step), model_at({**point, s.alpha.name: 1.0, s.ridge.name: 1.0})
    over = rows.labels.over(0.0, 0.0)[:, 0]
    found = forms(rows, 0.0, blocks(rows, 0.0, float(over[0]), float(over[1])), over)
    first = np.asarray(rows.labels.first)
    added, pulled = (np.array([first @ f, *f]) for f in (rows.added, rows.pulled))
    on_h = found.resolvent @ added + found.bridge @ pulled
    v = np.array([rows.direction[0], rows.direction[1], 0.0, 0.0])
    return {
        s.r.name: model.spike,
        s.gamma.name: model.alignment,
        s.c.name: model.bulk,
        s.row_form.name: float(found.filled[0, 0]),
        s.norm_overlap.name: float(on_h[0]),
        s.norm_spike_overlap.name: float(v @ on_h) / rows.direction[1],
        s.norm_variance.name: rows.norm_variance,
    }


def solver_blocks(point: Point) -> dict[str, float]:
    """The blocks where the solver finds them."""
    step = step_at(point)
    rows, (C, shift) = law_of(step), conjugates_at(point)
    x, b1, b2 = (float(q) for q in NetworkBulk(shift, step.beta, rows).at(np.array([C, 0.0])).solution)
    over = rows.labels.over(b1, b2)[:, 0]
    found = blocks(rows, C * x, float(over[0]), float(over[1]))
    form = forms(rows, C * x, found, over)
    return by_glyph({
        s.gain: C * x, s.row_trace: found.trace, s.bridge_trace: found.bridge, s.rest_trace: found.rest,
        s.place_linear: b1, s.place_square: b2, s.target_form: form.resolvent[0, 0],
        s.target_bridge: form.bridge[0, 0],
    })  # fmt: skip


SMALL = {"two samples in two dimensions": (2, 2), "one in three": (1, 3), "one in four": (1, 4)}


def small_batch(point: Point) -> dict[str, float]:
    """|w_Y|^2 and |b|^2 for a row across the target, averaged over all inputs of a small batch by a product rule."""
    n0, d = SMALL[str(point["batch"])]
    step = step_at(point)
    averages = law(step)
    places, weights = grid(n0 * d)
    x = places.reshape(-1, n0, d)
    y = CURVES[step.target].value(x[:, :, 0]) - averages[s.mean_output.name]
    slope = CURVES[step.student].prime(x[:, :, 1]) - averages[s.h1.name]
    batch = np.einsum("am,ami->ai", y, x) / n0
    row = np.eye(d)[1] + step.rate / n0 * np.einsum("am,ami->ai", y * slope, x)
    return {
        **averages,
        s.n0.name: n0,
        s.d.name: d,
        s.batch_norm.name: float(weights @ np.sum(batch**2, axis=1)),
        s.row_norm.name: float(weights @ np.sum(row**2, axis=1)),
    }
