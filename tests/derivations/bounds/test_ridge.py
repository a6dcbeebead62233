"""The bounds of Section 4.3 at worked values."""

from __future__ import annotations

import math

import pytest
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bounds import closed_form as bounds_closed_form
from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.kernel.algebra import assume
from giantsteps.derivations.kernel.limits import limit_order, squeeze
from giantsteps.derivations.kernel.search.goals import limit_of
from giantsteps.derivations.kernel.statements import Assumption, AtLeast, Ground, Tends
from giantsteps.derivations.kernel.theorem import Theorem, replay
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.evaluate import evaluate
from giantsteps.verify.claims.bounds.ridge import lower, upper
from giantsteps.verify.second_route.models import functions_of


def test_sign_learning_sign_at_unit_spike() -> None:
    # r = c = gamma = 1: <g, mu0> = (2/pi) arcsin(1/sqrt 2) = 1/2 and |mu0|^2 = (2/pi) arcsin(1/2) = 1/3,
    # hence 1 - (1/4)/(1/3).
    at = {s.r: 1, s.c: 1, s.gamma: 1}
    error = bounds_closed_form.sign_target().results[s.error_infinity]
    assert sp.nsimplify(error.subs(at)) == sp.Rational(1, 4)


def test_a_strong_spike_makes_sign_perfect() -> None:
    error = bounds_closed_form.sign_target().results[s.error_infinity].subs({s.c: 1, s.gamma: 1})
    # arcsin(1 - x) = pi/2 - sqrt(2x) + ...: the error decays like 1/r, below 1e-3 at r = 1e4.
    assert 0 < float(error.subs(s.r, 10**4)) < 1e-3


def test_erf_learns_erf_perfectly_at_its_spike() -> None:
    error = bounds_closed_form.erf_target().results[s.error_infinity]
    spike = bounds_closed_form.perfect_spike().results[s.spike_perfect]
    assert error.subs({s.r: spike}).subs(s.c, 1) == 0
    rate = bounds_closed_form.perfect_rate().results[s.eta_perfect]
    assert float(rate.subs(s.beta, 1)) == pytest.approx(3 * math.sqrt(3) * math.pi / 4)


def test_the_figure_of_the_slides() -> None:
    # c = gamma = 1, r = 0.9, tanh learning sin: 0.0291049 and 0.0016691, by quadrature independently of this code.
    model = Model(
        activation("tanh(z)"), activation("sin(z)"), alpha=1.0, beta=1.0, ridge=1.0, spike=0.9, bulk=1.0, alignment=1.0
    )
    functions, values = functions_of(model), {s.noise.name: 0.0}
    assert evaluate(upper, values, functions) == pytest.approx(0.0291049, abs=5e-8)  # half a unit of the last digit
    # mu1 z is orthogonal to a target that is a function of kappa: both forms of the lower bound agree.
    assert evaluate(lower, values, functions) == pytest.approx(0.0016691, abs=5e-8)


def test_weak_inequalities_pass_to_limits_and_what_lies_between_has_them() -> None:
    low, high, x = sp.symbols("l u x", real=True)
    N = sp.Symbol("N", positive=True)

    def taken(left: sp.Expr, right: sp.Expr) -> Theorem:
        said = AtLeast(left, right)
        return assume((), Assumption(Ground.HYPOTHESIS, f"{left}>={right}", said, "for a test", frozenset({N})))

    from_above, from_below = limit_of(high + 1 / N, N), limit_of(high - 1 / N, N)
    assert limit_order((taken(high + 1 / N, low), from_above), N).statement == AtLeast(high, low)
    between = squeeze((taken(high + 1 / N, x), taken(x, high - 1 / N), from_above, from_below))
    replay(between)
    assert between.statement == Tends(x, high, N)
