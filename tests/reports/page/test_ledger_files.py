"""The files of a report: a ledger that is the same every time, Markdown that follows from JSON, drift."""

from __future__ import annotations

import dataclasses
import errno
import json
import lzma
import re
from pathlib import Path

import pytest

import giantsteps.reports.page.build
from giantsteps.reports.command_line.cli import run as run_command
from giantsteps.reports.command_line.problems import InputProblem
from giantsteps.reports.page.build import write
from giantsteps.reports.page.described import describe
from giantsteps.reports.text import ledger_files
from giantsteps.reports.text.ledger_files import write_together
from giantsteps.reports.text.ledger_markdown import markdown, markdown_drift
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.document import as_json, dumps
from giantsteps.verify.ledger.drift import drift
from giantsteps.verify.ledger.leaves import grounds
from giantsteps.verify.ledger.run import Ledger
from giantsteps.verify.protocol.paper import Chapter, part_of
from giantsteps.verify.protocol.verdict import Verdict
from tests.shared import toy
from tests.shared.report_page import toy_figures, toy_ledger

LEDGER = Path(__file__).resolve().parent.parent.parent.parent / "reports" / "ledger.json"


def test_the_ledger_is_the_same_file_every_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(giantsteps.reports.page.build, "in_source_checkout", lambda: False)
    derivations = [describe(toy.derivation())]
    first = write(toy_ledger(), derivations, toy_figures(), tmp_path / "a")
    toy_ledger.cache_clear()
    second = write(toy_ledger(), derivations, toy_figures(), tmp_path / "b")
    names = [p.name for p in first.files]
    assert names[0] == "index.html"
    assert names[-1] == "ledger.json.xz"
    assert lzma.decompress(first.files[-1].read_bytes()).decode() == dumps(toy_ledger())
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


def test_pages_that_a_report_no_longer_has_are_removed_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(giantsteps.reports.page.build, "in_source_checkout", lambda: False)
    written = write(toy_ledger(), [], [], tmp_path)
    (tmp_path / "claims-old.html").write_bytes((tmp_path / "index.html").read_bytes())
    (tmp_path / "mine.html").write_text("<!DOCTYPE html><title>mine</title>", encoding="utf-8")
    write(toy_ledger(), [], [], tmp_path)
    assert {p for p in tmp_path.rglob("*") if p.is_file()} == {*written.files, tmp_path / "mine.html"}


def test_markdown_follows_from_the_json(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    document = json.loads(dumps(toy_ledger()))
    first, last = (toy_ledger().entries[place].claim.id for place in (0, -1))
    chapters = (Chapter("first", "The first", (part_of(first),)),)
    files = markdown(document, chapters)
    assert files == markdown(as_json(toy_ledger()), chapters)
    assert list(files) == ["ledger/README.md", "ledger/leaves.md", "ledger/claims/first.md"]
    assert "(leaves.md)" in files["ledger/README.md"]
    for ground in grounds(toy_ledger()):
        assert all(statement in files["ledger/leaves.md"] for statement in ground.statements)
    assert f"[{first}](claims/first.md#" in files["ledger/README.md"]
    assert f"## {first}\n" in files["ledger/claims/first.md"]
    assert f"## {last}\n" in markdown(document, ())["ledger/claims/other.md"]
    assert "PROVED" in files["ledger/README.md"]
    assert not any("\t" in text for text in files.values())

    def drifted() -> list[str]:
        return markdown_drift(document, chapters, tmp_path)

    assert drifted() == [f"ledger/{name}.md is missing" for name in ("README", "leaves", "claims/first")]
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


def test_the_drift_check_reads_the_markdown_beside_the_ledger_and_passes_on_what_failed(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import giantsteps.reports.commands.verify

    ran = toy_ledger()
    monkeypatch.setattr(giantsteps.reports.commands.verify, "run_ledger", lambda profile, ids, quiet: ran)
    monkeypatch.setattr(ledger_files, "COMMITTED_JSON", tmp_path / "ledger.json")

    def check() -> tuple[int, str, str]:
        answer = run_command(["report", "--check"])
        return answer, *capfd.readouterr()

    def commit() -> dict[str, str]:
        document = as_json(ran)
        files = {"ledger.json": dumps(ran), **markdown(json.loads(dumps(ran)), PAPER.chapters)}
        for name, text in files.items():
            (tmp_path / name).parent.mkdir(exist_ok=True)
            (tmp_path / name).write_text(text, encoding="utf-8")
        assert drift(json.loads(files["ledger.json"]), document) == []
        return files

    assert check()[0] == 2  # nothing to compare with
    files = commit()
    assert check()[0] == 0
    name = next(name for name in files if name.endswith(".md"))
    (tmp_path / name).write_text(files[name].replace("e", "E", 1), encoding="utf-8")
    answer, out, err = check()
    assert (answer, f"{name} does not follow" in err, "1 differences" in out) == (1, True, True)
    (tmp_path / name).unlink()
    answer, out, err = check()
    assert (answer, f"{name} is missing" in err) == (1, True)
    # A refuted claim is no success, committed or not; one that was INCONCLUSIVE and is so is as committed.
    entry = toy_ledger().entries[0]
    for verdict, code in ((Verdict.REFUTED, 1), (Verdict.INCONCLUSIVE, 0)):
        ran = Ledger("quick", (dataclasses.replace(entry, verdict=verdict),))
        commit()
        answer, out, _ = check()
        assert (answer, "no drift" in out) == (code, True)


def test_a_directory_that_cannot_be_written_to_is_refused_before_the_work(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(giantsteps.reports.page.build, "build", lambda *_, **__: pytest.fail("the work was begun"))
    (tmp_path / "file").touch()
    # Whoever runs the tests may be allowed to write everywhere; a full disk lets nobody.
    monkeypatch.setattr("tempfile.TemporaryFile", refuse_full)
    for out, why in ((tmp_path / "file" / "b", "Not a directory"), (tmp_path / "a", "No space left on device")):
        assert run_command(["report", "--out", str(out)]) == 2
        assert f"cannot be written to ({why})" in capfd.readouterr()[1]


def refuse_full(**_: object) -> None:
    raise OSError(errno.ENOSPC, "No space left on device")
