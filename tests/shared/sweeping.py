"""What the tests of sweeps share: a small sweep, its file, its rows, and the command."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Executor, Future
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest

from giantsteps.numerics.sweeps.chunk import columns, solve_chunk
from giantsteps.numerics.sweeps.store import FILE
from giantsteps.numerics.sweeps.sweep import Axis, Sweep
from giantsteps.reports.command_line.cli import run as giantsteps

FIXED = {"beta": 1.0, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
WORKED = """\
activation = "tanh(z)"
target = "sin(z)"
alpha = "0.5:2:4"
ridge = "log:0.01:1:3"
beta = 1
spike = 1.0
bulk = 1.0
alignment = 0.8
"""
# Batch and single solver converge the same equations to 1e-12 and refine the quadrature to 1e-11; the numbers compared
# are of order one, their derivatives in the unknowns up to about ten.
SAME = 1e-9


def axes(swept: dict[str, Sequence[float]], fixed: dict[str, float] | None = None) -> tuple[Axis, ...]:
    """Swept parameters, then fixed ones."""
    held = {**FIXED, "ridge": 0.1, "alpha": 1.5} if fixed is None else fixed
    return (
        *(Axis(name, tuple(values)) for name, values in swept.items()),
        *(Axis(name, (value,), swept=False) for name, value in held.items() if name not in swept),
    )


def theory(swept: dict[str, Sequence[float]], **more: Any) -> Sweep:
    """A sweep of tanh learning sin."""
    return Sweep("tanh(z)", "sin(z)", axes(swept, more.pop("fixed", None)), **more)


def rows(sweep: Sweep, start: int = 0, stop: int | None = None) -> list[dict[str, Any]]:
    """Computed rows by column name."""
    names = columns(sweep)
    found = solve_chunk(sweep, start, len(sweep) if stop is None else stop)
    return [dict(zip(names, row, strict=True)) for row in found]


def stored(directory: Path, table: str = "points") -> list[tuple[Any, ...]]:
    """Everything in one table of a result file, read as anybody might."""
    file = sqlite3.connect(directory / FILE, timeout=30)
    try:
        return list(file.execute(f"SELECT * FROM {table} ORDER BY 1"))
    finally:
        file.close()


def runs_of_chunks(directory: Path) -> list[tuple[int, int]]:
    """The chunks in a result file and the runs that computed them."""
    return [(number, run) for number, run, _ in stored(directory, "chunks")]


def written(tmp_path: Path, text: str = WORKED) -> Path:
    """A sweep file."""
    path = tmp_path / "grid.toml"
    path.write_text(text, encoding="utf-8")
    return path


class Scripted(Executor):
    """Computes in this process; `script` says what happens at some tasks instead.

    Of a task's number, from 1 on: an exception that it meets, "lost" (cancelled, as by a scheduler that was lost),
    "waits" (for ever), "refused" (the pool is broken) or what is called before it is done.
    """

    def __init__(self, script: Mapping[int, Any]) -> None:
        self.script, self.futures = script, list[Future[Any]]()

    def submit(self, task: Callable[..., Any], /, *given: Any, **more: Any) -> Future[Any]:
        """A task that is done, or what the script says."""
        future: Future[Any] = Future()
        self.futures.append(future)
        what = self.script.get(len(self.futures))
        if what == "refused":
            raise BrokenProcessPool("the pool is broken")
        if what == "lost":
            future.cancel()
            future.set_running_or_notify_cancel()
        elif isinstance(what, Exception):
            future.set_exception(what)
        elif what != "waits":
            if what is not None:
                what()
            future.set_result(task(*given, **more))
        return future


def small() -> Sweep:
    """48 points in three chunks."""
    return theory({"alpha": tuple(0.5 + 0.1 * k for k in range(12)), "ridge": (0.01, 0.1, 1.0, 10.0)})


def command(capfd: pytest.CaptureFixture[str], *args: str) -> tuple[int, str, str]:
    """Exit code, stdout and stderr of giantsteps sweep, run in this process."""
    capfd.readouterr()
    code = giantsteps(["sweep", *args])
    out, err = capfd.readouterr()
    return code, out, err
