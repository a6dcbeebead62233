"""The trapezoidal rule on the line, with the proof of its error bound for all averages of this folder.

Let F be real on the real axis and analytic on the rectangle |Re| <= L, |Im| <= a, with L = (n + 1/2) h, |F(x + iy)| <=
B(x) there, B even, and let phi be the density of N(0, 1): |phi(x + iy)| = phi(x) e^{y^2/2}. Then

    |h sum_{|k| <= n} F(kh) phi(kh) - int_{-L}^{L} F phi| <= [2/(e^{2 pi a/h} - 1)] e^{a^2/2} E B
                                                             + [4 (h/2 pi) phi(L)] e^{a^2/2} B(L).

Proof. By residues the sum is (1/2i) oint F(z) phi(z) cot(pi z/h) dz. In the upper half cot w = -i(1 + 2e/(1-e)) with
e = e^{2iw}; the 1 gives half of the integral over [-L, L], so that the sum differs from the integral by at most the
integrals of |F phi| |e/(1-e)| over the other three sides, in both halves. On the top |e| = e^{-2 pi a/h}; on the sides
e = -e^{-2 pi y/h}, so |e/(1-e)| <= e^{-2 pi y/h}, of integral at most h/(2 pi).

On a strip, F phi falling off at its ends, the sides vanish as L grows: the infinite sum errs by the first term alone.
What a finite sum leaves out of it, or of the integral, is bounded by `Envelope.tail`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb

from giantsteps.numerics.balls.arithmetic import log_of, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import Envelope

Ball = Any


def density(x: Ball) -> Ball:
    """phi(x)."""
    return (-(x * x) / 2).exp() / (2 * arb.pi()).sqrt()


def lifted(height: Ball) -> Ball:
    """e^{a^2/2}: by how much phi is larger at height a than on the line."""
    return (height * height / 2).exp()


def aliasing(height: Ball, step: Ball) -> Ball:
    """2/(e^{2 pi a/h} - 1), the factor of the top and the bottom of the rectangle."""
    return 2 / ((2 * arb.pi() * height / step).exp() - 1)


def sides(end: Ball, step: Ball) -> Ball:
    """4 (h/2 pi) phi(L), the factor of its left and right side."""
    return 4 * step / (2 * arb.pi()) * density(end)


def nodes(step: Ball, count: int) -> tuple[tuple[Ball, Ball], ...]:
    """(kh, h phi(kh)) for |k| <= count."""
    return tuple((k * step, step * density(k * step)) for k in range(-count, count + 1))


def width(height: float, log_size: float, bits: int) -> float:
    """About the widest step whose error is 2**-bits where E B e^{a^2/2} has this logarithm."""
    return 2 * math.pi * height / wanted(log_size, bits)


def wanted(log_size: float, bits: int) -> float:
    """The logarithm of the share of a size that 2**-bits is, over 1; half of what is smaller than 2**-bits itself."""
    return max(log_size + bits * math.log(2), math.log(2))


def rounded(step: float, digits: int = 16) -> Fraction:
    """The step rounded down to so many binary digits, so that nodes are exact, and with few of them often the same."""
    mantissa, exponent = math.frexp(step)
    return Fraction(math.floor(math.ldexp(mantissa, digits)), 2**digits) * Fraction(2) ** exponent


@dataclass(frozen=True)
class Plan:
    """A height a that allows a wide step h, and for each integrand the mean E B e^{a^2/2} there."""

    height: Ball
    sizes: tuple[Ball, ...]
    width: float

    def errors(self, step: Ball, tails: Sequence[Envelope], end: Ball) -> tuple[Ball, ...]:
        """What each sum of this step over |z| <= end misses its integral by at most; `tails` bound F on the line."""
        factor = aliasing(self.height, step)
        return tuple((factor * size + tail.tail(end)).upper() for size, tail in zip(self.sizes, tails, strict=True))


def plan(
    heights: Iterable[Fraction],
    bounds: Callable[[Fraction], Sequence[Envelope] | None],
    scale: Ball,
    bits: int,
) -> Plan | None:
    """The plan with the widest step; None without any bound.

    heights: of the strip in the argument x = mean + scale z, increasing. bounds: those of the integrands in z at one of
    them, None from where on there are none. The search ends there, or where the step becomes shorter again.
    """
    best: Plan | None = None
    for height in heights:
        found = bounds(height)
        if found is None:
            break
        y = rational_ball(height) / scale
        sizes = tuple((lifted(y) * bound.mean()).upper() for bound in found)
        if not all(size.is_finite() for size in sizes):
            break
        # The slope of a constant that is no polynomial (cosh(97) + 1) is zero.
        widest = width(float(y), max(map(log_of, sizes)), bits)
        if best is not None and widest < best.width:
            break
        best = Plan(y, sizes, widest)
    return best


# Of an entire function, in units of the scale of z, and shares of a strip.
_LADDER = [Fraction(n, 16) for n in (1, 4, 16, 32, 48, 64, 80, 96, 128, 192, 256, 384, 512)]
_SHARES = [Fraction(n, 100) for n in (50, 80, 90, 95, 98)]


def heights(strip: Fraction | float, scale: Ball, bits: int) -> tuple[Fraction, ...]:
    """Heights to try in x = mean + scale z for a function analytic on |Im x| <= strip (a float where it is entire).

    A power of two near the scale is their unit, so that many scales share them and what is known at them.
    """
    return _heights(strip, round(math.log2(float(scale))), bits)


@lru_cache(maxsize=1024)
def _heights(strip: Fraction | float, exponent: int, bits: int) -> tuple[Fraction, ...]:
    unit = Fraction(2) ** exponent
    ladder = [n * unit for n in _LADDER if n * n < 8 * bits]
    if isinstance(strip, float):
        return tuple(ladder)
    # Where the strip is wide beside the scale the Gaussian limits the height.
    return (*(height for height in ladder if unit <= height < strip / 2), *(strip * share for share in _SHARES))
