"""Numbers for what one giant step learns: Hermite tensors by product rules, and the gradients of simulated neurons.

Nothing here knows the exact tensors: entries are sums over a grid, ranks are counts of singular values, and learned
directions are those in which the gradients of many neurons differ from zero.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.verify.checks.points import Point
from giantsteps.verify.checks.scaling_check import Scaled
from giantsteps.verify.checks.simulation import column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.gradient_step.leap import HIDDEN, UNCOVERED, first_tensor, one_step
from giantsteps.verify.second_route.grids import Array
from giantsteps.verify.second_route.sampled import series

Target = Callable[..., Array]

# name: function of its directions, their number, and the order below which its parts are subtracted first
TARGETS: Mapping[str, tuple[Target, int, int]] = {
    "staircase": (lambda a, b, c: a + a * b + a * b * c, 3, 1),
    "third-hermite": (lambda a: a**3 - 3 * a, 1, 1),
    "product": (lambda a, b: a * b, 2, 1),
    "diagonal-square": (lambda a, b: (a + b) ** 2, 2, 1),
    "saddle": (lambda a, b: (a - b) * (a + b), 2, 1),
    "product-of-three-and-square": (lambda a, b, c: a * b * c + a * a - 1, 3, 1),
    "parity-of-signs": (lambda a, b: np.sign(a * b), 2, 1),
    "wave": (lambda a, b: np.sin(a) * b, 2, 1),
    "cubic-monomial": (lambda a: a**3, 1, 1),
    "cubic-monomial-preprocessed": (lambda a: a**3, 1, 2),
    "linear-and-square": (lambda a, b: a + b * b - 1, 2, 1),
    "linear-and-square-preprocessed": (lambda a, b: a + b * b - 1, 2, 2),
    "modulus-and-linear-preprocessed": (lambda a, b: np.abs(a) + b, 2, 2),
    "staircase-preprocessed": (lambda a, b, c: a + a * b + a * b * c, 3, 2),
}


def objects(name: str, point: Point) -> dict[str, float]:
    """The leap index and the dimension of the leap space of one target."""
    leap, rank = first_tensor(*TARGETS[name])
    return {s.leap.name: float(leap), s.learned_dimension.name: float(rank)}


# ---- the span of many neurons ----

# name: dimension and samples. Leap one: n = 16 d; leap two: n = 24 d^2.
SPANS: Mapping[str, tuple[int, int]] = {
    "staircase": (600, 9600),
    "product": (48, 55296),
    "diagonal-square": (48, 55296),
    "saddle": (48, 55296),
    "product-of-three-and-square": (48, 55296),
}
NEURONS = 32
# A direction counts as learned if its singular value exceeds this share of the largest: outside the leap space values
# are of order d^(-1/2) = 0.04 to 0.15 times constants of order one, inside the tensors chosen have equal ones.
SHARE = 0.4


@lru_cache(maxsize=64)
def learned(name: str, seed: int) -> int:
    """In how many of the target's directions the gradients of 32 neurons on one batch have a part; relu."""
    function, count, _ = TARGETS[name]
    d, n = SPANS[name]
    rng = np.random.default_rng(np.random.SeedSequence(73, spawn_key=(list(SPANS).index(name), seed)))
    w = rng.standard_normal((NEURONS, d))
    w /= np.linalg.norm(w, axis=1)[:, None]
    total = np.zeros((NEURONS, count))
    for _ in range(0, n, 4096):
        x = rng.standard_normal((4096, d))
        y = function(*x[:, :count].T)
        y = y - y.mean()
        total += (y[:, None] * (x @ w.T > 0)).T @ x[:, :count]
    singular = np.linalg.svd(total, compute_uv=False)
    return int(np.sum(singular > SHARE * singular[0]))


def spans(point: Point) -> dict[str, float]:
    """Learned directions of one draw, the rank of the tensor, and the number of directions."""
    name = str(point["target"])
    return {
        s.learned_dimension.name: float(learned(name, int(str(point["draw"])))),
        s.tensor_rank.name: float(first_tensor(*TARGETS[name])[1]),
        s.target_directions.name: float(TARGETS[name][1]),
    }


# ---- preprocessing ----

# n = 16 d^2 and small overlaps keep corrections, of orders 1/d and tau^2/d, below the errors of the slopes.
_LARGE, _TAU = ((100, 8), (200, 5), (400, 3)), (0.0, 0.7)  # dimensions, and draws per seed of the profile
# Without the linear part the shares scatter by a quarter as much.
_QUIET = ((100, 3), (200, 2), (400, 1))
# n = 8 d^2: at 2 d^2 fluctuations of the signal bias the logarithm, by 0.01 in the slope.
_DIRECT = ((50, 2), (70, 1), (100, 1))


def _second(problem: str, d: int, seed: int) -> tuple[float, tuple[float]]:
    """|pi_2|/|g| at n = 16 d^2, from the law of the experiment given the target's directions, and its control."""
    first, second, rest, control = one_step(problem, _TAU, d, 16 * d * d, seed)
    return second / math.hypot(first, second, rest), (control,)


@lru_cache(maxsize=512)
def _second_fitted(d: int, seed: int) -> tuple[float, tuple[float]]:
    """|pi_2|/|g| for y = x1 + x2^2 - 1 less its linear part as fitted on the same 8 d^2 samples; all coordinates.

    Its control is the same average with x2 left out of the neuron: x2 -> -x2 turns its sign.
    """
    rng = np.random.default_rng(np.random.SeedSequence(74, spawn_key=(d, seed)))
    w = rng.standard_normal(d)
    w[:2] = 0.5, 1.5
    w[2:] *= math.sqrt(d - 2.5) / np.linalg.norm(w[2:])
    x = rng.standard_normal((8 * d * d, d))
    y = x[:, 0] + x[:, 1] ** 2 - 1
    left, field = y - x @ (x.T @ y) / len(y), x @ w
    gradient = (left * (field > 0)) @ x
    control = float(np.mean(left * (field - w[1] * x[:, 1] > 0) * x[:, 1]))
    return float(abs(gradient[1]) / np.linalg.norm(gradient)), (control,)


def preprocessing(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """Shares of the second direction in the gradient: with the linear part, without it, and with it fitted.

    Their logarithms are taken less what is linear in the control.
    """
    column(quantity, s.overlap_rate)

    return {
        name: series(sizes, share, {s.preprocessed.name: done}, profile, controlled=True)
        for name, sizes, share, done in (
            ("labels as they are", _LARGE, partial(_second, HIDDEN), 0.0),
            ("linear part subtracted", _QUIET, partial(_second, UNCOVERED), 1.0),
            ("linear part fitted", _DIRECT, _second_fitted, 1.0),
        )
    }
