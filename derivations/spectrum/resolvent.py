r"""The spectrum of the feature covariance: Appendix F, equations (173)-(191).

The Stieltjes transform g(z) = (1/p) tr(Phi^T Phi/p - z)^{-1} is twice the derivative of the free entropy
Phi(z) = (1/p) E ln Z(z), a Gaussian integral over readouts without target and at temperature one. Replicas give it as
an extremum; its stationary point has zeta = m = 0, and what is left are the equations of Result 3.3 at lambda = -z.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import (
    V_of_kappa,
    mu0,
    mu1,
    mu2,
    over_kappa,
    over_modes,
    varrho,
    vartau,
)
from onestep.derivations.free_energy.replica_gaussians import (
    A,
    B,
    at_zero,
    bracket,
    f,
    integral,
    log_bracket,
    log_integral,
)
from onestep.derivations.free_energy.ridge import replicated_trace, sherman_morrison, spike_inversion
from onestep.derivations.free_energy.stationarity import EXCHANGE, solve_linear
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq, ge
from onestep.derivations.language.expectation import expand_expectations
from onestep.derivations.saddle_point.equations import stationary
from onestep.derivations.spectrum import symbols as s
from onestep.derivations.spectrum.feature_covariance import HYPOTHESES, SOURCE, outputs, z

ridge_of_mode = -z + s.V1_hat * varrho + s.V2_hat
linear_output = mu0 * s.m + s.kappa * mu1 * s.zeta
q_of_kappa = mu1**2 * s.q1 + mu2**2 * s.q2


@functools.cache
def energetic() -> Derivation:
    """The energetic part of (182) and (186): one sample at square loss without target, as R -> 0."""
    temperature = {
        s.inverse_temperature: 1,
        s.own_overlap: V_of_kappa,
        s.shared_overlap: q_of_kappa,
        s.residual: linear_output,
    }
    general = at_zero(log_bracket())
    one = sp.expand_log(general.subs(temperature))
    result = s.alpha / s.beta * over_kappa(one)
    printed = (
        -s.alpha
        / (2 * s.beta)
        * over_kappa(sp.log(1 + V_of_kappa) + (q_of_kappa + linear_output**2) / (1 + V_of_kappa))
    )
    steps = (
        *outputs().steps,
        *bracket().steps,
        Step(
            "Without target b is minus the mean output, and B = 1; as R -> 0 the average over kappa passes through "
            "the logarithm.",
            eq(s.energetic_term, result),
            Vanishing("in the form of the paper", expand_expectations(result - printed)),
        ),
    )
    return Derivation(
        "energetic term without target",
        f"{SOURCE}, (182)-(186)",
        *steps,
        results={s.energetic_term: printed},
        hypotheses=HYPOTHESES,
    )


@functools.cache
def entropic() -> Derivation:
    """The entropic part of (182) and (186): the Gaussian integral over R readouts, determinant included, as R -> 0."""
    per_mode = at_zero(log_integral())
    of_mode = per_mode.subs({A: ridge_of_mode, B: s.q1_hat * varrho + s.q2_hat, f: 0}, simultaneous=True)
    force = at_zero(log_integral()) - at_zero(log_integral()).subs(f, 0)
    I_nu = over_modes(varrho * vartau**2 / ridge_of_mode)
    spike = s.zeta_hat**2 * sherman_morrison(s.beta * I_nu) / 2
    result = over_modes(sp.expand(of_mode)) + spike
    printed = (
        -over_modes(sp.log(ridge_of_mode)) / 2
        + over_modes((s.q1_hat * varrho + s.q2_hat) / ridge_of_mode) / 2
        + s.zeta_hat**2 * s.beta * I_nu / (2 * (1 - s.beta * s.V1_hat * I_nu))
    )
    steps = (
        *integral().steps,
        *spike_inversion().steps,
        Step(
            "In a mode of W Pi W^T of eigenvalue varrho the matrix over replicas is A delta_ij - B with A = -z + V1^ "
            "varrho + V2^ and B = q1^ varrho + q2^; the force is zeta^ sqrt p along s = W v.",
            eq(sp.Symbol(r"\partial_R\ln Z_R|_{R=0}"), of_mode),
            Vanishing("the force enters as f^2/(2A)", force - f**2 / (2 * A)),
        ),
        Step(
            "Summed over modes; the spike's part is s.G s by Sherman-Morrison.",
            eq(s.entropic_term, result),
            Vanishing("in the form of the paper", sp.together(expand_expectations(result - printed))),
        ),
    )
    return Derivation(
        "entropic term without target",
        f"{SOURCE}, (182)-(186)",
        *steps,
        results={s.entropic_term: printed},
        hypotheses=HYPOTHESES,
    )


@functools.cache
def trace() -> Derivation:
    """The trace term of (182) and (186) at temperature one: the product V^ V stays."""
    V, q, V_hat, q_hat = sp.symbols(r"V_k q_k \hat{V}_k \hat{q}_k", real=True)
    replicated = replicated_trace(s.replicas, V, q, V_hat, q_hat)
    linear = sp.expand(sp.diff(replicated, s.replicas).subs(s.replicas, 0))
    terms = [
        linear.subs({V: a, q: b, V_hat: c, q_hat: e}, simultaneous=True)
        for a, b, c, e in ((s.V1, s.q1, s.V1_hat, s.q1_hat), (s.V2, s.q2, s.V2_hat, s.q2_hat))
    ]
    result = sum(terms) - s.zeta_hat * s.zeta
    steps = (
        Step(
            "Overlaps V delta_ij + q and conjugates -V^ delta_ij + q^: the sum over replicas is linear in R as R -> 0.",
            eq(s.trace_term, result),
            Vanishing("the rest is quadratic in R", replicated - s.replicas * linear + s.replicas**2 * q * q_hat / 2),
        ),
    )
    return Derivation(
        "trace term at temperature one",
        f"{SOURCE}, (183)-(186)",
        *steps,
        results={s.trace_term: result},
        hypotheses=HYPOTHESES,
    )


@functools.cache
def free_entropy() -> Derivation:
    """Equation (186)."""
    parts = (trace(), entropic(), energetic())
    value = trace().results[s.trace_term] + entropic().results[s.entropic_term] + energetic().results[s.energetic_term]
    silent = dict.fromkeys((s.m, s.zeta, s.zeta_hat, s.V1_hat, s.V2_hat, s.q1_hat, s.q2_hat), 0)
    alone = (value - energetic().results[s.energetic_term]).subs(silent)
    size = sp.diff(value, z) + sp.diff(value, s.V2_hat)
    final = Step(
        "The free entropy is the sum of the three terms, extremal over all variables; constants are left out.",
        eq(s.free_entropy, value),
        # Z is the integral of exp(-(a.K a - z |a|^2)/2), so that its slope in z is the mean of |a|^2/2.
        Vanishing("at stationarity the slope in z is |a|^2/(2p)", expand_expectations(size) - (s.V2 + s.q2) / 2),
        Vanishing("without samples (-z)^(-p/2) is left", expand_expectations(alone) + sp.log(-z) / 2),
    )
    steps = (*(step for part in parts for step in part.steps), final)
    return Derivation(
        "free entropy of the resolvent",
        f"{SOURCE}, (186)",
        *steps,
        results={s.free_entropy: value},
        hypotheses=HYPOTHESES,
    )


# Differentiating in the first gives the equation for the second.
CONJUGATE: dict[sp.Symbol, sp.Symbol] = {
    s.m: s.m,
    s.zeta: s.zeta_hat,
    s.zeta_hat: s.zeta,
    s.q1: s.V1_hat,
    s.q2: s.V2_hat,
    s.q1_hat: s.V1,
    s.q2_hat: s.V2,
}


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """Equations (187), (189): stationarity of the free entropy in one variable."""
    base = free_entropy()
    derivative = stationary(base.results[s.free_entropy], variable)
    unknown = CONJUGATE[variable]
    solution = solve_linear(derivative, unknown)
    step = Step(
        f"The derivative in ${sp.latex(variable)}$ vanishes; it is linear in ${sp.latex(unknown)}$.",
        eq(unknown, solution),
        Vanishing(f"stationarity in {variable}", expand_expectations(derivative).subs(unknown, solution)),
    )
    return Derivation(
        f"stationarity of the free entropy in {variable}",
        f"{SOURCE}, (187)-(189)",
        *base.steps,
        step,
        results={unknown: solution},
        hypotheses=(*HYPOTHESES, EXCHANGE),
    )


@functools.cache
def combined() -> Derivation:
    """Equation (188): zeta^ eliminated from the equations for zeta and zeta^."""
    forward, backward = equation(s.zeta_hat), equation(s.zeta)
    I_nu = over_modes(varrho * vartau**2 / ridge_of_mode)
    resolvent = s.beta * I_nu / (1 - s.beta * s.V1_hat * I_nu)
    of_zeta = forward.results[s.zeta]
    relation = s.zeta - s.spike_resolvent_bulk * backward.results[s.zeta_hat]
    result = solve_linear(relation, s.zeta)
    step = Step(
        "zeta = zeta^ s.G s, and zeta^ is minus (alpha/beta) times the average of the output's own slope: linear in "
        "zeta.",
        eq(s.zeta, result),
        Vanishing("the factor is s.G s", sp.together(expand_expectations(of_zeta - s.zeta_hat * resolvent))),
        Vanishing("the solution", expand_expectations(relation).subs(s.zeta, result)),
    )
    return Derivation(
        "the two equations combined",
        f"{SOURCE}, (188)",
        *forward.steps,
        *backward.steps[-1:],
        step,
        results={s.zeta: result},
        hypotheses=(*HYPOTHESES, EXCHANGE),
    )


weight_of_kappa = 1 / (1 + V_of_kappa)
averages = {
    "mean": over_kappa(mu0**2 * weight_of_kappa),
    "mixed": over_kappa(s.kappa * mu0 * mu1 * weight_of_kappa),
    "spike": over_kappa(s.kappa**2 * mu1**2 * weight_of_kappa),
}


projection = sp.Symbol("t", real=True)  # B/A, the coefficient of the projection of kappa mu1 on mu0


def projection_square() -> sp.Expr:
    """C - B^2/A = E[(kappa mu1 - t mu0)^2/(1+V)] at t = B/A."""
    return over_kappa((s.kappa * mu1 - projection * mu0) ** 2 * weight_of_kappa)


@functools.cache
def vanishing_overlaps() -> Derivation:
    """Equation (188), the conclusion: zeta = 0 and m = 0, by the Cauchy-Schwarz inequality."""
    a, b, c = sp.symbols("A_0 B_0 C_0", real=True)
    gain = sp.Symbol("G_0", nonnegative=True)
    t = projection
    mean_readout = equation(s.m).results[s.m]
    # The conditions A m + B zeta = 0 and zeta = -gain (B m + C zeta), A = E mu0^2/(1+V), and so on.
    m_of_zeta = -b * s.zeta / a
    condition = s.zeta + gain * (b * m_of_zeta + c * s.zeta)
    coefficient = sp.expand(condition / s.zeta)
    zeta = sp.solve(condition, s.zeta)
    difference = projection_square()
    opened = averages["spike"] - 2 * t * averages["mixed"] + t**2 * averages["mean"]
    at_projection = (c - 2 * t * b + t**2 * a).subs(t, b / a)
    steps = (
        *combined().steps,
        Step(
            "The equation of m gives m = -B zeta/A with A = E[mu0^2/(1+V)] and B = E[kappa mu0 mu1/(1+V)]; inserted, "
            "zeta times a coefficient vanishes.",
            eq(s.zeta * coefficient, 0),
            Vanishing("the coefficient is 1 + gain (C - B^2/A)", coefficient - 1 - gain * (c - b**2 / a)),
        ),
        Step(
            "C - B^2/A is the average of a square over 1 + V, by Cauchy-Schwarz: never negative. So the coefficient "
            "is at least one.",
            ge(s.schur, 0),
            Vanishing("the square opened", expand_expectations(difference - opened)),
            Vanishing("at the projection it is C - B^2/A", sp.expand(at_projection - c + b**2 / a)),
            NonNegative("an average of squares over 1 + V > 0", difference, ((difference, sp.S.One),)),
        ),
        Step(
            "So zeta = 0, then m = 0 and zeta^ = 0.",
            eq(s.zeta, zeta[0]),
            Vanishing("m vanishes with zeta", m_of_zeta.subs(s.zeta, zeta[0])),
        ),
        Step(
            "The mean of the readout is zeta times a ratio of averages.",
            eq(s.m, m_of_zeta.subs(s.zeta, zeta[0])),
            Vanishing("stationarity in m, equation (187), at zeta = 0", mean_readout.subs(s.zeta, zeta[0])),
        ),
    )
    return Derivation(
        "zeta = m = 0",
        f"{SOURCE}, (188)",
        *steps,
        results={s.zeta: zeta[0], s.m: m_of_zeta.subs(s.zeta, zeta[0])},
        hypotheses=(*HYPOTHESES, EXCHANGE),
    )


@functools.cache
def no_sizes() -> Derivation:
    """q_k and q_k^ vanish with m and zeta: q^ is an average of q and q one of q^, homogeneous equations."""
    base = free_entropy()
    silent = {s.m: 0, s.zeta: 0, s.zeta_hat: 0, s.q1_hat: 0, s.q2_hat: 0, s.q1: 0, s.q2: 0}
    checks = []
    for variable in (s.V1, s.V2, s.V1_hat, s.V2_hat):
        derivative = expand_expectations(stationary(base.results[s.free_entropy], variable).subs(silent))
        # What is left are the equations of V^ and V themselves.
        partner = {s.V1: s.q1, s.V2: s.q2, s.V1_hat: s.q1_hat, s.V2_hat: s.q2_hat}[variable]
        same = expand_expectations(stationary(base.results[s.free_entropy], partner))
        sign = 1 if partner in (s.q1, s.q2) else -1
        says = f"at q = 0 stationarity in {variable} is stationarity in {partner}"
        checks.append(Vanishing(says, sp.expand(derivative - sign * same)))
    step = Step(
        "At m = zeta = 0 the solution q = q^ = 0 satisfies the equations from V and V^: they become those from q and "
        "q^.",
        eq(s.q2, 0),
        *checks,
    )
    return Derivation(
        "no replica-shared size",
        f"{SOURCE}, (188)-(189)",
        *base.steps,
        step,
        results={s.q1: sp.S.Zero, s.q2: sp.S.Zero},
        hypotheses=HYPOTHESES,
    )


@functools.cache
def stieltjes() -> Derivation:
    """Equation (190): g(z) = V2 at lambda = -z."""
    base = free_entropy()
    phi = base.results[s.free_entropy]
    explicit = 2 * sp.diff(phi, z)
    conjugate = 2 * stationary(phi, s.V2_hat)
    # At the saddle point d Phi/d V2^ = 0, and z enters beside -V2^: what is left is the trace term's own share.
    result = expand_expectations(sp.expand(explicit + conjugate)).subs(s.q2, 0)
    steps = (
        *base.steps,
        *no_sizes().steps[-1:],
        Step(
            "g is twice the derivative of the free entropy; at the saddle point only the explicit z counts, and z "
            "enters as -V2^ does: the derivative in V2^ vanishes, leaving V2 + q2, with q2 = 0.",
            eq(s.stieltjes, result),
            Vanishing(
                "z and V2^ enter the determinant together", expand_expectations(explicit + conjugate) - s.V2 - s.q2
            ),
        ),
    )
    return Derivation(
        "Stieltjes transform",
        f"{SOURCE}, (190)",
        *steps,
        results={s.stieltjes: result},
        hypotheses=(*HYPOTHESES, EXCHANGE),
    )
