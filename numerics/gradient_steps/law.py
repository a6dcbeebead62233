"""The law of a network's rows after T fresh steps, as functions of one variable g.

With H = (1 + g B)^-1, B = B_T as in `numerics.gradient_steps.words`, the equivalent needs, as for one step,

    f(g) = (1/d) tr B H,   R_uu' = u.(1 - H)u'/g,   R_u,delta = u.H h,   R_delta,delta = v_c - g h.H h,
    M(g) = R + g R_.v R_v./(1 - g R_vv)   on (v, delta, theta_perp),   u, u' in {v, theta_perp}.

The parts of B of finite rank, Y Lambda Y^T, turn the bare resolvent into H - g H Y (1 + g Lambda Y^T H Y)^-1 Lambda
Y^T H. All products are blocks of the pencil's inverse between words.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.gradient_steps.batches import State, batch
from giantsteps.numerics.gradient_steps.pencil import Array, Samples, overlaps, traces
from giantsteps.numerics.gradient_steps.words import SPIKE, VECTORS, Rows, rows, seen, words

# Where rules are compared, as g times c: further out functions of g bend no more.
_COMPARED = np.array([1e-4, 1e-2, 0.1, 1.0, 10.0, 1e2, 1e4, 1e6])
# Two rules that agree to this leave little but rounding in the finer one: the error of a rule FINER times as fine is
# the power 1.9 of the coarser one's, and its power 3/2 is claimed. M has up to this rounding there: differences of
# entries that grow with g.
_AGREEMENT, _MOST_DOUBLINGS, _ROUNDED = 1e-8, 4, 9e-13
# After unstable steps rules have many nodes and a finer one takes half a minute: with so many nodes in all, two that
# agree to this claim 1e-6, less than any network of a size that can be simulated shows.
_MANY, _ENOUGH = 50_000, 1e-4
# The entries of M, beside f: v v, v delta, v theta_perp, delta delta, delta theta_perp, theta_perp theta_perp.
_DIAGONAL = np.array([0, 3, 5])
_ROWS, _COLUMNS = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 1, 2, 1, 2, 2])


class Course(NamedTuple):
    """T steps: e_t = eta_t/beta in `rates` and alpha0_t in `ratios`, through T + 1 `states`.

    norm_variance: d Var(|w|^2) before the first step, 0 for unit rows and 2 for Gaussian ones.
    """

    activation: Activation
    target: Activation
    rates: tuple[float, ...]
    ratios: tuple[float, ...]
    states: tuple[State, ...]
    noise: float
    norm_variance: float


@dataclass(frozen=True, eq=False)
class StepsLaw:
    """The law of the bulk rows after T steps: f and M at any g, and what they are known to.

    `bulk` is c; error: how far f and M may be off, relative (an estimate). `rough` are batches by a coarser rule, from
    which equations are solved, `start` the products of words at g = 0.
    """

    bulk: float
    batches: tuple[Samples, ...]
    frames: tuple[Array, ...]
    rows: Rows
    start: Array
    rough: tuple[Samples, ...] = ()
    error: float = 0.0

    def functions(self, g: Array) -> Array:
        """f and the six entries of M at every g, (7, g)."""
        return _functions(self, g, traces(self.batches, g, traces(self.rough, g) if self.rough else None))


@lru_cache(maxsize=8)
def steps_law(course: Course) -> StepsLaw:
    """The law after the steps; rules are refined until f and M stay put.

    Raises ExpressionError where an average does not settle, and where there is no spike but could be an alignment.
    """
    if course.states[-1].spike == 0.0 and course.activation.parity != "even":
        raise ExpressionError("the steps leave no spike, of an activation that is not known to be even")
    coarse = _law(course, 0)
    g = _COMPARED / coarse.bulk
    G = traces(coarse.batches, g)
    before = _functions(coarse, g, G)
    for refine in range(1, _MOST_DOUBLINGS + 1):
        fine = _law(course, refine)
        G = traces(fine.batches, g, G)
        after = _functions(fine, g, G)
        left = float(_apart(before, after).max())
        many = sum(len(one.weights) for one in fine.batches) > _MANY
        if left < (_ENOUGH if many else _AGREEMENT):
            break
        coarse, before = fine, after
    return replace(fine, rough=coarse.batches, error=_ROUNDED + left**1.5)


def _apart(one: Array, other: Array) -> Array:
    """How far f and M are apart, relative; what lies beside the diagonal with the roots of both entries there."""
    roots = np.sqrt(np.abs(other[1:][_DIAGONAL]))
    return np.asarray(np.abs(one - other) / np.concatenate([np.abs(other[:1]), roots[_ROWS] * roots[_COLUMNS]]))


def _law(course: Course, refine: int) -> StepsLaw:
    """The law by rules refined so many times."""
    activation, target, rates, ratios, states, noise, norm_variance = course
    steps = len(rates)
    # Without a spike every direction is its direction.
    states = tuple(state if state.spike else state._replace(alignment=0.0) for state in states)
    made = [
        seen(batch(activation, target, state, noise, refine), e, alpha0)
        for state, e, alpha0 in zip(states[:-1], rates, ratios, strict=True)
    ]
    batches, norms = tuple(samples for samples, _ in made), [one for _, one in made]
    frames = _frames(states, rates)
    known, vectors = words(steps), 1 + VECTORS * steps
    means = np.zeros((steps, vectors, 2 * steps + 1))
    for t, (one, frame) in enumerate(zip(norms, frames, strict=False)):
        means[t, : frame.shape[1], 2 * (steps - t)] = one.pulled @ frame
    dense = np.concatenate([known, means])
    found = overlaps(batches, traces(batches, np.zeros(1)), frames[:-1], dense)[0]
    signs = (-1.0) ** (steps - np.arange(steps))
    inner, seen_by = found[: 3 * steps, : 3 * steps], signs[:, None] * found[3 * steps :, : 3 * steps]
    own = np.diagonal(found[3 * steps :, 3 * steps :])
    return StepsLaw(states[-1].bulk, batches, frames, rows(norms, own, seen_by, norm_variance), inner)


def _frames(states: Sequence[State], rates: Sequence[float]) -> tuple[Array, ...]:
    """(v_t, theta_perp_t) before and after every step by theta and the w_f; theta alone where there is no v_t."""
    found, spike = [], np.zeros(1 + VECTORS * len(rates))
    for t, state in enumerate(states):
        if t:
            spike[1 + VECTORS * (t - 1) + SPIKE] = rates[t - 1]
        known = 1 + VECTORS * t
        theta = np.eye(1, known)
        if state.spike == 0.0:
            found.append(theta)
            continue
        v = spike[None, :known] / state.spike
        across = math.sqrt(state.remainder)
        found.append(np.concatenate([v, (theta - state.alignment * v) / (across or math.inf)]))
    return tuple(found)


def _functions(law: StepsLaw, g: Array, G: Array) -> Array:
    """`StepsLaw.functions` at the traces G."""
    batches, rows_ = law.batches, law.rows
    steps, v, perp = len(batches), law.frames[-1][0], law.frames[-1][-1]
    tops = np.zeros((3, len(v), 2 * steps + 1))
    tops[0, :, 0], tops[1, :, 0], tops[2, :, 1] = v, perp, v
    found = overlaps(batches, G, law.frames[:-1], np.concatenate([words(steps), tops]))
    leaning, count = np.vstack([rows_.low, rows_.lean]), 3 * steps
    # g Y.H Y with h beside Y; u.H Y; u.B H u', u.H v.
    among = leaning @ (law.start - found[:, :count, :count]) @ leaning.T
    seen_by = found[:, count : count + 2, :count] @ leaning.T
    filled, plain = found[:, count : count + 2, count : count + 2], found[:, count, count + 2]
    inner, on_h, h_h = among[:, :-1, :-1], among[:, :-1, -1:], among[:, -1, -1]
    core = np.linalg.solve(np.eye(2 * steps) + rows_.coupling @ inner, rows_.coupling + np.zeros_like(inner))
    low, h = seen_by[:, :, :-1], seen_by[:, :, -1:]
    filled = filled + low @ core @ np.swapaxes(low, 1, 2)
    on_u = (h - low @ core @ on_h)[:, :, 0]
    h_h = h_h - (np.swapaxes(on_h, 1, 2) @ core @ on_h)[:, 0, 0]
    along = plain - g * (low[:, 0, None] @ core @ low[:, 0, :, None])[:, 0, 0]
    both, mixed = on_u[:, 0], filled[:, 0, 1]
    return np.stack([
        G[:, 0, 0],
        filled[:, 0, 0] / along,
        both / along,
        mixed / along,
        rows_.variance - h_h + g * both**2 / along,
        on_u[:, 1] + g * mixed * both / along,
        filled[:, 1, 1] + g * mixed**2 / along,
    ])  # fmt: skip
