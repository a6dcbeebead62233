"""What one giant step learns: objects of given targets, the theorem's exponent, preprocessing."""

from __future__ import annotations

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.gradient_step import leap_theorem
from giantsteps.derivations.gradient_step.hermite_tensors import hermite, leap_counted, leap_index, spanned, z1, z2, z3
from giantsteps.derivations.kernel.limits import limit_rational
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Refused
from giantsteps.derivations.kernel.theorem import replay
from giantsteps.verify.claims.gradient_step import leap_theorem as claims
from giantsteps.verify.second_route.gradient_step import leap_theorem as numbers


def test_exact_and_numerical_targets_are_the_same_functions() -> None:
    rng = np.random.default_rng(3)
    assert set(numbers.TARGETS) == set(leap_theorem.TARGETS) == set(claims.EXPECTED)
    for name, (expression, variables, first) in leap_theorem.TARGETS.items():
        function, count, order = numbers.TARGETS[name]
        points = rng.standard_normal((count, 5))
        assert (count, order) == (len(variables), first)
        exact = sp.lambdify(variables, expression, "numpy")(*points)
        assert function(*points) == pytest.approx(exact, abs=1e-12)  # polynomials of order ten: rounding


def test_what_is_subtracted_leaves_no_lower_part() -> None:
    target = z1**3 + z1 * z2 + 2 * z2
    left = leap_theorem.without_lower_parts(target, (z1, z2), 2)
    assert sp.expand(left - (hermite(3, z1) + z1 * z2)) == 0
    assert leap_index(left, (z1, z2)) == 2


def test_a_direction_that_only_a_higher_tensor_sees_is_not_in_the_leap_space() -> None:
    assert value(spanned(z1 * z2 * z3 + hermite(2, z1), leap_theorem.THREE)[1]) == 1


@pytest.mark.parametrize("found", [1, 2, 4])
def test_the_leap_index_is_counted_and_no_other_follows(found: int) -> None:
    """At a wrong order the squared tensors give another limit, or none."""
    target = hermite(found, z1) + hermite(5, z1)
    *squares, leap = leap_counted(target, (z1,))
    assert [value(square) == 0 for square in squares] == [True] * (found - 1) + [False]
    assert value(leap) == found
    replay(leap)
    scale = sp.Symbol("X", positive=True)
    terms = [sp.Mul(*(1 / (1 + scale * value(square)) for square in squares[:m])) for m in range(found + 1)]
    for wrong in (found - 1, found + 1):
        with pytest.raises(Refused):
            limit_rational((), sp.Add(*terms), sp.Integer(wrong), scale)
