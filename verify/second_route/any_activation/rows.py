"""A network with any activation after its step: the equations of its bulk and readout as they stand, iterated.

Averages are sums over panels that are split at zero, where activations may have a kink. The 2 x 2 blocks are iterated
as matrices, every form of the resolvent is taken with its own blocks, and derivatives are complex steps of the same
iteration; nothing of `numerics` is used, nor of its parametrisation.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from giantsteps.verify.second_route.grids import Array, Curve, erf, expit, normal_line, normal_panels
from giantsteps.verify.second_route.networks.formulas import Step

_SQRT2 = math.sqrt(2.0)
_STILL, _MOST, _TINY = 1e-15, 4000, 1e-30


def _normal(z: Array) -> Any:
    return np.exp(-0.5 * z * z) / math.sqrt(2.0 * math.pi)


# Smooth on either side of zero.
CURVES = {
    "relu": Curve(lambda z: np.maximum(z, 0.0), lambda z: 1.0 * (z > 0.0)),
    "leaky relu": Curve(lambda z: np.where(z > 0.0, z, 0.2 * z), lambda z: np.where(z > 0.0, 1.0, 0.2)),
    "gelu": Curve(
        lambda z: 0.5 * z * (1.0 + erf(z / _SQRT2)), lambda z: 0.5 * (1.0 + erf(z / _SQRT2)) + z * _normal(z)
    ),
    "silu": Curve(lambda z: z * expit(z), lambda z: expit(z) * (1.0 + z * expit(-z))),
    # The logarithm of a sum by NumPy's logaddexp takes three times as long.
    "softplus": Curve(lambda z: np.maximum(z, 0.0) + np.log1p(np.exp(-np.abs(z))), expit),
    "tanh": Curve(np.tanh, lambda z: 1.0 / np.cosh(z) ** 2),
    "sin": Curve(np.sin, np.cos),
    "shifted tanh": Curve(lambda z: np.tanh(z + 0.7), lambda z: 1.0 / np.cosh(z + 0.7) ** 2),
    "shifted sin": Curve(lambda z: np.sin(z + 0.7), lambda z: np.cos(z + 0.7)),
    "leaning tanh": Curve(lambda z: np.tanh(z) + 0.2 * (z * z - 1.0), lambda z: 1.0 / np.cosh(z) ** 2 + 0.4 * z),
    "quadratic": Curve(lambda z: 0.3 + z + 0.5 * z * z, lambda z: 1.0 + z),
}

_EDGE, _PANELS, _ORDER = 11.0, 22, 16
Z, W = normal_panels(np.linspace(-_EDGE, _EDGE, _PANELS + 1), _ORDER)


def mean(values: Any) -> float:
    """E over z on the panels."""
    return float(W @ values)


@dataclass(frozen=True)
class Slope:
    """h0, h1, h2 of sigma and the averages of s = sigma' - h1 - h2 z that the rows' law has, named by their powers."""

    student: str

    @cached_property
    def h(self) -> tuple[float, float, float]:
        """E[sigma], E[sigma'], E[z sigma']."""
        curve = CURVES[self.student]
        prime = curve.prime(Z)
        return mean(curve.value(Z)), mean(prime), mean(Z * prime)

    def average(self, power_of_z: int, power_of_s: int) -> float:
        """E[z^j s^k]."""
        _, h1, h2 = self.h
        return mean(Z**power_of_z * (CURVES[self.student].prime(Z) - h1 - h2 * Z) ** power_of_s)


class Samples:
    """Centred labels Y = y - h0 with u = theta.x on a product grid, and their moments."""

    def __init__(self, step: Step) -> None:
        y = CURVES[step.target].value(Z) - Slope(step.student).h[0]
        u, w = Z, W
        if step.noise:
            e, share = normal_line(0.1)
            y = (y[:, None] + math.sqrt(step.noise) * e).ravel()
            u, w = np.repeat(Z, len(e)), np.outer(W, share).ravel()
        self.y, self.u, self.w = y, u, w

    def mean(self, values: Any) -> Any:
        """E over (Y, u), of arrays whose last axis runs over samples."""
        return values @ self.w


@dataclass(frozen=True, eq=False)
class Rows:
    """The law of bulk rows: nu, omega, c, r, gamma, |w_Y|; h = P w_fP + w_f0 as values f(Y) on the samples; v_c."""

    step: Step
    samples: Samples
    nu: float
    omega: float
    c: float
    spike: float
    gamma: float
    size: float
    through: Array
    added: Array
    variance: float


@lru_cache(maxsize=64)
def rows(step: Step) -> Rows:
    """The law as the theory states it."""
    slope, at = Slope(step.student), Samples(step)
    _, h1, h2 = slope.h
    e, a0, y, u = step.rate, step.alpha0, at.y, at.u
    nu = e * h2
    s2, k2, k3 = slope.average(0, 2), slope.average(2, 1), slope.average(3, 1) - 3 * slope.average(1, 1)
    zs2, s3, zs3 = slope.average(1, 2), slope.average(0, 3), slope.average(1, 3)
    zzs2, s4 = slope.average(2, 2), slope.average(0, 4)
    mu = {k: at.mean(y**k) for k in (1, 2, 3, 4)}
    mean_y = mu[1]
    pi = 1 + nu * (mean_y + y / a0)
    dP = 2 * nu * (1 + nu * mean_y) * y / a0 + nu**2 * y**2 / a0**2
    size = math.sqrt(at.mean(y * u) ** 2 + mu[2] / a0)
    # Moments of M by its free cumulants mu_n/alpha0^(n-1).
    k_2, k_3, k_4 = (mu[n] / a0 ** (n - 1) for n in (2, 3, 4))
    m1, m2 = mean_y, k_2 + mean_y**2
    m3 = k_3 + 3 * k_2 * mean_y + mean_y**3
    m4 = k_4 + 4 * k_3 * mean_y + 2 * k_2**2 + 6 * k_2 * mean_y**2 + mean_y**4
    P2 = 1 + 2 * nu * m1 + nu**2 * m2
    P4 = 1 + 4 * nu * m1 + 6 * nu**2 * m2 + 4 * nu**3 * m3 + nu**4 * m4
    omega = e**2 * s2 / a0
    through = 2 * e * k2 * y * pi + e**2 / a0 * zs2 * y**2
    added = e * k2 * y * dP + 2 * e**2 / a0 * zs2 * y**2 * pi + e**3 / a0**2 * s3 * y**3
    along_pi, along_square = at.mean(y * pi * u), at.mean(y**2 * u)
    variance = (
        2 * (P4 - P2**2)
        + 4 * e * k3 * at.mean(y * pi * dP)
        + 4 * e**2 / a0 * at.mean(y**2 * (pi**2 * zzs2 + nu**2 * mu[2] / a0 * s2))
        + 4 * e**2 * k2**2 * along_pi**2
        + 2 * e**2 / a0 * (zzs2 - s2) * at.mean(y**2 * dP)
        + 4 * e**3 / a0**2 * zs3 * at.mean(y**3 * pi)
        + 4 * e**3 / a0 * k2 * zs2 * along_pi * along_square
        + e**4 * mu[4] * (s4 - s2**2) / a0**3
        + e**4 / a0**2 * zs2**2 * along_square**2
        + 2 * e**4 * mu[2] ** 2 * s2**2 / a0**2
    )
    return Rows(
        step, at, nu, omega, P2 + omega * mu[2], e * h1 * size, at.mean(y * u) / size, size, through, added, variance
    )


@dataclass(frozen=True)
class Forms:
    """What (1 + g B)^-1 does: its trace, and its forms on v, theta_perp and h (3 x 3), beside those vectors' Gram."""

    trace: Any
    forms: Any
    gram: Array


