"""The bulk of the network itself after one gradient step: neither isotropic nor of equal norm. Beyond the paper.

For any sigma, |w_k| = 1 before the step, e = eta/beta, nu = e E[sigma''] and s = sigma' - h1 - E[sigma''] z the step
sees Y = y - E[sigma], and the bulk row b_i of a neuron is, given the batch, asymptotically Gaussian with covariance
B/d; its squared norm fluctuates by delta_i = |b_i|^2 - c = O(d^-1/2):

    B = P^2 + omega A,  P = 1 + nu M,  M = (1/n0) sum Y x x^T,  A = (1/n0) sum Y^2 x x^T,  omega = e^2 E[s^2]/alpha0,
    d Cov(b_i, delta_i) = h = P w_f + w_f',  d Var(delta_i) = v_c,  w_f = (1/n0) sum f(Y) x,

with f, f' and v_c as `numerics.bulk.network_law` has them. For an odd sigma nu = 0, f = 2 e E[z^2 s] Y and f' =
e^3 (E[s^3]/alpha0^2) Y^3. The mean of a feature depends on the norm of its row, so the readout gains one function along
the spike, k2 = d mu0/dc, with the coefficient chi = sum_i a_i delta_i/sqrt(p). The signal overlaps K of (v, delta,
theta_perp) are 3 x 3.

With H = (1 + g B)^-1, g = C beta tau and x = beta tau, S = ridge + D + C W Pi W^T has

    x (D + C (1/d) tr B H) = beta,   T = tau (1/d) tr B H,
    R_uu' = u.(1 - H) u'/g,   R_u,delta = u.H h,   R_delta,delta = v_c - g h.H h   (u, u' in {v, theta_perp}),
    K = beta tau (R + g R_.v R_v./(1 - g R_vv)),

and H follows from averages over 1 + b1 Y + b2 Y^2 at two places solved for with x (`numerics.bulk.resolvent`).
Derivatives in (C, D) are complex steps, exact to rounding, through the implicit function. The isotropic bulk is the
same code with B = c, h = 0, v_c = 0.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.equivalent import EquivalentPoint, OneGroup, marchenko_pastur
from giantsteps.numerics.bulk.network_law import BulkLaw
from giantsteps.numerics.bulk.resolvent import Frame, Triple, block_slopes, blocks, forms
from giantsteps.numerics.gaussian.quadrature import ROUNDING

Array = NDArray[np.float64]

_STEP = 1e-100
_MOST_STEPS = 200
# Sweeps before Newton's method, and the size of the last step of one that has found something.
_SWEEPS, _SOLVED, _LAST = (3, 30, 300), 1e-8, 1e-10
# K's slopes at a pair (C, D) serve another one no further away than this share: half of the rounding that C and D, as
# averages, are granted, and that the estimates count. It is measured from where they were computed: were each pair
# compared with the one before it, six refinements could add up to more.
_SAME = 0.5 * ROUNDING


@dataclass(frozen=True, eq=False)
class _Point(EquivalentPoint):
    """NetworkBulk at one pair (C, D): x = beta tau and the averages' places, with how they move with C and D; K is on
    (v, delta, theta_perp), and follows from another point's slopes where it is `borrowed`.
    """

    solution: Array
    slopes: Array
    borrowed: bool

    @property
    def computed(self) -> bool:
        """Whether K was computed here."""
        return not self.borrowed and "_both" in self.__dict__


class _Linear(NamedTuple):
    """The equations of one pair (C, D) at a place (x, b1, b2): values, their slopes in (x, b1, b2) as rows, and in C;
    tr B H, its slopes in (x, b1, b2), and in g = C x."""

    values: Triple
    system: tuple[Triple, Triple, Triple]
    by_conjugate: Triple
    filled: float
    filled_slopes: Triple
    filled_by_gain: float


class Step(NamedTuple):
    """Newton's step `move` for (x, b1, b2) at (C, D); (T, tau) at its end, to its second order; where it begins the
    Jacobian of (T, tau), row by row, and the slopes of (x, b1, b2) in C and D.
    """

    values: tuple[float, float]
    jacobian: tuple[float, float, float, float]
    slopes: list[tuple[float, float]]
    move: Triple


def _inverse(matrix: tuple[Triple, Triple, Triple]) -> tuple[Triple, Triple, Triple]:
    """By cofactors, in a tenth of LAPACK's time; not numbers where the matrix is singular."""
    (a, b, c), (d, e, f), (g, h, i) = matrix
    first, second, third = e * i - f * h, f * g - d * i, d * h - e * g
    whole = a * first + b * second + c * third
    share = 1.0 / whole if whole else math.nan
    return (
        (first * share, (c * h - b * i) * share, (b * f - c * e) * share),
        (second * share, (a * i - c * g) * share, (c * d - a * f) * share),
        (third * share, (b * g - a * h) * share, (a * e - b * d) * share),
    )


