"""The library for notebooks: text for functions, activations that can be called, short reprs, documents as printed."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import onestep
from onestep.derivations.activations.activation import activation
from onestep.derivations.expressions.parser import ExpressionError
from onestep.numerics.balls.arithmetic import PrecisionError
from onestep.numerics.models.model import Model, ReadoutGroup
from onestep.numerics.saddle_point.any_loss.losses import huber
from tests.shared.command_line import document

WORKED: dict[str, Any] = {
    "alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8,
}  # fmt: skip
HUBER = huber(0.5)
STEP: dict[str, Any] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 2.0}


def options(values: dict[str, Any]) -> list[str]:
    """The model options of a command."""
    numbers = [text for name, value in values.items() for text in (f"--{name}", repr(value))]
    return ["--activation", "tanh", "--target", "sin", *numbers]


def worked(target: Any = "sin", **changes: Any) -> Model:
    return Model("tanh", target, **(WORKED | changes))  # type: ignore[arg-type]


def test_functions_are_given_as_text_or_built() -> None:
    assert worked() == Model(activation("tanh"), activation("sin"), **WORKED)
    assert Model.from_gradient_step("tanh", "sin", **STEP).activation == activation("tanh")
    assert worked().changed(activation="erf").activation == activation("erf")
    assert onestep.Network("tanh", activation("sin"), **STEP) == onestep.Network(  # type: ignore[arg-type]
        activation("tanh"), activation("sin"), **STEP
    )
    assert onestep.activation(activation("tanh")) is activation("tanh")
    with pytest.raises(ExpressionError):
        worked("tahn")


def test_spike_bulk_and_alignment_have_no_defaults() -> None:
    for name in ("spike", "bulk", "alignment"):
        with pytest.raises(TypeError, match=name):
            Model("tanh", "sin", **{key: value for key, value in WORKED.items() if key != name})  # type: ignore[arg-type]


@pytest.mark.parametrize(("text", "exact"), [("tanh", np.tanh), ("z**2 - 1", lambda z: z * z - 1.0), ("sign", np.sign)])
def test_an_activation_is_called_at_numbers_and_arrays(text: str, exact: Any) -> None:
    sigma, places = onestep.activation(text), np.array([[-1.2, 0.0], [0.3, 4.0]])
    assert isinstance(sigma(0.3), float)
    assert sigma(0.3) == pytest.approx(float(exact(0.3)), rel=1e-15)
    assert sigma(1) == pytest.approx(float(exact(1.0)), rel=1e-15)
    assert sigma(places) == pytest.approx(exact(places), rel=1e-15)
    assert sigma(places).shape == sigma(places.tolist()).shape == (2, 2)


@pytest.mark.parametrize(
    ("given", "what", "instead"),
    [
        (np.tanh, "the function tanh", 'for example "tanh"'),
        (np.arctan, "the function arctan", 'for example "atan"'),
        (lambda z: z, "the function <lambda>", '"Max(z, 0)"'),
        (0.5, "a value of type float", '"Max(z, 0)"'),
        (None, "a value of type NoneType", '"Max(z, 0)"'),
    ],
)
def test_what_is_no_formula_is_told_what_is(given: Any, what: str, instead: str) -> None:
    with pytest.raises(ExpressionError) as caught:
        onestep.activation(given)
    assert what in str(caught.value)
    assert instead in str(caught.value)


def test_reprs_are_a_line() -> None:
    model, stepped = worked(), Model.from_gradient_step("tanh", "sin", **STEP, bulk_model="network")
    groups = worked(groups=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5)), gaussian_rows=True)
    network = onestep.Network("tanh", "sin", **STEP, steps=2)
    said = {
        repr(activation("tanh")): "activation('tanh(z)')",
        repr(model): "Model(tanh(z) learns sin(z), alpha=1.5, beta=1, ridge=0.1, spike=1, bulk=1, alignment=0.8)",
        repr(groups): "bulk=1, alignment=0.8, 2 readout groups, gaussian rows)",
        repr(stepped): "alpha0=2, eta=2, spike=",
        repr(network): "Network(tanh(z) learns sin(z), alpha=1.5, beta=1, ridge=0.1, alpha0=2, eta=2, steps=2)",
        repr(onestep.solve(model)): "Solution(test_error=0.125865608",
        repr(onestep.solve_loss(worked(), HUBER)): "ConvexSolution(huber:0.5, test_error=",
        repr(onestep.solve_batch(model, ridge=[[0.1], [-1.0]])): "BatchSolution(shape=(2, 1), 1 of 2 converged)",
        repr(onestep.certify(worked(ridge=0.0))): "Certificate(not certified",
        repr(onestep.solve_mp(model, 20)): "SolutionMp(test_error=0.12586560",
        repr(onestep.Spectrum(((0.0, 2.5),), 0.25, (), (), *[np.zeros(9)] * 3, *[0.0] * 4, True, "converged")): (
            "Spectrum([0, 2.5], atom_at_zero=0.25, converged)"
        ),
        repr(onestep.simulate(model, dimension=20, seeds=2)): "Simulation(srf, dimension=20, seeds=2, test_error=",
        repr(onestep.solve_density(model, onestep.ReadoutLaw("uniform", 0.5), most=1)): "DensitySolution(uniform:0.5",
    }
    for text, expected in said.items():
        assert expected in text
        assert len(text) < 200
        assert "\n" not in text


def printed(capfd: pytest.CaptureFixture[str], *arguments: str) -> dict[str, Any]:
    """What the command line prints as JSON, without its provenance."""
    found = document(capfd, arguments)
    del found["provenance"]
    return found


def plain(found: dict[str, Any]) -> Any:
    """A document after a trip through JSON, which has no infinity and no number that is none."""
    return json.loads(json.dumps(found, allow_nan=False))


def test_documents_are_what_the_command_line_prints(capfd: pytest.CaptureFixture[str]) -> None:
    model, network = worked(), onestep.Network("tanh", "sin", **STEP)
    assert plain(onestep.solve(model).to_dict()) == printed(capfd, "solve", *options(WORKED))
    stepped = Model.from_gradient_step("tanh", "sin", **STEP)
    assert plain(onestep.solve(stepped).to_dict()) == printed(capfd, "solve", *options(STEP))
    loss = printed(capfd, "solve", *options(WORKED), "--loss", "huber:0.5")
    assert plain(onestep.solve_loss(model, HUBER).to_dict()) == loss
    certified = printed(capfd, "solve", *options(WORKED), "--certify")["certificate"]
    assert plain(onestep.certify(model).to_dict()) == certified
    both = printed(capfd, "bounds", *options(WORKED))
    assert plain(onestep.best_ridge(model).to_dict()).items() <= both["best_ridge"].items()
    assert plain(onestep.bounds(model).to_dict()).items() <= both.items()
    run = onestep.simulate(network, dimension=20, seeds=2)
    asked = ["simulate", *options(STEP), "--kind", "network", "--dimension", "20", "--seeds", "2"]
    assert plain(run.to_dict()) == printed(capfd, *asked)


def test_documents_of_infinite_numbers_are_json() -> None:
    without_ridge = plain(onestep.solve(worked(ridge=0.0, alpha=0.5)).to_dict())
    assert without_ridge["order_parameters"]["V1"][0][0]["infinite"]
    alone = plain(onestep.simulate(worked(), dimension=20, seeds=1).to_dict())
    assert alone["test_error"]["standard_error"]["infinite"]
    # A target that no feature of the student meets is best not learned at all.
    assert plain(onestep.best_ridge(worked("he3", spike=0.0, alignment=0.0)).to_dict())["ridge"]["infinite"]


def test_documents_of_models_and_batches() -> None:
    model = worked(groups=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5, 1.3)))
    described = plain(model.to_dict())
    assert described["bulk"] == [1.0, 1.3]
    assert described["readout"][1] == {"weight": -1.0, "fraction": 0.5, "bulk": 1.3, "bias": 0.0}
    assert (described["activation"], described["rows"]) == ("tanh(z)", "unit")
    stepped = Model.from_gradient_step("tanh", "sin", **STEP).to_dict()
    assert {name: stepped[name] for name in STEP} == STEP
    batch = onestep.solve_batch(worked(), ridge=[[0.1, 0.2], [0.1, -1.0]])
    found = plain(batch.to_dict())
    assert found["shape"] == [2, 2]
    assert found["converged"] == [[True, True], [True, False]]
    assert found["order_parameters"]["m"][0][1] == batch.m[0, 1]
    point = onestep.solve_batch(worked()).to_dict()
    assert point["test_error"] == pytest.approx(onestep.solve(worked()).test_error, rel=1e-10)


NETWORK = onestep.Network("tanh", "sin", **STEP)  # type: ignore[arg-type]
_LAW = onestep.ReadoutLaw("uniform", 0.5)
# Every public function of a model, each asked with what it would take anyhow.
OF_A_MODEL: dict[str, Callable[[Any], Any]] = {
    "solve": onestep.solve,
    "solve_loss": lambda m: onestep.solve_loss(m, "huber:1"),
    "solve_batch": lambda m: onestep.solve_batch(m, ridge=[0.1]),
    "solve_density": lambda m: onestep.solve_density(m, _LAW, most=1),
    "solve_mp": lambda m: onestep.solve_mp(m, 20),
    "best_ridge": onestep.best_ridge,
    "best_ridge_of_loss": lambda m: onestep.best_ridge_of_loss(m, "huber:1"),
    "best_spike": onestep.best_spike,
    "bounds": onestep.bounds,
    "lower_bound": onestep.lower_bound,
    "upper_bound": onestep.upper_bound,
    "loss_bounds": lambda m: onestep.loss_bounds(m, "huber:1"),
    "certify": onestep.certify,
    "learned_bias": onestep.learned_bias,
    "predict": lambda m: onestep.predict(m, "huber:1"),
    "simulate": lambda m: onestep.simulate(m, dimension=10, seeds=1),
    "simulate_loss": lambda m: onestep.simulate_loss(m, "huber:1", dimension=10, seeds=1),
    "spectrum": onestep.spectrum,
    "compare": lambda m: onestep.compare(m, dimensions=[10], seeds=1),
}
OF_A_LOSS: dict[str, Callable[[Any], Any]] = {
    "solve_loss": lambda loss: onestep.solve_loss(worked(), loss),
    "best_ridge_of_loss": lambda loss: onestep.best_ridge_of_loss(worked(), loss),
    "loss_bounds": lambda loss: onestep.loss_bounds(worked(), loss),
    "learned_bias": lambda loss: onestep.learned_bias(worked(), loss),
    "loss_named": onestep.loss_named,
    "predict": lambda loss: onestep.predict(worked(), loss),
    "simulate_loss": lambda loss: onestep.simulate_loss(worked(), loss, dimension=10, seeds=1),
    "compare": lambda loss: onestep.compare(worked(), dimensions=[10], seeds=1, loss=loss),
}


def test_a_network_is_solved_with_its_own_bulk() -> None:
    own = NETWORK.model("network")
    assert onestep.solve(NETWORK).test_error == onestep.solve(own).test_error
    assert onestep.solve_loss(NETWORK, "huber:1").test_error == onestep.solve_loss(own, HUBER_1).test_error
    assert onestep.bounds(NETWORK) == onestep.bounds(own)
    for more in ({"steps": 2}, {"overlap": 0.1}):
        with pytest.raises(onestep.ModelError, match="one gradient step from rows without overlap"):
            onestep.solve(onestep.Network("tanh", "sin", **STEP, **more))  # type: ignore[arg-type]
    with pytest.raises(onestep.ModelError, match="odd"):
        onestep.solve(onestep.Network("z**2-1", "z**2-1", **STEP))  # type: ignore[arg-type]


HUBER_1 = onestep.loss_named("huber:1")


@pytest.mark.parametrize("name", OF_A_MODEL)
@pytest.mark.parametrize("given", ["tanh", None, 0.5])
def test_what_is_no_model_is_answered_in_a_sentence(name: str, given: Any) -> None:
    with pytest.raises(onestep.ModelError, match="not accepted as a model: for example Model"):
        OF_A_MODEL[name](given)


@pytest.mark.parametrize(
    ("name", "why"),
    [("best_spike", "follows from the gradient step"), ("solve_batch", "a batch takes an isotropic bulk"),
     ("solve_mp", "built for the uniform readout"), ("solve_density", "built for a spike of one direction")],
)  # fmt: skip
def test_where_the_bulk_of_a_network_is_not_built_the_function_says_so(name: str, why: str) -> None:
    with pytest.raises((ValueError, PrecisionError), match=why):
        OF_A_MODEL[name](NETWORK)


@pytest.mark.parametrize("name", OF_A_LOSS)
def test_what_is_no_loss_is_answered_in_a_sentence(name: str) -> None:
    for given in ("hubr", 3, None):
        with pytest.raises(ValueError, match="accepted are square, logistic, hinge, huber:DELTA and absolute"):
            OF_A_LOSS[name](given)


def test_a_loss_is_given_by_its_name() -> None:
    assert onestep.solve_loss(worked(), "huber:1").test_error == onestep.solve_loss(worked(), HUBER_1).test_error
    assert onestep.loss_named(HUBER_1) is HUBER_1


def test_functions_of_an_activation_take_text() -> None:
    places = np.array([0.0, 1.0])
    assert onestep.hermite_constants("tanh") is onestep.hermite_constants(activation("tanh"))
    for found, expected in (
        (onestep.conditional_coefficients("tanh", 1.0, 1.0, 0.0, places),
         onestep.conditional_coefficients(activation("tanh"), 1.0, 1.0, 0.0, places)),
        (onestep.target_moments("sin", 0.8, places), onestep.target_moments(activation("sin"), 0.8, places)),
    ):  # fmt: skip
        assert np.array_equal(found, expected)
    with pytest.raises(ExpressionError, match="formula in z"):
        onestep.hermite_constants(0.5)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "ask",
    [
        lambda: worked(groups="1:0.5,-1:0.5"),
        lambda: onestep.Network("tanh", "sin", **STEP, groups="1:0.5,-1:0.5"),
        lambda: onestep.Network("tanh", "sin", **(STEP | {"alpha": "many"})),
        lambda: worked(alpha="many"),
        lambda: onestep.parse(3),  # type: ignore[arg-type]
        lambda: onestep.run_ledger("slow"),
        lambda: onestep.solve_density(worked(), "uniform:0.5"),  # type: ignore[arg-type]
        lambda: onestep.simulate(NETWORK, dimension=10, seeds=1, inputs="rademacher"),  # type: ignore[arg-type]
    ],
)
def test_text_in_place_of_a_value_is_answered_in_a_sentence(ask: Callable[[], Any]) -> None:
    with pytest.raises(ValueError, match=r"not accepted|not known|no formula"):
        ask()
