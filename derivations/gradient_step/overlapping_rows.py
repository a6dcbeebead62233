r"""One gradient step from initial rows with a mutual overlap. Beyond the paper, whose rows are nearly orthogonal.

The rows are w_k = sqrt(o) e + sqrt(1 - o) u_k with |e| = |u_k| = 1, u_k.e = 0 and e.theta = 0. A sample is seen by a
neuron as h = sqrt(o) t + sqrt(1 - o) z, t = e.x common to all of them and z = u_k.x its own. Averages over the neurons
are averages over z at given t,

    F(t) = E_z sigma(h),   G(t) = E_z sigma'(h),   K(t) = E_z sigma''(h),   H(t) = E_z (sigma'(h) - G)^2,

and the step of rate eps = eta/beta adds eps (1/n0) sum (y - F(t)) sigma'(h) x to a row: its mean over the neurons makes
the spike, what is left of it the bulk. Every limit below is one of a rational function of d at n0 = alpha0 d.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.gradient_step import symbols as s
from onestep.derivations.gradient_step.bulk import bulk
from onestep.derivations.gradient_step.constants import first_coefficient, stein_step
from onestep.derivations.gradient_step.spike import NAMED, SELF_AVERAGING, mean_over_pairs, spike
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import g, separate, sigma_prime, sigma_second

SOURCE = "beyond the paper: initial rows that overlap"

STEP = s.eta / s.beta

output = sp.Function("F_0", real=True)
slope = sp.Function("G_0", real=True)
curvature = sp.Function("K_0", real=True)
scatter = sp.Function("H_0", real=True)

_u, _t, _e = sp.symbols("u t e", real=True)  # theta.x, e.x, label noise of unit variance

OTHER_ROWS = (
    "averages over the neurons are averages over z = u_k.x at given t = e.x: the rows u_k are many and nearly "
    "orthogonal"
)
GIVEN_A_ROW = "a row's own view z of a sample is independent of theta.x and e.x, up to correlations O(d^(-1/2))"


def residual() -> sp.Expr:
    """y - F(t), y = g(u) + sqrt(Delta) e."""
    return g(_u) + sp.sqrt(s.noise) * _e - output(_t)


def averaged(integrand: sp.Expr) -> sp.Expr:
    """E over u, t and the label noise by linearity and independence, named averages under their names."""
    return sp.expand(separate(Expectation(sp.expand(integrand), _u, _t, _e))).xreplace(NAMED)


def overlap_of_views() -> sp.Expr:
    """h = sqrt(o) t + sqrt(1 - o) z."""
    return sp.sqrt(s.row_overlap) * _t + sp.sqrt(1 - s.row_overlap) * s.z


def at_ratio(expression: sp.Expr) -> sp.Expr:
    """n0 = alpha0 d."""
    return sp.expand(expression.subs(s.n0, s.alpha0 * s.d))


def length_square(equal: sp.Expr, different: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """E|(1/n0) sum f x|^2 at finite n0 and d, and its limit; ``equal`` = E f^2, ``different`` = |E f x|^2.

    Of the d coordinates of x three are tied to f (u, t and z); the rest are independent of it.
    """
    tied = sp.Symbol(r"\langle f^{2}(u^{2}+t^{2}+z^{2})\rangle", positive=True)
    exact = mean_over_pairs(s.n0, (s.d - 3) * equal + tied, different)
    return exact, equal / s.alpha0 + different


@functools.cache
def spike_of_step() -> Derivation:
    """r and gamma: the mean row sqrt(o) e + eps (1/n0) sum (y - F) G x, along e, along theta and across both."""
    force = residual() * slope(_t)
    along, own, square = averaged(force * _t), averaged(force * _u), averaged(force**2)
    mean_slope = Expectation(slope(s.z), s.z)
    own_named = own.subs(mean_slope, s.h1)
    exact, limit = length_square(square, along**2 + own**2)
    root = sp.sqrt(s.row_overlap)
    opened = s.row_overlap + 2 * root * STEP * along + STEP**2 * limit
    collected = (root + STEP * along) ** 2 + STEP**2 * (s.h1**2 * s.h1_star**2 + square / s.alpha0)
    strength = sp.sqrt(collected)
    overlap = STEP * s.h1 * s.h1_star / strength
    # Rows without overlap see F = K = 0 and G = h1 where sigma is odd: Result 3.1 with label noise.
    usual = collected.replace(output, lambda x: sp.S.Zero).replace(slope, lambda x: s.h1)
    usual = expand_expectations(usual).subs(s.row_overlap, 0)
    printed = spike().results[s.r].subs(s.h2_star, s.h2_star + s.noise)
    view = overlap_of_views()
    variance = expand_expectations(Expectation(sp.expand(view**2), s.z, _t))
    return Derivation(
        "spike and alignment from overlapping rows",
        SOURCE,
        *first_coefficient().steps,
        Step(
            "A neuron sees a standard normal variable: the mean of G over t is that of sigma', which is h1.",
            eq(mean_slope, s.h1),
            Vanishing("the variance of sqrt(o) t + sqrt(1 - o) z is one", sp.expand(variance - 1)),
        ),
        Step(
            "The mean row is moved by eps V, V = (1/n0) sum (y - F) G x: equal samples give E[(y - F)^2 G^2] per "
            "coordinate, different ones the squares of E[(y - F) t G] along e and of E[y u] E[G] along theta.",
            eq(s.mean_step_square, limit),
            RationalLimit("E|V|^2 has this limit", at_ratio(exact), s.d, limit),
            Vanishing("along theta only the label's linear part", own_named - s.h1 * s.h1_star),
        ),
        Step(
            "With sqrt(o) e before the step, which only the part of V along e meets.",
            eq(s.r, strength),
            RationalLimit("E|V|^2 is its limit", at_ratio(exact), s.d, limit),
            Vanishing("the squares collected", sp.expand(opened - collected).subs(mean_slope, s.h1)),
            Vanishing("without overlap and for sigma odd it is Result 3.1", usual - sp.expand(printed**2)),
        ),
        Step(
            "Along theta, over the length.",
            eq(s.gamma, overlap),
            Vanishing("theta.V has mean E[(y - F) u G]", STEP * (own_named - s.h1 * s.h1_star)),
        ),
        results={s.r: strength, s.gamma: overlap},
        hypotheses=(OTHER_ROWS, SELF_AVERAGING, *first_coefficient().hypotheses),
    )


@functools.cache
def bulk_of_step() -> Derivation:
    """c: what is left of a row, sqrt(1 - o) u_k + eps (1/n0) sum (y - F) (sigma'(h) - G) x."""
    rest = 1 - s.row_overlap
    view = overlap_of_views()
    by_stein = stein_step(s.z * sigma_prime(view), s.z)
    turned = sp.sqrt(rest) * Expectation(sigma_second(view), s.z)
    kept = averaged(residual() * curvature(_t))
    noise = averaged(residual() ** 2 * scatter(_t))
    exact, limit = length_square(noise, rest * kept**2)
    opened = rest + 2 * sp.sqrt(rest) * STEP * sp.sqrt(rest) * kept + STEP**2 * limit
    collected = rest * (1 + STEP * kept) ** 2 + STEP**2 * noise / s.alpha0
    usual = collected.replace(output, lambda x: sp.S.Zero).replace(curvature, lambda x: sp.S.Zero)
    usual = expand_expectations(usual.replace(scatter, lambda x: s.h1_check)).subs(s.row_overlap, 0)
    printed = bulk().results[s.c].subs(s.h2_star, s.h2_star + s.noise)
    return Derivation(
        "the bulk from overlapping rows",
        SOURCE,
        Step(
            "Along u_k, by Stein's lemma: E_z[z sigma'(h)] = sqrt(1 - o) K(t), and G does not see z.",
            eq(Expectation(s.z * sigma_prime(view), s.z), by_stein),
            Vanishing("the chain rule on h", expand_expectations(by_stein - turned)),
            Vanishing("E_z[z G(t)] = 0", expand_expectations(Expectation(s.z * slope(_t), s.z))),
        ),
        Step(
            "The correction (1/n0) sum (y - F) (sigma' - G) x: equal samples give E[(y - F)^2 H] per coordinate, "
            "different ones the square of sqrt(1 - o) E[(y - F) K] along u_k; along e and theta sigma' - G "
            "averages to zero over z. The row itself is met by its part along u_k.",
            eq(s.c, collected),
            RationalLimit("the squared length has this limit", at_ratio(exact), s.d, limit),
            Vanishing("the squares collected", sp.expand(opened - collected)),
            Vanishing("without overlap and for sigma odd it is Result 3.1", sp.expand(usual - printed)),
        ),
        results={s.c: collected},
        hypotheses=(OTHER_ROWS, GIVEN_A_ROW, SELF_AVERAGING),
    )
