"""What holds exactly of one small experiment: its energy, its learned bias, its labels, its blocks, its key."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments import letters, orthogonal, ridge
from giantsteps.numerics.experiments.ensembles import Sizes, gradient_step
from giantsteps.numerics.experiments.inputs import GAUSSIAN, Inputs
from giantsteps.numerics.experiments.simulate import predict, simulate
from giantsteps.numerics.gradient_steps.recursion import Step
from giantsteps.numerics.models.losses import HINGE, LOGISTIC, SQUARE, Loss, huber
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_convex
from giantsteps.numerics.saddle_point.letters.density import bulk_of, law_of, solve_letters

# Groups of different fractions, spikes, bulks and biases; labels with noise; n = 1.75 d, p = 1.5 d.
GROUPS = (ReadoutGroup(1.0, 0.25, 1.0, 0.4), ReadoutGroup(-0.5, 0.75, 1.3, -0.6))
MODEL = Model(
    activation("softplus"), activation("sin(z + 1/2)"), alpha=1.75, beta=1.5, ridge=0.3, noise=0.2, spike=1.0,
    bulk=1.0, alignment=0.8, readout=GROUPS,
)  # fmt: skip
SIGNS = replace(MODEL, target=activation("sign"))
NETWORK = Network(
    activation("softplus"), activation("sin"), alpha=1.75, beta=1.5, ridge=0.3, alpha0=1.25, eta=2.0, noise=0.2,
    readout=(ReadoutGroup(1.0, 0.25, bias=0.4), ReadoutGroup(-0.5, 0.75, bias=-0.6)),
)  # fmt: skip
LETTERS = Model(
    activation("tanh"), activation("sin"), alpha=1.75, beta=1.5, ridge=0.3, noise=0.2, alignment=0.8, spike=1.0,
    bulk=1.3, readout=ReadoutLaw("uniform", 1.5),
)  # fmt: skip
SIZES = Sizes.rounded(16, alpha=1.75, beta=1.5, alpha0=1.25, fractions=(0.25, 0.75))


def energy(values: dict[str, float], loss: Loss, width: float) -> float:
    """(sum of losses + (ridge/2) |a|^2)/p from what else is measured: |a|^2/p = sum_a q2_a + m_a^2/p_a."""
    norm = sum(values[f"q2[{a}]"] + values[f"m[{a}]"] ** 2 / (width * GROUPS[a].fraction) for a in (0, 1))
    share = 0.5 if loss == SQUARE else 1.0
    return share * MODEL.alpha / MODEL.beta * values["training_error"] + 0.5 * MODEL.ridge * norm


@pytest.mark.parametrize("loss", [HINGE, LOGISTIC, huber(0.5)], ids=lambda loss: loss.name)
@pytest.mark.parametrize("subject", [SIGNS, NETWORK], ids=["srf", "network"])
def test_the_energy_of_an_experiment_is_its_losses_and_its_readout(subject: Model | Network, loss: Loss) -> None:
    run = simulate(replace(subject, loss=loss), dimension=16, seeds=1, seed=3)
    row = {name: value for name, (value,) in run.samples}
    # Of one readout, whether it is the best or not: equal to rounding.
    assert row["energy"] == pytest.approx(energy(row, loss, SIZES.p), rel=1e-12)
    # The network's target takes other values than signs.
    assert ("classification_error" in row) == isinstance(subject, Model)


@pytest.mark.parametrize("loss", [SQUARE, huber(0.5)], ids=lambda loss: loss.name)
def test_a_learned_bias_is_the_same_bias_given(loss: Loss) -> None:
    """The model with that bias added to its own makes the same experiment on the training set."""
    asked = {"dimension": 16, "seeds": 1, "seed": 3}
    found = {name: value for name, (value,) in simulate(MODEL.changed(loss=loss), **asked, learned=True).samples}
    given = tuple(replace(group, bias=group.bias + found["bias"]) for group in GROUPS)
    fixed = dict(simulate(replace(MODEL, readout=given, loss=loss), **asked).samples)
    assert abs(found["bias"]) > 1e-2
    # Rounding, of problems of condition 10^3; another loss's energy is known to 1e-7, its readout to the root of that.
    error = 1e-9 if loss == SQUARE else 1e-3
    names = fixed.keys() & found.keys() - {"test_error"}  # another test set
    assert {name: found[name] for name in names} == pytest.approx(
        {name: fixed[name][0] for name in names}, rel=error, abs=error
    )


@pytest.mark.parametrize("sizes", [None, SIZES], ids=["limit", "width"])
@pytest.mark.parametrize("loss", [HINGE, huber(0.5)], ids=lambda loss: loss.name)
def test_a_prediction_is_the_solution_at_its_width(loss: Loss, sizes: Sizes | None) -> None:
    model = SIGNS.changed(loss=loss)
    found, solution = predict(model, sizes=sizes), solve_convex(model, width=None if sizes is None else sizes.p)
    for name in ("test_error", "training_error", "mean_squared_error", "classification_error"):
        assert found.values[name] == getattr(solution, name)
    for name in ("m", "zeta", "psi", "q2"):
        assert [found.values[f"{name}[{a}]"] for a in (0, 1)] == list(getattr(solution.order_parameters, name))
    # The energy is stationary at the saddle point, which is solved to 1e-10 or better.
    width = np.inf if sizes is None else sizes.p
    assert found.values["energy"] == pytest.approx(energy(found.values, loss, width), rel=1e-6)
    assert set(found.scales) == set(found.values)
    assert min(found.scales.values()) > 0.0


def test_a_prediction_of_letters_is_the_solution_at_its_width() -> None:
    model = replace(LETTERS, ridge=0.31)
    solution = solve_letters(model)
    assert solution.letters is not None
    for sizes, there in ((None, solution), (SIZES, solution.at_width(SIZES.p))):
        found, order = predict(model, sizes=sizes), there.order_parameters
        assert tuple(found.values.values()) == (there.test_error, there.training_error, order.zeta[0], order.psi[0])
        assert tuple(found.values) == ridge.OF_LETTERS
        size = sum(map(abs, solution.letters.psi))
        assert found.scales == pytest.approx(
            {"test_error": solution.test_error, "training_error": solution.training_error, "zeta": size, "psi": size}
        )


def test_letters_have_their_own_spikes_and_norms() -> None:
    sizes = Sizes.rounded(16, alpha=1.75, beta=1.5, fractions=(1.0,))
    drawn = letters.letters_map(LETTERS, sizes, np.random.default_rng(4))
    u = law_of(LETTERS).draw(np.random.default_rng(4), sizes.p)
    assert drawn.spikes[:, 0] == pytest.approx(LETTERS.spike * u)
    rows = drawn.weights - drawn.spikes * drawn.direction
    assert np.sum(rows**2, axis=1) == pytest.approx([bulk_of(LETTERS, float(x)) for x in u])
    assert (drawn.alignment, drawn.theta @ drawn.theta) == pytest.approx((LETTERS.alignment, 1.0))


def test_orthogonal_rows_have_their_norms_spikes_and_biases() -> None:
    model = replace(MODEL, beta=0.75)
    sizes = Sizes.rounded(16, alpha=1.75, beta=0.75, fractions=model.fractions)
    drawn = orthogonal.orthogonal_features(model, sizes, np.random.default_rng(4))
    counts = np.array(sizes.groups)
    assert counts.tolist() == [3, 9]
    rows = drawn.weights - drawn.spikes * drawn.direction
    assert rows @ rows.T == pytest.approx(np.diag(np.repeat([1.0, 1.3], counts)), abs=1e-14)
    assert drawn.spikes[:, 0] == pytest.approx(np.repeat([1.0, -0.5], counts))
    x = np.random.default_rng(5).standard_normal((7, 16))
    arguments = x @ drawn.weights.T + np.repeat([0.4, -0.6], counts)
    assert drawn.features(x) == pytest.approx(np.logaddexp(0.0, arguments), abs=1e-13)


def test_the_step_of_a_network_is_linear_in_the_noise_of_its_labels() -> None:
    weights, theta = np.random.default_rng(1).standard_normal((9, 6)) / 2.5, np.eye(6)[0]
    u = np.repeat([1.0, -0.5], (4, 5))

    def change(noise: float, rows: int = 4) -> np.ndarray:
        given = replace(NETWORK, noise=noise)
        step, batch = Step(11 / 6, 2.0), np.random.default_rng(2)
        moved, direction = gradient_step(given, weights, theta, step, GAUSSIAN, batch, rows, u)
        return np.vstack([moved, direction])

    assert change(4.0) - change(0.0) == pytest.approx(2.0 * (change(1.0) - change(0.0)), abs=1e-12)
    assert change(1.0) == pytest.approx(change(1.0, 100), abs=1e-12)


# --- the key under which a result is kept


CHANGES: dict[str, dict[str, Any]] = {
    "ridge": {"ridge": 0.4}, "noise": {"noise": 0.5}, "alpha": {"alpha": 1.25}, "beta": {"beta": 1.0},
    "alignment": {"alignment": 0.5}, "target": {"target": activation("tanh")},
    "activation": {"activation": activation("tanh")},
    "bias": {"readout": (GROUPS[0], replace(GROUPS[1], bias=0.1))},
    "bulk": {"readout": (GROUPS[0], replace(GROUPS[1], bulk=0.7))},
    "fraction": {"readout": (replace(GROUPS[0], fraction=0.5), replace(GROUPS[1], fraction=0.5))},
}  # fmt: skip


@pytest.mark.parametrize("changed", CHANGES)
def test_another_model_is_another_experiment(changed: str) -> None:
    base, other = (simulate(model, dimension=16, seeds=1) for model in (MODEL, replace(MODEL, **CHANGES[changed])))
    assert base.training_error != other.training_error
    assert base.test_error != other.test_error
    # Remembered are the numbers; whose they are is said anew.
    assert other.model == replace(MODEL, **CHANGES[changed]).as_given()


@pytest.mark.parametrize(
    "given", [{"seed": 1}, {"kind": "equivalent"}, {"inputs": Inputs("rademacher")}, {"dimension": 20}], ids=str
)
@pytest.mark.parametrize("loss", [SQUARE, HINGE], ids=lambda loss: loss.name)
def test_another_draw_is_another_experiment(given: dict[str, Any], loss: Loss) -> None:
    asked = {"dimension": 16, "seeds": 2}
    model = SIGNS.changed(loss=loss)
    base, other = (simulate(model, **asked), simulate(model, **(asked | given)))
    for name, values in base.samples:
        assert len({*values, *other.values(name)}) == 4 or "classification" in name


# --- what is said of a simulation


def test_scales_are_their_definitions() -> None:
    q1 = np.array([[0.25, 0.1], [0.1, 0.64]])
    order = SimpleNamespace(
        m=np.array([0.1, -3.0]), zeta=np.array([1.2, -0.3]), psi=np.array([0.7, 0.9]), q1=q1,
        q2=np.array([0.16, 0.49]), chi=np.array([0.01, -2.0]),
    )  # fmt: skip
    solution: Any = SimpleNamespace(
        order_parameters=order, test_error=0.3, training_error=0.2, model=SimpleNamespace(bulks=(1.5, 2.0))
    )
    values = {
        "test_error": 0.3, "training_error": 0.2, "m[0]": 0.1, "m[1]": -3.0, "zeta[0]": 1.2, "zeta[1]": -0.3,
        "psi[0]": 0.7, "psi[1]": 0.9, "q1[0,0]": 0.25, "q1[0,1]": 0.1, "q1[1,1]": 0.64, "q2[0]": 0.16, "q2[1]": 0.49,
        "chi[0]": 0.01, "chi[1]": -2.0,
    }  # fmt: skip
    assert ridge.predicted(solution) == pytest.approx(values)
    first, second = np.hypot(0.5, 1.2), np.hypot(0.8, 0.3)
    scales = {
        "test_error": 0.3, "training_error": 0.2, "m[0]": 0.4, "m[1]": 3.0, "zeta[0]": first, "zeta[1]": second,
        "psi[0]": first, "psi[1]": second, "q1[0,0]": 0.25, "q1[0,1]": 0.4, "q1[1,1]": 0.64, "q2[0]": 0.16,
        "q2[1]": 0.49, "chi[0]": 0.6, "chi[1]": 2.0,
    }  # fmt: skip
    assert ridge.natural_scales(solution) == pytest.approx(scales)
