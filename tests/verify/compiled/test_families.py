"""Two directions, plain random features and other losses by their theorems: drawn models against the solver."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.losses import LOGISTIC
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.verify.compiled import directions, losses, random_features
from giantsteps.verify.second_route.losses import for_solver

ODD, SMOOTH = ("tanh", "erf", "sin", "atan"), ("tanh", "erf", "sin(z)+z**2/4", "atan(z+1/2)")
Values = dict[str, tuple[float, float]]  # by symbol: what the theorems give, and the solver


def drawn(rng: np.random.Generator, functions: tuple[str, ...], **values: float) -> Model:
    return Model(
        activation(str(rng.choice(functions))), activation(str(rng.choice(functions))),
        **{"alpha": 10.0 ** rng.uniform(-0.5, 0.7), "beta": 10.0 ** rng.uniform(-0.4, 0.5),
           "ridge": 10.0 ** rng.uniform(-1.0, 0.5), "bulk": rng.uniform(0.6, 1.8),
           "alignment": rng.uniform(-0.8, 0.8), **values},
    )  # fmt: skip


def overlaps(found: Mapping[str, float], solution: Solution) -> Values:
    at = {s.m: "m", s.zeta: "zeta", s.psi: "psi", s.q1: "q1", s.q2: "q2", s.V1: "V1", s.V2: "V2"}
    pairs = {x.name: float(np.ravel(getattr(solution.order_parameters, name))[0]) for x, name in at.items()}
    return {x: (found[x], value) for x, value in pairs.items() if x in found}


def with_error(found: Mapping[str, float], by_solver: Solution) -> Values:
    return {"error": (found[s.test_error.name], by_solver.test_error)} | overlaps(found, by_solver)


def two_directions(rng: np.random.Generator) -> Values:
    first, second = rng.uniform(0.3, 1.2, 2)
    angle, size = rng.uniform(0.0, 6.0), rng.uniform(0.2, 0.9)
    model = drawn(rng, SMOOTH, noise=0.1, spike=1.0, alignment=size * np.cos(angle)).changed(
        further_alignments=(size * np.sin(angle),), readout=(ReadoutGroup(first, further_weights=(-second,)),)
    )
    return with_error(directions.solved(model), solve(model))


def without_spike(rng: np.random.Generator) -> Values:
    model = drawn(rng, ODD, noise=0.1, spike=0.0)
    return with_error(random_features.plain(model, *random_features.target_constants(model.target)), solve(model))


def square_loss_of_the_slides(rng: np.random.Generator) -> Values:
    model = drawn(rng, ODD, noise=0.1, spike=0.0)
    return of_slides(random_features.slides_of(model), solve(model))


def of_slides(found: Mapping[str, float], by_solver: Solution) -> Values:
    at, hats = by_solver.order_parameters, by_solver.order_parameters.conjugates
    pairs = {s.V_s: at.V1, s.V_w: at.V2, s.q_s: at.q1 + at.zeta**2, s.q_w: at.q2, s.V_w_hat: hats.D}
    return {x.name: (found[x.name], float(np.ravel(value)[0])) for x, value in pairs.items()}


def any_loss_of_the_slides(rng: np.random.Generator) -> Values:
    signs = bool(rng.integers(2))
    model = drawn(rng, ODD if not signs else ("tanh", "erf", "atan"), spike=0.0)
    by_solver = solve(replace(model, loss=LOGISTIC if signs else for_solver("pseudo-Huber")))
    loss = losses.LOSSES["logistic" if signs else "pseudo-Huber"]
    return of_slides(random_features.slides_of(model, loss, signs), by_solver)


def any_loss(rng: np.random.Generator) -> Values:
    model = drawn(rng, ODD, spike=rng.uniform(0.4, 1.2), bulk=rng.uniform(0.8, 1.3))
    by_solver = solve(replace(model, loss=for_solver("pseudo-Huber")))
    return overlaps(losses.solved(model, losses.LOSSES["pseudo-Huber"]), by_solver)


@pytest.mark.parametrize(
    ("family", "models"),
    [(two_directions, 40), (without_spike, 40), (square_loss_of_the_slides, 40), (any_loss_of_the_slides, 40),
     (any_loss, 4)],
)  # fmt: skip
def test_drawn_models_are_solved_as_by_the_solver(family: Callable[[np.random.Generator], Values], models: int) -> None:
    rng = np.random.default_rng(50)
    apart = []
    for _ in range(models):
        found = family(rng)
        # Other losses are solved on rules refined until nothing moves by 1e-10, and the rules here leave as much.
        apart += [(x, *pair) for x, pair in found.items() if abs(pair[0] - pair[1]) > 1e-9 * (1.0 + abs(pair[1]))]
    assert apart == []


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
