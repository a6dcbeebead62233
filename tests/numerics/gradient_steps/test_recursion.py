"""The recursion of spike, alignment and bulk: worked values, its first step, its limits, its errors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import lambertw, ndtr

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gradient_steps.batches import INITIAL, State, batch
from giantsteps.numerics.gradient_steps.labels import labels
from giantsteps.numerics.gradient_steps.recursion import Step, advanced, critical_rate, states
from giantsteps.numerics.models.gradient_step import gradient_step

MANY = 1e12  # samples per dimension: what a batch adds is rounding


def after(student: str, target: str, alpha0: float, eta: float, steps: int, noise: float = 0.0) -> list[State]:
    schedule = (Step(alpha0, eta),) * steps
    return [one.state for one in states(activation(student), activation(target), schedule, 1.0, noise)]


@pytest.mark.parametrize(
    ("student", "target", "alpha0", "eta", "worked"),
    [
        ("tanh", "sin", 2.0, 3.0, [
            (1.3886927386, 0.7936506445, 1.1897320046), (1.5021072554, 0.9186501375, 1.3700241685),
            (1.5802059082, 0.9663905123, 1.3833181025),
        ]),
        ("relu", "tanh", 2.0, 2.0, [
            (0.8022492637, 0.7550091187, 0.7414261280), (0.8248829652, 0.7815162117, 0.5170482552),
            (0.8098561675, 0.7842973714, 0.3850827768),
        ]),
    ],
)  # fmt: skip
def test_worked_values(student: str, target: str, alpha0: float, eta: float, worked: list[tuple[float, ...]]) -> None:
    assert np.array(after(student, target, alpha0, eta, 3)) == pytest.approx(np.array(worked), abs=6e-11)


@pytest.mark.parametrize("target", ["sin", "sign(z - 0.3)", "z**2 - 1"])
@pytest.mark.parametrize(
    "student", ["tanh", "relu(z + 0.4) - 0.2", "gelu", "abs(z - 0.3)", "tanh(z + 0.7)", "z**3 - 3*z", "tanh(20*z)"]
)
def test_the_first_step_is_the_map_of_one_step(student: str, target: str) -> None:
    made = gradient_step(activation(student), activation(target), alpha0=1.5, eta=2.0, beta=0.8, noise=0.3)
    (own,) = states(activation(student), activation(target), (Step(1.5, 2.0),), 0.8, 0.3)
    # The recursion has r >= 0; r and gamma together may change their sign.
    sign = -1.0 if made.spike < 0.0 else 1.0
    alignment = made.alignment if made.spike else 0.0
    assert own.state == pytest.approx((sign * made.spike, sign * alignment, made.bulk), rel=1e-12, abs=1e-12)


CASES = [
    ("relu", "tanh", 2.0, 2.0, 8, 0.0), ("erf", "sign", 2.0, 2.0, 8, 0.1), ("gelu", "tanh(2*z)", 1.0, 3.0, 7, 0.0),
    ("abs(z - 0.3)", "sign(z - 1)", 1.0, 1.0, 5, 0.3), ("sin(3*z)", "tanh", 2.0, 1.0, 5, 0.0),
    ("tanh(z) + 0.2*(z**2 - 1)", "exp(z/2)", 8.0, 0.3, 6, 0.0), ("tanh", "sin(4*z)", 2.0, 40.0, 8, 0.0),
    ("max(z, 0.1*z)", "abs(z)", 5.0, 0.8, 6, 0.2), ("softplus", "tanh", 1.0, 2.0, 40, 0.0),
    ("gelu", "sign(z - 0.7)", 1.0, 8.0, 5, 0.1),
]  # fmt: skip


@pytest.mark.parametrize(("student", "target", "alpha0", "eta", "steps", "noise"), CASES)
def test_no_error_is_larger_than_its_estimate(
    student: str, target: str, alpha0: float, eta: float, steps: int, noise: float
) -> None:
    functions = activation(student), activation(target)
    finer = INITIAL
    for state, errors, _ in states(*functions, (Step(alpha0, eta),) * steps, 1.0, noise):
        finer = advanced(batch(*functions, finer, noise, 1).refined(), eta, alpha0)
        assert all(abs(x - y) <= error for x, y, error in zip(state, finer, errors, strict=True))
        # Steep functions and unstable steps lose digits, the others do not.
        assert max(errors.alignment, errors.spike / state.spike if state.spike else 0.0) < 1e-9 or eta > 2.5


def test_many_samples_descend_the_gradient_of_the_loss() -> None:
    # l(rho, q) = E (g - P_{q^2} sigma(rho.x))^2/2 over rho = (along theta, across it) and q = sqrt(c).
    nodes, weights = np.polynomial.hermite_e.hermegauss(70)
    weights = weights / math.sqrt(2.0 * math.pi)
    u, z = np.meshgrid(nodes, nodes, indexing="ij")
    both = np.outer(weights, weights)

    def loss(along: float, across: float, q: float) -> float:
        output = np.tanh((along * u + across * z)[..., None] + q * nodes) @ weights
        return 0.5 * float(np.sum(both * (np.sin(u) - output) ** 2))

    e, h = 0.9, 1e-4
    before, moved = after("tanh", "sin", MANY, e, 4)[2:]
    place = np.array([before.spike * before.alignment, before.spike * math.sqrt(before.remainder), before.bulk**0.5])
    slope = [(loss(*(place + h * unit)) - loss(*(place - h * unit))) / (2.0 * h) for unit in np.eye(3)]
    along, across, q = place - e * np.array(slope)
    expected = (math.hypot(along, across), along / math.hypot(along, across), q * q)
    assert moved == pytest.approx(expected, abs=2e-8)


def test_a_batch_adds_the_same_square_to_spike_and_bulk_as_sigma_prime_has() -> None:
    functions, before = (activation("gelu"), activation("sin")), State(0.9, 0.6, 0.8)
    seen = batch(*functions, before, 0.1)
    few, many = (advanced(seen, 1.3, alpha0) for alpha0 in (2.0, MANY))
    square = float(seen.weights @ (seen.slope.square * seen.residual_square)) * 1.3**2 / 2.0
    assert few.spike**2 - many.spike**2 + few.bulk - many.bulk == pytest.approx(square, rel=1e-9)
    assert few.spike * few.alignment == pytest.approx(many.spike * many.alignment, rel=1e-12)


def test_erf_learning_erf_conserves_a_quantity_as_steps_get_short() -> None:
    found = []
    for eta in (0.2, 0.1):
        (*_, (r, gamma, c)) = after("erf", "erf", MANY, eta, int(150 / eta))
        assert gamma == pytest.approx(1.0, abs=1e-9)
        found.append(r * r + c + 0.5 * math.log(c))
        assert r * r == pytest.approx(1.0 + 2.0 * c, abs=2e-5)
    assert found == pytest.approx([1.0453, 1.0221], abs=2e-4)
    end = lambertw(6.0).real / 6.0
    assert 1.0 + 3.0 * end + 0.5 * math.log(end) == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("student", "alpha0", "critical"),
    [
        ("relu", 2.0, 2.0), ("gelu", 1.0, 4.0 / 3.0), ("softplus", 6.0, 3.0), ("z", 3.0, 1.5), ("abs(z)", 3.0, 1.5),
        ("tanh", 2.0, math.inf), ("z**2", 2.0, None),
    ],
)  # fmt: skip
def test_critical_rates(student: str, alpha0: float, critical: float | None) -> None:
    found = critical_rate(activation(student), alpha0)
    assert found == (None if critical is None else pytest.approx(critical, rel=1e-9))


@pytest.mark.parametrize(("eta", "factor"), [(3.0, math.sqrt(2.5)), (12.0, math.sqrt(61.0))])
def test_unstable_steps_grow_by_a_factor_whatever_the_target(eta: float, factor: float) -> None:
    reached = states(activation("relu"), activation("tanh"), (Step(2.0, eta),) * 30, 1.0)
    assert reached[-1].growth == pytest.approx(factor, rel=1e-5)
    assert all(one.errors.spike < 1e-9 * one.state.spike for one in reached)


def test_steps_below_the_critical_rate_settle_and_above_it_leave_the_range() -> None:
    settled = after("relu", "tanh", 2.0, 1.9, 300)
    assert settled[-1] == pytest.approx(settled[-2], rel=1e-3)
    with pytest.raises(ExpressionError, match=r"gradient step .* leads to a spike of .*, out of range"):
        after("relu", "tanh", 2.0, 4.0, 200)


@pytest.mark.parametrize("target", ["z**2 - 1", "abs(z)"])
def test_fresh_batches_never_find_an_even_target(target: str) -> None:
    assert [state.alignment for state in after("tanh", target, 2.0, 3.0, 60)] == [0.0] * 60


def test_a_step_of_size_zero_changes_nothing() -> None:
    functions, steps = (activation("relu"), activation("sin")), (Step(2.0, 1.0), Step(0.0, 3.0), Step(2.0, 0.0))
    found = states(*functions, (*steps, Step(1.0, 0.5)), 1.0)
    plain = states(*functions, (Step(2.0, 1.0), Step(1.0, 0.5)), 1.0)
    assert [one.state for one in found] == [plain[0].state] * 3 + [plain[1].state]
    assert found[2].growth == 1.0


def test_a_batch_of_relu_has_closed_forms() -> None:
    seen = batch(activation("relu"), activation("sign"), State(3.0, 0.8, 0.04), 0.2)
    t = 3.0 * seen.kappa / 0.2
    p, density = ndtr(t), np.exp(-0.5 * t * t) / math.sqrt(2.0 * math.pi)
    near = {"abs": 1e-13}
    assert seen.mu0 == pytest.approx(0.2 * (t * p + density), **near)
    assert seen.mu1 == pytest.approx(p, **near)
    assert seen.mu11 == pytest.approx(density / 0.2, **near)
    assert seen.mu111 == pytest.approx(-t * density / 0.04, abs=1e-11)
    assert seen.slope_variance == pytest.approx(p * (1.0 - p), **near)
    moments = seen.slope_moments
    assert moments.square == pytest.approx(p * (1.0 - p) - density**2, **near)
    assert moments.third == pytest.approx((t * t - 1.0) * density, **near)
    # s = sigma' - p - density X: E[X s^2] = (1 - 2 p) E[X sigma'] - 2 density (E[X^2 sigma'] - p).
    cross = (1.0 - 2.0 * p) * density + 2.0 * density**2 * t
    assert moments.tilted_square == pytest.approx(cross, **near)


@pytest.mark.parametrize("state", [INITIAL, State(1.4, 0.8, 1.2), State(9.0, -0.3, 0.5), State(0.7, 1.0, 1e-4)])
@pytest.mark.parametrize(("student", "target"), [("tanh", "sin"), ("relu", "sign(z - 0.2)"), ("erf", "sign")])
def test_averages_over_labels_are_those_over_kappa(student: str, target: str, state: State) -> None:
    seen = batch(activation(student), activation(target), state, 0.3)
    place, residual, (one, z, z_squared) = labels(seen)
    pulled = residual * seen.mu1[place]
    for found, expected in (
        (one.sum(), 1.0), (z_squared.sum(), 1.0), (one @ residual**2, seen.weights @ seen.residual_square),
        (z @ pulled, seen.weights @ (seen.mu1 * seen.teacher.slope)),
        (one @ (pulled * seen.kappa[place]), seen.weights @ (seen.mu1 * seen.residual * seen.kappa)),
    ):  # fmt: skip
        assert found == pytest.approx(expected, abs=1e-11 * (1.0 + state.spike**2))
