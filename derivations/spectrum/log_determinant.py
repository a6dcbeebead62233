r"""The log-determinant of the features, whose slope in lambda is the Stieltjes transform.

(1/p) ln det(Phi^T Phi/p + lambda) is explicit in the solution (T, tau) = (V1, V2) at lambda. On the axis, lambda =
-x - i0, its imaginary part counts: ln(l - x - i0) has the argument -pi for an eigenvalue l below x and none above, so
that the share of eigenvalues below x is -Im L(-x - i0)/pi, without an integral over the density. For the paper's
isotropic bulk, and for a network's own rows of covariance 1 + omega A (beyond the paper).
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk import marchenko_pastur as bulk
from giantsteps.derivations.bulk.marchenko_pastur import ISOTROPIC
from giantsteps.derivations.bulk.network import ROWS, SAMPLES, rows, width
from giantsteps.derivations.free_energy.along_spike import (
    ONE_LETTER,
    denominator,
    mu1,
    mu2,
    over_kappa,
    over_modes,
    varrho,
)
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.calculus import logarithm, same_slope
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import rewritten
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.terms import derivative, substitute
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation, expand_expectations
from giantsteps.derivations.language.named_functions import g
from giantsteps.derivations.saddle_point.equations import stationary
from giantsteps.derivations.spectrum import resolvent
from giantsteps.derivations.spectrum import symbols as s
from giantsteps.derivations.spectrum.feature_covariance import HYPOTHESES, z

shift = s.ridge + s.V2_hat
ratio = s.alpha / s.beta
conjugates = {
    s.V1_hat: ratio * over_kappa(mu1**2 * ONE_LETTER.weight),
    s.V2_hat: ratio * over_kappa(mu2**2 * ONE_LETTER.weight),
}
# What every bulk shares: the potential of the rows stands beside it.
samples = -s.V1_hat * s.V1 - s.V2_hat * s.V2 + ratio * over_kappa(sp.log(1 + ONE_LETTER.V))
diagonal = -sp.log(s.V2) + shift * s.V2 - 1

_y = g(s.z)
labels = Expectation(sp.log(1 + _y**2 * s.leverage), s.z)
filled = Expectation(_y**2 / (1 + _y**2 * s.leverage), s.z)
network_rows = -sp.log(s.row_trace) + (1 + s.gain) * s.row_trace - 1 + s.alpha0 * labels


def _samples_steps() -> tuple[Step, ...]:
    """V1^ and V2^ make the potential stationary in V1 and V2 at a fixed log-determinant of S."""
    obligations = tuple(
        Vanishing(
            f"stationary in {variable}",
            expand_expectations(stationary(samples, variable)) + hat - expand_expectations(conjugates[hat]),
        )
        for variable, hat in ((s.V1, s.V1_hat), (s.V2, s.V2_hat))
    )
    return (
        Step(
            "One sample's Gaussian integral gives ln(1 + V)/2; V^ is its slope, so that V1 and V2 are stationary.",
            eq(s.V1_hat, conjugates[s.V1_hat]),
            *obligations,
        ),
    )


def potential_of_rows() -> sp.Expr:
    """What the averages over modes of an isotropic bulk make of E ln S, by tau = E[1/S]."""
    tau = over_modes(1 / denominator)
    return -sp.log(tau) + shift * tau - 1 + sp.log(1 + s.beta * s.c * s.V1_hat * tau) / s.beta


@functools.cache
def log_of_modes() -> tuple[Theorem, ...]:
    """E ln S over the modes of an isotropic bulk, for all conjugates and every ridge: the equality of the slopes in
    V1^, that of the values at V1^ = 0, and what follows.
    """
    tau, T = over_modes(1 / denominator), over_modes(varrho / denominator)
    slope = derivative(tau, s.V1_hat)
    left, right = over_modes(sp.log(denominator)), potential_of_rows()
    rates = ring(
        (bulk.trace_identity(), bulk.law_of_averages()),
        Equation(T, derivative(right, s.V1_hat)),
        (-slope / tau, 1 + slope * s.V1_hat / tau),
    )
    inverse = logarithm((), 1 / shift, ((shift, sp.Integer(-1)),))
    at_zero = Equation(sp.log(shift), substitute(right, {s.V1_hat: sp.Integer(0)}))
    initial = ring((inverse,), at_zero, (sp.Integer(1),))
    return rates, initial, same_slope((rates, initial), left, right, s.V1_hat, sp.Integer(0))


ARGUMENT = in_model(
    "argument of the resolvent", Equation(z, -s.ridge), "the resolvent of S + lambda is that of S at -lambda"
)


@functools.cache
def isotropic() -> Derivation:
    """The paper's bulk, one group."""
    rates, initial, of_modes = log_of_modes()
    entropy = resolvent.free_entropy().theorem_of(s.free_entropy)
    meaning = define(
        s.features_log_det,
        -2 * s.free_entropy,
        "ln det over p of S + lambda: -2/p times ln Z, a Gaussian integral over readouts without its (2 pi)^(1/2)",
    )
    whole = averages_expanded(rewrite((meaning, entropy)), s.kappa, s.mode)
    silent = rewritten(whole, *resolvent.silent())
    at_argument = instantiate((of_modes,), {s.ridge: -z})
    in_traces = rewrite((rewritten(silent, at_argument), resolvent.at_saddle(s.q2_hat)), True)
    result = rewrite((in_traces, ARGUMENT))
    return Derivation(
        "log-determinant of the features",
        "Appendix F of arXiv 2402.04980, from (189)-(190)",
        *resolvent.no_sizes().steps,
        proved("The log-determinant is minus twice the free entropy.", whole),
        proved("Where it is stationary m, zeta, q1, q2 and their conjugates vanish.", silent),
        proved("E ln S has the slope E[varrho/S] in V1^, by the Marchenko-Pastur law,", rates),
        proved("and is the logarithm of lambda + V2^ at V1^ = 0.", initial),
        proved("So it is a function of tau = E[1/S].", of_modes),
        proved("At the saddle point tau = V2.", in_traces),
        proved("The argument of the resolvent is -lambda.", result),
        hypotheses=(*HYPOTHESES, ISOTROPIC, resolvent.INDEPENDENT),
    )


