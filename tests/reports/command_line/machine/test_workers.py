"""Worker processes: which takes which task, what becomes of lost ones, their pace and their end."""

from __future__ import annotations

import gc
import os
import platform
import signal
import sys
import time
from concurrent.futures import BrokenExecutor, wait
from pathlib import Path

import numpy as np
import pytest

from giantsteps.reports.command_line.machine.pace import ALLOCATIONS, SYMPY_RESULTS
from giantsteps.reports.command_line.machine.workers import pool
from giantsteps.reports.command_line.problems import InputProblem
from giantsteps.verify.ledger.run import spread

KEPT: list[object] = []


class OddError(Exception):
    """An error that pickles and cannot be made again."""

    def __init__(self, one: int, other: int) -> None:
        super().__init__(f"{one} is not {other}")


class Tells:
    """Says in a file when it is taken apart."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __del__(self) -> None:
        self.file.touch()


def keep(file: Path, text: str) -> int:
    """Something that lives as long as the worker does, and a text that waits in its buffer."""
    KEPT.append(Tells(file))
    sys.stdout.write(text)
    return len(KEPT)


def begin(word: str, go: Path) -> list[object]:
    """What this worker has begun, once a file is there."""
    KEPT.append(word)
    while not go.exists():
        time.sleep(0.01)
    return list(KEPT)


def fail(kind: str) -> object:
    """Fail in some way."""
    if kind == "odd":
        raise OddError(1, 2)
    if kind == "unsendable":
        return lambda: None
    if kind == "half an answer":
        # Killed while it writes more than a pipe holds: the length is there, the rest is not.
        os.write(max(int(name) for name in os.listdir("/proc/self/fd") if _is_pipe(name)), b"\x00\xff\xff\xff")
    os.kill(os.getpid(), signal.SIGKILL)
    return None


def _is_pipe(name: str) -> bool:
    return os.path.exists(f"/proc/self/fd/{name}") and os.readlink(f"/proc/self/fd/{name}").startswith("socket:")


def found() -> tuple[int, int | None]:
    """The threshold of this process for garbage, and how many results of a sum SymPy keeps in it."""
    from sympy import Add

    return gc.get_threshold()[0], Add.__new__.cache_info().maxsize


def pages_taken() -> int:
    """How many pages the system gives this process while eight arrays of 1 MB are made and dropped, twenty times."""
    import resource

    def make() -> None:
        _ = [np.ones(1 << 17) for _ in range(8)]

    make()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(20):
        make()
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before


@pytest.mark.parametrize(("words", "order"), [("cdb", "cdb"), ("hbcag", "hgcba"), ("?acb?", "??abc")])
def test_a_worker_takes_what_has_no_place_then_the_neighbour_of_its_last_task(
    tmp_path: Path, words: str, order: str
) -> None:
    with pool(workers=1, near="abcdefgh") as executor:
        futures = [executor.submit(begin, word, tmp_path / "go") for word in words]
        (tmp_path / "go").touch()
        wait(futures)
    assert max((future.result() for future in futures), key=len) == list(order)


def test_an_error_is_that_of_its_own_task_alone() -> None:
    with pool(workers=1) as executor:
        with pytest.raises(RuntimeError, match="OddError: 1 is not 2"):
            executor.submit(fail, "odd").result(60)
        with pytest.raises(AttributeError, match="pickle"):
            executor.submit(fail, "unsendable").result(60)
        with pytest.raises(AttributeError, match="pickle"):
            executor.submit(lambda: None).result(60)
        assert executor.submit(len, "four").result(60) == 4


@pytest.mark.parametrize("kind", ["at once", "half an answer"])
def test_with_a_lost_worker_all_that_waits_is_lost(kind: str) -> None:
    """Also with one that is killed in the midst of its answer: nothing waits for ever, and it is no defect."""
    with pool(workers=1) as executor:
        for future in [executor.submit(fail, kind), executor.submit(len, "four")]:
            with pytest.raises(BrokenExecutor):
                future.result(60)
        with pytest.raises(BrokenExecutor):
            executor.submit(len, "four")
    with pytest.raises(InputProblem, match="worker processes were lost"), pool(workers=1) as executor:
        executor.submit(fail, kind).result(60)


def test_this_process_and_its_workers_keep_the_pace() -> None:
    """As much of what SymPy found as a derivation needs, and the memory of dropped arrays."""
    expected = (ALLOCATIONS, int(SYMPY_RESULTS))
    assert found() == expected
    with pool(workers=1) as executor:
        assert executor.submit(found).result() == expected
        # Given back and asked for anew the arrays are 20 * 8 * 256 pages of 4 kB; kept they are 8 * 256 at the most.
        assert executor.submit(pages_taken).result() < 4 * 8 * 256 or platform.libc_ver()[0] != "glibc"


def test_a_worker_ends_at_once_and_loses_nothing(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """What it printed is kept, and what it has built is not taken apart object by object."""
    with pool(workers=1) as executor:
        assert executor.submit(keep, tmp_path / "taken apart", "said").result() == 1
    assert not (tmp_path / "taken apart").exists()
    assert capfd.readouterr().out == "said"


@pytest.mark.parametrize("count", [0, 1, 2, 5, 8, 59])
def test_the_first_of_what_is_spread_are_far_from_each_other(count: int) -> None:
    found = spread([str(k) for k in range(count)])
    assert sorted(found, key=int) == [str(k) for k in range(count)]
    if count == 59:
        assert found[:4] == ["0", "32", "16", "48"]
