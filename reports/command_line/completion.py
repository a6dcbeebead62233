"""Shell completion: the script that a shell reads once, and what is answered when it asks."""

from __future__ import annotations

import os
from contextlib import suppress

import click

from giantsteps.reports.command_line.problems import InputProblem

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


def answer(group: click.Command) -> bool:
    """Print what may follow the words that a shell asks about; whether one asks.

    It does where it says its name, the words, and where the cursor is: its place for bash and zsh, the word itself for
    fish.
    """
    shell, _, wanted = os.environ.get(VARIABLE, "").partition("_")
    place = os.environ.get("COMP_CWORD")
    if wanted != "complete" or shell not in SHELLS or "COMP_WORDS" not in os.environ or place is None:
        return False
    if shell != "fish" and not place.isdecimal():
        return False
    from click.shell_completion import get_completion_class

    known = get_completion_class(shell)
    # Words that no command takes are followed by nothing: a shell shows no sentence.
    with suppress(InputProblem, click.ClickException):
        print(known(group, {}, "giantsteps", VARIABLE).complete() if known else "")
    return True
