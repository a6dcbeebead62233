"""How two ledgers differ, as sentences."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

# Simulations repeat on another machine up to rounding, which a chaotic bit of linear algebra may amplify a little.
Z_DRIFT = 0.05
RELATIVE_DRIFT = 0.05


def drift(committed: Mapping[str, Any], fresh: Mapping[str, Any]) -> list[str]:
    """How two ledgers differ, as sentences; empty if they agree.

    Verdicts, statements, obligations and point counts are compared exactly, z-scores within ``Z_DRIFT``, detectable
    errors within ``RELATIVE_DRIFT``.
    """
    old = {c["id"]: c for c in committed["claims"]}
    new = {c["id"]: c for c in fresh["claims"]}
    findings = [f"{i}: in the committed ledger only" for i in old if i not in new]
    findings += [f"{i}: not in the committed ledger" for i in new if i not in old]
    for id_ in (i for i in new if i in old):
        findings += [f"{id_}: {difference}" for difference in _differences(old[id_], new[id_])]
    if committed.get("provenance", {}).get("profile") != fresh.get("provenance", {}).get("profile"):
        findings.append("the two ledgers were made under different profiles")
    return findings


def _differences(old: Any, new: Any, path: str = "") -> list[str]:
    if isinstance(old, dict) and isinstance(new, dict):
        return [
            difference
            for key in dict.fromkeys([*old, *new])
            for difference in _differences(old.get(key), new.get(key), f"{path}.{key}" if path else key)
        ]
    if isinstance(old, list) and isinstance(new, list) and len(old) == len(new):
        return [d for i, (a, b) in enumerate(zip(old, new, strict=True)) for d in _differences(a, b, f"{path}[{i}]")]
    if isinstance(old, float) and isinstance(new, float):
        allowed = Z_DRIFT if path.endswith(".z") else RELATIVE_DRIFT * max(abs(old), abs(new))
        if path.endswith((".z", ".smallest_detectable")) and abs(old - new) <= allowed:
            return []
    return [] if old == new else [f"{path} was {old!r}, is {new!r}"]
