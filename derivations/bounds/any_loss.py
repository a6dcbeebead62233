r"""Bounds on the test loss over the ridge for any convex loss: (26), (27) and Appendix E without the square.

The output on a new input is f + s xi with f a combination of mu0, kappa mu1 and mu1 z and xi independent of kappa, z
and the label. A convex loss lies above its supporting line at f,

    l(y, f + s xi) = l(y, f) + s xi l'(y, f) + e,   e >= 0,

and the line averages to l(y, f): Jensen's inequality. As the ridge grows f tends to m mu0 and s to zero, with the m
that minimises what is left of the loss.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bounds import ridge as bounds
from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.bounds.assumptions import BASIS, combination, infimum
from giantsteps.derivations.bounds.heavy_ridge import DOMINATED, NOT_ZERO
from giantsteps.derivations.free_energy.along_spike import PAPER, mu0
from giantsteps.derivations.free_energy.sample_energy import LABEL, LABEL_NOISE, TEACHER, beside_label
from giantsteps.derivations.kernel.algebra import instantiate, order, rewrite
from giantsteps.derivations.kernel.averages import average, independent, linear, moment
from giantsteps.derivations.kernel.limits import limit_order
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import rewritten
from giantsteps.derivations.kernel.statements import AtLeast, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, NonNegative, RationalLimit, Step, eq
from giantsteps.derivations.language.expectation import Expectation

SOURCE = f"{PAPER}, Section 4.3 and Appendix E for any convex loss"
loss_of = sp.Function("loss", real=True)
CONVEX = "the loss is convex in the output: it lies above a supporting line at every point, with a finite slope"
INDEPENDENT = (
    "on a new input the output is f + s xi, f a combination of mu0, kappa mu1 and mu1 z (and of dmu0/dc where norms "
    "vary), xi standard normal and independent of kappa, z and the label"
)
SMOOTH = "the loss is twice differentiable with bounded curvature, and slopes that are integrable squared"
BOUNDED = (
    "as the ridge grows lambda V1 and lambda V2, the averages over 1/(1+V) and lambda times their distances from their "
    "limits stay bounded"
)
LIMIT_HYPOTHESES = (CONVEX, SMOOTH, DOMINATED, BOUNDED, NOT_ZERO)

_xi = s.xi
_value = sp.Symbol("l", real=True)


def bound_on_traces() -> tuple[sp.Expr, sp.Expr]:
    """V2 and its lower bound, written with what V1^ and V2^ fall short of their bounds (all quantities >= 0)."""
    short_1, short_2, x = sp.symbols("e_1 e_2 x", nonnegative=True)
    V2 = 1 / (s.ridge + s.V2_hat + s.c * s.V1_hat / (1 + x))
    lower = 1 / (s.ridge + s.V2_hat + short_2 + s.c * (s.V1_hat + short_1))
    return V2, lower


_at, _other = sp.symbols("f f'", real=True)
# Along which the loss is above its value at a point, for each label.
_support = sp.Function("slope of a supporting line", real=True)
SUPPORT = in_model(
    "convex loss",
    AtLeast(loss_of(s.y, _other), loss_of(s.y, _at) + _support(s.y, _at) * (_other - _at)),
    CONVEX,
    s.y,
    _at,
    _other,
)


def jensen(label: sp.Expr, output: sp.Expr, noise: sp.Expr, *variables: sp.Symbol) -> Theorem:
    """E l(y, f + noise) >= l(y, f) for noise that is linear in normal variables: the supporting line at f averages to
    its value there.
    """
    line = instantiate((SUPPORT,), {s.y: label, _at: output, _other: output + noise})
    return averages_expanded(average((line,), variables))


# A new sample: the label with its noise e; what the output has besides a combination, along u, w for the features.
_elsewhere, _feature = sp.symbols("w x", real=True)
_sample = (s.kappa, s.z, LABEL_NOISE)
_coefficients = tuple(BASIS)


def _loss_at(*coefficients: sp.Symbol) -> sp.Expr:
    """The average loss of a combination of mu0, kappa mu1 and mu1 z."""
    return Expectation(loss_of(LABEL, combination(*coefficients)), *_sample)


@functools.cache
def above_infimum() -> tuple[Theorem, ...]:
    """The loss of a readout, without the noise of its output, and the least loss: each is at least the next."""
    readout = (s.m, s.zeta, s.psi)
    noise = beside_label(_elsewhere, _feature)
    quiet = average((jensen(LABEL, combination(*readout), noise, _elsewhere, _feature),), _sample)
    meaning = define(s.test_loss, sides(quiet.statement)[0], "the loss on a new sample, over the noise of the output")
    least = in_model(
        f"infimum, {s.least_loss}",
        AtLeast(_loss_at(*_coefficients), s.least_loss),
        "no combination has a smaller loss than the infimum over the span",
        *_coefficients,
    )
    below = instantiate((least,), dict(zip(_coefficients, readout, strict=True)))
    ones = (sp.Integer(1), sp.Integer(1), sp.Integer(1))
    return quiet, below, order((meaning, quiet, below), AtLeast(s.test_loss, s.least_loss), ones)


@functools.cache
def below_limit() -> Theorem:
    """inf <= limit: at every ridge the test loss is at least its infimum, and it has a limit as the ridge grows."""
    below, _ = infimum(s.test_loss, s.best_loss, "the ridge")
    limit = hypothesis(
        "limit of heavy ridge", Tends(s.test_loss, s.least_loss_means, s.ridge), "bounds.any-loss.heavy-ridge"
    )
    return limit_order((below, limit), s.ridge)


def minimum_over_means() -> NonNegative:
    """E l(y, b mu0) - E l(y, m mu0) = (b - m) E[mu0 l'] + E[e], and the first term vanishes at the stationary m."""
    b, m, force = sp.symbols("b m F", real=True)
    excess = sp.Symbol("E[e]", nonnegative=True)
    at_b = _value + (b - m) * force + excess
    return NonNegative(
        "another multiple of mu0 less the stationary one", (at_b - _value).subs(force, 0), ((excess, 1),)
    )


@functools.cache
def heavy_ridge() -> Derivation:
    """The test loss as the ridge grows is the least loss of a multiple of mu0."""
    curvature_bound, C1, C2 = sp.symbols("K C_1 C_2", nonnegative=True)
    w, w1, w2, curvature = sp.symbols("w w_1 w_2 l''", nonnegative=True)
    H, P, first, second, drift = sp.symbols("H P F_1 F_2 delta", real=True)
    moments = sp.symbols("M'_{22} M'_{12} M'_{02}", nonnegative=True)
    slope = sp.Symbol("l'_0", real=True)
    V2, lower = bound_on_traces()
    short_1, short_2, x = sp.symbols("e_1 e_2 x", nonnegative=True)
    gap = short_2 + s.c * short_1 + s.c * s.V1_hat * x / (1 + x)
    force = -slope / (1 + w / s.ridge * curvature)
    zeta, psi = s.alpha * s.c * (w2 / s.ridge) * H, s.alpha * (w1 / s.ridge) * P
    q1 = (moments[0] * first + moments[1] * second) / s.ridge**2
    q2 = (moments[1] * first + moments[2] * second) / s.ridge**2
    output = s.m + drift / s.ridge
    steps = (
        Step(
            "-df/domega = l''/(1 + V l'') lies between 0 and the bound K of the curvature, so V1^ and V2^ lie between "
            "0 and C_1 = (alpha/beta) K E[mu1^2], C_2 = (alpha/beta) K E[mu2^2], and 1/(lambda + C_2 + c C_1) <= V2 <= "
            "1/lambda; V1 <= c V2.",
            eq(sp.Limit(s.ridge * s.V2, s.ridge, sp.oo), 1),
            NonNegative(
                "K less the slope of the force",
                (curvature + curvature_bound) - curvature / (1 + w * curvature),
                ((curvature_bound, sp.S.One), (w * curvature**2 / (1 + w * curvature), sp.S.One)),
            ),
            NonNegative("V2 exceeds its lower bound", V2 - lower, ((gap * V2 * lower, sp.S.One),)),
            NonNegative("V2 is below 1/lambda", 1 / s.ridge - V2, ((V2 / s.ridge * (1 / V2 - s.ridge), sp.S.One),)),
            RationalLimit("the lower bound times lambda", s.ridge / (s.ridge + C2 + s.c * C1), s.ridge, sp.S.One),
        ),
        Step(
            "The force f = -l'(y, omega + V f) is -l'(y, omega)/(1 + V l'') with l'' at a point between: with V = "
            "w/lambda it tends to minus the slope of the loss at the output itself.",
            eq(s.loss_slope, -force),
            RationalLimit("the force", force, s.ridge, -slope),
        ),
        Step(
            "Forces stay bounded, and zeta = alpha c V2 H, psi = alpha V1 P with H = E[kappa mu1 f] and P the force on "
            "psi vanish like 1/lambda.",
            eq(s.zeta, zeta),
            RationalLimit("zeta vanishes", zeta, s.ridge, sp.S.Zero),
            RationalLimit("psi vanishes", psi, s.ridge, sp.S.Zero),
        ),
        Step(
            "q1 and q2 are second moments of the resolvent, O(1/lambda^2), times bounded squares of forces.",
            eq(s.q2, q2),
            RationalLimit("q1 vanishes", q1, s.ridge, sp.S.Zero),
            RationalLimit("q2 vanishes", q2, s.ridge, sp.S.Zero),
        ),
        Step(
            "So the output tends to m mu0 and E[mu0 f] = 0 to E[mu0 l'(y, m mu0)] = 0. A stationary point of a convex "
            "function is its minimum: m minimises E l(y, m mu0).",
            eq(s.least_loss_means, Expectation(loss_of(s.y, s.m_infinity * mu0), s.kappa)),
            RationalLimit("the output", output, s.ridge, s.m),
            minimum_over_means(),
        ),
        Step(
            "With the loss continuous in the output its average tends to that minimum.",
            eq(s.loss_infinity, s.least_loss_means),
            RationalLimit("the test loss", s.least_loss_means + drift / s.ridge, s.ridge, s.least_loss_means),
        ),
    )
    return Derivation(
        "ridge to infinity, any convex loss",
        SOURCE,
        *steps,
        results={s.loss_infinity: s.least_loss_means},
        hypotheses=LIMIT_HYPOTHESES,
    )


def _half_square(*coefficients: sp.Symbol) -> Theorem:
    """E (y - f)^2/2 = (squared distance + label noise)/2 for a combination f with these coefficients, y noisy."""
    gap = TEACHER - combination(*coefficients)
    variables = (s.kappa, s.z, _xi)
    parts = ((sp.Rational(1, 2), gap**2), (sp.sqrt(s.noise), gap * _xi), (s.noise / 2, _xi**2))
    whole = linear((), Expectation((gap + sp.sqrt(s.noise) * _xi) ** 2 / 2, *variables), parts)
    apart = independent((), Expectation(gap * _xi, *variables), gap, _xi)
    return rewritten(whole, apart, moment((), _xi, 1), moment((), _xi, 2))


@functools.cache
def square() -> Derivation:
    """The square loss: twice its least value less the label noise is the distance from the span."""
    others = sp.symbols("b_1' b_2' b_3'", real=True)
    loss, another = _half_square(*BASIS), _half_square(*others)
    meaning = define(
        s.least_loss, sides(loss.statement)[0], "the loss of the nearest combination on a new input, label noise in it"
    )
    distance = bounds.span().theorem_of(s.distance)
    named = bounds.span().theorems[0]
    by_distance = rewrite((rewrite((meaning, loss)), named), True)
    least = order(
        (another, by_distance, bounds.at_least_distance(others, *BASIS)),
        AtLeast(sides(another.statement)[0], s.least_loss),
        (sp.Integer(1), sp.Integer(-1), sp.Rational(1, 2)),
    )
    result = rewrite((by_distance, distance))
    return Derivation(
        "least square loss",
        SOURCE,
        *bounds.span().steps,
        proved("(y - f)^2/2 on a new input at the nearest combination f.", meaning),
        proved("It averages to half of the squared distance plus half of the label noise;", by_distance),
        proved("so it does for any other combination, and none has less.", least),
        proved("The distance from the span.", result),
    )
