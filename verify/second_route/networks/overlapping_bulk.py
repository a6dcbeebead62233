"""Numbers for turned rows: rows of real networks, dense batches, and the equation for G iterated on a fixed grid."""

from __future__ import annotations

import math
from functools import lru_cache, partial

import numpy as np

from giantsteps.derivations.bulk.overlapping_bulk import (
    alone,
    answer,
    blocks,
    row_target,
    sample,
    target_form,
    with_tt,
    with_ut,
    with_uu,
)
from giantsteps.derivations.language import symbols as s
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.gradient_step.real import positive_inverse
from giantsteps.verify.second_route.grids import LINE, SMOOTH, WEIGHT, Array
from giantsteps.verify.second_route.models import at_distinct
from giantsteps.verify.second_route.networks.overlapping_draws import first_layer, functions_for, shared_functions
from giantsteps.verify.second_route.networks.step import Step
from giantsteps.verify.second_route.sampled import Beside, Sampled

NO_NOISE = "no label noise"
# Rates and overlaps at which turning counts; the second student is not odd, and its beta not one.
STARTS = {
    "tanh student, tanh target": Step("tanh", "tanh", 2.0, 2.0, 1.0, 0.0, 0.4),
    "sine student, shifted sine target": Step("sin", "shifted sin", 1.5, 1.5, 1.5, 0.0, 0.25),
}
# With the gain g, and at rates at which what the samples know of theta and e shows along theta.
BATCHES = {
    "tanh student, tanh target": (Step("tanh", "tanh", 1.0, 4.0, 1.0, 0.0, 0.4), 5.0),
    "sine student, shifted sine target": (Step("sin", "shifted sin", 1.0, 3.0, 1.5, 0.0, 0.6), 2.0),
}


@lru_cache(maxsize=64)
def functions_of(start: Step) -> Functions:
    """Implementations of all undefined functions of the statements."""
    found = functions_for(start.student, start.target, start.overlap)
    return {name: partial(at_distinct, function) for name, function in found.items()}


INTERPRETATIONS = tuple(functions_of(start) for start in STARTS.values())


def values_of(start: Step, alpha0: float) -> dict[str, float]:
    return {
        s.alpha0.name: alpha0,
        s.beta.name: start.beta,
        s.eta.name: start.rate * start.beta,
        s.row_overlap.name: start.overlap,
    }


# ---- rows of real networks ----


def _terms(start: Step, u: Array, t: Array) -> Array:
    """R^2, and R K, R^2 H and R^2 K^2 times u^2, of samples at u = theta.x and t = e.x, with R = g(u) - F(t)."""
    f = shared_functions(start.student, start.overlap)
    K, residual = f["K_0"](t), SMOOTH[start.target].value(u) - f["F_0"](t)
    return np.stack([residual**2, residual * K * u**2, residual**2 * f["H_0"](t) * u**2, (residual * K * u) ** 2])


# E over u and t: step 0.1, out to eleven.
_PLACES, _SHARES = LINE[40:-40:4], 4.0 * WEIGHT[40:-40:4]


@lru_cache(maxsize=8)
def _term_means(start: Step) -> Array:
    return np.asarray(_terms(start, _PLACES[:, None], _PLACES) @ _SHARES @ _SHARES)


def batch_controls(start: Step, x: Array) -> Array:
    """The means of the terms over a batch, minus what they are on average, at any number of samples."""
    return np.asarray(_terms(start, x[:, 0], x[:, 1]).mean(axis=1) - _term_means(start))


def row_variance(start: Step, d: int, seed: int) -> tuple[tuple[float], Array]:
    """d times the variance of b.theta over the rows of one network after a real step (full residual), and controls of
    mean zero: those of its batch, and that variance before the step minus its mean 1 - o, d - 1 times.
    """
    p, n0 = 4 * d, round(start.alpha0 * d)
    rng = np.random.default_rng(np.random.SeedSequence(59, spawn_key=(d, seed)))
    rows = first_layer(start, p, d, rng)
    x = rng.standard_normal((n0, d))
    before = (d - 1) * float(np.var(rows[:, 0], ddof=1)) - (1.0 - start.overlap)
    student = SMOOTH[start.student]
    received = x @ rows.T
    difference = SMOOTH[start.target].value(x[:, 0]) - student.value(received).mean(axis=1)
    along = rows[:, 0] + start.rate / n0 * student.prime(received).T @ (difference * x[:, 0])
    return (d * float(np.var(along, ddof=1)),), np.array([before, *batch_controls(start, x)])


# So many draws that each mutant that can be refuted is six standard errors off or more. A draw costs d^3, so
# that many small ones say more than few large ones.
ROWS = Sampled(
    (row_target,), STARTS, row_variance,
    lambda start, d: (values_of(start, round(start.alpha0 * d) / d), functions_of(start)), 7, 4, controlled=True,
)  # fmt: skip


# ---- the resolvent of a batch ----


