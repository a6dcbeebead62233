r"""A readout that starts from a finite vocabulary: Appendix D, equations (139)-(157).

Neurons fall into groups by the letter u of their initial readout weight; each group has its own functions
:math:`\mu_0^u, \mu_1^u, \mu_2^u` along the spike. Two letters are written out: every sum over letters shows both, and
every equation for one letter or a pair of letters reads the same with more. The label is any
y = g(gamma kappa + sqrt(rho) z) + noise; the paper's gamma = 1 is y1 = 0, and then psi = 0.
"""

from __future__ import annotations

import functools

import sympy as sp

from derivations.bulk.blocks import (
    ISOTROPIC_GROUPS,
    LETTERS,
    PAIRS,
    M,
    X,
    Y,
    minus_block_slope,
    minus_tau_slope,
    mixed_matrix,
    mixed_slope,
    slopes,
    theta,
    theta_of_tau,
    traces_of,
)
from derivations.free_energy.along_spike import PAPER, over_kappa, y0, y1, y2
from derivations.free_energy.ridge import replicated_trace
from derivations.free_energy.sample_energy import (
    LABEL_NOISE,
    REPLICA_HYPOTHESES,
    label,
    moreau_envelope,
    name_label_moments,
    square_loss,
)
from derivations.language import symbols as s
from derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing
from derivations.language.expectation import Expectation, expand_expectations
from derivations.saddle_point import EXCHANGE, solve_linear, stationary

SOURCE = f"{PAPER}, Appendix D"

mu0_of, mu1_of, mu2_of = (tuple(sp.Function(f"mu{j}_{a + 1}", real=True)(s.kappa) for a in LETTERS) for j in range(3))


def over_letters(terms: tuple[sp.Expr, ...]) -> sp.Expr:
    """The sum over the vocabulary."""
    return sp.Add(*terms)


def double_sum(left: tuple[sp.Expr, ...], pairs: tuple[tuple[sp.Symbol, ...], ...]) -> sp.Expr:
    """sum over two letters of left_a left_b pairs_ab."""
    return sp.Add(*(left[a] * left[b] * pairs[a][b] for a in LETTERS for b in LETTERS))


prediction = over_letters(tuple(mu0_of[a] * s.m_of[a] + s.kappa * mu1_of[a] * s.zeta_of[a] for a in LETTERS))
V_of_kappa = double_sum(mu1_of, s.V1_of) + over_letters(tuple(mu2_of[a] ** 2 * s.V2_of[a] for a in LETTERS))
q_of_kappa = double_sum(mu1_of, s.q1_of) + over_letters(tuple(mu2_of[a] ** 2 * s.q2_of[a] for a in LETTERS))
signal = over_letters(tuple(mu1_of[a] * s.psi_of[a] for a in LETTERS))
squared_residual = y2 - 2 * y0 * prediction + prediction**2 - 2 * y1 * signal + q_of_kappa


