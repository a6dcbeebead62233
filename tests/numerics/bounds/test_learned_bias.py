"""The learned bias: all local minima of the training free energy, the global one named."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.learned_bias import learned_bias, training_energy, with_bias
from giantsteps.numerics.models import losses
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.ridge import solve

VALUES = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}


def _model(student: str, target: str, **values: object) -> Model:
    return Model(activation(student), activation(target), **(VALUES | values))  # type: ignore[arg-type]


def test_the_energy_is_that_of_the_solution() -> None:
    model = with_bias(_model("tanh", "sin"), 0.3)
    found = solve(model)
    by_hand = 0.5 * (1.5 * found.training_error + 0.1 * float(np.sum(found.order_parameters.q2)))
    # The same saddle point, on a rule of one doubling.
    assert training_energy(model) == pytest.approx(by_hand, abs=1e-11)
    # (y - h)^2/2 as a convex loss is another program for it.
    wide = losses.huber(50.0)
    assert training_energy(model.changed(loss=wide)) == pytest.approx(by_hand, abs=1e-9)


def test_a_shifted_target_moves_the_bias() -> None:
    # An even target and an odd activation: without bias nothing of the target is learned but a constant's worth.
    model = _model("tanh", "he2", spike=1.5)
    found = learned_bias(model)
    assert len(found.minima) >= 2
    # Mirror images: tanh(z - b) = -tanh(-z + b), and the readout takes the sign.
    assert found.tied
    assert found.bias > 0.1
    biases = sorted(minimum.bias for minimum in found.minima)
    # A golden section finds a minimum to the root of rounding, 1e-7 of the scale.
    assert biases == pytest.approx([-b for b in reversed(biases)], abs=1e-5)
    scan = [training_energy(with_bias(model, float(b))) for b in np.linspace(-4.0, 4.0, 41)]
    assert found.energy <= min(scan) + 1e-13
    assert found.energy < training_energy(model) - 1e-3
    assert found.model.biases == (found.bias,)
    # The barrier of a symmetric energy is at zero; energies are flat there, so its place is known to 1e-6 or so.
    assert found.barriers[len(found.barriers) // 2] == pytest.approx(0.0, abs=1e-5)


def test_barriers_divide_the_line_into_basins() -> None:
    model = _model("tanh", "relu", spike=0.727, bulk=0.909, alignment=0.594, alpha=2.14, beta=1.85, ridge=0.0779)
    found = learned_bias(model)
    assert len(found.minima) == 2
    barrier, h = found.barriers[0], 1e-2
    assert found.minima[0].bias < barrier < found.minima[1].bias
    top = training_energy(with_bias(model, barrier))
    assert top > max(training_energy(with_bias(model, barrier + s * h)) for s in (-1.0, 1.0))
    lowest, second = found.ranked
    assert (lowest.bias, lowest.energy) == (found.bias, found.energy)
    assert lowest.energy < second.energy < top
    home, away = found.basins(), found.basins(1)
    assert home.home == away.others[0] == (barrier, np.inf)
    assert home.others[0] == away.home == (-np.inf, barrier)
    assert found.lowest_in(home.home) == lowest
    assert found.lowest_in(away.home) == second
    assert found.lowest_in((5.0, 6.0)) is None
    with pytest.raises(IndexError):
        found.basins(2)


def test_at_the_learned_bias_the_energy_is_stationary() -> None:
    found = learned_bias(_model("relu", "sign"))
    assert not found.at_edge
    assert len(found.minima) == 1
    assert found.barriers == ()
    assert found.basins().home == (-np.inf, np.inf)
    assert found.basins().others == ()
    h = 1e-3
    left, right = (training_energy(with_bias(found.model, s * h)) for s in (-1.0, 1.0))
    # (E(b + h) - E(b - h))/2h = E''' h^2/6 there.
    assert (right - left) / (2.0 * h) == pytest.approx(0.0, abs=1e-5)


def test_what_has_no_learned_bias() -> None:
    with pytest.raises(ModelError, match="positive ridge"):
        learned_bias(_model("tanh", "sin", ridge=0.0))


def test_a_learned_bias_is_measured_in_the_argument() -> None:
    """An argument c times as long under an activation c times as wide is the same model, to the digits of its bias."""
    found = [
        learned_bias(
            Model(f"erf(2*z*{round(1 / c)})", "z**3-3*z+z**2", alpha=3.0, beta=1.0, ridge=0.01, noise=0.1, spike=c,
                  bulk=0.5 * c * c, alignment=0.9)
        )
        for c in (1.0, 0.01)
    ]  # fmt: skip
    one, other = (pair.bias / c for pair, c in zip(found, (1.0, 0.01), strict=True))
    assert other == pytest.approx(one, rel=1e-10)
    assert found[1].energy == pytest.approx(found[0].energy, rel=1e-13)
