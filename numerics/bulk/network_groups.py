"""The bulk of a network of several readout groups after its step, for any activation. Beyond the paper.

The readout starts from a0 = u_a/sqrt(p) in group a, so that its neurons take a step u_a times as long: with e_a = u_a e
in place of e everything is as for one group (`numerics.bulk.network`), and M and A of the batch are shared,

    B_a = P_a^2 + omega_a A,   P_a = 1 + nu_a M,   nu_a = e_a E[sigma''],   omega_a = e_a^2 E[s^2]/alpha0.

Biases enter the features after the step and not here. With g_a = beta tau_a, s = diag(sqrt g_a), Y = s C s and F =
diag(B_a), matrices over groups and coordinates, S = ridge + D + C o (W Pi W^T) has the equivalent

    T = (1/beta) s tr[F (1 + Y F)^-1] s,   tau_a (ridge + D_a) + (C T)_aa = pi_a.

M and A do not commute, and F is quadratic in M; but F (1 + Y F)^-1 is the first block of the inverse R of a pencil that
is linear in the samples and does not divide by Y,

    [[Y, 1, 0], [1, -omega A, P], [0, P, 1]],   R = [[F H, H', -H' P], [H, -H Y, H Y P], [-P H, P H Y, 1 - P H Y P]],

H = (1 + Y F)^-1, H' its transpose. Leaving one sample out, its normalised traces G follow from their own lower blocks
Gamma by averages over the label alone: with Z the pencil at M = A = 0 and K = Y_mu [[0, nu], [nu, 0]] - Y_mu^2 omega,

    X = K (1 + Gamma K/alpha0)^-1,   G = (Z + E[X])^-1,   theta.R theta = (Z + E[u^2 X])^-1 = G_t,
    theta.R n_k = -G_t E[u Y^k X] G/alpha0,
    n_j.R n_k = G E[u Y^j X] G_t E[u Y^k X] G/alpha0^2 + (E[Y^(j+k)] G - G E[Y^(j+k) X] G/alpha0)/alpha0,

for n_k = (1/n0) sum Y^k x - E[u Y^k] theta. -H Y <= 0 and 1 - P H Y P > 0, and where they are no 1 + Gamma K/alpha0 is
singular. For an odd activation nu = 0 and the third block falls away: it is the same code. On v, delta and theta_perp,
with h_a = P_a w_f + w_f' and x, y among v and theta_perp, before v is taken out of the readout's inputs and after,

    R_xy = x.R_11 y,   R_x,delta = x.R_12 h,   R_delta,delta = v_c + h.R_22 h,
    K = s (R_.. + R_.v Y L^-1 R_v.) s,   L = v.R_12 v = 1 - R_vv Y.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import (
    EquivalentPoint,
    SeveralGroups,
    pack,
    packed_directions,
    unpack,
    upper_triangle,
)
from giantsteps.numerics.bulk.network_law import GroupsLaw

Array = NDArray[np.float64]

_STEP = 1e-100
_MOST_STEPS = 100
# Sweeps before Newton's method, and the size of the last step of one that has found something.
_SWEEPS, _SOLVED, _LAST = (3, 30, 300), 1e-8, 1e-10
# Differences of entries of C, taken where groups are alike, leave it indefinite by this share at most.
_INDEFINITE = 1e-4
# Rows of a rule's table, a power of Y below the averages that they make of X/Y: of X; of Y^2 X to Y^6 X; of u Y X to
# u Y^3 X; of u^2 X.
_ROWS = [0, 2, 3, 4, 5, 6, 8, 9, 10, 12]
_POWERS, _TILTED, _ALONG = slice(1, 6), slice(6, 9), 9


class _Averages(NamedTuple):
    """E[w X] for the weights w of _ROWS, (rows, m, m), and `moved` (rows, m^2, m^2): how it moves with Gamma."""

    values: Array
    moved: Array


class _Linear(NamedTuple):
    """The equations at a place (tau, Gamma): values (k + m^2,), the system (k + m^2, k + m^2), the traces G, and
    `felt` (m^2, m^2): how Gamma moves E[X]."""

    values: Array
    system: Array
    traces: Array
    felt: Array


@dataclass(frozen=True)
class _Pencil:
    """The pencil of a law at Y = 0, (n, n), and the two matrices of K, (m, m) each, on its last m rows."""

    constant: Array
    linear: Array
    square: Array
    nodes: Array
    table: Array
    batch_ratio: float

    def inner(self, gamma: Array) -> Array:
        """X/Y at the nodes, (N, m, m)."""
        y = self.nodes[:, None, None]
        reduced = self.linear + y * self.square
        inner = np.eye(len(gamma)) + y * (gamma @ reduced) / self.batch_ratio
        return np.asarray(np.swapaxes(np.linalg.solve(np.swapaxes(inner, 1, 2), reduced), 1, 2))

    def averages(self, gamma: Array, rows: list[int]) -> _Averages:
        """For the rows of the rule's table given."""
        m, flat = len(gamma), self.inner(gamma).reshape(len(self.nodes), -1)
        weights = self.table[rows]
        values = (weights @ flat).reshape(-1, m, m)
        # d X = -X dGamma X/alpha0: of the indices (i j), (l n) of both factors, j and l are summed with dGamma.
        pairs = np.array([(flat.T * row) @ flat for row in weights * (-self.nodes / self.batch_ratio)])
        moved = pairs.reshape(-1, m, m, m, m).transpose(0, 1, 4, 2, 3).reshape(-1, m * m, m * m)
        return _Averages(values, moved)

    def traces(self, product: NDArray[Any], self_energy: NDArray[Any]) -> NDArray[Any]:
        """G = (Z + E[X])^-1 for Y = `product`, (..., n, n)."""
        k, m = product.shape[-1], self_energy.shape[-1]
        whole = np.broadcast_to(self.constant, (*product.shape[:-2], *self.constant.shape)).astype(self_energy.dtype)
        whole[..., :k, :k] = product
        whole[..., -m:, -m:] += self_energy
        return np.asarray(np.linalg.inv(whole))


