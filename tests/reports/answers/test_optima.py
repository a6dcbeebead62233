"""What `giantsteps bounds` says of optima: local minima that are not certified, ends of a scan, and flat bounds."""

from __future__ import annotations

import json
from typing import Any

import pytest

from giantsteps.numerics.bounds.best_rate import BestBound, best_bounds
from giantsteps.numerics.models.model import Model
from giantsteps.reports.answers.optima import bound_json, bound_lines
from giantsteps.reports.command_line.cli import run
from giantsteps.reports.command_line.problems import DONE

ERF = ["--activation", "erf", "--target", "erf", "--alpha", "2", "--beta", "1", "--ridge", "0.1"]
SPIKED = ["--spike", "1", "--bulk", "1", "--alignment", "1"]


def asked(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> dict[str, Any]:
    assert run(["bounds", *ERF, *arguments, "--json"]) == DONE
    answer = json.loads(capsys.readouterr().out)
    found: dict[str, Any] = answer["best_spike"] if "--optimise-spike" in arguments else answer["best_eta"]
    return found


@pytest.mark.parametrize("readout", [[], pytest.param(["--bias", "0.3:0.5,-0.3:0.5"], marks=pytest.mark.thorough)])
def test_the_best_rates_are_local_minima_and_not_certified(
    readout: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    best = asked([*readout, "--alpha0", "8", "--eta", "1", "--bulk-model", "isotropic", "--optimise-eta"], capsys)
    low, high = best["estimated_bracket"]
    assert low < best["eta"] < high
    for one in (best, best["upper_bound"], best["lower_bound"]):
        assert (one["certified"], one["bracket"], one["status"]) == (False, None, "local minimum, not certified")
    # A rate a hundredth away is worse.
    given = ["--alpha0", "8", "--bulk-model", "isotropic", *readout]
    upper = []
    for share in (0.99, 1.0, 1.01):
        eta = repr(share * best["upper_bound"]["eta"])
        assert run(["bounds", *ERF, *given, "--eta", eta, "--json"]) == DONE
        upper.append(json.loads(capsys.readouterr().out)["upper"])
    assert upper[1] == pytest.approx(best["upper_bound"]["bound"], rel=1e-9)
    assert upper[1] < min(upper[0], upper[2])


def test_the_best_spike_of_erf_that_learns_itself(capsys: pytest.CaptureFixture[str]) -> None:
    # E erf(r kappa + sqrt(c) z) = erf(r kappa/sqrt(1 + 2c)): at c = 1 it is erf(kappa) for r^2 = 3.
    best = asked([*SPIKED, "--optimise-spike"], capsys)
    for name in ("upper_bound", "lower_bound"):
        assert best[name]["spike"] == pytest.approx(3.0**0.5, abs=1e-6)
        assert best[name]["bound"] < 1e-12
    assert bound_lines(best, "spike")[0].startswith("least upper bound ")
    assert bound_lines(best, "spike")[0].endswith(
        ": local minimum, not certified (scanned and refined on [0.08333333333, 10])"
    )


def test_ends_and_flat_bounds_are_said() -> None:
    # At alignment 0 mu0 tells nothing of the target, and the spike may be anything.
    found = best_bounds(Model("erf", "erf", 2.0, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.0), "spike")
    upper, lower = bound_json(found.upper, "spike"), bound_json(found.lower, "spike")
    assert upper["status"].startswith("flat: the bound varies by ")
    assert lower["status"] == "least at an end of the scan, not certified"
    assert (lower["spike"], lower["at_largest_spike_tried"]) == (lower["tried"][0], False)
    last = bound_json(BestBound(9.0, 0.5, (), (0.1, 9.0), 0.2), "eta")
    assert (last["status"], last["at_largest_eta_tried"]) == ("least at an end of the scan, not certified", True)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        ([*SPIKED, "--optimise-eta"], "it needs the gradient step"),
        (["--alpha0", "8", "--eta", "1", "--optimise-spike"], "--optimise-spike was given with --alpha0 and --eta"),
        (["--alpha0", "8", "--eta", "1", "--bias", "learned", "--optimise-eta"], "quenched biases"),
    ],
)
def test_what_does_not_go_together_is_refused(
    arguments: list[str], sentence: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(["bounds", *ERF, *arguments]) == 2
    assert sentence in capsys.readouterr().err
