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
from benchmarks.mutants.trial import (
    ROOT,
    Outcome,
    Room,
    Visit,
    copied,
    failing,
    function_at,
    replaced,
    room_of,
    trial,
    trial_of,
)

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


def test_what_fails_on_the_right_tree_as_well_kills_no_slip(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(root: Path, tests: list[str], seconds: int, left_out: tuple[str, ...] = ()) -> Outcome:
        return Outcome("" if "test_one.py::test_broken" in left_out else "test_one.py::test_broken")

    monkeypatch.setattr(trials, "trial", broken)
    room = Room(("test_one.py",), ("test_one.py::test_broken",), ())
    assert not trial_of(tmp_path, room, "one.py:1", [], 60).killed


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


def visit(test: str, seconds: float, *called: str) -> Visit:
    return Visit(test, seconds, frozenset(called))


def test_of_a_function_those_that_run_it_are_asked_the_quickest_first_and_none_that_fails_anyway() -> None:
    visits = (
        visit("a::slow", 3.0, "one.py:1"),
        visit("z::quick", 1.0, "one.py:1", "one.py:5"),
        visit("b::broken", 0.5, "one.py:1"),
        visit("c::elsewhere", 0.1, "one.py:5"),
    )
    room = Room(("tests",), ("b::broken",), visits)
    assert room.of("one.py:1") == ["z::quick", "a::slow"]
    assert room.of("one.py:7") == []


# What pytest returned for the visitors and for the whole room; what the slip was killed by; how often pytest was asked.
@pytest.mark.parametrize(
    ("visitors", "whole", "by", "runs"),
    [
        (Outcome("a::one"), Outcome("b::two"), "a::one", 1),
        (Outcome(""), Outcome("b::two"), "b::two", 2),
        (Outcome(""), Outcome(""), "", 2),
        (trials.TrialError("not found"), Outcome("b::two"), "b::two", 2),
    ],
)
def test_visitors_are_asked_and_then_the_whole_room_its_own_file_first(
    visitors: Outcome | Exception, whole: Outcome, by: str, runs: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def answer(root: Path, tests: list[str], seconds: int, left_out: tuple[str, ...] = ()) -> Outcome:
        asked.append((tests, seconds, left_out))
        if len(asked) == 2:
            return whole
        if isinstance(visitors, Exception):
            raise visitors
        return visitors

    monkeypatch.setattr(trials, "trial", answer)
    room = Room(("tests/a", "tests/b"), ("a::broken",), (visit("a::one", 1.0, "one.py:1"),))
    assert trial_of(ROOT, room, "one.py:1", ["own"], 60).by == by
    assert asked == [(["a::one"], 60, ()), (["own", "tests/a", "tests/b"], 60, ("a::broken",))][:runs]


TOLD = "....\nFAILED a.py::one - assert 1\nERROR b.py\nFAILED c.py::three[x y]\nnot FAILED d.py\n"


@pytest.mark.parametrize(
    ("returned", "told", "by"),
    [
        (0, TOLD, ""),
        (1, TOLD, "a.py::one"),
        (2, "ERROR b.py - SyntaxError\n", "b.py"),
        (2, "", "no test could be collected"),
        (-9, "", "ended by SIGKILL"),
        (-24, TOLD, "ended by SIGXCPU"),
    ],
)
def test_what_pytest_returned_is_what_killed_a_slip(
    returned: int, told: str, by: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked = []

    def run(root: Path, arguments: list[str], seconds: int, variables: object = None) -> tuple[int, str]:
        asked.append((arguments, seconds))
        return returned, told

    monkeypatch.setattr(trials, "_run", run)
    found = trial(ROOT, ["a.py"], 60, ["b::two", "c::three"])
    assert (found.by, found.killed) == (by, bool(by))
    assert asked == [(["-x", "a.py", "--deselect=b::two", "--deselect=c::three"], 60)]


@pytest.mark.parametrize("returned", [2, 4, 5, -9])
def test_tests_that_cannot_run_are_no_answer(returned: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trials, "_run", lambda *_: (returned, "so"))
    with pytest.raises(trials.TrialError, match=f"pytest ended with {returned}: so"):
        failing(ROOT, ["a.py"], 60)
    if returned > 2:
        with pytest.raises(trials.TrialError, match=f"pytest ended with {returned}"):
            trial(ROOT, ["a.py"], 60)


def test_a_room_knows_its_tests_those_that_fail_and_what_each_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def run(root: Path, arguments: list[str], seconds: int, variables: dict[str, str]) -> tuple[int, str]:
        assert arguments == ["-p", "benchmarks.mutants.visits", "a.py", "b.py"]
        assert seconds == 4 * 60
        lines = ('{"test": "a.py::one", "seconds": 1.5, "called": ["x.py:1", "x.py:7"]}', '{"test": "b.py", '
                 '"seconds": 0.5, "called": []}')  # fmt: skip
        Path(variables["VISITS"]).write_text("\n".join(lines) + "\n")
        return 1, TOLD

    monkeypatch.setattr(trials, "_run", run)
    found = room_of(tmp_path / "tree", ["a.py", "b.py"], 60)
    assert found.tests == ("a.py", "b.py")
    assert found.failing == ("a.py::one", "b.py", "c.py::three[x")
    assert found.visits == (visit("a.py::one", 1.5, "x.py:1", "x.py:7"), visit("b.py", 0.5))


def entry_of(room: str, number: int, by: str, **more: str) -> dict[str, object]:
    return {"name": f"{room}/a.py | x | {number}", "line": number, "by": by, **more}


def test_each_room_is_counted_and_survivors_stand_with_their_reasons() -> None:
    entries = [
        *(entry_of("verify/checks", k, "a::test") for k in range(3)),
        entry_of("verify/checks", 3, "", reason="a budget"),
        entry_of("numerics/balls", 0, "b::test"),
        entry_of("numerics/balls", 1, ""),
    ]
    assert table(entries).splitlines() == [
        "numerics/balls              1 of    2",
        "verify/checks               3 of    4",
        "all                         4 of    6, 67 %",
        "verify/checks/a.py | x | 3",
        "    a budget",
        "numerics/balls/a.py | x | 1",
        "    no reason",
    ]


@pytest.mark.parametrize(("killed", "code"), [(9, 0), (8, 1)])
def test_nine_in_ten_are_to_be_killed(killed: int, code: int, monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [entry_of("verify/checks", k, "a::test" if k < killed else "") for k in range(10)]
    monkeypatch.setattr(campaign, "stored", lambda: entries)
    assert campaign.main(["show"]) == code


def test_rooms_take_turns_each_by_rank(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms = {"a": [SimpleNamespace(rank=r, room="a") for r in "312"], "b": [SimpleNamespace(rank="9", room="b")]}
    monkeypatch.setattr(campaign, "ROOMS", [(name, (), 1) for name in rooms])
    monkeypatch.setattr(campaign, "of_room", lambda name: iter(rooms[name]))
    found = [(slip.room, slip.rank) for slip in campaign.sample(9)]
    assert found == [("a", "1"), ("b", "9"), ("a", "2"), ("a", "3")]
    assert [(slip.room, slip.rank) for slip in campaign.sample(2)] == found[:2]


def test_a_campaign_tries_a_survivor_again_only_if_asked_keeps_its_reason_and_drops_what_is_no_more(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    dead, alive, elsewhere = (
        next(slip for slip in of_room("verify/protocol") if slip.file.endswith("power.py")),
        next(slip for slip in of_room("verify/protocol") if slip.file.endswith("order.py")),
        next(of_room("verify/ledger")),
    )
    asked: list[object] = []
    limits = ("verify/protocol", "verify/ledger")
    for name, value in {
        "DATA": tmp_path / "mutants.json",
        "ROOMS": [room for room in ROOMS if room[0] in limits],
        "sample": lambda most: [dead, alive, elsewhere],
        "copied": lambda parent: nullcontext(ROOT),
        "replaced": lambda root, file, text: nullcontext(asked.append((file, text))),
        "room_of": lambda root, tests, seconds: ("room", tests, seconds),
        "trial_of": lambda *given: asked.append(given[1:]) or Outcome(""),
    }.items():
        monkeypatch.setattr(campaign, name, value)
    before = [
        {"name": dead.name, "line": 1, "by": "a::test"},
        {"name": alive.name, "line": 1, "by": "", "reason": "a budget"},
        {"name": "verify/protocol/gone.py | x", "line": 1, "by": "a::test"},
    ]
    campaign.write(before)
    (found,) = campaign.run(3, True, "verify/protocol")
    assert found == {"name": alive.name, "line": alive.line, "by": "", "reason": "a budget"}
    assert [entry["name"] for entry in stored()] == sorted([dead.name, alive.name])
    source = (ROOT / alive.file).read_bytes()
    own, tests, seconds = asked_of(alive.file)
    function = function_at(alive.file, source.decode(), alive.line)
    assert asked == [
        (alive.file, alive.made(source)),
        (("room", tests, seconds), function, own, seconds),
    ]
    assert [entry["name"] for entry in campaign.run(3, False, "")] == [elsewhere.name]
