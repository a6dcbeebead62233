"""What two theories say of the networks on trial: stored before they were simulated, and what the code gives today.

isotropic: rows of the bulk of one norm in all directions, as in the paper, with the map of any activation. network: the
network's own bulk. Each at the ratios of every dimension that is simulated, with the known term of order 1/p.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from giantsteps.numerics.experiments.ridge import Prediction, at_sizes
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.numerics.models.network import Network
from giantsteps.reports.measurements.experiments import text_of
from giantsteps.reports.measurements.models import Drawn, Samples
from giantsteps.reports.measurements.theory import judged_by, rounded
from giantsteps.reports.studies.networks.drawn import ANY_ACTIVATION, JUDGED, MEASURED, RUNS, Entry, Trial, draw
from giantsteps.verify.checks.finite_size import Report

THEORIES = ("isotropic", "network")
KEY = "networks"
# The samples of the last simulation, under KEY.
SAMPLES = "samples.json"

# theory -> dimension -> prediction
Predicted = dict[str, dict[int, Prediction]]


@dataclass(frozen=True)
class Judged:
    """One network of the list, with what the finite-size protocol says of each theory."""

    entry: Entry
    reports: Mapping[str, Report]


def at_dimension(drawn: Drawn, dimension: int, theory: str) -> Prediction:
    """What a theory says of one network at the ratios that dimension d realises."""
    sizes = drawn.sizes(dimension)
    subject = at_sizes(drawn.subject, sizes)
    assert isinstance(subject, Network)
    found = predict(subject.model(theory), sizes=sizes)
    values, scales = (
        {name: x for name, x in numbers.items() if name in MEASURED} for numbers in (found.values, found.scales)
    )
    return replace(found, values=values, scales=scales)


@cache
def stored(trial: Trial = ANY_ACTIVATION) -> Mapping[str, Predicted]:
    """The predictions in the trial's file, by the name of the network."""
    found = json.loads((trial.folder / "predictions.json").read_text(encoding="utf-8"))
    return {
        name: {theory: {int(d): Prediction(**one) for d, one in runs.items()} for theory, runs in theories.items()}
        for name, theories in found.items()
    }


def text(trial: Trial = ANY_ACTIVATION) -> str:
    """What the code gives today, as the file has it: one line per network, theory and dimension."""
    found = {
        one.name: {
            theory: {str(d): rounded(at_dimension(one, d, theory)) for d, _ in RUNS} for theory in THEORIES
        }
        for one in (entry.drawn for entry in draw(trial))
    }  # fmt: skip
    return text_of(found, 3)


def judge(entry: Entry, runs: Mapping[str, Samples], trial: Trial = ANY_ACTIVATION) -> Judged:
    """Both theories as they were predicted, beside the samples of one network: by the observables of JUDGED together,
    at the protocol's rate."""
    theories = stored(trial)[entry.drawn.name]
    return Judged(entry, {name: judged_by(found.__getitem__, runs, JUDGED) for name, found in theories.items()})
