r"""Closed forms of mu0, mu1 and E[sigma^2], each with the obligations that prove it.

mu0(x, c) = (P_c sigma)(x) solves the heat equation dF/dc = (1/2) d^2F/dx^2 with initial value sigma. A candidate F is
P_c sigma if

1. it satisfies the heat equation;
2. F(x, c) -> sigma(x) as c -> 0+ at every x that is no breakpoint;
3. |F(x, c)| <= A exp(B x^2) for all x and all small c > 0, with the same A and B.

By 3 and Tychonoff's theorem F(., c + e) = P_c F(., e) for small c and e; e -> 0 under the same bound (dominated
convergence, by 2 almost everywhere) gives F = P_c sigma for small c. The uniform bound is needed: the derivative of the
heat kernel satisfies 1 and 2 with sigma = 0. Both sides are analytic in c as long as P_c |sigma| is finite, so the
identity extends to all those c. The same holds for E[sigma^2] = P_c(sigma^2), and mu1 = d mu0/dx.

Equation (15) of arXiv 2402.04980 defines mu0, mu1 and mu2^2 = E[sigma^2] - mu0^2 - c mu1^2 at x = r kappa.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import pairwise

import sympy as sp

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.closed_forms.gaussian_class import (
    Member,
    NotInClassError,
    add,
    as_expression,
    derivative,
    even_part,
    member,
    multiply,
    scale,
)
from giantsteps.derivations.closed_forms.semigroup import semigroup, valid_below
from giantsteps.derivations.language import symbols
from giantsteps.derivations.language.derivation import Said, Vanishing

x, c = symbols.x, symbols.c
s = sp.Symbol("s", positive=True)


@dataclass(frozen=True)
class InitialValue(Said):
    """The obligation that ``expression`` -> ``value`` as c -> 0+, on one piece.

    ``place`` is x as a function of a positive parameter s that runs through the piece (x itself if there is one piece).
    """

    expression: sp.Expr
    place: sp.Expr
    value: sp.Expr


@dataclass(frozen=True)
class UniformGrowth(Said):
    """The obligation that |expression| <= A exp(B x^2) for all x and 0 < c < c_1, for some A, B, c_1 > 0."""

    expression: sp.Expr


@dataclass(frozen=True)
class AnalyticBelow(Said):
    """The obligation that ``expression`` is analytic in c for 0 < c < below: its radicands are positive there."""

    expression: sp.Expr
    below: sp.Expr


HeatObligation = Vanishing | InitialValue | UniformGrowth | AnalyticBelow


@dataclass(frozen=True)
class ClosedForm:
    """A formula in x and c, where it holds (0 < c < valid_below), and what has to be checked for it."""

    expression: sp.Expr
    valid_below: sp.Expr
    obligations: tuple[HeatObligation, ...]

    def at(self, position: sp.Expr, bulk: sp.Expr) -> sp.Expr:
        """The value at x = position, c = bulk. Raises NotInClassError outside 0 < c < valid_below."""
        if not sp.S.Zero < bulk < self.valid_below:
            raise NotInClassError(f"the closed form holds for 0 < c < {self.valid_below} only")
        return self.expression.xreplace({x: sp.sympify(position), c: sp.sympify(bulk)})


def heat_obligations(candidate: sp.Expr, function: Member) -> tuple[HeatObligation, ...]:
    """What makes ``candidate``, an expression in x and c, the closed form of P_c of ``function``."""
    residual = sp.diff(candidate, c) - sp.diff(candidate, x, 2) / 2
    limits = tuple(
        InitialValue(f"c -> 0+ gives the function on piece {i + 1}", candidate, place, as_expression(piece, place))
        for i, (place, piece) in enumerate(zip(places(function.breakpoints), function.pieces, strict=True))
    )
    growth = UniformGrowth("bounded by A exp(B x^2) for all small c", candidate)
    below = valid_below(function)
    analytic = AnalyticBelow(f"analytic in c for 0 < c < {below}", candidate, below)
    return (Vanishing("the heat equation dF/dc = F_xx/2", residual), *limits, growth, analytic)


def places(breakpoints: tuple[sp.Expr, ...]) -> tuple[sp.Expr, ...]:
    """Each piece of the line parametrised by s > 0, in increasing order."""
    if not breakpoints:
        return (x,)
    between = [(low + s * high) / (1 + s) for low, high in pairwise(breakpoints)]
    return (breakpoints[0] - s, *between, breakpoints[-1] + s)


@dataclass(frozen=True)
class ClosedForms:
    """What the rules give for one activation; where they give nothing, a property raises NotInClassError."""

    function: Member

    @cached_property
    def mu0(self) -> ClosedForm:
        """mu0(x, c) = E sigma(x + sqrt(c) z)."""
        return averaged(self.function)

    @cached_property
    def mu1(self) -> ClosedForm:
        """mu1(x, c) = d mu0/dx = E[z sigma(x + sqrt(c) z)]/sqrt(c), from sigma' and the jumps of sigma."""
        jumps = sp.Add(*(height * density_at(t) for t, height in self.jumps))
        candidate = semigroup(self.slope) + jumps
        residual = candidate - sp.diff(self.mu0.expression, x)
        return ClosedForm(
            candidate, self.mu0.valid_below, (*self.mu0.obligations, Vanishing("mu1 = d mu0/dx", residual))
        )

    @cached_property
    def second_moment(self) -> ClosedForm:
        """E[sigma(x + sqrt(c) z)^2]."""
        return averaged(square(self.function))

    @cached_property
    def mu2_squared(self) -> ClosedForm:
        """mu2^2 = E[sigma^2] - mu0^2 - c mu1^2."""
        value = self.second_moment.expression - self.mu0.expression**2 - c * self.mu1.expression**2
        return ClosedForm(
            value, self.second_moment.valid_below, (*self.mu1.obligations, *self.second_moment.obligations)
        )

    @cached_property
    def slope_square(self) -> ClosedForm:
        """E[sigma'(x + sqrt(c) z)^2] of an activation without jumps."""
        return averaged(square(self.slope))

    @cached_property
    def second_moment_centred(self) -> ClosedForm:
        """A form that is E[sigma(z)^2] at x = 0, c = 1: the second moment, or that of the even part of sigma^2."""
        return _or_even(lambda: self.second_moment, self.function)

    @cached_property
    def slope_square_centred(self) -> ClosedForm:
        """A form that is E[sigma'(z)^2] at x = 0, c = 1, of an activation without jumps."""
        return _or_even(lambda: self.slope_square, self.slope)

    @cached_property
    def slope(self) -> Member:
        """sigma' between the breakpoints."""
        return Member(self.function.breakpoints, tuple(map(derivative, self.function.pieces)))

    @cached_property
    def jumps(self) -> tuple[tuple[sp.Expr, sp.Expr], ...]:
        """The breakpoints at which sigma jumps, with the height."""
        pieces = self.function.pieces
        heights = [
            sp.radsimp(sp.expand(as_expression(add(right, scale(left, sp.S.NegativeOne)), t)))
            for t, (left, right) in zip(self.function.breakpoints, pairwise(pieces), strict=True)
        ]
        return tuple((t, h) for t, h in zip(self.function.breakpoints, heights, strict=True) if h != 0)

    @cached_property
    def h1(self) -> sp.Expr:
        """E[z sigma(z)] = mu1(0, 1)."""
        return _at_origin(self.mu1)

    @cached_property
    def h2(self) -> sp.Expr:
        """E[sigma(z)^2], a second moment."""
        return _at_origin(self.second_moment_centred)

    @cached_property
    def h1_check(self) -> sp.Expr:
        """E[(sigma'(z) - h1)^2] = E[sigma'^2] - h1^2; infinite where sigma jumps."""
        return sp.oo if self.jumps else sp.expand(_at_origin(self.slope_square_centred) - self.h1**2)

    def hermite(self, order: int) -> sp.Expr:
        """s_k = E[He_k(z) sigma(z)]/sqrt(k!) = d^k mu0/dx^k (0, 1)/sqrt(k!)."""
        while len(self._slopes) <= order:
            self._slopes.append(sp.expand(sp.diff(self._slopes[-1], x), mul=True, power_exp=False, power_base=False))
        return sp.expand(self._slopes[order].xreplace({x: sp.S.Zero})) / sp.sqrt(sp.factorial(order))

    @cached_property
    def _slopes(self) -> list[sp.Expr]:
        """mu0(x, 1) and its x-derivatives as far as they were needed."""
        return [self.mu0.at(x, sp.S.One)]


