"""Random matrices for the claims on a network's bulk with a vocabulary: dense linear algebra, by definition.

Rows are drawn with given covariances B_a/d and tied to given norms, for a spectrum of A of no particular shape: the
claims on the equivalent hold for any. The finite-size protocol refutes a right claim with probability 1e-3 at most.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.grids import Array, normal_line
from giantsteps.verify.second_route.sampled import Beside, Sampled
from giantsteps.verify.second_route.values import LETTERS, PAIRS, by_glyph, by_letter, by_pair, upper

Function = Callable[[Array], Any]


def _share(nu: Array) -> Array:
    """P(N(0,1) < nu): uniform for a standard normal nu."""
    from scipy.special import ndtr

    return np.asarray(ndtr(nu))


def _slope(nu: Array) -> Array:
    return math.sqrt(3.0) * (2 * _share(nu) - 1)


def _bend(nu: Array) -> Array:
    w = _share(nu)
    return math.sqrt(5.0) * (6 * w**2 - 6 * w + 1)


# A spectrum and vectors of no particular shape, bounded in the share, so that d of them average to O(1/d^2). f_1 has
# unit length.
SPECTRAL: Mapping[str, Function] = {
    "varrho": lambda nu: 0.3 + 2.0 * _share(nu) ** 2,
    "f_1": _slope,
    "f_2": lambda nu: 0.8 * _slope(nu) + 0.6 * _bend(nu) + 0.3,
    "h_1": lambda nu: 1.1 * _slope(nu) + 0.4,
    "h_2": lambda nu: 0.5 * _slope(nu) - 0.5 * _bend(nu) + 0.2,
}
# For witnesses against false statements: Theta of no particular solution.
GENERIC_SPECTRAL: Mapping[str, Function] = {
    **SPECTRAL,
    "Theta_1": lambda nu: 0.6 + 0.5 * _share(nu),
    "Theta_2": lambda nu: 1.1 + 0.3 * _share(nu) ** 2,
}
# A trapezoidal rule: exact to rounding for functions analytic within 0.4 of the line, exp(-2 pi 0.4/0.1) = 1e-11.
NODES, MASS = normal_line(0.1)
# The fixed point is iterated until nothing moves by more than this.
_STILL, _MOST = 1e-13, 4000


@dataclass(frozen=True)
class Equivalent:
    """tau (2,), T (2, 2), and K (6, 6) with the spike in the bulk and without: v, theta_perp and the norms, each by
    letters.
    """

    tau: Array
    T: Array
    with_spike: Array
    overlap: Array


def equivalent(
    beta: float, fractions: Array, C: Array, shift: Array, forms: Array, directions: Array,
    ties: Array | None = None, norm_variances: Array | float = 0.0,
) -> Equivalent:  # fmt: skip
    """The bulk of two letters at (C, shift = lambda + D): M = C (1 + Theta C)^-1 at each eigenvalue of A.

    Theta_a = beta tau_a forms_a, and tau_a = pi_a/(shift_a + E[forms_a M_aa]) by the mean of old and new. ``forms``,
    ``directions`` and ``ties`` h_a are (2, nodes). Raises ArithmeticError where tau does not come to rest.
    """
    tau = fractions / shift
    for _ in range(_MOST):
        theta = beta * tau[:, None] * forms
        M = C @ np.linalg.inv(np.eye(2) + theta.T[:, :, None] * C)
        moved = 0.5 * (tau + fractions / (shift + np.einsum("n,an,naa->a", MASS, forms, M)))
        left, tau = float(np.max(np.abs(moved - tau) / moved)), moved
        if left < _STILL:
            break
    else:
        raise ArithmeticError("the traces of two letters did not come to rest")
    gain, h = beta * tau, np.zeros_like(forms) if ties is None else ties
    theta = gain[:, None] * forms
    t = theta.T[:, :, None] * np.eye(2) - theta.T[:, :, None] * M * theta.T[:, None, :]
    # A direction f meets a norm through f h_b (t/Theta_b), b of the norm, and norms each other through h_a M h_b.
    seen = t * gain / theta.T[:, None, :] * h.T[:, None, :]
    K = np.zeros((6, 6))
    for i, f in enumerate(directions):
        for j, other in enumerate(directions):
            K[2 * i : 2 * i + 2, 2 * j : 2 * j + 2] = np.tensordot(MASS * f * other, t, 1)
        K[2 * i : 2 * i + 2, 4:] = np.tensordot(MASS * f, seen, 1)
        K[4:, 2 * i : 2 * i + 2] = K[2 * i : 2 * i + 2, 4:].T
    K[4:, 4:] = np.diag(gain * norm_variances) - np.outer(gain, gain) * np.einsum("n,an,bn,nab->ab", MASS, h, h, M)
    overlap = K + K[:, :2] @ C @ np.linalg.solve(np.eye(2) - K[:2, :2] @ C, K[:2])
    return Equivalent(tau, np.tensordot(MASS, t, 1) / beta, K, overlap)


@dataclass(frozen=True)
class Drawing:
    """Rows with given covariances, and the conjugates that they meet; forces and noise of a readout beside them."""

    beta: float
    share: float
    letters: tuple[float, float]
    weight: float
    norm_variances: tuple[float, float]
    C: tuple[float, float, float]
    D: tuple[float, float]
    ridge: float = 0.3
    forces: tuple[float, ...] = (0.5, 0.4, 0.3, 0.5, 0.4, 0.3)
    noise: tuple[float, ...] = (0.6, 0.3, 0.5, 0.4, 0.3)

    @property
    def conjugate(self) -> Array:
        """C as a matrix."""
        return np.array([[self.C[0], self.C[1]], [self.C[1], self.C[2]]])

    @property
    def shift(self) -> Array:
        """lambda + D."""
        return self.ridge + np.array(self.D)

    def rows_forms(self, spectrum: Array) -> Array:
        """1 + u_a^2 omega x at eigenvalues x."""
        return 1 + np.outer(np.square(self.letters) * self.weight, spectrum)

    @property
    def equivalent(self) -> Equivalent:
        """The limit of its traces and forms."""
        at = {name: of(NODES) for name, of in SPECTRAL.items()}
        return equivalent(
            self.beta, np.array([self.share, 1 - self.share]), self.conjugate, self.shift,
            self.rows_forms(at["varrho"]), np.stack([at["f_1"], at["f_2"]]), np.stack([at["h_1"], at["h_2"]]),
            np.array(self.norm_variances),
        )  # fmt: skip


# Shares and ratios that give whole numbers of rows at multiples of 25. A letter may be zero: then the group's rows are
# as they were before the step.
DRAWINGS = {
    "two letters that step": Drawing(1.6, 0.4, (1.2, -0.8), 0.9, (2.0, 1.5), (1.1, -0.8, 0.8), (0.2, 0.3)),
    "a letter that is zero": Drawing(1.2, 0.5, (1.4, 0.0), 0.8, (1.6, 1.8), (0.9, -0.9, 1.3), (0.3, 0.1)),
}
# Overlaps of the norms with another letter are small where norms are mostly noise: here they follow the rows.
TIED = {
    "norms that follow the rows": Drawing(
        2.0, 0.5, (1.0, -1.0), 1.0, (0.8, 0.35), (1.0, -0.95, 1.0), (0.3, 0.3)
    )
}  # fmt: skip


def drawing_at(point: Point) -> Drawing:
    """The rows of a point of the domain."""

    def value(symbol: sp.Symbol) -> float:
        return float(point[symbol.name])

    C = tuple(value(s.V1_hat_of[a][b]) for a, b in PAIRS)
    return Drawing(
        value(s.beta), value(s.fraction[0]), (value(s.letter[0]), value(s.letter[1])), value(s.row_weight),
        (value(s.norm_variance_of[0]), value(s.norm_variance_of[1])), (C[0], C[1], C[2]),
        (value(s.V2_hat_of[0]), value(s.V2_hat_of[1])), value(s.ridge),
    )  # fmt: skip


def point_of(drawing: Drawing) -> dict[str, float]:
    """The parameters of a drawing as values of the symbols."""
    values = {
        s.beta: drawing.beta,
        s.ridge: drawing.ridge,
        s.fraction[0]: drawing.share,
        s.fraction[1]: 1 - drawing.share,
        s.row_weight: drawing.weight,
    }
    values |= by_letter({
        s.letter: drawing.letters, s.V2_hat_of: drawing.D, s.norm_variance_of: drawing.norm_variances,
    })  # fmt: skip
    values |= upper(s.V1_hat_of, drawing.C)
    return by_glyph(values)


@lru_cache(maxsize=512)
def limits(drawing: Drawing) -> dict[str, float]:
    """tau, T, the overlaps with the spike in the bulk, and the numbers g_a of the statements."""
    at = drawing.equivalent
    K = at.with_spike
    values = {
        s.forms_own: K[0, 2],
        s.forms_mixed: K[0, 3],
        s.form_norm_own: K[0, 4],
        s.form_norm_mixed: K[0, 5],
        s.norms_own: K[4, 4],
        s.norms_mixed: K[4, 5],
    }
    values |= by_pair({s.V1_of: at.T})
    values |= by_letter({s.V2_of: at.tau, s.row_gain: drawing.beta * at.tau})
    return point_of(drawing) | by_glyph(values)


def functions_of(drawing: Drawing) -> Mapping[str, Function]:
    """Spectrum and vectors, and Theta_a(nu) = beta tau_a (1 + u_a^2 omega varrho(nu)) at the solution."""
    found = limits(drawing)

    def weight(a: int) -> Function:
        gain, scale = found[s.row_gain[a].name], drawing.letters[a] ** 2 * drawing.weight
        return lambda nu: gain * (1 + scale * SPECTRAL["varrho"](nu))

    return {**SPECTRAL, **{f"Theta_{a + 1}": weight(a) for a in LETTERS}}


# Central differences: (T, tau) and K are known to 1e-12, so that a step of 1e-4 leaves 1e-8.
_MOVE = 1e-4


def _twice_entropic(drawing: Drawing) -> float:
    """X.T + Y.tau + f.K f at the drawing's conjugates."""
    at = drawing.equivalent
    X, Y, f = np.array(drawing.noise[:3]), np.array(drawing.noise[3:]), np.array(drawing.forces)
    T = np.array([at.T[a, b] * (1 if a == b else 2) for a, b in PAIRS])
    return float(X @ T + Y @ at.tau + f @ at.overlap @ f)


