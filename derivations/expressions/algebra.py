"""Constructors that keep expression trees canonical, and substitution.

They fold rational numbers, flatten sums and products and collect like terms; a tree built by them alone prints as text
that parses back to the same tree.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.tree import ONE, ZERO, Expression, ExpressionError, number


def split_coefficient(expr: Expression) -> tuple[Fraction, Expression]:
    """(q, rest) with expr = q * rest, q the rational coefficient."""
    if isinstance(expr, tree.Number):
        return expr.value, ONE
    if isinstance(expr, tree.Product) and isinstance(expr.factors[0], tree.Number):
        rest = expr.factors[1:]
        return expr.factors[0].value, rest[0] if len(rest) == 1 else tree.Product(rest)
    return Fraction(1), expr


def add(*terms: Expression) -> Expression:
    """The sum, flattened, with like terms collected and the number last."""
    collected: dict[Expression, Fraction] = {}
    for term in terms:
        for part in term.terms if isinstance(term, tree.Sum) else (term,):
            coefficient, rest = split_coefficient(part)
            total = collected.get(rest, Fraction(0)) + coefficient
            collected[rest] = total
            if total == 0:
                del collected[rest]
    constant = collected.pop(ONE, Fraction(0))
    parts = [multiply(tree.Number(q), rest) for rest, q in collected.items()]
    if constant:
        parts.append(tree.Number(constant))
    if not parts:
        return ZERO
    return parts[0] if len(parts) == 1 else tree.Sum(tuple(parts))


def multiply(*factors: Expression) -> Expression:
    """The product, flattened, with integer powers of equal bases collected and the number first."""
    coefficient = Fraction(1)
    collected: dict[Expression, int] = {}
    for factor in factors:
        for part in factor.factors if isinstance(factor, tree.Product) else (factor,):
            if isinstance(part, tree.Number):
                coefficient *= part.value
                continue
            base, exponent = part, 1
            if (
                isinstance(part, tree.Power)
                and isinstance(part.exponent, tree.Number)
                and part.exponent.value.denominator == 1
            ):
                base, exponent = part.base, int(part.exponent.value)
            collected[base] = collected.get(base, 0) + exponent
    if coefficient == 0:
        return ZERO
    # By `power`, which knows that e**2 is exp(2), as a reader of its text does. That may be a factor already.
    parts = [base if k == 1 else power(base, number(k)) for base, k in collected.items()]
    if collected.get(tree.Constant("e"), 1) != 1:
        return multiply(tree.Number(coefficient), *parts)
    if not parts:
        return tree.Number(coefficient)
    if coefficient != 1:
        parts.insert(0, tree.Number(coefficient))
    return parts[0] if len(parts) == 1 else tree.Product(tuple(parts))


def negate(expr: Expression) -> Expression:
    """-expr."""
    return multiply(number(-1), expr)


def subtract(left: Expression, right: Expression) -> Expression:
    """left - right."""
    return add(left, negate(right))


def divide(numerator: Expression, denominator: Expression) -> Expression:
    """numerator / denominator with the rational coefficients taken out in front.

    Raises ExpressionError for a denominator that is the number 0.
    """
    above, rest_above = split_coefficient(numerator)
    below, rest_below = split_coefficient(denominator)
    if below == 0:
        raise ExpressionError("the expression divides by zero; every denominator must be non-zero, as in 1/(1+z**2)")
    ratio = tree.Number(above / below)
    if above == 0 or rest_below == ONE:
        return multiply(ratio, rest_above)
    return multiply(ratio, tree.Quotient(rest_above, rest_below))


def power(base: Expression, exponent: Expression) -> Expression:
    """base ** exponent; 1/u for a negative exponent, sqrt for 1/2, exp(exponent log(base)) if it is no number."""
    if base == tree.Constant("e"):
        return call("exp", exponent)
    if not isinstance(exponent, tree.Number):
        return call("exp", multiply(exponent, call("log", base)))
    q = exponent.value
    if q == 0:
        return ONE
    if q < 0:
        return divide(ONE, power(base, tree.Number(-q)))
    if q == 1 or base in (ZERO, ONE):
        return base
    if q == Fraction(1, 2):
        return call("sqrt", base)
    if q.denominator == 1:
        if isinstance(base, tree.Number):
            return tree.Number(base.value ** int(q))
        if (
            isinstance(base, tree.Power)
            and isinstance(base.exponent, tree.Number)
            and base.exponent.value.denominator == 1
        ):
            return tree.Power(base.base, tree.Number(base.exponent.value * q))
    return tree.Power(base, exponent)


_AT_ZERO = dict.fromkeys(("sin", "tan", "sinh", "tanh", "asinh", "atan", "erf", "sign", "Abs", "sqrt"), Fraction(0))
_AT_ZERO |= {"exp": Fraction(1), "cos": Fraction(1), "cosh": Fraction(1), "erfc": Fraction(1)}
_AT_ZERO |= {"Heaviside": Fraction(1, 2), "sigmoid": Fraction(1, 2)}


def rational_sqrt(value: Fraction) -> Fraction | None:
    """The square root of a rational number where it is rational."""
    if value < 0:
        return None
    root = Fraction(math.isqrt(value.numerator), math.isqrt(value.denominator))
    return root if root * root == value else None


def call(name: str, argument: Expression) -> Expression:
    """The primitive function `name` of `argument`, folded where the value is a rational number known exactly."""
    if isinstance(argument, tree.Number):
        value = argument.value
        if value == 0 and name in _AT_ZERO:
            return tree.Number(_AT_ZERO[name])
        if name == "log" and value == 1:
            return ZERO
        if name == "Abs":
            return tree.Number(abs(value))
        if name in ("sign", "Heaviside"):
            return number((value > 0) - (value < 0) if name == "sign" else int(value > 0))
        root = rational_sqrt(value) if name == "sqrt" else None
        if root is not None:
            return tree.Number(root)
    if name == "log" and isinstance(argument, tree.Call) and argument.name == "exp":
        return argument.argument  # real arguments only
    if name == "log" and (area := _area_sine(argument)) is not None:
        return area
    return tree.Call(name, argument)


def _area_sine(argument: Expression) -> Expression | None:
    """log(p (u + q sqrt(v))) with v - (u/q)^2 = b > 0: asinh(u/(q sqrt(b))) + log(p^2 q^2 b)/2, which does not cancel.

    None for another argument, and where b is not seen to be a positive number.
    """
    outer, rest = split_coefficient(argument)
    if outer <= 0 or not isinstance(rest, tree.Sum):
        return None
    for term in rest.terms:
        factor, root = split_coefficient(term)
        if factor > 0 and isinstance(root, tree.Call) and root.name == "sqrt":
            u = multiply(number(1 / factor), subtract(rest, term))
            size, direction = split_coefficient(u)
            gap = subtract(root.argument, multiply(number(size**2), power(direction, number(2))))
            if isinstance(gap, tree.Number) and gap.value > 0:
                shift = divide(call("log", number((outer * factor) ** 2 * gap.value)), number(2))
                return add(call("asinh", divide(u, call("sqrt", gap))), shift)
    return None


def maximum(*args: Expression) -> Expression:
    """The largest of the arguments; flattened, equal ones once, numbers folded."""
    return _extremum(tree.Maximum, max, args)


def minimum(*args: Expression) -> Expression:
    """The smallest of the arguments; flattened, equal ones once, numbers folded."""
    return _extremum(tree.Minimum, min, args)


def _extremum(
    kind: type[tree.Maximum] | type[tree.Minimum],
    choose: Callable[[Fraction, Fraction], Fraction],
    args: tuple[Expression, ...],
) -> Expression:
    kept: dict[Expression, None] = {}
    best: Fraction | None = None
    place = 0
    for arg in args:
        for part in arg.args if isinstance(arg, kind) else (arg,):
            if isinstance(part, tree.Number):
                if best is None:
                    best, place = part.value, len(kept)
                best = choose(best, part.value)
            else:
                kept[part] = None
    parts = list(kept)
    if best is not None:
        parts.insert(place, tree.Number(best))
    return parts[0] if len(parts) == 1 else kind(tuple(parts))


def piecewise(*pieces: tuple[Expression, tree.Condition]) -> Expression:
    """The piecewise function; pieces behind the first `ALWAYS` are dropped."""
    kept: list[tuple[Expression, tree.Condition]] = []
    for value, condition in pieces:
        kept.append((value, condition))
        if not condition:
            break
    return tree.Piecewise(tuple(kept)) if kept[0][1] else kept[0][0]


def map_children(expr: Expression, f: Callable[[Expression], Expression]) -> Expression:
    """The node rebuilt by the canonical constructors with f applied to every child."""
    match expr:
        case tree.Sum(terms):
            return add(*map(f, terms))
        case tree.Product(factors):
            return multiply(*map(f, factors))
        case tree.Power(base, exponent):
            return power(f(base), exponent)
        case tree.Quotient(numerator, denominator):
            return divide(f(numerator), f(denominator))
        case tree.Call(name, argument):
            return call(name, f(argument))
        case tree.Sampled(name, values, argument):
            return tree.Sampled(name, values, f(argument))
        case tree.Maximum(args):
            return maximum(*map(f, args))
        case tree.Minimum(args):
            return minimum(*map(f, args))
        case tree.Piecewise(pieces):
            changed = (
                tuple(tree.Comparison(f(c.left), c.op, f(c.right)) for c in condition) for _, condition in pieces
            )
            return piecewise(*((f(value), condition) for (value, _), condition in zip(pieces, changed, strict=True)))
    return expr


def substitute(expr: Expression, replacement: Expression) -> Expression:
    """expr with z replaced by `replacement`."""
    if isinstance(expr, tree.Variable):
        return replacement
    return map_children(expr, lambda child: substitute(child, replacement))


def damped(expr: Expression, rate: Fraction) -> Expression:
    """expr exp(-rate z^2), the exponentials multiplied out where that cancels them: neither factor overflows then."""
    exponent = multiply(tree.Number(-rate), power(tree.Z, number(2)))
    match expr:
        case tree.Sum(terms):
            return add(*(damped(term, rate) for term in terms))
        case tree.Product(factors):
            grown = next((k for k, f in enumerate(factors) if _is_exponential(f)), None)
            if grown is not None:
                return multiply(*factors[:grown], damped(factors[grown], rate), *factors[grown + 1 :])
        case tree.Quotient(numerator, denominator):
            return divide(damped(numerator, rate), denominator)
        case tree.Call("exp", argument):
            return call("exp", add(argument, exponent))
        case tree.Call("cosh" | "sinh", argument):
            signed = number(1 if expr.name == "cosh" else -1)
            both = add(call("exp", argument), multiply(signed, call("exp", negate(argument))))
            return multiply(number(Fraction(1, 2)), damped(both, rate))
        case tree.Power(tree.Call("exp", argument), power_):
            return call("exp", add(multiply(power_, argument), exponent))
    return multiply(expr, call("exp", exponent))


def _is_exponential(expr: Expression) -> bool:
    return (isinstance(expr, tree.Call) and expr.name in ("exp", "cosh", "sinh")) or (
        isinstance(expr, tree.Power) and isinstance(expr.base, tree.Call) and expr.base.name == "exp"
    )


def polynomial_tree(p: list[Fraction]) -> Expression:
    """The polynomial with coefficients c_0, c_1, ... as a tree."""
    return add(*(multiply(tree.Number(c), power(tree.Z, tree.number(k))) for k, c in enumerate(p)))
