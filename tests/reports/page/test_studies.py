"""The list of the studies: every module on it is there and has a study, and what the pages tell to run is there too."""

from __future__ import annotations

import re
from importlib.util import find_spec
from pathlib import Path

from giantsteps.reports.built_in.studies import ALSO, STUDIES
from giantsteps.reports.measurements.experiments import Measurement
from giantsteps.reports.measurements.study import Study, command
from giantsteps.reports.page.studies import figure_places, found_at

ROOT = Path(__file__).parents[3]


def test_every_study_of_the_report_is_where_the_list_says() -> None:
    found = [found_at(name) for name in STUDIES]
    assert all(isinstance(one, Measurement) or callable(one) for one in found)
    assert find_spec(command("any").split()[2]) is not None


def test_the_figures_of_the_paper_are_listed_in_their_order() -> None:
    titles = {"width": "Wide", "figure_6": "Figure 6: letters", "figure_2": "Figure 2: batches", "speed": "Speed: all"}
    found = figure_places([Study(slug, title, ()) for slug, title in titles.items()], ALSO)
    assert found == [
        ("Figure 2", "batches", "study-figure-2"), ("Figure 5", "Wide", "study-width"),
        ("Figure 6", "letters", "study-figure-6"),
    ]  # fmt: skip
    slugs = {one.slug for one in map(found_at, STUDIES) if isinstance(one, Measurement)}
    assert {"width", "vocabulary"} == slugs & set(ALSO)


def test_every_module_that_a_text_tells_to_run_is_there() -> None:
    # The change log may name what was there.
    texts = [ROOT / "Makefile", ROOT / "README.md", ROOT / "CONTRIBUTING.md"]
    texts += set((ROOT / "docs").rglob("*.md")) - {ROOT / "docs" / "changelog_old.md"}
    texts += [
        path for room in ("reports", "benchmarks") for kind in ("*.py", "*.html") for path in (ROOT / room).rglob(kind)
    ]
    told = {
        module
        for path in texts
        for module in re.findall(
            r"python -m ((?:benchmarks|giantsteps)[\w.]*\w(?![{\w.]))", path.read_text(encoding="utf-8")
        )
    }
    assert len(told) > 5
    assert sorted(module for module in told if find_spec(module) is None) == []
