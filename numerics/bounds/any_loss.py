"""Bounds on the test loss over the ridge for any convex loss.

On a new input the output of the trained network is omega = f + s xi: f in the span of mu0_a, kappa mu1_a, mu1_a z
(and dmu0_a/dc_a where norms vary), xi standard normal and independent of (kappa, z) and of the label. A convex loss
does not gain from independent noise (Jensen), so at every ridge, alpha and beta

    E l(y, omega) >= lower = inf over f in the span of E l(y, f).

As the ridge grows all order parameters but m vanish, and m minimises the loss that is left, so that the test loss tends
to the same infimum over fewer functions:

    inf over the ridge of E l(y, omega) <= upper = inf over m of E l(y, sum_a m_a mu0_a).

Label noise is part of the loss. For the square loss both are those of `numerics.bounds.ridge`, equations (26) and (27).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bounds.convex_minimum import convex_minimum
from giantsteps.numerics.bounds.loss_panels import panels_of
from giantsteps.numerics.bounds.noisy_loss import NoisyLoss
from giantsteps.numerics.bounds.results import Bounds, LeastLoss
from giantsteps.numerics.bounds.ridge import bounds as square_bounds
from giantsteps.numerics.bounds.split_panels import AveragedLoss
from giantsteps.numerics.gaussian.least_squares import RANK_TOLERANCE
from giantsteps.numerics.models.losses import SQUARE, Loss, ProximalLoss
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.any_loss.sample_averages import has_signs, labelled_model
from giantsteps.numerics.saddle_point.map_uncertainty import SMALL, neighbours, relative_uncertainty

Array = NDArray[np.float64]

# A rule is halved until the least loss moves by less than the goal, relative to the loss itself, or to 1 + loss where
# the panels of several directions make a rule of many numbers; more than the limit is not convergence: five digits of a
# bound, whose error is taken off it, are known then. No finer rule is asked for beyond the most numbers.
_GOAL, _LIMIT = 1e-9, 1e-5
_MOST_HALVINGS = 4
_MANY_NUMBERS, _MOST_NUMBERS = 100_000, 1_000_000
# Of a sum of probabilities times losses of order one, a hundred roundings.
_ROUNDING = 1e-14
# Losses below this are not told from zero.
_SMALLEST = 1e-15
# Errors of mu0 and mu1 on a panel, beside their size: sums of some ten terms of a series. They count where functions
# that nearly coincide have large coefficients of opposite sign.
_ERRORS_OF_MEANS = 1e-14
# Directions of the span under this share of the largest are left out: the coefficients along them would lose digits.
_RANK = 1e3 * RANK_TOLERANCE
# A label that is missed with a smaller probability is rounding: the span has a function of the label's sign.
_NEVER = 1e-12


@lru_cache(maxsize=256)
def loss_bounds(model: Model) -> Bounds:
    """Both bounds of the model's loss. Margin losses take the sign of the target as label.

    Raises ModelError as `numerics.saddle_point.any_loss.convex.solve` for what is not supported, label noise beside a
    margin loss and a target that is not +-1 for one.
    """
    loss = model.loss
    least = least_loss(model, across=True)
    limit = least_loss(model, across=False)
    if loss == SQUARE:
        # From (y - f)^2/2 with the noise of the label to E(g - f)^2.
        lower, upper = (max(0.0, 2.0 * value - model.noise) for value in (least.certain, limit.value))
    else:
        lower, upper = least.certain, limit.value
    mapped = _moved_by_the_map(model, least, limit)
    estimate = least.error_estimate + limit.error_estimate + mapped
    square, signs = square_bounds(model.changed(loss=SQUARE)), has_signs(model.target)
    return Bounds(
        # In exact arithmetic lower <= upper: the smaller span lies in the larger one.
        lower=min(lower, upper),
        upper=upper,
        least=least,
        at_infinite_ridge=limit,
        mean_squared_error=(square.lower, None if limit.at_infinity else _error(model, SQUARE, limit)),
        classification_error=_error(model, None, limit) if signs else None,
        error_estimate=estimate * (2.0 if loss == SQUARE else 1.0),
        converged=least.converged and limit.converged and mapped <= _LIMIT * (1.0 + limit.value),
    )


def _moved_by_the_map(model: Model, least: LeastLoss, limit: LeastLoss) -> float:
    """How far the errors of a gradient step's averages move both bounds, as for `numerics.bounds.ridge`."""
    uncertain = relative_uncertainty(model)
    if uncertain <= SMALL or model.network_step is not None:
        return 3.0 * uncertain * (1.0 + limit.value)
    return sum(
        abs(least_loss(other, across=True).value - least.value)
        + abs(least_loss(other, across=False).value - limit.value)
        for other in neighbours(model)
    )