def relative(move: Sequence[float], place: Sequence[float]) -> float:
    """The size of a step for (x, b1, b2) beside the place where it begins."""
    (dx, d1, d2), (x, _, b2) = move, place
    return max(abs(dx) / x, abs(d1) / (math.sqrt(abs(b2)) or 1.0), abs(d2 / (b2 or 1.0)))


class NetworkBulk(OneGroup):
    """The deterministic equivalent of rows of a given law, at a ridge and beta; one group.

    The last solution and its slopes are remembered: they are the next start.
    """

    def __init__(self, ridge: float, beta: float, law: BulkLaw) -> None:
        super().__init__(ridge, beta, law.bulk)
        self.law = law
        self._frame = Frame.of(signal_vectors(law))
        self._last: tuple[Array, _Point] | None = None
        self._computed: tuple[Array, _Point] | None = None

    def at(self, conjugates: Array) -> _Point:
        """(T, tau), K (3 x 3) on (v, delta, theta_perp), and the derivatives of both at the pair (C, D)."""
        if self._last is not None and np.array_equal(conjugates, self._last[0]):
            return self._last[1]
        C, D = conjugates.tolist()
        solution = self._solve(C, self.ridge + D, conjugates)
        place = solution.tolist()
        return self.kept(conjugates, self.step(C, D, place), place)

    def kept(self, conjugates: Array, step: Step, place: Sequence[float]) -> _Point:
        """The point of a last step from a place, remembered."""
        solution = np.array([at + move for at, move in zip(place, step.move, strict=True)])
        C, values, jacobian = float(conjugates[0]), np.array(step.values), np.array(step.jacobian).reshape(2, 2)
        if self._last is not None and self._last[1].computed:
            self._computed = self._last
        slopes, beside = np.array(step.slopes), None
        if self._computed is not None:
            there, known = self._computed
            apart = conjugates - there
            if bool((np.abs(apart) <= _SAME * conjugates).all()):
                beside = known, apart
        overlaps = partial(self._computed_overlaps, C, solution, slopes) if beside is None else partial(_near, *beside)
        point = _Point(values, jacobian, overlaps, solution, slopes, beside is not None)
        self._last = conjugates.copy(), point
        return point

    def begun(self, C: float, D: float, *, near: bool) -> list[float]:
        """A place to begin at: as the last solution leads to (C, D), which is `near`, or with no regard to it."""
        if not near or self._last is None:
            return list(self._swept(C, self.ridge + D, _SWEEPS[0]).tolist())
        there, point = self._last
        return list((point.solution + point.slopes @ (np.array([C, D]) - there)).tolist())

    def inside(self, shift: float, place: Sequence[float]) -> bool:
        """Whether a place (x, b1, b2) may be on the way to a solution, at shift = ridge + D."""
        x, b1, b2 = place
        return 0.0 < x <= 2.0 * self.beta / shift and (4.0 * b2 > b1 * b1 if b1 else b2 * self.law.omega >= 0.0)

    def step(self, C: float, D: float, place: Sequence[float]) -> Step:
        """Newton's step for (x, b1, b2) at (C, D) from a place, and Gamma as it leads there."""
        x, b1, b2 = place
        at = self._linearised(C, self.ridge + D, x, b1, b2)
        inverse = _inverse(at.system)
        (u, v, w), (s, t, r) = at.by_conjugate, at.values
        slopes = [(-(a * u + b * v + c * w), -a * x) for a, b, c in inverse]
        (p, q), *_ = slopes
        dx, d1, d2 = (-(a * s + b * t + c * r) for a, b, c in inverse)
        # T = tau tr B H, tr B H as a function of (x, b1, b2; C). That in C is x/C times that in x, and is formed
        # without dividing by C. T and tau are slopes of one function; of the two equal entries p is no difference.
        by_C = at.filled_by_gain * x + sum(f * y for f, (y, _) in zip(at.filled_slopes, slopes, strict=True))
        jacobian = (p * at.filled + x * by_C) / self.beta, p / self.beta, p / self.beta, q / self.beta
        f_x, f_1, f_2 = at.filled_slopes
        led = (x + dx) * at.filled + x * (f_x * dx + f_1 * d1 + f_2 * d2)
        return Step((led / self.beta, (x + dx) / self.beta), jacobian, slopes, (dx, d1, d2))

    def _linearised(self, C: float, shift: float, x: float, b1: float, b2: float) -> _Linear:
        """(x (D + C tr B H) - beta, b1 as it follows - b1, b2 likewise), with derivatives."""
        S1, S2, *fall = self.law.labels.moved_sums(b1, b2)
        g = C * x
        at = blocks(self.law, g, S1, S2)
        by_b = []
        by_g = []
        for slope_g, slope_1, slope_2 in block_slopes(self.law, g, S1, S2, at):
            by_g.append(slope_g)
            by_b.append((-slope_1 * fall[0] - slope_2 * fall[1], -slope_1 * fall[1] - slope_2 * fall[2]))
        filled = float(at.filled)
        return _Linear(
            values=(x * (shift + C * filled) - self.beta, at.b1 - b1, at.b2 - b2),
            system=(
                (shift + C * (filled + g * by_g[0]), g * by_b[0][0], g * by_b[0][1]),
                (C * by_g[1], by_b[1][0] - 1.0, by_b[1][1]),
                (C * by_g[2], by_b[2][0], by_b[2][1] - 1.0),
            ),
            by_conjugate=(x * (filled + g * by_g[0]), x * by_g[1], x * by_g[2]),
            filled=filled,
            filled_slopes=(C * by_g[0], *by_b[0]),
            filled_by_gain=by_g[0],
        )

    def _solve(self, C: float, shift: float, conjugates: Array) -> Array:
        """(x, b1, b2) with x = beta tau in (0, beta/shift], by Newton's method; not numbers where it found none.

        For C < 0 there is none; what asks for it is on the way to a solution and has gone astray.
        """
        if not (C >= 0.0 and shift > 0.0):
            return np.full(3, math.nan)
        if self._last is not None:
            there, point = self._last
            found, size = self._newton(C, shift, point.solution + point.slopes @ (conjugates - there))
            if size < _SOLVED:
                return found
        for sweeps in _SWEEPS:
            found, size = self._newton(C, shift, self._swept(C, shift, sweeps))
            if size < _SOLVED:
                return found
        return np.full(3, math.nan)

    def _swept(self, C: float, shift: float, sweeps: int) -> Array:
        """The equations applied one after the other, from the isotropic bulk."""
        x, b1, b2 = self._isotropic_start(C, shift), 0.0, 0.0
        for _ in range(sweeps):
            at = blocks(self.law, C * x, *self.law.labels.moved_sums(b1, b2)[:2])
            # Half of the way: all of it may circle.
            x = 0.5 * (x + self.beta / (shift + C * at.filled))
            b1, b2 = 0.5 * (b1 + at.b1), 0.5 * (b2 + at.b2)
        return np.array([x, b1, b2])

    def _newton(self, C: float, shift: float, start: Array) -> tuple[Array, float]:
        """The solution found and the relative size of its last step."""
        x, b1, b2 = start.tolist()
        before = size = math.inf
        for _ in range(_MOST_STEPS):
            if not self.inside(shift, (x, b1, b2)):
                return np.array([x, b1, b2]), math.inf
            at = self._linearised(C, shift, x, b1, b2)
            u, v, w = at.values
            moves = [a * u + b * v + c * w for a, b, c in _inverse(at.system)]
            size = relative(moves, (x, b1, b2))
            x, b1, b2 = x - moves[0], b1 - moves[1], b2 - moves[2]
            # A step squares its size: the next one would be lost in rounding.
            if size < _LAST or (size < _SOLVED and size >= before):
                break
            before = size
        return np.array([x, b1, b2]), size

    def _isotropic_start(self, C: float, shift: float) -> float:
        """x for B = c: the root of D x + (C c x - beta)(1 - C c x) below 1 and beta, over C c."""
        return self.beta * marchenko_pastur(C, shift, self.beta, self.law.bulk)[1]

    def _computed_overlaps(self, C: float, solution: Array, slopes: Array) -> tuple[Array, Array]:
        """K and its slopes."""
        found = self.overlaps(C, solution, slopes)
        return found[0].real, found.imag / _STEP

    def overlaps(self, C: float, solution: Array, slopes: Array) -> NDArray[Any]:
        """K as complex numbers (2, 3, 3) whose imaginary parts are its steps along C and along D."""
        law = self.law
        averages = self._frame.sums @ law.labels.over(float(solution[1]), float(solution[2]))
        sums = averages[:, :1] + 1j * _STEP * (averages[:, 1:] @ slopes[1:])
        found = []
        for conjugate, moved, along in zip((C + 1j * _STEP, C), slopes[0].tolist(), sums.T.tolist(), strict=True):
            x = complex(solution[0], _STEP * moved)
            try:
                found.append(signal_overlaps(law, x, x * conjugate, self._frame, along))
            except (ZeroDivisionError, OverflowError):  # where an array would have no number
                found.append([[complex(math.nan, math.nan)] * 3] * 3)
        return np.array(found)


