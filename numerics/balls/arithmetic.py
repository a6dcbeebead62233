"""Ball arithmetic on expression trees: python-flint's arb and acb, with the `analytic` flag carried to every node.

flint's precision is global state: set it with `precision(bits)`.  A program is compiled for one precision, because
constants made at a lower one would limit the result.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from contextlib import AbstractContextManager
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Self

from flint import acb, arb, ctx

from giantsteps.derivations.activations.locations import Location
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.exact import PrecisionError as PrecisionError
from giantsteps.derivations.expressions.exact import flint_set
from giantsteps.derivations.expressions.exact import precision as precision
from giantsteps.derivations.expressions.exact import rational_ball as rational_ball
from giantsteps.derivations.expressions.tree import Condition, Expression

Ball = Any  # arb or acb
Step = Callable[[list[Ball], bool], Ball]


class BallError(ArithmeticError):
    """A certified value could not be obtained; the message says why, in one sentence."""


def series_terms(count: int) -> AbstractContextManager[None]:
    """Series of flint have so many terms inside the block; their length is global state as the precision is."""
    return flint_set("cap", count)


def log_of(size: Ball) -> float:
    """About the logarithm of an upper bound of a size: minus infinity where that is 0, as of a target that is 0."""
    above = size.upper()
    return -math.inf if above == 0 else float(above.log())


class Combined:
    """What `+`, `-x` and `*` are defined of: a difference, and a number on the left."""

    if TYPE_CHECKING:

        def __add__(self, other: Any) -> Self: ...

        def __neg__(self) -> Self: ...

        def __mul__(self, other: Any) -> Self: ...

    def __radd__(self, other: Any) -> Self:
        return self.__add__(other)

    def __sub__(self, other: Any) -> Self:
        return self.__add__(-other)

    def __rsub__(self, other: Any) -> Self:
        return (-self).__add__(other)

    def __rmul__(self, other: Any) -> Self:
        return self.__mul__(other)


def between(low: Fraction, high: Fraction) -> Ball:
    """The smallest arb around [low, high]."""
    return rational_ball(low).union(rational_ball(high))


class Program:
    """Several expressions compiled together: common sub-expressions are evaluated once."""

    def __init__(self, expressions: tuple[Expression, ...]) -> None:
        self._steps: list[Step] = []
        self._places: dict[Expression, int] = {tree.Variable(): 0}
        self._results = [self._place(e) for e in expressions]

    def run(self, x: Ball, analytic: bool = False) -> list[Ball]:
        """The values at the ball x (arb or acb).

        With analytic=True a value is not finite unless the expression is analytic on all of x.
        """
        values = [x]
        for step in self._steps:
            values.append(step(values, analytic))
        return [values[place] for place in self._results]

    def __len__(self) -> int:
        """How many steps a run takes."""
        return len(self._steps)

    def _place(self, expr: Expression) -> int:
        known = self._places.get(expr)
        if known is None:
            self._steps.append(self._step(expr))
            known = self._places[expr] = len(self._steps)
        return known

    def _step(self, expr: Expression) -> Step:
        match expr:
            case tree.Number(value):
                ball = rational_ball(value)
                return lambda v, analytic: ball
            case tree.Constant(name):
                constant = arb.pi() if name == "pi" else arb(1).exp()
                return lambda v, analytic: constant
            case tree.Sum(terms):
                return self._fold(terms, lambda a, b: a + b)
            case tree.Product(factors):
                return self._fold(factors, lambda a, b: a * b)
            case tree.Quotient(numerator, denominator):
                return self._quotient(numerator, denominator)
            case tree.Power(base, tree.Number(q)):
                return self._power(self._place(base), q)
            case tree.Call(name, argument):
                place, function = self._place(argument), _FUNCTIONS[name]
                return lambda v, analytic: function(v[place], analytic)
            case tree.Maximum(args) | tree.Minimum(args):
                return self._extremum(args, isinstance(expr, tree.Maximum))
            case tree.Piecewise(pieces):
                return self._piecewise(pieces)
        raise tree.unreadable(expr)

    def _fold(self, parts: tuple[Expression, ...], join: Callable[[Ball, Ball], Ball]) -> Step:
        places = [self._place(p) for p in parts]
        if len(places) == 2:
            first, second = places
            return lambda v, analytic: join(v[first], v[second])
        return lambda v, analytic: functools.reduce(join, [v[p] for p in places])

    def _quotient(self, numerator: Expression, denominator: Expression) -> Step:
        above = self._place(numerator)
        base, exponent = denominator, tree.Number(Fraction(1))
        if isinstance(denominator, tree.Power) and isinstance(denominator.exponent, tree.Number):
            base, exponent = denominator.base, denominator.exponent
        if isinstance(base, tree.Call) and base.name == "cosh" and exponent.value.denominator == 1:
            # sech stays finite on wide boxes where a box around cosh holds 0
            inner, k = self._place(base.argument), int(exponent.value)
            return lambda v, analytic: v[above] * whole_power(v[inner].sech(), k)
        below = self._place(denominator)
        return lambda v, analytic: v[above] / v[below]

    def _power(self, place: int, q: Fraction) -> Step:
        if q.denominator == 1:
            k = int(q)
            return lambda v, analytic: whole_power(v[place], k)
        exponent = rational_ball(q)
        return lambda v, analytic: _fractional_power(v[place], exponent, analytic)

    def _extremum(self, args: tuple[Expression, ...], largest: bool) -> Step:
        places = [self._place(a) for a in args]

        def step(v: list[Ball], analytic: bool) -> Ball:
            best = v[places[0]]
            for place in places[1:]:
                other = v[place]
                sign = _real_sign(best - other)
                if sign == 0:
                    if analytic:
                        return _not_a_number()
                    best = _hull(best, other)
                elif (sign > 0) != largest:
                    best = other
            return best

        return step

    def _piecewise(self, pieces: tuple[tuple[Expression, Condition], ...]) -> Step:
        built = [
            (self._place(value), [(self._place(c.left), c.op, self._place(c.right)) for c in condition])
            for value, condition in pieces
        ]

        def step(v: list[Ball], analytic: bool) -> Ball:
            possible: Ball | None = None
            for place, tests in built:
                states = [_holds(v[left] - v[right], op) for left, op, right in tests]
                if False in states:
                    continue
                possible = v[place] if possible is None else _hull(possible, v[place])
                if None not in states:
                    return possible
                if analytic:
                    return _not_a_number()
            raise TypeError("the last piece of a Piecewise must always hold")

        return step


def whole_power(u: Ball, k: int) -> Ball:
    """u**k by repeated squaring: flint's real power is not finite on a ball around 0."""
    result: Ball | None = None
    while True:
        if k & 1:
            result = u if result is None else result * u
        k >>= 1
        if not k:
            return result
        u = u * u


