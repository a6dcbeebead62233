"""Certificates of the saddle point against fifty digits that share no equation with them.

Nor a rule across the spike, where functions are analytic; the closed forms of piecewise polynomials are checked by
`tests.references.integrals`.
"""

from __future__ import annotations

import dataclasses
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb, ctx

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError
from giantsteps.numerics.certificates import certify as certifying
from giantsteps.numerics.certificates.certify import Certificate, Imprecise, certify
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.digits.solve import solve as solve_to
from tests.shared.certified_models import ANALYTIC, outside, random_models, worked


def quick(**changes: object) -> Model:
    """The worked model with a sign student, whose averages are closed forms."""
    return dataclasses.replace(worked(), **{"activation": activation("sign"), **changes})


def wanted_digits(student: str) -> int:
    return 12 if student in ANALYTIC else 8


# The seeds are the dates on which these tests were written; models 0 to 3 have the four students, 6 alignment 1.
FAST = [model for i, model in enumerate(random_models(7, 20261121)) if i in (0, 1, 3, 6)]


@pytest.mark.parametrize(("student", "model"), FAST, ids=[name for name, _ in FAST])
def test_the_enclosures_hold_the_fifty_digits(student: str, model: Model) -> None:
    certificate = certify(model)
    assert certificate.status == "certified"
    assert certificate.digits >= wanted_digits(student)
    assert certificate.contraction < 1.0
    assert outside(certificate, solve_to(model, digits=50)) == []


@pytest.mark.thorough
def test_the_enclosures_of_two_hundred_models_hold_the_fifty_digits() -> None:
    failed = []
    for i, (student, model) in enumerate(random_models(200, 2026)):
        certificate = certify(model)
        if not certificate.certified or certificate.digits < wanted_digits(student):
            failed.append(f"{i}: {certificate.status}, {certificate.digits} digits")
        elif missed := outside(certificate, solve_to(model, digits=50)):
            failed.append(f"{i}: {missed}")
    assert failed == []


def test_the_worked_value_is_certain_to_more_digits_than_a_double_has() -> None:
    certificate = certify(worked())
    assert certificate.digits >= 20
    assert certificate.texts()["test_error"].startswith("[0.1258656085337792743")
    # The same double-precision solution sits in the box, and the enclosures are inside the box.
    order = solve(worked()).order_parameters
    assert certificate.balls is not None
    for ball, inner, value in zip(
        certificate.box, (certificate.balls.V1, certificate.balls.V2), (order.V1[0, 0], order.V2[0]), strict=True
    ):
        assert ball.contains(float(value))
        assert ball.contains_interior(inner)


def test_a_neighbour_is_not_contained() -> None:
    # The comparison can fail: fifty digits of a model whose ridge differs in the last bit of its double.
    model = quick()
    other = model.changed(ridge=model.ridge * (1.0 + 2.0**-52))
    missed = outside(certify(model), solve_to(other, digits=50))
    assert {"test_error", "training_error", "V1", "V2", "q1", "q2"} <= set(missed)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"ridge": 0.0}, "positive ridge"),
        ({"readout": (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))}, "uniform readout"),
        ({"gaussian_rows": True}, "rows of equal norm"),
        ({"activation": activation("elu(z)")}, "breakpoints"),
        ({"target": activation("exp(z/4)")}, "no bound by a power"),
    ],
)
def test_what_is_not_certified_says_why(changes: dict[str, object], words: str) -> None:
    certificate = certify(quick(**changes))
    assert certificate.status.startswith("not certified: ")
    assert words in certificate.status
    assert (certificate.certified, certificate.digits, certificate.texts()) == (False, 0, {})


def test_the_precision_of_flint_is_left_as_it_was() -> None:
    before = ctx.prec
    assert isinstance(certify(quick()), Certificate)
    assert ctx.prec == before


def test_no_spike_and_an_odd_activation_leave_m_at_zero() -> None:
    model = quick(spike=0.0)
    certificate = certify(model)
    assert certificate.balls is not None
    assert certificate.balls.m == 0
    assert outside(certificate, solve_to(model, digits=50)) == []


def test_bias_and_tiny_ridge() -> None:
    # No parity left, V near 1e5, and a condition that costs several digits.
    model = quick(activation=activation("relu"), readout=(ReadoutGroup(bias=0.3),), ridge=1e-5, alpha=0.4)
    certificate = certify(model)
    assert certificate.digits >= 8
    assert outside(certificate, solve_to(model, digits=50)) == []


