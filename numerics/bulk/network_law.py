"""The law of a network's bulk rows after its step, and of several groups that took steps of different lengths.

For one group and any activation (e = eta/beta, s = sigma' - h1 - E[sigma''] z, nu = e E[sigma''], Y the centred label)

    h = P w_f + w_f',   f = 2 e E[z^2 s] Y pi + (e^2/alpha0) E[z s^2] Y^2,
    f' = e E[z^2 s] Y dP + (2 e^2/alpha0) E[z s^2] Y^2 pi + (e^3/alpha0^2) E[s^3] Y^3,
    pi = 1 + nu (E[Y] + Y/alpha0),   dP = 2 nu (1 + nu E[Y]) Y/alpha0 + (nu Y/alpha0)^2,

and v_c is the sum that `_norms` makes. Where s is odd (relu, gelu, silu, softplus: z/2 and an even function) h = 0.

The averages over A that the equivalent of `numerics.bulk.network` needs, as functions of g with their divided
differences: for vectors x, y among v, theta_perp and n

    f_xy(g) = x.A (1 + g A)^-1 y,    int nu(dx) x/(1 + g x),    nu the spectral law of A = (1/n0) sum y^2 x x^T,

all rational in averages over 1 + y^2 l at the number l >= 0 with 1/g = 1/(alpha0 l) - E[y^2/(1 + y^2 l)].
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from onestep.derivations.activations.activation import Activation
from onestep.numerics.bulk.derivative_algebra import Divided, constant, stacked, variable
from onestep.numerics.bulk.network_constants import (
    ROWS,
    DividedAverages,
    LabelAverages,
    Labels,
    SlopeConstants,
    coarse_labels,
    labels,
    slope_constants,
)
from onestep.numerics.bulk.resolvent import Rows, steepest
from onestep.numerics.models.gradient_step import even_part
from onestep.numerics.models.model import ModelError


@dataclass(frozen=True)
class IsotropicLabels:
    """The averages that make B = c: omega A replaced by its mean omega E[y^2]."""

    pair: Array

    @property
    def mean(self) -> float:
        """E[y], which nothing depends on."""
        return 0.0

    @property
    def square(self) -> float:
        """E[y^2]."""
        return float(self.pair[0, 0])

    @property
    def first(self) -> Array:
        """E[u y^k], which nothing depends on."""
        return np.zeros(3)

    def over(self, b1: float, b2: float) -> Array:
        """As `Labels.over` with A = E[y^2]: no average depends on b1 or b2."""
        found = np.zeros((ROWS, 3))
        found[[1, 13], 0] = self.square
        return found

    def sums(self, b1: float, b2: float) -> tuple[float, float]:
        """As `Labels.sums` with A = E[y^2]."""
        return 0.0, self.square

    def moved_sums(self, b1: float, b2: float) -> tuple[float, float, float, float, float]:
        """As `Labels.moved_sums` with A = E[y^2]: neither depends on b1 or b2."""
        return 0.0, self.square, 0.0, 0.0, 0.0

    def averages(self, leverage: float | complex) -> LabelAverages:
        """The averages of `Labels` with A = E[y^2]: none depends on l."""
        return LabelAverages(self.square, self.square, np.zeros(2), self.pair, np.zeros((2, 2)))

    def squares_at(self, leverages: Array) -> tuple[Array, Array]:
        """E[y^2] and no derivative, at several l."""
        return np.full(len(leverages), self.square), np.zeros(len(leverages))

    def divided(self, leverages: Array) -> DividedAverages:
        """The same at several l: no differences."""
        return DividedAverages(*(constant(np.asarray(x), len(leverages)) for x in self.averages(0.0)))


@dataclass(frozen=True)
class BulkLaw:
    """The law of the bulk rows: all that the deterministic equivalent needs to know, every entry O(1) in d.

    batch_ratio is alpha0, turn is nu. Directions v and theta_perp are given by their coordinates on (theta, n_1, n_3),
    n_k = (1/n0) sum Y^k x - E[u Y^k] theta; h = P w_f + w_f' by the coefficients of the polynomials f = `pulled` and f'
    = `added` on (Y, Y^2, Y^3). norm_variance is v_c. `independent` = (along v, along theta_perp, on delta) is the part
    of a neuron's overlaps that is independent of everything else in its row (Gaussian initial rows have one). error:
    the relative error of the averages that it is made of.
    """

    omega: float
    batch_ratio: float
    labels: Labels | IsotropicLabels
    direction: tuple[float, float, float]
    perpendicular: tuple[float, float, float]
    pulled: tuple[float, float, float]
    added: tuple[float, float, float]
    norm_variance: float
    independent: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: float = 0.0
    error: float = 0.0

    @property
    def bulk(self) -> float:
        """c = (1/d) tr B = (1 + nu E[Y])^2 + (omega + nu^2/alpha0) E[Y^2]."""
        whole = 1.0 + self.omega * self.labels.square
        if not self.turn:
            return whole
        mean = self.turn * self.labels.mean
        return whole + 2.0 * mean + mean * mean + self.turn**2 * self.labels.square / self.batch_ratio

    @property
    def correlation(self) -> tuple[float, float, float]:
        """h in coordinates on (theta, n_1, n_3), where P = 1 and E[z s^2] = 0: for an odd activation."""
        linear, cubic = self.pulled[0], self.added[2]
        if not cubic and not linear:
            return (0.0, 0.0, 0.0)
        return (linear * float(self.labels.first[0]) + cubic * float(self.labels.first[2]), linear, cubic)


@lru_cache(maxsize=256)
def network_law(
    activation: Activation,
    target: Activation,
    alpha0: float,
    eta: float,
    beta: float,
    noise: float,
    gaussian_rows: bool = False,
    weight: float = 1.0,
) -> BulkLaw:
    """The law of the bulk after one step; rows start at |w| = 1, or at w ~ N(0, I/d) for `gaussian_rows`.

    alpha0 > 0 (`Model` checks), and sigma is odd for Gaussian rows; a readout `weight` u multiplies eta, of any sign.
    Raises ModelError where s is not square integrable and where the labels vanish.
    """
    e = eta * weight / beta
    slope = slope_constants(activation)
    omega, turn = e**2 * slope.square / alpha0, e * slope.curvature
    rule = _labels_for(target, noise, weight * even_part(activation).mean, alpha0, omega, turn)
    across = math.sqrt(rule.square / alpha0)
    size = math.hypot(float(rule.first[0]), across)
    if size == 0.0:
        raise ModelError("the labels are all zero, so that the gradient step has no direction: give another target")
    gamma, ratio = float(rule.first[0]) / size, across / size
    norms = _norms(slope, rule, e, alpha0, turn)
    independent = (0.0, 0.0, 0.0)
    if gaussian_rows:
        # |w|^2 = 1 + N(0, 2/d): the row's own spike moves by e |vh| dh1/d|w|^2, and so does its norm.
        growth = 1.0 + e**2 * rule.square / alpha0 * slope.square_slope
        root = math.sqrt(2.0)
        independent = (root * 0.5 * e * size * slope.second, 0.0, root * growth)
    return BulkLaw(
        omega=omega,
        batch_ratio=alpha0,
        labels=rule,
        direction=(gamma, 1.0 / size, 0.0),
        perpendicular=(ratio, -gamma / across if across else 0.0, 0.0),
        pulled=norms.pulled,
        added=norms.added,
        norm_variance=norms.variance,
        independent=independent,
        turn=turn,
        error=slope.error + rule.error,
    )


def _labels_for(target: Activation, noise: float, centre: float, alpha0: float, omega: float, turn: float) -> Labels:
    """The rule that is fine enough for every g that the resolvent may be asked for."""
    # At nu = 0: lambda b < 1 and b >= 1, so that l = lambda omega/alpha0 stays below omega/alpha0.
    if not turn:
        return labels(target, noise, omega / alpha0, centre)
    guess = (omega + turn**2 / alpha0) / alpha0
    b1, b2 = steepest(Rows(alpha0, omega, turn), coarse_labels(target, noise, guess, centre))
    return labels(target, noise, b2, centre, b1)


class _Norms(NamedTuple):
    pulled: tuple[float, float, float]
    added: tuple[float, float, float]
    variance: float


def _norms(slope: SlopeConstants, rule: Labels, e: float, alpha0: float, nu: float) -> _Norms:
    """h and v_c: how the norm of a row varies with the row, and by itself.

    Chaos expansions of b.a and |b|^2 in w on the sphere: pairs of samples contribute through their first common chaos,
    the second is removed by |w| = 1. x.P x/d = pi(Y) and x.P^2 x/d - (1/d) tr P^2 = dP(Y) for a sample of the batch.
    """
    moments, tilts, kept = rule.moments, rule.first, 1.0 + nu * rule.mean
    pi = np.array([kept, nu / alpha0])
    stretch = np.array([0.0, 2.0 * nu * kept / alpha0, (nu / alpha0) ** 2])

    def mean(polynomial: Array, power: int) -> float:
        """E[Y^power polynomial]."""
        return float(polynomial @ moments[power : power + len(polynomial)])

    def tilted(polynomial: Array, power: int) -> float:
        """E[u Y^power polynomial], power >= 1."""
        return float(polynomial @ tilts[power - 1 : power - 1 + len(polynomial)])

    one = np.ones(1)
    pulled = np.array([2.0 * e * slope.second * pi[0], 2.0 * e * slope.second * pi[1], 0.0])
    pulled[1] += e**2 / alpha0 * slope.tilted_square
    added = np.array([0.0, e * slope.second * stretch[1], e * slope.second * stretch[2]])
    added[1:] += 2.0 * e**2 / alpha0 * slope.tilted_square * pi
    added[2] += e**3 * slope.cube / alpha0**2
    square, length = np.convolve(pi, pi), math.hypot(tilts[0], math.sqrt(rule.square / alpha0))
    along, along_square = tilted(pi, 1), tilted(one, 2)
    # Of the terms of order e^2 two nearly cancel for an odd activation: E[z^2 s^2] - E[z^2 s]^2.
    variance = 4.0 * e**2 * (
        rule.square / alpha0 * (slope.weighted_square - slope.second**2) + (slope.second * length) ** 2
    ) + e**4 * (
        rule.fourth * slope.square_variance / alpha0**3 + 2.0 * (rule.square * slope.square / alpha0) ** 2
    )  # fmt: skip
    if nu or slope.tilted_square or slope.tilted_cube:
        variance += 4.0 * e**2 / alpha0 * slope.weighted_square * (mean(square, 2) - rule.square)
        variance += 4.0 * e**2 * slope.second**2 * (along**2 - float(tilts[0]) ** 2)
        variance += 4.0 * e**2 / alpha0**2 * nu**2 * rule.square**2 * slope.square
        variance += 4.0 * e * slope.third * mean(np.convolve(pi, stretch), 1)
        variance += 2.0 * e**2 / alpha0 * (slope.weighted_square - slope.square) * mean(stretch, 2)
        variance += 4.0 * e**3 / alpha0**2 * slope.tilted_cube * mean(pi, 3)
        variance += 4.0 * e**3 / alpha0 * slope.second * slope.tilted_square * along * along_square
        variance += e**4 / alpha0**2 * (slope.tilted_square * along_square) ** 2
        variance += 2.0 * _spread_of_squares(moments, alpha0, nu)
    return _Norms(_triple(pulled), _triple(added), variance)


def _triple(coefficients: Array) -> tuple[float, float, float]:
    first, second, third = (float(x) for x in coefficients)
    return first, second, third


def _spread_of_squares(moments: Array, alpha0: float, nu: float) -> float:
    """(1/d) tr P^4 - ((1/d) tr P^2)^2, by the free cumulants E[Y^n]/alpha0^(n-1) of M."""
    m = float(moments[1])
    k2, k3, k4 = (float(moments[n]) / alpha0 ** (n - 1) for n in (2, 3, 4))
    # P^2 = (1 + nu m)^2 + 2 nu (1 + nu m) X + nu^2 X^2 with X = M - m: its variance from moments of X, 0, k2, k3 and
    # k4 + 2 k2^2.
    linear, square = 2.0 * nu * (1.0 + nu * m), nu * nu
    return linear**2 * k2 + 2.0 * linear * square * k3 + square**2 * (k4 + k2 * k2)


def isotropic_law(bulk: float, alignment: float, *, gaussian_rows: bool = False) -> BulkLaw:
    """The sRF's bulk in the same terms: B = c; v_c = 0 for rows of equal norm, 2 c^2 for Gaussian rows, h = 0."""
    # Any labels with the right angle between vh and theta serve: E[y^2]/alpha0 = 1 - gamma^2.
    across = math.sqrt((1.0 - alignment) * (1.0 + alignment))
    pair = np.array([[1.0, 0.0], [0.0, 0.0]])
    along = (1.0, 0.0, 0.0) if across == 0.0 else (alignment, across, 0.0)
    perpendicular = (0.0, 1.0, 0.0) if across == 0.0 else (across, -alignment, 0.0)
    variance = 2.0 * bulk**2 if gaussian_rows else 0.0
    nothing = (0.0, 0.0, 0.0)
    return BulkLaw(bulk - 1.0, 1.0, IsotropicLabels(pair), along, perpendicular, nothing, nothing, variance)


