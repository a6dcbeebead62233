"""Answers do not depend on what else the machine does: limits count operations and processor time."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.shared.command_line import WORKED

_BUSY = 8
COMMANDS = (
    ["activation", "softplus(z)-log(2)", "--json"],
    ["activation", "erf(100*(z-6/10)) + erf(100*(z+6/10))", "--json"],
    ["bounds", *WORKED, "--json"],
    ["solve", *WORKED, "--loss", "huber:0.5", "--json"],
)


@contextmanager
def _busy_loops() -> Iterator[None]:
    loops = [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(_BUSY)]
    try:
        yield
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()


def _answers() -> list[tuple[int, str]]:
    ended = [
        subprocess.run([sys.executable, "-m", "giantsteps", *command], capture_output=True, text=True, check=False)
        for command in COMMANDS
    ]
    return [(one.returncode, one.stdout) for one in ended]


@pytest.mark.thorough
def test_eight_busy_loops_change_no_answer() -> None:
    alone = _answers()
    assert all(out.startswith("{") for _, out in alone)
    with _busy_loops():
        assert _answers() == alone
