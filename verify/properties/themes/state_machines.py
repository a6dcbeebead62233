"""State machines, driven step by step: the store of a sweep, a changed model, an edited ledger."""

from __future__ import annotations

import copy
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing
from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.strategies import SearchStrategy

from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.sweeps.chunk import Row, solve_chunk
from giantsteps.numerics.sweeps.store import FILE, Store
from giantsteps.numerics.sweeps.sweep import Axis, Sweep, SweepError
from giantsteps.verify.properties.margins import is_so
from giantsteps.verify.properties.property import THEORY, Theory, holds, plant
from giantsteps.verify.properties.strategies import TAME, spikes, steps

Step = tuple[Any, ...]


def _several(step: SearchStrategy[Any]) -> SearchStrategy[list[Any]]:
    """One to eight steps."""
    return st.lists(step, min_size=1, max_size=8)


def _shown(name: str) -> Callable[[Any], str]:
    """The search again, with the steps that it found."""
    return lambda done: f"giantsteps verify --properties state-machines.{name} --seed {{seed}}  # {done}"


# ---- the store of a sweep ----


@lru_cache(maxsize=1)
def _sweep() -> tuple[Sweep, tuple[Row, ...]]:
    """33 points, in chunks of 16, 16 and 1, and their rows."""
    fixed = {"beta": 1.0, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
    axes = (
        Axis("alpha", tuple(0.5 + 0.1 * k for k in range(11))), Axis("ridge", (0.1, 0.3, 1.0)),
        *(Axis(name, (value,), swept=False) for name, value in fixed.items()),
    )  # fmt: skip
    sweep = Sweep("tanh(z)", "sin(z)", axes)
    return sweep, tuple(
        row for start in range(0, len(sweep), 16) for row in solve_chunk(sweep, start, min(start + 16, 33))
    )


_DAMAGE = {
    "points": "DELETE FROM points WHERE point = ?",
    "value": "UPDATE points SET test_error = test_error * 1.01 WHERE point = ?",
    "chunks": "DELETE FROM chunks WHERE number = ? / 16",
}


class Trusting(Store):
    """A store that believes what it finds."""

    def _drop_damaged(self, file: sqlite3.Connection) -> int:
        return 0


_ORIGIN = {"suite": "1"}


@holds(
    "result-3-3.worked-test-error", reason="exact, row by row", examples=8, shown=_shown("a-store-is-whole"),
    drawn=_several(st.one_of(
        st.just(("one chunk",)), st.just(("interrupted and resumed",)), st.just(("a second writer",)),
        st.tuples(st.sampled_from(sorted(_DAMAGE)), st.integers(0, 32)))),
    planted=plant("what is found is believed", store=Trusting),
)  # fmt: skip
def a_store_is_whole(done: list[Step], theory: Theory) -> float:
    """A sweep's result file, interrupted, resumed, shared and damaged, holds only rows that were computed, and at the
    end all of them."""
    sweep, rows = _sweep()
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder) / "out"

        def stored() -> dict[int, Row]:
            with closing(sqlite3.connect(out / FILE)) as file:
                return {row[0]: row for row in file.execute("SELECT * FROM points")}

        def whole() -> bool:
            """Every row is as it was computed, and as many are counted as there are."""
            found = stored()
            return store.stored == len(found) and all(row == tuple(rows[point]) for point, row in found.items())

        store = theory.store(out, sweep, resume=False, origin=_ORIGIN)
        try:
            right = [whole()]
            for what, *point in done:
                if what == "one chunk":
                    for number, start, stop in list(store.pending())[:1]:
                        store.add(number, list(rows[start:stop]))
                elif what == "a second writer":  # is refused
                    try:
                        theory.store(out, sweep, resume=True, origin=_ORIGIN).close()
                        right.append(False)
                    except SweepError:
                        pass
                else:  # The writer goes, in the meantime something may happen, and another goes on.
                    store.close()
                    if what in _DAMAGE:
                        with closing(sqlite3.connect(out / FILE)) as file, file:
                            file.execute(_DAMAGE[what], point)
                    store = theory.store(out, sweep, resume=True, origin=_ORIGIN)
                right.append(whole())
            for number, start, stop in list(store.pending()):
                store.add(number, list(rows[start:stop]))
            return is_so(all(right) and stored() == {row[0]: tuple(row) for row in rows})
        finally:
            store.close()


# ---- a model, changed field by field ----

_ALWAYS: dict[str, Any] = {name: TAME[name] for name in ("alpha", "beta", "ridge", "noise")}
_ALWAYS |= {"activation": st.sampled_from(("tanh", "erf")), "target": st.sampled_from(("sin", "sign"))}
_FIELDS: dict[str, Any] = _ALWAYS | {"spike": spikes, "bulk": TAME["bulk"], "alignment": TAME["alignment"]}
_OF_A_STEP: dict[str, Any] = _ALWAYS | {"alpha0": steps(1, 60, "0.1"), "eta": steps(0, 60, "0.1")}


