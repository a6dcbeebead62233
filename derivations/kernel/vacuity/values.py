"""Values at which conditions hold together, looked for among a few thousand: what holds nowhere says nothing.

At each of them a symbol is a number of its declared sign, and a function without a formula an oscillation of its
declared sign, whose slopes those with names are. An average is one over a few values of its variables, and right for
low powers of them. What is left of a sum that cancels is rounding, and taken for zero. Where no such values are found
a theorem may be refused that speaks of something; none is concluded from them.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache, reduce
from math import prod
from typing import Any
from zlib import crc32

import numpy as np
import numpy.typing as npt
import sympy as sp
from scipy import special
from sympy.core.function import AppliedUndef

from onestep.derivations.kernel.conditions import slopes_named
from onestep.derivations.kernel.statements import Demand
from onestep.derivations.kernel.terms import ANY, free
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import DERIVATIVES, PARTIALS
from onestep.derivations.language.normal_probabilities import OwensT

Values = npt.NDArray[np.float64]
# Of the theorems of the theory, that which asks most is met by seven values in a thousand.
_BLOCKS, _VALUES = 16, 512
# A sum by less than a billionth of its parts is rounding.
_ROUNDING = 1e-9
_FUNCTIONS: dict[Any, Any] = {
    sp.exp: np.exp, sp.log: np.log, sp.Abs: np.abs, sp.tanh: np.tanh, sp.erf: special.erf, sp.sin: np.sin,
    sp.cos: np.cos, sp.asin: np.arcsin, sp.atan: np.arctan, sp.ceiling: np.ceil, OwensT: special.owens_t,
    sp.Max: lambda *parts: reduce(np.maximum, parts), sp.Mul: lambda *parts: prod(parts), sp.Pow: np.power,
}  # fmt: skip
_EITHER = (-1, 1)
# What symbols are that stand for any value: near zero, and far from it.
_ANYTHING = np.random.default_rng(1).normal(size=(64, 16)) * np.repeat([0.1, 1.0, 10.0, 100.0], 16)[:, None]


def meet(asked: frozenset[tuple[sp.Expr, Demand]]) -> bool:
    """Whether values are found at which each term is not zero, or not negative, as is asked of it."""
    everywhere = np.ones(_VALUES, bool)
    return any(
        reduce(np.logical_and, (_met(*one, block) for one in asked), everywhere).any() for block in range(_BLOCKS)
    )


@lru_cache(maxsize=16384)
def _met(term: sp.Expr, demand: Demand, block: int) -> npt.NDArray[np.bool_]:
    """At which values of a block a term meets a condition, whatever the symbols are that stand for any value."""
    anything = sorted(free(term) & ANY, key=str)
    at = {name: values[:, None] for name, values in zip(anything, _ANYTHING.T, strict=False)}
    with np.errstate(all="ignore"):
        found = np.atleast_2d(_value(term, at, len(anything[:1]), block))
        fine = np.isfinite(found) & (found >= 0 if demand is Demand.NONNEGATIVE else found != 0)
    return np.broadcast_to(fine.all(axis=0), _VALUES)


def _value(term: sp.Expr, at: Mapping[sp.Symbol, Values], depth: int, block: int) -> Values:
    """A term at the values of a block, in the last axis; one is before it for each average around the term."""
    if isinstance(term, sp.Symbol):
        return at[term] if term in at else _drawn(term.name, _signs(term.assumptions0), block)
    if not term.args:
        return np.asarray(float(term))
    if isinstance(term, Expectation):
        values, weights = _law(len(term.variables))
        inner = {v: one.reshape(-1, *[1] * (depth + 1)) for v, one in zip(term.variables, values, strict=True)}
        whole = _value(term.integrand, {**at, **inner}, depth + 1, block)
        return _sum([w * part for w, part in zip(weights, whole, strict=True)]) if whole.ndim > depth + 1 else whole
    parts = [_value(part, at, depth, block) for part in term.args]
    if isinstance(term, sp.Add):
        return _sum(parts)
    if isinstance(term, AppliedUndef):
        return _oscillation(term.func, parts, block)
    return np.asarray(_FUNCTIONS[term.func](*parts) if term.func in _FUNCTIONS else np.nan)


def _sum(parts: list[Values]) -> Values:
    total, size = sum(parts), sum(map(np.abs, parts))
    return np.where((np.abs(total) <= _ROUNDING * size) & np.isfinite(size), 0.0, total)


@lru_cache(maxsize=64)
def _law(count: int) -> tuple[Values, Values]:
    """Values of that many standard normal variables, of their means and variances, and the weights of these."""
    if count < 4:
        nodes, weights = np.polynomial.hermite_e.hermegauss((7, 5, 3)[count - 1])
        grid, heavy = np.meshgrid(*[nodes] * count), np.meshgrid(*[weights / weights.sum()] * count)
        return np.reshape(grid, (count, -1)), np.reshape(heavy, (count, -1)).prod(axis=0)
    size = 12 + count
    half = np.linalg.qr(np.random.default_rng(count).normal(size=(size, count)))[0].T * np.sqrt(size)
    return np.concatenate([half, -half], axis=1), np.full(2 * size, 0.5 / size)


def _signs(declared: Mapping[str, bool | None]) -> tuple[int, ...]:
    """The signs of numbers that are drawn for what is declared with a sign: one in eight is zero that may be."""
    if declared.get("negative"):
        return (-1,)
    return (1,) if declared.get("positive") else (0, *[1] * 7) if declared.get("nonnegative") else _EITHER


@lru_cache(maxsize=65536)
def _drawn(name: str, signs: tuple[int, ...], block: int) -> Values:
    """Numbers from 1/50 to 50 in size, of these signs."""
    random = np.random.default_rng(crc32(f"{block} {name}".encode()))
    return np.asarray(np.exp(random.uniform(-4, 4, _VALUES)) * random.choice(signs, _VALUES))


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
    swing = np.asarray(size * prod(speeds[place] for place in places) * wave)
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
