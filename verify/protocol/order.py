"""Claims in an order in which each comes after those it rests on."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence

from giantsteps.verify.protocol.claim import Claim


def claims_of(module: str) -> tuple[Claim, ...]:
    """The claims that one module states."""
    found: tuple[Claim, ...] = importlib.import_module(module).CLAIMS
    return found


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


def collected(modules: Iterable[str]) -> tuple[Claim, ...]:
    """The claims of some modules, in their order. Raises LedgerError if they do not form a ledger."""
    claims = tuple(claim for module in modules for claim in claims_of(module))
    by_id = {claim.id: claim for claim in claims}
    if len(by_id) != len(claims):
        repeated = sorted({c.id for c in claims if sum(d.id == c.id for d in claims) > 1})
        raise LedgerError(f"two claims share an id: {', '.join(repeated)}")
    for claim in claims:
        for used in claim.uses:
            if used not in by_id:
                raise LedgerError(f"{claim.id} rests on {used}, which is no claim")
    ordered(claims)
    return claims
