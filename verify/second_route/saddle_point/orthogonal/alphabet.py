"""A continuous alphabet over an orthogonal bulk: readouts simulated with as many letters as neurons, and their limit.

The letter u(t) = (1 + 1.6 erf(t/sqrt 2))/2 of a standard normal label t is uniform on an interval; c = 1 + 2 u^2, as
after a step. At constant c the function kappa mu1 is the slope of mu0 in u: where the means span all, zeta(u) is zero.
The student s(x) = (x^2 - 1)/2 + x has two mean functions in all, kappa and kappa^2 + 2, so that zeta stays, and means
and variances given kappa are exact sums:

    mu0 = ((u kappa)^2 + c - 1)/2 + u kappa,    mu1 = u kappa + 1,    nu = c mu1^2 + c^2/2.

The saddle point is solved on grids for kappa and u from leave-one-out equations, the cost m(u)^2/p kept: with it what
is measured tends to the limit like 1/d.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.derivations.saddle_point.bulk_of_letters.alphabet import V_along, V_hat_along
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Profile
from giantsteps.verify.second_route.grids import Array, erf, normal_line
from giantsteps.verify.second_route.values import by_glyph

_ALPHA, _BETA, _RIDGE = 5.0, 0.8, 1.0
# Where the functions of kappa are measured, and the labels of the letters whose V^ is.
_PLACES = (-2.0, -0.5, 0.5)
_LABELS = (-0.7, 0.7)
# The rows beside the neurons' that a dimension leaves at beta = 0.8: neurons that are not in the network.
_BESIDE = 8


def _letter(share: Array) -> Array:
    """The letter at a place of the uniform law on (-1, 1)."""
    return 0.5 + 0.8 * share


def _bulk(u: Array) -> Array:
    return 1.0 + 2.0 * u**2


def _share(label: Array) -> Array:
    return np.asarray(erf(np.asarray(label) / math.sqrt(2.0)))


def _student(x: Array) -> Array:
    return np.asarray(0.5 * (x * x - 1.0) + x)


def _target(kappa: Array) -> Array:
    return np.asarray(2.0 * np.cos(kappa) + np.sin(kappa))


def _mu0(kappa: Array, u: Array) -> Array:
    return np.asarray(0.5 * ((u * kappa) ** 2 + _bulk(u) - 1.0) + u * kappa)


def _mu1(kappa: Array, u: Array) -> Array:
    return np.asarray(u * kappa + 1.0)


def _nu(kappa: Array, u: Array) -> Array:
    return np.asarray(_bulk(u) * _mu1(kappa, u) ** 2 + 0.5 * _bulk(u) ** 2)


@dataclass(frozen=True)
class _AtRest:
    """The saddle point with p neurons: weights w/(1 + V) on the grid of kappa, the residual b, S = E_u mu1 zeta, q."""

    p: int
    weight: Array
    gain: Array
    residual: Array
    along: Array
    variance: Array

    def V_hat(self, u: Array) -> Array:
        """V^(u) = (alpha/beta) E[nu/(1 + V)]."""
        return np.asarray(_ALPHA / _BETA * (self.weight @ _nu(_LINE[:, None], np.ravel(u))).reshape(np.shape(u)))

    def V(self, kappa: Array) -> Array:
        """V(kappa): what a neuron's gain 1/(lambda + V^) makes of the variance of its feature, averaged."""
        return np.asarray((_nu(np.ravel(kappa)[:, None], _U) @ (_LAW * self.gain)).reshape(np.shape(kappa)))

    def _pulled(self, functions: Array, force: Array, u: Array) -> Array:
        found = (self.weight * force) @ functions / (_RIDGE + self.V_hat(np.ravel(u)))
        return np.asarray(found.reshape(np.shape(u)))

    def m(self, u: Array) -> Array:
        """m(u) = p (alpha/beta) E[mu0 b/(1 + V)]/(lambda + V^): tends to a limit as the average tends to zero."""
        pulled = self._pulled(_mu0(_LINE[:, None], np.ravel(u)), self.residual, u)
        return np.asarray(self.p * _ALPHA / _BETA * pulled)

    def zeta(self, u: Array) -> Array:
        """zeta(u) = alpha c E[mu1 (kappa b + S)/(1 + V)]/(lambda + V^)."""
        force = _LINE * self.residual + self.along
        return np.asarray(_ALPHA * _bulk(u) * self._pulled(_mu1(_LINE[:, None], np.ravel(u)), force, u))

    def q_hat(self, u: Array, shrink: Array) -> Array:
        """q^(u) = (alpha/beta) E[nu (b^2 + q)/(1 + V)^2], with what m(u)^2/p adds to the squares of weights."""
        force = (self.residual**2 + self.variance) * shrink
        drawn = (self.weight * force) @ _nu(_LINE[:, None], np.ravel(u))
        cost = self.m(u) ** 2 / self.p * (_RIDGE + self.V_hat(u)) ** 2
        return np.asarray(_ALPHA / _BETA * drawn.reshape(np.shape(u)) + cost)


