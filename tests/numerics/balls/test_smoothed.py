"""Derivatives of Gaussian averages as balls against mpmath, and their bounds off the real line."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import cache
from typing import Any

import pytest
from flint import acb, arb
from mpmath import mp

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls import smoothed
from giantsteps.numerics.balls.arithmetic import BallError, precision, rational_ball
from giantsteps.numerics.balls.growth_bounds import complex_size
from giantsteps.numerics.balls.smoothed import Smoother, derivatives
from giantsteps.numerics.certificates.minima.span_moments import _Line
from tests.references.coefficients_mp import gaussian_moments_mp

FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "tanh": mp.tanh,
    "erf": mp.erf,
    "sin": mp.sin,
    "relu": lambda x: max(x, mp.mpf(0)),
    "sign": mp.sign,
    "hardtanh": lambda x: max(mp.mpf(-1), min(mp.mpf(1), x)),
    "he3": lambda x: x**3 - 3 * x,
}
HERMITE: tuple[Callable[[Any], Any], ...] = (lambda z: mp.mpf(1), lambda z: z, lambda z: z * z - 1)


def averages_of(name: str, w: Any, s: Any) -> list[Any]:
    """E[He_n(z) f(w + s z)]/s^n for n = 0, 1, 2, split at the breakpoints; all take the same nodes."""
    cuts = [-mp.inf, *((c - w) / s for c in (-1, 0, 1)), mp.inf]

    @cache  # by the node and the digits at which the quadrature asks for it
    def weighed(z: Any, _: int) -> Any:
        return FUNCTIONS[name](w + s * z) * mp.npdf(z)

    return [mp.quad(lambda z, he=he: he(z) * weighed(z, mp.prec), cuts) / s**n for n, he in enumerate(HERMITE)]


@pytest.mark.parametrize(("name", "scale"), list(zip(FUNCTIONS, [0.75, 3.0, 1.5, 0.75, 3.0, 0.75, 1.5], strict=True)))
def test_averages_are_enclosed(name: str, scale: float) -> None:
    places = [-0.4, 7.0]
    with precision(88), mp.workdps(22):
        found = Smoother(activation(name), 44).at([arb(w) for w in places], arb(scale))
        for w, averages in zip(places, found, strict=True):
            plain = averages_of(name, mp.mpf(w), mp.mpf(scale))
            for value, ball in zip(plain, derivatives(averages, arb(scale)), strict=True):
                assert float(ball.rad()) < 1e-12
                # quad's own error is below 1e-18 here
                assert abs(float(ball - arb(mp.nstr(value, 22)))) < float(ball.rad()) + 1e-17


def test_a_shifted_grid_is_noticed() -> None:
    # The mutant: the value at a place 1e-10 away is outside the ball.
    with precision(88):
        smoother = Smoother(activation("tanh"), 44)
        (right,), (beside,) = smoother.at([arb(1) / 2], arb(1)), smoother.at([arb(1) / 2 + arb(10) ** -10], arb(1))
        assert not right[0].overlaps(beside[0])


def test_functions_of_neither_kind_are_refused() -> None:
    with precision(88), pytest.raises(BallError, match="breakpoints"):
        Smoother(activation("elu"), 44).at([arb(0)], arb(1))


@pytest.mark.parametrize("name", ["tanh", "relu"])
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


@pytest.mark.parametrize("name", ["tanh", "erf", "sin(2*z)", "sign", "relu", "hardtanh", "he3", "abs(z - 1/3)"])
@pytest.mark.parametrize("variance", [Fraction(1, 16), Fraction(9, 4)])
def test_many_digits_agree_with_another_quadrature(name: str, variance: Fraction) -> None:
    function, places = activation(name), (-1.5, 0.0, 0.375)
    with precision(150):
        found = Smoother(function, 142).at([arb(x) for x in places], rational_ball(variance).sqrt())
    with mp.workdps(40):
        scale = mp.sqrt(mp.mpf(variance.numerator) / variance.denominator)
        for x, average_ in zip(places, found, strict=True):
            expected = gaussian_moments_mp(function, mp.mpf(x), scale, 28)
            exact = (expected.mean, expected.slope, expected.square, expected.curvature + expected.mean)
            for value, number in zip(average_, exact, strict=False):
                assert float(value.rad()) < 1e-30
                assert abs(mp.make_mpf(value.mid()._mpf_) - number) < mp.mpf(10) ** -26 * (1 + abs(number))


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
