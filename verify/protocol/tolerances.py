"""Every tolerance of the ledger, each with its reason. A check may use no other number."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Tolerance:
    """A relative tolerance and why it is what it is."""

    value: float
    reason: str


ROUNDING = Tolerance(1e-11, "smooth sums in double precision: a few hundred roundings of 1e-16, times 100")
SOLVER = Tolerance(1e-8, "fixed points are solved to a residual of 1e-12; condition numbers up to 1e4 are allowed for")
CONVEX_SOLVER = Tolerance(1e-6, "the solver for convex losses stops when doubling its rules moves the loss by less")
QUADRATURE = Tolerance(1e-9, "the quadrature rules agree with their refinements to 1e-11; a hundred times that")
ASYMPTOTIC = Tolerance(2e-3, "taken at a parameter of 1e4 whose corrections decay like its inverse, times 20")
FINITE_DIFFERENCE = Tolerance(1e-5, "central differences, step 1e-5, of functions of order one: error 1e-10 / 1e-5")
MINIMUM = Tolerance(1e-6, "a flat minimum is located to the root of the rounding of its value, 1e-8, times 100")
MANY_DIGITS = Tolerance(1e-40, "fifty digits, of which the rules themselves confirm all; ten are kept in reserve")
