"""Evidence from finite-dimensional experiments."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from verify import finite_size
from verify.claim import Claim, Profile
from verify.evaluate import evaluate
from verify.evidence import Evidence, FiniteSize, Outcome


@dataclass(frozen=True)
class BySimulation:
    """Finite-dimensional experiments, extrapolated to infinite dimension, against what the statement predicts.

    ``experiment`` runs (or recalls) the simulation under a profile and returns, for one named quantity, its samples at
    several dimensions, with the values that the point of each experiment gives to the symbols of the statement. The
    prediction is the right-hand side of the statement; the finite-size protocol decides.
    """

    title: str
    experiment: Callable[[Profile], tuple[finite_size.Samples, ...]]

    @property
    def name(self) -> str:
        return f"simulation: {self.title}"

    def run(self, claim: Claim, profile: Profile) -> Evidence:
        statement = claim.statement
        if not isinstance(statement, sp.Equality):
            raise TypeError(f"{claim.id}: a simulation tests an equation, not {statement}")
        results = tuple(
            finite_size.extrapolate(samples, lambda values: evaluate(statement.rhs, values))
            for samples in self.experiment(profile)
        )
        overall = finite_size.combine(results)
        return FiniteSize(
            check=self.name,
            experiments=len(results),
            z=overall.z,
            threshold=overall.threshold,
            smallest_detectable=overall.smallest_detectable,
            outcome=Outcome(overall.outcome),
            sentence=overall.sentence,
        )
