"""A density of initial readout weights: rules over the letters, the limit of many, and networks at a finite width."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.letters.density import (
    bulk_of,
    few_letters,
    letter_table,
    solve_letters,
    with_letters,
)
from giantsteps.numerics.saddle_point.letters.many_letters import LetterTable, Ratios, errors, held_means, respond
from giantsteps.numerics.saddle_point.level import solve_on
from giantsteps.numerics.saddle_point.profile import profile
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.numerics.saddle_point.ridgeless import Regime

MODEL = Model(
    activation("tanh"), activation("sin(2*z)"), alpha=1.5, beta=1.0, ridge=0.1, spike=1.2, bulk=1.1, alignment=0.9
)


@pytest.mark.parametrize(("name", "fourth"), [("normal", 3.0), ("uniform", 9.0 / 5.0)])
@pytest.mark.parametrize("folded", [False, True])
def test_groups_have_the_moments_of_the_law(name: str, fourth: float, folded: bool) -> None:
    scale = 1.7
    groups = ReadoutLaw(name, scale).groups(6, folded)
    u, pi = (np.array([getattr(group, field) for group in groups]) for field in ("weight", "fraction"))
    variance = scale**2 * (1.0 if name == "normal" else 1.0 / 3.0)
    assert pi.sum() == pytest.approx(1.0, abs=1e-14)
    assert pi @ u**2 == pytest.approx(variance, rel=1e-13)
    assert pi @ u**4 == pytest.approx(fourth * variance**2, rel=1e-13)
    assert bool(np.all(u > 0.0)) is folded


def test_bulks_are_as_after_a_step_or_the_model_own() -> None:
    assert bulk_of(MODEL, 0.5) == pytest.approx(1.025, rel=1e-14)
    assert bulk_of(MODEL.changed(bulk=0.7), 0.5) == 0.7


@pytest.mark.parametrize("name", ["normal", "uniform"])
def test_the_rule_for_the_limit_has_the_moments_of_the_law(name: str) -> None:
    u, pi = ReadoutLaw(name, 1.7).letters(40)
    variance = 1.7**2 * (1.0 if name == "normal" else 1.0 / 3.0)
    assert pi.sum() == pytest.approx(1.0, abs=1e-14)
    assert pi @ u**2 == pytest.approx(variance, rel=1e-12)
    assert pi @ u**4 == pytest.approx((3.0 if name == "normal" else 1.8) * variance**2, rel=1e-12)
    assert pi @ u == pytest.approx(0.0, abs=1e-14)


def few(model: Model, law: ReadoutLaw, count: int) -> tuple[Model, LetterTable, Ratios]:
    """The model with a few groups, and the same as letters."""
    grouped = with_letters(model.changed(readout=law), count)
    u, pi = (np.array([getattr(group, field) for group in grouped.groups]) for field in ("weight", "fraction"))
    table = letter_table(model, u, pi, profile(grouped, 1))
    return grouped, table, Ratios(model.alpha, model.beta, model.noise, Regime(1.0, model.ridge))


@pytest.mark.parametrize("alpha", [0.5, 1.5])
def test_functions_along_the_spike_do_the_work_of_matrices_over_groups(alpha: float) -> None:
    # The saddle point of Appendix D by groups, in the limit and at a width, is code of its own.
    model = MODEL.changed(noise=0.2, alpha=alpha, beta=0.7)
    grouped, table, ratios = few(model, ReadoutLaw("normal", 0.8), 3)
    response = respond(table, ratios)
    assert response.converged
    assert response.residual < 1e-14
    tables = profile(grouped, 1)
    rest = solve_on(dataclasses.replace(tables, y0=np.zeros_like(tables.y0)), grouped)
    found = errors(table, ratios, response, np.zeros_like(table.y0))
    assert found.test_error == pytest.approx(rest.test_error, rel=1e-12)
    assert found.training_error == pytest.approx(rest.training_error, rel=1e-12)
    held = at_width(solve(grouped), 300)
    deviation, m, zeta = held_means(table, ratios, response, 300)
    found = errors(table, ratios, response, deviation, 300)
    assert found.test_error == pytest.approx(held.test_error, rel=1e-9)
    assert found.training_error == pytest.approx(held.training_error, rel=1e-9)
    assert m == pytest.approx(held.order_parameters.m, rel=1e-9)
    assert zeta == pytest.approx(held.order_parameters.zeta, rel=1e-8, abs=1e-12)
    assert found.psi == pytest.approx(held.order_parameters.psi, rel=1e-9)


CASES = (
    (MODEL, ReadoutLaw("uniform", 1.7)),
    (MODEL.changed(noise=0.1, alpha=0.6), ReadoutLaw("uniform", 1.2)),
    (
        dataclasses.replace(MODEL, activation=activation("softplus"), target=activation("sin(2*z+1)")),
        ReadoutLaw("uniform"),
    ),
    (
        dataclasses.replace(MODEL, activation=activation("tanh(z)+1"), target=activation("z**2+z")),
        ReadoutLaw("uniform"),
    ),
)


@pytest.mark.parametrize(("model", "law"), CASES, ids=lambda x: str(getattr(x, "activation", "")))
def test_many_groups_reach_the_limit(model: Model, law: ReadoutLaw) -> None:
    found = solve_letters(model.changed(readout=law))
    assert found.converged
    assert found.residual < 1e-13
    assert found.error_estimate < 1e-10
    few = few_letters(found.model)
    groups = [solution.test_error for solution in few]
    # Groups on the nodes of a Gauss rule: the last of them are as near as their collinear means allow.
    assert groups[-1] == pytest.approx(found.test_error, abs=1e-4)
    assert abs(groups[0] - found.test_error) > 100.0 * abs(groups[-1] - found.test_error)
    assert few[-1].training_error == pytest.approx(found.training_error, abs=1e-4)


def test_the_normal_law_settles_where_groups_do_not() -> None:
    found = solve_letters(MODEL.changed(readout=ReadoutLaw("normal")))
    assert found.error_estimate < 1e-11
    *_, before, last = (solution.test_error for solution in few_letters(found.model, 8))
    assert abs(last - before) > 1e-5
    assert last == pytest.approx(found.test_error, abs=2e-3)
    # Refined by hand: twice the letters and a finer rule along the spike.
    assert found.test_error == pytest.approx(0.335473276232693, abs=1e-12)


def test_rules_settle_to_the_estimate_for_sharp_functions() -> None:
    model = dataclasses.replace(MODEL, activation=activation("sign"), target=activation("sign"), alignment=1.0)
    found = solve_letters(model.changed(noise=0.1, spike=2.0, readout=ReadoutLaw("normal")))
    assert found.converged
    assert found.error_estimate < 1e-9


def test_what_kappa_tells_is_learned_for_nothing() -> None:
    # An odd target of kappa alone, without noise: the means reproduce it.
    found = solve_letters(MODEL.changed(alignment=1.0, readout=ReadoutLaw("normal")))
    assert found.test_error == pytest.approx(0.0, abs=1e-12)
    # The one-dimensional random-feature model of Section 4.4: all that is not a function of kappa stays at large ridge.
    table = profile(MODEL)
    unexplained = float(table.weights @ (table.spread + table.y1**2))
    found = solve_letters(MODEL.changed(ridge=1e6, readout=ReadoutLaw("uniform", 1.7)))
    # Corrections are of order V, about 1e-6 times alpha E[sigma^2].
    assert found.test_error == pytest.approx(unexplained, rel=1e-5)


def test_odd_functions_beyond_the_linear_one_stay_with_relu() -> None:
    # The even part of a target and its multiple of z are reproduced, what else is odd is not.
    model = dataclasses.replace(MODEL, activation=activation("relu"), target=activation("z**2+z"), alignment=1.0)
    assert solve_letters(model.changed(readout=ReadoutLaw("uniform"))).test_error == pytest.approx(0.0, abs=1e-12)
    found = solve_letters(model.changed(target="sin(2*z)", readout=ReadoutLaw("uniform")))
    assert found.test_error > 0.1
    # At a width of 1e8 the means are free up to 1e-8 times the inverse of the least eigenvalue that matters.
    assert found.at_width(100_000_000).test_error == pytest.approx(found.test_error, rel=1e-4)


def test_finite_width_is_above_the_limit() -> None:
    found = solve_letters(MODEL.changed(readout=ReadoutLaw("uniform", 1.7)))
    widths = [found.at_width(width).test_error for width in (100, 1000, 10_000, 1_000_000)]
    assert widths == sorted(widths, reverse=True)
    assert found.test_error < widths[-1] < widths[0] < solve(MODEL).test_error + 0.2
    # Twelve groups are as good as all letters at a width where the penalty holds the means.
    assert at_width(few_letters(found.model)[-1], 1000).test_error == pytest.approx(widths[1], rel=1e-3)
    with pytest.raises(ModelError, match="width = 0"):
        found.at_width(0)


def test_no_ridge_is_the_limit_of_a_small_one() -> None:
    for alpha in (0.5, 1.5):
        model = MODEL.changed(alpha=alpha, readout=ReadoutLaw("uniform", 1.7))
        exact, near = (solve_letters(model.changed(ridge=ridge)) for ridge in (0.0, 1e-9))
        assert exact.converged
        # The error moves like the ridge.
        assert exact.test_error == pytest.approx(near.test_error, rel=1e-6)
        assert exact.training_error == pytest.approx(near.training_error, rel=1e-6, abs=1e-12)


def test_networks_of_independent_letters() -> None:
    # Every neuron has its own letter: spiked features at d = p = 240, ridge regression written out here.
    law, d, seeds = ReadoutLaw("uniform", 1.7), 240, 12
    n, p = 360, 240
    found = []
    for seed in range(seeds):
        rng = np.random.default_rng(seed)
        u = law.draw(rng, p)
        bulk = unit_rows(rng, p, d) * np.sqrt(1.0 + 0.1 * u**2)[:, None]
        weights = bulk + np.outer(1.2 * u, np.eye(d)[0])
        theta = 0.9 * np.eye(d)[0] + math.sqrt(1.0 - 0.81) * np.eye(d)[1]
        x, fresh = rng.standard_normal((n, d)), rng.standard_normal((1200, d))
        features = np.tanh(x @ weights.T) / math.sqrt(p)
        a = np.linalg.solve(features.T @ features + 0.1 * np.eye(p), features.T @ np.sin(2.0 * x @ theta))
        error = np.sin(2.0 * fresh @ theta) - np.tanh(fresh @ weights.T) @ a / math.sqrt(p)
        found.append(float(np.mean(error**2)))
    mean, error_of_mean = float(np.mean(found)), float(np.std(found, ddof=1)) / math.sqrt(seeds)
    limit = solve_letters(MODEL.changed(readout=law))
    expected = limit.at_width(p).test_error
    # Five standard errors (11 degrees of freedom: a false alarm in 2500), and 2 % for corrections of order 1/d beyond
    # the one that is kept; without it the theory would be 17 % lower.
    assert abs(mean - expected) < 5.0 * error_of_mean + 0.02 * expected
    assert mean - limit.test_error > 5.0 * error_of_mean + 0.02 * expected
