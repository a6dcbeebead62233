"""The thirteen variables that the free energy is stationary in, and which of them each derivative determines."""

from __future__ import annotations

import sympy as sp

from onestep.derivations.free_energy.leaves import STATIONARY
from onestep.derivations.kernel.algebra import assume
from onestep.derivations.kernel.statements import Assumption, Equation, Ground, sides
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language import symbols as s
from onestep.derivations.language.expectation import expand_expectations
from onestep.derivations.language.named_functions import PARTIALS

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
SAME_ON_BOTH_MAPS = "result-3-2.same-test-error"


def hypothesis(name: str, statement: Equation, reference: str, *universal: sp.Symbol) -> Theorem:
    """What is taken on trust: ``reference`` is the claim that carries it, or the sentence in which it is made."""
    return assume((), Assumption(Ground.HYPOTHESIS, name, statement, reference, frozenset(universal)))


def vanishing_slope(energy: Theorem, variable: sp.Symbol) -> Theorem:
    """The hypothesis that a free energy, a function of its variables, is stationary in one of them."""
    call, _ = sides(energy.statement)
    partial = PARTIALS[call.func][call.args.index(variable)]
    return hypothesis(f"stationarity in {variable}", Equation(partial(*call.args), sp.Integer(0)), STATIONARY)


def solve_linear(derivative: sp.Expr, unknown: sp.Symbol) -> sp.Expr:
    """The value of ``unknown`` at which ``derivative`` vanishes. Raises ValueError if it is not linear in it."""
    derivative = sp.expand(expand_expectations(derivative))
    slope = sp.diff(derivative, unknown)
    constant = derivative.subs(unknown, 0)
    if slope == 0 or slope.has(unknown):
        raise ValueError(f"the stationarity condition is not linear in {unknown}")
    return -constant / slope
