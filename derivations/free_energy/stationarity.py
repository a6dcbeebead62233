"""Stationarity of the free energy: conjugate variables, and equations linear in them."""

from __future__ import annotations

import sympy as sp

from onestep.derivations.language import symbols as s
from onestep.derivations.language.expectation import expand_expectations

# Differentiating in the first gives the equation for the second.
CONJUGATE: dict[sp.Symbol, sp.Symbol] = {
    s.m: s.m,
    s.zeta: s.zeta_hat,
    s.psi: s.psi_hat,
    s.q1: s.V1_hat,
    s.q2: s.V2_hat,
    s.V1: s.q1_hat,
    s.V2: s.q2_hat,
    s.zeta_hat: s.zeta,
    s.psi_hat: s.psi,
    s.q1_hat: s.V1,
    s.q2_hat: s.V2,
    s.V1_hat: s.q1,
    s.V2_hat: s.q2,
}


EXCHANGE = "differentiation under the expectation over kappa and under the integral over nu"


def solve_linear(derivative: sp.Expr, unknown: sp.Symbol) -> sp.Expr:
    """The value of ``unknown`` at which ``derivative`` vanishes. Raises ValueError if it is not linear in it."""
    derivative = sp.expand(expand_expectations(derivative))
    slope = sp.diff(derivative, unknown)
    constant = derivative.subs(unknown, 0)
    if slope == 0 or slope.has(unknown):
        raise ValueError(f"the stationarity condition is not linear in {unknown}")
    return -constant / slope
