"""Mean squares that a rule along the spike and the rules across it have to agree on."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from giantsteps.numerics.gaussian.quadrature import Integrand, conditional_moments, moments_at


@lru_cache(maxsize=256)
def _second_moment(function: Integrand, shift: float, scale: float) -> float:
    """E[f(shift + scale z)^2] by the rule of `conditional_moments`, whatever is left of its error."""
    return float(conditional_moments(function, np.array([shift]), scale, accept=math.inf).square[0])


@lru_cache(maxsize=256)
def _first_look(function: Integrand, shift: float, scale: float) -> float:
    """The same by the rule before it is refined."""
    return float(moments_at(function, np.array([shift]), scale, 0).square[0])


def square_gap(square: float, function: Integrand, shift: float, scale: float, enough: float) -> float:
    """How far a mean square is from E[f(shift + scale z)^2], relative: the rule is refined where that is more than
    `enough`, since two rules that agree need no third."""
    found = _first_look(function, shift, scale)
    if not abs(square - found) <= enough * max(square, found):
        found = _second_moment(function, shift, scale)
    return abs(square - found) / max(square, found, 1e-300)
