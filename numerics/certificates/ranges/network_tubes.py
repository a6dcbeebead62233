"""Tubes on a network's own bulk, along alpha and ridge: the law of its rows and their functions are those of one model.

The unknowns are (T, tau, b1, b2) of `certificates.network.saddle_point`, where b1 = 0 may be none. At the middle of an
interval a small box within the tube's holds the solution, and the only one of the tube.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from flint import arb

from onestep.numerics.balls.arithmetic import BallError
from onestep.numerics.certificates.certify import NETWORK_BITS
from onestep.numerics.certificates.network.saddle_point import (
    NetworkProblem,
    enclosed,
    network_problem,
    nonlinear_system,
    norm_slope,
)
from onestep.numerics.certificates.newton import Box, Zero, krawczyk
from onestep.numerics.certificates.ranges.tubes import BITS, Tubes, zeros
from onestep.numerics.certificates.saddle_point import Enclosed
from onestep.numerics.certificates.setting import Setting
from onestep.numerics.certificates.slope import Moving
from onestep.numerics.saddle_point.one_group.network_any_precision import network_start

Ball = Any

# Half width of the box in the middle, relative: far above the errors of doubles, far below a tube's.
_SMALL = 1e-9


class NetworkTubes(Tubes):
    """The tubes of one branch."""

    _tables: tuple[Setting, Any, Any] | None = None

    @cached_property
    def _network(self) -> NetworkProblem:
        return network_problem(self._model, BITS + NETWORK_BITS)

    def _unknowns(self, value: float) -> Sequence[float]:
        self._pair(value)
        model = self._model.changed(**{self._parameter: value})
        T, tau, b1, b2 = network_start(model, self._solved(value)).values
        return (T, tau, b1, b2) if self._network.turned else (T, tau, b2)

    def _sizes(self, unknowns: Sequence[float]) -> Sequence[float]:
        if not self._network.turned:
            return unknowns
        # b1 is of the size of the square root of b2, and may be small beside it.
        T, tau, b1, b2 = unknowns
        return T, tau, max(abs(b1), 1e-3 * math.sqrt(b2)), b2

    def _positive(self, count: int) -> Sequence[int]:
        return (0, 1, count - 1)

    def _enclosed(self, middle: float, interval: Ball, box: Box, room: Box) -> tuple[Zero, Enclosed, Enclosed]:
        networks = []
        for value in (arb(middle), interval, Moving(interval, arb(1))):
            changed: dict[str, Any] = {self._parameter: value}
            networks.append(replace(self._network, problem=replace(self._network.problem, **changed)))
        place = self._setting(networks[1].problem, self._solutions[middle], room[:2], interval)
        if self._tables is None or self._tables[0] is not place:
            curved = norm_slope(self._network, place.rule, place.height, place.reach, place.bits + 8)
            self._tables = place, place.functions(self._network.problem), curved
        _, table, curved = self._tables
        at, over, along = (nonlinear_system(one, table, place.rule, place.inverse) for one in networks)
        zero, slopes = zeros(at, over, along, (box, room), interval - arb(middle))
        unknowns = self._unknowns(middle)
        small = tuple(
            arb(x, _SMALL * size) for x, size in zip(unknowns, self._sizes(unknowns), strict=True)
        )
        inner = krawczyk(at, small)
        if not all(outer.contains(one) for outer, one in zip(zero.box, small, strict=True)):
            raise BallError("the solution at the middle of the interval is not shown to be that of its box")
        moved = tuple(map(Moving, zero.enclosure, slopes))
        return (
            zero,
            enclosed(networks[0], table, curved, place.rule, place.inverse, inner.enclosure),
            enclosed(networks[2], table, curved, place.rule, place.inverse, moved),
        )
