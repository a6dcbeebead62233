"""Certified optima of the upper bound against closed forms for erf, and what must not be certified."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace

import pytest
from mpmath import mp

from derivations.activation import activation
from numerics.balls import precision
from numerics.bounds import bounds
from numerics.certified_minima import best_bound_rate, best_bound_spike, certified_dip
from numerics.certify_optimum import Path, _Slopes, along_rate, along_spike, certify_minimum
from numerics.model import Model
from reports.cli import run
from reports.optima import optimum_lines
from reports.problems import DONE

ERF = activation("erf")
ALPHA0, BETA, NOISE = 3.0, 0.8, 0.2


def erf_share(r: float, c: float, gamma: float) -> float:
    """N^2/M for erf and erf by E erf(X) erf(Y) = (2/pi) asin(2 Cov/sqrt((1+2 Var X)(1+2 Var Y))), in mpmath."""
    total = r * r + c
    cross = 2 / mp.pi * mp.asin(2 * r * gamma / mp.sqrt(3 * (1 + 2 * total)))
    return cross**2 / (2 / mp.pi * mp.asin(2 * r * r / (1 + 2 * total)))


def along_erf_rate(eta: float) -> float:
    """The same along the learning rate, the Hermite numbers of erf by hand."""
    h1 = 2 / mp.sqrt(3 * mp.pi)
    second = (2 / mp.pi * mp.asin(mp.mpf(2) / 3) + mp.mpf(NOISE)) / ALPHA0
    check = 4 / mp.pi / mp.sqrt(5) - h1**2  # E[sigma'^2] - h1^2, sigma' = (2/sqrt pi) e^{-z^2}
    rate, length = mp.mpf(eta) / mp.mpf(BETA), mp.sqrt(h1**2 + second)
    return erf_share(rate * h1 * length, 1 + rate**2 * second * check, h1 / length)


def optimum_of(share: Callable[[float], float], start: float) -> float:
    """Where the share has slope zero, to 25 digits."""
    with mp.workdps(30):
        return mp.findroot(lambda t: mp.diff(share, t), start, tol=1e-25)


def rate_path() -> Path:
    return along_rate(ERF, ERF, alpha0=ALPHA0, beta=BETA, noise=NOISE)


def test_the_bracket_along_the_rate_holds_the_optimum_of_the_closed_form() -> None:
    best = optimum_of(along_erf_rate, 2.3)
    found = certify_minimum(rate_path(), float(best) * 1.01, 1.0, 6.0)
    assert found.status == "certified"
    left, right = found.bracket
    assert left <= best <= right
    assert right - left < 1e-8
    assert (found.falls_from, found.rises_to) == (1.0, 6.0)


def test_perfect_learning_is_bracketed() -> None:
    found = certify_minimum(along_spike(ERF, ERF, 1.0, 1.0), 1.7, 1.0, 3.0)
    assert found.bracket[0] <= math.sqrt(3.0) <= found.bracket[1]
    assert found.bracket[1] - found.bracket[0] < 1e-8


def test_a_wrong_map_is_caught_by_its_bracket() -> None:
    # The mutant: eight per cent more bulk. Its bracket is as sharp, and beside the optimum.
    best, right = optimum_of(along_erf_rate, 2.3), rate_path()

    def mutant() -> tuple[object, ...]:
        slope, base, growth, gamma = right.constants()
        return slope, base, growth * 1.08, gamma

    found = certify_minimum(replace(right, constants=mutant), float(best), 1.0, 6.0)  # type: ignore[arg-type]
    assert found.certified
    assert not found.bracket[0] <= best <= found.bracket[1]


@pytest.mark.parametrize("guess", [1.6, 3.6])
def test_no_bracket_is_certified_where_the_bound_is_monotone(guess: float) -> None:
    found = certify_minimum(rate_path(), guess, guess / 1.02, guess * 1.02)
    assert not found.certified
    assert found.status.startswith("estimated: the slope of the bound does not change its sign")


def test_a_wrong_slope_is_not_certified_as_monotone(monkeypatch: pytest.MonkeyPatch) -> None:
    # The mutant: G with its sign turned. A maximum is no minimum, and nothing may be called certified.
    right = _Slopes.at

    def turned(self: _Slopes, t: object) -> object:
        found = right(self, t)
        return replace(found, slope=-found.slope, curvature=-found.curvature)

    monkeypatch.setattr(_Slopes, "at", turned)
    assert not certify_minimum(rate_path(), float(optimum_of(along_erf_rate, 2.3)), 1.0, 6.0).certified


def test_the_slopes_enclose_differences_of_the_closed_form() -> None:
    with precision(80):
        slopes = _Slopes(rate_path())
        for t in (0.7, 2.0, 5.0):
            found = slopes.at(slopes._slope * 0 + t)
            share = found.correlation**2 / found.square
            assert abs(float(share) - float(along_erf_rate(t))) < 1e-9
            # d(N^2/M) = (2 N/M^2) G; the quadrature is asked for 2^-36 of integrands of order one.
            slope = 2 * found.correlation * found.slope / found.square**2
            assert abs(float(slope) - float(mp.diff(along_erf_rate, t))) < 1e-8
            # G' by a symmetric difference of G, of step 1e-3: its own error is about 1e-7.
            ends = [slopes.at(slopes._slope * 0 + t + x).slope for x in (-1e-3, 1e-3)]
            assert float((ends[1] - ends[0]) / 2e-3) == pytest.approx(float(found.curvature), abs=1e-6)


def test_intervals_hold_their_points() -> None:
    from fractions import Fraction

    with precision(80):
        slopes = _Slopes(along_rate(activation("tanh"), activation("sin"), alpha0=8.0, beta=1.0))
        whole = slopes.over(Fraction(3), Fraction(13, 4))
        for t in (3.0, 3.05, 3.2, 3.25):
            at = slopes.at(slopes._slope * 0 + t)
            assert whole.slope.contains(at.slope)
            assert whole.curvature.contains(at.curvature)
            assert whole.correlation.contains(at.correlation)


def test_the_scan_and_the_certificate_agree() -> None:
    tanh, sin = activation("tanh"), activation("sin")
    best = best_bound_rate(tanh, sin, alpha0=8.0, beta=1.0, points=31, reach=1.2)
    # A golden section sees the place of a minimum to the square root of the rounding.
    assert best.certificate.certified
    assert best.at == pytest.approx(best.certificate.bracket[0], rel=1e-6)
    model = Model(tanh, sin, 1.0, 1.0, 0.1, spike=1.0, bulk=1.2, alignment=0.9)
    spike = best_bound_spike(model, points=31, reach=1.2)
    assert spike.certificate.certified
    for other in (0.98, 1.02):
        assert bounds(model.changed(spike=spike.at * other)).upper > spike.bound


@pytest.mark.parametrize(
    ("student", "target", "reason"),
    [("tanh", "sign", "breakpoints"), ("softsign", "tanh", "breakpoints|bound by a power|strip")],
)
def test_what_is_not_analytic_is_estimated(student: str, target: str, reason: str) -> None:
    found = certify_minimum(along_spike(activation(student), activation(target), 1.0, 1.0), 1.5, 1.0, 2.0)
    assert not found.certified
    assert found.status.startswith("estimated: ")


def test_even_students_have_no_certified_map() -> None:
    best = best_bound_spike(Model(activation("relu"), activation("tanh"), 1.0, 1.0, 0.1), points=8)
    assert not best.certificate.certified


@pytest.mark.thorough
def test_a_dip_of_the_test_error_is_certified_only_at_a_minimum() -> None:
    def model(eta: float) -> Model:
        return Model.from_gradient_step(
            activation("tanh"), activation("sin"), alpha=2.0, beta=1.0, ridge=0.1, alpha0=8.0, eta=eta
        )

    assert certified_dip(model, 4.10667365).certified
    beside = certified_dip(model, 4.2)
    assert not beside.certified
    assert "not certainly larger" in beside.status


@pytest.mark.thorough
def test_the_bound_is_least_on_the_whole_scan() -> None:
    found = certify_minimum(along_rate(activation("tanh"), activation("sin"), alpha0=8.0, beta=1.0), 4.6285, 0.25, 30.0)
    assert (found.falls_from, found.rises_to) == (0.25, 30.0)


@pytest.mark.thorough
def test_the_command_says_what_is_certified(capsys: pytest.CaptureFixture[str]) -> None:
    functions, ratios = ["--activation", "erf", "--target", "erf"], ["--alpha", "2", "--beta", "1", "--ridge", "0.1"]
    step = ["--alpha0", "8", "--eta", "1", "--optimise-eta", "--json"]
    assert run(["bounds", *functions, *ratios, *step]) == DONE
    best = json.loads(capsys.readouterr().out)["best_eta"]
    assert best["certified"] is True
    assert best["bracket"][0] < best["eta"] < best["bracket"][1]
    bound = best["upper_bound"]
    assert bound["certified"] is True
    assert bound["monotone"]["falls_from"] < bound["bracket"][0] <= bound["bracket"][1] < bound["monotone"]["rises_to"]
    lines = optimum_lines(best)
    assert "certified local minimum in" in lines[0]
    assert "decreasing on [" in lines[1]
    assert "increasing on [" in lines[1]


def test_what_is_printed_stays_certain() -> None:
    bound = {
        "eta": 2.0, "bound": 0.5, "certified": True, "bracket": [1.9999999999999, 2.0000000000001],
        "monotone": {"falls_from": 0.123456789, "rises_to": 7.87654321}, "status": "certified",
    }  # fmt: skip
    best = {"eta": 1.0, "test_error": 0.25, "certified": True, "bracket": [0.99912345678912, 1.1], "upper_bound": bound}
    assert optimum_lines(best) == [
        "least test error 0.25 at eta = 1: certified local minimum in [0.9991234567, 1.100000001]",
        "least upper bound 0.5 at eta = 2: certified local minimum in [1.999999999, 2.000000001]; "
        "decreasing on [0.123457, 1.99999], increasing on [2.00001, 7.87654]",
    ]
    estimated = {**bound, "certified": False, "bracket": None, "monotone": None, "status": "estimated: no"}
    assert optimum_lines({**best, "certified": False, "status": "estimated: so", "upper_bound": estimated}) == [
        "least test error 0.25 at eta = 1: estimated: so",
        "least upper bound 0.5 at eta = 2: estimated: no",
    ]


def test_an_end_is_no_minimum() -> None:
    found = certify_minimum(rate_path(), 5.0, 1.0, 5.0)
    assert found.status == "estimated: the least bound was found at an end of the interval, not inside"