def _pencil(law: GroupsLaw) -> _Pencil:
    k = len(law.root)
    one, zero = np.eye(k), np.zeros((k, k))
    root, turn, gain = (np.diag(x) for x in (law.root, law.turn, law.gain))
    if law.turning:
        constant = np.block([[zero, one, zero], [one, zero, root], [zero, root, one]])
        linear, square = np.block([[zero, turn], [turn, zero]]), np.block([[-gain, zero], [zero, zero]])
    else:
        constant, linear, square = np.block([[zero, one], [one, -(root**2)]]), zero, -gain
    return _Pencil(constant, linear, square, law.labels.nodes, law.labels.table, law.batch_ratio)


@dataclass(frozen=True, eq=False)
class GroupsPoint(EquivalentPoint):
    """NetworkGroups at one pair (C, D): tau and Gamma with how they move, (e, ...); K, 3k x 3k, is on (v_a, delta_a,
    theta_perp,a).
    """

    tau: Array
    d_tau: Array
    gamma: Array
    d_gamma: Array


class NetworkGroups(SeveralGroups):
    """The deterministic equivalent of k groups of a given law at a ridge and beta: `numerics.bulk.equivalent`.

    The last solution and its slopes are remembered: they are the next start.
    """

    def __init__(self, ridge: float, beta: float, law: GroupsLaw) -> None:
        super().__init__(ridge, beta, law.bulks, law.fractions)
        self.law = law
        self._pencil = _pencil(law)
        self._last: tuple[Array, GroupsPoint] | None = None

    def at(self, conjugates: Array) -> GroupsPoint:
        """(T, tau), K on (v_a, delta_a, theta_perp,a), and the derivatives of both at the packed pair (C, D)."""
        if self._last is not None and np.array_equal(conjugates, self._last[0]):
            return self._last[1]
        C, diagonal = unpack(conjugates)
        shift, k = self.ridge + diagonal, self.groups
        tau, gamma = self._solve(C, shift, conjugates)
        if not np.isfinite(tau).all():
            nothing, size = np.full(len(conjugates), math.nan), 3 * k
            slopes = np.full((len(conjugates), *gamma.shape), math.nan)
            none = np.full((size, size), math.nan), np.full((len(conjugates), size, size), math.nan)
            matrix, d_tau = np.outer(nothing, nothing), np.outer(nothing, tau)
            return GroupsPoint(nothing, matrix, lambda: none, tau, d_tau, gamma, slopes)
        at = self._linearised(C, shift, tau, gamma)
        matrices, diagonals = packed_directions(k)
        scale = np.sqrt(self.beta * tau)
        by_pair = scale[:, None] * matrices * scale
        felt, turned = self._by_product(C, tau, at.traces, by_pair)
        force = np.concatenate([diagonals * tau + felt, turned], axis=1)
        moves = -np.linalg.solve(at.system, force.T).T
        d_tau, d_gamma = moves[:, :k], moves[:, k:]
        moved = by_pair + np.einsum("eb,bij->eij", d_tau, self._by_tau(C, tau))
        found = scale[:, None] * at.traces[:k, :k] * scale / self.beta
        share = 0.5 * d_tau / tau
        slopes = scale[:, None] * self._first_block(at, moved, d_gamma) * scale / self.beta
        slopes += (share[:, :, None] + share[:, None, :]) * found
        rows, columns = upper_triangle(k)
        d_gamma = d_gamma.reshape(-1, *gamma.shape)

        def overlaps() -> tuple[Array, Array]:
            both = self.overlaps(C + 1j * _STEP * matrices, tau + 1j * _STEP * d_tau, gamma, d_gamma)
            return both[0].real, np.asarray(both.imag / _STEP)

        jacobian = np.concatenate([slopes[:, rows, columns], d_tau], axis=1).T
        point = GroupsPoint(
            pack(0.5 * (found + found.T), tau), jacobian, overlaps, tau, d_tau, gamma, d_gamma,
        )  # fmt: skip
        self._last = conjugates.copy(), point
        return point

    def _by_tau(self, C: Array, tau: Array) -> Array:
        """How Y moves with each tau_b, (k, k, k)."""
        scale = np.sqrt(self.beta * tau)
        halves = 0.5 * np.eye(len(tau)) / tau
        return np.asarray((halves[:, :, None] + halves[:, None, :]) * (scale[:, None] * C * scale))

    def _by_product(self, C: Array, tau: Array, traces: Array, moved: Array) -> tuple[Array, Array]:
        """How the equations move with Y in the directions `moved` (e, k, k): (e, k) and (e, m^2)."""
        k, m = self.groups, len(self._pencil.linear)
        scale = np.sqrt(self.beta * tau)
        across, left, right = traces[:k, :k], traces[-m:, :k], traces[:k, -m:]
        kept = np.eye(k) - (scale[:, None] * C * scale) @ across
        return np.einsum("ij,ejl,li->ei", kept, moved, across) / self.beta, (left @ moved @ right).reshape(-1, m * m)

    def _first_block(self, at: _Linear, moved: Array, d_gamma: Array) -> Array:
        """How the first block of G moves with Y and Gamma, (e, k, k)."""
        k, m = self.groups, len(self._pencil.linear)
        across, left, right = at.traces[:k, :k], at.traces[-m:, :k], at.traces[:k, -m:]
        energy = (d_gamma @ at.felt.T).reshape(-1, m, m)
        return np.asarray(-(across @ moved @ across) - right @ energy @ left)

    def _linearised(self, C: Array, shift: Array, tau: Array, gamma: Array) -> _Linear:
        """(tau_a (ridge + D_a) + (C T)_aa - pi_a, Gamma less the lower block of G), with derivatives."""
        k, m = self.groups, len(gamma)
        scale = np.sqrt(self.beta * tau)
        product = scale[:, None] * C * scale
        energy = self._pencil.averages(gamma, _ROWS[:1])
        traces, felt = self._pencil.traces(product, energy.values[0]), energy.moved[0]
        values = np.concatenate(
            [
                tau * shift + np.diagonal(product @ traces[:k, :k]) / self.beta - self.law.fractions,
                (gamma - traces[-m:, -m:]).ravel(),
            ]
        )
        left, own = traces[-m:, :k], traces[-m:, -m:]
        by_tau, by_gamma = self._by_product(C, tau, traces, self._by_tau(C, tau))
        system = np.empty((k + m * m, k + m * m))
        system[:k, :k], system[k:, :k] = np.diag(shift) + by_tau.T, by_gamma.T
        # [Y dG]_aa of the first block, dG = -G_0L dE[X] G_L0.
        turned = -np.einsum("ai,ja->aij", product @ traces[:k, -m:], left).reshape(k, m * m)
        system[:k, k:] = turned @ felt / self.beta
        system[k:, k:] = np.eye(m * m) + np.kron(own, own.T) @ felt
        return _Linear(values, system, traces, felt)

    def _solve(self, C: Array, shift: Array, conjugates: Array) -> tuple[Array, Array]:
        """(tau, Gamma) by Newton's method; not numbers where it found none."""
        if self._last is not None:
            there, point = self._last
            change = conjugates - there
            start = point.tau + change @ point.d_tau, point.gamma + np.tensordot(change, point.d_gamma, 1)
            *found, size = self._newton(C, shift, *start)
            if size < _SOLVED:
                return found[0], found[1]
        for sweeps in _SWEEPS:
            *found, size = self._newton(C, shift, *self._swept(C, shift, sweeps))
            if size < _SOLVED:
                return found[0], found[1]
        return np.full_like(shift, math.nan), np.full_like(found[1], math.nan)

    def _swept(self, C: Array, shift: Array, sweeps: int) -> tuple[Array, Array]:
        """The equations applied one after the other, from rows without a step."""
        k, m = self.groups, len(self._pencil.linear)
        tau, energy = self.law.fractions / shift, np.zeros((m, m))
        gamma = None
        for _ in range(sweeps + 1):
            scale = np.sqrt(self.beta * tau)
            product = scale[:, None] * C * scale
            traces = self._pencil.traces(product, energy)
            weight = np.diagonal(product @ traces[:k, :k]) / (self.beta * tau)
            # Half of the way: all of it may circle.
            tau = 0.5 * (tau + self.law.fractions / (shift + weight))
            own = traces[-m:, -m:]
            gamma = own if gamma is None else 0.5 * (gamma + own)
            energy = np.tensordot(self._pencil.table[0], self._pencil.inner(gamma), 1)
        assert gamma is not None
        return tau, gamma

    def _newton(self, C: Array, shift: Array, tau: Array, gamma: Array) -> tuple[Array, Array, float]:
        """The solution found and the relative size of its last step."""
        k, before, size = self.groups, math.inf, math.inf
        for _ in range(_MOST_STEPS):
            if not self._inside(tau, gamma, shift):
                return tau, gamma, math.inf
            try:
                at = self._linearised(C, shift, tau, gamma)
                moves = np.linalg.solve(at.system, at.values)
            except np.linalg.LinAlgError:
                return tau, gamma, math.inf
            d_gamma = moves[k:].reshape(gamma.shape)
            root = np.maximum(np.sqrt(np.abs(np.diagonal(gamma))), 1e-150)
            size = max(float(np.max(np.abs(moves[:k]) / tau)), float(np.max(np.abs(d_gamma) / np.outer(root, root))))
            tau, gamma = tau - moves[:k], gamma - 0.5 * (d_gamma + d_gamma.T)
            # A step squares its size: the next one would be lost in rounding.
            if size < _LAST or (size < _SOLVED and size >= before):
                break
            before = size
        return tau, gamma, size

    def _inside(self, tau: Array, gamma: Array, shift: Array) -> bool:
        """tau > 0 and no larger than without features, -Gamma_11 and Gamma_22 positive."""
        k = self.groups
        if not (np.all(tau > 0.0) and np.all(tau * shift <= 2.0 * self.law.fractions) and np.isfinite(gamma).all()):
            return False
        first, second = np.linalg.eigvalsh(-gamma[:k, :k]), np.linalg.eigvalsh(gamma[k:, k:])
        return bool(first[0] >= -_INDEFINITE * abs(first[-1]) and np.all(second > 0.0))

    def overlaps(self, C: Array, tau: NDArray[Any], gamma: Array, d_gamma: Array) -> NDArray[Any]:
        """K (e, 3k, 3k), complex: its imaginary parts are its steps along e directions, as those of tau (e, k)."""
        product, forms, scale = self.forms(C, tau, gamma, d_gamma)
        return _signal_overlaps(self.law, product, forms, scale)

    def forms(self, C: Array, tau: NDArray[Any], gamma: Array, d_gamma: Array) -> tuple[NDArray[Any], ...]:
        """Y (e, k, k), R on theta, n_1, n_2, n_3 (4, 4, e, n, n), and s (e, k), complex as in `overlaps`."""
        pencil, m = self._pencil, len(gamma)
        found = pencil.averages(gamma, _ROWS)
        along = np.einsum("rmn,en->erm", found.moved, d_gamma.reshape(-1, m * m)).reshape(len(d_gamma), -1, m, m)
        averages = np.swapaxes(found.values + 1j * _STEP * along, 0, 1)
        scale = np.sqrt(self.beta * tau)
        product = scale[:, :, None] * C * scale[:, None, :]
        return product, _forms(self.law, pencil, product, averages), scale


