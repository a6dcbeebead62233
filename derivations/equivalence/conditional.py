r"""Conditional Gaussian equivalence (Section 3.2, Appendix B of arXiv 2402.04980).

A bulk row w of squared norm c splits along the spike direction v: w = s v + w_perp with s = w.v = O(d^{-1/2}). Given
kappa = v.x the pre-activation of the neuron is kappa (r + s) + w_perp.x, normal with mean kappa (r + s) and variance
c - s^2. Mean, variance and covariance of the features sigma(.) given kappa are expanded in s and in the overlap of
two rows; the equivalent map has the same ones at the order that matters.

b stands for r kappa, the argument of the heat semigroup P_c: mu0 = (P_c sigma)(b).
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.equivalence import symbols as s
from onestep.derivations.equivalence.spike_coefficients import (
    REGULAR,
    at_spike,
    bias,
    mean_square,
    mu0_of,
    received,
    stein,
)
from onestep.derivations.gradient_step.spike import chi_square_moments
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.language.named_functions import differentiate, separate, sigma, sigma_prime, sigma_second

_t = sp.Symbol("t", real=True)

root_d = sp.Symbol("D", positive=True)  # sqrt(d)

tau = s.scaled_overlap

FEATURE = (
    "averages over a neuron are smooth in its overlap with v, which is O(d^(-1/2)), with bounded third derivatives "
    "near zero"
)


@functools.cache
def projection() -> Derivation:
    """x = kappa v + x_perp: covariances of kappa, theta.x_perp and the w.x_perp; equations (60), (81), (89)."""
    v, theta, w, w2 = sp.symbols("v theta w w'")
    products = {
        frozenset({v}): sp.S.One,
        frozenset({theta}): sp.S.One,
        frozenset({v, theta}): s.gamma,
        frozenset({v, w}): s.spike_overlap,
        frozenset({v, w2}): s.other_overlap,
        frozenset({w, w2}): s.row_product,
    }
    kappa = {v: sp.S.One}
    perp = {vector: orthogonal_part(vector, v, products) for vector in (theta, w, w2)}
    kappa_w = covariance(kappa, perp[w], products)
    variance_y = covariance(perp[theta], perp[theta], products)
    projected = covariance(perp[w], perp[w2], products)
    return Derivation(
        "the input along and across the spike",
        "Appendix B, equation (60)",
        Step(
            "Inner products of x with fixed vectors are jointly normal, with the vectors' inner products as "
            "covariances; kappa = v.x is standard normal.",
            eq(sp.Symbol(r"\mathrm{Var}(\kappa)"), covariance(kappa, kappa, products)),
        ),
        Step(
            "x_perp = x - kappa v is uncorrelated with kappa, hence independent of it.",
            eq(sp.Symbol(r"\mathrm{Cov}(\kappa,w\cdot x_{\perp})"), kappa_w),
            Vanishing("kappa and w.x_perp are uncorrelated", kappa_w),
        ),
        Step(
            "The target sees theta.x_perp, of variance rho.",
            eq(s.rho, variance_y),
            Vanishing("|theta|^2 = 1 is what lies along v and what lies across", s.gamma**2 + variance_y - 1),
        ),
        Step(
            "Two neurons see x_perp with the covariance w_k.Pi w_l, Pi = 1 - v v^T.",
            eq(s.projected_product, projected),
            Vanishing(
                "w_k.w_l is what lies along v and what lies across",
                s.spike_overlap * s.other_overlap + projected - s.row_product,
            ),
        ),
        results={s.rho: variance_y, s.projected_product: projected},
    )


Linear = dict[sp.Symbol, sp.Expr]


def covariance(first: Linear, second: Linear, products: dict[frozenset[sp.Symbol], sp.Expr]) -> sp.Expr:
    """Cov(a.x, b.x) = a.b for x ~ N(0, 1) and vectors a, b given as combinations of named ones."""
    return sp.expand(sum(p * q * products[frozenset({a, b})] for a, p in first.items() for b, q in second.items()))


def orthogonal_part(vector: sp.Symbol, axis: sp.Symbol, products: dict[frozenset[sp.Symbol], sp.Expr]) -> Linear:
    """vector - (vector.axis) axis."""
    return {vector: sp.S.One, axis: -products[frozenset({vector, axis})]}


def feature_mean_at(overlap: sp.Expr) -> Expectation:
    """E[phi | kappa] of a neuron of overlap s with v: mean kappa (r + s), variance c - s^2; equations (61), (64)."""
    return Expectation(sigma(s.kappa * (s.r + overlap) + sp.sqrt(s.c - overlap**2) * s.z), s.z)


@functools.cache
def conditional_mean() -> Derivation:
    """E[phi_k | kappa] = mu0 + kappa s mu1 + s^2 (kappa^2 - 1) E sigma''/2 + ...; equations (61), (62), (64), (68)."""
    exact = feature_mean_at(s.spike_overlap)
    slope = slope_in_overlap(exact, 1)
    curvature = slope_in_overlap(exact, 2)
    mu1 = at_spike(mu0_of(sigma_prime))
    second = at_spike(mu0_of(sigma_second))
    remainder = sp.Symbol("R_1", real=True)
    overlap = tau / root_d
    expanded = s.mu0 + overlap * slope.xreplace({mu1: s.mu1}) + overlap**2 * curvature / 2 + overlap**3 * remainder
    equivalent = equivalent_map().results[s.feature_mean].subs(s.spike_overlap, overlap)
    scaled = root_d**2 * (expanded - equivalent)
    gap = sp.limit(sp.expand(scaled), root_d, sp.oo)
    return Derivation(
        "the conditional mean of a feature",
        "Appendix B, equations (61)-(70)",
        Step(
            "Given kappa the neuron receives kappa (r + s) plus a normal variable of variance |Pi w|^2 = c - s^2.",
            eq(s.feature_mean, exact),
            Vanishing(
                "the row's share along v and its share across make up its norm c",
                s.spike_overlap**2 + sp.sqrt(s.c - s.spike_overlap**2) ** 2 - s.c,
            ),
        ),
        Step(
            "First order in s: only the mean of what is received changes, and E sigma' is mu1.",
            eq(s.feature_mean_slope, slope.xreplace({mu1: s.mu1})),
            Vanishing("the slope is kappa E sigma'", slope - s.kappa * mu1),
        ),
        Step(
            "Second order: mean and variance both change, and combine to He_2(kappa).",
            eq(s.feature_mean_curvature, curvature),
            Vanishing("the curvature is (kappa^2 - 1) E sigma''", curvature - (s.kappa**2 - 1) * second),
        ),
        Step(
            "With the first-order term kept, as kappa mu1 W v, the mean of the equivalent map differs by O(1/d) only.",
            eq(sp.Symbol(r"\mathbb{E}[\varphi_{\mathrm{cG}}|\kappa]"), equivalent),
            RationalLimit(
                "sqrt(d) (difference of the means) -> 0", root_d * (expanded - equivalent), root_d, sp.S.Zero
            ),
        ),
        Step(
            "What is left is the second order: d times the difference has a limit.",
            eq(s.mean_gap, gap),
            RationalLimit("d (difference of the means) has this limit", scaled, root_d, gap),
        ),
        results={
            s.feature_mean: exact,
            s.feature_mean_slope: slope.xreplace({mu1: s.mu1}),
            s.feature_mean_curvature: curvature,
            s.mean_gap: gap,
        },
        hypotheses=(REGULAR, FEATURE),
    )


def slope_in_overlap(expectation: sp.Expr, order: int) -> sp.Expr:
    """The derivative of a conditional average in s at s = 0, with factors z removed by Stein's lemma."""
    return stein(separate(differentiate(expectation, s.spike_overlap, order).subs(s.spike_overlap, 0)))


