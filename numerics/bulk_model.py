"""Which deterministic equivalent a model asks for: the isotropic bulk of the paper, or the network's own."""

from __future__ import annotations

from numerics.deterministic_equivalent import DeterministicEquivalent, isotropic
from numerics.model import Model


def equivalent_of(model: Model, ridge: float) -> DeterministicEquivalent:
    """The equivalent of a model's bulk at a ridge (which may differ from the model's own)."""
    step = model.step
    if step is None and not model.gaussian_rows:
        return isotropic(ridge, model.beta, model.bulks, model.fractions, model.rank)
    # Imported here: most solves need no averages over the labels of the gradient step.
    from numerics.network_bulk import NetworkBulk, isotropic_law, network_law

    if step is None:
        return NetworkBulk(ridge, model.beta, isotropic_law(model.bulk, model.alignment, gaussian_rows=True))
    law = network_law(
        model.activation, model.target, step.alpha0, step.eta, model.beta, model.noise, model.gaussian_rows
    )
    return NetworkBulk(ridge, model.beta, law)
