"""Theory beside simulation for one problem: runs both and hands the numbers to the finite-size protocol."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from numerics.ensembles import Network
from numerics.model import Model
from numerics.ridge import solve
from numerics.simulate import Simulation, natural_scales, predicted, simulate
from verify.finite_size import Comparison, Observation, Report, compare_all


@dataclass(frozen=True)
class Compared:
    """Simulations by dimension, the theory beside each, the theory's limit, and what the protocol says.

    `theories` are at the ratios realised at each dimension, with the known term of order 1/p kept; `limit` is at the
    ratios asked for.
    """

    simulations: tuple[Simulation, ...]
    theories: tuple[dict[str, float], ...]
    limit: dict[str, float]
    report: Report

    def extrapolated(self, comparison: Comparison) -> float | None:
        """What the simulations of one observable extrapolate to, at the ratios asked for."""
        return None if comparison.fit is None else self.limit[comparison.observable] + comparison.fit.intercept


def compared(
    subject: Model | Network,
    *,
    dimensions: Sequence[int],
    seeds: int,
    seed: int = 0,
    kind: str = "srf",
    executor: Executor | None = None,
    progress: Callable[[int], None] | None = None,
) -> Compared:
    """Simulate at each dimension, solve at the realised ratios, extrapolate; `progress` gets the experiments done.

    Raises SimulationError and ModelError.
    """
    simulations: list[Simulation] = []
    for k, dimension in enumerate(sorted(dimensions)):
        done = k * seeds

        def step(count: int, _total: int, done: int = done) -> None:
            if progress is not None:
                progress(done + count)

        simulations.append(
            simulate(subject, dimension=dimension, seeds=seeds, seed=seed, kind=kind, progress=step, executor=executor)
        )
    solutions = tuple(solve(_model(run.model, kind)) for run in simulations)
    theories = tuple(predicted(solution, run.sizes) for run, solution in zip(simulations, solutions, strict=True))
    observables = {
        name: [
            # A theory that did not converge has no value: not a number makes the comparison inconclusive.
            Observation(run.dimension, run.values(name), theory[name] if solution.converged else math.nan)
            for run, theory, solution in zip(simulations, theories, solutions, strict=True)
        ]
        for name in theories[-1]
    }
    # An order parameter too noisy to confirm does not spoil the verdict; any of them may refute.
    limit = solve(_model(subject, kind))
    report = compare_all(observables, limits=predicted(limit), scales=natural_scales(limit), required=("test_error",))
    return Compared(tuple(simulations), theories, predicted(limit), report)


def _model(subject: Model | Network, kind: str) -> Model:
    """The theory's model: the network's own bulk for a network, the spiked random features otherwise."""
    if isinstance(subject, Network):
        return subject.model("network" if kind == "network" else "isotropic")
    return subject
