"""Results as other programs hold them: data frames, datasets with named dimensions, exported files."""

from __future__ import annotations

import csv
import json
import sqlite3
import sys
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pandas
import pytest
import xarray

import giantsteps
from tests.shared.sweeping import WORKED, command, stored, written

MODEL = giantsteps.Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
STEP = giantsteps.Model.from_gradient_step(
    "tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=(1.0, 2.0), steps=2
)
ALPHAS, RIDGES = np.array([0.5, 1.0, 2.0]), np.array([0.01, 0.1])


@pytest.mark.parametrize("grid", [{"ridge": RIDGES[:, None], "alpha": ALPHAS},
                                  dict(zip(("alpha", "ridge"), np.meshgrid(ALPHAS, RIDGES), strict=True))])  # fmt: skip
def test_a_batch_has_its_parameters_as_dimensions(grid: dict[str, Any], tmp_path: Path) -> None:
    batch = giantsteps.solve_batch(MODEL, **grid)
    found = batch.to_xarray()
    assert dict(found.sizes) == {"ridge": 2, "alpha": 3}
    for name in ("test_error", "q1", "error_estimate", "converged"):
        assert found[name].transpose("ridge", "alpha").values.tolist() == getattr(batch, name).tolist()
    assert found.attrs["activation"] == "tanh(z)"
    assert (found.attrs["beta"], found.attrs["alignment"]) == (1.0, 0.8)
    assert not {"alpha", "ridge"} & set(found.attrs)
    assert (found.test_error.units, batch.to_frame().attrs) == ("1", found.attrs)
    assert batch.sel(ridge=0.1).test_error.values.tolist() == batch.test_error[1].tolist()
    assert batch.sel(ridge=0.12, alpha=1.1, method="nearest").m == batch.m[1, 1]
    found.to_netcdf(tmp_path / "batch.nc", engine="scipy")
    with xarray.open_dataset(tmp_path / "batch.nc", engine="scipy") as read:
        xarray.testing.assert_equal(read, found)
        assert json.loads(read.attrs["readout"])[0]["weight"] == 1.0


def test_points_that_are_no_grid_have_one_dimension() -> None:
    found = giantsteps.solve_batch(MODEL, alpha=ALPHAS, beta=2 * ALPHAS).to_xarray()
    assert (dict(found.sizes), found.beta.dims) == ({"point": 3}, ("point",))
    assert found.beta.values.tolist() == [1.0, 2.0, 4.0]
    assert dict(giantsteps.solve_batch(MODEL, alpha=[1.0, 1.0]).to_xarray().sizes) == {"point": 2}
    # After steps the spike is no number of the model.
    curve = giantsteps.solve_batch(STEP, alpha=[[2.0], [1.0]], noise=[0.2, 0.1, 0.3]).to_xarray()
    assert (curve.alpha.values.tolist(), curve.noise.values.tolist()) == ([2.0, 1.0], [0.2, 0.1, 0.3])
    assert ("spike" in curve.attrs, curve.attrs["eta"]) == (False, "[1.0, 2.0]")


def test_an_index_of_a_batch_gives_what_one_solve_gives() -> None:
    batch = giantsteps.solve_batch(MODEL, ridge=RIDGES[:, None], alpha=ALPHAS)
    one, alone = batch[0, -1], giantsteps.solve(MODEL.changed(ridge=0.01, alpha=2.0))
    assert one.to_dict() == alone.to_dict()
    assert abs(one.test_error - batch.test_error[0, -1]) <= one.error_estimate + batch.error_estimate[0, -1]
    for place in (0, (0, 3), (0, slice(2))):
        with pytest.raises(IndexError):
            batch[place]  # type: ignore[index]


def as_csv(path: Path) -> pandas.DataFrame:
    with path.open(newline="", encoding="utf-8") as file:
        return pandas.DataFrame([{k: v if k == "status" else float(v or "nan") for k, v in row.items()}
                                 for row in csv.DictReader(file)])  # fmt: skip


def as_netcdf(path: Path) -> pandas.DataFrame:
    with xarray.open_dataset(path, engine="scipy") as found:
        assert (dict(found.sizes), found.attrs["target"]) == ({"alpha": 2, "ridge": 3}, "sin(z)")
        assert found.attrs["description"] == LACKING
        return found.to_dataframe().reset_index()


# At ridge 0 and alpha = beta the theory diverges.
LACKING = WORKED.replace('"0.5:2:4"', "[1, 2]").replace('"log:0.01:1:3"', "[0, 0.1, 1]")


@pytest.mark.parametrize(("kind", "ending", "read"), [("csv", "csv", as_csv), ("netcdf", "nc", as_netcdf),
                                                      ("parquet", "parquet", pandas.read_parquet)])  # fmt: skip
def test_an_exported_sweep_has_the_numbers_of_the_table(
    kind: str, ending: str, read: Callable[[Path], pandas.DataFrame], tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out"
    code, said, _ = command(capfd, str(written(tmp_path, LACKING)), "--out", str(out), "--format", kind, "--json")
    assert (code, json.loads(said)["exported"]) == (3, str(out / f"results.{ending}"))
    found = read(out / f"results.{ending}")
    with closing(sqlite3.connect(out / "results.sqlite")) as file:
        names = [name for name, *_ in file.execute("SELECT * FROM points").description]
    for name, *values in zip(names, *stored(out), strict=True):
        if name == "status":
            assert found[name].tolist() == values
        elif name != "point":
            np.testing.assert_array_equal(found[name], np.array(values, float), strict=False)
    frame = giantsteps.sweep_results(out).to_frame()
    assert frame.converged.tolist() == [False, True, True, True, True, True]
    if kind == "parquet":
        pandas.testing.assert_frame_equal(found, frame, check_dtype=False)
        assert found.attrs == frame.attrs


def test_points_that_are_not_there_yet_are_left_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "out"
    assert command(capfd, str(written(tmp_path)), "--out", str(out))[0] == 0
    with closing(sqlite3.connect(out / "results.sqlite")) as file, file:
        file.execute("DELETE FROM points WHERE point = 2")
    found = giantsteps.sweep_results(out)
    assert (dict(found.to_xarray().sizes), 2 in found.to_xarray().point) == ({"point": 11}, False)
    assert "tanh(z) learns sin(z), beta=1" in found._repr_html_()
    with closing(sqlite3.connect(out / "results.sqlite")) as file, file:
        file.execute("DELETE FROM points")
    assert len(giantsteps.sweep_results(out).to_frame()) == 0
    with pytest.raises(FileNotFoundError, match="no results of a sweep"):
        giantsteps.sweep_results(tmp_path)


@pytest.mark.parametrize(("kind", "package"), [("netcdf", "xarray"), ("parquet", "pyarrow"), ("parquet", "pandas")])
def test_a_missing_package_is_said_before_the_sweep(
    kind: str, package: str, tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, package, None)
    out = tmp_path / "out"
    code, _, err = command(capfd, str(written(tmp_path)), "--out", str(out), "--format", kind)
    assert (code, out.exists(), err.count("\n")) == (2, False, 1)
    assert f"--format {kind} needs {package}" in err
    assert "pip install '.[frames]'" in err
