"""From evidence to a verdict: one pure function.

A verdict is never typed. What counts depends on the kind of the claim: ball arithmetic at finitely many points
certifies an identity on those points but never a limit in d, and a proof supports a limit only if it takes the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from onestep.verify.protocol.claim import Kind
from onestep.verify.protocol.evidence import Agreement, Certificate, Evidence, FiniteSize, Outcome, Proof


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

    One refuting piece refutes. Otherwise the strongest fit supporting piece counts. Three cautions:

    - a proof whose results do not stand in steps with obligations of their own counts only beside independent
      evidence that supports: then two routes agree, and a slip would have to be made in both;
    - a piece that was asked and could not decide leaves the claim undecided, unless a proof or a certificate stands;
    - without evidence a claim is untested, also a definition: it is true by fiat, and the ledger neither counts it as
      passed nor lets it weaken what rests on it.
    """
    if any(e.outcome is Outcome.REFUTES for e in evidence):
        return Verdict.REFUTED
    supporting = [e for e in evidence if e.outcome is Outcome.SUPPORTS]
    beside = any(not isinstance(e, Proof) for e in supporting)
    earned = [_earned(kind, e, beside) for e in supporting]
    passing = [v for v in earned if v is not Verdict.INCONCLUSIVE]
    strongest = min(passing, key=_STRENGTH.__getitem__, default=Verdict.INCONCLUSIVE)
    if strongest is Verdict.CONFIRMED and len(supporting) < len(evidence):
        return Verdict.INCONCLUSIVE
    return strongest if evidence else Verdict.UNTESTED


def _earned(kind: Kind, evidence: Evidence, beside: bool) -> Verdict:
    asymptotic = kind in (Kind.LIMIT, Kind.CONCENTRATION)
    match evidence:
        case Proof(takes_limit=takes_limit, established=established):
            fit = (takes_limit or not asymptotic) and (established or beside)
            return Verdict.PROVED if fit else Verdict.INCONCLUSIVE
        case Certificate():
            return Verdict.INCONCLUSIVE if asymptotic else Verdict.CERTIFIED
        case Agreement() | FiniteSize():
            return Verdict.CONFIRMED


def weakest(verdicts: Sequence[Verdict]) -> Verdict:
    """The weakest of several verdicts: a chain is as strong as this link."""
    return max(verdicts, key=_STRENGTH.__getitem__)
