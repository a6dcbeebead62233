"""The gallery: stored documents that follow from the code, cards that show them."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from giantsteps.reports.activation.gallery import TARGETS, card, examined, stored
from tests.shared.report_page import broken, site_of, toy_ledger


def same(one: Any, other: Any) -> bool:
    """Equal documents: doubles to seven digits, all else exactly."""
    if isinstance(one, float) and isinstance(other, float):
        return math.isclose(one, other, rel_tol=1e-7, abs_tol=1e-12)
    if isinstance(one, dict):
        return isinstance(other, dict) and one.keys() == other.keys() and all(same(one[k], other[k]) for k in one)
    if isinstance(one, list):
        return isinstance(other, list) and len(one) == len(other) and all(map(same, one, other))
    return bool(one == other)


@pytest.mark.parametrize("name", ["sign", pytest.param("tanh", marks=pytest.mark.thorough)])
def test_what_is_stored_follows_from_the_code(name: str) -> None:
    assert same(examined(name), stored()[name])
    changed = stored()[name] | {"parity": "even"}
    assert not same(changed, stored()[name])


def test_the_pages_show_the_cards() -> None:
    cards = [found for found in map(card, ("sin", "abs")) if found]
    files = site_of(toy_ledger(), gallery=cards)
    assert broken(files) == []
    table, page = files["gallery.html"], files["activations/sin.html"]
    square = (1.0 - math.exp(-2.0)) / 2.0
    assert f'data-value="{square:.4f}"'[:18] in table  # h2 of a sine, by its closed form
    assert table.count("no spike</td>") == len(TARGETS)  # an even activation
    for found in cards:
        for goal in found.goals:
            bounds, learning = (found.document["targets"][goal.target][key] for key in ("bounds", "learning"))
            shown = (goal.lower, goal.upper, goal.at_best, goal.best_spike)
            values = (bounds["lower"], bounds["upper"], learning["upper_at_best_spike"], learning["best_spike"])
            scales = (learning["target_square"],) * 3 + (1.0,)
            assert shown == tuple(None if v is None else v / s for v, s in zip(values, scales, strict=True))
    # A sine learns a sine perfectly, mu0 being one.
    assert re.search(r'<td class="n" data-value="[^"]*e-1\d">0</td>', table) or '">0</td>' in table
    assert '<svg role="img"' in page
    assert "giantsteps activation" in page
