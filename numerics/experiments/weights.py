"""What several gradient steps leave on the weights themselves: spike, alignment, bulk, and how the rows' norms vary.

With rows w_i = r v + b_i, c = E|b_i|^2 and delta_i = |b_i|^2 - c = O(d^-1/2), after real steps of a network with one
readout group:

    spike r, alignment gamma = v.theta   from r^2 = mean of w_i.w_j over pairs of neurons, r gamma = (mean row).theta,
    bulk c                               mean |w_i|^2 - r^2,
    norm_variance v_c                    d Var(delta_i),
    tilt_along, tilt_across              d Cov(b_i.v, delta_i) and d Cov(b_i.theta_perp, delta_i): h.v and h.theta_perp,
    tilt_square                          h.h, h = d Cov(b_i, delta_i): from the two halves of the neurons.

Pairs and halves are free of the neurons' own noise, which a square of one mean carries at order 1. All of them tend to
their limits at O(1/d); Var and Cov are over the neurons of one network.
"""

from __future__ import annotations

import numpy as np

from giantsteps.numerics.experiments.ensembles import Array
from giantsteps.numerics.experiments.inputs import GAUSSIAN
from giantsteps.numerics.experiments.measure import Row
from giantsteps.numerics.experiments.ridge import Job, Simulation, draw, measured, simulated
from giantsteps.numerics.models.network import Network

OBSERVABLES = (
    "spike", "alignment", "bulk", "norm_variance", "tilt_along", "tilt_across", "tilt_square",
)  # fmt: skip


def simulate_weights(network: Network, *, dimension: int, seeds: int, seed: int = 0) -> Simulation:
    """As `numerics.experiments.simulate.simulate` with the network's ridge, on the same draws, with the OBSERVABLES."""
    (found,) = simulated(
        weights_experiment, network, dimension=dimension, seeds=seeds, seed=seed, kind="network", inputs=GAUSSIAN,
        progress=None, executor=None, ridges=(network.ridge,),
    )  # fmt: skip
    return found


def weights_experiment(job: Job) -> tuple[Row, ...]:
    """One seed: what a ridge experiment measures, and in the place of its estimates of spike, alignment and bulk those
    of the module's first lines. One row per ridge."""
    weights, batch, *streams = job.streams
    drawn = draw(job, weights, batch)
    moments = moments_of(drawn.weights, drawn.theta)
    rows = (dict(row) | moments for row in measured(drawn, job, streams))
    return tuple(tuple(row.items()) for row in rows)


def moments_of(rows: Array, theta: Array) -> dict[str, float]:
    """The OBSERVABLES of a network's weights (p, d), p >= 4, and a unit vector theta (d,); r >= 0."""
    p, d = rows.shape
    mean = rows.mean(axis=0)
    norms = np.einsum("ij,ij->i", rows, rows)
    square = (p * float(mean @ mean) - float(norms.mean())) / (p - 1)
    # Where neurons scatter more than they agree the square may fall below zero; r is then zero as far as they tell.
    spike = float(np.sqrt(max(square, 0.0)))
    along = float(mean @ theta)
    rest = rows - mean
    v = mean / float(np.linalg.norm(mean))
    perp = theta - float(v @ theta) * v
    perp /= float(np.linalg.norm(perp))
    delta = np.einsum("ij,ij->i", rest, rest)
    halves = [_tilt(rest[start::2], delta[start::2]) for start in (0, 1)]
    whole = _tilt(rest, delta)
    return {
        "spike": spike,
        "alignment": along / spike if spike else 0.0,
        "bulk": float(norms.mean()) - square,
        "norm_variance": d * float(np.var(delta, ddof=1)),
        "tilt_along": d * float(whole @ v),
        "tilt_across": d * float(whole @ perp),
        "tilt_square": d * d * float(halves[0] @ halves[1]),
    }


def _tilt(rows: Array, norms: Array) -> Array:
    """Cov(b_i, delta_i) over the neurons, shape (d,)."""
    return np.asarray((norms - norms.mean()) @ rows / (len(rows) - 1))
