"""Rows drawn with given covariances, tied to given norms, and the overlaps of one letter's bulk on them.

On real networks the overlaps of the target with the spike and with the norms are a few per cent of the geometric mean
of their diagonal entries, too small to be measured at an affordable size, and what the other overlaps owe to them is
less still. The equivalent holds for any law of the rows: here is one, bounded in the share of the spectrum, under which
they are large. What the norms do not owe to the rows is averaged exactly, not drawn, and products of the rows, whose
means are known, steady the rest.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.second_route.gradient_step.real import positive_inverse
from giantsteps.verify.second_route.grids import Array
from giantsteps.verify.second_route.networks.letter_numbers import SPECTRAL, spectrum_nodes
from giantsteps.verify.second_route.sampled import Sampled
from giantsteps.verify.second_route.values import by_glyph


@dataclass(frozen=True)
class Law:
    """beta, the weight of the batch in the rows, the variance of their norms, and the conjugate and shift they meet."""

    beta: float
    weight: float
    norm_variance: float
    conjugate: float
    shift: float


LAWS = {
    "wide": Law(2.0, 1.0, 0.7, 1.0, 0.6),
    "narrow": Law(0.8, 1.5, 0.6, 1.5, 0.4),
}
COLUMNS = (s.overlap_vp, s.overlap_pd, s.overlap_pp, s.overlap_vd, s.overlap_dd)


@dataclass(frozen=True)
class Spectrum:
    """At d modes: the rows' variances, v and theta_perp of unit length, and the vector h that ties norms to rows."""

    forms: Array
    v: Array
    perp: Array
    tie: Array


@lru_cache(maxsize=16)
def spectrum(law: Law, d: int) -> Spectrum:
    """The spectrum and vectors of two letters, for one."""
    nodes = spectrum_nodes(d)
    v, f, h = (SPECTRAL[name](nodes) / math.sqrt(d) for name in ("f_1", "f_2", "f_2"))
    v = v / np.linalg.norm(v)
    perp = f - (f @ v) * v
    return Spectrum(1 + law.weight * SPECTRAL["varrho"](nodes), v, perp / np.linalg.norm(perp), h)


_PRODUCTS = ((0, 0), (0, 1), (0, 2), (1, 1), (1, 2), (2, 2))


def drawn(law: Law, d: int, seed: int) -> tuple[Array, Array]:
    """COLUMNS of one drawing, averaged over what the norms do not owe to the rows, and controls of mean zero.

    With W v, W theta_perp and the norms delta, and G the resolvent without the direction v. The controls are products
    of W v, W theta_perp and the part W t of the norms, minus their means: p/d times the forms of the rows' covariance.
    """
    at, p = spectrum(law, d), round(law.beta * d)
    rng = np.random.default_rng(np.random.SeedSequence(89, spawn_key=(d, seed)))
    rows = rng.standard_normal((p, d)) * np.sqrt(at.forms / d)
    vectors = np.stack([at.v, at.perp, at.tie / at.forms], axis=1)
    columns = rows @ vectors
    S = law.conjugate * (rows @ rows.T - np.outer(columns[:, 0], columns[:, 0])) + law.shift * np.eye(p)
    inverse = positive_inverse(S)
    K = columns.T @ inverse @ columns
    left = law.norm_variance - float(at.tie**2 @ (1 / at.forms))
    K[2, 2] += left / d * np.trace(inverse)
    products = columns.T @ columns - p / d * vectors.T @ (at.forms[:, None] * vectors)
    return np.array([K[0, 1], K[1, 2], K[1, 1], K[0, 2], K[2, 2]]), np.array([products[i] for i in _PRODUCTS])


@lru_cache(maxsize=64)
def formulas(law: Law, d: int) -> Mapping[str, float]:
    """V2 by bisection of its equation as it stands, and the forms of v, theta_perp and h in the rows' resolvent."""
    at, beta = spectrum(law, d), round(law.beta * d) / d
    low, high = 0.0, 1.0 / law.shift
    for _ in range(60):
        V2 = 0.5 * (low + high)
        gain = law.conjugate * beta * V2
        trace = float(np.mean(1 / (1 + gain * at.forms)))
        above = V2 * (law.shift + law.conjugate * (1 - trace) / gain) > 1.0
        low, high = (low, V2) if above else (V2, high)
    weight = 1 / (1 + gain * at.forms)
    pairs = {
        s.row_vv: (at.v, at.v), s.row_vp: (at.v, at.perp), s.row_pp: (at.perp, at.perp),
        s.row_vh: (at.v, at.tie), s.row_ph: (at.perp, at.tie), s.row_hh: (at.tie, at.tie),
    }  # fmt: skip
    values = {symbol.name: float(first * weight @ second) for symbol, (first, second) in pairs.items()}
    given = {
        s.V2: V2, s.gain: gain, s.row_trace: trace, s.norm_variance: law.norm_variance, s.V1_hat: law.conjugate,
        s.V2_hat: 0.4 * law.shift, s.ridge: 0.6 * law.shift, s.beta: beta,
    }  # fmt: skip
    return values | by_glyph(given)


# At a quarter of the profile's dimensions and many seeds.
DRAWN_ROWS = Sampled(COLUMNS, LAWS, drawn, lambda law, d: (formulas(law, d), {}), draws=24, share=4, controlled=True)
