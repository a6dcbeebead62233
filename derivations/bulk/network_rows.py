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
from giantsteps.derivations.gradient_step.bulk import bulk, zero_means
from giantsteps.derivations.gradient_step.leaves import H1_CHECK, H1_STAR, SAMPLES
from giantsteps.derivations.gradient_step.spike import evaluated, moments_of_v
from giantsteps.derivations.kernel.algebra import differentiate as differentiated
from giantsteps.derivations.kernel.algebra import instantiate, ring
from giantsteps.derivations.kernel.averages import stein
from giantsteps.derivations.kernel.limits import taylor
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.leaves import define, each_proved, proved
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation, expand_expectations, gaussian_moment
from giantsteps.derivations.language.named_functions import (
    differentiate,
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
SQUARE = Expectation(_check**2, s.z)
TARGET_SQUARE = Expectation(g(s.z) ** 2, s.z)
TARGET_FOURTH = Expectation(g(s.z) ** 4, s.z)
TARGET_TILTED = Expectation(s.z**2 * g(s.z) ** 2, s.z)
TARGET_LINEAR = Expectation(s.z * g(s.z), s.z)
TARGET_CUBIC = Expectation(s.z * g(s.z) ** 3, s.z)

_NAMES = {SQUARE: s.h1_check, TARGET_SQUARE: s.h2_star, TARGET_LINEAR: s.h1_star}


def averaged(integrand: sp.Expr) -> sp.Expr:
    """E over z by linearity, with E[s] = E[z s] = 0 and the named averages under their names."""
    return expand_expectations(Expectation(integrand, s.z)).xreplace({**zero_means().results, **_NAMES})


def at_ratio(expression: sp.Expr) -> sp.Expr:
    """n0 = alpha0 d."""
    return sp.expand(expression.subs(s.n0, s.alpha0 * s.d))


def limit(expression: sp.Expr) -> sp.Expr:
    """d -> infinity at n0 = alpha0 d."""
    return sp.expand(sp.limit(at_ratio(expression), s.d, sp.oo))


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
    along = 1 + weight * TARGET_TILTED
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
            RationalLimit("d n0 (e/n0)^2 E[s^2] has this limit", at_ratio(value(exact)), s.d, weight),
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
    # 2 w.delta = (2 e/n0) sum y p(w.x) with p = z s: Cov(w, p(w.x)) = E[p'] x/d.
    product = s.z * _check
    slope = Expectation(differentiate(product, s.z), s.z)
    by_stein = Expectation(differentiate(product, s.z), s.z)
    on_v = s.d * 2 * STEP * SECOND / s.d
    # |delta|^2 carries (e/n0)^2 d sum y^2 s^2, whose covariance with delta is E[s (s^2 - E s^2)] per sample.
    skew = averaged(_check * (_check**2 - SQUARE))
    on_w3 = s.d * STEP**3 * s.d / s.n0**2 * skew
    first, second = limit(on_v), limit(on_w3)
    along = first * s.h1_star + second * TARGET_CUBIC
    # v~.v~ and v~.w3: off-diagonal pairs of samples give E[z f] E[z f'], the diagonal E[f f']/alpha0.
    v_square = moments_of_v().results[s.v_square]
    v_w3 = s.h1_star * TARGET_CUBIC + TARGET_FOURTH / s.alpha0
    spike = sp.expand(first * v_square + second * v_w3)
    odd = Expectation(product * _check**2, s.z)
    return Derivation(
        "the covariance of a bulk row with its squared norm",
        SOURCE,
        *zero_means().steps,
        Step(
            "The squared norm is 1 + 2 w.delta + |delta|^2. By Stein's lemma the row covaries with (w.x) s(w.x) "
            "by E[s + z s'] x/d, which is E[z^2 s] x/d.",
            eq(slope, SECOND),
            Vanishing("E[(z s)'] = E[z (z s)]", expand_expectations(slope - by_stein)),
        ),
        Step(
            "The diagonal of |delta|^2 is (e/n0)^2 sum y^2 s^2 |x|^2 with |x|^2 = d; it covaries with delta by "
            "E[s^3] per sample, and y^2 y x adds up to w3.",
            eq(Expectation(_check * (_check**2 - SQUARE), s.z), skew),
            RationalLimit("its weight has this limit", at_ratio(on_w3), s.d, second),
            Vanishing("w.delta does not covary with it: z s s^2 is odd", odd + reflect(odd, s.z)),
        ),
        Step("Along the target.", eq(s.norm_overlap, along)),
        Step("Along v~, with v~.w3 = E[z y] E[z y^3] + E[y^4]/alpha0.", eq(s.norm_spike_overlap, spike)),
        results={s.norm_overlap: along, s.norm_spike_overlap: spike},
        hypotheses=(GIVEN_THE_BATCH, *zero_means().hypotheses),
    )


@functools.cache
def norm_variance() -> Derivation:
    """d Var |b|^2 = v_c, sum of what w.delta, the diagonal and the pairs of |delta|^2 contribute."""
    product = s.z * _check
    v_square = moments_of_v().results[s.v_square]
    linear = 4 * STEP**2 * SECOND**2 * v_square / s.d
    rest = 4 * STEP**2 * averaged(g(s.z) ** 2) * (averaged(product**2) - SECOND**2) / s.n0
    spread = averaged((_check**2 - SQUARE) ** 2)
    diagonal = STEP**4 * s.d**2 * TARGET_FOURTH * spread / s.n0**3
    # (x.x')^2 averages to d; every unordered pair counts twice.
    pair = s.d * gaussian_moment(2) ** 2
    pairs = 2 * STEP**4 * s.n0 * (s.n0 - 1) * averaged(g(s.z) ** 2) ** 2 * averaged(_check**2) ** 2 * pair / s.n0**4
    total = s.d * (linear + rest + diagonal + pairs)
    result = limit(total)
    odd = Expectation(product * (_check**2 - SQUARE), s.z)
    return Derivation(
        "the variance of the squared norm of a bulk row",
        SOURCE,
        *zero_means().steps,
        Step(
            "2 w.delta = (2 e/n0) sum y p(w.x), p = z s: the linear part E[z^2 s] z of p adds up to w.v~, the rest "
            "is independent between samples.",
            eq(sp.Symbol(r"\mathrm{Var}(2w\cdot\delta)"), linear + rest),
            Vanishing("p has mean zero", averaged(product)),
        ),
        Step(
            "The diagonal of |delta|^2: independent between samples, |x|^2 = d.",
            eq(sp.Symbol(r"\mathrm{Var}\,\mathrm{diag}"), diagonal),
            Vanishing("it does not covary with w.delta: p is odd, s^2 even", odd + reflect(odd, s.z)),
        ),
        Step(
            "The pairs of |delta|^2: y y' s s' x.x' with E[s] = 0, uncorrelated with each other and with the rest.",
            eq(sp.Symbol(r"\mathrm{Var}\,\mathrm{pairs}"), pairs),
            Vanishing("E[s] = 0", averaged(_check)),
        ),
        Step(
            "Together.",
            eq(s.norm_variance, result),
            RationalLimit("d times the sum has this limit", at_ratio(total), s.d, result),
        ),
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
