"""One giant step on a neuron of a multi-index problem, from definitions: product rules, and simulation at large d.

A gradient depends on a sample only through the target's directions, the neuron's own, and a Gaussian vector in the
remaining dimensions that is independent of label and slope. Given those, the last part of the gradient is exactly
Gaussian with variance sum b^2/n^2 per coordinate, b = y sigma'(w.x); its length is drawn, not its coordinates. This has
the law of the full experiment at any d, for the cost of one in three dimensions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, partial, reduce

import numpy as np
import sympy as sp

from giantsteps.derivations.bounds import symbols as s_bounds
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.verify.checks.points import Point
from giantsteps.verify.checks.scaling_check import Scaled
from giantsteps.verify.checks.simulation import column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.grids import Array, average, grid, half_line
from giantsteps.verify.second_route.sampled import series
from giantsteps.verify.second_route.values import value

he = np.polynomial.hermite_e


# ---- Hermite tensors ----


@lru_cache(maxsize=4)
def _rule(count: int) -> tuple[Array, Array]:
    """Points (count, N) and weights of a product rule; of up to three half lines, where targets may jump at zero."""
    if count > 3:
        points, weights = grid(count)
        return points.T, weights
    panels, nodes = {1: (24, 12), 2: (16, 10), 3: (8, 10)}[count]
    half, weight = half_line(panels, nodes)
    line, density = np.concatenate([-half[::-1], half]), np.concatenate([weight[::-1], weight])
    return np.stack([x.ravel() for x in np.meshgrid(*[line] * count, indexing="ij")]), reduce(
        np.multiply.outer, [density] * count
    ).ravel()


def _polynomial(index: tuple[int, ...], points: Array) -> Array:
    """The product of He_n, n the number of times that each direction occurs in ``index``."""
    factors = (he.hermeval(points[j], [0.0] * index.count(j) + [1.0]) for j in range(len(points)))
    return np.asarray(math.prod(factors))


# Eight panels of ten nodes on [0, 12] integrate the density times a sextic to 1e-9.
_ZERO = 1e-6


@lru_cache(maxsize=64)
def first_tensor(target: Callable[..., Array], count: int, first: int = 1) -> tuple[int, int]:
    """Leap index, and rank of the unfolded first Hermite tensor, of a function of so many directions less its parts of
    order below ``first``: means of the function times a product of Hermite polynomials, order by order.
    """
    points, weights = _rule(count)
    values = target(*points)
    for order in range(1, 7):
        entries = {
            index: float(weights @ (values * _polynomial(index, points)))
            for index in itertools.combinations_with_replacement(range(count), order)
        }
        if order < first:
            for index, entry in entries.items():
                polynomial = _polynomial(index, points)
                values = values - entry * polynomial / math.prod(math.factorial(index.count(j)) for j in range(count))
            continue
        tensor = [entries[tuple(sorted(index))] for index in itertools.product(range(count), repeat=order)]
        singular = np.linalg.svd(np.reshape(tensor, (count, -1)), compute_uv=False)
        if singular[0] > _ZERO:
            return order, int(np.sum(singular > _ZERO))
    raise ValueError("no Hermite tensor up to order six")


def _hermite(order: int, z: Array) -> Array:
    return np.asarray(he.hermeval(z, [0.0] * order + [1.0]))


TENSOR_TARGETS: dict[str, tuple[Callable[..., Array], int]] = {
    "staircase": (lambda a, b, c: a + a * b + a * b * c, 3),
    "product of four": (lambda a, b, c, d: a * b * c * d, 4),
    **{f"He_{k}": (partial(_hermite, k), 1) for k in range(1, 7)},
}


def leap_of(target: str, point: Point) -> dict[str, float]:
    """The leap index of one target; for He_k of the order at the point."""
    name = target.format(point.get("order", ""))
    values = {s.leap.name: float(first_tensor(*TENSOR_TARGETS[name])[0])}
    return values | ({s.taylor_order.name: float(str(point["order"]))} if "order" in point else {})


def second_order_part(point: Point) -> dict[str, float]:
    """The part of order two of cos(a z1 + b z2) + z1 z2^2, by least squares on a product rule, at a random argument."""
    a, b = value(point, s_bounds.b1), value(point, s_bounds.b2)
    x = np.array([[value(point, q) for q in s.argument]])
    points, weights = grid(2)

    def basis(z: Array) -> Array:
        one, two = z[:, 0], z[:, 1]
        lower = [np.ones_like(one), one, two]
        return np.stack([*lower, one**2 - 1, one * two, two**2 - 1], axis=1)

    values = np.cos(a * points[:, 0] + b * points[:, 1]) + points[:, 0] * points[:, 1] ** 2
    root = np.sqrt(weights)[:, None]
    found = np.linalg.lstsq(root * basis(points), root[:, 0] * values, rcond=None)[0]
    entries = basis(points)[:, 3:].T @ (weights * values)
    named = {t.name: float(v) for t, v in zip(s.tensor_2, entries, strict=True)}
    return {**named, s.second_order_part.name: float(basis(x)[0, 3:] @ found[3:])}


# ---- limits of signal and noise ----

LARGE = 1e4  # sqrt(d); corrections are of order 1/sqrt(d)
# Up to thirty times 1/sqrt(d) at leap one and two, 1/d at leap three, where rounding is magnified by d.
ROOT_D = {1: 1e6, 2: 1e6, 3: LARGE}


def _series(point: Point, orders: int) -> list[float]:
    """sigma' as a Hermite series of so many orders, from orthonormal coefficients of sigma."""
    return [
        value(point, s.hermite_coefficients[k + 1]) * math.sqrt(math.factorial(k + 1)) / math.factorial(k)
        for k in range(orders)
    ]


