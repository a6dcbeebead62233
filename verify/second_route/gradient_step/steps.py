"""Measurements of one gradient step: small cases summed exactly over a grid, large ones simulated."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Domain, Profile, Range
from giantsteps.verify.second_route.gradient_step.real import after_step
from giantsteps.verify.second_route.grids import (
    INTERPRETATIONS,
    ODD,
    ODD_ENTIRE,
    SMOOTH,
    TARGETS,
    TARGETS_ENTIRE,
    Array,
    grid,
    hermite_numbers,
    interpretation,
)

# samples x inputs; all coordinates of all samples are summed over, four at most
SIZES = ("1x2", "1x3", "1x4", "2x2")
SIZES_WITH_NOISE = ("1x2", "1x3", "2x1")  # one more coordinate per sample

# Where a witness against a wrong formula is looked for: all roots of the right one and of its mutants are real there.
ABSTRACT = Domain(
    ranges=(
        Range(s.alpha0, 5.0, 20.0),
        Range(s.h1_star, 0.5, 0.9),
        Range(s.h2_star, 0.8, 1.5),
        Range(s.noise, 0.1, 0.5),
    ),
    interpretations=INTERPRETATIONS,
)
ONE_NEURON = Domain(
    ranges=(Range("activation", choices=ODD), Range("target", choices=TARGETS)), interpretations=INTERPRETATIONS
)
SMALL = Domain(
    ranges=(
        Range("activation", choices=ODD_ENTIRE),
        Range("target", choices=TARGETS_ENTIRE),
        Range("sizes", choices=SIZES),
    ),
    interpretations=INTERPRETATIONS,
)


def functions_at(point: Point) -> Functions:
    """The activation and target of a point, as implementations of the undefined functions."""
    return interpretation(str(point["activation"]), str(point.get("target", "sin")))


def numbers_at(point: Point) -> dict[str, float]:
    """h1, h2, h1_check, h1*, h2* at a point."""
    return hermite_numbers(str(point["activation"]), str(point.get("target", "sin")))


def _sizes(point: Point) -> tuple[int, int]:
    batch, inputs = str(point["sizes"]).split("x")
    return int(batch), int(inputs)


def names(point: Point) -> dict[str, float]:
    """Sizes, ratios and Hermite numbers at a point."""
    batch, inputs = _sizes(point)
    return {
        **hermite_numbers(str(point["activation"]), str(point["target"])),
        s.n0.name: batch,
        s.d.name: inputs,
        s.alpha0.name: batch / inputs,
    }


def _batch(point: Point) -> tuple[Array, Array, Array]:
    """Samples (N, n0, d), labels (N, n0) and weights (N,) of the product rule; theta is the first axis."""
    batch, inputs = _sizes(point)
    noise = float(point.get(s.noise.name, 0.0))
    extra = 1 if noise else 0
    points, weights = grid(batch * (inputs + extra))
    samples = points.reshape(len(points), batch, inputs + extra)
    labels = SMOOTH[str(point["target"])].value(samples[:, :, 0])
    if noise:
        labels = labels + np.sqrt(noise) * samples[:, :, -1]
    return samples[:, :, :inputs], labels, weights


def spike_moments(point: Point) -> Mapping[str, float]:
    """E|v~|^2, mean and variance of theta.v~, variance of |v~_perp|^2, with v~ formed for every batch of the grid."""
    samples, labels, weights = _batch(point)
    v = np.einsum("nm,nml->nl", labels, samples) / samples.shape[1]
    perp = np.sum(v[:, 1:] ** 2, axis=1)
    mean = weights @ v[:, 0]
    return {
        **names(point),
        s.v_square_mean.name: float(weights @ np.sum(v**2, axis=1)),
        s.v_overlap_mean.name: float(mean),
        s.v_overlap_variance.name: float(weights @ (v[:, 0] - mean) ** 2),
        s.v_perp_variance.name: float(weights @ perp**2 - (weights @ perp) ** 2),
    }


def row_moments(point: Point) -> Mapping[str, float]:
    """E|delta|^2 of a row of overlap epsilon with theta, with delta formed for every batch of the grid."""
    samples, labels, weights = _batch(point)
    numbers = names(point)
    overlap = float(point[s.overlap.name])
    received = overlap * samples[:, :, 0] + np.sqrt(1 - overlap**2) * samples[:, :, 1]
    centred = SMOOTH[str(point["activation"])].prime(received) - numbers[s.h1.name]
    step = float(point[s.eta.name]) / float(point[s.beta.name])
    delta = step * np.einsum("nm,nml->nl", labels * centred, samples) / samples.shape[1]
    return {**numbers, s.delta_square_mean.name: float(weights @ np.sum(delta**2, axis=1))}


# One real gradient step at finite d, with the full residual, at |w| = 1 and a = 1/sqrt(p). Two models: one centred
# target, one that is not; students are odd.
MODELS: dict[str, tuple[str, str, float, float, float]] = {
    "tanh student, tanh target": ("tanh", "tanh", 2.0, 2.0, 1.5),
    "erf student, shifted sine target": ("erf", "shifted sin", 1.0, 1.5, 0.8),
}


# (activation, target, (d, p, n0), eta, noise, seed) to what one draw measures.
Draw = Callable[[str, str, tuple[int, int, int], float, float, int], tuple[float, ...]]


def _drawn(
    target: str, sizes: tuple[int, int, int], noise: float, seed: np.random.SeedSequence
) -> tuple[Array, Array, Array]:
    """A first layer of unit rows, the inputs of a batch and their labels."""
    (d, p, n0), rng = sizes, np.random.default_rng(seed)
    rows, x = unit_rows(rng, p, d), rng.standard_normal((n0, d))
    return rows, x, SMOOTH[target].value(x[:, 0]) + np.sqrt(noise) * rng.standard_normal(n0)


@lru_cache(maxsize=1024)
def one_step(
    activation: str, target: str, sizes: tuple[int, int, int], eta: float, noise: float, seed: int
) -> tuple[float, float, float]:
    """Spike strength, alignment and bulk variance of W1 after the step.

    The mean row of W1 is r v up to O(1/d); the rows minus their mean are the bulk.
    """
    d, p, _ = sizes
    rows, x, labels = _drawn(target, sizes, noise, np.random.SeedSequence(20, spawn_key=(d, seed)))
    rows = after_step(rows, SMOOTH[activation], x, labels, eta * d / p)
    mean = rows.mean(axis=0)
    strength = float(np.linalg.norm(mean))
    bulk = float(np.sum((rows - mean) ** 2) / (p - 1))
    return strength, float(mean[0]) / strength, bulk


def experiment(noise: float, quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """r, gamma or c of both models, at half the profile's dimensions.

    A draw costs d^3 and has a variance of order 1/d: at half the dimensions, three times as many draws (six per seed of
    the profile, against two) are both cheaper and more accurate.
    """
    observable = column(quantity, s.r, s.gamma, s.c)
    return _measured(profile, observable, one_step, noise)


def _measured(profile: Profile, observable: int, draw: Draw, noise: float) -> Mapping[str, tuple[Measured, ...]]:
    def one(model: tuple[str, str, float, float, float], d: int) -> Measured:
        activation, target, alpha0, eta, beta = model
        sizes = (d, round(beta * d), round(alpha0 * d))
        samples = tuple(draw(activation, target, sizes, eta, noise, k)[observable] for k in profile.draws(6))
        return Measured(d, samples, _values(activation, target, sizes, eta, noise), interpretation(activation, target))

    return at_sizes(MODELS, profile, one)


_ROWS = 64  # neurons that |delta|^2 is averaged over; they share the batch


@lru_cache(maxsize=1024)
def pieces_of_the_step(
    activation: str, target: str, sizes: tuple[int, int, int], eta: float, noise: float, seed: int
) -> tuple[float, float, float]:
    """|v~|^2, the mean of |delta|^2 over some rows, and d |(1/n0) sum f x|^2 for one batch and one first layer."""
    (d, p, n0), student = sizes, SMOOTH[activation]
    rows, x, labels = _drawn(target, sizes, noise, np.random.SeedSequence(21, spawn_key=(d, seed)))
    received, h1 = x @ rows.T, hermite_numbers(activation, target)[s.h1.name]
    direction = labels @ x / n0
    force = student.value(received).mean(axis=1) @ x / n0
    centred = student.prime(received[:, :_ROWS]) - h1
    delta = eta * d / p / n0 * (centred * labels[:, None]).T @ x
    return (float(direction @ direction), float(np.mean(np.sum(delta**2, axis=1))), float(d * force @ force))


def pieces(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """|v~|^2, |delta|^2 or d |(1/n0) sum f x|^2 of both models.

    Half the dimensions and more draws, as in :func:`experiment`.
    """
    observable = column(quantity, s.v_square, s.delta_square, s.output_force_rate)
    return _measured(profile, observable, pieces_of_the_step, 0.0)


def _values(activation: str, target: str, sizes: tuple[int, int, int], eta: float, noise: float) -> dict[str, float]:
    """The symbols of the right-hand sides, at the ratios realised by the sizes."""
    d, p, n0 = sizes
    return {
        **hermite_numbers(activation, target),
        s.alpha0.name: n0 / d,
        s.beta.name: p / d,
        s.eta.name: eta,
        s.noise.name: noise,
        s.n0.name: n0,
        s.d.name: d,
    }
