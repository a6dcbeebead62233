"""What Rocq says of an exported file: whether it accepts the lemmas, and which axioms the theorems rest on."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path
from signal import SIGKILL, SIGSEGV, SIGXCPU
from typing import Any, Protocol, runtime_checkable

from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.verify.checks.digest import digest
from giantsteps.verify.export.files import AT, CERTIFICATE, GAUSSIAN, LATE, OPTIONAL, SLIPS, UNPROVED, files, given_up
from giantsteps.verify.export.preamble import LAW_AXIOMS, REAL_AXIOMS
from giantsteps.verify.export.rocq import Exported
from giantsteps.verify.protocol.claim import Claim

LIBRARY, EXPECTED = "Proofs", "expected.json"
# Processor seconds of one file, and kilobytes: some ten times what the slowest takes, so that only what never ends is
# given up.
LIMIT, MEMORY = 600, 8_000_000
_Printed = Mapping[tuple[str, ...], frozenset[str]]
MISSING = "coqc is not installed, so that no second kernel looked at the proofs; the Debian package coq has it."


class Differs(Exception):
    """The second kernel does not say what was expected of it."""


@dataclass(frozen=True)
class Checked:
    """What Rocq says: of which theorems it was asked, the axioms of all of these, as it prints them, which of them rest
    on no lemma that it does not prove, the lemmas that it does not prove, how many slips it was asked to refuse, and
    the lemmas that it was not asked about to the end, or whose slips it was not, since they take too long.
    """

    asked: tuple[str, ...]
    axioms: frozenset[str]
    theorems: frozenset[str]
    refused: tuple[str, ...] = ()
    slips: int = 0
    late: tuple[str, ...] = ()


@runtime_checkable
class _Proves(Protocol):
    """A way to get evidence that has theorems of the kernel to show."""

    def theorems(self, claim: Claim) -> tuple[Theorem, ...]: ...


def theorems(claims: Iterable[Claim]) -> dict[str, tuple[Theorem, ...]]:
    """The theorems that the kernel makes of each claim, or of its parts, by the id of the claim."""
    found: dict[str, tuple[Theorem, ...]] = {}
    for claim in claims:
        for check in claim.checks:
            if claim.id not in found and isinstance(check, _Proves) and (made := check.theorems(claim)):
                found[claim.id] = made
    return found


def named(found: Mapping[str, tuple[Theorem, ...]]) -> dict[str, Theorem]:
    """A name for each theorem: the id of its claim, and a number where there are several."""
    return {
        f"{id_} {k}" if len(made) > 1 else id_: theorem for id_, made in found.items() for k, theorem in enumerate(made)
    }


def write(export: Exported, found: Mapping[str, tuple[Theorem, ...]], directory: Path) -> tuple[Path, ...]:
    """The files of lemmas and slips, and what each theorem may rest on, laws of averages if Rocq has no proof here."""
    missing = [module for module, (library, _) in OPTIONAL.items() if not _has(library)]
    written = files(export, OPTIONAL.keys() - missing)
    for file in written:
        path = directory / f"{file.module}.v"
        if not path.is_file() or path.read_text(encoding="utf-8") != file.text:  # what is as it was is not asked again
            path.write_text(file.text, encoding="utf-8")
    document = {
        "files": {file.module: file.requires for file in written if file.module not in missing},
        "laws": LAW_AXIOMS if GAUSSIAN in missing else (),
        "asked": {file.module: file.asked for file in written if file.asked},
        "axioms": {name: sorted(axioms) for name, axioms in export.expected.items()},
        "theorems": export.theorems,
        "premises": {lemma.name: lemma.premises for lemma in export.lemmas},
        "rules": {lemma.name: [step.rule for step in lemma.steps] for lemma in export.lemmas},
        "assumed": [lemma.name for lemma in export.lemmas if lemma.assumed and lemma.node.rule != "assume"],
        "digests": {id_: [digest(theorem) for theorem in made] for id_, made in found.items()},
    }
    (directory / EXPECTED).write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return (*(directory / f"{file.module}.v" for file in written), directory / EXPECTED)


def expected(directory: Path) -> dict[str, Any]:
    """What was written beside the lemmas."""
    document: dict[str, Any] = json.loads((directory / EXPECTED).read_text(encoding="utf-8"))
    return document


def installed() -> bool:
    """Whether Rocq can be asked."""
    return shutil.which("coqc") is not None


def _has(library: str) -> bool:
    """Whether Rocq finds a library."""
    command = ["coqtop", "-q", "-batch", "-load-vernac-object", library]
    return installed() and _asked(command, Path()).returncode == 0


def version() -> str:
    """Which Rocq is asked."""
    return _accepted(_asked(["coqc", "--print-version"], Path())).split()[0]


def check(
    directory: Path, done: Callable[[str], None] = lambda _: None, keep: Callable[[Checked], None] = lambda _: None
) -> Checked:
    """What Rocq says of written files: it is asked of all that have changed, as many at a time as there are processors.

    First of the lemmas, chapter by chapter, of which ``keep`` is told what it says, then of the slips. Raises Differs
    where it refuses a file, accepts a slip, or a theorem rests on other axioms than expected.
    """
    written = expected(directory)
    slips = {module: needs for module, needs in written["files"].items() if module.startswith(SLIPS)}
    lemmas = {module: needs for module, needs in written["files"].items() if module not in slips}
    chapters: list[Checked] = []

    def told(module: str) -> None:
        if module in written["asked"]:
            chapters.append(_chapter(directory, written, module))
            keep(chapters[-1])
        done(module)

    compile_all(directory, lemmas, told)
    _again(directory, [module for module in lemmas if module != CERTIFICATE])  # whose intervals take it minutes
    compile_all(directory, slips, done, frozenset(lemmas))
    late = {module: _names(LATE, directory, module) for module in written["files"]}
    return Checked(
        tuple(name for of in chapters for name in of.asked),
        frozenset().union(*(of.axioms for of in chapters)),
        frozenset().union(*(of.theorems for of in chapters)),
        tuple(name for module in lemmas for name in _names(UNPROVED, directory, module)),
        sum(len(_names(AT, directory, module)) - len(late[module]) for module in slips),
        tuple(name for names in late.values() for name in names),
    )


def _chapter(directory: Path, written: Mapping[str, Any], module: str) -> Checked:
    """What Rocq says of the theorems of one chapter, by the file in which it is asked of them."""
    questions = [tuple(names) for names in written["asked"][module]]
    said = assumptions((directory / f"{module}.out").read_text(encoding="utf-8"))
    found = dict(zip(questions, said, strict=True))
    compare(found, written["axioms"], written["laws"])
    lacking = {name for below in _below(module, written["files"]) for name in _names(UNPROVED, directory, below)}
    for lemma, premises in written["premises"].items():  # premises stand before what follows from them
        if lacking.intersection(premises):
            lacking.add(lemma)
    asked = tuple(name for names in questions for name in names)
    proved = frozenset(name for name in asked if written["theorems"][name] not in lacking)
    return Checked(asked, frozenset().union(*found.values()), proved)


def _below(module: str, requires: Mapping[str, Sequence[str]]) -> set[str]:
    """A module and all that it rests on."""
    return {module}.union(*(_below(other, requires) for other in requires[module]))


def _names(word: str, directory: Path, module: str) -> list[str]:
    """The lemmas of which Rocq was made to say a word."""
    return re.findall(rf"^{word} (n\d+)$", (directory / f"{module}.out").read_text(encoding="utf-8"), re.MULTILINE)


def _again(directory: Path, modules: Iterable[str]) -> None:
    """Have the checker of compiled files look at those which it has not seen as they are."""
    seen = {module: directory / f"{module}.checked" for module in modules}
    new = [m for m, at in seen.items() if not at.is_file() or _newer(directory / f"{m}.vo", at)]
    if new and shutil.which("coqchk") is not None:
        only = [word for module in new for word in ("-norec", f"{LIBRARY}.{module}")]
        done = _asked(["coqchk", "-silent", "-R", ".", LIBRARY, *only], directory)
        _accepted(done)
        for module in new:
            seen[module].touch()


def _newer(first: Path, second: Path) -> bool:
    return first.stat().st_mtime > second.stat().st_mtime


def compile_all(
    directory: Path,
    requires: Mapping[str, Sequence[str]],
    done: Callable[[str], None] = lambda _: None,
    compiled: Iterable[str] = (),
) -> list[str]:
    """Compile what is not compiled as it stands, each file after those that it requires and that are not ``compiled``;
    the files compiled. What Rocq refuses, here or in ``done``, is raised when all the others are.
    """
    pending, ready, anew = dict(requires), set(compiled), list[str]()
    refused: list[Differs] = []
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running: dict[Future[bool], str] = {}
        while True:
            for module in [m for m, needs in pending.items() if ready.issuperset(needs)]:
                running[pool.submit(_compile, directory, module, pending.pop(module))] = module
            if not running:
                break
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                module = running.pop(future)
                try:
                    anew += [module] if future.result() else []
                    done(module)
                    ready.add(module)
                except Differs as difference:
                    refused.append(difference)
    if refused:
        raise Differs("; ".join(map(str, refused)))
    return anew


def _compile(directory: Path, module: str, requires: Sequence[str]) -> bool:
    source, made, said = (directory / f"{module}.{end}" for end in ("v", "vo", "out"))
    before = [source, *(directory / f"{other}.vo" for other in requires)]
    if made.is_file() and said.is_file() and all(_newer(made, path) for path in before):
        return False
    # Long terms are read by functions that call themselves: the stack may grow as far as the system lets it.
    limits = f"ulimit -St {LIMIT}; ulimit -Sv {MEMORY}; ulimit -s unlimited || true"
    limited = ["sh", "-c", f'{limits}; exec "$@"', "sh"]
    command = [*limited, "coqc", "-q", "-noglob", "-R", ".", LIBRARY, source.name]
    while _exhausted(done := _asked(command, directory)):
        begun = re.findall(rf"^{AT} (n\d+)$", done.stdout, re.MULTILINE)
        if not begun:
            raise Differs(f"{module} takes more than {LIMIT} seconds of processor time, or {MEMORY} kilobytes")
        source.write_text(given_up(source.read_text(encoding="utf-8"), begun[-1]), encoding="utf-8")
    said.write_text(_accepted(done), encoding="utf-8")
    return True


def _exhausted(done: subprocess.CompletedProcess[str]) -> bool:
    """Whether Rocq was stopped, or stopped itself, for want of time, of memory or of room on its stack."""
    return done.returncode in (-SIGXCPU, -SIGKILL, -SIGSEGV) or (
        done.returncode != 0 and re.search(r"Out of memory|Stack overflow", done.stderr, re.IGNORECASE) is not None
    )


def replayed(checked: Checked, digests: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The digests of the claims that Rocq was asked about whose theorems rest on no lemma that it did not prove."""
    proved = Counter(claim(name) for name in checked.theorems)
    return {id_: of for id_, of in digests.items() if proved[id_] == len(of)}


