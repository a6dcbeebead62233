"""What the README, its pages in docs/ and the help texts print is what happens."""

from __future__ import annotations

import json
import os
import re
import shlex
import subprocess
import sys
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import click
import numpy as np
import pytest

from benchmarks.documents import python_session
from giantsteps.reports.command_line.cli import COMMANDS, cli, named
from giantsteps.reports.command_line.misuse import examples_in
from giantsteps.reports.studies.speed import DATA, bars
from tests.shared.documents import PAGES, ROOT, Sample, differs, links, samples, shell

TEXTS = {path: path.read_text(encoding="utf-8") for path in PAGES}
README = TEXTS[ROOT / "README.md"]
# What two pages print alike is run once.
SAMPLES = list(dict.fromkeys(sample for text in TEXTS.values() for sample in samples(text)))
# The reference has transcripts, which tests/reports/text/test_api_pages.py runs.
PYTHON = {
    path.relative_to(ROOT).as_posix(): code
    for path, text in TEXTS.items()
    if "api" not in path.parts and (code := python_session(text))
}
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


@pytest.mark.parametrize("page", PYTHON)
def test_the_python_of_the_pages_gives_what_it_says(page: str, tmp_path: Path) -> None:
    code, expected = [], []
    for line in PYTHON[page].splitlines():
        words, _, comment = line.partition("  # ")
        if comment:
            expected.append(comment.strip())
            code.append(f"print(repr(({words.strip()})))")
        else:
            code.append(words)
    assert expected
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", "\n".join(code)],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "agg", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr) == (0, "")
    for comment, printed in zip(expected, done.stdout.splitlines(), strict=True):
        pattern = ".*".join(re.escape(part) for part in comment.split("..."))
        assert re.fullmatch(pattern, printed), (comment, printed)


def test_every_page_is_reached_from_the_readme_and_every_link_leads_somewhere() -> None:
    reached, ahead = set(), [ROOT / "README.md"]
    while ahead:
        page = ahead.pop()
        reached.add(page)
        for link in links(TEXTS[page]):
            place = (page.parent / link).resolve()
            assert place.exists(), f"{page.name} links to {link}"
            ahead += [place] if place in TEXTS and place not in reached else []
    assert reached == set(PAGES)


def test_every_claim_that_a_page_links_to_is_there() -> None:
    found = [
        (page.parent / file, claim, anchor)
        for page, text in TEXTS.items()
        for claim, file, anchor in re.findall(r"\[`([^`]+)`\]\(([^)#\s]*ledger/claims/[^)#\s]+)#([^)\s]+)\)", text)
    ]
    assert len(found) > 40
    for file, claim, anchor in found:
        assert f"\n## {claim}\n" in file.read_text(encoding="utf-8")
        assert anchor == claim.replace(".", "").lower()


def test_the_pictures_of_the_tutorial_are_those_that_its_lines_save() -> None:
    tutorial = TEXTS[ROOT / "docs" / "tutorial.md"]
    shown = {link.removeprefix("figures/") for link in links(tutorial) if link.endswith(".svg")}
    assert shown == set(re.findall(r'savefig\("(.*?)"\)', tutorial))


def test_the_readme_is_two_screens_and_shows_examples() -> None:
    # Two screens: some 45 lines each at the width of a page.
    assert README.count("\n") <= 90
    assert samples(README)
    assert {"README.md", "docs/tutorial.md", "docs/howto/learning_curve.md"} <= set(PYTHON)


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
    arrays = {name: np.eye(9) + k for k, name in enumerate(("before", "after"))} | {"theta": np.ones(9)}
    np.savez(tmp_path / "net.npz", W=arrays["after"], W0=arrays["before"], theta=arrays["theta"])
    for name, array in arrays.items():
        np.save(tmp_path / f"{name}.npy", array)
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


_MODEL = "--activation tanh --target sin --alpha 1.5 --beta 1 --ridge 0.1"
_SPIKE = f"{_MODEL} --spike 1 --bulk 1 --alignment 0.8"
DOCUMENTS = (
    f"solve {_MODEL} --alpha0 2 --eta 3 --certify --digits 20",
    f"solve {_SPIKE.replace('1.5', '1.5:1.51')} --certify",
    f"solve {_SPIKE.replace('sin', 'sign')} --loss logistic",
    f"simulate {_SPIKE} --dimension 40 --seeds 2",
    f"compare {_SPIKE} --dimensions 20,40 --seeds 2",
    f"bounds {_MODEL} --alpha0 2 --eta 3 --optimise-eta",
    f"spectrum {_SPIKE} --simulate 40",
    "activation relu",
)


def keys_of(document: object) -> set[str]:
    """The keys of a JSON document on all levels, but for the parameters of the command."""
    if isinstance(document, dict):
        inner = (keys_of(value) for key, value in document.items() if key != "parameters")
        return set(document).union(*inner)
    return set().union(*map(keys_of, document)) if isinstance(document, list) else set()


@pytest.mark.parametrize("command", DOCUMENTS, ids=lambda words: words[:60])
def test_every_key_of_a_document_is_in_the_reference(command: str, tmp_path: Path) -> None:
    done = shell(f"giantsteps {command} --json --quiet", tmp_path)
    page = TEXTS[ROOT / "docs" / "api" / "json.md"]
    common, own = (
        page.split(f"## {part}\n")[1].split("\n## ")[0] for part in ("In every document", command.split()[0])
    )
    described = set(re.findall(r"`([^`]+)`", common + own))
    if command.startswith("compare"):  # each of its simulations is a document of simulate
        described |= set(re.findall(r"`([^`]+)`", page.split("## simulate\n")[1].split("\n## ")[0]))
    assert keys_of(json.loads(done.stdout)) - described == set()
