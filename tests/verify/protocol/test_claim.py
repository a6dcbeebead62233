"""What a claim is made of: domains and profiles."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import pytest
import sympy as sp

from giantsteps import verify
from giantsteps.verify.protocol.claim import PROFILES, Range


def test_a_range_is_the_unit_interval_unless_it_says_more() -> None:
    found = Range(sp.Symbol("x"))
    assert (found.low, found.high, found.log, found.choices) == (0.0, 1.0, False, ())


@pytest.mark.parametrize("name", PROFILES)
def test_a_profile_doubles_its_dimensions(name: str) -> None:
    profile = PROFILES[name]
    assert profile.name == name
    # An extrapolation in 1/d reads three of them, evenly spaced in the logarithm.
    assert len(profile.dimensions) == 3
    assert all(larger == 2 * smaller for smaller, larger in pairwise(profile.dimensions))
    assert profile.points == profile.examples


def test_another_seed_makes_none_of_the_same_draws() -> None:
    committed, fresh, other = (replace(PROFILES["quick"], seed=seed).draws(80) for seed in (0, 1, 2))
    assert committed == range(480)
    assert len(fresh) == len(other) == 480
    assert not {*committed} & {*fresh} | {*fresh} & {*other}


def test_every_experiment_draws_what_the_profile_says() -> None:
    """A count of seeds would be the committed draws, whatever the seed; two experiments ask how many there are."""
    room = Path(verify.__file__).parent
    counted = [path.name for path in room.rglob("*.py") if "profile.seeds" in path.read_text(encoding="utf-8")]
    assert sorted(counted) == ["letter_networks.py", "twins.py"]


def test_each_profile_looks_at_no_less_than_the_one_before() -> None:
    for less, more in pairwise(PROFILES[name] for name in ("quick", "ci", "thorough")):
        assert less.points <= more.points
        assert less.seeds <= more.seeds
        assert all(a <= b for a, b in zip(less.dimensions, more.dimensions, strict=True))
    # A mean over four times the seeds, each twice as precise in its variance.
    assert PROFILES["thorough"].seeds == 4 * PROFILES["quick"].seeds
    assert PROFILES["thorough"].dimensions[0] == 2 * PROFILES["quick"].dimensions[0]
