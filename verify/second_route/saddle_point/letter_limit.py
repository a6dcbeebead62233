"""Numbers for the limit of many letters: contour integrals, Mellin transforms by sums, and a solver of its own.

Nothing here is shared with the derivations or with `numerics.saddle_point.letters.many_letters`: averages are sums over
fixed grids, and the saddle point is iterated with matrices over the letters (theory of Appendix D), its derivatives by
complex steps.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from onestep.derivations.activations.activation import activation
from onestep.derivations.language import symbols as s
from onestep.derivations.saddle_point.many_letters import (
    coefficients,
    exponent,
    fluctuation,
    met,
    of_activation,
    of_letters,
    of_weight,
    of_weight_at_s,
    unexplained,
)
from onestep.numerics.models.model import Model
from onestep.numerics.models.readout_law import ReadoutLaw
from onestep.numerics.saddle_point.solve import solve
from onestep.verify.protocol.claim import Domain, Range
from onestep.verify.second_route.grids import normal_line
from onestep.verify.second_route.models import Point

Array = NDArray[Any]


def _erf(x: Array) -> Array:
    from scipy.special import erf

    return np.asarray(erf(x))


# ---- coefficients of a mean in its letter ----

ANALYTIC: Mapping[str, Callable[[Array], Array]] = {
    "tanh": np.tanh,
    "sin": np.sin,
    "erf": _erf,
    "shifted tanh": lambda x: np.tanh(x + 0.5),
}
TAYLOR = Domain(
    (
        Range("activation", choices=tuple(ANALYTIC)),
        Range(s.r, 0.3, 1.5),
        Range(s.c, 1.0, 1.5),
        Range(s.kappa, -1.5, 1.5),
    )
)
# The letters of the contour. The argument stays within 0.75 of the real line, and tanh has its poles at pi/2.
_RADIUS, _ON_CIRCLE = 0.25, 32


def taylor(point: Point) -> Mapping[str, float]:
    """[u^n] mu0_u by a contour integral over complex letters, and E[He_n sigma]."""
    sigma = ANALYTIC[str(point["activation"])]
    r, c, kappa = (float(point[x.name]) for x in (s.r, s.c, s.kappa))
    z, weights = normal_line(1 / 32, 9.0)
    circle = np.exp(2j * np.pi * np.arange(_ON_CIRCLE) / _ON_CIRCLE)
    u = _RADIUS * circle[:, None]
    means = sigma(u * r * kappa + np.sqrt(1 + u**2 * (c - 1)) * z) @ weights
    found = {
        symbol.name: float((means @ circle**-n).real) / _ON_CIRCLE / _RADIUS**n for n, symbol in enumerate(coefficients)
    }
    hermite = (np.ones_like(z), z, z**2 - 1, z**3 - 3 * z, z**4 - 6 * z**2 + 3)
    on_line = weights * sigma(z)
    return found | {name.name: float(he @ on_line) for name, he in zip(s.hermite_moments, hermite, strict=True)}


# ---- the Mellin transform in the letter ----

# Odd functions of kappa in the place of what the means are asked to fit.
ODD: Mapping[str, Callable[[Array], Array]] = {
    "tanh": np.tanh,
    "sin(2 kappa)": lambda x: np.sin(2 * x),
    "kappa": lambda x: x,
    "kappa^3 - 4 kappa": lambda x: x**3 - 4 * x,
}
MELLIN = Domain(
    (
        Range("function", choices=tuple(ODD)),
        Range(s.r, 0.5, 1.5),
        Range(s.c, 1.3, 2.5),
        Range(exponent, -0.7, -0.3),
    )
)
# log u, log x and log y: the integrands fall like exp(-0.3 |t|) at the worst.
_LOGS = np.arange(-110.0, 110.0, 0.05)


def mellin(point: Point) -> Mapping[str, float]:
    """All transforms for an erf student: F from kappa and z, g from z, K from the joint law of kappa and y."""
    f = ODD[str(point["function"])]
    r, c, at = (float(point[x.name]) for x in (s.r, s.c, exponent))
    kappa, weights = normal_line(1 / 32, 9.0)
    target = weights * f(kappa)
    letters = np.exp(_LOGS)
    # E_z erf(a + sqrt(v) z) = erf(a/sqrt(1 + 2v)): a and v over u^2 where u is large.
    scale = np.where(letters > 1.0, letters, 1.0)
    variance = (1.0 + 2.0 * (1.0 + np.minimum(letters, 1e100) ** 2 * (c - 1.0))) / scale**2
    means = _erf((letters / scale / np.sqrt(variance))[:, None] * r * kappa)
    own = _erf(letters / np.sqrt(3.0))
    y = letters
    spread = np.sqrt(c - 1.0)
    inside = y < 40.0
    density = np.zeros_like(y)
    density[inside] = (
        np.exp(-0.5 * ((y[inside, None] - r * kappa) / spread) ** 2) @ target / np.sqrt(2 * np.pi) / spread
    )
    step = _LOGS[1] - _LOGS[0]
    return {
        of_letters.name: float(step * letters**at @ (means @ target)),
        of_activation.name: float(step * letters**at @ own),
        of_weight.name: float(step * y ** (1 - at) @ density),
        of_weight_at_s.name: float(step * y ** (1 + at) @ density),
    }


# ---- the limit itself ----

STUDENTS: Mapping[str, Callable[[Array], Array]] = {"tanh(z)": np.tanh, "erf(z)": _erf, "sin(z)": np.sin}
TARGETS: Mapping[str, Callable[[Array], Array]] = {
    "tanh(z)": np.tanh,
    "sin(2*z)": lambda x: np.sin(2 * x),
    "erf(z+1/2)": lambda x: _erf(x + 0.5),
}
LIMIT = Domain(
    (
        Range("activation", choices=tuple(STUDENTS)),
        Range("target", choices=tuple(TARGETS)),
        Range(s.alpha, 0.5, 3.0, log=True),
        Range(s.beta, 0.5, 2.0, log=True),
        Range(s.ridge, 0.1, 1.0, log=True),
        Range(s.noise, 0.0, 0.3),
        Range(s.r, 0.4, 1.2),
        Range(s.c, 1.0, 1.4),
        Range(s.gamma, 0.1, 0.95),
        Range("scale", 0.5, 1.0),
    )
)
# Positive nodes of a Gauss rule for the uniform law: 1e-11 at these scales of letters.
_LETTERS = 8


@dataclass(frozen=True)
class _Functions:
    pi: Array
    c: Array
    weights: Array
    mu1: Array
    mu2_squared: Array
    y0: Array
    y1: Array
    y2: Array


def _functions(point: Point) -> _Functions:
    """Everything by sums over z, on a grid in kappa; the target without noise."""
    sigma, g = STUDENTS[str(point["activation"])], TARGETS[str(point["target"])]
    r, c, gamma, scale = (float(point[x]) for x in (s.r.name, s.c.name, s.gamma.name, "scale"))
    kappa, weights = normal_line(1 / 10, 8.5)
    z, density = normal_line(1 / 16, 9.0)
    nodes, shares = np.polynomial.legendre.leggauss(2 * _LETTERS)
    u, pi = scale * nodes[_LETTERS:], shares[_LETTERS:]
    variances = 1 + u**2 * (c - 1)
    mu1, mu2_squared = [], []
    for letter, variance in zip(u, variances, strict=True):
        values = sigma(letter * r * kappa[:, None] + np.sqrt(variance) * z)
        mean, slope = values @ density, values @ (z * density)
        mu1.append(slope / np.sqrt(variance))
        mu2_squared.append((values - mean[:, None] - slope[:, None] * z) ** 2 @ density)
    labels = g(gamma * kappa[:, None] + np.sqrt(1 - gamma**2) * z)
    y0, y1, y2 = labels @ density, labels @ (z * density), labels**2 @ density
    # Odd students: the means are odd, and reproduce the odd part of y0 only.
    y0 = (y0 - y0[::-1]) / 2
    return _Functions(pi / pi.sum(), variances, weights, np.array(mu1), np.array(mu2_squared), y0, y1, y2)


def _traces(C: Array, D: Array, ridge: float, beta: float, pi: Array, c: Array, start: Array) -> tuple[Array, Array]:
    """(T, tau): tau = pi/(ridge + D + c [C (1 + Theta C)^-1]_aa), T = (1/beta) Theta (1 + C Theta)^-1; iterated."""
    tau, one = start, np.eye(len(pi))
    for _ in range(2000):
        theta = np.diag(c * beta * tau)
        new = pi / (ridge + D + c * np.diag(C @ np.linalg.inv(one + theta @ C)))
        # The imaginary part of a complex step has to settle on its own scale.
        parts = [(np.real(new), np.real(tau)), (np.imag(new), np.imag(tau))]
        moved, tau = max(np.max(np.abs(x - y)) / max(np.max(np.abs(x)), 1e-300) for x, y in parts), new
        if moved < 1e-14:
            break
    theta = np.diag(c * beta * tau)
    return theta @ np.linalg.inv(one + C @ theta) / beta, tau


def limit(point: Point) -> Mapping[str, float]:
    """The solver's test error for the density, and the three averages by matrices over eight letters."""
    return _limit(tuple(point[x.name] for x in LIMIT.ranges))


