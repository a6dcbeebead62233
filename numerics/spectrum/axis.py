"""Solutions of the spectrum's equations by continuation from above, and along the real axis from their neighbours.

Of several solutions at one z the Stieltjes transform is the one whose T and tau have positive imaginary parts. A real
solution is the limit of one from above where their derivatives in z are positive: these are the imaginary parts a step
above the axis.
"""

from __future__ import annotations

import bisect
import math

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import unpack
from giantsteps.numerics.spectrum.point import Equations, Solution

Array = NDArray[np.float64]
Complex = NDArray[np.complex128]

# Im g under this share of |g| is none: what is left of it at rounding.
_REAL = 1e-9
_ROUNDING = 1e-9
# What a share of eigenvalues may be off by: they are known to 1e-6 (`density.MASS_GOAL`).
_SHARE = 1e-4
# A neighbour's power law is followed this far, in powers of e of an entry.
_FARTHEST = 1.5
_MOST_CONTINUATIONS = 200


class SpectrumError(ValueError):
    """A point of the spectrum could not be computed: continuation does not reach it."""


def is_inside(equations: Equations, solution: Solution) -> bool:
    """Whether a point of the axis lies in the support: Im g > 0."""
    g = np.sum(solution.values[-equations.groups :])
    return bool(g.imag > _REAL * abs(g))


def density_of(equations: Equations, solution: Solution) -> float:
    """Im g/pi."""
    return max(0.0, float(np.sum(solution.values[-equations.groups :]).imag) / math.pi)


def mean_eigenvalue(equations: Equations) -> float:
    """The mean of the bulk of Phi^T Phi/p: the first moment, (alpha/beta) sum_a pi_a E[c_a mu1_a^2 + mu2_a^2]."""
    weighted = equations.coarse.features @ equations.coarse.weights
    k = equations.groups
    diagonal = [i * k - i * (i - 1) // 2 for i in range(k)]
    each = equations.bulks * weighted[diagonal] + weighted[-k:]
    return equations.ratio * float(equations.fractions @ each)


def continued(equations: Equations, z: complex, start: tuple[complex, Complex] | None = None) -> Solution:
    """The solution at z, by continuation along the imaginary direction from far above, or from a solution above."""
    if z.imag < 0.0:
        raise SpectrumError(f"z = {z} is below the real axis, where g(z) is the conjugate of g above it")
    if start is None:
        height = 1e3 * (abs(z) + mean_eigenvalue(equations))
        start = complex(z.real, height), equations.far(complex(z.real, height))
    at, x = start
    target = z
    for _ in range(_MOST_CONTINUATIONS):
        found = accepted(equations, x, target)
        if found is not None:
            if target == z:
                return found
            at, x, target = target, found.values, z
            continue
        # Half way, on the scale of the logarithm.
        if target.imag > 1e-14 * abs(z):
            middle = math.sqrt(at.imag * target.imag)
        else:
            middle = 1e-2 * at.imag
        if middle > 0.99 * at.imag or middle < 1e-18 * abs(z):
            break
        share = (at.imag - middle) / (at.imag - z.imag)
        target = complex(at.real + share * (z.real - at.real), middle)
    raise SpectrumError(f"continuation from above does not reach z = {z}")


def accepted(equations: Equations, start: Complex, z: complex) -> Solution | None:
    """Newton's solution where it is the Stieltjes transform: T and tau have positive imaginary parts, as matrices.

    On the axis outside the support their derivatives have to be positive instead: they are the imaginary parts a step
    above it.
    """
    found = equations.solve(start, z)
    if found is None:
        return None
    if z.imag > 1e-9 * abs(z):
        return found if _least(equations, found.values, found.values.imag) >= 0.0 else None
    if _least(equations, found.values, found.values.imag) < -_ROUNDING:
        return None
    if not -_SHARE <= found.below <= 1.0 + _SHARE:
        return None  # a solution for which 1 + V has no limit from above: its share of eigenvalues is none
    if not is_inside(equations, found) and _least(equations, found.slope, found.slope.real) < -_ROUNDING:
        return None
    return found


def _least(equations: Equations, packed: Complex, part: Array) -> float:
    """The least eigenvalue of a part of T and of tau, relative to the size of each."""
    k = equations.groups
    matrix, _ = unpack(part)
    share = part[-k:] / np.maximum(np.abs(packed[-k:]), 1e-300)
    size = max(float(np.max(np.abs(packed[:-k]))), 1e-300)
    return min(float(np.min(share)), float(np.linalg.eigvalsh(matrix)[0]) / size)


class Axis:
    """Solutions on the real axis, each remembered and a start for its neighbours."""

    def __init__(self, equations: Equations) -> None:
        self.equations = equations
        self._places: list[float] = []
        self._found: list[Solution] = []

    def at(self, x: float) -> Solution:
        """The limit from above at x. Raises SpectrumError where it is not reached."""
        place = bisect.bisect_left(self._places, x)
        if place < len(self._places) and self._places[place] == x:
            return self._found[place]
        found = self._beside(place, x)
        if found is None:
            top = complex(x, 0.5 * abs(x))
            found = continued(self.equations, complex(x), (top, continued(self.equations, top).values))
        self._places.insert(place, x)
        self._found.insert(place, found)
        return found

    def _beside(self, place: int, x: float) -> Solution | None:
        """From the nearest neighbour, then from the one on the other side."""
        around = [i for i in (place - 1, place) if 0 <= i < len(self._places) and self._places[i] * x > 0.0]
        for i in sorted(around, key=lambda i: abs(math.log(self._places[i] / x))):
            start = _followed(self._found[i], x)
            found = accepted(self.equations, start, complex(x))
            # From the support into it: an exit is looked at from above as well, where no branch is in doubt.
            if found is not None and is_inside(self.equations, found) == is_inside(self.equations, self._found[i]):
                return found
        return None

    def inside(self, x: float) -> bool:
        """Whether x lies in the support."""
        return is_inside(self.equations, self.at(x))

    def density(self, x: float) -> float:
        """The density at x."""
        return density_of(self.equations, self.at(x))

    def below(self, x: float) -> float:
        """The share of eigenvalues below x."""
        return self.at(x).below


def _followed(solution: Solution, x: float) -> Complex:
    """The solution's own power law taken to x, entry by entry, where that is a moderate step."""
    values = solution.values
    with np.errstate(all="ignore"):  # entries may be zero
        exponent = solution.z.real * solution.slope / values * math.log(x / solution.z.real)
    exponent = np.where(np.isfinite(exponent), exponent, 0.0)
    if np.max(np.abs(exponent)) > _FARTHEST:
        return values
    followed: Complex = values * np.exp(exponent)
    return followed
