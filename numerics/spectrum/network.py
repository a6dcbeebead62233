"""The spectrum of a network's features after its step: rows of covariance B/d, B = 1 + omega A. Beyond the paper.

One readout group. With g = C beta tau and A = (1/n0) sum y^2 x x^T (`numerics.bulk.network`), at any complex argument,

    T = tau p b,  tau (D - z) + C T = 1,  p = (1/d) tr (1 + g B)^-1 = 1 - beta C T,
    b = 1 + omega E[y^2/(1 + y^2 l)],  l = beta C tau p omega/alpha0,

and ln det of S has the density per row

    -ln tau + (D - z) tau - 1 + (1/beta) {-ln p + (1 + g) p - 1 + alpha0 E ln(1 + y^2 l)},

stationary in tau and l. The norms' fluctuations and the spike are changes of finite rank: they move no band, and enter
the eigenvalues outside through the overlaps K of (v, delta).
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from onestep.derivations.activations.activation import Activation
from onestep.numerics.bulk.network_law import BulkLaw, network_law
from onestep.numerics.gaussian.evaluate import compile_numpy
from onestep.numerics.gaussian.quadrature import PANEL_ORDER, density, gauss_legendre, integrand, reach
from onestep.numerics.gaussian.spike_rule import half_length
from onestep.numerics.models.model import Model
from onestep.numerics.spectrum.panels import Panels, legendre_series
from onestep.numerics.spectrum.point import Complex, Equations, RowLaw, upper_argument

Array = NDArray[np.float64]

_WIDEST = 0.25
# Label noise is followed this far, in standard deviations, on panels of one of them.
_NOISE_REACH = 9.0
_MOST_PANELS = 2000


class NetworkEquations(Equations):
    """The equations of one group of a network's own rows."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        step = model.network_step
        assert step is not None
        self.batch_ratio = step.alpha0
        self.law: BulkLaw = network_law(
            model.activation, model.target, step.alpha0, step.eta, model.beta, model.noise, model.gaussian_rows,
            model.groups[0].weight,
        )  # fmt: skip
        self.omega = self.law.omega
        self.labels = label_line(model.target, model.noise)

    def _averages(self, leverage: complex) -> tuple[complex, complex, float]:
        """E[y^2/(1 + y^2 l)], its derivative in l, and E arg(1 + y^2 l)."""
        table = self.labels.table(self.labels.chosen(np.array([leverage])))
        (squares,) = table.features
        with np.errstate(all="ignore"):  # an iterate that hits a pole becomes infinite, and is given up
            one = 1.0 + squares * leverage
            shrunk = squares / one
            mean, slope = table.weights @ shrunk, -(table.weights @ shrunk**2)
        return complex(mean), complex(slope), float(table.weights @ np.angle(one))

    def residual(self, packed: Complex, x: Complex, z: complex) -> tuple[Complex, Complex, Complex]:
        """F at given (C, D) and its derivatives in x = (T, tau) and in (C, D)."""
        (C, D), (T, tau) = packed, x
        beta, omega = self.beta, self.omega
        p = 1.0 - beta * C * T
        scale = beta * omega / self.batch_ratio
        mean, mean_slope, _ = self._averages(scale * C * tau * p)
        b = 1.0 + omega * mean
        value = np.array([T - tau * p * b, tau * (D - z) + C * T - 1.0])
        # Columns T, tau, C, D.
        d_p = -beta * np.array([C, 0.0, T, 0.0])
        d_leverage = scale * (np.array([0.0, C * p, tau * p, 0.0]) + C * tau * d_p)
        own = np.array([1.0, -p * b, 0.0, 0.0]) - tau * b * d_p - tau * p * omega * mean_slope * d_leverage
        gradient = np.stack([own, np.array([C, D - z, T, tau])])
        return value, gradient[:, :2], gradient[:, 2:]

    def _log_determinant(self, matrix: Complex, overlap: Complex, tau: Complex) -> float:
        """The imaginary part of -ln tau + (1/beta) (1/d) tr ln(1 + g B).

        1 + g B = beta tau (1/(beta tau) + C B), whose second factor lies in the lower half plane.
        """
        C, t = complex(matrix[0, 0]), complex(tau[0])
        gain = self.beta * C * t
        p = complex(1.0 - self.beta * C * overlap[0, 0])
        leverage = gain * p * self.omega / self.batch_ratio
        _, _, angle = self._averages(leverage)
        first = float(upper_argument(tau)[0])
        raw = -math.atan2(p.imag, p.real) - first + ((1.0 + gain) * p).imag + self.batch_ratio * angle
        # In [-pi, 0], whatever turns the logarithms have taken.
        second = raw - 2.0 * math.pi * round((raw + 0.5 * math.pi) / (2.0 * math.pi))
        return (first + second) / self.beta - first

    @property
    def rows(self) -> RowLaw:
        """v.B v, h.v and v_c, with the part of Gaussian initial rows that is independent of the rest."""
        labels, alpha0 = self.law.labels, self.batch_ratio
        means = labels.averages(0.0)
        covariance = np.empty((3, 3))
        covariance[0, 0] = 1.0 + self.omega * means.tilted
        covariance[0, 1:] = covariance[1:, 0] = self.omega / alpha0 * means.mixed
        covariance[1:, 1:] = (self.law.bulk * labels.pair + self.omega / alpha0 * means.pair_square) / alpha0
        metric = np.zeros((3, 3))
        metric[0, 0], metric[1:, 1:] = 1.0, labels.pair / alpha0
        v, h = np.array(self.law.direction), np.array(self.law.correlation)
        own_v, _, own_norm = self.law.independent
        return RowLaw(
            np.array([v @ covariance @ v + own_v**2]),
            np.array([v @ metric @ h + own_v * own_norm]),
            np.array([self.law.norm_variance + own_norm**2]),
        )

    def overlap(self, x: Complex) -> Array:
        """alpha/beta times K on (v, delta): forms of H = (1 + g B)^-1 on the basis (theta, n_y, n_y3)."""
        overlap, tau = x.real
        C = float(self.conjugates(self.table(x), x)[0][0].real)
        gain = self.beta * C * tau
        p = 1.0 - self.beta * C * overlap
        leverage = gain * p * self.omega / self.batch_ratio
        means = self.law.labels.averages(leverage)
        height = 1.0 / (1.0 + gain + gain * self.omega * means.tilted)
        filtered = np.empty((3, 3))
        filtered[0, 0] = height
        filtered[0, 1:] = filtered[1:, 0] = -height * leverage * means.mixed
        filtered[1:, 1:] = height * leverage**2 * np.outer(means.mixed, means.mixed) + p / self.batch_ratio * means.pair
        v, h = np.array(self.law.direction), np.array(self.law.correlation)
        own_v, _, own_norm = self.law.independent
        own = np.array([own_v, own_norm])
        along, both = v @ filtered @ v, v @ filtered @ h
        moment = np.array([[(1.0 - along) / (gain * along), both / along], [both / along, 0.0]])
        moment[1, 1] = self.law.norm_variance - gain * (h @ filtered @ h - both**2 / along)
        return np.asarray(self.ratio * self.beta * tau * (moment + np.outer(own, own)))


