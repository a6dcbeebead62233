"""Averages of functions that are analytic between breakpoints: another rule, and the bounds that they rest on."""

from __future__ import annotations

import itertools
from fractions import Fraction

import pytest
from flint import acb, arb

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.balls.arithmetic import BallError, precision
from giantsteps.numerics.balls.averages import ORDERS, assembled, powers, smoothing
from giantsteps.numerics.balls.growth_bounds import Line, branch_bound, cells, polynomial_growth
from giantsteps.numerics.balls.pieces import gauss_error, legendre, piecewise

LINE = Line(Fraction(1), Fraction(0), Fraction(3, 2))


@pytest.mark.parametrize("name", ["tanh", "atan(z)", "z/(1 + z**2)", "sin"])
@pytest.mark.parametrize("bits", [1, 12, 60])
def test_coarse_rules_own_up_to_their_errors(name: str, bits: int) -> None:
    # Functions analytic in a strip, for which the trapezoidal rule knows the averages.
    with precision(128):
        rule = piecewise(activation(name), LINE.scale(), arb(3), bits, ORDERS)
        fine = smoothing(activation(name), LINE, Fraction(0), Fraction(3), 90)
        for w in (-3.0, 0.0, 0.3, 2.0):
            found = assembled(*rule.at(arb(w), powers(4)), rule.errors)
            for ball, sharp in zip(found, fine.at(arb(w)), strict=True):
                assert ball.contains(sharp.mid())
                assert ball.rad() < arb(2) ** -bits
        with pytest.raises(BallError, match="beyond the places"):
            rule.at(arb(5), powers(4))


def test_panels_reach_far_enough_for_every_scale_in_a_ball() -> None:
    with precision(128):
        rule = piecewise(activation("elu"), arb(2, 1.5), arb(3), 60, ORDERS)
        assert rule.panels[0][0].left <= -3 - 3.5 * rule.end
        assert rule.panels[-1][0].right >= 3 + 3.5 * rule.end


def test_functions_that_vary_too_fast_are_refused() -> None:
    with precision(128):
        rule = piecewise(activation("where(z > 0, sin(400*z), z)"), arb(1), arb(3), 60, ORDERS)
        with pytest.raises(BallError, match="varies too fast"):
            rule.at(arb(0), powers(4))


def test_the_error_of_a_gauss_rule_is_bounded_and_nearly_reached() -> None:
    # 1/(x - p) is bounded by 1/(p - sqrt 2) on the ellipse, and its pole is close to the end of the axis.
    with precision(128):
        pole = arb(2).sqrt() + arb(1) / 100
        for order in (4, 8, 20):
            total = sum((weight / (x - pole) for x, weight in legendre(order, 128)), arb(0))
            error = abs(total - ((pole - 1) / (pole + 1)).log())
            assert error < gauss_error(order) * 100 < 10**4 * error


@pytest.mark.parametrize("name", ["gelu_tanh", "softsign", "1/(1 + 100*z**2)", "elu"])
def test_cells_bound_their_branch_and_keep_away_from_its_poles(name: str) -> None:
    with precision(80):
        on_line = polynomial_growth(activation(name).growth)
        assert on_line is not None
        found = cells(activation(name), on_line, arb(4), arb(2), lambda half: (half * arb(2).sqrt(), half))
        assert all(before.right.overlaps(after.left) for before, after in itertools.pairwise(found))
        assert found[0].left < -4 < 4 < found[-1].right
        for cell in found:
            centre, half = (cell.left + cell.right) / 2, cell.half()
            for x, y in itertools.product((-1.41, -0.5, 0.0, 1.0, 1.41), (-1.0, 0.0, 0.6, 1.0)):
                assert cell.code.run(acb(centre + x * half, y * half))[0].abs_lower() <= cell.bound


def test_branches_are_bounded_beside_their_pieces() -> None:
    # The right branch x/(1 + x) of softsign at Re x >= -1/2 is largest at the end, and has its pole at -1.
    with precision(64):
        bound, beyond = (branch_bound(activation("softsign"), Fraction(n, 2), Fraction(20)) for n in (1, 2))
        assert bound is not None
        for x, y in itertools.product((-0.5, 0.0, 0.7, 20.5), (0.0, 0.3, 0.5)):
            assert abs(x + 1j * y) / abs(1 + x + 1j * y) <= bound.constant * (1 + abs(x)) ** bound.degree
        assert beyond is None
        # Off the line: |cos(z^2)| at (pi + i/4)^2 is about e^{pi/2}/2.
        waves = branch_bound(activation("cos(z**2)"), Fraction(1, 4), Fraction(4))
        assert waves is not None
        assert waves.constant >= abs(((arb.pi() + acb(0, 0.25)) ** 2).cos()) > 2
