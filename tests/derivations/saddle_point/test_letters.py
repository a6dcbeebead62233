"""The free energy of several letters: its symmetry, its case of one letter, and the orthogonal bulk against (24)."""

from __future__ import annotations

import pytest
import sympy as sp

from giantsteps.derivations.free_energy.along_spike import mu0, mu1, mu2
from giantsteps.derivations.free_energy.stationarity import CONJUGATE as saddle_point_CONJUGATE
from giantsteps.derivations.language.expectation import expand_expectations
from giantsteps.derivations.saddle_point import equations as saddle_point
from giantsteps.derivations.saddle_point import letters as readout_groups
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.bulk_of_letters import orthogonal
from giantsteps.derivations.saddle_point.letter_energy import mu0_of, mu1_of, mu2_of
from giantsteps.derivations.saddle_point.letters import CONJUGATE


@pytest.mark.parametrize(
    ("pair", "one"),
    [(s.q1_of[0][0], s.q1), (s.q2_of[0], s.q2), (s.zeta_of[0], s.zeta), (s.psi_of[0], s.psi), (s.m_of[0], s.m)],
    ids=str,
)
def test_one_letter_gives_the_equations_of_section_3_3(pair: sp.Symbol, one: sp.Symbol) -> None:
    derived = readout_groups.equation(pair).results[CONJUGATE[pair]]
    expected = saddle_point.equation(one).results[saddle_point_CONJUGATE[one]]
    # The second letter has no features and no readout; the first one's symbols lose their index.
    silent = {f[1]: 0 for f in (mu0_of, mu1_of, mu2_of)}
    named = {mu0_of[0]: mu0, mu1_of[0]: mu1, mu2_of[0]: mu2, s.V1_of[0][0]: s.V1, s.V2_of[0]: s.V2}
    named |= {s.m_of[0]: s.m, s.zeta_of[0]: s.zeta, s.psi_of[0]: s.psi, s.q1_of[0][0]: s.q1, s.q2_of[0]: s.q2}
    assert sp.cancel(expand_expectations(derived.subs(silent).subs(named) - expected)) == 0


def test_the_orthogonal_bulk_is_a_case_of_the_general_spike_equation() -> None:
    # Equation (24) for a law nu with one eigenvalue c and tau^2 = 1: s.G0 s = beta c V, then Sherman-Morrison.
    V, hat = sp.symbols("V h", positive=True)
    bare = s.beta * s.c * V
    general = s.zeta_hat * (bare + s.V1_hat * bare**2 / (1 - s.V1_hat * bare))
    letter = orthogonal.spike().results[s.zeta_of[0]]
    one = {
        s.c_of[0]: s.c,
        s.V_of_letter[0]: V,
        s.zeta_of[1]: 0,
        s.zeta_hat_of[0]: s.zeta_hat,
        s.V1_hat_of[0][0]: s.V1_hat,
    }
    assert sp.simplify(letter.subs(one) - general) == 0
    assert hat.is_positive