def batch_resolvent(batch: tuple[Step, float], d: int, seed: int) -> tuple[Array, Array]:
    """(1/d) tr (1 + g B)^-1 and its entry at theta, B from one batch as it is defined, and controls of the batch."""
    start, gain = batch
    n0, rate, overlap = round(start.alpha0 * d), start.rate, start.overlap
    x = np.random.default_rng(np.random.SeedSequence(61, spawn_key=(d, seed))).standard_normal((n0, d))
    f = shared_functions(start.student, overlap)
    t = x[:, 1]
    difference = SMOOTH[start.target].value(x[:, 0]) - f["F_0"](t)
    turned = np.eye(d) + rate / n0 * (x.T * (difference * f["K_0"](t))) @ x
    left = difference**2 * (f["H_0"](t) - (1.0 - overlap) * f["K_0"](t) ** 2)
    without = turned.copy()
    without[:, 1] = 0.0
    covariance = (1.0 - overlap) * without @ without.T + rate**2 * d / n0**2 * (x.T * left) @ x
    resolvent = positive_inverse(np.eye(d) + gain * covariance)
    return np.array([np.trace(resolvent) / d, resolvent[0, 0]]), batch_controls(start, x)


AVERAGES = (*alone, *with_uu, *with_ut, with_tt)


def averages(start: Step, gain: float, alpha0: float, G: Array) -> tuple[Array, dict[str, float]]:
    """E[W'], and all averages of W' by name, W' = (1 + W G/alpha0)^-1 W inverted sample by sample on a grid."""
    f = shared_functions(start.student, start.overlap)
    line, weight = _PLACES, _SHARES
    difference = SMOOTH[start.target].value(line)[:, None] - f["F_0"](line)
    K, H = f["K_0"](line), f["H_0"](line)
    W = np.zeros((*difference.shape, 2, 2))
    W[..., 0, 0] = gain * start.rate**2 / alpha0 * difference**2 * (H - (1.0 - start.overlap) * K**2)
    W[..., 0, 1] = W[..., 1, 0] = math.sqrt(gain * (1.0 - start.overlap)) * start.rate * difference * K
    answered = np.linalg.solve(np.eye(2) + W @ G / alpha0, W)

    def mean(factor_u: Array, factor_t: Array) -> Array:
        both = np.multiply.outer(weight * factor_u, weight * factor_t)
        return np.asarray(np.tensordot(both, answered, axes=2))

    one = np.ones_like(line)
    plain, tilted, mixed, common = mean(one, one), mean(line**2, one), mean(line, line), mean(one, line**2)
    entries = (
        plain[0, 0], plain[0, 1], plain[1, 1], tilted[0, 0], tilted[0, 1], tilted[1, 1],
        mixed[0, 0], mixed[0, 1], common[0, 0],
    )  # fmt: skip
    return plain, {symbol.name: float(x) for symbol, x in zip(AVERAGES, entries, strict=True)}


@lru_cache(maxsize=64)
def _solved(start: Step, gain: float, alpha0: float) -> dict[str, float]:
    """All averages of W' where G = (Z + E W')^-1, by damped iteration."""
    root = math.sqrt(gain * (1.0 - start.overlap))
    Z = np.array([[1.0, root], [root, -1.0]])
    G: Array = np.linalg.inv(Z)
    for _ in range(200):
        effective, found = averages(start, gain, alpha0, G)
        new = np.linalg.inv(Z + effective)
        change, G = float(np.max(np.abs(new - G))), 0.5 * (G + new)
        if change < 1e-11:
            break
    return found


def _beside_batch(batch: tuple[Step, float], d: int) -> Beside:
    start, gain = batch
    alpha0 = round(start.alpha0 * d) / d
    return values_of(start, alpha0) | _solved(start, gain, alpha0) | {s.gain.name: gain}, {}


RESOLVENTS = Sampled((s.row_trace, target_form), BATCHES, batch_resolvent, _beside_batch, 8, 4, controlled=True)


# ---- points of the domain ----


def start_at(point: Point) -> Step:
    """The network of a point."""
    alpha0, beta, overlap = (float(point[x.name]) for x in (s.alpha0, s.beta, s.row_overlap))
    return Step("tanh", "shifted sin", alpha0, 1.3, beta, 0.0, overlap)


def sample_answer(point: Point) -> dict[str, float]:
    """The first entry of (1 + W G/alpha0)^-1 W by inverting a matrix."""
    p, q = (float(point[x.name]) for x in sample)
    a, b, c = (float(point[x.name]) for x in blocks)
    W, G = np.array([[p, q], [q, 0.0]]), np.array([[a, b], [b, c]])
    return {answer.name: float((np.linalg.inv(np.eye(2) + W @ G / float(point[s.alpha0.name])) @ W)[0, 0])}


# G_22 is negative, and the first row of W positive.
RESOLVENT = Domain(
    (
        Range(s.alpha0, 0.7, 8.0, log=True),
        Range(s.beta, 0.4, 3.0, log=True),
        Range(s.row_overlap, 0.05, 0.8),
        Range(sample[0], 0.1, 2.0),
        Range(sample[1], -0.6, 0.6),
        Range(blocks[0], 0.2, 0.9),
        Range(blocks[1], 0.1, 0.5),
        Range(blocks[2], -0.9, -0.2),
    ),
    (NO_NOISE,),
)
