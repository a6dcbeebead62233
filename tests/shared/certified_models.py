"""Random models for the certificates, and the comparison with many digits (for tests only)."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
from flint import arb
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.certificates.certify import Certificate
from giantsteps.numerics.certificates.ranges.branch import Piece
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution

STUDENTS, TARGETS = ("sign", "erf", "tanh", "relu"), ("sign", "sin", "tanh")
VALUES = ("test_error", "training_error", "m", "zeta", "psi", "q1", "q2", "V1", "V2")
ANALYTIC = ("erf", "tanh")


def worked() -> Model:
    """tanh student, sin target: the worked value 0.1258656..."""
    return Model(
        activation("tanh"), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, spike=1.0, bulk=1.0, alignment=0.8
    )


def network(student: str, target: str, **changes: Any) -> Model:
    """On a network's own bulk, after the step of alpha0 = 2 and eta = 3."""
    step = {"alpha": 1.5, "beta": 1.0, "ridge": 0.1, "alpha0": 2.0, "eta": 3.0, **changes}
    return Model.from_gradient_step(student, target, bulk_model="network", **step)


def random_models(count: int, seed: int) -> Iterator[tuple[str, Model]]:
    """Every student with every target in turn; alignments +-1 in one model of seven."""
    rng = np.random.default_rng(seed)
    for i in range(count):
        student = STUDENTS[i % len(STUDENTS)]
        target = TARGETS[i // len(STUDENTS) % len(TARGETS)]
        alpha, beta = np.exp(rng.uniform(math.log(0.3), math.log(4.0), 2))
        alignment = rng.uniform(-0.99, 0.99)
        if i % 7 == 6:
            alignment = math.copysign(1.0, alignment)
        yield (
            student,
            Model(
                activation(student),
                activation(target),
                alpha=float(alpha),
                beta=float(beta),
                ridge=float(np.exp(rng.uniform(math.log(0.01), math.log(2.0)))),
                noise=float(rng.uniform(0.0, 0.3)),
                spike=float(rng.uniform(0.3, 2.5)),
                bulk=float(rng.uniform(0.5, 2.0)),
                alignment=float(alignment),
            ),
        )


def value_of(solution: Solution, name: str) -> Any:
    """A number of the solution of one group, by its name."""
    one = getattr(solution.order_parameters, name, None)
    return getattr(solution, name) if one is None else one.flat[0]


def outside(certificate: Certificate | Piece, solution: Solution) -> list[str]:
    """The quantities whose enclosure is further than 10^-(digits - 10) from the value of `solution`.

    The value's own check says 10^-digits; the radii of the enclosures are above 10^-39, far from the slack.
    """
    assert solution.digits is not None
    assert certificate.balls is not None
    with precision(4 * solution.digits), mp.workdps(solution.digits):
        slack = arb(10) ** -(solution.digits - 10)
        return [
            name
            for name, ball in certificate.balls.named().items()
            if not ball.overlaps(arb(mp.nstr(value_of(solution, name), solution.digits)) + arb(0, slack))
        ]
