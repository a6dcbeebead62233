"""Krawczyk's test in ball arithmetic: existence and uniqueness of a zero of h in a box, and its refinement.

With y inside the box X, Y an invertible matrix, and J a matrix of balls that holds the slopes of h over X,

    K(X) = y - Y h(y) + (1 - Y J)(X - y).

x -> x - Y h(x) maps X into K(X) by the mean value theorem. If K(X) lies in the interior of X, Brouwer gives a zero; the
norm of 1 - Y J scaled by the radii is then less than one, so that Y J and h are injective on X: the zero is unique.

With a parameter p in an interval P around q, J holds the slopes over X and P, and h(y) is h(y, q) + h_p(y, P) (P - q):
K(X) then holds the maps of all p, and the test shows one zero in X for each of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from typing import Any

from flint import arb, arb_mat

from giantsteps.numerics.balls.arithmetic import BallError

Ball = Any
Box = tuple[Ball, ...]


@dataclass(frozen=True)
class System:
    """h as balls at a box, and the slopes of h over a box, row i the gradient of h_i.

    With a parameter: h is that of its middle, `drift` the slopes of h along it over the whole interval, and `offset`
    what the interval leaves of it without its middle.
    """

    values: Callable[[Box], Sequence[Ball]]
    slopes: Callable[[Box], Sequence[Sequence[Ball]]]
    drift: Callable[[Box], Sequence[Ball]] | None = None
    offset: Ball = None


@dataclass(frozen=True)
class Zero:
    """A zero of a system: unique in `box`, and enclosed in `enclosure`; contraction bounds |1 - Y J| in scaled norm."""

    box: Box
    enclosure: Box
    contraction: Ball


def krawczyk(system: System, box: Box, most: int = 12) -> Zero:
    """The zero in the box, refined until it stops shrinking.

    Raises BallError where the test fails (no zero, several, or a box too wide), or where the slopes contradict
    differences of the values.
    """
    image, contraction = _image(system, box)
    if not all(_inside(inner, outer) for inner, outer in zip(image, box, strict=True)) or not contraction < 1:
        raise BallError("the Krawczyk test failed: its image does not lie inside the box")
    _check_slopes(system, box)
    enclosure = _intersection(image, box)
    for _ in range(most):
        narrower = _intersection(_image(system, enclosure)[0], enclosure)
        settled = all(new.rad() > 0.7 * old.rad() for new, old in zip(narrower, enclosure, strict=True))
        enclosure = narrower
        if settled:
            break
    return Zero(box, enclosure, contraction.upper())


def krawczyk_near(system: System, box: Box, within: Box, most: int = 4) -> Zero:
    """The zero in this box or in one that is wider, as far as the images ask for it and not beyond `within`.

    Where the zero moves little with a parameter, what its interval adds to the images may be more than the box has.
    Raises the first BallError where none passes.
    """
    try:
        return krawczyk(system, box)
    except BallError as reason:
        for _ in range(most):
            whole = (x.union(image) for x, image in zip(box, _image(system, box)[0], strict=True))
            box = tuple(arb(x.mid(), 1.2 * arb(x.rad())) for x in whole)
            if not all(map(_inside, box, within)):
                break
            try:
                return krawczyk(system, box)
            except BallError:
                continue
        raise reason


def _image(system: System, box: Box) -> tuple[Box, Ball]:
    """K(box), and |1 - Y J| in the maximum norm scaled by the radii of the box."""
    middle = tuple(x.mid() for x in box)
    slopes = arb_mat([list(row) for row in system.slopes(box)])
    try:
        # Any invertible matrix proves as much: the inverse of the midpoints, its own error dropped.
        inverse = slopes.mid().inv().mid()
    except ZeroDivisionError:
        raise BallError("the slopes at the middle of the box are not invertible") from None
    size = len(box)
    defect = arb_mat([[arb(int(i == j)) for j in range(size)] for i in range(size)]) - inverse * slopes
    step = inverse * arb_mat([[value] for value in system.values(middle)])
    if system.drift is not None:
        # Multiplied by the inverse first: as a parameter moves, the entries of h move together.
        step += inverse * arb_mat([[slope] for slope in system.drift(middle)]) * system.offset
    offset = arb_mat([[x - y] for x, y in zip(box, middle, strict=True)])
    spread = defect * offset
    image = tuple(middle[i] - step[i, 0] + spread[i, 0] for i in range(size))
    radii = [arb(x.rad()) for x in box]
    norms = [sum((abs(defect[i, j]) * radii[j] for j in range(size)), arb(0)) / radii[i] for i in range(size)]
    return image, reduce(arb.max, (norm.upper() for norm in norms))


def _check_slopes(system: System, box: Box) -> None:
    """h(x) - h(y) has to meet J (x - y) for points of the box: a J that fails this holds no slopes of h."""
    middle = tuple(x.mid() for x in box)
    slopes, base = system.slopes(box), system.values(middle)
    for j, x in enumerate(box):
        moved = tuple(x.upper().mid() if i == j else y for i, y in enumerate(middle))
        for row, before, after in zip(slopes, base, system.values(moved), strict=True):
            if not (after - before).overlaps(row[j] * (moved[j] - middle[j])):
                raise BallError("the Krawczyk test failed: the slopes contradict differences of the values")


def _inside(inner: Ball, outer: Ball) -> bool:
    return bool(inner.is_finite() and outer.contains_interior(inner))


def _intersection(first: Box, second: Box) -> Box:
    return tuple(a.intersection(b) for a, b in zip(first, second, strict=True))
