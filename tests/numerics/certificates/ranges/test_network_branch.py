"""Certified branches of a network's own bulk: points of another solver lie in the tubes, and slips are noticed."""

from __future__ import annotations

from dataclasses import fields
from fractions import Fraction
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.certify import NETWORK_BITS, Imprecise
from giantsteps.numerics.certificates.network import saddle_point
from giantsteps.numerics.certificates.network.labels import LabelBalls
from giantsteps.numerics.certificates.network.saddle_point import network_problem
from giantsteps.numerics.certificates.ranges import network_tubes, tubes
from giantsteps.numerics.certificates.ranges.branch import Branch, certify_branch
from giantsteps.numerics.certificates.ranges.network_tubes import OF_ROWS, NetworkTubes
from giantsteps.numerics.certificates.saddle_point import Enclosed
from giantsteps.numerics.certificates.slope import Moving, slope_of, value_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.one_group.batch import solve_batch

# The functions along the spike of relu are nearly of one line, and its tubes are short.
RANGES = {
    "alpha": ("tanh", "alpha", 1.5, 1.504), "ridge": ("tanh", "ridge", 0.1, 0.1004),
    "eta": ("tanh", "eta", 3.0, 3.002), "alpha0": ("tanh", "alpha0", 2.0, 2.002), "beta": ("tanh", "beta", 1.0, 1.001),
    "any": ("relu", "alpha", 1.5, 1.501), "turned": ("relu", "eta", 3.0, 3.001),
    "short": ("tanh", "eta", 1e-3, 1.001e-3),
}  # fmt: skip
ERRORS = ("test_error", "training_error", "m", "zeta", "chi", "psi", "q1", "q2", "V1", "V2")


def _model(student: str) -> Model:
    return Model.from_gradient_step(
        activation(student), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=3.0,
        bulk_model="network",
    )  # fmt: skip


@cache
def _branch(which: str) -> Branch:
    student, *range_ = RANGES[which]
    return certify_branch(_model(student), *range_, most=6)


def _outside(found: Branch) -> int:
    """How many numbers of a batch at random points lie outside of the balls of the pieces that they belong to."""
    rng, missed = np.random.default_rng(8), 0
    for piece in found.pieces:
        if piece.balls is None:
            continue
        places = np.concatenate([[piece.low, piece.high], rng.uniform(piece.low, piece.high, 6)])
        batch = solve_batch(found.model, **{found.parameter: places})
        for name in ERRORS:
            ball = getattr(piece.balls, name)
            # The doubles have errors of their own, of about 1e-12.
            missed += sum(not ball.overlaps(arb(float(x), 1e-11)) for x in getattr(batch, name))
    return missed


# Two seconds a tube of relu are too many for the fast tests, and so is a short step, which takes more bits; along eta
# more moves than along the others.
_SLOW = [pytest.param(name, marks=pytest.mark.thorough) for name in RANGES if name not in ("alpha", "eta")]


@pytest.mark.parametrize("which", ["alpha", "eta", *_SLOW])
def test_random_points_lie_in_the_tubes(which: str) -> None:
    found, (_, _, low, high) = _branch(which), RANGES[which]
    assert found.certified, [piece.status for piece in found.pieces]
    assert [piece.low for piece in found.pieces] == [low, *(piece.high for piece in found.pieces[:-1])]
    assert found.pieces[-1].high == high
    assert _outside(found) == 0
    # It says something, and that no other solution lies outside is not shown.
    assert max(piece.width for piece in found.pieces) <= 0.01
    assert found.only_by == ""


@pytest.mark.parametrize(("student", "words"), [("z**2", "no spike"), ("z", "linear activation")])
def test_what_is_built_nowhere_is_said_once(student: str, words: str) -> None:
    (piece,) = certify_branch(_model(student), "eta", 3.0, 3.5).pieces
    assert words in piece.status


