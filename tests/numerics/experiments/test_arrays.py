"""Experiments with another array library than NumPy: the standard's reference, and PyTorch where it is installed."""

from __future__ import annotations

import math
import sys
from dataclasses import replace
from importlib.util import find_spec

import numpy as np
import pytest

from giantsteps.numerics.experiments.arrays import Arrays
from giantsteps.numerics.experiments.inputs import Inputs
from giantsteps.numerics.experiments.ridge import simulate_ridges
from giantsteps.numerics.experiments.simulate import simulate
from giantsteps.numerics.gaussian.callables import activation
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.network import Network, SimulationError
from giantsteps.numerics.models.readout_law import ReadoutLaw

LIBRARIES = ("array_api_strict", *(["torch"] if find_spec("torch") else []))
every_library = pytest.mark.parametrize("library", LIBRARIES)

TANH, SIN, SOFTPLUS = (activation(name) for name in ("tanh", "sin", "softplus"))
WORKED = Model(TANH, SIN, alpha=1.5, beta=1.0, ridge=0.1, noise=0.1, spike=1.0, bulk=1.0, alignment=0.8)
GROUPS = (ReadoutGroup(1.0, 0.5, 1.0, 0.3), ReadoutGroup(-0.5, 0.5, 1.3))
STEPPED = Network(SOFTPLUS, SIN, alpha=1.5, beta=1.0, ridge=0.1, alpha0=2.0, eta=3.0)
CASES = (
    (WORKED, {}),
    (replace(WORKED, readout=GROUPS), {}),
    (replace(WORKED, beta=2.0, ridge=0.0), {}),  # n < p: the dual equations
    (replace(WORKED, readout=ReadoutLaw("normal", 1.0)), {}),
    (replace(WORKED, activation=activation(np.vectorize(math.tanh, otypes=[float]))), {}),  # by its values
    (WORKED, {"kind": "equivalent"}),
    (STEPPED, {}),
    (
        replace(STEPPED, readout=(ReadoutGroup(1.0, 0.5, bias=0.3), ReadoutGroup(-0.5, 0.5))),
        {"inputs": Inputs("rademacher")},
    ),
)
# Each has another way of being evaluated: erf and poles are left to the processor.
FORMULAS = (
    "tanh", "relu", "erf", "sigmoid", "softplus", "hardtanh", "gelu", "Piecewise((z, z > 0), (exp(z) - 1, True))",
    "sin(z)**3/sqrt(1 + z**2)", "log(1 + z**2)", "atan(z) + Heaviside(z)", "Abs(z)*Min(z, 2)",
    "sinh(400*z)/cosh(400*z)",
)  # fmt: skip


@every_library
@pytest.mark.parametrize("case", range(len(CASES)))
def test_every_observable_agrees_with_numpy(case: int, library: str) -> None:
    model, given = CASES[case]
    own, other = (simulate(model, dimension=40, seeds=2, array=name, **given) for name in ("numpy", library))
    for name, values in own.samples:
        # 1e-9 of the size of a readout's overlaps, which is of order 1.
        assert other.values(name) == pytest.approx(values, rel=1e-9, abs=1e-9)


@every_library
@pytest.mark.parametrize("formula", FORMULAS)
def test_every_kind_of_formula_is_evaluated(formula: str, library: str) -> None:
    arrays, expression = Arrays(library), activation(formula).expression
    z = np.linspace(-3.0, 3.0, 606).reshape(6, 101)
    found = arrays.get(arrays.function(expression)(arrays.put(z)))
    assert found == pytest.approx(compile_numpy(expression)(z), rel=1e-13, abs=1e-14)  # some roundings of 1e-16


@every_library
def test_many_ridges_agree_with_numpy(library: str) -> None:
    ridges = tuple(np.geomspace(0.01, 10.0, 12).tolist())  # NumPy reduces to tridiagonal form for so many
    given = {"dimension": 30, "seeds": 1}
    own, other = (simulate_ridges(WORKED, ridges, arrays=Arrays(name), **given) for name in ("numpy", library))
    for one, another in zip(own, other, strict=True):
        assert another.test_error.mean == pytest.approx(one.test_error.mean, rel=1e-9)


@every_library
@pytest.mark.parametrize(("formula", "reason"), [("1 + 0*z", "linearly dependent"), ("1e160*tanh(z)", "overflow")])
def test_singular_and_infinite_features_are_refused(formula: str, reason: str, library: str) -> None:
    model = replace(WORKED, activation=activation(formula), ridge=0.0)
    with pytest.raises(SimulationError, match=reason):
        simulate(model, dimension=20, seeds=1, array=library)


def test_unknown_and_missing_libraries_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(SimulationError, match=r"one of numpy, torch, cupy, array_api_strict"):
        simulate(WORKED, dimension=20, seeds=1, array="jax")
    monkeypatch.setitem(sys.modules, "array_api_compat.cupy", None)
    with pytest.raises(SimulationError, match=r"pip install 'giantsteps\[arrays\]' cupy"):
        simulate(WORKED, dimension=20, seeds=1, array="cupy")