def _forms(law: GroupsLaw, pencil: _Pencil, product: NDArray[Any], averages: NDArray[Any]) -> NDArray[Any]:
    """The inverse of the pencil on theta, n_1, n_2, n_3, (4, 4, e, n, n), from the averages of _ROWS (10, e, m, m)."""
    m, ratio = averages.shape[-1], law.batch_ratio
    traces = pencil.traces(product, averages[0])
    on_theta = pencil.traces(product, averages[_ALONG])
    lower, right = traces[..., -m:, :], traces[..., :, -m:]
    pulled = averages[_TILTED] @ lower / ratio
    pairs = np.add.outer(np.arange(3), np.arange(3))
    moments = law.labels.moments[2 + pairs][..., None, None, None]
    forms = np.empty((4, 4, *traces.shape), dtype=complex)
    forms[0, 0] = on_theta
    forms[0, 1:] = -(on_theta[..., :, -m:] @ pulled)
    forms[1:, 0] = np.swapaxes(forms[0, 1:], -1, -2)
    turned = np.swapaxes(pulled, -1, -2)[:, None] @ on_theta[..., -m:, -m:] @ pulled[None]
    forms[1:, 1:] = turned + (moments * traces - right @ averages[_POWERS][pairs] @ lower / ratio) / ratio
    return forms


