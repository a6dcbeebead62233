"""Certified branches: dense points of two other solvers lie in the tubes, neighbours share ends, slips are noticed."""

from __future__ import annotations

import dataclasses
from functools import cache
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.certificates.certify import ONLY
from giantsteps.numerics.certificates.problems import problem_along, problem_of
from giantsteps.numerics.certificates.ranges import branch as branches
from giantsteps.numerics.certificates.ranges import network_tubes, tubes
from giantsteps.numerics.certificates.ranges.branch import Branch, Piece, certify_branch
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to
from tests.shared.certified_models import VALUES, value_of, worked


def model(**changes: object) -> Model:
    return dataclasses.replace(worked(), noise=0.1, **changes)


@cache
def along_alpha() -> Branch:
    return certify_branch(model(activation=activation("sign")), "alpha", 1.5, 1.56)


ALONG = {
    "alpha": 1.7, "beta": 0.7, "ridge": 0.3, "noise": 0.25, "spike": 1.3, "bulk": 1.2, "alignment": 0.5, "alpha0": 2.0,
    "eta": 0.7,
}  # fmt: skip
GROUPS = {
    "plain": ReadoutGroup(),
    "half": ReadoutGroup(0.5),
    "turned": ReadoutGroup(-1.0),
    "biased": ReadoutGroup(2.0, bias=0.3),
    "with a bulk of its own": ReadoutGroup(2.0, bulk=1.4),
}


@pytest.mark.parametrize("stepped", [False, True], ids=["given", "after a step"])
@pytest.mark.parametrize("group", GROUPS.values(), ids=GROUPS)
def test_the_problem_along_a_parameter_is_that_of_the_model_there(group: ReadoutGroup, stepped: bool) -> None:
    # The sign of a spike, say, does not move the unknowns of Krawczyk's test: it would not notice.
    of = Model.from_gradient_step(
        activation("tanh"), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, noise=0.1, alpha0=3.0, eta=1.0,
        readout=(group,), bulk_model="isotropic",
    )  # fmt: skip
    of = of if stepped else of.as_given()
    left_out = {"spike", "bulk", "alignment"} if stepped else {"alpha0", "eta"}
    for name in ALONG.keys() - left_out - ({"bulk"} if of.groups[0].bulk is not None else set()):
        with precision(100):
            along, there = problem_along(of, name, arb(ALONG[name]), 64), problem_of(of.changed(**{name: ALONG[name]}))
            pairs = [(getattr(along, n), getattr(there, n)) for n in ("alpha", "beta", "ridge", "noise", "bulk")]
            for line, other in ((along.along, there.along), (along.teacher, there.teacher)):
                pairs += [(line.factor(), other.factor()), (line.scale(), other.scale())]
                assert line.bias == other.bias
            for one, other in pairs:
                assert float(one) == pytest.approx(float(other), abs=1e-13), name


def test_a_model_whose_group_has_its_own_bulk_has_no_branch_along_the_bulk() -> None:
    own = certify_branch(model(readout=(ReadoutGroup(1.0, bulk=1.1),)), "bulk", 1.0, 1.1)
    assert [piece.status for piece in own.pieces] == [
        "not certified: the bulk of the group is given, and that of the model plays no part"
    ]


def test_a_network_without_a_rate_has_its_own_bulk_as_soon_as_it_has_one() -> None:
    network = Model.from_gradient_step(
        activation("tanh"), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, alpha0=3.0, eta=0.0, bulk_model="network"
    )
    found = certify_branch(network, "eta", 0.0, 0.5)
    assert found.certified_fraction == 0.0
    assert "leave out eta = 0" in found.pieces[0].status
    # What the model's own rate is does not matter along the rate.
    assert certify_branch(network, "eta", 3.0, 3.001, most=1).certified


