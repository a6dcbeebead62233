"""Real roots of polynomials with rational coefficients c_0, c_1, ..., isolated by Sturm sequences.

Inside, polynomials are lists of integers without common divisor: scaling by a positive number changes neither roots nor
signs, and integers are far cheaper than fractions.
"""

from __future__ import annotations

import functools
import math
from fractions import Fraction
from itertools import pairwise

from giantsteps.derivations.expressions.budget import spend

Polynomial = list[Fraction]
Whole = list[int]

# Above this degree the height of the strip without roots is not worth its price.
_LARGEST_DEGREE = 32


def value_at(p: Polynomial, x: Fraction) -> Fraction:
    """p(x) by Horner's rule."""
    total = Fraction(0)
    for c in reversed(p):
        total = total * x + c
    return total


def differentiated(p: Polynomial) -> Polynomial:
    """p'."""
    return [k * c for k, c in enumerate(p)][1:] or [Fraction(0)]


def common_divisor(p: Polynomial, q: Polynomial) -> Polynomial:
    """A greatest common divisor with integer coefficients of no common divisor."""
    return [Fraction(c) for c in _divisor(_whole(p), _whole(q))]


def divides(p: Polynomial, q: Polynomial) -> bool:
    """Whether q is a multiple of p, which is not constant."""
    return _remainder(_whole(q), _whole(p)) == [0]


def integers(p: Polynomial) -> Whole:
    """A positive multiple of p with integer coefficients of no common divisor."""
    return list(_whole(p))


def root_bound(p: Polynomial) -> Fraction:
    """A power of two larger than the modulus of every complex root (Cauchy)."""
    whole = _whole(p)
    largest = 1 + max((Fraction(abs(c), abs(whole[-1])) for c in whole[:-1]), default=Fraction(0))
    return Fraction(1 << math.ceil(largest).bit_length())


def isolate(p: Polynomial) -> list[tuple[Fraction, Fraction]]:
    """Sorted disjoint brackets of the distinct real roots: (r, r) for a rational one, else ends that are no roots."""
    return list(_isolated(tuple(_whole(p))))


def without_multiples(p: Polynomial) -> Polynomial:
    """A polynomial with the roots of p, each once."""
    return [Fraction(c) for c in _simple(_whole(p))]


def square_part(p: Polynomial) -> tuple[Polynomial, Polynomial]:
    """(q, r) with p = q^2 r, where r has no multiple roots and q has integer coefficients; p is not zero."""
    rest, root = _whole(p), [1]
    scale = p[len(rest) - 1] / rest[-1]
    while len(repeated := _divisor(rest, _slope(rest))) > 1:
        multiple = _simple(repeated)  # each multiple root once
        root = _times(root, multiple)
        rest = _exact_quotient(rest, _times(multiple, multiple))
    return [Fraction(c) for c in root], [scale * c for c in rest]


