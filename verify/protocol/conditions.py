"""The conditions of theorems, compared with the domain of a claim.

A theorem may hold under conditions alone: a denominator that does not vanish, a root or logarithm of what is positive.
Over a claim's domain such a condition holds, fails somewhere, or is left open; then the claim assumes it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from itertools import islice, product
from random import Random

import sympy as sp
from flint import acb
from sympy.core.function import AppliedUndef

from giantsteps.derivations.kernel.conditions import forms
from giantsteps.derivations.kernel.statements import Assumption, Condition, Demand
from giantsteps.derivations.kernel.terms import nonnegative, nonzero, positive, substitute
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.kernel.vacuity.established import asked_by
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.rendering import latex
from giantsteps.verify.protocol.balls import Ball, NoBallError, enclose, rational_ball
from giantsteps.verify.protocol.claim import Domain
from giantsteps.verify.protocol.evidence import OF_A_THEOREM, Outcome, Settled

# Boxes that a domain is cut into at most, and symbols and parts of a formula that is enclosed over them.
_MOST_BOXES, _MOST_SYMBOLS, _MOST_PARTS = 64, 6, 400

Box = Mapping[sp.Symbol, tuple[Fraction, Fraction]]


@dataclass(frozen=True)
class Holding:
    """What the conditions of theorems are on a domain: those that fail in it, and those that nothing decides, in words;
    neither where they hold all over it.
    """

    failing: tuple[str, ...] = ()
    open: tuple[str, ...] = ()


def holding(theorems: Iterable[Theorem], domain: Domain) -> Holding:
    """How the conditions of theorems fare on a domain. A symbol has the range of its name."""
    ranges = {r.name: (Fraction(repr(r.low)), Fraction(repr(r.high))) for r in domain.ranges if not r.choices}
    failing: dict[Condition, None] = {}
    open_: dict[Condition, None] = {}
    for theorem in theorems:
        for condition in asked_by(theorem):
            if not condition.of_variable:
                held = _holds(condition, theorem.assumptions, ranges)
                if held is not True:
                    (open_ if held is None else failing)[condition] = None
    return Holding(_said(failing), tuple(f"{formula} {OF_A_THEOREM}" for formula in _said(open_)))


IS_A_THEOREM = "the statement is a theorem"


def on_domain(theorems: Sequence[Theorem], domain: Domain) -> tuple[Settled, tuple[str, ...]]:
    """That a statement is a theorem all over its domain, and what that takes for granted of the theorem's conditions;
    open where one of them fails in the domain.
    """
    held = holding(theorems, domain)
    if held.failing:
        return Settled(IS_A_THEOREM, Outcome.UNDECIDED, f"but its domain is not all {', '.join(held.failing)}"), ()
    return Settled(IS_A_THEOREM, Outcome.SUPPORTS, "made by the kernel, and made again"), held.open


def _said(conditions: Iterable[Condition]) -> tuple[str, ...]:
    """Conditions as formulas, those of one term together, and a term that is not zero with one sign."""
    demands: dict[sp.Expr, set[Demand]] = {}
    for condition in conditions:
        demands.setdefault(condition.term, set()).add(condition.demand)
    found = set()
    for term, asked in demands.items():
        if asked == {Demand.NONZERO}:
            turned = -term if term.could_extract_minus_sign() else term
            if demands.get(-term, asked) == asked:  # else the other sign says more
                found.add(rf"${latex(turned)} \neq 0$")
        else:
            above = ">" if Demand.NONZERO in asked else r"\geq"
            found.add(rf"${latex(term)} {above} 0$")
    return tuple(sorted(found))


def _holds(
    condition: Condition, assumptions: frozenset[Assumption], ranges: Mapping[str, tuple[Fraction, Fraction]]
) -> bool | None:
    """Whether a condition holds all over a domain; False where it fails in it, None where neither is seen."""
    known = list(forms(condition.term, assumptions))
    for form in known:
        signs = {s: _with_sign(s, *ranges[s.name]) for s in form.free_symbols if s.name in ranges}
        form = substitute(form, signs)
        if _decided(form, condition.demand):
            return True
        hopeless = condition.demand is Demand.NONNEGATIVE and _long(form) and _below_zero(form)
        if not hopeless and _decided_expanded(form, condition.demand):
            return True
    for form in known:
        box = {s: ranges[s.name] for s in form.free_symbols if s.name in ranges}
        held = _over(form, condition.demand, box) if len(box) == len(form.free_symbols) and _small(form) else None
        if held is not None:
            return held
    return None


def _small(form: sp.Expr) -> bool:
    """Whether a formula of numbers can be enclosed over many boxes."""
    few = len(form.free_symbols) <= _MOST_SYMBOLS and sum(1 for _ in sp.preorder_traversal(form)) <= _MOST_PARTS
    return few and not form.has(Expectation, AppliedUndef)


def _decided(term: sp.Expr, demand: Demand) -> bool:
    return nonzero(term) or positive(term) if demand is Demand.NONZERO else nonnegative(term)


# Theorems of one chapter share conditions, and forms of them with many names put in are long.
@lru_cache(maxsize=1024)
def _decided_expanded(form: sp.Expr, demand: Demand) -> bool:
    """Whether the signs in what a formula expands to decide a demand that they do not decide in the formula itself."""
    if demand is Demand.NONZERO and isinstance(form, sp.Add):
        # That its negative expands to what is positive was asked of the sum itself, and SymPy remembers the expansion.
        whole = -sp.expand(-form)
        return positive(whole) if isinstance(whole, sp.Add) else _decided(whole, demand)
    return _decided(sp.expand(form), demand)


# Parts of a formula that is looked at before it is expanded, which takes seconds for the longest; and values at which
# that is done: of many sizes, so that one term outweighs the others.
_LONG = 100
_PLACES, _LARGEST_POWER = 64, 6


def _long(form: sp.Expr) -> bool:
    return any(True for _ in islice(sp.preorder_traversal(form), _LONG, None))


@lru_cache(maxsize=1024)
def _below_zero(form: sp.Expr) -> bool:
    """Whether a ball shows a formula to be negative at one of some places that the signs of its symbols allow: then no
    sign is seen in what it expands to, the same numbers, and a long formula expands slowly.
    """
    drawn, symbols = Random(0), sorted(form.free_symbols, key=str)
    for _ in range(_PLACES):
        ball = _enclosed(form, {symbol: (_value(symbol, drawn),) * 2 for symbol in symbols})
        if ball is None:
            return False
        if ball < 0:
            return True
    return False


def _value(symbol: sp.Symbol, drawn: Random) -> Fraction:
    """A random value of the sign that a symbol is declared to have, or of either."""
    size = Fraction(2) ** drawn.randint(0 if symbol.is_integer else -_LARGEST_POWER, _LARGEST_POWER)
    if symbol.is_nonnegative:
        return size
    return -size if symbol.is_nonpositive or drawn.randrange(2) else size


@lru_cache(maxsize=1024)
def _with_sign(symbol: sp.Symbol, low: Fraction, high: Fraction) -> sp.Symbol:
    """A symbol with the sign that its range gives it, whatever was declared of its name."""
    if low > 0:
        return sp.Dummy(symbol.name, positive=True)
    if high < 0:
        return sp.Dummy(symbol.name, negative=True)
    return sp.Dummy(symbol.name, nonnegative=True) if low == 0 else sp.Dummy(symbol.name, real=True)


def _over(form: sp.Expr, demand: Demand, box: Box) -> bool | None:
    """Whether a formula is not zero, or not negative, all over a box, by balls around it on parts of the box.

    It is zero somewhere if it has both signs, and its ball over the whole box is finite: then it is continuous there.
    """
    signs = set[bool]()
    continuous = _enclosed(form, box) is not None
    pending, looked = [dict(box)], 0
    for point in (*_corners(box), *_corners({symbol: ((low + high) / 2,) for symbol, (low, high) in box.items()})):
        if demand is Demand.NONZERO and form.xreplace(point) == 0:
            return False
    while pending and looked < _MOST_BOXES:
        part, looked = pending.pop(0), looked + 1
        middle = {symbol: ((low + high) / 2,) * 2 for symbol, (low, high) in part.items()}
        ball = _enclosed(form, middle)
        if ball is not None and not ball.contains(0):
            signs.add(bool(ball > 0))
        if signs == {True, False} if demand is Demand.NONZERO else False in signs:
            return False if demand is Demand.NONNEGATIVE or continuous else None
        whole = _enclosed(form, part)
        if whole is not None and (whole >= 0 if demand is Demand.NONNEGATIVE else not whole.contains(0)):
            continue
        if not part:
            return None
        pending += _halves(part)
    return None if pending else True


def _enclosed(form: sp.Expr, box: Box) -> Ball | None:
    """A real ball around the values of a formula over a box; None where it may be undefined, or not real."""
    try:
        ends = {symbol: tuple(map(rational_ball, at)) for symbol, at in box.items()}
        ball = enclose(form, {symbol: low.union(high) for symbol, (low, high) in ends.items()})
    except NoBallError:
        return None
    return ball.real if acb(ball).is_finite() and ball.imag == 0 else None


def _corners(box: Mapping[sp.Symbol, tuple[Fraction, ...]]) -> Iterator[dict[sp.Symbol, sp.Rational]]:
    for ends in product(*box.values()):
        yield {symbol: sp.Rational(end.numerator, end.denominator) for symbol, end in zip(box, ends, strict=True)}


def _halves(part: Mapping[sp.Symbol, tuple[Fraction, Fraction]]) -> list[dict[sp.Symbol, tuple[Fraction, Fraction]]]:
    """A box cut in two across its longest side."""
    symbol = max(part, key=lambda s: part[s][1] - part[s][0])
    low, high = part[symbol]
    middle = (low + high) / 2
    return [{**part, symbol: (low, middle)}, {**part, symbol: (middle, high)}]
