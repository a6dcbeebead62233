"""The figure of one activation: what is drawn stays readable whatever the sizes."""

from __future__ import annotations

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.reports.activation.curves import block_plot, curves, in_proportion, window


def test_functions_of_very_different_size_are_scaled_and_say_so() -> None:
    one = np.array([-1.0, 0.5])
    (first, a), (second, b), (third, d), (fourth, e) = in_proportion(
        (("mu0", one), ("kappa mu1", 2000.0 * one), ("mu2", 0.004 * one), ("zero", 0.0 * one))
    )
    assert (first, second, third, fourth) == ("mu0", "kappa mu1 / $10^{3}$", r"mu2 $\times\,10^{2}$", "zero")
    for drawn, factor in ((a, 1.0), (b, 2.0), (d, 0.4), (e, 0.0)):
        assert np.allclose(drawn, factor * one, rtol=1e-12)


def test_a_projection_that_leaves_the_target_behind_does_not_set_the_scale() -> None:
    sigma = activation("he5(z)")
    found = curves(sigma, activation("sin(z)"), 1.0, 1.0, 2)
    low, high = window(found)
    assert -2.0 - 1e-9 <= low < high <= 2.0 + 1e-9  # sin has range 2: no more than half of it beyond either end
    lines = block_plot(found).splitlines()
    assert len(lines) == 15
    assert max(map(len, lines)) <= 72


def test_the_curves_are_the_functions_and_projections_of_a_known_answer() -> None:
    """z + z^2 at r = c = 1: mu0 = 1 + k + k^2, mu1 = 1 + 2k, and what is left of z^2 has variance 2.

    Under the normal law |mu0|^2 = 7, <mu0, k mu1> = 9, |k mu1|^2 = 13, and of a sine <sin, k> = e^(-1/2) alone is not
    zero: the closest multiple of mu0 is e^(-1/2)/7 of it, the closest combination e^(-1/2) (0.4 mu0 - 0.2 k mu1).
    """
    found = curves(activation("z + z**2"), activation("sin(z)"), 1.0, 1.0, 2)
    k, size = found.kappa, float(np.exp(-0.5))
    known = {
        "target": np.sin(k), "mu0": 1.0 + k + k**2, "slope": k + 2.0 * k**2, "mu2": np.sqrt(2.0) + 0.0 * k,
        "on_mean": size * (1.0 + k + k**2) / 7.0, "on_both": size * (0.4 + 0.2 * k),
    }  # fmt: skip
    for name, values in known.items():
        # The rules are exact for polynomials and nearly so for a sine.
        assert np.allclose(getattr(found, name), values, rtol=0.0, atol=1e-8), name


def test_a_constant_target_has_a_window() -> None:
    sigma = activation("1 + 0*z")
    low, high = window(curves(sigma, sigma, 1.0, 1.0, 1))
    assert low < 1.0 < high
