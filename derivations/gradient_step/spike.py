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

from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.gradient_step.assumptions import (
    H1,
    H1_STAR,
    H2,
    H2_STAR,
    OUTPUT_IS_DROPPED,
    READOUT_OF_ONES,
    SAMPLES,
    WIDTH,
    concentrates,
    odd_at,
    repeated_is,
)
from giantsteps.derivations.kernel.algebra import congruence, differentiate, rewrite
from giantsteps.derivations.kernel.averages import linear, stein
from giantsteps.derivations.kernel.limits import limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, reflected
from giantsteps.derivations.kernel.search.goals import limit_of
from giantsteps.derivations.kernel.search.steps import by_ring, equal, named, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, loss, loss_prime, repeated, sigma, sigma_prime

_t, _t2 = sp.symbols("t t'", real=True)  # coordinates of x orthogonal to theta, of two samples
_e = sp.Symbol("e", real=True)  # label noise of unit variance
_hole = sp.Symbol("hole", real=True)

SELF_AVERAGING = (
    "Chebyshev's inequality and the continuous mapping theorem: a quantity whose variance tends to zero is replaced"
    " by its mean"
)
FOURTH_MOMENT = "the label has a finite fourth moment"
SECOND_MOMENT = "the label has a finite second moment, also with weight z^2"
OUTPUT_DROPPED = "the network's output is dropped from the residual of the step"
# What Result 3.1's strength and alignment rest on: the hypotheses of `spike`, known without deriving it.
OF_THE_SPIKE = (OUTPUT_DROPPED, SECOND_MOMENT, FOURTH_MOMENT, SELF_AVERAGING)


def label(noise: sp.Expr, z: sp.Symbol = s.z, e: sp.Symbol = _e) -> sp.Expr:
    """y = g(theta.x) + sqrt(Delta) e; equation (2), with label noise of variance ``noise``."""
    return g(z) + sp.sqrt(noise) * e


def counted(theorem: Theorem) -> Theorem:
    """``theorem`` with every sum of equal terms on its right side counted, the inner ones first."""
    while sums := value(theorem).atoms(repeated):
        inner = min((call for call in sums if not call.args[1].has(repeated)), key=sp.default_sort_key)
        theorem = rewrite((theorem, repeated_is(inner)))
    return theorem


def evaluated(theorem: Theorem, *names: Theorem) -> Theorem:
    """``theorem`` counted, its averages expanded, and averages that have a name under it."""
    return named(averages_expanded(counted(theorem)), *names)


def over_pairs(count: sp.Expr, equal_pair: sp.Expr, different: sp.Expr) -> sp.Expr:
    """The average of (1/count^2) sum over i, j: count pairs of one with itself and count (count - 1) others."""
    return (repeated(count, equal_pair) + repeated(count * (count - 1), different)) / count**2


def squared_length(
    force: sp.Expr, tied: tuple[sp.Symbol, ...], draws: tuple[sp.Symbol, ...], across: sp.Symbol
) -> sp.Expr:
    """E|(1/n0) sum f x|^2 over pairs of samples: coordinates ``tied`` to f, and the rest, which are independent.

    ``across`` is one of the rest, and ``draws`` are all that a sample is made of.
    """
    rest = s.d - len(tied)
    return over_pairs(
        s.n0,
        Expectation(force**2 * sum(x**2 for x in tied), *draws)
        + repeated(rest, Expectation(force**2 * across**2, *draws)),
        sum(Expectation(force * x, *draws) ** 2 for x in tied)
        + repeated(rest, Expectation(force * across, *draws) ** 2),
    )


