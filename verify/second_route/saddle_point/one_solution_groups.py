"""Numbers for the map of (T, tau) with two groups: by traces of dense matrices of one bulk, of any spectrum, or others.
Order is Loewner's of T, and that of numbers for each entry of tau.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.models import functions_of, model_at
from giantsteps.verify.second_route.saddle_point.one_solution import LINE, iterated
from giantsteps.verify.second_route.values import generator_at, value

Array = NDArray[np.float64]
Pair = tuple[Array, Array]
# (C, D) to (T, tau).
Traces = Callable[[Array, Array], Pair]
Map = Callable[[Array, Array], Pair]

FRACTIONS, BULKS, _WEIGHTS = (0.375, 0.625), (0.8, 1.4), (1.0, -0.6)
_NEURONS, _INPUTS = 16, 10
_OF_GROUP = np.repeat((0, 1), (6, 10))


@lru_cache(maxsize=64)
def _bulk(seed: int) -> Array:
    """W W^T of one bulk: columns and rows of different sizes."""
    generator = np.random.default_rng(seed)
    W = generator.standard_normal((_NEURONS, _INPUTS)) * generator.uniform(0.2, 1.8, _INPUTS)
    W *= np.sqrt(np.array(BULKS)[_OF_GROUP, None] / _INPUTS)
    return np.asarray(W @ W.T)


def _by_blocks(matrix: Array) -> Array:
    """Sums over the blocks of two groups."""
    member = np.eye(2)[_OF_GROUP]
    return np.asarray(member.T @ matrix @ member)


def _dense(gram: Array, ridge: float) -> Traces:
    """T_ab = (1/p) tr[P_a W W^T P_b S^-1] and tau_a = (1/p) tr_a S^-1 from their definitions."""

    def traces(conjugate: Array, diagonal: Array) -> Pair:
        S = np.diag(ridge + diagonal[_OF_GROUP]) + conjugate[_OF_GROUP[:, None], _OF_GROUP] * gram
        inverse = np.linalg.inv(S)
        return _by_blocks(gram * inverse) / _NEURONS, np.diag(_by_blocks(np.diag(np.diag(inverse)))) / _NEURONS

    return traces


def _map(point: Point, traces: Traces, power: float = -1.0) -> Map:
    """F; with another power of 1 + V a map whose C and D increase."""
    nodes, weights = LINE
    model = model_at(point)
    groups = [model.changed(spike=u * model.spike, bulk=c) for u, c in zip(_WEIGHTS, BULKS, strict=True)]
    first = np.array([functions_of(group)["mu1"](nodes) for group in groups])
    second = np.array([functions_of(group)["mu2"](nodes) ** 2 for group in groups])
    ratio = model.alpha / model.beta

    def mapped(overlap: Array, tau: Array) -> Pair:
        V = np.sum(first * (overlap @ first), axis=0) + tau @ second
        shares = ratio * weights * (1.0 + V) ** power
        return traces((first * shares) @ first.T, second @ shares)

    return mapped


def _least(larger: Pair, smaller: Pair) -> float:
    """The least eigenvalue of larger - smaller in T, or entry in tau, of the size of the larger one."""
    overlap, tau = larger[0] - smaller[0], larger[1] - smaller[1]
    size = max(np.abs(larger[0]).max(), larger[1].max())
    return float(min(np.linalg.eigvalsh(overlap)[0], tau.min()) / size)


def _cone(generator: np.random.Generator) -> Pair:
    """A random positive semidefinite matrix of any rank, and two positive numbers."""
    root = generator.standard_normal((2, generator.integers(1, 3))) * np.exp(generator.uniform(-2.0, 2.0))
    return root @ root.T, np.exp(generator.uniform(-3.0, 3.0, 2))


def gaps(point: Point, traces: Traces, largest: Pair) -> Mapping[str, float]:
    """By how much F is increasing and strictly subhomogeneous at random points; `largest` is (T, tau) at C = D = 0 and
    ridge 1.
    """
    generator = generator_at(point)
    here, more, factor = _cone(generator), _cone(generator), 1.0 + np.exp(generator.uniform(-2.0, 2.0))
    moved, times = (here[0] + more[0], here[1] + more[1]), (factor * here[0], factor * here[1])
    right, rising = _map(point, traces), _map(point, traces, 1.0)
    now, then = right(*here), right(*times)
    whole = factor * now[0], factor * now[1]
    share = (factor - 1.0) * value(point, s.ridge)
    gap = share * now[0] @ np.linalg.inv(largest[0]) @ now[0], share * now[1] ** 2 / largest[1]
    # Where the samples hold the neurons, and all entries grow alike.
    low, further = np.eye(2), np.ones((2, 2))
    changes = [
        right(x * (low + 10.0 * further), x * np.ones(2))[0] - right(x * low, x * np.ones(2))[0] for x in (0.1, 1.0)
    ]
    return {
        s.order_gap.name: _least(right(*moved), now),
        s.order_gap_rising.name: _least(rising(*moved), rising(*here)),
        s.entry_gap.name: float(min(change.min() for change in changes)),
        s.scale_gap.name: _least(whole, (then[0] + gap[0], then[1] + gap[1])),
        s.scale_gap_fourfold.name: _least(whole, (then[0] + 4 * gap[0], then[1] + 4 * gap[1])),
        s.scale_gap_reversed.name: _least(then, whole),
    }


def of_one_bulk(point: Point) -> Mapping[str, float]:
    """The gaps of traces of dense matrices."""
    gram = _bulk(int(value(point, "seed")))
    traces = _dense(gram, value(point, s.ridge))
    return gaps(point, traces, _dense(gram, 1.0)(np.zeros((2, 2)), np.zeros(2)))


def two_solutions(point: Point) -> Mapping[str, float]:
    """T_12 of dense matrices by iteration from above and from below; with C and D increasing from above."""
    gram, ridge = _bulk(int(value(point, "seed"))), value(point, s.ridge)
    traces = _dense(gram, ridge)
    above = traces(np.zeros((2, 2)), np.zeros(2))
    low = 1e-9 * above[0], 1e-9 * above[1]
    right, rising = _map(point, traces), _map(point, traces, 1.0)
    return {
        s.V1_of_groups.name: float(iterated(right, above, 3000)[0][0, 1]),
        s.V1_of_groups_other.name: float(iterated(right, low, 3000)[0][0, 1]),
        s.V1_of_groups_rising.name: float(iterated(rising, above, 3000)[0][0, 1]),
    }
