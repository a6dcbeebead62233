"""A network's own bulk at many pairs (C, D): one group, arrays (P,).

With x = beta tau the resolvent (1 + g B)^-1 of a network's rows (`numerics.bulk.network`) knows of C, D, ridge and beta
only g = C x. So

    tr B H/d = f(g),   K = x M(g),   x (ridge + D + C f(C x)) = beta,   T = tau f(g),

with one function f and six entries of the symmetric M on (v, delta, theta_perp). f is an integral of b/(1 + g b) over
the spectrum of B, and M is made of such integrals: in log g all are analytic in the strip |Im| < pi. Where they bend is
where g times an eigenvalue is about one, and eigenvalues are of the size of c = (1/d) tr B: on panels of log(g c) they
are interpolated at Chebyshev's points, whose error on a panel of half length L falls as (s + sqrt(s^2 + 1))^-N,
s = pi/L.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.network import signal_overlaps, signal_vectors
from giantsteps.numerics.bulk.network_law import BulkLaw
from giantsteps.numerics.bulk.resolvent import Frame, block_slopes, blocks
from giantsteps.numerics.gaussian.quadrature import ROUNDING

Array = NDArray[np.float64]

# 3.43^-36 is 5e-20: what the theory leaves is far below rounding. The last coefficients of every panel are looked at.
_LENGTH, _NODES, _TAIL = 4.0, 36, 4
# A panel with a larger tail has no numbers. Where g is large, the rounding of M itself, a difference, comes to 1e-12.
_RESOLVED = 1e-9
# Of log(g c). Below, a function of g differs from its limit by less than rounding, for eigenvalues up to 1e10 c. Above
# nothing is looked for. Panels beyond some e^24 .. e^40 are not resolved as it is, since M, a difference, is rounding
# there: such a point has no numbers in a batch, and `solve` may still have some.
_LEAST, _MOST = -60.0, 120.0
_STEP = 1e-100
_SWEEPS, _MOST_STEPS = (3, 30, 300), 60
# A step of this relative size squares to less than rounding.
_LAST = 1e-9
# The entries of M, beside f: v v, v delta, v theta_perp, delta delta, delta theta_perp, theta_perp theta_perp.
_ROWS, _COLUMNS = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])
_POINTS = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)


@dataclass(frozen=True)
class Gains:
    """The functions of g of a law of rows, by panels that are made when first asked for."""

    law: BulkLaw
    _panels: dict[int, tuple[Array, float]] = field(default_factory=dict)

    def filled(self, g: Array) -> tuple[Array, Array]:
        """f and df/dg at g > 0, (P,) each; not numbers where g is none or out of all reach."""
        value, slope = self._at(g, slice(0, 1))
        return value[0], slope[0]

    def overlaps(self, g: Array) -> tuple[Array, Array]:
        """M and dM/dg, (3, 3, P) each."""
        found = self._at(g, slice(1, 7))
        matrices = np.empty((2, 3, 3, len(g)))
        for matrix, entries in zip(matrices, found, strict=True):
            matrix[_ROWS, _COLUMNS] = entries
            matrix[_COLUMNS, _ROWS] = entries
        return matrices[0], matrices[1]

    def lost(self, g: Array) -> Array:
        """What is left of f by interpolation on the panel of each g, in roundings, (P,); none without numbers."""
        _, _, numbers = self._places(g)
        found = np.zeros(len(g))
        for number in np.unique(numbers[np.isfinite(numbers)]):
            _, tail = self._panel(int(number))
            found[numbers == number] = tail / ROUNDING
        return found

    def _places(self, g: Array) -> tuple[Array, Array, Array]:
        """log(g c), the same in panels, and the number of the panel; the last two are not numbers out of all reach."""
        with np.errstate(all="ignore"):
            place = np.maximum(np.log(g * self.law.bulk), _LEAST)
        along = np.where(place <= _MOST, place / _LENGTH, np.nan)
        return place, along, np.floor(along)

    def _at(self, g: Array, rows: slice) -> tuple[Array, Array]:
        place, along, numbers = self._places(g)
        found = np.full((2, rows.stop - rows.start, len(g)), np.nan)
        basis = _chebyshev(2.0 * (along - numbers) - 1.0)
        for number in np.unique(numbers[np.isfinite(numbers)]):
            coefficients, _ = self._panel(int(number))
            here = np.flatnonzero(numbers == number)
            values = coefficients[:, rows].reshape(-1, _NODES) @ basis[:, here]
            found[:, :, here] = values.reshape(2, -1, len(here))
        # What was interpolated are slopes in log g.
        return found[0], found[1] * (np.exp(-place) * self.law.bulk)

    def _panel(self, number: int) -> tuple[Array, float]:
        """Coefficients of values and slopes in log g, (2, 7, N), and the tail of those of f; none if not resolved."""
        if number not in self._panels:
            values = _functions(self.law, np.exp(_LENGTH * (number + 0.5 + 0.5 * _POINTS)) / self.law.bulk)
            coefficients = values @ _inverse()
            largest = np.abs(coefficients[0]).max(axis=1)
            tails = np.abs(coefficients[0, :, -_TAIL:]).max(axis=1)
            # What lies beside the diagonal of M counts with the roots of both entries there.
            diagonal = np.sqrt(largest[[1, 4, 6]])
            sizes = np.concatenate([largest[:1], diagonal[_ROWS] * diagonal[_COLUMNS]])
            shares = tails / np.where(sizes > 0.0, sizes, 1.0)
            left = float(shares[0])
            if not np.max(shares) <= _RESOLVED:
                coefficients, left = np.full_like(coefficients, np.nan), 0.0
            self._panels[number] = coefficients, left
        return self._panels[number]


def _chebyshev(u: Array) -> Array:
    """T_0, .., T_(N-1) at u, (N, P)."""
    found = np.empty((_NODES, len(u)))
    found[0], found[1] = 1.0, u
    twice = 2.0 * u
    for k in range(2, _NODES):
        np.multiply(twice, found[k - 1], out=found[k])
        found[k] -= found[k - 2]
    return found


@cache
def _inverse() -> Array:
    """Values at Chebyshev's points to coefficients: of the polynomials as they are evaluated, to the last digit."""
    return np.asarray(np.linalg.inv(_chebyshev(_POINTS)))


