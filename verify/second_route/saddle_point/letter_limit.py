"""Numbers for the limit of many letters: contour integrals, Mellin transforms by sums, and a solver of its own.

Nothing here is shared with the derivations or with `numerics.saddle_point.letters.many_letters`: averages are sums over
fixed grids, and the saddle point is a damped iteration with matrices over the letters (theory of Appendix D).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.saddle_point import many_letters
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.readout_law import ReadoutLaw
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled.saddle_points import functions_of
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.grids import erf, normal_line
from giantsteps.verify.second_route.models import problem

Array = NDArray[Any]


# ---- coefficients of a mean in its letter ----

ANALYTIC: Mapping[str, Callable[[Array], Array]] = {
    "tanh": np.tanh,
    "sin": np.sin,
    "erf": erf,
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
        symbol.name: float((means @ circle**-n).real) / _ON_CIRCLE / _RADIUS**n
        for n, symbol in enumerate(many_letters.coefficients)
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
        Range(many_letters.exponent, -0.7, -0.3),
    )
)
# log u, log x and log y: the integrands fall like exp(-0.3 |t|) at the worst.
_LOGS = np.arange(-110.0, 110.0, 0.05)


def mellin(point: Point) -> Mapping[str, float]:
    """All transforms for an erf student: F from kappa and z, g from z, K from the joint law of kappa and y."""
    f = ODD[str(point["function"])]
    r, c, at = (float(point[x.name]) for x in (s.r, s.c, many_letters.exponent))
    kappa, weights = normal_line(1 / 32, 9.0)
    target = weights * f(kappa)
    letters = np.exp(_LOGS)
    # E_z erf(a + sqrt(v) z) = erf(a/sqrt(1 + 2v)): a and v over u^2 where u is large.
    scale = np.where(letters > 1.0, letters, 1.0)
    variance = (1.0 + 2.0 * (1.0 + np.minimum(letters, 1e100) ** 2 * (c - 1.0))) / scale**2
    means = erf((letters / scale / np.sqrt(variance))[:, None] * r * kappa)
    own = erf(letters / np.sqrt(3.0))
    y = letters
    spread = np.sqrt(c - 1.0)
    inside = y < 40.0
    density = np.zeros_like(y)
    density[inside] = (
        np.exp(-0.5 * ((y[inside, None] - r * kappa) / spread) ** 2) @ target / np.sqrt(2 * np.pi) / spread
    )
    step = _LOGS[1] - _LOGS[0]
    return {
        many_letters.of_letters.name: float(step * letters**at @ (means @ target)),
        many_letters.of_activation.name: float(step * letters**at @ own),
        many_letters.of_weight.name: float(step * y ** (1 - at) @ density),
        many_letters.of_weight_at_s.name: float(step * y ** (1 + at) @ density),
    }


# ---- the limit itself ----

_TARGETS = ("tanh(z)", "sin(2*z)", "erf(z+1/2)")
LIMIT = Domain(
    (
        *problem(("tanh(z)", "erf(z)", "sin(z)"), _TARGETS, (0.5, 3.0), (0.5, 2.0), (0.1, 1.0)),
        Range(s.r, 0.4, 1.2),
        Range(s.c, 1.0, 1.4),
        Range(s.gamma, 0.1, 0.95),
        Range("scale", 0.5, 1.0),
    )
)
# Positive nodes of a Gauss rule for the uniform law: 1e-11 at these scales of letters.
_LETTERS = 8


def limit(error_of: Callable[[Model], float], point: Point) -> Mapping[str, float]:
    """A test error for the density, and the three averages by matrices over eight letters."""
    return _limit(error_of, tuple(point[x.name] for x in LIMIT.ranges))


@lru_cache(maxsize=512)
def _limit(error_of: Callable[[Model], float], key: tuple[float | str, ...]) -> Mapping[str, float]:
    point: Point = dict(zip((x.name for x in LIMIT.ranges), key, strict=True))
    alpha, beta, ridge, noise, r, c, gamma, scale = (float(point[x.name]) for x in LIMIT.ranges[2:])
    model = Model(
        activation(str(point["activation"])), activation(str(point["target"])), alpha=alpha, beta=beta, ridge=ridge,
        noise=noise, spike=r, bulk=c, alignment=gamma, readout=ReadoutLaw("uniform", scale),
    )  # fmt: skip
    kappa, weights = normal_line(1 / 10, 8.5)
    nodes, shares = np.polynomial.legendre.leggauss(2 * _LETTERS)
    u, fractions = scale * nodes[_LETTERS:], shares[_LETTERS:] / shares[_LETTERS:].sum()
    bulks = 1 + u**2 * (c - 1)
    groups = tuple(ReadoutGroup(*group) for group in zip(*(x.tolist() for x in (u, fractions, bulks)), strict=True))
    functions = functions_of(replace(model, readout=groups))
    mu1, mu2 = (np.array([functions[f"mu{k}_{a + 1}"](kappa) for a in range(_LETTERS)]) for k in (1, 2))
    y0, y1, y2 = (functions[f"y{k}"](kappa) for k in range(3))
    # Odd students: the means are odd, and reproduce the odd part of y0 only.
    y0 = (y0 - y0[::-1]) / 2
    across, q = _at_rest(model, bulks, fractions, weights, mu1, mu2, y1, y2 - y0**2)
    return {
        s.test_error.name: error_of(model),
        many_letters.unexplained.name: float(weights @ (y2 - y0**2)) - noise,
        many_letters.met.name: float(weights @ (y1 * across)),
        many_letters.fluctuation.name: float(weights @ q),
    }


def _at_rest(
    model: Model, bulks: Array, fractions: Array, w: Array, mu1: Array, mu2: Array, y1: Array, left: Array
) -> tuple[Array, Array]:
    """The overlap with theta_perp and the fluctuation q along kappa, where yhat = y0 leaves ``left`` of the labels.

    q is how V answers if errors are added to it and the square of the force to its conjugate: one damped iteration,
    with a complex step. Raises ArithmeticError if it does not end.
    """
    step, ratio, one = 1e-30j, model.alpha / model.beta, np.eye(len(bulks))
    tau = fractions / model.ridge + 0j
    T = np.diag(bulks * tau)
    for _ in range(20000):
        V = np.einsum("an,bn,ab->n", mu1, mu1, T) + tau @ mu2**2
        force = mu1 @ (w * y1 / (1 + V.real))
        across = model.alpha * force @ T.real @ mu1
        shrunk = ratio * w / (1 + V + step * (left - 2 * y1 * across))
        C = (mu1 * shrunk) @ mu1.T - step * ratio**2 * model.beta * np.outer(force, force)
        theta = model.beta * np.diag(bulks * tau)
        new = fractions / (model.ridge + mu2**2 @ shrunk + bulks * np.diag(C @ np.linalg.inv(one + theta @ C)))
        moved = np.abs(new - tau)
        T, tau = theta @ np.linalg.inv(one + C @ theta) / model.beta, (tau + new) / 2
        # The imaginary part has to settle on its own scale.
        if np.max(moved / np.abs(tau)) < 1e-14 and np.max(np.abs(new.imag - tau.imag)) < 1e-13 * np.max(abs(tau.imag)):
            return across, V.imag / abs(step)
    raise ArithmeticError(f"the damped iteration still moves by {np.max(moved):.1e}")
