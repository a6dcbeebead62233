"""Certificates of elu, selu, softsign and the tanh form of GELU: doubles, more bits, and digits known before."""

from __future__ import annotations

from typing import Any

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.certificates.ranges.branch import certify_branch
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve
from tests.shared.certified_models import network, worked


def spiked(student: str, target: str, **changes: Any) -> Model:
    """The worked model with these functions."""
    return worked().changed(activation=activation(student), target=activation(target), **changes)


MODELS = {
    "elu": spiked("elu", "sin"),
    "selu": spiked("selu", "tanh", spike=1.4, bulk=0.7, noise=0.2),
    "softsign": spiked("softsign", "sin"),
    "gelu_tanh": spiked("gelu_tanh", "sin"),
    "target elu": spiked("sign", "elu"),
    "target selu at alignment 1": spiked("sign", "selu", alignment=1.0),
    "target gelu_tanh at alignment -1": spiked("tanh", "gelu_tanh", alignment=-1.0),
    "network softsign": network("softsign", "elu"),
    "network elu": network("elu", "sin"),
    "network selu": network("selu", "softsign"),
    "network gelu_tanh": network("gelu_tanh", "gelu_tanh"),
}
# By an adaptive integral in x for every average.
KNOWN = {"elu": "[0.216615125410557968557", "softsign": "[0.125981403001203197632"}
SLOW = ("selu", "network elu", "network selu", "network gelu_tanh")


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.thorough) if name in SLOW else name for name in MODELS]
)
def test_doubles_are_as_close_to_the_certificate_as_they_state(name: str) -> None:
    certificate, doubles = certify(MODELS[name]), solve(MODELS[name])
    assert certificate.balls is not None, certificate.status
    assert certificate.digits >= 18
    for error in ("test_error", "training_error"):
        assert abs(getattr(certificate.balls, error) - getattr(doubles, error)) <= doubles.error_estimate
    assert certificate.texts()["test_error"].startswith(KNOWN.get(name, ""))


def test_more_bits_stay_inside() -> None:
    # At alignment 1 the breakpoint of the target cuts the rule along the spike, too.
    model = spiked("sign", "softsign", alignment=1.0)
    twelve, thirty = certify(model), certify(model, digits=30)
    assert thirty.digits >= 30 > twelve.digits
    assert twelve.balls is not None
    assert thirty.balls is not None
    assert all(ball.contains(getattr(thirty.balls, name)) for name, ball in twelve.balls.named().items())


def test_breakpoints_that_doubles_do_not_tell_apart_keep_their_order() -> None:
    # x -> -x turns one model into the other; the narrow piece adds about 1e-11 to the error.
    narrow = "where(z > 1/3, exp(-z), where(z > 1/3 - 1/10**18, 5000, tanh(z)))"
    mirrored = "where(z < -1/3, exp(z), where(z < -1/3 + 1/10**18, 5000, -tanh(z)))"
    found = [certify(spiked("tanh", text, alignment=gamma)) for text, gamma in ((narrow, -1.0), (mirrored, 1.0))]
    one, other = (certificate.balls.named() for certificate in found if certificate.balls is not None)
    assert all(one[name].overlaps(other[name]) for name in one)
    assert min(certificate.digits for certificate in found) >= 18


def test_a_branch_holds_the_solutions_of_its_range() -> None:
    branch = certify_branch(spiked("softsign", "sin"), "bulk", 1.0, 1.002)
    assert branch.certified
    known = {solve(spiked("softsign", "sin", bulk=piece.low)).test_error: piece.balls for piece in branch.pieces}
    assert all(balls is not None and balls.test_error.contains(value) for value, balls in known.items())
