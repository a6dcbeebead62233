"""A mistake in a rule of a derivation refutes the claims that rest on it: what a proof would have caught alone."""

from __future__ import annotations

import pytest

from onestep.verify.claims.index import all_claims
from onestep.verify.protocol.verdict import Verdict
from tests.planting.errors import Plant, planted, verdict_by_proof
from tests.planting.table import PLANTS

# From a wrong leaf the kernel may make nothing at all of what a claim speaks of.
FALLEN = (Verdict.REFUTED, Verdict.INCONCLUSIVE)
BY_ID = {claim.id: claim for claim in all_claims()}


@pytest.mark.parametrize("plant", PLANTS, ids=lambda plant: plant.name)
def test_a_wrong_rule_refutes_its_claims(plant: Plant) -> None:
    with planted(plant.module, plant.rule, plant.wrong(getattr(plant.module, plant.rule))):
        found = {i: verdict_by_proof(BY_ID[i]) for i in plant.ids}
    assert [i for i, verdict in found.items() if verdict not in FALLEN] == []
