"""A damaged result file: --resume computes what is missing, or refuses in one sentence; it never passes over a hole.

Every table, row and field is deleted or altered in turn, the file is cut and overwritten at many places; what is
computed again is counted.
"""

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Iterator
from concurrent.futures import Executor
from pathlib import Path
from typing import Any

import pytest

from giantsteps.numerics.sweeps.chunk import Row, solve_chunk
from giantsteps.numerics.sweeps.run import WorkerLostError, run
from giantsteps.numerics.sweeps.store import FILE, LOCK, Store, StoreError
from giantsteps.numerics.sweeps.sweep import Sweep
from giantsteps.reports.answers.sweep_file import read_sweep
from tests.shared.sweeping import Scripted, command, runs_of_chunks, stored, written

# 33 points in chunks of 16, 16 and 1; two of them fail.
GRID = """\
activation = "tanh(z)"
target = "sin(z)"
alpha = "0.5:1.5:11"
ridge = [0, 0.1, 1]
beta = 1
spike = 1.0
bulk = 1.0
alignment = 0.8
"""
TABLES = {
    "points": ("point", "alpha", "status", "converged", "test_error", "V2"),
    "chunks": ("number", "run", "checksum"),
    "runs": ("id", "suite"),
    "provenance": ("key", "value"),
}
OTHERS = ("NULL", "0", "7", "-1", "1e300", "'x'", "x'00ff'", "CAST(x'ff' AS TEXT)", "'1'")
Damage = Callable[[Path], None]


class Case:
    """An undisturbed sweep: its file, its rows, and copies of it complete and half done."""

    def __init__(self, directory: Path) -> None:
        self.grid = written(directory, GRID)
        self.sweep = read_sweep(self.grid).sweep
        self.rows = solve_chunk(self.sweep, 0, 16) + solve_chunk(self.sweep, 16, 32) + solve_chunk(self.sweep, 32, 33)
        self.whole, self.half = directory / "whole", directory / "half"
        self.failed = sum(1 for row in stored_like(self.rows, self.sweep) if not row["converged"])
        for out, chunks in ((self.whole, (0, 1, 2)), (self.half, (1,))):
            with Store(out, self.sweep, resume=False, origin={"suite": "1", "description": GRID}) as store:
                assert store.size == 16
                for number in chunks:
                    store.add(number, self.rows[16 * number : 16 * number + 16])


def stored_like(rows: list[Row], sweep: Sweep) -> list[dict[str, Any]]:
    """Rows by name."""
    from giantsteps.numerics.sweeps.chunk import columns

    return [dict(zip(columns(sweep), row, strict=True)) for row in rows]


@pytest.fixture(scope="module")
def case(tmp_path_factory: pytest.TempPathFactory) -> Case:
    return Case(tmp_path_factory.mktemp("sweep"))


def executed(*statements: str) -> Damage:
    """A damage in SQL."""

    def damage(out: Path) -> None:
        file = sqlite3.connect(out / FILE)
        try:
            for statement in statements:
                file.execute(statement)
            file.commit()
        except sqlite3.IntegrityError:  # a key that is there already: such a row cannot be in a file
            file.rollback()
        finally:
            file.close()

    return damage


def in_fields() -> Iterator[tuple[str, Damage]]:
    """Every table, row and field deleted, altered or doubled."""
    for table, fields in TABLES.items():
        statements = [f"DROP TABLE {table}", f"DELETE FROM {table}", f"ALTER TABLE {table} RENAME TO other"]
        statements += [f"CREATE TABLE other AS SELECT * FROM {table}"]
        for row in range(4):
            which = f"WHERE rowid IN (SELECT rowid FROM {table} ORDER BY rowid LIMIT 1 OFFSET {5 * row})"
            statements += [f"DELETE FROM {table} {which}"]
            statements += [f"UPDATE {table} SET {field} = {other} {which}" for field in fields for other in OTHERS]
        for statement in statements:
            yield statement, executed(statement)
        yield (
            f"{table} without its key, each row twice",
            executed(
                f"CREATE TABLE other AS SELECT * FROM {table} UNION ALL SELECT * FROM {table}",
                f"DROP TABLE {table}",
                f"ALTER TABLE other RENAME TO {table}",
            ),
        )
        for field in fields:
            yield f"{table} without {field}", executed(f"ALTER TABLE {table} RENAME COLUMN {field} TO another")