@functools.cache
def local_fields() -> Derivation:
    """Equations (143)-(146), (154): covariance of the local fields of two replicas, in the overlaps of the letters."""
    x = sp.symbols("x_1 x_2", real=True)
    noises = sp.symbols("xi_1 xi_2", real=True)
    # W_u^T a_u/sqrt(p) of replica i as a vector with two components, a_u.xi/sqrt(p) through the norm of a_u.
    vectors = {
        (i, a): sp.symbols(f"A^{{{i}}}_{{{a + 1}1}} A^{{{i}}}_{{{a + 1}2}}", real=True) for i in (1, 2) for a in LETTERS
    }
    weights = {(i, a): sp.Symbol(f"a^{{{i}}}_{a + 1}", real=True) for i in (1, 2) for a in LETTERS}

    def field(i: int) -> sp.Expr:
        linear = sum(mu1_of[a] * vectors[i, a][k] * x[k] for a in LETTERS for k in (0, 1))
        return linear + sum(mu2_of[a] * weights[i, a] * noises[a] for a in LETTERS)

    def covariance(i: int, j: int) -> sp.Expr:
        return expand_expectations(Expectation(sp.expand(field(i) * field(j)), *x, *noises))

    overlap = {(a, b): sum(vectors[1, a][k] * vectors[2, b][k] for k in (0, 1)) for a in LETTERS for b in LETTERS}
    by_overlaps = sum(mu1_of[a] * mu1_of[b] * overlap[a, b] for a in LETTERS for b in LETTERS) + sum(
        mu2_of[a] ** 2 * weights[1, a] * weights[2, a] for a in LETTERS
    )
    steps = (
        Step(
            "Given kappa the local field of replica i is sum_u (mu1_u a_u.W_u x_perp + mu2_u a_u.xi_u)/sqrt p, linear "
            "in the "
            "Gaussian variables x_perp and xi.",
            sp.Eq(sp.Symbol("h_1"), field(1), evaluate=False),
        ),
        Step(
            "Its covariance between two replicas is sum_uu' mu1_u mu1_u' q1_uu' + sum_u mu2_u^2 q2_u with the "
            "overlaps of "
            "equation (141): one vector W_u^T a_u per letter and replica, two components shown.",
            sp.Eq(sp.Symbol("E[h_1 h_2]"), by_overlaps, evaluate=False),
            (Vanishing("Wick's rule for the two fields", covariance(1, 2) - by_overlaps),),
        ),
        Step(
            "Replicas are alike, so the overlap of two letters is half of what either replica has with the other.",
            sp.Eq(s.field_covariance, q_of_kappa, evaluate=False),
            (
                Vanishing(
                    "q(kappa) with the overlaps entry by entry",
                    covariance(1, 2)
                    - q_of_kappa.subs(
                        {s.q1_of[a][b]: (overlap[a, b] + overlap[b, a]) / 2 for a in LETTERS for b in LETTERS}
                        | {s.q2_of[a]: weights[1, a] * weights[2, a] for a in LETTERS}
                    ),
                ),
            ),
        ),
        Step(
            "With q_ij = V delta_ij + q, equations (147)-(148), the part that replicas share is q(kappa), and one "
            "replica has V(kappa) more.",
            sp.Eq(s.V, V_of_kappa, evaluate=False),
            (Vanishing("V(kappa) is what the shared part becomes with V for q", _with_V(q_of_kappa) - V_of_kappa),),
        ),
    )
    return Derivation(
        "local fields of several letters",
        f"{SOURCE}, (143)-(148)",
        steps,
        {s.V: V_of_kappa, s.field_covariance: q_of_kappa},
        REPLICA_HYPOTHESES[1:2],
    )


def _with_V(expression: sp.Expr) -> sp.Expr:
    renamed = {s.q1_of[a][b]: s.V1_of[a][b] for a, b in PAIRS} | {s.q2_of[a]: s.V2_of[a] for a in LETTERS}
    return expression.subs(renamed, simultaneous=True)


@functools.cache
def energetic() -> Derivation:
    """Equations (153)-(154): the Moreau envelope of one sample, averaged over all but kappa."""
    omega = signal * s.z + sp.sqrt(s.output_variance - signal**2) * s.xi
    gap = label() - prediction - omega
    squared = name_label_moments(expand_expectations(Expectation(sp.expand(gap**2), s.z, s.xi, LABEL_NOISE)))
    averaged = squared.subs(s.output_variance, q_of_kappa)
    envelope = moreau_envelope().subs(s.residual - s.field_mean, sp.sqrt(squared_residual)).subs(s.V, V_of_kappa)
    steps = (
        *local_fields().steps,
        *square_loss().steps,
        Step(
            "The common part omega of the local fields has variance q(kappa) and covariance sum_u mu1_u psi_u with "
            "the label's z.",
            sp.Eq(s.field_mean, omega, evaluate=False),
            (
                Vanishing(
                    "variance of omega",
                    expand_expectations(Expectation(sp.expand(omega**2), s.z, s.xi)) - s.output_variance,
                ),
            ),
        ),
        Step(
            "The squared error averaged over z, xi and the label noise.",
            sp.Eq(sp.Symbol("e_2"), squared_residual, evaluate=False),
            (Vanishing("the average is e2 with sums over letters", sp.expand(averaged - squared_residual)),),
        ),
        Step(
            "A sample costs e2/(2(1+V)).",
            sp.Eq(s.moreau, envelope, evaluate=False),
            (Vanishing("the envelope is linear in the square", 2 * (1 + V_of_kappa) * envelope - squared_residual),),
        ),
    )
    return Derivation(
        "energetic term of several letters", f"{SOURCE}, (153)-(154)", steps, {s.moreau: envelope}, REPLICA_HYPOTHESES
    )