def mean_gradient(leap: int, point: Point) -> dict[str, float]:
    """d^((l-1)/2) E[y sigma'(w.x) x_1] at large sqrt(d): three-dimensional product rule over target and neuron."""
    points, weights = grid(3)
    z1, z2, across = points.T
    one, two = (value(point, t) / ROOT_D[leap] for t in s.leap_overlaps)
    tensors = {1: s.tensor_1, 2: s.tensor_2, 3: s.tensor_3}
    target = np.zeros_like(z1)
    for order in range(leap, 4):
        for j, entry in enumerate(tensors[order]):
            polynomial = he.hermeval(z1, [0.0] * (order - j) + [1.0]) * he.hermeval(z2, [0.0] * j + [1.0])
            target += value(point, entry) * polynomial / (math.factorial(order - j) * math.factorial(j))
    slope = he.hermeval(one * z1 + two * z2 + math.sqrt(1 - one**2 - two**2) * across, _series(point, 5))
    return {s.leap_signal.name: float(weights @ (target * slope * z1)) * ROOT_D[leap] ** (leap - 1)}


def gradient_noise(point: Point) -> dict[str, float]:
    """(n/d) E|g - E g|^2 at sqrt(d) = 10^4 for y = a z1 + b (z1^2 - 1)/2, with the constants of target and slope."""
    points, weights = grid(2)
    z1, across = points.T
    overlap = value(point, s.leap_overlaps[0]) / LARGE
    a, b = value(point, s.tensor_1[0]), value(point, s.tensor_2[0])
    series = _series(point, 3)
    pushed = (a * z1 + b * (z1**2 - 1) / 2) * he.hermeval(overlap * z1 + math.sqrt(1 - overlap**2) * across, series)
    d = LARGE**2
    square = (d - 2) * (weights @ pushed**2) + weights @ (pushed**2 * (z1**2 + across**2))
    mean = np.array([weights @ (pushed * z1), weights @ (pushed * across)])
    h1 = average(lambda z: he.hermeval(z, series))
    return {
        s.leap_noise.name: float(square - mean @ mean) / d,
        s.h2_star.name: average(lambda z: (a * z + b * (z**2 - 1) / 2) ** 2),
        s.h1.name: h1,
        s.h1_check.name: average(lambda z: (he.hermeval(z, series) - h1) ** 2),
    }


# ---- simulation ----


