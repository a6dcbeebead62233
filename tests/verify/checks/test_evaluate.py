"""The verifier's own evaluator of statements."""

from __future__ import annotations

import math

import numpy as np
import pytest
import sympy as sp

from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.symbols import alpha, c, kappa, z
from onestep.verify.checks.evaluate import evaluate


def test_symbols_and_special_functions() -> None:
    value = evaluate(sp.erf(c) * sp.sqrt(alpha), {"c": 0.5, "alpha": 4.0})
    assert value == pytest.approx(2 * math.erf(0.5), rel=1e-15)  # one multiplication


def test_expectations_against_closed_forms() -> None:
    # E cos(a z) = exp(-a^2/2); E over two variables of a function of their sum, variance 2.
    assert evaluate(Expectation(sp.cos(alpha * z), z), {"alpha": 1.3}) == pytest.approx(
        math.exp(-(1.3**2) / 2), rel=1e-13
    )
    double = Expectation(sp.cos(z + kappa), kappa, z)
    assert evaluate(double, {}) == pytest.approx(math.exp(-1), rel=1e-13)


def test_undefined_functions_take_implementations() -> None:
    mu0 = sp.Function("mu0")(kappa)
    assert evaluate(Expectation(mu0**2, kappa), {}, {"mu0": lambda k: k}) == pytest.approx(1, rel=1e-13)
    assert evaluate(Expectation(mu0, kappa) ** 2, {}, {"mu0": np.tanh}) == pytest.approx(0, abs=1e-15)


def test_a_missing_value_is_named() -> None:
    with pytest.raises(ValueError, match="alpha"):
        evaluate(alpha * c, {"c": 1.0})
