"""The rules that decide when a rule is fine enough and how far rounding reaches, each where its answer is known."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.numerics.bulk.equivalent import IsotropicGroups
from giantsteps.numerics.gaussian.quadrature import ROUNDING
from giantsteps.numerics.gaussian.spike_rule import Layer, spike_rule
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.equations import _solution, fit_rounding, in_all, undecided
from giantsteps.numerics.saddle_point.level import settled
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.verify.digits.solve import solve

BASE = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1.0, "alignment": 0.8}


@pytest.mark.parametrize(
    ("moved", "before", "rounding", "done"),
    [
        # One small move is luck, two are not; what is below rounding is known no better by another rule.
        (1e-15, math.inf, 0.0, False),
        (1e-15, 1e-9, 0.0, False),
        (1e-9, 1e-15, 0.0, False),
        (1e-15, 1e-15, 0.0, True),
        (1e-9, math.inf, 1e-8, True),
        (1e-9, 1e-15, 1e-10, False),
        (math.nan, 1e-15, 0.0, False),
    ],
)
def test_two_small_moves_or_one_below_rounding_settle_a_rule(
    moved: float, before: float, rounding: float, done: bool
) -> None:
    assert bool(settled(moved, before, 1.0, rounding)) is done
    # The moves are small beside the scale.
    assert bool(settled(1e6 * moved, 1e6 * before, 1e6, 1e6 * rounding)) is done


def test_the_rounding_of_a_fit_is_what_rounded_functions_do_to_it() -> None:
    # y0 and mu0 off by ROUNDING of their sizes, along what is left: the error moves by that and its square.
    rng = np.random.default_rng(5)
    count, m, sizes = 400, 3.0, (20.0, 7.0)
    mu0 = rng.standard_normal(count)
    for left in (0.0, 1e-20, 1e-6, 1.0):
        rest = rng.standard_normal(count)
        rest -= mu0 * (mu0 @ rest) / (mu0 @ mu0)
        unit = rest / math.sqrt(np.mean(rest**2))
        rest = math.sqrt(left) * unit
        off = ROUNDING * (sizes[0] + m * sizes[1]) * unit
        change = 2.0 * np.mean(rest * off) + np.mean(off**2)  # of E (y0 - m mu0)^2, to all digits
        assert ROUNDING * fit_rounding(left, sizes[0] + m * sizes[1], 0.0) == pytest.approx(change, rel=1e-6)
    # A mean `share` times smaller than the activation: so much less is known of its coefficient, whatever else is.
    assert fit_rounding(0.01, 0.0, 1e6) == pytest.approx(1e6 * fit_rounding(0.01, 0.0, 1.0))
    assert fit_rounding(0.01, 0.0, 1.0) >= 0.01


def test_what_moves_the_fit_moves_all_that_follows_from_it() -> None:
    # Twenty times the error of the fit in the sum of all terms: the fit's relative change, of all of them.
    assert in_all(20.0, 0.0, 0.3, 1.0) == pytest.approx(6.0)
    assert in_all(20.0, 2.0, 0.0, 1.0) == pytest.approx(40.0)
    assert in_all(20.0, 2.0, 0.3, 1.0) == pytest.approx(46.0)


@pytest.mark.parametrize("extra", [0.0, 20.0, 100.0])
def test_panels_follow_the_tails_of_a_layer_as_far_as_they_matter(extra: float) -> None:
    # A tail e^(-t^2/2) that matters e^extra times more is below e^-40.5 of the layer from t = sqrt(81 + 2 extra) on.
    place, width = 0.37, 1e-3
    rule = spike_rule((Layer(place, width),), 0.2, 12.0, extra=extra)
    gaps = np.diff(rule.nodes)
    reach = math.sqrt(2.0 * (40.5 + extra))
    inside = np.abs(rule.nodes[:-1] - place) < 0.97 * reach * width
    assert gaps[inside].max() < width
    # And no farther: beyond a few more widths the rule is as coarse as it is elsewhere.
    beyond = np.abs(rule.nodes[:-1] - place) > 1.3 * reach * width
    assert gaps[beyond & (np.abs(rule.nodes[:-1] - place) < 0.2)].max() > 5.0 * width


def test_unknowns_of_very_different_size_are_eliminated_beside_their_own() -> None:
    # In units of the sizes a matrix of condition 3; in plain units the first row is the largest of its column, and
    # elimination would begin with its 1e-10.
    sizes = np.array([1e12, 1.0, 1e-6])
    own = np.array([[1e-10, 1.0, 0.0], [1.0, 1.0, 0.3], [0.0, 0.3, 1.0]])
    exact = sizes * np.array([0.3, -0.7, 1.1])
    matrix = own * sizes[:, None] / sizes
    right = sizes * (own @ (exact / sizes))
    assert _solution(matrix, right, sizes) / sizes == pytest.approx(exact / sizes, abs=1e-13)
    # A size of zero is that of an unknown that is zero, and no division.
    assert np.isfinite(_solution(matrix, right, np.where(sizes == 1.0, 0.0, sizes))).all()


def test_what_functions_are_known_to_has_the_scale_of_the_bulk() -> None:
    # sigma(z) at bulk c is sigma(sqrt(c) z) at bulk 1: sqrt(c) times the slope, and what it is known to with it.
    one = profile(Model("tanh(2*z)", "sin", **(BASE | {"spike": 0.5})))
    four = profile(Model("tanh", "sin", **(BASE | {"spike": 1.0, "bulk": 4.0})))
    assert 2.0 * four.mu1 == pytest.approx(one.mu1, rel=1e-9)
    assert 2.0 * four.scatter == pytest.approx(one.scatter, rel=1e-9)
    assert four.squares == pytest.approx(one.squares, rel=1e-9)


@pytest.mark.parametrize(
    ("changes", "lost"),
    [
        ({"activation": "sin", "spike": 0.3, "bulk": 90.0}, True),
        ({"activation": "sin", "spike": 0.0, "bulk": 90.0}, False),
        ({"activation": "sin", "spike": 0.3, "bulk": 90.0, "alignment": 0.0}, False),
        ({"activation": "sin", "spike": 0.0, "bulk": 90.0, "alignment": 0.0}, False),
    ],
)
def test_a_mean_is_lost_where_there_is_a_spike_and_something_to_fit(changes: dict[str, object], lost: bool) -> None:
    table = profile(Model(**({"activation": "tanh", "target": "sin"} | BASE | changes)))  # type: ignore[arg-type]
    assert (table.one_group.lost == math.inf) is lost
    assert undecided(table, table.weights) is lost


def test_the_elimination_of_many_groups_loses_more_the_larger_its_matrix() -> None:
    # The inverse of 1 + sqrt(Theta) C sqrt(Theta) comes to k^2 eps times the norm of the product, zero at C = 0.
    groups = (ReadoutGroup(1.0, 0.5), ReadoutGroup(0.5, 0.5))
    model = Model("tanh", "sin", **BASE, readout=groups)
    bulks, fractions = np.array(model.bulks), np.array(model.fractions)
    equivalent = IsotropicGroups(beta=1.0, ridge=1e-8, bulks=bulks, fractions=fractions)
    packed = np.array([2.0, 1.0, 1.0, 1e-9, 1e-9])
    losses = [equivalent.at(size * packed).lost for size in (0.0, 1.0, 1e3)]
    assert losses[0] == 0.0
    assert 0.0 < losses[1] < losses[2]


def test_mirrored_groups_are_within_their_estimates_of_more_digits() -> None:
    point = {
        "alpha": 55.95119234416627, "beta": 25.608270174595475, "ridge": 8.785811742241138e-05,
        "spike": -0.04948773578590406, "bulk": 0.004097764344770293, "alignment": 1.0,
    }  # fmt: skip
    exact = float(solve(Model("erf", "tanh", **point), digits=25).test_error)
    for weights, share in (((1.0, 1.0), 0.3), ((1.0, 1.0), 0.5), ((1.0, -1.0), 0.5)):
        groups = tuple(
            ReadoutGroup(fraction=part, weight=weight) for part, weight in zip((share, 1 - share), weights, strict=True)
        )
        found = solve(Model("erf", "tanh", **point, readout=groups))
        assert found.converged
        assert abs(found.test_error - exact) <= found.error_estimate < 1e-11


@pytest.mark.parametrize(
    ("student", "ridge"),
    [("1+tanh(z-9)", 1e-15), ("6.57e7*(1+tanh(z-10))", 1e-15), ("1+tanh(z-8)", 1e-13), ("1-erf(4-z)", 1e-10),
     ("log(2+tanh(z-9))", 1e-10)],
)
def test_a_sum_that_cancels_in_the_tail_is_within_its_estimate_of_more_digits(student: str, ridge: float) -> None:
    model = Model(student, "sin", **(BASE | {"ridge": ridge}))
    found = solve(model)
    assert found.converged
    assert abs(float(solve(model, digits=20).test_error) - found.test_error) <= found.error_estimate


def test_digits_of_an_activation_whose_mean_vanishes_by_its_norm() -> None:
    # Not odd, and without a spike: mu0 = E[z^2 - 1] = 0 at bulk 1 is a number, by which nothing may be divided.
    model = Model("z**2-1+tanh(z)", "sin", **(BASE | {"spike": 0.0}))
    found = solve(model)
    assert abs(float(solve(model, digits=25).test_error) - found.test_error) <= found.error_estimate
