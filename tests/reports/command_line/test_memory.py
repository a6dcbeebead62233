"""Memory of experiments: what the estimate counts is there, and what does not fit is refused before it is drawn."""

from __future__ import annotations

import tracemalloc

import pytest

from giantsteps import Model, Network
from giantsteps.numerics.experiments.ensembles import BLOCK
from giantsteps.numerics.experiments.memory import PEAK, experiment_bytes, machine_bytes
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.reports.command_line.machine.memory import fitting
from giantsteps.reports.command_line.problems import InputProblem

MODEL = Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
NETWORK = Network("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=2.0)


@pytest.mark.parametrize(("subject", "kind"), [(MODEL, "srf"), (MODEL.changed(beta=2.0), "srf"), (NETWORK, "network")])
def test_the_estimate_is_between_half_of_the_peak_and_the_peak(subject: Model | Network, kind: str) -> None:
    simulate(subject, dimension=20, seeds=1, kind=kind)  # what is imported and tabulated once does not count
    tracemalloc.start()
    try:
        simulate(subject, dimension=600, seeds=1, seed=5, kind=kind)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    needed = experiment_bytes(600, alpha=1.5, beta=subject.beta, square=True, trained=isinstance(subject, Network))
    # Beside what grows like d^2 a block of samples: inputs, arguments and features.
    assert needed < peak < PEAK * needed + 3 * 8 * BLOCK


def test_what_does_not_fit_is_refused_with_what_does() -> None:
    with pytest.raises(InputProblem, match=r"--dimensions was given 10{9}, .* GB of this machine, for example"):
        fitting([MODEL], 10**9, "dimensions", square=True)
    few, many = (fitting([MODEL], dimension, "dimension", square=True) for dimension in (2000, 200))
    assert machine_bytes() is None or (few is not None and many is not None and 1 <= few < many)
    # A training set that is held whole counts.
    whole, blocks = (experiment_bytes(10**4, alpha=20.0, beta=1.0, square=s, trained=False) for s in (False, True))
    assert whole > 10 * blocks
