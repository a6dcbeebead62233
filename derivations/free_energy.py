r"""The replica-symmetric free energy of the ridge readout: Section 3.3 and Appendix C, equations (83)-(116).

The readout minimises :math:`\frac12\sum_\mu(y^\mu-f(x^\mu))^2+\frac\lambda2|a|^2`.
Per neuron, and in the limit, the minimum is the free energy :math:`\Phi`, assembled here from three terms: the trace
term of the order parameters and their
conjugates, the entropic term of the readout's prior, and the energetic term of one sample. Each comes from a Gaussian
integral over replicas, evaluated with the replica-symmetric ansatz and at zero temperature.
"""

from __future__ import annotations

import functools

import sympy as sp

from derivations import symbols as s
from derivations.along_spike import (
    PAPER,
    V_of_kappa,
    denominator,
    over_kappa,
    over_modes,
    squared_residual,
    varpi,
    varrho,
    vartau,
)
from derivations.derivation import Derivation, NonNegative, RationalLimit, Step, Vanishing
from derivations.expectation import Expectation, expand_expectations
from derivations.sample_energy import REPLICA_HYPOTHESES, energetic


def replicated_trace(R: sp.Symbol, V: sp.Expr, q: sp.Expr, V_hat: sp.Expr, q_hat: sp.Expr) -> sp.Expr:
    """-(1/2) sum over i, j of q_ij q^_ij, with q_ij = V delta_ij + q and q^_ij = -V^ delta_ij + q^, for R replicas."""
    diagonal, others = (V + q) * (q_hat - V_hat), q * q_hat
    return -(R * diagonal + R * (R - 1) * others) / 2


@functools.cache
def trace() -> Derivation:
    """Equations (91)-(95), (103): the trace term, linear in R at zero replicas, then at zero temperature."""
    R, B = s.replicas, s.inverse_temperature
    V, q, V_hat, q_hat = sp.symbols(r"V_k q_k \hat{V}_k \hat{q}_k", real=True)
    replicated = replicated_trace(R, V, q, V_hat, q_hat)
    linear = sp.expand(sp.diff(replicated, R).subs(R, 0))
    scaled = sp.expand(linear.subs({V: V / B, V_hat: B * V_hat, q_hat: B**2 * q_hat}, simultaneous=True) / B)
    limit = (V_hat * q - q_hat * V) / 2
    one, two = (
        {V: s.V1, q: s.q1, V_hat: s.V1_hat, q_hat: s.q1_hat},
        {V: s.V2, q: s.q2, V_hat: s.V2_hat, q_hat: s.q2_hat},
    )
    result = limit.subs(one) + limit.subs(two) - s.zeta * s.zeta_hat - s.psi * s.psi_hat
    steps = (
        Step(
            "With the replica-symmetric matrices q_ij = V delta_ij + q and q^_ij = -V^ delta_ij + q^ the sum over "
            "replicas is a polynomial in R.",
            sp.Eq(sp.Symbol(r"-\frac{1}{2}\sum_{ij} q_{ij}\hat{q}_{ij}"), replicated, evaluate=False),
        ),
        Step(
            "Only the term linear in R survives as R -> 0.",
            sp.Eq(sp.Symbol(r"\partial_R|_{R=0}"), linear, evaluate=False),
            (Vanishing("the rest is quadratic in R", replicated - R * linear + R**2 * q * q_hat / 2),),
        ),
        Step(
            "At zero temperature V -> V/B, V^ -> B V^, q^ -> B^2 q^, and the term is divided by B.",
            sp.Eq(sp.Symbol(r"\lim_{B\to\infty}"), limit, evaluate=False),
            (RationalLimit("V V^ is of lower order in B", scaled, B, limit),),
        ),
        Step(
            "zeta and psi, one per replica, add minus their products with their conjugates; so does m, but m^ = "
            "O(p^(-1/2)), equation (105).",
            sp.Eq(s.trace_term, result, evaluate=False),
        ),
    )
    return Derivation(
        "trace term", f"{PAPER}, Appendix C, (91)-(95), (103), (105)", steps, {s.trace_term: result}, REPLICA_HYPOTHESES
    )


def mode_minimum(curvature: sp.Expr, force: sp.Expr) -> sp.Expr:
    """min over one component of the readout of curvature a^2/2 - force a."""
    return -(force**2) / (2 * curvature)


def sherman_morrison(x: sp.Expr) -> sp.Expr:
    """s.G s in terms of x = s.G0 s, where G^-1 = G0^-1 - V1^ s s^T."""
    return x + s.V1_hat * x**2 / (1 - s.V1_hat * x)


@functools.cache
def spike_inversion() -> Derivation:
    """Equations (107)-(109), (114): Sherman-Morrison for the spike direction s = W v."""
    x, t = s.spike_resolvent, s.V1_hat
    weight = t / (1 - t * x)  # G = G0 + weight G0 s s^T G0
    result = sherman_morrison(x)
    steps = (
        Step(
            "Omega = W W^T - s s^T, so G^-1 = G0^-1 - V1^ s s^T: a perturbation of rank one.",
            sp.Eq(sp.Symbol("G^{-1}"), sp.Symbol("G_0^{-1}") - t * sp.Symbol("s s^T"), evaluate=False),
        ),
        Step(
            "Sherman-Morrison: G = G0 + V1^ G0 s s^T G0/(1 - V1^ s.G0 s).",
            sp.Eq(sp.Symbol("G"), sp.Symbol("G_0") + weight * sp.Symbol("G_0 s s^T G_0"), evaluate=False),
            (Vanishing("in G^-1 G = 1 the coefficient of s s^T G0 vanishes", weight - t - t * weight * x),),
        ),
        Step(
            "Between s on both sides.",
            sp.Eq(s.spike_resolvent_bulk, result, evaluate=False),
            (
                Vanishing("it is G0 plus the rank-one correction", result - x - weight * x**2),
                Vanishing("equivalently x/(1 - V1^ x)", result - x / (1 - t * x)),
            ),
        ),
    )
    return Derivation(
        "Sherman-Morrison for the spike", f"{PAPER}, Appendix C, (107)-(114)", steps, {s.spike_resolvent_bulk: result}
    )


