r"""A gradient step with any activation: the spike, the rows, and the law of their norms. Beyond the paper.

Before the step the output of the network tends to h0 = E[sigma], so that the step sees Y = y - h0. A row is

    b = P w + (e/n0) sum Y s(w.x) x,   P = 1 + nu M,   M = (1/n0) sum Y x x^T,   nu = e E[sigma''],   e = eta/beta,

with s = sigma' - h1 - E[sigma''] z orthogonal to 1 and z = w.x. Averages over a batch are polynomials in Y and u =
theta.x, those over a row polynomials in z and s; both are replaced moment by moment. Chaos expansions on the sphere:
what two samples have in common in a function of w is its part along a first chaos; the second has no trace there.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.gradient_step.alignment import first_coefficient
from giantsteps.derivations.gradient_step.assumptions import concentrates
from giantsteps.derivations.gradient_step.spike import SELF_AVERAGING, counted, evaluated, squared_length, tends_to
from giantsteps.derivations.kernel.algebra import congruence, instantiate, rewrite
from giantsteps.derivations.kernel.averages import average, stein
from giantsteps.derivations.kernel.limits import name_limit
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation, gaussian_moment
from giantsteps.derivations.language.named_functions import g, sigma_prime, sigma_second

SOURCE = "beyond the paper: a step with any activation"
STEP = s.eta / s.beta
TURN = STEP * s.curvature

CENTRED = (
    "before the step the output of the network is E[sigma] up to fluctuations of order d^(-1/2), which move the step "
    "by a relative O(d^(-1/2))"
)
CONCENTRATES = "|w_Y|^2, w_Y.theta and |b|^2 concentrate on their averages"
CHAOS = (
    "given the batch, rows are functions of w on the sphere: pairs of samples contribute through their first common "
    "chaos, products of higher ones are of higher order, and the second has no trace"
)
OWN = "x.P x/d and x.P^2 x/d of a sample of the batch concentrate; P has seen the sample once"

Y, U, Z, S = s.label, sp.Symbol("u_x", real=True), s.z, sp.Symbol("s_z", real=True)


def over_labels(polynomial: sp.Expr) -> sp.Expr:
    """E of a polynomial in Y and u, moment by moment."""
    total = sp.S.Zero
    for (power, tilt), factor in sp.Poly(sp.expand(polynomial), Y, U).terms():
        table = (s.label_moment, s.label_slope, s.label_curve)[tilt]
        known = {(0, 0): sp.S.One, (0, 1): sp.S.Zero, (0, 2): sp.S.One}
        total += factor * known.get((power, tilt), table[power])
    return sp.expand(total)


def over_row(polynomial: sp.Expr) -> sp.Expr:
    """E of a polynomial in z and s, with E[s] = E[z s] = 0."""
    total = sp.S.Zero
    for (power, order), factor in sp.Poly(sp.expand(polynomial), Z, S).terms():
        if order == 0:
            total += factor * gaussian_moment(power)
        elif (power, order) not in ((0, 1), (1, 1)):
            total += factor * s.slope_moment[power, order]
    return sp.expand(total)


_x, _across, _hole = sp.symbols("x x_\\perp hole", real=True)
_centred, _beyond_line = sp.Function("Y", real=True), sp.Function("s", real=True)
_length, _along = sp.Symbol("|w_Y|", positive=True), sp.Symbol(r"w_Y\cdot\theta", real=True)

# What the step sees of a label, and what the slope of the activation has beyond a line.
LABEL = define(_centred(_x), g(_x) - s.mean_output, "the label that the step sees, y - E[sigma]", _x)
CURVATURE = define(s.curvature, Expectation(sigma_second(Z), Z), "the mean of sigma''")
BEYOND_LINE = define(_beyond_line(_x), sigma_prime(_x) - s.h1 - s.curvature * _x, "what sigma' has beyond a line", _x)
_seen, _rest = _centred(Z), _beyond_line(Z)
MOMENTS = (
    *(define(s.label_moment[k], Expectation(_seen**k, Z), f"E[Y^{k}]") for k in (1, 2)),
    define(s.label_slope[1], Expectation(Z * _seen, Z), "E[u Y]"),
    define(s.label_curve[2], Expectation(Z**2 * _seen**2, Z), "E[u^2 Y^2]"),
    *(
        define(s.slope_moment[j, k], Expectation(Z**j * _rest**k, Z), f"E[z^{j} s^{k}]")
        for j, k in ((0, 2), (2, 1), (3, 1), (2, 2))
    ),
)


@functools.cache
def of_the_slope() -> tuple[Theorem, Theorem, Theorem]:
    """sigma' = h1 + E[sigma''] z + s, where E[s] = 0 and E[z s] = 0."""
    meaning = instantiate((BEYOND_LINE,), {_x: Z})
    mean = averages_expanded(average((meaning,), (Z,)))
    weighted = averages_expanded(average((congruence((meaning,), Z * _hole, _hole),), (Z,)))
    by_stein = stein((), Expectation(Z * sigma_prime(Z), Z), Z, sigma_prime(Z))
    first, curved = first_coefficient().theorems[0], rewritten(weighted, by_stein)
    return isolated(sigma_prime(Z), meaning), rewrite((mean, first), True), rewrite((curved, CURVATURE), True)


