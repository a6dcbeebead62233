"""Two interpreters of the expression tree: NumPy (double precision, vectorised) and mpmath (any precision).

Both give values only; certified enclosures come from `numerics.balls.arithmetic`.
"""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Callable, Sequence
from contextlib import suppress
from fractions import Fraction
from typing import Any

import mpmath
import numpy as np
import numpy.typing as npt

from giantsteps.derivations.activations.activation import Activation as Activation
from giantsteps.derivations.activations.panels import Panel
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.exact import working_digits
from giantsteps.derivations.expressions.tree import Condition, Expression, ExpressionError, depends_on_z

Array = npt.NDArray[np.float64]
Evaluator = Callable[[Array], Array]

# Digits of the fallback for points where doubles overflow or cancel to inf - inf.
_FALLBACK_DIGITS = 50
# What a value in double precision is compared with may itself cancel, to half of its digits.
_MEANT_DIGITS = 40
# Places where rounding is looked for: no decimals of few digits, at which an activation may have a breakpoint.
# What a summand is known to: functions of the C library to an ulp, and a sum rounds once more.
_LAST = 2.0 * float(np.finfo(float).eps)
# A sum this much smaller than its summands: less is seen in the values that are tried.
_CANCELLED = 1000.0
_TRIED = 3.0 * np.cos(math.pi * (np.arange(10) + 0.5) / 10 + 0.01)
# Where functions are looked for, most of which live within a few standard deviations.
_GRID = np.linspace(-4.001, 4.003, 401)
# A fifth of a millisecond each: more than some twenty seconds of them is no answer, it is refused at once.
_MOST_FALLBACKS = 100_000


def _sigmoid(x: Any, xp: Any) -> Any:
    small = xp.exp(-xp.abs(x))
    return xp.where(x >= 0, xp.ones_like(small), small) / (1.0 + small)


def _softplus(x: Any, xp: Any) -> Any:
    return xp.maximum(x, xp.zeros_like(x)) + xp.log1p(xp.exp(-xp.abs(x)))


def _erf(x: Array) -> Array:
    from scipy.special import erf  # imported late: it costs more than a whole solve

    return np.asarray(erf(x), dtype=np.float64)


def _erfc(x: Array) -> Array:
    from scipy.special import erfc

    return np.asarray(erfc(x), dtype=np.float64)


