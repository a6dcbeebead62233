"""The assumptions of the bounds: the target, its approximations, and the hypotheses of the theory."""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.free_energy.along_spike import mu0, mu1
from giantsteps.derivations.free_energy.sample_energy import LABEL_MOMENTS, TEACHER, over_label
from giantsteps.derivations.kernel.algebra import rewrite
from giantsteps.derivations.kernel.limits import limit_order
from giantsteps.derivations.kernel.search.assumptions import in_model
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import rewritten
from giantsteps.derivations.kernel.statements import AtLeast, Equation, Tends, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.saddle_point import equations

# What a readout can combine to approximate it, up to noise.
BASIS = {s.b1: mu0, s.b2: s.kappa * mu1, s.b3: mu1 * s.z}


@functools.cache
def aligned() -> tuple[Theorem, ...]:
    """y0, y1 and y2 at gamma = 1, where the label depends on kappa alone."""
    at_one = [
        in_model("aligned", Equation(x, sp.Integer(v)), "gamma = 1, so that rho = 0")
        for x, v in ((s.gamma, 1), (s.rho, 0))
    ]
    return tuple(averages_expanded(rewritten(name, *at_one), s.kappa) for name in LABEL_MOMENTS)


def combination(*coefficients: sp.Symbol) -> sp.Expr:
    """The sum of the basis with coefficients; b1, b2, b3 in turn."""
    return sp.Add(*(b * e for b, e in zip(coefficients, BASIS.values(), strict=False)))


def normal_equation(coefficient: sp.Symbol, *coefficients: sp.Symbol) -> Theorem:
    """The error of the nearest combination is orthogonal to each function that it combines: what b1, b2, b3 mean."""
    error = (TEACHER - combination(*coefficients)) * BASIS[coefficient]
    return in_model(
        f"projection, {coefficient}",
        Equation(Expectation(error, s.kappa, s.z), sp.Integer(0)),
        "the coefficients solve the normal equations: the error is orthogonal to the span",
    )


def orthogonal(coefficient: sp.Symbol, *coefficients: sp.Symbol) -> Theorem:
    """The normal equation worked out: a polynomial in the coefficients and averages over kappa is zero."""
    equation = normal_equation(coefficient, *coefficients)
    return rewrite((equation, over_label(sides(equation.statement)[0].integrand)))


def test_error() -> Theorem:
    """The test error for any readout."""
    return equations.test_error().theorem_of(s.test_error)


_sequence = sp.Symbol("N", positive=True)


def infimum(of: sp.Expr, name: sp.Symbol, over: str) -> tuple[Theorem, Theorem]:
    """What ``name`` means: no value of a quantity is below it, and there is a sequence of values that tends to it."""
    below = in_model(f"infimum, {name}", AtLeast(of, name), f"no value is below the infimum over {over}")
    reached = in_model(f"infimum, {name}, reached", Tends(of, name, _sequence), f"values along some sequence of {over}")
    return below, reached


def above_infimum(bound: Theorem, name: sp.Symbol, over: str) -> Theorem:
    """inf f >= l from f >= l, for l that is one for all of ``over``."""
    _, reached = infimum(sides(bound.statement)[0], name, over)
    return along(bound, reached)


def along(bound: Theorem, reached: Theorem) -> Theorem:
    """An inequality in the limit of the sequence that an infimum is reached along."""
    return limit_order((bound, reached), _sequence)
