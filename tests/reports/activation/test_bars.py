"""Bring your own activation: named activations by three routes, random expressions, mutants, adversarial functions."""

from __future__ import annotations

import json
import time
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis import strategies as st

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.closed_forms.heat_equation import closed_forms
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.balls.coefficients import (
    Certified,
    hermite_balls,
)
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.reports.activation.study import examine
from giantsteps.reports.command_line.cli import run
from giantsteps.verify.protocol.balls import enclose
from tests.references.integrals import integrals
from tests.references.wrong_forms import PROMISED

OPEN = ("tanh(z)", "silu(z)", "softplus(z)", "softsign(z)", "arctan(z)", "swish(z, 2)", "mish(z)", "sigmoid(z)")
# The slopes between the breakpoints, written by hand.
SLOPES = {
    "erf(z)": "2/sqrt(pi)*exp(-z**2)", "relu(z)": "step(z)", "leaky_relu(z, 1/10)": "1/10 + 9/10*step(z)",
    "elu(z)": "Piecewise((1, z > 0), (exp(z), True))", "hardtanh(z)": "step(z + 1) - step(z - 1)", "sin(z)": "cos(z)",
    "gelu(z)": "erfc(-z/sqrt(2))/2 + z*exp(-z**2/2)/sqrt(2*pi)", "cos(z)": "-sin(z)", "he3(z)": "3*z**2 - 3",
    "he5(z)": "5*z**4 - 30*z**2 + 15",
    "z**3 - 2*z": "3*z**2 - 2", "exp(-z**2)": "-2*z*exp(-z**2)", "Abs(z)": "sign(z)", "tanh(z)": "1/cosh(z)**2",
    "silu(z)": "sigmoid(z)*(1 + z*(1 - sigmoid(z)))", "softplus(z)": "sigmoid(z)", "arctan(z)": "1/(1 + z**2)",
    "softsign(z)": "1/(1 + Abs(z))**2", "swish(z, 2)": "sigmoid(2*z)*(1 + 2*z*(1 - sigmoid(2*z)))",
    "mish(z)": "tanh(softplus(z)) + z*sigmoid(z)/cosh(softplus(z))**2", "sigmoid(z)": "sigmoid(z)*(1 - sigmoid(z))",
}  # fmt: skip
SEED = 20261120
# Counted operations end an examination, after about ten seconds, before its processor time of sixty does.
MOST_SECONDS = 50.0


def midpoint(certified: Certified) -> Any:
    """The midpoint of a ball as an mpmath number."""
    with precision(max(certified.bits, 64) + 32):
        return mpmath.mpf(str(certified.required().mid().str(60, radius=False)))


# ---- named activations, three routes --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [*PROMISED, *OPEN])
def test_three_routes_agree_on_every_named_activation(text: str) -> None:
    sigma = activation(text)
    balls = hermite_balls(sigma, bits=128)
    assert max(balls.h1.radius, balls.h2.radius) < 1e-30  # what 128 bits promise
    assert balls.h1_check.infinite or balls.h1_check.radius < 1e-30
    # Route two: composite Gauss rules in mpmath on the test's own reading of the text; its error is its own estimate.
    with mpmath.workdps(40):
        first, second = integrals(text, [lambda p: p[0] * p[1], lambda p: p[1] ** 2])
        pairs = [(balls.h1, first), (balls.h2, second)]
        if text in SLOPES:
            ((second_moment, error),) = integrals(SLOPES[text], [lambda p: p[1] ** 2])
            pairs.append((balls.h1_check, (second_moment - first[0] ** 2, error + 4 * first[1])))
        else:
            assert balls.h1_check.infinite  # sign and step jump: their slope has a Dirac part
        for ball, (value, error) in pairs:
            assert abs(midpoint(ball) - value) <= 10 * error + mpmath.mpf(10) ** -28
            assert error < mpmath.mpf(10) ** -18
    # Route three: the closed form, exactly, where there is one; and double-precision quadrature (1e-12: rounding of
    # some hundred terms).
    if text in PROMISED:
        forms = closed_forms(sigma)
        with precision(152):
            assert enclose(forms.h1, {}).real.overlaps(balls.h1.required())
            assert enclose(forms.h2, {}).real.overlaps(balls.h2.required())
            if not balls.h1_check.infinite:
                assert enclose(forms.h1_check, {}).real.overlaps(balls.h1_check.required())
            else:
                assert forms.h1_check == sp.oo
    constants = hermite_constants(sigma)
    for ball, value in ((balls.h1, constants.h1), (balls.h2, constants.h2), (balls.h1_check, constants.h1_check)):
        if ball.ball is None:
            assert ball.infinite
            assert np.isinf(value)
        else:
            assert value == pytest.approx(ball.value, abs=1e-12 * max(1.0, constants.h2))


# ---- random expressions ---------------------------------------------------------------------------------------------


