"""The finite-size protocol: its arithmetic, its false-alarm rate, its power, and what it refuses to decide."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest

from giantsteps.verify.checks.finite_size import (
    CONFIRMED,
    DETECTABLE_LIMIT,
    FALSE_ALARM,
    FIT_LEVEL,
    INCONCLUSIVE,
    POWER,
    REFUTED,
    Comparison,
    Fit,
    Observation,
    combine,
    compare,
    compare_all,
    deviates,
    fit_line,
    homogeneous,
)

DIMENSIONS = (400, 800, 1600)
Draw = Callable[[np.random.Generator, int, int], np.ndarray]


def normal(rng: np.random.Generator, d: int, count: int) -> np.ndarray:
    """Noise as the protocol supposes it: standard deviation 1/sqrt(d)."""
    return rng.standard_normal(count) / math.sqrt(d)


def observations(
    rng: np.random.Generator, count: int, *, shift: float = 0.0, draw: Draw = normal, curvature: float = 0.0
) -> list[Observation]:
    """Theory 1, simulation 1 + shift + 3/d + curvature/d^2 + noise."""
    return [
        Observation(d, tuple(1.0 + shift + 3.0 / d + curvature / d**2 + draw(rng, d, count)), 1.0) for d in DIMENSIONS
    ]


def rate(count: int, repetitions: int, level: float, *, shift: float = 0.0, draw: Draw = normal) -> float:
    """How often the protocol finds e_inf beyond its limit."""
    rng = np.random.default_rng(count)
    hits = 0
    for _ in range(repetitions):
        found = compare("x", observations(rng, count, shift=shift, draw=draw), level=level)
        assert found.z is not None
        assert found.critical_z is not None
        hits += abs(found.z) > found.critical_z
    return hits / repetitions


def test_line_is_the_weighted_least_squares_line() -> None:
    rng = np.random.default_rng(0)
    counts = (3, 5, 9)
    samples = [tuple(rng.standard_normal(count)) for count in counts]
    theory = (0.1, 0.2, 0.3)
    fit = fit_line(DIMENSIONS, samples, theory)
    # numpy.polyfit is another route to the same line; its weights multiply residuals, so they are square roots.
    d = np.array(DIMENSIONS, dtype=float)
    deviations = np.array([np.mean(values) for values in samples]) - theory
    slope, intercept = np.polyfit(1.0 / d, deviations, 1, w=np.sqrt(np.array(counts) * d))
    # Both are solved in double precision with a condition number near 1e3.
    assert fit.intercept == pytest.approx(intercept, rel=1e-9)
    assert fit.slope == pytest.approx(slope, rel=1e-9)
    assert fit.degrees_of_freedom == 14  # 2 + 4 + 8


def trace(rng: np.random.Generator, d: int, count: int) -> np.ndarray:
    """Noise of a normalised trace: standard deviation 20/d."""
    return 20.0 * rng.standard_normal(count) / d


def test_traces_are_weighted_by_the_square_of_the_dimension() -> None:
    rng = np.random.default_rng(3)
    samples = [tuple(trace(rng, d, 400)) for d in DIMENSIONS]
    fit = fit_line(DIMENSIONS, samples, (0.0, 0.0, 0.0), fluctuation=2)
    d = np.array(DIMENSIONS, dtype=float)
    slope, intercept = np.polyfit(1.0 / d, [np.mean(values) for values in samples], 1, w=d)
    assert fit.intercept == pytest.approx(intercept, rel=1e-9)
    assert fit.slope == pytest.approx(slope, rel=1e-9)
    # With w = 400 (400^2, 800^2, 1600^2)/20^2 the exact variance is sum w/d^2 / (sum w sum w/d^2 - (sum w/d)^2)
    # = 3/(3 * 3,360,000 - 2800^2). From 1197 degrees of freedom the estimate scatters by 2 %; five of these.
    assert fit.pooled
    assert fit.standard_error == pytest.approx(math.sqrt(3.0 / (3.0 * 3.36e6 - 2800.0**2)), rel=0.1)
    # What varies as 1/d is no trace: its variances contradict the law, and the comparison is conservative.
    assert not fit_line(DIMENSIONS, samples, (0.0, 0.0, 0.0)).pooled


@pytest.mark.parametrize("count", [4, 8])
def test_false_alarm_rate_in_the_far_tail(count: int) -> None:
    """The stated level itself, on 400,000 repetitions of the pooled statistic written out afresh for arrays."""
    rng = np.random.default_rng(count)
    total, step = 400_000, 50_000
    d = np.array(DIMENSIONS, dtype=float)
    design = np.stack([np.ones(3), 1.0 / d], axis=1)
    normal_matrix = np.linalg.inv((design * (count * d)[:, None]).T @ design)
    row = (normal_matrix @ (design * (count * d)[:, None]).T)[0]
    beyond = 0
    example = compare("x", observations(np.random.default_rng(0), count), level=FALSE_ALARM)
    assert example.fit is not None
    assert example.tolerance is not None
    critical = example.tolerance / example.fit.standard_error
    for _ in range(total // step):
        noise = rng.standard_normal((step, 3, count)) / np.sqrt(d)[:, None]
        pooled = (d * noise.var(axis=2, ddof=1)).mean(axis=1)
        t = noise.mean(axis=2) @ row / np.sqrt(pooled * normal_matrix[0, 0])
        beyond += int(np.sum(np.abs(t) > critical))
    # Expected 400, deviation 20; five of them.
    assert abs(beyond - FALSE_ALARM * total) < 5 * math.sqrt(FALSE_ALARM * total)


@pytest.mark.parametrize(
    ("name", "draw", "most"),
    [
        # Heavy tails and skewness leave the rate where it is or lower it (variances that scatter more fail the test of
        # homogeneity more often, and the largest is taken): 1 % nominal, at most 1.5 % seen at 20,000 repetitions.
        ("exponential", lambda rng, d, count: (rng.exponential(size=count) - 1.0) / math.sqrt(d), 0.015),
        ("student", lambda rng, d, count: rng.standard_t(5, size=count) / math.sqrt(d), 0.015),
        # Variances that fall faster make the comparison conservative; variances that do not fall at all (an observable
        # that does not self-average) cost a factor of about two and a half.
        ("1/d^2", lambda rng, d, count: 30.0 * rng.standard_normal(count) / d, 0.015),
        ("constant", lambda rng, d, count: 0.02 * rng.standard_normal(count), 0.03),
    ],
)
def test_false_alarm_rate_where_the_variance_model_is_wrong(name: str, draw: Draw, most: float) -> None:
    # Two binomial deviations of 2000 repetitions are 0.45 %: the bounds above are on the true rate, this one on the
    # seen.
    assert rate(4, 2000, 0.01, draw=draw) < most + 0.01, name


def test_z_is_standard_normal_for_a_right_theory() -> None:
    rng = np.random.default_rng(3)
    z = np.sort([compare("x", observations(rng, 4)).z or 0.0 for _ in range(2000)])
    # Kolmogorov-Smirnov: sqrt(n) times the largest distance exceeds 2.2 with probability 2 exp(-2 * 2.2^2) = 1e-4.
    expected = np.array([0.5 * math.erfc(-value / math.sqrt(2.0)) for value in z])
    steps = np.arange(len(z) + 1) / len(z)
    distance = max(np.max(np.abs(expected - steps[1:])), np.max(np.abs(expected - steps[:-1])))
    assert math.sqrt(len(z)) * distance < 2.2


def test_smallest_detectable_error_is_detected_with_the_stated_power() -> None:
    # The true noise is s = 1/sqrt(d), so the true standard error is known; see the variance above.
    standard_error = math.sqrt(28.0 / 52.0 / 400.0 / 6.0)
    found = compare("x", observations(np.random.default_rng(4), 6), level=0.001)
    assert found.fit is not None
    assert found.smallest_detectable is not None
    in_errors = found.smallest_detectable / found.fit.standard_error
    # 3000 repetitions: deviation sqrt(0.95 * 0.05/3000) = 0.4 %; five of them, and half a per cent for the seldom
    # rejected homogeneity, which costs power.
    seen = rate(6, 3000, 0.001, shift=in_errors * standard_error)
    assert seen == pytest.approx(POWER, abs=0.025)


def test_wrong_theory_is_refuted_and_right_theory_confirmed() -> None:
    rng = np.random.default_rng(5)
    right = compare("error", observations(rng, 8))
    assert right.verdict == CONFIRMED
    assert right.smallest_detectable is not None
    assert right.smallest_detectable < DETECTABLE_LIMIT
    assert "would have been caught" in right.sentence
    # Ten per cent off where 5 % would be seen.
    wrong = compare("error", observations(rng, 8, shift=0.15))
    assert wrong.verdict == REFUTED
    assert wrong.extrapolated is not None
    assert wrong.fit is not None
    # The extrapolation finds the shift: five standard errors.
    assert wrong.extrapolated == pytest.approx(1.15, abs=5 * wrong.fit.standard_error)


def test_curved_approach_is_inconclusive() -> None:
    # Noise a thousand times below the curvature's misfit: the line cannot fit, whatever the intercept.
    def quiet(rng: np.random.Generator, d: int, count: int) -> np.ndarray:
        return 1e-6 * rng.standard_normal(count)

    found = compare("x", observations(np.random.default_rng(7), 4, draw=quiet, curvature=1e4))
    assert found.verdict == INCONCLUSIVE
    assert "does not fit" in found.sentence
    # With two dimensions any two points are on a line: the fit is untested, and says so by None.
    two = compare("x", observations(np.random.default_rng(7), 4)[1:])
    assert two.fit is not None
    assert two.fit.fit_probability is None


@pytest.mark.parametrize(("curvature", "shift"), [(0.0, 0.0), (1e6, 0.0), (1e6, 0.175)])
def test_a_second_term_holds_the_level_and_finds_a_shift(curvature: float, shift: float) -> None:
    """At level 1 % for both: a right theory is refuted no more often, straight or bent beyond doubt, a wrong one is."""
    rng, verdicts = np.random.default_rng(9), []
    for _ in range(1000):
        found = {"x": observations(rng, 64, shift=shift, curvature=curvature)}
        verdicts.append(compare_all(found, level=0.01, fit_level=0.01, curved=True).verdict)
    refuted = verdicts.count(REFUTED) / 1000
    # Five binomial deviations of a per cent: false alarm 1e-6. The shift is nine errors of the fit with a second term.
    assert (refuted > 0.99) if shift else (refuted < 0.01 + 5 * math.sqrt(0.01 / 1000))
    if curvature and not shift:
        # Its error is a fiftieth of the value: a tenth would be seen. Beyond the level nothing stands in the way.
        assert verdicts.count(CONFIRMED) > 1000 * (1 - 0.01) - 5 * math.sqrt(10)


def test_a_second_term_is_fitted_exactly() -> None:
    d = (100, 150, 400, 900)
    theory = [0.0] * 4
    samples = [tuple(0.3 + 5.0 / n - 700.0 / n**2 + e for e in (-1e-4, 1e-4)) for n in d]
    found = fit_line(d, samples, theory, terms=2)
    # A polynomial through its own values: rounding.
    assert (found.intercept, found.slope) == pytest.approx((0.3, 5.0), rel=1e-10)
    assert found.fit_probability == pytest.approx(1.0)
    assert found.standard_error > fit_line(d, samples, theory).standard_error
    with pytest.raises(ValueError, match="dimensions, one more for each further term"):
        fit_line(d[:2], samples[:2], theory[:2], terms=2)


def refused(observations_: list[Observation]) -> Comparison:
    found = compare("x", observations_)
    assert found.verdict == INCONCLUSIVE
    assert found.z is None
    assert found.smallest_detectable is None
    return found


def test_what_says_nothing_is_inconclusive() -> None:
    good = observations(np.random.default_rng(8), 4)
    assert "no samples" in refused([]).sentence
    assert "no samples" in refused([Observation(400, (), 1.0)]).sentence
    assert "no samples" in refused([*good, Observation(3200, (), 1.0)]).sentence
    assert "finite" in refused([*good[:2], Observation(1600, (1.0, math.nan), 1.0)]).sentence
    assert "finite" in refused([*good[:2], Observation(1600, (1.0, 1.1), math.inf)]).sentence
    assert "one dimension, d = 400, gives no extrapolation" in refused(good[:1]).sentence
    assert "seeds" in refused([Observation(d, (1.0,), 1.0) for d in DIMENSIONS]).sentence
    assert "do not vary" in refused([Observation(d, (1.0, 1.0), 1.0) for d in DIMENSIONS]).sentence
    with pytest.raises(ValueError, match="repeat"):
        compare("x", [*good, good[0]])
    with pytest.raises(ValueError, match="as another"):
        compare("x", [*good[:2], replace(good[2], fluctuation=2)])
    with pytest.raises(ValueError, match="at least two dimensions"):
        fit_line((400,), [(1.0, 2.0, 3.0)], (1.0,))


def test_noisy_agreement_is_inconclusive() -> None:
    def loud(rng: np.random.Generator, d: int, count: int) -> np.ndarray:
        return 20.0 * rng.standard_normal(count) / math.sqrt(d)

    found = compare("x", observations(np.random.default_rng(9), 4, draw=loud))
    assert found.verdict == INCONCLUSIVE
    assert "only errors above" in found.sentence
    # No relative error can be named beside a theory of zero, unless a scale is given.
    zero = [
        Observation(o.dimension, tuple(x - 1.0 for x in o.samples), 0.0)
        for o in observations(np.random.default_rng(9), 8)
    ]
    assert compare("x", zero).smallest_detectable is None
    assert compare("x", zero).verdict == INCONCLUSIVE
    assert compare("x", zero, scale=1.0).verdict == CONFIRMED


def test_homogeneity_test_holds_its_level_and_sees_gross_violations() -> None:
    rng = np.random.default_rng(10)
    freedoms = np.array([7, 7, 7])
    passed = np.mean([homogeneous(rng.chisquare(freedoms), freedoms) for _ in range(4000)])
    # Bartlett's correction is good to a few parts in ten thousand here; five binomial deviations of 0.16 %.
    assert passed == pytest.approx(0.99, abs=0.008)
    assert not homogeneous(np.array([1.0, 1.0, 1000.0]), freedoms)
    assert not homogeneous(np.array([0.0, 1.0, 1.0]), freedoms)
    assert homogeneous(np.array([0.0, 0.0]), np.array([3, 3]))
    assert homogeneous(np.array([5.0, 1.0]), np.array([3, 0]))


def test_several_observables_share_the_false_alarm_rate() -> None:
    rng = np.random.default_rng(11)
    good = {name: observations(rng, 8) for name in ("test_error", "m", "psi")}
    report = compare_all(good)
    assert report.verdict == CONFIRMED
    assert report.samples == 24
    single = compare("test_error", good["test_error"])
    assert report.comparisons[0].z == single.z
    # Bonferroni: the limit of each of three is that of one at a third of the level.
    assert report.comparisons[0].critical_z == compare("x", good["m"], level=FALSE_ALARM / 3).critical_z
    assert compare_all(good | {"q1": observations(rng, 8, shift=0.3)}).verdict == REFUTED
    noisy = [Observation(d, (0.0, 1.0, 2.0, 3.0), 1.0) for d in DIMENSIONS]
    assert compare_all(good | {"q1": noisy}).verdict == INCONCLUSIVE
    assert compare_all(good | {"q1": noisy}, required=("test_error",)).verdict == CONFIRMED
    assert compare_all(good, required=("absent",)).verdict == INCONCLUSIVE
    assert compare_all({}).verdict == INCONCLUSIVE
    # Right theories, three observables that are one: rejected together at most at the level of one in three.
    hits = 0
    for _ in range(1000):
        same = observations(rng, 4)
        hits += compare_all({"a": same, "b": same, "c": same}, level=0.03).verdict == REFUTED
    # Expected 1 %, deviation 0.3 %; five of them.
    assert hits / 1000 < 0.026


def judged(name: str, intercept: float = 0.0, fits: float = 0.5, error: float = 1e-3) -> Comparison:
    """A comparison before it is decided; twenty degrees of freedom."""
    fit = Fit(intercept, 0.0, error, 20, fits, True)
    return Comparison(name, 8, (100, 200), "", "", theory=1.0, extrapolated=1.0, scale=1.0, fit=fit)


def test_each_of_several_is_decided_at_its_share_of_both_levels() -> None:
    # A line that fits with a probability between half the level and the level fits where two are decided together.
    between = judged("x", fits=0.75 * FIT_LEVEL)
    assert combine([between]).verdict == "INCONCLUSIVE"
    assert combine([between, judged("y")]).verdict == "CONFIRMED"
    # So does a deviation between the limits of the whole level and of half of it.
    limits = [deviates(0.0, 20, FALSE_ALARM / k)[1] for k in (1, 2)]
    far = judged("x", intercept=1e-3 * sum(limits) / 2)
    assert combine([far]).verdict == "REFUTED"
    assert combine([far, judged("y")]).verdict == "CONFIRMED"
    assert combine([far, judged("y")], level=2 * FALSE_ALARM).verdict == "REFUTED"
    assert combine([between, judged("y")], fit_level=2 * FIT_LEVEL).verdict == "INCONCLUSIVE"


def bent(line: float, curve: float, error: float = 1e-2, fits: float | None = None) -> Comparison:
    """A line that does not fit, with its intercept and that of the fit with a second term; error 1e-3 of the line."""
    return replace(judged("x", line, fits=1e-9), bent=Fit(curve, 0.0, error, 20, fits, True))


def test_a_second_term_confirms_and_refutes_only_what_the_line_refutes_too() -> None:
    far, near = 0.1, 0.001  # a hundred and one errors of the line, ten and a tenth of one of the other
    for line, curve, verdict in (
        (near, near, "CONFIRMED"), (far, near, "CONFIRMED"), (far, far, "REFUTED"), (near, far, "INCONCLUSIVE"),
    ):  # fmt: skip
        assert combine([bent(line, curve)]).verdict == "INCONCLUSIVE"  # a line alone
        found = combine([bent(line, curve)], curved=True)
        assert found.verdict == verdict
        assert found.comparisons[0].extrapolated == 1.0 + curve
        assert found.comparisons[0].tolerance == pytest.approx(0.01 * deviates(0, 20, 1e-3)[1])
    # Its larger error counts in what would have been caught, it has to fit where that can be told, and where the line
    # fits nobody asks for it.
    assert combine([bent(near, near, error=0.1)], curved=True).verdict == "INCONCLUSIVE"
    assert combine([bent(near, near, fits=1e-9)], curved=True).verdict == "INCONCLUSIVE"
    assert combine([replace(judged("x"), bent=Fit(far, 0.0, 1e-3, 20, None, True))], curved=True).verdict == "CONFIRMED"
    # The line's own limit is that of the share of the level: 4.1 errors at half of it, 3.8 at the whole.
    between = [1e-3 * sum(deviates(0.0, 20, FALSE_ALARM / k)[1] for k in (1, 2)) / 2, far]
    assert combine([bent(*between)], curved=True).verdict == "REFUTED"
    assert combine([bent(*between), judged("y")], curved=True).verdict == "INCONCLUSIVE"


def test_what_is_required_has_to_be_confirmed_and_nothing_else() -> None:
    noisy = judged("noisy", error=1.0)
    assert combine([judged("x"), noisy]).verdict == "INCONCLUSIVE"
    assert combine([judged("x"), noisy], required=["x"]).verdict == "CONFIRMED"
    assert combine([judged("x"), noisy], required=["noisy"]).verdict == "INCONCLUSIVE"
    assert combine([judged("x"), noisy], required=["z"]).verdict == "INCONCLUSIVE"
    assert combine([judged("x"), replace(noisy, samples=30)]).samples == 30
