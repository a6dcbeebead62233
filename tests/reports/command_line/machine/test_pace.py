"""Every process of the command remembers as much of what SymPy found as a derivation needs and the memory of its
arrays, also the workers."""

from __future__ import annotations

import gc
import platform

import numpy as np

from giantsteps.reports.command_line.machine.pace import ALLOCATIONS, SYMPY_RESULTS
from giantsteps.reports.command_line.machine.workers import pool


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


def test_this_process_and_its_workers_keep_the_pace() -> None:
    expected = (ALLOCATIONS, int(SYMPY_RESULTS))
    assert found() == expected
    with pool(workers=1, near=("found",)) as executor:
        assert executor.submit(found).result() == expected
        # Given back and asked for anew the arrays are 20 * 8 * 256 pages of 4 kB; kept they are 8 * 256 at the most.
        assert executor.submit(pages_taken).result() < 4 * 8 * 256 or platform.libc_ver()[0] != "glibc"
