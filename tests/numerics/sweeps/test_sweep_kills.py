"""Kills in mid-sweep: the command, a worker process, a Dask worker. Nothing is lost, nothing is repeated."""

from __future__ import annotations

import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Sequence
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import psutil
import pytest

from giantsteps.numerics.sweeps.chunk import solve_chunk
from giantsteps.numerics.sweeps.store import FILE
from giantsteps.reports.answers.sweep_file import read_sweep
from tests.shared.sweeping import runs_of_chunks, stored, written

ROOT = Path(__file__).resolve().parent.parent.parent.parent

SLOW = """\
kind = "both"
activation = "tanh(z)"
target = "sin(z)"
alpha = "0.5:2:40"
ridge = [0.01, 0.1]
beta = 1
spike = 1.0
bulk = 1.0
alignment = 0.8
[simulation]
dimension = 150
seeds = 6
"""


def begun(*args: str) -> subprocess.Popen[str]:
    """giantsteps sweep in a process of its own, with one thread of linear algebra: its matrices are small."""
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [sys.executable, "-m", "giantsteps", "sweep", *args],
        cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


def finished(*args: str) -> tuple[int, str]:
    """Exit code and stdout of giantsteps sweep, run to its end in a process of its own; nothing on stderr."""
    process = begun(*args)
    out, err = process.communicate(timeout=120)
    assert err == ""
    return process.returncode, out


def chunks_in(directory: Path) -> int:
    """How many chunks are in the file; 0 while there is none, or while it is being written.

    A reader that waited for its turn would wait longer than many a sweep runs, where the disk is slow: each chunk is
    synchronised to it under a lock.
    """
    if not (directory / FILE).exists():
        return 0
    try:
        with closing(sqlite3.connect(directory / FILE, timeout=0.0)) as file:
            return int(file.execute("SELECT count(*) FROM chunks").fetchone()[0])
    except sqlite3.OperationalError:  # the tables are not there yet, or somebody writes
        return 0


def wait_for(directory: Path, chunks: int, process: subprocess.Popen[str], seconds: float = 60.0) -> None:
    """Until so many chunks are in the file of a running sweep."""
    ends = time.monotonic() + seconds
    while chunks_in(directory) < chunks:
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < ends
        time.sleep(0.005)


def test_a_killed_sweep_goes_on_and_repeats_nothing(tmp_path: Path) -> None:
    grid, out = str(written(tmp_path, SLOW)), tmp_path / "out"
    process = begun(grid, "--out", str(out))
    wait_for(out, 3, process)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    # Killed in mid-sweep: something is there, something is not, and what is there is whole chunks.
    before = stored(out)
    kept = runs_of_chunks(out)
    assert 3 <= len(kept) < 40
    assert len(before) == 2 * len(kept)
    code, said = finished(grid, "--out", str(out), "--resume", "--json")
    assert (code, json.loads(said)["computed"]) == (0, 80 - len(before))
    after = stored(out)
    assert [row[0] for row in after] == list(range(80))
    # What the first run had computed is as it was, and still of the first run.
    assert after[: len(before)] == before
    assert runs_of_chunks(out) == [(k, 1 if k < len(kept) else 2) for k in range(40)]
    # And what the killed process had computed is what any other computes, to rounding: linear algebra may be threaded.
    expected = solve_chunk(read_sweep(Path(grid)).sweep, 2 * len(kept) - 2, 2 * len(kept))
    for row, other in zip(expected, after[2 * len(kept) - 2 : 2 * len(kept)], strict=True):
        same_numbers(row, other)


def same_numbers(row: Sequence[Any], other: Sequence[Any]) -> None:
    """Equal up to rounding in linear algebra, which at a ridge of 0.01 loses two or three digits of sixteen."""
    assert [x for x in row if not isinstance(x, float)] == [x for x in other if not isinstance(x, float)]
    numbers = [(x, y) for x, y in zip(row, other, strict=True) if isinstance(x, float)]
    assert [x for x, _ in numbers] == pytest.approx([y for _, y in numbers], rel=1e-9, abs=1e-11)


