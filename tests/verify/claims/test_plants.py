"""A mistake in a rule of a derivation refutes the claims that rest on it: what a proof would have caught alone."""

from __future__ import annotations

import functools
from types import ModuleType

import pytest

from giantsteps.verify.claims.index import all_claims
from giantsteps.verify.protocol.claim import Role
from giantsteps.verify.protocol.verdict import Verdict
from tests.planting.errors import Plant, apart, planted, verdict_by_proof
from tests.planting.table import PLANTS

# From a wrong leaf the kernel may make nothing at all of what a claim speaks of.
FALLEN = (Verdict.REFUTED, Verdict.INCONCLUSIVE)
BY_ID = {claim.id: claim for claim in all_claims()}
NUMBERED = tuple(enumerate(PLANTS))


@functools.cache
def found_in(module: ModuleType) -> dict[int, dict[str, Verdict]]:
    """What each plant of a module makes of its claims: in one copy of this process, since all of them forget the same,
    before and after.
    """

    def found(plant: Plant) -> dict[str, Verdict]:
        with planted(plant.module, plant.rule, plant.wrong(getattr(plant.module, plant.rule))):
            return {id_: verdict_by_proof(BY_ID[id_]) for id_ in plant.ids}

    return apart(lambda: {k: found(plant) for k, plant in NUMBERED if plant.module is module})


@functools.cache
def right(id_: str) -> Verdict:
    """The verdict with the right rules: what that builds is there for the plants, and for the tests of the proofs."""
    return verdict_by_proof(BY_ID[id_])


@pytest.mark.parametrize(("number", "plant"), NUMBERED, ids=[plant.name for plant in PLANTS])
def test_a_wrong_rule_refutes_its_claims(number: int, plant: Plant) -> None:
    together = [id_ for other in PLANTS if other.module is plant.module for id_ in other.ids]
    stand = {id_: right(id_) for id_ in together}
    assert [i for i in plant.ids if stand[i] is Verdict.REFUTED and BY_ID[i].role is Role.OURS] == []
    found = found_in(plant.module)[number]
    assert set(found) == set(plant.ids)
    # What falls is no longer what it was: the proof of a limit decides nothing alone.
    assert [i for i, verdict in found.items() if verdict not in FALLEN or verdict is stand[i]] == []


def test_what_goes_wrong_in_a_copy_is_seen() -> None:
    def wrong() -> None:
        raise ZeroDivisionError("there")

    with pytest.raises(ZeroDivisionError, match="there"):
        apart(wrong)
