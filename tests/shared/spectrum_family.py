"""A family of drawn models for the spectrum: 1 to 4 groups, with and without biases, alpha on both sides of beta."""

from __future__ import annotations

import math

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.models.model import Model, ReadoutGroup

MEMBERS = 150
STUDENTS = ("sign", "relu", "tanh", "erf", "hardtanh")


def drawn(seed: int) -> Model:
    """alpha in [0.2, 4], equal to beta for one model in seven and within 5 % of it for another; |spike| up to 4, bulk
    in [0.5, 3]."""
    rng = np.random.default_rng([5, seed])
    student, k = str(rng.choice(STUDENTS)), int(rng.integers(1, 5))
    beta = float(np.exp(rng.uniform(math.log(0.3), math.log(3.0))))
    kind = rng.random()
    if kind < 0.15:
        alpha = beta
    elif kind < 0.3:
        alpha = beta * (1.0 + rng.uniform(-0.05, 0.05))
    else:
        alpha = float(np.exp(rng.uniform(math.log(0.2), math.log(4.0))))
    fractions = rng.dirichlet(3.0 * np.ones(k))
    biased = rng.random() < 0.5
    groups = tuple(
        ReadoutGroup(
            float(rng.uniform(-1.0, 1.0)),
            float(fractions[i]) if i < k - 1 else 1.0 - math.fsum(fractions[:-1]),
            float(rng.uniform(0.5, 3.0)),
            float(rng.normal()) * 0.5 if biased else 0.0,
        )
        for i in range(k)
    )
    spike = float(rng.uniform(0.0, 4.0))
    return Model(
        activation(student), activation("sin"), min(max(alpha, 0.2), 4.0), beta, 0.1, spike=spike, bulk=1.0,
        alignment=0.8, readout=groups,
    )  # fmt: skip
