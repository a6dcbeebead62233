"""The parts of a tube: its boxes, what is kept between tubes, the mean value theorem and the look at the doubles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import fields, replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from flint import arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.certificates.certify import Imprecise
from giantsteps.numerics.certificates.newton import System
from giantsteps.numerics.certificates.ranges import network_tubes, tubes
from giantsteps.numerics.certificates.ranges.branch import certify_branch
from giantsteps.numerics.certificates.ranges.network_tubes import NetworkTubes
from giantsteps.numerics.certificates.ranges.tubes import IsotropicTubes, Tubes
from giantsteps.numerics.certificates.saddle_point import Enclosed
from giantsteps.numerics.certificates.slope import Moving
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.ridge import solve
from tests.shared.certified_models import worked

NAMES = [one.name for one in fields(Enclosed)]


def enclosed(**numbers: Any) -> Enclosed:
    """Every number a thin ball of its own, but for those given."""
    return Enclosed(**{name: numbers.get(name, arb(2 + k, 1e-3)) for k, name in enumerate(NAMES)})


class Straight(Tubes):
    """Unknowns at the ends and in the middle are what is given; what is asked of the rest is kept."""

    def __init__(self, *rows: Sequence[float]) -> None:
        super().__init__(worked(), "alpha")
        self.rows, self.asked = dict(zip((1.0, 1.5, 2.0), rows, strict=True)), []

    def _unknowns(self, value: float) -> Sequence[float]:
        return self.rows[value]

    def _enclosed(self, middle: float, interval: Any, box: Any, room: Any) -> Any:
        self.asked = [box, room]
        raise BallError("far enough")


@pytest.mark.parametrize("rows", [((3.0, 1.0), (3.1, 1.0), (3.4, 0.9)), ((3.4, 0.9), (3.1, 1.0), (3.0, 1.0))])
def test_a_box_reaches_beyond_the_farther_of_the_ends(rows: tuple[Sequence[float], ...]) -> None:
    found = Straight(*rows)
    with precision(80), pytest.raises(BallError, match="far enough"):
        found.tube(1.0, 2.0)
    box, room = found.asked
    for side, wider, middle, moved in zip(box, room, (3.1, 1.0), (0.3, 0.1), strict=True):
        assert float(side.mid()) == float(wider.mid()) == middle
        # By three tenths, and a share of the unknown where nothing moves; radii have thirty bits.
        assert float(side.rad()) == pytest.approx(1.3 * moved + 1e-7 * middle, rel=1e-8)
        assert float(wider.rad()) == pytest.approx(6.0 * float(side.rad()), rel=1e-8)


@pytest.mark.parametrize("which", [0, 1])
def test_every_unknown_that_has_to_be_positive_is(which: int) -> None:
    # Six times the box, from the middle down: 6 * 1.3 * 0.125 is less than 1, and 6 * 1.3 * 0.13 is more.
    for moved, words in ((0.125, "far enough"), (0.13, "is not positive")):
        rows = [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
        rows[2][which] += moved
        with precision(80), pytest.raises(BallError, match=words):
            Straight(*rows).tube(1.0, 2.0)


def test_of_a_network_the_slant_alone_may_have_either_sign() -> None:
    found = NetworkTubes(worked(), "alpha")
    assert list(found._positive(4)) == [0, 1, 3]
    assert list(found._positive(3)) == [0, 1, 2]
    found.__dict__["_network"] = SimpleNamespace(turned=True)
    assert found._sizes((2.0, 3.0, 1e-9, 0.25)) == (2.0, 3.0, 1e-3 * math.sqrt(0.25), 0.25)
    assert found._sizes((2.0, 3.0, -0.4, 0.25)) == (2.0, 3.0, 0.4, 0.25)
    found.__dict__["_network"] = SimpleNamespace(turned=False)
    assert found._sizes((2.0, 3.0, 0.25)) == (2.0, 3.0, 0.25)


def test_a_setting_serves_what_lies_within_it(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[tuple[Any, ...]] = []

    def making(*given: Any) -> int:
        made.append(given)
        return len(made)

    monkeypatch.setattr(tubes, "setting", making)
    found = Straight((1.0,), (1.0,), (1.0,))
    wide, inside = arb(1, 0.5), arb(1, 0.25)
    problem: Any = None
    assert found._setting(problem, problem, (wide, wide), wide) == 1
    assert found._setting(problem, problem, (inside, inside), inside) == 1
    # Any side beyond it, the parameter's too, is another one.
    for k, sides in enumerate(((arb(3), inside, inside), (inside, arb(3), inside), (inside, inside, arb(3)))):
        found._known = None
        assert found._setting(problem, problem, (wide, wide), wide) == 2 * k + 2
        assert found._setting(problem, problem, sides[:2], sides[2]) == 2 * k + 3
    assert made[-1][2:] == ((inside, inside), found.bits)


@pytest.mark.parametrize("parameter", ["alpha", "ridge"])
def test_functions_along_the_spike_are_those_of_their_setting(parameter: str) -> None:
    def place(name: str) -> Any:
        return SimpleNamespace(functions=lambda problem: f"{name} of {problem}", norm_slope=lambda problem: f"{name}'")

    found = NetworkTubes(worked(), parameter)
    first, second = place("one"), place("two")
    found.__dict__["_network"] = SimpleNamespace(problem="it")
    for at, name in ((first, "one"), (first, "one"), (second, "two"), (first, "one")):
        assert found._functions([], at, arb(0)) == [(f"{name} of it", f"{name}'")] * 3


def test_functions_that_move_are_narrowed_by_those_in_the_middle(monkeypatch: pytest.MonkeyPatch) -> None:
    place: Any = SimpleNamespace(functions=lambda problem: f"f{problem}", norm_slope=lambda problem: f"g{problem}")
    networks: Any = [SimpleNamespace(problem=k) for k in range(3)]
    monkeypatch.setattr(network_tubes, "narrowed", lambda moving, thin, offset: f"{moving} in {thin}")
    monkeypatch.setattr(network_tubes, "narrowed_one", lambda moving, thin, offset: f"{moving} in {thin}")
    monkeypatch.setattr(network_tubes, "at_rest", lambda table: f"{table} at rest")
    found: Any = NetworkTubes(worked(), "eta")._functions(networks, place, arb(0))
    assert found == [("f0", "g0"), ("f2 in f0 at rest", "g2 in g0"), ("f2 in f0", "g2 in g0")]


def test_one_plus_v_is_bounded_wherever_a_box_may_grow_to(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []

    def asked(self: Tubes, problem: Any, solution: Any, box: Any, interval: Any) -> Any:
        seen.append(box)
        raise BallError("far enough")

    monkeypatch.setattr(Tubes, "_setting", asked)
    # Of a box that is none of the solution's.
    box, room, interval = (arb(1, 0.1),) * 3, (arb(1, 0.6),) * 3, arb(1.5, 0.1)
    for found in (NetworkTubes(_network(), "alpha"), IsotropicTubes(worked(), "alpha")):
        found._solutions[1.5] = solve(worked())
        with precision(90), pytest.raises(BallError, match="far enough"):
            found._enclosed(1.5, interval, box, room)
    assert seen == [room[:2], room]


@pytest.mark.parametrize(("reason", "bits"), [(BallError, [40]), (Imprecise, [40, 60, 90, 135])])
def test_what_bits_do_not_help_takes_no_more_of_them(
    reason: type[BallError], bits: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    tried = []

    def failing(self: NetworkTubes, low: float, high: float) -> None:
        tried.append(self.bits)
        raise reason

    monkeypatch.setattr(Tubes, "tube", failing)
    with pytest.raises(BallError):
        NetworkTubes(worked(), "alpha").tube(1.0, 2.0)
    assert tried == bits


def test_the_mean_value_theorem_and_the_interval_both_count() -> None:
    offset = arb(0, 0.5)
    middle = enclosed(m=arb(1), zeta=arb(1), psi=arb(1, 0.25))
    still = {name: Moving(getattr(middle, name), arb(0)) for name in NAMES}
    moved = Enclosed(**still | {
        # Directly wider, directly narrower, and each narrower at one end.
        "m": Moving(arb(1, 8), arb(2)), "zeta": Moving(arb(1, 0.5), arb(4)), "psi": Moving(arb(2), arb(0, 4)),
    })  # fmt: skip
    with precision(60):
        found = tubes._mean_value(middle, moved, offset)
        # What does not move is as wide as in the middle.
        least = [float(x.lower()) for x in (found.m, found.zeta, found.psi, found.V1)]
        assert least == pytest.approx([0.0, 0.5, 2.0, float(middle.V1.lower())], abs=1e-8)
        most = [float(x.upper()) for x in (found.m, found.zeta, found.psi, found.V1)]
        assert most == pytest.approx([2.0, 1.5, 2.0, float(middle.V1.upper())], abs=1e-8)
        for name in NAMES:
            for wrong in (Moving(arb(50, 1), arb(1)), Moving(arb(0, 100), arb("inf"))):
                with pytest.raises(BallError, match="contradict one another"):
                    tubes._mean_value(middle, replace(moved, **{name: wrong}), offset)


@pytest.mark.parametrize("name", ["m", "zeta", "psi", "q1", "q2", "test_error", "training_error"])
@pytest.mark.parametrize("size", [1e-4, 40.0])
def test_doubles_that_a_ball_leaves_out_are_noticed(name: str, size: float) -> None:
    balls = enclosed(**{name: arb(size)})

    def doubles(off: float) -> Any:
        numbers: dict[str, Any] = {one: float(getattr(balls, one).mid()) for one in NAMES} | {name: size + off}
        order = SimpleNamespace(**{one: SimpleNamespace(ravel=lambda x=x: [x]) for one, x in numbers.items()})
        return SimpleNamespace(order_parameters=order, **{k: numbers[k] for k in ("test_error", "training_error")})

    # A millionth of the number, or of one.
    for sign in (-1.0, 1.0):
        tubes._compare(balls, doubles(sign * 0.9e-6 * (1.0 + size)))
        with pytest.raises(BallError, match=f"enclosure of {name} leaves out"):
            tubes._compare(balls, doubles(sign * 1.1e-6 * (1.0 + size)))


def _network() -> Model:
    return Model.from_gradient_step(
        activation("tanh"), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=3.0,
        bulk_model="network",
    )  # fmt: skip


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [("_LEAST_BITS", 10**4, "not enclosed to a millionth"), ("_SMALL", 4.5e-7, "not shown to be that of its box")],
)
def test_what_a_tube_of_a_network_rests_on_is_looked_at(
    name: str, value: float, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    # A box in the middle that leaves the tube's along one unknown is none, even if it lies within along another.
    monkeypatch.setattr(network_tubes, name, value)
    monkeypatch.setattr(network_tubes, "_MOST_BITS", 40)
    (piece, *_) = certify_branch(_network(), "alpha", 1.5, 1.5 + 1e-6, most=1).pieces
    assert words in piece.status


def test_labels_are_averaged_once_for_a_tube() -> None:
    found = NetworkTubes(_network(), "eta")
    with precision(100):
        assert found._network_at(arb(3.1)).labels is found._network.labels


def test_doubles_that_are_no_pair_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    tube = IsotropicTubes(worked(), "alpha")
    for T, tau, fine in (
        (0.3, 0.5, True), (0.0, 0.5, False), (0.3, 0.0, False), (-0.3, 0.5, False), (0.3, -0.5, False),
        (math.nan, 0.5, False), (0.3, math.inf, False),
    ):  # fmt: skip
        order = SimpleNamespace(V1=np.array([[T]]), V2=np.array([tau]))
        monkeypatch.setattr(tubes, "solve", lambda model, order=order: SimpleNamespace(order_parameters=order))
        tube._solutions.clear()
        if fine:
            assert tube._pair(1.5) == (T, tau)
        else:
            with pytest.raises(BallError, match="not positive and finite"):
                tube._pair(1.5)


def test_slopes_of_the_zeros_are_those_of_the_whole_interval() -> None:
    # p (x - 1) = (p - 2)/100 for p in 2 -+ 1/10: x hardly moves, and its slope 1/(50 p^2) does by a tenth.
    def system(p: Any) -> System:
        return System(lambda x: (p * (x[0] - 1) - (p - 2) / 100,), lambda x: ((p,),))

    with precision(80):
        middle, interval = arb(2), arb(2, arb(1) / 10)
        box, wide = (arb(1, "0.0007"),), (arb(1, "0.0014"),)
        zero, slopes = tubes.zeros(
            system(middle), system(interval), system(Moving(interval, arb(1))), (box, wide), interval - middle
        )
        for p in (2 - arb(1) / 11, arb(2), 2 + arb(1) / 11):
            assert zero.enclosure[0].contains(1 + (p - 2) / (100 * p))
            assert slopes[0].contains(1 / (50 * p * p))
        # They say something: over the interval itself a slope of 0.005 moves by 0.0005 to either side.
        assert 0.0005 < float(slopes[0].rad()) < 0.002
