"""Measurements on real steps of networks with any activation, at finite d."""

from __future__ import annotations

import math

import numpy as np

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.second_route.any_activation.curves import CURVES
from giantsteps.verify.second_route.any_activation.numbers import functions_of
from giantsteps.verify.second_route.gradient_step import real
from giantsteps.verify.second_route.grids import Array
from giantsteps.verify.second_route.networks.draws import Bulk, bulk_of_rows, fresh_rows
from giantsteps.verify.second_route.networks.step import Step, blocks, law
from giantsteps.verify.second_route.sampled import Sampled

# Rows are drawn at p = 4 d; the rates are large enough for every term of v_c to count.
ROW_MODELS = {
    "shifted tanh student, shifted sine target": Step("shifted tanh", "shifted sin", 2.0, 4.0, 4.0),
    "leaning tanh student, sine target": Step("leaning tanh", "sin", 2.0, 2.0, 4.0),
}
# With the gain g. s vanishes for the quadratic student; for the other one it is large, so that omega counts.
BATCH_MODELS = {
    "shifted sine target": (Step("shifted tanh", "shifted sin", 1.5, 4.0, 1.0), 0.8),
    "tanh target": (Step("quadratic", "tanh", 1.0, 1.5, 1.0), 0.6),
}
TURNED = "leaning tanh student, few neurons"
BULK_MODELS = {
    "relu student, sine target": (Step("relu", "sin", 2.0, 3.0, 0.8), 0.8, 0.5),
    "shifted tanh student, shifted sine target": (Step("shifted tanh", "shifted sin", 1.0, 6.0, 0.5), 0.3, 1.0),
    # Of few neurons, with rows so much turned that each of the three overlaps beside the diagonal is a quarter to a
    # half of the geometric mean of its diagonal entries.
    TURNED: (Step("leaning tanh", "shifted sin", 4.0, 12.0, 0.5), 0.8, 0.5),
}


def _step(step: Step, d: int, seed: int) -> tuple[real.Drawn, Array, Array, Array]:
    """One real gradient step from unit rows, with the whole residual; w_Y has the centred labels. Its batch beside
    them, and the rows before it.
    """
    p, n0 = round(step.beta * d), round(step.alpha0 * d)
    rng = np.random.default_rng(np.random.SeedSequence(43, spawn_key=(d, seed)))
    start, x = unit_rows(rng, p, d), rng.standard_normal((n0, d))
    labels = CURVES[step.target].value(x[:, 0])
    rows = real.after_step(start, CURVES[step.student], x, labels, step.rate)
    mean, centred = rows.mean(axis=0), labels - law(step)[s.mean_output.name]
    return real.Drawn(rows - mean, mean, centred @ x / n0), x, centred, start


def row_statistics(step: Step, d: int, seed: int) -> tuple[Array, Array]:
    """|mean row|, its alignment, mean |b|^2, d Var b.theta, d Cov(b.theta, |b|^2), d Cov(b.w_Y, |b|^2), d Var |b|^2 of
    one network, and controls of its batch.

    The mean of p rows carries their variance over p in its square: taken off.
    """
    drawn, x, labels, _ = _step(step, d, seed)
    p = len(drawn.rows)
    bulk = float(np.sum(drawn.rows**2)) / (p - 1)
    size = math.sqrt(float(drawn.mean @ drawn.mean) - bulk / p)
    found = np.array([size, float(drawn.mean[0]) / size, bulk, *drawn.covariances()])
    return found, _batch_controls(step, x, labels)


def _batch_controls(step: Step, x: Array, labels: Array) -> Array:
    """Those of a batch whose labels were centred."""
    return real.batch_controls(x, labels, CURVES[step.target], (1, 2, 3), (1, 2, 3, 4), law(step)[s.mean_output.name])


# A draw costs d^3, so that many small ones say more than few large ones.
ROWS = Sampled(
    (s.r, s.gamma, s.c, s.row_form, s.norm_overlap, s.norm_spike_overlap, s.norm_variance), ROW_MODELS, row_statistics,
    lambda step, d: (law(step.at(d)), {}), draws=32, share=4, controlled=True,
)  # fmt: skip


def batch_blocks(batch: tuple[Step, float], d: int, seed: int) -> tuple[float, ...]:
    """(1/d) tr H, (1/d) tr H P, 1 - g (1/d) tr P H P, theta.H theta and theta.H P theta of one batch."""
    step, gain = batch
    n0 = round(step.alpha0 * d)
    x = np.random.default_rng(np.random.SeedSequence(47, spawn_key=(d, seed))).standard_normal((n0, d))
    at = law(step)
    y = CURVES[step.target].value(x[:, 0]) - at[s.mean_output.name]
    weighted = y[:, None] * x
    P = np.eye(d) + (at[s.turn.name] / n0) * (x.T @ weighted)
    square = P.T @ P  # P is symmetric; a matrix by its own transpose costs half of a product
    scale = step.rate**2 * at[s.slope_moment[0, 2].name] / step.alpha0 / n0
    H = real.positive_inverse(np.eye(d) + gain * (square + scale * (weighted.T @ weighted)))
    return (
        float(np.trace(H)) / d,
        float(np.sum(H * P)) / d,
        1.0 - gain * float(np.sum(H * square)) / d,
        float(H[0, 0]),
        float(H[0] @ P[:, 0]),
    )


BATCHES = Sampled(
    (s.row_trace, s.bridge_trace, s.rest_trace, s.target_form, s.target_bridge), BATCH_MODELS, batch_blocks,
    lambda batch, d: (blocks(batch[0].at(d), batch[1]), functions_of(batch[0])), draws=12,
)  # fmt: skip


def bulk_resolvent(bulk: Bulk, d: int, seed: int) -> tuple[tuple[float, ...], Array]:
    """V2, V1 and K on the rows of one real network, at given conjugates; controls of mean zero."""
    step, *conjugates = bulk
    drawn, x, labels, start = _step(step, d, seed)
    fresh = real.fresh_controls(start, fresh_rows(len(start), d, seed), CURVES[step.student], x, labels, step.rate)
    return drawn.resolvent(*conjugates), np.concatenate([_batch_controls(step, x, labels), fresh])


def bulks(*names: str) -> Sampled[Bulk]:
    """Quantities of a network's bulk, for the models named; of few neurons a draw costs little."""
    chosen = {name: BULK_MODELS[name] for name in names}
    return bulk_of_rows(chosen, bulk_resolvent, 3 if TURNED in names else 1)
