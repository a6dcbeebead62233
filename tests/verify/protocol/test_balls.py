"""Functions that balls enclose beside those of the library: against quadrature and another library's values."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp
from flint import acb
from scipy import integrate, special

from onestep.verify.protocol.balls import NoBallError, enclose, owens_t, sign_product


@pytest.mark.parametrize(("h", "a"), [(0.0, 0.7), (0.4, 1.0), (-1.3, 0.25), (2.1, -3.0), (0.9, 12.0)])
def test_owens_function(h: float, a: float) -> None:
    found = owens_t(acb(h), acb(a))
    assert found.imag == 0
    # SciPy's function is good to double precision.
    assert float(found.real.mid()) == pytest.approx(special.owens_t(h, a), rel=1e-13)
    assert float(found.real.rad()) < 1e-15
    with pytest.raises(NoBallError):
        owens_t(acb(h), acb(a, 0.1))


@pytest.mark.parametrize(("h", "k", "rho"), [(0.0, 0.0, 0.6), (0.5, -1.2, 0.3), (-0.8, 0.4, -0.9), (1.5, 1.5, 0.0)])
def test_the_product_of_two_signs(h: float, k: float, rho: float) -> None:
    # Of Y given X the sign has the mean erf((k + rho x)/sqrt(2 (1 - rho^2))), and the sign of X + h turns at -h.
    def given(x: float) -> float:
        mean = special.erf((k + rho * x) / math.sqrt(2.0 * (1.0 - rho * rho)))
        return float(np.exp(-x * x / 2.0) / math.sqrt(2.0 * math.pi) * mean)

    above, below = (integrate.quad(given, *ends, epsabs=1e-13)[0] for ends in ((-h, 12.0), (-12.0, -h)))
    found = sign_product(acb(h), acb(k), acb(rho))
    assert found.imag == 0
    # Quadrature to 1e-13, and a tail of e^{-72}.
    assert float(found.real.mid()) == pytest.approx(above - below, abs=1e-12)
    for correlation in (1.0, -1.0):
        with pytest.raises(NoBallError):
            sign_product(acb(h), acb(k), acb(correlation))


def test_roots_of_even_order_and_no_others_are_enclosed() -> None:
    x = sp.Symbol("x", positive=True)
    for exponent in (sp.Rational(1, 2), sp.Rational(1, 4), sp.Rational(3, 2), sp.Rational(-1, 2), sp.Integer(3)):
        found = enclose(x**exponent, {x: 3})
        assert float(found.real.mid()) == pytest.approx(3.0 ** float(exponent), rel=1e-15)
        assert float(found.real.rad()) < 1e-14
    with pytest.raises(NoBallError):
        enclose(x ** sp.Rational(1, 3), {x: 3})
