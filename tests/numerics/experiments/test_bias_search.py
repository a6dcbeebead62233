"""The bias of least energy on an interval, on energies whose minima are known."""

from __future__ import annotations

import math
from dataclasses import dataclass

import pytest

from giantsteps.numerics.experiments.bias_search import best_bias

WHOLE = (-math.inf, math.inf)


@dataclass(frozen=True)
class Well:
    """(b^2 - 1)^2 + b/5: minima near -1.02 (the lower) and 0.97, a barrier near 0.05."""

    bias: float

    @property
    def energy(self) -> float:
        return (self.bias**2 - 1.0) ** 2 + self.bias / 5.0


def root(start: float) -> float:
    """Newton's zero of the derivative 4 b (b^2 - 1) + 1/5."""
    b = start
    for _ in range(50):
        b -= (4.0 * b * (b * b - 1.0) + 0.2) / (12.0 * b * b - 4.0)
    return b


@pytest.mark.parametrize(("interval", "expected"), [(WHOLE, root(-1.0)), ((0.05, math.inf), root(1.0))])
def test_the_lowest_point_of_an_interval(interval: tuple[float, float], expected: float) -> None:
    bias, found = best_bias(Well, 4.0, interval, 1e-6)
    # The search stops at 1e-6 of the reach 4.
    assert bias == pytest.approx(expected, abs=1e-5)
    assert found.energy == Well(bias).energy


def test_an_energy_that_falls_to_the_end() -> None:
    # Between 1.5 and 3 the energy rises, between -3 and -1.5 it falls: the lowest point is the inner end.
    assert best_bias(Well, 4.0, (1.5, 3.0), 1e-6)[0] == pytest.approx(1.5, abs=1e-5)
    assert best_bias(Well, 4.0, (-3.0, -1.5), 1e-6)[0] == pytest.approx(-1.5, abs=1e-5)
    # An interval between two points of the scan, its minimum next to an end.
    assert best_bias(Well, 4.0, (0.6, 0.99), 1e-6)[0] == pytest.approx(root(1.0), abs=1e-5)


@dataclass(frozen=True)
class Three:
    """Three wells, narrow beside the steps of the scan, which meets the shallowest at its lowest point alone."""

    bias: float

    @property
    def energy(self) -> float:
        wells = ((-2.12, 1.0), (0.3, 2.0), (2.5, 0.9))
        return 0.01 * self.bias**2 - sum(depth * math.exp(-(((self.bias - b) / 0.2) ** 2)) for b, depth in wells)


def test_every_dip_of_the_scan_is_refined() -> None:
    """Of a reach of 4 the scan has steps of a half: at 2.5 it meets a well of 0.9, of that of 2 at 0.3 the side."""
    grid = [-4.0 + 0.5 * k for k in range(17)]
    assert min(grid, key=lambda b: Three(b).energy) == 2.5
    bias, found = best_bias(Three, 4.0, WHOLE, 1e-6)
    assert bias == pytest.approx(0.3, abs=1e-2)
    assert found.energy < -1.9
