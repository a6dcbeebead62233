r"""Bounds on the test error over the ridge penalty: Section 4.3 and Appendix E, equations (26)-(27), (165)-(172).

As the ridge grows all order parameters but m vanish and the test error becomes the squared distance of the target from
the line through mu0: an upper bound on the infimum. Whatever the ridge, the prediction lies in the span of mu0,
kappa mu1 and mu1 z, plus something uncorrelated: a lower bound.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bounds import symbols as s
from onestep.derivations.free_energy.along_spike import PAPER, mu0, mu1, mu2, over_kappa, squared_residual, y0, y1, y2
from onestep.derivations.language.derivation import Derivation, NonNegative, RationalLimit, Step, Vanishing, eq, ge
from onestep.derivations.language.expectation import expand_expectations
from onestep.derivations.language.inequalities import ONE_READOUT, for_vectors

APPENDIX_E = f"{PAPER}, Appendix E"
NOT_ZERO = "mu0 is not zero"
BOUNDED = (
    "as the ridge grows lambda V1 and lambda V2, the averages over 1/(1+V) and lambda times their distances from their "
    "limits stay bounded"
)
DOMINATED = "limits and the average over kappa are exchanged: 0 < 1/(1+V) <= 1 and the rest is integrable"

# Averages that the linear equations are made of, as numbers while the ridge grows.
A = sp.Symbol("A", positive=True)  # E[mu0^2/(1+V)], positive unless mu0 = 0
B, D, F, H, P = sp.symbols("B D F H P", real=True)
w1, w2 = sp.symbols("w_1 w_2", nonnegative=True)  # lambda V1 and lambda V2, bounded


def bound_on_traces() -> tuple[sp.Expr, sp.Expr]:
    """V2 and its lower bound, written with what V1^ and V2^ fall short of their bounds (all quantities >= 0)."""
    short_1, short_2, x = sp.symbols("e_1 e_2 x", nonnegative=True)
    V2 = 1 / (s.ridge + s.V2_hat + s.c * s.V1_hat / (1 + x))
    lower = 1 / (s.ridge + s.V2_hat + short_2 + s.c * (s.V1_hat + short_1))
    return V2, lower


def _traces_step() -> Step:
    V2, lower = bound_on_traces()
    short_1, short_2, x = sp.symbols("e_1 e_2 x", nonnegative=True)
    gap = short_2 + s.c * short_1 + s.c * s.V1_hat * x / (1 + x)
    C1, C2 = sp.symbols("C_1 C_2", nonnegative=True)
    return Step(
        "0 <= V1^ <= C_1 = (alpha/beta) E[mu1^2] and 0 <= V2^ <= C_2 = (alpha/beta) E[mu2^2] whatever the ridge, so "
        "1/(lambda + C_2 + c C_1) <= V2 <= 1/lambda: lambda V2 -> 1, and V1 <= c V2 vanishes with it.",
        eq(sp.Limit(s.ridge * s.V2, s.ridge, sp.oo), 1),
        NonNegative("V2 exceeds its lower bound", V2 - lower, ((gap * V2 * lower, sp.S.One),)),
        NonNegative("V2 is below 1/lambda", 1 / s.ridge - V2, ((V2 / s.ridge * (1 / V2 - s.ridge), sp.S.One),)),
        RationalLimit("the lower bound times lambda", s.ridge / (s.ridge + C2 + s.c * C1), s.ridge, sp.S.One),
    )


def heavy_ridge_readout() -> tuple[sp.Expr, sp.Expr]:
    """m and zeta from their two linear equations, V2 = w2/lambda, averages over 1/(1+V) written A, B, D, F, H."""
    m, zeta = sp.symbols("m zeta", real=True)
    solution = sp.solve(
        [A * m + B * zeta - F, zeta - s.alpha * s.c * (w2 / s.ridge) * (H - B * m - D * zeta)], [m, zeta], dict=True
    )[0]
    return sp.factor(solution[m]), sp.factor(solution[zeta])


def heavy_ridge_sizes() -> tuple[sp.Expr, sp.Expr]:
    """q1 and q2 from a linear system with second moments of the resolvent, M = M'/lambda^2, and forces affine in q."""
    q1, q2 = sp.symbols("q_1 q_2", real=True)
    moments = sp.symbols("M'_{22} M'_{12} M'_{02}", nonnegative=True)
    f1, f2, g11, g12, g22 = sp.symbols("f_1 f_2 g_11 g_12 g_22", real=True)
    force = (f1 + g11 * q1 + g12 * q2, f2 + g12 * q1 + g22 * q2)
    sizes = sp.solve(
        [
            s.ridge**2 * q1 - moments[0] * force[0] - moments[1] * force[1],
            s.ridge**2 * q2 - moments[1] * force[0] - moments[2] * force[1],
        ],
        [q1, q2],
        dict=True,
    )[0]
    return sizes[q1], sizes[q2]


