"""Proofs of the bounds of Section 4.3: theorems made for the inequality that is claimed."""

from __future__ import annotations

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.bounds import ridge as bounds
from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.bounds.assumptions import above_infimum, aligned, along, infimum
from giantsteps.derivations.bounds.heavy_ridge import error_limit
from giantsteps.derivations.free_energy import assumptions as readouts
from giantsteps.derivations.free_energy.along_spike import g, mu0, mu1, mu2, y0, y1, y2
from giantsteps.derivations.kernel.algebra import order, rewrite
from giantsteps.derivations.kernel.limits import limit_order
from giantsteps.derivations.kernel.search.goals import concluded
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import AtLeast, Equation, Refused, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.verify.checks.proofs import said
from giantsteps.verify.claims.saddle_point.formulas import E

# The averages that the bounds are made of.
overlap, norm = E(mu0 * y0), E(mu0**2)
cross, second, second_overlap = E(s.kappa * mu0 * mu1), E(s.kappa**2 * mu1**2), E(s.kappa * mu1 * y0)
target_square = E(y2) - s.noise


def complete_the_square(statement: Relational) -> Theorem:
    """left - right = |mu0|^2 (b1 - <g, mu0>/|mu0|^2)^2, with |mu0|^2 > 0."""
    return order((), said(statement), (), ((norm, s.b1 - overlap / norm),))


def cauchy_schwarz(statement: Relational) -> Theorem:
    """psi^2 <= q1: the mean square over components of what a vector has across a unit vector."""
    return order((readouts.cauchy_schwarz(),), said(statement), (sp.Integer(1),))


def at_gamma_one(expression: sp.Expr) -> sp.Expr:
    """The moments of the label where it depends on kappa only: y0 = g, y1 = 0."""
    teacher = g(s.kappa)
    return expression.xreplace({y0: teacher, y1: sp.S.Zero, y2: teacher**2 + s.noise})


def _as_stated(theorem: Theorem, statement: Relational, at_one: bool) -> Theorem:
    """A bound on the best error in the form in which it is stated, and at gamma = 1 where the claim is of that."""
    goal = said(statement)
    if at_one:
        for moment in aligned():
            old, _ = sides(moment.statement)
            if any(side.has(old) for side in sides(theorem.statement)):
                theorem = rewrite((theorem, moment))
    used, signs = [theorem], [sp.Integer(1)]
    for sign, written, known in zip((1, -1), sides(goal), sides(theorem.statement), strict=True):
        if written != known:
            used.append(concluded(Equation(written, known)))
            signs.append(sp.Integer(sign))
    return order(tuple(used), goal, tuple(signs))


def above_span(statement: Relational, at_one: bool = False) -> Theorem:
    """test error >= distance = what the paper states, at every ridge, hence for the infimum over the ridge."""
    goal = said(statement)
    distance = bounds.span().theorem_of(s.distance)
    bound = bounds.above_distance()
    stated = order((bound, distance), AtLeast(s.test_error, value(distance)), (sp.Integer(1), sp.Integer(1)))
    if goal.left == s.best_error:
        stated = above_infimum(stated, s.best_error, "the ridge")
    return _as_stated(stated, statement, at_one)


def below_limit(statement: Relational, at_one: bool = False) -> Theorem:
    """inf <= limit: the test error at every ridge is at least its infimum, and tends to the bound as lambda grows."""
    below, _ = infimum(s.test_error, s.best_error, "the ridge")
    bound = limit_order((below, error_limit()), s.ridge)
    return _as_stated(bound, statement, at_one)


def between(statement: Relational) -> Theorem:
    """Either bound."""
    return above_span(statement) if isinstance(statement, sp.GreaterThan) else below_limit(statement)


# Infima over the ridge and something else, and what the bounds have for infima over it.
_LEAST = {
    s.best_error_rate: (s.best_lower, "the spike"),
    s.best_error_bias: (s.best_lower_bias, "the bias"),
}


def infima_above(statement: Relational) -> Theorem:
    """best error over ridge and spike <= least upper bound, from best error <= upper bound at every spike."""
    below, _ = infimum(s.test_error, s.best_error, "the ridge")
    at_spike, _ = infimum(s.best_error, s.best_error_rate, "the spike")
    # Before the limit: after it the infimum over the ridge would have to be the same at every ridge.
    everywhere = order((below, at_spike), AtLeast(s.test_error, s.best_error_rate), (sp.Integer(1), sp.Integer(1)))
    limit = limit_order((everywhere, error_limit()), s.ridge)
    _, reached = infimum(sides(limit.statement)[0], s.best_upper, "the spike")
    return order((along(limit, reached),), said(statement), (sp.Integer(1),))


def infima_below(statement: Relational) -> Theorem:
    """best error over ridge and another variable >= least lower bound, from error >= lower bound at every value."""
    goal = said(statement)
    if goal.left not in _LEAST:
        raise Refused(f"nothing is known of {goal.left}")
    least, over = _LEAST[goal.left]
    at_value = above_infimum(bounds.above_distance(), s.best_error, "the ridge")
    below, _ = infimum(s.distance, least, over)
    everywhere = order((at_value, below), AtLeast(s.best_error, least), (sp.Integer(1), sp.Integer(1)))
    return order((above_infimum(everywhere, goal.left, over),), goal, (sp.Integer(1),))


def noise_of_output(statement: Relational) -> Theorem:
    """mu1^2 (q1 - psi^2) + mu2^2 q2 at any kappa, q1 - psi^2 >= 0 by Cauchy-Schwarz."""
    return order((readouts.cauchy_schwarz(),), said(statement), (mu1**2,), ((s.q2, mu2),))
