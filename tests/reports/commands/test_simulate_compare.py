"""giantsteps simulate and giantsteps compare: means, standard errors, verdicts and what they would have caught.

A right theory is refuted with probability 1e-3 (the protocol's false-alarm rate): met once where seeds were chosen, the
default ones.
"""

from __future__ import annotations

from typing import Any

import pytest

from giantsteps import Model, Network, ReadoutGroup, compare, simulate
from tests.shared.command_line import WORKED, document, outcome, replaced

STEP = [
    "--activation",
    "tanh",
    "--target",
    "tanh",
    "--alpha",
    "1.5",
    "--beta",
    "1",
    "--ridge",
    "0.01",
    "--alpha0",
    "10",
    "--eta",
    "10",
]
SMALL = ["--dimension", "40", "--seeds", "2"]
CLOSE = [
    *[
        "--activation",
        "tanh",
        "--target",
        "relu",
        "--alpha",
        "2.14",
        "--beta",
        "1.85",
        "--ridge",
        "0.0779",
        "--noise",
        "0.0274",
        "--spike",
        "0.727",
    ],
    *["--bulk", "0.909", "--alignment", "0.594", "--bias", "learned"],
]
SIGNS = replaced("target", "sign")


def test_simulate_gives_means_and_standard_errors(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["simulate", *WORKED, "--dimension", "60", "--seeds", "3"])
    assert (found["dimension"], found["seeds"]) == (60, 3)
    for name in ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2"):
        assert set(found[name]) == {"mean", "standard_error"}
        assert found[name]["standard_error"] > 0.0
    assert document(capfd, ["simulate", *WORKED, "--dimension", "60", "--seeds", "3"]) == found
    alone = document(capfd, ["simulate", *WORKED, "--dimension", "40", "--seeds", "1"])["test_error"]
    assert alone["standard_error"]["infinite"] is True


@pytest.mark.parametrize(
    ("args", "keys"),
    [
        (["simulate", *SIGNS, *SMALL, "--loss", "logistic"], {"mean_squared_error", "classification_error", "m", "q2"}),
        (["simulate", *SIGNS, *SMALL, "--loss", "huber:0.5"], {"mean_squared_error", "energy"}),
        (["simulate", *WORKED, *SMALL, "--readout", "uniform:1.7"], {"zeta", "psi"}),
        (["simulate", *WORKED, *SMALL, "--rows", "gaussian"], {"chi"}),
        (["simulate", *STEP, *SMALL, "--rows", "gaussian"], {"chi", "spike", "bulk"}),
        (["simulate", *WORKED, *SMALL, "--alignment", "0.6/0.5", "--readout", "1.5/1:0.5,1.5/-1:0.5"],
         {"zeta[0,0]", "zeta[0,1]", "zeta[1,0]", "zeta[1,1]", "psi[1]"}),
        (["simulate", *STEP, *SMALL, "--readout", "1:0.5,-0.7:0.5", "--loss", "huber:1", "--bias", "learned"],
         {"m[0]", "chi[1]", "bulk[0]", "spike[1]", "bias", "energy", "mean_squared_error"}),
    ],
)  # fmt: skip
def test_every_kind_of_experiment_measures_its_own(
    args: list[str], keys: set[str], capfd: pytest.CaptureFixture[str]
) -> None:
    found = document(capfd, args)
    assert keys <= set(found)
    for name in keys:  # each experiment has its own
        assert found[name]["standard_error"] > 0.0
    if "--rows" in args:
        assert found["rows"] == found["provenance"]["parameters"]["rows"] == "gaussian"
    if "spike[1]" in keys:
        assert found["spike[1]"]["mean"] == pytest.approx(-0.7 * found["spike[0]"]["mean"])


def test_weights_and_biases_in_pairs_are_those_of_the_library(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["simulate", *STEP, *SMALL, "--readout", "1:0.5::0.3,-0.7:0.5::-0.3"])
    groups = (ReadoutGroup(1.0, 0.5, None, 0.3), ReadoutGroup(-0.7, 0.5, None, -0.3))
    network = Network("tanh", "tanh", alpha=1.5, beta=1, ridge=0.01, alpha0=10, eta=10, readout=groups)
    expected = simulate(network, dimension=40, seeds=2).test_error.mean
    assert found["test_error"]["mean"] == pytest.approx(expected, rel=1e-12)


def test_simulate_says_in_which_minimum_biases_end(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["simulate", *CLOSE, "--dimension", "50", "--seeds", "8"])["basins"]
    assert found[0]["bias"] < 0.0 < found[1]["bias"]
    assert sum(one["share"] for one in found) == pytest.approx(1.0)
    assert "in their basins" in " ".join(outcome(capfd, ["simulate", *CLOSE, *SMALL])[1].split())