@pytest.mark.thorough
def test_worker_processes_die_and_their_parent_dies(tmp_path: Path) -> None:
    grid, out = str(written(tmp_path, SLOW.replace('alpha = "0.5:2:40"', 'alpha = "0.5:2:100"'))), tmp_path / "out"
    process = begun(grid, "--out", str(out), "--workers", "2")
    wait_for(out, 2, process)
    workers = worker_processes(process.pid)
    assert len(workers) == 2
    workers[0].send_signal(signal.SIGKILL)
    said, err = process.communicate(timeout=60)
    kept = chunks_in(out)
    assert 2 <= kept < 100
    assert (process.returncode, said) == (4, "")
    assert f"workers were lost (killed, out of memory or unreachable); {2 * kept} of 200 points are kept" in err
    assert "--resume goes on" in err

    process = begun(grid, "--out", str(out), "--workers", "2", "--resume")
    wait_for(out, kept + 2, process)
    workers = worker_processes(process.pid)
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=20)
    # Workers do not outlive their parent: they end within the time that a busy machine takes to notice.
    assert psutil.wait_procs(workers, timeout=20)[1] == []
    code, said = finished(grid, "--out", str(out), "--resume", "--json")
    assert code == 0
    runs = [run for _, run in runs_of_chunks(out)]
    assert {1, 2, 3} == set(runs)
    assert len(runs) == 100
    assert json.loads(said)["computed"] == 2 * runs.count(3)
    assert [row[0] for row in stored(out)] == list(range(200))


MANY = """\
activation = "tanh(z)"
target = "sin(z)"
alpha = "0.5:2:2000"
beta = [0.5, 1, 2]
ridge = "log:0.01:1:5"
spike = 1.0
bulk = 1.0
alignment = 0.8
"""


@pytest.mark.parametrize("attempts", [1, pytest.param(200, marks=pytest.mark.thorough)])
def test_no_moment_of_a_kill_hangs_a_sweep(tmp_path: Path, attempts: int) -> None:
    """Killed, interrupted or with a worker lost at random moments: it ends, no worker is left, and nothing is lost."""
    grid, out, choose = str(written(tmp_path, MANY)), tmp_path / "out", random.Random(attempts)
    for _ in range(attempts):
        process = begun(grid, "--out", str(out), "--workers", "2", *(["--resume"] if out.exists() else []))
        time.sleep(choose.uniform(0.8, 2.0))
        workers = worker_processes(process.pid) if process.poll() is None else []
        if workers and choose.random() < 0.25:
            with suppress(psutil.NoSuchProcess):
                choose.choice(workers).send_signal(signal.SIGKILL)
        else:
            process.send_signal(choose.choice([signal.SIGTERM, signal.SIGHUP, signal.SIGINT]))
        _, err = process.communicate(timeout=60)
        assert psutil.wait_procs(workers, timeout=20)[1] == []
        assert err.count("\n") <= 1
        assert "Traceback" not in err
    assert finished(grid, "--out", str(out), *(["--resume"] if out.exists() else []), "--json")[0] == 0
    assert finished(grid, "--out", str(tmp_path / "undisturbed"), "--json")[0] == 0
    assert stored(out) == stored(tmp_path / "undisturbed")


def worker_processes(parent: int) -> list[psutil.Process]:
    """The spawned workers of a process pool that live; not the process that tracks their resources."""
    found = []
    # Parent and children may end at any moment of the search: whoever has ended is no worker.
    with suppress(psutil.NoSuchProcess):
        for child in psutil.Process(parent).children():
            with suppress(psutil.NoSuchProcess):
                found += [child] if "spawn_main" in " ".join(child.cmdline()) else []
    return found


@pytest.mark.thorough
def test_a_dask_worker_dies_in_mid_sweep_and_nothing_is_lost(tmp_path: Path) -> None:
    from distributed import LocalCluster

    grid, out = str(written(tmp_path, SLOW)), tmp_path / "out"
    with LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=None) as cluster:
        pids = {worker.pid for worker in cluster.workers.values()}
        assert len(pids) == 2
        process = begun(grid, "--out", str(out), "--dask", cluster.scheduler_address, "--json")
        wait_for(out, 4, process)
        os.kill(min(pids), signal.SIGKILL)
        assert chunks_in(out) < 40
        said, err = process.communicate(timeout=120)
        # The scheduler gave the dead worker's chunk to another; the nanny has started a new worker meanwhile.
        assert process.returncode == 0, err
        assert json.loads(said)["computed"] == 80
    found = stored(out)
    assert [row[0] for row in found] == list(range(80))
    assert [number for number, _ in runs_of_chunks(out)] == list(range(40))
    sweep = read_sweep(Path(grid)).sweep
    for k in (0, 20, 39):
        for row, other in zip(solve_chunk(sweep, 2 * k, 2 * k + 2), found[2 * k : 2 * k + 2], strict=True):
            same_numbers(row, other)
