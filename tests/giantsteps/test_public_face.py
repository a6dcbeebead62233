"""The library for notebooks: text for functions, activations that can be called, short reprs, documents as printed."""

from __future__ import annotations

import json
import pickle
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import giantsteps
from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.learned_bias import learned_bias
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.numerics.models.losses import huber
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.parameters import MapErrors
from tests.shared.command_line import document

WORKED: dict[str, Any] = {
    "alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8,
}  # fmt: skip
HUBER = huber(0.5)
_LAW = giantsteps.ReadoutLaw("uniform", 0.5)
STEP: dict[str, Any] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 2.0}


def options(values: dict[str, Any]) -> list[str]:
    """The model options of a command."""
    numbers = [text for name, value in values.items() for text in (f"--{name}", repr(value))]
    return ["--activation", "tanh", "--target", "sin", *numbers]


def worked(target: Any = "sin", **changes: Any) -> Model:
    return Model("tanh", target, **(WORKED | changes))  # type: ignore[arg-type]


def test_functions_are_given_as_text_or_built() -> None:
    assert worked() == Model(activation("tanh"), activation("sin"), **WORKED)
    assert Model.from_gradient_step("tanh", "sin", bulk_model="isotropic", **STEP).activation == activation("tanh")
    assert worked().changed(activation="erf").activation == activation("erf")
    assert giantsteps.Network("tanh", activation("sin"), **STEP) == giantsteps.Network(  # type: ignore[arg-type]
        activation("tanh"), activation("sin"), **STEP
    )
    assert giantsteps.activation(activation("tanh")) is activation("tanh")
    with pytest.raises(giantsteps.ExpressionError):
        worked("tahn")


@pytest.mark.parametrize(("text", "exact"), [("tanh", np.tanh), ("z**2 - 1", lambda z: z * z - 1.0), ("sign", np.sign)])
def test_an_activation_is_called_at_numbers_and_arrays(text: str, exact: Any) -> None:
    sigma, places = giantsteps.activation(text), np.array([[-1.2, 0.0], [0.3, 4.0]])
    assert isinstance(sigma(0.3), float)
    assert sigma(0.3) == pytest.approx(float(exact(0.3)), rel=1e-15)
    assert sigma(1) == pytest.approx(float(exact(1.0)), rel=1e-15)
    assert sigma(places) == pytest.approx(exact(places), rel=1e-15)
    assert sigma(places).shape == sigma(places.tolist()).shape == (2, 2)


@pytest.mark.parametrize(("given", "what"), [(0.5, "a value of type float"), (None, "a value of type NoneType")])
def test_what_is_no_formula_is_told_what_is(given: Any, what: str) -> None:
    with pytest.raises(giantsteps.ExpressionError) as caught:
        giantsteps.activation(given)
    assert what in str(caught.value)
    assert 'for example "tanh(z)" or np.tanh' in str(caught.value)


