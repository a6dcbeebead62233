"""Whether the experiments that a command asks for fit in memory, found out before anything is drawn."""

from __future__ import annotations

import math
from collections.abc import Iterable

from giantsteps.numerics.experiments.memory import PEAK, experiment_bytes, machine_bytes
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.command_line.problems import InputProblem


def fitting(subjects: Iterable[Model | Network], dimension: int, option: str, *, square: bool) -> int | None:
    """How many of the largest experiment fit in memory side by side; None where the machine does not say.

    Raises InputProblem where not one does; `option` is what named the dimension.
    """
    available = machine_bytes()
    if available is None:
        return None
    needed = max(_needed(subject, dimension, square) for subject in subjects)
    if needed > available:
        # The memory grows like d^2; two digits, rounded down, are enough for an example.
        possible = dimension * math.sqrt(available / (PEAK * needed))
        unit = 10 ** max(0, math.floor(math.log10(possible)) - 1)
        raise InputProblem(
            f"--{option} was given {dimension}, where one experiment takes {_gigabytes(needed)} GB of memory at the "
            f"least; accepted is what fits in the {_gigabytes(available)} GB of this machine, for example --{option} "
            f"{math.floor(possible / unit) * unit}"
        )
    return max(1, available // (PEAK * needed))


def _needed(subject: Model | Network, dimension: int, square: bool) -> int:
    return experiment_bytes(
        dimension, alpha=subject.alpha, beta=subject.beta, square=square, trained=isinstance(subject, Network)
    )


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:,.0f}" if size >= 1e10 else f"{size / 1e9:.2g}"
