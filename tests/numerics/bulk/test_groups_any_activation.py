"""Several readout groups with any activation: their special cases, symmetries, derivatives, and real networks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.equivalent import pack, unpack
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_groups import NetworkGroups
from giantsteps.numerics.bulk.network_law import groups_law, network_law, step_laws
from giantsteps.numerics.experiments.ridge import predicted
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.models.model import UNIFORM, Model, ReadoutGroup
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.equations import multiplicity
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.checks.finite_size import Observation, compare

Array = NDArray[np.float64]

OPPOSITE = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))
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


# Odd activations as the solver of one matrix of the batch alone had them, test and training error.
ODD = [
    ("tanh", "tanh", UNLIKE, {"ridge": 0.01, "alpha0": 10.0, "eta": 10.0}, 0.05117785946247251, 0.005938551068619754),
    (
        "erf", "sign", (ReadoutGroup(1.0, 0.5), ReadoutGroup(-0.5, 0.5)),
        {"alpha": 2.0, "ridge": 0.05, "alpha0": 4.0, "eta": 4.0, "noise": 0.1}, 0.6365575543111354, 0.21145106840361902,
    ),
    (
        "tanh", "sin", (ReadoutGroup(1.0, 0.6), ReadoutGroup(0.0, 0.4)),
        {"alpha": 0.6, "beta": 0.4, "ridge": 1e-3, "alpha0": 0.7, "eta": 5.0, "gaussian_rows": True},
        0.9405658981443468, 0.07961245130305727,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("student", "target", "groups", "values", "test", "training"), ODD)
def test_odd_activations_are_what_they_were(
    student: str, target: str, groups: tuple[ReadoutGroup, ...], values: dict[str, Any], test: float, training: float
) -> None:
    found = solve(network(student, target, groups, **values))
    assert found.test_error == pytest.approx(test, rel=1e-12)
    assert found.training_error == pytest.approx(training, rel=1e-12)


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


@pytest.mark.parametrize("student", ["tanh", "relu"])
@pytest.mark.parametrize("weights", [(0.01, 1.0), (1.0, 0.01)])
def test_groups_share_the_labels_of_the_longest_step(student: str, weights: tuple[float, float]) -> None:
    # Averages over noisy labels are as fine as the group of the longest step needs them, whichever comes first.
    groups = tuple(ReadoutGroup(weight, 0.5) for weight in weights)
    laws = step_laws(network(student, "sin", groups, alpha0=0.2, eta=60.0, noise=1.0))
    longest, other = laws[weights.index(1.0)], laws[weights.index(0.01)]
    assert len(longest.labels.nodes) > 2 * len(other.labels.nodes)
    assert groups_law(laws, (0.5, 0.5)).labels is longest.labels


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


def test_trace_identities_and_derivatives_of_one_function() -> None:
    # (1/p) tr_a [S S^-1] = pi_a, and T and tau are derivatives of (1/p) log det S, an off-diagonal C_ab counting twice.
    for seed in range(3):
        point = conjugates(seed)
        found = groups_of("relu").at(point)
        (C, D), (T, tau) = unpack(point), unpack(found.values)
        np.testing.assert_allclose((0.05 + D) * tau + np.sum(C * T, axis=1), (0.5, 0.3, 0.2), rtol=1e-13)
        jacobian = multiplicity(3)[:, None] * found.jacobian
        close(jacobian, jacobian.T, 1e-13)


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


def test_far_from_any_start() -> None:
    remembered = groups_of("relu")
    for scale, diagonal in ((1e-4, 1e3), (1e4, 1e-4), (1e-9, 1e-9), (30.0, 0.1)):
        point = np.concatenate([scale * conjugates(2)[:6], [diagonal] * 3])
        found, alone = remembered.at(point), groups_of("relu").at(point)
        np.testing.assert_allclose(found.values, alone.values, rtol=1e-11)
        assert np.linalg.eigvalsh(found.overlap)[0] > 0.0


@pytest.mark.thorough
@pytest.mark.parametrize("groups", [OPPOSITE, (ReadoutGroup(1.0, 0.5), ReadoutGroup(0.5, 0.5))])
def test_theory_and_real_networks(groups: tuple[ReadoutGroup, ...]) -> None:
    given = Network(
        activation("relu"), activation("sin"), 1.5, 1.0, 0.1, alpha0=2.0, eta=6.0, readout=groups
    )  # fmt: skip
    runs = [simulate(given, dimension=d, seeds=k, kind="network") for d, k in ((100, 64), (200, 48), (400, 24))]
    theories = [predicted(solve(run.model.model("network")), run.sizes) for run in runs]  # type: ignore[union-attr]
    names = ["test_error", "training_error", *(f"{x}[{a}]" for x in ("zeta", "psi", "chi", "q2") for a in (0, 1))]
    for name in names:
        seen = [
            Observation(run.dimension, run.values(name), theory[name])
            for run, theory in zip(runs, theories, strict=True)
        ]
        z = compare(name, seen, scale=1.0).z
        # Ten observables: |z| > 4.2 would happen once in 3700 choices of the seed.
        assert z is not None
        assert abs(z) < 4.2, name


def test_where_there_is_no_equivalent_there_are_no_numbers_and_nothing_is_kept() -> None:
    # What asks for C < 0 is on the way to a solution and has gone astray.
    laws = step_laws(network("relu", "sin", OPPOSITE))
    bulk, given = NetworkGroups(0.1, 1.0, groups_law(laws, (0.5, 0.5))), np.array([0.8, 0.1, 0.8, 0.3, 0.3])
    known = bulk.at(given)
    with np.errstate(all="ignore"):
        astray = bulk.at(given * np.array([-1.0, 1.0, -1.0, 1.0, 1.0]))
    for name in FIELDS:
        assert np.isnan(getattr(astray, name)).all(), name
        assert getattr(astray, name).shape == getattr(known, name).shape, name
    assert np.isnan(astray.overlap_jacobian()).all()
    assert astray.overlap_jacobian().shape == known.overlap_jacobian().shape
    # It is no start for what has an equivalent, and no answer to it.
    fresh = NetworkGroups(0.1, 1.0, groups_law(laws, (0.5, 0.5))).at(1.01 * given)
    close(bulk.at(1.01 * given).values, fresh.values, 1e-12)
    # The same pair is the same point, and one that differs in a single entry is not.
    assert bulk.at(1.01 * given) is bulk.at(1.01 * given)
    last = bulk.at(given)
    for entry in range(5):
        moved = given.copy()
        moved[entry] *= 1.0 + 1e-6
        assert bulk.at(moved) is not last
        last = bulk.at(given)


@pytest.mark.parametrize("groups", [UNIFORM, OPPOSITE, UNLIKE])
@pytest.mark.parametrize(("student", "noise"), [("relu", 0.0), ("tanh(z + 1)", 0.2), ("sin", 0.2)])
def test_the_laws_of_all_groups_are_of_the_step_s_own_labels(
    student: str, noise: float, groups: tuple[ReadoutGroup, ...]
) -> None:
    # By Hermite constants, which know no rule for labels: c_u of each group, and E[Y] = E[g] - E[u] E[sigma].
    model = network(student, "sin(z + 1/2)", groups, noise=noise, beta=1.3)
    laws, target, own = step_laws(model), hermite_constants(model.target), hermite_constants(model.activation)
    output = sum(group.weight * group.fraction for group in groups) * own.mean
    for law, bulk in zip(laws, model.bulks, strict=True):
        assert law.bulk == pytest.approx(bulk, rel=1e-11)
        assert law.labels.mean == pytest.approx(target.mean - output, abs=1e-12)
        assert law.labels.square == pytest.approx(target.h2 + noise - output * (2.0 * target.mean - output), rel=1e-11)
    assert groups_law(laws, model.fractions).bulks == pytest.approx(model.bulks, rel=1e-11)


def test_without_a_readout_that_sees_the_rows_nothing_is_solved_for() -> None:
    # C = D = 0: tau_a = pi_a/ridge and T_aa = c_a tau_a; without a ridge in units of it.
    bulk = groups_of("relu")
    found = bulk.at(np.zeros(9))
    close(bulk.largest(), found.values, 1e-13)
    alone = NetworkGroups(0.0, 0.8, bulk.law)
    close(alone.largest(), 0.05 * found.values, 1e-13)


@pytest.mark.parametrize(
    ("tau", "first", "second", "inside"),
    [
        ((1.0, 0.6), (-1.0, -1.0), (1.0, 1.0), True), ((1.01, 0.6), (-1.0, -1.0), (1.0, 1.0), False),
        ((1.0, 0.61), (-1.0, -1.0), (1.0, 1.0), False), ((0.0, 0.6), (-1.0, -1.0), (1.0, 1.0), False),
        ((1.0, -0.1), (-1.0, -1.0), (1.0, 1.0), False), ((1.0, 0.6), (-1.0, 0.9e-4), (1.0, 1.0), True),
        ((1.0, 0.6), (-1.0, 1.1e-4), (1.0, 1.0), False), ((1.0, 0.6), (1.1e-4, -1.0), (1.0, 1.0), False),
        ((1.0, 0.6), (-1.0, -1.0), (1.0, 0.0), False), ((1.0, 0.6), (-1.0, -1.0), (-1e-9, 1.0), False),
        ((1.0, 0.6), (-1.0, math.nan), (1.0, 1.0), False),
    ],
)  # fmt: skip
def test_places_on_the_way_of_groups_have_the_signs_of_a_solution(
    tau: tuple[float, float], first: tuple[float, float], second: tuple[float, float], inside: bool
) -> None:
    # 0 < tau_a <= 2 pi_a/shift, here pi = (1/2, 3/10) at a shift of one; -Gamma_11 >= 0 up to 1e-4, Gamma_22 > 0.
    laws = step_laws(network("relu", "sin", OPPOSITE))
    bulk = NetworkGroups(0.1, 1.0, groups_law(laws, (0.5, 0.3)))
    gamma = np.diag([*first, *second])
    assert bulk._inside(np.array(tau), gamma, np.ones(2)) == inside


@pytest.mark.parametrize("groups", [UNIFORM, OPPOSITE])
def test_what_is_kept_does_not_change_with_the_array_that_it_was_asked_by(groups: tuple[ReadoutGroup, ...]) -> None:
    laws = step_laws(network("relu", "sin", groups))

    def bulk() -> NetworkBulk | NetworkGroups:
        if len(laws) == 1:
            return NetworkBulk(0.1, 1.0, laws[0])
        return NetworkGroups(0.1, 1.0, groups_law(laws, (0.5, 0.5)))

    pair = np.array([0.8, 0.3]) if len(laws) == 1 else np.array([0.8, 0.1, 0.8, 0.3, 0.3])
    kept = bulk()
    first = kept.at(pair).values.copy()
    pair *= 1.5
    close(kept.at(pair).values, bulk().at(pair).values, 1e-12)
    assert np.abs(kept.at(pair).values - first).max() > 1e-3