@lru_cache(maxsize=16)
def entropic_slopes(drawing: Drawing) -> dict[str, float]:
    """Slopes of twice the entropic term in D_1 and C_12."""

    def slope(moved: Callable[[float], Drawing]) -> float:
        return (_twice_entropic(moved(_MOVE)) - _twice_entropic(moved(-_MOVE))) / (2 * _MOVE)

    (D1, D2), (C11, C12, C22) = drawing.D, drawing.C
    return {
        s_saddle.entropic_slope_own.name: slope(lambda h: replace(drawing, D=(D1 + h, D2))),
        s_saddle.entropic_slope_mixed.name: slope(lambda h: replace(drawing, C=(C11, C12 + h, C22))),
    }


def spectrum_nodes(d: int) -> Array:
    """Where d modes stand: the middles of equal shares."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(d) + 0.5) / d))


@dataclass(frozen=True)
class Rows:
    """One drawing of rows (p, d), the group of each, and what the readout meets: S = shift + C o W W^T.

    ``directions`` are f_1 and f_2 in the modes, ``ties`` t_a the vectors by which norms follow rows, delta_i = t_a.w_i
    + noise; ``left`` are the variances of that noise.
    """

    drawing: Drawing
    rows: Array
    group: NDArray[np.int_]
    directions: Array
    ties: Array
    left: Array

    @property
    def conjugates(self) -> Array:
        """C of every pair of rows."""
        return np.asarray(self.drawing.conjugate[np.ix_(self.group, self.group)])

    @property
    def shift(self) -> Array:
        """The diagonal shift + D of every row."""
        return np.asarray(np.diag(self.drawing.shift[self.group]))

    def split(self, vector: Array) -> list[Array]:
        """A vector over rows, letter by letter."""
        return [np.where(self.group == a, vector, 0.0) for a in LETTERS]


def draw(drawing: Drawing, d: int, rng: np.random.Generator) -> Rows:
    """Rows of covariances B_a/d, and the vectors beside them, in d modes."""
    p, nodes = round(drawing.beta * d), spectrum_nodes(d)
    group = (np.arange(p) >= round(drawing.share * p)).astype(int)
    forms = drawing.rows_forms(SPECTRAL["varrho"](nodes))
    h = np.stack([SPECTRAL["h_1"](nodes), SPECTRAL["h_2"](nodes)]) / math.sqrt(d)
    directions = np.stack([SPECTRAL["f_1"](nodes), SPECTRAL["f_2"](nodes)]) / math.sqrt(d)
    left = (np.array(drawing.norm_variances) - np.sum(h**2 / forms, axis=1)) / d
    return Rows(drawing, rng.standard_normal((p, d)) * np.sqrt(forms / d)[group], group, directions, h / forms, left)


def averaged(drawn: Rows, inverse: Array) -> tuple[float, ...]:
    """Forms of v, f and the norms with S^-1, averaged over the signs of all modes and the noise of the norms.

    Rows and rows with a mode's sign turned have one law and one S: of sum_jk f_j f'_k w_j.S^-1 w_k only j = k is left.
    """
    rows, (v, f), (t_1, t_2) = drawn.rows, drawn.directions, drawn.ties
    one, two = (drawn.group == a for a in LETTERS)
    own = np.einsum("ij,ij->j", rows[one], inverse[np.ix_(one, one)] @ rows[one])
    mixed = np.einsum("ij,ij->j", rows[one], inverse[np.ix_(one, two)] @ rows[two])
    noise = drawn.left[0] * np.trace(inverse[np.ix_(one, one)])
    pairs = ((v * f, own), (v * f, mixed), (v * t_1, own), (v * t_2, mixed), (t_1**2, own), (t_1 * t_2, mixed))
    forms = [float(weight @ form) for weight, form in pairs]
    forms[4] += float(noise)
    return tuple(forms)


def readout_sizes(drawn: Rows, inverse: Array, signs: Array) -> tuple[float, float]:
    """q2 of the first letter and q1 of both for a readout that meets the bulk without the spike v = f_1.

    a = G (forces + noise of covariance X o Omega + Y), Omega = W W^T - W v v^T W^T, and G = (shift + C o Omega)^-1 =
    S^-1 + Z R Z^T with Z = S^-1 (W_1 v, W_2 v), R = (C^-1 - (W_a v).S^-1 (W_b v))^-1. Averaged over the noise of the
    norms, and over ``signs`` (K, d) of the modes.
    """
    drawing, p, one = drawn.drawing, len(drawn.rows), drawn.group == 0
    gram, X = drawn.rows @ drawn.rows.T, np.array([drawing.noise[0:2], drawing.noise[1:3]]) / p
    own = np.array(drawing.noise[3:]) / p + np.square(drawing.forces[4:]) * drawn.left
    noise = X[np.ix_(drawn.group, drawn.group)] * gram + np.diag(own[drawn.group])
    pushed = noise @ inverse
    whole, between = inverse @ pushed, np.where(np.outer(one, ~one), gram, 0.0)
    weights = (np.diag(one.astype(float)), (between + between.T) / 2)
    fixed = [(Q, pushed @ Q, float(np.sum(Q * whole))) for Q in weights]
    found = []
    for sign in signs:
        along, across = (drawn.rows @ (sign * x) for x in drawn.directions)
        norms = [(drawn.rows @ (sign * t)) * (drawn.group == a) for a, t in enumerate(drawn.ties)]
        U = np.stack(drawn.split(along), axis=1)
        columns = np.column_stack([U, *drawn.split(across), *norms])
        Z = inverse @ U
        R = np.linalg.inv(np.linalg.inv(drawing.conjugate) - U.T @ Z)
        turned = Z + Z @ R @ (Z.T @ U)  # G U
        mean = inverse @ (columns @ drawing.forces)
        mean += Z @ R @ (U.T @ mean)
        inner = R @ (Z.T @ noise @ Z) @ R
        q2, all_of_q1 = (
            base + 2 * np.sum(R * (Z.T @ half @ Z)) + np.sum(inner * (Z.T @ Q @ Z))
            - np.sum(X * (turned.T @ Q @ turned)) + mean @ Q @ mean
            for Q, half, base in fixed
        )  # fmt: skip
        crossed = turned.T @ noise @ turned - (turned.T @ U) @ X @ (U.T @ turned)
        found.append((q2, all_of_q1 - crossed[0, 1] - (mean @ U[:, 0]) * (mean @ U[:, 1])))
    return tuple(np.mean(found, axis=0).tolist())


def _drawn(drawing: Drawing, d: int, seed: int) -> tuple[Rows, Array, np.random.Generator]:
    """Rows, S of theirs, and where their random numbers go on."""
    rng = np.random.default_rng(np.random.SeedSequence(83, spawn_key=(d, seed)))
    drawn = draw(drawing, d, rng)
    return drawn, drawn.shift + drawn.conjugates * (drawn.rows @ drawn.rows.T), rng


def traces_and_forms(drawing: Drawing, d: int, seed: int) -> tuple[float, ...]:
    """FORMS on one drawing of rows."""
    drawn, S, _ = _drawn(drawing, d, seed)
    p, inverse = len(S), np.asarray(np.linalg.inv(S), dtype=np.float64)
    one, two = (drawn.group == a for a in LETTERS)
    weighted = drawn.rows @ drawn.rows.T * inverse
    return (
        float(np.trace(inverse[np.ix_(one, one)])) / p,
        *(float(np.sum(weighted[np.ix_(one, other)])) / p for other in (one, two)),
        *averaged(drawn, inverse),
        float(np.linalg.slogdet(S)[1]) / p,
    )


def sizes(drawing: Drawing, d: int, seed: int) -> tuple[float, ...]:
    """SIZES of a readout without the spike, on one drawing of rows."""
    drawn, S, rng = _drawn(drawing, d, seed)
    inverse = np.asarray(np.linalg.inv(S), dtype=np.float64)
    return readout_sizes(drawn, inverse, rng.choice([-1.0, 1.0], size=(_SIGNS, d)))


# What is measured on drawn rows: averages over the signs of all modes, whose variance falls as that of a linear
# statistic, and the sizes of a readout, averaged over some signs.
FORMS = (
    s.V2_of[0], s.V1_of[0][0], s.V1_of[0][1], s.forms_own, s.forms_mixed, s.form_norm_own, s.form_norm_mixed,
    s.norms_own, s.norms_mixed, s_saddle.log_det_of_rows,
)  # fmt: skip
SIZES = (s_saddle.q2_of[0], s_saddle.q1_of[0][1])
_SIGNS = 16


def _beside(drawing: Drawing, d: int) -> Beside:
    return limits(drawing) | entropic_slopes(drawing), functions_of(drawing)


# At a quarter of the profile's dimensions.
DRAWN_SIZES = Sampled(SIZES, DRAWINGS, sizes, _beside, draws=6, share=4)
DRAWN_FORMS, TIED_FORMS = (
    Sampled(FORMS, drawn, traces_and_forms, _beside, draws=4, share=4, fluctuation=2) for drawn in (DRAWINGS, TIED)
)
