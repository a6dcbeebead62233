"""Terms at a few points, enclosed in balls: a term that is above zero at one of them is not decidedly below zero.

Signs are decided by what symbols are declared to be, and so of all their values alike. One point at which a term has
the other sign refutes that without the term being multiplied out, which may take a thousand times as long.
"""

from __future__ import annotations

from functools import lru_cache
from math import prod
from zlib import crc32

import flint
import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.language.expectation import Expectation

# A term of either sign is found above zero at the first or second point where its roots are real, which few points may
# be: the next one is tried only if there is none so far, and what is not found is multiplied out.
_POINTS = 12
# What is not known: a value out of reach of a comparison, and so is all that is computed from it.
_UNKNOWN = flint.arb("nan")
_FUNCTIONS = {
    sp.exp: flint.arb.exp, sp.log: flint.arb.log, sp.Abs: abs, sp.tanh: flint.arb.tanh, sp.erf: flint.arb.erf,
    sp.sin: flint.arb.sin, sp.cos: flint.arb.cos, sp.atan: flint.arb.atan, Expectation: lambda inside, *_: inside,
}  # fmt: skip


def above_somewhere(*terms: sp.Expr) -> bool:
    """Whether the sum of terms is certainly > 0 at a point where symbols and functions have their declared signs.

    A function without a formula is a constant there, and so is what is averaged, at one value of each variable: an
    average has the sign that its integrand is decided to have, at all values of the variables alike, and to multiply
    out leaves it an average.
    """
    return any(sum((_value(term, point) for term in terms), flint.arb(0)) > 0 for point in range(_POINTS))


def nonzero_somewhere(term: sp.Expr) -> bool:
    """Whether a term is certainly not zero at such a point: then it is no zero as a fraction of its atoms, which obey
    there what they obey, for a function is some constant and an average the value of its integrand.
    """
    return bool(_value(term, 0).is_finite() and _value(term, 0) != 0)


@lru_cache(maxsize=262144)
def _value(term: sp.Expr, point: int) -> flint.arb:
    if isinstance(term, sp.Symbol):
        return _drawn(term, term.name, point)
    if isinstance(term, AppliedUndef):
        return _drawn(term, term.func.__name__, point)
    if isinstance(term, sp.Rational):
        return flint.arb(flint.fmpq(int(term.p), int(term.q)))
    parts = [_value(part, point) for part in term.args]
    if isinstance(term, sp.Add):
        return sum(parts, flint.arb(0))
    if isinstance(term, sp.Mul):
        return prod(parts, start=flint.arb(1))
    if isinstance(term, sp.Pow):
        return parts[0] ** parts[1] if parts[0].is_finite() else _UNKNOWN
    if term in (sp.pi, sp.E):
        return flint.arb.pi() if term == sp.pi else flint.arb(1).exp()
    return _FUNCTIONS[term.func](*parts) if term.func in _FUNCTIONS else _UNKNOWN


def _drawn(term: sp.Expr, name: str, point: int) -> flint.arb:
    """A number between 1/16 and 4 for a name, of the sign that is declared; of either where none is."""
    drawn = crc32(f"{point} {name}".encode())
    below = term.is_negative or (not term.is_nonnegative and drawn >> 6 & 1)
    return flint.arb(flint.fmpq(1 + drawn % 64, -16 if below else 16))
