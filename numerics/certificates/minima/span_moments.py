"""The moments that make the bounds of equations (26) and (27), as balls along a path, at points and off the line.

The bounds are squared distances of g to spans of functions of (kappa, z),

    upper: mu0_a;      lower: mu0_a, kappa mu1_a, mu1_a z, and d mu0_a/dc where the rows of the bulk differ in norm.

In h_n (`numerics.balls.smoothed`) these are h_0, kappa h_1, h_1 z and h_2/2. Their Gram matrices are expectations over
kappa. What correlates with g is conditioned on its argument X = gamma kappa + rho z, where kappa = gamma X + rho z' and
z = rho X - gamma z': with H_n(X) = h_n at slope r gamma and variance c + r^2 rho^2 (Stein's lemma for z')

    E[g h_n] = E[g(X) H_n],    E[g kappa h_n] = E[g(X) (gamma X H_n + rho^2 r H_{n+1})],
    E[g z h_1] = E[g(X) (rho X H_1 - gamma rho r H_2)],

so that g is met as it is, jumps and kinks included, on a rule with panels between its breakpoints.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

from flint import acb, arb, ctx

from giantsteps.derivations.activations.activation import Activation
from giantsteps.derivations.expressions.normal_form import as_affine
from giantsteps.derivations.expressions.tree import Call, Number
from giantsteps.numerics.balls.arithmetic import BallError, location_ball, log_of, program, rational_ball
from giantsteps.numerics.balls.gaussian_bounds import Envelope, involutions, rational_upper
from giantsteps.numerics.balls.growth_bounds import average_bound, branch_bound, complex_size, polynomial_growth
from giantsteps.numerics.balls.rules import Along, SpikeRule, panels, trapezoidal
from giantsteps.numerics.balls.smoothed import Column, Smoother, derivatives
from giantsteps.numerics.certificates.minima.spike_path import Constants, Path, PathGroup

Ball = Any

# Heights of the rectangles that are tried in kappa and in X.
_HEIGHTS = tuple(Fraction(n, 64) for n in (128, 96, 72, 56, 44, 32, 24, 16, 12, 8, 4))
_MOST_NODES = 4000
ORDERS = (0, 1, 2)
# Shares of the argument of r by which the line of kappa is turned.
SHARES = (Fraction(0), Fraction(1, 2), Fraction(1))


@dataclass(frozen=True)
class Feature:
    """kappa^power h_order of one group."""

    group: int
    power: int
    order: int


@dataclass(frozen=True)
class Spans:
    """The features in the plane of kappa and those multiplied by z; `upper` of the first make the upper bound."""

    along: tuple[Feature, ...]
    across: tuple[Feature, ...]
    upper: int


def spans(path: Path) -> Spans:
    """The features of a path, those left away that vanish or repeat a constant because their group has no spike."""
    means = [Feature(a, 0, 0) for a in range(len(path.groups))]
    slopes = [Feature(a, 1, 1) for a in range(len(path.groups))]
    bends = [
        Feature(a, 0, 2)
        for a, group in enumerate(path.groups)
        if path.unequal and not (group.bias == 0 and gaussian_slope(path.student))
    ]
    across = [Feature(a, 0, 1) for a in range(len(path.groups))]
    upper = _independent(path, means)
    return Spans(
        (*upper, *_independent(path, slopes), *_independent(path, bends)), _independent(path, across), len(upper)
    )


def gaussian_slope(function: Activation) -> bool:
    """Whether f is erf or sign of a multiple of z: mu1 is Gaussian in kappa, and h_2 a multiple of kappa h_1 then."""
    match function.expression:
        case Call("erf" | "sign", argument):
            affine = as_affine(argument)
            return affine is not None and affine[1] == Number(Fraction(0))
    return False


def _independent(path: Path, features: Sequence[Feature]) -> tuple[Feature, ...]:
    """Without a spike h_n is a constant: zero for a parity other than n's at zero bias, and one is enough."""
    found, constant = [], False
    for feature in features:
        group = path.groups[feature.group]
        if group.weight != 0:
            found.append(feature)
            continue
        odd = {"odd": 1, "even": 0}.get(path.student.parity or "")
        vanishes = group.bias == 0 and odd is not None and odd != feature.order % 2
        if not vanishes and not constant:
            found.append(feature)
            constant = True
    return tuple(found)


