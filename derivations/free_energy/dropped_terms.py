r"""The conjugate of m: equation (105) of Appendix C, before it is dropped.

The trace term has -m^ m/sqrt p and the entropic term (1/2p) m^^2 1.G 1: the constant vector has length sqrt p, but the
free energy per neuron divides by p.
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.free_energy.along_spike import PAPER
from giantsteps.derivations.free_energy.assumptions import saddle_point
from giantsteps.derivations.kernel.algebra import rewrite
from giantsteps.derivations.kernel.calculus import slope
from giantsteps.derivations.kernel.search.assumptions import define, proved
from giantsteps.derivations.kernel.search.goals import limit_of
from giantsteps.derivations.kernel.search.steps import equal, isolated, value
from giantsteps.derivations.language.derivation import Derivation


@functools.cache
def m_hat() -> Derivation:
    """m^ = sqrt(p) m/(1.G 1): of order p^(-1/2), since 1.G 1 is of order p."""
    kept = s.m_hat * s.m / sp.sqrt(s.p) - s.m_hat**2 * s.ones_resolvent / 2
    meaning = define(s.dropped_m_hat, kept, "the terms of the free energy with m^")
    rate = slope((meaning,), s.m_hat, s.m_hat_response, "the derivative of the free energy in m^")
    solution = isolated(s.m_hat, rewrite((saddle_point(s.m_hat_response), rate)))
    kept = rewrite((meaning, solution))
    reduced = equal(kept, sp.cancel(value(kept)))
    return Derivation(
        "conjugate of m",
        f"{PAPER}, Appendix C, (105)",
        proved(
            "The force m^ on every neuron meets the resolvent in the constant vector; its cross term with the spike "
            "is of order p^(-1/2), equation (99).",
            meaning,
        ),
        proved("Its derivative in m^.", rate),
        proved("Stationarity in m^.", solution),
        proved("What the free energy keeps of m^,", reduced),
        proved("vanishes with p.", rewrite((limit_of(value(reduced), s.p), reduced), True)),
        results=(solution,),
    )