@pytest.mark.parametrize("then", [BallError, Imprecise])
def test_bits_that_did_not_help_are_given_back(then: type[BallError], monkeypatch: pytest.MonkeyPatch) -> None:
    # Else a branch would pay for them to its end, and fail where labels have no rule of so many bits.
    tried = []

    def failing(self: NetworkTubes, low: float, high: float) -> None:
        tried.append(self.bits)
        raise then if len(tried) > 1 else Imprecise

    monkeypatch.setattr(tubes.Tubes, "tube", failing)
    found = NetworkTubes(_model("tanh"), "eta")
    with pytest.raises(then):
        found.tube(3.0, 3.001)
    assert found.bits == tried[0] < tried[1]


def test_averages_over_labels_that_do_not_move_make_a_wrong_tube(monkeypatch: pytest.MonkeyPatch) -> None:
    # What else may slip is of the method, which is that of the isotropic bulk, and its tests'.
    monkeypatch.setattr(saddle_point, "slope_of", lambda number: arb(0))
    found = certify_branch(_model("tanh"), "alpha", 1.5, 1.504, most=1)
    assert not found.certified or _outside(found)


@pytest.mark.parametrize("noise", [Fraction(0), Fraction(1, 4)])
def test_averages_over_a_wide_box_hold_those_of_its_points(noise: Fraction) -> None:
    with precision(100):
        labels = LabelBalls(activation("relu"), arb("0.3"), 44, noise)
        box = arb("0.3", "0.05"), arb("0.4", "0.05")
        wide = labels.over(*box, 8, 3)
        for b1, b2 in (("0.25", "0.35"), ("0.35", "0.45"), ("0.26", "0.44")):
            exact = labels.over(arb(b1), arb(b2), 8, 3)
            for k, (rows, points) in enumerate(zip(wide, exact, strict=True)):
                assert [len(row) for row in rows] == [9 + 2 * k] * 3
                for row, point in zip(rows, points, strict=True):
                    assert all(ball.overlaps(x) for ball, x in zip(row, point, strict=True))
                    # The box moves D by less than four tenths of itself, 1/D^3 by 3.6 times: no recursion multiplies
                    # that. Odd powers have the sizes of their neighbours.
                    for j, ball in enumerate(row):
                        assert ball.rad() < 6 * (1 + max(map(abs, point[: j + 2])))


def test_the_averages_fulfil_the_equation_of_the_denominator() -> None:
    # E[Y^j/D^2] (D of the third order) = E[Y^j/D^3 (1 + b1 Y + b2 Y^2)], and the slope of E[Y^j/D^2] in b1.
    with precision(120):
        labels = LabelBalls(activation("sin"), arb(0), 60)
        b1, b2, step = arb("0.1"), arb("0.3"), arb(2) ** -20
        _, twice, thrice = labels.over(b1, b2, 4, 3)
        _, moved = labels.over(b1 + step, b2, 4)
        for j in range(4):
            # The rest of a difference of this step, a millionth, is of its own size.
            assert abs((moved[0][j] - twice[0][j]) / step + 2 * thrice[0][j + 1]) < arb("1e-4")


@pytest.mark.parametrize(("student", "value"), [("tanh", 3.25), ("relu", 2.5)])
def test_the_law_along_a_parameter_is_that_of_the_model_there(student: str, value: float) -> None:
    for name in OF_ROWS:
        with precision(100):
            moved = network_problem(_model(student), 60, **{name: Moving(arb(value, 1e-12), arb(1))})
            there = network_problem(_model(student).changed(**{name: value}), 60)
            for one in fields(there.law):
                pair = (np.ravel(getattr(of.law, one.name)) for of in (moved, there))
                for number, other in zip(*pair, strict=True):
                    # 1e-12 of a parameter moves no number of the law by a millionth.
                    assert arb(0, 1e-6).contains(value_of(number) - other), (name, one.name)


