"""(1 + g B)^-1 for the rows of a network after its step, B = P^2 + omega A with P = r + nu M and r = 1.

M = (1/n0) sum Y x x^T and A = (1/n0) sum Y^2 x x^T of the batch. With H = (1 + g B)^-1 the matrix

    [[1 + g omega A, sqrt(g) P], [sqrt(g) P, -1]]^-1 = [[H, sqrt(g) H P], [sqrt(g) P H, -(1 - g P H P)]]

is linear in the samples before it is inverted. Leaving one sample out, its normalised traces a = tr H, b = tr H P and
k = 1 - g tr P H P follow from averages over D = 1 + b1 Y + b2 Y^2 alone: with S_j = E[Y^j/D],

    M' = 1 + g (omega S_2 + (r + nu S_1)^2),   t = g nu^2 S_2/alpha0,   a M' (1 + t a) = 1,
    b = (r + nu S_1) a,   k = (1 + g omega S_2) a,   b1 = 2 g nu b/alpha0,   b2 = (g/alpha0) (omega a + nu^2 n/alpha0)

with n = a k + g b^2 = a^2 M'. 4 b2 - b1^2 = (4 g a/alpha0) (omega + nu^2 k/alpha0) > 0: D has no zero. At nu = 0 this
is the resolvent of A, D = 1 + Y^2 l. Forms on theta and on n_k = (1/n0) sum Y^k x - E[u Y^k] theta, u = theta.x, follow
from averages over D with u and u^2. Everything is written so that nothing cancels as g -> 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.network_constants import ALONG, POWERS, TILTED, Labels

Array = NDArray[np.float64]

# Y^(k + l + m) for k, l = 1, 2, 3 and m = 0, 1, 2, in the rows of POWERS.
_PAIRS = np.add.outer(np.arange(1, 4), np.arange(3))
_SHIFTED = np.add.outer(np.arange(3), _PAIRS)


class RowLaw(Protocol):
    """What the resolvent asks of a law: alpha0, omega, nu and r."""

    @property
    def batch_ratio(self) -> float: ...
    @property
    def omega(self) -> float: ...
    @property
    def turn(self) -> float: ...
    @property
    def root(self) -> float: ...


class Rows(NamedTuple):
    """A law's alpha0, omega, nu and r alone."""

    batch_ratio: float
    omega: float
    turn: float
    root: float = 1.0


class Blocks(NamedTuple):
    """a, b and k; n = a k + g b^2; filled = (1 - a)/g = tr B H and turned = (1 - k)/g = tr P H P; b1 and b2.

    steep = b2/g, flat = steep - omega n/alpha0, second = E[Y^2/D]. Numbers or arrays, real or complex.
    """

    trace: Any
    bridge: Any
    rest: Any
    n: Any
    filled: Any
    turned: Any
    b1: Any
    b2: Any
    steep: Any
    flat: Any
    second: Any


def blocks(law: RowLaw, g: Any, S1: Any, S2: Any) -> Blocks:
    """All of them at g, from E[Y/D] and E[Y^2/D]; analytic in its arguments."""
    alpha0, omega, nu = law.batch_ratio, law.omega, law.turn
    slant = law.root + nu * S1
    own = omega * S2 + slant * slant
    scale = 1.0 + g * own
    bend = nu * nu * S2 / alpha0
    # The root of a M' (1 + t a) = 1 that is positive, or leads there.
    a = 2.0 / (scale * (1.0 + (1.0 + 4.0 * g * bend / scale) ** 0.5))
    n = a * a * scale
    b = slant * a
    stretched = nu * nu * n / (alpha0 * alpha0)
    steep = a * omega / alpha0 + stretched
    return Blocks(
        trace=a,
        bridge=b,
        rest=(1.0 + g * omega * S2) * a,
        n=n,
        filled=a * own + bend * n,
        turned=a * slant * slant + bend * n,
        b1=2.0 * g * nu * b / alpha0,
        b2=g * steep,
        steep=steep,
        # a - n = a n t.
        flat=omega / alpha0 * a * n * g * bend + stretched,
        second=S2,
    )


Triple = tuple[float, float, float]


def block_slopes(law: RowLaw, g: Any, S1: Any, S2: Any, at: Blocks) -> tuple[Triple, Triple, Triple]:
    """Of filled, b1 and b2, each in (g, S1, S2); that of the root a of a M' (1 + t a) = 1 is an implicit function's."""
    alpha0, omega, nu = law.batch_ratio, law.omega, law.turn
    slant = law.root + nu * S1
    own = omega * S2 + slant * slant
    scale = 1.0 + g * own
    a, b, n = at.trace, at.bridge, at.n
    turned = nu * nu / alpha0
    bend = turned * S2
    t = g * bend
    first, second, whole = a * (1.0 + t * a), scale * a * a, scale * (1.0 + 2.0 * t * a)
    filled, b1, b2 = [], [], []
    for dg, d_slant, d_second in ((1.0, 0.0, 0.0), (0.0, nu, 0.0), (0.0, 0.0, 1.0)):
        d_own = omega * d_second + 2.0 * slant * d_slant
        d_scale = own * dg + g * d_own
        d_bend = turned * d_second
        da = -(first * d_scale + second * (bend * dg + g * d_bend)) / whole
        dn = 2.0 * a * scale * da + a * a * d_scale
        filled.append(da * own + a * d_own + d_bend * n + bend * dn)
        b1.append(2.0 * nu / alpha0 * (b * dg + g * (d_slant * a + slant * da)))
        b2.append(at.steep * dg + g * (omega * da + turned * dn) / alpha0)
    return _triple(filled), _triple(b1), _triple(b2)