@functools.cache
def gradient() -> Derivation:
    """The second line of equation (3), by differentiating the squared loss of one sample in one weight."""
    w, rest, others = sp.symbols(r"w_{k\ell} h_{\mathrm{rest}} f_{\mathrm{others}}", real=True)
    received = w * s.input_coordinate + rest
    f = s.readout_weight * sigma(received) / sp.sqrt(s.p) + others
    of_one_weight = define(
        loss(w), (s.y - f) ** 2, "the squared loss of one sample as a function of one weight, all others fixed", w
    )
    slope = differentiate((of_one_weight,), w)
    step = define(
        s.weight_step, -s.eta * s.d / (2 * s.n0) * loss_prime(w), "-(eta d)/(2 n0) times the slope of the loss"
    )
    output = define(s.output, f, "the network's output: this neuron's share and the others'")
    preactivation = define(s.preactivation, received, "what the neuron receives from the sample")
    by_calculus = rewrite((step, slope))
    result = (
        s.eta * s.d / (s.n0 * sp.sqrt(s.p)) * s.readout_weight
        * (s.y - s.output) * sigma_prime(s.preactivation) * s.input_coordinate
    )  # fmt: skip
    step_named = rewrite((by_calculus, preactivation), True)
    output_named = rewrite((output, preactivation), True)
    final = by_ring(Equation(s.weight_step, result), step_named, output_named)
    return Derivation(
        "the gradient of the squared loss",
        "Section 2, equation (3)",
        proved(
            "One neuron k and one coordinate l stand for all: the output is that neuron's share plus what"
            " does not depend on w_kl.",
            output,
        ),
        proved(
            "The step is -(eta d)/(2 n0) times the derivative of the sample's squared residual, by the "
            "chain rule; the 1/2 cancels the 2.",
            by_calculus,
        ),
        proved(
            "Written with the output f and the pre-activation h = w_k.x; the step of the batch is the sum"
            " over its n0 samples.",
            final,
        ),
        results={s.weight_step: result},
        hypotheses=("the activation is differentiable",),
    )


def _antisymmetric(pair: Expectation) -> Theorem:
    """average at -epsilon = -(average at epsilon), for a product with one factor sigma(epsilon z + ... t).

    Negating t leaves the law of t alone; sigma is odd.
    """
    turned = reflected(pair.xreplace({s.overlap: -s.overlap}), _t)
    odd = rewrite((turned, odd_at(s.overlap * s.z + sp.sqrt(1 - s.overlap**2) * _t)))
    return rewrite((odd, linear((), value(odd), ((sp.Integer(-1), pair.integrand),))))


def _over_rows(average: Expectation) -> sp.Expr:
    """The average over rows of overlap epsilon and -epsilon, which are equally likely."""
    return (average + average.xreplace({s.overlap: -s.overlap})) / 2


def in_dimension(exact: Theorem) -> Theorem:
    """The right side at p = beta d and n0 = alpha0 d."""
    return rewritten(exact, WIDTH, SAMPLES)


def tends_to(exact: Theorem, limit: sp.Expr | None = None) -> Theorem:
    """left -> limit as d grows, for left = something rational in d at fixed ratios."""
    grown = in_dimension(exact)
    found = limit_of(value(grown), s.d) if limit is None else limit_rational((), value(grown), limit, s.d)
    return rewrite((found, grown), True)


@functools.cache
def initial_output() -> Derivation:
    """E f^2 = h2/p at the start, exactly, for sigma odd, a = 1/sqrt(p) and rows of symmetric law."""
    second = sigma(s.overlap * s.z + sp.sqrt(1 - s.overlap**2) * _t)
    pair = Expectation(sigma(s.z) * second, s.z, _t)
    antisymmetric = _antisymmetric(pair)
    meaning = define(
        s.initial_output_square,
        over_pairs(s.p, Expectation(sigma(s.z) ** 2, s.z), _over_rows(pair)),
        "E f^2 over the input and the rows: two neurons have overlap epsilon as often as -epsilon",
    )
    exact = equal(rewrite((rewrite((counted(meaning), antisymmetric)), H2), True), s.h2 / s.p)
    return Derivation(
        "the initial output is small",
        "Section 2, text after equation (3)",
        proved(
            "E f^2 over pairs of neurons: a neuron with itself, and two neurons in the plane that they span, where "
            "a row and its negative are equally likely.",
            meaning,
        ),
        proved(
            "Flipping the second neuron flips epsilon; with the change of variables t -> -t and sigma odd"
            " the average changes sign.",
            antisymmetric,
        ),
        proved("So different neurons contribute nothing and the p equal pairs give h2/p.", exact),
        proved("At p = beta d it vanishes as d grows.", tends_to(exact, sp.Integer(0))),
        results=(exact,),
        hypotheses=("the activation is odd", "the initial rows are independent and uniform on the unit sphere"),
    )


