r"""The saddle-point equations (18)-(25): the free energy differentiated in each of its thirteen variables.

No equation is typed: :func:`equation` differentiates the free energy of equation (116) for any law nu,
:func:`isotropic` the one in which the traces are those of an isotropic bulk, and both solve for the variable that the
derivative is linear in.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk.marchenko_pastur import second_moments, spike_direction
from onestep.derivations.free_energy.along_spike import (
    PAPER,
    V_of_kappa,
    denominator,
    over_kappa,
    over_modes,
    prediction,
    squared_residual,
    varpi,
    varrho,
    vartau,
)
from onestep.derivations.free_energy.ridge import assembled, entropic, trace
from onestep.derivations.free_energy.sample_energy import (
    LABEL_NOISE,
    energetic,
    label,
    local_field_mean,
    local_fields,
    name_label_moments,
)
from onestep.derivations.free_energy.stationarity import CONJUGATE, EXCHANGE, solve_linear
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.saddle_point import symbols as s

SELF_AVERAGING_ERRORS = "errors concentrate at their averages over the data as d grows"

# The two traces of an isotropic bulk as functions of the conjugates, and the ridge they contain.
T_trace = sp.Function("T", real=True)(s.V1_hat, s.V2_hat)
tau_trace = sp.Function("tau", real=True)(s.V1_hat, s.V2_hat)


def stationary(free_energy: sp.Expr, variable: sp.Symbol) -> sp.Expr:
    """The derivative of the free energy in one variable: zero at the saddle point."""
    return sp.diff(free_energy, variable)


@functools.cache
def equation(variable: sp.Symbol) -> Derivation:
    """The saddle-point equation from d Phi/d ``variable`` = 0, for any law nu."""
    base = assembled()
    derivative = stationary(base.results[s.free_energy], variable)
    unknown = CONJUGATE[variable]
    solution = solve_linear(derivative, unknown)
    linear = expand_expectations(derivative)  # the unknown outside the expectations
    step = Step(
        f"The derivative of the free energy in ${sp.latex(variable)}$ vanishes at the saddle point; it is linear "
        f"in ${sp.latex(unknown)}$.",
        eq(unknown, solution),
        Vanishing(f"stationarity in {variable}", linear.subs(unknown, solution)),
    )
    return Derivation(
        f"stationarity in {variable}",
        f"{PAPER}, Section 3.3, (18)-(24)",
        *base.steps,
        step,
        results={unknown: solution},
        hypotheses=(*base.hypotheses, EXCHANGE),
    )


@functools.cache
def isotropic_free_energy() -> Derivation:
    """The free energy for isotropic rows: only the two traces T and tau are left of the law nu."""
    general = assembled()
    signal = s.beta * s.psi_hat**2 * T_trace + s.beta * s.c * s.zeta_hat**2 * tau_trace
    entropic_term = (s.q1_hat * T_trace + s.q2_hat * tau_trace + signal) / 2
    energy = s.alpha / (2 * s.beta) * over_kappa(squared_residual / (1 + V_of_kappa))
    value = -trace().results[s.trace_term] - entropic_term + energy
    gaussian = spike_direction()
    # tau and pi independent of varrho, of mean square one.
    averages = {
        over_modes(varrho / denominator): T_trace,
        over_modes(1 / denominator): tau_trace,
        over_modes(varrho * vartau**2 / denominator): T_trace,
        over_modes(varrho * varpi**2 / denominator): T_trace,
    }
    of_traces = expand_expectations(entropic().results[s.entropic_term]).subs(averages)
    T_of_tau = sp.Symbol("tau", positive=True)
    law = gaussian.results[s.V1].subs(s.V2, T_of_tau)
    steps = (
        *general.steps,
        *gaussian.steps,
        Step(
            "For isotropic rows tau and pi are independent of varrho with mean square one: the integrals over nu "
            "become the traces T and tau, and the spike's part is s.G s = beta c tau.",
            eq(s.free_energy, value),
            Vanishing(
                "the entropic term for any law, in the traces, with T = c tau/(1 + beta c V1^ tau)",
                (of_traces - entropic_term).subs(T_trace, law).subs(tau_trace, T_of_tau),
            ),
        ),
    )
    return Derivation(
        "free energy for isotropic rows",
        f"{PAPER}, Appendix C, (116)-(117)",
        *steps,
        results={s.free_energy: value},
        hypotheses=(*general.hypotheses, *gaussian.hypotheses),
    )


def name_traces(expression: sp.Expr) -> sp.Expr:
    """T, tau and their derivatives in V1^, V2^ by name: V1, V2 and the second moments of the resolvent."""
    derivatives = {
        sp.Derivative(tau_trace, s.V2_hat): -s.resolvent_square,
        sp.Derivative(tau_trace, s.V1_hat): -s.resolvent_mixed,
        sp.Derivative(T_trace, s.V2_hat): -s.resolvent_mixed,
        sp.Derivative(T_trace, s.V1_hat): -s.resolvent_double,
    }
    return expression.subs(derivatives).subs({T_trace: s.V1, tau_trace: s.V2})


@functools.cache
def isotropic(variable: sp.Symbol) -> Derivation:
    """The saddle-point equation from the isotropic free energy, in the traces of the resolvent and their derivatives.

    ``variable`` is one of zeta^, psi^, V1^, V2^; the equations for V1 and V2 are the Marchenko-Pastur law itself, and
    those for the conjugates do not involve the bulk.
    """
    base, law = isotropic_free_energy(), second_moments()
    derivative = stationary(base.results[s.free_energy], variable)
    unknown = CONJUGATE[variable]
    solution = name_traces(solve_linear(derivative, unknown))
    linear = expand_expectations(name_traces(derivative))
    step = Step(
        f"Stationarity in ${sp.latex(variable)}$; the derivatives of the traces are minus the second moments of "
        f"the resolvent.",
        eq(unknown, solution),
        Vanishing(f"stationarity in {variable}", linear.subs(unknown, solution)),
    )
    return Derivation(
        f"stationarity in {variable} for isotropic rows",
        f"{PAPER}, Section 3.3, (18)-(24)",
        *base.steps,
        *law.steps,
        step,
        results={unknown: solution},
        hypotheses=(*base.hypotheses, EXCHANGE),
    )


@functools.cache
def test_error() -> Derivation:
    """Equations (25), (127)-(129): the error on a new input, from the joint Gaussian law of label and output."""
    gap = label() - prediction - local_field_mean()
    averaged = name_label_moments(expand_expectations(Expectation(sp.expand(gap**2), s.z, s.xi, LABEL_NOISE)))
    clean = sp.sqrt(s.noise) * LABEL_NOISE
    without = expand_expectations(Expectation(sp.expand((gap - clean) ** 2), s.z, s.xi))
    result = over_kappa(name_label_moments(without))
    steps = (
        Step(
            "A new input has the law of a training input but no thermal response: given kappa, label and output are "
            "jointly Gaussian through z and xi, and the output is mu0 m + kappa mu1 zeta + omega.",
            eq(s.local_field, local_field_mean()),
        ),
        Step(
            "The error against the noiseless label, averaged over z and xi.",
            eq(s.test_error, result),
            Vanishing(
                "it is e2 less the label noise",
                expand_expectations(result) - expand_expectations(over_kappa(squared_residual)) + s.noise,
            ),
            Vanishing("label noise adds its variance", averaged - name_label_moments(without) - s.noise),
        ),
    )
    return Derivation(
        "test error",
        f"{PAPER}, Appendix C, (127)-(129)",
        *local_fields().steps,
        *steps,
        results={s.test_error: result},
        hypotheses=(*energetic().hypotheses, SELF_AVERAGING_ERRORS),
    )


@functools.cache
def training_error() -> Derivation:
    """The training error, by the residual of the minimiser and again by differentiating in the weight of the loss."""
    h, omega, V, b = s.local_field, s.field_mean, s.V, s.residual
    weight = sp.Symbol("t", positive=True)
    weighted = (h - omega) ** 2 / (2 * V) + weight * (b - h) ** 2 / 2
    (minimiser,) = sp.solve(sp.diff(weighted, h), h)
    envelope = sp.factor(weighted.subs(h, minimiser))
    left = sp.factor((b - h).subs(h, minimiser.subs(weight, 1)))
    by_weight = sp.factor(2 * sp.diff(envelope, weight).subs(weight, 1))
    gap = label() - prediction - local_field_mean()
    fitted = left.subs(b, label() - prediction).subs(omega, local_field_mean()).subs(V, V_of_kappa)
    square = sp.expand(gap**2)
    averaged = name_label_moments(expand_expectations(Expectation(square, s.z, s.xi, LABEL_NOISE)))
    integrand = averaged * (left / (b - omega)).subs(V, V_of_kappa) ** 2
    result = over_kappa(integrand)
    steps = (
        Step(
            "On a training sample the fitted output is the minimiser, which leaves the residual (b - omega)/(1 + V).",
            eq(b - h, left),
            Vanishing("the residual of the minimiser", left * (1 + V) - (b - omega)),
        ),
        Step(
            "The envelope theorem agrees: with the loss weighted by t, twice the derivative of the envelope at t = "
            "1 is the squared residual.",
            eq(2 * sp.Symbol(r"\partial_t\mathcal{M}"), by_weight),
            Vanishing("both routes give the same squared residual", by_weight - left**2),
        ),
        Step(
            "Averaged over z, xi, label noise and kappa.",
            eq(s.training_error, result),
            Vanishing("its square is that of the gap over (1 + V)^2", fitted * (1 + V_of_kappa) - gap),
            Vanishing("averaged: e2/(1 + V)^2", integrand * (1 + V_of_kappa) ** 2 - squared_residual),
        ),
    )
    return Derivation(
        "training error",
        f"{PAPER}, Section 3.3",
        *energetic().steps,
        *steps,
        results={s.training_error: result},
        hypotheses=(*energetic().hypotheses, SELF_AVERAGING_ERRORS),
    )


@functools.cache
def ridge_response() -> Derivation:
    """d Phi/d lambda at the saddle point: half of |a|^2/p, by the envelope theorem."""
    base = assembled()
    phi = base.results[s.free_energy]
    explicit, through = sp.diff(phi, s.ridge), sp.diff(phi, s.V2_hat)
    result = explicit - through
    step = Step(
        "At the saddle point only the explicit dependence on lambda counts; lambda enters beside V2^, whose "
        "derivative also has -q2/2 and is zero.",
        eq(s.ridge_response, sp.expand(result)),
        Vanishing("lambda and V2^ enter the resolvent together", sp.expand(result) - s.q2 / 2),
    )
    return Derivation(
        "response to the ridge",
        f"{PAPER}, Appendix C, (104), (116)",
        *base.steps,
        step,
        results={s.ridge_response: sp.expand(result)},
        hypotheses=base.hypotheses,
    )


@functools.cache
def value() -> Derivation:
    """The stationary value: the minimum of (1/p)(1/2 sum (y - f)^2 + lambda/2 |a|^2), equation (104)."""
    base = isotropic_free_energy()
    phi = name_traces(base.results[s.free_energy])
    law = second_moments().results
    ridge_of_V2 = 1 / s.V2 - s.V2_hat - s.c * s.V1_hat / (1 + s.beta * s.c * s.V1_hat * s.V2)
    empirical = s.alpha / s.beta * over_kappa(squared_residual / (1 + V_of_kappa) ** 2)
    energy = s.alpha / s.beta * over_kappa(squared_residual / (1 + V_of_kappa))
    split = squared_residual * (1 / (1 + V_of_kappa) - (1 + V_of_kappa) / (1 + V_of_kappa) ** 2)
    on_shell = {
        s.zeta: isotropic(s.zeta_hat).results[s.zeta],
        s.psi: isotropic(s.psi_hat).results[s.psi],
        s.q1: isotropic(s.V1_hat).results[s.q1],
        s.q2: isotropic(s.V2_hat).results[s.q2],
    }
    force = s.q1_hat * s.V1 + s.q2_hat * s.V2
    no_energy = (
        -trace().results[s.trace_term]
        - (s.q1_hat * s.V1 + s.q2_hat * s.V2 + s.beta * s.psi_hat**2 * s.V1 + s.beta * s.c * s.zeta_hat**2 * s.V2) / 2
    )
    balance = 2 * no_energy + force - s.ridge * s.q2
    result = (empirical + s.ridge * s.q2) / 2
    steps = (
        *base.steps,
        Step(
            "1/(1+V) = 1/(1+V)^2 + V/(1+V)^2: the energetic term is half the training error plus half of q1^ V1 + "
            "q2^ V2.",
            eq(energy, empirical + force),
            Vanishing("the split of the integrand", split),
        ),
        Step(
            "At the saddle point the rest of the free energy is half of lambda q2 - q1^ V1 - q2^ V2, by (1/p) tr[K "
            "S^-1] = (1/p) tr[S S^-1 K S^-1].",
            eq(2 * no_energy, s.ridge * s.q2 - force),
            Vanishing("balance of the rest", balance.subs(on_shell).subs(law).subs(s.ridge, ridge_of_V2)),
        ),
        Step(
            "So the free energy is the training objective per neuron: half of (alpha/beta) times the training "
            "error plus lambda |a|^2/p.",
            eq(s.free_energy, result),
            Vanishing("the energetic term enters with its own sign", sp.diff(phi, s.alpha) * s.alpha - energy / 2),
        ),
    )
    return Derivation(
        "value of the free energy",
        f"{PAPER}, Appendix C, (104)",
        *steps,
        results={s.free_energy: result},
        hypotheses=base.hypotheses,
    )
