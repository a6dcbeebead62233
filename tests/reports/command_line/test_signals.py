"""Ends from outside: Ctrl-C while modules are loaded, a kill with workers at work, a scheduler that is killed."""

from __future__ import annotations

import re
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path
from types import SimpleNamespace

import psutil
import pytest

import giantsteps
from giantsteps.reports.command_line import cli
from giantsteps.reports.command_line.machine import signals, workers
from tests.numerics.sweeps.test_sweep_kills import SLOW, begun, wait_for, worker_processes
from tests.shared.command_line import ROOT, WORKED
from tests.shared.sweeping import written

# Sends SIGINT when a module is looked for, as if Ctrl-C were pressed at that moment.
INTERRUPTED_WHILE_LOADING = """
import os, signal, sys

wanted = sys.argv.pop(1)

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            os.kill(os.getpid(), signal.SIGINT)

sys.meta_path.insert(0, Finder())
from giantsteps import main
sys.exit(main())
"""

# Interrupts a destructor, whose exceptions Python reports and drops, in the midst of a solve.
INTERRUPTED_WHERE_NOTHING_CAN_BE_RAISED = """
import os, signal, sys

class Interrupting:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

import giantsteps.numerics.saddle_point.ridge as ridge
import threading

def endless(model):
    Interrupting()
    threading.Event().wait(300)

ridge.solve = endless
from giantsteps import main
sys.exit(main())
"""

# As good as endless: however long a busy machine keeps the test waiting, a sweep of it is at work when the kill comes.
ENDLESS = SLOW.replace('alpha = "0.5:2:40"', 'alpha = "0.5:2:20000"')


def python(code: str, *args: str) -> subprocess.CompletedProcess[str]:
    """A process that runs some code with these arguments."""
    return subprocess.run([sys.executable, "-c", code, *args], cwd=ROOT, capture_output=True, text=True, timeout=300)


# The command line itself, the library behind all numbers, one that is looked for in vain where everything is caught
# (mpmath's), and one of this suite; more of them in the thorough profile.
MODULES = ["click", "numpy", "mpmath", "gmpy2"]
MORE = [
    "giantsteps.reports.command_line.cli",
    "click.core",
    "numpy.linalg",
    "giantsteps.numerics.saddle_point.ridge",
    "giantsteps.reports.commands.solve",
    "json",
]


@pytest.mark.parametrize("module", [*MODULES, *(pytest.param(name, marks=pytest.mark.thorough) for name in MORE)])
def test_an_interruption_while_modules_are_loaded_is_quiet(module: str) -> None:
    done = python(INTERRUPTED_WHILE_LOADING, module, "solve", *WORKED)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_interruption_that_python_drops_is_repeated() -> None:
    done = python(INTERRUPTED_WHERE_NOTHING_CAN_BE_RAISED, "solve", *WORKED)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


KILLED = """
import os, signal, sys
from giantsteps.reports.command_line.machine import signals

number = int(sys.argv[1])
# Who runs the tests in the background may have it ignored, which would be right to leave so.
signal.signal(number, signal.SIG_DFL)
try:
    with signals.terminable():
        os.kill(os.getpid(), number)
except signals.Terminated as end:
    assert signal.getsignal(number) is signal.SIG_DFL
    sys.exit(end.code)
"""


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_every_kill_is_raised_where_there_are_workers_to_end(number: signal.Signals) -> None:
    assert python(KILLED, str(int(number))).returncode == 128 + number


