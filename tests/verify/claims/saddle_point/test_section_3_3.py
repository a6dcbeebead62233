"""Section 3.3 and Appendix C: numbers that see what a statement and its derivation share."""

from __future__ import annotations

from dataclasses import replace

import pytest
import sympy as sp

from giantsteps.derivations.language import symbols as s
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.claims.saddle_point import free_energy as appendix_c
from giantsteps.verify.claims.saddle_point import result_3_3 as section_3_3
from giantsteps.verify.claims.slides import saddle_point as slides_saddle_point
from giantsteps.verify.protocol.claim import PROFILES
from giantsteps.verify.protocol.evidence import Outcome
from giantsteps.verify.second_route.models import density_integrals

ALL = (*appendix_c.CLAIMS, *section_3_3.CLAIMS, *slides_saddle_point.CLAIMS)
BY_ID = {claim.id: claim for claim in ALL}


@pytest.mark.parametrize("name", ["entropic-term", "free-energy", "saddle.psi", "saddle.q1", "saddle.q2"])
def test_a_statement_and_its_derivation_wrong_alike_are_refuted_by_numbers(name: str) -> None:
    # Three times the target's force, as if the same slip were in the derivation: dense matrices know nothing of it.
    claim = BY_ID[f"result-3-3.{name}"]
    wrong = claim.statement.xreplace({s.psi_hat: sp.sqrt(3) * s.psi_hat})
    check = next(c for c in claim.checks if not isinstance(c, ByDerivation))
    assert check.run(claim, PROFILES["quick"], PAPER).outcome is Outcome.SUPPORTS
    assert check.run(replace(claim, statement=wrong), PROFILES["quick"], PAPER).outcome is Outcome.REFUTES


@pytest.mark.parametrize("beta", [0.4, 0.999, 1.001, 2.5])
def test_integrals_over_the_density_keep_the_trace_identity_next_to_beta_one(beta: float) -> None:
    # (1/p) tr[S S^-1] = 1 with S = shift + conjugate W W^T: exact, so only rounding of 540 terms is left.
    found = density_integrals(beta, 1.7, 0.3, 1.2)
    assert 0.3 * found[s.V2.name] + 1.2 * found[s.V1.name] == pytest.approx(1.0, abs=1e-13)
