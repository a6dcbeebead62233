"""What an activation can learn: bounds on the test error, best spike, perfect learning, what the theory excludes."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.budget import TookTooLong
from giantsteps.numerics.balls.coefficients import HermiteBalls

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model

Array = NDArray[np.float64]

# A bound below this fraction of E[g^2] is zero as far as double-precision quadrature can tell.
NEGLIGIBLE = 1e-12
LARGEST_SPIKE = 6.0
# Functions have to agree with forty digits to this fraction, two rules for a bound to ten times as much: the bounds
# are printed with seven digits.
AGREEMENT = 1e-9
# A sum of squares of residuals that are pure rounding, relative to E[g^2].
_ZERO = 1e-24
_MOST_DOUBLINGS = 7
# A mean smaller than this fraction of the activation keeps fewer digits than are printed.
_SMALLEST_MEAN = 1e-6
# Where a bound has to agree to be called independent of the spike, in units of the largest one.
_TRIED_SPIKES = (0.15, 0.3, 0.55, 0.8, 1.0)


@dataclass(frozen=True)
class Learning:
    """Bounds at perfect alignment on the test error over the ridge; target_square = E[g^2] is their scale.

    upper is dist^2(g, span{mu0}), lower is dist^2(g, span{mu0, kappa mu1}) at the given spike and bulk, equations (26)
    and (27), on a rule doubled `doublings` times; best_spike minimises the upper bound on [0, largest_spike], and is
    None beside a `best_upper` that is the bound at every r > 0. `missing` says why there are none; `unresolved`, that
    they exist and could not be computed.
    """

    upper: float | None = None
    lower: float | None = None
    best_spike: float | None = None
    best_upper: float | None = None
    target_square: float | None = None
    self_learning: str = ""
    missing: str = ""
    doublings: int = 0
    largest_spike: float = LARGEST_SPIKE
    unresolved: bool = False

    @property
    def perfect(self) -> bool:
        """Whether the upper bound vanishes at the best spike: mu0 is then proportional to the target."""
        return (
            self.best_upper is not None
            and self.target_square is not None
            and self.target_square > 0.0
            and self.best_upper <= NEGLIGIBLE * self.target_square
        )

    def as_dict(self) -> dict[str, Any]:
        """The keys bounds and learning of the JSON document."""
        bounds: dict[str, Any] = {"upper": self.upper, "lower": self.lower}
        if self.missing:
            bounds["why"] = self.missing
        return {
            "bounds": bounds,
            "learning": {
                "best_spike": self.best_spike,
                "largest_spike": self.largest_spike,
                "upper_at_best_spike": self.best_upper,
                "target_square": self.target_square,
                "perfect": self.perfect,
                "perfect_because": self.self_learning or None,
            },
        }


def bounds_at(activation: Activation, target: Activation, spike: float, bulk: float) -> Learning:
    """Both bounds at alignment 1; none where a second moment is infinite.

    None either where double precision cannot resolve the functions along the spike: the reason is in `missing`.
    """
    from giantsteps.derivations.expressions.tree import ExpressionError
    from giantsteps.numerics.gaussian.quadrature import conditional_moments, integrand
    from giantsteps.numerics.models.model import Model, ModelError

    try:
        model = Model(activation, target, alpha=1.0, beta=1.0, ridge=1.0, spike=spike, bulk=bulk, alignment=1.0)
        with np.errstate(over="ignore", invalid="ignore"):
            doubt = _lost_in_rounding(activation, target, spike, bulk)
            if doubt:
                return Learning(missing=doubt, unresolved=True)
            square = float(conditional_moments(integrand(target), np.zeros(1), 1.0).square[0])
            found = _resolved(model, square) if math.isfinite(square) else None
    except TookTooLong:
        raise
    except (ModelError, ExpressionError) as reason:
        return Learning(missing=str(reason), unresolved=not _infinite(activation, target, spike, bulk))
    if found is None:
        too_fast = "the functions along the spike vary or grow too fast for double-precision quadrature"
        return Learning(missing=too_fast, unresolved=True)
    upper, lower, refine = found
    return Learning(upper, lower, target_square=square, doublings=refine)


def _infinite(activation: Activation, target: Activation, spike: float, bulk: float) -> bool:
    """Whether a second moment is certainly infinite, so that there are no bounds to compute."""
    from giantsteps.derivations.activations.activation import integrable_square
    from giantsteps.derivations.expressions.tree import ExpressionError

    try:
        return not (integrable_square(activation, spike, bulk) and integrable_square(target, 0.0, 1.0))
    except ExpressionError:
        return False


def with_best_spike(known: Learning, activation: Activation, target: Activation, bulk: float) -> Learning:
    """The same with the spike of the least upper bound, if there are bounds and it is within reach."""
    if known.upper is None:
        return known
    scanned = _best_spike(activation, target, bulk, known.doublings)
    if scanned is None:
        return known
    (spike, upper), largest = scanned
    if known.upper > 0.0 and upper > known.upper * (1.0 + 10 * AGREEMENT):
        return known  # a scan that misses the given spike has missed the best one
    found = replace(known, best_upper=upper, largest_spike=largest)
    if _same_at_every_spike(activation, target, bulk, known, largest, upper):
        return found
    found = replace(found, best_spike=spike)
    return replace(found, self_learning=perfect_sentence(activation, target, spike, bulk)) if found.perfect else found


def _same_at_every_spike(
    activation: Activation, target: Activation, bulk: float, known: Learning, largest: float, least: float
) -> bool:
    """Whether the upper bound is the same wherever it is tried in (0, largest], to what its quadrature resolves."""
    from giantsteps.numerics.bounds.spike_scan import upper_bound_of_spike

    bound = upper_bound_of_spike(activation, target, bulk, largest, known.doublings)
    slack = 10 * AGREEMENT * least + NEGLIGIBLE * (known.target_square or 0.0)
    return all(bound(share * largest) - least <= slack for share in _TRIED_SPIKES)


def _resolved(model: Model, square: float) -> tuple[float, float, int] | None:
    """(upper, lower, doublings) with the rule along the spike doubled until nothing changes; None if it never ends.

    E[g^2] on that rule has to agree with the one of the inner rule too: an oscillating target may look smooth on a
    coarse rule twice running.
    """
    from giantsteps.numerics.bounds.ridge import lower_bound, upper_bound
    from giantsteps.numerics.saddle_point.profile import profile

    before = math.inf, math.inf
    for refine in range(1, _MOST_DOUBLINGS + 1):
        upper, lower = upper_bound(model, refine), lower_bound(model, refine)
        table = profile(model, refine)
        own_square = float(table.weights @ (table.y0**2 + table.y1**2 + table.spread))
        if not (math.isfinite(upper) and math.isfinite(lower)):
            return None
        settled = all(
            abs(now - then) <= 10 * AGREEMENT * now + _ZERO * square
            for now, then in zip((upper, lower), before, strict=True)
        )
        if settled and abs(own_square - square) <= AGREEMENT * square:
            return _cleared(upper, square), _cleared(lower, square), refine
        before = upper, lower
    return None


def _cleared(bound: float, square: float) -> float:
    """The bound, or 0 where it is the rounding of zero."""
    return 0.0 if bound <= _ZERO * square else bound


def _lost_in_rounding(activation: Activation, target: Activation, spike: float, bulk: float) -> str:
    """Why double precision cannot give the bounds; empty where it can."""
    from giantsteps.numerics.gaussian.coefficients import conditional_coefficients

    for function, variance in ((target, 1.0), (activation, spike * spike + bulk)):
        trouble = _rounding_trouble(function, variance)
        if trouble:
            text = str(function)
            return f"{text if len(text) <= 60 else text[:57] + '...'} {trouble}"
    if spike == 0.0:
        return ""
    parts = conditional_coefficients(activation, spike, bulk, 0.0, np.linspace(-3.0, 3.0, 13))
    size = float(np.max(np.abs(parts.mu0)))
    whole = float(np.max(np.hypot(np.hypot(parts.mu0, parts.mu1 * math.sqrt(bulk)), parts.mu2)))
    if size < _SMALLEST_MEAN * whole:
        return "mu0 is smaller than double precision can tell from zero, while its direction matters"
    return ""


def _rounding_trouble(function: Activation, variance: float) -> str:
    """What keeps the function's digits under N(0, variance) from double precision; empty if nothing does."""
    from giantsteps.derivations.expressions.normal_form import vanishes
    from giantsteps.numerics.gaussian.evaluate import compile_numpy, rounding

    values = compile_numpy(function.expression)
    places = math.sqrt(variance) * np.array([-3.1, -2.3, -1.4, -0.8, -0.3, 0.2, 0.7, 1.3, 2.2, 3.2])
    if not np.any(values(places)):
        places = _steep(function, places)
    weights = np.exp(-0.5 * places**2 / variance)
    with np.errstate(all="ignore"):
        size = math.sqrt(float(weights @ values(places) ** 2))
        error = math.sqrt(float(weights @ rounding(values, [function.expression] * len(places), places) ** 2))
    if size == 0.0:
        found = "was found to be zero in double precision wherever it was tried"
        return "" if vanishes(function.expression) else found
    if not (math.isfinite(size) and math.isfinite(error)):
        return "overflows double precision"
    return "loses its digits to rounding in double precision" if error > AGREEMENT * size else ""


