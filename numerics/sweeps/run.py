"""Running a sweep: chunks go out to any `concurrent.futures.Executor`, results come back into the store."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import FIRST_COMPLETED, BrokenExecutor, CancelledError, Executor, Future, wait

from giantsteps.numerics.sweeps.chunk import Row, solve_chunk
from giantsteps.numerics.sweeps.store import Store


class WorkerLostError(Exception):
    """A worker died and its chunk with it; all that was finished is in the store."""


def run(
    store: Store,
    *,
    executor: Executor | None = None,
    window: int = 4,
    progress: Callable[[int], None] | None = None,
    lost: tuple[type[BaseException], ...] = (),
) -> int:
    """Compute every chunk that the store does not hold; the number of points computed.

    With an executor at most `window` chunks are under way at a time, so that memory does not grow with the sweep;
    `progress` is called with the number of points in the store. A chunk is stored as soon as it is there, in any
    order.

    Raises StoreError where the result file cannot be written, or lacks points in the end; WorkerLostError where the
    executor lost a worker for good (a broken process pool, or an exception of the types in `lost`), after storing what
    else has come back.
    """
    before = count = store.stored
    report = progress or (lambda done: None)
    report(count)
    if executor is None:
        for number, start, stop in store.pending():
            store.add(number, solve_chunk(store.sweep, start, stop))
            count += stop - start
            report(count)
        store.check_complete()
        return count - before

    jobs = store.pending()
    under_way: dict[Future[list[Row]], int] = {}
    failure: BaseException | None = None
    try:
        while failure is None:
            while len(under_way) < window and (job := next(jobs, None)) is not None:
                number, start, stop = job
                try:
                    under_way[executor.submit(solve_chunk, store.sweep, start, stop)] = number
                except BrokenExecutor as broken:
                    failure = broken
                    break
            if not under_way:
                break
            finished, _ = wait(under_way, return_when=FIRST_COMPLETED)
            for future in finished:
                number = under_way.pop(future)
                error = CancelledError() if future.cancelled() else future.exception()
                if error is not None:
                    failure = failure or error
                    continue
                rows = future.result()
                store.add(number, rows)
                count += len(rows)
                report(count)
    finally:
        for future in under_way:
            future.cancel()
    if isinstance(failure, (BrokenExecutor, CancelledError, *lost)):
        raise WorkerLostError(str(failure)) from failure
    if failure is not None:
        raise failure
    store.check_complete()
    return count - before
