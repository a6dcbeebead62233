"""Which solutions of the spectrum's equations are taken, how they are followed, and when a spectrum is converged."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.gaussian.nodes import PANEL_ORDER
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.spectrum import density
from giantsteps.numerics.spectrum.axis import _followed, accepted, is_inside
from giantsteps.numerics.spectrum.panels import Panels, legendre_series
from giantsteps.numerics.spectrum.point import Equations, Solution, line_of
from giantsteps.numerics.spectrum.support import Band

OUTSIDE = np.array([0.3 + 0.0j, 0.5 + 0.0j])
INSIDE = np.array([0.3 + 0.2j, 0.5 + 0.1j])


def taken(values: Any, z: complex, slope: Any = (1.0, 1.0), below: float = 0.4) -> bool:
    """Whether Newton's solution (T, tau) of one group is accepted."""
    found = Solution(z, np.asarray(values, dtype=complex), np.asarray(slope, dtype=complex), below)
    equations: Any = SimpleNamespace(groups=1, solve=lambda start, z: found)
    return accepted(equations, found.values, z) is found


def test_above_the_axis_imaginary_parts_are_positive() -> None:
    for z in (0.7 + 1e-6j, 0.7 + 2.0j):
        assert taken(INSIDE, z)
        assert not taken(INSIDE.conj(), z)
        # Of either one, however little; what is on the axis is no matter there.
        assert not taken(INSIDE - 0.2j * (1.0 + 1e-7), z)
        assert not taken([0.3 + 0.2j, 0.5 - 1e-7j], z)
        assert not taken([0.3 - 1e-7j, 0.5 + 0.2j], z)
        assert taken(INSIDE, z, slope=(-1.0, -1.0), below=3.0)


def test_on_the_axis_imaginary_parts_and_slopes_have_signs() -> None:
    for z in (0.7 + 0.0j, -0.7 + 0.0j, 0.7 + 1e-11j):
        assert taken(INSIDE, z)
        assert not taken(INSIDE.conj(), z)
        assert not taken([0.3 + 0.2j, 0.5 - 1e-7j], z)
        # Inside the support slopes are complex numbers of any sign, outside positive but for rounding.
        assert taken(INSIDE, z, slope=(-1.0, -1.0))
        assert taken(OUTSIDE, z, slope=(1.0, 0.0))
        assert taken(OUTSIDE, z, slope=(-1e-10 + 1.0j, -1e-10 + 1.0j))
        assert not taken(OUTSIDE, z, slope=(1.0, -1e-7 + 1.0j))
        assert not taken(OUTSIDE, z, slope=(-1e-7 + 1.0j, 1.0))
        # A share of eigenvalues is one.
        for values in (INSIDE, OUTSIDE):
            assert [taken(values, z, below=b) for b in (-5e-5, 1.00005)] == [True, True]
            assert [taken(values, z, below=b) for b in (-2e-4, 1.0002)] == [False, False]


def test_the_support_is_where_the_transform_is_not_real() -> None:
    equations: Any = SimpleNamespace(groups=2)

    def inside(*tau: complex) -> bool:
        return is_inside(equations, Solution(1.0, np.array([9.0j, 9.0j, 9.0j, *tau]), np.zeros(5), 0.5))

    # By the sum of tau, to a billionth of it: the entries of T are no part of g.
    assert not inside(0.3 + 0.0j, 0.7 + 0.9e-9j)
    assert inside(0.3 + 0.0j, 0.7 + 1.1e-9j)
    assert not inside(0.3 + 1.0j, 0.7 - 1.0j)


def test_a_neighbour_is_followed_by_its_power_law() -> None:
    # T ~ z^2, tau ~ z^-1/2 and an entry that is zero; no farther than to a factor of e^1.5.
    at = Solution(2.0, np.array([4.0, 0.0, 3.0 + 1.0j]), np.array([4.0, 0.0, -(3.0 + 1.0j) / 4.0]), 0.5)
    assert _followed(at, 3.0) == pytest.approx(np.array([9.0, 0.0, (3.0 + 1.0j) * (2.0 / 3.0) ** 0.5]), rel=1e-12)
    assert not np.array_equal(_followed(at, 2.0 * math.exp(0.74)), at.values)
    assert np.array_equal(_followed(at, 2.0 * math.exp(0.76)), at.values)