_LINE, _NORMAL = normal_line(1 / 8, 8.0)
_NODES, _UNIFORM = np.polynomial.legendre.leggauss(24)
_U, _LAW = _letter(_NODES), _UNIFORM / 2


@lru_cache(maxsize=8)
def _solved(p: int) -> tuple[_AtRest, Array]:
    """The saddle point with p neurons, and 1/(1 + V) on the grid."""
    kappa, zero = _LINE[:, None], np.zeros_like(_LINE)
    nu, mu0, mu1 = _nu(kappa, _U), _mu0(kappa, _U), _mu1(kappa, _U)
    V = np.ones_like(_LINE)
    for _ in range(500):
        gain = 1.0 / (_RIDGE + _ALPHA / _BETA * (_NORMAL / (1.0 + V)) @ nu)
        new = nu @ (_LAW * gain)
        if np.max(np.abs(new - V)) < 1e-13:
            break
        V = 0.5 * (V + new)
    else:
        raise ArithmeticError("the damped iteration of V did not end")
    shrink, one = 1.0 / (1.0 + V), np.eye(len(V))
    weight = _NORMAL * shrink
    means = p * _ALPHA / _BETA * (mu0 * (_LAW * gain)) @ mu0.T * weight
    spike = _ALPHA * (mu1 * (_LAW * gain * _bulk(_U))) @ mu1.T * weight
    # b = y0 - E m mu0 - kappa S and S = E zeta mu1, where b and S pull m and zeta.
    system = np.block([[one + means, np.diag(_LINE)], [-spike * _LINE, one - spike]])
    residual, along = np.split(np.linalg.solve(system, np.concatenate([_target(_LINE), zero])), 2)
    at = _AtRest(p, weight, gain, residual, along, zero)
    fixed = nu @ (_LAW * (at.zeta(_U) ** 2 / (_BETA * _bulk(_U)) + at.m(_U) ** 2 / p)) - along**2
    loop = _ALPHA / _BETA * (nu * (_LAW * gain**2)) @ nu.T * (weight * shrink)
    variance = np.linalg.solve(one - loop, loop @ residual**2 + fixed)
    return _AtRest(p, weight, gain, residual, along, variance), shrink


def _functions(p: int) -> Functions:
    """Those of the statements, of kappa and of the label, with p neurons."""
    at, shrink = _solved(p)

    def u(label: Array) -> Array:
        return _letter(_share(label))

    return {
        "nu": lambda kappa, label: _nu(kappa, u(label)),
        "mu0u": lambda kappa, label: _mu0(kappa, u(label)),
        "mu1u": lambda kappa, label: _mu1(kappa, u(label)),
        "cu": lambda label: _bulk(u(label)),
        "Vk": at.V,
        "Vhat": lambda label: at.V_hat(u(label)),
        "qhat": lambda label: at.q_hat(u(label), shrink),
        "mu": lambda label: at.m(u(label)),
        "zetau": lambda label: at.zeta(u(label)),
        "y0": _target,
    }


