"""The upper bound in closed form: erf learning erf, sign learning sign (Section 4.3, Appendix E)."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bounds import closed_form as bounds_closed_form
from giantsteps.derivations.bounds import symbols as s
from giantsteps.numerics.bounds import ridge as numeric_bounds
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import ASYMPTOTIC, MINIMUM, QUADRATURE
from giantsteps.verify.second_route.grids import normal_line

SECTION, APPENDIX = "Section 4.3", "Appendix E"


def _closed_form_claims() -> tuple[Claim, ...]:
    slope = s.r / sp.sqrt(1 + 2 * s.c)
    ratio = sp.asin(2 * slope**2 / (1 + 2 * slope**2))
    part = sp.asin(2 * slope / (sp.sqrt(3) * sp.sqrt(1 + 2 * slope**2)))
    erf_upper = 2 / sp.pi * sp.asin(sp.Rational(2, 3)) - 2 / sp.pi * part**2 / ratio
    sign_ranges = (Range(s.r, 0.2, 3.0), Range(s.c, 0.5, 2.0), Range(s.gamma, 0.1, 0.95))
    sign_overlap = 2 / sp.pi * sp.asin(s.gamma * s.r / sp.sqrt(s.c + s.r**2))
    sign_norm = 2 / sp.pi * sp.asin(s.r**2 / (s.c + s.r**2))
    return (
        claim(
            "bounds.erf-upper", "Upper bound for erf learning erf, in closed form", paper(SECTION),
            eq(s.error_infinity, erf_upper), Domain((Range(s.r, 0.2, 3.0), Range(s.c, 0.5, 2.0)), ("gamma = 1",)),
            ByDerivation(bounds_closed_form.erf_target), _upper_of("erf(z)"),
            uses=("bounds.error-infinity",),
        ),
        claim(
            "bounds.erf-perfect-spike", "Perfect learning: the spike at which mu0 of erf is erf", paper(SECTION),
            eq(s.spike_perfect, sp.sqrt(1 + 2 * s.c)), Domain((Range(s.c, 0.6, 1.8),), ("gamma = 1",)),
            ByDerivation(bounds_closed_form.perfect_spike),
            ByNumbers("minimising the upper bound over the spike", _best_spike, MINIMUM, points=4),
            uses=("bounds.erf-upper",),
        ),
        claim(
            "bounds.erf-perfect-rate", "Perfect learning: the learning rate, in the limit of large alpha0",
            paper(SECTION),
            eq(s.eta_perfect, 3 * sp.sqrt(3) * sp.pi / 4 * s.beta),
            Domain((Range(s.beta, 0.3, 3.0, log=True),), ("alpha0 -> infinity, so that gamma = c = 1",)),
            ByDerivation(bounds_closed_form.perfect_rate),
            ByNumbers("the rate of a batch of 1e5 samples per dimension", _perfect_rate, ASYMPTOTIC, finite_size=True),
            kind=Kind.LIMIT, uses=("bounds.erf-perfect-spike",),
        ),
        claim(
            "bounds.sign-overlap", "Overlap of a sign target with mu0 of sign, any alignment", paper(APPENDIX),
            eq(s.target_overlap, sign_overlap), Domain(sign_ranges),
            ByDerivation(bounds_closed_form.sign_target),
            ByNumbers("erf by the trapezoidal rule", _sign_averages, QUADRATURE),
        ),
        claim(
            "bounds.sign-norm", "Norm of mu0 of sign", paper(APPENDIX),
            eq(s.student_norm, sign_norm), Domain(sign_ranges),
            ByDerivation(bounds_closed_form.sign_target),
            ByNumbers("erf by the trapezoidal rule", _sign_averages, QUADRATURE),
        ),
        claim(
            "bounds.sign-upper", "Upper bound for sign learning sign, in closed form, any alignment", paper(APPENDIX),
            eq(s.error_infinity, 1 - sign_overlap**2 / sign_norm), Domain(sign_ranges),
            ByDerivation(bounds_closed_form.sign_target), _upper_of("sign(z)"),
            uses=("bounds.sign-overlap", "bounds.sign-norm", "bounds.error-infinity"),
        ),
        _same_line("erf", sp.erf(s.r * s.kappa / sp.sqrt(1 + 2 * s.c)), 2 * s.r**2 / (1 + 2 * s.c)),
        _same_line("sign", sp.erf(s.r * s.kappa / sp.sqrt(2 * s.c)), s.r**2 / s.c),
    )


def _same_line(name: str, mean: sp.Expr, factor: sp.Expr) -> Claim:
    slope = sp.diff(mean, s.kappa) / s.r
    statement = eq(s.mu1_slope, -factor * s.kappa * slope)
    return claim(
        f"bounds.{name}-same-line", f"For {name} the derivative of mu1 and kappa mu1 span the same line",
        paper(SECTION),
        statement, Domain((Range(s.r, 0.3, 2.0), Range(s.c, 0.5, 2.0), Range(s.kappa, -2.0, 2.0))),
        ByDerivation(partial(bounds_closed_form.same_line, name)),
        note="For other activations the two differ: the basis function of the lower bound is kappa mu1.",
    )


def _upper_bound(text: str, spike: float, bulk: float, alignment: float = 1.0) -> float:
    """The upper bound of one activation learning itself, by the numerics' quadrature."""
    function = activation(text)
    return numeric_bounds.upper_bound(
        Model(function, function, 1.0, 1.0, 1.0, spike=spike, bulk=bulk, alignment=alignment)
    )


