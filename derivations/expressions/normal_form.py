"""A normal form, polynomial in atoms, that decides many identities between expression trees exactly.

Two trees with the same normal form agree almost everywhere: the values of a sign and of a Piecewise where something is
zero are not looked at, but only where it is known that it is zero on a null set.  Different normal forms prove nothing.
"""

from __future__ import annotations

import functools
from fractions import Fraction

from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.algebra import add, call, divide, multiply, negate, power, subtract
from giantsteps.derivations.expressions.budget import node_cost, spend
from giantsteps.derivations.expressions.tree import ONE, Expression, ExpressionError, number, to_text

Monomial = tuple[tuple[str, int], ...]  # (text of the atom, exponent), sorted by text
_MOST_TERMS = 600
_ODD = frozenset({"sin", "tan", "sinh", "tanh", "asinh", "atan", "erf", "sign"})
_EVEN = frozenset({"cos", "cosh", "Abs"})
_STEPS = frozenset({"sign", "Heaviside"})
_SCALE_FREE = frozenset({"sign", "Abs"})  # sign(3 u) = sign(u), Abs(3 u) = 3 Abs(u)


class TooComplex(ExpressionError):
    """The normal form would have too many terms."""


class Normal:
    """A polynomial with rational coefficients in atoms; atoms are trees, named by their text."""

    __slots__ = ("atoms", "terms")

    def __init__(self, terms: dict[Monomial, Fraction], atoms: dict[str, Expression]) -> None:
        self.terms = {m: q for m, q in terms.items() if q}
        self.atoms = atoms
        if len(self.terms) > _MOST_TERMS:
            raise TooComplex("the expression has too many terms to be compared exactly")

    def plus(self, other: Normal) -> Normal:
        """The sum."""
        terms = dict(self.terms)
        for monomial, q in other.terms.items():
            terms[monomial] = terms.get(monomial, Fraction(0)) + q
        return Normal(terms, self.atoms | other.atoms)

    def times(self, other: Normal) -> Normal:
        """The product."""
        if len(self.terms) * len(other.terms) > 60 * _MOST_TERMS:
            raise TooComplex("the expression has too many terms to be compared exactly")
        spend(3 * len(self.terms) * len(other.terms))
        terms: dict[Monomial, Fraction] = {}
        atoms = self.atoms | other.atoms
        for left, p in self.terms.items():
            for right, q in other.terms.items():
                factor, monomial = _joined(left, right, atoms)
                terms[monomial] = terms.get(monomial, Fraction(0)) + p * q * factor
        return Normal(terms, atoms)

    def scaled(self, q: Fraction) -> Normal:
        """q times the polynomial."""
        return Normal({m: q * p for m, p in self.terms.items()}, self.atoms)

    def is_zero(self) -> bool:
        """Whether no term is left."""
        return not self.terms

    def same_as(self, other: Normal) -> bool:
        """Whether the two polynomials are the same."""
        return self.terms == other.terms

    def leading(self) -> Fraction:
        """The coefficient of the first monomial in a fixed order (1 for zero)."""
        return self.terms[min(self.terms)] if self.terms else Fraction(1)

    def expression(self) -> Expression:
        """The polynomial as a tree."""
        return add(*(multiply(tree.Number(q), self._monomial(m)) for m, q in sorted(self.terms.items())))

    def _monomial(self, monomial: Monomial) -> Expression:
        return multiply(*(power(self.atoms[name], number(k)) for name, k in monomial))

    def polynomial(self) -> list[Fraction] | None:
        """Coefficients in z from the constant upwards, or None where other atoms occur."""
        coefficients: dict[int, Fraction] = {}
        for monomial, q in self.terms.items():
            if monomial and (len(monomial) > 1 or monomial[0][0] != "z" or monomial[0][1] < 0):
                return None
            coefficients[monomial[0][1] if monomial else 0] = q
        return [coefficients.get(k, Fraction(0)) for k in range(max(coefficients, default=0) + 1)]


def _joined(left: Monomial, right: Monomial, atoms: dict[str, Expression]) -> tuple[Fraction, Monomial]:
    exponents = dict(left)
    for name, k in right:
        exponents[name] = exponents.get(name, 0) + k
    factor = Fraction(1)
    for name in list(exponents):
        atom = atoms[name]
        if isinstance(atom, tree.Call) and atom.name == "sign":
            exponents[name] = _sign_power(atom.argument, exponents[name])
        elif isinstance(atom, tree.Call) and atom.name == "sqrt" and isinstance(atom.argument, tree.Number):
            half, exponents[name] = divmod(exponents[name], 2)
            factor *= atom.argument.value**half
        if exponents[name] == 0:
            del exponents[name]
    return factor, tuple(sorted(exponents.items()))


