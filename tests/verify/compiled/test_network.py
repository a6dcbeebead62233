"""A network's own bulk by the theorems: what simulations of real networks were compared with, and drawn models."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.verify.compiled import network_letters
from giantsteps.verify.compiled.network import solved
from giantsteps.verify.second_route.equivalence.twins import Setting
from giantsteps.verify.second_route.networks.letter_networks import NETWORKS, compiled

STUDENTS = (
    "tanh",
    "erf",
    "sin",
    "relu",
    "gelu",
    "softplus",
    "tanh(z+0.7)",
    "tanh(z)+0.2*(z**2-1)",
    "leaky_relu",
    "atan",
)
TARGETS = ("sin", "tanh", "sign", "relu", "sin(z+0.7)", "Piecewise((z, z > 1/2), (0, True))")


@pytest.mark.parametrize(
    ("functions", "numbers", "test", "training"),
    [
        # The tables of real networks: alpha0, eta, beta, alpha, ridge.
        (("tanh", "tanh"), (1.0, 3.0, 2.0, 1.0, 0.1), 0.12369, None),
        (("tanh", "tanh"), (10.0, 10.0, 1.0, 1.5, 0.01), 0.08287, None),
        (("tanh", "tanh"), (50.0, 10.0, 1.0, 1.5, 0.01), 0.03041, None),
        (("relu", "sin"), (2.0, 3.0, 1.0, 1.5, 0.1), 0.344620, 0.170326),
        (("relu", "tanh"), (10.0, 8.0, 1.0, 1.5, 0.01), 0.358504, 0.170405),
        (("tanh(z+0.7)", "tanh"), (10.0, 8.0, 1.0, 1.5, 0.01), 0.156407, 0.014393),
        (("tanh(z)+0.2*(z**2-1)", "tanh"), (8.0, 3.0, 1.0, 1.5, 0.1), 0.285518, 0.065743),
    ],
)
def test_worked_values(
    functions: tuple[str, str], numbers: tuple[float, ...], test: float, training: float | None
) -> None:
    alpha0, eta, beta, alpha, ridge = numbers
    model = Model.from_gradient_step(*functions, alpha=alpha, beta=beta, ridge=ridge, alpha0=alpha0, eta=eta)
    found, error = solved(model)
    digits = 5e-6 if training is None else 5e-7  # half a unit of the last digit
    assert found.values[s.test_error.name] == pytest.approx(test, abs=digits)
    if training is not None:
        assert found.values[s.training_error.name] == pytest.approx(training, abs=digits)
    assert max(error, found.residual) < 1e-11  # at a ridge of 0.01 rounding grows by 1e4


def drawn(rng: np.random.Generator) -> Model:
    """A network whose labels have noise every other time."""
    return Model.from_gradient_step(
        str(rng.choice(STUDENTS)), str(rng.choice(TARGETS)), alpha=10.0 ** rng.uniform(-0.5, 0.8),
        beta=10.0 ** rng.uniform(-0.4, 0.5), ridge=10.0 ** rng.uniform(-2.5, 0.5),
        alpha0=10.0 ** rng.uniform(-0.3, 1.3), eta=rng.uniform(0.5, 6.0), noise=float(rng.choice([0.0, 0.2])),
    )  # fmt: skip


def test_drawn_networks_are_solved_as_by_the_solver() -> None:
    rng, apart = np.random.default_rng(43), []
    for _ in range(40):
        model = drawn(rng)
        found, error = solved(model)
        by_solver = solve(model)
        wanted = {s.test_error: by_solver.test_error, s.training_error: by_solver.training_error}
        order = by_solver.order_parameters
        wanted |= {s.q1: float(order.q1[0, 0]), s.q2: float(order.q2[0]), s.chi: float(order.chi[0])}
        allowed = by_solver.error_estimate + 10.0 * (error + 1e-14)
        for symbol, value in wanted.items():
            if not abs(found.values[symbol.name] - value) <= allowed * (1.0 + abs(value)) < 1e-8:
                apart.append((model, symbol, found.values[symbol.name], value, allowed))
    assert apart == []


@pytest.mark.parametrize("network", NETWORKS.values(), ids=NETWORKS)
def test_networks_of_two_letters_are_solved_as_by_the_solver(network: Setting) -> None:
    """Without label noise, which the solver has in the labels of both steps."""
    made = compiled(replace(network, noise=0.0))
    found, error = network_letters.solved(made)
    step, groups = made.step, zip(network.letters, network.fractions, network.biases, strict=True)
    by_solver = solve(Model.from_gradient_step(
        step.activation, step.target, alpha=network.alpha, beta=step.beta, ridge=network.ridge, alpha0=step.alpha0,
        eta=step.eta, readout=tuple(ReadoutGroup(u, share, bias=b) for u, share, b in groups),
    ))  # fmt: skip
    order = by_solver.order_parameters
    wanted = {s.test_error: by_solver.test_error, s.training_error: by_solver.training_error}
    wanted |= {of[a]: x[a] for of, x in ((s_saddle.m_of, order.m), (s_saddle.chi_of, order.chi)) for a in (0, 1)}
    for symbol, value in wanted.items():
        allowed = by_solver.error_estimate + 10.0 * (error + 1e-14)
        assert abs(found.values[symbol.name] - value) <= allowed * (1.0 + abs(value)) < 1e-8, symbol