def test_a_ball_that_leaves_out_the_doubles_is_no_certificate(monkeypatch: pytest.MonkeyPatch) -> None:
    def turned(of: Model, parameter: str, value: Any, bits: int) -> Any:
        return problem_along(of, parameter, -value, bits)

    monkeypatch.setattr(tubes, "problem_along", turned)
    found = certify_branch(model(activation=activation("relu"), target=activation("relu")), "spike", 1.0, 1.001, most=1)
    assert "leaves out the solution in double precision" in found.pieces[0].status


@pytest.mark.parametrize(("parameter", "low"), [("spike", -1e-3), ("spike", 0.0), ("alignment", 0.0)])
def test_a_range_around_a_flat_line_is_answered(parameter: str, low: float) -> None:
    found = certify_branch(model(activation=activation("tanh")), parameter, low, 1e-3, most=1)
    assert found.certified or "not certified" in found.pieces[0].status


# Of the solver in double precision, at unit sizes.
ROUNDING = 1e-11


def missed(found: Branch, points: int = 5) -> list[str]:
    """What solutions in double precision at the ends and inside of every piece find outside of its balls and box."""
    outside = []
    for piece in found.pieces:
        if piece.balls is None:
            continue
        for value in np.linspace(piece.low, piece.high, points):
            at = solve(found.model.changed(**{found.parameter: float(value)}))
            for name in VALUES:
                number = arb(float(value_of(at, name)), ROUNDING)
                if not getattr(piece.balls, name).overlaps(number):
                    outside.append(f"{name} at {value}")
            for side, name in zip(piece.box, ("V1", "V2"), strict=True):
                if not side.contains(float(value_of(at, name))):
                    outside.append(f"box of {name} at {value}")
    return outside


def gaps(found: Branch, low: float, high: float) -> list[float]:
    """Where pieces do not go from end to end, each beginning where the one before it ended, in a common solution."""
    pieces = found.pieces
    torn = [left.high for left, right in pairwise(pieces) if left.high != right.low]
    for left, right in pairwise(pieces):
        if left.balls is not None and right.balls is not None:
            pairs = [(getattr(left.balls, name), getattr(right.balls, name)) for name in VALUES]
            torn += [left.high for a, b in pairs if not a.overlaps(b)]
    return torn + [end for end, given in ((pieces[0].low, low), (pieces[-1].high, high)) if end != given]


RANGES = {"alpha": (1.5, 1.56), "beta": (0.9, 0.95), "ridge": (0.1, 0.104), "noise": (0.0, 0.02),
          "spike": (1.0, 1.004), "bulk": (1.0, 1.004), "alignment": (-0.8, -0.795)}  # fmt: skip


@pytest.mark.parametrize("parameter", list(RANGES))
def test_the_tubes_hold_every_point(parameter: str) -> None:
    low, high = RANGES[parameter]
    found = certify_branch(model(activation=activation("sign")), parameter, low, high)
    assert (found.certified, found.certified_fraction, found.only_by) == (True, 1.0, ONLY)
    assert gaps(found, low, high) == []
    assert missed(found) == []
    assert all(piece.width <= 0.01 for piece in found.pieces)


@pytest.mark.parametrize("parameter", list(RANGES))
def test_a_narrow_tube_is_hardly_wider_than_its_curve(parameter: str) -> None:
    # To first order in the interval the ball is the range: directly the numbers would make it tens of times as wide.
    at = model(activation=activation("sign"))
    low = RANGES[parameter][1]
    found = certify_branch(at, parameter, low, low + 1e-5)
    ends = [solve(at.changed(**{parameter: end})).test_error for end in (low, low + 1e-5)]
    (piece,) = found.pieces
    assert piece.balls is not None
    assert float(piece.balls.test_error.rad()) < 1.1 * abs(ends[1] - ends[0]) / 2


@pytest.mark.parametrize(
    ("parameter", "low", "high"), [("eta", 3.0, 3.002), ("alpha0", 2.0, 2.002), ("noise", 0.1, 0.102)]
)
def test_after_a_gradient_step_the_tubes_hold_the_mapped_points(parameter: str, low: float, high: float) -> None:
    # The map's doubles come from other averages; an even part moves the bulk with E[Y] as well.
    step = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0, "noise": 0.1}
    found = certify_branch(
        Model.from_gradient_step("relu", "sin", bulk_model="isotropic", **step), parameter, low, high
    )
    assert found.certified
    assert gaps(found, low, high) == []
    assert missed(found, 3) == []