@functools.cache
def trace() -> Derivation:
    """The trace term of equation (151): one term for each overlap, at zero replicas and zero temperature."""
    R, B = s.replicas, s.inverse_temperature
    V, q, V_hat, q_hat = sp.symbols(r"V q \hat{V} \hat{q}", real=True)
    linear = sp.expand(sp.diff(replicated_trace(R, V, q, V_hat, q_hat), R).subs(R, 0))
    scaled = sp.expand(linear.subs({V: V / B, V_hat: B * V_hat, q_hat: B**2 * q_hat}, simultaneous=True) / B)
    limit = (V_hat * q - q_hat * V) / 2

    def term(names: tuple[sp.Symbol, ...]) -> sp.Expr:
        return limit.subs(dict(zip((V, q, V_hat, q_hat), names, strict=True)), simultaneous=True)

    overlaps = [
        term((s.V1_of[a][b], s.q1_of[a][b], s.V1_hat_of[a][b], s.q1_hat_of[a][b])) for a in LETTERS for b in LETTERS
    ]
    overlaps += [term((s.V2_of[a], s.q2_of[a], s.V2_hat_of[a], s.q2_hat_of[a])) for a in LETTERS]
    result = sum(overlaps) - sum(s.zeta_of[a] * s.zeta_hat_of[a] + s.psi_of[a] * s.psi_hat_of[a] for a in LETTERS)
    steps = (
        Step(
            "Each overlap and its conjugate are replica-symmetric matrices: linear in R as R -> 0, then V -> V/B, V^ "
            "-> B V^, "
            "q^ -> B^2 q^ as B -> infinity.",
            sp.Eq(sp.Symbol(r"\lim\frac{1}{B}\partial_R|_{R=0}"), limit, evaluate=False),
            (RationalLimit("V V^ is of lower order in B", scaled, B, limit),),
        ),
        Step("Summed over letters and pairs of letters.", sp.Eq(s.trace_term, result, evaluate=False)),
    )
    return Derivation(
        "trace term of several letters", f"{SOURCE}, (151)", steps, {s.trace_term: result}, REPLICA_HYPOTHESES
    )


def trace_of_product(overlap: tuple[tuple[sp.Symbol, ...], ...], own: tuple[sp.Symbol, ...]) -> sp.Expr:
    """(1/p) tr[q^ G] block by block: sum_ab q1^_ab T_ab + sum_a q2^_a tau_a, T and tau traces of one given bulk."""
    return sum(overlap[a][b] * s.trace_block[a][b] for a in LETTERS for b in LETTERS) + sum(
        own[a] * s.trace_letter[a] for a in LETTERS
    )


