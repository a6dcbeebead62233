"""What the paper's figures plot, read back from their data, beside what `solve`, `bounds` and `simulate` answer; and
that what is said of them turns with it."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import replace
from functools import cache, partial
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure as Canvas

import giantsteps
from giantsteps.numerics.bulk.orthogonal import orthogonal
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.figures.canvas import Figure
from giantsteps.reports.measurements.experiments import Data, Measured, stored
from giantsteps.reports.studies.paper import after_step, along_spike, letters, spikes
from giantsteps.reports.studies.paper.functions import along_spike as along_spike_of
from giantsteps.reports.studies.paper.functions import along_target, neurons_along
from giantsteps.reports.studies.paper.samples import BY_ALIGNMENT, BY_SPIKE, EXPERIMENTS, bound_network
from giantsteps.reports.studies.paper.series import Plotted, Series, Statement, agreement, alike, plotted
from giantsteps.reports.studies.paper.settings import SINE as SINE_PANEL
from giantsteps.reports.studies.vocabulary import VOCABULARIES

STUDY = after_step.STUDY_1
FIGURES: dict[int, Callable[[Data], Figure]] = {
    1: after_step.figure_1,
    2: after_step.figure_2,
    3: along_spike.figure_3,
    4: spikes.figure_4,
    5: spikes.figure_5,
    # The cheap vocabulary, and one of two letters.
    6: partial(letters.figure_6, vocabularies=(VOCABULARIES[0], VOCABULARIES[2])),
    7: along_spike.figure_7,
}
# The same solver at the same models, written with ten digits.
SAME = {"rel": 1e-8}
LETTERS = {"{1}": (1.0,), "{1, 2}": (1.0, 2.0)}


@cache
def data() -> Data:
    """The stored samples."""
    return stored(STUDY.slug)


@cache
def shown(number: int) -> Plotted:
    """The series of a figure, each of which has a name of its own."""
    figure = FIGURES[number](data())
    assert "<svg" in figure.svg
    assert not re.search(r'"line \d+"', figure.data)
    return plotted(figure)


def stepped(alpha: float, beta: float = 1.0, ridge: float = 0.1, target: str = "sin", **given: Any) -> giantsteps.Model:
    return giantsteps.Model.from_gradient_step("tanh", target, alpha=alpha, beta=beta, ridge=ridge, **given)


# What a panel is drawn for, typed again: of every figure the panel, and of a value in the label the model.
PANELS: dict[tuple[int, int], Callable[[float, float, str], giantsteps.Model]] = {
    (2, 1): lambda alpha0, alpha, bulk: stepped(alpha, alpha0=alpha0, eta=3.0, bulk_model=bulk),
    (2, 3): lambda a0, a, bulk: stepped(a, ridge=0.01, target="tanh", alpha0=a0, eta=1.0, bulk_model=bulk),
    (2, 5): lambda a0, a, bulk: stepped(a, target="sign", alpha0=a0, eta=3.0, bulk_model=bulk),
    (5, 1): lambda beta, alpha, bulk: stepped(alpha, beta, alpha0=20.0, eta=3.0, bulk_model=bulk),
    (5, 2): lambda beta, alpha, bulk: stepped(alpha, beta, alpha0=20.0, eta=3.0 * beta, bulk_model=bulk),
}


@pytest.mark.parametrize("where", PANELS)
def test_the_lines_are_both_theories_of_what_their_label_says(where: tuple[int, int]) -> None:
    figure, panel = where
    seen = 0
    for (place, name), series in shown(figure).items():
        found = re.fullmatch(r"(isotropic|own) theory, \w+ = ([\d.]+)", name)
        if place != panel or not found:
            continue
        bulk, every = ("isotropic", 15) if found[1] == "isotropic" else ("network", 9)
        for alpha, error in list(zip(series.x, series.y, strict=True))[1::every]:
            model = PANELS[where](float(found[2]), alpha, bulk)
            assert error == pytest.approx(giantsteps.solve(model).test_error, **SAME)
            seen += 1
    assert seen >= 12


def test_the_lines_of_a_spike_have_it_and_its_alignment() -> None:
    found = shown(4)
    curves = [(1, curve, float(curve.name.removeprefix("r = ")), 0.9) for curve in BY_SPIKE]
    curves += [(2, curve, 1.5, float(curve.name.removeprefix("gamma = "))) for curve in BY_ALIGNMENT]
    for panel, curve, spike, alignment in curves:
        series = found[panel, f"isotropic theory, {curve.name}"]
        # The batch is a whole number of samples at the dimension of the networks: alignment to a few in a thousand.
        model = curve.first.model("isotropic")
        assert (model.spike, model.alignment) == pytest.approx((spike, alignment if spike else 0.0), abs=3e-3)
        assert series.y[9] == pytest.approx(giantsteps.solve(model.changed(alpha=series.x[9])).test_error, **SAME)
    for gamma in (0.0, 1.0):
        series = found[2, rf"$\gamma = {gamma:g}$"]
        model = giantsteps.Model("tanh", "sin", series.x[20], 1.0, 0.1, spike=1.5, bulk=1.0, alignment=gamma)
        assert series.y[20] == pytest.approx(giantsteps.solve(model).test_error, **SAME)


def test_the_points_are_the_stored_networks_of_their_label() -> None:
    for panel, case in ((1, "tanh/sin"), (3, "tanh/tanh"), (5, "tanh/sign")):
        for alpha0 in (0.0, 0.5, 2.0, 20.0):
            points = shown(2)[panel, f"networks, alpha0 = {alpha0:g}"]
            for alpha, mean, error in zip(points.x, points.y, points.error, strict=True):
                values = Measured.of(data()[f"figure 2, {case}, alpha0 {alpha0:g}, alpha {alpha:g}"]["test_error"])
                assert (mean, error) == pytest.approx((values.mean, values.error), **SAME)


def test_an_experiment_is_of_what_its_name_says_and_gives_its_stored_samples_again() -> None:
    again = {"figure 1, alpha0 0.5", "figure 2, tanh/sin, alpha0 0.5, alpha 0.526667", "figure 7, r 0.5",
             "figure 6, {1}, alpha 0.5, d 150"}  # fmt: skip
    for experiment in EXPERIMENTS:
        for name in ("alpha0", "alpha", "beta", "ridge"):
            found = re.search(rf"\b{name} ([\d.]+)", experiment.name)
            assert not found or getattr(experiment.subject, name) == pytest.approx(float(found[1]), rel=1e-5)
        if found := re.fullmatch(r"figure 6, \{(.*)\}, alpha [\d.]+, d (\d+)", experiment.name):
            assert experiment.dimension == int(found[2])
            named = [float(top) / float(low or 1) for top, low in re.findall(r"(\d+)(?:/(\d+))?", found[1])]
            assert [group.weight for group in experiment.subject.groups] == named
        if experiment.name in again:
            # Written with seven digits; a matrix product may sum in another order.
            for observable, (value,) in replace(experiment, seeds=1).run(STUDY.seed).items():
                assert data()[experiment.name][observable][0] == pytest.approx(value, rel=1e-5, abs=1e-6)
    figure_2 = next(one for one in EXPERIMENTS if one.name.startswith("figure 2, tanh/sin, alpha0 0.5, alpha 0.52"))
    network = giantsteps.Network("tanh", "sin", 158 / 300, 1.0, 0.1, alpha0=0.5, eta=3.0)
    run = giantsteps.simulate(network, dimension=300, seeds=1, seed=STUDY.seed + figure_2.stream)
    assert data()[figure_2.name]["test_error"][0] == pytest.approx(run.test_error.mean, rel=1e-5)


def test_the_functions_of_figure_3_lie_at_the_distances_that_bounds_gives() -> None:
    found = shown(3)
    target = found[1, "target"]
    weight = np.exp(-(target.x**2) / 2.0)
    bounds = giantsteps.bounds(giantsteps.Model("tanh", "sin", 1.0, 1.0, 1.0, spike=0.9, bulk=1.0, alignment=1.0))
    names = (r"upper bound: $b\,\mu_0$", r"lower bound: $b_1\mu_0 + b_2\kappa\mu_1$")
    for name, bound in zip(names, (bounds.upper, bounds.lower), strict=True):
        distance = float(weight @ (found[1, name].y - target.y) ** 2 / weight.sum())
        # The drawing ends at four standard deviations: 6e-5 of the weight, and functions differ by up to 2.4 there.
        assert distance == pytest.approx(bound, abs=4e-4)


def test_the_pool_of_figure_7_is_the_average_over_the_bulk() -> None:
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()
    for spike in (0.5, 1.0, 2.0, 4.0):
        line, slope = (shown(7)[panel, f"$r = {spike:g}$"] for panel in (1, 2))
        values = np.tanh(spike * line.x[:, None] + nodes)
        assert np.max(np.abs(line.y - values @ weights)) < 1e-7
        assert np.max(np.abs(slope.y - slope.x * (values @ (nodes * weights)))) < 1e-7


def lettered(name: str, alpha: float, bulk: str = "isotropic") -> giantsteps.Model:
    groups = tuple(giantsteps.ReadoutGroup(letter, 1.0 / len(LETTERS[name])) for letter in LETTERS[name])
    return stepped(alpha, target="sin(2*z)", alpha0=100.0, eta=8.85, readout=groups, bulk_model=bulk)


@pytest.mark.parametrize("name", LETTERS)
def test_the_lines_of_figure_6_are_three_theories_at_the_width_of_the_networks_and_at_none(name: str) -> None:
    found, k = shown(6), 5
    alpha = float(found[1, f"own theory, {name}"].x[k])
    plain, own = (giantsteps.solve(lettered(name, alpha, bulk)) for bulk in ("isotropic", "network"))
    for label, solution in (("isotropic", plain), ("own", own)):
        assert found[1, f"{label} theory, {name}"].y[k] == pytest.approx(solution.at_width(300).test_error, **SAME)
    special = solve(lettered(name, alpha), bulk=partial(orthogonal, lettered(name, alpha))).test_error
    for label, error in (("own", own.test_error), ("orthogonal", special)):
        # Ten digits of a difference in per cent.
        off = 100.0 * (error / plain.test_error - 1.0)
        assert found[2, f"{label} minus isotropic, {name}"].y[k] == pytest.approx(off, abs=1e-6)


@pytest.mark.parametrize("name", LETTERS)
def test_the_marks_of_figure_6_are_networks_and_their_straight_line_in_1_over_d(name: str) -> None:
    found, alpha = shown(6), 2.0
    small, large = (Measured.of(data()[f"figure 6, {name}, alpha 2, d {d}"]["test_error"]) for d in (150, 300))
    place = list(found[1, name].x).index(alpha)
    assert (found[1, name].y[place], found[1, name].error[place]) == pytest.approx((large.mean, large.error), **SAME)
    theory = giantsteps.solve(lettered(name, alpha))
    at_150, at_300 = theory.at_width(150).test_error, theory.at_width(300).test_error
    end = found[2, f"networks extrapolated minus isotropic, {name}"]
    # off = a + b/d at both dimensions has a = 2 off(300) - off(150).
    off = 2.0 * (large.mean / at_300 - 1.0) - (small.mean / at_150 - 1.0)
    error = ((2.0 * large.error / at_300) ** 2 + (small.error / at_150) ** 2) ** 0.5
    assert (end.y[place], end.error[place]) == pytest.approx((100.0 * off, 100.0 * error), rel=1e-6)


def test_the_late_vocabulary_is_said_to_come_nearer() -> None:
    away = [float(mean) for mean in re.findall(r"(-?\d+) \+- \d+", letters.late(data()))]
    assert len(away) == 4
    assert away[0] > away[1] > away[2] > away[3]
    doubled = {**data(), "figure 6, {1, 2}, alpha 2, d 600": {"test_error": [9.0, 9.1]}}
    assert letters.late(doubled) != letters.late(data())


def test_the_dashed_line_is_the_best_linear_predictor() -> None:
    # E[g^2] - E[z g]^2 of a sine and of the sign, by hand.
    sine, sign = (1.0 - np.exp(-2.0)) / 2.0 - np.exp(-1.0), 1.0 - 2.0 / np.pi
    for number, panel, level in ((2, 1, sine), (2, 5, sign), (4, 2, sine), (5, 1, sine), (5, 2, sine)):
        assert list(shown(number)[panel, "best linear predictor"].y) == pytest.approx([level, level], **SAME)


def test_the_output_along_the_target_is_that_along_the_spike_at_alignment_one() -> None:
    infinite = SINE_PANEL.aligned.changed(alpha=4.0)
    x = np.linspace(-1.0, 1.0, 5)
    assert along_target(infinite, x) == pytest.approx(along_spike_of(infinite, x), rel=1e-12)
    # The same function as `Solution.plot` draws, straight between points 0.04 apart.
    line = giantsteps.solve(infinite).plot(Canvas().subplots()).lines[0]
    assert along_target(infinite, x) == pytest.approx(np.interp(x, line.get_xdata(), line.get_ydata()), abs=1e-3)


def test_the_output_along_the_spike_has_a_term_for_rows_that_differ_in_norm() -> None:
    """m mu0 + zeta kappa mu1 + chi dmu0/dc by a quadrature of its own, the last by a difference of averages in c."""
    model = stepped(1.5, alpha0=2.0, eta=3.0, bulk_model="network")
    order, kappa = giantsteps.solve(model).order_parameters, np.array([-1.5, -0.2, 0.0, 0.7, 2.0])
    nodes, weights = np.polynomial.hermite_e.hermegauss(80)
    weights = weights / weights.sum()

    def average(c: float, function: Any = np.ones_like) -> Any:
        return (np.tanh(model.spike * kappa[:, None] + np.sqrt(c) * nodes) * function(nodes)) @ weights

    assert abs(model.bulk - 1.0) > 0.1
    m, zeta, chi = (float(np.sum(value)) for value in (order.m, order.zeta, order.chi))
    h, mu1 = 1e-4, average(model.bulk, lambda z: z) / np.sqrt(model.bulk)
    slope = (average(model.bulk + h) - average(model.bulk - h)) / (2 * h)
    expected = m * average(model.bulk) + zeta * kappa * mu1 + chi * slope
    # Eighty nodes are right to 1e-9 here, and the difference to h^2; the term is one of 1e-3.
    assert along_spike_of(model, kappa) == pytest.approx(expected, abs=1e-8)
    assert np.abs(chi * slope).max() > 1e-3


def test_a_neuron_along_a_direction_is_its_mean_over_all_others() -> None:
    network, rng = bound_network("upper"), np.random.default_rng(5)
    weights = rng.standard_normal((2, 6)) / np.sqrt(6)
    direction = rng.standard_normal(6)
    direction /= np.linalg.norm(direction)
    x = rng.standard_normal((200_000, 6))
    x += np.outer(0.8 - x @ direction, direction)  # e.x = 0.8
    mean, slope = neurons_along(network, weights, direction, (0.8,))
    values = np.tanh(x @ weights.T)
    bulk = weights - np.outer(weights @ direction, direction)
    along = values * (x @ bulk.T) / np.sum(bulk**2, axis=1)
    for sampled, exact in ((values, mean), (along, slope)):
        # Four numbers, five standard errors: a false alarm once in 400,000 seeds.
        error = sampled.std(axis=0) / np.sqrt(len(x))
        assert np.all(np.abs(sampled.mean(axis=0) - exact[:, 0]) < 5.0 * error)


# What is said of a figure


def scaled(panel: int, name: str, factor: float) -> Callable[[Plotted], Plotted]:
    """The figure with one series stretched."""
    return lambda found: {**found, (panel, name): replace(found[panel, name], y=factor * found[panel, name].y)}


def swapped(panel: int, one: str, other: str) -> Callable[[Plotted], Plotted]:
    """The figure with two series under each other's label."""
    return lambda found: {**found, (panel, one): found[panel, other], (panel, other): found[panel, one]}


