"""The law of a network's bulk rows after its step, and of several groups that took steps of different lengths.

For one group and any activation (e = eta/beta, s = sigma' - h1 - E[sigma''] z, nu = e E[sigma''], Y the centred label)

    h = P w_f + w_f',   f = 2 e E[z^2 s] Y pi + (e^2/alpha0) E[z s^2] Y^2,
    f' = e E[z^2 s] Y dP + (2 e^2/alpha0) E[z s^2] Y^2 pi + (e^3/alpha0^2) E[s^3] Y^3,
    pi = 1 + nu (E[Y] + Y/alpha0),   dP = 2 nu (1 + nu E[Y]) Y/alpha0 + (nu Y/alpha0)^2,

and v_c is the sum that `_norms` makes. Where s is odd (relu, gelu, silu, softplus: z/2 and an even function) h = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.bulk.network_constants import (
    ROWS,
    Labels,
    SlopeConstants,
    coarse_labels,
    labels,
    labels_from,
    slope_constants,
)
from giantsteps.numerics.bulk.resolvent import Rows, steepest
from giantsteps.numerics.models.gradient_step import even_part, mean_weight
from giantsteps.numerics.models.model import Model, ModelError


@dataclass(frozen=True)
class BulkLaw:
    """The law of the bulk rows: all that the deterministic equivalent needs to know, every entry O(1) in d.

    batch_ratio is alpha0, turn is nu, root what P begins with: P = root + nu M. Directions v and theta_perp are given
    by their coordinates on (theta, n_1, n_3), n_k = (1/n0) sum Y^k x - E[u Y^k] theta; h = P w_f + w_f' by the
    coefficients of the polynomials f = `pulled` and f' = `added` on (Y, Y^2, Y^3). norm_variance is v_c. `independent`
    = (along v, along theta_perp, on delta) is the part of a neuron's overlaps that is independent of everything else in
    its row (Gaussian initial rows have one). error: the relative error of the averages that it is made of.
    """

    omega: float
    batch_ratio: float
    labels: Labels
    direction: tuple[float, float, float]
    perpendicular: tuple[float, float, float]
    pulled: tuple[float, float, float]
    added: tuple[float, float, float]
    norm_variance: float
    independent: tuple[float, float, float] = (0.0, 0.0, 0.0)
    turn: float = 0.0
    error: float = 0.0
    root: float = 1.0

    @property
    def bulk(self) -> float:
        """c = (1/d) tr B = (root + nu E[Y])^2 + (omega + nu^2/alpha0) E[Y^2]."""
        whole = self.root * self.root + self.omega * self.labels.square
        if not self.turn:
            return whole
        mean = self.turn * self.labels.mean
        return whole + 2.0 * self.root * mean + mean * mean + self.turn**2 * self.labels.square / self.batch_ratio


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
    centre: float | None = None,
) -> BulkLaw:
    """The law of the bulk after one step; rows start at |w| = 1, or at w ~ N(0, I/d) for `gaussian_rows`.

    alpha0 > 0 (`Model` checks), and sigma is odd for Gaussian rows; a readout `weight` u multiplies eta, of any sign.
    The step sees labels less `centre` E[sigma], centre = E[u], by default that of one group.
    Raises ModelError where s is not square integrable and where the labels vanish.
    """
    e = eta * weight / beta
    slope = slope_constants(activation)
    omega, turn = e**2 * slope.square / alpha0, e * slope.curvature
    output = (weight if centre is None else centre) * even_part(activation).mean
    rule = _labels_for(target, noise, output, alpha0, omega, turn)
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
    # At nu = 0: lambda b < 1 and b >= 1, so that l = lambda omega/alpha0 stays below omega/alpha0. Without noise that
    # bound only says where rules are compared, and steps of similar length share one.
    if not turn:
        most = omega / alpha0
        return labels(target, noise, most if noise > 0.0 or not most else _rounded_up(most), centre)
    guess = (omega + turn**2 / alpha0) / alpha0
    b1, b2 = steepest(Rows(alpha0, omega, turn), coarse_labels(target, noise, guess, centre))
    return labels(target, noise, b2, centre, b1)


def _rounded_up(size: float) -> float:
    """To a quarter of an octave."""
    return math.exp2(math.ceil(4.0 * math.log2(size)) / 4.0)


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
    along = (1.0, 0.0, 0.0) if across == 0.0 else (alignment, across, 0.0)
    perpendicular = (0.0, 1.0, 0.0) if across == 0.0 else (across, -alignment, 0.0)
    variance = 2.0 * bulk**2 if gaussian_rows else 0.0
    nothing = (0.0, 0.0, 0.0)
    # A is replaced by its mean E[Y^2] = 1, whatever b1 and b2: the one node is 0. Of E[Y] nothing depends.
    table, moments = np.zeros((ROWS, 1)), np.zeros(9)
    table[[1, 13]] = moments[2] = 1.0
    one = Labels(np.zeros(1), table, np.zeros(3), moments)
    # Without P: bulk - 1 beside P = 1 would lose the digits of a small bulk.
    return BulkLaw(bulk, 1.0, one, along, perpendicular, nothing, nothing, variance, root=0.0)


Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class GroupsLaw:
    """The law of the bulk rows of k groups, every entry O(1) in d; arrays of shape (k,) but the last four.

    B_a = P_a^2 + gain_a A, P_a = root_a + turn_a M. Directions v and theta_perp by their coordinates on (theta, n_1,
    n_3), `gram` (4, 4) the scalar products of theta, n_1, n_2, n_3; h_a = P_a w_f + w_f' by those of w_f, `pulled`, and
    of w_f', `added`, (k, 4); norm_variance v_a; own (k, 2): the parts of a row along v and of its squared norm that are
    independent of everything else.
    """

    root: Array
    turn: Array
    gain: Array
    fractions: Array
    batch_ratio: float
    labels: Labels
    direction: tuple[float, float, float]
    perpendicular: tuple[float, float, float]
    norm_variance: Array
    pulled: Array
    added: Array
    own: Array

    @property
    def turning(self) -> bool:
        """Whether M is in the rows: for an odd activation it is not."""
        return bool(np.any(self.turn))

    @property
    def bulks(self) -> Array:
        """c_a = (1/d) tr B_a."""
        mean, square = self.labels.mean, self.labels.square
        return np.asarray((self.root + self.turn * mean) ** 2 + (self.gain + self.turn**2 / self.batch_ratio) * square)

    @property
    def gram(self) -> Array:
        """Scalar products of theta and n_k, (4, 4)."""
        products = np.zeros((4, 4))
        products[0, 0] = 1.0
        products[1:, 1:] = self.labels.moments[2 + np.add.outer(np.arange(3), np.arange(3))] / self.batch_ratio
        return products


def groups_law(laws: tuple[BulkLaw, ...], fractions: tuple[float, ...]) -> GroupsLaw:
    """The law of groups that took steps of different lengths on one batch, each with the law of its own step."""
    largest = max(laws, key=lambda law: law.omega + law.turn**2)
    rule, turn, gain = largest.labels, np.array([law.turn for law in laws]), np.array([law.omega for law in laws])
    root = np.ones(len(laws))
    if not largest.root:
        # B = c: no label enters but through |n_1|^2.
        root, gain = np.sqrt([law.bulk for law in laws]), np.zeros(len(laws))
        size = math.sqrt(rule.square)
        rule = labels_from(np.array([-size, size]), np.array([[0.5, 0.5], [0.0, 0.0], [0.5, 0.5]]))

    def coordinates(polynomials: list[tuple[float, float, float]]) -> Array:
        on_n = np.array(polynomials)
        return np.hstack([(on_n @ rule.first)[:, None], on_n])

    return GroupsLaw(
        root=root,
        turn=turn,
        gain=gain,
        fractions=np.array(fractions),
        batch_ratio=largest.batch_ratio,
        labels=rule,
        direction=largest.direction,
        perpendicular=largest.perpendicular,
        norm_variance=np.array([law.norm_variance for law in laws]),
        pulled=coordinates([law.pulled for law in laws]),
        added=coordinates([law.added for law in laws]),
        own=np.array([(law.independent[0], law.independent[2]) for law in laws]),
    )


def step_laws(model: Model) -> tuple[BulkLaw, ...]:
    """The law of each readout group of a model after its gradient step: all see labels less E[u] E[sigma].

    Raises ValueError for a model without a step, and ModelError as `network_law`.
    """
    step, output = model.step, mean_weight(model.readout)
    if step is None:
        raise ValueError("this model has no gradient step: make it with Model.from_gradient_step")
    return tuple(
        network_law(
            model.activation, model.target, *step.only, model.beta, model.noise, model.gaussian_rows,
            group.weight, output,
        )
        for group in model.groups
    )  # fmt: skip
