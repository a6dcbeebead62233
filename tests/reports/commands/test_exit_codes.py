"""What several answers of one command say together: the worst of them is its exit code."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

import pytest

from onestep.derivations.activations.activation import activation
from onestep.numerics.balls.arithmetic import PrecisionError
from onestep.numerics.certificates import certify
from onestep.numerics.models.model import Model
from onestep.numerics.saddle_point import solve as solver
from onestep.reports.answers import certificates
from onestep.verify.properties import run as properties
from onestep.verify.properties.run import Outcome
from tests.shared.command_line import outcome

MODEL = Model(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8)


@pytest.mark.parametrize(
    ("outcomes", "code"),
    [
        (("holds", "holds"), 0),
        (("undecided", "holds"), 3),
        (("fails", "holds"), 1),
        (("undecided", "fails"), 1),
        (("fails", "undecided"), 1),
    ],
)
def test_one_property_that_fails_decides(
    outcomes: tuple[str, ...], code: int, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    def found(*_: object) -> list[Outcome]:
        return [Outcome(f"p{k}", "It holds.", "c", 3, 0.5, word, "onestep") for k, word in enumerate(outcomes)]

    monkeypatch.setattr(properties, "run", found)
    assert outcome(capfd, ["verify", "--properties", "limits"])[0] == code


@pytest.mark.parametrize("digits", [True, False, None])
@pytest.mark.parametrize("certified", [True, False, None])
def test_digits_and_certificate_have_both_to_be_reached(
    digits: bool | None, certified: bool | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    def solved(*_: object, **__: object) -> SimpleNamespace:
        if digits:
            return SimpleNamespace(to_dict=lambda: defaultdict(str))
        raise PrecisionError("too few")

    answer = SimpleNamespace(certified=certified, to_dict=dict)
    monkeypatch.setattr(solver, "solve", solved)
    monkeypatch.setattr(certify, "certify", lambda _: answer)
    monkeypatch.setattr(certificates, "certificate_rows", lambda _: [])
    *_, reached = certificates.extras(MODEL, certified is not None, None if digits is None else 30)
    assert reached is (digits is not False and certified is not False)
