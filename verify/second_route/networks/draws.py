"""Measurements on real steps at finite d, for the claims on a network's own bulk.

Left-hand sides are measured on the rows of real networks (full residual, |w| = 1 or w ~ N(0, I/d), a = 1/sqrt(p)) and
on batches; what the right-hand sides need are theorems, computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.gradient_step.real import (
    BULK_COLUMNS,
    Drawn,
    after_step,
    batch_controls,
    fresh_controls,
    positive_inverse,
    row_covariances,
    steadied,
)
from giantsteps.verify.second_route.grids import SMOOTH, Array, hermite_numbers, interpretation
from giantsteps.verify.second_route.networks.step import Step, batch_forms, equivalent, law

# Rows are drawn at p = 2 d, once for all rates of a batch. The models are such that every term of h and of v_c is a
# third or more of it in one of them: E[z^2 s^2] - E[z^2 s]^2 at a small batch and a small rate, E[z^2 s]^2 |v~|^2 at a
# small rate, E[y^4] Var(s^2) and E[s^3] at a small batch and a large rate, pairs of samples at a large rate.
ROW_MODELS = {
    "sine student, tanh target, small rate": Step("sin", "tanh", 0.5, 0.5, 2.0),
    "sine student, tanh target, large rate": Step("sin", "tanh", 0.5, 4.0, 2.0),
    "tanh student, sine target, small rate": Step("tanh", "sin", 2.0, 1.0, 2.0),
    "tanh student, sine target, large rate": Step("tanh", "sin", 2.0, 20.0, 2.0),
}
# A step with the conjugates, C and the ridge beside D, that its rows meet.
Bulk = tuple[Step, float, float]
# Small ones, so that many seeds are cheap.
BULK_MODELS = {
    "sine student, tanh target": (Step("sin", "tanh", 1.0, 8.0, 0.5), 0.3, 2.0),
    "tanh student, tanh target": (Step("tanh", "tanh", 2.0, 4.0, 0.8), 0.8, 0.5),
}
SHIFT = 0.7


def first_step(
    step: Step, d: int, seed: int, gaussian: bool = False, letters: Array | float = 1.0
) -> tuple[Array, Array, Array, Array]:
    """Initial rows on the unit sphere, or as N(0, I/d), how they move at a rate of one (full residual), the batch and
    its labels; ``letters`` as in `after_step`.
    """
    p, n0 = round(step.beta * d), round(step.alpha0 * d)
    rng = np.random.default_rng(np.random.SeedSequence(31, spawn_key=(d, seed, int(gaussian))))
    rows = rng.standard_normal((p, d)) / math.sqrt(d) if gaussian else unit_rows(rng, p, d)
    x = rng.standard_normal((n0, d))
    labels = SMOOTH[step.target].value(x[:, 0])
    return rows, after_step(rows, SMOOTH[step.student], x, labels, 1.0, letters) - rows, x, labels


def draw(step: Step, d: int, seed: int) -> Drawn:
    """One real gradient step; the rows start on the unit sphere."""
    return _drawn(step, *first_step(step, d, seed))


def _drawn(step: Step, start: Array, move: Array, x: Array, labels: Array) -> Drawn:
    rows = start + step.rate * move
    mean = rows.mean(axis=0)
    return Drawn(rows - mean, mean, labels @ x / len(x))


def norm_controls(rows: Array, x: Array, labels: Array) -> Array:
    """Sums over Gaussian initial rows w (p, d), times d/p: (w.f)(|w|^2 - 1) for f among theta, v~ and w3, then
    (|w|^2 - 1)^2 - 2/d and |w|^2 - 1. Their means are zero, whatever the batch.
    """
    p, d = rows.shape
    norms = np.einsum("ij,ij->i", rows, rows) - 1.0
    along = norms @ rows @ np.stack([np.eye(d)[0], labels @ x / len(x), labels**3 @ x / len(x)]).T
    return np.asarray(np.array([*along, norms @ norms - 2 * p / d, norms.sum()]) * d / p)


@lru_cache(maxsize=2048)
def _covariances(unit: Step, d: int, seed: int, gaussian: bool) -> tuple[tuple[Array, ...], Array]:
    *powers, x, labels = first_step(unit, d, seed, gaussian)
    found = row_covariances([rows - rows.mean(axis=0) for rows in powers], labels @ x / len(x))
    controls = batch_controls(x, labels, SMOOTH[unit.target])
    return found, np.concatenate([controls, norm_controls(powers[0], x, labels)]) if gaussian else controls


def row_statistics(step: Step, d: int, seed: int, gaussian: bool) -> tuple[Array, Array]:
    """The covariances of |b|^2 over the rows of one network, polynomials in its rate, and controls of its batch."""
    found, controls = _covariances(replace(step, rate=1.0), d, seed, gaussian)
    return np.array([np.polynomial.polynomial.polyval(step.rate, x) for x in found]), controls


def ratios(step: Step, d: int) -> dict[str, float]:
    """Hermite numbers and the ratios realised at dimension d; eta is the one that keeps the rate."""
    p, n0 = round(step.beta * d), round(step.alpha0 * d)
    return {
        **hermite_numbers(step.student, step.target),
        s.alpha0.name: n0 / d,
        s.beta.name: p / d,
        s.eta.name: step.rate * p / d,
    }


# Draws per seed of the profile: a draw costs d^3, so that many small ones say more than few large ones.
_ROW_SEEDS = 32
# What :func:`row_statistics` gives, for initial rows on the sphere; for Gaussian ones the last two differ.
_ROWS_ON_SPHERE = (s.row_form, s.norm_overlap, s.norm_spike_overlap, s.norm_variance)
_GAUSSIAN_ROWS = (None, None, s.spike_overlap_gaussian, s.norm_variance_gaussian)


def row_experiment(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One statistic of the rows, at a quarter of the profile's dimensions and many seeds, for every model."""
    gaussian = quantity in _GAUSSIAN_ROWS
    at = _GAUSSIAN_ROWS.index(quantity) if gaussian else column(quantity, *_ROWS_ON_SPHERE)

    def one(step: Step, d: int) -> Measured:
        drawn = [row_statistics(step, d, k, gaussian) for k in profile.draws(_ROW_SEEDS)]
        statistics, controls = (np.array(x) for x in zip(*drawn, strict=True))
        samples = tuple(steadied(statistics[:, at], controls))
        values = ratios(step, d)
        if gaussian:
            rows = law(step.at(d))
            values |= {x.name: rows[x.name] for x in (s.norm_variance, s.norm_spike_overlap)}
        return Measured(d, samples, values, interpretation(step.student, step.target))

    return at_sizes(ROW_MODELS, profile, one, 4)