def label_line(target: Activation, noise: float) -> Panels:
    """The line of the label with the function y^2: along u where y = g(u), along y itself where there is noise."""
    function = integrand(target)
    length = half_length([reach(function, 1.0)])
    cuts = [x for x in (function.splits or ()) if abs(x) < length]
    along = np.unique(np.concatenate([np.linspace(-length, length, math.ceil(2.0 * length / _WIDEST) + 1), cuts]))
    nodes, rule = gauss_legendre(PANEL_ORDER)
    half = 0.5 * np.diff(along)[:, None]
    u = along[:-1, None] + half * (1.0 + nodes)
    y = np.asarray(compile_numpy(target.expression)(u.ravel()), dtype=float).reshape(u.shape)
    if noise == 0.0:
        return Panels(along, legendre_series(np.stack([y * y, density(u)])))
    width = math.sqrt(noise)
    low, high = float(np.min(y)) - _NOISE_REACH * width, float(np.max(y)) + _NOISE_REACH * width
    edges = np.linspace(low, high, min(_MOST_PANELS, math.ceil((high - low) / width)) + 1)
    places = edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + nodes)
    weights = (half * rule * density(u)).ravel()
    blurred = np.array([weights @ density((row[:, None] - y.ravel()).T / width) for row in places]) / width
    return Panels(edges, legendre_series(np.stack([places * places, blurred])))


def unbounded_labels(model: Model) -> bool:
    """Whether labels are as large as one likes: then so are eigenvalues of B."""
    return model.noise > 0.0 or integrand(model.target).degree > 0.0 or integrand(model.target).rate > 0.0
