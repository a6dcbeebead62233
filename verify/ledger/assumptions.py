"""The assumptions of the theorems of a ledger, each listed once with its statement, its source and its claims."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.evidence import Assumed, Proof

# From the strongest kind of assumption to the weakest.
KINDS = ("hypothesis", "lemma", "model", "definition")
# The numerical tests of lemmas; each case has the name of its lemma.
LEMMA_TESTS = "tests/derivations/kernel/test_lemmas.py"


@dataclass(frozen=True)
class Ground:
    """One assumption of theorems, identified across theorems.

    A hypothesis is one claim or one sentence, with all ``statements`` that theorems make of it. A lemma or a part of
    the model is identified by its name, a definition by its name and its meaning. ``claims``: the claims whose theorems
    assume it.
    """

    kind: str
    names: tuple[str, ...]
    statements: tuple[str, ...]
    references: tuple[str, ...]
    claim: str
    claims: tuple[str, ...]

    @property
    def test(self) -> str:
        """The test of a lemma; empty for any other kind."""
        return f"{LEMMA_TESTS}::test_a_lemma_holds[{self.names[0]}]" if self.kind == "lemma" else ""


def grounds(ledger: Ledger) -> tuple[Ground, ...]:
    """The assumptions of all theorems of a ledger, by kind in the order of KINDS, the most used first."""
    found: dict[tuple[str, ...], list[tuple[Assumed, str]]] = {}
    for entry in ledger.entries:
        for assumed in _assumptions(e for e in entry.evidence if isinstance(e, Proof)):
            found.setdefault(_identity(assumed), []).append((assumed, entry.claim.id))
    listed = [_ground([assumed for assumed, _ in uses], [claim for _, claim in uses]) for uses in found.values()]
    return tuple(sorted(listed, key=lambda one: (KINDS.index(one.kind), -len(one.claims), one.names)))


def _assumptions(proofs: Iterable[Proof]) -> Iterable[Assumed]:
    return dict.fromkeys(one for proof in proofs if proof.theorem is not None for one in proof.theorem.assumptions)


def _identity(assumed: Assumed) -> tuple[str, ...]:
    match assumed.kind:
        case "hypothesis":
            return assumed.kind, assumed.reference
        case "definition":
            return assumed.kind, assumed.name, assumed.statement
    return assumed.kind, assumed.name


def _ground(listed: list[Assumed], claims: list[str]) -> Ground:
    def distinct(items: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(items))

    return Ground(
        listed[0].kind,
        distinct(assumed.name for assumed in listed),
        distinct(assumed.statement for assumed in listed),
        distinct(assumed.reference for assumed in listed),
        listed[0].claim,
        distinct(claims),
    )


def ground_json(ground: Ground) -> dict[str, Any]:
    """One assumption as the ledger keeps it; null if it has no claim or no test."""
    lists = {key: list(value) for key, value in asdict(ground).items() if isinstance(value, tuple)}
    return {"kind": ground.kind, "claim": ground.claim or None, "test": ground.test or None} | lists
