"""The deterministic equivalent of a model: that of the paper's isotropic bulk, or of the network's own bulk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from giantsteps.numerics.bulk.equivalent import DeterministicEquivalent, isotropic
from giantsteps.numerics.models.model import Model

if TYPE_CHECKING:
    from giantsteps.numerics.bulk.network_law import BulkLaw
    from giantsteps.numerics.gradient_steps.law import StepsLaw


def equivalent_of(model: Model, ridge: float) -> DeterministicEquivalent:
    """The equivalent of a model's bulk at a ridge (which may differ from the model's own)."""
    step = model.network_step
    if step is None and not model.gaussian_rows:
        return isotropic(ridge, model.beta, model.bulks, model.fractions, model.rank)
    # Imported here: most solves need no averages over the labels of the gradient step.
    from giantsteps.numerics.bulk.network_steps import StepsBulk, by_pencil, law_of

    if by_pencil(model):
        return StepsBulk.of(law_of(model), ridge, model.beta)
    laws = _one_step_laws(model)
    if len(laws) == 1:
        from giantsteps.numerics.bulk.network import NetworkBulk

        return NetworkBulk(ridge, model.beta, laws[0])
    from giantsteps.numerics.bulk.network_groups import NetworkGroups
    from giantsteps.numerics.bulk.network_law import groups_law

    return NetworkGroups(ridge, model.beta, groups_law(laws, model.fractions))


def row_laws(model: Model) -> tuple[BulkLaw, ...] | tuple[StepsLaw]:
    """The law of the rows of each readout group, for rows that differ in norm."""
    from giantsteps.numerics.bulk.network_steps import by_pencil, law_of

    return (law_of(model),) if by_pencil(model) else _one_step_laws(model)


def law_error(model: Model) -> float:
    """The relative error of the averages behind a network's law, the worst of its groups."""
    return 0.0 if model.network_step is None else max(law.error for law in row_laws(model))


def _one_step_laws(model: Model) -> tuple[BulkLaw, ...]:
    from giantsteps.numerics.bulk.network_law import isotropic_law, step_laws

    if model.network_step is not None:
        return step_laws(model)
    return tuple(isotropic_law(bulk, model.alignment, gaussian_rows=True) for bulk in model.bulks)
