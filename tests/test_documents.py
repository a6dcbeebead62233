"""What the README, its pages in docs/ and the help texts print is what happens."""

from __future__ import annotations

import json
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import click
import pytest

from giantsteps.reports.command_line.cli import COMMANDS, cli, named
from giantsteps.reports.command_line.misuse import examples_in
from giantsteps.reports.studies.speed import DATA, bars
from tests.shared.documents import PAGES, ROOT, Sample, differs, links, python_examples, samples, shell

TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
README = TEXTS[ROOT / "README.md"]
# What two pages print alike is run once.
SAMPLES = list(dict.fromkeys(sample for text in TEXTS.values() for sample in samples(text)))
PYTHON = [(path.name, code) for path, text in TEXTS.items() for code in python_examples(text)]
# Slow: three dimensions of simulation.
SLOW = "giantsteps compare"

HELP = {name: named(name).help or "" for name in COMMANDS}
EXAMPLES = [(name, example) for name in COMMANDS for example in examples_in(HELP[name])]
# The whole ledger takes minutes, and `giantsteps report` rewrites the committed one; `make report` and `make thorough`
# run both. Here these examples are only read.
ONLY_READ = ("giantsteps report", "giantsteps verify --profile thorough")


def runs(example: str) -> bool:
    """Whether an example is run here."""
    return example != "giantsteps verify" and not example.startswith(ONLY_READ)


def ended(sample: Sample, folder: Path) -> str:
    """What is wrong with a sample of a page; empty if nothing is."""
    done = shell(sample.command, folder)
    return done.stderr if done.returncode else differs(sample.lines, done.stdout.splitlines())


@pytest.mark.parametrize("sample", [s for s in SAMPLES if not s.command.startswith(SLOW)], ids=lambda s: s.command[:60])
def test_the_pages_print_what_comes_out(sample: Sample, tmp_path: Path) -> None:
    assert ended(sample, tmp_path) == ""


@pytest.mark.thorough
@pytest.mark.parametrize("sample", [s for s in SAMPLES if s.command.startswith(SLOW)], ids=lambda s: s.command[:60])
def test_the_pages_compare_as_printed(sample: Sample, tmp_path: Path) -> None:
    assert ended(sample, tmp_path) == ""


def test_samples_that_differ_are_told_apart() -> None:
    text = "Words.\n\n    $ giantsteps a \\\n          --b\n    one\n    ...\n    three\n\nWords.\n"
    (sample,) = samples(text)
    assert sample == Sample("giantsteps a --b", ("one", "...", "three"))
    assert differs(sample.lines, ["one", "two", "three"]) == ""
    assert differs(sample.lines, ["one", "two", "thre"]) == "three"
    assert differs(sample.lines, ["zero", "one", "three"]) == "one"
    assert differs(sample.lines, ["one", "three", "four"]) == "more was printed: four"
    assert differs(["residual  4e-16"], ["residual  3e-16"]) == ""


@pytest.mark.parametrize(("page", "block"), PYTHON, ids=[page for page, _ in PYTHON])
def test_the_python_of_the_pages_gives_what_it_says(page: str, block: str) -> None:
    code, expected = [], []
    for line in block.splitlines():
        words, _, comment = line.partition("  # ")
        if comment:
            expected.append(comment.strip())
            code.append(f"print(repr({words.strip()}))")
        else:
            code.append(words)
    assert len(expected) >= 2
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(code)], cwd=ROOT, capture_output=True, text=True, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    for comment, printed in zip(expected, done.stdout.splitlines(), strict=True):
        pattern = ".*".join(re.escape(part) for part in comment.split("..."))
        assert re.fullmatch(pattern, printed), (comment, printed)


def test_every_page_is_linked_from_the_readme_and_every_link_leads_somewhere() -> None:
    assert {path.relative_to(ROOT).as_posix() for path in PAGES[1:]} <= set(links(README))
    for path, text in TEXTS.items():
        for link in links(text):
            assert (path.parent / link).exists(), f"{path.name} links to {link}"


def test_the_readme_is_two_screens_and_shows_examples() -> None:
    # Two screens: some 45 lines each at the width of a page.
    assert README.count("\n") <= 90
    assert samples(README)
    assert {"README.md", "library.md"} <= {page for page, _ in PYTHON}


def test_the_figure_of_the_readme_is_the_one_of_the_report() -> None:
    root = ElementTree.parse(ROOT / "docs" / "learning_curves.svg").getroot()
    assert root.tag == "{http://www.w3.org/2000/svg}svg"
    assert root.get("aria-label", "").startswith("Learning curves for several batch sizes.")


def test_the_pages_quote_the_stored_speeds() -> None:
    # The page may be older than the last run: half or twice is still what it says, ten times is not.
    quoted = TEXTS[ROOT / "docs" / "speed.md"].split("| | measured | promised |")[1].split("Residuals")[0]
    for bar in bars(json.loads(DATA.read_text(encoding="utf-8"))):
        rows = [row for row in quoted.splitlines() if bar.what.split(",")[0] in row]
        numbers = [float(n.replace(",", "")) for row in rows for n in re.findall(r"[\d,]*\d(?:\.\d+)?", row)]
        if rows:
            assert any(0.5 < number / bar.value < 2.0 for number in numbers), bar


@pytest.mark.parametrize(("name", "example"), EXAMPLES, ids=[example[:70] for _, example in EXAMPLES])
def test_the_examples_can_be_read(name: str, example: str) -> None:
    words = shlex.split(example)
    assert words[:2] == ["giantsteps", name]
    with click.Context(cli) as parent:
        named(name).make_context(name, words[2:], parent=parent)


def test_every_command_has_examples() -> None:
    assert {name for name, _ in EXAMPLES} == set(COMMANDS)


@pytest.mark.thorough
@pytest.mark.parametrize("example", [e for _, e in EXAMPLES if runs(e)], ids=lambda e: e[:70])
def test_the_examples_of_the_help_run(example: str, tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(sweep_file(), encoding="utf-8")
    if "--resume" in example:
        assert shell(example.replace(" --resume", ""), tmp_path).returncode == 0
    if "--dask" in example:
        from distributed import LocalCluster

        with LocalCluster(n_workers=1, processes=False, protocol="tcp", dashboard_address=None) as cluster:
            done = shell(re.sub(r"tcp://\S+", cluster.scheduler_address, example), tmp_path)
    else:
        done = shell(example, tmp_path)
    assert done.returncode == 0, done.stderr
    if "--json" in example:
        json.loads(done.stdout, parse_constant=lambda name: pytest.fail(f"{name} in the JSON"))


def sweep_file() -> str:
    """The sweep file that the help of `giantsteps sweep` shows, on a coarser grid: 60,000 points take minutes."""
    shown = HELP["sweep"].split("A sweep file:\n")[1].split("\n\n")[0]
    shown = shown.replace(':200"', ':8"').replace(':100"', ':5"')
    return "\n".join(line.strip() for line in shown.splitlines())