@functools.cache
def output_force() -> Derivation:
    """E |(1/n0) sum f x|^2 exactly and its limit zero: the output may be dropped from the residual of the step."""
    u = sigma(s.z)
    v = sigma(s.overlap * s.z + sp.sqrt(1 - s.overlap**2) * _t)
    planar = Expectation(u * v * (s.z**2 + _t**2), s.z, _t)
    across = Expectation(u * v * _t2**2, s.z, _t, _t2)
    one_sample = over_pairs(
        s.p,
        Expectation(u**2 * s.z**2, s.z) + repeated(s.d - 1, Expectation(u**2 * _t**2, s.z, _t)),
        _over_rows(planar) + repeated(s.d - 2, _over_rows(across)),
    )
    # E[f x] = (1/p) sum of E[z sigma(z)] w over the rows w, and different rows are orthogonal on average.
    two_samples = over_pairs(s.p, Expectation(s.z * u, s.z) ** 2, sp.Integer(0))
    meaning = define(
        s.output_force,
        over_pairs(s.n0, one_sample, two_samples),
        "E|(1/n0) sum f x|^2 over samples and rows, in coordinates of the plane of two rows and across it",
    )
    by_symmetry = rewritten(counted(meaning), _antisymmetric(planar), _antisymmetric(across))
    exact = evaluated(equal(by_symmetry, sp.cancel(value(by_symmetry))), H2, H1)
    times_d = congruence((in_dimension(exact),), s.d * s.output_force, s.output_force)
    tends = rewrite((limit_of(value(times_d), s.d), times_d), True)
    rate = name_limit((tends,), s.output_force_rate, "the limit of d E|(1/n0) sum f x|^2")
    return Derivation(
        "the output's share of the step",
        "Appendix A.1, the residual before equation (33)",
        proved(
            "Over pairs of samples. One sample: f^2 |x|^2 over pairs of neurons. Two samples: |E[f x]|^2 with "
            "E[f x] = (1/p) sum_k E[z sigma(z)] w_k, where different rows are orthogonal on average.",
            meaning,
        ),
        proved("By the symmetry of the rows only equal neurons count.", exact),
        proved("At fixed ratios it vanishes, so the residual of the step is y.", tends_to(exact, sp.Integer(0))),
        proved("It decays like 1/d.", rate),
        results=(exact, rate),
        hypotheses=("the activation is odd", "the initial rows are independent and uniform on the unit sphere"),
    )


