"""A copy of the source tree in which a file may be wrong, and tests that run there: first those that run the function
in question, the quickest at the head, and where none of them fails all that were asked for.

As a plugin of pytest (`-p benchmarks.mutants.trial`) it writes one line of JSON a test into the file that the variable
VISITS names: the test, its processor time, and each function that it called as "file:first line".
"""

from __future__ import annotations

import ast
import compileall
import json
import os
import re
import resource
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode
from types import CodeType

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
FAST = "not thorough and not browser"
# What no test of the copy needs.
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis")
# What pytest answers: all passed; a test failed; a file could not even be collected.
_PASSED, _FAILED, _BROKEN = 0, 1, 2
# A process that waits uses no processor time: it is stopped after this many times its limit.
_PATIENCE = 60
# Of processor time, for a run that is watched; another gets its time in the right tree and a minute on top.
_LONGEST, _SPARE = 7200, 60


@dataclass(frozen=True)
class Room:
    """Tests of the right tree: what was asked for, those that fail there already, and for each of the others its
    processor time and what it runs, functions as "file:first line"."""

    tests: tuple[str, ...]
    failing: tuple[str, ...]
    visits: Mapping[str, tuple[float, frozenset[str]]]

    def of(self, function: str) -> list[str]:
        """The tests that run a function, the quickest first."""
        found = [test for test, (_, called) in self.visits.items() if function in called and test not in self.failing]
        return sorted(found, key=lambda test: self.visits[test][0])

    @property
    def seconds(self) -> int:
        """The processor time after which its tests are stopped."""
        return int(sum(seconds for seconds, _ in self.visits.values())) + _SPARE


def copied(parent: Path) -> Path:
    """The tree without what is built, in ``parent``; its byte code is valid for the very text that it was made of.

    Byte code that is checked by time and size would outlive a slip of one character within the same second.
    """
    root = parent / "tree"
    shutil.copytree(ROOT, root, ignore=_LEFT_OUT)
    compileall.compile_dir(root, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    return root


def room_of(root: Path, tests: Sequence[str]) -> Room:
    """Run tests of the copy as it is, and watch what they run. Raises RuntimeError if they cannot run."""
    seen = root.parent / "visits"
    seen.unlink(missing_ok=True)
    returned, told = _run(root, ["-p", "benchmarks.mutants.trial", *tests], _LONGEST, {"VISITS": str(seen)})
    if returned not in (_PASSED, _FAILED):
        raise RuntimeError(f"the tests {' '.join(tests)} cannot run: pytest ended with {returned}: {told[-500:]}")
    lines = [json.loads(line) for line in seen.read_text().splitlines()]
    visits = {line["test"]: (line["seconds"], frozenset(line["called"])) for line in lines}
    return Room(tuple(tests), tuple(_failures(told)), visits)


def trial_of(root: Path, room: Room, file: str, line: int, wrong: bytes) -> str:
    """The first test of a room that fails where a file has a wrong text in this line, or why none could; empty where
    all pass: those that run the function of the line first, then all.

    What is computed once and kept is run by the first test that asks for it alone: so a slip lives only where all pass.
    """
    path = root / file
    right = path.read_bytes()
    visitors = room.of(_function_at(file, right.decode(), line))
    path.write_bytes(wrong)
    try:
        # Where a file cannot be loaded none of its tests is found by name: the whole room tells.
        for tests in ([*visitors], [*room.tests, *(f"--deselect={test}" for test in room.failing)]):
            returned, told = _run(root, ["-x", *tests], room.seconds) if tests else (_PASSED, "")
            if returned in (_FAILED, _BROKEN):
                return next(iter(_failures(told)), "no test could be collected")
            if returned < 0:
                return f"ended by {signal.Signals(-returned).name}"
        return ""
    finally:
        path.write_bytes(right)


def _function_at(file: str, source: str, line: int) -> str:
    """The function that a line stands in, as in `Room.visits`; that of the whole file where it stands in none."""
    inside = [
        min([node.lineno, *(one.lineno for one in node.decorator_list)])
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or line)
    ]
    return f"{file}:{max(inside, default=0)}"


def _failures(told: str) -> list[str]:
    return re.findall(r"^(?:FAILED|ERROR) (\S+)", told, re.MULTILINE)


def _run(root: Path, arguments: list[str], seconds: int, variables: Mapping[str, str] = {}) -> tuple[int, str]:
    """What pytest returned and told; negative where it was ended by a signal."""
    environment = os.environ | {"PYTHONDONTWRITEBYTECODE": "1", "PYTHONPATH": str(root), **variables}
    environment |= {"OPENBLAS_NUM_THREADS": "1", "OMP_NUM_THREADS": "1"}
    process = subprocess.Popen(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", FAST, "--tb=no", "-rfE", *arguments],
        cwd=root,
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)),
    )
    try:
        told, _ = process.communicate(timeout=_PATIENCE * seconds)
        return process.returncode, told
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL, ""
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)  # nothing that the tests started stays
        process.wait()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Fixtures count as part of the test that is the first to ask for them."""
    codes: set[CodeType] = set()
    begun = time.process_time()
    sys.settrace(lambda frame, _event, _: codes.add(frame.f_code))
    yield
    sys.settrace(None)
    root = f"{Path.cwd()}{os.sep}"
    called = sorted(
        f"{code.co_filename.removeprefix(root)}:{code.co_firstlineno}"
        for code in codes
        if code.co_filename.startswith(root)
    )
    entry = {"test": item.nodeid, "seconds": time.process_time() - begun, "called": called}
    with Path(os.environ["VISITS"]).open("a") as file:
        file.write(json.dumps(entry) + "\n")
