"""What Rocq says of an exported file: whether it accepts the lemmas, and which axioms the theorems rest on."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from onestep.derivations.kernel.theorem import Theorem
from onestep.verify.checks.digest import digest
from onestep.verify.export.preamble import AVERAGE_AXIOMS, REAL_AXIOMS
from onestep.verify.export.rocq import OPEN, Exported
from onestep.verify.protocol.claim import Claim

MODULE, SLIPS, EXPECTED = "Theorems", "Slips", "expected.json"
MISSING = "coqc is not installed, so that no second kernel looked at the proofs; the Debian package coq has it."


class Differs(Exception):
    """The second kernel does not say what was expected of it."""


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
    """The lemmas, the slips that Rocq has to refuse, and beside them the axioms that each theorem may rest on."""
    files = (directory / f"{MODULE}.v", directory / f"{SLIPS}.v", directory / EXPECTED)
    files[0].write_text(export.text, encoding="utf-8")
    files[1].write_text(export.slips(MODULE), encoding="utf-8")
    document = {
        "axioms": {name: sorted(axioms) for name, axioms in export.expected.items()},
        "digests": {id_: [digest(theorem) for theorem in made] for id_, made in found.items()},
        "lemma digests": export.digests,
        "lemmas": len(export.lemmas),
        "inferences": sum(len(lemma.steps) for lemma in export.lemmas),
        "by axiom": export.by_axiom,
    }
    files[2].write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return files


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


def check(directory: Path) -> dict[str, frozenset[str]]:
    """The axioms that each theorem of a written file rests on, as Rocq prints them.

    Raises Differs where Rocq refuses a lemma, or a theorem rests on other axioms than expected.
    """
    said = _asked(["coqc", "-q", "-R", ".", "Proofs", f"{MODULE}.v"], directory)
    if shutil.which("coqchk") is not None:
        _asked(["coqchk", "-silent", "-R", ".", "Proofs", "-norec", f"Proofs.{MODULE}"], directory)
    axioms = expected(directory)["axioms"]
    found = dict(zip(axioms, assumptions(said), strict=False))
    compare(found, {name: frozenset(of) for name, of in axioms.items()})
    return found


def unproved(directory: Path) -> list[str]:
    """The digests of the lemmas of a written file that Rocq does not prove, each with all others taken for granted."""
    tolerant = re.sub(
        r"^Lemma (n\d+) : (.*?)\.\nProof\. (.*?)\. Qed\.$",
        r'Lemma \1 : \2.\nProof. first [ solve [ \3 ] | idtac "unproved" "\1"; apply granted ]. Qed.',
        (directory / f"{MODULE}.v").read_text(encoding="utf-8").partition("(* theorem:")[0],
        flags=re.MULTILINE | re.DOTALL,
    )
    first = tolerant.index("\nLemma n1 :")
    start = tolerant.rindex("\n\n", 0, first)
    granted = "\n\nAxiom granted : forall P : Prop, P."
    (directory / "Tolerant.v").write_text(tolerant[:start] + granted + tolerant[start:], encoding="utf-8")
    said = _asked(["coqc", "-q", "-R", ".", "Proofs", "Tolerant.v"], directory)
    digests = expected(directory)["lemma digests"]
    return [digests[name] for name in re.findall(r"unproved (n\d+)", said)]


def check_slips(directory: Path) -> None:
    """Raises Differs where Rocq accepts the proof of a lemma for what it does not say."""
    _asked(["coqc", "-q", "-R", ".", "Proofs", f"{SLIPS}.v"], directory)


def replayed(found: Mapping[str, frozenset[str]], digests: Mapping[str, list[str]]) -> dict[str, list[str]]:
    """The digests of the claims whose theorems rest on no lemma that Rocq was not asked to prove."""
    open_ = {name.partition(" ")[0] for name, axioms in found.items() if any(a.startswith(OPEN) for a in axioms)}
    return {id_: of for id_, of in digests.items() if id_ not in open_}


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


def compare(found: Mapping[str, frozenset[str]], expected: Mapping[str, frozenset[str]]) -> None:
    """Raises Differs unless each theorem rests on just the axioms expected; signs of symbols, the laws of averages and
    the real numbers may be among them.
    """
    for name, axioms in expected.items():
        printed = found.get(name, frozenset())
        others = {a for a in printed if not a.startswith("sign_") and a not in (*AVERAGE_AXIOMS, *REAL_AXIOMS)}
        if others != axioms:
            surplus, lacking = sorted(others - axioms), sorted(axioms - others)
            raise Differs(f"{name} rests on {surplus or 'nothing'} beside what was expected, and not on {lacking}")