@functools.cache
def split() -> Derivation:
    """Equations (33)-(38): sigma' = h1 + (sigma' - h1) splits the step into a rank-one matrix and the bulk
    correction.
    """
    step = rewritten(gradient().theorems[-1], OUTPUT_IS_DROPPED, READOUT_OF_ONES)
    spike_factor = define(s.spike_factor, s.eta * s.d / sp.sqrt(s.p) * s.h1 * s.readout_weight, "equation (34)")
    over_input = Expectation(value(step).xreplace({s.preactivation: s.z}), s.z)
    mean_slope = rewrite((H1, stein((), value(H1), s.z, sigma(s.z))))
    v_meaning = define(
        s.v_coordinate, over_input / s.spike_factor, "equation (35): the step averaged over what the neuron receives"
    )
    v_mean = rewrite((averages_expanded(v_meaning), mean_slope), True)
    v_entry = equal(rewritten(v_mean, spike_factor, READOUT_OF_ONES), s.y * s.input_coordinate / s.n0)
    left_over = define(
        s.bulk_step, s.weight_step - s.spike_factor * s.v_coordinate, "what the spike leaves of the step"
    )
    bulk = rewritten(left_over, step, spike_factor, v_entry, READOUT_OF_ONES)
    bulk_part = s.eta * s.d / (s.n0 * s.p) * s.y * (sigma_prime(s.preactivation) - s.h1) * s.input_coordinate
    factor = rewritten(spike_factor, READOUT_OF_ONES, WIDTH)
    return Derivation(
        "the split of the step into spike and bulk",
        "Appendix A.1, equations (33)-(38)",
        proved("The step of one sample with a = 1/sqrt(p), the output left out of the residual.", step),
        proved("A factor of the neuron with the mean h1 of sigma',", spike_factor),
        proved("and a factor of the sample, the mean step over it: their product has rank one.", v_entry),
        proved("What sigma' - h1 leaves is the correction of the bulk.", equal(bulk, bulk_part)),
        proved(
            "At p = beta d no d is left in the neuron's factor; it is the same for all neurons, so "
            "|u~|/sqrt(p) is its modulus.",
            factor,
        ),
        results={
            s.spike_factor: value(factor),
            s.v_coordinate: value(v_entry),
            s.bulk_step: bulk_part,
            s.weight_step: value(step),
        },
        hypotheses=(OUTPUT_DROPPED,),
    )


