"""Does a finite-size simulation agree with an asymptotic theory?  The protocol, as pure functions of numbers.

At dimensions d_1 < d_2 < ... there are K_i independent measurements x_is of one observable and the theory's value T_i,
taken at the ratios realised at d_i. The deviations D_i = mean_s x_is - T_i are modelled as

    D_i = e_inf + b/d_i + noise,    Var(x_is) = s^2/d_i,

because the observables self-average (variance O(1/d)) and their means converge like 1/d. The theory is right where
e_inf = 0. Weighted least squares with the weights K_i d_i (fixed by design, so that the estimate is linear in the data
and unbiased) gives e_inf; s^2 is pooled within dimensions,

    s^2 = sum_i d_i sum_s (x_is - mean_i)^2 / nu,    nu = sum_i (K_i - 1),

so that e_inf/se is exactly Student with nu degrees of freedom for Gaussian noise, however few the seeds. Pooling is
what makes 4 to 8 seeds enough: with separate variances the largest dimension alone would decide, with K - 1 degrees of
freedom. Where the variances contradict s^2/d (Bartlett, level HOMOGENEITY_LEVEL) the largest d_i s_i^2 is taken for
all, with its own K_i - 1 degrees of freedom: conservative in either direction of the violation.

Normalised traces of resolvents and their kin, linear statistics of a spectrum, vary by O(1/d): there Var(x_is) =
s^2/d_i^2, and d_i^2 stands for d_i in weights and sums of squares (``fluctuation`` 2). Taken for 1 it would be the
conservative error: the largest d_i s_i^2 is that of the smallest dimension.

With three or more dimensions the line itself is tested (F test of the residuals against s^2, level FIT_LEVEL): where it
fails the extrapolation means nothing and the verdict is INCONCLUSIVE, whatever e_inf. Who has so many draws that lines
are seen to bend may ask for a second term, e_inf + b/d + c/d^2 (``curved``): fitted where the line fails, alone, its
e_inf with its own and larger error confirms, and refutes if that of the line does too. Only both, since a line that is
rejected by chance bends the other way: under a true line no more is refuted than without a second term, so the level
is held. Two things it does not mend. A curve too weak to be seen moves e_inf of the line all the same: at d, 2d, 4d and
as many draws at each, one that is seen half of the time at FIT_LEVEL moves it by eight of its errors. And an error that
undoes what the curve does to the line is INCONCLUSIVE, not refuted, however large.

Several observables are decided together: each at level/N (Bonferroni), so the chance that a right theory is refuted in
any of them stays below FALSE_ALARM, whatever their correlations.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

# Two-sided probability that a right theory is REFUTED by one call (all observables together). One in a thousand: a
# few hundred comparisons make up a ledger and its tests, and seeds are fixed, so a false alarm would have to be met
# once, when a seed is chosen, with probability of some ten per cent over the whole suite. Half that rate would cost
# 6 % in what is detectable.
FALSE_ALARM = 1e-3
# Probability that the goodness-of-fit test rejects a true line (then INCONCLUSIVE, not REFUTED), all observables
# together.
FIT_LEVEL = 1e-3
# Level of the test that the variances follow s^2/d; a rejection only makes the comparison more conservative.
HOMOGENEITY_LEVEL = 1e-2
# `smallest_detectable` is the relative error that would have been refuted with this probability.
POWER = 0.95
# Above this smallest detectable error agreement says too little to be a pass.
DETECTABLE_LIMIT = 0.2

CONFIRMED, REFUTED, INCONCLUSIVE = "CONFIRMED", "REFUTED", "INCONCLUSIVE"


@dataclass(frozen=True)
class Observation:
    """One observable at one dimension: one measurement per seed, the theory at its ratios, Var ~ d^-fluctuation."""

    dimension: int
    samples: tuple[float, ...]
    theory: float
    fluctuation: int = 1


@dataclass(frozen=True)
class Fit:
    """e_inf and b of the weighted fit, the error of e_inf, how it fits (None without a degree of freedom)."""

    intercept: float
    slope: float
    standard_error: float
    degrees_of_freedom: int
    fit_probability: float | None
    pooled: bool


@dataclass(frozen=True)
class Comparison:
    """The outcome for one observable.

    `theory` is the theory's limit (or its value at the largest dimension) and `extrapolated` = theory + e_inf. `z` is
    the standard normal deviate with the same two-sided probability as e_inf/standard_error under Student's law (so
    that z over many right comparisons is standard normal), `critical_z` the |z| beyond which the verdict is REFUTED,
    `tolerance` the same limit on |e_inf|. `smallest_detectable` is relative to `scale`. `bent` is the fit with a second
    term. Numbers are None where they could not be formed.
    """

    observable: str
    samples: int
    dimensions: tuple[int, ...]
    verdict: str
    sentence: str
    theory: float | None = None
    extrapolated: float | None = None
    z: float | None = None
    critical_z: float | None = None
    tolerance: float | None = None
    scale: float | None = None
    smallest_detectable: float | None = None
    fit: Fit | None = None
    bent: Fit | None = None


@dataclass(frozen=True)
class Report:
    """All observables of one model: REFUTED if any is, CONFIRMED if all required ones are, else INCONCLUSIVE."""

    comparisons: tuple[Comparison, ...]
    verdict: str
    sentence: str

    def comparison(self, observable: str) -> Comparison:
        """That of one observable. Raises StopIteration where there is none."""
        return next(one for one in self.comparisons if one.observable == observable)

    @property
    def samples(self) -> int:
        """The largest number of independent experiments behind any of the comparisons."""
        return max((comparison.samples for comparison in self.comparisons), default=0)


def fit_line(
    dimensions: Sequence[int],
    samples: Sequence[Sequence[float]],
    theory: Sequence[float],
    fluctuation: int = 1,
    terms: int = 1,
) -> Fit:
    """The weighted line D = e_inf + b/d with its standard error; formulas in the module's first lines.

    With ``terms`` powers of 1/d it is a polynomial. Needs a dimension more than terms and nu >= 2 in all; ValueError
    otherwise.
    """
    counts = [len(values) for values in samples]
    if len(counts) < terms + 1 or min(counts) < 1 or sum(counts) - len(counts) < 2:
        raise ValueError(
            "a fit in 1/d needs at least two dimensions, one more for each further term, and two measurements beyond "
            "one at each"
        )
    return _fitted(_scatter(dimensions, samples, theory, fluctuation), terms)


class _Scatter(NamedTuple):
    """What every fit to the same samples knows of them: at each dimension how far they are from theory, and with what
    weight; d times the variance of one, its degrees of freedom, and whether all dimensions share it.
    """

    dimensions: np.ndarray
    deviations: np.ndarray
    weights: np.ndarray
    variance: float
    freedom: int
    pooled: bool


def _scatter(
    dimensions: Sequence[int], samples: Sequence[Sequence[float]], theory: Sequence[float], fluctuation: int
) -> _Scatter:
    d = np.array(dimensions, dtype=float)
    counts = np.array([len(values) for values in samples])
    nu = int(counts.sum()) - len(counts)
    measured = [np.array(values, dtype=float) for values in samples]
    means = [values.mean() for values in measured]
    deviations = np.array(means) - np.array(theory)
    steadiness = d**fluctuation
    # d_i times the sum of squares within dimension i: each is s^2 times a chi-square of K_i - 1 degrees of freedom.
    within = [((values - mean) ** 2).sum() for values, mean in zip(measured, means, strict=True)]
    squares = steadiness * np.array(within)
    pooled = homogeneous(squares, counts - 1)
    variance, freedom = float(squares.sum()) / nu, nu
    if not pooled:
        repeated = np.flatnonzero(counts > 1)
        worst = repeated[np.argmax(squares[repeated] / (counts[repeated] - 1))]
        freedom = int(counts[worst] - 1)
        variance = float(squares[worst]) / freedom
    return _Scatter(d, deviations, counts * steadiness, variance, freedom, pooled)


def _fitted(scatter: _Scatter, terms: int) -> Fit:
    from scipy.special import fdtrc

    d, deviations, weights, variance, freedom, pooled = scatter
    # In units of the smallest dimension: powers of 1/d itself would be columns of very different sizes.
    design = (d.min() / d)[:, None] ** np.arange(terms + 1)
    normal = np.linalg.inv(design.T @ (weights[:, None] * design))
    found = normal @ (design.T @ (weights * deviations))
    probability, spare = None, len(d) - terms - 1
    if spare > 0 and variance > 0.0:
        residual = float(np.sum(weights * (deviations - design @ found) ** 2))
        probability = float(fdtrc(spare, freedom, residual / spare / variance))
    slope = float(found[1]) * float(d.min())
    return Fit(float(found[0]), slope, math.sqrt(variance * normal[0, 0]), freedom, probability, pooled)


def homogeneous(squares: np.ndarray, freedoms: np.ndarray) -> bool:
    """Bartlett's test that sums of squares with given degrees of freedom share one variance, at HOMOGENEITY_LEVEL."""
    from scipy.special import chdtrc

    kept = freedoms > 0
    squares, freedoms = squares[kept], freedoms[kept].astype(float)
    if len(squares) < 2 or squares.max() == 0.0:
        return True
    if squares.min() == 0.0:
        return False
    total = float(freedoms.sum())
    statistic = total * math.log(float(squares.sum()) / total) - float(freedoms @ np.log(squares / freedoms))
    correction = 1.0 + (float(np.sum(1.0 / freedoms)) - 1.0 / total) / (3.0 * (len(squares) - 1))
    return bool(chdtrc(len(squares) - 1, statistic / correction) >= HOMOGENEITY_LEVEL)


