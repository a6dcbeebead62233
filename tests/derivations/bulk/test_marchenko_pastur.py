"""The Marchenko-Pastur law as theorems: its lemma against matrices, its leaves, and what they refuse."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.bulk.marchenko_pastur import (
    ISOTROPIC,
    SCHUR,
    law,
    law_of_averages,
    quadratic,
    second_moments,
)
from giantsteps.derivations.kernel.search.goals import follows
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Equation, Ground, sides
from giantsteps.derivations.kernel.theorem import replay
from giantsteps.derivations.kernel.vacuity.established import asked_by
from giantsteps.derivations.language import symbols as s


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


def test_the_law_holds_without_conditions() -> None:
    assert not asked_by(law_of_averages())


def test_the_law_rests_on_two_hypotheses() -> None:
    trusted = {leaf.name: leaf.reference for leaf in law().assumptions if leaf.ground is Ground.HYPOTHESIS}
    assert trusted == {"rows are alike": ISOTROPIC, "isotropic row": ISOTROPIC}


@pytest.mark.parametrize("theorem", [*quadratic().theorems, *second_moments().theorems])
def test_every_step_is_made_again(theorem: object) -> None:
    replay(theorem)  # type: ignore[arg-type]


def test_the_other_root_does_not_follow() -> None:
    root = quadratic().theorem_of(s.V2)
    (radical,) = (x for x in value(root).atoms(sp.Pow) if x.exp == sp.Rational(1, 2))
    assert follows(Equation(s.V2, value(root)), (root,)) is not None
    assert follows(Equation(s.V2, value(root).subs(radical, -radical)), (root,)) is None
