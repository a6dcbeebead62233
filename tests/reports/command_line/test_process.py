"""The command as a process: signals, streams that are full, closed or gone, other encodings, the command in a pipe."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
import threading
from contextlib import ExitStack
from pathlib import Path

import psutil
import pytest

from tests.numerics.sweeps.test_sweep_kills import SLOW, begun, wait_for, worker_processes
from tests.shared.command_line import ROOT, WORKED, in_subprocess, replaced
from tests.shared.sweeping import written

SOLVE = ["solve", *WORKED]
LISTING = [*SOLVE, "--alpha", "0.5:2:300", "--json"]
REFUSED = [*SOLVE, "--ridge", "-1"]
# As good as endless: however long a busy machine keeps the test waiting, a sweep of it is at work when the kill comes.
ENDLESS = SLOW.replace('alpha = "0.5:2:40"', 'alpha = "0.5:2:20000"')

# Sends SIGINT when a module is looked for, as if Ctrl-C were pressed at that moment, or from a destructor, whose
# exceptions Python reports and drops, when the last modules are there.
INTERRUPTED = """
import os, signal, sys, threading

wanted, destructor = sys.argv.pop(1), sys.argv.pop(1)

class Interrupting:
    def __del__(self):
        os.kill(os.getpid(), signal.SIGINT)
        for _ in range(1000):
            pass

class Finder:
    def find_spec(self, name, path=None, target=None):
        if name == wanted:
            sys.meta_path.remove(self)
            Interrupting() if destructor else os.kill(os.getpid(), signal.SIGINT)
            threading.Event().wait(300 if destructor else 0)

sys.meta_path.insert(0, Finder())
from giantsteps import main
sys.exit(main())
"""


def shell(args: list[str], redirection: str, **environment: str) -> subprocess.CompletedProcess[str]:
    """The command under bash with a redirection, run to its end."""
    return subprocess.run(
        ["bash", "-c", f'"$@" {redirection}', "bash", sys.executable, "-m", "giantsteps", *args],
        cwd=ROOT, capture_output=True, text=True, timeout=300, env=os.environ | environment,
    )  # fmt: skip


# The command line itself, the library behind all numbers, one that is looked for in vain where everything is caught
# (mpmath's), one of this suite, and what a solve looks for last.
@pytest.mark.parametrize(
    ("module", "destructor"),
    [("click", ""), ("numpy", ""), ("mpmath", ""), ("gmpy2", ""), ("giantsteps.reports.commands.solve", ""),
     ("giantsteps.numerics.saddle_point.solve", "yes")],
)  # fmt: skip
def test_an_interruption_is_quiet_at_any_moment(module: str, destructor: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", INTERRUPTED, module, destructor, *SOLVE], cwd=ROOT, capture_output=True, text=True,
        timeout=300,
    )  # fmt: skip
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_an_interruption_of_work_is_quiet() -> None:
    args = [*replaced("alpha", "0.5:2:100000"), "--loss", "logistic", "--target", "sign"]
    process = subprocess.Popen(
        [sys.executable, "-m", "giantsteps", "solve", *args],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    with pytest.raises(subprocess.TimeoutExpired):
        process.communicate(timeout=1.5)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, "", "")


@pytest.mark.parametrize(
    "number", [signal.SIGTERM, pytest.param(signal.SIGHUP, marks=pytest.mark.thorough), signal.SIGINT]
)
def test_a_kill_ends_the_workers_first(tmp_path: Path, number: signal.Signals) -> None:
    """Also a Ctrl-C that reaches them while they load Python: none shows a traceback of its start."""
    out = tmp_path / "out"
    process = begun(str(written(tmp_path, ENDLESS)), "--out", str(out), "--workers", "2")
    if number is not signal.SIGINT:
        wait_for(out, 1, process)
    # Under load the first one may have stored a chunk before the second has started.
    while len(started := worker_processes(process.pid)) < 2:
        assert process.poll() is None
    for one in started if number is signal.SIGINT else []:
        one.send_signal(number)
    process.send_signal(number)
    said, err = process.communicate(timeout=300)
    # All of them are gone when the command is.
    assert [worker for worker in started if worker.is_running() and worker.status() != psutil.STATUS_ZOMBIE] == []
    assert (process.returncode, said) == (128 + number, "")
    assert err.startswith(f"giantsteps: {'interrupted' if number is signal.SIGINT else 'killed'}; ")
    assert (err.count("\n"), "--resume goes on" in err) == (1, True)


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
    assert (sweep.returncode in (2, 4), said, err.count("\n")) == (True, "", 1)
    assert err.startswith("giantsteps: ")


def test_a_broken_pipe_is_quiet() -> None:
    words = " ".join(map(repr, replaced("alpha", "0.5:3:2000")))
    script = f"{shlex.quote(sys.executable)} -m giantsteps solve {words} --json | head -c 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert done.stdout.split("{", 1)[1].strip() == "141"


@pytest.mark.parametrize(
    ("args", "unbuffered"), [(["--help"], ""), (["--help"], "1"), (SOLVE, ""), ([*SOLVE, "--json"], ""), (LISTING, "")]
)
def test_a_full_stdout_is_one_sentence(args: list[str], unbuffered: str) -> None:
    done = shell(args, ">/dev/full", PYTHONUNBUFFERED=unbuffered)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert "standard output cannot be written to (No space left on device)" in done.stderr
    assert "for example" in done.stderr


def test_a_stdout_that_fills_up_in_the_middle_is_noticed(tmp_path: Path) -> None:
    # Files may grow to 8 blocks of 1,024 bytes: the first writes succeed, one is cut short, the next one fails.
    target, limited = tmp_path / "listing.json", 'trap "" XFSZ; ulimit -f 8; "$@" >"$0"'
    done = subprocess.run(
        ["bash", "-c", limited, str(target), sys.executable, "-m", "giantsteps", *LISTING],
        cwd=ROOT, capture_output=True, text=True, timeout=300,
    )  # fmt: skip
    assert (done.returncode, target.stat().st_size) == (2, 8 * 1024)
    assert "standard output cannot be written to (File too large)" in done.stderr


def test_a_closed_stdout_is_refused_before_anything_is_done(tmp_path: Path) -> None:
    done = shell(["sweep", str(written(tmp_path)), "--out", str(tmp_path / "out")], ">&-")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "standard output is closed" in done.stderr
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("redirection", ["2>&-", "2>/dev/full"])
def test_what_cannot_be_said_on_stderr_changes_nothing_else(redirection: str, tmp_path: Path) -> None:
    assert shell(REFUSED, redirection).returncode == 2
    # A file that is opened where stderr was would be written to by every remark.
    done = shell(["sweep", str(written(tmp_path)), "--out", str(tmp_path / "out")], redirection)
    assert (done.returncode, done.stderr, "12 points, 0 failed" in done.stdout) == (0, "", True)


@pytest.mark.parametrize("redirection", ["<&- >&- 2>&-", ">/dev/full 2>/dev/full", ">&- 2>/dev/full"])
def test_nothing_is_left_to_say_it_with(redirection: str) -> None:
    done = shell(SOLVE, redirection)
    assert (done.returncode, done.stdout, done.stderr) == (2, "", "")


def test_an_encoding_without_the_letter_spells_it() -> None:
    done = in_subprocess(["claims", "result-3-1.spike-strength"], PYTHONIOENCODING="ascii", LC_ALL="C", COLUMNS="40")
    assert (done.returncode, done.stderr, done.stdout.isascii()) == (0, "", True)
