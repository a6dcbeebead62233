"""A network's own bulk at any precision: against doubles, against itself, and against the theorems, compiled."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from flint import arb
from mpmath import mp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.balls.arithmetic import PrecisionError, precision
from giantsteps.numerics.balls.rules import trapezoid
from giantsteps.numerics.bulk.network_law import network_law
from giantsteps.numerics.bulk.resolvent import blocks
from giantsteps.numerics.models.model import Model, ModelError, ReadoutGroup
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.one_group import law_of_any_precision, network_any_precision
from giantsteps.numerics.saddle_point.one_group.any_precision import solve_to
from giantsteps.numerics.saddle_point.one_group.law_of_any_precision import digits_law
from giantsteps.numerics.saddle_point.one_group.network_any_precision import (
    NetworkStart,
    network_start,
    solved_on_network,
)
from giantsteps.numerics.saddle_point.one_group.profile_of_any_precision import Solved
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.compiled import network as theorems


def network(student: str, target: str, **changes: Any) -> Model:
    step = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0, **changes}
    return Model.from_gradient_step(student, target, bulk_model="network", **step)


def numbers(found: Solution) -> dict[str, Any]:
    order = found.order_parameters
    named = {"test": found.test_error, "training": found.training_error}
    names = ("m", "zeta", "chi", "psi", "q1", "q2", "V1", "V2")
    return named | {name: getattr(order, name).flat[0] for name in names}


# Odd and not, smooth and with kinks, a target with a jump, label noise, a bias, a weight, a large and a tiny step.
DRAWN = [
    ("tanh", "sin", {}),
    ("relu", "sin", {}),
    ("gelu", "sign", {"alpha0": 8.0}),
    ("tanh(z+0.7)", "tanh", {"alpha0": 10.0, "eta": 8.0, "ridge": 0.01}),
    ("softplus(z)", "tanh", {"noise": 0.3, "readout": (ReadoutGroup(-0.5, 1.0, bias=0.4),)}),
    ("leaky_relu(z, 1/5)", "z+he2(z)/5", {"alpha0": 0.5, "eta": 0.2, "beta": 2.5}),
]
# The eighth power of its labels weighs tails that the density alone does not.
GROWING = ("tanh", "z+he(7, z)/70", {"alpha0": 4.0, "eta": 1.0})


@pytest.mark.parametrize(("student", "target", "changes"), DRAWN)
def test_double_precision_is_met(student: str, target: str, changes: dict[str, Any]) -> None:
    model = network(student, target, **changes)
    double, found = solve(model), solve_to(model, 20)
    expected, precise = numbers(double), numbers(found)
    # The estimate is one of the test error; the order parameters are as good up to conditions of some hundred.
    assert abs(precise["test"] - expected["test"]) <= double.error_estimate
    for name, value in expected.items():
        assert abs(precise[name] - value) <= 1e2 * max(double.error_estimate, 1e-14) * (1 + abs(value)), name
    assert found.residual < 1e-28


@pytest.mark.parametrize(("student", "target", "changes"), [DRAWN[1], DRAWN[2], GROWING])
def test_twenty_digits_agree_with_thirty_five(student: str, target: str, changes: dict[str, Any]) -> None:
    # Other nodes along the spike, of the labels and of their noise, another precision.
    model = network(student, target, **changes)
    few, many = solve_to(model, 20), solve_to(model, 35)
    with mp.workdps(45):
        assert few.error_estimate < mp.mpf(10) ** -20
        for name, value in numbers(many).items():
            # Order parameters that the test error hardly depends on may be three digits worse.
            assert abs(numbers(few)[name] - value) < mp.mpf(10) ** -17 * (1 + abs(value)), name


def test_the_theorems_compiled_agree() -> None:
    model = network("relu", "tanh", alpha0=10.0, eta=8.0, ridge=0.01)
    compiled, error = theorems.solved(model)
    found = numbers(solve_to(model, 16))
    for name, symbol in (("test", s.test_error), ("training", s.training_error), ("chi", s.chi)):
        value = compiled.values[symbol.name]
        # What a finer rule moves, and rounding on either rule.
        assert abs(float(found[name]) - value) <= (2.0 * error + 1e-14) * (1.0 + abs(value)), name


@pytest.mark.parametrize(("student", "target", "changes"), DRAWN)
def test_the_law_is_that_of_the_doubles(student: str, target: str, changes: dict[str, Any]) -> None:
    # Both have written down h and v_c: a slip in one of them shows here.
    model = network(student, target, **changes)
    step, weight = model.network_step, model.groups[0].weight
    assert step is not None
    double = network_law(model.activation, model.target, step.alpha0, step.eta, model.beta, model.noise, False, weight)
    with precision(120):
        found = digits_law(model, 18, 1.0, 1.0, 120)
    pairs = [
        (found.omega, double.omega),
        (found.turn, double.turn),
        (found.norm_variance, double.norm_variance),
        (found.spike, model.slopes[0]),
        (found.bulk, model.bulks[0]),
        (found.alignment, model.alignment),
        *zip(found.pulled[1:], double.pulled, strict=True),
        *zip(found.vectors[2][1:], double.added, strict=True),
        *zip(found.vectors[0], (*double.direction, 0.0), strict=False),
        *zip(found.vectors[1], (*double.perpendicular, 0.0), strict=False),
    ]
    scale = max(abs(value) for _, value in pairs)
    for precise, value in pairs:
        # Averages of doubles are good to some 1e-13 of the largest.
        assert abs(float(precise) - value) <= 1e-12 * max(scale, 1.0)


def test_a_coarse_rule_of_labels_is_noticed_and_made_finer(monkeypatch: pytest.MonkeyPatch) -> None:
    right, rule = numbers(solve_to(network("relu", "sin"), 16)), law_of_any_precision.panels_of_digits
    asked: list[int] = []

    def coarse(cuts: list[Any], digits: int, share: float) -> Any:
        asked.append(digits)
        return rule(cuts, max(2, digits // 4), share)

    monkeypatch.setattr(law_of_any_precision, "panels_of_digits", coarse)
    law_of_any_precision.digits_law.cache_clear()
    try:
        found = numbers(solve_to(network("relu", "sin"), 16))
    finally:
        law_of_any_precision.digits_law.cache_clear()
    # One to see how fast the sums along the spike settle, the first pair, and a finer one.
    assert len(asked) > 3
    assert max(asked) > 1.5 * asked[1]
    for name, value in right.items():
        assert abs(found[name] - value) < mp.mpf(10) ** -13 * (1 + abs(value)), name


def test_too_many_nodes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(law_of_any_precision, "_MOST_NODES", 1000)
    with pytest.raises(PrecisionError, match="fewer digits"):
        solve_to(network("tanh", "sin", noise=0.125), 16)


@pytest.mark.parametrize(
    ("student", "changes", "words"),
    [
        ("abs", {}, "makes a spike"),
        ("tanh", {"gaussian_rows": True}, "rows of equal norm"),
        ("tanh", {"readout": (ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5))}, "uniform"),
    ],
)
def test_what_is_not_built_says_so(student: str, changes: dict[str, Any], words: str) -> None:
    with pytest.raises((ModelError, PrecisionError), match=words):
        solve_to(network(student, "sin", **changes), 20)


def test_the_distance_of_the_poles() -> None:
    # 1 + Y + Y^2 vanishes at (-1 +- i sqrt 3)/2; a square without zeros off the line has none to keep away from.
    assert law_of_any_precision.distance_of_poles(1.0, 1.0) == pytest.approx(math.sqrt(3.0) / 2.0)
    assert law_of_any_precision.distance_of_poles(0.0, 0.0) == math.inf


@pytest.fixture(scope="module")
def begun() -> tuple[Model, NetworkStart]:
    """A model with four unknowns, and where Newton's method begins."""
    model = network("relu", "sin", beta=1.3)
    return model, network_start(model, solve(model))


