"""Real steps of networks with two letters: the law of their bulk rows, and the readout's resolvent on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled import network_letters
from giantsteps.verify.second_route.any_activation.letters import Pair
from giantsteps.verify.second_route.gradient_step import real
from giantsteps.verify.second_route.grids import SMOOTH, Array, hermite_numbers, interpretation
from giantsteps.verify.second_route.networks.draws import first_step, fresh_rows, ratios
from giantsteps.verify.second_route.networks.step import Step, law, step_at
from giantsteps.verify.second_route.sampled import Beside, Sampled
from giantsteps.verify.second_route.values import by_glyph, by_letter, by_pair

Function = Callable[[Array], Any]

# The first letter is the one that the claims are about; the seeds are others than those of networks of one letter.
STEP_LETTERS = (-0.8, 0.5)
_SHARE, _FIRST_SEED = 0.75, 10_000
# At the first every term of h and of v_c is a sixth or more of it, at the second all are measured to two per cent.
STEPPED = {
    "sine student, tanh target": Step("sin", "tanh", 0.5, 1.2, 2.0),
    "tanh student, sine target": Step("tanh", "sin", 2.0, 3.0, 2.0),
}


def row_controls(rows: Array, x: Array, labels: Array) -> Array:
    """(d/p) sum_i (w_i.f)(w_i.f') - f.f' for f, f' among theta, v~ and w3, rows (p, d) as they were before the step.

    Uniform on the sphere they have E[w w^T] = 1/d: the mean is zero, exactly, whatever the batch.
    """
    p, d = rows.shape
    directions = np.stack([np.eye(d)[0], labels @ x / len(x), labels**3 @ x / len(x)])
    seen = rows @ directions.T
    return np.asarray((d / p * seen.T @ seen - directions @ directions.T)[np.triu_indices(3)])


@lru_cache(maxsize=2048)
def _covariances(unit: Step, d: int, seed: int) -> tuple[tuple[Array, ...], Array]:
    count = round(unit.beta * d)
    own = np.arange(count) < round(_SHARE * count)
    *powers, x, labels = first_step(unit, d, _FIRST_SEED + seed, letters=np.where(own, *STEP_LETTERS))
    start, move = (rows[own] for rows in powers)
    found = real.row_covariances([rows - rows.mean(axis=0) for rows in (start, move)], labels @ x / len(x))
    batch = real.batch_controls(x, labels, SMOOTH[unit.target])
    return found, np.concatenate([batch, row_controls(start, x, labels)])


def row_statistics(step: Step, d: int, seed: int) -> tuple[Array, Array]:
    """The covariances of |b|^2 over the rows of the first letter, polynomials in the rate; controls."""
    found, controls = _covariances(replace(step, rate=1.0), d, seed)
    return np.array([np.polynomial.polynomial.polyval(step.rate, x) for x in found]), controls


def _beside_rows(step: Step, d: int) -> Beside:
    return ratios(step, d) | {s.letter[0].name: STEP_LETTERS[0]}, interpretation(step.student, step.target)


STEPPED_ROWS = Sampled(
    (s.row_form_of, s.norm_overlap_of, s.norm_spike_overlap_of, s.norm_variance_of[0]), STEPPED, row_statistics,
    _beside_rows, draws=14, share=4, controlled=True,
)  # fmt: skip


def letter_law(point: Point) -> dict[str, float]:
    """The law of the rows of a letter, from averages on a fixed grid at the letter's own rate."""
    step, u = step_at(point), float(point[s.letter[0].name])
    own = law(step.times(u))
    named = {
        s.row_form_of: s.row_form, s.norm_overlap_of: s.norm_overlap, s.norm_spike_overlap_of: s.norm_spike_overlap,
        s.norm_variance_of[0]: s.norm_variance,
    }  # fmt: skip
    hermite = hermite_numbers(step.student, step.target)
    return hermite | {s.eta.name: step.rate * step.beta} | {x.name: own[of.name] for x, of in named.items()}


# --- the resolvent on rows of real networks


# Whole numbers of rows and samples at multiples of 25; most rows are of the letter that is measured.
REAL = {
    "tanh student, tanh target": Pair(
        Step("tanh", "tanh", 2.0, 5.0, 1.2), (1.0, -0.7), (0.8, 0.2), (1.0, -0.6, 0.8), (0.2, 0.4), 0.2
    ),
    "erf student, sine target": Pair(
        Step("erf", "sin", 2.0, 4.0, 1.6), (0.9, 1.4), (0.75, 0.25), (0.8, 0.5, 1.2), (0.3, 0.1), 0.2
    ),
}


# What is measured on the rows of real networks.
OVERLAPS = (s.V2_of[0], s.spike_overlap_of, s_saddle.norm_row_spike[0], s_saddle.norm_row_norm[0])


def real_resolvent(model: Pair, d: int, seed: int) -> tuple[tuple[float, ...], Array]:
    """OVERLAPS on the rows of one network, without the spike, and controls of its batch and of either letter's rows.

    v is the direction of the mean row, read off the rows.
    """
    step = model.step
    p, n0 = round(step.beta * d), round(step.alpha0 * d)
    rng = np.random.default_rng(np.random.SeedSequence(97, spawn_key=(d, seed)))
    group = (np.arange(p) >= round(model.fractions[0] * p)).astype(int)
    letters = np.array(model.letters)[group]
    start, x = unit_rows(rng, p, d), rng.standard_normal((n0, d))
    labels = SMOOTH[step.target].value(x[:, 0])
    rows = real.after_step(start, SMOOTH[step.student], x, labels, step.rate, letters)
    mean = letters @ rows / (letters @ letters)
    rows -= np.outer(letters, mean)
    along = rows @ mean / np.linalg.norm(mean)
    S = model.C[np.ix_(group, group)] * (rows @ rows.T - np.outer(along, along))
    S += np.diag(model.shift[group])
    own = group == 0
    inverse = real.positive_inverse(S)[np.ix_(own, own)]
    squares = np.einsum("ij,ij->i", rows, rows)[own]
    spike, norms = along[own], squares - squares.mean()
    found = (np.trace(inverse) / p, spike @ inverse @ spike, norms @ inverse @ spike, norms @ inverse @ norms)
    controls = [row_controls(start[part], x, labels) for part in (own, ~own)]
    fresh, rate = fresh_rows(int(own.sum()), d, seed), step.rate * model.letters[0]
    controls += [real.fresh_controls(start[own], fresh, SMOOTH[step.student], x, labels, rate)]
    return tuple(map(float, found)), np.concatenate([real.batch_controls(x, labels, SMOOTH[step.target]), *controls])


@lru_cache(maxsize=8)
def real_values(model: Pair) -> dict[str, float]:
    """The law of the rows, T, tau and K, and what they are made of, by the theorems; keys are glyphs."""
    known = network_letters.law(model.step.compiled, model.fractions, model.letters)
    return dict(network_letters.bulk_of(model.step.compiled, known, model.conjugate, model.diagonal, model.ridge))


def real_forms(model: Pair, which: int) -> dict[str, float]:
    """Forms with the spike in the bulk: of (W_1 v, W_1 v), (delta_1, W_1 v) or (delta_1, delta_1)."""
    K, C, rows = network_letters.OVERLAP, model.C, real_values(model)
    overlap = np.array([[rows[K[i, j].name] for j in range(6)] for i in range(6)])
    # The spike put back: S has C o (Wv)(Wv)^T more.
    forms = overlap - overlap[:, :2] @ C @ np.linalg.solve(np.eye(2) + overlap[:2, :2] @ C, overlap[:2])
    left, right = ((0, 0), (4, 0), (4, 4))[which]
    found = {s.vector_form: forms[left, right]}
    found |= by_pair({s.V1_hat_of: C, s.spike_forms: forms})
    found |= by_letter({s.left_forms: forms[left], s.right_forms: forms[:, right]})
    return by_glyph(found)


def real_networks(quantity: sp.Symbol) -> Sampled[Pair]:
    """OVERLAPS at an eighth of the profile's dimensions and many seeds, for both networks; beside them what a statement
    on one of them is made of.
    """
    of = OVERLAPS.index(quantity)

    def beside(model: Pair, d: int) -> Beside:
        return real_forms(model, of - 1) if of else real_values(model), {}

    return Sampled(OVERLAPS, REAL, real_resolvent, beside, draws=64, share=8, controlled=True)