def _inverse(matrices: Any) -> Any:
    """Of 2 x 2 matrices in the last two axes, by their minors."""
    a, b, c, d = (matrices[..., i, j] for i in (0, 1) for j in (0, 1))
    minors = np.stack([np.stack([d, -b], axis=-1), np.stack([-c, a], axis=-1)], axis=-2)
    return minors / (a * d - b * c)[..., None, None]


class Block:
    """The resolvent Z^-1 of the rows' law at g, with Z = Z0 x 1 + (1/n0) sum K(Y) x (x x^T)."""

    def __init__(self, law: Rows, g: Any, start: Any = None, sweeps: int | None = None) -> None:
        self.law, self.g, self.a0 = law, g, law.step.alpha0
        y, root = law.samples.y, np.sqrt(g + 0j)
        K = np.zeros((len(y), 2, 2), dtype=complex)
        K[:, 0, 0] = g * law.omega * y**2
        K[:, 0, 1], K[:, 1, 0] = -root * law.nu * y, root * law.nu * y
        self.K, self.root = K, root
        self.start = np.array([[1.0, -root], [root, 1.0]])
        self.moved = math.inf
        self.G = self._fixed_point(_inverse(self.start) if start is None else start, sweeps)

    def _against(self, G: Any) -> Any:
        """(1 + G K/alpha0)^-1 for every sample."""
        return _inverse(np.eye(2) + G @ self.K / self.a0)

    def _around(self, weights: Array, G: Any) -> Any:
        """(Z0 + E[weight K (1 + G K/alpha0)^-1])^-1."""
        return _inverse(self.start + np.einsum("n,nij->ij", weights, self.K @ self._against(G)))

    def _fixed_point(self, G: Any, sweeps: int | None) -> Any:
        """G, by iterating its equation, a map of matrices of positive real part; or `sweeps` of it."""
        w = self.law.samples.w
        for _ in range(sweeps or _MOST):
            new = self._around(w, G)
            # Averaged steps: the plain ones may circle.
            moved = 0.5 * (G + new)
            self.moved = float(np.max(np.abs((moved - G).real)) / np.max(np.abs(moved)))
            slope = np.max(np.abs((moved - G).imag)) <= 1e-13 * np.max(np.abs(moved.imag)) + 1e-300
            G = moved
            if self.moved < _STILL and slope:
                return G
        if sweeps is not None:
            return G
        raise ArithmeticError("the blocks of the resolvent did not come to rest")

    def forms(self) -> Forms:
        """On v, theta_perp and h, each a multiple of theta and vectors w_f."""
        law, at = self.law, self.law.samples
        left = self._against(self.G)
        right = _inverse(np.eye(2) + self.K @ self.G / self.a0)
        along = self._around(at.w * at.u**2, self.G)
        y, zero, across = at.y, np.zeros_like(at.y), math.sqrt(1 - law.gamma**2)
        first, second = np.array([1.0, 0.0]), np.array([0.0, 1.0])
        # (a, f): theta x a + w_f, with P absorbed by the second block, R_12 = sqrt(g) H1 P.
        v = (0 * first, np.array([y / law.size, zero]))
        perp = (first / across, np.array([-law.gamma * y / law.size / across, zero]))
        plain_h = (0 * first, np.array([law.added, zero]))
        turned_h = (0 * second, np.array([zero, law.through]))

        def form(x: tuple[Array, Array], x_: tuple[Array, Array]) -> Any:
            (a, f), (b, f_) = x, x_
            before = a + np.einsum("in,nij,n->j", f, left, at.w * at.u)
            after = b + np.einsum("nij,jn,n->i", right, f_, at.w * at.u)
            own = np.einsum("in,nij,jn,n->", f, self.G @ right, f_, at.w) / self.a0
            return before @ along @ after + own

        def product(x: tuple[Array, Array], x_: tuple[Array, Array], i: int) -> float:
            (a, f), (b, f_) = x, x_
            one, other = a[i] + at.mean(f[i] * at.u), b[i] + at.mean(f_[i] * at.u)
            return float(one * other + at.mean(f[i] * f_[i]) / self.a0)

        g, pairs = self.g, (v, perp)
        found = np.zeros((3, 3), dtype=complex)
        gram = np.zeros((2, 2))
        for i, x in enumerate(pairs):
            for k, x_ in enumerate(pairs):
                found[i, k], gram[i, k] = form(x, x_), product(x, x_, 0)
            found[i, 2] = found[2, i] = form(x, plain_h) + form(x, turned_h) / self.root
        left_over = (product(turned_h, turned_h, 1) - form(turned_h, turned_h)) / g
        found[2, 2] = form(plain_h, plain_h) + 2 * form(plain_h, turned_h) / self.root + left_over
        return Forms(self.G[0, 0], found, gram)


