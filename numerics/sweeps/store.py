"""The results of a sweep in one SQLite file, which is valid at all times.

A chunk is one transaction: it is in the file whole or not at all, also after the writer was killed. SQLite keeps its
default rollback journal, so that there is one file to copy once nobody writes; after a kill the next reader rolls back
what was half written (the file results.sqlite-journal has to stay beside it until then).

Tables: points (one row each, see `numerics.sweeps.chunk.columns`), chunks (number, the run that computed it, checksum
of its points), runs (the version of what ran) and provenance (key, value: the sweep as written, its digest, the number
of points, and a seal over all of it).

Whoever goes on with a file believes none of it: a chunk counts whose points are all there and as they were written;
any other is dropped and computed again. A file whose provenance or tables are not as they were laid is refused.
"""

from __future__ import annotations

import hashlib
import marshal
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any

from giantsteps.numerics.sweeps.chunk import Row, columns
from giantsteps.numerics.sweeps.sweep import Sweep, SweepError

FILE, LOCK = "results.sqlite", "results.lock"
# 2: with the errors at a finite width, and with what tells damage.
FORMAT = "2"
# A reader may hold the file while it looks; a writer waits this many seconds for it.
PATIENCE = 60.0


class StoreError(SweepError):
    """The result file cannot be read or written, or is not as it was left: what was finished before is kept."""


