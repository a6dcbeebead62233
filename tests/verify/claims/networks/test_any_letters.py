"""The claims on two letters with any activation: verdicts and mutants without simulation, and rows of real networks."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.verify.claims.index import examine
from giantsteps.verify.claims.networks import any_letters
from giantsteps.verify.protocol.claim import Claim
from giantsteps.verify.protocol.evidence import Outcome
from giantsteps.verify.protocol.verdict import Verdict
from giantsteps.verify.second_route.any_activation import letters
from tests.planting.errors import without_simulation


@pytest.mark.parametrize("claim", any_letters.CLAIMS, ids=lambda claim: claim.id)
def test_proof_and_numbers_agree_and_catch_the_mutants(claim: Claim) -> None:
    # A second formula of a limit confirms nothing: that is left to the simulation.
    verdict, evidence, mutants, _ = examine(without_simulation(claim), "quick")
    assert verdict is Verdict.INCONCLUSIVE
    assert all(found.outcome is Outcome.SUPPORTS for found in evidence)
    assert len(mutants) >= 2
    assert [mutant.name for mutant in mutants if mutant.verdict is not Verdict.REFUTED] == []


@pytest.mark.parametrize("name", letters.MODELS)
def test_rows_of_real_networks(name: str) -> None:
    # The theory misses 1/d terms, at d = 200 as large as 2 % here; letters that do not mix would be 10 % off in T_12.
    pair, d = letters.MODELS[name], 200
    found = letters.iterated(pair)
    measured = np.mean([letters.resolvent(pair, d, seed) for seed in range(6)], axis=0)
    expected = (found.T[0, 0], found.T[0, 1], found.T[1, 1], *found.tau)
    np.testing.assert_allclose(measured, expected, rtol=0.06)


def test_the_matrix_of_the_rows_is_not_diagonal() -> None:
    # Where it is, letters act on their own: at C_12 = 0, and nowhere else.
    pair = letters.MODELS["softplus student, letters of either sign"]
    assert abs(letters.iterated(pair).seen[0, 1]) > 0.03
