"""Models that doubles do not hold: every public function says so in one sentence, soon, and nothing else is printed."""

from __future__ import annotations

import math
import warnings

from giantsteps import (
    Model,
    activation,
    bounds,
    solve,
    spectrum,
)
from giantsteps.numerics.models.parameters import ReadoutGroup
from giantsteps.numerics.sweeps.chunk import columns, solve_chunk
from giantsteps.numerics.sweeps.sweep import Axis, Experiment, Sweep

# Overflow at a node; no rule of a bearable length; a value at one point alone that no rule settles.
OVERFLOWS, VARIES, UNSETTLED = ("exp(2*z)", 1e3), ("exp(2*z)", 1e10), ("tanh(10**12*sin(z))", 1.0)


def _model(name: str, bulk: float) -> Model:
    return Model(name, "tanh", alpha=2.0, beta=1.0, ridge=0.1, spike=1.0, bulk=bulk, alignment=0.5)


def test_a_point_out_of_reach_does_not_end_a_sweep() -> None:
    fixed = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "spike": 1.0, "bulk": 1e10, "alignment": 0.8, "noise": 0.0}
    axes = tuple(Axis(name, (value,), swept=False) for name, value in fixed.items())
    sweep = Sweep("exp(2*z)", "sin", axes, kind="simulation", experiment=Experiment(10, 2))
    row = dict(zip(columns(sweep), solve_chunk(sweep, 0, 1)[0], strict=True))
    assert not row["converged"]
    assert str(row["status"]).startswith("the model is out of reach of double precision")


def test_a_target_whose_square_overflows_has_no_part_in_a_spectrum() -> None:
    model = _model("tanh", 1.0).changed(target=activation("1e200*z**3"))
    assert spectrum(model).converged
    assert not solve(model).converged


def test_the_best_ridge_of_noise_alone_is_infinite_without_a_warning() -> None:
    # The target is 0: of several groups the equations are tried at ridges at which nothing is left of them.
    groups = ReadoutGroup(2.0, 0.3), ReadoutGroup(-1.0, 0.7)
    step = {"alpha": 10.0, "beta": 1.0, "ridge": 0.1, "alpha0": 0.5, "eta": 0.5, "noise": 10.0, "readout": groups}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        best = bounds(Model.from_gradient_step("abs", "relu(Min(z, -1))", bulk_model="isotropic", **step)).best_ridge()  # type: ignore[arg-type]
    assert best.values["ridge"] == math.inf
