"""What a fresh batch sees of a network in the state (r, gamma, c): functions along the spike, averages over labels.

Rows before the step are w_k = r v + b_k, |v| = 1, |b_k|^2 -> c, and theta.v = gamma. An input is seen through
kappa = v.x and z = theta_perp.x, independent standard normal variables; u = theta.x = gamma kappa + sqrt(1 - gamma^2)
z, y = g(u) + sqrt(noise) e is the label and Y = y - mu0(kappa) the residual. Conditional averages are over the bulk of
a row, at r kappa + sqrt(c) X with X ~ N(0, 1):

    mu0 = E sigma,  mu1 = E sigma',  mu11 = E[X sigma']/sqrt(c),  mu111 = E[(X^2 - 1) sigma']/c,
    s = sigma' - mu1 - sqrt(c) mu11 X.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gaussian.quadrature import (
    WIDEST_PANEL,
    Integrand,
    Moments,
    across_rule,
    integrand,
    mean_and_slope_moments,
    moments_at,
    reach,
    settled_level,
    slope_integrand,
    with_splits,
)
from giantsteps.numerics.gaussian.spike_rule import Layer, Rule, half_length, layers, spacing, spike_rule

Array = NDArray[np.float64]

# The coarsest step along the spike. No integrand has poles that it does not have itself, so that `spacing` says more.
_WIDEST = 0.4
# A product of four averages over Gaussian variables of one variance varies like one over a quarter of it: on half the
# width. Nine widths of a factor are eighteen of the product, which `spike_rule` follows with this `extra`.
_PRODUCT, _TAILS = 4.0, 121.5
# The step of an entire function is that for a strip of this: erf, whose transform decays like exp(-w^2/4), is 1e-16 at
# w = 12, and so is exp(-3 w). What varies faster shows when the rule is refined.
_ENTIRE = 3.0
# A trapezoidal rule of a shorter step has more nodes than panels that follow the places where the function is steep.
_SHORTEST = 0.02
# Between these such a function is a polynomial to rounding, but where `with_splits` finds further places, or a line.
_EDGES = tuple(np.arange(-40.0, 41.0, WIDEST_PANEL).tolist())
# Averages are of products of four functions, sigma'^2 y^2, or with the network's own bulk of eight: tails count as
# those of this power of one.
_POWER = 4
# Poles of a product are of higher order than those of a factor: its transform is larger by powers of the frequency.
_POLES = 1.25
# How far out the rules across the spike are tried, beyond which functions are like their growth: the longer this range,
# the fewer nodes are allowed.
_NEAR = 32.0
# Rules across the spike end where tails are exp(-45) of the whole; exp(-37), 1e-16, is enough along it.
_SHORTER = 8.0
# Joint nodes of less weight add less than rounding to an average.
_NO_WEIGHT = 1e-22


class State(NamedTuple):
    """Spike r, alignment gamma and bulk c before or after a step; every one O(1) in d."""

    spike: float
    alignment: float
    bulk: float

    @property
    def remainder(self) -> float:
        """1 - gamma^2, the squared length of the target direction outside the spike."""
        return (1.0 - self.alignment) * (1.0 + self.alignment)


INITIAL = State(0.0, 0.0, 1.0)


class Levels(NamedTuple):
    """How often the rules across the spike are refined: of sigma, sigma' and the target."""

    student: int
    slope: int
    teacher: int

    @property
    def coarser(self) -> Levels:
        """Once less."""
        return Levels(*(level - 1 for level in self))


class Joint(NamedTuple):
    """A rule for (kappa, z): the node of kappa, z, the residual Y without label noise and the weight; each (N,)."""

    place: NDArray[np.intp]
    z: Array
    residual: Array
    weights: Array


class SlopeMoments(NamedTuple):
    """Averages of s over X ~ N(0, 1) at each kappa, (n,) each.

    second = E[X^2 s] = c mu111 (k2), third = E[(X^3 - 3 X) s] (k3), square = E[s^2] (S2), tilted_square = E[X s^2],
    weighted_square = E[X^2 s^2], cube = E[s^3], tilted_cube = E[X s^3], square_variance = Var(s^2).
    """

    second: Array
    third: Array
    square: Array
    tilted_square: Array
    weighted_square: Array
    cube: Array
    tilted_cube: Array
    square_variance: Array