def worked_out(theorem: Theorem, *known: Theorem) -> Theorem:
    """``theorem`` with Y for the label, its sums counted, its averages expanded and under their names."""
    line, *zeros = of_the_slope()
    seen = rewrite((rewritten(theorem, line), instantiate((LABEL,), {_x: U})), True)
    return evaluated(rewritten(averages_expanded(counted(seen)), *zeros, *known), *MOMENTS)


@functools.cache
def spike() -> Derivation:
    """|w_Y|^2 at finite n0 and d, r and gamma; w_Y = (1/n0) sum Y x."""
    seen = g(U) - s.mean_output
    meaning = define(
        s.batch_norm, squared_length(seen, (U,), (U, _across), _across), "E|(1/n0) sum Y x|^2 over pairs of samples"
    )
    exact = worked_out(meaning)
    limit = name_limit((tends_to(exact),), s.v_square, "the limit of E|w_Y|^2")
    norm = concentrates("|w_Y|", Equation(_length**2, s.v_square), SELF_AVERAGING)
    length = rewrite((congruence((norm,), sp.sqrt(_hole), _hole), limit))
    along = worked_out(define(_along, Expectation(U * seen, U), "w_Y.theta, a mean over samples"))
    step = define(s.r, STEP * Expectation(sigma_prime(Z), Z) * _length, "the step averaged over rows, e E[sigma'] w_Y")
    strength = rewritten(rewrite((step, first_coefficient().theorems[0]), True), length)
    alignment = rewritten(define(s.gamma, _along / _length, "w_Y.theta over its length"), along, length)
    return Derivation(
        "the spike of a step with any activation",
        SOURCE,
        proved("Equal samples give E[Y^2 |x|^2], different ones E[Y x]^2,", meaning),
        proved("which lies along the target.", exact),
        proved("In the limit.", limit),
        proved("Its length concentrates.", length),
        proved("The mean of sigma' over rows is h1, times w_Y: the spike.", strength),
        proved("w_Y.theta is E[Y u],", along),
        proved("over the length.", alignment),
        results=(exact, limit, strength, alignment),
        hypotheses=(CENTRED, CONCENTRATES, SELF_AVERAGING),
    )  # fmt: skip


@functools.cache
def bulk() -> Derivation:
    """E|b|^2 at finite n0 and d for a row across the target, and its limit c."""
    force = (g(U) - s.mean_output) * (sigma_prime(Z) - s.h1)
    draws = (U, Z, _across)
    meaning = define(
        s.row_norm,
        1 + 2 * STEP * Expectation(force * Z, *draws) + STEP**2 * squared_length(force, (Z, U), draws, _across),
        "E|w + (e/n0) sum Y (sigma'(w.x) - h1) x|^2, a square of a sum, for w.theta = 0",
    )
    exact = worked_out(meaning)
    square = s.curvature**2 + s.slope_moment[0, 2]
    limit = name_limit((tends_to(exact),), s.c, "the limit of E|b|^2")
    form = equal(limit, (1 + TURN * s.label_moment[1]) ** 2 + STEP**2 * square * s.label_moment[2] / s.alpha0)
    return Derivation(
        "the length of a row after a step with any activation",
        SOURCE,
        *each_proved("sigma' is a line and a rest that is orthogonal to it.", of_the_slope()),
        proved(
            "x = z w + u theta + the rest for w across theta; equal samples give E[Y^2 (sigma' - h1)^2 |x|^2], "
            "different ones the square of E[Y (sigma' - h1) x], and w itself meets every sample once.",
            meaning,
        ),
        proved("Opened.", exact),
        proved(
            "In the limit the mean of P lengthens every row, all else is noise; E[(sigma' - h1)^2] = E[sigma'']^2 + "
            "E[s^2].",
            form,
        ),
        results=(exact, form),
        hypotheses=(CENTRED, CONCENTRATES),
    )


