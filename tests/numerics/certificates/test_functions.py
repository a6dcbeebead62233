"""Functions along the spike: their bounds off the line, what narrows them, and when half of a line is enough."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.balls.gaussian_bounds import Envelope
from giantsteps.numerics.balls.growth_bounds import Line
from giantsteps.numerics.balls.rules import Along
from giantsteps.numerics.certificates import functions
from giantsteps.numerics.certificates.functions import Problem, averages_on_nodes, narrowed_one, over_variance
from giantsteps.numerics.certificates.slope import Moving


def along(*values: float, bound: float = 1.0) -> Along:
    return Along(tuple(map(arb, values)), Envelope(arb(bound)))


@pytest.mark.parametrize(("inverse", "most"), [(0.25, 1.0), (8.0, 8.0)])
def test_a_weight_is_bounded_on_the_line_and_off_it(inverse: float, most: float) -> None:
    # 1/(1 + V) <= 1 on the line, V being positive there; off it as the rectangle's bound says.
    table: Any = SimpleNamespace(mu1=along(2.0, 0.0), mu2_squared=along(3.0, 1.0))
    weight = over_variance(table, arb(0.5), arb(1), arb(inverse))
    assert [float(x) for x in weight.values] == pytest.approx([1.0 / 6.0, 0.5], rel=1e-12)
    assert (float(weight.bound.constant), weight.bound.degree) == (most, 0)
    moved = over_variance(table, Moving(arb(0.5), arb(1)), Moving(arb(1), arb(10)), arb(inverse))
    # -(4 + 30)/36 and -10/4.
    assert [float(x) for x in moved.slope.values] == pytest.approx([-34.0 / 36.0, -2.5], rel=1e-12)
    assert float(moved.value.bound.constant) == most


@pytest.mark.parametrize("height", [Fraction(1, 4), Fraction(3)])
def test_the_identity_is_bounded_off_the_line(height: Fraction) -> None:
    bound = functions._identity((), height).bound
    for x in (0.0, 0.1, 1.0, 30.0):
        assert abs(complex(x, float(height))) <= float(bound.constant) * (1.0 + x) ** bound.degree
    # Nothing less would do along the line, or at its middle.
    assert (float(bound.constant), bound.degree) == (max(1.0, float(height)), 1)


@pytest.mark.parametrize(
    ("student", "bias", "symmetric"),
    [("tanh", 0, True), ("cos(z)", 0, True), ("tanh", Fraction(1, 3), False), ("relu", 0, False)],
)
def test_half_of_the_line_is_enough_where_v_is_even(student: str, bias: Fraction, symmetric: bool) -> None:
    line, number = Line(Fraction(1), Fraction(bias), Fraction(1)), arb(1)
    problem = Problem(activation(student), activation("sin"), line, line, number, number, number, number, number)
    assert problem.symmetric == symmetric


@pytest.mark.parametrize("bias", [Fraction(0), Fraction(1, 3)])
def test_values_are_mirrored_where_the_line_goes_through_the_origin(
    bias: Fraction, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(functions, "on_nodes", lambda values, nodes, parity: asked.append(parity) or [])
    nodes: Any = SimpleNamespace(nodes=())
    averages_on_nodes(activation("tanh"), Line(Fraction(1), bias, Fraction(1)), nodes, Fraction(1), 8)
    assert asked == ["odd" if bias == 0 else ""]


def test_a_function_of_an_interval_is_narrowed_by_the_mean_value_theorem() -> None:
    offset = arb(0, 0.5)
    with precision(60):
        # Directly wider, and directly narrower.
        moving = Moving(Along((arb(1, 8), arb(1, 0.25)), Envelope(arb(9))), along(2.0, 4.0))
        found = narrowed_one(moving, along(1.0, 1.0), offset)
        assert [float(x.lower()) for x in found.value.values] == pytest.approx([0.0, 0.75], abs=1e-8)
        assert [float(x.upper()) for x in found.value.values] == pytest.approx([2.0, 1.25], abs=1e-8)
        # Off the line it is what it was.
        assert float(found.value.bound.constant) == 9.0
        assert narrowed_one(along(3.0), along(1.0), offset).values == (arb(3),)


def test_numbers_with_a_slope_move_as_differences_of_them_do() -> None:
    # x = 2 + 3 t and y = 5 - t: every operation, with a number and with its like.
    operations: dict[str, Callable[[Any, Any], Any]] = {
        "x + y": lambda x, y: x + y, "x - y": lambda x, y: x - y, "x * y": lambda x, y: x * y,
        "x / y": lambda x, y: x / y, "1 / x": lambda x, y: 7 / x, "x / 4": lambda x, y: x / 4,
        "3 - x": lambda x, y: 3 - x, "-x": lambda x, y: -x, "root": lambda x, y: x.sqrt(),
        "half": lambda x, y: x**0.5, "cube": lambda x, y: x**3, "all": lambda x, y: (x * x - 1 / y) / (x + y).sqrt(),
    }  # fmt: skip
    h = 1e-20
    with precision(200):
        x, y = Moving(arb(2), arb(3)), Moving(arb(5), arb(-1))
        for name, operation in operations.items():
            found = operation(x, y)
            assert found.value.overlaps(operation(arb(2), arb(5))), name
            ahead, behind = (operation(arb(2) + 3 * t, arb(5) - t) for t in (arb(h), arb(-h)))
            # Central differences in two hundred bits: the square of the step.
            assert float(found.slope) == pytest.approx(float((ahead - behind) / (2 * arb(h))), rel=1e-12), name
        assert (x**0).overlaps(arb(1))
