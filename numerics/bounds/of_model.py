"""Bounds on the test error over the ridge for the model's own loss."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.bounds.best import best, limits
from giantsteps.numerics.bounds.results import Bounds
from giantsteps.numerics.models.given import model_of, within_reach
from giantsteps.numerics.models.model import Model


@accepts(model=model_of)
@within_reach
def bounds(model: Model) -> Bounds:
    """A lower and an upper bound on the least test error over the ridge: equations (27) and (26).

    model: the problem. Its ridge plays no part. The lower bound holds for every ridge, alpha and beta.

    With another loss the bounds are on that loss per sample (`numerics.bounds.any_loss`). `Bounds.best_ridge` finds the
    ridge of least error. Raises ModelError for what is not supported.

    >>> found = giantsteps.bounds(model)
    >>> found.lower, found.upper
    (0.02542..., 0.18332...)
    >>> found.best_ridge().values["ridge"]
    0.15200...
    """
    return replace(limits(model), search=partial(best, model, over="ridge"), model=model)
