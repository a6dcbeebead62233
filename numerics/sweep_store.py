"""The results of a sweep in one SQLite file, which is valid at any moment.

A chunk is one transaction: it is in the file whole or not at all, also after the writer was killed. SQLite keeps its
default rollback journal, so that there is one file to copy once nobody writes; after a kill the next reader rolls back
what was half written (the file results.sqlite-journal has to stay beside it until then).

Tables: points (one row each, see `numerics.sweep_chunk.columns`), chunks (number, and the run that computed it), runs
(the version of what ran) and provenance (key, value: the sweep as written, its digest, the number of points).
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType

from numerics.sweep import Sweep, SweepError
from numerics.sweep_chunk import Row, columns

FILE, LOCK = "results.sqlite", "results.lock"
# 2: with the errors at a finite width.
FORMAT = "2"
# A reader may hold the file while it looks; a writer waits this many seconds for it.
PATIENCE = 60.0


class Store:
    """An open result file; the only one that writes to its directory until it is closed.

    `kept` is the number of points found in it when it was opened, `run` the number of this run, 1 for the first.
    """

    def __init__(self, directory: Path, sweep: Sweep, *, resume: bool, origin: Mapping[str, str]) -> None:
        """Begin in a directory that is empty or not there, or go on where `resume` finds the same sweep.

        `origin`: what is kept as provenance beside digest and size ("suite" is kept for every run). Raises
        SweepError where the directory is not empty, holds another sweep, or is being written to.
        """
        self.sweep, self.size = sweep, sweep.chunk
        path = directory / FILE
        if not resume and directory.is_dir() and any(directory.iterdir()):
            raise SweepError(
                f"{directory} is not empty: give a new directory, or --resume to go on with a sweep begun there"
            )
        if resume and directory.is_dir() and not path.exists() and any(x.name != LOCK for x in directory.iterdir()):
            raise SweepError(f"{directory} holds other files and no {FILE} to go on with: give a new directory")
        try:
            directory.mkdir(parents=True, exist_ok=True)
            self._lock = _locked(directory)
            self._file = sqlite3.connect(path, timeout=PATIENCE, isolation_level=None)
        except (OSError, sqlite3.Error) as error:
            raise SweepError(f"{directory} cannot be written to ({error}): give another directory") from None
        try:
            self.run = self._begin(origin)
            self.kept = self.stored
        except sqlite3.DatabaseError as error:
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
                self._lay(file, origin)
            found = dict(file.execute("SELECT key, value FROM provenance"))
            if found.get("format") != FORMAT or found.get("digest") != self.sweep.digest:
                raise SweepError(
                    "the directory holds the results of a different sweep: give a new directory, or the file that "
                    "they were begun with"
                )
            # Chunks are counted as they were cut when the sweep was begun.
            self.size = int(found["chunk"])
            run = file.execute("INSERT INTO runs (suite) VALUES (?)", (origin.get("suite", ""),)).lastrowid
        assert run is not None
        return run

    def _lay(self, file: sqlite3.Connection, origin: Mapping[str, str]) -> None:
        first, *others = columns(self.sweep)
        texts = {"status": "TEXT", "converged": "INTEGER", "n": "INTEGER", "p": "INTEGER", "n0": "INTEGER"}
        described = ", ".join(f"{name} {texts.get(name, 'REAL')}" for name in others)
        file.execute("CREATE TABLE provenance (key TEXT PRIMARY KEY, value TEXT)")
        file.execute("CREATE TABLE runs (id INTEGER PRIMARY KEY, suite TEXT)")
        file.execute("CREATE TABLE chunks (number INTEGER PRIMARY KEY, run INTEGER REFERENCES runs)")
        file.execute(f"CREATE TABLE points ({first} INTEGER PRIMARY KEY, {described})")
        known = {"format": FORMAT, "digest": self.sweep.digest, "points": len(self.sweep), "chunk": self.size}
        rows = {key: str(value) for key, value in (dict(origin) | known).items()}
        file.executemany("INSERT INTO provenance VALUES (?, ?)", rows.items())

    @property
    def stored(self) -> int:
        """How many points are in the file."""
        return int(self._file.execute("SELECT count(*) FROM points").fetchone()[0])

    @property
    def failures(self) -> dict[str, int]:
        """The reasons of the points that failed, with how many gave each, the most frequent first."""
        query = "SELECT status, count(*) FROM points WHERE NOT converged GROUP BY status ORDER BY count(*) DESC, status"
        return dict(self._file.execute(query))

    def pending(self) -> Iterator[tuple[int, int, int]]:
        """(number, start, stop) of every chunk that is not in the file yet, in order."""
        done = {number for (number,) in self._file.execute("SELECT number FROM chunks")}
        for number, start in enumerate(range(0, len(self.sweep), self.size)):
            if number not in done:
                yield number, start, min(start + self.size, len(self.sweep))

    def add(self, number: int, rows: Sequence[Row]) -> None:
        """One chunk, in one transaction. Raises sqlite3.IntegrityError where it is there already."""
        marks = ", ".join("?" * len(columns(self.sweep)))
        with self._transaction() as file:
            file.execute("INSERT INTO chunks VALUES (?, ?)", (number, self.run))
            file.executemany(f"INSERT INTO points VALUES ({marks})", rows)


def _locked(directory: Path) -> sqlite3.Connection:
    """A lock on the directory that ends with the process, however it ends."""
    lock = sqlite3.connect(directory / LOCK, timeout=0.0, isolation_level=None)
    try:
        lock.execute("BEGIN EXCLUSIVE")
    except sqlite3.OperationalError:
        lock.close()
        raise SweepError(f"another sweep is writing to {directory}: wait for it, or give another directory") from None
    return lock