@functools.cache
def entropic() -> Derivation:
    """Equations (94)-(99), (107)-(116): the entropic term of a ridge penalty as an integral over nu."""
    S = sp.Symbol("S", positive=True)
    Xi, noise_gain, signal = sp.symbols("Xi k f", real=True)
    component = sp.Symbol("a_j", real=True)
    force = signal + noise_gain * Xi
    minimum = mode_minimum(S, force)
    averaged = expand_expectations(Expectation(sp.expand(minimum), Xi))
    I_nu = over_modes(varrho * vartau**2 / denominator)
    x = s.beta * s.spike_integral
    # In a mode: noise gain^2 = q1^ varrho + q2^ and signal^2 = beta psi^^2 varrho pi^2, with varrho of W W^T; the spike
    # direction comes with s.G s by Sherman-Morrison.
    bulk = over_modes((s.q1_hat * varrho + s.q2_hat + s.beta * s.psi_hat**2 * varrho * varpi**2) / denominator) / 2
    result = bulk + s.zeta_hat**2 * sherman_morrison(x).subs(s.spike_integral, I_nu) / 2
    printed = over_modes(
        (
            s.q1_hat * varrho
            + s.q2_hat
            + s.beta * s.zeta_hat**2 * varrho * vartau**2
            + s.beta * s.psi_hat**2 * varrho * varpi**2
        )
        / denominator
    ) / 2 + s.beta**2 * s.V1_hat * s.zeta_hat**2 * I_nu**2 / (2 * (1 - s.beta * s.V1_hat * I_nu))
    steps = (
        Step(
            "At zero temperature the readout minimises lambda a.a/2 + a.(V1^ Omega + V2^) a/2 - a.J; in each mode "
            "this is S a^2/2 - a J.",
            sp.Eq(sp.Symbol(r"\min_a"), minimum, evaluate=False),
            (
                NonNegative(
                    "the objective exceeds the minimum by a square",
                    S * component**2 / 2 - force * component - minimum,
                    ((S / 2, component - force / S),),
                ),
            ),
        ),
        Step(
            "J = sqrt(p)(zeta^ s + psi^ W theta_perp) + (q1^ Omega + q2^)^(1/2) Xi with Xi standard Gaussian: "
            "signal f plus noise k Xi in a mode.",
            sp.Eq(sp.Symbol(r"E_\Xi"), averaged, evaluate=False),
            (
                Vanishing(
                    "cross terms of signal and noise average to zero", averaged + (signal**2 + noise_gain**2) / (2 * S)
                ),
            ),
        ),
        Step(
            "Summed over modes this is tr[(q1^ Omega + q2^ + p zeta^^2 s s^T + p psi^^2 t t^T) G]/(2p), equation "
            "(98); cross terms "
            "of s, t = W theta_perp and the constant vector are O(p^(-1/2)), equations (99) and (111)-(112).",
            sp.Eq(s.entropic_term, bulk + s.zeta_hat**2 * s.spike_resolvent_bulk / 2, evaluate=False),
        ),
        *spike_inversion().steps,
        Step(
            "s.G0 s = beta I with I the integral of varrho tau^2/(lambda + V1^ varrho + V2^) over nu, equation "
            "(115); this is the form of equation (116).",
            sp.Eq(s.entropic_term, printed, evaluate=False),
            (
                Vanishing(
                    "the spike's part splits into the integral and the correction of equation (114)", result - printed
                ),
            ),
        ),
    )
    return Derivation(
        "entropic term",
        f"{PAPER}, Appendix C, (94)-(99), (107)-(116)",
        steps,
        {s.entropic_term: result},
        (
            *REPLICA_HYPOTHESES,
            "the spectrum of W and the projections of v and theta on it have the joint limit law nu (Assumption 3.2)",
        ),
    )


@functools.cache
def assembled() -> Derivation:
    """Equation (116): the free energy, extremal over all thirteen variables, for any law nu."""
    parts = (trace(), entropic(), energetic())
    energy = s.alpha / (2 * s.beta) * over_kappa(squared_residual / (1 + V_of_kappa))
    value = -trace().results[s.trace_term] - entropic().results[s.entropic_term] + energy
    steps = tuple(step for part in parts for step in part.steps)
    final = Step(
        "p neurons and n = (alpha/beta) p samples: the free energy per neuron is minus the trace term, minus the "
        "entropic term, plus alpha/beta times the energetic average.",
        sp.Eq(s.free_energy, value, evaluate=False),
        (
            Vanishing(
                "the energetic term is the average envelope",
                energy - s.alpha / s.beta * over_kappa(energetic().results[s.moreau]),
            ),
        ),
    )
    hypotheses = tuple(dict.fromkeys(h for part in parts for h in part.hypotheses))
    return Derivation(
        "replica-symmetric free energy",
        f"{PAPER}, Appendix C, (104)-(116)",
        (*steps, final),
        {s.free_energy: value},
        hypotheses,
    )
