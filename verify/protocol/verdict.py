"""From evidence to a verdict: one pure function.

A verdict is never typed. What counts depends on the kind of the claim: ball arithmetic at finitely many points
certifies an identity on those points but never a limit in d, and a proof supports a limit only if it takes the limit.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import StrEnum

from giantsteps.verify.protocol.claim import Kind
from giantsteps.verify.protocol.evidence import Agreement, Certificate, Evidence, FiniteSize, Outcome, Proof


class Verdict(StrEnum):
    """From strongest to weakest; the order of definition is the order of strength."""

    PROVED = "PROVED"
    CERTIFIED = "CERTIFIED"
    DERIVED = "DERIVED"
    CONFIRMED = "CONFIRMED"
    CONVENTION = "CONVENTION"
    UNTESTED = "UNTESTED"
    INCONCLUSIVE = "INCONCLUSIVE"
    REFUTED = "REFUTED"


_STRENGTH = {verdict: rank for rank, verdict in enumerate(Verdict)}


# What these say is about a limit, or about what a random quantity is in one.
_ASYMPTOTIC = (Kind.LIMIT, Kind.CONCENTRATION)


def decide(kind: Kind, evidence: Sequence[Evidence]) -> Verdict:
    """The verdict that this evidence earns for a claim of this kind.

    One refuting piece refutes; of a convention it says no more than that the source has another one than ours.
    Otherwise the strongest fit supporting piece counts. Four cautions:

    - PROVED needs a theorem of the kernel. A derivation with a step that no rule made counts only beside independent
      evidence that earns a verdict of its own: then two routes agree, and the claim is DERIVED;
    - a limit, or what concentrates in one, is confirmed by measurements at finite size alone: a second formula of it
      is none, and ball arithmetic at finitely many points certifies none;
    - a piece that was asked and could not decide leaves the claim undecided, unless a theorem or a certificate stands;
    - without evidence a claim is untested, also a definition: it is true by fiat, and the ledger neither counts it as
      passed nor lets it weaken what rests on it.
    """
    if any(e.outcome is Outcome.REFUTES for e in evidence):
        return Verdict.CONVENTION if kind is Kind.CONVENTION else Verdict.REFUTED
    supporting = [e for e in evidence if e.outcome is Outcome.SUPPORTS]
    beside = any(_earned(kind, e, False) is not None for e in supporting if not isinstance(e, Proof))
    earned = [_earned(kind, e, beside) for e in supporting]
    strongest = min((v for v in earned if v is not None), key=_STRENGTH.__getitem__, default=Verdict.INCONCLUSIVE)
    if strongest in (Verdict.DERIVED, Verdict.CONFIRMED) and len(supporting) < len(evidence):
        return Verdict.INCONCLUSIVE
    return strongest if evidence else Verdict.UNTESTED


def earning(kind: Kind, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The pieces of which each by itself earns the verdict; none where it is no verdict for a claim."""
    verdict = decide(kind, evidence)
    supporting = [e for e in evidence if e.outcome is Outcome.SUPPORTS]
    beside = verdict is Verdict.DERIVED
    return tuple(e for e in supporting if _earned(kind, e, beside) is verdict)


def on_trial(kind: Kind, evidence: Sequence[Evidence]) -> tuple[Evidence, ...]:
    """The pieces whose power is asked: those that earn the verdict, and for DERIVED what stands beside the derivation,
    which itself refutes nearly every altered statement by construction.
    """
    if decide(kind, evidence) is not Verdict.DERIVED:
        return earning(kind, evidence)
    beside = (e for e in evidence if e.outcome is Outcome.SUPPORTS and not isinstance(e, Proof))
    return tuple(e for e in beside if _earned(kind, e, False) is not None)


def _earned(kind: Kind, evidence: Evidence, beside: bool) -> Verdict | None:
    """What one supporting piece earns; None if it is not fit for the kind of the claim."""
    asymptotic = kind in _ASYMPTOTIC
    match evidence:
        case Proof(takes_limit=False) if asymptotic:
            return None
        case Proof(theorem=None):
            return Verdict.DERIVED if beside else None
        case Proof():
            return Verdict.PROVED
        case Certificate():
            return None if asymptotic else Verdict.CERTIFIED
        case Agreement(finite_size=False) if asymptotic:
            return None
        case Agreement() | FiniteSize():
            return Verdict.CONFIRMED


def weakest(verdicts: Sequence[Verdict]) -> Verdict:
    """The weakest of several verdicts: a chain is as strong as this link."""
    return max(verdicts, key=_STRENGTH.__getitem__)
