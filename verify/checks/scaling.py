"""Does a quantity scale with the dimension as predicted?  The protocol, as pure functions of numbers.

At dimensions d_1 < d_2 < ... there are K_i independent positive measurements. Their logarithms have means Y_i, modelled
as

    Y_i = a + e log d_i + noise,

with the exponent e to be compared with a prediction. The slope is the weighted least-squares one with the weights K_i:
these are fixed by design, so the estimate is linear in the data and unbiased, and its standard error
sqrt(sum c_i^2 s_i^2/K_i), c_i the coefficients of the slope, uses each dimension's own variance s_i^2 (a pure power law
does not say that logarithms scatter alike at all d). Degrees of freedom are Welch and Satterthwaite's.

An exponent belongs to a limit, and at finite d there are corrections to scaling: what is measured is of order
d^e (1 + c/d). With |c| up to CORRECTION the slope is off by up to CORRECTION |sum c_i/d_i|, which no number of draws
makes smaller: only what lies beyond it refutes, and it counts in the smallest error that would have been caught. That
is meant of measurements without a correction: one that works against an error hides as much of it again.

With three or more dimensions the power law itself is tested: deviations from the line, less the correction that suits
them best, are compared with the standard errors of the means (F test, level FIT_LEVEL). Where the line fails, for
example because a correction to scaling is larger, the slope means nothing and the verdict is INCONCLUSIVE, whatever the
prediction.

Several series are decided together, each at level/N (Bonferroni).
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from giantsteps.verify.checks.finite_size import (
    CONFIRMED,
    FALSE_ALARM,
    FIT_LEVEL,
    INCONCLUSIVE,
    POWER,
    REFUTED,
    deviates,
    noncentrality,
)

# Exponents here are multiples of one tenth or so: above this smallest detectable error agreement says too little.
DETECTABLE_LIMIT = 0.1

# The largest c of a correction c/d: a squared length of d Gaussian entries varies by 2/d, so that the mean of its
# logarithm is off by 1/d; a measured quantity is made of two such, it and what it is divided by.
CORRECTION = 2.0


@dataclass(frozen=True)
class Series:
    """One quantity: positive measurements, shape (K_i,), at each dimension, and the exponent predicted for it."""

    name: str
    dimensions: tuple[int, ...]
    samples: tuple[tuple[float, ...], ...]
    predicted: float


@dataclass(frozen=True)
class Slope:
    """The log-log slope, its standard error and degrees of freedom; how far corrections to scaling may move it; the
    probability of a worse fit of the line.
    """

    exponent: float
    standard_error: float
    correction: float
    degrees_of_freedom: float
    fit_probability: float | None


@dataclass(frozen=True)
class Comparison:
    """The outcome for one series. ``z`` is the distance in normal standard deviations of the same probability."""

    name: str
    verdict: str
    sentence: str
    slope: Slope | None = None
    z: float = 0.0
    critical_z: float = 0.0
    smallest_detectable: float = math.inf


@dataclass(frozen=True)
class Report:
    """All series: REFUTED if any is, CONFIRMED if all are, else INCONCLUSIVE."""

    comparisons: tuple[Comparison, ...]
    verdict: str
    sentence: str


def fit(dimensions: Sequence[int], samples: Sequence[Sequence[float]]) -> Slope:
    """The weighted log-log line; formulas in the module's first lines.

    Raises ValueError for fewer than two different dimensions, fewer than three measurements at one of them, or a
    measurement that is not positive and finite.
    """
    from scipy.special import fdtrc

    if len(dimensions) < 2 or len(set(dimensions)) < len(dimensions):
        raise ValueError("a slope needs at least two dimensions, each once")
    if min(len(values) for values in samples) < 3:
        raise ValueError("each dimension needs at least three measurements")
    if not all(0.0 < value < math.inf for values in samples for value in values):
        raise ValueError("a power law needs positive measurements")
    logs = [np.log(np.asarray(values)) for values in samples]
    x = np.log(np.asarray(dimensions, dtype=float))
    means = np.array([values.mean() for values in logs])
    counts = np.array([float(len(values)) for values in logs])
    errors = np.array([values.var(ddof=1) for values in logs]) / counts  # squared standard errors of the means
    centred = x - np.average(x, weights=counts)
    coefficients = counts * centred / np.sum(counts * centred**2)
    parts = coefficients**2 * errors
    variance = float(parts.sum())
    freedom = variance**2 / float(np.sum(parts**2 / (counts - 1))) if variance > 0.0 else 0.0
    probability = None
    correction = CORRECTION * np.exp(-x)
    if len(x) > 2 and np.all(errors > 0.0):
        weights = 1.0 / errors
        design = np.stack([np.ones_like(x), x], axis=1)
        both = np.stack([means, correction], axis=1)
        best = np.linalg.solve(design.T @ (weights[:, None] * design), design.T @ (weights[:, None] * both))
        off, bent = (both - design @ best).T
        share = float(np.clip(np.sum(weights * off * bent) / np.sum(weights * bent**2), -1.0, 1.0))
        excess = float(np.sum(weights * (off - share * bent) ** 2)) / (len(x) - 2)
        probability = float(fdtrc(len(x) - 2, float(np.sum(counts - 1)), excess))
    moved = abs(float(coefficients @ correction))
    return Slope(float(coefficients @ means), math.sqrt(variance), moved, freedom, probability)


def compare(series: Series, *, level: float = FALSE_ALARM, fit_level: float = FIT_LEVEL) -> Comparison:
    """Decide one series at these levels."""
    try:
        slope = fit(series.dimensions, series.samples)
    except ValueError as reason:
        return Comparison(series.name, INCONCLUSIVE, f"{series.name}: {reason}")
    if slope.standard_error == 0.0:
        return Comparison(series.name, INCONCLUSIVE, f"{series.name}: the measurements do not vary", slope)
    t = (slope.exponent - series.predicted) / slope.standard_error
    z, critical_t, _ = deviates(t, slope.degrees_of_freedom, level)
    detectable = slope.correction + noncentrality(critical_t, slope.degrees_of_freedom) * slope.standard_error
    critical_t += slope.correction / slope.standard_error
    critical_z, _, _ = deviates(critical_t, slope.degrees_of_freedom, level)
    measured = (
        f"{series.name}: slope {slope.exponent:.3f} +- {slope.standard_error:.2g} over d = "
        f"{', '.join(map(str, series.dimensions))}, predicted {series.predicted:.3f}, z = {z:.2f}"
    )
    if slope.fit_probability is not None and slope.fit_probability < fit_level:
        verdict, ending = INCONCLUSIVE, f"; no power law (probability {slope.fit_probability:.1g})"
    elif abs(t) > critical_t:
        verdict, ending = REFUTED, f", beyond {critical_z:.2f} with corrections up to {slope.correction:.2g}"
    elif detectable > DETECTABLE_LIMIT:
        verdict, ending = INCONCLUSIVE, f"; only errors above {detectable:.2g} would have been caught"
    else:
        verdict, ending = CONFIRMED, f"; an error of {detectable:.2g} would have been caught in {POWER:.0%} of cases"
    return Comparison(series.name, verdict, measured + ending, slope, z, critical_z, detectable)


def compare_all(
    predictions: Sequence[Series] | Mapping[str, Series], *, level: float = FALSE_ALARM, fit_level: float = FIT_LEVEL
) -> Report:
    """Decide several series together, each at level/N and fit_level/N."""
    all_series = list(predictions.values()) if isinstance(predictions, Mapping) else list(predictions)
    number = max(len(all_series), 1)
    decided = tuple(compare(series, level=level / number, fit_level=fit_level / number) for series in all_series)
    refuted = [c for c in decided if c.verdict == REFUTED]
    if refuted:
        verdict, telling = REFUTED, refuted
    elif decided and all(c.verdict == CONFIRMED for c in decided):
        verdict, telling = CONFIRMED, list(decided)
    else:
        verdict, telling = INCONCLUSIVE, [c for c in decided if c.verdict != CONFIRMED]
    return Report(decided, verdict, "; ".join(c.sentence for c in telling) or "nothing was compared")
