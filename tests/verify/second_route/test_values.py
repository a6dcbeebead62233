"""Numbers by symbol become numbers by glyph, and none is lost on the way."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.verify.second_route.values import by_glyph, by_letter, by_pair, upper


def test_two_symbols_of_one_glyph_are_an_error() -> None:
    plain, positive = sp.Symbol("B"), sp.Symbol("B", positive=True)
    assert by_glyph({plain: 1.0, sp.Symbol("b"): np.float64(2.0)}) == {"B": 1.0, "b": 2.0}
    with pytest.raises(ValueError, match="two symbols are written B"):
        by_glyph({plain: 1.0, positive: 2.0})


def test_families_are_filled_letter_by_letter_and_pair_by_pair() -> None:
    matrix = np.array([[1.0, 2.0], [2.0, 3.0]])
    assert by_letter({s.m_of: [4.0, 5.0]}) == {s.m_of[0]: 4.0, s.m_of[1]: 5.0}
    assert by_pair({s.q1_of: matrix}) == upper(s.q1_of, (1.0, 2.0, 3.0))
    assert by_pair({s.q1_of: matrix})[s.q1_of[0][1]] == 2.0
