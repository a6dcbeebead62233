"""What the closed forms of the bounds rest on, each against its integral."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from giantsteps.derivations.bounds import arcsines
from giantsteps.derivations.closed_forms.arcsine_law import SCALES, arcsine_law
from giantsteps.derivations.gradient_step.signs import mean_error_function
from giantsteps.derivations.kernel.search.steps import value
from giantsteps.derivations.kernel.statements import Refused
from giantsteps.derivations.kernel.terms import admit

# The trapezoidal rule for a normal law: for what is analytic, in a strip of width one at least, its error at this step
# is below exp(-2 pi/0.05), and what is left out beyond nine standard deviations below 1e-18.
NODES = np.arange(-9.0, 9.0, 0.05)
WEIGHTS = 0.05 * np.exp(-(NODES**2) / 2) / math.sqrt(2 * math.pi)
ROUNDING = 1e-13  # of a sum of some hundred terms below one
erf = np.vectorize(math.erf)


@pytest.mark.parametrize(("a", "b"), [(1.0, 1.0), (0.3, 2.0), (-0.7, 0.4)])
def test_the_arcsine_law(a: float, b: float) -> None:
    said = value(arcsine_law()).subs(dict(zip(SCALES, (a, b), strict=True)))
    # erf(2 x) is analytic, and grows in a strip of width one like exp(4 - 4 x^2) at most.
    assert float(said) == pytest.approx(WEIGHTS @ (erf(a * NODES) * erf(b * NODES)), abs=ROUNDING)


@pytest.mark.parametrize(("t", "size"), [(0.8, 0.5), (-1.5, 2.0)])
def test_erf_and_sign_smoothed(t: float, size: float) -> None:
    at = {sp.Symbol("t", real=True): t, sp.Symbol("s", nonnegative=True): size}
    mean = WEIGHTS @ erf(t + math.sqrt(size) * NODES)
    assert float(value(mean_error_function()).subs(at)) == pytest.approx(mean, abs=ROUNDING)
    # The probability that t + sqrt(s) z is positive, less that it is negative.
    tail = math.erfc(-t / math.sqrt(2 * size)) / 2
    assert float(value(arcsines.OF_SIGN).subs(at)) == pytest.approx(2 * tail - 1, abs=ROUNDING)


def test_an_arcsine_of_what_may_exceed_one_leaves_a_condition() -> None:
    assert arcsine_law().conditions
    for foreign in (sp.acos(sp.Symbol("x", real=True)), sp.asin(sp.I)):
        with pytest.raises(Refused):
            admit(foreign)


def test_a_wrong_argument_does_not_follow() -> None:
    scale = sp.Symbol("s", positive=True)
    with pytest.raises(Refused):
        arcsines.arcsine(scale, scale, scale**2 / (1 + 2 * scale**2))
