"""Two steps on the same batch: worked values, and networks."""

from __future__ import annotations

import pytest

from giantsteps import Model, ModelError, Network, simulate


def model(student: str, target: str, alpha0: float, eta: object, noise: float = 0.0, **more: object) -> Model:
    given = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "steps": 2, "same_batch": True} | more
    return Model.from_gradient_step(student, target, alpha0=alpha0, eta=eta, noise=noise, **given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("student", "target", "alpha0", "eta", "noise", "worked"),
    [
        ("tanh", "sin", 2.0, 3.0, 0.0, (1.36049, 0.86659, 1.38506)),
        ("tanh(z + 0.7)", "tanh", 4.0, 4.0, 0.0, (1.5614, 0.9117, 2.2495)),
        ("softplus", "sin", 1.0, 2.0, 0.2, (1.3111, 0.2541, 0.5803)),
        # The integrals over t by the normal distribution function, the others by 60 and 400 Gauss nodes.
        ("relu", "tanh", 2.0, 2.0, 0.0, (0.621987, 0.637113, 0.614055)),
    ],
)
def test_worked_values(
    student: str, target: str, alpha0: float, eta: float, noise: float, worked: tuple[float, float, float]
) -> None:
    found = model(student, target, alpha0, eta, noise)
    assert found.states[1] == pytest.approx(worked, abs=6e-5)
    assert (found.spike, found.alignment, found.bulk) == found.states[1]
    assert found.bulk_model == "isotropic"
    assert max(found.uncertainty) < 1e-9


def test_the_first_of_both_steps_is_that_of_one_and_a_second_of_size_zero_leaves_it() -> None:
    once = model("relu", "sin", 1.0, 1.5, steps=1, same_batch=False, bulk_model="isotropic")
    for eta in (1.5, (1.5, 0.0)):
        twice = model("relu", "sin", 1.0, eta)
        assert twice.states[0] == once.states[0]
    assert twice.states[1] == once.states[0]


def test_a_batch_that_is_used_again_finds_what_fresh_ones_do_not() -> None:
    assert abs(model("tanh", "z**3 - 3*z", 4.0, 1.0).alignment) > 0.1
    assert model("tanh", "z**3 - 3*z", 4.0, 1.0, same_batch=False, bulk_model="isotropic").alignment == 0.0


def test_what_is_not_known_of_the_bulk_is_said() -> None:
    found = model("tanh", "sin", 2.0, 0.5)
    assert any("same batch" in warning and "off at leading order" in warning for warning in found.warnings)
    with pytest.raises(ModelError, match="same batch is not known"):
        model("tanh", "sin", 2.0, 0.5, bulk_model="network")


@pytest.mark.parametrize("same", [False, True])
def test_networks_take_the_steps_that_the_theory_maps(same: bool) -> None:
    network = Network("relu", "tanh", 0.5, 1.0, 0.1, alpha0=2.0, eta=2.0, steps=2, same_batch=same)
    theory = network.model("isotropic")
    found = simulate(network, dimension=150, seeds=24, seed=5).estimates
    for name in ("spike", "alignment"):
        z = (found[name].mean - getattr(theory, name)) / found[name].standard_error
        # 1/d: within five standard errors; theories of fresh and of reused batches are more than ten apart.
        assert abs(z) < 5.0
