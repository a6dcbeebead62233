"""The claims on the network's own bulk: verdicts and mutants.

The simulations run with the ledger; here they run for two claims, and the other claims by derivation and numbers.
"""

from __future__ import annotations

import pytest

from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.index import all_claims, examine
from giantsteps.verify.claims.networks import bulk as bulk_claims
from giantsteps.verify.claims.networks import rows as row_claims
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Claim, Kind
from giantsteps.verify.protocol.verdict import Verdict
from tests.planting.errors import without_simulation

CLAIMS = (*row_claims.CLAIMS, *bulk_claims.CLAIMS)
BY_ID = {claim.id: claim for claim in CLAIMS}


def test_the_ledger_has_them_under_one_prefix() -> None:
    assert set(BY_ID) <= {claim.id for claim in all_claims()}
    assert all(id_.startswith("beyond.") for id_ in BY_ID)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_and_mutants(claim: Claim) -> None:
    verdict, evidence, mutants, _ = examine(without_simulation(claim), "quick")
    # A second formula of a limit confirms nothing, and the derivations neglect terms whose order they do not bound.
    open_ = claim.kind is Kind.LIMIT
    expected = {Verdict.INCONCLUSIVE} if open_ else {Verdict.PROVED, Verdict.DERIVED, Verdict.CONFIRMED}
    assert verdict in expected, [e.summary for e in evidence]
    assert len(mutants) >= 2
    assert [m.name for m in mutants if m.verdict is not Verdict.REFUTED] == []


@pytest.mark.parametrize("id_", ["beyond.batch-pair", "beyond.overlap-norm"])
def test_simulations_confirm(id_: str) -> None:
    # Seeded: the protocol's false-alarm rate is 1e-3 per claim, met once when the seeds were chosen.
    claim = BY_ID[id_]
    (check,) = (c for c in claim.checks if isinstance(c, BySimulation))
    assert check.run(claim, PROFILES["quick"], PAPER).outcome == "supports"
