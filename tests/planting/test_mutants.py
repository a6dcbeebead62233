"""The campaign of random slips: which it makes, which tests it asks, what it stores; and that a slip is not missed."""

from __future__ import annotations

import ast
import os
from contextlib import nullcontext
from itertools import islice
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks.mutants import campaign
from benchmarks.mutants import trial as trials
from benchmarks.mutants.campaign import ROOMS, asked_of, of_room, stored, table
from benchmarks.mutants.slips import slips
from benchmarks.mutants.trial import ROOT, copied, failing, function_at, replaced, room_of, trial, trial_of

SOURCE = '''
"""A docstring with 1 + 1."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import this
@cache(7)
def Δ(x: "1 + 2", limit=3) -> "4 + 5":
    """Another, 6 * 7."""
    check(x, limit)
    if x < limit and not done(x):
        raise ValueError(f"{x + 1} is too small: {8}")
    total = -x ** 2
    total += max(x, 0.5)
    return [y for y in zip(x, total, strict=True) if x(y) or y is None]
'''
MADE = {
    "3 -> 4",
    "check(x, limit) -> pass",
    "x, limit -> limit, x",
    "< -> <=",
    "and -> or",
    "x < limit and not done(x) -> not (x < limit and not done(x))",
    "not  -> ",
    'raise ValueError(f"{x + 1} is too small: {8}") -> pass',
    "- -> +",
    "** -> *",
    "2 -> 3",
    "total += max(x, 0.5) -> pass",
    "max -> min",
    "0.5 -> 1.5",
    "x, total -> total, x",
    "or -> and",
    "x(y) or y is None -> not (x(y) or y is None)",
    "is -> is not",
}


def test_the_slips_of_a_source_are_those_that_a_hand_would_make() -> None:
    found = slips("a.py", SOURCE.encode())
    assert {f"{slip.before} -> {slip.after}" for slip in found} == MADE
    assert len(found) == len(MADE)
    for slip in found:
        made = slip.made(SOURCE.encode())
        ast.parse(made)
        assert made != SOURCE.encode()
        assert SOURCE.splitlines()[slip.line - 1].strip() == slip.text


def test_a_slip_keeps_its_name_and_rank_where_its_line_moves() -> None:
    before, after = slips("a.py", b"x = 1 + 2\nx = 1 + 2\n"), slips("a.py", b"import this\n\nx = 1 + 2\nx = 1 + 2\n")
    assert [slip.name for slip in before] == [slip.name for slip in after]
    assert [slip.line + 2 for slip in before] == [slip.line for slip in after]
    assert len({slip.rank for slip in before}) == len(before) == 6


@pytest.mark.parametrize("folder", [folder for folder, _, _ in ROOMS])
def test_every_room_has_slips_and_tests(folder: str) -> None:
    assert next(of_room(folder)).file.startswith(folder)
    for path in sorted((ROOT / folder).rglob("*.py"))[:3]:
        own, tests, seconds = asked_of(path.relative_to(ROOT).as_posix())
        assert all((ROOT / test).exists() for test in (*own, *tests))
        assert seconds > 0


def test_what_is_stored_is_in_order_and_counted() -> None:
    entries = stored()
    names = [entry["name"] for entry in entries]
    assert names == sorted(set(names))
    killed = sum(bool(entry["by"]) for entry in entries)
    assert f"{killed:>4} of {len(entries):>4}, " in table(entries)
    for entry in entries:
        assert entry["by"] or entry.get("reason"), f"{entry['name']} lives, and nobody said why"


