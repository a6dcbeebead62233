"""The rule of labels with noise to many digits: each thing that limits it, against closed forms in balls."""

from __future__ import annotations

import math
from typing import Any

import pytest
from flint import arb

from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.one_group import law_of_any_precision

DIGITS, NOISE, BITS = 12, 0.5, 200


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, float]]:
    """How many digits a rule along u is asked for; it is one node at u = 1/4 instead, where Y = 1/4 + sqrt(1/2) e."""
    found: list[tuple[int, float]] = []

    def one_node(cuts: Any, digits: int, share: float) -> list[tuple[Any, Any]]:
        found.append((digits, share))
        return [(arb(0.25), arb(1))]

    monkeypatch.setattr(law_of_any_precision, "panels_of_digits", one_node)
    return found


def rule(target: str, poles: float, noise: float = NOISE, share: float = 1.0) -> tuple[list[Any], list[list[Any]]]:
    model = Model.from_gradient_step(
        "relu", target, alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=3.0, noise=noise, bulk_model="network"
    )
    return law_of_any_precision._label_rule(model, arb(0.25), DIGITS, share, poles)


def relative(weights: list[list[Any]], order: int, values: list[Any], exact: Any) -> float:
    found = sum((w[order] * value for w, value in zip(weights, values, strict=True)), arb(0))
    return abs(float((found - exact) / exact))


@pytest.mark.parametrize("distance", [0.05, 0.3])
def test_averages_over_noise_have_the_digits(distance: float, asked: list[tuple[int, float]]) -> None:
    with precision(BITS):
        y, weights = rule("z", distance)
        digits = asked[0][0]
        # The grid has twelve digits more than the rule along u, but for the powers of its ends.
        for order, share in enumerate((1.0, 0.25, 0.0625)):
            assert relative(weights, order, [arb(1)] * len(y), arb(share)) < 10.0 ** -(digits + 8)
        assert relative(weights, 0, [x**8 for x in y], 105 * arb(NOISE) ** 4) < 10.0**-digits
        # 1/(1 + Y^2/a^2) has poles at +-i a: sqrt(pi) z exp(z^2) erfc(z), z = a/sqrt(2 noise).
        a = arb(distance)
        z = a / (2 * arb(NOISE)).sqrt()
        exact = arb.pi().sqrt() * z * (z * z).exp() * z.erfc()
        assert relative(weights, 0, [1 / (1 + (x / a) ** 2) for x in y], exact) < 10.0**-digits


def test_far_poles_leave_the_step_to_the_density(asked: list[tuple[int, float]]) -> None:
    with precision(BITS):
        y, weights = rule("z", math.inf)
        assert relative(weights, 0, [arb(1)] * len(y), arb(1)) < 10.0 ** -(asked[0][0] + 8)
        # h = pi s sqrt(2/w) and sqrt(2 w) s to both sides, w the digits in powers of e: 2 w/pi nodes, and what is
        # rounded up.
        wanted = math.log(10.0) * (asked[0][0] + 12)
        assert len(y) == pytest.approx(2.0 * wanted / math.pi, abs=3.0)


@pytest.mark.parametrize(("target", "degree"), [("sign", 0), ("z", 1), ("z+he(3, z)/70", 3)])
def test_the_rule_along_u_has_the_digits_that_powers_take(
    target: str, degree: int, asked: list[tuple[int, float]]
) -> None:
    with precision(BITS):
        y, weights = rule(target, 1.0, noise=0.0)
        rule(target, 1.0, noise=0.0, share=0.5)
    (digits, _), (half, _) = asked
    # Where the density leaves so many digits u^2 Y^8 leaves those that were asked for, and hardly more.
    taken = (8 * degree + 2) * math.log10(math.sqrt(2.0 * math.log(10.0) * digits))
    assert DIGITS <= digits - taken < DIGITS + 0.5 * (8 * degree + 2) + 1.0
    assert half == pytest.approx(0.5 * digits, abs=1.0)
    assert len(y) == len(weights) == 1
