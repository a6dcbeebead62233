"""Which deterministic equivalent a model asks for: the isotropic bulk of the paper, or the network's own."""

from __future__ import annotations

from onestep.numerics.bulk.equivalent import DeterministicEquivalent, isotropic
from onestep.numerics.models.model import Model


def equivalent_of(model: Model, ridge: float) -> DeterministicEquivalent:
    """The equivalent of a model's bulk at a ridge (which may differ from the model's own)."""
    step = model.network_step
    if step is None and not model.gaussian_rows:
        return isotropic(ridge, model.beta, model.bulks, model.fractions, model.rank)
    # Imported here: most solves need no averages over the labels of the gradient step.
    from onestep.numerics.bulk.network_law import groups_law, isotropic_law, step_laws

    laws = (
        tuple(isotropic_law(bulk, model.alignment, gaussian_rows=True) for bulk in model.bulks)
        if step is None
        else step_laws(model)
    )
    if len(laws) == 1:
        from onestep.numerics.bulk.network import NetworkBulk

        return NetworkBulk(ridge, model.beta, laws[0])
    from onestep.numerics.bulk.network_groups import NetworkGroups

    return NetworkGroups(ridge, model.beta, groups_law(laws, model.fractions))
