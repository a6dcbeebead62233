"""Claims about the terms that Appendix C drops: their order in d on finite bulks, (99), (105), (111)-(113)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.free_energy import dropped_terms
from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.saddle_point import any_law as spectral
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.scaling_check import ByScaling, Scaled
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Profile, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import QUADRATURE
from giantsteps.verify.second_route.grids import Array

APPENDIX = "Appendix C"
HALF, ONE = sp.Rational(1, 2), sp.S.One
# Terms that fluctuate as much as they are large need many directions. The others have corrections of order 1/d: few
# directions keep these below the noise.
_DIRECTIONS, _FEW, _FEWEST = 1500, 40, 25
# Each spike is taken with several constant vectors: with all of them the corrections of order 1/d would show.
_CONSTANTS = 5
_SHAPE = 0.8  # p/d


def _unit(generator: np.random.Generator, *shape: int) -> Array:
    """Columns of unit length in directions that are uniform."""
    x = generator.standard_normal(shape)
    return np.asarray(x / np.linalg.norm(x, axis=0))


@lru_cache(maxsize=256)
def _terms(dimension: int, seed: int) -> Mapping[sp.Symbol, float]:
    """The five terms of one bulk at unit conjugates: root mean squares, or means, over pairs of directions.

    Changing the signs of rows gives bulks of the same law and spectrum: the constant vector then has any signs.
    """
    generator = np.random.default_rng([dimension, seed])
    p = round(_SHAPE * dimension)
    W = _unit(generator, dimension, p).T
    v, theta = _unit(generator, dimension, _DIRECTIONS), _unit(generator, dimension, _DIRECTIONS)
    theta -= v * np.sum(v * theta, axis=0)
    theta /= np.linalg.norm(theta, axis=0)
    signs = np.sign(generator.standard_normal((p, _DIRECTIONS)))
    bulk = W @ W.T
    spikes = W @ v
    G0 = np.linalg.inv(0.5 * np.eye(p) + bulk)
    G0s = G0 @ spikes
    own = np.sum(spikes * G0s, axis=0)
    constants = [np.sum(np.roll(signs, k, axis=1) * G0s, axis=0) for k in range(_CONSTANTS)]
    constant = constants[0]
    few, fewest = slice(_FEW), slice(_FEWEST)
    # (1/p) 1.G 1 by Sherman-Morrison for each spike.
    ones = np.sum(signs[:, fewest] * (G0 @ signs[:, fewest]), axis=0) + constant[fewest] ** 2 / (1 - own[fewest])
    noise = np.sum(G0s[:, few] * (bulk @ G0s[:, few] + G0s[:, few]), axis=0)
    return {
        s.rate_cross: float(np.sqrt(np.mean((constants / (1 - own)) ** 2) / p)),
        s.rate_m_hat: float(np.mean(np.sqrt(p) / ones)),
        s.rate_psi_spike: float(np.mean(np.sum((W @ theta) * G0s, axis=0) ** 2)),
        s.rate_q_spike: float(np.mean(noise) / p),
        s.rate_zeta_spike: float(np.mean(own[few] ** 2)),
    }


def _experiment(rate: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    first, *middle, last = profile.dimensions
    dimensions = (first // 2, *(d // 2 for d in middle), last)
    samples = tuple(tuple(_terms(d, seed)[rate] for seed in profile.draws(1)) for d in dimensions)
    return {"rows on the sphere, p = 0.8 d": Scaled(dimensions, samples, {})}


def _dropped(name: str, title: str, number: int, rate: sp.Symbol, exponent: sp.Expr, note: str) -> Claim:
    return claim(
        f"dropped.{name}", title, paper(APPENDIX, number),
        eq(rate, exponent),
        Domain(hypotheses=("rows of the bulk uniform on a sphere, independent of spike and target",)),
        ByScaling("random bulks", _experiment),
        kind=Kind.CONCENTRATION,
        wrong={"half an order more": exponent + HALF, "half an order less": exponent - HALF},
        note=note,
    )


_SCALING = (
    _dropped(
        "cross-term", "The cross term of the constant vector and the spike vanishes like d^(-1/2)", 99, s.rate_cross,
        -HALF, "A step of the paper that is heuristic: terms kept are of order one.",
    ),
    _dropped(
        "m-hat", "The conjugate of m vanishes like d^(-1/2)", 105, s.rate_m_hat, -HALF,
        "So the readout mean costs nothing at leading order, and is not regularised.",
    ),
    _dropped(
        "target-at-spike", "The target's force at the spike vanishes like 1/d: spike and theta_perp are orthogonal",
        111, s.rate_psi_spike, -ONE, "Neglected in the paper.",
    ),
    _dropped(
        "noise-at-spike", "The noise's share of the spike's correction vanishes like 1/d", 112, s.rate_q_spike, -ONE,
        "Neglected in the paper.",
    ),
    _dropped(
        "spike-at-spike", "The spike's own term stays of order one", 113, s.rate_zeta_spike, sp.S.Zero,
        "The only one of the three that is kept.",
    ),
)

# ---- what m^ is, and what is kept ----

_MATRICES = Domain((Range("rows", 5.0, 30.0), Range("columns", 5.0, 30.0), Range("seed", 0.0, 1e6)))


def finite_bulk(point: Point) -> Mapping[str, float]:
    """One Gaussian bulk: (Wv).G0 Wv by solving a linear system; the integral I over its eigenvectors by numpy."""
    generator = np.random.default_rng(int(float(point["seed"])))
    p, d = int(float(point["rows"])), int(float(point["columns"]))
    W = generator.standard_normal((p, d)) / np.sqrt(d)
    v = _unit(generator, d, 1)[:, 0]
    eigenvalues, vectors = np.linalg.eigh(W.T @ W)
    # Right singular vectors with tau = sqrt(d) f.v; a factor 1/p stands for the law of all p modes.
    integral = float(np.sum(eigenvalues * d * (vectors.T @ v) ** 2 / (0.5 + 0.8 * eigenvalues))) / p
    spike = W @ v
    resolvent = spike @ np.linalg.solve(0.5 * np.eye(p) + 0.8 * W @ W.T, spike)
    return {s.beta.name: p / d, s.spike_integral.name: integral, s.spike_resolvent.name: float(resolvent)}


_KEPT = (
    claim(
        "dropped.m-hat-equation", "The conjugate of m from stationarity", paper(APPENDIX),
        eq(s_free.m_hat, s.m / (sp.sqrt(s.p) * s_free.ones_resolvent)), Domain(),
        ByDerivation(dropped_terms.m_hat),
    ),
    claim(
        "spectral.spike-integral",
        "The spike's form in the resolvent is beta times its integral over the law of the bulk", paper(APPENDIX, 115),
        eq(s.spike_resolvent, s.beta * s.spike_integral), _MATRICES,
        ByDerivation(spectral.spike_integral), ByNumbers("eigenvectors of random matrices", finite_bulk, QUADRATURE),
        uses=("definitions.I",),
    ),
)

CLAIMS: tuple[Claim, ...] = (*_SCALING, *_KEPT)
