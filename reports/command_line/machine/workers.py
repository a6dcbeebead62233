"""Worker processes for the ledger, the figures and sweeps."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ProcessPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import get_context, parent_process
from multiprocessing.connection import wait
from multiprocessing.process import BaseProcess
from typing import Any

from giantsteps.reports.command_line.machine.lanes import Lanes
from giantsteps.reports.command_line.machine.pace import steady
from giantsteps.reports.command_line.machine.signals import held_back, leave_interrupts_to_the_parent, terminable
from giantsteps.reports.command_line.problems import INTERNAL, InputProblem

# Seconds for workers that are done, or killed, to end: they have nothing left to do.
_PATIENCE = 10.0
_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")


def cores() -> int:
    """How many cores this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return max(1, len(os.sched_getaffinity(0)))
    return os.cpu_count() or 1


class _Pool(ProcessPoolExecutor):
    """A process pool that ends whatever its workers were killed at, and whose workers never see the signals that are
    meant for their parent.

    A worker that is killed while it writes a result leaves half of it in the pipe, and one that is killed while it
    reads a task may hold the lock of the others: who reads on waits for ever, for the parent holds both ends of both
    pipes. So the parent lets go of the ends that only workers use, once all workers have been killed.
    """

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # The queue's own threads close these ends as well: each is closed once, by whoever comes first.
        for end in (self._call_queue._reader, self._result_queue._writer):  # type: ignore[attr-defined]
            end.close = _one_at_a_time(end.close)

    _crew: tuple[BaseProcess, ...] = ()
    _pipes: tuple[Any, ...] = ()
    _ending = False
    _manager: Any = None

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        with held_back():
            future = super().submit(fn, *args, **kwargs)
            for process in [one for one in (self._processes or {}).values() if one not in self._crew]:
                self._crew += (process,)
                threading.Thread(target=self._watch, args=(process,), daemon=True).start()
            # Kept, since a shutdown that does not wait forgets it.
            self._manager = self._manager or self._executor_manager_thread
            self._pipes = self._pipes or (self._call_queue._reader, self._result_queue._writer)  # type: ignore[attr-defined]
        return future

    def _watch(self, process: BaseProcess) -> None:
        """When a worker dies at work, end the pool: the executor notices by itself, but for what it waits for then."""
        wait([process.sentinel])
        # One that was killed may hold the lock of the others, also when nothing is left to do.
        if not self._ending or (process.exitcode or 0) < 0:
            self.abandon()

    def abandon(self) -> None:
        """Kill all workers, and end every wait for what they would have read or written."""
        for process in self._crew:
            # A worker has nothing to put in order, and lets no other signal through while it starts.
            with suppress(ValueError):  # it was closed
                process.kill()
        for process in self._crew:
            with suppress(ValueError):
                wait([process.sentinel], _PATIENCE)
        for end in self._pipes:
            end.close()

    def end(self, finished: bool) -> None:
        """Shut down. Where the work is not finished, or a worker does not end in time, workers are killed."""
        self._ending = True
        if not finished:
            self.abandon()
        self.shutdown(wait=False, cancel_futures=not finished)
        if self._manager is not None:
            self._manager.join(_PATIENCE)
            if self._manager.is_alive():
                self.abandon()
                self._manager.join(_PATIENCE)


def _one_at_a_time(close: Callable[[], None]) -> Callable[[], None]:
    turn = threading.Lock()

    def closed() -> None:
        with turn:
            close()

    return closed


@contextmanager
def pool(most: int = 8, workers: int | None = None, near: Sequence[str] = ()) -> Iterator[Executor]:
    """A process pool with one linear-algebra thread per worker, so that results do not depend on how many there are.

    As many workers as cores, at most `most`, unless their number is given. They are spawned, not forked: they inherit
    no state, and the thread count takes effect when they load NumPy. An error, an interruption or a kill drops the work
    that has not begun and stops what has; a worker whose parent is gone ends too. Where words are ``near`` each other,
    a worker takes tasks that name neighbours (`Lanes`).

    Raises InputProblem where a worker was lost.
    """
    # Also while the workers are stopped: a kill that fell there would leave what they share to be reported as leaked.
    with terminable():
        saved = {name: os.environ.get(name) for name in _THREADS}
        os.environ.update(dict.fromkeys(_THREADS, "1"))
        count = workers or max(1, min(most, cores()))
        started = [
            _Pool(size, mp_context=get_context("spawn"), initializer=_prepare_worker)
            for size in ([1] * count if near else [count])
        ]
        executor: Executor = Lanes(started, near) if near else started[0]
        finished = False
        try:
            yield executor
            finished = True
        except BrokenExecutor:
            raise InputProblem("worker processes were lost (killed or out of memory)", INTERNAL) from None
        finally:
            if executor is not started[0]:
                executor.shutdown(wait=False, cancel_futures=not finished)
            for one in started:
                one.end(finished)
            for name, value in saved.items():
                if value is None:
                    os.environ.pop(name, None)
                else:
                    os.environ[name] = value


def _prepare_worker() -> None:
    """Ctrl-C reaches every process of the terminal; only the parent is to answer it, and no worker is to outlive it."""
    import atexit

    leave_interrupts_to_the_parent()
    steady()
    atexit.register(_end_at_once)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_at_once() -> None:
    """What the claims have built takes seconds to be taken apart object by object: the system frees it at once.

    What was printed is written; a file that a task left open is not.
    """
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _end_with_parent() -> None:
    """A worker waits for work on a pipe of which it holds both ends: it would not notice that its parent was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
