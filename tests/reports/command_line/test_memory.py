"""Memory of experiments: what the estimate counts is there, and what does not fit is refused before it is drawn."""

from __future__ import annotations

import tracemalloc

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments import ensembles
from giantsteps.numerics.experiments.memory import PEAK, experiment_bytes, machine_bytes
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.reports.command_line.machine import memory
from giantsteps.reports.command_line.machine.memory import fitting
from giantsteps.reports.command_line.problems import InputProblem
from giantsteps.reports.commands.simulate import seeds_pool
from tests.shared.command_line import STEPPED, WORKED, refused, replaced

MODEL = Model(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8)
NETWORK = Network(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0)


@pytest.mark.parametrize(("subject", "kind"), [(MODEL, "srf"), (MODEL.changed(beta=2.0), "srf"), (NETWORK, "network")])
def test_the_estimate_is_between_half_of_the_peak_and_the_peak(
    subject: Model | Network, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Small blocks of samples: what is left grows like d^2.
    monkeypatch.setattr(ensembles, "BLOCK", 2**15)
    simulate(subject, dimension=20, seeds=1, kind=kind)  # what is imported and tabulated once does not count
    dimension = 500
    tracemalloc.start()
    try:
        simulate(subject, dimension=dimension, seeds=1, seed=5, kind=kind)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    trained = isinstance(subject, Network)
    needed = experiment_bytes(dimension, alpha=subject.alpha, beta=subject.beta, square=True, trained=trained)
    assert needed < peak < PEAK * needed


def test_the_machine_says_what_it_has() -> None:
    found = machine_bytes()
    assert found is None or found > 2**27


@pytest.mark.parametrize("loss", ["square", "logistic"])
@pytest.mark.parametrize("command", ["simulate", "compare"])
def test_what_does_not_fit_is_refused_before_it_is_drawn(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, command: str, loss: str
) -> None:
    option = "dimension" if command == "simulate" else "dimensions"
    args = [command, *replaced("target", "sign"), "--loss", loss, f"--{option}", "100000"]
    monkeypatch.setattr(memory, "machine_bytes", lambda: 2**40)
    monkeypatch.setattr(memory, "experiment_bytes", lambda *_, **__: 2**41)
    said = refused(capfd, args, f"--{option} was given 100000", "2,199 GB", "1,100 GB", "for example", "50000")
    assert said.count("--" + option) == 2


@pytest.mark.parametrize("dimensions", ["400,100000", "100000,400", "40,100000,400"])
def test_of_several_dimensions_the_largest_has_to_fit(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, dimensions: str
) -> None:
    monkeypatch.setattr(memory, "machine_bytes", lambda: 2**40)
    monkeypatch.setattr(memory, "experiment_bytes", lambda dimension, **_: 2**24 * dimension)
    refused(capfd, ["compare", *WORKED, "--dimensions", dimensions], "--dimensions was given 100000", "for example")


def test_a_training_set_held_whole_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    # At alpha = 20, in units of 8 d^2 = 8 MB: weights 1 and the sample 60, or weights 1 and Gram matrix 1.
    wide = MODEL.changed(alpha=20.0)
    monkeypatch.setattr(memory, "machine_bytes", lambda: 3 * 8 * 10**6)
    assert fitting([wide], 1000, "dimension", square=True) == 1
    with pytest.raises(InputProblem, match=r"takes 0\.49 GB of memory"):
        fitting([wide], 1000, "dimension", square=False)


def test_no_more_experiments_run_side_by_side_than_fit(monkeypatch: pytest.MonkeyPatch) -> None:
    # Two d x d matrices of 8 bytes at d = 1000 take 16 MB, 32 MB at the peak.
    for megabytes, expected in ((20, 1), (100, 3), (320, 10)):
        monkeypatch.setattr(memory, "machine_bytes", lambda size=megabytes: size * 10**6)
        assert fitting([MODEL], 1000, "dimension", square=True) == expected
    monkeypatch.setattr(memory, "machine_bytes", lambda: None)
    assert fitting([MODEL], 10**9, "dimension", square=True) is None
    with seeds_pool(1000, 8, 1) as executor:
        assert executor is None


def test_a_trained_network_counts_twice(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    # 8 d^2 (2 + 1) bytes at alpha = 1.5, beta = 1, d = 1000: 24 MB; features of the same size would fit.
    monkeypatch.setattr(memory, "machine_bytes", lambda: 20 * 10**6)
    args = [*replaced("alpha", "1.5", STEPPED), "--dimension", "1000"]
    refused(capfd, ["simulate", *args, "--kind", "network"], "0.024 GB", "0.02 GB")
    assert fitting([MODEL], 1000, "dimension", square=True) == 1
