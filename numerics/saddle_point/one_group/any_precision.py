"""The ridge saddle point of one group at any precision: Newton's method from the solution in double precision.

The system is taken in the paper's own form, through the spectrum of W W^T (equations (17)-(24) of arXiv 2402.04980),
not through the deterministic equivalent of `numerics.saddle_point.equations`: with g(x) = int dnu(t)/(t + x) at x =
(ridge + V2^)/V1^, nu the Marchenko-Pastur law,

    V1 = (1 - x g)/V1^,   V2 = g/V1^,
    q1 = (k1 s2 + k2 s1)/V1^^2,   q2 = (k1 s1 + k2 s0)/V1^^2,   s_j = int t^j dnu(t)/(t + x)^2,
    k1 = q1^ + beta psi^^2,   k2 = q2^ + beta c zeta^^2.

Expectations over kappa: the trapezoidal rule, or Gauss-Legendre panels between breakpoints of a target at alignment
+-1. Their error is judged by a coarser rule, an estimate; `numerics.certificates.certify` encloses. The functions of
kappa are midpoints of the balls of `numerics.balls.smoothed`, the solution is not one of a certificate: that would cost
some five times as much, most of it for the proof, and these digits, by equations of their own, are what checks it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, arb_mat, ctx
from mpmath import mp

from giantsteps.derivations.expressions.exact import alone, working_digits
from giantsteps.numerics.balls.arithmetic import PrecisionError, precision, rational_ball
from giantsteps.numerics.balls.rules import Rule, trapezoid
from giantsteps.numerics.balls.rules import panels_of_digits as panels
from giantsteps.numerics.gaussian.quadrature import FINER
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.solution import Conjugates, OrderParameters, Solution
from giantsteps.numerics.saddle_point.one_group.profile_of_any_precision import DigitsProfile, Solved, profile_on
from giantsteps.numerics.saddle_point.ridge import solve

Ball = Any

GUARD_DIGITS = 12
_COARSE = tuple(0.4 / 2**n for n in range(9))
_COARSE_BITS = 64
_MOST_ITERATIONS = 200


@alone
def solve_to(model: Model, digits: int) -> Solution:
    """The saddle point to `digits` digits: a `Solution` of numbers of mpmath.

    Every double of the model is the binary rational that it is. residual: max |x - F(x)|/(1 + |x|) over V1 and V2.
    error_estimate: about the error of the rule along the spike, the largest change, relative to 1 + size, of all these
    numbers under a coarser rule, to the power that the two steps differ by (rules converge geometrically).

    With the network's own bulk: `network_any_precision`. Raises PrecisionError where the digits were not reached, and
    ModelError for what is not built: another loss, several groups or a density of them, rows of unequal norm before the
    step, ridge = 0, an activation without a part linear in the bulk.
    """
    several = model.law is not None or len(model.groups) > 1 or model.rank > 1
    if several or model.gaussian_rows or model.ridge == 0.0 or model.loss.name != "square":
        raise ModelError(
            "any precision is built for the square loss, the uniform readout, a spike of one direction, rows of equal "
            f"norm before the step, and ridge > 0, and here {model.described()}: leave the digits away"
        )
    solver = _solver(model)
    # mu2^2 is a difference, and beside a small ridge it counts where it is as small as that.
    guard = GUARD_DIGITS + max(0.0, -math.log10(model.ridge))
    bits = math.ceil((digits + guard) * math.log2(10))
    jumps = _jumps(model)
    height = 0.0 if jumps else _analytic_height(solver)
    # What rules of labels leave may exceed this power of the move by a factor.
    margin = 0 if model.network_step is None else 3
    tails = bits + _tail_bits(model, bits)
    wanted = math.log(10) * (digits + 4)
    step = 2 * math.pi * height / wanted
    for attempt in range(7):
        with precision(bits):
            if jumps:
                fine = solver(panels(jumps, digits, 1.0 + 0.5 * attempt), digits, 1.0)
                with precision(bits // 2):  # half as many nodes give half as many digits
                    coarse = solver(panels(jumps, digits // 2, 1.0 + 0.5 * attempt), digits // 2, 1.0)
            else:
                share = FINER**attempt
                fine = solver(trapezoid(step, tails), digits, share)
                # Not half as fine: that would mistake the same oscillations for constants as the finer one does.
                coarse = solver(trapezoid(FINER * step, tails), digits, share / FINER)
            moved = max(abs(x - y) / (1 + abs(x)) for x, y in zip(fine.values, coarse.values, strict=True)).mid()
            check = moved ** arb(2.0 if jumps else FINER)
            if check < arb(10) ** -(digits + margin):
                return _as_solution(model, fine, check, digits)
            # The error falls like e^{-2 pi a/h}: the step for the digits wanted follows from what this one gave.
            step *= min(0.85, max(0.2, -0.9 * FINER * math.log(float(moved)) / wanted))
    raise PrecisionError(
        f"{digits} digits were not reached: a coarser rule still moves the error by {float(moved):.1e}"
    )


# A rule along the spike, digits, and how much finer than they ask for all other rules are.
_Solver = Callable[[Rule, int, float], Solved]


def _solver(model: Model) -> _Solver:
    """The solver on one rule: with the network's own bulk, which has rules of its own, or without."""
    if model.network_step is not None:
        # Imported here: most digits are asked of the isotropic bulk.
        from giantsteps.numerics.saddle_point.one_group.network_any_precision import network_start, solved_on_network

        begin = network_start(model, solve(model))
        return lambda rule, digits, share: solved_on_network(model, rule, begin, digits, share)
    order = solve(model).order_parameters
    start = (float(order.V1[0, 0]), float(order.V2[0]))
    return lambda rule, digits, share: _solved(model, rule, start, digits)


