r"""One gradient step widens the bulk (Appendix A.4 of arXiv 2402.04980): the norm of a row after the step.

delta = e (1/n0) sum_mu y_mu s(w.x_mu) x_mu is a row of the bulk correction, with e = eta/beta and s = sigma' - h1.
The plane of theta and w carries two coordinates of a sample, u = theta.x (written z) and t, so that w.x = epsilon u +
sqrt(1 - epsilon^2) t with epsilon = w.theta = O(d^{-1/2}); the d - 2 others are independent of label and weight.

The limit is taken in sqrt(d): epsilon = tau/sqrt(d), and every average is its Taylor polynomial in epsilon plus
epsilon^2 times a bounded remainder.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.gradient_step import symbols as s
from onestep.derivations.gradient_step.constants import first_coefficient, stein_step
from onestep.derivations.gradient_step.spike import (
    FOURTH_MOMENT,
    SELF_AVERAGING,
    mean_over_pairs,
    pair_sum,
    squared_norm_variance,
)
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq, le
from onestep.derivations.language.expectation import Expectation, expand_expectations, gaussian_moment
from onestep.derivations.language.named_functions import (
    differentiate,
    g,
    g_prime,
    reflect,
    separate,
    sigma_check,
    sigma_prime,
    sigma_second,
)

_t = sp.Symbol("t", real=True)

_noise = sp.Symbol("e", real=True)  # label noise of unit variance

root_d = sp.Symbol("D", positive=True)  # sqrt(d)

tau = sp.Symbol("tau", real=True)  # sqrt(d) w.theta

STEP = s.eta / s.beta

ODD = "the activation is odd"

SMOOTH = (
    "averages over a sample are twice differentiable in epsilon = w.theta = O(d^(-1/2)) with bounded second "
    "derivatives near zero"
)


def along_w() -> sp.Expr:
    """w.x in the plane of theta and w: epsilon u + sqrt(1 - epsilon^2) t."""
    return s.overlap * s.z + sp.sqrt(1 - s.overlap**2) * _t


def noisy(integrand: sp.Expr, noise: sp.Expr) -> sp.Expr:
    """The average of an integrand in the label ``y`` over the label noise, y = g(u) + sqrt(Delta) e."""
    return expand_expectations(Expectation(integrand.subs(s.y, g(s.z) + sp.sqrt(noise) * _noise), _noise))


def average(integrand: sp.Expr, noise: sp.Expr = sp.S.Zero) -> sp.Expr:
    """E over the plane (u, t) and the label noise."""
    return Expectation(noisy(integrand, noise), s.z, _t)


def at_zero_overlap(expectation: sp.Expr) -> sp.Expr:
    """The average at epsilon = 0, where u and w.x are independent, with the known averages named."""
    return separate(expectation.subs(s.overlap, 0)).xreplace(named_averages())


def named_averages() -> dict[sp.Expr, sp.Expr]:
    """h2*, h1* by definition; E[s^2], E[s] and E[z s] by :func:`zero_means` and by definition of h1_check."""
    return {
        Expectation(g(s.z) ** 2, s.z): s.h2_star,
        Expectation(s.z * g(s.z), s.z): s.h1_star,
        Expectation(sigma_check(s.z) ** 2, s.z): s.h1_check,
        **zero_means().results,
    }


def taylor(expectation: sp.Expr, remainder: sp.Symbol) -> sp.Expr:
    """Value and first derivative at epsilon = 0, plus epsilon^2 times a bounded remainder."""
    first = differentiate(expectation, s.overlap)
    return at_zero_overlap(expectation) + s.overlap * at_zero_overlap(first) + s.overlap**2 * remainder


def zero_if_odd(average: Expectation) -> sp.Expr:
    """Zero where the average turns into its negative under z -> -z, the average itself otherwise."""
    return sp.S.Zero if expand_expectations(reflect(average, s.z)) == -average else average


@functools.cache
def zero_means() -> Derivation:
    """E[s] = 0 and, for sigma odd, E[z s] = E[sigma''] = 0; equation (52)."""
    mean_of_derivative = Expectation(sigma_prime(s.z), s.z)
    mean = expand_expectations(Expectation(sigma_prime(s.z) - s.h1, s.z)).subs(s.h1, first_coefficient().results[s.h1])
    curvature = Expectation(sigma_second(s.z), s.z)
    weighted = Expectation(s.z * sigma_check(s.z), s.z)
    by_stein = stein_step(s.z * sigma_check(s.z), s.z)
    vanishing = zero_if_odd(curvature)
    return Derivation(
        "the means of sigma' - h1 and of sigma''",
        "Appendix A.4, equation (52)",
        Step(
            "h1 is the mean of sigma', so sigma' - h1 has mean zero.",
            eq(Expectation(sigma_check(s.z), s.z), mean_of_derivative - s.h1),
            Vanishing("sigma' - h1 has mean zero", mean),
        ),
        Step(
            "sigma is odd, so sigma'' is odd: its average equals its negative.",
            eq(curvature, vanishing),
            Vanishing("the average equals its negative", expand_expectations(reflect(curvature, s.z)) + curvature),
        ),
        Step(
            "Stein's lemma carries this over to E[z (sigma' - h1)].",
            eq(weighted, by_stein.subs(curvature, vanishing)),
            Vanishing("z (sigma' - h1) is odd as well", expand_expectations(reflect(weighted, s.z)) + weighted),
        ),
        results={
            Expectation(sigma_check(s.z), s.z): mean,
            curvature: vanishing,
            weighted: by_stein.subs(curvature, vanishing),
        },
        hypotheses=(ODD,),
    )


@functools.cache
def mean_vector() -> Derivation:
    """E[y s(w.x) x] = theta E[g' s] + w E[g sigma''] by Stein's lemma in both coordinates of the plane.

    Equation (51).
    """
    weight = g(s.z) * sigma_check(along_w())
    on_theta = stein_step(s.z * weight, s.z, _t)
    on_t = stein_step(_t * weight, _t, s.z)
    gradient_term = Expectation(g_prime(s.z) * sigma_check(along_w()), s.z, _t)
    curvature_term = Expectation(g(s.z) * sigma_second(along_w()), s.z, _t)
    on_theta, on_t = expand_expectations(on_theta), expand_expectations(on_t)
    on_t = on_t.xreplace(
        {Expectation(e.integrand, *e.variables): Expectation(e.integrand, s.z, _t) for e in on_t.atoms(Expectation)}
    )
    # theta has coordinates (1, 0) in the plane, w has (epsilon, sqrt(1 - epsilon^2)).
    vector = (gradient_term + s.overlap * curvature_term, sp.sqrt(1 - s.overlap**2) * curvature_term)
    return Derivation(
        "the mean of a row's correction, by Stein's lemma",
        "Appendix A.4, equation (51)",
        Step(
            "Target and row span a plane: theta.x = u, w.x = epsilon u + sqrt(1 - epsilon^2) t with epsilon = "
            "w.theta and u, t standard normal (u is written z in averages). By Stein's lemma a factor u is a "
            "derivative in u; it acts on the target and, with weight epsilon, on the activation.",
            eq(Expectation(s.z * weight, s.z, _t), on_theta),
            Vanishing("first coordinate of theta A + w B", on_theta - vector[0]),
        ),
        Step(
            "Along t, the other axis of the plane, only the activation is differentiated.",
            eq(Expectation(_t * weight, s.z, _t), on_t),
            Vanishing("second coordinate of theta A + w B", on_t - vector[1]),
        ),
        results={Expectation(s.z * weight, s.z, _t): on_theta, Expectation(_t * weight, s.z, _t): on_t},
        hypotheses=("target and activation are regular enough for Stein's lemma",),
    )


def _delta_square(noise: sp.Expr) -> tuple[sp.Expr, sp.Expr, sp.Expr, sp.Expr]:
    """The averages in E|delta|^2: E[y^2 s^2], E[y^2 s^2 (u^2 + t^2)], E[y s u], E[y s t]."""
    s_value = sigma_check(along_w())
    weight_square = s.y**2 * s_value**2
    return (
        average(weight_square * gaussian_moment(2), noise),
        average(weight_square * (s.z**2 + _t**2), noise),
        average(s.y * s_value * s.z, noise),
        average(s.y * s_value * _t, noise),
    )


@functools.cache
def row_correction(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """E|delta|^2 exactly at finite n0 and d, and its limit; equations (46)-(53)."""
    bare, planar, on_theta, on_t = _delta_square(noise)
    same = (s.d - 2) * bare + planar
    different = on_theta**2 + on_t**2
    exact = STEP**2 * mean_over_pairs(s.n0, same, different)
    remainders = sp.symbols("R_1 R_2 R_3 R_4", real=True)
    expanded = [taylor(e, remainder) for e, remainder in zip((bare, planar, on_theta, on_t), remainders, strict=True)]
    polynomial = STEP**2 * mean_over_pairs(
        s.n0, (s.d - 2) * expanded[0] + expanded[1], expanded[2] ** 2 + expanded[3] ** 2
    )
    in_root = polynomial.subs(s.n0, s.alpha0 * s.d).subs({s.d: root_d**2, s.overlap: tau / root_d})
    limit = sp.factor(sp.limit(sp.expand(in_root), root_d, sp.oo))
    return Derivation(
        "the norm of a row's correction" + (" with label noise" if noise != 0 else ""),
        "Appendix A.4, equations (46)-(53)",
        *zero_means().steps,
        *mean_vector().steps,
        Step(
            "delta is the row's correction: |delta|^2 is a sum over pairs of samples, with the weight a = "
            "(eta/beta) y s(w.x) of each, s = sigma' - h1, and G = x_mu . x_nu.",
            eq(sp.Symbol(r"|\delta|^{2}_{n_0}"), pair_sum(sp.IndexedBase("a"))),
        ),
        Step(
            "Equal samples give E[y^2 s^2 |x|^2]: d - 2 independent squares of mean one and the two of the plane.",
            eq(sp.Symbol(r"\langle y^{2}s^{2}|x|^{2}\rangle"), same),
        ),
        Step(
            "Different samples give the squared length of E[y s x], which lies in the plane.",
            eq(sp.Symbol(r"|\langle ysx\rangle|^{2}"), different),
            *(
                Vanishing(f"E[y s {axis}] vanishes at epsilon = 0", at_zero_overlap(e))
                for axis, e in (("u", on_theta), ("t", on_t))
            ),
        ),
        Step(
            "Of the n0^2 pairs of samples n0 are equal: exact at finite n0 and d.",
            eq(s.delta_square_mean, exact),
            Vanishing(
                "n0 equal and n0 (n0 - 1) different pairs, over n0^2",
                s.n0**2 * exact - STEP**2 * (s.n0 * same + s.n0 * (s.n0 - 1) * different),
            ),
        ),
        Step(
            "Neuron and target overlap by epsilon = tau/sqrt(d): at epsilon = 0 the averages factor, and the vector of "
            "the second summand vanishes, so that only the equal samples remain.",
            eq(s.delta_square, limit),
            RationalLimit("E|delta|^2 has this limit", in_root, root_d, limit),
        ),
        results={s.delta_square_mean: exact, s.delta_square: limit},
        hypotheses=(*zero_means().hypotheses, SMOOTH),
    )


@functools.cache
def cross_term(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """2 w.delta -> 0: its mean e E[y s(w.x) w.x], over label noise too, vanishes with epsilon; equations (54), (55)."""
    received = along_w()
    mean = STEP * average(s.y * sigma_check(received) * received, noise)
    square = STEP**2 * average(s.y**2 * sigma_check(received) ** 2 * received**2, noise)
    expanded = taylor(mean, sp.Symbol("R_5", real=True))
    variance = (taylor(square, sp.Symbol("R_6", real=True)) - expanded**2) / s.n0
    along_root = {s.d: root_d**2, s.overlap: tau / root_d}
    limit = sp.limit(expanded.subs(along_root), root_d, sp.oo)
    return Derivation(
        "the cross term of a row's norm" + (" with label noise" if noise != 0 else ""),
        "Appendix A.4, equations (54)-(55)",
        *zero_means().steps,
        Step(
            "At epsilon = 0 the mean factors into E[y] and E[z (sigma' - h1)], and the second factor is zero.",
            eq(sp.Symbol(r"\langle{w\cdot\delta}\rangle"), mean),
            Vanishing("the mean vanishes at epsilon = 0", at_zero_overlap(mean)),
        ),
        Step(
            "The overlap epsilon = tau/sqrt(d) tends to zero, and the mean with it.",
            eq(s.delta_cross, limit),
            RationalLimit("w.delta has mean zero in the limit", expanded.subs(along_root), root_d, limit),
        ),
        Step(
            "It is a mean of n0 independent terms, so its variance is O(1/n0).",
            eq(sp.Symbol(r"\mathrm{Var}(w\cdot\delta)"), (square - mean**2) / s.n0),
            RationalLimit(
                "its variance vanishes", variance.subs(s.n0, s.alpha0 * s.d).subs(along_root), root_d, sp.S.Zero
            ),
        ),
        results={s.delta_cross: limit},
        hypotheses=(ODD, SMOOTH),
    )


@functools.cache
def concentration_of_delta() -> Derivation:
    """|delta|^2 orthogonal to the plane of theta and w: exact variance, O(1/d); equations (47), (49)."""
    second, fourth = sp.symbols(r"\langle(ys)^{2}\rangle \langle(ys)^{4}\rangle", positive=True)
    variance = STEP**4 * squared_norm_variance(s.d - 2, second, fourth)
    planar = STEP**2 * sp.Symbol(r"\langle(ysu)^{2}\rangle", positive=True) / s.n0
    in_d = variance.subs(s.n0, s.alpha0 * s.d)
    return Derivation(
        "concentration of a row's correction",
        "Appendix A.4, equations (47)-(49)",
        Step(
            "Given u and t of every sample the part of delta across the plane is normal, so the argument for the "
            "spike direction applies with y s in place of y.",
            eq(s.delta_variance, variance),
            RationalLimit("the variance vanishes", in_d, s.d, sp.S.Zero),
        ),
        Step(
            "The two coordinates of delta in the plane are means of n0 independent terms: the variance of either "
            "is at most a second moment over n0.",
            le(sp.Symbol(r"\mathrm{Var}(\delta_{u})"), planar),
            RationalLimit("it vanishes", planar.subs(s.n0, s.alpha0 * s.d), s.d, sp.S.Zero),
        ),
        results={s.delta_variance: variance},
        hypotheses=(FOURTH_MOMENT + ", and so has y (sigma' - h1)",),
    )


@functools.cache
def bulk(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """Result 3.1, bulk variance: c = |w + delta|^2 -> 1 + |delta|^2; equations (11), (46), (56)."""
    correction, cross, concentration = row_correction(noise), cross_term(noise), concentration_of_delta()
    row, change = sp.Matrix(sp.symbols("w_1 w_2", real=True)), sp.Matrix(sp.symbols("delta_1 delta_2", real=True))
    square = sp.expand((row + change).dot(row + change))
    pieces = row.dot(row) + change.dot(change) + 2 * row.dot(change)
    result = 1 + correction.results[s.delta_square] + 2 * cross.results[s.delta_cross]
    return Derivation(
        "the bulk variance" + (" with label noise" if noise != 0 else ""),
        "Section 3.1, Result 3.1 and Appendix A.4",
        *correction.steps,
        *cross.steps[len(zero_means().steps) :],
        *concentration.steps,
        Step(
            "The squared norm of w + delta, with |w| = 1.",
            eq(s.c, 1 + s.delta_square + 2 * s.delta_cross),
            Vanishing("|w + delta|^2 in the plane of the two", square - pieces),
        ),
        Step(
            "The limits of the pieces.",
            eq(s.c, result),
            Vanishing(
                "the pieces inserted",
                (1 + s.delta_square + 2 * s.delta_cross).subs(
                    {s.delta_square: correction.results[s.delta_square], s.delta_cross: sp.S.Zero}
                )
                - result,
            ),
        ),
        results={s.c: result},
        hypotheses=(*correction.hypotheses, *concentration.hypotheses, SELF_AVERAGING),
    )
