"""Two letters with any activation: the equations of their bulk iterated as they stand, and rows of real networks.

The pencil of the iteration is not the solver's: [[1 + Y omega u^2 A, Y P], [-P, 1]] with Y = s C s, whose first block
is the inverse of 1 + Y F.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.experiments.ensembles import unit_rows
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.any_activation.curves import CURVES, W, Z
from giantsteps.verify.second_route.gradient_step.real import after_step, positive_inverse
from giantsteps.verify.second_route.grids import Array
from giantsteps.verify.second_route.networks.step import Step, law, step_at
from giantsteps.verify.second_route.sampled import Beside, Sampled
from giantsteps.verify.second_route.values import PAIRS, by_glyph, by_letter, by_pair, value

_STILL, _MOST = 1e-14, 4000


@dataclass(frozen=True)
class Pair:
    """Two letters u_a of shares pi_a after one step, and a readout's C, given by C11, C12, C22, its D_a and ridge."""

    step: Step
    letters: tuple[float, float]
    fractions: tuple[float, float]
    conjugate: tuple[float, float, float]
    diagonal: tuple[float, float]
    ridge: float

    @property
    def shift(self) -> Array:
        """lambda + D_a."""
        return self.ridge + np.array(self.diagonal)

    @property
    def C(self) -> Array:
        """The matrix C."""
        first, across, second = self.conjugate
        return np.array([[first, across], [across, second]])


@dataclass(frozen=True)
class Found:
    """tau (2,), T (2, 2), and the matrix by which the rows of both letters act, times beta sqrt(tau_a tau_b).

    forms and along: (W_a theta).S^-1 W_b theta and the matrix along theta.
    """

    tau: Array
    T: Array
    seen: Array
    forms: Array
    along: Array


@lru_cache(maxsize=256)
def iterated(pair: Pair) -> Found:
    """Both by the mean of old and new; raises ArithmeticError where they do not come to rest."""
    step, one = pair.step, np.eye(2)
    h0, turn, noise = (law(step)[x.name] for x in (s.mean_output, s.turn, s.row_weight))
    u, shares, shift = np.diag(pair.letters), np.array(pair.fractions), pair.shift
    y = CURVES[step.target].value(Z) - float(np.dot(pair.letters, pair.fractions)) * h0
    tau, G = shares / shift, np.eye(4)
    for _ in range(_MOST):
        scale = np.sqrt(step.beta * tau)
        Y = scale[:, None] * pair.C * scale
        K = np.zeros((len(y), 4, 4))
        K[:, :2, :2] = y[:, None, None] ** 2 * (Y @ u @ u * noise)
        K[:, :2, 2:], K[:, 2:, :2] = y[:, None, None] * (Y @ u * turn), -y[:, None, None] * u * turn
        answers, plain = K @ np.linalg.inv(np.eye(4) + G @ K / step.alpha0), np.block([[one, Y], [-one, one]])
        inverse = np.linalg.inv(plain + np.einsum("n,nij->ij", W, answers))
        T = scale[:, None] * np.linalg.solve(Y, one - inverse[:2, :2]) * scale / step.beta
        moved = shares / (shift + np.diag(pair.C @ T) / tau)
        left = max(float(np.max(np.abs(inverse - G))), float(np.max(np.abs(moved / tau - 1.0))))
        G, tau = 0.5 * (G + inverse), 0.5 * (tau + moved)
        if left < _STILL:
            theta = np.linalg.inv(plain + np.einsum("n,nij->ij", W * Z**2, answers))
            forms = scale[:, None] * np.linalg.solve(Y, one - theta[:2, :2]) * scale
            seen, along = (
                scale[:, None] * np.linalg.solve(Y, np.linalg.inv(x[:2, :2]) - one) * scale for x in (inverse, theta)
            )
            return Found(tau, *(0.5 * (x + x.T) for x in (T, seen, forms, along)))
    raise ArithmeticError("the blocks of two letters did not come to rest")


def values_of(pair: Pair) -> dict[str, float]:
    """The symbols of the right-hand sides; keys are glyphs."""
    found = iterated(pair)
    given = {s.beta: pair.step.beta, s.ridge: pair.ridge}
    given |= by_letter({s.V2_hat_of: pair.diagonal, s.fraction: pair.fractions, s.V2_of: found.tau})
    given |= by_pair({s.V1_hat_of: pair.C, s.V1_of: found.T, s.rows_seen: found.seen, s.target_seen: found.along})
    return by_glyph(given)


def pair_at(point: Point) -> Pair:
    """The letters of a point of the domain."""
    share = value(point, s.fraction[0])
    C = tuple(value(point, s.V1_hat_of[a][b]) for a, b in PAIRS)
    letters, D = ((value(point, of[0]), value(point, of[1])) for of in (s.letter, s.V2_hat_of))
    return Pair(step_at(point), letters, (share, 1.0 - share), (C[0], C[1], C[2]), D, value(point, s.ridge))