def _not_a_number() -> Ball:
    return acb(arb.nan(), arb.nan())


def _hull(a: Ball, b: Ball) -> Ball:
    if isinstance(a, acb) or isinstance(b, acb):
        return acb(a).union(acb(b))
    return a.union(b)


def _real(u: Ball) -> Ball:
    return u.real if isinstance(u, acb) else u


def _real_sign(u: Ball) -> int:
    """The sign of the real part, 0 when undecided or zero."""
    re = _real(u)
    return 1 if re > 0 else -1 if re < 0 else 0


def _holds(gap: Ball, op: str) -> bool | None:
    """Whether (left op right) holds, from gap = left - right; decided by the real part."""
    re = _real(gap) if op in (">", ">=") else -_real(gap)
    if re > 0 or (op in (">=", "<=") and re >= 0):
        return True
    if re < 0 or (op in (">", "<") and re <= 0):
        return False
    return None


def _step_function(u: Ball, analytic: bool, below: Fraction, above: Fraction) -> Ball:
    sign = _real_sign(u)
    if sign:
        return rational_ball(above if sign > 0 else below)
    if analytic:
        return _not_a_number()
    if _real(u) == 0:
        return rational_ball((above + below) / 2)
    return between(below, above)


def _absolute(u: Ball, analytic: bool) -> Ball:
    sign = _real_sign(u)
    if sign:
        return u if sign > 0 else -u
    if analytic:
        return _not_a_number()
    return abs(u) if isinstance(u, arb) else abs(u.real) if u.imag == 0 else _hull(u, -u)


def _log(u: Ball, analytic: bool) -> Ball:
    return u.log(analytic=analytic) if isinstance(u, acb) else u.log()


def _sqrt(u: Ball, analytic: bool) -> Ball:
    return u.sqrt(analytic=analytic) if isinstance(u, acb) else u.sqrt()


def _fractional_power(u: Ball, exponent: Ball, analytic: bool) -> Ball:
    if u == 0:
        return u
    found = (_log(u, analytic) * exponent).exp()
    if not analytic and u.contains(0) and exponent > 0:  # |u^q| = |u|^q
        size = abs(u).upper() if isinstance(u, arb) else u.abs_upper()
        top = (size.log() * exponent).exp().upper()
        around = arb(0, top)
        return around if isinstance(u, arb) else acb(around, around)
    return found


