"""The bulk of the network itself after one gradient step: neither isotropic nor of equal norm. Beyond the paper.

For sigma odd, |w_k| = 1 before the step, e = eta/beta and s = sigma' - h1, the bulk row b_i of a neuron is, given the
batch, asymptotically Gaussian with covariance B/d; its squared norm fluctuates by delta_i = |b_i|^2 - c = O(d^-1/2):

    B = 1 + omega A,  A = (1/n0) sum y^2 x x^T,  omega = e^2 E[s^2]/alpha0,
    d Cov(b_i, delta_i) = h = 2 e E[z^2 s] vh + e^3 (E[s^3]/alpha0^2) w3,   vh = (1/n0) sum y x,  w3 = (1/n0) sum y^3 x,
    d Var(delta_i) = v_c = 4 e^2 {(E[y^2]/alpha0)(E[z^2 s^2] - E[z^2 s]^2) + E[z^2 s]^2 |vh|^2}
                           + e^4 {E[y^4] Var(s^2)/alpha0^3 + 2 E[y^2]^2 E[s^2]^2/alpha0^2}.

The mean of a feature depends on the norm of its row, so the readout gains one function along the spike, k2 = d mu0/dc,
with the coefficient chi = sum_i a_i delta_i/sqrt(p). The signal overlaps K of (v, delta, theta_perp) are 3 x 3.

Everything is rational in averages over 1 + y^2 l at one number l, solved for: with lambda = l alpha0/omega,

    b = 1 + omega E_l[y^2],   (1/d) tr (1 + g B)^-1 = p = 1 - lambda b,   g = lambda/p = C beta tau,
    D lambda/p + C lambda b = C beta,   tau = lambda/(p beta C),   T = tau p b.

A vector f in (y, y^3) stands for n_f = w_f - E[f u] theta, w_f = (1/n0) sum f x. Derivatives in (C, D) are complex
steps, exact to rounding, through the implicit function. The isotropic bulk is the same code with b = c, h = 0, v_c = 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derivations.activations.activation import Activation
from numerics.derivative_algebra import constant
from numerics.deterministic_equivalent import ExplicitPoint
from numerics.model import Model, ModelError
from numerics.network_constants import DividedAverages, LabelAverages, Labels, labels, slope_constants

Array = NDArray[np.float64]

_STEP = 1e-100
_MOST_STEPS = 200


@dataclass(frozen=True)
class IsotropicLabels:
    """The averages that make B = c: omega A replaced by its mean omega E[y^2]."""

    pair: Array

    @property
    def square(self) -> float:
        """E[y^2]."""
        return float(self.pair[0, 0])

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

    batch_ratio is alpha0. Directions v, theta_perp and the vector h are given by their coordinates on (theta, n_y,
    n_y3); norm_variance is v_c. `independent` = (along v, along theta_perp, on delta) is the part of a neuron's
    overlaps that is independent of everything else in its row (Gaussian initial rows have one). error: the relative
    error of the averages that it is made of.
    """

    omega: float
    batch_ratio: float
    labels: Labels | IsotropicLabels
    direction: tuple[float, float, float]
    perpendicular: tuple[float, float, float]
    correlation: tuple[float, float, float]
    norm_variance: float
    independent: tuple[float, float, float] = (0.0, 0.0, 0.0)
    error: float = 0.0

    @property
    def bulk(self) -> float:
        """c = (1/d) tr B = 1 + omega E[y^2]."""
        return 1.0 + self.omega * self.labels.square


@lru_cache(maxsize=256)
def network_law(
    activation: Activation,
    target: Activation,
    alpha0: float,
    eta: float,
    beta: float,
    noise: float,
    gaussian_rows: bool = False,
) -> BulkLaw:
    """The law of the bulk after one step; rows start at |w| = 1, or at w ~ N(0, I/d) for `gaussian_rows`.

    sigma has to be odd and alpha0 > 0 (`Model` checks); a readout weight u multiplies eta, of any sign. Raises
    ModelError where s is not square integrable and where the labels vanish.
    """
    e = eta / beta
    slope = slope_constants(activation)
    omega = e**2 * slope.square / alpha0
    # lambda b < 1 and b >= 1, so that l = lambda omega/alpha0 stays below omega/alpha0.
    rule = labels(target, noise, omega / alpha0)
    across = math.sqrt(rule.square / alpha0)
    size = math.hypot(float(rule.first[0]), across)
    if size == 0.0:
        raise ModelError("the labels are all zero, so that the gradient step has no direction: give another target")
    gamma, ratio = float(rule.first[0]) / size, across / size
    cubic = e**3 * slope.cube / alpha0**2
    linear = 2.0 * e * slope.second
    first = linear * float(rule.first[0]) + cubic * float(rule.first[1])
    variance = 4.0 * e**2 * (
        rule.square / alpha0 * (slope.weighted_square - slope.second**2) + (slope.second * size) ** 2
    ) + e**4 * (
        rule.fourth * slope.square_variance / alpha0**3 + 2.0 * (rule.square * slope.square / alpha0) ** 2
    )  # fmt: skip
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
        correlation=(first, linear, cubic),
        norm_variance=variance,
        independent=independent,
        error=slope.error + rule.error,
    )


