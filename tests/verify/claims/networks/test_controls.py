"""What steadies the measurements of a network's bulk: controls of mean zero, exact averages, twins of one norm."""

from __future__ import annotations

import math

import numpy as np
import pytest

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.second_route.any_activation.curves import CURVES
from giantsteps.verify.second_route.gradient_step import real
from giantsteps.verify.second_route.gradient_step.real import batch_controls, fresh_controls
from giantsteps.verify.second_route.networks import draws, one_letter_rows, overlapping_bulk
from giantsteps.verify.second_route.networks.step import Step


def of_mean_zero(controls: list[np.ndarray]) -> bool:
    """Every mean within 4 standard errors: ten of them fail together once in 1500 seeds."""
    mean, error = np.mean(controls, axis=0), np.std(controls, axis=0) / math.sqrt(len(controls))
    # Nor are they so loose that a mean which is a fifth of their scatter off would pass.
    return bool(np.all(np.abs(mean) < 4 * error) and np.all(4 * error < 0.2 * np.std(controls, axis=0)))


def test_controls_of_a_batch_with_centred_labels_have_mean_zero() -> None:
    generator, centre = np.random.default_rng(17), 0.3
    target, found = CURVES["shifted sin"], []
    for _ in range(1500):
        x = generator.standard_normal((6, 4))
        labels = target.value(x[:, 0]) - centre
        found.append(batch_controls(x, labels, target, (1, 2, 3), (1, 2, 3, 4), centre))
    assert len(found[0]) == 10
    assert of_mean_zero(found)
    # With the labels as they are, and not centred, they are not.
    assert not of_mean_zero([c - batch_controls(x, labels, target, (1, 2, 3), (1, 2, 3, 4)) for c in found])


def test_controls_of_overlapping_rows_have_mean_zero() -> None:
    start = Step("sin", "shifted sin", 1.0, 1.0, 1.0, overlap=0.4)
    found = [overlapping_bulk.row_variance(start, 8, seed)[1] for seed in range(1500)]
    assert len(found[0]) == 5
    assert of_mean_zero(found)


def test_controls_by_fresh_rows_and_norms_have_mean_zero() -> None:
    generator, student = np.random.default_rng(19), CURVES["leaning tanh"]
    fresh, norms = [], []
    for seed in range(1500):
        x = generator.standard_normal((8, 5))
        labels = np.sin(x[:, 0])
        fresh.append(fresh_controls(unit_rows(generator, 6, 5), draws.fresh_rows(6, 5, seed), student, x, labels, 2.0))
        norms.append(draws.norm_controls(generator.standard_normal((6, 5)) / math.sqrt(5), x, labels))
    assert (len(fresh[0]), len(norms[0])) == (6, 5)
    assert of_mean_zero(fresh)
    assert of_mean_zero(norms)


def test_what_norms_do_not_owe_to_the_rows_is_averaged_exactly() -> None:
    """K of norms drawn 4000 times over the same rows, on average: within 4 standard errors, and as the means say."""
    law, d = one_letter_rows.LAWS["wide"], 6
    at, p = one_letter_rows.spectrum(law, d), round(law.beta * d)
    rng = np.random.default_rng(np.random.SeedSequence(89, spawn_key=(d, 5)))
    rows = rng.standard_normal((p, d)) * np.sqrt(at.forms / d)
    along, across = rows @ at.v, rows @ at.perp
    G = np.linalg.inv(law.conjugate * (rows @ rows.T - np.outer(along, along)) + law.shift * np.eye(p))
    left = law.norm_variance - float(at.tie**2 @ (1 / at.forms))
    norms = rows @ (at.tie / at.forms) + rng.standard_normal((4000, p)) * math.sqrt(left / d)
    drawn = np.stack([norms @ G @ across, norms @ G @ along, np.einsum("ki,ij,kj->k", norms, G, norms)], axis=1)
    order = [one_letter_rows.COLUMNS.index(x) for x in (s.overlap_pd, s.overlap_vd, s.overlap_dd)]
    exact = one_letter_rows.drawn(law, d, 5)[0][order]
    assert np.all(np.abs(drawn.mean(axis=0) - exact) < 4 * drawn.std(axis=0) / math.sqrt(len(drawn)))


def test_a_positive_matrix_is_inverted_and_solved_by_its_factor() -> None:
    rows, right = np.random.default_rng(5).standard_normal((30, 12)), np.arange(12.0)
    matrix = rows.T @ rows / 30 + 0.1 * np.eye(12)
    # Condition below a hundred: some hundred roundings of 1e-16.
    inverse = real.positive_inverse(matrix)
    assert inverse @ matrix == pytest.approx(np.eye(12), abs=1e-13)
    assert np.array_equal(inverse, inverse.T)
    assert matrix @ real.positive_solution(matrix.copy(), right) == pytest.approx(right, abs=1e-12)
    for broken in (lambda: real.positive_inverse(-matrix), lambda: real.positive_solution(-matrix, right)):
        with pytest.raises(np.linalg.LinAlgError, match="not positive definite"):
            broken()
