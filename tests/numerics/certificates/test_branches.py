"""Certified branches: points of two other solvers lie in the tubes, neighbours share ends, and budgets end them."""

from __future__ import annotations

import dataclasses
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from flint import arb

from giantsteps.numerics.certificates.certify import ONLY
from giantsteps.numerics.certificates.ranges.branch import Branch, Piece, certify_branch
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to
from tests.shared.certified_models import VALUES, network, outside, worked

GIVEN = dataclasses.replace(worked(), activation="sign", noise=0.1)
STEPPED = Model.from_gradient_step(
    "relu", "sin", alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=3.0, noise=0.1, bulk_model="isotropic"
)
TANH, RELU = network("tanh", "sin"), network("relu", "sin")
RANGES: dict[str, tuple[Model, str, float, float]] = {
    "alpha": (GIVEN, "alpha", 1.5, 1.56), "beta": (GIVEN, "beta", 0.9, 0.95), "ridge": (GIVEN, "ridge", 0.1, 0.104),
    "noise": (GIVEN, "noise", 0.0, 0.02), "spike": (GIVEN, "spike", 1.0, 1.004), "bulk": (GIVEN, "bulk", 1.0, 1.004),
    "alignment": (GIVEN, "alignment", -0.8, -0.795), "no spike": (GIVEN.changed(spike=0.0), "alpha", 1.5, 1.52),
    "mapped eta": (STEPPED, "eta", 3.0, 3.002), "mapped alpha0": (STEPPED, "alpha0", 2.0, 2.002),
    "mapped noise": (STEPPED, "noise", 0.1, 0.102),
    "network alpha": (TANH, "alpha", 1.5, 1.504), "network eta": (TANH, "eta", 3.0, 3.002),
    "network ridge": (TANH, "ridge", 0.1, 0.1004), "network alpha0": (TANH, "alpha0", 2.0, 2.002),
    "network beta": (TANH, "beta", 1.0, 1.001), "relu alpha": (RELU, "alpha", 1.5, 1.501),
    "relu eta": (RELU, "eta", 3.0, 3.001), "short step": (TANH, "eta", 1e-3, 1.001e-3),
}  # fmt: skip
# Seconds for each.
SLOW = ("network ridge", "network alpha0", "network beta", "relu alpha", "relu eta", "short step")
CASES = [pytest.param(name, marks=pytest.mark.thorough) if name in SLOW else name for name in RANGES]


def missed(found: Branch) -> list[str]:
    """What solutions in double precision at the ends and inside of every piece find outside of its balls and box."""
    rng, torn = np.random.default_rng(8), []
    for piece in found.pieces:
        if piece.balls is None:
            continue
        places = np.concatenate([[piece.low, piece.high], rng.uniform(piece.low, piece.high, 4)])
        points = solve_batch(found.model, **{found.parameter: places})
        for name, ball in piece.balls.named().items():
            # The doubles have errors of their own, of about 1e-12.
            torn += [name for x in getattr(points, name) if not ball.overlaps(arb(float(x), 1e-11))]
        for side, name in zip(piece.box, ("V1", "V2"), strict=False):
            torn += [f"box of {name}" for x in getattr(points, name) if not side.contains(float(x))]
    return torn


def gaps(found: Branch, low: float, high: float) -> list[float]:
    """Where pieces do not go from end to end, each beginning where the one before it ended, in a common solution."""
    pieces = found.pieces
    torn = [left.high for left, right in pairwise(pieces) if left.high != right.low]
    for left, right in pairwise(pieces):
        if left.balls is not None and right.balls is not None:
            pairs = [(getattr(left.balls, name), getattr(right.balls, name)) for name in VALUES]
            torn += [left.high for a, b in pairs if not a.overlaps(b)]
    return torn + [end for end, given in ((pieces[0].low, low), (pieces[-1].high, high)) if end != given]


@pytest.mark.parametrize("name", CASES)
def test_the_tubes_hold_every_point(name: str) -> None:
    model, parameter, low, high = RANGES[name]
    found = certify_branch(model, parameter, low, high, most=40)
    assert (found.certified, found.certified_fraction) == (True, 1.0)
    assert found.only_by == ("" if model.network_step is not None else ONLY)
    assert gaps(found, low, high) == []
    assert missed(found) == []
    assert all(piece.width <= 0.01 for piece in found.pieces)


@pytest.mark.parametrize("name", CASES)
def test_a_narrow_tube_is_hardly_wider_than_its_curve(name: str) -> None:
    # To first order in the interval the ball is the range: a wrong slope, or a missing part of one, would show.
    model, parameter, low, _ = RANGES[name]
    high = low + 1e-7 * (abs(low) or 1.0)
    # Rules of 40 bits know the slopes of a mapped relu to a tenth of its size.
    known = 3e-8 if model in (STEPPED, RELU) else 1e-11
    (piece,) = certify_branch(model, parameter, low, high, most=1).pieces
    ends = solve_batch(model, **{parameter: [low, high]})
    assert piece.balls is not None
    for one, ball in piece.balls.named().items():
        first, last = (float(x) for x in getattr(ends, one))
        moved = abs(last - first) / 2
        # Doubles know a thousandth of it.
        assert abs(float(ball.mid()) - (first + last) / 2) < 0.02 * moved + 1e-11, one
        assert float(ball.rad()) < 1.05 * moved + known, one


