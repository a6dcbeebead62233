"""Random slips in the source against the fast tests of their own room: `make mutants`, or

    python -m benchmarks.mutants.campaign [--most 600] [--room numerics/balls] [--again]
    python -m benchmarks.mutants.campaign show                  print what is stored

What it finds is stored in mutants.json after each slip, and it goes on where it stopped. The slips of a room come in a
random order that does not change with the rest of the code, the rooms take turns, and what is stored of code that is no
more is dropped. A slip is killed where a fast test of its room fails, nothing can be loaded, or the tests run past
their limit of processor time. With `--again` the survivors are tried once more, after a test was written; those that
are killed then are marked as having lived.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import chain, zip_longest
from pathlib import Path
from typing import Any

from benchmarks.entries import stored as entries_of
from benchmarks.entries import write as write_entries
from benchmarks.mutants.slips import Slip, slips
from benchmarks.mutants.trial import ROOT, Room, copied, function_at, replaced, room_of, trial_of

DATA = Path(__file__).resolve().parent / "mutants.json"
# Which tests are those of a room, where they are not in the folder of its name: (folder, tests, seconds at most).
ROOMS: tuple[tuple[str, tuple[str, ...], int], ...] = (
    ("derivations/kernel", ("tests/derivations/kernel",), 120),
    ("verify/protocol", ("tests/verify/protocol", "tests/verify/ledger/test_run.py"), 60),
    ("verify/checks", ("tests/verify/checks",), 120),
    ("verify/ledger", ("tests/verify/ledger", "tests/verify/protocol/test_power.py"), 120),
    ("verify/closed_forms", ("tests/derivations/closed_forms", "tests/reports/activation/test_bars.py"), 120),
    ("numerics/balls", ("tests/numerics/balls",), 120),
    ("numerics/certificates", ("tests/numerics/certificates",), 180),
    ("numerics/bulk", ("tests/numerics/bulk",), 120),
    ("numerics/saddle_point", ("tests/numerics/saddle_point",), 240),
    ("numerics/sweeps", ("tests/numerics/sweeps",), 120),
)


def sample(most: int) -> list[Slip]:
    """The first ``most`` slips: one of each room in turn, in each room by rank."""
    rooms = [sorted(of_room(folder), key=lambda slip: slip.rank) for folder, _, _ in ROOMS]
    turns = chain.from_iterable(zip_longest(*rooms))
    return [slip for slip in turns if slip is not None][:most]


def of_room(folder: str) -> Iterator[Slip]:
    """All slips of the files of a folder."""
    for path in sorted((ROOT / folder).rglob("*.py")):
        yield from slips(path.relative_to(ROOT).as_posix(), path.read_bytes())


def asked_of(file: str, root: Path = ROOT) -> tuple[list[str], tuple[str, ...], int]:
    """The tests of a file's own name in a tree, those of its room, and the seconds that they may take."""
    tests, seconds = next((tests, seconds) for folder, tests, seconds in ROOMS if file.startswith(f"{folder}/"))
    folder, _, module = file.removesuffix(".py").rpartition("/")
    own = f"tests/{folder}/test_{module}.py"
    return [own] if (root / own).is_file() else [], tests, seconds


def run(most: int, again: bool, room: str) -> Iterator[dict[str, Any]]:
    """Try what is not known yet; yields the entry of each slip, and stores all of them after each."""
    here = {slip.name for folder, _, _ in ROOMS for slip in of_room(folder)}
    known = {entry["name"]: entry for entry in stored() if entry["name"] in here}
    rooms: dict[tuple[str, ...], Room] = {}
    with tempfile.TemporaryDirectory() as parent, copied(Path(parent)) as root:
        for slip in sample(most):
            old = known.get(slip.name, {})
            if not slip.file.startswith(room) or (old and (old["by"] or not again)):
                continue
            own, tests, seconds = asked_of(slip.file, root)
            if tests not in rooms:
                rooms[tests] = room_of(root, tests, seconds)
            right = (root / slip.file).read_bytes()
            function = function_at(slip.file, right.decode(), slip.line)
            with replaced(root, slip.file, slip.made(right)):
                found = trial_of(root, rooms[tests], function, own, seconds)
            reason = {"reason": old["reason"]} if "reason" in old and not found.killed else {}
            lived = {"lived": True} if old and found.killed else {}
            known[slip.name] = {"name": slip.name, "line": slip.line, "by": found.by, **lived, **reason}
            write(known.values())
            yield known[slip.name]
    write(known.values())


def stored() -> list[dict[str, Any]]:
    """What was measured: the name of a slip, its line, the first test that failed, and why it may live if none did.

    `lived` where a test was written after it had survived.
    """
    return entries_of(DATA)


def write(entries: Iterable[dict[str, Any]]) -> None:
    """One line a slip, by name."""
    write_entries(DATA, sorted(entries, key=lambda entry: str(entry["name"])))


def table(entries: Iterable[dict[str, Any]]) -> str:
    """How many slips of each room were killed, and the survivors with the reason of each, where it has one."""
    entries = list(entries)
    tried, killed = Counter(map(_room, entries)), Counter(_room(entry) for entry in entries if entry["by"])
    lines = [f"{room:<24} {killed[room]:>4} of {tried[room]:>4}" for room in sorted(tried)]
    share = 100 * sum(killed.values()) / max(1, len(entries))
    lines += [f"{'all':<24} {sum(killed.values()):>4} of {len(entries):>4}, {share:.0f} %"]
    alive = [entry for entry in entries if not entry["by"]]
    return "\n".join([*lines, *(f"{entry['name']}\n    {entry.get('reason', 'no reason')}" for entry in alive)])


def _room(entry: dict[str, Any]) -> str:
    return next(folder for folder, _, _ in ROOMS if entry["name"].startswith(f"{folder}/"))


def main(arguments: list[str]) -> int:
    """Measure or show; 1 where fewer than nine in ten were killed."""
    parser = argparse.ArgumentParser(description="Random slips in the source against the fast tests of their own room.")
    parser.add_argument("what", nargs="?", choices=["measure", "show"], default="measure")
    parser.add_argument("--most", type=int, default=600, help="how many slips in all (default 600)")
    parser.add_argument("--room", default="", help="only those in files that begin so, for example numerics/balls")
    parser.add_argument("--again", action="store_true", help="try the survivors once more")
    asked = parser.parse_args(arguments)
    if asked.what == "measure":
        os.nice(10)
        for entry in run(asked.most, asked.again, asked.room):
            print(f"{time.strftime('%H:%M')} {entry['by'] or 'SURVIVED':<60} {entry['name']}", flush=True)
    entries = stored()
    print(table(entries))
    return 0 if sum(bool(entry["by"]) for entry in entries) >= 0.9 * len(entries) else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
