"""The bulk of the network itself after one gradient step: neither isotropic nor of equal norm. Beyond the paper.

For sigma odd, |w_k| = 1 before the step, e = eta/beta and s = sigma' - h1, the bulk row b_i of a neuron is, given the
batch, asymptotically Gaussian with covariance B/d; its squared norm fluctuates by delta_i = |b_i|^2 - c = O(d^-1/2):

    B = 1 + omega A,  A = (1/n0) sum y^2 x x^T,  omega = e^2 E[s^2]/alpha0,
    d Cov(b_i, delta_i) = h = 2 e E[z^2 s] vh + e^3 (E[s^3]/alpha0^2) w3,   vh = (1/n0) sum y x,  w3 = (1/n0) sum y^3 x,
    d Var(delta_i) = v_c = 4 e^2 {(E[y^2]/alpha0)(E[z^2 s^2] - E[z^2 s]^2) + E[z^2 s]^2 |vh|^2}
                           + e^4 {E[y^4] Var(s^2)/alpha0^3 + 2 E[y^2]^2 E[s^2]^2/alpha0^2}.

The mean of a feature depends on the norm of its row, so the readout gains one function along the spike, k2 = d mu0/dc,
with the coefficient chi = sum_i a_i delta_i/sqrt(p). The signal overlaps K of (v, delta, theta_perp) are 3 x 3.

Everything is rational in averages over 1 + y^2 l at one number l, solved for: with lambda = l alpha0/omega,

    b = 1 + omega E_l[y^2],   (1/d) tr (1 + g B)^-1 = p = 1 - lambda b,   g = lambda/p = C beta tau,
    D lambda/p + C lambda b = C beta,   tau = lambda/(p beta C),   T = tau p b.

A vector f in (y, y^3) stands for n_f = w_f - E[f u] theta, w_f = (1/n0) sum f x. Derivatives in (C, D) are complex
steps, exact to rounding, through the implicit function. The isotropic bulk is the same code with b = c, h = 0, v_c = 0.

A network's own bulk for a readout of several groups: one gradient step of a finite vocabulary, with biases.

The readout starts from a0 = u_a/sqrt(p) in group a, so that its neurons take a step u_a times as long: with e_a = u_a e
in place of e everything is as for one group (`numerics.bulk.network`), and the matrix A of the batch is shared. Neurons
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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onestep.numerics.bulk.derivative_algebra import Divided, Varied, fixed, matrix_functions
from onestep.numerics.bulk.equivalent import ExplicitPoint, OneGroup, pack, packed_directions, unpack, upper_triangle
from onestep.numerics.bulk.network_constants import LabelAverages
from onestep.numerics.bulk.network_law import BulkLaw, GroupsLaw, network_law
from onestep.numerics.models.model import Model

Array = NDArray[np.float64]

_STEP = 1e-100
_MOST_STEPS = 200


def law_error(model: Model) -> float:
    """The relative error of the averages behind a network's law, the worst of its groups."""
    step = model.step
    if step is None:
        return 0.0
    etas = {step.eta * group.weight for group in model.groups}
    return max(
        network_law(
            model.activation, model.target, step.alpha0, eta, model.beta, model.noise, model.gaussian_rows
        ).error
        for eta in etas
    )


