"""Krawczyk's test: it passes where it may, and fails for a wrong Jacobian and for a box without a solution."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.newton import Box, System, Zero, krawczyk, krawczyk_near

Ball = Any


def circle_and_line(change: Callable[[Ball], Ball] = lambda x: x) -> System:
    """x^2 + y^2 = 2 and x = y, zeros (1, 1) and (-1, -1); `change` spoils one entry of the Jacobian."""

    def values(box: Box) -> Sequence[Ball]:
        x, y = box
        return x * x + y * y - 2, x - y

    def slopes(box: Box) -> Sequence[Sequence[Ball]]:
        x, y = box
        return (change(2 * x), 2 * y), (arb(1), arb(-1))

    return System(values, slopes)


def around(x: float, y: float, radius: float) -> Box:
    return arb(x, radius), arb(y, radius)


def test_the_zero_is_found_and_refined() -> None:
    with precision(200):
        found = krawczyk(circle_and_line(), around(1.01, 0.98, 0.1))
        assert isinstance(found, Zero)
        assert all(x.contains(1) and x.rad() < arb(10) ** -50 for x in found.enclosure)
        assert found.contraction < 1


@pytest.mark.parametrize(
    ("box", "what"),
    [
        ((1.5, 1.5, 0.1), "no zero"),
        ((1.2, 1.0, 0.15), "the zero outside by a little"),
        ((0.0, 0.0, 1.5), "two zeros"),
        ((0.2, 0.2, 1.0), "one zero, and a box too wide to decide"),
    ],
)
def test_boxes_without_exactly_one_zero_fail(box: tuple[float, float, float], what: str) -> None:
    with precision(100), pytest.raises(BallError, match=r"Krawczyk test failed|not invertible"):
        krawczyk(circle_and_line(), around(*box))


@pytest.mark.parametrize(
    "change",
    [lambda x: -x, lambda x: 2 * x, lambda x: x * arb("1.02"), lambda x: x + 1, lambda x: arb(0), lambda x: x.mid()],
    ids=["sign", "twice", "two per cent", "shifted", "zero", "without its width"],
)
def test_a_wrong_jacobian_fails(change: Callable[[Ball], Ball]) -> None:
    # A box of one per cent: slopes are then known to two digits, and a Jacobian wrong by as much is found out.
    with precision(100), pytest.raises(BallError, match=r"Krawczyk test failed|not invertible"):
        krawczyk(circle_and_line(change), around(1.0, 1.0, 0.005))


def square_of(parameter: Ball, drift: bool = True) -> System:
    """x^2 = p for all p of a ball."""
    offset = parameter - parameter.mid()

    def values(box: Box) -> Sequence[Ball]:
        return (box[0] * box[0] - parameter.mid(),)

    return System(values, lambda box: ((2 * box[0],),), (lambda box: (arb(-1),)) if drift else None, offset)


def test_a_parameter_moves_the_zero_within_its_box() -> None:
    with precision(100):
        parameter = arb(2, 0.1)
        found = krawczyk_near(square_of(parameter), (arb(1.4142, 0.02),), (arb(1.4142, 0.2),))
        for p in (1.9, 2.0, 2.1):
            assert found.enclosure[0].contains(arb(p).sqrt())
        # Half of the interval's own width, 0.0707, and hardly more.
        assert float(found.enclosure[0].rad()) < 0.04
        # The first box is too narrow for all of them, and without the parameter's slopes the ends would be missed.
        with pytest.raises(BallError, match="Krawczyk test failed"):
            krawczyk(square_of(parameter), (arb(1.4142, 0.02),))
        assert (
            not krawczyk(square_of(parameter, drift=False), (arb(1.4142, 0.02),)).enclosure[0].contains(arb(1.9).sqrt())
        )


def test_no_box_beyond_the_widest_is_tried() -> None:
    with precision(100), pytest.raises(BallError, match="Krawczyk test failed"):
        krawczyk_near(square_of(arb(2, 0.1)), (arb(1.4142, 0.02),), (arb(1.4142, 0.03),))


def test_the_contraction_is_the_norm_in_units_of_the_box() -> None:
    # x and y themselves, whose slopes are said to be 1 and up to 50 and 0.002 beside it: in a box of a hundredth by a
    # ten-thousandth that is 1/2 in the first row and 1/5 in the second.
    def system(first: float, second: float) -> System:
        return System(lambda box: box, lambda box: ((arb(1), arb(0, first)), (arb(0, second), arb(1))))

    box = arb(0, 1e-2), arb(0, 1e-4)
    with precision(100):
        assert float(krawczyk(system(50.0, 0.002), box).contraction) == pytest.approx(0.5, rel=1e-6)
        assert float(krawczyk(system(20.0, 0.004), box).contraction) == pytest.approx(0.4, rel=1e-6)
        assert all(x.rad() < 1e-9 for x in krawczyk(system(50.0, 0.002), box, most=40).enclosure)
        for given in ((101.0, 0.002), (50.0, 0.0101)):
            with pytest.raises(BallError, match="does not lie inside the box"):
                krawczyk(system(*given), box)


@pytest.mark.parametrize(("inside", "found"), [(0.0999, True), (0.1001, False)])
def test_an_image_reaches_no_further_than_the_box(inside: float, found: bool) -> None:
    # h = x - p for |p| < 1/10, slopes exact: the image is the interval of p itself.
    def system(p: float) -> System:
        return System(lambda box: (box[0],), lambda box: ((arb(1),),), lambda box: (arb(-1),), arb(0, p))

    with precision(100):
        if found:
            (zero,) = krawczyk(system(inside), (arb(0, 0.1),)).enclosure
            assert float(zero.rad()) == pytest.approx(inside, rel=1e-6)
        else:
            with pytest.raises(BallError, match="does not lie inside the box"):
                krawczyk(system(inside), (arb(0, 0.1),))
        # A wider box that is allowed is a fifth wider than the image, and a narrower one is none.
        box = krawczyk_near(system(0.11), (arb(0, 0.1),), (arb(0, 0.14),)).box
        assert float(box[0].rad()) == pytest.approx(1.2 * 0.11, rel=1e-6)
        with pytest.raises(BallError, match="does not lie inside the box"):
            krawczyk_near(system(0.11), (arb(0, 0.1),), (arb(0, 0.13),))
