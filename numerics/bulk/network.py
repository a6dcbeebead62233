"""The bulk of the network itself after one gradient step: neither isotropic nor of equal norm. Beyond the paper.

For any sigma, |w_k| = 1 before the step, e = eta/beta, nu = e E[sigma''] and s = sigma' - h1 - E[sigma''] z the step
sees Y = y - E[sigma], and the bulk row b_i of a neuron is, given the batch, asymptotically Gaussian with covariance
B/d; its squared norm fluctuates by delta_i = |b_i|^2 - c = O(d^-1/2):

    B = P^2 + omega A,  P = 1 + nu M,  M = (1/n0) sum Y x x^T,  A = (1/n0) sum Y^2 x x^T,  omega = e^2 E[s^2]/alpha0,
    d Cov(b_i, delta_i) = h = P w_f + w_f',  d Var(delta_i) = v_c,  w_f = (1/n0) sum f(Y) x,

with f, f' and v_c as `numerics.bulk.network_law` has them. For an odd sigma nu = 0, f = 2 e E[z^2 s] Y and f' =
e^3 (E[s^3]/alpha0^2) Y^3. The mean of a feature depends on the norm of its row, so the readout gains one function along
the spike, k2 = d mu0/dc, with the coefficient chi = sum_i a_i delta_i/sqrt(p). The signal overlaps K of (v, delta,
theta_perp) are 3 x 3.

With H = (1 + g B)^-1, g = C beta tau and x = beta tau, S = ridge + D + C W Pi W^T has

    x (D + C (1/d) tr B H) = beta,   T = tau (1/d) tr B H,
    R_uu' = u.(1 - H) u'/g,   R_u,delta = u.H h,   R_delta,delta = v_c - g h.H h   (u, u' in {v, theta_perp}),
    K = beta tau (R + g R_.v R_v./(1 - g R_vv)),

and H follows from averages over 1 + b1 Y + b2 Y^2 at two places solved for with x (`numerics.bulk.resolvent`).
Derivatives in (C, D) are complex steps, exact to rounding, through the implicit function. The isotropic bulk is the
same code with B = c, h = 0, v_c = 0.

For sigma odd there is a readout of several groups, too: one gradient step of a finite vocabulary, with biases.

The readout starts from a0 = u_a/sqrt(p) in group a, so that its neurons take a step u_a times as long: with e_a = u_a e
in place of e everything is as for one group, and the matrix A of the batch is shared. Neurons
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
are those of matrix functions, by divided differences that need no difference (`numerics.bulk.derivative_algebra`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from onestep.numerics.bulk.derivative_algebra import Divided, Varied, fixed, matrix_functions
from onestep.numerics.bulk.equivalent import (
    ExplicitPoint,
    OneGroup,
    marchenko_pastur,
    pack,
    packed_directions,
    unpack,
    upper_triangle,
)
from onestep.numerics.bulk.network_law import BulkLaw, GroupsLaw, network_law
from onestep.numerics.bulk.resolvent import Triple, block_slopes, blocks, forms
from onestep.numerics.models.model import Model

Array = NDArray[np.float64]

_STEP = 1e-100
_MOST_STEPS = 200
# Sweeps before Newton's method, and the size of the last step of one that has found something.
_SWEEPS, _SOLVED, _LAST = (3, 30, 300), 1e-8, 1e-10


def law_error(model: Model) -> float:
    """The relative error of the averages behind a network's law, the worst of its groups."""
    step = model.step
    if step is None:
        return 0.0
    weights = {group.weight for group in model.groups}
    return max(
        network_law(
            model.activation, model.target, step.alpha0, step.eta, model.beta, model.noise, model.gaussian_rows, weight
        ).error
        for weight in weights
    )


@dataclass(frozen=True)
class _Point:
    """NetworkBulk at one pair (C, D): x = beta tau and the averages' places, with how they move with C and D."""

    network: NetworkBulk
    conjugate: float
    values: Array
    jacobian: Array
    solution: Array
    slopes: Array
    lost: float = 0.0

    @property
    def overlap(self) -> Array:
        """K (3 x 3) on (v, delta, theta_perp)."""
        return self._overlaps[0]

    def overlap_jacobian(self) -> Array:
        """dK/d(C, D), (2, 3, 3)."""
        return self._overlaps[1]

    @cached_property
    def _overlaps(self) -> tuple[Array, Array]:
        found = self.network.overlaps(self.conjugate, self.solution, self.slopes)
        return found[..., 0].real, np.moveaxis(found.imag, -1, 0) / _STEP


class _Linear(NamedTuple):
    """The equations of one pair (C, D) at a place (x, b1, b2): values, their slopes in (x, b1, b2) as rows, and in C;
    tr B H, its slopes in (x, b1, b2), and in g = C x."""

    values: Triple
    system: tuple[Triple, Triple, Triple]
    by_conjugate: Triple
    filled: float
    filled_slopes: Triple
    filled_by_gain: float


