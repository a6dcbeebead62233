"""Papers by name, and what the author of one has to mend."""

from __future__ import annotations

import sysconfig
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from importlib import import_module
from importlib.metadata import entry_points
from pathlib import Path
from types import ModuleType

from giantsteps.verify.protocol.order import LedgerError, collected
from giantsteps.verify.protocol.paper import Paper, PaperError

GROUP = "giantsteps.papers"
# What code of a paper may raise.
_FAULTS = (
    *(ArithmeticError, AssertionError, AttributeError, ImportError, LookupError, NameError, OSError, RuntimeError),
    *(SyntaxError, TypeError, ValueError),
)
# Where no code of a paper lies: the rooms of the suite, and what Python has.
_ROOMS = tuple(Path(__file__).parents[2] / room for room in ("derivations", "numerics", "verify", "reports"))
_ELSEWHERE = (*map(str, _ROOMS), sysconfig.get_path("stdlib"), sysconfig.get_path("purelib"), "<")


def paper_named(name: str) -> Paper:
    """The paper of the entry point of `GROUP` that is called so, or else the ``PAPER`` of the module of this name.

    Its claims are imported too. Raises PaperError, one sentence that names what to change.
    """
    place = next((point.value for point in entry_points(group=GROUP) if point.name == name), name)
    module, _, attribute = place.partition(":")
    if module.endswith(".py") or not all(part.isidentifier() for part in module.split(".")):
        raise PaperError("that is not the name of a module: folder/paper.py is the module folder.paper")
    paper = getattr(imported(module), attribute or "PAPER", None)
    if not isinstance(paper, Paper):
        raise PaperError(f"the module {module} has no {attribute or 'PAPER'}; write PAPER = Paper(...) in it")
    for one in paper.modules:
        if not isinstance(getattr(imported(one), "CLAIMS", None), tuple):
            raise PaperError(f"the module {one} has no tuple of claims; write CLAIMS = (...) in it")
    try:
        collected(paper.modules)
    except LedgerError as error:
        raise PaperError(str(error)) from None
    return replace(paper, module=name)


def imported(name: str) -> ModuleType:
    """A module of a paper. Raises PaperError."""
    try:
        return import_module(name)
    except _FAULTS as error:
        if isinstance(error, ModuleNotFoundError) and error.name and f"{name}.".startswith(f"{error.name}."):
            raise PaperError(f"there is no module {name} in the current folder or among those installed") from None
        raise PaperError(f"{name} cannot be imported: {_told(error)}") from None


@contextmanager
def examining(claim: str, paper: Paper) -> Iterator[None]:
    """An error in the code of another paper than the built-in one is a PaperError that says where it was raised."""
    try:
        yield
    except _FAULTS as error:
        if not paper.module:
            raise
        raise PaperError(f"{claim} cannot be checked: {_told(error)}") from None


def _told(error: Exception) -> str:
    """An error with the last line of the paper's own code that led to it."""
    frames = (f for f in traceback.extract_tb(error.__traceback__) if not f.filename.startswith(_ELSEWHERE))
    place = f" ({error.filename}:{error.lineno})" if isinstance(error, SyntaxError) else ""
    for frame in frames:
        place = f" ({frame.filename}:{frame.lineno})"
    return f"{type(error).__name__}: {' '.join(str(error).split())[:300]}{place}"
