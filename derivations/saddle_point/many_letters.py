r"""The limit of many letters, Section 4.4 and the end of Appendix D: what the means of the readout do along the spike.

Each letter u brings :math:`\mu_0^u(\kappa)`, a neuron acting on the one-dimensional input kappa with the weight u. The
means m_u choose a combination of them: ridge regression with one-dimensional random features, whose kernel is an
average over the letters. At infinite width the penalty on the means is gone; at width p it is sum_u m_u^2/t_u with
t_u = (alpha/beta) p tau_u.

A density of letters, Section 4.4 and the end of Appendix D: the means leave nothing of y0, and what then is left.

With y = r kappa + sqrt(c - 1) z' and g = P_1 sigma, the mean of a letter u whose bulk is c_u = 1 + u^2 (c - 1) is

    mu0_u(kappa) = E_z' g(u y).

Suppose f/(1 + V), of the parity of sigma, is orthogonal to mu0_u for all u of a law whose support has a point of
accumulation. Then F(u) = E[f mu0_u/(1 + V)] = int K(y) g(uy) dy is analytic in a strip around the real line, where
|g(x + iy)| <= exp(y^2/2) P_1|sigma|(x) and K has the tails of a normal density of variance 2 r^2 + c - 1 at most (by
Cauchy-Schwarz, for f in L2; r^2 + c - 1 for a bounded f): F = 0 throughout.

- Its Taylor coefficients are E[He_n sigma]/n! int K(y) y^n dy: they vanish (`taylor`).
- With G = g less its Taylor polynomial of degree N, |g| <= A (1 + |x|)^N, the same integral is therefore zero, and its
  Mellin transform in u factors, F^(s) = 2 G^(s) K^(1 - s) on -N - 1 < Re s < -N (`mellin`). If sigma is no
  polynomial, G^ is analytic and not zero, its zeros are isolated, and K^ = 0: K = 0 on y > 0, and by parity everywhere.
- K is f phi/(1 + V) smoothed by a normal density of variance c - 1 > 0 (or scaled, at c = 1), which loses nothing:
  f = 0.

So the closure of what the means span is all of that parity, in L2 with the weight 1/(1 + V), where they are fitted.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.closed_forms.arcsine_law import SCALES, arcsine_law, with_roots
from giantsteps.derivations.closed_forms.gaussian_means import mean_of_erf
from giantsteps.derivations.equivalence.hermite_features import DEGREE
from giantsteps.derivations.free_energy.along_spike import over_kappa, y0, y1, y2
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.kernel.algebra import congruence, differentiate, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import iterated, linear, rotate, translate
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, over
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import isolated, replaced, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, with_partials, with_slopes
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.letter_energy import VOCABULARY
from giantsteps.derivations.saddle_point.letters import test_error as groups_test_error

SOURCE = "arXiv 2402.04980, Section 4.4"

letter = sp.Symbol("u", real=True)
places = sp.symbols("kappa_1 kappa_2", real=True)
kernel = sp.Symbol("k_{12}", real=True)

# Two letters at two places: mu0_u(kappa_i), penalties, weights and targets of the regression.
functions = sp.Matrix(2, 2, sp.symbols("f_11 f_12 f_21 f_22", real=True))  # row: place, column: letter
penalties = sp.symbols("t_1 t_2", positive=True)
weights = sp.symbols("w_1 w_2", positive=True)
targets = sp.symbols("y_1 y_2", real=True)
fitted = sp.Symbol("M_1", real=True)


@functools.cache
def kernel_of_erf() -> Derivation:
    """E over normal letters of mu0_u(kappa_1) mu0_u(kappa_2) for an erf student: the arc-sine kernel."""
    means = [Expectation(sp.erf(letter * s.r * place + sp.sqrt(s.c) * s.z), s.z) for place in places]
    meaning = define(kernel, Expectation(means[0] * means[1], letter), "the average over letters of both their means")
    student = [instantiate((mean_of_erf(),), {s.x: letter * s.r * place}) for place in places]
    width = 1 + 2 * s.c
    scales = [s.r * place / sp.sqrt(width) for place in places]
    law = instantiate((arcsine_law(),), dict(zip(SCALES, scales, strict=True)))
    law = over(letter, with_roots(law, *((2 * (s.r * place) ** 2, width) for place in places)))
    product = rewritten(meaning, *student)
    return Derivation(
        "arc-sine kernel of many letters",
        SOURCE,
        proved("The kernel is the average over the letters of the means of two places.", meaning),
        proved("For an erf student mu0_u(kappa) = erf(r u kappa/sqrt(1 + 2c)).", product),
        proved("The average of a product of error functions of one normal variable is an arc-sine.", law),
        proved("So the kernel is one.", rewrite((product, law))),
    )


def kernel_matrix() -> sp.Matrix:
    """K_ij = sum_u t_u mu0_u(kappa_i) mu0_u(kappa_j)."""
    return functions * sp.diag(*penalties) * functions.T


_cost = with_partials("\\mathcal{O}_m", 2)
_means, _at = sp.symbols("m_1 m_2", real=True), sp.symbols("m_1' m_2'", real=True)


@functools.cache
def kernel_ridge() -> Derivation:
    """The means' part of the prediction is kernel ridge regression with the kernel of the letters."""
    W, y = sp.diag(*weights), sp.Matrix(targets)
    gaps = y - functions * sp.Matrix(_at)
    cost = define(
        _cost(*_at),
        sum(w * gap**2 for w, gap in zip(weights, gaps, strict=True)) / 2
        + sum(m**2 / (2 * penalty) for m, penalty in zip(_at, penalties, strict=True)),
        "half the squared gaps with their weights, and the penalties of the means",
        *_at,
    )
    here = dict(zip(_at, _means, strict=True))
    balances = []
    for a, place in enumerate(_at):
        slope = instantiate((differentiate((cost,), place),), here)
        least = in_model(
            f"least cost in mean {a + 1}",
            Equation(sides(slope.statement)[0], sp.Integer(0)),
            "the means are where the cost is stationary, which is its minimum",
        )
        balances.append(rewrite((least, slope)))
    first = isolated(_means[0], balances[0])
    hole = sp.Dummy("hole", real=True)
    context = sides(balances[1].statement)[0].xreplace({_means[0]: hole})
    second = isolated(_means[1], rewrite((balances[1], congruence((first,), context, hole)), False))
    meaning = define(fitted, functions[0, 0] * _means[0] + functions[0, 1] * _means[1], "what the means fit at place 1")
    K = kernel_matrix()
    form = sp.together((K * W * (K * W + sp.eye(2)).inv() * y)[0])
    result = concluded(Equation(fitted, form), meaning, first, second)
    return Derivation(
        "means as kernel ridge regression",
        SOURCE,
        proved(
            "At width p the means minimise sum_i w_i (y_i - M_i)^2 + sum_u m_u^2/t_u, with M_i = sum_u mu0_u(kappa_i) "
            "m_u, weights of the rule over 1 + V, y what the other functions leave of the target, and t_u = "
            "(alpha/beta) p tau_u. Two places and two letters are written out.",
            cost,
        ),
        *each_proved("Its slope in a mean vanishes.", balances),
        proved("So the first mean is known by the second,", first),
        proved("and the second.", second),
        proved("What they fit.", meaning),
        proved("With K = F T F^T, F T (F^T W (y - M)) = M reads M = K W (y - M): kernel ridge regression.", result),
    )