def _seen(x: Array, basis: Array, u: Array) -> Array:
    """Features of neurons with letters u on inputs x (n, d), their bulk rows along orthonormal ones."""
    return _student(x @ (np.sqrt(_bulk(u)) * basis.T) + np.outer(x[:, 0], u))


@lru_cache(maxsize=4096)
def _draw(d: int, seed: int) -> tuple[Array, ...]:
    """V, b and q at each place, and V^ of each label, of one readout of p neurons with a letter of its own each.

    V = (1/p) tr Cov(phi|kappa) (Phi^T Phi/p + lambda)^-1, and V^ is what a neuron that is not in the network meets.
    """
    generator = np.random.default_rng((161, d, seed))
    n, p = round(_ALPHA * d), round(_BETA * d)
    basis = np.linalg.qr(generator.normal(size=(d, d)))[0].T
    basis *= np.where(generator.random(d) < 0.5, -1, 1)[:, None]
    u = _letter((2.0 * np.arange(p) + 1.0) / p - 1.0)
    x = generator.normal(size=(n, d))
    phi = _seen(x, basis[:p], u) / math.sqrt(p)
    inverse = np.linalg.inv(phi.T @ phi + _RIDGE * np.eye(p))
    a = inverse @ (phi.T @ _target(x[:, 0]))
    spike = np.sqrt(_bulk(u)) * basis[:p, 0]
    across = np.diag(_bulk(u)) - np.outer(spike, spike)
    at_places = np.empty((3, len(_PLACES)))
    for k, kappa in enumerate(_PLACES):
        seen = (u + spike) * kappa
        mean = 0.5 * (seen**2 + np.diag(across) - 1.0) + seen
        covariance = (np.outer(seen + 1.0, seen + 1.0) * across + 0.5 * across**2) / p
        label = 2.0 * math.cos(kappa) + math.sin(kappa)
        at_places[:, k] = np.sum(covariance * inverse), label - mean @ a / math.sqrt(p), a @ covariance @ a
    met = []
    for share in _share(np.array(_LABELS)):
        outside = _seen(x, basis[p : p + _BESIDE], np.full(_BESIDE, _letter(share))) / math.sqrt(p)
        pulled = phi.T @ outside
        met.append(float(np.sum(outside**2) - np.sum(pulled * (inverse @ pulled))) / _BESIDE)
    return (*at_places, np.array(met))


_QUANTITIES = (V_along, s_saddle.residual, s_saddle.output_variance, V_hat_along)
# Of each quantity, where it is measured and by how many draws per seed of a profile, shared and of 6 ms each on average
# over the dimensions. V varies so little that a few of them know it to 3 %; more would see what it has beyond 1/d. What
# points along the spike has its largest share of q at 0.5.
_MEASURED = ((_PLACES[:2], 8), (_PLACES[:2], 32), (_PLACES[::2], 32), (_LABELS, 32))


def simulated(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """A function at some places, at a quarter of the profile's dimensions."""
    at = column(quantity, *_QUANTITIES)
    places, count = _MEASURED[at]
    known, coordinate = (_LABELS, s_saddle.mode) if quantity == V_hat_along else (_PLACES, s.kappa)

    def one(place: float, d: int) -> Measured:
        samples = tuple(float(_draw(d, seed)[at][known.index(place)]) for seed in profile.draws(count))
        values = by_glyph({s.alpha: _ALPHA, s.beta: _BETA, s.ridge: _RIDGE, coordinate: place})
        return Measured(d, samples, values, _functions(round(_BETA * d)))

    return at_sizes({f"{coordinate} = {place}": place for place in places}, profile, one, 4)
