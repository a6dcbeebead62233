"""A claim: one formula of the theory, as data.

The statement of a claim is a SymPy relation. Checks are functions *of the statement*: a mutant is the same claim with
another statement, so whatever passes the claim is also what has to refute its mutants.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Protocol

import sympy as sp

if TYPE_CHECKING:
    from giantsteps.verify.protocol.evidence import Evidence
    from giantsteps.verify.protocol.paper import Paper


class Kind(StrEnum):
    """What sort of truth a claim states; it decides which evidence is fit for it.

    CONVENTION: how a source normalises or names something, or how a sentence of it is read, where another convention
    or reading is ours. Where checks refute it the two differ, which is no misprint.
    """

    DEFINITION = "DEFINITION"
    IDENTITY = "IDENTITY"
    INEQUALITY = "INEQUALITY"
    LIMIT = "LIMIT"
    FIXED_POINT = "FIXED_POINT"
    CONCENTRATION = "CONCENTRATION"
    CONVENTION = "CONVENTION"


class Role(StrEnum):
    """``ours`` is asserted by this suite; ``printed`` is a formula as a source prints it, which may be wrong;
    ``reading`` is one that no source prints, how it may be taken to go on, tested to see whether it does.
    """

    OURS = "ours"
    PRINTED = "printed"
    READING = "reading"


@dataclass(frozen=True)
class Source:
    """Where a formula comes from: the document, its section, and the numbers of the equations it covers."""

    document: str
    section: str
    equations: tuple[int, ...] = ()

    def __str__(self) -> str:
        numbers = ", ".join(f"({n})" for n in self.equations)
        return f"{self.document}, {self.section}" + (f", {numbers}" if numbers else "")


@dataclass(frozen=True)
class Range:
    """One coordinate of a domain: a symbol that varies over an interval, or a name that varies over choices."""

    symbol: sp.Symbol | str
    low: float = 0.0
    high: float = 1.0
    log: bool = False
    choices: tuple[str, ...] = ()

    @property
    def name(self) -> str:
        """The key of this coordinate in a sampled point."""
        return str(self.symbol)


@dataclass(frozen=True, eq=False)
class Domain:
    """Where a claim is stated to hold: ranges, hypotheses in words, and models for abstract functions.

    ``interpretations`` give concrete functions for the undefined functions of the statement; a witness against the
    statement is a point and one interpretation at which its two sides differ.
    """

    ranges: tuple[Range, ...] = ()
    hypotheses: tuple[str, ...] = ()
    interpretations: tuple[Mapping[str, Callable[..., object]], ...] = ()


@dataclass(frozen=True)
class Mutant:
    """A mutant of a claim: a wrong statement that the same checks have to refute."""

    name: str
    statement: sp.Basic


@dataclass(frozen=True)
class Profile:
    """How much work a run of the ledger may do, and which draws it makes.

    ``seed`` 0 stands for the draws of the committed ledger, any other for fresh ones.
    """

    name: str
    points: int
    examples: int
    dimensions: tuple[int, ...]
    seeds: int
    seed: int = 0

    def draws(self, per_seed: int) -> range:
        """The indices of so many independent draws for each of ``seeds``: under another seed, none of the same."""
        return range(self.seed * _APART, self.seed * _APART + per_seed * self.seeds)


# No experiment makes as many draws of one sort.
_APART = 10**6


PROFILES: Mapping[str, Profile] = {
    "quick": Profile("quick", points=12, examples=12, dimensions=(200, 400, 800), seeds=6),
    "ci": Profile("ci", points=40, examples=40, dimensions=(200, 400, 800), seeds=12),
    "thorough": Profile("thorough", points=200, examples=200, dimensions=(400, 800, 1600), seeds=24),
}


class Check(Protocol):
    """A way of getting evidence for or against a statement."""

    @property
    def name(self) -> str:
        """A few words for the reader: how this evidence is got."""

    def run(self, claim: Claim, profile: Profile, paper: Paper) -> Evidence:
        """Evidence for or against ``claim.statement``, a claim of ``paper``."""


@dataclass(frozen=True, eq=False, repr=False)
class Claim:
    """One formula with its source, domain, dependencies, checks and mutants.

    ``id`` is a permanent slug (``part.what-it-says``). ``uses`` are the ids of the claims it rests on.
    ``correction``: for a misprint, the id of the claim with the corrected formula. A generic mutant that equals the
    corrected formula is dropped.
    """

    id: str
    title: str
    source: Source
    kind: Kind
    statement: sp.Basic
    domain: Domain
    checks: tuple[Check, ...]
    uses: tuple[str, ...] = ()
    mutants: tuple[Mutant, ...] = ()
    role: Role = Role.OURS
    note: str = ""
    correction: Claim | None = None

    def __repr__(self) -> str:
        return f"Claim({self.id}: {self.title})"

    def mutated(self, mutant: Mutant) -> Claim:
        """The same claim and checks, with the statement of ``mutant``; a slip of the pen is no convention."""
        kind = Kind.IDENTITY if self.kind is Kind.CONVENTION else self.kind
        return replace(self, id=f"{self.id}~{mutant.name}", kind=kind, statement=mutant.statement, mutants=())