def _steep(function: Activation, places: Array) -> Array:
    """Where a function that vanishes at the usual places may not: near its breakpoints and panel ends within 20."""
    from giantsteps.numerics.gaussian.quadrature import integrand

    splits = [x for x in integrand(function).splits or () if abs(x) < 20.0]
    some = np.array(splits[:: max(1, len(splits) // 40)])
    return np.concatenate([places, some, some - 0.5, some + 0.5])


def _best_spike(
    activation: Activation, target: Activation, bulk: float, refine: int
) -> tuple[tuple[float, float], float] | None:
    """((r, bound), R): the least upper bound on [0, R], R at most 6; None if double precision does not reach there."""
    from giantsteps.derivations.expressions.tree import ExpressionError
    from giantsteps.numerics.bounds.spike_scan import best_spike_at_alignment_one

    largest = LARGEST_SPIKE
    quadratic = float(activation.growth.quadratic)
    if quadratic > 0:
        # E sigma^2 is finite for r^2 + c < 1/(4q).
        room = 1.0 / (4.0 * quadratic) - bulk
        if room <= 0:
            return None
        largest = min(largest, 0.9 * math.sqrt(room))
    for share in (1.0, 0.5, 0.25):
        try:
            return best_spike_at_alignment_one(activation, target, bulk, share * largest, refine), share * largest
        except TookTooLong:
            raise
        except (ExpressionError, ValueError):
            continue
    return None


def perfect_sentence(activation: Activation, target: Activation, spike: float, bulk: float) -> str:
    """That mu0 is proportional to the target at a spike near ``spike``, if proved, as a sentence; else empty."""
    from giantsteps.derivations.language.algebra_budget import counted_algebra
    from giantsteps.verify.closed_forms.self_learning import proportional_spike

    with counted_algebra():
        found = proportional_spike(activation, target, spike, bulk)
    if found is None:
        return ""
    r_squared, factor = found
    times = "" if factor == 1 else f"({factor}) "
    return f"mu0(kappa) = {times}g(kappa) identically at r^2 = {r_squared}, by the closed form of mu0"


def warnings_of(
    activation: Activation, balls: HermiteBalls, means: str, found: Learning, *, h1_zero: bool, h1_sure: bool
) -> tuple[str, ...]:
    """What the theory excludes for this activation, each in one sentence; `means` is what a step sees of its even part
    and of the target's."""
    said = []
    if activation.parity != "odd":
        kind = "could not be shown to be odd" if activation.parity == "undecided" else "is not odd"
        said.append(
            f"the activation {kind}, and Result 3.1 requires an odd one. After a gradient step the spiked features go "
            f"beyond the paper, with {means}. The isotropic bulk neglects that the even part turns the rows; "
            "--bulk-model network includes this. For a given spike, Result 3.2 and the bounds hold for any parity"
        )
    if h1_zero:
        said.append(
            "h1 = 0: the gradient step gives no spike (r = 0), and without one no more than the constant and the "
            "linear part of a target is learned"
        )
    elif not h1_sure:
        said.append("h1 could not be told from zero: whether a spike emerges is undecided")
    if balls.h1_check.infinite:
        said.append(f"E[(sigma' - h1)^2] is infinite: {balls.h1_check.reason}")
    elif balls.h1_check.ball is None:
        said.append(f"E[(sigma' - h1)^2] is undecided: {balls.h1_check.reason}")
    if balls.h2.infinite:
        said.append(f"E[sigma^2] is infinite: {balls.h2.reason}")
    if found.missing:
        said.append(f"no bounds at this spike and bulk: {found.missing}")
    return tuple(said)
