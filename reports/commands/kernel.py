"""The proofs before a second kernel: `make kernel` exports them and asks Rocq, where Rocq is installed."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onestep.derivations.kernel.theorem import Theorem
    from onestep.verify.protocol.claim import Claim


def export(claims: tuple[Claim, ...], directory: Path, quiet: bool) -> tuple[tuple[Path, ...], int, int]:
    """Write the theorems of these claims as files of Rocq: the files, how many theorems and how many lemmas."""
    from onestep.reports.command_line.console import Progress
    from onestep.verify.export.rocq import exported
    from onestep.verify.export.second_kernel import named, theorems, write
    from onestep.verify.ledger.second_kernel import record

    found: dict[str, tuple[Theorem, ...]] = {}
    with Progress("exporting theorems", len(claims), quiet=quiet) as progress:
        for claim in claims:
            found |= theorems([claim])
            progress.step(claim.id)
    made = exported(named(found), frozenset(record()["open"]))
    return write(made, found, directory), len(made.theorems), len(made.lemmas)


def main(directory: Path) -> int:
    """Ask Rocq about what was exported into a directory, and keep what it says beside the ledger; the exit code."""
    from onestep.reports.text.ledger_files import in_source_checkout
    from onestep.verify.export.second_kernel import (
        MISSING,
        Differs,
        check,
        check_slips,
        expected,
        installed,
        replayed,
        version,
    )
    from onestep.verify.ledger.second_kernel import RECORD, record

    if not installed():
        print(MISSING)
        return 0
    try:
        found = check(directory)
        print(f"Rocq accepts {len(found)} theorems, and none rests on another axiom than expected.")
        check_slips(directory)
    except Differs as difference:
        print(difference, file=sys.stderr)
        return 1
    written = expected(directory)
    print("It refuses each lemma that it proves with a slip in what it says.")
    accepted = replayed(found, written["digests"])
    counts = {key: written[key] for key in ("lemmas", "inferences", "by axiom")}
    document = {"rocq": version(), **counts, "replayed": accepted, "open": record()["open"]}
    if in_source_checkout():
        RECORD.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"{len(accepted)} claims of {len(written['digests'])} are replayed, from {written['lemmas']} lemmas.")
    return 0


def find_open(directory: Path) -> int:
    """Note the lemmas of an export that Rocq does not prove, so that the next one leaves them open; the exit code."""
    from onestep.verify.export.second_kernel import unproved
    from onestep.verify.ledger.second_kernel import RECORD, record

    found = unproved(directory)
    document = record() | {"open": sorted({*record()["open"], *found})}
    RECORD.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"Rocq does not prove {len(found)} lemmas; {len(document['open'])} are left open.")
    return 0


if __name__ == "__main__":
    sys.exit((find_open if "--open" in sys.argv else main)(Path(sys.argv[1])))
