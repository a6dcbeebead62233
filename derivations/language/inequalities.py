"""Cauchy-Schwarz as obligations: for vectors component by component, for averages over two independent copies."""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import NonNegative, Obligation, Vanishing
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import separate

# One readout a and one unit vector t orthogonal to the spike: u = Pi W^T a/sqrt(p) has q1 = |u|^2 and psi = u.t.
ONE_READOUT = (
    "q1 = |Pi W^T a|^2/p and psi = a.W theta_perp/sqrt(p) of the same readout, with |theta_perp| = 1, at every "
    "dimension; a weak inequality passes to their limits"
)


@functools.cache
def for_vectors() -> tuple[Obligation, ...]:
    """|u|^2 |t|^2 - (u.t)^2 >= 0, by induction over the components: none at first, then one more.

    With A = |u|^2, B = |t|^2 > 0, C = u.t of the components so far and D = A B - C^2 >= 0, a further pair (a, b) adds
    (a B - C b)^2/B + D b^2/B.
    """
    B = sp.Symbol("B", positive=True)
    D = sp.Symbol("D", nonnegative=True)
    C, a, b = sp.symbols("C a b", real=True)
    A = (D + C**2) / B
    return (
        NonNegative("one component: nothing is left", a**2 * b**2 - (a * b) ** 2, ()),
        NonNegative(
            "one component more",
            (A + a**2) * (B + b**2) - (C + a * b) ** 2,
            ((D, sp.S.One), (D / B, b), (1 / B, a * B - C * b)),
        ),
    )


@functools.cache
def gram(first: sp.Expr, second: sp.Expr) -> tuple[Obligation, ...]:
    """E[f^2] E[h^2] - E[f h]^2 = (1/2) E (f h' - f' h)^2 over kappa and an independent copy kappa' of it."""
    z, copy = s.z, sp.Symbol("z'", real=True)
    f, h, f_, h_ = (e.xreplace({s.kappa: x}) for x in (z, copy) for e in (first, second))
    square = Expectation((f * h_ - f_ * h) ** 2, z, copy)

    def average(integrand: sp.Expr) -> sp.Expr:
        return separate(Expectation(integrand, z))

    determinant = average(f**2) * average(h**2) - average(f * h) ** 2
    return (
        Vanishing(
            "the Gram determinant is half the average of a square over two independent copies",
            determinant - separate(square) / 2,
        ),
        NonNegative("the square", (f * h_ - f_ * h) ** 2 / 2, ((sp.Rational(1, 2), f * h_ - f_ * h),)),
    )
