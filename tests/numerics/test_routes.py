"""One table of models, solved by every route that takes them: what each says is within its own estimate of the others.

Routes: doubles one by one, a batch, the readout cut into equal groups, the square loss as a convex loss, the equations
that the theorems conclude, and digits, which are the theorems over balls.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import pytest

import giantsteps
from giantsteps.derivations.saddle_point import symbols
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.any_loss import convex
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.verify.compiled import directions
from giantsteps.verify.compiled.families import kept
from giantsteps.verify.compiled.saddle_points import solved

EPS = float(np.finfo(float).eps)
NAMES = ("m", "zeta", "psi", "q1", "q2", "V1", "V2", "chi")
WORKED = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}


def given(student: str, target: str, **values: Any) -> Model:
    return Model(student, target, **(WORKED | values))


def stepped(student: str, target: str, **values: Any) -> Model:
    step = {"alpha": 1.5, "beta": 1.3, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0, "bulk_model": "network"}
    return Model.from_gradient_step(student, target, **(step | values))


def plane(student: str, target: str, *spikes: tuple[float, float], **values: Any) -> Model:
    groups = tuple(ReadoutGroup(u, 1.0 / len(spikes), further_weights=(v,)) for u, v in spikes)
    return given(student, target, **({"alignment": 0.6, "further_alignments": (0.5,), "readout": groups} | values))


TWO = (ReadoutGroup(1.0, 0.5, 1.0), ReadoutGroup(-0.5, 0.5, 1.3))
BIASED = (ReadoutGroup(1.0, 0.4, bias=0.6), ReadoutGroup(-0.7, 0.6, 1.4, bias=-1.1))
THREE = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.4, 0.3, 1.5, 0.2), ReadoutGroup(0.1, 0.2))
FOUR = tuple(ReadoutGroup(letter, 0.25) for letter in (1.0, -0.5, 0.3, 2.0))
MODELS: dict[str, Model] = {
    "worked": given("tanh", "sin"),
    "jump in the target": given("erf", "sign", alpha=0.5, beta=2.0, ridge=0.01, spike=2.0, bulk=1.5, noise=0.2),
    "kinks": given("relu", "relu", alpha=2.5, beta=0.7, ridge=0.3, spike=1.3, bulk=0.8, alignment=0.9, noise=0.1),
    "jump in the student": given("sign", "erf", alpha=3.0, ridge=0.5, alignment=-0.7),
    "aligned": given("tanh", "sign", alignment=1.0),
    "aligned with kinks": given("hardtanh", "relu", alignment=1.0, alpha=1.2, beta=0.8, ridge=0.05, spike=1.4),
    "against the target": given("relu", "sign", alignment=-1.0, alpha=1.2, ridge=0.05),
    "nearly aligned": given("tanh", "sin", alignment=0.999),
    "no alignment": given("sin", "he3", alignment=0.0, noise=0.1),
    "no spike": given("relu", "sin", spike=0.0),
    "no spike, odd": given("tanh", "sin", spike=0.0, alignment=0.3),
    "biased": given("tanh", "relu", readout=(ReadoutGroup(bias=0.5),)),
    "even student": given("abs(z)", "cos(2*z)", alpha=4.0),
    "even student, odd target": given("he2", "sin"),
    "constant mean": given("cos", "z", spike=0.2, ridge=1e-3),
    "linear": given("z", "tanh", alpha=2.0),
    "tiny ridge": given("sin", "relu", alpha=1.1, ridge=1e-10, spike=0.4, bulk=1.2, alignment=0.3),
    "tails at a tiny ridge": given("relu", "tanh", alpha=0.4, beta=6.7, ridge=5e-10, spike=2.5, bulk=0.45),
    "near interpolation": given("erf", "sin(2*z)", alpha=1.001, beta=1.0, ridge=1e-7),
    "huge ridge": given("tanh", "sin", ridge=1e6),
    "many samples": given("z**3-3*z", "sin", alpha=300.0, beta=0.05, ridge=1.0),
    "few samples": given("arctan", "abs(z)", alpha=0.01, beta=50.0, ridge=1e-4),
    "small bulk": given("tanh", "sin", bulk=1e-3, spike=3.0),
    "large bulk": given("relu", "z**2-1", bulk=300.0, spike=2.0),
    "large spike": given("erf", "tanh", spike=12.0, alignment=0.4),
    "oscillation": given("cos", "sin(2*z)", alpha=0.0323, beta=0.0323, ridge=8e-10, spike=9.64, bulk=0.558,
                         alignment=0.0),
    "sum that cancels": given("1+tanh(z-8)", "sin", ridge=1e-13),
    "isotropic step": stepped("tanh", "sign", alpha=0.5, beta=1.0, bulk_model="isotropic"),
    "two groups": given("tanh", "sin", readout=TWO),
    "two biased groups": given("erf", "relu", readout=BIASED, noise=0.1),
    "nearly equal groups": given("tanh", "sin", readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(1.0001, 0.5))),
    "three groups": given("tanh", "sin", readout=THREE),
    "four groups at a tiny ridge": given("relu", "sin", readout=FOUR, ridge=1e-8),
    "two directions": plane("tanh", "sin", (1.5, 1.0), (1.5, -1.0)),
    "one letter in a plane": plane("sin", "tanh", (1.2, -0.7), noise=0.1),
    "three directions": given("tanh", "sin", alignment=0.5, further_alignments=(0.4, 0.3), readout=(
        ReadoutGroup(1.0, 0.5, further_weights=(0.5, 0.2)), ReadoutGroup(0.8, 0.5, further_weights=(-0.5, 0.4)))),
    "Gaussian rows": given("tanh", "sin", bulk=1.2, gaussian_rows=True),
    "network": stepped("tanh", "tanh"),
    "network, kinks": stepped("relu", "sin", alpha=0.6, ridge=1e-3, eta=9.0),
    "network, loud labels": stepped("relu", "sign", noise=25.0, alpha0=0.05, eta=0.05, ridge=100.0),
    "network, fourth power": stepped("relu", "z**4", alpha0=50.0, eta=12.0, ridge=1e-6, alpha=0.1),
    "network, weight -3": stepped("relu", "sin(9*z)", readout=(ReadoutGroup(-3.0, 1.0),), eta=1.0, alpha=20.0),
    "network, bias": stepped("gelu", "sin", readout=(ReadoutGroup(1.0, 1.0, bias=0.4),), noise=0.1),
    "network, short step": stepped("tanh", "sin(9*z)", alpha0=0.05, eta=0.05, ridge=1e-6),
    "network, long step": stepped("tanh(z+7/10)", "sign(z-3/2)", alpha0=50.0, eta=12.0, ridge=100.0, alpha=20.0),
    "network, exponential": stepped("relu", "exp(z)", eta=0.5),
    "network, Gaussian rows": stepped("tanh", "sin(9*z)", gaussian_rows=True, noise=4.0),
    "network of two letters": stepped("relu", "sin", readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.7, 0.5))),
}  # fmt: skip


class Answer(NamedTuple):
    """What a route says: both errors, the estimate of the first one's error, and the order parameters by name."""

    test: float
    training: float
    estimate: float
    order: dict[str, Any]


