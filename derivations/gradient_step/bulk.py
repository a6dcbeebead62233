r"""One gradient step widens the bulk (Appendix A.4 of arXiv 2402.04980): the norm of a row after the step.

delta = e (1/n0) sum_mu y_mu s(w.x_mu) x_mu is a row of the bulk correction, with e = eta/beta and s = sigma' - h1.
The plane of theta and w carries two coordinates of a sample, u = theta.x (written z) and t, so that w.x = epsilon u +
sqrt(1 - epsilon^2) t with epsilon = w.theta = O(d^{-1/2}); the d - 2 others are independent of label and weight.

In the limit epsilon = tau/sqrt(d) vanishes, and every average goes to its value at epsilon = 0, where u and w.x are
independent.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.alignment import first_coefficient
from giantsteps.derivations.gradient_step.assumptions import H1_CHECK, H1_STAR, H2_STAR, ODD, centred_at
from giantsteps.derivations.gradient_step.spike import (
    FOURTH_MOMENT,
    SELF_AVERAGING,
    evaluated,
    in_dimension,
    label,
    over_pairs,
    squared_length,
    squared_norm_variance,
    tends_to,
)
from giantsteps.derivations.kernel.algebra import differentiate, instantiate, order, rewrite, ring
from giantsteps.derivations.kernel.averages import average, stein
from giantsteps.derivations.kernel.limits import limit_average, limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, reflected, renamed
from giantsteps.derivations.kernel.search.goals import limit_by_parts
from giantsteps.derivations.kernel.search.steps import named, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.terms import substitute
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, repeated, sigma_check, sigma_second

_t = sp.Symbol("t", real=True)  # the other axis of the plane of theta and w
_e = sp.Symbol("e", real=True)  # label noise of unit variance
_s = sp.Symbol("s", real=True)  # a coordinate across the plane

tau = sp.Symbol("tau", real=True)  # sqrt(d) w.theta

STEP = s.eta / s.beta

ODD_ACTIVATION = "the activation is odd"

SMOOTH = "averages over a sample are continuous in epsilon = w.theta = O(d^(-1/2)) at zero"

OVERLAP = define(s.overlap, tau / sp.sqrt(s.d), "w.theta, of order d^(-1/2) for a row uniform on the sphere")

_bound = sp.Symbol(r"\langle\delta_{u}^{2}\rangle", real=True)

# w.x in the plane of theta and w: epsilon u + sqrt(1 - epsilon^2) t.
ALONG_W = s.overlap * s.z + sp.sqrt(1 - s.overlap**2) * _t


@functools.cache
def zero_means() -> Derivation:
    """E[s] = 0 and, for sigma odd, E[z s] = E[sigma''] = 0; equation (52)."""
    (first,) = first_coefficient().theorems
    centred = averages_expanded(average((centred_at(s.z),), (s.z,)))
    mean = rewrite((centred, first), True)
    curvature = Expectation(sigma_second(s.z), s.z)
    (x,) = sides(ODD.statement)[1].free_symbols
    odd = instantiate((differentiate((differentiate((ODD,), x),), x),), {x: s.z})  # sigma''(-z) = -sigma''(z)
    negated = averages_expanded(rewrite((reflected(curvature, s.z), odd)))
    vanishing = ring((negated,), Equation(curvature, sp.Integer(0)), (sp.Rational(1, 2),))
    weighted = stein((), Expectation(s.z * sigma_check(s.z), s.z), s.z, sigma_check(s.z))
    return Derivation(
        "the means of sigma' - h1 and of sigma''",
        "Appendix A.4, equation (52)",
        proved("h1 is the mean of sigma', so sigma' - h1 has mean zero.", mean),
        proved("sigma is odd, so sigma'' is odd: its average equals its negative,", negated),
        proved("and vanishes.", vanishing),
        proved("Stein's lemma carries this over to E[z (sigma' - h1)].", rewrite((weighted, vanishing))),
        results={sides(t.statement)[0]: sp.Integer(0) for t in (mean, vanishing, weighted)},
        hypotheses=(ODD_ACTIVATION,),
    )


@functools.cache
def mean_vector() -> Derivation:
    """E[y s(w.x) x] = theta E[g' s] + w E[g sigma''] by Stein's lemma in both coordinates of the plane.

    Equation (51).
    """
    weight = g(s.z) * sigma_check(ALONG_W)
    on_theta = averages_expanded(stein((), Expectation(s.z * weight, s.z, _t), s.z, weight))
    on_t = averages_expanded(stein((), Expectation(_t * weight, s.z, _t), _t, weight))
    return Derivation(
        "the mean of a row's correction, by Stein's lemma",
        "Appendix A.4, equation (51)",
        proved(
            "Target and row span a plane: theta.x = u, w.x = epsilon u + sqrt(1 - epsilon^2) t with epsilon = "
            "w.theta and u, t standard normal (u is written z in averages). By Stein's lemma a factor u is a "
            "derivative in u; it acts on the target and, with weight epsilon, on the activation.",
            on_theta,
        ),
        proved("Along t, the other axis of the plane, only the activation is differentiated.", on_t),
        results=(on_theta, on_t),
        hypotheses=("target and activation are regular enough for Stein's lemma",),
    )


def at_zero_overlap(theorem: Theorem) -> Theorem:
    """The limit of an average at epsilon = 0, where u and w.x are independent, with the known averages named."""
    expanded = renamed(averages_expanded(theorem), {_t: s.z})
    zero = [t for t in zero_means().theorems if value(t) == 0]
    return named(rewritten(expanded, *zero), H2_STAR, H1_STAR, H1_CHECK)


def without_overlap(exact: Theorem) -> Theorem:
    """The limit as d grows of what is a polynomial in averages that depend on epsilon."""
    hole = sp.Dummy("epsilon", real=True)
    grown = in_dimension(exact)
    limits = {
        a: at_zero_overlap(limit_average((tends_to_zero(),), substitute(a, {s.overlap: hole}), (hole,)))
        for a in sorted(value(grown).atoms(Expectation), key=sp.default_sort_key)
    }
    return limit_by_parts(grown, limits | {s.overlap: tends_to_zero()}, s.d)


@functools.cache
def tends_to_zero() -> Theorem:
    """epsilon = tau/sqrt(d) -> 0."""
    return rewrite((limit_rational((), value(OVERLAP), sp.Integer(0), s.d), OVERLAP), True)


def _weight(noise: sp.Expr) -> sp.Expr:
    """y s(w.x) of a sample."""
    return label(noise) * sigma_check(ALONG_W)


@functools.cache
def row_correction(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """E|delta|^2 exactly at finite n0 and d, and its limit; equations (46)-(53)."""
    meaning = define(
        s.delta_square_mean,
        STEP**2 * squared_length(_weight(noise), (s.z, _t), (s.z, _t, _e, _s), _s),
        "E|(eta/beta) (1/n0) sum y s(w.x) x|^2 over pairs of samples, in the plane of theta and w and across it",
    )
    counted = evaluated(meaning)
    limit = name_limit((without_overlap(counted),), s.delta_square, "the limit of E|delta|^2")
    return Derivation(
        "the norm of a row's correction" + (" with label noise" if noise != 0 else ""),
        "Appendix A.4, equations (46)-(53)",
        *zero_means().steps,
        *mean_vector().steps,
        proved(
            "delta is the row's correction: |delta|^2 is a sum over pairs of samples, with the weight (eta/beta) "
            "y s(w.x) of each, s = sigma' - h1, in the two coordinates u, t of the plane and d - 2 others.",
            meaning,
        ),
        proved(
            "n0 equal pairs and n0 (n0 - 1) different ones; a coordinate across the plane is independent of the "
            "weights: exact at finite n0 and d.",
            counted,
        ),
        proved(
            "Neuron and target overlap by epsilon = tau/sqrt(d): at epsilon = 0 the averages factor, and the vector "
            "E[y s x] vanishes, so that only the equal samples remain.",
            limit,
        ),
        results=(counted, limit),
        hypotheses=(*zero_means().hypotheses, SMOOTH),
    )


@functools.cache
def cross_term(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """2 w.delta -> 0: its mean e E[y s(w.x) w.x], over label noise too, vanishes with epsilon; equations (54), (55)."""
    draws, share = (s.z, _t, _e), _weight(noise) * ALONG_W
    mean_name, spread_name = sp.symbols(r"\langle{w\cdot\delta}\rangle \mathrm{Var}(w\cdot\delta)", real=True)
    mean_is = define(mean_name, STEP * repeated(s.n0, Expectation(share, *draws)) / s.n0, "E[w.delta]")
    mean = evaluated(mean_is)
    limit = name_limit((without_overlap(mean),), s.delta_cross, "the limit of w.delta, as of its mean")
    spread = define(
        spread_name,
        STEP**2 * over_pairs(s.n0, Expectation(share**2, *draws), Expectation(share, *draws) ** 2) - mean_name**2,
        "the variance of w.delta",
    )
    variance = rewritten(evaluated(spread), mean)
    return Derivation(
        "the cross term of a row's norm" + (" with label noise" if noise != 0 else ""),
        "Appendix A.4, equations (54)-(55)",
        *zero_means().steps,
        proved("w.delta is a mean over samples.", mean),
        proved(
            "At epsilon = 0 its mean factors into E[y] and E[z (sigma' - h1)], and the second factor is zero; "
            "epsilon = tau/sqrt(d) tends to zero.",
            limit,
        ),
        proved("It is a mean of n0 independent terms, so its variance is that of one over n0,", variance),
        proved("and vanishes.", without_overlap(variance)),
        results=(limit,),
        hypotheses=(ODD_ACTIVATION, SMOOTH),
    )


@functools.cache
def concentration_of_delta() -> Derivation:
    """|delta|^2 orthogonal to the plane of theta and w: exact variance, O(1/d); equations (47), (49)."""
    second, fourth = sp.symbols(r"\langle(ys)^{2}\rangle \langle(ys)^{4}\rangle", positive=True)
    weight, one = _weight(sp.S.Zero), (s.z, _t)
    known = [
        define(name, Expectation(weight**power, *one), f"the moment of order {power} of y s(w.x)")
        for name, power in ((second, 2), (fourth, 4))
    ]
    moments = [Expectation((STEP * weight) ** power, *one) for power in (2, 4)]
    _, exact = squared_norm_variance(s.delta_variance, s.d - 2, *moments)
    exact = named(exact, *known)
    in_plane = sp.Symbol(r"\mathrm{Var}(\delta_{u})", real=True)
    on_theta, mean = Expectation((weight * s.z) ** 2, *one), Expectation(weight * s.z, *one)
    spread = define(in_plane, STEP**2 * (on_theta - mean**2) / s.n0, "the variance of a mean over the batch")
    second_moment = STEP**2 * on_theta / s.n0
    bound = order((spread,), AtLeast(second_moment, in_plane), (sp.Integer(-1),), ((STEP**2 / s.n0, mean),))
    bounding = define(_bound, second_moment, "the second moment over the size of the batch")
    return Derivation(
        "concentration of a row's correction",
        "Appendix A.4, equations (47)-(49)",
        proved(
            "Given u and t of every sample the part of delta across the plane is normal, so the argument for the "
            "spike direction applies with y s in place of y.",
            exact,
        ),
        proved("At n0 = alpha0 d the variance vanishes.", tends_to(exact, sp.Integer(0))),
        proved(
            "The two coordinates of delta in the plane are means of n0 independent terms: the variance of either "
            "is at most a second moment over n0.",
            bound,
        ),
        proved("It vanishes.", without_overlap(bounding)),
        results=(exact,),
        hypotheses=(FOURTH_MOMENT + ", and so has y (sigma' - h1)",),
    )


@functools.cache
def bulk(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """Result 3.1, bulk variance: c = |w + delta|^2 -> 1 + |delta|^2; equations (11), (46), (56)."""
    correction, cross, concentration = row_correction(noise), cross_term(noise), concentration_of_delta()
    meaning = define(
        s.c, 1 + s.delta_square + 2 * s.delta_cross, "the limit of |w + delta|^2, the square of a sum, with |w| = 1"
    )
    pieces = [correction.theorem_of(s.delta_square), cross.theorem_of(s.delta_cross)]
    result = rewritten(meaning, *pieces)
    return Derivation(
        "the bulk variance" + (" with label noise" if noise != 0 else ""),
        "Section 3.1, Result 3.1 and Appendix A.4",
        *correction.steps,
        *cross.steps[len(zero_means().steps) :],
        *concentration.steps,
        proved("The squared norm of w + delta, with |w| = 1.", meaning),
        proved("The limits of the pieces.", result),
        hypotheses=(*correction.hypotheses, *concentration.hypotheses, SELF_AVERAGING),
    )
