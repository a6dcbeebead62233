"""Orders, shapes and signs of the slides: ours holds by proof, the printed form falls by it, numbers agree."""

from __future__ import annotations

import numpy as np
import pytest

from onestep.derivations.gradient_step import orders as slides_orders
from onestep.derivations.language import symbols as s
from onestep.derivations.language.exponents import Order
from onestep.verify.claims.index import examine
from onestep.verify.claims.slides import orders as claims
from onestep.verify.protocol.claim import Claim, Kind, Role
from onestep.verify.protocol.verdict import Verdict
from onestep.verify.second_route.gradient_step import orders as slides_orders_numbers
from tests.planting.errors import verdict_by_proof


def expected(claim: Claim) -> Verdict:
    if claim.role is Role.PRINTED and claim.id != "slides.kernel":
        return Verdict.REFUTED
    return Verdict.INCONCLUSIVE if claim.kind is Kind.CONCENTRATION else Verdict.PROVED


@pytest.mark.parametrize("claim", claims.CLAIMS, ids=lambda claim: claim.id)
def test_proofs_decide(claim: Claim) -> None:
    assert verdict_by_proof(claim) is expected(claim)
    assert len(claim.mutants) >= 2


def test_a_wrong_width_refutes_the_order_of_the_spike(monkeypatch: pytest.MonkeyPatch) -> None:
    slides_orders.giant_step.cache_clear()
    monkeypatch.setattr(slides_orders, "BATCH_MEAN", Order(s.readout_rate))
    assert verdict_by_proof(claims.SPIKE_ORDER) is Verdict.REFUTED
    monkeypatch.undo()
    slides_orders.giant_step.cache_clear()


def test_the_step_is_the_gradient_of_the_squared_error() -> None:
    """Along one weight: minus half the derivative of the mean squared error, by a central difference of step 1e-5."""
    rng = np.random.default_rng(11)
    state = rng.bit_generator.state
    moved, theta = slides_orders_numbers.step(rng, 5, 7, 3, 0.4)
    rng.bit_generator.state = state
    rows = rng.standard_normal((3, 5))
    rows /= np.linalg.norm(rows, axis=1)[:, None]
    rng.standard_normal(5)
    x = rng.standard_normal((7, 5))

    def loss(step: float) -> float:
        changed = rows.copy()
        changed[1, 2] += step
        output = np.tanh(x @ changed.T) @ np.full(3, 0.4) / np.sqrt(3)
        return float(np.mean((np.tanh(x @ theta) - output) ** 2)) / 2

    # error of the difference: 1e-10 from its curvature, 1e-11 from rounding
    assert moved[1, 2] == pytest.approx(-(loss(1e-5) - loss(-1e-5)) / 2e-5, abs=1e-8)


@pytest.mark.parametrize("id_", ["wider.rate.conventions", "random-features.kernel", "slides.overlap-without-modulus"])
def test_mutants_fall(id_: str) -> None:
    claim = next(c for c in claims.CLAIMS if c.id == id_)
    _, _, mutants = examine(claim, "quick")
    assert {m.verdict for m in mutants} == {Verdict.REFUTED}