THEORY, LOWER, UPPER = "isotropic theory, {}", r"lower bound: $b_1\mu_0 + b_2\kappa\mu_1$", r"upper bound: $b\,\mu_0$"
ALPHA0, ENDS = "isotropic theory, alpha0 = {}", "networks extrapolated minus isotropic, {1}"
SAYS: dict[int, Callable[[Plotted], tuple[Statement, ...]]] = {
    1: after_step.says_1, 2: after_step.says_2, 3: along_spike.says_3, 4: spikes.says_4, 5: spikes.says_5,
    6: letters.says_6, 7: along_spike.says_7,
}  # fmt: skip
# Of a figure the statement that is seen, and what has to move for it not to be.
TURNS: tuple[tuple[int, str, Callable[[Plotted], Plotted]], ...] = (
    (1, "with more data in the step", swapped(1, ALPHA0.format("2"), ALPHA0.format("0.5"))),
    (1, "the function is linear", swapped(1, ALPHA0.format("0"), ALPHA0.format("20"))),
    (1, "accurate approximation", scaled(1, ALPHA0.format("20"), 0.7)),
    (1, "networks follow", scaled(1, r"$\alpha_0 = 2$", 0.9)),
    (2, "tanh/sin: larger batches", swapped(1, ALPHA0.format("2"), ALPHA0.format("20"))),
    (2, "tanh/sin: the lowest error", scaled(1, ALPHA0.format("20"), 0.5)),
    (2, "tanh/sin: at initialisation", scaled(1, ALPHA0.format("0"), 0.1)),
    (2, "tanh/sin: a trained first layer", scaled(1, r"$\alpha_0 = \infty$", 9.0)),
    (2, "tanh/sin: networks differ", scaled(2, "networks minus isotropic, alpha0 = 0.5", -1.0)),
    (3, "the upper bound is achieved", scaled(1, along_spike.points_of("upper"), 0.5)),
    (3, "is the nearer one", swapped(1, LOWER, UPPER)),
    (3, "no test error is lower", scaled(1, LOWER, 3.0)),
    (4, "small spikes", swapped(1, THEORY.format("r = 0"), THEORY.format("r = 0.5"))),
    (4, "higher alignments", swapped(2, THEORY.format("gamma = 0.5"), THEORY.format("gamma = 0.8"))),
    (4, "linear curse", scaled(2, r"$\gamma = 1$", 9.0)),
    (6, "more variability", swapped(1, THEORY.format("{1}"), THEORY.format("{1, 2}"))),
    # Networks of one letter nine times as far from the isotropic theory: an error of four per cent at most.
    (6, "{1}: networks follow the theory of their own rows", scaled(2, ENDS, 9.0)),
    (6, "networks differ", scaled(2, ENDS, -1.0)),
    (7, "reduces to linear", swapped(2, "$r = 0.5$", "$r = 4$")),
    (7, "the mean neuron", scaled(1, "networks, r = 1", 1.1)),
)