@functools.cache
def network() -> Derivation:
    """A network's own rows: B = 1 + omega A, p = (1/d) tr (1 + g B)^-1 and l = g p omega/alpha0."""
    p, gain = s.row_trace, s.gain
    leverage = gain * p * s.row_weight / s.alpha0
    of_p = expand_expectations(labels)
    slope_l = sp.Symbol("f", positive=True)  # E[y^2/(1 + y^2 l)]
    # d/dl E ln(1 + y^2 l) = E[y^2/(1 + y^2 l)]
    in_l = expand_expectations(stationary(of_p, s.leverage)) - expand_expectations(filled)
    in_p = -1 / p + 1 + gain + s.alpha0 * slope_l * sp.diff(leverage, p)
    in_g = p + s.alpha0 * slope_l * sp.diff(leverage, gain)
    isotropic_bulk = 1 + s.row_weight * slope_l
    trace = p * isotropic_bulk
    closed = {slope_l: ((1 - p) / (gain * p) - 1) / s.row_weight}
    L = diagonal + network_rows / s.beta + samples
    by_gain = {gain: s.beta * s.V1_hat * s.V2}
    # Slopes of (1/beta) ln det through g = beta V1^ V2.
    slopes = {x: sp.diff(gain.subs(by_gain), x) * (1 - p) / gain / s.beta for x in (s.V1_hat, s.V2)}
    V2, V1 = rows().results[s.V2], width().results[s.V1]
    silent = {s.alpha: 0, s.V1: 0, s.V1_hat: 0, s.V2_hat: 0, gain: 0, p: 1, s.leverage: 0}
    steps = (
        *rows().steps,
        *width().steps,
        *_samples_steps(),
        Step(
            "(1/d) tr (1 + g B)^-1 = p and (1/d) tr B (1 + g B)^-1 = (1 - p)/g = p b with b = 1 + omega E[y^2/(1 + y^2 "
            "l)].",
            eq(s.leverage, leverage),
            Vanishing("slope of the labels' term in l", in_l),
            Vanishing("p b = (1 - p)/g", sp.simplify((trace - (1 - p) / gain).subs(closed))),
        ),
        Step(
            "(1/d) tr ln(1 + g B) is stationary in p, l following it, vanishes with g, and has (1 - p)/g as its slope "
            "in g.",
            eq(sp.Symbol(r"\frac{1}{d}\ln\det(1+\mathsf{g}B)"), network_rows),
            Vanishing("stationary in p", sp.simplify(in_p.subs(closed))),
            Vanishing("slope in g", sp.simplify((in_g - (1 - p) / gain).subs(closed))),
            Vanishing("zero at g = 0", expand_expectations(network_rows.subs({gain: 0, p: 1, s.leverage: 0}))),
        ),
        Step(
            "With g = beta V1^ V2 its slopes in V1^ and V2 are those that the equations of V1 and V2 ask for; only the "
            "explicit lambda counts.",
            eq(s.features_log_det, L),
            Vanishing("slope in V1^", sp.together((slopes[s.V1_hat] - V1).subs(s.V2, V2))),
            Vanishing("slope in V2^", sp.diff(diagonal, s.V2_hat) - s.V2),
            Vanishing("stationary in V2", sp.together((sp.diff(diagonal, s.V2) + slopes[s.V2]).subs(s.V2, V2))),
            Vanishing("slope in lambda", sp.diff(L, s.ridge) - s.V2),
            Vanishing(
                "without samples it is ln lambda",
                expand_expectations(L.subs(silent)).subs(s.V2, 1 / s.ridge) - sp.log(s.ridge),
            ),
        ),
    )
    return Derivation(
        "log-determinant of a network's features",
        "this suite",
        *steps,
        results={s.features_log_det: L},
        hypotheses=(ROWS, SAMPLES, "norms and spike change the features by finite rank"),
    )