def tau_at(law: Rows, C: float, shift: float) -> float:
    """tau of real arguments: tau (D + (C/g)(1 - (1/d) tr (1 + gB)^-1)) = 1, iterated together with the blocks."""
    beta, tau = law.step.beta, 1.0 / shift
    G: Any = None
    for _ in range(_MOST):
        block = Block(law, C * beta * tau, G, sweeps=1)
        new = 1.0 / (shift + (1.0 - float(block.G[0, 0].real)) / (beta * tau))
        still = abs(new - tau) < _STILL * tau and block.moved < _STILL
        tau, G = 0.5 * (tau + new), block.G
        if still:
            return tau
    raise ArithmeticError("tau and the blocks of the resolvent did not come to rest")


def overlaps(law: Rows, C: Any, shift: Any, tau: Any) -> Any:
    """K on (v, delta, theta_perp) where tau is known."""
    g = C * law.step.beta * tau
    block = Block(law, g).forms()
    H, order = block.forms, (0, 2, 1)
    R = np.empty((3, 3), dtype=complex)
    for i, x in enumerate(order):
        for k, x_ in enumerate(order):
            if 2 in (x, x_):
                R[i, k] = H[x, x_] if x != x_ else law.variance - g * H[2, 2]
            else:
                R[i, k] = (block.gram[x, x_] - H[x, x_]) / g
    seen = R + g * np.outer(R[0], R[0]) / (1 - g * R[0, 0])
    return law.step.beta * tau * seen


