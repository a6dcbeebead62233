"""Figures written to files: in our own style whatever the user's, and in one piece."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from giantsteps.reports.command_line.machine.whole_files import placed
from giantsteps.reports.command_line.problems import InputProblem

# What Matplotlib, its fonts and its formulas raise: no reason to lose the answer.
_OF_DRAWING = (ValueError, RuntimeError, LookupError, TypeError, AttributeError, ArithmeticError)

SUFFIXES = (".svg", ".png", ".pdf")
# What belongs to the session and not to the look of a figure.
_OF_THE_SESSION = ("backend", "backend_fallback", "interactive", "toolbar", "timezone")


def matplotlib() -> Any:
    """The library, imported whatever backend the user asks for (MPLBACKEND): one that it does not know would keep it
    from being imported, and no file needs one.
    """
    asked = None if "matplotlib" in sys.modules else os.environ.pop("MPLBACKEND", None)
    try:
        import matplotlib as found
    finally:
        if asked is not None:
            os.environ["MPLBACKEND"] = asked
    if asked:
        with suppress(ValueError):
            found.rcParams["backend"] = asked
    return found


@contextmanager
def own_style(salt: str = "giantsteps") -> Iterator[None]:
    """Matplotlib's own defaults inside the block, without what the user has set (fonts, TeX, sizes).

    `salt`: what ids of an SVG file are made of, so that the same input gives the same bytes.
    """
    mpl = matplotlib()
    usual = {name: value for name, value in dict.items(mpl.rcParamsDefault) if name not in _OF_THE_SESSION}
    with mpl.rc_context():
        dict.update(mpl.rcParams, usual)
        mpl.rcParams.update({"svg.hashsalt": salt, "svg.fonttype": "path"})
        yield


def save(draw: Callable[[], Any], file: Path) -> InputProblem | None:
    """Draw a Matplotlib figure and write it, without its date; the suffix, one of SUFFIXES, chooses the format.

    It takes its place when it is whole: a full disk leaves the old file, never half of a new one. What keeps it from
    being drawn or written is returned, to be raised when the answer in words has been printed.
    """
    metadata = {".svg": {"Date": None}, ".pdf": {"CreationDate": None}}.get(file.suffix, {})
    written = io.BytesIO()
    try:
        with own_style():
            draw().savefig(written, format=file.suffix[1:], metadata=metadata)
        with placed() as beside:
            beside(file).write_bytes(written.getvalue())
    except OSError as error:
        return InputProblem(f"--plot: {file} could not be written ({error.strerror}); give another file")
    except _OF_DRAWING as error:
        return InputProblem(f"--plot: the figure could not be drawn ({type(error).__name__}: {error})"[:300])
    return None
