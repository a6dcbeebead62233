"""The trial of the two theories on stored samples of real networks (`benchmarks/networks/network_trial.py` makes
them)."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from scipy.stats import kstest

from giantsteps.reports.measurements.measured_networks import CALIBRATED, OBSERVABLES, POINTS, Point, judge, stored
from giantsteps.reports.measurements.network_trial import row_of
from giantsteps.verify.checks.finite_size import Comparison, Fit

DATA = stored()


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


def test_a_row_has_each_theory_over_the_measurement() -> None:
    def compared(theory: float, z: float, detectable: float) -> Comparison:
        fit = Fit(0.0, 0.0, 0.02, 3, None, False)
        return Comparison("test_error", 9, (1, 2), "", "", theory, 0.5, z, smallest_detectable=detectable, fit=fit)

    row = row_of("it", {"isotropic": compared(0.75, 7.0, 0.3), "network": compared(0.6, -1.0, 0.2)})
    assert (row.name, row.measured, row.relative_error, row.caught) == ("it", 0.5, 0.04, 0.4)
    assert (row.isotropic_ratio, row.network_ratio, row.isotropic, row.network) == (1.5, 1.2, 7.0, -1.0)


def test_every_point_is_measured_at_three_dimensions() -> None:
    for point in POINTS:
        assert {int(d): len(samples["test_error"]) for d, samples in DATA[point.name].items()} == dict(point.runs)
        assert len(point.runs) >= 3


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


def test_the_grid() -> None:
    networks = [point.network for point in POINTS]
    assert max(network.eta for network in networks) == 12
    assert {1, 50} <= {network.alpha0 for network in networks}
    assert len({str(network.activation) for network in networks}) >= 3
    assert {"sign(z)", "tanh(z)"} <= {str(network.target) for network in networks}
    assert {0.5, 1, 2} <= {network.beta for network in networks}
    assert set(OBSERVABLES) >= {"test_error", "training_error", "m", "zeta", "q2"}
