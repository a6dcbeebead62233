"""Result 3.1 for initial rows with a mutual overlap: spike, bulk and alignment after the step.

The rows are w_k = sqrt(rho) e + sqrt(1 - rho) u_k with |u_k| = 1, u_k orthogonal to e, which the target does not know
(`numerics.experiments.ensembles.overlapping_rows`). Beside u = theta.x the input has then one more direction that
matters, t = e.x, independent of u in the limit. Before the step the network is not small but F(t), and the slope of a
neuron has the mean G(t) over the neurons:

    F(t) = E_z sigma(x),  G(t) = E_z sigma'(x),  K(t) = E_z sigma''(x),  H(t) = E_z (sigma'(x) - G)^2,
    x = sqrt(rho) t + sqrt(1 - rho) z.

With the residual y - F and e = eta~/beta the mean row is sqrt(rho) e + e (1/n0) sum (y - F) G x, whose parts along e,
along theta and across both (the noise of the batch) are orthogonal in the limit; and by Stein's lemma the rest of a row
keeps its direction u_k with the factor 1 - e E[(F - y) K], beside the noise of (y - F)(sigma' - G):

    r^2 = (sqrt(rho) + e E[(y - F) t G])^2 + e^2 (h1^2 h1*^2 + E[(y - F)^2 G^2]/alpha0),    gamma = e h1 h1*/r,
    c   = (1 - rho) (1 + e E[(y - F) K])^2 + e^2 E[(y - F)^2 H]/alpha0.

At rho = 0 and for an odd activation F = K = 0, G = h1, and this is Result 3.1. It is this suite's own, not the paper's.

The rest of the rows is not isotropic (`numerics.bulk.overlapping_bulk`), which moves the test error by several per
cent.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bulk.overlapping_bulk import Samples, TurnedBulk
from giantsteps.numerics.gaussian.coefficients import conditional_moments_of, hermite_constants
from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.gaussian.quadrature import (
    FINER,
    MOST_UNSETTLED,
    ROUNDING,
    conditional_moments,
    integrand,
    slope_integrand,
)
from giantsteps.numerics.gaussian.spike_rule import layers, spacing, spike_rule
from giantsteps.numerics.models.model import UNIFORM, Model, ModelError
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.parameters import MapErrors

Array = NDArray[np.float64]

# Trapezoidal rule in t: F, G, K and H are analytic for overlap < 1. The first step; finer ones follow until r, c and
# gamma stay put.
_STEP, _END = 0.1, 9.0
_SETTLED, _MOST_REFINEMENTS = 1e-13, 5
# The same for averages over W', which are wanted to 1e-7; nodes of less weight than this share are left out.
COARSE_STEP, _COARSE_END, LEAST = 0.3, 6.6, 1e-9


@dataclass(frozen=True)
class Stepped:
    """A network after its step: spike r, bulk c, alignment gamma; `common` = v.e, `noise` = the second term of c.

    error: the relative error of the averages that they are made of (an estimate).
    """

    spike: float
    bulk: float
    alignment: float
    common: float
    noise: float
    error: float = 0.0


class Averages(NamedTuple):
    """F, G, K and H at places t, (n,) each."""

    output: Array
    mean_slope: Array
    curvature: Array
    scatter: Array


def _averages(network: Network, t: Array) -> Averages:
    root, rest = math.sqrt(network.overlap), 1.0 - network.overlap
    output = conditional_moments_of(network.activation, root, rest, 0.0, t).mean
    slopes = conditional_moments(slope_integrand(network.activation), root * t, math.sqrt(rest))
    return Averages(output, slopes.mean, slopes.slope / math.sqrt(rest), slopes.rest + slopes.slope**2)


def stepped(network: Network) -> Stepped:
    """The limits for one step of a network whose rows overlap; see the module's first lines.

    O(1) in d, with relative corrections O(1/d). Raises ModelError for several steps, for a readout of several groups,
    or with biases, and where the averages do not settle.
    """
    if network.groups != UNIFORM:
        raise ModelError("overlapping rows require the uniform readout without bias: omit the readout groups")
    coarse = _stepped_on(network, _STEP)
    for level in range(1, _MOST_REFINEMENTS + 1):
        fine = _stepped_on(network, _STEP / FINER**level)
        pairs = ((fine.spike, coarse.spike), (fine.bulk, coarse.bulk), (fine.alignment, coarse.alignment))
        moved = max(abs(a - b) / max(abs(a), abs(b), 1e-300) for a, b in pairs)
        if moved <= _SETTLED:
            break
        coarse = fine
    if not moved <= MOST_UNSETTLED:
        raise ModelError(
            f"the averages along the common part of the rows do not converge (relative error {moved:.1g}): use a "
            "smaller overlap or a smoother activation, for example tanh(z)"
        )
    return replace(fine, error=moved + ROUNDING)


def _stepped_on(network: Network, step: float) -> Stepped:
    """The same by the trapezoidal rule of a given step in t."""
    t = np.arange(-_END, _END + 0.5 * step, step)
    weights = step * density(t)
    root, rest = math.sqrt(network.overlap), 1.0 - network.overlap
    output, mean_slope, curvature, scatter = _averages(network, t)
    alpha0, eta = network.step.only
    target, rate = hermite_constants(network.target), eta / network.beta
    if alpha0 == 0.0 or rate == 0.0:
        return Stepped(root, rest, 0.0, math.copysign(float(root > 0.0), root), 0.0)
    residual = target.mean - output
    squared = target.h2 + network.noise - 2.0 * target.mean * output + output**2
    own = float(weights @ mean_slope) * target.h1  # h1 h1*: the mean of G is E sigma'
    along = root + rate * float(weights @ (residual * t * mean_slope))
    across = rate**2 * (own**2 + float(weights @ (squared * mean_slope**2)) / alpha0)
    spike = math.sqrt(along**2 + across)
    kept = 1.0 + rate * float(weights @ (residual * curvature))
    noise = rate**2 * float(weights @ (squared * scatter)) / alpha0
    return Stepped(spike, rest * kept**2 + noise, rate * own / spike, along / spike, noise)


def turned_bulk(network: Network, step: float = COARSE_STEP) -> TurnedBulk:
    """The law of the bulk rows after one step (`numerics.bulk.overlapping_bulk`), on a grid of a given step.

    Raises ModelError where no step is made.
    """
    alpha0, eta = network.step.only
    if alpha0 == 0.0 or eta == 0.0:
        raise ModelError("rows that overlap are solved after a gradient step: give alpha0 > 0 and eta > 0")
    after, rate, overlap = stepped(network), eta / network.beta, network.overlap
    u, at_u, labels = _labels(network, step)
    t = np.arange(-_COARSE_END, _COARSE_END + 0.5 * step, step)
    at_t = step * density(t)
    seen = _averages(network, t)
    weights = np.outer(at_u, at_t).ravel()
    kept = weights > LEAST * weights.max()
    residual = labels[:, None] - seen.output
    quadratic = np.maximum(seen.scatter - (1.0 - overlap) * seen.curvature**2, 0.0)

    def flat(values: Array) -> Array:
        return np.asarray(np.broadcast_to(values, residual.shape).ravel()[kept])

    samples = Samples(
        weights=weights[kept] / float(np.sum(weights[kept])),
        u=flat(u[:, None]),
        t=flat(t),
        pull=flat(residual * seen.mean_slope),
        turn=rate * flat(residual * seen.curvature),
        noise=rate**2 / alpha0 * flat(residual**2 * quadratic),
    )
    v = np.array([0.0, math.sqrt(overlap), rate]) / after.spike
    across = math.sqrt((1.0 - after.alignment) * (1.0 + after.alignment))
    perpendicular = (np.array([1.0, 0.0, 0.0]) - after.alignment * v) / across
    return TurnedBulk(overlap, alpha0, after.bulk, samples, v, perpendicular)


def _labels(network: Network, step: float) -> tuple[Array, Array, Array]:
    """A rule for u = theta.x and the label: u, weights and y, right for jumps of the target."""
    target = integrand(network.target)
    widest = min(step, spacing(target, 1.0, 0.0))
    # Odd functions: nothing changes where u, t and the label change their signs, and one sign of u serves.
    odd = network.noise == 0.0 and network.activation.parity == network.target.parity == "odd"
    rule = spike_rule(layers(target, 1.0, 0.0), widest, _COARSE_END, even=odd)
    y = np.asarray(target.values(rule.nodes), dtype=float)
    if network.noise == 0.0:
        return rule.nodes, rule.weights, y
    e = np.arange(-_COARSE_END, _COARSE_END + 0.5 * step, step)
    u = np.repeat(rule.nodes, len(e))
    noisy = (y[:, None] + math.sqrt(network.noise) * e).ravel()
    return u, np.outer(rule.weights, step * density(e)).ravel(), noisy


def equivalent_model(network: Network) -> Model:
    """The spiked random features with the network's r, c and gamma: rows isotropic, as in the paper."""
    after = stepped(network)
    return Model(
        network.activation, network.target, network.alpha, network.beta, network.ridge, network.noise,
        spike=after.spike, bulk=after.bulk, alignment=after.alignment,
        given_uncertainty=MapErrors(
            after.error * abs(after.spike), after.error * after.bulk, after.error * abs(after.alignment)
        ),
    )  # fmt: skip