def solved(model: Model, start: NetworkStart) -> Solved:
    with precision(90):
        return solved_on_network(model, trapezoid(0.4, 90), start, 10)


def shifted(start: NetworkStart, which: int, by: float) -> NetworkStart:
    values = list(start.values)
    values[which] += by
    return replace(start, values=(values[0], values[1], values[2], values[3]))


@pytest.mark.parametrize("which", range(4))
def test_the_residual_sees_every_unknown(
    begun: tuple[Model, NetworkStart], which: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, start = begun
    monkeypatch.setattr(network_any_precision, "_newton", lambda equations, unknowns: [arb(0)] * 4)
    # The doubles solve the equations of so coarse a rule to eight digits, and a shift is ten thousand times that.
    assert solved(model, start).residual < 1e-8
    assert 1e-6 < solved(model, shifted(start, which, 1e-4)).residual < 1e-2


@pytest.mark.parametrize("which", ["filled", "b1", "b2"])
def test_the_residual_is_that_of_the_worst_equation(
    begun: tuple[Model, NetworkStart], which: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, start = begun

    def shifted_blocks(*given: Any) -> Any:
        at = blocks(*given)
        return at._replace(**{which: getattr(at, which) + arb("0.001")})

    # Some equations are solved to eight digits as before, and the others are not.
    monkeypatch.setattr(network_any_precision, "_newton", lambda equations, unknowns: [arb(0)] * 4)
    monkeypatch.setattr(network_any_precision, "blocks", shifted_blocks)
    assert 1e-4 < solved(model, start).residual < 1e-2


def test_each_gap_is_relative_to_its_own_unknown(
    begun: tuple[Model, NetworkStart], monkeypatch: pytest.MonkeyPatch
) -> None:
    model, start = begun
    T, tau = start.values[:2]
    gains: list[float] = []

    def shifted_blocks(*given: Any) -> Any:
        gains.append(float(given[1].real))
        at = blocks(*given)
        return at._replace(filled=at.filled + arb("0.00001"))

    monkeypatch.setattr(network_any_precision, "_newton", lambda equations, unknowns: [arb(0)] * 4)
    monkeypatch.setattr(network_any_precision, "blocks", shifted_blocks)
    found = solved(model, start).residual
    # T = tau f and tau = 1/(ridge + D + C f), f off by 1e-5; C = g/(beta tau). Second order leaves 1e-5 of it.
    expected = 1e-5 * max(tau / (1.0 + T), gains[-1] * tau / model.beta / (1.0 + tau))
    assert float(found) == pytest.approx(expected, rel=1e-3)
    assert pytest.approx(tau, rel=0.1) != T


def test_newtons_method_goes_on_until_every_unknown_has_settled(begun: tuple[Model, NetworkStart]) -> None:
    model, start = begun
    known = solved(model, start)
    for which in range(4):
        # From a percent away, to more digits than were asked for.
        found = solved(model, shifted(start, which, 0.01 * start.values[which]))
        assert found.residual < 1e-20
        # By Newton's method, each step the square of the one before: not by slopes that are about right.
        assert found.iterations <= 5
        assert max(abs(x - y) for x, y in zip(found.values, known.values, strict=True)) < 1e-18


@pytest.mark.parametrize(
    "steps", [[2.0, 0.0, 0.0, 0.0], [0.0, 2.0, 0.0, 0.0], [0.0, 0.0, 1e-3, 0.0], [0.0, 0.0, 0.0, 1e-3]]
)
def test_what_leads_nowhere_is_no_solution(
    begun: tuple[Model, NetworkStart], steps: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def newton(equations: Any, unknowns: list[Any]) -> list[Any]:
        calls.append(1)
        # T and tau below zero, or a place of the resolvent that moves on and on.
        return [arb(step) * (q if step > 1.0 else 1) for step, q in zip(steps, unknowns, strict=True)]

    monkeypatch.setattr(network_any_precision, "_newton", newton)
    monkeypatch.setattr(network_any_precision, "_MOST_STEPS", 4)
    with pytest.raises(PrecisionError, match="did not converge"):
        solved(*begun)
    assert len(calls) == (1 if max(steps) > 1.0 else 4)


def test_a_start_knows_the_doubles_and_how_far_the_poles_of_its_own_places_are(
    begun: tuple[Model, NetworkStart],
) -> None:
    model, start = begun
    T, tau, b1, b2 = start.values
    order = solve(model).order_parameters
    assert (T, tau) == (order.V1[0, 0], order.V2[0])
    # Of relu both count: without b1 the poles would be farther.
    assert start.poles == law_of_any_precision.distance_of_poles(b1, b2) < 0.99 * b2**-0.5
    with pytest.raises(ModelError, match="rows of equal length"):
        network_start(network("tanh", "sin", gaussian_rows=True), solve(network("tanh", "sin")))


@pytest.mark.parametrize(("which", "units"), [(0, 0.0), (1, 0.0), (2, 1.0), (3, 1.0)])
def test_steps_are_small_in_units_of_what_they_move(
    which: int, units: float, begun: tuple[Model, NetworkStart], monkeypatch: pytest.MonkeyPatch
) -> None:
    # T and tau in units of their own, however small they are; b1 and b2, which may vanish, in units of one and more.
    model, start = begun
    start = replace(start, values=(3e-11, 5e-12, *start.values[2:]))
    monkeypatch.setattr(network_any_precision, "_linear", lambda equations, unknowns, iteration: iteration)
    for share, made in ((0.9e-12, 1), (1.1e-12, 2)):
        # For ten digits a step of 1e-12 is the last.
        steps = iter([share * (abs(start.values[which]) + units), 0.0])

        def newton(*_: Any, steps: Any = steps) -> list[Any]:
            moved = next(steps)
            return [arb(moved if k == which else 0.0) for k in range(4)]

        monkeypatch.setattr(network_any_precision, "_newton", newton)
        assert solved(model, start) == made
