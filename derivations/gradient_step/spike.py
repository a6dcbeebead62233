r"""One gradient step makes a spike (Section 2, Section 3.1, Appendix A.1 to A.3 of arXiv 2402.04980).

The network f(x) = p^{-1/2} sum_k a_k sigma(w_k.x), with a = 1/sqrt(p) and rows of unit norm uniform on the sphere,
takes one gradient step of rate eta d on n0 samples. Here: the gradient, the size of the initial output, the split of
the step into a spike and a correction of the bulk, and the spike's two factors with their exact finite-size moments.
The bulk is in ``derivations.gradient_step.bulk``.

Throughout, u = theta.x is the target's view of a sample (written z inside averages), the d - 1 other coordinates of x
are standard normal and independent of it, and y = g(u) + sqrt(Delta) e is the label.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.gradient_step import symbols as s
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations, gaussian_moment
from onestep.derivations.language.named_functions import differentiate, g, reflect, sigma, sigma_prime

_t = sp.Symbol("t", real=True)  # a coordinate of x orthogonal to theta
_e = sp.Symbol("e", real=True)  # label noise of unit variance

# Averages that have a name.
NAMED = {
    Expectation(sigma(s.z) ** 2, s.z): s.h2,
    Expectation(g(s.z) ** 2, s.z): s.h2_star,
    Expectation(s.z * g(s.z), s.z): s.h1_star,
    Expectation(s.z * sigma(s.z), s.z): s.h1,
}

SELF_AVERAGING = (
    "Chebyshev's inequality and the continuous mapping theorem: a quantity whose variance tends to zero is replaced"
    " by its mean"
)
FOURTH_MOMENT = "the label has a finite fourth moment"
SECOND_MOMENT = "the label has a finite second moment, also with weight z^2"
OUTPUT_DROPPED = "the network's output is dropped from the residual of the step"
# What Result 3.1's strength and alignment rest on: the hypotheses of `spike`, known without deriving it.
OF_THE_SPIKE = (OUTPUT_DROPPED, SECOND_MOMENT, FOURTH_MOMENT, SELF_AVERAGING)


def label(noise: sp.Expr) -> sp.Expr:
    """y = g(theta.x) + sqrt(Delta) e; equation (2), with label noise of variance ``noise``."""
    return g(s.z) + sp.sqrt(noise) * _e


def average(integrand: sp.Expr) -> sp.Expr:
    """The average over u, t and e by linearity and independence, with h2*, h1*, h1, h2 under their names."""
    return expand_expectations(Expectation(integrand, s.z, _t, _e)).xreplace(NAMED)


def mean_over_pairs(count: sp.Expr, equal: sp.Expr, different: sp.Expr) -> sp.Expr:
    """(1/count^2) sum over i, j of a term worth ``equal`` for i = j and ``different`` otherwise."""
    return (equal + (count - 1) * different) / count


_labels = sp.IndexedBase("y")


def pair_sum(weights: sp.IndexedBase) -> sp.Expr:
    """|(1/n0) sum_mu w_mu x_mu|^2 as a double sum, for display: the products G = x_mu . x_nu of samples stay
    abstract.
    """
    mu, nu = sp.symbols("mu nu", integer=True)
    products = sp.IndexedBase("G")
    return sp.Sum(weights[mu] * weights[nu] * products[mu, nu], (mu, 1, s.n0), (nu, 1, s.n0)) / s.n0**2


def chi_square_moments(freedom: sp.Expr) -> tuple[sp.Expr, sp.Expr]:
    """First and second moment of a sum of ``freedom`` squares of independent standard normal variables."""
    first = freedom * gaussian_moment(2)
    second = freedom * gaussian_moment(4) + freedom * (freedom - 1) * gaussian_moment(2) ** 2
    return first, sp.factor(second)


@functools.cache
def gradient() -> Derivation:
    """The second line of equation (3), by differentiating the squared loss of one sample in one weight."""
    w, rest, others = sp.symbols(r"w_{k\ell} h_{\mathrm{rest}} f_{\mathrm{others}}", real=True)
    received = w * s.input_coordinate + rest
    f = s.readout_weight * sigma(received) / sp.sqrt(s.p) + others
    loss = (s.y - f) ** 2
    by_calculus = -s.eta * s.d / (2 * s.n0) * differentiate(loss, w)
    # The other neurons' output and the other coordinates' input enter only through f and h.
    named = (
        sp.expand(by_calculus).subs(others, s.output - f + others).subs(rest, s.preactivation - w * s.input_coordinate)
    )
    result = sp.factor(sp.expand(named))
    restored = result.subs({s.output: f, s.preactivation: received}, simultaneous=True)
    return Derivation(
        "the gradient of the squared loss",
        "Section 2, equation (3)",
        Step(
            "One neuron k and one coordinate l stand for all: the output is that neuron's share plus what"
            " does not depend on w_kl.",
            eq(s.output, f),
        ),
        Step(
            "The step is -(eta d)/(2 n0) times the derivative of the sample's squared residual, by the "
            "chain rule; the 1/2 cancels the 2.",
            eq(s.weight_step, by_calculus),
        ),
        Step(
            "Written with the output f and the pre-activation h = w_k.x; the step of the batch is the sum"
            " over its n0 samples.",
            eq(s.weight_step, result),
            Vanishing("putting f and h back gives the derivative again", restored - by_calculus),
        ),
        results={s.weight_step: result},
        hypotheses=("the activation is differentiable",),
    )


@functools.cache
def initial_output() -> Derivation:
    """E f^2 = h2/p at the start, exactly, for sigma odd, a = 1/sqrt(p) and rows of symmetric law."""
    second = sigma(s.overlap * s.z + sp.sqrt(1 - s.overlap**2) * _t)
    pair = Expectation(sigma(s.z) * second, s.z, _t)
    flipped = reflect(pair, s.overlap, _t)
    overlapping, flipped_name = sp.symbols(r"A{(\epsilon)} A{(-\epsilon)}", real=True)
    # The law of a row is symmetric: w and -w average to one pair of overlaps, epsilon and -epsilon.
    symmetrised = sp.expand(expand_expectations(pair + flipped)) / 2
    result = mean_over_pairs(s.p, average(sigma(s.z) ** 2), symmetrised)
    limit = sp.limit((s.d * result).subs(s.p, s.beta * s.d), s.d, sp.oo)
    return Derivation(
        "the initial output is small",
        "Section 2, text after equation (3)",
        Step(
            "Two neurons of overlap epsilon, in the plane that they span: the average of the product of their outputs.",
            eq(overlapping, pair),
        ),
        Step(
            "Flipping the second neuron flips epsilon; with the change of variables t -> -t and sigma odd"
            " the average changes sign.",
            eq(flipped_name, -overlapping),
            Vanishing("the average is odd in epsilon", flipped + pair),
        ),
        Step(
            "A row and its negative are equally likely, so different neurons contribute nothing and the p"
            " equal pairs give h2/p.",
            eq(s.initial_output_square, result),
            RationalLimit("d <f^2> -> h2/beta", (s.d * result).subs(s.p, s.beta * s.d), s.d, limit),
            RationalLimit("<f^2> -> 0", result.subs(s.p, s.beta * s.d), s.d, sp.S.Zero),
        ),
        results={s.initial_output_square: result},
        hypotheses=("the activation is odd", "the initial rows are independent and uniform on the unit sphere"),
    )


@functools.cache
def output_force() -> Derivation:
    """E |(1/n0) sum f x|^2 exactly and its limit zero: the output may be dropped from the residual of the step."""
    u = sigma(s.z)
    # |x|^2 is the neuron's own coordinate squared plus d - 1 others; different neurons average out as for E f^2.
    same_sample = (average(u**2 * s.z**2) + (s.d - 1) * average(u**2 * _t**2)) / s.p
    # E[f x] = (h1/p) sum of the rows, whose squared norm is p plus overlaps of mean zero.
    first = average(s.z * u)
    two_samples = first**2 * mean_over_pairs(s.p, sp.S.One, sp.S.Zero)
    result = mean_over_pairs(s.n0, same_sample, two_samples)
    in_d = result.subs({s.n0: s.alpha0 * s.d, s.p: s.beta * s.d})
    rate = sp.expand(sp.limit(s.d * in_d, s.d, sp.oo))
    return Derivation(
        "the output's share of the step",
        "Appendix A.1, the residual before equation (33)",
        Step(
            "One sample: f^2 |x|^2, where only equal neurons count, by the symmetry of the rows.",
            eq(sp.Symbol(r"\langle f^{2}|x|^{2}\rangle"), same_sample),
        ),
        Step(
            "Two samples: |E[f x]|^2 with E[f x] = (h1/p) sum_k w_k, by Stein's lemma for each neuron.",
            eq(sp.Symbol(r"\langle|\mathbb{E}[fx]|^{2}\rangle"), two_samples),
        ),
        Step(
            "Together, over n0 samples; at fixed ratios it vanishes, so the residual of the step is y.",
            eq(s.output_force, result),
            RationalLimit("the share vanishes", in_d, s.d, sp.S.Zero),
        ),
        Step(
            "It decays like 1/d.",
            eq(s.output_force_rate, rate),
            RationalLimit("d times the share has this limit", s.d * in_d, s.d, rate),
        ),
        results={s.output_force: result, s.output_force_rate: rate},
        hypotheses=("the activation is odd", "the initial rows are independent and uniform on the unit sphere"),
    )


@functools.cache
def split() -> Derivation:
    """Equations (33)-(38): sigma' = h1 + (sigma' - h1) splits the step into a rank-one matrix and the bulk
    correction.
    """
    step = gradient().results[s.weight_step].subs({s.output: 0, s.readout_weight: 1 / sp.sqrt(s.p)})
    derivative = sigma_prime(s.preactivation)
    spike_part = step.subs(derivative, s.h1)
    bulk_part = sp.factor(step.subs(derivative, derivative - s.h1))
    v_entry = s.y * s.input_coordinate / s.n0
    u_entry = sp.cancel(spike_part / v_entry)
    ratio = u_entry.subs(s.p, s.beta * s.d)
    return Derivation(
        "the split of the step into spike and bulk",
        "Appendix A.1, equations (33)-(38)",
        Step(
            "The step of one sample with a = 1/sqrt(p), the output left out of the residual.", eq(s.weight_step, step)
        ),
        Step(
            "The mean h1 of sigma' gives a product of a factor of the neuron and a factor of the sample: rank one.",
            eq(s.v_coordinate, v_entry),
            Vanishing("spike part = u~ v~", spike_part - u_entry * v_entry),
        ),
        Step(
            "What sigma' - h1 leaves is the correction of the bulk.",
            eq(s.bulk_step, bulk_part),
            Vanishing("the two parts add up to the step", spike_part + bulk_part - step),
        ),
        Step(
            "At p = beta d the neuron's factor has a limit; it is the same for all neurons, so "
            "|u~|/sqrt(p) is its modulus.",
            eq(s.spike_factor, ratio),
            Vanishing("no d is left", sp.diff(ratio, s.d)),
        ),
        results={s.spike_factor: ratio, s.v_coordinate: v_entry, s.bulk_step: bulk_part, s.weight_step: step},
        hypotheses=(OUTPUT_DROPPED,),
    )


@functools.cache
def moments_of_v(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """E|v~|^2, E[theta.v~] and Var(theta.v~), exactly at finite n0 and d; equations (39)-(42) and (44)."""
    y = label(noise)
    same = average(y**2 * s.z**2) + (s.d - 1) * average(y**2 * _t**2)
    along, across = average(y * s.z), average(y * _t)
    different = along**2 + (s.d - 1) * across**2
    square = mean_over_pairs(s.n0, same, different)
    variance = sp.factor(sp.expand(mean_over_pairs(s.n0, average(y**2 * s.z**2), along**2) - along**2))
    in_d = square.subs(s.n0, s.alpha0 * s.d)
    limit = sp.expand(sp.limit(in_d, s.d, sp.oo))
    return Derivation(
        "moments of the spike direction" + (" with label noise" if noise != 0 else ""),
        "Appendix A.2 and A.3, equations (39)-(42) and (44)",
        Step(
            "|v~|^2 is a sum over pairs of samples, with G = x_mu . x_nu.",
            eq(sp.Symbol(r"|\tilde{v}|^{2}_{n_0}"), pair_sum(_labels)),
        ),
        Step(
            "One sample: the label depends on u = theta.x alone, a standard normal variable written z in averages; "
            "|x|^2 is u^2 plus d - 1 squares t^2 of coordinates across theta, independent of the label and of mean "
            "one.",
            eq(sp.Symbol(r"\langle y^{2}|x|^{2}\rangle"), same),
            Vanishing("E[t^2] = 1", gaussian_moment(2) - 1),
        ),
        Step(
            "Two samples: the square of E[y x], which points along theta because E[y t] = E[y] E[t] = 0.",
            eq(sp.Symbol(r"|\langle yx\rangle|^{2}"), different),
            Vanishing("E[y t] = 0", across),
        ),
        Step(
            "Of the n0^2 pairs of samples n0 are equal: the exact second moment.",
            eq(s.v_square_mean, square),
            Vanishing(
                "n0 equal pairs and n0 (n0 - 1) different ones, over n0^2",
                s.n0**2 * square - s.n0 * same - s.n0 * (s.n0 - 1) * different,
            ),
        ),
        Step(
            "At n0 = alpha0 d it has a limit as d grows.",
            eq(s.v_square, limit),
            RationalLimit("E|v~|^2 has this limit", in_d, s.d, limit),
        ),
        Step(
            "Along theta, v~ is the mean of n0 independent terms y u.",
            eq(s.v_overlap_mean, along),
            Vanishing("label noise averages out", along - average(label(sp.S.Zero) * s.z)),
        ),
        Step(
            "The variance of that mean is the variance of one term over n0.",
            eq(s.v_overlap_variance, variance),
            RationalLimit("theta.v~ concentrates", variance.subs(s.n0, s.alpha0 * s.d), s.d, sp.S.Zero),
            Vanishing("the variance of a mean", s.n0 * variance - (average(y**2 * s.z**2) - along**2)),
        ),
        results={s.v_square_mean: square, s.v_square: limit, s.v_overlap_mean: along, s.v_overlap_variance: variance},
        hypotheses=(SECOND_MOMENT,),
    )


def squared_norm_variance(freedom: sp.Expr, second: sp.Expr, fourth: sp.Expr) -> sp.Expr:
    """Var |(1/n0) sum w x|^2 for x standard normal in ``freedom`` dimensions, independent of the weights w.

    Given the weights the sum is normal, of squared norm S chi^2 with S = (1/n0^2) sum w^2; ``second`` and
    ``fourth`` are E[w^2] and E[w^4].
    """
    first_chi, second_chi = chi_square_moments(freedom)
    mean_of_s = second / s.n0
    square_of_s = mean_over_pairs(s.n0, fourth, second**2) / s.n0**2
    return square_of_s * second_chi - (mean_of_s * first_chi) ** 2


@functools.cache
def concentration_of_v(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """The part of v~ orthogonal to theta has a squared norm whose variance is O(1/d): exact variance and its limit."""
    y = label(noise)
    second, fourth = average(y**2), average(y**4)
    variance = squared_norm_variance(s.d - 1, second, fourth)
    in_d = variance.subs(s.n0, s.alpha0 * s.d)
    first_chi, second_chi = chi_square_moments(s.d - 1)
    leading = sp.limit(s.d * in_d, s.d, sp.oo)
    return Derivation(
        "concentration of the spike direction",
        "Appendix A.2, between equations (39) and (42)",
        Step(
            "Given the labels, the part of v~ orthogonal to theta is normal: its squared norm is S chi^2 with "
            "d - 1 degrees of freedom and S = (1/n0^2) sum y_mu^2.",
            eq(sp.Symbol(r"\langle\chi^{4}\rangle"), second_chi),
            Vanishing("second moment of chi-square", second_chi - (s.d - 1) * (s.d + 1)),
            Vanishing("its mean", first_chi - s.d + 1),
        ),
        Step(
            "S is a sum of squared labels over n0^2; with its second moment the variance is exact.",
            eq(s.v_perp_variance, variance),
            RationalLimit("the variance vanishes", in_d, s.d, sp.S.Zero),
            RationalLimit("it decays like 1/d", s.d * in_d, s.d, leading),
        ),
        results={s.v_perp_variance: variance},
        hypotheses=(FOURTH_MOMENT,),
    )


@functools.cache
def spike(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """Result 3.1, spike strength and alignment: r = u~ |v~| and gamma = theta.v~/|v~|.

    Equations (9), (10), (37), (43)-(45).
    """
    moments, concentration, parts = moments_of_v(noise), concentration_of_v(noise), split()
    r = parts.results[s.spike_factor] * sp.sqrt(moments.results[s.v_square])
    gamma = moments.results[s.v_overlap_mean] / sp.sqrt(moments.results[s.v_square])
    return Derivation(
        "spike strength and alignment" + (" with label noise" if noise != 0 else ""),
        "Section 3.1, Result 3.1 and Appendix A.2, A.3",
        *parts.steps,
        *moments.steps,
        *concentration.steps,
        Step(
            "u = 1_p and v = v~/|v~| are normalised, so r is the neuron's factor times |v~|; h1 < 0 makes it negative.",
            eq(s.r, r),
            Vanishing(
                "r^2 is the product of the squared norms",
                r**2 - parts.results[s.spike_factor] ** 2 * moments.results[s.v_square],
            ),
        ),
        Step(
            "The alignment is the overlap of theta with the normalised direction.",
            eq(s.gamma, gamma),
            Vanishing(
                "gamma |v~| = theta.v~", gamma**2 * moments.results[s.v_square] - moments.results[s.v_overlap_mean] ** 2
            ),
        ),
        results={s.r: r, s.gamma: gamma},
        hypotheses=(*parts.hypotheses, *moments.hypotheses, *concentration.hypotheses, SELF_AVERAGING),
    )
