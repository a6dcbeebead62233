"""What the lists of a paper lack: numbers, formulas, errata and conventions without a claim, and claims without one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.claim import Claim, Role
from giantsteps.verify.protocol.paper import Formula, Paper
from giantsteps.verify.protocol.verdict import Verdict


def strays(claims: Iterable[Claim], paper: Paper) -> tuple[str, ...]:
    """Numbers that the paper does not have."""
    return tuple(f"{c.id} lists ({n})" for c in claims for n in c.source.equations if n not in paper.equations)


def missing_formulas(claims: Iterable[Claim], paper: Paper) -> tuple[str, ...]:
    """Listed formulas that name no claim of the ledger, or one that it does not hold; as sentences."""
    known = {claim.id for claim in claims}
    return (
        *(f"{f.frame}: {f.says}: no claim" for f in _formulas(paper) if not f.claims),
        *(f"{f.frame}: {f.says}: {id_} is no claim" for f in _formulas(paper) for id_ in f.claims if id_ not in known),
    )


def unlisted_claims(claims: Iterable[Claim], paper: Paper) -> tuple[str, ...]:
    """Printed claims about a source with a list of its formulas that no formula of the list names."""
    lists = {source.name for source in paper.sources if source.formulas}
    named = {id_ for formula in _formulas(paper) for id_ in formula.claims}
    return tuple(c.id for c in claims if c.role is Role.PRINTED and c.source.document in lists and c.id not in named)


def _formulas(paper: Paper) -> Iterator[Formula]:
    return (formula for source in paper.sources for formula in source.formulas)


def unlisted(ledger: Ledger, paper: Paper) -> tuple[str, ...]:
    """Printed claims that the ledger refuted and no erratum is about; conventions and readings that are not listed."""
    listed = {erratum.printed for erratum in (*paper.errata, *paper.conventions)}
    against = (Verdict.REFUTED, Verdict.CONVENTION)
    found = (e.claim for e in ledger.entries if e.verdict in against and e.claim.role is not Role.OURS)
    return tuple(claim.id for claim in found if claim.id not in listed)
