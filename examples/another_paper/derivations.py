"""Derivations: theorems of the kernel, from definitions, the model and named hypotheses."""

from __future__ import annotations

from functools import cache

import sympy as sp

from giantsteps.derivations.kernel.search.assumptions import define, hypothesis, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded
from giantsteps.derivations.kernel.search.steps import by_ring, equal, isolated, rewritten
from giantsteps.derivations.kernel.statements import Equation
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation

from . import symbols as s

_x, _z, _n = sp.symbols("x z n", real=True)
# Two Gaussian numbers with the second moments rho, m and q, made of independent standard normal ones.
_TEACHER = s.overlap / sp.sqrt(s.student) * _z + sp.sqrt(s.rest) * _x
_STUDENT = sp.sqrt(s.student) * _z
_JOINT = "teacher and prediction are linear in Gaussian vectors, and so jointly Gaussian"
ALIKE = "a fit without a sample predicts it as it predicts a fresh one, and every sample has the same response V"
ISOTROPIC = "at Omega = 1, as d grows, each response V and the trace of (X^T X/d + lambda)^{-1} over d have one limit"


def _averaged(meaning: Theorem) -> Theorem:
    """An average of squares by the second moments rho, m and q."""
    rest = define(s.rest, s.teacher - s.overlap**2 / s.student, "the second moment of the teacher is rho")
    return rewritten(averages_expanded(meaning), rest)


@cache
def test_error() -> Derivation:
    """E_g = rho - 2 m + q."""
    meaning = define(s.test, Expectation((_TEACHER - _STUDENT) ** 2, _x, _z), _JOINT)
    return Derivation(
        "the test error",
        "Section 2",
        proved("The mean square of a difference of two Gaussian numbers,", meaning),
        proved("by their second moments.", equal(_averaged(meaning), s.teacher - 2 * s.overlap + s.student)),
    )


@cache
def rescaled() -> Derivation:
    """E_k is a parabola in k with its vertex at m/q."""
    meaning = define(s.scaled, Expectation((_TEACHER - s.factor * _STUDENT) ** 2, _x, _z), _JOINT)
    vertex = s.teacher - s.overlap**2 / s.student + s.student * (s.factor - s.overlap / s.student) ** 2
    return Derivation(
        "the best factor of a prediction",
        "Section 2",
        proved("The prediction is multiplied by k.", meaning),
        proved("The second moments, as a square and the rest.", equal(_averaged(meaning), vertex)),
    )


@cache
def one_more_sample() -> Derivation:
    """h = (omega + V y)/(1 + V)."""
    normal = in_model(
        "normal equations",
        Equation(s.seen, s.unseen + s.response * (s.label - s.seen)),
        "a sample moves the weights by (X^T X/d + lambda)^{-1} v (y - h)/sqrt(d), X without the sample",
    )
    return Derivation(
        "one more sample",
        "Appendix A",
        proved("The weights move along the new sample, in proportion to its residual.", normal),
        proved("The equation is linear in the new prediction.", isolated(s.seen, normal)),
    )


@cache
def training_error() -> Derivation:
    """E_t = (E_g + Delta)/(1 + V)^2."""
    seen, error = one_more_sample().theorem_of(s.seen), test_error().theorem_of(s.test)
    residual = by_ring(Equation(s.label - s.seen, (s.label - s.unseen) / (1 + s.response)), seen)
    fresh = (_TEACHER + sp.sqrt(s.noise) * _n - _STUDENT) / (1 + s.response)
    meaning = hypothesis("training error", Equation(s.training, Expectation(fresh**2, _n, _x, _z)), ALIKE)
    goal = Equation(s.training, (s.test + s.noise) / (1 + s.response) ** 2)
    return Derivation(
        "the training error",
        "Section 3",
        proved("In the fit the residual of a sample shrinks by 1 + V.", residual),
        proved("Before that it is the error on a fresh sample.", meaning),
        proved("The label noise adds to the test error.", by_ring(goal, _averaged(meaning), error)),
        hypotheses=(ALIKE,),
    )


@cache
def isotropic() -> Derivation:
    """lambda = 1/V - alpha/(1 + V)."""
    leverage = define(s.leverage, s.response / (1 + s.response), "the slope of h in y, see `one_more_sample`")
    trace = hypothesis("trace", Equation(s.ridge * s.response + s.ratio * s.leverage, sp.Integer(1)), ISOTROPIC)
    ridge = rewritten(isolated(s.ridge, trace), leverage)
    return Derivation(
        "the response of isotropic features",
        "Section 3",
        proved("A label moves its own prediction by the leverage.", leverage),
        proved("The trace of (X^T X/d + lambda) times its inverse, over d: the leverages add up.", trace),
        proved("Solved for the ridge.", equal(ridge, 1 / s.response - s.ratio / (1 + s.response))),
        hypotheses=(ISOTROPIC,),
    )
