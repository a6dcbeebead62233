"""From the domain of a claim to a Hypothesis strategy over its points."""

from __future__ import annotations

import math

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from verify.claim import Domain, Range


def points_of(domain: Domain) -> SearchStrategy[dict[str, float | str]]:
    """Points of the domain as dictionaries, coordinate name -> number or choice."""
    return st.fixed_dictionaries({coordinate.name: coordinate_of(coordinate) for coordinate in domain.ranges})


def coordinate_of(coordinate: Range) -> SearchStrategy[float | str]:
    """One coordinate: a choice, or a number of the range (uniform in its logarithm where the range says so).

    Numbers are rational with a small denominator of the range, so that shrunk witnesses can be read.
    """
    if coordinate.choices:
        return st.sampled_from(coordinate.choices)
    steps = 1000
    low, high = coordinate.low, coordinate.high
    if coordinate.log:
        return st.integers(0, steps).map(lambda i: math.exp(math.log(low) + (math.log(high / low)) * i / steps))
    return st.integers(0, steps).map(lambda i: low + (high - low) * i / steps)
