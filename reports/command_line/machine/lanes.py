"""Workers that keep to neighbouring parts of the work each: what one part has built is there for the next one."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from concurrent.futures import wait as finished
from functools import partial
from threading import RLock
from typing import Any, NamedTuple


class _Task(NamedTuple):
    """A call that waits, and its place among the neighbours; None where it has none."""

    place: int | None
    future: Future[Any]
    call: Callable[[], Any]


class Lanes(Executor):
    """Executors of one worker each that share out what is submitted.

    ``near`` are words in an order in which neighbours build on the same: a task has the place of the first of its
    arguments that is one of them. A worker that is free takes what has no place, in the order of submission, then the
    task next to its last one; its first one is the first that was submitted and waits.
    """

    def __init__(self, workers: Sequence[Executor], near: Sequence[str]) -> None:
        self._places = {word: place for place, word in enumerate(near)}
        self._last: dict[Executor, int | None] = dict.fromkeys(workers)
        self._idle = list(workers)
        self._waiting: list[_Task] = []
        self._lost: list[BaseException] = []
        self._lock = RLock()

    def submit(self, fn: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Future[Any]:
        places = [self._places[word] for word in args if isinstance(word, str) and word in self._places]
        future: Future[Any] = Future()
        with self._lock:
            if len(self._lost) == len(self._last):  # nobody is left to begin it
                raise self._lost[-1]
            self._waiting.append(_Task(places[0] if places else None, future, partial(fn, *args, **kwargs)))
            self._begin()
        return future

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        with self._lock:
            waiting = [task.future for task in self._waiting]
            if cancel_futures:
                self._waiting.clear()
        for future in waiting:
            if cancel_futures:
                future.cancel()
        if wait and not cancel_futures:
            finished(waiting)
        for worker in self._last:
            worker.shutdown(wait=wait, cancel_futures=cancel_futures)

    def _begin(self) -> None:
        """Hand out what waits to who is free."""
        while self._idle and self._waiting:
            worker = self._idle.pop(0)
            task = _next(self._waiting, self._last[worker])
            self._waiting.remove(task)
            if not task.future.set_running_or_notify_cancel():
                self._idle.append(worker)
                continue
            if task.place is not None:
                self._last[worker] = task.place
            try:
                begun = worker.submit(task.call)
            except RuntimeError as problem:  # from a worker that was lost meanwhile, or that is closed
                task.future.set_exception(problem)
                self._lose(problem)
            else:
                begun.add_done_callback(partial(self._ended, worker, task.future))

    def _ended(self, worker: Executor, future: Future[Any], begun: Future[Any]) -> None:
        problem = CancelledError() if begun.cancelled() else begun.exception()
        with self._lock:
            if isinstance(problem, BrokenExecutor):
                self._lose(problem)
            else:
                self._idle.append(worker)
                self._begin()
        if problem is None:
            future.set_result(begun.result())
        else:
            future.set_exception(problem)

    def _lose(self, problem: BaseException) -> None:
        """A worker that may hold its own lock while it says so is asked for nothing more; what waits is lost too."""
        self._lost.append(problem)
        for task in self._waiting:
            if task.future.set_running_or_notify_cancel():
                task.future.set_exception(problem)
        self._waiting.clear()


def _next(waiting: Sequence[_Task], last: int | None) -> _Task:
    if last is None or any(task.place is None for task in waiting):
        return next((task for task in waiting if task.place is None), waiting[0])
    # Of two neighbours the later one, so that a worker goes through the places in their order.
    return min(waiting, key=lambda task: (abs((task.place or 0) - last), -(task.place or 0)))
