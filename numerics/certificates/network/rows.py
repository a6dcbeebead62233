"""The law of a network's rows after its step as balls; one group.

The averages of s = sigma' - h1 - E[sigma''] z are expanded in moments E[z^n sigma'^k], which are certified. h and v_c
are written down once more here (notation of `numerics.bulk.network_law`), so that doubles and balls check each other.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
from flint import arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.balls.integrals import Moment, expectations
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.solution import Solution

Ball = Any
Objects = Any

# E[z^n sigma'^k] with n + k <= 4 is all that the averages of s need.
_SLOPES = tuple((n, k) for k in (1, 2, 3, 4) for n in range(5 - k))
_POWERS_OF_Z = (1, 0, 1, 0, 3, 0, 15)


@dataclass(frozen=True, eq=False)
class RowsLaw:
    """The rows' law and the map of the readout: spike r, c and gamma as the step makes them, not as doubles.

    vectors (4, 4): v, theta_perp, w_f' and w_f of h = P w_f + w_f' on (theta, n_1, n_2, n_3).
    """

    spike: Ball
    bulk: Ball
    alignment: Ball
    omega: Ball
    batch_ratio: Ball
    turn: Ball
    vectors: Objects
    norm_variance: Ball

    @property
    def independent(self) -> tuple[float, float, float]:
        """Rows of equal length before the step have no part that is independent of all else."""
        return (0.0, 0.0, 0.0)

    @property
    def root(self) -> float:
        """P = 1 + nu M of a step."""
        return 1.0


@dataclass(frozen=True)
class SlopeBalls:
    """h1, E[sigma''] and E[sigma], and E[z^j s^k] for the (j, k) that h and v_c ask for."""

    mean: Ball
    h1: Ball
    curvature: Ball
    of: dict[tuple[int, int], Ball]


@lru_cache(maxsize=16)
def slope_balls(activation: Activation, bits: int) -> SlopeBalls:
    """Certified balls, at the precision in force. Raises BallError where there are none."""
    wanted = (Moment(0, 1), Moment(1, 1), Moment(2, 1), *(Moment(n, 0, k) for n, k in _SLOPES))
    found = expectations(activation, wanted, bits=bits)
    mean, h1, curvature = found[:3]
    hermite = dict(zip(_SLOPES, found[3:], strict=True))

    def power(n: int, k: int) -> Ball:
        """E[z^n sigma'^k]."""
        if k == 0:
            return arb(_POWERS_OF_Z[n])
        lower = {0: 0, 1: 0, 2: 1, 3: 3}[n]
        return hermite[n, k] + (lower * hermite[n - 2, k] if lower else 0)

    def of(j: int, k: int) -> Ball:
        """E[z^j (sigma' - h1 - curvature z)^k], j + k <= 4."""
        total = arb(0)
        for flat, bent in product(range(k + 1), repeat=2):
            if flat + bent <= k:
                ways = math.comb(k, flat) * math.comb(k - flat, bent)
                total += ways * (-h1) ** flat * (-curvature) ** bent * power(j + bent, k - flat - bent)
        return total

    return SlopeBalls(mean, h1, curvature, {(j, k): of(j, k) for k in (1, 2, 3, 4) for j in range(5 - k)})


def rows_map(slope: SlopeBalls, e: Any, alpha0: Any, mean: Any, second: Any, tilt: Any) -> tuple[Any, Any, Any]:
    """Spike, bulk and alignment (Result 3.1, any activation) from E[Y], E[Y^2] and E[u Y]; numbers of any kind."""
    size, kept = (tilt * tilt + second / alpha0).sqrt(), 1 + e * slope.curvature * mean
    bulk = kept * kept + e * e * ((slope.of[0, 2] + slope.curvature * slope.curvature) * second / alpha0)
    return e * slope.h1 * size, bulk, tilt / size


def rows_law(slope: SlopeBalls, e: Ball, alpha0: Ball, mu: list[Ball], tilt: list[Ball]) -> RowsLaw:
    """The law from the averages of s, of Y^k (k = 0, .., 4) and of u Y^k (k = 1, 2, 3; the first entry is not used)."""
    nu, omega = e * slope.curvature, e * e * slope.of[0, 2] / alpha0
    kept = 1 + nu * mu[1]
    size = (tilt[1] ** 2 + mu[2] / alpha0).sqrt()
    across = (mu[2] / alpha0).sqrt()
    spike, bulk, gamma = rows_map(slope, e, alpha0, mu[1], mu[2], tilt[1])
    pulled, added = _norm_on_row(slope, e, alpha0, nu, kept)
    on_theta = [sum((f * t for f, t in zip(poly, tilt[1:], strict=True)), arb(0)) for poly in (added, pulled)]
    vectors = [
        [gamma, 1 / size, arb(0), arb(0)],
        [across / size, -gamma / across, arb(0), arb(0)],
        [on_theta[0], *added],
        [on_theta[1], *pulled],
    ]
    return RowsLaw(
        spike=spike,
        bulk=bulk,
        alignment=gamma,
        omega=omega,
        batch_ratio=alpha0,
        turn=nu,
        vectors=np.array(vectors, dtype=object),
        norm_variance=_norm_variance(slope, e, alpha0, nu, mu, tilt),
    )


def _norm_on_row(slope: SlopeBalls, e: Ball, alpha0: Ball, nu: Ball, kept: Ball) -> tuple[list[Ball], list[Ball]]:
    """f and f' of h = P w_f + w_f' on (Y, Y^2, Y^3): f = 2 e k2 Y pi + (e^2/alpha0) E[z s^2] Y^2 and f' = e k2 Y dP +
    (2 e^2/alpha0) E[z s^2] Y^2 pi + (e^3/alpha0^2) E[s^3] Y^3, k2 = E[z^2 s]."""
    k2, tilted, cube = slope.of[2, 1], slope.of[1, 2], slope.of[0, 3]
    pulled = [2 * e * k2 * kept, 2 * e * k2 * nu / alpha0 + e**2 * tilted / alpha0, arb(0)]
    second = 2 * e * k2 * nu * kept / alpha0 + 2 * e**2 * tilted * kept / alpha0
    third = e * k2 * (nu / alpha0) ** 2 + 2 * e**2 * tilted * nu / alpha0**2 + e**3 * cube / alpha0**2
    return pulled, [arb(0), second, third]


def _norm_variance(slope: SlopeBalls, e: Ball, alpha0: Ball, nu: Ball, mu: list[Ball], tilt: list[Ball]) -> Ball:
    """v_c, with pi = 1 + nu (E[Y] + Y/alpha0) and dP = 2 nu (1 + nu E[Y]) Y/alpha0 + (nu Y/alpha0)^2."""
    s, kept = slope.of, 1 + nu * mu[1]
    flat, bent = 2 * nu * kept / alpha0, (nu / alpha0) ** 2

    def with_pi(power: int, of: list[Ball]) -> Ball:
        """E[. Y^power pi]."""
        return kept * of[power] + nu / alpha0 * of[power + 1]

    pi_squared = kept**2 * mu[2] + 2 * kept * nu / alpha0 * mu[3] + (nu / alpha0) ** 2 * mu[4]
    pi_stretch = flat * with_pi(2, mu) + bent * with_pi(3, mu)
    along = with_pi(1, tilt)
    cumulants = [arb(0), mu[1], *(mu[n] / alpha0 ** (n - 1) for n in (2, 3, 4))]
    _, m, c2, c3, c4 = cumulants
    traces = [
        arb(1), m, c2 + m**2, c3 + 3 * c2 * m + m**3,
        c4 + 4 * c3 * m + 2 * c2**2 + 6 * c2 * m**2 + m**4,
    ]  # fmt: skip
    square = sum((math.comb(2, n) * nu**n * traces[n] for n in range(3)), arb(0))
    fourth = sum((math.comb(4, n) * nu**n * traces[n] for n in range(5)), arb(0))
    return (
        2 * (fourth - square**2)
        + 4 * e * s[3, 1] * pi_stretch
        + 4 * e**2 / alpha0 * (pi_squared * s[2, 2] + nu**2 * mu[2] ** 2 / alpha0 * s[0, 2])
        + 4 * e**2 * s[2, 1] ** 2 * along**2
        + 2 * e**2 / alpha0 * (s[2, 2] - s[0, 2]) * (flat * mu[3] + bent * mu[4])
        + 4 * e**3 / alpha0**2 * s[1, 3] * with_pi(3, mu)
        + 4 * e**3 / alpha0 * s[2, 1] * s[1, 2] * along * tilt[2]
        + e**4 * mu[4] * (s[0, 4] - s[0, 2] ** 2) / alpha0**3
        + e**4 / alpha0**2 * s[1, 2] ** 2 * tilt[2] ** 2
        + 2 * e**4 * mu[2] ** 2 * s[0, 2] ** 2 / alpha0**2
    )


def network_start(model: Model, solution: Solution) -> tuple[float, float, float, float]:
    """T, tau, b1 and b2 of a solution in double precision: where a certificate begins.

    Raises ModelError for a step that makes no spike.
    """
    if model.slopes[0] == 0.0:
        raise ModelError(
            "certificates of a network's own bulk require a step that makes a spike, E[sigma'] != 0, for example "
            "relu(z)"
        )
    order = solution.order_parameters
    bulk = equivalent_of(model, model.ridge)
    assert isinstance(bulk, NetworkBulk)
    point = bulk.at(np.array([order.conjugates.C[0, 0], order.conjugates.D[0]]))
    _, b1, b2 = (float(q) for q in point.solution)
    return float(order.V1[0, 0]), float(order.V2[0]), b1, b2
