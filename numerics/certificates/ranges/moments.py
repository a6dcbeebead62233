"""The expectations over kappa of the ridge saddle point on many tiles at once: E[f w^k], w = 1/(1 + V), as products.

V = T mu1^2 + tau mu2^2 differs from tile to tile, and what stands beside a power of w is the same for all of them. On
the nodes of one rule a table of such functions, weights of the rule included, makes every expectation a product of
matrices; the error of the rule follows from the functions' bounds around the line (`numerics.balls.rules`).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import product
from operator import add, mul
from typing import Any

import numpy as np
from flint import arb

from giantsteps.numerics.balls.gaussian_bounds import Envelope
from giantsteps.numerics.balls.rules import Along
from giantsteps.numerics.certificates.functions import Functions, Problem
from giantsteps.numerics.certificates.ranges.intervals import Array, Intervals
from giantsteps.numerics.certificates.ranges.varying import Tiles, Varying
from giantsteps.numerics.certificates.setting import Setting

Ball = Any

# p = mu1^2 and q = mu2^2 stand before the names of what they multiply.
FEATURES = ("p", "q")
# What the error of a prediction m mu0 + zeta kappa mu1 =: m a + zeta b is made of; s = mu1 y1, one = 1.
FIXED = ("aa", "ab", "bb", "ay", "by", "s", "yy", "one")
_FIRST = (*FEATURES, "aa", "ab", "bb", "ay", "by", "s")
_PAIRS = ("pp", "pq", "qq")
_SECOND = (*_PAIRS, *(f + name for f, name in product(FEATURES, FIXED)))
_THIRD = ("ppp", "ppq", "pqq", "qqq", *(pair + name for pair, name in product(_PAIRS, FIXED)))
ORDERS = ((*FEATURES, *FIXED), _FIRST, _SECOND, _THIRD)


def raised(feature: str, name: str) -> str:
    """The name of the product with a feature, its features in order."""
    if name == "one":
        name = ""
    count = next((k for k, letter in enumerate(name) if letter not in FEATURES), len(name))
    whole = "".join(sorted(feature + name[:count])) + name[count:]
    return whole if whole in _KNOWN else whole + "one"


_KNOWN = frozenset(name for names in ORDERS for name in names)


@dataclass(frozen=True)
class Moments:
    """The functions of a problem on one rule: both features on the nodes, and a table for every power of w."""

    features: Intervals
    tables: tuple[Intervals, ...]
    errors: tuple[Array, ...]

    @classmethod
    def of(cls, problem: Problem, place: Setting) -> Moments:
        """For all (T, tau) of the setting's box."""
        named = _named(place.functions(problem))
        half = len(place.rule.nodes) // 2 if problem.symmetric and place.rule.step is not None else 0
        features = _doubles([list(named[name].values[half:]) for name in FEATURES])
        tables, errors = [], []
        for power, names in enumerate(ORDERS):
            rows = [_joined(list(map(mul, place.rule.weights, named[name].values)), half) for name in names]
            table = _doubles(rows)
            tables.append(Intervals(table.mid.T.copy(), table.rad.T.copy()))
            # |w| is at most `inverse` on the rectangle and 1 on the line.
            bounds = [named[name].bound.scaled(place.inverse**power) for name in names]
            errors.append(np.array([_upper(_error(place, bound)) for bound in bounds]))
        return cls(features, tuple(tables), tuple(errors))

    def plain(self) -> dict[str, Intervals]:
        """E[f] of every function of order 0."""
        table = self.tables[0]
        found = Intervals(np.ones((1, table.mid.shape[0]))).at(table)
        return self._split(0, Intervals(found.mid, found.rad))

    def weights(self, overlap: Intervals, tau: Intervals) -> Intervals:
        """w on the nodes, (P, n), of (T, tau) on P tiles, (P,)."""
        pair = [Intervals(x.mid[:, None], x.rad[:, None]) for x in (overlap, tau)]
        return (pair[0] * self.features[0] + pair[1] * self.features[1] + 1.0).inverse()

    def of_order(self, power: int, weights: Intervals, count: int | None = None) -> dict[str, Intervals]:
        """E[f w^power] of the first `count` functions of that order, each (P,); `weights` are w^power on the nodes."""
        table = self.tables[power]
        return self._split(power, weights.at(Intervals(table.mid[:, :count], table.rad[:, :count])))

    def _split(self, power: int, found: Intervals) -> dict[str, Intervals]:
        count = found.mid.shape[1]
        errors = self.errors[power][:count]
        whole = found + Intervals(np.zeros_like(errors), errors)
        return {name: whole[:, k] for k, name in enumerate(ORDERS[power][:count])}

    def varying(self, tiles: Tiles, middle: tuple[Intervals, Intervals], pair: tuple[Varying, Varying]) -> Averages:
        """Orders 1 and 2 with their slopes: d E[f w^k] = -k (E[p f w^(k+1)] dT + E[q f w^(k+1)] dtau)."""
        w = self.weights(*middle)
        at = (self.of_order(1, w), self.of_order(2, w * w))
        w = self.weights(pair[0].over, pair[1].over)
        square = w * w
        over = [self.of_order(power, x) for power, x in ((1, w), (2, square), (3, square * w))]
        found = []
        for k in (1, 2):
            row = {}
            for name in ORDERS[k]:
                falls = [over[k][raised(feature, name)] * -float(k) for feature in FEATURES]
                slope = pair[0].slope * falls[0] + pair[1].slope * falls[1]
                row[name] = tiles.around(at[k - 1][name], slope, over[k - 1][name])
            found.append(row)
        return Averages(self.plain(), found[0], found[1])


@dataclass(frozen=True)
class Averages:
    """E[f], E[f w] and E[f w^2] by the names of f."""

    plain: Mapping[str, Intervals]
    first: Mapping[str, Varying]
    second: Mapping[str, Varying]


def _named(table: Functions) -> dict[str, Along]:
    one = Along((arb(1),) * len(table.mu1.values), Envelope(arb(1)))
    p, q = table.mu1 * table.mu1, table.mu2_squared
    base = {
        "one": one, "p": p, "q": q, "yy": table.y2, "s": table.mu1 * table.y1,
        "aa": table.mu0 * table.mu0, "ab": table.mu0 * table.along, "bb": table.along * table.along,
        "ay": table.mu0 * table.y0, "by": table.along * table.y0,
    }  # fmt: skip
    for names in (_PAIRS, *ORDERS[2:]):
        for name in names:
            if name not in base:
                base[name] = base[name[0]] * base[name[1:]]
    return base


def _joined(row: list[Ball], half: int) -> list[Ball]:
    """The row, or where V is even what stands beside w at -kappa and kappa together, from kappa = 0 on."""
    if not half:
        return row
    return [row[half], *map(add, row[half + 1 :], row[half - 1 :: -1])]


def _error(place: Setting, bound: Envelope) -> Ball:
    """Of the rule, for a function with this bound."""
    return place.rule.expectation(Along((arb(0),) * len(place.rule.nodes), bound)).rad()


def _upper(ball: Ball) -> float:
    return math.nextafter(float(arb(ball).upper()), math.inf)


def _doubles(rows: list[list[Ball]]) -> Intervals:
    mid = np.array([[float(ball.mid()) for ball in row] for row in rows])
    rad = [
        [_upper(abs(ball - arb(number))) for ball, number in zip(row, numbers, strict=True)]
        for row, numbers in zip(rows, mid.tolist(), strict=True)
    ]
    return Intervals(mid, rad)
