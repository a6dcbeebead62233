"""From evidence to a verdict: one pure function.

A verdict is never typed. What counts depends on the kind of the claim: ball arithmetic at finitely many points
certifies an identity on those points but never a limit in d, and a proof supports a limit only if it takes the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from verify.claim import Kind
from verify.evidence import Agreement, Certificate, Evidence, FiniteSize, Outcome, Proof


class Verdict(StrEnum):
    """From strongest to weakest; the order of definition is the order of strength."""

    PROVED = "PROVED"
    CERTIFIED = "CERTIFIED"
    CONFIRMED = "CONFIRMED"
    UNTESTED = "UNTESTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    REFUTED = "REFUTED"


_STRENGTH = {verdict: rank for rank, verdict in enumerate(Verdict)}


def decide(kind: Kind, evidence: Sequence[Evidence]) -> Verdict:
    """The verdict that this evidence earns for a claim of this kind.

    One refuting piece refutes. Otherwise the strongest fit supporting piece counts. Evidence that is undecided, or
    unfit for the kind, never passes a claim. Without evidence a claim is untested, also a definition: it is true by
    fiat, and the ledger neither counts it as passed nor lets it weaken what rests on it.
    """
    if any(e.outcome is Outcome.REFUTES for e in evidence):
        return Verdict.REFUTED
    earned = [_earned(kind, e) for e in evidence if e.outcome is Outcome.SUPPORTS]
    passing = [v for v in earned if v is not Verdict.INCONCLUSIVE]
    if passing:
        return min(passing, key=_STRENGTH.__getitem__)
    return Verdict.INCONCLUSIVE if evidence else Verdict.UNTESTED


def _earned(kind: Kind, evidence: Evidence) -> Verdict:
    asymptotic = kind in (Kind.LIMIT, Kind.CONCENTRATION)
    match evidence:
        case Proof(takes_limit=takes_limit):
            return Verdict.PROVED if takes_limit or not asymptotic else Verdict.INCONCLUSIVE
        case Certificate():
            return Verdict.INCONCLUSIVE if asymptotic else Verdict.CERTIFIED
        case Agreement() | FiniteSize():
            return Verdict.CONFIRMED


def weakest(verdicts: Sequence[Verdict]) -> Verdict:
    """The weakest of several verdicts: a chain is as strong as this link."""
    return max(verdicts, key=_STRENGTH.__getitem__)