def _cut_at_imaginary_units(u: Ball, analytic: bool) -> bool:
    """Whether u may meet the branch cuts i[1, oo) and -i[1, oo) of atan and asinh."""
    return analytic and isinstance(u, acb) and bool(u.real.contains(0)) and not abs(u.imag) < 1


def _atan(u: Ball, analytic: bool) -> Ball:
    return _not_a_number() if _cut_at_imaginary_units(u, analytic) else u.atan()


def _asinh(u: Ball, analytic: bool) -> Ball:
    if isinstance(u, arb):
        return u.asinh()
    if _cut_at_imaginary_units(u, analytic):
        return _not_a_number()
    # flint's complex asinh is not finite on most boxes; log(u + sqrt(1 + u^2)) cancels for Re u < 0, so reflect
    if _real(u) < 0:
        return -_asinh(-u, analytic)
    return _log(u + _sqrt(u * u + 1, analytic), analytic)


def _sigmoid(u: Ball, analytic: bool) -> Ball:
    # on either side of Re u = 0 the exponential is small: a wide box does not meet the poles
    if _real(u) < 0:
        small = u.exp()
        return small / (1 + small)
    return 1 / (1 + (-u).exp())


def _softplus(u: Ball, analytic: bool) -> Ball:
    # u + log(1 + e^-u) is log(1 + e^u) where |Im u| < pi, also on a wide box; the cuts of the latter are further out
    near = isinstance(u, arb) or abs(u.imag) < 3
    return u + _log(1 + (-u).exp(), analytic) if near and _real(u) > 0 else _log(1 + u.exp(), analytic)


_FUNCTIONS: dict[str, Callable[[Ball, bool], Ball]] = {
    "exp": lambda u, analytic: u.exp(),
    "log": _log,
    "sqrt": _sqrt,
    "sin": lambda u, analytic: u.sin(),
    "cos": lambda u, analytic: u.cos(),
    "tan": lambda u, analytic: u.tan(),
    "sinh": lambda u, analytic: u.sinh(),
    "cosh": lambda u, analytic: u.cosh(),
    "tanh": lambda u, analytic: u.tanh(),
    "asinh": _asinh,
    "atan": _atan,
    "erf": lambda u, analytic: u.erf(),
    "erfc": lambda u, analytic: u.erfc(),
    "sign": lambda u, analytic: _step_function(u, analytic, Fraction(-1), Fraction(1)),
    "Heaviside": lambda u, analytic: _step_function(u, analytic, Fraction(0), Fraction(1)),
    "Abs": _absolute,
    "sigmoid": _sigmoid,
    "softplus": _softplus,
}


def location_ball(place: Location) -> Ball:
    """A ball around a place at the current precision: the zero of a function by Newton's method in ball arithmetic.

    The function is monotone on the bracket, so the Newton image of a bracket holds its zero.
    Raises BallError where the bracket does not shrink to the precision.
    """
    if place.function is None:
        return evaluate_ball(place.exact, arb(0)) if place.exact is not None else between(place.low, place.high)
    low, high = place.enclosure(40)
    ball = between(low, high)
    code = program(place.function, derivative(place.function))
    for _ in range(64):
        middle = arb(ball.mid())
        slope = code.run(ball)[1]
        following = middle - code.run(middle)[0] / slope
        if not following.is_finite():
            break
        if not ball.overlaps(following):
            raise BallError(f"the breakpoint {place} was lost")
        narrowed = ball.intersection(following)
        if not narrowed.rad() < ball.rad() / 2:
            return narrowed
        ball = narrowed
    # a flat slope: fall back on bisection
    return between(*place.enclosure(ctx.prec))


@functools.lru_cache(maxsize=256)
def _compiled(expressions: tuple[Expression, ...], bits: int) -> Program:
    return Program(expressions)


def program(*expressions: Expression) -> Program:
    """The expressions compiled together for the current precision (cached)."""
    return _compiled(expressions, ctx.prec)


def evaluate_ball(expr: Expression, x: Ball, analytic: bool = False) -> Ball:
    """A ball that holds every value of expr over the ball x, at the current precision.

    With analytic=True the result is not finite unless expr is analytic on x: the form `acb.integral` asks for.
    """
    return program(expr).run(x, analytic)[0]
