"""The second route of a continuous alphabet: its functions are averages of features, and its saddle point closes."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.verify.checks.evaluate import evaluate
from giantsteps.verify.claims.letters.orthogonal import CLAIMS
from giantsteps.verify.protocol.claim import PROFILES
from giantsteps.verify.second_route.saddle_point.orthogonal import alphabet

_STATEMENTS = {claim.id.removeprefix("appendix-d.alphabet."): claim.statement for claim in CLAIMS}
_NEURONS = 80


@pytest.mark.parametrize("kappa", [-2.0, 0.5])
def test_functions_of_a_letter_are_averages_of_its_feature(kappa: float) -> None:
    u = np.array([-0.2, 0.9])
    z, weight = np.polynomial.hermite_e.hermegauss(8)  # exact for polynomials of degree 15
    weight = weight / weight.sum()
    width = np.sqrt(alphabet._bulk(u))[:, None]
    seen = alphabet._student(u[:, None] * kappa + width * z)
    mean = seen @ weight
    at = np.array(kappa)
    # A few roundings of numbers of order ten.
    assert alphabet._mu0(at, u) == pytest.approx(mean, rel=1e-13)
    assert alphabet._mu1(at, u) == pytest.approx((seen * z) @ weight / width[:, 0], rel=1e-13)
    assert alphabet._nu(at, u) == pytest.approx((seen - mean[:, None]) ** 2 @ weight, rel=1e-13)


@pytest.mark.parametrize(("name", "solved"), [("V", "V"), ("residual", "residual"), ("output-variance", "variance")])
@pytest.mark.parametrize("kappa", [-2.0, 0.5])
def test_what_is_solved_is_what_the_equations_say_of_its_functions(name: str, solved: str, kappa: float) -> None:
    at, _ = alphabet._solved(_NEURONS)
    values = {"alpha": 5.0, "beta": 0.8, "lambda": 1.0, "kappa": kappa}
    found = evaluate(_STATEMENTS[f"{name}-simulated"].rhs, values, alphabet._functions(_NEURONS))
    known = at.V(np.array(kappa)) if solved == "V" else getattr(at, solved)[np.searchsorted(alphabet._LINE, kappa)]
    # Gauss-Legendre in the share against a trapezoidal rule in the label: both exact to rounding.
    assert found == pytest.approx(float(known), rel=1e-11)


def test_the_measured_moments_are_those_of_fresh_inputs() -> None:
    # One small network and many inputs with one kappa: mean and variance of its output as sums say them.
    d, seed, kappa, count = 40, 3, -2.0, 20_000
    _, residual, variance, _ = alphabet._draw(d, seed)
    generator = np.random.default_rng((161, d, seed))
    n, p = 5 * d, 32
    basis = np.linalg.qr(generator.normal(size=(d, d)))[0].T
    basis *= np.where(generator.random(d) < 0.5, -1, 1)[:, None]
    u = 0.5 + 0.8 * ((2.0 * np.arange(p) + 1.0) / p - 1.0)
    W = np.sqrt(1 + 2 * u**2)[:, None] * basis[:p]
    W[:, 0] += u
    x = generator.normal(size=(n, d))

    def features(inputs: np.ndarray) -> np.ndarray:
        seen = inputs @ W.T
        return (0.5 * (seen**2 - 1) + seen) / np.sqrt(p)

    a = np.linalg.lstsq(
        np.vstack([features(x), np.eye(p)]),
        np.concatenate([2 * np.cos(x[:, 0]) + np.sin(x[:, 0]), np.zeros(p)]),
        rcond=None,
    )[0]
    fresh = np.random.default_rng(1).standard_normal((count, d))
    fresh[:, 0] = kappa
    output = features(fresh) @ a
    # Five standard errors of a mean and, at a kurtosis of a few, of a variance: a false alarm in a million.
    spread = float(output.std())
    assert 2 * np.cos(kappa) + np.sin(kappa) - output.mean() == pytest.approx(residual[0], abs=5 * spread / count**0.5)
    assert output.var() == pytest.approx(variance[0], rel=5 * 2.5 / count**0.5)


def test_it_is_measured_at_every_dimension_of_a_profile() -> None:
    profile = PROFILES["quick"]
    assert all(round(0.8 * (d // 4)) + alphabet._BESIDE <= d // 4 for d in profile.dimensions)
