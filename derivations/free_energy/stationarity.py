"""The thirteen variables that the free energy is stationary in, and which of them each derivative determines."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass

import sympy as sp

from giantsteps.derivations.free_energy.assumptions import STATIONARY, saddle_point
from giantsteps.derivations.kernel.algebra import rewrite
from giantsteps.derivations.kernel.calculus import slope
from giantsteps.derivations.kernel.search.assumptions import hypothesis, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import isolated
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import expand_expectations
from giantsteps.derivations.language.named_functions import PARTIALS

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
BALANCE = (
    "a readout that is uniform on a group costs O(1/p), so that the force along its constant vector vanishes: it would "
    "make m of order sqrt p"
)
SAME_ON_BOTH_MAPS = "result-3-2.same-test-error"


def vanishing_slope(energy: Theorem, variable: sp.Symbol) -> Theorem:
    """The hypothesis that a free energy, a function of its variables, is stationary in one of them."""
    call, _ = sides(energy.statement)
    partial = PARTIALS[call.func][call.args.index(variable)]
    return hypothesis(f"stationarity in {variable}", Equation(partial(*call.args), sp.Integer(0)), STATIONARY)


@dataclass(frozen=True)
class Energy:
    """What a saddle point is stationary in: the derivation of it, its symbol, how it is written, what it is called."""

    derivation: Callable[[], Derivation]
    symbol: sp.Symbol
    glyph: str
    says: str

    def partial(self, variable: sp.Symbol) -> Theorem:
        """The derivative in one variable under a name of its own, averages over kappa and modes written out."""
        theorem = self.derivation().theorem_of(self.symbol)
        return derivative(theorem, variable, self.glyph, self.says)

    def vanishing(self, variable: sp.Symbol) -> Theorem:
        """The hypothesis that it is stationary in a variable."""
        return at_rest(self.partial(variable))

    def solved(self, variable: sp.Symbol, unknown: sp.Symbol) -> Theorem:
        """``unknown`` = what it is where the energy is stationary in ``variable``."""
        return isolated(unknown, rewrite((self.vanishing(variable), self.partial(variable))))

    def equation(self, variable: sp.Symbol, unknown: sp.Symbol, title: str, source: str) -> Derivation:
        """The saddle-point equation of a variable, step by step."""
        base, solution = self.derivation(), self.solved(variable, unknown)
        return Derivation(
            title,
            source,
            *base.steps,
            proved(f"Its derivative in ${sp.latex(variable)}$.", self.partial(variable)),
            proved("It vanishes at the saddle point.", self.vanishing(variable)),
            proved(f"It is linear in ${sp.latex(unknown)}$.", solution),
            hypotheses=(*base.hypotheses, EXCHANGE),
        )


@functools.cache  # by the theorem itself: made anew, it has derivatives of its own
def derivative(energy: Theorem, variable: sp.Symbol, glyph: str = r"\Phi", says: str = "free energy") -> Theorem:
    """The derivative of an energy in one variable by a name of its own, averages over kappa and modes written out."""
    name = sp.Symbol(rf"\partial_{{{variable.name}}}{glyph}", real=True)
    rate = slope((energy,), variable, name, f"the derivative of the {says} in {variable.name}")
    return averages_expanded(rate, s.kappa, s.mode)


def at_rest(rate: Theorem) -> Theorem:
    """The hypothesis that a derivative is zero at the saddle point."""
    return saddle_point(sides(rate.statement)[0])


def solve_linear(derivative: sp.Expr, unknown: sp.Symbol) -> sp.Expr:
    """The value of ``unknown`` at which ``derivative`` vanishes. Raises ValueError if it is not linear in it."""
    derivative = sp.expand(expand_expectations(derivative))
    rate = sp.diff(derivative, unknown)
    constant = derivative.subs(unknown, 0)
    if rate == 0 or rate.has(unknown):
        raise ValueError(f"the stationarity condition is not linear in {unknown}")
    return -constant / rate