def product(f: sp.Expr, f_: sp.Expr) -> sp.Expr:
    """w_f.w_f'."""
    return over_labels(f * U) * over_labels(f_ * U) + over_labels(f * f_) / s.alpha0


def _twice(f: sp.Expr, f_: sp.Expr) -> sp.Expr:
    """w_f.M w_f': three samples all different, two of them equal, or all equal."""
    along, along_ = over_labels(f * U), over_labels(f_ * U)
    pairs = over_labels(f * Y * U) * along_ + along * over_labels(f_ * Y * U) + over_labels(f * f_) * s.label_moment[1]
    return along * along_ * over_labels(Y * U**2) + pairs / s.alpha0 + over_labels(f * f_ * Y) / s.alpha0**2


# x.P x/d and x.P^2 x/d - (1/d) tr P^2 of a sample of the batch.
_KEPT = 1 + s.turn * s.label_moment[1]
PI = _KEPT + s.turn * Y / s.alpha0
STRETCH = 2 * s.turn * _KEPT * Y / s.alpha0 + s.turn**2 * Y**2 / s.alpha0**2


def _own_step() -> Step:
    trace = 1 + 2 * s.turn * s.label_moment[1] + s.turn**2 * (s.label_moment[1] ** 2 + s.label_moment[2] / s.alpha0)
    rest = trace + STRETCH - PI**2
    return Step(
        "x.M x/d is E[Y] from the other samples and Y/alpha0 from its own, x.M^2 x/d - (1/d) tr M^2 likewise "
        "2 E[Y] Y/alpha0 + Y^2/alpha0^2; the part of P x across x has the square nu^2 E[Y^2]/alpha0.",
        eq(sp.Symbol(r"|Px|^2/d - (x^\top Px/d)^2"), s.turn**2 * s.label_moment[2] / s.alpha0),
        Vanishing("x.P^2 x/d - (x.P x/d)^2", rest - s.turn**2 * s.label_moment[2] / s.alpha0),
    )


def pulled_and_added() -> tuple[sp.Expr, sp.Expr]:
    """f and f' with h = P w_f + w_f'."""
    e = STEP
    linear, square = over_row(Z * Z * S), over_row(Z * S**2)
    second = over_row((Z**2 - 1) * S)
    cube = over_row(S * (S**2 - s.slope_moment[0, 2]))
    pulled = 2 * e * linear * Y * PI + e**2 / s.alpha0 * square * Y**2
    added = e * second * Y * STRETCH + 2 * e**2 / s.alpha0 * square * Y**2 * PI + e**3 / s.alpha0**2 * cube * Y**3
    return sp.expand(pulled), sp.expand(added)


@functools.cache
def row_law() -> Derivation:
    """d times the covariances of b.theta, b.w_Y and |b|^2."""
    turned = over_labels(Y * U**2)
    form = 1 + 2 * s.turn * turned + s.turn**2 * (turned**2 + over_labels(Y**2 * U**2) / s.alpha0)
    form += s.row_weight * over_labels(Y**2 * U**2)
    pulled, added = pulled_and_added()
    # theta.w_f, and theta.M w_f of two different samples or equal ones.
    theta = over_labels(pulled * U) * (1 + s.turn * turned) + s.turn / s.alpha0 * over_labels(pulled * Y * U)
    theta = sp.expand(theta + over_labels(added * U))
    along = sp.expand(product(Y, pulled) + s.turn * _twice(Y, pulled) + product(Y, added))
    odd = {s.turn: 0, s.slope_moment[1, 2]: 0}
    first = 2 * STEP * s.slope_moment[2, 1] * s.label_slope[1]
    first += STEP**3 * s.slope_moment[0, 3] / s.alpha0**2 * s.label_slope[3]
    return Derivation(
        "the covariance of a row, and with its squared norm",
        SOURCE,
        Step(
            "d Cov(b) = P^2 + omega A; theta.P^2 theta from pairs of samples.",
            eq(s.row_form, sp.expand(form)),
            Vanishing("E[z s] = 0: w and the noise do not correlate", over_row(Z * S)),
        ),
        _own_step(),
        Step(
            "2 P w.noise has the first chaos 2 e E[z^2 s] w_{Y pi}, |noise|^2 has (e^2/alpha0) E[z s^2] w_{Y^2}: P w "
            "meets these. The noise meets w.P^2 w through E[(z^2 - 1) s] dP, 2 P w.noise and |noise|^2 in one sample.",
            eq(s.norm_overlap, theta),
            Vanishing("E[(z^2 - 1) s] = E[z^2 s]", over_row((Z**2 - 1) * S) - over_row(Z * Z * S)),
            Vanishing("for an odd activation", theta.subs(odd) - sp.expand(first)),
        ),
        Step(
            "The same along w_Y.",
            eq(s.norm_spike_overlap, along),
            Vanishing("w_Y.w_Y", product(Y, Y) - spike().results[s.v_square]),
        ),
        results={s.row_form: sp.expand(form), s.norm_overlap: theta, s.norm_spike_overlap: along},
        hypotheses=(CENTRED, CHAOS, OWN),
    )


