"""The command line with a density of initial readout weights: --readout normal and uniform."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.saddle_point.letters.density import solve_letters
from giantsteps.reports.command_line import cli

BASE = ["--activation", "tanh", "--target", "sin(2*z)", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1"]
SPIKED = [*BASE, "--spike", "1.2", "--bulk", "1.1", "--alignment", "0.9"]
MODEL = Model(
    activation("tanh"), activation("sin(2*z)"), alpha=1.5, beta=1.0, ridge=0.1, spike=1.2, bulk=1.1, alignment=0.9
)


def run(capfd: pytest.CaptureFixture[str], arguments: Sequence[str]) -> tuple[int, str, str]:
    code = cli.run([*arguments])
    out, err = capfd.readouterr()
    return code, out, err


@pytest.mark.parametrize(
    ("text", "law"), [("normal", ReadoutLaw("normal")), ("uniform:1.7", ReadoutLaw("uniform", 1.7))]
)
def test_solve(capfd: pytest.CaptureFixture[str], text: str, law: ReadoutLaw) -> None:
    code, out, _ = run(capfd, ["solve", *SPIKED, "--readout", text, "--json"])
    found, expected = json.loads(out), solve_letters(MODEL.changed(readout=law))
    assert code == 0
    assert found["test_error"] == pytest.approx(expected.test_error, rel=1e-13)
    assert found["training_error"] == pytest.approx(expected.training_error, rel=1e-13)
    assert found["order_parameters"]["psi"] == pytest.approx(expected.order_parameters.psi[0], rel=1e-13)
    assert found["readout"] == {"law": law.name, "scale": law.scale}
    assert found["provenance"]["parameters"]["readout"] == {"law": law.name, "scale": law.scale}
    code, out, _ = run(capfd, ["solve", *SPIKED, "--readout", text])
    assert code == 0
    assert "limit of many letters" in out
    assert "bulk of a letter u" in out
    assert found["bulk_of_letter"] == "1 + u^2 (bulk - 1)"


def test_after_a_step(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = run(
        capfd,
        [
            "solve",
            *BASE,
            "--alpha0",
            "2",
            "--eta",
            "1,3",
            "--readout",
            "normal:0.8",
            "--bulk-model",
            "isotropic",
            "--json",
        ],
    )
    assert code == 0
    step = Model.from_gradient_step(
        activation("tanh"),
        activation("sin(2*z)"),
        alpha=1.5,
        beta=1.0,
        ridge=0.1,
        alpha0=2.0,
        eta=3.0,
        bulk_model="isotropic",
    )
    found = json.loads(out)
    assert found["sweep"] == {"eta": [1.0, 3.0]}
    assert found["results"][1]["test_error"] == pytest.approx(
        solve_letters(step.changed(readout=ReadoutLaw("normal", 0.8))).test_error, rel=1e-13
    )


def test_simulate_and_compare(capfd: pytest.CaptureFixture[str]) -> None:
    given = [*SPIKED, "--readout", "uniform:1.7"]
    code, out, _ = run(capfd, ["simulate", *given, "--dimension", "60", "--seeds", "2", "--json"])
    found = json.loads(out)
    assert code == 0
    assert {"test_error", "training_error", "zeta", "psi"} <= set(found)
    assert found["provenance"]["parameters"]["readout"] == {"law": "uniform", "scale": 1.7}
    code, out, _ = run(capfd, ["compare", *given, "--dimensions", "100,200", "--seeds", "12", "--json"])
    found = json.loads(out)
    # A right theory is refuted with probability 1e-3 at most.
    assert found["verdict"] != "REFUTED"
    assert code in (0, 3)
    assert found["theory"]["test_error"] == pytest.approx(0.33116776, abs=1e-8)
    # Beside each simulation stands the theory at its width, above the limit.
    assert found["simulation"][0]["theory"]["test_error"] > found["simulation"][1]["theory"]["test_error"] > 0.35


def test_a_point_without_a_solution_keeps_the_others(capfd: pytest.CaptureFixture[str]) -> None:
    given = ["solve", *SPIKED, "--alpha", "0.5,1,2", "--ridge", "0", "--readout", "uniform"]
    code, out, _ = run(capfd, given)
    assert code == 3
    assert out.count("converged") == 2
    assert "interpolation threshold" in out
    code, out, _ = run(capfd, [*given, "--json"])
    below, at, _ = json.loads(out)["results"]
    assert code == 3
    assert below["converged"]
    assert at["test_error"] is None
    assert "interpolation threshold" in at["status"]


def test_what_is_not_built_is_refused_before_anything_is_simulated(
    capfd: pytest.CaptureFixture[str],
) -> None:
    given = ["compare", *SPIKED, "--activation", "he2", "--readout", "normal", "--dimensions", "60,120", "--seeds", "2"]
    code, out, err = run(capfd, given)
    assert (code, out) == (2, "")
    assert "span finitely many" in err


@pytest.mark.parametrize(
    ("command", "arguments", "sentence"),
    [
        ("solve", ["--readout", "normal:0"], "normal:SCALE"),
        ("solve", ["--readout", "uniformly"], "normal:SCALE"),
        ("solve", ["--readout", "normal", "--loss", "logistic"], "--loss beside a density"),
        ("solve", ["--readout", "normal", "--bias", "learned"], "--bias beside a density"),
        ("solve", ["--readout", "normal", "--digits", "30"], "--digits"),
        ("solve", ["--readout", "normal:1e3"], "out of reach"),
        (
            "solve",
            ["--readout", "normal", "--spike", "1/1", "--alignment", "0.6/0.5"],
            "--spike or --alignment of several directions beside a density",
        ),
        ("simulate", ["--readout", "normal", "--kind", "equivalent"], "--kind srf"),
        ("simulate", ["--readout", "normal", "--inputs", "uniform"], "--inputs gaussian"),
        ("bounds", ["--readout", "normal"], "density for this command"),
        ("spectrum", ["--readout", "uniform:2"], "density for this command"),
    ],
)
def test_what_is_refused(capfd: pytest.CaptureFixture[str], command: str, arguments: list[str], sentence: str) -> None:
    code, out, err = run(capfd, [command, *SPIKED, *arguments])
    assert code == 2
    assert out == ""
    assert sentence in err
    assert len(err.strip().splitlines()) == 1
