r"""The law of a network's bulk rows after one gradient step, given the batch. Beyond the paper.

A row is b = w + delta, delta = e (1/n0) sum_mu y_mu s(w.x_mu) x_mu with e = eta/beta, s = sigma' - h1 and sigma odd.
Given the batch, w is random: it and the numbers w.x_mu are jointly normal, the latter with unit variance and, to the
order that counts here, independent. What a row remembers of the batch are three vectors, theta, v~ = (1/n0) sum y x
and w3 = (1/n0) sum y^3 x, and the matrix A = (1/n0) sum y^2 x x^T:

    d Cov(b) = B = 1 + omega A,   d Cov(b, |b|^2) = h,   d Var |b|^2 = v_c.

Every limit below is one of a rational function of d at n0 = alpha0 d.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.any_activation import norm_variance as any_norm_variance
from giantsteps.derivations.bulk.any_activation import row_law
from giantsteps.derivations.gradient_step.assumptions import H1_CHECK, H1_STAR, SAMPLES
from giantsteps.derivations.gradient_step.bulk import bulk, zero_means
from giantsteps.derivations.gradient_step.spike import evaluated, moments_of_v
from giantsteps.derivations.kernel.algebra import differentiate as differentiated
from giantsteps.derivations.kernel.algebra import instantiate, ring
from giantsteps.derivations.kernel.averages import stein
from giantsteps.derivations.kernel.limits import taylor
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation, expand_expectations
from giantsteps.derivations.language.named_functions import (
    g,
    reflect,
    repeated,
    sigma_check,
    sigma_prime,
    with_slopes,
)

SOURCE = "beyond the paper: the network's own bulk"

STEP = s.eta / s.beta

GIVEN_THE_BATCH = (
    "given the batch, a row and its pre-activations are jointly normal, and products of functions of different "
    "pre-activations average independently: their correlations are O(d^(-1/2)) and contribute at higher order"
)

_check = sigma_check(s.z)

_z2 = sp.Symbol("z'", real=True)
SECOND = Expectation(s.z**2 * _check, s.z)  # E[z^2 s]

# An odd activation: its output averages to zero, so that the step sees Y = y, and so do sigma'', z s^2 and z s^3.
_ODD: dict[sp.Basic, sp.Expr] = {s.turn: sp.S.Zero, s.slope_moment[1, 2]: sp.S.Zero, s.slope_moment[1, 3]: sp.S.Zero}
_ODD |= {s.slope_moment[j, k]: Expectation(s.z**j * _check**k, s.z) for j, k in ((2, 1), (0, 3), (2, 2), (0, 4))}
_ODD |= {s.label_moment[k]: Expectation(g(s.z) ** k, s.z) for k in (3, 4)}
_ODD |= {
    s.label_slope[3]: Expectation(s.z * g(s.z) ** 3, s.z),
    s.label_curve[2]: Expectation(s.z**2 * g(s.z) ** 2, s.z),
}
_ODD |= {s.slope_moment[0, 2]: s.h1_check, s.label_moment[2]: s.h2_star, s.label_slope[1]: s.h1_star}


def odd(derivation: Derivation, of: sp.Symbol) -> sp.Expr:
    """What is derived for any activation, for an odd one."""
    return sp.expand(derivation.results[of].subs(s.turn, 0).xreplace(_ODD))


def averaged(integrand: sp.Expr) -> sp.Expr:
    """E over z by linearity, with E[s] = E[z s] = 0 and the second moment of s under its name."""
    means = {**zero_means().results, Expectation(_check**2, s.z): s.h1_check}
    return expand_expectations(Expectation(integrand, s.z)).xreplace(means)


def _odd_steps(*found: tuple[sp.Symbol, sp.Expr]) -> tuple[Step, ...]:
    """What the rows of any activation become."""
    average = Expectation(s.z * _check**2, s.z)
    vanishes = Vanishing("E[z s^2] = 0: z s^2 is odd", average + reflect(average, s.z))
    says = "The rows of an odd activation are not turned, P = 1, and E[z s^2] = E[z s^3] = 0."
    return tuple(Step(says, eq(symbol, value_), vanishes) for symbol, value_ in found)


@functools.cache
def covariance() -> Derivation:
    """d Var(b.u) = 1 + omega u.A u for a unit vector u; along theta u.A u = E[y^2 (theta.x)^2], its trace is E[y^2]."""
    # delta.u is e/n0 times a sum over samples of y (x.u) s; different samples average to (E s)^2 = 0.
    cross = averaged(s.z * _check)
    own = repeated(s.n0, STEP**2 / s.n0**2 * Expectation(_check**2, s.z))
    meaning = define(s.row_weight, s.d * own, "d times the sum of (e/n0)^2 s^2 over the samples")
    exact = evaluated(meaning, H1_CHECK)
    omega = rewritten(exact, SAMPLES)
    weight = value(omega)
    along = odd(row_law(), s.row_form).subs(s.row_weight, weight)
    trace = bulk().theorem_of(s.c)
    return Derivation(
        "the covariance of a bulk row",
        SOURCE,
        *zero_means().steps,
        Step(
            "The initial row has covariance 1/d, and does not correlate with its correction: s is even, so the "
            "average of (w.x) s(w.x) vanishes.",
            eq(Expectation(s.z * _check, s.z), cross),
            Vanishing("E[z s] = 0", cross),
        ),
        Step(
            "Of the correction only equal samples remain: d times (e/n0)^2 E[s^2] sum y^2 (x.u)^2 is omega u.A u.",
            eq(s.row_weight, weight),
            Vanishing("d n0 (e/n0)^2 E[s^2]", value(omega) - weight),
            theorem=omega,
        ),
        Step("Along the target A is E[y^2 u^2].", eq(s.row_form, along)),
        proved(
            "The normalised trace of A is E[y^2], so that 1 + omega E[y^2] is the bulk variance of Result 3.1.",
            trace,
        ),
        results={s.row_weight: weight, s.row_form: along, s.c: value(trace)},
        hypotheses=(GIVEN_THE_BATCH, *zero_means().hypotheses),
    )


@functools.cache
def norm_covariance() -> Derivation:
    """d Cov(b, |b|^2) = 2 e E[z^2 s] v~ + e^3 (E[s^3]/alpha0^2) w3, and its products with theta and v~."""
    along, spike = (odd(row_law(), symbol) for symbol in (s.norm_overlap, s.norm_spike_overlap))
    return Derivation(
        "the covariance of a bulk row with its squared norm",
        SOURCE,
        *zero_means().steps,
        *row_law().steps,
        *_odd_steps((s.norm_overlap, along), (s.norm_spike_overlap, spike)),
        results={s.norm_overlap: along, s.norm_spike_overlap: spike},
        hypotheses=(GIVEN_THE_BATCH, *zero_means().hypotheses),
    )


@functools.cache
def norm_variance() -> Derivation:
    """d Var |b|^2 = v_c, sum of what w.delta, the diagonal and the pairs of |delta|^2 contribute."""
    result = odd(any_norm_variance(), s.norm_variance)
    return Derivation(
        "the variance of the squared norm of a bulk row",
        SOURCE,
        *zero_means().steps,
        *any_norm_variance().steps,
        *_odd_steps((s.norm_variance, result)),
        results={s.norm_variance: result},
        hypotheses=(GIVEN_THE_BATCH, *zero_means().hypotheses),
    )


def slope_in_square_radius(integrand: sp.Expr) -> sp.Expr:
    """d/d rho E f(sqrt(rho) z) at rho = 1, which is E[(z^2 - 1) f]/2 by Stein's lemma."""
    return averaged((s.z**2 - 1) * integrand) / 2


