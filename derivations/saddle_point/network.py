r"""The readout of a network with a vocabulary and biases: what stationarity and norms add. Beyond the paper.

The log-determinant of S gives T and tau as its gradient, the entropic term q1 and q2 as its slopes; a neuron's mean
depends on the norm of its row, so that every group brings a third function along the spike.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk.blocks import IDENTITY, LETTERS, PAIRS, C, Theta, mixed_matrix, shift, theta, traces_of
from onestep.derivations.bulk.letters import ROWS_OF_GROUPS, SOURCE, form, gain_of_tau, over_spectrum, traces
from onestep.derivations.bulk.network import mean_slope
from onestep.derivations.free_energy.along_spike import y0, y1, y2
from onestep.derivations.kernel.search import proved, value
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.letter_energy import mu0_of, mu1_of, mu2_of, q_of_kappa, signal

third_of = tuple(sp.Function(f"k2_{a + 1}", real=True)(s.kappa) for a in LETTERS)

# V(kappa) of Appendix D, the variance of a local field.
variance = sp.Function("Vk", positive=True)(s.kappa)

WITH_NORMS = "conditional Gaussian equivalence of the features in every group (Result 3.2), with d mu0/dc beside mu0"


@functools.cache
def log_determinant() -> Derivation:
    """(1/p) ln det S: right without a bulk, and its slopes in D and C are tau and T."""
    determinant = sp.expand((IDENTITY + C * Theta).det())
    separate = sum(
        shift[a] * s.V2_of[a] - s.fraction[a] - s.fraction[a] * sp.log(s.V2_of[a] / s.fraction[a]) for a in LETTERS
    )
    L = separate + over_spectrum(sp.log(determinant)) / s.beta
    M, t = mixed_matrix(), s.beta * traces_of()

    # Slopes of the integrand (1/beta) ln det(1 + C Theta): in tau_a through theta_a = beta tau_a b_a.
    in_tau = [
        sp.diff(sp.log(determinant), theta[a]) * sp.diff(s.row_gain[a].subs(gain_of_tau), s.V2_of[a]) * form[a] / s.beta
        - form[a] * M[a, a]
        for a in LETTERS
    ]
    in_C = [
        sp.diff(sp.log(determinant), s.V1_hat_of[a][b]) - (1 if a == b else 2) * t[a, b] for a, b in PAIRS
    ]  # fmt: skip
    empty = dict.fromkeys(C, sp.S.Zero) | {s.V2_of[a]: s.fraction[a] / shift[a] for a in LETTERS}
    at_zero = expand_expectations(L.subs(empty, simultaneous=True)) - sum(
        s.fraction[a] * sp.log(shift[a]) for a in LETTERS
    )
    steps = (
        *traces().steps,
        Step(
            "Without a bulk S is lambda + D.",
            sp.Eq(sp.Symbol(r"\frac{1}{p}\ln\det(\lambda+D)"), sum(s.fraction[a] * sp.log(shift[a]) for a in LETTERS)),
            Vanishing("the potential at C = 0", sp.expand_log(at_zero, force=True)),
        ),
        Step(
            "The slopes of (1/p) ln det S in D_a and C_ab are tau_a and T_ab, twice that off the diagonal; those of "
            "the potential are the same, because it is stationary in tau where tau solves its equation.",
            eq(s.log_det_of_rows, L),
            *(
                Vanishing(f"stationary in tau_{a + 1}: the slope of the average is the form of a row", sp.together(x))
                for a, x in enumerate(in_tau)
            ),
            *(
                Vanishing(
                    f"stationary in tau_{a + 1}: the rest",
                    sp.diff(separate, s.V2_of[a]) - shift[a] + s.fraction[a] / s.V2_of[a],
                )
                for a in LETTERS
            ),
            *(Vanishing(f"its slope in D_{a + 1}", sp.diff(separate, s.V2_hat_of[a]) - s.V2_of[a]) for a in LETTERS),
            *(
                Vanishing(f"its slope in C_{a + 1}{b + 1}", sp.together(x))
                for (a, b), x in zip(PAIRS, in_C, strict=True)
            ),
        ),
    )
    return Derivation(
        "log-determinant of a network's groups",
        SOURCE,
        *steps,
        results={s.log_det_of_rows: L},
        hypotheses=(ROWS_OF_GROUPS,),
    )


@functools.cache
def sizes() -> Derivation:
    """q2 and q1 are minus the slopes of twice the entropic term: one given bulk, one neuron per group."""
    own, mixed_gram, D = sp.symbols("o_1 o_2", positive=True), sp.Symbol("o_12", real=True), s.V2_hat_of
    S = sp.Matrix(
        [
            [s.ridge + D[0] + C[0, 0] * own[0], C[0, 1] * mixed_gram],
            [C[0, 1] * mixed_gram, s.ridge + D[1] + C[1, 1] * own[1]],
        ]
    )
    J = sp.Matrix(sp.symbols("J_1 J_2", real=True))
    readout = S.inv(method="ADJ") * J
    twice = (J.T * readout)[0]
    results = {s.q2_of[0]: -s.entropic_slope_own, s.q1_of[0][1]: -s.entropic_slope_mixed / 2}
    steps = (
        Step(
            "The readout is S^-1 J, and twice the entropic term is the average of J.S^-1 J/p: moving D_1 moves S on "
            "the neurons of group 1.",
            eq(s.q2_of[0], results[s.q2_of[0]]),
            Vanishing("the slope in D_1 is minus a_1^2", sp.together(sp.diff(twice, D[0]) + readout[0] ** 2)),
        ),
        Step(
            "Moving C_12 moves both blocks of S between the groups, by the products of their rows.",
            eq(s.q1_of[0][1], results[s.q1_of[0][1]]),
            Vanishing(
                "the slope in C_12 is minus twice a_1 a_2 w_1.w_2",
                sp.together(sp.diff(twice, C[0, 1]) + 2 * readout[0] * readout[1] * mixed_gram),
            ),
        ),
    )
    return Derivation("sizes of a readout as slopes", SOURCE, *steps, results=results, hypotheses=(ROWS_OF_GROUPS,))


@functools.cache
def third_function() -> Derivation:
    """k2 of a group: d/dc of E sigma(r u kappa + b + sqrt(c) z)."""
    _, result = mean_slope(s.third_of, s.r * s.letter[0] * s.kappa + s.bias_of[0], s.c_of[0])
    return Derivation(
        "what a group's mean gains from unequal norms",
        SOURCE,
        proved(
            "To first order in delta the mean of a feature at given kappa is mu0 + delta d mu0/dc; Stein's lemma turns "
            "z^2 sigma into sigma + sqrt(c) z sigma'.",
            result,
        ),
        results={s.third_of: value(result)},
        hypotheses=("sigma is absolutely continuous and grows at most exponentially",),
    )


prediction = sum(
    mu0_of[a] * s.m_of[a] + s.kappa * mu1_of[a] * s.zeta_of[a] + third_of[a] * s.chi_of[a] for a in LETTERS
)
# yhat(kappa) by name, where its parts do not matter.
fit = sp.Function("yhat", real=True)(s.kappa)


def squared_residual(yhat: sp.Expr) -> sp.Expr:
    """e2: the mean squared distance of the output from the label at given kappa."""
    return y2 - 2 * y0 * yhat + yhat**2 - 2 * y1 * signal + q_of_kappa


squared = squared_residual(prediction)


@functools.cache
def errors() -> Derivation:
    """Test and training error, and why the distance to the span bounds the first."""
    noise = sp.Symbol("rest", nonnegative=True)
    g = sp.symbols("g_11 g_12 g_22", real=True)
    excess = {(0, 0): g[0] ** 2, (0, 1): g[0] * g[1], (1, 1): g[1] ** 2 + g[2] ** 2}
    sizes_ = {s.q1_of[a][b]: s.psi_of[a] * s.psi_of[b] + excess[a, b] for a, b in PAIRS}
    left = (squared - (y0 - prediction) ** 2).subs({y2: y0**2 + y1**2 + noise} | sizes_, simultaneous=True)
    test = Expectation(squared, s.kappa) - s.noise
    training = Expectation(squared_residual(fit) / (1 + variance) ** 2, s.kappa)
    obligation = NonNegative(
        "what the span of mu0, kappa mu1 and k2 of all groups leaves out is not negative",
        sp.expand(left),
        (
            (noise, sp.S.One),
            (sp.S.One, y1 - signal),
            (sp.S.One, g[0] * mu1_of[0] + g[1] * mu1_of[1]),
            (sp.S.One, g[2] * mu1_of[1]),
            *((s.q2_of[a], mu2_of[a]) for a in LETTERS),
        ),
    )
    steps = (
        Step(
            "The output at given kappa is yhat plus a local field of variance q(kappa) and covariance sum_u mu1_u "
            "psi_u with the label's z: its squared distance from the label, without the label's own noise.",
            eq(s.test_error, test),
            obligation,
        ),
        Step("On the training set every residual shrinks by 1 + V.", eq(s.training_error, training), obligation),
    )
    results = {s.test_error: test, s.training_error: training}
    return Derivation(
        "the errors of a network with a vocabulary",
        SOURCE,
        *steps,
        results=results,
        hypotheses=(ROWS_OF_GROUPS, WITH_NORMS),
    )


@functools.cache
def readout_mean() -> Derivation:
    """m of a group: the force along its constant vector vanishes."""
    force, square, rest = (
        Expectation(mu0_of[0] * part / (1 + variance), s.kappa)
        for part in (y0 - prediction, mu0_of[0], y0 - prediction.subs(s.m_of[0], 0))
    )
    steps = (
        Step(
            "A readout that is uniform on group 1 costs O(1/p): its force vanishes.",
            eq(s.m_of[0], rest / square),
            Vanishing("linear in m_1", expand_expectations(force - rest + s.m_of[0] * square)),
        ),
    )
    return Derivation(
        "the mean of one letter's readout",
        SOURCE,
        *steps,
        results={s.m_of[0]: rest / square},
        hypotheses=(ROWS_OF_GROUPS, WITH_NORMS),
    )


@functools.cache
def norm_overlap() -> Derivation:
    """chi of a group: the readout's equation, a sample left out, met by delta."""
    ratio = s.alpha / s.beta
    # A feature, to be averaged over its sample's own variables.
    tied, spike, target = sp.symbols(r"\delta_i s_i t_i", real=True)
    noise = sp.Symbol("xi_i", real=True)
    feature = mu0_of[0] + tied * third_of[0] + mu1_of[0] * (s.kappa * spike + target * s.z) + mu2_of[0] * noise
    # Its gap from the label, with the mean y0 - yhat and the slope y1 along z that the target itself pulls with.
    gap = y0 - fit + y1 * s.z
    pulled = expand_expectations(Expectation(sp.expand(feature * gap), s.z, noise))
    by_tie, by_spike, by_target = (sp.diff(pulled, x) for x in (tied, spike, target))
    forces = [
        [ratio * Expectation(force / (1 + variance), s.kappa) for force in row]
        for row in (
            [s.kappa * mu1_of[b] * (y0 - fit) for b in LETTERS],
            [mu1_of[b] * y1 for b in LETTERS],
            [third_of[b] * (y0 - fit) for b in LETTERS],
        )
    ]
    rows = (s.norm_row_spike, s.norm_row_target, s.norm_row_norm)
    result = sum(row[b] * force[b] for row, force in zip(rows, forces, strict=True) for b in LETTERS)
    # S a = J with J made of vectors y_k and forces: a = G J, and delta.a is linear in the forces.
    G = sp.Matrix(2, 2, sp.symbols("G_11 G_12 G_12 G_22", real=True))
    y = sp.Matrix(2, 2, sp.symbols("y_11 y_12 y_21 y_22", real=True))
    f, delta = sp.Matrix(sp.symbols("f_1 f_2", real=True)), sp.Matrix(sp.symbols("d_1 d_2", real=True))
    linear = (delta.T * G * (y * f))[0] - sum((delta.T * G * y[:, k])[0] * f[k] for k in (0, 1))
    steps = (
        Step(
            "A sample pulls on neuron i with its feature times its residual: the averages over its own variables are "
            "the forces along W v, W theta_perp and delta, each over 1 + V.",
            eq(sp.Symbol(r"\hat{\chi}"), forces[2][0]),
            Vanishing("along delta", by_tie - third_of[0] * (y0 - fit)),
            Vanishing("along W v", by_spike - s.kappa * mu1_of[0] * (y0 - fit)),
            Vanishing("along W theta_perp", by_target - mu1_of[0] * y1),
        ),
        Step(
            "The readout is G times these forces and noise that no delta meets: chi is linear in them.",
            eq(s.chi_of[0], result),
            Vanishing("two neurons, two vectors", sp.expand(linear)),
        ),
    )
    return Derivation(
        "a readout's overlap with the norms",
        SOURCE,
        *steps,
        results={s.chi_of[0]: result},
        hypotheses=(ROWS_OF_GROUPS, WITH_NORMS),
    )