def _functions(law: BulkLaw, g: Array) -> Array:
    """f and the entries of M at g with their slopes in log g, (2, 7, N), by complex steps."""
    b, by_g = _places(law, g)
    averages = law.labels.over_each(*b)
    over = averages[:, 0] + 1j * _STEP * (averages[:, 1] * by_g[0] + averages[:, 2] * by_g[1])
    gain = g * (1.0 + 1j * _STEP)
    frame = Frame.of(signal_vectors(law))
    matrix = np.array(signal_overlaps(law, 1.0, gain, frame, frame.sums @ over))
    found = np.concatenate([blocks(law, gain, over[0], over[1]).filled[None], matrix[_ROWS, _COLUMNS]])
    return np.stack([found.real, found.imag / _STEP])


def _places(law: BulkLaw, g: Array) -> tuple[Array, Array]:
    """(b1, b2) at every g, (2, N), and how they move with log g; not numbers where none were found."""
    found = np.full((2, len(g)), np.nan)
    moves = np.full((2, len(g)), np.nan)
    left = np.arange(len(g))
    with np.errstate(all="ignore"):
        for sweeps in _SWEEPS:
            b, move, size = _newton(law, g[left], _swept(law, g[left], sweeps))
            solved = size < _LAST
            found[:, left[solved]], moves[:, left[solved]] = b[:, solved], move[:, solved]
            left = left[~solved]
            if not len(left):
                break
    return found, moves


def _swept(law: BulkLaw, g: Array, sweeps: int) -> Array:
    """The equations applied one after the other, half of the way each time: all of it may circle."""
    b = np.zeros((2, len(g)))
    for _ in range(sweeps):
        sums = law.labels.over_each(b[0], b[1], 2)
        at = blocks(law, g, sums[0, 0], sums[1, 0])
        b = 0.5 * (b + np.stack([at.b1 + np.zeros_like(g), at.b2]))
    return b


def _newton(law: BulkLaw, g: Array, start: Array) -> tuple[Array, Array, Array]:
    """(b1, b2) from a start, their slopes in log g, and the relative size of the last step; infinite where none led."""
    b, size, settled = start, np.full(len(g), math.inf), False
    for _ in range(_MOST_STEPS):
        (S1, fall1, fall2), (S2, _, fall3) = law.labels.over_each(b[0], b[1], 2)
        at = blocks(law, g, S1, S2)
        _, one, two = block_slopes(law, g, S1, S2, at)
        rows = [
            (by_1 * fall1 + by_2 * fall2 - (row == 0), by_1 * fall2 + by_2 * fall3 - (row == 1))
            for row, (_, by_1, by_2) in enumerate((one, two))
        ]
        (p, q), (r, s) = rows
        share = 1.0 / (p * s - q * r)
        u, v = at.b1 - b[0], at.b2 - b[1]
        steps = np.stack([(s * u - q * v) * share, (p * v - r * u) * share])
        by_g = -g * np.stack([(s * one[0] - q * two[0]) * share, (p * two[0] - r * one[0]) * share])
        root = np.sqrt(np.abs(b[1]))
        sizes = np.where(root > 0.0, root, 1.0), np.where(b[1] != 0.0, np.abs(b[1]), 1.0)
        size = np.maximum(np.abs(steps[0]) / sizes[0], np.abs(steps[1]) / sizes[1])
        b = b - steps
        inside = np.where(b[0] != 0.0, 4.0 * b[1] > b[0] * b[0], b[1] * law.omega >= 0.0)
        size = np.where(inside, size, math.inf)
        # One more than is needed: the slopes are those where a step begins.
        if settled:
            break
        settled = bool(np.all((size < _LAST) | ~np.isfinite(size)))
    return b, by_g, size
