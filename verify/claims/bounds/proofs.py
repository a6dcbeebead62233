"""Proofs of the bounds of Section 4.3: obligations computed from the inequality that is claimed."""

from __future__ import annotations

import sympy as sp

from onestep.derivations.bounds import ridge as bounds
from onestep.derivations.bounds import symbols as s
from onestep.derivations.free_energy.along_spike import g, mu0, mu1, mu2, y0, y1, y2
from onestep.derivations.language import inequalities
from onestep.derivations.language.derivation import NonNegative, Obligation, RationalLimit, Vanishing
from onestep.derivations.language.expectation import expand_expectations
from onestep.verify.claims.saddle_point.formulas import E

# The averages that the bounds are made of.
overlap, norm = E(mu0 * y0), E(mu0**2)
cross, second, second_overlap = E(s.kappa * mu0 * mu1), E(s.kappa**2 * mu1**2), E(s.kappa * mu1 * y0)
target_square = E(y2) - s.noise


def complete_the_square(statement: sp.Basic) -> tuple[Obligation, ...]:
    """left - right = |mu0|^2 (b1 - <g, mu0>/|mu0|^2)^2, with |mu0|^2 > 0."""
    size = sp.Symbol("|\\mu_0|^2", positive=True)
    left, right = statement.args
    difference = (expand_expectations(left) - expand_expectations(right)).subs(norm, size)
    return (
        Vanishing("left less right is a square with weight |mu0|^2", difference - size * (s.b1 - overlap / size) ** 2),
        NonNegative("the weight", size, ((size, sp.S.One),)),
    )


def cauchy_schwarz(statement: sp.Basic) -> tuple[Obligation, ...]:
    """right - left for q1 = |u|^2 and psi = u.t of one vector u and one unit vector t.

    :func:`inequalities.for_vectors` shows D = |u|^2 |t|^2 - (u.t)^2 >= 0; with |t| = 1, q1 = D + psi^2.
    """
    lesser, greater = (statement.lts, statement.gts)
    left_over, size = sp.symbols("D |t|^2", nonnegative=True)
    return (
        *inequalities.for_vectors(),
        Vanishing("q1 from D at |t| = 1", ((left_over + s.psi**2) / size).subs(size, 1) - left_over - s.psi**2),
        NonNegative(
            "greater less lesser side", (greater - lesser).subs(s.q1, left_over + s.psi**2), ((left_over, sp.S.One),)
        ),
    )


def at_gamma_one(expression: sp.Expr) -> sp.Expr:
    """The moments of the label where it depends on kappa only: y0 = g, y1 = 0."""
    teacher = g(s.kappa)
    return expression.xreplace({y0: teacher, y1: sp.S.Zero, y2: teacher**2 + s.noise})


def above_span(statement: sp.Basic) -> tuple[Obligation, ...]:
    """test error - distance = noise of the readout + a quadratic form in (m, zeta, psi) - (b1, b2, b3), by its squares.

    The order parameters are symbols: the inequality holds at every ridge. A number below every value of the test error
    is below its infimum, so the same obligations prove it for the best error.

    The quadratic form is |mu0|^2 (m - b1 + t (zeta - b2))^2 + (rest) (zeta - b2)^2 + E[mu1^2] (psi - b3)^2.
    """
    a, b, d, e = sp.symbols("a b d e", real=True)
    noise_2, gram = sp.symbols("n_2 G", nonnegative=True)
    size, across = sp.symbols("|\\mu_0|^2 |\\mu_1|^2", positive=True)
    error = bounds.lower_bound().results[s.test_error]
    aligned = not statement.rhs.has(y0)
    errors = {s.test_error: error, s.best_error: error}
    if aligned:
        errors = {name: at_gamma_one(value) for name, value in errors.items()}
    left = expand_expectations(statement.lhs.subs(errors).subs(s.q1, s.excess + s.psi**2))
    # Averages by name; G = |mu0|^2 E[kappa^2 mu1^2] - E[kappa mu0 mu1]^2 >= 0 is the Gram determinant of the first two.
    names = {
        norm: size,
        E(mu1**2): across,
        overlap: a,
        second_overlap: b,
        cross: d,
        E(mu1 * y1): e,
        second: (gram + d**2) / size,
    }
    if aligned:
        names = {at_gamma_one(average): value for average, value in names.items() if average != E(mu1 * y1)}
    difference = (left - expand_expectations(statement.rhs)).subs(names)
    e = sp.S.Zero if aligned else e
    positive = sp.Symbol("G", positive=True)
    best_2 = (size * b - a * d) / gram
    best_1 = (a - d * best_2) / size
    squares = (
        (size, s.m - best_1 + d / size * (s.zeta - best_2)),
        (gram / size, s.zeta - best_2),
        (across, s.psi - e / across),
        (across * s.excess, sp.S.One),
        (noise_2 * s.q2, sp.S.One),
    )
    rename = {gram: positive, E(mu2**2): noise_2}
    return (
        *inequalities.for_vectors(),
        *inequalities.gram(mu0, s.kappa * mu1),
        NonNegative(
            "test error less distance",
            difference.subs(rename),
            tuple((weight.subs(rename), base.subs(rename)) for weight, base in squares),
        ),
    )


