"""Measurements on real steps at finite d, for the claims on a network's own bulk.

Left-hand sides are measured on the rows of real networks (full residual, |w| = 1 or w ~ N(0, I/d), a = 1/sqrt(p)) and
on batches; what the right-hand sides need are theorems, computed.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.second_route.gradient_step import real
from giantsteps.verify.second_route.gradient_step.real import BULK_COLUMNS, Drawn
from giantsteps.verify.second_route.grids import SMOOTH, Array, hermite_numbers, interpretation
from giantsteps.verify.second_route.networks.step import Step, batch_forms, equivalent, law
from giantsteps.verify.second_route.sampled import Beside, Sampled

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
    return rows, real.after_step(rows, SMOOTH[step.student], x, labels, 1.0, letters) - rows, x, labels


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
    found = real.row_covariances([rows - rows.mean(axis=0) for rows in powers], labels @ x / len(x))
    controls = real.batch_controls(x, labels, SMOOTH[unit.target])
    return found, np.concatenate([controls, norm_controls(powers[0], x, labels)]) if gaussian else controls


def row_statistics(gaussian: bool, step: Step, d: int, seed: int) -> tuple[Array, Array]:
    """The covariances of |b|^2 over the rows of one network, polynomials in its rate, and controls of its batch.

    Of initial rows on the sphere those of `ROWS`; of Gaussian ones the last two, which differ.
    """
    found, controls = _covariances(replace(step, rate=1.0), d, seed, gaussian)
    chosen = found[2:] if gaussian else found
    return np.array([np.polynomial.polynomial.polyval(step.rate, x) for x in chosen]), controls


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


def _beside_rows(gaussian: bool, step: Step, d: int) -> Beside:
    rows = law(step.at(d)) if gaussian else {}
    known = {x.name: rows[x.name] for x in (s.norm_variance, s.norm_spike_overlap) if gaussian}
    return ratios(step, d) | known, interpretation(step.student, step.target)


def _rows(gaussian: bool, *columns: sp.Symbol) -> Sampled[Step]:
    drawn, beside = partial(row_statistics, gaussian), partial(_beside_rows, gaussian)
    return Sampled(columns, ROW_MODELS, drawn, beside, _ROW_SEEDS, 4, controlled=True)


ROWS = _rows(False, s.row_form, s.norm_overlap, s.norm_spike_overlap, s.norm_variance)
GAUSSIAN_ROWS = _rows(True, s.spike_overlap_gaussian, s.norm_variance_gaussian)


BATCH_MODELS = {"tanh target": ("tanh", 2.0), "sine target": ("sin", 0.7)}


def batch_resolvent(batch: tuple[str, float], d: int, seed: int) -> tuple[float, float, float, float, float]:
    """(1/d) tr Q, theta.Q theta, theta.Q v~, theta.Q w3, v~.Q w3 of one batch at t = SHIFT."""
    target, n0 = batch[0], round(batch[1] * d)
    x = np.random.default_rng(np.random.SeedSequence(37, spawn_key=(d, seed))).standard_normal((n0, d))
    y = SMOOTH[target].value(x[:, 0])
    weighted = x * y[:, None]
    resolvent = real.positive_inverse(weighted.T @ weighted / n0 + SHIFT * np.eye(d))
    v, w3 = y @ x / n0, y**3 @ x / n0
    along = resolvent[0]
    return (
        float(np.trace(resolvent)) / d,
        float(along[0]),
        float(along @ v),
        float(along @ w3),
        float(v @ resolvent @ w3),
    )


def _beside_batch(batch: tuple[str, float], d: int) -> Beside:
    target, alpha0 = batch
    return batch_forms(target, round(alpha0 * d) / d, SHIFT), interpretation("tanh", target)


BATCHES = Sampled(
    (s.batch_trace, s.batch_target, s.batch_mixed, s.batch_cube, s.batch_pair), BATCH_MODELS, batch_resolvent,
    _beside_batch, draws=2, share=1,
)  # fmt: skip


def fresh_rows(p: int, d: int, seed: int) -> Array:
    """Two times p rows on the unit sphere beside those of a network."""
    rng = np.random.default_rng(np.random.SeedSequence(113, spawn_key=(p, d, seed)))
    return unit_rows(rng, 2 * p, d).reshape(2, p, d)


def bulk_resolvent(bulk: Bulk, d: int, seed: int) -> tuple[tuple[float, ...], Array]:
    """V2, V1 and K on the rows of one real network, at given conjugates; controls of mean zero."""
    step, *conjugates = bulk
    start, move, x, labels = first_step(step, d, seed)
    student, fresh = SMOOTH[step.student], fresh_rows(len(start), d, seed)
    controls = (
        real.batch_controls(x, labels, SMOOTH[step.target]),
        real.fresh_controls(start, fresh, student, x, labels, step.rate),
    )
    return _drawn(step, start, move, x, labels).resolvent(*conjugates), np.concatenate(controls)


def bulk_of_rows(
    models: Mapping[str, Bulk], resolvent: Callable[[Bulk, int, int], tuple[tuple[float, ...], Array]], times: int = 1
) -> Sampled[Bulk]:
    """Quantities of a network's bulk at a quarter of the profile's dimensions, beside what they are at the ratios
    realised; by so many ``times`` the draws, many small ones as of the rows.
    """
    return Sampled(BULK_COLUMNS, models, resolvent, _beside_bulk, times * 16, 4, True)


def _beside_bulk(bulk: Bulk, d: int) -> Beside:
    step, *conjugates = bulk
    return equivalent(step.at(d), *conjugates), {}


def bulks(*names: str) -> Sampled[Bulk]:
    """The same for the models named, with odd activations."""
    return bulk_of_rows({name: BULK_MODELS[name] for name in names}, bulk_resolvent)