def error_near_infinity(m_limit: sp.Expr) -> sp.Expr:
    """The test error where m is off its limit by O(1/lambda) and all else vanishes, as a function of lambda."""
    error = over_kappa(squared_residual) - s.noise
    dm, dzeta, dpsi, dq1, dq2 = sp.symbols("delta_m delta_zeta delta_psi delta_1 delta_2", real=True)
    near = {
        s.m: s.m_infinity + dm / s.ridge,
        s.zeta: dzeta / s.ridge,
        s.psi: dpsi / s.ridge,
        s.q1: dq1 / s.ridge**2,
        s.q2: dq2 / s.ridge**2,
    }
    return expand_expectations(error.subs(near, simultaneous=True)).subs(s.m_infinity, m_limit)


@functools.cache
def heavy_ridge() -> Derivation:
    """Equations (165)-(168): order parameters and test error as lambda -> infinity."""
    m, zeta = heavy_ridge_readout()
    psi = s.alpha * (w1 / s.ridge) * P
    q1, q2 = heavy_ridge_sizes()
    m_limit = over_kappa(mu0 * y0) / over_kappa(mu0**2)
    A0, A1 = sp.symbols("A_0 A_1", positive=True)
    F0, F1 = sp.symbols("F_0 F_1", real=True)
    slow_averages = {A: A0 + A1 / s.ridge, F: F0 + F1 / s.ridge}
    slow = error_near_infinity(m_limit)
    result = heavy_ridge_error()
    named = {over_kappa(mu0**2): sp.Symbol("|\\mu_0|^2", positive=True)}
    pointwise = sp.Symbol("w", nonnegative=True)
    steps = (
        _traces_step(),
        Step(
            "So V(kappa) = w/lambda with w bounded by c mu1^2 + mu2^2, and 1/(1+V) -> 1 under every average.",
            eq(sp.Limit(1 / (1 + pointwise / s.ridge), s.ridge, sp.oo), 1),
            RationalLimit("1/(1+V) at a point", 1 / (1 + pointwise / s.ridge), s.ridge, sp.S.One),
        ),
        Step(
            "m and zeta solve A m + B zeta = F and zeta = alpha c V2 (H - B m - D zeta), with A = E[mu0^2/(1+V)], "
            "B = E[kappa mu0 mu1/(1+V)], D = E[kappa^2 mu1^2/(1+V)], F = E[mu0 y0/(1+V)], H = E[kappa mu1 y0/(1+V)].",
            eq(s.m, m),
            RationalLimit("m tends to F/A", m, s.ridge, F / A),
            RationalLimit("zeta vanishes", zeta, s.ridge, sp.S.Zero),
        ),
        Step(
            "psi = alpha V1 P with P = E[mu1 y1/(1+V)] vanishes like 1/lambda.",
            eq(s.psi, psi),
            RationalLimit("psi vanishes", psi, s.ridge, sp.S.Zero),
        ),
        Step(
            "q1 and q2 are second moments of the resolvent, O(1/lambda^2), times forces that are affine in q1 and q2.",
            eq(s.q2, q2),
            RationalLimit("q1 vanishes", q1, s.ridge, sp.S.Zero),
            RationalLimit("q2 vanishes", q2, s.ridge, sp.S.Zero),
        ),
        Step(
            "With 1/(1+V) -> 1, F/A becomes the coefficient of the projection on mu0, equation (165).",
            eq(s.m_infinity, m_limit),
            RationalLimit(
                "m, with corrections to the averages of order 1/lambda", m.subs(slow_averages), s.ridge, F0 / A0
            ),
            Vanishing(
                "F/A with 1/(1+V) = 1", (F0 / A0).subs({A0: over_kappa(mu0**2), F0: over_kappa(mu0 * y0)}) - m_limit
            ),
        ),
        Step(
            "The test error E[e2] - Delta tends to the squared distance of the target from the line through mu0, "
            "equation (168).",
            eq(s.error_infinity, result),
            RationalLimit("the test error", slow.subs(named), s.ridge, result.subs(named)),
        ),
    )
    return Derivation(
        "ridge to infinity",
        f"{APPENDIX_E}, (165)-(168)",
        *steps,
        results={s.m_infinity: m_limit, s.error_infinity: result},
        hypotheses=(DOMINATED, BOUNDED, NOT_ZERO),
    )


def heavy_ridge_error() -> sp.Expr:
    """E[e2] - Delta at zeta = psi = q1 = q2 = 0 and m at its limit."""
    at_zero = over_kappa(squared_residual).subs({s.zeta: 0, s.psi: 0, s.q1: 0, s.q2: 0})
    limit = over_kappa(mu0 * y0) / over_kappa(mu0**2)
    return sp.expand(expand_expectations(at_zero).subs(s.m, limit)) - s.noise


def distance_to(coefficients: tuple[sp.Symbol, ...]) -> sp.Expr:
    """E(g - b1 mu0 - b2 kappa mu1 - b3 mu1 z)^2 for the coefficients given, the rest zero; label moments inserted."""
    b1, b2, b3 = (*coefficients, *(sp.S.Zero,) * (3 - len(coefficients)))
    along = b1 * mu0 + b2 * s.kappa * mu1
    integrand = y2 - s.noise - 2 * y0 * along + along**2 - 2 * b3 * mu1 * y1 + b3**2 * mu1**2
    return expand_expectations(over_kappa(integrand))