class Store:
    """An open result file; the only one that writes to its directory until it is closed.

    `kept` is the number of points found in it when it was opened, `dropped` of those that were damaged and are computed
    again, `run` the number of this run, 1 for the first.
    """

    def __init__(self, directory: Path, sweep: Sweep, *, resume: bool, origin: Mapping[str, str]) -> None:
        """Begin in a directory that is empty or not there, or go on where `resume` finds the same sweep.

        `origin`: what is kept as provenance beside digest and size ("suite" is kept for every run). Raises
        SweepError where the directory is not empty, holds another sweep, or is being written to.
        """
        self.sweep, self.size, self.dropped = sweep, sweep.chunk, 0
        self.path = path = directory / FILE
        if not resume and directory.is_dir() and any(directory.iterdir()):
            raise SweepError(
                f"{directory} is not empty: give a new directory, or resume=True to go on with a sweep begun there"
            )
        if resume and directory.is_dir() and not path.exists() and any(x.name != LOCK for x in directory.iterdir()):
            raise SweepError(f"{directory} holds other files and no {FILE} to go on with: give a new directory")
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(directory)
            self._file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            reason = getattr(error, "strerror", None) or error
            raise SweepError(f"{directory} cannot be written to ({reason}): give another directory") from None
        try:
            self.run = self._begin(origin)
            self.kept = self.stored
        except sqlite3.Error as error:
            self.close()
            raise SweepError(f"{path} cannot be used as the result file ({error}): give a new directory") from None
        except SweepError:
            self.close()
            raise

    def __enter__(self) -> Store:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and let others write."""
        self._file.close()
        self._lock.close()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing."""
        with self._file:
            self._file.execute("BEGIN IMMEDIATE")
            yield self._file

    def _begin(self, origin: Mapping[str, str]) -> int:
        """Lay the tables, or check those that are there; number this run."""
        with self._transaction() as file:
            if not file.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]:
                for statement in self._tables.values():
                    file.execute(statement)
                known = {"format": FORMAT, "digest": self.sweep.digest, "points": len(self.sweep), "chunk": self.size}
                rows = [(key, str(value)) for key, value in (dict(origin) | known).items()]
                file.executemany("INSERT INTO provenance VALUES (?, ?)", [*rows, ("seal", _seal(rows))])
            else:
                self._check(file)
                self.dropped = self._drop_damaged(file)
            run = file.execute("INSERT INTO runs (suite) VALUES (?)", (origin.get("suite", ""),)).lastrowid
        assert run is not None
        return run

    @property
    def _tables(self) -> dict[str, str]:
        """The tables by name, as they are laid."""
        first, *others = columns(self.sweep)
        texts = {"status": "TEXT", "converged": "INTEGER", "n": "INTEGER", "p": "INTEGER", "n0": "INTEGER"}
        described = ", ".join(f"{name} {texts.get(name, 'REAL')}" for name in others)
        fields = {
            "provenance": "key TEXT PRIMARY KEY, value TEXT",
            "runs": "id INTEGER PRIMARY KEY, suite TEXT",
            "chunks": "number INTEGER PRIMARY KEY, run INTEGER REFERENCES runs, checksum TEXT",
            "points": f"{first} INTEGER PRIMARY KEY, {described}",
        }
        return {name: f"CREATE TABLE {name} ({text})" for name, text in fields.items()}

    def _check(self, file: sqlite3.Connection) -> None:
        """Raises SweepError where the file is damaged beyond its points, or is another sweep's."""
        rows = list(file.execute("SELECT key, value FROM provenance"))
        found = dict(rows)
        if found.get("format") != FORMAT:
            raise SweepError(
                f"{self.path} has the format {str(found.get('format'))[:20]!a} and not {FORMAT}, which this version "
                "writes: give a new directory"
            )
        if found.get("seal") != _seal(rows):
            raise SweepError(f"{self.path} cannot be gone on with, its provenance is damaged: give a new directory")
        if found["digest"] != self.sweep.digest:
            raise SweepError(
                "the directory holds the results of a different sweep: give a new directory, or the file that "
                "they were begun with"
            )
        # Chunks are counted as they were cut when the sweep was begun.
        self.size = int(found["chunk"])
        laid = dict(file.execute("SELECT name, sql FROM sqlite_master WHERE type = 'table'"))
        sound = file.execute("PRAGMA integrity_check(1)").fetchone()[0] == "ok"
        if not sound or any(laid.get(name) != statement for name, statement in self._tables.items()):
            raise SweepError(f"{self.path} is damaged and cannot be gone on with: give a new directory")

    def _drop_damaged(self, file: sqlite3.Connection) -> int:
        """Delete what does not belong to a sound chunk; the number of points that were in it or should have been."""
        runs = {run for (run,) in file.execute("SELECT id FROM runs")}
        recorded = {number: rest for number, *rest in file.execute("SELECT number, run, checksum FROM chunks")}
        dropped = 0
        for number, start, stop in self._chunks():
            run, checksum = recorded.pop(number, (None, None))
            if run in runs and checksum == _checksum(self._rows(file, start, stop)):
                continue
            strays = file.execute("DELETE FROM points WHERE point >= ? AND point < ?", (start, stop)).rowcount
            if file.execute("DELETE FROM chunks WHERE number = ?", (number,)).rowcount or strays:
                dropped += stop - start
        file.executemany("DELETE FROM chunks WHERE number = ?", [(number,) for number in recorded])
        outside = file.execute("DELETE FROM points WHERE point < 0 OR point >= ?", (len(self.sweep),)).rowcount
        return dropped + outside

    def _chunks(self) -> Iterator[tuple[int, int, int]]:
        """(number, start, stop) of every chunk, in order."""
        for number, start in enumerate(range(0, len(self.sweep), self.size)):
            yield number, start, min(start + self.size, len(self.sweep))

    def _rows(self, file: sqlite3.Connection, start: int, stop: int) -> list[Row]:
        """The points start <= point < stop that are in the file, in order."""
        return list(file.execute("SELECT * FROM points WHERE point >= ? AND point < ? ORDER BY point", (start, stop)))

    def _found(self, query: str) -> list[Any]:
        """What a query finds. Raises StoreError where the file cannot be read."""
        try:
            return list(self._file.execute(query))
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be read ({error})") from None

    @property
    def stored(self) -> int:
        """How many points are in the file. Raises StoreError."""
        return int(self._found("SELECT count(*) FROM points")[0][0])

    @property
    def failures(self) -> dict[str, int]:
        """The reasons of the points that failed and how many gave each, the most frequent first. Raises StoreError."""
        query = "SELECT status, count(*) FROM points WHERE NOT converged GROUP BY status ORDER BY count(*) DESC, status"
        return dict(self._found(query))

    def pending(self) -> Iterator[tuple[int, int, int]]:
        """(number, start, stop) of every chunk that is not in the file yet, in order. Raises StoreError."""
        done = {number for (number,) in self._found("SELECT number FROM chunks")}
        return (chunk for chunk in self._chunks() if chunk[0] not in done)

    def add(self, number: int, rows: Iterable[Row]) -> None:
        """One chunk, in one transaction.

        Raises StoreError where it cannot be written, is there already, or `rows` are not the points of this chunk.
        """
        start = number * self.size
        stop = min(start + self.size, len(self.sweep))
        marks = ", ".join("?" * len(columns(self.sweep)))
        try:
            with self._transaction() as file:
                count = file.executemany(f"INSERT INTO points VALUES ({marks})", rows).rowcount
                kept = self._rows(file, start, stop)
                if not len(kept) == count == stop - start:
                    raise StoreError(f"points {start} to {stop - 1} came back from a worker as {count} other points")
                file.execute("INSERT INTO chunks VALUES (?, ?, ?)", (number, self.run, _checksum(kept)))
        except sqlite3.IntegrityError:
            raise StoreError(f"another process writes to {self.path}: points {start} to {stop - 1} are there") from None
        except sqlite3.Error as error:
            raise StoreError(f"{self.path} cannot be written to ({error})") from None

    def check_complete(self) -> None:
        """Raises StoreError where points are missing, though all were computed."""
        missing = len(self.sweep) - self.stored
        if missing or next(self.pending(), None) is not None:
            raise StoreError(f"another process changed {self.path}: at least {max(missing, 1)} points are missing")


def _checksum(rows: list[Row]) -> str:
    """SHA-256 of rows as the database gives them back (it keeps -0.0 as 0.0), exact in every bit.

    The second format of `marshal` depends on values alone; were it to change, chunks would be computed again.
    """
    return hashlib.sha256(marshal.dumps(rows, 2)).hexdigest()


def _seal(rows: Iterable[tuple[Any, Any]]) -> str:
    """SHA-256 of the provenance without the seal itself."""
    return hashlib.sha256(repr(sorted(repr(row) for row in rows if row[0] != "seal")).encode()).hexdigest()


def _locked(directory: Path) -> sqlite3.Connection:
    """A lock on the directory that ends with the process, however it ends."""
    lock = sqlite3.connect(directory / LOCK, timeout=0.0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.Error as error:
        lock.close()
        if not isinstance(error, sqlite3.OperationalError):
            raise
        raise SweepError(f"another sweep is writing to {directory}: wait for it, or give another directory") from None
    return lock
