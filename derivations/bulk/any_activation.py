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

from onestep.derivations.bulk import symbols as s
from onestep.derivations.bulk.network import SAMPLES
from onestep.derivations.gradient_step.bulk import bulk as odd_bulk
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, gaussian_moment
from onestep.derivations.language.named_functions import g

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


def limit(expression: sp.Expr) -> sp.Expr:
    """d -> infinity at n0 = alpha0 d."""
    return sp.expand(sp.limit(expression.subs(s.n0, s.alpha0 * s.d), s.d, sp.oo))


def _limit_step(reason: str, symbol: sp.Symbol, exact: sp.Expr) -> Step:
    value = limit(exact)
    at_ratio = exact.subs(s.n0, s.alpha0 * s.d)
    return Step(reason, eq(symbol, value), RationalLimit("at n0 = alpha0 d", at_ratio, s.d, value))


@functools.cache
def spike() -> Derivation:
    """|w_Y|^2 at finite n0 and d, r and gamma; w_Y = (1/n0) sum Y x."""
    own = (s.d - 1) * over_labels(Y**2) + over_labels(Y**2 * U**2)
    other = over_labels(Y * U) ** 2
    exact = sp.expand(own / s.n0 + (1 - 1 / s.n0) * other)
    pairs = (s.n0 * own + s.n0 * (s.n0 - 1) * other) / s.n0**2
    square = limit(exact)
    r, gamma = STEP * s.h1 * sp.sqrt(square), s.label_slope[1] / sp.sqrt(square)
    return Derivation(
        "the spike of a step with any activation",
        SOURCE,
        Step(
            "Equal samples give E[Y^2 |x|^2], different ones E[Y x]^2, which lies along the target.",
            eq(s.batch_norm, exact),
            Vanishing("n0 equal pairs and n0 (n0 - 1) others", pairs - exact),
        ),
        _limit_step("In the limit.", s.v_square, exact),
        Step(
            "The mean of sigma' over rows is h1, times w_Y: the spike.",
            eq(s.r, r),
            Vanishing("its square", r**2 - STEP**2 * s.h1**2 * square),
        ),
        Step("w_Y.theta is E[Y u].", eq(s.gamma, gamma), Vanishing("its square", gamma**2 * square - other)),
        results={s.batch_norm: exact, s.v_square: square, s.r: r, s.gamma: gamma},
        hypotheses=(CENTRED, CONCENTRATES),
    )


@functools.cache
def bulk() -> Derivation:
    """E|b|^2 at finite n0 and d for a row across the target, and its limit c."""
    slope = s.curvature * Z + S
    cross = 2 * STEP * over_labels(Y) * over_row(Z * slope)
    square = over_row(slope**2)
    own = over_labels(Y**2) * (over_row(Z**2 * slope**2) + (s.d - 2) * square) + over_labels(Y**2 * U**2) * square
    other = (over_labels(Y) * over_row(Z * slope)) ** 2 + (over_labels(Y * U) * over_row(slope)) ** 2
    exact = sp.expand(1 + cross + STEP**2 * (own / s.n0 + (1 - 1 / s.n0) * other))
    value = limit(exact)
    kept = (1 + TURN * s.label_moment[1]) ** 2
    form = kept + STEP**2 * square * s.label_moment[2] / s.alpha0
    odd = {s.curvature: 0, s.label_moment[2]: s.h2_star, s.slope_moment[0, 2]: s.h1_check}
    return Derivation(
        "the length of a row after a step with any activation",
        SOURCE,
        Step(
            "x = z w + u theta + the rest for w across theta; equal samples give E[Y^2 (sigma' - h1)^2 |x|^2], "
            "different ones the square of E[Y (sigma' - h1) x], and w itself meets every sample once.",
            eq(s.row_norm, exact),
            Vanishing("E[sigma' - h1] = 0", over_row(slope)),
        ),
        _limit_step("In the limit.", s.c, exact),
        Step(
            "The mean of P lengthens every row, all else is noise; E[(sigma' - h1)^2] = E[sigma'']^2 + E[s^2].",
            eq(s.c, form),
            Vanishing("opened", sp.expand(form) - value),
            Vanishing("Result 3.1 for an odd activation", form.subs(odd) - odd_bulk().results[s.c]),
        ),
        results={s.row_norm: exact, s.c: form},
        hypotheses=(CENTRED, CONCENTRATES),
    )


