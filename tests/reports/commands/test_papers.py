"""--paper: another paper has a ledger and pages of its own, found as a module or by an entry point."""

from __future__ import annotations

import importlib
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from tests.shared.report_page import broken, pages_of
from tests.shared.source import ROOT

EXAMPLE = ROOT / "examples" / "another_paper"
# What is said on the pages of the built-in paper, and on none of another one.
FIRST = ("2402.04980", "slides", "gradient", "two-layer", "spike", "replica", "activation", "neuron", "Result 3")


def ran(args: Sequence[str], folder: Path, path: str = "") -> subprocess.CompletedProcess[str]:
    """A command in a folder, with what lies there and on ``path``."""
    command = [sys.executable, "-m", "giantsteps", *args]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), *([path] if path else [])])}
    return subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=300)


def copied(folder: Path, **changes: tuple[str, str]) -> Path:
    """A copy of the example, called mine, with one text of some files changed."""
    shutil.copytree(EXAMPLE, folder / "mine", ignore=shutil.ignore_patterns("__pycache__"))
    for name, (old, new) in changes.items():
        path = folder / "mine" / f"{name}.py"
        text = path.read_text(encoding="utf-8")
        assert old in text
        path.write_text(text.replace(old, new, 1), encoding="utf-8")
    return folder


def test_the_example_is_proved_and_loads_no_prediction(tmp_path: Path) -> None:
    found = ran(["verify", "--paper", "examples.another_paper.paper", "--json"], tmp_path)
    assert found.returncode == 0, found.stderr
    ledger = json.loads(found.stdout)
    assert [claim["verdict"] for claim in ledger["claims"]] == ["PROVED"] * 5
    assert all(len(claim["mutants"]) >= 3 for claim in ledger["claims"])
    assert ledger["mutants"]["tested"] == ledger["mutants"]["refuted"]
    # In this process, and in what a worker loads.
    script = (
        "import sys\nfrom giantsteps.reports.command_line.cli import run\n"
        "assert run(['verify', '--paper', 'examples.another_paper.paper', '--quiet']) == 0\n"
        "from examples.another_paper.paper import PAPER\nfrom giantsteps.verify.ledger.run import run\n"
        "assert run(PAPER, 'quick').exit_code() == 0\n"
        "print([m for m in sys.modules if m.startswith(('giantsteps.numerics', 'giantsteps.verify.claims'))])"
    )
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == "[]"


def test_the_example_is_short() -> None:
    assert sum(path.read_text(encoding="utf-8").count("\n") for path in EXAMPLE.glob("*.py")) <= 300


def test_the_pages_of_the_example_are_its_own(tmp_path: Path) -> None:
    committed = (ROOT / "reports" / "ledger.json").read_bytes()
    args = ["report", "--paper", "examples.another_paper.paper", "--out", str(tmp_path), "--pdf", "--quiet"]
    done = ran(args, tmp_path)
    assert (done.returncode, done.stderr) == (0, "")
    assert (ROOT / "reports" / "ledger.json").read_bytes() == committed
    found = {path.relative_to(tmp_path).as_posix(): path for path in tmp_path.rglob("*") if path.is_file()}
    texts = {name: "" if path.suffix in (".xz", ".pdf") else path.read_text("utf-8") for name, path in found.items()}
    pages = pages_of(texts)
    assert broken(texts) == []
    assert {"index.html", "claim/errors.test.html", "derivations-fit.html", "symbols.html", "trust.html"} <= set(pages)
    assert not [
        name for name in pages if name.startswith(("study", "studies", "gallery", "docs", "network", "misprints"))
    ]
    for name, html in (pages | {"entries.js": texts["entries.js"]}).items():
        assert [word for word in FIRST if word in html] == [], name
    assert "<title>arXiv 2102.08127: Learning curves of generic" in pages["index.html"]
    assert "giantsteps report --paper examples.another_paper.paper --profile quick" in pages["index.html"]
    assert (tmp_path / "arxiv-2102-08127.pdf").read_bytes().startswith(b"%PDF-")


