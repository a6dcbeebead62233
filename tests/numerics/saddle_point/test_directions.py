"""Spikes of several directions: one set of equations, checked by energy slopes, theorems, rotations, simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.compiled.families import kept
from giantsteps.verify.compiled.saddle_points import solved

WORKED: dict[str, Any] = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.1}
PLANE = ((1.5, 1.0), (1.5, -1.0))


def model(
    student: str, target: str, spikes: tuple[tuple[float, ...], ...], gamma: tuple[float, ...], **values: Any
) -> Model:
    """Equal groups with these spikes."""
    groups = tuple(ReadoutGroup(u[0], 1.0 / len(spikes), further_weights=tuple(u[1:])) for u in spikes)
    return Model(
        activation(student),
        activation(target),
        alignment=gamma[0],
        further_alignments=tuple(gamma[1:]),
        readout=groups,
        **({"spike": 1.0, "bulk": 1.0} | WORKED | values),
    )


def rotated(vectors: tuple[tuple[float, ...], ...], rotation: np.ndarray) -> tuple[tuple[float, ...], ...]:
    return tuple(tuple(float(x) for x in rotation @ np.array(vector)) for vector in vectors)


def orthogonal(size: int, seed: int) -> np.ndarray:
    return np.asarray(np.linalg.qr(np.random.default_rng(seed).standard_normal((size, size)))[0])


UNEQUAL = Model(
    "sin", "tanh", alpha=0.8, beta=1.4, ridge=0.3, alignment=-0.3, further_alignments=(0.8,), spike=1.0, bulk=1.0,
    readout=(ReadoutGroup(0.9, 0.3, 0.7, further_weights=(-0.8,)),
             ReadoutGroup(-0.4, 0.7, 1.4, further_weights=(1.2,))),
)  # fmt: skip
THREE = model("tanh", "sin", ((1.0, 0.5, 0.2), (0.8, -0.5, 0.4), (0.1, 0.3, 0.6)), (0.5, 0.4, 0.3))


@pytest.mark.parametrize("given", [UNEQUAL, THREE], ids=["two groups", "three directions"])
def test_the_least_training_energy_has_the_right_slope_in_the_ridge(given: Model) -> None:
    # d/dridge of min (1/p) (sum (y - f)^2 + ridge |a|^2) is sum q2, which is not how the solver computes q2.
    def energy(case: Model) -> float:
        found = solve(case)
        return case.alpha / case.beta * found.training_error + case.ridge * float(np.sum(found.order_parameters.q2))

    h = given.ridge / 100.0
    energies = {k: energy(given.changed(ridge=given.ridge + k * h)) for k in (-2, -1, 1, 2)}
    slope = (8.0 * (energies[1] - energies[-1]) - (energies[2] - energies[-2])) / (12.0 * h)
    # Fourth-order differences: truncation (h/ridge)^4 = 1e-8.
    assert slope == pytest.approx(float(np.sum(solve(given).order_parameters.q2)), rel=1e-6)


def test_unequal_groups_along_one_line_are_those_of_the_theorems() -> None:
    axis, letters = orthogonal(2, 7)[0], ((0.9, 0.5, 0.7), (-0.4, 0.5, 1.4))
    groups = tuple(ReadoutGroup(u * axis[0], f, c, further_weights=(u * axis[1],)) for u, f, c in letters)
    line = Model("sin", "tanh", alpha=0.8, beta=1.4, ridge=0.3, alignment=-0.8, spike=1.0, bulk=1.0,
                 readout=tuple(ReadoutGroup(*letter) for letter in letters))  # fmt: skip
    turned = line.changed(alignment=-0.8 * axis[0], further_alignments=(-0.8 * axis[1],), readout=groups)
    theorems = kept("two letters")
    found, expected = solve(turned), solved(line, theorems)[0].values
    # Both stop at 1e-13.
    assert found.test_error == pytest.approx(expected[theorems.names["test_error"]], rel=1e-11)
    for group in (0, 1):
        zeta = expected[theorems.names["zeta"][group]]
        assert found.order_parameters.zeta[group] == pytest.approx(zeta * axis, rel=1e-9)


# The kinks and jumps lie along the target's direction, which the axes of the rule follow through every rotation.
@pytest.mark.parametrize(
    ("student", "target", "gamma"),
    [
        ("tanh", "sin", (0.6, 0.5)),
        ("tanh", "sign", (0.6, 0.8)),
        ("relu", "relu", (0.28, 0.96)),
        ("erf", "he2", (0.1, 0.7)),
    ],
)
def test_only_scalar_products_matter(student: str, target: str, gamma: tuple[float, float]) -> None:
    spikes, rotation = ((1.5, 1.0), (0.5, -1.0)), orthogonal(2, 3)
    plain = solve(model(student, target, spikes, gamma))
    (turned,) = rotated((gamma,), rotation)
    other = solve(model(student, target, rotated(spikes, rotation), turned))
    assert plain.converged
    assert other.converged
    # Both are converged to 1e-11 of 1 + test error by their own estimate, and |gamma| = 1 rounds under a rotation.
    assert other.test_error == pytest.approx(plain.test_error, abs=1e-9)
    zeta = plain.order_parameters.zeta @ rotation.T
    assert other.order_parameters.zeta == pytest.approx(zeta, abs=1e-9)


def test_a_narrow_layer_across_the_axes_is_said_not_to_converge() -> None:
    solution = solve(model("sign", "sign", ((3.0, 1.0), (0.5, -4.0)), (0.6, 0.8), bulk=1e-4))
    assert not solution.converged
    assert "not converged in the quadrature" in solution.status


def test_bounds_have_all_functions() -> None:
    case = model("tanh", "sin", PLANE, (0.6, 0.5))
    found = bounds(case)
    assert found.converged
    assert 0.0 < found.lower < solve(case).test_error
    # At infinite ridge only the means are left.
    assert solve(case.changed(ridge=1e7)).test_error == pytest.approx(found.upper, rel=1e-5)
    # The span of one direction's functions is smaller.
    single = bounds(model("tanh", "sin", ((math.hypot(1.5, 1.0),),), (0.6,)))
    assert found.lower < single.lower
