"""The drift check on the committed ledger itself: whatever is altered, deleted, added or repeated is told."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from giantsteps.verify.ledger.drift import drift

Place = tuple[str | int, ...]
LEDGER = Path(__file__).resolve().parent.parent.parent.parent / "reports" / "ledger.json"
LISTS = ("claims", "leaves")


@cache
def ledger() -> dict[str, Any]:
    """The committed ledger."""
    document: dict[str, Any] = json.loads(LEDGER.read_text(encoding="utf-8"))
    return document


@cache
def one_of_each() -> tuple[tuple[dict[str, Any], Place], ...]:
    """Every key that the ledger has, at any depth and with each kind of value, once: in a ledger of one part, where."""
    alone = [{"claims": [], key: [part]} for key in LISTS for part in ledger()[key]]
    alone += [{"claims": [], key: value} for key, value in ledger().items() if key not in LISTS]
    found: dict[tuple[str, ...], tuple[dict[str, Any], Place]] = {}
    for document in alone:
        for path in places(document):
            keys = [key for key in path if isinstance(key, str)]
            # Without its lists of claims and assumptions it is no ledger; a missing entry is a test of its own.
            if path[0] not in LISTS or len(path) > 2:
                found.setdefault((*keys, type(at(document, path)).__name__), (document, path))
    return tuple(found.values())


def places(node: Any, path: Place = ()) -> Iterator[Place]:
    """The path of every key and of every entry of a list."""
    inner: Any = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else ()
    for key, value in inner:
        yield (*path, key)
        yield from places(value, (*path, key))


def at(node: Any, path: Place) -> Any:
    for key in path:
        node = node[key]
    return node


def other(value: Any) -> Any:
    """Another value of the same kind, nearby; of a measured number one that is too far away to be rounding."""
    match value:
        case bool():
            return not value
        case float():
            return 1.2 * value + 0.1
        case int():
            return value + 1
        case str():
            return value + "'"
        case None:
            return ""
        case list():
            return [*value, None]
    return {**value, "another": None}


def altered(parent: Any, key: str | int) -> None:
    parent[key] = other(parent[key])


def deleted(parent: Any, key: str | int) -> None:
    del parent[key]


def nulled(parent: Any, key: str | int) -> None:
    parent[key] = None if parent[key] is not None else 0


@pytest.mark.parametrize("edit", [altered, deleted, nulled])
def test_every_key_altered_deleted_or_null_is_a_drift_both_ways(edit: Callable[[Any, str | int], None]) -> None:
    assert len(one_of_each()) > 60
    unseen = []
    for document, path in one_of_each():
        changed = copy.deepcopy(document)
        edit(at(changed, path[:-1]), path[-1])
        unseen += [] if drift(document, changed) and drift(changed, document) else [path]
    assert unseen == []


def test_a_ledger_agrees_with_itself() -> None:
    assert drift(ledger(), json.loads(json.dumps(ledger()))) == []


def test_what_is_written_alike_is_alike_and_nothing_else() -> None:
    def one(value: Any) -> dict[str, Any]:
        return {"claims": [{"id": "a", "x": value}]}

    written: list[tuple[Any, Any]] = [((1, "b"), [1, "b"]), (np.float64(0.25), 0.25), ([np.float64(3.291)], [3.291])]
    for fresh, committed in written:
        assert drift(one(committed), one(fresh)) == []
    for fresh, committed in ((True, 1), (1, 1.0), ("1", 1), (None, ""), (None, 0), ([], {}), ((1, 2), [2, 1])):
        assert drift(one(committed), one(fresh)) == [f"a: x was {committed!r}, is {fresh!r}"]


@pytest.mark.parametrize("key", LISTS)
def test_a_new_a_lost_and_a_repeated_entry_is_named_as_what_it_is(key: str) -> None:
    few = {**ledger(), **{name: ledger()[name][:5] for name in LISTS}}
    less = {**few, key: few[key][1:]}
    (lost,) = drift(few, less)
    (new,) = drift(less, few)
    (twice,) = drift(few, {**few, key: [*few[key], few[key][0]]})
    assert lost.endswith(": in the committed ledger only")
    assert new == lost.replace("in the committed ledger only", "not in the committed ledger")
    assert twice == new.replace(": not in", " again: not in")


# A z-score may move by 0.05 whatever its size, a detectable error by a twentieth of itself; no other number at all.
@pytest.mark.parametrize(
    ("name", "old", "near", "far"),
    [
        ("z", 0.01, 0.055, 0.065),
        ("z", -3.0, -3.045, -3.055),
        ("smallest_detectable", 1e-3, 1.045e-3, 1.06e-3),
        ("threshold", 3.3, 3.3, 3.3 + 1e-12),
        ("tolerance", 1e-11, 1e-11, 1.01e-11),
        ("points", 12, 12, 12.0),
    ],
)
def test_only_measured_numbers_may_move_and_no_further_than_rounding(
    name: str, old: float, near: float, far: float
) -> None:
    def one(value: float) -> dict[str, Any]:
        return {"claims": [{"id": "a", "evidence": [{name: value}]}]}

    for first, second in ((old, near), (near, old)):
        assert drift(one(first), one(second)) == []
    for first, second in ((old, far), (far, old)):
        # What was stands first, also where one dictionary alone is in between.
        old_claim, new_claim = ({"claims": [{"id": "a", name: x}]} for x in (first, second))
        assert drift(old_claim, new_claim) == [f"a: {name} was {first!r}, is {second!r}"]
        assert drift(one(first), one(second)) == [f"a: evidence[0].{name} was {first!r}, is {second!r}"]
