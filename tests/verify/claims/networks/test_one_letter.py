"""The claims on the network's own bulk: verdicts, and wrong signs planted in the rules that have to turn them REFUTED.

The simulations run with the ledger; here they run for two claims, and the other claims by derivation and numbers.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from onestep.derivations.bulk import network as network_bulk
from onestep.derivations.bulk import network_rows
from onestep.derivations.gradient_step import constants as gradient_constants
from onestep.verify.checks.simulation import BySimulation
from onestep.verify.claims.index import all_claims, examine
from onestep.verify.claims.networks import bulk as bulk_claims
from onestep.verify.claims.networks import rows as row_claims
from onestep.verify.claims.paper import PAPER
from onestep.verify.protocol.claim import PROFILES, Claim
from onestep.verify.protocol.verdict import Verdict
from tests.planting.network import clearing, without_simulation

CLAIMS = (*row_claims.CLAIMS, *bulk_claims.CLAIMS)
BY_ID = {claim.id: claim for claim in CLAIMS}
BUILDS = (
    network_rows.covariance,
    network_rows.norm_covariance,
    network_rows.norm_variance,
    network_rows.gaussian_rows,
    network_bulk.batch,
    network_bulk.batch_vectors,
    network_bulk.rows,
    network_bulk.width,
    network_bulk.overlaps,
    network_bulk.third_function,
    network_bulk.errors,
    network_bulk.readout_mean,
    network_bulk.large_batch,
)


@pytest.fixture
def fresh() -> Iterator[Callable[[], None]]:
    """Clears the caches of the derivations, before and after a planted mistake."""
    yield from clearing(BUILDS)


def verdict_of(id_: str) -> Verdict:
    """By derivation and numbers."""
    return examine(without_simulation(BY_ID[id_]), "quick")[0]


def test_the_ledger_has_them_under_one_prefix() -> None:
    assert set(BY_ID) <= {claim.id for claim in all_claims()}
    assert all(id_.startswith("beyond.") for id_ in BY_ID)


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.id)
def test_verdict_and_mutants(claim: Claim) -> None:
    verdict, evidence, mutants = examine(without_simulation(claim), "quick")
    # A claim on the batch has no check but its derivation here, which takes no limit.
    derived_only = claim.id.startswith("beyond.batch-")
    expected = {Verdict.INCONCLUSIVE} if derived_only else {Verdict.PROVED, Verdict.CONFIRMED}
    assert verdict in expected, [e.summary for e in evidence]
    assert len(mutants) >= 2
    assert [m.name for m in mutants if m.verdict is not Verdict.REFUTED] == []


@pytest.mark.parametrize("id_", ["beyond.batch-pair", "beyond.overlap-norm"])
def test_simulations_confirm(id_: str) -> None:
    # Seeded: the protocol's false-alarm rate is 1e-3 per claim, met once when the seeds were chosen.
    claim = BY_ID[id_]
    (check,) = (c for c in claim.checks if isinstance(c, BySimulation))
    assert check.run(claim, PROFILES["quick"], PAPER).outcome == "supports"


def test_a_wrong_sign_in_leave_one_out_refutes(fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(network_bulk, "removed", lambda form, weight: form / (1 - weight * form))
    fresh()
    assert verdict_of("beyond.batch-trace") is Verdict.REFUTED
    assert verdict_of("beyond.batch-pair") is Verdict.REFUTED


def test_a_wrong_sign_in_sherman_morrison_refutes(fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    right = network_bulk.without_spike
    monkeypatch.setattr(
        network_bulk, "without_spike", lambda both, left, right_, own: 2 * both - right(both, left, right_, own)
    )
    fresh()
    assert verdict_of("beyond.overlap-spike") is Verdict.REFUTED
    assert verdict_of("beyond.overlap-norm") is Verdict.REFUTED


def test_a_wrong_sign_in_stein_s_lemma_refutes(fresh: Callable[[], None], monkeypatch: pytest.MonkeyPatch) -> None:
    right = gradient_constants.stein_step
    monkeypatch.setattr(network_rows, "stein_step", lambda *arguments: -right(*arguments))
    monkeypatch.setattr(network_bulk, "stein_step", lambda *arguments: -right(*arguments))
    fresh()
    assert verdict_of("beyond.norm-along-target") is Verdict.REFUTED
    assert verdict_of("beyond.third-function") is Verdict.REFUTED
