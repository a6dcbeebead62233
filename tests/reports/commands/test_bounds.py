"""giantsteps bounds: the best ridge between its bounds, of any loss; infinite ridges, errors, what is not resolved."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import pytest

from giantsteps import Model, bounds
from giantsteps.reports.answers.loss_bounds import at_end, loss_bounds_text
from giantsteps.reports.commands.bounds import why_not
from tests.reports.commands.test_solve import ENDLESS, GIVEN, UNSOLVED
from tests.shared.command_line import WORKED, document, outcome, replaced

NOISY = [*replaced("target", "sign", replaced("alpha", "2", replaced("alignment", "1"))), "--noise", "0.3"]
# Two groups separate the labels up to flips of probability 4e-9: no ridge leaves the outputs any noise.
SEPARATED = [
    *[
        "--activation",
        "gelu",
        "--target",
        "sign",
        "--alpha",
        "2.18",
        "--beta",
        "1.92",
        "--ridge",
        "0.1",
        "--spike",
        "1",
        "--bulk",
        "1",
        "--alignment",
        "1",
    ],
    *["--readout", "-1.39:0.61:1.04:0.07,1.67:0.39:1.19", "--noise", "0.03", "--loss", "hinge"],
]


@pytest.mark.parametrize(
    ("more", "changes"),
    [
        ([], {}),
        (["--rows", "gaussian", "--spike", "2"], {"gaussian_rows": True, "spike": 2.0}),
        (["--target", "sign", "--loss", "absolute"], {"loss": "absolute"}),
    ],
)
def test_bounds_enclose_the_best_ridge(
    more: list[str], changes: dict[str, Any], capfd: pytest.CaptureFixture[str]
) -> None:
    found = document(capfd, ["bounds", *WORKED, *more])
    expected = bounds(Model("tanh", "sign" if "sign" in more else "sin", **(GIVEN | changes)))
    assert (found["lower"], found["upper"]) == (expected.lower, expected.upper)
    best = found["best_ridge"]
    assert found["lower"] <= best["test_error"] <= found["upper"]
    assert (found["converged"], found["best_eta"]) == (True, None)
    assert found["error_estimate"] <= 1e-8  # 1e-11 of E[g^2] < 1 for the square loss
    again = document(capfd, ["solve", *WORKED, *more, "--ridge", repr(best["ridge"])])
    # The bounds command solves on one fixed rule, solve refines it: they agree to the quadrature's 1e-11, with margin.
    assert again["test_error"] == pytest.approx(best["test_error"], rel=1e-7 if "loss" in changes else 1e-9)


def test_bounds_of_networks_are_lower(capfd: pytest.CaptureFixture[str]) -> None:
    step = "--activation tanh --target tanh --alpha 1.5 --beta 1 --ridge 0.01 --alpha0 10 --eta 10 --bulk-model"
    own, other = (document(capfd, ["bounds", *step.split(), name])["lower"] for name in ("network", "isotropic"))
    assert own < other


def test_an_infinite_best_ridge_is_spelled_out(capfd: pytest.CaptureFixture[str]) -> None:
    # An even activation and an odd target at alignment 0: the features only add noise, so every finite ridge hurts.
    args = replaced("activation", "z**2-1", replaced("spike", "0", replaced("alignment", "0")))
    ridge = document(capfd, ["bounds", *args])["best_ridge"]["ridge"]
    assert ridge["infinite"] is True
    assert ridge["reason"]


@pytest.mark.parametrize(
    ("args", "said", "bounded"),
    [
        (UNSOLVED, "varies too fast", False),
        (ENDLESS, "1 of 1 points did not converge: the training free energy still falls at the end of the scan", True),
        (SEPARATED, "does not converge", True),
    ],
)
def test_what_is_not_resolved_ends_undecided(
    args: list[str], said: str, bounded: bool, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = outcome(capfd, ["bounds", *args, "--json"])
    found = json.loads(out)
    assert (code, found["converged"], found["bounds_converged"]) == (3, False, bounded)
    assert said in err


@pytest.mark.parametrize(
    ("found", "said", "not_said"),
    [
        ({"bounds_converged": False, "loss": "hinge", "error_estimate": 1.6e-6}, "loss are known to 2e-06", "fast"),
        ({"bounds_converged": False, "loss": "hinge", "error_estimate": {"infinite": True}}, "are not known", "fast"),
        ({"bounds_converged": True, "loss": "hinge", "error_estimate": 0.0}, "least error was not", "bounds"),
        ({"bounds_converged": False, "error_estimate": 0.1}, "varies too fast", "least error"),
        ({"bounds_converged": True, "error_estimate": 0.0}, "least error was not", "fast"),
    ],
)
def test_what_did_not_converge_is_named(found: dict[str, Any], said: str, not_said: str) -> None:
    assert said in why_not([found])
    assert not_said not in why_not([found])


def test_a_sweep_of_another_loss_prints_a_line_per_point(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capfd, ["bounds", *replaced("alignment", "0.9,1", NOISY), "--loss", "absolute"])
    _, head, *lines = out.splitlines()
    assert code == 0
    assert [name in head for name in ("alignment", "lower bound", "upper bound", "mse at least")] == [True] * 4
    for alignment, line in zip(("0.9", "1"), lines[:2], strict=True):
        first, lower, least, _, upper, *_ = line.split()
        assert first == alignment
        assert float(lower) < float(least) <= float(upper)


@pytest.mark.parametrize("lower", [True, False])
@pytest.mark.parametrize("upper", [True, False])
def test_each_number_of_a_line_is_its_own_and_a_bound_not_reached_has_the_star(lower: bool, upper: bool) -> None:
    best = {"test_error": 0.3, "ridge": 0.25, "ridges_left_out": 0, "at_width": {"test_error": 0.375}}
    found = {
        "loss": "hinge", "lower": 0.125, "upper": 0.5, "lower_reached": lower, "upper_reached": upper,
        "mean_squared_error": {"lower": 0.0625}, "classification_error": {"upper": 0.875}, "best_ridge": best,
    }  # fmt: skip
    _, head, line, *notes = loss_bounds_text((), [({}, found)], 777).splitlines()
    assert re.split(r"  +", head.strip()) == [
        "lower bound", "least test loss", "at width 777", "at ridge", "upper bound", "mse at least",
        "class. error at most",
    ]  # fmt: skip
    stars = ["" if reached else " *" for reached in (lower, upper)]
    expected = [f"0.125{stars[0]}", "0.3", "0.375", "0.25", f"0.5{stars[1]}", "0.0625", "0.875"]
    assert re.split(r"  +", line.strip()) == expected
    assert [note[0] for note in notes] == ["*"] * (not (lower and upper))


def test_a_best_ridge_at_an_end_of_the_scan_is_told_from_one_inside() -> None:
    ends = [at_end(ridge) for ridge in (1e-3, math.exp(math.log(1e3)), 0.2, {"infinite": True})]
    assert ends == [True, True, False, False]
