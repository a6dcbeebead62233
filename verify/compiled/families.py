"""Families of models with the equations of their saddle point, as they are kept.

Deriving takes seconds, and SymPy a quarter of one: `theorems` reads the equations off the theorems that conclude them,
and `theorems.json` keeps them, which the report writes and the drift check makes anew.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from giantsteps.verify.compiled.tape import Tape, read

KEPT = Path(__file__).parent / "theorems.json"


@dataclass(frozen=True)
class Family:
    """Equations as tapes, and the names that their symbols have by what they are: "test_error", "m", "q1", ..."""

    tapes: tuple[Tape, ...]
    names: Mapping[str, Any]

    def document(self) -> dict[str, Any]:
        """As plain data."""
        return {"names": self.names, "tapes": [tape.document() for tape in self.tapes]}


@lru_cache(maxsize=8)
def kept(name: str) -> Family:
    """A family of `theorems.FAMILIES`."""
    document = json.loads(KEPT.read_text(encoding="utf-8"))[name]
    return Family(tuple(map(read, document["tapes"])), document["names"])
