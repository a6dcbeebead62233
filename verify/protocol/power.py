"""The power of a check: which mutants of a claim each of its checks refutes alone.

A passed check is evidence only if it fails for wrong statements. A proof refutes nearly every altered statement by
construction, so only the refutations by the check that earned the verdict count.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.verify.protocol.verdict import Verdict

# Numbers or simulation that confirm a claim have to refute this share of its stated mutants alone, and this share of
# the generic ones. They have to refute every mutant written for the claim: each stands for an error that somebody
# might make, and easily refuted slips of the pen do not compensate for it.
ENOUGH = 0.8
# The verdicts that numbers or simulation earn, alone or beside a derivation.
WEIGHED = (Verdict.CONFIRMED, Verdict.DERIVED)


@dataclass(frozen=True)
class MutantResult:
    """The verdict on one mutant, and the checks that refute it alone.

    ``written``: it was written for the claim, not made by a rule.
    """

    name: str
    statement: sp.Basic
    verdict: Verdict
    caught_by: tuple[str, ...]
    written: bool = False

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled with its statement as it is written: SymPy would ask again of each whether it is an identity, which
        takes longer than to send it.
        """
        return _again, (self.name, _parts(self.statement), self.verdict, self.caught_by, self.written)


def _parts(statement: sp.Basic) -> tuple[Any, ...]:
    """A relation, or a conjunction of relations, as its kind and sides; anything else as itself."""
    if isinstance(statement, sp.And):
        return sp.And, tuple(_parts(part) for part in statement.args)
    return (type(statement), statement.args) if isinstance(statement, Relational) else (None, statement)


def _written(kind: Any, of: Any) -> sp.Basic:
    if kind is None:
        return cast(sp.Basic, of)
    parts = (_written(*part) for part in of) if kind is sp.And else of
    return cast(sp.Basic, kind(*parts, evaluate=False))


def _again(name: str, parts: tuple[Any, Any], *found: Any) -> MutantResult:
    return MutantResult(name, _written(*parts), *found)


@dataclass(frozen=True)
class Power:
    """The mutants that the check which earned a verdict refutes alone, of all that were tried on it.

    ``generic``: mutants made by rules, for a claim that no theorem or certificate decides. The check has to refute the
    share ``ENOUGH`` of the stated and of the generic mutants. ``written``: missed mutants that were written for the
    claim; the check has to refute each of these.
    """

    earned_by: str
    caught_alone: int
    missed: tuple[str, ...]
    generic: tuple[MutantResult, ...] = ()
    written: tuple[str, ...] = ()

    @property
    def of(self) -> int:
        """How many were tried."""
        return self.caught_alone + len(self.missed)

    @property
    def own(self) -> tuple[int, int]:
        """How many of the claim's own were caught, and tried: without the generic ones."""
        generic, tried = self.of_generic
        return self.caught_alone - generic, self.of - tried

    @property
    def of_generic(self) -> tuple[int, int]:
        """How many of the generic ones were caught, and tried."""
        return sum(self.earned_by in mutant.caught_by for mutant in self.generic), len(self.generic)

    @property
    def enough(self) -> bool:
        """Whether what is caught of the own suffices, and what is caught of the generic ones, and all that was written
        for the claim is; where none was tried nothing is known, and it does not.
        """
        shares = all(caught >= ENOUGH * tried for caught, tried in (self.own, self.of_generic))
        return self.of > 0 and shares and not self.written


def power(
    earned_by: Sequence[str], mutants: Sequence[MutantResult], generic: Sequence[MutantResult] = ()
) -> Power | None:
    """The power of the evidence behind a verdict: of several checks that earn it, of one that suffices, if any does,
    and then of the one that catches most.

    None where nothing earned it.
    """
    tried = (*mutants, *generic)
    scores = [
        Power(
            check,
            sum(check in m.caught_by for m in tried),
            tuple(m.name for m in tried if check not in m.caught_by),
            tuple(generic),
            tuple(m.name for m in tried if m.written and check not in m.caught_by),
        )
        for check in earned_by
    ]
    return max(scores, key=lambda score: (score.enough, score.caught_alone), default=None)


def weighed(verdict: Verdict, found: Power | None) -> Verdict:
    """The verdict, or INCONCLUSIVE where it rests on numbers or simulation that pass too much that is wrong.

    Of evidence without a score nothing is known either: a check whose evidence bears another name than its own was
    never tried.
    """
    blunt = verdict in WEIGHED and (found is None or not found.enough)
    return Verdict.INCONCLUSIVE if blunt else verdict
