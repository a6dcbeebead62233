"""Appendix B: mean and covariance of features given the projection on the spike."""

from __future__ import annotations

import sympy as sp

from onestep.derivations.equivalence import conditional as equivalence
from onestep.derivations.equivalence import spike_coefficients
from onestep.derivations.language import symbols as s
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import sigma, sigma_prime, sigma_second
from onestep.verify.checks.evaluate import Functions
from onestep.verify.checks.kinds import ByDerivation, ByNumbers, Point
from onestep.verify.claims.sources import paper
from onestep.verify.protocol import tolerances
from onestep.verify.protocol.claim import Claim, Domain, Kind, Mutant, Range
from onestep.verify.second_route import features as numbers
from onestep.verify.second_route.grids import ANY, ANY_ENTIRE, ANY_INTERPRETATIONS, interpretation


def functions_at(point: Point) -> Functions:
    """The activation of a point, as implementation of the undefined functions."""
    return interpretation(str(point["activation"]), "sin")


def mean_of(function: sp.FunctionClass) -> Expectation:
    """E f(r kappa + sqrt(c) z)."""
    return Expectation(function(s.r * s.kappa + sp.sqrt(s.c) * s.z), s.z)


_SPIKED = (Range(s.r, 0.2, 2.0), Range(s.c, 0.6, 1.6), Range(s.kappa, -2.0, 2.0))


def spiked(activations: tuple[str, ...], *more: Range) -> Domain:
    """Spike strength, bulk variance and kappa, for an activation out of a list."""
    return Domain(
        ranges=(Range("activation", choices=activations), *_SPIKED, *more), interpretations=ANY_INTERPRETATIONS
    )


_SEEDED = Domain(ranges=(Range("seed"),))


_CURVATURE = mean_of(sigma_second)


# --- the decomposition (60), (81) ------------------------------------------------------------------------------------

PROJECTION = Claim(
    id="result-3-2.projected-rows",
    title="Covariance of two neurons' inputs across the spike",
    source=paper("Appendix B, on (60) and (61)"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.projected_product, s.row_product - s.spike_overlap * s.other_overlap),
    domain=_SEEDED,
    checks=(
        ByDerivation(equivalence.projection),
        ByNumbers("random vectors and the projector as a matrix", numbers.projected_rows, tolerances.ROUNDING),
    ),
    mutants=(
        Mutant("not projected", sp.Eq(s.projected_product, s.row_product)),
        Mutant(
            "projected twice as far", sp.Eq(s.projected_product, s.row_product - 2 * s.spike_overlap * s.other_overlap)
        ),
    ),
)


TARGET_VARIANCE = Claim(
    id="result-3-2.target-across-spike",
    title="The variance of the target's direction across the spike",
    source=paper("Appendix B and C", 81),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.rho, 1 - s.gamma**2),
    domain=_SEEDED,
    checks=(
        ByDerivation(equivalence.projection),
        ByNumbers("random vectors and the projector as a matrix", numbers.projected_rows, tolerances.ROUNDING),
    ),
    mutants=(
        Mutant("gamma for gamma^2", sp.Eq(s.rho, 1 - s.gamma)),
        Mutant("a standard deviation", sp.Eq(s.rho, sp.sqrt(1 - s.gamma**2), evaluate=False)),
    ),
)


_coefficients = s.hermite_coefficients[:6]


_SERIES = Domain(
    ranges=(*(Range(c, -1.0, 1.0) for c in _coefficients), Range(s.correlation, -0.8, 0.8)),
    hypotheses=("the feature is a polynomial of degree at most 5",),
)


_squares = sum((c**2 for c in _coefficients[2:]), sp.S.Zero)


_mehler = sum((c**2 * s.correlation**k for k, c in enumerate(_coefficients) if k), sp.S.Zero)


