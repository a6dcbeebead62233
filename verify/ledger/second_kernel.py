"""The committed record of proofs replayed by a second kernel. Only `make kernel`, which writes it, needs Rocq."""

from __future__ import annotations

import json
from functools import lru_cache
from pathlib import Path
from typing import Any

RECORD = Path(__file__).parent / "second_kernel.json"


@lru_cache(maxsize=1)
def record() -> dict[str, Any]:
    """The committed record; empty where there is none."""
    if not RECORD.is_file():
        return {"replayed": {}}
    document: dict[str, Any] = json.loads(RECORD.read_text(encoding="utf-8"))
    return document


def replayed(digests: tuple[str, ...]) -> bool:
    """Whether a second kernel accepted the theorems with these digests: all of them, and at least one."""
    known = {digest for of_claim in record()["replayed"].values() for digest in of_claim}
    return bool(digests) and known.issuperset(digests)
