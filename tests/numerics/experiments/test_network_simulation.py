"""Simulations with rows of unequal norm: what they measure, what they refuse, and the theories beside them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import gaussian_rows
from giantsteps.numerics.experiments.ridge import predicted
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.checks.finite_size import Observation, compare

TANH = activation("tanh")
GAUSSIAN = Model(TANH, TANH, alpha=1.5, beta=1.0, ridge=0.01, spike=4.0, bulk=1.5, alignment=0.95, gaussian_rows=True)
NETWORK = Network(TANH, TANH, alpha=1.5, beta=1.0, ridge=0.01, alpha0=4.0, eta=6.0, gaussian_rows=True)


def test_gaussian_rows_have_the_right_law() -> None:
    norms = np.sum(gaussian_rows(np.random.default_rng(1), 4000, 50) ** 2, axis=1)
    # Mean 1 with standard error sqrt(2/50/4000) = 0.0032, variance 2/50 within 1/sqrt(2000) = 2.2 %: five of each.
    assert abs(norms.mean() - 1.0) < 0.016
    assert abs(norms.var() * 25.0 - 1.0) < 0.12


def test_unit_rows_report_no_chi_and_gaussian_rows_do() -> None:
    unit = simulate(replace(GAUSSIAN, gaussian_rows=False), dimension=40, seeds=1)
    assert "chi" not in unit.estimates
    assert "chi" in simulate(GAUSSIAN, dimension=40, seeds=1).estimates


@pytest.mark.parametrize("subject", [GAUSSIAN, NETWORK], ids=["srf", "network"])
def test_theory_and_simulation_with_gaussian_rows(subject: Model | Network) -> None:
    kind = "network" if isinstance(subject, Network) else "srf"
    runs = [simulate(subject, dimension=d, seeds=k, kind=kind) for d, k in ((100, 32), (200, 20), (400, 12))]

    def z(gaussian: bool, name: str) -> float:
        observations = []
        for run in runs:
            model = replace(run.model, gaussian_rows=gaussian)
            solution = solve(model.model("network") if isinstance(model, Network) else model)
            theory = {"chi": 0.0} | predicted(solution)
            observations.append(Observation(run.dimension, run.values(name), theory[name]))
        found = compare(name, observations, scale=1.0).z
        assert found is not None
        return found

    # Five observables and two models, seeded: |z| > 4.2 would happen once in 3700 choices of the seed.
    for name in ("test_error", "training_error", "m", "zeta", "chi"):
        assert abs(z(True, name)) < 4.2, name
    if kind == "srf":
        # Rows of equal norm have chi = 0; here it is 0.36 with a standard error of 0.04.
        assert abs(z(False, "chi")) > 6.0
