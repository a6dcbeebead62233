"""What parts of the report made is used again while nothing changes that they rest on, and never otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from giantsteps.reports.command_line.machine.kept import Kept, forget, ground
from giantsteps.reports.page import build


class Counted:
    """A unit of work that knows how often it ran."""

    def __init__(self) -> None:
        self.runs: list[int] = []

    def __call__(self, number: int) -> dict[str, int]:
        self.runs.append(number)
        return {"found": number**2}


def test_a_unit_runs_once(tmp_path: Path) -> None:
    kept, work = Kept(tmp_path / "ground"), Counted()
    assert [kept.unit("three", work, 3) for _ in range(3)] == [{"found": 9}] * 3
    assert kept.unit("four", work, 4) == {"found": 16}
    assert work.runs == [3, 4]
    assert kept.count == 2
    # On another ground it runs again, and where nothing is kept every time.
    Kept(tmp_path / "other").unit("three", work, 3)
    Kept(None).unit("three", work, 3)
    assert work.runs == [3, 4, 3, 3]


@pytest.mark.parametrize("place", [0, 31, 32, -1, None])
def test_a_damaged_file_is_made_again(tmp_path: Path, place: int | None) -> None:
    kept, work = Kept(tmp_path / "ground"), Counted()
    kept.unit("three", work, 3)
    (path,) = (tmp_path / "ground").iterdir()
    whole = path.read_bytes()
    damaged = bytearray(whole)
    if place is None:
        del damaged[len(damaged) // 2 :]
    else:
        damaged[place] ^= 1
    path.write_bytes(damaged)
    assert kept.unit("three", work, 3) == {"found": 9}
    assert work.runs == [3, 3]
    assert path.read_bytes() == whole


def test_who_interrupts_is_told_what_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept(tmp_path / "ground")
    kept.unit("three", Counted(), 3)
    for quiet, said in ((False, "giantsteps: 1 part of the work is kept"), (True, "")):
        with pytest.raises(KeyboardInterrupt), build.telling(kept, Kept(None), quiet=quiet):
            raise KeyboardInterrupt
        assert capsys.readouterr().err.startswith(said)
    with pytest.raises(KeyboardInterrupt), build.telling(Kept(None), quiet=False):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == ""


def files(root: Path) -> Iterator[Path]:
    sources, samples = ("numerics/solver.py", "numerics/deep/rule.py"), ("benchmarks/sample.json", "samples/width.json")
    for name in (*sources, *samples, "reports/ledger.json"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
        yield path


def test_the_ground_changes_with_every_file_of_its_parts(tmp_path: Path) -> None:
    *inside, ledger = files(tmp_path)
    parts = ("numerics", "benchmarks/sample.json", "samples", "reports")

    def now() -> str:
        return ground(tmp_path, parts, but={ledger})

    seen = {now()}
    ledger.write_text("{}", encoding="utf-8")
    (tmp_path / "numerics" / "notes.md").write_text("", encoding="utf-8")
    assert {now()} == seen
    for path in inside:
        path.write_text("changed", encoding="utf-8")
        seen.add(now())
    inside[0].rename(tmp_path / "numerics" / "renamed.py")
    seen.add(now())
    assert len(seen) == len(inside) + 2


def test_what_is_older_is_forgotten(tmp_path: Path) -> None:
    old, new = Kept(tmp_path / "old"), Kept(tmp_path / "new")
    for kept in (old, new):
        kept.unit("three", Counted(), 3)
    forget(tmp_path, but=[new])
    assert (old.count, new.count) == (0, 1)
    forget(tmp_path)
    assert new.count == 0
