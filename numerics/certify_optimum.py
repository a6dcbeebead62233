"""The spike or learning rate of least upper bound, certified: a bracket with one minimum, monotone on both sides.

Along a path r = slope t, c = base + growth t^2 (t the learning rate, or the spike itself with growth 0) the upper bound
on the least test error over the ridge, equation (26), is

    U(t) = E[g^2] - N^2/M,     N = E[y0 mu0],  M = E[mu0^2],     U' = -(2 N/M^2) G,  G = N' M - N P,  P = E[mu0 mu0'],

and G' = N'' M + N' P - N (E[mu0'^2] + E[mu0 mu0'']). mu0 = P_c sigma obeys the heat equation in c, so that with
h_n = d^n mu0/d(r kappa)^n = E[He_n(z) sigma(r kappa + s z)]/s^n, s^2 = c,

    mu0'  = slope kappa h_1 + growth t h_2,
    mu0'' = growth h_2 + slope^2 kappa^2 h_2 + 2 slope kappa growth t h_3 + (growth t)^2 h_4.

On an interval T around m the mean value form G(m) + G'(T) (T - m) holds G; where it and N keep their signs U is
monotone, and where G' keeps its sign and G changes its own U has one critical point. All expectations are trapezoidal
rules in kappa and z whose errors are bounded off the line (`numerics.certify_rule`). Activation and target have to be
analytic in a strip and bounded by a power there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import arb, arb_mat

from derivations.activation import Activation
from derivations.expression_strip_growth import strip_growth
from numerics.ball_coefficients import hermite_balls
from numerics.balls import BallError, precision, program, rational_ball
from numerics.certify_bounds import Bound, mean_power, polynomial_growth, rational_upper
from numerics.certify_rule import Along, SpikeRule, trapezoidal
from numerics.gaussian_bounds import involutions

Ball = Any

# Bits of the quadrature and of the arithmetic: G is compared with zero, not printed.
_BITS, _PRECISION = 36, 80
_ORDERS = range(5)
_MOST_NODES = 4000
# Heights of the rectangles that are tried, in kappa and in z.
_HEIGHTS = tuple(Fraction(n, 64) for n in (96, 72, 56, 44, 32, 24, 16, 12, 8, 4))
# Relative half widths of the first bracket, and of the pieces of the monotone intervals.
_BRACKETS = tuple(Fraction(1, 2**k) for k in range(4, 13))
_FIRST_PIECE, _LARGEST_PIECE, _SMALLEST_PIECE = Fraction(1, 32), Fraction(1, 4), Fraction(1, 2**14)
_GROWTH = Fraction(5, 4)
_MOST_PIECES = 200


@dataclass(frozen=True)
class Path:
    """r = slope t, c = base + growth t^2, and gamma, which does not change: balls made by `constants` when needed."""

    student: Activation
    target: Activation
    constants: Callable[[], tuple[Ball, Ball, Ball, Ball]]


def along_spike(student: Activation, target: Activation, bulk: float, alignment: float) -> Path:
    """t is the spike r at fixed c and gamma: the doubles are the binary rationals that they are."""
    numbers = (Fraction(1), Fraction(bulk), Fraction(0), Fraction(alignment))

    def constants() -> tuple[Ball, Ball, Ball, Ball]:
        slope, base, growth, gamma = (rational_ball(x) for x in numbers)
        return slope, base, growth, gamma

    return Path(student, target, constants)


def along_rate(student: Activation, target: Activation, *, alpha0: float, beta: float, noise: float = 0.0) -> Path:
    """t is the learning rate eta~ of Result 3.1, with h1, h1*, h2* and E[(sigma' - h1)^2] enclosed.

    Raises BallError where E[sigma] is not zero by parity, or a Hermite number has no enclosure.
    """
    if student.parity != "odd":
        raise BallError(
            f"the map of the gradient step is certified for odd activations, and {student} is not known odd"
        )
    ratio, width, variance = Fraction(alpha0), Fraction(beta), Fraction(noise)

    @lru_cache(maxsize=1)
    def constants() -> tuple[Ball, Ball, Ball, Ball]:
        own, other = hermite_balls(student), hermite_balls(target)
        h1, check = own.h1.required(), own.h1_check.required()
        second = (other.h2.required() + rational_ball(variance)) / rational_ball(ratio)
        first = other.h1.required()
        length = (first * first + second).sqrt()
        b = rational_ball(width)
        return h1 * length / b, arb(1), second * check / (b * b), first / length

    return Path(student, target, constants)


@dataclass(frozen=True)
class Optimum:
    """What is certain about a minimum of the upper bound; where nothing is, `status` says why.

    bracket holds one critical point of U, a minimum. U falls on [falls_from, bracket[0]] and rises on [bracket[1],
    rises_to]: on [falls_from, rises_to] it is the global minimum.
    """

    status: str
    bracket: tuple[float, float] = (math.nan, math.nan)
    falls_from: float = math.nan
    rises_to: float = math.nan

    @property
    def certified(self) -> bool:
        """Whether there is a bracket."""
        return not math.isnan(self.bracket[0])


def certify_minimum(path: Path, guess: float, low: float, high: float) -> Optimum:
    """The minimum of U near a guess, 0 < low < guess < high; monotone as far towards low and high as it can be shown.

    Never raises for what could not be certified.
    """
    if not 0.0 < low < guess < high < math.inf:
        return Optimum("estimated: the least bound was found at an end of the interval, not inside")
    with precision(_PRECISION):
        try:
            slopes = _Slopes(path)
            left, right = _bracket(slopes, Fraction(guess), Fraction(low), Fraction(high))
            a, b = _narrowed(slopes, left, right)
            falls = _swept(slopes, left, Fraction(low), -1)
            rises = _swept(slopes, right, Fraction(high), 1)
        except BallError as reason:
            return Optimum(f"estimated: {reason}")
    return Optimum("certified", (_down(a), _up(b)), _up(falls), _down(rises))


def _down(x: Fraction) -> float:
    """The largest double that is at most x."""
    return float(x) if Fraction(float(x)) <= x else math.nextafter(float(x), -math.inf)


def _up(x: Fraction) -> float:
    return -_down(-x)


def _bracket(slopes: _Slopes, guess: Fraction, low: Fraction, high: Fraction) -> tuple[Fraction, Fraction]:
    """An interval around the guess on which G is monotone and has a zero: U falls up to it and rises after it."""
    for _ in range(3):  # Newton's steps, of doubles: only to look at the right place
        at = slopes.at(rational_ball(guess))
        step = float(at.slope.mid()) / float(at.curvature.mid() or arb(1))
        if not math.isfinite(step) or not low < guess - Fraction(step) < high:
            break
        guess = _dyadic(guess - Fraction(step))
    for width in _BRACKETS:
        a, b = max(low, guess * (1 - width)), min(high, guess * (1 + width))
        over = slopes.at(_interval(a, b))
        if over.curvature.contains(0) or over.correlation.contains(0):
            continue
        if slopes.direction(slopes.at(rational_ball(a))) == -1 and slopes.direction(slopes.at(rational_ball(b))) == 1:
            return a, b
    raise BallError("the slope of the bound does not change its sign once near the estimate, as far as can be shown")


def _narrowed(slopes: _Slopes, a: Fraction, b: Fraction) -> tuple[Fraction, Fraction]:
    """Interval Newton steps: the zero of G in [a, b] lies in m - G(m)/G'([a, b])."""
    for _ in range(6):
        middle = (a + b) / 2
        over, at = slopes.at(_interval(a, b)), slopes.at(rational_ball(middle))
        if over.curvature.contains(0):
            break
        image = rational_ball(middle) - at.slope / over.curvature
        left, right = max(a, -rational_upper(-image)), min(b, rational_upper(image))
        if right - left > (b - a) / 2:
            break
        a, b = left, right
    return a, b


def _swept(slopes: _Slopes, start: Fraction, end: Fraction, side: int) -> Fraction:
    """The furthest point towards `end` up to which U rises (side 1), or from which it falls (side -1)."""
    reached, width = start, start * _FIRST_PIECE
    for _ in range(_MOST_PIECES):
        if reached == end:
            break
        following = _dyadic(reached + side * width)
        following = min(following, end) if side > 0 else max(following, end)
        a, b = sorted((reached, following))
        if slopes.direction(slopes.over(a, b)) == side:
            reached, width = following, min(width * _GROWTH, following * _LARGEST_PIECE)
        elif width < reached * _SMALLEST_PIECE:
            break
        else:
            width /= 2
    return reached


def _dyadic(x: Fraction) -> Fraction:
    return Fraction(round(x * 2**40), 2**40)


def _interval(a: Fraction, b: Fraction) -> Ball:
    return rational_ball(a).union(rational_ball(b))


@dataclass(frozen=True)
class Slope:
    """Balls of N and M, of their slopes N' and M', of G (with the sign of -N U') and of G'."""

    correlation: Ball
    square: Ball
    correlation_slope: Ball
    square_slope: Ball
    slope: Ball
    curvature: Ball


class _Slopes:
    """N, G and G' along one path, at balls of t > 0."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._slope, self._base, self._growth, self._gamma = path.constants()
        self._branches = [_branch(f) for f in (path.student, path.target)]
        self._targets: dict[tuple[Fraction, int], Along] = {}

    def direction(self, found: Slope) -> int:
        """1 where U rises, -1 where it falls, 0 where that is open."""
        product = found.correlation * found.slope
        return -1 if product > 0 else 1 if product < 0 else 0

    def over(self, a: Fraction, b: Fraction) -> Slope:
        """The mean value forms over [a, b]."""
        whole, at = self.at(_interval(a, b)), self.at(rational_ball((a + b) / 2))
        offset = _interval(a, b) - rational_ball((a + b) / 2)
        slope = at.slope + whole.curvature * offset
        correlation = at.correlation + whole.correlation_slope * offset
        return Slope(correlation, whole.square, whole.correlation_slope, whole.square_slope, slope, whole.curvature)

    def at(self, t: Ball) -> Slope:
        """All balls at a ball t, by the plain formulas."""
        r, c = self._slope * t, self._base + self._growth * t * t
        s = c.sqrt()
        height, size, bounds = self._height(r, s)
        rule = _rule(height, size)
        columns = self._smoothed(rule, r, s, bounds)
        kappa = Along(rule.nodes, Bound(rational_ball(max(Fraction(1), height)).upper(), 1))
        mean, h1, h2, h3, h4 = columns
        steep, half = kappa.scaled(self._slope), self._growth * t
        first = steep * h1 + h2.scaled(half)
        second = h2.scaled(self._growth) + steep * steep * h2 + (steep * h3).scaled(2 * half) + h4.scaled(half * half)
        target = self._target(rule, height, _exponent(size))
        e = rule.expectation
        correlation, correlation_slope, correlation_second = e(target * mean), e(target * first), e(target * second)
        square, cross = e(mean * mean), e(mean * first)
        return Slope(
            correlation,
            square,
            correlation_slope,
            2 * cross,
            correlation_slope * square - correlation * cross,
            correlation_second * square
            + correlation_slope * cross
            - correlation * (e(first * first) + e(mean * second)),
        )

    def _height(self, r: Ball, s: Ball) -> tuple[Fraction, Ball, list[Bound]]:
        """The height of the rectangle in kappa with the fewest nodes, a size for the choice, bounds of the h_n."""
        best: tuple[float, Fraction, Ball, list[Bound]] | None = None
        for height in _HEIGHTS:
            own = [_smoothed_bound(self._path.student, r, s, height, order) for order in _ORDERS]
            other = self._target_bound(height)
            if other is None or any(bound is None for bound in own):
                continue
            bounds = [bound for bound in own if bound is not None]
            size = max((bound * other).mean() * arb(4) ** order for order, bound in enumerate(bounds))
            cost = (float((size * (rational_ball(height) ** 2 / 2).exp()).log()) + _BITS) / float(height)
            if best is None or cost < best[0]:
                best = cost, height, size, bounds
        if best is None:
            raise BallError(f"no bound by a power was found for {self._path.student} or {self._path.target}")
        return best[1], best[2], best[3]

    def _target_bound(self, height: Fraction) -> Bound | None:
        return _smoothed_bound(self._path.target, self._gamma, self._across(), height, 0)

    def _across(self) -> Ball:
        return _not_negative(1 - self._gamma * self._gamma).sqrt()

    def _target(self, rule: SpikeRule, height: Fraction, exponent: int) -> Along:
        known = self._targets.get((height, exponent))
        if known is None:
            bound = self._target_bound(height)
            assert bound is not None
            values = _averages(self._path.target, self._branches[1], rule.nodes, self._gamma, self._across(), (0,))[0]
            known = self._targets[height, exponent] = Along(tuple(values), bound)
        return known

    def _smoothed(self, rule: SpikeRule, r: Ball, s: Ball, bounds: list[Bound]) -> list[Along]:
        """mu0 and its derivatives h_1..h_4 on the nodes; a parity halves the work."""
        nodes, sign = rule.nodes, {"odd": -1, "even": 1}.get(self._path.student.parity or "", 0)
        half = len(nodes) // 2
        columns = _averages(
            self._path.student, self._branches[0], nodes[half:] if sign else nodes, r, s, tuple(_ORDERS)
        )
        found = []
        for order, column in enumerate(columns):
            scaled = [value / s**order for value in column]
            if sign:
                mirror = sign * (-1) ** order
                scaled = [mirror * value for value in reversed(scaled[1:])] + scaled
            found.append(Along(tuple(scaled), bounds[order]))
        return found


def _not_negative(x: Ball) -> Ball:
    """The part of a ball that is >= 0, where the number enclosed is known to be."""
    return x.max(arb(0))


def _branch(function: Activation) -> Any:
    if len(function.panels) > 1:
        raise BallError(f"{function} has breakpoints; the optimum is certified for functions analytic in a strip")
    return program(function.panels[0].branch)


@lru_cache(maxsize=64)
def _rule_of(height: Fraction, size: int, bits: int) -> SpikeRule:
    return trapezoidal(rational_ball(height), _BITS, arb(2) ** size, _MOST_NODES)


def _rule(height: Fraction, size: Ball) -> SpikeRule:
    """A rule with an odd number of nodes, symmetric around zero; sizes in powers of two, to meet the same one again."""
    return _rule_of(height, _exponent(size), _PRECISION)


def _exponent(size: Ball) -> int:
    return math.ceil(float(size.log()) / math.log(2))


def _growth_of(function: Activation, lift: Fraction) -> Bound | None:
    """The bound on a strip slightly higher, so that few heights are met."""
    return _growth_at(function, Fraction(math.ceil(lift * 64), 64))


@lru_cache(maxsize=1024)
def _growth_at(function: Activation, lift: Fraction) -> Bound | None:
    return polynomial_growth(strip_growth(function.panels[0].branch, lift))


def _smoothed_bound(function: Activation, slope: Ball, scale: Ball, height: Fraction, order: int) -> Bound | None:
    """A bound of h_order on |Im kappa| <= height, for every slope and scale in their balls; None where none is known.

    With |f(x)| <= A (1+|x|)^k on the line, Y = |slope| height, and |He_n(z)| <= I_n (1+|z|)^n: the Gaussian law moves
    into the density, |h_n| <= e^{Y^2/(2 s^2)} (1 + Y/s)^n I_n A E[(1+|z|)^n (1+|w+sz|)^k]/s^n; or f itself is bounded
    on the strip |Im| <= Y and the factors with Y fall away. In both 1 + |slope x + s z| <= (1+|x|) max(1, |slope|)
    max(1, s) (1+|z|). The smaller constant is taken.
    """
    lift = rational_upper(abs(slope)) * height
    low, wide = scale.lower(), scale.upper().max(arb(1))
    stretch = abs(slope).upper().max(arb(1)) * wide
    divided = low**order if order else arb(1)
    found: list[Bound] = []
    for moved, growth in ((True, _growth_of(function, Fraction(0))), (False, _growth_of(function, lift))):
        if growth is None or ((moved or order > 0) and not low > 0):
            continue
        y = rational_ball(lift)
        factor = (y * y / (2 * low * low)).exp() * (1 + y / low) ** order if moved else arb(1)
        constant = factor * involutions(order) * growth.constant * stretch**growth.degree
        constant *= mean_power(growth.degree + order) / divided
        found.append(Bound(constant.upper(), growth.degree))
    return min(found, key=lambda bound: float(bound.constant.log()), default=None)


def _averages(
    function: Activation, code: Any, nodes: tuple[Ball, ...], slope: Ball, scale: Ball, orders: tuple[int, ...]
) -> list[list[Ball]]:
    """E[He_n(z) f(slope kappa + scale z)] at the nodes kappa, for every order n, errors included."""
    wide = rational_upper(scale)
    best: tuple[float, Fraction, Bound] | None = None
    for height in _HEIGHTS:
        growth = _growth_of(function, wide * height)
        if growth is None:
            continue
        cost = (float(growth.constant.log()) + float(height) ** 2 / 2 + _BITS + 8) / float(height)
        if best is None or cost < best[0]:
            best = cost, height, growth
    if best is None:
        raise BallError(f"no bound by a power was found for {function} off the real line")
    _, height, growth = best
    rule = _rule(height, growth.constant * 2**10)
    size = (1 + abs(slope) * max((abs(x) for x in (nodes[0], nodes[-1])), key=float)) * scale.upper().max(arb(1))
    centres = [slope * kappa for kappa in nodes]
    values = arb_mat([[code.run(centre + scale * z)[0] for centre in centres] for z in rule.nodes])
    hermites = [_hermite(z, max(orders)) for z in rule.nodes]
    weights = arb_mat([[w * h[n] for w, h in zip(rule.weights, hermites, strict=True)] for n in orders])
    sums = weights * values
    found = []
    for i, order in enumerate(orders):
        constant = involutions(order) * (1 + rational_ball(height)) ** order * growth.constant * size**growth.degree
        # Only the error of the rule: an integrand that is zero on the nodes.
        error = rule.expectation(Along((), Bound(constant.upper(), growth.degree + order)))
        found.append([sums[i, j] + error for j in range(len(nodes))])
    return found


def _hermite(z: Ball, top: int) -> list[Ball]:
    """He_0(z) to He_top(z)."""
    found = [arb(1), z]
    for n in range(1, top):
        found.append(z * found[n] - n * found[n - 1])
    return found
