"""The proofs before a second kernel: `make kernel` exports them and asks Rocq, where Rocq is installed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from onestep.derivations.kernel.theorem import Theorem
    from onestep.verify.protocol.claim import Claim


def export(claims: tuple[Claim, ...], directory: Path, quiet: bool) -> tuple[tuple[Path, ...], int, int]:
    """Write the theorems of these claims as a file of Rocq: the files, how many theorems and how many lemmas."""
    from onestep.reports.command_line.console import Progress
    from onestep.verify.export.rocq import exported
    from onestep.verify.export.second_kernel import theorems, write

    found: dict[str, Theorem] = {}
    with Progress("exporting theorems", len(claims), quiet=quiet) as progress:
        for claim in claims:
            found |= theorems([claim])
            progress.step(claim.id)
    made = exported(found)
    return write(made, directory), len(found), len(made.lemmas)


def main(directory: Path) -> int:
    """Ask Rocq about what was exported into a directory; the exit code."""
    from onestep.verify.export.second_kernel import MISSING, Differs, check, installed

    if not installed():
        print(MISSING)
        return 0
    try:
        found = check(directory)
    except Differs as difference:
        print(difference, file=sys.stderr)
        return 1
    axioms = frozenset().union(*found.values())
    print(f"Rocq accepts {len(found)} theorems, which rest on {len(axioms)} axioms, as expected.")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