@functools.cache
def moments_of_v(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """E|v~|^2, E[theta.v~] and Var(theta.v~), exactly at finite n0 and d; equations (39)-(42) and (44)."""
    y = label(noise)
    along, square_along = Expectation(y * s.z, s.z, _e), Expectation(y**2 * s.z**2, s.z, _e)
    meaning = define(
        s.v_square_mean,
        squared_length(y, (s.z,), (s.z, _e, _t), _t),
        "E|(1/n0) sum y x|^2 over pairs of samples, in coordinates along theta and across it",
    )
    counted_pairs = evaluated(meaning, H1_STAR, H2_STAR)
    same = s.d * noise + (s.d - 1) * s.h2_star + Expectation(g(s.z) ** 2 * s.z**2, s.z)
    square = equal(counted_pairs, (1 - 1 / s.n0) * s.h1_star**2 + same / s.n0)
    mean = evaluated(define(s.v_overlap_mean, repeated(s.n0, along) / s.n0, "E[theta.v~]"), H1_STAR)
    spread = define(
        s.v_overlap_variance, over_pairs(s.n0, square_along, along**2) - s.v_overlap_mean**2, "Var(theta.v~)"
    )
    variance = rewritten(evaluated(spread, H1_STAR), mean)
    variance = equal(variance, sp.factor(value(variance)))
    limit = name_limit((tends_to(square),), s.v_square, "the limit of E|v~|^2")
    return Derivation(
        "moments of the spike direction" + (" with label noise" if noise != 0 else ""),
        "Appendix A.2 and A.3, equations (39)-(42) and (44)",
        proved(
            "|v~|^2 is a sum over pairs of samples. The label depends on u = theta.x alone, a standard normal "
            "variable written z in averages; the d - 1 other coordinates t are independent of it.",
            meaning,
        ),
        proved(
            "n0 equal pairs and n0 (n0 - 1) different ones; E[t^2] = 1, and E[y t] = E[y] E[t] = 0: the exact "
            "second moment.",
            square,
        ),
        proved("At n0 = alpha0 d it has a limit as d grows.", limit),
        proved("Along theta, v~ is the mean of n0 independent terms y u, and label noise averages out.", mean),
        proved("The variance of that mean is the variance of one term over n0.", variance),
        proved("So theta.v~ concentrates.", tends_to(variance, sp.Integer(0))),
        results=(square, limit, mean, variance),
        hypotheses=(SECOND_MOMENT,),
    )


def squared_norm_variance(
    name: sp.Symbol, freedom: sp.Expr, first: sp.Expr, second: sp.Expr, *names: Theorem
) -> tuple[Theorem, Theorem]:
    """Var |(1/n0) sum w x|^2 for x standard normal in ``freedom`` dimensions, independent of the weights w.

    Given the weights the sum is normal, of squared norm S chi^2 with S = (1/n0^2) sum w^2; ``first`` and ``second`` are
    E[w^2] and E[w^4]. Returns what it means and what it is.
    """
    chi_2 = repeated(freedom, Expectation(_t**2, _t))
    chi_4 = repeated(freedom, Expectation(_t**4, _t)) + repeated(
        freedom * (freedom - 1), Expectation(_t**2 * _t2**2, _t, _t2)
    )
    s_1, s_2 = repeated(s.n0, first) / s.n0**2, over_pairs(s.n0, second, first**2) / s.n0**2
    meaning = define(name, s_2 * chi_4 - (s_1 * chi_2) ** 2, "Var(S chi^2) = E[S^2] E[chi^4] - (E[S] E[chi^2])^2")
    return meaning, evaluated(meaning, *names)


@functools.cache
def concentration_of_v(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """The part of v~ orthogonal to theta has a squared norm whose variance is O(1/d): exact variance and its limit."""
    moments = [Expectation(label(noise) ** power, s.z, _e) for power in (2, 4)]
    meaning, counted_pairs = squared_norm_variance(s.v_perp_variance, s.d - 1, *moments, H2_STAR)
    variance = equal(counted_pairs, sp.factor(value(counted_pairs)))
    return Derivation(
        "concentration of the spike direction",
        "Appendix A.2, between equations (39) and (42)",
        proved(
            "Given the labels, the part of v~ orthogonal to theta is normal: its squared norm is S chi^2 with "
            "d - 1 degrees of freedom and S = (1/n0^2) sum y_mu^2, independent of each other.",
            meaning,
        ),
        proved("With the moments of squared normal variables and of S the variance is exact.", variance),
        proved("At n0 = alpha0 d the variance vanishes.", tends_to(variance, sp.Integer(0))),
        results=(variance,),
        hypotheses=(FOURTH_MOMENT,),
    )


@functools.cache
def spike(noise: sp.Expr = sp.S.Zero) -> Derivation:
    """Result 3.1, spike strength and alignment: r = u~ |v~| and gamma = theta.v~/|v~|.

    Equations (9), (10), (37), (43)-(45).
    """
    moments, concentration, parts = moments_of_v(noise), concentration_of_v(noise), split()
    square, mean = moments.theorems[2], moments.theorems[3]
    noisy = "-noisy" if noise != 0 else ""
    norm = concentrates("|v~|", Equation(s.v_norm**2, s.v_square), f"result-3-1.spike-concentration{noisy}")
    length = rewrite((congruence((norm,), sp.sqrt(_hole), _hole), square))
    along = concentrates("theta.v~", Equation(s.v_overlap, s.v_overlap_mean), f"result-3-1.overlap-variance{noisy}")
    overlap = rewrite((along, mean))
    strength = define(
        s.r, s.spike_factor * s.v_norm, "spike strength: the factors u = 1 and v = v~/|v~| are normalised"
    )
    alignment = define(s.gamma, s.v_overlap / s.v_norm, "alignment: the overlap of theta with v~/|v~|")
    r = rewritten(strength, parts.theorems[-1], length)
    gamma = rewritten(alignment, overlap, length)
    return Derivation(
        "spike strength and alignment" + (" with label noise" if noise != 0 else ""),
        "Section 3.1, Result 3.1 and Appendix A.2, A.3",
        *parts.steps,
        *moments.steps,
        *concentration.steps,
        proved("|v~| is the root of its mean square in the limit,", length),
        proved("and theta.v~ is its mean.", overlap),
        proved(
            "u = 1_p and v = v~/|v~| are normalised, so r is the neuron's factor times |v~|; h1 < 0 makes it negative.",
            r,
        ),
        proved("The alignment is the overlap of theta with the normalised direction.", gamma),
        results=(r, gamma),
        hypotheses=(*parts.hypotheses, *moments.hypotheses, *concentration.hypotheses, SELF_AVERAGING),
    )
