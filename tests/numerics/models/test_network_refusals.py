"""What a network may be: every range from both of its ends, and one sentence for what lies beyond."""

from __future__ import annotations

from typing import Any

import pytest

from giantsteps.numerics.models.model import ReadoutGroup
from giantsteps.numerics.models.network import LEAST_SIZE, MOST_SIZE, Network, SimulationError

GIVEN: dict[str, Any] = {
    "activation": "tanh", "target": "sin", "alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0
}  # fmt: skip


def groups(*given: tuple[float, float]) -> tuple[ReadoutGroup, ...]:
    return tuple(ReadoutGroup(weight, fraction) for weight, fraction in given)


@pytest.mark.parametrize(
    "changes",
    [
        {"overlap": 0.0}, {"overlap": 0.999}, {"steps": 1}, {"steps": 7}, {"steps": 2.0}, {"eta": 0.0}, {"alpha0": 0.0},
        {"noise": 0.0}, {"ridge": 0.0}, {"noise": MOST_SIZE}, {"eta": MOST_SIZE}, {"eta": LEAST_SIZE},
        {"alpha": MOST_SIZE}, {"beta": MOST_SIZE}, {"gaussian_rows": True}, {"ridge": 1e15},
        {"readout": groups((MOST_SIZE, 0.5), (-LEAST_SIZE, 0.5))}, {"readout": groups((0.0, 0.5), (1.0, 0.5))},
        {"readout": groups((1.0, 1e-3), (3.0, 0.999 + 0.9e-9))}, {"readout": groups((-2.0, 0.25), (1.0, 0.75))},
        {"readout": (ReadoutGroup(1.0, 1.0, bias=-MOST_SIZE),)}, {"readout": (ReadoutGroup(1.0, 1.0, bias=0.0),)},
    ],
)  # fmt: skip
def test_what_lies_within_is_taken_as_it_is(changes: dict[str, Any]) -> None:
    network = Network(**(GIVEN | changes))
    for name, value in changes.items():
        assert getattr(network, name) == value
    assert isinstance(network.steps, int)


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"overlap": -1e-9}, "overlap of -1e-09 is not accepted"), ({"overlap": 1.0}, "overlap of 1.0 is not accepted"),
        ({"overlap": float("nan")}, "overlap of nan"),
        ({"overlap": 1e-9, "gaussian_rows": True}, "built for unit rows"),
        ({"steps": 0}, "0 gradient steps"), ({"steps": -1}, "-1 gradient steps"),
        ({"steps": 1.5}, "1.5 gradient steps"), ({"steps": float("inf")}, "inf gradient steps"),
        ({"alpha": 0.0}, "alpha = 0 is not accepted: it has to be a number > 0,"), ({"beta": -1.0}, "beta = -1 is not"),
        ({"alpha": 1.1 * MOST_SIZE}, "alpha = 1.1e"), ({"noise": 1.1 * MOST_SIZE}, "noise = 1.1e"),
        ({"noise": -0.1}, "noise = -0.1 is not accepted: it has to be a number >= 0, either 0 or from"),
        ({"ridge": -0.1}, "ridge = -0.1"), ({"eta": 0.9 * LEAST_SIZE}, "eta = 9e-11"), ({"eta": -3.0}, "eta = -3 is"),
        ({"alpha0": 0.9 * LEAST_SIZE}, "alpha0 = 9e-11"), ({"alpha0": float("nan")}, "alpha0 = nan"),
        ({"eta": "long"}, "eta = 'long' is not accepted"), ({"beta": None}, "beta = None is not accepted"),
        ({"readout": groups((1.1 * MOST_SIZE, 1.0))}, "a weight of 1.1e"),
        ({"readout": groups((1.0, 0.5), (-0.9 * LEAST_SIZE, 0.5))}, "a weight of -9e-11"),
        ({"readout": (ReadoutGroup(1.0, 1.0, bias=-1.1 * MOST_SIZE),)}, "a bias of -1.1e"),
        ({"readout": (ReadoutGroup(1.0, 1.0, bias=0.9 * LEAST_SIZE),)}, "a bias of 9e-11"),
        ({"readout": groups((0.0, 0.5), (0.0, 0.5))}, "takes no gradient step"),
        ({"readout": groups((1.0, 0.5), (-1.0, 0.5 + 1.1e-9))}, "add up to 1"),
        ({"readout": groups((1.0, 0.5), (-1.0, 0.5 - 1.1e-9))}, "add up to 1"),
        ({"readout": groups((1.0, 1.0), (-1.0, 0.0))}, "have to be positive"),
        ({"readout": groups((1.0, 1.5), (-1.0, -0.5))}, "have to be positive"), ({"readout": ()}, "not to 0"),
        ({"readout": (ReadoutGroup(1.0, 1.0, 1.2),)}, "their bulk follows from the step"),
        ({"readout": (ReadoutGroup(1.0, 1.0, further_weights=(0.5,)),)}, "one weight and a fraction"),
    ],
)  # fmt: skip
def test_what_lies_beyond_is_refused(changes: dict[str, Any], words: str) -> None:
    with pytest.raises(SimulationError, match=words):
        Network(**(GIVEN | changes))


def test_the_model_of_a_network_has_all_that_the_network_has() -> None:
    readout = (ReadoutGroup(3.0, 0.25, bias=0.4), ReadoutGroup(-0.1, 0.75, bias=-0.2))
    changes = {"noise": 4.0, "gaussian_rows": True, "readout": readout, "loss": "huber:2", "alpha": 20.0, "beta": 0.4}
    network = Network(**(GIVEN | changes))
    model = network.model()
    for name in ("alpha", "beta", "ridge", "noise", "gaussian_rows", "loss", "activation", "target", "biases"):
        assert getattr(model, name) == getattr(network, name), name
    assert model.fractions == network.fractions == (0.25, 0.75)
    assert network.biases == (0.4, -0.2)
    assert model.step is not None
    assert (model.step.alpha0, model.step.eta) == (2.0, 3.0)
    assert (model.bulk_model, network.model("isotropic").bulk_model) == ("network", "isotropic")