@dataclass(frozen=True)
class Problem:
    """A target of two directions with its leap index, and the slope of the activation.

    The labels hold no part of lower order than the leap: for leap two the linear part is subtracted, as the theorem
    asks.
    """

    leap: int
    target: Callable[[Array, Array], Array]
    slope: Callable[[Array], Array]


def _relu_slope(u: Array) -> Array:
    return (u > 0).astype(np.float64)


def _shifted_slope(u: Array) -> Array:
    return np.asarray(1 - np.tanh(u + 0.7) ** 2)


PROBLEMS: Mapping[str, Problem] = {
    "leap 1: z1 + z1 z2, tanh": Problem(1, lambda a, b: a + a * b, lambda u: np.asarray(1 - np.tanh(u) ** 2)),
    "leap 2: He_2(z1) + z1 z2, relu": Problem(2, lambda a, b: a**2 - 1 + a * b, _relu_slope),
    # Its first tensor sees z1 only; the activation has a second coefficient, so that the second one shows as well.
    "leap 1: z1 + z1 z2, shifted tanh": Problem(1, lambda a, b: a + a * b, _shifted_slope),
    # A linear part that hides the second direction, and what is left when it is subtracted.
    "leap 1: z1 + He_2(z2), relu": Problem(1, lambda a, b: a + b**2 - 1, _relu_slope),
    "leap 2: He_2(z2) of the same, relu": Problem(2, lambda a, b: b**2 - 1, _relu_slope),
}
_LEAP_ONE, _LEAP_TWO, _STAIR, HIDDEN, UNCOVERED = PROBLEMS
_CHUNK = 1 << 18


@lru_cache(maxsize=8192)
def one_step(name: str, tau: tuple[float, float], d: int, n: int, seed: int) -> tuple[float, float, float, float]:
    """(|pi_1|, |pi_2|, |g - pi|): a gradient's components along the target's two directions, and the rest of it.

    The neuron's overlaps with the directions are tau/sqrt(d). The fourth number is a control, nearly all of the noise
    of pi_2: the mean over samples of z2 y sigma'(z3), on average zero for a target even in z2.
    """
    problem = PROBLEMS[name]
    rng = np.random.default_rng(np.random.SeedSequence(41, spawn_key=(list(PROBLEMS).index(name), d, n, seed)))
    one, two = (t / math.sqrt(d) for t in tau)
    across = math.sqrt(1 - one**2 - two**2)
    totals, squares, control = np.zeros(3), 0.0, 0.0
    for start in range(0, n, _CHUNK):
        z = rng.standard_normal((3, min(_CHUNK, n - start)))
        labels = problem.target(z[0], z[1])
        pushed = labels * problem.slope(one * z[0] + two * z[1] + across * z[2])
        control += float(z[1] @ (labels * problem.slope(z[2])))
        totals += z @ pushed
        squares += float(pushed @ pushed)
    pi = totals[:2] / n
    rest = (totals[2] / n) ** 2 + squares / n**2 * rng.chisquare(d - 3)
    return float(abs(pi[0])), float(abs(pi[1])), math.sqrt(rest), control / n


QUANTITIES: Mapping[sp.Basic, Callable[[tuple[float, float, float, float]], float]] = {
    s.signal_rate: lambda found: math.hypot(found[0], found[1]),
    s.noise_rate: lambda found: found[2],
    # The tangent of the angle between neuron and target space: of the order of |pi|/|w| where that is small.
    s.overlap_rate: lambda found: math.hypot(found[0], found[1]) / found[2],
}


@dataclass(frozen=True)
class Regime:
    """n = samples * d^(l - delta) at several dimensions, for a neuron of overlaps tau/sqrt(d).

    Dimensions are as large as sample counts allow, since corrections to scaling are powers of 1/d: tau^2/d,
    and (noise/signal)^2 of order d^(delta - 1)/samples within the target's directions. Where n grows more slowly than d
    there is one of 7/n in the noise, as its square, a mean over n samples, varies by 28/n.
    """

    problem: str
    shortfall: float
    samples: float
    tau: tuple[float, float]
    sizes: tuple[tuple[int, int], ...]  # dimensions, with draws per seed of the profile

    @property
    def name(self) -> str:
        """The problem and the shortfall."""
        return f"{self.problem}, delta = {self.shortfall:g}"

    @property
    def values(self) -> dict[str, float]:
        """What an exponent depends on."""
        return {s.leap.name: float(PROBLEMS[self.problem].leap), s.shortfall.name: self.shortfall}