coefficients = tuple(sp.Symbol(rf"[u^{n}]\mu_0^u(\kappa)", real=True) for n in range(DEGREE + 1))
_other = sp.Symbol("z_1", real=True)
_added = sp.Symbol(r"\delta_c", nonnegative=True)  # c - 1
_letter_mean, *_ = with_slopes(r"\mu_0^{(\cdot)}(\kappa)", len(coefficients) - 1)
_along = sp.Symbol("y", positive=True)
_argument = sp.Symbol("x", positive=True)
exponent = sp.Symbol("s", real=True)

# Mellin transforms: of F in the letter, of g, and of the weight K at 1 - s and, for mutants, at s.
of_letters, of_activation, of_weight, of_weight_at_s = sp.symbols(
    r"\hat{F}(s) \hat{g}(s) \hat{K}(1-s) \hat{K}(s)", real=True
)

# Averages over kappa of what the limit leaves: y2 - y0^2 without label noise, y1 sum mu1 psi, and sum mu1 mu1 Q + sum
# mu2^2 q2.
unexplained = sp.Symbol(r"\langle y_2-y_0^2\rangle", nonnegative=True)
met = sp.Symbol(r"\langle y_1\sum\mu_1\psi\rangle", real=True)
fluctuation = sp.Symbol(r"\langle\sum\mu_1\mu_1Q+\sum\mu_2^2q_2\rangle", nonnegative=True)

