r"""The resolvent of a bulk whose rows fall into groups: its traces without large matrices (Appendix D).

The readout meets the bulk through S = lambda + D + C o (W W^T), with C acting on blocks, D on groups, and rows w_i of
squared norm c_a in group a, p pi_a of them. With Theta = diag(beta c_a tau_a),

    tau_a = (1/p) tr_a S^{-1} = pi_a/(lambda + D_a + c_a M_aa),   M = C (1 + Theta C)^{-1},
    T = (1/p) tr[P_a W W^T P_b S^{-1}] = (1/beta) Theta (1 + C Theta)^{-1} = (Theta - Theta M Theta)/beta.

One row against the rest (leave-one-out) gives all of it. Two groups are written out; C is ``V1_hat_of``, D is
``V2_hat_of``, T is ``V1_of`` and tau is ``V2_of`` of the symbols.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import PAPER
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq

ISOTROPIC_GROUPS = (
    "the rows of the bulk are independent of each other and isotropic in every group, so that quadratic forms of a row "
    "in the rest concentrate"
)
SOURCE = f"{PAPER}, Appendix D"
LETTERS = (0, 1)
PAIRS = ((0, 0), (0, 1), (1, 1))

C = sp.Matrix(2, 2, lambda a, b: s.V1_hat_of[a][b])
T = sp.Matrix(2, 2, lambda a, b: s.V1_of[a][b])
M = sp.Matrix(2, 2, lambda a, b: s.mixed[a][b])
IDENTITY = sp.eye(2)
shift = tuple(s.ridge + s.V2_hat_of[a] for a in LETTERS)
theta = sp.symbols("Theta_1 Theta_2", positive=True)
Theta = sp.diag(*theta)
theta_of_tau = {theta[a]: s.beta * s.c_of[a] * s.V2_of[a] for a in LETTERS}
Theta_tau = Theta.subs(theta_of_tau)


def diagonal_inverse(a: int, block_traces: sp.Matrix) -> sp.Expr:
    """1/(S^-1)_ii for a row of group a: s_a + c_a [C - beta C T C]_aa, the Schur complement with T averaged in."""
    return shift[a] + s.c_of[a] * (C - s.beta * C * block_traces * C)[a, a]


def block_relation(block_traces: sp.Matrix) -> sp.Matrix:
    """beta (T - what one row adds to it), which vanishes: beta T = Theta - beta T C Theta."""
    return s.beta * block_traces - Theta + s.beta * block_traces * C * Theta


def entries(matrix: sp.Matrix) -> list[tuple[str, sp.Expr]]:
    """The entries of a 2 x 2 matrix with their places."""
    return [(f"entry {a + 1}{b + 1}", matrix[a, b]) for a in LETTERS for b in LETTERS]


def vanishing(says: str, matrix: sp.Matrix) -> tuple[Vanishing, ...]:
    """One obligation per entry of a matrix that is zero."""
    return tuple(Vanishing(f"{says}, {place}", entry) for place, entry in entries(matrix))


@functools.cache
def mixed_matrix() -> sp.Matrix:
    """M = C (1 + Theta C)^{-1} in C and Theta."""
    return (C * (IDENTITY + Theta * C).inv(method="ADJ")).applyfunc(sp.factor)


@functools.cache
def traces_of(C_and_theta: None = None) -> sp.Matrix:
    """T = Theta (1 + C Theta)^{-1}/beta in C and Theta: the solution of the relation between blocks."""
    return (Theta * (IDENTITY + C * Theta).inv(method="ADJ") / s.beta).applyfunc(sp.factor)


@functools.cache
def cavity() -> Derivation:
    """tau and T in terms of M, and M in terms of C and Theta."""
    corner, off, rest = sp.symbols("A b D", positive=True)
    solved, M_explicit = traces_of(), mixed_matrix()
    own = [diagonal_inverse(a, solved) for a in LETTERS]
    tau = [s.fraction[a] / (shift[a] + s.c_of[a] * M[a, a]) for a in LETTERS]
    T_of_M = ((Theta_tau - Theta_tau * M * Theta_tau) / s.beta).applyfunc(sp.expand)
    G_ii = sp.Symbol("(S^{-1})_{ii}")

    def named(expression: sp.Expr) -> sp.Expr:
        return expression.subs({M[a, b]: M_explicit[a, b] for a, b in PAIRS})

    # (1/p) tr[S S^-1] = sum_a s_a tau_a + sum_ab C_ab T_ab, with s_a tau_a = pi_a - c_a tau_a M_aa
    total = sum(theta[a] * M_explicit[a, a] for a in LETTERS) - s.beta * (C * solved).trace()
    steps = (
        Step(
            "A diagonal entry of an inverse is one over the Schur complement of the rest.",
            eq(G_ii, 1 / (corner - off**2 / rest)),
            Vanishing(
                "in a matrix of two blocks",
                sp.Matrix([[corner, off], [off, rest]]).inv()[0, 0] - 1 / (corner - off**2 / rest),
            ),
        ),
        Step(
            "Row i of group a meets the rest through sum_b C_ab W_b w_i; w_i is independent of the rest and isotropic "
            "with variance c_a/d, so the quadratic form is c_a beta sum_bb' C_ab T_bb' C_b'a.",
            eq(1 / G_ii, diagonal_inverse(0, T)),
        ),
        Step(
            "The same row in T: w_i.W_b^T (S^-1)_bi = -(S^-1)_ii c_a beta sum_b' T_bb' C_b'a for b other than its own "
            "row, plus c_a (S^-1)_ii from itself. Summed over the rows of a group: beta T = Theta - beta T C Theta.",
            eq(sp.MatrixSymbol("T", 2, 2), solved),
            *vanishing("T = Theta (1 + C Theta)^-1/beta solves the relation", block_relation(solved)),
        ),
        Step(
            "Inserted in the Schur complement, C - beta C T C is M = C (1 + Theta C)^-1.",
            eq(sp.MatrixSymbol("M", 2, 2), M_explicit),
            *vanishing("C - beta C T C = M", C - s.beta * C * solved * C - M_explicit),
            *(
                Vanishing(
                    f"group {a + 1}: the Schur complement is s + c M", own[a] - shift[a] - s.c_of[a] * M_explicit[a, a]
                )
                for a in LETTERS
            ),
            Vanishing("M is symmetric", M_explicit[0, 1] - M_explicit[1, 0]),
        ),
        Step(
            "The rows of a group are alike: tau_a = pi_a (S^-1)_ii.",
            eq(s.V2_of[0], tau[0]),
            *(
                Vanishing(f"group {a + 1}: its share over the Schur complement", named(tau[a]) * own[a] - s.fraction[a])
                for a in LETTERS
            ),
        ),
        Step(
            "T in terms of M.",
            eq(s.V1_of[0][1], T_of_M[0, 1]),
            *vanishing("beta T = Theta - Theta M Theta", s.beta * solved - Theta + Theta * M_explicit * Theta),
        ),
        Step(
            "A check by another route: (1/p) tr[S S^-1] = sum_a s_a tau_a + sum_ab C_ab T_ab = 1.",
            eq(sp.Symbol(r"\frac{1}{p}\mathrm{tr}[S S^{-1}]"), 1),
            Vanishing("what M takes from the first sum the second sum returns", total),
        ),
    )
    results: dict[sp.Basic, sp.Expr] = {s.V2_of[a]: tau[a] for a in LETTERS}
    return Derivation(
        "one row of a group against the rest", SOURCE, *steps, results=results, hypotheses=(ISOTROPIC_GROUPS,)
    )


@functools.cache
def block_traces() -> Derivation:
    """T in terms of tau and M."""
    base = cavity()
    T_of_M = (Theta_tau - Theta_tau * M * Theta_tau) / s.beta
    results = {s.V1_of[a][b]: sp.expand(T_of_M[a, b]) for a, b in PAIRS}
    explicit = {M[a, b]: mixed_matrix()[a, b].subs(theta_of_tau) for a, b in PAIRS}
    steps = tuple(
        Step(
            f"Block {a + 1}{b + 1} of T in terms of M.",
            eq(s.V1_of[a][b], results[s.V1_of[a][b]]),
            Vanishing(
                "it is that of Theta (1 + C Theta)^-1/beta",
                results[s.V1_of[a][b]].subs(explicit) - traces_of()[a, b].subs(theta_of_tau),
            ),
        )
        for a, b in PAIRS
    )
    return Derivation(
        "blocks of the resolvent", SOURCE, *base.steps, *steps, results=results, hypotheses=base.hypotheses
    )


@functools.cache
def mixed_entries() -> Derivation:
    """The entries of M in C and tau."""
    base = cavity()
    found = mixed_matrix().subs(theta_of_tau)
    back = found * (IDENTITY + Theta_tau * C) - C
    steps = tuple(
        Step(
            f"Entry {a + 1}{b + 1} of M, by Cramer's rule.",
            eq(s.mixed[a][b], found[a, b]),
            Vanishing("M (1 + Theta C) = C", back[a, b]),
        )
        for a, b in PAIRS
    )
    results = {s.mixed[a][b]: found[a, b] for a, b in PAIRS}
    return Derivation(
        "the matrix C (1 + Theta C)^-1", SOURCE, *base.steps, *steps, results=results, hypotheses=base.hypotheses
    )


def potential() -> sp.Expr:
    """L = sum_a (s_a tau_a - pi_a ln tau_a) + (1/beta) ln det(1 + C Theta), stationary in tau: (1/p) ln det S."""
    determinant = sp.expand((IDENTITY + C * Theta_tau).det())
    separate = sum(shift[a] * s.V2_of[a] - s.fraction[a] * sp.log(s.V2_of[a]) for a in LETTERS)
    return separate + sp.log(determinant) / s.beta


@functools.cache
def log_determinant() -> Derivation:
    """The potential: its derivatives are T and tau, so that dT/dD and dtau/dC are transposes of each other."""
    L = potential()
    M_explicit = mixed_matrix().subs(theta_of_tau)
    T_explicit = traces_of().subs(theta_of_tau)
    steps = (
        *cavity().steps,
        Step(
            "A potential with tau as variational parameters.",
            eq(sp.Symbol(r"\frac{1}{p}\ln\det S"), L),
            *(
                Vanishing(
                    f"stationary in tau_{a + 1} where tau solves its equation",
                    sp.diff(L, s.V2_of[a]) - (shift[a] + s.c_of[a] * M_explicit[a, a] - s.fraction[a] / s.V2_of[a]),
                )
                for a in LETTERS
            ),
        ),
        Step(
            "At the stationary point only the explicit dependence counts: dL/dD_a = tau_a and dL/dC_ab = T_ab, twice "
            "that off the diagonal. Second derivatives commute, so the derivative of (T, tau) in (C, D) is symmetric.",
            eq(sp.Symbol(r"\partial_{C_{ab}}L"), s.V1_of[0][0]),
            *(Vanishing(f"dL/dD_{a + 1}", sp.diff(L, s.V2_hat_of[a]) - s.V2_of[a]) for a in LETTERS),
            *(
                Vanishing(
                    f"dL/dC_{a + 1}{b + 1}", sp.diff(L, s.V1_hat_of[a][b]) - (1 if a == b else 2) * T_explicit[a, b]
                )
                for a, b in PAIRS
            ),
        ),
    )
    return Derivation("log-determinant of the resolvent", SOURCE, *steps, results={}, hypotheses=(ISOTROPIC_GROUPS,))


# A direction in which C and D are moved.
X = sp.Matrix(2, 2, lambda a, b: sp.Symbol(f"X_{min(a, b) + 1}{max(a, b) + 1}", real=True))
Y = sp.symbols("Y_1 Y_2", real=True)


def mixed_slope(dTheta: sp.Matrix) -> sp.Matrix:
    """dM = (1 - M Theta) X (1 - Theta M) - M dTheta M, with M and Theta by name."""
    return (IDENTITY - M * Theta) * X * (IDENTITY - Theta * M) - M * dTheta * M


def minus_tau_slope(a: int, slope_of_other: sp.Expr) -> sp.Expr:
    """-dtau_a in the direction (X, Y), solved for its own share; ``slope_of_other`` is -dtau_b of the other group."""
    own = sp.Symbol("own", real=True)
    minus = {a: own, 1 - a: slope_of_other}
    dTheta = sp.diag(*(-s.beta * s.c_of[b] * minus[b] for b in LETTERS))
    # s_a + c_a M_aa = pi_a/tau_a along the solution: -(pi_a/tau_a^2) dtau_a = Y_a + c_a dM_aa.
    relation = s.fraction[a] * own / s.V2_of[a] ** 2 - Y[a] - s.c_of[a] * sp.expand(mixed_slope(dTheta)[a, a])
    slope = sp.diff(relation, own)
    return -relation.subs(own, 0) / slope


def minus_block_slope(a: int, b: int, minus_tau: tuple[sp.Expr, sp.Expr]) -> sp.Expr:
    """-dT_ab in the direction (X, Y): beta (T X T)_ab + sum_e N_ea c_e (-dtau_e) N_eb with N = 1 - M Theta."""
    N = IDENTITY - M * Theta
    moved = N.T * sp.diag(*(s.c_of[e] * minus_tau[e] for e in LETTERS)) * N
    return s.beta * (T * X * T)[a, b] + moved[a, b]


@functools.cache
def slopes() -> Derivation:
    """The derivative of (T, tau) in a direction (X, Y) of (C, D), by implicit differentiation."""
    M_explicit = mixed_matrix()
    t1, t2 = sp.symbols("t_1 t_2", real=True)
    along = sum(
        (M_explicit.diff(s.V1_hat_of[a][b]) * X[a, b] for a, b in PAIRS),
        M_explicit.diff(theta[0]) * t1 + M_explicit.diff(theta[1]) * t2,
    )
    named = {s.mixed[a][b]: M_explicit[a, b] for a, b in PAIRS}
    formula = mixed_slope(sp.diag(t1, t2)).subs(named)
    dT = sum(
        (traces_of().diff(s.V1_hat_of[a][b]) * X[a, b] for a, b in PAIRS),
        traces_of().diff(theta[0]) * t1 + traces_of().diff(theta[1]) * t2,
    )
    N = (IDENTITY - M * Theta).subs(named)
    dT_formula = (N.T * sp.diag(t1, t2) * N) / s.beta - s.beta * traces_of() * X * traces_of()
    steps = (
        *log_determinant().steps,
        Step(
            "M moves by (1 - M Theta) X (1 - Theta M) - M dTheta M when C moves by X and Theta by dTheta.",
            eq(sp.MatrixSymbol("dM", 2, 2), mixed_slope(sp.diag(t1, t2))),
            *vanishing("the same by differentiating the entries of M", along - formula),
        ),
        Step(
            "T moves by (1 - Theta M) dTheta (1 - M Theta)/beta - beta T X T.",
            eq(sp.MatrixSymbol("dT", 2, 2), dT_formula),
            *vanishing("the same by differentiating the entries of T", dT - dT_formula),
        ),
    )
    return Derivation("derivatives of the block traces", SOURCE, *steps, results={}, hypotheses=(ISOTROPIC_GROUPS,))


@functools.cache
def equal_groups() -> Derivation:
    """Groups that do not differ are one group: tau summed and T summed satisfy the equations of one group."""
    C_one, c, tau_one = s.V1_hat, s.c, s.V2
    same = dict.fromkeys(C, C_one) | {s.c_of[a]: c for a in LETTERS}
    parts = {s.V2_of[a]: s.fraction[a] * tau_one for a in LETTERS}
    whole = {s.fraction[1]: 1 - s.fraction[0]}

    def merged(expression: sp.Expr) -> sp.Expr:
        return expression.subs(theta_of_tau).subs(same).subs(parts).subs(whole)

    M_one = sp.factor(merged(mixed_matrix()[0, 0]))
    T_one = sp.factor(merged(sum(traces_of())))
    steps = (
        *cavity().steps,
        Step(
            "With C_ab = C, c_a = c and tau_a = pi_a tau every entry of M is C/(1 + beta c C tau).",
            eq(s.mixed[0][0], M_one),
            *(
                Vanishing(
                    f"entry {a + 1}{b + 1} of M",
                    merged(mixed_matrix()[a, b]) * (1 + s.beta * c * C_one * tau_one) - C_one,
                )
                for a, b in PAIRS
            ),
            Vanishing(
                "both groups ask the same of tau", merged(s.fraction[0] * s.V2_of[1] - s.fraction[1] * s.V2_of[0])
            ),
        ),
        Step(
            "T summed over the blocks: that of one group.",
            eq(s.V1, T_one),
            Vanishing("c tau/(1 + beta c C tau)", T_one * (1 + s.beta * c * C_one * tau_one) - c * tau_one),
        ),
    )
    return Derivation(
        "equal groups", SOURCE, *steps, results={s.V1: T_one, s.mixed[0][0]: M_one}, hypotheses=(ISOTROPIC_GROUPS,)
    )