def test_compare_confirms_the_theory_and_says_what_it_would_have_caught(capfd: pytest.CaptureFixture[str]) -> None:
    args = ["compare", *WORKED, "--dimensions", "100,200,400", "--seeds", "12"]
    found = document(capfd, args)
    assert found["verdict"] == "CONFIRMED"
    assert [s["dimension"] for s in found["simulation"]] == [100, 200, 400]
    assert set(found["z"]) == set(found["theory"]) == set(found["smallest_detectable"]) == set(found["extrapolated"])
    assert found["theory"]["test_error"] == pytest.approx(0.1258656085, abs=5e-11)
    code, out, err = outcome(capfd, args)
    assert (code, err, "CONFIRMED" in out) == (0, "", True)


@pytest.mark.parametrize(
    ("args", "keys"),
    [
        ([*SIGNS, "--loss", "logistic"], {"mean_squared_error", "classification_error", "energy", "m"}),
        ([*WORKED, "--bias", "0.3:0.5,-0.3:0.5"], {"m[0]", "m[1]"}),
        ([*WORKED, "--rows", "gaussian", "--spike", "2"], {"chi"}),
        ([*WORKED, "--readout", "uniform:1.7"], {"zeta", "psi"}),
        # The isotropic theory has z = -4 to -10 in m at these sizes.
        (STEP, {"chi", "m"}),
        ([*STEP, "--readout", "1:0.5,-0.7:0.5", "--bias", "0.4:0.5,-0.4:0.5"], {"chi[0]", "chi[3]", "q1[0,3]"}),
        (CLOSE, {"energy_gap", "bias"}),
    ],
)
def test_every_theory_stands_beside_its_own_experiments(
    args: list[str], keys: set[str], capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = outcome(capfd, ["compare", *args, "--dimensions", "50,100,200", "--seeds", "8", "--quiet"])
    assert (code in (0, 3), err) == (True, "")
    for key in keys:
        assert f"\n{key.replace('_', ' ')} " in f"\n{out}"
    assert ("On the whole line" in " ".join(out.split())) is (args is CLOSE)


def test_compare_is_inconclusive_where_it_cannot_decide_and_says_what_would(
    capfd: pytest.CaptureFixture[str],
) -> None:
    found = document(capfd, ["compare", *WORKED, "--dimensions", "60", "--seeds", "2"], code=3)
    assert (found["verdict"], found["extrapolated"]["test_error"]["mean"]) == ("INCONCLUSIVE", None)
    for given, reason, example in (
        (("60",), "one dimension, d = 60, gives no extrapolation in 1/d", "--dimensions 60,120,240 --seeds 8"),
        (("40,60", "--seeds", "1"), "one experiment at a dimension shows no scatter", "--dimensions 40,60 --seeds 8"),
        (("40,41",), "only what exceeds", "--dimensions 400,800,1600 --seeds 8"),
        (("40,60", "--seeds", "4"), "only what exceeds", "about --seeds "),
    ):
        code, out, err = outcome(capfd, ["compare", *WORKED, "--dimensions", *given])
        last = out.splitlines()[-1]
        assert (code, err, last[:14]) == (3, "", "INCONCLUSIVE: ")
        assert reason in last
        assert example in last


def test_of_several_points_one_that_is_refuted_decides_the_exit_code(capfd: pytest.CaptureFixture[str]) -> None:
    """Where the step sees few samples the limit is far: the theory is refuted at the first of two points."""
    args = [*replaced("alpha0", "0.05,10", [*STEP, "--activation", "relu"]), "--dimensions", "20,40", "--seeds", "60"]
    code, out, _ = outcome(capfd, ["compare", *args, "--quiet"])
    assert [line for line in out.splitlines() if line.startswith("alpha0 = ")] == ["alpha0 = 0.05", "alpha0 = 10"]
    assert (code, "REFUTED by" in out) == (1, True)


def test_rounding_refutes_no_theory() -> None:
    # Constant features: q2 is 0, and at so small a ridge a sample's is rounding, 1e-15 or more.
    model = Model("1/6", "Abs(z)", alpha=2.0, beta=0.3, ridge=1e-8, spike=0.0, bulk=1.0, alignment=0.0)
    found = compare(model, dimensions=(10, 15, 20), seeds=6)
    verdicts: dict[str, Any] = {c.observable: c for c in found.report.comparisons}
    assert verdicts["q2"].verdict == "INCONCLUSIVE"
    assert "do not vary between seeds" in verdicts["q2"].sentence
    assert verdicts["test_error"].fit is not None
    assert 0.0 < max(abs(value) for run in found.simulations for value in run.values("q2")) < 1e-12
    # In large units nothing of the readout is rounding, though its square is 1e-14 of the error.
    large = Model("1e7*tanh(z)", "z", alpha=2.0, beta=0.5, ridge=1e13, spike=1.0, bulk=1.0, alignment=0.5)
    assert all(c.fit is not None for c in compare(large, dimensions=(20, 40, 80), seeds=8).report.comparisons)