def _triple(values: list[float]) -> Triple:
    first, second, third = values
    return first, second, third


@dataclass(frozen=True)
class Forms:
    """H, (1 - H)/g, H P and P H P on (theta, n_1, n_2, n_3), each (4, 4, ...)."""

    resolvent: NDArray[Any]
    filled: NDArray[Any]
    bridge: NDArray[Any]
    turned: NDArray[Any]


def forms(law: RowLaw, g: Any, at: Blocks, averages: NDArray[Any]) -> Forms:
    """The forms from the averages over D, (14, ...); g and the blocks have the shape of an average."""
    alpha0, nu = law.batch_ratio, law.turn
    (T1, T2), U = averages[ALONG], averages[TILTED]
    low, high = U[:3], U[1:]
    a, b, k, n = at.trace, at.bridge, at.rest, at.n
    # theta: as the traces, with u^2 in the averages.
    stretch = (law.omega + k * nu * nu / alpha0) * T2
    slant = law.root + nu * T1 + g * b * nu * nu * T2 / alpha0
    bend = a * nu * nu * T2 / alpha0
    whole = (1.0 + g * stretch) * (1.0 + g * bend) + g * slant * slant
    a_t, b_t, k_t = (1.0 + g * bend) / whole, slant / whole, (1.0 + g * stretch) / whole
    # What a sample's own weight does to n_k: in the first block, and in the second.
    m = (nu * b / alpha0) * low + at.steep * high
    j = (nu * a / alpha0) * low
    p = (nu * k / alpha0) * low - (g * law.omega * b / alpha0) * high
    q = (nu * b / alpha0) * low + (nu * nu * n / alpha0**2) * high
    powers = averages[POWERS]
    pairs = powers[_SHIFTED] / alpha0
    crossed = 2.0 * b * nu / alpha0

    # Every product of two of them at once: [x, y] is the outer product of x and y.
    rows = np.stack([m, j, p, q])
    outer = rows[:, None, :, None] * rows[None, :, None, :]
    M, J, P, Q = range(4)

    noise = g * a_t * outer[M, M] + g * b_t * (outer[M, J] + outer[J, M]) - k_t * outer[J, J]
    along = a_t * m + b_t * j
    below = a_t * p - g * b_t * q
    aside = b_t * p + k_t * q
    resolvent = _framed(a_t, -g * along, -g * along, g * noise + a * pairs[0])
    filled = _framed(
        (stretch * (1.0 + g * bend) + slant * slant) / whole,
        along,
        along,
        at.filled * pairs[0] + crossed * pairs[1] + at.steep * pairs[2] - noise,
    )
    bridge = _framed(
        b_t,
        below,
        k_t * j - g * b_t * m,
        b * pairs[0]
        + (nu * n / alpha0) * pairs[1]
        - g * (a_t * outer[M, P] - g * b_t * outer[M, Q] + b_t * outer[J, P] + k_t * outer[J, Q]),
    )
    turned = _framed(
        (bend * (1.0 + g * stretch) + slant * slant) / whole,
        aside,
        aside,
        at.turned * pairs[0]
        + crossed * pairs[1]
        + at.flat * pairs[2]
        + a_t * outer[P, P]
        - g * (b_t * (outer[P, Q] + outer[Q, P]) + k_t * outer[Q, Q]),
    )
    return Forms(resolvent, filled, bridge, turned)


def _framed(corner: Any, row: NDArray[Any], column: NDArray[Any], rest: NDArray[Any]) -> NDArray[Any]:
    """[[corner, row], [column, rest]]."""
    framed = np.empty((4, 4, *row.shape[1:]), dtype=rest.dtype)
    framed[0, 0], framed[0, 1:], framed[1:, 0], framed[1:, 1:] = corner, row, column, rest
    return framed


# Where (b1, b2) have all but stopped to change with g, from where they start to; and to what share they are wanted.
_GAINS, _STEADY, _MOST_STEPS = (1.0, 30.0, 1e3, 1e5), 3e-3, 60


def steepest(law: RowLaw, rule: Labels) -> tuple[float, float]:
    """(b1, b2) as g -> infinity, where the poles of 1/D are closest to the line; to a few digits, on any rule."""
    b1 = b2 = 0.0
    for g in _GAINS:
        for step in range(_MOST_STEPS):
            S1, S2, first, second, third = rule.moved_sums(b1, b2)
            at = blocks(law, g, S1, S2)
            _, (_, p1, p2), (_, q1, q2) = block_slopes(law, g, S1, S2, at)
            # Newton's method for b = F(b), by 1 - F'.
            a, b = 1.0 + p1 * first + p2 * second, p1 * second + p2 * third
            c, d = q1 * first + q2 * second, 1.0 + q1 * second + q2 * third
            share, x, y = 1.0 / (a * d - b * c or math.inf), at.b1 - b1, at.b2 - b2
            one, two = share * (d * x - b * y), share * (a * y - c * x)
            if not 4.0 * (b2 + two) > (b1 + one) ** 2:
                # Where it leads to a zero of D: some of the way to F, and less each time, since more of it may circle.
                share = 2.0 / (4.0 + step)
                one, two = share * x, share * y
            b1, b2 = b1 + one, b2 + two
            if abs(two) <= _STEADY * b2:
                break
    return b1, b2
