"""The campaign of random slips: which it makes, and that a slip is killed by the tests of its room or lives."""

from __future__ import annotations

import ast
from pathlib import Path

from benchmarks.mutants.slips import slips
from benchmarks.mutants.trial import copied, room_of, trial_of

SOURCE = '''
"""A docstring with 1 + 1."""
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    import this
@cache(7)
def Δ(x: "1 + 2", limit=3) -> "4 + 5":
    check(x, limit)
    if x < limit and not done(x):
        raise ValueError(f"{x + 1} is too small: {8}")
    total = -x ** 2
    total += max(x, 0.5)
    return [y for y in zip(x, total, strict=True) if x(y) or y is None]
'''
MADE = {
    "3 -> (4)", "check(x, limit) -> pass", "check(x, limit) -> (check(limit, x))", "x < limit -> (x <= limit)",
    "x < limit and (not done(x)) -> (x < limit or not done(x))", "not done(x) -> (done(x))",
    "x < limit and (not done(x)) -> (not (x < limit and (not done(x))))",
    "raise ValueError(f'{x + 1} is too small: {8}') -> pass", "-x ** 2 -> (x ** 2)", "x ** 2 -> (x * 2)", "2 -> (3)",
    "total += max(x, 0.5) -> pass", "max(x, 0.5) -> (min(x, 0.5))", "0.5 -> (1.5)",
    "zip(x, total, strict=True) -> (zip(total, x, strict=True))", "x(y) or y is None -> (x(y) and y is None)",
    "x(y) or y is None -> (not (x(y) or y is None))", "y is None -> (y is not None)",
}  # fmt: skip


def test_the_slips_of_a_source_are_those_that_a_hand_would_make() -> None:
    found = slips("a.py", SOURCE.encode())
    assert {f"{slip.before} -> {slip.after}" for slip in found} == MADE
    assert len({slip.rank for slip in found}) == len(found) == len(MADE)
    for slip in found:
        assert ast.dump(ast.parse(slip.made(SOURCE.encode()))) != ast.dump(ast.parse(SOURCE))
        assert SOURCE.splitlines()[slip.line - 1].strip() == slip.text
    # A name and a rank do not change where a line moves.
    moved = slips("a.py", b"import this\n" + SOURCE.encode())
    assert [slip.name for slip in moved] == [slip.name for slip in found]


def test_a_slip_is_killed_where_a_test_asks_for_what_it_changes(tmp_path: Path) -> None:
    source, test = "def twice(x):\n    return 2 * x\n\n\ndef other(x):\n    return 2 * x\n", "toy_test.py"
    root = copied(tmp_path)
    (root / "toy.py").write_text(source)
    (root / test).write_text("import toy\n\ndef test_twice():\n    assert toy.twice(2) == 4\n")
    room = room_of(root, [test])
    assert room.of("toy.py:1") == [f"{test}::test_twice"]
    tried = {slip.name: trial_of(root, room, "toy.py", slip.line, slip.made(source.encode())) for slip in
             slips("toy.py", source.encode())}  # fmt: skip
    assert (root / "toy.py").read_text() == source
    killed = f"{test}::test_twice"
    # 2/x is 1 for x = 2; what no test runs lives.
    assert list(tried.values()) == [killed, killed, "", ""]
