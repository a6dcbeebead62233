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
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.grids import Array
from giantsteps.verify.second_route.networks.letter_formulas import AnyLaw, Bulk, Groups
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
LAW = AnyLaw(SPECTRAL["varrho"], tuple(SPECTRAL[name] for name in ("f_1", "f_2", "h_1", "h_2")))


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

    @property
    def groups(self) -> Groups:
        """The law of the rows for the formulas."""
        return Groups(
            self.beta, np.array([self.share, 1 - self.share]), np.array(self.letters), self.weight, LAW,
            np.eye(4)[:2], np.eye(4)[2:], np.array(self.norm_variances),
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
def by_pencil(drawing: Drawing) -> dict[str, float]:
    """tau, T and the overlaps of :mod:`network_groups_formulas`, the numbers g_a of the statements beside them."""
    at = Bulk(drawing.groups).at(drawing.conjugate, drawing.shift)
    K, k = at.with_spike, 2
    values = {
        s.forms_own: K[0, k],
        s.forms_mixed: K[0, k + 1],
        s.form_norm_own: K[0, 2 * k],
        s.form_norm_mixed: K[0, 2 * k + 1],
        s.norms_own: K[2 * k, 2 * k],
        s.norms_mixed: K[2 * k, 2 * k + 1],
    }
    values |= by_pair({s.V1_of: at.T})
    values |= by_letter({s.V2_of: at.tau, s.row_gain: drawing.beta * at.tau})
    return point_of(drawing) | by_glyph(values)


def pencil_at(point: Point) -> dict[str, float]:
    """The equivalent at a point of the domain."""
    return by_pencil(drawing_at(point))


def spectral_functions(point: Point) -> Mapping[str, Function]:
    """Spectrum and vectors of the drawings, and Theta at a point."""
    return functions_of(drawing_at(point))


def functions_of(drawing: Drawing) -> Mapping[str, Function]:
    """Spectrum and vectors, and Theta_a(nu) = beta tau_a (1 + u_a^2 omega varrho(nu)) at the solution."""
    found = by_pencil(drawing)

    def weight(a: int) -> Function:
        gain, scale = found[s.row_gain[a].name], drawing.letters[a] ** 2 * drawing.weight
        return lambda nu: gain * (1 + scale * SPECTRAL["varrho"](nu))

    return {**SPECTRAL, **{f"Theta_{a + 1}": weight(a) for a in LETTERS}}


# Central differences: (T, tau) and K are known to 1e-12, so that a step of 1e-4 leaves 1e-8.
_MOVE = 1e-4


def _twice_entropic(drawing: Drawing) -> float:
    """X.T + Y.tau + f.K f at the drawing's conjugates."""
    at = Bulk(drawing.groups).at(drawing.conjugate, drawing.shift)
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
    forms = 1 + np.outer(np.square(drawing.letters) * drawing.weight, SPECTRAL["varrho"](nodes))
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


@lru_cache(maxsize=4096)
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


@lru_cache(maxsize=4096)
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


def drawn_rows(
    drawings: Mapping[str, Drawing], quantity: sp.Basic, profile: Profile
) -> Mapping[str, tuple[Measured, ...]]:
    """One of FORMS or SIZES at a quarter of the profile's dimensions, for each drawing."""
    at = column(quantity, *FORMS, *SIZES)
    measure, which, draws, fluctuation = (
        (traces_and_forms, at, 4, 2) if at < len(FORMS) else (sizes, at - len(FORMS), 6, 1)
    )

    def one(drawing: Drawing, d: int) -> Measured:
        samples = tuple(measure(drawing, d, k)[which] for k in profile.draws(draws))
        values = by_pencil(drawing) | entropic_slopes(drawing)
        return Measured(d, samples, values, functions_of(drawing), fluctuation)

    return at_sizes(drawings, profile, one, 4)
