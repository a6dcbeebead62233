"""Numbers for any convex loss: proximal maps, averaged envelopes, random features as matrices, models to solve."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.free_energy import symbols as s_free
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled import losses as compiled
from giantsteps.verify.compiled.losses import LOSSES, Loss, proximal
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.grids import SMOOTH, Array, normal_line
from giantsteps.verify.second_route.models import GENERIC, between

# The Huber loss: quadratic up to one, linear beyond.
HUBER = Loss(
    lambda y, x: np.where(np.abs(y - x) < 1, (y - x) ** 2 / 2, np.abs(y - x) - 0.5),
    lambda y, x: (np.clip(x - y, -1.0, 1.0), np.where(np.abs(y - x) < 1, 1.0, 0.0)),
)
ALL: Mapping[str, Loss] = {**LOSSES, "Huber": HUBER}


# ---- one envelope ----

ONE = Domain(
    (
        Range("loss", choices=tuple(ALL)),
        Range(s.V, 0.2, 3.0, log=True),
        Range(s.field_mean, -2.0, 2.0),
        Range("label", -2.0, 2.0),
    )
)


def one_envelope(point: Point) -> Mapping[str, float] | None:
    """Slopes of a Moreau envelope by central differences of its least value; None within 1e-3 of a kink of the loss."""
    loss = ALL[str(point["loss"])]
    V, omega, y = (float(point[x]) for x in (s.V.name, s.field_mean.name, "label"))

    def best(centre: float, variance: float) -> float:
        return float(proximal(loss, np.array(y), np.array(centre), variance))

    def value(centre: float, variance: float) -> float:
        x = best(centre, variance)
        return (x - centre) ** 2 / (2 * variance) + float(loss.value(np.array(y), np.array(x)))

    h = 1e-5
    x = best(omega, V)
    if abs(abs(y - x) - 1) < 1e-3:
        return None
    forces = [(best(omega + e, V) - (omega + e)) / V for e in (-h, h)]
    return {
        s_free.prox.name: x,
        s_free.moreau_slope.name: (value(omega + h, V) - value(omega - h, V)) / (2 * h),
        s_free.moreau_response.name: (value(omega, V + h) - value(omega, V - h)) / (2 * h),
        s_free.force_slope.name: (forces[1] - forces[0]) / (2 * h),
        s.loss_slope.name: float(loss.slope(np.array(y), np.array(x))),
        s_free.loss_curvature.name: float(loss.curvature(np.array(y), np.array(x))),
    }


# ---- one integral at low temperature ----

LAPLACE = Domain((Range("loss", choices=tuple(ALL)), Range(s.V, 0.3, 2.0), Range("label", -2.0, 2.0)))


def laplace(point: Point) -> Mapping[str, float]:
    """-(1/B) ln of the integral of exp(-B ((h - 1/2)^2/(2V) + l(y, h))) at B = 1e8, and the least exponent.

    They differ by the logarithm of the integral's width over B, 1e-7: the least exponent may be as small as 1e-4.
    """
    loss = ALL[str(point["loss"])]
    V, y = float(point[s.V.name]), np.array(float(point["label"]))
    x = float(proximal(loss, y, np.array(0.5), V))
    B = 1e8
    h = x + np.linspace(-20, 20, 8001) * np.sqrt(V / B)

    def objective(at: Array) -> Array:
        return np.asarray((at - 0.5) ** 2 / (2 * V) + loss.value(y, at))

    least = float(objective(np.array(x)))
    total = float(np.sum(np.exp(-B * (objective(h) - least)))) * (h[1] - h[0])
    return {s.zero_temperature.name: least - np.log(total) / B, s.least_objective.name: least}


# ---- the averaged envelope of given order parameters ----

AVERAGED = Domain(
    (
        Range("loss", choices=tuple(LOSSES)),
        Range(s.alpha, 0.5, 3.0),
        Range(s.beta, 0.5, 2.0),
        Range(s.gamma, 0.3, 0.8),
        Range(s.m, 0.3, 1.0),
        Range(s.zeta, -0.5, 0.5),
        Range(s.psi, 0.1, 0.4),
        Range(s.q1, 0.4, 1.0),
        Range(s.q2, 0.3, 1.0),
        Range(s.V1, 0.3, 1.5),
        Range(s.V2, 0.3, 1.5),
    ),
    (),
    (
        {
            **GENERIC,
            "envelope": lambda y, omega, V: (y - omega) ** 2 / (2 + 2 * V) + 0.1 * np.cos(omega),
            "force": lambda y, omega, V: np.tanh(y - omega) / (1 + V),
            "force_slope": lambda y, omega, V: -1 / (1 + V + (y - omega) ** 2),
        },
    ),
)
_LINE, _WEIGHT = normal_line(0.35, 7.0)


def _product(*rules: tuple[Array, Array]) -> tuple[Array, Array, Array, Array]:
    """Nodes in kappa, z, xi and weights of a product rule."""
    nodes = np.meshgrid(*(nodes for nodes, _ in rules), indexing="ij")
    weights = np.einsum("i,j,k->ijk", *(weights for _, weights in rules))
    return nodes[0].ravel(), nodes[1].ravel(), nodes[2].ravel(), weights.ravel()


_KAPPA, _Z, _XI, _DENSITY = _product(*((_LINE, _WEIGHT),) * 3)


def _averaged(loss: Loss, values: Mapping[str, float], functions: Mapping[str, Callable[..., Any]]) -> float:
    """E[M] at given order parameters, on a product grid."""
    zero, one, two = (functions[f"mu{k}"](_KAPPA) for k in range(3))
    gamma = values[s.gamma.name]
    y = functions["g"](gamma * _KAPPA + np.sqrt(1 - gamma**2) * _Z)
    psi = values[s.psi.name]
    spread = np.sqrt(one**2 * (values[s.q1.name] - psi**2) + two**2 * values[s.q2.name])
    omega = zero * values[s.m.name] + _KAPPA * one * values[s.zeta.name] + one * psi * _Z + spread * _XI
    V = one**2 * values[s.V1.name] + two**2 * values[s.V2.name]
    x = proximal(loss, y, omega, V)
    return float(_DENSITY @ ((x - omega) ** 2 / (2 * V) + loss.value(y, x)))


# Each conjugate is a multiple of the derivative of (alpha/beta) E[M] in its partner.
_PARTNERS = {
    s_free.m_response: (s.m, 1.0),
    s.V1_hat: (s.q1, 2.0),
    s.V2_hat: (s.q2, 2.0),
    s.q1_hat: (s.V1, -2.0),
    s.q2_hat: (s.V2, -2.0),
    s.zeta_hat: (s.zeta, -1.0),
    s.psi_hat: (s.psi, -1.0),
}


def _slope(value: Callable[[float], float]) -> float:
    """The slope at zero, by a central difference."""
    h = 2e-4
    return (value(h) - value(-h)) / (2 * h)


def conjugate(unknown: sp.Symbol, point: Point) -> Mapping[str, float]:
    """One conjugate as a derivative of (alpha/beta) E[M] in its partner, by central differences."""
    loss = LOSSES[str(point["loss"])]
    values = {k: v for k, v in point.items() if isinstance(v, float)}
    partner, factor = _PARTNERS[unknown]
    name, ratio = partner.name, values[s.alpha.name] / values[s.beta.name]
    slope = _slope(lambda e: _averaged(loss, {**values, name: values[name] + e}, GENERIC))
    return {s.rho.name: 1 - values[s.gamma.name] ** 2, unknown.name: factor * ratio * slope}


def conjugates(point: Point) -> Mapping[str, float]:
    """All of them at one point."""
    return {name: value for unknown in _PARTNERS for name, value in conjugate(unknown, point).items()}


def loss_functions(point: Point) -> Mapping[str, Callable[..., Any]]:
    """Force and slope of the force of the point's loss, from its proximal map."""
    return {**GENERIC, **compiled.forces(LOSSES[str(point["loss"])])}


