"""Experiments with other losses and with a learned bias, beside their theory."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cache

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.learned_bias import Basins, learned_bias
from giantsteps.numerics.experiments.bias_search import best_bias
from giantsteps.numerics.experiments.simulate import predict, simulate
from giantsteps.numerics.models.losses import HINGE, SQUARE, Loss, huber
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network, SimulationError
from giantsteps.reports.answers.comparison import Compared, compare
from giantsteps.verify.checks.finite_size import CONFIRMED, REFUTED, Observation, compare_all

TANH, SIGN = activation("tanh"), activation("sign")
MODEL = Model(TANH, SIGN, alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
TWO = replace(MODEL, readout=(ReadoutGroup(1.0, 0.5, 1.0, 0.4), ReadoutGroup(-0.5, 0.5, 1.3, -0.6)))
NETWORK = Network(TANH, SIGN, alpha=1.5, beta=1.0, ridge=0.1, alpha0=3.0, eta=3.0, noise=0.2)
SHIFTED = Model(
    TANH, activation("sin(z + 1/2)"), alpha=1.5, beta=1.0, ridge=0.1, noise=0.1, spike=1.0, bulk=1.0, alignment=0.8
)
# Two minima of the training energy, 2.3 % apart.
CLOSE = Model(
    TANH, activation("relu"), alpha=2.14, beta=1.85, ridge=0.0779, spike=0.727, bulk=0.909, alignment=0.594,
    noise=0.0274,
)  # fmt: skip
SIZES = (75, 150, 300)

# Each comparison refutes a right theory with probability 1e-3, all its observables together; seeds are fixed.


@cache
def compared(subject: Model, learned: bool = False) -> Compared:
    """Experiments beside their theory; a wrong theory meets the same experiments."""
    return compare(subject, dimensions=SIZES, seeds=16, learned=learned)


@pytest.mark.parametrize(
    "loss", ["logistic", "hinge", "huber:0.5", pytest.param("absolute", marks=pytest.mark.thorough)]
)
def test_every_loss_agrees_with_its_theory(loss: str) -> None:
    found = compared(MODEL.changed(noise=0.1, loss=loss))
    assert found.report.verdict == CONFIRMED, found.report.sentence
    assert {"classification_error", "mean_squared_error", "energy"} <= set(found.limit)


def test_a_learned_bias_agrees() -> None:
    found = compared(SHIFTED, learned=True)
    assert found.report.verdict == CONFIRMED, found.report.sentence
    bias = found.report.comparison("bias")
    assert bias.verdict == CONFIRMED
    # The bias is of order one: the comparison is not one of zeros.
    assert abs(found.limit["bias"]) > 0.3


def test_wrong_theories_are_refuted() -> None:
    """The checks above can fail: the same samples against other margins, and against the bias that was not learned."""
    hinge: list[Observation] = []
    for run in compared(MODEL.changed(noise=0.1, loss=HINGE)).simulations:
        assert isinstance(run.model, Model)
        wrong = predict(run.model.changed(ridge=0.15), sizes=run.sizes)
        hinge.append(Observation(run.dimension, run.values("q2"), wrong.values["q2"]))
    assert compare_all({"q2": hinge}).verdict == REFUTED
    runs = compared(SHIFTED, learned=True).simulations
    bias = [Observation(run.dimension, run.values("bias"), 0.0) for run in runs]
    assert compare_all({"bias": bias}, scales={"bias": 1.0}).verdict == REFUTED


def test_the_draws_are_those_of_the_square_loss() -> None:
    """Huber's loss that never clips is the square one, and its readout the ridge readout of the same draws."""
    plain = simulate(SHIFTED, dimension=60, seeds=2)
    wide = simulate(SHIFTED.changed(loss=huber(1e4)), dimension=60, seeds=2)
    for name in ("m", "zeta", "psi", "q1", "q2"):
        assert wide.values(name) == pytest.approx(plain.values(name), rel=1e-4, abs=1e-5)
    assert np.array(wide.values("training_error")) * 2 == pytest.approx(plain.values("training_error"), rel=1e-5)
    assert wide.values("mean_squared_error") == pytest.approx(plain.values("test_error"), rel=0.2)
    same = simulate(SHIFTED, dimension=60, seeds=2)
    assert same.samples == plain.samples


def test_the_learned_bias_is_the_best_on_its_training_set() -> None:
    run = simulate(SHIFTED, dimension=60, seeds=3, learned=True)
    for b in (-0.5, 0.0, 0.4, 0.8):
        biased = replace(SHIFTED, readout=(ReadoutGroup(bias=b),))
        fixed = simulate(biased.changed(loss=huber(1e4)), dimension=60, seeds=3)
        # The same draws at a fixed bias: no energy is lower, up to the accuracy of the wide Huber loss's solver.
        assert np.all(np.array(run.values("energy")) <= np.array(fixed.values("energy")) * (1 + 1e-6))


def test_a_bias_is_learned_in_the_basin_that_is_asked_for() -> None:
    """The best of the two basins is the best of the line, on the same draws; the gap is the difference of the two."""
    found = learned_bias(CLOSE)
    runs = [simulate(CLOSE, dimension=60, seeds=6, learned=True, basins=found.basins(k)) for k in (0, 1)]
    whole = simulate(CLOSE, dimension=60, seeds=6, learned=True)
    lowest, second = (np.array(run.values("energy")) for run in runs)
    # A bias is found to 5e-5, where the energy is stationary; in the other basin to 5e-3.
    assert np.array(whole.values("energy")) == pytest.approx(np.minimum(lowest, second), abs=1e-7)
    assert np.array(runs[0].values("energy_gap")) == pytest.approx(second - lowest, abs=1e-4)
    assert np.array(runs[1].values("energy_gap")) == pytest.approx(lowest - second, abs=1e-4)
    barrier = found.barriers[0]
    assert min(runs[0].values("bias")) > barrier > max(runs[1].values("bias"))


