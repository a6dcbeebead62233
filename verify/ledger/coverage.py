"""Which equations of a paper the ledger covers: every number stands on exactly one claim of ours.

That claim states the equation, or what replaces it. Claims that prove a part of it, a limit or an example say in words
which equation they are on and do not list its number. Printed claims list the numbers of what they quote. A source
without numbers has a list of its formulas; each names the claims that decide on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from giantsteps.verify.protocol.claim import Claim, Role
from giantsteps.verify.protocol.paper import Paper


@dataclass(frozen=True)
class Coverage:
    """One number: the claims of ours that list it, and the printed ones."""

    number: int
    ours: tuple[str, ...]
    printed: tuple[str, ...]


@dataclass(frozen=True)
class Summary:
    """How many of all numbers have exactly one claim of ours, which have none, and which have several."""

    total: int

    covered: int
    missing: tuple[int, ...]
    repeated: Mapping[int, tuple[str, ...]]

    @property
    def sentence(self) -> str:
        """One line for the reader."""
        parts = [f"{self.covered} of {self.total} numbered equations, each in exactly one claim of ours"]
        if self.missing:
            parts.append(f"missing {_ranges(self.missing)}")
        if self.repeated:
            parts.append(f"in several claims {_ranges(tuple(self.repeated))}")
        return "; ".join(parts)


def coverage(claims: Iterable[Claim], paper: Paper) -> tuple[Coverage, ...]:
    """Equation by equation of the paper: who covers it."""
    ours: dict[int, list[str]] = {}
    printed: dict[int, list[str]] = {}
    for claim in claims:
        for number in claim.source.equations:
            (ours if claim.role is Role.OURS else printed).setdefault(number, []).append(claim.id)
    return tuple(Coverage(n, tuple(ours.get(n, ())), tuple(printed.get(n, ()))) for n in paper.equations)


def summary(claims: Iterable[Claim], paper: Paper) -> Summary:
    """What is missing or repeated at this moment."""
    rows = coverage(claims, paper)
    return Summary(
        total=len(rows),
        covered=sum(len(row.ours) == 1 for row in rows),
        missing=tuple(row.number for row in rows if not row.ours),
        repeated={row.number: row.ours for row in rows if len(row.ours) > 1},
    )


def _ranges(numbers: tuple[int, ...]) -> str:
    """(3), (7)-(9)."""
    runs: list[list[int]] = []
    for n in numbers:
        if runs and n == runs[-1][-1] + 1:
            runs[-1].append(n)
        else:
            runs.append([n])
    return ", ".join(f"({run[0]})" if len(run) == 1 else f"({run[0]})-({run[-1]})" for run in runs)