def test_the_tubes_hold_digits_of_another_code() -> None:
    at = model(alpha=0.7)
    found = certify_branch(at, "alpha", 0.7, 0.71)
    assert found.certified
    with mp.workdps(35):
        for value, piece in ((0.7, found.pieces[0]), (0.71, found.pieces[-1])):
            digits = solve_to(at.changed(alpha=value), digits=20)
            for name in VALUES:
                ball = getattr(piece.balls, name)
                assert ball.contains(arb(mp.nstr(value_of(digits, name), 18))), name


@pytest.mark.parametrize("share", [0.5, 0.9])
def test_balls_made_smaller_are_noticed(share: float) -> None:
    found = along_alpha()
    wrong = []
    for piece in found.pieces:
        balls = {
            one.name: arb(ball.mid(), ball.rad() * share)
            for one in dataclasses.fields(piece.balls)
            for ball in [getattr(piece.balls, one.name)]
        }
        wrong.append(dataclasses.replace(piece, balls=dataclasses.replace(piece.balls, **balls)))
    assert missed(found) == []
    assert gaps(dataclasses.replace(found, pieces=tuple(wrong)), 1.5, 1.56) or missed(
        dataclasses.replace(found, pieces=tuple(wrong))
    )


@pytest.mark.parametrize("left_out", [0, 1, -1])
def test_a_piece_left_out_is_noticed(left_out: int) -> None:
    found = along_alpha()
    pieces = list(found.pieces)
    del pieces[left_out]
    assert gaps(dataclasses.replace(found, pieces=tuple(pieces)), 1.5, 1.56)