@dataclass(frozen=True, eq=False)
class Batch:
    """A fresh batch that meets the network in a state: nodes kappa (n,), their weights (n,), and functions of kappa.

    For activation and target of the same parity all that a step needs is even in the input, and kappa >= 0 with the
    weight of both sides.

    mu0 = E[sigma] is what the output of the network tends to; slope are the moments of sigma' at r kappa + sqrt(c) X,
    teacher those of g at theta.x, over z and without label noise.
    """

    activation: Activation
    target: Activation
    state: State
    noise: float
    refine: int
    kappa: Array
    weights: Array
    mu0: Array
    slope: Moments
    teacher: Moments
    levels: Levels

    @property
    def mu1(self) -> Array:
        """E[sigma']."""
        return self.slope.mean

    @property
    def mu11(self) -> Array:
        """E[sigma''] = E[X sigma']/sqrt(c)."""
        return self.slope.slope / math.sqrt(self.state.bulk)

    @property
    def mu111(self) -> Array:
        """E[sigma'''] = E[(X^2 - 1) sigma']/c."""
        return self.slope.curvature / self.state.bulk

    @property
    def slope_variance(self) -> Array:
        """Var(sigma' | kappa) = E[s^2] + c mu11^2."""
        return self.slope.rest + self.slope.slope**2

    @property
    def residual(self) -> Array:
        """E[Y | kappa] = y0 - mu0."""
        return self.teacher.mean - self.mu0

    @property
    def residual_square(self) -> Array:
        """E[Y^2 | kappa], with the noise of the labels; a sum of squares."""
        return np.asarray(self.teacher.rest + self.teacher.slope**2 + self.residual**2 + self.noise)

    @cached_property
    def slope_moments(self) -> SlopeMoments:
        """What the network's own bulk needs of s."""
        return _slope_moments(slope_integrand(self.activation), self)

    @cached_property
    def joint(self) -> Joint:
        """Nodes for averages of any function of kappa, z and Y without label noise, which `labels` adds."""
        return _joint(integrand(self.target), self)

    def refined(self) -> Batch:
        """The same by finer rules along the spike, across it and for labels, for an estimate of errors."""
        finer = Levels(*(level + 1 for level in self.levels))
        return batch(self.activation, self.target, self.state, self.noise, self.refine + 1, finer)


def batch(
    activation: Activation,
    target: Activation,
    state: State,
    noise: float = 0.0,
    refine: int = 0,
    levels: Levels | None = None,
) -> Batch:
    """What a batch sees of a network in a state; the rule along the spike, and for labels, is refined so many times.

    Rules across the spike are refined until they settle wherever they are asked for, or as often as `levels` says,
    which a neighbouring state has shown. Far out, where a function all but vanishes, they may not settle and need not:
    what that does to averages along the spike shows in `refined`.

    Raises ExpressionError where an average is infinite or takes too many nodes.
    """
    student, slope, teacher = integrand(activation), slope_integrand(activation), integrand(target)
    root, across = math.sqrt(state.bulk), math.sqrt(state.remainder)
    # Without spike and alignment nothing depends on kappa: two nodes average 1, kappa and kappa^2 exactly.
    alone = state.spike == 0.0 and state.alignment == 0.0
    # What a step needs is even in x where the functions have the same parity.
    even = activation.parity in ("odd", "even") and activation.parity == target.parity
    kappa, weights = _SIGNS if alone else _rule(student, slope, teacher, state, refine, even)
    inner, outer = state.spike * kappa, state.alignment * kappa
    if levels is None:
        given = ((student, inner, root), (slope, inner, root), (teacher, outer, across))
        # Farther out than this a function is like its growth, and rules need no trial.
        near = (np.clip(shift, -_NEAR, _NEAR) for _, shift, _ in given)
        levels = Levels(*(settled_level(one[0], x, one[2], math.inf) for one, x in zip(given, near, strict=True)))
    mean, of_slope = mean_and_slope_moments(student, slope, inner, root, levels[:2])
    of_teacher = moments_at(teacher, outer, across, levels.teacher)
    return Batch(activation, target, state, noise, refine, kappa, weights, mean, of_slope, of_teacher, levels)


