"""Real roots of polynomials with rational coefficients c_0, c_1, ..., isolated by Sturm sequences."""

from __future__ import annotations

import math
from fractions import Fraction
from itertools import pairwise

Polynomial = list[Fraction]


def trimmed(p: Polynomial) -> Polynomial:
    """p without leading zeros (at least one coefficient stays)."""
    end = len(p)
    while end > 1 and p[end - 1] == 0:
        end -= 1
    return list(p[:end])


def value_at(p: Polynomial, x: Fraction) -> Fraction:
    """p(x) by Horner's rule."""
    total = Fraction(0)
    for c in reversed(p):
        total = total * x + c
    return total


def differentiated(p: Polynomial) -> Polynomial:
    """p'."""
    return [k * c for k, c in enumerate(p)][1:] or [Fraction(0)]


def divided(p: Polynomial, q: Polynomial) -> tuple[Polynomial, Polynomial]:
    """Quotient and remainder of p by q (q not zero)."""
    q = trimmed(q)
    rest = trimmed(p)
    quotient = [Fraction(0)] * max(1, len(rest) - len(q) + 1)
    while len(rest) >= len(q) and rest != [0]:
        shift, factor = len(rest) - len(q), rest[-1] / q[-1]
        quotient[shift] = factor
        for i, c in enumerate(q):
            rest[i + shift] -= factor * c
        rest = trimmed(rest[:-1] or [Fraction(0)])
    return trimmed(quotient), rest


def common_divisor(p: Polynomial, q: Polynomial) -> Polynomial:
    """A greatest common divisor, made primitive."""
    p, q = trimmed(p), trimmed(q)
    while q != [0]:
        p, q = q, _primitive(divided(p, q)[1])
    return _primitive(p)


def _primitive(p: Polynomial) -> Polynomial:
    p = trimmed(p)
    if p == [0]:
        return p
    scale = math.lcm(*(c.denominator for c in p))
    whole = [int(c * scale) for c in p]
    content = math.gcd(*whole)
    return [Fraction(c, content) for c in whole]


def sturm_chain(p: Polynomial, q: Polynomial | None = None) -> list[Polynomial]:
    """The signed remainder sequence of p and q (q = p' by default)."""
    chain = [trimmed(p), trimmed(q if q is not None else differentiated(p))]
    while chain[-1] != [0]:
        rest = divided(chain[-2], chain[-1])[1]
        chain.append(_primitive([-c for c in rest]))
    return chain[:-1]


def _changes(signs: list[int]) -> int:
    kept = [s for s in signs if s]
    return sum(1 for a, b in pairwise(kept) if a != b)


def _sign(x: Fraction) -> int:
    return (x > 0) - (x < 0)


def changes_at(chain: list[Polynomial], x: Fraction) -> int:
    """Number of sign changes of the chain at x."""
    return _changes([_sign(value_at(p, x)) for p in chain])


def changes_at_infinity(chain: list[Polynomial], side: int) -> int:
    """Number of sign changes of the chain at side * infinity."""
    return _changes([_sign(p[-1]) * (side if len(p) % 2 == 0 else 1) for p in chain])


def root_bound(p: Polynomial) -> Fraction:
    """A power of two larger than the modulus of every complex root (Cauchy)."""
    p = trimmed(p)
    largest = 1 + max((abs(c / p[-1]) for c in p[:-1]), default=Fraction(0))
    return Fraction(1 << math.ceil(largest).bit_length())


def isolate(p: Polynomial) -> list[tuple[Fraction, Fraction]]:
    """Sorted disjoint brackets of the distinct real roots: (r, r) for a rational one, else ends that are no roots."""
    p = _primitive(p)
    if len(p) == 1:
        return []
    squarefree = divided(p, common_divisor(p, differentiated(p)))[0]
    chain = sturm_chain(squarefree)
    bound = root_bound(squarefree)
    pending = [(-bound, bound)]
    found: list[tuple[Fraction, Fraction]] = []
    while pending:
        low, high = pending.pop()
        count = changes_at(chain, low) - changes_at(chain, high)  # roots in (low, high]
        if count == 0:
            continue
        if count == 1:
            found.append(_sharpened(squarefree, low, high))
            continue
        middle = (low + high) / 2
        pending += [(low, middle), (middle, high)]
    return sorted(found)


def _sharpened(p: Polynomial, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """The bracket of the one root in (low, high], narrowed until a rational root shows itself."""
    p = _primitive(p)
    if value_at(p, high) == 0:
        return high, high
    scale = abs(int(p[-1]))  # a rational root has a denominator that divides the leading coefficient
    while value_at(p, low) == 0 or (high - low) * scale >= Fraction(1, 2):
        middle = (low + high) / 2
        if value_at(p, middle) == 0:
            return middle, middle
        # the sign just above `low` is that of the derivative when low itself is a root left of the bracket
        at_low = _sign(value_at(p, low)) or _sign(value_at(differentiated(p), low))
        if _sign(value_at(p, middle)) == at_low:
            low = middle
        else:
            high = middle
    candidate = Fraction(round((low + high) / 2 * scale), scale)
    if low < candidate <= high and value_at(p, candidate) == 0:
        return candidate, candidate
    return low, high


def halved(p: Polynomial, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """The half of an isolating bracket (low, high] that holds the root; p has only simple roots in it."""
    middle = (low + high) / 2
    chain = sturm_chain(p)
    return (low, middle) if changes_at(chain, low) != changes_at(chain, middle) else (middle, high)


def roots_above(p: Polynomial, height: Fraction) -> int | None:
    """Number of complex roots with imaginary part > height; None when a root lies on that line.

    With q(w) = p(w + i height) = a(w) + i b(w), the Cauchy index of b/a on the real line counts the roots of q in the
    lower half plane minus those in the upper one.
    """
    real, imaginary = shifted(p, height)
    degree = len(trimmed(p)) - 1
    if len(common_divisor(real, imaginary)) > 1 or len(trimmed(real)) < len(trimmed(imaginary)):
        return None  # two roots of p mirror each other in the line, or one lies on it
    chain = sturm_chain(real, imaginary)
    index = changes_at_infinity(chain, -1) - changes_at_infinity(chain, 1)
    return (degree - index) // 2 if (degree - index) % 2 == 0 else None


def shifted(p: Polynomial, height: Fraction) -> tuple[Polynomial, Polynomial]:
    """Real and imaginary parts of p(w + i height) as polynomials in w."""
    real: Polynomial = [Fraction(0)]
    imaginary: Polynomial = [Fraction(0)]
    for c in reversed(trimmed(p)):  # Horner: (real + i imaginary) (w + i height) + c
        size = max(len(real), len(imaginary)) + 1
        r, i = real + [Fraction(0)] * (size - len(real)), imaginary + [Fraction(0)] * (size - len(imaginary))
        real = [(r[k - 1] if k else Fraction(0)) - height * i[k] for k in range(size)]
        imaginary = [(i[k - 1] if k else Fraction(0)) + height * r[k] for k in range(size)]
        real[0] += c
    return trimmed(real), trimmed(imaginary)


def root_free_height(p: Polynomial, steps: int = 20) -> Fraction:
    """A height y such that no complex root has |Im| <= y, nearly the largest (by bisection); 0 with a real root."""
    p = trimmed(p)
    half = len(p) // 2  # degree / 2
    if len(p) == 1:
        return root_bound(p)
    if isolate(p):
        return Fraction(0)
    low, high = Fraction(0), root_bound(p)
    for _ in range(steps + high.numerator.bit_length()):
        middle = (low + high) / 2
        if roots_above(p, middle) == half:
            low = middle
        else:
            high = middle
    return low
