"""Appendix A.4: the correction of the bulk at finite size, and its limit."""

from __future__ import annotations

import sympy as sp

from onestep.derivations.gradient_step import bulk as gradient_bulk
from onestep.derivations.gradient_step.bulk import along_w
from onestep.derivations.language import symbols as s
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import g, g_prime, sigma, sigma_check, sigma_second
from onestep.verify.checks.evaluate import Functions
from onestep.verify.checks.kinds import ByDerivation, ByNumbers, Point
from onestep.verify.checks.simulation import BySimulation
from onestep.verify.claims.sources import paper
from onestep.verify.protocol import tolerances
from onestep.verify.protocol.claim import Claim, Domain, Kind, Mutant, Range
from onestep.verify.second_route.gradient_step.steps import SIZES, pieces, row_moments
from onestep.verify.second_route.grids import (
    INTERPRETATIONS,
    ODD,
    ODD_ENTIRE,
    TARGETS,
    TARGETS_ENTIRE,
    hermite_numbers,
    interpretation,
)

STEP = s.eta / s.beta


def functions_at(point: Point) -> Functions:
    """The activation and target of a point, as implementations of the undefined functions."""
    return interpretation(str(point["activation"]), str(point.get("target", "sin")))


def numbers_at(point: Point) -> dict[str, float]:
    """h1, h2, h1_check, h1*, h2* at a point."""
    return hermite_numbers(str(point["activation"]), str(point.get("target", "sin")))


# Where a witness against a wrong formula is looked for: all roots of the right one and of its mutants are real there.

_ABSTRACT = Domain(
    ranges=(
        Range(s.alpha0, 5.0, 20.0),
        Range(s.h1_star, 0.5, 0.9),
        Range(s.h2_star, 0.8, 1.5),
        Range(s.noise, 0.1, 0.5),
    ),
    interpretations=INTERPRETATIONS,
)


_SMALL = Domain(
    ranges=(
        Range("activation", choices=ODD_ENTIRE),
        Range("target", choices=TARGETS_ENTIRE),
        Range("sizes", choices=SIZES),
    ),
    interpretations=INTERPRETATIONS,
)


_ONE_NEURON = Domain(
    ranges=(Range("activation", choices=ODD), Range("target", choices=TARGETS)), interpretations=INTERPRETATIONS
)


# --- the bulk (46)-(56) ----------------------------------------------------------------------------------------------

_PLANE = Domain(
    ranges=(Range("activation", choices=ODD), Range("target", choices=TARGETS), Range(s.overlap, -0.9, 0.9)),
    interpretations=INTERPRETATIONS,
)


_t = sp.Symbol("t", real=True)


_received = along_w()


def _in_plane(integrand: sp.Expr) -> Expectation:
    return Expectation(integrand, s.z, _t)


_gradient_term = _in_plane(g_prime(s.z) * sigma_check(_received))


_curvature_term = _in_plane(g(s.z) * sigma_second(_received))


_along = _in_plane(s.z * g(s.z) * sigma_check(_received))


_across = _in_plane(_t * g(s.z) * sigma_check(_received))


STEIN_THETA = Claim(
    id="result-3-1.mean-correction-along-target",
    title="Stein's lemma for the mean of a row's correction, along theta",
    source=paper("Appendix A.4", 51),
    kind=Kind.IDENTITY,
    statement=sp.Eq(_along, _gradient_term + s.overlap * _curvature_term, evaluate=False),
    domain=_PLANE,
    checks=(
        ByDerivation(gradient_bulk.mean_vector),
        ByNumbers(
            "averages in the plane of theta and w", lambda point: {}, tolerances.ROUNDING, functions=functions_at
        ),
    ),
    mutants=(
        Mutant("no part along w", sp.Eq(_along, _gradient_term)),
        Mutant("no part along theta", sp.Eq(_along, s.overlap * _curvature_term)),
    ),
)


STEIN_ACROSS = Claim(
    id="result-3-1.mean-correction-across-target",
    title="Stein's lemma for the mean of a row's correction, across theta",
    source=paper("Appendix A.4, on (51)"),
    kind=Kind.IDENTITY,
    statement=sp.Eq(_across, sp.sqrt(1 - s.overlap**2) * _curvature_term, evaluate=False),
    domain=_PLANE,
    checks=(
        ByDerivation(gradient_bulk.mean_vector),
        ByNumbers(
            "averages in the plane of theta and w", lambda point: {}, tolerances.ROUNDING, functions=functions_at
        ),
    ),
    mutants=(Mutant("the whole of w", sp.Eq(_across, _curvature_term)),),
)


_curvature = Expectation(sigma_second(s.z), s.z)


_weighted = Expectation(s.z * sigma_check(s.z), s.z)


