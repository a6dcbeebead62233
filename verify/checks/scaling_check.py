"""Evidence for exponents of the dimension: log-log slopes of finite-dimensional experiments."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

import sympy as sp

from giantsteps.verify.checks import scaling
from giantsteps.verify.checks.evaluate import Functions, Place, evaluate
from giantsteps.verify.checks.finite_size import REFUTED
from giantsteps.verify.checks.simulation import OUTCOMES, ByExperiment, recalled
from giantsteps.verify.protocol.claim import Claim, Profile
from giantsteps.verify.protocol.evidence import Evidence, FiniteSize
from giantsteps.verify.protocol.paper import Paper


@dataclass(frozen=True)
class Scaled:
    """One quantity measured at several dimensions, several times at each, and the point it is at.

    ``values`` gives numbers to the symbols of the right-hand side, which predicts the exponent.
    """

    dimensions: tuple[int, ...]
    samples: tuple[tuple[float, ...], ...]
    values: Mapping[str, float]
    functions: Functions = field(default_factory=dict)


Experiment = Callable[[sp.Basic, Profile], Mapping[str, Scaled]]


@dataclass(frozen=True)
class ByScaling(ByExperiment):
    """The slope of a measured quantity in log d against the exponent that the statement's right-hand side predicts.

    ``experiment`` is asked for the quantity whose exponent is the left-hand side of the statement, and runs (or
    recalls) simulations under a profile, one series per model; it raises ValueError for one that it does not measure.
    ``verify.checks.scaling`` decides, all models together at its false-alarm rate.
    """

    experiment: Experiment
    word = "scaling"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        """The evidence; raises TypeError for a statement that is not an equation."""
        statement = self.equation(claim)
        series = recalled(self.experiment, statement.lhs, profile)
        report = scaling.compare_all(
            [
                scaling.Series(model, m.dimensions, m.samples, evaluate(statement.rhs, m.values, m.functions))
                for model, m in series.items()
            ]
        )
        decided = [c for c in report.comparisons if c.slope is not None]
        # Each slope has a limit of its own: one that refutes is worse than any that is farther off and does not.
        worst = max(decided, key=lambda c: (c.verdict == REFUTED, abs(c.z)), default=None)
        return FiniteSize(
            check=self.name,
            experiments=max((min(map(len, m.samples)) for m in series.values()), default=0),
            z=worst.z if worst else 0.0,
            threshold=worst.critical_z if worst else 0.0,
            smallest_detectable=max((c.smallest_detectable for c in decided), default=float("inf")),
            outcome=OUTCOMES[report.verdict],
            sentence=report.sentence,
        )

    def places(self, claim: Claim, profile: Profile) -> tuple[Place, ...]:
        """Where the exponent is tested: every model."""
        found = recalled(self.experiment, self.equation(claim).lhs, profile).values()
        return tuple(Place(m.values, m.functions, exponent=True) for m in found)
