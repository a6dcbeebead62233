"""The deterministic equivalent of a network's bulk whose neurons start from a vocabulary. Beyond the paper.

The step of a neuron of letter u is u times that of a readout of ones, so that group a has rows of covariance B_a/d with
B_a = 1 + u_a^2 omega A: they commute. In the eigenbasis of A, at eigenvalue x, the readout's S = lambda + D + C o W W^T
is a matter of k x k matrices. With theta_a(x) = g_a (1 + u_a^2 omega x), g_a = beta tau_a, Theta = diag(theta_a) and nu
the law of A,

    tau_a = pi_a/(lambda + D_a + int dnu (1 + u_a^2 omega x) M_aa(x)),    M(x) = C (1 + Theta(x) C)^-1,
    (W_a f).S^-1 W_b f' = int dmu_ff' t_ab(x),    t = Theta (1 + C Theta)^-1,    T_ab = (1/beta) int dnu t_ab,

and vectors delta_a that covary with the rows by h_a/d enter through (1 + Theta C)^-1. Two groups are written out. An
integral over the spectrum is an average over a standard normal variable nu that labels eigenvectors: varrho(nu) is the
eigenvalue, f_i(nu) and h_a(nu) are sqrt(d) times the components of directions and of the h_a.

The law of the bulk rows of one letter after a gradient step, given the batch. Beyond the paper.

A neuron whose readout starts at u/sqrt(p) moves by u times what one that starts at 1/sqrt(p) moves: b = w + u delta.
Whatever is of order k in delta gains u^k, so that a letter is a learning rate: e becomes u e in the covariance, in the
covariance with the squared norm, and in the variance of the squared norm.

The bulk of a network with a vocabulary where it is known: isotropic rows, and letters that do not differ.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.blocks import (
    IDENTITY,
    LETTERS,
    PAIRS,
    C,
    Theta,
    block_relation,
    mixed_matrix,
    shift,
    solved_blocks,
    theta,
    traces_of,
    vanishing,
)
from giantsteps.derivations.bulk.network import DIAGONAL, OVER_SCHUR, ROW
from giantsteps.derivations.bulk.network_rows import covariance, norm_covariance, norm_variance
from giantsteps.derivations.free_energy.assumptions import SHERMAN_MORRISON, updated_form
from giantsteps.derivations.kernel.algebra import instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation, expand_expectations

SOURCE = "beyond the paper: the network's own bulk with a vocabulary"

ROWS_OF_GROUPS = (
    "given the batch, bulk rows are independent of each other, their covariances are B_a/d with B_a = 1 + u_a^2 omega "
    "A, and quadratic forms of a row in a resolvent that has not seen it concentrate on those of its covariance"
)

varrho = sp.Function("varrho", nonnegative=True)  # A is positive semidefinite
first_direction, second_direction = (sp.Function(f"f_{i}", real=True) for i in (1, 2))
correlations = tuple(sp.Function(f"h_{a + 1}", real=True) for a in LETTERS)
NU = s.spectrum_mode

# The covariance of a row of group a at an eigenvalue of A: 1 + u_a^2 omega x.
form = tuple(1 + s.letter[a] ** 2 * s.row_weight * varrho(NU) for a in LETTERS)
theta_at = {theta[a]: s.row_gain[a] * form[a] for a in LETTERS}
# Theta_a(nu) by name: beta tau_a times the form of a row of group a.
theta_named = {theta[a]: sp.Function(f"Theta_{a + 1}", positive=True)(NU) for a in LETTERS}
gain_of_tau = {s.row_gain[a]: s.beta * s.V2_of[a] for a in LETTERS}


def over_spectrum(integrand: sp.Expr) -> sp.Expr:
    """The average over the spectrum of A, with Theta_a(nu) for theta_a."""
    return Expectation(integrand.subs(theta_named, simultaneous=True), NU)


@functools.cache
def filter_matrix() -> sp.Matrix:
    """(1 + Theta C)^-1 in C and Theta."""
    return (IDENTITY + Theta * C).inv(method="ADJ").applyfunc(sp.factor)


@functools.cache
def traces() -> Derivation:
    """tau, T and the overlaps of two directions: one row against the rest, eigenvalue by eigenvalue."""
    t, M = (s.beta * traces_of()).applyfunc(sp.factor), mixed_matrix()
    own = [shift[a] + over_spectrum(form[a] * M[a, a]) for a in LETTERS]
    tau = [s.fraction[a] / own[a] for a in LETTERS]
    blocks = {s.V1_of[a][b]: over_spectrum(t[a, b]) / s.beta for a, b in ((0, 0), (0, 1), (1, 1))}
    pair = first_direction(NU) * second_direction(NU)
    forms = {s.forms_own: over_spectrum(pair * t[0, 0]), s.forms_mixed: over_spectrum(pair * t[0, 1])}
    # (1/p) tr[S S^-1] = sum_a s_a tau_a + sum_ab C_ab T_ab = 1, eigenvalue by eigenvalue.
    total = sum(theta[a] * M[a, a] for a in LETTERS) - (C * t).trace()
    # In a basis in which A is diagonal: components b_l of variance b_a(x_l)/d.
    components = sp.symbols("g_1 g_2", real=True)
    values, sizes = sp.symbols("M_1 M_2", real=True), sp.symbols("b_1 b_2", positive=True)
    quadratic = sum(values[i] * sizes[i] * components[i] ** 2 for i in (0, 1)) / s.d
    averaged = expand_expectations(Expectation(sp.expand(quadratic), *components))
    steps = (
        Step(
            "A diagonal entry of an inverse is one over the Schur complement of the rest.",
            eq(sp.Symbol("(S^{-1})_{ii}"), OVER_SCHUR),
            DIAGONAL,
        ),
        Step(
            "A row of group a has components of variance (1 + u_a^2 omega x)/d in the eigenbasis of A: its form in a "
            "function of A is the average of that function times 1 + u_a^2 omega x.",
            eq(sp.Symbol(r"b\cdot M(A)b"), averaged),
            Vanishing("two components", averaged - sum(values[i] * sizes[i] for i in (0, 1)) / s.d),
        ),
        Step(
            "Row i of S^-1 W_b f is (S^-1)_ii (1_ab b_i.f - sum_c C_ac b_i.W_c^T S^-1 W_b f) with the row left out. "
            "Along an eigenvector of A and summed over the rows of group a: t = Theta - Theta C t.",
            eq(sp.MatrixSymbol("t", 2, 2), t),
            *vanishing("t solves the relation", t - Theta + Theta * C * t),
            *vanishing("and its transpose", block_relation(t / s.beta)),
        ),
        Step(
            "theta_a is beta tau_a times the form of a row: p pi_a rows of weight tau_a/pi_a and variance "
            "(1 + u_a^2 omega x)/d.",
            eq(theta_named[theta[0]], theta_at[theta[0]]),
            Vanishing(
                "p pi_1 (tau_1/pi_1) (1 + u_1^2 omega x)/d",
                s.p * s.fraction[0] * (s.V2_of[0] / s.fraction[0]) * form[0] / s.d
                - theta_at[theta[0]].subs(gain_of_tau).subs(s.beta, s.p / s.d),
            ),
        ),
        Step(
            "The Schur complement of a row is s_a + C_aa |b_i|^2 - sum_bc C_ab b_i.W_b^T S^-1 W_c b_i C_ca: along an "
            "eigenvector the form of the row meets C - C t C, which is M.",
            eq(sp.MatrixSymbol("M", 2, 2), M),
            *vanishing("C - C t C = M", C - C * t * C - M),
        ),
        *(
            Step(
                "The rows of a group are alike: tau_a = pi_a (S^-1)_ii.",
                eq(s.V2_of[a], tau[a]),
                Vanishing(f"group {a + 1}: its share over the Schur complement", tau[a] * own[a] - s.fraction[a]),
            )
            for a in LETTERS
        ),
        *(
            Step(
                "The trace is the average over the spectrum, and d/p = 1/beta.",
                eq(symbol, found),
                Vanishing("what M takes from the share of tau t returns to the sum of C o T", total),
            )
            for symbol, found in blocks.items()
        ),
        *(
            Step(
                "Two directions of the input: t(x) weighed with the product of their components.",
                eq(symbol, found),
                *vanishing("t solves the relation", t - Theta + Theta * C * t),
            )
            for symbol, found in forms.items()
        ),
    )
    results: dict[sp.Basic, sp.Expr] = {s.V2_of[a]: tau[a] for a in LETTERS} | blocks | forms
    return Derivation(
        "one row of a network's group against the rest", SOURCE, *steps, results=results, hypotheses=(ROWS_OF_GROUPS,)
    )


@functools.cache
def norms() -> Derivation:
    """Overlaps with delta: a vector whose entries are tied to the rows through h_a."""
    inverse, M = filter_matrix(), mixed_matrix()
    named = s.row_gain
    g = inverse * sp.diag(*named)
    along = {
        s.form_norm_own: over_spectrum(first_direction(NU) * correlations[0](NU) * g[0, 0]),
        s.form_norm_mixed: over_spectrum(first_direction(NU) * correlations[1](NU) * g[0, 1]),
    }
    own = named[0] * (s.norm_variance_of[0] - named[0] * over_spectrum(correlations[0](NU) ** 2 * M[0, 0]))
    mixed = -named[0] * named[1] * over_spectrum(correlations[0](NU) * correlations[1](NU) * M[0, 1])
    relation = g - sp.diag(*named) + Theta * C * g
    steps = (
        *traces().steps,
        Step(
            "Row i of S^-1 delta_b is (S^-1)_ii (1_ab delta_i - sum_c C_ac b_i.W_c^T S^-1 delta_b) with the row left "
            "out. Along an eigenvector of A, d Cov(b_i, delta_i) = h_b: W_a^T S^-1 delta_b is g_ab h_b with "
            "g = beta tau - Theta C g.",
            eq(sp.MatrixSymbol("g", 2, 2), g),
            *vanishing("g solves the relation", relation),
            ROW,
        ),
        *(
            Step(
                "Weighed with the components of the direction.",
                eq(symbol, found),
                *vanishing("g solves the relation", relation),
            )
            for symbol, found in along.items()
        ),
        Step(
            "Met by delta_a: its variance, and what the left-out rows return through h_a, where C g is M times "
            "beta tau.",
            eq(s.norms_own, own),
            *vanishing("C g = M beta tau", C * g - M * sp.diag(*named)),
        ),
        Step(
            "For two groups only the second part.",
            eq(s.norms_mixed, mixed),
            *vanishing("C g = M beta tau", C * g - M * sp.diag(*named)),
        ),
    )
    return Derivation(
        "the norms of a network's groups in the readout's resolvent",
        SOURCE,
        *steps,
        results={**along, s.norms_own: own, s.norms_mixed: mixed},
        hypotheses=(ROWS_OF_GROUPS,),
    )


def woodbury(spike: sp.Matrix, conjugate: sp.Matrix) -> sp.Matrix:
    """C (1 - R C)^-1: what the inverse of S - Y C Y^T has more than S^-1, between S^-1 Y and its transpose."""
    return conjugate * (IDENTITY - spike * conjugate).inv(method="ADJ")


R = sp.Matrix(2, 2, lambda a, b: s.spike_forms[a][b])


def _by_rank_one(*forms: sp.Expr) -> Theorem:
    """x.(A + w u u^T)^-1 y from the forms x.y, x.u, u.y, u.u of A^-1 and w."""
    values = dict(zip(sides(SHERMAN_MORRISON.statement)[0].args, forms, strict=True))
    return instantiate((SHERMAN_MORRISON,), values)


def taken_out(overlap: sp.Symbol, form: sp.Expr, left: tuple[sp.Expr, ...], right: tuple[sp.Expr, ...]) -> Theorem:
    """overlap = y.G y' by the forms of S^-1 in y, y' and the two directions of the spike, which G leaves out.

    C o (Wv)(Wv)^T is C_11 u u^T + (det C/C_11) w w^T, w its second direction and u the first plus C_12/C_11 of w: two
    updates of rank one, by Sherman and Morrison.
    """
    share, rest = C[0, 1] / C[0, 0], C[1, 1] - C[0, 1] ** 2 / C[0, 0]
    along = R[0, 0] + 2 * share * R[0, 1] + share**2 * R[1, 1]
    second = R[0, 1] + share * R[1, 1]
    y, y_ = left[0] + share * left[1], right[0] + share * right[1]
    first = [
        (form, y, y_, along, -C[0, 0]),
        (left[1], y, second, along, -C[0, 0]),
        (right[1], second, y_, along, -C[0, 0]),
        (R[1, 1], second, second, along, -C[0, 0]),
    ]
    named = [updated_form(*forms) for forms in first]
    meaning = define(overlap, updated_form(*named, -rest), "y.(S - Y C Y^T)^-1 y', Y the two directions of the spike")
    known = [_by_rank_one(*forms) for forms in first]
    result = form + (sp.Matrix(left).T * woodbury(R, C).applyfunc(sp.factor) * sp.Matrix(right))[0]
    return equal(rewritten(rewrite((meaning, _by_rank_one(*named, -rest))), *known), result)


@functools.cache
def without_spike(overlap: sp.Symbol = s.vector_overlap, vectors: str = "any two vectors") -> Derivation:
    """K: S less the part of the spike, C o (Wv)(Wv)^T, by Sherman, Morrison and Woodbury; ``overlap`` names y.G y'.

    ``vectors`` says in words which y and y' are.
    """
    result = taken_out(overlap, s.vector_form, s.left_forms, s.right_forms)
    return Derivation(
        f"the spike taken out of a network's groups, for {vectors}",
        SOURCE,
        proved(
            "S^-1 Y C (1 - R C)^-1 Y^T S^-1 is what leaving out Y C Y^T adds to S^-1, R = Y^T S^-1 Y: two updates of "
            "rank one.",
            result,
        ),
    )


INITIAL_OUTPUT = "the initial output of the network is O(d^(-1/2)) and does not contribute to the step"


def of_letter(expression: sp.Expr) -> sp.Expr:
    """The rate e = eta/beta of a readout of ones becomes u e."""
    return expression.subs(s.eta, s.letter[0] * s.eta)


def orders(expression: sp.Expr) -> dict[int, sp.Expr]:
    """An expression polynomial in the step, order by order."""
    opened = sp.expand(expression)
    return {k: opened.coeff(s.eta, k) * s.eta**k for k in range(5) if opened.coeff(s.eta, k) != 0}


def gained(expression: sp.Expr) -> sp.Expr:
    """Every order k in delta times u^k."""
    return sum(s.letter[0] ** k * part for k, part in orders(expression).items())


@functools.cache
def rows() -> Derivation:
    """The covariance of a row and its squared norm, letter u."""
    w, delta, w_2, delta_2 = sp.symbols("w delta w' delta'", real=True)
    u = s.letter[0]
    row, other = w + u * delta, w_2 + u * delta_2
    pair, square = sp.expand(row * other), sp.expand(row**2)
    derived = {
        s.row_form_of: covariance().results[s.row_form],
        s.norm_overlap_of: norm_covariance().results[s.norm_overlap],
        s.norm_spike_overlap_of: norm_covariance().results[s.norm_spike_overlap],
        s.norm_variance_of[0]: norm_variance().results[s.norm_variance],
    }
    reasons = {
        s.row_form_of: "The covariance has a part of order zero, the row before the step, and one of order two.",
        s.norm_overlap_of: "The covariance with 1 + 2 u w.delta + u^2 |delta|^2: orders one and three.",
        s.norm_spike_overlap_of: "The same along v~.",
        s.norm_variance_of[0]: "The variance of 2 u w.delta + u^2 |delta|^2: orders two and four.",
    }
    steps = (
        *covariance().steps,
        *norm_covariance().steps,
        *norm_variance().steps,
        Step(
            "One component of a row and its square: a polynomial in u delta.",
            eq(sp.Symbol("b"), row),
            Vanishing("two components", pair - w * w_2 - u * (w * delta_2 + delta * w_2) - u**2 * delta * delta_2),
            Vanishing("the square", square - w**2 - 2 * u * w * delta - u**2 * delta**2),
        ),
        *(
            Step(
                reasons[symbol],
                eq(symbol, of_letter(found)),
                Vanishing("order by order in delta", sp.expand(of_letter(found) - gained(found))),
                Vanishing("no other order", sp.expand(found - sum(orders(found).values()))),
            )
            for symbol, found in derived.items()
        ),
    )
    results = {symbol: of_letter(found) for symbol, found in derived.items()}
    hypotheses = tuple(dict.fromkeys((*norm_variance().hypotheses, INITIAL_OUTPUT)))
    return Derivation("the rows of one letter", SOURCE, *steps, results=results, hypotheses=hypotheses)


def _isotropic(name: str, left: sp.Expr, right: sp.Expr, claim: str) -> Theorem:
    """What the law of a network's groups is where A is a multiple of one, t does not vary, and B_a = c_a."""
    return hypothesis(f"isotropic rows: {name}", Equation(left, right), claim)