@functools.cache
def conditional_covariance() -> Derivation:
    """Cov[phi_k, phi_l | kappa] = epsilon mu1^2 + epsilon^2 (E sigma'')^2/2 + ..., Var = c mu1^2 + mu2^2.

    Equation (63).
    """
    second = bias + s.overlap / sp.sqrt(s.c) * s.z + sp.sqrt(s.c - s.overlap**2 / s.c) * _t
    pair = Expectation(sigma(received(s.z)) * sigma(second), s.z, _t)
    at_zero = [stein(separate(differentiate(pair, s.overlap, order).subs(s.overlap, 0))) for order in range(3)]
    mu1, curvature = mu0_of(sigma_prime), mu0_of(sigma_second)
    variance = s.c * s.mu1**2 + s.mu2_square
    definition = mean_square() - mu0_of() ** 2
    by_name = {s.mu1: mu1, s.mu2_square: mean_square() - mu0_of() ** 2 - s.c * mu1**2}
    third = sp.Symbol("R_2", real=True)
    small = tau / root_d
    first = at_zero[1].xreplace({mu1: s.mu1})
    expanded = small * first + small**2 * at_zero[2] / 2 + small**3 * third
    equivalent = equivalent_map().results[s.equivalent_covariance].subs(s.projected_product, small)
    scaled = root_d**2 * (expanded - equivalent)
    gap = sp.limit(sp.expand(scaled), root_d, sp.oo)
    return Derivation(
        "the conditional covariance of two features",
        "Appendix B, equations (62)-(67)",
        Step(
            "Two neurons receive jointly normal variables of variance c and covariance epsilon = w_k.Pi w_l.",
            eq(sp.Symbol(r"\mathbb{E}[\varphi_{k}\varphi_{l}|\kappa]"), pair),
            Vanishing("variance c", (s.overlap / sp.sqrt(s.c)) ** 2 + s.c - s.overlap**2 / s.c - s.c),
            Vanishing("independent at epsilon = 0", at_zero[0] - mu0_of() ** 2),
        ),
        Step(
            "First order in epsilon: the product of the linear coefficients.",
            eq(s.covariance_slope, first),
            Vanishing("the slope is (E sigma')^2, and E sigma' is mu1", at_zero[1] - mu1**2),
        ),
        Step(
            "Second order: the product of the quadratic coefficients; it is O(1/d).",
            eq(s.covariance_curvature, at_spike(at_zero[2])),
            Vanishing("the curvature is (E sigma'')^2", at_zero[2] - curvature**2),
        ),
        Step(
            "The same neuron: the whole variance, of which mu2^2 is what the linear term does not give.",
            eq(s.feature_variance, variance),
            Vanishing("E sigma^2 - mu0^2", definition - variance.xreplace(by_name)),
        ),
        Step(
            "The equivalent map has covariance epsilon mu1^2; at epsilon = tau/sqrt(d) the difference is "
            "a higher order.",
            eq(s.equivalent_covariance, equivalent),
            RationalLimit(
                "sqrt(d) (difference of the covariances) -> 0", root_d * (expanded - equivalent), root_d, sp.S.Zero
            ),
        ),
        Step(
            "What is left is the second order: d times the difference has a limit.",
            eq(s.covariance_gap, at_spike(gap)),
            RationalLimit("d (difference of the covariances) has this limit", at_spike(scaled), root_d, at_spike(gap)),
        ),
        results={
            s.covariance_slope: first,
            s.covariance_gap: at_spike(gap),
            s.covariance_curvature: at_spike(at_zero[2]),
            s.feature_variance: variance,
        },
        hypotheses=(REGULAR, FEATURE),
    )


