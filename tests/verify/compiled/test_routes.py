"""Theorems that compute: worked values, and every family on drawn models beside the solver, which shares no code."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.losses import LOGISTIC
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.verify.compiled import directions, losses, network, network_letters, random_features, saddle_points
from giantsteps.verify.compiled.along import averages, evaluated
from giantsteps.verify.compiled.families import kept
from giantsteps.verify.second_route.losses import for_solver
from giantsteps.verify.second_route.networks.letter_networks import NETWORKS, compiled

WORKED = Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8)
ACTIVATIONS = ("tanh", "erf", "sin", "relu", "gelu", "sign", "tanh(z)+0.2*he(2,z)", "z**2-1", "softplus", "atan")
TARGETS = ("sin", "tanh", "sign", "relu", "he3", "Piecewise((z, z > 1/2), (0, True))")
STUDENTS = ("tanh", "erf", "sin", "relu", "gelu", "softplus", "tanh(z+0.7)", "tanh(z)+0.2*(z**2-1)", "leaky_relu")
ODD, SMOOTH = ("tanh", "erf", "sin", "atan"), ("tanh", "erf", "sin(z)+z**2/4", "atan(z+1/2)")
# Where networks interpolate, the solver says that it knows six digits of an error of 20.
MOST = 1e-7
# A symbol, what the theorems give, what the solver gives, and what they may differ by.
Pairs = Iterator[tuple[str, float, float, float]]


def test_the_worked_values_by_the_theorems_alone() -> None:
    found, error = saddle_points.solved(WORKED, kept("one letter"))
    # The certificate of the README's model, and the order parameters that it prints.
    assert found.values[s.test_error.name] == pytest.approx(0.1258656085337792743506, abs=1e-15)
    printed = {s.training_error: 0.04535092073, s.m: 0.9981350448, s.zeta: 0.02180761704, s.psi: 0.3604896678,
               s.q1: 0.2955368872, s.q2: 0.3093640318, s.V1: 2.19717834, s.V2: 4.070121158}  # fmt: skip
    for symbol, value in printed.items():
        assert found.values[symbol.name] == pytest.approx(value, rel=5e-10)
    assert max(error, found.residual) < 1e-14


def drawn(rng: np.random.Generator, students: tuple[str, ...], targets: tuple[str, ...], **values: Any) -> Model:
    given = {
        "alpha": 10.0 ** rng.uniform(-0.5, 0.7), "beta": 10.0 ** rng.uniform(-0.4, 0.5),
        "ridge": 10.0 ** rng.uniform(-1.0, 0.5), "bulk": rng.uniform(0.6, 1.8), "alignment": rng.uniform(-0.8, 0.8),
    }  # fmt: skip
    return Model(activation(str(rng.choice(students))), activation(str(rng.choice(targets))), **{**given, **values})


def beside(
    found: Mapping[str, float], wanted: Mapping[sp.Symbol, Any], relative: float, absolute: float = 0.0
) -> Pairs:
    for symbol, value in wanted.items():
        number = float(np.ravel(value)[0])
        yield symbol.name, found[symbol.name], number, relative * (1.0 + abs(number))


def overlaps(by_solver: Solution, but: tuple[sp.Symbol, ...] = ()) -> dict[sp.Symbol, Any]:
    names = {s.m: "m", s.zeta: "zeta", s.psi: "psi", s.q1: "q1", s.q2: "q2", s.V1: "V1", s.V2: "V2"}
    return {x: getattr(by_solver.order_parameters, name) for x, name in names.items() if x not in but}


def allowed(by_solver: Solution, error: float) -> float:
    """What both say that they may be off by; ten times that of the theorems, whose estimate is of one quantity."""
    return by_solver.error_estimate + 10.0 * (error + 1e-14)


def with_a_spike(letters: int) -> Callable[[np.random.Generator], Pairs]:
    def pairs(rng: np.random.Generator) -> Pairs:
        parts = rng.uniform(-1.5, 1.5, letters), rng.uniform(0.6, 1.6, letters), rng.choice([0.0, 0.3], letters)
        groups = tuple(ReadoutGroup(float(u), 0.5, float(c), bias=float(b)) for u, c, b in zip(*parts, strict=True))
        several: dict[str, Any] = {"readout": groups} if letters > 1 else {}
        model = drawn(rng, ACTIVATIONS, TARGETS, noise=0.1, spike=rng.uniform(0.2, 2.0),
                      alignment=float(rng.choice([rng.uniform(-1.0, 1.0), 1.0, -1.0])), **several)  # fmt: skip
        found, error = saddle_points.solved(model, kept("two letters" if letters > 1 else "one letter"))
        by_solver = solve(model)
        yield from beside(found.values, {s.test_error: by_solver.test_error}, allowed(by_solver, error))

    return pairs


def network_step(rng: np.random.Generator) -> Pairs:
    """A network's own bulk, whose labels have noise every other time."""
    model = Model.from_gradient_step(
        str(rng.choice(STUDENTS)), str(rng.choice(TARGETS)), alpha=10.0 ** rng.uniform(-0.5, 0.8),
        beta=10.0 ** rng.uniform(-0.4, 0.5), ridge=10.0 ** rng.uniform(-2.5, 0.5),
        alpha0=10.0 ** rng.uniform(-0.3, 1.3), eta=rng.uniform(0.5, 6.0), noise=float(rng.choice([0.0, 0.2])),
    )  # fmt: skip
    found, error = network.solved(model)
    by_solver = solve(model)
    wanted = {s.test_error: by_solver.test_error, s.training_error: by_solver.training_error}
    wanted |= {s.q1: by_solver.order_parameters.q1, s.q2: by_solver.order_parameters.q2}
    yield from beside(found.values, wanted, allowed(by_solver, error))


