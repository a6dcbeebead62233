"""The block equivalent, symbolically: against linear algebra, and its derivative against the solver's map."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from onestep.derivations.bulk import blocks as block
from onestep.derivations.language import symbols as s
from onestep.numerics.bulk.equivalent import IsotropicGroups, pack, unpack

CONJUGATE = np.array([[1.1, -0.4], [-0.4, 0.7]])
SHIFTS = np.array([0.3, 0.6])
BULKS = np.array([0.9, 1.4])
FRACTIONS = np.array([0.35, 0.65])
RIDGE, BETA = 0.2, 1.3


def solved(step: float = 0.0) -> tuple[np.ndarray, np.ndarray]:
    """(T, tau) of the solver's map, moved by ``step`` along the direction of `test_slopes`."""
    equivalent = IsotropicGroups(RIDGE, BETA, BULKS, FRACTIONS)
    return unpack(equivalent.at(pack(CONJUGATE + step * DIRECTION, SHIFTS + step * OWN)).values)


DIRECTION = np.array([[0.5, 0.3], [0.3, -0.2]])
OWN = np.array([0.4, -0.1])


def values() -> dict[sp.Basic, float]:
    """Numbers for every symbol at the solver's solution."""
    T, tau = solved()
    M = CONJUGATE @ np.linalg.inv(np.eye(2) + np.diag(BETA * BULKS * tau) @ CONJUGATE)
    numbers: dict[sp.Basic, float] = {s.ridge: RIDGE, s.beta: BETA}
    for a in block.LETTERS:
        numbers |= {s.V2_of[a]: tau[a], s.V2_hat_of[a]: SHIFTS[a], s.c_of[a]: BULKS[a], s.fraction[a]: FRACTIONS[a]}
        numbers |= {block.theta[a]: BETA * BULKS[a] * tau[a], block.Y[a]: OWN[a]}
    for a, b in block.PAIRS:
        numbers |= {s.V1_of[a][b]: T[a, b], s.V1_hat_of[a][b]: CONJUGATE[a, b], s.mixed[a][b]: M[a, b]}
        numbers |= {block.X[a, b]: DIRECTION[a, b]}
    return numbers


def test_the_relation_between_blocks_holds_at_the_solver() -> None:
    relation = block.block_relation(block.T).subs(values())
    # Newton's method stops at a relative step of 1e-15; a hundred roundings more.
    assert max(abs(float(entry)) for entry in relation) < 1e-13


@pytest.mark.parametrize("a", block.LETTERS)
def test_a_row_against_the_rest_holds_at_the_solver(a: int) -> None:
    numbers = values()
    inverse = float(block.diagonal_inverse(a, block.T).subs(numbers))
    assert FRACTIONS[a] / inverse == pytest.approx(float(numbers[s.V2_of[a]]), rel=1e-13)


def test_slopes_are_those_of_the_solver() -> None:
    step = 1e-5
    (T_up, tau_up), (T_down, tau_down) = solved(step), solved(-step)
    minus_tau = (tau_down - tau_up) / (2 * step)
    minus_T = (T_down - T_up) / (2 * step)
    numbers = values()
    for a in block.LETTERS:
        found = float(block.minus_tau_slope(a, sp.Float(minus_tau[1 - a])).subs(numbers))
        assert found == pytest.approx(minus_tau[a], rel=1e-7)  # central differences of step 1e-5: 1e-10, and rounding
    for a, b in block.PAIRS:
        found = float(block.minus_block_slope(a, b, tuple(minus_tau)).subs(numbers))
        assert found == pytest.approx(minus_T[a, b], rel=1e-7, abs=1e-9)


def test_the_potential_has_the_traces_as_its_gradient_at_the_solver() -> None:
    numbers = values()
    L = block.potential()
    for a in block.LETTERS:
        assert abs(float(sp.diff(L, s.V2_of[a]).subs(numbers))) < 1e-12  # stationary, to rounding
    for a, b in block.PAIRS:
        slope = float(sp.diff(L, s.V1_hat_of[a][b]).subs(numbers))
        assert slope == pytest.approx((1 if a == b else 2) * float(numbers[s.V1_of[a][b]]), rel=1e-12)
