"""A density of initial readout weights: Gauss rules, the limit of many groups, and networks of independent letters."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest

from derivations.activation import activation
from numerics.ensembles import unit_rows
from numerics.model import Model, ModelError, ReadoutGroup
from numerics.readout_density import DensitySolution, ReadoutLaw, solve_density, with_letters
from numerics.ridge import solve

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


def test_folding_changes_nothing_for_an_odd_student() -> None:
    law = ReadoutLaw("uniform", 1.7)
    both = dataclasses.replace(
        MODEL,
        groups=tuple(
            dataclasses.replace(group, bulk=1.0 + group.weight**2 * 0.1) for group in law.groups(6)
        ),
    )  # fmt: skip
    assert solve(with_letters(MODEL, law, 3)).test_error == pytest.approx(solve(both).test_error, abs=1e-9)


def test_bulks_follow_from_the_letters() -> None:
    model = with_letters(MODEL, ReadoutLaw("normal", 0.8), 3)
    for group in model.groups:
        assert group.bulk == pytest.approx(1.0 + group.weight**2 * 0.1, rel=1e-14)
    plain = with_letters(MODEL.changed(bulk=1.0), ReadoutLaw("normal", 0.8), 3)
    assert plain.bulks == (1.0, 1.0, 1.0)


def test_the_error_settles_at_the_floor() -> None:
    found = solve_density(MODEL, ReadoutLaw("uniform", 1.7))
    assert found.converged
    assert found.error_estimate <= 1e-5
    # The means span all odd functions ever better: what is left is the floor, reached to the last move.
    assert found.test_error == pytest.approx(found.floor, abs=1e-5)
    errors = [error for _, error in found.errors]
    assert errors[0] > errors[-1] + 0.1
    assert all(error >= found.floor - 1e-4 for error in errors[3:])


def test_a_law_that_does_not_settle_says_so() -> None:
    found = solve_density(MODEL, ReadoutLaw("normal", 1.0), most=4)
    assert not found.converged
    assert found.error_estimate > 1e-4
    assert [count for count, _ in found.errors] == [1, 2, 3, 4]


def test_finite_width_is_between_the_uniform_readout_and_the_limit() -> None:
    found = solve_density(MODEL, ReadoutLaw("uniform", 1.7))
    assert isinstance(found, DensitySolution)
    widths = [found.at_width(width) for width in (100, 1000, 10_000, 1_000_000)]
    assert widths == sorted(widths, reverse=True)
    assert found.test_error < widths[-1] < widths[0] < found.errors[0][1]
    # The rule is fine enough: fewer letters give the same at a width where the penalty holds the means.
    coarse = solve_density(MODEL, ReadoutLaw("uniform", 1.7), most=6)
    assert coarse.at_width(1000) == pytest.approx(found.at_width(1000), rel=1e-3)


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
    expected = solve_density(MODEL, law).at_width(p)
    # Five standard errors (11 degrees of freedom: a false alarm in 2500), and 2 % for corrections of order 1/d beyond
    # the one that is kept; without it the theory would be 17 % lower.
    assert abs(mean - expected) < 5.0 * error_of_mean + 0.02 * expected
    assert mean - solve_density(MODEL, law).test_error > 5.0 * error_of_mean + 0.02 * expected


def test_what_is_refused() -> None:
    with pytest.raises(ModelError, match="not known"):
        ReadoutLaw("cauchy")
    with pytest.raises(ModelError, match="scale = 0"):
        ReadoutLaw("normal", 0.0)
    plane = dataclasses.replace(MODEL, groups=(ReadoutGroup(1.0, further_weights=(0.5,)),), further_alignments=(0.1,))
    with pytest.raises(ModelError, match="one direction"):
        solve_density(plane, ReadoutLaw())