def _once(f: sp.Expr, f_: sp.Expr) -> sp.Expr:
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


def _pulled_and_added() -> tuple[sp.Expr, sp.Expr]:
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
    pulled, added = _pulled_and_added()
    # theta.w_f, and theta.M w_f of two different samples or equal ones.
    theta = over_labels(pulled * U) * (1 + s.turn * turned) + s.turn / s.alpha0 * over_labels(pulled * Y * U)
    theta = sp.expand(theta + over_labels(added * U))
    along = sp.expand(_once(Y, pulled) + s.turn * _twice(Y, pulled) + _once(Y, added))
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
            Vanishing("w_Y.w_Y", _once(Y, Y) - spike().results[s.v_square]),
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


def over(numerator: sp.Expr) -> sp.Expr:
    """E[numerator/D] of a numerator in Y and u: Y = g(z) - h0, u = z and D = 1 + b1 Y + b2 Y^2."""
    label = g(s.z) - s.mean_output
    denominator = 1 + s.place_linear * label + s.place_square * label**2
    return Expectation(numerator.subs({Y: label, U: s.z}, simultaneous=True) / denominator, s.z)


@functools.cache
def places() -> Derivation:
    """b1 and b2: where the averages over samples are taken."""
    return _resolvent("where averages over one batch are taken", s.place_linear, s.place_square)


@functools.cache
def blocks() -> Derivation:
    """b = (1/d) tr H P and k = 1 - g (1/d) tr P H P from a = (1/d) tr H."""
    return _resolvent("blocks of the resolvent of two matrices of one batch", s.bridge_trace, s.rest_trace)


@functools.cache
def trace() -> Derivation:
    """a = (1/d) tr H from the places b1 and b2."""
    return _resolvent("the resolvent of two matrices of one batch", s.row_trace)