@pytest.mark.parametrize("slip", ["no drift", "no slope of T and tau", "half of the interval"])
def test_a_slip_in_the_method_is_noticed(slip: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # Each makes tubes that do not hold their points, or contradict one another.
    if slip == "no drift":
        monkeypatch.setattr(tubes, "System", lambda values, slopes, drift, offset: _System(values, slopes))
    elif slip == "no slope of T and tau":
        monkeypatch.setattr(tubes, "_solution", lambda matrix, right: [arb(0), arb(0)])
    else:
        plain = tubes.between
        monkeypatch.setattr(tubes, "between", lambda a, b: plain(a, (a + b) / 2))
    found = certify_branch(model(activation=activation("sign")), "alpha", 1.5, 1.56, most=20)
    assert missed(found) or gaps(found, 1.5, 1.56) or not found.certified


def _System(values: object, slopes: object) -> object:
    from giantsteps.numerics.certificates.newton import System

    return System(values, slopes)  # type: ignore[arg-type]


def test_a_budget_that_ends_leaves_the_rest_uncertain() -> None:
    at = model(activation=activation("sign"))
    found = certify_branch(at, "alpha", 1.0, 2.0, most=12)
    assert not found.certified
    assert 0.0 < found.certified_fraction < 1.0
    assert gaps(found, 1.0, 2.0) == []
    assert missed(found) == []
    assert all("budget" in piece.status for piece in found.pieces if not piece.certified)
    ended = certify_branch(at, "alpha", 1.5, 1.56, step=lambda reached: False)
    assert (ended.certified_fraction, ended.only_by, len(ended.pieces)) == (0.0, "", 1)


def test_no_fraction_is_rounded_to_all() -> None:
    parts = (Piece(0.0, 1.0, "certified", (), certify_branch(model(), "noise", 0.0, 1e-6).pieces[0].balls),)
    tiny = Piece(1.0, 1.0 + 2.0**-52, "not certified: a test")
    assert Branch(model(), "noise", (*parts, tiny)).certified_fraction < 1.0


@pytest.mark.parametrize(
    ("changes", "parameter", "words"),
    [
        ({}, "depth", "accepted are alpha, beta, ridge, noise, spike, bulk, alignment"),
        ({}, "eta", "accepted are alpha"),
        ({"step": True}, "spike", "accepted are alpha, beta, ridge, noise, alpha0, eta"),
        ({"reverse": True}, "alpha", "its low end comes first"),
    ],
)
def test_what_has_no_branch_says_why(changes: dict[str, bool], parameter: str, words: str) -> None:
    at = model()
    if changes.get("step"):
        at = Model.from_gradient_step(
            "tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=3.0, bulk_model="isotropic"
        )
    low, high = (2.0, 1.0) if changes.get("reverse") else (1.0, 2.0)
    with pytest.raises(ModelError, match=words):
        certify_branch(at, parameter, low, high)


def test_ends_without_a_certificate_leave_one_uncertain_piece() -> None:
    found = certify_branch(model(), "ridge", 0.0, 0.1)
    assert found.pieces[0].status.startswith("not certified: certificates need a positive ridge")
    own = Model.from_gradient_step("tanh", "sin", alpha=1.5, beta=1, ridge=0.1, alpha0=2, eta=3, bulk_model="network")
    assert "along alpha, beta, ridge, alpha0, eta" in certify_branch(own, "noise", 0.0, 0.1).pieces[0].status


def tried(patch: pytest.MonkeyPatch, certified: Any, most: int) -> tuple[list[tuple[float, float]], Branch]:
    """The intervals of [0, 1] that are tried, and the branch, where `certified` says of which widths a tube is."""
    asked: list[tuple[float, float]] = []

    def piece(of: Any, low: float, high: float) -> Piece:
        asked.append((low, high))
        if not certified(high - low):
            return Piece(low, high, "not certified: a test")
        # The error of a tube is as wide as its interval: one of a hundredth is narrow enough.
        balls: Any = SimpleNamespace(test_error=arb(1.0, high - low))
        return Piece(low, high, "certified", (arb(high - low),), balls)

    patch.setattr(branches, "_piece", piece)
    return asked, certify_branch(model(), "noise", 0.0, 1.0, most=most)


def test_what_a_whole_interval_has_its_halves_keep(monkeypatch: pytest.MonkeyPatch) -> None:
    # Tubes of wide intervals alone: their parts are certified by them.
    asked, found = tried(monkeypatch, lambda width: width > 0.2, 15)
    assert len(asked) == 15
    assert found.certified
    assert all(left.high == right.low for left, right in pairwise(found.pieces))
    # Each has the box of the narrowest that has one, as far as it was tried.
    assert all(float(piece.box[0].mid()) >= 0.25 for piece in found.pieces)
    # Tubes of narrow ones alone: until the budget ends, none is wider than asked for.
    asked, found = tried(monkeypatch, lambda width: width < 0.2, 400)
    assert found.certified
    assert max(piece.width for piece in found.pieces) <= 0.01
    assert max(high - low for low, high in asked) == 1.0
    assert len(set(asked)) == len(asked) == 255
    for most in (0, 1, 6):
        asked, found = tried(monkeypatch, lambda width: True, most)
        assert len(asked) == most
        assert found.certified is (most > 0)


@pytest.mark.parametrize("which", ["both", "the first", "the second"])
def test_a_law_that_an_end_has_is_enclosed_on_the_way(which: str, monkeypatch: pytest.MonkeyPatch) -> None:
    network = Model.from_gradient_step(
        activation("tanh"), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, alpha0=3.0, eta=2.0, bulk_model="network"
    )
    unbuilt = {"both": (1.0, 2.0), "the first": (1.0,), "the second": (2.0,)}[which]
    monkeypatch.setattr(network_tubes, "unbuilt", lambda one: "no law" if one.network_step.eta in unbuilt else "")
    monkeypatch.setattr(branches, "_piece", lambda of, low, high: Piece(low, high, "not certified: tried"))
    found = certify_branch(network, "eta", 1.0, 2.0, most=1)
    # Nothing between two ends without a law has one.
    assert ("no law" in found.pieces[0].status) is (which == "both")
