"""Where several steps blow up: the growth of a long spike for a piecewise linear student, whatever the target.

sigma(x) = (a + b sgn x) x with slopes a + b on the right and a - b on the left. At spike R the label is small beside
the output R m0, and everything is a function of kappa alone: sigma' = a + b sgn(kappa), Y = -R sigma(kappa).
"""

from __future__ import annotations

import functools

import sympy as sp

from giantsteps.derivations.gradient_step.signs import moment_of_sign, square_of_sign, without_factor
from giantsteps.derivations.kernel.algebra import congruence, instantiate, rewrite, ring
from giantsteps.derivations.kernel.averages import average, independent, iterated, linear, moment
from giantsteps.derivations.kernel.limits import limit_average, limit_compose, limit_rational, name_limit
from giantsteps.derivations.kernel.search.assumptions import each_proved, in_model, proved
from giantsteps.derivations.kernel.search.averages import averages_expanded, renamed
from giantsteps.derivations.kernel.search.steps import equal, rewritten, value
from giantsteps.derivations.kernel.statements import Equation, sides
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sgn, sigma, sigma_prime
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.derivations.several_steps.before import SAMPLE, SOURCE, STEP, Before, mu1, residual, w
from giantsteps.derivations.several_steps.fresh_batch import AVERAGES, HYPOTHESES, spike

_ONE, _ZERO = sp.Integer(1), sp.Integer(0)
_x, _h = sp.symbols("x h", real=True)
_long = sp.Symbol("R", positive=True)
_even, _odd = (s.slope_right + s.slope_left) / 2, (s.slope_right - s.slope_left) / 2
SLOPE = in_model("piecewise linear", Equation(sigma_prime(_x), _even + _odd * sgn(_x)), "two slopes", _x)
VALUE = in_model("through zero", Equation(sigma(_x), _x * (_even + _odd * sgn(_x))), "continuous, zero at zero", _x)

LONG = Before(spike=_long)


def _scaled(inverse: sp.Expr = 1 / _long) -> tuple[sp.Expr, sp.Expr, sp.Expr]:
    """mu1, mu0/R and Y/R as functions of kappa, z and e, for a value of 1/R."""
    seen = s.kappa + sp.sqrt(s.c) * inverse * w
    slope = _even + _odd * sgn(seen)
    mean = Expectation(seen * slope, w)
    return Expectation(slope, w), mean, inverse * LONG.label - mean


@functools.cache
def _in_scale() -> tuple[Theorem, Theorem]:
    """mu1(kappa) and mu0(kappa) = R m0, where nothing but 1/R knows of R."""
    seen = s.kappa + sp.sqrt(s.c) / _long * w
    received = LONG.received()
    alike = ring((), Equation(sgn(received), sgn(_long * seen)))
    sign = rewrite((alike, without_factor(_long, seen)))
    slope = rewrite((instantiate((SLOPE,), {_x: received}), sign))
    given = rewrite((instantiate((VALUE,), {_x: received}), sign))
    first = rewrite((LONG.mean_slope, slope))
    mean = rewrite((LONG.mean, given))
    inside = seen * (_even + _odd * sgn(seen))
    return first, rewrite((mean, linear((), value(mean), ((_long, inside),))))


def _over_spike(weight: sp.Expr, power: int) -> Theorem:
    """The average of weight (mu1 Y)^power over R^power, in terms of 1/R."""
    first, mean = _in_scale()
    slope, _, seen = _scaled()
    (known,) = [t for t in AVERAGES[:3] if value(t).integrand == weight * (mu1(s.kappa) * residual(*SAMPLE)) ** power]
    opened = rewrite((rewrite((rewrite((known, LONG.residual)), first)), mean))
    scaled = congruence((opened,), _h / _long**power, _h)
    there = Expectation(weight * (slope * seen) ** power, *SAMPLE)
    same = linear((), there, ((1 / _long**power, value(opened).integrand),))
    return rewrite((scaled, same), True)


def _in_copies(weight: sp.Expr, power: int) -> Theorem:
    """The same average as one over a sample and an independent copy of w for each factor that was averaged over w: a
    single average, whose integrand jumps where kappa is and nowhere else.
    """
    copies = tuple(sp.Symbol(f"w_{k}", real=True) for k in range(2 * power))
    slope, mean, _ = _scaled()
    label = LONG.label / _long
    factors = [f.xreplace({w: copy}) for f, copy in zip((slope,) * power + (mean,) * power, copies, strict=True)]
    slopes, values = ([average_.integrand for average_ in part] for part in (factors[:power], factors[power:]))
    parts = (*slopes, *(label - seen for seen in values))
    inside = sp.Mul(*parts)
    nested = iterated((), Expectation(weight * inside, *SAMPLE, *copies), copies)
    if weight != 1:
        nested = rewrite((nested, linear((), Expectation(weight * inside, *copies), ((weight, inside),))))
    for k, part in enumerate(parts[:-1]):
        rest = sp.Mul(*parts[k + 1 :])
        nested = rewrite((nested, independent((), Expectation(part * rest, *copies[k:]), part, rest)))
    for copy, seen in zip(copies[power:], values, strict=True):
        nested = rewrite((nested, linear((), Expectation(label - seen, copy), ((label, _ONE), (-_ONE, seen)))))
    return renamed(nested, dict.fromkeys(copies, w))