def square_of_sum(freedom: sp.Expr) -> sp.Expr:
    """E of the squared sum of z_i^2 over i: every i with itself, and with the others."""
    own, pair = Expectation(s.z**4, s.z), Expectation(s.z**2 * _z2**2, s.z, _z2)
    return repeated(freedom, own) + repeated(freedom * (freedom - 1), pair)


@functools.cache
def gaussian_rows() -> Derivation:
    """Initial rows w ~ N(0, I/d): |w|^2 = 1 + N(0, 2/d) moves the norm of b and its component along v~."""
    squared = square_of_sum(s.d) - repeated(s.d, Expectation(s.z**2, s.z)) ** 2
    spread = define(
        s.row_norm_variance,
        s.d * (s.c / s.d) ** 2 * squared,
        "d times the variance of a sum of d squares of variance c/d",
    )
    norm = equal(evaluated(spread), 2 * s.c**2)
    variance = value(norm)
    initial = variance.subs(s.c, 1)
    growth = 1 + STEP**2 * s.h2_star / s.alpha0 * slope_in_square_radius(_check**2)
    spike_growth = slope_in_square_radius(sigma_prime(s.z) - s.h1)
    named = sp.expand(spike_growth).xreplace(
        {Expectation(s.z**2 * sigma_prime(s.z), s.z): SECOND + s.h1, Expectation(sigma_prime(s.z), s.z): s.h1}
    )
    v_square = moments_of_v().results[s.v_square]
    total = s.norm_variance + initial * growth**2
    overlap = s.norm_spike_overlap + initial * growth * STEP * named * v_square
    scaled = sp.Derivative(Expectation(sp.Function("f")(sp.sqrt(s.scale) * s.z), s.z), s.scale)
    return Derivation(
        "Gaussian initial rows",
        SOURCE,
        proved("A sum of d squares: exact at every d.", norm),
        Step(
            "The averages over a row of squared norm rho are those over sqrt(rho) z, whose slope at rho = 1 is "
            "E[z f']/2 = E[(z^2 - 1) f]/2.",
            eq(scaled, Expectation((s.z**2 - 1) * sp.Symbol("f"), s.z) / 2),
        ),
        Step(
            "The squared norm of b is rho + e^2 (E[y^2]/alpha0) E[s(sqrt(rho) z)^2] and its fluctuation is "
            "independent of the direction of w.",
            eq(s.norm_variance_gaussian, total),
        ),
        Step(
            "The mean of sigma' moves with rho as well, and with it the neuron's component along v~.",
            eq(s.spike_overlap_gaussian, overlap),
            Vanishing("E[(z^2 - 1) (sigma' - h1)] = E[z^2 s]", named - SECOND / 2),
        ),
        results={s.row_norm_variance: variance, s.norm_variance_gaussian: total, s.spike_overlap_gaussian: overlap},
        hypotheses=(GIVEN_THE_BATCH, *zero_means().hypotheses),
    )