SMOOTH_MEANS = (
    "sigma grows no faster than a power and is no polynomial; its letters have a law whose support has a point of "
    "accumulation, and variances c_u = 1 + u^2 (c - 1)"
)
YHAT = "yhat = y0 up to what parity forbids: the closure of what the means span, argued and not checked here"
MELLIN = (
    "an analytic function that is not zero has isolated zeros, and an integrable function whose Mellin transform is "
    "zero on a line is zero"
)


@functools.cache
def _mean_in_letter() -> tuple[Theorem, Theorem]:
    """mu0_u = E sigma(u r kappa + sqrt(c_u) z) as a function of u, and as an average of sigma(z) exp(a z - a^2/2).

    sqrt(c_u) z has the law of u sqrt(c - 1) t + z, so that sigma is averaged at z + a with a = u (r kappa + sqrt(c - 1)
    t); a shift of z leaves sigma without a parameter.
    """
    along, width = letter * s.r * s.kappa, sp.sqrt(1 + letter**2 * _added)
    mean = Expectation(sigma(along + width * s.z), s.z)
    curve = define(_letter_mean(letter), mean, "the mean of a letter, c_u = 1 + u^2 (c - 1)", letter)
    tilt = letter * sp.sqrt(_added)
    both = Expectation(sigma(along + tilt * _other + s.z), s.z, _other)
    turned = rotate((), both, (s.z, _other), ((1 / width, -tilt / width), (tilt / width, 1 / width)))
    (call,) = value(turned).atoms(sigma)
    one = replaced(turned, call.args[0], along + width * s.z)
    apart = iterated((), both, (s.z,))
    (inner,) = (average for average in value(apart).atoms(Expectation) if average.variables == (s.z,))
    shift = along + tilt * _other
    moved = translate((), inner, s.z, -shift)
    plain = linear((), value(moved), ((sp.Integer(1), sigma(s.z) * sp.exp(shift * s.z - shift**2 / 2)),))
    nested = rewrite((apart, rewrite((moved, plain))))
    return curve, rewrite((rewrite((curve, one), True), nested))


@functools.cache
def taylor(order: int) -> Derivation:
    """The coefficient of u^order in the mean of a letter: E[He_n sigma]/n! times E_z (r kappa + sqrt(c - 1) z)^n."""
    bulk = define(s.c, 1 + _added, "the bulk's variance before the step, and what the step adds")
    curve, smooth = _mean_in_letter()
    slope = smooth
    for _ in range(order):
        slope = differentiate((slope,), letter)
    slope = instantiate((slope,), {letter: sp.Integer(0)})
    moment = define(s.hermite_moments[order], Expectation(hermite(order, s.z) * sigma(s.z), s.z), "a Hermite moment")
    (inner,) = (average for average in value(slope).atoms(Expectation) if average.variables == (s.z,))
    power = (s.r * s.kappa + sp.sqrt(_added) * _other) ** order
    parted = linear((), inner, ((power, value(moment).integrand),))
    slope = averages_expanded(rewrite((rewrite((slope, parted)), moment), True))
    meaning = define(
        coefficients[order],
        sides(slope.statement)[0] / sp.factorial(order),
        f"the derivative of order {order} in the letter, over {order}!",
    )
    found = rewrite((meaning, slope))
    in_bulk = value(found).xreplace({_added: s.c - 1})
    added = ring((bulk,), Equation(_added, s.c - 1), (-sp.Integer(1),))
    result = concluded(Equation(coefficients[order], in_bulk), found, added)
    return Derivation(
        f"order {order} of a letter's mean",
        SOURCE,
        proved("The mean of a letter as a function of it.", curve),
        proved(
            "sqrt(c_u) z has the law of u sqrt(c - 1) t + z: a letter's mean is that of one function of u times a "
            "normal variable y = r kappa + sqrt(c - 1) t.",
            smooth,
        ),
        proved("The n-th derivative at u = 0 is E[He_n sigma] times a moment of y.", slope),
        proved("With c for what the bulk has in all.", result),
        hypotheses=("derivatives in u pass under the average",),
    )