def _jumps(model: Model) -> list[Ball]:
    if model.network_step is not None or abs(model.alignment) < 1.0:
        return []
    places = [point.location.rational() for point in model.target.breakpoints]
    if any(place is None for place in places):
        raise ModelError("breakpoints of the target that are not rational, at alignment 1, are not built")
    return [rational_ball((place or Fraction(0)) / Fraction(model.alignment)) for place in places]


def _tail_bits(model: Model, bits: int) -> int:
    """Bits by which products of two functions along the spike, and kappa^2, exceed one at the end of a rule."""
    degrees = [1.0 if f.growth is None else float(f.growth.degree) for f in (model.activation, model.target)]
    return math.ceil((2.0 * max(degrees) + 2.0) * math.log2(math.sqrt(2.0 * math.log(2.0) * bits)))


def _analytic_height(solver: _Solver) -> float:
    """Half the width of the strip around the spike where the integrands are analytic, from the convergence of rules.

    The trapezoidal rule of step h errs like e^{-2 pi a/h}; solutions of low precision at halved steps show a.
    """
    previous = None
    with precision(_COARSE_BITS):
        for step in _COARSE:
            error = float(solver(trapezoid(step, _COARSE_BITS), 14, 1.0).values[0])
            if previous is not None:
                moved = abs(error - previous[1]) / (1 + abs(error))
                if moved < 1e-6:
                    return float(previous[0] * -math.log(max(moved, 1e-17)) / (2 * math.pi))
            previous = (step, error)
    raise PrecisionError("the functions along the spike vary too fast for a rule of any precision")


def _profile(model: Model, rule: Rule) -> DigitsProfile:
    """The functions on a rule, every double of the model the binary rational it is."""
    numbers = (Fraction(x) for x in (model.slopes[0], model.bulks[0], model.alignment))
    return profile_on(model, rule, *map(rational_ball, numbers))


def _solved(model: Model, rule: Rule, start: tuple[float, float], digits: int) -> Solved:
    return _on_table(_profile(model, rule), start, digits)


@dataclass(frozen=True)
class _Spectrum:
    """V1, V2 and the integrals s0, s1, s2 over V1^^2, at given conjugates V1^, V2^."""

    V1: Ball
    V2: Ball
    s0: Ball
    s1: Ball
    s2: Ball

    def matrix(self) -> Any:
        """(s2, s1; s1, s0)."""
        return arb_mat([[self.s2, self.s1], [self.s1, self.s0]])


def _curvature(
    table: DigitsProfile, ratio: Ball, f1: Sequence[Ball], f2: Sequence[Ball], squared: Sequence[Ball]
) -> Any:
    across = ratio * table.mean(f1, f2, squared)
    return arb_mat([[ratio * table.mean(f1, f1, squared), across], [across, ratio * table.mean(f2, f2, squared)]])


