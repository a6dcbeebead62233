"""Bring your own activation: named activations by three routes, random expressions, mutants, adversarial functions."""

from __future__ import annotations

import json
import random
import time
from collections import Counter
from fractions import Fraction
from pathlib import Path
from typing import Any

import mpmath
import numpy as np
import pytest
import sympy as sp
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

import giantsteps.reports.activation.curves
from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.closed_forms.gaussian_class import Member, NotInClassError, member
from giantsteps.derivations.closed_forms.heat_equation import ClosedForm, closed_forms, heat_obligations, square, x
from giantsteps.derivations.expressions.tree import ExpressionError
from giantsteps.derivations.language.symbols import c
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.coefficients import (
    Certified,
    conditional_balls,
    hermite_balls,
    hermite_coefficients_ball,
)
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.reports.activation.curves import Curves
from giantsteps.reports.activation.learning import bounds_at, with_best_spike
from giantsteps.reports.activation.study import examine
from giantsteps.reports.command_line.cli import run
from giantsteps.verify.closed_forms.class_algebra import vanishes_in_class
from giantsteps.verify.closed_forms.proof import prove
from giantsteps.verify.protocol.balls import NoBallError, enclose
from giantsteps.verify.protocol.evidence import Outcome
from tests.planting.closed_forms import wrong_forms
from tests.references.integrals import integrals

