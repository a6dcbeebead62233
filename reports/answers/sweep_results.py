"""The results of a sweep read back: as a table and a grid in Python, or as a file for other programs."""

from __future__ import annotations

import csv
import os
import sqlite3
import tomllib
from collections.abc import Mapping
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from giantsteps.numerics.models.notebook import ShownGrid, needed
from giantsteps.reports.answers.sweep_file import sweep_of
from giantsteps.reports.command_line.machine.whole_files import placed
from giantsteps.reports.command_line.problems import InputProblem

if TYPE_CHECKING:
    from giantsteps.numerics.sweeps.sweep import Sweep

# The formats, with the ending of a file and the packages that write it.
FORMATS = {"csv": (".csv", ()), "parquet": (".parquet", ("pandas", "pyarrow")), "netcdf": (".nc", ("xarray",))}


@dataclass(frozen=True, repr=False, eq=False)
class SweepResults(ShownGrid):
    """The points of a sweep: what was asked for, its columns by name, and the provenance of its file."""

    sweep: Sweep
    numbers: Mapping[str, Any]
    origin: Mapping[str, str]
    model = None

    @property
    def shape(self) -> tuple[int, ...]:
        """(points,)."""
        return (len(self.numbers["point"]),)

    @property
    def swept(self) -> dict[str, Any]:
        """The columns of the swept parameters."""
        return {axis.name: self.numbers[axis.name] for axis in self.sweep.swept}

    @property
    def fixed(self) -> dict[str, float]:
        """The parameters that were not swept."""
        return {axis.name: axis.values[0] for axis in self.sweep.axes if not axis.swept}

    def _attributes(self) -> dict[str, Any]:
        # A file of netCDF has a mode of its own.
        asked = {name: value for name, value in asdict(self.sweep).items() if name not in ("axes", "mode") and value}
        return {**asked, **self.fixed, **{name: self.origin[name] for name in ("description", "digest", "suite")}}

    def _columns(self) -> Mapping[str, Any]:
        return self.numbers


def sweep_results(directory: str | os.PathLike[str]) -> SweepResults:
    """The results of `giantsteps sweep --out directory`, finished or not: `to_frame()`, `to_xarray()` and `sel()`.

    directory: the folder of the results.

    The columns are those of the table `points`; numbers that a point lacks are NaN. Raises FileNotFoundError where the
    directory has no results.

    >>> dict(giantsteps.sweep_results("results").to_xarray().sizes)
    {'alpha': 4, 'ridge': 3}
    """
    from giantsteps.numerics.sweeps.store import FILE

    with _opened(Path(directory) / FILE) as file:
        origin = dict(file.execute("SELECT key, value FROM provenance"))
        names, points = _points(file)
        columns = list(zip(*points, strict=True)) or [()] * len(names)
    kinds: dict[str, type] = {"point": int, "status": str, "converged": bool}
    numbers: dict[str, Any] = {
        name: np.array(column, kinds.get(name, float)) for name, column in zip(names, columns, strict=True)
    }
    return SweepResults(sweep_of(tomllib.loads(origin["description"])), numbers, origin)


def _opened(path: Path) -> closing[sqlite3.Connection]:
    """A result file, to be read only."""
    if not path.is_file():
        raise FileNotFoundError(f"{path.parent} has no results of a sweep: {path.name} is missing")
    return closing(sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro", uri=True))


def _points(file: sqlite3.Connection) -> tuple[list[str], sqlite3.Cursor]:
    """The names of the columns and the rows, in the order of the points."""
    found = file.execute("SELECT * FROM points ORDER BY point")
    return [name for name, *_ in found.description], found


def check_format(kind: str) -> None:
    """Raises InputProblem where a package is missing: better before a long sweep than after it."""
    try:
        for package in FORMATS[kind][1]:
            needed(package, f"--format {kind}")
    except ModuleNotFoundError as error:
        raise InputProblem(str(error)) from None


def exported(path: Path, kind: str) -> Path:
    """Write the points of a result file into one of another format beside it; where. Raises InputProblem.

    A CSV file has the columns of the table, with nothing between two commas where there is no number.
    """
    target = path.with_suffix(FORMATS[kind][0])
    try:
        with placed() as beside:
            if kind == "csv":
                with _opened(path) as file, beside(target).open("w", newline="", encoding="utf-8") as out:
                    names, points = _points(file)
                    csv.writer(out).writerows([names])
                    csv.writer(out).writerows(points)
            elif kind == "parquet":
                sweep_results(path.parent).to_frame().to_parquet(beside(target), index=False)
            else:
                sweep_results(path.parent).to_xarray().to_netcdf(beside(target), engine="scipy")
    except OSError as error:
        raise InputProblem(f"--format: {target} could not be written ({error.strerror}); give another --out") from None
    return target
