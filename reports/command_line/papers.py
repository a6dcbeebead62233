"""The paper that a command is about: the built-in one, or that of --paper."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from giantsteps.reports.command_line.options import option
from giantsteps.reports.command_line.problems import InputProblem, shown

if TYPE_CHECKING:
    from giantsteps.verify.protocol.paper import Paper

paper_option = option("--paper", "MODULE", "Another paper: a module with a PAPER, or the name of an installed one.")


@contextmanager
def paper_of(name: str | None) -> Iterator[Paper]:
    """The built-in paper, or another one, looked for in the current folder too; its PaperErrors are InputProblems."""
    if name is None:
        from giantsteps.verify.claims.paper import PAPER

        yield PAPER
        return
    from giantsteps.verify.protocol.paper import PaperError
    from giantsteps.verify.protocol.papers import paper_named

    if os.getcwd() not in sys.path:
        sys.path.insert(0, os.getcwd())  # as `python -m` has it
    given, accepted = f"--paper was given {shown(name)}, and ", "; for example --paper another_paper.paper"
    try:
        found = paper_named(name)
        given = accepted = ""
        yield found
    except PaperError as error:
        raise InputProblem(f"{given}{error}{accepted}") from None
