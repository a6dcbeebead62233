"""Appendix F: the equations are those of Result 3.3 at lambda = -z; integrals over replicas by linear algebra."""

from __future__ import annotations

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
