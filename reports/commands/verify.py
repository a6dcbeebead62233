"""giantsteps verify: run the ledger of claims, or some claims with all they rest on, or search the properties."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from giantsteps.reports.command_line.console import Chapters, Output, Progress, table
from giantsteps.reports.command_line.options import common_options, option, profile_option
from giantsteps.reports.command_line.papers import paper_of, paper_option
from giantsteps.reports.command_line.problems import DONE, FAILED, UNDECIDED, InputProblem, check_writable
from giantsteps.reports.command_line.values import parse_whole

if TYPE_CHECKING:
    from collections.abc import Sequence

    from giantsteps.verify.ledger.run import Entry, Ledger
    from giantsteps.verify.properties.run import Outcome
    from giantsteps.verify.protocol.claim import Claim
    from giantsteps.verify.protocol.paper import Paper

HELP = """\b
Examples:
  giantsteps verify
  giantsteps verify result-3-1.spike-strength result-3-1.alignment
  giantsteps verify result-3-1
  giantsteps verify --profile thorough --json
  giantsteps verify result-3-1.spike-strength --seed 7
  giantsteps verify result-3-1.alignment --export rocq build/rocq
  giantsteps verify --properties limits.narrow

Run the ledger: every check of every claim, and the same checks on its mutants, each of which has to be refuted. CLAIM
is an id or the beginning of ids; these claims and all claims they rest on are run. --export runs nothing: it writes the
theorems of the claims for a second kernel, as files of Rocq, with a list of the assumptions of each.

The committed ledger uses fixed seeds. With --seed all points and simulations are drawn anew: a simulation then REFUTES
a correct claim once in a thousand, and a claim or a mutant near the threshold of power may become INCONCLUSIVE. Such a
ledger records its seed and never replaces the committed one.

Columns: "mutants" counts the mutants of a claim that its checks refute together; "alone" counts those that the check
which earned the verdict refutes alone, generic mutants (five per cent more, a term dropped) included.

--properties tests properties instead (limits with their rates, orderings, invariances, state machines ...), all or
those whose names begin so. Models are drawn at random, the search looks for the narrowest margin, and a failing example
is shrunk and printed as a command. --seed draws other models.

