"""The slides: printed claims, and the proximal maps that their numbers rest on."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.verify.checks.mutants import mutants_of
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.claims.slides.printed import as_printed, named, printed
from giantsteps.verify.compiled import losses as convex_numbers
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


@pytest.mark.parametrize("name", convex_numbers.LOSSES)
def test_the_proximal_map_minimises_its_objective(name: str) -> None:
    # at the minimum x - omega + V l'(y, x) = 0; Newton's method stops at rounding, errors below 1e-13
    loss, rng = convex_numbers.LOSSES[name], np.random.default_rng(7)
    y, omega, V = rng.standard_normal(200), 3 * rng.standard_normal(200), 1.3
    x = convex_numbers.proximal(loss, y, omega, V)
    assert np.max(np.abs(x - omega + V * loss.slope(y, x))) < 1e-12
    # the derivatives of the loss by central differences of step 1e-5: error 1e-10
    h = 1e-5
    assert loss.slope(y, x) == pytest.approx((loss.value(y, x + h) - loss.value(y, x - h)) / (2 * h), abs=1e-9)
    assert loss.curvature(y, x) == pytest.approx((loss.slope(y, x + h) - loss.slope(y, x - h)) / (2 * h), abs=1e-9)


def test_the_square_loss_has_a_linear_proximal_map() -> None:
    # (omega + V y)/(1 + V) = (2 + 0.5)/(1.5) at V = 1/2, y = 1, omega = 2
    x = convex_numbers.proximal(convex_numbers.LOSSES["square"], np.array([1.0]), np.array([2.0]), 0.5)
    assert x == pytest.approx([2.5 / 1.5], abs=1e-14)
