"""A network's own bulk at many pairs (C, D): one group, arrays (P,).

With x = beta tau the resolvent (1 + g B)^-1 of a network's rows, after one step (`numerics.bulk.network`) or several
(`numerics.gradient_steps.law`), knows of C, D, ridge and beta only g = C x. So

    tr B H/d = f(g),   K = x M(g),   x (ridge + D + C f(C x)) = beta,   T = tau f(g),

with one function f and six entries of the symmetric M on (v, delta, theta_perp). f is an integral of b/(1 + g b) over
the spectrum of B, and M is made of such integrals: in log g all are analytic in the strip |Im| < pi. Where they bend is
where g times an eigenvalue is about one, and eigenvalues are of the size of c = (1/d) tr B: on panels of log(g c) they
are interpolated at Chebyshev's points, whose error on a panel of half length L falls as (s + sqrt(s^2 + 1))^-N,
s = pi/L.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache, lru_cache, partial
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.network import signal_overlaps, signal_vectors
from giantsteps.numerics.bulk.network_law import BulkLaw
from giantsteps.numerics.bulk.resolvent import Frame, block_slopes, blocks
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.gradient_steps.law import StepsLaw

Array = NDArray[np.float64]

# 3.43^-36 is 5e-20: what the theory leaves is far below rounding. The last coefficients of every panel are looked at.
_LENGTH, _NODES, _TAIL, _FEW = 4.0, 36, 4, 8
# A panel with a larger tail has no numbers. Where g is large, the rounding of M itself, a difference, comes to 1e-12.
_RESOLVED = 1e-9
# Of log(g c). Below, a function of g differs from its limit by less than rounding, for eigenvalues up to 1e10 c. Above
# nothing is looked for. Panels beyond some e^24 .. e^40 are not resolved as it is, since M, a difference, is rounding
# there: such a point has no numbers in a batch, and `solve` may still have some.
_LEAST, _MOST = -60.0, 120.0
_SWEEPS, _MOST_STEPS = (3, 30, 300), 60
# A step of this relative size squares to less than rounding.
_LAST, _FULL, MOST_ITERATIONS = 1e-9, 1e-9, 100
# The entries of M, beside f: v v, v delta, v theta_perp, delta delta, delta theta_perp, theta_perp theta_perp.
_ROWS, _COLUMNS = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])
_POINTS = np.cos(np.pi * (np.arange(_NODES) + 0.5) / _NODES)


class Resolved(NamedTuple):
    """x = beta tau, g = C x and the slopes of x in C and D, (2, P); (T, tau), (2, P), and its slopes in C and D."""

    x: Array
    gain: Array
    moved: Array
    values: Array
    jacobian: tuple[tuple[Array, Array], tuple[Array, Array]]


@dataclass(frozen=True)
class Gains:
    """The functions of g of a law of rows with c = `bulk`, by panels that are made when first asked for.

    functions: f and the entries of M at given g, (7, N).
    """

    bulk: float
    functions: Callable[[Array], Array]
    _panels: dict[int, tuple[Array, float]] = field(default_factory=dict)

    def resolved(self, C: Array, shift: Array, beta: Array | float, near: Array) -> Resolved:
        """Gamma: x (ridge + D + C f(C x)) = beta, whose left side is increasing and concave in x; `near` tau.

        shift = ridge + D.
        """
        # f <= c: from here Newton's method rises to the solution, and one step from elsewhere leads below it.
        lowest = beta / (shift + C * self.bulk)
        x = np.maximum(beta * near, lowest)
        for _ in range(MOST_ITERATIONS):
            filled, bent = self.filled(C * x)
            step = (x * (shift + C * filled) - beta) / (shift + C * (filled + C * x * bent))
            size = np.abs(step) / x
            x = np.maximum(x - step, lowest)
            if not (size > _FULL).any():
                break
        gain = C * x
        filled, bent = self.filled(gain)
        spread = filled + gain * bent
        whole = shift + C * spread
        by_C, by_D = -x * spread / whole, -x / whole
        # T = tau f; its slope in D and that of tau in C are one number.
        overlap = by_C * spread + x * x * bent
        slopes = (overlap / beta, by_C / beta), (by_C / beta, by_D / beta)
        return Resolved(x, gain, np.stack([by_C, by_D]), np.stack([x * filled, x]) / beta, slopes)

    def signals(self, C: Array, at: Resolved) -> tuple[Array, Array]:
        """K, (3, 3, P), and its slopes in C and D, (2, 3, 3, P)."""
        form, bent = self.overlaps(at.gain)
        by_gain = C * at.moved
        by_gain[0] += at.x
        return at.x * form, at.moved[:, None, None] * form + by_gain[:, None, None] * (at.x * bent)

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
            place = np.maximum(np.log(g * self.bulk), _LEAST)
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
        return found[0], found[1] * (np.exp(-place) * self.bulk)

    def _panel(self, number: int) -> tuple[Array, float]:
        """Coefficients of values and slopes in log g, (2, 7, N), and the tail of those of f; none if not resolved."""
        if number not in self._panels:
            g = np.exp(_LENGTH * (number + 0.5 + 0.5 * _POINTS)) / self.bulk
            values = self.functions(g) @ _inverse()
            coefficients = np.stack([values, values @ _slopes()])
            largest = np.abs(values).max(axis=1)
            tails = np.abs(values[:, -_TAIL:]).max(axis=1)
            # What lies beside the diagonal of M counts with the roots of both entries there.
            diagonal = np.sqrt(largest[[1, 4, 6]])
            sizes = np.concatenate([largest[:1], diagonal[_ROWS] * diagonal[_COLUMNS]])
            shares = tails / np.where(sizes > 0.0, sizes, 1.0)
            left = float(shares[0])
            if not np.max(shares) <= _RESOLVED:
                coefficients, left = np.full_like(coefficients, np.nan), 0.0
            self._panels[number] = coefficients, left
        return self._panels[number]


def gains_of(law: BulkLaw | StepsLaw) -> Gains:
    """The functions of a law after one step or several."""
    return _of_steps(law) if isinstance(law, StepsLaw) else Gains(law.bulk, partial(_functions, law))


@lru_cache(maxsize=8)
def _of_steps(law: StepsLaw) -> Gains:
    """Kept, since a panel takes as long as ten solutions."""
    return Gains(law.bulk, law.functions)


def _chebyshev(u: Array) -> Array:
    """T_0, .., T_(N-1) at u, (N, P): for few places by cosines, in a tenth of the time."""
    if len(u) < _FEW:
        return np.asarray(np.cos(np.arange(_NODES)[:, None] * np.arccos(u)))
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


@cache
def _slopes() -> Array:
    """Coefficients of a function on a panel to those of its slope in log g."""
    slopes = np.polynomial.chebyshev.chebder(np.eye(_NODES), axis=1) * (2.0 / _LENGTH)
    return np.hstack([slopes, np.zeros((_NODES, 1))])


def _functions(law: BulkLaw, g: Array) -> Array:
    """f and the entries of M at g after one step, (7, N)."""
    over = law.labels.over_each(*_places(law, g))[:, 0]
    frame = Frame.of(signal_vectors(law))
    matrix = np.array(signal_overlaps(law, 1.0, g, frame, frame.sums @ over))
    return np.concatenate([blocks(law, g, over[0], over[1]).filled[None], matrix[_ROWS, _COLUMNS]])


def _places(law: BulkLaw, g: Array) -> Array:
    """(b1, b2) at every g, (2, N); not numbers where none were found."""
    found = np.full((2, len(g)), np.nan)
    left = np.arange(len(g))
    with np.errstate(all="ignore"):
        for sweeps in _SWEEPS:
            b, size = _newton(law, g[left], _swept(law, g[left], sweeps))
            solved = size < _LAST
            found[:, left[solved]] = b[:, solved]
            left = left[~solved]
            if not len(left):
                break
    return found


def _swept(law: BulkLaw, g: Array, sweeps: int) -> Array:
    """The equations applied one after the other, half of the way each time: all of it may circle."""
    b = np.zeros((2, len(g)))
    for _ in range(sweeps):
        sums = law.labels.over_each(b[0], b[1], 2)
        at = blocks(law, g, sums[0, 0], sums[1, 0])
        b = 0.5 * (b + np.stack([at.b1 + np.zeros_like(g), at.b2]))
    return b


def _newton(law: BulkLaw, g: Array, start: Array) -> tuple[Array, Array]:
    """(b1, b2) from a start, and the relative size of the last step, infinite where none led on."""
    b, size = start, np.full(len(g), math.inf)
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
        root = np.sqrt(np.abs(b[1]))
        sizes = np.where(root > 0.0, root, 1.0), np.where(b[1] != 0.0, np.abs(b[1]), 1.0)
        size = np.maximum(np.abs(steps[0]) / sizes[0], np.abs(steps[1]) / sizes[1])
        b = b - steps
        inside = np.where(b[0] != 0.0, 4.0 * b[1] > b[0] * b[0], b[1] * law.omega >= 0.0)
        size = np.where(inside, size, math.inf)
        if np.all((size < _LAST) | ~np.isfinite(size)):
            break
    return b, size
