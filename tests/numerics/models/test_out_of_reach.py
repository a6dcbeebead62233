"""Models that doubles do not hold: every public function says so in one sentence, soon, and nothing else is printed."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import pytest

from giantsteps import (
    ExpressionError,
    Model,
    ModelError,
    activation,
    bounds,
    certify,
    compare,
    simulate,
    solve,
    spectrum,
)
from giantsteps.numerics.bounds.learned_bias import learned_bias
from giantsteps.numerics.experiments.ensembles import SimulationError
from giantsteps.numerics.experiments.simulate import predict
from giantsteps.numerics.gaussian import evaluate
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.parameters import ReadoutGroup
from giantsteps.numerics.spectrum.density import atom_at_zero, stieltjes
from giantsteps.numerics.sweeps.chunk import columns, solve_chunk
from giantsteps.numerics.sweeps.sweep import Axis, Experiment, Sweep

# Overflow at a node; no rule of a bearable length; a value at one point alone that no rule settles.
OVERFLOWS, VARIES, UNSETTLED = ("exp(2*z)", 1e3), ("exp(2*z)", 1e10), ("tanh(10**12*sin(z))", 1.0)
FUNCTIONS: dict[str, Callable[[Model], Any]] = {
    "solve": solve,
    "spectrum": spectrum,
    "bounds": bounds,
    "predict": predict,
    "learned_bias": learned_bias,
    "atom_at_zero": atom_at_zero,
    "stieltjes": lambda model: stieltjes(model, 1j),
    "compare": lambda model: compare(model, dimensions=[30, 40], seeds=3),
}


def _model(name: str, bulk: float) -> Model:
    return Model(name, "tanh", alpha=2.0, beta=1.0, ridge=0.1, spike=1.0, bulk=bulk, alignment=0.5)


@pytest.mark.parametrize("case", [OVERFLOWS, VARIES], ids=["overflows", "varies"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_model_out_of_reach_is_refused(name: str, case: tuple[str, float]) -> None:
    with pytest.raises(ModelError, match="the model is out of reach of double precision: "):
        FUNCTIONS[name](_model(*case))


@pytest.mark.parametrize("name", ["spectrum", "atom_at_zero", "stieltjes"])
def test_averages_that_do_not_settle_are_refused(name: str) -> None:
    with pytest.raises(ModelError, match="out of reach of double precision: it varies too fast for rules"):
        FUNCTIONS[name](_model(*UNSETTLED))


def test_a_simulation_and_a_certificate_say_so_too() -> None:
    with pytest.raises(ModelError, match="out of reach of double precision"):
        simulate(_model(*VARIES), dimension=5, seeds=1)
    assert certify(_model(*VARIES)).status.startswith("not certified: the model is out of reach of double precision")


def test_the_first_point_without_a_value_is_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[float] = []
    slow = evaluate._fallback
    monkeypatch.setattr(evaluate, "_fallback", lambda expr, x: (asked.append(x), slow(expr, x))[1])
    with pytest.raises(ExpressionError, match=r"sigmoid.* has no finite double-precision value at z = 800.0"):
        activation("silu(cosh(z))")([0.0, 800.0, 900.0, 1000.0])
    assert asked == [800.0]


@pytest.mark.parametrize("name", sorted(FUNCTIONS))
@pytest.mark.parametrize("student", ["1e160*tanh(z)", "cosh"])
def test_features_whose_squares_overflow_are_refused(name: str, student: str) -> None:
    # They would be taken for constant ones: a spectrum and bounds that say that they converged, and are wrong.
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        with pytest.raises(ModelError, match="out of reach of double precision: the squares of its activation"):
            FUNCTIONS[name](_model(student, 1.0 if student != "cosh" else 200.0))


def test_a_simulation_whose_features_have_no_squares_is_refused() -> None:
    with pytest.raises(SimulationError, match="the squares of the features overflow"):
        simulate(_model("1e160*tanh(z)", 1.0), dimension=10, seeds=1)


def test_a_point_out_of_reach_does_not_end_a_sweep() -> None:
    fixed = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1e10, "alignment": 0.8, "noise": 0.0}
    axes = tuple(Axis(name, (value,), swept=False) for name, value in fixed.items())
    sweep = Sweep("exp(2*z)", "sin", axes, kind="simulation", experiment=Experiment(10, 2))
    row = dict(zip(columns(sweep), solve_chunk(sweep, 0, 1)[0], strict=True))
    assert not row["converged"]
    assert str(row["status"]).startswith("the model is out of reach of double precision")


@pytest.mark.parametrize("student", ["exp(400*z)", "sin(1e9*z)"])
def test_a_network_whose_step_is_out_of_reach_is_refused(student: str) -> None:
    network = Network(student, "sin", alpha=1.5, beta=1.0, ridge=0.1, alpha0=1.0, eta=1.0)
    for function in (solve, bounds, spectrum, certify):
        with pytest.raises(ModelError, match="the gradient step is out of reach of double precision"):
            function(network)


def test_a_learned_bias_without_an_energy_is_refused() -> None:
    with pytest.raises(ModelError, match="out of reach of double precision: its training energy is nan"):
        learned_bias(_model("1e78*tanh(z)", 1.0), 8)


def test_a_target_whose_square_overflows_has_no_part_in_a_spectrum() -> None:
    model = _model("tanh", 1.0).changed(target=activation("1e200*z**3"))
    assert spectrum(model).converged
    assert not solve(model).converged


def test_the_best_ridge_of_noise_alone_is_infinite_without_a_warning() -> None:
    # The target is 0: of several groups the equations are tried at ridges at which nothing is left of them.
    groups = ReadoutGroup(2.0, 0.3), ReadoutGroup(-1.0, 0.7)
    step = {"alpha": 10.0, "beta": 1.0, "ridge": 0.1, "alpha0": 0.5, "eta": 0.5, "noise": 10.0, "readout": groups}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = bounds(Model.from_gradient_step("abs", "relu(Min(z, -1))", bulk_model="isotropic", **step)).best_ridge()  # type: ignore[arg-type]
    assert best.ridge == math.inf


def test_one_neuron_tells_no_spike_from_bulk() -> None:
    network = Network("tanh", "tanh", alpha=0.5, beta=0.02, ridge=0.1, alpha0=1.0, eta=0.5)
    with pytest.raises(SimulationError, match="of p = 1 neurons 1 take a step"):
        simulate(network, dimension=50, seeds=1)
    assert simulate(network, dimension=100, seeds=1).test_error.mean > 0.0