# ---- plain random features: the slides ----

CONJUGATE_DOMAIN = Domain(
    ranges=(
        Range("loss", choices=tuple(LOSSES)),
        Range("target", choices=("tanh", "sin", "shifted sin")),
        Range(s.alpha_p, 0.5, 3.0),
        Range(s.gamma_p, 0.4, 2.0),
        Range(s.mu1_constant, 0.4, 0.9),
        Range(s.mu2_constant, 0.2, 0.6),
        Range(s.V, 0.3, 2.0),
        Range(s.output_square, 0.4, 1.2),
        Range("correlation", 0.2, 0.7),
    ),
    interpretations=(
        {
            "g": np.tanh,
            "eta": lambda y, omega: (omega + 0.7 * y) / 1.7 + 0.05 * np.tanh(omega),
            "eta_prime": lambda y, omega: 1 / (1.7 + 0.2 * np.cos(y) ** 2) + 0.0 * omega,
        },
    ),
)


def feature_functions(point: Point) -> Mapping[str, Callable[..., Any]]:
    """The target, and the proximal map of the loss with its derivative 1/(1 + V l'')."""
    loss, V = LOSSES[str(point["loss"])], float(point[s.V.name])

    def slope(y: Array, omega: Array) -> Array:
        return np.asarray(1 / (1 + V * loss.curvature(y, proximal(loss, y, omega, V))))

    return {
        "g": SMOOTH[str(point["target"])].value,
        "eta": lambda y, omega: proximal(loss, y, omega, V),
        "eta_prime": slope,
    }