def compare(
    observable: str,
    observations: Sequence[Observation],
    *,
    limit: float | None = None,
    scale: float | None = None,
    level: float = FALSE_ALARM,
    fit_level: float = FIT_LEVEL,
) -> Comparison:
    """Decide one observable at a two-sided false-alarm rate `level`.

    `limit` is the theory's value at infinite dimension, by default its value at the largest dimension; it is what the
    sentence quotes, no more. `scale` is what relative errors refer to, by default |limit|; give one where that may be
    near zero. Raises ValueError for repeated dimensions, and where the variance falls in two ways.
    """
    observations = sorted(observations, key=lambda observation: observation.dimension)
    dimensions = tuple(observation.dimension for observation in observations)
    if len(set(dimensions)) < len(dimensions):
        raise ValueError(f"dimensions {dimensions} repeat: one observation per dimension is needed")
    if len({observation.fluctuation for observation in observations}) > 1:
        raise ValueError(f"{observable} fluctuates as one power of d at one dimension, and as another at others")
    count = sum(len(observation.samples) for observation in observations)

    def undecided(reason: str) -> Comparison:
        return Comparison(observable, count, dimensions, INCONCLUSIVE, f"{observable}: {reason}")

    if count == 0:
        return undecided("no samples")
    numbers = [number for observation in observations for number in (*observation.samples, observation.theory)]
    if not all(math.isfinite(number) for number in numbers):
        return undecided("a sample or the theory is not a finite number")
    if min(len(observation.samples) for observation in observations) == 0:
        return undecided("a dimension has no samples")
    if len(dimensions) < 2:
        return undecided(f"one dimension, d = {dimensions[0]}, gives no extrapolation in 1/d: at least two are needed")
    if count - len(dimensions) < 2:
        return undecided("one experiment at a dimension shows no scatter: several seeds at each are needed")
    samples = [observation.samples for observation in observations]
    theories = [observation.theory for observation in observations]
    scatter = _scatter(dimensions, samples, theories, observations[0].fluctuation)
    fit, *bent = (_fitted(scatter, terms) for terms in range(1, min(len(dimensions), 3)))
    if fit.standard_error == 0.0:
        return undecided("the samples do not vary between seeds, so no standard error can be formed")
    theory = observations[-1].theory if limit is None else limit
    found = Comparison(
        observable,
        count,
        dimensions,
        INCONCLUSIVE,
        "",
        theory=theory,
        extrapolated=theory + fit.intercept,
        scale=abs(theory) if scale is None else scale,
        fit=fit,
        bent=bent[0] if bent else None,
    )
    return _decide(found, level, fit_level)


