"""Evidence in words: what one check caught alone, of its own mutants and of generic ones."""

from __future__ import annotations

from typing import Any

import pytest

from giantsteps.reports.text.words import caught_words

CHECK, OTHER = "simulation: one", "derivation: other"


def power(caught: int, missed: tuple[str, ...], generic: tuple[tuple[str, ...], ...]) -> dict[str, Any]:
    """The score of CHECK; a generic neighbour is the checks that caught it."""
    listed = [{"name": f"generic {k}", "caught_by": list(by)} for k, by in enumerate(generic)]
    scored = {"earned_by": CHECK, "caught_alone": caught, "of": caught + len(missed), "missed": list(missed)}
    return scored | {"generic": listed}


@pytest.mark.parametrize(
    ("score", "said"),
    [
        (power(3, (), ()), "caught 3 of 3 alone"),
        (power(7, (), ((CHECK,), (CHECK,))), "caught 7 of 7 alone, 5 of 5 of its own"),
        # Nine in all, three of them generic; of these one is missed, and one is caught by another check too.
        (
            power(7, ("a sign", "generic 1"), ((CHECK,), (OTHER,), (OTHER, CHECK))),
            "caught 7 of 9 alone, 5 of 6 of its own; missed: a sign, generic 1",
        ),
        (
            power(1, ("generic 0", "generic 1"), ((), ())),
            "caught 1 of 3 alone, 1 of 1 of its own; missed: generic 0, generic 1",
        ),
        (power(0, (), ()), "caught 0 of 0 alone: no mutant was tried"),
    ],
)
def test_the_own_ones_are_counted_without_the_generic_ones_that_were_caught(score: dict[str, Any], said: str) -> None:
    assert caught_words(score) == said
