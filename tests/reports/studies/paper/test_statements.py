"""What is said of the paper's figures follows from what they plot: other data, another sentence."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from giantsteps.reports.studies.paper import after_step, along_spike, spikes
from giantsteps.reports.studies.paper.functions import neurons_along
from giantsteps.reports.studies.paper.samples import bound_network
from giantsteps.reports.studies.paper.series import Plotted, Series, Statement, agreement, alike
from tests.reports.studies.paper.test_plotted_data import shown

Says = Callable[[Plotted], tuple[Statement, ...]]


def sentence(says: Says, found: Plotted, words: str) -> Statement:
    """The first statement with these words."""
    return next(one for one in says(found) if words in one.says)


def scaled(found: Plotted, panel: int, name: str, factor: float) -> Plotted:
    """The figure with one series stretched."""
    series = found[panel, name]
    return {**found, (panel, name): replace(series, y=factor * series.y)}


def swapped(found: Plotted, panel: int, one: str, other: str) -> Plotted:
    """The figure with two series under each other's label."""
    return {**found, (panel, one): found[panel, other], (panel, other): found[panel, one]}


def changes(says: Says, before: Plotted, after: Plotted, words: str) -> None:
    """The statement is seen before and not after."""
    assert sentence(says, before, words).seen
    assert not sentence(says, after, words).seen


def test_of_figure_1() -> None:
    found, name = shown(1), "isotropic theory, alpha0 = {}"
    moved = swapped(found, 1, name.format("2"), name.format("0.5"))
    changes(after_step.says_1, found, moved, "with more data in the step")
    bent = swapped(found, 1, name.format("0"), name.format("20"))
    changes(after_step.says_1, found, bent, "the function is linear")
    changes(after_step.says_1, found, scaled(found, 1, name.format("20"), 0.7), "accurate approximation")
    changes(after_step.says_1, found, scaled(found, 1, r"$\alpha_0 = 2$", 0.9), "networks follow")


def test_of_figure_2() -> None:
    found, name = shown(2), "isotropic theory, alpha0 = {}"
    moved = swapped(found, 1, name.format("2"), name.format("20"))
    changes(after_step.says_2, found, moved, "tanh/sin: larger batches")
    moved = scaled(found, 1, name.format("20"), 0.5)
    changes(after_step.says_2, found, moved, "tanh/sin: the lowest error")
    changes(after_step.says_2, found, scaled(found, 1, name.format("0"), 0.1), "tanh/sin: at initialisation")
    changes(after_step.says_2, found, scaled(found, 1, r"$\alpha_0 = \infty$", 9.0), "tanh/sin: a trained first layer")
    moved = scaled(found, 2, "networks less isotropic, alpha0 = 0.5", -1.0)
    changes(after_step.says_2, found, moved, "tanh/sin: networks differ")
    # A small batch may be worse than none: by the curves, and by networks.
    monotone = "tanh/sin: a step on few samples is better than none"
    assert not sentence(after_step.says_2, found, monotone).seen
    assert "above no step from alpha = 1.5 on" in sentence(after_step.says_2, found, monotone).found
    assert sentence(after_step.says_2, scaled(found, 1, name.format("0.5"), 0.5), monotone).seen


def test_of_figures_3_and_7() -> None:
    found, upper = shown(3), bound_network("upper")
    words = rf"networks, $\alpha = {upper.alpha:g}$, $\lambda = {upper.ridge:g}$"
    changes(along_spike.says_3, found, scaled(found, 1, words, 0.5), "the upper bound is achieved")
    lower, line = r"lower bound: $b_1\mu_0 + b_2\kappa\mu_1$", r"upper bound: $b\,\mu_0$"
    changes(along_spike.says_3, found, swapped(found, 1, lower, line), "is the nearer one")
    changes(along_spike.says_3, found, scaled(found, 1, lower, 3.0), "no test error is lower")
    pool = shown(7)
    changes(along_spike.says_7, pool, swapped(pool, 2, "$r = 0.5$", "$r = 4$"), "reduces to linear")
    changes(along_spike.says_7, pool, scaled(pool, 1, "networks, r = 1", 1.1), "the mean neuron")


def test_of_figures_4_and_5() -> None:
    found, name = shown(4), "isotropic theory, {}"
    changes(spikes.says_4, found, swapped(found, 1, name.format("r = 0"), name.format("r = 0.5")), "small spikes")
    moved = swapped(found, 2, name.format("gamma = 0.5"), name.format("gamma = 0.8"))
    changes(spikes.says_4, found, moved, "higher alignments")
    changes(spikes.says_4, found, scaled(found, 2, r"$\gamma = 1$", 9.0), "linear curse")
    widths = shown(5)
    narrow, wide = name.format("beta = 0.25"), name.format("beta = 4")
    moved = swapped(widths, 2, narrow, wide)
    before, after = (sentence(spikes.says_5, one, "in proportion").found for one in (widths, moved))
    assert before != after


def test_points_agree_with_a_line_or_not() -> None:
    x = np.linspace(1.0, 2.0, 5)
    line = Series(x, x**2, np.full(5, np.nan))
    points = Series(x, 1.02 * x**2, np.full(5, 0.001))
    assert agreement([(points, line)], "", "").seen  # two per cent is an agreement, however sure
    off = replace(points, y=1.08 * x**2)
    assert not agreement([(off, line)], "", "").seen
    assert "5 beyond three" in agreement([(off, line)], "", "").found
    assert agreement([(replace(off, error=np.full(5, 0.5)), line)], "", "").seen  # too noisy to contradict


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


def test_where_no_difference_can_be_told_from_zero_it_says_so() -> None:
    x, nan = np.array([1.0, 2.0]), np.full(2, np.nan)
    points, line = Series(x, np.array([0.1, -0.1]), np.ones(2)), Series(x, np.array([0.2, 0.2]), nan)
    told = alike(((points, line),), "signs agree", "there")
    assert not told.seen
    assert told.found == "no difference can be told from zero at this many samples"
    sharp = alike(((replace(points, error=np.full(2, 0.01)), line),), "signs agree", "there")
    assert sharp.found == "1 of 2 differences that can be told from zero have its sign"
