"""Breakpoints that are known to a ball: what lies between its middle and the true place is in the radius."""

from __future__ import annotations

import math
from typing import Any

import pytest
from flint import arb

from onestep.derivations.activations.activation import activation
from onestep.numerics.balls import integrals
from onestep.numerics.balls.integrals import Moment, expectations

PLACE, WIDTH = 0.3, 1e-3


@pytest.mark.parametrize("off", [-0.999, -0.5, 0.0, 0.5, 0.999])
@pytest.mark.parametrize(
    ("text", "height"),
    [
        # Zero on one side: the sliver of the other is all there is.
        ("step(z-3/10)", 1.0),
        ("7*step(3/10-z)", 7.0),
        # Both sides count; which of them the middle puts wrong is not known.
        ("Piecewise((5, z < 3/10), (2, True))", 3.0),
    ],
)
def test_a_sliver_at_a_breakpoint_is_in_the_radius_and_is_no_wider(
    text: str, height: float, off: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    right = expectations(activation(text), (Moment(sigma=1),), bits=64)[0]

    def blurred(_: Any) -> Any:
        return arb(PLACE + off * WIDTH, WIDTH)

    monkeypatch.setattr(integrals, "location_ball", blurred)
    found = expectations(activation(text), (Moment(sigma=1),), bits=16)[0]
    assert found.contains(right)
    # The middle is off by the height of the jump times the density there: 1e-5 for what 16 bits leave.
    density = math.exp(-PLACE * PLACE / 2.0) / math.sqrt(2.0 * math.pi)
    moved = abs(float(found.mid()) - float(right.mid()))
    assert moved == pytest.approx(height * density * abs(off) * WIDTH, rel=5e-3, abs=1e-5)
    # The radius is that of the slivers of both branches, their heights added up.
    both = {1.0: 1.0, 7.0: 7.0, 3.0: 7.0}[height]
    assert float(found.rad()) == pytest.approx(both * density * WIDTH, rel=5e-3, abs=1e-5)


def test_a_constant_that_is_no_polynomial_has_no_slope() -> None:
    # Its slope is zero and has no logarithm: the widest step was sought by one, and no number came out.
    function = activation("cosh(97) + 1")
    slope = expectations(function, (Moment(slope=1),), bits=60)[0]
    assert slope.contains(0)
    assert slope.rad() < 1e-15
    mean = expectations(function, (Moment(sigma=1),), bits=60)[0]
    assert mean.overlaps(arb(97).cosh() + 1)
