"""Averages over a Gaussian of a force that is a clipped line, in closed form."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.models.losses import ClippedLine
from giantsteps.numerics.saddle_point.any_loss.sample_averages import normal_cdf

Array = NDArray[np.float64]


# Half the line in standard deviations of r, below which it is integrated by a rule of this many points.
_SHORT, _SHORT_POINTS = 0.1, 6


def clipped_moments(mean: Array, deviation: Array, width: Array, line: ClippedLine) -> tuple[Array, ...]:
    """E f, E f', its first and second derivative in the mean, E f^2, E f f', its derivative, and E f^2 f'.

    f = r/width clipped at line.low and line.high, r ~ N(mean, deviation^2).
    """
    low, high = (line.low * width - mean) / deviation, (line.high * width - mean) / deviation
    below, above = normal_cdf(low), normal_cdf(-high)
    # Where V is near zero the line is so short that differences of the distribution function would lose it: its share
    # is integrated instead, over the values of the force.
    short = max(-line.low, line.high) * width < _SHORT * deviation
    if np.all(short):
        on_line = _short_line(mean, deviation, width, line)
    else:
        on_line = _long_line(mean, deviation, width, low, high, 1.0 - below - above)
        if np.any(short):
            for part, integrated in zip(
                on_line, _short_line(mean[short], deviation[short], width[short], line), strict=True
            ):
                part[short] = integrated
    S, dS, ddS, ff, dff, fff = on_line
    force = width * ff + line.low * below + line.high * above
    square = width * fff + line.low**2 * below + line.high**2 * above
    return force, S, dS, ddS, square, ff, dff, fff


def _long_line(mean: Array, deviation: Array, width: Array, low: Array, high: Array, inside: Array) -> list[Array]:
    """E f', its derivatives in the mean, E f f', its derivative and E f^2 f', in closed form."""
    at_low, at_high = density(low), density(high)
    one, tilt = 1.0 / width, at_low - at_high
    bent, turned = low * at_low - high * at_high, mean / deviation
    first, moved = mean * inside + deviation * tilt, inside + turned * tilt + bent
    second, square = mean * first + deviation**2 * moved, one * one
    return [
        one * inside, one * tilt / deviation, one * bent / deviation**2,
        square * first, square * moved, square * one * second,
    ]  # fmt: skip


def _short_line(mean: Array, deviation: Array, width: Array, line: ClippedLine) -> list[Array]:
    """The same by Gauss and Legendre's rule over the values of the force; no division by the width."""
    nodes, weights = gauss_legendre(_SHORT_POINTS)
    half, middle = 0.5 * (line.high - line.low), 0.5 * (line.high + line.low)
    f = middle + half * nodes[:, None]
    x = np.clip((f * width - mean) / deviation, -40.0, 40.0)
    likely = half * weights[:, None] * density(x) / deviation
    tilted, bent = likely * x / deviation, likely * (x * x - 1.0) / deviation**2
    return [part.sum(axis=0) for part in (likely, tilted, bent, f * likely, f * tilted, f * f * likely)]


def clipped_loss(mean: Array, deviation: Array, V: Array, line: ClippedLine) -> Array:
    """E l at the proximal point for such r: (quadratic/2) f^2, and |f| times what r is beyond the line."""
    width = line.quadratic + V
    low, high = (line.low * width - mean) / deviation, (line.high * width - mean) / deviation
    total = np.zeros_like(mean)
    below, above = normal_cdf(low), normal_cdf(-high)
    at_low, at_high = density(low), density(high)
    if line.high != 0.0:
        total += line.high * deviation * (at_high - high * above)
    if line.low != 0.0:
        total -= line.low * deviation * (at_low + low * below)
    if line.quadratic > 0.0:
        # The width is at least the quadratic part: no line is so short that rounding would matter.
        inside, step = 1.0 - below - above, at_low - at_high
        second = mean * (mean * inside + 2.0 * deviation * step)
        second += deviation**2 * (inside + low * at_low - high * at_high)
        total += 0.5 * line.quadratic * (second / width**2 + line.low**2 * below + line.high**2 * above)
    return total