@pytest.mark.parametrize(
    ("part", "small", "large"), [("mass", 0.9e-6, 1.1e-6), ("error", 0.9e-6, 1.1e-6), ("mean", 0.9e-6, 1.1e-6)]
)
def test_a_spectrum_is_converged_by_mass_by_its_panels_and_by_its_mean(
    part: str, small: float, large: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Model(activation("tanh"), activation("sin"), 1.5, 0.8, 0.1, spike=1.0, bulk=1.0, alignment=0.8)
    mean = density.mean_eigenvalue(Equations(model))
    monkeypatch.setattr(density, "_grid", lambda *_: [])
    monkeypatch.setattr(density, "detached_eigenvalues", lambda *_: ())
    for off, fine in ((0.0, True), (small, True), (large, False), (-small, True), (-large, False)):
        by = {"mass": 0.0, "error": 0.0, "mean": 0.0} | {part: off}
        # Two pieces of which one is right.
        curve, none = np.ones(2), np.zeros(2)
        pieces = [
            density._Piece(curve, none, curve, 0.25, 0.5 * mean, 0.0),
            density._Piece(curve, none, curve, 0.75 + by["mass"], mean * (0.5 + by["mean"]), abs(by["error"])),
        ]
        band = Band(1.0, 2.0, 0.0, 1.0)
        monkeypatch.setattr(density, "_resolved", lambda *_, pieces=pieces, band=band: ((band,), pieces))
        density.spectrum.__wrapped__.cache_clear()
        found = density.spectrum(model)
        density.spectrum.__wrapped__.cache_clear()
        assert found.converged is fine
        assert ("not converged" in found.status) is not fine
        assert found.mass == pytest.approx(1.0 + by["mass"], abs=1e-15)
        assert found.mass_error == abs(by["error"])
        assert found.mean_error == pytest.approx(abs(by["mean"]), abs=1e-15)


class Peak:
    """An axis with a Lorentzian density of a width around 2 on [1, 4], and `factor` as much as its shares say."""

    def __init__(self, width: float, factor: float = 1.0) -> None:
        self.width, self.factor = width, factor

    def inside(self, x: float) -> bool:
        return True

    def below(self, x: float) -> float:
        return math.atan((x - 2.0) / self.width) / math.pi

    def density(self, x: float) -> float:
        return self.factor / (math.pi * self.width * (1.0 + ((x - 2.0) / self.width) ** 2))


def integrated(axis: Any) -> Any:
    return density._integrated(axis, Band(1.0, 4.0, axis.below(1.0), axis.below(4.0)))


def test_panels_are_halved_until_they_agree_with_the_shares() -> None:
    axis = Peak(0.01)
    found = integrated(axis)
    whole = axis.below(4.0) - axis.below(1.0)
    # Some dozens of panels, each to 1e-9 and most far below.
    assert found.error < 1e-8
    assert abs(found.mass - whole) <= found.error + 1e-14
    mean = 2.0 * whole + 0.01 / (2.0 * math.pi) * math.log((1.0 + 200.0**2) / (1.0 + 100.0**2))
    assert found.first_moment == pytest.approx(mean, abs=4e-8)
    assert np.all(np.diff(found.x) > 0.0)
    assert found.density[0] == found.density[-1] == 0.0


def test_what_panels_are_off_by_is_added_up() -> None:
    # A density that is a millionth too large everywhere: no halving helps, and all of it is in the error.
    axis = Peak(1.0, 1.0 + 1e-6)
    found = integrated(axis)
    whole = axis.below(4.0) - axis.below(1.0)
    # Up to 1e-9 for each of the panels, a few hundred.
    assert found.error == pytest.approx(1e-6 * whole, rel=0.3)
    assert found.mass - whole == pytest.approx(1e-6 * whole, rel=0.01)


def panels(function: Any, edges: Any) -> Panels:
    nodes, _ = gauss_legendre(PANEL_ORDER)
    t = edges[:-1, None] + 0.5 * np.diff(edges)[:, None] * (1.0 + nodes)
    return Panels(edges, legendre_series(np.stack([function(t), np.ones_like(t)])))


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
