"""The margin of a property: 1 if it holds exactly, 0 if it just holds; and the draws that test it."""

from __future__ import annotations

import math
from typing import Any

import hypothesis
import numpy as np
from numpy.typing import ArrayLike

from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.verify.properties.property import Theory

# An estimate of an error is wrong where the error is ten times as large: what is allowed where two numbers are compared
# of which each knows its own.
ESTIMATES = 10.0
# A few hundred roundings of 1e-16, beside numbers of order one.
FLOOR = 1e-13


def near(found: ArrayLike, expected: ArrayLike, allowed: float) -> float:
    """1 - |found - expected|/allowed, the least of it over arrays; minus infinity where something is no number."""
    off = float(np.max(np.abs(np.asarray(found, dtype=complex) - np.asarray(expected, dtype=complex)), initial=0.0))
    if not (math.isfinite(off) and math.isfinite(allowed)):
        return -math.inf
    return 1.0 - off / allowed if allowed > 0.0 else float(off == 0.0) - float(off != 0.0)


def at_most(smaller: float, larger: float, allowed: float, scale: float = 1.0) -> float:
    """smaller <= larger + allowed: the room that is left, beside the scale."""
    room = (larger - smaller + allowed) / scale if scale > 0.0 else math.nan
    return min(room, 1.0) if math.isfinite(room) else -math.inf


def is_so(fact: bool) -> float:
    """A property without a measure: 1 or -1."""
    return 1.0 if fact else -1.0


def decided(fact: bool) -> None:
    """Leave this draw where the fact does not hold: it says nothing."""
    if not fact:
        hypothesis.reject()


def trusted(theory: Theory, model: Model, **options: Any) -> Solution:
    """The solution of a model that converged; other models say nothing."""
    found = theory.solve(model, **options)
    decided(found.converged)
    return found


def error_of(*solutions: Any) -> float:
    """What the numbers of these solutions may differ by, by their own estimates."""
    sizes = [1.0 + abs(float(one.test_error)) for one in solutions]
    return ESTIMATES * sum(float(one.error_estimate) for one in solutions) + FLOOR * sum(sizes)
