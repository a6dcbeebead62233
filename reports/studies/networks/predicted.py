"""What two theories say of the networks on trial: stored before they were simulated, and what the code gives today.

isotropic: rows of the bulk of one norm in all directions, as in the paper, with the map of any activation. network: the
network's own bulk. Each at the ratios of every dimension that is simulated, with the known term of order 1/p. After
several steps also what the network's own law says of the weights themselves (`numerics.experiments.weights`).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

import numpy as np

from giantsteps.numerics.bulk.network_steps import law_of
from giantsteps.numerics.experiments.ridge import Prediction, at_sizes
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.numerics.experiments.weights import OBSERVABLES
from giantsteps.numerics.gradient_steps.law import StepsLaw
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.network import Network
from giantsteps.reports.measurements.experiments import text_of
from giantsteps.reports.measurements.models import Drawn, Samples
from giantsteps.reports.measurements.theory import judged_by, rounded
from giantsteps.reports.studies.networks.drawn import ANY_ACTIVATION, JUDGED, MEASURED, RUNS, Entry, Trial, draw
from giantsteps.verify.checks.finite_size import Report

# The place, as g times c, at which functions of the law are their limits at g = 0 to six digits.
_NEAR = 1e-6
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
    weights: Report | None = None

    @property
    def reached(self) -> bool:
        """Whether both theories have numbers for it."""
        return all(report.comparison("test_error").theory is not None for report in self.reports.values())


def at_dimension(drawn: Drawn, dimension: int, theory: str) -> Prediction:
    """What a theory says of one network at the ratios that dimension d realises; nothing where it is out of reach."""
    sizes = drawn.sizes(dimension)
    subject = at_sizes(drawn.subject, sizes)
    assert isinstance(subject, Network)
    try:
        model = subject.model(theory)
        found = predict(model, sizes=sizes)
    except ModelError:  # steps that lead out of double precision
        return Prediction({}, {}, converged=False)
    values, scales = (
        {name: x for name, x in numbers.items() if name in MEASURED} for numbers in (found.values, found.scales)
    )
    if subject.steps > 1 and theory == "network":
        on_weights, of_size = weights_of(model)
        values, scales = values | on_weights, scales | of_size
    return replace(found, values=values, scales=scales)


def weights_of(model: Model) -> tuple[dict[str, float], dict[str, float]]:
    """`numerics.experiments.weights.OBSERVABLES` after several steps, and what their errors refer to."""
    law = law_of(model)
    values = {"spike": model.spike, "alignment": model.alignment, "bulk": model.bulk} | limits_of(law)
    root = float(np.sqrt(law.bulk * law.rows.variance))
    return values, {
        "spike": abs(model.spike), "alignment": 1.0, "bulk": model.bulk, "norm_variance": law.rows.variance,
        "tilt_along": root, "tilt_across": root, "tilt_square": root**2,
    }  # fmt: skip


def limits_of(law: StepsLaw) -> dict[str, float]:
    """norm_variance and the tilts: R(g) on (v, delta, theta_perp) tends to h.v, h.theta_perp and v_c as g -> 0, and
    v_c - R_delta,delta to g h.h."""
    g = _NEAR / law.bulk
    _, _, along, _, fluctuation, across, _ = law.functions(np.array([g]))[:, 0].tolist()
    variance = float(law.rows.variance)
    square = (variance - fluctuation) / g + along**2
    return {"norm_variance": variance, "tilt_along": along, "tilt_across": across, "tilt_square": square}


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


def judge(
    entry: Entry, runs: Mapping[str, Samples], trial: Trial = ANY_ACTIVATION, *, unsettled: bool = False
) -> Judged:
    """Both theories as they were predicted, beside the samples of one network: by the observables of JUDGED together,
    at the protocol's rate. After several steps also the weights, by those of the weights together.

    unsettled: also by predictions that were stored as not converged.
    """
    theories = stored(trial)[entry.drawn.name]
    # The law of the weights is known before the saddle point is solved.
    known = {
        name: {d: replace(one, converged=bool(one.values)) for d, one in found.items()}
        for name, found in theories.items()
    }
    judging = known if unsettled else theories
    reports = {name: judged_by(found.__getitem__, runs, JUDGED) for name, found in judging.items()}
    own = known["network"]
    seen = len(trial.steps) > 1 and own[RUNS[0][0]].values
    return Judged(entry, reports, judged_by(own.__getitem__, runs, OBSERVABLES) if seen else None)