def _without_powers(theorem: Theorem) -> Theorem:
    """A theorem with E[z^2 sgn(z)^k] known: one for k even, zero for k odd."""
    sign = sgn(s.z)
    unit = square_of_sign(s.z)
    for average_ in sorted(value(theorem).atoms(Expectation), key=sp.default_sort_key):
        power = sp.degree(average_.integrand, sign)
        least = power % 2
        if power > 1:
            cofactor = sp.cancel(s.z**2 * (sign**power - sign**least) / (sign**2 - 1))
            same = ring((unit,), Equation(average_.integrand, s.z**2 * sign**least), (cofactor,))
            theorem = rewrite((theorem, average((same,), (s.z,))))
    return rewritten(theorem, moment((), s.z, 2), moment_of_sign(2))


def _limit(weight: sp.Expr, power: int) -> Theorem:
    """What an average over a power of R tends to."""
    flat, scaled = _in_copies(weight, power), _over_spike(weight, power)
    whole = sides(flat.statement)[0]
    tends = limit_average((limit_rational((), 1 / _long, _ZERO, _long),), whole.xreplace({1 / _long: _h}), (_h,))
    tends = averages_expanded(rewrite((rewrite((tends, flat)), scaled), True))
    return _without_powers(tends)


@functools.cache
def growth() -> Derivation:
    """(r'/r)^2 -> (1 - e S2/2)^2 + e^2 S4/(2 alpha0), S2 and S4 the sums of squares and fourth powers of the slopes."""
    square = spike(LONG).theorem_of(s.square_next)
    limits = [_limit(weight, power) for weight, power in ((s.kappa, 1), (s.z, 1), (_ONE, 2))]
    parts = tuple(sides(t.statement)[0] for t in limits)

    def ratio(along: sp.Expr, across: sp.Expr, noise: sp.Expr) -> sp.Expr:
        return (1 + STEP * along) ** 2 + STEP**2 * (across**2 + noise / s.alpha0)

    over = equal(congruence((square,), _h / _long**2, _h), ratio(*parts))
    holes = sp.symbols("h_0:3", real=True)
    tends = rewrite((limit_compose(tuple(limits), ratio(*holes), holes), over), True)
    named = name_limit((tends,), s.growth_square, "the limit of (r'/r)^2 for a long spike")
    second, fourth = (s.slope_right**k + s.slope_left**k for k in (2, 4))
    result = equal(named, (1 - STEP * second / 2) ** 2 + STEP**2 * fourth / (2 * s.alpha0))
    return Derivation(
        "the growth of a long spike",
        SOURCE,
        *spike(LONG).steps,
        *each_proved("In units of the spike, the slope and the output of a piecewise linear student.", _in_scale()),
        *each_proved("The label is small beside the output: a sign and a square of kappa are left.", limits),
        proved("So the spike grows or shrinks by a factor.", result),
        hypotheses=HYPOTHESES,
    )


@functools.cache
def critical_rate() -> Derivation:
    """e_c = 4 alpha0 S2/(alpha0 S2^2 + 2 S4): the rate at which the factor is one."""
    second, fourth = (s.slope_right**k + s.slope_left**k for k in (2, 4))
    rate = in_model("critical rate", Equation(s.eta, s.critical_rate * s.beta), "e = eta/beta is the critical rate")
    level = in_model(
        "neither grows nor shrinks", Equation(s.growth_square, _ONE), "where a long spike keeps its length"
    )
    found = ring(
        (rewrite((growth().theorems[-1], rate)), level),
        Equation(s.critical_rate, 4 * s.alpha0 * second / (s.alpha0 * second**2 + 2 * fourth)),
        (_factor(second, fourth), -_factor(second, fourth)),
    )
    return Derivation(
        "the rate at which long spikes start to grow",
        SOURCE,
        *growth().steps,
        proved("The factor is one at rate zero and at one other.", found),
        hypotheses=HYPOTHESES,
    )


def _factor(second: sp.Expr, fourth: sp.Expr) -> sp.Expr:
    """The cofactor that turns G^2 - 1 into e_c less its value."""
    return -4 * s.alpha0 / (s.critical_rate * (s.alpha0 * second**2 + 2 * fourth))