# What the array API standard lacks, or has by another name.
_NOT_STANDARD: dict[str, Callable[..., Any]] = {
    "Abs": lambda x, xp: xp.abs(x),
    "Heaviside": lambda x, xp: 0.5 * (xp.sign(x) + 1.0),
    "sigmoid": _sigmoid,
    "softplus": _softplus,
}
_SPECIAL: dict[str, Evaluator] = {"erf": _erf, "erfc": _erfc}
_COMPARE: dict[str, Callable[[Any, Any], Any]] = {
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


@functools.lru_cache(maxsize=1024)
def compile_numpy(expr: Expression) -> Callable[[npt.ArrayLike], Array]:
    """A vectorised double-precision function of z, shape in = shape out, cached by the value of the tree.

    Overflow to infinity inside (1/cosh(800)) is silent where the result is finite.  Points where doubles give no
    finite number (inf - inf, inf/inf) are evaluated again in multiple precision.
    Raises ExpressionError, when called, where even then there is no finite value, or where such points are too many.
    """
    inner = build(expr, np)

    def evaluate(x: npt.ArrayLike) -> Array:
        points = np.asarray(x, dtype=np.float64)
        with np.errstate(all="ignore"):
            values = np.asarray(inner(points), dtype=np.float64)
        if values.shape != points.shape:
            values = np.broadcast_to(values, points.shape).copy()
        if not np.isfinite(values).all():
            values = _repaired(expr, points, values)
        return values

    return evaluate


def compile_branches(panels: Sequence[Panel], map_: Callable[[Expression], Expression]) -> Evaluator:
    """The same of `map_` of the branch that holds at each point, left of a panel's end where that is the point.

    What a root does on one side of its zero is not asked on the other, and what a sign is at its zero not at all.
    """
    branches = [map_(panel.branch) for panel in panels]
    distinct = list(dict.fromkeys(branches))
    if len(distinct) == 1:
        return compile_numpy(distinct[0])
    functions = [compile_numpy(branch) for branch in distinct]
    which = np.array([distinct.index(branch) for branch in branches])
    ends = np.array([panel.right.place.value for panel in panels if panel.right is not None])
    if not any(depends_on_z(branch) for branch in distinct):
        steps = np.array([_constant_value(branch) for branch in branches])
        return lambda x: steps[_panel_of(np.asarray(x, dtype=np.float64), ends)]

    def evaluate(x: npt.ArrayLike) -> Array:
        points = np.asarray(x, dtype=np.float64)
        points = np.where(np.isin(points, ends), np.nextafter(points, -np.inf), points)
        holding = which[_panel_of(points, ends)]
        values = np.empty_like(points)
        for k, function in enumerate(functions):
            here = holding == k
            if here.any():
                values[here] = function(points[here])
        return values

    return evaluate


def _panel_of(points: Array, ends: Array) -> npt.NDArray[np.intp]:
    """The number of ends to the left of each point; of one end by one comparison, a tenth of the time."""
    return (points > ends[0]).astype(np.intp) if len(ends) == 1 else np.searchsorted(ends, points)


def rounding(function: Evaluator, expressions: Sequence[Expression], places: Array) -> Array:
    """How far values in double precision are from what is meant, which at each place an expression says."""
    values = function(places)
    with working_digits(_MEANT_DIGITS):
        meant = [evaluate_mpmath(expr, mpmath.mpf(float(x))) for expr, x in zip(expressions, places, strict=True)]
        return np.array([float(abs(mpmath.mpf(float(v)) - e)) for v, e in zip(values, meant, strict=True)])


def relative_rounding(
    function: Evaluator, panels: Sequence[Panel], map_: Callable[[Expression], Expression], places: Array
) -> float:
    """The same within three standard deviations of zero, where `map_` of the branches says what is meant: the root mean
    square, relative to the largest value there and at other `places`, under the root of the density.

    A sum that nearly cancels is off by a rounding of its summands wherever it is evaluated, not of itself
    (`summands`): 1 + tanh(z - 9) by that of 1.

    0 where all values are zero, or one is out of reach: that is seen elsewhere.
    """
    ends = [float(panel.right.place.value) for panel in panels if panel.right is not None]
    meant = [map_(panels[k].branch) for k in np.searchsorted(ends, _TRIED)]
    places = np.concatenate([_TRIED, _GRID, places])
    with suppress(ExpressionError, ZeroDivisionError), np.errstate(all="ignore"):
        size = float(np.max(np.abs(function(places)) * np.exp(-0.25 * places**2)))
        cancelled = np.array([_of_summands(one, x) for one, x in zip(meant, _TRIED, strict=True)])
        density = np.exp(-0.25 * _TRIED**2)
        errors = rounding(function, meant, _TRIED) * density
        if not 0.0 < size < math.inf:
            return 0.0
        # What a sum has lost is alike at neighbouring places and does not average out: the largest counts.
        return max(float(np.sqrt(np.mean((errors / size) ** 2))), float(np.max(cancelled * density)) / size)
    return 0.0


def _of_summands(expr: Expression, x: float) -> float:
    """The rounding of the summands at a place, where a sum is a small difference of them; else 0."""
    size, value = summands(expr, x), abs(float(compile_numpy(expr)(x)))
    return _LAST * size if size > _CANCELLED * value else 0.0


def summands(expr: Expression, x: float) -> float:
    """The size of an expression at a place with every sum replaced by the sum of its summands' sizes.

    What cancels in the argument of a function counts by its slope: log(2 + tanh(z - 9)) has lost what its argument has.
    """
    if isinstance(expr, tree.Sum):
        if len(expr.terms) == 2 and _exponent(expr.terms[0]) is not None and _is_number(expr.terms[1:], -1):
            return abs(float(compile_numpy(expr)(x)))  # by expm1
        return sum(summands(term, x) for term in expr.terms)
    if isinstance(expr, tree.Product):
        return math.prod(summands(factor, x) for factor in expr.factors)
    if isinstance(expr, tree.Quotient):
        return summands(expr.numerator, x) / abs(float(compile_numpy(expr.denominator)(x)))
    size = abs(float(compile_numpy(expr)(x)))
    if isinstance(expr, tree.Call | tree.Power):
        inner = expr.children()[0]
        at = float(compile_numpy(inner)(x))
        if (lost := summands(inner, x) - abs(at)) > abs(at):
            outer = tree.Call(expr.name, tree.Z) if isinstance(expr, tree.Call) else tree.Power(tree.Z, expr.exponent)
            size += abs(float(compile_numpy(derivative(outer))(at))) * lost
    return size


def value_at(expr: Expression, z: npt.ArrayLike) -> float | Array:
    """The value at a number, as a float, or at the entries of an array. Raises ExpressionError as `compile_numpy`."""
    values = compile_numpy(expr)(z)
    return values if values.ndim else float(values)


# What calling an activation does.
Activation._interpreter[:] = [value_at]


def _repaired(expr: Expression, points: Array, values: Array) -> Array:
    bad = ~np.isfinite(values)
    if not np.isfinite(points[bad]).all():
        raise ExpressionError(f"{expr} was asked for at a point that is not a finite number")
    if (count := np.count_nonzero(bad)) > _MOST_FALLBACKS:
        raise ExpressionError(f"{expr} overflows on the way to its value at {count} of {points.size} points")
    again = values.copy()
    with working_digits(_FALLBACK_DIGITS):
        again[bad] = [_fallback(expr, float(x)) for x in points[bad]]
    return again


def _fallback(expr: Expression, x: float) -> float:
    """The value at one point; raises at the first that has none, since numbers of 300 digits take milliseconds each."""
    try:
        value = evaluate_mpmath(expr, mpmath.mpf(x))
    except (ZeroDivisionError, OverflowError):  # a pole, or an argument that is out of reach of mpmath's functions
        value = mpmath.nan
    found = float(value) if isinstance(value, mpmath.mpf) else math.nan
    if not math.isfinite(found):
        raise ExpressionError(f"{expr} has no finite double-precision value at z = {x!r}")
    return found


def _constant_value(expr: Expression) -> float:
    with working_digits(30):
        return float(evaluate_mpmath(expr, mpmath.mpf(0)))


def build(expr: Expression, xp: Any) -> Callable[[Any], Any]:
    """A function of arrays of `xp`, a namespace of the array API standard, as it is in double precision.

    Raises AttributeError where the namespace lacks a function.
    """
    if isinstance(expr, tree.Variable):
        return lambda x: x
    if not depends_on_z(expr):
        value = _constant_value(expr)
        return lambda x: xp.full_like(x, value)
    match expr:
        case tree.Sum(terms):
            constant, parts = _split_constants(terms)
            if _is_number(constant, -1) and (power := _exponent(parts[0])) is not None:  # exp(u) - 1
                rest = [build(t, xp) for t in parts[1:]]
                argument = build(power, xp)
                return lambda x: functools.reduce(operator.add, [f(x) for f in rest], xp.expm1(argument(x)))
            inner = [build(t, xp) for t in parts]
            start = _constant_value(tree.Sum(constant)) if constant else 0.0
            return lambda x: functools.reduce(operator.add, [f(x) for f in inner]) + start
        case tree.Product(factors):
            constant, parts = _split_constants(factors)
            inner = [build(t, xp) for t in parts]
            scale = _constant_value(tree.Product(constant)) if constant else 1.0
            return lambda x: functools.reduce(operator.mul, [f(x) for f in inner]) * scale
        case tree.Quotient(numerator, denominator):
            above, below = build(numerator, xp), build(denominator, xp)
            return lambda x: above(x) / below(x)
        case tree.Power(base, tree.Number(q)):
            root = build(base, xp)
            exponent = int(q) if q.denominator == 1 else float(q)
            return lambda x: root(x) ** exponent
        case tree.Call("log", tree.Sum(terms)) if _is_number(terms[-1:], 1):  # log(1 + u)
            above_one = build(terms[0] if len(terms) == 2 else tree.Sum(terms[:-1]), xp)
            return lambda x: xp.log1p(above_one(x))
        case tree.Call(name, argument):
            function, arg = _function(name, xp), build(argument, xp)
            return lambda x: function(arg(x))
        case tree.Sampled(_, values, argument):
            if xp is not np:
                raise AttributeError("a callable is evaluated on arrays of NumPy")
            arg = build(argument, xp)
            return lambda x: np.asarray(values(arg(x)), dtype=np.float64)
        case tree.Maximum(args) | tree.Minimum(args):
            choose = xp.maximum if isinstance(expr, tree.Maximum) else xp.minimum
            inner = [build(a, xp) for a in args]
            return lambda x: functools.reduce(choose, [f(x) for f in inner])
        case tree.Piecewise(pieces):
            return _build_piecewise(pieces, xp)
    raise tree.unreadable(expr)


def _function(name: str, xp: Any) -> Callable[[Any], Any]:
    if name in _NOT_STANDARD:
        return functools.partial(_NOT_STANDARD[name], xp=xp)
    function: Callable[[Any], Any] = _SPECIAL[name] if xp is np and name in _SPECIAL else getattr(xp, name)
    return function


def _is_number(terms: tuple[Expression, ...], value: int) -> bool:
    """Whether these terms are one number."""
    return len(terms) == 1 and isinstance(terms[0], tree.Number) and terms[0].value == value


def _exponent(expr: Expression) -> Expression | None:
    """u of exp(u)."""
    return expr.argument if isinstance(expr, tree.Call) and expr.name == "exp" else None


def _split_constants(parts: tuple[Expression, ...]) -> tuple[tuple[Expression, ...], list[Expression]]:
    constant = tuple(p for p in parts if not depends_on_z(p))
    return constant, [p for p in parts if depends_on_z(p)]


def _build_piecewise(pieces: tuple[tuple[Expression, Condition], ...], xp: Any) -> Callable[[Any], Any]:
    built = [(build(value, xp), _build_condition(condition, xp)) for value, condition in pieces]

    def evaluate(x: Any) -> Any:
        result = xp.empty_like(x)
        open_points = xp.ones_like(x, dtype=xp.bool)
        for value, condition in built:
            chosen = open_points & condition(x)
            if xp.any(chosen):
                result[chosen] = value(x[chosen])  # only where the piece applies: others may overflow
            open_points &= ~chosen
        return result

    return evaluate


def _build_condition(condition: Condition, xp: Any) -> Callable[[Any], Any]:
    tests = [(build(c.left, xp), _COMPARE[c.op], build(c.right, xp)) for c in condition]

    def evaluate(x: Any) -> Any:
        holds = xp.ones_like(x, dtype=xp.bool)
        for left, compare, right in tests:
            holds &= compare(left(x), right(x))
        return holds

    return evaluate


_MPMATH: dict[str, Callable[[Any], Any]] = {
    "sign": mpmath.sign,
    "Abs": abs,
    "Heaviside": lambda u: (1 + mpmath.sign(u)) / 2,
    "sigmoid": lambda u: 1 / (1 + mpmath.exp(-u)) if u >= 0 else mpmath.exp(u) / (1 + mpmath.exp(u)),
    "softplus": lambda u: max(u, mpmath.mpf(0)) + mpmath.log1p(mpmath.exp(-abs(u))),
}


def _mp_number(value: Fraction) -> Any:
    return mpmath.mpf(value.numerator) / value.denominator


def evaluate_mpmath(expr: Expression, x: Any) -> Any:
    """The value at the real mpmath number x, in mpmath's working precision (rounding errors are not tracked)."""
    match expr:
        case tree.Variable():
            return x
        case tree.Number(value):
            return _mp_number(value)
        case tree.Constant(name):
            return +mpmath.pi if name == "pi" else +mpmath.e
        case tree.Sum(terms):
            return mpmath.fsum(evaluate_mpmath(t, x) for t in terms)
        case tree.Product(factors):
            return mpmath.fprod(evaluate_mpmath(f, x) for f in factors)
        case tree.Quotient(numerator, denominator):
            return evaluate_mpmath(numerator, x) / evaluate_mpmath(denominator, x)
        case tree.Power(base, tree.Number(q)):
            root = evaluate_mpmath(base, x)
            return root ** int(q) if q.denominator == 1 else root ** _mp_number(q)
        case tree.Call(name, argument):
            function = _MPMATH.get(name) or getattr(mpmath, name)
            return function(evaluate_mpmath(argument, x))
        case tree.Maximum(args):
            return max(evaluate_mpmath(a, x) for a in args)
        case tree.Minimum(args):
            return min(evaluate_mpmath(a, x) for a in args)
        case tree.Piecewise(pieces):
            chosen = next(value for value, condition in pieces if _mp_holds(condition, x))
            return evaluate_mpmath(chosen, x)
    raise tree.unreadable(expr)


def _mp_holds(condition: Condition, x: Any) -> bool:
    for c in condition:
        left, right = evaluate_mpmath(c.left, x), evaluate_mpmath(c.right, x)
        holds = {"<": left < right, "<=": left <= right, ">": left > right, ">=": left >= right}[c.op]
        if not holds:
            return False
    return True
