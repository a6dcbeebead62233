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
    from onestep.numerics.bulk.network import NetworkBulk
    from onestep.numerics.bulk.network_law import isotropic_law, network_law

    if len(model.groups) == 1:
        if step is None:
            return NetworkBulk(ridge, model.beta, isotropic_law(model.bulks[0], model.alignment, gaussian_rows=True))
        law = network_law(
            model.activation, model.target, step.alpha0, step.eta, model.beta, model.noise, model.gaussian_rows,
            model.groups[0].weight,
        )  # fmt: skip
        return NetworkBulk(ridge, model.beta, law)
    from onestep.numerics.bulk.network import NetworkGroups
    from onestep.numerics.bulk.network_law import groups_law, stepped_groups_law

    if step is None:
        laws = tuple(isotropic_law(bulk, model.alignment, gaussian_rows=True) for bulk in model.bulks)
        return NetworkGroups(ridge, model.beta, groups_law(laws, model.fractions))
    return NetworkGroups(
        ridge, model.beta,
        stepped_groups_law(
            model.activation, model.target, step.alpha0, step.eta, model.beta, model.noise,
            tuple(group.weight for group in model.groups), model.fractions, model.gaussian_rows,
        ),
    )  # fmt: skip
