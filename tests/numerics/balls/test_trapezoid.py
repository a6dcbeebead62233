"""The trapezoidal rule's error: integrands that come near each of its terms, so that none can be halved or dropped."""

from __future__ import annotations

from fractions import Fraction

import pytest
from flint import acb, arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.expressions.budget import TookTooLong, at_most
from giantsteps.numerics.balls.arithmetic import precision
from giantsteps.numerics.balls.averages import smoothing
from giantsteps.numerics.balls.gaussian_bounds import Envelope, cut_off
from giantsteps.numerics.balls.growth_bounds import Line
from giantsteps.numerics.balls.integrals import Moment, expectations
from giantsteps.numerics.balls.trapezoid import aliasing, density, lifted, nodes, sides


def cosine_sum(frequency: arb, step: arb, count: int) -> arb:
    return sum((weight * (frequency * x).cos() for x, weight in nodes(step, count)), arb(0))


def exact(frequency: arb) -> arb:
    """E cos(w z) = e^{-w^2/2}."""
    return (-frequency * frequency / 2).exp()


@pytest.mark.parametrize("frequency", [2, 4])
@pytest.mark.parametrize("step", [Fraction(1, 2), Fraction(3, 4)])
def test_the_infinite_sum_errs_by_the_top_and_the_bottom(frequency: int, step: Fraction) -> None:
    # |cos w(x + iy)| <= cosh wy. By Poisson's formula the error is e^{-(2 pi/h - w)^2/2} up to smaller terms, and at
    # the height 2 pi/h - w the bound is as much: nothing of it can be spared.
    with precision(400):
        w, h = arb(frequency), arb(step.numerator) / step.denominator
        height = 2 * arb.pi() / h - w
        error = abs(cosine_sum(w, h, 60) - exact(w))
        claimed = aliasing(height, h) * lifted(height) * (w * height).cosh()
        assert error < claimed < error * 1.001


def test_the_finite_sum_needs_the_sides_of_the_rectangle() -> None:
    # cos(15 x/2) over |x| <= 27/8 in steps of 3/4: at this height the top and the bottom alone are less than the error.
    with precision(80):
        w, h, height, count = arb(15) / 2, arb(3) / 4, arb(7) / 8, 4
        end = (count + arb(1) / 2) * h
        whole = acb.integral(lambda z, _: (w * z).cos() * (-z * z / 2).exp(), acb(-end), acb(end)).real
        error = abs(cosine_sum(w, h, count) - whole / (2 * arb.pi()).sqrt())
        above, beside = (
            factor * lifted(height) * (w * height).cosh() for factor in (aliasing(height, h), sides(end, h))
        )
        assert above < error < above + beside
        # What the proof has along the sides, |e/(1 - e)| with e = -e^{-2 pi y/h}, is a share log 2 of the bound.
        along = acb.integral(lambda y, _: 1 / (1 + (2 * arb.pi() * y / h).exp()), 0, 40).real
        assert 4 * density(end) * along < sides(end, h) < 4 * density(end) * along * 1.5


@pytest.mark.parametrize("end", [7, 10])
def test_the_tail_is_hardly_more_than_what_is_left_out(end: int) -> None:
    # E[1; |z| > L] = erfc(L/sqrt 2), 2 phi(L)/L (1 - 1/L^2 + ...); and the sum beyond L is less than the integral.
    with precision(120):
        left_out = (arb(end) / arb(2).sqrt()).erfc()
        claimed = Envelope(arb(1)).tail(arb(end))
        assert left_out < claimed < 1.03 * left_out
        beyond = sum((2 * density(end + arb(k) / 16) / 16 for k in range(1, 160)), arb(0))
        assert left_out / 2 < beyond < claimed


def test_a_cut_is_no_further_than_it_has_to_be() -> None:
    with precision(80):
        envelopes = [Envelope(arb(3), 2), Envelope(arb(1), 0, arb(2))]
        end = cut_off(envelopes, 40)
        worst = [max(float(envelope.tail(arb(x.numerator) / x.denominator)) for envelope in envelopes)
                 for x in (end, end - Fraction(1, 4))]  # fmt: skip
        assert worst[0] < 2.0**-40 <= worst[1]
        with at_most(2000), pytest.raises(TookTooLong):
            cut_off([Envelope(arb(1), quadratic=arb(1) / 2)], 40)


@pytest.mark.parametrize("frequency", [2, 3])
def test_coarse_averages_come_near_their_radii(frequency: int) -> None:
    # The square of a cosine, whose bound e^{wy} on a strip is twice its size: a fourth of the radius is an error.
    text, line = f"cos({frequency}*z)", Line(Fraction(1), Fraction(0), Fraction(1))
    with precision(150):
        square = (1 + exact(arb(2 * frequency))) / 2
        single = smoothing(activation(text), line, Fraction(0), Fraction(2), 8).at(arb(0)).square
        (moment,) = expectations(activation(text), (Moment(0, 2),), bits=16)
        for ball in (single, moment):
            assert ball.contains(square)
            assert abs(ball.mid() - square) > arb(ball.rad()) / 6


@pytest.mark.parametrize("bits", [2, 4, 8])
def test_what_grows_is_bounded_by_its_size_where_it_is_asked_for(bits: int) -> None:
    # E softplus(200 + z) = 200 up to e^-199: the rule errs by 200 times what it does for 1.
    with precision(128):
        place, line = arb(200), Line(Fraction(1), Fraction(0), Fraction(1))
        single = smoothing(activation("softplus(z)"), line, Fraction(0), Fraction(200), bits).at(place)
        assert single.mean.contains(200)
        assert single.first.contains(1)
        assert single.square.contains(40001)
        assert arb(single.mean.rad()) < 1