def in_rows() -> Iterator[tuple[str, Damage]]:
    """Rows that are missing, too many or another's; provenance that says something else."""
    for key in ("format", "digest", "points", "chunk", "suite", "description", "seal"):
        for value in ("1", "3", "17", "24", "'x'", "NULL"):
            statement = f"UPDATE provenance SET value = {value} WHERE key = '{key}'"
            yield statement, executed(statement)
        yield f"no {key}", executed(f"DELETE FROM provenance WHERE key = '{key}'")
    for extra in ("(-1, 1)", "(33, 1)", "(1000, 1)"):
        yield f"a point {extra}", executed(f"INSERT INTO points (point, converged) VALUES {extra}")
    yield "a chunk too many", executed("INSERT INTO chunks VALUES (3, 1, 'x')")
    yield "all points, no chunk", executed("DELETE FROM chunks")
    yield "all chunks, no point", executed("DELETE FROM points")
    yield "two points change places", executed(
        "UPDATE points SET point = 100 WHERE point = 1", "UPDATE points SET point = 1 WHERE point = 2",
        "UPDATE points SET point = 2 WHERE point = 100",
    )  # fmt: skip


def in_bytes() -> Iterator[tuple[str, Damage]]:
    """The file cut at many places, and overwritten at many."""

    def cut(share: float) -> Damage:
        def damage(out: Path) -> None:
            content = (out / FILE).read_bytes()
            (out / FILE).write_bytes(content[: int(share * len(content))])

        return damage

    def overwritten(seed: int) -> Damage:
        def damage(out: Path) -> None:
            content, drawn = bytearray((out / FILE).read_bytes()), random.Random(seed)
            start, length = drawn.randrange(len(content)), drawn.choice((1, 8, 100))
            for place in range(start, min(start + length, len(content))):
                content[place] ^= 1 + drawn.randrange(255)
            (out / FILE).write_bytes(content)

        return damage

    yield from (
        (f"cut at {share}", cut(share)) for share in (0.0, 0.0005, 0.003, 0.05, *(k / 16 for k in range(1, 16)))
    )
    yield from ((f"overwritten {seed}", overwritten(seed)) for seed in range(60))

    def doubled(out: Path) -> None:
        (out / FILE).write_bytes((out / FILE).read_bytes() * 2)

    def locked(out: Path) -> None:
        (out / LOCK).write_bytes(b"this is no database" * 100)

    def journal(out: Path) -> None:
        (out / (FILE + "-journal")).write_bytes(b"this is no journal" * 100)

    yield from (("twice", doubled), ("a strange lock", locked), ("a strange journal", journal))


DAMAGES = [*in_fields(), *in_rows(), *in_bytes()]
# One field in eleven (prime to the number of values that a field is given), one byte in five, and all rows.
SOME = [*list(in_fields())[::11], *in_rows(), *list(in_bytes())[::5]]


