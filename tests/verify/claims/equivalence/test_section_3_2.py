"""Section 3.2: the two maps of one draw, and the coefficients of the simulated map."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.verify.protocol.claim import PROFILES
from giantsteps.verify.second_route.equivalence import both_maps


def test_the_coefficients_of_the_simulated_map() -> None:
    # sine: mu0 = exp(-c/2) sin(x), mu1 = exp(-c/2) cos(x), E sin^2 = (1 - exp(-2c) cos 2x)/2: characteristic functions
    x, c = np.array([-1.1, 0.0, 0.4]), 1.3
    mu0, mu1, mu2 = both_maps.along_spike("sin", x, c)
    assert mu0 == pytest.approx(np.exp(-c / 2) * np.sin(x), abs=1e-13)
    assert mu1 == pytest.approx(np.exp(-c / 2) * np.cos(x), abs=1e-13)
    square = (1 - np.exp(-2 * c) * np.cos(2 * x)) / 2
    assert mu2**2 == pytest.approx(square - mu0**2 - c * mu1**2, abs=1e-13)


def test_what_is_not_measured_of_a_draw_is_refused() -> None:
    """Of the linear pairs no trace and no test error, and of the many draws of the others no trace."""
    asked = (
        (both_maps.ALONG, both_maps.DRAWS, both_maps.s.test_error),
        (both_maps.TURNING, both_maps.FEW, both_maps.s.V1),
        (both_maps.TWO, both_maps.DRAWS, both_maps.s.V2),
    )
    for pairs, draws, quantity in asked:
        with pytest.raises(ValueError, match="measured"):
            both_maps.both_maps(tuple(pairs), (), draws, 1, quantity, PROFILES["quick"])