def _spectrum(model: Model, first: Ball, second: Ball) -> _Spectrum:
    """The Stieltjes transform g > 0 of W W^T at -x, c beta x g^2 + (x + c - beta c) g - 1 = 0: s0 = -g', s1 = g + x g'
    and s2 = 1 - 2 x g - x^2 g', which at a large x are what differences of terms of order 1 leave.

    With R the root of the discriminant and w = (1 - x g)/(c g) they are s0 = (c beta g^2 + g)/R, s1 = c g w/R and
    s2 = c^2 g w (w + beta x g)/R, sums and products of what is positive.
    """
    c, beta = rational_ball(Fraction(model.bulks[0])), rational_ball(Fraction(model.beta))
    x = (rational_ball(Fraction(model.ridge)) + second) / first
    lack = c - beta * c
    linear = x + lack
    root = (linear * linear + 4 * c * beta * x).sqrt()
    # The root without cancellation, and w = (R - x + c - beta c)/(2 c).
    g = 2 / (root + linear) if linear > 0 else (root - linear) / (2 * c * beta * x)
    if model.beta > 1.0:
        w = 2 * x / (root + x - lack)
    else:
        w = ((2 * c * x * (1 + beta) + lack * lack) / (root + x) + lack) / (2 * c)
    square, rest = first * first, c * g * w
    found = (
        rest / first,
        g / first,
        (c * beta * g * g + g) / (root * square),
        rest / (root * square),
        rest * c * (w + beta * x * g) / (root * square),
    )
    return _Spectrum(*(value.mid() for value in found))


