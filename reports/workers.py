"""Worker processes for the ledger and the figures."""

from __future__ import annotations

import os
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from multiprocessing import get_context

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


@contextmanager
def pool(most: int = 8) -> Iterator[ProcessPoolExecutor]:
    """A process pool with one linear-algebra thread per worker, so that results do not depend on how many there are.

    Workers are spawned, not forked: they inherit no state, and the thread count takes effect when they load NumPy.
    An error or an interruption drops the work that has not begun and stops what has.
    """
    saved = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    executor = ProcessPoolExecutor(
        max(1, min(most, cores())), mp_context=get_context("spawn"), initializer=_ignore_interrupts
    )
    finished = False
    try:
        yield executor
        finished = True
    finally:
        if not finished:
            for process in list((executor._processes or {}).values()):
                process.terminate()
        executor.shutdown(wait=True, cancel_futures=not finished)
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _ignore_interrupts() -> None:
    """Ctrl-C reaches every process of the terminal; only the parent is to answer it."""
    import signal

    signal.signal(signal.SIGINT, signal.SIG_IGN)
