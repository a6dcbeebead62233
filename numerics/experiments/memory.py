"""Memory of finite-size experiments: the minimum that one needs, and the memory of the machine.

The largest arrays grow like d^2: the weights, p x d; the normal equations of the ridge readout, p x p, or n x p and
n x n where n <= p (`numerics.experiments.readout`); the inputs of the whole sample, n x d, and its arguments and
features, n x p each, where another loss or a learned bias takes them at once (`numerics.experiments.any_loss`).
Blocks of samples do not count.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

_NUMBER = 8  # bytes of a float64
# Temporary copies: measured peaks are 1.0 to 1.9 times the estimate, for all kinds and losses at d from 1200 to 5000.
PEAK = 2
_CONTROL_GROUP = Path("/sys/fs/cgroup/memory.max")


def experiment_bytes(d: int, *, alpha: float, beta: float, square: bool, trained: bool) -> int:
    """Bytes that one experiment at dimension d holds at once, from below: the peak is up to `PEAK` times that.

    `square`: a ridge readout without a learned bias; `trained`: a network, whose step is a second matrix of weights.
    """
    weights = (2.0 if trained else 1.0) * beta
    gram = beta**2 if beta < alpha else alpha * beta + alpha**2
    readout = gram if square else alpha + 2.0 * alpha * beta
    return int(_NUMBER * d**2 * (weights + readout))


def machine_bytes() -> int | None:
    """The memory that this process may use: the machine's, or its control group's where that is less; None if unknown.

    Swap does not count: an experiment that lives in it does not end.
    """
    known = []
    if hasattr(os, "sysconf") and {"SC_PAGE_SIZE", "SC_PHYS_PAGES"} <= set(os.sysconf_names):
        known.append(os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"))
    with suppress(OSError, ValueError):  # no such file, or the word "max"
        known.append(int(_CONTROL_GROUP.read_text(encoding="ascii")))
    return min((size for size in known if size > 0), default=None)