@functools.cache
def entropic() -> Derivation:
    """Equations (149)-(150), (152): the ridge penalty's Gaussian integral over the readout, block by block."""
    S = sp.Matrix(2, 2, sp.symbols("S_11 S_12 S_12 S_22", real=True))
    J, a = sp.Matrix(sp.symbols("J_1 J_2", real=True)), sp.Matrix(sp.symbols("a_1 a_2", real=True))
    noise, fixed = sp.symbols("Xi_1 Xi_2", real=True), sp.Matrix(sp.symbols("f_1 f_2", real=True))
    K = sp.Matrix(2, 2, sp.symbols("k_11 k_12 k_12 k_22", real=True))
    S11, S12, S22 = S[0, 0], S[0, 1], S[1, 1]
    inverse = S.inv()
    objective = ((a.T * S * a) / 2 - J.T * a)[0]
    minimum = -(J.T * inverse * J)[0] / 2
    gap = a - inverse * J
    random = fixed + K * sp.Matrix(noise)
    averaged = (
        expand_expectations(Expectation(sp.expand((random.T * inverse * random)[0]), *noise))
        - (fixed.T * inverse * fixed)[0]
        - (K * K.T * inverse).trace()
    )
    spike = sum(s.zeta_hat_of[a] * s.zeta_hat_of[b] * s.spike_block[a][b] for a in LETTERS for b in LETTERS)
    target = sum(s.psi_hat_of[a] * s.psi_hat_of[b] * s.target_block[a][b] for a in LETTERS for b in LETTERS)
    result = (trace_of_product(s.q1_hat_of, s.q2_hat_of) + spike + target) / 2
    # One neuron per letter, whose blocks are numbers: J.G J/2p with J = sqrt p (zeta^ s + psi^ t) plus noise.
    G = sp.Matrix(2, 2, sp.symbols("G_11 G_12 G_12 G_22", real=True))
    s_row, t_row = sp.symbols("s_1 s_2", real=True), sp.symbols("t_1 t_2", real=True)
    forces = [
        sp.Matrix([hat[a] * row[a] for a in LETTERS]) for hat, row in ((s.zeta_hat_of, s_row), (s.psi_hat_of, t_row))
    ]
    covariance = sp.Matrix(2, 2, lambda a, b: s.q1_hat_of[a][b] + (s.q2_hat_of[a] if a == b else 0))
    by_blocks = (sum((x.T * G * x)[0] for x in forces) + (covariance * G).trace()) / 2
    one_each = {s.spike_block[a][b]: s_row[a] * G[a, b] * s_row[b] for a in LETTERS for b in LETTERS}
    one_each |= {s.target_block[a][b]: t_row[a] * G[a, b] * t_row[b] for a in LETTERS for b in LETTERS}
    one_each |= {s.trace_block[a][b]: G[a, b] for a in LETTERS for b in LETTERS}
    one_each |= {s.trace_letter[a]: G[a, a] for a in LETTERS}
    steps = (
        Step(
            "Over the readout the exponent is a.S a/2 - J.a with S = lambda + V1^ o (W Pi W^T) + V2^, equations "
            "(149)-(150); "
            "its minimum is -J.G J/2, G = S^-1. Two components are shown.",
            sp.Eq(sp.Symbol(r"\min_a"), minimum, evaluate=False),
            (
                Vanishing(
                    "the slope vanishes at a = G J",
                    sum(sp.diff(objective, x).subs(dict(zip(a, inverse * J, strict=True))) for x in a),
                ),
                Vanishing(
                    "the objective exceeds the minimum by a positive quadratic form",
                    objective - minimum - (gap.T * S * gap)[0] / 2,
                ),
                Vanishing(
                    "completing the square in it",
                    (gap.T * S * gap)[0]
                    - S11 * (gap[0] + S12 * gap[1] / S11) ** 2
                    - (S22 - S12**2 / S11) * gap[1] ** 2,
                ),
            ),
        ),
        Step(
            "J is sqrt p (zeta^ s + psi^ t) plus Gaussian noise of covariance q^, with s = (W_u v) and t = (W_u "
            "theta_perp): on "
            "average J.G J = p (zeta^ s + psi^ t).G (zeta^ s + psi^ t) + tr[q^ G].",
            sp.Eq(sp.Symbol("E[J.G J]"), sp.Symbol(r"p\hat{s}.G\hat{s} + \mathrm{tr}[\hat{q}G]"), evaluate=False),
            (Vanishing("signal and noise do not mix", sp.together(averaged)),),
        ),
        Step(
            "Divided by 2p and written by blocks; s.G t vanishes, since v and theta_perp are orthogonal and "
            "independent of the bulk.",
            sp.Eq(s.entropic_term, result, evaluate=False),
            (Vanishing("one neuron per letter, block by block", by_blocks - result.subs(one_each)),),
        ),
    )
    return Derivation(
        "entropic term of several letters",
        f"{SOURCE}, (149)-(152)",
        steps,
        {s.entropic_term: result},
        REPLICA_HYPOTHESES,
    )


