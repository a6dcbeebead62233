"""Claims on the limit of many letters: what its argument rests on, and the test error where means leave nothing."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.saddle_point import many_letters as limit
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.solve import solve
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Kind
from giantsteps.verify.protocol.statement import MORE, claim, eq
from giantsteps.verify.protocol.tolerances import QUADRATURE, ROUNDING, SOLVER
from giantsteps.verify.second_route.saddle_point import letter_limit as numbers

SECTION = "Section 4.4"


def _test_error(model: Model) -> float:
    """That of the solver, no number where it did not converge."""
    solved = solve(model)
    return solved.test_error if solved.converged else float("nan")


_along = s.r * s.kappa
_third = s.hermite_moments[3] / 6 * (_along**3 + 3 * _along * (s.c - 1))
_fourth = s.hermite_moments[4] / 24 * (_along**4 + 6 * _along**2 * (s.c - 1) + 3 * (s.c - 1) ** 2)


def _taylor(order: int, value: sp.Expr, word: str) -> Claim:
    def stated(right: sp.Expr) -> sp.Equality:
        return eq(limit.coefficients[order], right)

    return claim(
        f"letter-density.{word}-order",
        f"Order {order} of a letter's mean: E[He_{order} sigma]/{order}! E_z (r kappa + sqrt(c - 1) z)^{order}",
        paper(SECTION),
        stated(value), numbers.TAYLOR,
        ByDerivation(lambda: limit.taylor(order)),
        ByNumbers("a contour integral over complex letters", numbers.taylor, QUADRATURE),
        wrong={
            "the bulk of the letter forgotten": stated(value.xreplace({s.c: sp.S.One})),
            "the whole bulk c in place of what the step added": stated(value.xreplace({s.c: s.c + 1})),
            "eight per cent more": stated(value * MORE),
        },
        uses=("appendix-d.letter-scaling",),
        note="All letters average one function: mu0_u(kappa) = E_z g(u y), y = r kappa + sqrt(c - 1) z, g = P_1 "
             "sigma. What is orthogonal to the means of all letters is orthogonal to y^n wherever E[He_n sigma] is "
             "not zero.",
    )


def _factors(right: sp.Expr) -> sp.Equality:
    return eq(limit.of_letters, right)


def _error(right: sp.Expr) -> sp.Equality:
    return eq(s.test_error, right)


_product, _limit = 2 * limit.of_activation * limit.of_weight, limit.unexplained - 2 * limit.met + limit.fluctuation

CLAIMS: tuple[Claim, ...] = (
    _taylor(3, _third, "third"), _taylor(4, _fourth, "fourth"),
    claim(
        "letter-density.mellin",
        "The Mellin transform in the letter of E[f mu0_u] is twice a product, of the student's and the weight's",
        paper(SECTION),
        _factors(_product), numbers.MELLIN,
        ByDerivation(limit.mellin),
        ByNumbers("sums over kappa, over z and over the logarithms of u, x and y", numbers.mellin, ROUNDING),
        wrong={
            "one sign of y": _factors(_product / 2),
            "the weight's transform at s": _factors(2 * limit.of_activation * limit.of_weight_at_s),
            "eight per cent more": _factors(_product * MORE),
        },
        uses=("letter-density.third-order", "letter-density.fourth-order"),
        note="F(u) = E[f mu0_u], K the weight of y in F, both of the parity of sigma. Only the product is checked. The "
             "argument from it: suppose F = 0 for the letters of a law whose support has a point of accumulation. F is "
             "analytic and vanishes for all u. Then F^ = 0, and K^ = 0 where g^ is not zero, so that K = 0 and f = 0. "
             "With V, f/(1 + V) replaces f. Hence the means span all functions of kappa of their parity, unless sigma "
             "is a polynomial. The numbers are those of an erf student.",
    ),
    claim(
        "letter-density.test-error",
        "Given yhat = y0 up to what parity forbids, the test error of many letters is what is left", paper(SECTION),
        _error(_limit), numbers.LIMIT,
        ByDerivation(limit.test_error),
        ByNumbers("the density's solver against matrices over eight letters", partial(numbers.limit, _test_error),
                  SOLVER, points=4),
        kind=Kind.FIXED_POINT,
        wrong={
            "what kappa does not tell forgotten": _error(_limit - limit.unexplained),
            "the overlap with theta_perp counted once": _error(limit.unexplained - limit.met + limit.fluctuation),
            "no fluctuation of the readout": _error(limit.unexplained - 2 * limit.met),
            "eight per cent more": _error(_limit * MORE),
        },
        uses=("letter-density.mellin", "appendix-d.test-error"),
        note="yhat = y0 is a hypothesis, imposed by the derivation and by both solvers. The note of "
             "letter-density.mellin argues for it; saddle points of up to twelve groups, with free means, approach the "
             "same error in the project's tests, not in this claim. Here letters are uniform on an interval and sigma "
             "is odd, so that y0 denotes its odd part. psi, Q and q2 are those of a readout without means. For a large "
             "ridge they vanish; what remains is the one-dimensional random-feature model of Section 4.4, with the "
             "error E[y2 - y0^2]. At gamma = 1, for an odd target without noise, the error is zero.",
    ),
)
