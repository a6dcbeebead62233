"""Tubes on a network's own bulk, along whatever its labels do not depend on.

Along alpha and ridge the law of its rows and their functions are those of one model. Along alpha0, eta and beta both
move: the constants of the step are balls that hold those of the interval, with their slopes.

The unknowns are (T, tau, b1, b2) of `certificates.network.saddle_point`, where b1 = 0 may be none. At the middle of an
interval a small box within the tube's holds the solution, and the only one of the tube. After a short step, which
leaves the readout's mean hardly any signal, roundings grow, and an interval takes more bits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.certify import GUARD_BITS, NETWORK_BITS, Imprecise
from giantsteps.numerics.certificates.functions import Functions, at_rest, narrowed, narrowed_one
from giantsteps.numerics.certificates.network.rows import network_start
from giantsteps.numerics.certificates.network.saddle_point import (
    NetworkProblem,
    enclosed,
    network_problem,
    nonlinear_system,
)
from giantsteps.numerics.certificates.newton import Box, Zero, krawczyk
from giantsteps.numerics.certificates.ranges.tubes import Tubes, zeros
from giantsteps.numerics.certificates.saddle_point import Enclosed
from giantsteps.numerics.certificates.setting import Setting
from giantsteps.numerics.certificates.slope import Moving, slope_of, value_of
from giantsteps.numerics.models.model import Model

Ball = Any

# What the law of the rows depends on, and no average over labels.
OF_ROWS = ("beta", "alpha0", "eta")
# Half as many bits again, until they are as many as a learning rate of 1e-3 asks for; and how many of the test error in
# the middle are known, so that a tube's width is its own.
_MOST_BITS, _LEAST_BITS = 135, 20
# Half width of the box in the middle, relative: far above the errors of doubles, far below a tube's.
_SMALL = 1e-9


def unbuilt(model: Model) -> str:
    """Why the law of a network's rows is not enclosed; empty where it is."""
    try:
        with precision(NetworkTubes.bits + GUARD_BITS):
            network_problem(model, NetworkTubes.bits + NETWORK_BITS)
    except BallError as reason:
        return str(reason)
    return ""


class NetworkTubes(Tubes):
    """The tubes of one branch."""

    _tables: tuple[Setting, Functions, Any] | None = None

    @cached_property
    def _network(self) -> NetworkProblem:
        return network_problem(self._model, self.bits + NETWORK_BITS)

    def tube(self, low: float, high: float) -> tuple[Box, Enclosed]:
        """As for any bulk, with as many bits as that takes."""
        before = self.bits
        while True:
            try:
                with precision(self.bits + GUARD_BITS):
                    return super().tube(low, high)
            except BallError as reason:
                # Where no bits help the interval is too wide, and its halves may need no more than others.
                failed = self.bits >= _MOST_BITS or not isinstance(reason, Imprecise)
                bits = before if failed else 3 * self.bits // 2
                if bits != self.bits:
                    self.bits, self._known, self._tables = bits, None, None
                    self.__dict__.pop("_network", None)
                if failed:
                    raise

    def _unknowns(self, value: float) -> Sequence[float]:
        self._pair(value)
        model = self._model.changed(**{self._parameter: value})
        T, tau, b1, b2 = network_start(model, self._solved(value))
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
        offset = interval - arb(middle)
        networks = [self._network_at(value) for value in (arb(middle), interval, Moving(interval, arb(1)))]
        place = self._setting(networks[1].problem, self._solutions[middle], room[:2], interval)
        tables = self._functions(networks, place, offset)
        at, over, along = (
            nonlinear_system(one, table, place.rule, place.inverse)
            for one, (table, _) in zip(networks, tables, strict=True)
        )
        unknowns = self._unknowns(middle)
        small = tuple(arb(x, _SMALL * size) for x, size in zip(unknowns, self._sizes(unknowns), strict=True))

        def thin() -> Enclosed:
            try:
                inner = krawczyk(at, small).enclosure
                found = enclosed(networks[0], *tables[0], place.rule, place.inverse, inner)
            except BallError as reason:
                raise Imprecise(str(reason)) from reason
            if not found.test_error.rel_accuracy_bits() > _LEAST_BITS:
                raise Imprecise("the test error in the middle of the interval is not enclosed to a millionth")
            return found

        try:
            zero, slopes = zeros(at, over, along, (box, room), offset)
            if not all(outer.contains(one) for outer, one in zip(zero.box, small, strict=True)):
                raise BallError("the solution at the middle of the interval is not shown to be that of its box")
            moved = tuple(map(Moving, zero.enclosure, slopes))
            found = enclosed(networks[2], *tables[2], place.rule, place.inverse, moved)
        except BallError:
            thin()
            raise
        if not slope_of(found.test_error).is_finite():
            raise Imprecise("the slope of the test error along the interval is not enclosed")
        return zero, thin(), found

    def _network_at(self, value: Any) -> NetworkProblem:
        """With another value of the parameter; the labels, and what is known of them, are the same."""
        changed: dict[str, Any] = {self._parameter: value}
        if self._parameter in OF_ROWS:
            moved = network_problem(self._model, self.bits + NETWORK_BITS, **changed)
            return replace(moved, labels=self._network.labels)
        return replace(self._network, problem=replace(self._network.problem, **changed))

    def _functions(
        self, networks: Sequence[NetworkProblem], place: Setting, offset: Ball
    ) -> list[tuple[Functions, Any]]:
        """The functions along the spike with dmu0/dc: in the middle, over the interval, and with slopes."""
        if self._parameter not in OF_ROWS:
            if self._tables is None or self._tables[0] is not place:
                problem = self._network.problem
                self._tables = place, place.functions(problem), place.norm_slope(problem)
            return [self._tables[1:]] * 3
        (thin, curved), (moving, bending) = (
            (place.functions(one.problem), place.norm_slope(one.problem)) for one in (networks[0], networks[2])
        )
        moving, bending = narrowed(moving, thin, offset), narrowed_one(bending, curved, offset)
        return [(thin, curved), (at_rest(moving), value_of(bending)), (moving, bending)]