def deviates(t: float, degrees_of_freedom: float, level: float) -> tuple[float, float, float]:
    """The normal deviate as improbable as Student's t, and the t and the deviate beyond which a level rejects."""
    from scipy.special import ndtri, stdtrit

    z = normal_deviate(t, degrees_of_freedom)
    return z, -float(stdtrit(degrees_of_freedom, level / 2)), -float(ndtri(level / 2))


def normal_deviate(t: float, degrees_of_freedom: float) -> float:
    """The standard normal deviate that is exceeded as rarely as t under Student's law: standard errors are estimated
    from few seeds, and t itself exceeds 4 twice as often as a normal deviate at 73 degrees of freedom."""
    from scipy.special import ndtri, stdtr

    # Below 1e-300 the deviate has no value in double precision; 37 stands for "beyond 37".
    return math.copysign(abs(float(ndtri(max(float(stdtr(degrees_of_freedom, -abs(t))), 1e-300)))), t)


def _beyond(fit: Fit, level: float) -> bool:
    """Whether e_inf is refuted at a level."""
    return abs(fit.intercept) > deviates(0.0, fit.degrees_of_freedom, level)[1] * fit.standard_error


def _decide(found: Comparison, level: float, fit_level: float, curved: bool = False) -> Comparison:
    """The comparison with its verdict at these levels; unchanged where there is no fit to decide on."""
    line = found.fit
    if line is None or found.theory is None or found.scale is None:
        return found

    def fails(fit: Fit) -> bool:
        return fit.fit_probability is not None and fit.fit_probability < fit_level

    fit = found.bent if curved and found.bent is not None and fails(line) else line
    t = fit.intercept / fit.standard_error
    z, critical_t, critical_z = deviates(t, fit.degrees_of_freedom, level)
    detectable = noncentrality(critical_t, fit.degrees_of_freedom) * fit.standard_error
    relative = detectable / found.scale if found.scale > 0.0 else None
    extrapolated = found.theory + fit.intercept
    measured = (
        f"{found.observable}: simulation at d = {', '.join(map(str, found.dimensions))} extrapolates to "
        f"{extrapolated:.6g} +- {fit.standard_error:.2g}, theory {found.theory:.6g}, z = {z:.2f}"
    )
    if fails(line):
        measured += f"; the line in 1/d does not fit (probability {line.fit_probability:.1g})"
    if fit is not line:
        measured += ", 1/d^2 was fitted too"
    if fails(fit):
        helped = "" if fit is line else f" and does not help (probability {fit.fit_probability:.1g})"
        verdict, ending = INCONCLUSIVE, helped
    elif abs(t) > critical_t:
        verdict, ending = REFUTED, f", beyond {critical_z:.2f}"
        if not _beyond(line, level):
            verdict, ending = INCONCLUSIVE, ", the line alone agrees"
    elif relative is None or relative > DETECTABLE_LIMIT:
        caught = "no relative error" if relative is None else f"only errors above {relative:.0%}"
        verdict, ending = INCONCLUSIVE, f"; this would have caught {caught}: more seeds or larger dimensions are needed"
    else:
        verdict, ending = CONFIRMED, f"; an error of {relative:.1%} would have been caught in {POWER:.0%} of cases"
    return replace(
        found,
        verdict=verdict,
        sentence=measured + ending,
        extrapolated=extrapolated,
        z=z,
        critical_z=critical_z,
        tolerance=critical_t * fit.standard_error,
        smallest_detectable=relative,
    )


