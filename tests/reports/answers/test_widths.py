"""The value at a finite width beside every limit that the command line prints, and the sentence where they differ."""

from __future__ import annotations

import io
import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import matplotlib
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.numerics.sweeps.run import run
from giantsteps.numerics.sweeps.store import Store
from tests.shared.command_line import WORKED, document, outcome, refused, replaced

SMALL_STEP = [
    "--activation", "tanh", "--target", "sin", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1", "--alpha0", "2",
    "--eta", "0.1", "--bulk-model", "network",
]  # fmt: skip
HUGE = 10**11


def test_the_worked_model_is_close_to_its_limit(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *WORKED])
    assert list(found["at_width"]) == ["width", "test_error", "training_error"]
    assert found["at_width"]["width"] == 1000
    assert found["warnings"] == []
    model = Model(
        activation("tanh"), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8
    )
    assert found["at_width"]["test_error"] == solve(model).at_width().test_error
    _, out, _ = outcome(capfd, ["solve", *WORKED])
    assert "at width 1000 " in out
    assert "expect" not in out


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


@pytest.mark.parametrize(
    "more",
    [
        [],
        ["--loss", "huber:1"],
        ["--readout", "1:0.5,-0.5:0.5"],
        ["--readout", "normal:0.8"],
        ["--rows", "gaussian"],
        ["--alignment", "0.6/0.5", "--readout", "1.5/1:0.5,1.5/-1:0.5"],
    ],
    ids=["one group", "huber", "groups", "density", "gaussian rows", "two directions"],
)
def test_every_kind_of_solution_tends_to_its_limit(more: list[str], capfd: pytest.CaptureFixture[str]) -> None:
    base = WORKED
    if more[:1] == ["--alignment"]:
        base, more = replaced("alignment", more[1]), more[2:]
    near, far = (document(capfd, ["solve", *base, *more, "--width", str(p)]) for p in (1000, HUGE))
    # Of order 1/p, and convex losses are solved to 1e-9; with ever more letters the means cost more, and the density's
    # limit is approached like a power of p that is less than one.
    close = 1e-6 if "normal:0.8" in more else 1e-8
    for name in ("test_error", "training_error"):
        assert far["at_width"][name] == pytest.approx(far[name], abs=close)
        assert 1e-6 < abs(near["at_width"][name] - near[name]) < 0.1 * near[name]


def test_sweeps_carry_both_and_count_where_they_differ(capfd: pytest.CaptureFixture[str]) -> None:
    swept = replaced("spike", "0.001,0.01,0.1,1")
    found = document(capfd, ["solve", *swept, "--width", "500"])["results"]
    apart = [abs(r["at_width"]["test_error"] - r["test_error"]) > 0.05 * r["test_error"] for r in found]
    assert [bool(r["warnings"]) for r in found] == apart
    assert 0 < sum(apart) < 4
    _, out, _ = outcome(capfd, ["solve", *swept, "--width", "500"])
    header = out.splitlines()[0]
    assert header.index("test error at width 500") < header.index("limit") < header.index("training error")
    assert out.splitlines()[-1] == (
        f"at width 500 the test error differs from its limit by more than 5 % at {sum(apart)} of 4 points"
    )


def test_what_does_not_converge_has_no_finite_width_and_says_why(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["solve", *replaced("target", "exp(-sin(100*z)**2*10**8)")], code=3)
    assert found["at_width"] is None
    assert "did not converge" in found["why"]


def test_bounds_carry_the_best_ridge_at_the_width(capfd: pytest.CaptureFixture[str]) -> None:
    found = document(capfd, ["bounds", *replaced("spike", "0.01")])
    best = found["best_ridge"]
    again = document(capfd, ["solve", *replaced("ridge", repr(best["ridge"]), replaced("spike", "0.01"))])
    assert best["at_width"] == again["at_width"]
    (sentence,) = found["warnings"]
    assert "above its limit" in sentence
    _, out, _ = outcome(capfd, ["bounds", *replaced("spike", "0.01")])
    assert out.splitlines()[-1] == sentence
    never = document(capfd, ["bounds", *replaced("target", "he2", replaced("spike", "0"))])
    assert never["best_ridge"]["at_width"] is None
    assert "infinite ridge" in never["best_ridge"]["why"]


