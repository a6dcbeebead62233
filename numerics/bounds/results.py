"""What a search for bounds, for the best ridge, learning rate or spike returns."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from giantsteps.numerics.models.documents import WIDTH, at_width_json, finite
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.notebook import Shown
from giantsteps.numerics.models.solution import Derivative, Solution

Point = dict[str, float]
_NONE_BETTER = "the test error falls towards the upper bound as the ridge grows, and no ridge does better"


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
    search: Callable[[], Best] | None = field(default=None, repr=False, compare=False)
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

    def best_ridge(self) -> Best:
        """The ridge of least test error between the bounds, as `best(model, over="ridge")`. Computed when asked for."""
        assert self.search is not None, "the bounds of a model know where to search"
        return self.search()


@dataclass(frozen=True)
class Minimum:
    """A local minimum of an error along one parameter."""

    at: float
    error: float


@dataclass(frozen=True)
class Best(Shown):
    """The least test error over some numbers of a model.

    A local minimum in double precision: nothing certifies that a scan saw every dip.

    values: the numbers where it is; the ridge may be infinite (no ridge does better than the upper bound).
    test_error: the least one, with another loss than the square one that loss.
    error_estimate: that of the solution there.
    converged: whether there is a solution there. With another loss it is False, too, where the loss still falls at a
        ridge beyond which the solver does not converge, and where it does not at a ridge that a search tried.
    at_end: the numbers that are at an end of the scan, beyond which the error may be less.
    scanned: the ends of the scan of each number, as far as it converged for the ridge with another loss.
    minima: every minimum found inside the scan, with its test error.
    gradient: the slopes that are left; none where there is no derivative.
    model: the model there; None at infinite ridge.
    solution: the solution there; None at infinite ridge.

    >>> best = giantsteps.best(model, over="ridge")
    >>> best.values["ridge"], best.at_end
    (0.15200..., ())
    """

    values: Point
    test_error: float
    error_estimate: float
    converged: bool
    at_end: tuple[str, ...]
    scanned: dict[str, tuple[float, float]]
    minima: tuple[tuple[Point, float], ...]
    gradient: dict[str, Derivative]
    model: Model | None
    solution: Solution | None

    def at_width(self, width: float = WIDTH) -> Solution:
        """The solution there at a finite width. Raises ModelError at infinite ridge and where there is no solution."""
        if self.solution is None:
            infinite = math.isinf(self.values.get("ridge", 0.0))
            raise ModelError(
                "at infinite ridge a readout of finite width vanishes" if infinite else "there is no solution"
            )
        return self.solution.at_width(width)

    def to_dict(self, width: int = WIDTH) -> dict[str, Any]:
        """As plain data for JSON, with the errors at the width."""
        numbers = {**self.values, "test_error": self.test_error, "error_estimate": self.error_estimate}
        document = dict(finite(numbers, _NONE_BETTER))
        document |= {
            "converged": self.converged,
            "at_end": list(self.at_end),
            "minima": [{**place, "test_error": error} for place, error in self.minima],
            "gradient": {name: one._asdict() for name, one in self.gradient.items()},
        }
        return document | at_width_json(width, True, lambda: self.at_width(width))

    def _columns(self) -> dict[str, list[Any]]:
        numbers = {"test_error": self.test_error, "error_estimate": self.error_estimate, "converged": self.converged}
        return {name: [value] for name, value in {**self.values, **numbers}.items()}
