"""Gaussian expectations in double precision, right for kinks and jumps.

Two rules serve everything. Where the integrand is analytic in a strip around the real line, the trapezoidal rule on a
truncated line converges geometrically; where it has breakpoints, the line is split there and each panel gets a
Gauss-Legendre rule. Gauss-Hermite rules are not used: they fail on kinks, on jumps and on functions with poles close
to the real line.

Inner integrals run over z ~ N(0, 1) at a fixed position kappa along the spike (`conditional_moments`); outer ones run
over kappa ~ N(0, 1) on a rule that follows the layers of its integrand (`spike_rule`).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation, Growth
from giantsteps.derivations.expressions.algebra import damped
from giantsteps.derivations.expressions.budget import spend
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.tree import Expression, ExpressionError
from giantsteps.numerics.gaussian.callables import ByValues
from giantsteps.numerics.gaussian.evaluate import Evaluator, compile_branches, compile_numpy, relative_rounding
from giantsteps.numerics.gaussian.nodes import PANEL_ORDER, composite, even_panels, even_steps
from giantsteps.numerics.gaussian.smooth_panels import distinct, smooth_panels
from giantsteps.numerics.gaussian.steep_places import frequency, steep_places

Array = NDArray[np.float64]

# Sixteen nodes integrate a standard Gaussian over this width to 1e-16.
WIDEST_PANEL = 4.0
# Truncation drops contributions below exp(-LOG_DROPPED) of the total: under the rounding of double precision.
LOG_DROPPED = 45.0
# Across the spike the tails count by this more: where a function saturates mu2^2 is all tail, and beside a small ridge
# it is a term of V down to exp(-LOG_TAILS) = 1e-11 of its size elsewhere, with all its digits.
LOG_TAILS = 25.0
# exp(-LOG_ACCURACY) = 1e-16, the discretisation error that the analytic step sizes aim at.
LOG_ACCURACY = 37.0
# The widest useful trapezoidal step for a Gaussian integrand: exp(-2 (pi/h)^2) = exp(-LOG_ACCURACY).
WIDEST_STEP = math.pi * math.sqrt(2.0 / LOG_ACCURACY)
# A trapezoidal step divided by this is the next finer one. Not by 2: a rule of step h mistakes oscillations of
# frequency 2 pi j/h for constants, one of step h/2 shares every second of these, and their agreement shows nothing.
# Nor by 1.9: of 19 frequencies that a rule mistakes the next one would share 10. No small multiples share one here.
FINER = math.sqrt(3.6)
# A strip narrower than this is cheaper to resolve by panels that follow the steep places.
NARROW_STRIP = 0.1
# Steps and peaks of saturating functions that need shorter panels than this may hide between trapezoidal nodes.
NARROW_PLACE = 0.05
# No rule across the spike has more nodes than this.
MOST_NODES_ACROSS = 1 << 19
# Averages that are left with more than this share of error are said not to settle.
MOST_UNSETTLED = 1e-7
# Rounding of an average, relative to the root mean square of what is averaged: sums of some hundred terms of either
# sign. It is some eps; the rest is reserve.
ROUNDING = 24.0 * float(np.finfo(float).eps)
# Values of a function that are looked at together: arrays of as many stay in the cache and under the 128 kB from which
# on the C library asks the system for every one of them anew, which takes several times as long as what is done to it.
_CHUNK = 15 << 10
# Where operations are counted, these many values of a function are one.
_VALUES_PER_OPERATION = 20
_Map = Callable[[Expression], Expression]


@dataclass(frozen=True)
class Integrand:
    """What a quadrature rule has to know about a function of one real variable.

    `breakpoints` are its kinks and jumps in increasing order. With `splits` None it is analytic in a strip of half
    width `strip` (infinite when entire) and the trapezoidal rule serves; otherwise panels of width 2 that also end at
    the splits (the breakpoints, and places found by bisection) resolve it. `rough`: bisection never ended, so that f is
    not smooth up to a breakpoint; `hidden`: steep places may be left unresolved. |f(x)| grows no faster than
    |x|^degree exp(rate |x| + quadratic x^2), and oscillates no faster than sin(frequency x), as far as that is seen.
    `rounding` is what its values lose in double precision, relative to their size. Where quadratic > 0 `damped` is
    f(x) exp(-quadratic x^2), since f itself overflows where its square times a Gaussian still counts.
    """

    values: Callable[[Array], Array]
    breakpoints: tuple[float, ...]
    splits: tuple[float, ...] | None
    strip: float
    degree: float
    rate: float
    quadratic: float
    rough: bool
    hidden: bool = False
    frequency: float = 0.0
    rounding: float = 0.0
    damped: Callable[[Array], Array] | None = None


class Moments(NamedTuple):
    """E[f], E[z f], E[f^2], E[(f - E f - z E[z f])^2] and E[(z^2 - 1) f] at each position."""

    mean: Array
    slope: Array
    square: Array
    rest: Array
    curvature: Array


@lru_cache(maxsize=512)
def integrand(activation: Activation) -> Integrand:
    """The quadrature's view of an activation or target, computed once per value."""
    if isinstance(activation, ByValues):
        return Integrand(*activation.view(activation.values))
    whole = activation.panels[0].branch if len(activation.panels) == 1 else activation.expression
    return _followed(activation, activation.growth, lambda expression: expression, compile_numpy(whole))