def test_the_tubes_hold_digits_of_another_code() -> None:
    found = certify_branch(GIVEN, "alpha", 0.7, 0.71)
    assert found.certified
    for value, piece in ((0.7, found.pieces[0]), (0.71, found.pieces[-1])):
        assert outside(piece, solve_to(GIVEN.changed(alpha=value), digits=30)) == []


def test_balls_made_smaller_and_pieces_left_out_are_noticed() -> None:
    _, *range_ = RANGES["alpha"]
    found = certify_branch(GIVEN, *range_)
    wrong = []
    for piece in found.pieces:
        assert piece.balls is not None
        balls = {name: arb(ball.mid(), ball.rad() * 0.9) for name, ball in piece.balls.named().items()}
        wrong.append(dataclasses.replace(piece, balls=dataclasses.replace(piece.balls, **balls)))
    torn = dataclasses.replace(found, pieces=tuple(wrong))
    assert missed(torn) or gaps(torn, 1.5, 1.56)
    for left_out in (0, 1, -1):
        pieces = [piece for piece in found.pieces if piece is not found.pieces[left_out]]
        assert gaps(dataclasses.replace(found, pieces=tuple(pieces)), 1.5, 1.56)


def test_a_budget_that_ends_leaves_the_rest_uncertain() -> None:
    found = certify_branch(GIVEN, "alpha", 1.0, 2.0, most=12)
    assert not found.certified
    assert 0.0 < found.certified_fraction < 1.0
    assert gaps(found, 1.0, 2.0) == []
    assert missed(found) == []
    assert all("budget" in piece.status for piece in found.pieces if not piece.certified)
    ended = certify_branch(GIVEN, "alpha", 1.5, 1.56, step=lambda reached: False)
    assert (ended.certified_fraction, ended.only_by, len(ended.pieces)) == (0.0, "", 1)
    # What a whole interval has its halves keep.
    kept = certify_branch(GIVEN, "alpha", 1.5, 1.56, most=1)
    assert kept.certified
    assert all(piece.width > 0.01 for piece in kept.pieces)


def test_no_fraction_is_rounded_to_all() -> None:
    whole = Piece(0.0, 1.0, "certified", (), certify_branch(GIVEN, "noise", 0.0, 1e-6).pieces[0].balls)
    tiny = Piece(1.0, 1.0 + 2.0**-52, "not certified: a test")
    assert Branch(GIVEN, "noise", (whole, tiny)).certified_fraction < 1.0


@pytest.mark.parametrize(
    ("model", "parameter", "words"),
    [
        (GIVEN, "depth", "accepted are alpha, beta, ridge, noise, spike, bulk, alignment"),
        (GIVEN, "eta", "accepted are alpha"),
        (STEPPED, "spike", "accepted are alpha, beta, ridge, noise, alpha0, eta"),
        (GIVEN, "alpha", "its low end comes first"),
    ],
)
def test_a_range_that_is_none_is_refused(model: Model, parameter: str, words: str) -> None:
    with pytest.raises(ModelError, match=words):
        certify_branch(model, parameter, 2.0, 1.0 if "first" in words else 3.0)


@pytest.mark.parametrize(
    ("model", "parameter", "low", "high", "words"),
    [
        (GIVEN, "ridge", 0.0, 0.1, "certificates need a positive ridge"),
        (TANH, "noise", 0.0, 0.1, "along alpha, beta, ridge, alpha0, eta"),
        (network("tanh", "sin", eta=0.0), "eta", 0.0, 0.5, "exclude eta = 0"),
        (network("z**2", "sin"), "eta", 3.0, 3.5, "without spike"),
        (network("z", "sin"), "eta", 3.0, 3.5, "linear activation"),
        (dataclasses.replace(GIVEN, readout=(ReadoutGroup(1.0, bulk=1.1),)), "bulk", 1.0, 1.1, "has a bulk of its own"),
    ],
)
def test_a_range_without_certificates_is_one_uncertain_piece(
    model: Model, parameter: str, low: float, high: float, words: str
) -> None:
    (piece,) = certify_branch(model, parameter, low, high).pieces
    assert piece.status.startswith("not certified: ")
    assert words in piece.status


def test_what_the_own_rate_of_a_model_is_does_not_matter_along_the_rate() -> None:
    assert certify_branch(network("tanh", "sin", eta=0.0), "eta", 3.0, 3.001, most=1).certified


@pytest.mark.parametrize(("parameter", "low"), [("spike", -1e-3), ("alignment", 0.0)])
def test_a_range_around_a_flat_line_is_answered(parameter: str, low: float) -> None:
    found: Any = certify_branch(dataclasses.replace(GIVEN, activation="tanh"), parameter, low, 1e-3, most=1)
    assert found.certified or "not certified" in found.pieces[0].status
    assert solve(GIVEN).converged
