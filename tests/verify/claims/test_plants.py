"""A mistake in a rule of a derivation refutes the claims that rest on it: what a proof would have caught alone."""

from __future__ import annotations

import os

import pytest

from onestep.verify.claims.index import all_claims
from onestep.verify.protocol.claim import Role
from onestep.verify.protocol.verdict import Verdict
from tests.planting.errors import Plant, apart, planted, verdict_by_proof
from tests.planting.table import PLANTS

# From a wrong leaf the kernel may make nothing at all of what a claim speaks of.
FALLEN = (Verdict.REFUTED, Verdict.INCONCLUSIVE)
BY_ID = {claim.id: claim for claim in all_claims()}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_wrong_rule_refutes_its_claims(plant: Plant) -> None:
    claims = [BY_ID[id_] for id_ in plant.ids]
    # With the right rule they stand; what that builds is there for the other plants, and for the tests of the proofs.
    assert [c.id for c in claims if verdict_by_proof(c) is Verdict.REFUTED and c.role is Role.OURS] == []

    def found() -> dict[str, Verdict]:
        with planted(plant.module, plant.rule, plant.wrong(getattr(plant.module, plant.rule))):
            return {claim.id: verdict_by_proof(claim) for claim in claims}

    assert [i for i, verdict in apart(found).items() if verdict not in FALLEN] == []


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes cannot be copied here")
def test_a_copy_of_the_process_leaves_what_is_built_here_as_it_is() -> None:
    built = ["the right rule"]

    def work() -> list[str]:
        built.append("the wrong rule")
        return built

    assert apart(work) == ["the right rule", "the wrong rule"]
    assert built == ["the right rule"]


def test_what_goes_wrong_in_a_copy_is_seen() -> None:
    def wrong() -> None:
        raise ZeroDivisionError("there")

    with pytest.raises(ZeroDivisionError, match="there"):
        apart(wrong)
