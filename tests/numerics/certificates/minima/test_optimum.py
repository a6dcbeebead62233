"""Certified optima of both bounds against closed forms in arcsines, and what must not be certified."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import numpy as np
import pytest
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import precision, rational_ball
from giantsteps.numerics.bounds.ridge import bounds
from giantsteps.numerics.certificates.minima.bound_series import Series
from giantsteps.numerics.certificates.minima.bound_track import ALGEBRA_BITS, Track
from giantsteps.numerics.certificates.minima.certified_minima import best_bounds_rate, best_bounds_spike, certified_dip
from giantsteps.numerics.certificates.minima.optimum import Optimum, certify_minimum
from giantsteps.numerics.certificates.minima.span_moments import Moments, spans
from giantsteps.numerics.certificates.minima.spike_path import Constants, Path, along_rate, along_spike
from giantsteps.numerics.models.model import Model, ReadoutGroup

ALPHA0, BETA, NOISE = 3.0, 0.8, 0.2
FIRST = {"erf": lambda: 2 / mp.sqrt(3 * mp.pi), "sign": lambda: mp.sqrt(2 / mp.pi)}
SQUARE = {"erf": lambda: 2 / mp.pi * mp.asin(mp.mpf(2) / 3), "sign": lambda: mp.mpf(1)}
BOUNDS = ("upper", "lower")


def share(target: str, bound: str, groups: Sequence[tuple[Any, Any]], gamma: Any) -> Any:
    """|P g|^2 = F.A^-1 F for an erf student with groups (r, c) in the span of one bound.

    E erf(X) t(Y) = (2/pi) asin(Cov(X, Y)/sqrt(w_X w_Y)) with w = 1/2 + Var for erf, Var for sign, X = r kappa + e z and
    an independent part of variance c; kappa mu1 is the derivative of mu0 in r, mu1 z that in e, at e = 0.
    """
    rho, width = mp.sqrt(1 - gamma**2), 1 + (mp.mpf(1) / 2 if target == "erf" else 0)

    def arcsine(covariance: Any, first: Any, second: Any) -> Any:
        return 2 / mp.pi * mp.asin(covariance / mp.sqrt(first * second))

    def held(orders: Sequence[tuple[int, int]]) -> Any:
        features = [(group, order) for order in orders for group in groups]
        force, gram = mp.matrix(len(features), 1), mp.matrix(len(features))
        for i, ((r, c), p) in enumerate(features):
            size = lambda x, e, c=c: mp.mpf(1) / 2 + x * x + e * e + c  # noqa: E731
            force[i] = mp.diff(lambda x, e, size=size: arcsine(x * gamma + e * rho, size(x, e), width), (r, 0), p)
            for j, ((s, d), q) in enumerate(features):
                both = lambda x, e, y, f, size=size, d=d: arcsine(x * y + e * f, size(x, e), size(y, f, d))  # noqa: E731
                gram[i, j] = mp.diff(both, (r, 0, s, 0), (*p, *q))
        return (force.T * mp.lu_solve(gram, force))[0]

    return held([(0, 0)]) if bound == "upper" else held([(0, 0), (1, 0)]) + held([(0, 1)])


def stepped(
    target: str, bound: str, alpha0: float, beta: float, noise: float, weights: Sequence[float] = (1.0,)
) -> Callable[[Any], Any]:
    """eta -> |P g|^2 for an erf student after the step, the Hermite numbers of erf and sign by hand."""

    def at(eta: Any) -> Any:
        h1, first = FIRST["erf"](), FIRST[target]()
        second = (SQUARE[target]() + mp.mpf(noise)) / mp.mpf(alpha0)
        check = 4 / mp.pi / mp.sqrt(5) - h1**2  # E[sigma'^2] - h1^2, sigma' = (2/sqrt pi) e^{-z^2}
        rate, length = eta / mp.mpf(beta), mp.sqrt(first**2 + second)
        groups = [(u * rate * h1 * length, 1 + u * u * rate**2 * second * check) for u in map(mp.mpf, weights)]
        return share(target, bound, groups, first / length)

    return at


@lru_cache(maxsize=4)
def usual_track(low: Fraction, high: Fraction) -> Track:
    return Track(usual(), low, high)


def optimum_of(held: Callable[[Any], Any], low: float, high: float) -> Any:
    """Where the slope changes its sign between two places, to a slope of 1e-15; brackets are 1e-9 wide."""
    with mp.workdps(30):
        assert mp.diff(held, low) > 0 > mp.diff(held, high)
        return mp.findroot(lambda t: mp.diff(held, t), (low, high), solver="anderson", tol=mp.mpf(10) ** -30)


def usual() -> Path:
    return along_rate(activation("erf"), activation("erf"), alpha0=ALPHA0, beta=BETA, noise=NOISE)


def held_by(force: Sequence[Any], gram: Sequence[Any]) -> float:
    """F.A^-1 F in doubles, the Gram matrix by its upper triangle."""
    matrix = np.zeros((len(force), len(force)))
    matrix[np.triu_indices(len(force))] = [float(x) for x in gram]
    matrix = matrix + matrix.T - np.diag(np.diag(matrix))
    vector = np.array([float(x) for x in force])
    return float(vector @ np.linalg.solve(matrix, vector))


def leading(gram: Sequence[Any], n: int, size: int) -> list[Any]:
    """The upper triangle of the first rows and columns."""
    rows, columns = np.triu_indices(n)
    return [x for x, i, j in zip(gram, rows, columns, strict=True) if i < size and j < size]


def holds(found: Optimum, place: Any) -> bool:
    return bool(found.bracket[0] <= place <= found.bracket[1])


@pytest.mark.parametrize("seed", range(2))
def test_brackets_along_the_rate_hold_the_optima_of_closed_forms(seed: int) -> None:
    rng = np.random.default_rng([11, seed])
    target = ("erf", "sign")[seed]
    step = {
        "alpha0": float(rng.uniform(1.5, 12)),
        "beta": float(rng.uniform(0.5, 2)),
        "noise": float(rng.uniform(0, 0.5)),
    }
    student, teacher = activation("erf"), activation(target)

    def at(eta: float, bound: str) -> float:
        model = Model.from_gradient_step(
            student, teacher, alpha=1.0, ridge=1.0, eta=eta, bulk_model="isotropic", **step
        )
        return float(getattr(bounds(model), bound))

    rates = [float(eta) for eta in step["beta"] * np.linspace(0.5, 8.0, 31)]
    guess = min(rates, key=lambda eta: at(eta, "upper"))
    place = Track(along_rate(student, teacher, **step), Fraction(guess / 1.25), Fraction(guess * 1.25))
    for bound in BOUNDS:
        best = optimum_of(stepped(target, bound, **step), guess / 1.2, guess * 1.2)
        found = certify_minimum(place, bound, guess)
        assert found.status == "certified"
        assert found.single
        assert holds(found, best)
        assert found.bracket[1] - found.bracket[0] < 1e-8
        # the doubles of the ends lie inside the interval
        assert found.least_on == pytest.approx((guess / 1.25, guess * 1.25), rel=1e-15)


@pytest.mark.parametrize("bound", BOUNDS)
def test_brackets_along_the_spike_hold_the_optima_of_closed_forms(bound: str) -> None:
    c, gamma = 0.6, 0.9
    student, target = activation("erf"), activation("sign")
    model = Model(student, target, 1.0, 1.0, 0.1, bulk=c, alignment=gamma, spike=1.0)
    grid = np.linspace(0.2, 9.0, 45)
    guess = float(min(grid, key=lambda r: getattr(bounds(model.changed(spike=float(r))), bound)))

    def held(r: Any) -> Any:
        return share("sign", bound, [(r, mp.mpf(c))], mp.mpf(gamma))

    best = optimum_of(held, guess / 1.3, guess * 1.3)
    found = certify_minimum(Track(along_spike(model), Fraction(guess / 1.5), Fraction(guess * 1.5)), bound, guess)
    assert found.certified
    assert holds(found, best)


def test_brackets_of_two_groups_hold_the_optima_of_closed_forms() -> None:
    # Weights 1 and 1/2, each best at its own rate; a third group repeats the first by the oddness of erf.
    groups = (ReadoutGroup(1.0, 0.3), ReadoutGroup(0.5, 0.5), ReadoutGroup(-1.0, 0.2))
    path = along_rate(activation("erf"), activation("sign"), alpha0=8.0, beta=1.0, groups=groups)
    assert len(path.groups) == 2
    place = Track(path, Fraction(11, 2), Fraction(7))
    held = stepped("sign", "upper", 8.0, 1.0, 0.0, (1.0, 0.5))
    best = optimum_of(held, 5.6, 6.8)
    found = certify_minimum(place, "upper", float(best) * 1.0001)
    assert found.certified
    assert holds(found, best)


def test_perfect_learning_is_bracketed_by_both_bounds() -> None:
    model = Model(activation("erf"), activation("erf"), 1.0, 1.0, 0.1, bulk=1.0, alignment=1.0, spike=1.0)
    place = Track(along_spike(model), Fraction(3, 2), Fraction(2))
    upper, lower = (certify_minimum(place, bound, 1.7) for bound in BOUNDS)
    # The slope of the lower bound is of order three there, so that its bracket is the cube root of what it is known to.
    for found, width in ((upper, 1e-8), (lower, 1e-4)):
        assert holds(found, math.sqrt(3.0))
        assert found.bracket[1] - found.bracket[0] < width
        assert found.least_on == (1.5, 2.0)
    # kappa mu1 is the slope of mu0 in r: the lower bound is of order four at its zero, and its second derivative is 0.
    assert upper.single
    assert not lower.single


def test_a_wrong_map_is_caught_by_its_bracket() -> None:
    # The mutant: eight per cent more bulk. Its bracket is as sharp, and beside the optimum.
    right = usual()

    def wrong() -> Constants:
        return replace(right.constants(), growth=right.constants().growth * 1.08)

    mutant = Track(replace(right, constants=wrong), Fraction(3, 2), Fraction(7, 2))
    for bound in BOUNDS:
        best = optimum_of(stepped("erf", bound, ALPHA0, BETA, NOISE), 1.5, 3.5)
        for place, expected in ((usual_track(Fraction(3, 2), Fraction(7, 2)), True), (mutant, False)):
            found = certify_minimum(place, bound, float(best))
            assert found.certified
            assert holds(found, best) is expected


@pytest.mark.parametrize("bound", BOUNDS)
def test_a_wrong_slope_is_not_certified(bound: str, monkeypatch: pytest.MonkeyPatch) -> None:
    # The mutant: slopes with their sign turned. A maximum is no minimum, and nothing may be called certified.
    over = Series.over

    def turned(self: Series, a: Fraction, b: Fraction) -> tuple[Any, Any, Any]:
        value, first, second = over(self, a, b)
        return value, -first, -second

    monkeypatch.setattr(Series, "over", turned)
    found = certify_minimum(usual_track(Fraction(3, 2), Fraction(7, 2)), bound, 2.3)
    assert not found.certified
    assert found.status.startswith("estimated: ")


@pytest.mark.parametrize(("guess", "bound"), [(1.6, "upper"), (3.6, "lower")])
def test_no_bracket_is_certified_where_the_bound_is_monotone(guess: float, bound: str) -> None:
    place = usual_track(Fraction(guess - 0.125), Fraction(guess + 0.125))
    found = certify_minimum(place, bound, guess)
    assert not found.certified
    assert found.status.startswith("estimated: the slope of the bound does not change its sign")


@pytest.mark.parametrize("bound", BOUNDS)
def test_values_and_slopes_are_those_of_the_closed_form(bound: str) -> None:
    place, held = usual_track(Fraction(3, 2), Fraction(7, 2)), stepped("erf", bound, ALPHA0, BETA, NOISE)
    with mp.workdps(30):
        for t in (Fraction(15, 8), Fraction(2), Fraction(11, 4)):
            at = mp.mpf(t.numerator) / t.denominator
            value, first, second = place.jet(bound, t, t)
            # The moments are asked for 2^-44; a slope in units of a half segment is known to 1e-5.
            assert abs(float(value) - float(held(at))) < 1e-10
            assert abs(float(first) - float(mp.diff(held, at))) < 1e-8
            assert abs(float(second) - float(mp.diff(held, at, 2))) < 1e-5
            assert float(value.rad()) < 1e-9
            assert float(first.rad()) < 1e-5


def test_intervals_hold_their_points() -> None:
    path = along_rate(activation("tanh"), activation("hardtanh"), alpha0=8.0, beta=1.0)
    place = Track(path, Fraction(3), Fraction(7, 2))
    with precision(ALGEBRA_BITS):
        for bound in BOUNDS:
            whole = place.jet(bound, Fraction(3), Fraction(13, 4))
            for t in (Fraction(3), Fraction(61, 20), Fraction(16, 5), Fraction(13, 4)):
                assert all(wide.overlaps(at) for wide, at in zip(whole, place.jet(bound, t, t), strict=True))
                assert not any(wide.rad() < at.rad() for wide, at in zip(whole, place.jet(bound, t, t), strict=True))


@pytest.mark.parametrize("seed", range(7))
def test_bounds_of_drawn_models_agree_with_least_squares(seed: int) -> None:
    # Both kinds of function in both roles, biases, groups that mirror each other by their biases and by their weights,
    # unequal rows: E[g^2] - S against numerics.bounds.ridge, which shares no code with it. Two parameters give the
    # difference without E[g^2].
    rng = np.random.default_rng([12, seed])
    student = ("tanh", "hardtanh", "sin", "erf", "tanh", "hardtanh", "tanh")[seed]
    target = str(rng.choice(["sign", "relu", "sin", "hardtanh", "abs(z)-z"]))
    bias = float(rng.uniform(0.1, 0.6))
    groups = (
        (ReadoutGroup(),),
        (ReadoutGroup(bias=bias),),
        (ReadoutGroup(1.0, 0.5, None, bias), ReadoutGroup(1.0, 0.5, None, -bias)),
        (ReadoutGroup(1.0, 0.5, None, bias), ReadoutGroup(-1.0, 0.5, None, bias)),
    )[3 if seed == 6 else seed % 3]
    step: dict[str, Any] = {"alpha0": float(rng.uniform(1, 10)), "beta": float(rng.uniform(0.5, 2)), "noise": 0.1}
    unequal = seed == 3
    path = along_rate(activation(student), activation(target), **step, groups=groups, unequal=unequal)
    found = []
    for eta in (Fraction(1), Fraction(5, 2)):
        model = Model.from_gradient_step(
            activation(student), activation(target), alpha=1.0, ridge=1.0, eta=float(eta), readout=groups,
            gaussian_rows=unequal, bulk_model="isotropic", **step,
        )  # fmt: skip
        with precision(88):
            blocks = Moments(path, 44).at(rational_ball(eta))
        known, size = bounds(model), spans(path).upper
        whole = sum(held_by(block.force, block.gram) for block in blocks)
        upper = held_by(blocks[0].force[:size], leading(blocks[0].gram, len(blocks[0].force), size))
        found.append([upper + known.upper, whole + known.lower])
    # `bounds` aims at 1e-11 of E[g^2] <= 2.
    assert found[0][0] == pytest.approx(found[1][0], abs=1e-9)
    assert found[0][1] == pytest.approx(found[1][1], abs=1e-9)
    assert found[0][0] == pytest.approx(found[0][1], abs=1e-9)


def test_a_bound_that_falls_to_the_end_is_said_to() -> None:
    # sign learns sign along the spike alone the better the stronger it is.
    model = Model(activation("sign"), activation("sign"), 1.0, 1.0, 0.1, bulk=1.0, alignment=1.0, spike=1.0)
    best = best_bounds_spike(model, largest=2.0, points=3)
    for one in (best.upper, best.lower):
        found = one.certificate
        assert one.at_edge
        assert found.at_end
        assert found.bracket == (2.0, 2.0)
        assert found.least_on == (0.5, 2.0)
        assert found.falls_from == 0.5
    # and one that rises: the constant that a strong bias makes of the feature is the best of it for an even target
    rising = model.changed(alignment=0.5)
    rising = replace(
        rising, activation=activation("tanh"), target=activation("abs(z)"), readout=(ReadoutGroup(bias=1.0),)
    )
    one = best_bounds_spike(rising, largest=1.0, points=3).upper
    values = [bounds(rising.changed(spike=r)).upper for r in (0.25, 0.5, 1.0)]
    assert values == sorted(values)
    assert one.certificate.at_end
    assert one.certificate.bracket == (0.25, 0.25)
    assert one.certificate.rises_to == 1.0


@pytest.mark.parametrize(
    ("student", "teacher", "status"),
    [
        # A target that is 0, or next to it, has a bound that is: |P g|^2 <= E[g^2].
        ("erf(z)", "0*z", "flat: the bound is the same "),
        ("erf(z)", "1e-30*erf(z)", "flat: the bound varies by less than "),
        # Features of size 1e-20 have a Gram matrix of size 1e-40, known to 2^-72 = 2e-22.
        ("1e-20*erf(z)", "erf(z)", "estimated: the functions that span the bound are too close to dependent"),
    ],
)
def test_functions_smaller_than_the_accuracy_are_answered(student: str, teacher: str, status: str) -> None:
    model = Model(activation(student), activation(teacher), 2.0, 1.0, 0.1, spike=1.0, bulk=1.2, alignment=0.7)
    place = Track(along_spike(model), Fraction(1), Fraction(5, 4))
    for bound in BOUNDS:
        assert certify_minimum(place, bound, 1.1).status.startswith(status)


def test_a_flat_bound_is_said_to_be_flat() -> None:
    # An odd student sees nothing of an even target: both bounds are E[g^2].
    path = along_rate(activation("tanh"), activation("he2"), alpha0=4.0, beta=1.0)
    place = Track(path, Fraction(1), Fraction(5, 4))
    for bound in BOUNDS:
        found = certify_minimum(place, bound, 1.125)
        assert not found.certified
        assert found.variation < 1e-7
        assert found.status.startswith("flat: ")


def test_a_network_s_own_lower_bound_is_lower() -> None:
    tanh, sin = activation("tanh"), activation("sin")
    own, equal = (
        Track(along_rate(tanh, sin, alpha0=8.0, beta=1.0, unequal=unequal), Fraction(7, 2), Fraction(15, 4))
        for unequal in (True, False)
    )
    at = Fraction(18, 5)
    gain = own.jet("lower", at, at)[0] - equal.jet("lower", at, at)[0]
    model = Model.from_gradient_step(
        tanh, sin, alpha=1.0, beta=1.0, ridge=1.0, alpha0=8.0, eta=float(at), bulk_model="network"
    )
    isotropic = model.changed(bulk_model="isotropic")
    assert float(gain) == pytest.approx(bounds(isotropic).lower - bounds(model).lower, abs=1e-10)
    assert certify_minimum(own, "lower", 3.5948).certified


def test_what_repeats_is_left_away() -> None:
    tanh, sin = activation("tanh"), activation("sin")
    groups = (ReadoutGroup(1.0, 0.25), ReadoutGroup(-1.0, 0.25), ReadoutGroup(0.0, 0.25), ReadoutGroup(0.0, 0.25, 2.0))
    path = along_rate(tanh, sin, alpha0=4.0, beta=1.0, groups=groups)
    found = spans(path)
    # u = -1 repeats u = 1; without a spike mu0 = 0 for an odd student, and kappa mu1 is a multiple of kappa.
    assert [(f.group, f.power) for f in found.along] == [(0, 0), (0, 1), (1, 1)]
    assert [f.group for f in found.across] == [0, 1]
    assert found.upper == 1
    # erf: d mu0/dc is a multiple of kappa mu1
    unequal = along_rate(activation("erf"), sin, alpha0=4.0, beta=1.0, unequal=True)
    assert len(spans(unequal).along) == 2
    assert len(spans(replace(unequal, student=tanh)).along) == 3


@pytest.mark.parametrize(
    ("student", "target", "reason"),
    [
        ("elu", "tanh", "breakpoints"),
        ("tanh", "softsign", "bound by a power|bounded by a power"),
        ("relu", "tanh", "odd"),
    ],
)
def test_what_is_out_of_reach_is_estimated(student: str, target: str, reason: str) -> None:
    import re

    if reason == "odd":
        best = Model(activation(student), activation(target), 1.0, 1.0, 0.1, spike=1.0, bulk=1.0, alignment=1.0)
        with pytest.raises(ArithmeticError, match=reason):
            along_rate(best.activation, best.target, alpha0=1.0, beta=1.0)
        return
    model = Model(activation(student), activation(target), 1.0, 1.0, 0.1, alignment=0.9, spike=1.0, bulk=1.0)
    found = best_bounds_spike(model, largest=4.0, points=5)
    for one in (found.upper, found.lower):
        assert not one.certificate.certified
        assert re.search(f"estimated: .*({reason})", one.certificate.status)


def test_several_directions_are_estimated() -> None:
    model = Model(
        activation("tanh"), activation("sin"), 1.0, 1.0, 0.1, alignment=0.5, further_alignments=(0.5,),
        readout=(ReadoutGroup(1.0, 1.0, None, 0.0, (1.0,)),), spike=1.0, bulk=1.0,
    )  # fmt: skip
    found = best_bounds_spike(model, largest=2.0, points=3)
    assert found.upper.certificate.status == "estimated: the optimum is certified for a spike of one direction"


def test_an_unknown_bound_is_refused() -> None:
    with pytest.raises(ValueError, match="upper or lower"):
        certify_minimum(usual_track(Fraction(3, 2), Fraction(7, 2)), "middle", 2.5)


@pytest.mark.thorough
def test_a_dip_of_the_test_error_is_certified_only_at_a_minimum() -> None:
    def model(eta: float, groups: tuple[ReadoutGroup, ...] = (ReadoutGroup(),)) -> Model:
        return Model.from_gradient_step(
            activation("tanh"),
            activation("sin"),
            alpha=2.0,
            beta=1.0,
            ridge=0.1,
            alpha0=8.0,
            eta=eta,
            readout=groups,
            bulk_model="isotropic",
        )

    assert certified_dip(model, 4.10667365).certified
    beside = certified_dip(model, 4.2)
    assert not beside.certified
    assert "not certainly larger" in beside.status
    # Several groups have no certificate: the same by the error estimates, at a minimum only.
    pair = (ReadoutGroup(1.0, 0.5, None, 0.3), ReadoutGroup(1.0, 0.5, None, -0.3))
    etas = np.linspace(3.5, 5.0, 61)
    from giantsteps.numerics.saddle_point.ridge import solve

    least = min(etas, key=lambda eta: solve(model(float(eta), pair)).test_error)
    away = certified_dip(lambda eta: model(eta, pair), float(least) * 1.05)
    assert not away.bracketed
    assert away.status.startswith("estimated: ")


@pytest.mark.thorough
@pytest.mark.parametrize(("student", "target"), [("tanh", "sin"), ("hardtanh", "sign"), ("tanh", "relu")])
def test_both_bounds_are_least_on_the_whole_scan(student: str, target: str) -> None:
    found = best_bounds_rate(activation(student), activation(target), alpha0=8.0, beta=1.0)
    for one in (found.upper, found.lower):
        assert one.certificate.certified
        assert one.certificate.least_on == (0.25, 30.0)
        assert abs(one.at - one.certificate.bracket[0]) < 1e-5 * one.at
