"""The committed ledger as entries, so that the whole report can be rendered without running a check.

The committed document holds what decides and no more: witnesses, methods of proof and the formulas of mutants
are stand-ins, the last of them the formulas of the claims, which are as long.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from giantsteps.reports.text.ledger_files import committed
from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.protocol.claim import Claim
from giantsteps.verify.protocol.evidence import Agreement, Certificate, Evidence, FiniteSize, Outcome, Proof, Settled
from giantsteps.verify.protocol.power import MutantResult, Power
from giantsteps.verify.protocol.verdict import Verdict


@cache
def committed_ledger() -> Ledger:
    """Every claim that is both stated and in the committed ledger, with the verdicts and evidence recorded there."""
    document = committed()
    assert document is not None
    recorded = {found["id"]: found for found in document["claims"]}
    return Ledger("quick", tuple(_entry(claim, recorded[claim.id]) for claim in all_claims() if claim.id in recorded))


def _entry(claim: Claim, found: Mapping[str, Any]) -> Entry:
    mutants = tuple(
        MutantResult(row["name"], claim.statement, Verdict(row["verdict"]), tuple(row.get("caught_by", ())))
        for row in found["mutants"]
    )
    return Entry(
        claim,
        Verdict(found["verdict"]),
        tuple(_evidence(row) for row in found["evidence"]),
        mutants,
        Verdict(found["weakest"]),
        tuple(found["hypotheses"]),
        _power(claim, found.get("power")),
    )


def _power(claim: Claim, found: Mapping[str, Any] | None) -> Power | None:
    if found is None:
        return None
    generic = (
        MutantResult(row["name"], claim.statement, Verdict.INCONCLUSIVE, tuple(row["caught_by"]))
        for row in found["generic"]
    )
    written = tuple(mutant.name for mutant in claim.mutants if mutant.name in found["missed"])
    return Power(found["earned_by"], found["caught_alone"], tuple(found["missed"]), tuple(generic), written)


def _evidence(row: Mapping[str, Any]) -> Evidence:
    refuted, check = row["outcome"] == Outcome.REFUTES, row["check"]
    match row["type"]:
        case "Proof":
            settled = (Settled(o["says"], Outcome(o["outcome"]), "algebra", "x = 1") for o in row["obligations"])
            return Proof(check, tuple(settled), unmade=tuple(row.get("without_rule", ())))
        case "Certificate":
            return Certificate(check, row["points"], 0.0, row["width_at_most"], "x = 1" if refuted else "")
        case "Agreement":
            worst = 2 * row["tolerance"] + 1.0 if refuted else 0.0
            return Agreement(check, row["points"], worst, row["tolerance"], "x = 1", row["reason"], row["points"], 1e-6)
        case "FiniteSize":
            return FiniteSize(
                check,
                row["experiments"],
                row["z"],
                row["threshold"],
                row["smallest_detectable"],
                Outcome(row["outcome"]),
                f"{row['experiments']} experiments lie {row['z']} standard errors away",
            )
    raise ValueError(f"evidence of the kind {row['type']}")
