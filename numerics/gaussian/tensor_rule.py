"""Rules for E over kappa ~ N(0, I_s), a spike of several directions: products of rules along orthogonal axes.

Activation and target depend on kappa through w.kappa only, one vector w each. The axes span those vectors, the one
whose function has the narrowest layer first: panels along an axis follow the layers of the functions parallel to it.
A narrow layer across the axes has no panels; what a rule misses there shows when it is refined. Nodes outside a ball
are dropped, where the Gaussian weight is under the rounding of double precision.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.quadrature import FINER, WIDEST_STEP, Integrand, reach
from giantsteps.numerics.gaussian.spike_rule import Layer, half_length, layers, spacing, spike_rule

Array = NDArray[np.float64]

# The step of the coarsest rule. Integrands are entire but for the poles of 1/(1 + V); refining shows what they need.
COARSEST = 0.5
# No first rule is finer than this, whatever the functions ask for.
_FINEST_START = 0.25
# A vector shorter than this beside the others of its kind is the rounding of zero.
_NO_LENGTH = 1e-9


@dataclass(frozen=True)
class Line:
    """A function of w.kappa + bias, averaged over a further Gaussian variable of the given variance."""

    function: Integrand
    direction: tuple[float, ...]
    variance: float
    bias: float

    @property
    def length(self) -> float:
        """|w|."""
        return math.hypot(*self.direction)

    @property
    def narrowness(self) -> float:
        """The width along w of the layers that the function has; infinite where it has none."""
        places = self.function.breakpoints if self.function.splits is None else self.function.splits
        return math.sqrt(self.variance) / self.length if places and self.length > 0.0 else math.inf


class TensorRule(NamedTuple):
    """Nodes (s, n) and weights (n,) of E over kappa ~ N(0, I_s)."""

    nodes: Array
    weights: Array


def tensor_rule(
    lines: Sequence[Line], rank: int, refine: int = 0, extra: float = 0.0, even: bool = False
) -> TensorRule:
    """A rule for functions of the given lines. Each step of `refine` makes at most four times as many nodes.

    Directions that no line has a part in get no nodes: the rule then is the projection of kappa on the lines' span.
    For integrands even in kappa (`even`) it lives on one half space, with the weight of both sides. `extra` is as in
    `quadrature.reach`.
    """
    axes = axes_of(lines, rank)
    radius = half_length([reach(x.function, x.length, x.variance, extra) for x in lines])
    # A finer step in two directions, and half as much finer in three, multiplies the nodes by 3.6 and by 2.6.
    finer = FINER ** (refine if len(axes) < 3 else 0.5 * refine)
    rules = []
    for index, axis in enumerate(axes):
        step = COARSEST
        features: list[Layer] = []
        for line in lines:
            gain = float(np.dot(axis, line.direction))
            if abs(gain) < _NO_LENGTH * line.length:
                continue
            step = min(step, spacing(line.function, gain, line.variance))
            places = layers(line.function, gain, line.variance, line.bias)
            if abs(gain) > (1.0 - _NO_LENGTH) * line.length:
                features += places
            elif places:
                step = min(step, WIDEST_STEP * places[0].width / math.hypot(1.0, places[0].width))
        step = max(step, _FINEST_START) / finer
        halvings = refine if len(axes) < 3 else refine // 2
        followed = tuple(sorted(set(features)))
        rules.append(spike_rule(followed, step, radius, halvings if followed else 0, even and index == 0))
    grids = np.meshgrid(*(rule.nodes for rule in rules), indexing="ij", sparse=True)
    inside = np.asarray(sum(grid**2 for grid in grids) <= radius**2)
    places_ = [np.broadcast_to(grid, inside.shape)[inside] for grid in grids]
    weights = np.ones(int(np.count_nonzero(inside)))
    for rule, shape in zip(rules, (grid.shape for grid in grids), strict=True):
        weights *= np.broadcast_to(rule.weights.reshape(shape), inside.shape)[inside]
    return TensorRule(axes.T @ np.array(places_), weights)


def axes_of(lines: Sequence[Line], rank: int) -> Array:
    """Orthonormal rows (e, s), e <= s, that span the lines' directions, the narrowest line's first."""
    longest = max((line.length for line in lines), default=0.0)
    axes: list[Array] = []
    for line in sorted(lines, key=lambda line: (line.narrowness, -line.length)):
        left = np.asarray(line.direction, dtype=float)
        for _ in range(2):  # twice, so that what is left is orthogonal to rounding
            for axis in axes:
                left = left - (axis @ left) * axis
        if np.linalg.norm(left) > _NO_LENGTH * longest:
            axes.append(left / np.linalg.norm(left))
    return np.array(axes) if axes else np.eye(1, rank)