def _resolvent(title: str, *established: sp.Symbol) -> Derivation:
    """The blocks of the resolvent, of which some are named."""
    gain, nu, alpha0 = s.gain, s.turn, s.alpha0
    a, b, k, root = s.row_trace, s.bridge_trace, s.rest_trace, sp.sqrt(s.gain)
    G = sp.Matrix([[a, root * b], [root * b, -k]])
    W = sp.Matrix([[gain * s.row_weight * Y**2, root * nu * Y], [root * nu * Y, 0]])
    place_linear = 2 * gain * nu * b / alpha0
    place_square = gain / alpha0 * (s.row_weight * a + nu**2 / alpha0 * (a * k + gain * b**2))
    determinant = (sp.eye(2) + G * W / alpha0).det()
    D = 1 + place_linear * Y + place_square * Y**2
    put_in = sp.Matrix(
        [
            [gain * (s.row_weight + k * nu**2 / alpha0) * Y**2, root * (nu * Y + gain * b * nu**2 * Y**2 / alpha0)],
            [root * (nu * Y + gain * b * nu**2 * Y**2 / alpha0), -gain * a * nu**2 * Y**2 / alpha0],
        ]
    )
    left_out = put_in * (sp.eye(2) + G * W / alpha0) - D * W
    # With S1 and S2 for the averages of Y/D and Y^2/D: x = 1 + nu S1, y = g omega S2, t = g nu^2 S2/alpha0.
    x, y, t = sp.symbols("x y t", positive=True)
    whole = sp.Matrix([[1 + y + k * t, root * (x + b * t)], [root * (x + b * t), -(1 + a * t)]])
    product = (G * whole - sp.eye(2)).subs({b: x * a, k: (1 + y) * a}, simultaneous=True)
    product = product.subs(y, 1 / (a * (1 + t * a)) - 1 - gain * x**2)
    first, second = over(Y), over(Y**2)
    scale = 1 + gain * (s.row_weight * second + (1 + nu * first) ** 2)
    bend = gain * nu**2 / alpha0 * second
    level = sp.Symbol("M", positive=True)
    root_of = 2 / (level + sp.sqrt(level**2 + 4 * t * level))
    found = {
        s.place_linear: place_linear,
        s.place_square: place_square,
        s.bridge_trace: (1 + nu * first) * s.row_trace,
        s.rest_trace: (1 + gain * s.row_weight * second) * s.row_trace,
        s.row_trace: root_of.subs({level: scale, t: bend}, simultaneous=True),
    }
    return Derivation(
        title,
        SOURCE,
        Step(
            "[[1 + g omega A, sqrt(g) P], [sqrt(g) P, -1]] is linear in the samples, and the first block of its "
            "inverse is H = (1 + g B)^-1. Leaving one sample of weight W out multiplies by (1 + G W/alpha0)^-1, whose "
            "determinant is D(Y).",
            eq(s.place_linear, place_linear),
            Vanishing("the determinant", sp.expand(determinant - D)),
        ),
        Step(
            "The coefficient of Y^2.",
            eq(s.place_square, place_square),
            Vanishing("the same", sp.expand(determinant - D)),
        ),
        Step(
            "W (1 + G W/alpha0)^-1, averaged over samples, is added to the part without samples, and G is its inverse: "
            "b = (1 + nu S1) a, k = (1 + g omega S2) a, a M (1 + t a) = 1.",
            eq(s.bridge_trace, found[s.bridge_trace]),
            *(Vanishing("W (1 + G W/alpha0)^-1", sp.expand(entry)) for entry in left_out),
            *(Vanishing("G times its inverse", sp.together(entry)) for entry in product),
        ),
        Step(
            "The other block.",
            eq(s.rest_trace, found[s.rest_trace]),
            *(Vanishing("G times its inverse", sp.together(entry)) for entry in product),
        ),
        Step(
            "The positive root.",
            eq(s.row_trace, found[s.row_trace]),
            Vanishing("it solves its equation", root_of * level * (1 + t * root_of) - 1),
        ),
        results={symbol: value for symbol, value in found.items() if symbol in established},
        hypotheses=(SAMPLES,),
    )


@functools.cache
def target_forms() -> Derivation:
    """theta.H theta and theta.H P theta: the blocks with u^2 in the averages."""
    gain, nu, alpha0, a, b, k = s.gain, s.turn, s.alpha0, s.row_trace, s.bridge_trace, s.rest_trace
    first, second = over(Y * U**2), over(Y**2 * U**2)
    x, y, t = sp.symbols("x y t", positive=True)
    root = sp.sqrt(gain)
    inverse = sp.Matrix([[1 + y + k * t, root * (x + b * t)], [root * (x + b * t), -(1 + a * t)]])
    whole = (1 + y + k * t) * (1 + a * t) + gain * (x + b * t) ** 2
    forms = ((1 + a * t) / whole, (x + b * t) / whole)
    product = inverse * sp.Matrix([forms[0], root * forms[1]]) - sp.Matrix([1, 0])
    named = {x: 1 + nu * first, y: gain * s.row_weight * second, t: gain * nu**2 / alpha0 * second}
    target, bridge = (form.subs(named, simultaneous=True) for form in forms)
    return Derivation(
        "the resolvent of two matrices of one batch along the target",
        SOURCE,
        Step(
            "theta has the component u on a sample: its blocks are those of the traces with u^2 in the averages.",
            eq(s.target_form, target),
            *(Vanishing("the first column of the inverse", sp.together(entry)) for entry in product),
        ),
        Step(
            "The second block is H P.",
            eq(s.target_bridge, bridge),
            *(Vanishing("the first column of the inverse", sp.together(entry)) for entry in product),
        ),
        results={s.target_form: target, s.target_bridge: bridge},
        hypotheses=(SAMPLES,),
    )
