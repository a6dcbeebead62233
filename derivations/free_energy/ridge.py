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

from onestep.derivations.free_energy.along_spike import (
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
from onestep.derivations.free_energy.sample_energy import REPLICA_HYPOTHESES, energetic
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, NonNegative, RationalLimit, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations


def replicated_trace(R: sp.Symbol, V: sp.Expr, q: sp.Expr, V_hat: sp.Expr, q_hat: sp.Expr) -> sp.Expr:
    """-(1/2) sum over i, j of q_ij q^_ij, with q_ij = V delta_ij + q and q^_ij = -V^ delta_ij + q^, for R replicas."""
    diagonal, others = (V + q) * (q_hat - V_hat), q * q_hat
    return -(R * diagonal + R * (R - 1) * others) / 2


def replicated_overlap(R: sp.Symbol, overlap: sp.Expr, conjugate: sp.Expr) -> sp.Expr:
    """- sum over i of o_i o^_i for an overlap with a fixed vector, the same in all R replicas."""
    return -R * overlap * conjugate


def linear_in_replicas(replicated: sp.Expr) -> sp.Expr:
    """d/dR at R = 0."""
    return sp.expand(sp.diff(replicated, s.replicas).subs(s.replicas, 0))


@functools.cache
def trace() -> Derivation:
    """Equations (91)-(95), (103): the trace term, linear in R at zero replicas, then at zero temperature."""
    R, B = s.replicas, s.inverse_temperature
    pairs = ((s.V1, s.q1, s.V1_hat, s.q1_hat), (s.V2, s.q2, s.V2_hat, s.q2_hat))
    overlaps = ((s.zeta, s.zeta_hat), (s.psi, s.psi_hat))
    replicated = sum((replicated_trace(R, *pair) for pair in pairs), sp.S.Zero)
    replicated += sum((replicated_overlap(R, *pair) for pair in overlaps), sp.S.Zero)
    linear = linear_in_replicas(replicated)
    cold: dict[sp.Symbol, sp.Expr] = {o_hat: B * o_hat for _, o_hat in overlaps}
    for V, _, V_hat, q_hat in pairs:
        cold |= {V: V / B, V_hat: B * V_hat, q_hat: B**2 * q_hat}
    scaled = sp.expand(linear.subs(cold, simultaneous=True) / B)
    result = scaled.coeff(B, 0)
    three = sp.ones(3, 3)
    matrices = sum(
        (-((V * sp.eye(3) + q * three) * (-V_hat * sp.eye(3) + q_hat * three)).trace() / 2
         for V, q, V_hat, q_hat in pairs),
        sp.S.Zero,
    )  # fmt: skip
    vectors = sum((-(sp.ones(1, 3) * o).dot(sp.ones(1, 3) * o_hat) for o, o_hat in overlaps), sp.S.Zero)
    rest = sum((q * q_hat for _, q, _, q_hat in pairs), sp.S.Zero)
    steps = (
        Step(
            "Every order parameter is fixed by a delta function, int dq^ exp(-p q^ (q - its definition)): the trace "
            "term is minus the products with the conjugates, each pair of replicas counted once. With q_ij = V "
            "delta_ij + q and q^_ij = -V^ delta_ij + q^ and one zeta and psi per replica it is a polynomial in R; m^ "
            "= O(p^(-1/2)) is left out, equation (105).",
            eq(sp.Symbol(r"-\frac{1}{2}\sum_{ij} q_{ij}\hat{q}_{ij}"), replicated),
            Vanishing("three replicas, matrices written out", replicated.subs(R, 3) - matrices - vectors),
        ),
        Step(
            "Only the term linear in R survives as R -> 0.",
            eq(sp.Symbol(r"\partial_R|_{R=0}"), linear),
            Vanishing("the rest is quadratic in R", replicated - R * linear + R**2 * rest / 2),
        ),
        Step(
            "At zero temperature V -> V/B, V^ -> B V^, q^ -> B^2 q^, zeta^ -> B zeta^, psi^ -> B psi^, and the term "
            "is divided by B.",
            eq(s.trace_term, result),
            RationalLimit("V V^ is of lower order in B", scaled, B, result),
        ),
    )
    return Derivation(
        "trace term",
        f"{PAPER}, Appendix C, (91)-(95), (103), (105)",
        *steps,
        results={s.trace_term: result},
        hypotheses=REPLICA_HYPOTHESES,
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
            "With s = W v, Omega = W W^T - s s^T: the inverses G of lambda + V1^ Omega + V2^ and G0 of lambda + V1^ W "
            "W^T + V2^ have G^-1 = G0^-1 - V1^ s s^T, a perturbation of rank one.",
            eq(sp.Symbol("G^{-1}"), sp.Symbol("G_0^{-1}") - t * sp.Symbol("s s^T")),
        ),
        Step(
            "Sherman-Morrison: G = G0 + V1^ G0 s s^T G0/(1 - V1^ s.G0 s).",
            eq(sp.Symbol("G"), sp.Symbol("G_0") + weight * sp.Symbol("G_0 s s^T G_0")),
            Vanishing("in G^-1 G = 1 the coefficient of s s^T G0 vanishes", weight - t - t * weight * x),
        ),
        Step(
            "Between s on both sides.",
            eq(s.spike_resolvent_bulk, result),
            Vanishing("it is G0 plus the rank-one correction", result - x - weight * x**2),
            Vanishing("equivalently x/(1 - V1^ x)", result - x / (1 - t * x)),
        ),
    )
    return Derivation(
        "Sherman-Morrison for the spike",
        f"{PAPER}, Appendix C, (107)-(114)",
        *steps,
        results={s.spike_resolvent_bulk: result},
    )


