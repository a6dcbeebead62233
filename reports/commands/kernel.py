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
    from onestep.verify.claims.index import all_claims
    from onestep.verify.export.rocq import exported
    from onestep.verify.export.second_kernel import named, theorems, write

    found: dict[str, tuple[Theorem, ...]] = {}
    with Progress("exporting theorems", len(claims), quiet=quiet) as progress:
        for claim in claims:
            found |= theorems([claim])
            progress.step(claim.id)
    made = exported(named(found))
    whole = {claim.id for claim in claims} == {claim.id for claim in all_claims()}
    return write(made, found, directory, whole), len(made.theorems), len(made.lemmas)


def main(directory: Path) -> int:
    """Ask Rocq about what was exported into a directory, and keep what it says beside the ledger; the exit code.

    What is said of a sample of the claims is kept nowhere: it is an error if Rocq does not confirm a mark.
    """
    from onestep.reports.command_line.console import Progress
    from onestep.reports.text.ledger_files import in_source_checkout
    from onestep.verify.export.second_kernel import MISSING, Differs, check, expected, installed, replayed, version
    from onestep.verify.ledger.second_kernel import RECORD, record

    if not installed():
        print(MISSING)
        return 0
    written = expected(directory)
    try:
        with Progress("asking Rocq", len(written["files"])) as progress:
            checked = check(directory, progress.step)
    except Differs as difference:
        print(difference, file=sys.stderr)
        return 1
    print("No theorem rests on another axiom than expected, and no lemma is proved with a slip in what it says.")
    proved = written["lemmas"] - written["assumed"] - len(checked.refused)
    print(f"Rocq proves {proved} of {written['lemmas']} lemmas; {written['assumed']} are rules that it takes on trust.")
    accepted = replayed(checked, written["digests"])
    print(f"{len(accepted)} claims of {len(written['digests'])} are replayed.")
    marked: dict[str, list[str]] = record()["replayed"]
    lost = [id_ for id_, of in marked.items() if written["digests"].get(id_) == of and id_ not in accepted]
    if lost:
        print(f"Rocq does not accept what the ledger says that it does: {', '.join(lost)}", file=sys.stderr)
        return 1
    if written["whole"] and in_source_checkout():
        counts = {key: written[key] for key in ("lemmas", "inferences", "assumed", "by axiom")}
        document = {"rocq": version(), **counts, "refused": len(checked.refused), "replayed": accepted}
        RECORD.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
