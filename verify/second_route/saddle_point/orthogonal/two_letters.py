"""Numbers for two letters over the orthogonal bulk of Appendix D: exact algebra at finite size, and readouts."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Domain, Profile, Range
from giantsteps.verify.protocol.tolerances import ROUNDING
from giantsteps.verify.second_route.grids import normal_line
from giantsteps.verify.second_route.models import Point
from giantsteps.verify.second_route.saddle_point import plain
from giantsteps.verify.second_route.saddle_point.letters import GENERIC_LETTERS
from giantsteps.verify.second_route.values import LETTERS, by_glyph, value

Array = NDArray[np.float64]


# One orthogonal bulk at finite size: the algebra of the rank-one term is exact there.
GIVEN = Domain(
    (
        Range("seed", 0.0, 1e6),
        Range(s.ridge, 0.2, 2.0),
        Range(s.kappa, -1.5, 1.5),
        *(Range(x, 0.5, 1.6) for x in s.c_of),
        *(Range(x, 0.2, 1.2) for x in (s.V1_hat_of[0][0], s.V1_hat_of[1][1], *s.V2_hat_of, *s.zeta_hat_of)),
        Range(s.V1_hat_of[0][1], -0.2, 0.2),
    ),
    (),
    (GENERIC_LETTERS,),
)


def _orthogonal(point: Point) -> Mapping[str, float]:
    """Traces and overlaps of one orthogonal bulk, two groups, v spread evenly over rows; a readout without noise."""
    generator = np.random.default_rng(int(value(point, "seed")))
    p, d, cut = 12, 16, 5
    group = (np.arange(p) >= cut).astype(int)
    c = np.array([value(point, x) for x in s.c_of])[group]
    basis = np.linalg.qr(generator.normal(size=(d, d)))[0]
    W = np.sqrt(c)[:, None] * basis[:p]
    v = basis.sum(axis=0) / np.sqrt(d)
    spike = W @ v
    C = np.array([[value(point, s.V1_hat_of[a][e]) for e in LETTERS] for a in LETTERS])
    shift = value(point, s.ridge) + np.array([value(point, x) for x in s.V2_hat_of])
    bulk = W @ W.T - np.outer(spike, spike)
    S = np.diag(shift[group]) + C[np.ix_(group, group)] * bulk
    hats = np.array([value(point, x) for x in s.zeta_hat_of])[group]
    a = np.sqrt(p) * np.linalg.solve(S, spike * hats)
    values: dict[sp.Symbol, float] = {s.beta: p / d}
    covariance = 0.0
    mu = [[GENERIC_LETTERS[f"mu{j}_{e + 1}"](value(point, s.kappa)) for j in range(3)] for e in LETTERS]
    for e in LETTERS:
        part = group == e
        share = part.mean()
        V_hat = shift[e] - value(point, s.ridge) + C[e, e] * value(point, s.c_of[e])
        values |= {
            s.fraction[e]: share,
            s.V_hat_of_letter[e]: V_hat,
            s.V_of_letter[e]: share / (value(point, s.ridge) + V_hat),
            s.q_hat_of_letter[e]: 0.0,
            s.zeta_of[e]: a[part] @ spike[part] / np.sqrt(p),
            s.q2_of[e]: a[part] @ a[part] / p,
        }
        for f in LETTERS:
            covariance += mu[e][1] * mu[f][1] * float(a[part] @ bulk[np.ix_(part, group == f)] @ a[group == f]) / p
        covariance += mu[e][2] ** 2 * float(a[part] @ a[part]) / p
    values[s.output_variance] = covariance
    values[s_map.row_product] = float(W[1] @ W[2 if point_is_even(point) else 1])
    values[s.replica_delta] = 0.0 if point_is_even(point) else 1.0
    return by_glyph(values)


def point_is_even(point: Point) -> bool:
    """Two different rows, or one row twice."""
    return int(value(point, "seed")) % 2 == 0


def _functions(point: Point) -> Functions:
    return GENERIC_LETTERS


exact = ByNumbers("one orthogonal bulk of twelve rows", _orthogonal, ROUNDING, _functions)


# A model with two letters at gamma = 1, whose zeta is large; the smallest term of its test error is a twentieth of it.
_LETTERS, _BULKS, _ALPHA, _BETA, _RIDGE = np.array([1.2, -1.2]), np.array([1.2, 1.5]), 2.5, 0.8, 0.1


_LINE, _WEIGHT = normal_line(1 / 32, 12.0)


def _student(x: Array) -> Array:
    return np.asarray(np.tanh(x + 0.8), dtype=np.float64)


_MOMENTS = plain.by_sums(_student, 1 / 16)


def _target(kappa: Array) -> Array:
    return np.asarray(3 * kappa * np.exp(-(kappa**2) / 3) + np.cos(kappa) / 2, dtype=np.float64)


def _model_functions() -> Functions:
    return {f"mu{j}_{a + 1}": _function(j, a) for j in range(3) for a in LETTERS} | {"y0": _target}


def _function(j: int, a: int) -> Callable[[Array], Array]:
    def call(kappa: Array) -> Array:
        found = _table(np.asarray(kappa, dtype=float).tobytes())[j][a]
        return np.asarray(
            np.sqrt(np.maximum(found, 0.0)) if j == 2 else found, dtype=np.float64
        )  # rounding where the features saturate

    return call


@lru_cache(maxsize=8)
def _table(raw: bytes) -> tuple[Array, Array, Array]:
    return plain.features(_MOMENTS, np.outer(_LETTERS, np.frombuffer(raw, dtype=np.float64)), _BULKS)


@lru_cache(maxsize=8)
def _solved(share: float) -> Mapping[str, float]:
    """The saddle point by iteration and elimination, signal directions kept."""
    mean, along, square = _table(_LINE.tobytes())
    fractions = np.array([share, 1 - share])
    ratio, target = _ALPHA / _BETA, _target(_LINE)
    f = plain.Along(_LINE[None], _WEIGHT, mean, along, square, target, 0 * target, target**2)

    def law(C: Array, D: Array, start: Array) -> tuple[Array, Array]:
        """One orthogonal bulk: rows of a group are orthogonal to all others."""
        tau = fractions / (_RIDGE + D + _BULKS * np.diag(C))
        return np.diag(_BULKS * tau), tau

    at = plain.settle(f, law, ratio, np.diag(_BULKS * fractions) / _RIDGE, fractions / _RIDGE)
    response, conjugate, weight = at.tau, at.C, _WEIGHT * at.shrink
    own_ = _BETA * np.diag(_BULKS * response)
    overlap = np.linalg.inv(np.linalg.inv(own_) - conjugate)
    features = np.vstack([mean, _LINE * along])
    gram, right = (features * weight) @ features.T, (features * weight) @ target
    system = np.vstack([gram[:2], np.hstack([np.zeros((2, 2)), np.eye(2)]) + ratio * overlap @ gram[2:]])
    m, zeta = np.split(np.linalg.solve(system, np.concatenate([right[:2], ratio * overlap @ right[2:]])), 2)
    error = target - np.concatenate([m, zeta]) @ features
    force = ratio * (_LINE * along * weight) @ error
    drawn = -(zeta**2) / (_BETA * _BULKS * fractions)
    signal = np.array([(_BULKS * np.diag(C) + D) @ drawn for C, D in plain.units(2)])
    q = plain.sizes(f, at, ratio, *plain.slopes(law, at.C, at.D, at.tau), error**2 - (zeta @ along) ** 2, signal)[1]
    values: dict[sp.Symbol, float] = {s.alpha: _ALPHA, s.beta: _BETA, s.ridge: _RIDGE, s.noise: 0.0}
    for a in LETTERS:
        values |= {
            s.fraction[a]: fractions[a],
            s.c_of[a]: _BULKS[a],
            s.V_of_letter[a]: response[a],
            s.m_of[a]: m[a],
            s.zeta_of[a]: zeta[a],
            s.zeta_hat_of[a]: force[a],
            s.q2_of[a]: q[a],
        }
        for e in LETTERS:
            values[s.V1_hat_of[a][e]] = conjugate[a, e]
    return by_glyph(values)


@lru_cache(maxsize=4096)
def _experiment(dimension: int, seed: int) -> tuple[float, float]:
    """zeta of the first letter and the test error of one readout over an orthogonal bulk."""
    generator = np.random.default_rng((158, dimension, seed))
    p = round(_BETA * dimension)
    group = (np.arange(p) >= p // 2).astype(int)
    rows = (
        np.linalg.qr(generator.normal(size=(dimension, p)))[0].T * np.where(generator.random(p) < 0.5, -1, 1)[:, None]
    )
    W = np.sqrt(_BULKS)[group][:, None] * rows
    first = W.copy()
    first[:, 0] += _LETTERS[group]
    x = generator.normal(size=(round(_ALPHA * dimension), dimension))
    features = _student(x @ first.T) / np.sqrt(p)
    a = np.linalg.solve(features.T @ features + _RIDGE * np.eye(p), features.T @ _target(x[:, 0]))
    fresh = generator.normal(size=(4 * dimension, dimension))
    error = np.mean((_target(fresh[:, 0]) - _student(fresh @ first.T) @ a / np.sqrt(p)) ** 2)
    part = group == 0
    return float(a[part] @ W[part, 0] / np.sqrt(p)), float(error)


def simulated(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """zeta of the first letter or the test error, at a quarter of the profile's dimensions with many seeds."""
    at = column(quantity, s.zeta_of[0], s.test_error)

    def one(share: float, d: int) -> Measured:
        samples = tuple(_experiment(d, seed)[at] for seed in profile.draws(32))
        return Measured(d, samples, _solved(share), _model_functions())

    return at_sizes({"letters 1.2 and -1.2, gamma = 1": 0.5}, profile, one, 4)
