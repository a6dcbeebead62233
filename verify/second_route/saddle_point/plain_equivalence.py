"""Plain Gaussian equivalence: moments by product rules, its fixed point after a giant step, and simulations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled.random_features import plain, plain_after_step, target_constants
from giantsteps.verify.second_route.equivalence import features as feature_numbers
from giantsteps.verify.second_route.grids import SMOOTH, average, grid
from giantsteps.verify.second_route.models import between, model_at
from giantsteps.verify.second_route.sampled import Sampled

he = np.polynomial.hermite_e


def input_covariance(point: Point) -> dict[str, float]:
    """E[sigma(z) theta.x] - E sigma E[theta.x] by a product rule, and h1."""
    function = SMOOTH[str(point["activation"])].value
    overlap = float(point[s.overlap.name])
    points, weights = grid(2)
    other = overlap * points[:, 0] + math.sqrt(1 - overlap**2) * points[:, 1]
    return {
        s.input_covariance.name: float(weights @ (function(points[:, 0]) * other)),
        s.h1.name: average(lambda z: z * function(z)),
    }


def covariance_gap(point: Point) -> dict[str, float]:
    """d (Cov - mu1^2 epsilon) at sqrt(d) = 10^4 for a polynomial with the Hermite coefficients of the point."""
    large = 1e4
    overlap = float(point[s.scaled_overlap.name]) / large
    series = [0.0] + [float(point[c.name]) / math.sqrt(math.factorial(k)) for k, c in _coefficients]
    points, weights = grid(2)
    # E[f(z) (f(eps z + root xi) - eps s_1 z)], the terms of order zero and one taken out before they cancel.
    without = [0.0, 0.0, *series[2:]]
    first = he.hermeval(points[:, 0], without)
    second = he.hermeval(overlap * points[:, 0] + math.sqrt(1 - overlap**2) * points[:, 1], without)
    return {s.covariance_gap.name: float(weights @ (first * second)) * large**2}


_coefficients = tuple(enumerate(s.hermite_coefficients[1:4], start=1))


def without_spike(point: Point) -> dict[str, float]:
    """mu2^2 of the conditional map at r = 0, c = 1, any kappa; h1, h2 and the mean from their definitions."""
    function = SMOOTH[str(point["activation"])].value
    plain = {**point, s.r.name: 0.0, s.c.name: 1.0}
    return {
        s.mu2_square.name: feature_numbers.coefficients(plain)[2].real,
        s.h1.name: average(lambda z: z * function(z)),
        s.h2.name: average(lambda z: function(z) ** 2),
        s.mu0_constant.name: average(function),
    }


# ---- after a giant step ----


@lru_cache(maxsize=1024)
def plain_equivalence(model: Model) -> Mapping[str, float]:
    """The fixed point of ridge on mu1 (w + r v).x + mu* xi, by the theorems; without a spike that of w.x alone."""
    if model.spike == 0.0:
        untrained = plain(model, *target_constants(model.target))
        return {**untrained, s.gaussian_error.name: untrained[s.test_error.name]}
    found = plain_after_step(model)
    return {**found, s.excess.name: found[s.q1.name] - found[s.psi.name] ** 2}


def plain_at(point: Point) -> Mapping[str, float]:
    """The plain map's fixed point at a random model."""
    return plain_equivalence(model_at(point))


# ---- simulations ----

# Both learn more than the best linear fit of their target.
STEPPED: Mapping[str, Model] = {
    "tanh learns sin": between(
        "tanh(z)", "sin(z)", alpha=2.0, beta=0.8, ridge=0.1, spike=1.4, bulk=1.05, alignment=0.95
    ),
    "erf learns tanh": between(
        "erf(z)", "tanh(3*z)", alpha=2.5, beta=0.6, ridge=0.1, spike=2.0, bulk=1.1, alignment=0.97
    ),
}
UNTRAINED: Mapping[str, Model] = {
    name: replace(model, spike=0.0, bulk=1.0, alignment=0.0) for name, model in STEPPED.items()
}
SEED = 61
SEEDS = 4  # per seed of the profile, at half its dimensions: a draw costs d^3 and has a variance of order 1/d
SEEDS_STEPPED = 7  # the nearest mutant of their error is five per cent away


def plain_experiment(model: Model, d: int, seed: int) -> tuple[float, float]:
    """Ridge on mu1 F x + mu* xi with F = W + r 1 v^T: its test error, and its coefficient of kappa."""
    found = plain_equivalence(model)
    mu1, mu2, first, second = (found[x.name] for x in (s.mu1_constant, s.mu2_constant, s.h1_star, s.h2_star))
    n, p = round(model.alpha * d), round(model.beta * d)
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(d, seed)))
    rows = math.sqrt(model.bulk) * unit_rows(rng, p, d)
    rows[:, 0] += model.spike
    theta = np.zeros(d)
    theta[:2] = model.alignment, math.sqrt(1 - model.alignment**2)
    x = rng.standard_normal((n, d))
    phi = (mu1 * x @ rows.T + mu2 * rng.standard_normal((n, p))) / math.sqrt(p)
    target = compile_numpy(model.target.expression)
    labels = target(x @ theta) + math.sqrt(model.noise) * rng.standard_normal(n)
    a = np.linalg.solve(phi.T @ phi + model.ridge * np.eye(p), phi.T @ labels)
    effective = mu1 * rows.T @ a / math.sqrt(p)
    # E (g(theta.x) - effective.x - mu* a.xi/sqrt p)^2, exactly.
    error = second - 2 * first * effective @ theta + effective @ effective + mu2**2 * a @ a / p
    return float(error), float(effective[0])


# The plain equivalent map itself: its test error or its coefficient of kappa.
PLAIN_FEATURES = Sampled(
    (s.gaussian_error, s.gaussian_mean), STEPPED, plain_experiment,
    lambda model, d: (
        plain_equivalence(replace(model, alpha=round(model.alpha * d) / d, beta=round(model.beta * d) / d)), {}
    ),
    draws=SEEDS,
)  # fmt: skip