@lru_cache(maxsize=512)
def least_loss(model: Model, *, across: bool) -> LeastLoss:
    """inf of E l(y, f) over the span of the means mu0_a, or with `across` of all that a prediction is made of."""
    before: _Found | None = None
    earlier = moved = math.inf
    for refine in range(_MOST_HALVINGS + 1):
        average = AveragedLoss(
            panels_of(labelled_model(model), across=across, refine=refine), NoisyLoss(model.loss, model.noise)
        )
        now = _least(model, across, average, before)
        # One small move may be luck where panels of several directions err irregularly: halving leaves a quarter.
        earlier, moved = moved, math.inf if before is None else abs(now.value - before.value)
        before, numbers = now, average.features.size
        if moved <= max(now.gap, _GOAL * now.value + _ROUNDING) or (
            moved <= _GOAL * (1.0 + now.value) and numbers > _MANY_NUMBERS
        ):
            break
        if numbers > _MOST_NUMBERS and math.isfinite(moved):
            break
    estimate = now.gap + (max(moved, 0.25 * earlier) if math.isfinite(earlier) else moved)
    return LeastLoss(
        now.value, tuple(now.coefficients.tolist()), now.at_infinity, estimate, estimate <= _LIMIT * (1.0 + now.value)
    )


@dataclass(frozen=True)
class _Found:
    """The least loss on one rule: `gap` is what search and rounding leave, `near` where to search on the next rule.

    near: coefficients of the orthonormal functions `basis` (R, r), which are those of the first rule.
    """

    value: float
    coefficients: Array
    at_infinity: bool
    gap: float
    basis: Array
    near: tuple[Array, ...]


def _least(model: Model, across: bool, average: AveragedLoss, before: _Found | None) -> _Found:
    """The infimum on one rule."""
    margin = isinstance(model.loss, ProximalLoss) and model.loss.margin
    separable, rare = margin and model.noise == 0.0, margin and average.loss.flip <= _NEVER
    basis = _orthonormal(average) if before is None else before.basis
    near = (np.zeros(len(basis)),) if before is None else before.near
    if separable:
        for candidate in _sign_functions(model, across, average, before):
            if average.wrong(candidate) <= _NEVER:
                return _Found(0.0, candidate, True, 0.0, basis, near)

    def objective(b: Array) -> tuple[float, Array]:
        value, slope = average.value_and_slope(basis.T @ b)
        return value, basis @ slope

    # Multiples of a function that has the sign of nearly every label are followed no farther than to the goal.
    found = convex_minimum(objective, near, absolute=_GOAL if rare else _SMALLEST)
    at = basis.T @ found.at
    if separable and average.wrong(at) <= _NEVER:
        return _Found(0.0, at, True, 0.0, basis, near)
    gap = found.gap + _ERRORS_OF_MEANS * average.rounding(at)
    return _Found(found.value, at, rare and found.value <= _GOAL, gap, basis, found.nearby)


def _orthonormal(average: AveragedLoss) -> Array:
    """Coefficients (R, r) of an orthonormal basis of the span in L2."""
    _, singular, directions = np.linalg.svd(average.gram_root(), full_matrices=False)
    size = max(float(singular[0]) if len(singular) else 0.0, 1e-30)
    kept = singular > _RANK * max(size, 0.01)
    return np.asarray(directions[kept] / singular[kept, None])


def _sign_functions(model: Model, across: bool, average: AveragedLoss, before: _Found | None) -> list[Array]:
    """Coefficients of functions that may have the sign of the label everywhere: +-mu0_a and mu1_a times theta.x."""
    count, groups = len(average.features), len(model.groups)
    found = [before.coefficients] if before is not None and before.at_infinity else []
    for a in range(groups):
        mean = np.zeros(count)
        mean[a] = 1.0
        found += [mean, -mean]
        if not across:
            continue
        tilted = np.zeros(count)
        start = groups + a * model.rank
        tilted[start : start + model.rank] = model.alignments
        if model.remainder > 0.0:
            tilted[count - groups + a] = math.sqrt(model.remainder)
        found += [tilted, -tilted]
    return found


def _error(model: Model, loss: Loss | None, found: LeastLoss) -> float:
    """E(g - f)^2, or without a loss P(f g <= 0), at the coefficients found at infinite ridge."""
    average = AveragedLoss(panels_of(model, across=False, refine=1), NoisyLoss(SQUARE, 0.0))
    b = np.array(found.coefficients)
    if loss is None:
        # An output that vanishes has either sign with the noise of the readout, however small that is.
        return average.wrong(b) if np.any(b) else 0.5
    return 2.0 * average.value_and_slope(b)[0]
