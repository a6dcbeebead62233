"""The Stieltjes transform of Phi^T Phi/p at one point, on and off the real axis (Appendix F of arXiv 2402.04980).

With S = -z + D + C o (W W^T) the equations of the ridge readout at ridge = -z, (189)-(190), read

    tau_a = pi_a/(-z + D_a + c_a M_aa),  T = Theta N/beta,  N = (1 + C Theta)^-1,  M = N C,  Theta_a = c_a beta tau_a
    C_ab = (alpha/beta) E[mu1_a mu1_b/(1+V)],  D_a = (alpha/beta) E[mu2_a^2/(1+V)],  g(z) = sum_a tau_a,

for any number of groups. Near the support 1/(1+V) has poles close to the line of kappa, which move with z: the rule
along the spike is a set of Gauss-Legendre panels, bisected where 1 + V is small beside its change over the panel. The
functions mu are resolved on the widest panels and interpolated on the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from numerics.coefficients import conditional_moments_of
from numerics.deterministic_equivalent import groups_of, packed_directions, upper_triangle
from numerics.model import Model
from numerics.quadrature import PANEL_ORDER, density, gauss_legendre, half_length, integrand, reach
from numerics.saddle_point import multiplicity

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# Sixteen nodes resolve the functions mu, smooth on the scale sqrt(c)/|u|, on panels of this many scales.
_PANEL_SCALES = 1.0
_WIDEST = 0.5
_MOST_BASE_PANELS = 2000
# A pole as far from a panel as the panel is wide leaves 1e-16 to sixteen nodes, at 0.6 of it 1e-12.
_POLE_DISTANCE = 0.8
_MOST_BISECTIONS = 60
_MOST_PANELS = 1500
_MOST_STEPS = 40
_GOAL = 1e-13


@dataclass(frozen=True)
class Table:
    """Weights (n,), features (E, n) packed mu1_a mu1_b (a <= b) and mu2_a^2, with off-diagonal ones doubled, (E, n)."""

    weights: Array
    features: Array
    doubled: Array


@dataclass(frozen=True)
class Line:
    """The line of kappa in panels: left and right ends (P,), weight of both sides, Legendre series (P, E, 16)."""

    left: Array
    right: Array
    sides: float
    series: Array

    def table(self, left: Array, right: Array, parent: NDArray[np.intp]) -> Table:
        """The features on panels that lie in the given panels of the line."""
        nodes, rule = gauss_legendre(PANEL_ORDER)
        half = 0.5 * (right - left)
        kappa = left[:, None] + half[:, None] * (1.0 + nodes)
        width = (self.right - self.left)[parent, None]
        local = np.clip(2.0 * (kappa - self.left[parent, None]) / width - 1.0, -1.0, 1.0)
        powers = np.polynomial.legendre.legvander(local, PANEL_ORDER - 1)
        features = np.einsum("pnl,pel->epn", powers, self.series[parent]).reshape(self.series.shape[1], -1)
        weights = (self.sides * half[:, None] * rule * density(kappa)).ravel()
        return Table(weights, features, features * multiplicity(groups_of(features.shape[0]))[:, None])


@lru_cache(maxsize=16)
def line_of(model: Model) -> Line:
    """The functions mu of a model along the spike."""
    student = integrand(model.activation)
    groups = list(zip(model.slopes, model.bulks, model.biases, strict=True))
    longest = half_length(reach(student, slope, bulk) for slope, bulk, _ in groups)
    scale = min((math.sqrt(bulk) / abs(slope) for slope, bulk, _ in groups if slope), default=math.inf)
    even = model.activation.parity in ("odd", "even") and all(bias == 0.0 for bias in model.biases)
    width = max(min(_WIDEST, _PANEL_SCALES * scale), 2.0 * longest / _MOST_BASE_PANELS)
    lowest = 0.0 if even else -longest
    edges = np.linspace(lowest, longest, math.ceil((longest - lowest) / width) + 1)
    nodes, rule = gauss_legendre(PANEL_ORDER)
    kappa = (edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + nodes)).ravel()
    parts = [conditional_moments_of(model.activation, *group, kappa) for group in groups]
    mu1 = np.array([part.slope for part in parts]) / np.sqrt(np.array(model.bulks))[:, None]
    rows, columns = upper_triangle(len(groups))
    features = np.concatenate([mu1[rows] * mu1[columns], np.array([part.rest for part in parts])])
    vandermonde = np.polynomial.legendre.legvander(nodes, PANEL_ORDER - 1)
    transform = (vandermonde * rule[:, None]) * (np.arange(PANEL_ORDER) + 0.5)
    series = np.einsum("epn,nl->pel", features.reshape(len(features), -1, PANEL_ORDER), transform)
    return Line(edges[:-1], edges[1:], 2.0 if even else 1.0, series)


class Equations:
    """F(x, z) = 0 for x = (T, tau) packed, complex, at any complex z."""

    def __init__(self, model: Model) -> None:
        self.ratio, self.beta = model.alpha / model.beta, model.beta
        self.bulks, self.fractions = np.array(model.bulks), np.array(model.fractions)
        self.groups = len(self.bulks)
        self.line = line_of(model)
        self.coarse = self.line.table(self.line.left, self.line.right, np.arange(len(self.line.left)))

    def far(self, z: complex) -> Complex:
        """The solution at leading order as |z| grows: tau = -pi/z, T = c tau."""
        rows, columns = upper_triangle(self.groups)
        tau = -self.fractions / z
        return np.concatenate([np.where(rows == columns, (self.bulks * tau)[rows], 0.0), tau]).astype(complex)

    def table(self, x: Complex) -> Table:
        """A rule that resolves 1/(1 + V) at x."""
        line = self.line
        left, right, parent = line.left, line.right, np.arange(len(line.left))
        done: list[tuple[Array, Array, NDArray[np.intp]]] = []
        count = 0
        for _ in range(_MOST_BISECTIONS):
            table = self.coarse if left is line.left else line.table(left, right, parent)
            one = (1.0 + x @ table.doubled).reshape(len(left), -1)
            change = np.abs(one[:, -1] - one[:, 0]) + np.abs(np.diff(one, 2, axis=1)).max(axis=1)
            close = np.abs(one).min(axis=1) < _POLE_DISTANCE * change
            done.append((left[~close], right[~close], parent[~close]))
            count += int(np.sum(~close))
            left, right, parent = left[close], right[close], parent[close]
            if not len(left) or count + len(left) > _MOST_PANELS:
                break
            middle = 0.5 * (left + right)
            left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
            parent = np.concatenate([parent, parent])
        if len(done) == 1:
            return self.coarse
        done.append((left, right, parent))
        return line.table(*(np.concatenate(part) for part in zip(*done, strict=True)))

    def evaluate(self, table: Table, x: Complex, z: complex) -> tuple[Complex, Complex]:
        """F and its Jacobian in x; dF/dz is tau in the last k entries."""
        k, beta, bulks = self.groups, self.beta, self.bulks
        inverse = 1.0 / (1.0 + x @ table.doubled)
        weighted = table.features * table.weights
        matrix, diagonal = _unpack(self.ratio * (weighted @ inverse), k)
        moved = -self.ratio * (weighted * (inverse * inverse)) @ table.doubled.T
        overlap, tau = _unpack(x, k)
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
        conjugate_part = -np.concatenate([d_across[:, rows, columns], -tau * d_shift], axis=1).T
        jacobian = np.eye(len(x), dtype=complex)
        jacobian[len(rows) :, len(rows) :] = np.diag(shift) - beta * (bulks * tau)[:, None] * mixed**2 * bulks
        d_theta = np.zeros((k, k, k), dtype=complex)
        d_theta[np.arange(k), np.arange(k), np.arange(k)] = bulks * beta
        d_theta_across = np.einsum("ba,ebc,cd->ead", mixing, d_theta, mixing) / beta
        jacobian[: len(rows), len(rows) :] = -d_theta_across[:, rows, columns].T
        return value, jacobian + conjugate_part @ moved

    def solve(self, start: Complex, z: complex) -> Complex | None:
        """Newton's method from a start; None where it does not converge."""
        x = start
        table = self.table(x)
        previous, fresh = math.inf, False
        for _ in range(_MOST_STEPS):
            with np.errstate(all="ignore"):  # an iterate that hits a pole becomes infinite, and is given up below
                value, jacobian = self.evaluate(table, x, z)
            try:
                move = np.linalg.solve(jacobian, value)
            except np.linalg.LinAlgError:
                return None
            size = float(np.max(np.abs(move)) / np.max(np.abs(x)))
            if not math.isfinite(size):
                return None
            x = x - move
            settled = size < _GOAL or (size < 1e-9 and size >= 0.5 * previous)
            if settled or (fresh and size < 1e-9):
                if fresh:
                    return x
                # The poles of 1/(1 + V) have moved with x: once more on a rule that follows them.
                table, previous, fresh = self.table(x), math.inf, True
                continue
            previous, fresh = size, False
            if size > 1e-4:
                table = self.table(x)
        return None


def _unpack(packed: Complex, groups: int) -> tuple[Complex, Complex]:
    rows, columns = upper_triangle(groups)
    matrix = np.empty((groups, groups), dtype=complex)
    matrix[rows, columns] = packed[: len(rows)]
    matrix[columns, rows] = packed[: len(rows)]
    return matrix, packed[len(rows) :]