def law_error(model: Model) -> float:
    """The relative error of the averages behind a network's law, the worst of its groups."""
    step = model.step
    if step is None:
        return 0.0
    etas = {step.eta * group.weight for group in model.groups}
    return max(
        network_law(
            model.activation, model.target, step.alpha0, eta, model.beta, model.noise, model.gaussian_rows
        ).error
        for eta in etas
    )


def isotropic_law(bulk: float, alignment: float, *, gaussian_rows: bool = False) -> BulkLaw:
    """The sRF's bulk in the same terms: B = c; v_c = 0 for rows of equal norm, 2 c^2 for Gaussian rows, h = 0."""
    # Any labels with the right angle between vh and theta serve: E[y^2]/alpha0 = 1 - gamma^2.
    across = math.sqrt((1.0 - alignment) * (1.0 + alignment))
    pair = np.array([[1.0, 0.0], [0.0, 0.0]])
    along = (1.0, 0.0, 0.0) if across == 0.0 else (alignment, across, 0.0)
    perpendicular = (0.0, 1.0, 0.0) if across == 0.0 else (across, -alignment, 0.0)
    variance = 2.0 * bulk**2 if gaussian_rows else 0.0
    return BulkLaw(bulk - 1.0, 1.0, IsotropicLabels(pair), along, perpendicular, (0.0, 0.0, 0.0), variance)