def _signal_overlaps(law: GroupsLaw, product: NDArray[Any], forms: NDArray[Any], scale: NDArray[Any]) -> NDArray[Any]:
    """K on (v_a, delta_a, theta_perp,a), (e, 3k, 3k), from the forms of the inverse pencil."""
    k, n = product.shape[-1], forms.shape[-1]
    vectors = np.array([[*law.direction[:2], 0.0, 0.0], [*law.perpendicular[:2], 0.0, 0.0]])
    # h = P w_f + w_f' by its coordinates in the second and third blocks: P R_2. = 1_.3 - R_3..
    change = np.zeros((4, n, k))
    groups = np.arange(k)
    change[:, k + groups, groups] = law.added.T
    if law.turning:
        change[:, 2 * k + groups, groups] = -law.pulled.T
        own = np.einsum("ai,ij,aj->a", law.pulled, law.gram, law.pulled)
    else:
        change[:, k + groups, groups] += law.pulled.T
        own = np.zeros(k)
    first = np.einsum("xi,ijenm,yj->xyenm", vectors, forms[..., :k, :], vectors)
    on_change = np.einsum("xi,ijenm,jma->xena", vectors, forms[..., :k, :], change)
    both = np.einsum("ina,ijenm,jmb->eab", change, forms, change)
    plain, kept = first[..., :k], first[0, 0][..., k : 2 * k]
    seen = np.empty((3, 3, *product.shape), dtype=complex)
    seen[0, 0], seen[0, 2], seen[2, 2] = plain[0, 0], plain[0, 1], plain[1, 1]
    seen[0, 1], seen[2, 1] = on_change
    seen[1, 1] = np.diag(law.norm_variance - own) + both
    seen[1, 0], seen[2, 0], seen[1, 2] = (np.swapaxes(seen[i], -1, -2) for i in ((0, 1), (0, 2), (2, 1)))
    taken = np.linalg.solve(kept[None], seen[0])
    out = np.empty_like(seen)
    out[0] = taken
    for i in (1, 2):
        out[i] = seen[i] + seen[i, 0] @ product @ taken
        out[i, 0] = np.swapaxes(taken[i], -1, -2)
    independent = law.own[:, :, None] * np.eye(k)[:, None, :]
    out[:2, :2] += np.einsum("axb,ay->xyab", independent, law.own)[:, :, None]
    scaled = scale[:, :, None] * out * scale[:, None, :]
    return np.asarray(np.block([[scaled[i, j] for j in range(3)] for i in range(3)]))
