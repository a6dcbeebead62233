"""The pencil whose inverse has the covariance of a network's rows after T fresh steps in its blocks.

With P_t = 1 + e_t M_t and A_t of batch t (`numerics.gradient_steps.words`), B_0 = 1 and B_(t+1) = P_t B_t P_t +
omega_t A_t, the symmetric matrix of 2T + 1 blocks, newest batch first,

    Z = [[g, 1], [1, -omega A_(T-1), P_(T-1)], [P_(T-1), 0, 1], [1, -omega A_(T-2), P_(T-2)], ..., [P_0, 1]],

is linear in the samples. Its inverse R has, with H = (1 + g B_T)^-1 and m = T - t, j = T - a (0 <= a <= t <= T):

    R_00 = B_T H,   R_0,2j = (-1)^j H P_(T-1)..P_a B_a,   R_0,2j+1 = (-1)^j H P_(T-1)..P_a,
    R_2m,2j = (-1)^(m+j) P_(t-1)..P_a B_a  and  R_2m,2j+1 = (-1)^(m+j) P_(t-1)..P_a  at g = 0,
    R(g) - R(0) = -g R(0)_.0 (1 + g B_T)^-1 R(0)_0.  in every block.

A sample adds K = [[-a, b], [b, 0]] on the blocks (2(T-t) - 1, 2(T-t)) of its batch, a = omega_t E[s^2] Y^2 and b =
e_t mu11 Y. Its inverse against x = G/alpha0 is k = K (1 + x K)^-1 = [[-a - b^2 x_22, b + b^2 x_12], [., -b^2 x_11]]/D
with D = 1 - a x_11 + 2 b x_12 - b^2 det x, and G, the normalised traces of R, solve

    G = (Z_0 + sum_t E[K_t (1 + G K_t/alpha0_t)^-1])^-1.

Nothing cancels as g -> 0 or g -> infinity, and R(g) is analytic in g outside of the negative axis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# The iteration ends where Newton's method finds the way, at latest after so many.
# Newton's method squares a step of _LAST to less than rounding; where the last one is worse than _SOLVED it found none.
_NEAR, _MOST_SWEEPS, _MOST_STEPS, _LAST, _SOLVED = 1e-2, 2000, 40, 1e-8, 1e-11
# Nodes times values of g that are looked at together: what stays in the cache.
_AT_ONCE = 2**17
# The products of (a, b, b^2) with each other.
_FIRST, _SECOND = np.triu_indices(3)


@dataclass(frozen=True, eq=False)
class Samples:
    """A batch as the pencil averages over it: alpha0 = `ratio`, N joint nodes.

    bends (3, N): a, b and b^2; weights (N,). functions (m (m + 1)/2, N), an upper triangle: the products of the `along`
    coordinates u of a sample and of the functions f that make its vectors w_f = (1/n0) sum f x, times the weights.
    """

    ratio: float
    along: int
    bends: Array
    weights: Array
    functions: Array

    @cached_property
    def products(self) -> Array:
        """E of the products of coordinates and functions, (m, m)."""
        return _squared(self.functions.sum(axis=-1))

    @cached_property
    def _rows(self) -> tuple[Array, Array, Array]:
        """The weighted (a, b, b^2), their products with each other, and with the products of functions."""
        weighted = self.weights * self.bends
        forms = (self.bends[:, None] * self.functions).reshape(-1, len(self.weights))
        return weighted, weighted[_FIRST] * self.bends[_SECOND], forms

    def kept(self, x: Array) -> Array:
        """E[k] at x (g, 2, 2), of the same shape."""
        return _composed(x, self._over(x, self._rows[0])[0])

    def kept_and_squared(self, x: Array) -> tuple[Array, Array]:
        """E[k] and E[k_ij k_lm] as (g, 4, 4), rows (i, m) and columns (j, l): minus the slope of the first in x."""
        sums, squares = self._over(x, *self._rows[:2])
        parts = _composed(x, np.eye(3)[:, :, None])
        both = np.einsum("stg,sgij,tglm->gimjl", _squared(squares), parts, parts, optimize=True)
        return _composed(x, sums), both.reshape(-1, 4, 4)

    def kept_forms(self, x: Array) -> Array:
        """E[f f' k] for coordinates and functions f, f', (m, m, g, 2, 2)."""
        sums = self._over(x, self._rows[2])[0].reshape(3, len(self.functions), -1)
        return _squared(_composed(x, sums))

    def _over(self, x: Array, rows: Array, others: Array | None = None) -> tuple[Array, Array]:
        """The rows averaged over D at every x, (rows, g), and the others over D^2."""
        steep = np.stack([-x[:, 0, 0], 2.0 * x[:, 0, 1], x[:, 0, 1] ** 2 - x[:, 0, 0] * x[:, 1, 1]])
        others = rows[:0] if others is None else others
        first, second = np.zeros((len(rows), len(x))), np.zeros((len(others), len(x)))
        size = max(1, _AT_ONCE // len(x))
        for start in range(0, len(self.weights), size):
            here = slice(start, start + size)
            inverse = self.bends[:, here].T @ steep
            inverse += 1.0
            np.reciprocal(inverse, out=inverse)
            first += rows[:, here] @ inverse
            if len(others):
                inverse *= inverse
                second += others[:, here] @ inverse
        return first, second


def _squared(triangle: Array) -> Array:
    """The symmetric matrices of upper triangles: from (m (m + 1)/2, ...) to (m, m, ...)."""
    size = (math.isqrt(1 + 8 * len(triangle)) - 1) // 2
    rows, columns = np.triu_indices(size)
    found = np.empty((size, size, *triangle.shape[1:]))
    found[rows, columns] = found[columns, rows] = triangle
    return found


def _composed(x: Array, sums: Array) -> Array:
    """Averages of k, (..., g, 2, 2), from those of (a, b, b^2)/D, (3, ..., g)."""
    a, b, square = sums
    found = np.empty((*np.broadcast_shapes(a.shape, x.shape[:1]), 2, 2))
    found[..., 0, 0] = -a - square * x[..., 1, 1]
    found[..., 0, 1] = found[..., 1, 0] = b + square * x[..., 0, 1]
    found[..., 1, 1] = -square * x[..., 0, 0]
    return found


def _fixed(steps: int, g: Array) -> Array:
    """Z_0, (g, 2T + 1, 2T + 1): without the samples, but for the 1 of P."""
    size = 2 * steps + 1
    found = np.zeros((len(g), size, size))
    index = np.arange(size - 1)
    found[:, index, index + 1] = found[:, index + 1, index] = 1.0
    found[:, 0, 0], found[:, -1, -1] = g, 1.0
    return found


def places(steps: int) -> tuple[slice, ...]:
    """The blocks of every batch, oldest first."""
    return tuple(slice(2 * (steps - t) - 1, 2 * (steps - t) + 1) for t in range(steps))


def traces(batches: Sequence[Samples], g: Array, start: Array | None = None) -> Array:
    """G at every g, (g, 2T + 1, 2T + 1); not numbers where it is not found.

    By Newton's method in the blocks of the batches, from `start`: G of a coarser rule. Without one the equations are
    iterated until it finds the way, half of the way each time, since all of it may circle.
    """
    fixed = _fixed(len(batches), g)
    held = _held(batches, np.linalg.inv(fixed) if start is None else start)
    for _ in range(_MOST_SWEEPS if start is None else 0):
        mapped = _held(batches, _inverted(batches, fixed, held))
        far = _size(mapped - held, mapped)
        held = 0.5 * (held + mapped)
        if not (far > _NEAR).any():
            break
    before = np.full(len(g), math.inf)
    for _ in range(_MOST_STEPS):
        move = _move(batches, fixed, held)
        held = held + move
        size = _size(move, held)
        if not ((size > _LAST) & (size < before)).any():
            break
        before = np.where(size < _NEAR, size, math.inf)
    found = _inverted(batches, fixed, held)
    found[~(_size(_held(batches, found) - held, held) < _SOLVED)] = math.nan
    return found


def _held(batches: Sequence[Samples], G: Array) -> Array:
    """The blocks of the batches, (g, T, 2, 2)."""
    return np.stack([G[:, at, at] for at in places(len(batches))], axis=1)


def _inverted(batches: Sequence[Samples], fixed: Array, held: Array) -> Array:
    """G as the blocks of the batches lead to it."""
    whole = fixed.copy()
    for t, (one, at) in enumerate(zip(batches, places(len(batches)), strict=True)):
        whole[:, at, at] += one.kept(held[:, t] / one.ratio)
    return np.asarray(np.linalg.inv(whole))


def _move(batches: Sequence[Samples], fixed: Array, held: Array) -> Array:
    """Newton's step for the blocks of the batches: dG = sum_t G E[k dG k] G/alpha0_t."""
    steps, where, whole = len(batches), places(len(batches)), fixed.copy()
    turned = []
    for t, (one, at) in enumerate(zip(batches, where, strict=True)):
        kept, squared = one.kept_and_squared(held[:, t] / one.ratio)
        whole[:, at, at] += kept
        turned.append(squared / one.ratio)
    mapped = np.linalg.inv(whole)
    system = np.empty((len(fixed), steps, 4, steps, 4))
    for s, to in enumerate(where):
        for t, at in enumerate(where):
            across = mapped[:, to, at]
            around = np.einsum("gij,gml->gimjl", across, across).reshape(-1, 4, 4)
            system[:, s, :, t] = -(around @ turned[t])
    system = system.reshape(len(fixed), 4 * steps, 4 * steps) + np.eye(4 * steps)
    gaps = _held(batches, mapped) - held
    return np.asarray(np.linalg.solve(system, gaps.reshape(len(fixed), -1, 1)).reshape(gaps.shape))


def _size(move: Array, held: Array) -> Array:
    """The size of a change of blocks (g, T, 2, 2) beside them, the largest of all batches, (g,)."""
    return np.asarray((np.abs(move).max(axis=(2, 3)) / np.abs(held).max(axis=(2, 3))).max(axis=1))


def overlaps(batches: Sequence[Samples], G: Array, frames: Sequence[Array], vectors: Array) -> Array:
    """x.R y for all pairs of Q vectors, (g, Q, Q), at traces G.

    vectors (Q, 1 + F, 2T + 1): coordinates on theta and the w_f of every batch, oldest first, in every block. frames
    (u, .): the coordinates of the directions u of every batch on theta and the w_f of the batches before it.

    A batch tilts R along its directions, and its w_f lie there but for an isotropic part: newest first each is traced
    back to its directions, with the isotropic part counted, oldest first the tilts are made.
    """
    where, x = places(len(batches)), np.broadcast_to(vectors, (len(G), *vectors.shape))
    own, tilts = [], []
    for one, at, frame in reversed(list(zip(batches, where, frames, strict=True))):
        u, known, ratio = one.along, frame.shape[1], one.ratio
        x, made = x[:, :, :known], x[:, :, known:]
        kept = one.kept_forms(G[:, at, at] / ratio)
        seen = np.einsum("gik,gqfk->gqfi", G, made)
        pulled = np.einsum("uf,gqfk->gquk", one.products[:u, u:], made)
        pulled[..., at] -= np.einsum("ufgij,gqfj->gqui", kept[:u, u:], seen[..., at]) / ratio
        plain = np.einsum("gqfi,ef,gpei->gqp", seen, one.products[u:, u:], made, optimize=True)
        held = np.einsum("gqfi,fegij,gpej->gqp", seen[..., at], kept[u:, u:], seen[..., at], optimize=True)
        own.append((plain - held / ratio) / ratio)
        tilted = np.moveaxis(kept[:u, :u] - np.eye(u)[:, :, None, None, None] * one.kept(G[:, at, at] / ratio), 2, 0)
        tilts.append(tilted.transpose(0, 1, 3, 2, 4).reshape(len(G), 2 * u, 2 * u))
        x = x + np.einsum("gquk,uv->gqvk", pulled, frame)
        directions = np.einsum("uv,ik->uivk", frame, np.eye(G.shape[1])[at]).reshape(2 * u, known, -1)
        x = np.concatenate([x, np.broadcast_to(directions, (len(G), *directions.shape))], axis=1)
    found = x[:, :, 0] @ G @ np.swapaxes(x[:, :, 0], 1, 2)
    for tilt, added in zip(reversed(tilts), reversed(own), strict=True):
        count = added.shape[1]
        across, inside = found[:, :count, count:], found[:, count:, count:]
        core = np.linalg.solve(np.eye(tilt.shape[1]) + tilt @ inside, tilt)
        found = found[:, :count, :count] - across @ core @ np.swapaxes(across, 1, 2) + added
    return np.asarray(found)
