"""Features after a step of learning rate d^s, 1/2 < s < 1, simulated: amplitudes, singular values and vectors.

Neurons are sigma((w_i + rho d^(s-1) u_i v).x) with w_i uniform on the sphere orthogonal to nothing in particular and
u_i standard normal. Activations are polynomials given by E[sigma^(k)(z)], so that the number of Taylor terms is known.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.points import Point
from giantsteps.verify.checks.scaling_check import Scaled
from giantsteps.verify.checks.simulation import column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.grids import Array, average, normal_rule
from giantsteps.verify.second_route.sampled import series

he = np.polynomial.hermite_e

# Means of the derivatives, E[sigma^(k)], k = 0, 1, ..; sigma = sum_k of these times He_k/k!.
CUBIC = (0.0, 1.0, 0.0, 1.0)
QUADRATIC = (0.0, 1.0, 1.0)
SHIFTED_SINE = ()  # sin(u + pi/4): all E[sigma^(k)] have the same size, and the features are bounded
SAMPLES, WIDTH = 1.0, 1.0  # n/d and p/d


def activation(means: tuple[float, ...], u: Array) -> Array:
    """sum_k E[sigma^(k)] He_k(u)/k!, or the shifted sine."""
    if means == SHIFTED_SINE:
        return np.sin(u + math.pi / 4)
    return np.asarray(he.hermeval(u, [m / math.factorial(k) for k, m in enumerate(means)]))


def spread(count: int, rng: np.random.Generator) -> tuple[Array, Array]:
    """Quantiles of a standard normal and of a uniform variable of unit variance, both in random order: their moments
    do not fluctuate.
    """
    from scipy.special import ndtri

    level = (np.arange(count) + 0.5) / count
    return rng.permutation(ndtri(level)), rng.permutation(math.sqrt(12) * (level - 0.5))


def features(means: tuple[float, ...], rate: float | None, length: float, d: int, seed: int) -> tuple[Array, ...]:
    """Features (n, p), those of the same rows without the spike, kappa (n,) and u (p,); no spike for ``rate`` None."""
    key = (d, seed, round(1000 * (rate or 0.0)), len(means))
    rng = np.random.default_rng(np.random.SeedSequence(51, spawn_key=key))
    n, p = round(SAMPLES * d), round(WIDTH * d)
    rows = unit_rows(rng, p, d)
    # Polynomials of a bounded factor u have tails that a few draws can average; bounded features need no such care.
    kappa, u = spread(n, rng)[0], spread(p, rng)[1 if means else 0]
    x = rng.standard_normal((n, d))
    x[:, 0] = kappa
    received = x @ rows.T
    plain = activation(means, received)
    if rate is None:
        return plain, plain, kappa, u
    return activation(means, received + length * d ** (rate - 1) * np.outer(kappa, u)), plain, kappa, u


@lru_cache(maxsize=4096)
def amplitudes(means: tuple[float, ...], rate: float, length: float, d: int, seed: int) -> tuple[float, ...]:
    """Amplitudes of the Taylor terms along He_k(kappa) and He_k(u), scaled to norms sqrt(n) and sqrt(p).

    Less those of the same features without the spike, whose mean over the order of the u is zero, exactly: what is
    left of the noise of the features is of the order of the spike.
    """
    phi, plain, kappa, u = features(means, rate, length, d, seed)
    # A regression on all products of powers up to the activation's degree: given kappa and u, the mean feature is one.
    left, right = (np.linalg.pinv(np.vander(values, len(means), increasing=True)) for values in (kappa, u))
    coefficients = left @ (phi - plain) @ right.T
    return tuple(float(coefficients[k, k]) * math.factorial(k) * math.sqrt(phi.size) for k in range(1, len(means)))


def singular(phi: Array, count: int) -> tuple[Array, Array]:
    """The largest singular values of centred features, from the largest on, with their left vectors as columns."""
    from scipy.sparse.linalg import svds

    centred = phi - phi.mean(axis=0)
    start = np.ones(min(centred.shape)) / math.sqrt(min(centred.shape))
    left, values, _ = svds(centred, k=count, v0=start)
    order = np.argsort(-values)
    return values[order], left[:, order]


# order k, activation, s, rho
AMPLITUDES = ((1, QUADRATIC, 0.65, 3.5), (2, QUADRATIC, 0.65, 3.5), (1, QUADRATIC, 0.8, 2.0), (2, QUADRATIC, 0.8, 2.0))


def amplitude_series(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """Amplitudes of Taylor terms, above the bulk and below it."""
    column(quantity, s.taylor_rate)
    sizes = [(2 * d // 5, 8) for d in profile.dimensions]

    def amplitude(k: int, means: tuple[float, ...], rate: float, length: float, d: int, seed: int) -> float:
        return abs(amplitudes(means, rate, length, d, seed)[k - 1])

    return {
        f"k = {k}, s = {rate:g}": series(
            sizes, partial(amplitude, k, means, rate, length), {s.taylor_order.name: k, s.eta_rate.name: rate}, profile
        )
        for k, means, rate, length in AMPLITUDES
    }


@lru_cache(maxsize=512)
def edge(means: tuple[float, ...], d: int, seed: int) -> float:
    """The largest singular value of centred features without a spike."""
    return float(singular(features(means, None, 0.0, d, seed)[0], 1)[0][0])


# The second term at a rate below its threshold 3/4 and at one above it; s, rho. A quadratic activation has no further
# terms, and the longer the spike the less its features scatter about them.
MARGINS = ((0.55, 10.0), (0.95, 3.0))
# Dimensions, and draws per seed of the profile: what varies is the edge, by d^(-2/3), as its distance from the limit.
MARGIN_SIZES = ((160, 4), (400, 2), (1000, 1))


def margin_series(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """Amplitude of the second Taylor term over the edge of the bulk, on either side of its threshold."""
    column(quantity, s.margin_rate)

    def margin(rate: float, length: float, d: int, seed: int) -> float:
        return abs(amplitudes(QUADRATIC, rate, length, d, seed)[1]) / edge(QUADRATIC, d, seed)

    return {
        f"k = 2, s = {rate:g}": series(
            MARGIN_SIZES, partial(margin, rate, length), {s.taylor_order.name: 2, s.eta_rate.name: rate}, profile
        )
        for rate, length in MARGINS
    }


@lru_cache(maxsize=64)
def count_spikes(rate: float, d: int, seed: int) -> int:
    """How many of the largest singular values of centred features count as spikes.

    The k-th does if it exceeds the largest one of features without a spike by two per cent, and its left vector
    carries more of He_k(kappa) than of anything else: squared overlap above one half.
    """
    phi, _, kappa, _ = features(SHIFTED_SINE, rate, SPIKE_LENGTH, d, seed)
    values, left = singular(phi, 6)
    bulk, _ = singular(features(SHIFTED_SINE, None, 0.0, d, seed)[0], 1)
    count = 0
    while count < 6:
        polynomial = he.hermeval(kappa, [0.0] * (count + 1) + [1.0])
        overlap = float(left[:, count] @ polynomial) ** 2 / float(polynomial @ polynomial)
        if values[count] <= 1.02 * bulk[0] or overlap <= 0.5:
            break
        count += 1
    return count


# At d = 1000 amplitudes decide as much as powers of d do: this spike makes all A_k of the sine about equal at d = 1.
SPIKE_LENGTH = 1.65


def carried(order: int, point: Point) -> dict[str, float]:
    """The k-th left singular function of sum_j (r kappa u)^j/j! minus its mean over kappa, by a product rule.

    Normalised to leading coefficient one in kappa^k, at the point's kappa. Corrections are of order r^2 = 1e-6, also
    next to a zero of the polynomial; the third singular value, r^3/6, is far above rounding.
    """
    line, weight = normal_rule(20)
    root = np.sqrt(weight)
    field = 1e-3 * np.multiply.outer(line, line)
    mean = sum(field**j / math.factorial(j) for j in range(8))
    mean = mean - root**2 @ mean
    left = np.linalg.svd(root[:, None] * mean * root)[0][:, order - 1] / root
    # A polynomial through the heaviest nodes: its coefficients, then its value.
    fit = np.polynomial.polynomial.polyfit(line, left, order + 2, w=root)
    value = np.polynomial.polynomial.polyval(float(point[s.kappa.name]), fit) / fit[order]
    return {s.spike_polynomial.name: float(value)}


def spikes(point: Point) -> dict[str, float]:
    """The number of spikes of one draw of features in dimension 1000."""
    rate = float(str(point["rate"]))
    return {s.spike_count.name: float(count_spikes(rate, 1000, 0)), s.eta_rate.name: rate}


def exponents(point: Point) -> dict[str, float]:
    """The number of k with d^(1 + k (s - 1)) above sqrt(d), by comparing sizes at d = 10^30."""
    rate = float(point[s.eta_rate.name])
    sizes = np.log(1e30) * (1 + np.arange(1, 500) * (rate - 1))
    return {s.spike_count.name: float(np.sum(sizes > np.log(1e30) / 2))}


def threshold(point: Point) -> dict[str, float]:
    """The rate at which d^(1 + k (s - 1)) meets sqrt(d), by bisection at d = 10^30."""
    order, low, high = float(point[s.taylor_order.name]), 0.0, 1.0
    for _ in range(60):
        middle = (low + high) / 2
        size = (1e30 ** (middle - 1)) ** order * 1e30
        low, high = (low, middle) if size > math.sqrt(1e30) else (middle, high)
    return {s.threshold_rate.name: low}


def scaled_amplitude(order: int, point: Point) -> dict[str, float]:
    """d^(-e_k) A_k from E sigma(z + r u kappa) with r small, projected on He_k(kappa) He_k(u)/k!, by product rules."""
    coefficients = [float(point[c.name]) * math.sqrt(math.factorial(k)) for k, c in enumerate(s.hermite_coefficients)]
    line, weight = normal_rule(24)
    spike = 1e-3
    shift = spike * np.multiply.outer(line, line)
    mean = np.vectorize(lambda t: average(lambda z: activation(tuple(coefficients), z + t)))(shift)
    polynomial = weight * he.hermeval(line, [0.0] * order + [1.0])
    projected = float(polynomial @ mean @ polynomial) / math.factorial(order)
    size = math.sqrt(float(point[s.alpha.name]) * float(point[s.beta.name]))
    return {s.spike_amplitude.name: size * projected * (float(point[s.spike_length.name]) / spike) ** order}
