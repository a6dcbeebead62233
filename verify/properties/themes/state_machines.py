"""What has a state, driven step by step: the store of a sweep, a model that is changed, a ledger that is edited."""

from __future__ import annotations

import copy
import sqlite3
import tempfile
from collections.abc import Callable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule

from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.sweeps.chunk import Row, columns, solve_chunk
from giantsteps.numerics.sweeps.store import FILE, Store
from giantsteps.numerics.sweeps.sweep import Axis, Sweep, SweepError
from giantsteps.verify.properties.property import THEORY, Theory, keeps, plant
from giantsteps.verify.properties.strategies import TAME, spikes, steps

Note = Callable[[float, str], None]


class Steps(RuleBasedStateMachine):
    """A machine that remembers its steps and notes whether each left what it should."""

    note: Note

    def __init__(self) -> None:
        super().__init__()
        self.done: list[str] = []

    def see(self, fact: bool) -> None:
        """Note the fact, with the steps that led here."""
        self.note(1.0 if fact else -1.0, "; ".join(self.done))


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


@keeps(
    "result-3-3.worked-test-error", reason="exact, row by row", examples=8,
    planted=plant("what is found is believed", store=Trusting),
)  # fmt: skip
def a_store_is_whole(theory: Theory, note: Note) -> type:
    """A sweep's result file, interrupted, resumed, shared and damaged, holds only rows that were computed, and at the
    end all of them."""

    class Machine(Steps):
        def __init__(self) -> None:
            super().__init__()
            self.note = note
            self.sweep, self.rows = _sweep()
            self.folder = tempfile.TemporaryDirectory()
            self.out = Path(self.folder.name) / "out"
            self.open = theory.store(self.out, self.sweep, resume=False, origin={"suite": "1"})

        @rule()
        def computed(self) -> None:
            """One chunk comes back."""
            job = next(iter(self.open.pending()), None)
            if job is not None:
                self.done.append(f"chunk {job[0]} is stored")
                self.open.add(job[0], list(self.rows[job[1] : job[2]]))

        @rule()
        def interrupted(self) -> None:
            """The writer goes, another goes on."""
            self.done.append("interrupted and resumed")
            self._resume()

        @rule()
        def shared(self) -> None:
            """A second writer is refused."""
            self.done.append("a second writer")
            try:
                theory.store(self.out, self.sweep, resume=True, origin={"suite": "1"}).close()
            except SweepError:
                self.see(True)
            else:
                self.see(False)

        @rule(point=st.integers(0, 32), way=st.sampled_from(sorted(_DAMAGE)))
        def damaged(self, point: int, way: str) -> None:
            """A row is deleted, a number altered or a chunk forgotten while nobody writes."""
            self.done.append(f"{way} damaged at point {point}")
            self.open.close()
            file = sqlite3.connect(self.out / FILE)
            file.execute(_DAMAGE[way], (point,))
            file.commit()
            file.close()
            self._resume()

        def _resume(self) -> None:
            self.open.close()
            self.open = theory.store(self.out, self.sweep, resume=True, origin={"suite": "1"})

        def _stored(self) -> dict[int, Row]:
            file = sqlite3.connect(self.out / FILE)
            found = {row[0]: row for row in file.execute("SELECT * FROM points")}
            file.close()
            return found

        @invariant()
        def only_what_was_computed(self) -> None:
            """Every row is as it was computed, and as many are counted as there are."""
            found = self._stored()
            right = all(row == tuple(self.rows[point]) for point, row in found.items())
            self.see(right and self.open.stored == len(found) and len(columns(self.sweep)) > 0)

        def teardown(self) -> None:
            try:
                for number, start, stop in list(self.open.pending()):
                    self.open.add(number, list(self.rows[start:stop]))
                self.see(self._stored() == {row[0]: tuple(row) for row in self.rows})
            finally:
                self.open.close()
                self.folder.cleanup()

    return Machine


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


