"""Finite-size experiments: the numbers that the theory predicts, measured at finite d.

One experiment draws a feature map (`numerics.experiments.ensembles`), fits the ridge readout on n fresh samples
(`numerics.experiments.readout`) and measures (`numerics.experiments.measure`)

    test_error      mean of (g(theta.x) - f(x))^2 over fresh x, noiseless target (the theory's E[e2] - Delta, (25))
    training_error  mean of (y - f(x))^2 over the training set, label noise included
    m, zeta, psi, q1, q2   the order parameters of (17) per group, the known m^2/p terms of finite p subtracted

and for kind "network" also spike, alignment, bulk, measured on the trained weights.

Standard errors come from independent seeds. Each seed draws its own test set, of TEST_FACTOR max(n, d) samples, so that
test-set noise is part of them; the equivalent map needs none, its test error is integrated exactly given the readout.

Inputs are Gaussian, as in the theory, unless `numerics.experiments.inputs` of another law are asked for.

Experiment s of (seed, dimension, kind) has its own SeedSequence: nothing depends on how many seeds are run, on the
block size or on the order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantsteps.numerics.bounds.learned_bias import Basins
from giantsteps.numerics.experiments.arrays import NUMPY, Array, Arrays
from giantsteps.numerics.experiments.ensembles import (
    FeatureMap,
    Sizes,
    block_rows,
    equivalent_map,
    spiked_random_features,
    trained_network,
)
from giantsteps.numerics.experiments.inputs import GAUSSIAN, Inputs
from giantsteps.numerics.experiments.letters import letters_map
from giantsteps.numerics.experiments.measure import Row, exact_test_error, named, order_parameters, sampled_test_error
from giantsteps.numerics.experiments.readout import Readout, fit
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.documents import finite
from giantsteps.numerics.models.given import square_only, within_reach
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network, SimulationError, network_of
from giantsteps.numerics.models.notebook import Shown
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.finite_width import at_width

KINDS = ("srf", "network", "equivalent")

# Test samples over max(n, d). The test set is spread evenly where the error depends on few directions (see
# `measure.sampled_test_error`), and two samples per training sample already add less than the seeds scatter.
TEST_FACTOR = 2
# Independent test samples, for inputs that are not Gaussian, scatter more.
INDEPENDENT_TEST_FACTOR = 6


@dataclass(frozen=True)
class Estimate:
    """Mean over independent seeds and its standard error s/sqrt(K); infinite for a single seed."""

    mean: float
    standard_error: float

    def to_dict(self, seeds: int) -> dict[str, Any]:
        """As plain data for JSON; where a number is infinite, why."""
        overflow = "it exceeds the range of double precision in some of the experiments"
        spread = "one seed shows no spread; two or more give a standard error" if seeds == 1 else overflow
        return {"mean": finite(self.mean, overflow), "standard_error": finite(self.standard_error, spread)}


@dataclass(frozen=True, repr=False)
class Simulation(Shown):
    """Independent experiments at dimension d.

    kind: srf, network or equivalent.
    dimension: d.
    seeds: the number K of experiments.
    sizes: n, p and n0.
    model: the Model (or Network) at the realised ratios n/d, p/d, n0/d and group fractions: evaluate the theory there,
        not at the ratios asked for.
    samples: (name, one value per seed); names carry the groups where there are several: "m" or "m[0]", "q1" or
        "q1[0,1]".

    >>> run = giantsteps.simulate(model, dimension=100, seeds=3)
    >>> run.sizes.n, len(run.values("m"))
    (150, 3)
    """

    kind: str
    dimension: int
    seeds: int
    sizes: Sizes
    model: Model | Network
    samples: tuple[tuple[str, tuple[float, ...]], ...]

    def values(self, name: str) -> tuple[float, ...]:
        """The K measured values of one observable; KeyError where there is none of that name."""
        return dict(self.samples)[name]

    @property
    def estimates(self) -> dict[str, Estimate]:
        """Every observable's mean and standard error."""
        return {name: estimate(values) for name, values in self.samples}

    @property
    def test_error(self) -> Estimate:
        """Mean squared error on the noiseless target; with another loss than the square one that loss per sample."""
        return estimate(self.values("test_error"))

    @property
    def training_error(self) -> Estimate:
        """Mean squared training residual, label noise included; with another loss that loss per sample."""
        return estimate(self.values("training_error"))

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line: every observable by its name."""
        document: dict[str, Any] = {"dimension": self.dimension, "seeds": self.seeds, "kind": self.kind}
        document["sizes"] = {"n": self.sizes.n, "p": self.sizes.p, "n0": self.sizes.n0}
        if self.model.gaussian_rows:
            document["rows"] = "gaussian"
        return document | {name: found.to_dict(self.seeds) for name, found in self.estimates.items()}

    def _columns(self) -> dict[str, Sequence[float]]:
        return dict(self.samples)

    def _title(self) -> str:
        return f"{self.kind}, d = {self.dimension}, seeds {self.seeds}: {self.model!r}"

    def __repr__(self) -> str:
        return f"Simulation({self.kind}, dimension={self.dimension}, seeds={self.seeds}, test_error={self.test_error})"


@dataclass(frozen=True)
class Prediction:
    """What the theory says of an experiment, under the names of its samples; scales as in `natural_scales`."""

    values: dict[str, float]
    scales: dict[str, float]
    converged: bool


def estimate(values: Sequence[float]) -> Estimate:
    """Mean and s/sqrt(K), s the sample standard deviation (over K - 1)."""
    count = len(values)
    error = float(np.std(values, ddof=1) / np.sqrt(count)) if count > 1 else np.inf
    return Estimate(float(np.mean(values)), error)


def drawn_as(model: Model | Network, kind: str | None) -> tuple[Model | Network, str]:
    """What is drawn, and its kind where none is asked for: a network as it is, a model with its own bulk as the network
    that took the step, any other model as spiked random features."""
    if isinstance(model, Model) and (model.network_step is not None or (kind == "network" and model.step is not None)):
        model = network_of(model)
    return model, kind or ("network" if isinstance(model, Network) else "srf")


@within_reach
def simulate_ridges(
    model: Model | Network,
    ridges: Sequence[float],
    *,
    dimension: int,
    seeds: int,
    seed: int = 0,
    kind: str | None = None,
    inputs: Inputs = GAUSSIAN,
    arrays: Arrays = NUMPY,
    progress: Callable[[int, int], None] | None = None,
    executor: Executor | None = None,
) -> tuple[Simulation, ...]:
    """`numerics.experiments.simulate.simulate` with the square loss, at many ridges on the same draws.

    Features, Gram matrix and test set are computed once for all; experiments done before in this process are not
    repeated.
    """
    model, kind = drawn_as(model, kind)
    square_only(model, "the ridge readout")
    features = checked(model, kind, seeds)
    if kind == "equivalent" and not inputs.gaussian:
        raise SimulationError(
            f'kind "equivalent" has Gaussian inputs; for {inputs.law} inputs use kind "srf" or "network"'
        )
    wanted = tuple(float(ridge) for ridge in ridges)
    runs = simulated(
        _experiment, features, dimension=dimension, seeds=seeds, seed=seed, kind=kind, inputs=inputs,
        progress=progress, executor=executor, ridges=wanted, arrays=arrays,
    )  # fmt: skip
    return tuple(replace(run, model=replace(run.model, ridge=ridge)) for run, ridge in zip(runs, wanted, strict=True))


def simulated(
    experiment: Callable[[Job], tuple[Row, ...]], features: Model | Network, *, dimension: int, seeds: int, seed: int,
    kind: str, inputs: Inputs, progress: Callable[[int, int], None] | None, executor: Executor | None, **given: Any,
) -> tuple[Simulation, ...]:  # fmt: skip
    """An experiment at whole sizes for every seed; a simulation for each row that it returns.

    Experiments done before in this process are not repeated. ``given`` is what a `Job` says of the readout.
    """
    sizes = Sizes.of(features, dimension)
    jobs = [Job(features, sizes, kind, seed, index, inputs, **given) for index in range(seeds)]
    _run_all(experiment, jobs, progress, executor)
    runs = []
    for found in zip(*(_DONE[experiment, job] for job in jobs), strict=True):
        rows = [dict(row) for row in found]
        samples = tuple((name, tuple(row[name] for row in rows)) for name in rows[0])
        runs.append(Simulation(kind, dimension, seeds, sizes, at_sizes(features, sizes), samples))
    return tuple(runs)


def _law(model: Model | Network) -> ReadoutLaw | None:
    return model.law if isinstance(model, Model) else None


def at_sizes(model: Model | Network, sizes: Sizes) -> Model | Network:
    """The same problem at the realised ratios and group fractions, where the theory has to be evaluated.

    A network is mapped there anew. Spiked random features keep the spike, bulk and alignment that they were drawn with.
    """
    if isinstance(model, Network):
        groups = _shared(model.groups, sizes)
        return replace(model, alpha=sizes.alpha, beta=sizes.beta, alpha0=sizes.alpha0, readout=groups)
    drawn = model.as_given().changed(alpha=sizes.alpha, beta=sizes.beta)
    return drawn if drawn.law is not None else drawn.changed(readout=_shared(drawn.groups, sizes))


def _shared(groups: tuple[ReadoutGroup, ...], sizes: Sizes) -> tuple[ReadoutGroup, ...]:
    """The groups with the fractions that the sizes realise."""
    return tuple(replace(group, fraction=share) for group, share in zip(groups, sizes.fractions, strict=True))


def predicted(solution: Solution, sizes: Sizes | None = None) -> dict[str, float]:
    """The theory's values under the names that `Simulation.samples` uses.

    With `sizes`, the known term of order 1/p is kept (`numerics.saddle_point.finite_width`): the same limit, reached at
    the pace of the simulation even where the data hold m only weakly.
    """
    found = solution if sizes is None else at_width(solution, sizes.p)
    order = found.order_parameters
    values = {"test_error": found.test_error, "training_error": found.training_error}
    for name, value in (("m", order.m), ("zeta", order.zeta), ("psi", order.psi), ("q1", order.q1), ("q2", order.q2)):
        values |= named(name, value)
    if order.chi.size:
        values |= named("chi", order.chi)
    return values


def natural_scales(solution: Solution) -> dict[str, float]:
    """What the error of an observable is relative to, under the names of `predicted`; all positive.

    Errors and q2 refer to their own size. A component may be near zero, so m_a refers to max(|m_a|, sqrt(q2_a)) (what
    a random readout of the same norm would show), zeta_a and psi_a to |W^T a_a|/sqrt(p) = sqrt(q1_aa + zeta_a^2), of
    which they are components (zeta_a^2 summed over the spike's directions), and q1_ab to sqrt(q1_aa q1_bb).
    """
    order = solution.order_parameters
    squares = order.zeta**2 if order.zeta.ndim == 1 else np.sum(order.zeta**2, axis=1)
    size = np.sqrt(np.diag(order.q1) + squares)
    own = np.sqrt(np.diag(order.q1))
    scales = {"test_error": solution.test_error, "training_error": solution.training_error}
    for name, value in (
        ("m", np.maximum(np.abs(order.m), np.sqrt(order.q2))),
        ("zeta", np.broadcast_to(size if order.zeta.ndim == 1 else size[:, None], order.zeta.shape)),
        ("psi", size),
        ("q1", np.outer(own, own)),
        ("q2", order.q2),
    ):
        scales |= named(name, value)
    if order.chi.size:
        # Like m: what a random readout of the same norm would show, the norms of rows varying by about c.
        scales |= named("chi", np.maximum(np.abs(order.chi), np.array(solution.model.bulks) * np.sqrt(order.q2)))
    return scales


@dataclass(frozen=True)
class Job:
    """One experiment, hashable: the key under which its result is kept, and all that a worker process needs.

    With `ridges` those of ridge readouts on the same draws; otherwise the model's loss, and whether a bias is learned.
    """

    model: Model | Network
    sizes: Sizes
    kind: str
    seed: int
    index: int
    inputs: Inputs = GAUSSIAN
    ridges: tuple[float, ...] = ()
    learned: bool = False
    basins: Basins | None = None
    arrays: Arrays = NUMPY

    @property
    def streams(self) -> list[np.random.Generator]:
        """Those of the weights, the batch of the step, the inputs, the label noise and the test set."""
        law = _law(self.model) is not None
        key = (_OF_LETTERS if law else KINDS.index(self.kind), self.sizes.d, self.index)
        sequences = np.random.SeedSequence(self.seed, spawn_key=key).spawn(5)
        # Letters take no step: their inputs have the second stream.
        return [np.random.default_rng(sequences[k]) for k in ((0, 4, 1, 2, 3) if law else range(5))]


_OF_LETTERS = 17
_DONE: dict[tuple[Callable[[Job], tuple[Row, ...]], Job], tuple[Row, ...]] = {}
_MOST_KEPT = 20_000  # a few hundred bytes each


def checked(model: Model | Network, kind: str, seeds: int) -> Model | Network:
    """The Model or Network whose features are drawn; raises SimulationError."""
    if kind not in KINDS:
        raise SimulationError(f"unknown kind of simulation {kind!r}: one of {', '.join(KINDS)}, for example srf")
    if seeds < 1:
        raise SimulationError(f"{seeds} seeds are not enough: 1 is the least, 2 give a standard error, for example 8")
    if kind != "network":
        features = model.model("isotropic") if isinstance(model, Network) else model
        if features.gaussian_rows and kind == "equivalent":
            raise SimulationError('kind "equivalent" requires rows of equal norm; for Gaussian rows use kind "srf"')
        return features
    if not isinstance(model, Network):
        return network_of(model)  # which says what is missing
    return model


def _run_all(
    experiment: Callable[[Job], tuple[Row, ...]], jobs: list[Job], progress: Callable[[int, int], None] | None,
    executor: Executor | None,
) -> None:  # fmt: skip
    wanted = {(experiment, job) for job in jobs}
    waiting = [job for job in jobs if (experiment, job) not in _DONE]
    done = len(jobs) - len(waiting)
    while len(_DONE) + len(waiting) > _MOST_KEPT and len(_DONE) > done:
        # Forget the oldest results, but none that this call is about to read.
        oldest = next(key for key in _DONE if key not in wanted)
        del _DONE[oldest]
    if progress is not None and done:
        progress(done, len(jobs))
    results = executor.map(experiment, waiting) if executor is not None else map(experiment, waiting)
    for job, rows in zip(waiting, results, strict=True):
        _DONE[experiment, job] = rows
        done += 1
        if progress is not None:
            progress(done, len(jobs))


# Over letters the theory has these; the others are sums that it does not know.
OF_LETTERS = ("test_error", "training_error", "zeta", "psi")


def _experiment(job: Job) -> tuple[Row, ...]:
    """One seed: draw the map, fit the readouts, measure. One row of observables per ridge."""
    weights, batch, *streams = job.streams
    return measured(draw(job, weights, batch), job, streams)


def measured(drawn: FeatureMap, job: Job, streams: Sequence[np.random.Generator]) -> tuple[Row, ...]:
    """The ridge readouts on one draw of the features, a row of observables per ridge; streams as `ridge_readouts`."""
    readout, errors = ridge_readouts(drawn, job.model, job.sizes, job.ridges, streams, job.inputs)
    if job.kind == "equivalent" and isinstance(job.model, Model):
        errors = [exact_test_error(drawn, job.model, a) for a in readout.a.T]
    rows = []
    for error, residual, a in zip(errors, readout.training_error, readout.a.T, strict=True):
        row = (("test_error", error), ("training_error", float(residual)), *order_parameters(drawn, a, job.sizes))
        rows.append(row if _law(job.model) is None else tuple(x for x in row if x[0] in OF_LETTERS))
    return tuple(rows)


def ridge_readouts(
    drawn: FeatureMap, model: Model | Network, sizes: Sizes, ridges: Sequence[float],
    streams: Sequence[np.random.Generator], law: Inputs = GAUSSIAN,
) -> tuple[Readout, list[float]]:  # fmt: skip
    """The readouts on n samples at many ridges, and their test errors on a fresh set.

    `streams` are those of the inputs, the label noise and the test set.
    """
    inputs, noise, test = streams
    target = compile_numpy(model.target.expression)
    label_noise = np.sqrt(model.noise) * noise.standard_normal(sizes.n)

    def training() -> Iterator[tuple[Array, Array]]:
        rows = block_rows(max(sizes.p, sizes.d))
        for start in range(0, sizes.n, rows):
            x = law.draw(inputs, min(rows, sizes.n - start), sizes.d)
            yield drawn.features(x), np.asarray(target(x @ drawn.theta)) + label_noise[start : start + len(x)]

    readout = fit(training(), sizes.n, sizes.p, ridges, drawn.arrays)
    errors = sampled_test_error(drawn, target, readout.a, samples_of(sizes, law), test, law)
    return readout, errors.tolist()


def samples_of(sizes: Sizes, inputs: Inputs) -> int:
    """The size of a test set."""
    factor = TEST_FACTOR if inputs.gaussian else INDEPENDENT_TEST_FACTOR
    return factor * max(sizes.n, sizes.d)


def draw(job: Job, weights: np.random.Generator, batch: np.random.Generator) -> FeatureMap:
    """The feature map of one seed; `batch` serves the gradient step, or the fresh xi of the equivalent map."""
    model, sizes, arrays = job.model, job.sizes, job.arrays
    if isinstance(model, Network):
        return trained_network(model, sizes, weights, batch, job.inputs, arrays)
    if model.law is not None:
        return letters_map(model, sizes, weights, arrays)
    if job.kind == "equivalent":
        return equivalent_map(model, sizes, weights, batch, arrays)
    return spiked_random_features(model, sizes, weights, job.inputs, arrays)
