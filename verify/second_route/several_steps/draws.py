"""Real networks that take several gradient steps, each on a fresh batch, with the whole residual."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.any_activation.curves import CURVES
from giantsteps.verify.second_route.gradient_step.real import after_step
from giantsteps.verify.second_route.grids import LINE, WEIGHT, Curve
from giantsteps.verify.second_route.networks.step import Step
from giantsteps.verify.second_route.several_steps.averages import averages, before_last, first_step
from giantsteps.verify.second_route.values import by_glyph

# Settings and how many steps are taken; rates at which every term counts.
Models = Mapping[str, tuple[Step, int]]
LATER: Models = {
    "softplus student, tanh target, two steps": (Step("softplus", "tanh", 2.0, 2.0, 1.0), 2),
    "tanh student, sine target, noisy labels, three steps": (Step("tanh", "sin", 1.0, 3.0, 1.0, 0.3), 3),
}
FIRST: Models = {
    "shifted tanh student, shifted sine target, one step": (Step("shifted tanh", "shifted sin", 2.0, 4.0, 1.0, 0.2), 1),
    "softplus student, tanh target, one step": (Step("softplus", "tanh", 2.0, 2.0, 1.0), 1),
}
ODD: Models = {
    "tanh student, sine target, noisy labels, one step": (Step("tanh", "sin", 2.0, 3.0, 1.0, 0.2), 1),
    "erf student, shifted sine target, one step": (Step("erf", "shifted sin", 1.0, 2.0, 1.0), 1),
}
_SEEDS = 24
_MEASURED = (s.square_next, s.r_next, s.overlap_next, s.gamma_next, s.c_next, s.layer_next)


@lru_cache(maxsize=4096)
def walk(step: Step, steps: int, d: int, seed: int) -> tuple[float, ...]:
    """r^2, r, r gamma, gamma, c and r^2 + c of one real network after its steps, each on a fresh batch.

    The mean of p rows carries c/p in its square: taken off.
    """
    p, n0 = round(step.beta * d), round(step.alpha0 * d)
    rng = np.random.default_rng(np.random.SeedSequence(59, spawn_key=(d, steps, seed)))
    rows = unit_rows(rng, p, d)
    for _ in range(steps):
        x = rng.standard_normal((n0, d))
        labels = CURVES[step.target].value(x[:, 0]) + math.sqrt(step.noise) * rng.standard_normal(n0)
        rows = after_step(rows, CURVES[step.student], x, labels, step.rate)
    mean = rows.mean(axis=0)
    bulk = float(np.sum((rows - mean) ** 2)) / (p - 1)
    square = float(mean @ mean) - bulk / p
    size, along = math.sqrt(square), float(mean[0])
    return square, size, along, along / size, bulk, square + bulk


def experiment(models: Models, quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One number of the state after the last step, at a quarter of the profile's dimensions, beside the averages that
    the step takes in the state that the steps before it lead to; of a first step moments of its label and slope.
    """
    at = column(quantity, *_MEASURED)

    def one(setting: tuple[Step, int], d: int) -> Measured:
        (step, steps), realised = setting, setting[0].at(d)
        samples = tuple(walk(step, steps, d, k)[at] for k in profile.draws(_SEEDS))
        found = averages(realised, before_last(realised, steps)) if steps > 1 else first_step(realised)
        return Measured(d, samples, found)

    return at_sizes(models, profile, one, 4)


# --- the same batch twice --------------------------------------------------------------------------------------------

# A bounded label that is not even, with E[u g] = 0: E[u sin(k u)] = k exp(-k^2/2).
_BLIND = Curve(
    lambda u: np.cos(u) + np.sin(2.0 * u) - 2.0 * math.exp(-1.5) * np.sin(u),
    lambda u: 2.0 * np.cos(2.0 * u) - np.sin(u) - 2.0 * math.exp(-1.5) * np.cos(u),
)


def blind_averages(student: str, alpha0: float) -> dict[str, float]:
    """E[u Y^2], E[sigma' sigma''] = (1/2) E[z sigma'^2], alpha0."""
    sigma, z, weight = CURVES[student], LINE, WEIGHT
    label = np.asarray(_BLIND.value(z))
    label = label - weight @ label
    return by_glyph({
        s_bulk.label_slope[2]: weight @ (z * label**2), s.alpha0: alpha0,
        s.slope_curve: weight @ (z * np.asarray(sigma.prime(z)) ** 2) / 2,
    })  # fmt: skip
