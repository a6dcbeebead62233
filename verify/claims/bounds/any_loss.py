"""Claims of Section 4.3 for any convex loss: Jensen's inequality, both bounds on the test loss, and the square loss."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.bounds import any_loss as derived
from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.bounds.any_loss import CONVEX, INDEPENDENT, loss_of
from giantsteps.derivations.kernel.algebra import order
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.numerics.bounds.any_loss import least_loss
from giantsteps.verify.checks.points import ByNumbers, BySearch, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem, said
from giantsteps.verify.claims.bounds.ridge import lower
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import MORE, claim, eq, ge, le
from giantsteps.verify.protocol.tolerances import ASYMPTOTIC, CONVEX_SOLVER, QUADRATURE, ROUNDING
from giantsteps.verify.second_route import losses as numbers
from giantsteps.verify.second_route.models import DOMAIN, GENERIC, functions_at, model_at
from giantsteps.verify.second_route.values import nothing
from giantsteps.verify.solver.models import solved_convex

BEYOND = Source("this suite", "beyond the paper: bounds for any convex loss")


def jensen(statement: Relational) -> Theorem:
    """The inequality for an output with one normal variable beside it."""
    bound = derived.jensen(s.y, s.field_mean, s.output_spread * s.xi, s.xi)
    return order((bound,), said(statement), (sp.Integer(1),))


def above_infimum(statement: Relational) -> Theorem:
    """The test loss is at least the loss of an element of the span, which is at least the infimum."""
    return order(derived.above_infimum()[-1:], said(statement), (sp.Integer(1),))


def below_limit(statement: Relational) -> Theorem:
    """inf <= limit."""
    return order((derived.below_limit(),), said(statement), (sp.Integer(1),))


# ---- one output ----

ONE = Domain((Range("loss", choices=numbers.NAMES), Range(s.y, -2.0, 2.0), Range(s.field_mean, -2.0, 2.0),
              Range(s.output_spread, 0.0, 2.0)),
             (CONVEX,), ({**GENERIC, "loss": lambda y, x: np.sqrt(1 + (y - x) ** 2) - 1},))


_LARGE = 1e4  # stands for infinity


def _at_ridges(name: sp.Symbol, point: Point, *ridges: float) -> Mapping[str, float] | None:
    """The least test loss E l(y, omega) of the solver over some ridges, and least losses by direct minimisation."""
    model, loss = numbers.bounded_model(point), str(point["loss"])
    solutions = [solved_convex(replace(model, ridge=ridge or model.ridge), loss) for ridge in ridges]
    # For the square loss it is (y - omega)^2/2, of noisy labels.
    losses = [(x.test_error + model.noise) / 2 if loss == "square" else x.test_error for x in solutions if x.converged]
    return {**numbers.least_losses(model, loss), name.name: min(losses)} if losses else None


def _large_ridge(point: Point) -> Mapping[str, float] | None:
    return _at_ridges(s.loss_infinity, point, _LARGE)


def _square(point: Point) -> Mapping[str, float]:
    model = model_at(point)
    return {s.least_loss.name: least_loss(model, across=True).value, s.noise.name: model.noise}


_quiet = loss_of(s.y, s.field_mean)
_noisy = Expectation(loss_of(s.y, s.field_mean + s.output_spread * s.xi), s.xi)
_few_times = "inf over ridges 0.02, 0.3 and 1e4 of the solver, by direct minimisation on a grid"

CLAIMS: tuple[Claim, ...] = (
    claim(
        "bounds.any-loss.jensen", "Independent noise in the output does not lower a convex loss", BEYOND,
        ge(_noisy, _quiet), ONE,
        ByTheorem("the supporting line", jensen, hypotheses=(CONVEX,)),
        BySearch("three convex losses on a symmetric grid", nothing, ROUNDING, numbers.value_of_loss),
        wrong={
            "the other way round": ge(_quiet, _noisy),
            "eight per cent more": MORE * _quiet,
            "noise on both sides, twice": loss_of(s.y, s.field_mean + 2 * s.output_spread),
        },
    ),
    claim(
        "bounds.any-loss.lower", "The test loss is never below the least loss in the span of mu0, kappa mu1 and mu1 z",
        BEYOND,
        ge(s.test_loss, s.least_loss), numbers.DOMAIN,
        ByTheorem("an element of the span and noise", above_infimum, hypotheses=(CONVEX, INDEPENDENT)),
        BySearch("the solver, and direct minimisation on a grid",
                 lambda point: _at_ridges(s.test_loss, point, 0.0), CONVEX_SOLVER),
        wrong={
            "eight per cent more": MORE * s.least_loss,
            "the upper bound instead": s.least_loss_means,
            "mu1 z left out": numbers.least_loss_along,
        },
        uses=("bounds.any-loss.jensen",),
        note="At every ridge, alpha and beta, hence also for the infimum over any of them. Label noise is in both.",
    ),
    claim(
        "bounds.any-loss.heavy-ridge", "The test loss as the ridge grows is the least loss of a multiple of mu0",
        BEYOND,
        eq(s.loss_infinity, s.least_loss_means), numbers.HEAVY,
        ByDerivation(derived.heavy_ridge),
        ByNumbers("the solver at ridge 1e4, and direct minimisation on a grid", _large_ridge, ASYMPTOTIC,
                  finite_size=True),
        kind=Kind.LIMIT,
        wrong={"eight per cent more": MORE * s.least_loss_means, "the whole span": s.least_loss},
    ),
    claim(
        "bounds.any-loss.upper",
        "The infimum of the test loss over the ridge is at most the least loss of a multiple of mu0", BEYOND,
        le(s.best_loss, s.least_loss_means), numbers.HEAVY,
        ByTheorem("an infimum is not above a limit", below_limit, hypotheses=derived.LIMIT_HYPOTHESES),
        BySearch(_few_times, lambda point: _at_ridges(s.best_loss, point, 0.02, 0.3, _LARGE), ASYMPTOTIC),
        wrong={"eight per cent less": s.least_loss_means / MORE, "the lower bound instead": s.least_loss},
        uses=("bounds.any-loss.heavy-ridge",),
        note="Numbers stand for infinity with ridge 1e4, where the loss is within 1e-3 of its limit.",
    ),
    claim(
        "bounds.any-loss.square", "For the square loss the bound is the distance from the span", BEYOND,
        eq(2 * s.least_loss - s.noise, lower), DOMAIN,
        ByDerivation(derived.square),
        ByNumbers("the least loss on split panels", _square, QUADRATURE, functions_at),
        wrong={
            "without the half": eq(s.least_loss - s.noise, lower),
            "noise not taken off": eq(2 * s.least_loss, lower),
        },
        uses=("bounds.distance",),
    ),
)
