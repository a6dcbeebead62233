"""Claims in an order in which each comes after those it rests on."""

from __future__ import annotations

from collections.abc import Sequence

from verify.protocol.claim import Claim


class LedgerError(ValueError):
    """The claims do not form a ledger: a duplicate id, an unknown dependency, or a cycle."""


def ordered(claims: Sequence[Claim]) -> tuple[Claim, ...]:
    """The claims so that each comes after those it rests on. Raises LedgerError on a cycle."""
    by_id = {claim.id: claim for claim in claims}
    done: dict[str, Claim] = {}
    path: list[str] = []

    def visit(claim: Claim) -> None:
        if claim.id in done:
            return
        if claim.id in path:
            raise LedgerError("these claims rest on each other: " + " -> ".join([*path, claim.id]))
        path.append(claim.id)
        for used in claim.uses:
            if used in by_id:
                visit(by_id[used])
        path.pop()
        done[claim.id] = claim

    for claim in claims:
        visit(claim)
    return tuple(done.values())
