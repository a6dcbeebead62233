"""The executors of a sweep: this process, worker processes on this machine, or a Dask cluster."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import Executor
from contextlib import contextmanager
from dataclasses import dataclass

from giantsteps.reports.command_line.problems import InputProblem

# Seconds for a scheduler to answer.
PATIENCE = 10


@dataclass(frozen=True)
class Workers:
    """An executor, how many tasks to keep under way, and the exceptions that mean that a worker was lost for good."""

    executor: Executor | None
    window: int = 1
    lost: tuple[type[BaseException], ...] = ()


@contextmanager
def workers_of(count: int, address: str | None) -> Iterator[Workers]:
    """`count` worker processes, the Dask cluster at `address`, or, for one worker, this process itself.

    Raises InputProblem where Dask is not installed or no scheduler answers.
    """
    if address is not None:
        with _dask(address) as workers:
            yield workers
    elif count > 1:
        from giantsteps.reports.command_line.machine.workers import pool

        with pool(workers=count) as executor:
            yield Workers(executor, 2 * count)
    else:
        yield Workers(None)


@contextmanager
def _dask(address: str) -> Iterator[Workers]:
    import logging

    try:
        from distributed import Client
        from distributed.scheduler import KilledWorker
    except ImportError:
        raise InputProblem("--dask needs Dask; in a checkout: pip install '.[cluster]'") from None
    try:
        client = Client(address, timeout=PATIENCE, set_as_default=False)
    except (OSError, ValueError) as error:
        sentence = " ".join(str(error).split()).split(" after ")[0][:120]
        raise InputProblem(
            f"--dask was given {address[:80]!a}, where no scheduler answers ({sentence}); accepted is the address of a "
            "Dask scheduler, for example --dask tcp://127.0.0.1:8786"
        ) from None
    # What Dask logs about lost connections, tracebacks included, stays off the terminal: we say what matters.
    for name in ("distributed", "distributed.client", "tornado", "asyncio"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    with client:
        # A scheduler gives a dead worker's task to another one; it gives up on a task that killed several.
        executor = client.get_executor(pure=False)
        try:
            yield Workers(executor, max(16, 2 * sum(client.nthreads().values())), (KilledWorker,))
        finally:
            executor.shutdown(wait=False)
