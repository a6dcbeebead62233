"""A table of symbols: name, meaning, sign, and scaling in the input dimension. Each paper has its own.

Numbers travel by the name of a symbol, so that two symbols of one name would take each other's values: that is an
error, raised where the second one is defined.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import sympy as sp


@dataclass(frozen=True)
class Entry:
    """One row of the glossary."""

    symbol: sp.Symbol
    meaning: str
    scaling: str


class GlyphError(LookupError):
    """Two symbols of one table or one formula have one name."""


class Glossary:
    """A table that is being written, in the order of its definitions."""

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._names: set[str] = set()

    def define(self, name: str, meaning: str, scaling: str = "O(1)", **assumptions: bool) -> sp.Symbol:
        """A new symbol, real unless told more. Raises GlyphError if the table has one of this name already."""
        if name in self._names:
            before = next(entry.meaning for entry in self._entries if entry.symbol.name == name)
            raise GlyphError(f"two symbols are called {name}: {before!r} and {meaning!r}; give one another name")
        symbol = sp.Symbol(name, **(assumptions or {"real": True}))
        self._entries.append(Entry(symbol, meaning, scaling))
        self._names.add(name)
        return symbol

    def by_letter(self, glyph: str, meaning: str, **assumptions: bool) -> tuple[sp.Symbol, sp.Symbol]:
        """One symbol for each of two letters of the vocabulary; ``{}`` in the glyph takes the letter."""
        first, second = (self.define(glyph.format(a), f"{meaning}, letter {a}", "O(1)", **assumptions) for a in (1, 2))
        return first, second

    def by_pair(
        self, glyph: str, meaning: str, positive: bool = True
    ) -> tuple[tuple[sp.Symbol, sp.Symbol], tuple[sp.Symbol, sp.Symbol]]:
        """One symbol for each pair of two letters, symmetric; with ``positive`` the diagonal ones are."""
        own, other = ({"positive": True} if positive else {"real": True}), {"real": True}
        first = self.define(glyph.format(11), f"{meaning}, letter 1", "O(1)", **own)
        mixed = self.define(glyph.format(12), f"{meaning}, letters 1 and 2", "O(1)", **other)
        second = self.define(glyph.format(22), f"{meaning}, letter 2", "O(1)", **own)
        return (first, mixed), (mixed, second)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """All rows so far."""
        return tuple(self._entries)


def refuse_repeated_names(symbols: Iterable[sp.Symbol], place: object) -> None:
    """Raises GlyphError if two of these symbols have one name; symbols that are equal count once."""
    counts = Counter(symbol.name for symbol in set(symbols))
    repeated = sorted(name for name, count in counts.items() if count > 1)
    if repeated:
        raise GlyphError(f"two symbols are called {', '.join(repeated)} in {place}; give one another name")