_NUMBERS = st.sampled_from(["1", "2", "1/2", "-1", "3/4", "-2/3", "0.3", "pi"])
_LEAVES = st.one_of(st.just("z"), st.just("z"), _NUMBERS, st.builds("({}*z + {})".format, _NUMBERS, _NUMBERS))
_UNARY = (
    "sin({})", "cos({})", "tanh({})", "atan({})", "asinh({})", "erf({})", "erfc({})", "sign({})", "Heaviside({})",
    "Abs({})", "sigmoid({})", "softplus({})", "gelu({})", "silu({})", "relu({})", "hardtanh({})", "softsign({})",
    "leaky_relu({}, 1/10)", "elu({})", "mish({})", "exp(-({})**2)", "sqrt(1 + ({})**2)", "log(1 + ({})**2)", "({})**2",
    "({})**3", "1/(1 + ({})**2)", "exp({})", "1/cosh({})", "sinh({})",
)  # fmt: skip
_BINARY = (
    "({} + {})", "({} - {})", "({})*({})", "Max({}, {})", "Min({}, {})", "Piecewise(({0}, {1} > 0), ({1}, True))",
)  # fmt: skip


def _grown(children: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds(str.format, st.sampled_from(_UNARY), children),
        st.builds(str.format, st.sampled_from(_BINARY), children, children),
    )


EXPRESSIONS = st.recursive(_LEAVES, _grown, max_leaves=4).filter(lambda text: "z" in text)


# A failing expression is short enough to be read as it is: shrinking would take minutes.
@seed(SEED)
@settings(max_examples=8, deadline=None, database=None, phases=(Phase.generate,),
          suppress_health_check=list(HealthCheck))  # fmt: skip
@given(EXPRESSIONS)
def test_random_expressions(text: str) -> None:
    """No traceback, no hang, no wrong digit: h1, h2 and s_2 within the error that the reference estimates of itself."""
    start = time.process_time()
    try:
        sigma = activation(text)
    except ExpressionError:
        assume(False)
    found = examine(sigma)
    assert json.dumps(found.as_dict(), allow_nan=False)
    assert time.process_time() - start < MOST_SECONDS, text
    factors = [lambda p: p[0] * p[1], lambda p: p[1] ** 2, lambda p: (p[0] ** 2 - 1) * p[1] / mpmath.sqrt(2)]
    with mpmath.workdps(40):
        for (value, error), coefficient in zip(
            integrals(text, factors), (found.means["h1"], found.means["h2"], found.hermite[2]), strict=True
        ):
            decided = coefficient.zero or coefficient.certified.ball is not None
            if decided and error <= mpmath.mpf(10) ** -10 * (1 + abs(value)):
                mid = mpmath.mpf(0) if coefficient.zero else midpoint(coefficient.certified)
                assert abs(mid - value) <= 100 * error + mpmath.mpf(10) ** -26 * (1 + abs(value)), (text, mid, value)


# ---- adversarial functions through the command line -----------------------------------------------------------------


def page(capfd: pytest.CaptureFixture[str], *args: str, code: int | tuple[int, ...] = 0) -> dict[str, Any]:
    """The JSON document of `giantsteps activation`, which ends with ``code`` (or one of them), without a time limit."""
    capfd.readouterr()
    start = time.process_time()
    ended = run(["activation", *args, "--json"])
    assert time.process_time() - start < MOST_SECONDS
    out, err = capfd.readouterr()
    assert ended in (code if isinstance(code, tuple) else (code,))
    assert err == ""
    found: dict[str, Any] = json.loads(out, parse_constant=lambda name: pytest.fail(name))
    return found


def number(entry: dict[str, Any]) -> Any:
    """The midpoint of a printed ball."""
    return mpmath.mpf(entry["ball"].strip("[").split(" ")[0])


def test_what_double_precision_cannot_weigh_is_undecided(capfd: pytest.CaptureFixture[str]) -> None:
    # 1 + erf(z - 40) is 1e-232 where a Gaussian has its weight: certified, but zero in double precision.
    found = page(capfd, "erf(z - 40) + 1", code=3)
    with mpmath.workdps(900):
        mean = mpmath.erfc(40 / mpmath.sqrt(3))
        assert abs(number(found["coefficients"]["hermite"][0]) / mean - 1) < mpmath.mpf(10) ** -28
    assert found["coefficients"]["h2"]["digits"] == 30  # by the proved closed form: the integration has no ball
    assert "bounds" in found["undecided"]
    assert not found["complete"]
    assert "zero in double precision" in found["bounds"]["why"]


def test_fast_oscillation(capfd: pytest.CaptureFixture[str]) -> None:
    found = page(capfd, "sin(200*z)", code=3)
    with mpmath.workdps(40):
        h1 = 200 * mpmath.exp(-20000)  # E[200 cos(200 z)]
        assert abs(number(found["coefficients"]["h1"]) / h1 - 1) < mpmath.mpf(10) ** -28
    # mu0 is proportional to sin(200 r kappa) with a factor exp(-20000): its direction is lost in double precision.
    assert found["bounds"]["upper"] is None
    assert found["undecided"] == ["bounds"]


def test_what_is_not_finished_is_said_with_exit_code_three(capfd: pytest.CaptureFixture[str]) -> None:
    # A tenth of a second is not enough for the closed forms of this product of four factors.
    hard = activation("gelu(z)*sin(3*z)*exp(-z**2)*(z**5 + z)")
    for limit in ({"operations": 200_000}, {"seconds": 0.1}):
        found = examine(hard, **limit)
        assert not found.complete
        assert found.unfinished
        assert json.dumps(found.as_dict(), allow_nan=False)


def test_a_figure_of_unknown_format_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["activation", "tanh", "--plot", "figure.gif"]) == 2
    assert ".svg" in capfd.readouterr().err
