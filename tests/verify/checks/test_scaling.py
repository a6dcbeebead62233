"""Exponents from log-log slopes: the line, the false-alarm rate, the power, and what is not a power law."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.verify.checks import scaling
from giantsteps.verify.checks.scaling import CONFIRMED, INCONCLUSIVE, REFUTED, Series
from giantsteps.verify.checks.scaling_check import ByScaling, Scaled
from giantsteps.verify.claims.paper import PAPER
from giantsteps.verify.protocol.claim import PROFILES, Kind
from giantsteps.verify.protocol.evidence import Outcome
from giantsteps.verify.protocol.verdict import Verdict, decide
from tests.shared.toy import claim

DIMENSIONS = (100, 300, 900)


def power_law(
    exponent: float, seed: int, scatter: tuple[float, ...] = (0.2, 0.2, 0.2), counts: tuple[int, ...] = (12, 12, 12)
) -> tuple[tuple[float, ...], ...]:
    """Measurements 2 d^e exp(scatter N(0,1)) at DIMENSIONS."""
    rng = np.random.default_rng(seed)
    return tuple(
        tuple(2.0 * d**exponent * np.exp(width * rng.standard_normal(count)))
        for d, width, count in zip(DIMENSIONS, scatter, counts, strict=True)
    )


def test_the_slope_of_an_exact_power_law() -> None:
    # Scatter that sums to zero at each dimension: the means of the logarithms are exactly on the line.
    samples = tuple(tuple(3.0 * d**-0.75 * np.exp(np.array([-0.1, 0.0, 0.1]))) for d in DIMENSIONS)
    slope = scaling.fit(DIMENSIONS, samples)
    assert slope.exponent == pytest.approx(-0.75, abs=1e-12)  # rounding of a handful of logarithms
    # Closed form: three equal groups of variance 0.01 at log-spacing log 3: Var = (0.01/3)/(2 log(3)^2).
    assert slope.standard_error == pytest.approx((0.01 / 3 / 2) ** 0.5 / np.log(3.0), rel=1e-12)
    assert slope.fit_probability == pytest.approx(1.0)
    # Welch and Satterthwaite: the middle group has no weight, two equal ones of two degrees each make four.
    assert slope.degrees_of_freedom == pytest.approx(4.0)


def test_weights_are_the_numbers_of_measurements() -> None:
    rng = np.random.default_rng(5)
    counts = (40, 10, 4)
    samples = tuple(tuple(np.exp(rng.standard_normal(c))) for c in counts)
    # The same line from one row per measurement, each of weight one: ordinary least squares.
    x = np.concatenate([np.full(c, np.log(d)) for d, c in zip(DIMENSIONS, counts, strict=True)])
    expected = np.polyfit(x, np.log(np.concatenate(samples)), 1)[0]
    assert scaling.fit(DIMENSIONS, samples).exponent == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize(
    ("scatter", "counts"),
    [((0.2, 0.2, 0.2), (12, 12, 12)), ((0.5, 0.2, 0.1), (6, 6, 6)), ((0.1, 0.3, 0.3), (24, 8, 4))],
)
def test_a_right_exponent_is_refuted_no_more_often_than_stated(
    scatter: tuple[float, ...], counts: tuple[int, ...]
) -> None:
    level, runs = 0.02, 1500
    refuted = unfitted = 0
    for seed in range(runs):
        found = scaling.compare(
            Series("x", DIMENSIONS, power_law(-0.3, seed, scatter, counts), -0.3), level=level, fit_level=1e-12
        )
        refuted += found.verdict == REFUTED
        assert found.slope is not None
        assert found.slope.fit_probability is not None
        unfitted += found.slope.fit_probability < level
    # 30 expected; more than 58 has a probability below 1e-6 for a rate of 2 %. Welch's degrees of freedom and the
    # estimated weights of the fit test are approximations: at four measurements they may double the rate.
    assert refuted < 58
    assert unfitted < (58 if min(counts) >= 12 else 130)
    assert refuted > 8  # fewer than 8 has a probability below 1e-6: the test is not idle


def test_the_smallest_detectable_error_is_detected_as_often_as_stated() -> None:
    runs, found = 300, 0
    sizes = [scaling.compare(Series("x", DIMENSIONS, power_law(0.5, k), 0.5)).smallest_detectable for k in range(50)]
    error = float(np.median(sizes))
    for seed in range(runs):
        found += scaling.compare(Series("x", DIMENSIONS, power_law(0.5 + error, seed), 0.5)).verdict == REFUTED
    # 95 % expected, the median standing for the size of a single run; below 90 % has a probability below 1e-3.
    assert found > 0.90 * runs


def test_verdicts() -> None:
    right, wrong = power_law(-0.5, 1), power_law(-0.8, 1)
    assert scaling.compare(Series("a", DIMENSIONS, right, -0.5)).verdict == INCONCLUSIVE  # too noisy for 0.1
    narrow = power_law(-0.5, 1, (0.03, 0.03, 0.03))
    assert scaling.compare(Series("a", DIMENSIONS, narrow, -0.5)).verdict == CONFIRMED
    assert scaling.compare(Series("a", DIMENSIONS, wrong, 0.5)).verdict == REFUTED
    both = [Series("a", DIMENSIONS, narrow, -0.5), Series("b", DIMENSIONS, narrow, -0.6)]
    assert scaling.compare_all(both).verdict == REFUTED
    assert scaling.compare_all(both[:1]).verdict == CONFIRMED
    assert scaling.compare_all([both[0], Series("c", DIMENSIONS, right, -0.5)]).verdict == INCONCLUSIVE
    assert scaling.compare_all([]).verdict == INCONCLUSIVE


def test_a_correction_to_scaling_is_no_power_law() -> None:
    rng = np.random.default_rng(3)
    samples = tuple(tuple((1 + 30 / d) * d**0.25 * np.exp(0.005 * rng.standard_normal(12))) for d in DIMENSIONS)
    found = scaling.compare(Series("x", DIMENSIONS, samples, 0.25))
    assert found.verdict == INCONCLUSIVE
    assert "no power law" in found.sentence


@pytest.mark.parametrize("sign", [1, -1])
def test_a_correction_of_either_sign_is_a_power_law(sign: int) -> None:
    sizes = (100, 200, 400)
    samples = tuple(tuple(d**-0.5 * np.exp(sign * 1.5 / d + 1e-4 * np.array([-1.0, 0.0, 1.0]))) for d in sizes)
    assert scaling.compare(Series("x", sizes, samples, -0.5)).verdict == CONFIRMED


def test_what_a_correction_may_move_counts_in_what_would_have_been_caught() -> None:
    # Equal counts at 10, 20, 40: coefficients -1, 0, 1 over 2 log 2, so 2 (1/10 - 1/40)/(2 log 2) = 0.1082.
    sizes = (10, 20, 40)
    samples = tuple(tuple(d**-0.5 * np.exp(1e-5 * np.array([-1.0, 0.0, 1.0]))) for d in sizes)
    found = scaling.compare(Series("x", sizes, samples, -0.5))
    assert found.slope is not None
    assert found.slope.correction == pytest.approx(0.075 / np.log(2.0), rel=1e-12)
    # No scatter to speak of, and yet no exponent is told from another that lies nearer than that.
    assert found.smallest_detectable == pytest.approx(found.slope.correction, rel=0.01)
    assert found.verdict == INCONCLUSIVE
    for apart, verdict in ((0.1, INCONCLUSIVE), (0.12, REFUTED), (-0.1, INCONCLUSIVE), (-0.12, REFUTED)):
        assert scaling.compare(Series("x", sizes, samples, -0.5 + apart)).verdict == verdict


@pytest.mark.parametrize(
    ("dimensions", "samples", "reason"),
    [
        ((100,), ((1.0, 2.0, 3.0),), "two dimensions"),
        ((100, 100), ((1.0, 2.0, 3.0), (1.0, 2.0, 3.0)), "each once"),
        ((100, 200), ((1.0, 2.0, 3.0), (1.0, 2.0)), "three measurements"),
        ((100, 200), ((1.0, 2.0, 3.0), (1.0, -2.0, 3.0)), "positive"),
        ((100, 200), ((1.0, 2.0, 3.0), (1.0, float("nan"), 3.0)), "positive"),
    ],
)
def test_what_has_no_slope(dimensions: tuple[int, ...], samples: tuple[tuple[float, ...], ...], reason: str) -> None:
    with pytest.raises(ValueError, match=reason):
        scaling.fit(dimensions, samples)
    found = scaling.compare(Series("x", dimensions, samples, 0.0))
    assert found.verdict == INCONCLUSIVE
    assert reason in found.sentence


def check(exponent: float) -> ByScaling:
    """Measured exponent -0.5 where the statement's symbol delta is one."""
    samples = power_law(exponent, 2, (0.03, 0.03, 0.03))
    return ByScaling("toy", lambda quantity, profile: {"one": Scaled(DIMENSIONS, samples, {s.shortfall.name: 1.0})})


def test_the_check_confirms_and_refutes_through_the_statement() -> None:
    stated = claim(statement=sp.Eq(s.overlap_rate, -s.shortfall / 2), kind=Kind.CONCENTRATION)
    evidence = check(-0.5).run(stated, PROFILES["quick"], PAPER)
    assert evidence.outcome is Outcome.SUPPORTS
    assert decide(Kind.CONCENTRATION, [evidence]) is Verdict.CONFIRMED
    assert check(-0.9).run(stated, PROFILES["quick"], PAPER).outcome is Outcome.REFUTES
    with pytest.raises(TypeError, match="tests an equation"):
        check(-0.5).run(claim(statement=sp.Le(s.overlap_rate, 0)), PROFILES["quick"], PAPER)
