"""What all tests share fails where a test fails, in one process and in several."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

CONFTEST = Path(__file__).resolve().parent.parent / "conftest.py"
# A circle that has grown old, and raises when it is looked through: no test is running any more that could fail of it.
GARBAGE = """
import gc

class Old:
    def __del__(self):
        raise ValueError("an old circle")

def test_first():
    old = Old()
    old.itself = old
    for _ in range(3):
        gc.collect()
"""


def status(folder: Path, test: str, *options: str, **variables: str) -> int:
    """What pytest exits with on one test beside this suite's conftest, warnings as errors."""
    shutil.copy(CONFTEST, folder)
    (folder / "test_one.py").write_text(test, encoding="utf-8")
    command = (sys.executable, "-m", "pytest", "-W", "error", "-p", "no:cacheprovider", "--rootdir", str(folder))
    known = {name: value for name, value in os.environ.items() if not name.startswith("PYTEST_")}
    return subprocess.run(
        [*command, *options, "test_one.py"], cwd=folder, env=known | variables, capture_output=True, timeout=120,
        check=False,
    ).returncode  # fmt: skip


def test_a_failure_below_a_process_of_several_is_one(tmp_path: Path) -> None:
    # What a process of `-n` starts inherits its variables, and is none.
    for assertion, expected in (("False", 1), ("True", 0)):
        test = f"def test_it():\n    assert {assertion}\n"
        assert status(tmp_path, test, PYTEST_XDIST_WORKER="gw0") == expected


@pytest.mark.parametrize("options", [(), ("-n", "1")], ids=["one process", "another"])
def test_what_garbage_raises_at_the_end_fails(tmp_path: Path, options: tuple[str, ...]) -> None:
    assert status(tmp_path, GARBAGE, *options) == 1
