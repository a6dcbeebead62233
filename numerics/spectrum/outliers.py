"""Eigenvalues of Phi^T Phi/p outside the support of its spectrum: those of order p, and detached ones of order one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray
from scipy.integrate import quad
from scipy.optimize import brentq

from giantsteps.numerics.gaussian.coefficients import conditional_moments_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.profile import Profile
from giantsteps.numerics.spectrum.panels import Complex
from giantsteps.numerics.spectrum.point import RowLaw

Array = NDArray[np.float64]

# Steps of central differences, in units of the bulk and of its root: errors of 1e-6 in a correction of order one.
_STEP = 1e-3


# Where the difference of two slopes is so small that more samples are needed for the first order of what it adds.
_MOST_SAMPLES = 1e6


@dataclass(frozen=True)
class Repulsion:
    """What another outlier of ``gap`` less slope does to one: by X = f_i f_j and D = f_i^2 - f_j^2 - gap, summed over
    samples, the eigenvalues of two rows and columns are apart by the root of (n gap + sum D)^2 + 4 (sum X)^2.

    square is E[X^2], spread E[D^2], mixed E[X D], third E[X^2 D].
    """

    gap: float
    square: float
    spread: float
    mixed: float
    third: float

    @property
    def first(self) -> float:
        """E[X^2]/gap, to which it tends; zero where no number of samples that there is comes near that."""
        return self.square / self.gap if self.needed < _MOST_SAMPLES else 0.0

    @property
    def second(self) -> float:
        """n times the next order beside the first: (E[D^2] + 2 E[X D]^2/E[X^2] - 3 E[X^2])/gap^2 less
        E[X^2 D]/(gap E[X^2]).
        """
        wide = self.spread + 2.0 * self.mixed**2 / self.square - 3.0 * self.square
        return wide / self.gap**2 - self.third / (self.gap * self.square)

    @property
    def needed(self) -> float:
        """The number of samples for which the next order is a tenth of the first."""
        if not self.square:
            return 0.0
        if abs(self.gap) < 1e-8 * math.sqrt(self.square):
            return math.inf
        return 10.0 * max(abs(self.second), self.square / self.gap**2)

    def at(self, samples: int) -> float:
        """Half of the mean of that root, less half of n gap, for sums that are normal, as they are of many samples.

        |v| is the integral of (1 - exp(-t^2 |v|^2))/t^2 over t > 0, by sqrt(pi), and the mean of that exponential is
        known for a normal v = (n gap + sum D, 2 sum X): smooth in t, and refined by QUADPACK to the tolerance given.
        """
        apart = samples * abs(self.gap)
        along, across, both = (samples * moment for moment in (self.spread, 4.0 * self.square, 2.0 * self.mixed))
        scale = math.sqrt(apart**2 + along + across)
        if not self.square:
            return 0.0

        def integrand(s: float) -> float:
            t = (s / scale) ** 2
            determinant = 2.0 * t * (along + across) + 4.0 * t**2 * (along * across - both**2)  # less one
            exponent = -t * apart**2 * (1.0 + 2.0 * t * across) / (1.0 + determinant) - 0.5 * math.log1p(determinant)
            return (math.expm1(-t * apart**2) - math.expm1(exponent)) / s**2

        value, _ = quad(integrand, 0.0, math.inf, epsabs=1e-9, epsrel=1e-9, limit=200)
        return math.copysign(0.5 * scale * value / math.sqrt(math.pi), self.gap)


@dataclass(frozen=True)
class Outlier:
    """An eigenvalue n slope + correction + O(1/p), n = alpha p/beta samples; it fluctuates by O(sqrt p) with them.

    slope is an eigenvalue of sqrt(pi_a pi_b) E[mu0_a mu0_b], for one group E[mu0^2]: equation (191). The correction is
    the mean at the draw's own spike and bulk, which for a network fluctuate from batch to batch. from_samples: before
    so many, the line lies below the upper edge of the bulk, or what other outliers add to it is off by a tenth;
    infinite where they have nearly the same slope, and part like sqrt(n), which is no part of the correction.
    """

    slope: float
    correction: float
    from_samples: float = 0.0
    repelled: tuple[Repulsion, ...] = ()

    def at(self, samples: int) -> float:
        """The eigenvalue for n samples, with what other outliers do at that n."""
        return samples * self.slope + self.correction + sum(by.at(samples) - by.first for by in self.repelled)

    def outside(self, edge: float) -> Outlier:
        """The same, beside a bulk up to an edge; where that is infinite nothing is said."""
        beyond = max((edge - self.correction) / self.slope, 0.0) if math.isfinite(edge) else 0.0
        return replace(self, from_samples=max(self.from_samples, beyond))


def outliers_of(model: Model, table: Profile, rows: RowLaw) -> tuple[Outlier, ...]:
    """The eigenvalues that grow with p, leading order and O(1) correction, largest first.

    The means of the features are a perturbation of rank k. A neuron with overlap s = b.v and |b|^2 = c + delta has the
    mean mu0(r + s, c + delta - s^2) = mu0 + kappa mu1 s + k2 delta + e/d on average, k2 = d mu0/dc, with

        e = (kappa^2 mu0''/2 - k2) d E[s^2] + kappa k2' d E[s delta] + (dk2/dc)/2 d E[delta^2].

    With H_ab = sqrt(pi_a pi_b) E[mu0_a mu0_b] and H u = l u the eigenvalue is n l + u.[S + (H_w + alpha G)/l + 2 alpha
    H_e] u, where w = sum_a pi_a (c_a mu1_a^2 + mu2_a^2), S_a = (alpha/beta) E[c_a mu1_a^2 + mu2_a^2], H_w has w inside
    the expectation and H_e = sqrt(pi_a pi_b) E[mu0_a e_b], symmetrised. The spread of the neurons' means gives G_ab =
    sqrt(pi_a pi_b) sum_c pi_c x_ac.R_c x_bc, x_ac = (E[kappa mu0_a mu1_c], E[mu0_a k2_c]) and R_c/d the covariance of
    (s, delta). The Gram matrix of the means is n H plus sqrt(n) times what fluctuates with the samples' kappa, so that
    eigenvalues repel each other: sum_j E[f_i^2 f_j^2]/(l_i - l_j), f_i = sum_a u_ia sqrt(pi_a) mu0_a. For one group
    with rows of equal norm

        n E[mu0^2] + (alpha/beta) E[w] + E[mu0^2 w]/E[mu0^2] + alpha c {E[kappa mu0 mu1]^2/E[mu0^2]
            + E[(kappa^2 - 1) mu0 mu0'']}.
    """
    bulks, fractions = np.array(model.bulks), np.array(model.fractions)
    root = np.sqrt(fractions)
    each = bulks[:, None] * table.mu1**2 + table.mu2_squared
    w = fractions @ each
    means = root[:, None] * table.mu0
    weighted = means * table.weights
    gram = weighted @ means.T
    heavy = (weighted * w) @ means.T
    slope, shift = _second_order(model, table, rows)
    along, across = (weighted * table.kappa) @ table.mu1.T, weighted @ slope.T
    spread = (along * (fractions * rows.along)) @ along.T + (across * (fractions * rows.norm)) @ across.T
    mixed = (along * (fractions * rows.mixed)) @ across.T
    pull = model.alpha * (spread + mixed + mixed.T)
    moved = 2.0 * model.alpha * weighted @ (root[:, None] * shift).T
    own = model.alpha / model.beta * (each @ table.weights)
    values, vectors = np.linalg.eigh(gram)
    whole = float(table.weights @ (w + np.sum(means**2, axis=0)))
    found = []
    pairs = tuple(zip(values[::-1], vectors.T[::-1], strict=True))
    for k, (value, vector) in enumerate(pairs):
        # A mean at the rounding of the activation itself is none.
        if value > 1e-12 * whole:
            correction = float(vector**2 @ own + vector @ (heavy + pull) @ vector / value + vector @ moved @ vector)
            others = _repelling(k, pairs, means, table.weights)
            added = sum(by.first for by in others)
            needed = max((by.needed if by.needed < _MOST_SAMPLES else math.inf for by in others), default=0.0)
            found.append(Outlier(float(value), correction + added, needed, others))
    return tuple(found)


def _repelling(k: int, pairs: Sequence[tuple[float, Array]], means: Array, weights: Array) -> tuple[Repulsion, ...]:
    """What the others do to the outlier of number k, of slopes with vectors from the largest down."""
    slope, vector = pairs[k]
    own, found = vector @ means, []
    for j, (other, u) in enumerate(pairs):
        if j != k:
            f = u @ means
            gap = math.copysign(abs(slope - other), j - k)  # the larger one is moved up, however near they are
            product, difference = own * f, own**2 - f**2 - gap
            moments = (product**2, difference**2, product * difference, product**2 * difference)
            found.append(Repulsion(gap, *(float(weights @ moment) for moment in moments)))
    return tuple(found)


def _second_order(model: Model, table: Profile, rows: RowLaw) -> tuple[Array, Array]:
    """k2 and e of each group, (k, n)."""
    slopes, shifts = [], []
    for a, (slope, bulk, bias) in enumerate(zip(model.slopes, model.bulks, model.biases, strict=True)):

        def k2(bulk: float, bias: float, slope: float = slope) -> Array:
            moments = conditional_moments_of(model.activation, slope, bulk, bias, table.kappa)
            return np.asarray(moments.curvature / (2.0 * bulk))

        here = k2(bulk, bias)
        # The heat equation: mu0'' = 2 k2.
        shift = (table.kappa**2 - 1.0) * here * rows.along[a]
        if rows.norm[a] > 0.0:
            h = _STEP * bulk
            shift = shift + 0.5 * (k2(bulk + h, bias) - k2(bulk - h, bias)) / (2.0 * h) * rows.norm[a]
        if rows.mixed[a] != 0.0:
            h = _STEP * math.sqrt(bulk)
            shift = shift + table.kappa * (k2(bulk, bias + h) - k2(bulk, bias - h)) / (2.0 * h) * rows.mixed[a]
        slopes.append(here)
        shifts.append(shift)
    return np.array(slopes), np.array(shifts)


def detached_eigenvalues(
    table: Profile,
    edges: tuple[tuple[float, float], ...],
    on_axis: Callable[[float], Complex],
    overlap: Callable[[Complex], Array],
) -> tuple[float, ...]:
    """Isolated eigenvalues of O(1): where the system of the overlaps (m, zeta, chi) is singular off the support.

    overlap(x) is alpha/beta times K, which turns the forces on the functions table.along into overlaps, at a real
    solution x = (T, tau); (187)-(188) for rows of equal norm.
    """
    gaps = [(high, low) for (_, high), (low, _) in pairwise(edges)]
    if edges and math.isfinite(edges[-1][1]):
        gaps.append((edges[-1][1], 1e3 * edges[-1][1]))
    found = []

    def value(x: float) -> float:
        point = on_axis(x)
        return _secular(table, point.real, overlap(point))

    for low, high in gaps:
        grid = np.exp(np.linspace(math.log(low * (1.0 + 1e-6)), math.log(high * (1.0 - 1e-6)), 60))
        signs = [value(float(x)) for x in grid]
        for (a, b), (fa, fb) in zip(pairwise(grid), pairwise(signs), strict=True):
            if fa * fb < 0.0:
                root = float(brentq(value, a, b, xtol=1e-14 * b))
                # A pole changes sign, too.
                if abs(value(root)) < max(abs(fa), abs(fb)):
                    found.append(root)
    return tuple(found)


def _secular(table: Profile, point: Array, overlap: Array) -> float:
    """det of [[E m m, E m f], [K E f m, 1 + K E f f]] over 1 + V, m the means that differ and f the functions along."""
    weights = table.weights / (1.0 + point @ table.multiplied_features)
    size = np.linalg.norm(table.mu0 * np.sqrt(table.weights), axis=1)
    values, vectors = np.linalg.eigh((table.mu0 * table.weights) @ table.mu0.T)
    kept = values > 1e-12 * max(float(np.sum(size**2)), 1e-3 * float(np.sum(table.features @ table.weights)))
    means = (vectors[:, kept].T @ table.mu0) / np.sqrt(values[kept])[:, None]
    functions = np.concatenate([means, table.along])
    form = (functions * weights) @ functions.T
    count = int(np.sum(kept))
    form[count:] = overlap @ form[count:]
    form[count:, count:] += np.eye(len(functions) - count)
    return float(np.linalg.det(form))