def _inverse(matrix: tuple[Triple, Triple, Triple]) -> tuple[Triple, Triple, Triple]:
    """By cofactors, in a tenth of LAPACK's time; not numbers where the matrix is singular."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
    whole = a * first + b * second + c * third
    share = 1.0 / whole if whole else math.nan
    return (
        (first * share, (c * h - b * i) * share, (b * f - c * e) * share),
        (second * share, (a * i - c * g) * share, (c * d - a * f) * share),
        (third * share, (b * g - a * h) * share, (a * e - b * d) * share),
    )


class NetworkBulk(OneGroup):
    """The deterministic equivalent of rows of a given law, at a ridge and beta; one group.

    The last solution and its slopes are remembered: they are the next start.
    """

    def __init__(self, ridge: float, beta: float, law: BulkLaw) -> None:
        super().__init__(ridge, beta, law.bulk)
        self.law = law
        first = np.asarray(law.labels.first)
        v, perp = ((x[0], x[1], 0.0, 0.0) for x in (law.direction, law.perpendicular))
        added, pulled = ((float(first @ f), *f) for f in (np.array(law.added), np.array(law.pulled)))
        self._vectors, self._pulled = np.array([v, perp, added]), np.array(pulled)
        self._last: tuple[Array, _Point] | None = None

    def at(self, conjugates: Array) -> _Point:
        """(T, tau), K (3 x 3) on (v, delta, theta_perp), and the derivatives of both at the pair (C, D)."""
        if self._last is not None and np.array_equal(conjugates, self._last[0]):
            return self._last[1]
        C, shift = float(conjugates[0]), self.ridge + float(conjugates[1])
        solution = self._solve(C, shift, conjugates)
        x = float(solution[0])
        at = self._linearised(C, shift, *solution.tolist())
        inverse = _inverse(at.system)
        by_C, by_D = ([-(a * u + b * v + c * w) for a, b, c in inverse] for u, v, w in (at.by_conjugate, (x, 0.0, 0.0)))
        # T = tau tr B H, tr B H as a function of (x, b1, b2; C).
        filled, (f_x, f_1, f_2) = at.filled, at.filled_slopes
        moved = [f_x * sx + f_1 * s1 + f_2 * s2 for sx, s1, s2 in (by_C, by_D)]
        # That in C is x/C times that in x, and is formed without dividing by C.
        moved[0] += x * at.filled_by_gain
        jacobian = np.array([[by_C[0] * filled + x * moved[0], 0.0], [by_C[0], by_D[0]]]) / self.beta
        # T and tau are slopes of one function; of the two equal entries this one is no difference.
        jacobian[0, 1] = jacobian[1, 0]
        values = np.array([x * filled, x]) / self.beta
        point = _Point(self, C, values, jacobian, solution, np.array([by_C, by_D]).T)
        self._last = conjugates.copy(), point
        return point

    def _linearised(self, C: float, shift: float, x: float, b1: float, b2: float) -> _Linear:
        """(x (D + C tr B H) - beta, b1 as it follows - b1, b2 likewise), with derivatives."""
        S1, S2, *fall = self.law.labels.moved_sums(b1, b2)
        g = C * x
        at = blocks(self.law, g, S1, S2)
        by_b = []
        by_g = []
        for slope_g, slope_1, slope_2 in block_slopes(self.law, g, S1, S2, at):
            by_g.append(slope_g)
            by_b.append((-slope_1 * fall[0] - slope_2 * fall[1], -slope_1 * fall[1] - slope_2 * fall[2]))
        filled = float(at.filled)
        return _Linear(
            values=(x * (shift + C * filled) - self.beta, at.b1 - b1, at.b2 - b2),
            system=(
                (shift + C * (filled + g * by_g[0]), g * by_b[0][0], g * by_b[0][1]),
                (C * by_g[1], by_b[1][0] - 1.0, by_b[1][1]),
                (C * by_g[2], by_b[2][0], by_b[2][1] - 1.0),
            ),
            by_conjugate=(x * (filled + g * by_g[0]), x * by_g[1], x * by_g[2]),
            filled=filled,
            filled_slopes=(C * by_g[0], *by_b[0]),
            filled_by_gain=by_g[0],
        )

    def _solve(self, C: float, shift: float, conjugates: Array) -> Array:
        """(x, b1, b2) with x = beta tau in (0, beta/shift], by Newton's method; not numbers where it found none."""
        if self._last is not None:
            there, point = self._last
            found, size = self._newton(C, shift, point.solution + point.slopes @ (conjugates - there))
            if size < _SOLVED:
                return found
        for sweeps in _SWEEPS:
            found, size = self._newton(C, shift, self._swept(C, shift, sweeps))
            if size < _SOLVED:
                return found
        return np.full(3, math.nan)

    def _swept(self, C: float, shift: float, sweeps: int) -> Array:
        """The equations applied one after the other, from the isotropic bulk."""
        x, b1, b2 = self._isotropic_start(C, shift), 0.0, 0.0
        for _ in range(sweeps):
            at = blocks(self.law, C * x, *self.law.labels.sums(b1, b2))
            # Half of the way: all of it may circle.
            x = 0.5 * (x + self.beta / (shift + C * at.filled))
            b1, b2 = 0.5 * (b1 + at.b1), 0.5 * (b2 + at.b2)
        return np.array([x, b1, b2])

    def _newton(self, C: float, shift: float, start: Array) -> tuple[Array, float]:
        """The solution found and the relative size of its last step."""
        x, b1, b2 = start.tolist()
        before = size = math.inf
        for _ in range(_MOST_STEPS):
            inside = 4.0 * b2 > b1 * b1 if b1 else b2 * self.law.omega >= 0.0
            if not (0.0 < x <= 2.0 * self.beta / shift and inside):
                return np.array([x, b1, b2]), math.inf
            at = self._linearised(C, shift, x, b1, b2)
            u, v, w = at.values
            moves = [a * u + b * v + c * w for a, b, c in _inverse(at.system)]
            root = math.sqrt(abs(b2))
            size = max(abs(moves[0]) / x, abs(moves[1]) / (root or 1.0), abs(moves[2] / (b2 or 1.0)))
            x, b1, b2 = x - moves[0], b1 - moves[1], b2 - moves[2]
            # A step squares its size: the next one would be lost in rounding.
            if size < _LAST or (size < _SOLVED and size >= before):
                break
            before = size
        return np.array([x, b1, b2]), size

    def _isotropic_start(self, C: float, shift: float) -> float:
        """x for B = c: the root of D x + (C c x - beta)(1 - C c x) below 1 and beta, over C c."""
        return self.beta * marchenko_pastur(C, shift, self.beta, self.law.bulk)[1]

    def overlaps(self, C: float, solution: Array, slopes: Array) -> NDArray[Any]:
        """K as complex numbers (3, 3, 2) whose imaginary parts are its steps along C and along D."""
        law = self.law
        averages = law.labels.over(float(solution[1]), float(solution[2]))
        x, _, _ = solution[:, None] + 1j * _STEP * slopes
        over = averages[:, :1] + 1j * _STEP * (averages[:, 1:] @ slopes[1:])
        gain = x * (C + 1j * _STEP * np.array([1.0, 0.0]))
        return signal_overlaps(law, self._vectors, self._pulled, x, gain, over)


