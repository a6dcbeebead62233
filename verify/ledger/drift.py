"""How two ledgers differ, as sentences."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

# Simulations repeat on another machine up to rounding, which a chaotic bit of linear algebra may amplify a little.
Z_DRIFT = 0.05
RELATIVE_DRIFT = 0.05


# What a ledger does not say; null is something that it says.
_MISSING = object()


def drift(committed: Mapping[str, Any], fresh: Mapping[str, Any]) -> list[str]:
    """How two ledgers differ, as sentences; empty if they agree.

    Every key of claims, assumptions, totals and provenance is compared. z-scores may differ by ``Z_DRIFT``, detectable
    errors by the factor ``RELATIVE_DRIFT``, all else has to be equal. A missing key is not equal to null.
    """
    old, new = _parts(committed), _parts(fresh)
    findings = [f"{name}: in the committed ledger only" for name in old if name not in new]
    findings += [f"{name}: not in the committed ledger" for name in new if name not in old]
    for name in (name for name in new if name in old):
        findings += [f"{name}: {difference}" for difference in _differences(old[name], new[name])]
    return findings


def _parts(ledger: Mapping[str, Any]) -> dict[str, Any]:
    """The claims by id, the assumptions by kind and names, all else by key; duplicate names are reported."""
    found: dict[str, Any] = {}
    for name, part in (
        *((str(claim.get("id")), claim) for claim in ledger["claims"]),
        *((f"the {one.get('kind')} {one.get('names')}", one) for one in ledger.get("leaves", ())),
        *((key, part) for key, part in ledger.items() if key not in ("claims", "leaves")),
    ):
        while name in found:
            name += " again"
        found[name] = part
    return found


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            difference
            for key in dict.fromkeys([*old, *new])
            for difference in _differences(
                old.get(key, _MISSING), new.get(key, _MISSING), f"{path}.{key}" if path else key
            )
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [d for i, (a, b) in enumerate(zip(old, new, strict=True)) for d in _differences(a, b, f"{path}[{i}]")]
    if isinstance(old, float) and isinstance(new, float):
        allowed = Z_DRIFT if path.endswith(".z") else RELATIVE_DRIFT * max(abs(old), abs(new))
        if path.endswith((".z", ".smallest_detectable")) and abs(old - new) <= allowed:
            return []
    return [] if _text(old) == _text(new) else [f"{path} was {_said(old)}, is {_said(new)}"]


def _text(value: Any) -> str:
    """As it stands in the file: 1 is neither true nor 1.0 there, a tuple is a list, a number of NumPy one of Python."""
    return "" if value is _MISSING else json.dumps(value, sort_keys=True)


def _said(value: Any) -> str:
    return "missing" if value is _MISSING else repr(value)
