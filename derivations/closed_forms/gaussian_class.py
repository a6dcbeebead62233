r"""The class of functions that Gaussian averaging maps into closed forms, and how an expression tree is read into it.

A member is piecewise a sum of terms

.. math:: k\, z^n e^{a z^2 + b z} \prod_i \mathrm{erf}(p_i z + q_i)

with constants k, b complex (sines and cosines are complex exponentials), a, p_i > 0, q_i real. Sums, products and
derivatives of members are members; ``derivations.closed_forms.semigroup`` averages them term by term.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import reduce
from itertools import pairwise
from typing import NoReturn

import sympy as sp

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.activations.locations import Location
from giantsteps.derivations.expressions import tree
from giantsteps.derivations.expressions.tree import Expression
from giantsteps.derivations.language.sympy_expression import ANALYTIC

LARGEST_DEGREE = 64
MOST_TERMS = 400


class NotInClassError(ValueError):
    """The function is outside the class; the message is one sentence saying what puts it there."""


@dataclass(frozen=True)
class Shape:
    """A term up to its coefficient: z^degree exp(quadratic z^2 + linear z) times erf(p z + q) for (p, q) in erfs."""

    degree: int = 0
    quadratic: sp.Expr = sp.S.Zero
    linear: sp.Expr = sp.S.Zero
    erfs: tuple[tuple[sp.Expr, sp.Expr], ...] = ()

    def times(self, other: Shape) -> Shape:
        """The shape of a product of two terms."""
        return Shape(
            self.degree + other.degree,
            sp.expand(self.quadratic + other.quadratic),
            sp.expand(self.linear + other.linear),
            tuple(sorted(self.erfs + other.erfs, key=lambda pair: tuple(map(sp.default_sort_key, pair)))),
        )

    @property
    def constant(self) -> bool:
        """Whether a term of this shape does not depend on z."""
        return self == Shape()


# A member without breakpoints: its terms, no coefficient zero.
Smooth = Mapping[Shape, sp.Expr]


@dataclass(frozen=True)
class Member:
    """A member of the class: n breakpoints in increasing order and n + 1 smooth pieces between them."""

    breakpoints: tuple[sp.Expr, ...]
    pieces: tuple[Smooth, ...]


def combine(terms: Iterable[tuple[Shape, sp.Expr]]) -> Smooth:
    """Like terms collected. Raises NotInClassError when there are too many to be of use."""
    found: dict[Shape, sp.Expr] = {}
    for shape, coefficient in terms:
        found[shape] = sp.expand(found.get(shape, sp.S.Zero) + coefficient)
    kept = {shape: coefficient for shape, coefficient in found.items() if coefficient != 0}
    if len(kept) > MOST_TERMS:
        raise NotInClassError(f"the function expands to {len(kept)} terms, more than the {MOST_TERMS} that are handled")
    if any(shape.degree > LARGEST_DEGREE for shape in kept):
        raise NotInClassError(f"the function has powers of z beyond the {LARGEST_DEGREE} that are handled")
    return kept


def add(*parts: Smooth) -> Smooth:
    """The sum of smooth members."""
    return combine((shape, coefficient) for part in parts for shape, coefficient in part.items())


def scale(part: Smooth, factor: sp.Expr) -> Smooth:
    """A smooth member times a constant."""
    return combine((shape, factor * coefficient) for shape, coefficient in part.items())


def multiply(first: Smooth, second: Smooth) -> Smooth:
    """The product of two smooth members."""
    return combine((s.times(t), k * m) for s, k in first.items() for t, m in second.items())


def derivative(part: Smooth) -> Smooth:
    r"""d/dz term by term, with d erf(pz+q)/dz = (2p/\sqrt\pi) exp(-(pz+q)^2)."""
    return combine(term for shape, coefficient in part.items() for term in _term_derivative(shape, coefficient))


def _term_derivative(shape: Shape, coefficient: sp.Expr) -> list[tuple[Shape, sp.Expr]]:
    lower = Shape(shape.degree - 1, shape.quadratic, shape.linear, shape.erfs)
    higher = Shape(shape.degree + 1, shape.quadratic, shape.linear, shape.erfs)
    found = [(lower, coefficient * shape.degree)] if shape.degree else []
    found += [(higher, 2 * shape.quadratic * coefficient), (shape, shape.linear * coefficient)]
    return found + [(s, k * coefficient) for s, k in erf_derivatives(shape)]


def erf_derivatives(shape: Shape) -> list[tuple[Shape, sp.Expr]]:
    """The terms of the derivative of a shape in which one of its error functions is differentiated."""
    found = []
    for i, (p, q) in enumerate(shape.erfs):
        rest = shape.erfs[:i] + shape.erfs[i + 1 :]
        gaussian = Shape(shape.degree, sp.expand(shape.quadratic - p**2), sp.expand(shape.linear - 2 * p * q), rest)
        found.append((gaussian, 2 * p / sp.sqrt(sp.pi) * sp.exp(-(q**2))))
    return found


def reflected(part: Smooth) -> Smooth:
    """f(-z), with erf(-u) = -erf(u)."""
    return combine(
        (
            Shape(shape.degree, shape.quadratic, -shape.linear, tuple((p, -q) for p, q in shape.erfs)).times(Shape()),
            (-1) ** (shape.degree + len(shape.erfs)) * coefficient,
        )
        for shape, coefficient in part.items()
    )


def even_part(function: Member) -> Member:
    """(f(z) + f(-z))/2: the same mean under a centred Gaussian, and often fewer error functions and half lines."""
    ends = [sp.S.NegativeInfinity, *function.breakpoints, sp.S.Infinity]
    cuts = sorted({t for b in function.breakpoints for t in (b, sp.expand(-b))}, key=_order_of_constants)
    pieces = []
    for i in range(len(cuts) + 1):
        inside = _between(cuts[i - 1] if i else None, cuts[i] if i < len(cuts) else None)
        here, there = (function.pieces[_piece_at(ends, place)] for place in (inside, -inside))
        pieces.append(scale(add(here, reflected(there)), sp.S.Half))
    return Member(tuple(cuts), tuple(pieces))


def _order_of_constants(value: sp.Expr) -> sp.Expr:
    return value.evalf(40)


def _between(left: sp.Expr | None, right: sp.Expr | None) -> sp.Expr:
    if left is None:
        return sp.S.Zero if right is None else right - 1
    return left + 1 if right is None else (left + right) / 2


def _piece_at(ends: list[sp.Expr], place: sp.Expr) -> int:
    return next(i for i, (low, high) in enumerate(pairwise(ends)) if bool(low < place) and bool(place < high))


def as_expression(part: Smooth, z: sp.Expr) -> sp.Expr:
    """The member as a real SymPy expression in z: conjugate pairs of exponentials become cosines and sines."""
    total: list[sp.Expr] = []
    for shape, coefficient in part.items():
        growth, frequency = shape.linear.as_real_imag()
        envelope = z**shape.degree * sp.exp(shape.quadratic * z**2 + growth * z)
        envelope *= sp.Mul(*(sp.erf(p * z + q) for p, q in shape.erfs))
        if frequency == 0:
            total.append(coefficient * envelope)
        elif frequency.is_positive:
            real, imaginary = coefficient.as_real_imag()
            total.append(2 * envelope * (real * sp.cos(frequency * z) - imaginary * sp.sin(frequency * z)))
    return sp.Add(*total)


def member(activation: Activation) -> Member:
    """Read an activation, panel by panel. Raises NotInClassError, with the reason, if a panel is outside the class."""
    panels = activation.panels
    breakpoints = tuple(_place(panel.left.place) for panel in panels if panel.left is not None)
    return Member(breakpoints, tuple(read(panel.branch) for panel in panels))


def _place(location: Location) -> sp.Expr:
    if location.exact is None:
        raise NotInClassError(
            f"the breakpoint at {location} is known as a decimal number only, and closed forms are built on "
            "breakpoints that are rational numbers, square roots of them, or written out as constants"
        )
    return _constant(read(location.exact))


def _refuse(expr: Expression, because: str) -> NoReturn:
    raise NotInClassError(
        f"{expr} {because}, and the rules close piecewise sums of polynomials times exp(quadratic), sin, cos and erf"
    )


def read(expr: Expression) -> Smooth:
    """A tree without branches as a smooth member. Raises NotInClassError."""
    match expr:
        case tree.Number(value):
            return combine([(Shape(), _rational(value))])
        case tree.Constant(name):
            return {Shape(): sp.pi if name == "pi" else sp.E}
        case tree.Variable():
            return {Shape(degree=1): sp.S.One}
        case tree.Sum(terms):
            return add(*map(read, terms))
        case tree.Product(factors):
            return reduce(multiply, map(read, factors))
        case tree.Quotient(numerator, denominator):
            return multiply(read(numerator), _reciprocal(denominator))
        case tree.Power(base, tree.Number(exponent)):
            return _power(expr, read(base), _rational(exponent))
        case tree.Call(name, argument):
            return _call(expr, name, read(argument))
    _refuse(expr, "is not covered")


def _rational(value: Fraction) -> sp.Expr:
    return sp.Rational(value.numerator, value.denominator)


def _power(expr: Expression, base: Smooth, exponent: sp.Expr) -> Smooth:
    if _is_constant(base):
        return combine([(Shape(), _constant(base) ** exponent)])
    if not exponent.is_Integer:
        _refuse(expr, "is a root of a function of z")
    return reduce(multiply, [base] * int(exponent))


def _reciprocal(expr: Expression) -> Smooth:
    part = read(expr)
    if len(part) == 1:
        ((shape, coefficient),) = part.items()
        if not shape.degree and not shape.erfs:
            return {Shape(0, -shape.quadratic, -shape.linear): 1 / coefficient}
    _refuse(expr, "stands in a denominator")


def _call(expr: Expression, name: str, u: Smooth) -> Smooth:
    if _is_constant(u) and name in ANALYTIC:
        return combine([(Shape(), ANALYTIC[name](_constant(u)))])
    if name == "exp":
        return _exponential(expr, u)
    if name in ("sin", "cos", "sinh", "cosh"):
        return _two_exponentials(expr, name, u)
    if name in ("erf", "erfc"):
        slope, offset = _affine(expr, u)
        value: Smooth = {Shape(erfs=((sp.Abs(slope), sp.sign(slope) * offset),)): sp.sign(slope)}
        return value if name == "erf" else add({Shape(): sp.S.One}, scale(value, sp.S.NegativeOne))
    _refuse(expr, "has no Gaussian average in elementary functions and erf")


def _exponential(expr: Expression, u: Smooth, factor: sp.Expr = sp.S.One) -> Smooth:
    if any(shape != Shape(degree=shape.degree) or shape.degree > 2 for shape in u):
        _refuse(expr, "is the exponential of something else than a polynomial of degree two")
    constant, linear, quadratic = (u.get(Shape(degree=k), sp.S.Zero) * factor for k in range(3))
    return {Shape(0, sp.expand(quadratic), sp.expand(linear)): sp.exp(constant)}


def _two_exponentials(expr: Expression, name: str, u: Smooth) -> Smooth:
    _affine(expr, u)
    unit = sp.I if name in ("sin", "cos") else sp.S.One
    plus, minus = _exponential(expr, u, unit), _exponential(expr, u, -unit)
    if name in ("cos", "cosh"):
        return add(scale(plus, sp.S.Half), scale(minus, sp.S.Half))
    return add(scale(plus, 1 / (2 * unit)), scale(minus, -1 / (2 * unit)))


def _is_constant(part: Smooth) -> bool:
    return all(shape.constant for shape in part)


def _constant(part: Smooth) -> sp.Expr:
    return part.get(Shape(), sp.S.Zero)


def _affine(expr: Expression, u: Smooth) -> tuple[sp.Expr, sp.Expr]:
    """(slope, offset) of an affine argument. Raises NotInClassError for any other."""
    if any(shape not in (Shape(), Shape(degree=1)) for shape in u):
        _refuse(expr, "has an argument that is not affine in z")
    return u.get(Shape(degree=1), sp.S.Zero), u.get(Shape(), sp.S.Zero)