def two_directions(rng: np.random.Generator) -> Pairs:
    first, second = rng.uniform(0.3, 1.2, 2)
    angle, size = rng.uniform(0.0, 6.0), rng.uniform(0.2, 0.9)
    model = drawn(rng, SMOOTH, SMOOTH, noise=0.1, spike=1.0, alignment=size * np.cos(angle)).changed(
        further_alignments=(size * np.sin(angle),), readout=(ReadoutGroup(first, further_weights=(-second,)),)
    )
    found, by_solver = directions.solved(model), solve(model)
    there = {x: value for x, value in overlaps(by_solver).items() if x.name in found}
    yield from beside(found, {s.test_error: by_solver.test_error, **there}, 1e-9)


def without_spike(rng: np.random.Generator) -> Pairs:
    model = drawn(rng, ODD, ODD, noise=0.1, spike=0.0)
    found = random_features.plain(model, *random_features.target_constants(model.target))
    by_solver = solve(model)
    there = {x: value for x, value in overlaps(by_solver).items() if x.name in found}
    yield from beside(found, {s.test_error: by_solver.test_error, **there}, 1e-9)


def of_slides(found: Mapping[str, float], by_solver: Solution) -> Pairs:
    at, hats = by_solver.order_parameters, by_solver.order_parameters.conjugates
    wanted = {s.V_s: at.V1, s.V_w: at.V2, s.q_s: at.q1 + at.zeta**2, s.q_w: at.q2, s.V_w_hat: hats.D}
    # Other losses are solved on rules refined until nothing moves by 1e-10, and the rules here leave as much.
    yield from beside(found, wanted, 1e-9)


def square_loss_of_the_slides(rng: np.random.Generator) -> Pairs:
    model = drawn(rng, ODD, ODD, noise=0.1, spike=0.0)
    yield from of_slides(random_features.slides_of(model), solve(model))


def any_loss_of_the_slides(rng: np.random.Generator) -> Pairs:
    signs = bool(rng.integers(2))
    model = drawn(rng, *[ODD if not signs else ("tanh", "erf", "atan")] * 2, spike=0.0)
    by_solver = solve(replace(model, loss=LOGISTIC if signs else for_solver("pseudo-Huber")))
    loss = losses.LOSSES["logistic" if signs else "pseudo-Huber"]
    yield from of_slides(random_features.slides_of(model, loss, signs), by_solver)


def any_loss(rng: np.random.Generator) -> Pairs:
    model = drawn(rng, ODD, ODD, spike=rng.uniform(0.4, 1.2), bulk=rng.uniform(0.8, 1.3))
    by_solver = solve(replace(model, loss=for_solver("pseudo-Huber")))
    found = losses.solved(model, losses.LOSSES["pseudo-Huber"])
    yield from beside(found, {x: value for x, value in overlaps(by_solver).items() if x.name in found}, 1e-9)


