"""Evidence from finite-dimensional experiments."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import ClassVar, TypeVar

import sympy as sp

from giantsteps.verify.checks import finite_size
from giantsteps.verify.checks.evaluate import Functions, Place, evaluate
from giantsteps.verify.protocol.claim import Claim, Profile
from giantsteps.verify.protocol.evidence import Evidence, FiniteSize, Outcome
from giantsteps.verify.protocol.paper import Paper

OUTCOMES = {
    finite_size.CONFIRMED: Outcome.SUPPORTS,
    finite_size.REFUTED: Outcome.REFUTES,
    finite_size.INCONCLUSIVE: Outcome.UNDECIDED,
}


@dataclass(frozen=True)
class Measured:
    """One experiment at one dimension: a sample per seed of the left-hand side of a statement, and the point it is at.

    ``values`` gives numbers to the symbols of the right-hand side, at the ratios realised at this dimension;
    ``functions`` implements its undefined functions; the variance falls as d^-``fluctuation``.
    """

    dimension: int
    samples: tuple[float, ...]
    values: Mapping[str, float]
    functions: Functions = field(default_factory=dict)
    fluctuation: int = 1


Model = TypeVar("Model")
Found = TypeVar("Found")
Experiment = Callable[[sp.Basic, Profile], Mapping[str, tuple[Measured, ...]]]


def column(quantity: sp.Basic, *measured: sp.Basic) -> int:
    """Where ``quantity`` stands among those that an experiment measures. Raises ValueError if it is not one of them."""
    if quantity not in measured:
        raise ValueError(f"asked for {quantity}, but this experiment measures {', '.join(map(str, measured))}")
    return measured.index(quantity)


def at_sizes(
    models: Mapping[str, Model], profile: Profile, one: Callable[[Model, int], Measured], share: int = 2
) -> Mapping[str, tuple[Measured, ...]]:
    """Every model, by its name, measured at the profile's dimensions over ``share``."""
    return {name: tuple(one(model, d // share) for d in profile.dimensions) for name, model in models.items()}


def together(
    experiments: Sequence[Experiment], quantity: sp.Basic, profile: Profile
) -> Mapping[str, tuple[Measured, ...]]:
    """One quantity in several experiments. Raises ValueError where two of them name a model alike."""
    found = [experiment(quantity, profile) for experiment in experiments]
    names = Counter(name for measured in found for name in measured)
    if max(names.values()) > 1:
        raise ValueError(f"two experiments have a model called {names.most_common(1)[0][0]!r}")
    return {name: sizes for measured in found for name, sizes in measured.items()}


@dataclass(frozen=True)
class ByExperiment:
    """What a check that runs experiments is called, and that it tests an equation."""

    title: str
    word: ClassVar[str]

    @property
    def name(self) -> str:
        """A few words for the reader."""
        return f"{self.word}: {self.title}"

    def equation(self, claim: Claim) -> sp.Equality:
        """The statement of a claim; raises TypeError for one that is not an equation."""
        if not isinstance(claim.statement, sp.Equality):
            raise TypeError(f"{claim.id}: a {self.word} tests an equation, not {claim.statement}")
        return claim.statement


@dataclass(frozen=True)
class BySimulation(ByExperiment):
    """Finite-dimensional experiments, extrapolated to infinite dimension, against what the statement predicts.

    ``experiment`` is asked for the left-hand side of the statement and runs (or recalls) simulations under a profile:
    for each model, by name, what was measured of that quantity at several dimensions; it raises ValueError for a
    quantity that it does not measure. The prediction is the right-hand side of the statement, so a mutant meets the
    same data. The finite-size protocol decides, all models together at its false-alarm rate.
    """

    experiment: Experiment
    word = "simulation"

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        """The evidence; raises TypeError for a statement that is not an equation."""
        statement = self.equation(claim)
        observables = {
            model: [
                finite_size.Observation(
                    m.dimension, m.samples, evaluate(statement.rhs, m.values, m.functions), m.fluctuation
                )
                for m in measured
            ]
            for model, measured in recalled(self.experiment, statement.lhs, profile).items()
        }
        report = finite_size.compare_all(observables, curved=True)
        decided = [c for c in report.comparisons if c.z is not None and c.critical_z is not None]
        worst = max(decided, key=lambda c: abs(c.z or 0.0), default=None)
        detectable = [c.smallest_detectable for c in decided if c.smallest_detectable is not None]
        return FiniteSize(
            check=self.name,
            experiments=report.samples,
            z=worst.z if worst and worst.z is not None else 0.0,
            threshold=worst.critical_z if worst and worst.critical_z is not None else 0.0,
            smallest_detectable=max(detectable, default=float("inf")),
            outcome=OUTCOMES[report.verdict],
            sentence=report.sentence,
        )

    def places(self, claim: Claim, profile: Profile) -> tuple[Place, ...]:
        """Where the right-hand side is tested: every model at every dimension."""
        found = recalled(self.experiment, self.equation(claim).lhs, profile).values()
        return tuple(Place(m.values, m.functions) for measured in found for m in measured)


@lru_cache(maxsize=64)
def recalled(
    experiment: Callable[[sp.Basic, Profile], Mapping[str, Found]], quantity: sp.Basic, profile: Profile
) -> Mapping[str, Found]:
    """What an experiment measures of a quantity, once for a statement and all its mutants."""
    return experiment(quantity, profile)
