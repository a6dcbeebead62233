"""What `giantsteps solve` adds to a solution: both digits and certificate have to be reached."""

from __future__ import annotations

from collections import defaultdict
from types import SimpleNamespace

import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import PrecisionError
from giantsteps.numerics.certificates import certify
from giantsteps.numerics.models.model import Model
from giantsteps.reports.answers import certificates
from giantsteps.verify.digits import solve as solver

MODEL = Model(activation("tanh"), activation("sin"), 1.5, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=0.8)


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
