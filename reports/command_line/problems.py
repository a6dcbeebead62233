"""Errors that end a command, and exit codes.

Exit codes are public: 0 done and verified; 1 a claim refuted, a mutant not refuted, a check failed, or drift; 2
unusable input or an unsupported option; 3 something inconclusive or not converged; 4 an internal error.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from giantsteps.reports.command_line.in_options import in_options

if TYPE_CHECKING:
    from pathlib import Path

DONE, FAILED, UNUSABLE, UNDECIDED, INTERNAL = range(5)
INTERRUPTED = 130  # 128 + SIGINT, as a shell reports it
BROKEN_PIPE = 141  # 128 + SIGPIPE, as for any program whose reader went away


class InputProblem(Exception):
    """Unusable input, exit code 2 unless another one is given.

    The message is one sentence: what was given, what is accepted, an example. Where it quotes the library, arguments
    are options here.
    """

    def __init__(self, message: str, code: int = UNUSABLE) -> None:
        super().__init__(in_options(message))
        self.code = code


def shown(text: str, longest: int = 60) -> str:
    """What was given, for a sentence: in quotes, escaped, and no longer than the sentence can bear."""
    return ascii(text if len(text) <= longest else text[: longest - 3] + "...")


def not_built(what: str, instead: str = "") -> InputProblem:
    """The refusal of an option that is not supported yet."""
    return InputProblem(f"{what} is not supported yet" + (f"; {instead}" if instead else ""))


def check_writable(directory: Path, option: str = "--out") -> None:
    """Raises InputProblem if the report could not be written, before minutes of work."""
    from tempfile import TemporaryFile

    try:
        directory.mkdir(parents=True, exist_ok=True)
        with TemporaryFile(dir=directory):  # what the rights allow a full or virtual file system may still refuse
            pass
    except OSError as error:
        raise InputProblem(
            f"{option} was given {str(directory)[:80]!a}, which cannot be written to ({error.strerror}); another "
            f"directory is accepted, for example {option} build/report"
        ) from None
