"""What the errors of a gradient step's averages do to the errors of the solution.

Spike, bulk and alignment of a stepped model are made of averages (`numerics.coefficients.HermiteConstants`), the law of
a network's bulk of further ones (`numerics.network_constants`). What is left of their errors belongs to the estimate of
the solution's. Relative errors up to SMALL enter like the rounding of the functions of kappa, through the condition of
the equations; larger ones by solving again with one of the three changed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from numerics.model import EXACT, Model

SMALL = 1e-12


def relative_uncertainty(model: Model) -> float:
    """The largest relative error of spike and bulk, absolute of the alignment, and of a network's law; 0 if exact."""
    uncertainty = model.uncertainty
    if uncertainty == EXACT:
        return 0.0
    spike, bulk, alignment = uncertainty
    largest = max(spike / abs(model.spike) if model.spike else spike, bulk / model.bulk, alignment)
    if model.network_step is not None:
        # Imported here: most models need no averages over the labels of the gradient step.
        from numerics.network_bulk import law_error

        largest = max(largest, law_error(model))
    return largest


def neighbours(model: Model) -> Iterator[Model]:
    """The models at the ends of what spike, bulk and alignment may be, one changed at a time.

    Isotropic bulks only: those of a network follow from its step.
    """
    spike, bulk, alignment = model.uncertainty
    # As given, nothing of theirs is uncertain and all three can be changed alone.
    given = replace(model.as_given(), given_uncertainty=EXACT)
    if spike > 0.0:
        # Away from 0, where the limit is another one.
        yield given.changed(spike=model.spike + (spike if model.spike >= 0.0 else -spike))
    if bulk > 0.0:
        groups = tuple(
            group if own.bulk is not None or group.bulk is None else replace(group, bulk=group.bulk + u2 * bulk)
            for own, group, u2 in zip(model.groups, given.groups, [g.weight**2 for g in model.groups], strict=True)
        )
        yield given.changed(bulk=model.bulk + bulk, groups=groups)
    if alignment > 0.0:
        # Towards 0, so that it stays an alignment.
        moved = model.alignment - alignment if model.alignment >= 0.0 else model.alignment + alignment
        yield given.changed(alignment=moved)
