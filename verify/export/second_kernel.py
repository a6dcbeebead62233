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
from typing import Any, Protocol, runtime_checkable

from onestep.derivations.kernel.theorem import Theorem
from onestep.verify.checks.digest import digest
from onestep.verify.export.files import ASKED, SLIPS, UNPROVED, files, groups
from onestep.verify.export.preamble import AVERAGE_AXIOMS, REAL_AXIOMS, SLOPE_AXIOMS
from onestep.verify.export.rocq import Exported
from onestep.verify.protocol.claim import Claim

LIBRARY, EXPECTED = "Proofs", "expected.json"
MISSING = "coqc is not installed, so that no second kernel looked at the proofs; the Debian package coq has it."


class Differs(Exception):
    """The second kernel does not say what was expected of it."""


@dataclass(frozen=True)
class Checked:
    """The axioms of all theorems, as Rocq prints them, the theorems that rest on no lemma which it does not prove, and
    these lemmas.
    """

    axioms: frozenset[str]
    theorems: frozenset[str]
    refused: tuple[str, ...]


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


def write(
    export: Exported, found: Mapping[str, tuple[Theorem, ...]], directory: Path, whole: bool = False
) -> tuple[Path, ...]:
    """The files of lemmas and slips, and what each theorem may rest on; ``whole``: they are of all claims."""
    written = files(export)
    for file in written:
        path = directory / f"{file.module}.v"
        if not path.is_file() or path.read_text(encoding="utf-8") != file.text:  # what is as it was is not asked again
            path.write_text(file.text, encoding="utf-8")
    document = {
        "whole": whole,
        "files": {file.module: file.requires for file in written},
        "asked": groups(export.theorems),
        "axioms": {name: sorted(axioms) for name, axioms in export.expected.items()},
        "theorems": export.theorems,
        "premises": {lemma.name: lemma.premises for lemma in export.lemmas},
        "digests": {id_: [digest(theorem) for theorem in made] for id_, made in found.items()},
        "lemmas": len(export.lemmas),
        "inferences": sum(len(lemma.steps) for lemma in export.lemmas),
        "assumed": sum(any(a.startswith("rule_") for a in lemma.axioms) for lemma in export.lemmas),
        "by axiom": export.by_axiom,
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


def version() -> str:
    """Which Rocq is asked."""
    return _asked(["coqc", "--print-version"], Path()).split()[0]


def check(directory: Path, done: Callable[[str], None] = lambda _: None) -> Checked:
    """What Rocq says of written files: it is asked of all that have changed, as many at a time as there are processors.

    Raises Differs where it refuses a file, accepts a slip, or a theorem rests on other axioms than expected.
    """
    written = expected(directory)
    anew = compile_all(directory, written["files"], done)
    said = {module: (directory / f"{module}.out").read_text(encoding="utf-8") for module in written["files"]}
    lemmas = [module for module in anew if not module.startswith(SLIPS)]
    if lemmas and shutil.which("coqchk") is not None:
        only = [word for module in lemmas for word in ("-norec", f"{LIBRARY}.{module}")]
        _asked(["coqchk", "-silent", "-R", ".", LIBRARY, *only], directory)
    asked = zip(written["asked"], assumptions(said[ASKED]), strict=True)
    found = {tuple(names): axioms for names, axioms in asked}
    compare(found, written["axioms"])
    refused = [name for text in said.values() for name in re.findall(rf"^{UNPROVED} (n\d+)$", text, re.MULTILINE)]
    lacking = set(refused)
    for lemma, premises in written["premises"].items():  # premises stand before what follows from them
        if lacking.intersection(premises):
            lacking.add(lemma)
    proved = frozenset(name for name, lemma in written["theorems"].items() if lemma not in lacking)
    return Checked(frozenset().union(*found.values()), proved, tuple(refused))


def compile_all(
    directory: Path, requires: Mapping[str, Sequence[str]], done: Callable[[str], None] = lambda _: None
) -> list[str]:
    """Compile what is not compiled as it stands, each file after those that it requires; the files compiled."""
    pending, ready, anew = dict(requires), set[str](), list[str]()
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        running: dict[Future[bool], str] = {}
        while pending or running:
            for module in [m for m, needs in pending.items() if ready.issuperset(needs)]:
                running[pool.submit(_compile, directory, module, pending.pop(module))] = module
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                module = running.pop(future)
                anew += [module] if future.result() else []
                ready.add(module)
                done(module)
    return anew


def _compile(directory: Path, module: str, requires: Sequence[str]) -> bool:
    source, made, said = (directory / f"{module}.{end}" for end in ("v", "vo", "out"))
    before = [source, *(directory / f"{other}.vo" for other in requires)]
    if made.is_file() and said.is_file() and all(p.stat().st_mtime < made.stat().st_mtime for p in before):
        return False
    said.write_text(_asked(["coqc", "-q", "-R", ".", LIBRARY, f"{module}.v"], directory), encoding="utf-8")
    return True


def replayed(checked: Checked, digests: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The digests of the claims whose theorems rest on no lemma that Rocq did not prove."""
    proved = Counter(name.partition(" ")[0] for name in checked.theorems)
    return {id_: of for id_, of in digests.items() if proved[id_] == len(of)}


def _asked(command: list[str], directory: Path) -> str:
    done = subprocess.run(command, cwd=directory, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise Differs(f"{command[0]} refuses the file: {' '.join((done.stderr or done.stdout).split())[:300]}")
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


def compare(found: Mapping[tuple[str, ...], frozenset[str]], expected: Mapping[str, Iterable[str]]) -> None:
    """Raises Differs unless theorems together rest on just the axioms expected of each, or on no others where one is
    not proved; signs of symbols, the laws of averages and the real numbers may be among them.
    """
    free = {*AVERAGE_AXIOMS, *SLOPE_AXIOMS, *REAL_AXIOMS, UNPROVED}
    for names, printed in found.items():
        axioms = frozenset().union(*(expected[name] for name in names))
        others = {a for a in printed if not a.startswith("sign_") and a not in free}
        surplus, lacking = sorted(others - axioms), sorted(axioms - others if UNPROVED not in printed else ())
        if surplus or lacking:
            told = f"{surplus or 'nothing'} beside what was expected, and not on {lacking}"
            raise Differs(f"{', '.join(names)}: rests on {told}")