MEHLER = Claim(
    id="result-3-2.covariance-by-mehler",
    title="Covariance of two features at any correlation of their inputs: features of degree at most 5",
    source=paper("Appendix B, on (62) and (63)"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.pair_covariance, _mehler, evaluate=False),
    domain=_SERIES,
    checks=(
        ByDerivation(spike_coefficients.hermite_series),
        ByNumbers("polynomials of degree 5, Gauss-Hermite", numbers.polynomial_features, tolerances.ROUNDING),
    ),
    mutants=(
        Mutant("linear terms only", sp.Eq(s.pair_covariance, _coefficients[1] ** 2 * s.correlation)),
        Mutant(
            "every term linear in the correlation",
            sp.Eq(s.pair_covariance, s.correlation * (_squares + _coefficients[1] ** 2)),
        ),
    ),
)


# --- conditional mean (61)-(64), (68) --------------------------------------------------------------------------------

_exact_mean = Expectation(sigma(s.kappa * (s.r + s.spike_overlap) + sp.sqrt(s.c - s.spike_overlap**2) * s.z), s.z)


FEATURE_MEAN = Claim(
    id="result-3-2.conditional-mean",
    title="The conditional mean of a feature at any overlap with the spike",
    source=paper("Appendix B", 61, 62, 64),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.feature_mean, _exact_mean),
    domain=spiked(ANY_ENTIRE, Range(s.spike_overlap, -0.6, 0.6)),
    checks=(
        ByDerivation(equivalence.conditional_mean),
        ByNumbers(
            "a neuron in R^3, summed over x_perp", numbers.in_space, tolerances.QUADRATURE, functions=functions_at
        ),
    ),
    mutants=(
        Mutant(
            "variance c, the loss to v forgotten",
            sp.Eq(s.feature_mean, _exact_mean.xreplace({s.spike_overlap**2: sp.S.Zero})),
        ),
        Mutant("overlap forgotten", sp.Eq(s.feature_mean, mean_of(sigma))),
    ),
)


MEAN_SLOPE = Claim(
    id="result-3-2.mean-to-first-order",
    title="A neuron's overlap with the spike shifts its mean by kappa mu1",
    source=paper("Appendix B", 68, 71),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.feature_mean_slope, s.kappa * s.mu1),
    domain=spiked(ANY),
    checks=(
        ByDerivation(equivalence.conditional_mean),
        ByNumbers("Cauchy derivative of trapezoidal sums", numbers.mean_slopes, tolerances.QUADRATURE),
    ),
    mutants=(
        Mutant("dropped, as on the slides", sp.Eq(s.feature_mean_slope, sp.S.Zero)),
        Mutant("r kappa mu1", sp.Eq(s.feature_mean_slope, s.r * s.kappa * s.mu1)),
        Mutant("mu1", sp.Eq(s.feature_mean_slope, s.mu1)),
    ),
    uses=("result-3-2.conditional-mean", "result-3-2.mu1-by-stein"),
    note="This is the term kappa mu1 W v of the equivalent map; without it there is no zeta.",
)


MEAN_CURVATURE = Claim(
    id="result-3-2.mean-to-second-order",
    title="The second-order shift of a neuron's mean is He_2(kappa) times the mean of sigma''",
    source=paper("Appendix B, on (68)"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.feature_mean_curvature, (s.kappa**2 - 1) * _CURVATURE, evaluate=False),
    domain=spiked(ANY),
    checks=(
        ByDerivation(equivalence.conditional_mean),
        ByNumbers(
            "Cauchy derivative of trapezoidal sums", numbers.mean_slopes, tolerances.QUADRATURE, functions=functions_at
        ),
    ),
    mutants=(
        Mutant("the loss of variance forgotten", sp.Eq(s.feature_mean_curvature, s.kappa**2 * _CURVATURE)),
        Mutant("variance gained", sp.Eq(s.feature_mean_curvature, (s.kappa**2 + 1) * _CURVATURE)),
    ),
    uses=("result-3-2.conditional-mean",),
)


