"""Numbers for the square loss in the letters of the slides: the ridge solver without a spike against their equations.

The conjugates of the slides are averages over the pair (nu, f) with the proximal map of the square loss, found by
Newton's method; their overlaps are integrals over the Marchenko-Pastur density of the d x d matrix F^T F/p. Nothing of
the solver's own conjugates enters them.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.grids import average, normal_line
from giantsteps.verify.second_route.losses import LOSSES, proximal
from giantsteps.verify.second_route.models import density_integrals, model_at, numbers, solved

# Trapezoidal rule for functions analytic in a strip of half width > 0.5: error exp(-2 pi 0.5/0.15) < 1e-9.
_NORMAL, _WEIGHT = normal_line(0.15)


def dictionary(point: Point) -> Mapping[str, float] | None:
    """Order parameters and conjugates of the solver at r = 0, and what the slides' equations make of V, Q and M."""
    model = model_at({**point, s.r.name: 0.0})
    solution = solved(model)
    if not solution.converged:
        return None
    ours = numbers(solution)
    root = np.sqrt(ours[s.rho.name])
    # Without a spike psi = sqrt(rho) M, psi^ = sqrt(rho) M^ and Q1 = q1 + (gamma M)^2.
    M = ours[s.psi.name] / root
    Q1 = ours[s.q1.name] + (model.alignment * M) ** 2
    sigma, scale = compile_numpy(model.activation.expression), np.sqrt(model.bulk)
    k1 = average(lambda z: z * sigma(scale * z)) / scale
    k2_squared = average(lambda z: sigma(scale * z) ** 2) - model.bulk * k1**2
    V = k1**2 * ours[s.V1.name] + k2_squared * ours[s.V2.name]
    Q = k1**2 * Q1 + k2_squared * ours[s.q2.name]
    return {
        **ours,
        s.M.name: M,
        s.M_hat.name: ours[s.psi_hat.name] / root,
        s.Q1.name: Q1,
        **_slides(point, k1, k2_squared, V, Q, k1 * M),
    }


def _slides(point: Point, k1: float, k2_squared: float, V: float, Q: float, M: float) -> dict[str, float]:
    model = model_at({**point, s.r.name: 0.0})
    target = compile_numpy(model.target.expression)
    alpha, gamma = model.alpha / model.beta, 1 / model.beta
    xi, z = _NORMAL[:, None], _NORMAL[None, :]
    remaining = 1 - M**2 / Q
    f, nu = np.sqrt(Q) * xi + 0 * z, M / np.sqrt(Q) * xi + np.sqrt(remaining) * z
    weight = _WEIGHT[:, None] * _WEIGHT[None, :] / 2
    response = square = score = 0.0
    for sign in (-1, 1):  # noise of either sign: the averages are of second degree in it
        y = target(nu) + sign * np.sqrt(model.noise)
        pull = (proximal(LOSSES["square"], y, f, V) - f) / V
        # eta is affine in f, so that a step of any size gives its derivative.
        moved = proximal(LOSSES["square"], y, f + 1, V) - proximal(LOSSES["square"], y, f, V)
        response += float(np.sum(weight * (1 - moved) / V))
        square += float(np.sum(weight * pull**2))
        score += float(np.sum(weight * z * pull)) / np.sqrt(remaining)
    each, shared = alpha / gamma * k1**2, alpha * k2_squared
    V_s_hat, V_w_hat, q_s_hat, q_w_hat = each * response, shared * response, each * square, shared * square
    m_s_hat = alpha / gamma * k1 * score
    hats = {
        s.V_s_hat.name: V_s_hat,
        s.V_w_hat.name: V_w_hat,
        s.q_s_hat.name: q_s_hat,
        s.q_w_hat.name: q_w_hat,
        s.m_s_hat.name: m_s_hat,
    }
    return hats | overlaps_of(model, hats)


def overlaps_of(model: Model, hats: Mapping[str, float]) -> dict[str, float]:
    """V_s, m_s, q_s, V_w, q_w of the slides from their conjugates, by integrals over the Marchenko-Pastur density."""
    names = (s.V_s_hat, s.V_w_hat, s.q_s_hat, s.q_w_hat, s.m_s_hat)
    V_s_hat, V_w_hat, q_s_hat, q_w_hat, m_s_hat = (hats[x.name] for x in names)
    gamma = 1 / model.beta
    shift, force = model.ridge + V_w_hat, m_s_hat**2 + q_s_hat
    law = density_integrals(gamma, model.bulk, shift, V_s_hat)
    M02, M12, M22 = (law[x.name] for x in (s.resolvent_square, s.resolvent_mixed, s.resolvent_double))
    return {
        s.V_s.name: law[s.V1.name],
        s.m_s.name: m_s_hat * law[s.V1.name],
        s.q_s.name: force * M22 + q_w_hat * M12,
        s.V_w.name: gamma * law[s.V2.name] + (1 - gamma) / shift,
        s.q_w.name: gamma * (force * M12 + q_w_hat * M02) + (1 - gamma) * q_w_hat / shift**2,
    }
