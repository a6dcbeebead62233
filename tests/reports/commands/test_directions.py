"""The command line with spikes of several directions: components joined by a slash."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from giantsteps.reports.command_line import cli
from giantsteps.reports.command_line.options import groups_of

BASE = ["--activation", "tanh", "--target", "sin", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1", "--bulk", "1.1"]
PLANE = [*BASE, "--alignment", "0.6/0.5", "--readout", "1.5/1:0.5,1.5/-1:0.5", "--spike", "1"]


def run(capfd: pytest.CaptureFixture[str], arguments: Sequence[str]) -> tuple[int, str, str]:
    code = cli.run([*arguments])
    out, err = capfd.readouterr()
    return code, out, err


def test_the_worked_value(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, ["solve", *PLANE, "--json"])
    found = json.loads(out)
    assert code == 0
    assert found["test_error"] == pytest.approx(0.1609, abs=5e-5)
    assert found["alignment"] == [0.6, 0.5]
    order = found["order_parameters"]
    assert [len(row) for row in order["zeta"]] == [2, 2]
    assert len(order["psi"]) == len(order["m"]) == 2
    assert found["provenance"]["parameters"]["alignment"] == [0.6, 0.5]
    assert found["provenance"]["parameters"]["readout"][1]["weight"] == [1.5, -1.0]


def test_a_vector_spike_multiplies_the_letters(capfd: pytest.CaptureFixture[str]) -> None:
    alone = [*BASE, "--alignment", "0.6/0.5", "--spike", "1.5/1"]
    errors = []
    for arguments in (
        alone,
        [*BASE, "--alignment", "0.6/0.5", "--spike", "0.5", "--readout", "3/2:1"],
        [*alone, "--readout", "1:0.5,-1:0.5"],  # an odd student: u and -u are one letter
    ):
        code, out, _ = run(capfd, ["solve", *arguments, "--json"])
        assert code == 0
        errors.append(json.loads(out)["test_error"])
    assert errors == pytest.approx([errors[0]] * 3, abs=1e-10)


def test_every_component_of_a_vector_spike_is_multiplied_by_the_weights() -> None:
    found = groups_of("1:0.5,-2:0.5", "0.3:0.5,-0.3:0.5", (1.5, 1.0, -0.5))
    assert {(group.weight, *group.further_weights) for group in found} == {(1.5, 1.0, -0.5), (-3.0, -2.0, 1.0)}
    assert sorted(group.bias for group in found) == [-0.3, -0.3, 0.3, 0.3]


def test_a_sweep_of_another_parameter(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = [item if item != "1.5" else "0.5,1.5" for item in PLANE]
    code, out, _ = run(capfd, ["solve", *arguments, "--json"])
    assert code == 0
    assert [r["parameters"]["alpha"] for r in json.loads(out)["results"]] == [0.5, 1.5]
    assert json.loads(out)["results"][1]["test_error"] == pytest.approx(0.16090205, abs=1e-8)


def test_simulate(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(capfd, ["simulate", *PLANE, "--dimension", "60", "--seeds", "2", "--json"])
    assert code == 0
    assert {"zeta[0,0]", "zeta[0,1]", "zeta[1,0]", "zeta[1,1]", "psi[1]"} <= set(json.loads(out))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--alignment", "0.6/0.9", "--spike", "1/1"], "norm 1.08"),
        (["--alignment", "0.6", "--spike", "1/1"], "1 and 2 components"),
        (["--alignment", "0.6/x", "--spike", "1/1"], "numbers joined by /"),
        (["--alignment", "0.6/0.5", "--spike", "1/"], "numbers joined by /"),
        (["--alignment", "0.6/0.5/0.1/0.1", "--spike", "1/1"], "at most 3"),
        (["--alignment", "0.6/0.5", "--spike", "1/1", "--readout", "1/2:1"], "one of the two"),
        (["--alignment", "0.6/0.5", "--spike", "1"], "1 and 2 components"),
        (["--alignment", "0.6/0.5,0.7/0.4", "--spike", "1/1"], "no sweep"),
    ],
)
def test_what_is_refused_in_one_sentence(capfd: pytest.CaptureFixture[str], arguments: list[str], message: str) -> None:
    code, out, err = run(capfd, ["solve", *BASE, *arguments])
    assert code == 2
    assert not out
    assert message in err
    assert "for example" in err
    assert len(err.splitlines()) == 1


def test_a_spectrum_says_what_it_is_built_for(capfd: pytest.CaptureFixture[str]) -> None:
    code, _, err = run(capfd, ["spectrum", *PLANE])
    assert code == 2
    assert "one direction" in err