@functools.cache
def assembled() -> Derivation:
    """Equation (151): the free energy with traces of one given bulk."""
    parts = (trace(), entropic(), energetic())
    energy = s.alpha / (2 * s.beta) * over_kappa(squared_residual / (1 + V_of_kappa))
    value = -trace().results[s.trace_term] - s.entropic_term + energy
    steps = tuple(step for part in parts for step in part.steps)
    final = Step(
        "The free energy per neuron: minus the trace term, minus the entropic term, plus alpha/beta times the "
        "energetic average.",
        sp.Eq(s.free_energy, value, evaluate=False),
        (
            Vanishing(
                "the energetic term is the average envelope",
                energy - s.alpha / s.beta * over_kappa(energetic().results[s.moreau]),
            ),
        ),
    )
    return Derivation(
        "free energy of several letters",
        f"{SOURCE}, (151)",
        (*steps, final),
        {s.free_energy: value},
        REPLICA_HYPOTHESES,
    )


# Differentiating in the first gives the equation for the second.
CONJUGATE: dict[sp.Symbol, sp.Symbol] = (
    {s.m_of[a]: s.m_of[a] for a in LETTERS}
    | {s.zeta_of[a]: s.zeta_hat_of[a] for a in LETTERS}
    | {s.psi_of[a]: s.psi_hat_of[a] for a in LETTERS}
    | {s.q2_of[a]: s.V2_hat_of[a] for a in LETTERS}
    | {s.V2_of[a]: s.q2_hat_of[a] for a in LETTERS}
    | {s.q1_of[a][b]: s.V1_hat_of[a][b] for a, b in PAIRS}
    | {s.V1_of[a][b]: s.q1_hat_of[a][b] for a, b in PAIRS}
)
CONJUGATE |= {unknown: variable for variable, unknown in CONJUGATE.items() if variable != unknown}


def resolvent_slope(S: sp.Expr, dS: sp.Expr) -> sp.Expr:
    """The derivative of G = S^-1 when S moves by dS: -G dS G, in non-commuting symbols."""
    del S
    G = sp.Symbol("G", commutative=False)
    return -G * dS * G


def _resolvent_step() -> Step:
    """d tr[K G]/dS = -tr[G K G dS], by expanding S G = 1."""
    S, dS, G = sp.symbols("S P G", commutative=False)
    first_order = S * resolvent_slope(S, dS) + dS * G
    return Step(
        "G moves by -G dS G when S moves by dS, so (1/p) tr[K G] moves by -(1/p) tr[G K G dS]; moving V1^_uu' moves "
        "the two "
        "blocks of S between u and u', moving V2^_u one diagonal block.",
        sp.Eq(sp.Symbol("dG"), resolvent_slope(S, dS), evaluate=False),
        (Vanishing("S G stays one to first order", sp.expand(first_order).subs(S * G, 1)),),
    )


def entropic_slope(variable: sp.Symbol) -> sp.Expr:
    """The derivative of the entropic term in one variable; for V1^ and V2^ with K = q^ + p s^ s^T."""
    for a in LETTERS:
        if variable == s.V2_hat_of[a]:
            return -s.double_letter[a] / 2
    for a, b in PAIRS:
        if variable == s.V1_hat_of[a][b]:
            return -s.double_block[a][b] / (2 if a == b else 1)
    return sp.diff(entropic().results[s.entropic_term], variable)


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """Equations (155)-(156): stationarity of the free energy in one variable, the traces of one given bulk kept."""
    base = assembled()
    explicit = stationary(base.results[s.free_energy] + s.entropic_term, variable)
    derivative = explicit - entropic_slope(variable)
    unknown = CONJUGATE[variable]
    solution = solve_linear(derivative, unknown)
    step = Step(
        f"The derivative in ${sp.latex(variable)}$ vanishes at the saddle point; it is linear in "
        f"${sp.latex(unknown)}$.",
        sp.Eq(unknown, solution, evaluate=False),
        (Vanishing(f"stationarity in {variable}", expand_expectations(derivative).subs(unknown, solution)),),
    )
    return Derivation(
        f"stationarity in {variable}",
        f"{SOURCE}, (155)-(156)",
        (*base.steps, _resolvent_step(), step),
        {unknown: solution},
        (*base.hypotheses, EXCHANGE),
    )