def signal_overlaps(
    law: Any, vectors: NDArray[Any], pulled: NDArray[Any], x: Any, gain: Any, over: NDArray[Any]
) -> NDArray[Any]:
    """K (3, 3, e) on (v, delta, theta_perp) at x = beta tau and g = gain, from averages over 1 + b1 Y + b2 Y^2 (14, e).

    vectors (3, 4): v, theta_perp and w_f' on (theta, n_1, n_2, n_3), pulled (4,): w_f; numbers of any kind.
    """
    at = blocks(law, gain, over[0], over[1])
    found = forms(law, gain, at, over)
    resolvent = np.einsum("ia,abe,jb->ije", vectors, found.resolvent, vectors)
    bridge = np.einsum("ia,abe,b->ie", vectors, found.bridge, pulled)
    turned = np.einsum("a,abe,b->e", pulled, found.turned, pulled)
    filled = np.einsum("ia,abe,jb->ije", vectors[:2], found.filled, vectors[:2])
    # Of v, theta_perp and h = P w_f + w_f': H h on the former, h.H h.
    on_h = resolvent[:2, 2] + bridge[:2]
    h_h = resolvent[2, 2] + 2.0 * bridge[2] + turned
    along, both, mixed = resolvent[0, 0], on_h[0], filled[0, 1]
    moment = np.empty((3, 3, len(x)), dtype=resolvent.dtype)
    moment[0, 0] = filled[0, 0] / along
    moment[0, 1] = moment[1, 0] = both / along
    moment[0, 2] = moment[2, 0] = mixed / along
    moment[1, 1] = law.norm_variance - gain * (h_h - both * both / along)
    moment[1, 2] = moment[2, 1] = on_h[1] + gain * mixed * both / along
    moment[2, 2] = filled[1, 1] + gain * mixed * mixed / along
    own = np.array([law.independent[0], law.independent[2], law.independent[1]])
    return np.asarray(x * (moment + np.outer(own, own)[:, :, None]))


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
    """The deterministic equivalent of k groups of a given law at a ridge and beta: `numerics.bulk.equivalent`.

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
        overlaps = [
            [v_v, v_delta, v_theta],
            [v_delta.T, delta_delta, theta_delta.T],
            [v_theta.T, theta_delta, theta_theta],
        ]
        scaled = [[scale @ block @ scale for block in row] for row in overlaps]
        value = np.block([[block.value for block in row] for row in scaled])
        moves = np.concatenate([np.concatenate([block.moves for block in row], axis=2) for row in scaled], axis=1)
        return Varied(_symmetric(value), moves)


def _symmetric(matrix: Array) -> Array:
    """The matrix, symmetric up to rounding, as a symmetric one."""
    return 0.5 * (matrix + matrix.T)
