"""The saddle point of a convex loss once more, plainly: every average a sum over a grid in kappa, z and xi.

One isotropic group. Nothing of `numerics` is used: features are integrals of the activation, the proximal operator of
the logistic loss is found inside a bracket, the line of xi is split where a force has kinks, and the traces of
resolvents are sums over the Marchenko-Pastur law. The equations, with S = ridge + D + C A and A = W W^T, are

    V1 = tr A S^-1, V2 = tr S^-1, q1 = tr A (C_hat A + D_hat + beta c z^2 + beta p^2 A) S^-2, q2 the same without A,
    zeta = beta c V2 z, psi = beta V1 p, 0 = E[mu0 f]

(tr is the mean over eigenvalues; z and p are the hatted overlaps).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.special import erf, expit

Array = np.ndarray
Function = Callable[[Array], Array]

FUNCTIONS: dict[str, tuple[Function, tuple[float, ...]]] = {
    "tanh": (np.tanh, ()),
    "erf": (erf, ()),
    "sin": (np.sin, ()),
    "sigmoid": (expit, ()),
    "relu": (lambda x: np.maximum(x, 0.0), (0.0,)),
    "leaky_relu(z,1/10)": (lambda x: np.where(x > 0.0, x, 0.1 * x), (0.0,)),
    "hardtanh": (lambda x: np.clip(x, -1.0, 1.0), (-1.0, 1.0)),
    "softplus": (lambda x: np.logaddexp(0.0, x), ()),
    "he2": (lambda x: x**2 - 1.0, ()),
    "he3": (lambda x: x**3 - 3.0 * x, ()),
    "sign": (np.sign, (0.0,)),
}
# Where the signs of targets change.
SIGN_CHANGES = {"he2": (-1.0, 1.0), "he3": (-math.sqrt(3.0), 0.0, math.sqrt(3.0)), "sigmoid": (), "softplus": ()}


@dataclass(frozen=True)
class Case:
    """One problem; loss is logistic, hinge, absolute or huber:DELTA."""

    student: str
    target: str
    loss: str
    alpha: float
    beta: float
    ridge: float
    noise: float
    spike: float
    bulk: float
    alignment: float

    @property
    def margin(self) -> bool:
        """Whether labels are signs."""
        return self.loss in ("logistic", "hinge")


def legendre(edges: Array, order: int) -> tuple[Array, Array]:
    """Gauss and Legendre's nodes and weights between edges (..., e), flattened to (..., (e - 1) order)."""
    x, w = np.polynomial.legendre.leggauss(order)
    left, half = edges[..., :-1, None], 0.5 * np.diff(edges, axis=-1)[..., None]
    shape = (*edges.shape[:-1], -1)
    return (left + half * (1.0 + x)).reshape(shape), (half * w).reshape(shape)


def bell(x: Array) -> Array:
    """The standard normal density."""
    return np.asarray(np.exp(-0.5 * np.square(x)) / math.sqrt(2.0 * math.pi))


def features(name: str, spike: float, bulk: float, kappa: Array) -> tuple[Array, Array, Array]:
    """mu0, mu1 and mu2^2."""
    function, kinks = FUNCTIONS[name]
    even = np.linspace(-10.0, 10.0, 41)
    places = (np.array(kinks)[None, :] - spike * kappa[:, None]) / math.sqrt(bulk)
    edges = np.sort(np.clip(np.concatenate([np.tile(even, (len(kappa), 1)), places], axis=1), -10.0, 10.0), axis=1)
    z, w = legendre(edges, 12)
    w = w * bell(z)
    values = function(spike * kappa[:, None] + math.sqrt(bulk) * z)
    mean, slope = np.sum(w * values, axis=1), np.sum(w * z * values, axis=1)
    rest = np.sum(w * (values - mean[:, None] - slope[:, None] * z) ** 2, axis=1)
    return mean, slope / math.sqrt(bulk), rest


def marchenko_pastur(beta: float, bulk: float) -> tuple[Array, Array]:
    """Eigenvalues of W W^T and their shares, as a sum over an angle; zero eigenvalues where beta > 1."""
    theta = np.pi * (np.arange(4000) + 0.5) / 4000
    x = bulk * (1.0 + beta + 2.0 * math.sqrt(beta) * np.cos(theta))
    share = 2.0 * bulk * np.sin(theta) ** 2 / x / 4000
    return np.append(x, 0.0), np.append(share, 1.0 - np.sum(share))


