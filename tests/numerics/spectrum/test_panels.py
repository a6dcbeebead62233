"""Averages with poles close to the line, and the share of eigenvalues below a point."""

from __future__ import annotations

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.nodes import PANEL_ORDER
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.spectrum.axis import Axis, accepted
from giantsteps.numerics.spectrum.density import spectrum
from giantsteps.numerics.spectrum.panels import Panels, legendre_series
from giantsteps.numerics.spectrum.point import Equations

GROUPS = (ReadoutGroup(1.0, 0.4), ReadoutGroup(-0.6, 0.35, 1.3, 0.4), ReadoutGroup(0.3, 0.25, 0.8, -0.2))


def _model() -> Model:
    return Model(
        activation("tanh"), activation("sin"), 0.5, 0.8, 0.1, spike=1.0, bulk=1.0, alignment=0.8, readout=GROUPS
    )


@pytest.mark.parametrize("height", [1.0, 1e-3, 1e-8])
def test_a_pole_beside_the_line(height: float) -> None:
    """integral over [0, 4] of 1/(1 + w t), a logarithm, with a pole at 1.3 + i height."""
    nodes, _ = gauss_legendre(PANEL_ORDER)
    edges = np.linspace(0.0, 4.0, 5)
    t = edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + nodes)
    panels = Panels(edges, legendre_series(np.stack([t, np.ones_like(t)])))
    w = -1.0 / complex(1.3, height)
    table = panels.table(panels.chosen(np.array([w])))
    found = complex(table.weights @ (1.0 / (1.0 + w * table.features[0])))
    # ln(1 + 4 w)/w: 1 + w t stays in one half plane, so that no branch is crossed.
    expected = np.log(1.0 + 4.0 * w) / w
    # Sixteen nodes at 0.8 panel widths from a pole: 1e-13, over tens of panels. Rounding of 1 + w t counts by 1/height.
    assert found == pytest.approx(complex(expected), rel=1e-11 + 1e-16 / height)


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