def test_both_lines_move_with_the_law() -> None:
    # Along alpha0 alone the teacher's line moves, too.
    step = arb(2) ** -20
    with precision(100):
        for name in OF_ROWS:
            moved = network_problem(_model("tanh"), 60, **{name: Moving(arb(2), arb(1))}).problem
            low, high = (network_problem(_model("tanh"), 60, **{name: 2 + x}).problem for x in (-step, step))
            for which in ("along", "teacher"):
                line, first, second = (getattr(one, which) for one in (moved, low, high))
                rates = getattr(line, "slope_rate", arb(0)), getattr(line, "scale_rate", arb(0))
                ends = [(x.factor(), x.scale()) for x in (first, second)]
                for rate, before, after in zip(rates, *ends, strict=True):
                    # The third derivative leaves a millionth of a millionth.
                    assert abs(rate - (after - before) / (2 * step)) < arb("1e-9"), (name, which)


def test_more_bits_are_those_of_all_that_an_interval_is_made_of(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(NetworkTubes, "bits", 12)
    assert certify_branch(_model("tanh"), "alpha", 1.5, 1.5 + 1e-8, most=1).certified


@pytest.mark.parametrize(("student", "parameter"), [("tanh", "ridge"), ("relu", "eta")])
def test_the_slopes_of_a_tube_are_those_of_the_doubles(
    student: str, parameter: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Tubes are so much wider than their points' range that a wrong slope may hide in them: here it may not.
    seen, plain = [], tubes._mean_value

    def watched(middle: Enclosed, moved: Enclosed, offset: Any) -> Enclosed:
        seen.append(moved)
        return plain(middle, moved, offset)

    monkeypatch.setattr(tubes, "_mean_value", watched)
    model = _model(student)
    low = 3.0 if parameter == "eta" else getattr(model, parameter)
    assert certify_branch(model, parameter, low, low * (1.0 + 1e-8), most=1).certified
    step = 1e-4 * low
    ends = solve_batch(model, **{parameter: [low - step, low + step]})
    for name in ERRORS:
        first, second = getattr(ends, name)
        expected, found = (second - first) / (2.0 * step), float(slope_of(getattr(seen[0], name)).mid())
        # The third derivative of a central difference leaves 1e-8, the width of the tube less than a millionth.
        assert found == pytest.approx(expected, rel=1e-5), name


def test_more_bits_are_those_of_the_law_and_its_labels(monkeypatch: pytest.MonkeyPatch) -> None:
    # What was known with fewer is made anew: the law, the rule along the spike and the functions on it.
    seen = []

    def failing(self: NetworkTubes, low: float, high: float) -> None:
        seen.append((self.bits, self._network, self._known, self._tables))
        self._known = self._tables = ("of before",)  # type: ignore[assignment]
        if len(seen) < 3:
            raise Imprecise

    monkeypatch.setattr(network_tubes, "network_problem", lambda model, bits: bits)
    monkeypatch.setattr(tubes.Tubes, "tube", failing)
    NetworkTubes(_model("tanh"), "alpha").tube(1.5, 1.501)
    bits = [40, 60, 90]
    assert seen == [(n, n + NETWORK_BITS, None, None) for n in bits]


@pytest.mark.parametrize("parameter", ["ridge", "alpha0"])
def test_the_equations_of_an_interval_are_those_of_all_of_it(parameter: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # In the middle, over the interval, with slopes: each of its own problem and functions, the setting of all of it.
    seen: dict[str, Any] = {}

    def watched(*given: Any) -> Any:
        seen["systems"] = given
        raise BallError("far enough")

    def setting(self: NetworkTubes, problem: Any, solution: Any, box: Any, interval: Any) -> Any:
        seen.setdefault("asked", (problem, interval))
        return SimpleNamespace(
            rule=None, inverse=None, functions=lambda one: ("of", one), norm_slope=lambda one: ("bent", one)
        )

    monkeypatch.setattr(NetworkTubes, "_setting", setting)
    monkeypatch.setattr(NetworkTubes, "_unknowns", lambda self, value: (1.0, 1.0, 1.0))
    replaced = {
        "zeros": watched, "nonlinear_system": lambda network, table, rule, inverse: (network, table),
        "narrowed": lambda moving, thin, offset: ("narrowed", moving, thin),
        "narrowed_one": lambda moving, thin, offset: ("narrowed", moving, thin),
        "at_rest": lambda table: ("at rest", table), "value_of": lambda number: ("at rest", number),
        "krawczyk": lambda *given: watched(*seen["systems"]),
    }  # fmt: skip
    for name, function in replaced.items():
        monkeypatch.setattr(network_tubes, name, function)
    found = NetworkTubes(_model("tanh"), parameter)
    middle, interval = 2.0, arb(2, arb("0.01"))
    found._solutions[middle] = None  # type: ignore[assignment]
    with precision(80):
        with pytest.raises(BallError):
            found._enclosed(middle, interval, (), ())
        (at, thin), (over, whole), (along, moving), *_ = seen["systems"]
        tables = found._functions((at, over, along), found._setting(None, None, None, None), interval - middle)  # type: ignore[arg-type]
        ends = [found._network_at(arb(value)) for value in (arb("1.991"), arb("2.009"))]
        numbers = {"ridge": lambda one: one.problem.ridge, "alpha0": lambda one: one.law.omega}[parameter]
        assert numbers(at).rad() < 1e-12
        assert all(value_of(numbers(one)).contains(numbers(end).mid()) for one in (over, along) for end in ends)
        assert slope_of(numbers(over)) == 0
        assert slope_of(numbers(along)) != 0
    assert seen["asked"][0] is over.problem
    assert seen["asked"][1] is interval
    if parameter == "ridge":
        # No number of the ridge is in the functions along the spike.
        assert thin == whole == moving
    else:
        kept = ("narrowed", ("of", along.problem), ("of", at.problem))
        assert (thin, whole, moving) == (("of", at.problem), ("at rest", kept), kept)
        bent = ("narrowed", ("bent", along.problem), ("bent", at.problem))
        assert [one[1] for one in tables] == [("bent", at.problem), ("at rest", bent), bent]


@pytest.mark.parametrize(
    ("bits", "slope", "words"),
    [
        (21, arb(1, 3), ""), (20, arb(1, 3), "not enclosed to a millionth"),
        (21, arb("nan"), "slope of the test error"), (21, arb(0, "inf"), "slope of the test error"),
    ],
)  # fmt: skip
def test_what_is_hardly_enclosed_takes_more_bits(
    bits: int, slope: arb, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Half a millionth of one has 21 bits, a millionth has twenty.
    error = SimpleNamespace(rel_accuracy_bits=lambda: bits)
    thin, moved = SimpleNamespace(test_error=error), SimpleNamespace(test_error=Moving(arb(1), slope))
    given: Any = object.__new__(NetworkTubes)
    box, table = (arb(1, 1), arb(1, 1)), (None, None)
    for name, value in (
        ("_network_at", SimpleNamespace(problem=None)), ("_functions", [table] * 3), ("_unknowns", (1.0, 1.0)),
        ("_sizes", (1.0, 1.0)), ("_setting", SimpleNamespace(rule=None, inverse=None)),
    ):  # fmt: skip
        monkeypatch.setattr(NetworkTubes, name, lambda *_, value=value: value)
    given._solutions = {1.5: None}
    zero = SimpleNamespace(box=box, enclosure=box)
    monkeypatch.setattr(network_tubes, "nonlinear_system", lambda *_: None)
    monkeypatch.setattr(network_tubes, "krawczyk", lambda *_: SimpleNamespace(enclosure="inner"))
    monkeypatch.setattr(network_tubes, "zeros", lambda *_: (zero, (arb(0), arb(0))))
    monkeypatch.setattr(network_tubes, "enclosed", lambda *of: thin if of[-1] == "inner" else moved)
    if words:
        with pytest.raises(Imprecise, match=words):
            given._enclosed(1.5, arb(1.5, 0.01), box, box)
    else:
        assert given._enclosed(1.5, arb(1.5, 0.01), box, box) == (zero, thin, moved)
