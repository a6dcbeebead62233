"""Certificates of points hold the digits of a route that shares no equation with them, or say why there is none.

The digits have rules of their own along the spike, across it and for labels (`verify.compiled`).
"""

from __future__ import annotations

import dataclasses
from typing import Any

import pytest
from flint import arb, ctx

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.certify import (
    ONLY,
    SIDES,
    Certificate,
    box_texts,
    certain_digits,
    certify,
    started,
)
from giantsteps.numerics.certificates.newton import System, krawczyk
from giantsteps.numerics.certificates.problems import problem_of
from giantsteps.numerics.certificates.saddle_point import enclosed, nonlinear_system, solved
from giantsteps.numerics.certificates.setting import setting
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to
from tests.shared.certified_models import ANALYTIC, network, outside, random_models, worked


def quick(**changes: Any) -> Model:
    """The worked model with a sign student, whose averages are closed forms."""
    return dataclasses.replace(worked(), **{"activation": "sign", **changes})


def slow(*values: Any) -> Any:
    return pytest.param(*values, marks=pytest.mark.thorough)


# The four students, and 6 at alignment 1.
RANDOM = {f"{student} {i}": model for i, (student, model) in enumerate(random_models(7, 20261121)) if i in (0, 1, 3, 6)}
ISOTROPIC = RANDOM | {
    # m is free where mu0 vanishes.
    "no spike": quick(spike=0.0),
    "negative spike": quick(spike=-1.3, alignment=-0.4, noise=0.2),
    # No parity, V near 1e5, and a condition that costs several digits.
    "bias and tiny ridge": quick(activation="relu", readout=(ReadoutGroup(bias=0.3),), ridge=1e-5, alpha=0.4),
    "weight and bulk": quick(readout=(ReadoutGroup(-0.7, bulk=1.4),)),
}
NETWORK = {
    "tanh": network("tanh", "sin"),
    "relu with noise": network("relu", "sin", noise=0.3),
    "softplus": network("softplus(z)", "sign", alpha0=6.0, eta=1.5),
    # After a short step 80 bits are not enough.
    "short step": network("relu", "sin", eta=1e-3),
    "weight and bias": network("tanh(z + 0.7)", "tanh(z) + 1/2", readout=(ReadoutGroup(-0.7, bias=0.3),), beta=0.8),
}
MODELS = ISOTROPIC | NETWORK


@pytest.mark.parametrize(
    "name",
    [
        slow(name) if name in ("relu with noise", "softplus", "weight and bias", "negative spike") else name
        for name in MODELS
    ],
)
def test_a_certificate_holds_thirty_digits(name: str) -> None:
    model = MODELS[name]
    certificate = certify(model)
    assert certificate.status == "certified"
    assert certificate.balls is not None
    # Closed forms of kinks cancel: relu and sign are known to some digits less.
    assert certificate.digits >= (12 if name in NETWORK or str(model.activation) in ANALYTIC else 8)
    assert certificate.contraction < 1.0
    assert outside(certificate, solve_to(model, digits=30)) == []
    # On a network's own bulk nothing is shown of what lies outside of the box.
    assert certificate.only_by == ("" if name in NETWORK else ONLY)
    order = solve(model).order_parameters
    values = float(order.V1[0, 0]), float(order.V2[0])
    for side, ball, value in zip(
        certificate.box[:2], (certificate.balls.V1, certificate.balls.V2), values, strict=True
    ):
        assert side.contains(value)
        assert side.contains_interior(ball)


@pytest.mark.thorough
def test_the_enclosures_of_two_hundred_models_hold_the_fifty_digits() -> None:
    failed = []
    for i, (student, model) in enumerate(random_models(200, 2026)):
        certificate = certify(model)
        if not certificate.certified or certificate.digits < (12 if student in ANALYTIC else 8):
            failed.append(f"{i}: {certificate.status}, {certificate.digits} digits")
        elif missed := outside(certificate, solve_to(model, digits=50)):
            failed.append(f"{i}: {missed}")
    assert failed == []


def test_the_worked_value() -> None:
    before = ctx.prec
    certificate = certify(worked())
    assert certificate.digits >= 20
    assert certificate.texts()["test_error"].startswith("[0.1258656085337792743")
    document = certificate.to_dict()
    assert document["enclosures"]["test_error"] == document["test_error"]
    assert ctx.prec == before


def test_a_neighbour_is_not_contained() -> None:
    # The comparison can fail: digits of a model whose ridge differs in the last bit of its double.
    model = quick()
    other = model.changed(ridge=model.ridge * (1.0 + 2.0**-52))
    missed = outside(certify(model), solve_to(other, digits=30))
    assert {"test_error", "training_error", "V1", "V2", "q1", "q2"} <= set(missed)


def test_more_digits_take_more_bits() -> None:
    twelve, thirty = certify(quick()), certify(quick(), digits=30)
    assert twelve.bits < thirty.bits
    assert twelve.digits < 30 <= thirty.digits
    assert twelve.balls is not None
    assert thirty.balls is not None
    assert twelve.balls.test_error.contains(thirty.balls.test_error)


