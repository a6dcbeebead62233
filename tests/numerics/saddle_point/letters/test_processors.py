"""Ill-conditioned models of two letters: whether they converge does not depend on the processor, and values agree.

`python -m tests.numerics.saddle_point.letters.test_processors COUNT` prints what this processor finds.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import giantsteps
from benchmarks.portable import PROCESSORS
from tests.shared.command_line import ROOT

STUDENTS = ("erf", "tanh", "sin", "relu", "gelu", "softplus", "tanh(z+0.3)")
TARGETS = ("tanh", "sin", "sign", "erf", "relu")


def models(count: int) -> Iterator[dict[str, Any]]:
    """Small ridges and spikes, many samples, letters that are equal, opposite or nearly equal."""
    rng = np.random.default_rng(20261127)
    for _ in range(count):
        student, target = rng.choice(STUDENTS), rng.choice(TARGETS)
        alpha, beta, ridge, spike, bulk = 10.0 ** rng.uniform((-1, -1, -9, -2, -2), (2, 1, -1, 0.7, 0.5))
        other = (1.0, -1.0, 1.0 + 10.0 ** rng.uniform(-6, -1))[rng.integers(3)]
        share, alignment = float(rng.choice((0.5, 0.3))), float(rng.choice((1.0, 0.8, 0.3)))
        letters = giantsteps.ReadoutGroup(1.0, share), giantsteps.ReadoutGroup(float(other), 1.0 - share)
        yield {
            "activation": str(student), "target": str(target), "alpha": float(alpha), "beta": float(beta),
            "ridge": float(ridge), "spike": float(spike), "bulk": float(bulk), "alignment": alignment,
            "readout": letters,
        }  # fmt: skip


def found(count: int) -> list[tuple[bool, float, float, str]]:
    """Whether each model converged, its test error, the estimate of its error, and the status."""
    solutions = [giantsteps.solve(giantsteps.Model(**given)) for given in models(count)]
    return [(bool(s.converged), s.test_error, s.error_estimate, s.status) for s in solutions]


def emulated(processor: str, count: int) -> list[Any]:
    """What another processor finds."""
    command = [sys.executable, "-W", "ignore", "-m", __name__, str(count)]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | PROCESSORS[processor], capture_output=True, check=True)
    return list(json.loads(done.stdout))


@pytest.mark.parametrize(
    ("processors", "count"),
    [(("nehalem",), 60), pytest.param(tuple(PROCESSORS), 750, marks=pytest.mark.thorough)],
)
def test_convergence_and_values_do_not_depend_on_the_processor(processors: tuple[str, ...], count: int) -> None:
    here = found(count)
    for converged, _, _, status in here:
        assert converged or "in double precision" in status or "in the quadrature" in status, status
    for there in (emulated(processor, count) for processor in processors):
        differ = [(a[3], b[3]) for a, b in zip(here, there, strict=True) if a[0] != b[0]]
        assert len(differ) <= 2, differ
        for a, b in zip(here, there, strict=True):
            assert not (a[0] and b[0]) or abs(a[1] - b[1]) <= a[2] + b[2]


if __name__ == "__main__":
    print(json.dumps(found(int(sys.argv[1]))))
