r"""Conditional Gaussian equivalence (Section 3.2, Appendix B of arXiv 2402.04980).

A bulk row w of squared norm c splits along the spike direction v: w = s v + w_perp with s = w.v = O(d^{-1/2}). Given
kappa = v.x the pre-activation of the neuron is kappa (r + s) + w_perp.x, normal with mean kappa (r + s) and variance
c - s^2. Mean, variance and covariance of the features sigma(.) given kappa are expanded in s and in the overlap of
two rows; the equivalent map has the same ones at the order that matters.

Across v two rows span a plane, in which they have coordinates p and p', and a sample has coordinates x.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.equivalence.conditional_coefficients import (
    MU0,
    MU1,
    MU2,
    REGULAR,
    at_spike,
    linear_coefficient,
    mean_square,
    mu0_of,
    received,
)
from giantsteps.derivations.gradient_step.assumptions import WIDTH
from giantsteps.derivations.gradient_step.spike import counted
from giantsteps.derivations.kernel.algebra import congruence, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import rotate
from giantsteps.derivations.kernel.limits import limit_rational, name_limit, taylor
from giantsteps.derivations.kernel.search.assumptions import define, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, slope_at
from giantsteps.derivations.kernel.search.goals import concluded, limit_of
from giantsteps.derivations.kernel.search.steps import equal, named_slope, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import repeated, sigma, sigma_second, with_slopes

_t = sp.Symbol("t", real=True)

root_d = sp.Symbol("D", positive=True)  # sqrt(d)

tau = s.scaled_overlap

FEATURE = (
    "averages over a neuron are smooth in its overlap with v, which is O(d^(-1/2)), with bounded third derivatives "
    "near zero"
)

# Coordinates across v: of a sample, of the row w_k, of the row w_l, and of the target's direction.
_sample = sp.symbols("x_1 x_2", real=True)
_row = sp.symbols("p_1 p_2", real=True)
_other_row = sp.symbols("p'_1 p'_2", real=True)
_target = sp.Symbol(r"\theta_{\perp}", real=True)

_shifted, _shifted_slope, _shifted_curvature = with_slopes("m_s")
_pair, _pair_slope, _pair_curvature = with_slopes("C")
_equivalent_mean, *_ = with_slopes("m_cG")
_equivalent_pair, *_ = with_slopes("C_cG")


def across(row: tuple[sp.Symbol, ...]) -> sp.Expr:
    """w.x_perp."""
    return sp.Add(*(a * b for a, b in zip(row, _sample, strict=True)))


def product(first: tuple[sp.Symbol, ...], second: tuple[sp.Symbol, ...]) -> sp.Expr:
    """The inner product of two vectors across v."""
    return sp.Add(*(a * b for a, b in zip(first, second, strict=True)))


NORM = define(s.c, s.spike_overlap**2 + product(_row, _row), "the squared norm of a row, along v and across")
ROWS = define(
    s.row_product,
    s.spike_overlap * s.other_overlap + product(_row, _other_row),
    "the inner product of two rows, along v and across",
)
PROJECTED = define(
    s.projected_product,
    Expectation(across(_row) * across(_other_row), *_sample),
    "the covariance of what two neurons receive across v",
)
UNIT_TARGET = in_model("theta is normalised", Equation(s.gamma**2 + _target**2, sp.Integer(1)), "Section 2")


@functools.cache
def projection() -> Derivation:
    """x = kappa v + x_perp: covariances of kappa, theta.x_perp and the w.x_perp; equations (60), (81), (89)."""
    first = _sample[0]
    variance = averages_expanded(
        define(s.rho, Expectation((_target * first) ** 2, first), "the variance of theta.x_perp")
    )
    rho = ring((variance, UNIT_TARGET), Equation(s.rho, 1 - s.gamma**2), (sp.Integer(1), sp.Integer(1)))
    received_along = s.kappa * s.spike_overlap + across(_row)
    alike = averages_expanded(
        define(
            sp.Symbol(r"\mathrm{Cov}(\kappa,w\cdot x_{\perp})", real=True),
            Expectation(s.kappa * (received_along - s.spike_overlap * s.kappa), s.kappa, *_sample),
            "the covariance of kappa and w.x - s kappa",
        )
    )
    goal = Equation(s.projected_product, s.row_product - s.spike_overlap * s.other_overlap)
    return Derivation(
        "the input along and across the spike",
        "Appendix B, equation (60)",
        proved("x_perp = x - kappa v is uncorrelated with kappa, hence independent of it.", alike),
        proved("The target sees theta.x_perp: |theta|^2 = 1 is what lies along v and what lies across.", rho),
        proved(
            "Two neurons see x_perp with the covariance w_k.Pi w_l, Pi = 1 - v v^T.",
            concluded(goal, averages_expanded(PROJECTED), ROWS),
        ),
        results={s.rho: value(rho), s.projected_product: goal.right},
    )


def feature_mean() -> Theorem:
    """The mean of a feature given kappa: over the plane across v, turned so that the row lies along one axis."""
    (a, b), length = _row, sp.sqrt(product(_row, _row))
    mean = s.kappa * (s.r + s.spike_overlap)
    over_plane = Expectation(sigma(mean + across(_row)), *_sample)
    meaning = define(s.feature_mean, over_plane, "the mean over x_perp of sigma(r kappa + w.x)")
    turned = rotate((), over_plane, (s.z, _t), ((a / length, -b / length), (b / length, a / length)))
    (argument,) = value(turned).integrand.args
    lined_up = ring((), Equation(argument, mean + length * s.z), ())
    squared = ring((NORM,), Equation(product(_row, _row), s.c - s.spike_overlap**2), (sp.Integer(-1),))
    return rewritten(meaning, turned, lined_up, squared)


@functools.cache
def conditional_mean() -> Derivation:
    """E[phi_k | kappa] = mu0 + kappa s mu1 + s^2 (kappa^2 - 1) E sigma''/2 + ...; equations (61), (62), (64), (68)."""
    exact = feature_mean()
    overlap = sp.Symbol("s", real=True)
    curve = define(
        _shifted(overlap),
        Expectation(sigma(s.kappa * (s.r + overlap) + sp.sqrt(s.c - overlap**2) * s.z), s.z),
        "the mean of a feature by the row's overlap",
        overlap,
    )
    equivalent = define(
        _equivalent_mean(overlap), s.mu0 + s.kappa * overlap * s.mu1, "the mean of the equivalent map", overlap
    )
    at_zero, first, second = (slope_at(curve, overlap, sp.Integer(0), times) for times in range(3))
    at_zero, first = rewrite((at_zero, MU0), True), rewrite((first, linear_coefficient()), True)
    second = equal(second, (s.kappa**2 - 1) * at_spike(mu0_of(sigma_second)))
    slope = named_slope(s.feature_mean_slope, "the first derivative at zero overlap", first)
    curvature = named_slope(s.feature_mean_curvature, "the second derivative", second)
    gap = second_order(
        s.mean_gap, "the limit of d (difference of the means)", (at_zero, first, second), equivalent, overlap
    )
    return Derivation(
        "the conditional mean of a feature",
        "Appendix B, equations (61)-(70)",
        proved(
            "Given kappa the neuron receives kappa (r + s) plus a normal variable of variance |Pi w|^2 = c - s^2.",
            exact,
        ),
        proved("First order in s: only the mean of what is received changes, and E sigma' is mu1.", slope),
        proved("Second order: mean and variance both change, and combine to He_2(kappa).", curvature),
        proved(
            "With the first-order term kept, as kappa mu1 W v, the mean of the equivalent map differs by O(1/d) only: "
            "d times the difference has a limit, which is the second order.",
            gap,
        ),
        results=(exact, slope, curvature, gap),
        hypotheses=(REGULAR, FEATURE),
    )


def second_order(
    name: sp.Symbol, meaning: str, slopes: tuple[Theorem, ...], equivalent: Theorem, overlap: sp.Symbol
) -> Theorem:
    """The limit of d (F - G) at overlap tau/sqrt(d), G the first order of F; ``slopes`` are F, F' and F'' at zero."""
    curve, small = sides(slopes[0].statement)[0].func, tau / root_d
    expansion = taylor((), curve, 2, tau, root_d)
    for slope in slopes:
        expansion = rewrite((expansion, slope))
    beside = instantiate((equivalent,), {overlap: small})
    difference = root_d**2 * (curve(small) - sides(beside.statement)[0])
    restated = concluded(Equation(sides(expansion.statement)[0], difference), beside)
    return name_limit((rewrite((expansion, restated)),), name, meaning)


