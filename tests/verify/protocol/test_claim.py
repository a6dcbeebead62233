"""What a claim is made of: domains and profiles."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import pytest

from giantsteps.verify.protocol.claim import PROFILES


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
