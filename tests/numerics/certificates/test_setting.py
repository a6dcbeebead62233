"""Where a certificate works: which rectangles are tried, which lines there are, and what is refused on the way."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import pytest
from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.growth_bounds import BallLine, Line
from giantsteps.numerics.certificates import setting
from giantsteps.numerics.certificates.functions import MovingLine
from giantsteps.numerics.certificates.problems import line_of, problem_of
from giantsteps.numerics.certificates.slope import Moving
from giantsteps.numerics.saddle_point.ridge import solve
from tests.shared.certified_models import worked


@pytest.mark.parametrize(
    ("tallest", "distance", "bounded", "tried", "found"),
    [
        # Polynomials up to a half, and a zero far off: all heights below are tried in turn.
        (Fraction(1, 2), 9.0, Fraction(1, 3), [50, 40, 32], 32),
        # A zero that is guessed at: no more than six tenths of its distance.
        (Fraction(1), 0.35, Fraction(1), [20], 20),
        (Fraction(1), 0.35, Fraction(1, 10), [20, 16, 12, 10], 10),
        # However close it seems to be the lowest is tried.
        (Fraction(1, 2), 0.0, Fraction(1), [1], 1),
        (Fraction(1, 2), 0.0, Fraction(0), [1], None),
        (Fraction(0), 9.0, Fraction(1), [], None),
    ],
)
def test_rectangles_are_tried_from_the_tallest_that_may_be_free_of_zeros(
    tallest: Fraction, distance: float, bounded: Fraction, tried: list[int], found: int | None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    asked: list[int] = []

    def student(function: Any, line: Any, overlap: Any, tau: Any, height: Fraction, end: Fraction, even: bool) -> Any:
        assert (overlap, tau, end, even) == ("T", "tau", 5, True)
        return SimpleNamespace(distance=lambda: distance) if height <= tallest else None

    def inverse_bound(around: Any, height: Fraction, end: Fraction, even: bool) -> Any:
        asked.append(int(100 * height))
        return "bound" if height <= bounded else None

    monkeypatch.setattr(setting, "student", student)
    monkeypatch.setattr(setting, "inverse_bound", inverse_bound)
    problem: Any = SimpleNamespace(student=None, along=None, symmetric=True)
    box: Any = ("T", "tau")
    if found is None:
        with pytest.raises(BallError, match="not shown to be free of zeros"):
            setting._rectangle(problem, box, Fraction(5))
    else:
        assert setting._rectangle(problem, box, Fraction(5)) == (Fraction(found, 100), "bound")
    assert asked == tried


def test_a_rule_longer_than_its_rectangle_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    model = worked()
    solution, problem = solve(model), problem_of(model)
    box = tuple(arb(float(x)) for x in (solution.order_parameters.V1[0, 0], solution.order_parameters.V2[0]))
    plain = setting.trapezoidal
    for end, refused in (("0.999", False), ("1", True)):

        def reaching(*given: Any, end: str = end) -> Any:
            rule = plain(*given)
            # Reach is a whole number above sqrt(2 (30 ln 2 + 90)) = 14.9 by two more: 17.
            return SimpleNamespace(end=17 * arb(end), nodes=rule.nodes)

        monkeypatch.setattr(setting, "trapezoidal", reaching)
        with precision(80):
            if refused:
                with pytest.raises(BallError, match="longer than the rectangle"):
                    setting.setting(problem, solution, box, 30)
            else:
                found = setting.setting(problem, solution, box, 30)
                assert (found.reach, found.bits) == (17, 30)


def test_lines_are_rational_or_balls_or_move() -> None:
    bias = Fraction(1, 3)
    assert line_of(Fraction(2), bias, Fraction(1, 4)) == Line(Fraction(2), bias, Fraction(1, 4))
    with precision(80):
        ball = line_of(arb(-2, 0.25), bias, Fraction(1, 4))
        assert isinstance(ball, BallLine)
        assert not isinstance(ball, MovingLine)
        assert (float(ball.scale()), ball.bias) == (0.5, bias)
        # The slope as a fraction is a bound of it.
        assert 2.25 <= float(ball.slope) < 2.2501
        moving = line_of(Fraction(2), bias, Moving(arb(0.25), arb(3)))
        assert isinstance(moving, MovingLine)
        # d sqrt(v) = dv/(2 sqrt(v)).
        assert (float(moving.scale_rate), float(moving.slope_rate)) == (3.0, 0.0)
        other = line_of(Moving(arb(2), arb(5)), bias, Fraction(1, 4))
        assert isinstance(other, MovingLine)
        assert (float(other.scale_rate), float(other.slope_rate)) == (0.0, 5.0)
        assert line_of(arb(1), bias, arb(0.25, 0.2)).scale().is_finite()
        for variance in (arb(0.25, 0.26), arb(0), Moving(arb(0.25, 0.26), arb(1))):
            with pytest.raises(BallError, match="variance across the spike has to be positive"):
                line_of(arb(1), bias, variance)
