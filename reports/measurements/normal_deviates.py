"""Tests of whether independent deviates are standard normal: their law, their spread and the largest one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from giantsteps.verify.checks.finite_size import Comparison

Array = NDArray[np.float64]

# Below this probability, in either of the first two tests, deviates are said not to look standard normal; so right ones
# are in 2 % of cases at most.
LEVEL = 0.01


def deviates(reports: Sequence[Sequence[Comparison]]) -> dict[str, list[float]]:
    """z by observable, the components of one observable (groups, directions) together."""
    found: dict[str, list[float]] = {}
    for comparisons in reports:
        for comparison in comparisons:
            if comparison.z is not None:
                found.setdefault(comparison.observable.split("[")[0], []).append(comparison.z)
    return found


def normality(z: Sequence[float] | Array) -> float:
    """The probability that standard normal deviates lie as far from their law, by Kolmogorov and Smirnov.

    It sees a shift well and a wrong spread badly: for that there is `spread`.
    """
    from scipy.stats import kstest

    return float(kstest(np.asarray(z), "norm").pvalue)


def squares(z: Sequence[float] | Array) -> float:
    """The sum of squares of the deviates, chi-square with as many degrees of freedom where they are standard normal."""
    return float(np.sum(np.square(np.asarray(z))))


def spread(z: Sequence[float] | Array) -> float:
    """Twice the probability of a chi-square sum of squares at least as far out, on the side where the sum is."""
    from scipy.special import chdtr, chdtrc

    total, count = squares(z), len(z)
    return float(min(1.0, 2.0 * min(chdtr(count, total), chdtrc(count, total))))


def extreme(z: Sequence[float] | Array) -> float:
    """The probability that the largest of so many independent standard normal deviates is as large as this one."""
    from scipy.special import ndtr

    size = np.abs(np.asarray(z))
    return float(1.0 - (1.0 - 2.0 * ndtr(-size.max())) ** len(size))


def look_normal(z: Sequence[float] | Array) -> bool:
    """Whether both the law and the spread have probabilities above LEVEL."""
    return min(normality(z), spread(z)) > LEVEL