@pytest.mark.parametrize(
    ("begun", "damages"),
    [("whole", SOME), *(pytest.param(begun, DAMAGES, marks=pytest.mark.thorough) for begun in ("whole", "half"))],
    ids=["some", "all of a whole sweep", "all of half a sweep"],
)
def test_a_damaged_file_gives_the_undisturbed_results_or_is_refused(
    case: Case, begun: str, damages: list[tuple[str, Damage]], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    expected, wrong, refusals = stored(case.whole), [], 0
    for name, damage in damages:
        out = tmp_path / "out"
        shutil.copytree(getattr(case, begun), out)
        damage(out)
        code, said, err = command(capfd, str(case.grid), "--out", str(out), "--resume")
        if code == 2:
            refusals += 1
            good = said == "" and err.startswith("giantsteps: --out: ") and err.count("\n") == 1
        else:
            good = code == 3 and said.startswith("33 points") and f", {case.failed} failed" in said
            good = good and stored(out) == expected and [k for k, _ in runs_of_chunks(out)] == [0, 1, 2]
        if not good:
            wrong.append((name, code, said, err))
        shutil.rmtree(out)
    assert wrong == []
    # Neither way out is taken always.
    assert 0.1 < refusals / len(damages) < 0.9


def test_only_what_is_damaged_is_computed_again(case: Case, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    shutil.copytree(case.whole, out)
    executed("DELETE FROM points WHERE point = 32")(out)
    code, said, err = command(capfd, str(case.grid), "--out", str(out), "--resume")
    assert code == 3
    assert "33 points (32 were there already)" in said
    assert err == "giantsteps: 1 points in damaged or incomplete chunks of the result file are computed again\n"
    assert runs_of_chunks(out) == [(0, 1), (1, 1), (2, 2)]
    assert stored(out) == stored(case.whole)
    # Points of a run that nobody knows are of unknown origin.
    executed("DELETE FROM runs WHERE id = 1")(out)
    code, said, _ = command(capfd, str(case.grid), "--out", str(out), "--resume")
    assert (code, said.startswith("33 points (1 were there already)")) == (3, True)


class Finer(Sweep):
    """As another version would cut it."""

    chunk = 5  # type: ignore[assignment]


def test_chunks_are_cut_as_they_were_when_the_sweep_was_begun(case: Case, tmp_path: Path) -> None:
    out = tmp_path / "out"
    shutil.copytree(case.half, out)
    with Store(out, Finer(**vars(case.sweep)), resume=True, origin={}) as store:
        assert (store.size, store.kept, store.dropped) == (16, 16, 0)
        assert list(store.pending()) == [(0, 0, 16), (2, 32, 33)]
        run(store)
    assert stored(out) == stored(case.whole)


@pytest.mark.parametrize(
    "meddling",
    [
        "DELETE FROM points WHERE point = 3",
        "DELETE FROM chunks WHERE number = 0",
        "INSERT INTO points (point) VALUES (20)",
        "INSERT INTO chunks VALUES (1, 1, 'x')",
        "DROP TABLE points",
    ],
)
def test_another_process_that_writes_at_once_is_noticed(case: Case, tmp_path: Path, meddling: str) -> None:
    with Store(tmp_path / "out", case.sweep, resume=False, origin={}) as store:
        here = Scripted({2: lambda: executed(meddling)(tmp_path / "out")})
        with pytest.raises(StoreError, match=r"another process|cannot be"):
            run(store, executor=here, window=1)


@pytest.mark.parametrize("executor", [None, Scripted({})])
def test_progress_is_what_is_stored_chunk_by_chunk(case: Case, tmp_path: Path, executor: Executor | None) -> None:
    out, told = tmp_path / "out", list[int]()
    shutil.copytree(case.half, out)
    with Store(out, case.sweep, resume=True, origin={}) as store:
        # Of 33 points in chunks of 16, 16 and 1 the second chunk is there.
        assert run(store, executor=executor, window=1, progress=told.append) == 17
        assert told == [16, 32, 33]
        assert run(store, executor=executor, progress=told.append) == 0
    assert told[3:] == [33]


def test_a_cancelled_task_loses_its_chunk_to_nobody(case: Case, tmp_path: Path) -> None:
    with Store(tmp_path / "out", case.sweep, resume=False, origin={}) as store:
        with pytest.raises(WorkerLostError):
            run(store, executor=Scripted({2: "lost"}), window=3)
        assert [number for number, _, _ in store.pending()] == [1]
        run(store)
    assert stored(tmp_path / "out") == stored(case.whole)


def test_a_full_disk_is_one_sentence(
    case: Case, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    connect = sqlite3.connect

    def small(path: Path, **more: Any) -> sqlite3.Connection:
        """A connection that meets a full disk once its file has 16 pages."""
        file = connect(path, **more)
        if Path(path).name == FILE:
            file.execute("PRAGMA page_size = 512")
            file.execute("PRAGMA max_page_count = 16")
        return file

    monkeypatch.setattr("giantsteps.numerics.sweeps.store.sqlite3.connect", small)
    code, said, err = command(capfd, str(case.grid), "--out", str(out))
    assert (code, said, err.count("\n")) == (2, "", 1)
    assert "disk is full" in err
    assert "--resume goes on" in err
    monkeypatch.setattr("giantsteps.numerics.sweeps.store.sqlite3.connect", connect)
    assert len(stored(out)) < 33
    assert command(capfd, str(case.grid), "--out", str(out), "--resume")[0] == 3
    assert stored(out) == stored(case.whole)


def test_a_store_error_is_said_by_the_library_too(case: Case, tmp_path: Path) -> None:
    with Store(tmp_path / "out", case.sweep, resume=False, origin={}) as store:
        executed("DROP TABLE points")(tmp_path / "out")
        for ask in (lambda: store.stored, lambda: store.failures, lambda: store.add(0, case.rows[:16])):
            with pytest.raises(StoreError, match="cannot be"):
                ask()


# What is done to a whole file, which points are then computed again, and how many of them are counted.
STRAYS = {
    "points of a chunk without its record": ("DELETE FROM chunks WHERE number = 1", (1,), 16),
    "a record without its points": ("DELETE FROM points WHERE point >= 16 AND point < 32", (1,), 16),
    "a chunk of a run that never was": ("UPDATE chunks SET run = 7 WHERE number = 2", (2,), 1),
    "a record of a chunk that is none": ("INSERT INTO chunks VALUES (9, 1, 'x')", (), 0),
    "a chunk that is not there at all": (
        "DELETE FROM chunks WHERE number = 1; DELETE FROM points WHERE point >= 16 AND point < 32", (1,), 0,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", STRAYS)
def test_what_belongs_to_no_sound_chunk_is_dropped_and_counted(case: Case, tmp_path: Path, name: str) -> None:
    damage, missing, dropped = STRAYS[name]
    shutil.copytree(case.whole, tmp_path / "out")
    file = sqlite3.connect(tmp_path / "out" / FILE)
    file.executescript(damage)
    file.close()
    with Store(tmp_path / "out", case.sweep, resume=True, origin={"suite": "2"}) as store:
        assert (store.dropped, store.kept) == (dropped, 33 - sum((16, 16, 1)[number] for number in missing))
        assert [number for number, _, _ in store.pending()] == list(missing)
        for number in missing:
            store.add(number, case.rows[16 * number : 16 * number + 16])
        store.check_complete()
    # Each chunk has the run that computed it, and no chunk is recorded that is none.
    expected = [(number, 2 if number in missing else 1) for number in range(3)]
    assert runs_of_chunks(tmp_path / "out") == expected
    assert stored(tmp_path / "out", "runs") == [(1, "1"), (2, "2")]
    assert stored(tmp_path / "out") == stored(case.whole)


def test_the_provenance_is_what_is_asked_for_and_cannot_be_given(case: Case, tmp_path: Path) -> None:
    given = {"suite": "3", "digest": "mine", "points": "7", "note": "kept"}
    Store(tmp_path / "out", case.sweep, resume=False, origin=given).close()
    found = dict(stored(tmp_path / "out", "provenance"))
    del found["seal"]
    expected = {"suite": "3", "note": "kept", "format": "2", "digest": case.sweep.digest, "points": "33", "chunk": "16"}
    assert found == expected


def test_points_that_are_another_chunks_are_not_taken(case: Case, tmp_path: Path) -> None:
    with Store(tmp_path / "out", case.sweep, resume=False, origin={}) as store:
        for wrong in (case.rows[16:32], case.rows[1:17], case.rows[:15], [*case.rows[:16], case.rows[20]]):
            with pytest.raises(StoreError, match="came back from a worker"):
                store.add(0, wrong)
        assert (store.stored, len(list(store.pending()))) == (0, 3)
        store.add(0, iter(case.rows[:16]))
        failed = {row["status"] for row in stored_like(case.rows[:16], case.sweep) if not row["converged"]}
        assert set(store.failures) == failed
        assert failed


def test_the_most_frequent_reason_is_the_first(case: Case, tmp_path: Path) -> None:
    with Store(tmp_path / "out", case.sweep, resume=False, origin={}) as store:
        names = list(stored_like(case.rows[:1], case.sweep)[0])
        converged, status = names.index("converged"), names.index("status")
        reasons = [None] * 5 + ["z"] * 6 + ["b", "a"] * 2 + ["m"]
        rows = [list(row) for row in case.rows[:16]]
        for row, reason in zip(rows, reasons, strict=True):
            row[converged], row[status] = int(reason is None), reason or "converged"
        store.add(0, [tuple(row) for row in rows])
        assert list(store.failures.items()) == [("z", 6), ("a", 2), ("b", 2), ("m", 1)]
