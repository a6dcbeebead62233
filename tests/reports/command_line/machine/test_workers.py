"""The end of a worker: what it printed is kept, and what it has built is not taken apart object by object."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from giantsteps.reports.command_line.machine.workers import pool

KEPT: list[object] = []


class Tells:
    """Says in a file when it is taken apart."""

    def __init__(self, file: Path) -> None:
        self.file = file

    def __del__(self) -> None:
        self.file.touch()


def keep(file: Path, text: str) -> int:
    """Something that lives as long as the worker does, and a text that waits in its buffer."""
    KEPT.append(Tells(file))
    sys.stdout.write(text)
    return len(KEPT)


@pytest.mark.parametrize("near", [(), ("a", "b")])
def test_a_worker_ends_at_once_and_loses_nothing(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], near: tuple[str, ...]
) -> None:
    with pool(workers=1, near=near) as executor:
        assert executor.submit(keep, tmp_path / "taken apart", "said").result() == 1
    assert not (tmp_path / "taken apart").exists()
    assert capfd.readouterr().out == "said"