class Grid:
    """The three lines of a case, at a number of panels and an order."""

    def __init__(self, case: Case, panels: int, order: int) -> None:
        self.case, self.order = case, order
        scale = math.sqrt(1.0 - case.alignment**2)
        function, jumps = FUNCTIONS[case.target]
        if case.margin:
            jumps = SIGN_CHANGES.get(case.target, (0.0,))
        # Labels change along the spike at these places, the faster the nearer the alignment is to 1.
        ends = np.array(jumps) / case.alignment if case.alignment != 0.0 else np.zeros(0)
        even = np.linspace(-9.0, 9.0, 2 * panels + 1)
        self.kappa, w = legendre(np.sort(np.append(even, np.clip(ends, -9.0, 9.0))), order)
        self.weight = w * bell(self.kappa)
        self.mu = features(case.student, case.spike, case.bulk, self.kappa)
        place = case.alignment * self.kappa[:, None]
        if scale == 0.0:
            self.z, self.z_weight = np.zeros((len(place), 1)), np.ones((len(place), 1))
        else:
            even = np.tile(np.linspace(-9.0, 9.0, 2 * panels + 1), (len(place), 1))
            ends = np.sort(
                np.clip(np.concatenate([even, (np.array(jumps) - place) / scale], axis=1), -9.0, 9.0), axis=1
            )
            self.z, w = legendre(ends, order)
            self.z_weight = w * bell(self.z)
        self.y = function(place + scale * self.z)
        if case.margin:
            self.y = np.sign(self.y)
        self.blind = scale == 0.0

    def forces(self, mean: Array, deviation: Array, V: Array, y: Array) -> tuple[Array, Array, Array, Array]:
        """E f, E -f', E f^2 and E l(y, omega) over omega ~ N(mean, deviation^2), arrays (N,)."""
        case = self.case
        if case.loss == "logistic":
            kinks = np.zeros((len(mean), 0))
        elif case.loss == "hinge":
            kinks = np.stack([y, y * (1.0 - V)], axis=1)
        elif case.loss == "absolute":
            kinks = np.stack([y - V, y + V, y], axis=1)
        else:
            delta = float(case.loss.split(":")[1])
            kinks = np.stack([y - delta * (1.0 + V), y + delta * (1.0 + V), y - delta, y + delta], axis=1)
        places = np.clip((kinks - mean[:, None]) / deviation[:, None], -8.5, 8.5)
        even = np.tile(np.linspace(-8.5, 8.5, 8 if case.loss != "logistic" else 16), (len(mean), 1))
        xi, w = legendre(np.sort(np.concatenate([even, places], axis=1), axis=1), self.order)
        w = w * bell(xi)
        omega = mean[:, None] + deviation[:, None] * xi
        f, slope, loss = force(case.loss, y[:, None], omega, V[:, None])
        return np.sum(w * f, 1), np.sum(w * slope, 1), np.sum(w * f * f, 1), np.sum(w * loss, 1)

    def map(self, x: Array) -> tuple[Array, float]:
        """What the unknowns (m, zeta, psi, q1, q2, V1, V2) should be given themselves, less them; and the test loss."""
        case, (zero, one, two) = self.case, self.mu
        m, zeta, psi, q1, q2, V1, V2 = x
        beta, c, ratio = case.beta, case.bulk, case.alpha / case.beta
        V = np.maximum(one**2 * V1 + two * V2, 1e-290)
        across = 0.0 * one if self.blind else one * psi
        spread = one**2 * q1 + two * q2 - across**2 + (0.0 if case.margin else case.noise)
        kept = self.weight[:, None] * self.z_weight > 1e-15
        row = np.nonzero(kept)[0]
        z, y, w = self.z[kept], self.y[kept], self.z_weight[kept]
        mean = (zero * m + self.kappa * one * zeta)[row] + across[row] * z
        deviation = np.sqrt(np.maximum(spread, 1e-300))[row]
        flip = 0.5 * math.erfc(1.0 / math.sqrt(2.0 * case.noise)) if case.margin and case.noise > 0.0 else 0.0
        sums = np.zeros((5, len(zero)))
        for sign, share in ((1.0, 1.0 - flip), (-1.0, flip)):
            if share == 0.0:
                continue
            rows = [slice(i, i + 20_000) for i in range(0, len(row), 20_000)]
            pieces = [self.forces(mean[i], deviation[i], V[row][i], sign * y[i]) for i in rows]
            parts = [np.concatenate(some) for some in zip(*pieces, strict=True)]
            for k, part in enumerate([*parts, z * parts[0]]):
                sums[k] += np.bincount(row, share * w * part, minlength=len(zero))
        f, pull, square, loss, tilted = sums
        weight = self.weight
        C, D = ratio * weight @ (one**2 * pull), ratio * weight @ (two * pull)
        C_hat, D_hat = ratio * weight @ (one**2 * square), ratio * weight @ (two * square)
        zeta_hat = ratio * weight @ (self.kappa * one * f)
        psi_hat = 0.0 if self.blind else ratio * weight @ (one * (tilted + across * pull))
        A, share = marchenko_pastur(beta, c)
        S = case.ridge + D + C * A
        drive = C_hat * A + D_hat + beta * c * zeta_hat**2 + beta * psi_hat**2 * A
        # The mean has no equation for itself: a step of Newton's method, or none where the activation has no mean.
        slope = weight @ (zero**2 * pull)
        moved = (weight @ (zero * f)) / slope if slope > 1e-20 else -m
        after = [
            m + moved, beta * c * zeta_hat * (share @ (1.0 / S)), beta * psi_hat * (share @ (A / S)),
            share @ (drive * A / S**2), share @ (drive / S**2), share @ (A / S), share @ (1.0 / S),
        ]  # fmt: skip
        return np.array(after) - x, float(weight @ loss)


