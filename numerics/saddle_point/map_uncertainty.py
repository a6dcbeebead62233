"""The effect of errors of a gradient step's averages on the solution.

Spike, bulk and alignment of a stepped model are made of averages (`numerics.gaussian.coefficients.HermiteConstants`),
the law of a network's bulk of further ones (`numerics.bulk.network_constants`). What is left of their errors belongs to
the estimate of the solution's. Relative errors up to SMALL enter like the rounding of the functions of kappa, through
the condition of the equations; larger ones by solving again with one of the three changed.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace

from giantsteps.numerics.bulk.of_model import law_error
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.parameters import EXACT

SMALL = 1e-12


def bulk_errors(model: Model) -> tuple[float, ...]:
    """How far the bulk of each group may be off: as given, that of the model, or of a step u times as long."""
    return tuple(model.bulk_error(group.weight) if group.bulk is None else group.bulk_error for group in model.groups)


def relative_uncertainty(model: Model) -> float:
    """The largest relative error of spike and bulks, absolute of the alignment, and of a network's law; 0 if exact."""
    uncertainty, errors = model.uncertainty, bulk_errors(model)
    if uncertainty == EXACT and not any(errors):
        return 0.0
    spike, _, alignment = uncertainty
    largest = max(
        spike / abs(model.spike) if model.spike else spike,
        *(error / bulk for error, bulk in zip(errors, model.bulks, strict=True)),
        alignment,
    )
    if model.network_step is not None:
        largest = max(largest, law_error(model))
    return largest


def rounding_growth(uncertain: float) -> float:
    """By what factor relative errors up to SMALL raise the rounding of a solution; larger ones are solved for."""
    return 1.0 + uncertain / ROUNDING if uncertain <= SMALL else 1.0


def neighbours(model: Model) -> Iterator[Model]:
    """The models at the ends of what spike, bulk and alignment may be, one changed at a time; the bulks together.

    Isotropic bulks only: those of a network follow from its step.
    """
    spike, bulk, alignment = model.uncertainty
    errors = bulk_errors(model)
    # As given, nothing of theirs is uncertain and all three can be changed alone.
    given = replace(model.as_given(), given_uncertainty=EXACT)
    if spike > 0.0:
        # Away from 0, where the limit is another one.
        yield given.changed(spike=model.spike + (spike if model.spike >= 0.0 else -spike))
    if bulk > 0.0 or any(errors):
        groups = tuple(
            group if group.bulk is None else replace(group, bulk=group.bulk + error, bulk_error=0.0)
            for group, error in zip(given.groups, errors, strict=True)
        )
        yield given.changed(bulk=model.bulk + bulk, readout=groups)
    if alignment > 0.0:
        # Towards 0, and no farther than an alignment goes.
        away = min(alignment, 1.0 + abs(model.alignment))
        yield given.changed(alignment=model.alignment - math.copysign(away, model.alignment))
