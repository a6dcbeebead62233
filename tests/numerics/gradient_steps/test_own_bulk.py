"""A network's own bulk after several steps: worked values, dense matrices, one step by another code, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from giantsteps.numerics.bounds.best import best
from giantsteps.numerics.bulk.network_steps import StepsBulk, law_of
from giantsteps.numerics.bulk.of_model import equivalent_of
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.gradient_steps.batches import INITIAL, batch
from giantsteps.numerics.gradient_steps.labels import labels
from giantsteps.numerics.gradient_steps.words import Norms, rows, words
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.numerics.spectrum.density import spectrum
from tests.numerics.bulk.differences import differences

Array = NDArray[np.float64]

# Student, target, alpha0 and eta; beta = 1, alpha = 1.5 and ridge = 0.1 unless said otherwise.
MILD, SINE, KINKED = ("tanh", "tanh", 2.0, 1.0), ("tanh", "sin", 2.0, 3.0), ("relu", "tanh", 2.0, 2.0)
SOFT, SHIFTED, UNSTABLE = (
    ("softplus", "tanh", 1.0, 2.0),
    ("tanh(z + 0.7)", "tanh", 4.0, 4.0),
    ("relu", "tanh", 2.0, 12.0),
)
ODD = ("tanh", "tanh", 2.0, 2.0)


def step(student: str, target: str, alpha0: Any, eta: Any, **changed: Any) -> Model:
    values = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1} | changed
    return Model.from_gradient_step(student, target, alpha0=alpha0, eta=eta, **values)


# Test and training error by other code than this, and the digits that they are given to.
WORKED: list[tuple[tuple[Any, ...], dict[str, Any], float, float | None, float]] = [
    (MILD, {"steps": 3}, 0.03011098, 0.01077573, 6e-9),
    (SINE, {"steps": 3}, 0.03521030, 0.01619179, 6e-9),
    (KINKED, {"steps": 3}, 0.26181673, 0.17750545, 6e-9),
    (SOFT, {"steps": 3}, 0.29794345, 0.20900918, 6e-9),
    (UNSTABLE, {"steps": 3}, 0.55261114, 0.18618083, 6e-9),
    (SINE, {"steps": 4}, 0.02138037, 0.01233887, 6e-9),
    (KINKED, {"steps": 4}, 0.25735995, 0.18577308, 6e-9),
    (SINE, {"steps": 2}, 0.066576, 0.025045, 6e-7),
    (("erf", "sign", 4.0, 2.0), {"steps": 2, "alpha": 2.0}, 0.39007, 0.12699, 6e-6),
    (("tanh", "z + he3(z)/3", 4.0, 1.0), {"steps": 2, "alpha": 2.0}, 1.03967, 0.73026, 6e-6),
    (("relu", "sin", 2.0, 3.0), {"steps": 2, "beta": 2.0}, 0.29537, 0.15133, 6e-6),
    (SHIFTED, {"steps": 2, "ridge": 0.01}, 0.19364, 0.02175, 6e-6),
    (("tanh", "sin", 2.0, 10.0), {"steps": 2}, 0.13379, 0.04119, 6e-6),
    (SHIFTED, {"ridge": 0.01, "gaussian_rows": True}, 0.2722102, None, 6e-8),
    (KINKED, {"gaussian_rows": True}, 0.2758935, None, 6e-8),
    (KINKED, {"steps": 2, "gaussian_rows": True}, 0.2680, None, 6e-5),
]  # fmt: skip


@pytest.mark.parametrize(("given", "changed", "test", "training", "digits"), WORKED)
def test_worked_values(
    given: tuple[Any, ...], changed: dict[str, Any], test: float, training: float | None, digits: float
) -> None:
    solution = solve(step(*given, **changed))
    assert solution.converged
    assert solution.residual < 1e-12
    assert solution.error_estimate < 1e-8
    assert solution.test_error == pytest.approx(test, abs=digits)
    assert training is None or solution.training_error == pytest.approx(training, abs=digits)


# v_c, (1/d) tr H and R_11, R_12, R_13, R_22, R_23, R_33 on (v, theta_perp, delta) at g = 1 after three steps.
LAWS = {
    "mild": (MILD, 0.68948455, 0.52876846, (0.447314, 0.00819873, -0.386822, 0.48148, -0.00620643, 0.413366)),
    "sine": (SINE, 4.9010154, 0.43983865, (0.582508, -0.0267558, -0.849218, 0.55985, 0.0166883, 2.94202)),
    "kinked": (KINKED, 0.24304969, 0.74519236, (0.268369, 0.043453, 0.0172774, 0.287325, 0.0226548, 0.238156)),
    "soft": (SOFT, 0.12629101, 0.82548294, (0.104408, 0.00444412, -0.000747395, 0.191782, 0.00597499, 0.12599)),
    "unstable": (UNSTABLE, 267361.89, 0.03854224, (0.966133, 0.00114493, -3.36108, 0.962545, 1.76759, 45990.5)),
}


@pytest.mark.parametrize("name", LAWS)
def test_the_law_of_the_rows(name: str) -> None:
    given, variance, trace, expected = LAWS[name]
    law = law_of(step(*given, steps=3))
    f, v_v, v_d, v_p, d_d, d_p, p_p = law.functions(np.ones(1))[:, 0]
    along = 1.0 / (1.0 + v_v)
    R = (v_v * along, v_p * along, v_d * along, p_p - v_p**2 * along, d_p - v_p * v_d * along, d_d - v_d**2 * along)
    assert law.rows.variance == pytest.approx(variance, rel=5e-8)
    np.testing.assert_allclose(1.0 - f, trace, atol=6e-9)
    np.testing.assert_allclose(R, expected, rtol=6e-6)
    assert law.error < 1e-11


@pytest.mark.parametrize("steps", [1, 2, 3])
def test_words_and_finite_rank_are_those_of_dense_matrices(steps: int) -> None:
    d, rng = 8, np.random.default_rng(steps)
    P, A = [], []
    for _ in range(steps):
        one, other = rng.standard_normal((2, d, d)) / np.sqrt(d)
        P.append(np.eye(d) + 0.4 * (one + one.T))
        A.append(other @ other.T)
    vectors = rng.standard_normal((1 + 4 * steps, d))
    pulled = [rng.standard_normal(1 + 4 * t) @ vectors[: 1 + 4 * t] for t in range(steps)]
    norms = [Norms(*rng.uniform(0.5, 1.5, 3), np.zeros(2)) for _ in range(steps)]

    def inverse(g: float) -> Array:
        size = 2 * steps + 1
        pencil = np.zeros((size, size, d, d))
        pencil[0, 0], pencil[-1, -1], pencil[0, 1] = g * np.eye(d), np.eye(d), np.eye(d)
        for t in range(steps):
            at = 2 * (steps - t) - 1
            pencil[at, at], pencil[at, at + 1] = -A[t], P[t]
            if t:
                pencil[at + 1, at + 2] = np.eye(d)
        upper = pencil.transpose(0, 2, 1, 3).reshape(size * d, size * d)
        return np.linalg.inv(np.triu(upper) + np.triu(upper, 1).T)

    # Bare B_t; and B, h and v as the batches make them.
    bare, B, h, v = [np.eye(d)], np.eye(d), np.zeros(d), 0.3
    for t, (one, two, batch_) in enumerate(zip(P, A, norms, strict=True)):
        q, g1, g0 = vectors[2 + 4 * t : 5 + 4 * t]
        e, D, mean = batch_.rate, batch_.factor, pulled[t]
        bent = one @ np.outer(h, q)
        after = one @ B @ one + two + e * (bent + bent.T) + e**2 * v * np.outer(q, q)
        lean = one @ (D * h + bare[t] @ g1 + (B - bare[t]) @ mean) + e * q * (D * v + h @ mean) + g0
        v = D**2 * v + 2.0 * D * h @ mean + mean @ B @ mean + batch_.scatter
        bare.append(one @ bare[t] @ one + two)
        B, h = after, lean
    known = np.einsum("qvk,vi->qki", words(steps), vectors).reshape(3 * steps, -1)
    means = np.zeros((steps, 2 * steps + 1, d))
    for t in range(steps):
        means[t, 2 * (steps - t)] = pulled[t]
    means = means.reshape(steps, -1)
    start = inverse(0.0)
    signs = (-1.0) ** (steps - np.arange(steps))[:, None]
    found = rows(norms, np.diagonal(means @ start @ means.T), signs * (means @ start @ known.T), 0.3)
    top = (start @ known.T)[:d].T
    low, lean = found.low @ top, found.lean @ top
    np.testing.assert_allclose(start[:d, :d], bare[-1], rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose(bare[-1] + low.T @ found.coupling @ low, B, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(lean, h, rtol=1e-10, atol=1e-10)
    assert found.variance == pytest.approx(v, rel=1e-12)
    g = 0.7
    H, at = np.linalg.inv(np.eye(d) + g * bare[-1]), inverse(g)
    np.testing.assert_allclose(at[:d, :d], bare[-1] @ H, rtol=1e-11, atol=1e-11)
    np.testing.assert_allclose((at @ known.T)[:d], H @ top.T, rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(known @ (start - at) @ known.T, g * top @ H @ top.T, rtol=1e-9, atol=1e-9)


ONE_STEP = {
    "odd": step("tanh", "tanh", 1.0, 3.0), "relu": step(*KINKED), "shifted": step(*SHIFTED, ridge=0.01),
    "silu, noise": step("silu", "sign", 2.0, 3.0, noise=0.1), "long": step("relu", "tanh", 10.0, 8.0, ridge=0.01),
    "odd, Gaussian rows": step(*ODD, noise=0.05, gaussian_rows=True),
}  # fmt: skip


@pytest.mark.parametrize("name", ONE_STEP)
def test_one_step_is_that_of_the_closed_form(name: str) -> None:
    # The averages of both are made to 1e-12 or so.
    model = ONE_STEP[name]
    law = law_of(model)
    one, other = solve(model), solve(model, bulk=lambda ridge: StepsBulk.of(law, ridge, model.beta))
    assert other.test_error == pytest.approx(one.test_error, rel=1e-12)
    assert other.training_error == pytest.approx(one.training_error, rel=1e-12)


@pytest.mark.parametrize("given", [SINE, KINKED, SHIFTED])
def test_a_step_of_no_size_changes_nothing(given: tuple[Any, ...]) -> None:
    student, target, alpha0, eta = given
    once, twice = step(*given), step(student, target, alpha0, (eta, 0.5 * eta), steps=2)
    # Errors follow eta as a power at most: 1e-14 of a step moves them by less than rounding.
    last = step(student, target, alpha0, (eta, 1e-14), steps=2)
    assert solve(last).test_error == pytest.approx(solve(once).test_error, rel=1e-10)
    inner = step(student, target, alpha0, (eta, 0.0, 0.5 * eta), steps=3)
    assert solve(inner).test_error == solve(twice).test_error
    barely = step(student, target, alpha0, (eta, 1e-14, 0.5 * eta), steps=3)
    assert solve(barely).test_error == pytest.approx(solve(twice).test_error, rel=1e-10)


@pytest.mark.parametrize(
    "model", [step(*KINKED, steps=2, noise=0.1), step(*SHIFTED, steps=3), step(*KINKED, gaussian_rows=True)]
)
def test_derivatives_are_those_of_the_values(model: Model) -> None:
    equivalent, point = equivalent_of(model, 0.05), np.array([0.8, 0.3])
    at = equivalent.at(point)
    for k, (slopes, matrix) in enumerate(differences(equivalent.at, point, 2e-3)):
        np.testing.assert_allclose(at.jacobian[:, k], slopes, rtol=1e-10, atol=1e-11)
        np.testing.assert_allclose(at.overlap_jacobian()[k], matrix, rtol=1e-10, atol=1e-10)


@pytest.mark.parametrize("model", [step(*SINE, steps=2), step(*KINKED, gaussian_rows=True, noise=0.1)])
def test_a_batch_of_points_has_the_errors_of_each(model: Model) -> None:
    alphas, ridges = np.linspace(0.4, 4.0, 5), np.geomspace(3.0, 0.003, 5)
    together = solve_batch(model, alpha=alphas, ridge=ridges)
    assert together.converged.all()
    each = [solve(model.changed(alpha=a, ridge=r)).test_error for a, r in zip(alphas, ridges, strict=True)]
    np.testing.assert_allclose(together.test_error, each, rtol=1e-12)


@pytest.mark.parametrize("noise", [1e-4, 0.2])
def test_labels_average_what_joint_nodes_do(noise: float) -> None:
    # Functions of kappa, z and Y with poles, as the pencil's, by fine rules.
    state = INITIAL._replace(spike=0.9, alignment=0.6, bulk=1.3)
    seen = batch(step(*SINE).activation, step(*SINE).target, state, noise, 1)
    few, joint = labels(seen), seen.joint
    e, shares = np.polynomial.hermite_e.hermegauss(120)
    over = 1.0 / (1.0 + seen.kappa[few.place] ** 2 + few.residual**2)
    blurred = joint.residual[:, None] + np.sqrt(noise) * e
    each = 1.0 / (1.0 + seen.kappa[joint.place, None] ** 2 + blurred**2) @ (shares / shares.sum())
    expected = [float(joint.weights @ (joint.z**power * each)) for power in range(3)]
    np.testing.assert_allclose(few.moments @ over, expected, rtol=1e-11)


def test_without_a_spike_an_even_activation_learns_a_constant_at_most() -> None:
    # sigma' is odd: no spike at any step, and of an odd target nothing is learned.
    solution = solve(step("abs(z)", "sin(z) + 1", 2.0, 1.0, steps=2))
    assert solution.model.spike == 0.0
    assert solution.converged
    assert solution.test_error > (1.0 - np.exp(-2.0)) / 2.0


UNLIKE = (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))


def test_what_is_not_supported_is_refused() -> None:
    one_step = "spectrum of a network's own bulk is only supported for one gradient step: use steps=1, or"
    with pytest.raises(ModelError, match=one_step):
        spectrum(step(*SINE, steps=2))
    with pytest.raises(ModelError, match=r"from Gaussian rows .* only supported for an odd activation"):
        spectrum(step(*KINKED, gaussian_rows=True))
    with pytest.raises(ModelError, match="at most 20 gradient steps, and these are 21: use the isotropic bulk"):
        solve(step(*SINE, steps=21))
    with pytest.raises(ModelError, match="one rate for all steps"):
        best(step(*SINE, steps=2).changed(eta=(3.0, 1.0)), over="eta")
    with pytest.raises(ModelError, match="more than one readout group is only supported for"):
        step(*KINKED, gaussian_rows=True, readout=UNLIKE)
    with pytest.raises(ModelError, match="a bias is only supported"):
        step(*KINKED, gaussian_rows=True, readout=(ReadoutGroup(1.0, 1.0, bias=0.3),))
    with pytest.raises(ModelError, match="leave no spike"):
        solve(step("he2(z)/2 + he3(z)/6", "sin(z) + z**2/2", 2.0, 1.0, gaussian_rows=True))
    certificate = certify(step(*SINE, steps=2))
    assert not certificate.certified
    assert "only supported for one gradient step" in str(certificate)
