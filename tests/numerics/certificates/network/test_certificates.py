"""Certificates of a network's own bulk hold the digits of another code, and their parts what they enclose."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import pytest
from flint import arb
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.bulk.network import frame
from giantsteps.numerics.bulk.network_law import step_laws
from giantsteps.numerics.certificates import certify as certificates
from giantsteps.numerics.certificates.certify import certify
from giantsteps.numerics.certificates.network import saddle_point
from giantsteps.numerics.certificates.network.labels import LabelBalls
from giantsteps.numerics.certificates.slope import Moving
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.verify.digits.solve import solve as solve_to

BITS = 90


def network(student: str, target: str, **changes: Any) -> Model:
    step = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0, **changes}
    return Model.from_gradient_step(student, target, bulk_model="network", **step)


@pytest.mark.parametrize(
    ("student", "target", "changes"),
    [
        ("tanh", "sin", {}),
        ("relu", "sin", {}),
        ("softplus(z)", "sign", {"alpha0": 6.0, "eta": 1.5}),
        ("relu", "sin", {"noise": 0.3}),
        # After a short step 80 bits are not enough.
        ("relu", "sin", {"eta": 1e-3}),
    ],
)
def test_the_certificate_holds_the_digits(student: str, target: str, changes: dict[str, Any]) -> None:
    # The digits have rules of their own along the spike and for the labels, and slopes by complex steps.
    model = network(student, target, **changes)
    found, digits = certify(model), solve_to(model, digits=30)
    assert found.certified, found.status
    assert found.digits >= 12
    # What is shown is that there is one in the box, not that there is none outside.
    assert found.only_by == ""
    order = digits.order_parameters
    values = {"test_error": digits.test_error, "training_error": digits.training_error}
    values |= {name: getattr(order, name).flat[0] for name in ("m", "zeta", "chi", "psi", "q1", "q2", "V1", "V2")}
    with mp.workdps(35):
        for name, value in values.items():
            ball = getattr(found.balls, name)
            middle, radius = (mp.make_mpf(part._mpf_) for part in (ball.mid(), ball.rad()))
            assert abs(value - middle) <= radius + mp.mpf(10) ** -29, name
            # It says something: a ball as wide as the number would hold anything.
            assert radius < mp.mpf(10) ** -15 * (1 + abs(value)), name


@pytest.mark.parametrize("group", [ReadoutGroup(-0.7, bias=0.3), ReadoutGroup(1.6)])
@pytest.mark.parametrize(("student", "noise"), [("tanh(z + 0.7)", 0.2), ("tanh", 0.0)])
def test_the_law_of_the_rows_is_that_of_the_doubles(group: ReadoutGroup, student: str, noise: float) -> None:
    # A weight of the readout multiplies eta, and the mean that the step sees; a bias moves the line alone.
    model = network(student, "tanh(z) + 1/2", readout=(group,), alpha0=3.0, beta=0.8, noise=noise)
    (law,) = step_laws(model)
    with precision(100):
        found = saddle_point.network_problem(model, 50)
    for name in ("omega", "turn", "batch_ratio", "norm_variance", "bulk"):
        assert float(getattr(found.law, name)) == pytest.approx(getattr(law, name), rel=1e-11, abs=1e-13), name
    vectors, pulled = frame(law)
    assert [float(x) for x in found.law.vectors.ravel()] == pytest.approx(
        vectors.ravel().tolist(), rel=1e-11, abs=1e-13
    )
    assert [float(x) for x in found.law.pulled.ravel()] == pytest.approx(pulled.tolist(), rel=1e-11, abs=1e-13)
    spike = group.weight * model.spike
    assert float(found.law.alignment) == pytest.approx(model.alignment, rel=1e-12)
    assert (float(found.law.spike), float(found.problem.along.factor())) == pytest.approx((spike, spike), rel=1e-12)
    assert (found.problem.along.bias, found.problem.teacher.bias) == (model.biases[0], 0)
    for name in ("alpha", "beta", "ridge", "noise"):
        assert float(getattr(found.problem, name)) == getattr(model, name)


def test_other_equations_have_no_solution_in_the_box(monkeypatch: pytest.MonkeyPatch) -> None:
    # A millionth more of omega moves the solution out of every box that is tried.
    law = saddle_point.rows_law

    def wrong(*given: Any) -> Any:
        found = law(*given)
        return replace(found, omega=found.omega * (1 + arb(10) ** -6))

    monkeypatch.setattr(saddle_point, "rows_law", wrong)
    assert not certify(network("relu", "sin")).certified


def test_wrong_slopes_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    slopes = saddle_point.block_slopes

    def wrong(*given: Any) -> Any:
        filled, one, two = slopes(*given)
        return filled, one, (two[0], two[1], two[2] * 1.05)

    monkeypatch.setattr(saddle_point, "block_slopes", wrong)
    found = certify(network("relu", "sin"))
    assert not found.certified
    assert "slopes contradict" in found.status


@pytest.mark.parametrize("target", ["sin(z)", "sign(z)", "Max(z, 0)"])
@pytest.mark.parametrize(("b1", "b2"), [(0.0, 0.2), (0.3, 0.4), (-1.1, 0.35)])
def test_averages_over_labels_hold_those_of_a_plain_sum(target: str, b1: float, b2: float) -> None:
    with precision(BITS + 40):
        labels = LabelBalls(activation(target), arb("0.3"), BITS)
        width = arb("0.001")
        # A box off its middle, whose corner is the point: the slopes have to reach it.
        box = arb(b1) + width + arb(0, 1) * width, arb(b2) + width + arb(0, 1) * width
        once, twice = labels.over(*box, 8)
        exact = labels.over(arb(b1), arb(b2), 8)

    def mean(i: int, j: int, k: int) -> float:
        def integrand(node: Any) -> float:
            u = float(node)  # all of the sum is one of doubles
            y = float({"sin(z)": math.sin(u), "sign(z)": math.copysign(1.0, u), "Max(z, 0)": max(u, 0.0)}[target]) - 0.3
            return u**i * y**j / (1.0 + b1 * y + b2 * y * y) ** k * math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)

        return float(mp.quad(integrand, [-12, -6, -3, 0, 3, 6, 12]))

    for i, j in ((0, 1), (0, 2), (0, 8), (1, 2), (1, 5), (2, 1), (2, 2)):
        for k, wide, narrow in ((1, once, exact[0]), (2, twice, exact[1])):
            plain = mean(i, j, k)
            assert abs(float(narrow[i][j].mid()) - plain) < 1e-11 * (1 + abs(plain)), (i, j, k)
            assert wide[i][j].contains(narrow[i][j].mid()), (i, j, k)
            assert narrow[i][j].rad() < 1e-15


def test_a_denominator_that_may_vanish_is_refused() -> None:
    with precision(BITS), pytest.raises(BallError, match="positive on the line"):
        LabelBalls(activation("sin(z)"), arb(0), BITS).over(arb(2), arb(1), 2)


def test_moments_of_labels_are_those_of_their_centre() -> None:
    # Y = u - 1/2: E[u Y] = 1, E[Y^2] = 5/4, E[u^2 Y] = -1/2.
    with precision(BITS):
        plain, tilted, twice = LabelBalls(activation("z"), arb(1) / 2, BITS).moments(3)
        assert (tilted[1] - 1).contains(0)
        assert (plain[2] - arb(5) / 4).contains(0)
        assert (twice[1] + arb(1) / 2).contains(0)


def test_numbers_with_a_slope() -> None:
    x = Moving(arb(2), arb(3))
    found = [x + 1, 1 - x, x * x, 1 / x, (4 * x + 1) ** 0.5, x / Moving(arb(4), arb(1)), -x]
    expected = [(3, 3), (-1, -3), (4, 12), (0.5, -0.75), (3, 2), (0.5, 0.625), (-2, -3)]
    for number, (value, slope) in zip(found, expected, strict=True):
        assert float(number.value) == pytest.approx(value)
        assert float(number.slope) == pytest.approx(slope)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"gaussian_rows": True}, "rows of equal norm"),
        ({"ridge": 0.0}, "positive ridge"),
        ({"loss": "huber:1"}, "square loss"),
    ],
)
def test_what_is_not_built_says_so(changes: dict[str, Any], words: str) -> None:
    assert words in certify(network("tanh", "sin", **changes)).status


def test_without_a_spike_no_certificate() -> None:
    assert "no spike" in certificates.certify(network("abs", "sin")).status


def test_a_slight_even_part_is_an_even_part() -> None:
    # E[sigma''] of 1e-38 lies in a ball around zero that is more than zero: b1 stays an unknown.
    model = network("sin(z)+sigmoid(z)+z**2/10**38", "tanh", eta=0.3)
    with precision(BITS + 40):
        assert saddle_point.network_problem(model, BITS).turned
        assert not saddle_point.network_problem(network("tanh", "sin"), BITS).turned


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (network("Max(z,0)**(3/2)", "sin"), "not certified: "),
        (network("relu", "sin", alpha0=0.01, eta=50.0), "do not settle"),
        (network("z", "sin"), "linear activation"),
    ],
)
def test_what_has_no_certificate_raises_nothing(model: Model, words: str) -> None:
    assert words in certify(model).status