@lru_cache(maxsize=512)
def slope_integrand(activation: Activation) -> Integrand:
    """The same of the derivative away from the breakpoints: steep places and growth of its own, the same strip."""
    if isinstance(activation, ByValues):
        return Integrand(*activation.view(activation.values.slope))
    try:
        grown = activation.derivative_growth
    except ExpressionError:
        grown = activation.growth  # unbounded at a root; far out it grows no faster than the function
    return _followed(activation, grown, derivative, compile_branches(activation.panels, derivative))


def _followed(activation: Activation, growth: Growth, map_: _Map, values: Evaluator) -> Integrand:
    """The view of the activation or its derivative (`map_`), with the breakpoints and the strip of the activation."""
    function = Integrand(
        values=values,
        breakpoints=tuple(float(point.value) for point in activation.breakpoints),
        splits=None,
        strip=math.inf if activation.strip is None else float(activation.strip),
        degree=float(growth.degree),
        rate=float(growth.rate),
        quadratic=float(growth.quadratic),
        rough=False,
        frequency=frequency(map_(activation.expression)),
    )
    if growth.quadratic > 0:
        bounded = compile_branches(activation.panels, lambda branch: damped(map_(branch), growth.quadratic))
        function = replace(function, damped=bounded)
    edges, found = _coarse_edges(function), []
    for panel in activation.panels:
        # Each branch on its own panel: elu is exp on one side, which is as steep as can be on the other.
        low = edges[0] if panel.left is None else float(panel.left.place.value)
        high = edges[-1] if panel.right is None else float(panel.right.place.value)
        here = edges[(edges >= low) & (edges <= high)]
        if len(here) > 1:
            found.append(steep_places(map_(panel.branch), here))
    narrow = min(steep.narrowest for steep in found) < NARROW_PLACE and all(steep.complete for steep in found)
    edges = np.array(sorted({x for steep in found for x in steep.edges}))
    lost = relative_rounding(values, activation.panels, map_, edges)
    function = replace(function, hidden=not all(steep.complete for steep in found), rounding=lost)
    if activation.strip is None or activation.strip < NARROW_STRIP or narrow:
        return with_splits(function, tuple(edges.tolist()) if narrow else ())
    return function


def _coarse_edges(function: Integrand) -> Array:
    return distinct([np.arange(-64.0, 65.0, WIDEST_PANEL), np.asarray(function.breakpoints)])


