"""The ridge saddle point of one group in extended precision, sharing nothing with `numerics` (for tests only).

The equations of the paper as `tests/references/ridge.py` has them, reduced by hand to V1 and V2, in the 64-bit mantissa
of `numpy.longdouble`. All averages are Gauss-Legendre sums on panels: across the spike on panels that end at kinks and
follow steps, along it on panels that are bisected until every integrand of the equations is a polynomial on each.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

Array = np.ndarray
Long = np.longdouble

ORDER = 16
# The Gaussian weight there is 1e-43 along the spike and 1e-37 across it.
ALONG, ACROSS = 14.0, 13.0
# Legendre coefficients of the last orders, times the weight of their panel, beside the whole integral.
RESOLVED = 1e-16
MOST_PANELS = 6000


@dataclass(frozen=True)
class Function:
    """values in extended precision; kinks and jumps; whether it has a step of width 1 at 0; whether it is sin."""

    values: Callable[[Array], Array]
    kinks: tuple[float, ...] = ()
    step: bool = False
    oscillates: bool = False


FUNCTIONS = {
    "tanh": Function(np.tanh, step=True),
    "sin": Function(np.sin, oscillates=True),
    "relu": Function(lambda x: np.maximum(x, 0), (0.0,)),
    "hardtanh": Function(lambda x: np.clip(x, -1, 1), (-1.0, 1.0)),
    "sign": Function(np.sign, (0.0,)),
    "abs(z)": Function(np.abs, (0.0,)),
    "z**3-3*z": Function(lambda x: x**3 - 3 * x),
    "z": Function(lambda x: x),
    "z**2-1": Function(lambda x: x * x - 1),
    "tanh(z)+z**2/10": Function(lambda x: np.tanh(x) + x * x / 10, step=True),
    "Max(z-1/2,0)": Function(lambda x: np.maximum(x - Long(0.5), 0), (0.5,)),
}


class Moments(NamedTuple):
    """E f, E[z f] and what they leave of E f^2, at f(place + scale z)."""

    mean: Array
    slope: Array
    rest: Array


def legendre(order: int) -> tuple[Array, Array]:
    """The Gauss-Legendre rule on [-1, 1]: the nodes in double precision, polished."""
    x = np.polynomial.legendre.leggauss(order)[0].astype(Long)
    for _ in range(3):
        before, here = np.ones_like(x), x
        for n in range(1, order):
            before, here = here, ((2 * n + 1) * x * here - n * before) / (n + 1)
        slope = order * (x * here - before) / (x * x - 1)
        x = x - here / slope
    return x, 2 / ((1 - x * x) * slope**2)


NODES, WEIGHTS = legendre(ORDER)
# Legendre coefficients of the two highest orders from the values at the nodes.
_HIGHEST = (np.polynomial.legendre.legvander(NODES, ORDER - 1)[:, -2:] * WEIGHTS[:, None]) * (
    np.array([ORDER - 2, ORDER - 1], dtype=Long) + 0.5
)


def normal(x: Array) -> Array:
    return np.exp(-x * x / 2) / np.sqrt(2 * np.pi * np.ones(1, Long))


def composite(edges: Array) -> tuple[Array, Array]:
    """Nodes and Gaussian weights between edges (..., panels + 1)."""
    half = (np.diff(edges, axis=-1) / 2)[..., None]
    nodes = (edges[..., :-1, None] + half * (1 + NODES)).reshape(*edges.shape[:-1], -1)
    return nodes, (half * WEIGHTS).reshape(nodes.shape) * normal(nodes)


def moments(function: Function, place: Array, scale: float) -> Moments:
    if scale == 0.0:
        values = function.values(place)
        return Moments(values, 0 * values, 0 * values)
    if function.oscillates and scale > 2.0:
        # E sin(a + s z) = sin a e^{-s^2/2}, E z sin = s cos a e^{-s^2/2}, E sin^2 = (1 - cos(2a) e^{-2 s^2})/2.
        shrunk = np.exp(-(Long(scale) ** 2) / 2)
        mean, slope = np.sin(place) * shrunk, scale * np.cos(place) * shrunk
        return Moments(mean, slope, (1 - np.cos(2 * place) * shrunk**4) / 2 - mean**2 - slope**2)
    parts = [_moments(function, place[i : i + 128], Long(scale)) for i in range(0, len(place), 128)]
    return Moments(*(np.concatenate(part) for part in zip(*parts, strict=True)))


def _moments(function: Function, place: Array, scale: Long) -> Moments:
    base = np.arange(-ACROSS, ACROSS + 0.5, 1.0).astype(Long)
    followed = np.array(function.kinks, dtype=Long)
    if function.step and scale > 1.5:
        followed = np.concatenate([followed, np.arange(-24.0, 24.1, 1.5).astype(Long)])
    crossings = np.clip((followed - place[:, None]) / scale, -ACROSS, ACROSS)
    edges = np.sort(np.concatenate([np.broadcast_to(base, (len(place), len(base))), crossings], axis=1), axis=1)
    z, w = composite(edges)
    # Beside the value at the place itself, so that what saturates keeps the digits of its tails.
    own = function.values(place)
    values = function.values(place[:, None] + scale * z) - own[:, None]
    mean, slope = np.sum(w * values, axis=1), np.sum(w * z * values, axis=1)
    return Moments(own + mean, slope, np.sum(w * (values - mean[:, None] - slope[:, None] * z) ** 2, axis=1))


class Table(NamedTuple):
    """Everything that depends on kappa, at the nodes of one panel after another."""

    kappa: Array
    weight: Array
    mu0: Array
    mu1: Array
    mu2: Array
    y0: Array
    y1: Array
    spread: Array


@dataclass(frozen=True)
class Problem:
    """One group, isotropic: the names of the functions and the parameters of the model."""

    student: str
    target: str
    alpha: float
    beta: float
    ridge: float
    spike: float
    bulk: float
    alignment: float
    noise: float


def table(problem: Problem, edges: Array) -> Table:
    kappa, weight = (x.ravel() for x in composite(edges))
    root = np.sqrt(Long(problem.bulk))
    student = moments(FUNCTIONS[problem.student], problem.spike * kappa, root)
    across = np.sqrt((1 - Long(problem.alignment)) * (1 + Long(problem.alignment)))
    target = moments(FUNCTIONS[problem.target], problem.alignment * kappa, across)
    return Table(kappa, weight, student.mean, student.slope / root, student.rest, *target)


def first_panels(problem: Problem) -> Array:
    """Ends of pairs of panels (n, 2), graded towards the places where the integrands change fast."""
    edges = [np.arange(-ALONG, ALONG + 0.25, 0.5)]
    for name, slope, scale in (
        (problem.student, problem.spike, math.sqrt(problem.bulk)),
        (problem.target, problem.alignment, math.sqrt(max(0.0, 1.0 - problem.alignment**2))),
    ):
        function = FUNCTIONS[name]
        if slope == 0.0:
            continue
        width = math.hypot(scale, 1.0 if function.step or function.oscillates else 0.0) / abs(slope)
        for place in (*function.kinks, *((0.0,) if function.step else ())):
            graded = width * 2.0 ** np.arange(-1.0, 10.0) if width > 0.0 else np.zeros(0)
            edges.append(place / slope + np.concatenate([-graded, [0.0], graded]))
    ends = np.unique(np.clip(np.concatenate(edges), -ALONG, ALONG)).astype(Long)
    return np.stack([ends[:-1], ends[1:]], axis=1)


def solve(problem: Problem) -> float:
    """The test error. Raises ArithmeticError where the panels or the iteration do not converge."""
    panels = first_panels(problem)
    at = Table(*(np.zeros(0, Long) for _ in Table._fields))
    fresh = table(problem, panels)
    done = panels[:0]
    for _ in range(40):
        at = Table(*(np.concatenate(pair) for pair in zip(at, fresh, strict=True)))
        done = np.concatenate([done, panels])
        error, integrands = solved(problem, at)
        unresolved = _unresolved(done, integrands)
        if not np.any(unresolved):
            return error
        if len(done) > MOST_PANELS:
            break
        keep = np.repeat(~unresolved, ORDER)
        at = Table(*(part[keep] for part in at))
        failed, done = done[unresolved], done[~unresolved]
        middle = failed.mean(axis=1)
        panels = np.concatenate([np.stack([failed[:, 0], middle], 1), np.stack([middle, failed[:, 1]], 1)])
        fresh = table(problem, panels)
    raise ArithmeticError("the panels along the spike do not resolve the integrands")


def _unresolved(panels: Array, integrands: Array) -> Array:
    """Which panels hold an integrand (times the Gaussian weight) that is not a polynomial to rounding there."""
    shaped = integrands.reshape(len(integrands), len(panels), ORDER)
    half = (panels[:, 1] - panels[:, 0]) / 2
    whole = np.sum(np.abs(shaped) @ WEIGHTS * half, axis=1)
    highest = np.max(np.abs(shaped @ _HIGHEST), axis=2) * half
    return np.any(highest > RESOLVED * whole[:, None], axis=0)


def solved(problem: Problem, at: Table) -> tuple[float, Array]:
    """The test error on a table, and the integrands of all averages (without quadrature weights)."""
    alpha, beta, ridge, c = (Long(x) for x in (problem.alpha, problem.beta, problem.ridge, problem.bulk))
    ratio, f = alpha / beta, np.stack([at.mu1**2, at.mu2])
    weighted = f * at.weight
    # From above the solution, where V = c/ridge and 1/ridge would be without samples, Newton's method descends.
    V = np.array([c / ridge, 1 / ridge])
    for _ in range(400):
        inverse = 1 / (1 + V @ f)
        image, slopes = resolvent(ratio * (weighted @ inverse), ridge, beta, c)
        second = -ratio * (weighted * inverse**2) @ f.T
        step = two_by_two(np.eye(2, dtype=Long) - slopes @ second, V - image)
        V = np.where(step < V, V - step, V / 2)
        if np.all(np.abs(step) <= 1e-17 * V):
            break
    inverse = 1 / (1 + V @ f)
    image, slopes = resolvent(ratio * (weighted @ inverse), ridge, beta, c)
    if not np.all(np.abs(image - V) <= 1e-12 * V):
        raise ArithmeticError(f"V1 and V2 did not converge: {V} against {image}")
    p, along = at.weight * inverse, at.kappa * at.mu1
    pull = beta * c * V[1] * ratio
    m, zeta = two_by_two(
        np.array([[p @ at.mu0**2, p @ (at.mu0 * along)], [pull * (p @ (at.mu0 * along)), 1 + pull * (p @ along**2)]]),
        np.array([p @ (at.mu0 * at.y0), pull * (p @ (along * at.y0))]),
    )
    left = at.y0 - m * at.mu0 - zeta * along
    zeta_hat, psi_hat = ratio * (p @ (along * left)), ratio * (p @ (at.mu1 * at.y1))
    psi = beta * V[0] * psi_hat
    fixed = at.spread + left**2 + at.y1**2 + problem.noise - 2 * psi * at.y1 * at.mu1
    second = ratio * (weighted * inverse**2) @ f.T
    signal = beta * np.array([psi_hat**2, c * zeta_hat**2])
    known = ratio * ((weighted * inverse**2) @ fixed) + signal
    q = two_by_two(np.eye(2, dtype=Long) + slopes @ second, -slopes @ known)
    error = float(at.weight @ (fixed + q @ f)) - problem.noise
    pairs = np.stack([f[0] ** 2, f[0] * f[1], f[1] ** 2, f[0] * fixed, f[1] * fixed]) * inverse**2
    singles = np.stack([*f, at.mu0**2, along**2, at.mu0 * at.y0, along * at.y0, at.mu1 * at.y1]) * inverse
    plain = np.stack([*f, at.mu0**2, fixed])
    return error, np.concatenate([pairs, singles, plain]) * normal(at.kappa)


def resolvent(conjugates: Array, ridge: Long, beta: Long, c: Long) -> tuple[Array, Array]:
    """(V1, V2) = (1/p) tr[(W W^T, 1) (ridge + D + C W W^T)^-1] at (C, D), and the derivatives in (C, D).

    With b = ridge + D: beta c C b V2^2 + (b + c C (1 - beta)) V2 = 1, V1 = c V2/(1 + beta c C V2), C V1 + b V2 = 1.
    """
    C, b = conjugates[0], ridge + conjugates[1]
    linear, square = b + c * C * (1 - beta), beta * c * C * b
    root = np.sqrt(linear**2 + 4 * square)
    second = 2 / (linear + root) if linear > 0 else (root - linear) / (2 * square)
    grown = 1 + beta * c * C * second
    first = c * second / grown
    both = -first / root
    slopes = np.array([
        [(c * both - beta * (c * second) ** 2) / grown**2, both],
        [both, -second * grown / root],
    ])  # fmt: skip
    return np.array([first, second]), slopes


def two_by_two(matrix: Array, right: Array) -> Array:
    """The solution of two linear equations, by elimination with the larger pivot.

    Raises ArithmeticError where a column is zero: means of 1e-5000, whose squares are zero in extended precision, too.
    """
    rows = [0, 1] if abs(matrix[0, 0]) >= abs(matrix[1, 0]) else [1, 0]
    (a, b), (c, d) = matrix[rows]
    x, y = right[rows]
    if a == 0.0:
        raise ArithmeticError("a mean is lost below the least number of extended precision")
    factor = c / a
    last = (y - factor * x) / (d - factor * b)
    return np.array([(x - b * last) / a, last])
