"""The colours of the pages, light and dark, read off the style sheet: each theme has all, and text stands out."""

from __future__ import annotations

import re

from giantsteps.reports.page.site import TEMPLATES
from giantsteps.verify.protocol.evidence import Outcome
from giantsteps.verify.protocol.verdict import Verdict

CSS = (TEMPLATES / "style.css").read_text(encoding="utf-8")


def colours(theme: str) -> dict[str, str]:
    """The colours of a theme by name."""
    dark = CSS.index("@media (prefers-color-scheme: dark)")
    block = CSS[dark : CSS.index("* {", dark)] if theme == "dark" else CSS[:dark]
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]+);", block))


def test_the_dark_theme_has_every_colour_of_the_light_one() -> None:
    assert set(colours("dark")) == set(colours("light"))
    # What a rule names is a colour of both.
    assert set(re.findall(r"var\(--([a-z]+)\)", CSS)) <= set(colours("light"))


def test_each_outcome_of_an_obligation_has_a_mark_of_its_own() -> None:
    marks = dict(re.findall(r'\.obligations \.(\w+)::before \{ content: "(.) "', CSS))
    assert marks == {"supports": "✓", "refutes": "✗", "undecided": "?"}
    assert set(marks) == {outcome.value for outcome in Outcome}


def test_each_verdict_has_its_own_colour_wherever_it_is_named() -> None:
    rules = re.findall(r"(svg\.graph a)?\.([A-Z]+) \{ color: var\(--(\w+)\)", CSS)
    for place in ("", "svg.graph a"):
        assert {name for where, name, _ in rules if where == place} == {verdict.value for verdict in Verdict}
    assert [(name, colour) for _, name, colour in rules if colour != name.lower()] == []