def claim(theorem: str) -> str:
    """The id of the claim that a theorem is of, by its name."""
    return theorem.partition(" ")[0]


def _asked(command: list[str], directory: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)


def _accepted(done: subprocess.CompletedProcess[str]) -> str:
    if done.returncode != 0:
        raise Differs(f"Rocq refuses a file: {' '.join((done.stderr or done.stdout).split())[:300]}")
    return done.stdout


def assumptions(said: str) -> list[frozenset[str]]:
    """What each `Print Assumptions` lists, in order, without parameters, which have a type and say nothing."""
    blocks = re.split(r"^(?:Axioms:|Closed under the global context)\n?", said, flags=re.MULTILINE)[1:]
    return [frozenset(_axioms(block)) for block in blocks]


def _axioms(block: str) -> Iterable[str]:
    # What is continued stands indented.
    for entry in re.split(r"\n(?=\S)", block.strip()):
        name, _, kind = entry.partition(":")
        if name.strip() and not re.fullmatch(r"(\(?R\)?|->|\(R -> R\)|Prop|\s)+", kind.strip()):
            yield name.strip().rpartition(".")[2]


def compare(found: _Printed, expected: Mapping[str, Iterable[str]], laws: Iterable[str] = LAW_AXIOMS) -> None:
    """Raises Differs unless theorems together rest on just the axioms expected of each, or on no others where one is
    not proved; signs of symbols, those laws of averages and the real numbers may be among them.
    """
    free = {*laws, *REAL_AXIOMS, UNPROVED}
    for names, printed in found.items():
        axioms = frozenset().union(*(expected[name] for name in names))
        others = {a for a in printed if not a.startswith("sign_") and a not in free}
        surplus, lacking = sorted(others - axioms), sorted(axioms - others if UNPROVED not in printed else ())
        if surplus or lacking:
            told = f"{surplus or 'nothing'} beside what was expected, and not on {lacking}"
            raise Differs(f"{', '.join(names)}: rests on {told}")