def isotropic_traces() -> dict[sp.Symbol, sp.Expr]:
    """The traces of one given bulk for isotropic rows: v and theta_perp see beta c tau and beta T."""
    blocks = {s.trace_block[a][b]: s.V1_of[a][b] for a, b in PAIRS} | {s.trace_letter[a]: s.V2_of[a] for a in LETTERS}
    spike = {s.spike_block[a][b]: s.beta * s.c_of[a] * s.V2_of[a] if a == b else sp.S.Zero for a, b in PAIRS}
    return blocks | spike | {s.target_block[a][b]: s.beta * s.V1_of[a][b] for a, b in PAIRS}


@functools.cache
def isotropic(variable: sp.Symbol) -> Derivation:
    """The equations for zeta and psi, and those for q1 and q2 through the derivative of the block equivalent.

    ``variable`` is zeta^, psi^, V1^ or V2^ of a letter or pair.
    """
    base = equation(variable)
    unknown = CONJUGATE[variable]
    # The entropic term is half of X.T + Y.tau with X = q1^ + beta psi^ psi^T and Y = q2^ + beta c zeta^^2.
    forces = {X[a, b]: s.q1_hat_of[a][b] + s.beta * s.psi_hat_of[a] * s.psi_hat_of[b] for a, b in PAIRS} | {
        Y[a]: s.q2_hat_of[a] + s.beta * s.c_of[a] * s.zeta_hat_of[a] ** 2 for a in LETTERS
    }
    entropic_isotropic = entropic().results[s.entropic_term].subs(isotropic_traces())
    weighted = sum(X[a, b] * s.V1_of[a][b] for a in LETTERS for b in LETTERS) + sum(Y[a] * s.V2_of[a] for a in LETTERS)
    reason = "Moving (C, D) along (X, Y) moves (T, tau) by minus (q1, q2)."
    if unknown in s.q2_of:
        a = s.q2_of.index(unknown)
        moved = minus_tau_slope(a, s.q2_of[1 - a])
        solution = moved.subs(theta_of_tau).subs(forces)
        # pi_a/tau_a = s_a + c_a M_aa along the solution.
        dTheta = sp.diag(*(-s.beta * s.c_of[e] * (moved if e == a else s.q2_of[e]) for e in LETTERS))
        held = s.fraction[a] * moved / s.V2_of[a] ** 2 - Y[a] - s.c_of[a] * sp.expand(mixed_slope(dTheta)[a, a])
        closing = (Vanishing("pi/tau moves as s + c M", held),)
    elif variable in s.zeta_hat_of or variable in s.psi_hat_of:
        reason = "Stationarity: the overlap is the derivative of the entropic term in its force."
        solution = base.results[unknown].subs(isotropic_traces())
        closing = (Vanishing("the derivative", solution - sp.diff(weighted.subs(forces) / 2, variable)),)
    else:
        ((a, b),) = (pair for pair in PAIRS if s.q1_of[pair[0]][pair[1]] == unknown)
        solution = minus_block_slope(a, b, s.q2_of).subs(theta_of_tau).subs(forces)
        closing = (_block_moves(a, b),)
    steps = (
        *base.steps,
        *slopes().steps,
        _symmetry_step(),
        Step(
            "For isotropic rows v and theta_perp are independent of the bulk: s_a.G s_b = beta c_a tau_a delta_ab, "
            "t_a.G t_b = "
            "beta T_ab; the entropic term is half of X.T + Y.tau, with X = q1^ + beta psi^ psi^T and Y = q2^ + beta c "
            "zeta^^2.",
            sp.Eq(s.entropic_term, weighted / 2, evaluate=False),
            (Vanishing("signal joins noise", entropic_isotropic - weighted.subs(forces) / 2),),
        ),
        Step(
            reason,
            sp.Eq(unknown, solution, evaluate=False),
            closing,
        ),
    )
    return Derivation(
        f"stationarity in {variable} for isotropic rows",
        f"{SOURCE}, (155)-(156)",
        steps,
        {unknown: solution},
        (*base.hypotheses, ISOTROPIC_GROUPS),
    )