def halved(p: Polynomial, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """The half of an isolating bracket (low, high] that holds the root."""
    middle = (low + high) / 2
    whole = _whole(p)
    chain = _sturm_chain(whole, _slope(whole))
    return (low, middle) if _changes_at(chain, low) != _changes_at(chain, middle) else (middle, high)


def roots_above(p: Polynomial, height: Fraction) -> int | None:
    """Number of complex roots with imaginary part > height; None when it cannot be told (a root on that line).

    With q(w) = p(w + i height) = a(w) + i b(w), the Cauchy index of b/a on the real line counts the roots of q in the
    lower half plane minus those in the upper one.
    """
    real, imaginary = shifted(p, height)
    a, b = _whole_pair(real, imaginary)
    if len(_divisor(_primitive(a), _primitive(b))) > 1 or len(a) < len(b):
        return None  # two roots of p mirror each other in the line, or one lies on it
    chain = _sturm_chain(a, b)
    index = _changes_at_infinity(chain, -1) - _changes_at_infinity(chain, 1)
    degree = len(_whole(p)) - 1
    return (degree - index) // 2 if (degree - index) % 2 == 0 else None


def shifted(p: Polynomial, height: Fraction) -> tuple[Polynomial, Polynomial]:
    """Real and imaginary parts of p(w + i height) as polynomials in w."""
    real: Polynomial = [Fraction(0)]
    imaginary: Polynomial = [Fraction(0)]
    for c in reversed(p):  # Horner: (real + i imaginary) (w + i height) + c
        following = [Fraction(0), *real], [Fraction(0), *imaginary]
        for k, (r, i) in enumerate(zip(real, imaginary, strict=True)):
            following[0][k] -= height * i
            following[1][k] += height * r
        real, imaginary = following
        real[0] += c
    return real, imaginary


def root_free_height(p: Polynomial, steps: int = 20) -> Fraction:
    """A height y such that no complex root has |Im| <= y, nearly the largest (by bisection); 0 with a real root.

    Also 0 where the degree is so high that the search is not made.
    """
    whole = _whole(p)
    if len(whole) == 1:
        return Fraction(1 << 64)  # a constant has no roots at all
    return Fraction(0) if len(whole) - 1 > _LARGEST_DEGREE else _free_height(tuple(whole), steps)


@functools.lru_cache(maxsize=256)
def _free_height(whole: tuple[int, ...], steps: int) -> Fraction:
    if _isolated(whole):
        return Fraction(0)
    p = [Fraction(c) for c in whole]
    half = (len(p) - 1) // 2
    low, high = Fraction(0), root_bound(p)
    # first the power of two, then `steps` bits
    low = Fraction(0)
    while high > Fraction(1, 2**40) and not low:
        low = _cleared_height(p, high / 2, half)
        high = high if low else high / 2
    for _ in range(steps):
        middle = (low + high) / 2
        cleared = _cleared_height(p, middle, half)
        low, high = (cleared, high) if cleared > low else (low, middle)
    return low


def _cleared_height(p: Polynomial, height: Fraction, half: int) -> Fraction:
    """The height, or one a little below, where that is known to lie under all roots of the upper half plane; else 0."""
    for tried in (height, height * Fraction(2**30 - 1, 2**30)):
        count = roots_above(p, tried)
        if count is not None:
            return tried if count == half else Fraction(0)
        # two roots may happen to mirror each other in the line Im = height: a nearby line tells
    return Fraction(0)


# ---- integers -------------------------------------------------------------------------------------------------------


def _trimmed(p: Whole) -> Whole:
    end = len(p)
    while end > 1 and p[end - 1] == 0:
        end -= 1
    return p[:end]


def _primitive(p: Whole) -> Whole:
    p = _trimmed(p)
    content = math.gcd(*p)
    return [c // content for c in p] if content > 1 else p


def _whole(p: Polynomial) -> Whole:
    """A positive multiple of p with integer coefficients of no common divisor."""
    scale = math.lcm(*(c.denominator for c in p))
    return _primitive([c.numerator * (scale // c.denominator) for c in p])


def _whole_pair(p: Polynomial, q: Polynomial) -> tuple[Whole, Whole]:
    scale = math.lcm(*(c.denominator for c in [*p, *q]))
    return (
        _trimmed([c.numerator * (scale // c.denominator) for c in p]),
        _trimmed([c.numerator * (scale // c.denominator) for c in q]),
    )


def _slope(p: Whole) -> Whole:
    return [k * c for k, c in enumerate(p)][1:] or [0]


def _remainder(p: Whole, q: Whole) -> Whole:
    """A positive multiple of the remainder of p by q, primitive."""
    rest = _trimmed(list(p))
    lead = q[-1]
    while len(rest) >= len(q) and rest != [0]:
        spend(len(q) * (1 + lead.bit_length() // 256))
        shared = math.gcd(rest[-1], lead)
        scale, factor = abs(lead) // shared, rest[-1] // shared * (1 if lead > 0 else -1)
        shift = len(rest) - len(q)
        rest = [scale * c for c in rest]
        for i, c in enumerate(q):
            rest[i + shift] -= factor * c
        rest = _primitive(rest[:-1] or [0])
    return _primitive(rest)


def _divisor(p: Whole, q: Whole) -> Whole:
    while q != [0]:
        p, q = q, _remainder(p, q)
    return _primitive(p)


def _exact_quotient(p: Whole, q: Whole) -> Whole:
    """p / q for primitive q that divides p: integers again, by Gauss's lemma."""
    rest, quotient = list(p), [0] * (len(p) - len(q) + 1)
    for shift in range(len(quotient) - 1, -1, -1):
        factor = rest[shift + len(q) - 1] // q[-1]
        quotient[shift] = factor
        for i, c in enumerate(q):
            rest[i + shift] -= factor * c
    return quotient


def _simple(p: Whole) -> Whole:
    """The primitive polynomial with each root of p once, and a positive leading coefficient."""
    found = _exact_quotient(p, _divisor(p, _slope(p)))
    return found if found[-1] > 0 else [-c for c in found]


def _times(p: Whole, q: Whole) -> Whole:
    return [sum(p[i] * q[k - i] for i in range(len(p)) if 0 <= k - i < len(q)) for k in range(len(p) + len(q) - 1)]


def _sturm_chain(p: Whole, q: Whole) -> list[Whole]:
    """The signed remainder sequence of p and q."""
    chain = [p, q]
    while chain[-1] != [0]:
        chain.append([-c for c in _remainder(chain[-2], chain[-1])])
    return chain[:-1]


def sign_at(p: Whole, x: Fraction) -> int:
    """The sign of p(x), in integers."""
    above, below = x.numerator, x.denominator
    total, scale = 0, 1
    for c in reversed(p):
        total = total * above + c * scale
        scale *= below
    return (total > 0) - (total < 0)


def _changes(signs: list[int]) -> int:
    return sum(1 for a, b in pairwise([s for s in signs if s]) if a != b)


def _changes_at(chain: list[Whole], x: Fraction) -> int:
    return _changes([sign_at(p, x) for p in chain])


def _changes_at_infinity(chain: list[Whole], side: int) -> int:
    return _changes([(1 if p[-1] > 0 else -1) * (side if len(p) % 2 == 0 else 1) for p in chain])


@functools.lru_cache(maxsize=512)
def _isolated(whole: tuple[int, ...]) -> tuple[tuple[Fraction, Fraction], ...]:
    p = list(whole)
    if len(p) == 1:
        return ()
    squarefree = _exact_quotient(p, _divisor(p, _slope(p)))
    chain = _sturm_chain(squarefree, _slope(squarefree))
    bound = root_bound([Fraction(c) for c in squarefree])
    pending = [(-bound, bound, _changes_at(chain, -bound), _changes_at(chain, bound))]
    found: list[tuple[Fraction, Fraction]] = []
    while pending:
        spend(5 * len(chain) ** 2)
        low, high, at_low, at_high = pending.pop()
        if at_low - at_high == 1:  # roots in (low, high]
            found.append(_sharpened(squarefree, low, high))
        elif at_low > at_high:
            middle = (low + high) / 2
            between = _changes_at(chain, middle)
            pending += [(low, middle, at_low, between), (middle, high, between, at_high)]
    return tuple(sorted(found))


def _sharpened(p: Whole, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """The bracket of the one root in (low, high], narrowed until a rational root shows itself."""
    if sign_at(p, high) == 0:
        return high, high
    scale = abs(p[-1])  # a rational root has a denominator that divides the leading coefficient
    # the sign just above `low` is that of the derivative when low itself is a root left of the bracket
    above_low = sign_at(p, low) or sign_at(_slope(p), low)
    while sign_at(p, low) == 0 or (high - low) * scale >= Fraction(1, 2):
        middle = (low + high) / 2
        sign = sign_at(p, middle)
        if sign == 0:
            return middle, middle
        low, high = (middle, high) if sign == above_low else (low, middle)
    candidate = Fraction(round((low + high) / 2 * scale), scale)
    if low < candidate <= high and sign_at(p, candidate) == 0:
        return candidate, candidate
    return low, high
