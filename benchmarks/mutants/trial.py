"""A copy of the source tree in which a file may be wrong, and tests that run there: first those that run the function
in question, the quickest at the head, and where none of them fails all that were asked for.
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from py_compile import PycInvalidationMode

from benchmarks.mutants.visits import VISITS

ROOT = Path(__file__).resolve().parent.parent.parent
FAST = "not thorough and not browser"
# What no test of the copy needs.
_LEFT_OUT = shutil.ignore_patterns(".git", ".venv", "build", "__pycache__", "*.egg-info", ".*_cache", ".hypothesis")
# What pytest answers: all passed; a test failed; a file could not even be collected.
_PASSED, _FAILED, _BROKEN = 0, 1, 2
# A process that waits uses no processor time: it is stopped after this many times its limit.
_PATIENCE = 60
# Tests that are watched take longer than others by this.
_WATCHED = 4


class TrialError(Exception):
    """The tests did not run at all."""


@dataclass(frozen=True)
class Outcome:
    """What the tests of a wrong tree did: ``by`` is the first that failed, or why none could; empty: nobody noticed."""

    by: str

    @property
    def killed(self) -> bool:
        """Whether something noticed."""
        return bool(self.by)


@dataclass(frozen=True)
class Visit:
    """What a test of the right tree runs: functions as "file:first line"; its processor time, watched."""

    test: str
    seconds: float
    called: frozenset[str]


@dataclass(frozen=True)
class Room:
    """Tests of the right tree: what was asked for, those that fail there already, and what the others run."""

    tests: tuple[str, ...]
    failing: tuple[str, ...]
    visits: tuple[Visit, ...]

    def of(self, function: str) -> list[str]:
        """The tests that run a function, the quickest first."""
        found = [visit for visit in self.visits if function in visit.called and visit.test not in self.failing]
        return [visit.test for visit in sorted(found, key=lambda visit: visit.seconds)]


@contextmanager
def copied(parent: Path) -> Iterator[Path]:
    """The tree without what is built, in ``parent``; its byte code is valid for the very text that it was made of.

    Byte code that is checked by time and size would outlive a slip of one character within the same second.
    """
    root = parent / "tree"
    shutil.copytree(ROOT, root, ignore=_LEFT_OUT)
    compileall.compile_dir(root, quiet=1, invalidation_mode=PycInvalidationMode.CHECKED_HASH)
    try:
        yield root
    finally:
        shutil.rmtree(root)


@contextmanager
def replaced(root: Path, file: str, text: bytes) -> Iterator[None]:
    """One file of the copy with another text."""
    path = root / file
    right = path.read_bytes()
    path.write_bytes(text)
    try:
        yield
    finally:
        path.write_bytes(right)


def trial(root: Path, tests: Sequence[str], seconds: int, left_out: Iterable[str] = ()) -> Outcome:
    """Run tests in the copy until the first fails, within ``seconds`` of processor time."""
    returned, told = _run(root, ["-x", *tests, *(f"--deselect={test}" for test in left_out)], seconds)
    if returned == _PASSED:
        return Outcome("")
    if returned in (_FAILED, _BROKEN):
        return Outcome(next(iter(_failures(told)), "no test could be collected"))
    if returned < 0:
        return Outcome(f"ended by {signal.Signals(-returned).name}")
    raise TrialError(f"pytest ended with {returned}: {told[-500:]}")


def trial_of(root: Path, room: Room, function: str, first: Sequence[str], seconds: int) -> Outcome:
    """The tests of a room on a wrong ``function``: those that run it, then all, the files ``first`` at their head.

    What is computed once and kept is run by the first test that asks for it alone: so a slip lives only where all pass.
    """
    if visitors := room.of(function):
        # Where a file cannot be loaded none of its tests is found by name: the whole room tells.
        with suppress(TrialError):
            found = trial(root, visitors, seconds)
            if found.killed:
                return found
    return trial(root, [*first, *room.tests], seconds, room.failing)


def room_of(root: Path, tests: Sequence[str], seconds: int) -> Room:
    """Run tests of the copy as it is, and watch what they run. Raises TrialError if any cannot run."""
    seen = root.parent / "visits"
    seen.unlink(missing_ok=True)
    watched = ["-p", "benchmarks.mutants.visits", *tests]
    told = _ended(root, watched, _WATCHED * seconds, {VISITS: str(seen)})
    lines = [json.loads(line) for line in seen.read_text().splitlines()]
    visits = (Visit(line["test"], line["seconds"], frozenset(line["called"])) for line in lines)
    return Room(tuple(tests), tuple(_failures(told)), tuple(visits))


def function_at(file: str, source: str, line: int) -> str:
    """The function that a line stands in, as in `Visit.called`; that of the whole file where it stands in none."""
    inside = [
        min([node.lineno, *(one.lineno for one in node.decorator_list)])
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.FunctionDef) and node.lineno <= line <= (node.end_lineno or line)
    ]
    return f"{file}:{max(inside, default=0)}"


def failing(root: Path, tests: Sequence[str], seconds: int) -> list[str]:
    """The tests that fail in the copy as it is: of a slip they say nothing. Raises TrialError if any cannot run."""
    return _failures(_ended(root, tests, seconds))


def _ended(root: Path, tests: Sequence[str], seconds: int, variables: Mapping[str, str] = {}) -> str:
    """What tests told that ran to their end."""
    returned, told = _run(root, list(tests), seconds, variables)
    if returned not in (_PASSED, _FAILED):
        raise TrialError(f"the tests {' '.join(tests)} cannot run: pytest ended with {returned}: {told[-500:]}")
    return told


def _failures(told: str) -> list[str]:
    return re.findall(r"^(?:FAILED|ERROR) (\S+)", told, re.MULTILINE)


def _run(root: Path, arguments: list[str], seconds: int, variables: Mapping[str, str] = {}) -> tuple[int, str]:
    """What pytest returned and told; negative where it was ended by a signal."""
    environment = os.environ | {
        "PYTHONDONTWRITEBYTECODE": "1",
        "PYTHONPATH": str(root),
        "OPENBLAS_NUM_THREADS": "1",
        "OMP_NUM_THREADS": "1",
        **variables,
    }
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
    except subprocess.TimeoutExpired:
        return -signal.SIGKILL, ""
    finally:
        _end(process)
    return process.returncode, told


def _end(process: subprocess.Popen[str]) -> None:
    """Nothing that the tests started stays."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        return
    process.wait()
