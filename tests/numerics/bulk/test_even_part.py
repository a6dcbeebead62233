"""The warning for activations with an even part: its numbers are those of the stored networks, and it is given."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path

import pytest

from benchmarks.studies.even_part import CELLS, DIMENSIONS, SEED, SLUG, ranges
from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.even_part import DIMENSION, MEASURED, even_part_warning, strength
from giantsteps.numerics.models.model import UNIFORM, Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.measurements.experiments import stored
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


def test_a_stored_experiment_is_repeated_by_its_seed() -> None:
    experiment = next(one for cell in CELLS.values() for one in cell if one.name.startswith("case 2"))
    assert experiment.run(SEED) == stored(SLUG)[experiment.name]


def test_the_strength_is_that_of_the_step() -> None:
    # E[sigma''] = 0.4 and E[tanh^2] = 0.3942945 by Gauss-Hermite: 3 0.4 sqrt(0.3942945/8).
    assert strength(LEANING, TANH, **STEP) == pytest.approx(1.2 * math.sqrt(0.3942945 / 8.0), rel=1e-6)
    # The step's length is eta/beta.
    assert strength(LEANING, TANH, alpha0=8.0, eta=3.0, beta=4.0) == pytest.approx(
        0.3 * math.sqrt(0.3942945 / 8.0), rel=1e-6
    )
    assert strength(TANH, TANH, **STEP) == 0.0
    assert strength(LEANING, TANH, alpha0=8.0, eta=0.0, beta=1.0) == 0.0


def test_label_noise_is_part_of_the_strength() -> None:
    # The step sees noisy labels: E[y^2] = E[tanh^2] + 1/2.
    assert strength(LEANING, TANH, noise=0.5, **STEP) == pytest.approx(1.2 * math.sqrt(0.8942945 / 8.0), rel=1e-6)
    (warning,) = Model.from_gradient_step(
        LEANING, TANH, alpha=1.5, ridge=0.1, noise=0.5, bulk_model="isotropic", **STEP
    ).warnings
    assert "(eta/beta) |E[sigma'']| sqrt(E[y^2]/alpha0) = 0.4 of their length" in warning


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


def test_a_warning_is_as_sure_as_the_worst_of_the_networks_around() -> None:
    for alpha0, eta, sizes in ((2.0, 1.0, (0.1, 0.3)), (8.0, 0.7, (0.03, 0.1))):
        assert sizes[0] < strength(LEANING, TANH, alpha0=alpha0, eta=eta, beta=1.0) < sizes[1]
        warning = even_part_warning(LEANING, TANH, alpha0, eta, 1.0, 0.0)
        batches = (1.0, 4.0) if alpha0 < 4.0 else (4.0, 16.0)
        around = [cell for cell in MEASURED if cell[0] in sizes and cell[1] in batches]
        assert warning is not None
        assert quoted(warning) == (min(cell[2] for cell in around), max(cell[3] for cell in around))
        assert f"each measured to {max(cell[4] for cell in around):.1f} %" in warning


def test_the_largest_readout_weight_decides() -> None:
    # A step three times as long, and one that is worth a word for the group of the large weight only.
    for eta, weights in ((0.5, (1.0, -3.0)), (1e-3, (1.0, 20.0)), (0.5, (0.5, -0.25))):
        groups = tuple(ReadoutGroup(weight, 0.5) for weight in weights)
        step = {"alpha0": 8.0, "eta": eta, "beta": 1.0}
        model = Model.from_gradient_step(
            LEANING, TANH, alpha=1.5, ridge=0.1, readout=groups, bulk_model="isotropic", **step
        )
        (warning,) = model.warnings
        largest = max(map(abs, weights)) * strength(LEANING, TANH, **step)
        assert f"|u E[sigma'']| sqrt(E[y^2]/alpha0) = {largest:.2g} of their length" in warning
        assert (len(model.changed(readout=UNIFORM).warnings) == 1) is (eta == 0.5)


def test_only_isotropic_steps_of_activations_with_an_even_part_are_warned_of() -> None:
    odd = Model.from_gradient_step(TANH, TANH, alpha=1.5, ridge=0.1, bulk_model="isotropic", **STEP)
    own = Model.from_gradient_step(TANH, TANH, alpha=1.5, ridge=0.1, bulk_model="network", **STEP)
    spiked = Model(LEANING, TANH, alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
    assert (odd.warnings, own.warnings, spiked.warnings) == ((), (), ())


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


def test_a_sweep_and_a_spectrum_warn_too(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "grid.toml"
    names = ("activation", "target", "alpha", "beta", "ridge", "bulk_model", "alpha0", "eta")
    given = zip(names, ARGUMENTS[2::2], strict=True)
    file.write_text("".join(f'{name} = "{value}"\n' for name, value in given))
    code, out, err = outcome(capfd, ["sweep", str(file), "--out", str(tmp_path / "results"), "--json"])
    (sentence,) = json.loads(out)["warnings"]
    assert (code, err) == (0, f"giantsteps: warning: {sentence}\n")
    code, out, err = outcome(capfd, ["spectrum", *ARGUMENTS[1:], "--json"])
    assert (code, err) == (0, f"giantsteps: warning: {sentence}\n")
    assert json.loads(out)["warnings"] == [sentence]


def test_the_bulk_of_a_network_has_the_even_part(capfd: pytest.CaptureFixture[str]) -> None:
    # What the warning points to: no warning, and a theory within the networks that the warning quotes.
    own = [*ARGUMENTS, "--bulk-model", "network", "--json"]
    code, out, err = outcome(capfd, own)
    assert (code, err) == (0, "")
    assert json.loads(out)["test_error"] == pytest.approx(0.285518, abs=5e-7)
    run = ["--kind", "network", "--dimensions", "20", "--seeds", "1", "--json"]
    code, out, err = outcome(capfd, ["compare", *ARGUMENTS[1:], *run])
    assert json.loads(out)["theory"]["test_error"] == pytest.approx(0.285518, abs=5e-7)
    code, _, err = outcome(capfd, ["compare", *ARGUMENTS[1:], "--bulk-model", "network", "--rows", "gaussian", *run])
    assert code == 2
    assert "rows" in err
