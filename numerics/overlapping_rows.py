"""Result 3.1 for initial rows with a mutual overlap: spike, bulk and alignment after the step.

The rows are w_k = sqrt(rho) e + sqrt(1 - rho) u_k with |u_k| = 1, u_k orthogonal to e, which the target does not know
(`numerics.ensembles.overlapping_rows`). Beside u = theta.x the input has then one more direction that matters, t = e.x,
independent of u in the limit. Before the step the network is not small but F(t), and the slope of a neuron has the
mean G(t) over the neurons:

    F(t) = E_z sigma(x),  G(t) = E_z sigma'(x),  K(t) = E_z sigma''(x),  H(t) = E_z (sigma'(x) - G)^2,
    x = sqrt(rho) t + sqrt(1 - rho) z.

With the residual y - F and e = eta~/beta the mean row is sqrt(rho) e + e (1/n0) sum (y - F) G x, whose parts along e,
along theta and across both (the noise of the batch) are orthogonal in the limit; and by Stein's lemma the rest of a row
keeps its direction u_k with the factor 1 - e E[(F - y) K], beside the noise of (y - F)(sigma' - G):

    r^2 = (sqrt(rho) + e E[(y - F) t G])^2 + e^2 (h1^2 h1*^2 + E[(y - F)^2 G^2]/alpha0),    gamma = e h1 h1*/r,
    c   = (1 - rho) (1 + e E[(y - F) K])^2 + e^2 E[(y - F)^2 H]/alpha0.

At rho = 0 and for an odd activation F = K = 0, G = h1, and this is Result 3.1. It is this suite's own, not the paper's.

The rows' rest is isotropic but for e, along which only the noise of the batch is left: the first term of c is missing
there. The spike has a part along e, so that the readout finds less of it in the bulk. With g = C beta tau and

    R = R_c + (R_n - R_c) e e^T,  R_x = x/(1 + g x),  n the second term of c,

the overlaps of v and theta_perp are K = beta tau (R + g R_.v R_v./(1 - g R_vv)); T and tau do not change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from derivations.activation import activation
from derivations.expression import derivative, to_text
from numerics.coefficients import conditional_moments_of, hermite_constants
from numerics.deterministic_equivalent import isotropic
from numerics.ensembles import Network
from numerics.model import Model
from numerics.quadrature import density
from numerics.ridge import solve
from numerics.solution import Solution

Array = NDArray[np.float64]

# Trapezoidal rule in t: F, G, K and H are analytic for overlap < 1; 1e-12 at overlap 0.9.
_STEP, _END = 0.05, 9.0


@dataclass(frozen=True)
class Stepped:
    """A network after its step: spike r, bulk c, alignment gamma; `common` = v.e and `noise` = n, see above."""

    spike: float
    bulk: float
    alignment: float
    common: float
    noise: float


def stepped(network: Network) -> Stepped:
    """The limits for one step of a network whose rows overlap; see the module's first lines.

    O(1) in d, with relative corrections O(1/d). `network.steps` is not looked at.
    """
    t = np.arange(-_END, _END + 0.5 * _STEP, _STEP)
    weights = _STEP * density(t)
    root, rest = math.sqrt(network.overlap), 1.0 - network.overlap
    slope = activation(to_text(derivative(network.activation.expression)))
    output = conditional_moments_of(network.activation, root, rest, 0.0, t).mean
    slopes = conditional_moments_of(slope, root, rest, 0.0, t)
    mean_slope, curvature = slopes.mean, slopes.slope / math.sqrt(rest)
    scatter = slopes.rest + slopes.slope**2
    target, rate = hermite_constants(network.target), network.eta / network.beta
    if network.alpha0 == 0.0 or rate == 0.0:
        return Stepped(root, rest, 0.0, math.copysign(float(root > 0.0), root), 0.0)
    residual = target.mean - output
    squared = target.h2 + network.noise - 2.0 * target.mean * output + output**2
    own = float(weights @ mean_slope) * target.h1  # h1 h1*: the mean of G is E sigma'
    along = root + rate * float(weights @ (residual * t * mean_slope))
    across = rate**2 * (own**2 + float(weights @ (squared * mean_slope**2)) / network.alpha0)
    spike = math.sqrt(along**2 + across)
    kept = 1.0 + rate * float(weights @ (residual * curvature))
    noise = rate**2 * float(weights @ (squared * scatter)) / network.alpha0
    return Stepped(spike, rest * kept**2 + noise, rate * own / spike, along / spike, noise)


@dataclass(frozen=True)
class _Point:
    values: Array
    jacobian: Array
    overlap: Array
    slopes: Array

    def overlap_jacobian(self) -> Array:
        return self.slopes


@dataclass(frozen=True)
class OneDirectionApart:
    """The equivalent of a bulk that is isotropic but along e: `numerics.deterministic_equivalent`, one group."""

    ridge: float
    beta: float
    after: Stepped

    @property
    def groups(self) -> int:
        return 1

    def largest(self) -> Array:
        return np.asarray(self._isotropic.largest())

    @property
    def _isotropic(self) -> Any:
        return isotropic(self.ridge, self.beta, (self.after.bulk,), (1.0,), 1)

    def at(self, conjugates: Array) -> _Point:
        point, C = self._isotropic.at(conjugates), float(conjugates[0])
        tau = float(point.values[1])
        # K depends on C and on tau; derivatives by complex steps, exact to rounding.
        tiny = 1e-30
        by_c = self._overlap(complex(C, tiny), tau).imag / tiny
        by_tau = self._overlap(C, complex(tau, tiny)).imag / tiny
        slopes = np.stack([by_c + by_tau * point.jacobian[1, 0], by_tau * point.jacobian[1, 1]])
        return _Point(point.values, point.jacobian, self._overlap(C, tau).real, slopes)

    def _overlap(self, C: complex, tau: complex) -> Any:
        after, g = self.after, C * self.beta * tau
        across = -after.alignment * after.common / math.sqrt(1.0 - after.alignment**2)
        e = np.array([after.common, across])
        usual, apart = (x / (1.0 + g * x) for x in (after.bulk, after.noise))
        moment = usual * np.eye(2) + (apart - usual) * np.outer(e, e)
        seen = moment + g * np.outer(moment[:, 0], moment[0]) / (1.0 - g * moment[0, 0])
        return np.asarray(self.beta * tau * seen)


def equivalent_model(network: Network) -> Model:
    """The spiked random features with the network's r, c and gamma: rows isotropic, as in the paper."""
    after = stepped(network)
    return Model(
        network.activation, network.target, network.alpha, network.beta, network.ridge, network.noise,
        spike=after.spike, bulk=after.bulk, alignment=after.alignment,
    )  # fmt: skip


def solve_overlapping(network: Network) -> Solution:
    """The ridge readout of such a network after one step, its bulk isotropic but along e."""
    after = stepped(network)
    return solve(equivalent_model(network), bulk=lambda ridge: OneDirectionApart(ridge, network.beta, after))