def _stale(model: Model, values: Mapping[str, Any]) -> Model:
    """After a step the noise changes nothing of the features."""
    made = model.changed(**values)
    if model.step is None or "noise" not in values:
        return made
    return made.as_given().changed(spike=model.spike, bulk=model.bulk, alignment=model.alignment)


_COMMON = {"activation": "tanh", "target": "sin", "alpha": 1.0, "beta": 1.0, "ridge": 0.1, "noise": 0.0}


def _changes(fields: dict[str, Any]) -> SearchStrategy[list[dict[str, Any]]]:
    """One to three fields take other values, several times."""
    names = st.lists(st.sampled_from(sorted(fields)), min_size=1, max_size=3, unique=True)
    return _several(names.flatmap(lambda chosen: st.fixed_dictionaries({name: fields[name] for name in chosen})))


@holds(
    "result-3-1.spike-strength-noisy", reason="exact, field by field", examples=12,
    shown=_shown("a-changed-model-is-one-built-anew"),
    drawn=st.one_of(
        st.tuples(st.just({"spike": 1.0, "bulk": 1.1, "alignment": 0.8}), _changes(_FIELDS)),
        st.tuples(st.just({"alpha0": 2.0, "eta": 2.0}), _changes(_OF_A_STEP))),
    planted=plant("after a step the noise changes nothing of the features", changed=_stale),
)  # fmt: skip
def a_changed_model_is_one_built_anew(case: tuple[dict[str, Any], list[dict[str, Any]]], theory: Theory) -> float:
    """A model changed field by field, in any order, is the model built anew from those fields."""
    own, changes = case
    make: Callable[..., Model] = theory.step if "eta" in own else Model
    fields: dict[str, Any] = _COMMON | own
    model, right = make(**fields), True
    for values in changes:
        fields |= values
        try:
            anew = make(**fields)
        except ModelError:
            continue
        model = theory.changed(model, values)
        same = all(getattr(model, name) == getattr(anew, name) for name in ("spike", "bulk", "alignment"))
        right = right and same and model == anew
    return is_so(right)


# ---- a ledger, edited ----

_LEDGER: dict[str, Any] = {
    "provenance": {"profile": "quick", "suite": "1"},
    "claims": [
        {"id": f"toy.{name}", "verdict": "CONFIRMED", "statement": "a = b", "uses": ["toy.one"],
         "evidence": [{"check": "numbers", "outcome": "supports", "z": 1.25, "points": 12,
                       "smallest_detectable": 1e-3}],
         "mutants": [{"name": "a sign", "verdict": "REFUTED"}, {"name": "eight per cent more", "verdict": "REFUTED"}]}
        for name in ("one", "two", "three")
    ],
}  # fmt: skip


def _leaves(node: Any, path: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    inner = node.items() if isinstance(node, dict) else enumerate(node) if isinstance(node, list) else None
    if inner is None:
        yield path
        return
    for key, value in inner:
        yield from _leaves(value, (*path, key))


def _at(node: Any, path: tuple[Any, ...]) -> Any:
    for key in path:
        node = node[key]
    return node


_PLACES = list(_leaves(_LEDGER))
_MAY_DRIFT = [path for path in _PLACES if path[-1] in ("z", "smallest_detectable")]
_OTHER = {str: "another", int: 7}


@holds(
    "result-3-3.worked-test-error", reason="exact but for z-scores (0.05) and detectable errors (5 %)", examples=80,
    shown=_shown("an-edited-ledger-drifts"),
    drawn=_several(st.one_of(
        st.tuples(st.just("altered"), st.sampled_from(_PLACES)), st.tuples(st.just("rounded"),
        st.sampled_from(_MAY_DRIFT)), st.tuples(st.just("deleted"), st.integers(0, 2)), st.just(("restored",)))),
    planted=plant("mutants are not compared", drift=lambda old, new: [
        found for found in THEORY.drift(old, new) if "mutants" not in found]),
)  # fmt: skip
def an_edited_ledger_drifts(done: list[Step], theory: Theory) -> float:
    """A ledger with any entry altered, deleted or added drifts from the committed one, and one restored does not."""
    ledger, edited, right = copy.deepcopy(_LEDGER), False, True
    for what, *where in done:
        if what == "restored":
            ledger, edited = copy.deepcopy(_LEDGER), False
        elif what == "deleted" and len(ledger["claims"]) == 3:
            del ledger["claims"][where[0]]
            edited = True
        elif what in ("altered", "rounded") and not edited:
            # A number that may drift does so a little: that alone is no difference.
            (path,), old = where, _at(_LEDGER, where[0])
            other = 1.01 * old if what == "rounded" else 1.5 * old if isinstance(old, float) else _OTHER[type(old)]
            _at(ledger, path[:-1])[path[-1]] = other
            edited = what == "altered"
        right = right and bool(theory.drift(_LEDGER, ledger)) == edited
    return is_so(right)
