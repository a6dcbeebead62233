"""Each lemma that theorems assume holds for numbers; the assumptions of theorems are few and listed."""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np
import pytest

import giantsteps.derivations
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Equation, Ground
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.reports.text.ledger_files import committed
from giantsteps.verify.claims.index import all_claims
from tests.references.lemma_numbers import NUMBERS

# Central differences with a step of 1e-4 of functions of order one, and limits at 1e7.
TOLERANCE = 2e-6
# Thirty hypotheses are aimed at: what Appendix D and the groups of a network say along a line still counts five claims.
MOST_LEMMAS, MOST_HYPOTHESES = 40, 34


def _stated(values: Iterable[Any]) -> Iterator[Assumption]:
    """The assumptions among the values of a module, in theorems and collections too."""
    for value in values:
        if isinstance(value, Assumption):
            yield value
        elif isinstance(value, Theorem):
            yield from value.assumptions
        elif isinstance(value, tuple | list | frozenset):
            yield from _stated(value)
        elif isinstance(value, Mapping):
            yield from _stated(value.values())


def lemmas() -> dict[str, Assumption]:
    """The lemmas that modules of derivations state, by name."""
    found: dict[str, Assumption] = {}
    for module in pkgutil.walk_packages(giantsteps.derivations.__path__, "giantsteps.derivations."):
        for assumed in _stated(vars(importlib.import_module(module.name)).values()):
            if assumed.ground is Ground.LEMMA:
                assert found.setdefault(assumed.name, assumed) == assumed, f"two lemmas are called {assumed.name!r}"
    return found


LEMMAS = lemmas()


@pytest.mark.parametrize("name", sorted(LEMMAS))
def test_a_lemma_holds(name: str) -> None:
    lemma, rng = LEMMAS[name], np.random.default_rng(7)
    for _ in range(3):
        left, right = NUMBERS[name](lemma, rng)
        if isinstance(lemma.statement, AtLeast):
            assert left > right
            continue
        assert left == pytest.approx(right, rel=TOLERANCE, abs=TOLERANCE)
        if isinstance(lemma.statement, Equation) and abs(right) > TOLERANCE:
            assert left != pytest.approx(27 / 25 * right, rel=TOLERANCE, abs=TOLERANCE)


def test_every_lemma_has_numbers_and_there_are_few() -> None:
    used = {assumed["names"][0] for assumed in recorded("lemma")}
    assert sorted((set(LEMMAS) | used) - set(NUMBERS)) == []
    assert sorted(set(NUMBERS) - set(LEMMAS)) == []
    assert len(set(LEMMAS) | used) <= MOST_LEMMAS


def recorded(kind: str) -> list[dict[str, Any]]:
    """The assumptions in the committed ledger."""
    ledger = committed()
    assert ledger is not None
    return [assumed for assumed in ledger.get("leaves", ()) if assumed["kind"] == kind]


def test_hypotheses_are_few_and_each_is_a_claim_or_a_sentence() -> None:
    known, hypotheses = {claim.id for claim in all_claims()}, recorded("hypothesis")
    assert len(hypotheses) <= MOST_HYPOTHESES
    for assumed in hypotheses:
        if assumed["claim"] is not None:
            assert assumed["claim"] in known, assumed
        else:
            assert all(len(reference.split()) >= 5 for reference in assumed["references"]), assumed


def test_a_lemma_says_where_it_is_from() -> None:
    assert [name for name, lemma in LEMMAS.items() if len(lemma.reference.split()) < 3] == []
