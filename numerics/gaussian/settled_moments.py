"""Gaussian moments with error estimates: the change on finer rules, its extrapolation, and rounding."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.gaussian.quadrature import (
    ROUNDING,
    Integrand,
    Moments,
    across_rule,
    conditional_moments,
    doublings,
    span,
)

Array = NDArray[np.float64]

# The roundings of nodes are independent and their sum nearly Gaussian: this many of its standard deviations.
_DEVIATIONS = 5.0
_EPS = float(np.finfo(float).eps)
# Beside a root a slope may grow by a power and a logarithm: of a sum of 1/k^2 the geometric series with the ratio of
# its last terms has a half.
_LOGARITHM = 2.0
# The Gaussian weight farther out is nothing; values beside a breakpoint are taken this close to it.
_FARTHEST, _BESIDE = 30.0, 1e-10


def settled_moments(function: Integrand, shift: Array, scale: float, refine: int = 0) -> tuple[Moments, Moments]:
    """The moments of `conditional_moments` and their errors (estimates), one entry per shift.

    Never raises for lack of convergence: errors as large as the moments say that there is none.
    """
    pairs = [_at(function, np.array([float(x)]), scale, refine) for x in np.atleast_1d(shift)]
    moments, errors = (
        Moments(*(np.concatenate(parts) for parts in zip(*(pair[side] for pair in pairs), strict=True)))
        for side in (0, 1)
    )
    return moments, errors


def still_to_come(before: Array, last: Array, noise: Array, size: Array) -> Array:
    """How far an average still moves that moved by `before` and then by `last` when its rule was refined twice.

    Where the integrand has an integrable singularity, every halving of the panels that end on it leaves the same share
    q of the error: a geometric series, whose rest is last q/(1 - q), and twice that is claimed. All of the `size` where
    nothing shrinks; nothing where `last` is `noise`. All >= 0, of one shape.
    """
    shrinks = last < before
    rest = _LOGARITHM * last**2 / np.where(shrinks, before - last, 1.0)
    return np.asarray(np.where(last > noise, np.where(shrinks, np.minimum(rest, size), size), 0.0))


def _at(function: Integrand, shift: Array, scale: float, refine: int) -> tuple[Moments, Moments]:
    level, left = (0, 0.0) if scale == 0.0 else doublings(function, *span(shift), scale)
    coarse, fine = (conditional_moments(function, shift, scale, refine + k, math.inf) for k in (0, 1))
    root, square = np.sqrt(fine.square), fine.square
    units = (root, root, square, square, root)
    rounding = _rounding(function, shift, scale, refine + 1, fine)
    moved = [np.abs(a - b) for a, b in zip(coarse, fine, strict=True)]
    errors = [last + (left + ROUNDING) * unit + noise for last, unit, noise in zip(moved, units, rounding, strict=True)]
    if function.rough and refine + level > 0:
        coarser = conditional_moments(function, shift, scale, refine - 1, math.inf)
        for error, a, b, last, unit, noise in zip(errors, coarser, coarse, moved, units, rounding, strict=True):
            error += still_to_come(np.abs(a - b), last, ROUNDING * unit + noise, unit)
    return fine, Moments(*errors)


def _rounding(function: Integrand, shift: Array, scale: float, refine: int, moments: Moments) -> Moments:
    """What the rounding of places does: of nodes, where f is steep, and of breakpoints, where it jumps."""
    if scale == 0.0:
        moved = np.abs(function.values(shift * (1.0 + _EPS)) - function.values(shift))
        zero = np.zeros(1)
        return Moments(moved, zero, 2.0 * np.abs(moments.mean) * moved, zero, zero)
    z, weights = (np.ravel(x) for x in across_rule(function, shift, scale, refine))
    z, weights = z[weights > 0.0], weights[weights > 0.0]
    x = shift + scale * z
    values = function.values(x)
    noise = weights * (function.values(x + _EPS * (np.abs(shift) + scale * np.abs(z))) - values)
    deviation = values - moments.mean - moments.slope * z
    noisy = [_DEVIATIONS * np.linalg.norm(noise * f) for f in (1.0, z, 2.0 * values, 2.0 * deviation, z * z - 1.0)]
    return Moments(*(np.array([a + b]) for a, b in zip(noisy, _jumps(function, shift, scale, moments), strict=True)))


def _jumps(function: Integrand, shift: Array, scale: float, moments: Moments) -> list[float]:
    """How far the moments move where the breakpoints, which are ends of panels, are rounded."""
    places = np.array(function.breakpoints)
    z = (places - shift) / scale
    here = np.abs(z) < _FARTHEST
    places, z = places[here], z[here]
    if len(places) == 0:
        return [0.0] * 5
    weights = density(z) * _EPS * (np.abs(places) + np.abs(shift)) / scale
    # Close to the breakpoint, on either side.
    near = _BESIDE * (1.0 + np.abs(places))
    left, right = function.values(places - near), function.values(places + near)
    off = moments.mean + moments.slope * z
    jump, squares = np.abs(right - left), np.abs(right**2 - left**2)
    deviations = np.abs((right - off) ** 2 - (left - off) ** 2)
    terms = (jump, np.abs(z) * jump, squares, deviations, np.abs(z * z - 1.0) * jump)
    return [float(weights @ term) for term in terms]
