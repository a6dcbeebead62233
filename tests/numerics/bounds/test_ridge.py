"""Bounds against closed forms, and models with known optima."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bounds.best import best
from giantsteps.numerics.bounds.best_rate import best_bounds
from giantsteps.numerics.bounds.ridge import bounds, lower_bound, upper_bound
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve


def _model(student: str, target: str, **values: object) -> Model:
    defaults = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}
    return Model(activation(student), activation(target), **(defaults | values))  # type: ignore[arg-type]


def test_tanh_student_sin_target_at_full_alignment() -> None:
    # Known from an independent Gauss-Hermite computation, to the digits printed there.
    model = _model("tanh", "sin", spike=0.9, alignment=1.0)
    assert upper_bound(model) == pytest.approx(0.0291049, abs=5e-8)
    assert lower_bound(model) == pytest.approx(0.0016691, abs=5e-8)


def test_perfect_learning_of_erf_by_erf() -> None:
    # r = sqrt(1 + 2 c) makes mu0 = g: the bound is the square of rounding errors.
    model = _model("erf", "erf", spike=math.sqrt(3.0), alignment=1.0)
    assert upper_bound(model) < 1e-28
    # The minimum is quadratic: the spike is found to the square root of what rounding leaves.
    spike = best_bounds(model, "spike")
    assert spike.upper.at == pytest.approx(math.sqrt(3.0), abs=1e-6)
    assert spike.lower.bound < 1e-14


def test_two_minima_in_the_ridge_are_both_found() -> None:
    model = _model(
        "relu", "relu", alpha=3.256, beta=1.562, spike=2.029, bulk=1.243,
        alignment=1.0, readout=(ReadoutGroup(bias=0.7),)
    )  # fmt: skip
    found = best(model, over="ridge")
    assert len(found.minima) == 2
    assert found.test_error == min(error for _, error in found.minima)
    for place, _ in found.minima:
        around = [solve(model.changed(ridge=place["ridge"] * factor)).test_error for factor in (0.98, 1.0, 1.02)]
        assert around[1] < min(around[0], around[2])


def test_the_best_ridge_may_be_infinite() -> None:
    # Without a spike and with an odd student, an even target cannot be learned: anything but zero is worse.
    found = best(_model("tanh", "he(2, z)", spike=0.0), over="ridge")
    assert math.isinf(found.values["ridge"])
    assert found.test_error == pytest.approx(2.0, rel=1e-12)


def test_a_best_ridge_is_measured_in_the_square_of_the_features() -> None:
    scaled = [
        Model(f"{k}*tanh(z)", "sin", alpha=2.0, beta=1.0, ridge=1.0, noise=0.3, spike=1.0, bulk=1.0, alignment=0.8)
        for k in (1, 1000)
    ]
    one, other = (best(model, over="ridge").values["ridge"] for model in scaled)
    assert other == pytest.approx(1e6 * one, rel=1e-9)


def test_bounds_of_a_steep_target_are_resolved() -> None:
    # At alignment 1 the upper bound is E g^2 - (E[g mu0])^2/E[mu0^2] with mu0 = E_z tanh(kappa + z), and
    # E erf(30 kappa)^2 = (2/pi) asin(1800/1801); the two integrals by QUADPACK, split at the step.
    model = _model("tanh", "erf(30*z)", alignment=1.0)
    z, w = np.polynomial.hermite_e.hermegauss(120)
    mu0 = lambda k: float(np.tanh(k + z) @ w) / math.sqrt(2 * math.pi)  # noqa: E731
    weight = lambda k: 2 * math.exp(-k * k / 2) / math.sqrt(2 * math.pi)  # noqa: E731
    ends = [0.0, 0.05, 0.2, 9.0]
    pairs = list(itertools.pairwise(ends))
    cross = sum(quad(lambda k: weight(k) * math.erf(30 * k) * mu0(k), a, b, epsabs=1e-12)[0] for a, b in pairs)
    own = sum(quad(lambda k: weight(k) * mu0(k) ** 2, a, b, epsabs=1e-12)[0] for a, b in pairs)
    expected = 2 / math.pi * math.asin(1800 / 1801) - cross**2 / own
    found = bounds(model)
    assert found.converged
    # 120 Hermite nodes give mu0 of tanh to about 1e-8.
    assert found.upper == pytest.approx(expected, abs=1e-7)
    assert best(model, over="ridge").converged


@pytest.mark.parametrize("steepness", [3, 5, 8])
def test_the_bounds_of_a_narrow_peak_do_not_exceed_its_square(steepness: int) -> None:
    # E exp(-2 k (z - c)^2) = exp(-2 k c^2/(1 + 4k))/sqrt(1 + 4k); a peak of width 1/sqrt(k) is all but orthogonal to
    # mu0 and kappa mu1, so that both bounds are below it by less than its own size squared over theirs, O(1).
    k = 10.0**steepness
    square = math.exp(-2 * k / 9 / (1 + 4 * k)) / math.sqrt(1 + 4 * k)
    found = bounds(_model("tanh", f"exp(-(z-1/3)**2*10**{steepness})", alignment=1.0))
    assert found.converged
    assert square - 10 * square**2 < found.lower <= found.upper < square


def test_bounds_say_when_they_are_not_resolved() -> None:
    # A thousand peaks of width 1e-6 each: more panels than any rule here has.
    found = bounds(_model("tanh", "exp(-sin(100*z)**2*10**8)", alignment=1.0))
    assert not found.converged
