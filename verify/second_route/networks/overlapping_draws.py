"""Measurements on real steps from overlapping rows, and F, G, K, H on the verifier's own grid."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from giantsteps.derivations.language import symbols as s
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.gradient_step.real import after_step
from giantsteps.verify.second_route.grids import SMOOTH, Array, Function, hermite_numbers, interpretation, normal_line
from giantsteps.verify.second_route.networks.step import Step, step_at
from giantsteps.verify.second_route.sampled import Beside, Sampled

# Rates and overlaps at which every term counts; the second student is not odd and the second target not centred.
STARTS = {
    "tanh student, tanh target": Step("tanh", "tanh", 2.0, 2.0, 1.0, 0.1, 0.4),
    "shifted sine student, shifted sine target": Step("shifted sin", "shifted sin", 3.0, 1.0, 1.5, 0.0, 0.2),
}

# E over z: a trapezoidal rule accurate to rounding for functions smooth on the scale of its step.
_Z, _WEIGHT = normal_line(0.1)


def shared_functions(student: str, overlap: float) -> dict[str, Function]:
    """F, G, K and H of a student at an overlap, by their definitions."""
    one = SMOOTH[student]

    def seen(t: Array) -> Array:
        return np.asarray(math.sqrt(overlap) * np.asarray(t)[..., None] + math.sqrt(1.0 - overlap) * _Z)

    def mean(function: Function) -> Function:
        return lambda t: np.asarray(function(seen(t)) @ _WEIGHT)

    slope = mean(one.prime)
    return {
        "F_0": mean(one.value),
        "G_0": slope,
        "K_0": mean(one.second),
        "H_0": lambda t: np.asarray(mean(lambda h: one.prime(h) ** 2)(t) - slope(t) ** 2),
    }


@lru_cache(maxsize=64)
def functions_for(student: str, target: str, overlap: float) -> Functions:
    """Implementations of all undefined functions of the statements."""
    return {**interpretation(student, target), **shared_functions(student, overlap)}


def values_of(start: Step, alpha0: float, beta: float) -> dict[str, float]:
    """Hermite numbers and parameters of a network at the ratios given; eta is the one that keeps the rate."""
    return {
        **hermite_numbers(start.student, start.target),
        s.alpha0.name: alpha0,
        s.beta.name: beta,
        s.eta.name: start.rate * beta,
        s.row_overlap.name: start.overlap,
        s.noise.name: start.noise,
    }


def functions_at(point: Point) -> Functions:
    """Implementations at a point."""
    start = step_at(point)
    return functions_for(start.student, start.target, start.overlap)


def first_layer(start: Step, p: int, d: int, rng: np.random.Generator) -> Array:
    """Rows of length one, uniform but for their overlap with e, the second axis; theta is the first."""
    rows = rng.standard_normal((p, d))
    rows[:, 1] = 0.0
    rows *= math.sqrt(1.0 - start.overlap) / np.linalg.norm(rows, axis=1)[:, None]
    rows[:, 1] = math.sqrt(start.overlap)
    return rows


def measured_step(start: Step, d: int, seed: int) -> tuple[float, float, float]:
    """r, gamma and c of one real network after its step (full residual): the mean row, its cosine, the other rows.

    The mean of p rows carries c/p in its square: taken off with the c measured.
    """
    p, n0 = round(start.beta * d), round(start.alpha0 * d)
    rng = np.random.default_rng(np.random.SeedSequence(53, spawn_key=(d, seed)))
    rows = first_layer(start, p, d, rng)
    x = rng.standard_normal((n0, d))
    labels = SMOOTH[start.target].value(x[:, 0]) + math.sqrt(start.noise) * rng.standard_normal(n0)
    rows = after_step(rows, SMOOTH[start.student], x, labels, start.rate)
    mean = rows.mean(axis=0)
    bulk = float(np.sum((rows - mean) ** 2)) / (p - 1)
    strength = math.sqrt(float(mean @ mean) - bulk / p)
    return strength, float(mean[0]) / strength, bulk


def _beside(start: Step, d: int) -> Beside:
    values = values_of(start, round(start.alpha0 * d) / d, round(start.beta * d) / d)
    return values, functions_for(start.student, start.target, start.overlap)


STEPS = Sampled((s.r, s.gamma, s.c), STARTS, measured_step, _beside, draws=4)