BATCH_MODELS = {"tanh target": ("tanh", 2.0), "sine target": ("sin", 0.7)}


@lru_cache(maxsize=256)
def batch_resolvent(target: str, d: int, n0: int, seed: int) -> tuple[float, float, float, float, float]:
    """(1/d) tr Q, theta.Q theta, theta.Q v~, theta.Q w3, v~.Q w3 of one batch at t = SHIFT."""
    x = np.random.default_rng(np.random.SeedSequence(37, spawn_key=(d, seed))).standard_normal((n0, d))
    y = SMOOTH[target].value(x[:, 0])
    weighted = x * y[:, None]
    resolvent = positive_inverse(weighted.T @ weighted / n0 + SHIFT * np.eye(d))
    v, w3 = y @ x / n0, y**3 @ x / n0
    along = resolvent[0]
    return (
        float(np.trace(resolvent)) / d,
        float(along[0]),
        float(along @ v),
        float(along @ w3),
        float(v @ resolvent @ w3),
    )


def batch_experiment(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One form of Q at the profile's dimensions."""
    at = column(quantity, s.batch_trace, s.batch_target, s.batch_mixed, s.batch_cube, s.batch_pair)

    def one(batch: tuple[str, float], d: int) -> Measured:
        target, n0 = batch[0], round(batch[1] * d)
        samples = tuple(batch_resolvent(target, d, n0, k)[at] for k in profile.draws(2))
        return Measured(d, samples, batch_forms(target, n0 / d, SHIFT), interpretation("tanh", target))

    return at_sizes(BATCH_MODELS, profile, one, 1)


def fresh_rows(p: int, d: int, seed: int) -> Array:
    """Two times p rows on the unit sphere beside those of a network."""
    rng = np.random.default_rng(np.random.SeedSequence(113, spawn_key=(p, d, seed)))
    return unit_rows(rng, 2 * p, d).reshape(2, p, d)


@lru_cache(maxsize=4096)
def bulk_resolvent(step: Step, d: int, conjugate: float, shift: float, seed: int) -> tuple[Mapping[str, float], Array]:
    """V2, V1 and K on the rows of one real network, at given conjugates, keys are glyphs; controls of mean zero."""
    start, move, x, labels = first_step(step, d, seed)
    student, fresh = SMOOTH[step.student], fresh_rows(len(start), d, seed)
    controls = (
        batch_controls(x, labels, SMOOTH[step.target]),
        fresh_controls(start, fresh, student, x, labels, step.rate),
    )
    return _drawn(step, start, move, x, labels).resolvent(conjugate, shift), np.concatenate(controls)


# Draws per seed of the profile, as of the rows: many small ones.
_BULK_SEEDS = 16


def bulk_of_rows(
    models: Mapping[str, Bulk], resolvent: Callable[..., tuple[Mapping[str, float], Array]],
    theory: Callable[..., Mapping[str, float]], quantity: sp.Basic, profile: Profile, times: int = 1,
) -> Mapping[str, tuple[Measured, ...]]:  # fmt: skip
    """One quantity of a network's bulk at a quarter of the profile's dimensions, beside what it is at the ratios
    realised; by so many ``times`` the draws.
    """
    name = BULK_COLUMNS[column(quantity, *BULK_COLUMNS)].name

    def one(bulk: Bulk, d: int) -> Measured:
        step, *conjugates = bulk
        drawn = (resolvent(step, d, *conjugates, k) for k in profile.draws(times * _BULK_SEEDS))
        found, controls = zip(*drawn, strict=True)
        samples = steadied(np.array([each[name] for each in found]), np.array(controls))
        return Measured(d, tuple(samples), theory(step.at(d), *conjugates))

    return at_sizes(models, profile, one, 4)


def bulk_experiment(
    models: tuple[str, ...], quantity: sp.Basic, profile: Profile
) -> Mapping[str, tuple[Measured, ...]]:
    """The same for the models named, with odd activations."""
    return bulk_of_rows({name: BULK_MODELS[name] for name in models}, bulk_resolvent, equivalent, quantity, profile)
