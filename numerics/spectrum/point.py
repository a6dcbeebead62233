"""The Stieltjes transform of Phi^T Phi/p at one point, on and off the real axis (Appendix F of arXiv 2402.04980).

With S = -z + D + C o (W W^T) the equations of the ridge readout at ridge = -z, (189)-(190), read

    tau_a = pi_a/(-z + D_a + c_a M_aa),  T = Theta N/beta,  N = (1 + C Theta)^-1,  M = N C,  Theta_a = c_a beta tau_a
    C_ab = (alpha/beta) E[mu1_a mu1_b/(1+V)],  D_a = (alpha/beta) E[mu2_a^2/(1+V)],  g(z) = sum_a tau_a,

for any number of groups. They are the stationarity conditions of

    L = (1/p) ln det S - tr C T - D.tau + (alpha/beta) E ln(1+V),
    (1/p) ln det S = sum_a [-pi_a ln(tau_a/pi_a) + (D_a - z) tau_a] - 1 + (1/beta) ln det(1 + C Theta),

whose value there is (1/p) ln det(Phi^T Phi/p - z), up to terms that do not depend on z: dL/dz = -g. So the share of
eigenvalues below x is -Im L(x + i0)/pi, from the solution at x alone.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import packed_directions, unpack, upper_triangle
from giantsteps.numerics.gaussian.coefficients import conditional_moments_of
from giantsteps.numerics.gaussian.nodes import PANEL_ORDER, density
from giantsteps.numerics.gaussian.quadrature import integrand, reach
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.gaussian.spike_rule import half_length
from giantsteps.numerics.models.given import OVERFLOW
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.equations import multiplicity
from giantsteps.numerics.spectrum.panels import Complex, Panels, Table, legendre_series

Array = NDArray[np.float64]

# Sixteen nodes resolve the functions mu, smooth on the scale sqrt(c)/|u|, on panels of this many scales.
_PANEL_SCALES = 1.0
_WIDEST = 0.5
_MOST_BASE_PANELS = 2000
_MOST_STEPS = 40
_GOAL = 1e-13


@dataclass(frozen=True)
class Solution:
    """x = (T, tau) packed at z, its derivative in z, and the share of eigenvalues below z where z is real."""

    z: complex
    values: Complex
    slope: Complex
    below: float


@dataclass(frozen=True)
class RowLaw:
    """Bulk rows b beside v in each group, (k,): d Var(b.v), d Cov(b.v, |b|^2) and d Var(|b|^2)."""

    along: Array
    mixed: Array
    norm: Array


@lru_cache(maxsize=16)
def line_of(model: Model) -> Panels:
    """The line of kappa with the features mu1_a mu1_b (a <= b) and mu2_a^2 of a model."""
    student = integrand(model.activation)
    groups = list(zip(model.slopes, model.bulks, model.biases, strict=True))
    longest = half_length(reach(student, slope, bulk) for slope, bulk, _ in groups)
    scale = min((math.sqrt(bulk) / abs(slope) for slope, bulk, _ in groups if slope), default=math.inf)
    even = model.activation.parity in ("odd", "even") and all(bias == 0.0 for bias in model.biases)
    width = max(min(_WIDEST, _PANEL_SCALES * scale), 2.0 * longest / _MOST_BASE_PANELS)
    lowest = 0.0 if even else -longest
    edges = np.linspace(lowest, longest, math.ceil((longest - lowest) / width) + 1)
    kappa = (edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + gauss_legendre(PANEL_ORDER)[0])).ravel()
    parts = [conditional_moments_of(model.activation, *group, kappa) for group in groups]
    mu1 = np.array([part.slope for part in parts]) / np.sqrt(np.array(model.bulks))[:, None]
    rows, columns = upper_triangle(len(groups))
    weight = (2.0 if even else 1.0) * density(kappa)
    functions = np.concatenate([mu1[rows] * mu1[columns], np.array([part.rest for part in parts]), weight[None, :]])
    if not np.isfinite(functions).all():
        raise ModelError(OVERFLOW)
    return Panels(edges, legendre_series(functions.reshape(len(functions), -1, PANEL_ORDER)))


class Equations:
    """F(x, z) = 0 for x = (T, tau) packed, complex, at any complex z."""

    def __init__(self, model: Model) -> None:
        self.ratio, self.beta = model.alpha / model.beta, model.beta
        self.bulks, self.fractions = np.array(model.bulks), np.array(model.fractions)
        self.groups, self.unequal_norms = len(self.bulks), model.unequal_norms
        self.line = line_of(model)
        self.coarse = self.line.table()
        self.multiplicity = multiplicity(self.groups)

    @property
    def rows(self) -> RowLaw:
        """Independent of the spike; |b|^2 fixed, or for rows b ~ N(0, c I/d) of variance 2 c^2/d."""
        none = np.zeros(self.groups)
        return RowLaw(self.bulks, none, 2.0 * self.bulks**2 if self.unequal_norms else none)

    def overlap(self, x: Complex) -> Array:
        """alpha/beta times K on the functions kappa mu1_a, and dmu0_a/dc_a where norms differ, at a real solution."""
        rows, tau = self.rows, x[-self.groups :].real
        spread = np.concatenate([rows.along * tau, rows.norm * tau] if self.unequal_norms else [rows.along * tau])
        return np.diag(self.ratio * self.beta * spread)

    def far(self, z: complex) -> Complex:
        """The solution at leading order as |z| grows: tau = -pi/z, T = c tau."""
        rows, columns = upper_triangle(self.groups)
        tau = -self.fractions / z
        return np.concatenate([np.where(rows == columns, (self.bulks * tau)[rows], 0.0), tau]).astype(complex)

    def table(self, x: Complex) -> Table:
        """A rule that resolves 1/(1 + V) at x."""
        return self.line.table(self.line.chosen(x * self.multiplicity))

    def one(self, table: Table, x: Complex) -> Complex:
        """1 + V along the spike."""
        doubled = x * self.multiplicity
        return np.asarray(1.0 + (doubled.real @ table.features + 1j * (doubled.imag @ table.features)), dtype=complex)

    def conjugates(self, table: Table, x: Complex) -> tuple[Complex, Complex]:
        """(C, D) packed, and its derivative in x."""
        weighted = table.features * table.weights
        with np.errstate(all="ignore"):  # an iterate that hits a pole becomes infinite, and is given up
            inverse = 1.0 / self.one(table, x)
            packed = self.ratio * (weighted @ inverse)
            moved = -self.ratio * (weighted * (inverse * inverse)) @ table.features.T
        return packed, moved * self.multiplicity

    def evaluate(self, table: Table, x: Complex, z: complex) -> tuple[Complex, Complex]:
        """F and its Jacobian in x."""
        packed, moved = self.conjugates(table, x)
        value, direct, through = self.residual(packed, x, z)
        return value, direct + through @ moved

    def residual(self, packed: Complex, x: Complex, z: complex) -> tuple[Complex, Complex, Complex]:
        """F at given (C, D) and its derivatives in x and in (C, D)."""
        k, beta, bulks = self.groups, self.beta, self.bulks
        matrix, diagonal = unpack(packed)
        overlap, tau = unpack(x)
        theta = bulks * beta * tau
        mixing = np.linalg.inv(np.eye(k) + matrix * theta)
        mixed, across = mixing @ matrix, theta[:, None] * mixing / beta
        shift = -z + diagonal + bulks * np.diag(mixed)
        rows, columns = upper_triangle(k)
        value = np.concatenate([(overlap - across)[rows, columns], tau * shift - self.fractions])
        d_matrix, d_diagonal = packed_directions(k)
        # Directions of (C, D), then of tau at fixed (C, D).
        by_matrix = np.einsum("ab,ebc,dc->ead", mixing, d_matrix, mixing)
        d_across = -beta * (across @ d_matrix @ across)
        d_shift = d_diagonal + bulks * np.einsum("eaa->ea", by_matrix)
        through = -np.concatenate([d_across[:, rows, columns], -tau * d_shift], axis=1).T
        direct = np.eye(len(x), dtype=complex)
        direct[len(rows) :, len(rows) :] = np.diag(shift) - beta * (bulks * tau)[:, None] * mixed**2 * bulks
        d_theta = np.zeros((k, k, k), dtype=complex)
        d_theta[np.arange(k), np.arange(k), np.arange(k)] = bulks * beta
        d_theta_across = np.einsum("ba,ebc,cd->ead", mixing, d_theta, mixing) / beta
        direct[: len(rows), len(rows) :] = -d_theta_across[:, rows, columns].T
        return value, direct, through

    def along_z(self, x: Complex, z: complex) -> Complex:
        """dF/dz at fixed x."""
        slope = np.zeros(len(x), dtype=complex)
        slope[-self.groups :] = -x[-self.groups :]
        return slope

    def below(self, table: Table, x: Complex, z: complex) -> float:
        """-Im L/pi: the share of eigenvalues below a real z, where x solves the equations."""
        packed, _ = self.conjugates(table, x)
        matrix, diagonal = unpack(packed)
        overlap, tau = unpack(x)
        linear = np.sum((diagonal - z) * tau) - np.sum(matrix * overlap) - np.sum(diagonal * tau)
        logarithm = self.ratio * float(table.weights @ upper_argument(self.one(table, x)))
        return -(float(linear.imag) + logarithm + self._log_determinant(matrix, overlap, tau)) / math.pi

    def _log_determinant(self, matrix: Complex, overlap: Complex, tau: Complex) -> float:
        """The imaginary part of -sum_a pi_a ln tau_a + (1/beta) ln det(1 + C Theta).

        Im tau >= 0 and Im C <= 0, so that Theta^-1 + C has its eigenvalues in the lower half plane: no branch is in
        doubt.
        """
        angles = upper_argument(tau)
        inner = np.linalg.eigvals(np.diag(1.0 / (self.bulks * self.beta * tau)) + matrix)
        whole = float(np.sum(angles)) - float(np.sum(upper_argument(np.asarray(inner.conj(), dtype=complex))))
        return whole / self.beta - float(self.fractions @ angles)

    def solve(self, start: Complex, z: complex) -> Solution | None:
        """Newton's method from a start; None where it does not converge."""
        # An iterate that hits a pole becomes infinite, and is given up.
        with np.errstate(all="ignore"):
            try:
                return self._solve(start, z)
            except np.linalg.LinAlgError:
                return None

    def _solve(self, start: Complex, z: complex) -> Solution | None:
        x, previous = start, math.inf
        panels = self.line.chosen(x * self.multiplicity)
        table, fresh = self.line.table(panels), False
        for _ in range(_MOST_STEPS):
            value, jacobian = self.evaluate(table, x, z)
            move = np.linalg.solve(jacobian, np.stack([value, self.along_z(x, z)], axis=1))
            size = float(np.max(np.abs(move[:, 0])) / np.max(np.abs(x)))
            if not math.isfinite(size):
                return None
            x = np.asarray(x - move[:, 0])
            settled = size < _GOAL or (size < 1e-9 and size >= 0.5 * previous) or (fresh and size < 1e-9)
            if settled or size > 1e-4:
                # The poles of 1/(1 + V) have moved with x: on with a rule that follows them.
                moved = panels if fresh and settled else self.line.chosen(x * self.multiplicity)
                if settled and np.array_equal(moved, panels):
                    below = self.below(table, x, z)
                    return Solution(z, x, np.asarray(-move[:, 1]), below) if math.isfinite(below) else None
                panels, table, fresh = moved, self.line.table(moved), settled
                size = math.inf
            previous = size
        return None


def upper_argument(values: Complex) -> Array:
    """Arguments in [0, pi] of numbers in the upper half plane, rounding below the axis taken as on it."""
    return np.asarray(np.arctan2(np.maximum(values.imag, 0.0) + 0.0, values.real))