@dataclass(frozen=True)
class Block:
    """force_i = E[g f_i] and the upper triangle gram_ij = E[f_i f_j], i <= j, row by row, of one set of features."""

    force: tuple[Ball, ...]
    gram: tuple[Ball, ...]

    @property
    def entries(self) -> tuple[Ball, ...]:
        """All of them in one row."""
        return (*self.force, *self.gram)

    @staticmethod
    def of(entries: Sequence[Ball], size: int) -> Block:
        """The inverse of `entries`."""
        return Block(tuple(entries[:size]), tuple(entries[size:]))


class Moments:
    """The two blocks at real t > 0, and bounds of their entries at complex t; made for one precision."""

    def __init__(self, path: Path, bits: int) -> None:
        self.path, self.spans, self.bits = path, spans(path), bits
        self.constants: Constants = path.constants()
        self._smoother = Smoother(path.student, bits)
        self._targets: dict[tuple[Fraction, int], Along] = {}
        self._heights: dict[object, Fraction] = {}
        growth = polynomial_growth(path.target.growth)
        if growth is None:
            raise BallError(f"{path.target} is not bounded by a power, as far as is known")
        self._growth = growth

    def at(self, t: Ball) -> tuple[Block, Block]:
        """Both blocks at a real ball t."""
        gram = self._grams(t)
        force = self._forces(t)
        n = len(self.spans.along)
        return Block(force[:n], gram[0]), Block(force[n:], gram[1])

    def sizes(self, t: Ball) -> list[Ball]:
        """Bounds of the moduli of all entries of both blocks at a complex ball t, in the order of `Block.entries`.

        Forces by their integral over X, with (Im r gamma)^2 < Re(c + r^2 rho^2). In the integral over kappa of a Gram
        entry the line is turned, kappa = e^{-i psi} x, by a share of the argument of r: the Gaussian density loses
        e^{x^2 sin^2 psi}, and r kappa is closer to the line. As Im t falls to 0 at fixed Re t > 0, and psi with it,
        every exponent decreases, so that all these integrals continue the one on the real axis.
        """
        gram = [self._gram_sizes(t, share) for share in SHARES]
        forces = self._force_sizes(t)
        n = len(self.spans.along)
        best = [[min(column, key=float) for column in zip(*(g[i] for g in gram), strict=True)] for i in range(2)]
        return [*forces[:n], *best[0], *forces[n:], *best[1]]

    def _gram_sizes(self, t: Ball, share: Fraction) -> tuple[list[Ball], list[Ball]]:
        groups, spans_ = self.path.groups, (self.spans.along, self.spans.across)
        if share and not t.real > 0:
            return tuple([arb.pos_inf()] * (len(f) * (len(f) + 1) // 2) for f in spans_)  # type: ignore[return-value]
        turned = t.arg() * rational_ball(share) if share else arb(0)
        back = acb(turned.cos(), -turned.sin())
        sine = turned.sin()
        density = Envelope(arb(1), quadratic=(sine * sine).upper())
        found = []
        for features in spans_:
            sizes = []
            for f in features:
                r, c = groups[f.group].spike(self.constants, t), groups[f.group].bulk(self.constants, t)
                size = complex_size(self.path.student, r * back, groups[f.group].bias, c, f.order)
                sizes.append(None if size is None else size.scaled(arb(1), f.power))
            found.append([_mean_of(x, y, density) for i, x in enumerate(sizes) for y in sizes[i:]])
        return found[0], found[1]

    def _force_sizes(self, t: Ball) -> list[Ball]:
        gamma, rho = self.constants.gamma, self.constants.rho
        found = []
        for i, f in enumerate((*self.spans.along, *self.spans.across)):
            group = self.path.groups[f.group]
            r, c = group.spike(self.constants, t), group.bulk(self.constants, t)
            total = c + r * r * (rho * rho)
            orders = [complex_size(self.path.student, r * gamma, group.bias, total, order) for order in ORDERS]
            h = [size for size in orders if size is not None]
            if len(h) < len(orders):
                found.append(arb.pos_inf())
                continue
            if i >= len(self.spans.along):
                size = h[1].scaled(rho, 1) + h[2].scaled(gamma * rho * r.abs_upper())
            elif f.power:
                size = h[f.order].scaled(gamma, 1) + h[f.order + 1].scaled(rho * rho * r.abs_upper())
            else:
                size = h[f.order]
            found.append((self._growth * size).mean())
        return found

    # ---- Gram matrices ----------------------------------------------------------------------------------------------

    def _grams(self, t: Ball) -> tuple[tuple[Ball, ...], tuple[Ball, ...]]:
        lines = [_Line.along(group, self.constants, t) for group in self.path.groups]
        height, size, bounds = self._height(lines, target=False)
        rule = _trapezoidal(height, size, self.bits, ctx.prec, bool(self.path.parity))
        columns = self._columns(lines, rule, bounds)
        kappa = Along(rule.nodes, Envelope(rational_ball(max(Fraction(1), height)).upper(), 1))
        found = []
        for features in (self.spans.along, self.spans.across):
            values = [kappa * columns[f.group][f.order] if f.power else columns[f.group][f.order] for f in features]
            found.append(tuple(rule.expectation(x * y) for i, x in enumerate(values) for y in values[i:]))
        return found[0], found[1]

    def _height(self, lines: Sequence[_Line], target: bool) -> tuple[Fraction, int, list[list[Envelope]]]:
        """The height of the rectangle with the fewest nodes, log2 of a size for it, and bounds of the h_n there."""
        key = target, tuple(round(2 * math.log2(float(line.scale) + abs(float(line.slope)))) for line in lines)
        heights = (self._heights[key],) if key in self._heights else _HEIGHTS
        best: tuple[float, Fraction, int, list[list[Envelope]]] | None = None
        for height in heights:
            own = branch_bound(self.path.target, height) if target else None
            bounds = self._bounds(lines, height)
            if bounds is None or (target and own is None):
                continue
            size = max(log_of(((own or bound) * bound).mean()) for column in bounds for bound in column)
            # What is smaller than the accuracy, 0 too, costs as much as what is no larger.
            size = max(size, -self.bits * math.log(2))
            cost = (size + float(height) ** 2 / 2 + self.bits * math.log(2)) / float(height)
            if best is None or cost < best[0]:
                best = cost, height, math.ceil(size / math.log(2)), bounds
        if best is None:
            which = f"{self.path.target} near its pieces of the line" if target else str(self.path.student)
            raise BallError(f"no bound by a power was found for {which}")
        self._heights[key] = best[1]
        return best[1:]

    def _bounds(self, lines: Sequence[_Line], height: Fraction) -> list[list[Envelope]] | None:
        found = []
        for line in lines:
            column = [line.bound(self.path.student, height, order) for order in ORDERS]
            known = [bound for bound in column if bound is not None]
            if len(known) < len(ORDERS):
                return None
            found.append(known)
        return found

    def _columns(
        self, lines: Sequence[_Line], rule: SpikeRule, bounds: Sequence[Sequence[Envelope]]
    ) -> list[tuple[Along, Along, Along]]:
        """h_0, h_1, h_2 of every group on the nodes; those of a group that mirrors another are read off backwards."""
        found: list[list[Column]] = []
        for a, line in enumerate(lines):
            mirrored = self._mirrored(a, rule)
            if mirrored is None:
                bias = rational_ball(line.bias)
                averages = self._smoother.at([line.slope * x + bias for x in rule.nodes], line.scale)
                found.append([derivatives(average, line.scale) for average in averages])
            else:
                b, sign = mirrored
                found.append([(sign * h[0], -sign * h[1], sign * h[2]) if sign else h for h in reversed(found[b])])
        return [
            (
                Along(tuple(h[0] for h in column), bound[0]),
                Along(tuple(h[1] for h in column), bound[1]),
                Along(tuple(h[2] for h in column), bound[2]),
            )
            for column, bound in zip(found, bounds, strict=True)
        ]

    def _mirrored(self, a: int, rule: SpikeRule) -> tuple[int, int] | None:
        """An earlier group b with h_n(kappa) of a = h_n(-kappa) of b (sign 0), or sign (-1)^n times it; or None.

        The former for weights u and -u at one bias, the latter for biases b and -b where sigma has the parity `sign`.
        """
        if self.path.parity:
            return None
        group, count = self.path.groups[a], len(rule.nodes)
        if not all(rule.nodes[i].overlaps(-rule.nodes[count - 1 - i]) for i in range(count)):
            return None
        sign = {"odd": -1, "even": 1}.get(self.path.student.parity or "", 0)
        for b, other in enumerate(self.path.groups[:a]):
            if other == replace(group, weight=-group.weight):
                return b, 0
            if sign and other == replace(group, bias=-group.bias):
                return b, sign
        return None

    # ---- correlations with the target -------------------------------------------------------------------------------

    def _forces(self, t: Ball) -> tuple[Ball, ...]:
        gamma, rho = self.constants.gamma, self.constants.rho
        lines = [_Line.across(group, self.constants, t) for group in self.path.groups]
        height, size, bounds = self._height(lines, target=True)
        rule = self._target_rule(height, size)
        columns = self._columns(lines, rule, bounds)
        goal = self._target(rule, height, size)
        x = Along(rule.nodes, Envelope(rational_ball(max(Fraction(1), height)).upper(), 1))
        found = []
        for feature in (*self.spans.along, *self.spans.across):
            h = columns[feature.group]
            r = self.path.groups[feature.group].spike(self.constants, t)
            if feature in self.spans.across:
                value = (x * h[1]).scaled(rho) - h[2].scaled(gamma * rho * r)
            elif feature.power:
                value = (x * h[feature.order]).scaled(gamma) + h[feature.order + 1].scaled(rho * rho * r)
            else:
                value = h[feature.order]
            found.append(rule.expectation(goal * value))
        return tuple(found)

    def _target_rule(self, height: Fraction, size: int) -> SpikeRule:
        half = bool(self.path.parity)
        if len(self.path.target.panels) == 1:
            return _trapezoidal(height, size, self.bits, ctx.prec, half)
        return _paneled(self.path.target, height, size, self.bits, ctx.prec, half)

    def _target(self, rule: SpikeRule, height: Fraction, size: int) -> Along:
        """g on the nodes, or g(x) +- g(-x) where a parity leaves half of them."""
        known = self._targets.get((height, size))
        if known is None:
            bound = branch_bound(self.path.target, height)
            assert bound is not None
            code, sign = program(self.path.target.expression), self.path.parity
            values = [code.run(x)[0] for x in rule.nodes]
            if sign:
                values = [(a + sign * code.run(-x)[0]) / 2 for a, x in zip(values, rule.nodes, strict=True)]
            known = self._targets[height, size] = Along(tuple(values), bound)
        return known


def _mean_of(x: Envelope | None, y: Envelope | None, density: Envelope) -> Ball:
    return arb.pos_inf() if x is None or y is None else (x * y * density).mean()


@dataclass(frozen=True)
class _Line:
    """The argument slope x + bias + scale z, slope and scale balls."""

    slope: Ball
    bias: Fraction
    scale: Ball

    @staticmethod
    def along(group: PathGroup, constants: Constants, t: Ball) -> _Line:
        return _Line(group.spike(constants, t), group.bias, group.bulk(constants, t).sqrt())

    @staticmethod
    def across(group: PathGroup, constants: Constants, t: Ball) -> _Line:
        """The law of the group's argument given X."""
        r, c = group.spike(constants, t), group.bulk(constants, t)
        return _Line(r * constants.gamma, group.bias, (c + r * r * constants.rho * constants.rho).sqrt())

    def bound(self, function: Activation, height: Fraction, order: int) -> Envelope | None:
        """A bound of h_order on |Im x| <= height: |He_n(z)| <= I_n (1+|z|)^n, and (1+|z|)^n bounds |z|^n there."""
        # Eight figures, so that many lines share what is known of the function at one height.
        slope = rational_upper(abs(self.slope))
        coarse = Fraction(2) ** (math.frexp(float(slope))[1] - 8)
        known = average_bound(function, math.ceil(slope / coarse) * coarse, self.bias, self.scale, height, order, 1)
        return None if known is None else known.scaled(involutions(order) / self.scale.lower() ** order)


@lru_cache(maxsize=256)
def _trapezoidal(height: Fraction, size: int, bits: int, precision: int, half: bool) -> SpikeRule:
    assert precision == ctx.prec
    rule = trapezoidal(rational_ball(height), bits, arb(2) ** size, _MOST_NODES)
    return _folded(rule) if half else rule


@lru_cache(maxsize=256)
def _paneled(target: Activation, height: Fraction, size: int, bits: int, precision: int, half: bool) -> SpikeRule:
    """Panels between the breakpoints of g, their mirror images and 0, so that the rule is symmetric."""
    assert precision == ctx.prec
    cuts = [location_ball(panel.right.place) for panel in target.panels if panel.right is not None]
    places: list[Ball] = [arb(0)]
    for cut in sorted((abs(cut) for cut in cuts), key=float):
        if not (cut - places[-1]).contains(0):
            places.append(cut)
    symmetric = [*(-place for place in places[:0:-1]), *places]
    rule = panels(symmetric, rational_ball(height), bits, arb(2) ** size, _MOST_NODES)
    return _folded(rule) if half else rule


def _folded(rule: SpikeRule) -> SpikeRule:
    """The half x >= 0 of a symmetric rule with twice the weight, for what is even in x."""
    count = len(rule.nodes)
    middle = count // 2
    weights = [2 * weight for weight in rule.weights[middle:]]
    if count % 2:
        weights[0] = rule.weights[middle]
    return SpikeRule(rule.nodes[middle:], tuple(weights), rule.cut, rule.end, rule.across, rule.sides)
