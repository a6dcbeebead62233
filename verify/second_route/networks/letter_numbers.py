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

from onestep.derivations.bulk import symbols as s
from onestep.derivations.saddle_point import symbols as s_saddle
from onestep.verify.checks.kinds import Point
from onestep.verify.checks.simulation import Measured, at_sizes, column
from onestep.verify.protocol.claim import Profile
from onestep.verify.second_route.grids import Array
from onestep.verify.second_route.networks.letter_formulas import AnyLaw, Bulk, Groups
from onestep.verify.second_route.values import LETTERS, PAIRS, by_glyph, by_letter, by_pair, upper

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


# What is measured on drawn rows.
COLUMNS = (
    s.V2_of[0], s.V1_of[0][0], s.V1_of[0][1], s.forms_own, s.forms_mixed, s.form_norm_own, s.form_norm_mixed,
    s.norms_own, s.norms_mixed, s_saddle.log_det_of_rows, s_saddle.q2_of[0], s_saddle.q1_of[0][1],
)  # fmt: skip


def spectrum_nodes(d: int) -> Array:
    """Where d modes stand: the middles of equal shares."""
    from scipy.special import ndtri

    return np.asarray(ndtri((np.arange(d) + 0.5) / d))


@lru_cache(maxsize=8192)
def dense(drawing: Drawing, d: int, seed: int) -> dict[str, float]:
    """Traces, forms, log-determinant, and the sizes of a readout without the spike, on one drawing of rows."""
    rng = np.random.default_rng(np.random.SeedSequence(83, spawn_key=(d, seed)))
    p = round(drawing.beta * d)
    group = (np.arange(p) >= round(drawing.share * p)).astype(int)
    nodes = spectrum_nodes(d)
    spectrum = SPECTRAL["varrho"](nodes)
    forms = 1 + np.square(drawing.letters)[group, None] * drawing.weight * spectrum
    rows = rng.standard_normal((p, d)) * np.sqrt(forms / d)
    h = np.stack([SPECTRAL["h_1"](nodes), SPECTRAL["h_2"](nodes)])[group] / math.sqrt(d)
    left = np.array(drawing.norm_variances)[group] - np.sum(h**2 / forms, axis=1)
    norms = np.sum(h / forms * rows, axis=1) + rng.standard_normal(p) * np.sqrt(left / d)
    directions = np.stack([SPECTRAL["f_1"](nodes), SPECTRAL["f_2"](nodes)], axis=1) / math.sqrt(d)
    gram, C, shift = rows @ rows.T, drawing.conjugate[np.ix_(group, group)], np.diag(drawing.shift[group])
    S = shift + C * gram
    inverse = np.linalg.inv(S)
    select = [np.flatnonzero(group == a) for a in LETTERS]

    def split(vector: Array) -> list[Array]:
        return [np.where(group == a, vector, 0.0) for a in LETTERS]

    (v_1, v_2), (f_1, f_2), (n_1, n_2) = split(rows @ directions[:, 0]), split(rows @ directions[:, 1]), split(norms)
    block = {(a, b): np.ix_(select[a], select[b]) for a, b in PAIRS}
    # The readout meets the bulk without the spike f_1: S a = forces + noise of covariance X o Omega + Y.
    omega = gram - np.outer(v_1 + v_2, v_1 + v_2)
    G = np.linalg.inv(shift + C * omega)
    X = np.array([drawing.noise[0:2], drawing.noise[1:3]])[np.ix_(group, group)]
    noise = X * omega + np.diag(np.array(drawing.noise[3:])[group])
    mean = G @ sum(f * y for f, y in zip(drawing.forces, (v_1, v_2, f_1, f_2, n_1, n_2), strict=True))
    second = G @ noise @ G / p + np.outer(mean, mean)
    found = (
        np.trace(inverse[block[0, 0]]) / p,
        *(float(np.sum(gram[block[0, b]] * inverse[block[0, b]])) / p for b in LETTERS),
        v_1 @ inverse @ f_1,
        v_1 @ inverse @ f_2,
        v_1 @ inverse @ n_1,
        v_1 @ inverse @ n_2,
        n_1 @ inverse @ n_1,
        n_1 @ inverse @ n_2,
        np.linalg.slogdet(S)[1] / p,
        np.trace(second[block[0, 0]]),
        float(np.sum(omega[block[0, 1]] * second[block[0, 1]])),
    )
    return by_glyph(dict(zip(COLUMNS, found, strict=True)))


def drawn_rows(
    drawings: Mapping[str, Drawing], quantity: sp.Basic, profile: Profile
) -> Mapping[str, tuple[Measured, ...]]:
    """One of COLUMNS at an eighth of the profile's dimensions and many seeds, for each drawing."""
    name = COLUMNS[column(quantity, *COLUMNS)].name

    def one(drawing: Drawing, d: int) -> Measured:
        samples = tuple(dense(drawing, d, k)[name] for k in range(24 * profile.seeds))
        return Measured(d, samples, by_pencil(drawing) | entropic_slopes(drawing), functions_of(drawing))

    return at_sizes(drawings, profile, one, 8)
