"""Shell completion: the script that a shell reads once, and what is answered when it asks."""

from __future__ import annotations

import os
from contextlib import suppress

import click

from giantsteps.reports.command_line.problems import DONE, InputProblem

SHELLS = ("bash", "zsh", "fish")
# Where the script of a shell puts its question, as click's do.
VARIABLE = "_GIANTSTEPS_COMPLETE"


def script(shell: str, group: click.Command) -> str:
    """What a shell has to read once. Raises InputProblem for a shell without one."""
    from click.shell_completion import get_completion_class

    known = get_completion_class(shell) if shell in SHELLS else None
    if known is None:
        raise InputProblem(
            f"--completion was given {shell[:60]!a}; accepted are {', '.join(SHELLS)}, for example in ~/.bashrc: "
            'eval "$(giantsteps --completion bash)"'
        )
    found = known(group, {}, "giantsteps", VARIABLE)
    # click's own way to print it asks bash for its version first.
    return found.source_template % found.source_vars()


def answer(group: click.Command) -> int | None:
    """Print what may follow the words that a shell asks about; the exit code, None where no shell asks."""
    from click.shell_completion import get_completion_class

    shell, _, wanted = os.environ.get(VARIABLE, "").partition("_")
    known = get_completion_class(shell)
    if wanted != "complete" or known is None or not _is_question(shell):
        return None
    # Words that no command takes are followed by nothing: a shell shows no sentence.
    with suppress(InputProblem, click.ClickException):
        print(known(group, {}, "giantsteps", VARIABLE).complete())
    return DONE


def _is_question(shell: str) -> bool:
    """Whether the words are there, and where the cursor is: its place for bash and zsh, the word itself for fish."""
    place = os.environ.get("COMP_CWORD")
    return "COMP_WORDS" in os.environ and place is not None and (shell == "fish" or place.isdecimal())