MEAN_GAP = Claim(
    id="result-3-2.means-match",
    title="The conditional means of the two maps differ by O(1/d)",
    source=paper("Section 3.2 and Appendix B", 73),
    kind=Kind.LIMIT,
    statement=sp.Eq(s.mean_gap, s.scaled_overlap**2 / 2 * (s.kappa**2 - 1) * _CURVATURE, evaluate=False),
    domain=spiked(ANY, Range(s.scaled_overlap, 0.5, 2.0)),
    checks=(
        ByDerivation(equivalence.conditional_mean),
        ByNumbers(
            "trapezoidal sums, extrapolated from d = 10^6",
            numbers.finite_gaps,
            tolerances.ASYMPTOTIC,
            functions=functions_at,
        ),
    ),
    mutants=(
        Mutant("they match better", sp.Eq(s.mean_gap, sp.S.Zero)),
        Mutant("the 1/2 of Taylor forgotten", sp.Eq(s.mean_gap, s.scaled_overlap**2 * (s.kappa**2 - 1) * _CURVATURE)),
    ),
    uses=("result-3-2.mean-to-first-order", "result-3-2.mean-to-second-order", "result-3-2.equivalent-mean"),
    note="sqrt(d) times the difference vanishes: nothing of the order of the kept term kappa mu1 W v is left out.",
)


# --- biases (69), (70) -----------------------------------------------------------------------------------------------

MU1_BIAS = Claim(
    id="result-3-2.mu1-to-first-order",
    title="The linear coefficient answers to a bias by the mean of sigma''",
    source=paper("Appendix B", 69),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.mu1_bias_slope, _CURVATURE),
    domain=spiked(ANY),
    checks=(
        ByDerivation(spike_coefficients.bias_slopes),
        ByNumbers(
            "Cauchy derivative of trapezoidal sums", numbers.slopes, tolerances.QUADRATURE, functions=functions_at
        ),
    ),
    mutants=(
        Mutant("half of it", sp.Eq(s.mu1_bias_slope, _CURVATURE / 2)),
        Mutant("mu1", sp.Eq(s.mu1_bias_slope, mean_of(sigma_prime))),
    ),
)


_argument = s.r * s.kappa + sp.sqrt(s.c) * s.z


_mu2_slope = (
    2 * Expectation(sigma(_argument) * sigma_prime(_argument), s.z)
    - 2 * mean_of(sigma) * mean_of(sigma_prime)
    - 2 * s.c * mean_of(sigma_prime) * _CURVATURE
)


MU2_BIAS = Claim(
    id="result-3-2.mu2-to-first-order",
    title="How the residual variance answers to a bias",
    source=paper("Appendix B", 70),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.mu2_bias_slope, _mu2_slope, evaluate=False),
    domain=spiked(ANY),
    checks=(
        ByDerivation(spike_coefficients.bias_slopes),
        ByNumbers(
            "Cauchy derivative of trapezoidal sums", numbers.slopes, tolerances.QUADRATURE, functions=functions_at
        ),
    ),
    mutants=(
        Mutant("mu1 held fixed", sp.Eq(s.mu2_bias_slope, _mu2_slope + 2 * s.c * mean_of(sigma_prime) * _CURVATURE)),
        Mutant(
            "c forgotten",
            sp.Eq(s.mu2_bias_slope, _mu2_slope + 2 * (s.c - 1) * mean_of(sigma_prime) * _CURVATURE, evaluate=False),
        ),
    ),
)


# --- conditional covariance (62), (63), (67) -------------------------------------------------------------------------

COVARIANCE_SLOPE = Claim(
    id="result-3-2.covariance-to-first-order",
    title="Two neurons of small overlap: the covariance of their features is mu1^2 times the overlap",
    source=paper("Appendix B", 63),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.covariance_slope, s.mu1**2),
    domain=spiked(ANY_ENTIRE),
    checks=(
        ByDerivation(equivalence.conditional_covariance),
        ByNumbers("Cauchy derivative of sums in the plane of two neurons", numbers.pair_slopes, tolerances.QUADRATURE),
    ),
    mutants=(
        Mutant("mu1", sp.Eq(s.covariance_slope, s.mu1)),
        Mutant("c mu1^2", sp.Eq(s.covariance_slope, s.c * s.mu1**2)),
    ),
    uses=("result-3-2.mu1-by-stein", "result-3-2.projected-rows"),
)