def test_sweep_files_store_both_for_points_solved_together_and_alone(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    stored = []
    for alphas in ("[0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.3, 1.5]", "1.5"):
        file, out = tmp_path / "grid.toml", tmp_path / f"results {len(alphas)}"
        file.write_text(
            f'activation = "tanh"\ntarget = "sin"\nalpha = {alphas}\nbeta = 1\nridge = 0.1\nspike = 0.05\nbulk = 1\n'
            "alignment = 0.8\nwidth = 400\n"
        )
        assert outcome(capfd, ["sweep", str(file), "--out", str(out)])[0] == 0
        with closing(sqlite3.connect(out / "results.sqlite")) as results:
            query = "SELECT test_error, test_error_at_width, training_error_at_width FROM points"
            stored.append(results.execute(query).fetchall())
    together, alone = (list(rows)[-1] for rows in stored)
    assert together == pytest.approx(alone, rel=1e-9)
    assert together[1] > 1.05 * together[0]


def test_a_diagram_of_limits_that_are_not_reached_says_so(tmp_path: Path) -> None:
    from giantsteps.reports.answers.sweep_file import sweep_of
    from giantsteps.reports.figures.sweep_plot import draw

    base = {"activation": "tanh", "target": "sin", "alpha": "0.5:2:12", "beta": 1, "ridge": 0.1, "bulk": 1}
    texts = []
    for spike in (1.0, 0.05):
        sweep = sweep_of({**base, "spike": spike, "alignment": 0.8})
        out = tmp_path / f"{spike}"
        with Store(out, sweep, resume=False, origin={}) as store:
            run(store)
        written = io.StringIO()
        with matplotlib.rc_context({"svg.fonttype": "none"}):
            draw(sweep, out / "results.sqlite").savefig(written, format="svg")
        texts.append(written.getvalue())
    assert ["at width 1000" in text for text in texts] == [False, True]
    # On two lines, which one panel is as wide as.
    assert "than 5 % at 12 of 12 points" in re.sub(r"\s+", " ", texts[1])


def test_a_width_is_a_whole_number_of_neurons(capfd: pytest.CaptureFixture[str]) -> None:
    for width in ("0", "-1", "1.5", "many", "1e3"):
        refused(capfd, ["solve", *WORKED, "--width", width], "--width", "for example --width 1000")


def test_a_batch_document_is_json(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, _ = outcome(capfd, ["solve", *replaced("ridge", "log:0.01:1:12"), "--json"])
    assert code == 0
    assert all(result["at_width"]["width"] == 1000 for result in json.loads(out)["results"])


def test_one_point_tells_the_size_of_the_difference() -> None:
    from giantsteps.numerics.models.documents import apart_sentence
    from giantsteps.reports.answers.widths import apart_line

    answer = {"test_error": 0.1, "at_width": {"width": 1000, "test_error": 0.12}}
    assert apart_line([answer], 1000) == apart_sentence(answer)
    assert "0.12, 20 % above its limit" in str(apart_sentence(answer))
    nothing = {"test_error": 1e-36, "at_width": {"width": 1000, "test_error": 0.12}}
    assert "0.12, 0.12 above its limit" in str(apart_sentence(nothing))


def test_errors_beside_the_loss_are_those_of_networks_of_the_width(capfd: pytest.CaptureFixture[str]) -> None:
    given = [
        "--activation", "tanh", "--target", "sign", "--alpha", "1.5", "--beta", "1", "--ridge", "0.1", "--alpha0", "4",
        "--eta", "0.1", "--bulk-model", "network", "--loss", "logistic",
    ]  # fmt: skip
    found = document(capfd, ["solve", *given, "--width", "300"])
    there = found["at_width"]
    drawn = document(
        capfd, ["simulate", *(g for g in given if g not in ("--bulk-model", "network")), "--kind", "network",
                "--dimension", "300", "--seeds", "12"]
    )  # fmt: skip
    for name, gap in (("test_error", 0.03), ("classification_error", 0.03), ("mean_squared_error", 0.03)):
        # Five standard errors of twelve networks (false alarms: 4e-4 by Student's t), and what else is of order 1/p.
        mean, error = drawn[name]["mean"], drawn[name]["standard_error"]
        assert abs(there[name] - mean) < 5.0 * error + gap * mean
        # The limit is much farther away than that.
        assert abs(found[name] - mean) > 3.0 * (5.0 * error + gap * mean)
    (sentence,) = found["warnings"]
    assert "a classification error of 0.2525, 62.4 % above its limit" in sentence
    _, out, _ = outcome(capfd, ["solve", *given, "--width", "300"])
    assert "classification error at width 300  0.2524954" in out
    assert out.endswith(f"{sentence}\n")


@pytest.mark.parametrize("name", ["test_error", "classification_error"])
def test_either_error_alone_may_be_far_from_its_limit(name: str) -> None:
    from giantsteps.numerics.models.documents import apart_sentence

    limits = {"test_error": 0.25, "classification_error": 0.125}
    there = limits | {name: 1.5 * limits[name]}
    said = str(apart_sentence(limits | {"at_width": {"width": 1000, **there}}))
    assert f"expect a {name.replace('_', ' ')} of {there[name]:.4g}, 50 % above its limit" in said
    assert apart_sentence(limits | {"at_width": {"width": 1000, **limits}}) is None
