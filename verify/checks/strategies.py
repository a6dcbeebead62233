"""From the domain of a claim to a Hypothesis strategy over its points."""

from __future__ import annotations

import math

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from giantsteps.verify.protocol.claim import Domain, Range


def points_of(domain: Domain) -> SearchStrategy[dict[str, float | str]]:
    """Points of the domain as dictionaries, coordinate name -> number or choice."""
    return st.fixed_dictionaries({coordinate.name: coordinate_of(coordinate) for coordinate in domain.ranges})


# A number is drawn as so many bits. Hypothesis mixes constants that it finds in the modules loaded at that moment into
# integers and indices, but not into booleans: with bits the search is the same whatever else a process has imported.
_BITS = 10
_STEPS = 2**_BITS - 1


def coordinate_of(coordinate: Range) -> SearchStrategy[float | str]:
    """One coordinate: a choice, or one of 1024 numbers of the range (even in the logarithm if it says so)."""
    number = st.tuples(*[st.booleans()] * _BITS).map(lambda bits: sum(2**k for k, bit in enumerate(bits) if bit))
    choices, low, high = coordinate.choices, coordinate.low, coordinate.high
    if choices:
        return number.map(lambda i: choices[i % len(choices)])
    if coordinate.log:
        return number.map(lambda i: math.exp(math.log(low) + math.log(high / low) * i / _STEPS))
    return number.map(lambda i: low + (high - low) * i / _STEPS)
