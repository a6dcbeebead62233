"""Exact Gaussian moments of polynomials against worked values and the ball of another rule."""

from __future__ import annotations

from fractions import Fraction

from giantsteps.numerics.gaussian.polynomial_moments import differentiated, hermite_moment, power, product

CUBIC = (Fraction(1), Fraction(-1, 2), Fraction(0), Fraction(1))  # 1 - z/2 + z^3


def test_worked_moments() -> None:
    zero, one = Fraction(0), Fraction(1)
    assert hermite_moment(CUBIC, 0, zero, one) == 1  # odd powers vanish
    assert hermite_moment(CUBIC, 1, zero, one) == Fraction(5, 2)  # E[3 z^2 - 1/2]
    assert hermite_moment(CUBIC, 3, zero, one) == 6  # the third derivative
    assert hermite_moment(CUBIC, 4, zero, one) == 0
    # E[(m + s z)^3] = m^3 + 3 m v at m = 2, v = 3: 8 + 18, and 1 - 1 beside it
    assert hermite_moment(CUBIC, 0, Fraction(2), Fraction(3)) == 26


def test_algebra() -> None:
    assert differentiated(CUBIC) == (Fraction(-1, 2), Fraction(0), Fraction(3))
    assert differentiated((Fraction(4),)) == (Fraction(0),)
    assert product((Fraction(1), Fraction(1)), (Fraction(-1), Fraction(1))) == (-1, 0, 1)
    # (z^2)^4 = z^8 and E z^8 = 7!! = 105
    assert hermite_moment(power((Fraction(0), Fraction(0), Fraction(1)), 4), 0, Fraction(0), Fraction(1)) == 105