def _constant(q: Fraction) -> Normal:
    return Normal({(): q}, {})


def _atom(expr: Expression) -> Normal:
    name = to_text(expr)
    return Normal({((name, 1),): Fraction(1)}, {name: expr})


def _rewritten(expr: Expression) -> Expression | None:
    """The same function through fewer primitives: Max, Min through Abs, sigmoid through tanh, and so on."""
    half = tree.Number(Fraction(1, 2))
    match expr:
        case tree.Maximum((first, *rest)) | tree.Minimum((first, *rest)):
            other = rest[0] if len(rest) == 1 else type(expr)(tuple(rest))
            gap = call("Abs", subtract(first, other))
            gap = gap if isinstance(expr, tree.Maximum) else negate(gap)
            return multiply(half, add(first, other, gap))
        case tree.Piecewise(((value, condition), *rest)):
            if not rest:
                return value
            other = tree.Piecewise(tuple(rest))
            indicator = _indicator(condition)
            return None if indicator is None else add(other, multiply(subtract(value, other), indicator))
        case tree.Call("Heaviside", u):
            return multiply(half, add(ONE, call("sign", u)))
        case tree.Call("sigmoid", u):
            return multiply(half, add(ONE, call("tanh", multiply(half, u))))
        case tree.Call("erfc", u):
            return subtract(ONE, call("erf", u))
        case tree.Call("softplus", u):  # u/2 + log(2 cosh(u/2)): its odd part is u/2
            return add(multiply(half, u), call("log", multiply(number(2), call("cosh", multiply(half, u)))))
    return None


def _indicator(condition: tree.Condition) -> Expression | None:
    """What is 1 where the condition holds and 0 where it does not, almost everywhere; None where that is not known."""
    factors: list[Expression] = []
    for c in condition:
        gap = _gap(c)
        if vanishes(gap):
            factors.append(number(int(c.op in (">=", "<="))))
        elif zero_on_null_set(gap):
            factors.append(call("Heaviside", gap))
        else:
            return None
    return multiply(*factors)


def _sign_power(u: Expression, exponent: int) -> int:
    """An exponent with which sign(u) is the same: sign(u)^3 = sign(u), and sign(u)^2 = 1 where u is not zero.

    What is divided by is zero nowhere.
    """
    if exponent <= 0 or zero_on_null_set(u):
        return exponent % 2
    return 2 - exponent % 2


@functools.lru_cache(maxsize=4096)
def zero_on_null_set(u: Expression) -> bool:
    """Whether it is plain that u is zero on a set of measure zero at most; False proves nothing."""
    match u:
        case tree.Product(factors):
            return all(map(zero_on_null_set, factors))
        case tree.Quotient(above, _):
            return zero_on_null_set(above)
        case tree.Power(base, _):
            return zero_on_null_set(base)
        case tree.Number(value):
            return value != 0
        case tree.Constant() | tree.Call("exp" | "cosh" | "sigmoid" | "softplus" | "erfc", _):
            return True
        case tree.Call("sqrt", tree.Number(value)):
            return value > 0
    return _scattered(u)


def _scattered(u: Expression) -> bool:
    """Whether it is plain that u takes every value on a set of measure zero at most.

    So does a polynomial that is not constant; so does what takes every value at countably many values of such a
    function, as analytic functions that are not constant do.
    """
    found = as_polynomial(u)
    if found is not None:
        return len(found) > 1
    match u:
        case tree.Sum(terms):
            moving = [term for term in terms if tree.depends_on_z(term)]
            return len(moving) == 1 and _scattered(moving[0])
        case tree.Product(factors):
            moving = [factor for factor in factors if tree.depends_on_z(factor)]
            return len(moving) == 1 and _scattered(moving[0]) and all(zero_on_null_set(f) for f in factors)
        case tree.Quotient(above, below) if not tree.depends_on_z(above):
            return zero_on_null_set(above) and _scattered(below)
        case tree.Quotient(above, below) if not tree.depends_on_z(below):
            return _scattered(above)
        case tree.Power(base, tree.Number()):
            return _scattered(base)
        case tree.Call(name, argument):
            return name not in _STEPS and _scattered(argument)
    return False


def _gap(c: tree.Comparison) -> Expression:
    return subtract(c.left, c.right) if c.op in (">", ">=") else subtract(c.right, c.left)


