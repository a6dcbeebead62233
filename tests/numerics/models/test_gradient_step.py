"""How far errors of Hermite constants move the map of a gradient step: against differences of the map itself."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import pytest

from onestep.numerics.models.gradient_step import _errors

RATE, ALPHA0, WEIGHT, NOISE = 1.3, 2.0, 0.7, 0.2
STUDENT = {"mean": 0.4, "h1": 0.6, "h2": 0.8, "h1_check": 0.35, "curvature": 0.5}
TEACHER = {"mean": -0.3, "h1": 0.7, "h2": 1.1, "h1_check": 0.2, "curvature": 0.0}


def mapped(student: dict[str, float], teacher: dict[str, float]) -> tuple[float, float, float, float]:
    """Spike, bulk, alignment and turn by Result 3.1 for any activation."""
    output = WEIGHT * student["mean"]
    mean, square = teacher["mean"] - output, teacher["h2"] - 2.0 * output * teacher["mean"] + output**2
    second = (square + NOISE) / ALPHA0
    length, turn = math.sqrt(teacher["h1"] ** 2 + second), RATE * student["curvature"] * mean
    bulk = (1.0 + turn) ** 2 + RATE**2 * second * student["h1_check"]
    return RATE * student["h1"] * length, bulk, teacher["h1"] / length, turn


def errors(role: str, name: str, size: float) -> tuple[float, float, float, float]:
    """The same of `_errors` where one constant alone is off."""
    known: dict[str, Any] = {}
    for one, numbers in (("student", STUDENT), ("teacher", TEACHER)):
        off = {key: size if (one, key) == (role, name) else 0.0 for key in numbers}
        known[one] = SimpleNamespace(**numbers, errors=SimpleNamespace(**off))
    output = WEIGHT * STUDENT["mean"]
    square = TEACHER["h2"] - 2.0 * output * TEACHER["mean"] + output**2 + NOISE
    second = square / ALPHA0
    even: Any = SimpleNamespace(mean=STUDENT["mean"], curvature=STUDENT["curvature"])
    length = math.sqrt(TEACHER["h1"] ** 2 + second)
    found, turn = _errors(known["student"], known["teacher"], even, output, RATE, second, length, ALPHA0)
    return found.spike, found.bulk, found.alignment, turn


@pytest.mark.parametrize("name", ["mean", "h1", "h1_check", "curvature"])
@pytest.mark.parametrize("role", ["student", "teacher"])
def test_every_error_moves_the_map_by_no_more_than_is_said(role: str, name: str) -> None:
    compared(role, name)


def test_an_error_of_the_second_moment_of_the_labels() -> None:
    compared("teacher", "h2")


def compared(role: str, name: str) -> None:
    if (role, name) in (("teacher", "h1_check"), ("teacher", "curvature")):
        assert errors(role, name, 1e-6) == (0.0, 0.0, 0.0, 0.0)
        return
    size, moved = 1e-6, []
    for sign in (1.0, -1.0):
        student, teacher = dict(STUDENT), dict(TEACHER)
        (student if role == "student" else teacher)[name] += sign * size
        moved.append(mapped(student, teacher))
    for which, (low, high, said) in enumerate(zip(*moved, errors(role, name, size), strict=True)):
        change = 0.5 * abs(high - low)
        # To first order; where one constant moves a number on two ways they may have opposite signs.
        one_way = name not in ("mean", "h1") or (which in (0, 3) and name == "h1")
        assert change <= said * (1.0 + 1e-5) + 1e-15
        assert said <= (1.0 + 1e-5 if one_way else 5.0) * change + 1e-15 or (change < 1e-15 and said < 1e-15)