@functools.cache
def isotropic() -> Derivation:
    """A = E[y^2]: B_a = c_a, and the overlaps are those of Appendix D once the spike is out."""
    own, mixed = "beyond.groups.overlap-own", "beyond.groups.overlap-mixed"
    pairs = tuple(
        _isotropic(f"block {a + 1}{b + 1}", R[a, b], s.beta * s.V1_of[a][b], own if a == b else mixed) for a, b in PAIRS
    )
    apart = tuple(
        _isotropic(f"{form} vanishes", form, sp.Integer(0), mixed) for form in (*s.left_forms, *s.right_forms)
    )
    across = _isotropic("theta_perp", s.vector_form, s.beta * s.V1_of[0][1], mixed)
    spike = taken_out(s.spike_overlap_of, R[0, 0], (R[0, 0], R[0, 1]), (R[0, 0], R[0, 1]))
    spike = equal(rewritten(rewritten(spike, *pairs), *solved_blocks()), s.beta * s.c_of[0] * s.V2_of[0])
    target = taken_out(s.target_overlap_mixed, s.vector_form, s.left_forms, s.right_forms)
    target = rewritten(target, *apart, across)
    return Derivation(
        "isotropic rows in groups",
        SOURCE,
        *each_proved("With A a multiple of one t does not depend on x: R is beta T, that of Appendix D.", pairs),
        proved("theta_perp does not meet v: nothing is added.", target),
        proved("The spike taken out of t leaves Theta: v is independent of the rest of the bulk.", spike),
        results=(spike, target),
        hypotheses=(ROWS_OF_GROUPS,),
    )


