"""Rational enclosures of functions and expressions: containment against mpmath at 100 digits, and domain decisions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from typing import Any

import mpmath
import pytest

from giantsteps.derivations.activations.intervals import LINE, Interval, Undecided, constant_sign, enclose, point
from giantsteps.derivations.expressions.parser import parse
from giantsteps.numerics.gaussian.evaluate import evaluate_mpmath

FUNCTIONS = ["exp", "tanh", "erf", "erfc", "sigmoid", "softplus", "sinh", "cosh", "asinh", "atan", "sin", "cos", "tan"]
FUNCTIONS += ["log", "sqrt", "Abs"]


def real(x: Fraction) -> Any:
    return mpmath.mpf(x.numerator) / x.denominator


@pytest.mark.parametrize("bits", [32, 64, 200])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values_lie_in_their_enclosures(name: str, bits: int) -> None:
    rng = random.Random(5)
    tree = parse(f"{name}(z)")
    with mpmath.workdps(100):
        for _ in range(40):
            x = Fraction(rng.randint(-(10**5), 10**5), rng.choice([10**3, 10**4, 977]))
            if name in ("log", "sqrt"):
                x = abs(x) + Fraction(1, 7)
            if name == "tan" and abs(math.cos(x)) < 1e-3:
                continue
            box = enclose(tree, point(x), bits)
            assert isinstance(box.low, Fraction)
            assert isinstance(box.high, Fraction)
            value = evaluate_mpmath(tree, real(x))
            slack = mpmath.mpf(10) ** -95 * (1 + abs(value))  # rounding of the 100-digit reference
            assert real(box.low) <= value + slack
            assert value - slack <= real(box.high)
            # absolute or relative width, with a dozen bits for tan near its poles (|tan| < 1000, squared)
            assert real(box.high) - real(box.low) <= (1 + value**2) * mpmath.mpf(2) ** (12 - bits)


def test_boxes_hold_every_value_inside() -> None:
    rng = random.Random(6)
    for text in (
        "z*sin(z) - z**3/(1+z**2)",
        "gelu",
        "hardtanh(2*z)",
        "Piecewise((z, 0 < z < 1), (cos(3*z), True))",
        "mish",
    ):
        tree = parse(text)
        for _ in range(30):
            low = Fraction(rng.randint(-400, 400), 100)
            high = low + Fraction(rng.randint(1, 300), 100)
            box = enclose(tree, Interval(low, high))
            assert isinstance(box.low, Fraction)
            assert isinstance(box.high, Fraction)
            slack = mpmath.mpf(10) ** -25
            with mpmath.workdps(30):
                for k in range(11):
                    value = evaluate_mpmath(tree, real(low + (high - low) * Fraction(k, 10)))
                    # 64 bits outwards on our side, 30 digits on the other
                    assert real(box.low) - slack <= value <= real(box.high) + slack


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("1+z**2", 1, math.inf),
        ("2+sin(z)", 1, 3),
        ("sqrt(1+z**2)", 1, math.inf),
        ("1/cosh(z)", 0, 1),
        ("hardtanh", -1, 1),
        ("softplus(5000) - 4999", 1, 1),
    ],
)
def test_ranges_over_the_whole_line(text: str, low: float, high: float) -> None:
    box = enclose(parse(text), LINE)
    # To the 64 bits of the enclosure.
    assert float(box.low) == pytest.approx(low, rel=1e-15)
    assert float(box.high) == pytest.approx(high, rel=1e-15)


@pytest.mark.parametrize("text", ["exp(z)", "1+exp(-z)", "softplus", "1/(exp(z)+exp(-z))", "erfc(z)", "sigmoid(z)"])
def test_open_ends_prove_positivity(text: str) -> None:
    assert enclose(parse(text), LINE).positive()


@pytest.mark.parametrize("text", ["1/z", "log(z)", "sqrt(z)", "tan(z)", "1/sin(z)", "z**(1/3)"])
def test_possible_poles_are_undecided(text: str) -> None:
    with pytest.raises(Undecided):
        enclose(parse(text), LINE)


def test_signs_of_constants() -> None:
    assert constant_sign(parse("pi - 22/7")) == -1
    assert (
        constant_sign(parse("sqrt(2)*sqrt(3) - 2449489742783178098/10**18")) == 1
    )  # sqrt 6 = 2.4494897427831780981...
    assert constant_sign(parse("sqrt(2)**2 - 2"), most=256) is None  # arithmetic cannot prove equality
