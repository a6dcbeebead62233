"""Log-determinants of features: integrals of the solver's Stieltjes transform, and eigenvalues of samples."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from derivations.activations.activation import Activation, activation
from derivations.language import symbols as s
from numerics.experiments.ensembles import Sizes, spiked_random_features, trained_network
from numerics.models.model import Model
from numerics.models.network import Network
from numerics.saddle_point.ridge import solve
from verify.checks.simulation import Measured, column
from verify.claims import models, network_numbers
from verify.claims.brute_force import SMOOTH
from verify.claims.models import Point, functions_of, numbers, solved
from verify.claims.network_formulas import Step, batch_forms, own_law
from verify.claims.spectrum_numbers import MODELS
from verify.protocol.claim import Profile

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
    values = models.measured(point)
    return None if values is None else {**values, s.features_log_det.name: from_stieltjes(models.model_at(point))}


def _own(model: Model) -> dict[str, float]:
    """g, p and l of a network at its solution: p by the formula of V2, l by bisection of its own equation."""
    values, step = numbers(solved(model)), model.network_step
    assert step is not None
    rate, V1_hat, V2 = step.eta / model.beta, values[s.V1_hat.name], values[s.V2.name]
    gain = model.beta * V1_hat * V2
    student, target = (_named(f) for f in (model.activation, model.target))
    weight = own_law(Step(student, target, step.alpha0, rate, model.beta), step.alpha0).weight
    forms = batch_forms(target, step.alpha0, (1.0 + gain) / (gain * weight))
    return {
        **values,
        s.alpha0.name: step.alpha0,
        s.gain.name: gain,
        s.row_weight.name: weight,
        s.row_trace.name: forms[s.batch_trace.name] / (gain * weight),
        s.leverage.name: forms[s.leverage.name],
    }


def _named(function: Activation) -> str:
    return next(name for name in SMOOTH if activation(name) == function)


def network(point: Point) -> Mapping[str, float] | None:
    """The same for the network of a point."""
    model = network_numbers.model_at(point)
    if not solved(model).converged:
        return None
    return {**_own(model), s.features_log_det.name: from_stieltjes(model)}


@lru_cache(maxsize=64)
def _sampled(subject: Model | Network, d: int, seeds: int) -> tuple[float, ...]:
    found = []
    alpha0 = subject.alpha0 if isinstance(subject, Network) else 0.0
    sizes = Sizes.rounded(d, alpha=subject.alpha, beta=subject.beta, alpha0=alpha0, fractions=(1.0,))
    for seed in range(seeds):
        weights, batch, inputs = (np.random.default_rng((89, d, seed, k)) for k in range(3))
        if isinstance(subject, Network):
            drawn = trained_network(subject, sizes, weights, batch)
        else:
            drawn = spiked_random_features(subject, sizes, weights)
        phi = drawn.features(inputs.standard_normal((sizes.n, d)))
        # The outlier would add ln(d)/p.
        values = np.linalg.eigvalsh(phi.T @ phi / sizes.p)[:-1]
        found.append(float(np.mean(np.log(np.maximum(values, 0.0) + subject.ridge))))
    return tuple(found)


def sampled_features(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """Eigenvalues of spiked random features, without the largest."""
    column(quantity, s.features_log_det)
    found = {}
    for name, point in MODELS.items():
        runs, model = [], models.model_at(point)
        for d in (dimension // 2 for dimension in profile.dimensions):
            sizes = Sizes.rounded(d, alpha=model.alpha, beta=model.beta, fractions=(1.0,))
            at = model.changed(alpha=sizes.alpha, beta=sizes.beta)
            runs.append(Measured(d, _sampled(model, d, 2 * profile.seeds), numbers(solved(at)), functions_of(at)))
        found[name] = tuple(runs)
    return found


NETWORK = "tanh student, tanh target"


def sampled_networks(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """Eigenvalues of the features of real networks, without the largest."""
    column(quantity, s.features_log_det)
    network_, runs = network_numbers.NETWORKS[NETWORK], []
    for d in (dimension // 2 for dimension in profile.dimensions):
        model = network_numbers.own_model(network_)
        runs.append(Measured(d, _sampled(network_, d, 5 * profile.seeds), _own(model), functions_of(model)))
    return {NETWORK: tuple(runs)}
