"""Appendix B: mean and covariance of features given the projection on the spike."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.equivalence import conditional_coefficients
from giantsteps.derivations.equivalence import equivalent_map as equivalence
from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_prime, sigma_second
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.equivalence.result_3_2 import BY_SERIES, SERIES, mean_of, series, spiked, squares
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.second_route.equivalence import features as numbers
from giantsteps.verify.second_route.gradient_step.steps import functions_at
from giantsteps.verify.second_route.grids import ANY, ANY_ENTIRE

_SEEDED = Domain(ranges=(Range("seed"),))

_CURVATURE = mean_of(sigma_second)

# --- the decomposition (60), (81) ------------------------------------------------------------------------------------

PROJECTION = claim(
    "result-3-2.projected-rows", "Covariance of two neurons' inputs across the spike",
    paper("Appendix B, on (60) and (61)"),
    eq(s.projected_product, s.row_product - s.spike_overlap * s.other_overlap), _SEEDED,
    ByDerivation(equivalence.projection),
    ByNumbers("random vectors and the projector as a matrix", numbers.projected_rows, tolerances.ROUNDING),
    wrong={
        "not projected": s.row_product,
        "projected twice as far": s.row_product - 2 * s.spike_overlap * s.other_overlap,
    },
)

TARGET_VARIANCE = claim(
    "result-3-2.target-across-spike", "The variance of the target's direction across the spike",
    paper("Appendix B and C", 81),
    eq(s.rho, 1 - s.gamma**2), _SEEDED,
    ByDerivation(equivalence.projection),
    ByNumbers("random vectors and the projector as a matrix", numbers.projected_rows, tolerances.ROUNDING),
    wrong={"gamma for gamma^2": 1 - s.gamma, "a standard deviation": sp.sqrt(1 - s.gamma**2)},
)

_mehler = sum((c**2 * s.correlation**k for k, c in enumerate(series) if k), sp.S.Zero)

MEHLER = claim(
    "result-3-2.covariance-by-mehler",
    "Covariance of two features at any correlation of their inputs: features of degree at most 5",
    paper("Appendix B, on (62) and (63)"),
    eq(s.pair_covariance, _mehler), SERIES,
    *BY_SERIES,
    wrong={
        "linear terms only": series[1] ** 2 * s.correlation,
        "every term linear in the correlation": s.correlation * (squares + series[1] ** 2),
    },
)

# --- conditional mean (61)-(64), (68) --------------------------------------------------------------------------------

_exact_mean = Expectation(sigma(s.kappa * (s.r + s.spike_overlap) + sp.sqrt(s.c - s.spike_overlap**2) * s.z), s.z)

FEATURE_MEAN = claim(
    "result-3-2.conditional-mean", "The conditional mean of a feature at any overlap with the spike",
    paper("Appendix B", 61, 62, 64),
    eq(s.feature_mean, _exact_mean), spiked(ANY_ENTIRE, Range(s.spike_overlap, -0.6, 0.6)),
    ByDerivation(equivalence.conditional_mean),
    ByNumbers("a neuron in R^3, summed over x_perp", numbers.in_space, tolerances.QUADRATURE, functions=functions_at),
    wrong={
        "variance c, the loss to v forgotten": _exact_mean.xreplace({s.spike_overlap**2: sp.S.Zero}),
        "overlap forgotten": mean_of(sigma),
    },
)

MEAN_SLOPE = claim(
    "result-3-2.mean-to-first-order", "A neuron's overlap with the spike shifts its mean by kappa mu1",
    paper("Appendix B", 68, 71),
    eq(s.feature_mean_slope, s.kappa * s.mu1), spiked(ANY),
    ByDerivation(equivalence.conditional_mean),
    ByNumbers("Cauchy derivative of trapezoidal sums", numbers.mean_slopes, tolerances.QUADRATURE),
    wrong={"dropped, as on the slides": sp.S.Zero, "r kappa mu1": s.r * s.kappa * s.mu1, "mu1": s.mu1},
    uses=("result-3-2.conditional-mean", "result-3-2.mu1-by-stein"),
    note="This is the term kappa mu1 W v of the equivalent map; without it there is no zeta.",
)

MEAN_CURVATURE = claim(
    "result-3-2.mean-to-second-order",
    "The second-order shift of a neuron's mean is He_2(kappa) times the mean of sigma''", paper("Appendix B, on (68)"),
    eq(s.feature_mean_curvature, (s.kappa**2 - 1) * _CURVATURE), spiked(ANY),
    ByDerivation(equivalence.conditional_mean),
    ByNumbers("Cauchy derivative of trapezoidal sums", numbers.mean_slopes, tolerances.QUADRATURE,
              functions=functions_at),
    wrong={"the loss of variance forgotten": s.kappa**2 * _CURVATURE, "variance gained": (s.kappa**2 + 1) * _CURVATURE},
    uses=("result-3-2.conditional-mean",),
)

MEAN_GAP = claim(
    "result-3-2.means-match", "The conditional means of the two maps differ by O(1/d)",
    paper("Section 3.2 and Appendix B", 73),
    eq(s.mean_gap, s.scaled_overlap**2 / 2 * (s.kappa**2 - 1) * _CURVATURE),
    spiked(ANY, Range(s.scaled_overlap, 0.5, 2.0)),
    ByDerivation(equivalence.conditional_mean),
    ByNumbers("trapezoidal sums, extrapolated from d = 10^6", numbers.finite_gaps, tolerances.ASYMPTOTIC,
              functions=functions_at, finite_size=True),
    kind=Kind.LIMIT,
    wrong={
        "they match better": sp.S.Zero,
        "the 1/2 of Taylor forgotten": s.scaled_overlap**2 * (s.kappa**2 - 1) * _CURVATURE,
    },
    uses=("result-3-2.mean-to-first-order", "result-3-2.mean-to-second-order", "result-3-2.equivalent-mean"),
    note="sqrt(d) times the difference vanishes: nothing of the order of the kept term kappa mu1 W v is left out.",
)

# --- biases (69), (70) -----------------------------------------------------------------------------------------------

MU1_BIAS = claim(
    "result-3-2.mu1-to-first-order", "The linear coefficient answers to a bias by the mean of sigma''",
    paper("Appendix B", 69),
    eq(s.mu1_bias_slope, _CURVATURE), spiked(ANY),
    ByDerivation(conditional_coefficients.bias_slopes),
    ByNumbers("Cauchy derivative of trapezoidal sums", numbers.slopes, tolerances.QUADRATURE, functions=functions_at),
    wrong={"half of it": _CURVATURE / 2, "mu1": mean_of(sigma_prime)},
)

_argument = s.r * s.kappa + sp.sqrt(s.c) * s.z

_mu2_slope = (
    2 * Expectation(sigma(_argument) * sigma_prime(_argument), s.z)
    - 2 * mean_of(sigma) * mean_of(sigma_prime)
    - 2 * s.c * mean_of(sigma_prime) * _CURVATURE
)

MU2_BIAS = claim(
    "result-3-2.mu2-to-first-order", "How the residual variance answers to a bias", paper("Appendix B", 70),
    eq(s.mu2_bias_slope, _mu2_slope), spiked(ANY),
    ByDerivation(conditional_coefficients.bias_slopes),
    ByNumbers("Cauchy derivative of trapezoidal sums", numbers.slopes, tolerances.QUADRATURE, functions=functions_at),
    wrong={
        "mu1 held fixed": _mu2_slope + 2 * s.c * mean_of(sigma_prime) * _CURVATURE,
        "c forgotten": _mu2_slope + 2 * (s.c - 1) * mean_of(sigma_prime) * _CURVATURE,
    },
)

# --- conditional covariance (62), (63), (67) -------------------------------------------------------------------------

COVARIANCE_SLOPE = claim(
    "result-3-2.covariance-to-first-order",
    "Two neurons of small overlap: the covariance of their features is mu1^2 times the overlap",
    paper("Appendix B", 63),
    eq(s.covariance_slope, s.mu1**2), spiked(ANY_ENTIRE),
    ByDerivation(equivalence.conditional_covariance),
    ByNumbers("Cauchy derivative of sums in the plane of two neurons", numbers.pair_slopes, tolerances.QUADRATURE),
    wrong={"mu1": s.mu1, "c mu1^2": s.c * s.mu1**2},
    uses=("result-3-2.mu1-by-stein", "result-3-2.projected-rows"),
)

COVARIANCE_CURVATURE = claim(
    "result-3-2.covariance-to-second-order", "The second order of the covariance is the squared mean of sigma''",
    paper("Appendix B, on (63)"),
    eq(s.covariance_curvature, _CURVATURE**2), spiked(ANY_ENTIRE),
    ByDerivation(equivalence.conditional_covariance),
    ByNumbers("Cauchy derivative of sums in the plane of two neurons", numbers.pair_slopes, tolerances.QUADRATURE,
              functions=functions_at),
    wrong={"none": sp.S.Zero, "the mean of sigma''": _CURVATURE},
)

VARIANCE = claim(
    "result-3-2.conditional-variance", "The conditional variance of a feature is c mu1^2 + mu2^2",
    paper("Appendix B", 67),
    eq(s.feature_variance, s.c * s.mu1**2 + s.mu2_square), spiked(ANY_ENTIRE, Range(s.spike_overlap, -0.6, 0.6)),
    ByDerivation(equivalence.conditional_covariance),
    ByNumbers("a neuron in R^3, summed over x_perp", numbers.in_space, tolerances.QUADRATURE),
    wrong={"no noise": s.c * s.mu1**2, "noise only": s.mu2_square, "c forgotten": s.mu1**2 + s.mu2_square},
    uses=("result-3-2.residual-variance",),
)

COVARIANCE_GAP = claim(
    "result-3-2.covariances-match", "The conditional covariances of the two maps differ by O(1/d)",
    paper("Section 3.2 and Appendix B, on (14), (63) and (67)"),
    eq(s.covariance_gap, s.scaled_overlap**2 / 2 * _CURVATURE**2),
    spiked(ANY_ENTIRE, Range(s.scaled_overlap, 0.5, 2.0)),
    ByDerivation(equivalence.conditional_covariance),
    ByNumbers("sums in the plane of two neurons, extrapolated from d = 10^6", numbers.finite_gaps,
              tolerances.ASYMPTOTIC, functions=functions_at, finite_size=True),
    kind=Kind.LIMIT,
    wrong={"they match better": sp.S.Zero, "the 1/2 of Taylor forgotten": s.scaled_overlap**2 * _CURVATURE**2},
    uses=("result-3-2.covariance-to-first-order", "result-3-2.covariance-to-second-order",
          "result-3-2.equivalent-covariance", "result-3-2.conditional-variance"),
    note="Entries of order 1/d on top of entries of order d^{-1/2}.",
)

CLAIMS: tuple[Claim, ...] = (
    PROJECTION, TARGET_VARIANCE, MEHLER, FEATURE_MEAN, MEAN_SLOPE, MEAN_CURVATURE, MEAN_GAP, MU1_BIAS, MU2_BIAS,
    COVARIANCE_SLOPE, COVARIANCE_CURVATURE, VARIANCE, COVARIANCE_GAP,
)
