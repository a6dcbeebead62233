"""The spectrum of Phi^T Phi/p: Stieltjes transform, density, edges, atom and outliers (Appendix F of arXiv 2402.04980).

The transform g(z) = lim (1/p) tr (Phi^T Phi/p - z)^-1 is reached by continuation from a large imaginary part; the
density is Im g/pi on the real axis itself. An edge is a point where z, as a function of g along the real branch outside
the support, turns back: it is solved for as such, to rounding, and not read off the density.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from numerics.model import Model, ModelError
from numerics.outliers import Outlier, detached_eigenvalues, outliers_of
from numerics.profile import Profile, profile
from numerics.spectrum_point import Complex, Equations, Table

Array = NDArray[np.float64]

MASS_GOAL = 1e-6
# Im g under this share of |g| is none: what is left of it at rounding.
_REAL = 1e-9
# The scan for the support, in units of the mean eigenvalue: points a decade, and where.
_SCAN = ((-11.0, -3.0, 3), (-3.0, 2.0, 30), (2.0, 4.0, 5))
# Where the support reaches 0 the integral starts here: less than MASS_GOAL lies below, even where it grows like
# x^(-1/2) (as many samples as features).
_SMALLEST = 1e-14
# Where features are unbounded it ends here: the densities of their variances have tails like those of Gaussians.
_LARGEST = 1e4
# Imaginary parts of z on the way down to the axis, in units of |z|.
_DESCENT = (0.5, 0.2, 0.08, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 1e-6, 0.0)
_COARSEST, _FINEST = 32, 512


class SpectrumError(ValueError):
    """A point of the spectrum that continuation does not reach."""


@dataclass(frozen=True)
class Spectrum:
    """The limiting spectrum of Phi^T Phi/p.

    edges: the intervals of the support, the last end infinite where the features are unbounded in variance.
    x, density: (N,), every interval with its ends. mass: atom_at_zero plus the integral of the density, 1 up to
    mass_error, the change when the rule was doubled. outliers of size p; detached: isolated eigenvalues of O(1).
    """

    edges: tuple[tuple[float, float], ...]
    atom_at_zero: float
    outliers: tuple[Outlier, ...]
    detached: tuple[float, ...]
    x: Array
    density: Array
    mass: float
    mass_error: float
    converged: bool
    status: str


def stieltjes(model: Model, z: complex) -> complex:
    """g(z), Im z >= 0; on the real axis the limit from above. Raises SpectrumError where continuation gets stuck."""
    return complex(np.sum(_continued(Equations(model), z)[-len(model.groups) :]))


def _continued(equations: Equations, z: complex, start: tuple[complex, Complex] | None = None) -> Complex:
    """The solution at z, by continuation along the imaginary direction from far above; the ridge is not used."""
    if z.imag < 0.0:
        raise SpectrumError(f"z = {z} is below the real axis, where g(z) is the conjugate of g above it")
    if start is None:
        height = 1e3 * (abs(z) + mean_eigenvalue(equations))
        start = complex(z.real, height), equations.far(complex(z.real, height))
    at, x = start
    target = z
    for _ in range(200):
        found = _accepted(equations, x, target)
        if found is not None:
            if target == z:
                return found
            at, x, target = target, found, z
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


def _accepted(equations: Equations, start: Complex, z: complex) -> Complex | None:
    """Newton's solution where it is a Stieltjes transform: Im tau_a > 0, none below the axis."""
    found = equations.solve(start, z)
    if found is None:
        return None
    tau = found[-equations.groups :]
    floor = -1e-9 * np.abs(tau) if z.imag <= 1e-9 * abs(z) else np.zeros(len(tau))
    return found if np.all(tau.imag >= floor) else None


