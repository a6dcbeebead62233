"""The paper's value beside that of a network's own bulk: the same model with the isotropic bulk of Result 3.1."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model


def isotropic_errors(models: Sequence[Model]) -> list[dict[str, Any] | None]:
    """Test and training error of each model with the isotropic bulk.

    None where the model has that bulk already or has no gradient step, and where its equations are not solved.
    """
    from giantsteps.numerics.models.documents import WIDTH, finite
    from giantsteps.reports.answers.solved_together import solved_together

    places = [k for k, one in enumerate(models) if one.network_step is not None]
    plain = [models[k].changed(bulk_model="isotropic") for k in places]
    together = solved_together(plain, WIDTH) if len(plain) > 1 else {}
    found: list[dict[str, Any] | None] = [None] * len(models)
    for number, (k, model) in enumerate(zip(places, plain, strict=True)):
        solution = together.get(number) or _solved(model)
        if solution is not None and solution.converged:
            found[k] = finite({"test_error": solution.test_error, "training_error": solution.training_error})
    return found


def _solved(model: Model) -> Any:
    from giantsteps.numerics.models.model import ModelError
    from giantsteps.numerics.saddle_point.solve import solve

    try:
        return solve(model)
    except ModelError:
        return None
