"""Measurements on real steps of networks with any activation, at finite d."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

from onestep.derivations.bulk import symbols as s
from onestep.verify.checks.simulation import Measured, at_sizes, column
from onestep.verify.protocol.claim import Profile
from onestep.verify.second_route.any_activation.numbers import averages, block_values, equivalent_values, functions_of
from onestep.verify.second_route.any_activation.rows import CURVES, Slope, Step
from onestep.verify.second_route.grids import Array
from onestep.verify.second_route.networks.draws import BULK_COLUMNS

# Rows are drawn at p = 4 d; the rates are large enough for every term of v_c to count.
ROW_MODELS = {
    "shifted tanh student, shifted sine target": Step("shifted tanh", "shifted sin", 2.0, 4.0, 4.0),
    "leaning tanh student, sine target": Step("leaning tanh", "sin", 2.0, 2.0, 4.0),
}
BATCHES = {
    "shifted sine target": Step("softplus", "shifted sin", 2.0, 3.0, 1.0),
    "tanh target": Step("quadratic", "tanh", 1.0, 1.5, 1.0),
}
GAINS = {"shifted sine target": 0.8, "tanh target": 0.6}
BULK_MODELS = {
    "relu student, sine target": Step("relu", "sin", 2.0, 3.0, 0.8),
    "shifted tanh student, shifted sine target": Step("shifted tanh", "shifted sin", 1.0, 6.0, 0.5),
}
CONJUGATES = {"relu student, sine target": (0.8, 0.5), "shifted tanh student, shifted sine target": (0.3, 1.0)}


@dataclass(frozen=True)
class Drawn:
    """Rows (p, d) of one network less their mean, the mean, and w_Y of its batch; theta is axis 0."""

    rows: Array
    mean: Array
    batch: Array


def draw(step: Step, d: int, seed: int) -> Drawn:
    """One real gradient step from unit rows, with the whole residual."""
    p, n0 = round(step.beta * d), round(step.alpha0 * d)
    rng = np.random.default_rng(np.random.SeedSequence(43, spawn_key=(d, seed)))
    rows = rng.standard_normal((p, d))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    x = rng.standard_normal((n0, d))
    labels = CURVES[step.target].value(x[:, 0])
    student, received = CURVES[step.student], x @ rows.T
    residual = labels - student.value(received).mean(axis=1)
    rows += step.rate / n0 * (student.prime(received) * residual[:, None]).T @ x
    mean = rows.mean(axis=0)
    return Drawn(rows - mean, mean, (labels - Slope(step.student).h[0]) @ x / n0)


_ROWS = (s.r, s.gamma, s.c, s.row_form, s.norm_overlap, s.norm_spike_overlap, s.norm_variance)


@lru_cache(maxsize=512)
def row_statistics(step: Step, d: int, seed: int) -> tuple[float, ...]:
    """|mean row|, its alignment, mean |b|^2, d Var b.theta, d Cov(b.theta, |b|^2), d Cov(b.w_Y, |b|^2), d Var |b|^2."""
    drawn = draw(step, d, seed)
    p, size = len(drawn.rows), float(np.linalg.norm(drawn.mean))
    squares = np.einsum("ij,ij->i", drawn.rows, drawn.rows)
    norms, along, per_row = squares - squares.mean(), drawn.rows[:, 0], d / (p - 1)
    return (
        size,
        float(drawn.mean[0]) / size,
        float(squares.mean()),
        per_row * float(along @ along),
        per_row * float(along @ norms),
        per_row * float((drawn.rows @ drawn.batch) @ norms),
        per_row * float(norms @ norms),
    )


def row_experiment(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One statistic of the rows at half the profile's dimensions, for both models."""
    at = column(quantity, *_ROWS)

    def one(step: Step, d: int) -> Measured:
        samples = tuple(row_statistics(step, d, k)[at] for k in range(8 * profile.seeds))
        here = Step(step.student, step.target, round(step.alpha0 * d) / d, step.rate, round(step.beta * d) / d)
        return Measured(d, samples, averages(here))

    return at_sizes(ROW_MODELS, profile, one)


