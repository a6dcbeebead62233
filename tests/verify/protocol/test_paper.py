"""A paper whose parts do not fit each other is refused when it is made, and says which."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
import sympy as sp

from giantsteps.derivations.language.glossary import GlyphError
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.paper import OTHER, Chapter, PaperError, chapter_of, part_of

UNKNOWN = sp.Symbol("unheard_of")


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"name": "another paper"}, "'another paper' is none of its sources"),
        ({"growing": PAPER.growing | {UNKNOWN}}, "not in its glossary: unheard_of"),
        ({"siblings": (*PAPER.siblings, (UNKNOWN, sp.S.One))}, "not in its glossary: unheard_of"),
        ({"sources": (*PAPER.sources, PAPER.sources[0])}, "sources of one name"),
        ({"chapters": (*PAPER.chapters, PAPER.chapters[-1])}, "parts of chapters of one name"),
        ({"errata": (*PAPER.errata, PAPER.errata[0])}, "errata of one name"),
        ({"conventions": (*PAPER.conventions, PAPER.errata[0])}, "errata of one name"),
        ({"errata": (*PAPER.errata, replace(PAPER.errata[0], id="another"))}, "errata on printed claims of one name"),
    ],
)
def test_what_does_not_fit_is_refused(changes: dict[str, Any], words: str) -> None:
    assert replace(PAPER).errata == PAPER.errata
    with pytest.raises(PaperError, match=words):
        replace(PAPER, **changes)


def test_a_glossary_has_each_name_once() -> None:
    with pytest.raises(GlyphError, match="symbols of one name"):
        replace(PAPER, symbols=(*PAPER.symbols, PAPER.symbols[0]))


def test_a_claim_stands_in_the_chapter_of_its_part() -> None:
    chapters = (Chapter("a", "A", ("one", "two")), Chapter("b", "B", ("three",)))
    assert part_of("two.of.three") == "two"
    assert [chapter_of(id_, chapters).slug for id_ in ("two.x", "three.two", "four.one")] == ["a", "b", OTHER.slug]
