"""What the theorems of a ledger stand on: every leaf once, with what it says, where it is from and who rests on it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.evidence import Leaf, Proof

# From what the theory takes on trust to what is no more than a name.
KINDS = ("hypothesis", "lemma", "model", "definition")
# Where each lemma is tested by numbers, under its name.
LEMMA_TESTS = "tests/derivations/kernel/test_lemmas.py"


@dataclass(frozen=True)
class Ground:
    """One thing that theorems stand on.

    A hypothesis is what is taken on trust, whatever it is said of: one claim, or one sentence, with all ``statements``
    that theorems make of it. A lemma or a part of the model is its name, a definition its name with its meaning.
    ``claims`` are the claims whose theorems have it for a leaf.
    """

    kind: str
    names: tuple[str, ...]
    statements: tuple[str, ...]
    references: tuple[str, ...]
    claim: str
    claims: tuple[str, ...]

    @property
    def test(self) -> str:
        """The test of a lemma; empty for what is no lemma."""
        return f"{LEMMA_TESTS}::test_a_lemma_holds[{self.names[0]}]" if self.kind == "lemma" else ""


def grounds(ledger: Ledger) -> tuple[Ground, ...]:
    """The leaves of all theorems of a ledger, by kind in the order of KINDS, the most used first."""
    found: dict[tuple[str, ...], list[tuple[Leaf, str]]] = {}
    for entry in ledger.entries:
        for leaf in _leaves(e for e in entry.evidence if isinstance(e, Proof)):
            found.setdefault(_identity(leaf), []).append((leaf, entry.claim.id))
    listed = [_ground([leaf for leaf, _ in uses], [claim for _, claim in uses]) for uses in found.values()]
    return tuple(sorted(listed, key=lambda one: (KINDS.index(one.kind), -len(one.claims), one.names)))


def _leaves(proofs: Iterable[Proof]) -> Iterable[Leaf]:
    return dict.fromkeys(leaf for proof in proofs if proof.theorem is not None for leaf in proof.theorem.assumptions)


def _identity(leaf: Leaf) -> tuple[str, ...]:
    match leaf.kind:
        case "hypothesis":
            return leaf.kind, leaf.reference
        case "definition":
            return leaf.kind, leaf.name, leaf.statement
    return leaf.kind, leaf.name


def _ground(leaves: list[Leaf], claims: list[str]) -> Ground:
    def distinct(items: Iterable[str]) -> tuple[str, ...]:
        return tuple(dict.fromkeys(items))

    return Ground(
        leaves[0].kind,
        distinct(leaf.name for leaf in leaves),
        distinct(leaf.statement for leaf in leaves),
        distinct(leaf.reference for leaf in leaves),
        leaves[0].claim,
        distinct(claims),
    )


def ground_json(ground: Ground) -> dict[str, Any]:
    """One leaf as the ledger keeps it; null where there is no claim or test."""
    return asdict(ground) | {"claim": ground.claim or None, "test": ground.test or None}
