"""Which test runs which functions of the tree, and how long it takes: a plugin of pytest for one run of a room.

`python -m pytest -p benchmarks.mutants.visits` writes one line of JSON a test into the file that the variable VISITS
names: its name, its processor time, and each function that it called as "file:first line".
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import CodeType, FrameType

import pytest

# The variable of the environment that names the file.
VISITS = "VISITS"


class _Watch:
    """Collects the code of every function that is called while a test runs; lines and C functions are not watched."""

    def __init__(self) -> None:
        self.codes: set[CodeType] = set()

    def __call__(self, frame: FrameType, _event: str, _: object) -> None:
        self.codes.add(frame.f_code)


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Fixtures count as part of the test that is the first to ask for them."""
    watch, begun = _Watch(), time.process_time()
    sys.settrace(watch)
    yield
    sys.settrace(None)
    root = f"{Path.cwd()}{os.sep}"
    called = sorted(
        f"{code.co_filename.removeprefix(root)}:{code.co_firstlineno}"
        for code in watch.codes
        if code.co_filename.startswith(root)
    )
    entry = {"test": item.nodeid, "seconds": time.process_time() - begun, "called": called}
    with Path(os.environ[VISITS]).open("a") as file:
        file.write(json.dumps(entry) + "\n")