@functools.cache
def conditional_covariance() -> Derivation:
    """Cov[phi_k, phi_l | kappa] = epsilon mu1^2 + epsilon^2 (E sigma'')^2/2 + ..., Var = c mu1^2 + mu2^2.

    Equation (63).
    """
    overlap = sp.Symbol("s", real=True)
    partner = overlap / sp.sqrt(s.c) * s.z + sp.sqrt(s.c - overlap**2 / s.c) * _t
    both = at_spike(sigma(received(s.z))) * sigma(s.r * s.kappa + partner)
    jointly = averages_expanded(
        define(
            sp.Symbol(r"\mathrm{Var}(w_{l}\cdot x_{\perp})", real=True),
            Expectation(partner**2, s.z, _t),
            "the variance of what the second neuron receives",
        )
    )
    jointly = equal(jointly, s.c)
    curve = define(
        _pair(overlap),
        Expectation(both, s.z, _t) - at_spike(mu0_of()) ** 2,
        "the covariance of the features of two neurons by what they receive",
        overlap,
    )
    equivalent = define(_equivalent_pair(overlap), s.mu1**2 * overlap, "the covariance of the equivalent map", overlap)
    at_zero, first, second = (slope_at(curve, overlap, sp.Integer(0), times) for times in range(3))
    first = rewrite((first, linear_coefficient()), True)
    second = equal(second, sp.expand(value(second)))
    slope = named_slope(s.covariance_slope, "the first derivative at zero overlap", first)
    curvature = named_slope(s.covariance_curvature, "the second derivative", second)
    slopes = (at_zero, first, second)
    gap = second_order(s.covariance_gap, "the limit of d (difference of the covariances)", slopes, equivalent, overlap)
    own = define(
        s.feature_variance, at_spike(mean_square() - mu0_of() ** 2), "the variance of a feature of a row across v"
    )
    variance = concluded(Equation(s.feature_variance, s.c * s.mu1**2 + s.mu2_square), own, MU2, MU0, MU1)
    return Derivation(
        "the conditional covariance of two features",
        "Appendix B, equations (62)-(67)",
        proved(
            "Two neurons receive jointly normal variables of variance c and covariance epsilon = w_k.Pi w_l.", jointly
        ),
        proved("Independent at epsilon = 0,", at_zero),
        proved("and to first order in epsilon it is the product of the linear coefficients.", slope),
        proved("Second order: the product of the quadratic coefficients; it is O(1/d).", curvature),
        proved("The same neuron: the whole variance, of which mu2^2 is what the linear term does not give.", variance),
        proved(
            "The equivalent map has covariance epsilon mu1^2; at epsilon = tau/sqrt(d) the difference is a higher "
            "order: d times it has a limit.",
            gap,
        ),
        results=(slope, gap, curvature, variance),
        hypotheses=(REGULAR, FEATURE),
    )


