"""Bounds for students and targets erf and sign, in mpmath: every moment is a derivative of an arcsine.

E s(X) t(Y) = (2/pi) asin(Cov(X, Y)/sqrt(w_s(X) w_t(Y))) with w = 1/2 + Var for erf and Var for sign. mu0 at variance
c is an average over a part of X of its own; kappa mu1 = d mu0/dr, mu1 z = d/d eps of mu0(r kappa + eps z), and
d mu0/dc.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from mpmath import mp

Number = Any

OFFSET = {"erf": mp.mpf(1) / 2, "sign": mp.mpf(0)}


@dataclass(frozen=True)
class Point:
    """A model at one place: groups (r_a, c_a), gamma, and whether d mu0/dc is in the span."""

    student: str
    target: str
    groups: Sequence[tuple[Number, Number]]
    gamma: Number
    unequal: bool = False


def between(point: Point, first: tuple[Number, ...], second: tuple[Number, ...]) -> Number:
    """E f f' for features at (r, eps, c): the arguments r kappa + eps z plus independent noise of variance c."""
    (r, e, c), (s, f, d) = first, second
    offset = OFFSET[point.student]
    return 2 / mp.pi * mp.asin((r * s + e * f) / mp.sqrt((offset + r * r + e * e + c) * (offset + s * s + f * f + d)))


def with_target(point: Point, first: tuple[Number, ...]) -> Number:
    """E g f."""
    r, e, c = first
    rho = mp.sqrt(1 - point.gamma**2)
    size = (OFFSET[point.student] + r * r + e * e + c) * (OFFSET[point.target] + 1)
    return 2 / mp.pi * mp.asin((r * point.gamma + e * rho) / mp.sqrt(size))


def share(point: Point, bound: str) -> Number:
    """|P g|^2 for the span of one bound: E[g^2] less the bound."""
    # A feature is a place (r, 0, c) and the coordinate that mu0 is differentiated in there, None for mu0 itself.
    along = [((r, mp.mpf(0), c), None) for r, c in point.groups]
    if bound == "upper":
        return held(point, along)
    along += [((r, mp.mpf(0), c), 0) for r, c in point.groups]
    if point.unequal:
        along += [((r, mp.mpf(0), c), 2) for r, c in point.groups]
    return held(point, along) + held(point, [((r, mp.mpf(0), c), 1) for r, c in point.groups])


def held(point: Point, features: Sequence[tuple[tuple[Number, ...], int | None]]) -> Number:
    """F.A^-1 F of one block."""
    force = mp.matrix([derivative(lambda x: with_target(point, x), place, axis) for place, axis in features])
    gram = mp.matrix(len(features))
    for i, (a, p) in enumerate(features):
        for j, (b, q) in enumerate(features[: i + 1]):  # the mean of a product, in either order
            gram[i, j] = gram[j, i] = derivative(
                lambda x, b=b, q=q: derivative(lambda y, x=x: between(point, x, y), b, q),
                a,
                p,  # type: ignore[misc]
            )
    if mp.norm(force) == 0:
        return mp.mpf(0)
    return (force.T * mp.lu_solve(gram, force))[0]


def derivative(function: Callable[[tuple[Number, ...]], Number], place: tuple[Number, ...], axis: int | None) -> Number:
    """The central difference of order four in one coordinate; the function itself for axis None."""
    if axis is None:
        return function(place)
    step = mp.mpf(10) ** (-mp.dps // 6)

    def at(k: int) -> Number:
        return function(tuple(x + k * step if i == axis else x for i, x in enumerate(place)))

    return (8 * (at(1) - at(-1)) - (at(2) - at(-2))) / (12 * step)


def slope(held_at: Callable[[Number], Number], t: Number) -> Number:
    """d/dt by a central difference of order four."""
    step = mp.mpf(10) ** (-mp.dps // 8)
    return (8 * (held_at(t + step) - held_at(t - step)) - (held_at(t + 2 * step) - held_at(t - 2 * step))) / (12 * step)


def optimum(held_at: Callable[[Number], Number], low: float, high: float) -> Number:
    """Where the slope changes its sign between two places, by a method that keeps them around it."""
    ends = mp.mpf(low), mp.mpf(high)
    assert slope(held_at, ends[0]) > 0 > slope(held_at, ends[1])
    # The tolerance is that of the square, a slope of 1e-15. The last step is superlinear: the place is within 1e-31 of
    # where a square of 1e-44 is asked for. That is below the error of the differences, 1e-24, where steps lead nowhere.
    return mp.findroot(lambda t: slope(held_at, t), ends, solver="anderson", tol=mp.mpf(10) ** -30, maxsteps=60)
