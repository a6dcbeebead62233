"""What is printed of a certificate is certain."""

from __future__ import annotations

import pytest
from flint import arb

from giantsteps.numerics.certificates.certify import SIDES, box_texts


@pytest.mark.parametrize("sides", [names for names in SIDES.values() if names])
@pytest.mark.parametrize("turned", [1, -1])
def test_the_box_that_is_printed_lies_inside_of_the_one_that_was_certified(sides: tuple[str, ...], turned: int) -> None:
    # Sides of either sign and one around zero.
    middles = [turned * middle for middle in (1, -2, 0, 5)][: len(sides)]
    box = [arb(middle, arb(1) / 3) for middle in middles]
    printed = box_texts(tuple(box))
    assert list(printed) == list(sides)
    for (low, high), ball, middle in zip(printed.values(), box, middles, strict=True):
        assert float(low) > ball.lower()
        assert float(high) < ball.upper()
        # No more is taken off than rounding: the radius of a ball has thirty bits.
        assert (float(low), float(high)) == pytest.approx((middle - 1 / 3, middle + 1 / 3), abs=1e-8)
