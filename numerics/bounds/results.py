"""What a search for bounds, for the best ridge, learning rate or spike returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from giantsteps.numerics.models.documents import finite
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.notebook import Shown


@dataclass(frozen=True)
class LeastLoss:
    """inf of E l(y, f) over a span.

    value: the least loss that was found. The infimum is at most `error_estimate` below it: what the slopes of the loss
    leave open, and how far the value moved on a finer rule. coefficients: of mu0_a, kappa_j mu1_a, dmu0_a/dc_a and
    mu1_a z, in this order. at_infinity: they are those of a function of the label's sign, and the infimum is approached
    as a multiple of it grows, and not reached.
    """

    value: float
    coefficients: tuple[float, ...]
    at_infinity: bool
    error_estimate: float
    converged: bool

    @property
    def certain(self) -> float:
        """What no function of the span is below, as far as the estimate holds."""
        return max(0.0, self.value - self.error_estimate)


@dataclass(frozen=True)
class Bounds(Shown):
    """A lower and an upper bound on inf over the ridge of the test error, for the model's loss.

    lower: no ridge, alpha or beta gives less.
    upper: the error at infinite ridge.
    error_estimate: what the last doubling of the rule moved the bounds by.
    converged: whether the estimate is below 1e-7 of E[g^2] (another loss: 1e-5 of 1 + loss), and E[g^2] and E[sigma^2]
        along the spike agree with those of the inner rules.
    refine: how many times the rule was doubled.
    least: of another loss: where the lower bound lies.
    at_infinite_ridge: of another loss: where the upper bound lies.
    mean_squared_error: of another loss: the lower bound on E(g - omega)^2 that holds for every loss, and its value at
        infinite ridge (None where the readout there grows without bound).
    classification_error: of another loss, for targets in {-1, 1}: P(sign omega != g) at infinite ridge, an upper bound
        on the infimum over the ridge.
    search: the function behind `best_ridge`.
    model: the problem.

    With another loss than the square one the bounds are on that loss per sample.

    >>> giantsteps.bounds(model).best_ridge().test_error
    0.12484...
    """

    lower: float
    upper: float
    error_estimate: float
    converged: bool
    refine: int = 0
    least: LeastLoss | None = None
    at_infinite_ridge: LeastLoss | None = None
    mean_squared_error: tuple[float, float | None] | None = None
    classification_error: float | None = None
    search: Callable[[], BestRidge] | None = field(default=None, repr=False, compare=False)
    model: Model | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        document: dict[str, Any] = {"lower": self.lower, "upper": self.upper}
        if self.least is not None and self.at_infinite_ridge is not None and self.mean_squared_error is not None:
            square, limit = self.mean_squared_error
            document |= {
                "lower_reached": not self.least.at_infinity,
                "upper_reached": not self.at_infinite_ridge.at_infinity,
                "mean_squared_error": {"lower": square, "upper": limit},
            }
        if self.classification_error is not None:
            document["classification_error"] = {"upper": self.classification_error}
        document |= {"error_estimate": self.error_estimate, "converged": self.converged}
        return dict(finite(document, "out of reach of double precision"))

    def _columns(self) -> dict[str, list[Any]]:
        names = ("lower", "upper", "error_estimate", "converged")
        return {name: [getattr(self, name)] for name in names}

    def _title(self) -> str:
        of = "" if self.model is None else f"{self.model.described(but=('ridge',))}: "
        return f"{of}bounds on the least test error over the ridge"

    def best_ridge(self) -> BestRidge:
        """The ridge of least test error between the bounds: a scan, and every dip refined. Computed when asked for."""
        assert self.search is not None, "the bounds of a model know where to search"
        return self.search()


@dataclass(frozen=True)
class Minimum:
    """A local minimum of an error along one parameter, with the estimate of the error's own error where it has one."""

    at: float
    error: float
    error_estimate: float = 0.0


@dataclass(frozen=True)
class BestRidge:
    """The ridge of least test error.

    ridge may be infinite (the infimum is the upper bound, and the error does not fall from it as the ridge comes down
    from infinity) or, when `at_zero`, the smallest ridge tried, below which the error still falls. `minima` lists the
    local minima at finite ridge; `converged` says that `solve` confirms the least error, to `error_estimate`. With
    another loss than the square one `left_out` ridges at the ends of the scan were not used, and converged is False
    where the loss still fell there, where no ridge has a solution, and where the refinement of a dip did not end or met
    a ridge without one.
    """

    ridge: float
    test_error: float
    at_zero: bool
    minima: tuple[Minimum, ...]
    converged: bool = True
    error_estimate: float = 0.0
    left_out: int = 0

    @property
    def at_infinity(self) -> bool:
        """Whether no finite ridge does better than the limit."""
        return math.isinf(self.ridge)

    def to_dict(
        self, reason: str = "the test error falls towards the upper bound as the ridge grows, and no ridge does better"
    ) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line; `reason` says why the ridge may be infinite."""
        return {
            "ridge": finite(self.ridge, reason),
            "test_error": self.test_error,
            "error_estimate": self.error_estimate,
            "at_smallest_ridge_tried": self.at_zero,
            "minima": [{"ridge": minimum.at, "test_error": minimum.error} for minimum in self.minima],
        }
