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

from onestep.derivations.free_energy import symbols as s
from onestep.derivations.free_energy.along_spike import PAPER, V_of_kappa, g, over_kappa, prediction
from onestep.derivations.free_energy.ridge import assembled, entropic, trace
from onestep.derivations.free_energy.sample_energy import (
    LABEL_NOISE,
    REPLICA_HYPOTHESES,
    local_field_mean,
    local_fields,
    name_label_moments,
)
from onestep.derivations.free_energy.stationarity import CONJUGATE, EXCHANGE, solve_linear
from onestep.derivations.language.derivation import Derivation, NonNegative, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations

APPENDIX = f"{PAPER}, Appendix C"
LAPLACE = "Laplace's method for the integral over a local field: the loss is convex and smooth"

envelope_of = sp.Function("envelope", real=True)
force_of = sp.Function("force", real=True)
force_slope_of = sp.Function("force_slope", real=True)

label = g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z)
centre = prediction + local_field_mean()  # mean output at given kappa, z and xi
AT = (label, centre, V_of_kappa)


def over_samples(integrand: sp.Expr) -> sp.Expr:
    """E over kappa, the label's z and the output's xi."""
    return Expectation(integrand, s.kappa, s.z, s.xi)


def along(objective: sp.Expr, minimiser: sp.Symbol, slope: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """Chain rule for the value at a minimiser that moves at a rate dh/dx: explicit change plus slope times rate."""
    rate = sp.Symbol(rf"\partial_{{{sp.latex(variable)}}}h", real=True)
    return sp.diff(objective, variable) + (sp.diff(objective, minimiser) + slope) * rate


@functools.cache
def envelope() -> Derivation:
    """Equations (101), (118): derivatives of the Moreau envelope, by the envelope theorem."""
    omega, V, h = s.field_mean, s.V, s.prox
    quadratic = (h - omega) ** 2 / (2 * V)  # the objective less the loss, whose slope is l'
    force = (h - omega) / V
    stationary = {s.loss_slope: -force}
    raw_centre, raw_variance = along(quadratic, h, s.loss_slope, omega), along(quadratic, h, s.loss_slope, V)
    in_centre, in_variance = sp.expand(raw_centre.subs(stationary)), sp.expand(raw_variance.subs(stationary))
    # Stationarity h - omega + V l'(h) = 0 differentiated: h' (1 + V l'') = 1.
    prox_slope = 1 / (1 + V * s.loss_curvature)
    force_slope = -s.loss_curvature * prox_slope
    steps = (
        Step(
            "The proximal point h_omega minimises (h - omega)^2/(2V) + l(h): (h - omega)/V + l'(h) = 0. The force on "
            "the field is f = (h_omega - omega)/V.",
            eq(s.loss_slope, -force),
            Vanishing("slope of the objective", (sp.diff(quadratic, h) + s.loss_slope).subs(stationary)),
        ),
        Step(
            "By the chain rule the envelope changes through omega itself and through the proximal point; the second "
            "part has the slope of the objective as a factor and drops out: -f in omega.",
            eq(s.moreau_slope, in_centre),
            Vanishing("what is left is minus the force", in_centre + force),
        ),
        Step(
            "In V it is -f^2/2: half of a Hamilton-Jacobi equation, dM/dV = -(dM/domega)^2/2.",
            eq(s.moreau_response, in_variance),
            Vanishing("what is left is minus half of the squared force", in_variance + force**2 / 2),
            Vanishing("Hamilton-Jacobi", in_variance + in_centre**2 / 2),
        ),
        Step(
            "Stationarity differentiated in omega: h' (1 + V l'') = 1, so f' = (h' - 1)/V lies between -1/V and 0.",
            eq(s.force_slope, force_slope),
            Vanishing("implicit differentiation", prox_slope * (1 + V * s.loss_curvature) - 1),
            Vanishing("slope of the force", force_slope - (prox_slope - 1) / V),
            NonNegative("-f' >= 0", -force_slope, ((s.loss_curvature / (1 + V * s.loss_curvature), sp.S.One),)),
        ),
    )
    return Derivation(
        "Moreau envelope of a convex loss",
        f"{APPENDIX}, (101), (118)",
        *steps,
        results={
            s.moreau_slope: in_centre,
            s.moreau_response: in_variance,
            s.force_slope: force_slope,
            s.loss_slope: -force,
        },
        hypotheses=("the loss is convex and twice differentiable in the output",),
    )


@functools.cache
def regulariser() -> Derivation:
    """Equations (96)-(97): the envelope of a convex regulariser, and the readout as its slope in the force."""
    J, a, S = s.mode_signal, s.minimum_point, s.V2_hat
    penalty_slope = sp.Symbol(r"\lambda\mathsf{r}'", real=True)
    quadratic = S * a**2 / 2 - J * a
    result = sp.expand(along(quadratic, a, penalty_slope, J).subs(penalty_slope, J - S * a))
    step = Step(
        "At the minimum lambda r'(a) + S a = J, so by the chain rule the envelope changes with J as its explicit "
        "term does.",
        eq(s.penalty_slope, result),
        Vanishing("what is left is minus the minimiser", result + a),
    )
    return Derivation(
        "envelope of a regulariser",
        f"{APPENDIX}, (96)-(97)",
        step,
        results={s.penalty_slope: result},
        hypotheses=("the regulariser is convex and differentiable",),
    )


@functools.cache
def energetic() -> Derivation:
    """Equation (100): per neuron, alpha/beta samples each cost the envelope of the loss."""
    result = -s.alpha / s.beta * over_samples(envelope_of(*AT))
    steps = (
        *local_fields().steps,
        Step(
            "Given the common part omega of the fields the replicas are independent: one integral over a field of "
            "variance V/B to the power R, which at R = 0 leaves its logarithm, and at B -> infinity minus B times the "
            "envelope.",
            eq(s.moreau, envelope_of(*AT)),
        ),
        *envelope().steps,
        Step(
            "There are n = (alpha/beta) p samples.",
            eq(s.energetic_term, result),
            Vanishing("samples per neuron", (s.alpha * s.d) / (s.beta * s.d) - s.alpha / s.beta),
        ),
    )  # fmt: skip
    return Derivation(
        "energetic term of a convex loss",
        f"{APPENDIX}, (100)",
        *steps,
        results={s.energetic_term: result},
        hypotheses=(*REPLICA_HYPOTHESES, LAPLACE),
    )


@functools.cache
def free_energy() -> Derivation:
    """Equation (106): the free energy of a convex loss with a ridge penalty."""
    value = -trace().results[s.trace_term] - entropic().results[s.entropic_term]
    value -= energetic().results[s.energetic_term]
    square_value = assembled().results[s.free_energy]
    steps = (
        *trace().steps,
        *entropic().steps,
        *energetic().steps,
        Step(
            "Minus the three terms; m^ is of order p^(-1/2) and is left out, equation (105).",
            eq(s.free_energy, value),
            Vanishing("at the square loss it is equation (116)", at_square_loss(value) - square_value),
        ),
    )
    hypotheses = dict.fromkeys((*entropic().hypotheses, *energetic().hypotheses))
    return Derivation(
        "free energy of a convex loss",
        f"{APPENDIX}, (106)",
        *steps,
        results={s.free_energy: value},
        hypotheses=tuple(hypotheses),
    )


def envelope_derivative(variable: sp.Symbol) -> sp.Expr:
    """d/dvariable of E[M]: the chain rule with dM/domega = -f, dM/dV = -f^2/2, and Stein's lemma in xi."""
    force, slope = force_of(*AT), force_slope_of(*AT)
    moved, wider = sp.diff(centre, variable), sp.diff(V_of_kappa, variable)
    with_xi = sp.diff(moved, s.xi)  # moved = without_xi + with_xi xi
    without_xi = sp.expand(moved - with_xi * s.xi)
    by_parts = stein_in_xi(with_xi, slope)
    return over_samples(sp.expand(-force * without_xi - by_parts - force**2 / 2 * wider))


def stein_in_xi(coefficient: sp.Expr, slope: sp.Expr) -> sp.Expr:
    """What E[coefficient xi f] becomes: coefficient (d centre/dxi) f'."""
    return sp.expand(coefficient * sp.diff(centre, s.xi)) * slope


def _stein_on_powers(variable: sp.Symbol) -> tuple[Vanishing, ...]:
    """The chain rule and Stein's lemma once more, on forces that are powers of the output: moments only."""
    moved = sp.diff(centre, variable)
    with_xi = sp.diff(moved, s.xi)
    checks = []
    for k in (1, 2, 3):
        raw = Expectation(sp.expand(centre**k * moved), s.z, s.xi)
        parts = centre**k * sp.expand(moved - with_xi * s.xi) + stein_in_xi(with_xi, k * centre ** (k - 1))
        by_parts = Expectation(sp.expand(parts), s.z, s.xi)
        checks.append(
            Vanishing(
                f"Stein's lemma on a force of degree {k}", expand_expectations(raw) - expand_expectations(by_parts)
            )
        )
    return tuple(checks)


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """Equations (119)-(120): stationarity of (106) in one variable, for any convex loss."""
    base = free_energy()
    explicit = -trace().results[s.trace_term] - entropic().results[s.entropic_term]
    closing: tuple[Vanishing, ...] = ()
    average = envelope_derivative(variable) if centre.has(variable) or V_of_kappa.has(variable) else sp.S.Zero
    derivative = sp.diff(explicit, variable) + s.alpha / s.beta * average
    if variable == s.m:
        unknown, solution = s.m_response, derivative
    else:
        unknown = CONJUGATE[variable]
        solution = solve_linear(derivative, unknown)
        closing = (Vanishing(f"stationarity in {variable}", expand_expectations(derivative).subs(unknown, solution)),)
    checks = _stein_on_powers(variable) if centre.has(variable) else ()
    step = Step(
        f"The derivative of the free energy in ${sp.latex(variable)}$; terms with xi are integrated by parts.",
        eq(unknown, solution),
        *checks,
        *closing,
    )
    return Derivation(
        f"convex loss: stationarity in {variable}",
        f"{APPENDIX}, (118)-(120)",
        *base.steps,
        step,
        results={unknown: solution},
        hypotheses=(*base.hypotheses, EXCHANGE),
    )


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
        return over_kappa(name_label_moments(averaged))

    return sp.expand(expression).replace(
        lambda e: isinstance(e, Expectation) and e.has(envelope_of, force_of, force_slope_of), average
    )


@functools.cache
def square_loss(variable: sp.Symbol) -> Derivation:
    """Equations (121)-(126): the general equations at the square loss, noise of the labels included."""
    base = equation(variable)
    ((unknown, general),) = base.results.items()
    value = at_square_loss(general)
    V, omega, y, h = s.V, s.field_mean, s.residual, s.local_field
    prox = (omega + V * y) / (1 + V)
    closing: tuple[Vanishing, ...] = ()
    if variable == s.m:
        # -(alpha/beta) E[mu0 (y0 - mu0 m - kappa mu1 zeta)/(1+V)] = 0 is linear in m.
        linear = expand_expectations(value)
        unknown, value = s.m, solve_linear(linear, s.m)
        closing = (Vanishing("the response vanishes at m", linear.subs(s.m, value)),)
    step = Step(
        "The square loss has the proximal point (omega + V y)/(1 + V), the force (y - omega)/(1 + V) and its slope "
        "-1/(1 + V); averages over z, xi and the label noise leave the moments of the label.",
        eq(unknown, value),
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
        results={unknown: value},
        hypotheses=base.hypotheses,
    )
