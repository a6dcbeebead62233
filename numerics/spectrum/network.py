"""The spectrum of a network's features after its step: rows of covariance B/d, B = P^2 + omega A. Beyond the paper.

One readout group, any activation. With g = C beta tau and H = (1 + g B)^-1 (`numerics.bulk.resolvent`), at any complex
argument,

    T = tau (1/d) tr B H,   tau (D - z) + C T = 1,

where (1/d) tr B H is a function of g alone: averages over 1 + b1 Y + b2 Y^2 at two places solved for. C and -1/tau have
no positive imaginary part, and so has the pencil [[1/(beta tau) + C omega A, P], [P, -1/C]] whose first block is
(1/(beta tau) + C B)^-1. Its normalised traces G are the one solution with positive imaginary part of their equation,

    G = (Z + E[K (1 + G K/alpha0)^-1])^-1,   Z = [[1/(beta tau), 1], [1, -1/C]],   K = [[C omega Y^2, nu Y], [nu Y, 0]],
    G = [[beta tau (1/d) tr H, g (1/d) tr H P], [.., -C (1 - g (1/d) tr P H P)]],

and ln det of the pencil has the density per dimension -ln det G + tr Z G - 2 + alpha0 E ln det(1 + G K/alpha0),
stationary in G. The eigenvalues of G^-1 and of G^-1 + K/alpha0 lie in the lower half plane, so that no branch of a
logarithm is in doubt. The norms' fluctuations and the spike are changes of finite rank: they move no band, and enter
the eigenvalues outside through the overlaps K of (v, delta).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.bulk.network import signal_overlaps, signal_vectors
from giantsteps.numerics.bulk.network_law import step_laws
from giantsteps.numerics.bulk.resolvent import Blocks, Frame, block_slopes, blocks, forms
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.gaussian.nodes import PANEL_ORDER, density
from giantsteps.numerics.gaussian.quadrature import integrand, reach
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.gaussian.spike_rule import half_length
from giantsteps.numerics.models.gradient_step import even_part
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.spectrum.panels import Complex, Panels, Table, legendre_series
from giantsteps.numerics.spectrum.point import Equations, RowLaw, upper_argument

Array = NDArray[np.float64]

_WIDEST = 0.25
# Label noise is followed this far, in standard deviations, on panels of one of them.
_NOISE_REACH = 9.0
_MOST_PANELS = 2000
# The two places: Newton's steps, and sweeps before it where the last places do not lead to the solution.
_MOST_STEPS, _SWEEPS, _GOAL, _NEAR = 30, (0, 20, 200), 1e-13, 1e-10


class _Resolved(NamedTuple):
    """The blocks at one g, their places, and the slope of `filled` in g."""

    at: Blocks
    b1: complex
    b2: complex
    slope: complex


class NetworkEquations(Equations):
    """The equations of one group of a network's own rows."""

    def __init__(self, model: Model) -> None:
        super().__init__(model)
        (self.law,) = step_laws(model)
        centre = model.groups[0].weight * even_part(model.activation).mean
        self.labels = label_line(model.target, model.noise, centre)
        self._frame = Frame.of(signal_vectors(self.law))
        self._places = (0j, 0j)

    def _table(self, b1: complex, b2: complex) -> Table:
        return self.labels.table(self.labels.chosen(np.array([b1, b2])))

    def _resolve(self, C: complex, tau: complex) -> _Resolved:
        """The blocks at g = beta C tau; not numbers where no solution is found."""
        gain = self.beta * C * tau
        for sweeps in _SWEEPS:
            b1, b2 = self._places if not sweeps else (0j, 0j)
            with np.errstate(all="ignore"):  # an iterate that hits a pole becomes infinite, and is given up
                for _ in range(sweeps):
                    table = self._table(b1, b2)
                    at = blocks(self.law, gain, *_sums(table, b1, b2)[0])
                    # Half of the way: all of it may circle.
                    b1, b2 = 0.5 * (b1 + at.b1), 0.5 * (b2 + at.b2)
                found = self._newton(gain, b1, b2)
            # Iterates of the search for (T, tau) may leave the half planes: then there is nothing to tell roots by.
            if found is not None and (C.imag >= 0.0 or tau.imag <= 0.0 or self._upper(C, tau, found.at)):
                self._places = found.b1, found.b2
                return found
        nothing = complex(math.nan, math.nan)
        return _Resolved(Blocks(*[nothing] * 11), nothing, nothing, nothing)

    def _newton(self, gain: complex, b1: complex, b2: complex) -> _Resolved | None:
        table, before = self._table(b1, b2), math.inf
        for _ in range(_MOST_STEPS):
            S, fall = _sums(table, b1, b2)
            at = blocks(self.law, gain, *S)
            by_gain, by_place = _slopes(block_slopes(self.law, gain, *S, at), fall)
            system = by_place[1:] - np.eye(2)
            value = np.array([at.b1 - b1, at.b2 - b2])
            if not (np.isfinite(value).all() and np.isfinite(system).all()):
                return None
            moves = np.linalg.solve(system, np.stack([value, by_gain[1:]], axis=1))
            root = math.sqrt(abs(b2)) or 1.0
            size = max(abs(moves[0, 0]) / root, abs(moves[1, 0]) / root**2)
            if size < _GOAL or (size < _NEAR and size >= 0.5 * before):
                return _Resolved(at, b1, b2, complex(by_gain[0] - by_place[0] @ moves[:, 1]))
            before = size
            b1, b2 = complex(b1 - moves[0, 0]), complex(b2 - moves[1, 0])
            table = self._table(b1, b2)
        return None

    def _traces(self, C: complex, tau: complex, at: Blocks) -> Complex:
        """G."""
        gain = self.beta * C * tau
        return np.array([[self.beta * tau * at.trace, gain * at.bridge], [gain * at.bridge, -C * at.rest]])

    def _upper(self, C: complex, tau: complex, at: Blocks) -> bool:
        """Whether G has no negative imaginary part, up to rounding."""
        G = self._traces(C, tau, at)
        size = np.sqrt(np.abs(np.diag(G)))
        scaled = (G / np.outer(size, size)).imag
        return bool(np.isfinite(scaled).all()) and bool(np.linalg.eigvalsh(scaled)[0] > -1e-9)

    def residual(self, packed: Complex, x: Complex, z: complex) -> tuple[Complex, Complex, Complex]:
        """F at given (C, D) and its derivatives in x = (T, tau) and in (C, D)."""
        (C, D), (T, tau) = packed, x
        found = self._resolve(complex(C), complex(tau))
        filled, steep = found.at.filled, self.beta * found.slope * tau
        value = np.array([T - tau * filled, tau * (D - z) + C * T - 1.0])
        # Columns T, tau, C, D.
        gradient = np.array([[1.0, -filled - C * steep, -tau * steep, 0.0], [C, D - z, T, tau]])
        return value, gradient[:, :2], gradient[:, 2:]

    def _log_determinant(self, matrix: Complex, overlap: Complex, tau: Complex) -> float:
        """The imaginary part of -ln tau + (1/beta) (1/d) tr ln(1 + g B), 1 + g B = beta tau (1/(beta tau) + C B)."""
        C, t = complex(matrix[0, 0]), complex(tau[0])
        found = self._resolve(C, t)
        at, alpha0 = found.at, self.law.batch_ratio
        # Both blocks on one scale: that leaves the half planes as they are, and no small eigenvalue to rounding.
        size = np.array([abs(self.beta * t), abs(C)]) ** 0.5
        inverse = np.linalg.inv(self._traces(C, t, at) / np.outer(size, size))
        table = self._table(found.b1, found.b2)
        label, square = table.features / alpha0
        first = inverse[0, 0] + C * self.law.omega * square * size[0] ** 2
        turned = inverse[0, 1] + self.law.turn * label * size[0] * size[1]
        over_labels = float(table.weights @ _lower_arguments(np.asarray(first, dtype=complex), turned, inverse[1, 1]))
        corner = np.asarray(inverse[:1, 0], dtype=complex)
        one = float(_lower_arguments(corner, inverse[0, 1], inverse[1, 1])[0])
        whole = (1.0 - alpha0 * float(np.sum(table.weights))) * one
        linear = at.trace + 2.0 * self.beta * C * t * at.bridge + at.rest
        second = whole + alpha0 * over_labels + float(linear.imag)
        # Less that of the second block, -1/C, in [-pi, 0].
        second += float(upper_argument(np.array([-C]))[0])
        angle = float(upper_argument(tau)[0])
        return (angle + second) / self.beta - angle

    @property
    def rows(self) -> RowLaw:
        """v.B v, h.v and v_c, with the part of Gaussian initial rows that is independent of the rest."""
        found = forms(self.law, 0.0, self._frame, self._frame.sums @ self.law.labels.over(0.0, 0.0)[:, 0])
        own_v, _, own_norm = self.law.independent
        return RowLaw(
            np.array([found.filled(0, 0) + own_v**2]),
            np.array([found.resolvent(0, 2) + found.bridge(0) + own_v * own_norm]),
            np.array([self.law.norm_variance + own_norm**2]),
        )

    def overlap(self, x: Complex) -> Array:
        """alpha/beta times K on (v, delta), at a real solution."""
        C, tau = float(self.conjugates(self.table(x), x)[0][0].real), float(x[1].real)
        found = self._resolve(complex(C), complex(tau))
        sums = self._frame.sums @ self.law.labels.over(found.b1.real, found.b2.real)[:, 0]
        overlaps = signal_overlaps(self.law, self.beta * tau, self.beta * C * tau, self._frame, sums)
        return np.asarray(self.ratio * np.array(overlaps)[:2, :2])


