"""A problem in balls is that of the model: its lines along the spike, its law, and both as a parameter moves."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from flint import arb

from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.growth_bounds import Line
from giantsteps.numerics.bulk.network import signal_vectors
from giantsteps.numerics.bulk.network_law import step_laws
from giantsteps.numerics.certificates.problems import line_of, problem_of
from giantsteps.numerics.certificates.slope import Moving
from giantsteps.numerics.models.model import Model, ReadoutGroup
from tests.shared.certified_models import network

ALONG = {
    "alpha": 1.7, "beta": 0.7, "ridge": 0.3, "noise": 0.25, "spike": 1.3, "bulk": 1.2, "alignment": 0.5, "alpha0": 2.0,
    "eta": 0.7,
}  # fmt: skip
GROUPS = {
    "half": ReadoutGroup(0.5), "turned and biased": ReadoutGroup(-1.0, bias=0.3), "bulk": ReadoutGroup(2.0, bulk=1.4),
}  # fmt: skip


def stepped(group: ReadoutGroup, bulk_model: str = "isotropic") -> Model:
    return Model.from_gradient_step(
        "tanh", "sin", alpha=1.5, beta=1.0, ridge=0.1, noise=0.1, alpha0=3.0, eta=1.0, readout=(group,),
        bulk_model=bulk_model,
    )  # fmt: skip


@pytest.mark.parametrize("kind", ["given", "after a step", "network"])
@pytest.mark.parametrize("group", GROUPS)
def test_the_problem_along_a_parameter_is_that_of_the_model_there(group: str, kind: str) -> None:
    # The sign of a spike, say, does not move the unknowns of Krawczyk's test: it would not notice.
    if (group, kind) == ("bulk", "network"):
        return
    model = stepped(GROUPS[group], "network" if kind == "network" else "isotropic")
    model = model.as_given() if kind == "given" else model
    left_out = {"alpha0", "eta"} if kind == "given" else {"spike", "bulk", "alignment"}
    left_out |= {"noise"} if kind == "network" else set()
    left_out |= {"bulk"} if model.groups[0].bulk is not None else set()
    for name in ALONG.keys() - left_out:
        with precision(100):
            there = problem_of(model.changed(**{name: ALONG[name]}), 64)
            for value in (arb(ALONG[name]), Moving(arb(ALONG[name]), arb(1))):
                along = problem_of(model, 64, **{name: value})
                pairs = [(along.law, there.law)] if kind != "network" else [(along.law.rows, there.law.rows)]
                pairs = [(one.bulk, other.bulk) for one, other in pairs]
                pairs += [(getattr(along, n), getattr(there, n)) for n in ("alpha", "beta", "ridge", "noise")]
                for line, other in ((along.along, there.along), (along.teacher, there.teacher)):
                    pairs += [(line.factor(), other.factor()), (line.scale(), other.scale())]
                    assert line.bias == other.bias
                for one, other in pairs:
                    number = one.value if isinstance(one, Moving) else one
                    assert float(number) == pytest.approx(float(other), abs=1e-13), name


@pytest.mark.parametrize("name", ["beta", "alpha0", "eta"])
@pytest.mark.parametrize("kind", ["after a step", "network"])
def test_both_lines_move_with_the_step(kind: str, name: str) -> None:
    model, step = stepped(ReadoutGroup(1.5), "network" if kind == "network" else "isotropic"), arb(2) ** -20
    with precision(100):
        moved = problem_of(model, 60, **{name: Moving(arb(2), arb(1))})
        low, high = (problem_of(model, 60, **{name: 2 + x}) for x in (-step, step))
        for which in ("along", "teacher"):
            line, first, second = (getattr(one, which) for one in (moved, low, high))
            rates = line.rates or (arb(0), arb(0))
            ends = [(x.factor(), x.scale()) for x in (first, second)]
            for rate, before, after in zip(rates, *ends, strict=True):
                # The third derivative leaves a millionth of a millionth.
                assert abs(rate - (after - before) / (2 * step)) < arb("1e-9"), which


@pytest.mark.parametrize("group", [ReadoutGroup(-0.7, bias=0.3), ReadoutGroup(1.6)])
@pytest.mark.parametrize(("student", "noise"), [("tanh(z + 0.7)", 0.2), ("tanh", 0.0)])
def test_the_law_of_the_rows_is_that_of_the_doubles(group: ReadoutGroup, student: str, noise: float) -> None:
    # A weight of the readout multiplies eta, and the mean that the step sees; a bias moves the line alone.
    model = network(student, "tanh(z) + 1/2", readout=(group,), alpha0=3.0, beta=0.8, noise=noise)
    (law,) = step_laws(model)
    with precision(100):
        found = problem_of(model, 50)
    rows = found.law.rows
    for name in ("omega", "turn", "batch_ratio", "norm_variance", "bulk"):
        assert float(getattr(rows, name)) == pytest.approx(getattr(law, name), rel=1e-11, abs=1e-13), name
    expected = signal_vectors(law).ravel().tolist()
    assert [float(x) for x in np.ravel(rows.vectors)] == pytest.approx(expected, rel=1e-11, abs=1e-13)
    assert float(rows.alignment) == pytest.approx(model.alignment, rel=1e-12)
    assert float(found.along.factor()) == pytest.approx(group.weight * model.spike, rel=1e-12)
    assert (found.along.bias, found.teacher.bias) == (model.biases[0], 0)
    assert found.law.names == (("b2",) if student == "tanh" else ("b1", "b2"))


def test_a_slight_even_part_is_an_even_part() -> None:
    # E[sigma''] of 1e-38 lies in a ball around zero that is more than zero: b1 stays an unknown.
    with precision(130):
        assert problem_of(network("sin(z)+sigmoid(z)+z**2/10**38", "tanh", eta=0.3), 90).law.names == ("b1", "b2")


def test_lines_are_rational_or_balls_or_move() -> None:
    bias = Fraction(1, 3)
    assert line_of(Fraction(2), bias, Fraction(1, 4)) == Line(Fraction(2), bias, Fraction(1, 4))
    with precision(80):
        ball = line_of(arb(-2, 0.25), bias, Fraction(1, 4))
        assert ball.rates is None
        assert (float(ball.scale()), ball.bias) == (0.5, bias)
        # The slope as a fraction is a bound of it.
        assert 2.25 <= float(ball.slope) < 2.2501
        rates = [
            (Fraction(2), Moving(arb(0.25), arb(3)), (3.0, 0.0)),
            (Moving(arb(2), arb(5)), Fraction(1, 4), (0.0, 5.0)),
        ]
        for slope, variance, expected in rates:
            # d sqrt(v) = dv/(2 sqrt(v)).
            rates: Any = line_of(slope, bias, variance).rates
            assert tuple(map(float, reversed(rates))) == expected
        for variance in (arb(0.25, 0.26), arb(0), Moving(arb(0.25, 0.26), arb(1))):
            with pytest.raises(BallError, match="variance across the spike has to be positive"):
                line_of(arb(1), bias, variance)