@functools.cache
def equivalent_map() -> Derivation:
    """Mean and covariance of mu0 + mu1 w.x + mu2 xi given kappa, from the law of x_perp and xi.

    Equations (14), (67), (73).
    """
    noises = sp.symbols("xi_1 xi_2", real=True)
    draws = (*_sample, *noises)
    k_feature, l_feature = (
        s.mu0 + s.mu1 * (s.kappa * overlap + across(row)) + sp.sqrt(s.mu2_square) * noise
        for overlap, row, noise in zip((s.spike_overlap, s.other_overlap), (_row, _other_row), noises, strict=True)
    )
    k_mean, l_mean = Expectation(k_feature, *draws), Expectation(l_feature, *draws)
    mean = averages_expanded(define(s.feature_mean, k_mean, "the mean over x_perp and xi"))
    cross = averages_expanded(
        define(
            s.equivalent_covariance,
            Expectation(k_feature * l_feature, *draws) - k_mean * l_mean,
            "the covariance of two features over x_perp and their own noises",
        )
    )
    covariance = concluded(
        Equation(s.equivalent_covariance, s.mu1**2 * s.projected_product), cross, averages_expanded(PROJECTED)
    )
    variance_name = sp.Symbol(r"\mathrm{Var}_{\mathrm{cG}}", real=True)
    own = averages_expanded(
        define(variance_name, Expectation(k_feature**2, *draws) - k_mean**2, "the variance of one feature")
    )
    whole = s.mu1**2 * (s.c - s.spike_overlap**2) + s.mu2_square
    return Derivation(
        "mean and covariance of the equivalent map",
        "Appendix B, equations (67) and (73)",
        proved("The mean given kappa: w.x = kappa w.v + w.x_perp keeps its first part.", mean),
        proved("Different neurons are correlated through x_perp only.", covariance),
        proved(
            "A neuron's own variance has the noise xi on top; |Pi w|^2 = c - s^2.",
            concluded(Equation(variance_name, whole), own, NORM),
        ),
        results=(covariance, mean),
    )


