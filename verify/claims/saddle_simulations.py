"""Simulations of spiked random features against the claims of Section 3.3."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

from derivations import symbols as s
from derivations.activation import activation
from numerics.model import Model
from numerics.simulate import simulate
from numerics.solution import Solution
from verify.claim import Profile
from verify.claims.models import density_integrals, functions_of, numbers, solved
from verify.simulation_check import BySimulation, Measured

# Two models with label noise, one of them with a student that cannot follow the target along the spike.
MODELS: Mapping[str, Model] = {
    "tanh learns sin": Model(
        activation("tanh(z)"), activation("sin(z)"), alpha=1.5, beta=0.6, ridge=0.3, noise=0.05, alignment=0.8
    ),
    "sin learns tanh": Model(
        activation("sin(z)"),
        activation("tanh(z)"),
        alpha=1.5,
        beta=0.5,
        ridge=0.5,
        noise=0.05,
        spike=1.5,
        bulk=1.2,
        alignment=0.7,
    ),
}
SEED = 33


def simulated(observable: str, *models: str) -> BySimulation:
    """The check that a statement predicts a simulated observable, on the models named (all by default)."""
    return BySimulation(
        f"spiked random features, {observable.replace('_', ' ')}",
        partial(experiment, observable, models or tuple(MODELS)),
    )


def experiment(observable: str, models: tuple[str, ...], profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One observable at half the profile's dimensions with three times its seeds: cheaper for the same precision."""
    return {
        name: tuple(_measure(MODELS[name], observable, d // 2, 3 * profile.seeds) for d in profile.dimensions)
        for name in models
    }


def _measure(model: Model, observable: str, dimension: int, seeds: int) -> Measured:
    simulation = simulate(model, dimension=dimension, seeds=seeds, seed=SEED)
    if not isinstance(simulation.model, Model):
        raise TypeError("spiked random features are simulated from a model")
    at_sizes = simulation.model
    return Measured(dimension, simulation.values(observable), with_moments(solved(at_sizes)), functions_of(at_sizes))


def with_moments(solution: Solution) -> dict[str, float]:
    """A solution's numbers, with the second moments of the resolvent at its conjugates."""
    values = numbers(solution)
    shift = values[s.ridge.name] + values[s.V2_hat.name]
    return {**density_integrals(values[s.beta.name], values[s.c.name], shift, values[s.V1_hat.name]), **values}
