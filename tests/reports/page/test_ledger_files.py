"""The files of a report: a ledger that is the same every time, Markdown that follows from JSON, drift."""

from __future__ import annotations

import json
import lzma
import re
from pathlib import Path

import pytest

from giantsteps.reports.command_line.cli import run as run_command
from giantsteps.reports.command_line.problems import InputProblem
from giantsteps.reports.page.build import write
from giantsteps.reports.page.described import describe
from giantsteps.reports.page.material import Material
from giantsteps.reports.text.ledger_files import write_together
from giantsteps.reports.text.ledger_markdown import markdown, markdown_drift
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.assumptions import grounds
from giantsteps.verify.ledger.document import as_json, dumps
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.paper import Chapter, part_of
from tests.shared import toy
from tests.shared.report_page import toy_ledger, toy_studies

LEDGER = Path(__file__).resolve().parent.parent.parent.parent / "reports" / "ledger.json"


def ledger() -> Ledger:
    """Of another profile than the committed one, which is not to be refreshed."""
    return Ledger("ci", toy_ledger().entries)


def test_the_ledger_is_the_same_file_every_time(tmp_path: Path) -> None:
    derivations = [describe(toy.derivation(), PAPER.symbols)]
    first = write(Material(ledger(), derivations, PAPER, toy_studies()), tmp_path / "a")
    toy_ledger.cache_clear()
    second = write(Material(ledger(), derivations, PAPER, toy_studies()), tmp_path / "b")
    names = [p.name for p in first.files]
    assert names[0] == "index.html"
    assert names[-1] == "ledger.json.xz"
    assert lzma.decompress(first.files[-1].read_bytes()).decode() == dumps(ledger())
    assert {p.name for p in (tmp_path / "a").rglob("*") if p.is_file()} == set(names)
    for one, other in zip(first.files, second.files, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_files_are_written_all_or_none(tmp_path: Path) -> None:
    (tmp_path / "one").write_text("old", encoding="utf-8")
    (tmp_path / "taken").write_text("a file, not a folder", encoding="utf-8")
    with pytest.raises(InputProblem, match="taken"):
        write_together([(tmp_path / "one", "new"), (tmp_path / "taken" / "two", "new")])
    assert sorted(p.name for p in tmp_path.iterdir()) == ["one", "taken"]
    assert (tmp_path / "one").read_text(encoding="utf-8") == "old"
    write_together([(tmp_path / "one", "new"), (tmp_path / "folder" / "two", "new")])
    assert (tmp_path / "one").read_text(encoding="utf-8") == (tmp_path / "folder" / "two").read_text(encoding="utf-8")


def test_pages_that_a_report_no_longer_has_are_removed_and_nothing_else(tmp_path: Path) -> None:
    written = write(Material(ledger(), [], PAPER), tmp_path)
    (tmp_path / "claims-old.html").write_bytes((tmp_path / "index.html").read_bytes())
    (tmp_path / "mine.html").write_text("<!DOCTYPE html><title>mine</title>", encoding="utf-8")
    write(Material(ledger(), [], PAPER), tmp_path)
    assert {p for p in tmp_path.rglob("*") if p.is_file()} == {*written.files, tmp_path / "mine.html"}


def test_a_folder_that_cannot_be_written_to_is_refused_before_the_work(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert run_command(["report", "--out", str(tmp_path / "file" / "b")]) == 2
    assert "cannot be written to (Not a directory)" in capfd.readouterr()[1]


def test_markdown_follows_from_the_json(tmp_path: Path) -> None:
    document = json.loads(dumps(toy_ledger()))
    first, last = (toy_ledger().entries[place].claim.id for place in (0, -1))
    chapters = (Chapter("first", "The first", (part_of(first),)),)
    files = markdown(document, chapters)
    assert files == markdown(as_json(toy_ledger()), chapters)
    assert list(files) == ["ledger/README.md", "ledger/assumptions.md", "ledger/claims/first.md"]
    assert "(assumptions.md)" in files["ledger/README.md"]
    for ground in grounds(toy_ledger()):
        assert all(statement in files["ledger/assumptions.md"] for statement in ground.statements)
    assert f"[{first}](claims/first.md#" in files["ledger/README.md"]
    assert f"## {first}\n" in files["ledger/claims/first.md"]
    assert f"## {last}\n" in markdown(document, ())["ledger/claims/other.md"]
    assert "PROVED" in files["ledger/README.md"]
    assert not any("\t" in text for text in files.values())

    def drifted() -> list[str]:
        return markdown_drift(document, chapters, tmp_path)

    assert drifted() == [f"ledger/{name}.md is missing" for name in ("README", "assumptions", "claims/first")]
    (tmp_path / "ledger" / "claims").mkdir(parents=True)
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    assert drifted() == []
    for name, text in files.items():
        (tmp_path / name).write_text(text + "typed by hand\n", encoding="utf-8")
        assert drifted() == [f"{name} does not follow from ledger.json"]
        (tmp_path / name).write_text(text, encoding="utf-8")
    for old in ("ledger/old.md", "ledger/claims/old.md"):
        (tmp_path / old).write_text("", encoding="utf-8")
        assert drifted() == [f"{old} is of no chapter"]
        (tmp_path / old).unlink()


def test_every_link_of_the_committed_markdown_leads_to_a_heading() -> None:
    files = {path: path.read_text(encoding="utf-8") for path in (LEDGER.parent / "ledger").rglob("*.md")}
    # A heading's anchor: its letters, digits, - and _ in lower case.
    anchors = {
        name: [
            "".join(x for x in line[3:].lower() if x.isalnum() or x in "-_")
            for line in text.splitlines()
            if line[:3] == "## "
        ]
        for name, text in files.items()
    }
    assert all(len(set(found)) == len(found) for found in anchors.values())
    links = [
        ((path.parent / name).resolve(), anchor)
        for path, text in files.items()
        for name, anchor in re.findall(r"\]\(([\w./-]+\.md)#?([^)]*)\)", text)
    ]
    assert len(links) > 600
    # A link to a file as a whole has no anchor.
    assert [(path, anchor) for path, anchor in links if anchor not in ["", *anchors[path]]] == []
