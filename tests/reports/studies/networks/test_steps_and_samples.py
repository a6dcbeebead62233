"""Several steps on the samples of one: a verdict turns when a number moves, and `lr` of PyTorch is as documented."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from giantsteps.numerics.experiments.ensembles import gradient_step, unit_rows
from giantsteps.numerics.experiments.inputs import GAUSSIAN
from giantsteps.numerics.gradient_steps.batches import State
from giantsteps.numerics.models.network import Network
from giantsteps.reports.studies.networks.steps_and_samples import CASES, Followed, Split, page, split_of

SPLIT = {
    case: [Split(T, 1.0, e, e) for T, e in enumerate((0.5 if pays else 0.05, 0.4, 0.3, 0.2, 0.1), 1)]
    for case, (_, pays) in CASES.items()
}
FIT, OFF = State(1.2, 1.0, 0.2387), State(1.2, 0.99, 0.2387)
ENDS = [
    Followed("erf/erf", (1.2, 0.24, 0.0), (FIT, FIT), 0.0, (FIT, FIT)),
    Followed("relu/tanh", (0.6, 0.0, 0.5), (FIT, FIT), 0.5, (OFF, State(1.2, 0.995, 0.2387))),
]
NUMBERS: Any = (SPLIT, ENDS, {"relu": (1.0, 1.2)}, {"a": (FIT, OFF), "b": (State(1.2, 0.0, 0.2387), OFF)})


@pytest.mark.parametrize(
    ("part", "change", "turned"),
    [
        (0, SPLIT, []),
        (0, SPLIT | {"tanh/sin": [*SPLIT["tanh/sin"][:4], Split(5, 1.0, 0.25)]}, [0]),
        (1, [ENDS[0], replace(ENDS[1], misfit=0.6)], [5]),
        (1, [replace(ENDS[0], finite=(OFF, OFF)), ENDS[1]], [7]),
        (2, {"relu": (1.0, 0.9)}, [8]),
        (3, NUMBERS[3] | {"a": (OFF, FIT)}, [9]),
    ],
)
def test_a_statement_turns_with_its_number(part: int, change: Any, turned: list[int]) -> None:
    rows = page(*NUMBERS[:part], change, *NUMBERS[part + 1 :]).tables[0].rows
    assert [k for k, row in enumerate(rows) if row[2] != "seen"] == turned


@pytest.mark.parametrize("norm", [1.0, 0.57735])
def test_lr_is_half_the_rate_times_squared_norm(norm: float) -> None:
    # The gradient of nn.MSELoss() by complex steps, which lose no digits. Label noise is drawn before the inputs.
    d, p, n0, eta = 12, 9, 30, 1.7
    rows, theta = (unit_rows(np.random.default_rng(seed), count, d) for seed, count in ((3, p), (5, 1)))
    network = Network(f"tanh({norm!r}*z)", "sin", 1.5, p / d, 0.1, alpha0=n0 / d, eta=eta)
    change, _ = gradient_step(network, rows, theta[0], network.step.only, GAUSSIAN, np.random.default_rng(4), n0)
    x = np.random.default_rng(4).standard_normal(n0 + n0 * d)[n0:].reshape(n0, d)
    moved = norm * rows + 1e-30j * np.eye(p * d).reshape(-1, p, d)
    losses = np.mean((np.tanh(x @ moved.swapaxes(1, 2)).mean(axis=2) - np.sin(x @ theta[0])) ** 2, axis=1)
    lr, gradient = norm**2 * eta * d / 2.0, losses.imag.reshape(p, d) / 1e-30
    np.testing.assert_allclose(-lr * gradient / norm, change, rtol=0.0, atol=1e-13)


def test_the_best_rate_of_two_steps() -> None:
    assert abs(split_of(CASES["relu/tanh"][0], 2).isotropic - 0.2754) < 5e-5
