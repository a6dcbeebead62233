"""The command line with the network's own bulk: solve --bulk-model network and compare --kind network."""

from __future__ import annotations

import json

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk import network_constants
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.numerics.sweeps.chunk import columns, solve_chunk
from giantsteps.numerics.sweeps.sweep import Axis, Experiment, Sweep
from giantsteps.reports.command_line.cli import run

NUMBERS = {"alpha": 1.5, "beta": 1, "ridge": 0.01, "alpha0": 10, "eta": 10}
STEPPED = ["--activation", "tanh", "--target", "tanh", *(f"--{name}={value}" for name, value in NUMBERS.items())]


def document(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, object]:
    """The JSON document of a command that may exit with any code."""
    run([*arguments, "--json"])
    found: dict[str, object] = json.loads(capfd.readouterr().out)
    return found


def test_solve_reports_the_network_s_theory(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, "solve", *STEPPED, "--bulk-model", "network")
    tanh = activation("tanh")
    model = Model.from_gradient_step(
        tanh, tanh, alpha=1.5, beta=1.0, ridge=0.01, alpha0=10.0, eta=10.0, bulk_model="network"
    )
    solution = solve(model)
    assert found["test_error"] == solution.test_error
    parameters = found["order_parameters"]
    assert isinstance(parameters, dict)
    assert parameters["chi"] == list(solution.order_parameters.chi)


def test_a_gradient_step_has_the_bulk_of_networks_and_the_paper_s_value_beside_it(
    capfd: pytest.CaptureFixture[str],
) -> None:
    default, own, isotropic = (
        document(capfd, "solve", *STEPPED, *more)
        for more in ([], ["--bulk-model", "network"], ["--bulk-model", "isotropic"])
    )
    assert default["test_error"] == own["test_error"] != isotropic["test_error"]
    assert default["isotropic"] == {name: isotropic[name] for name in ("test_error", "training_error")}
    assert isotropic["isotropic"] is None
    swept = document(capfd, "solve", *STEPPED[:-1], "--eta", "1,10")
    assert isinstance(swept["results"], list)
    assert swept["results"][1]["isotropic"]["test_error"] == pytest.approx(isotropic["test_error"], rel=1e-12)


@pytest.mark.parametrize("command", ["solve", "bounds", "simulate", "compare"])
@pytest.mark.parametrize("more", [["--readout", "1:0.5:1.2,-1:0.5:1.3"], ["--readout", "normal:0.8"]])
def test_what_the_own_bulk_does_not_take_names_the_isotropic_one(
    command: str, more: list[str], capfd: pytest.CaptureFixture[str]
) -> None:
    if command == "bounds" and "normal" in more[1]:
        return  # refused on any bulk
    assert run([command, *STEPPED, *more]) == 2
    err = capfd.readouterr().err
    assert err.count("\n") == 1
    assert "--bulk-model isotropic" in err


def test_bounds_of_the_network_are_lower(capfd: pytest.CaptureFixture[str]) -> None:
    own, isotropic = (
        document(capfd, "bounds", *STEPPED, "--bulk-model", name)["lower"] for name in ("network", "isotropic")
    )
    assert isinstance(own, float)
    assert isinstance(isotropic, float)
    assert own < isotropic


def test_compare_measures_a_network_against_its_own_theory(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, "compare", *STEPPED, "--kind", "network", "--dimensions", "100,200,400", "--seeds", "12")
    # False-alarm rate of the protocol 1e-3, met once when the seed was chosen; the isotropic theory has z = -4 to -10
    # in m at these sizes.
    assert found["verdict"] != "REFUTED"
    z = found["z"]
    assert isinstance(z, dict)
    assert "chi" in z
    assert abs(z["m"]) < 4.0


READOUT, BIAS = ["--readout", "1:0.5,-0.7:0.5"], ["--bias", "0.4:0.5,-0.4:0.5"]


def test_solve_takes_a_vocabulary_and_biases(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, "solve", *STEPPED, "--bulk-model", "network", *READOUT, *BIAS)
    groups = tuple(ReadoutGroup(u, 0.25, None, b) for u in (1.0, -0.7) for b in (0.4, -0.4))
    network = Network(activation("tanh"), activation("tanh"), 1.5, 1.0, 0.01, alpha0=10.0, eta=10.0, readout=groups)
    solution = solve(network.model("network"))
    assert found["test_error"] == solution.test_error
    parameters = found["order_parameters"]
    assert isinstance(parameters, dict)
    assert parameters["chi"] == list(solution.order_parameters.chi)
    assert (
        found["test_error"]
        != document(capfd, "solve", *STEPPED, "--bulk-model", "isotropic", *READOUT, *BIAS)["test_error"]
    )