@dataclass(frozen=True)
class At:
    """T, tau and K at a pair (C, D), with their derivatives in C and in D, (2,), (2,), (2, 3, 3)."""

    T: float
    tau: float
    K: Array
    dT: Array
    dtau: Array
    dK: Array


def equivalent(law: Rows, C: float, shift: float, tau: float | None = None) -> At:
    """tau by bisection where it is not known, derivatives by complex steps through the implicit equation."""
    beta = law.step.beta
    tau = tau_at(law, C, shift) if tau is None else tau

    def gap(C: Any, shift: Any, tau: Any) -> Any:
        return tau * shift + (1 - Block(law, C * beta * tau).G[0, 0]) / beta - 1

    step = 1j * _TINY
    slope = gap(C, shift, tau + step).imag
    found = []
    for dC, dD in ((1.0, 0.0), (0.0, 1.0)):
        moved_C, moved_D = C + step * dC, shift + step * dD
        moved = tau - step * gap(moved_C, moved_D, tau).imag / slope
        T = (1 - moved_D * moved) / moved_C
        found.append((T.imag / _TINY, moved.imag / _TINY, overlaps(law, moved_C, moved_D, moved).imag / _TINY))
    dT, dtau, dK = (np.array(x) for x in zip(*found, strict=True))
    return At((1 - shift * tau) / C, tau, overlaps(law, C, shift, tau).real, dT, dtau, dK)
