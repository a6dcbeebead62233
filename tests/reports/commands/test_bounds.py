"""giantsteps bounds: the best ridge between its bounds, infinite ridges, errors, what is not resolved."""

from __future__ import annotations

import json
from typing import Any

import pytest

from giantsteps.reports.commands.bounds import why_not
from tests.shared.command_line import WORKED, document, outcome, replaced


def test_bounds_enclose_the_best_ridge(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["bounds", *WORKED])
    assert found["lower"] <= found["best_ridge"]["test_error"] <= found["upper"]
    assert found["best_eta"] is None
    best = document(capfd, ["solve", *replaced("ridge", repr(found["best_ridge"]["ridge"]))])
    # The bounds command solves on one fixed rule, solve refines it: they agree to the quadrature's 1e-11, with margin.
    assert best["test_error"] == pytest.approx(found["best_ridge"]["test_error"], rel=1e-9)


def test_an_infinite_best_ridge_is_spelled_out(capfd: pytest.CaptureFixture[str]) -> None:
    # An even activation and an odd target at alignment 0: the features only add noise, so every finite ridge hurts.
    args = [
        "--activation",
        "z**2-1",
        "--target",
        "sin",
        "--alpha",
        "1",
        "--beta",
        "1",
        "--ridge",
        "1",
        "--spike",
        "0",
        "--bulk",
        "1",
        "--alignment",
        "0",
    ]
    found = document(capfd, ["bounds", *args])
    assert found["best_ridge"]["ridge"]["infinite"] is True
    assert found["best_ridge"]["ridge"]["reason"]


def test_bounds_that_are_not_resolved_end_undecided(capfd: pytest.CaptureFixture[str]) -> None:
    args = [*WORKED]
    args[args.index("--target") + 1] = "exp(-sin(100*z)**2*10**8)"
    code, out, err = outcome(capfd, ["bounds", *args, "--json"])
    assert code == 3
    assert json.loads(out)["converged"] is False
    assert "varies too fast" in err


@pytest.mark.parametrize(
    ("document_", "said", "not_said"),
    [
        (
            {"bounds_converged": False, "loss": "hinge", "error_estimate": 1.6e-6},
            "hinge loss are known to 2e-06",
            "fast",
        ),
        ({"bounds_converged": False, "loss": "hinge", "error_estimate": {"infinite": True}}, "are not known", "fast"),
        ({"bounds_converged": True, "loss": "hinge", "error_estimate": 0.0}, "least error was not", "bounds"),
        ({"bounds_converged": False, "error_estimate": 0.1}, "varies too fast", "least error"),
        ({"bounds_converged": True, "error_estimate": 0.0}, "least error was not", "fast"),
    ],
)
def test_what_did_not_converge_is_named(document_: dict[str, Any], said: str, not_said: str) -> None:
    assert said in why_not([document_])
    assert not_said not in why_not([document_])


def test_bounds_give_their_error(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["bounds", *WORKED])
    assert found["converged"] is True
    # The goal of the refinement, 1e-11 of E[g^2] < 1.
    assert found["error_estimate"] <= 1e-11


def test_bounds_of_a_learned_bias_without_an_end_are_none(capfd: pytest.CaptureFixture[str]) -> None:
    given = [
        "bounds", "--activation", "softplus", "--target", "he(2, z)", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1",
        "--spike", "1", "--bulk", "1", "--alignment", "0.8", "--bias", "learned",
    ]  # fmt: skip
    code, out, err = outcome(capfd, [*given, "--json"])
    assert (code, json.loads(out)["converged"]) == (3, False)
    assert "1 of 1 points did not converge: the training free energy still falls at the end of the scan" in err
