"""Cauchy-Schwarz as obligations: for vectors component by component."""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.language.derivation import NonNegative, Obligation

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
