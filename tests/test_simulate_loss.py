"""Experiments with other losses and with a learned bias, beside their theory."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from derivations.activation import activation
from numerics.ensembles import Network, SimulationError
from numerics.losses import HINGE, LOGISTIC, SQUARE, Loss, huber, loss_named
from numerics.model import Model, ReadoutGroup
from numerics.simulate import simulate
from numerics.simulate_loss import predict, simulate_loss
from reports.comparison import compared
from verify.finite_size import CONFIRMED, REFUTED, Observation, compare_all

TANH, SIGN = activation("tanh"), activation("sign")
MODEL = Model(TANH, SIGN, alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
TWO = replace(MODEL, groups=(ReadoutGroup(1.0, 0.5, 1.0, 0.4), ReadoutGroup(-0.5, 0.5, 1.3, -0.6)))
NETWORK = Network(TANH, SIGN, alpha=1.5, beta=1.0, ridge=0.1, alpha0=3.0, eta=3.0, noise=0.2)
SHIFTED = Model(
    TANH, activation("sin(z + 1/2)"), alpha=1.5, beta=1.0, ridge=0.1, noise=0.1, spike=1.0, bulk=1.0, alignment=0.8
)
SIZES = (75, 150, 300)

# Each comparison refutes a right theory with probability 1e-3, all its observables together; seeds are fixed.


@pytest.mark.parametrize("loss", ["logistic", "hinge", "huber:0.5", "absolute"])
def test_every_loss_agrees_with_its_theory(loss: str) -> None:
    found = compared(MODEL.changed(noise=0.1), dimensions=SIZES, seeds=16, loss=loss_named(loss))
    assert found.report.verdict == CONFIRMED, found.report.sentence
    assert {"classification_error", "mean_squared_error", "energy"} <= set(found.limit)


def test_groups_with_biases_agree() -> None:
    found = compared(TWO, dimensions=SIZES, seeds=16, loss=HINGE)
    assert found.report.verdict == CONFIRMED, found.report.sentence


@pytest.mark.thorough
def test_label_noise_in_both_steps_of_a_network_agrees() -> None:
    found = compared(NETWORK, dimensions=SIZES, seeds=16, kind="network", loss=LOGISTIC)
    assert found.report.verdict == CONFIRMED, found.report.sentence


@pytest.mark.thorough
def test_the_equivalent_map_agrees() -> None:
    found = compared(MODEL, dimensions=SIZES, seeds=16, kind="equivalent", loss=huber(0.5))
    assert found.report.verdict == CONFIRMED, found.report.sentence


def test_a_learned_bias_agrees() -> None:
    found = compared(SHIFTED, dimensions=SIZES, seeds=16, learned=True)
    assert found.report.verdict == CONFIRMED, found.report.sentence
    bias = next(c for c in found.report.comparisons if c.observable == "bias")
    assert bias.verdict == CONFIRMED
    # The bias is of order one: the comparison is not one of zeros.
    assert abs(found.limit["bias"]) > 0.3


def test_wrong_theories_are_refuted() -> None:
    """The checks above can fail: the same samples against other margins, and against the bias that was not learned."""
    hinge: list[Observation] = []
    for d in SIZES:
        run = simulate_loss(MODEL, HINGE, dimension=d, seeds=16)
        assert isinstance(run.model, Model)
        wrong = predict(run.model.changed(ridge=0.15), HINGE, sizes=run.sizes)
        hinge.append(Observation(d, run.values("q2"), wrong.values["q2"]))
    assert compare_all({"q2": hinge}).verdict == REFUTED
    bias = []
    for d in SIZES:
        run = simulate_loss(SHIFTED, SQUARE, dimension=d, seeds=16, learned=True)
        bias.append(Observation(d, run.values("bias"), 0.0))
    assert compare_all({"bias": bias}, scales={"bias": 1.0}).verdict == REFUTED


def test_the_draws_are_those_of_the_square_loss() -> None:
    """Huber's loss that never clips is the square one, and its readout the ridge readout of the same draws."""
    plain = simulate(SHIFTED, dimension=60, seeds=2)
    wide = simulate_loss(SHIFTED, huber(1e4), dimension=60, seeds=2)
    for name in ("m", "zeta", "psi", "q1", "q2"):
        assert wide.values(name) == pytest.approx(plain.values(name), rel=1e-4, abs=1e-5)
    assert np.array(wide.values("training_error")) * 2 == pytest.approx(plain.values("training_error"), rel=1e-5)
    assert wide.values("mean_squared_error") == pytest.approx(plain.values("test_error"), rel=0.2)
    same = simulate_loss(SHIFTED, SQUARE, dimension=60, seeds=2)
    assert same.samples == plain.samples


def test_the_learned_bias_is_the_best_on_its_training_set() -> None:
    run = simulate_loss(SHIFTED, SQUARE, dimension=60, seeds=3, learned=True)
    for b in (-0.5, 0.0, 0.4, 0.8):
        biased = replace(SHIFTED, groups=(ReadoutGroup(bias=b),))
        fixed = simulate_loss(biased, huber(1e4), dimension=60, seeds=3)
        # The same draws at a fixed bias: no energy is lower, up to the accuracy of the wide Huber loss's solver.
        assert np.all(np.array(run.values("energy")) <= np.array(fixed.values("energy")) * (1 + 1e-6))


@pytest.mark.parametrize("loss", [SQUARE, HINGE])
def test_what_cannot_be_simulated_is_refused(loss: Loss) -> None:
    with pytest.raises(SimulationError, match="spiked random features"):
        simulate_loss(NETWORK, loss, dimension=50, seeds=1, kind="network", learned=True)
    with pytest.raises(SimulationError, match="positive ridge"):
        simulate_loss(MODEL.changed(ridge=0.0), HINGE, dimension=50, seeds=1)
