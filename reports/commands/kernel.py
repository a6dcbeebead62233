"""The proofs before a second kernel: `make kernel` exports them and asks Rocq, where Rocq is installed."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from giantsteps.derivations.kernel.theorem import Theorem
    from giantsteps.verify.export.second_kernel import Checked
    from giantsteps.verify.protocol.claim import Claim


def export(claims: tuple[Claim, ...], directory: Path, quiet: bool) -> tuple[tuple[Path, ...], int, int]:
    """Write the theorems of these claims as files of Rocq: the files, how many theorems and how many lemmas."""
    from giantsteps.reports.command_line.console import Progress
    from giantsteps.verify.export.rocq import exported
    from giantsteps.verify.export.second_kernel import named, theorems, write

    found: dict[str, tuple[Theorem, ...]] = {}
    with Progress("exporting theorems", len(claims), quiet=quiet) as progress:
        for claim in claims:
            found |= theorems([claim])
            progress.step(claim.id)
    made = exported(named(found))
    return write(made, found, directory), len(made.theorems), len(made.lemmas)


def main(directory: Path) -> int:
    """Ask Rocq about what was exported into a directory, and keep what it says of each chapter beside the ledger; the
    exit code.

    It is an error if Rocq does not confirm a mark.
    """
    from giantsteps.reports.command_line.console import Progress
    from giantsteps.verify.export.second_kernel import MISSING, Differs, check, expected, installed, replayed
    from giantsteps.verify.ledger.second_kernel import record

    if not installed():
        print(MISSING)
        return 0
    written = expected(directory)
    marked: dict[str, list[str]] = record()["replayed"]
    try:
        with Progress("asking Rocq", len(written["files"])) as progress:
            checked = check(directory, progress.step, lambda chapter: _keep(chapter, written["digests"]))
    except Differs as difference:
        print(difference, file=sys.stderr)
        return 1
    _tell(checked, written)
    accepted = replayed(checked, written["digests"])
    print(f"{len(accepted)} claims of {len(written['digests'])} are replayed.")
    lost = [id_ for id_, of in marked.items() if written["digests"].get(id_) == of and id_ not in accepted]
    if lost:
        print(f"Rocq does not accept what the ledger says that it does: {', '.join(lost)}", file=sys.stderr)
        return 1
    return 0


def _keep(checked: Checked, digests: Mapping[str, list[str]]) -> None:
    """Write down which claims of a chapter are replayed; those of others stay."""
    from giantsteps.reports.text.ledger_files import in_source_checkout
    from giantsteps.verify.export.second_kernel import claim, replayed, version
    from giantsteps.verify.ledger.second_kernel import RECORD, record

    if in_source_checkout():
        asked = {claim(theorem) for theorem in checked.asked}
        others = {id_: of for id_, of in record()["replayed"].items() if id_ not in asked}
        document = {"rocq": version(), "replayed": dict(sorted((others | replayed(checked, digests)).items()))}
        RECORD.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
        record.cache_clear()


def _tell(checked: Checked, written: Mapping[str, Any]) -> None:
    """What Rocq proves, by the rules of the kernel, and what it refuses."""
    from giantsteps.verify.export.files import OPTIONAL

    count, lacking = Counter[str](), Counter[str]()
    for name, rules in written["rules"].items():
        count.update(rule for rule in rules if rule != "assume")
        lacking.update(rules if name in checked.refused or name in written["assumed"] else ())
    for module, (library, shown) in OPTIONAL.items():
        wanted = f"requires the Debian package libcoq-{library.partition('.')[0].lower()}"
        print(f"{shown}: {'proved' if module in written['files'] else wanted}")
    print(f"No theorem rests on another axiom than expected, and all {checked.slips} slips asked about are refused.")
    proved, lemmas = count.total() - lacking.total(), len(written["rules"])
    print(f"Rocq proves {proved} of {count.total()} inferences, which stand in {lemmas} lemmas:")
    for rule, times in count.most_common():
        print(f"  {rule}: {times - lacking[rule]} of {times}")
    for what, names in (
        ("not proved", checked.refused),
        ("rules taken on trust", written["assumed"]),
        ("taking too long", checked.late),
    ):
        print(f"{len(names)} {what}{': ' if names else ''}{', '.join(names)}")


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