@functools.cache
def norm_variance() -> Derivation:
    """d Var |b|^2 = v_c from w.P^2 w, 2 P w.noise and |noise|^2."""
    e, nu, mu = STEP, s.turn, s.label_moment
    m = [sp.S.One, mu[1], mu[2] / s.alpha0 + mu[1] ** 2]
    k3, k4 = mu[3] / s.alpha0**2, mu[4] / s.alpha0**3
    k2 = mu[2] / s.alpha0
    m += [k3 + 3 * k2 * mu[1] + mu[1] ** 3, k4 + 4 * k3 * mu[1] + 2 * k2**2 + 6 * k2 * mu[1] ** 2 + mu[1] ** 4]

    def trace(power: int) -> sp.Expr:
        return sum((sp.binomial(power, k) * nu**k * m[k] for k in range(power + 1)), sp.S.Zero)

    first = over_row(Z * Z * S)
    parts = {
        "Var w.P^2 w": 2 * (trace(4) - trace(2) ** 2),
        "2 Cov(w.P^2 w, 2 P w.noise)": 4 * e * over_row((Z**2 - 1) * Z * S) * over_labels(Y * PI * STRETCH),
        "Var 2 P w.noise, one sample": 4
        * e**2
        / s.alpha0
        * over_labels(Y**2 * (PI**2 * over_row(Z**2 * S**2) + nu**2 * k2 * over_row(S**2))),
        "Var 2 P w.noise, two samples": 4 * e**2 * first**2 * over_labels(Y * PI * U) ** 2,
        "2 Cov(w.P^2 w, |noise|^2)": 2 * e**2 / s.alpha0 * over_row((Z**2 - 1) * S**2) * over_labels(Y**2 * STRETCH),
        "2 Cov(2 P w.noise, |noise|^2), one sample": 4
        * e**3
        / s.alpha0**2
        * over_row(Z * S**3)
        * over_labels(Y**3 * PI),
        "the same, two samples": 4
        * e**3
        / s.alpha0
        * first
        * over_row(Z * S**2)
        * over_labels(Y * PI * U)
        * over_labels(Y**2 * U),
        "Var |noise|^2, one sample": e**4 * mu[4] * (over_row(S**4) - over_row(S**2) ** 2) / s.alpha0**3,
        "Var |noise|^2, two samples": e**4 / s.alpha0**2 * over_row(Z * S**2) ** 2 * over_labels(Y**2 * U) ** 2,
        "Var |noise|^2, pairs": 2 * e**4 * mu[2] ** 2 * over_row(S**2) ** 2 / s.alpha0**2,
    }
    total = sp.expand(sum(parts.values()))
    odd = {nu: 0, s.slope_moment[1, 2]: 0, s.slope_moment[1, 3]: 0}
    without = 4 * e**2 * (k2 * s.slope_moment[2, 2] + s.slope_moment[2, 1] ** 2 * s.label_slope[1] ** 2)
    without += parts["Var |noise|^2, one sample"] + parts["Var |noise|^2, pairs"]
    return Derivation(
        "the variance of the squared norm of a row after a step with any activation",
        SOURCE,
        _own_step(),
        *(
            Step(f"{name}.", eq(sp.Symbol(rf"v_{{c,{k}}}"), sp.expand(part)))
            for k, (name, part) in enumerate(parts.items(), start=1)
        ),
        Step(
            "Together.",
            eq(s.norm_variance, total),
            Vanishing("for an odd activation", total.subs(odd) - sp.expand(without)),
        ),
        results={s.norm_variance: total},
        hypotheses=(CENTRED, CHAOS, OWN, "the moments of M are those of its free cumulants E[Y^n]/alpha0^(n-1)"),
    )
