"""Values at which conditions hold together, looked for among a few thousand: what holds nowhere says nothing.

At each of them a symbol is a number of its declared sign, and a function without a formula an oscillation of its
declared sign, whose slopes those with names are. An average is exact of what is a polynomial, and else one over a few
values of its variables. What rounding leaves of a number is not known, and meets no condition. Where no such values are
found a theorem may be refused that speaks of something; none is concluded from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache, reduce
from math import erf
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import sympy as sp
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.conditions import slopes_named
from giantsteps.derivations.kernel.rational import vanishing
from giantsteps.derivations.kernel.statements import Demand, Refused
from giantsteps.derivations.kernel.terms import ANY, averages, free, nonnegative, nonzero
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import DERIVATIVES, PARTIALS

Values = npt.NDArray[np.float64]
Known = dict[sp.Expr, Values]
# The strictest theorem of the theory is met by one value in two thousand, and by one of the first.
_BLOCKS, _VALUES = 16, 512
# A sum by less than a billionth of its parts is rounding.
_ROUNDING = 1e-9
_FUNCTIONS: dict[Any, Any] = {
    sp.exp: lambda part: np.maximum(np.exp(part), 1e-300), sp.log: np.log, sp.Abs: np.abs, sp.tanh: np.tanh,
    sp.erf: np.vectorize(erf, [float]), sp.sin: np.sin, sp.cos: np.cos, sp.asin: np.arcsin, sp.atan: np.arctan,
    sp.ceiling: np.ceil, sp.Max: lambda *parts: reduce(np.maximum, parts), sp.Pow: np.power,
    sp.Mul: lambda *parts: reduce(np.multiply, parts),
}  # fmt: skip
_EITHER = (-1, 1)
# Averages within averages beyond which nothing is known: their values are as many as the product of all numbers.
_DEEPEST = 5


@dataclass(frozen=True)
class Where:
    """Where values are looked for: with what grows so many times larger, and also where rounding hides the answer."""

    growing: frozenset[sp.Symbol] = frozenset()
    times: float = 1.0
    unknown: bool = False


NEAR_BY = Where()


def meet(asked: frozenset[tuple[sp.Expr, Demand]], where: Where = NEAR_BY) -> bool:
    """Whether values are found at which each term is not zero, or not negative, as is asked of it."""
    everywhere = np.ones(_VALUES, bool)
    return any(
        reduce(np.logical_and, (_met(*one, where, block) for one in asked), everywhere).any()
        for block in range(_BLOCKS)
    )


@lru_cache(maxsize=32768)
def _met(term: sp.Expr, demand: Demand, where: Where, block: int) -> npt.NDArray[np.bool_]:
    """At which values of a block a term meets a condition, whatever the symbols are that stand for any value."""
    if nonnegative(term) if demand is Demand.NONNEGATIVE else nonzero(term):
        return np.ones(_VALUES, bool)
    term = term.xreplace({a: averaged(a) for a in averages(term) if a.integrand.is_polynomial(*a.variables)})
    anything = sorted(free(term) & ANY, key=str)
    with suppress(Refused):  # a denominator that is always zero
        if not anything and vanishing(term, (term,)) is not None:
            return np.full(_VALUES, demand is Demand.NONNEGATIVE)
    at = {name: _anything(number, _signs(name.assumptions0))[:, None] for number, name in enumerate(anything)}
    at |= {name: where.times * _drawn(name.name, _signs(name.assumptions0), block) for name in where.growing}
    with np.errstate(all="ignore"):
        found = np.atleast_2d(_value(term, at, len(anything[:1]), block, {}))
        fine = found >= 0 if demand is Demand.NONNEGATIVE else found != 0
        fine = fine | ~np.isfinite(found) if where.unknown else fine & np.isfinite(found)
    return np.broadcast_to(fine.all(axis=0), _VALUES)


def averaged(term: sp.Expr) -> sp.Expr:
    """A term with its averages as sums, constants moved out of them, and of polynomials their values."""
    if not isinstance(term, Expectation):
        return term.func(*map(averaged, term.args)) if term.has(Expectation) else term
    total: sp.Expr = sp.Integer(0)
    for part in sp.Add.make_args(sp.expand(averaged(term.integrand))):
        factor, rest = part.as_independent(*term.variables, as_Add=False)
        if rest.is_polynomial(*term.variables):
            powers = (rest.as_powers_dict()[name] for name in term.variables)
            rest = sp.Mul(*(sp.factorial2(k - 1) * (1 - k % 2) for k in powers))
        total += factor * Expectation(rest, *term.variables)
    return total


def _value(term: sp.Expr, at: Mapping[sp.Symbol, Values], depth: int, block: int, known: Known) -> Values:
    """A term at the values of a block, in the last axis; one is before it for each average around the term. ``known``
    are those of terms that stand under the same averages, and are added to.
    """
    if term not in known:
        known[term] = _anew(term, at, depth, block, known)
    return known[term]


def _anew(term: sp.Expr, at: Mapping[sp.Symbol, Values], depth: int, block: int, known: Known) -> Values:
    if isinstance(term, sp.Symbol):
        return at[term] if term in at else _drawn(term.name, _signs(term.assumptions0), block)
    if isinstance(term, Expectation):
        return _average(term, at, depth, block, known)
    parts = [_value(part, at, depth, block, known) for part in term.args]
    if isinstance(term, AppliedUndef):
        return _oscillation(term.func, parts, block)
    if isinstance(term, sp.Add):
        return _sum(parts, depth)
    if not parts:
        return _rounded(np.asarray(float(term) if term.is_real else np.nan), term == 0, depth)
    if term.func not in _FUNCTIONS:
        return np.asarray(np.nan)
    found = np.asarray(_FUNCTIONS[term.func](*parts))
    if term.func in (sp.Max, sp.ceiling):
        return found
    return _rounded(found, reduce(np.logical_or, [part == 0 for part in parts]) & (term.func is not sp.log), depth)


def _average(term: Expectation, at: Mapping[sp.Symbol, Values], depth: int, block: int, known: Known) -> Values:
    """What is a polynomial, averaged, and the average of the rest over a few values in an axis of its own."""
    if depth >= _DEEPEST:
        return np.asarray(np.nan)
    simple = [part for part in sp.Add.make_args(term.integrand) if part.is_polynomial(*term.variables)]
    if simple:
        exact = averaged(Expectation(sp.Add(*simple), *term.variables))
        rest = Expectation(term.integrand - sp.Add(*simple), *term.variables)
        return _value(sp.Add(exact, rest, evaluate=False) if rest != 0 else exact, at, depth, block, known)
    values = _law(len(term.variables), depth)
    inner = {v: one.reshape(-1, *[1] * (depth + 1)) for v, one in zip(term.variables, values, strict=True)}
    whole = _value(term.integrand, {**at, **inner}, depth + 1, block, {})
    return _sum([*whole], depth) / len(whole) if whole.ndim > depth + 1 else whole


def _sum(parts: list[Values], depth: int) -> Values:
    """What parts add up to: if to less than rounding, that is not known, and zero under an average."""
    total, size = sum(parts), sum(map(np.abs, parts))
    return np.where((np.abs(total) <= _ROUNDING * size) & (size > 0), 0.0 if depth else np.nan, total)


def _rounded(found: Values, zero: Any, depth: int) -> Values:
    """What is found; where it is zero by rounding alone that is not known, and zero under an average."""
    return found if depth else np.where((found == 0) & ~np.asarray(zero, bool), np.nan, found)


@lru_cache(maxsize=64)
def _law(count: int, depth: int) -> Values:
    """Values of that many standard normal variables, of their means and variances; fewer in averages within others."""
    size = count + max(2, 12 // (1 + depth))
    half = np.linalg.qr(np.random.default_rng(count).normal(size=(size, count)))[0].T * np.sqrt(size)
    return np.asarray(np.concatenate([half, -half], axis=1))


@lru_cache(maxsize=64)
def _anything(number: int, signs: tuple[int, ...]) -> Values:
    """What a symbol is that stands for any value of these signs: near zero, and far from it."""
    size = np.abs(np.random.default_rng(number).normal(size=64)) * np.repeat([0.1, 1.0, 10.0, 100.0], 16)
    return np.asarray(size * np.random.default_rng((number, 1)).choice(signs, 64))


def _signs(declared: Mapping[str, bool | None]) -> tuple[int, ...]:
    """The signs of numbers that are drawn for what is declared with a sign: one in eight is zero that may be."""
    if declared.get("negative"):
        return (-1,)
    return (1,) if declared.get("positive") else (0, *[1] * 7) if declared.get("nonnegative") else _EITHER


@lru_cache(maxsize=65536)
def _drawn(name: str, signs: tuple[int, ...], block: int) -> Values:
    """Numbers of these signs, from 1/50 to 50 in size; in the second half of the blocks from a millionth to a million,
    and in every other one most of them are positive where they may be.
    """
    random = np.random.default_rng(crc32(f"{block} {name}".encode()))
    size, signs = 14 if block >= _BLOCKS // 2 else 4, (*signs, *[signs[-1]] * 8 * (block % 2))
    return np.asarray(np.exp(random.uniform(-size, size, _VALUES)) * random.choice(signs, _VALUES))


def _oscillation(head: Any, arguments: list[Values], block: int) -> Values:
    """A + B sin(c x + t), or the slope of it for which a name stands; A is beyond B where a sign is declared."""
    root, places = _slope_of(head)
    name, signs = root.__name__, _signs(head._kwargs)
    size, phase = _drawn(f"B {name}", signs, block), _drawn(f"t {name}", _EITHER, block)
    speeds = [_drawn(f"c {name} {k}", _EITHER, block) for k, _ in enumerate(arguments)]
    inside = sum((c * x for c, x in zip(speeds, arguments, strict=True)), phase)
    wave = np.sin(inside + len(places) * np.pi / 2)
    if signs != _EITHER:
        return np.asarray(size * (1.1 + wave))
    swing = np.asarray(reduce(np.multiply, [speeds[place] for place in places], size * wave))
    return swing if head in slopes_named() else swing + _drawn(f"A {head.__name__}", _EITHER, block)


def _slope_of(head: Any) -> tuple[Any, tuple[int, ...]]:
    """The function that a name stands for a slope of, up to a constant, and the places in which: itself and none, if
    for none, or if it has a sign of its own.
    """
    slopes = slopes_named()

    def first(functions: frozenset[sp.Expr]) -> Any:
        return min(functions, key=lambda function: (function not in slopes, str(function)))

    if _signs(head._kwargs) == _EITHER and head in slopes:
        of = first(slopes[head])
        root, places = _slope_of(of)
        return root, (*places, PARTIALS[of].index(head) if of in PARTIALS else 0)
    sharing = first(slopes.get(DERIVATIVES.get(head), frozenset()) | {head})
    return (head, ()) if sharing == head else _slope_of(sharing)
