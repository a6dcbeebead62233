"""Numbers for the orders in d, shapes, signs and squares of the slides: real steps, singular vectors, product rules."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.points import Point
from giantsteps.verify.checks.scaling_check import Scaled
from giantsteps.verify.checks.simulation import column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.gradient_step import leap as leap_numbers
from giantsteps.verify.second_route.grids import Array, average, grid
from giantsteps.verify.second_route.sampled import series

he = np.polynomial.hermite_e


def step(rng: np.random.Generator, d: int, n0: int, p: int, readout: float) -> tuple[Array, Array]:
    """The displacement of all neurons per unit of learning rate, tanh learning tanh, and the target's direction."""
    rows = unit_rows(rng, p, d)
    theta = rng.standard_normal(d)
    theta /= np.linalg.norm(theta)
    x = rng.standard_normal((n0, d))
    features = np.tanh(x @ rows.T)
    a = np.full(p, readout)
    rest = np.tanh(x @ theta) - features @ a / math.sqrt(p)
    slope = 1 - features**2
    return a[:, None] * ((rest[:, None] * slope).T @ x) / (n0 * math.sqrt(p)), theta


# Dimensions, and draws per seed of the profile; corrections of order 1/d bias the slope by half a per cent.
_SIZES = ((120, 10), (280, 6), (640, 4))
READOUT_RATES = (0.0, 0.5)


@lru_cache(maxsize=512)
def giant_step(d: int, seed: int) -> tuple[tuple[tuple[float, float], ...], tuple[float, float]]:
    """r and |gamma| after a step eta = d with readout entries p^(-omega), omega in READOUT_RATES, tanh learning tanh
    with p = d and n0 = 2 d; and two controls of mean zero.

    All neurons have the same readout, so that the spike is the mean row: r v = mean of the displacements. It is made of
    v~ and, for omega = 0, of what the network's output brings, along m = sum_i w_i/sqrt(p): the controls are |m|^2 - 1
    and m.v~. What v~ brings is left: without it corrections of order 1/d would be larger than the scatter.
    """
    rng, n0, p = np.random.default_rng(np.random.SeedSequence(71, spawn_key=(d, seed))), 2 * d, d
    rows, x = unit_rows(rng, p, d), rng.standard_normal((n0, d))
    labels, received = np.tanh(x[:, 0]), np.tanh(x @ rows.T)
    slope, output = 1 - np.mean(received**2, axis=1), received.sum(axis=1) / math.sqrt(p)
    found = []
    for rate in READOUT_RATES:
        a = p**-rate
        mean = d * a * (((labels - a * output) * slope) @ x) / (n0 * math.sqrt(p))
        length = float(np.linalg.norm(mean))
        found.append((length, abs(float(mean[0])) / length))
    m = rows.sum(axis=0) / math.sqrt(p)
    return tuple(found), (float(m @ m) - 1.0, float(labels @ x @ m) / n0)


