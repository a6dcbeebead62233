"""The block equivalent, symbolically: against linear algebra and the solver's map."""

from __future__ import annotations

import numpy as np
import sympy as sp

from giantsteps.derivations.bulk import blocks as block
from giantsteps.derivations.language import symbols as s
from giantsteps.numerics.bulk.equivalent import IsotropicGroups, pack, unpack

CONJUGATE = np.array([[1.1, -0.4], [-0.4, 0.7]])
SHIFTS = np.array([0.3, 0.6])
BULKS = np.array([0.9, 1.4])
FRACTIONS = np.array([0.35, 0.65])
RIDGE, BETA = 0.2, 1.3


def values() -> dict[sp.Basic, float]:
    """Numbers for every symbol at the solver's solution."""
    equivalent = IsotropicGroups(RIDGE, BETA, BULKS, FRACTIONS)
    T, tau = unpack(equivalent.at(pack(CONJUGATE, SHIFTS)).values)
    M = CONJUGATE @ np.linalg.inv(np.eye(2) + np.diag(BETA * BULKS * tau) @ CONJUGATE)
    numbers: dict[sp.Basic, float] = {s.ridge: RIDGE, s.beta: BETA}
    for a in block.LETTERS:
        numbers |= {s.V2_of[a]: tau[a], s.V2_hat_of[a]: SHIFTS[a], s.c_of[a]: BULKS[a], s.fraction[a]: FRACTIONS[a]}
        numbers |= {block.theta[a]: BETA * BULKS[a] * tau[a]}
    for a, b in block.PAIRS:
        numbers |= {s.V1_of[a][b]: T[a, b], s.V1_hat_of[a][b]: CONJUGATE[a, b], s.mixed[a][b]: M[a, b]}
    return numbers


def test_the_relation_between_blocks_holds_at_the_solver() -> None:
    relation = block.block_relation(block.T).subs(values())
    # Newton's method stops at a relative step of 1e-15; a hundred roundings more.
    assert max(abs(float(entry)) for entry in relation) < 1e-13
