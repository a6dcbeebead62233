"""How a process looks after its own memory: seldom, and in what SymPy remembers generously."""

from __future__ import annotations

import gc
import os

# Modules, proofs and sweeps are plain data without circles by the hundred thousand: to look through all of it for
# garbage as often as Python does by default is a tenth of the time of a sweep.
ALLOCATIONS = 50_000
# SymPy remembers the last thousand results of each of its functions. A derivation has more terms than that, and comes
# back to most of them: with room for them the kernel takes a tenth less time, and 20 MB more.
SYMPY_RESULTS = "50000"


def steady() -> None:
    """Sets the pace of this process, before SymPy is loaded, and of those that it starts."""
    gc.set_threshold(ALLOCATIONS)
    os.environ.setdefault("SYMPY_CACHE_SIZE", SYMPY_RESULTS)