def mode_force(singular: sp.Expr, target: sp.Expr) -> sp.Expr:
    """The part of J along t = W theta_perp in a mode: sqrt(p) psi^ l (f.theta_perp)."""
    return sp.sqrt(s.p) * s.psi_hat * singular * target


def mode_noise(singular: sp.Expr) -> sp.Expr:
    """Variance of the Gaussian part of J in a mode of q1^ W W^T + q2^."""
    return s.q1_hat * singular**2 + s.q2_hat


def mode_curvature(singular: sp.Expr) -> sp.Expr:
    """Eigenvalue of lambda + V1^ W W^T + V2^."""
    return s.ridge + s.V1_hat * singular**2 + s.V2_hat


def entropic_as_printed() -> sp.Expr:
    """The entropic term as equation (116) has it."""
    I_nu = over_modes(varrho * vartau**2 / denominator)
    forces = (
        s.q1_hat * varrho
        + s.q2_hat
        + s.beta * s.zeta_hat**2 * varrho * vartau**2
        + s.beta * s.psi_hat**2 * varrho * varpi**2
    )
    spike = s.beta**2 * s.V1_hat * s.zeta_hat**2 * I_nu**2 / (2 * (1 - s.beta * s.V1_hat * I_nu))
    return over_modes(forces / denominator) / 2 + spike


def _minimum_by_modes(curvature: sp.Symbol, force: sp.Expr, minimum: sp.Expr) -> Step:
    """At zero temperature the readout minimises a quadratic form: mode by mode."""
    component = sp.Symbol("a_j", real=True)
    first, second = sp.symbols("a_1 a_2", real=True)
    S1, S2 = sp.symbols("S_1 S_2", positive=True)
    f1, f2 = sp.symbols("f_1 f_2", real=True)
    two = S1 * first**2 / 2 + S2 * second**2 / 2 - f1 * first - f2 * second
    return Step(
        "At zero temperature the readout minimises lambda a.a/2 + a.(V1^ Omega + V2^) a/2 - a.J, with Omega = W Pi "
        "W^T and a Gaussian force J; in each mode this is S a^2/2 - a J, S the curvature.",
        eq(sp.Symbol(r"\min_a"), minimum),
        NonNegative(
            "the objective exceeds the minimum by a square",
            curvature * component**2 / 2 - force * component - minimum,
            ((curvature / 2, component - force / curvature),),
        ),
        NonNegative(
            "modes are minimised one by one",
            two - mode_minimum(S1, f1) - mode_minimum(S2, f2),
            ((S1 / 2, first - f1 / S1), (S2 / 2, second - f2 / S2)),
        ),
    )


def _along_the_spike() -> tuple[sp.Expr, NonNegative]:
    """What the spike's force sqrt(p) zeta^ s adds; it acts along G s, where curvature and force are both s.G s."""
    x, along = s.spike_resolvent_bulk, sp.Symbol("g", real=True)
    minimum = mode_minimum(x, sp.sqrt(s.p) * s.zeta_hat * x)
    objective = x * along**2 / 2 - sp.sqrt(s.p) * s.zeta_hat * x * along
    reached = NonNegative(
        "the spike's force reaches its minimum along G s",
        objective - minimum,
        ((x / 2, along - sp.sqrt(s.p) * s.zeta_hat),),
    )
    return -minimum / s.p, reached


