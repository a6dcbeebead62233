r"""Other normalisations of the same saddle point: the paper's psi, and the conjugates as the slides write them.

The slides carry psi = a.W Pi theta/sqrt p with |Pi theta|^2 = rho (here psi_rho), labels y ~ N(0, rho) instead of
sqrt(rho) z, and conjugates of zeta and psi that are sqrt(beta) times larger.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import PAPER, g, y0, y1, y2
from onestep.derivations.free_energy.ridge import assembled
from onestep.derivations.free_energy.stationarity import EXCHANGE, solve_linear
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, Step, Vanishing
from onestep.derivations.language.expectation import Expectation, expand_expectations
from onestep.derivations.saddle_point.equations import stationary, test_error

TO_SLIDES = {
    s.psi: s.psi_paper / sp.sqrt(s.rho),
    s.zeta_hat: s.zeta_hat_slides / sp.sqrt(s.beta),
    s.psi_hat: sp.sqrt(s.rho / s.beta) * s.psi_hat_slides,
}


def write_out_label_moments(expression: sp.Expr) -> sp.Expr:
    """Undo the shorthands y0, y1, y2: averages over kappa become averages over kappa and z."""
    teacher = g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z)

    def write_out(average: sp.Expr) -> sp.Expr:
        if not average.has(y0, y1, y2):
            return average
        integrand = average.integrand.subs({y0: teacher, y1: s.z * teacher, y2: teacher**2 + s.noise})
        return Expectation(integrand, *average.variables, s.z)

    # Linearity first: each term has at most one of the shorthands, so its average over z can be taken outside.
    return expand_expectations(expression).replace(lambda e: isinstance(e, Expectation), write_out)


@functools.cache
def in_slides_normalisation(variable: sp.Symbol) -> Derivation:
    """Stationarity of the free energy in a variable of the slides: psi_rho, zeta, or one of their conjugates."""
    base = assembled()
    phi = base.results[s.free_energy].subs(TO_SLIDES)
    partner = {
        s.zeta: s.zeta_hat_slides,
        s.psi_paper: s.psi_hat_slides,
        s.zeta_hat_slides: s.zeta,
        s.psi_hat_slides: s.psi_paper,
    }[variable]
    derivative = expand_expectations(stationary(phi, variable))
    solution = solve_linear(derivative, partner)
    written = write_out_label_moments(solution)
    step = Step(
        f"In the variables of the slides, $\\psi_\\rho = \\sqrt\\rho\\,\\psi$ and conjugates $\\sqrt\\beta$ times "
        f"larger, stationarity in "
        f"${sp.latex(variable)}$ is linear in ${sp.latex(partner)}$.",
        sp.Eq(partner, written, evaluate=False),
        (Vanishing(f"stationarity in {variable}", derivative.subs(partner, solution)),),
    )
    return Derivation(
        f"stationarity in {variable}, normalisation of the slides",
        f"{PAPER}, Section 3.3, (18)-(20)",
        (*base.steps, step),
        {partner: written},
        (*base.hypotheses, EXCHANGE),
    )


def name_again(expression: sp.Expr) -> sp.Expr:
    """The average over z inside every average over kappa and z by name, y0, y1 or y2, and psi without sqrt(rho)."""
    teacher = g(s.gamma * s.kappa + sp.sqrt(s.rho) * s.z)
    named = {teacher**2: y2 - s.noise, s.z * teacher: y1, teacher: y0}

    def inside(average: sp.Expr) -> sp.Expr:
        if s.z not in average.variables:
            return average
        return Expectation(average.integrand.subs(named), *(v for v in average.variables if v != s.z))

    linear = expand_expectations(expression.subs(s.psi_paper, sp.sqrt(s.rho) * s.psi))
    return expand_expectations(linear.replace(lambda e: isinstance(e, Expectation), inside))


@functools.cache
def test_error_of_the_paper() -> Derivation:
    """Equation (25) as an average over kappa and z, with the psi that carries sqrt(rho)."""
    base = test_error()
    result = write_out_label_moments(base.results[s.test_error]).subs(TO_SLIDES)
    step = Step(
        "The label moments written out as averages over z, and psi in the paper's normalisation.",
        sp.Eq(s.test_error, result, evaluate=False),
        (
            Vanishing(
                "in the theory's psi and the label's moments it is the error derived",
                name_again(result) - expand_expectations(base.results[s.test_error]),
            ),
        ),
    )
    return Derivation(
        "test error, as averaged over kappa and z",
        f"{PAPER}, Section 3.3, (25)",
        (*base.steps, step),
        {s.test_error: result},
        base.hypotheses,
    )
