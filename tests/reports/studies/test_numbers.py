"""The numbers of the studies where the answer is known without them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from statistics import NormalDist
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from benchmarks.run import four_groups
from benchmarks.speed import baseline, solver_speed
from giantsteps.numerics.bounds.best import best
from giantsteps.numerics.bounds.ridge import bounds, upper_bound
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_law import network_law
from giantsteps.numerics.bulk.overlapping_bulk import TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import stepped, turned_bulk
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.overlapping import solve_overlapping
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.measurements import normal_deviates
from giantsteps.reports.measurements.experiments import FOLDER, Measured, stored
from giantsteps.reports.studies import bound_functions, other_inputs, threshold, vocabulary, width
from giantsteps.reports.studies.best_ridge import COUNT, TWO_MINIMA, found_at, random_model, scan
from giantsteps.reports.studies.finite_samples import Row
from giantsteps.reports.studies.networks import initial_overlap
from giantsteps.reports.studies.networks.learning_rate import measured_vertex, vertex
from giantsteps.reports.studies.spectrum_sample import ENDS, NETWORKS, Networks, networks_of, several

NETWORK = Network("tanh", "tanh", 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0, noise=0.1)


def test_a_measurement_is_a_mean_with_the_error_of_a_mean_and_the_spread_of_one() -> None:
    found = Measured.of([1.0, 3.0, 3.0, 5.0])
    spread = math.sqrt(8.0 / 3.0)
    assert (found.mean, found.spread, found.error) == pytest.approx((3.0, spread, spread / 2.0), rel=1e-12)
    # Positive where the measurement lies above the theory.
    assert found.z(2.0) == pytest.approx(2.0 / spread)
    row = Row("a, b", found, 2.0, 2.5)
    assert (row.relative, row.z, row.scatter) == pytest.approx((0.5, 2.0 / spread, spread / 2.0))


def test_the_vertex_of_a_parabola_is_found_between_and_beside_the_points() -> None:
    etas = (0.5, 1.0, 1.5, 2.5, 4.0, 9.0)
    for place in (0.9, 1.3, 1.9, 3.1):
        found = vertex(etas, [0.25 + 0.7 * math.log(eta / place) ** 2 for eta in etas])
        # A parabola through three points is the parabola: rounding of a 3 x 3 system.
        assert (found.eta, found.error) == pytest.approx((place, 0.25), rel=1e-9)
    assert vertex(etas, [float(k) for k in range(6)]) == (0.5, 0.0)
    assert vertex(etas, [float(-k) for k in range(6)]) == (9.0, -5.0)


def test_the_best_rate_of_samples_has_the_standard_error_of_their_scatter() -> None:
    # Seed k has its least error at log eta = 0.3 + s_k: the mean of all is at 0.3 + mean s, with the error of a mean.
    etas, shifts = (0.5, 1.0, 1.5, 2.0, 3.0), 1e-3 * np.random.default_rng(7).standard_normal(12)
    samples = 0.2 + (np.log(etas)[:, None] - 0.3 - shifts) ** 2
    found, error = measured_vertex(etas, samples)
    assert math.log(found.eta) == pytest.approx(0.3 + float(np.mean(shifts)), rel=1e-9)
    # The jackknife of a mean is exact; eta for log eta leaves the square of 1e-3.
    scatter = float(np.std(shifts, ddof=1)) / math.sqrt(len(shifts))
    assert error.eta / found.eta == pytest.approx(scatter, rel=2e-3)


@pytest.mark.parametrize("exponent", [0.37, 0.5, 0.9])
def test_an_exponent_is_that_of_the_last_three_points(exponent: float) -> None:
    # Steeper before: what is fitted is where the limit is.
    ridges = threshold.RIDGES
    errors = [3.0 * ridge**-exponent * max(ridge / ridges[-3], 1.0) ** -0.2 for ridge in ridges]
    found = threshold.Divergence("a", tuple(errors), (), ())
    assert found.exponent == pytest.approx(exponent, rel=1e-9)
    assert found.exponents[-2:] == pytest.approx((exponent, exponent), rel=1e-9)
    assert found.exponents[:3] == pytest.approx([exponent + 0.2] * 3, rel=1e-9)


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


def test_the_kernel_limit_is_that_of_the_saddle_point() -> None:
    for alpha in (0.3, 1.0, 5.0):
        model = width.KERNEL.changed(alpha=alpha, noise=0.2)
        # The approach is O(1/beta).
        assert width.kernel_limit(model) == pytest.approx(solve(model.changed(beta=1e6)).test_error, rel=1e-5)


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
    # Student's 97.5 % quantile at 10 degrees of freedom, tabulated to four digits, beside the normal one.
    assert initial_overlap.normal_deviate(-2.2281, 10) == pytest.approx(-1.9600, abs=1e-4)


def test_the_map_with_overlap_is_result_3_1_without() -> None:
    after, model = stepped(NETWORK), NETWORK.model("isotropic")
    # 1e-12 is the accuracy of the trapezoidal rule in t; sums of 361 terms.
    assert (after.spike, after.bulk, after.alignment) == pytest.approx(
        (model.spike, model.bulk, model.alignment), 1e-11
    )
    assert after.common == pytest.approx(0.0, abs=1e-12)
    # The network's own bulk with rows of equal norm, by the code for rows without overlap; 1e-8 is the coarser rule.
    own = network_law(model.activation, model.target, NETWORK.alpha0, NETWORK.eta, NETWORK.beta, NETWORK.noise)
    law = replace(own, pulled=(0.0, 0.0, 0.0), added=(0.0, 0.0, 0.0), norm_variance=0.0)
    expected = solve(replace(model, gaussian_rows=True), bulk=lambda ridge: NetworkBulk(ridge, NETWORK.beta, law))
    assert solve_overlapping(NETWORK).test_error == pytest.approx(expected.test_error, rel=1e-7)


def test_the_overlaps_of_turned_rows_have_the_right_derivatives() -> None:
    # Without label noise: it multiplies the nodes of the batch by fifty and enters through them alone.
    network = replace(NETWORK, overlap=0.4, noise=0.0)
    equivalent = TurnedEquivalent(0.1, network.beta, turned_bulk(network))
    at, step = np.array([0.7, 0.4]), 1e-6
    for k in range(2):
        move = step * np.eye(2)[k]
        after, before = equivalent.at(at + move), equivalent.at(at - move)
        # Central differences: 1e-16/1e-6 and 1e-12.
        change = (after.overlap - before.overlap) / (2.0 * step)
        assert equivalent.at(at).overlap_jacobian()[k] == pytest.approx(change, abs=1e-8)
        assert equivalent.at(at).jacobian[:, k] == pytest.approx(
            (after.values - before.values) / (2.0 * step), abs=1e-8
        )


def test_other_inputs_keep_the_map_with_their_own_constants() -> None:
    network = replace(NETWORK, target=Network("tanh", "sin", 1.5, 1.0, 0.1, alpha0=2.0, eta=2.0).target)
    usual, own = network.model("isotropic"), other_inputs.own_map(network, "rademacher")
    # g(+-1) = +-sin(1): both constants by hand.
    first = np.sin(1.0)
    length = np.sqrt(first**2 + (first**2 + 0.1) / network.alpha0)
    assert own[1] == pytest.approx(first / length, rel=1e-14)
    assert own[0] / usual.spike == pytest.approx(length / (usual.spike / (2.0 * 0.6057)), rel=1e-3)


def test_perfect_learning_is_at_the_rate_that_makes_mu0_the_target() -> None:
    # Beside it there is a batch of 1e6 d samples instead of infinitely many.
    network = replace(bound_functions.STEPS["erf/erf"], eta=bound_functions.perfect_rate(1.0))
    assert bounds(network.model("isotropic")).upper < 1e-6


def test_the_relu_model_has_two_minima() -> None:
    first, second = best(TWO_MINIMA, over="ridge").minima
    assert first[1] > upper_bound(TWO_MINIMA) > second[1]
    # The barrier between them is shallow, and near the first one.
    assert solve(TWO_MINIMA.changed(ridge=2.0 * first[0]["ridge"])).test_error > first[1] + 3e-5
    for place, error in (first, second):
        for factor in (0.9, 1.1):
            assert solve(TWO_MINIMA.changed(ridge=place["ridge"] * factor)).test_error > error


def test_the_scan_of_best_ridges_meets_itself_again() -> None:
    found = scan()
    assert len(found) == COUNT
    at = next(index for index, one in enumerate(found) if one.ridge is None)
    # At infinity indeed: the error at a large ridge is above the limit.
    assert solve(random_model(at).changed(ridge=1e3)).test_error > upper_bound(random_model(at))
    for index in (0, at):
        again = found_at(index)
        assert (again.minima, again.ridge is None) == (found[index].minima, found[index].ridge is None)


def test_the_deviates_of_vocabularies_look_standard_normal() -> None:
    z = np.array([p.comparisons["test_error"].z or 0.0 for p in vocabulary.judged(stored("vocabulary"))])
    # 20 independent deviates: their mean square is within 0.35 to 2.1 of one with probability 0.999.
    assert 0.3 < float(np.mean(z**2)) < 2.3


def test_the_stored_networks_of_the_spectrum_count_every_eigenvalue_once() -> None:
    sample = json.loads((FOLDER / "spectrum_sample.json").read_text(encoding="utf-8"))
    found = networks_of(sample)
    # p = 1600 positive eigenvalues, n = 3000, one of them the outlier; a bin for each tenth, one for what is above.
    assert found.counts.shape == (NETWORKS, 41)
    assert set(found.counts.sum(axis=1)) == {1599.0}
    first, _ = np.histogram(sample["tanh network"][:-1], bins=ENDS)
    # Another draw of the same law: eigenvalues repel each other, and a batch moves c by some per cent.
    assert np.max(np.abs(np.mean(found.counts, axis=0)[:-1] - first)) < 0.02 * 1599.0


def test_bins_become_a_density_and_a_distance_and_a_sentence() -> None:
    rising = np.arange(1.0, 42.0)
    two = Networks(np.stack([rising, rising[::-1]]), Measured.of([1.0, 3.0]))
    total = rising.sum()
    # The mean of both in the first bin of width 0.1, with the standard error of two.
    assert two.shares[0].mean == pytest.approx(42.0 / 2.0 / total / 0.1)
    assert two.shares[0].error == pytest.approx(40.0 / 2.0 / total / 0.1)
    uniform: Any = SimpleNamespace(x=[0.0, 4.1], cumulative=[0.0, 1.0])
    # sum (1 .. k)/total beside k/41: furthest at k = 20 and 21, and mirrored.
    assert tuple(two.distances_from(uniform)) == pytest.approx((20.0 / 41.0 - 210.0 / total,) * 2)
    far: Any = SimpleNamespace(x=[0.0, 2.0, 4.1], cumulative=[0.0, 1.0, 1.0])
    flat = Networks(np.ones((NETWORKS, 41)), Measured(10.0, 0.5, 1.0))
    row: Any = SimpleNamespace(
        name="flat", found=uniform, paper=far, predicted=9.0, outliers=(10.0,), bulk=(4.0,), distance=0.1,
        distance_from=lambda _: 0.2,
    )  # fmt: skip
    far.edges = [(0.0, 2.0)]
    rows_of_both = several(row, flat)
    assert [one.seen for one in rows_of_both] == [True, True]
    assert "+2.0 standard errors away" in rows_of_both[1].found
    uniform.edges, row.found, row.paper = [(0.0, 4.1)], far, uniform
    assert not several(row, flat)[0].seen


def test_the_baseline_of_the_speed_solves_the_same_equations() -> None:
    model = Model("tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, alignment=0.8, spike=1.0, bulk=1.0)
    found = baseline.solve(model, baseline.bulk_eigenvalues(1.0, 1.0, dimension=300))
    assert found.converged
    # Eigenvalues of one sample at d = 300: deviations of order 1/d; 19 nodes and the stop are under 1e-3 here.
    assert found.test_error == pytest.approx(solve(model).test_error, rel=0.01)


def test_what_is_timed_converges() -> None:
    entries = (four_groups(), *solver_speed.by_groups(), *solver_speed.by_nodes())
    assert max(entry["residual"] for entry in entries) < 1e-12
    assert all(found["converged"] == found["points"] for found in solver_speed.convex(calls=1).values())
