"""The slides: printed claims."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.verify.checks.mutants import mutants_of
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.claims.slides.printed import as_printed, named, printed
from giantsteps.verify.protocol.claim import Role
from tests.shared import toy


def test_a_slip_that_restores_the_truth_is_no_mutant_of_a_misprint() -> None:
    # half the limit is the misprint; doubling it is the correction, tripling it is wrong
    right = toy.claim()
    wrong = {"doubled": sp.expand(toy.LIMIT), "tripled": 3 * toy.LIMIT / 2}
    halved = printed(right, "toy", "a toy", "a frame", sp.Eq(toy.norm, toy.LIMIT / 2), wrong=wrong)
    names = {mutant.name for mutant in mutants_of(halved, PAPER.siblings)}
    assert "tripled" in names
    assert "doubled" not in names
    assert halved.correction is right


def test_printed_claims_say_so() -> None:
    claim = as_printed(toy.claim(), "toy", "a toy", "a frame")
    assert (claim.id, claim.role, str(claim.source)) == ("slides.toy", Role.PRINTED, "slides, a frame, (1)")
    with pytest.raises(LookupError, match="nothing"):
        named((claim,), "nothing")