def _sums(table: Table, b1: complex, b2: complex) -> tuple[tuple[complex, complex], tuple[complex, complex, complex]]:
    """E[Y/D] and E[Y^2/D]; E[Y^2/D^2], E[Y^3/D^2] and E[Y^4/D^2], D = 1 + b1 Y + b2 Y^2."""
    label, square = table.features
    shrunk = 1.0 / (1.0 + b1 * label + b2 * square)
    once, twice = table.weights * shrunk, table.weights * shrunk**2
    sums = complex(once @ label), complex(once @ square)
    return sums, (complex(twice @ square), complex(twice @ (label * square)), complex(twice @ square**2))


def _slopes(slopes: tuple[tuple[complex, ...], ...], fall: tuple[complex, complex, complex]) -> tuple[Complex, Complex]:
    """Of filled, b1 and b2, in g, (3,), and in (b1, b2), (3, 2)."""
    found = np.array(slopes, dtype=complex)
    by_place = -found[:, 1:] @ np.array([[fall[0], fall[1]], [fall[1], fall[2]]])
    return found[:, 0], by_place


def _lower_arguments(first: Complex, beside: Complex | complex, second: complex) -> Array:
    """The sum of the arguments, in [-pi, 0] each, of both eigenvalues of [[first, beside], [beside, second]]."""
    half, middle = 0.5 * (first - second), 0.5 * (first + second)
    root = np.sqrt(half * half + beside * beside)
    return -sum((upper_argument(np.conj(x)) for x in (middle + root, middle - root)), np.zeros(len(first)))


