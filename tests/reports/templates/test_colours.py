"""The colours of the pages, light and dark, read off the style sheet: each theme has all, and text stands out."""

from __future__ import annotations

import re

import pytest

from giantsteps.reports.page.site import TEMPLATES
from giantsteps.verify.protocol.evidence import Outcome
from giantsteps.verify.protocol.verdict import Verdict

CSS = (TEMPLATES / "style.css").read_text(encoding="utf-8")
# WCAG 2, level AA, for text of ordinary size.
AA = 4.5
THEMES = ("light", "dark")
# Of files that give classes.
SUFFIXES = (".html", ".js", ".py")


def colours(theme: str) -> dict[str, str]:
    """The colours of a theme by name."""
    dark = CSS.index("@media (prefers-color-scheme: dark)")
    block = CSS[dark : CSS.index("* {", dark)] if theme == "dark" else CSS[:dark]
    return dict(re.findall(r"--([a-z]+): (#[0-9a-f]+);", block))


def rgb(colour: str) -> tuple[float, ...]:
    """Red, green and blue from 0 to 1."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * one for one in colour[1:])
    return tuple(int(digits[k : k + 2], 16) / 255 for k in (0, 2, 4))


def contrast(front: tuple[float, ...], back: tuple[float, ...]) -> float:
    """The contrast ratio of WCAG 2."""
    linear = [[c / 12.92 if c <= 0.03928 else ((c + 0.055) / 1.055) ** 2.4 for c in one] for one in (front, back)]
    low, high = sorted(0.2126 * r + 0.7152 * g + 0.0722 * b for r, g, b in linear)
    return (high + 0.05) / (low + 0.05)


def test_the_dark_theme_has_every_colour_of_the_light_one() -> None:
    assert set(colours("dark")) == set(colours("light"))
    # What a rule names is a colour of both.
    assert set(re.findall(r"var\(--([a-z]+)\)", CSS)) <= set(colours("light"))


@pytest.mark.parametrize("theme", THEMES)
def test_text_stands_out_from_its_ground(theme: str) -> None:
    found = colours(theme)
    paper, wash = rgb(found["paper"]), rgb(found["wash"])
    verdicts = [verdict.value.lower() for verdict in Verdict]
    for name in ("ink", "soft", "link", *verdicts):
        colour = rgb(found[name])
        assert contrast(colour, paper) >= AA, name
        assert contrast(colour, wash) >= AA, name
        # The ground of a badge has nine per cent of its own colour.
        badge = tuple(0.91 * b + 0.09 * f for f, b in zip(colour, paper, strict=True))
        assert contrast(colour, badge) >= AA or name not in verdicts, name
    # Drawings are made for a light plate.
    assert contrast(rgb("#1b1f24"), rgb(found["plate"])) >= AA
    assert len({found[name] for name in verdicts}) == len(verdicts)


def test_each_outcome_of_an_obligation_has_a_mark_of_its_own() -> None:
    marks = dict(re.findall(r'\.obligations \.(\w+)::before \{ content: "(.) "', CSS))
    assert marks == {"supports": "✓", "refutes": "✗", "undecided": "?"}
    assert set(marks) == {outcome.value for outcome in Outcome}


def test_every_class_that_a_rule_selects_is_given_to_something() -> None:
    rules = re.sub(r'"[^"]*"', "", CSS)
    selectors = re.findall(r"([^{};]+)\{", rules)
    selected = {name for one in selectors if "@" not in one for name in re.findall(r"\.([A-Za-z][\w-]*)", one)}
    rooms = [TEMPLATES, *(TEMPLATES.parent / room for room in ("page", "text", "activation"))]
    sources = (
        file.read_text(encoding="utf-8") for room in rooms for file in room.rglob("*") if file.suffix in SUFFIXES
    )
    given = {
        name
        for source in sources
        for tag in re.findall(r'(?:class=|className: |"class": )\\?"([^>\n]*)', source)
        for name in re.findall(r"[A-Za-z][\w-]*", tag)
    }
    computed = {one.value for one in (*Verdict, *Outcome)}
    assert len(selected) > 40
    assert sorted(selected - given - computed) == []


def test_each_verdict_has_its_own_colour_wherever_it_is_named() -> None:
    rules = re.findall(r"(svg\.graph a)?\.([A-Z]+) \{ color: var\(--(\w+)\)", CSS)
    for place in ("", "svg.graph a"):
        assert {name for where, name, _ in rules if where == place} == {verdict.value for verdict in Verdict}
    assert [(name, colour) for _, name, colour in rules if colour != name.lower()] == []
