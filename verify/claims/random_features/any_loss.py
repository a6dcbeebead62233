"""Random features with any convex loss: the general saddle point at r = 0 is that of the slides."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.saddle_point.random_features import any_loss as any_loss_features
from giantsteps.derivations.saddle_point.random_features import square_loss as convex_square_loss
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.losses import LOGISTIC, ProximalLoss
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.any_loss.convex import solve
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.protocol.tolerances import CONVEX_SOLVER
from giantsteps.verify.second_route.grids import Array, average, half_line, normal_line
from giantsteps.verify.compiled.losses import LOSSES, Loss, proximal
from giantsteps.verify.second_route.models import model_at
from giantsteps.verify.second_route.saddle_point.square_loss import overlaps_of

SECTION = "Appendix C, (119)-(120) at r = 0"

_SMOOTH = LOSSES["pseudo-Huber"]


def _slope(loss: Loss, y: Array, x: Array, V: float | Array) -> Array:
    """-df/domega at the proximal point x."""
    curvature = loss.curvature(y, x)
    return np.asarray(curvature / (1 + V * curvature))


_PSEUDO_HUBER = ProximalLoss(
    "pseudo-Huber",
    _SMOOTH.value,
    lambda y, omega, V: proximal(_SMOOTH, y, omega, V),
    lambda y, omega, V: _slope(_SMOOTH, y, proximal(_SMOOTH, y, omega, V), V),
)

# What the output adds to its part along theta.x: smooth functions, so a trapezoidal rule is accurate to rounding.
_LINE, _DENSITY = normal_line(0.1)


def both_systems(point: Point) -> Mapping[str, float] | None:
    """Order parameters of the convex solver at r = 0, and what the slides' equations make of its V, Q and M.

    Labels are the target, or its sign for the logistic loss; theta.x is integrated on either side of the jump.
    """
    return _both_systems(str(point["case"]))


@lru_cache(maxsize=16)
def _both_systems(case: str) -> Mapping[str, float] | None:
    point = CASES[case]
    loss_name = str(point["loss"])
    model = model_at({**point, s.r.name: 0.0, s.c.name: 1.0, s.noise.name: 0.0})
    solution = solve(replace(model, loss=LOGISTIC if loss_name == "logistic" else _PSEUDO_HUBER))
    if not solution.converged:
        return None
    order, ratio = solution.order_parameters, model.alpha / model.beta
    hats, root = order.conjugates, np.sqrt(1 - model.alignment**2)
    M, M_hat = order.psi[0] / root, ratio * hats.psi_force[0] / root
    Q1 = order.q1[0, 0] + order.zeta[0] ** 2
    sigma = compile_numpy(model.activation.expression)
    k1 = average(lambda z: z * sigma(z))
    k2 = np.sqrt(average(lambda z: sigma(z) ** 2) - k1**2)
    V = k1**2 * order.V1[0, 0] + k2**2 * order.V2[0]
    theirs = _conjugates(model, loss_name, (k1, k2), V, k1**2 * Q1 + k2**2 * order.q2[0], k1 * M)
    return {
        s.beta.name: model.beta,
        s.gamma.name: model.alignment,
        s.zeta.name: order.zeta[0],
        s.M.name: M,
        s.M_hat.name: M_hat,
        s.V1.name: order.V1[0, 0],
        s.V2.name: order.V2[0],
        s.Q1.name: Q1,
        s.q2.name: order.q2[0],
        s.V1_hat.name: hats.C[0, 0],
        s.V2_hat.name: hats.D[0],
        s.q1_hat.name: hats.C_hat[0, 0],
        s.q2_hat.name: hats.D_hat[0],
        **theirs,
        **overlaps_of(model, theirs),
    }


def _conjugates(
    model: Model, loss_name: str, kappas: tuple[float, float], V: float, Q: float, M: float
) -> dict[str, float]:
    """The slides' conjugates at given V, Q and M: averages over theta.x and f, proximal maps by Newton's method."""
    loss, (k1, k2), alpha, gamma = LOSSES[loss_name], kappas, model.alpha / model.beta, 1 / model.beta
    target = compile_numpy(model.target.expression)
    half, weight = half_line()
    nu = np.concatenate([-half[::-1], half])[:, None]
    density = np.concatenate([weight[::-1], weight])[:, None] * _DENSITY
    remaining = 1 - M**2 / Q
    f = M * nu + np.sqrt(Q * remaining) * _LINE
    y = (np.sign(target(nu)) if loss_name == "logistic" else target(nu)) + 0 * f
    x = proximal(loss, y, f, V)
    force = (x - f) / V
    response = float(np.sum(density * _slope(loss, y, x, V)))
    square = float(np.sum(density * force**2))
    # The derivative of Z in omega_0 is Z times (nu - omega_0)/V0, omega_0 = M f/Q.
    score = float(np.sum(density * (nu - M / Q * f) * force)) / remaining
    each, shared = alpha / gamma * k1**2, alpha * k2**2
    return {
        s.V_s_hat.name: each * response,
        s.V_w_hat.name: shared * response,
        s.q_s_hat.name: each * square,
        s.q_w_hat.name: shared * square,
        s.m_s_hat.name: alpha / gamma * k1 * score,
    }


_NAMES = (s.alpha, s.beta, s.ridge, s.gamma)
# Few models, each solved once for all claims: a solution takes seconds.
CASES: Mapping[str, Point] = {
    f"{loss}, {student} learns {teacher}": {
        "loss": loss,
        "activation": student,
        "target": teacher,
        **{x.name: value for x, value in zip(_NAMES, values, strict=True)},
    }
    for loss, student, teacher, values in (
        ("logistic", "tanh(z)", "erf(z)", (1.7, 0.6, 0.3, 0.5)),
        ("logistic", "erf(z)", "atan(z)", (0.8, 1.4, 0.8, 0.7)),
        ("pseudo-Huber", "atan(z)", "tanh(z)", (2.3, 1.2, 0.15, 0.4)),
        ("pseudo-Huber", "tanh(z)", "sin(z)", (0.6, 0.5, 1.2, 0.6)),
    )
}

_DOMAIN = Domain((Range("case", choices=tuple(CASES)),), (any_loss_features.ODD,),
                 ({
                      "g": np.tanh,
                      "force": lambda y, f, V: (y - f) / (1 + V + 0.1 * f**2),
                      "force_slope": lambda y, f, V: -1 / (1.3 + V + np.cos(f) ** 2),
                      "varrho": lambda u: 1.2 + np.tanh(u),
                  },))
_numbers = ByNumbers("the solver for convex losses at r = 0 against the slides' equations", both_systems, CONVEX_SOLVER,
                     points=8)


def _same(name: str, title: str, left: sp.Symbol, right: sp.Expr, build: Callable[[], Derivation]) -> Claim:
    return claim(
        f"convex-features.any-loss.{name}", f"Any convex loss: {title}", paper(SECTION),
        eq(left, right), _DOMAIN,
        ByDerivation(build), _numbers,
        kind=Kind.FIXED_POINT,
        wrong={"twice": 2 * right, "the square": right**2},
        uses=("convex.conjugates", *(f"convex-features.{x}-hat" for x in ("V-s", "V-w", "q-s", "q-w", "m-s"))),
    )


# The traces of the resolvent know nothing of the loss: their dictionary is that of the square loss.
_TRACES = convex_square_loss.square_loss

CLAIMS: tuple[Claim, ...] = (
    *(
        _same(name, title, left, right, any_loss_features.dictionary)
        for name, title, left, right in (
            ("V-s-hat", "the conjugate of q_s is beta V1^ of the system at r = 0", s.V_s_hat, s.beta * s.V1_hat),
            ("V-w-hat", "the conjugate of q_w is V2^", s.V_w_hat, s.V2_hat),
            ("q-s-hat", "the conjugate of V_s is beta q1^", s.q_s_hat, s.beta * s.q1_hat),
            ("q-w-hat", "the conjugate of V_w is q2^", s.q_w_hat, s.q2_hat),
            ("m-s-hat", "the conjugate of m_s is beta M^", s.m_s_hat, s.beta * s.M_hat),
        )
    ),
    *(
        _same(name, title, left, right, _TRACES)
        for name, title, left, right in (
            ("V-s", "V_s is V1", s.V_s, s.V1),
            ("V-w", "V_w is V2", s.V_w, s.V2),
            ("m-s", "m_s is M", s.m_s, s.M),
            ("q-s", "q_s is Q1", s.q_s, s.Q1),
            ("q-w", "q_w is q2", s.q_w, s.q2),
        )
    ),
)
