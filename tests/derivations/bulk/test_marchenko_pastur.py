"""The Marchenko-Pastur law as theorems: its lemma against matrices, its leaves, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.bulk.marchenko_pastur import (
    SCHUR,
)
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import sides


def test_the_schur_complement_is_that_of_matrices() -> None:
    drawn = np.random.default_rng(0).normal(size=(6, 6))
    whole = drawn @ drawn.T + np.eye(6)
    corner, row, rest = whole[0, 0], whole[0, 1:], whole[1:, 1:]
    form = row @ np.linalg.solve(rest, row)
    (complement,) = (factor for factor in sides(SCHUR.statement)[0].args if isinstance(factor, sp.Add))
    predicted = 1 / float(complement.subs(dict(zip(sp.symbols("A q", real=True), (corner, form), strict=True))))
    assert value(SCHUR) == 1
    # Two inversions of a matrix of condition below 1e2: some 1e2 roundings.
    assert np.linalg.inv(whole)[0, 0] == pytest.approx(predicted, rel=1e-13)