Array = NDArray[np.float64]

_MOST_STEPS = 200


@dataclass(frozen=True, eq=False)
class GroupsLaw:
    """The law of the bulk rows of k groups, every entry O(1) in d; arrays of shape (k,) but `vectors` and `own`.

    B_a = base_a + gain_a A. `vectors` (3, 3): v, theta_perp and n in coordinates on (theta, n_y, n_y3), `gram` (3, 3)
    their scalar products. spike_part h_a.v, across_part eta_a, norm_variance v_a; own (k, 2): the parts of a row along
    v and of its squared norm that are independent of everything else.
    """

    base: Array
    gain: Array
    fractions: Array
    batch_ratio: float
    labels: Labels | IsotropicLabels
    vectors: Array
    gram: Array
    spike_part: Array
    across_part: Array
    norm_variance: Array
    own: Array

    @property
    def bulks(self) -> Array:
        """c_a = (1/d) tr B_a."""
        return self.base + self.gain * self.labels.square

    def functions(self, places: Array) -> Divided:
        """m_vv, m_vt, m_vn, m_tt, m_tn, m_nn and int nu(dx) x/(1 + g x) at the g given, (7, k), in this order."""
        averages, leverage, rest, argument = self._resolvent(places)
        forms, left = self._forms(averages, leverage, rest, argument)
        share = left.inverse()
        by_v = [forms[0, x] * share for x in range(3)]
        crossed = [forms[x, y] + argument * forms[0, x] * by_v[y] for x, y in ((1, 1), (1, 2), (2, 2))]
        return stacked([[*by_v, *crossed, averages.square * rest]])[0].against(argument)

    def trace(self, places: Array) -> Divided:
        """int nu(dx) x/(1 + g x) alone, (1, k)."""
        averages, _, rest, argument = self._resolvent(places)
        return stacked([[averages.square * rest]])[0].against(argument)

    def _resolvent(self, places: Array) -> tuple[DividedAverages, Divided, Divided, Divided]:
        """The averages, l, (1/d) tr (1 + g A)^-1 and g as functions of l, at the g given."""
        solved = self._leverages(places)
        averages, leverage = self.labels.divided(solved), variable(solved)
        rest = -(leverage * averages.square * self.batch_ratio) + 1.0
        # The same number without a difference, for long steps: alpha0 l/g.
        positive = np.where(places > 0.0, places, 1.0)
        rest = Divided(np.where(places > 0.0, self.batch_ratio * solved / positive, 1.0), rest.slopes)
        return averages, leverage, rest, leverage * rest.inverse() * self.batch_ratio

    def _leverages(self, places: Array) -> Array:
        """l >= 0 with alpha0 l (1 + g E_l[y^2]) = g, shape (k,), by Newton's method from below.

        The left side is increasing and concave in l, so that the iterates increase to the root.
        """
        ratio, bound = self.batch_ratio, self.labels.square
        # l E_l[y^2] is at most l E[y^2], and at most 1.
        found = np.maximum(places / (ratio * (1.0 + places * bound)), places * (1.0 - ratio) / ratio)
        previous = math.inf
        for _ in range(_MOST_STEPS):
            square, slope = self.labels.squares_at(found)
            value = ratio * found * (1.0 + places * square) - places
            step = value / (ratio * (1.0 + places * (square + found * slope)))
            found = found - step
            size = float(np.max(np.abs(step) / np.where(found > 0.0, found, 1.0)))
            if size < 4e-16 or (size < 1e-12 and size >= previous):
                break
            previous = size
        return found

    def _forms(
        self, averages: DividedAverages, leverage: Divided, rest: Divided, argument: Divided
    ) -> tuple[Divided, Divided]:
        """x.A (1 + g A)^-1 y for x, y in (v, theta_perp, n), shape (3, 3, k), and v.(1 + g A)^-1 v, shape (k,)."""
        ratio, tilted, mixed = 1.0 / self.batch_ratio, averages.tilted, averages.mixed
        height = (argument * tilted + 1.0).inverse()
        first = [height * rest * mixed[f] * ratio for f in (0, 1)]

        def second(f: int, g: int) -> Divided:
            own = averages.pair_square[f, g] * ratio + averages.square * averages.pair[f, g]
            return rest * (own - height * leverage * mixed[f] * mixed[g]) * ratio

        rows = [
            [height * tilted, *first],
            [first[0], second(0, 0), second(0, 1)],
            [first[1], second(1, 0), second(1, 1)],
        ]
        # v has no part along n_y3. v.(1 + g A)^-1 v = 1 - g v.A (1 + g A)^-1 v, here as a sum of squares.
        on_theta, on_first = self.vectors[0, 0], self.vectors[0, 1]
        crossed = -(leverage * mixed[0] * on_first) + on_theta
        left = height * crossed * crossed + rest * averages.pair[0, 0] * (ratio * on_first**2)
        return stacked(rows).transformed(self.vectors), left


