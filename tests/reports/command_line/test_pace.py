"""Every process of the command remembers as much of what SymPy found as a derivation needs, also the workers."""

from __future__ import annotations

import gc

from onestep.reports.command_line.machine.pace import ALLOCATIONS, SYMPY_RESULTS
from onestep.reports.command_line.machine.workers import pool


def found() -> tuple[int, int | None]:
    """The threshold of this process for garbage, and how many results of a sum SymPy keeps in it."""
    from sympy import Add

    return gc.get_threshold()[0], Add.__new__.cache_info().maxsize


def test_this_process_and_its_workers_keep_the_pace() -> None:
    expected = (ALLOCATIONS, int(SYMPY_RESULTS))
    assert found() == expected
    with pool(workers=1) as executor:
        assert executor.submit(found).result() == expected
