r"""The replica-symmetric free energy of the ridge readout: Section 3.3 and Appendix C, equations (83)-(116).

The readout minimises :math:`\frac12\sum_\mu(y^\mu-f(x^\mu))^2+\frac\lambda2|a|^2`.
Per neuron, and in the limit, the minimum is the free energy :math:`\Phi`, assembled here from three terms: the trace
term of the order parameters and their
conjugates, the entropic term of the readout's prior, and the energetic term of one sample. Each comes from a Gaussian
integral over replicas, evaluated with the replica-symmetric ansatz and at zero temperature.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.along_spike import PAPER, denominator, over_modes, varpi, varrho, vartau
from giantsteps.derivations.free_energy.assumptions import (
    LOGARITHM,
    gaussian,
    log_gaussian,
    of_network,
    over_replicas,
    per_neuron,
    product_of,
    unfolded,
    updated_form,
)
from giantsteps.derivations.free_energy.replica_gaussians import slope_at_zero
from giantsteps.derivations.free_energy.replicas import field_force, form_of, one_replica
from giantsteps.derivations.free_energy.sample_energy import REPLICA_HYPOTHESES, energetic, sample_limit
from giantsteps.derivations.free_energy.stationarity import Energy
from giantsteps.derivations.gradient_step.assumptions import WIDTH
from giantsteps.derivations.kernel.algebra import congruence, instantiate, rewrite
from giantsteps.derivations.kernel.averages import linear
from giantsteps.derivations.kernel.calculus import logarithm
from giantsteps.derivations.kernel.limits import limit_compose, name_limit
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.goals import limit_of
from giantsteps.derivations.kernel.search.steps import equal, in_order, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import prior_exponent, repeated, trace_exponent

R, B = s.replicas, s.inverse_temperature
APPENDIX = f"{PAPER}, Appendix C"
_hole, _second = sp.symbols("hole hole'", real=True)
_ZERO, _ONE, _HALF = sp.Integer(0), sp.Integer(1), sp.Rational(1, 2)


def coupled(V: sp.Expr, q: sp.Expr, V_hat: sp.Expr, q_hat: sp.Expr, B: sp.Expr = B) -> sp.Expr:
    """-(1/2) sum over i, j of q_ij q^_ij at inverse temperature B.

    Replicas that the temperature moves by 1/B have q_ij = (V/B) delta_ij + q, and q^_ij = -B V^ delta_ij + B^2 q^.
    """
    return -over_replicas(R, (V / B + q) * (B**2 * q_hat - B * V_hat), q * B**2 * q_hat) / 2


def fixed_overlap(overlap: sp.Expr, conjugate: sp.Expr, B: sp.Expr = B) -> sp.Expr:
    """- sum over i of o_i o^_i for an overlap with a fixed vector, the same in all replicas."""
    return -repeated(R, overlap * B * conjugate)


def cold_trace(
    products: tuple[sp.Expr, ...], exponent: sp.FunctionClass = trace_exponent, term: sp.Symbol = s.trace_term
) -> tuple[Theorem, Theorem, Theorem, Theorem]:
    """The trace term of products with conjugates: for R replicas, their derivative at R = 0, at zero temperature."""
    meaning = define(exponent(R), sp.Add(*products), "minus the products with the conjugates, for R replicas", R)
    counted = unfolded(meaning)
    at_zero = slope_at_zero(counted)
    per_temperature = congruence((at_zero,), _hole / B, _hole)
    form = sp.expand(value(per_temperature))
    cold = rewrite((limit_of(form, B), equal(per_temperature, form)), True)
    result = name_limit((cold,), term, "the trace term per replica, neuron and inverse temperature")
    return meaning, counted, at_zero, result


def trace_of(
    title: str, source: str, pairs: Iterable[tuple[sp.Symbol, ...]], fixed: Iterable[tuple[sp.Symbol, ...]], *why: str
) -> Derivation:
    """The trace term of overlaps of pairs of replicas, each with its conjugates, and of overlaps with fixed vectors.

    ``why``: the reasons of its meaning and of what it is for R replicas.
    """
    products = (*(coupled(*pair) for pair in pairs), *(fixed_overlap(*pair) for pair in fixed))
    why = (*why, "Only the term linear in R survives as R -> 0.", "At zero temperature V V^ is of lower order in B.")
    steps = (proved(reason, theorem) for reason, theorem in zip(why, cold_trace(products), strict=True))
    return Derivation(title, source, *steps, hypotheses=REPLICA_HYPOTHESES)


@functools.cache
def trace() -> Derivation:
    """Equations (91)-(95), (103): the trace term, linear in R at zero replicas, then at zero temperature."""
    return trace_of(
        "trace term",
        f"{APPENDIX}, (91)-(95), (103), (105)",
        ((s.V1, s.q1, s.V1_hat, s.q1_hat), (s.V2, s.q2, s.V2_hat, s.q2_hat)),
        ((s.zeta, s.zeta_hat), (s.psi, s.psi_hat)),
        "Every order parameter is fixed by a delta function, int dq^ exp(-p q^ (q - its definition)): the trace term "
        "is minus the products with the conjugates, each pair of replicas counted once. At low temperature V -> V/B, "
        "V^ -> B V^, q^ -> B^2 q^, zeta^ -> B zeta^, psi^ -> B psi^; m^ = O(p^(-1/2)) is left out, equation (105).",
        "With q_ij = V delta_ij + q and q^_ij = -V^ delta_ij + q^ and one zeta and psi per replica it is a polynomial "
        "in R.",
    )


def along_spike(x: sp.Expr) -> sp.Expr:
    """s.G s from x = s.G0 s: s s^T has the weight -V1^."""
    return updated_form(x, x, x, x, -s.V1_hat)


@functools.cache
def spike_inversion() -> Derivation:
    """Equations (107)-(109), (114): Sherman-Morrison for the spike direction s = W v."""
    meaning = define(s.spike_resolvent_bulk, along_spike(s.spike_resolvent), "s.G s with G^-1 = G0^-1 - V1^ s s^T")
    result = unfolded(meaning)
    return Derivation(
        "Sherman-Morrison for the spike",
        f"{APPENDIX}, (107)-(114)",
        proved(
            "With s = W v, Omega = W W^T - s s^T: the inverses G of lambda + V1^ Omega + V2^ and G0 of lambda + V1^ W "
            "W^T + V2^ have G^-1 = G0^-1 - V1^ s s^T, a perturbation of rank one.",
            meaning,
        ),
        proved("Sherman-Morrison, between s on both sides.", result),
    )


# A mode of W W^T, by the label that its eigenvalue is a function of; the sum of a weight over replicas, and of squares.
_squares, _total = sp.symbols("Q T", real=True)
_exponent, _curvature, _noise, _force = (
    sp.Function(name, real=True) for name in ("mode exponent", "curvature of mode", "noise of mode", "force of mode")
)


@functools.cache
def one_mode(B: sp.Expr = B, ridge: sp.Expr = s.ridge, psi_hat: sp.Expr = s.psi_hat) -> tuple[Theorem, ...]:
    """The exponent of R replicas in one mode, and its curvature, noise and force, which it is made of."""
    # What a mode has of q1, q2 and psi: W Pi W^T is W W^T up to the spike's perturbation of rank one.
    first, second, along = varrho / s.p, 1 / s.p, sp.sqrt(varrho) * varpi / sp.sqrt(s.d * s.p)
    conjugates = form_of(B * s.V1_hat, B**2 * s.q1_hat, _squares, _total) * first
    conjugates += form_of(B * s.V2_hat, B**2 * s.q2_hat, _squares, _total) * second
    meaning = define(
        _exponent(s.mode, _squares, _total),
        -B * ridge * _squares / 2 + s.p * (conjugates + B * psi_hat * along * _total),
        "penalty and conjugates times what the mode has of each overlap, for replicas of this sum and sum of squares",
        s.mode,
        _squares,
        _total,
    )
    exponent = rewritten(meaning, WIDTH)

    def at(squares: int, total: int) -> sp.Expr:
        return _exponent(s.mode, sp.Integer(squares), sp.Integer(total))

    def known(name: sp.Expr, of: sp.Expr, meaning: str) -> Theorem:
        values = [
            instantiate((exponent,), {_squares: call.args[1], _total: call.args[2]})
            for call in in_order(of, sp.core.function.AppliedUndef)
            if call.func == _exponent
        ]
        found = rewritten(define(name, of, meaning, s.mode), *values)
        return equal(found, sp.expand(value(found)))

    curvature = known(_curvature(s.mode), -2 * at(1, 0) / B, "B times it meets minus half of the sum of squares")
    noise = known(_noise(s.mode), (at(0, 1) + at(0, -1)) / B**2, "B^2 times it meets half of the square of the sum")
    force = known(_force(s.mode), (at(0, 1) - at(0, -1)) / (2 * B), "B times it meets the sum")
    parts = (-B * _curvature(s.mode) * _squares + B**2 * _noise(s.mode) * _total**2) / 2 + B * _force(s.mode) * _total
    whole = rewritten(
        define(_whole(s.mode, _squares, _total), parts, "the three", s.mode, _squares, _total), curvature, noise, force
    )
    made_of = equal(exponent, sp.expand(value(whole)))
    return exponent, curvature, noise, force, made_of


_whole = sp.Function("mode exponent in parts", real=True)


@functools.cache
def all_modes(B: sp.Expr = B, ridge: sp.Expr = s.ridge, psi_hat: sp.Expr = s.psi_hat) -> tuple[Theorem, ...]:
    """ln of the integral over R readouts without the spike, a mode at a time: of R replicas, at R = 0, integrated."""
    _, curvature, noise, force, _ = one_mode(B, ridge, psi_hat)
    field = s.mode_field
    acting = B * (_force(s.mode) + field_force(_noise(s.mode), field))
    replicated = Expectation(product_of(R, one_replica(B * _curvature(s.mode), acting)), field)
    meaning = define(
        prior_exponent(R),
        over_modes(sp.log(replicated)),
        "ln of the integral over R readouts, per neuron: an average over the law nu of the modes",
        R,
    )
    powers = unfolded(rewritten(meaning, curvature, noise, force))
    at_zero = slope_at_zero(powers)
    (single,) = [e for e in value(at_zero).atoms(Expectation) if e.variables == (s.replica_weight,)]
    S, J = value(curvature), value(force) + field_force(value(noise), field)
    one = gaussian(single, B * S, B * J)
    if B != 1:
        one = rewrite((one, logarithm((), B * S, ((B, _ONE), (S, _ONE)))))
    form = B / (2 * S) * J**2 - (sp.log(B) + sp.log(S)) / 2
    integrated = rewrite((at_zero, equal(one, form)))
    inner = Expectation(form, field)
    split = linear((), inner, ((B / (2 * S), J**2), (-(sp.log(B) + sp.log(S)) / 2, _ONE)))
    exact = rewrite((integrated, averages_expanded(split)))
    energy = (value(noise) + value(force) ** 2) / (2 * S)
    parts = [(B, energy), (-sp.log(B) / 2, _ONE), (-_HALF, sp.log(S))]
    exact = rewrite((exact, linear((), value(exact), tuple(part for part in parts if part[0] != 0))))
    return powers, at_zero, exact


def _cold(exact: Theorem) -> Theorem:
    """The limit of exponent/B as B grows, for exponent = B X - ln(B)/2 - Y/2."""
    _, curvature, noise, force, _ = one_mode()
    energy = over_modes((value(noise) + value(force) ** 2) / (2 * value(curvature)))
    rest = over_modes(sp.log(value(curvature)))
    context = energy - _hole / 2 - _second / 2
    limit = limit_compose((LOGARITHM, limit_of(rest / B, B)), context, (_hole, _second))
    per_temperature = congruence((exact,), _hole / B, _hole)
    tends = rewrite((limit, equal(per_temperature, sides(limit.statement)[0])), True)
    return name_limit((tends,), s.modes_term, "the entropic term without the spike, at zero temperature")


def _dropped(symbol: sp.Symbol, claim: str) -> Theorem:
    return hypothesis(claim.removeprefix("dropped."), Equation(symbol, _ZERO), claim)


# The terms that vanish with d, each a claim about its order.
DROPPED = {
    s.dropped_cross: _dropped(s.dropped_cross, "dropped.cross-term"),
    s.dropped_target: _dropped(s.dropped_target, "dropped.target-at-spike"),
    s.dropped_noise: _dropped(s.dropped_noise, "dropped.noise-at-spike"),
    s.dropped_m_hat: _dropped(s.dropped_m_hat, "dropped.m-hat"),
}


@functools.cache
def spike_part(B: sp.Expr = B, of_mode: sp.Expr = denominator) -> tuple[Theorem, Theorem, Theorem]:
    """(1/2) zeta^^2 s.G s, with s.G0 s as an integral over nu: the form, what the force adds, and the result.

    ``of_mode``: what the curvature of a mode is, lambda + V1^ l^2 + V2^.
    """
    x = define(
        s.spike_resolvent,
        s.p * over_modes((sp.sqrt(varrho) * vartau / sp.sqrt(s.d)) ** 2 / of_mode),
        "s.G0 s = sum over p modes of (l f.v)^2/(lambda + V1^ l^2 + V2^), with sqrt(d) f.v = tau",
    )
    form = averages_expanded_over_modes(rewritten(x, WIDTH), of_mode)
    force = (B * sp.sqrt(s.p) * s.zeta_hat) ** 2 * s.spike_resolvent_bulk / B
    adds = define(
        s.spike_term,
        (log_gaussian(s.prior_log_det, force) - log_gaussian(s.prior_log_det, _ZERO)) / (s.p * B),
        "what a force B sqrt(p) zeta^ s on a readout of curvature B G^-1 adds, per neuron and inverse temperature",
    )
    counted = unfolded(adds)
    inverted = spike_inversion().theorem_of(s.spike_resolvent_bulk)
    reduced = equal(counted, sp.expand(value(counted)))
    return form, reduced, rewritten(reduced, inverted, form)


def averages_expanded_over_modes(x: Theorem, of_mode: sp.Expr) -> Theorem:
    """s.G0 s = beta E[varrho tau^2/(lambda + V1^ varrho + V2^)]."""
    (average,) = value(x).atoms(Expectation)
    integrand = varrho * vartau**2 / of_mode
    found = rewrite((x, linear((), average, ((1 / s.d, integrand),))))
    return equal(found, s.beta * over_modes(integrand))


@functools.cache
def entropic() -> Derivation:
    """Equations (94)-(99), (107)-(116): the entropic term of a ridge penalty as an integral over nu."""
    exponent, curvature, noise, force, made_of = one_mode()
    powers, at_zero, exact = all_modes()
    modes = _cold(exact)
    form, reduced, spike = spike_part()
    dropped = (s.dropped_cross, s.dropped_target, s.dropped_noise)
    meaning = define(
        s.entropic_term,
        s.modes_term + s.spike_term + sp.Add(*dropped),
        "ln of the integral over the readouts per replica, neuron and inverse temperature",
    )
    result = rewritten(meaning, *(DROPPED[name] for name in dropped), modes, spike)
    return Derivation(
        "entropic term",
        f"{APPENDIX}, (94)-(99), (107)-(116)",
        proved(
            "In the singular vectors of W every overlap is a sum over modes. One mode has the singular value l with "
            "l^2 = varrho, and sqrt(d) f.theta_perp = pi; the penalty, the conjugates of q1 and q2 and that of psi act "
            "on the sum of its weight over replicas and on the sum of squares; p = beta d.",
            exponent,
        ),
        proved("The curvature of the mode,", curvature),
        proved("the variance of a Gaussian force that couples replicas,", noise),
        proved("and the force along W theta_perp.", force),
        proved("It is made of these three.", made_of),
        proved(
            "A Gaussian field in place of the square of the sum decouples replicas, each of which is a Gaussian "
            "integral; summed with weight 1/p over modes this is the average over nu, equation (98).",
            powers,
        ),
        proved("At R = 0 the average of the logarithm of one is left.", at_zero),
        proved("It is known; signal and noise do not mix.", exact),
        proved("At zero temperature the determinant drops out.", modes),
        *spike_inversion().steps,
        proved("s.G0 s is beta I, equation (115).", form),
        proved("The force along the spike acts on its own direction: zeta^^2 s.G s/2.", reduced),
        proved(
            "Cross terms of s, t = W theta_perp, the constant vector and the noise are dropped, equations (99) and "
            "(111)-(112); what is left is equation (116).",
            result,
        ),
        hypotheses=(
            *REPLICA_HYPOTHESES,
            "the spectrum of W and the projections of v and theta on it have the joint limit law nu (Assumption 3.2)",
            "Omega = W W^T - s s^T may be replaced by W W^T in traces: a perturbation of rank one",
        ),
    )


SAMPLES = define(s.n, s.alpha * s.d, "the samples of the readout, at a fixed ratio to the dimension")


def free_energy_of(
    title: str, source: str, parts: tuple[Derivation, ...], cost: Theorem, *terms: Theorem
) -> Derivation:
    """The free energy in trace, entropic and energetic terms: what a sample costs, and terms that are put in."""
    meaning = define(
        s.free_energy,
        -of_network(per_neuron(s.trace_term + s.entropic_term + s.dropped_m_hat - s.n / s.p * s.sample_cost)),
        "minus (1/(p R B)) ln E Z^R, which the equivalent features share with the network",
    )
    exponent = unfolded(meaning)
    counted = rewritten(exponent, WIDTH, SAMPLES, DROPPED[s.dropped_m_hat])
    return Derivation(
        title,
        source,
        *(step for part in parts for step in part.steps),
        proved("The cost of one sample, averaged over kappa too.", cost),
        proved(
            "E Z^R is the integral of exp(p R B times an exponent): trace term, plus entropic term, less n/p times the "
            "cost of a sample. The free energy per neuron is minus the exponent at the saddle point.",
            exponent,
        ),
        proved("n/p = alpha/beta, and m^ is dropped, equation (105).", counted),
        proved("The three terms.", rewritten(counted, cost, *terms)),
        hypotheses=tuple(dict.fromkeys(h for part in parts for h in part.hypotheses)),
    )


@functools.cache
def assembled() -> Derivation:
    """Equation (116): the free energy, extremal over all thirteen variables, for any law nu."""
    parts = (trace(), entropic(), energetic())
    *_, cost = sample_limit((s.kappa,), s.sample_cost, "the cost of one sample per replica, at zero temperature")
    terms = [part.theorem_of(name) for part, name in ((parts[0], s.trace_term), (parts[1], s.entropic_term))]
    return free_energy_of("replica-symmetric free energy", f"{APPENDIX}, (104)-(116)", parts, cost, *terms)


ENERGY = Energy(assembled, s.free_energy, r"\Phi", "free energy")
