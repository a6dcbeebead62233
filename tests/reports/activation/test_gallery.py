"""The gallery: stored documents that follow from the code, cards that show them."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.reports.activation.gallery import ACTIVATIONS, TARGETS, Goal, card, examined, percent, spark, stored
from giantsteps.reports.activation.latex import rows
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


def test_every_activation_is_stored_with_its_targets() -> None:
    assert list(stored()) == list(ACTIVATIONS)
    assert len(stored()) == 20
    for name, document in stored().items():
        assert document["expression"] == str(activation(ACTIVATIONS[name]))
        assert tuple(document["targets"]) == TARGETS


@pytest.mark.parametrize("name", ["sign", pytest.param("tanh", marks=pytest.mark.thorough)])
def test_what_is_stored_follows_from_the_code(name: str) -> None:
    assert same(examined(name), stored()[name])
    changed = stored()[name] | {"parity": "even"}
    assert not same(changed, stored()[name])


def test_the_formulas_say_what_their_numbers_are() -> None:
    # On a fine grid, apart from the rules and the balls: a jump costs a step of it.
    z = np.linspace(-12.0, 12.0, 240_001)
    weight = np.exp(-(z**2) / 2.0)
    weight /= weight.sum()
    for name in ("relu", "sin", "he3"):
        values = compile_numpy(activation(ACTIVATIONS[name]).expression)(z)
        found = dict(rows(stored()[name]))
        seen = 0
        for label, value in found.items():
            order = re.match(r"s_\{(\d)\} = .*He\}_\{\1\}\(z\)\\,\\sigma\(z\)\](/\\sqrt\{\1!\})?$", label)
            if order is None:
                continue
            k = int(order[1])
            assert bool(order[2]) == (k > 1)
            hermite = np.polynomial.hermite_e.hermeval(z, [0.0] * k + [1.0])
            expected = float(weight @ (hermite * values)) / (math.sqrt(math.factorial(k)) if order[2] else 1.0)
            assert float(value.split(" ")[0]) == pytest.approx(expected, abs=1e-7)
            seen += 1
        assert seen == 7
        # The three constants as their names define them, with the slope from differences of the function.
        h1, slope = float(weight @ (z * values)), np.gradient(values, z)
        defined = {
            r"h_1 = \mathbb{E}[z\,\sigma(z)]": h1,
            r"h_2 = \mathbb{E}[\sigma(z)^2]": float(weight @ values**2),
            r"\check{h}_1 = \mathbb{E}[(\sigma'(z) - h_1)^2]": float(weight @ (slope - h1) ** 2),
        }
        assert list(found)[:3] == list(defined)
        for label, expected in defined.items():
            # A kink costs the difference a step, 1e-4, of a slope that jumps by one.
            assert float(found[label].split(" ")[0]) == pytest.approx(expected, abs=1e-4)
        forms = {name: value for name, value in found.items() if "x +" in name}
        mean, slopes, square = (rf"\mathbb{{E}}[\sigma(x + \sqrt{{c}}\,z){power}]" for power in ("", "", "^2"))
        assert list(forms) == [mean, r"\partial_x " + slopes, square]


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


def test_shares_are_shown_as_they_are_known() -> None:
    assert [percent(x) for x in (None, 1e-14, 0.000063, 0.0194, 0.44, 0.9961, 1.0)] == [
        "", "0", "0.0063 %", "1.9 %", "44 %", "100 %", "100 %",
    ]  # fmt: skip


def test_the_small_graph_is_the_function() -> None:
    x = np.linspace(-3.0, 3.0, 61)
    found = re.search(r'points="([^"]+)"', spark(x**2))
    assert found is not None
    heights = [float(point.split(",")[1]) for point in found[1].split()]
    assert heights[30] == max(heights)  # the least value is drawn lowest
    assert heights[0] == heights[-1] == min(heights)


def test_a_best_spike_on_its_way_to_zero_says_so() -> None:
    said = [Goal("z", 1.0, 0.5, 0.5, spike, 0.5, 6.0).spike for spike in (None, 2.4e-6, 2e-5, 0.3, 6.0)]
    assert said == ["any", "towards 0", "towards 0", "0.3", "6 or more"]
