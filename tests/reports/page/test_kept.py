"""What parts of the report made is used again while nothing changes that they rest on, and never otherwise."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from giantsteps.reports.command_line import console
from giantsteps.reports.command_line.machine import kept as kept_module
from giantsteps.reports.command_line.machine import workers
from giantsteps.reports.command_line.machine.kept import Kept, forget, ground, kept_at
from giantsteps.reports.page import build, described
from giantsteps.reports.page.described import DescribedModule
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.ledger.document import dumps
from giantsteps.verify.ledger.run import Beside, run
from tests.shared import toy

ROOT = Path(build.__file__).parent.parent.parent


class Counted:
    """A unit of work that knows how often it ran."""

    def __init__(self) -> None:
        self.runs: list[int] = []

    def __call__(self, number: int) -> dict[str, int]:
        self.runs.append(number)
        return {"found": number**2}


def test_a_unit_runs_once(tmp_path: Path) -> None:
    kept, work = Kept(tmp_path / "ground"), Counted()
    assert [kept.unit("three", work, 3) for _ in range(3)] == [{"found": 9}] * 3
    assert kept.unit("four", work, 4) == {"found": 16}
    assert work.runs == [3, 4]
    assert kept.count == 2
    # On another ground it runs again, and where nothing is kept every time.
    Kept(tmp_path / "other").unit("three", work, 3)
    Kept(None).unit("three", work, 3)
    assert work.runs == [3, 4, 3, 3]


@pytest.mark.parametrize("place", [0, 31, 32, -1, None])
def test_a_damaged_file_is_made_again(tmp_path: Path, place: int | None) -> None:
    kept, work = Kept(tmp_path / "ground"), Counted()
    kept.unit("three", work, 3)
    (path,) = (tmp_path / "ground").iterdir()
    whole = path.read_bytes()
    damaged = bytearray(whole)
    if place is None:
        del damaged[len(damaged) // 2 :]
    else:
        damaged[place] ^= 1
    path.write_bytes(damaged)
    assert kept.unit("three", work, 3) == {"found": 9}
    assert work.runs == [3, 3]
    assert path.read_bytes() == whole


def test_another_version_of_a_package_is_another_ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def grounds(**versions: str) -> str:
        found = [SimpleNamespace(metadata={"Name": name}, version=version) for name, version in versions.items()]
        monkeypatch.setattr(kept_module, "distributions", lambda: found)
        return ground(tmp_path, ())

    before = grounds(numpy="2.1", sympy="1.14")
    assert grounds(sympy="1.14", numpy="2.1") == before  # in whatever order they are found
    assert (
        len({before, grounds(numpy="2.2", sympy="1.14"), grounds(numpy="2.1"), grounds(numpy="1.14", sympy="2.1")}) == 4
    )


def test_what_failed_is_not_kept(tmp_path: Path) -> None:
    def failing() -> None:
        raise ArithmeticError

    kept = Kept(tmp_path / "ground")
    for _ in range(2):
        with pytest.raises(ArithmeticError):
            kept.unit("it", failing)
    assert kept.count == 0


def test_what_cannot_be_kept_is_handed_on(tmp_path: Path) -> None:
    (tmp_path / "ground").write_text("no folder", encoding="utf-8")
    kept, work = Kept(tmp_path / "ground"), Counted()
    assert [kept.unit("three", work, 3) for _ in range(2)] == [{"found": 9}] * 2
    assert work.runs == [3, 3]


def test_what_an_edited_source_made_is_not_kept(tmp_path: Path) -> None:
    source = tmp_path / "tree" / "numerics" / "rule.py"
    source.parent.mkdir(parents=True)
    source.write_text("before", encoding="utf-8")

    def kept() -> Kept:
        return kept_at(tmp_path / "kept", tmp_path / "tree", ("numerics",))

    first = kept()
    source.write_text("edited", encoding="utf-8")
    assert first.unit("rule", source.read_text) == "edited"
    source.write_text("before", encoding="utf-8")
    assert kept().unit("rule", source.read_text) == "before"
    assert kept().count == 1


def test_who_interrupts_is_told_what_is_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kept = Kept(tmp_path / "ground")
    kept.unit("three", Counted(), 3)
    for quiet, said in ((False, "giantsteps: 1 part of the work is kept"), (True, "")):
        with pytest.raises(KeyboardInterrupt), build.telling(kept, Kept(None), quiet=quiet):
            raise KeyboardInterrupt
        assert capsys.readouterr().err.startswith(said)
    with pytest.raises(KeyboardInterrupt), build.telling(Kept(None), quiet=False):
        raise KeyboardInterrupt
    assert capsys.readouterr().err == ""


def test_the_report_counts_to_its_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted: list[object] = []

    class Counting(console.Progress):
        def __init__(self, *given: object, **more: object) -> None:
            super().__init__(*given, **more)  # type: ignore[arg-type]
            counted.append(self)

    def run_all(profile: str, ids: None, executor: object, tell: Callable[[str], None], beside: Beside) -> str:
        beside.answers.update({name: DescribedModule((), ("x", name)) for name in PAPER.modules})
        for name in PAPER.modules:
            tell(name)
        return profile

    @contextmanager
    def here(near: Sequence[str]) -> Iterator[ThreadPoolExecutor]:
        with ThreadPoolExecutor(1) as executor:
            yield executor

    monkeypatch.setattr(console, "Progress", Counting)
    monkeypatch.setattr(workers, "pool", here)
    made: dict[str, object] = {"all_claims": lambda: (), "run": run_all, "network_trial": lambda: None}
    made |= {"study_of": lambda name: None, "card": lambda name: name, "draw": lambda name: name}
    for name, instead in made.items():
        monkeypatch.setattr(build, name, instead)
    written: list[tuple[object, ...]] = []
    remembered: list[str] = []
    monkeypatch.setattr(build, "blocks", lambda formulas: dict.fromkeys(formulas, "made"))
    monkeypatch.setattr(build, "remember", lambda made: remembered.extend(made))
    monkeypatch.setattr(build, "write", lambda *given, **more: written.append(given))
    build.build("quick", tmp_path, quiet=True)
    (progress,) = counted
    assert isinstance(progress, console.Progress)
    assert progress.done == progress.total
    assert progress.total > len(PAPER.modules) + len(build.STUDIES)
    ((ledger, derivations, figures, _, trial, studies, cards),) = written
    assert (ledger, derivations, trial, studies, cards) == ("quick", [], None, [], list(build.ACTIVATIONS))
    assert figures == [drawing.__name__ for drawing in build.all_figures()]
    # Each formula is converted once, whatever modules show it.
    assert sorted(remembered) == sorted(["x", *PAPER.modules])


def files(root: Path) -> Iterator[Path]:
    sources, samples = ("numerics/solver.py", "numerics/deep/rule.py"), ("benchmarks/sample.json", "samples/width.json")
    for name in (*sources, *samples, "reports/ledger.json"):
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name, encoding="utf-8")
        yield path


def test_the_ground_changes_with_every_file_of_its_parts(tmp_path: Path) -> None:
    *inside, ledger = files(tmp_path)
    parts = ("numerics", "benchmarks/sample.json", "samples", "reports")

    def now() -> str:
        return ground(tmp_path, parts, but={ledger})

    seen = {now()}
    ledger.write_text("{}", encoding="utf-8")
    (tmp_path / "numerics" / "notes.md").write_text("", encoding="utf-8")
    assert {now()} == seen
    for path in inside:
        path.write_text("changed", encoding="utf-8")
        seen.add(now())
    inside[0].rename(tmp_path / "numerics" / "renamed.py")
    seen.add(now())
    assert len(seen) == len(inside) + 2


def test_what_is_older_is_forgotten(tmp_path: Path) -> None:
    old, new = Kept(tmp_path / "old"), Kept(tmp_path / "new")
    for kept in (old, new):
        kept.unit("three", Counted(), 3)
    forget(tmp_path, but=[new])
    assert (old.count, new.count) == (0, 1)
    forget(tmp_path)
    assert new.count == 0


def test_claims_rest_on_no_other_part_of_the_reports() -> None:
    """Their ground holds one file of the reports: what it imports has to lie in it, too."""
    source = Path(described.__file__)
    assert source.relative_to(ROOT).as_posix() in build._MATHEMATICS
    for node in ast.walk(ast.parse(source.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom):
            assert not (node.module or "").startswith("giantsteps.reports")
    for part in (*build._MATHEMATICS, *build._DRAWN):
        assert (ROOT / part).exists()


def test_a_ledger_of_kept_results_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("toy_claims")
    by_numbers = toy.claim(id="toy.other", checks=toy.claim().checks[1:], title="another")
    module.CLAIMS = (toy.claim(), by_numbers)  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, module.__name__, module)
    paper = replace(PAPER, modules=(module.__name__,))
    kept = Kept(tmp_path / "ground")
    asked: list[str] = []

    def ledger(*ids: str, profile: str = "quick") -> str:
        beside = Beside(lambda name, _: asked.append(name) or len(name), unit=kept.unit)  # type: ignore[func-returns-value]
        found = run(paper, profile, ids, beside=beside)
        assert beside.answers == {module.__name__: len(module.__name__)}
        return dumps(found)

    first = ledger("toy.limit")
    assert ledger("toy.limit") == first
    assert len(asked) == kept.count == 1
    # Other claims, another profile: nothing of that run serves.
    ledger("toy.other")
    ledger("toy.limit", profile="thorough")
    assert len(asked) == kept.count == 3
