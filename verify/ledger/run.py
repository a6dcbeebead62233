"""The ledger: all claims, ordered by dependency, run, with their verdicts; written down and compared.

It holds no clock, host or timing, so that on one machine the same claims give the same file byte for byte.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from giantsteps.verify.checks.evaluate import Place
from giantsteps.verify.checks.mutants import Placed, generic_mutants, mutants_of
from giantsteps.verify.protocol.claim import PROFILES, Check, Claim, Kind, Mutant, Profile, Role
from giantsteps.verify.protocol.evidence import OF_A_THEOREM, Evidence, Outcome, Proof
from giantsteps.verify.protocol.order import LedgerError, claims_of, collected, ordered
from giantsteps.verify.protocol.paper import Paper, given_words
from giantsteps.verify.protocol.papers import examining
from giantsteps.verify.protocol.power import WEIGHED, MutantResult, Power, power, weighed
from giantsteps.verify.protocol.verdict import Verdict, decide, on_trial, weakest


class Given(NamedTuple):
    """What a claim rests on that is weaker than its own verdict: in words, and the claims that it meets first."""

    words: str = ""
    claims: tuple[str, ...] = ()


# Of a claim that rests on nothing weaker than itself.
NOTHING = Given()


class Examined(NamedTuple):
    """What was found about one claim."""

    verdict: Verdict
    evidence: tuple[Evidence, ...]
    mutants: tuple[MutantResult, ...]
    power: Power | None


@dataclass(frozen=True)
class Entry:
    """One claim with everything that was found about it."""

    claim: Claim
    verdict: Verdict
    evidence: tuple[Evidence, ...]
    mutants: tuple[MutantResult, ...]
    weakest: Verdict
    hypotheses: tuple[str, ...]
    power: Power | None = None
    given: Given = NOTHING

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
    """All entries of one run, in order of dependency; ``seed`` other than 0 where its draws are fresh ones."""

    profile: str
    entries: tuple[Entry, ...]
    seed: int = 0

    @property
    def summary(self) -> dict[str, int]:
        """How many claims earned each verdict."""
        counts = {verdict.value: 0 for verdict in Verdict}
        for entry in self.entries:
            counts[entry.verdict.value] += 1
        return counts

    @property
    def undecided(self) -> tuple[Entry, ...]:
        """Our claims without a verdict that decides; definitions have nothing to decide."""
        without = (Verdict.INCONCLUSIVE, Verdict.UNTESTED)
        return tuple(e for e in self.entries if e.claim.role is Role.OURS and e.verdict in without and not e.by_fiat)

    def exit_code(self, committed: Mapping[str, Any] | None = None) -> int:
        """0 where nothing is refuted that has to hold and verdicts are as in the committed ledger.

        1 where a claim of ours is refuted, a mutant is not refuted, or a claim is undecided that the committed ledger
        decides; 3 where one is undecided and there is no committed ledger to say that it was, or all was drawn afresh.
        """
        refuted = any(e.verdict is Verdict.REFUTED and e.claim.role is Role.OURS for e in self.entries)
        if refuted or any(e.surviving_mutants for e in self.entries):
            return 1
        known = {claim["id"]: claim["verdict"] for claim in (committed or {"claims": ()})["claims"]}
        new = [e for e in self.undecided if known.get(e.claim.id) != e.verdict.value]
        return 0 if not new else 1 if committed is not None and not self.seed else 3


def examine(claim: Claim, profile_name: str, paper: Paper, seed: int = 0) -> Examined:
    """Run the checks of one claim of ``paper``, then each of them on each of its mutants.

    What confirms a claim, or stands beside its derivation, is tried on generic mutants beside its own, and has to catch
    enough of either kind, and each that was written for the claim. With a ``seed`` other than 0 all that is drawn is
    drawn afresh.
    """
    profile = replace(PROFILES[profile_name], seed=seed)
    with examining(claim.id, paper):
        evidence = tuple(check.run(claim, profile, paper) for check in claim.checks)
    verdict = decide(claim.kind, evidence)
    tried = {e.check for e in on_trial(claim.kind, evidence)}
    checks = [check for check in claim.checks if check.name in tried]
    mutants = mutants_of(claim, paper.siblings) if claim.checks else ()
    results = tuple(_tried(claim, mutant, claim.checks, profile, paper) for mutant in mutants)
    generic: list[MutantResult] = []
    if verdict in WEIGHED:
        known = {mutant.statement for mutant in mutants}
        for mutant in generic_mutants(claim, _places(checks, claim, profile), paper):
            if mutant.statement not in known:
                generic.append(_tried(claim, mutant, checks, profile, paper))
    found = power([check.name for check in checks], results, generic)
    return Examined(weighed(verdict, found), evidence, results, found)


def _places(checks: Sequence[Check], claim: Claim, profile: Profile) -> tuple[Place, ...]:
    """Where checks test a statement."""
    return tuple(place for check in checks if isinstance(check, Placed) for place in check.places(claim, profile))


# What a check raises for a statement that it does not test: of another sort, about what it does not measure, without a
# value where it is evaluated.
UNASKED = (TypeError, ValueError, LookupError, ArithmeticError)


def _tried(claim: Claim, mutant: Mutant, checks: Sequence[Check], profile: Profile, paper: Paper) -> MutantResult:
    """A mutant before each of some checks of a claim; one that cannot be asked about it does not catch it."""
    mutated = claim.mutated(mutant)
    found: list[Evidence] = []
    for check in checks:
        with contextlib.suppress(*UNASKED):
            found.append(check.run(mutated, profile, paper))
    caught_by = tuple(e.check for e in found if e.outcome is Outcome.REFUTES)
    written = any(mutant is one for one in claim.mutants)
    return MutantResult(mutant.name, mutant.statement, decide(mutated.kind, found), caught_by, written)


def _made(_name: str, function: Callable[..., Any], *args: Any) -> Any:
    """A unit of work that is not kept."""
    return function(*args)


@dataclass(frozen=True)
class Beside:
    """What is asked of each module, and of what was found about its claims by id, in the process that examined them:
    what these have built is there alone.

    ``unit`` runs a named unit of work, or has what it made before.
    """

    ask: Callable[[str, Mapping[str, Examined], Paper], Any]
    answers: dict[str, Any] = field(default_factory=dict)
    unit: Callable[..., Any] = _made


def examine_module(
    module: str,
    profile_name: str,
    ids: frozenset[str],
    paper: Paper,
    ask: Callable[[str, Mapping[str, Examined], Paper], Any] | None = None,
    seed: int = 0,
) -> tuple[list[tuple[str, Examined]], Any]:
    """Examine the claims of one module that are among ``ids``, and ask of it what is asked beside; one unit of parallel
    work.
    """
    found = [(c.id, examine(c, profile_name, paper, seed)) for c in claims_of(module) if c.id in ids]
    return found, ask(module, dict(found), paper) if ask is not None else None


def run(
    paper: Paper,
    profile_name: str,
    ids: Iterable[str] | None = None,
    executor: Executor | None = None,
    progress: Callable[[str], None] | None = None,
    beside: Beside | None = None,
    seed: int = 0,
) -> Ledger:
    """Run the claims of a paper, or of them ``ids`` with all they rest on. Raises LedgerError for an unknown id.

    What ``beside`` asks of the modules that are needed is answered there. A ``seed`` other than 0 draws afresh.
    """
    if profile_name not in PROFILES:
        raise LedgerError(f"profile {profile_name!r} is not known: one of {', '.join(PROFILES)}, for example quick")
    claims = collected(paper.modules)
    chosen = _closure(claims, ids)
    found: dict[str, Examined] = {}

    ask, unit = (None, _made) if beside is None else (beside.ask, beside.unit)

    def record(module: str, examined: tuple[list[tuple[str, Examined]], Any]) -> None:
        results, answer = examined
        found.update(results)
        if beside is not None:
            beside.answers[module] = answer
        if progress:
            progress(module)

    known = {claim.id: claim for claim in claims}
    pending = chosen
    while pending:
        needed = [m for m in paper.modules if any(c.id in pending for c in claims_of(m))]
        asked = f"{profile_name} {seed} {hashlib.sha256(' '.join(sorted(pending)).encode()).hexdigest()}"
        given = (profile_name, pending, paper, ask, seed)
        work: dict[str, tuple[Any, ...]] = {m: (f"{m} {asked}", examine_module, m, *given) for m in needed}
        if executor is None:
            for module, arguments in work.items():
                record(module, unit(*arguments))
        else:
            # Workers that keep to neighbours (of the paper, which build on the same) begin far from each other.
            futures = {executor.submit(unit, *work[m]): m for m in spread(needed)}
            for future in as_completed(futures):
                record(futures[future], future.result())
        # The claims that theorems assume have to be known as well.
        for id_ in pending:
            known[id_] = _with_assumptions(known[id_], found[id_].evidence, known)
        pending = _closure(tuple(known.values()), chosen) - chosen
        chosen |= pending

    entries: dict[str, Entry] = {}
    for claim in ordered([c for c in known.values() if c.id in chosen]):
        verdict, evidence, mutants, power_of = found[claim.id]
        beneath = [entries[used] for used in claim.uses]
        own = [*claim.domain.hypotheses, *(h for e in evidence if isinstance(e, Proof) for h in e.hypotheses)]
        # A condition of a theorem is about the domain of its own claim.
        below = (h for e in beneath for h in e.hypotheses if not h.endswith(OF_A_THEOREM))
        hypotheses = dict.fromkeys([*own, *below])
        links = [verdict, *(e.weakest for e in beneath if not e.by_fiat)]
        weak = weakest(links)
        weaker = given_beneath(verdict, weak, beneath, paper)
        entries[claim.id] = Entry(claim, verdict, evidence, mutants, weak, tuple(hypotheses), power_of, weaker)
    return Ledger(profile_name, tuple(entries.values()), seed)


def given_beneath(verdict: Verdict, weak: Verdict, beneath: Sequence[Entry], paper: Paper) -> Given:
    """What a claim is given whose weakest link is weaker than its verdict, of what stands directly beneath it."""
    if weak is verdict:
        return NOTHING
    as_weak = [entry for entry in beneath if entry.weakest is weak and not entry.by_fiat]
    ids = (id_ for e in as_weak for id_ in (e.given.claims or (e.claim.id,)))
    claims = tuple(dict.fromkeys(ids))
    return Given(given_words(claims, paper.chapters), claims)


def spread(items: Sequence[str]) -> list[str]:
    """The same items, each of the first few far from those before it: the first, the middle, the quarters ..."""
    digits = max(len(items) - 1, 1).bit_length()
    turned = (int(f"{k:0{digits}b}"[::-1], 2) for k in range(1 << digits))
    return [items[k] for k in turned if k < len(items)]


def _with_assumptions(claim: Claim, evidence: Sequence[Evidence], known: Mapping[str, Claim]) -> Claim:
    """A claim that uses the claims its theorems assume, beside those that it lists itself."""
    theorems = [e.theorem for e in evidence if isinstance(e, Proof) and e.theorem is not None]
    claims = [assumed.claim for theorem in theorems for assumed in theorem.assumptions if assumed.claim in known]
    return replace(claim, uses=tuple(dict.fromkeys([*claim.uses, *claims])))


def _closure(claims: Sequence[Claim], ids: Iterable[str] | None) -> frozenset[str]:
    by_id = {claim.id: claim for claim in claims}
    if ids is None:
        return frozenset(by_id)
    pending, chosen = list(ids), set[str]()
    while pending:
        current = pending.pop()
        if current not in by_id:
            raise LedgerError(f"no claim is called {current!r}; `giantsteps claims` lists them")
        if current not in chosen:
            chosen.add(current)
            pending.extend(by_id[current].uses)
    return frozenset(chosen)