def with_splits(function: Integrand, known: tuple[float, ...] = ()) -> Integrand:
    """The function with panels in place of the trapezoidal rule: of width 4 on [-64, 64], cut at breakpoints and at the
    places `known`, and bisected until each is resolved."""
    edges = distinct([_coarse_edges(function), np.asarray(known)])
    found = smooth_panels(function.damped or function.values, edges, known, PANEL_ORDER)
    inside = {float(x) for x in (*known, *found.splits) if abs(x) < 64.0} | set(function.breakpoints)
    return replace(function, splits=tuple(sorted(inside)), rough=found.rough)


def reach(function: Integrand, gain: float, share: float = 0.0, extra: float = 0.0) -> float:
    """How far from 0 a standard normal variable t has to be followed when f(gain t + ...)^2 is averaged over it.

    `share` is the variance of the other Gaussian variable in the argument of f, over which the average is taken
    first; it matters for growth like exp(q x^2) only. `extra` is the logarithm of a factor by which the tails matter
    more than their Gaussian weight.
    """
    gain = abs(gain)
    curvature = 1.0
    if function.quadratic > 0:
        inner = 1.0 - 4.0 * function.quadratic * share
        curvature = 1.0 - 4.0 * function.quadratic * gain**2 / inner if inner > 0 else 0.0
        if curvature <= 0:
            raise ValueError("the second moment of the function is infinite at this spike and bulk")
    length = _outermost(LOG_DROPPED + extra, function.degree)
    return length / math.sqrt(curvature) + 2.0 * function.rate * gain / curvature


@lru_cache(maxsize=256)
def _outermost(dropped: float, degree: float) -> float:
    """Where t^(2 degree) exp(-t^2/2) is below exp(-dropped)."""
    length = math.sqrt(2.0 * dropped)
    for _ in range(4):
        length = math.sqrt(2.0 * (dropped + 2.0 * degree * math.log(max(length, 1.0))))
    return length


class Unsettled(ExpressionError):
    """An average does not stay put when its rule is refined as far as memory allows."""


def conditional_moments(
    function: Integrand, shift: Array, scale: float, refine: int = 0, accept: float = MOST_UNSETTLED
) -> Moments:
    """Moments over z ~ N(0, 1) of f(shift + scale z), one entry per shift; scale >= 0.

    The variance that mean and slope leave is integrated as the square it is, never formed as a difference. The rule is
    refined until it settles (`doublings`), and `refine` times more. Raises Unsettled where more than the share `accept`
    of the error is left; who accepts more has to pass on what `doublings` says.
    """
    shift = np.atleast_1d(np.asarray(shift, dtype=float))
    return moments_at(function, shift, scale, refine + settled_level(function, shift, scale, accept))


def moments_at(function: Integrand, shift: Array, scale: float, level: int) -> Moments:
    """The same by the rule that was refined so many times, whatever error is left; `shift` is an array (n,)."""
    if len(shift) == 0 or scale == 0.0:
        exact = function.values(shift)
        zero = np.zeros_like(exact)
        return Moments(exact, zero, exact * exact, zero, zero)
    return _joined([_moments(function, part, scale, level) for part in _pieces(function, shift, scale, level)])


