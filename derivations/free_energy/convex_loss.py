r"""Any convex loss: equations (96)-(97), (100)-(101), (106) and (118)-(120) of Appendix C.

The loss enters through its Moreau envelope M(y, omega, V) = inf_h (h - omega)^2/(2V) + l(y, h) only. Its minimiser h is
the proximal point, f = (h - omega)/V the force, and

    dM/domega = -f,   dM/dV = -f^2/2,   df/domega = -l''/(1 + V l''),

so that the free energy can be differentiated without knowing the loss. Terms with the auxiliary normal variable xi are
integrated by parts (Stein's lemma), which leaves no square root behind.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.along_spike import ONE_LETTER, PAPER, over_kappa
from giantsteps.derivations.free_energy.assumptions import of_network, per_neuron, product_of, saddle_point, unfolded
from giantsteps.derivations.free_energy.envelopes import envelope
from giantsteps.derivations.free_energy.replica_gaussians import slope_at_zero
from giantsteps.derivations.free_energy.ridge import DROPPED, SAMPLES, entropic, trace
from giantsteps.derivations.free_energy.sample_energy import (
    EXCESS,
    LABEL_NOISE,
    REPLICA_HYPOTHESES,
    TEACHER,
    beyond_label,
    label_moments,
    local_fields,
    shared_field,
)
from giantsteps.derivations.free_energy.stationarity import CONJUGATE, EXCHANGE, solve_linear
from giantsteps.derivations.gradient_step.assumptions import WIDTH
from giantsteps.derivations.kernel.algebra import congruence, instantiate, rewrite
from giantsteps.derivations.kernel.averages import linear, stein
from giantsteps.derivations.kernel.calculus import average_limit, slope
from giantsteps.derivations.kernel.limits import name_limit
from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, lemma, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, both_expanded
from giantsteps.derivations.kernel.search.steps import isolated, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import named_functions as named
from giantsteps.derivations.language.derivation import Derivation, Step, Vanishing, eq
from giantsteps.derivations.language.expectation import Expectation, expand_expectations

APPENDIX = f"{PAPER}, Appendix C"
LAPLACE = "Laplace's method for the integral over a local field: the loss is convex and smooth"

envelope_of, force_of, force_slope_of = named.envelope, named.force, named.force_slope

centre = ONE_LETTER.fit + shared_field(s.q1 - s.psi**2)  # mean output at given kappa, z and xi
AT = (TEACHER, centre, ONE_LETTER.V)

_y, _centre, _fluctuation = sp.symbols("y omega w", real=True)
# No fluctuations are a limit: the envelope is then the loss itself.
_V_or_zero = sp.Symbol("V", nonnegative=True)
_hole = sp.Symbol("hole", real=True)
_PLACES = (_y, _centre, _V_or_zero)


def over_samples(integrand: sp.Expr) -> sp.Expr:
    """E over kappa, the label's z and the output's xi."""
    return Expectation(integrand, s.kappa, s.z, s.xi)


def laplace() -> Theorem:
    """-(1/B) ln E exp(-B l(y, omega + (V/B)^(1/2) w)) -> the envelope, at any label, centre and variance."""
    B = s.inverse_temperature
    return hypothesis(
        "Laplace's method",
        Tends(-sp.log(loss_of_replica(*_PLACES)) / B, envelope_of(*_PLACES), B),
        "convex.laplace",
        *_PLACES,
    )


def loss_of_replica(y: sp.Expr, omega: sp.Expr, V: sp.Expr) -> sp.Expr:
    """E exp(-B l(y, h)) for a field h of variance V/B around omega."""
    B = s.inverse_temperature
    return Expectation(sp.exp(-B * named.any_loss(y, omega + sp.sqrt(V / B) * _fluctuation)), _fluctuation)


@functools.cache
def energetic() -> Derivation:
    """Equation (100): per neuron, alpha/beta samples each cost the envelope of the loss."""
    R, B = s.replicas, s.inverse_temperature
    at = dict(zip(_PLACES, (TEACHER, ONE_LETTER.fit + shared_field(s.excess), ONE_LETTER.V), strict=True))
    bracket = over_samples(product_of(R, loss_of_replica(*at.values())))
    meaning = define(named.sample_exponent(R), sp.log(bracket), "ln of the average over one sample of R replicas", R)
    powers = unfolded(meaning)
    at_zero = slope_at_zero(powers)
    cold = average_limit((instantiate((laplace(),), at),), (s.kappa, s.z, s.xi))
    per_temperature = congruence((at_zero,), -_hole / B, _hole)
    inside = linear((), sides(cold.statement)[0], ((-1 / B, value(at_zero).integrand),))
    tends = rewrite((rewrite((cold, inside)), per_temperature), True)
    limit = name_limit((tends,), s.loss_cost, "the cost of one sample per replica, at zero temperature")
    cost = rewrite((limit, EXCESS))
    per_weight = define(s.energetic_term, -s.n / s.p * s.loss_cost, "minus the cost of all samples, per neuron")
    result = rewritten(per_weight, WIDTH, SAMPLES, cost)
    return Derivation(
        "energetic term of a convex loss",
        f"{APPENDIX}, (100)",
        *local_fields().steps,
        proved(
            "Given the common part omega of the fields the replicas are independent: one integral over a field of "
            "variance V/B to the power R,",
            powers,
        ),
        proved("which at R = 0 leaves its logarithm,", at_zero),
        proved("and at B -> infinity minus B times the envelope.", cost),
        *envelope().steps,
        proved("There are n = (alpha/beta) p samples.", result),
        hypotheses=(*REPLICA_HYPOTHESES, LAPLACE),
    )


@functools.cache
def free_energy() -> Derivation:
    """Equation (106): the free energy of a convex loss with a ridge penalty."""
    terms = s.trace_term + s.entropic_term + s.dropped_m_hat + s.energetic_term
    meaning = define(
        s.free_energy, -of_network(per_neuron(terms)), "minus (1/(p R B)) ln E Z^R, of features and network alike"
    )
    parts = ((trace(), s.trace_term), (entropic(), s.entropic_term), (energetic(), s.energetic_term))
    known = [part.theorem_of(name) for part, name in parts]
    result = rewritten(unfolded(meaning), DROPPED[s.dropped_m_hat], *known)
    hypotheses = dict.fromkeys((*entropic().hypotheses, *energetic().hypotheses))
    return Derivation(
        "free energy of a convex loss",
        f"{APPENDIX}, (106)",
        *trace().steps,
        *entropic().steps,
        *energetic().steps,
        proved("Minus the three terms; m^ is of order p^(-1/2) and is left out, equation (105).", result),
        hypotheses=tuple(hypotheses),
    )


# What `envelope` derives where there are fluctuations; where there are none the envelope is the loss, and so is this.
ENVELOPE_THEOREM = tuple(
    lemma(
        f"envelope theorem in the {what}",
        Equation(named.PARTIALS[envelope_of][place](*_PLACES), right),
        f"chain rule at a minimum: convex.moreau-{claim}",
        *_PLACES,
    )
    for place, what, claim, right in (
        (1, "centre", "slope", -force_of(*_PLACES)),
        (2, "variance", "response", -(force_of(*_PLACES) ** 2) / 2),
    )
)
_spread = sp.Function("spread", positive=True)(s.kappa)
FLUCTUATES = hypothesis(
    "the output fluctuates",
    Equation(beyond_label(s.excess), _spread**2),
    "at every kappa the part of the output that does not follow the label has a positive variance",
    s.kappa,
)


def in_forces(rate: Theorem) -> Theorem:
    """The derivatives of the envelope as forces, and terms with xi integrated by parts."""
    partials = named.PARTIALS[envelope_of]
    if not value(rate).has(*partials):
        return rate
    rate = rewrite((rate, EXCESS), True)
    for call in sorted(value(rate).atoms(partials[1], partials[2]), key=sp.default_sort_key):
        known = ENVELOPE_THEOREM[partials.index(call.func) - 1]
        rate = rewrite((rate, instantiate((known,), dict(zip(_PLACES, call.args, strict=True)))))
    spread = congruence((FLUCTUATES,), sp.sqrt(_hole), _hole)
    if value(rate).has(s.xi):
        rate = rewrite((rate, FLUCTUATES))
        rate = averages_expanded(rate, s.kappa, s.z, s.xi)
        for average in sorted(value(rate).atoms(Expectation), key=sp.default_sort_key):
            if average.integrand.as_powers_dict().get(s.xi, 0) == 1:
                rate = rewrite((rate, stein((), average, s.xi, average.integrand / s.xi)))
        rate = rewrite((rate, spread), True)
    return rewrite((rate, EXCESS))


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """Equations (119)-(120): stationarity of (106) in one variable, for any convex loss."""
    base = free_energy()
    energy = base.theorem_of(s.free_energy)
    name = s.m_response if variable == s.m else sp.Symbol(rf"\partial_{{{variable.name}}}\Phi", real=True)
    rate = in_forces(slope((energy,), variable, name, f"the derivative of the free energy in {variable.name}"))
    if variable == s.m:
        unknown, result = s.m_response, rate
    else:
        unknown = CONJUGATE[variable]
        result = isolated(unknown, both_expanded(rewrite((saddle_point(name), rate)), s.kappa, s.z, s.xi, s.mode))
    return Derivation(
        f"convex loss: stationarity in {variable}",
        f"{APPENDIX}, (118)-(120)",
        *base.steps,
        proved(
            f"The derivative of the free energy in ${sp.latex(variable)}$: dM/domega = -f, dM/dV = -f^2/2, and terms "
            "with xi integrated by parts, Stein's lemma.",
            rate,
        ),
        *(() if variable == s.m else (proved("It vanishes at the saddle point.", result),)),
        results=(result,),
        hypotheses=(*base.hypotheses, EXCHANGE),
    )


def at_saddle(variable: sp.Symbol) -> Theorem:
    """The saddle-point equation of a convex loss from stationarity in ``variable``, for any law nu."""
    return equation(variable).theorem_of(CONJUGATE[variable])


def at_square_loss(expression: sp.Expr) -> sp.Expr:
    """The loss (y - h)^2/2 with label noise: f = (y - omega)/(1 + V), averaged over z, xi and the noise."""

    def average(found: sp.Expr) -> sp.Expr:
        y, omega, V = sp.Wild("y"), sp.Wild("omega"), sp.Wild("V")
        inner = found.integrand.replace(force_slope_of(y, omega, V), -1 / (1 + V))
        inner = inner.replace(
            envelope_of(y, omega, V), (y + sp.sqrt(s.noise) * LABEL_NOISE - omega) ** 2 / (2 * (1 + V))
        )
        inner = inner.replace(force_of(y, omega, V), (y + sp.sqrt(s.noise) * LABEL_NOISE - omega) / (1 + V))
        averaged = expand_expectations(Expectation(sp.expand(inner), s.z, s.xi, LABEL_NOISE))
        return over_kappa(sp.expand(averaged.subs(sides(name.statement) for name in label_moments())))

    return sp.expand(expression).replace(
        lambda e: isinstance(e, Expectation) and e.has(envelope_of, force_of, force_slope_of), average
    )


@functools.cache
def square_loss(variable: sp.Symbol) -> Derivation:
    """Equations (121)-(126): the general equations at the square loss, noise of the labels included."""
    base = equation(variable)
    ((unknown, general),) = base.results.items()
    found = at_square_loss(general)
    V, omega, y, h = s.V, s.field_mean, s.residual, s.local_field
    prox = (omega + V * y) / (1 + V)
    closing: tuple[Vanishing, ...] = ()
    if variable == s.m:
        # -(alpha/beta) E[mu0 (y0 - mu0 m - kappa mu1 zeta)/(1+V)] = 0 is linear in m.
        residual = expand_expectations(found)
        unknown, found = s.m, solve_linear(residual, s.m)
        closing = (Vanishing("the response vanishes at m", residual.subs(s.m, found)),)
    step = Step(
        "The square loss has the proximal point (omega + V y)/(1 + V), the force (y - omega)/(1 + V) and its slope "
        "-1/(1 + V); averages over z, xi and the label noise leave the moments of the label.",
        eq(unknown, found),
        Vanishing("proximal point", sp.diff((h - omega) ** 2 / (2 * V) + (y - h) ** 2 / 2, h).subs(h, prox)),
        Vanishing("force", (prox - omega) / V - (y - omega) / (1 + V)),
        Vanishing("slope of the force", sp.diff((prox - omega) / V, omega) + 1 / (1 + V)),
        *closing,
    )
    return Derivation(
        f"square loss from the general one: stationarity in {variable}",
        f"{APPENDIX}, (121)-(126)",
        *base.steps,
        step,
        results={unknown: found},
        hypotheses=base.hypotheses,
    )