@pytest.mark.parametrize("spike", [1e-9, 0.05])
def test_a_flat_spike_has_a_certificate(spike: float) -> None:
    # Nodes that all places along the spike have in common would be many thousands.
    model = Model("tanh", "sin", 1.6, 1.0, 0.1, spike=spike, bulk=1.0, alignment=1.0, readout=(ReadoutGroup(bias=0.4),))
    found, doubles = certify(model, digits=6), solve(model)
    assert found.balls is not None
    for name in ("test_error", "training_error"):
        ball = getattr(found.balls, name)
        assert abs(float(ball.mid()) - getattr(doubles, name)) <= doubles.error_estimate + float(ball.rad())


def parts(model: Model, bits: int, width: float) -> tuple[System, Any, Any]:
    """The equations of a model by rules of so many bits, what follows from a box, and a box around the doubles."""
    solution = solve(model)
    problem = problem_of(model, bits + 24)
    box = tuple(arb(x, width * size) for x, size in started(problem, model, solution))
    place = setting(problem, solution, box[:2], bits)
    given = problem, place.functions(problem), place.rule, place.inverse
    return nonlinear_system(*given), lambda box: enclosed(*given, box), box


@pytest.mark.parametrize("student", ["sign", "relu"])
@pytest.mark.parametrize("bits", [12, 20])
def test_coarse_rules_still_enclose(student: str, bits: int) -> None:
    # Errors of the rules made large: the enclosures then rest on their bounds, not on bits to spare.
    model = quick(activation=student, noise=0.1)
    with precision(bits + 48):
        system, follows, box = parts(model, bits, 0.01)
        balls = follows(krawczyk(system, box).enclosure)
        assert 1 <= certain_digits(balls.test_error) <= bits // 3
    assert outside(Certificate(model, "certified", balls=balls), solve_to(model, digits=30)) == []


@pytest.mark.parametrize("name", ["sign 0", "tanh"])
def test_boxes_without_the_solution_and_wrong_slopes_fail(name: str) -> None:
    with precision(140):
        system, _, box = parts(MODELS[name], 60, 1e-7)
        assert krawczyk(system, box).contraction < 0.01
        for k, side in enumerate(box):
            moved = tuple(one + 4 * arb(side.rad()) * (k == j) for j, one in enumerate(box))
            with pytest.raises(BallError, match="Krawczyk test failed"):
                krawczyk(system, moved)
            for row in range(len(box)):
                if system.slopes(box)[row][k].contains(0):
                    continue

                def spoilt(at: Any, row: int = row, k: int = k) -> Any:
                    return [[q * (1 + 0.01 * ((i, j) == (row, k))) for j, q in enumerate(line)]
                            for i, line in enumerate(system.slopes(at))]  # fmt: skip

                with pytest.raises(BallError, match="slopes contradict"):
                    krawczyk(System(system.values, spoilt), box)


STEPPED = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0}


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (quick(ridge=0.0), "positive ridge"),
        (quick(readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))), "uniform readout"),
        (quick(gaussian_rows=True), "rows of equal norm"),
        (quick(activation="sqrt(Abs(z))"), "has a root at z = 0"),
        (quick(target="exp(z/4)"), "not bounded by a power"),
        (network("tanh", "sin", gaussian_rows=True), "rows of equal norm"),
        (network("tanh", "sin", loss="huber:1"), "square loss"),
        (network("abs", "sin"), "without spike"),
        (network("z", "sin"), "linear activation"),
        (network("Max(z,0)**(3/2)", "sin"), "not certified: "),
        (network("relu", "sin", alpha0=0.01, eta=50.0), "do not converge"),
    ],
)
def test_what_is_not_certified_says_why(model: Model, words: str) -> None:
    certificate = certify(model)
    assert certificate.status.startswith("not certified: ")
    assert words in certificate.status
    assert (certificate.certified, certificate.digits, certificate.texts()) == (False, 0, {})
    assert certificate.to_dict()["test_error"] is None


def test_a_singular_pair_of_equations_is_refused() -> None:
    with pytest.raises(BallError, match="regular"):
        solved(((arb(1), arb(2)), (arb(2), arb(4, 0.001))), (arb(1), arb(1)))


@pytest.mark.parametrize(("bits", "digits"), [(9, 2), (10, 3), (33, 9), (34, 10)])
def test_certain_digits_are_whole_ones(bits: int, digits: int) -> None:
    # 10 bits are a little more than three digits, and 33 less than ten.
    assert certain_digits(arb(1, arb(2) ** -(bits + 1))) == digits
    assert certain_digits(arb(1, 4)) == 0


@pytest.mark.parametrize("sides", [names for names in SIDES.values() if names])
def test_the_box_that_is_printed_lies_inside_of_the_one_that_was_certified(sides: tuple[str, ...]) -> None:
    for turned in (1, -1):
        # Sides of either sign and one around zero.
        middles = [turned * middle for middle in (1, -2, 0, 5)][: len(sides)]
        box = [arb(middle, arb(1) / 3) for middle in middles]
        printed = box_texts(tuple(box))
        assert list(printed) == list(sides)
        for (low, high), ball, middle in zip(printed.values(), box, middles, strict=True):
            assert ball.lower() < float(low)
            assert float(high) < ball.upper()
            # No more is taken off than rounding: the radius of a ball has thirty bits.
            assert (float(low), float(high)) == pytest.approx((middle - 1 / 3, middle + 1 / 3), abs=1e-8)
