"""What is known of the sign of a normal variable, against numbers."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.gradient_step import signs
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import AtLeast, sides
from giantsteps.derivations.kernel.theorem import replay
from giantsteps.derivations.language.expectation import Expectation
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


@pytest.mark.parametrize("lemma", signs.LEMMAS, ids=lambda lemma: lemma.name)
@pytest.mark.parametrize("at", [-1.3, 0.4])
def test_lemmas(lemma: object, at: float) -> None:
    """Both sides of each lemma at values of its symbols."""
    values = {symbol: sp.Float(abs(at) if symbol.is_positive else at) for symbol in lemma.universal}
    left, right = (side.xreplace(values) for side in sides(lemma.statement))
    if isinstance(left, Expectation):
        shift = float(next(iter(values.values())))
        found = averaged(left.integrand, -shift if left.has(sgn) else 0.0)
    else:
        found = float(left.replace(sgn, sp.sign))
    known = float(right.replace(sgn, sp.sign))
    assert found > known if isinstance(lemma.statement, AtLeast) else found == pytest.approx(known, abs=QUADRATURE)


@pytest.mark.parametrize("order", range(6))
def test_moments(order: int) -> None:
    theorem = replay(signs.moment_of_sign(order))
    assert float(value(theorem)) == pytest.approx(averaged(z**order * sgn(z), 0.0), abs=QUADRATURE)


def test_the_slope_of_a_mean_sign() -> None:
    theorem = replay(signs.slope_of_sign())
    found = averaged(z * sgn(z + 0.6), -0.6)
    assert float(value(theorem).subs(signs.shift, 0.6)) == pytest.approx(found, abs=QUADRATURE)