def _of_group(a: int) -> Theorem:
    """pi_a/tau_a = s_a + int dnu (1 + u_a^2 omega x) M_aa(x), with M_aa by Cramer's rule."""
    b = 1 - a
    gains = [s.beta * s.V2_of[e] * form[e] for e in LETTERS]
    opened = sp.expand((IDENTITY + C * Theta).det()).subs(dict(zip(theta, gains, strict=True)), simultaneous=True)
    entry = (C[a, a] + gains[b] * (C[0, 0] * C[1, 1] - C[0, 1] ** 2)) / opened
    row = Equation(s.fraction[a] / s.V2_of[a], shift[a] + Expectation(form[a] * entry, NU))
    return hypothesis(f"one row of group {a + 1}", row, "beyond.groups.V2")


@functools.cache
def equal_groups() -> Derivation:
    """Groups that do not differ are one: tau summed satisfies the equation of one group."""
    same = dict.fromkeys(C, s.V1_hat) | dict.fromkeys(s.letter, sp.S.One) | dict.fromkeys(s.V2_hat_of, s.V2_hat)
    alike = [
        in_model(f"equal groups: {of}", Equation(of, one), "groups that do not differ") for of, one in same.items()
    ]
    whole = define(s.V2, sum(s.V2_of), "(1/p) tr S^-1 over the rows of all groups")
    gain = isolated(s.V2, define(s.gain, s.beta * s.V1_hat * s.V2, "beta V1^ V2"))
    shares = Equation(s.fraction[1], 1 - s.fraction[0])
    rest = in_model("shares of the neurons", shares, "they add up to one")
    one = 1 + s.row_weight * varrho(NU)
    common = one * s.V1_hat / (1 + s.beta * s.V1_hat * sum(s.V2_of) * one)
    filtered = one * s.V1_hat / (1 + s.gain * one)
    weight = s.V1_hat / s.gain
    split = linear((), Expectation(filtered, NU), ((weight, sp.S.One), (-weight, 1 / (1 + s.gain * one))))
    groups = []
    for a in LETTERS:
        own = rewritten(_of_group(a), *alike)
        (average,) = value(own).atoms(Expectation)
        named = rewrite((rewrite((own, linear((), average, ((sp.S.One, common),)))), whole), True)
        groups.append(rewrite((rewrite((named, gain)), split)))
    own = s.ridge + s.V2_hat + value(split)
    weights = tuple(-s.V2_of[a] / own for a in LETTERS)
    result = ring((whole, *groups, rest), Equation(s.V2, 1 / own), (sp.S.One, *weights, 1 / own))
    return Derivation(
        "equal groups of a network",
        SOURCE,
        *traces().steps,
        *each_proved("With C_ab = C and equal letters an entry of M is C/(1 + g B), g = beta C tau.", groups),
        proved("B C/(1 + g B) is (C/g) (1 - 1/(1 + g B)): the equation of one group.", result),
        hypotheses=(ROWS_OF_GROUPS,),
    )
