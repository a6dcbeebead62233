"""The ledger: all claims, ordered by dependency, run, with their verdicts; written down and compared.

It holds no clock, host or timing, so that on one machine the same claims give the same file byte for byte.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from typing import Any

import sympy as sp

from verify.checks.mutants import mutants_of
from verify.claims.index import MODULES, all_claims, claims_of
from verify.protocol.claim import PROFILES, Claim, Kind, Role
from verify.protocol.evidence import Agreement, Certificate, Evidence, FiniteSize, Outcome, Proof
from verify.protocol.order import LedgerError, ordered
from verify.protocol.verdict import Verdict, decide, weakest


@dataclass(frozen=True)
class MutantResult:
    """What became of one wrong neighbour, and the check that decided it."""

    name: str
    statement: sp.Basic
    verdict: Verdict
    by: str


@dataclass(frozen=True)
class Entry:
    """One claim with everything that was found about it."""

    claim: Claim
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    mutants: tuple[MutantResult, ...]
    weakest: Verdict
    hypotheses: tuple[str, ...]

    @property
    def by_fiat(self) -> bool:
        """A definition without checks: there is nothing to test, and it weakens nothing that rests on it."""
        return self.claim.kind is Kind.DEFINITION and not self.evidence

    @property
    def surviving_mutants(self) -> tuple[MutantResult, ...]:
        """Mutants that the checks failed to refute: each is a defect of the checks."""
        return tuple(m for m in self.mutants if m.verdict is not Verdict.REFUTED)


@dataclass(frozen=True)
class Ledger:
    """All entries of one run, in order of dependency."""

    profile: str
    entries: tuple[Entry, ...]

    @property
    def summary(self) -> dict[str, int]:
        """How many claims earned each verdict."""
        counts = {verdict.value: 0 for verdict in Verdict}
        for entry in self.entries:
            counts[entry.verdict.value] += 1
        return counts

    @property
    def exit_code(self) -> int:
        """0 all well; 1 a claim of ours refuted or a mutant not refuted; 3 a claim of ours not decided."""
        ours = [e for e in self.entries if e.claim.role is Role.OURS]
        if any(e.verdict is Verdict.REFUTED for e in ours) or any(e.surviving_mutants for e in self.entries):
            return 1
        undecided = (Verdict.INCONCLUSIVE, Verdict.UNTESTED)
        return 3 if any(e.verdict in undecided and not e.by_fiat for e in ours) else 0


def examine(claim: Claim, profile_name: str) -> tuple[Verdict, tuple[Evidence, ...], tuple[MutantResult, ...]]:
    """Run the checks of one claim, then the same checks on each of its mutants until one refutes it."""
    profile = PROFILES[profile_name]
    evidence = tuple(check.run(claim, profile) for check in claim.checks)
    verdict = decide(claim.kind, evidence)
    results: list[MutantResult] = []
    for mutant in mutants_of(claim) if claim.checks else ():
        mutated = claim.mutated(mutant)
        found: list[Evidence] = []
        for check in claim.checks:
            found.append(check.run(mutated, profile))
            if found[-1].outcome is Outcome.REFUTES:
                break
        decided = decide(claim.kind, found)
        by = found[-1].check if decided is Verdict.REFUTED else ""
        results.append(MutantResult(mutant.name, mutant.statement, decided, by))
    return verdict, evidence, tuple(results)


def examine_module(
    module: str, profile_name: str, ids: frozenset[str]
) -> list[tuple[str, Verdict, tuple[Evidence, ...], tuple[MutantResult, ...]]]:
    """Examine the claims of one module that are among ``ids``; one unit of parallel work."""
    return [(c.id, *examine(c, profile_name)) for c in claims_of(module) if c.id in ids]


def run(
    profile_name: str,
    ids: Iterable[str] | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
) -> Ledger:
    """Run the ledger, or the claims ``ids`` with all they rest on. Raises LedgerError for an unknown id."""
    if profile_name not in PROFILES:
        raise LedgerError(f"profile {profile_name!r} is not known: one of {', '.join(PROFILES)}, for example quick")
    claims = all_claims()
    chosen = _closure(claims, ids)
    found: dict[str, tuple[Verdict, tuple[Evidence, ...], tuple[MutantResult, ...]]] = {}

    def record(module: str, results: list[Any]) -> None:
        found.update({id_: (verdict, evidence, mutants) for id_, verdict, evidence, mutants in results})
        if progress:
            progress(module)

    modules = [m for m in MODULES if any(c.id in chosen for c in claims_of(m))]
    if executor is None:
        for module in modules:
            record(module, examine_module(module, profile_name, chosen))
    else:
        futures = {executor.submit(examine_module, m, profile_name, chosen): m for m in modules}
        for future in as_completed(futures):
            record(futures[future], future.result())

    entries: dict[str, Entry] = {}
    for claim in ordered([c for c in claims if c.id in chosen]):
        verdict, evidence, mutants = found[claim.id]
        beneath = [entries[used] for used in claim.uses]
        own = [*claim.domain.hypotheses, *(h for e in evidence if isinstance(e, Proof) for h in e.hypotheses)]
        hypotheses = dict.fromkeys([*own, *(h for e in beneath for h in e.hypotheses)])
        links = [verdict, *(e.weakest for e in beneath if not e.by_fiat)]
        entries[claim.id] = Entry(claim, verdict, evidence, mutants, weakest(links), tuple(hypotheses))
    return Ledger(profile_name, tuple(entries.values()))


def _closure(claims: Sequence[Claim], ids: Iterable[str] | None) -> frozenset[str]:
    by_id = {claim.id: claim for claim in claims}
    if ids is None:
        return frozenset(by_id)
    pending, chosen = list(ids), set[str]()
    while pending:
        current = pending.pop()
        if current not in by_id:
            raise LedgerError(f"no claim is called {current!r}; `onestep claims` lists them")
        if current not in chosen:
            chosen.add(current)
            pending.extend(by_id[current].uses)
    return frozenset(chosen)


def as_json(ledger: Ledger) -> dict[str, Any]:
    """The ledger as one JSON document, without clock, host or timing."""
    from importlib.metadata import version

    return {
        "claims": [_entry_json(entry) for entry in ledger.entries],
        "summary": ledger.summary,
        "mutants": {
            "tested": sum(len(e.mutants) for e in ledger.entries),
            "refuted": sum(len(e.mutants) - len(e.surviving_mutants) for e in ledger.entries),
        },
        "provenance": {"suite": version("onestep"), "profile": ledger.profile, "sympy": sp.__version__},
    }


def dumps(ledger: Ledger) -> str:
    """The ledger as text: keys in a fixed order, one newline at the end."""
    return json.dumps(as_json(ledger), indent=1, ensure_ascii=False, allow_nan=False) + "\n"


def statement_latex(claim: Claim) -> str:
    """The statement of a claim in LaTeX, rendered from the relation itself."""
    from derivations.language.rendering import latex

    return latex(claim.statement)


def _entry_json(entry: Entry) -> dict[str, Any]:
    claim = entry.claim
    return {
        "id": claim.id,
        "title": claim.title,
        "source": str(claim.source),
        "equations": list(claim.source.equations),
        "kind": claim.kind.value,
        "role": claim.role.value,
        "statement": statement_latex(claim),
        "uses": list(claim.uses),
        "hypotheses": list(entry.hypotheses),
        "verdict": entry.verdict.value,
        "weakest": entry.weakest.value,
        "evidence": [evidence_json(e) for e in entry.evidence],
        "mutants": [{"name": m.name, "verdict": m.verdict.value, "by": m.by} for m in entry.mutants],
    }


def evidence_json(evidence: Evidence) -> dict[str, Any]:
    """One piece of evidence: what decides, and no number that rounding alone could move."""
    common = {"check": evidence.check, "type": type(evidence).__name__, "outcome": evidence.outcome.value}
    match evidence:
        case Proof(obligations=obligations):
            return common | {"obligations": [{"says": o.says, "outcome": o.outcome.value} for o in obligations]}
        case Certificate(points=points, allowed_width=width):
            return common | {"points": points, "width_at_most": width}
        case Agreement(points=points, tolerance=tolerance, reason=reason):
            return common | {"points": points, "tolerance": tolerance, "reason": reason}
        case FiniteSize(experiments=experiments, z=z, threshold=threshold, smallest_detectable=detectable):
            return common | {
                "experiments": experiments,
                "z": round(z, 2),
                "threshold": round(threshold, 3),
                "smallest_detectable": float(f"{detectable:.2g}"),
            }


# Simulations repeat on another machine up to rounding, which a chaotic bit of linear algebra may amplify a little.
Z_DRIFT = 0.05
RELATIVE_DRIFT = 0.05


def drift(committed: Mapping[str, Any], fresh: Mapping[str, Any]) -> list[str]:
    """How two ledgers differ, as sentences; empty if they agree.

    Verdicts, statements, obligations and point counts are compared exactly, z-scores within ``Z_DRIFT``, detectable
    errors within ``RELATIVE_DRIFT``.
    """
    old = {c["id"]: c for c in committed["claims"]}
    new = {c["id"]: c for c in fresh["claims"]}
    findings = [f"{i}: in the committed ledger only" for i in old if i not in new]
    findings += [f"{i}: not in the committed ledger" for i in new if i not in old]
    for id_ in (i for i in new if i in old):
        findings += [f"{id_}: {difference}" for difference in _differences(old[id_], new[id_])]
    if committed.get("provenance", {}).get("profile") != fresh.get("provenance", {}).get("profile"):
        findings.append("the two ledgers were made under different profiles")
    return findings


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            difference
            for key in dict.fromkeys([*old, *new])
            for difference in _differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [d for i, (a, b) in enumerate(zip(old, new, strict=True)) for d in _differences(a, b, f"{path}[{i}]")]
    if isinstance(old, float) and isinstance(new, float):
        allowed = Z_DRIFT if path.endswith(".z") else RELATIVE_DRIFT * max(abs(old), abs(new))
        if path.endswith((".z", ".smallest_detectable")) and abs(old - new) <= allowed:
            return []
    return [] if old == new else [f"{path} was {old!r}, is {new!r}"]
