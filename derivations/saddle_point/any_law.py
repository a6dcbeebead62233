r"""Equations (18)-(24) and (115) for one given bulk: forms and traces of its resolvent, mode by mode.

With W = sum_i l_i e_i f_i^T, varrho_i = l_i^2, tau_i = sqrt d f_i.v, pi_i = sqrt d f_i.theta_perp and weights 1/p,
every form is beta times, and every trace once, an integral over the law of (varrho, tau, pi).
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.bulk.marchenko_pastur import spike_direction
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
from onestep.derivations.free_energy.ridge import assembled, entropic, sherman_morrison, trace
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq
from onestep.derivations.language.expectation import expand_expectations
from onestep.derivations.saddle_point import equations as saddle_point
from onestep.derivations.saddle_point import symbols as s
from onestep.derivations.saddle_point.equations import T_trace, tau_trace

SECTION = f"{PAPER}, Section 3.3"


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
            "become the "
            "traces T and tau, and the spike's part is s.G s = beta c tau.",
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


def mode_form(singular: sp.Expr, projection: sp.Expr, curvature: sp.Expr) -> sp.Expr:
    """What one mode gives to (W x).(...)^-1 W x: (l f.x)^2 over its eigenvalue."""
    return singular**2 * projection**2 / curvature


@functools.cache
def spike_integral() -> Derivation:
    """Equation (115): (Wv).G0 Wv = beta I, mode by mode."""
    l_i, f_v, S = sp.symbols("l_i f_v S_i", positive=True)
    tau, rho = sp.sqrt(s.d) * f_v, l_i**2
    per_mode = mode_form(l_i, f_v, S)
    weighted = s.p / s.d * (rho * tau**2 / S) / s.p  # beta times one mode of weight 1/p
    step = Step(
        "In the basis of the left singular vectors Wv has the components l f.v, and G0 the eigenvalues 1/S; with "
        "tau = sqrt(d) f.v and weight 1/p a mode gives beta varrho tau^2/(p S).",
        eq(s.spike_resolvent, s.beta * s.spike_integral),
        Vanishing("one mode", per_mode - weighted),
    )
    return Derivation(
        "the spike in the basis of the bulk",
        f"{PAPER}, Appendix C, (115)",
        step,
        results={s.spike_resolvent: s.beta * s.spike_integral},
    )


# Forms and traces of G0 = (lambda + V1^ W W^T + V2^)^-1: powers of W W^T and of G0, and the vector, if there is one.
_POWERS = {
    s.trace_bulk: (1, 1, ""),
    s.trace_one: (0, 1, ""),
    s.resolvent_square: (0, 2, ""),
    s.resolvent_mixed: (1, 2, ""),
    s.resolvent_double: (2, 2, ""),
    s.target_resolvent: (0, 1, "theta_perp"),
    s.target_square_resolvent: (0, 2, "theta_perp"),
    s.target_bulk_resolvent: (1, 2, "theta_perp"),
    s.spike_square_resolvent: (0, 2, "v"),
    s.spike_bulk_resolvent: (1, 2, "v"),
}


def mode_by_mode(form: sp.Basic) -> tuple[Vanishing, ...]:
    """What one mode gives to a form or trace with G0, and to the integral over the law, where weights are 1/p."""
    if form not in _POWERS:
        return ()
    power, resolvents, vector = _POWERS[form]
    l_i, f, S = sp.symbols("l_i f_i S_i", positive=True)
    rho, projection = l_i**2, sp.sqrt(s.d) * f
    if not vector:
        matrix, law = rho**power / S**resolvents / s.p, rho**power / S**resolvents
    else:
        matrix = mode_form(l_i, f, S) * rho**power / S ** (resolvents - 1)
        law = s.p / s.d * rho ** (power + 1) * projection**2 / S**resolvents
    return (Vanishing("one mode with G0", matrix - law / s.p),)


@functools.cache
def finite_bulk() -> Derivation:
    """zeta, psi, q1, q2, V1, V2 of the saddle point, and the forms and traces of one bulk, as the same integrals."""
    S, I_nu = denominator, over_modes(varrho * vartau**2 / denominator)
    x = s.beta * I_nu
    gain = 1 / (1 - s.V1_hat * x)
    bulk_square = s.beta * over_modes(varrho**2 * vartau**2 / S**2)  # s.G0 W W^T G0 s
    forms = {
        s.trace_bulk: over_modes(varrho / S),
        s.trace_one: over_modes(1 / S),
        s.resolvent_square: over_modes(1 / S**2),
        s.resolvent_mixed: over_modes(varrho / S**2),
        s.resolvent_double: over_modes(varrho**2 / S**2),
        s.spike_resolvent_bulk: sherman_morrison(x),
        s.target_resolvent: s.beta * over_modes(varrho * varpi**2 / S),
        s.target_square_resolvent: s.beta * over_modes(varrho * varpi**2 / S**2),
        s.target_bulk_resolvent: s.beta * over_modes(varrho**2 * varpi**2 / S**2),
        s.spike_square_resolvent: s.beta * over_modes(varrho * vartau**2 / S**2) * gain**2,
        s.spike_bulk_resolvent: bulk_square * gain**2 - (x * gain) ** 2,
    }
    equations = [
        saddle_point.equation(name) for name in (s.q1_hat, s.q2_hat, s.zeta_hat, s.psi_hat, s.V1_hat, s.V2_hat)
    ]
    saddle = {k: v for equation in equations for k, v in equation.results.items()}
    g, t = sp.symbols("x t", positive=True)
    steps = (
        *spike_integral().steps,
        Step(
            "G s = G0 s/(1 - V1^ s.G0 s): the spike's forms with G are those with G0 over powers of one factor.",
            eq(s.spike_resolvent_bulk, sherman_morrison(x)),
            Vanishing("G s along G0 s", sherman_morrison(g) / g - 1 / (1 - s.V1_hat * g)),
                Vanishing(
                    "(Wv).G W Pi W^T G Wv, Pi = 1 - v v^T",
                    (t - g**2) / (1 - s.V1_hat * g) ** 2
                    - (t / (1 - s.V1_hat * g) ** 2 - (g / (1 - s.V1_hat * g)) ** 2),
                ),
        ),
        *(Step("As an integral over the law.", eq(k, v), *mode_by_mode(k)) for k, v in forms.items()),
        *(step for equation in equations for step in equation.steps[-1:]),
    )  # fmt: skip
    return Derivation(
        "one bulk in its own basis",
        f"{SECTION}, (18)-(24)",
        *steps,
        results={**saddle, **forms},
        hypotheses=saddle_point.equation(s.V1_hat).hypotheses,
    )