Exit code 0 if the verdicts are as in the committed ledger, in which three claims are INCONCLUSIVE, and no claim of ours
is refuted; 1 if a claim of ours is refuted, a mutant is not refuted, a claim is undecided that the committed ledger
decides, or a property fails; 3 if a claim is undecided with another seed, or a property is undecided. A refuted formula
of a source is a finding, not an error.
"""


@click.command(help=HELP)
@click.argument("claims", nargs=-1, metavar="[CLAIM ...]")
@profile_option
@click.option(
    "--export",
    nargs=2,
    type=(click.Choice(["rocq"]), str),
    metavar="rocq DIR",
    help="Write the proofs into DIR for a second kernel.",
)
@click.option("--properties", is_flag=True, help="Search the properties, all or those named.")
@option("--seed", "N", "Draw afresh, N to 10^6 (default 0: the draws of the committed ledger).")
@paper_option
@common_options
def verify(
    out: Output,
    claims: tuple[str, ...],
    profile: str,
    export: tuple[str, str] | None,
    properties: bool,
    seed: str | None,
    paper: str | None,
) -> int:
    """Run the ledger, or the properties, and print what was found; the exit code."""
    if export is not None and (properties or seed is not None):
        raise InputProblem(
            f"--export rocq and --{'properties' if properties else 'seed'} were both given: one of them is accepted, "
            f"for example giantsteps verify --{'properties' if properties else 'seed 7'}"
        )
    if properties and paper is not None:
        raise InputProblem(
            "--properties and --paper were both given; the properties are those of the built-in paper, for example "
            "giantsteps verify --properties"
        )
    if properties:
        return search_properties(claims, profile, seed, out)
    start = 0 if seed is None else parse_whole("seed", seed, 0, 10**6, "7")
    from giantsteps.reports.command_line.claim_ids import find
    from giantsteps.reports.text.ledger_files import committed
    from giantsteps.verify.ledger.document import as_json as ledger_json
    from giantsteps.verify.protocol.order import collected

    with paper_of(paper) as of:
        known = collected(of.modules)
        named = list(dict.fromkeys(claim for id_ in claims for claim in find(known, id_, of.option)))
        if export is not None:
            return export_proofs(tuple(named or known), Path(export[1]), out)
        ledger = run_ledger(of, profile, [claim.id for claim in named] or None, out.quiet, start)
    reasons = [] if of.option == "" or out.as_json else short_of_a_proof(ledger)
    out.tell(lambda: ledger_json(ledger), lambda: "\n".join([ledger_table(ledger), *reasons]))
    return ledger.exit_code(committed(of.ledger))


def short_of_a_proof(ledger: Ledger) -> list[str]:
    """Why the derivations of claims that are DERIVED are no theorems, one line each."""
    from giantsteps.verify.checks.proofs import ByDerivation, sought
    from giantsteps.verify.protocol.verdict import Verdict

    derived = [entry.claim for entry in ledger.entries if entry.verdict is Verdict.DERIVED]
    checks = [(claim, check) for claim in derived for check in claim.checks if isinstance(check, ByDerivation)]
    found = [(claim.id, sought(check.build(), claim.statement)) for claim, check in checks]
    return [f"{id_} is DERIVED, not PROVED: {why}" for id_, why in found if isinstance(why, str)]


def export_proofs(claims: tuple[Claim, ...], directory: Path, out: Output) -> int:
    """Write the theorems of claims as a file of Rocq and say where; the exit code."""
    from giantsteps.reports.commands.kernel import export

    check_writable(directory, "--export rocq")
    files, theorems, lemmas = export(claims, directory, out.quiet)
    names = [os.path.relpath(path) for path in files]
    out.tell(
        {"files": names, "theorems": theorems, "lemmas": lemmas},
        lambda: "\n".join([f"{theorems} theorems, {lemmas} lemmas", *names]),
    )
    return DONE


def search_properties(names: tuple[str, ...], profile: str, seed: str | None, out: Output) -> int:
    """Search the properties named, or all of them, and print the narrowest margins; the exit code."""
    from tempfile import TemporaryDirectory

    from giantsteps.reports.command_line.machine.workers import environment, pool
    from giantsteps.verify.properties.run import SEED, meant, named, run

    for name in names:
        if not named(name):
            raise InputProblem(
                f"no property is called {name[:80]!a}; their names, which may be cut short, are accepted, for example "
                f"{', '.join(meant(name))}"
            )
    wanted = list(dict.fromkeys(found for name in names or ("",) for found in named(name)))
    start = SEED if seed is None else parse_whole("seed", seed, 0, 2**31, "0")
    progress = out.progress("searching properties", len(wanted))
    # Hypothesis keeps what it learns of Unicode in a folder, by default .hypothesis in the current one.
    name = "HYPOTHESIS_STORAGE_DIRECTORY"
    with (
        TemporaryDirectory() as folder,
        environment({name: os.environ.get(name, folder)}),
        progress,
        pool() as executor,
    ):
        found = run(wanted, profile, start, executor, progress.step)
    drawn = f"drawn afresh with seed {start}, profile {profile}" if start != SEED else f"profile {profile}"
    out.tell({"properties": [outcome_document(one) for one in found]}, lambda: f"{properties_table(found)} ({drawn})")
    outcomes = {one.outcome for one in found}
    return FAILED if "fails" in outcomes else UNDECIDED if "undecided" in outcomes else DONE


def outcome_document(found: Outcome) -> dict[str, Any]:
    """What a search found, as plain data."""
    names = ("name", "claim", "examples", "narrowest_margin", "outcome", "counterexample")
    return {name: getattr(found, name) for name in names}


def properties_table(found: Sequence[Outcome]) -> str:
    """Every property with its examples and the narrowest margin; then what failed, and the command that shows it."""
    rows = [[one.name, one.outcome, str(one.examples), _margin(one.narrowest_margin), one.claim] for one in found]
    listed = table(rows, ["property", "outcome", "examples", "narrowest margin", "claim"])
    failed = [
        f"{one.name} fails: {one.sentence} {one.trouble}\n  {one.counterexample}"
        for one in found
        if one.outcome == "fails"
    ]
    examples = sum(one.examples for one in found)
    total = f"{sum(one.outcome == 'holds' for one in found)} of {len(found)} properties hold on {examples} examples"
    return "\n".join([listed, "", *failed, *([""] if failed else []), total])


def _margin(margin: float | None) -> str:
    return "-" if margin is None else f"{margin:.2g}"


def run_ledger(paper: Paper, profile: str, ids: list[str] | None, quiet: bool, seed: int = 0) -> Ledger:
    """Run the ledger of a paper on all cores, with progress; a seed other than 0 draws afresh."""
    from giantsteps.reports.command_line.machine.workers import pool
    from giantsteps.verify.ledger.run import run

    units = len(paper.modules)
    said = Chapters(paper.modules, quiet)

    def arrived(module: str) -> None:
        said.arrived(module)
        progress.step(module.rsplit(".", 1)[-1])

    with Progress("checking claims", units, quiet=quiet) as progress, pool(near=paper.modules) as executor:
        return run(paper, profile, ids, executor, arrived, seed=seed)


def ledger_table(ledger: Ledger) -> str:
    """The verdicts, then what went wrong, then the totals."""
    from giantsteps.reports.commands.claims import verdict_table
    from giantsteps.verify.ledger.document import as_json as ledger_json

    found = remarks(ledger)
    fresh = [f"drawn afresh with seed {ledger.seed}: not the draws of the committed ledger"] if ledger.seed else []
    listed = verdict_table(ledger_json(ledger)["claims"], alone=True)
    return "\n".join([listed, "", *found, *([""] if found else []), *fresh, ledger_summary(ledger)])


def remarks(ledger: Ledger) -> list[str]:
    """What keeps the ledger from passing, one line each."""
    return [line for entry in ledger.entries for line in troubles(entry)]


def ledger_summary(ledger: Ledger) -> str:
    """The totals in one line, and which of the untested hold by definition."""
    from giantsteps.reports.commands.claims import totals

    tested = sum(len(entry.mutants) for entry in ledger.entries)
    survived = sum(len(entry.surviving_mutants) for entry in ledger.entries)
    by_fiat = sum(entry.by_fiat for entry in ledger.entries)
    remark = f"; {by_fiat} of the UNTESTED are definitions, with nothing to test" if by_fiat else ""
    return f"{totals(ledger.summary)}; {tested - survived} of {tested} mutants refuted{_alone(ledger)}{remark}"


def _alone(ledger: Ledger) -> str:
    """Which kinds of evidence refute how many mutants by themselves; a proof's are counted apart."""
    from giantsteps.reports.text.words import EVIDENCE
    from giantsteps.verify.ledger.document import alone

    counts = alone(ledger)
    listed = [
        f"{words} {counts[type_]['caught']} of {counts[type_]['tried']}"
        for type_, words in EVIDENCE.items()
        if type_ in counts
    ]
    return f", alone by {', '.join(listed)}" if listed else ""


def troubles(entry: Entry) -> list[str]:
    """What keeps a claim from passing, one line each; nothing does for a definition without checks."""
    from giantsteps.reports.text.words import caught_words
    from giantsteps.verify.ledger.document import power_json
    from giantsteps.verify.protocol.claim import Role
    from giantsteps.verify.protocol.verdict import Verdict

    lines = []
    if (
        entry.claim.role is Role.OURS
        and not entry.by_fiat
        and entry.verdict in (Verdict.REFUTED, Verdict.INCONCLUSIVE, Verdict.UNTESTED)
    ):
        found = [f"{e.check}: {e.summary}" for e in entry.evidence if e.outcome.value != "supports"]
        if entry.power is not None and not entry.power.enough:
            found.append(f"{entry.power.earned_by}: {caught_words(power_json(entry.power) or {})}")
        lines += [f"{entry.claim.id} is {entry.verdict.value}: {text}" for text in found or ["no fit evidence"]]
    lines += [
        f"{entry.claim.id}: the mutant '{m.name}' is {m.verdict.value}, and has to be REFUTED"
        for m in entry.surviving_mutants
    ]
    return lines