ENOUGH = (
    Regime(_LEAP_ONE, 0.0, 8.0, (1.5, -1.0), ((1000, 12), (4000, 12), (16000, 12))),
    Regime(_LEAP_TWO, 0.0, 2.0, (1.0, 0.5), ((100, 24), (250, 10), (600, 5))),
)
TOO_FEW = (
    Regime(_LEAP_ONE, 0.5, 8.0, (1.5, -1.0), ((10_000, 12), (80_000, 12), (640_000, 12))),
    Regime(_LEAP_TWO, 0.5, 6.0, (2.0, 1.0), ((300, 12), (800, 8), (2000, 4))),
)
FAR_TOO_FEW = (Regime(_LEAP_TWO, 1.5, 6.0, (2.0, 1.0), ((10_000, 160), (1_000_000, 80), (100_000_000, 60))),)
# Noise scatters by a hundredth: fewer draws of more samples.
FAR_TOO_FEW_QUIET = (Regime(_LEAP_TWO, 1.5, 6.0, (2.0, 1.0), ((10**6, 12), (10**7, 8), (10**8, 8))),)
# So many samples that noise does not turn the sign of pi_2: its logarithm is nearly linear in the controls.
STAIRS = Regime(_STAIR, 0.0, 450.0, (1.5, 0.0), ((160, 8), (500, 5), (1500, 3)))


def stair(d: int, seed: int) -> tuple[float, tuple[float, float, float]]:
    """|pi_2|/|pi_1| of the staircase y = z1 + z1 z2, and three controls of mean zero.

    With sigma'(w.x) = sigma'(z3) + (tau_1/sqrt(d)) z1 sigma''(z3) + .. nearly all of the noise of pi is that of the
    means over samples of z2 y sigma'(z3), z1 y sigma'(z3) and z2 y z1 (sigma'(z3 + 1/2) - sigma'(z3 - 1/2)), less what
    they are on average: 0, E[sigma'] and the mean of the bracket.
    """
    problem, n = PROBLEMS[STAIRS.problem], round(STAIRS.samples * d)
    rng = np.random.default_rng(np.random.SeedSequence(43, spawn_key=(d, seed)))
    one = STAIRS.tau[0] / math.sqrt(d)
    z = rng.standard_normal((3, n))
    labels = problem.target(z[0], z[1])
    pushed = labels * problem.slope(one * z[0] + math.sqrt(1 - one**2) * z[2])
    ratio = abs(float(z[1] @ pushed)) / abs(float(z[0] @ pushed))

    def bend(u: Array) -> Array:
        return problem.slope(u + 0.5) - problem.slope(u - 0.5)

    apart, bent = labels * problem.slope(z[2]), labels * z[0] * bend(z[2])
    controls = (z[1] @ apart / n, z[0] @ apart / n - average(problem.slope), z[1] @ bent / n - average(bend))
    return ratio, (float(controls[0]), float(controls[1]), float(controls[2]))


def stairs(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """The share outside the space of the first tensor, its logarithm less what is linear in the controls."""
    column(quantity, s.across_rate)
    return {STAIRS.name: series(STAIRS.sizes, stair, STAIRS.values, profile, controlled=True)}


def scaled(regimes: tuple[Regime, ...], quantity: sp.Basic, profile: Profile) -> dict[str, Scaled]:
    """The quantity of which an exponent is asked for, in several regimes, one series each."""
    measures = tuple(QUANTITIES.values())[column(quantity, *QUANTITIES)]

    def measured(regime: Regime, d: int, seed: int) -> float:
        n = round(regime.samples * d ** (PROBLEMS[regime.problem].leap - regime.shortfall))
        return measures(one_step(regime.problem, regime.tau, d, n, seed))

    return {each.name: series(each.sizes, partial(measured, each), each.values, profile) for each in regimes}
