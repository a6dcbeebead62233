"""Worker processes for the ledger, the figures, experiments and sweeps."""

from __future__ import annotations

import os
import pickle
import sys
import threading
import traceback
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from multiprocessing import Pipe, get_context, parent_process, resource_tracker
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess
from typing import Any, NamedTuple

from giantsteps.reports.command_line.machine.pace import steady
from giantsteps.reports.command_line.machine.signals import hold_back, leave_interrupts_to_the_parent, terminable
from giantsteps.reports.command_line.problems import INTERNAL, InputProblem

# Seconds for workers that have nothing left to do to end.
_PATIENCE = 10.0
_ONE_THREAD = dict.fromkeys(("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"), "1")


class _Caught:
    """Takes whatever is raised in its block: what a task raises is its answer, and ends no worker and no thread."""

    error: BaseException | None = None

    def __enter__(self) -> _Caught:
        return self

    def __exit__(self, _kind: object, error: BaseException | None, _trace: object) -> bool:
        self.error = error
        return True


class _Task(NamedTuple):
    """A call that waits, and its place among the neighbours; None where it has none."""

    place: int | None
    future: Future[Any]
    call: tuple[Any, ...]


class Workers(Executor):
    """Processes that share out what is submitted, each at the other end of a pipe of a thread of this process.

    Nobody else holds the ends of a pipe: a worker that dies, whatever it was at, is the end of its file for the thread
    that waits for it, and nothing waits for ever. ``near`` are words in an order in which neighbours build on the same:
    a task has the place of the first of its arguments that is one of them. A worker that is free takes what has no
    place, in the order of submission, then the task next to its last one; its first one is the first that waits.
    """

    def __init__(self, count: int, near: Sequence[str] = ()) -> None:
        self._places = {word: place for place, word in enumerate(near)}
        self._waiting: list[_Task] = []
        self._crew: list[tuple[BaseProcess, Connection]] = []
        self._lost = False
        self._turn = threading.RLock()
        self._own = threading.local()
        # It would let signals through again in the thread that starts the first worker.
        resource_tracker.ensure_running()
        self._threads = ThreadPoolExecutor(count, initializer=hold_back)

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        place = next((self._places[word] for word in args if isinstance(word, str) and word in self._places), None)
        task = _Task(place, Future(), (fn, args, kwargs))
        with self._turn:
            if self._lost:
                raise BrokenExecutor("a worker was lost")
            self._waiting.append(task)
            self._threads.submit(self._do_one)
        return task.future

    def _do_one(self) -> None:
        """Have the worker of this thread do what waits and is nearest to its last task."""
        with self._turn:
            if not self._waiting:
                return
            task = _nearest(self._waiting, getattr(self._own, "last", None))
            self._waiting.remove(task)
        if not task.future.set_running_or_notify_cancel():
            return
        self._own.last = getattr(self._own, "last", None) if task.place is None else task.place
        with _Caught() as asked:
            told = self._answer(pickle.dumps(task.call))
        if isinstance(asked.error, EOFError | OSError):
            self._lose(task)
            return
        with _Caught() as read:
            if asked.error is not None:
                raise asked.error
            done, answer = pickle.loads(told)
            (task.future.set_result if done else task.future.set_exception)(answer)
        if read.error is not None:  # what cannot be sent, or not be read here
            task.future.set_exception(read.error)

    def _answer(self, call: bytes) -> bytes:
        """What the worker of this thread, started with its first task, makes of a call."""
        if not hasattr(self._own, "pipe"):
            self._own.pipe, theirs = Pipe()
            process = get_context("spawn").Process(target=_serve, args=(theirs,))
            with self._turn, theirs:
                if self._lost:
                    raise EOFError
                process.start()
                self._crew.append((process, self._own.pipe))
        self._own.pipe.send_bytes(call)
        return bytes(self._own.pipe.recv_bytes())

    def _lose(self, *begun: _Task) -> None:
        """What was begun with a worker that is gone is lost, and what waits; nothing more is taken."""
        with self._turn:
            self._lost = True
            lost = [*begun, *(task for task in self._waiting if task.future.set_running_or_notify_cancel())]
            self._waiting.clear()
        for task in lost:
            task.future.set_exception(BrokenExecutor("a worker was lost"))

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """End the workers: when all is done, or at once, with what they are at, where the futures are cancelled."""
        with self._turn:
            if cancel_futures:
                for process, _ in self._crew:  # one has nothing to put in order
                    process.kill()
                for task in self._waiting:
                    task.future.cancel()
                self._lose()
        self._threads.shutdown(cancel_futures=cancel_futures)
        for _, pipe in self._crew:
            pipe.close()
        for process, _ in self._crew:
            process.join(_PATIENCE)
            if process.is_alive():
                process.kill()


def _nearest(waiting: Sequence[_Task], last: int | None) -> _Task:
    if last is None or any(task.place is None for task in waiting):
        return next((task for task in waiting if task.place is None), waiting[0])
    # Of two neighbours the later one, so that a worker goes through the places in their order.
    return min(waiting, key=lambda task: (abs((task.place or 0) - last), -(task.place or 0)))


@contextmanager
def environment(variables: dict[str, str]) -> Iterator[None]:
    """Inside the block these variables are in the environment, also in that of processes that are started."""
    saved = {name: os.environ.get(name) for name in variables}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in saved.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


@contextmanager
def pool(most: int = 8, workers: int | None = None, near: Sequence[str] = ()) -> Iterator[Executor]:
    """`Workers` with one linear-algebra thread each, so that results do not depend on how many there are.

    As many workers as cores, at most `most`, unless their number is given. They are spawned, not forked: they inherit
    no state, and the thread count takes effect when they load NumPy. An error, an interruption or a kill drops the work
    that has not begun and stops what has; a worker whose parent is gone ends too. Where words are ``near`` each other,
    a worker takes tasks that name neighbours.

    Raises InputProblem where a worker was lost.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    # Also while the workers are stopped: a kill that fell there would leave what they share to be reported as leaked.
    with terminable(), environment(_ONE_THREAD):
        crew = Workers(workers or max(1, min(most, cores)), near)
        finished = False
        try:
            yield crew
            finished = True
        except BrokenExecutor:
            raise InputProblem("worker processes were lost (killed or out of memory)", INTERNAL) from None
        finally:
            crew.shutdown(cancel_futures=not finished)


def _serve(pipe: Connection) -> None:
    """Answer calls until the pipe is closed."""
    leave_interrupts_to_the_parent()
    steady()
    threading.Thread(target=_end_with_parent, daemon=True).start()
    with suppress(EOFError, OSError):
        while True:
            pipe.send_bytes(_made(pipe.recv_bytes()))
    # What the claims have built takes seconds to be taken apart object by object: the system frees it at once. What was
    # printed is written; a file that a task left open is not.
    try:
        sys.stdout.flush()
        sys.stderr.flush()
    finally:
        os._exit(0)


def _made(call: bytes) -> bytes:
    """What a call made, or what it raised, with the traceback as a note."""
    with _Caught() as made:
        function, args, kwargs = pickle.loads(call)
        return pickle.dumps((True, function(*args, **kwargs)))
    assert made.error is not None
    made.error.add_note("".join(traceback.format_exception(made.error)))
    with _Caught():
        told = pickle.dumps((False, made.error))
        pickle.loads(told)
        return told
    # An error that does not travel.
    return pickle.dumps((False, RuntimeError(f"{type(made.error).__name__}: {made.error}")))


def _end_with_parent() -> None:
    """In the midst of a task a worker would not notice that its parent was killed."""
    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)