@functools.cache
def equivalent_map() -> Derivation:
    """Mean and covariance of mu0 + mu1 w.x + mu2 xi given kappa, from the law of x_perp and xi.

    Equations (14), (67), (73).
    """
    x1, x2, first, second = sp.symbols("x_1 x_2 xi_1 xi_2", real=True)
    mu2 = sp.sqrt(s.mu2_square)
    # Two rows in an orthonormal frame across v: w_k = s_k v + (p_1, p_2), w_l = s_l v + (q_1, q_2).
    p1, p2, q1, q2 = sp.symbols("p_1 p_2 q'_1 q'_2", real=True)
    k_feature = s.mu0 + s.mu1 * (s.kappa * s.spike_overlap + p1 * x1 + p2 * x2) + mu2 * first
    l_feature = s.mu0 + s.mu1 * (s.kappa * s.other_overlap + q1 * x1 + q2 * x2) + mu2 * second
    draws = (x1, x2, first, second)
    mean, other_mean = (expand_expectations(Expectation(f, *draws)) for f in (k_feature, l_feature))
    cross = sp.expand(expand_expectations(Expectation(sp.expand(k_feature * l_feature), *draws)) - mean * other_mean)
    own = sp.expand(expand_expectations(Expectation(sp.expand(k_feature**2), *draws)) - mean**2)
    named_cross = sp.factor(cross).subs(p1 * q1 + p2 * q2, s.projected_product)
    named_own = sp.expand(own.subs(p1**2, s.c - s.spike_overlap**2 - p2**2))
    return Derivation(
        "mean and covariance of the equivalent map",
        "Appendix B, equations (67) and (73)",
        Step(
            "The mean given kappa: w.x = kappa w.v + w.x_perp keeps its first part.",
            eq(s.feature_mean, mean),
            Vanishing("mean", mean - s.mu0 - s.kappa * s.spike_overlap * s.mu1),
        ),
        Step(
            "Different neurons are correlated through x_perp only.",
            eq(s.equivalent_covariance, named_cross),
            Vanishing("covariance", cross - s.mu1**2 * (p1 * q1 + p2 * q2)),
        ),
        Step(
            "A neuron's own variance has the noise xi on top; |Pi w|^2 = c - s^2.",
            eq(sp.Symbol(r"\mathrm{Var}_{\mathrm{cG}}"), named_own),
        ),
        results={s.equivalent_covariance: named_cross, s.feature_mean: mean},
    )