def _block_moves(a: int, b: int) -> Vanishing:
    """-dT_ab at -dtau = q2 against the derivatives of the explicit trace T(C, Theta), entry by entry."""
    T, named = traces_of(), {M[e, f]: mixed_matrix()[e, f] for e, f in PAIRS}
    moved = sum(T[a, b].diff(s.V1_hat_of[e][f]) * X[e, f] for e, f in PAIRS)
    moved += sum(T[a, b].diff(theta[e]) * -s.beta * s.c_of[e] * s.q2_of[e] for e in LETTERS)
    formula = minus_block_slope(a, b, s.q2_of).subs(named).subs({s.V1_of[e][f]: T[e, f] for e, f in PAIRS})
    return Vanishing("T moves as its explicit form does", sp.together(moved + formula))


def _symmetry_step() -> Step:
    """d(X.T + Y.tau)/d(C, D) is the derivative of (T, tau) along (X, Y), because both come from one potential."""
    arguments = (*(s.V1_hat_of[a][b] for a, b in PAIRS), *s.V2_hat_of)
    potential = sp.Function("L", real=True)(*arguments)
    weights = [X[a, b] for a, b in PAIRS] + list(Y)
    T = {(a, b): sp.diff(potential, s.V1_hat_of[a][b]) / (1 if a == b else 2) for a, b in PAIRS}
    tau = [sp.diff(potential, D) for D in s.V2_hat_of]
    weighted = sum((1 if a == b else 2) * X[a, b] * T[a, b] for a, b in PAIRS) + sum(Y[a] * tau[a] for a in LETTERS)

    def along(quantity: sp.Expr) -> sp.Expr:
        return sum(w * sp.diff(quantity, x) for w, x in zip(weights, arguments, strict=True))

    return Step(
        "(T, tau) is the gradient of one potential, so d(X.T + Y.tau)/dD_a is the derivative of tau_a along (X, Y), "
        "and likewise for T.",
        sp.Eq(sp.Symbol(r"\partial_{D_a}(X.T+Y.\tau)"), sp.Symbol(r"d\tau_a[X,Y]"), evaluate=False),
        (
            *(Vanishing(f"letter {a + 1}", sp.diff(weighted, s.V2_hat_of[a]) - along(tau[a])) for a in LETTERS),
            *(
                Vanishing(
                    f"letters {a + 1} and {b + 1}",
                    sp.diff(weighted, s.V1_hat_of[a][b]) - (1 if a == b else 2) * along(T[a, b]),
                )
                for a, b in PAIRS
            ),
        ),
    )


@functools.cache
def test_error() -> Derivation:
    """Equation (157): the error on a new input; at gamma = 1 it is E[b^2 + q]."""
    result = over_kappa(squared_residual) - s.noise
    gap = y0 - prediction
    aligned = squared_residual.subs({y2: y0**2 + s.noise, y1: 0}, simultaneous=True)
    steps = (
        *energetic().steps,
        Step(
            "A new input has no thermal response: its squared error is e2, of which the label noise is not counted.",
            sp.Eq(s.test_error, result, evaluate=False),
            (
                Vanishing(
                    "at gamma = 1, where y1 = 0 and y2 = y0^2 + Delta, e2 is b^2 + q + Delta",
                    sp.expand(aligned - gap**2 - q_of_kappa - s.noise),
                ),
            ),
        ),
    )
    return Derivation(
        "test error of several letters", f"{SOURCE}, (157)", steps, {s.test_error: result}, REPLICA_HYPOTHESES[1:2]
    )
