r"""A spike of several orthonormal directions v_1, ..., v_s: the free energy and its saddle point, beyond the paper.

:math:`\varphi_i = \sigma(w_i\cdot x + \sum_j u_j\,v_j\cdot x)` with one vector u for all neurons and rows of W that
know nothing of the directions. Given kappa_j = v_j.x the equivalent features are those of Section 3.2, with functions
of all kappa_j, and theta = sum_j gamma_j v_j + sqrt(rho) theta_perp. Two directions are written out: every sum over
directions shows both, and more read the same. With one the equations are those of Section 3.3.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk.marchenko_pastur import second_moments, spike_direction
from onestep.derivations.free_energy.ridge import linear_in_replicas, replicated_overlap, trace
from onestep.derivations.free_energy.sample_energy import LABEL_NOISE, REPLICA_HYPOTHESES, square_loss
from onestep.derivations.free_energy.stationarity import EXCHANGE, solve_linear
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.saddle_point.equations import T_trace, name_traces, stationary, tau_trace

SOURCE = "beyond arXiv 2402.04980: a spike of several directions"
DIRECTIONS = (0, 1)

kappa = sp.symbols("kappa_1 kappa_2", real=True)
gamma = sp.symbols("gamma_1 gamma_2", real=True)
zeta = sp.symbols(r"\zeta_{v_1} \zeta_{v_2}", real=True)
zeta_hat = sp.symbols(r"\hat{\zeta}_{v_1} \hat{\zeta}_{v_2}", real=True)
# s_j.G s_l with s_j = W v_j, G the resolvent of the bulk without the directions.
spike_gram = sp.Matrix(2, 2, sp.symbols("K_11 K_12 K_12 K_22", real=True))
# s_j.G0 s_l, with the resolvent of the whole bulk.
whole_gram = sp.Matrix(2, 2, sp.symbols("X_11 X_12 X_12 X_22", real=True))
mu0, mu1, mu2, y0, y1, y2 = (sp.Function(name, real=True)(*kappa) for name in ("mu0", "mu1", "mu2", "y0", "y1", "y2"))
g = sp.Function("g", real=True)

V_of_kappa = mu1**2 * s.V1 + mu2**2 * s.V2
prediction = mu0 * s.m + sum(kappa[j] * mu1 * zeta[j] for j in DIRECTIONS)
squared_residual = y2 - 2 * y0 * prediction + prediction**2 - 2 * y1 * mu1 * s.psi + mu1**2 * s.q1 + mu2**2 * s.q2

ORTHOGONAL = (
    "v_1, ..., v_s and theta_perp are orthonormal and independent of the rows of W, whose projections on them are then "
    "asymptotically Gaussian and independent: s_j.G s_l for j != l and s_j.G W theta_perp vanish as d grows"
)


def over_kappas(integrand: sp.Expr) -> sp.Expr:
    """E over independent kappa_1, kappa_2 ~ N(0, 1)."""
    return Expectation(integrand, *kappa)


@functools.cache
def output() -> Derivation:
    """The output of a readout given all kappa_j: one overlap with the spike per direction, and a Gaussian rest."""
    # A row and a readout component, and what is orthogonal to the directions as one Gaussian field per neuron.
    along = sp.symbols("w_{v_1} w_{v_2}", real=True)
    rest, component = sp.symbols("w_{x\\perp} a_i", real=True)
    feature = mu0 + mu1 * (sum(kappa[j] * along[j] for j in DIRECTIONS) + rest) + mu2 * s.xi
    by_direction = component * mu0 + sum(kappa[j] * mu1 * component * along[j] for j in DIRECTIONS)
    field = component * (mu1 * rest + mu2 * s.xi)
    steps = (
        Step(
            "x = sum_j kappa_j v_j + Pi x with Pi = 1 - sum_j v_j v_j^T, so that w.x = sum_j kappa_j w.v_j + w.Pi x in "
            "the equivalent feature of a neuron.",
            eq(s.feature_value, feature),
        ),
        Step(
            "Summed with the readout: m = sum_i a_i/sqrt p and one zeta_j = a.W v_j/sqrt p per direction; the rest is "
            "a Gaussian field given kappa, of covariance mu1^2 q1 + mu2^2 q2 with q1 through Pi.",
            eq(s.output, prediction + s.local_field),
            Vanishing("one neuron's share", sp.expand(component * feature - by_direction - field)),
        ),
    )
    return Derivation(
        "output for a spike of several directions", SOURCE, *steps, results={s.output: prediction + s.local_field}
    )


def mean_square(noise: sp.Expr) -> sp.Expr:
    """E over z, xi and label noise of (g + noise - output)^2, in y0, y1, y2."""
    teacher = g(sum(gamma[j] * kappa[j] for j in DIRECTIONS) + sp.sqrt(s.rho) * s.z)
    omega = mu1 * s.psi * s.z + sp.sqrt(mu1**2 * (s.q1 - s.psi**2) + mu2**2 * s.q2) * s.xi
    gap = teacher + noise - prediction - omega
    moments = {
        Expectation(teacher**2, s.z): y2 - s.noise,
        Expectation(s.z * teacher, s.z): y1,
        Expectation(teacher, s.z): y0,
    }
    averaged = expand_expectations(Expectation(sp.expand(gap**2), s.z, s.xi, LABEL_NOISE))
    return sp.expand(averaged.subs(moments))


@functools.cache
def energetic() -> Derivation:
    """One sample costs e2/(2(1+V)), e2 with sums over the directions."""
    averaged = mean_square(sp.sqrt(s.noise) * LABEL_NOISE)
    result = squared_residual / (2 * (1 + V_of_kappa))
    steps = (
        *output().steps,
        *square_loss().steps,
        Step(
            "theta.x = sum_j gamma_j kappa_j + sqrt(rho) z with rho = 1 - |gamma|^2, and the field's common part "
            "carries mu1 psi of that z. The squared error averaged over z, xi and the label noise is e2.",
            eq(sp.Symbol("e_2"), squared_residual),
            Vanishing("the average is e2 with a sum over directions", averaged - sp.expand(squared_residual)),
        ),
        Step(
            "A sample costs e2/(2(1+V)).",
            eq(s.moreau, result),
            Vanishing("linear in the square", 2 * (1 + V_of_kappa) * result - squared_residual),
        ),
    )
    return Derivation(
        "energetic term for several directions",
        SOURCE,
        *steps,
        results={s.moreau: result},
        hypotheses=REPLICA_HYPOTHESES,
    )


@functools.cache
def overlap_matrix() -> Derivation:
    """K: what all forces along the directions meet, S^T G S = X (1 - V1^ X)^-1 with X = S^T G0 S."""
    X, x, t = whole_gram, s.spike_resolvent, s.V1_hat
    inner = sp.eye(2) - t * X
    core = inner.inv()  # (1 - t X)^-1
    result = X * core
    equal = result.subs({X[0, 0]: x, X[1, 1]: x, X[0, 1]: 0})
    one = spike_direction()
    steps = (
        *one.steps,
        Step(
            "Omega = W W^T - S S^T with the columns s_j = W v_j of S, so G^-1 = G0^-1 - V1^ S S^T, a perturbation of "
            "rank s: G = G0 + V1^ G0 S (1 - V1^ X)^-1 S^T G0.",
            eq(sp.Symbol("G"), sp.Symbol(r"G_0 + \hat{V}_1 G_0 S(1-\hat{V}_1X)^{-1}S^TG_0")),
            *(
                Vanishing(
                    f"G^-1 G = 1, coefficient {j + 1}{k + 1} of S ... S^T G0",
                    sp.together((t * core - t * sp.eye(2) - t**2 * X * core)[j, k]),
                )
                for j in DIRECTIONS
                for k in DIRECTIONS
            ),
        ),
        *(
            Step(
                f"Between s_1 and s_{k + 1}.",
                eq(spike_gram[0, k], result[0, k]),
                Vanishing("X + V1^ X (1 - V1^ X)^-1 X", sp.together((X + t * X * core * X - result)[0, k])),
            )
            for k in DIRECTIONS
        ),
        Step(
            "The directions are orthogonal and independent of W: X = beta I times the unit matrix, and each direction "
            "has what a single one would have, s_j.G s_l = beta c V2 delta_jl.",
            eq(sp.Symbol("s_1.G s_1"), s.beta * s.c * s.V2),
            Vanishing("as for one direction", equal[0, 0] - x / (1 - t * x)),
            Vanishing(
                "beta c V2 by the Marchenko-Pastur relation",
                (x / (1 - t * x)).subs(x, s.beta * one.results[s.V1]) - s.beta * s.c * s.V2,
            ),
        ),
        Step(
            "Different directions do not meet.",
            eq(sp.Symbol("s_1.G s_2"), equal[0, 1]),
            Vanishing("off the diagonal", equal[0, 1]),
        ),
    )
    return Derivation(
        "overlap matrix of several directions",
        SOURCE,
        *steps,
        results={spike_gram[0, 0]: result[0, 0], spike_gram[0, 1]: result[0, 1]},
        hypotheses=(*one.hypotheses, ORTHOGONAL),
    )


@functools.cache
def free_energy() -> Derivation:
    """The replica-symmetric free energy for isotropic rows and several directions."""
    pairs = tuple(zip(zeta, zeta_hat, strict=True))
    one_overlap = -s.zeta * s.zeta_hat
    replicated = sum((replicated_overlap(s.replicas, *pair) for pair in pairs), sp.S.Zero)
    overlaps = linear_in_replicas(replicated)
    trace_term = trace().results[s.trace_term] - one_overlap + overlaps
    force = s.beta * s.c * tau_trace * sum(z**2 for z in zeta_hat)
    entropic = (s.q1_hat * T_trace + s.q2_hat * tau_trace + s.beta * s.psi_hat**2 * T_trace + force) / 2
    energy = s.alpha / (2 * s.beta) * over_kappas(squared_residual / (1 + V_of_kappa))
    value = -trace_term - entropic + energy
    # The readout's minimum along the forces: -J.G J/2 with J = sqrt p sum_j zeta^_j s_j, through K.
    a = sp.Matrix(sp.symbols("a_1 a_2", real=True))
    J = sp.Matrix(zeta_hat)
    K = sp.diag(*sp.symbols("K_1 K_2", positive=True))
    objective = ((a.T * K * a) / 2 - J.T * K * a)[0]
    steps = (
        *trace().steps,
        *overlap_matrix().steps,
        *energetic().steps,
        Step(
            "The trace term has one product zeta_j zeta^_j per direction.",
            eq(s.trace_term, trace_term),
            Vanishing(
                "two overlaps in place of one",
                trace_term
                - trace().results[s.trace_term]
                - s.zeta * s.zeta_hat
                + zeta[0] * zeta_hat[0]
                + zeta[1] * zeta_hat[1],
            ),
        ),
        Step(
            "Along the forces sqrt p zeta^_j s_j the readout reaches a = sum_j zeta^_j G s_j: minus half of "
            "zeta^.K zeta^, which is beta c tau |zeta^|^2.",
            eq(s.entropic_term, entropic),
            NonNegative(
                "the minimum over the components along G s_j",
                objective + (J.T * K * J)[0] / 2,
                tuple((K[j, j] / 2, a[j] - zeta_hat[j]) for j in DIRECTIONS),
            ),
        ),
        Step(
            "The free energy per neuron: minus the trace term, minus the entropic term, plus alpha/beta times the "
            "energetic average.",
            eq(s.free_energy, value),
            Vanishing(
                "the energetic term is the average envelope",
                energy - s.alpha / s.beta * over_kappas(energetic().results[s.moreau]),
            ),
        ),
    )
    hypotheses = (*trace().hypotheses, *overlap_matrix().hypotheses, *energetic().hypotheses)
    return Derivation(
        "free energy for a spike of several directions",
        SOURCE,
        *steps,
        results={s.free_energy: value},
        hypotheses=tuple(dict.fromkeys(hypotheses)),
    )


# Differentiating in the first gives the equation for the second.
CONJUGATE: dict[sp.Symbol, sp.Symbol] = {
    s.m: s.m,
    s.psi: s.psi_hat,
    s.q1: s.V1_hat,
    s.q2: s.V2_hat,
    s.V1: s.q1_hat,
    s.V2: s.q2_hat,
    s.psi_hat: s.psi,
    s.V1_hat: s.q1,
    s.V2_hat: s.q2,
} | {variable: unknown for j in DIRECTIONS for variable, unknown in ((zeta[j], zeta_hat[j]), (zeta_hat[j], zeta[j]))}


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """Stationarity of the free energy in one variable, solved for the variable that it is linear in."""
    base, law = free_energy(), second_moments()
    derivative = stationary(base.results[s.free_energy], variable)
    unknown = CONJUGATE[variable]
    solution = name_traces(solve_linear(derivative, unknown))
    step = Step(
        f"Stationarity in ${sp.latex(variable)}$; the derivatives of the traces are minus the second moments of the "
        "resolvent.",
        eq(unknown, solution),
        Vanishing(f"stationarity in {variable}", expand_expectations(name_traces(derivative)).subs(unknown, solution)),
    )
    return Derivation(
        f"stationarity in {variable} for several directions",
        SOURCE,
        *base.steps,
        *law.steps,
        step,
        results={unknown: solution},
        hypotheses=(*base.hypotheses, EXCHANGE),
    )


@functools.cache
def test_error() -> Derivation:
    """The error on a new input: E e2 less the label noise."""
    result = over_kappas(squared_residual) - s.noise
    step = Step(
        "A new input has no thermal response: its squared error is e2, of which the label noise is not counted.",
        eq(s.test_error, result),
        Vanishing(
            "the error against the noiseless target is e2 less the label noise",
            mean_square(sp.S.Zero) - sp.expand(squared_residual - s.noise),
        ),
    )
    return Derivation(
        "test error for several directions",
        SOURCE,
        *energetic().steps,
        step,
        results={s.test_error: result},
        hypotheses=REPLICA_HYPOTHESES[1:2],
    )