@keeps(
    "result-3-1.spike-strength-noisy", reason="exact, field by field", examples=12,
    planted=plant("after a step the noise changes nothing of the features", changed=_stale),
)  # fmt: skip
def a_changed_model_is_one_built_anew(theory: Theory, note: Note) -> type:
    """A model changed field by field, in any order, is the model built anew from those fields."""

    class Machine(Steps):
        @initialize(step=st.booleans())
        def built(self, step: bool) -> None:
            """A model by its spike, or from a gradient step."""
            self.note = note
            common: dict[str, Any] = {
                "activation": "tanh",
                "target": "sin",
                "alpha": 1.0,
                "beta": 1.0,
                "ridge": 0.1,
                "noise": 0.0,
            }
            own = {"alpha0": 2.0, "eta": 2.0} if step else {"spike": 1.0, "bulk": 1.1, "alignment": 0.8}
            self.make: Callable[..., Model] = theory.step if step else Model
            self.fields: dict[str, Any] = common | own
            self.model = self.make(**self.fields)

        @rule(data=st.data())
        def change(self, data: st.DataObject) -> None:
            """One to three fields take other values."""
            own = _OF_A_STEP if "eta" in self.fields else _FIELDS
            names = data.draw(st.lists(st.sampled_from(sorted(own)), min_size=1, max_size=3, unique=True))
            values = {name: data.draw(own[name]) for name in names}
            self.done.append(", ".join(f"{name} = {value}" for name, value in values.items()))
            self.fields |= values
            try:
                anew = self.make(**self.fields)
            except ModelError:
                return
            self.model = theory.changed(self.model, values)
            same = all(getattr(self.model, name) == getattr(anew, name) for name in ("spike", "bulk", "alignment"))
            self.see(same and self.model == anew)

    return Machine


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
_OTHER = {str: "another", int: 7}


@keeps(
    "result-3-3.worked-test-error", reason="exact but for z-scores (0.05) and detectable errors (5 %)", examples=80,
    planted=plant("mutants are not compared", drift=lambda old, new: [
        found for found in THEORY.drift(old, new) if "mutants" not in found]),
)  # fmt: skip
def an_edited_ledger_drifts(theory: Theory, note: Note) -> type:
    """A ledger with any entry altered, deleted or added drifts from the committed one, and one restored does not."""

    class Machine(Steps):
        def __init__(self) -> None:
            super().__init__()
            self.note = note
            self.ledger = copy.deepcopy(_LEDGER)
            self.edits: set[str] = set()

        @rule(path=st.sampled_from(_PLACES))
        def altered(self, path: tuple[Any, ...]) -> None:
            """A leaf takes another value."""
            self._edit(path, lambda old: 1.5 * old if isinstance(old, float) else _OTHER[type(old)])

        @rule(path=st.sampled_from([path for path in _PLACES if path[-1] in ("z", "smallest_detectable")]))
        def rounded(self, path: tuple[Any, ...]) -> None:
            """A number that may drift does so a little: that alone is none."""
            self._edit(path, lambda old: old * 1.01, counts=False)

        def _edit(self, path: tuple[Any, ...], change: Callable[[Any], Any], counts: bool = True) -> None:
            if len(self.ledger["claims"]) != 3 or self.edits:
                return
            self.done.append(f"{'/'.join(map(str, path))} altered")
            _at(self.ledger, path[:-1])[path[-1]] = change(_at(_LEDGER, path))
            self.edits |= {"/".join(map(str, path))} if counts else set()

        @rule(which=st.integers(0, 2))
        def deleted(self, which: int) -> None:
            """A claim goes."""
            if len(self.ledger["claims"]) == 3:
                self.done.append(f"claim {which} deleted")
                del self.ledger["claims"][which]
                self.edits.add("deleted")

        @rule()
        def restored(self) -> None:
            """The committed one comes back."""
            self.done.append("restored")
            self.ledger, self.edits = copy.deepcopy(_LEDGER), set()

        @invariant()
        def drifts_where_it_was_edited(self) -> None:
            """There is a difference if and only if an edit counts."""
            self.see(bool(theory.drift(_LEDGER, self.ledger)) == bool(self.edits))

    return Machine