@functools.cache
def mellin() -> Derivation:
    """The Mellin transform in the letter of F(u) = 2 int_0^oo K(y) g(u y) dy is a product."""
    x, y, u = _argument, _along, sp.Symbol("u", positive=True)
    result = 2 * of_activation * of_weight
    steps = (
        Step(
            "At fixed y the letter enters as x = u y; the order of the integrals is exchanged where both converge "
            "absolutely.",
            eq(of_letters, result),
            Vanishing(
                "u^(s-1) du is y^(-s) x^(s-1) dx", (x / y) ** (exponent - 1) / y - x ** (exponent - 1) * y**-exponent
            ),
            Vanishing("dx = y du", sp.diff(u * y, u) - y),
            Vanishing("y^(-s) is y^((1-s)-1)", y ** ((1 - exponent) - 1) - y**-exponent),
        ),
    )
    return Derivation(
        "Mellin transform in the letter",
        SOURCE,
        *steps,
        results={of_letters: result},
        hypotheses=(SMOOTH_MEANS, MELLIN),
    )


@functools.cache
def test_error() -> Derivation:
    """e2 where yhat = y0, averaged; two letters are written out."""
    base = groups_test_error().theorem_of(s.test_error)
    fit, signal, q = VOCABULARY.fit, VOCABULARY.signal, VOCABULARY.q
    gap = y0 - fit
    fits = hypothesis("yhat = y0", Equation(fit, y0), YHAT, s.kappa)
    nothing = ring((fits,), Equation(gap**2, sp.Integer(0)), (-gap,))
    names = (
        define(unexplained, over_kappa(y2 - y0**2) - s.noise, "what kappa does not tell of the label, less its noise"),
        define(met, over_kappa(y1 * signal), "what the readout's overlap with theta_perp meets of it"),
        define(fluctuation, over_kappa(q), "the readout's own fluctuation"),
    )
    (whole,) = value(base).atoms(Expectation)
    one = sp.Integer(1)
    parts = ((one, gap**2), (one, y2 - y0**2), (-s.noise, one), (-2 * one, y1 * signal), (one, q))
    split = rewrite((rewrite((base, linear((), whole, parts))), nothing))
    result = concluded(Equation(s.test_error, unexplained - 2 * met + fluctuation), split, *names)
    return Derivation(
        "test error of a density of letters",
        SOURCE,
        proved("The means cost nothing at leading order: where they leave nothing, yhat = y0.", fits),
        proved(
            "The squared residual at given kappa is the square of what the means leave of y0, and a rest that does not "
            "know them; the forces of zeta vanish with y0 - yhat. The label noise is not counted.",
            split,
        ),
        proved("What kappa does not tell of the label", names[0]),
        proved("is met by the readout's overlap with theta_perp,", names[1]),
        proved("and the readout's own fluctuation is added.", names[2]),
        proved("So the error is their sum.", result),
        hypotheses=(SMOOTH_MEANS, YHAT, "the limit of many letters is taken after that of infinite width"),
    )
