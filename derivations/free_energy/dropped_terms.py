r"""The conjugate of m: equation (105) of Appendix C, before it is dropped.

The trace term has -m^ m/sqrt p and the entropic term (1/2p) m^^2 1.G 1: the constant vector has length sqrt p, but the
free energy per neuron divides by p.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.free_energy import symbols as s
from onestep.derivations.free_energy.along_spike import PAPER
from onestep.derivations.language.derivation import Derivation, RationalLimit, Step, Vanishing, eq


def terms_with_m_hat() -> sp.Expr:
    """What the free energy has of m^: minus trace term minus entropic term."""
    return s.m_hat * s.m / sp.sqrt(s.p) - s.m_hat**2 * s.ones_resolvent / 2


@functools.cache
def m_hat() -> Derivation:
    """m^ = sqrt(p) m/(1.G 1): of order p^(-1/2), since 1.G 1 is of order p."""
    terms = terms_with_m_hat()
    (solution,) = sp.solve(sp.diff(terms, s.m_hat), s.m_hat)
    root = sp.Symbol("sqrt(p)", positive=True)
    value = terms.subs(s.m_hat, solution).subs(sp.sqrt(s.p), root).subs(s.p, root**2)
    steps = (
        Step(
            "The force m^ on every neuron meets the resolvent in the constant vector; its cross term with the spike is "
            "of order p^(-1/2), equation (99).",
            eq(sp.Symbol(r"\Phi_{\hat{m}}"), terms),
        ),
        Step(
            "Stationarity in m^.",
            eq(s.m_hat, solution),
            Vanishing("the derivative vanishes", sp.diff(terms, s.m_hat).subs(s.m_hat, solution)),
        ),
        Step(
            "What the free energy keeps of m^ vanishes with p.",
            eq(sp.Limit(value, root, sp.oo), 0),
            RationalLimit("m^2/(2 p (1/p) 1.G 1)", value, root, sp.S.Zero),
        ),
    )
    return Derivation("conjugate of m", f"{PAPER}, Appendix C, (105)", *steps, results={s.m_hat: solution})