def mean_eigenvalue(equations: Equations) -> float:
    """The mean of the bulk of Phi^T Phi/p, (alpha/beta) sum_a pi_a E[c_a mu1_a^2 + mu2_a^2]."""
    weighted = equations.coarse.features @ equations.coarse.weights
    k = equations.groups
    diagonal = [i * k - i * (i - 1) // 2 for i in range(k)]
    each = equations.bulks * weighted[diagonal] + weighted[-k:]
    return equations.ratio * float(equations.fractions @ each)


def atom_at_zero(model: Model) -> float:
    """The share of zero eigenvalues, 1 - rank/p: n samples, and d where the features are linear given kappa."""
    equations = Equations(model)
    k = equations.groups
    inner = equations.coarse.features @ equations.coarse.weights
    present = inner > 1e-24 * max(float(np.max(inner)), 1e-300)
    diagonal = [i * k - i * (i - 1) // 2 for i in range(k)]
    noisy, linear = present[-k:], present[diagonal]
    # Neurons with a part of their own count one by one, those without at most d together, constant ones none.
    wide = float(np.sum(equations.fractions[noisy]))
    narrow = min(float(np.sum(equations.fractions[linear & ~noisy])), 1.0 / model.beta)
    return 1.0 - min(model.alpha / model.beta, wide + narrow)


@lru_cache(maxsize=16)
def spectrum(model: Model) -> Spectrum:
    """Density, edges, atom and outliers of a model; its ridge, target and noise play no part."""
    if model.unequal_norms:
        raise ModelError("the spectrum is built for rows of equal norm: take the isotropic bulk")
    equations = Equations(model)
    atom = atom_at_zero(model)
    # The mean of the eigenvalues that are not zero.
    scale = mean_eigenvalue(equations) / max(1.0 - atom, 1e-300)
    table = profile(model, 1)
    outliers = outliers_of(model, table)
    if scale <= 1e-300 or atom >= 1.0:
        nothing = np.zeros(0)
        return Spectrum((), 1.0, outliers, (), nothing, nothing, 1.0, 0.0, True, "converged: the features are constant")
    edges = _support(equations, scale, _vanishing(table), _unbounded(table))
    x, density, mass, error = _integrated(equations, scale, edges)
    total = atom + mass
    fine = abs(total - 1.0) <= MASS_GOAL and error <= MASS_GOAL and bool(np.all(density >= 0.0))
    status = "converged" if fine else (
        f"not converged: atom and density add up to {total:.9g} instead of 1, and doubling the rule moved them by"
        f" {error:.1e}; a larger bulk makes the functions along the spike smoother"
    )  # fmt: skip

    def on_axis(x: float) -> Complex:
        return _next(equations, x, None)

    detached = detached_eigenvalues(equations, table, edges, on_axis)
    return Spectrum(edges, atom, outliers, detached, x, density, total, error, fine, status)


def _variances(table: Profile) -> Array:
    """The features' variance given kappa, up to constants, in the order of kappa."""
    total: Array = np.sum(table.mu1**2 + table.mu2_squared, axis=0)
    return total


def _vanishing(table: Profile) -> bool:
    """Whether features saturate along the spike: then some samples have eigenvalues as small as one likes."""
    variance = _variances(table)
    return bool(min(variance[0], variance[-1]) < 1e-9 * np.max(variance))


def _unbounded(table: Profile) -> bool:
    """Whether the variance grows along the spike: then some samples have eigenvalues as large as one likes."""
    variance, outer = _variances(table), np.abs(table.kappa) > 0.5 * table.kappa[-1]
    return bool(np.max(variance[outer]) > 1.1 * np.max(variance[~outer]))


def _support(equations: Equations, scale: float, vanishing: bool, unbounded: bool) -> tuple[tuple[float, float], ...]:
    """The intervals on which Im g > 0 on the axis: found by a scan, each end then solved for."""
    grid = np.concatenate([np.logspace(a, b, int((b - a) * each), endpoint=False) for a, b, each in _SCAN]) * scale
    to_zero = vanishing and equations.ratio < 1.0
    if to_zero:
        # The lower end is known, and the way down to it long.
        grid = grid[grid > 1e-3 * scale]
    inside, solutions = [], []
    point: Complex | None = None
    for x in grid[::-1]:
        point = _next(equations, float(x), point)
        inside.append(_is_inside(equations, point))
        solutions.append(point)
    inside.reverse()
    solutions.reverse()
    intervals = []
    start: float | None = 0.0 if inside[0] else None
    for i in range(1, len(grid)):
        if inside[i] == inside[i - 1]:
            continue
        low, up = float(grid[i - 1]), float(grid[i])
        if unbounded and not inside[i] and low > scale:
            # A tail that has come under rounding, not an edge.
            break
        edge = _edge(equations, low, up, solutions[i - 1], solutions[i])
        if inside[i]:
            start = edge
        else:
            assert start is not None
            intervals.append((start, edge))
            start = None
    if start is not None:
        intervals.append((start, math.inf))
    if intervals and to_zero:
        intervals[0] = (0.0, intervals[0][1])
    if intervals and unbounded:
        intervals[-1] = (intervals[-1][0], math.inf)
    return tuple(intervals)


def _is_inside(equations: Equations, point: Complex) -> bool:
    g = np.sum(point[-equations.groups :])
    return bool(g.imag > _REAL * abs(g))


def _descended(equations: Equations, x: float, point: Complex) -> Complex:
    """From the solution at x (1 + i/2) down to the axis."""
    at = _DESCENT[0]
    for share in _DESCENT[1:]:
        point = _continued(equations, complex(x, share * x), (complex(x, at * x), point))
        at = share
    return point


def _edge(equations: Equations, low: float, up: float, at_low: Complex, at_up: Complex) -> float:
    """The edge between two neighbouring points of the scan, one of them inside."""
    low_inside = _is_inside(equations, at_low)
    inner, outer = (low, up) if low_inside else (up, low)
    for _ in range(60):
        outside = at_up if low_inside else at_low
        found = _turning_point(equations, outer, outside, inner)
        if found is not None:
            return float(found)
        # No turning point in sight: come closer.
        middle = math.sqrt(inner * outer)
        if abs(inner - outer) < 1e-10 * abs(outer):
            break
        top = complex(middle, _DESCENT[0] * middle)
        point = _descended(equations, middle, _continued(equations, top))
        if _is_inside(equations, point):
            inner = middle
        else:
            outer = middle
            at_low, at_up = (at_low, point) if low_inside else (point, at_up)
    return float(inner)


def _turning_point(equations: Equations, z: float, point: Complex, inner: float) -> float | None:
    """Where dz/dg = 0 along the real branch through (z, point), between z and inner; None where it is not met.

    The branch is followed in s = sum_a tau_a, in which it is smooth through the edge.
    """
    k = equations.groups
    x: Complex = point.real.astype(complex)
    s = float(np.sum(x[-k:]).real)
    found = _on_branch(equations, x, z, s)
    if found is None:
        return None
    x, z, slope = found
    # Towards the edge z moves to inner, and dz/ds > 0 outside the support.
    direction = math.copysign(1.0, inner - z)
    step = 0.25 * abs(inner - z) / abs(slope) if slope else 0.05 * abs(s)
    step = min(step, 0.1 * abs(s))
    before = (s, slope)
    for _ in range(60):
        found = _on_branch(equations, x, z, s + direction * step)
        if found is None or not min(z, inner) - 1e-9 * abs(z) <= found[1] <= max(z, inner) * (1.0 + 1e-9):
            step *= 0.5
            if step < 1e-13 * abs(s):
                return None
            continue
        x, z, slope = found
        s += direction * step
        if slope <= 0.0:
            return _slope_root(equations, x, z, before, (s, slope))
        before = (s, slope)
        step *= 1.5
    return None


def _slope_root(
    equations: Equations, x: Complex, z: float, outside: tuple[float, float], beyond: tuple[float, float]
) -> float | None:
    """z where the slope vanishes, by the Illinois form of false position."""
    (a, fa), (b, fb) = outside, beyond
    for _ in range(100):
        s = b - fb * (b - a) / (fb - fa)
        found = _on_branch(equations, x, z, s)
        if found is None:
            return None
        x, z, slope = found
        if slope * fb <= 0.0:
            a, fa = b, fb
        else:
            fa *= 0.5
        b, fb = s, slope
        # z is flat here: half of the digits of s are all of those of z.
        if abs(b - a) < 1e-10 * abs(b) or slope == 0.0:
            break
    return z


def _on_branch(equations: Equations, x: Complex, z: float, s: float) -> tuple[Complex, float, float] | None:
    """(x, z, dz/ds) on the real branch where sum_a tau_a = s, by Newton's method on the bordered system."""
    k, size = equations.groups, len(x)
    table = equations.coarse
    if not _regular(table, x):
        return None
    previous = math.inf
    for _ in range(30):
        value, jacobian = equations.evaluate(table, x, complex(z))
        system = np.zeros((size + 1, size + 1))
        system[:size, :size] = jacobian.real
        system[size - k : size, size] = -x[-k:].real
        system[size, size - k : size] = 1.0
        right = np.append(value.real, np.sum(x[-k:]).real - s)
        unit = np.zeros(size + 1)
        unit[-1] = 1.0
        try:
            moves = np.linalg.solve(system, np.stack([right, unit], axis=1))
        except np.linalg.LinAlgError:
            return None
        x, z = x - moves[:size, 0], z - moves[size, 0]
        change = float(max(np.max(np.abs(moves[:size, 0])) / np.max(np.abs(x)), abs(moves[size, 0]) / abs(z)))
        if not math.isfinite(change) or not _regular(table, x):
            return None
        if change < 1e-14 or (change < 1e-11 and change >= previous):
            return x, z, float(moves[size, 1])
        previous = change
    return None


def _regular(table: Table, x: Complex) -> bool:
    """Whether 1 + V has no zero along the spike: below a support without its zeros it may be negative throughout."""
    one = (1.0 + x @ table.doubled).real
    return bool(np.min(one) > 0.0 or np.max(one) < 0.0)


def _integrated(
    equations: Equations, scale: float, edges: tuple[tuple[float, float], ...]
) -> tuple[Array, Array, float, float]:
    """Nodes, density and its integral on every interval: panels in log x, ends by squares of sines."""
    xs: list[Array] = []
    densities: list[Array] = []
    mass = error = 0.0
    for low, high in edges:
        a = math.log(low) if low > 0.0 else math.log(_SMALLEST * scale)
        b = math.log(high) if math.isfinite(high) else math.log(_LARGEST * scale)
        previous = math.nan
        count = _COARSEST
        while True:
            x, density, integral = _interval(equations, a, b, count, math.log(scale))
            moved = abs(integral - previous)
            if moved <= 0.01 * MASS_GOAL or count >= _FINEST:
                break
            previous, count = integral, 2 * count
            ends = [0.0] if low > 0.0 else []
        xs += [np.array([low] if low > 0.0 else []), x, np.array([high] if math.isfinite(high) else [])]
        densities += [np.array(ends), density, np.array([0.0] if math.isfinite(high) else [])]
        mass += integral
        error += moved
    if not xs:
        return np.zeros(0), np.zeros(0), 0.0, 0.0
    return np.concatenate(xs), np.concatenate(densities), mass, error


def _interval(equations: Equations, a: float, b: float, count: int, typical: float) -> tuple[Array, Array, float]:
    """The density at count nodes of log x = a + (b - a) sin^2, which takes square roots at both ends away.

    Nodes are visited from the typical eigenvalue outwards, or from the middle where that is not inside.
    """
    # Midpoints in an angle in which everything is even and periodic: geometric convergence.
    angle = 0.5 * math.pi * (np.arange(count) + 0.5) / count
    x = np.exp(a + (b - a) * np.sin(angle) ** 2)
    measure = 0.5 * math.pi / count * (b - a) * np.sin(2.0 * angle) * x
    density = np.zeros(count)
    inner = typical if a + 0.1 * (b - a) < typical < b - 0.1 * (b - a) else 0.5 * (a + b)
    middle = int(np.argmin(np.abs(np.log(x) - inner)))
    for indices in (range(middle, count), range(middle - 1, -1, -1)):
        point: Complex | None = None
        for i in indices:
            point = _next(equations, float(x[i]), point)
            if not _is_inside(equations, point):
                # A tail under the rounding of g: nothing beyond.
                break
            density[i] = max(0.0, float(np.sum(point[-equations.groups :]).imag) / math.pi)
    return x, density, float(measure @ density)


def _next(equations: Equations, x: float, neighbour: Complex | None) -> Complex:
    """The solution on the axis at x, from a neighbour's where that leads to the upper half plane, else from above."""
    if neighbour is not None and _is_inside(equations, neighbour):
        found = _accepted(equations, neighbour, complex(x))
        if found is not None and _is_inside(equations, found):
            return found
    top = complex(x, _DESCENT[0] * x)
    return _descended(equations, x, _continued(equations, top))
