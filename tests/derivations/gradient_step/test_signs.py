"""What is known of the sign of a normal variable, against numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.gradient_step import signs
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.theorem import replay
from giantsteps.derivations.language.named_functions import sgn
from giantsteps.derivations.language.symbols import z

QUADRATURE = 1e-12  # 80 nodes on each side of the jump, for entire functions
NODES, WEIGHTS = np.polynomial.legendre.leggauss(80)


def averaged(integrand: sp.Expr, jump: float) -> float:
    """E over a standard normal variable, by panels on either side of a jump."""
    function = sp.lambdify(z, integrand.replace(sgn, sp.sign), ["numpy"])
    total = 0.0
    for low, high in ((-12.0, jump), (jump, 12.0)):
        points = (high - low) / 2 * NODES + (high + low) / 2
        density = np.exp(-(points**2) / 2) / math.sqrt(2 * math.pi)
        total += float((high - low) / 2 * WEIGHTS @ (function(points) * density))
    return total


@pytest.mark.parametrize("order", range(6))
def test_moments(order: int) -> None:
    theorem = replay(signs.moment_of_sign(order))
    assert float(value(theorem)) == pytest.approx(averaged(z**order * sgn(z), 0.0), abs=QUADRATURE)
