"""Dense matrices for what holds exactly: one finite batch, one set of rows, isotropic rows, letters that are equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.grids import SMOOTH
from giantsteps.verify.second_route.networks.letter_numbers import NODES, SPECTRAL, equivalent
from giantsteps.verify.second_route.values import LETTERS, PAIRS, by_glyph, by_letter, generator_at, symmetric_at, value


def isotropic(traces_at: Callable[[Point], Mapping[str, float]], point: Point) -> dict[str, float]:
    """Overlaps of v and theta_perp with a constant spectrum, and (T, tau) of Appendix D from elsewhere."""
    beta, ridge, share = (value(point, x) for x in (s.beta, s.ridge, s.fraction[0]))
    bulks, D = (np.array([value(point, x) for x in of]) for of in (s.c_of, s.V2_hat_of))
    directions = np.stack([np.ones_like(NODES), NODES])
    forms, shares = np.outer(bulks, np.ones_like(NODES)), np.array([share, 1 - share])
    K = equivalent(beta, shares, symmetric_at(point, s.V1_hat_of), ridge + D, forms, directions).overlap
    return {**traces_at(point), s.spike_overlap_of.name: K[0, 0], s.target_overlap_mixed.name: K[2, 3]}


def equal_letters(point: Point) -> dict[str, float]:
    """tau summed over two groups that do not differ, and g = C beta tau."""
    beta, share, C = (value(point, x) for x in (s.beta, s.fraction[0], s.V1_hat))
    shift = (value(point, s.ridge) + value(point, s.V2_hat)) * np.ones(2)
    forms = np.outer(np.ones(2), 1 + value(point, s.row_weight) * SPECTRAL["varrho"](NODES))
    shares, same = np.array([share, 1 - share]), np.full((2, 2), C)
    tau = float(equivalent(beta, shares, same, shift, forms, forms).tau.sum())
    return {s.V2.name: tau, s.gain.name: beta * C * tau}


def finite_batch(point: Point) -> dict[str, float] | None:
    """One real batch: dense traces and forms of (1 + Theta(A) C)^-1 and of M_12(A), poles from a dense pencil."""
    from scipy.linalg import eigh

    d, n0 = int(float(point["columns"])), int(float(point["samples"]))
    rng = generator_at(point)
    x = rng.standard_normal((n0, d))
    y = SMOOTH[str(point["target"])].value(x[:, 0])
    A = (x * y[:, None] ** 2).T @ x / n0
    theta, v = np.eye(d)[0], y @ x / n0
    C = symmetric_at(point, s.V1_hat_of)
    start = np.array([value(point, g) for g in s.row_gain])
    slope = start * np.array([value(point, u) for u in s.letter]) ** 2 * value(point, s.row_weight)
    # det(C^-1 + Theta(-t)) = 0: the pencil of C^-1 + Theta_0 and Theta_1.
    poles = eigh(np.linalg.inv(C) + np.diag(start), np.diag(slope), eigvals_only=True)
    theta_of_A = np.kron(np.diag(start), np.eye(d)) + np.kron(np.diag(slope), A)
    wide = np.kron(C, np.eye(d))
    inverse = np.linalg.inv(np.eye(2 * d) + theta_of_A @ wide)
    mixed = (wide @ inverse)[:d, d:]
    found = {s.filter_trace: np.trace(inverse[:d, :d]) / d, s.mixed_form: theta @ mixed @ v}
    for j, t in enumerate(poles):
        resolvent = np.linalg.inv(A + t * np.eye(d))
        found |= {s.pole[j]: t, s.pole_trace[j]: np.trace(resolvent) / d, s.pole_form[j]: theta @ resolvent @ v}
    return by_glyph(found)


def given_rows(point: Point) -> dict[str, float]:
    """Forms with the spike in the bulk and an overlap without it, on one set of rows in two groups."""
    rng = generator_at(point)
    p, d = int(float(point["rows"])), int(float(point["columns"]))
    group = (np.arange(p) >= p // 2).astype(int)
    rows, v = rng.standard_normal((p, d)) / math.sqrt(d), rng.standard_normal(d)
    v /= np.linalg.norm(v)
    C = symmetric_at(point, s.V1_hat_of)[np.ix_(group, group)]
    shift = np.diag(np.array([float(point[D.name]) for D in s.V2_hat_of])[group])
    along, gram = rows @ v, rows @ rows.T
    inverse = np.linalg.inv(shift + C * gram)
    without = np.linalg.inv(shift + C * (gram - np.outer(along, along)))
    left, right = rng.standard_normal((2, p)) / math.sqrt(p) + along / math.sqrt(p)
    spike = np.array([np.where(group == a, along, 0.0) for a in LETTERS])
    found: dict[Any, float] = {s.vector_form: left @ inverse @ right, s.vector_overlap: left @ without @ right}
    found |= by_letter({s.left_forms: [left @ inverse @ x for x in spike], s.right_forms: spike @ inverse @ right})
    found |= {s.spike_forms[a][b]: spike[a] @ inverse @ spike[b] for a, b in PAIRS}
    return by_glyph(found)
