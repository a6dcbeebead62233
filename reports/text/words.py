"""Verdicts and evidence in words."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any


def verdict_mark(role: str, by_definition: bool, given: str = "") -> str:
    """Behind a verdict: that it is on a formula as a source prints it, that the claim holds by definition, and what it
    is given that is weaker."""
    mark = MARKS.get(role, "by definition" if by_definition else "")
    return (f" ({mark})" if mark else "") + (f" given {given}" if given else "")


def given_of(document: Mapping[str, Any]) -> str:
    """What a claim of the ledger is given that is weaker than its verdict, in words."""
    found = document.get("given")
    return str(found["words"]) if found else ""


# Of claims that are not of this suite, by their role: behind a verdict, and behind what the claim is.
MARKS = {"printed": "as printed", "reading": "a reading"}
ORIGINS = {"printed": "as printed in the source", "reading": "a reading that no source prints"}


def origin(role: str) -> str:
    """Behind the title of a claim that is not of this suite."""
    return f" ({ORIGINS[role]})" if role in ORIGINS else ""


def by_fiat(document: Mapping[str, Any]) -> bool:
    """Whether a claim of the ledger is a definition without checks."""
    return document["kind"] == "DEFINITION" and not document["evidence"]


def evidence_line(evidence: Mapping[str, Any]) -> str:
    """One piece of evidence of the ledger in one line."""
    return f"{evidence['check']}: {evidence_words(evidence)}"


def evidence_words(evidence: Mapping[str, Any]) -> str:
    """What one piece of evidence of the ledger found, with the smallest error that it would have caught."""
    outcome = evidence["outcome"]
    match evidence["type"]:
        case "Proof":
            met = sum(o["outcome"] == "supports" for o in evidence["obligations"])
            count = len(evidence["obligations"])
            return f"{outcome}, {met} of {count} obligation{'s' * (count != 1)} discharged"
        case "Certificate":
            width = evidence["width_at_most"]
            return f"{outcome}, enclosed at {evidence['points']} points, no ball wider than {width:.0e}"
        case "Agreement":
            tolerance = evidence["tolerance"]
            return f"{outcome}, {evidence['points']} points, would have caught a relative error of {tolerance:.0e}"
        case "FiniteSize":
            detectable = evidence["smallest_detectable"]
            caught = f"{detectable:.1%}" if isinstance(detectable, float) else "unknown size"
            z, limit = evidence["z"], evidence["threshold"]
            return f"{outcome}, z = {z} (limit {limit}), would have caught a relative error of {caught}"
    return str(outcome)


def steps_without_rule(claim: Mapping[str, Any]) -> list[str]:
    """The steps that no rule of the kernel made, of a claim that is no theorem: what keeps it from being PROVED."""
    if claim["theorem"]:
        return []
    return list(dict.fromkeys(step for e in claim["evidence"] for step in e.get("without_rule", ())))


# The kinds of assumptions, in the plural.
_PLURALS = ("hypotheses", "lemmas", "parts of the model", "definitions")
ASSUMPTIONS = dict(zip(("hypothesis", "lemma", "model", "definition"), _PLURALS, strict=True))


def theorem_line(theorem: Mapping[str, Any]) -> str:
    """What the kernel made: how many steps by rules, and on which model, lemmas and hypotheses."""
    count = sum(theorem["rules"].values())
    kinds: dict[str, list[str]] = {}
    for assumed in theorem["assumptions"]:
        claimed = f" [{assumed['claim']}]" if assumed["claim"] else ""
        kinds.setdefault(assumed["kind"], []).append(assumed["name"] + claimed)
    definitions = len(kinds.pop("definition", []))
    rests = [f"{definitions} definition{'s' * (definitions != 1)}"]
    rests += [f"{kind}: {', '.join(names)}" for kind, names in kinds.items()]
    twice = "; replayed by a second kernel, Rocq" if "rocq" in theorem.get("replayed", ()) else ""
    return f"{count} rule{'s' * (count != 1)}, from {'; '.join(rests)}{twice}"


# The types of evidence in words, proofs apart.
EVIDENCE = {"Agreement": "numbers", "FiniteSize": "simulation", "Certificate": "ball arithmetic", "Proof": "proof"}


def caught_lines(claim: Mapping[str, Any]) -> list[str]:
    """Each check of a claim with the mutants that it refutes alone: how many, and which it misses.

    Generic mutants count for the check that earned the verdict; the other checks are not tried on them.
    """
    power = claim.get("power")
    if power is None:
        return []
    proofs = {e["check"] for e in claim["evidence"] if e["type"] == "Proof"}

    def line(check: str, found: Mapping[str, Any]) -> str:
        # A derivation states what it states: no other statement follows from it, and few are contradicted.
        missed = "; neither contradicted nor proved: " if check in proofs else "; missed: "
        return f"{check}: {caught_words(found)}".replace("; missed: ", missed, 1)

    lines = [line(power["earned_by"], power)]
    for check in (e["check"] for e in claim["evidence"] if e["check"] != power["earned_by"]):
        missed = [m["name"] for m in claim["mutants"] if check not in m["caught_by"]]
        count = len(claim["mutants"])
        found = {"caught_alone": count - len(missed), "of": count, "missed": missed}
        lines.append(line(check, found))
    return lines


def caught_words(power: Mapping[str, Any]) -> str:
    """What one check caught alone, of its own and generic ones: caught 7 of 9 alone, 5 of 6 of its own; missed: ..."""
    if not power["of"]:
        return "caught 0 of 0 alone: no mutant was tried"
    missed = f"; missed: {', '.join(power['missed'])}" if power["missed"] else ""
    if written := power.get("missed_written"):
        missed += f"; of these written for the claim: {', '.join(written)}"
    generic = power.get("generic", ())
    caught = power["caught_alone"] - sum(power["earned_by"] in mutant["caught_by"] for mutant in generic)
    own = f", {caught} of {power['of'] - len(generic)} of its own" if generic else ""
    return f"caught {power['caught_alone']} of {power['of']} alone{own}{missed}"