@pytest.mark.parametrize("student", ["sign", "relu"])
@pytest.mark.parametrize("bits", [12, 20])
def test_coarse_rules_still_enclose(student: str, bits: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # Errors of the rules made large: the certificates then rest on their bounds, not on bits to spare.
    monkeypatch.setattr(certifying, "_BITS", (bits,))
    monkeypatch.setattr(certifying, "_WIDTHS", (Fraction(1, 100),))
    model = quick(activation=activation(student), noise=0.1)
    certificate = certify(model)
    assert 1 <= certificate.digits <= bits // 3
    assert outside(certificate, solve_to(model, digits=50)) == []


def test_more_digits_take_more_bits() -> None:
    twelve, thirty = certify(quick()), certify(quick(), digits=30)
    assert twelve.bits < thirty.bits
    assert twelve.digits < 30 <= thirty.digits
    assert twelve.balls is not None
    assert thirty.balls is not None
    assert twelve.balls.test_error.contains(thirty.balls.test_error)
    assert outside(thirty, solve_to(quick(), digits=50)) == []


@pytest.mark.parametrize("spike", [0.0, 1e-9, 1e-3, 0.05])
@pytest.mark.parametrize("bias", [0.0, 0.4])
def test_a_flat_spike_has_a_certificate(spike: float, bias: float) -> None:
    # At zero all places along the spike are one; close to it nodes in common would be many thousands.
    groups = (ReadoutGroup(bias=bias),)
    numbers = {"spike": spike, "bulk": 1.0, "alignment": 1.0}
    model = Model(activation("tanh"), activation("sin"), 1.6, 1.0, 0.1, **numbers, readout=groups)
    found, doubles = certify(model, digits=6), solve(model)
    assert found.balls is not None
    for name in ("test_error", "training_error"):
        ball = getattr(found.balls, name)
        assert abs(float(ball.mid()) - getattr(doubles, name)) <= doubles.error_estimate + float(ball.rad())


@pytest.mark.parametrize(("bits", "digits"), [(9, 2), (10, 3), (33, 9), (34, 10)])
def test_certain_digits_are_whole_ones(bits: int, digits: int) -> None:
    # 10 bits are a little more than three digits, and 33 less than ten.
    ball = arb(1, arb(2) ** -(bits + 1))
    assert int(ball.rel_accuracy_bits()) == bits
    assert certifying.certain_digits(ball) == digits
    assert certifying.certain_digits(arb(1, 4)) == 0


def test_an_exact_error_has_the_bits_that_were_asked_for() -> None:
    balls: Any = SimpleNamespace(test_error=arb(0))
    assert Certificate(quick(), "certified", balls=balls, bits=80).digits == 80
    assert Certificate(quick(), "not certified").digits == 0


def test_the_first_reason_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    given = iter([Imprecise("first"), Imprecise("second"), ModelError("third")])

    def failing(*_: Any) -> Certificate:
        raise next(given)

    monkeypatch.setattr(certifying, "_certified", failing)
    assert certify(quick()).status == "not certified: first"
    # More bits are tried where they may help, and nowhere else.
    assert list(given) == []
    given = iter([BallError("first"), Imprecise("second")])
    assert certify(quick()).status == "not certified: first"
    assert len(list(given)) == 1


def test_what_was_certified_stays_so_where_more_bits_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    known = Certificate(quick(), "certified", balls=SimpleNamespace(test_error=arb(1, 1e-3)), bits=80)  # type: ignore[arg-type]
    for reason in (BallError, Imprecise):
        given: Any = iter([known, reason("words")])

        def next_one(*_: Any, given: Any = given) -> Certificate:
            found = next(given)
            if isinstance(found, Exception):
                raise found
            return found  # type: ignore[no-any-return]

        monkeypatch.setattr(certifying, "_certified", next_one)
        assert certify(quick(), digits=12) is known


@pytest.mark.parametrize("passes", [0, 1, 2, None])
def test_boxes_are_tried_one_after_the_other(monkeypatch: pytest.MonkeyPatch, passes: int | None) -> None:
    tried: list[Any] = []

    def looked_at(system: Any, box: Any) -> Any:
        tried.append(box)
        if box != passes:
            raise BallError(f"not in {box}")
        return "found"

    monkeypatch.setattr(certifying, "krawczyk", looked_at)
    boxes: Any = [0, 1, 2]
    if passes is None:
        with pytest.raises(BallError, match="not in 2"):
            certifying._first_zero(None, boxes)
    else:
        assert certifying._first_zero(None, boxes) == "found"
    assert tried == boxes[: 3 if passes is None else passes + 1]