_overlap, _across, _root_d = sp.Symbol("epsilon_0", real=True), sp.Symbol("t", real=True), sp.Symbol("n", positive=True)
_norm, _norm_slope, _ = with_slopes(r"|b|^{2}_\epsilon")
_component, _component_slope, _ = with_slopes(r"b_\epsilon\cdot\theta")
_weight, _scaled = (sp.Function(name, real=True)(s.mode) for name in ("a", "tau"))


@functools.cache
def row_of_overlap() -> tuple[Theorem, Theorem]:
    """|b|^2 and b.theta of a row of overlap epsilon with the target, where the batch is all inputs."""
    seen = _overlap * s.z + sp.sqrt(1 - _overlap**2) * _across
    force, draws = g(seen) * _check, (s.z, _across)
    own, beside = Expectation(force * s.z, *draws), Expectation(force * _across, *draws)
    return (
        define(
            _norm(_overlap),
            1 + 2 * STEP * own + STEP**2 * (own**2 + beside**2),
            "|w + e E[y s x]|^2 with x = z along w and t across it, in the plane of w and the target",
            _overlap,
        ),
        define(_component(_overlap), _overlap + STEP * Expectation(force * seen, *draws), "theta.b", _overlap),
    )


@functools.cache
def large_batch() -> Derivation:
    """chi = 2 e E[z^2 s] h1* zeta as alpha0 -> infinity: the norms become a function of the overlaps with the spike."""
    zeros = tuple(t for t in zero_means().theorems if value(t) == 0)
    slope_of_target = stein((), Expectation(s.z * g(s.z), s.z), s.z, g(s.z))
    named = ring((slope_of_target, H1_STAR), Equation(value(slope_of_target), s.h1_star), (sp.Integer(-1),) * 2)
    rates = [
        rewritten(averages_expanded(instantiate((differentiated((curve,), _overlap),), {_overlap: sp.S.Zero})), *zeros)
        for curve in row_of_overlap()
    ]
    norm, component = (rewritten(rate, named) for rate in rates)

    def along_readout(name: sp.Symbol, slope: sp.FunctionClass, what: str) -> Theorem:
        over_neurons = sp.sqrt(s.beta) * Expectation(_weight * slope(sp.S.Zero) * _scaled, s.mode)
        return define(name, over_neurons, f"{what} over sqrt(p), as a mean over neurons of overlaps tau/sqrt(d)")

    chi, zeta = along_readout(s.chi, _norm_slope, "a.delta"), along_readout(s.zeta, _component_slope, "a.b theta")
    known = [averages_expanded(rewritten(meaning, norm, component), s.mode) for meaning in (chi, zeta)]
    rate = value(norm)
    result = ring(tuple(known), Equation(s.chi, rate * s.zeta), (sp.Integer(1), -rate))
    return Derivation(
        "a large batch",
        SOURCE,
        *each_proved("As alpha0 grows averages over the batch become averages over inputs.", row_of_overlap()),
        proved(
            "Neurons have overlaps tau/sqrt(d) with the target, which the spike then is: of the norm the first order "
            "in them remains.",
            taylor((), _norm, 1, sp.Symbol("tau_0", real=True), _root_d),
        ),
        proved("At zero overlap it grows by 2 e E[z^2 s] h1*,", norm),
        proved("and the component along the spike by one.", component),
        proved("The readout meets the norms,", chi),
        proved("as it meets the components: chi is a multiple of zeta, whatever the readout.", result),
        hypotheses=(
            "at a large batch the spike is the target, and averages over the batch are those over inputs",
            "overlaps of neurons with the target are of order d^(-1/2); terms beyond the first order are dropped",
            *zero_means().hypotheses,
        ),
    )
