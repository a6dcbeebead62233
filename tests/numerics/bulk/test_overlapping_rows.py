"""One step of a network whose rows overlap: the moments of its samples, and Newton's method for its bulk."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.overlapping_bulk import TurnedEquivalent
from giantsteps.numerics.bulk.overlapping_rows import stepped, turned_bulk
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


@pytest.mark.parametrize("group", [ReadoutGroup(1.0, 1.0, None, 0.3), ReadoutGroup(-1.0, 1.0), ReadoutGroup(2.0, 1.0)])
def test_one_group_that_is_not_the_uniform_readout_is_refused_too(group: ReadoutGroup) -> None:
    with pytest.raises(ModelError, match="uniform readout without bias"):
        stepped(network("relu", "sin", readout=(group,)))
