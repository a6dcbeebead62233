"""What a network's spectrum is made of: its half planes, its rows, its line of labels, and labels without bound."""

from __future__ import annotations

import math
from itertools import pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.integrate import quad

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.spectrum.density import equations_of
from giantsteps.numerics.spectrum.network import NetworkEquations, label_line, unbounded_labels


def network(student: str = "tanh", target: str = "sin", **changes: Any) -> Model:
    values = {"alpha": 1.5, "beta": 0.8, "ridge": 0.1, "alpha0": 1.0, "eta": 6.0} | changes
    return Model.from_gradient_step(activation(student), activation(target), bulk_model="network", **values)


def upper(matrix: list[list[complex]]) -> bool:
    """Whether G counts as one without negative imaginary part; C = -1 and beta tau = 1, so that g = -1."""
    equations: Any = object.__new__(NetworkEquations)
    equations.beta = 2.0
    (trace, bridge), (_, rest) = matrix
    return NetworkEquations._upper(
        equations, -1.0 + 0.0j, 0.5 + 0.0j, SimpleNamespace(trace=trace, bridge=-bridge, rest=rest)  # type: ignore[arg-type]
    )  # fmt: skip


def test_traces_lie_in_the_upper_half_plane_up_to_rounding() -> None:
    for scale in (1.0, 1e-8):
        size = np.array([1.0, scale])

        def scaled(matrix: list[list[complex]], size: Any = size) -> list[list[complex]]:
            return [[complex(x) for x in row] for row in np.array(matrix) * np.outer(size, size)]

        assert upper(scaled([[2.0 + 1.0j, 0.5], [0.5, 1.0 + 1.0j]]))
        assert upper(scaled([[2.0 - 1e-10j, 0.5], [0.5, 1.0 + 1.0j]]))
        # Either block, or both together; each in units of its own size.
        assert not upper(scaled([[2.0 - 1e-7j, 0.5], [0.5, 1.0 + 1.0j]]))
        assert not upper(scaled([[2.0 + 1.0j, 0.5], [0.5, 1.0 - 1e-7j]]))
        assert not upper(scaled([[1.0 + 1.0j, 2.0j], [2.0j, 1.0 + 1.0j]]))
        assert not upper(scaled([[1.0 + 1.0j, 2.0 + math.nan * 1j], [0.5, 1.0 + 1.0j]]))


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("eta", [0.7, 6.0])
def test_rows_are_what_the_readout_sees_where_nothing_is_known(rows: bool, eta: float) -> None:
    # With C = 0 the readout's inputs are not shrunk, and K/(beta tau) has the moments of the rows themselves.
    model = network(gaussian_rows=rows, eta=eta)
    equations = equations_of(model)
    assert isinstance(equations, NetworkEquations)
    found = NetworkBulk(0.3, model.beta, equations.law).at(np.array([0.0, 0.2]))
    moments = found.overlap[:2, :2] / (model.beta * found.values[1])
    own = equations.rows
    assert [own.along[0], own.mixed[0], own.norm[0]] == pytest.approx(
        [moments[0, 0], moments[0, 1], moments[1, 1]], rel=1e-12
    )
    if rows:
        # |b|^2 of a normal row has a variance of its own, 2/d and more.
        assert own.norm[0] > 2.0
        assert own.along[0] > 1.0


@pytest.mark.parametrize("target", ["tanh(6*z)", "sin(4*z)", "exp(-z**2*3)", "sign(z - 0.3)"])
@pytest.mark.parametrize("noise", [0.0, 0.3])
def test_averages_over_the_line_of_labels_are_those_of_adaptive_quadrature(target: str, noise: float) -> None:
    function, centre = activation(target), 0.2
    names = {"tanh(6*z)": lambda u: math.tanh(6 * u), "sin(4*z)": lambda u: math.sin(4 * u)}
    names |= {"exp(-z**2*3)": lambda u: math.exp(-3 * u * u), "sign(z - 0.3)": lambda u: math.copysign(1.0, u - 0.3)}
    line = label_line(function, noise, centre)
    table = line.table(line.chosen(np.array([0.1 + 0.0j, 0.5 + 0.0j])))
    assert float(table.weights.sum()) == pytest.approx(1.0, rel=1e-12)

    def expected(power: int) -> float:
        def at(u: float) -> float:
            return (names[target](u) - centre) ** power * math.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi)

        cuts = [-9.0, -1.0, 0.0, 0.3, 1.0, 9.0]
        return sum(quad(at, a, b, epsabs=1e-14, limit=200)[0] for a, b in pairwise(cuts))

    first, second = (float(table.weights @ row) for row in table.features)
    # QUADPACK's goal for five intervals of numbers of order one.
    assert first == pytest.approx(expected(1), abs=1e-12)
    assert second == pytest.approx(expected(2) + noise, abs=1e-12)


@pytest.mark.parametrize(
    ("target", "noise", "unbounded"),
    [("sin", 0.0, False), ("sign", 0.0, False), ("sin", 0.1, True), ("z", 0.0, True), ("exp(z/4)", 0.0, True)],
)
def test_labels_without_bound(target: str, noise: float, unbounded: bool) -> None:
    assert unbounded_labels(network(target=target, noise=noise)) is unbounded


@pytest.mark.parametrize(("student", "target"), [("tanh", "sin"), ("relu", "sin"), ("relu", "z")])
def test_both_places_solve_their_equations(student: str, target: str) -> None:
    equations = equations_of(network(student, target, eta=3.0, alpha0=2.0))
    assert isinstance(equations, NetworkEquations)
    for C, tau in ((0.3 - 0.2j, 0.5 + 0.4j), (5.0 - 1.0j, 0.2 + 0.05j), (0.7 + 0.0j, 0.9 + 0.0j)):
        found = equations._resolve(C, tau)
        # Newton's method to rounding, in the units of the root of b2.
        assert abs(found.at.b2 - found.b2) < 1e-13 * abs(found.b2)
        assert abs(found.at.b1 - found.b1) < 1e-13 * abs(found.b2) ** 0.5
        # And the slope in g is that of a difference.
        h = 1e-5
        moved = [equations._resolve(C, tau * (1.0 + s * h)).at.filled for s in (-1.0, 1.0)]
        step = 2.0 * h * equations.beta * C * tau
        assert (moved[1] - moved[0]) / step == pytest.approx(found.slope, rel=1e-7)


def test_a_root_in_another_half_plane_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    equations = equations_of(network())
    assert isinstance(equations, NetworkEquations)
    monkeypatch.setattr(NetworkEquations, "_upper", lambda *_: False)
    # Nothing tells roots by where C or tau are none of a solution.
    for C, tau in ((0.3 + 0.2j, 0.5 + 0.4j), (0.3 - 0.2j, 0.5 - 0.4j), (0.3 + 0.0j, 0.5 + 0.4j)):
        assert np.isfinite(equations._resolve(C, tau).at.filled)
    assert np.isnan(equations._resolve(0.3 - 0.2j, 0.5 + 0.4j).at.filled)