@functools.cache
def expansion_terms() -> Derivation:
    """What is kept and what is dropped in the expanded map: |Wv|^2 = beta c, the Hadamard terms are O(1/d).

    Equations (71)-(73).
    """
    freedom_first, freedom_second = chi_square_moments(s.d)
    normal_first, normal_second = chi_square_moments(sp.S.One)
    # A standard normal vector is its norm times a uniform direction, independent of each other.
    square = s.c * normal_first / freedom_first
    fourth = s.c**2 * normal_second / freedom_second
    kept = s.p * square
    dropped = s.q2 * sp.together(s.c * square - fourth)
    rate = sp.limit(s.d * dropped, s.d, sp.oo)
    in_d = kept.subs(s.p, s.beta * s.d)
    return Derivation(
        "the terms of the expanded map",
        "Appendix B, equations (71)-(73)",
        Step(
            "A coordinate of a row uniform on the sphere of radius sqrt(c): its mean square is c/d.",
            eq(sp.Symbol(r"\mathbb{E}[s_{k}^{2}]"), square),
            Vanishing("d coordinates make up c", s.d * square - s.c),
        ),
        Step(
            "p rows together: the readout may align with W v, so kappa mu1 W v contributes at order one and is kept.",
            eq(s.spike_row_norm, in_d),
            Vanishing("no d is left", sp.diff(in_d, s.d)),
        ),
        Step(
            "The term kappa (E sigma'') (Wv) o (W x_perp): different neurons do not add up, because the mean of "
            "s w is (c/d) v, which Pi removes; equal ones give s^2 (c - s^2), averaged over a row, at "
            "|a|^2 = p q2.",
            eq(s.hadamard_variance, dropped),
            RationalLimit("it vanishes", dropped, s.d, sp.S.Zero),
            Vanishing("sphere moments: E s^4 = 3 c^2/(d (d + 2))", fourth * s.d * (s.d + 2) - 3 * s.c**2),
        ),
        Step(
            "It decays like 1/d.",
            eq(s.hadamard_rate, rate),
            RationalLimit("d times the variance has this limit", s.d * dropped, s.d, rate),
        ),
        results={s.spike_row_norm: in_d, s.hadamard_variance: dropped, s.hadamard_rate: rate},
        hypotheses=("the readout weights in the dropped terms are independent of the overlaps with v",),
    )
