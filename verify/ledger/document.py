"""The ledger as one JSON document, without clock, host or timing."""

from __future__ import annotations

import json
from collections.abc import Sequence
from functools import lru_cache
from importlib import import_module
from typing import Any

import sympy as sp

from giantsteps.verify.ledger.assumptions import ground_json, grounds
from giantsteps.verify.ledger.run import Entry, Ledger
from giantsteps.verify.ledger.second_kernel import replayed
from giantsteps.verify.protocol.claim import Claim
from giantsteps.verify.protocol.evidence import Agreement, Certificate, Evidence, FiniteSize, Proof
from giantsteps.verify.protocol.power import MutantResult, Power


def as_json(ledger: Ledger) -> dict[str, Any]:
    """The ledger as one JSON document, without clock, host or timing; one of fresh draws says of which seed."""
    return {
        "claims": [entry_json(entry) for entry in ledger.entries],
        "leaves": [ground_json(ground) for ground in grounds(ledger)],
        "summary": ledger.summary,
        "mutants": {
            "tested": sum(len(e.mutants) for e in ledger.entries),
            "refuted": sum(len(e.mutants) - len(e.surviving_mutants) for e in ledger.entries),
            "alone": alone(ledger),
        },
        "provenance": {
            "suite": str(import_module("giantsteps").__version__),
            "profile": ledger.profile,
            "sympy": sp.__version__,
            **({"seed": ledger.seed} if ledger.seed else {}),
        },
    }


def dumps(ledger: Ledger) -> str:
    """The ledger as JSON with sorted keys and one line for each claim and assumption, so that diffs are short."""

    def text(value: Any) -> str:
        return json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=True)

    document = as_json(ledger)
    claims, leaves = (",\n".join(map(text, document.pop(key))) for key in ("claims", "leaves"))
    rest = "".join(f",\n{text(key)}: {text(value)}" for key, value in sorted(document.items()))
    return f'{{"claims": [\n{claims}\n],\n"leaves": [\n{leaves}\n]{rest}}}\n'


@lru_cache(maxsize=4096)  # the pages, the ledger and its Markdown all show it
def statement_latex(claim: Claim) -> str:
    """The statement of a claim in LaTeX, rendered from the relation itself."""
    from giantsteps.derivations.language.rendering import latex

    return latex(claim.statement)


def claim_json(claim: Claim) -> dict[str, Any]:
    """What a claim says of itself, before anything is run."""
    return {
        "id": claim.id,
        "title": claim.title,
        "source": str(claim.source),
        "equations": list(claim.source.equations),
        "kind": claim.kind.value,
        "role": claim.role.value,
        "statement": statement_latex(claim),
        "uses": list(claim.uses),
    }


def entry_json(entry: Entry) -> dict[str, Any]:
    """A claim with all that was found about it."""
    return claim_json(entry.claim) | {
        "hypotheses": list(entry.hypotheses),
        "note": entry.claim.note,
        "verdict": entry.verdict.value,
        "weakest": entry.weakest.value,
        "given": entry.given._asdict() if entry.given.words else None,
        "evidence": [evidence_json(e) for e in entry.evidence],
        "theorem": theorem_json(entry.evidence),
        "mutants": [_mutant_json(m) | {"verdict": m.verdict.value} for m in entry.mutants],
        "power": power_json(entry.power),
    }


def _mutant_json(mutant: MutantResult) -> dict[str, Any]:
    return {"name": mutant.name, "caught_by": list(mutant.caught_by)}


def power_json(found: Power | None) -> dict[str, Any] | None:
    """What the check that earned the verdict catches by itself; null where none did."""
    if found is None:
        return None
    return {
        "earned_by": found.earned_by,
        "caught_alone": found.caught_alone,
        "of": found.of,
        "missed": list(found.missed),
        **({"missed_written": list(found.written)} if found.written else {}),
        "generic": [_mutant_json(mutant) for mutant in found.generic],
    }


def alone(ledger: Ledger) -> dict[str, dict[str, int]]:
    """By type of evidence: how many mutants a check of that type met, and how many it refuted by itself.

    Counted apart, since a proof refutes nearly every altered statement by construction.
    """
    counts: dict[str, dict[str, int]] = {}
    for entry in ledger.entries:
        for type_ in sorted({type(e).__name__ for e in entry.evidence}):
            checks = {e.check for e in entry.evidence if type(e).__name__ == type_}
            count = counts.setdefault(type_, {"tried": 0, "caught": 0})
            count["tried"] += len(entry.mutants)
            count["caught"] += sum(not checks.isdisjoint(m.caught_by) for m in entry.mutants)
    return dict(sorted(counts.items()))


def theorem_json(evidence: Sequence[Evidence]) -> dict[str, Any] | None:
    """The theorem of a claim: its assumptions and the rules of its proof; null if there is none."""
    made = next((e.theorem for e in evidence if isinstance(e, Proof) and e.theorem is not None), None)
    if made is None:
        return None
    return {
        "assumptions": [{"name": a.name, "kind": a.kind, "claim": a.claim or None} for a in made.assumptions],
        "rules": dict(made.rules),
        "replayed": ["own", "rocq"] if replayed(made.digests) else ["own"],
    }


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """One piece of evidence: what decides, and no number that rounding alone could move."""
    common = {"check": evidence.check, "type": type(evidence).__name__, "outcome": evidence.outcome.value}
    match evidence:
        case Proof(obligations=obligations, without_rule=steps):
            settled = [{"says": o.says, "outcome": o.outcome.value} for o in obligations]
            return common | {"obligations": settled} | ({"without_rule": list(steps)} if steps else {})
        case Certificate(points=points, allowed_width=width):
            return common | {"points": points, "width_at_most": width}
        case Agreement(points=points, tolerance=tolerance, reason=reason, finite_size=measured):
            return common | {"points": points, "tolerance": tolerance, "reason": reason, "finite_size": measured}
        case FiniteSize(experiments=experiments, z=z, threshold=threshold, smallest_detectable=detectable):
            return common | {
                "experiments": experiments,
                "z": round(z, 2),
                "threshold": round(threshold, 3),
                "smallest_detectable": float(f"{detectable:.2g}"),
            }
