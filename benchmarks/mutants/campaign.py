"""Random slips in the source against the fast tests of their own room: `make mutants`, or

    python -m benchmarks.mutants.campaign [--most 600] [--room numerics/balls] [--tests tests] [--again]
    python -m benchmarks.mutants.campaign show                  print what is stored

What it finds is stored in mutants.json after each slip, and it goes on where it stopped. The slips of a room come in a
random order that does not change with the rest of the code, the rooms take turns, and what is stored of code that is no
more is dropped. A slip is killed where a fast test of its room (of the folders in `--tests`, if given) fails, nothing
can be loaded, or the tests run past their limit of processor time.
"""

from __future__ import annotations

import os
import sys
import tempfile
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Iterator
from itertools import chain, zip_longest
from pathlib import Path

from benchmarks.campaign import Entry, main
from benchmarks.mutants.slips import Slip, slips
from benchmarks.mutants.trial import ROOT, Room, copied, room_of, trial_of

DATA = Path(__file__).resolve().parent / "mutants.json"
HOUSES = ("derivations", "numerics", "verify", "reports")
# Where the tests of a room are, if not in the folder of its name alone.
TESTS = {
    "verify/protocol": ("tests/verify/protocol", "tests/verify/ledger"),
    "verify/ledger": ("tests/verify/ledger", "tests/verify/protocol"),
    "verify/closed_forms": ("tests/derivations/closed_forms", "tests/reports/activation"),
}


def sample(begins: str) -> list[Slip]:
    """All slips of files that begin so: one of each room in turn, in each room by rank."""
    rooms: dict[str, list[Slip]] = {}
    for house in HOUSES:
        for path in sorted((ROOT / house).rglob("*.py")):
            if (file := path.relative_to(ROOT).as_posix()).startswith(begins):
                rooms.setdefault(_room(file), []).extend(slips(file, path.read_bytes()))
    ranked = (sorted(found, key=lambda slip: slip.rank) for found in rooms.values())
    return [slip for slip in chain.from_iterable(zip_longest(*ranked)) if slip is not None]


def _room(name: str) -> str:
    return "/".join(name.split("/")[:2])


def tests_of(room: str) -> tuple[str, ...]:
    """The folders with the tests of a room; all tests of its house where it has none."""
    folders = TESTS.get(room, (f"tests/{room}",))
    return tuple(one for one in folders if (ROOT / one).is_dir()) or (f"tests/{room.split('/')[0]}",)


def run(asked: Namespace, entries: list[Entry]) -> Iterator[list[Entry]]:
    """Try what is not known yet: the name of a slip, its line, the first test that failed; a reason why it may live
    is kept.
    """
    os.nice(10)
    drawn = sample(asked.room)
    names = {slip.name for slip in drawn}
    known = {one["name"]: one for one in entries if one["name"] in names or not one["name"].startswith(asked.room)}
    rooms: dict[tuple[str, ...], Room] = {}
    with tempfile.TemporaryDirectory() as parent:
        root = copied(Path(parent))
        for slip in drawn[: asked.most]:
            if slip.name in known:
                continue
            tests = tuple(asked.tests.split()) or tests_of(_room(slip.file))
            if tests not in rooms:
                rooms[tests] = room_of(root, tests)
            by = trial_of(root, rooms[tests], slip.file, slip.line, slip.made((root / slip.file).read_bytes()))
            known[slip.name] = {"name": slip.name, "line": slip.line, "by": by}
            print(f"{time.strftime('%H:%M')} {by or 'SURVIVED':<60} {slip.name}", flush=True)
            yield [known[name] for name in sorted(known)]


def told(entries: list[Entry]) -> tuple[str, bool]:
    """How many slips of each room were killed, and the survivors with the reason of each, where it has one; good where
    nine in ten were.
    """
    tried = Counter(_room(one["name"]) for one in entries)
    killed = Counter(_room(one["name"]) for one in entries if one["by"])
    lines = [f"{room:<24} {killed[room]:>4} of {tried[room]:>4}" for room in sorted(tried)]
    share = killed.total() / max(1, tried.total())
    lines += [f"{'all':<24} {killed.total():>4} of {tried.total():>4}, {share:.0%}"]
    alive = [f"{one['name']}\n    {one.get('reason', 'no reason')}" for one in entries if not one["by"]]
    return "\n".join([*lines, *alive]), share >= 0.9


if __name__ == "__main__":
    options: dict[str, tuple[int | str, str]] = {
        "most": (600, "how many slips in all"),
        "room": ("", "only those in files that begin so, for example numerics/balls"),
        "tests": ("", "the tests that are asked, for example tests; those of the room"),
    }
    sys.exit(main(DATA, run, told, options))
