"""Appendix A.4: the correction of the bulk at finite size, and its limit."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.gradient_step import bulk as gradient_bulk
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.bulk import ALONG_W
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, g_prime, sigma, sigma_check, sigma_second
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.second_route.gradient_step import steps
from giantsteps.verify.second_route.grids import INTERPRETATIONS, ODD, TARGETS

STEP = s.eta / s.beta


# --- the bulk (46)-(56) ----------------------------------------------------------------------------------------------

_IN_THE_PLANE = ByNumbers(
    "averages in the plane of theta and w", lambda point: {}, tolerances.ROUNDING, functions=steps.functions_at
)
_SUMS = ByNumbers("trapezoidal sums", steps.numbers_at, tolerances.ROUNDING, functions=steps.functions_at)
_PLANE = Domain(ranges=(Range("activation", choices=ODD), Range("target", choices=TARGETS),
                        Range(s.overlap, -0.9, 0.9)),
                interpretations=INTERPRETATIONS)

_t = sp.Symbol("t", real=True)

_received = ALONG_W


def _in_plane(integrand: sp.Expr) -> Expectation:
    return Expectation(integrand, s.z, _t)


_gradient_term = _in_plane(g_prime(s.z) * sigma_check(_received))

_curvature_term = _in_plane(g(s.z) * sigma_second(_received))

_along = _in_plane(s.z * g(s.z) * sigma_check(_received))

_across = _in_plane(_t * g(s.z) * sigma_check(_received))

STEIN_THETA = claim(
    "result-3-1.mean-correction-along-target", "Stein's lemma for the mean of a row's correction, along theta",
    paper("Appendix A.4", 51),
    eq(_along, _gradient_term + s.overlap * _curvature_term), _PLANE,
    ByDerivation(gradient_bulk.mean_vector),
    _IN_THE_PLANE,
    wrong={"no part along w": _gradient_term, "no part along theta": s.overlap * _curvature_term},
)

STEIN_ACROSS = claim(
    "result-3-1.mean-correction-across-target", "Stein's lemma for the mean of a row's correction, across theta",
    paper("Appendix A.4, on (51)"),
    eq(_across, sp.sqrt(1 - s.overlap**2) * _curvature_term), _PLANE,
    ByDerivation(gradient_bulk.mean_vector),
    _IN_THE_PLANE,
    wrong={"the whole of w": _curvature_term},
)

_curvature = Expectation(sigma_second(s.z), s.z)

_weighted = Expectation(s.z * sigma_check(s.z), s.z)

ZERO_CURVATURE = claim(
    "result-3-1.zero-curvature", "sigma'' has mean zero for sigma odd", paper("Appendix A.4", 52),
    eq(_curvature, 0), steps.ONE_NEURON,
    ByDerivation(gradient_bulk.zero_means),
    _SUMS,
    wrong={"the mean of sigma'": s.h1, "minus the mean of sigma": -Expectation(s.z * sigma(s.z), s.z)},
)

ZERO_CROSS = claim(
    "result-3-1.zero-weighted-mean", "z (sigma' - h1) has mean zero for sigma odd", paper("Appendix A.4", 55),
    eq(_weighted, 0), steps.ONE_NEURON,
    ByDerivation(gradient_bulk.zero_means),
    _SUMS,
    wrong={"h1": s.h1, "h1_check": s.h1_check},
)

_ys = g(s.z) * sigma_check(_received)

_delta_exact = STEP**2 * (
    ((s.d - 2) * _in_plane(_ys**2) + _in_plane(_ys**2 * (s.z**2 + _t**2))) / s.n0
    + (1 - 1 / s.n0) * (_in_plane(s.z * _ys) ** 2 + _in_plane(_t * _ys) ** 2)
)

DELTA_EXACT = claim(
    "result-3-1.row-correction-exact", "E|delta|^2 at finite batch and dimension, at any overlap with the target",
    paper("Appendix A.4", 47, 49),
    eq(s.delta_square_mean, _delta_exact),
    Domain(ranges=(*steps.SMALL.ranges, Range(s.overlap, -0.8, 0.8), Range(s.eta, 0.5, 3.0), Range(s.beta, 0.5, 2.0)),
           interpretations=INTERPRETATIONS),
    ByDerivation(gradient_bulk.row_correction),
    ByNumbers("delta of every batch of a Gauss-Hermite product grid", steps.row_moments, tolerances.QUADRATURE,
              functions=steps.functions_at),
    wrong={
        "d - 1 for d - 2": _delta_exact + STEP**2 * _in_plane(_ys**2) / s.n0,
        "all pairs of samples different": _delta_exact + STEP**2 * _in_plane(_t * _ys) ** 2 / s.n0,
    },
)

_delta_limit = STEP**2 * s.h2_star * s.h1_check / s.alpha0

DELTA_LIMIT = claim(
    "result-3-1.row-correction", "The limit of E|delta|^2", paper("Appendix A.4", 50, 53),
    eq(s.delta_square, _delta_limit), steps.ABSTRACT,
    ByDerivation(gradient_bulk.row_correction), BySimulation("64 rows and one batch, two models", steps.PIECES),
    kind=Kind.LIMIT,
    wrong={
        "a factor h1^2, as on the slides": s.h1**2 * _delta_limit,
        "second moment of sigma'": STEP**2 * s.h2_star * (s.h1_check + s.h1**2) / s.alpha0,
    },
    uses=("result-3-1.row-correction-exact", "result-3-1.mean-correction-along-target",
          "result-3-1.mean-correction-across-target", "result-3-1.zero-curvature"),
)

CROSS_TERM = claim(
    "result-3-1.cross-term", "The cross term 2 w.delta vanishes", paper("Appendix A.4", 48, 54),
    eq(s.delta_cross, 0), steps.ABSTRACT,
    ByDerivation(gradient_bulk.cross_term),
    kind=Kind.CONCENTRATION,
    wrong={"target times slope": STEP * s.h1_star * s.h1, "h1_check": STEP * s.h1_check},
    uses=("result-3-1.zero-weighted-mean",),
)

CLAIMS: tuple[Claim, ...] = (
    STEIN_THETA, STEIN_ACROSS, ZERO_CURVATURE, ZERO_CROSS, DELTA_EXACT, DELTA_LIMIT, CROSS_TERM,
)
