"""Simulated ridge readouts of spiked random features against statements on their order parameters and errors."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from giantsteps.derivations.language import symbols as s
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.models import between

# Two models with label noise, one of them with a student that cannot follow the target along the spike.
MODELS: Mapping[str, Model] = {
    "tanh learns sin": between(
        "tanh(z)", "sin(z)", alpha=1.5, beta=0.6, ridge=0.3, noise=0.05, alignment=0.8, spike=1.0, bulk=1.0
    ),
    "sin learns tanh": between(
        "sin(z)", "tanh(z)", alpha=1.5, beta=0.5, ridge=0.5, noise=0.05, alignment=0.7, spike=1.5, bulk=1.2
    ),
}
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
# The numbers and the functions that statements are evaluated with, at the ratios that whole sizes have.
Beside = Callable[[Model], tuple[Mapping[str, float], Functions]]


def simulated(
    models: Mapping[str, Model], beside: Beside, seed: int, draws: int, quantity: sp.Basic, profile: Profile
) -> Mapping[str, tuple[Measured, ...]]:
    """One observable of ridge readouts at half the profile's dimensions with so many ``draws`` per seed of the profile:
    cheaper for the same precision, and mutants are not left to luck.
    """
    observable = tuple(_OBSERVABLES.values())[column(quantity, *_OBSERVABLES)]

    def one(model: Model, d: int) -> Measured:
        chosen = profile.draws(draws)
        run = simulate(model, dimension=d, seeds=len(chosen), seed=seed + chosen.start)
        assert isinstance(run.model, Model)
        return Measured(d, run.values(observable), *beside(run.model))

    return at_sizes(models, profile, one)
