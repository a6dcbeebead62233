"""What Rocq says of an exported file: whether it accepts the lemmas, and which axioms the theorems rest on."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from pathlib import Path

import sympy as sp

from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language.derivation import Derivation
from onestep.verify.checks.kinds import ByDerivation, concluded
from onestep.verify.export.preamble import AVERAGE_AXIOMS, REAL_AXIOMS
from onestep.verify.export.rocq import Exported
from onestep.verify.protocol.claim import Claim

FILE, EXPECTED = "Theorems.v", "expected.json"
MISSING = "coqc is not installed, so that no second kernel looked at the proofs; the Debian package coq has it."


class Differs(Exception):
    """The second kernel does not say what was expected of it."""


def theorems(claims: Iterable[Claim]) -> dict[str, Theorem]:
    """The theorem of each claim that the kernel makes of one of its derivations, by the id of the claim."""
    found: dict[str, Theorem] = {}
    for claim in claims:
        for check in claim.checks:
            if isinstance(check, ByDerivation) and isinstance(claim.statement, sp.Equality):
                derivation: Derivation = check.build()
                theorem = concluded(derivation, claim.statement) if derivation.theorems else None
                if theorem is not None:
                    found.setdefault(claim.id, theorem)
    return found


def write(export: Exported, directory: Path) -> tuple[Path, Path]:
    """The file of Rocq, and beside it the axioms that each theorem is expected to rest on."""
    files = (directory / FILE, directory / EXPECTED)
    files[0].write_text(export.text, encoding="utf-8")
    expected = {name: sorted(axioms) for name, axioms in export.expected.items()}
    files[1].write_text(json.dumps(expected, indent=1) + "\n", encoding="utf-8")
    return files


def installed() -> bool:
    """Whether Rocq can be asked."""
    return shutil.which("coqc") is not None


def check(directory: Path) -> dict[str, frozenset[str]]:
    """The axioms that each theorem of a written file rests on, as Rocq prints them.

    Raises Differs where Rocq refuses a lemma, or a theorem rests on other axioms than expected.
    """
    said = _asked(["coqc", "-q", "-R", ".", "Proofs", FILE], directory)
    if shutil.which("coqchk") is not None:
        _asked(["coqchk", "-silent", "-R", ".", "Proofs", "-norec", f"Proofs.{FILE.removesuffix('.v')}"], directory)
    expected = json.loads((directory / EXPECTED).read_text(encoding="utf-8"))
    found = dict(zip(expected, assumptions(said), strict=False))
    compare(found, {name: frozenset(axioms) for name, axioms in expected.items()})
    return found


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