def test_the_theory_of_a_basin() -> None:
    found = learned_bias(CLOSE)
    lowest, second = (predict(CLOSE, learned=True, basins=found.basins(k)) for k in (0, 1))
    assert lowest.converged
    assert second.converged
    assert lowest.values["bias"] == found.bias == predict(CLOSE, learned=True).values["bias"]
    # A minimum's energy is that of its solution, up to the quadrature of the scan.
    assert second.values["energy"] == pytest.approx(found.ranked[1].energy, abs=1e-9)
    assert lowest.values["energy_gap"] == pytest.approx(found.ranked[1].energy - found.energy, abs=1e-9)
    assert second.values["energy_gap"] == pytest.approx(-lowest.values["energy_gap"], abs=1e-12)
    nowhere = Basins((7.0, 8.0), (found.basins().home,))
    assert not predict(CLOSE, learned=True, basins=nowhere).converged
    mirrored = replace(SHIFTED, target=activation("he2"))
    gap = predict(mirrored, learned=True, basins=learned_bias(mirrored).basins()).values["energy_gap"]
    assert gap == 0.0


def test_minima_that_trade_places_refute_no_right_theory() -> None:
    """At these dimensions two experiments in five prefer the second minimum: a mixture on the whole line."""
    found = compare(CLOSE, dimensions=(40, 60, 90), seeds=24, learned=True)
    assert found.report.verdict != REFUTED, found.report.sentence
    assert found.shares is not None
    # The shares that are predicted lie between 40 % and 50 %; of 72 experiments 20 % is 4 standard errors below 45 %.
    assert np.mean([share.elsewhere for share in found.shares.shares]) > 0.2
    # What the restriction is for: at the same dimension the mean bias of the whole line is far from that minimum.
    biases = np.array(simulate(CLOSE, dimension=100, seeds=48, learned=True).values("bias"))
    assert np.mean(biases) < found.limit["bias"] - 4.0 * np.std(biases, ddof=1) / np.sqrt(biases.size)


@pytest.mark.parametrize("loss", [SQUARE, HINGE])
def test_what_cannot_be_simulated_is_refused(loss: Loss) -> None:
    with pytest.raises(SimulationError, match="equivalent map"):
        simulate(replace(NETWORK, loss=loss), dimension=50, seeds=1, kind="equivalent", learned=True)
    with pytest.raises(SimulationError, match="positive ridge"):
        simulate(MODEL.changed(ridge=0.0, loss=HINGE), dimension=50, seeds=1)


WHOLE = (-math.inf, math.inf)


@dataclass(frozen=True)
class Well:
    """(b^2 - 1)^2 + b/5: minima near -1.02 (the lower) and 0.97, a barrier near 0.05."""

    bias: float

    @property
    def energy(self) -> float:
        return (self.bias**2 - 1.0) ** 2 + self.bias / 5.0


def root(start: float) -> float:
    """Newton's zero of the derivative 4 b (b^2 - 1) + 1/5."""
    b = start
    for _ in range(50):
        b -= (4.0 * b * (b * b - 1.0) + 0.2) / (12.0 * b * b - 4.0)
    return b


@pytest.mark.parametrize(("interval", "expected"), [(WHOLE, root(-1.0)), ((0.05, math.inf), root(1.0))])
def test_the_lowest_point_of_an_interval(interval: tuple[float, float], expected: float) -> None:
    bias, found = best_bias(Well, 4.0, interval, 1e-6)
    # The search stops at 1e-6 of the reach 4.
    assert bias == pytest.approx(expected, abs=1e-5)
    assert found.energy == Well(bias).energy


def test_an_energy_that_falls_to_the_end() -> None:
    # Between 1.5 and 3 the energy rises, between -3 and -1.5 it falls: the lowest point is the inner end.
    assert best_bias(Well, 4.0, (1.5, 3.0), 1e-6)[0] == pytest.approx(1.5, abs=1e-5)
    assert best_bias(Well, 4.0, (-3.0, -1.5), 1e-6)[0] == pytest.approx(-1.5, abs=1e-5)
    # An interval between two points of the scan, its minimum next to an end.
    assert best_bias(Well, 4.0, (0.6, 0.99), 1e-6)[0] == pytest.approx(root(1.0), abs=1e-5)


@dataclass(frozen=True)
class Three:
    """Three wells, narrow beside the steps of the scan, which meets the shallowest at its lowest point alone."""

    bias: float

    @property
    def energy(self) -> float:
        wells = ((-2.12, 1.0), (0.3, 2.0), (2.5, 0.9))
        return 0.01 * self.bias**2 - sum(depth * math.exp(-(((self.bias - b) / 0.2) ** 2)) for b, depth in wells)


def test_every_dip_of_the_scan_is_refined() -> None:
    """Of a reach of 4 the scan has steps of a half: at 2.5 it meets a well of 0.9, of that of 2 at 0.3 the side."""
    grid = [-4.0 + 0.5 * k for k in range(17)]
    assert min(grid, key=lambda b: Three(b).energy) == 2.5
    bias, found = best_bias(Three, 4.0, WHOLE, 1e-6)
    assert bias == pytest.approx(0.3, abs=1e-2)
    assert found.energy < -1.9