def noncentrality(critical_t: float, freedom: float) -> float:
    """The e_inf, in standard errors, refuted with probability POWER: P(T > critical_t), T noncentral Student."""
    from scipy.special import nctdtrinc

    return float(nctdtrinc(freedom, 1.0 - POWER, critical_t))


def combine(
    comparisons: Sequence[Comparison],
    *,
    required: Collection[str] | None = None,
    level: float = FALSE_ALARM,
    fit_level: float = FIT_LEVEL,
    curved: bool = False,
) -> Report:
    """Decide N comparisons together: each is decided again at level/N and fit_level/N (Bonferroni).

    Any refuted comparison refutes. The `required` observables (all, unless named) have to be CONFIRMED for the report
    to be; the others may be too noisy to say anything, which their own verdict shows.
    """
    number = max(len(comparisons), 1)
    decided = tuple(_decide(comparison, level / number, fit_level / number, curved) for comparison in comparisons)
    needed = {c.observable for c in decided} if required is None else set(required)
    confirmed = {c.observable for c in decided if c.verdict == CONFIRMED}
    refuted = [c for c in decided if c.verdict == REFUTED]
    if refuted:
        verdict, telling = REFUTED, refuted
    elif needed and needed <= confirmed:
        verdict, telling = CONFIRMED, [c for c in decided if c.observable in needed]
    else:
        verdict, telling = INCONCLUSIVE, [c for c in decided if c.observable in needed - confirmed]
    return Report(decided, verdict, "; ".join(c.sentence for c in telling) or "nothing was compared")


def compare_all(
    observables: Mapping[str, Sequence[Observation]],
    *,
    limits: Mapping[str, float] | None = None,
    scales: Mapping[str, float] | None = None,
    required: Collection[str] | None = None,
    level: float = FALSE_ALARM,
    fit_level: float = FIT_LEVEL,
    curved: bool = False,
) -> Report:
    """Decide N observables of one model together; `limits` and `scales` as in `compare`, the rest as in `combine`."""
    limits, scales = limits or {}, scales or {}
    comparisons = [
        compare(name, observations, limit=limits.get(name), scale=scales.get(name))
        for name, observations in observables.items()
    ]
    return combine(comparisons, required=required, level=level, fit_level=fit_level, curved=curved)