def steps(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """Spike strengths or alignments for two readouts, their logarithms less what is linear in the controls."""
    which = column(quantity, s.spike_rate, s.alignment_rate)

    def measured(readout: int, d: int, seed: int) -> tuple[float, tuple[float, float]]:
        found, controls = giant_step(d, seed)
        return found[readout][which], controls

    return {
        f"readout p^-{rate:g}": series(_SIZES, partial(measured, i), {s.readout_rate.name: rate}, profile, True)
        for i, rate in enumerate(READOUT_RATES)
    }


def rescaled(point: Point) -> dict[str, float]:
    """Real steps at p = d = 40: the rate s' at which the step times sqrt(p) is as long as the plain one at rate s."""
    rng = np.random.default_rng(int(1e6 * float(point["seed"])))
    d, rate = 40, float(point[s.eta_rate_rescaled.name]) + 0.5
    moved, _ = step(rng, d, 2 * d, d, d**-0.5)
    plain = d**rate * np.linalg.norm(moved)
    low, high = -2.0, 3.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if math.sqrt(d) * d**middle * np.linalg.norm(moved) < plain else (low, middle)
    return {s.eta_rate.name: rate, s.eta_rate_rescaled.name: low}


def shapes(point: Point) -> dict[str, float]:
    """The left singular vector of a real step, and a block-structured resolvent built block by block."""
    rng = np.random.default_rng(int(1e6 * float(point["seed"])))
    p, d = 7, 4
    moved, _ = step(rng, d, 9, p, p**-0.5)
    left, _, _ = np.linalg.svd(moved)
    sizes = [int(k) for k in rng.integers(1, 6, size=3)]
    letters = rng.standard_normal((3, 3))
    pattern = np.block([[letters[i, j] * np.ones((a, b)) for j, b in enumerate(sizes)] for i, a in enumerate(sizes)])
    return {
        s.spike_entries.name: float(len(left[:, 0])),
        s.p.name: p,
        s.d.name: d,
        s.pattern_rows.name: float(pattern.shape[0]),
        s.letter_count.name: 3.0,
        **{name.name: float(size) for name, size in zip(s.block_sizes, sizes, strict=True)},
    }


def signs(point: Point) -> dict[str, float]:
    """Cosines of one neuron's displacement with a target direction for both signs of its readout."""
    rng = np.random.default_rng(int(1e6 * float(point["seed"])))
    d, n = 12, 60
    x, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    y = x[:, 0] * x[:, 1]
    gradient = (y * (x @ w / np.linalg.norm(w) > 0)) @ x / n
    cosines = [float(a * gradient[0] / np.linalg.norm(a * gradient)) for a in (0.6, -0.6)]
    return {s.signed_overlap.name: sum(cosines) / 2, s.overlap_modulus.name: abs(cosines[0])}


def pair_noise(point: Point) -> dict[str, float]:
    """Cov[phi_k, phi_l] - mu1^2 epsilon at overlap tau/sqrt(d), d = 10^8, by a product rule; and mu*^2."""
    weights = [float(point[c.name]) / math.sqrt(math.factorial(m)) for m, c in enumerate(s.hermite_coefficients)]
    points, density = grid(2)
    epsilon = float(point[s.scaled_overlap.name]) / 1e4
    other = epsilon * points[:, 0] + math.sqrt(1 - epsilon**2) * points[:, 1]
    one, two = he.hermeval(points[:, 0], weights), he.hermeval(other, weights)
    mean, slope = average(lambda z: he.hermeval(z, weights)), average(lambda z: z * he.hermeval(z, weights))
    left = average(lambda z: (he.hermeval(z, weights) - mean - slope * z) ** 2)
    return {
        s.shared_noise.name: float(density @ (one * two)) - mean**2 - slope**2 * epsilon,
        s.mu1_constant.name: slope,
        s.mu2_constant.name: math.sqrt(left),
    }


@lru_cache(maxsize=4)
def _kernel_limit() -> tuple[Array, float]:
    """Two inputs of norm sqrt(10) in ten dimensions, and E sin(w.x) sin(w.x') for w ~ N(0, 1/10)."""
    x = np.zeros((2, 10))
    x[0, 0], x[1, 0], x[1, 1] = math.sqrt(10.0), math.sqrt(10.0) * 0.6, math.sqrt(10.0) * 0.8
    points, density = grid(2)
    other = 0.6 * points[:, 0] + 0.8 * points[:, 1]
    return x, float(density @ (np.sin(points[:, 0]) * np.sin(other)))


def kernels(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """Deviations of the empirical kernel at several widths: root mean squares over 40 draws, to have few tiny ones.

    The variance of a mean of p independent terms is that of one over p at any p, so that the widths may lie far apart.
    """
    column(quantity, s.kernel_rate)
    x, limit = _kernel_limit()
    widths = {64: 24, 640: 12, 6400: 6}  # with draws per seed of the profile
    samples = []
    for p, draws in widths.items():
        chosen = profile.draws(draws)
        rng = np.random.default_rng(np.random.SeedSequence(72 + chosen.start, spawn_key=(p,)))
        # What the two inputs' plane sees of the rows.
        rows = rng.standard_normal((len(chosen), 40, p, 2)) / math.sqrt(10.0)
        features = np.sin(rows @ x[:, :2].T)
        deviation = np.mean(features[..., 0] * features[..., 1], axis=2) - limit
        samples.append(tuple(float(v) for v in np.sqrt(np.mean(deviation**2, axis=1))))
    return {"sine": Scaled(tuple(widths), tuple(samples), {})}


def on_sphere(point: Point) -> dict[str, float]:
    """Var(v.x) for x uniform on the unit sphere: the density of one coordinate is (1 - t^2)^((d-3)/2)."""
    d = int(str(point["inputs"]))
    node, weight = np.polynomial.legendre.leggauss(60)  # the density is a polynomial for odd d
    density = weight * (1 - node**2) ** ((d - 3) // 2)
    return {s.spike_projection_variance.name: float(density @ node**2 / density.sum()), s.d.name: float(d)}


def needed_steps(quantity: sp.Basic, profile: Profile) -> Mapping[str, Scaled]:
    """eta/p that moves a row of norm sqrt(d) by its length, inputs of variance 1/d: sqrt(d)/(signal/sqrt(d))."""
    column(quantity, s.step_rate)
    signals = leap_numbers.scaled(leap_numbers.ENOUGH, s.signal_rate, profile)
    return {
        name: replace(
            found,
            samples=tuple(tuple(d / v for v in each) for d, each in zip(found.dimensions, found.samples, strict=True)),
        )
        for name, found in signals.items()
    }
