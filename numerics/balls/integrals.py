"""Certified Gaussian expectations E[He_j(z) sigma(x)^i sigma'(x)^l], x = mean + sqrt(variance) z, z ~ N(0, 1).

Polynomials are done exactly, everything else by two rules.  Where sigma is analytic in a strip with a growth bound
there, the trapezoidal rule with the error of `numerics.balls.trapezoid`.  Otherwise panels between the breakpoints,
each by flint's adaptive integration of the analytic branch, and an explicit bound of the tail |z| > L.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from flint import acb, arb

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.activations.growth import Growth
from giantsteps.derivations.activations.strip_growth import strip_growth
from giantsteps.derivations.expressions.budget import Budget, TookTooLong, at_most, spend
from giantsteps.derivations.expressions.calculus import derivative
from giantsteps.derivations.expressions.normal_form import as_polynomial
from giantsteps.derivations.expressions.tree import Expression, ExpressionError
from giantsteps.numerics.balls.arithmetic import (
    BallError,
    Program,
    location_ball,
    precision,
    program,
    rational_ball,
    whole_power,
)
from giantsteps.numerics.balls.gaussian_bounds import Envelope, cut_off, envelope
from giantsteps.numerics.balls.trapezoid import heights, plan, rounded
from giantsteps.numerics.gaussian.polynomial_moments import Coefficients, differentiated, hermite_moment, power, product

Ball = Any

# Bits beyond those asked for: rounding of a few thousand terms, and cancellation between them.
_GUARD_BITS = 40
_BOUND_BITS = 64
_MOST_NODES = 40_000
# Per panel and moment; flint's own limit, a million at 1000 bits, would outlast any other.
_MOST_EVALUATIONS = 100_000
_GRACE = 1_000


# The operations that one call may take unless it is told otherwise: about a minute.
MOST_OPERATIONS = 60_000_000
LIMIT_REACHED = "the limit on the number of operations was reached"


class InfiniteMoment(BallError):
    """The expectation asked for is infinite; the message is the reason."""


@dataclass(frozen=True)
class Moment:
    """E[He_hermite(z) sigma^sigma sigma'^slope]."""

    hermite: int = 0
    sigma: int = 0
    slope: int = 0


@dataclass(frozen=True)
class _Problem:
    function: Activation
    moments: tuple[Moment, ...]
    mean: Fraction
    variance: Fraction
    bits: int
    budget: Budget

    def scale(self) -> Ball:
        return rational_ball(self.variance).sqrt()

    def evaluation_cost(self, code: Program, moment: int) -> int:
        """The operations of one evaluation of an integrand with a Hermite polynomial of degree `moment`."""
        return (len(code) + moment + 12) * (1 + self.bits // 512 + (self.bits // 1024) ** 2)

    def powers(self, value: Growth, slope: Growth | None, moment: Moment) -> Growth:
        bound = Growth(Fraction(1), sharp=True)
        if moment.sigma:
            bound = bound.times(value.to_power(Fraction(moment.sigma)))
        if moment.slope and slope is not None:
            bound = bound.times(slope.to_power(Fraction(moment.slope)))
        return bound


def expectations(
    function: Activation,
    moments: tuple[Moment, ...],
    *,
    mean: Fraction | int = 0,
    variance: Fraction | int = 1,
    bits: int = 128,
    operations: int = MOST_OPERATIONS,
) -> list[Ball]:
    """Certified balls of the moments for x = mean + sqrt(variance) z, with a radius of about 2**-bits.

    Raises InfiniteMoment where a moment is infinite, BallError where no certified value was found (the reason is said,
    a limit on the operations included).  Nothing that is not finite is ever returned.
    """
    if variance <= 0:
        raise BallError(f"the variance must be positive, not {variance}")
    if bits < 16:
        raise BallError(f"at least 16 bits are needed, not {bits}")
    whole = function.panels[0]
    polynomial = as_polynomial(whole.branch) if len(function.panels) == 1 and not whole.endless else None
    if polynomial is not None:
        with precision(bits + _GUARD_BITS):
            return [_exact(tuple(polynomial), moment, Fraction(mean), Fraction(variance)) for moment in moments]
    with at_most(operations) as budget:
        try:
            known = _by_parity(function, moments, Fraction(mean), Fraction(variance), bits)
            left = tuple(moment for moment in moments if moment not in known)
            if left:
                problem = _Problem(function, left, Fraction(mean), Fraction(variance), bits, budget)
                known |= dict(zip(left, _integrated(problem), strict=True))
            return [known[moment] for moment in moments]
        except TookTooLong:
            raise BallError(f"no certified value for {_short(function)}: {LIMIT_REACHED}") from None


def _by_parity(
    function: Activation, moments: tuple[Moment, ...], mean: Fraction, variance: Fraction, bits: int
) -> dict[Moment, Ball]:
    """E[He_j sigma] at mean 0 where the part of sigma with the parity of j is a polynomial: exact, 0 above its degree.

    By quadrature a coefficient that is zero would be a difference of large numbers.
    """
    found = {}
    linear = [moment for moment in moments if (moment.sigma, moment.slope) == (1, 0)]
    if mean == 0 and linear and 2 * function.growth.quadratic * variance < 1:
        for moment in linear:
            part = function.polynomial_parts[moment.hermite % 2]
            if part is not None:
                with precision(bits + _GUARD_BITS):
                    found[moment] = _exact(tuple(part), moment, mean, variance)
    return found


def _integrated(problem: _Problem) -> list[Ball]:
    function, moments, bits = problem.function, problem.moments, problem.bits
    with precision(_BOUND_BITS):
        envelopes = [_envelope(problem, moment) for moment in moments]
        end = cut_off(envelopes, bits + 12)
        step = _step(problem, envelopes, end)
    with precision(bits + _GUARD_BITS):
        if step is not None:
            results, errors = _trapezoid(problem, end, step[0]), step[1]
        else:
            results, errors = _panels(problem, end), tuple(e.tail(rational_ball(end)) for e in envelopes)
        results = [
            arb(0) if _moment_parity(problem, moment) == -1 else result + arb(0, error)
            for moment, result, error in zip(moments, results, errors, strict=True)
        ]
    for moment, result in zip(moments, results, strict=True):
        if not result.is_finite() or result.rad() > (1 + abs(result.mid())) * arb(2) ** -(bits // 2):
            why = LIMIT_REACHED if problem.budget.exhausted else "the integration did not converge"
            raise BallError(f"no certified value of {_named(moment)} of {_short(function)}: {why}")
    return results


def _exact(polynomial: Coefficients, moment: Moment, mean: Fraction, variance: Fraction) -> Ball:
    """The moment of a polynomial: a rational number times a power of the standard deviation."""
    slope = differentiated(polynomial)
    whole = product(power(polynomial, moment.sigma), power(slope, moment.slope))
    value = hermite_moment(whole, moment.hermite, mean, variance)
    return rational_ball(value) * rational_ball(variance).sqrt() ** moment.hermite


def _named(moment: Moment) -> str:
    factors = [f"He_{moment.hermite}(z)"] if moment.hermite else []
    factors += [f"sigma^{moment.sigma}"] if moment.sigma else []
    factors += [f"sigma'^{moment.slope}"] if moment.slope else []
    return f"E[{' '.join(factors) or '1'}]"


def _short(function: Activation) -> str:
    text = str(function)
    return text if len(text) <= 80 else text[:77] + "..."


def _envelope(problem: _Problem, moment: Moment) -> Envelope:
    function = problem.function
    slope = None
    if moment.slope:
        try:
            slope = function.derivative_growth
        except TookTooLong:
            raise
        except ExpressionError as reason:
            raise BallError(f"the derivative of {function} could not be bounded: {reason}") from None
    bound = problem.powers(function.growth, slope, moment)
    result = envelope(bound, rational_ball(problem.mean), problem.scale()).times_hermite(moment.hermite)
    if 2 * bound.quadratic * problem.variance >= 1:
        powers = f"exp({bound.quadratic} x**2)"
        if bound.sharp and not (moment.sigma and moment.slope):
            raise InfiniteMoment(
                f"the integrand grows like {powers}, not integrable for an argument of variance {problem.variance}"
            )
        raise BallError(f"whether the moment is finite could not be decided: the integrand is bounded by {powers} only")
    return result


# ---- the trapezoidal rule -------------------------------------------------------------------------------------------


def _step(problem: _Problem, envelopes: list[Envelope], end: Fraction) -> tuple[Fraction, tuple[Ball, ...]] | None:
    """The largest step that meets the goal and its errors, or None when the rule does not apply or needs too much."""
    function = problem.function
    strip = function.strip
    if strip is None:
        return None
    branch = function.panels[0].branch
    slope = derivative(branch) if any(m.slope for m in problem.moments) else None

    def bounds(height: Fraction) -> list[Envelope] | None:
        return _line_bounds(problem, branch, slope, height)

    scale = problem.scale()
    found = plan(heights(strip, scale, problem.bits), bounds, scale, problem.bits + 11)
    if found is None or 2 * float(end) / found.width > _MOST_NODES:
        return None
    step = rounded(found.width)
    return step, found.errors(rational_ball(step), envelopes, rational_ball(end))


def _line_bounds(
    problem: _Problem, branch: Expression, slope: Expression | None, height: Fraction
) -> list[Envelope] | None:
    """Bounds of the integrands in z for |Im x| <= height, one per moment; None where there is none."""
    value_growth = strip_growth(branch, height)
    slope_growth = None if slope is None else strip_growth(slope, height)
    if value_growth is None or (slope is not None and slope_growth is None):
        return None
    mean, scale = rational_ball(problem.mean), problem.scale()
    return [
        envelope(problem.powers(value_growth, slope_growth, moment), mean, scale).times_hermite(
            moment.hermite, rational_ball(height) / scale
        )
        for moment in problem.moments
    ]


def _trapezoid(problem: _Problem, end: Fraction, width: Fraction) -> list[Ball]:
    branch = problem.function.panels[0].branch
    code = program(branch, derivative(branch)) if any(m.slope for m in problem.moments) else program(branch)
    mean, scale, step = rational_ball(problem.mean), problem.scale(), rational_ball(width)
    parities = [_moment_parity(problem, m) for m in problem.moments]
    symmetric = all(p != 0 for p in parities)
    count = math.ceil(end / width)
    top = max(m.hermite for m in problem.moments)
    totals = [arb(0) for _ in problem.moments]
    plain = problem.mean == 0 and problem.variance == 1
    cost = problem.evaluation_cost(code, top + 2 * len(problem.moments))
    for k in range(0 if symmetric else -count, count + 1):
        spend(cost)
        z = k * step
        values = code.run(z if plain else mean + scale * z)
        weight = (-(z * z) / 2).exp()
        if symmetric and k:
            weight = 2 * weight
        hermites = _hermites(z, top)
        for i, moment in enumerate(problem.moments):
            if parities[i] != -1:
                totals[i] += _term(moment, hermites, values) * weight
    factor = step / (2 * arb.pi()).sqrt()
    return [total * factor for total in totals]


def _moment_parity(problem: _Problem, moment: Moment) -> int:
    """1 or -1 for an even or odd integrand, 0 when it is neither (or not known to be)."""
    parity = problem.function.parity
    if problem.mean != 0 or (parity not in ("odd", "even") and (moment.sigma or moment.slope)):
        return 0
    odd = moment.hermite + (moment.sigma if parity == "odd" else moment.slope)
    return -1 if odd % 2 else 1


def _hermites(z: Ball, top: int) -> list[Ball]:
    values = [arb(1), z]
    for k in range(1, top):
        values.append(z * values[k] - k * values[k - 1])
    return values


def _term(moment: Moment, hermites: list[Ball], values: list[Ball]) -> Ball:
    result = hermites[moment.hermite]
    if moment.sigma:
        result = result * whole_power(values[0], moment.sigma)
    if moment.slope:
        result = result * whole_power(values[1], moment.slope)
    return result


# ---- panels ---------------------------------------------------------------------------------------------------------


def _panels(problem: _Problem, end: Fraction) -> list[Ball]:
    parities = [_moment_parity(problem, m) for m in problem.moments]
    return [
        arb(0) if parity == -1 else _panel_moment(problem, moment, end)
        for moment, parity in zip(problem.moments, parities, strict=True)
    ]


def _panel_moment(problem: _Problem, moment: Moment, end: Fraction) -> Ball:
    mean, scale = rational_ball(problem.mean), problem.scale()
    ends = [(-rational_ball(end), arb(0))]
    parts = problem.function.panels
    for panel in parts[:-1]:
        assert panel.right is not None
        place = (location_ball(panel.right.place) - mean) / scale
        ends.append((place.mid(), place.rad()))
    ends.append((rational_ball(end), arb(0)))
    low, high = ends[0][0], ends[-1][0]
    total = arb(0)
    for panel, (left, left_slack), (right, right_slack) in zip(parts, ends, ends[1:], strict=False):
        integrand, cost = _integrand(problem, moment, panel.branch, mean, scale)
        start, stop = left.max(low), right.min(high)
        if start < stop:
            total += _integral(problem, integrand, cost, start, stop)
        # the true breakpoint lies within its ball: the sliver between is bounded by its width times the integrand
        for place, slack in ((left, left_slack), (right, right_slack)):
            if slack != 0:
                total += arb(0, (abs(integrand(acb(arb(place, slack)), False)) * slack).upper())
    return total


def _integrand(
    problem: _Problem, moment: Moment, branch: Expression, mean: Ball, scale: Ball
) -> tuple[Callable[[Ball, bool], Ball], int]:
    """The integrand and the operations of one evaluation."""
    code = program(branch, derivative(branch)) if moment.slope else program(branch)
    norm = 1 / (2 * arb.pi()).sqrt()
    plain = problem.mean == 0 and problem.variance == 1
    cost = 2 * problem.evaluation_cost(code, moment.hermite)  # complex numbers

    def integrand(z: Ball, analytic: bool) -> Ball:
        if problem.budget.exhausted or not problem.budget.take(cost):  # flint would lose an exception
            return acb(arb.nan(), arb.nan())
        values = code.run(z if plain else mean + scale * z, analytic)
        return _term(moment, _hermites(z, moment.hermite), values) * ((-(z * z) / 2).exp() * norm)

    return integrand, cost


def _integral(problem: _Problem, integrand: Callable[[Ball, bool], Ball], cost: int, start: Ball, stop: Ball) -> Ball:
    tolerance = arb(2) ** -(problem.bits + 8)
    spend(cost)
    # when the budget ends, the integrand is no number any more and flint goes on: but not for long
    limit = min(_MOST_EVALUATIONS, _GRACE + problem.budget.available // cost)
    value = acb.integral(integrand, start, stop, abs_tol=tolerance, rel_tol=tolerance, eval_limit=limit)
    return value.real
