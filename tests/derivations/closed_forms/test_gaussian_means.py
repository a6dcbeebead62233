"""Means of functions of a normal variable: theorems, which survive a replay, against sums over a grid."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest
import sympy as sp

import giantsteps.numerics.gaussian.evaluate  # noqa: F401  activations are evaluated there
from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.closed_forms import gaussian_means as means
from giantsteps.derivations.closed_forms.examples import ACTIVATIONS
from giantsteps.derivations.closed_forms.sign_products import mean_of_product
from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.kernel.statements import Refused, sides
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.derivations.kernel.vacuity.established import established
from giantsteps.derivations.language.named_functions import sgn

# The trapezoidal rule, exact to rounding for what is entire; a sign jumps between two nodes, which costs up to half a
# step times the density times the jump.
NODES = np.arange(-9.0, 9.0, 1e-3) + 5e-4
WEIGHTS = 1e-3 * np.exp(-(NODES**2) / 2) / math.sqrt(2 * math.pi)
ROUNDING, JUMP = 1e-11, 2e-3
AT = {s.x: 0.37, s.c: 0.61}

SMOOTH: dict[str, Callable[[], Theorem]] = {
    "erf": means.mean_of_erf,
    "erf below": means.mean_of_erf_below,
    "erf squared": means.mean_of_erf_square,
    "bell": means.mean_of_bell,
    "sine": means.mean_of_sine,
    "cosine": means.mean_of_cosine,
    "sine squared": means.mean_of_sine_square,
    "erf times erf": lambda: mean_of_product(sp.Integer(1)),
}


def _numbers(theorem: Theorem) -> tuple[float, float]:
    average, right = sides(theorem.statement)
    at = {**AT, means.squeeze: 1.7}
    function = sp.lambdify(s.z, average.integrand.xreplace(at).replace(sgn, sp.sign), ["scipy", "numpy"])
    return float(WEIGHTS @ function(NODES)), float(sp.N(right.xreplace({k: sp.Float(v, 20) for k, v in at.items()})))


@pytest.mark.parametrize("name", SMOOTH)
@pytest.mark.parametrize("power", [0, 1, 2])
def test_smooth_means(name: str, power: int) -> None:
    if name == "erf times erf" and power > 0:  # B has no slopes in the kernel
        with pytest.raises(Refused):
            means.with_power(SMOOTH[name](), power)
        return
    found, known = _numbers(replay(means.with_power(SMOOTH[name](), power)))
    assert known == pytest.approx(found, abs=ROUNDING)


@pytest.mark.parametrize(
    "theorem", [*(means.with_power(means.mean_of_sign(), k) for k in range(4)), means.exponential_with_sign()]
)
def test_means_with_a_sign(theorem: Theorem) -> None:
    found, known = _numbers(replay(theorem))
    assert known == pytest.approx(found, abs=JUMP)


@pytest.mark.parametrize("text", sorted(ACTIVATIONS))
def test_an_activation_is_what_its_text_says(text: str) -> None:
    written = text.replace("q*", "0.25*").replace("ell", "0.25")
    v = sp.Symbol("v", real=True)
    term = ACTIVATIONS[text](v).subs({s.leak: sp.Rational(1, 4), s.sharpness: sp.Rational(1, 4)})
    function = sp.lambdify(v, term.replace(sgn, sp.sign), ["scipy", "numpy"])
    places = np.array([-2.3, -1.2, -0.4, 0.3, 0.9, 1.7])
    assert np.asarray(activation(written)(places)) == pytest.approx(function(places), abs=ROUNDING)


def test_a_weight_that_does_not_narrow_is_refused() -> None:
    with pytest.raises(Refused):
        established(means.mean_of_bell(sp.Symbol("k", negative=True)))