def _upper_of(text: str) -> ByNumbers:
    def measure(point: Point) -> Mapping[str, float]:
        gamma = float(point.get(s.gamma.name, 1.0))
        return {s.error_infinity.name: _upper_bound(text, float(point[s.r.name]), float(point[s.c.name]), gamma)}

    return ByNumbers(f"the upper bound by quadrature for {text}", measure, QUADRATURE)


def _best_spike(point: Point) -> Mapping[str, float]:
    """Where the upper bound of erf learning erf is least, by golden sections in the spike."""
    low, high = 0.5, 4.0
    inverse_golden = (np.sqrt(5) - 1) / 2
    for _ in range(40):
        first, second_ = high - inverse_golden * (high - low), low + inverse_golden * (high - low)
        at = [_upper_bound("erf(z)", float(r), float(point[s.c.name])) for r in (first, second_)]
        low, high = (low, second_) if at[0] <= at[1] else (first, high)
    return {s.spike_perfect.name: (low + high) / 2}


def _perfect_rate(point: Point) -> Mapping[str, float]:
    """eta with r^2 = 1 + 2 c at alpha0 = 1e5, r and c of Result 3.1, constants by quadrature."""
    of, alpha0 = hermite_constants(activation("erf(z)")), 1e5
    spike = of.h1**2 * (of.h1**2 + of.h2 / alpha0)
    bulk = of.h2 * of.h1_check / alpha0
    return {s.eta_perfect.name: float(np.sqrt(3.0 / (spike - 2 * bulk)) * float(point[s.beta.name]))}


def _sign_averages(point: Point) -> Mapping[str, float]:
    """E[y0 mu0] and E[mu0^2] for sign, whose means are probabilities: P(w > 0) - P(w < 0) by scipy's normal law."""
    from scipy.special import ndtr

    r, c, gamma = (float(point[x.name]) for x in (s.r, s.c, s.gamma))
    kappa, weight = normal_line(0.005)
    student = 2 * ndtr(r * kappa / np.sqrt(c)) - 1
    target = 2 * ndtr(gamma * kappa / np.sqrt(1 - gamma**2)) - 1
    return {s.target_overlap.name: float(weight @ (target * student)), s.student_norm.name: float(weight @ student**2)}


CLAIMS: tuple[Claim, ...] = _closed_form_claims()