class NetworkBulk:
    """The deterministic equivalent of rows of a given law, at a ridge and beta; one group."""

    def __init__(self, ridge: float, beta: float, law: BulkLaw) -> None:
        self.ridge = ridge
        self.beta = beta
        self.law = law
        self._vectors = np.array([law.direction, law.perpendicular, law.correlation])

    @property
    def groups(self) -> int:
        """One readout group."""
        return 1

    def largest(self) -> Array:
        """(T, tau) at C = D = 0."""
        return np.array([self.law.bulk, 1.0]) / (self.ridge or 1.0)

    def at(self, conjugates: Array) -> ExplicitPoint:
        """(T, tau), K (3 x 3) on (v, delta, theta_perp), and the derivatives of both at the pair (C, D)."""
        C, shift = float(conjugates[0]), self.ridge + float(conjugates[1])
        x = self._solve(C, shift)
        values, overlap = self._explicit(C, shift, x)
        slope = (self._equation(C, shift, x + 1j * _STEP)).imag
        jacobian, slopes = np.empty((2, 2)), np.empty((2, 3, 3))
        for column, direction in enumerate(((1.0, 0.0), (0.0, 1.0))):
            C_moved, D_moved = C + 1j * _STEP * direction[0], shift + 1j * _STEP * direction[1]
            x_slope = -self._equation(C_moved, D_moved, x).imag / slope
            moved, matrix = self._explicit(C_moved, D_moved, x + 1j * _STEP * x_slope)
            jacobian[:, column] = moved.imag / _STEP
            slopes[column] = matrix.imag / _STEP
        return ExplicitPoint(values.real, jacobian, overlap.real, slopes)

    def _mean(self, C: Any, x: Any) -> Any:
        """b at lambda = C x."""
        law = self.law
        return 1.0 + law.omega * law.labels.averages(C * x * law.omega / law.batch_ratio).square

    def _equation(self, C: Any, shift: Any, x: Any) -> Any:
        """D x + (C x b - beta)(1 - C x b), which vanishes at x = lambda/C."""
        filled = C * x * self._mean(C, x)
        return shift * x + (filled - self.beta) * (1.0 - filled)

    def _solve(self, C: float, shift: float) -> float:
        """x = lambda/C in (0, beta/shift], by Newton's method kept inside a shrinking bracket."""
        beta, least = self.beta, min(1.0, self.beta)
        low, high = 0.0, beta / shift
        if C > 0.0:
            # b lies between 1 and c.
            high = min(high, least / (C * min(1.0, self.law.bulk)))
        x, previous = self._isotropic_start(C, shift, high), math.inf
        for _ in range(_MOST_STEPS):
            filled = C * (x * self._mean(C, x))
            if filled >= least:
                # Beyond the root, where the equation has another one.
                high, x = x, 0.5 * (low + x)
                continue
            value = self._equation(C, shift, x)
            if value > 0.0:
                high = min(high, x)
            else:
                low = max(low, x)
            slope = self._equation(C, shift, x + 1j * _STEP).imag / _STEP
            moved = x - value / slope
            if not low < moved < high:
                moved = 0.5 * (low + high)
            size = abs(moved - x) / x
            x = moved
            if size < 4e-16 or (size < 1e-12 and size >= previous):
                break
            previous = size
        return x

    def _isotropic_start(self, C: float, shift: float, high: float) -> float:
        """x for B = c: the root of D x + (C c x - beta)(1 - C c x) below 1 and beta."""
        spread = C * self.law.bulk
        linear = shift + (1.0 + self.beta) * spread
        root = math.sqrt(max(0.0, linear * linear - 4.0 * spread * spread * self.beta))
        return min(2.0 * self.beta / (linear + root), high * (1.0 - 1e-15))

    def _explicit(self, C: Any, shift: Any, x: Any) -> tuple[NDArray[Any], NDArray[Any]]:
        """(T, tau) and K once x is known; complex arguments serve the derivatives."""
        law, beta = self.law, self.beta
        scale = law.omega / law.batch_ratio
        lam = C * x
        leverage = lam * scale
        means = law.labels.averages(leverage)
        b = 1.0 + law.omega * means.square
        # Two forms of p, each without cancellation on its side of beta = 1.
        p = shift * x / (beta - lam * b) if beta > 1.0 else 1.0 - lam * b
        tau = x / (p * beta)
        resolvent, filled = self._forms(p, lam, leverage, b, means)
        v, perp, h = self._vectors
        along, both = v @ resolvent @ v, v @ resolvent @ h
        mixed = v @ filled @ perp
        moment = np.empty((3, 3), dtype=np.result_type(resolvent, filled))
        moment[0, 0] = v @ filled @ v / along
        moment[0, 1] = moment[1, 0] = both / along
        moment[0, 2] = moment[2, 0] = mixed / along
        moment[1, 1] = law.norm_variance - lam * (h @ resolvent @ h - both * both / along)
        moment[1, 2] = moment[2, 1] = p * (perp @ resolvent @ h) + lam * mixed * both / along
        moment[2, 2] = p * (perp @ filled @ perp) + lam * mixed * mixed / along
        own = np.array([law.independent[0], law.independent[2], law.independent[1]])
        overlap = beta * tau * (moment + np.outer(own, own))
        return np.array([tau * p * b, tau]), overlap

    def _forms(
        self, p: Any, lam: Any, leverage: Any, b: Any, means: LabelAverages
    ) -> tuple[NDArray[Any], NDArray[Any]]:
        """(1 + g B)^-1/p and (1 - (1 + g B)^-1)/(g p) on the basis (theta, n_y, n_y3).

        theta.Q w_f and w_f.Q w_f' of the resolvent Q of A, with E[f u] theta taken off w_f and every factor g that
        would cancel taken out.
        """
        law = self.law
        scale = law.omega / law.batch_ratio
        tilted = 1.0 + law.omega * means.tilted
        height = 1.0 / (p + lam * tilted)
        kind = np.result_type(*(np.asarray(q) for q in (p, lam, leverage, b, means.mixed)))
        resolvent, filled = np.empty((3, 3), dtype=kind), np.empty((3, 3), dtype=kind)
        cross = np.outer(means.mixed, means.mixed)
        resolvent[0, 0] = height
        resolvent[0, 1:] = resolvent[1:, 0] = -height * leverage * means.mixed
        resolvent[1:, 1:] = height * leverage**2 * cross + means.pair / law.batch_ratio
        filled[0, 0] = height * tilted
        filled[0, 1:] = filled[1:, 0] = height * scale * p * means.mixed
        filled[1:, 1:] = (b * law.labels.pair + scale * p * means.pair_square) / law.batch_ratio
        filled[1:, 1:] -= height * leverage * scale * p * cross
        return resolvent, filled