_BLOCKS = (s.row_trace, s.bridge_trace, s.rest_trace, s.target_form, s.target_bridge)


@lru_cache(maxsize=256)
def batch_blocks(step: Step, gain: float, d: int, seed: int) -> tuple[float, ...]:
    """(1/d) tr H, (1/d) tr H P, 1 - g (1/d) tr P H P, theta.H theta and theta.H P theta of one batch."""
    n0 = round(step.alpha0 * d)
    x = np.random.default_rng(np.random.SeedSequence(47, spawn_key=(d, seed))).standard_normal((n0, d))
    slope = Slope(step.student)
    h0, _, h2 = slope.h
    y = CURVES[step.target].value(x[:, 0]) - h0
    P = np.eye(d) + step.rate * h2 * (x * y[:, None]).T @ x / n0
    A = (x * (y**2)[:, None]).T @ x / n0
    H = np.linalg.inv(np.eye(d) + gain * (P @ P + step.rate**2 * slope.average(0, 2) / step.alpha0 * A))
    HP = H @ P
    return (
        float(np.trace(H)) / d,
        float(np.trace(HP)) / d,
        1.0 - gain * float(np.sum(P * HP)) / d,
        float(H[0, 0]),
        float(HP[0, 0]),
    )


def batch_experiment(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One form of H at the profile's dimensions over two."""
    at = column(quantity, *_BLOCKS)

    def one(name: str, d: int) -> Measured:
        step, gain = BATCHES[name], GAINS[name]
        here = Step(step.student, step.target, round(step.alpha0 * d) / d, step.rate, step.beta)
        samples = tuple(batch_blocks(step, gain, d, k)[at] for k in range(12 * profile.seeds))
        return Measured(d, samples, block_values(here, gain), functions_of(step))

    return at_sizes({name: name for name in BATCHES}, profile, one)


@lru_cache(maxsize=2048)
def bulk_resolvent(step: Step, d: int, conjugate: float, shift: float, seed: int) -> dict[str, float]:
    """V2, V1 and K on the rows of one real network, at given conjugates; keys are glyphs."""
    drawn = draw(step, d, seed)
    W, p = drawn.rows, len(drawn.rows)
    v = drawn.mean / np.linalg.norm(drawn.mean)
    perp = np.eye(d)[0] - v[0] * v
    perp /= np.linalg.norm(perp)
    squares = np.einsum("ij,ij->i", W, W)
    columns = np.stack([W @ v, W @ perp, squares - squares.mean()], axis=1)
    planar = W - np.outer(columns[:, 0], v)
    gram = planar @ planar.T
    inverse = np.linalg.inv(conjugate * gram + shift * np.eye(p))
    K = columns.T @ inverse @ columns
    pairs = ((0, 0), (0, 1), (1, 1), (0, 2), (1, 2), (2, 2))
    entries = (np.trace(inverse) / p, np.sum(gram * inverse) / p, *(K[i, j] for i, j in pairs))
    return {symbol.name: float(value) for symbol, value in zip(BULK_COLUMNS, entries, strict=True)}


def bulk_experiment(
    models: tuple[str, ...], quantity: sp.Basic, profile: Profile
) -> Mapping[str, tuple[Measured, ...]]:
    """One quantity of a network's bulk at half the profile's dimensions, for the models named."""
    name = BULK_COLUMNS[column(quantity, *BULK_COLUMNS)].name

    def one(model: str, d: int) -> Measured:
        step, (conjugate, shift) = BULK_MODELS[model], CONJUGATES[model]
        here = Step(step.student, step.target, round(step.alpha0 * d) / d, step.rate, round(step.beta * d) / d)
        samples = tuple(bulk_resolvent(step, d, conjugate, shift, k)[name] for k in range(8 * profile.seeds))
        return Measured(d, samples, equivalent_values(here, conjugate, shift))

    return at_sizes({model: model for model in models}, profile, one)