def test_a_paper_keeps_a_ledger_of_its_own_and_is_found_by_its_entry_point(tmp_path: Path) -> None:
    site = tmp_path / "site"
    info = site / "mine-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", encoding="utf-8")
    (info / "entry_points.txt").write_text("[giantsteps.papers]\nmy-paper = mine.paper\n", encoding="utf-8")
    ledger = "    about=", '    ledger=__import__("pathlib").Path(__file__).with_name("ledger.json"),\n    about='
    copied(site, paper=ledger)
    check = ["report", "--paper", "my-paper", "--check"]
    assert "write it first, for example giantsteps report --paper my-paper" in ran(check, tmp_path, str(site)).stderr
    assert ran(["report", "--paper", "my-paper", "--out", "out"], tmp_path, str(site)).returncode == 0
    assert ran(check, tmp_path, str(site)).returncode == 0
    listed = ran(["claims", "--paper", "my-paper", "--json"], tmp_path, str(site)).stdout
    assert {claim["verdict"] for claim in json.loads(listed)["claims"]} == {"PROVED"}
    kept = site / "mine" / "ledger.json"
    kept.write_text(kept.read_text(encoding="utf-8").replace('"PROVED"', '"DERIVED"'), encoding="utf-8")
    assert ran(check, tmp_path, str(site)).returncode == 1


TRACE = "s.ridge * s.response + s.ratio * s.leverage, sp.Integer(1)"
GOAL = "s.ridge, 1 / s.response - s.ratio / (1 + s.response)"


@pytest.mark.parametrize(
    ("changes", "code", "said"),
    [
        ({"derivations": ("- 2 * s.overlap", "- s.overlap")}, 2,
         r"errors\.test .*does not follow by algebra \(.*derivations\.py:\d+\)$"),
        ({"derivations": ("+ s.ratio * s.leverage,", "+ s.ratio * s.levrage,")}, 2, r"levrage.*derivations\.py:\d+\)$"),
        ({"numbers": ("s.seen.name: prediction(9)", '"g": prediction(9)')}, 2, "no value for h in h; measure it$"),
        ({"numbers": ("prediction(9)", "prediction(8)")}, 1, r"fit\.one-more-sample is REFUTED: numbers"),
        ({"claims": ('uses=("errors.test"', 'uses=("errors.tset"')}, 2, r"rests on errors\.tset, which is no claim"),
        ({"symbols": ('"rho"', '"q"')}, 2, r"two symbols are called q.*symbols\.py:\d+"),
        ({"paper": ("    name=NAME", '    name="x"')}, 2, r"add Document\('x', title, details\) \(.*paper\.py:\d+\)"),
        ({"derivations": (TRACE, GOAL)}, 0, "DERIVED, not PROVED: the assumption 'trace' is the statement itself"),
    ],
)  # fmt: skip
def test_what_is_wrong_in_a_paper_is_said_in_one_sentence(
    changes: dict[str, tuple[str, str]], code: int, said: str, tmp_path: Path
) -> None:
    done = ran(["verify", "--paper", "mine.paper", "--quiet"], copied(tmp_path, **changes))
    assert done.returncode == code, done.stderr
    if code == 2:
        assert (done.stdout, done.stderr.count("\n")) == ("", 1)
    assert re.search(said, (done.stderr or done.stdout).strip(), re.MULTILINE), done.stdout + done.stderr


def test_the_built_in_paper_is_a_module_as_any_other(tmp_path: Path) -> None:
    module = importlib.import_module("giantsteps.verify.claims.paper")
    assert module.PAPER.option == ""
    assert module.PAPER.ledger == ROOT / "reports" / "ledger.json"
    assert (
        ran(["claims", "--paper", "giantsteps.verify.claims.paper", "result-3-1.alignment"], tmp_path).returncode == 0
    )
