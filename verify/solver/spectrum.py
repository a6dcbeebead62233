"""The solver's numbers for Appendix F, at lambda = -z: saddle points, and log-determinants from V2 at all ridges."""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.free_energy.along_spike import mu0, mu1, over_kappa
from giantsteps.derivations.spectrum import symbols as s
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.checks.evaluate import Functions, evaluate
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled import network
from giantsteps.verify.second_route import models
from giantsteps.verify.second_route.spectra import V
from giantsteps.verify.solver import networks
from giantsteps.verify.solver.models import measured, numbers, solved

# ln det = ln lambda - integral of V2 - 1/t over t > lambda, whose rest beyond e^26 lambda is e^-26 of it.
_REACH, _PANELS, _ORDER = 26.0, 4, 16


def from_stieltjes(model: Model) -> float:
    """The log-determinant as an integral of the solver's V2 over the ridge."""
    nodes, weights = np.polynomial.legendre.leggauss(_ORDER)
    width = _REACH / _PANELS
    total = 0.0
    for panel in range(_PANELS):
        for node, weight in zip(nodes, weights, strict=True):
            t = model.ridge * math.exp(width * (panel + 0.5 * (1.0 + node)))
            V2 = float(solve(model.changed(ridge=t)).order_parameters.V2[0])
            total += 0.5 * width * weight * (t * V2 - 1.0)
    return math.log(model.ridge) - total


def isotropic(point: Point) -> Mapping[str, float] | None:
    """The solver's order parameters at a point, and the log-determinant from its Stieltjes transform."""
    values = measured(point)
    return None if values is None else {**values, s.features_log_det.name: from_stieltjes(models.model_at(point))}


def _own(model: Model) -> dict[str, float]:
    """g, p and l of a network at its solution: by the formula of V2, and by the theorems on a batch alone."""
    values, step = numbers(solved(model)), network.step_of(model)
    gain = model.beta * values[s.V1_hat.name] * values[s.V2.name]
    weight = network.rows_of(step)[s_bulk.row_weight.name]
    forms = network.batch_of(model.target, step.alpha0, (1.0 + gain) / (gain * weight))
    return {
        **values,
        s.alpha0.name: step.alpha0,
        s.gain.name: gain,
        s.row_weight.name: weight,
        s.row_trace.name: forms[s_bulk.batch_trace.name] / (gain * weight),
        s.leverage.name: forms[s.leverage.name],
    }


def of_network(point: Point) -> Mapping[str, float] | None:
    """The same for the network of a point."""
    model = networks.model_at(point)
    if not solved(model).converged:
        return None
    return {**_own(model), s.features_log_det.name: from_stieltjes(model)}


def beside(subject: Model | Network) -> tuple[dict[str, float], Functions]:
    """What statements on sampled features are evaluated with."""
    if isinstance(subject, Network):
        model = subject.model("network")
        return _own(model), models.functions_of(model)
    return numbers(solved(subject)), models.functions_of(subject)


def schur_numbers(point: Point) -> Mapping[str, float] | None:
    """The Schur complement in the averages at the solver's saddle point."""
    values = measured(point)
    if values is None:
        return None
    parts = (s.kappa**2 * mu1**2, s.kappa * mu0 * mu1, mu0**2)
    first, mixed, last = (evaluate(over_kappa(part / (1 + V)), values, models.functions_at(point)) for part in parts)
    return {s.schur.name: first - mixed**2 / last}