_SIGNS = Rule(np.array([-1.0, 1.0]), np.array([0.5, 0.5]))


def _rule(student: Integrand, slope: Integrand, teacher: Integrand, state: State, refine: int, even: bool) -> Rule:
    """The rule along the spike for products of averages of the three functions."""
    widest, reaches = _WIDEST, []
    features: set[Layer] = set()
    lines = (
        (student, state.spike, state.bulk),
        (slope, state.spike, state.bulk),
        (teacher, state.alignment, state.remainder),
    )
    for function, gain, variance in lines:
        step = spacing(_entire(function), gain, variance / _PRODUCT) / _POLES
        features.update(layers(function if step >= _SHORTEST else _panelled(function), gain, variance / _PRODUCT))
        features.update(Layer(place / gain, 0.0) for place in (_EDGES if step < _SHORTEST else ()))
        widest = min(widest, step if step >= _SHORTEST else widest)
        reaches.append(_reach(function, gain, variance))
    return spike_rule(tuple(sorted(features)), widest, half_length(reaches), refine, even, _TAILS)


@lru_cache(maxsize=64)
def _entire(function: Integrand) -> Integrand:
    """An entire function as one that is analytic in a strip."""
    return replace(function, strip=min(function.strip, _ENTIRE))


@lru_cache(maxsize=64)
def _panelled(function: Integrand) -> Integrand:
    """An analytic function by the places where it is steep."""
    return with_splits(function)


@lru_cache(maxsize=64)
def _powered(function: Integrand) -> Integrand:
    """What grows as a power of a function does, for the reach of its rule."""
    return replace(function, degree=_POWER * function.degree, rate=_POWER * function.rate)


def _reach(function: Integrand, gain: float, variance: float) -> float:
    """How far kappa has to be followed for products of averages of the function."""
    if function.quadratic == 0.0:
        return reach(_powered(function), gain, variance, -_SHORTER)
    # E f(gain kappa + sqrt(variance) X) grows like exp(q kappa^2 gain^2/(1 - 2 q variance)).
    inner = 1.0 - 2.0 * function.quadratic * variance
    grown = 2.0 * function.quadratic / inner if inner > 0.0 else math.inf
    try:
        return reach(replace(_powered(function), quadratic=grown), gain)
    except ValueError as infinite:
        raise ExpressionError(
            f"an average over a batch after the first step is infinite at spike {gain:.4g} and bulk {variance:.4g}"
        ) from infinite


def _slope_moments(slope: Integrand, seen: Batch) -> SlopeMoments:
    """By the rule across the spike that the moments of sigma' have; as there, what a line leaves is made first."""
    shift, root = seen.state.spike * seen.kappa, math.sqrt(seen.state.bulk)
    # Products of four of s vary faster than what the rule has settled for.
    x, weights = across_rule(slope, shift, root, 1 + seen.refine)
    weights = np.broadcast_to(weights, (len(shift), x.shape[-1]))
    values = np.zeros(weights.shape)
    inside = weights > 0.0  # panels of no width lie on a breakpoint
    values[inside] = slope.values((shift[:, None] + root * x)[inside])
    s = values - seen.slope.mean[:, None] - seen.slope.slope[:, None] * x
    square = s * s
    mean = seen.slope.rest
    others = (square * x, square * x * x, square * s, square * s * x, (square - mean[:, None]) ** 2)
    third = np.vecdot(weights, (x**3 - 3.0 * x) * s)
    return SlopeMoments(seen.slope.curvature, third, mean, *(np.vecdot(weights, part) for part in others))


def _joint(teacher: Integrand, seen: Batch) -> Joint:
    """The product of the rule along kappa and that of the target across it."""
    shift, across = seen.state.alignment * seen.kappa, math.sqrt(seen.state.remainder)
    z, weights = across_rule(teacher, shift, across, seen.refine) if across else _SIGNS
    shape = (len(shift), z.shape[-1])
    weights = (seen.weights[:, None] * weights).ravel()
    kept = np.flatnonzero(weights > _NO_WEIGHT)
    z, place = np.broadcast_to(z, shape).ravel()[kept], kept // shape[1]
    return Joint(place, z, teacher.values(shift[place] + across * z) - seen.mu0[place], weights[kept])