ZERO_CURVATURE = Claim(
    id="result-3-1.zero-curvature",
    title="sigma'' has mean zero for sigma odd",
    source=paper("Appendix A.4", 52),
    kind=Kind.IDENTITY,
    statement=sp.Eq(_curvature, 0),
    domain=_ONE_NEURON,
    checks=(
        ByDerivation(gradient_bulk.zero_means),
        ByNumbers("trapezoidal sums", numbers_at, tolerances.ROUNDING, functions=functions_at),
    ),
    mutants=(
        Mutant("the mean of sigma'", sp.Eq(_curvature, s.h1)),
        Mutant("minus the mean of sigma", sp.Eq(_curvature, -Expectation(s.z * sigma(s.z), s.z))),
    ),
)


ZERO_CROSS = Claim(
    id="result-3-1.zero-weighted-mean",
    title="z (sigma' - h1) has mean zero for sigma odd",
    source=paper("Appendix A.4", 55),
    kind=Kind.IDENTITY,
    statement=sp.Eq(_weighted, 0),
    domain=_ONE_NEURON,
    checks=(
        ByDerivation(gradient_bulk.zero_means),
        ByNumbers("trapezoidal sums", numbers_at, tolerances.ROUNDING, functions=functions_at),
    ),
    mutants=(
        Mutant("h1", sp.Eq(_weighted, s.h1)),
        Mutant("h1_check", sp.Eq(_weighted, s.h1_check)),
    ),
)


_ys = g(s.z) * sigma_check(_received)


_delta_exact = STEP**2 * (
    ((s.d - 2) * _in_plane(_ys**2) + _in_plane(_ys**2 * (s.z**2 + _t**2))) / s.n0
    + (1 - 1 / s.n0) * (_in_plane(s.z * _ys) ** 2 + _in_plane(_t * _ys) ** 2)
)


DELTA_EXACT = Claim(
    id="result-3-1.row-correction-exact",
    title="E|delta|^2 at finite batch and dimension, at any overlap with the target",
    source=paper("Appendix A.4", 47, 49),
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.delta_square_mean, _delta_exact, evaluate=False),
    domain=Domain(
        ranges=(*_SMALL.ranges, Range(s.overlap, -0.8, 0.8), Range(s.eta, 0.5, 3.0), Range(s.beta, 0.5, 2.0)),
        interpretations=INTERPRETATIONS,
    ),
    checks=(
        ByDerivation(gradient_bulk.row_correction),
        ByNumbers(
            "delta of every batch of a Gauss-Hermite product grid",
            row_moments,
            tolerances.QUADRATURE,
            functions=functions_at,
        ),
    ),
    mutants=(
        Mutant(
            "d - 1 for d - 2",
            sp.Eq(s.delta_square_mean, _delta_exact + STEP**2 * _in_plane(_ys**2) / s.n0, evaluate=False),
        ),
        Mutant(
            "all pairs of samples different",
            sp.Eq(s.delta_square_mean, _delta_exact + STEP**2 * _in_plane(_t * _ys) ** 2 / s.n0),
        ),
    ),
)


_delta_limit = STEP**2 * s.h2_star * s.h1_check / s.alpha0


DELTA_LIMIT = Claim(
    id="result-3-1.row-correction",
    title="The limit of E|delta|^2",
    source=paper("Appendix A.4", 50, 53),
    kind=Kind.LIMIT,
    statement=sp.Eq(s.delta_square, _delta_limit),
    domain=_ABSTRACT,
    checks=(
        ByDerivation(gradient_bulk.row_correction),
        BySimulation("64 rows and one batch, two models", pieces),
    ),
    mutants=(
        Mutant("a factor h1^2, as on the slides", sp.Eq(s.delta_square, s.h1**2 * _delta_limit)),
        Mutant(
            "second moment of sigma'", sp.Eq(s.delta_square, STEP**2 * s.h2_star * (s.h1_check + s.h1**2) / s.alpha0)
        ),
    ),
    uses=(
        "result-3-1.row-correction-exact",
        "result-3-1.mean-correction-along-target",
        "result-3-1.mean-correction-across-target",
        "result-3-1.zero-curvature",
    ),
)


CROSS_TERM = Claim(
    id="result-3-1.cross-term",
    title="The cross term 2 w.delta vanishes",
    source=paper("Appendix A.4", 48, 54),
    kind=Kind.CONCENTRATION,
    statement=sp.Eq(s.delta_cross, 0),
    domain=_ABSTRACT,
    checks=(ByDerivation(gradient_bulk.cross_term),),
    mutants=(
        Mutant("target times slope", sp.Eq(s.delta_cross, STEP * s.h1_star * s.h1)),
        Mutant("h1_check", sp.Eq(s.delta_cross, STEP * s.h1_check)),
    ),
    uses=("result-3-1.zero-weighted-mean",),
)

CLAIMS: tuple[Claim, ...] = (
    STEIN_THETA,
    STEIN_ACROSS,
    ZERO_CURVATURE,
    ZERO_CROSS,
    DELTA_EXACT,
    DELTA_LIMIT,
    CROSS_TERM,
)