def feature_conjugates(point: Point) -> dict[str, float]:
    """The five conjugates as derivatives of alpha E[M] in q_s, V_s, m_s, q_w, V_w, by differences.

    The output has variance Q and covariance M with what the target sees, which stands here for kappa.
    """
    names = (s.V, s.output_square, s.alpha_p, s.gamma_p, s.mu1_constant, s.mu2_constant)
    V, Q, alpha, gamma, k1, k2 = (float(point[x.name]) for x in names)
    M, loss = float(point["correlation"]) * np.sqrt(Q), LOSSES[str(point["loss"])]
    functions: dict[str, Callable[..., Any]] = {"mu0": np.zeros_like, "mu1": np.ones_like, "mu2": np.ones_like}
    functions["g"] = SMOOTH[str(point["target"])].value
    fixed = {s.gamma.name: 1.0, **dict.fromkeys((x.name for x in (s.m, s.psi, s.q1, s.V1)), 0.0)}

    def mean(variance: float, square: float, overlap: float) -> float:
        values = {s.V2.name: variance, s.q2.name: square - overlap**2, s.zeta.name: overlap}
        return _averaged(loss, fixed | values, functions)

    in_V, in_Q = _slope(lambda e: mean(V + e, Q, M)), _slope(lambda e: mean(V, Q + e, M))
    in_M = _slope(lambda e: mean(V, Q, M + e))
    return {
        s.output_overlap.name: M,
        s.label_variance.name: 1 - M**2 / Q,
        s.V_s_hat.name: 2 * alpha / gamma * k1**2 * in_Q,
        s.V_w_hat.name: 2 * alpha * k2**2 * in_Q,
        s.q_s_hat.name: -2 * alpha / gamma * k1**2 * in_V,
        s.q_w_hat.name: -2 * alpha * k2**2 * in_V,
        s.m_s_hat.name: -alpha / gamma * k1 * in_M,
    }


