"""The page for who trains networks: what it computes, and that it follows from the samples."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.measurements.experiments import Measured, stored
from giantsteps.reports.studies.networks import missed_plane, practitioner
from giantsteps.reports.studies.networks.practitioner import (
    ACTIVATIONS,
    ETAS,
    MEASURED_ETAS,
    TARGETS,
    Case,
    case_of,
    ridge_of,
    says,
    stretch,
)  # fmt: skip

DATA = stored(practitioner.SLUG)
COUNT = len(ETAS)
# Of the page in docs/: one row whose best step would be the shortest in the limit, and one that has a harmful one.
FAST = (("relu", "tanh"), ("sin", "softplus"))


def made(curve: tuple[float, ...], eta: float = 1.0) -> Case:
    measured = tuple(Measured(0.5, 0.01, 0.02) for _ in MEASURED_ETAS)
    theory = {"isotropic": (0.54,) * 3, "network": (0.51,) * 3}
    return Case("tanh", "sin", curve, 0.5, eta, 0.2, measured, theory, shortest=0.3)


def test_a_step_hurts_from_where_its_curve_crosses_that_of_no_step() -> None:
    # A straight line in log eta that is at the error of no step, 0.5, for eta = 5.
    crossing = made(tuple(0.5 + 0.1 * (np.log(ETAS) - math.log(5.0))), eta=ETAS[1])
    assert crossing.hurts_from == pytest.approx(5.0, rel=1e-12)
    assert made((0.4,) * COUNT).hurts_from == math.inf
    # Short steps that hurt are not long ones.
    assert made((0.6, *(0.4,) * (COUNT - 1))).hurts_from == math.inf
    # Between the best rate itself and the next of the grid.
    steep = made((0.3,) * 6 + (0.8,) * (COUNT - 6), eta=float(np.sqrt(ETAS[5] * ETAS[6])))
    assert steep.eta < steep.hurts_from < ETAS[6]


def test_the_ridge_is_a_share_of_the_variance() -> None:
    # Of relu: 1/2 - 1/(2 pi).
    assert ridge_of("relu") == ridge_of("relu + 3") == pytest.approx(0.1 * (0.5 - 0.5 / math.pi), rel=2e-3)


@pytest.mark.parametrize("target", TARGETS)
def test_the_stretch_of_the_bulk_along_the_target(target: str) -> None:
    # theta.B theta = 1 + 2 nu E[Y u^2] + nu^2 (E[Y u^2]^2 + E[Y^2 u^2]/alpha0) + omega E[Y^2 u^2], term by term, by
    # midpoints: the rows P theta and the scatter of the step along theta.
    u = (np.arange(40_000) + 0.5) / 2000.0 - 10.0
    weight = np.exp(-0.5 * u * u) / math.sqrt(2.0 * math.pi) / 2000.0
    even, eta, alpha0, beta = 0.2, 2.0, practitioner.ALPHA0, practitioner.BETA
    y = {"sin": np.sin(u), "relu": np.maximum(u, 0.0), "z + he(2, z)/2": u + (u * u - 1.0) / 2.0}[target]
    slope = 1.0 / np.cosh(u) ** 2
    rest = float(weight @ slope**2 - (weight @ slope) ** 2)
    nu, omega = eta / beta * 2.0 * even, (eta / beta) ** 2 * rest / alpha0
    mean, square, noise = float(weight @ y), float(weight @ y**2), practitioner.NOISE
    # y is centred by E[sigma], which is 0 here, and the noise of the labels is independent of u.
    along, across = float(weight @ (y * u * u)), float(weight @ (y * u) ** 2) + noise
    whole = 1.0 + 2.0 * nu * along + nu**2 * (along**2 + across / alpha0) + omega * across
    c = (1.0 + nu * mean) ** 2 + (nu**2 / alpha0 + omega) * (square + noise)
    assert stretch("tanh(z) + 0.2*he(2, z)", target, eta) == pytest.approx(whole / c, rel=1e-6)


def test_a_table_for_networks_shows_what_networks_of_that_width_have() -> None:
    # tanh that learns relu: in the limit the shortest step is best; simulated networks of width 500 had 0.515 there.
    found = case_of("tanh", "relu", DATA)
    assert found.shortest == pytest.approx(0.4738, abs=1e-4)
    assert found.curve[0] > 1.05 * found.least
    # The least error is that of a rate, and the best of its neighbourhood.
    assert found.least <= min(found.curve) * (1.0 + 1e-3)
    text = says([replace(found, target=target) for target in TARGETS])[4].found
    assert "tanh / relu (0.4738 in the limit, 0.5030 at that width; there eta = 3.1 is best)" in text
    doubled = {name: {"test_error": [2.0 * x for x in one["test_error"]]} for name, one in DATA.items()}
    moved = case_of("tanh", "relu", doubled)
    assert moved.curve == found.curve
    assert min(moved.z("network")) > max(found.z("network"))


def quoted() -> dict[tuple[str, str], str]:
    """The table of docs/practitioner.md, by target and activation."""
    text = (Path(__file__).parents[4] / "docs" / "practitioner.md").read_text(encoding="utf-8")
    table = text[text.index("| target | activation |") :].partition("\n\n")[0]
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    return {(row[0], row[1]): " | ".join(row) for row in rows[2:]}


def test_the_page_of_the_documentation_has_every_case() -> None:
    assert list(quoted()) == [(target, student) for target in TARGETS for student in ACTIVATIONS]


@pytest.mark.parametrize(
    ("target", "student"),
    [
        pytest.param(*case, marks=() if case in FAST else pytest.mark.thorough)
        for case in ((target, student) for target in TARGETS for student in ACTIVATIONS)
    ],
)
def test_the_page_of_the_documentation_says_what_the_code_gives(target: str, student: str) -> None:
    assert case_of(student, target, DATA).row == quoted()[target, student]


def test_the_texts_name_the_best_and_the_worst_by_what_they_say() -> None:
    # The first has the larger errors, the second the larger shares: of what a step gains, and of what it costs.
    large = replace(made((0.4,) * 8 + (0.9,) * (COUNT - 8)), student="relu", least=0.4)
    small = replace(made((0.08,) * 8 + (0.3,) * (COUNT - 8), eta=0.5), student="erf", plain=0.1, least=0.05)
    assert small.hurts_from < large.hurts_from < 2.0 * small.hurts_from
    for cases in ((large, small), (small, large)):
        pairs = [replace(one, target=target) for target in TARGETS for one in cases]
        best, *_, hurt, _, _, measured = (one.found for one in says(pairs))
        assert "erf is best: 0.050 at eta = 0.5, from 0.100 without a step; relu is last with 0.400" in best
        assert "the step gains erf most, 50% of its error" in best
        assert "this holds for 6 of 6 pairs" in hurt
        assert f"at least {large.hurts_from:.1f} times the best rate;" in hurt
        assert "the worst is erf learning sin: 3.0 times the error of no step" in hurt
        assert "1.0 and 4.0 standard errors away" in measured


def test_the_plane_of_what_is_missed() -> None:
    plane = missed_plane.plane_of("tanh", (1.0, 20.0), (0.01, 12.0))
    network = Network("tanh", "sin", alpha=2.0, beta=1.0, ridge=0.05, alpha0=20.0, eta=12.0, noise=0.1)
    for theory, found in (("isotropic", plane.isotropic), ("network", plane.network)):
        assert found[1, 1] == pytest.approx(solve(network.model(theory)).at_width(1000).test_error, rel=1e-12)
    # Hardly a step, hardly a difference; at long steps the two part.
    assert np.max(np.abs(plane.missed[:, 0])) < 1e-3 < abs(plane.missed[1, 1])
    assert not plane.hurt[1, 1]
    assert len(missed_plane.table([plane]).rows[0]) == 8
