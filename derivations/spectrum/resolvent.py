r"""The spectrum of the feature covariance: Appendix F, equations (173)-(191).

The Stieltjes transform g(z) = (1/p) tr(Phi^T Phi/p - z)^{-1} is twice the derivative of the free entropy
Phi(z) = (1/p) E ln Z(z), a Gaussian integral over readouts without target and at temperature one. Replicas give it as
an extremum; its stationary point has zeta = m = 0, and what is left are the equations of Result 3.3 at lambda = -z.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, mu0, mu1, over_kappa, varrho
from giantsteps.derivations.free_energy.assumptions import (
    of_network,
    per_neuron,
    product_of,
    unfolded,
)
from giantsteps.derivations.free_energy.replica_gaussians import slope_at_zero
from giantsteps.derivations.free_energy.ridge import (
    SAMPLES,
    all_modes,
    coupled,
    fixed_overlap,
    one_mode,
    spike_inversion,
    spike_part,
)
from giantsteps.derivations.free_energy.sample_energy import log_of_replica, loss_of_replica
from giantsteps.derivations.free_energy.stationarity import CONJUGATE as OF_RIDGE
from giantsteps.derivations.free_energy.stationarity import EXCHANGE, Energy
from giantsteps.derivations.gradient_step.assumptions import WIDTH
from giantsteps.derivations.kernel.algebra import order, rewrite, ring
from giantsteps.derivations.kernel.averages import average, linear
from giantsteps.derivations.kernel.search.assumptions import define, each_proved, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, both_expanded, expansion
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import equal, isolated, rewritten, value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import (
    prior_exponent_slope,
    sample_exponent,
    sample_exponent_slope,
    trace_exponent,
    trace_exponent_slope,
)
from giantsteps.derivations.spectrum import symbols as s
from giantsteps.derivations.spectrum.feature_covariance import HYPOTHESES, SOURCE, outputs, z

_ZERO, _ONE, _HALF = sp.Integer(0), sp.Integer(1), sp.Rational(1, 2)
R = s.replicas

ridge_of_mode = -z + s.V1_hat * varrho + s.V2_hat


@functools.cache
def energetic() -> Derivation:
    """The energetic part of (182) and (186): one sample at square loss without target, as R -> 0."""
    gap, V = -ONE_LETTER.fit - sp.sqrt(ONE_LETTER.q) * s.xi, ONE_LETTER.V
    bracket = Expectation(product_of(R, loss_of_replica(gap, V, _ONE)), s.xi)
    meaning = define(
        sample_exponent(R), sp.log(over_kappa(bracket)), "ln of the average over one sample of R replicas", R
    )
    powers = unfolded(meaning)
    at_zero = slope_at_zero(powers)
    known = log_of_replica(gap, V, _ONE)
    determinant = -sp.log(1 + V) / 2
    split = linear((), Expectation(value(known), s.xi), ((-ONE_LETTER.weight / 2, gap**2), (determinant, _ONE)))
    exact = rewrite((rewrite((at_zero, known)), averages_expanded(split)))
    named = define(
        s.energetic_term, s.n / s.p * sample_exponent_slope(_ZERO), "what n samples give per replica and neuron"
    )
    result = averages_expanded(rewritten(named, exact, WIDTH, SAMPLES), s.kappa)
    return Derivation(
        "energetic term without target",
        f"{SOURCE}, (182)-(186)",
        *outputs().steps,
        proved(
            "Without target b is minus the mean output, and B = 1: given what replicas share of the field, each "
            "averages exp(-(b - h)^2/2) over a field of variance V.",
            powers,
        ),
        proved("As R -> 0 the average over kappa passes through the logarithm.", at_zero),
        proved("Each is a Gaussian integral.", exact),
        proved("n/p = alpha/beta samples for each neuron.", result),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def modes() -> tuple[Theorem, ...]:
    """The Gaussian integral over R readouts mode by mode, determinant included: R replicas, at R = 0, integrated."""
    _, curvature, noise, *_ = one_mode(_ONE, -z, _ZERO)
    powers, at_zero, exact = all_modes(_ONE, -z, _ZERO)
    named = define(s_free.modes_term, prior_exponent_slope(_ZERO), "the entropic term without the spike")
    return curvature, noise, powers, at_zero, rewrite((named, exact))


@functools.cache
def entropic() -> Derivation:
    """The entropic part of (182) and (186): the Gaussian integral over R readouts, determinant included, as R -> 0."""
    curvature, noise, powers, at_zero, of_modes = modes()
    form, reduced, spike = spike_part(_ONE, ridge_of_mode)
    both = s_free.modes_term + s_free.spike_term
    meaning = define(s.entropic_term, both, "ln of the integral over the readouts per replica and neuron")
    result = rewritten(meaning, of_modes, spike)
    return Derivation(
        "entropic term without target",
        f"{SOURCE}, (182)-(186)",
        proved(
            "In a mode of W Pi W^T of eigenvalue varrho every replica has the curvature A = -z + V1^ varrho + V2^,",
            curvature,
        ),
        proved("and replicas are coupled by B = q1^ varrho + q2^.", noise),
        proved("A Gaussian field decouples them.", powers),
        proved("At R = 0 the average of the logarithm of one is left.", at_zero),
        proved("It is known, summed over modes.", of_modes),
        *spike_inversion().steps,
        proved("s.G0 s is beta I.", form),
        proved("The force is zeta^ sqrt p along s = W v.", reduced),
        proved("The spike's part is s.G s by Sherman-Morrison.", result),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def trace() -> Derivation:
    """The trace term of (182) and (186) at temperature one: the product V^ V stays."""
    pairs = ((s.V1, s.q1, s.V1_hat, s.q1_hat), (s.V2, s.q2, s.V2_hat, s.q2_hat))
    products = [coupled(*pair, _ONE) for pair in pairs] + [fixed_overlap(s.zeta, s.zeta_hat, _ONE)]
    meaning = define(trace_exponent(R), sp.Add(*products), "minus the products with the conjugates, for R replicas", R)
    counted = unfolded(meaning)
    named = define(s.trace_term, trace_exponent_slope(_ZERO), "the trace term per replica and neuron")
    linear_in_replicas = rewrite((named, slope_at_zero(counted)))
    result = equal(linear_in_replicas, sp.expand(value(linear_in_replicas)))
    return Derivation(
        "trace term at temperature one",
        f"{SOURCE}, (183)-(186)",
        proved("Overlaps V delta_ij + q and conjugates -V^ delta_ij + q^, each pair of replicas once.", counted),
        proved("The sum over replicas is linear in R as R -> 0.", result),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def free_entropy() -> Derivation:
    """Equation (186)."""
    parts = (trace(), entropic(), energetic())
    terms = [part.theorem_of(name) for part, name in zip(parts, _TERMS, strict=True)]
    meaning = define(
        s.free_entropy,
        of_network(per_neuron(sp.Add(*_TERMS))),
        "(1/p) E ln Z, the exponent at the saddle point, which the equivalent features share with the network",
    )
    exponent = unfolded(meaning)
    result = rewritten(exponent, *terms)
    return Derivation(
        "free entropy of the resolvent",
        f"{SOURCE}, (186)",
        *(step for part in parts for step in part.steps),
        proved("E Z^R is the integral of exp(p R times the sum of three terms), constants left out.", exponent),
        proved("The three terms.", result),
        hypotheses=HYPOTHESES,
    )


_TERMS = (s.trace_term, s.entropic_term, s.energetic_term)
# Differentiating in the first gives the equation for the second.
CONJUGATE = {variable: unknown for variable, unknown in OF_RIDGE.items() if s.psi not in (variable, unknown)}
ENTROPY = Energy(free_entropy, s.free_entropy, r"\Phi(\mathsf{z})", "free entropy")


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """Equations (187), (189): stationarity of the free entropy in one variable."""
    title = f"stationarity of the free entropy in {variable}"
    return ENTROPY.equation(variable, CONJUGATE[variable], title, f"{SOURCE}, (187)-(189)")


def at_saddle(variable: sp.Symbol) -> Theorem:
    """The saddle-point equation from stationarity in ``variable``."""
    return equation(variable).theorem_of(CONJUGATE[variable])


@functools.cache
def spike_form() -> Theorem:
    """s.G s as an integral over nu."""
    form, _, _ = spike_part(_ONE, ridge_of_mode)
    inverted = spike_inversion().theorem_of(s.spike_resolvent_bulk)
    return rewritten(inverted, form)


averages = {
    "mean": over_kappa(mu0**2 * ONE_LETTER.weight),
    "mixed": over_kappa(s.kappa * mu0 * mu1 * ONE_LETTER.weight),
    "spike": over_kappa(s.kappa**2 * mu1**2 * ONE_LETTER.weight),
}
gain = s.alpha / s.beta * s.spike_resolvent_bulk


@functools.cache
def combined() -> Derivation:
    """Equation (188): zeta^ eliminated from the equations for zeta and zeta^."""
    forward, backward = equation(s.zeta_hat), equation(s.zeta)
    product = Equation(s.zeta, s.zeta_hat * s.spike_resolvent_bulk)
    of_zeta = concluded(product, at_saddle(s.zeta_hat), spike_form())
    result = isolated(s.zeta, rewritten(of_zeta, averages_expanded(at_saddle(s.zeta), s.kappa)))
    return Derivation(
        "the two equations combined",
        f"{SOURCE}, (188)",
        *forward.steps,
        *backward.steps[-1:],
        proved("zeta = zeta^ s.G s,", of_zeta),
        proved(
            "and zeta^ is minus (alpha/beta) times the average of the output's own slope: linear in zeta.",
            result,
        ),
        hypotheses=(*HYPOTHESES, EXCHANGE),
    )


projection = averages["mixed"] / averages["mean"]  # the coefficient of the projection of kappa mu1 on mu0


@functools.cache
def schur() -> tuple[Theorem, Theorem]:
    """C - B^2/A of A = E[mu0^2/(1+V)], B = E[kappa mu0 mu1/(1+V)], C = E[kappa^2 mu1^2/(1+V)], and that it is not
    negative: an average of squares over 1 + V.
    """
    left_over = averages["spike"] - averages["mixed"] ** 2 / averages["mean"]
    meaning = define(s.schur, left_over, "what m leaves of zeta's own coefficient")
    rest = s.kappa * mu1 - projection * mu0
    term = rest**2 * ONE_LETTER.weight
    square = average((order((), AtLeast(term, _ZERO), (), ((ONE_LETTER.weight, rest),)),), (s.kappa,))
    opened = expansion(sides(square.statement)[0], s.kappa)
    return meaning, order((meaning, square, opened), AtLeast(s.schur, _ZERO), (_ONE, _ONE, -_ONE))


@functools.cache
def vanishing_overlaps() -> Derivation:
    """Equation (188), the conclusion: zeta = 0 and m = 0, by the Cauchy-Schwarz inequality."""
    meaning, bound = schur()
    both = rewritten(combined().theorems[-1], averages_expanded(at_saddle(s.m), s.kappa))
    coefficient = 1 + gain * s.schur
    own = 1 + gain * averages["spike"]
    closed = ring((both, meaning), Equation(s.zeta * coefficient, _ZERO), (own, gain * s.zeta))
    zeta = ring((closed,), Equation(s.zeta, _ZERO), (1 / coefficient,))
    m = rewritten(at_saddle(s.m), zeta)
    return Derivation(
        "zeta = m = 0",
        f"{SOURCE}, (188)",
        *combined().steps,
        proved("The equation of m gives m = -B zeta/A; inserted, zeta times 1 + gain (C - B^2/A) vanishes.", closed),
        proved("C - B^2/A is the average of a square over 1 + V, by Cauchy-Schwarz: never negative.", bound),
        proved("So the coefficient is at least one, and zeta = 0.", zeta),
        proved("The mean of the readout is zeta times a ratio of averages.", m),
        results={s.zeta: _ZERO, s.m: _ZERO},
        hypotheses=(*HYPOTHESES, EXCHANGE),
    )


@functools.cache
def acting() -> tuple[Theorem, ...]:
    """zeta and m, which vanish, the force that is left of them, and the conjugates of V1 and V2 without them."""
    none = tuple(vanishing_overlaps().theorem_of(x) for x in (s.zeta, s.m))
    force = rewritten(averages_expanded(at_saddle(s.zeta), s.kappa), *none)
    forces = (
        both_expanded(rewritten(at_saddle(x), *none, at_saddle(q)), s.kappa) for x, q in ((s.V1, s.q1), (s.V2, s.q2))
    )
    return *none, force, *forces


def silent() -> tuple[Theorem, ...]:
    """All that vanishes where the free entropy is stationary: m, zeta, q1, q2 and their conjugates."""
    zeta, m, force, *forces = acting()
    sizes = tuple(no_sizes().theorem_of(q) for q in (s.q1, s.q2))
    return zeta, m, force, *sizes, *(rewritten(conjugate, *sizes) for conjugate in forces)


_independence = sp.Symbol("D", real=True, nonzero=True)
INDEPENDENT = "the homogeneous equations of q1 and q2 are independent"


@functools.cache
def no_sizes() -> Derivation:
    """q_k and q_k^ vanish with m and zeta: q^ is an average of q and q one of q^, homogeneous equations."""
    _, _, force, *forces = acting()
    sizes = [
        rewritten(at_saddle(x), force, at_saddle(q), *forces) for x, q in ((s.V1_hat, s.q1_hat), (s.V2_hat, s.q2_hat))
    ]
    (a, b), (c, d) = ([sp.diff(sp.expand(value(x)), q) for q in (s.q1, s.q2)] for x in sizes)
    regular = define(_independence, (1 - a) * (1 - d) - b * c, "the determinant of the two equations, not zero")
    products = [
        ring((*sizes, regular), Equation(_independence * q, _ZERO), (*row, q))
        for q, row in ((s.q1, (1 - d, b)), (s.q2, (c, 1 - a)))
    ]
    q1, q2 = (
        ring((product,), Equation(q, _ZERO), (1 / _independence,))
        for q, product in zip((s.q1, s.q2), products, strict=True)
    )
    return Derivation(
        "no replica-shared size",
        f"{SOURCE}, (188)-(189)",
        *vanishing_overlaps().steps,
        proved("At m = zeta = 0 no force is left,", force),
        *each_proved("and the conjugates are averages of q1 and q2,", forces),
        *each_proved("which are integrals of the conjugates: homogeneous linear equations.", sizes),
        proved("They are independent,", regular),
        proved("so q1 = 0,", q1),
        proved("and q2 = 0.", q2),
        results={s.q1: _ZERO, s.q2: _ZERO},
        hypotheses=(*HYPOTHESES, INDEPENDENT),
    )


@functools.cache
def stieltjes() -> Derivation:
    """Equation (190): g(z) = V2 at lambda = -z."""
    base = free_entropy()
    rates = {x: sides(ENTROPY.partial(x).statement)[0] for x in (*CONJUGATE, z)}
    along = [rates[x] * sp.Symbol(rf"\partial_\mathsf{{z}} {sp.latex(x)}", real=True) for x in CONJUGATE]
    meaning = define(
        s.stieltjes,
        2 * sp.Add(*along, rates[z]),
        "twice the derivative of the free entropy along the saddle point, whose numbers move with z",
    )
    explicit = rewritten(meaning, *(ENTROPY.vanishing(x) for x in CONJUGATE))
    by_size = rewrite((ENTROPY.partial(s.V2_hat), ENTROPY.vanishing(s.V2_hat)))
    together = ring((ENTROPY.partial(z), by_size), Equation(rates[z], (s.V2 + s.q2) / 2), (_ONE, _ONE))
    sizes = no_sizes().theorem_of(s.q2)
    result = rewritten(explicit, together, sizes)
    return Derivation(
        "Stieltjes transform",
        f"{SOURCE}, (190)",
        *base.steps,
        *no_sizes().steps[-1:],
        proved("g is twice the derivative of the free entropy along the saddle point.", meaning),
        proved("There only the explicit z counts,", explicit),
        proved("which enters as -V2^ does: the derivative in V2^ vanishes, leaving V2 + q2,", together),
        proved("with q2 = 0.", result),
        hypotheses=(*HYPOTHESES, EXCHANGE, INDEPENDENT),
    )