MATRIX_DOMAIN = Domain(
    ranges=(
        Range("seed"),
        Range("sizes", choices=("9 neurons, 6 inputs", "5 neurons, 8 inputs", "6 neurons, 2 inputs")),
        Range(s.ridge, 0.1, 2.0),
        Range(s.V_s_hat, 0.3, 2.0),
        Range(s.V_w_hat, 0.1, 1.5),
        Range(s.q_s_hat, 0.2, 2.0),
        Range(s.q_w_hat, 0.2, 2.0),
        Range(s.m_s_hat, -1.5, 1.5),
    ),
    interpretations=({"varrho_F": lambda u: 1.2 + np.tanh(u)},),
)


def overlaps(point: Point) -> dict[str, float]:
    """V_s, q_s, m_s, V_w, q_w of a random matrix F: traces of dense resolvents; g_mu and g_mu' from eigenvalues."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    p, d = (int(word) for word in str(point["sizes"]).split() if word.isdigit())
    F = generator.standard_normal((p, d))
    names = (s.ridge, s.V_s_hat, s.V_w_hat, s.q_s_hat, s.q_w_hat, s.m_s_hat)
    ridge, V_s, V_w, q_s, q_w, m_s = (float(point[x.name]) for x in names)
    omega, one = F @ F.T / p, np.eye(p)
    inverse = np.linalg.inv((ridge + V_w) * one + V_s * omega)
    readout = inverse @ ((q_s + m_s**2) * omega + q_w * one) @ inverse  # covariance of a = S^-1 J
    z = (ridge + V_w) / V_s
    narrow, wide = np.linalg.eigvalsh(F.T @ F / p), np.linalg.eigvalsh(omega)
    return {
        s.gamma_p.name: d / p,
        s.V_s.name: float(np.trace(omega @ inverse)) / d,
        s.V_w.name: float(np.trace(inverse)) / p,
        s.q_s.name: float(np.trace(omega @ readout)) / d,
        s.q_w.name: float(np.trace(readout)) / p,
        s.m_s.name: m_s * float(np.trace(omega @ inverse)) / d,
        s.spectral_stieltjes.name: float(np.mean(1 / (narrow + z))),
        s.spectral_slope.name: float(np.mean(1 / (narrow + z) ** 2)),
        s.wide_stieltjes.name: float(np.mean(1 / (wide + z))),
    }


# ---- the whole system ----

ITERATED = Domain(
    (
        Range("activation", choices=("tanh(z)", "erf(z)")),
        Range("target", choices=("sin(z)", "tanh(z)")),
        Range(s.alpha, 0.8, 2.0),
        Range(s.beta, 0.5, 1.5),
        Range(s.ridge, 0.2, 1.0),
        Range(s.noise, 0.0, 0.0),
        Range(s.r, 0.5, 1.2),
        Range(s.c, 0.8, 1.3),
        Range(s.gamma, 0.4, 0.8),
    ),
    interpretations=(GENERIC,),
)


# Few models, each solved once for all claims.
_NAMES = ("alpha", "beta", "ridge", "spike", "bulk", "alignment")
_CASES = tuple(
    (loss, between(student, target, **dict(zip(_NAMES, values, strict=True))))
    for loss, student, target, values in (
        ("square", "tanh(z)", "sin(z)", (1.5, 0.7, 0.3, 1.0, 1.0, 0.5)),
        ("square", "erf(z)", "tanh(z)", (0.8, 1.4, 0.4, 0.7, 1.2, 0.7)),
        ("pseudo-Huber", "tanh(z)", "sin(z)", (2.3, 1.2, 0.3, 0.8, 0.9, 0.6)),
        ("pseudo-Huber", "erf(z)", "sin(z)", (1.1, 0.6, 0.5, 1.1, 1.0, 0.4)),
    )
)


def case(point: Point) -> tuple[str, Model]:
    """The case that a point selects by its alpha; the saddle point replaces the order parameters of the point."""
    return _CASES[int(1e6 * float(point[s.alpha.name])) % len(_CASES)]
