"""The bulk of the network itself after several gradient steps on fresh batches, or after one from Gaussian rows.

The law of the rows is that of `numerics.gradient_steps.law`; the equivalent follows from its functions of
g = C beta tau (`numerics.bulk.network_gains`). One step from unit rows has a closed form (`numerics.bulk.network`).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial

import numpy as np

from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.bulk.equivalent import Array, EquivalentPoint, OneGroup
from giantsteps.numerics.bulk.network_gains import Gains, Resolved, gains_of
from giantsteps.numerics.gradient_steps.batches import INITIAL
from giantsteps.numerics.gradient_steps.law import Course, StepsLaw, steps_law
from giantsteps.numerics.models.gradient_step import reached
from giantsteps.numerics.models.model import Model, ModelError

# Of |w|^2 before the first step, times d: rows w ~ N(0, I/d) have the variance 2.
_GAUSSIAN = 2.0
# Time grows with the cube of the number of steps, and memory with its square: some three seconds.
_MOST_STEPS = 20


def by_pencil(model: Model) -> bool:
    """Whether a network's own bulk has no closed form: after several steps, or for an even part and Gaussian rows."""
    step = model.network_step
    return step is not None and (step.several or (model.gaussian_rows and model.activation.parity != "odd"))


def law_of(model: Model) -> StepsLaw:
    """The law of the rows of a model after its steps, those that change something.

    Raises ModelError where an average does not settle, and for a model without a step.
    """
    step = model.step
    if step is None:
        raise ModelError("this model has no gradient step: use Model.from_gradient_step")
    states = [one.state for one in reached(model.activation, model.target, step, beta=model.beta, noise=model.noise)]
    taken = [k for k, one in enumerate(step.schedule) if one.taken]
    if len(taken) > _MOST_STEPS:
        raise ModelError(
            f"the network's own bulk is supported for at most {_MOST_STEPS} gradient steps, and these are "
            f'{len(taken)}: use the isotropic bulk, bulk_model="isotropic"'
        )
    rates = tuple(step.schedule[k].eta / model.beta for k in taken)
    ratios = tuple(step.schedule[k].alpha0 for k in taken)
    variance = _GAUSSIAN if model.gaussian_rows else 0.0
    through = (INITIAL, *(states[k] for k in taken))
    try:
        return steps_law(Course(model.activation, model.target, rates, ratios, through, model.noise, variance))
    except ExpressionError as reason:
        raise ModelError(
            f'the network\'s own bulk cannot be computed here: {reason}; try the isotropic one, bulk_model="isotropic"'
        ) from reason


@dataclass(frozen=True, eq=False)
class StepsBulk(OneGroup):
    """The deterministic equivalent of rows of a given law, at a ridge and beta; one group. The last tau is kept."""

    gains: Gains
    _near: Array = field(default_factory=lambda: np.zeros(1))

    @classmethod
    def of(cls, law: StepsLaw, ridge: float, beta: float) -> StepsBulk:
        """The equivalent of a law."""
        return cls(ridge, beta, law.bulk, gains_of(law))

    def at(self, conjugates: Array) -> EquivalentPoint:
        """(T, tau), K (3 x 3) on (v, delta, theta_perp), and the derivatives of both at the pair (C, D)."""
        C, shift = conjugates[:1], self.ridge + conjugates[1:]
        with np.errstate(all="ignore"):  # what is no pair of a solution has no numbers
            found = self.gains.resolved(C, shift, self.beta, self._near)
        self._near[:] = np.where(found.x > 0.0, found.x / self.beta, 0.0)
        jacobian = np.array(found.jacobian)[:, :, 0]
        overlaps = partial(self._overlaps, C, found)
        return EquivalentPoint(found.values[:, 0], jacobian, overlaps, lost=float(self.gains.lost(found.gain)[0]))

    def _overlaps(self, C: Array, found: Resolved) -> tuple[Array, Array]:
        overlap, slopes = self.gains.signals(C, found)
        return overlap[:, :, 0], slopes[:, :, :, 0]
