"""Numbers by symbol, as they are computed, and by glyph, as a statement's evaluator takes them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.verify.checks.points import Point

# The letters of the claims on a vocabulary, and their pairs.
LETTERS = (0, 1)
PAIRS = ((0, 0), (0, 1), (1, 1))


def value(point: Point, symbol: object) -> float:
    """One coordinate of a point."""
    return float(point[str(symbol)])


def symmetric_at(point: Point, family: tuple[tuple[sp.Symbol, ...], ...]) -> NDArray[np.float64]:
    """The values of a symmetric family X_ab, (2, 2)."""
    return np.array([[value(point, family[a][b]) for b in LETTERS] for a in LETTERS])


def generator_at(point: Point) -> np.random.Generator:
    """Random numbers by the whole part of the point's seed."""
    return np.random.default_rng(int(value(point, "seed")))


def nothing(point: Point) -> Mapping[str, float]:
    """The point has all that the statement speaks of."""
    return {}


def by_glyph(values: Mapping[sp.Symbol, Any]) -> dict[str, float]:
    """The same by the symbols' names. Raises ValueError where two symbols have one name: one number would be lost."""
    found = {symbol.name: float(number) for symbol, number in values.items()}
    if len(found) < len(values):
        names = [symbol.name for symbol in values]
        raise ValueError(f"two symbols are written {next(name for name in names if names.count(name) > 1)}")
    return found


def by_letter(families: Mapping[tuple[sp.Symbol, ...], Sequence[Any] | Any]) -> dict[sp.Symbol, Any]:
    """The entries a = 1, 2 of families u_a with their values (2,)."""
    return {family[a]: values[a] for family, values in families.items() for a in LETTERS}


def by_pair(families: Mapping[tuple[tuple[sp.Symbol, ...], ...], Any]) -> dict[sp.Symbol, Any]:
    """The entries a <= b of symmetric families X_ab with their values (2, 2)."""
    return {family[a][b]: values[a, b] for family, values in families.items() for a, b in PAIRS}


def upper(family: tuple[tuple[sp.Symbol, ...], ...], entries: Iterable[Any]) -> dict[sp.Symbol, Any]:
    """The same for the three entries themselves, in the order of `PAIRS`."""
    return {family[a][b]: entry for (a, b), entry in zip(PAIRS, entries, strict=True)}