def test_simulate_takes_a_vocabulary_biases_and_a_loss(capfd: pytest.CaptureFixture[str]) -> None:
    short = ["--kind", "network", "--dimension", "40", "--seeds", "2"]
    found = document(capfd, "simulate", *STEPPED, *short, *READOUT, "--loss", "huber:1", "--bias", "learned")
    assert {"m[0]", "chi[1]", "bulk[0]", "spike[1]", "bias", "energy", "mean_squared_error"} <= set(found)
    spikes = [found[f"spike[{a}]"] for a in (0, 1)]
    assert all(isinstance(spike, dict) for spike in spikes)
    assert spikes[1]["mean"] == pytest.approx(-0.7 * spikes[0]["mean"])  # type: ignore[index]


def test_weights_and_biases_in_pairs_leave_the_bulk_empty(capfd: pytest.CaptureFixture[str]) -> None:
    pairs = ["--readout", "1:0.5::0.3,-0.7:0.5::-0.3"]
    found = document(capfd, "solve", *STEPPED, "--bulk-model", "network", *pairs)
    groups = (ReadoutGroup(1.0, 0.5, None, 0.3), ReadoutGroup(-0.7, 0.5, None, -0.3))
    network = Network(activation("tanh"), activation("tanh"), 1.5, 1.0, 0.01, alpha0=10.0, eta=10.0, readout=groups)
    assert found["test_error"] == solve(network.model("network")).test_error
    short = ["--kind", "network", "--dimension", "30", "--seeds", "2"]
    simulated = document(capfd, "simulate", *STEPPED, *short, *pairs)["test_error"]
    assert isinstance(simulated, dict)
    assert simulated["mean"] == simulate(network, dimension=30, seeds=2, kind="network").test_error.mean
    assert run(["simulate", *STEPPED, *short, "--readout", "1:0.5:1:0.3,-0.7:0.5:1:-0.3"]) == 2
    message = capfd.readouterr().err
    assert "1:0.5::0.3,-1:0.5::-0.3" in message


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (["--readout", "1e-200:0.5,-1e-200:0.5"], "weight of 1e-200"),
        (["--readout", "1e40:0.5,-1:0.5"], "weight of 1e+40"),
        (["--bias", "1e300:1"], "bias of 1e+300"),
        (["--eta", "1e200"], "eta = 1e+200"),
        (["--alpha0", "1e60"], "alpha0 = 1e+60"),
        (["--alpha0", "1e9"], "4e+10 samples of the step"),
        (["--eta", "1e10", "--readout", "1e10:0.5,-1:0.5"], "weights of more than 1e+20"),
        (["--bias", "learned", "--ridge", "0"], "a learned bias needs a positive ridge"),
        (["--bias", "learned", "--activation", "sign(z)*sqrt(Abs(z))"], "a bias is learned on the scale"),
    ],
)
def test_networks_beyond_double_precision_are_refused(
    capfd: pytest.CaptureFixture[str], changed: list[str], said: str
) -> None:
    short = ["--kind", "network", "--dimension", "40", "--seeds", "2", "--quiet"]
    assert run(["simulate", *STEPPED, *short, *changed]) == 2
    output = capfd.readouterr()
    assert said in output.err
    assert output.err.count("\n") == 1
    assert not output.out


def test_a_rule_for_the_labels_that_takes_minutes_is_refused() -> None:
    with pytest.raises(ModelError, match="nodes: take a smaller eta"):
        network_constants.labels(activation("sin"), 1.0, 1e9)


def test_compare_measures_groups_against_their_own_theory(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(
        capfd, "compare", *STEPPED, *READOUT, *BIAS, "--kind", "network", "--dimensions", "60,120,240", "--seeds", "6"
    )
    # False-alarm rate of the protocol 1e-3, met once when the seed was left at its default.
    assert found["verdict"] != "REFUTED"
    theory = found["theory"]
    assert isinstance(theory, dict)
    assert {"chi[0]", "chi[3]", "q1[0,3]"} <= set(theory)


def test_a_sweep_simulates_groups_of_a_network() -> None:
    axes = tuple(
        Axis(name, (float(value),), swept=False) for name, value in (NUMBERS | {"alpha0": 2, "eta": 2}).items()
    )
    groups = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.7, 0.5, None, 0.3))
    sweep = Sweep(
        "tanh", "tanh", axes, kind="both", groups=groups, bulk_model="network",
        experiment=Experiment(30, 2, kind="network"),
    )  # fmt: skip
    (row,) = solve_chunk(sweep, 0, 1)
    found = dict(zip(columns(sweep), row, strict=True))
    for name in ("chi_1", "simulated_chi_1", "simulated_spike_0", "simulated_bulk_1", "simulated_alignment"):
        assert isinstance(found[name], float), name
