"""Figure 6: its lines, marks and sentences beside what `solve` and `simulate` answer for several letters."""

from __future__ import annotations

import re
from functools import partial

import numpy as np
import pytest

import giantsteps
from giantsteps.numerics.bulk.orthogonal import orthogonal
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.measurements.experiments import Measured
from giantsteps.reports.studies.paper import letters
from giantsteps.reports.studies.paper.samples import EXPERIMENTS, SEED
from tests.reports.studies.paper.test_plotted_data import SAME, TANH, data, shown
from tests.reports.studies.paper.test_statements import changes, scaled, sentence, swapped

LETTERS = {"{1}": (1.0,), "{1, 2}": (1.0, 2.0)}
TARGET = giantsteps.activation("sin(2*z)")


def groups(name: str) -> tuple[giantsteps.ReadoutGroup, ...]:
    return tuple(giantsteps.ReadoutGroup(letter, 1.0 / len(LETTERS[name])) for letter in LETTERS[name])


def model(name: str, alpha: float, bulk: str = "isotropic") -> giantsteps.Model:
    return giantsteps.Model.from_gradient_step(
        TANH, TARGET, alpha=alpha, beta=1.0, ridge=0.1, alpha0=100.0, eta=8.85, readout=groups(name), bulk_model=bulk
    )  # fmt: skip


@pytest.mark.parametrize("name", LETTERS)
def test_the_lines_are_the_three_theories_at_the_width_of_the_networks_and_at_none(name: str) -> None:
    found, k = shown(6), 5
    alpha = float(found[1, f"own theory, {name}"].x[k])
    plain, own = (giantsteps.solve(model(name, alpha, bulk)) for bulk in ("isotropic", "network"))
    for label, solution in (("isotropic", plain), ("own", own)):
        line = found[1, f"{label} theory, {name}"]
        assert line.y[k] == pytest.approx(solution.at_width(300).test_error, **SAME)
    special = solve(model(name, alpha), bulk=partial(orthogonal, model(name, alpha))).test_error
    for label, error in (("own", own.test_error), ("orthogonal", special)):
        line = found[2, f"{label} less isotropic, {name}"]
        # Ten digits of a difference in per cent.
        assert line.y[k] == pytest.approx(100.0 * (error / plain.test_error - 1.0), abs=1e-6)


@pytest.mark.parametrize("name", LETTERS)
def test_the_marks_are_the_stored_networks_and_their_straight_line_in_1_over_d(name: str) -> None:
    found, stored, alpha = shown(6), data(), 2.0
    small, large = (Measured.of(stored[f"figure 6, {name}, alpha 2, d {d}"]["test_error"]) for d in (150, 300))
    place = list(found[1, name].x).index(alpha)
    assert (found[1, name].y[place], found[1, name].error[place]) == pytest.approx((large.mean, large.error), **SAME)
    theory = giantsteps.solve(model(name, alpha))
    at_150, at_300 = theory.at_width(150).test_error, theory.at_width(300).test_error
    end = found[2, f"networks extrapolated less isotropic, {name}"]
    # off = a + b/d at both dimensions has a = 2 off(300) - off(150).
    off = 2.0 * (large.mean / at_300 - 1.0) - (small.mean / at_150 - 1.0)
    error = ((2.0 * large.error / at_300) ** 2 + (small.error / at_150) ** 2) ** 0.5
    assert (end.y[place], end.error[place]) == pytest.approx((100.0 * off, 100.0 * error), rel=1e-6)


def test_an_experiment_has_the_letters_and_the_dimension_of_its_name() -> None:
    for experiment in EXPERIMENTS:
        if found := re.fullmatch(r"figure 6, \{(.*)\}, alpha [\d.]+, d (\d+)", experiment.name):
            assert experiment.dimension == int(found[2])
            named = [float(top) / float(low or 1) for top, low in re.findall(r"(\d+)(?:/(\d+))?", found[1])]
            assert [group.weight for group in experiment.subject.groups] == named
    first = next(one for one in EXPERIMENTS if one.name == "figure 6, {1}, alpha 0.5, d 150")
    network = giantsteps.Network(TANH, TARGET, 0.5, 1.0, 0.1, alpha0=100.0, eta=8.85, readout=groups("{1}"))
    run = giantsteps.simulate(network, dimension=150, seeds=1, seed=SEED + first.stream)
    # Written with seven digits; a matrix product may sum in another order.
    assert data()[first.name]["test_error"][0] == pytest.approx(run.test_error.mean, rel=1e-5)
    # The step has the spike of the page on spiked random features, and nearly its alignment.
    assert (model("{1}", 1.0).spike, model("{1}", 1.0).alignment) == pytest.approx((1.5, 1.0), abs=0.04)


def test_of_figure_6() -> None:
    found, says, name = shown(6), letters.says_6, "isotropic theory, {}"
    moved = swapped(found, 1, name.format("{1}"), name.format("{1, 2}"))
    changes(says, found, moved, "more variability")
    # A third more of a network at every alpha: an error of four per cent at most.
    ends = "networks extrapolated less isotropic, {1}"
    more = {**found, (2, ends): letters.Series(found[2, ends].x, found[2, ends].y + 33.0, found[2, ends].error)}
    changes(says, found, more, "{1}: networks follow the theory of their own rows")
    changes(says, found, scaled(found, 2, ends, -1.0), "networks differ")
    # The isotropic theory is refuted by networks of one letter, the special case by their errors beyond it.
    assert not sentence(says, found, "isotropic rows").seen
    exact = {(2, ends.replace("{1}", one)): found[2, f"orthogonal less isotropic, {one}"] for one in LETTERS}
    thin = {where: letters.Series(s.x, s.y, np.full(s.x.shape, 1e-3)) for where, s in ({**found, **exact}).items()}
    assert sentence(says, thin, "equation (159)").seen


def test_the_late_vocabulary_is_said_to_come_nearer() -> None:
    stored = data()
    numbers = re.findall(r"(-?\d+) \+- (\d+)", letters.late(stored))
    assert len(numbers) == 4
    away = [float(mean) for mean, _ in numbers]
    assert away[0] > away[1] > away[2] > away[3]
    doubled = {**stored, "figure 6, {1, 2}, alpha 2, d 600": {"test_error": [9.0, 9.1]}}
    assert letters.late(doubled) != letters.late(stored)