def test_reprs_are_a_line() -> None:
    model, stepped = worked(), Model.from_gradient_step("tanh", "sin", **STEP, bulk_model="network")
    groups = worked(readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5)), gaussian_rows=True)
    network = giantsteps.Network("tanh", "sin", **STEP, steps=2)
    said = {
        repr(activation("tanh")): "activation('tanh(z)')",
        repr(model): "Model(tanh(z) learns sin(z), alpha=1.5, beta=1, ridge=0.1, spike=1, bulk=1, alignment=0.8)",
        repr(groups): "bulk=1, alignment=0.8, 2 readout groups, gaussian rows)",
        repr(stepped): "alpha0=2, eta=2, spike=",
        repr(network): "Network(tanh(z) learns sin(z), alpha=1.5, beta=1, ridge=0.1, alpha0=2, eta=2, steps=2)",
        repr(giantsteps.solve(model)): "Solution(test_error=0.125865608",
        repr(worked(loss="huber:0.5")): "alignment=0.8, huber:0.5 loss)",
        repr(worked(readout=_LAW)): "alignment=0.8, readout uniform:0.5)",
        repr(giantsteps.solve(worked(loss=HUBER))): "Solution(test_error=",
        repr(giantsteps.solve_batch(model, ridge=[[0.1], [-1.0]])): "BatchSolution(shape=(2, 1), 1 of 2 converged)",
        repr(giantsteps.certify(worked(ridge=0.0))): "Certificate(not certified",
        repr(giantsteps.solve(model, digits=20)): "Solution(test_error=0.12586560",
        repr(giantsteps.Spectrum(((0.0, 2.5),), 0.25, (), (), *[np.zeros(9)] * 3, *[0.0] * 4, True, "converged")): (
            "Spectrum([0, 2.5], atom_at_zero=0.25, converged)"
        ),
        repr(giantsteps.simulate(model, dimension=20, seeds=2)): "Simulation(srf, dimension=20, seeds=2, test_error=",
        repr(giantsteps.solve(worked(readout=_LAW))): "Solution(test_error=",
        repr(
            giantsteps.compare(model, dimensions=(20, 10), seeds=2)
        ): "Compared(dimensions=(10, 20), test_error=0.12586",
    }
    for text, expected in said.items():
        assert expected in text
        assert len(text) < 200
        assert "\n" not in text


def printed(capfd: pytest.CaptureFixture[str], *arguments: str, code: int = 0) -> dict[str, Any]:
    """What the command line prints as JSON, without its provenance."""
    found = document(capfd, arguments, code)
    del found["provenance"]
    return found


def plain(found: dict[str, Any]) -> Any:
    """A document after a trip through JSON, which has no infinity and no number that is none."""
    return json.loads(json.dumps(found, allow_nan=False))


def test_documents_are_what_the_command_line_prints(capfd: pytest.CaptureFixture[str]) -> None:
    model, network = worked(), giantsteps.Network("tanh", "sin", **STEP)
    assert plain(giantsteps.solve(model).to_dict()) == printed(capfd, "solve", *options(WORKED))
    stepped = Model.from_gradient_step("tanh", "sin", **STEP)
    assert plain(giantsteps.solve(stepped).to_dict()).items() <= printed(capfd, "solve", *options(STEP)).items()
    loss = printed(capfd, "solve", *options(WORKED), "--loss", "huber:0.5")
    assert plain(giantsteps.solve(model.changed(loss=HUBER)).to_dict()) == loss
    law = printed(capfd, "solve", *options(WORKED), "--readout", "uniform:0.5")
    assert plain(giantsteps.solve(worked(readout=_LAW)).to_dict()) == law
    digits = printed(capfd, "solve", *options(WORKED), "--digits", "20")["any_precision"]
    assert plain(giantsteps.solve(model, digits=20).to_dict()) == digits
    certified = printed(capfd, "solve", *options(WORKED), "--certify")["certificate"]
    assert plain(giantsteps.certify(model).to_dict()) == certified
    both = printed(capfd, "bounds", *options(WORKED))
    found = giantsteps.bounds(model)
    assert plain(found.best_ridge().to_dict()).items() <= both["best_ridge"].items()
    assert plain(found.to_dict()).items() <= both.items()
    features = printed(capfd, "spectrum", *options(WORKED))
    assert plain(giantsteps.spectrum(model).to_dict()).items() <= features.items()
    decided = giantsteps.compare(model, dimensions=(10, 20), seeds=2)
    sizes = ["--dimensions", "10,20", "--seeds", "2"]
    assert plain(decided.to_dict()) == printed(capfd, "compare", *options(WORKED), *sizes, code=3)
    run = giantsteps.simulate(network, dimension=20, seeds=2)
    asked = ["simulate", *options(STEP), "--kind", "network", "--dimension", "20", "--seeds", "2"]
    assert plain(run.to_dict()) == printed(capfd, *asked)