def _on_table(table: DigitsProfile, start: tuple[float, float], digits: int) -> Solved:
    model = table.model
    ratio = rational_ball(Fraction(model.alpha) / Fraction(model.beta))
    f1, f2 = [x * x for x in table.mu1], table.mu2_squared
    if all(averages.first.contains(0) for averages in table.student):
        raise ModelError(
            "the activation has no part that is linear in the bulk (mu1 = 0 all along the spike, or too small to be "
            "told from it), which leaves V1 and V2 no pair of unknowns; digits are built for mu1 != 0, for example for "
            "tanh(z)"
        )
    full = ctx.prec
    v1, v2 = arb(start[0]), arb(start[1])
    moved = arb(1)
    bits = 53
    for iteration in range(1, _MOST_ITERATIONS + 1):  # noqa: B007  (the count is returned)
        if moved < 1e-3:
            # The digits double in every step, and so does the precision.
            bits = min(2 * bits, full)
        with precision(bits + 16 if bits < full else full):
            inverse = [1 / (1 + v1 * a + v2 * b) for a, b in zip(f1, f2, strict=True)]
            squared = [w * w for w in inverse]
            spectrum = _spectrum(model, ratio * table.mean(f1, inverse), ratio * table.mean(f2, inverse))
            # d(V1, V2) = (s2, s1; s1, s0) (alpha/beta) (E f_i f_j/(1+V)^2) d(V1, V2)
            slopes = spectrum.matrix() * _curvature(table, ratio, f1, f2, squared)
            identity = arb_mat([[1, 0], [0, 1]])
            try:
                step = (identity - slopes).solve(arb_mat([[v1 - spectrum.V1], [v2 - spectrum.V2]]))
            except ZeroDivisionError:
                raise PrecisionError("the equations for V1 and V2 are singular at this precision") from None
            v1, v2 = (v1 - step[0, 0]).mid(), (v2 - step[1, 0]).mid()
            if not (v1 > 0 and v2 > 0):
                # Below the solution of a coarse rule a step may lead anywhere; from above Newton's method descends.
                v2 = 1 / rational_ball(Fraction(model.ridge))
                v1, moved = rational_ball(Fraction(model.bulks[0])) * v2, arb(1)
                continue
            moved = (abs(step[0, 0] / v1) + abs(step[1, 0] / v2)).mid()
        if bits == full and moved < arb(10) ** -(digits // 2 + GUARD_DIGITS // 2 + 1):
            break
    else:
        raise PrecisionError("Newton's method did not converge from the solution in double precision")
    return _linear(table, ratio, v1, v2, iteration)


def _linear(table: DigitsProfile, ratio: Ball, v1: Ball, v2: Ball, iterations: int) -> Solved:
    """All that follows once V1 and V2 are known."""
    model, mean = table.model, table.mean
    c, beta = rational_ball(Fraction(model.bulks[0])), rational_ball(Fraction(model.beta))
    f1, f2 = [x * x for x in table.mu1], table.mu2_squared
    inverse = [1 / (1 + v1 * a + v2 * b) for a, b in zip(f1, f2, strict=True)]
    squared = [w * w for w in inverse]
    spectrum = _spectrum(model, ratio * mean(f1, inverse), ratio * mean(f2, inverse))
    pull = ratio * beta * c * v2
    zz, zy = mean(table.along, table.along, inverse), mean(table.along, table.y0, inverse)
    if _without_mean(table):
        m, zeta = arb(0), pull * zy / (1 + pull * zz)
    else:
        mm, mz, my = (mean(table.mu0, other, inverse) for other in (table.mu0, table.along, table.y0))
        # m = (my - mz zeta)/mm, put into zeta = pull (zy - mz m - zz zeta).
        zeta = pull * (zy - mz * my / mm) / (1 + pull * (zz - mz * mz / mm))
        m = (my - mz * zeta) / mm
    psi_hat = ratio * mean(table.mu1, table.y1, inverse)
    zeta_hat = zeta / (beta * c * v2)
    psi = beta * v1 * psi_hat
    risk = [
        y2 - y0 * y0 + (y0 - m * a - zeta * b) ** 2 - 2 * psi * y1 * slope
        for y2, y0, a, b, y1, slope in zip(table.y2, table.y0, table.mu0, table.along, table.y1, table.mu1, strict=True)
    ]
    # q = S (k + A q): q1^ and q2^ are linear in q1, q2.
    fixed = [ratio * mean(f, squared, risk) for f in (f1, f2)]
    k = arb_mat([[fixed[0] + beta * psi_hat * psi_hat], [fixed[1] + beta * c * zeta_hat * zeta_hat]])
    matrix = spectrum.matrix()
    slopes = matrix * _curvature(table, ratio, f1, f2, squared)
    q = (arb_mat([[1, 0], [0, 1]]) - slopes).solve(matrix * k)
    q1, q2 = q[0, 0], q[1, 0]
    risk = [value + q1 * a + q2 * b for value, a, b in zip(risk, f1, f2, strict=True)]
    test = mean(risk) - rational_ball(Fraction(model.noise)) * sum(table.weights, arb(0))
    values = (test, mean(risk, squared), m, zeta, psi, q1, q2, v1, v2)
    residual = (abs(v1 - spectrum.V1) / (1 + abs(v1))).max(abs(v2 - spectrum.V2) / (1 + abs(v2)))
    return Solved(tuple(value.mid() for value in values), residual.mid(), iterations)


def _without_mean(table: DigitsProfile) -> bool:
    """Whether there is no spike, and a mean of the features that is zero, or zero to half the digits computed with."""
    if table.model.slopes[0] != 0.0:
        return False
    mean, slope, rest = abs(table.mu0[0]), table.mu1[0], table.mu2_squared[0]
    return bool(mean <= (slope * slope + rest).sqrt() * arb(2) ** (-ctx.prec // 2))


def _as_solution(model: Model, found: Solved, check: Ball, digits: int) -> Solution:
    def number(ball: Ball) -> Any:
        return +mp.make_mpf(ball._mpf_)

    def vector(value: Any) -> Any:
        return np.array([value], dtype=object)

    def matrix(value: Any) -> Any:
        return np.array([[value]], dtype=object)

    with working_digits(digits):
        test, training, m, zeta, psi, q1, q2, v1, v2, *chi = (number(value) for value in found.values)
        none = np.zeros(0)
        order = OrderParameters(
            vector(m), vector(zeta), vector(psi), matrix(q1), vector(q2), matrix(v1), vector(v2),
            Conjugates(none, none, none, none, none, none), np.array(chi, dtype=object),
        )  # fmt: skip
        return Solution(
            model=model,
            test_error=test,
            training_error=training,
            order_parameters=order,
            residual=number(found.residual),
            error_estimate=number(check.mid()),
            converged=True,
            status="converged",
            iterations=found.iterations,
            digits=digits,
        )
