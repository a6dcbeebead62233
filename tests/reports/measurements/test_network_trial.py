"""The trial of the two theories on stored samples of real networks (`benchmarks/networks/network_trial.py` makes
them)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import kstest

from giantsteps.reports.measurements import measured_networks
from giantsteps.reports.measurements.experiments import read
from giantsteps.reports.measurements.measured_networks import CALIBRATED, POINTS, Point, judge
from giantsteps.verify.checks.finite_size import Comparison

DATA = read(measured_networks.DATA)


@cache
def judged(point: Point, bulk_model: str) -> dict[str, Comparison]:
    return judge(point, DATA[point.name], bulk_model)


def deviates(bulk_model: str, *names: str) -> dict[str, list[float]]:
    """z of each observable over all points."""
    found: dict[str, list[float]] = {name: [] for name in names}
    for point in POINTS:
        comparisons = judged(point, bulk_model)
        for name in names:
            z = comparisons[name].z
            assert z is not None
            found[name].append(z)
    return found


@pytest.mark.parametrize("point", POINTS, ids=lambda point: point.name)
def test_the_network_s_theory_agrees(point: Point) -> None:
    for name, comparison in judged(point, "network").items():
        # 16 points of 8 observables: |z| > 4.2 is met by chance in 0.3 % of such trials.
        assert comparison.z is not None
        assert abs(comparison.z) < 4.2, f"{name}: {comparison.sentence}"


def test_its_deviates_look_standard_normal() -> None:
    # One observable at a time, since those of one point depend on each other: five tests, each at the level 1e-3.
    for name, z in deviates("network", *CALIBRATED).items():
        assert kstest(z, "norm").pvalue > 1e-3, name


def test_the_isotropic_theory_is_refuted() -> None:
    found = deviates("isotropic", "test_error", "m", "zeta")
    # The test error alone decides by six standard errors at seven points, m and zeta at most of the others.
    assert np.sum(np.abs(found["test_error"]) > 6.0) >= 7
    best = np.max(np.abs([found["test_error"], found["m"], found["zeta"]]), axis=0)
    assert np.sum(best > 6.0) >= 10