def test_documents_of_infinite_numbers_are_json() -> None:
    without_ridge = plain(giantsteps.solve(worked(ridge=0.0, alpha=0.5)).to_dict())
    assert without_ridge["order_parameters"]["V1"][0][0]["infinite"]
    alone = plain(giantsteps.simulate(worked(), dimension=20, seeds=1).to_dict())
    assert alone["test_error"]["standard_error"]["infinite"]
    # A target that no feature of the student meets is best not learned at all.
    assert plain(giantsteps.bounds(worked("he3", spike=0.0, alignment=0.0)).best_ridge().to_dict())["ridge"]["infinite"]


def test_documents_of_models_and_batches() -> None:
    model = worked(readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5, 1.3)))
    described = plain(model.to_dict())
    assert described["bulk"] == [1.0, 1.3]
    assert described["readout"][1] == {"weight": -1.0, "fraction": 0.5, "bulk": 1.3, "bias": 0.0}
    assert (described["activation"], described["rows"]) == ("tanh(z)", "unit")
    stepped = Model.from_gradient_step("tanh", "sin", bulk_model="isotropic", **STEP).to_dict()
    assert {name: stepped[name] for name in STEP} == STEP
    batch = giantsteps.solve_batch(worked(), ridge=[[0.1, 0.2], [0.1, -1.0]])
    found = plain(batch.to_dict())
    assert found["shape"] == [2, 2]
    assert found["converged"] == [[True, True], [True, False]]
    assert found["order_parameters"]["m"][0][1] == batch.m[0, 1]
    point = giantsteps.solve_batch(worked()).to_dict()
    assert point["test_error"] == pytest.approx(giantsteps.solve(worked()).test_error, rel=1e-10)


NETWORK = giantsteps.Network("tanh", "sin", **STEP)  # type: ignore[arg-type]
# Every public function of a model, each asked with what it would take anyhow.
OF_A_MODEL: dict[str, Callable[[Any], Any]] = {
    "solve": giantsteps.solve,
    "solve_batch": lambda m: giantsteps.solve_batch(m, ridge=[0.1]),
    "digits": lambda m: giantsteps.solve(m, digits=20),
    "bounds": giantsteps.bounds,
    "certify": giantsteps.certify,
    "learned_bias": learned_bias,
    "predict": predict,
    "simulate": lambda m: giantsteps.simulate(m, dimension=10, seeds=1),
    "spectrum": giantsteps.spectrum,
    "compare": lambda m: giantsteps.compare(m, dimensions=[10], seeds=1),
}


def test_a_network_is_solved_with_its_own_bulk() -> None:
    own = NETWORK.model("network")
    assert giantsteps.solve(NETWORK).test_error == giantsteps.solve(own).test_error
    robust = giantsteps.Network("tanh", "sin", **STEP, loss="huber:1")  # type: ignore[arg-type]
    assert giantsteps.solve(robust).test_error == giantsteps.solve(own.changed(loss="huber:1")).test_error
    assert giantsteps.bounds(NETWORK) == giantsteps.bounds(own)
    with pytest.raises(giantsteps.ModelError, match="rows without overlap"):
        giantsteps.solve(giantsteps.Network("tanh", "sin", **STEP, overlap=0.1))  # type: ignore[arg-type]
    assert giantsteps.solve(giantsteps.Network("z**2-1", "z**2-1", **STEP)).converged  # type: ignore[arg-type]
    with pytest.raises(giantsteps.ModelError, match="needs finite moments of order 8 of the labels"):
        giantsteps.solve(giantsteps.Network("tanh", "exp(z**2/5)", **STEP))  # type: ignore[arg-type]