def _answer(found: Any) -> Answer:
    assert found.converged, found.status
    order = {name: np.asarray(getattr(found.order_parameters, name), dtype=float) for name in NAMES}
    return Answer(float(found.test_error), float(found.training_error), float(found.error_estimate), order)


def _one(model: Model) -> bool:
    return len(model.groups) == 1 and model.rank == 1


@cache
def by_solver(model: Model) -> Solution:
    return solve(model)


def doubles(model: Model) -> Answer:
    return _answer(by_solver(model))


def batch(model: Model) -> Answer:
    found = solve_batch(model, alpha=[model.alpha, 2.0 * model.alpha])
    assert found.converged[0], found.status[0]
    order = {name: getattr(found, name)[..., 0] for name in NAMES if getattr(found, name).size}
    return Answer(found.test_error[0], found.training_error[0], found.error_estimate[0], order)


def cut(model: Model) -> Answer:
    """The first group cut into two of the same weight: errors stay, and its overlaps are their sums."""
    first, *others = model.groups
    halves = tuple(ReadoutGroup(**(vars(first) | {"fraction": share * first.fraction})) for share in (0.3, 0.7))
    found = _answer(solve(model.changed(readout=(*halves, *others))))
    order = {name: found.order[name][:2].sum(axis=0) for name in ("m", "zeta", "psi")} if _one(model) else {}
    return Answer(found.test, found.training, found.estimate, order)