def test_what_a_later_test_kills_is_marked_as_having_lived(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    old, new = islice(of_room("verify/protocol"), 2)
    for name, value in {
        "DATA": tmp_path / "mutants.json",
        "ROOMS": [room for room in ROOMS if room[0] == "verify/protocol"],
        "sample": lambda most: [old, new],
        "copied": lambda parent: nullcontext(ROOT),
        "replaced": lambda *_: nullcontext(),
        "room_of": lambda *_: None,
        "trial_of": lambda *_: SimpleNamespace(killed=True, by="test_a"),
    }.items():
        monkeypatch.setattr(campaign, name, value)
    campaign.write([{"name": old.name, "line": old.line, "by": "", "reason": "a budget"}])
    assert [entry["name"] for entry in campaign.run(2, False, "")] == [new.name]
    campaign.write([{"name": old.name, "line": old.line, "by": "", "reason": "a budget"}])
    assert list(campaign.run(2, True, "")) == [
        {"name": old.name, "line": old.line, "by": "test_a", "lived": True},
        {"name": new.name, "line": new.line, "by": "test_a"},
    ]
    assert {entry["name"]: "lived" in entry for entry in stored()} == {old.name: True, new.name: False}


def test_the_function_around_a_line_is_the_innermost_one_with_its_decorators() -> None:
    source = "X = 1\n@cache\ndef f():\n    def g():\n        return X\n    return g\n"
    found = [function_at("a.py", source, line) for line in range(1, 7)]
    assert found == ["a.py:0", "a.py:0", "a.py:2", "a.py:4", "a.py:4", "a.py:2"]


@pytest.fixture
def small(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A tree of one module and its test."""
    root = tmp_path / "small"
    root.mkdir()
    (root / "one.py").write_text("def one():\n    return 1\n")
    (root / "test_one.py").write_text(
        "import time\nfrom one import one\n\ndef test_one():\n    assert one() == 1\n\ndef test_two():\n    pass\n"
    )
    monkeypatch.setattr(trials, "ROOT", root)
    return tmp_path


def test_a_slip_of_the_same_length_within_a_second_is_noticed(small: Path) -> None:
    with copied(small) as tree:
        right = (tree / "one.py").stat()
        with replaced(tree, "one.py", b"def one():\n    return 2\n"):
            os.utime(tree / "one.py", ns=(right.st_atime_ns, right.st_mtime_ns))
            assert trial(tree, ["test_one.py"], 60).by == "test_one.py::test_one"
        assert not trial(tree, ["test_one.py"], 60).killed
    assert not tree.exists()


@pytest.mark.thorough
def test_tests_that_run_the_function_are_asked_first_and_then_all(small: Path) -> None:
    with copied(small) as tree:
        room = room_of(tree, ["test_one.py"], 60)
        assert (room.failing, room.of("one.py:1"), room.of("one.py:0")) == ((), ["test_one.py::test_one"], [])
        with replaced(tree, "one.py", b"def one():\n    return 2\n"):
            for function in ("one.py:1", "one.py:0"):
                assert trial_of(tree, room, function, [], 60).by == "test_one.py::test_one"
        with replaced(tree, "one.py", b"raise ValueError\n"):
            assert trial_of(tree, room, "one.py:1", [], 60).by == "test_one.py"
        with replaced(tree, "one.py", b"def one():\n    return 1.0\n"):
            assert not trial_of(tree, room, "one.py:1", [], 60).killed


@pytest.mark.thorough
def test_what_a_trial_answers_is_what_happened(small: Path) -> None:
    with copied(small) as tree:
        assert failing(tree, ["test_one.py"], 60) == []
        with replaced(tree, "one.py", b"def one():\n    return 2\n"):
            assert failing(tree, ["test_one.py"], 60) == ["test_one.py::test_one"]
            assert not trial(tree, ["test_one.py"], 60, ["test_one.py::test_one"]).killed
        with replaced(tree, "one.py", b"def one(:\n"):
            assert trial(tree, ["test_one.py"], 60).by == "test_one.py"
        with replaced(tree, "one.py", b"while True: pass\n"):
            assert trial(tree, ["test_one.py"], 2).by.startswith("ended by SIG")
        # A test that is not there kills nothing.
        with pytest.raises(trials.TrialError, match="pytest ended with 4"):
            trial(tree, ["test_one.py::test_three"], 60)
