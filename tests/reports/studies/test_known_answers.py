"""The numbers of the studies on synthetic samples, whose answers are known without them."""

from __future__ import annotations

import math
from collections.abc import Iterable
from statistics import NormalDist
from typing import Any

import numpy as np
import pytest

from giantsteps.reports.measurements import normal_deviates
from giantsteps.reports.measurements.experiments import Measured
from giantsteps.reports.studies import threshold, width
from giantsteps.reports.studies.finite_samples import Row
from giantsteps.reports.studies.networks import learning_rate


def test_the_vertex_of_a_parabola_is_found_between_and_beside_the_points() -> None:
    etas = (0.5, 1.0, 1.5, 2.5, 4.0, 9.0)
    for place in (0.9, 1.3, 1.9, 3.1):
        found = learning_rate.vertex(etas, [0.25 + 0.7 * math.log(eta / place) ** 2 for eta in etas])
        # A parabola through three points is the parabola: rounding of a 3 x 3 system.
        assert (found.eta, found.error) == pytest.approx((place, 0.25), rel=1e-9)
    assert learning_rate.vertex(etas, [float(k) for k in range(6)]) == (0.5, 0.0)
    assert learning_rate.vertex(etas, [float(-k) for k in range(6)]) == (9.0, -5.0)


def test_the_best_rate_of_samples_has_the_standard_error_of_their_scatter(monkeypatch: pytest.MonkeyPatch) -> None:
    """Seed k has its least error at log eta = 0.3 + s_k: the mean of all is at 0.3 + mean s, with the error of a mean.

    The theories place it at log eta = 0.3 exactly.
    """
    network = learning_rate.CASES[0].network
    etas = (0.5, 1.0, 1.5, 2.0, 3.0)
    shifts = 1e-3 * np.random.default_rng(7).standard_normal(12)

    def error(eta: float, shift: float = 0.0) -> float:
        return 0.2 + (math.log(eta) - 0.3 - shift) ** 2

    def errors(network: Any, theory: str, etas: Iterable[float]) -> list[float]:
        return [error(eta) for eta in etas]

    data = {learning_rate.name_of("a", eta): {"test_error": [error(eta, float(s)) for s in shifts]} for eta in etas}
    monkeypatch.setattr(learning_rate, "CASES", (("a", network, etas),))
    monkeypatch.setattr(learning_rate, "errors", errors)
    monkeypatch.setattr(learning_rate, "best_eta", lambda *_, **__: None)
    (found,) = learning_rate.cases_of(data)
    scatter = float(np.std(shifts, ddof=1)) / math.sqrt(len(shifts))
    assert math.log(found.found.eta) == pytest.approx(0.3 + float(np.mean(shifts)), rel=1e-9)
    # The jackknife of a mean is exact; eta for log eta leaves the square of 1e-3.
    assert found.found_error.eta / found.found.eta == pytest.approx(scatter, rel=2e-3)
    for z in found.z.values():
        assert z == pytest.approx(float(np.mean(shifts)) / scatter, rel=2e-3)


@pytest.mark.parametrize("exponent", [0.37, 0.5, 0.9])
def test_exponents_are_those_of_the_last_three_and_of_each_side(exponent: float) -> None:
    # Steeper before: what is fitted is where the limit is.
    errors = [3.0 * ridge**-exponent for ridge in threshold.RIDGES]
    errors[:-3] = [error * (threshold.RIDGES[k] / threshold.RIDGES[-3]) ** -0.2 for k, error in enumerate(errors[:-3])]
    below = tuple(0.1 * gap**-1.1 for gap in threshold.GAPS)
    above = tuple(7.0 * gap**-0.8 for gap in threshold.GAPS)
    # Far from the threshold both sides are another power.
    bent = [max(gap / threshold.GAPS[-3], 1.0) ** 0.4 for gap in threshold.GAPS]
    assert min(bent[:-3]) > 1.0 == max(bent[-3:])
    below, above = (tuple(e * more for e, more in zip(side, bent, strict=True)) for side in (below, above))
    found = threshold.Divergence("a", tuple(errors), below, above, "")
    assert found.fitted == pytest.approx(exponent, rel=1e-9)
    assert found.approach == pytest.approx((1.1, 0.8), rel=1e-9)
    assert found.exponents[-2:] == pytest.approx((exponent, exponent), rel=1e-9)
    assert found.exponents[:3] == pytest.approx([exponent + 0.2] * 3, rel=1e-9)


def test_a_measurement_is_a_mean_with_the_error_of_a_mean_and_the_spread_of_one() -> None:
    samples = [1.0, 3.0, 3.0, 5.0]
    found = Measured.of(samples)
    spread = math.sqrt(8.0 / 3.0)
    assert (found.mean, found.spread, found.error) == pytest.approx((3.0, spread, spread / 2.0), rel=1e-12)
    # Positive where the measurement lies above the theory.
    assert found.z(2.0) == pytest.approx(2.0 / spread)
    row = Row("a", "b", found, 2.0, 2.5)
    assert (row.relative, row.z, row.scatter) == pytest.approx((0.5, 2.0 / spread, spread / 2.0))


@pytest.mark.parametrize(
    ("errors", "steps"),
    [
        ((1.0, 0.9, 0.8), []),
        ((1.0, 1.0009, 1.0), []),  # less than is called a rise
        ((1.0, 1.0011, 1.0), [0]),
        ((0.8, 0.9, 0.85, 0.86), [0, 2]),
    ],
)
def test_a_rise_is_one_where_a_wider_network_errs_more(errors: tuple[float, ...], steps: list[int]) -> None:
    assert width.rises(errors) == steps


def test_deviates_are_judged_by_law_spread_and_largest() -> None:
    normal = NormalDist()
    even = [normal.inv_cdf((k + 0.5) / 200) for k in range(200)]
    assert normal_deviates.look_normal(even)
    for wrong in ([z + 0.5 for z in even], [1.3 * z for z in even], [0.75 * z for z in even]):
        assert not normal_deviates.look_normal(wrong)
    # Of two degrees of freedom chi-square is exponential: P(sum > t) = e^(-t/2), whichever side is the smaller.
    for total in (0.02, 9.0):
        tail = math.exp(-total / 2.0)
        assert normal_deviates.spread([math.sqrt(total), 0.0]) == pytest.approx(2.0 * min(tail, 1.0 - tail), rel=1e-9)
    # The largest of n: 1 - (1 - p)^n, p the two-sided tail of one.
    p = 2.0 * normal.cdf(-2.5)
    assert normal_deviates.extreme([0.1, -2.5, 1.0]) == pytest.approx(1.0 - (1.0 - p) ** 3, rel=1e-9)
