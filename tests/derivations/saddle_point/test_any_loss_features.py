"""Random features with any convex loss: both systems are the same at r = 0."""

from __future__ import annotations

import pytest

from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Ground, sides
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import one_system
from giantsteps.derivations.saddle_point.random_features import square_loss as convex_square_loss


def test_the_square_loss_is_derived_not_written_down() -> None:
    """The hats of the square loss come from the general equations: a wrong proximal map changes them."""
    hats = {sides(theorem.statement)[0]: value(theorem) for theorem in convex_square_loss.conjugates()}
    expected = s.alpha * s.mu1_constant**2 / (1 + s.V)
    assert (hats[s.V_s_hat] - expected).simplify() == 0
    # E (y - f)^2 = h2* + Delta - 2 M h1* + Q
    mean_square = s.h2_star + s.noise - 2 * s.output_overlap * s.h1_star + s.output_square
    shared = s.alpha / s.beta * s.mu2_constant**2
    assert (hats[s.q_w_hat] - shared * mean_square / (1 + s.V) ** 2).simplify() == 0


@pytest.mark.thorough
@pytest.mark.parametrize("half", ["conjugates", "overlaps"])
def test_each_half_of_the_dictionary_is_made_of_the_other(half: str) -> None:
    """A theorem about conjugates trusts the overlaps to be one, and no conjugate; and the other way round."""
    conjugates, overlaps = set(one_system.CONJUGATES), set(one_system.OVERLAPS)
    mine, other = (conjugates, overlaps) if half == "conjugates" else (overlaps, conjugates)
    derivation = convex_square_loss.square_loss()
    for symbol in mine:
        theorem = derivation.theorem_of(symbol)
        trusted = {sides(leaf.statement)[0] for leaf in theorem.assumptions if leaf.ground is Ground.HYPOTHESIS}
        assert trusted & other
        assert not trusted & mine