class NetworkBulk(OneGroup):
    """The deterministic equivalent of rows of a given law, at a ridge and beta; one group."""

    def __init__(self, ridge: float, beta: float, law: BulkLaw) -> None:
        super().__init__(ridge, beta, law.bulk)
        self.law = law
        self._vectors = np.array([law.direction, law.perpendicular, law.correlation])

    def at(self, conjugates: Array) -> ExplicitPoint:
        """(T, tau), K (3 x 3) on (v, delta, theta_perp), and the derivatives of both at the pair (C, D)."""
        C, shift = float(conjugates[0]), self.ridge + float(conjugates[1])
        x = self._solve(C, shift)
        values, overlap = self._explicit(C, shift, x)
        slope = (self._equation(C, shift, x + 1j * _STEP)).imag
        jacobian, slopes = np.empty((2, 2)), np.empty((2, 3, 3))
        for column, direction in enumerate(((1.0, 0.0), (0.0, 1.0))):
            C_moved, D_moved = C + 1j * _STEP * direction[0], shift + 1j * _STEP * direction[1]
            x_slope = -self._equation(C_moved, D_moved, x).imag / slope
            moved, matrix = self._explicit(C_moved, D_moved, x + 1j * _STEP * x_slope)
            jacobian[:, column] = moved.imag / _STEP
            slopes[column] = matrix.imag / _STEP
        return ExplicitPoint(values.real, jacobian, overlap.real, slopes)

    def _mean(self, C: Any, x: Any) -> Any:
        """b at lambda = C x."""
        law = self.law
        return 1.0 + law.omega * law.labels.averages(C * x * law.omega / law.batch_ratio).square

    def _equation(self, C: Any, shift: Any, x: Any) -> Any:
        """D x + (C x b - beta)(1 - C x b), which vanishes at x = lambda/C."""
        filled = C * x * self._mean(C, x)
        return shift * x + (filled - self.beta) * (1.0 - filled)

    def _solve(self, C: float, shift: float) -> float:
        """x = lambda/C in (0, beta/shift], by Newton's method kept inside a shrinking bracket."""
        beta, least = self.beta, min(1.0, self.beta)
        low, high = 0.0, beta / shift
        if C > 0.0:
            # b lies between 1 and c.
            high = min(high, least / (C * min(1.0, self.law.bulk)))
        x, previous = self._isotropic_start(C, shift, high), math.inf
        for _ in range(_MOST_STEPS):
            filled = C * (x * self._mean(C, x))
            if filled >= least:
                # Beyond the root, where the equation has another one.
                high, x = x, 0.5 * (low + x)
                continue
            value = self._equation(C, shift, x)
            if value > 0.0:
                high = min(high, x)
            else:
                low = max(low, x)
            slope = self._equation(C, shift, x + 1j * _STEP).imag / _STEP
            moved = x - value / slope
            if not low < moved < high:
                moved = 0.5 * (low + high)
            size = abs(moved - x) / x
            x = moved
            if size < 4e-16 or (size < 1e-12 and size >= previous):
                break
            previous = size
        return x

    def _isotropic_start(self, C: float, shift: float, high: float) -> float:
        """x for B = c: the root of D x + (C c x - beta)(1 - C c x) below 1 and beta."""
        spread = C * self.law.bulk
        linear = shift + (1.0 + self.beta) * spread
        root = math.sqrt(max(0.0, linear * linear - 4.0 * spread * spread * self.beta))
        return min(2.0 * self.beta / (linear + root), high * (1.0 - 1e-15))

    def _explicit(self, C: Any, shift: Any, x: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """(T, tau) and K once x is known; complex arguments serve the derivatives."""
        law, beta = self.law, self.beta
        scale = law.omega / law.batch_ratio
        lam = C * x
        leverage = lam * scale
        means = law.labels.averages(leverage)
        b = 1.0 + law.omega * means.square
        # Two forms of p, each without cancellation on its side of beta = 1.
        p = shift * x / (beta - lam * b) if beta > 1.0 else 1.0 - lam * b
        tau = x / (p * beta)
        resolvent, filled = self._forms(p, lam, leverage, b, means)
        v, perp, h = self._vectors
        along, both = v @ resolvent @ v, v @ resolvent @ h
        mixed = v @ filled @ perp
        moment = np.empty((3, 3), dtype=np.result_type(resolvent, filled))
        moment[0, 0] = v @ filled @ v / along
        moment[0, 1] = moment[1, 0] = both / along
        moment[0, 2] = moment[2, 0] = mixed / along
        moment[1, 1] = law.norm_variance - lam * (h @ resolvent @ h - both * both / along)
        moment[1, 2] = moment[2, 1] = p * (perp @ resolvent @ h) + lam * mixed * both / along
        moment[2, 2] = p * (perp @ filled @ perp) + lam * mixed * mixed / along
        own = np.array([law.independent[0], law.independent[2], law.independent[1]])
        overlap = beta * tau * (moment + np.outer(own, own))
        return np.array([tau * p * b, tau]), overlap

    def _forms(
        self, p: Any, lam: Any, leverage: Any, b: Any, means: LabelAverages
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """(1 + g B)^-1/p and (1 - (1 + g B)^-1)/(g p) on the basis (theta, n_y, n_y3).

        theta.Q w_f and w_f.Q w_f' of the resolvent Q of A, with E[f u] theta taken off w_f and every factor g that
        would cancel taken out.
        """
        law = self.law
        scale = law.omega / law.batch_ratio
        tilted = 1.0 + law.omega * means.tilted
        height = 1.0 / (p + lam * tilted)
        kind = np.result_type(*(np.asarray(q) for q in (p, lam, leverage, b, means.mixed)))
        resolvent, filled = np.empty((3, 3), dtype=kind), np.empty((3, 3), dtype=kind)
        cross = np.outer(means.mixed, means.mixed)
        resolvent[0, 0] = height
        resolvent[0, 1:] = resolvent[1:, 0] = -height * leverage * means.mixed
        resolvent[1:, 1:] = height * leverage**2 * cross + means.pair / law.batch_ratio
        filled[0, 0] = height * tilted
        filled[0, 1:] = filled[1:, 0] = height * scale * p * means.mixed
        filled[1:, 1:] = (b * law.labels.pair + scale * p * means.pair_square) / law.batch_ratio
        filled[1:, 1:] -= height * leverage * scale * p * cross
        return resolvent, filled


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