def mean_and_slope_moments(
    function: Integrand, slope: Integrand, shift: Array, scale: float, levels: tuple[int, int]
) -> tuple[Array, Moments]:
    """E[f(shift + scale z)] and the moments of its derivative by rules refined so many times, by one rule for both
    where they have the same panels; scale > 0."""
    one_rule = function.splits == slope.splits and function.damped is None is slope.damped
    if not one_rule or function.rough or slope.rough:
        return moments_at(function, shift, scale, levels[0]).mean, moments_at(slope, shift, scale, levels[1])
    # The rule that has more nodes, for its step or its length.
    pairs, means, moments = zip((function, slope), levels, strict=True), [], []
    finer, level = max(pairs, key=lambda pair: _node_count(pair[0], scale, pair[1]))
    for part in _pieces(finer, shift, scale, level):
        z, weights = _rule(finer, part, scale, level)
        x = part[:, None] + scale * z
        spend(2 * x.size // _VALUES_PER_OPERATION)
        means.append(np.vecdot(function.values(x), weights))
        moments.append(_sums(slope.values(x), z, weights))
    return np.concatenate(means), _joined(moments)


def settled_level(function: Integrand, shift: Array, scale: float, accept: float = MOST_UNSETTLED) -> int:
    """How often the rule has to be refined. Raises Unsettled where more than `accept` is left of its error."""
    if len(shift) == 0 or scale == 0.0:
        return 0
    level, left = doublings(function, *span(shift), scale)
    if not left <= accept:
        fast, noisy = "it varies too fast for rules in double precision", "its values lose their digits to rounding"
        raise Unsettled(
            f"{noisy if function.rounding > accept else fast}: averages over a Gaussian of standard deviation "
            f"{scale:.3g} are left with an error of {left:.1g} of their size; use a smoother one, for example tanh(z)"
        )
    return level


def _pieces(function: Integrand, shift: Array, scale: float, refine: int) -> list[Array]:
    """The shifts in parts whose values stay in the cache."""
    # On panels nodes and weights are as many numbers as the values.
    rows = max(1, (_CHUNK if function.splits is None else _CHUNK // 2) // _node_count(function, scale, refine))
    return [shift[i : i + rows] for i in range(0, len(shift), rows)]


def _joined(pieces: list[Moments]) -> Moments:
    return pieces[0] if len(pieces) == 1 else Moments(*(np.concatenate(parts) for parts in zip(*pieces, strict=True)))


def span(shift: Array) -> tuple[float, float]:
    """The range of the shifts, widened to whole numbers so that neighbouring grids share one check."""
    return float(math.floor(shift.min())), float(math.ceil(shift.max()))


@lru_cache(maxsize=1024)
def doublings(function: Integrand, low: float, high: float, scale: float) -> tuple[int, float]:
    """How often the rule in z has to be refined for shifts in [low, high], and what is left of the error.

    Strip and panel width cannot show everything, so the rule is compared with a finer one at a few shifts. The
    second value is 0.0 when they agree to rounding, else their relative distance, or what values of the function lose
    if that is more. A rule that settles at once for a scale a little larger does so here: models in a row share that
    check. Raises ExpressionError when a rule would have more than MOST_NODES_ACROSS nodes.
    """
    wider = math.exp2(math.ceil(_CELLS * math.log2(scale)) / _CELLS)
    if function.quadratic == 0.0 and resolvable(function, wider):
        with suppress(ExpressionError):  # further out it may overflow
            if (found := _compared(function, low, high, wider)) == (0, 0.0):
                return found
    return _compared(function, low, high, scale)


@lru_cache(maxsize=1024)
def _compared(function: Integrand, low: float, high: float, scale: float) -> tuple[int, float]:
    """The same at this very scale."""
    # A rule on one side of 0 belongs to an even integrand: 0 is its centre, else the middle of the shifts.
    centre = 0.0 if low == 0.0 or high == 0.0 else 0.5 * (low + high)
    far = max(high - centre, centre - low, 1.0)
    # Off the centre and off each other's symmetric places, and the centre.
    shift = np.append(low + (high - low) * (np.arange(_SAMPLES) + 0.382) / _SAMPLES, centre)
    # The shifts reach about nine standard deviations; a place counts for the scale by its density.
    if low == high:
        shift = np.array([centre])
    weight = np.exp(-0.5 * (9.0 * (shift - centre) / far) ** 2)
    if not resolvable(function, scale):
        raise ExpressionError(f"its argument varies too much (standard deviation {scale:.3g}) for the function")
    if function.hidden:
        return 0, 1.0
    coarse = _moments(function, shift, scale, 0)
    # An entire function may oscillate fast: one place takes more nodes than the many places of a rule along the spike.
    most = MOST_NODES_ACROSS if function.splits is not None else MOST_NODES_ACROSS / (1.0 + high - low)
    level, gap = 0, math.inf
    while True:
        fine = _moments(function, shift, scale, level + 1)
        # Where f all but vanishes agreement relative to where it counts most is enough.
        square = np.maximum(np.maximum(fine.square, 1e-6 * float(np.max(weight * fine.square))), 1e-300)
        # No rule makes a square finite that overflows: it is enough that the averages of f itself agree.
        lost = not np.all(np.isfinite(square))
        root = np.full_like(square, np.abs(np.array(fine)[[0, 1, 4]]).max()) if lost else np.sqrt(square)
        gaps = np.abs(np.array(coarse) - np.array(fine)) / np.array([root, root, square, square, root])
        gap = float((gaps[[0, 1, 4]] if lost else gaps).max())
        last = function.splits is not None and level == _MOST_DOUBLINGS
        if gap <= _AGREEMENT or last or _node_count(function, scale, level + 2) > most:
            gap = max(0.0 if lost else gap, function.rounding)
            return level, gap if gap > _AGREEMENT else 0.0
        coarse, level = fine, level + 1


# Shifts of a check, and its scales to the octave: one is 4 % larger at most, and the shifts lie further apart.
_SAMPLES, _CELLS, _MOST_DOUBLINGS, _AGREEMENT = 12, 16, 4, 1e-13


def _damped_moments(function: Integrand, shift: Array, scale: float, refine: int) -> Moments:
    """The same for growth like exp(q x^2): each factor of a product takes the root of the density, so that f(x) may
    overflow, and the density underflow, where f(x)^2 times the density counts."""
    assert function.damped is not None
    z, weights = _rule(function, shift, scale, refine, bare=True)
    x = shift[:, None] + scale * z
    spend(x.size // _VALUES_PER_OPERATION)
    bounded = np.zeros_like(x)
    inside = np.broadcast_to(weights > 0.0, x.shape) if function.rough else np.ones(x.shape, dtype=bool)
    bounded[inside] = function.damped(x[inside])
    root = np.exp(-0.25 * z * z) / (2.0 * math.pi) ** 0.25
    values = bounded * np.exp(function.quadratic * x * x - 0.25 * z * z) / (2.0 * math.pi) ** 0.25
    mean = np.vecdot(values, weights * root)
    slope = np.vecdot(values, weights * root * z)
    deviation = values - (mean[:, None] + slope[:, None] * z) * root
    curvature = np.vecdot(deviation, weights * root * (z * z - 1.0))
    return Moments(
        mean, slope, np.vecdot(values * values, weights), np.vecdot(deviation * deviation, weights), curvature
    )


def _moments(function: Integrand, shift: Array, scale: float, refine: int) -> Moments:
    if function.damped is not None:
        return _damped_moments(function, shift, scale, refine)
    z, weights = _rule(function, shift, scale, refine)
    x = shift[:, None] + scale * z
    spend(x.size // _VALUES_PER_OPERATION)
    if function.rough:
        # Panels of no width lie on a breakpoint, where a derivative may be infinite; they carry no weight.
        values = np.zeros_like(x)
        values[weights > 0.0] = function.values(x[weights > 0.0])
    else:
        values = function.values(x)
    return _sums(values, z, weights)


def _sums(values: Array, z: Array, weights: Array) -> Moments:
    """The moments of values at (shifts, nodes)."""
    # Sums row by row are added up in blocks: thousands of nodes cost a few roundings.
    mean = np.vecdot(values, weights)
    slope = np.vecdot(values, weights * z)
    square = np.vecdot(values * values, weights)
    # First the mean: what is left is known to its own rounding, however large the mean.
    deviation = values - mean[:, None]
    deviation -= slope[:, None] * z
    curvature = np.vecdot(deviation, weights * (z * z - 1.0))
    deviation *= deviation
    return Moments(mean, slope, square, np.vecdot(deviation, weights), curvature)


def across_rule(function: Integrand, shift: Array, scale: float, refine: int = 0) -> tuple[Array, Array]:
    """z and weights of E over z ~ N(0, 1) of f(shift + scale z): (N,), or (shifts, N) on panels that follow shifts."""
    return _rule(function, shift, scale, refine + doublings(function, *span(shift), scale)[0])


def _line(function: Integrand, shift_reach: float, scale: float) -> float:
    """Half length of the z line, wide enough for the largest shift (which matters for growth like exp(q x^2))."""
    length = reach(function, scale, extra=LOG_TAILS)
    if function.quadratic > 0:
        q = function.quadratic
        length += 4.0 * q * scale * shift_reach / (1.0 - 4.0 * q * scale**2)
    return length


def _z_step(function: Integrand, scale: float, refine: int) -> float:
    # It reaches exp(-LOG_ACCURACY) for a Gaussian times a function analytic in the strip.
    height = min(0.95 * function.strip / scale, math.sqrt(2.0 * LOG_ACCURACY))
    step = 2.0 * math.pi * height / (LOG_ACCURACY + 0.5 * height**2)
    # 0.4 rather than the widest step: an entire function may oscillate, which its strip does not show. Its square does
    # so twice as fast, and the step's own frequency lies as far beyond that as a Gaussian's transform reaches.
    seen = 2.0 * math.pi / (2.0 * function.frequency * scale + math.sqrt(2.0 * LOG_ACCURACY))
    return min(0.4, seen, step) / FINER**refine


def _z_panel(scale: float, refine: int) -> float:
    return min(WIDEST_PANEL, WIDEST_PANEL / scale) / 2.0**refine


def resolvable(function: Integrand, scale: float, refine: int = 0) -> bool:
    """Whether the rule across the spike has a number of nodes that memory holds."""
    return _node_count(function, scale, refine) <= MOST_NODES_ACROSS


def _node_count(function: Integrand, scale: float, refine: int) -> int:
    length = 2.0 * reach(function, scale, extra=LOG_TAILS)
    if function.splits is None:
        return int(length / _z_step(function, scale, refine)) + 1
    return int((length / _z_panel(scale, refine) + len(function.splits) * 2**refine + 1) * PANEL_ORDER)


def _rule(function: Integrand, shift: Array, scale: float, refine: int, bare: bool = False) -> tuple[Array, Array]:
    return (_trapezoid if function.splits is None else _panel_rule)(function, shift, scale, refine, bare)


def _trapezoid(function: Integrand, shift: Array, scale: float, refine: int, bare: bool = False) -> tuple[Array, Array]:
    h = _z_step(function, scale, refine)
    count = math.ceil(_line(function, float(np.max(np.abs(shift), initial=0.0)), scale) / h)
    return even_steps(h, count, bare)


def _panel_rule(
    function: Integrand, shift: Array, scale: float, refine: int, bare: bool = False
) -> tuple[Array, Array]:
    """Panels split where shift + scale z meets a split: arrays of shape (shifts, nodes)."""
    length = _line(function, float(np.max(np.abs(shift), initial=0.0)), scale)
    base = even_panels(length, math.ceil(2.0 * length / _z_panel(scale, refine)))
    crossings = (np.asarray(function.splits) - shift[:, None]) / scale
    edges = np.empty((len(shift), len(base) + crossings.shape[1]))
    edges[:, : len(base)] = base
    np.clip(crossings, -length, length, out=edges[:, len(base) :])
    edges.sort(axis=1)
    for _ in range(refine if len(function.splits or ()) > len(function.breakpoints) else 0):
        # Panels found by bisection are halved like the others.
        middle = 0.5 * (edges[:, 1:] + edges[:, :-1])
        edges = np.sort(np.concatenate([edges, middle], axis=1), axis=1)
    return composite(edges, bare)
