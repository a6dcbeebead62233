"""Random features with any convex loss: both systems are the same at r = 0, in algebra and in numbers."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Ground, sides
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import one_system
from giantsteps.derivations.saddle_point.random_features import square_loss as convex_square_loss
from giantsteps.verify.checks.evaluate import evaluate
from giantsteps.verify.claims.random_features import any_loss as claims
from giantsteps.verify.second_route.losses import LOSSES, proximal
from giantsteps.verify.second_route.models import model_at
from giantsteps.verify.second_route.saddle_point.square_loss import overlaps_of


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


def test_conjugates_of_the_square_loss_by_the_general_averages() -> None:
    """V_s^ of the square loss is alpha_p/gamma_p k1^2/(1 + V) whatever the target."""
    model = model_at({**claims.CASES[next(iter(claims.CASES))], s.r.name: 0.0, s.c.name: 1.0, s.noise.name: 0.0})
    found = claims._conjugates(model, "square", (0.7, 0.4), 0.8, 0.6, 0.3)
    # a trapezoidal rule for the output and panels for theta.x: rounding
    assert found[s.V_s_hat.name] == pytest.approx(model.alpha * 0.49 / 1.8, rel=1e-10)
    assert found[s.V_w_hat.name] == pytest.approx(model.alpha / model.beta * 0.16 / 1.8, rel=1e-10)
    assert set(overlaps_of(model, found)) == {x.name for x in (s.V_s, s.m_s, s.q_s, s.V_w, s.q_w)}


def test_the_slope_is_that_of_the_force() -> None:
    loss, y, f, V = LOSSES["logistic"], np.array([1.0, -1.0]), np.array([0.3, 0.7]), 0.9
    h = 1e-5
    moved = (proximal(loss, y, f + h, V) - proximal(loss, y, f - h, V)) / (2 * h)
    # error of the central difference: 1e-10
    assert claims._slope(loss, y, proximal(loss, y, f, V), V) == pytest.approx((1 - moved) / V, abs=1e-8)


def test_one_case_of_each_loss_agrees() -> None:
    """The claims look at four models; here one logistic model, all ten equations."""
    name = next(name for name in claims.CASES if name.startswith("logistic"))
    values = claims.both_systems({"case": name})
    assert values is not None
    for claim in claims.CLAIMS:
        left, right = (evaluate(side, values) for side in claim.statement.args)
        assert left == pytest.approx(right, rel=1e-6), claim.id  # the solver's own tolerance


@pytest.mark.parametrize("name", LOSSES)
def test_the_proximal_map_is_found_where_a_newton_step_leads_from_one_edge_to_the_other(name: str) -> None:
    """Labels of three units and a wide envelope: the logistic loss has corners there, and free steps do not settle."""
    loss, V = LOSSES[name], 2.0
    y, omega = (x.ravel() for x in np.meshgrid(np.linspace(-4.0, 4.0, 41), np.linspace(-8.0, 8.0, 81)))
    x = proximal(loss, y, omega, V)
    # rounding of the arguments, which are up to 24
    assert np.max(np.abs(x - omega + V * loss.slope(y, x)) / (1 + V * loss.curvature(y, x))) < 1e-14
