"""The warning for activations with an even part: its numbers are those of the stored networks, and it is given."""

from __future__ import annotations

import json
import math
import re

import pytest

from benchmarks.studies.even_part import DIMENSIONS, ranges
from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.even_part import DIMENSION, MEASURED, even_part_warning, strength
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve
from tests.shared.command_line import outcome

TANH, LEANING = activation("tanh"), activation("tanh(z) + 0.2*(z**2 - 1)")
STEP = {"alpha0": 8.0, "eta": 3.0, "beta": 1.0}
ARGUMENTS = [
    "solve", "--activation", "tanh(z) + 0.2*(z**2 - 1)", "--target", "tanh", "--alpha", "1.5", "--beta", "1",
    "--ridge", "0.1", "--bulk-model", "isotropic", "--alpha0", "8", "--eta", "3",
]  # fmt: skip


def quoted(warning: str) -> tuple[float, float]:
    """The range that a warning tells, in per cent."""
    found = re.search(r"by ([+-][\d.]+) % to ([+-][\d.]+) %", warning)
    assert found is not None, warning
    return float(found[1]), float(found[2])


def test_the_table_is_what_the_stored_networks_show() -> None:
    assert ranges() == MEASURED
    assert DIMENSIONS[-1][0] == DIMENSION


def test_the_strength_is_that_of_the_step() -> None:
    # E[sigma''] = 0.4 and E[tanh^2] = 0.3942945 by Gauss-Hermite: 3 0.4 sqrt(0.3942945/8).
    assert strength(LEANING, TANH, **STEP) == pytest.approx(1.2 * math.sqrt(0.3942945 / 8.0), rel=1e-6)
    # The step's length is eta/beta.
    assert strength(LEANING, TANH, alpha0=8.0, eta=3.0, beta=4.0) == pytest.approx(
        0.3 * math.sqrt(0.3942945 / 8.0), rel=1e-6
    )
    assert strength(TANH, TANH, **STEP) == 0.0
    assert strength(LEANING, TANH, alpha0=8.0, eta=0.0, beta=1.0) == 0.0


def test_the_range_told_holds_a_network_that_was_not_used_for_it() -> None:
    model = Model.from_gradient_step(LEANING, TANH, alpha=1.5, ridge=0.1, bulk_model="isotropic", **STEP)
    (warning,) = model.warnings
    assert solve(model).warnings == (warning,)
    low, high = quoted(warning)
    # Networks of this model simulated outside of this suite, extrapolated in d: 0.2793(37).
    assert low < 100.0 * (0.2793 / solve(model).test_error - 1.0) < high


def test_a_warning_outside_of_the_measured_strengths_says_so() -> None:
    # Further out by the strength, by the fewest samples of a step and by the most.
    for alpha0, eta in ((8.0, 300.0), (0.99, 1.0), (16.1, 3.0)):
        warning = even_part_warning(LEANING, TANH, alpha0, eta, 1.0, 0.0)
        assert warning is not None
        assert "is measured up to 1 and for alpha0 from 1 to 16, not here, and they may be far from this" in warning
        assert "%" not in warning
    # What is weaker than all that was measured does no more than the weakest.
    assert strength(LEANING, TANH, alpha0=1.0, eta=0.05, beta=1.0) < 0.03
    weak = even_part_warning(LEANING, TANH, 1.0, 0.05, 1.0, 0.0)
    assert weak is not None
    assert quoted(weak) == (MEASURED[0][2], MEASURED[0][3])


@pytest.mark.parametrize("command", ["solve", "bounds"])
def test_the_warning_is_on_stderr_and_in_the_document(command: str, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, [command, *ARGUMENTS[1:], "--json"])
    (sentence,) = json.loads(out)["warnings"]
    assert (code, err) == (0, f"giantsteps: warning: {sentence}\n")
    assert outcome(capfd, [command, *ARGUMENTS[1:], "--quiet"])[2] == ""
    swept = [*ARGUMENTS[1:-1], "1,2,3,4,5", "--json"]
    code, out, err = outcome(capfd, [command, *swept])
    assert all(len(result["warnings"]) == 1 for result in json.loads(out)["results"])
    assert err.count("warning") == 4
    assert "2 more points" in err


def test_the_bulk_of_a_network_has_the_even_part(capfd: pytest.CaptureFixture[str]) -> None:
    # What the warning points to: no warning, and a theory within the networks that the warning quotes.
    own = [*ARGUMENTS, "--bulk-model", "network", "--json"]
    code, out, err = outcome(capfd, own)
    assert (code, err) == (0, "")
    assert json.loads(out)["test_error"] == pytest.approx(0.285518, abs=5e-7)
    run = ["--kind", "network", "--dimensions", "20", "--seeds", "1", "--json"]
    code, out, err = outcome(capfd, ["compare", *ARGUMENTS[1:], *run])
    assert json.loads(out)["theory"]["test_error"] == pytest.approx(0.285518, abs=5e-7)