@functools.cache
def entropic() -> Derivation:
    """Equations (94)-(99), (107)-(116): the entropic term of a ridge penalty as an integral over nu."""
    S = sp.Symbol("S", positive=True)
    Xi, noise_gain, signal = sp.symbols("Xi k f", real=True)
    force = signal + noise_gain * Xi
    minimum = mode_minimum(S, force)
    averaged = expand_expectations(Expectation(sp.expand(minimum), Xi))
    I_nu = over_modes(varrho * vartau**2 / denominator)
    # One mode: singular value l = sqrt(varrho), right singular vector f with sqrt(d) f.theta_perp = pi, p = beta d.
    singular, target, ft = sp.sqrt(varrho), varpi / sp.sqrt(s.d), sp.Symbol("f_t", real=True)
    el = sp.Symbol("l", nonnegative=True)
    contents = {signal: mode_force(el, ft), noise_gain: sp.sqrt(mode_noise(el)), S: mode_curvature(el)}
    in_mode = sp.powdenest(averaged.subs(contents), force=False)
    integrand = sp.expand(in_mode.subs({el: singular, ft: target}).subs(s.p, s.beta * s.d))
    bulk = over_modes(-integrand)
    spike_part, spike_minimum = _along_the_spike()
    result = bulk + spike_part.subs(s.spike_resolvent_bulk, sherman_morrison(s.beta * I_nu))
    half = (mode_noise(el) + mode_force(el, ft) ** 2) / (2 * mode_curvature(el))
    steps = (
        _minimum_by_modes(S, force, minimum),
        Step(
            "J = sqrt(p)(zeta^ s + psi^ W theta_perp) + (q1^ Omega + q2^)^(1/2) Xi with Xi standard Gaussian: "
            "signal f plus noise k Xi in a mode.",
            eq(sp.Symbol(r"E_\Xi"), averaged),
            Vanishing(
                "cross terms of signal and noise average to zero", averaged + (signal**2 + noise_gain**2) / (2 * S)
            ),
        ),
        Step(
            "A mode of W W^T has curvature lambda + V1^ l^2 + V2^, noise variance q1^ l^2 + q2^ and signal sqrt(p) "
            "psi^ l (f.theta_perp); with l^2 = varrho, sqrt(d) f.theta_perp = pi and p = beta d, summed with weight "
            "1/p, this is the integral over nu, equation (98). Cross terms of s, t = W theta_perp and the constant "
            "vector are O(p^(-1/2)), equations (99) and (111)-(112).",
            eq(s.entropic_term, bulk + spike_part),
            Vanishing("one mode", in_mode + half),
            Vanishing(
                "its signal as a function of varrho and pi",
                (mode_force(singular, target) ** 2).subs(s.p, s.beta * s.d) - s.beta * s.psi_hat**2 * varrho * varpi**2,
            ),
            Vanishing(
                "the integrand over nu",
                2 * denominator * integrand + s.q1_hat * varrho + s.q2_hat + s.beta * s.psi_hat**2 * varrho * varpi**2,
            ),
            spike_minimum,
        ),
        *spike_inversion().steps,
        Step(
            "s.G0 s = beta I with I the integral of varrho tau^2/(lambda + V1^ varrho + V2^) over nu, equation "
            "(115); this is equation (116).",
            eq(s.entropic_term, result),
            Vanishing(
                "the spike's part splits into the integral and the correction of equation (114)",
                result - entropic_as_printed(),
            ),
        ),
    )
    return Derivation(
        "entropic term",
        f"{PAPER}, Appendix C, (94)-(99), (107)-(116)",
        *steps,
        results={s.entropic_term: result},
        hypotheses=(
            *REPLICA_HYPOTHESES,
            "the spectrum of W and the projections of v and theta on it have the joint limit law nu (Assumption 3.2)",
            "Omega = W W^T - s s^T may be replaced by W W^T in traces: a perturbation of rank one",
        ),
    )


def exponent_per_neuron(samples_per_neuron: sp.Expr, cost_of_sample: sp.Expr) -> sp.Expr:
    """ln Z per replica, neuron and inverse temperature: trace and entropic terms less the cost of all samples."""
    return trace().results[s.trace_term] + entropic().results[s.entropic_term] - samples_per_neuron * cost_of_sample


@functools.cache
def assembled() -> Derivation:
    """Equation (116): the free energy, extremal over all thirteen variables, for any law nu."""
    parts = (trace(), entropic(), energetic())
    ratio = (s.n / s.p).subs({s.n: s.alpha * s.d, s.p: s.beta * s.d})
    cost = over_kappa(squared_residual / (1 + V_of_kappa)) / 2
    value = -exponent_per_neuron(ratio, cost)
    steps = tuple(step for part in parts for step in part.steps)
    final = Step(
        "E Z^R is the integral of exp(p R B times an exponent): trace term, plus entropic term, less n/p = alpha/beta "
        "times the cost of a sample, which enters as exp(-B M). The free energy per neuron is minus the exponent.",
        eq(s.free_energy, value),
        Vanishing("n = alpha d and p = beta d", s.beta * ratio - s.alpha),
        Vanishing("the cost of a sample is the average envelope", cost - over_kappa(energetic().results[s.moreau])),
    )
    hypotheses = tuple(dict.fromkeys(h for part in parts for h in part.hypotheses))
    return Derivation(
        "replica-symmetric free energy",
        f"{PAPER}, Appendix C, (104)-(116)",
        *steps,
        final,
        results={s.free_energy: value},
        hypotheses=hypotheses,
    )
