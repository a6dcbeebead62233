"""The value at a finite width beside every limit, and the sentence where the two are far apart."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from giantsteps.numerics.models.documents import apart_sentence
from tests.shared.command_line import document, outcome, replaced

SMALL_STEP = [
    "--activation", "tanh", "--target", "sin", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1", "--alpha0", "2",
    "--eta", "0.1",
]  # fmt: skip
SIGNS = [*replaced("target", "sign", SMALL_STEP), "--alpha0", "4", "--loss", "logistic"]


def test_a_limit_that_no_network_reaches_is_told(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *SMALL_STEP, "--width", "800"])
    # Simulated at d = 800 outside of this suite: 0.1992(34).
    assert found["test_error"] == pytest.approx(0.1563, abs=1e-4)
    assert found["at_width"]["test_error"] == pytest.approx(0.2038, abs=1e-4)
    (sentence,) = found["warnings"]
    assert "expect a test error of 0.2038, 30.4 % above its limit" in sentence
    code, out, err = outcome(capfd, ["solve", *SMALL_STEP, "--width", "800"])
    assert (code, err) == (0, "")
    assert out.endswith(f"{sentence}\n")
    # What a user is to quote comes first, the limit below it.
    assert [line.partition("  ")[0] for line in out.splitlines()[:3]] == [
        "test error at width 800", "training error at width 800", "limit",
    ]  # fmt: skip


def test_errors_beside_the_loss_are_those_of_networks_of_the_width(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *SIGNS, "--width", "300"])
    drawn = document(capfd, ["simulate", *SIGNS, "--dimension", "300", "--seeds", "12"])
    for name in ("test_error", "classification_error", "mean_squared_error"):
        # Five standard errors of twelve networks (false alarms: 4e-4 by Student's t), and 3 % for what else is of order
        # 1/p. The limit is much farther away than that.
        close = 5.0 * drawn[name]["standard_error"] + 0.03 * drawn[name]["mean"]
        assert abs(found["at_width"][name] - drawn[name]["mean"]) < close
        assert abs(found[name] - drawn[name]["mean"]) > 3.0 * close
    assert "a classification error of 0.2525, 62.4 % above its limit" in found["warnings"][0]


def test_sweeps_carry_both_and_count_where_they_differ(capfd: pytest.CaptureFixture[str]) -> None:
    swept = ["solve", *replaced("spike", "0.001,0.01,0.1,1"), "--width", "500"]
    found = document(capfd, swept)["results"]
    apart = [abs(r["at_width"]["test_error"] - r["test_error"]) > 0.05 * r["test_error"] for r in found]
    assert [bool(r["warnings"]) for r in found] == apart
    assert 0 < sum(apart) < 4
    header, *_, last = outcome(capfd, swept)[1].splitlines()
    assert header.index("test error at width 500") < header.index("limit") < header.index("training error")
    assert last == f"at width 500 the test error differs from its limit by more than 5 % at {sum(apart)} of 4 points"


def test_bounds_carry_the_best_ridge_at_the_width(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["bounds", *replaced("spike", "0.01")])
    best = found["best_ridge"]
    again = document(capfd, ["solve", *replaced("ridge", repr(best["ridge"]), replaced("spike", "0.01"))])
    assert best["at_width"] == again["at_width"]
    assert "above its limit" in found["warnings"][0]
    never = document(capfd, ["bounds", *replaced("target", "he2", replaced("spike", "0"))])
    assert never["best_ridge"]["at_width"] is None
    assert "infinite ridge" in never["best_ridge"]["why"]


def test_sweep_files_store_both_for_points_solved_together_and_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    last = []
    for alphas in ("[0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5]", "1.5"):
        file, out = tmp_path / "grid.toml", tmp_path / f"results {len(alphas)}"
        file.write_text(
            f'activation = "tanh"\ntarget = "sin"\nalpha = {alphas}\nbeta = 1\nridge = 0.1\nspike = 0.05\nbulk = 1\n'
            "alignment = 0.8\nwidth = 400\n"
        )
        assert outcome(capfd, ["sweep", str(file), "--out", str(out)])[0] == 0
        with closing(sqlite3.connect(out / "results.sqlite")) as results:
            last.append(
                results.execute("SELECT test_error_at_width, training_error_at_width FROM points").fetchall()[-1]
            )
    found = document(capfd, ["solve", *replaced("spike", "0.05"), "--width", "400"])["at_width"]
    for pair in last:
        assert pair == pytest.approx((found["test_error"], found["training_error"]), rel=1e-9)


@pytest.mark.parametrize("name", ["test_error", "classification_error"])
def test_either_error_alone_may_be_far_from_its_limit(name: str) -> None:
    limits = {"test_error": 0.25, "classification_error": 0.125}
    there = limits | {name: 1.5 * limits[name]}
    said = str(apart_sentence(limits | {"at_width": {"width": 1000, **there}}))
    assert f"expect a {name.replace('_', ' ')} of {there[name]:.4g}, 50 % above its limit" in said
    assert apart_sentence(limits | {"at_width": {"width": 1000, **limits}}) is None
    nothing = {"test_error": 1e-36, "at_width": {"width": 1000, "test_error": 0.12}}
    assert "0.12, 0.12 above its limit" in str(apart_sentence(nothing))
