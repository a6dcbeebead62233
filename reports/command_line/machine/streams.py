"""The standard streams of the command: one that is full or closed ends it with a sentence, not with a traceback.

Data that cannot be written is a problem (exit code 2); what cannot be said on stderr is lost, and the exit code
stands. A reader that went away is neither (BrokenPipeError).
"""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Callable
from typing import Any, NoReturn, TextIO

from giantsteps.reports.command_line.problems import InputProblem


def prepare() -> None:
    """Watch stdout and stderr from now on. Raises InputProblem where stdout is closed.

    A closed stream's place is taken: the next file to be opened, a result file for example, would become that stream.
    """
    closed = [number for number in range(3) if _is_closed(number)]
    for number in closed:
        _to_nowhere(number)
    sys.stderr = _text(2, sys.stderr, _forget)
    if 1 in closed:
        sys.stdout = _text(1, sys.stdout, _forget)
        raise InputProblem("standard output is closed, and results go there; open it, for example > results.txt")
    sys.stdout = _text(1, sys.stdout, _complain)


def silence(stream: TextIO) -> None:
    """Send what is still buffered to nowhere, so that the interpreter does not complain at exit."""
    _to_nowhere(stream.fileno())


class _Watched(io.FileIO):
    """The raw side of a stream; what cannot be written goes nowhere, after `failed` has had its say."""

    def __init__(self, number: int, failed: Callable[[OSError], object]) -> None:
        super().__init__(number, "w", closefd=False)
        self._failed = failed

    def write(self, data: Any) -> Any:
        # Asking to write nothing, as some do to see what kind of stream this is, is no attempt to write.
        rest = memoryview(data).cast("B")
        size = rest.nbytes
        try:
            while rest:
                written = super().write(rest)
                if written is None:  # it would block
                    return size - rest.nbytes or None
                rest = rest[written:]
        except OSError as error:
            _to_nowhere(self.fileno())
            self._failed(error)
        return size


def _complain(error: OSError) -> NoReturn:
    if isinstance(error, BrokenPipeError):
        raise error
    raise InputProblem(
        f"standard output cannot be written to ({error.strerror}); free some space or send it elsewhere, for example "
        "> results.txt"
    ) from None


def _forget(error: OSError) -> None:
    """There is nowhere left to say it."""


def _text(number: int, before: TextIO | None, failed: Callable[[OSError], object]) -> TextIO:
    """The stream with that file number, as it was set up, watched."""
    raw = _Watched(number, failed)
    if not isinstance(before, io.TextIOWrapper):
        return io.TextIOWrapper(io.BufferedWriter(raw), encoding="utf-8", line_buffering=True)
    # An encoding that lacks a character must not end a command: the character is spelled out.
    errors = "backslashreplace" if before.errors == "strict" else before.errors
    buffer: Any = raw if before.write_through else io.BufferedWriter(raw)
    return io.TextIOWrapper(
        buffer, before.encoding, errors, line_buffering=before.line_buffering, write_through=before.write_through
    )


def _is_closed(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return True
    return False


def _to_nowhere(number: int) -> None:
    nowhere = os.open(os.devnull, os.O_RDWR)
    if nowhere != number:
        os.dup2(nowhere, number)
        os.close(nowhere)
    os.set_inheritable(number, True)