def sentence(number: int, found: Plotted, words: str) -> Statement:
    """The first statement with these words."""
    return next(one for one in SAYS[number](found) if words in one.says)


@pytest.mark.parametrize(("number", "words", "moved"), TURNS, ids=[f"{k} {words}" for k, words, _ in TURNS])
def test_a_statement_is_seen_and_not_where_its_data_move(
    number: int, words: str, moved: Callable[[Plotted], Plotted]
) -> None:
    assert sentence(number, shown(number), words).seen
    assert not sentence(number, moved(shown(number)), words).seen


def test_a_small_batch_may_be_worse_than_none_and_is_said_to_be() -> None:
    monotone, found = "tanh/sin: a step on few samples is better than none", shown(2)
    assert not sentence(2, found, monotone).seen
    assert "above no step from alpha = 1.5 on" in sentence(2, found, monotone).found
    assert sentence(2, scaled(1, ALPHA0.format("0.5"), 0.5)(found), monotone).seen
    widths = shown(5)
    moved = swapped(2, THEORY.format("beta = 0.25"), THEORY.format("beta = 4"))(widths)
    assert sentence(5, widths, "in proportion").found != sentence(5, moved, "in proportion").found


def test_points_agree_with_a_line_or_not() -> None:
    x = np.linspace(1.0, 2.0, 5)
    line = Series(x, x**2, np.full(5, np.nan))
    points = Series(x, 1.02 * x**2, np.full(5, 0.001))
    assert agreement([(points, line)], "", "").seen  # two per cent is an agreement, however sure
    off = replace(points, y=1.08 * x**2)
    assert not agreement([(off, line)], "", "").seen
    assert "5 beyond three" in agreement([(off, line)], "", "").found
    assert agreement([(replace(off, error=np.full(5, 0.5)), line)], "", "").seen  # too noisy to contradict
    # Signs of differences: none that can be told from zero, and one of two.
    points, line = Series(x[:2], np.array([0.1, -0.1]), np.ones(2)), Series(x[:2], np.full(2, 0.2), np.full(2, np.nan))
    assert alike(((points, line),), "", "").found == "no difference can be told from zero at this many samples"
    sharp = alike(((replace(points, error=np.full(2, 0.01)), line),), "", "")
    assert (sharp.seen, sharp.found) == (False, "1 of 2 differences that can be told from zero have its sign")
