"""giantsteps sweep: results, refusals, exit codes, diagrams, progress."""

from __future__ import annotations

import json
import math
import re
import sys
from pathlib import Path

import pytest

from giantsteps.numerics.sweeps.chunk import solve_chunk
from giantsteps.numerics.sweeps.store import FILE, Store
from giantsteps.reports.answers.sweep_file import read_sweep
from tests.shared.sweeping import SAME, WORKED, command, rows, small, stored, written


def test_the_command_sweeps_resumes_and_draws(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    grid, out = str(written(tmp_path)), str(tmp_path / "out")
    code, said, err = command(capfd, grid, "--out", out, "--plot", str(tmp_path / "map.png"))
    # No progress on a pipe.
    assert (code, err) == (0, "")
    assert "12 points, 0 failed" in said
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    provenance = dict(stored(tmp_path / "out", "provenance"))
    assert provenance["description"] == WORKED
    assert provenance["digest"] == read_sweep(Path(grid)).sweep.digest
    assert provenance["suite"]
    code, said, err = command(capfd, grid, "--out", out, "--resume", "--json")
    found = json.loads(said)
    assert (code, err, found["points"], found["computed"], found["failed"]) == (0, "", 12, 0, 0)


def test_a_file_with_the_mark_of_an_editor_is_read(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    grid = tmp_path / "grid.toml"
    grid.write_bytes(b"\xef\xbb\xbf" + WORKED.encode())
    code, said, _ = command(capfd, str(grid), "--out", str(tmp_path / "out"))
    assert (code, "12 points, 0 failed" in said) == (0, True)


def test_failed_points_end_in_exit_code_3(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    grid = written(tmp_path, WORKED.replace('"log:0.01:1:3"', "[0, 0.1]").replace("beta = 1\n", "beta = 0.5\n"))
    code, said, _ = command(capfd, str(grid), "--out", str(tmp_path / "out"))
    assert code == 3
    assert "8 points, 1 failed" in said
    assert "1 x at ridge = 0 and alpha = 0.5, the interpolation threshold" in said
    # It stays failed, and is not tried again.
    code, said, _ = command(capfd, str(grid), "--out", str(tmp_path / "out"), "--resume", "--json")
    assert code == 3
    assert json.loads(said)["computed"] == 0


@pytest.mark.parametrize(
    ("args", "words"),
    [
        (["{grid}"], ("--out", "for example")),
        (["no-such.toml", "--out", "{out}"], ("no-such.toml", "for example")),
        (["{grid}", "--out", "{tmp}"], ("--out", "not empty", "--resume")),
        (["{grid}", "--out", "{grid}"], ("--out", "grid.toml")),
        (["{grid}", "--out", "{out}", "--workers", "0"], ("--workers", "whole number")),
        (["{grid}", "--out", "{out}", "--workers", "2", "--dask", "x"], ("--workers and --dask",)),
        (["{grid}", "--out", "{out}", "--plot", "map.jpeg"], ("--plot", ".svg")),
        (["{grid}", "--out", "{out}", "--dask", "tcp://127.0.0.1:1"], ("--dask", "no scheduler")),
        (["{grid}", "--out", "{out}", "--dask", "nonsense://x"], ("--dask", "no scheduler")),
    ],
)
def test_unusable_input_is_refused_in_one_sentence(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], args: list[str], words: tuple[str, ...],
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.setattr("giantsteps.reports.command_line.machine.clusters.PATIENCE", 1)
    grid = written(tmp_path)
    given = [arg.format(grid=grid, out=tmp_path / "out", tmp=tmp_path) for arg in args]
    code, out, err = command(capfd, *given)
    assert (code, out) == (2, "")
    assert err.count("\n") == 1
    for word in words:
        assert word in err


def test_a_missing_dask_says_how_to_install_it(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = command(capfd, str(written(tmp_path)), "--out", str(tmp_path / "out"), "--dask", "tcp://127.0.0.1:1")
    assert code == 2
    assert "pip install '.[cluster]'" in err


def test_too_many_swept_parameters_for_a_diagram_are_refused_before_the_sweep(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = WORKED.replace("beta = 1\n", "beta = [1, 2]\n").replace("spike = 1.0", "spike = [1, 2]")
    plot = str(tmp_path / "map.svg")
    code, _, err = command(capfd, str(written(tmp_path, text)), "--out", str(tmp_path / "out"), "--plot", plot)
    assert code == 2
    assert "alpha of 4 values" in err
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (("beta = 1\n", "beta = [1, 2]\n"), ("beta = 2", "alpha", "ridge")),
        (('"log:0.01:1:3"', "0.1"), ("theory", "alpha", "test error")),
        (('"log:0.01:1:3"', '"log:0.01:1:4"\nmode = "zip"'), ("ridge with it",)),
        (("0.8\n", '0.8\nkind = "both"\n[simulation]\ndimension = 20\nseeds = 2\n'), ("ridge",)),
    ],
)
def test_diagrams_of_other_sweeps(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], change: tuple[str, str], words: tuple[str, ...]
) -> None:
    text, plot = WORKED.replace(*change), tmp_path / "map.svg"
    code, _, err = command(capfd, str(written(tmp_path, text)), "--out", str(tmp_path / "out"), "--plot", str(plot))
    assert (code, err) == (0, "")
    drawn = plot.read_text(encoding="utf-8")
    # Glyphs are drawn as paths; matplotlib names each text in a comment beside them.
    for word in words:
        assert f"{word}" in drawn
    # What is fixed stands in the title, and nothing that is swept.
    title = " ".join(re.findall(r"<!-- (.*?) -->", drawn, flags=re.DOTALL))
    assert "learns sin(z), " in title
    swept = {name for name in ("alpha", "beta", "ridge") if f"{name} = [" in text or f'{name} = "' in text}
    assert set(re.findall(r"(\w+)=[\d.]+", title)) == {"alpha", "beta", "ridge", "spike", "bulk", "alignment"} - swept


def test_a_diagram_shows_the_numbers_of_the_file(tmp_path: Path) -> None:
    from giantsteps.reports.figures.sweep_plot import _read

    sweep = small()
    with Store(tmp_path / "out", sweep, resume=False, origin={}) as store:
        store.add(1, solve_chunk(sweep, 16, 32))
    values = _read(sweep, tmp_path / "out" / FILE, "test_error")
    assert [math.isnan(value) for value in values] == [True] * 16 + [False] * 16 + [True] * 16
    assert values[20] == rows(sweep, 20, 21)[0]["test_error"] or values[20] == pytest.approx(
        rows(sweep, 20, 21)[0]["test_error"], abs=SAME
    )


def test_rate_and_remaining_time_are_said_in_words() -> None:
    from giantsteps.reports.command_line.console import pace_text

    # 100 points in 2 s leave 6250 of them for 125 s.
    assert pace_text(100, 2.0, 6250, "points") == "50 points/s, 2 min 5 s left"
    assert pace_text(1, 4.0, 1000, "points") == "0.25 points/s, 1 h 6 min left"
    assert pace_text(5000, 1.0, 0, "points") == "5,000 points/s, 0 s left"
    assert pace_text(0, 1.0, 10, "points") == ""


@pytest.mark.parametrize(("bulk", "warned"), [("isotropic", True), ("network", False)])
def test_networks_beside_a_theory_that_is_not_theirs_are_warned_of(
    bulk: str, warned: bool, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    text = (
        'kind = "both"\nactivation = "tanh"\ntarget = "sin"\nalpha = [0.3, 0.5]\nbeta = 1\nridge = 0.1\nalpha0 = 2\n'
        f'eta = 1\nbulk_model = "{bulk}"\n[simulation]\ndimension = 30\nseeds = 2\nkind = "network"\n'
    )
    code, _, err = command(capfd, str(written(tmp_path, text)), "--out", str(tmp_path / "out"))
    assert code == 0
    assert ("networks are simulated beside the theory of the isotropic bulk, which is not theirs" in err) is warned
