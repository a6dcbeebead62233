"""How the norms of a network's rows follow the rows, step by step: Cov(b, delta), Var(delta), and B of finite rank.

A bulk row b before step t has covariance B/d and |b|^2 = c + delta, d Cov(b, delta) = h, d Var(delta) = v. Given
kappa let s = sigma' - mu1 - mu11 X, X = sqrt(c) z; k2 = E[z^2 s], k3 = E[(z^3 - 3 z) s]. With w_f = (1/n0) sum f x over
the batch, xb_f its mean, e = eta/beta, A = (1/n0) sum Y^2 E[s^2] x x^T, omega = e^2/alpha0,

    P = 1 + (e/n0) sum Y mu11 x x^T,  q = (1/n0) sum Y k2/(2c) x,  nu = e Y mu11/alpha0,  m = 1 + e E[Y mu11],
    pi = m + nu,  dP = 2 m nu + nu^2,  tau_k = (1/d) tr P^k,
    D  = tau_2 + e E[Y pi k3]/sqrt(c) + (e^2/alpha0) E[Y^2 E(z^2 - 1)s^2]/(2c),
    g1 = 2 e Y pi k2 + (e^2/alpha0) Y^2 E[z s^2]/sqrt(c),
    g0 = e c k2 Y dP + (2 e^2/alpha0) sqrt(c) E[z s^2] Y^2 pi + (e^3/alpha0^2) E[s^3] Y^3,
    B' = P B P + omega A + e (P h q^T + q h^T P) + e^2 v q q^T,
    h' = P (D h + B w_g1) + e q (D v + h.xb_g1) + w_g0,
    v' = D^2 v + 2 D h.xb_g1 + xb_g1.B xb_g1 + what `_scatter` adds.

h and the vectors that B' has beside P B P + omega A are sums of words: products of P of later batches with a vector of
one batch, for which a block of the pencil stands (`numerics.gradient_steps.pencil`). Three vectors a batch suffice:
P_(T-1)..P_t B_t w_g1 and P_(T-1)..P_(t+1) applied to q and w_g0, where B_t is the one without finite rank.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from giantsteps.numerics.gradient_steps.batches import Batch
from giantsteps.numerics.gradient_steps.labels import labels
from giantsteps.numerics.gradient_steps.pencil import Array, Samples

# The vectors w_f of a batch: f = Y mu1, which moves the spike, and those of q, g1 and g0.
SPIKE, NORM, PULLED, ADDED = range(4)
VECTORS = 4


@dataclass(frozen=True)
class Norms:
    """What a batch does to the norms of rows: e, D, what v' has of its own, and xb_g1 on the batch's directions."""

    rate: float
    factor: float
    scatter: float
    pulled: Array


def seen(batch: Batch, e: float, alpha0: float) -> tuple[Samples, Norms]:
    """The samples of a batch as the pencil averages over them, and what they do to the norms of rows."""
    place, Y, moments = labels(batch)
    c, weights, s = batch.state.bulk, moments[0], batch.slope_moments
    root, Y2 = math.sqrt(c), Y * Y
    mu1, mu11, k2, k3, square, tilted, weighted, cube, tilted_cube, variance = (
        values[place]
        for values in (
            batch.mu1, batch.mu11, s.second, s.third, s.square, s.tilted_square, s.weighted_square, s.cube,
            s.tilted_cube, s.square_variance,
        )
    )  # fmt: skip
    turn = Y * mu11

    def mean(values: Array) -> float:
        return float(weights @ values)

    kept, nu, omega = 1.0 + e * mean(turn), e / alpha0 * turn, e * e / alpha0
    pi, stretch = kept + nu, nu * (2.0 * kept + nu)
    # Free cumulants of P.
    two, three, four = (e**n / alpha0 ** (n - 1) * mean(turn**n) for n in (2, 3, 4))
    factor = kept**2 + two + e / root * mean(Y * pi * k3) + omega / (2.0 * c) * mean(Y2 * (weighted - square))
    # tau_4 - tau_2^2.
    spread = four + 4.0 * kept * three + two * two + 4.0 * kept * kept * two
    scatter = (
        2.0 * c * c * spread
        + 4.0 * e * c * root * mean(Y * pi * stretch * k3)
        + 4.0 * omega * c * (mean(Y2 * pi * pi * weighted) + two * mean(Y2 * square))
        + 2.0 * omega * c * mean(Y2 * stretch * (weighted - square))
        + 4.0 * omega * e / alpha0 * root * mean(Y * Y2 * pi * tilted_cube)
        + omega * omega / alpha0 * mean(Y2 * Y2 * variance)
        + 2.0 * (omega * mean(Y2 * square)) ** 2
    )
    functions = np.stack([
        Y * mu1,
        Y * k2 / (2.0 * c),
        2.0 * e * Y * pi * k2 + omega / root * Y2 * tilted,
        e * c * k2 * Y * stretch + 2.0 * omega * root * tilted * Y2 * pi + omega * e / alpha0 * cube * Y * Y2,
    ])  # fmt: skip
    # Before the first step every direction is alike: z is theta.x.
    first = batch.state.spike == 0.0
    kappa = batch.kappa[place]
    coordinates = np.stack([np.ones_like(kappa)] if first else [kappa, np.ones_like(kappa)])
    last = len(coordinates) - 1
    every, power = np.concatenate([coordinates, functions]), np.zeros(len(coordinates) + VECTORS, dtype=int)
    power[last] = 1  # of z
    bends = np.stack([omega * square * Y2, e * turn, (e * turn) ** 2])
    one, other = np.triu_indices(len(every))
    products = every[one] * every[other] * moments[power[one] + power[other]]
    samples = Samples(alpha0, len(coordinates), bends, weights, products)
    return samples, Norms(e, factor, scatter, samples.products[: last + 1, last + 1 + PULLED])


def words(steps: int) -> Array:
    """The three words of every batch, (3T, 1 + 4T, 2T + 1): coordinates on theta and the w_f in every block."""
    found = np.zeros((steps, 3, 1 + VECTORS * steps, 2 * steps + 1))
    for t in range(steps):
        sign, at = (-1.0) ** (steps - t), 1 + VECTORS * t
        found[t, 0, at + PULLED, 2 * (steps - t)] = sign
        found[t, 1, at + NORM, 2 * (steps - t) - 1] = found[t, 2, at + ADDED, 2 * (steps - t) - 1] = -sign
    return found.reshape(3 * steps, *found.shape[2:])


@dataclass(frozen=True, eq=False)
class Rows:
    """B_T without finite rank + sum_t [h_t, q_t] Lambda_t [h_t, q_t]^T: rows of `low` (2T, 3T) by words, and Lambda
    (2T, 2T); h_T by words, (3T,); v_T."""

    low: Array
    coupling: Array
    lean: Array
    variance: float


def rows(batches: Sequence[Norms], means: Array, seen_by: Array, initial: float) -> Rows:
    """The recursion for h and v from rows of d Var(|w|^2) = `initial`.

    seen_by (T, 3T): xb_g1 of batch t times each word as it is before step t; means (T,): xb_g1.B_t xb_g1 without finite
    rank.
    """
    steps = len(batches)
    low, coupling = np.zeros((2 * steps, 3 * steps)), np.zeros((2 * steps, 2 * steps))
    lean, variance = np.zeros(3 * steps), initial
    for t, batch in enumerate(batches):
        here, e = slice(2 * t, 2 * t + 2), batch.rate
        low[2 * t], low[2 * t + 1, 3 * t + 1] = lean, 1.0
        coupling[here, here] = [[0.0, e], [e, e * e * variance]]
        earlier = low[: 2 * t]
        met = earlier @ seen_by[t]
        turned, leaning = coupling[: 2 * t, : 2 * t] @ met, float(lean @ seen_by[t])
        lean = batch.factor * lean + turned @ earlier
        lean[3 * t] += 1.0
        lean[3 * t + 1] += e * (batch.factor * variance + leaning)
        lean[3 * t + 2] += 1.0
        variance = (
            batch.factor**2 * variance + 2.0 * batch.factor * leaning + means[t] + float(met @ turned) + batch.scatter
        )
    return Rows(low, coupling, lean, variance)