FAMILIES = {
    "one letter": (with_a_spike(1), 41), "two letters": (with_a_spike(2), 42), "network": (network_step, 43),
    "directions": (two_directions, 50), "no spike": (without_spike, 50), "slides": (square_loss_of_the_slides, 50),
    "slides, any loss": (any_loss_of_the_slides, 50), "any loss": (any_loss, 50),
}  # fmt: skip


@pytest.mark.parametrize("models", [10, pytest.param(40, marks=pytest.mark.thorough)])
@pytest.mark.parametrize("name", FAMILIES)
def test_drawn_models_are_solved_as_by_the_solver(name: str, models: int) -> None:
    family, seed = FAMILIES[name]
    rng, count = np.random.default_rng(seed), models // 10 if name == "any loss" else models
    compared = [pair for _ in range(count) for pair in family(rng)]
    assert len(compared) >= count
    assert [pair for pair in compared if not abs(pair[1] - pair[2]) <= pair[3] < MOST * (1.0 + abs(pair[2]))] == []


@pytest.mark.parametrize("name", NETWORKS)
def test_networks_of_two_letters_are_solved_as_by_the_solver(name: str) -> None:
    """Without label noise, which the solver has in the labels of both steps."""
    given = NETWORKS[name]
    made = compiled(replace(given, noise=0.0))
    found, error = network_letters.solved(made)
    step, groups = made.step, zip(given.letters, given.fractions, given.biases, strict=True)
    by_solver = solve(Model.from_gradient_step(
        step.activation, step.target, alpha=given.alpha, beta=step.beta, ridge=given.ridge, alpha0=step.alpha0,
        eta=step.eta, readout=tuple(ReadoutGroup(u, share, bias=b) for u, share, b in groups),
    ))  # fmt: skip
    order = by_solver.order_parameters
    wanted = {s.test_error: by_solver.test_error, s.training_error: by_solver.training_error}
    wanted |= {of[a]: x[a] for of, x in ((s.m_of, order.m), (s.chi_of, order.chi)) for a in (0, 1)}
    for pair in beside(found.values, wanted, allowed(by_solver, error)):
        assert abs(pair[1] - pair[2]) <= pair[3] < MOST, pair


@pytest.mark.parametrize(
    "text", [*ACTIVATIONS, "clip(z, -1, 1)", "z/sqrt(1+z**2)", "where(z > 0, z, exp(z)-1)", "pi*z"]
)
def test_an_activation_and_its_averages_by_the_interpreter(text: str) -> None:
    function = activation(text)
    z = np.linspace(-3.0, 3.0, 41) + 0.01
    assert evaluated(function.expression, z) == pytest.approx(function(z), rel=1e-13, abs=1e-13)
    # E z f(a + s z) is s times the slope of E f(a + s z) in a, by a central difference.
    place, scale, h = 0.3, 0.7, 1e-4
    low, here, high = (averages(function, np.array([place + d]), scale) for d in (-h, 0.0, h))
    assert here.slope == pytest.approx(scale * (high.mean - low.mean) / (2.0 * h), rel=1e-6, abs=1e-7)
    assert here.square[0] >= here.mean[0] ** 2 + here.slope[0] ** 2 - 1e-12


@pytest.mark.parametrize("name", losses.LOSSES)
def test_the_proximal_map_is_found_where_a_newton_step_leads_from_one_edge_to_the_other(name: str) -> None:
    """Labels of three units and a wide envelope: the logistic loss has corners there, and free steps do not settle."""
    loss, V = losses.LOSSES[name], 2.0
    y, omega = (x.ravel() for x in np.meshgrid(np.linspace(-4.0, 4.0, 41), np.linspace(-8.0, 8.0, 81)))
    x = losses.proximal(loss, y, omega, V)
    # rounding of the arguments, which are up to 24
    assert np.max(np.abs(x - omega + V * loss.slope(y, x)) / (1 + V * loss.curvature(y, x))) < 1e-14
    # The slope of the force is that of a complex step.
    found = losses.forces(loss)
    moved = found["force"](y, omega + 1e-30j, V).imag / 1e-30
    assert moved == pytest.approx(found["force_slope"](y, omega, V), rel=1e-12, abs=1e-14)
