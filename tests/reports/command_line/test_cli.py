"""The command line as a whole: help, version, exit codes, misuse, examples, what is said when something breaks."""

from __future__ import annotations

import resource
import sys
import tomllib
from pathlib import Path
from typing import Any

import click
import pytest

from giantsteps.reports.command_line.cli import COMMANDS, Boundary, named
from giantsteps.reports.command_line.console import Chapters, Progress, verdict_text
from giantsteps.reports.command_line.extras import DISTRIBUTIONS, extra_of, missing
from giantsteps.reports.command_line.in_options import in_options
from giantsteps.reports.command_line.misuse import OTHER_NAMES, examples_in, options_of
from giantsteps.reports.command_line.request import groups_of
from giantsteps.reports.command_line.values import parse_readout
from tests.shared.command_line import ROOT, WORKED, document, in_subprocess, outcome, refused, replaced

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


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
        done = in_subprocess(["--help"])
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert (done.returncode, done.stderr) == (0, "")
        assert done.stdout.startswith("Usage: giantsteps [OPTIONS] COMMAND")
        times.append(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime)
    assert min(times) < 0.2


def test_version_and_program(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, ["--version"])
    assert (code, err, out.startswith("giantsteps ")) == (0, "", True)
    assert PROJECT["scripts"] == {"giantsteps": "giantsteps:main"}


@pytest.mark.parametrize(
    ("error", "code", "words"),
    [
        (ZeroDivisionError("planted"), 4, ("internal error", "planted", "--debug")),
        (MemoryError(), 2, ("does not fit in memory", "for example")),
        (OSError(28, "No space left on device"), 2, ("No space left on device", "for example")),
        (OSError(24, "Too many open files", "a.bin"), 2, ("Too many open files", "a.bin")),
        (OSError(2, "No such file or directory"), 4, ("internal error",)),
        (ModuleNotFoundError(name="hypothesis.part"), 2, ("'.[verify]'",)),
        (KeyboardInterrupt(), 130, ()),
        (click.exceptions.Exit(3), 3, ()),
    ],
)
def test_what_happens_is_one_sentence_and_an_exit_code(
    error: BaseException, code: int, words: tuple[str, ...], capfd: pytest.CaptureFixture[str]
) -> None:
    for debug in (False, True):
        with Boundary(debug, ["solve"]) as boundary:
            raise error
        err = capfd.readouterr().err
        assert boundary.code == code
        assert ("Traceback" in err) is (debug and bool(words))
        assert all(word in err for word in words if not (debug and word == "--debug"))
        assert debug or err.count("\n") == bool(words)


def test_a_misuse_has_no_traceback_even_with_debug(capfd: pytest.CaptureFixture[str]) -> None:
    code, out, err = outcome(capfd, ["solve", *WORKED, "--frobnicate", "--debug"])
    assert (code, out, err.count("\n")) == (2, "", 1)


def test_without_a_terminal_each_chapter_is_one_line(capfd: pytest.CaptureFixture[str]) -> None:
    for quiet, lines in ((False, ["two words checked, 1 of 2 chapters", "b checked, 2 of 2 chapters"]), (True, [])):
        said = Chapters(("claims.b.x", "claims.two_words.y", "claims.b.z"), quiet)
        for module in ("claims.b.x", "claims.two_words.y", "claims.b.z"):
            said.arrived(module)
        assert capfd.readouterr().err.splitlines() == [f"giantsteps: {line}" for line in lines]


def test_colour_is_for_terminals_that_want_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stdout.isatty", lambda: True, raising=False)
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    assert "\x1b" in verdict_text("PROVED")
    monkeypatch.setenv("NO_COLOR", "1")
    assert verdict_text("PROVED") == "PROVED"
    assert "\x1b" not in in_subprocess(["claims", "result-3-1.spike-strength"]).stdout


@pytest.mark.parametrize("before", [0, 400])
def test_the_pace_of_a_sweep_that_goes_on_is_that_of_this_run(before: int, monkeypatch: pytest.MonkeyPatch) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    progress = Progress("sweep", before + 200, pace="points")
    progress.step(done=before)
    assert (progress.done, progress.label) == (before, "")
    # 50 points in 2 s leave 150 for 6 s; 100 more in 2 s are 150 in 4 s and leave 50 for 1.3 s.
    for more, seconds, said in ((50, 2.0, "25 points/s, 6 s left"), (150, 4.0, "38 points/s, 1 s left")):
        now = 1000.0 + seconds
        progress.step(done=before + more)
        assert (progress.done, progress.label) == (before + more, said)


