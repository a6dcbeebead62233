"""Several readout groups with any activation: their special cases, symmetries, derivatives, and real networks."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.equivalent import pack
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_groups import NetworkGroups
from giantsteps.numerics.bulk.network_law import groups_law, network_law, step_laws
from giantsteps.numerics.models.model import UNIFORM, Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve

Array = NDArray[np.float64]

UNLIKE = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.7, 0.3), ReadoutGroup(0.3, 0.2))
FIELDS = ("values", "jacobian", "overlap")


def network(student: str, target: str, groups: tuple[ReadoutGroup, ...] = UNIFORM, **values: Any) -> Model:
    given = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0, "bulk_model": "network"} | values
    return Model.from_gradient_step(activation(student), activation(target), readout=groups, **given)


def close(found: Array, expected: Array, tolerance: float) -> None:
    np.testing.assert_allclose(found, expected, rtol=0.0, atol=tolerance * float(np.abs(expected).max()))


# Of a shifted tanh norms and rows are correlated, h != 0, which relu and softplus do not know.
@pytest.mark.parametrize(
    ("student", "eta", "noise"), [("relu", 3.0, 0.0), ("softplus", -6.0, 0.3), ("tanh(z + 7/10)", 3.0, 0.2)]
)
def test_one_group_is_the_uniform_network(student: str, eta: float, noise: float) -> None:
    # Another way to the same numbers: closed formulas of two scalars there, a pencil of matrices here.
    law = network_law(activation(student), activation("sin(z + 1/2)"), 2.0, eta, 0.8, noise)
    one, groups = NetworkBulk(0.05, 0.8, law), NetworkGroups(0.05, 0.8, groups_law((law,), (1.0,)))
    for point in ([0.8, 0.3], [0.0, 0.2], [3.0, 1e-3], [1e-9, 1e-9], [50.0, 1e-6]):
        ours, theirs = groups.at(np.array(point)), one.at(np.array(point))
        for name in FIELDS:
            close(getattr(ours, name), getattr(theirs, name), 1e-12)
        close(ours.overlap_jacobian(), theirs.overlap_jacobian(), 1e-12)


def test_a_vanishing_even_part_is_an_odd_activation() -> None:
    # The pencil with its third block at nu = 1e-9, without it at nu = 0.
    odd = solve(network("tanh", "sin(z + 1/2)", UNLIKE))
    nearly = solve(network("tanh(z) + 10**(-10)*(z**2 - 1)", "sin(z + 1/2)", UNLIKE))
    assert nearly.test_error == pytest.approx(odd.test_error, rel=1e-8)
    assert nearly.test_error != odd.test_error


@pytest.mark.parametrize("shares", [(1.0,), (0.3, 0.7), (0.2, 0.5, 0.3)])
def test_equal_groups_are_one_group(shares: tuple[float, ...]) -> None:
    one = solve(network("relu", "sin"))
    split = solve(network("relu", "sin", tuple(ReadoutGroup(1.0, share) for share in shares)))
    assert split.converged
    assert split.residual < 1e-12
    assert split.test_error == pytest.approx(one.test_error, abs=1e-10)
    assert split.training_error == pytest.approx(one.training_error, abs=1e-10)


def test_the_order_of_the_groups_does_not_matter() -> None:
    one, other = (solve(network("silu", "tanh", groups, noise=0.1)) for groups in (UNLIKE, UNLIKE[::-1]))
    assert one.converged
    assert one.residual < 1e-12
    assert other.test_error == pytest.approx(one.test_error, rel=1e-12)


def test_mirrored_networks_learn_alike() -> None:
    # With -sigma(-z), -g and the rows turned round every feature, label and step changes its sign, or none does.
    one = solve(network("softplus(z) + z/2", "sin(z + 1/2)", UNLIKE))
    other = solve(network("-softplus(-z) + z/2", "-sin(z + 1/2)", UNLIKE))
    assert other.test_error == pytest.approx(one.test_error, rel=1e-11)


def groups_of(student: str) -> NetworkGroups:
    model = network(student, "sin(z + 1/2)", UNLIKE, beta=0.8, noise=0.1)
    return NetworkGroups(0.05, 0.8, groups_law(step_laws(model), model.fractions))


def conjugates(seed: int) -> Array:
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(3, 3))
    return pack(root @ root.T / 2.0, rng.uniform(0.1, 0.5, 3))


def test_derivatives() -> None:
    groups, point, h = groups_of("relu"), conjugates(1), 2e-3
    found = groups.at(point)
    slope = found.overlap_jacobian()
    direction = np.random.default_rng(3).normal(size=len(point))
    # The sixth-order central difference: errors of (h/distance to the next singularity)^6, and rounding 1e-15/h.
    stencil = {1: 3 / 4, 2: -3 / 20, 3: 1 / 60}
    moved = {n: groups.at(point + n * h * direction) for m in stencil for n in (m, -m)}
    values = sum(w * (moved[n].values - moved[-n].values) / h for n, w in stencil.items())
    matrix = sum(w * (moved[n].overlap - moved[-n].overlap) / h for n, w in stencil.items())
    close(np.asarray(values), found.jacobian @ direction, 1e-8)
    close(np.asarray(matrix), np.tensordot(direction, slope, 1), 1e-8)