def _in_reach_of_convex(model: Model) -> bool:
    # A path to 1e-8 of everything; at smaller ridges the equations of other losses are out of its reach.
    return model.rank <= 2 and model.ridge >= 1e-3 and model.alpha <= 50.0


@cache
def as_convex(model: Model) -> Answer:
    found = convex.solve(model)
    return Answer(found.test_error, found.training_error, max(found.error_estimate, 1e-8 * (1 + found.test_error)), {})


def _plain(model: Model) -> bool:
    """Models that the plain iteration of the theorems is made for; networks are drawn in tests/verify/compiled."""
    if not (1e-3 <= model.ridge <= 1e3 and 0.1 <= model.alpha <= 50.0 and 0.1 <= model.bulk <= 10.0):
        return False
    if len(model.groups) > 2 or not 0.0 < abs(model.spike) <= 5.0 or model.noise > 1.0:
        return False
    if model.gaussian_rows or model.unequal_norms:
        return False
    return model.rank == 1 or (model.rank == 2 and len(model.groups) == 1)


def theorems(model: Model) -> Answer:
    """The equations of the derivations."""
    left, values = 1e-13, dict[str, Any]()
    if model.rank == 2:
        values = directions.solved(model)
    else:
        found, left = solved(model, kept("one letter" if _one(model) else "two letters"))
        values = found.values
    at = {name: getattr(symbols, name).name for name in NAMES[:-1]}
    order = {name: values[x] for name, x in at.items() if x in values} if _one(model) else {}
    test, training = (float(values.get(x.name, np.nan)) for x in (symbols.test_error, symbols.training_error))
    # Both stop at steps of 1e-13 and contract by 0.9 or less a step.
    return Answer(test, training, 10.0 * (left + 1e-14) * (1.0 + test), order)


def _has_digits(model: Model) -> bool:
    most = 1 if model.unequal_norms else 2
    return model.rank == 1 and not model.gaussian_rows and model.ridge > 0.0 and len(model.groups) <= most


def digits(model: Model) -> Answer:
    return _answer(giantsteps.solve(model, digits=20))


# Each route with the models that it takes.
ROUTES: dict[Callable[[Model], Answer], Callable[[Model], bool]] = {
    batch: _one, cut: lambda _: True, as_convex: _in_reach_of_convex, theorems: _plain, digits: _has_digits,
}  # fmt: skip
PAIRS = [(name, route) for name, model in MODELS.items() for route, takes in ROUTES.items() if takes(model)]


@pytest.mark.parametrize(("name", "route"), PAIRS, ids=[f"{name}, {route.__name__}" for name, route in PAIRS])
def test_every_route_leads_to_the_same_numbers(name: str, route: Callable[[Model], Answer]) -> None:
    found, expected, model = route(MODELS[name]), doubles(MODELS[name]), MODELS[name]
    left = found.estimate + expected.estimate
    size = 1.0 + expected.test + model.noise
    assert abs(found.test - expected.test) <= left + EPS * size
    assert not abs(found.training - expected.training) > left + 4.0 * EPS * size
    for name_, value in found.order.items():
        other = expected.order[name_]
        # As good as the test error, up to conditions of some thousand.
        assert np.ravel(value) == pytest.approx(np.ravel(other), rel=1e3 * left / size + 1e-9, abs=1e3 * left), name_


@pytest.mark.parametrize("name", MODELS)
def test_a_finite_width_is_the_same_by_every_route(name: str) -> None:
    model = MODELS[name]
    expected = by_solver(model).at_width(300)
    size = 1.0 + expected.test_error + model.noise
    if _one(model):
        found = solve_batch(model, alpha=[model.alpha]).at_width(300)
        left = float(found.error_estimate[0]) + expected.error_estimate + EPS * size
        assert abs(found.test_error[0] - expected.test_error) <= left
        assert abs(found.training_error[0] - expected.training_error) <= left + 4.0 * EPS * size
    if _in_reach_of_convex(model):
        # The solver of convex losses finds the same point by another iteration, to a residual of 1e-9.
        wide = convex.solve(model, width=300)
        assert wide.test_error == pytest.approx(expected.test_error, rel=1e-6)
        assert wide.training_error == pytest.approx(expected.training_error, rel=1e-6)