def force(loss: str, y: Array, omega: Array, V: Array) -> tuple[Array, Array, Array]:
    """f = (prox - omega)/V, -df/domega and l(y, omega)."""
    if loss == "logistic":
        low, high = y * omega, y * omega + V
        for _ in range(14):
            middle = 0.5 * (low + high)
            above = middle - y * omega > V * expit(-middle)
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        for _ in range(12):
            # Newton's method from either end of the bracket: the equation bends one way on each side of 0.
            s = expit(-middle)
            gap = middle - y * omega - V * s
            middle = np.clip(middle - gap / (1.0 + V * s * (1.0 - s)), low, high)
            if np.max(np.abs(gap) / (1.0 + V * s * (1.0 - s) + np.abs(middle))) < 1e-15:
                break
        s = expit(-middle)
        return y * s, s * (1 - s) / (1 + V * s * (1 - s)), np.logaddexp(0.0, -y * omega)
    if loss == "hinge":
        r = 1.0 - y * omega
        inside = (r > 0.0) & (r < V)
        return (
            y * np.where(inside, r / V, np.where(r >= V, 1.0, 0.0)),
            np.where(inside, 1.0 / V, 0.0),
            np.maximum(r, 0.0),
        )
    r = y - omega
    if loss == "absolute":
        inside = np.abs(r) < V
        return np.where(inside, r / V, np.sign(r)), np.where(inside, 1.0 / V, 0.0), np.abs(r)
    delta = float(loss.split(":")[1])
    inside = np.abs(r) < delta * (1.0 + V)
    value = np.where(np.abs(r) < delta, 0.5 * r * r, delta * np.abs(r) - 0.5 * delta**2)
    return np.where(inside, r / (1.0 + V), delta * np.sign(r)), np.where(inside, 1.0 / (1.0 + V), 0.0), value


def solve(case: Case, start: Array, grids: int = 4) -> tuple[Array, float, float]:
    """Unknowns (m, zeta, psi, q1, q2, V1, V2), test loss, and how far a coarser grid is from them.

    Up to so many grids, until one moves nothing by 1e-6.

    Newton's method from `start`, with a Jacobian by differences on a coarse grid, or on the grid itself where that one
    leads nowhere. The equations have one solution, so that it does not matter where the search begins; beside the
    solution it ends soon. Raises ArithmeticError where it does not end.
    """
    x = start.copy()
    rough = Grid(case, 3, 8)
    inverse = np.eye(7)
    for _ in range(2):
        inverse = inverse_jacobian(rough, x)
        x = x - inverse @ rough.map(x)[0]
    before, error = np.full(8, math.inf), math.inf
    for away, (panels, order) in enumerate(((5, 8), (7, 10), (12, 12), (20, 14))[:grids], start=1):
        grid = Grid(case, panels, order)
        # From some per cent away, to either side: an agreement with the coarser grid is not the start's. Where the
        # outputs on a grid hardly scatter, the forces of a loss with kinks are sums of signs, and zero at many m.
        x = (1.0 + 0.01 * away * (-1.0) ** away) * x
        for step in range(24):
            if step in (8, 16):
                inverse = inverse_jacobian(grid, x)
            gap, test = grid.map(x)
            x = x - inverse @ gap
            if np.max(np.abs(inverse @ gap) / (1.0 + np.abs(x))) < 1e-11:
                break
        else:
            raise ArithmeticError(f"Newton's method does not end on this grid: {case}")
        now = np.append(x, test)
        error, before = float(np.max(np.abs(now - before) / (1.0 + np.abs(now)))), now
        if error < 1e-6:
            break
    return x, test, error


def inverse_jacobian(grid: Grid, x: Array) -> Array:
    """Of the map's gaps, by differences."""
    base = grid.map(x)[0]
    steps = 1e-6 * (1e-3 + np.abs(x))
    columns = [(grid.map(x + step * np.eye(7)[i])[0] - base) / step for i, step in enumerate(steps)]
    inverse: Array = np.linalg.inv(np.array(columns).T)
    return inverse
