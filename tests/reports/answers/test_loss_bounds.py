"""giantsteps bounds --loss: what is printed, what is in the document, what is refused."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.any_loss import loss_bounds
from giantsteps.numerics.models.losses import ABSOLUTE
from giantsteps.numerics.models.model import Model
from giantsteps.reports.answers.loss_bounds import loss_bounds_text
from giantsteps.reports.command_line.cli import run

NOISY = ["--activation", "tanh", "--target", "sign", "--alpha", "2", "--beta", "1", "--ridge", "0.1", "--noise", "0.3"]
ALIGNED = [*NOISY, "--spike", "1", "--bulk", "1", "--alignment", "1"]
STEPPED = [*NOISY, "--alpha0", "2", "--eta", "1"]


def test_the_document_has_both_bounds_and_the_best_ridge(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["bounds", *ALIGNED, "--loss", "absolute", "--json"]) == 0
    found: dict[str, Any] = json.loads(capfd.readouterr().out)
    model = Model(
        activation("tanh"), activation("sign"), alpha=2.0, beta=1.0, ridge=0.1, noise=0.3, spike=1.0, bulk=1.0,
        alignment=1.0,
    )  # fmt: skip
    expected = loss_bounds(model.changed(loss=ABSOLUTE))
    assert (found["lower"], found["upper"]) == (expected.lower, expected.upper)
    assert found["lower"] < found["best_ridge"]["test_error"] <= found["upper"]
    assert found["loss"] == "absolute" == found["provenance"]["parameters"]["loss"]
    assert all(found[name] for name in ("lower_reached", "upper_reached", "converged"))
    assert found["mean_squared_error"] == {
        "lower": expected.mean_squared_error[0], "upper": expected.mean_squared_error[1]
    }  # fmt: skip
    assert found["classification_error"] == {"upper": 0.0}
    assert found["best_eta"] is None


def test_a_sweep_prints_a_line_per_point(capfd: pytest.CaptureFixture[str]) -> None:
    arguments = [*ALIGNED[:-1], "0.9,1", "--loss", "absolute"]
    assert run(["bounds", *arguments]) == 0
    lines = capfd.readouterr().out.splitlines()
    assert lines[0] == "absolute loss per test sample, label noise included; every bound is a limit of infinite width"
    assert [name in lines[1] for name in ("alignment", "lower bound", "upper bound", "mse at least")] == [True] * 4
    assert [line.split()[0] for line in lines[2:4]] == ["0.9", "1"]
    for line in lines[2:4]:
        _, lower, least, _, upper, *_ = line.split()
        assert float(lower) < float(least) <= float(upper)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([*STEPPED, "--loss", "hinge", "--optimise-eta"], ("--optimise-eta with --loss hinge", "--loss square")),
        ([*ALIGNED, "--loss", "hinge", "--bias", "learned"], ("--bias learned with --loss hinge", "quenched")),
        ([*ALIGNED, "--loss", "cubic"], ("huber:DELTA",)),
        ([*ALIGNED, "--loss", "logistic", "--target", "tanh"], ("label noise", "--target sign")),
    ],
)
def test_what_is_refused(arguments: list[str], words: tuple[str, ...], capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["bounds", *arguments]) == 2
    said = capfd.readouterr().err
    assert said.count("\n") == 1
    for word in words:
        assert word in said


def test_a_scan_in_which_no_ridge_converges_is_undecided(capfd: pytest.CaptureFixture[str]) -> None:
    # Two groups separate the labels up to flips of probability 4e-9: no ridge leaves the outputs any noise.
    arguments = [
        "bounds", "--activation", "gelu", "--target", "sign", "--alpha", "2.18", "--beta", "1.92", "--ridge", "0.1",
        "--spike", "1", "--bulk", "1", "--alignment", "1", "--readout", "-1.39:0.61:1.04:0.07,1.67:0.39:1.19",
        "--noise", "0.03", "--loss", "hinge", "--json",
    ]  # fmt: skip
    assert run(arguments) == 3
    said = capfd.readouterr()
    found: dict[str, Any] = json.loads(said.out)
    assert found["bounds_converged"]
    assert not found["converged"]
    assert found["lower_reached"]
    assert "the solver converges at no ridge" in found["best_ridge"]["ridge"]["reason"]
    assert "does not converge" in said.err


def line_of(**more: Any) -> list[str]:
    """The lines under the head of a table of one point none of whose numbers are alike."""
    best = {"test_error": 0.3, "ridge": 0.25, "ridges_left_out": 0, "at_width": {"test_error": 0.375}}
    document = {
        "loss": "hinge", "lower": 0.125, "upper": 0.5, "lower_reached": True, "upper_reached": True,
        "mean_squared_error": {"lower": 0.0625, "upper": 2.0}, "classification_error": {"upper": 0.875},
    }  # fmt: skip
    return loss_bounds_text((), [({}, document | {"best_ridge": best} | more)], 777).splitlines()


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("upper", [True, False])
def test_each_number_of_a_line_is_its_own_and_a_bound_not_reached_has_the_star(lower: bool, upper: bool) -> None:
    _, head, line, *notes = line_of(lower_reached=lower, upper_reached=upper)
    assert re.split(r"  +", head.strip()) == [
        "lower bound", "least test loss", "at width 777", "at ridge", "upper bound", "mse at least",
        "class. error at most",
    ]  # fmt: skip
    stars = ["" if reached else " *" for reached in (lower, upper)]
    expected = [f"0.125{stars[0]}", "0.3", "0.375", "0.25", f"0.5{stars[1]}", "0.0625", "0.875"]
    assert re.split(r"  +", line.strip()) == expected
    assert [note[0] for note in notes] == ["*"] * (not (lower and upper))


def test_a_best_ridge_at_an_end_of_the_scan_is_told_from_one_inside() -> None:
    from giantsteps.reports.answers.loss_bounds import at_end

    ends = [at_end(ridge) for ridge in (1e-3, math.exp(math.log(1e3)), 0.2, {"infinite": True})]
    assert ends == [True, True, False, False]