CLOSED = (
    "erf(z)", "sign(z)", "step(z)", "relu(z)", "leaky_relu(z, 1/10)", "elu(z)", "gelu(z)", "hardtanh(z)", "sin(z)",
    "cos(z)", "he3(z)", "z**3 - 2*z", "exp(-z**2)", "Abs(z)",
)  # fmt: skip
OPEN = ("tanh(z)", "silu(z)", "softplus(z)", "softsign(z)", "arctan(z)", "swish(z, 2)", "mish(z)", "sigmoid(z)")
# The slopes between the breakpoints, written by hand.
SLOPES = {
    "erf(z)": "2/sqrt(pi)*exp(-z**2)", "relu(z)": "step(z)", "leaky_relu(z, 1/10)": "1/10 + 9/10*step(z)",
    "elu(z)": "Piecewise((1, z > 0), (exp(z), True))", "hardtanh(z)": "step(z + 1) - step(z - 1)", "sin(z)": "cos(z)",
    "gelu(z)": "erfc(-z/sqrt(2))/2 + z*exp(-z**2/2)/sqrt(2*pi)", "cos(z)": "-sin(z)", "he3(z)": "3*z**2 - 3",
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


@pytest.mark.parametrize("text", [*CLOSED, *OPEN])
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
    if text in CLOSED:
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


@pytest.mark.parametrize("text", [*CLOSED, *OPEN])
def test_balls_at_two_precisions_and_the_hermite_series(text: str) -> None:
    sigma = activation(text)
    low, high = hermite_coefficients_ball(sigma, 12, bits=96), hermite_coefficients_ball(sigma, 12, bits=160)
    with precision(200):
        for coarse, fine in zip(low, high, strict=True):
            assert coarse.required().overlaps(fine.required())
            assert coarse.required().contains(fine.required().mid()) or coarse.required() == fine.required()
    # Bessel's inequality: the series of h2 stays below it, and its first terms are most of it (0.85 for sign).
    h2, partial = hermite_balls(sigma, bits=96).h2.value, sum(s.value**2 for s in low)
    assert 0.8 * h2 < partial <= h2 * (1 + 1e-14)


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


def check_expression(text: str, places: int, counts: Counter[str]) -> None:
    """No traceback, no hang, no wrong digit, closed forms in their balls; `counts` tells what became of it."""
    start = time.process_time()
    try:
        sigma = activation(text)
    except ExpressionError:
        counts["refused"] += 1
        assert time.process_time() - start < MOST_SECONDS, text
        return
    found = examine(sigma)
    document = json.dumps(found.as_dict(), allow_nan=False)
    assert time.process_time() - start < MOST_SECONDS, text
    assert document
    counts["examined"] += 1
    counts["out of time"] += not found.complete
    counts["proved"] += found.formulas.status == "proved"
    compare_with_reference(text, found, counts)
    if found.formulas.status == "proved":
        counts["places"] += compare_with_balls(text, found.formulas.found, places)


def compare_with_reference(text: str, found: Any, counts: Counter[str]) -> None:
    """h1, h2 and s_2 against the reference, within the error that it estimates of itself."""
    factors = [lambda p: p[0] * p[1], lambda p: p[1] ** 2, lambda p: (p[0] ** 2 - 1) * p[1] / mpmath.sqrt(2)]
    with mpmath.workdps(40):
        for (value, error), coefficient in zip(
            integrals(text, factors), (found.h1, found.h2, found.hermite[2]), strict=True
        ):
            if coefficient.certified.ball is None and not coefficient.zero:
                counts["undecided or infinite"] += 1
                continue
            if error > mpmath.mpf(10) ** -10 * (1 + abs(value)):
                counts["beyond the reference"] += 1
                continue
            mid = mpmath.mpf(0) if coefficient.zero else midpoint(coefficient.certified)
            slack = 100 * error + mpmath.mpf(10) ** -26 * (1 + abs(value))
            assert abs(mid - value) <= slack, (text, mid, value)
            counts["compared"] += 1


def compare_with_balls(text: str, forms: dict[str, ClosedForm], places: int) -> int:
    """The closed forms overlap the balls of their definition at random (x, c)."""
    generator = random.Random(text)
    sigma, compared = activation(text), 0
    for _ in range(places):
        place, bulk = Fraction(generator.randint(-200, 200), 100), Fraction(generator.randint(10, 200), 100)
        if any(not form.valid_below > sp.Rational(bulk.numerator, bulk.denominator) for form in forms.values()):
            continue
        try:
            balls = conditional_balls(sigma, spike=1, bulk=bulk, kappa=place, bits=80, operations=5_000_000)
            mu0, mu1 = balls.mu0.required(), balls.mu1.required()
        except BallError:
            continue
        with precision(120):
            of = {"mu0": mu0, "mu1": mu1}
            if balls.mu2_squared.ball is not None:
                of["second_moment"] = balls.mu2_squared.ball + mu0 * mu0 + mu1 * mu1 * bulk.numerator / bulk.denominator
            for name in of.keys() & forms.keys():
                try:
                    closed = enclose(forms[name].expression, {x: place, c: bulk})
                except NoBallError:
                    continue
                assert closed.real.overlaps(of[name]), (text, name, place, bulk)
                assert closed.imag.contains(0), (text, name)
        compared += 1
    return compared


# A failing expression is short enough to be read as it is: shrinking would take minutes.
_PHASES = (Phase.explicit, Phase.generate)
_FAST: Counter[str] = Counter()
_THOROUGH: Counter[str] = Counter()


@seed(SEED)
@settings(max_examples=16, deadline=None, database=None, phases=_PHASES, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS)
def test_random_expressions(text: str) -> None:
    check_expression(text, 3, _FAST)


@pytest.mark.thorough
@seed(SEED + 1)
@settings(max_examples=300, deadline=None, database=None, phases=_PHASES, suppress_health_check=list(HealthCheck))
@given(EXPRESSIONS)
def test_three_hundred_random_expressions(text: str) -> None:
    check_expression(text, 20, _THOROUGH)


@pytest.mark.thorough
def test_most_random_expressions_are_examined_and_compared() -> None:
    # Runs after the three hundred: a strategy whose expressions are all refused would test nothing.
    print(dict(_THOROUGH))
    assert _THOROUGH["compared"] > _THOROUGH["examined"] > 100
    assert _THOROUGH["proved"] > 30


# ---- mutants --------------------------------------------------------------------------------------------------------


def _refuse_mutants(form: ClosedForm, function: Member, text: str) -> None:
    for name, mutant in wrong_forms(form.expression).items():
        if vanishes_in_class(mutant - form.expression):
            continue  # the same function in other words, such as a constant without c
        proof = prove(ClosedForm(mutant, form.valid_below, heat_obligations(mutant, function)), name)
        assert proof.outcome is not Outcome.SUPPORTS, (text, name)


@pytest.mark.parametrize("text", ["sign(z)", "relu(z)", "sin(z)", "he3(z)", "exp(-z**2)"])
def test_mutants_of_second_moments_fail_their_proof(text: str) -> None:
    _refuse_mutants(closed_forms(activation(text)).second_moment, square(member(activation(text))), text)


@pytest.mark.thorough
@pytest.mark.parametrize("text", [*CLOSED, "he5(z)", "leaky_relu(z, 1/3)", "exp(z**2/5)", "Max(z - 1/10**9, 0)"])
def test_mutants_of_every_closed_form_fail_their_proof(text: str) -> None:
    function, forms = member(activation(text)), closed_forms(activation(text))
    _refuse_mutants(forms.mu0, function, text)
    _refuse_mutants(forms.second_moment, square(function), text)


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


def test_narrow_spike_far_out(capfd: pytest.CaptureFixture[str]) -> None:
    found = page(capfd, "exp(-(z-8)**2*10**6)")
    with mpmath.workdps(40):
        # The product of two Gaussian densities, by hand: variance v at 8 against the standard normal one.
        v = mpmath.mpf(1) / (2 * 10**6)
        h1 = mpmath.sqrt(v / (1 + v)) * mpmath.exp(-mpmath.mpf(32) / (1 + v)) * 8 / (1 + v)
        assert abs(number(found["coefficients"]["h1"]) / h1 - 1) < mpmath.mpf(10) ** -28

        # dist^2(g, span mu0) at r = c = 1, by hand: mu0 is proportional to the bell of sharpness a/(1 + 2a) at 8.
        def mean(sharpness: Any) -> Any:  # E exp(-sharpness (kappa - 8)^2)
            return mpmath.exp(-64 * sharpness / (1 + 2 * sharpness)) / mpmath.sqrt(1 + 2 * sharpness)

        narrow = mpmath.mpf(10) ** 6
        wide = narrow / (1 + 2 * narrow)
        upper = mean(2 * narrow) - mean(narrow + wide) ** 2 / mean(2 * wide)
    # double-precision quadrature of a layer of width 1e-3 at distance 8
    sigma = activation("exp(-(z-8)**2*10**6)")
    learning = with_best_spike(bounds_at(sigma, sigma, 1.0, 1.0), sigma, sigma, 1.0)
    assert learning.upper == pytest.approx(float(upper), rel=1e-12)
    assert learning.best_upper is not None
    assert learning.best_upper < learning.upper


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


def test_kink_close_to_zero(capfd: pytest.CaptureFixture[str]) -> None:
    found = page(capfd, "Max(z - 1/10**9, 0)")
    with mpmath.workdps(40):
        h1 = mpmath.erfc(mpmath.mpf(10) ** -9 / mpmath.sqrt(2)) / 2
        assert abs(number(found["coefficients"]["h1"]) - h1) < mpmath.mpf(10) ** -29


def test_fast_oscillation(capfd: pytest.CaptureFixture[str]) -> None:
    found = page(capfd, "sin(200*z)", code=3)
    with mpmath.workdps(40):
        h1 = 200 * mpmath.exp(-20000)  # E[200 cos(200 z)]
        assert abs(number(found["coefficients"]["h1"]) / h1 - 1) < mpmath.mpf(10) ** -28
    # mu0 is proportional to sin(200 r kappa) with a factor exp(-20000): its direction is lost in double precision.
    assert found["bounds"]["upper"] is None
    assert found["undecided"] == ["bounds"]


def test_growth(capfd: pytest.CaptureFixture[str]) -> None:
    grown = page(capfd, "exp(z)")
    with mpmath.workdps(40):
        assert abs(number(grown["coefficients"]["h1"]) - mpmath.sqrt(mpmath.e)) < mpmath.mpf(10) ** -28
    # mu0 = exp(r kappa + c/2): the target itself at r = 1.
    assert grown["bounds"]["upper"] < 1e-12
    finite = page(capfd, "exp(z**2/5)", "--spike", "0", "--bulk", "1")
    assert finite["coefficients"]["h2"]["closed_form"] == "sqrt(5)"  # (1 - 4/5)^(-1/2)
    assert finite["bounds"]["upper"] is not None
    assert page(capfd, "exp(z**2/5)", "--spike", "0.5", "--bulk", "1")["bounds"]["upper"] is None  # r^2 + c = 5/4
    infinite = page(capfd, "exp(z**2/3)")
    assert infinite["coefficients"]["h2"]["infinite"] is True
    with mpmath.workdps(40):
        # E[z^2] of the tilted law: E exp(z^2/3) = sqrt(3) and variance 3, so s_2 = (3 - 1) sqrt(3)/sqrt(2).
        expected = 2 * mpmath.sqrt(3) / mpmath.sqrt(2)
        assert abs(number(infinite["coefficients"]["hermite"][2]) - expected) < mpmath.mpf(10) ** -28


@pytest.mark.parametrize("scale", [1, 100, 1000])
def test_narrow_even_peaks(capfd: pytest.CaptureFixture[str], scale: int) -> None:
    found = page(capfd, f"1/cosh({scale}*z)")
    with mpmath.workdps(40):
        ends = [mpmath.mpf(k) / scale for k in (0, 1, 3, 10, 30, 100)]
        h2 = 2 * mpmath.quad(lambda z: mpmath.sech(scale * z) ** 2 * mpmath.npdf(z), ends)
        # sech^2 beyond 100 widths is below 1e-80; mpmath's rule reaches 1e-28 on these panels.
        assert abs(number(found["coefficients"]["h2"]) / h2 - 1) < mpmath.mpf(10) ** -25
        # the double-precision target norm agrees with the ball: bounds are of the right scale
        assert found["learning"]["target_square"] == pytest.approx(float(h2), rel=1e-9)
    assert 0 < found["bounds"]["lower"] <= found["bounds"]["upper"] <= found["learning"]["target_square"]


def test_the_exponent_of_a_polynomial_of_degree_sixty_four() -> None:
    # Found exactly however few operations there are for its closed forms.
    assert examine(activation("he(64, z)"), operations=1_000_000).information_exponent == 64


def test_what_is_not_finished_is_said_with_exit_code_three(capfd: pytest.CaptureFixture[str]) -> None:
    # A tenth of a second is not enough for the closed forms of this product of four factors.
    hard = activation("gelu(z)*sin(3*z)*exp(-z**2)*(z**5 + z)")
    for limit in ({"operations": 200_000}, {"seconds": 0.1}):
        found = examine(hard, **limit)
        assert not found.complete
        assert found.unfinished
        assert json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.parametrize("suffix", [".svg", ".png", ".pdf"])
def test_a_figure_is_written(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path, suffix: str
) -> None:
    file = tmp_path / f"figure{suffix}"

    def shown(_: Curves) -> str:
        # Whoever reads the text may close the pipe after its first lines: the figure is there before it.
        assert file.exists()
        return "Along kappa"

    monkeypatch.setattr(giantsteps.reports.activation.curves, "block_plot", shown)
    assert run(["activation", "relu", "--plot", str(file)]) == 0
    assert file.stat().st_size > 1000
    assert "Along kappa" in capfd.readouterr().out


def test_a_figure_of_unknown_format_is_refused(capfd: pytest.CaptureFixture[str]) -> None:
    assert run(["activation", "tanh", "--plot", "figure.gif"]) == 2
    assert ".svg" in capfd.readouterr().err


def test_no_closed_form_for_what_has_none() -> None:
    for text in OPEN:
        with pytest.raises(NotInClassError):
            _ = closed_forms(activation(text)).mu0