def test_progress_counts_and_keeps_the_last_name() -> None:
    progress = Progress("ledger", 9)
    for label in ("one", "two", ""):
        progress.step(label)
    assert (progress.done, progress.total, progress.label) == (3, 9, "two")


def test_other_names_lead_to_options_that_exist() -> None:
    known = {option for name in COMMANDS for option in options_of(named(name))}  # type: ignore[attr-defined]
    assert set(OTHER_NAMES.values()) <= known
    assert not {f"--{name}" for name in OTHER_NAMES} & known


def test_examples_of_a_help_text() -> None:
    text = "\b\nExamples:\n  giantsteps a --b \\\n      --c\n  giantsteps d\n\nWords about giantsteps a.\n"
    assert examples_in(text) == ["giantsteps a --b --c", "giantsteps d"]


def test_an_expression_may_look_like_an_option(capfd: pytest.CaptureFixture[str]) -> None:
    assert document(capfd, ["solve", *replaced("target", "--z")])["converged"] is True


@pytest.mark.parametrize(
    ("said", "shown"),
    [
        ("give spike=1, bulk=1, alignment=0.8; or not", "give --spike 1 --bulk 1 --alignment 0.8; or not"),
        ('the isotropic bulk, bulk_model="isotropic"', "the isotropic bulk, --bulk-model isotropic"),
        ("for example alignment=0.6, further_alignments=(0.5,)", "for example --alignment 0.6/0.5"),
        ("use gaussian_rows=False, or stop", "use --rows unit, or stop"),
        ("resume=True to go on", "--resume to go on"),
        ("alpha = 1.5 stays, and so does TMPDIR=/var/tmp", "alpha = 1.5 stays, and so does TMPDIR=/var/tmp"),
        (
            "use readout=(ReadoutGroup(1.0, 0.5, bias=0.3), ReadoutGroup(-1.0, 0.5, 2.0, bias=-0.3))",
            'use --readout "1:0.5::0.3,-1:0.5:2:-0.3"',
        ),
        (
            "readout=(ReadoutGroup(1.5, 0.5, further_weights=(1,)), ReadoutGroup(1.5, 0.5, further_weights=(-1,)))",
            '--readout "1.5/1:0.5,1.5/-1:0.5"',
        ),
    ],
)
def test_an_argument_of_the_library_is_shown_as_an_option(said: str, shown: str) -> None:
    assert in_options(said) == shown
    if '"' in shown:
        assert len(parse_readout(shown.split('"')[1])) == 2


def test_every_component_of_a_vector_spike_is_multiplied_by_the_weights() -> None:
    found = groups_of("1:0.5,-2:0.5", "0.3:0.5,-0.3:0.5", (1.5, 1.0, -0.5))
    assert {(group.weight, *group.further_weights) for group in found} == {(1.5, 1.0, -0.5), (-3.0, -2.0, 1.0)}
    assert sorted(group.bias for group in found) == [-0.3, -0.3, 0.3, 0.3]


@pytest.mark.parametrize(
    ("package", "extra"),
    [("hypothesis", "verify"), ("pytest", "verify"), ("jinja2", "report"), ("markupsafe", "report"),
     ("matplotlib", "report"), ("distributed", "cluster"), ("typst", "pdf"), ("pandas", "frames"),
     ("numpy", None), ("ruff", None), ("nothing", None)],
)  # fmt: skip
def test_each_package_has_its_extra(package: str, extra: str | None) -> None:
    assert extra_of(package) == extra
    sentence = missing(ModuleNotFoundError(name=f"{package}.part"))
    assert sentence is None if extra is None else f"'.[{extra}]'" in str(sentence)


def test_what_the_extras_list_is_known() -> None:
    extras = PROJECT["optional-dependencies"]
    for extra in ("verify", "report", "cluster"):
        for requirement in extras[extra]:
            name = requirement.partition(">")[0].partition("[")[0]
            found = extra_of("distributed" if name == "dask" else name)
            assert found is not None
            assert len(extras[found]) <= len(extras[extra])
    assert set(DISTRIBUTIONS.values()) <= {"dask", "jinja2"}


def test_a_document_without_typst_is_refused_before_minutes_of_work(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "typst", None)
    refused(capfd, ["report", "--pdf", "--out", str(tmp_path / "report")], "'.[pdf]'")
    assert not list(tmp_path.rglob("*.*"))