@pytest.mark.parametrize("number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.thorough)])
def test_a_kill_ends_the_workers_first(tmp_path: Path, number: signal.Signals) -> None:
    out = tmp_path / "out"
    process = begun(str(written(tmp_path, ENDLESS)), "--out", str(out), "--workers", "2")
    wait_for(out, 1, process)
    # Under load the first one may have stored a chunk before the second has started.
    while len(started := worker_processes(process.pid)) < 2:
        assert process.poll() is None
    process.send_signal(number)
    said, err = process.communicate(timeout=300)
    # All of them are gone when the command is.
    assert [worker for worker in started if worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE] == []
    assert (process.returncode, said) == (128 + number, "")
    assert err.startswith("giantsteps: killed; ")
    assert err.count("\n") == 1
    assert "--resume goes on" in err


@pytest.mark.thorough
def test_an_interruption_of_the_whole_terminal_while_workers_start_is_quiet(tmp_path: Path) -> None:
    out = tmp_path / "out"
    process = begun(str(written(tmp_path, ENDLESS)), "--out", str(out), "--workers", "2")
    while not (started := worker_processes(process.pid)):
        assert process.poll() is None
    # The workers load Python now: a Ctrl-C that reached them would show a traceback of their start.
    for one in [*started, process]:
        one.send_signal(signal.SIGINT)
    said, err = process.communicate(timeout=300)
    assert (process.returncode, said) == (130, "")
    assert err.startswith("giantsteps: interrupted; ")
    assert err.count("\n") == 1


@pytest.mark.thorough
@pytest.mark.parametrize("chunks", [0, 2])
def test_a_killed_scheduler_is_one_sentence(tmp_path: Path, chunks: int) -> None:
    with ExitStack() as stack:

        def beside(*args: str) -> subprocess.Popen[str]:
            """A process that ends with the test; what it says on stderr can be read."""
            command = [sys.executable, "-m", *args, "--no-dashboard"]
            process = stack.enter_context(subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True))
            stack.callback(process.kill)
            return process

        scheduler = beside("distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0")
        assert scheduler.stderr is not None
        address = next(found[1] for line in scheduler.stderr if (found := re.search(r"Scheduler at:\s+(tcp\S+)", line)))
        drained = [scheduler, beside("distributed.cli.dask_worker", address, "--nthreads", "1", "--no-nanny")]
        for process in drained:
            assert process.stderr is not None
            reader = threading.Thread(target=process.stderr.read)
            reader.start()
            stack.callback(reader.join)
            stack.callback(process.kill)
        out = tmp_path / "out"
        sweep = begun(str(written(tmp_path, ENDLESS)), "--out", str(out), "--dask", address)
        stack.callback(sweep.kill)
        wait_for(out, chunks, sweep)
        scheduler.kill()
        said, err = sweep.communicate(timeout=300)
    assert (sweep.returncode in (2, 4), said) == (True, "")
    assert err.startswith("giantsteps: ")
    assert err.count("\n") == 1
    assert "Traceback" not in err


def test_a_kill_while_workers_are_stopped_is_answered_in_order(monkeypatch: pytest.MonkeyPatch) -> None:
    # What the workers share is given back after they have ended: the default action would leave it behind.
    found = []
    monkeypatch.setattr(workers._Pool, "shutdown", lambda *_, **__: found.append(signal.getsignal(signal.SIGTERM)))
    with workers.pool(workers=1):
        pass
    assert found == [signals._terminate]
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL


@pytest.mark.parametrize("before", [set(), {signal.SIGTERM}])
def test_signals_wait_while_a_process_is_started_and_no_longer(before: set[signal.Signals]) -> None:
    def waiting() -> set[int]:
        return set(signal.pthread_sigmask(signal.SIG_BLOCK, ()))

    at_first = signal.pthread_sigmask(signal.SIG_SETMASK, before)
    try:
        with signals.held_back():
            assert waiting() == {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}
        assert waiting() == before
        with pytest.raises(OSError, match="no process"), signals.held_back():
            raise OSError("no process")
        assert waiting() == before
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, at_first)


def test_blocks_of_two_threads_leave_nothing_held() -> None:
    first, second = signals.held_back(), signals.held_back()
    entered, over = threading.Event(), threading.Event()

    def beside() -> None:
        with second:
            entered.set()
            over.wait(60)

    with first:
        other = threading.Thread(target=beside)
        other.start()
        assert entered.wait(60)
    over.set()
    other.join(60)
    assert signals._State.held == 0


@pytest.mark.parametrize("debug", [True, False])
def test_what_python_reports_of_its_own_accord_is_heard_with_debug_alone(
    debug: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    heard: list[str] = []
    monkeypatch.setattr(sys, "argv", ["giantsteps", "solve", *(["--debug"] if debug else [])])
    monkeypatch.setattr(sys, "unraisablehook", lambda _: heard.append("destructor"))
    monkeypatch.setattr(threading, "excepthook", lambda _: heard.append("thread"))
    monkeypatch.setattr(signal, "signal", lambda *_: None)

    def lost() -> None:
        raise ValueError

    def command() -> int:  # what happens while a command runs
        sys.unraisablehook(SimpleNamespace(exc_value=ValueError()))  # type: ignore[arg-type]
        thread = threading.Thread(target=lost)
        thread.start()
        thread.join()
        return 5

    monkeypatch.setattr(cli, "main", command)
    assert giantsteps.main() == 5
    assert heard == (["destructor", "thread"] if debug else [])
