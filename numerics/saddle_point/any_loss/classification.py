"""The classification error: P(sign of the prediction != target), for a target in {-1, 1}.

Along the spike that is a step where the mean output changes sign, as steep as the output is quiet: at a large ridge no
rule that was made for the features sees it. `sign_changes` says where the rule has to be finer.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.coefficients import conditional_moments_of
from giantsteps.numerics.gaussian.quadrature import integrand
from giantsteps.numerics.gaussian.spike_rule import Layer
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.any_loss.envelope import blind_nodes
from giantsteps.numerics.saddle_point.any_loss.sample_averages import normal_cdf
from giantsteps.numerics.saddle_point.any_loss.sample_panels import Rows, crosses, label_rule, looks
from giantsteps.numerics.saddle_point.any_loss.system import System

Array = NDArray[np.float64]

# A variance of less than this is none.
_LEAST = 1e-300
# A step that is blurred over more than this needs no place of its own.
_WIDE = 1.0
# Over this share of the distance between two nodes the slope at a root is taken: errors of its square.
_NEAR = 1e-3


def sign_changes(system: System, x: Array) -> tuple[Layer, ...]:
    """Where the mean output changes sign along a spike of one direction, and how far that is blurred: by what of the
    output is noise given z, and by what z moves it.

    x: the unknowns of the system at its saddle point. Along several directions no place is told.
    """
    if system.table.rank > 1:
        return ()
    from scipy.optimize import brentq

    at, kappa = system.output(x), system.table.kappa
    yhat, noise = at.yhat, np.sqrt(np.maximum(at.variance - at.across**2, _LEAST))
    if kappa[0] >= 0.0:  # one half of a rule: on the other one the mean is the same up to its sign
        first = kappa[kappa > 0.0][0]
        sign = -1.0 if system.model.activation.parity == "odd" else 1.0
        turned = ((kappa, -1.0), (yhat, sign), (noise, 1.0))
        kappa, yhat, noise = (np.append(v[kappa == first] * by, v) for v, by in turned)
    apart, risen, quiet = np.diff(kappa), np.abs(np.diff(yhat)), np.minimum(noise[1:], noise[:-1])
    moved = np.interp(kappa, system.table.kappa, np.abs(at.across))
    found = []
    for k in np.flatnonzero((yhat[1:] * yhat[:-1] <= 0.0) & (apart > 0.0) & (quiet * apart < _WIDE * risen)):
        place = float(brentq(lambda t: float(_mean_output(system, x, np.array([t]))[0]), kappa[k], kappa[k + 1]))
        below, above = _mean_output(system, x, place + apart[k] * np.array([-_NEAR, _NEAR]))
        slope = abs(float(above - below)) / (2.0 * _NEAR * float(apart[k]))
        widths = (float(width) / slope if slope > 0.0 else _WIDE for width in (quiet[k], moved[k]))
        found += [Layer(place, width) for width in widths if width < _WIDE]
    return tuple(found)


def _mean_output(system: System, x: Array, kappa: Array) -> Array:
    """yhat at any kappa: the sum of m_a mu0_a, zeta_a kappa mu1_a and, where norms vary, chi_a dmu0_a/dc_a."""
    model = system.model
    _, m, overlaps, _ = system.split(x)
    zeta, chi = overlaps[: len(m)], overlaps[len(m) : len(system.table.along)]
    total = np.zeros(len(kappa))
    for a, line in enumerate(zip(model.slopes, model.bulks, model.biases, strict=True)):
        at = conditional_moments_of(model.activation, *line, kappa, accept=math.inf)
        total += m[a] * at.mean + zeta[a] * kappa * at.slope / math.sqrt(line[1])
        total += chi[a] * at.curvature / (2.0 * line[1]) if len(chi) else 0.0
    return total


def classification_error(
    model: Model, place: Array, along: Array, yhat: Array, across: Array, variance: Array
) -> float:
    """P(sign omega != g) for a target in {-1, 1}: omega is Gaussian given z, and the rule is one in z."""
    scale = math.sqrt(model.remainder)
    if scale == 0.0:
        nodes, deviation = blind_nodes(len(place)), np.sqrt(np.maximum(variance, _LEAST))
        g = integrand(model.target).values(place)
    else:
        deviation = np.sqrt(np.maximum(variance - across**2, _LEAST))

        def too_wide(row: Rows, left: Array, right: Array) -> NDArray[np.bool_]:
            rows, z = looks(row, left, right)
            mean = (yhat[rows] + across[rows] * z) / deviation[rows]
            return crosses(mean, (0.0,))

        labels = label_rule(model.target, place, scale, along)
        nodes = labels.nodes(0, too_wide)
        g = labels.labels(nodes.row, nodes.place)
    row, z = nodes.row, nodes.place
    right = normal_cdf(g * (yhat[row] + across[row] * z) / deviation[row])
    return float(along @ nodes.sums(nodes.weight * (1.0 - right)))