COVARIANCE_CURVATURE = Claim(
    id="result-3-2.covariance-to-second-order",
    title="The second order of the covariance is the squared mean of sigma''",
    source=paper("Appendix B, on (63)"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.covariance_curvature, _CURVATURE**2),
    domain=spiked(ANY_ENTIRE),
    checks=(
        ByDerivation(equivalence.conditional_covariance),
        ByNumbers(
            "Cauchy derivative of sums in the plane of two neurons",
            numbers.pair_slopes,
            tolerances.QUADRATURE,
            functions=functions_at,
        ),
    ),
    mutants=(
        Mutant("none", sp.Eq(s.covariance_curvature, sp.S.Zero)),
        Mutant("the mean of sigma''", sp.Eq(s.covariance_curvature, _CURVATURE)),
    ),
)


VARIANCE = Claim(
    id="result-3-2.conditional-variance",
    title="The conditional variance of a feature is c mu1^2 + mu2^2",
    source=paper("Appendix B", 67),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.feature_variance, s.c * s.mu1**2 + s.mu2_square),
    domain=spiked(ANY_ENTIRE, Range(s.spike_overlap, -0.6, 0.6)),
    checks=(
        ByDerivation(equivalence.conditional_covariance),
        ByNumbers("a neuron in R^3, summed over x_perp", numbers.in_space, tolerances.QUADRATURE),
    ),
    mutants=(
        Mutant("no noise", sp.Eq(s.feature_variance, s.c * s.mu1**2)),
        Mutant("noise only", sp.Eq(s.feature_variance, s.mu2_square)),
        Mutant("c forgotten", sp.Eq(s.feature_variance, s.mu1**2 + s.mu2_square)),
    ),
    uses=("result-3-2.residual-variance",),
)


COVARIANCE_GAP = Claim(
    id="result-3-2.covariances-match",
    title="The conditional covariances of the two maps differ by O(1/d)",
    source=paper("Section 3.2 and Appendix B, on (14), (63) and (67)"),
    kind=Kind.LIMIT,
    statement=sp.Eq(s.covariance_gap, s.scaled_overlap**2 / 2 * _CURVATURE**2),
    domain=spiked(ANY_ENTIRE, Range(s.scaled_overlap, 0.5, 2.0)),
    checks=(
        ByDerivation(equivalence.conditional_covariance),
        ByNumbers(
            "sums in the plane of two neurons, extrapolated from d = 10^6",
            numbers.finite_gaps,
            tolerances.ASYMPTOTIC,
            functions=functions_at,
        ),
    ),
    mutants=(
        Mutant("they match better", sp.Eq(s.covariance_gap, sp.S.Zero)),
        Mutant("the 1/2 of Taylor forgotten", sp.Eq(s.covariance_gap, s.scaled_overlap**2 * _CURVATURE**2)),
    ),
    uses=(
        "result-3-2.covariance-to-first-order",
        "result-3-2.covariance-to-second-order",
        "result-3-2.equivalent-covariance",
        "result-3-2.conditional-variance",
    ),
    note="Entries of order 1/d on top of entries of order d^{-1/2}.",
)

CLAIMS: tuple[Claim, ...] = (
    PROJECTION,
    TARGET_VARIANCE,
    MEHLER,
    FEATURE_MEAN,
    MEAN_SLOPE,
    MEAN_CURVATURE,
    MEAN_GAP,
    MU1_BIAS,
    MU2_BIAS,
    COVARIANCE_SLOPE,
    COVARIANCE_CURVATURE,
    VARIANCE,
    COVARIANCE_GAP,
)
