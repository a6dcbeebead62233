"""How a process looks after its own memory: seldom, and in what SymPy remembers generously."""

from __future__ import annotations

import ctypes
import gc
import os

# Modules, proofs and sweeps are plain data without circles by the hundred thousand: to look through all of it for
# garbage as often as Python does by default is a tenth of the time of a sweep.
ALLOCATIONS = 50_000
# SymPy remembers the last thousand results of each of its functions. A derivation has more terms than that, and comes
# back to most of them: with room for them the kernel takes a tenth less time, and 20 MB more.
SYMPY_RESULTS = "50000"
# glibc hands every array above 128 kB back to the system when it is dropped, and asks for the next one anew: the pages
# of a temporary array then cost up to five times what is computed on it. Arrays up to 32 MB, the most that glibc allows
# here, are kept for the next one instead, until 256 MB lie idle. The numbers name these two options in <malloc.h>.
_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
KEPT_BYTES = {_MMAP_THRESHOLD: 32 << 20, _TRIM_THRESHOLD: 256 << 20}


def steady() -> None:
    """Sets the pace of this process, before SymPy is loaded, and of those that it starts."""
    gc.set_threshold(ALLOCATIONS)
    keep_pages()
    os.environ.setdefault("SYMPY_CACHE_SIZE", SYMPY_RESULTS)


def keep_pages() -> None:
    """The memory of dropped arrays stays with the process, where its C library can be told so."""
    # Without a name the program itself is opened, with what it is linked to. Libraries other than glibc lack mallopt,
    # and Windows has no such handle.
    try:
        mallopt = ctypes.CDLL(None).mallopt
    except (AttributeError, OSError, TypeError):
        return
    for option, size in KEPT_BYTES.items():
        mallopt(option, size)
