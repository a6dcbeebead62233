"""What all tests share."""

from __future__ import annotations

import atexit
import gc
import os
import signal
from pathlib import Path

import pytest

from giantsteps.reports.command_line.machine.pace import ALLOCATIONS, steady

steady()  # as in every process of the command
# What one test builds stays for the next, millions of objects in the end: to look through all of them takes seconds,
# and finds next to nothing, for garbage dies young. What is old is looked through once, at the end.
gc.set_threshold(ALLOCATIONS, 10, 1000)

# Threads that wait for each other on a busy machine cost ten times what they compute: one each, as `make test` says and
# as `pool` gives its workers, unless told otherwise, set before NumPy is loaded. Processes of the tests inherit it.
for name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")


@pytest.fixture(scope="session")
def swept_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the results of a small sweep, `results`."""
    from tests.shared.sweeping import giantsteps, written

    folder = tmp_path_factory.mktemp("swept")
    assert giantsteps(["sweep", str(written(folder)), "--out", str(folder / "results"), "--quiet"]) == 0
    return folder


@pytest.fixture
def in_swept_folder(swept_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The working directory is the folder of the small sweep."""
    monkeypatch.chdir(swept_folder)


# What a shell starts in the background ignores Ctrl-C, and so would the processes that tests start and interrupt.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# Where tests make theorems, most of them the same ones.
PROOFS = (
    "tests/derivations/", "tests/reports/page/", "tests/verify/claims/", "tests/verify/compiled/",
    "tests/verify/export/", "tests/verify/ledger/",
)  # fmt: skip


@pytest.hookimpl(trylast=True)  # what is not asked for has been taken out
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Of two processes (`make test`) the second begins with all tests that make theorems: they are made in it alone.

    Each process starts with half of the list, and who is done early takes tests from the end of what the other has
    left: there no theorem is needed. An order that is asked for is kept (`make portable`).
    """
    if config.getoption("random_order_enabled", False):
        return
    proofs = [item for item in items if item.nodeid.startswith(PROOFS)]
    others = [item for item in items if not item.nodeid.startswith(PROOFS)]
    first = min(len(items) // 2, len(others))
    while 0 < first < len(others) and others[first].path == others[first - 1].path:
        first += 1  # the tests of a file share what they build
    items[:] = [*others[:first], *proofs, *others[first:]]


def pytest_configure(config: pytest.Config) -> None:
    """A process that is told what to run (`-n`) has told all when it ends, and nobody reads its status: its memory goes
    back as a whole, for object by object that takes seconds. Variables would not tell: what it starts inherits them.
    """
    if hasattr(config, "workerinput"):
        atexit.register(os._exit, 0)


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """What is garbage ends with the last test, which fails where that raises: later a process of `-n` tells nobody."""
    if nextitem is None:
        gc.collect()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish() -> None:
    """What is left is not looked through again at the exit."""
    gc.freeze()
