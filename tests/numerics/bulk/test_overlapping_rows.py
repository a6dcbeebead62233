"""One step of a network whose rows overlap: the moments of its samples, and Newton's method for its bulk."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk import overlapping_rows
from giantsteps.numerics.bulk.overlapping_bulk import Samples, TurnedBulk, TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import Stepped, equivalent_model, stepped, turned_bulk
from giantsteps.numerics.gaussian.quadrature import MOST_UNSETTLED, ROUNDING
from giantsteps.numerics.models.model import ModelError, ReadoutGroup
from giantsteps.numerics.models.network import Network


def network(student: str, target: str, **changes: Any) -> Network:
    values = {"alpha": 1.5, "beta": 0.8, "ridge": 0.1, "alpha0": 2.0, "eta": 1.7, "overlap": 0.3} | changes
    return Network(activation(student), activation(target), **values)


@pytest.mark.parametrize("noise", [0.0, 0.4])
@pytest.mark.parametrize(
    ("student", "target"),
    # The square of the last one has a period of 0.35, for which the step 0.3 of t is too long in u.
    [("relu", "sign"), ("tanh", "sin"), ("tanh(z + 1)", "z + 1/2"), ("tanh", "z + sin(9*z)")],
)
def test_samples_have_the_moments_of_the_limits(student: str, target: str, noise: float) -> None:
    # Another rule than that of the limits, in u, t and the noise: coarse, to about 1e-5.
    given = network(student, target, noise=noise)
    after, law = stepped(given), turned_bulk(given)
    sample, rate, rest = law.samples, given.eta / given.beta, 1.0 - given.overlap
    w = sample.weights
    assert w.sum() == pytest.approx(1.0, rel=1e-12)
    # r gamma = e h1 h1*, r v.e = sqrt(rho) + e E[t (y - F) G].
    assert rate * float(w @ (sample.u * sample.pull)) == pytest.approx(after.spike * after.alignment, rel=1e-4)
    along = math.sqrt(given.overlap) + rate * float(w @ (sample.t * sample.pull))
    assert along == pytest.approx(after.spike * after.common, rel=1e-4)
    across = rate**2 * float(w @ sample.pull**2) / given.alpha0
    own = after.alignment * after.spike
    assert along**2 + own**2 + across == pytest.approx(after.spike**2, rel=1e-4)
    # c = (1 - rho)(1 + E[turn])^2 + E[(turn)^2](1 - rho)/alpha0 + E[noise].
    kept, turned, left = (float(w @ x) for x in (sample.turn, sample.turn**2, sample.noise))
    assert rest * ((1.0 + kept) ** 2 + turned / given.alpha0) + left == pytest.approx(after.bulk, rel=1e-4)
    assert (law.bulk, law.overlap, law.batch_ratio) == (after.bulk, given.overlap, given.alpha0)


def test_without_a_step_rows_are_what_they_were() -> None:
    for changes in ({"eta": 0.0}, {"alpha0": 0.0}):
        given = network("relu", "sin", **changes)
        after = stepped(given)
        assert (after.spike, after.bulk, after.alignment, after.common, after.noise) == (math.sqrt(0.3), 0.7, 0, 1, 0)
        with pytest.raises(ModelError, match="solved after a gradient step"):
            turned_bulk(given)


@pytest.mark.parametrize("name", ["eta", "alpha0"])
def test_a_step_of_rate_one_or_of_one_sample_a_dimension_is_one_among_others(name: str) -> None:
    # eta = beta is a rate of one: all goes on smoothly through it, and so it does through alpha0 = 1.
    at, near = (stepped(network("relu", "sin", beta=1.0, **{name: value})) for value in (1.0, 1.0 + 1e-9))
    for quantity in ("spike", "bulk", "alignment", "common", "noise"):
        assert getattr(at, quantity) == pytest.approx(getattr(near, quantity), rel=1e-8), quantity


def test_directions_are_unit_vectors_at_a_right_angle_to_what_they_leave() -> None:
    given = network("relu", "sin", noise=0.2)
    law, after = turned_bulk(given), stepped(given)
    v, across = np.array(law.direction), np.array(law.perpendicular)
    # Coordinates on theta, e and the pull: theta itself is gamma v + sqrt(1 - gamma^2) theta_perp.
    back = after.alignment * v + math.sqrt(1.0 - after.alignment**2) * across
    assert back == pytest.approx([1.0, 0.0, 0.0], abs=1e-12)


def equivalent(**changes: Any) -> TurnedEquivalent:
    given = network("relu", "sin", **changes)
    return TurnedEquivalent(given.ridge, given.beta, turned_bulk(given))


@pytest.fixture(scope="module")
def turned() -> TurnedEquivalent:
    return equivalent()


def test_every_equation_is_solved_to_rounding(turned: TurnedEquivalent) -> None:
    for C, shift in ((1e-6, 0.1), (0.7, 0.3), (40.0, 1e-3)):
        for start in (turned._isotropic(C, shift), turned._isotropic(3.0 * C, 2.0 * shift)):
            x, size = turned._newton(C, shift, start)
            assert size < 1e-12
            assert x[0] > 0.0
            assert 0.0 < x[1] < 1.0
            # Entries of G have sizes of order one, and so have terms of the equations.
            assert np.max(np.abs(turned._equations(C, shift, x))) < 1e-13


def followed(monkeypatch: pytest.MonkeyPatch, target: list[float], start: list[float]) -> tuple[np.ndarray, float]:
    """Newton's method for x = target in one step, from a start on the branch."""
    turned: Any = object.__new__(TurnedEquivalent)
    monkeypatch.setattr(TurnedEquivalent, "_equations", lambda self, C, shift, x: x - np.array(target))
    monkeypatch.setattr(TurnedEquivalent, "_slope", lambda self, C, shift, x: np.eye(4))
    return TurnedEquivalent._newton(turned, 1.0, 1.0, np.array(start))


