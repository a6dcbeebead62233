"""The functions of kappa that the saddle point needs, tabulated on one rule along the spike.

A profile depends on activation, target, spike, bulk, biases and alignment, not on alpha, beta, ridge or noise: it is
computed once and cached by value.

What one readout group needs of a profile, stacked for matrix products with 1/(1+V) on the nodes.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.bulk.equivalent import upper_triangle
from giantsteps.numerics.gaussian.coefficients import known_moments_of
from giantsteps.numerics.gaussian.least_squares import RANK_TOLERANCE
from giantsteps.numerics.gaussian.line_moments import on_line
from giantsteps.numerics.gaussian.quadrature import Moments, doublings, integrand, reach, resolvable, span
from giantsteps.numerics.gaussian.spike_rule import Layer, followed, half_length, spike_rule
from giantsteps.numerics.gaussian.squares import square_gap
from giantsteps.numerics.gaussian.tensor_rule import Line, tensor_rule
from giantsteps.numerics.models.given import OVERFLOW, within_reach
from giantsteps.numerics.models.model import Model, ModelError

Array = NDArray[np.float64]
Number = TypeVar("Number", float, Array)

# The step of the coarsest rule along the spike; the poles of 1/(1 + V) limit it, and no formula gives them.
WIDEST_SPACING = 0.2
# Rules of more nodes than this are not refined further, for one direction of the spike and for several.
MOST_NODES = 10_000
MOST_TENSOR_NODES = 100_000
# Nor those whose table of products has more entries.
_MOST_ENTRIES = 6_000_000
# Second moments by two rules agree to this fraction, unless one of the rules misses something.
_SQUARES_AGREE = 1e-9


@dataclass(frozen=True)
class Profile:
    """Nodes (s, n) and weights (n,) of E over kappa in R^s; mu0, mu1, mu2_squared (k, n); y0, y1, spread (n,).

    s is the number of directions of the spike, 1 in the paper.

    spread = E_z[y^2] - y0^2 - y1^2 without label noise, integrated as a square. unresolved is the relative error that
    the inner integrals are left with, 0.0 when doubling their rules does not change them; or that of E[sigma^2] and
    E[g^2] along the spike.

    For an activation of definite parity without bias V is even in kappa, and the rule lives on one half (kappa >= 0)
    with the weight of both sides; y0 and y1 then are the parts of the parity that yhat and mu1 have, and the squares
    of the other parts, which nothing in yhat can meet, are in spread.

    mu0_bulk_slope holds dmu0_a/dc_a, (k, n), where the rows of the bulk differ in norm, and nothing, (0, n), elsewhere.
    bulks (k,) are c_a; spiked (k,) says which groups have a spike that is not zero.
    """

    nodes: Array
    weights: Array
    mu0: Array
    mu1: Array
    mu2_squared: Array
    mu0_bulk_slope: Array
    y0: Array
    y1: Array
    spread: Array
    bulks: Array
    spiked: NDArray[np.bool_]
    unresolved: float

    @property
    def groups(self) -> int:
        """The number k of readout groups."""
        return len(self.mu0)

    @property
    def rank(self) -> int:
        """The number s of directions of the spike."""
        return len(self.nodes)

    @property
    def kappa(self) -> Array:
        """The nodes along a spike of one direction, (n,). Raises ModelError where there are more."""
        if self.rank > 1:
            raise ModelError(
                f"a spike of one direction is required, and this spike has {self.rank}: give one number per group and "
                "one alignment, for example readout=(ReadoutGroup(1.0, 0.5), ReadoutGroup(-1.0, 0.5)), "
                "alignment=0.8"
            )
        line: Array = self.nodes[0]
        return line

    @cached_property
    def radius(self) -> Array:
        """|kappa| at the nodes, (n,)."""
        return np.asarray(np.sqrt(np.sum(self.nodes**2, axis=0)))

    @property
    def exhausted(self) -> bool:
        """Whether the rule has so many nodes that no finer one is asked for."""
        most = MOST_NODES if self.rank == 1 else min(MOST_TENSOR_NODES, _MOST_ENTRIES // len(self.features))
        return len(self.weights) > most

    @cached_property
    def along(self) -> Array:
        """The functions of yhat beside the means, one overlap each: kappa_j mu1_a, then dmu0_a/dc_a where norms vary.

        (a, j) in the order of groups, the directions of the spike within each.
        """
        spiked = (self.mu1[:, None, :] * self.nodes).reshape(-1, len(self.weights))
        return np.concatenate([spiked, self.mu0_bulk_slope])

    @cached_property
    def features(self) -> Array:
        """mu1_a mu1_b (a <= b) and mu2_a^2, packed: E of these over 1 + V are C and D up to alpha/beta."""
        rows, columns = upper_triangle(self.groups)
        return np.concatenate([self.mu1[rows] * self.mu1[columns], self.mu2_squared])

    @cached_property
    def multiplied_features(self) -> Array:
        """The same with off-diagonal products doubled, so that V = (T, tau) packed @ multiplied_features."""
        rows, columns = upper_triangle(self.groups)
        double = np.concatenate([np.where(rows == columns, 1.0, 2.0), np.ones(self.groups)])
        product: Array = self.features * double[:, None]
        return product

    @cached_property
    def weighted_features(self) -> Array:
        """features times the weights of the rule."""
        return self.features * self.weights

    @cached_property
    def squares(self) -> Array:
        """E sigma^2 = mu0_a^2 + c_a mu1_a^2 + mu2_a^2, beside which a part of the features counts as zero; (k, n)."""
        whole = self.mu0**2 + self.bulks[:, None] * self.mu1**2 + self.mu2_squared
        return np.asarray(np.maximum(whole, 0.0))

    @cached_property
    def scatter(self) -> Array:
        """mu0_a is known to eps times sqrt(E sigma^2), mu1_a = E[z sigma]/sqrt(c_a) to eps times this; (k, n)."""
        return np.asarray(np.sqrt(self.squares / self.bulks[:, None]))

    @cached_property
    def reaches(self) -> Array:
        """Norms of the sizes to whose eps mu0_a, `along` and y0 are known, one after another; (k + i + 1,)."""
        own = np.sqrt(self.squares @ self.weights)
        spiked = np.sqrt((self.scatter[:, None, :] * self.nodes) ** 2 @ self.weights).ravel()
        slopes = (own / self.bulks)[: len(self.mu0_bulk_slope)]
        return np.concatenate([own, spiked, slopes, [math.sqrt(self.weights @ self.y0**2)]])

    @cached_property
    def force_scatter(self) -> Array:
        """To whose eps the integrands of E[kappa_j mu1_a (y0 - yhat)/(1+V)], in the order of `along`, and then of
        E[mu1_a y1/(1+V)] are known; (k s + k, n).
        """
        along = self.scatter[:, None, :] * np.abs(self.nodes * self.y0)
        return np.concatenate([along.reshape(-1, len(self.weights)), self.scatter * np.abs(self.y1)])

    @cached_property
    def along_norms(self) -> Array:
        """The norms of `along`."""
        return np.asarray(np.sqrt(self.along**2 @ self.weights))

    @cached_property
    def losable(self) -> NDArray[np.bool_]:
        """For which groups a mean below rounding leaves the fit undecided (`equations.undecided`); (k,).

        Those with a spike, where y0 is more than rounding beside the target.
        """
        fitted, whole = self.weights @ self.y0**2, self.weights @ (self.y0**2 + self.y1**2 + self.spread)
        return self.spiked & bool(fitted > RANK_TOLERANCE**2 * whole)

    @cached_property
    def one_group(self) -> OneGroupTable:
        """The same, stacked for one group and one direction of the spike."""
        return OneGroupTable(self)

    @property
    def trapezoidal(self) -> bool:
        """Whether the rule has one step throughout, along one direction."""
        steps = np.diff(self.nodes[0])
        return self.rank == 1 and len(steps) > 1 and float(np.ptp(steps)) <= 1e-9 * float(steps[0])


def profile(
    model: Model, refine: int = 0, refine_inner: int = 0, extra: float = 0.0, *, whole: bool = False,
    steps: tuple[Layer, ...] = (),
) -> Profile:  # fmt: skip
    """The profile of a model; rules along the spike and across it are refined the given numbers of times.

    `extra` lengthens the rule along the spike: the logarithm of a factor by which its tails matter more than their
    Gaussian weight. With `whole` the rule covers both signs of kappa whatever the parities. `steps` are places
    that it resolves beside those of the functions, along one direction.
    """
    groups = tuple(zip(model.spikes, model.bulks, model.biases, strict=True))
    aligned = model.alignments, model.remainder, 0.0
    return _profile(
        model.activation, groups, model.target, aligned, refine, refine_inner, extra, model.unequal_norms, whole, steps
    )


# Direction w, variance and bias: the argument w.kappa + bias + sqrt(variance) z of the activation or the target.
Argument = tuple[tuple[float, ...], float, float]


@lru_cache(maxsize=64)
@within_reach
def _profile(
    activation: Activation,
    groups: tuple[Argument, ...],
    target: Activation,
    aligned: Argument,
    refine: int,
    refine_inner: int,
    extra: float,
    unequal: bool,
    whole: bool,
    steps: tuple[Layer, ...],
) -> Profile:
    student, teacher = integrand(activation), integrand(target)
    lines = [Line(teacher, *aligned), *(Line(student, *group) for group in groups)]
    even = not whole and activation.parity in ("odd", "even") and all(bias == 0.0 for _, _, bias in groups)
    nodes, weights = _rule(lines, refine, extra, even, steps)
    shifts = [np.asarray(line.direction) @ nodes for line in lines]
    student_part = [
        _moments_at(activation, bulk, bias, shift, refine_inner, len(nodes))
        for (_, bulk, bias), shift in zip(groups, shifts[1:], strict=True)
    ]
    parity = activation.parity if even else ""
    y0, y1, spread = _target_part(target, shifts[0], aligned[1], refine_inner, parity, len(nodes))
    root = np.sqrt([bulk for _, bulk, _ in groups])
    # The heat equation: d mu0/dc = E[(z^2 - 1) sigma]/(2c).
    bulk_slope = np.array([part.curvature for part in student_part]) / (2.0 * root[:, None] ** 2)
    found = Profile(
        nodes=nodes,
        weights=weights,
        mu0=np.array([part.mean for part in student_part]),
        mu1=np.array([part.slope for part in student_part]) / root[:, None],
        mu2_squared=np.array([part.rest for part in student_part]),
        mu0_bulk_slope=bulk_slope if unequal else np.zeros((0, len(weights))),
        y0=y0,
        y1=y1,
        spread=spread,
        bulks=root**2,
        spiked=np.array([any(direction) for direction, _, _ in groups]),
        unresolved=max(_unresolved(line, shift) for line, shift in zip(lines, shifts, strict=True)),
    )
    # Least squares would take features of infinite square for none at all, and converge.
    # Of growth like exp(q kappa^2) the equations hold V^2, and the rule leaves out where the density underflows.
    power = 1 if student.damped is None else 4
    if not np.isfinite([found.mu0**power, found.mu1**power, found.mu2_squared ** max(power // 2, 1)]).all():
        raise ModelError(OVERFLOW)
    agree = _SQUARES_AGREE if student.damped is None and teacher.damped is None else 0.0
    return replace(found, unresolved=max(found.unresolved, _mismatch(found, lines, agree)))


def _rule(lines: list[Line], refine: int, extra: float, even: bool, steps: Iterable[Layer]) -> tuple[Array, Array]:
    """Nodes (s, n) and weights (n,) of E over kappa for functions of the given lines."""
    if len(lines[0].direction) > 1:
        return tensor_rule(lines, len(lines[0].direction), refine, extra, even)
    features, widest = set(steps), WIDEST_SPACING
    length = half_length(reach(line.function, line.direction[0], line.variance, extra) for line in lines)
    for line in lines:
        places, step = followed(line.function, line.direction[0], line.variance, line.bias, length)
        features.update(places)
        widest = min(widest, step)
    rule = spike_rule(tuple(sorted(features)), widest, length, refine, even, extra)
    return rule.nodes[None, :], rule.weights


def _mismatch(table: Profile, lines: list[Line], agree: float) -> float:
    """How far E[sigma^2] and E[g^2] along this rule are from the inner rule's, relative; 0.0 up to `agree`.

    A rule along the spike may step over what a finer one, too, steps over; the inner rule has nodes of its own.
    """
    teacher, *students = lines
    square = float(table.weights @ (table.y0**2 + table.y1**2 + table.spread))
    worst = square_gap(square, teacher.function, 0.0, 1.0, agree)
    for i, line in enumerate(students):
        bulk, whole = line.variance, math.hypot(*line.direction, math.sqrt(line.variance))
        if resolvable(line.function, whole):
            square = float(table.weights @ (table.mu0[i] ** 2 + bulk * table.mu1[i] ** 2 + table.mu2_squared[i]))
            worst = max(worst, square_gap(square, line.function, line.bias, whole, agree))
    return worst if not worst <= agree else 0.0


def _moments_at(function: Activation, variance: float, bias: float, shift: Array, refine: int, rank: int) -> Moments:
    """Moments at many places; the many of a rule in several dimensions lie on one line, where they are interpolated."""
    if rank == 1:
        return known_moments_of(function, variance, shift + bias, refine)
    return Moments(*on_line(lambda x: known_moments_of(function, variance, x + bias, refine), shift, variance))


def _target_part(
    target: Activation, shift: Array, variance: float, refine: int, parity: str, rank: int
) -> tuple[Array, Array, Array]:
    """y0, y1 and spread at theta.kappa = shift, or their parts for a student of the given parity."""
    right = _moments_at(target, variance, 0.0, shift, refine, rank)
    if not parity or target.parity == parity:
        return right.mean, right.slope, right.rest  # the parts of the other parity are zero
    left = _moments_at(target, variance, 0.0, -shift, refine, rank)
    sign = -1.0 if parity == "odd" else 1.0
    # yhat has the parity of the activation, mu1 the opposite one.
    y0, other0 = 0.5 * (right.mean + sign * left.mean), 0.5 * (right.mean - sign * left.mean)
    y1, other1 = 0.5 * (right.slope - sign * left.slope), 0.5 * (right.slope + sign * left.slope)
    return y0, y1, 0.5 * (right.rest + left.rest) + other0**2 + other1**2


def _unresolved(line: Line, shift: Array) -> float:
    scale = math.sqrt(line.variance)
    return doublings(line.function, *span(shift + line.bias), scale)[1] if scale else 0.0


def _stacked(*rows: Array) -> Array:
    """The rows of an array: `np.stack` in a third of its time."""
    return np.concatenate(rows).reshape(len(rows), -1)


@dataclass(frozen=True, eq=False)
class OneGroupTable:
    """One rule along the spike, ready for products with arrays of shape (n,) or (n, P).

    `rows` (n, 3) are mu1^2, mu2^2, 1, so that unit + V = rows @ (T, tau, unit); `lines` (n, 3) are mu0, kappa mu1,
    -y0, so that yhat - y0 = lines @ (m, zeta, 1), (n, 4) with dmu0/dc and chi where norms vary. The weight of the rule
    is in all others.
    """

    profile: Profile

    @cached_property
    def rows(self) -> Array:
        table = self.profile
        return np.stack([table.mu1[0] ** 2, table.mu2_squared[0], np.ones(len(table.weights))], axis=1)

    @cached_property
    def lines(self) -> Array:
        table = self.profile
        return np.stack([table.mu0[0], *table.along, -table.y0], axis=1)

    @cached_property
    def rest(self) -> Array:
        """y1^2 + spread and y1 mu1, without weight; (2, n)."""
        table = self.profile
        return _stacked(table.y1**2 + table.spread, table.y1 * table.mu1[0])

    @cached_property
    def whole(self) -> Array:
        """Weights of E[1], E[mu1^2], E[mu2^2], E[y1 mu1], E[y1^2 + spread]; shape (5, n)."""
        rest, cross = self.rest
        first, second, one = self.rows.T
        return np.asarray(_stacked(one, first, second, cross, rest) * self.profile.weights)

    @property
    def lost(self) -> float:
        """Infinity where a mean below rounding leaves the fit undecided, 0 elsewhere."""
        return math.inf if self.profile.losable[0] else 0.0

    @cached_property
    def force_scatter(self) -> Array:
        """Those of the profile, of 1/(1+V); (2, n)."""
        return np.asarray(self.profile.weights * self.profile.force_scatter)

    @cached_property
    def line_norm(self) -> float:
        """The norm of kappa mu1."""
        return float(self.profile.along_norms[0])

    def terms(self, m: Number, *overlaps: Number) -> Number:
        """The `terms` of `equations.fit_rounding`."""
        reaches: list[float] = self.profile.reaches.tolist()
        mean, *lines, y = reaches
        return sum((abs(x) * line for x, line in zip(overlaps, lines, strict=True)), abs(m) * mean + y)

    @cached_property
    def expected(self) -> Array:
        """The five expectations of `whole`."""
        return np.asarray(self.whole.sum(axis=1))

    @cached_property
    def conjugates(self) -> Array:
        """C and D up to the ratio, of 1/(1+V); (2, n)."""
        return self.whole[1:3]

    @cached_property
    def curvature(self) -> Array:
        """Their derivatives in (T, tau) up to the sign, of 1/(1+V)^2: mu1^4, mu1^2 mu2^2, mu2^4; (3, n)."""
        first, second = self.rows.T[:2]
        return np.asarray(_stacked(first * first, first * second, second * second) * self.profile.weights)

    @cached_property
    def roughness(self) -> Array:
        """Rounding of C and D through that of the tabulated functions, per eps and unit of T and tau, of 1/(1+V)^2.

        As in `equations.linear_part`; (4, n): C by T, C by tau, D by T, D by tau.
        """
        table = self.profile
        slopes, size = table.scatter[0], np.sqrt(table.squares[0])
        moved = 2.0 * _stacked(slopes * np.abs(table.mu1[0]), size * np.sqrt(np.maximum(table.mu2_squared[0], 0.0)))
        return np.concatenate([row * moved for row in self.conjugates])

    @cached_property
    def moments(self) -> Array:
        """E of f f' for the functions f of yhat, then of f y0 and of mu1 y1, of 1/(1+V); (6, n), or (10, n).

        mu0^2, kappa mu0 mu1, (kappa mu1)^2, mu0 y0, kappa mu1 y0, mu1 y1 where the rows have one norm.
        """
        *functions, minus = self.lines.T
        products = [f * g for i, f in enumerate(functions) for g in functions[i:]] + [-f * minus for f in functions]
        return np.concatenate([_stacked(*products) * self.profile.weights, self.whole[3:4]])

    @cached_property
    def gram(self) -> Array:
        """E of mu0^2 and (kappa mu1)^2, of 1/(1+V); (2, n)."""
        return np.ascontiguousarray(self.moments[[0, 2]])

    @cached_property
    def squares(self) -> Array:
        """Products of mu1^2, mu2^2, 1 with mu1 y1, y1^2 + spread, 1, of 1/(1+V)^2; (9, n)."""
        pieces = self.whole[[3, 4, 0]]
        return np.concatenate([row * pieces for row in self.rows.T])

    @cached_property
    def weighted_rows(self) -> Array:
        """rows as weights, mu1^2, mu2^2, 1; (3, n)."""
        return np.ascontiguousarray(self.whole[[1, 2, 0]])

    @cached_property
    def sizes(self) -> Array:
        """Weights of E[mu0^2 + mu1^2 + mu2^2], of 1/(1+V); (n,)."""
        return np.asarray(self.profile.weights * self.profile.squares[0])

    @cached_property
    def roots(self) -> Array:
        """Square roots of the weights times mu0, kappa mu1, y0; (3, n), or (4, n) with dmu0/dc."""
        signs = np.array([[1.0]] * (self.lines.shape[1] - 1) + [[-1.0]])
        return np.asarray(self.lines.T * (signs * np.sqrt(self.profile.weights)))
