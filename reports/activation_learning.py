"""What an activation can learn: bounds on the test error, best spike, perfect learning, what the theory excludes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from derivations.activation import Activation
from numerics.ball_coefficients import Certified, HermiteBalls

# A bound below this fraction of E[g^2] is zero as far as double-precision quadrature can tell.
NEGLIGIBLE = 1e-12
LARGEST_SPIKE = 6.0
_POINTS = 25
_GOLDEN = (math.sqrt(5.0) - 1.0) / 2.0
# The bound is flat to second order at its least: a bracket of this width leaves 1e-12 of it.
_BRACKET = 1e-6


@dataclass(frozen=True)
class Learning:
    """Bounds at perfect alignment on the test error over the ridge; target_square = E[g^2] is their scale.

    upper is dist^2(g, span{mu0}), lower is dist^2(g, span{mu0, kappa mu1}) at the given spike and bulk, equations (26)
    and (27); best_spike minimises the upper bound on [0, 6]. `missing` says why there are none.
    """

    upper: float | None = None
    lower: float | None = None
    best_spike: float | None = None
    best_upper: float | None = None
    target_square: float | None = None
    self_learning: str = ""
    missing: str = ""

    @property
    def perfect(self) -> bool:
        """Whether the upper bound vanishes at the best spike: mu0 is then proportional to the target."""
        return (
            self.best_upper is not None
            and self.target_square is not None
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
                "upper_at_best_spike": self.best_upper,
                "target_square": self.target_square,
                "perfect": self.perfect,
                "perfect_because": self.self_learning or None,
            },
        }


def learning(
    activation: Activation, target: Activation, spike: float, bulk: float, deadline: float = math.inf
) -> Learning:
    """Both bounds at alignment 1, and the spike of the least upper bound; none where a second moment is infinite.

    The best spike is left out when there is no time for it before ``deadline`` (of the monotonic clock).
    """
    from derivations.expression import ExpressionError
    from numerics.bounds import lower_bound, upper_bound
    from numerics.coefficients import hermite_constants
    from numerics.model import Model, ModelError

    def model(r: float) -> Model:
        return Model(activation, target, alpha=1.0, beta=1.0, ridge=1.0, spike=r, bulk=bulk, alignment=1.0)

    try:
        at_spike = model(spike)
        upper, lower = upper_bound(at_spike), lower_bound(at_spike)
        square = hermite_constants(target).h2
    except (ModelError, ExpressionError) as reason:
        return Learning(missing=str(reason))
    try:
        model(LARGEST_SPIKE)
        best = best_spike(lambda r: upper_bound(model(r)), deadline)
    except (ModelError, ExpressionError, ValueError):
        best = None
    if best is None:
        return Learning(upper, lower, target_square=square)
    found = Learning(upper, lower, *best, square)
    if not found.perfect:
        return found
    return replace(found, self_learning=perfect_sentence(activation, target, best[0], bulk))


def best_spike(bound: Callable[[float], float], deadline: float) -> tuple[float, float] | None:
    """(r, bound(r)) at the least of ``bound`` on [0, 6]: a scan, then golden sections around its least point.

    None if the time is up first.
    """
    grid = [LARGEST_SPIKE * k / (_POINTS - 1) for k in range(_POINTS)]
    values: list[float] = []
    for r in grid:
        if time.monotonic() > deadline:
            return None
        values.append(bound(r))
    least = min(range(_POINTS), key=values.__getitem__)
    left, right = grid[max(least - 1, 0)], grid[min(least + 1, _POINTS - 1)]
    best = (values[least], grid[least])
    while right - left > _BRACKET and time.monotonic() < deadline:
        inner, outer = right - _GOLDEN * (right - left), left + _GOLDEN * (right - left)
        at_inner, at_outer = (bound(inner), inner), (bound(outer), outer)
        best = min(best, at_inner, at_outer)
        left, right = (left, outer) if at_inner[0] <= at_outer[0] else (inner, right)
    return best[1], best[0]


def perfect_sentence(activation: Activation, target: Activation, spike: float, bulk: float) -> str:
    """That mu0 is proportional to the target at a spike near ``spike``, if proved, as a sentence; else empty."""
    from verify.self_learning import proportional_spike

    found = proportional_spike(activation, target, spike, bulk)
    if found is None:
        return ""
    r_squared, factor = found
    return f"mu0(kappa) = ({factor}) g(kappa) identically at r^2 = {r_squared}, by the closed form of mu0"


def warnings_of(
    activation: Activation, target: Activation, balls: HermiteBalls, found: Learning, *, h1_zero: bool, h1_sure: bool
) -> tuple[str, ...]:
    """What the theory excludes for this activation, each in one sentence."""
    said = []
    parity = activation.parity
    if parity != "odd":
        kind = "could not be shown to be odd" if parity == "undecided" else "is not odd"
        said.append(
            f"the activation {kind}, which the paper assumes: the map from a gradient step to the spiked random "
            f"features (Result 3.1) needs E[sigma] = 0 and E[sigma''] E[g] = 0{_found_means(balls)}; the spiked random "
            "features model itself, Result 3.2 and the saddle point need no symmetry"
        )
    if h1_zero:
        said.append("h1 = 0: the gradient step gives no spike (r = 0), and only linear targets could be learned")
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


def _found_means(balls: HermiteBalls) -> str:
    """The two means that the map asks for, in words."""
    parts = [f"E[{name}] = {_value(ball)}" for name, ball in (("sigma", balls.mean), ("sigma''", balls.curvature))]
    return f" ({', '.join(parts)})"


def _value(ball: Certified) -> str:
    if ball.ball is None:
        return "infinite" if ball.infinite else "undecided"
    return "0 to the precision of the ball" if ball.ball.contains(0) else f"{ball.value:.6g}"
