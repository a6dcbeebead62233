"""Measurements of one gradient step: small cases summed exactly over a grid, large ones simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.protocol.claim import Domain, Range
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
from giantsteps.verify.second_route.networks.step import Step
from giantsteps.verify.second_route.sampled import Beside, Sampled
from giantsteps.verify.second_route.values import by_glyph

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
MODELS = {
    "tanh student, tanh target": Step("tanh", "tanh", 2.0, 2.0 / 1.5, 1.5),
    "erf student, shifted sine target": Step("erf", "shifted sin", 1.0, 1.5 / 0.8, 0.8),
}


def _drawn(stream: int, step: Step, d: int, seed: int) -> tuple[Array, Array, Array]:
    """A first layer of unit rows, the inputs of a batch and their labels."""
    rng = np.random.default_rng(np.random.SeedSequence(stream, spawn_key=(d, seed)))
    rows, x = unit_rows(rng, round(step.beta * d), d), rng.standard_normal((round(step.alpha0 * d), d))
    return rows, x, SMOOTH[step.target].value(x[:, 0]) + np.sqrt(step.noise) * rng.standard_normal(len(x))


def one_step(step: Step, d: int, seed: int) -> tuple[float, float, float]:
    """Spike strength, alignment and bulk variance of W1 after the step.

    The mean row of W1 is r v up to O(1/d); the rows minus their mean are the bulk.
    """
    rows, x, labels = _drawn(20, step, d, seed)
    rows = after_step(rows, SMOOTH[step.student], x, labels, step.rate)
    mean = rows.mean(axis=0)
    strength = float(np.linalg.norm(mean))
    bulk = float(np.sum((rows - mean) ** 2) / (len(rows) - 1))
    return strength, float(mean[0]) / strength, bulk


def _beside(step: Step, d: int) -> Beside:
    """The symbols of the right-hand sides, at the ratios realised by the sizes."""
    at = step.at(d)
    values = {
        s.alpha0: at.alpha0, s.beta: at.beta, s.eta: at.rate * at.beta, s.noise: at.noise, s.n0: at.alpha0 * d, s.d: d,
    }  # fmt: skip
    return {**hermite_numbers(at.student, at.target), **by_glyph(values)}, interpretation(at.student, at.target)


def experiment(noise: float = 0.0) -> Sampled[Step]:
    """r, gamma and c of both models, at half the profile's dimensions.

    A draw costs d^3 and has a variance of order 1/d: at half the dimensions, three times as many draws (six per seed of
    the profile, against two) are both cheaper and more accurate.
    """
    models = {name: replace(step, noise=noise) for name, step in MODELS.items()}
    return Sampled((s.r, s.gamma, s.c), models, one_step, _beside, draws=6)


_ROWS = 64  # neurons that |delta|^2 is averaged over; they share the batch


def pieces_of_the_step(step: Step, d: int, seed: int) -> tuple[float, float, float]:
    """|v~|^2, the mean of |delta|^2 over some rows, and d |(1/n0) sum f x|^2 for one batch and one first layer."""
    rows, x, labels = _drawn(21, step, d, seed)
    n0, student = len(x), SMOOTH[step.student]
    received, h1 = x @ rows.T, hermite_numbers(step.student, step.target)[s.h1.name]
    direction = labels @ x / n0
    force = student.value(received).mean(axis=1) @ x / n0
    centred = student.prime(received[:, :_ROWS]) - h1
    delta = step.rate / n0 * (centred * labels[:, None]).T @ x
    return (float(direction @ direction), float(np.mean(np.sum(delta**2, axis=1))), float(d * force @ force))


# Half the dimensions and more draws, as in `experiment`.
PIECES = Sampled((s.v_square, s.delta_square, s.output_force_rate), MODELS, pieces_of_the_step, _beside, draws=6)
