"""What two theories say of the networks on trial: stored before they were simulated, and what the code gives today.

isotropic: rows of the bulk of one norm in all directions, as in the paper, with the map of any activation. network: the
network's own bulk. Each at the ratios of every dimension that is simulated, with the known term of order 1/p.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

from giantsteps.numerics.experiments.ridge import Prediction, at_sizes
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.numerics.models.network import Network
from giantsteps.reports.measurements.models import Data, Drawn, Samples
from giantsteps.reports.studies.networks.drawn import FOLDER, JUDGED, MEASURED, RUNS, Entry, entries
from giantsteps.verify.checks.finite_size import Observation, Report, compare_all

THEORIES = ("isotropic", "network")
# Of the stored theory: the samples have six.
DIGITS = 9

KEY = "networks"

# theory -> dimension -> prediction
Predicted = dict[str, dict[int, Prediction]]


@dataclass(frozen=True)
class Judged:
    """One network of the list, with what the finite-size protocol says of each theory."""

    entry: Entry
    reports: Mapping[str, Report]


def computed(drawn: Drawn) -> Predicted:
    """The predictions for one network, computed now."""
    return {theory: {dimension: at_dimension(drawn, dimension, theory) for dimension, _ in RUNS} for theory in THEORIES}


def at_dimension(drawn: Drawn, dimension: int, theory: str) -> Prediction:
    """What a theory says of one network at the ratios that dimension d realises."""
    sizes = drawn.sizes(dimension)
    subject = at_sizes(drawn.subject, sizes)
    assert isinstance(subject, Network)
    found = predict(subject.model(theory), sizes=sizes)
    values, scales = (
        {name: x for name, x in numbers.items() if name in MEASURED} for numbers in (found.values, found.scales)
    )
    return Prediction(values, scales, found.converged)


@cache
def stored() -> Mapping[str, Predicted]:
    """The predictions in the file, by the name of the network."""
    found = json.loads((FOLDER / "predictions.json").read_text(encoding="utf-8"))
    return {
        name: {
            theory: {int(d): Prediction(one["values"], one["scales"], one["converged"]) for d, one in runs.items()}
            for theory, runs in theories.items()
        }
        for name, theories in found.items()
    }


def text() -> str:
    """What the code gives today, as the file has it: one line per network, theory and dimension."""
    blocks = []
    for drawn in (entry.drawn for entry in entries()):
        theories = []
        for theory, runs in computed(drawn).items():
            lines = ",\n".join(f"   {json.dumps(str(d))}: {_line(found)}" for d, found in runs.items())
            theories.append(f"  {json.dumps(theory)}: {{\n{lines}\n  }}")
        blocks.append(f" {json.dumps(drawn.name)}: {{\n" + ",\n".join(theories) + "\n }")
    return "{\n" + ",\n".join(blocks) + "\n}\n"


def _line(found: Prediction) -> str:
    values, scales = (
        {name: float(f"{x:.{DIGITS}g}") for name, x in numbers.items()} for numbers in (found.values, found.scales)
    )
    return json.dumps({"values": values, "scales": scales, "converged": found.converged})


def samples() -> Data:
    """The samples of the last simulation, under KEY; empty where there are none."""
    path = FOLDER / "samples.json"
    found: Data = json.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return found


def judge(entry: Entry, runs: Mapping[str, Samples]) -> Judged:
    """Both theories as they were predicted, beside the samples of one network, extrapolated in 1/d.

    Each by the observables of JUDGED together, at the protocol's rate; the test error has to be CONFIRMED.
    """
    reports = {}
    for theory, predictions in stored()[entry.drawn.name].items():
        observations: dict[str, list[Observation]] = {}
        for dimension, samples in sorted(runs.items(), key=lambda item: int(item[0])):
            found = predictions[int(dimension)]
            for name in JUDGED:
                expected = found.values[name] if found.converged else float("nan")
                observations.setdefault(name, []).append(Observation(int(dimension), tuple(samples[name]), expected))
        scales = predictions[max(map(int, runs))].scales
        reports[theory] = compare_all(observations, scales=scales, required=("test_error",))
    return Judged(entry, reports)
