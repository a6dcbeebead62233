"""giantsteps sweep: results, refusals, exit codes, diagrams, warnings."""

from __future__ import annotations

import json
import re
import sqlite3
import sys
from contextlib import closing
from pathlib import Path

import pytest

from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.reports.answers.sweep_file import read_sweep, sweep_of
from tests.shared.sweeping import WORKED, command, stored, written

BOTH = (
    'kind = "both"\nactivation = "tanh"\ntarget = "sin"\nalpha = [0.5, 1.5]\nbeta = 1\nridge = 0.1\n{more}\n'
    "[simulation]\ndimension = 40\nseeds = 2\n"
)


def test_the_command_sweeps_resumes_and_draws(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    grid, out = written(tmp_path), str(tmp_path / "out")
    grid.write_bytes(b"\xef\xbb\xbf" + WORKED.encode())  # as an editor marks it
    code, said, err = command(capfd, str(grid), "--out", out, "--plot", str(tmp_path / "map.png"))
    # No progress on a pipe.
    assert (code, err) == (0, "")
    assert "12 points, 0 failed" in said
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    provenance = dict(stored(tmp_path / "out", "provenance"))
    assert provenance["description"] == WORKED
    assert provenance["digest"] == read_sweep(grid).sweep.digest
    code, said, err = command(capfd, str(grid), "--out", out, "--resume", "--json")
    found = json.loads(said)
    assert (code, err, found["points"], found["computed"], found["failed"]) == (0, "", 12, 0, 0)
    code, _, err = command(capfd, str(grid), "--out", out)
    assert (code, "not empty" in err, "--resume" in err) == (2, True, True)


def test_failed_points_end_in_exit_code_3_and_are_not_tried_again(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    grid = written(tmp_path, WORKED.replace('"log:0.01:1:3"', "[0, 0.1]").replace("beta = 1\n", "beta = 0.5\n"))
    code, said, _ = command(capfd, str(grid), "--out", str(tmp_path / "out"))
    assert (code, "8 points, 1 failed" in said) == (3, True)
    assert "1 x at ridge = 0 and alpha = 0.5, the interpolation threshold" in said
    code, said, _ = command(capfd, str(grid), "--out", str(tmp_path / "out"), "--resume", "--json")
    assert (code, json.loads(said)["computed"]) == (3, 0)


@pytest.mark.parametrize(
    ("more", "names"),
    [
        ('spike = 2\nbulk = 1.3\nalignment = 0.8\nrows = "gaussian"', ("chi", "simulated_chi_standard_error")),
        ('alpha0 = 2\neta = 2\nreadout = "1:.5,-0.7:.5::0.3"',
         ("chi_1", "simulated_chi_1", "simulated_spike_0", "simulated_bulk_1", "simulated_alignment")),
    ],
)  # fmt: skip
def test_theory_and_experiments_stand_side_by_side(
    more: str, names: tuple[str, ...], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    grid, out = written(tmp_path, BOTH.format(more=more)), tmp_path / "out"
    code, _, err = command(capfd, str(grid), "--out", str(out))
    assert (code, err) == (0, "")
    with closing(sqlite3.connect(out / "results.sqlite")) as results:
        results.row_factory = sqlite3.Row
        row = dict(results.execute("SELECT * FROM points ORDER BY point").fetchall()[-1])
    # At the realised ratios 60/40 and 40/40, which are those asked for.
    sweep = read_sweep(grid).sweep
    subject = sweep.subject(sweep.point(1))
    model = subject.model("network") if hasattr(subject, "model") else subject
    assert row["test_error"] == pytest.approx(solve(model).test_error, rel=1e-12)
    assert all(isinstance(row[name], float) for name in names)


def test_unit_rows_leave_the_digest_of_older_sweeps_alone() -> None:
    given = {"activation": "tanh", "target": "sin", "alpha": 1, "beta": 1, "ridge": 1}
    file = given | {"spike": 1, "bulk": 1, "alignment": 1}
    plain, unit, gaussian = (sweep_of(file | rows) for rows in ({}, {"rows": "unit"}, {"rows": "gaussian"}))
    assert plain.digest == unit.digest != gaussian.digest


def test_a_missing_dask_says_how_to_install_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = command(capfd, str(written(tmp_path)), "--out", str(tmp_path / "out"), "--dask", "tcp://127.0.0.1:1")
    assert (code, "pip install '.[cluster]'" in err) == (2, True)


def test_a_scheduler_that_does_not_answer_is_one_sentence(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = command(capfd, str(written(tmp_path)), "--out", str(tmp_path / "out"), "--dask", "nonsense://x")
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert "no scheduler" in err


def test_too_many_swept_parameters_for_a_diagram_are_refused_before_the_sweep(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = WORKED.replace("beta = 1\n", "beta = [1, 2]\n").replace("spike = 1.0", "spike = [1, 2]")
    plot = str(tmp_path / "map.svg")
    code, _, err = command(capfd, str(written(tmp_path, text)), "--out", str(tmp_path / "out"), "--plot", plot)
    assert (code, "alpha of 4 values" in err, (tmp_path / "out").exists()) == (2, True, False)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("beta = 1\n", "beta = [1, 2]\n"), ("beta = 2", "alpha", "ridge")),
        (('"log:0.01:1:3"', "0.1"), ("theory", "alpha", "test error")),
        (('"log:0.01:1:3"', '"log:0.01:1:4"\nmode = "zip"'), ("ridge with it",)),
        (("0.8\n", '0.8\nkind = "both"\n[simulation]\ndimension = 20\nseeds = 2\n'), ("ridge",)),
        (("spike = 1.0", "spike = 0.05"), ("at width 1000",)),
    ],
)
def test_diagrams_of_other_sweeps(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], change: tuple[str, str], words: tuple[str, ...]
) -> None:
    text, plot = WORKED.replace(*change), tmp_path / "map.svg"
    code, _, err = command(capfd, str(written(tmp_path, text)), "--out", str(tmp_path / "out"), "--plot", str(plot))
    assert (code, err.count("\n") == ("at width 1000" in words)) == (0, True)
    drawn = plot.read_text(encoding="utf-8")
    # Glyphs are drawn as paths; matplotlib names each text in a comment beside them.
    for word in words:
        assert word in drawn
    # What is fixed stands in the title, and nothing that is swept.
    title = " ".join(re.findall(r"<!-- (.*?) -->", drawn, flags=re.DOTALL))
    assert "learns sin(z), " in title
    swept = {name for name in ("alpha", "beta", "ridge") if f"{name} = [" in text or f'{name} = "' in text}
    assert set(re.findall(r"(\w+)=[\d.]+", title)) == {"alpha", "beta", "ridge", "spike", "bulk", "alignment"} - swept


@pytest.mark.parametrize(("bulk", "warned"), [("isotropic", True), ("network", False)])
def test_networks_beside_a_theory_that_is_not_theirs_are_warned_of(
    bulk: str, warned: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = BOTH.format(more=f'alpha0 = 2\neta = 1\nbulk_model = "{bulk}"') + 'kind = "network"\n'
    code, _, err = command(capfd, str(written(tmp_path, text)), "--out", str(tmp_path / "out"))
    assert code == 0
    assert ("networks are simulated, but the theory has the isotropic bulk" in err) is warned
