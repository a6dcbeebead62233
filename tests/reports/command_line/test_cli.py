"""The command line as a whole: help, version, exit codes, streams, signals, colour."""

from __future__ import annotations

import dataclasses
import resource
import shlex
import signal
import subprocess
import sys

import pytest

from giantsteps.reports.command_line.cli import COMMANDS
from tests.shared.command_line import ROOT, WORKED, in_subprocess, outcome, refused, replaced


@pytest.mark.parametrize("name", ["", *COMMANDS])
def test_help_leads_with_examples(capfd: pytest.CaptureFixture[str], name: str) -> None:
    code, out, err = outcome(capfd, [name, "--help"] if name else ["--help"])
    assert (code, err) == (0, "")
    assert out.index("Examples:") < out.index("Options:")
    assert "giantsteps" in out.split("Examples:")[1].splitlines()[1]


def test_help_answers_at_once() -> None:
    # Processor time of the fastest of five, so that what else the machine does is not counted; 0.2 s is the promise.
    times = []
    for _ in range(5):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert in_subprocess(["--help"]).returncode == 0
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.2


def test_version(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, ["--version"])
    assert (code, err) == (0, "")
    assert out.startswith("giantsteps ")


def test_an_internal_error_is_one_sentence_and_a_traceback_only_with_debug(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import giantsteps.numerics.saddle_point.solve

    def broken(model: object) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setattr(giantsteps.numerics.saddle_point.solve, "solve", broken)
    code, out, err = outcome(capfd, ["solve", *WORKED])
    assert (code, out, err.count("\n")) == (4, "", 1)
    assert "planted" in err
    code, _, err = outcome(capfd, ["solve", *WORKED, "--debug"])
    assert code == 4
    assert "Traceback" in err


def test_the_exit_codes_of_a_ledger(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import giantsteps.reports.commands.verify as command
    from giantsteps.reports.text import ledger_files
    from giantsteps.verify.ledger.run import Ledger
    from giantsteps.verify.protocol.verdict import Verdict
    from tests.shared.report_page import toy_ledger

    ran, (entry, *_) = [toy_ledger()], toy_ledger().entries
    monkeypatch.setattr(command, "run_ledger", lambda *_: ran[0])
    for verdict, was, seed, code in (
        (Verdict.PROVED, Verdict.PROVED, 0, 0),
        (Verdict.REFUTED, Verdict.REFUTED, 0, 1),
        (Verdict.INCONCLUSIVE, Verdict.INCONCLUSIVE, 0, 0),
        (Verdict.INCONCLUSIVE, Verdict.CONFIRMED, 0, 1),  # drift
        (Verdict.INCONCLUSIVE, Verdict.CONFIRMED, 7, 3),  # other draws
        (Verdict.INCONCLUSIVE, None, 0, 3),  # there is nothing to compare with
    ):
        known = {"claims": [{"id": entry.claim.id, "verdict": was.value}]} if was else None
        monkeypatch.setattr(ledger_files, "committed", lambda known=known: known)
        ran[0] = Ledger("quick", (dataclasses.replace(entry, verdict=verdict),), seed=seed)
        for more in ([], ["--json"]):
            assert outcome(capfd, ["verify", *more])[0] == code


def test_without_a_terminal_each_chapter_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    from giantsteps.reports.command_line.console import Chapters

    for quiet, lines in ((False, ["two words checked, 1 of 2 chapters", "b checked, 2 of 2 chapters"]), (True, [])):
        said = Chapters(("claims.b.x", "claims.two_words.y", "claims.b.z"), quiet)
        for module in ("claims.b.x", "claims.two_words.y", "claims.b.z"):
            said.arrived(module)
        assert capfd.readouterr().err.splitlines() == [f"giantsteps: {line}" for line in lines]


def test_an_interruption_is_quiet() -> None:
    # The solver says that it has begun, and would take five minutes.
    script = (
        "import os, sys, threading, giantsteps.numerics.saddle_point.ridge as ridge\n"
        "def endless(model):\n"
        "    os.write(1, b'begun\\n')  # whole: a print that the signal meets is said again at the end\n"
        "    threading.Event().wait(300)\n"
        "ridge.solve = endless\n"
        f"sys.argv[1:] = {['solve', *WORKED]}\n"
        "from giantsteps import main\n"
        "sys.exit(main())"
    )
    process = subprocess.Popen(
        [sys.executable, "-c", script], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    assert process.stdout is not None
    assert process.stdout.readline() == "begun\n"
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=300)
    assert (process.returncode, out, err) == (130, "", "")


def test_a_broken_pipe_is_quiet() -> None:
    words = " ".join(map(repr, replaced("alpha", "0.5:3:2000")))
    script = f"{shlex.quote(sys.executable)} -m giantsteps solve {words} --json | head -c 1; echo ${{PIPESTATUS[0]}}"
    done = subprocess.run(["bash", "-c", script], cwd=ROOT, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    assert done.stdout.split("{", 1)[1].strip() == "141"


def test_pipes_and_no_color_get_no_escape_sequences(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    # One claim into a real pipe; the list of all into a file, in this process, where all claims are made anyway.
    done = in_subprocess(["claims", "result-3-1.spike-strength"], NO_COLOR="1")
    monkeypatch.setenv("NO_COLOR", "1")
    for code, out, err in ((done.returncode, done.stdout, done.stderr), outcome(capfd, ["claims"])):
        assert (code, err) == (0, "")
        assert "spike-strength" in out
        assert "\x1b" not in out


def test_colour_is_for_terminals(monkeypatch: pytest.MonkeyPatch) -> None:
    from giantsteps.reports.command_line import console

    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" in console.verdict_text("PROVED")
    monkeypatch.setenv("NO_COLOR", "1")
    assert console.verdict_text("PROVED") == "PROVED"


@pytest.mark.parametrize("before", [0, 400])
def test_the_pace_of_a_sweep_that_goes_on_is_that_of_this_run(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    from giantsteps.reports.command_line import console

    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    progress = console.Progress("sweep", before + 200, pace="points")
    progress.step(done=before)
    assert (progress.done, progress.label) == (before, "")
    # 50 points in 2 s leave 150 for 6 s; 100 more in 2 s are 150 in 4 s and leave 50 for 1.3 s.
    for more, seconds, said in ((50, 2.0, "25 points/s, 6 s left"), (150, 4.0, "38 points/s, 1 s left")):
        now = 1000.0 + seconds
        progress.step(done=before + more)
        assert (progress.done, progress.label) == (before + more, said)


def test_progress_counts_one_by_one_or_by_the_lot_and_keeps_the_last_name() -> None:
    from giantsteps.reports.command_line.console import Progress

    progress = Progress("ledger", 9)
    for label in ("one", "two", ""):
        progress.step(label)
    assert (progress.done, progress.label) == (3, "two")
    progress.advance(5, 2)
    assert (progress.done, progress.total, progress.label) == (7, 9, "two")
    assert Progress("nothing", 0).total == 1


def test_memory_that_runs_out_is_bad_input(capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    import giantsteps.numerics.saddle_point.solve

    def greedy(model: object) -> object:
        raise MemoryError

    monkeypatch.setattr(giantsteps.numerics.saddle_point.solve, "solve", greedy)
    refused(capfd, ["solve", *WORKED], "does not fit in memory", "for example")


def test_the_module_is_the_command() -> None:
    done = in_subprocess(["--help"])
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.startswith("Usage: giantsteps [OPTIONS] COMMAND")
    done = in_subprocess(["solve", "--ridge"])
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("giantsteps: --ridge was given no value")


def test_the_program_is_the_module() -> None:
    import tomllib

    scripts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["scripts"]
    assert scripts == {"giantsteps": "giantsteps:main"}


@pytest.mark.parametrize("error", [OSError(28, "No space left on device"), OSError(24, "Too many open files", "a.bin")])
def test_what_the_machine_refuses_is_no_defect(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, error: OSError
) -> None:
    import giantsteps.numerics.saddle_point.solve

    def refusing(model: object) -> object:
        raise error

    monkeypatch.setattr(giantsteps.numerics.saddle_point.solve, "solve", refusing)
    refused(capfd, ["solve", *WORKED], error.strerror or "", "for example")


def test_a_lost_worker_is_no_defect() -> None:
    from concurrent.futures.process import BrokenProcessPool

    from giantsteps.reports.command_line.machine.workers import pool
    from giantsteps.reports.command_line.problems import InputProblem

    with pytest.raises(InputProblem, match="worker processes were lost"), pool(workers=1):
        raise BrokenProcessPool("a process was terminated abruptly")


@pytest.mark.parametrize(("typed", "meant"), [("sovle", "solve"), ("bound", "bounds"), ("qqq", "")])
def test_a_command_that_is_not_there_is_answered_by_the_one_that_is_meant(
    typed: str, meant: str, capfd: pytest.CaptureFixture[str]
) -> None:
    code, out, err = outcome(capfd, [typed])
    perhaps = f"; perhaps {meant} is meant" if meant else ""
    assert (code, out) == (2, "")
    assert err.startswith(f"giantsteps: there is no command '{typed}'{perhaps}; accepted are report, verify, claims")
