"""The averages over activation and label that the network's own bulk needs, beyond those of the gradient step.

With s = sigma' - h1 - E[sigma''] z and z ~ N(0, 1): E[s^2], E[z^2 s], E[(z^3 - 3 z) s], E[z^j s^k]. With the label
Y = g(u) - (mean weight) E[sigma] + sqrt(noise) e that the step sees and u, e ~ N(0, 1): averages of products of powers
of Y and u over 1 + b1 Y + b2 Y^2.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.gaussian.quadrature import (
    MOST_UNSETTLED,
    ROUNDING,
    Integrand,
    integrand,
    reach,
    slope_integrand,
)
from giantsteps.numerics.gaussian.settled_moments import still_to_come
from giantsteps.numerics.gaussian.spike_rule import Rule, half_length, layers, spacing, spike_rule
from giantsteps.numerics.models.gradient_step import even_part
from giantsteps.numerics.models.model import ModelError

Array = NDArray[np.float64]

# 1/(1 + y^2 l) has poles where y = +-i/sqrt(l): rules along u are at least this fine, and doubled by `refine`.
_WIDEST = 0.08
# Label noise is integrated across by the trapezoidal rule. This step, in standard deviations, leaves an error of
# exp(-2 (pi/step)^2); the next one, in units of 1/sqrt(l), leaves exp(-2 pi/step).
_NOISE_STEP = 0.4
_POLE_STEP = 0.34
_NOISE_REACH = 9.0
_MOST_DOUBLINGS = 6
# Products of nodes of u and of the noise: this many, and the averages over the grid that they leave, take some twenty
# seconds.
_MOST_NODES = 2 * 10**8
# Nodes of the grid in y: two rules with some thirty numbers a node take two gigabytes then.
_MOST_PLACES = 4 * 10**6
# Nodes times places of an average that are looked at together: what stays in the cache, whatever the noise asks for.
_AT_ONCE = 2**15
# Two rules that agree to this leave little but rounding in the finer one: the error of a rule twice as fine is the
# square of the coarser one's, and its power 3/2 is claimed.
_AGREEMENT = 1e-8


@dataclass(frozen=True)
class SlopeConstants:
    """Averages of s = sigma'(z) - E[z sigma] - curvature z over z ~ N(0, 1), which is orthogonal to 1 and z.

    square = E[s^2] (h_c), second = E[z^2 s], weighted_square = E[z^2 s^2], cube = E[s^3], square_variance = Var(s^2);
    without an even part of sigma these are 0: curvature = E[sigma''], third = E[z^3 s], tilted_square = E[z s^2],
    tilted_cube = E[z s^3]. error: how far any of them may be off, relative to the same average of absolute values (an
    estimate).
    """

    square: float
    second: float
    weighted_square: float
    cube: float
    square_variance: float
    error: float
    curvature: float = 0.0
    third: float = 0.0
    tilted_square: float = 0.0
    tilted_cube: float = 0.0

    @property
    def square_slope(self) -> float:
        """d E[s(sqrt(rho) z)^2]/d rho at rho = 1, which is E[(z^2 - 1) s^2]/2."""
        return 0.5 * (self.weighted_square - self.square)


@lru_cache(maxsize=256)
def slope_constants(activation: Activation, refine: int = 0) -> SlopeConstants:
    """The constants of s = sigma' - h1 - E[sigma''] z; raises ModelError where s is not square integrable.

    A kink of sigma is a jump of s, which has finite constants; a jump of sigma has none.
    """
    constants = hermite_constants(activation, refine)
    if constants.obstacle:
        raise ModelError(
            f"the network's bulk needs a finite E[(sigma' - h1)^2], and here {constants.obstacle}; use the isotropic "
            "bulk with spike, bulk and alignment given"
        )
    slope, curvature = slope_integrand(activation), even_part(activation).curvature
    # The slope of a constant is 0 at every node; its h1 is the rounding of the constant, however large beside 0.
    none = abs(constants.h1) <= constants.errors.h1 and not np.any(slope.values(_fine_rule(slope, 4, refine).nodes))
    line = (0.0, 0.0) if none else (constants.h1, curvature)
    coarse, sizes = _slope_averages(slope, line, refine)
    last = np.ones_like(sizes)
    for level in range(refine + 1, refine + 1 + _MOST_DOUBLINGS):
        fine, sizes = _slope_averages(slope, line, level)
        # A constant activation has averages of zero size, which have settled.
        before, last = last, np.abs(fine - coarse) / np.where(sizes > 0.0, sizes, 1.0)
        if np.max(last) <= _SETTLED:
            break
        coarse = fine
    ahead = still_to_come(before, last, np.full_like(last, _SETTLED), np.ones_like(last))
    left = float(np.max(last + (ahead if slope.rough else 0.0)))
    # An error of h1 shifts s, which moves all of them by about as much, and so does one of the curvature.
    line_error = constants.errors.h1 + (constants.errors.curvature if curvature else 0.0)
    left += ROUNDING + (0.0 if none else line_error / math.sqrt(sizes[0]))
    if not left <= MOST_UNSETTLED or slope.hidden:
        raise ModelError(
            f"the averages of sigma' for the network's bulk do not converge in double precision (relative error "
            f"{left:.1g}): use a smoother activation, for example tanh(z)"
        )
    square, second, weighted, cube, variance, *even = (float(x) for x in fine)
    third, tilted_square, tilted_cube = even if activation.parity != "odd" else (0.0, 0.0, 0.0)
    return SlopeConstants(square, second, weighted, cube, variance, left, curvature, third, tilted_square, tilted_cube)


# Averages that a finer rule moves by no more than this share have settled: the finer one is left with rounding.
_SETTLED = 1e-12


def _slope_averages(slope: Integrand, line: tuple[float, float], refine: int) -> tuple[Array, Array]:
    """E of s^2, z^2 s, z^2 s^2, s^3, the variance of s^2, E of z^3 s, z s^2, z s^3; averages of absolute values for
    their errors.

    Where s all but vanishes beside h1 its own size is rounding, and a ten-thousandth of h1 is added to it.
    """
    rule = _fine_rule(slope, 4, refine)
    s, z, weights = slope.values(rule.nodes) - line[0] - line[1] * rule.nodes, rule.nodes, rule.weights
    square = weights @ s**2
    far = np.abs(z)

    def powers(s: Array, z: Array) -> list[Array]:
        return [z**3 * s, z * s**2, z * s**3]

    terms = np.stack([s**2, z * z * s, (z * s) ** 2, s**3, (s**2 - square) ** 2, *powers(s, z)])
    size = np.abs(s) + 1e-4 * (abs(line[0]) + abs(line[1]) * far) + 1e-100
    sizes = np.stack([size**2, z * z * size, (z * size) ** 2, size**3, size**4, *powers(size, far)])
    return terms @ weights, sizes @ weights


# Rows of the averages over 1 + b1 Y + b2 Y^2: Y^1 .. Y^8, u Y^2 .. u Y^5, u^2 Y and u^2 Y^2.
POWERS, TILTED, ALONG = slice(0, 8), slice(8, 12), slice(12, 14)
ROWS = 14


@dataclass(frozen=True)
class Labels:
    """A rule for the pair (Y, u): `nodes` of Y, and a `table` (14, N) of its powers, u and u^2 times the weights.

    first[k] = E[u Y^(k+1)] for k = 0, 1, 2 and moments[k] = E[Y^k] for k = 0, .., 8. error: how far the averages may be
    off, relative.
    """

    nodes: Array
    table: Array
    first: Array
    moments: Array
    error: float = 0.0

    @property
    def mean(self) -> float:
        """E[Y]."""
        return float(self.moments[1])

    @property
    def square(self) -> float:
        """E[Y^2]."""
        return float(self.moments[2])

    @property
    def fourth(self) -> float:
        """E[Y^4]."""
        return float(self.moments[4])

    @cached_property
    def _varied(self) -> Array:
        """The nodes and their squares, with signs: what a derivative in b1 and b2 brings down."""
        return np.stack([np.ones_like(self.nodes), -self.nodes, -self.nodes * self.nodes])

    def over(self, b1: float, b2: float) -> Array:
        """The averages over 1 + b1 Y + b2 Y^2 and their derivatives in b1 and b2, (14, 3)."""
        shrunk = 1.0 / (1.0 + self.nodes * (b1 + b2 * self.nodes))
        factors = self._varied * shrunk
        factors[1:] *= shrunk
        return np.asarray(self.table @ factors.T)

    def over_each(self, b1: Array, b2: Array, rows: int = ROWS) -> Array:
        """As `over` at P places at once, so many rows of it, (rows, 3, P)."""
        found = np.zeros((rows, 3, len(b1)))
        size = max(1, _AT_ONCE // max(1, len(b1)))
        for start in range(0, len(self.nodes), size):
            nodes, table = self.nodes[start : start + size, None], self.table[:rows, start : start + size]
            factor = b2 * nodes
            factor += b1
            factor *= nodes
            factor += 1.0
            np.divide(1.0, factor, out=factor)
            found[:, 0] += table @ factor
            factor *= factor
            for row in (1, 2):
                factor *= nodes
                found[:, row] -= table @ factor
        return found

    def moved_sums(self, b1: float, b2: float) -> tuple[float, float, float, float, float]:
        """With D = 1 + b1 Y + b2 Y^2: E[Y/D], E[Y^2/D], and E[Y^2/D^2], E[Y^3/D^2], E[Y^4/D^2], which are minus their
        derivatives: that of the first in b1; in b2 and of the second in b1; of the second in b2."""
        shrunk = 1.0 / (1.0 + self.nodes * (b1 + b2 * self.nodes))
        first, second = (self.table[:2] @ shrunk).tolist()
        shrunk *= shrunk
        once, twice, thrice = (self.table[1:4] @ shrunk).tolist()
        return first, second, once, twice, thrice


@lru_cache(maxsize=64)
def labels(target: Activation, noise: float, largest: float, centre: float = 0.0, first: float = 0.0) -> Labels:
    """The rule for Y = g(u) - centre + sqrt(noise) e, right for jumps of g, for 0 <= b2 <= largest, |b1| <= |first|.

    Doubled until the averages at the largest b1 and b2 stay put. Raises ModelError where E[Y^8] is infinite, and where
    b2 times the noise is so large that the rule would take too many nodes.
    """
    # The poles of 1/(1 + b1 Y + b2 Y^2) lie this far from the line, as a square over one.
    sharpness = 4.0 * largest * largest / (4.0 * largest - first * first) if first else largest
    # Without noise the rule follows the target alone, whatever the step.
    given = target, noise, sharpness if noise > 0.0 else 0.0, centre
    coarse = _labels(*given, 0)
    for refine in range(1, _MOST_DOUBLINGS + 1):
        fine = _labels(*given, refine)
        # With l and without: what grows with y is felt without, poles close to the line with it.
        before, after = (rule.over(first, largest)[:, 0] for rule in (coarse, fine))
        left = max(_apart(before, after, row_sizes(after, first, largest)), _plainly_apart(*given, refine))
        if left < _AGREEMENT:
            break
        coarse = fine
    if not left <= MOST_UNSETTLED or integrand(target).hidden:
        raise ModelError(
            f"the averages over labels for the network's bulk do not converge in double precision (relative error "
            f"{left:.1g}): use a shorter step, a smoother target such as sin(z), or the isotropic bulk, "
            'bulk_model="isotropic"'
        )
    return replace(fine, error=left**1.5 + ROUNDING)


def coarse_labels(target: Activation, noise: float, largest: float, centre: float) -> Labels:
    """A rule of unknown error, to find out where the averages will be wanted."""
    return _labels(target, noise, largest if noise > 0.0 else 0.0, centre, 0)


@lru_cache(maxsize=16)
def _plainly_apart(target: Activation, noise: float, largest: float, centre: float, refine: int) -> float:
    """How far a rule and the next coarser one are apart without l, relative."""
    coarse, fine = (_labels(target, noise, largest, centre, level) for level in (refine - 1, refine))
    before, after = (rule.table.sum(axis=1) for rule in (coarse, fine))
    # |E[u Y^k]|^2 <= E[Y^2k].
    tilted = _apart(coarse.first, fine.first, np.sqrt(fine.moments[[2, 4, 6]]))
    return max(_apart(before, after, row_sizes(after, 0.0, 0.0)), tilted)


def _apart(coarse: Array, fine: Array, sizes: Array) -> float:
    """How far two rules are apart, relative; where a mean vanishes by symmetry, of a thousandth of its size.

    Of an even target all E[u Y^k] are zero, and relative to themselves two roundings of zero never agree.
    """
    floor = 1e-3 * np.maximum(sizes, np.max(np.abs(fine), initial=1e-300))
    return float(np.max(np.abs(fine - coarse) / (floor + np.abs(fine))))


def row_sizes(rows: Array, b1: float, b2: float) -> Array:
    """Bounds on averages over D = 1 + b1 Y + b2 Y^2 that do not vanish by symmetry, (14,): |E[xy/D]|^2 <= E[x^2/D]
    E[y^2/D]."""
    sizes = np.abs(rows)
    # E[1/D] and E[u^2/D] follow from E[D/D] = E[u^2] = 1.
    one, along = (max(1.0 - b1 * x - b2 * y, 0.0) for x, y in (rows[:2], rows[ALONG]))
    even = np.array([one, *sizes[1:8:2]])
    sizes[0:8:2] = np.sqrt(even[:-1] * even[1:])
    sizes[TILTED] = np.sqrt(sizes[13] * even[1:])
    sizes[12] = math.sqrt(along * sizes[13])
    return sizes


@lru_cache(maxsize=16)
def _labels(target: Activation, noise: float, largest: float, centre: float, refine: int) -> Labels:
    rule = _fine_rule(integrand(target), 4, refine)
    u, weights = rule.nodes, rule.weights
    y = np.asarray(compile_numpy(target.expression)(u), dtype=float) - centre
    moments = np.stack([weights, weights * u, weights * u * u])
    if noise > 0.0:
        width = math.sqrt(noise)
        step = min(_NOISE_STEP * width, _POLE_STEP / math.sqrt(largest)) if largest > 0.0 else _NOISE_STEP * width
        y, moments = _blurred(y, moments, width, step / 2.0**refine, largest)
    return labels_from(y, moments)


def _blurred(y: Array, moments: Array, width: float, step: float, largest: float) -> tuple[Array, Array]:
    """The rule after y is blurred by a normal variable of the given width: one grid in y, whatever u it came from."""
    reach_ = math.ceil(_NOISE_REACH * width / step)
    centres = np.rint(y / step).astype(np.int64)
    distinct = np.unique(centres)
    # Each centre brings the places around it that the one before has not brought.
    firsts = np.maximum(distinct - reach_, np.concatenate([distinct[:1] - reach_, distinct[:-1] + reach_ + 1]))
    brought = distinct + reach_ + 1 - firsts
    on_grid = int(brought.sum())
    if len(y) * (2 * reach_ + 1) > _MOST_NODES or on_grid > _MOST_PLACES:
        raise ModelError(
            f"the network's bulk averages 1/(1 + y^2 l) over labels with noise {width**2:g}, here at leverages l up to "
            f"{largest:.3g}, which takes more than {_MOST_PLACES:.0e} nodes: use a smaller eta, a larger alpha0 or "
            "less noise, for example eta = 3"
        )
    order = np.arange(-reach_, reach_ + 1)
    grid = np.arange(on_grid) + np.repeat(firsts - np.cumsum(brought) + brought, brought)
    starts = np.searchsorted(grid, centres - reach_)
    blurred = np.zeros((len(moments), len(grid)))
    size = _AT_ONCE // len(order) + 1
    for some in (slice(start, start + size) for start in range(0, len(y), size)):
        e = ((centres[some, None] + order) * step - y[some, None]) / width
        shares = np.exp(-0.5 * e * e) * (step / width / math.sqrt(2.0 * math.pi))
        index = starts[some, None] + (order + reach_)
        low, high = int(index.min()), int(index.max()) + 1
        for row, moment in zip(blurred, moments, strict=True):
            row[low:high] += np.bincount((index - low).ravel(), (shares * moment[some, None]).ravel())
    return grid * step, blurred


def labels_from(y: Array, moments: Array) -> Labels:
    """The same from a rule for y: at each node of y, the weights of 1, u and u^2."""
    one, first, second = moments
    # By products: a ninth of the time of powers.
    powers = np.empty((9, len(y)))
    powers[0] = 1.0
    for k in range(1, 9):
        np.multiply(powers[k - 1], y, out=powers[k])
    table = np.concatenate([one * powers[1:], first * powers[2:6], second * powers[1:3]])
    return Labels(y, table, powers[1:4] @ first, powers @ one)


def _fine_rule(function: Integrand, power: int, refine: int) -> Rule:
    """A rule over N(0, 1) for the 2 power-th power of f, right at its breakpoints."""
    grown = replace(
        function,
        degree=power * (function.degree + 1.0),
        rate=power * function.rate,
        quadratic=power * function.quadratic,
    )
    try:
        length = half_length([reach(grown, 1.0)])
    except ValueError as error:
        raise ModelError(
            f"the network's bulk needs finite moments of order {2 * power} of the labels and of sigma': use a function "
            "that grows more slowly, for example tanh(z)"
        ) from error
    widest = min(_WIDEST, spacing(function, 1.0, 0.0) / 4.0)
    return spike_rule(layers(function, 1.0, 0.0), widest, length, refine)
