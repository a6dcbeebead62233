"""Section 2, Section 3.1 and Appendix A: where the claims come from, and what they rest on."""

from __future__ import annotations

from giantsteps.derivations.gradient_step import spike as gradient_step
from giantsteps.derivations.language import symbols as s
from giantsteps.verify.claims.gradient_step import bulk as appendix_a_bulk
from giantsteps.verify.claims.gradient_step import result_3_1 as section_3_1
from giantsteps.verify.claims.gradient_step import setting as section_2
from giantsteps.verify.claims.gradient_step import spike as appendix_a

ALL = (*section_2.CLAIMS, *section_3_1.CLAIMS, *appendix_a.CLAIMS, *appendix_a_bulk.CLAIMS)
BY_ID = {claim.id: claim for claim in ALL}


def test_every_claim_names_equations_and_wrong_neighbours() -> None:
    assert all("(" in str(claim.source) and claim.mutants for claim in ALL)
    assert len(BY_ID) == len(ALL)


def test_the_hypotheses_that_the_spike_is_said_to_rest_on_are_those_of_its_derivation() -> None:
    assert gradient_step.spike().hypotheses == gradient_step.OF_THE_SPIKE
    assert gradient_step.spike(s.noise).hypotheses == gradient_step.OF_THE_SPIKE