def _near(known: _Point, apart: Array) -> tuple[Array, Array]:
    """K as the slopes of another point have it, so far off, and these slopes."""
    overlap, slopes = known.overlap, known.overlap_jacobian()
    return overlap + apart[0] * slopes[0] + apart[1] * slopes[1], slopes


def signal_vectors(law: BulkLaw) -> Array:
    """v, theta_perp, w_f' and w_f on (theta, n_1, n_2, n_3), (4, 4)."""
    first = np.asarray(law.labels.first)
    v, perp = ((x[0], x[1], 0.0, 0.0) for x in (law.direction, law.perpendicular))
    added, pulled = ((float(first @ f), *f) for f in (np.array(law.added), np.array(law.pulled)))
    return np.array([v, perp, added, pulled])


def signal_overlaps(law: Any, x: Any, gain: Any, frame: Frame, sums: Sequence[Any] | Array) -> list[list[Any]]:
    """K on (v, delta, theta_perp) at x = beta tau and g = gain, from the sums of the frame of `signal_vectors`: numbers
    of any kind, or arrays of them of one shape.
    """
    form = forms(law, gain, frame, sums)
    # Of v, theta_perp and h = P w_f + w_f'.
    v_h, p_h = form.resolvent(0, 2) + form.bridge(0), form.resolvent(1, 2) + form.bridge(1)
    h_h = form.resolvent(2, 2) + 2.0 * form.bridge(2) + form.turned
    v_v, v_p, p_p, plain = form.filled(0, 0), form.filled(0, 1), form.filled(1, 1), form.resolvent(0, 0)
    v, perp, norm = law.independent
    first, second = x * (v_h / plain + v * norm), x * (v_p / plain + v * perp)
    cross = x * (p_h + gain * v_p * v_h / plain + norm * perp)
    return [
        [x * (v_v / plain + v * v), first, second],
        [first, x * (law.norm_variance - gain * (h_h - v_h * v_h / plain) + norm * norm), cross],
        [second, cross, x * (p_p + gain * v_p * v_p / plain + perp * perp)],
    ]
