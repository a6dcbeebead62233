"""The slides' theory: ours is proved, a planted wrong sign refutes, a slip may turn a misprint into the truth."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pytest
import sympy as sp

from onestep.derivations.equivalence import hermite_features
from onestep.derivations.language import symbols as s
from onestep.derivations.saddle_point import conventions as slides_conventions
from onestep.derivations.saddle_point.random_features import convex as convex_features
from onestep.derivations.saddle_point.random_features import square_loss as convex_square_loss
from onestep.verify.checks.mutants import mutants_of
from onestep.verify.claims.paper import PAPER
from onestep.verify.claims.slides import bounds as slides_bounds
from onestep.verify.claims.slides import convex as slides_convex
from onestep.verify.claims.slides import features as slides_features
from onestep.verify.claims.slides import map as slides_map
from onestep.verify.claims.slides import result as slides_result
from onestep.verify.claims.slides import step as slides_step
from onestep.verify.claims.slides.printed import as_printed, named, printed
from onestep.verify.protocol.claim import Claim, Mutant, Role
from onestep.verify.protocol.verdict import Verdict
from onestep.verify.second_route import losses as convex_numbers
from tests.planting.errors import verdict_by_proof
from tests.shared import toy

MODULES = (slides_bounds, slides_convex, slides_features, slides_map, slides_result, slides_step)
ALL = tuple(claim for module in MODULES for claim in module.CLAIMS)
# The error with many samples is a limit of the solver, taken in numbers.
PROVED = tuple(c for c in ALL if c.role is Role.OURS and c.id != "random-features.many-samples")


@pytest.fixture
def planting(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    def forget() -> None:
        for module in (convex_features, convex_square_loss, hermite_features, slides_conventions):
            for value in vars(module).values():
                if hasattr(value, "cache_clear"):
                    value.cache_clear()

    forget()
    yield monkeypatch
    monkeypatch.undo()
    forget()


@pytest.mark.parametrize("claim", PROVED, ids=lambda claim: claim.id)
def test_every_claim_of_ours_is_proved(claim: Claim) -> None:
    assert verdict_by_proof(claim) is Verdict.PROVED


def test_a_wrong_sign_in_the_trace_refutes_the_sizes(planting: pytest.MonkeyPatch) -> None:
    right = convex_features.entropic_trace
    planting.setattr(convex_features, "entropic_trace", lambda: -right())
    for id_ in ("convex-features.q-s", "convex-features.q-w", "convex-features.V-s"):
        assert verdict_by_proof(named(slides_convex.CLAIMS, id_)) is Verdict.REFUTED


def test_a_wrong_sign_of_the_envelope_refutes_the_conjugates(planting: pytest.MonkeyPatch) -> None:
    slope, in_V = convex_features.envelope_slopes()
    planting.setattr(convex_features, "envelope_slopes", lambda: (-slope, -in_V))
    for id_ in ("convex-features.q-s-hat", "convex-features.m-s-hat"):
        assert verdict_by_proof(named(slides_convex.CLAIMS, id_)) is Verdict.REFUTED


def test_a_wrong_hermite_recurrence_refutes_series_and_covariance(planting: pytest.MonkeyPatch) -> None:
    def wrong(order: int, argument: sp.Expr) -> sp.Expr:
        before, now = sp.S.Zero, sp.S.One
        for k in range(order):
            before, now = now, sp.expand(argument * now + k * before)
        return now

    planting.setattr(hermite_features, "hermite", wrong)
    assert verdict_by_proof(slides_features.SERIES) is Verdict.REFUTED


def test_a_wrong_resolvent_refutes_the_small_bulk(planting: pytest.MonkeyPatch) -> None:
    planting.setattr(slides_conventions, "resolvent_of_modes", lambda x: 1 / (s.ridge - s.V1_hat * x + s.V2_hat))
    for claim in (slides_result.NULL_MODES, slides_result.EIGENVALUES, slides_result.PROJECTIONS):
        assert verdict_by_proof(claim) is Verdict.REFUTED


def test_a_slip_that_restores_the_truth_is_no_mutant_of_a_misprint() -> None:
    # half the limit is the misprint; doubling it is the correction, tripling it is wrong
    right = toy.claim()
    halved = printed(
        right,
        "toy",
        "a toy",
        "a frame",
        sp.Eq(toy.norm, toy.LIMIT / 2),
        Mutant("doubled", sp.Eq(toy.norm, sp.expand(toy.LIMIT))),
        Mutant("tripled", sp.Eq(toy.norm, 3 * toy.LIMIT / 2)),
    )
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
