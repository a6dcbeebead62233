r"""Equations (18)-(24) and (115) for one given bulk: forms and traces of its resolvent, mode by mode.

With W = sum_i l_i e_i f_i^T, varrho_i = l_i^2, tau_i = sqrt d f_i.v, pi_i = sqrt d f_i.theta_perp and weights 1/p,
every form is beta times, and every trace once, an integral over the law of (varrho, tau, pi).
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy.along_spike import PAPER, denominator, over_modes, varpi, varrho, vartau
from giantsteps.derivations.free_energy.assumptions import operation_is, updated_form
from giantsteps.derivations.free_energy.ridge import spike_inversion, spike_part
from giantsteps.derivations.free_energy.stationarity import CONJUGATE
from giantsteps.derivations.gradient_step.assumptions import WIDTH
from giantsteps.derivations.gradient_step.spike import counted
from giantsteps.derivations.kernel.algebra import rewrite
from giantsteps.derivations.kernel.search.assumptions import define, proved, proved_in_turn
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import equal, in_order, rewritten, value
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.named_functions import repeated
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.equations import at_saddle, equation

SECTION = f"{PAPER}, Section 3.3"


def component(projection: sp.Expr) -> sp.Expr:
    """The component l f.x of W x along a left singular vector, for projection = sqrt(d) f.x and l^2 = varrho."""
    return sp.sqrt(varrho) * projection / sp.sqrt(s.d)


def over_all_modes(integrand: sp.Expr) -> sp.Expr:
    """The sum over the p modes of the bulk, which all have the law nu."""
    return repeated(s.p, over_modes(integrand))


def without_spike(form: sp.Expr, along: sp.Expr) -> sp.Expr:
    """x.G s in terms of x.G0 s and of s.G0 s, where G^-1 = G0^-1 - V1^ s s^T."""
    return updated_form(form, form, along, along, -s.V1_hat)


def in_modes(call: sp.Expr) -> Theorem:
    """x.G s = x.G0 s/(1 - V1^ s.G0 s)."""
    form, _, along, *_ = call.args
    return equal(operation_is(call), form / (1 - s.V1_hat * along))


def _summed(theorem: Theorem) -> Theorem:
    """``theorem`` with its sum over modes counted, at p = beta d, and forms with G by those with G0."""
    theorem = counted(theorem)
    for call in in_order(value(theorem), updated_form):
        theorem = rewrite((theorem, in_modes(call)))
    return averages_expanded(rewritten(theorem, WIDTH), s.mode)


@functools.cache
def spike_integral() -> Derivation:
    """Equation (115): (Wv).G0 Wv = beta I, mode by mode."""
    form = define(s.spike_resolvent, over_all_modes(component(vartau) ** 2 / denominator), "(Wv).G0 Wv mode by mode")
    name = define(s.spike_integral, over_modes(varrho * vartau**2 / denominator), "int dnu varrho tau^2/S")
    summed = _summed(form)
    result = rewrite((summed, averages_expanded(name, s.mode)), True)
    return Derivation(
        "the spike in the basis of the bulk",
        f"{PAPER}, Appendix C, (115)",
        proved(
            "In the basis of the left singular vectors Wv has the components l f.v, and G0 the eigenvalues 1/S, with "
            "tau = sqrt(d) f.v and varrho = l^2.",
            form,
        ),
        proved("All p = beta d modes have the law nu.", summed),
        proved("The integral over the law.", name),
        proved("So the form is beta times the integral.", result),
    )


def forms() -> tuple[tuple[sp.Symbol, sp.Expr, str], ...]:
    """What forms and traces of one bulk mean, in the basis of its left singular vectors."""
    S, x = denominator, s.spike_resolvent
    target = component(varpi)
    along = without_spike(component(vartau) / S, x)  # the components of G s
    traces = {
        s.trace_bulk: varrho / S,
        s.trace_one: 1 / S,
        s.resolvent_square: 1 / S**2,
        s.resolvent_mixed: varrho / S**2,
        s.resolvent_double: (varrho / S) ** 2,
    }
    of_target = {
        s.target_resolvent: target**2 / S,
        s.target_square_resolvent: (target / S) ** 2,
        s.target_bulk_resolvent: varrho * (target / S) ** 2,
    }
    return (
        *((name, over_all_modes(f) / s.p, "a normalised trace over the modes") for name, f in traces.items()),
        *((name, over_all_modes(f), "a form of W theta_perp, mode by mode") for name, f in of_target.items()),
        (s.spike_square_resolvent, over_all_modes(along**2), "the squares of the components of G Wv"),
        (
            s.spike_bulk_resolvent,
            over_all_modes(varrho * along**2) - s.spike_resolvent_bulk**2,
            "G Wv between W W^T, less what it has along Wv",
        ),
    )


@functools.cache
def finite_bulk() -> Derivation:
    """zeta, psi, q1, q2, V1, V2 of the saddle point, and the forms and traces of one bulk, as the same integrals."""
    x, *_ = spike_part()
    inverted = spike_inversion().theorem_of(s.spike_resolvent_bulk)
    variables = (s.q1_hat, s.q2_hat, s.zeta_hat, s.psi_hat, s.V1_hat, s.V2_hat)
    saddle = {CONJUGATE[variable]: at_saddle(variable) for variable in variables}
    form = rewritten(inverted, x)
    meanings = {name: define(name, meaning, what) for name, meaning, what in forms()}
    known = {name: rewritten(_summed(rewritten(meaning, form)), x) for name, meaning in meanings.items()}
    known[s.spike_resolvent_bulk] = form
    of_saddle = tuple(step for variable in variables for step in equation(variable).steps[-3:])
    return Derivation(
        "one bulk in its own basis",
        f"{SECTION}, (18)-(24)",
        proved("The spike's form with the resolvent of the whole bulk.", x),
        proved("G s = G0 s/(1 - V1^ s.G0 s): forms with G are those with G0 over powers of one factor.", form),
        *proved_in_turn(
            ("Mode by mode.", meanings.values()),
            ("As an integral over the law; G by Sherman-Morrison.", [known[name] for name in meanings]),
        ),
        *of_saddle,
        results=(saddle | known).values(),
        hypotheses=equation(s.V1_hat).hypotheses,
    )
