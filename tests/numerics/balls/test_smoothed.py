"""Derivatives of Gaussian averages as balls beside integrals by mpmath, and their bounds off the real line."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import pytest
from flint import acb, arb
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls import smoothed
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.growth_bounds import complex_size
from giantsteps.numerics.balls.smoothed import Smoother, derivatives
from giantsteps.numerics.certificates.minima.span_moments import _Line
from tests.references.integrals import moments

FUNCTIONS: dict[str, Callable[[Any], Any]] = {"tanh": mp.tanh, "relu": lambda x: max(x, mp.mpf(0))}
HERMITE: tuple[Callable[[Any], Any], ...] = (lambda z: mp.mpf(1), lambda z: z, lambda z: z * z - 1)


def test_a_shifted_grid_is_noticed() -> None:
    # The mutant: the value at a place 1e-10 away is outside the ball.
    with precision(88):
        smoother = Smoother(activation("tanh"), 44)
        (right,), (beside,) = smoother.at([arb(1) / 2], arb(1)), smoother.at([arb(1) / 2 + arb(10) ** -10], arb(1))
        assert not right[0].overlaps(beside[0])


def test_functions_of_neither_kind_are_refused() -> None:
    with precision(88), pytest.raises(BallError, match="breakpoints"):
        Smoother(activation("elu"), 44).at([arb(0)], arb(1))


@pytest.mark.parametrize("name", FUNCTIONS)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_sizes_at_complex_parameters_are_bounds(name: str, order: int) -> None:
    r, c, bias = mp.mpc(1.2, 0.5), mp.mpc(1.5, 0.4), mp.mpf(1) / 4
    with precision(88):
        size = complex_size(activation(name), acb(1.2, 0.5), Fraction(1, 4), acb(1.5, 0.4), order)
    assert size is not None
    for x in (-3.0, 0.0, 0.5, 2.0):
        w = r * x + bias

        def integrand(u: Any, w: Any = w) -> Any:
            density = mp.exp(-((u - w) ** 2) / (2 * c)) / mp.sqrt(2 * mp.pi * c)
            return FUNCTIONS[name](u) * HERMITE[order]((u - w) / mp.sqrt(c)) * density

        value = abs(mp.quad(integrand, [-25, -5, 0, 5, 25]) / mp.sqrt(c) ** order)
        bound = size.constant * (1 + abs(arb(x))) ** size.degree * (size.quadratic * arb(x) ** 2).exp()
        assert value <= float(bound)


def test_bounds_on_a_strip_are_bounds() -> None:
    # For tanh the average at complex w is the integral of the shifted density.
    with precision(88):
        bound = _Line(arb(2), Fraction(1, 2), arb(1)).bound(activation("tanh"), Fraction(1, 2), 1)
    assert bound is not None
    for x in (-1.0, 0.0, 1.5):
        w = 2 * mp.mpc(x, 0.5) + 0.5
        value = abs(mp.quad(lambda u, w=w: mp.tanh(u) * (u - w) * mp.exp(-((u - w) ** 2) / 2), [-15, -3, 0, 3, 15]))
        assert value / mp.sqrt(2 * mp.pi) <= float(bound.constant) * (1 + abs(x)) ** bound.degree


TEXTS = ("tanh(z)", "erf(z)", "sin(2*z)", "sign(z)", "relu(z)", "hardtanh(z)", "he3(z)", "Abs(z - 1/3)")


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("scale", [0.25, 3.0])
def test_averages_and_derivatives_are_integrals_by_mpmath(text: str, scale: float) -> None:
    places = (-1.5, 0.375, 7.0)
    with precision(150):
        found = Smoother(activation(text), 142).at([arb(x) for x in places], arb(scale))
        slopes = [derivatives(averages, arb(scale)) for averages in found]
    with mp.workdps(40):
        for x, averages, of_place in zip(places, found, slopes, strict=True):
            mean, slope, square, curvature = moments(text, x, scale)
            for value, exact in (
                *zip(averages, (mean, slope, square), strict=False),
                *zip(of_place, (mean, slope / scale, curvature / scale**2), strict=True),
            ):
                assert float(value.rad()) < 1e-28
                assert abs(mp.make_mpf(value.mid()._mpf_) - exact) < mp.mpf(10) ** -26 * (1 + abs(exact))


def test_no_variance_is_the_function_itself() -> None:
    with precision(100):
        below, above = Smoother(activation("relu"), 90).at([arb(-2), arb(2)], arb(0))
        assert (below[:3], above[:3]) == ((0, 0, 0), (2, 0, 4))


@pytest.mark.parametrize("power", [20, 60])
def test_a_small_function_has_its_digits(power: int) -> None:
    # E f and its derivative are those of 10^power f over 10^power, to the precision of the larger function.
    with precision(150):
        small, large = (
            Smoother(activation(text), 142).at([arb(0.375)], arb(1))[0] for text in (f"tanh(z)/10**{power}", "tanh(z)")
        )
        size = arb(10) ** power
        for value, exact in zip(
            small[:3], (large.mean / size, large.first / size, large.square / size**2), strict=True
        ):
            assert abs(value / exact - 1) < arb(10) ** -40


def test_the_bound_of_a_derivative_grows_as_the_scale_falls() -> None:
    # d^2/dw^2 E sign(w + s z) = -2 (w/s) phi(w/s)/s^2, largest at w = s.
    with precision(88):
        scale = arb(1) / 16
        bound = _Line(arb(1), Fraction(0), scale).bound(activation("sign"), Fraction(0), 2)
        value = derivatives(Smoother(activation("sign"), 44).at([scale], scale)[0], scale)[2]
        assert bound is not None
        assert abs(value) <= bound.constant <= 30 * abs(value)


def test_more_nodes_than_memory_holds_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with precision(88):
        scale, near, far = arb(1), [arb(k) / 8 for k in range(8)], [arb(40 * k) for k in range(8)]
        found = Smoother(activation("tanh"), 44).at(near, scale)
        # Places beside each other share their nodes, those far from each other do not.
        monkeypatch.setattr(smoothed, "_MOST_ROWS", 500)
        assert [one.mean.overlaps(two.mean) for one, two in
                zip(found, Smoother(activation("tanh"), 44).at(near, scale), strict=True)] == [True] * 8  # fmt: skip
        with pytest.raises(BallError, match=r"the rule across the spike needs \d+ nodes at [78] places"):
            Smoother(activation("tanh"), 44).at(far, scale)


@pytest.mark.parametrize("c", [acb(16), acb(16, 4), acb(0.25), acb(0.25, -0.1)])
def test_averages_at_a_complex_variance_are_bounded(c: acb) -> None:
    # Of z^3 these are w^3 + 3 w c, 3 (w^2 + c), 6 w and 6, over any c.
    for order, average in enumerate((lambda w: w**3 + 3 * w * c, lambda w: 3 * (w * w + c), lambda w: 6 * w)):
        bound = complex_size(activation("z**3"), acb(2), Fraction(1, 2), c, order)
        assert bound is not None
        assert bound.quadratic == 0
        for x in (-1e4, -1.0, 0.0, 0.3, 1e4):
            above = bound.constant * (1 + abs(arb(x))) ** bound.degree
            assert abs(average(2 * arb(x) + arb(0.5))) <= above
