"""Networks whose initial readout weights are drawn from a law: every neuron has a letter of its own.

The features are those of `numerics.experiments.ensembles.spiked_random_features`, sigma(u_i r kappa + w_i.x) with
|w_i|^2 = c_u. The letters are independent draws: their empirical law is part of what scatters between seeds. Compare
with `Solution.at_width` at the width of the sample: networks are far from the limit.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.experiments.ensembles import FeatureMap, Sizes, block_rows, unit_rows
from giantsteps.numerics.experiments.measure import Row, overlaps, sampled_test_error
from giantsteps.numerics.experiments.readout import fit
from giantsteps.numerics.experiments.ridge import TEST_FACTOR, Prediction, Simulation
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.given import square_only
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import SimulationError
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.saddle_point.letters.density import bulk_of, law_of, solve_letters

Array = NDArray[np.float64]

OBSERVABLES = ("test_error", "training_error", "zeta", "psi")


@dataclass(frozen=True)
class _Job:
    model: Model
    sizes: Sizes
    seed: int
    index: int


def simulate_letters(
    model: Model,
    *,
    dimension: int,
    seeds: int,
    seed: int,
    progress: Callable[[int, int], None] | None,
    executor: Executor | None,
) -> Simulation:
    """`seeds` experiments at dimension d, with the observables of `OBSERVABLES`; zeta and psi over all neurons."""
    if seeds < 1:
        raise SimulationError(f"{seeds} seeds are not enough: 1 is the least, 2 give a standard error, for example 8")
    square_only(model, "a density of readout weights")
    sizes = Sizes.rounded(dimension, alpha=model.alpha, beta=model.beta, fractions=(1.0,))
    realised = model.as_given().changed(alpha=sizes.alpha, beta=sizes.beta)
    jobs = [_Job(realised, sizes, seed, index) for index in range(seeds)]
    rows: list[dict[str, float]] = []
    for row in executor.map(_experiment, jobs) if executor is not None else map(_experiment, jobs):
        rows.append(dict(row))
        if progress is not None:
            progress(len(rows), seeds)
    samples = tuple((name, tuple(row[name] for row in rows)) for name in OBSERVABLES)
    return Simulation("srf", dimension, seeds, sizes, realised, samples)


def predict_letters(model: Model, sizes: Sizes | None) -> Prediction:
    """The theory beside `simulate_letters`, at its width where sizes are given.

    An error is relative to itself, zeta and psi to |psi| by letter, added up.
    """
    solution = solve_letters(model)
    assert solution.letters is not None, "the limit of many letters has its rules"
    size = float(np.sum(np.abs(solution.letters.psi)))
    scales = {"test_error": solution.test_error, "training_error": solution.training_error, "zeta": size, "psi": size}
    found = solution if sizes is None else solution.at_width(sizes.p)
    order = found.order_parameters
    values = (found.test_error, found.training_error, float(order.zeta[0]), float(order.psi[0]))
    return Prediction(dict(zip(OBSERVABLES, values, strict=True)), scales, solution.converged)


def draw(model: Model, law: ReadoutLaw, sizes: Sizes, rng: np.random.Generator) -> FeatureMap:
    """One feature map: v the first axis, theta_perp the second."""
    letters = law.draw(rng, sizes.p)
    bulks = np.array([bulk_of(model, float(u)) for u in letters])
    spikes = (model.spike * letters)[:, None]
    weights = unit_rows(rng, sizes.p, sizes.d) * np.sqrt(bulks)[:, None]
    v, perp = np.eye(2, sizes.d)
    weights[:, 0] += spikes[:, 0]
    theta = model.alignment * v + np.sqrt(model.remainder) * perp
    sigma = compile_numpy(model.activation.expression)

    def features(x: Array) -> Array:
        return np.asarray(sigma(x @ weights.T))

    return FeatureMap(weights, spikes, v[None, :], theta, perp, (slice(0, sizes.p),), features)


def _experiment(job: _Job) -> Row:
    """One seed, its own SeedSequence of (seed, dimension, index)."""
    model, sizes = job.model, job.sizes
    sequence = np.random.SeedSequence(job.seed, spawn_key=(17, sizes.d, job.index))
    weights, inputs, noise, test = map(np.random.default_rng, sequence.spawn(4))
    drawn = draw(model, law_of(model), sizes, weights)
    target = compile_numpy(model.target.expression)
    label_noise = np.sqrt(model.noise) * noise.standard_normal(sizes.n)

    def training() -> Iterator[tuple[Array, Array]]:
        rows = block_rows(max(sizes.p, sizes.d))
        for start in range(0, sizes.n, rows):
            x = inputs.standard_normal((min(rows, sizes.n - start), sizes.d))
            yield drawn.features(x), np.asarray(target(x @ drawn.theta)) + label_noise[start : start + len(x)]

    readout = fit(training(), sizes.n, sizes.p, (model.ridge,))
    error = sampled_test_error(drawn, target, readout.a, TEST_FACTOR * max(sizes.n, sizes.d), test)
    sample = overlaps(drawn, readout.a[:, 0])
    found = (float(error[0]), float(readout.training_error[0]), float(sample.zeta[0]), float(sample.psi[0]))
    return tuple(zip(OBSERVABLES, found, strict=True))
