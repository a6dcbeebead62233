"""Gradient steps on the first layer at finite size, each on a batch of its own.

    W <- W + (eta~ d) (1/n0) sum_mu (y_mu - f(x_mu; a0, W)) (a0/sqrt(p)) o sigma'(W x_mu) x_mu^T,   a0 = u/sqrt(p),

the gradient of (1/(2 n0)) sum (y - f)^2, equation (3), with the full residual and no expansion; u is 1_p, or takes
the value of its readout group at each neuron. Biases are no part of f yet: they are added after the steps. The theory
knows one step; after it the network's output f(x; a0, W) is of order one, and further steps are simulated only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from numerics.evaluate import compile_numpy
from numerics.inputs import Inputs

if TYPE_CHECKING:
    from numerics.ensembles import Network

Array = NDArray[np.float64]


def gradient_step(
    network: Network,
    weights: Array,
    theta: Array,
    n0: int,
    inputs: Inputs,
    batch: np.random.Generator,
    rows: int,
    readout: Array | None = None,
) -> tuple[Array, Array]:
    """(change of the weights (p, d), the batch's sum of y x (d,)) for one step from `weights` on n0 fresh samples.

    `readout` is u (p,), by default 1_p. `rows` samples are in memory at a time. The draws are, in order, the label
    noise and the inputs.
    """
    from derivations.expressions.parser import derivative

    activation = network.activation
    sigma, slope = compile_numpy(activation.expression), compile_numpy(derivative(activation.expression))
    target = compile_numpy(network.target.expression)
    p, d = weights.shape
    change, direction = np.zeros((p, d)), np.zeros(d)
    labels_noise = np.sqrt(network.noise) * batch.standard_normal(n0)
    for start in range(0, n0, rows):
        x = inputs.draw(batch, min(rows, n0 - start), d)
        y = np.asarray(target(x @ theta)) + labels_noise[start : start + len(x)]
        h = x @ weights.T
        outputs = np.asarray(sigma(h))
        residual = y - (outputs.mean(axis=1) if readout is None else outputs @ readout / p)
        gradient = np.asarray(slope(h)) * residual[:, None]
        change += gradient.T @ x
        direction += y @ x
    if readout is not None:
        change *= readout[:, None]
    if n0:
        change *= network.eta * d / (p * n0)
    return change, direction
