"""Ridge regression in high dimensions: the fixed point by leaving a sample out, and what follows from it.

With G = (X^T X/T + l)^-1 and t = tr G/D, Sherman and Morrison's formula gives l t + a q/(1 + q) = 1, where
q = x.G' x/T is taken at a sample that G' has not seen, which concentrates at t D/(T - 1) -> t/a.
"""

from __future__ import annotations

from functools import cache

import sympy as sp

from giantsteps.derivations.kernel.limits import limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import proved
from giantsteps.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from tests.verify.second_paper import symbols as s

GAUSSIAN = "inputs have independent standard normal coordinates"
TITLE = "ridge regression in high dimensions"

_b = 1 + s.ratio * s.ridge - s.ratio
EFFECTIVE = (_b + sp.sqrt(_b**2 + 4 * s.ratio**2 * s.ridge)) / (2 * s.ratio)
# The ridge as a function of the effective one; rational, unlike its inverse.
RIDGE_OF = s.effective * (1 - 1 / (s.ratio * (1 + s.effective)))
# What one sample more or less leaves of the variance: tr (X^T X/T) G^2 / T with one more factor.
SHARE = 1 / (s.ratio * (1 + s.effective) ** 2)
BIAS = s.signal * s.effective**2 / (1 + s.effective) ** 2 / (1 - SHARE)
VARIANCE = s.noise * SHARE / (1 - SHARE)
TRAINING = (s.ridge / s.effective) ** 2 * (s.bias + s.variance + s.noise)


def _same(says: str, left: sp.Expr, right: sp.Expr = sp.S.Zero) -> Vanishing:
    """left = right, denominators cleared."""
    return Vanishing(says, sp.numer(sp.together(left - right)))


@cache
def fixed_point() -> Derivation:
    """k = (b + sqrt(b^2 + 4 a^2 l))/(2 a) with b = 1 + a l - a."""
    t, a, k, l = s.trace, s.ratio, s.effective, s.ridge  # noqa: E741
    left_out = eq(l * t + a * (t / a) / (1 + t / a), 1)
    # t as a function of k = l (1 + t/a), put into the equation, leaves a quadratic equation in k.
    of_k = a * (k / l - 1)
    quadratic = a * k**2 - _b * k - a * l
    cleared = sp.expand((left_out.lhs - 1).subs(t, of_k) * k)
    return Derivation(
        TITLE,
        "(1)",
        Step(
            "a sample that the resolvent has not seen",
            left_out,
            RationalLimit("q", s.dimension * t / (a * s.dimension - 1), s.dimension, t / a),
        ),
        Step("k = l (1 + q), denominators cleared", sp.Eq(quadratic, 0), Vanishing("k", cleared - quadratic)),
        Step(
            "the positive root",
            sp.Eq(k, EFFECTIVE),
            Vanishing("the root solves the quadratic equation", quadratic.subs(k, EFFECTIVE)),
        ),
        results={k: EFFECTIVE},
        hypotheses=(GAUSSIAN,),
    )


@cache
def errors() -> Derivation:
    """Bias, variance and training error, by derivatives of the fixed point in the ridge and in a source.

    With R(l) = l t = k/(1 + k): tr G/D = R/l, and D^-1 tr G^2 = -d(R/l)/dl.
    """
    k, a, l = s.effective, s.ratio, RIDGE_OF  # noqa: E741
    quadratic = a * k**2 - (1 + a * l - a) * k - a * l
    rate = 1 / sp.diff(RIDGE_OF, k)  # dk/dl
    trace = k / (1 + k) / l
    square = -sp.diff(trace, k) * rate  # D^-1 tr G^2
    mixed = trace - l * square  # D^-1 tr (X^T X/T) G^2
    bias, variance = s.signal * l**2 * square, s.noise / a * mixed
    # residuals are l (X X^T/T + l)^-1 y; the kernel has the eigenvalues of X^T X/T and T - D zeros more
    training = l**2 * (s.signal * mixed + s.noise * (square / a + (1 - 1 / a) / l**2))
    ours = (l / k) ** 2 * (BIAS + VARIANCE + s.noise)
    return Derivation(
        TITLE + ": errors",
        "(2)-(4)",
        Step("the fixed point, solved for l", sp.Eq(s.ridge, l), _same("the quadratic equation", quadratic)),
        Step("S l^2 tr G^2/D", sp.Eq(s.bias, BIAS), _same("bias", bias, BIAS)),
        Step("N tr (X^T X/T) G^2/T", sp.Eq(s.variance, VARIANCE), _same("variance", variance, VARIANCE)),
        Step("mean square of l (X X^T/T + l)^-1 y", sp.Eq(s.training, ours), _same("residuals", training, ours)),
        results={s.ridge: l, s.bias: BIAS, s.variance: VARIANCE, s.training: ours},
        hypotheses=(GAUSSIAN,),
    )


@cache
def without_ridge() -> Derivation:
    """For a = 1/(1 + e), k -> e as l -> 0: the test error is that of the interpolator of least norm."""
    near = {s.ratio: 1 / (1 + s.excess), s.effective: s.excess + 1 / s.large}
    error = (BIAS + VARIANCE + s.noise).subs(near, simultaneous=True)
    limit = s.signal * s.excess / (1 + s.excess) + s.noise * (1 + s.excess) / s.excess
    tends = limit_rational((), error, limit, s.large)
    return Derivation(
        "the interpolator of least norm",
        "(5)",
        proved("l -> 0", name_limit((tends,), s.ridgeless, "the limit of the test error")),
        results={s.ridgeless: limit},
        hypotheses=(GAUSSIAN,),
    )


@cache
def at_the_peak() -> Derivation:
    """With a = 1, l V^2 is a rational function of k -> 0."""
    squared = (RIDGE_OF * VARIANCE**2).subs({s.ratio: 1, s.effective: 1 / s.large}, simultaneous=True)
    limit = RationalLimit("l V^2", squared, s.large, s.noise**2 / 4)
    root = Vanishing("the positive root", (s.noise / 2) ** 2 - s.noise**2 / 4)
    return Derivation(
        "the peak of double descent",
        "(6)",
        Step("l V^2 -> N^2/4, of which P is the root", sp.Eq(s.peak, s.noise / 2), limit, root),
        results={s.peak: s.noise / 2},
        hypotheses=(GAUSSIAN,),
    )


@cache
def optimum() -> Derivation:
    """B + V is stationary in k where l(k) = N/(a S)."""
    slope = sp.diff(BIAS + VARIANCE, s.effective).subs(s.noise, s.ratio * s.signal * RIDGE_OF)
    best = s.noise / (s.ratio * s.signal)
    return Derivation(
        "the best ridge",
        "(7)",
        Step("stationary there", sp.Eq(s.best_ridge, best), _same("slope of B + V at N = a S l", slope)),
        results={s.best_ridge: best},
        hypotheses=(GAUSSIAN,),
    )
