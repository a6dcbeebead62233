"""The free energy as a function of its thirteen variables, and what its stationarity makes of them.

Which hypotheses it stands on is said here, one by one: the Gaussian equivalence, replica symmetry, each term that is
dropped, and that the order parameters are where it is stationary. The terms that are kept are results of this chapter.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy.along_spike import over_kappa
from onestep.derivations.free_energy.ridge import entropic, trace
from onestep.derivations.free_energy.sample_energy import REPLICA_HYPOTHESES, energetic
from onestep.derivations.kernel.algebra import assume, differentiate
from onestep.derivations.kernel.search import averages_expanded, rewritten
from onestep.derivations.kernel.statements import Assumption, Equation, Ground, sides
from onestep.derivations.kernel.theorem import Theorem
from onestep.derivations.language import symbols as s
from onestep.derivations.language.expectation import expand_expectations
from onestep.derivations.language.named_functions import PARTIALS, action

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
STATIONARY = "the order parameters of the readout are where its free energy is stationary"

_VARIABLES = (*CONJUGATE, s.ridge)
# The same of the equivalent features, the terms that are kept of it, and those that are dropped, with their claims.
_equivalent, _trace, _entropic, _energy = (
    sp.Function(name, real=True)(*_VARIABLES) for name in ("Phi_G", "Psi_t", "Psi_w", "Psi_y")
)
_DROPPED = {
    sp.Function(f"Psi_{name}", real=True)(*_VARIABLES): f"dropped.{claim}"
    for name, claim in (
        ("1s", "cross-term"), ("m", "m-hat"), ("theta", "target-at-spike"), ("xi", "noise-at-spike")
    )
}  # fmt: skip


def hypothesis(name: str, statement: Equation, reference: str, *universal: sp.Symbol) -> Theorem:
    """What is taken on trust: ``reference`` is the claim that carries it, or the sentence in which it is made."""
    return assume((), Assumption(Ground.HYPOTHESIS, name, statement, reference, frozenset(universal)))


@functools.cache
def free_energy() -> Theorem:
    """Phi(m, zeta, psi, q, V and their conjugates) = minus trace and entropic term plus energy, for any law nu."""
    everywhere = functools.partial(_of_all, _VARIABLES)
    kept = _energy - _trace - _entropic
    terms = {
        _trace: ("trace term", trace().results[s.trace_term], "result-3-3.trace-term"),
        _entropic: ("entropic term", entropic().results[s.entropic_term], "result-3-3.entropic-term"),
        _energy: (
            "energetic term",
            s.alpha / s.beta * over_kappa(energetic().results[s.moreau]),
            "result-3-3.energetic-term",
        ),
    }
    return rewritten(
        everywhere("Result 3.2", action(*_VARIABLES), _equivalent, SAME_ON_BOTH_MAPS),
        everywhere("replica symmetry", _equivalent, sp.Add(kept, *_DROPPED), "; ".join(REPLICA_HYPOTHESES)),
        *(everywhere(claim, term, sp.Integer(0), claim) for term, claim in _DROPPED.items()),
        *(everywhere(name, term, result, claim) for term, (name, result, claim) in terms.items()),
    )


def _of_all(variables: tuple[sp.Symbol, ...], name: str, left: sp.Expr, right: sp.Expr, reference: str) -> Theorem:
    return hypothesis(name, Equation(left, right), reference, *variables)


def slope(energy: Theorem, variable: sp.Symbol) -> Theorem:
    """The partial derivative of a free energy in one variable, averages expanded."""
    return averages_expanded(differentiate((energy,), variable), s.kappa, s.mode)


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
