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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.network_constants import ALONG, ROWS, TILTED, Labels


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


# Y^i Y^j is Y^(i + j): from the nine products of coefficients to the five of a product of polynomials.
_DEGREES = (np.add.outer(np.arange(3), np.arange(3)).ravel()[:, None] == np.arange(5)).astype(float)


@dataclass(frozen=True)
class Frame:
    """Vectors on (theta, n_1, n_2, n_3) between which forms are taken; P acts on the last of them.

    on_theta (m,): their components on theta. sums: what takes averages over D (14, ...) to E[Y/D], E[Y^2/D], those with
    u^2, of the vectors as polynomials F in Y the E[u Y F/D] and then the E[u Y^2 F/D], and E[Y^k F F'/D], k = 0, 1, 2,
    pair by pair.
    """

    on_theta: list[Any]
    sums: NDArray[Any]

    @classmethod
    def of(cls, vectors: NDArray[Any]) -> Frame:
        """The frame of vectors (m, 4), numbers of any kind."""
        m, polynomials, first = len(vectors), vectors[:, 1:], TILTED.start
        left, right = np.triu_indices(m)
        sums = np.zeros((4 + 2 * m + 3 * len(left), ROWS), dtype=vectors.dtype)
        sums[0, 0] = sums[1, 1] = sums[2, ALONG.start] = sums[3, ALONG.start + 1] = 1.0
        sums[4 : 4 + m, first : first + 3] = polynomials
        sums[4 + m : 4 + 2 * m, first + 1 : first + 4] = polynomials
        products = (polynomials[left, :, None] * polynomials[right, None, :]).reshape(-1, 9) @ _DEGREES
        for k in range(3):
            sums[4 + 2 * m + k :: 3, 1 + k : 6 + k] = products
        return cls(vectors[:, 0].tolist(), sums)


class Forms(NamedTuple):
    """u.H w and u.(1 - H) w/g of vectors of a frame by their places, u no later than w; u.H P f and f.P H P f for the
    last one, f.
    """

    resolvent: Callable[[int, int], Any]
    filled: Callable[[int, int], Any]
    bridge: Callable[[int], Any]
    turned: Any


def forms(law: RowLaw, gain: Any, frame: Frame, sums: Sequence[Any] | NDArray[Any]) -> Forms:
    """The forms at g = gain from `Frame.sums` of the averages over D: all numbers, or arrays of one shape."""
    S1, S2, T1, T2, *rest = sums
    on, m = frame.on_theta, len(frame.on_theta)
    low, high, pairs = rest[:m], rest[m : 2 * m], rest[2 * m :]
    g, alpha0, omega, nu = gain, law.batch_ratio, law.omega, law.turn
    at = blocks(law, g, S1, S2)
    a, b, k, n = at.trace, at.bridge, at.rest, at.n
    turned = nu / alpha0
    # theta: as the traces, with u^2 in the averages.
    stretch = (omega + k * nu * turned) * T2
    slant = law.root + nu * T1 + g * b * nu * turned * T2
    bend = a * nu * turned * T2
    whole = (1.0 + g * stretch) * (1.0 + g * bend) + g * slant * slant
    a_t, b_t, k_t = (1.0 + g * bend) / whole, slant / whole, (1.0 + g * stretch) / whole
    corner = (stretch * (1.0 + g * bend) + slant * slant) / whole
    # What a sample's own weight does to a vector: in the first block, and in the second.
    first = [turned * b * y + at.steep * z for y, z in zip(low, high, strict=True)]
    second = [turned * a * y for y in low]
    along = [a_t * y + b_t * z for y, z in zip(first, second, strict=True)]
    p = turned * k * low[-1] - (g * omega * b / alpha0) * high[-1]
    q = turned * b * low[-1] + turned * turned * n * high[-1]
    f, below, aside, crossed = on[-1], a_t * p - g * b_t * q, b_t * p + k_t * q, 2.0 * b * turned

    def place(u: int, w: int) -> int:
        """Where E[Y^k F F'/D] begin, for u <= w."""
        return 3 * (u * (2 * m - u - 1) // 2 + w)

    def noise(u: int, w: int) -> Any:
        mixed = first[u] * second[w] + second[u] * first[w]
        return g * a_t * first[u] * first[w] + g * b_t * mixed - k_t * second[u] * second[w]

    def resolvent(u: int, w: int) -> Any:
        return (
            a_t * on[u] * on[w]
            - g * (along[w] * on[u] + along[u] * on[w] - noise(u, w))
            + a * pairs[place(u, w)] / alpha0
        )

    def filled(u: int, w: int) -> Any:
        at_pair = place(u, w)
        own = at.filled * pairs[at_pair] + crossed * pairs[at_pair + 1] + at.steep * pairs[at_pair + 2]
        return corner * on[u] * on[w] + along[w] * on[u] + along[u] * on[w] + own / alpha0 - noise(u, w)

    def bridge(u: int) -> Any:
        at_pair = place(u, m - 1)
        own = (b * pairs[at_pair] + turned * n * pairs[at_pair + 1]) / alpha0
        seen = first[u] * below + second[u] * aside
        return (b_t * f + below) * on[u] + (k_t * second[u] - g * b_t * first[u]) * f + own - g * seen

    squared = (bend * (1.0 + g * stretch) + slant * slant) / whole * f * f + 2.0 * aside * f
    squared += (at.turned * pairs[-3] + crossed * pairs[-2] + at.flat * pairs[-1]) / alpha0
    squared += a_t * p * p - g * (2.0 * b_t * p * q + k_t * q * q)
    return Forms(resolvent, filled, bridge, squared)


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
