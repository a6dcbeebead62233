"""The functions of kappa that the saddle point needs, tabulated on one rule along the spike.

A profile depends on activation, target, spike, bulk, biases and alignment, not on alpha, beta, ridge or noise: it is
computed once and cached by value.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache

import numpy as np
from numpy.typing import NDArray

from derivations.activation import Activation
from derivations.expression import ExpressionError
from numerics.coefficients import aligned_moments, conditional_moments_of
from numerics.deterministic_equivalent import upper_triangle
from numerics.model import Model, ModelError
from numerics.quadrature import (
    Integrand,
    conditional_moments,
    doublings,
    half_length,
    integrand,
    layers,
    reach,
    resolvable,
    spacing,
    span,
    spike_rule,
)

Array = NDArray[np.float64]

# The step of the coarsest rule along the spike; the poles of 1/(1 + V) limit it, and no formula gives them.
WIDEST_SPACING = 0.2
# Second moments by two rules agree to this fraction, unless one of the rules misses something.
_SQUARES_AGREE = 1e-9


@dataclass(frozen=True)
class Profile:
    """Nodes (n,) and weights (n,) of E over kappa; mu0, mu1, mu2_squared (k, n); y0, y1, spread (n,).

    spread = E_z[y^2] - y0^2 - y1^2 without label noise, integrated as a square. unresolved is the relative error that
    the inner integrals are left with, 0.0 when doubling their rules does not change them; or that of E[sigma^2] and
    E[g^2] along the spike.

    For an activation of definite parity without bias V is even in kappa, and the rule lives on kappa >= 0 with the
    weight of both sides; y0 and y1 then are the parts of the parity that yhat and mu1 have, and the squares of the
    other parts, which nothing in yhat can meet, are in spread.

    mu0_bulk_slope holds dmu0_a/dc_a, (k, n), where the rows of the bulk differ in norm, and nothing, (0, n), elsewhere.
    """

    kappa: Array
    weights: Array
    mu0: Array
    mu1: Array
    mu2_squared: Array
    mu0_bulk_slope: Array
    y0: Array
    y1: Array
    spread: Array
    unresolved: float

    @property
    def groups(self) -> int:
        """The number k of readout groups."""
        return len(self.mu0)

    @cached_property
    def along(self) -> Array:
        """The functions of yhat beside the means, one overlap each: kappa mu1_a, then dmu0_a/dc_a where norms vary."""
        return np.concatenate([self.kappa * self.mu1, self.mu0_bulk_slope])

    @cached_property
    def features(self) -> Array:
        """mu1_a mu1_b (a <= b) and mu2_a^2, packed: E of these over 1 + V are C and D up to alpha/beta."""
        rows, columns = upper_triangle(self.groups)
        return np.concatenate([self.mu1[rows] * self.mu1[columns], self.mu2_squared])

    @cached_property
    def multiplied_features(self) -> Array:
        """The same with off-diagonal products doubled, so that V = (T, tau) packed @ multiplied_features."""
        rows, columns = upper_triangle(self.groups)
        double = np.concatenate([np.where(rows == columns, 1.0, 2.0), np.ones(self.groups)])
        product: Array = self.features * double[:, None]
        return product

    @cached_property
    def weighted_features(self) -> Array:
        """features times the weights of the rule."""
        return self.features * self.weights


def profile(
    model: Model, refine: int = 0, refine_inner: int = 0, extra: float = 0.0, *, whole: bool = False
) -> Profile:
    """The profile of a model; rules along the spike and across it are doubled the given numbers of times.

    `extra` lengthens the rule along the spike: the logarithm of a factor by which its tails matter more than their
    Gaussian weight. With `whole` the rule covers both signs of kappa whatever the parities.
    """
    return _profile(
        model.activation,
        tuple(zip(model.slopes, model.bulks, model.biases, strict=True)),
        model.target,
        model.alignment,
        refine,
        refine_inner,
        extra,
        model.unequal_norms,
        whole,
    )


@lru_cache(maxsize=64)
def _profile(
    activation: Activation,
    groups: tuple[tuple[float, float, float], ...],
    target: Activation,
    alignment: float,
    refine: int,
    refine_inner: int,
    extra: float,
    unequal: bool,
    whole: bool,
) -> Profile:
    student, teacher = integrand(activation), integrand(target)
    across = (1.0 - alignment) * (1.0 + alignment)
    features = list(layers(teacher, alignment, across))
    widest = min(WIDEST_SPACING, spacing(teacher, alignment, across))
    reaches = [reach(teacher, alignment, across, extra)]
    for slope, bulk, bias in groups:
        features += layers(student, slope, bulk, bias)
        widest = min(widest, spacing(student, slope, bulk))
        reaches.append(reach(student, slope, bulk, extra))
    even = not whole and activation.parity in ("odd", "even") and all(bias == 0.0 for _, _, bias in groups)
    rule = spike_rule(tuple(sorted(set(features))), widest, half_length(reaches), refine, even)
    try:
        student_part = [conditional_moments_of(activation, *group, rule.nodes, refine_inner) for group in groups]
        y0, y1, spread = _target_part(target, alignment, rule.nodes, refine_inner, activation.parity if even else "")
    except ExpressionError as overflow:
        raise ModelError(f"the model is out of reach of double precision: {overflow}") from overflow
    lines = [(student, group) for group in groups] + [(teacher, (alignment, across, 0.0))]
    root = np.sqrt([bulk for _, bulk, _ in groups])
    # The heat equation: d mu0/dc = E[(z^2 - 1) sigma]/(2c).
    bulk_slope = np.array([part.curvature for part in student_part]) / (2.0 * root[:, None] ** 2)
    found = Profile(
        kappa=rule.nodes,
        weights=rule.weights,
        mu0=np.array([part.mean for part in student_part]),
        mu1=np.array([part.slope for part in student_part]) / root[:, None],
        mu2_squared=np.array([part.rest for part in student_part]),
        mu0_bulk_slope=bulk_slope if unequal else np.zeros((0, len(rule.nodes))),
        y0=y0,
        y1=y1,
        spread=spread,
        unresolved=max(_unresolved(f, *line, rule.nodes) for f, line in lines),
    )
    return replace(found, unresolved=max(found.unresolved, _mismatch(found, student, groups, teacher)))


def _mismatch(
    table: Profile, student: Integrand, groups: tuple[tuple[float, float, float], ...], teacher: Integrand
) -> float:
    """How far E[sigma^2] and E[g^2] along this rule are from the inner rule's, relative; 0.0 where they agree.

    A rule along the spike may step over what a finer one, too, steps over; the inner rule has nodes of its own.
    """
    squares = [float(table.weights @ (table.y0**2 + table.y1**2 + table.spread))]
    wholes = [conditional_moments(teacher, np.zeros(1), 1.0).square[0]]
    for i, (slope, bulk, bias) in enumerate(groups):
        whole = math.hypot(slope, math.sqrt(bulk))
        if not resolvable(student, whole):
            continue
        squares.append(float(table.weights @ (table.mu0[i] ** 2 + bulk * table.mu1[i] ** 2 + table.mu2_squared[i])))
        wholes.append(conditional_moments(student, np.array([bias]), whole).square[0])
    worst = max(abs(x - y) / max(x, y, 1e-300) for x, y in zip(squares, map(float, wholes), strict=True))
    return worst if not worst <= _SQUARES_AGREE else 0.0


def _target_part(
    target: Activation, alignment: float, kappa: Array, refine: int, parity: str
) -> tuple[Array, Array, Array]:
    """y0, y1 and spread at kappa, or their parts for a student of the given parity."""
    right = aligned_moments(target, alignment, kappa, refine)
    if not parity:
        return right.mean, right.slope, right.rest
    left = aligned_moments(target, alignment, -kappa, refine)
    sign = -1.0 if parity == "odd" else 1.0
    # yhat has the parity of the activation, mu1 the opposite one.
    y0, other0 = 0.5 * (right.mean + sign * left.mean), 0.5 * (right.mean - sign * left.mean)
    y1, other1 = 0.5 * (right.slope - sign * left.slope), 0.5 * (right.slope + sign * left.slope)
    return y0, y1, 0.5 * (right.rest + left.rest) + other0**2 + other1**2


def _unresolved(function: Integrand, slope: float, variance: float, bias: float, kappa: Array) -> float:
    if variance == 0.0:
        return 0.0
    return doublings(function, *span(slope * kappa + bias), math.sqrt(variance))[1]