BRANCH = [2.0, 0.5, 0.3, -0.4]


def test_newtons_method_goes_straight_where_it_may(monkeypatch: pytest.MonkeyPatch) -> None:
    x, size = followed(monkeypatch, [3.0, 0.6, 5.0, -7.0], BRANCH)
    assert x == pytest.approx([3.0, 0.6, 5.0, -7.0])
    assert size < 1e-15


@pytest.mark.parametrize(("place", "beyond", "end"), [(0, -1.0, 0.0), (1, -1.0, 0.0), (1, 3.0, 1.0)])
def test_newtons_method_stays_on_its_branch(
    place: int, beyond: float, end: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Drawn beyond g > 0 or 0 < G_11 < 1 it comes close to the end, on this side of it, and finds nothing.
    target = list(BRANCH)
    target[place] = beyond
    x, size = followed(monkeypatch, target, BRANCH)
    assert x[place] == pytest.approx(end, abs=1e-6)
    assert (x[place] - end) * (BRANCH[place] - end) > 0.0
    assert not size < 1e-10


@pytest.mark.parametrize("place", range(4))
def test_all_unknowns_have_to_settle(place: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # One of them moves on and on, by a ten-thousandth.
    turned: Any = object.__new__(TurnedEquivalent)
    monkeypatch.setattr(TurnedEquivalent, "_equations", lambda self, C, shift, x: -1e-4 * x[place] * np.eye(4)[place])
    monkeypatch.setattr(TurnedEquivalent, "_slope", lambda self, C, shift, x: np.eye(4))
    _, size = TurnedEquivalent._newton(turned, 1.0, 1.0, np.array(BRANCH))
    assert size == pytest.approx(1e-4, rel=0.01)


def test_the_last_solution_is_a_start_and_the_isotropic_one_another(monkeypatch: pytest.MonkeyPatch) -> None:
    turned = equivalent()
    isotropic, last, found = np.array([1.0, 0.5, 0.1, -0.5]), np.array(BRANCH), np.array([4.0, 0.2, 0.1, -0.1])
    asked: list[np.ndarray] = []

    def solved(sizes: list[float]) -> np.ndarray:
        asked.clear()

        def newton(self: Any, C: float, shift: float, x: np.ndarray) -> Any:
            asked.append(x)
            return found, sizes[len(asked) - 1]

        monkeypatch.setattr(TurnedEquivalent, "_newton", newton)
        return turned._solve(1.0, 1.0)

    monkeypatch.setattr(TurnedEquivalent, "_isotropic", lambda self, C, shift: isotropic)
    # What has not settled to ten digits is none, and no start either.
    assert np.isnan(solved([1.1e-10])).all()
    assert turned._start is None
    assert np.array_equal(solved([0.9e-10]), found)
    assert [list(x) for x in asked] == [list(isotropic)]
    turned._start = last
    assert np.array_equal(solved([1e-12]), found)
    assert [list(x) for x in asked] == [list(last)]
    turned._start = last
    assert np.array_equal(solved([1e-3, 1e-12]), found)
    assert [list(x) for x in asked] == [list(last), list(isotropic)]
    assert np.isnan(solved([1e-3, 1e-3])).all()


def test_conjugates_one_after_another_are_what_they_are_alone() -> None:
    shared, pairs = equivalent(), [np.array(x) for x in ([0.7, 0.3], [0.7, 0.31], [0.71, 0.3], [30.0, 1e-3])]
    for pair in (*pairs, *reversed(pairs)):
        one, alone = shared.at(pair), equivalent().at(pair)
        for name in ("values", "jacobian", "overlap"):
            # From another start, to the rounding of Newton's method and of the derivatives by complex steps.
            assert getattr(one, name) == pytest.approx(getattr(alone, name), rel=1e-10, abs=1e-12)


def test_scalar_products_of_the_directions_are_averages() -> None:
    samples = SimpleNamespace(
        weights=np.array([0.25, 0.75]), u=np.array([1.0, -1.0]), t=np.array([0.5, 2.0]), pull=np.array([3.0, 1.0])
    )
    turned: Any = object.__new__(TurnedEquivalent)
    turned.law = SimpleNamespace(samples=samples, batch_ratio=4.0)
    # E[u p] = 0, E[t p] = 15/8, E[p^2] = 3: theta.w, e.w and w.w = E[u p]^2 + E[t p]^2 + E[p^2]/4.
    along, common = 0.75 - 0.75, 0.375 + 1.5
    assert TurnedEquivalent._gram(turned).tolist() == [
        [1.0, 0.0, along], [0.0, 1.0, common], [along, common, along**2 + common**2 + 3.0 / 4.0]
    ]  # fmt: skip


@pytest.mark.parametrize("which", ["spike", "bulk", "alignment"])
@pytest.mark.parametrize("size", [1e-3, 1e3])
def test_the_error_of_a_step_is_what_the_last_refinement_moved(
    which: str, size: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    # One of the three moves by a share of itself, of any size, that falls with the step or does not.
    def answers(shares: list[float]) -> Any:
        asked = []

        def on(network: Network, step: float) -> Stepped:
            asked.append(step)
            values = {"spike": 2.0, "bulk": 1.5, "alignment": 0.4, "common": 0.5, "noise": 0.2}
            return Stepped(**values | {which: size * (1.0 + shares[min(len(asked), len(shares)) - 1])})

        monkeypatch.setattr(overlapping_rows, "_stepped_on", on)
        return asked

    given = network("relu", "sin")
    asked = answers([1e-3, 1e-9, 0.9e-13, 0.0])
    after = stepped(given)
    assert asked == pytest.approx([0.1 / overlapping_rows.FINER**k for k in range(len(asked))])
    assert len(asked) == 4  # the second and third are 1e-9 apart, the third and fourth within 1e-13
    assert after.error == pytest.approx(0.9e-13 + ROUNDING, rel=1e-2)
    # What does not settle is refused from MOST_UNSETTLED on.
    answers([0.0, *[sign * 0.49 * MOST_UNSETTLED for sign in (1.0, -1.0) * 3]])
    assert stepped(given).error == pytest.approx(0.98 * MOST_UNSETTLED, rel=1e-2)
    answers([0.0, *[sign * 0.51 * MOST_UNSETTLED for sign in (1.0, -1.0) * 3]])
    with pytest.raises(ModelError, match="do not settle"):
        stepped(given)


def test_the_equivalent_model_has_the_numbers_of_the_network_and_of_its_step(monkeypatch: pytest.MonkeyPatch) -> None:
    given = network("relu", "sin", noise=0.15)
    after = Stepped(3.0, 1.5, -0.4, 0.5, 0.2, 1e-9)
    monkeypatch.setattr(overlapping_rows, "stepped", lambda _: after)
    model = equivalent_model(given)
    for name in ("activation", "target", "alpha", "beta", "ridge", "noise"):
        assert getattr(model, name) == getattr(given, name), name
    assert (model.spike, model.bulk, model.alignment) == (3.0, 1.5, -0.4)
    # An error is a share of each.
    assert tuple(model.given_uncertainty) == pytest.approx((3e-9, 1.5e-9, 4e-10), rel=1e-12)


@pytest.mark.parametrize("group", [ReadoutGroup(1.0, 1.0, None, 0.3), ReadoutGroup(-1.0, 1.0), ReadoutGroup(2.0, 1.0)])
def test_one_group_that_is_not_the_uniform_readout_is_refused_too(group: ReadoutGroup) -> None:
    with pytest.raises(ModelError, match="uniform readout without bias"):
        stepped(network("relu", "sin", readout=(group,)))


@pytest.mark.parametrize(("C", "shift"), [(0.7, 0.3), (1e-6, 100.0), (4e3, 1e-6)])
@pytest.mark.parametrize("overlap", [0.05, 0.3, 0.95])
def test_newtons_method_begins_at_the_solution_of_rows_that_no_step_has_moved(
    C: float, shift: float, overlap: float
) -> None:
    # Without turn and noise the rest of the rows is isotropic, of variance 1 - rho: the start is no guess there.
    none, one = np.zeros(1), np.ones(1)
    law = TurnedBulk(overlap, 2.0, 1.0 - overlap, Samples(one, none, none, none, none, none), (1, 0, 0), (0, 1, 0))
    turned = TurnedEquivalent(0.1, 0.8, law)
    start = turned._isotropic(C, shift)
    # Terms of the equations are of the size of g and of its root.
    assert np.max(np.abs(turned._equations(C, shift, start))) < 1e-13 * (1.0 + start[0])
    turned._start = None
    assert turned.blocks(np.array([C, shift - 0.1])) == pytest.approx(start, rel=1e-11)