_chi_2, _chi_4 = (
    repeated(s.d, Expectation(_t**2, _t)),
    repeated(s.d, Expectation(_t**4, _t)) + repeated(s.d * (s.d - 1), Expectation(_t**2, _t) ** 2),
)
_square, _fourth = sp.symbols(r"\mathbb{E}[s_{k}^{2}] \mathbb{E}[s_{k}^{4}]", real=True)


def _on_the_sphere(power: int, moment: sp.Symbol, norm: sp.Expr) -> Theorem:
    """E[s^k] of a coordinate of a row of norm sqrt(c)."""
    meaning = define(
        moment,
        s.c ** sp.Rational(power, 2) * Expectation(_t**power, _t) / norm,
        f"moment {power} of a coordinate of a row uniform on the sphere of radius sqrt(c): a standard normal vector is "
        "its norm times a uniform direction, independent of each other",
    )
    known = averages_expanded(counted(meaning))
    return equal(known, sp.factor(value(known)))


@functools.cache
def expansion_terms() -> Derivation:
    """What is kept and what is dropped in the expanded map: |Wv|^2 = beta c, the Hadamard terms are O(1/d).

    Equations (71)-(73).
    """
    square, fourth = _on_the_sphere(2, _square, _chi_2), _on_the_sphere(4, _fourth, _chi_4)
    kept = counted(define(s.spike_row_norm, repeated(s.p, _square), "E|Wv|^2, a sum over p rows"))
    kept = rewritten(kept, square, WIDTH)
    dropped = define(
        s.hadamard_variance,
        s.q2 * (s.c * _square - _fourth),
        "the sum of a^2 s^2 (c - s^2)/p over the rows, averaged over a row, at |a|^2 = p q2",
    )
    exact = rewritten(dropped, square, fourth)
    exact = equal(exact, sp.factor(value(exact)))
    times_d = congruence((exact,), s.d * s.hadamard_variance, s.hadamard_variance)
    rate = name_limit(
        (rewrite((limit_of(value(times_d), s.d), times_d), True),), s.hadamard_rate, "the limit of d times the variance"
    )
    return Derivation(
        "the terms of the expanded map",
        "Appendix B, equations (71)-(73)",
        proved("A coordinate of a row uniform on the sphere of radius sqrt(c): its mean square is c/d.", square),
        proved(
            "p rows together: the readout may align with W v, so kappa mu1 W v contributes at order one and is kept.",
            kept,
        ),
        proved("Sphere moments: E s^4 = 3 c^2/(d (d + 2)).", fourth),
        proved(
            "The term kappa (E sigma'') (Wv) o (W x_perp): different neurons do not add up, because the mean of "
            "s w is (c/d) v, which Pi removes; equal ones give s^2 (c - s^2), averaged over a row, at "
            "|a|^2 = p q2.",
            exact,
        ),
        proved("It vanishes.", rewrite((limit_rational((), value(exact), sp.Integer(0), s.d), exact), True)),
        proved("It decays like 1/d.", rate),
        results=(kept, exact, rate),
        hypotheses=("the readout weights in the dropped terms are independent of the overlaps with v",),
    )
