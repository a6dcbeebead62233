"""Random maps of two positive numbers: increasing and concave ones, and others that lack one property."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from onestep.derivations.bulk import symbols as s
from onestep.verify.checks.kinds import Point
from onestep.verify.second_route.models import value
from onestep.verify.second_route.saddle_point.one_solution import iterated


def random_maps(point: Point) -> Mapping[str, float]:
    """Fixed points of F_i = a_i + sum_j b_ij x_j^p_ij with p < 1, from below and from above.

    And two fixed points of maps that are not increasing, F = (x1/x2, 1), or homogeneous, F = (x2, x1), by iteration
    from two random starts.
    """
    generator = np.random.default_rng(int(value(point, "seed")))
    shift, weights, powers = (
        generator.uniform(0.1, 1.0, 2),
        generator.uniform(0.0, 1.0, (2, 2)),
        generator.uniform(0.1, 0.8, (2, 2)),
    )
    low, high = generator.uniform(1e-6, 1e-3), generator.uniform(10.0, 1e3)

    def concave(x: float, y: float) -> tuple[float, float]:
        first, second = shift + (weights * np.array([x, y]) ** powers).sum(axis=1)
        return float(first), float(second)

    below, above = iterated(concave, (low, low)), iterated(concave, (high, high))
    start, other = generator.uniform(0.5, 2.0, 2)
    return {
        s.V1.name: above[0],
        s.V2.name: above[1],
        s.V1_other.name: below[0],
        s.V1_rising.name: iterated(lambda x, y: (x / y, 1.0), (start, 1.0))[0],
        s.V1_other_rising.name: iterated(lambda x, y: (x / y, 1.0), (other, 1.0))[0],
        s.V1_bare.name: iterated(lambda x, y: (y, x), (start, start))[0],
        s.V1_other_bare.name: iterated(lambda x, y: (y, x), (other, other))[0],
    }
