"""Dense matrices for what holds exactly: one finite batch, one set of rows, isotropic rows, letters that are equal."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.grids import SMOOTH, Array
from giantsteps.verify.second_route.networks.letter_numbers import NODES, SPECTRAL, equivalent
from giantsteps.verify.second_route.values import LETTERS, PAIRS, by_glyph, by_letter


def _value(point: Point, symbol: sp.Symbol) -> float:
    return float(point[symbol.name])


def _conjugate(point: Point) -> Array:
    C11, C12, C22 = (_value(point, s.V1_hat_of[a][b]) for a, b in PAIRS)
    return np.array([[C11, C12], [C12, C22]])


def isotropic(traces_at: Callable[[Point], Mapping[str, float]], point: Point) -> dict[str, float]:
    """Overlaps of v and theta_perp with a constant spectrum, and (T, tau) of Appendix D from elsewhere."""
    beta, ridge, share = (_value(point, x) for x in (s.beta, s.ridge, s.fraction[0]))
    bulks, D = (np.array([_value(point, x) for x in of]) for of in (s.c_of, s.V2_hat_of))
    directions = np.stack([np.ones_like(NODES), NODES])
    forms, shares = np.outer(bulks, np.ones_like(NODES)), np.array([share, 1 - share])
    K = equivalent(beta, shares, _conjugate(point), ridge + D, forms, directions).overlap
    return {**traces_at(point), s.spike_overlap_of.name: K[0, 0], s.target_overlap_mixed.name: K[2, 3]}


def equal_letters(point: Point) -> dict[str, float]:
    """tau summed over two groups that do not differ, and g = C beta tau."""
    beta, share, C = (_value(point, x) for x in (s.beta, s.fraction[0], s.V1_hat))
    shift = (_value(point, s.ridge) + _value(point, s.V2_hat)) * np.ones(2)
    forms = np.outer(np.ones(2), 1 + _value(point, s.row_weight) * SPECTRAL["varrho"](NODES))
    shares, same = np.array([share, 1 - share]), np.full((2, 2), C)
    tau = float(equivalent(beta, shares, same, shift, forms, forms).tau.sum())
    return {s.V2.name: tau, s.gain.name: beta * C * tau}


def finite_batch(point: Point) -> dict[str, float] | None:
    """One real batch: dense traces and forms of (1 + Theta(A) C)^-1 and of M_12(A), poles from a dense pencil."""
    from scipy.linalg import eigh

    d, n0 = int(float(point["columns"])), int(float(point["samples"]))
    rng = np.random.default_rng(int(float(point["seed"])))
    x = rng.standard_normal((n0, d))
    y = SMOOTH[str(point["target"])].value(x[:, 0])
    A = (x * y[:, None] ** 2).T @ x / n0
    theta, v = np.eye(d)[0], y @ x / n0
    value = {symbol.name: float(point[symbol.name]) for symbol in (*s.letter, *s.row_gain, s.row_weight)}
    C11, C12, C22 = (float(point[s.V1_hat_of[a][b].name]) for a, b in PAIRS)
    C = np.array([[C11, C12], [C12, C22]])
    start = np.array([value[g.name] for g in s.row_gain])
    slope = start * np.array([value[u.name] for u in s.letter]) ** 2 * value[s.row_weight.name]
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
    rng = np.random.default_rng(int(float(point["seed"])))
    p, d = int(float(point["rows"])), int(float(point["columns"]))
    group = (np.arange(p) >= p // 2).astype(int)
    rows, v = rng.standard_normal((p, d)) / math.sqrt(d), rng.standard_normal(d)
    v /= np.linalg.norm(v)
    C11, C12, C22 = (float(point[s.V1_hat_of[a][b].name]) for a, b in PAIRS)
    C = np.array([[C11, C12], [C12, C22]])[np.ix_(group, group)]
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