def below_limit(statement: sp.Basic) -> tuple[Obligation, ...]:
    """inf <= limit: the test error at ridge lambda exceeds its infimum, and tends to the bound as lambda grows.

    Along lambda = N -> infinity the error is the limit plus d/N, with d bounded, and also the infimum plus something
    that is not negative: so the infimum is the limit plus d/N less that.
    """
    above, drift = sp.Symbol("\\varepsilon_\\lambda-\\inf", nonnegative=True), sp.Symbol("d_\\lambda", nonnegative=True)
    N = sp.Symbol("N", positive=True)
    limit = bounds.heavy_ridge().results[s.error_infinity]
    if not statement.rhs.has(y0):
        limit = expand_expectations(at_gamma_one(limit))
    infimum = limit + drift / N - above
    steps = tuple(o for o in bounds.heavy_ridge().obligations if isinstance(o, RationalLimit))
    return (
        *steps,
        NonNegative(
            "bound plus d/N less infimum",
            statement.rhs + drift / N - statement.lhs.subs(s.best_error, infimum),
            ((above, sp.S.One),),
        ),
        RationalLimit("d/N vanishes", statement.rhs + drift / N, N, statement.rhs),
    )


def between(statement: sp.Basic) -> tuple[Obligation, ...]:
    """Both bounds at once."""
    lower, upper = sorted(statement.args, key=lambda relation: isinstance(relation, sp.LessThan))
    return (*above_span(lower), *below_limit(upper))


def infima_above(statement: sp.Basic) -> tuple[Obligation, ...]:
    """best error over ridge and spike <= least upper bound, from best error <= upper bound at every spike.

    Along spikes whose upper bounds are within 1/N of the least, infimum <= best error there <= least + 1/N.
    """
    over_rate, bound_slack = sp.symbols("s_1 s_2", nonnegative=True)
    N = sp.Symbol("N", positive=True)
    infimum = s.best_upper + 1 / N - bound_slack - over_rate
    return (
        NonNegative(
            "least upper bound plus 1/N less infimum",
            statement.rhs + 1 / N - statement.lhs.subs(s.best_error_rate, infimum),
            ((over_rate, sp.S.One), (bound_slack, sp.S.One)),
        ),
        RationalLimit("1/N vanishes", statement.rhs + 1 / N, N, statement.rhs),
    )


def infima_below(statement: sp.Basic) -> tuple[Obligation, ...]:
    """best error over ridge and another variable >= least lower bound, from error >= lower bound at every value.

    Along values whose best errors are within 1/N of the infimum, infimum + 1/N = error >= lower bound >= least.
    """
    over_rate, bound_slack = sp.symbols("s_1 s_2", nonnegative=True)
    N = sp.Symbol("N", positive=True)
    least = {s.best_error_rate: s.best_lower, s.best_error_bias: s.best_lower_bias}
    at_sequence = {infimum: bound + over_rate + bound_slack - 1 / N for infimum, bound in least.items()}
    return (
        NonNegative(
            "infimum plus 1/N less least lower bound",
            statement.lhs.subs(at_sequence) + 1 / N - statement.rhs,
            ((over_rate, sp.S.One), (bound_slack, sp.S.One)),
        ),
        RationalLimit("1/N vanishes", statement.lhs + 1 / N, N, statement.lhs),
    )


def noise_of_output(statement: sp.Basic) -> tuple[Obligation, ...]:
    """mu1^2 (q1 - psi^2) + mu2^2 q2 at any kappa, q1 - psi^2 >= 0 by Cauchy-Schwarz."""
    return (
        *inequalities.for_vectors(),
        NonNegative(
            "variance of the output at given kappa and z",
            (statement.gts - statement.lts).subs(s.q1, s.excess + s.psi**2),
            ((s.excess, mu1), (s.q2, mu2)),
        ),
    )