@lru_cache(maxsize=512)
def _limit(key: tuple[float | str, ...]) -> Mapping[str, float]:
    point: Point = dict(zip((x.name for x in LIMIT.ranges), key, strict=True))
    alpha, beta, ridge, noise = (float(point[x.name]) for x in (s.alpha, s.beta, s.ridge, s.noise))
    f = _functions(point)
    ratio, k = alpha / beta, len(f.pi)

    def averaged(values: Array) -> tuple[Array, Array]:
        """(alpha/beta) E of values times mu1 mu1 and mu2^2."""
        w = ratio * f.weights * values
        return (f.mu1 * w) @ f.mu1.T, f.mu2_squared @ w

    def along(matrix: Array, vector: Array) -> Array:
        """sum mu1 mu1 matrix + sum mu2^2 vector on the grid."""
        return np.asarray(np.einsum("ai,ab,bi->i", f.mu1, matrix, f.mu1) + vector @ f.mu2_squared)

    T, tau = np.diag(f.c * f.pi) / ridge, f.pi / ridge
    for _ in range(3000):
        C, D = averaged(1 / (1 + along(T, tau)))
        new_T, new_tau = _traces(C, D, ridge, beta, f.pi, f.c, tau)
        moved = np.max(np.abs(new_tau - tau) / tau) + np.max(np.abs(new_T - T)) / np.max(T)
        T, tau = new_T, new_tau
        if moved < 1e-14:
            break
    inverse = 1 / (1 + along(T, tau))
    force = f.mu1 @ (f.weights * inverse * f.y1)
    psi = alpha * T @ force
    tiny = 1e-30

    def moved_by(dC: Array, dD: Array) -> tuple[Array, Array]:
        turned = _traces(C + 1j * tiny * dC, D + 1j * tiny * dD, ridge, beta, f.pi, f.c, tau.astype(complex))
        return turned[0].imag / tiny, turned[1].imag / tiny

    def signal(dC: Array, dD: Array) -> float:
        return float(ratio**2 * beta * force @ moved_by(dC, dD)[0] @ force)

    unit = np.eye(k)
    s_matrix = np.array([[signal((np.outer(a, b) + np.outer(b, a)) / 2, np.zeros(k)) for a in unit] for b in unit])
    s_vector = np.array([signal(np.zeros((k, k)), a) for a in unit])
    # E[y0 - yhat] = 0: the rest of e2 at q = 0, with label noise.
    across = psi @ f.mu1
    rest = f.y2 + noise - f.y0**2 - 2 * f.y1 * across
    q = np.zeros_like(rest)
    for _ in range(3000):
        dT, dtau = moved_by(*averaged(inverse**2 * (rest + q)))
        new = along(-dT - s_matrix, -dtau - s_vector)
        change, q = np.max(np.abs(new - q)) / np.max(np.abs(new)), new
        if change < 1e-13:
            break
    model = Model(
        activation(str(point["activation"])), activation(str(point["target"])), alpha=alpha, beta=beta, ridge=ridge,
        noise=noise, spike=float(point[s.r.name]), bulk=float(point[s.c.name]), alignment=float(point[s.gamma.name]),
    )  # fmt: skip
    solved = solve(replace(model, readout=ReadoutLaw("uniform", float(point["scale"]))))
    return {
        s.test_error.name: solved.test_error if solved.converged else float("nan"),
        unexplained.name: float(f.weights @ (f.y2 - f.y0**2)),
        met.name: float(f.weights @ (f.y1 * across)),
        fluctuation.name: float(f.weights @ q),
    }
