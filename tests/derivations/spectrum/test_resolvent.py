"""Appendix F: the equations are those of Result 3.3 at lambda = -z; integrals over replicas by linear algebra."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.free_energy import replica_gaussians
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.language.expectation import expand_expectations
from giantsteps.derivations.saddle_point import equations as saddle_point
from giantsteps.derivations.spectrum import resolvent as spectrum
from giantsteps.derivations.spectrum import symbols as s


@pytest.mark.parametrize("variable", [s.q1, s.q2, s.q1_hat, s.q2_hat], ids=str)
def test_the_responses_are_those_of_the_ridge_readout(variable: sp.Symbol) -> None:
    ours = spectrum.equation(variable).results[spectrum.CONJUGATE[variable]]
    ridge = saddle_point.equation(variable).results[CONJUGATE[variable]]
    assert expand_expectations(ours - ridge.subs(s.ridge, -s.stieltjes_argument)) == 0


@pytest.mark.parametrize("count", [1, 2, 5])
def test_the_integral_over_replicas(count: int) -> None:
    curvature, coupling, force = 2.3, 0.3, 0.7  # positive definite for up to seven replicas
    matrix = curvature * np.eye(count) - coupling
    vector = np.full(count, force)
    expected = -np.linalg.slogdet(matrix)[1] / 2 + vector @ np.linalg.solve(matrix, vector) / 2
    numbers = {s.replicas: count, s.mode_curvature: curvature, s.mode_coupling: coupling, s.mode_force: force}
    result = replica_gaussians.integral().results[s.log_mode_integral]
    assert float(result.subs(numbers)) == pytest.approx(expected, rel=1e-12)


def test_the_replica_limit_is_the_slope_at_zero_replicas() -> None:
    numbers = {s.mode_curvature: 2.3, s.mode_coupling: 0.3, s.mode_force: 0.7}
    integral = replica_gaussians.integral().results[s.log_mode_integral].subs(numbers)
    slope = float(sp.diff(integral, s.replicas).subs(s.replicas, 0))
    step = 1e-5
    difference = float(integral.subs(s.replicas, step) - integral.subs(s.replicas, -step)) / (2 * step)
    assert slope == pytest.approx(difference, rel=1e-8)  # central differences: 1e-10 relative
    assert slope == pytest.approx((-math.log(2.3) + (0.3 + 0.49) / 2.3) / 2, rel=1e-12)  # (-ln A + (B + f^2)/A)/2


def test_the_stieltjes_transform_is_the_response() -> None:
    assert spectrum.stieltjes().results[s.stieltjes] == s.V2
