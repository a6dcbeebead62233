"""Theory beside simulation for one problem: runs both and hands the numbers to the finite-size protocol."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass

from numerics.ensembles import Network
from numerics.losses import SQUARE, Loss
from numerics.model import Model
from numerics.simulate import Simulation
from numerics.simulate_loss import predict, simulate_loss
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
    loss: Loss = SQUARE,
    learned: bool = False,
    executor: Executor | None = None,
    progress: Callable[[int], None] | None = None,
) -> Compared:
    """Simulate at each dimension, solve at the realised ratios, extrapolate; `progress` gets the experiments done.

    With `learned`, theory and every experiment learn a bias beside the readout.

    Raises SimulationError and ModelError.
    """
    simulations: list[Simulation] = []
    for k, dimension in enumerate(sorted(dimensions)):
        done = k * seeds

        def step(count: int, _total: int, done: int = done) -> None:
            if progress is not None:
                progress(done + count)

        simulations.append(
            simulate_loss(
                subject,
                loss,
                dimension=dimension,
                seeds=seeds,
                seed=seed,
                kind=kind,
                learned=learned,
                progress=step,
                executor=executor,
            )
        )
    theories = tuple(predict(_model(run.model, kind), loss, learned=learned, sizes=run.sizes) for run in simulations)
    observables = {
        name: [
            # A theory that did not converge has no value: not a number makes the comparison inconclusive.
            Observation(run.dimension, run.values(name), theory.values[name] if theory.converged else math.nan)
            for run, theory in zip(simulations, theories, strict=True)
        ]
        for name in theories[-1].values
    }
    # An order parameter too noisy to confirm does not spoil the verdict; any of them may refute.
    limit = predict(_model(subject, kind), loss, learned=learned)
    report = compare_all(observables, limits=limit.values, scales=limit.scales, required=("test_error",))
    return Compared(tuple(simulations), tuple(theory.values for theory in theories), limit.values, report)


def _model(subject: Model | Network, kind: str) -> Model:
    """The theory's model: the network's own bulk for a network, the spiked random features otherwise."""
    if isinstance(subject, Network):
        return subject.model("network" if kind == "network" else "isotropic")
    return subject
