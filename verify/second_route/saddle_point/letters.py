"""Numbers for Appendix D: random models with two letters, their functions along the spike from definitions, and one
given bulk, whose traces are summed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled.along import evaluated
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.models import GENERIC, SMOOTH, functions_of, problem
from giantsteps.verify.second_route.models import model_at as one_letter
from giantsteps.verify.second_route.values import LETTERS, PAIRS, by_glyph, generator_at, value

Array = NDArray[np.float64]

# Functions for witnesses against false statements: generic, smooth, different for the two letters.
GENERIC_LETTERS: Mapping[str, Callable[..., Any]] = {
    **GENERIC,
    "mu0_1": lambda x: np.tanh(x) + 0.2 * np.cos(x),
    "mu1_1": lambda x: 0.3 + np.exp(-0.4 * x * x),
    "mu2_1": lambda x: 0.5 + 0.1 * np.sin(x),
    "mu0_2": lambda x: np.sin(x) - 0.3 * np.cos(2 * x),
    "mu1_2": lambda x: 0.8 - 0.3 * np.exp(-0.2 * x * x),
    "mu2_2": lambda x: 0.4 + 0.2 * np.cos(x),
    "sigma": lambda x: np.tanh(x) + 0.1 * x,
}
PLAIN = Domain(interpretations=(GENERIC_LETTERS,))
DOMAIN = Domain(
    ranges=(
        *problem(SMOOTH, SMOOTH, (0.5, 4.0), (0.4, 2.5), (0.05, 5.0)),
        Range(s.gamma, -0.9, 0.9),
        Range(s.r, 0.7, 1.4),
        Range(s.letter[0], 0.5, 1.5),
        Range(s.letter[1], -0.4, 0.3),
        Range(s.c_of[0], 0.6, 1.6),
        Range(s.c_of[1], 0.6, 1.6),
        Range(s.fraction[0], 0.25, 0.75),
    ),
    interpretations=(GENERIC_LETTERS,),
)


def model_at(point: Point) -> Model:
    """The model with two letters at a point."""
    share = value(point, s.fraction[0])
    groups = (
        ReadoutGroup(value(point, letter), fraction, value(point, c))
        for letter, fraction, c in zip(s.letter, (share, 1.0 - share), s.c_of, strict=True)
    )
    return one_letter({**point, s.c.name: 1.0}).changed(readout=tuple(groups))


def functions_at(point: Point) -> Mapping[str, Callable[..., Any]]:
    """mu0, mu1, mu2 of either letter and y0, y1, y2 of the model at a point, and its activation."""
    model = model_at(point)
    return {**functions_of(model), "sigma": partial(evaluated, model.activation.expression)}


# One given bulk: the traces of the saddle point at finite size, and derivatives of the entropic term by differences.
GIVEN_BULK = Domain(
    ranges=(
        Range("rows", 6.0, 18.0),
        Range("columns", 6.0, 18.0),
        Range("seed", 0.0, 1e6),
        Range(s.ridge, 0.3, 3.0, log=True),
    )
)
_STEP = 1e-5


def given_bulk(point: Point) -> Mapping[str, float]:
    """Traces of one random bulk with two groups at random conjugates, and what stationarity makes of them.

    q1, q2 and V1, V2, zeta, psi are derivatives of the entropic term in their conjugates, by central differences.
    """
    generator = generator_at(point)
    p, d = int(value(point, "rows")), int(value(point, "columns"))
    ridge = value(point, s.ridge)
    group = np.arange(p) >= p // 3
    W = generator.normal(size=(p, d)) / np.sqrt(d)
    v, u = np.linalg.qr(generator.normal(size=(d, 2)))[0].T
    spike, target = W @ v, W @ u
    omega = W @ W.T - np.outer(spike, spike)
    hats = _random_conjugates(generator)
    select = [np.diag((group == bool(a)).astype(float)) for a in LETTERS]

    def blocks(pairs: tuple[tuple[Any, ...], ...], own: tuple[Any, ...], h: Mapping[Any, float]) -> Array:
        total = sum(h[own[a]] * select[a] for a in LETTERS)
        return np.asarray(total + sum(h[pairs[a][b]] * select[a] @ omega @ select[b] for a in LETTERS for b in LETTERS))

    def force(names: tuple[Any, ...], direction: Array, h: Mapping[Any, float]) -> Array:
        return np.where(group, h[names[1]], h[names[0]]) * direction

    def parts(h: Mapping[Any, float]) -> tuple[Array, Array]:
        G = np.asarray(np.linalg.inv(ridge * np.eye(p) + blocks(s.V1_hat_of, s.V2_hat_of, h)), dtype=np.float64)
        zeta, psi = force(s.zeta_hat_of, spike, h), force(s.psi_hat_of, target, h)
        # The cross terms of v and theta_perp vanish only in the limit: they are left out, as in the free energy.
        return G, blocks(s.q1_hat_of, s.q2_hat_of, h) + p * (np.outer(zeta, zeta) + np.outer(psi, psi))

    def entropic(h: Mapping[Any, float]) -> float:
        G, K = parts(h)
        return float(np.trace(K @ G)) / (2 * p)

    def slope(symbol: Any) -> float:
        up, down = ({**hats, symbol: hats[symbol] + sign * _STEP} for sign in (1, -1))
        return (entropic(up) - entropic(down)) / (2 * _STEP)

    G, K = parts(hats)
    double = G @ K @ G
    values: dict[Any, float] = {**hats, s.entropic_term: entropic(hats)}
    for a in LETTERS:
        values |= {
            s.trace_letter[a]: np.trace(select[a] @ G) / p,
            s.double_letter[a]: np.trace(select[a] @ double) / p,
            s.V2_of[a]: 2 * slope(s.q2_hat_of[a]),
            s.q2_of[a]: -2 * slope(s.V2_hat_of[a]),
            s.zeta_of[a]: slope(s.zeta_hat_of[a]),
            s.psi_of[a]: slope(s.psi_hat_of[a]),
        }
    for a, b in PAIRS:
        count = 1 if a == b else 2
        block = select[a] @ omega @ select[b]
        values |= {
            s.trace_block[a][b]: np.trace(block @ G) / p,
            s.double_block[a][b]: np.trace(block @ double) / p,
            s.spike_block[a][b]: spike @ select[a] @ G @ select[b] @ spike,
            s.target_block[a][b]: target @ select[a] @ G @ select[b] @ target,
            s.V1_of[a][b]: 2 * slope(s.q1_hat_of[a][b]) / count,
            s.q1_of[a][b]: -2 * slope(s.V1_hat_of[a][b]) / count,
        }
    return by_glyph(values)


def _random_conjugates(generator: np.random.Generator) -> dict[Any, float]:
    singles = (*s.zeta_hat_of, *s.psi_hat_of, *s.q2_hat_of, *s.V2_hat_of)
    hats: dict[Any, float] = {symbol: float(generator.uniform(0.3, 1.2)) for symbol in singles}
    for pairs in (s.q1_hat_of, s.V1_hat_of):
        own = generator.uniform(0.5, 1.5, size=2)
        hats |= {pairs[0][0]: float(own[0]), pairs[1][1]: float(own[1])}
        hats[pairs[0][1]] = float(generator.uniform(-0.8, 0.8) * np.sqrt(own[0] * own[1]))
    return hats