def groups_law(laws: tuple[BulkLaw, ...], fractions: tuple[float, ...]) -> GroupsLaw:
    """The law of groups that took steps of different lengths on one batch, each with the law of its own step."""
    if all(isinstance(law.labels, IsotropicLabels) for law in laws):
        base, gain, largest = np.array([law.bulk for law in laws]), np.zeros(len(laws)), laws[0]
    else:
        base, gain = np.ones(len(laws)), np.array([law.omega for law in laws])
        # The rule for the labels that is fine enough for the longest step.
        largest = laws[int(np.argmax(gain))]
    rule = largest.labels
    products = np.zeros((3, 3))
    products[0, 0], products[1:, 1:] = 1.0, rule.pair / largest.batch_ratio
    v = np.array(largest.direction)
    cubic = np.array([0.0, 0.0, 1.0])
    if isinstance(rule, Labels):
        cubic[0] = rule.first[2]
    across = cubic - (cubic @ products @ v) * v
    vectors = np.array([v, largest.perpendicular, across])
    correlations = np.array([law.correlation for law in laws])
    return GroupsLaw(
        base=base,
        gain=gain,
        fractions=np.array(fractions),
        batch_ratio=largest.batch_ratio,
        labels=rule,
        vectors=vectors,
        gram=vectors @ products @ vectors.T,
        spike_part=correlations @ products @ v,
        across_part=correlations[:, 2],
        norm_variance=np.array([law.norm_variance for law in laws]),
        own=np.array([(law.independent[0], law.independent[2]) for law in laws]),
    )


@lru_cache(maxsize=256)
def stepped_groups_law(
    activation: Activation,
    target: Activation,
    alpha0: float,
    eta: float,
    beta: float,
    noise: float,
    weights: tuple[float, ...],
    fractions: tuple[float, ...],
    gaussian_rows: bool = False,
) -> GroupsLaw:
    """The law after one step from the readout weights u_a. Raises ModelError as `numerics.bulk.network.network_law`."""
    laws = tuple(network_law(activation, target, alpha0, eta, beta, noise, gaussian_rows, weight) for weight in weights)
    return groups_law(laws, fractions)