def established(forms: ClosedForms, quantity: str) -> tuple[sp.Expr, tuple[HeatObligation, ...]]:
    """A quantity by name (mu0, mu1, second_moment, mu2_squared, h1, h2, h1_check, s_k) with its obligations."""
    value: sp.Expr
    if quantity in ("mu0", "mu1", "second_moment", "mu2_squared"):
        value = getattr(forms, quantity).expression
    else:
        value = forms.hermite(int(quantity[2:])) if quantity.startswith("s_") else getattr(forms, quantity)
    return value, tuple(o for form in beneath(forms, quantity) for o in form.obligations)


def beneath(forms: ClosedForms, quantity: str) -> tuple[ClosedForm, ...]:
    """The closed forms that a quantity rests on."""
    if quantity.startswith("s_"):
        return (forms.mu0,)
    if quantity == "h1":
        return (forms.mu1,)
    if quantity == "h2":
        return (forms.second_moment_centred,)
    if quantity == "h1_check":
        return (forms.mu1,) if forms.jumps else (forms.mu1, forms.slope_square_centred)
    form: ClosedForm = getattr(forms, quantity)
    return (form,)


def averaged(function: Member) -> ClosedForm:
    """P_c of a member of the class with its obligations. Raises NotInClassError."""
    candidate = semigroup(function)
    return ClosedForm(candidate, valid_below(function), heat_obligations(candidate, function))


def _or_even(whole: Callable[[], ClosedForm], function: Member) -> ClosedForm:
    """P_c of the square of a function, or of its even part where there is none."""
    try:
        return whole()
    except NotInClassError:
        return averaged(even_part(square(function)))


def square(function: Member) -> Member:
    """The square of a member, piece by piece."""
    return Member(function.breakpoints, tuple(multiply(piece, piece) for piece in function.pieces))


def density_at(t: sp.Expr) -> sp.Expr:
    """The density of N(x, c) at t."""
    return sp.exp(-((x - t) ** 2) / (2 * c)) / sp.sqrt(2 * sp.pi * c)


def _at_origin(form: ClosedForm) -> sp.Expr:
    return sp.expand(form.at(sp.S.Zero, sp.S.One))


@lru_cache(maxsize=256)
def closed_forms(activation: Activation) -> ClosedForms:
    """The closed forms of an activation, computed as they are asked for.

    Raises NotInClassError, with one sentence saying why, for an activation outside the class.
    """
    return ClosedForms(member(activation))
