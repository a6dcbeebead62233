"""Section 3.2: the two maps of one draw, and the coefficients of the simulated map."""

from __future__ import annotations

import numpy as np
import pytest

from onestep.verify.second_route import features as map_numbers


def test_the_two_maps_of_one_draw_have_close_errors() -> None:
    # one draw at d = 100: both errors are near the limit .1259 of this model, known from the saddle point; at this size
    # a single draw scatters by some ten per cent, so a factor of two is never met
    spiked, equivalent = map_numbers.both_errors("tanh student, sine target", 100, 0)
    assert 0.06 < spiked < 0.25
    assert 0.06 < equivalent < 0.25


def test_the_coefficients_of_the_simulated_map() -> None:
    # sine: mu0 = exp(-c/2) sin(x), mu1 = exp(-c/2) cos(x), E sin^2 = (1 - exp(-2c) cos 2x)/2: characteristic functions
    x, c = np.array([-1.1, 0.0, 0.4]), 1.3
    mu0, mu1, mu2 = map_numbers.along_spike("sin", x, c)
    assert mu0 == pytest.approx(np.exp(-c / 2) * np.sin(x), abs=1e-13)
    assert mu1 == pytest.approx(np.exp(-c / 2) * np.cos(x), abs=1e-13)
    square = (1 - np.exp(-2 * c) * np.cos(2 * x)) / 2
    assert mu2**2 == pytest.approx(square - mu0**2 - c * mu1**2, abs=1e-13)
