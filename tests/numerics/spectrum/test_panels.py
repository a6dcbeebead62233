"""Averages with poles close to the line, and the share of eigenvalues below a point."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.nodes import PANEL_ORDER
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.spectrum.axis import Axis, accepted
from giantsteps.numerics.spectrum.density import spectrum
from giantsteps.numerics.spectrum.panels import Panels, legendre_series
from giantsteps.numerics.spectrum.point import Equations, line_of

GROUPS = (ReadoutGroup(1.0, 0.4), ReadoutGroup(-0.6, 0.35, 1.3, 0.4), ReadoutGroup(0.3, 0.25, 0.8, -0.2))


def _model() -> Model:
    return Model(
        activation("tanh"), activation("sin"), 0.5, 0.8, 0.1, spike=1.0, bulk=1.0, alignment=0.8, readout=GROUPS
    )


def panels(function: Any, edges: Any) -> Panels:
    nodes, _ = gauss_legendre(PANEL_ORDER)
    t = edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + nodes)
    return Panels(edges, legendre_series(np.stack([function(t), np.ones_like(t)])))


@pytest.mark.parametrize("height", [1.0, 1e-3, 1e-8])
def test_a_pole_beside_the_line(height: float) -> None:
    """integral over [0, 4] of 1/(1 + w t), a logarithm, with a pole at 1.3 + i height."""
    line, w = panels(lambda t: t, np.linspace(0.0, 4.0, 5)), -1.0 / complex(1.3, height)
    table = line.table(line.chosen(np.array([w])))
    found = complex(table.weights @ (1.0 / (1.0 + w * table.features[0])))
    # ln(1 + 4 w)/w: 1 + w t stays in one half plane, so that no branch is crossed.
    expected = np.log(1.0 + 4.0 * w) / w
    # Sixteen nodes at 0.8 panel widths from a pole: 1e-13, over tens of panels. Rounding of 1 + w t counts by 1/height.
    assert found == pytest.approx(complex(expected), rel=1e-11 + 1e-16 / height)


@pytest.mark.parametrize("distance", [3.0, 1.0, 0.7, 0.5, 0.1, 1e-3])
def test_a_pole_beside_a_panel_is_resolved(distance: float) -> None:
    # 1/(1 + x t) with a pole so many widths beside the end.
    end, edges = 0.5 + distance, np.array([-0.5, 0.5])
    line = panels(lambda t: t, edges)
    chosen = line.chosen(np.array([-1.0 / end + 0.0j]))
    table = line.table(chosen)
    found = float(table.weights @ (1.0 / (1.0 - table.features[0] / end)))
    # At 0.8 of a width sixteen nodes leave 1e-13; the rounding of 1 + x t counts by one over the distance.
    assert found == pytest.approx(end * math.log((end + 0.5) / (end - 0.5)), rel=1e-12 + 1e-15 / distance)
    # One panel where the pole is as far as that.
    assert (len(chosen) == 1) is (distance > 0.8)


@pytest.mark.parametrize("height", [0.1, 0.01, 1e-4])
def test_poles_above_the_middle_of_a_panel_are_resolved(height: float) -> None:
    # 1/(1 + (t/height)^2): the same at both ends of the panel, and bent.
    line = panels(lambda t: t * t, np.array([-0.5, 0.5]))
    x = 1.0 / height**2
    table = line.table(line.chosen(np.array([x + 0.0j])))
    found = float(table.weights @ (1.0 / (1.0 + x * table.features[0])))
    assert found == pytest.approx(2.0 * height * math.atan(0.5 / height), rel=1e-11)


def test_a_line_of_kappa_resolves_its_features_in_closed_form() -> None:
    # sign: mu1 = 2 phi((u r kappa + b)/sqrt(c))/sqrt(c), a peak of width sqrt(c)/(u r); mu1^2 integrates to a normal
    # density. Groups with and without a bias, narrow and wide.
    for groups in (
        (ReadoutGroup(1.0, 0.5, 0.05, 0.0), ReadoutGroup(1.0, 0.5, 1.0, 0.4)),
        (ReadoutGroup(1.0, 1.0, 0.02, 0.0),),
    ):
        model = Model(
            activation("sign"), activation("sin"), 1.5, 0.8, 0.1, spike=2.0, bulk=1.0, alignment=0.8, readout=groups
        )
        table = line_of(model).table()
        k = len(groups)
        for a, (slope, group) in enumerate(zip(model.slopes, groups, strict=True)):
            spread = group.bulk + 2.0 * slope**2
            expected = 2.0 / (math.pi * math.sqrt(group.bulk * spread)) * math.exp(-(group.bias**2) / spread)
            found = float(table.features[a * k - a * (a - 1) // 2] @ table.weights)
            # Sixteen nodes on each width of the peak: rounding.
            assert found == pytest.approx(expected, rel=1e-12)


def test_a_line_of_an_activation_without_parity_is_whole() -> None:
    # relu: mu1 = Phi(r kappa/sqrt(c)), and E Phi(a kappa)^2 = 1/4 + asin(a^2/(1 + a^2))/(2 pi).
    model = Model(activation("relu"), activation("sin"), 1.5, 0.8, 0.1, spike=1.5, bulk=0.5, alignment=0.8)
    table = line_of(model).table()
    share = 1.5**2 / (1.5**2 + 0.5)
    expected = 0.25 + math.asin(share) / (2.0 * math.pi)
    assert float(table.features[0] @ table.weights) == pytest.approx(expected, rel=1e-12)


def test_rows_have_the_moments_of_their_laws() -> None:
    model = Model(activation("tanh"), activation("sin"), 1.5, 0.8, 0.1, spike=1.0, bulk=1.7, alignment=0.8)
    fixed, normal = (Equations(one).rows for one in (model, model.changed(gaussian_rows=True)))
    for rows in (fixed, normal):
        assert rows.along.tolist() == [1.7]
        assert rows.mixed.tolist() == [0.0]
    # d Var |b|^2 of rows b ~ N(0, c I/d): 2 c^2.
    assert fixed.norm.tolist() == [0.0]
    assert normal.norm.tolist() == [2.0 * 1.7**2]


def test_a_solution_from_afar_is_that_of_its_own_rule() -> None:
    model = Model(activation("relu"), activation("sin"), 1.5, 0.8, 0.1, spike=1.0, bulk=0.1, alignment=0.8)
    equations, z = Equations(model), 0.05 + 1e-4j
    far = equations.far(z)
    for height in (30.0, 3.0, 0.3, 0.03, 3e-3, 1e-4):
        found = equations.solve(far, complex(z.real, height))
        assert found is not None
        far = found.values
    # Panels follow the poles as they move with the solution: one more step on those of the solution moves it no more.
    value, jacobian = equations.evaluate(equations.table(far), far, z)
    assert np.max(np.abs(np.linalg.solve(jacobian, value))) < 1e-12 * np.max(np.abs(far))


def test_the_share_below_grows_like_the_density() -> None:
    axis = Axis(Equations(_model()))
    for x in (0.01, 0.1, 0.7, 1.3):
        step = 1e-4 * x
        slope = (axis.below(x + step) - axis.below(x - step)) / (2.0 * step)
        # Central differences: (step/x)^2 of the third derivative, in units of x.
        assert slope == pytest.approx(axis.density(x), rel=1e-6)


def test_the_share_below_is_none_and_all_outside() -> None:
    axis = Axis(Equations(_model()))
    assert axis.below(50.0) == pytest.approx(1.0, abs=1e-12)
    assert axis.below(1e-4) == pytest.approx(1.0 - 0.5 / 0.8, abs=1e-12)


def test_a_solution_that_is_no_limit_from_above_is_refused() -> None:
    model = _model().changed(alpha=1.5)
    equations = Equations(model)
    axis = Axis(equations)
    (_, edge), x = spectrum(model).edges[-1], 0.7
    assert axis.inside(x)
    found = axis.at(x).values
    # Its complex conjugate solves the equations as well: the limit from below.
    assert equations.solve(found.conj(), complex(x)) is not None
    assert accepted(equations, found.conj(), complex(x)) is None
    assert accepted(equations, found, complex(x)) is not None
    assert all(axis.inside(edge * (1.0 - 10.0**-k)) for k in range(1, 7))
    assert not any(axis.inside(edge * (1.0 + 10.0**-k)) for k in range(1, 7))
