"""Simulations of spiked random features against the claims of Section 3.3."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import sympy as sp

from giantsteps.derivations.language import symbols as s
from giantsteps.numerics.experiments.ridge import Simulation
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.verify.checks.simulation import BySimulation, Measured, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.models import between, density_integrals, functions_of, numbers, solved

# Two models with label noise, one of them with a student that cannot follow the target along the spike.
MODELS: Mapping[str, Model] = {
    "tanh learns sin": between(
        "tanh(z)", "sin(z)", alpha=1.5, beta=0.6, ridge=0.3, noise=0.05, alignment=0.8, spike=1.0, bulk=1.0
    ),
    "sin learns tanh": between(
        "sin(z)", "tanh(z)", alpha=1.5, beta=0.5, ridge=0.5, noise=0.05, alignment=0.7, spike=1.5, bulk=1.2
    ),
}
SEED = 33


# What the simulation calls the order parameters that it measures.
_OBSERVABLES = {
    s.m: "m",
    s.zeta: "zeta",
    s.psi: "psi",
    s.q1: "q1",
    s.q2: "q2",
    s.test_error: "test_error",
    s.training_error: "training_error",
}


def simulated(*models: str) -> BySimulation:
    """The check that a statement predicts an order parameter, on the models named (all by default)."""
    return BySimulation("ridge on spiked random features", partial(experiment, models or tuple(MODELS)))


def experiment(models: tuple[str, ...], quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One observable at half the profile's dimensions with three times its seeds: cheaper for the same precision."""
    observables = tuple(_OBSERVABLES)
    observable = _OBSERVABLES[observables[column(quantity, *observables)]]
    return {
        name: tuple(_measure(MODELS[name], observable, d // 2, profile.draws(3)) for d in profile.dimensions)
        for name in models
    }


def _measure(model: Model, observable: str, dimension: int, draws: range) -> Measured:
    simulation, at_sizes = simulated_at(model, dimension, draws, SEED)
    return Measured(dimension, simulation.values(observable), with_moments(solved(at_sizes)), functions_of(at_sizes))


def simulated_at(model: Model, dimension: int, draws: range, seed: int) -> tuple[Simulation, Model]:
    """A simulation, and the model at the ratios that its whole sizes have."""
    simulation = simulate(model, dimension=dimension, seeds=len(draws), seed=seed + draws.start)
    if not isinstance(simulation.model, Model):
        raise TypeError("spiked random features are simulated from a model")
    return simulation, simulation.model


def with_moments(solution: Solution) -> dict[str, float]:
    """A solution's numbers, with the second moments of the resolvent at its conjugates."""
    values = numbers(solution)
    shift = values[s.ridge.name] + values[s.V2_hat.name]
    return {**density_integrals(values[s.beta.name], values[s.c.name], shift, values[s.V1_hat.name]), **values}
