"""Plain Gaussian equivalence: moments by product rules, its own fixed point after a giant step, and simulations."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.equivalence import features as feature_numbers
from giantsteps.verify.second_route.gradient_step.real import unit_rows
from giantsteps.verify.second_route.grids import SMOOTH, Array, average, grid
from giantsteps.verify.second_route.models import between, model_at, numbers, solved
from giantsteps.verify.second_route.saddle_point.plain import Along, settle, sizes, slopes
from giantsteps.verify.second_route.saddle_point.simulations import simulated_at

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


def constants(model: Model) -> tuple[float, float, float, float]:
    """mu1 and mu*^2 of sigma at the variance c + r^2 of what a neuron receives; h1* and h2* of the target."""
    student, teacher = compile_numpy(model.activation.expression), compile_numpy(model.target.expression)
    variance = model.bulk + model.spike**2
    root = math.sqrt(variance)
    mu1 = average(lambda z: z * student(root * z)) / root
    return (
        mu1,
        average(lambda z: student(root * z) ** 2) - variance * mu1**2,
        average(lambda z: z * teacher(z)),
        average(lambda z: teacher(z) ** 2),
    )


def _traces(model: Model, C: Array, D: Array, start: Array) -> tuple[Array, Array]:
    """V1 and V2 of the Marchenko-Pastur law: (lambda + D) V2 + c C V2/(1 + beta c C V2) = 1."""
    shift, push = model.ridge + D[0], model.bulk * C[0, 0]
    a, b = shift * model.beta * push, shift + push * (1 - model.beta)
    V2 = 2 / (b + np.sqrt(b**2 + 4 * a))
    return np.array([[model.bulk * V2 / (1 + model.beta * push * V2)]]), np.array([V2])


@lru_cache(maxsize=1024)
def plain_equivalence(model: Model) -> Mapping[str, float]:
    """The fixed point of ridge on mu1 (w + r v).x + mu* xi for a target learned along v up to its linear part.

    The plain iteration with the Marchenko-Pastur law in closed form; no part of the solver.
    """
    mu1, mu2_square, first, second = constants(model)
    rho, ratio = 1 - model.alignment**2, model.alpha / model.beta
    # Neither coefficients nor labels depend on kappa: one point, and what is learned along v taken off.
    mu = [np.array([[x]]) for x in (0.0, mu1, mu2_square)]
    left = [np.array([x]) for x in (0.0, math.sqrt(rho) * first, second - (model.alignment * first) ** 2)]
    f = Along(np.zeros((1, 1)), np.ones(1), *mu, *left)
    law = partial(_traces, model)
    at = settle(f, law, ratio, np.full((1, 1), model.bulk / model.ridge), np.ones(1) / model.ridge)
    push = mu1 * at.shrink * left[1]
    psi = float(model.alpha * at.T[0] @ push)
    dT, dtau = slopes(law, at.C, at.D, at.tau)
    fixed = left[2] + model.noise - 2 * mu1 * left[1] * psi
    Q, q, (e,) = sizes(f, at, ratio, dT, dtau, fixed, ratio**2 * model.beta * (push @ dT @ push))
    q1, q2 = float(Q[0, 0]), float(q[0])
    return {
        s.mu1_constant.name: mu1,
        s.mu2_constant.name: math.sqrt(mu2_square),
        s.psi.name: psi,
        s.q1.name: q1,
        s.q2.name: q2,
        s.excess.name: q1 - psi**2,
        s.h1_star.name: first,
        s.h2_star.name: second,
        s.gaussian_error.name: float(e) - model.noise,
        s.gaussian_mean.name: model.alignment * first,
    }


def plain_at(point: Point) -> Mapping[str, float]:
    """The plain map's fixed point at a random model."""
    model = model_at(point)
    return {**plain_equivalence(model), s.rho.name: 1 - model.alignment**2}


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
_SEEDS_STEPPED = 7


def features(models: Mapping[str, Model], quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """Test errors of ridge on real features, at half the profile's dimensions with more seeds."""
    column(quantity, s.test_error)

    def one(model: Model, d: int) -> Measured:
        # Of the stepped ones more: the nearest wrong neighbour of their error is five per cent away.
        count = SEEDS if model.spike == 0.0 else _SEEDS_STEPPED
        simulation, at = simulated_at(model, d, profile.draws(count), SEED)
        found = solved(at)
        values = {**plain_equivalence(at), **numbers(found), s_map.equivalent_error.name: found.test_error}
        return Measured(d, simulation.values("test_error"), values)

    return at_sizes(models, profile, one)


@lru_cache(maxsize=1024)
def plain_experiment(model: Model, d: int, seed: int) -> tuple[float, float]:
    """Ridge on mu1 F x + mu* xi with F = W + r 1 v^T: its test error, and its coefficient of kappa."""
    mu1, mu2_square, first, second = constants(model)
    n, p = round(model.alpha * d), round(model.beta * d)
    rng = np.random.default_rng(np.random.SeedSequence(SEED, spawn_key=(d, seed)))
    rows = math.sqrt(model.bulk) * unit_rows(p, d, rng)
    rows[:, 0] += model.spike
    theta = np.zeros(d)
    theta[:2] = model.alignment, math.sqrt(1 - model.alignment**2)
    x = rng.standard_normal((n, d))
    phi = (mu1 * x @ rows.T + math.sqrt(mu2_square) * rng.standard_normal((n, p))) / math.sqrt(p)
    target = compile_numpy(model.target.expression)
    labels = target(x @ theta) + math.sqrt(model.noise) * rng.standard_normal(n)
    a = np.linalg.solve(phi.T @ phi + model.ridge * np.eye(p), phi.T @ labels)
    effective = mu1 * rows.T @ a / math.sqrt(p)
    # E (g(theta.x) - effective.x - mu* a.xi/sqrt p)^2, exactly.
    error = second - 2 * first * effective @ theta + effective @ effective + mu2_square * a @ a / p
    return float(error), float(effective[0])


def plain_features(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """The plain equivalent map itself: its test error or its coefficient of kappa."""
    observable = column(quantity, s.gaussian_error, s.gaussian_mean)

    def one(model: Model, d: int) -> Measured:
        at = replace(model, alpha=round(model.alpha * d) / d, beta=round(model.beta * d) / d)
        samples = tuple(plain_experiment(model, d, k)[observable] for k in profile.draws(SEEDS))
        named = {s.gamma.name: model.alignment, s.rho.name: 1 - model.alignment**2}
        return Measured(d, samples, {**plain_equivalence(at), **named})

    return at_sizes(STEPPED, profile, one)
