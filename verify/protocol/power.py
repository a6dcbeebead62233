"""What a check would have caught, alone: which wrong neighbours of a claim each of its checks refutes by itself.

A check that passes a claim says as much as it would have said against a wrong one. A proof refutes nearly every altered
statement by construction, so the refutations of a claim count for the check that earned its verdict, and no other.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import sympy as sp

from onestep.verify.protocol.verdict import Verdict

# Of the wrong neighbours of a claim that numbers or simulation confirm, these have to refute this share by themselves.
ENOUGH = 0.8


@dataclass(frozen=True)
class MutantResult:
    """What became of one wrong neighbour, and the checks that refute it, each by itself."""

    name: str
    statement: sp.Basic
    verdict: Verdict
    caught_by: tuple[str, ...]


@dataclass(frozen=True)
class Power:
    """What the check that earned a verdict refutes by itself, of all wrong neighbours tried on it.

    ``generic`` are those made of any right-hand side alike, of a claim that no proof or certificate decided; the check
    is held to ``ENOUGH`` of all, not to each of them.
    """

    earned_by: str
    caught_alone: int
    missed: tuple[str, ...]
    generic: tuple[MutantResult, ...] = ()

    @property
    def of(self) -> int:
        """How many were tried."""
        return self.caught_alone + len(self.missed)

    @property
    def enough(self) -> bool:
        """Whether the share that is caught suffices; of none tried it does."""
        return self.caught_alone >= ENOUGH * self.of


def power(
    earned_by: Sequence[str], mutants: Sequence[MutantResult], generic: Sequence[MutantResult] = ()
) -> Power | None:
    """The power of the evidence behind a verdict: of several checks that earn it, of the one that catches most.

    None where nothing earned it.
    """
    tried = (*mutants, *generic)
    scores = [
        Power(
            check,
            sum(check in m.caught_by for m in tried),
            tuple(m.name for m in tried if check not in m.caught_by),
            tuple(generic),
        )
        for check in earned_by
    ]
    return max(scores, key=lambda score: score.caught_alone, default=None)


def weighed(verdict: Verdict, found: Power | None) -> Verdict:
    """The verdict, or INCONCLUSIVE where it is CONFIRMED and what confirms it passes too much that is wrong."""
    blunt = verdict is Verdict.CONFIRMED and found is not None and not found.enough
    return Verdict.INCONCLUSIVE if blunt else verdict
