"""Results in a notebook: an HTML table, a pandas data frame, an xarray dataset, a plot.

A result says what its rows are (`_columns`) and what it is of (`_title`); the rest is the same for all. pandas, xarray
and Matplotlib are looked for when they are asked for.
"""

from __future__ import annotations

import json
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.models.documents import ORDER_PARAMETERS

if TYPE_CHECKING:
    from giantsteps.numerics.models.model import Model

# What brings a package that results can be shown with and that is not needed to compute them.
BRINGS = dict.fromkeys(("pandas", "pyarrow", "xarray"), "pip install '.[frames]'") | {
    "matplotlib": "pip install '.[report]'"
}
# Rows of a table in HTML: the first ones.
MOST_ROWS = 12
# Drawing is for people, so it stands in their room, above the numbers: it is loaded by name when it is asked for.
DRAWINGS = "giantsteps.reports.figures.results"


def needed(package: str, asker: str) -> Any:
    """A package that may be missing. Raises ModuleNotFoundError with a sentence where it is."""
    try:
        return import_module(package)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != package:
            raise
        sentence = f"{asker} needs {package}, which is not installed; in a checkout: {BRINGS[package]}"
        raise ModuleNotFoundError(sentence, name=package) from None


def entries(name: str, values: Any) -> dict[str, float]:
    """The numbers of an order parameter by name: m of one group, m[0] and m[1] of two, q1[0,1] of a matrix."""
    array = np.asarray(values, dtype=float)
    if array.size == 1:
        return {name: float(array.ravel()[0])}
    return {f"{name}[{','.join(map(str, place))}]": float(value) for place, value in np.ndenumerate(array)}


class Shown(ABC):
    """A result that can be shown."""

    @abstractmethod
    def _columns(self) -> Mapping[str, Any]:
        """The rows of the result by column, all columns of one length."""

    def _title(self) -> str:
        """What the result is of, in a line."""
        return type(self).__name__

    def to_frame(self) -> Any:
        """The result as a pandas DataFrame; of a grid the model is in `attrs`.

        Raises ModuleNotFoundError where pandas is not installed.
        """
        frame = needed("pandas", "to_frame()").DataFrame(dict(self._columns()))
        # Files hold numbers and text beside their columns.
        known = self._attributes().items()
        frame.attrs = {name: x if type(x) in (str, int, float) else json.dumps(x) for name, x in known}
        return frame

    def _attributes(self) -> Mapping[str, Any]:
        """What holds for all rows, as plain data."""
        return {}

    def plot(self, axes: Any = None, **choices: Any) -> Any:
        """Draw the result into Matplotlib axes, new ones where none are given; the axes.

        What is drawn of each kind of result, and what can be chosen: `reports.figures.results`. Raises
        ModuleNotFoundError where Matplotlib is not installed, and ValueError for what cannot be drawn.
        """
        needed("matplotlib", "plot()")
        return import_module(DRAWINGS).draw(self, axes, **choices)

    def _repr_html_(self) -> str:
        """A table; of one row, a row for each of its columns."""
        columns = self._columns()
        rows = list(zip(*columns.values(), strict=True))
        title = f"<caption>{escape(self._title())}</caption>"
        if len(rows) == 1:
            lines = [f"<th>{escape(name)}</th>{_cell(value)}" for name, value in zip(columns, rows[0], strict=True)]
            return _table(title, "", lines)
        head = "<thead><tr>" + "".join(f"<th>{escape(name)}</th>" for name in columns) + "</tr></thead>"
        lines = ["".join(map(_cell, row)) for row in rows[:MOST_ROWS]]
        if len(rows) > MOST_ROWS:
            lines.append(f'<td colspan="{len(columns)}">{len(rows) - MOST_ROWS} more rows: to_frame() has all</td>')
        return _table(title, head, lines)


class ShownGrid(Shown):
    """A result at every point of a grid of parameters: a row a point.

    `model` is what was given, `given` the parameters that were given beside it, which broadcast to `shape`.
    """

    model: Model | None
    given: Mapping[str, NDArray[np.float64]]

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """The shape of the grid."""

    @property
    def swept(self) -> dict[str, NDArray[np.float64]]:
        """The parameters given that take several values, (shape) each."""
        return {name: np.broadcast_to(values, self.shape) for name, values in self.given.items() if values.size > 1}

    @property
    def fixed(self) -> dict[str, float]:
        """The parameters that have one value at all points; of a gradient step alpha0 and eta in place of the spike."""
        if self.model is None:
            return {}
        step = self.model.step
        own = {name: getattr(self.model, name) for name in ("alpha", "beta", "ridge", "noise")}
        more = {name: getattr(self.model, name) for name in ("spike", "bulk", "alignment")}
        own |= more if step is None else step.numbers
        own |= {name: values.item() for name, values in self.given.items() if values.size == 1}
        return {name: float(value) for name, value in own.items() if name not in self.swept}

    def _attributes(self) -> dict[str, Any]:
        if self.model is None:
            return {}
        # Of a step spike, bulk and alignment follow, and may vary.
        left_out = {*self.swept, *(("spike", "bulk", "alignment") if self.model.step is not None else ())}
        return {name: value for name, value in self.model.to_dict().items() if name not in left_out} | self.fixed

    def to_xarray(self) -> Any:
        """The result as an xarray Dataset with a dimension for each parameter that varies, the model in its attributes.

        Points that are not all combinations of these have one dimension, `point`. All numbers are dimensionless. Raises
        ModuleNotFoundError where xarray is not installed.
        """
        needed("xarray", "to_xarray()")
        frame, names = self.to_frame(), list(self.swept)
        whole = names and len(frame.drop_duplicates(names)) == len(frame) == math.prod(frame[names].nunique())
        if whole:  # in the order of the points: a MultiIndex is sorted
            found = frame.set_index(names).to_xarray().sel({name: frame[name].unique() for name in names})
        else:
            found = frame.rename_axis("point").to_xarray().set_coords(names)
        for column in found.values():
            column.attrs |= {"units": "1"} if column.dtype == float else {}
        return found.assign_attrs(frame.attrs)

    def sel(self, **places: Any) -> Any:
        """The part of `to_xarray` at these values of the parameters, by its own `sel`, as in sel(ridge=0.1)."""
        return self.to_xarray().sel(**places)

    def _columns(self) -> Mapping[str, Any]:
        columns = {name: values.ravel() for name, values in self.swept.items()}
        for name in ("test_error", "training_error", *ORDER_PARAMETERS, "error_estimate", "converged"):
            columns[name] = getattr(self, name).ravel()
        return columns

    def _title(self) -> str:
        of = self._attributes()
        learns = f"{of['activation']} learns {of['target']}, " if of else ""
        return learns + ", ".join(f"{name}={value:g}" for name, value in self.fixed.items() if name != "noise" or value)


def _table(title: str, head: str, lines: Sequence[str]) -> str:
    body = "".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table>{title}{head}<tbody>{body}</tbody></table>"


def _cell(value: Any) -> str:
    text = f"{value:.8g}" if isinstance(value, float | np.floating) else str(value)
    return f"<td>{escape(text)}</td>"
