"""Measurements on rows of letters: averages over signs and noise by their definition, controls of mean zero."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from giantsteps.verify.second_route.gradient_step import leap, orders
from giantsteps.verify.second_route.grids import Array
from giantsteps.verify.second_route.networks import letter_numbers as numbers
from giantsteps.verify.second_route.networks.letter_steps import row_controls

MODES = 5
DRAWING = numbers.DRAWINGS["two letters that step"]


def drawn() -> tuple[numbers.Rows, Array, Array]:
    """Rows in a few modes, S^-1 of theirs, and all signs of the modes."""
    rows = numbers.draw(DRAWING, MODES, np.random.default_rng(3))
    inverse = np.linalg.inv(rows.shift + rows.conjugates * (rows.rows @ rows.rows.T))
    return rows, np.asarray(inverse), np.array(list(itertools.product((-1.0, 1.0), repeat=MODES)))


def vectors(rows: numbers.Rows, sign: Array) -> list[Array]:
    """W_a v, W_a f and the norms without their noise, letter by letter."""
    v, f = (rows.split(rows.rows @ (sign * x)) for x in rows.directions)
    return [*v, *f, *(rows.split(rows.rows @ (sign * t))[a] for a, t in enumerate(rows.ties))]


def test_forms_are_averages_over_the_signs_of_all_modes() -> None:
    rows, inverse, signs = drawn()
    found = np.zeros(6)
    for sign in signs:
        v_1, _, f_1, f_2, n_1, n_2 = vectors(rows, sign)
        pairs = ((v_1, f_1), (v_1, f_2), (v_1, n_1), (v_1, n_2), (n_1, n_1), (n_1, n_2))
        found += [left @ inverse @ right / len(signs) for left, right in pairs]
    # The noise of the norms is independent of all else: its variance times the trace.
    found[4] += rows.left[0] * np.trace(inverse[np.ix_(rows.group == 0, rows.group == 0)])
    assert numbers.averaged(rows, inverse) == pytest.approx(tuple(found), rel=1e-10)


def test_sizes_of_a_readout_by_their_definition() -> None:
    """S a = forces + noise without the spike, with dense matrices and no rank-two update, for three of the signs."""
    rows, inverse, signs = drawn()
    one, p = rows.group == 0, len(rows.rows)
    X = np.array([DRAWING.noise[:2], DRAWING.noise[1:3]])[np.ix_(rows.group, rows.group)]
    wanted = []
    for sign in signs[[1, 9, 22]]:
        columns = vectors(rows, sign)
        omega = rows.rows @ rows.rows.T - np.outer(columns[0] + columns[1], columns[0] + columns[1])
        G = np.linalg.inv(rows.shift + rows.conjugates * omega)
        own = np.array(DRAWING.noise[3:]) / p + np.square(DRAWING.forces[4:]) * rows.left
        mean = G @ sum(force * x for force, x in zip(DRAWING.forces, columns, strict=True))
        second = G @ (X * omega / p + np.diag(own[rows.group])) @ G + np.outer(mean, mean)
        wanted.append((np.trace(second[np.ix_(one, one)]), np.sum((omega * second)[np.ix_(one, ~one)])))
    found = numbers.readout_sizes(rows, inverse, signs[[1, 9, 22]])
    assert found == pytest.approx(tuple(np.mean(wanted, axis=0)), rel=1e-10)


def assert_mean_zero(controls: list[tuple[float, ...]]) -> None:
    """Each mean within 4.5 standard errors: ten of them fail together once in 15,000 seeds."""
    found = np.array(controls)
    mean, error = found.mean(axis=0), found.std(axis=0) / math.sqrt(len(found))
    assert np.all(np.abs(mean) < 4.5 * error)
    # A control that misses its mean by a tenth of its own scatter shows.
    assert np.all(error < 0.05 * np.sqrt(np.mean(found**2, axis=0)))


def test_controls_of_rows_have_mean_zero() -> None:
    generator = np.random.default_rng(19)
    found = []
    for _ in range(900):
        x, rows = generator.standard_normal((8, 4)), generator.standard_normal((6, 4))
        rows /= np.linalg.norm(rows, axis=1)[:, None]
        found.append(tuple(row_controls(rows, x, np.sin(x[:, 0] + 0.3))))
    assert_mean_zero(found)


def test_controls_of_steps_and_stairs_have_mean_zero() -> None:
    assert_mean_zero([orders.giant_step(12, 10_000 + k)[1] for k in range(500)])
    assert_mean_zero([leap.stair(8, 10_000 + k)[1] for k in range(500)])


@pytest.mark.parametrize("problem", [leap.HIDDEN, leap.UNCOVERED])
def test_the_control_of_a_gradient_has_mean_zero_and_is_its_noise(problem: str) -> None:
    drawn = np.array([leap.one_step(problem, (0.0, 0.7), 30, 2000, 10_000 + k) for k in range(600)])
    assert_mean_zero([(control,) for control in drawn[:, 3]])
    # 0.72 and 0.74, by 0.04 at most for 600 draws: five standard errors above, false alarm below 1e-6.
    assert np.corrcoef(np.log(drawn[:, 1]), drawn[:, 3])[0, 1] > 0.5