@functools.cache
def projection() -> Derivation:
    """Equations (26), (167): the best multiple of mu0, and the distance that it leaves."""
    objective = distance_to((s.b1,))
    (best,) = sp.solve(sp.diff(objective, s.b1), s.b1)
    least = sp.expand(objective.subs(s.b1, best))
    norm = sp.Symbol("|\\mu_0|^2", positive=True)  # E[mu0^2] > 0 unless mu0 = 0
    named = (objective - least).subs(over_kappa(mu0**2), norm)
    steps = (
        Step("The squared distance of the target from b mu0.", eq(s.distance, objective)),
        Step(
            "It is quadratic in b and least at the projection, which is the limit of m.",
            eq(s.b1, best),
            Vanishing("the derivative vanishes", sp.diff(objective, s.b1).subs(s.b1, best)),
            NonNegative("the rest is a square", named, ((norm, s.b1 - over_kappa(mu0 * y0) / norm),)),
        ),
        Step("What it leaves.", eq(s.distance, least)),
    )
    return Derivation(
        "projection on mu0",
        f"{APPENDIX_E}, (167)-(169)",
        *steps,
        results={s.b1: best, s.distance: least},
    )


@functools.cache
def span() -> Derivation:
    """Equations (27), (31): the distance of the target from the span of mu0, kappa mu1 and mu1 z."""
    coefficients = (s.b1, s.b2, s.b3)
    objective = distance_to(coefficients)
    best = sp.solve([sp.diff(objective, x) for x in coefficients], coefficients, dict=True)[0]
    least = sp.expand(objective.subs(best))
    a, b, c = over_kappa(mu0**2), over_kappa(s.kappa * mu0 * mu1), over_kappa(s.kappa**2 * mu1**2)
    steps = (
        Step(
            "Any readout predicts a combination of mu0, kappa mu1 and mu1 z, up to noise; the distance of the "
            "target from their span.",
            eq(s.distance, objective),
        ),
        Step(
            "The normal equations; mu1 z is orthogonal to the other two because z is centred and independent of kappa.",
            eq(s.b3, best[s.b3]),
            *tuple(
                Vanishing(f"the derivative in {x} vanishes", sp.diff(objective, x).subs(best)) for x in coefficients
            ),
        ),
        Step(
            "What they leave: |g|^2 less the projections.",
            eq(s.distance, least),
            Vanishing(
                "the second variation is the Gram matrix of the three functions",
                sp.Matrix(sp.hessian(objective, coefficients)).det() / 8 - (a * c - b**2) * over_kappa(mu1**2),
            ),
        ),
    )
    return Derivation(
        "distance from the span",
        f"{PAPER}, Section 4.3, (27), (31)",
        *steps,
        results={**best, s.distance: least},
    )


def error_above_span() -> sp.Expr:
    """Test error less the distance at b = (m, zeta, psi): what the readout's noise costs."""
    at_readout = distance_to((s.m, s.zeta, s.psi))
    return expand_expectations(over_kappa(squared_residual) - s.noise - at_readout)


@functools.cache
def lower_bound() -> Derivation:
    """Equations (170)-(172): the test error is never below the distance from the span."""
    error = expand_expectations(over_kappa(squared_residual) - s.noise)
    gap = error_above_span()
    result = expand_expectations(over_kappa(mu1**2)) * s.excess + over_kappa(mu2**2) * s.q2
    steps = (
        Step(
            "The test error is the distance from the span at b = (m, zeta, psi) plus the noise of the readout.",
            eq(s.test_error - s.distance, gap),
            Vanishing("the rest", gap.subs(s.q1, s.excess + s.psi**2) - result),
        ),
        Step(
            "q1 >= psi^2 by Cauchy-Schwarz, equation (170): with u = Pi W^T a/sqrt(p) they are |u|^2 and the square of "
            "u.theta_perp, |theta_perp| = 1.",
            ge(s.q1 - s.psi**2, 0),
            *for_vectors(),
        ),
        Step(
            "So the test error is E[e2] less the label noise, with what it exceeds the distance by.",
            eq(s.test_error, error),
            Vanishing(
                "distance plus the rest",
                (error - distance_to((s.m, s.zeta, s.psi))).subs(s.q1, s.excess + s.psi**2) - result,
            ),
        ),
        Step(
            "Both terms of the rest are non-negative.",
            ge(s.test_error, s.distance),
            NonNegative(
                "the rest",
                result,
                ((over_kappa(mu1**2) * s.excess, sp.S.One), (over_kappa(mu2**2) * s.q2, sp.S.One)),
            ),
        ),
    )
    return Derivation(
        "lower bound",
        f"{APPENDIX_E}, (170)-(172)",
        *steps,
        results={s.test_error: error},
        hypotheses=(ONE_READOUT,),
    )
