"""The rule along the spike: trapezoidal or in panels, resolved where functions of it are steep."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from giantsteps.numerics.gaussian.nodes import composite, density
from giantsteps.numerics.gaussian.quadrature import FINER, LOG_ACCURACY, WIDEST_STEP, Array, Integrand, with_splits
from giantsteps.numerics.gaussian.smooth_panels import distinct

# Layers narrower than this are followed by panels; wider ones are resolved by the trapezoidal rule.
NARROW_LAYER = 0.12
_MOST_NODES = 40_000
_MOST_LAYERS = 400


class Rule(NamedTuple):
    """Nodes and weights for an expectation over kappa ~ N(0, 1); the weights contain the density."""

    nodes: Array
    weights: Array


class Layer(NamedTuple):
    """A place along the spike where an integrand changes over a given width; width 0 is a kink or a jump."""

    location: float
    width: float


def layers(function: Integrand, slope: float, variance: float, bias: float = 0.0) -> tuple[Layer, ...]:
    """Where E_z f(slope kappa + bias + sqrt(variance) z) follows breakpoints and steep places of f along kappa."""
    if slope == 0.0:
        return ()
    width = math.sqrt(variance) / abs(slope)
    places = function.breakpoints if function.splits is None else function.splits
    return tuple(Layer((place - bias) / slope, width) for place in places)


def spacing(function: Integrand, slope: float, variance: float) -> float:
    """A trapezoidal step in kappa for E_z f(slope kappa + sqrt(variance) z) with f analytic.

    The Fourier transform of the average at frequency w in x decays like exp(-strip w - variance w^2/2). What oscillates
    is seen with the products of four such averages, as far as its variance leaves any of it.
    """
    if slope == 0.0 or function.splits is not None:
        return math.inf
    a, widest, fastest = function.strip, math.inf, math.sqrt(2.0 * LOG_ACCURACY)
    if function.frequency:
        left = min(function.frequency, fastest / math.sqrt(variance)) if variance > 0.0 else function.frequency
        widest = 2.0 * math.pi / (4.0 * abs(slope) * left + fastest)
    if math.isinf(a):
        return widest
    if variance > 0:
        # The stable root of variance w^2/2 + a w = LOG_ACCURACY.
        frequency = 2.0 * LOG_ACCURACY / (a + math.sqrt(a * a + 2.0 * variance * LOG_ACCURACY))
    else:
        frequency = LOG_ACCURACY / a
    return min(widest, 2.0 * math.pi / (abs(slope) * frequency))


def followed(
    function: Integrand, slope: float, variance: float, bias: float, length: float
) -> tuple[tuple[Layer, ...], float]:
    """`layers` and `spacing` on [-length, length]: panels follow an analytic function that needs too short a step."""
    step = spacing(function, slope, variance)
    if step < 2.0 * length / _MOST_NODES:
        return layers(with_splits(function), slope, variance, bias), math.inf
    return layers(function, slope, variance, bias), step


@lru_cache(maxsize=256)
def spike_rule(
    features: tuple[Layer, ...],
    widest: float,
    half_length: float,
    refine: int = 0,
    even: bool = False,
    extra: float = 0.0,
) -> Rule:
    """A rule for kappa ~ N(0, 1) on [-half_length, half_length] that resolves the given layers.

    Without narrow layers: the trapezoidal rule of step at most `widest`, divided by FINER `refine` times
    (-1 makes it coarser). With narrow layers: Gauss-Legendre panels that end on each layer's centre and flanks.
    For an even integrand (`even`) the rule lives on kappa >= 0, with the weight of both sides. `extra` is the logarithm
    of a factor by which the tails of a layer matter more than their Gaussian weight: panels follow them as far.
    """
    # Beyond nine widths of the rule a layer has no part in it, not even in its step, and whatever `extra` is: the rule
    # ends at L where exp(extra - L^2/2) is dropped, and there such a layer is exp(-81/2) of its size. Towards it the
    # product falls for widths under 9/L, which is about 1 or, at extra = 100, 1/2; wider layers than 0.28 ask for no
    # step that is not taken anyway.
    features = tuple(f for f in features if abs(f.location) < half_length + 9.0 * f.width)
    narrow = tuple(f for f in features if f.width < NARROW_LAYER)
    # Places of width 0 take one end of a panel each, and a trapezoidal node on a jump is wrong: they always count.
    if sum(f.width > 0.0 for f in narrow) > _MOST_LAYERS:
        narrow = tuple(f for f in narrow if f.width == 0.0)
    h = widest
    for feature in features:
        if feature not in narrow:
            # A Gaussian of this width times the density of kappa.
            h = min(h, WIDEST_STEP * feature.width / math.hypot(1.0, feature.width))
    h = max(h, 2.0 * half_length / _MOST_NODES)
    if not narrow:
        h /= FINER**refine
        count = math.ceil(half_length / h)
        nodes: Array = h * np.arange(0 if even else -count, count + 1, dtype=np.float64)
        weights = h * density(nodes)
        return _without_underflow(nodes, np.where(nodes > 0.0, 2.0 * weights, weights) if even else weights)
    # Sixteen Gauss-Legendre nodes on six steps resolve what the trapezoidal rule resolves at one.
    panels = math.ceil(half_length / min(1.5, 6.0 * h) * 2.0 ** min(refine, 0))
    lowest = 0.0 if even else -half_length
    around = np.array([4.5, 9.0, math.sqrt(81.0 + 2.0 * extra)])
    edges = [np.linspace(lowest, half_length, (1 if even else 2) * panels + 1)]
    for location, width in narrow:
        flanks = np.concatenate([-around, [0.0], around]) if width > 0 else np.zeros(1)
        places = location + width * flanks
        edges.append(np.clip(np.concatenate([places, -places]) if even else places, lowest, half_length))
    ends = distinct(edges)
    for _ in range(refine):
        # All of them, those that bisection found for the function itself too: its powers vary faster.
        ends = np.sort(np.concatenate([ends, 0.5 * (ends[1:] + ends[:-1])]))
    nodes, weights = composite(ends)
    return _without_underflow(nodes, 2.0 * weights if even else weights)


def _without_underflow(nodes: Array, weights: Array) -> Rule:
    """The rule without the nodes where the density underflows: there what grows like exp(q kappa^2) may overflow."""
    seen = weights >= np.finfo(np.float64).tiny
    return Rule(nodes, weights) if seen.all() else Rule(nodes[seen], weights[seen])


def half_length(reaches: Iterable[float]) -> float:
    """The longest of several reaches, rounded up so that rules are shared between models."""
    return math.ceil(4.0 * max(reaches)) / 4.0
