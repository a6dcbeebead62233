"""Theory beside simulation for one problem: runs both and hands the numbers to the finite-size protocol."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.bounds.learned_bias import learned_bias
from giantsteps.numerics.experiments.ridge import Simulation, drawn_as
from giantsteps.numerics.experiments.simulate import predict, simulate
from giantsteps.numerics.models.documents import finite
from giantsteps.numerics.models.given import subject_of, whole_number, whole_numbers
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.notebook import Shown
from giantsteps.reports.figures.results import BLUE, ORANGE, into, titled
from giantsteps.reports.measurements.basin_shares import BasinShares, basin_shares, undecided
from giantsteps.verify.checks.finite_size import Comparison, Observation, Report, compare_all

# Beside the test error, and of a readout's parts beside the largest of them: their unit is that of the features. A
# readout of ridge 1e-8 keeps half of sixteen digits, so that the square of a part that is zero may come out as 1e-14.
_ROUNDING = 1e-12
# Powers of the readout's size.
_POWERS = {"m": 1, "zeta": 1, "psi": 1, "chi": 1, "q1": 2, "q2": 2}


@dataclass(frozen=True, eq=False, repr=False)
class Compared(Shown):
    """Simulations by dimension, the theory beside each, the theory's limit, and what the protocol says.

    `theories` are at the ratios realised at each dimension, with the known term of order 1/p kept; `limit` is at the
    ratios asked for. `shares`: of a learned bias whose training energy has several minima.
    """

    simulations: tuple[Simulation, ...]
    theories: tuple[dict[str, float], ...]
    limit: dict[str, float]
    report: Report
    shares: BasinShares | None = None

    def extrapolated(self, comparison: Comparison) -> float | None:
        """What the simulations of one observable extrapolate to, at the ratios asked for."""
        return None if comparison.fit is None else self.limit[comparison.observable] + comparison.fit.intercept

    def _columns(self) -> dict[str, list[Any]]:
        comparisons = self.report.comparisons
        return {
            "observable": [c.observable for c in comparisons],
            "theory": [self.limit[c.observable] for c in comparisons],
            "extrapolated": [self.extrapolated(c) for c in comparisons],
            "standard_error": [c.fit.standard_error if c.fit else None for c in comparisons],
            "z": [c.z for c in comparisons],
            "verdict": [c.verdict for c in comparisons],
        }

    def _title(self) -> str:
        return f"{self.simulations[0].model.described()}: {self.report.verdict}: {self.report.sentence}"

    def __repr__(self) -> str:
        dimensions = ", ".join(str(run.dimension) for run in self.simulations)
        return f"Compared(dimensions=({dimensions}), test_error={self.limit['test_error']:.10g}, {self.report.verdict})"

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        comparisons = self.report.comparisons
        document = {
            "theory": dict(self.limit),
            "simulation": [
                run.to_dict() | {"theory": theory} for run, theory in zip(self.simulations, self.theories, strict=True)
            ],
            "extrapolated": {
                c.observable: {"mean": self.extrapolated(c), "standard_error": c.fit.standard_error if c.fit else None}
                for c in comparisons
            },
            "z": {c.observable: c.z for c in comparisons},
            "smallest_detectable": {c.observable: c.smallest_detectable for c in comparisons},
            "verdicts": {c.observable: c.verdict for c in comparisons},
            "verdict": self.report.verdict,
            "sentence": self.report.sentence,
        }
        if self.shares is not None:
            document["basins"] = self.shares.to_dict()
        cleaned: dict[str, Any] = finite(document)
        return cleaned


@accepts(
    subject=subject_of,
    dimensions=whole_numbers("dimensions", "(400, 800, 1600)", least=2),
    seeds=whole_number("seeds", 8, least=1),
    seed=whole_number("seed", 0, least=0),
)
def compare(
    subject: Model | Network,
    *,
    dimensions: Sequence[int],
    seeds: int,
    seed: int = 0,
    kind: str | None = None,
    learned: bool = False,
    executor: Executor | None = None,
    progress: Callable[[int], None] | None = None,
) -> Compared:
    """Theory beside simulation, extrapolated to infinite dimension, with a verdict.

    Simulates at each dimension and solves at the realised ratios n/d, p/d and n0/d.

    subject: the problem: a Model, or a Network.
    dimensions: at least two values of d, for example (400, 800, 1600).
    seeds: independent experiments at each dimension.
    seed: the seed of all experiments.
    kind: what is simulated, as for `simulate`.
    learned: whether theory and experiments learn a bias beside the readout. If the limit of the training energy has
        several minima, the basin of the lowest is compared, and so are the energies of the basins.
    executor: runs seeds in parallel.
    progress: called with the number of experiments done.

    Raises SimulationError and ModelError.

    >>> found = giantsteps.compare(model, dimensions=(40, 80), seeds=2)
    >>> found.limit["test_error"], found.report.verdict
    (0.12586..., 'INCONCLUSIVE')
    """
    subject, kind = drawn_as(subject, kind)
    found = learned_bias(_model(subject, kind)) if learned else None
    basins = found.basins() if found is not None and len(found.ranked) > 1 else None
    # Models that the theory does not support are refused here, before any simulation.
    limit = predict(_model(subject, kind), learned=learned, basins=basins)
    simulations: list[Simulation] = []
    given: dict[str, Any] = {"seeds": seeds, "seed": seed, "kind": kind, "learned": learned, "basins": basins}
    run_at = partial(simulate, subject, **given, executor=executor)
    for k, dimension in enumerate(sorted(dimensions)):
        done = k * seeds

        def step(count: int, _total: int, done: int = done) -> None:
            if progress is not None:
                progress(done + count)

        simulations.append(run_at(dimension=dimension, progress=step))
    theories = tuple(
        predict(_model(run.model, kind), learned=learned, basins=basins, sizes=run.sizes) for run in simulations
    )
    converged = all(theory.converged for theory in theories)
    under = _under_rounding(simulations, [theory.values for theory in theories]) if converged else set()
    observables = {
        name: [
            # A theory that did not converge has no value: not a number makes the comparison inconclusive.
            Observation(run.dimension, run.values(name), theory.values[name] if theory.converged else math.nan)
            if name not in under
            else Observation(run.dimension, (0.0,) * len(run.values(name)), 0.0)
            for run, theory in zip(simulations, theories, strict=True)
        ]
        for name in theories[-1].values
    }
    # An order parameter too noisy to confirm does not spoil the verdict; any of them may refute.
    report = compare_all(observables, limits=limit.values, scales=limit.scales, required=("test_error",))
    values = tuple(theory.values for theory in theories)
    shares = None
    if found is not None and basins is not None and all(theory.converged for theory in theories):
        runs = {run.dimension: dict(run.samples) for run in simulations}
        shares = basin_shares(found, basins, runs, dict(zip(runs, values, strict=True)))
        report = undecided(report, shares.objection)
    return Compared(tuple(simulations), values, limit.values, report, shares)


def _under_rounding(simulations: Sequence[Simulation], theories: Sequence[dict[str, float]]) -> set[str]:
    """The observables that are nothing but rounding, in theory and simulation: no evidence for either."""
    sampled = {name: [x for run in simulations for x in run.values(name)] for name in theories[-1]}
    largest = {
        name: float(np.max(np.abs([*found, *(theory[name] for theory in theories)]))) for name, found in sampled.items()
    }
    size = max(abs(theory["test_error"]) for theory in theories)
    powers = {name: _POWERS[part] for name in largest if (part := re.split("[^a-z0-9]", name)[0]) in _POWERS}
    readout = max((largest[name] ** (1.0 / power) for name, power in powers.items()), default=0.0)
    units = {name: readout ** powers[name] if name in powers else size for name in largest}
    return {name for name in largest if largest[name] < _ROUNDING * units[name]}


def _model(subject: Model | Network, kind: str) -> Model:
    """The theory's model: the network's own bulk for a network, the spiked random features otherwise."""
    if isinstance(subject, Network):
        return subject.model("network" if kind == "network" else "isotropic")
    return subject


@into.register(Compared)
def _(compared: Compared, axes: Any, observable: str = "test_error") -> None:
    """One observable over 1/d with the theory beside it, what it extrapolates to and the limit."""
    comparison = next((c for c in compared.report.comparisons if c.observable == observable), None)
    if comparison is None:
        names = ", ".join(c.observable for c in compared.report.comparisons)
        raise ValueError(f"observable was given {observable!r}; one of {names} is accepted")
    runs = sorted(zip(compared.simulations, compared.theories, strict=True), key=lambda run: -run[0].dimension)
    inverse = np.array([1.0 / run.dimension for run, _ in runs])
    found, theory = [run.estimates[observable] for run, _ in runs], [values[observable] for _, values in runs]
    seen = [one.standard_error if math.isfinite(one.standard_error) else 0.0 for one in found]
    axes.errorbar(inverse, [one.mean for one in found], seen, fmt="o", color=ORANGE, capsize=3, label="simulation")
    axes.plot(inverse, theory, "_", color=BLUE, ms=14, label="theory at the realised ratios")
    axes.plot([0.0], [limit := compared.limit[observable]], "s", color=BLUE, ms=5, label="limit")
    if comparison.fit:
        places, beneath = np.insert(inverse, 0, 0.0), np.insert(theory, 0, limit)
        line = beneath + comparison.fit.intercept + comparison.fit.slope * places
        axes.plot(places, line, color=ORANGE, lw=1.0, label="fitted")
    titled(axes, compared._title(), xlabel="1/d", ylabel=observable.replace("_", " "))
    axes.legend(frameon=False)
