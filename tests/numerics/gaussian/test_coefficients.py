"""h1, h2, mu0, mu1, mu2 and target moments: closed forms, Stein, the heat equation, and integrals by mpmath."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, hermite_constants, target_moments
from tests.references.integrals import moments

KAPPA = np.array([-4.0, -1.1, 0.0, 0.3, 2.2, 7.0])
PHI0 = 1 / math.sqrt(2 * math.pi)


@pytest.mark.parametrize(
    ("text", "mean", "h1", "h2", "curvature", "check"),
    [
        # Elementary integrals; E erf^2 = (2/pi) asin(2/3), E erf'(z)^2 = (4/pi)/sqrt(5).
        ("relu", PHI0, 0.5, 0.5, PHI0, 0.25),
        ("sign", 0.0, math.sqrt(2 / math.pi), 1.0, 0.0, math.inf),
        ("erf", 0.0, 2 / math.sqrt(3 * math.pi), 2 / math.pi * math.asin(2 / 3), 0.0, 4 / math.pi * (5**-0.5 - 1 / 3)),
        ("sin", 0.0, math.exp(-0.5), 0.5 * (1 - math.exp(-2)), 0.0, 0.5 * (1 + math.exp(-2)) - math.exp(-1)),
        ("exp(z)", math.exp(0.5), math.exp(0.5), math.exp(2), math.exp(0.5), math.exp(2) - math.e),
        ("he(3, z)", 0.0, 0.0, 6.0, 0.0, 18.0),
        ("Abs(z)", 2 * PHI0, 0.0, 1.0, 2 * PHI0, 1.0),
    ],
)
def test_hermite_constants_in_closed_form(
    text: str, mean: float, h1: float, h2: float, curvature: float, check: float
) -> None:
    found = hermite_constants(activation(text))
    assert found.mean == pytest.approx(mean, abs=1e-14)
    assert found.h1 == pytest.approx(h1, rel=1e-13, abs=1e-14)
    assert found.h2 == pytest.approx(h2, rel=1e-13)
    assert found.curvature == pytest.approx(curvature, rel=1e-13, abs=1e-14)
    assert found.h1_check == pytest.approx(check, rel=1e-12)
    assert bool(found.h1_check_reason) == math.isinf(check)


def test_unbounded_slopes_are_told_from_integrable_ones() -> None:
    # sigma' = c |z|^p: square integrable only for p > -1/2. E sigma'^2 of z |z|^(-1/4): (9/16) E |z|^(-1/2).
    assert math.isinf(hermite_constants(activation("sign(z)*sqrt(Abs(z))")).h1_check)
    found = hermite_constants(activation("sign(z)*Abs(z)**(3/4)"))
    second = 0.5625 * 2**-0.25 * math.gamma(0.25) / math.sqrt(math.pi)
    # The last of the panels, of width 1e-11, holds about sqrt(1e-11) = 3e-6 of it and errs by a few percent.
    assert found.h1_check + found.h1**2 == pytest.approx(second, rel=1e-6)


@pytest.mark.parametrize("alignment", [1.0, -1.0])
@pytest.mark.parametrize("text", ["relu", "sign", "tanh"])
def test_target_moments_at_full_alignment_are_the_target_itself(text: str, alignment: float) -> None:
    y0, y1, y2 = target_moments(activation(text), alignment, KAPPA)
    g = {"relu": lambda x: np.maximum(x, 0), "sign": np.sign, "tanh": np.tanh}[text](alignment * KAPPA)
    assert y0 == pytest.approx(g, rel=1e-15)
    assert not np.any(y1)
    assert y2 == pytest.approx(g * g, rel=1e-15)


@pytest.mark.parametrize("text", ["tanh", "relu", "hardtanh", "sign", "erf", "gelu", "atan", "elu"])
def test_coefficients_are_integrals_by_mpmath(text: str) -> None:
    function, spike, bulk, bias = activation(text), 1.2, 0.7, 0.1
    found = conditional_coefficients(function, spike, bulk, bias, KAPPA[[0, 3]])
    for i, kappa in enumerate((-4.0, 0.3)):
        mean, slope, square, _ = moments(f"{text}(z)", spike * kappa + bias, math.sqrt(bulk))
        assert found.mu0[i] == pytest.approx(float(mean), abs=2e-14)
        assert found.mu1[i] == pytest.approx(float(slope) / math.sqrt(bulk), abs=2e-14)
        assert found.mu2[i] == pytest.approx(float(square - mean**2 - slope**2) ** 0.5, abs=2e-14)
    along = [float(part[3]) for part in target_moments(function, 0.6, KAPPA)]
    assert along == pytest.approx([float(part) for part in moments(f"{text}(z)", 0.18, 0.8)[:3]], abs=2e-14)


def test_an_oscillation_that_two_rules_see_as_mirror_images_is_seen_through() -> None:
    # Rules of steps 0.4 and 0.4/sqrt(3.6) both take cos(w z) for cos(1.6 z), and agreed that its mean is 0.27.
    frequency = math.pi / 0.2 * (math.sqrt(3.6) + 2.0) / 2.0
    constants = hermite_constants(activation(f"cos({frequency:.15g}*z)"))
    assert constants.mean == pytest.approx(0.0, abs=constants.errors.mean)
    assert constants.h2 == pytest.approx(0.5, abs=constants.errors.h2)
    assert max(constants.errors) < 1e-9 * frequency**2  # E f'^2 is of this size
