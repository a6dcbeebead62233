"""How the benchmarks take time and memory: processor seconds of the best run, and the peak of what NumPy holds."""

from __future__ import annotations

import time
import tracemalloc
from collections.abc import Callable, Iterable

Work = Callable[[], object]


def best(works: Iterable[Work]) -> float:
    """The least processor time of several runs, in seconds: what is left when nothing else disturbs.

    Processor time, summed over threads, does not count waiting for a core that another program has.
    """
    times = []
    for work in works:
        start = time.process_time()
        work()
        times.append(time.process_time() - start)
    return min(times)


def best_per_call(works: list[Work], rounds: int) -> float:
    """The least processor time per call over rounds through all `works`: for calls as short as the clock's tick."""
    return best([lambda: [work() for work in works]] * rounds) / len(works)


def peak_bytes(work: Work) -> int:
    """The most memory that Python and NumPy hold during the work beyond what they held before, in bytes."""
    tracemalloc.start()
    try:
        before, _ = tracemalloc.get_traced_memory()
        result = work()
        _, peak = tracemalloc.get_traced_memory()
        del result
        return peak - before
    finally:
        tracemalloc.stop()
