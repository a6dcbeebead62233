"""A network's own bulk for a readout of several groups: one gradient step of a finite vocabulary, with biases.

The readout starts from a0 = u_a/sqrt(p) in group a, so that its neurons take a step u_a times as long: with e_a = u_a e
in place of e everything is as for one group (`numerics.network_bulk`), and the matrix A of the batch is shared. Neurons
i of group a have rows of covariance B_a/d, and norms that vary by delta_i,

    B_a = 1 + omega u_a^2 A,   d Cov(b_i, delta_i) = h_a,   d Var(delta_i) = v_a.

Biases enter the features after the step and not here. S = ridge + D + C o (W Pi W^T) has the equivalent

    tau_a = pi_a/(ridge + D_a + int nu(dx) B_a(x) [C (1 + Theta(x) C)^-1]_aa),
    T = (1/beta) int nu(dx) Theta (1 + C Theta)^-1,    Theta(x) = diag(beta tau_a B_a(x)),  nu the spectral law of A,

by taking columns of W in the eigenbasis of A one by one, and the same with the spectral measure of two vectors for
their overlap. The integrals reduce to k resolvents of A. With Theta(0) = s^2 and Theta(x) = s^2 (1 + rho^2 x),

    Y = s C s,   N = (1 + Y)^-1,   Q = Y N = 1 - N,   G = rho Q rho = U diag(g_j) U^T,
    Theta (1 + C Theta)^-1 = s {N + x N rho (1 + x G)^-1 rho N} s,

and so on, where nothing cancels and g_j = 0 or rho_a = 0 do no harm. Leaving v out of S leaves it out of A. In units of
s on both sides, with m(G) for rho m(G) rho, the signal overlaps of v, delta and theta_perp are, for
h_a = (h_a.v) v + eta_a n with one vector n across v,

    K_vv = 1 + m_vv(G),   K_v,theta = m_vt(G) N,   K_v,delta = diag(h_a.v) - m_vn(G) Q diag(eta),
    K_theta,theta = N + N m_tt(G) N,   K_theta,delta = (theta.n) N diag(eta) - N m_tn(G) Q diag(eta),
    K_delta,delta = diag(v_a) - |n|^2 diag(eta) Q diag(eta) + diag(eta) Q m_nn(G) Q diag(eta),

    m_vv = f_vv/(1 - g f_vv),  m_vx = f_vx/(1 - g f_vv),  m_xy = f_xy + g f_xv f_vy/(1 - g f_vv),
    f_xy = x.A (1 + g A)^-1 y.

One number l per g_j gives all of these: 1/g = 1/(alpha0 l) - E_l[y^2], E_l[x] = E[x/(1 + y^2 l)]. Derivatives in (C, D)
are those of matrix functions, by divided differences that need no difference (`numerics.derivative_algebra`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from numerics.derivative_algebra import Divided, Varied, fixed, matrix_functions
from numerics.deterministic_equivalent import ExplicitPoint, pack, packed_directions, unpack, upper_triangle
from numerics.groups_law import GroupsLaw

Array = NDArray[np.float64]

_MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class _Frame:
    """What depends on (C, tau) alone: scale s, Y, N, Q, rho, U, and functions of G with that of the trace last."""

    scale: Array
    product: Array
    inverse: Array
    filled: Array
    root: Array
    vectors: Array
    functions: Divided

    def varied(self, moved: Array) -> tuple[Varied, Varied, list[Varied]]:
        """N, Q and rho m(G) rho for every function, as Y moves by `moved` (e, k, k)."""
        slope = -(self.inverse @ moved @ self.inverse)
        inverse, filled = Varied(self.inverse, slope), Varied(self.filled, -slope)
        root = np.diag(self.root)
        found = matrix_functions(self.functions, self.vectors, -(root @ slope @ root))
        return inverse, filled, [root @ function @ root for function in found]

    def load(self, moved: Array) -> tuple[Array, Array]:
        """beta tau_a int B_a [C (1 + Theta C)^-1]_aa = [Y int f]_aa, (k,), and how it moves, (e, k)."""
        inverse, filled, functions = self.varied(moved)
        whole = filled + filled @ functions[-1] @ inverse
        return np.diagonal(whole.value), np.diagonal(whole.moves, axis1=1, axis2=2)


class NetworkGroups:
    """The deterministic equivalent of k groups of a given law at a ridge and beta: `numerics.deterministic_equivalent`.

    tau is found by Newton's method from above, where the right-hand side of its equation is increasing and concave; the
    last solution is remembered as the next start.
    """

    def __init__(self, ridge: float, beta: float, law: GroupsLaw) -> None:
        self.ridge = ridge
        self.beta = beta
        self.law = law
        self._start: Array | None = None

    @property
    def groups(self) -> int:
        """k."""
        return len(self.law.base)

    def largest(self) -> Array:
        """(T, tau) at C = D = 0, packed."""
        tau = self.law.fractions / (self.ridge or 1.0)
        return pack(np.diag(self.law.bulks * tau), tau)

    def at(self, conjugates: Array) -> ExplicitPoint:
        """(T, tau), K on (v_a, delta_a, theta_perp,a), and the derivatives of both at the packed pair (C, D)."""
        C, diagonal = unpack(conjugates)
        shift, beta = self.ridge + diagonal, self.beta
        tau, frame = self._solve(C, shift)
        self._start = tau
        matrices, diagonals = packed_directions(self.groups)
        by_tau, by_pair = self._by_tau(frame, tau), frame.scale[:, None] * matrices * frame.scale
        _, loads = frame.load(np.concatenate([by_tau, by_pair]))
        system = np.diag(shift) + loads[: self.groups].T / beta
        d_tau = -np.linalg.solve(system, (diagonals * tau + loads[self.groups :] / beta).T).T
        moved = by_pair + np.einsum("eb,bij->eij", d_tau, by_tau)
        inverse, filled, functions = frame.varied(moved)
        scale = Varied(np.diag(frame.scale), (0.5 * d_tau / tau * frame.scale)[:, :, None] * np.eye(self.groups))
        across = scale @ (inverse + inverse @ functions[-1] @ inverse) @ scale
        overlap = self._overlap(scale, inverse, filled, functions)
        rows, columns = upper_triangle(self.groups)
        jacobian = np.concatenate([across.moves[:, rows, columns] / beta, d_tau], axis=1).T
        return ExplicitPoint(pack(_symmetric(across.value) / beta, tau), jacobian, overlap.value, overlap.moves)

    def _by_tau(self, frame: _Frame, tau: Array) -> Array:
        """How Y moves with each tau_b, (k, k, k): s_b grows by s_b/(2 tau_b)."""
        rows = np.eye(self.groups)[:, :, None] * (0.5 / tau)[:, None, None] * frame.product
        return np.asarray(rows + np.swapaxes(rows, 1, 2))

    def _frame(self, C: Array, tau: Array, whole: bool = False) -> _Frame:
        """With the trace function alone, or with the `whole` list."""
        law = self.law
        scale = np.sqrt(self.beta * tau * law.base)
        product = scale[:, None] * C * scale
        values, basis = np.linalg.eigh(product)
        inverse = (basis / (1.0 + values)) @ basis.T
        filled = (basis * (values / (1.0 + values))) @ basis.T
        root = np.sqrt(law.gain / law.base)
        places, vectors = np.linalg.eigh(root[:, None] * filled * root)
        functions = (law.functions if whole else law.trace)(np.maximum(places, 0.0))
        return _Frame(scale, product, inverse, filled, root, np.asarray(vectors), functions)

    def _solve(self, C: Array, shift: Array) -> tuple[Array, _Frame]:
        fractions, beta = self.law.fractions, self.beta
        above = fractions / shift
        tau = above if self._start is None else np.minimum(self._start, above)
        previous = math.inf
        for _ in range(_MOST_STEPS):
            frame = self._frame(C, tau)
            load, moves = frame.load(self._by_tau(frame, tau))
            weight = load / (beta * tau)
            mapped = fractions / (shift + weight)
            slopes = moves.T / (beta * tau[:, None]) - np.diag(weight / tau)
            moved = tau - np.linalg.solve(np.eye(self.groups) + (mapped**2 / fractions)[:, None] * slopes, tau - mapped)
            if np.any(moved <= 0.0):
                # A start below the solution, where the linearisation may point anywhere: begin again from above.
                moved = above
            size = float(np.max(np.abs(moved - tau) / moved))
            tau = moved
            if size < 1e-15 or (size < 1e-12 and size >= previous):
                break
            previous = size
        return tau, self._frame(C, tau, whole=True)

    def _overlap(self, scale: Varied, inverse: Varied, filled: Varied, functions: list[Varied]) -> Varied:
        law = self.law
        vv, vt, vn, tt, tn, nn = functions[:6]
        count = len(vv.moves)
        own = law.own[:, :, None] * law.own[:, None, :]
        along, across = law.spike_part, np.diag(law.across_part / law.base)
        turned = filled @ across
        squares = np.diag((law.norm_variance + own[:, 1, 1]) / law.base)
        v_v = fixed(np.diag(1.0 + own[:, 0, 0] / law.base), count) + vv
        v_delta = fixed(np.diag((along + own[:, 0, 1]) / law.base), count) - vn @ turned
        v_theta = vt @ inverse
        delta_delta = fixed(squares, count) - law.gram[2, 2] * across @ turned + turned.T @ nn @ turned
        theta_delta = inverse @ (law.gram[1, 2] * across) - inverse @ tn @ turned
        theta_theta = inverse + inverse @ tt @ inverse
        blocks = [
            [v_v, v_delta, v_theta],
            [v_delta.T, delta_delta, theta_delta.T],
            [v_theta.T, theta_delta, theta_theta],
        ]
        scaled = [[scale @ block @ scale for block in row] for row in blocks]
        value = np.block([[block.value for block in row] for row in scaled])
        moves = np.concatenate([np.concatenate([block.moves for block in row], axis=2) for row in scaled], axis=1)
        return Varied(_symmetric(value), moves)


def _symmetric(matrix: Array) -> Array:
    """The matrix, symmetric up to rounding, as a symmetric one."""
    return 0.5 * (matrix + matrix.T)
