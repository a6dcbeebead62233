"""Rational enclosures of the elementary functions at a rational point: f(x) lies in the pair (low, high) returned.

Standard library only.  exp and log come from `decimal`, whose results are correctly rounded; the others from Taylor
series in integers with a stated slack.  The slack is absolute, about 2**-bits.
"""

from __future__ import annotations

import functools
import math
from decimal import MAX_EMAX, MIN_EMIN, ROUND_CEILING, ROUND_FLOOR, Context, Decimal
from fractions import Fraction

Pair = tuple[Fraction, Fraction]

# Further out the digits of exp would never end: exp(-3400) < 2**-4900.
LARGEST_ARGUMENT = 3400


def round_down(x: Fraction, bits: int) -> Fraction:
    """The largest multiple of a power of two below x with `bits` significant bits."""
    return _rounded(x, bits, up=False)


def round_up(x: Fraction, bits: int) -> Fraction:
    """The smallest multiple of a power of two above x with `bits` significant bits."""
    return _rounded(x, bits, up=True)


def _rounded(x: Fraction, bits: int, up: bool) -> Fraction:
    above, below = x.numerator, x.denominator
    if above.bit_length() <= bits and below.bit_length() <= bits:
        return x
    shift = bits - above.bit_length() + below.bit_length()
    scaled = above << shift if shift >= 0 else above
    scale = below if shift >= 0 else below << -shift
    quotient = -(-scaled // scale) if up else scaled // scale
    return Fraction(quotient, 1 << shift) if shift >= 0 else Fraction(quotient << -shift)


def _context(bits: int, rounding: str) -> Context:
    return Context(prec=bits * 302 // 1000 + 8, rounding=rounding, Emin=MIN_EMIN, Emax=MAX_EMAX, traps=[])


def _decimals(x: Fraction, bits: int) -> tuple[Decimal, Decimal]:
    above, below = Decimal(x.numerator), Decimal(x.denominator)
    return _context(bits, ROUND_FLOOR).divide(above, below), _context(bits, ROUND_CEILING).divide(above, below)


def _widened(low: Decimal, high: Decimal, bits: int) -> Pair:
    # 2**-bits is more than one unit in the last of bits * 0.302 + 8 digits; a zero is exact (log 1)
    slack = Fraction(1, 2**bits)
    bottom, top = Fraction(low), Fraction(high)
    return bottom - abs(bottom) * slack, top + abs(top) * slack


def exp_pair(x: Fraction, bits: int) -> Pair:
    """Enclosure of exp(x), x <= 3400, relative width about 2**-bits; for x < -3400 only [0, 2**-4900]."""
    if x < -LARGEST_ARGUMENT:
        return Fraction(0), Fraction(1, 2**4900)
    low, high = _decimals(x, bits + 16)
    context = _context(bits + 16, ROUND_FLOOR)
    return _widened(context.exp(low), context.exp(high), bits + 16)


def log_pair(x: Fraction, bits: int) -> Pair:
    """Enclosure of log(x) for x > 0."""
    low, high = _decimals(x, bits + 16)
    context = _context(bits + 16, ROUND_FLOOR)
    return _widened(context.ln(low), context.ln(high), bits + 16)


def sqrt_pair(x: Fraction, bits: int) -> Pair:
    """Enclosure of sqrt(x) for x >= 0."""
    shift = max(0, bits + (x.denominator.bit_length() - x.numerator.bit_length()) // 2 + 2)
    root = math.isqrt((x.numerator << 2 * shift) // x.denominator)
    return Fraction(root, 1 << shift), Fraction(root + 1, 1 << shift)


def root_pair(x: Fraction, exponent: Fraction, bits: int) -> Pair:
    """Enclosure of x**exponent for x > 0 and a rational exponent, through exp(exponent log x)."""
    low, high = log_pair(x, bits + 16)
    ends = sorted((exponent * low, exponent * high))
    return exp_pair(ends[0], bits)[0], exp_pair(ends[1], bits)[1]


@functools.lru_cache(maxsize=64)
def pi_pair(bits: int) -> Pair:
    """Enclosure of pi, by Machin's formula pi = 16 atan(1/5) - 4 atan(1/239)."""
    width = bits + 20
    value = 16 * _atan_inverse(5, width) - 4 * _atan_inverse(239, width)
    # each series errs by at most one unit per term, and has fewer than `width` terms
    slack = 40 * width
    return Fraction(value - slack, 1 << width), Fraction(value + slack, 1 << width)


def _atan_inverse(n: int, width: int) -> int:
    term = (1 << width) // n
    total, k = 0, 0
    while term:
        total += (-1) ** k * (term // (2 * k + 1))
        term //= n * n
        k += 1
    return total


def _series(x: int, width: int, start: int, first: int) -> int:
    """sum_k (-1)^k x^(2k + first)/(2k + first)! in units of 2**-width, for |x| <= 4."""
    square = (x * x) >> width
    term, total, k = start, 0, first
    while abs(term) > 1:
        total += term
        term = -((term * square) >> width) // ((k + 1) * (k + 2))
        k += 2
    return total


@functools.lru_cache(maxsize=4096)
def sin_cos_pairs(x: Fraction, bits: int) -> tuple[Pair, Pair]:
    """Enclosures of sin(x) and cos(x); kept, since a point is asked for as both ends of an interval."""
    size = max(0, x.numerator.bit_length() - x.denominator.bit_length())
    low, high = pi_pair(bits + size + 20)
    turns = round(x / (2 * low))
    ends = sorted((x - 2 * turns * low, x - 2 * turns * high)) if turns else [x, x]
    width = bits + 30
    one = 1 << width  # all that follows is counted in units of 2**-width
    point = math.floor(ends[0] * one)
    # Lipschitz constant 1: the width of the reduced argument, plus one unit per term of at most 100 + bits terms
    slack = math.ceil((ends[1] - ends[0]) * one) + 2 * (200 + bits)
    sine, cosine = _series(point, width, point, 1), _series(point, width, one, 0)
    return _within_one(sine, slack, one), _within_one(cosine, slack, one)


def _within_one(value: int, slack: int, one: int) -> Pair:
    return Fraction(max(-one, value - slack), one), Fraction(min(one, value + slack), one)


def atan_pair(x: Fraction, bits: int) -> Pair:
    """Enclosure of atan(x)."""
    if x < 0:
        low, high = atan_pair(-x, bits)
        return -high, -low
    if x > 1:
        low, high = atan_pair(1 / x, bits)
        pi_low, pi_high = pi_pair(bits + 4)
        return pi_low / 2 - high, pi_high / 2 - low
    width = bits + 30
    one = 1 << width
    t = math.floor(x * one)
    for _ in range(2):  # atan(t) = 2 atan(t / (1 + sqrt(1 + t^2))): |t| <= tan(pi/16) < 1/5 after two halvings
        t = (t << width) // (one + math.isqrt(one * one + t * t))
    square = (t * t) >> width
    term, total, k = t, 0, 0
    while term:
        total += (-1) ** k * (term // (2 * k + 1))
        term = (term * square) >> width
        k += 1
    slack = 8 * (k + 8)  # one unit per term and per halving, times the factor 4 of the halvings, doubled
    return Fraction(4 * total - slack, one), Fraction(4 * total + slack, one)


def erf_pair(x: Fraction, bits: int) -> Pair:
    """Enclosure of erf(x)."""
    if x < 0:
        low, high = erf_pair(-x, bits)
        return -high, -low
    if x * x > bits or x > 40:
        # 0 < erfc(x) <= exp(-x^2)
        return 1 - exp_pair(-x * x, 64)[1], Fraction(1)
    growth = math.ceil(x * x * Fraction(3, 2))  # the terms grow like exp(x^2) before they fall
    width = bits + 40 + growth
    point = math.floor(x * (1 << width))
    square = (point * point) >> width
    term, total, n = point, 0, 0
    while abs(term) > 1:
        total += (-1) ** n * (term // (2 * n + 1))
        n += 1
        term = ((term * square) >> width) // n
    slack = Fraction(4 * (n + 4), 1 << (width - growth))
    value = Fraction(total, 1 << width)
    root_low, root_high = sqrt_pair(pi_pair(bits + 20)[0], bits + 20)[0], sqrt_pair(pi_pair(bits + 20)[1], bits + 20)[1]
    return max(Fraction(0), 2 * (value - slack) / root_high), min(Fraction(1), 2 * (value + slack) / root_low)
