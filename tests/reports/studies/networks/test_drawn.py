"""The networks of any activation that are on trial are those that the seed drew."""

from __future__ import annotations

import pytest

from giantsteps.reports.studies.networks.drawn import ACTIVATIONS, COUNT, DRAW, FOLDER, RANGES, TARGETS, draw, draw_text


def test_the_stored_list_is_what_the_seed_draws() -> None:
    assert (FOLDER / "draw.json").read_text(encoding="utf-8") == draw_text(draw(DRAW), DRAW)


@pytest.mark.parametrize("seed", [DRAW, 1])
def test_a_draw_fills_its_ranges(seed: int) -> None:
    found = draw(seed)
    assert len(found) == COUNT == 2 * len(ACTIVATIONS)
    assert {entry.target for entry in found} == set(TARGETS)
    for first, second in zip(found[::2], found[1::2], strict=True):
        assert first.target != second.target
    for name, (low, high) in RANGES.items():
        values = sorted(float(getattr(entry, name)) for entry in found)
        # The outermost of 24 cells; half a unit of the third digit of what was drawn.
        share = (high - low) / COUNT if name == "noise" else low * ((high / low) ** (1.0 / COUNT) - 1.0)
        assert low * 0.995 <= values[0] <= (low + share) * 1.005
        assert values[-1] <= high * 1.005


def test_other_seeds_draw_other_networks() -> None:
    assert not {entry.drawn.name for entry in draw(DRAW)} & {entry.drawn.name for entry in draw(1)}