def normal(expr: Expression) -> Normal:
    """The normal form of the tree; raises TooComplex when it would be very large."""
    spend(node_cost())
    rewritten = _rewritten(expr)
    if rewritten is not None:
        return normal(rewritten)
    match expr:
        case tree.Number(value):
            return _constant(value)
        case tree.Variable() | tree.Constant():
            return _atom(expr)
        case tree.Sum(terms):
            total = _constant(Fraction(0))
            for term in terms:
                total = total.plus(normal(term))
            return total
        case tree.Product(factors):
            product = _constant(Fraction(1))
            for factor in factors:
                product = product.times(normal(factor))
            return product
        case tree.Power(base, tree.Number(q)):
            inner = normal(base)
            if q.denominator != 1:
                return _atom(tree.Power(inner.expression(), tree.Number(q)))
            result = _constant(Fraction(1))
            for _ in range(int(q)):
                result = result.times(inner)
            return result
        case tree.Quotient(numerator, denominator):
            return normal(numerator).times(_reciprocal(normal(denominator)))
        case tree.Call(name, argument):
            return _normal_call(name, normal(argument))
        case tree.Piecewise():
            return _atom(expr)
    raise tree.unreadable(expr)


def _reciprocal(below: Normal) -> Normal:
    if below.is_zero():
        raise ExpressionError("the expression divides by zero; every denominator must be non-zero, as in 1/(1+z**2)")
    if len(below.terms) == 1:
        ((monomial, q),) = below.terms.items()
        inverse = tuple((name, -k) for name, k in monomial)
        factor, joined = _joined((), inverse, below.atoms)
        return Normal({joined: factor / q}, below.atoms)
    scale = below.leading()
    return _atom(divide(ONE, below.scaled(1 / scale).expression())).scaled(1 / scale)


def _at_turns(name: str, inner: Normal) -> Fraction | None:
    """sin and cos at a multiple of pi/2, where they are whole numbers; None elsewhere."""
    turn: Monomial = (("pi", 1),)
    quarters = 2 * inner.terms.get(turn, Fraction(0))
    if name not in ("sin", "cos") or set(inner.terms) - {turn} or quarters.denominator > 1:
        return None
    return Fraction((0, 1, 0, -1)[(int(quarters) + (name == "cos")) % 4])


def _normal_call(name: str, inner: Normal) -> Normal:
    whole = _at_turns(name, inner)
    if whole is not None:
        return _constant(whole)
    sign = Fraction(1)
    if name in _ODD | _EVEN and not inner.is_zero():
        scale = inner.leading()
        if name in _SCALE_FREE:
            inner = inner.scaled(1 / scale)
            sign = abs(scale) if name == "Abs" else Fraction(1 if scale > 0 else -1)
        elif scale < 0:
            inner = inner.scaled(Fraction(-1))
            sign = Fraction(-1 if name in _ODD else 1)
    folded = call(name, inner.expression())
    if isinstance(folded, tree.Number):
        return _constant(sign * folded.value)
    return _atom(folded).scaled(sign)


def vanishes(expr: Expression) -> bool:
    """Whether the normal form is zero: True proves expr = 0 almost everywhere, False proves nothing."""
    try:
        return normal(expr).is_zero()
    except TooComplex:
        return False


@functools.lru_cache(maxsize=4096)
def _polynomial_of(expr: Expression) -> tuple[Fraction, ...] | None:
    try:
        found = normal(expr).polynomial()
    except TooComplex:
        return None
    return None if found is None else tuple(found)


def as_polynomial(expr: Expression) -> list[Fraction] | None:
    """The rational coefficients c_0, c_1, ... when expr is a polynomial in z with rational coefficients, else None."""
    found = _polynomial_of(expr)
    return None if found is None else list(found)


@functools.lru_cache(maxsize=4096)
def as_affine(expr: Expression) -> tuple[Expression, Expression] | None:
    """(slope, intercept), constant expressions, when expr = slope z + intercept, else None."""
    try:
        form = normal(expr)
    except TooComplex:
        return None
    slope: dict[Monomial, Fraction] = {}
    intercept: dict[Monomial, Fraction] = {}
    for monomial, q in form.terms.items():
        powers = dict(monomial)
        degree = powers.pop("z", 0)
        if degree not in (0, 1) or any(_mentions_z(form.atoms[name]) for name in powers):
            return None
        (slope if degree else intercept)[tuple(sorted(powers.items()))] = q
    return Normal(slope, form.atoms).expression(), Normal(intercept, form.atoms).expression()


def _mentions_z(expr: Expression) -> bool:
    return isinstance(expr, tree.Variable) or any(_mentions_z(child) for child in expr.children())
