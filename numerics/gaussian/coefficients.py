"""The constants and functions of an activation and a target in the theory, computed from their definitions.

Everything is an expectation over z ~ N(0, 1) by `numerics.gaussian.quadrature`; no closed form is used, so that closed
forms can be checked against these numbers.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation, integrable_square
from giantsteps.derivations.activations.activation import activation as function
from giantsteps.derivations.activations.local_exponents import FAR_OUT, slope_obstacles
from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.gaussian.quadrature import (
    MOST_UNSETTLED,
    Moments,
    conditional_moments,
    integrand,
    slope_integrand,
)
from giantsteps.numerics.gaussian.settled_moments import settled_moments

Array = NDArray[np.float64]


class HermiteErrors(NamedTuple):
    """How far each of the `HermiteConstants` may be off: what a finer rule moves it by, and rounding (an estimate)."""

    mean: float
    h1: float
    h2: float
    curvature: float
    h1_check: float


@dataclass(frozen=True)
class HermiteConstants:
    """The constants of equation (12) and the two means that the gradient step needs, with their errors.

    mean = E[f], h1 = E[z f], h2 = E[f^2], curvature = E[(z^2 - 1) f] = E[f''], h1_check = E[(f' - h1)^2]; h1_check is
    infinite, with a reason, when f jumps or when its derivative is not square integrable, and NaN, with a reason, where
    that was not decided.
    """

    mean: float
    h1: float
    h2: float
    curvature: float
    h1_check: float
    errors: HermiteErrors
    h1_check_reason: str = ""

    @property
    def obstacle(self) -> str:
        """Why h1_check cannot be used, as the rest of a sentence; nothing where it can."""
        why = "it is infinite because" if math.isinf(self.h1_check) else "whether it is finite was not decided because"
        return f"{why} {self.h1_check_reason}" if self.h1_check_reason and not math.isfinite(self.h1_check) else ""


_UNKNOWN = HermiteErrors(math.inf, math.inf, math.inf, math.inf, math.inf)
_INFINITE = HermiteConstants(math.nan, math.nan, math.inf, math.nan, math.inf, _UNKNOWN, "E[sigma^2] is infinite")


class Coefficients(NamedTuple):
    """mu0, mu1 and mu2 >= 0 at each kappa, equation (15)."""

    mu0: Array
    mu1: Array
    mu2: Array


class TargetMoments(NamedTuple):
    """y0 = E_z y, y1 = E_z[z y], y2 = E_z[y^2] at each kappa, without label noise."""

    y0: Array
    y1: Array
    y2: Array


@accepts(activation=function)
@lru_cache(maxsize=512)
@np.errstate(all="ignore")
def hermite_constants(activation: Activation, refine: int = 0) -> HermiteConstants:
    """E[f], h1, h2, E[(z^2 - 1) f] and E[(f' - h1)^2] for z ~ N(0, 1), equation (12).

    h2 is a second moment, not a Hermite coefficient. The rules are refined until they settle, `refine` times more where
    asked; what is left is in `errors`, which may be large. What overflows is infinite or NaN, without a warning; where
    h2 is infinite, nothing else is said. Raises ExpressionError where it was not decided whether h2 is finite.
    """
    if not integrable_square(activation, 0.0, 1.0):
        return _INFINITE
    moments, errors = settled_moments(integrand(activation), np.zeros(1), 1.0, refine)
    mean, h1, h2, _, curvature = (float(part[0]) for part in moments)
    mean_error, h1_error, h2_error, _, curvature_error = (float(part[0]) for part in errors)
    reason, infinite = _slope_obstacle(activation)
    if reason:
        check, check_error = (math.inf, 0.0) if infinite else (math.nan, math.inf)
    else:
        check, check_error = _derivative_variance(activation, h1, h1_error, refine)
    left = HermiteErrors(mean_error, h1_error, h2_error, curvature_error, check_error)
    return HermiteConstants(mean, h1, h2, curvature, check, left, reason)


def _slope_obstacle(activation: Activation) -> tuple[str, bool]:
    """Why E[f'^2] is not finite or not known to be (nothing where it is), and whether it is infinite."""
    found = slope_obstacles(activation)
    if found.jumps:
        return f"sigma jumps at z = {found.jumps[0].value:.6g}", True
    if found.steep:
        return f"sigma' is not square integrable at z = {found.steep[0].value:.6g}", True
    if found.undecided:
        return f"sigma' is unbounded at z = {found.undecided[0].value:.6g}", False
    return (f"sigma could jump, or rise like a root, {FAR_OUT}" if found.far else ""), False


def _derivative_variance(activation: Activation, h1: float, h1_error: float, refine: int) -> tuple[float, float]:
    """E[(f' - h1)^2] and its error."""
    moments, errors = settled_moments(slope_integrand(activation), np.zeros(1), 1.0, refine)
    mean, slope, _, rest, _ = (float(part[0]) for part in moments)
    mean_error, slope_error, _, rest_error, _ = (float(part[0]) for part in errors)
    # E[f'] = h1: what the two rules leave of their difference is a check of both.
    off = abs(mean - h1)
    off += mean_error + h1_error
    return rest + slope * slope, rest_error + 2.0 * abs(slope) * slope_error + off * off  # a power would raise


def conditional_moments_of(
    activation: Activation,
    slope: float,
    variance: float,
    bias: float,
    kappa: Array,
    refine: int = 0,
    accept: float = MOST_UNSETTLED,
) -> Moments:
    """Moments over z of f(slope kappa + bias + sqrt(variance) z), one per kappa; raises as conditional_moments."""
    return conditional_moments(integrand(activation), slope * kappa + bias, math.sqrt(variance), refine, accept)


@lru_cache(maxsize=32)
def _known_moments(activation: Activation, variance: float, places: bytes, refine: int) -> Moments:
    return conditional_moments_of(activation, 1.0, variance, 0.0, np.frombuffer(places), refine, math.inf)


def known_moments_of(activation: Activation, variance: float, kappa: Array, refine: int) -> Moments:
    """The same of f(kappa + sqrt(variance) z), whatever error is left, and remembered: along a rule that two models
    have in common their target looks the same, however long the steps that their students took.
    """
    return _known_moments(activation, variance, np.ascontiguousarray(kappa).tobytes(), refine)


@accepts(activation=function)
def conditional_coefficients(
    activation: Activation, spike: float, bulk: float, bias: float, kappa: Array, refine: int = 0
) -> Coefficients:
    """mu0, mu1, mu2 of the conditional Gaussian equivalence, equation (15), one entry per kappa.

    mu0 = E sigma(x), mu1 = E[z sigma(x)]/sqrt(c), mu2^2 = E[(sigma(x) - mu0 - sqrt(c) mu1 z)^2] with
    x = spike kappa + bias + sqrt(bulk) z. All are O(1) in d.
    """
    moments = conditional_moments_of(activation, spike, bulk, bias, np.asarray(kappa, dtype=float), refine)
    return Coefficients(moments.mean, moments.slope / math.sqrt(bulk), np.sqrt(moments.rest))


@accepts(target=function)
def target_moments(target: Activation, alignment: float, kappa: Array, refine: int = 0) -> TargetMoments:
    """y0, y1, y2 of y = g(alignment kappa + sqrt(1 - alignment^2) z), one entry per kappa, without label noise.

    At |alignment| = 1 they are g, 0, g^2 exactly.
    """
    # (1 - g)(1 + g) keeps the layer's width right when the alignment is close to 1.
    variance, places = (1.0 - alignment) * (1.0 + alignment), np.asarray(kappa, dtype=float)
    moments = conditional_moments_of(target, alignment, variance, 0.0, places, refine)
    return TargetMoments(moments.mean, moments.slope, moments.square)