# Long steps, so that the letters' common batch shows in every entry.
MODELS = {
    "softplus student, letters of either sign": Pair(
        Step("softplus", "shifted sin", 1.0, 8.0, 0.8), (1.0, -0.6), (0.5, 0.5), (0.8, 0.5, 1.0), (0.2, 0.1), 0.2
    ),
    "relu student, letters of one sign": Pair(
        Step("relu", "sin", 2.0, 5.0, 0.8), (1.0, 0.4), (0.4, 0.6), (0.6, 0.4, 1.2), (0.1, 0.3), 0.2
    ),
}


def resolvent(pair: Pair, d: int, seed: int) -> tuple[float, ...]:
    """T_11, T_12, T_22 and tau_1, tau_2 on the rows of one real network, less their mean in each group."""
    step, rng = pair.step, np.random.default_rng(np.random.SeedSequence(83, spawn_key=(d, seed)))
    counts = [round(share * step.beta * d) for share in pair.fractions]
    group = np.repeat([0, 1], counts)
    x = rng.standard_normal((round(step.alpha0 * d), d))
    rows = unit_rows(rng, len(group), d)
    rows = after_step(
        rows, CURVES[step.student], x, CURVES[step.target].value(x[:, 0]), step.rate, np.array(pair.letters)[group]
    )
    own = (group[:, None] == np.array([0, 1])).astype(float)
    rows = rows - (own / own.sum(axis=0)) @ (own.T @ rows)
    gram, p = rows @ rows.T, len(rows)
    inverse = positive_inverse(np.diag(pair.shift[group]) + pair.C[np.ix_(group, group)] * gram)
    T, tau = own.T @ (gram * inverse) @ own / p, own.T @ np.diag(inverse) / p
    return (*(float(T[pair_]) for pair_ in PAIRS), *(float(t) for t in tau))


def _realised(pair: Pair, d: int) -> Beside:
    counts = np.array([round(share * pair.step.beta * d) for share in pair.fractions])
    step, shares = replace(pair.step.at(d), beta=float(counts.sum()) / d), counts / counts.sum()
    return values_of(replace(pair, step=step, fractions=(shares[0], shares[1]))), {}


# At d = 100 what falls off faster than 1/d shows in steps as long as these.
TRACES = Sampled(
    (*(s.V1_of[a][b] for a, b in PAIRS), *s.V2_of), MODELS, resolvent, _realised, draws=3, share=1
)  # fmt: skip

# Letters of one sign and C that sets them apart: the terms that mix them are as large as the others.
STRETCHED = {
    "relu student, letters of one sign set apart": Pair(
        Step("relu", "sin", 1.0, 8.0, 0.8), (1.0, 0.8), (0.5, 0.5), (0.6, -0.5, 0.6), (0.1, 0.1), 0.1
    ),
    "softplus student, letters of one sign set apart": Pair(
        Step("softplus", "shifted sin", 1.0, 8.0, 2.0), (1.0, 0.9), (0.5, 0.5), (0.5, -0.4, 0.5), (0.1, 0.1), 0.1
    ),
}


def batch_forms(pair: Pair, d: int, seed: int) -> tuple[tuple[float, ...], list[float]]:
    """R_11 and R_12 along theta of one batch: rows have covariances P_a^2 + omega_a A of its samples, over d; and four
    controls, means over the samples less what they are on average.
    """
    pair = replace(pair, step=pair.step.at(d))
    step = pair.step
    n0, found = round(step.alpha0 * d), iterated(pair)
    x = np.random.default_rng(np.random.SeedSequence(89, spawn_key=(d, seed))).standard_normal((n0, d))
    h0, turn, noise = (law(step)[x.name] for x in (s.mean_output, s.turn, s.row_weight))
    u, output = x[:, 0], float(np.dot(pair.letters, pair.fractions)) * h0
    y, label = CURVES[step.target].value(u) - output, CURVES[step.target].value(Z) - output
    controls = [float(np.mean(y**k * u**j) - W @ (label**k * Z**j)) for k in (1, 2) for j in (0, 2)]
    M, A = (((x * power[:, None]).T @ x) / n0 for power in (y, y**2))
    forms = []
    for letter in pair.letters:
        P = np.eye(d) + letter * turn * M
        forms.append(P @ P + letter**2 * noise * A)
    scale = np.sqrt(step.beta * found.tau)
    Y = scale[:, None] * pair.C * scale
    whole = np.eye(2 * d) + np.block([[Y[a, b] * forms[b] for b in (0, 1)] for a in (0, 1)])
    inner = np.linalg.solve(whole, np.eye(2 * d)[:, [0, d]]).reshape(2, d, 2)
    seen = scale[0] * (forms[0][0] @ inner[0]) * scale
    return (float(seen[0]), float(seen[1])), controls


# A form of one direction scatters by more than a trace.
TARGET_FORMS = Sampled(
    (s.target_forms_of[0][0], s.target_forms_of[0][1]), STRETCHED, batch_forms,
    lambda pair, d: (values_of(replace(pair, step=pair.step.at(d))), {}), draws=8, controlled=True,
)  # fmt: skip