def test_a_model_of_a_step_is_simulated_and_compared_as_the_network_that_took_it() -> None:
    numbers = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0}
    network = giantsteps.Network("tanh", "sin", **numbers)
    model = giantsteps.Model.from_gradient_step("tanh", "sin", **numbers)
    drawn = giantsteps.simulate(model, dimension=40, seeds=2)
    assert drawn.kind == "network"
    assert drawn.samples == giantsteps.simulate(network, dimension=40, seeds=2).samples
    features = giantsteps.simulate(model, dimension=40, seeds=2, kind="srf")
    assert features.samples == giantsteps.simulate(network, dimension=40, seeds=2, kind="srf").samples
    found = giantsteps.compare(model, dimensions=(20, 40), seeds=2)
    assert found.limit["test_error"] == giantsteps.solve(model).test_error


@pytest.mark.parametrize(
    "groups", [(), (ReadoutGroup(1.0, 0.5),), ((1.0, 1.0),), ReadoutGroup(1.0, 1.0), "1:0.5,-1:0.5"]
)
def test_groups_that_are_refused_are_answered_with_groups_that_are_not(groups: Any) -> None:
    with pytest.raises(giantsteps.ModelError) as caught:
        worked(readout=groups)
    # The example is Python, and what it makes is accepted.
    example = str(caught.value).rpartition("for example ")[2]
    weights = [float(x) for x in re.findall(r"ReadoutGroup\((-?[\d.]+), [\d.]+\)", example)]
    fractions = [float(x) for x in re.findall(r"ReadoutGroup\(-?[\d.]+, ([\d.]+)\)", example)]
    assert len(worked(readout=tuple(map(ReadoutGroup, weights, fractions))).groups) == len(weights) > 0


def test_an_uncertainty_is_taken_as_three_numbers() -> None:
    loose = worked(given_uncertainty=(1e-6, 0, np.float64(0.0)))
    assert loose == worked(given_uncertainty=MapErrors(1e-6, 0.0, 0.0))
    assert giantsteps.solve(loose).error_estimate > 1e-8 > giantsteps.solve(worked()).error_estimate


@pytest.mark.parametrize("name", ["solve_batch", "certify", "digits", "compare", "simulate", "spectrum", "bounds"])
@pytest.mark.parametrize("changes", [{"loss": "huber:1"}, {"readout": _LAW}], ids=["loss", "law"])
def test_no_function_takes_a_model_for_one_of_another_loss_or_readout(name: str, changes: dict[str, Any]) -> None:
    # Either the answer differs from that of the plain model, or a sentence says what is not supported.
    def told(model: Model) -> str:
        try:
            found = OF_A_MODEL[name](model)
            return str(found.density if name == "spectrum" else found.limit if name == "compare" else found.to_dict())
        except (giantsteps.ModelError, giantsteps.PrecisionError) as refused:
            return str(refused)

    answers = [told(model) for model in (worked(), worked(**changes))]
    # The features do not know what is fitted on them.
    assert (answers[0] == answers[1]) is (name == "spectrum" and "loss" in changes)


def test_a_loss_is_given_by_its_name() -> None:
    assert worked(loss="huber:0.5").loss == HUBER
    assert worked(loss=HUBER) == worked(loss="huber:0.5") != worked()
    assert pickle.loads(pickle.dumps(worked(loss="hinge"))) == worked(loss="hinge")


def test_whole_numbers_of_any_type_are_taken() -> None:
    plain_ = giantsteps.simulate(worked(), dimension=10, seeds=1)
    assert giantsteps.simulate(worked(), dimension=np.int64(10), seeds=1.0).samples == plain_.samples  # type: ignore[arg-type]
    assert giantsteps.solve(worked(), digits=20.0).digits == 20  # type: ignore[arg-type]


@pytest.mark.parametrize("name", ["solve", "solve_batch", "digits", "bounds", "simulate", "spectrum", "compare"])
def test_answers_are_compared_and_hashed_without_an_error(name: str) -> None:
    # Arrays have no truth value: an answer that holds some is equal to itself alone.
    found, again = OF_A_MODEL[name](worked()), OF_A_MODEL[name](worked())
    assert found == found
    assert isinstance(found == again, bool)
    assert len({found, again}) in (1, 2)
