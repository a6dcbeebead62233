"""The free energy of a readout that starts from a finite vocabulary: Appendix D, equations (139)-(147)."""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk.blocks import LETTERS, PAIRS
from onestep.derivations.free_energy.along_spike import PAPER, over_kappa, y0, y1, y2
from onestep.derivations.free_energy.ridge import replicated_trace
from onestep.derivations.free_energy.sample_energy import (
    LABEL_NOISE,
    REPLICA_HYPOTHESES,
    label,
    moreau_envelope,
    name_label_moments,
    square_loss,
)
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.saddle_point import symbols as s

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
            "in the Gaussian variables x_perp and xi.",
            eq(sp.Symbol("h_1"), field(1)),
        ),
        Step(
            "Its covariance between two replicas is sum_uu' mu1_u mu1_u' q1_uu' + sum_u mu2_u^2 q2_u with the overlaps "
            "of equation (141): one vector W_u^T a_u per letter and replica, two components shown.",
            eq(sp.Symbol("E[h_1 h_2]"), by_overlaps),
            Vanishing("Wick's rule for the two fields", covariance(1, 2) - by_overlaps),
        ),
        Step(
            "Replicas are alike, so the overlap of two letters is half of what either replica has with the other.",
            eq(s.field_covariance, q_of_kappa),
            Vanishing(
                "q(kappa) with the overlaps entry by entry",
                covariance(1, 2)
                - q_of_kappa.subs(
                    {s.q1_of[a][b]: (overlap[a, b] + overlap[b, a]) / 2 for a in LETTERS for b in LETTERS}
                    | {s.q2_of[a]: weights[1, a] * weights[2, a] for a in LETTERS}
                ),
            ),
        ),
        Step(
            "With q_ij = V delta_ij + q, equations (147)-(148), the part that replicas share is q(kappa), and one "
            "replica has V(kappa) more.",
            eq(s.V, V_of_kappa),
            Vanishing("V(kappa) is what the shared part becomes with V for q", _with_V(q_of_kappa) - V_of_kappa),
        ),
    )
    return Derivation(
        "local fields of several letters",
        f"{SOURCE}, (143)-(148)",
        *steps,
        results={s.V: V_of_kappa, s.field_covariance: q_of_kappa},
        hypotheses=REPLICA_HYPOTHESES[1:2],
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
            eq(s.field_mean, omega),
            Vanishing(
                "variance of omega",
                expand_expectations(Expectation(sp.expand(omega**2), s.z, s.xi)) - s.output_variance,
            ),
        ),
        Step(
            "The squared error averaged over z, xi and the label noise.",
            eq(sp.Symbol("e_2"), squared_residual),
            Vanishing("the average is e2 with sums over letters", sp.expand(averaged - squared_residual)),
        ),
        Step(
            "A sample costs e2/(2(1+V)).",
            eq(s.moreau, envelope),
            Vanishing("the envelope is linear in the square", 2 * (1 + V_of_kappa) * envelope - squared_residual),
        ),
    )
    return Derivation(
        "energetic term of several letters",
        f"{SOURCE}, (153)-(154)",
        *steps,
        results={s.moreau: envelope},
        hypotheses=REPLICA_HYPOTHESES,
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
            "-> B V^, q^ -> B^2 q^ as B -> infinity.",
            eq(sp.Symbol(r"\lim\frac{1}{B}\partial_R|_{R=0}"), limit),
            RationalLimit("V V^ is of lower order in B", scaled, B, limit),
        ),
        Step("Summed over letters and pairs of letters.", eq(s.trace_term, result)),
    )
    return Derivation(
        "trace term of several letters",
        f"{SOURCE}, (151)",
        *steps,
        results={s.trace_term: result},
        hypotheses=REPLICA_HYPOTHESES,
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
            "(149)-(150); its minimum is -J.G J/2, G = S^-1. Two components are shown.",
            eq(sp.Symbol(r"\min_a"), minimum),
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
                (gap.T * S * gap)[0] - S11 * (gap[0] + S12 * gap[1] / S11) ** 2 - (S22 - S12**2 / S11) * gap[1] ** 2,
            ),
        ),
        Step(
            "J is sqrt p (zeta^ s + psi^ t) plus Gaussian noise of covariance q^, with s = (W_u v) and t = (W_u "
            "theta_perp): on average J.G J = p (zeta^ s + psi^ t).G (zeta^ s + psi^ t) + tr[q^ G].",
            eq(sp.Symbol("E[J.G J]"), sp.Symbol(r"p\hat{s}.G\hat{s} + \mathrm{tr}[\hat{q}G]")),
            Vanishing("signal and noise do not mix", sp.together(averaged)),
        ),
        Step(
            "Divided by 2p and written by blocks; s.G t vanishes, since v and theta_perp are orthogonal and "
            "independent of the bulk.",
            eq(s.entropic_term, result),
            Vanishing("one neuron per letter, block by block", by_blocks - result.subs(one_each)),
        ),
    )
    return Derivation(
        "entropic term of several letters",
        f"{SOURCE}, (149)-(152)",
        *steps,
        results={s.entropic_term: result},
        hypotheses=REPLICA_HYPOTHESES,
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
        eq(s.free_energy, value),
        Vanishing(
            "the energetic term is the average envelope",
            energy - s.alpha / s.beta * over_kappa(energetic().results[s.moreau]),
        ),
    )
    return Derivation(
        "free energy of several letters",
        f"{SOURCE}, (151)",
        *steps,
        final,
        results={s.free_energy: value},
        hypotheses=REPLICA_HYPOTHESES,
    )