def label_line(target: Activation, noise: float, centre: float = 0.0) -> Panels:
    """The line of the label Y with Y and Y^2: along u where Y = g(u) - centre, along Y itself where there is noise."""
    function = integrand(target)
    length = half_length([reach(function, 1.0)])
    cuts = [x for x in (function.splits or ()) if abs(x) < length]
    along = np.unique(np.concatenate([np.linspace(-length, length, math.ceil(2.0 * length / _WIDEST) + 1), cuts]))
    nodes, rule = gauss_legendre(PANEL_ORDER)
    half = 0.5 * np.diff(along)[:, None]
    u = along[:-1, None] + half * (1.0 + nodes)
    y = np.asarray(compile_numpy(target.expression)(u.ravel()), dtype=float).reshape(u.shape) - centre
    if noise == 0.0:
        return Panels(along, legendre_series(np.stack([y, y * y, density(u)])))
    width = math.sqrt(noise)
    low, high = float(np.min(y)) - _NOISE_REACH * width, float(np.max(y)) + _NOISE_REACH * width
    edges = np.linspace(low, high, min(_MOST_PANELS, math.ceil((high - low) / width)) + 1)
    places = edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + nodes)
    weights = (half * rule * density(u)).ravel()
    blurred = np.array([weights @ density((row[:, None] - y.ravel()).T / width) for row in places]) / width
    return Panels(edges, legendre_series(np.stack([places, places * places, blurred])))


def unbounded_labels(model: Model) -> bool:
    """Whether labels are unbounded: then so are the eigenvalues of B."""
    return model.noise > 0.0 or integrand(model.target).degree > 0.0 or integrand(model.target).rate > 0.0
