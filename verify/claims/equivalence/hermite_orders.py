"""Hermite series at symbolic order: orthogonality, Mehler's formula, slopes, Parseval's identity.

Proofs are inductions in integer symbols, computed from the statement; numbers are exact moments and trapezoidal sums.
"""

from __future__ import annotations

import math

import numpy as np
import sympy as sp

from giantsteps.derivations.equivalence import hermite_orders
from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.equivalence.hermite_orders import coefficient, index
from giantsteps.derivations.language.derivation import Obligation, Vanishing
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByObligations
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Range
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.second_route.grids import SMOOTH, Array, average, normal_rule

he = np.polynomial.hermite_e
BEHIND = "Section 3.1 and Appendix B: Hermite expansions"


def _rules() -> tuple[Obligation, ...]:
    return hermite_orders.rules().obligations


# ---- orthogonality and Mehler's formula ----

_ORDERS = tuple(str(k) for k in range(9))
_PAIRS = Domain((Range("first", choices=_ORDERS), Range("second", choices=_ORDERS), Range(s.overlap, -0.9, 0.9)))


def _moment(power: int) -> int:
    """E[z^power]."""
    return 0 if power % 2 else math.prod(range(1, power, 2))


def _powers(order: int) -> list[int]:
    """He_k by powers of z: k!/(j! (k - 2j)! (-2)^j) in front of z^(k - 2j), in integers."""
    found = [0] * (order + 1)
    for j in range(order // 2 + 1):
        size = math.factorial(order) // (math.factorial(j) * math.factorial(order - 2 * j) * 2**j)
        found[order - 2 * j] = (-1) ** j * size
    return found


def pairs(point: Point) -> dict[str, float]:
    """E[He_j He_k] in integers, and E[He_j(z) He_k(epsilon z + sqrt(1 - epsilon^2) xi)] by a Gauss rule."""
    j, k, epsilon = int(str(point["first"])), int(str(point["second"])), float(point[s.overlap.name])
    exact = sum(a * b * _moment(m + n) for m, a in enumerate(_powers(j)) for n, b in enumerate(_powers(k)))
    line, weight = normal_rule(10)  # exact for degree 19 in each variable
    other = epsilon * line[:, None] + math.sqrt(1 - epsilon**2) * line
    first = he.hermeval(line, [0.0] * j + [1.0])[:, None]
    apart = float(weight @ (first * he.hermeval(other, [0.0] * k + [1.0])) @ weight)
    return {
        s.level.name: float(j),
        s.other_level.name: float(k),
        s.hermite_pair.name: float(exact),
        # In units in which both polynomials have variance one, so that rounding stays rounding.
        s.hermite_pair_apart.name: apart / math.sqrt(math.factorial(j) * math.factorial(k)),
    }


def _where_equal(value: sp.Expr) -> sp.Expr:
    return sp.Piecewise((value, eq(s.level, s.other_level)), (sp.S.Zero, True))


def _mehler(statement: sp.Basic) -> tuple[Obligation, ...]:
    """The statement is about normalised polynomials: sqrt(j! k!) times its right-hand side is A_jk."""
    size = sp.sqrt(sp.factorial(s.level) * sp.factorial(s.other_level))
    equal = statement.rhs.subs(s.other_level, s.level) * sp.factorial(s.level)
    different = statement.rhs.subs(s.other_level, s.level + hermite_orders.distance)
    return (
        *_rules(),
        *hermite_orders.power_induction(equal, s.overlap),
        Vanishing("different orders", different * size.subs(s.other_level, s.level + hermite_orders.distance)),
    )


ORTHOGONALITY = claim(
    "hermite.orthogonality", "E[He_j He_k] is k! for j = k and zero otherwise, for all orders", paper(BEHIND),
    eq(s.hermite_pair, _where_equal(sp.factorial(s.level))), _PAIRS,
    ByObligations("induction in both orders by Stein's lemma",
                  lambda said: (*_rules(), *hermite_orders.pair_induction(said.rhs, sp.S.One))),
    ByNumbers("moments in integers, orders up to eight", pairs, tolerances.ROUNDING, points=120),
    wrong={
        "not normalised": _where_equal(sp.S.One),
        "every pair": sp.factorial(s.level),
        "(k + 1)!": _where_equal(sp.factorial(s.level + 1)),
    },
)

MEHLER = claim(
    "hermite.mehler",
    "Hermite polynomials of correlated arguments: epsilon^k for equal orders k, zero for different ones", paper(BEHIND),
    eq(s.hermite_pair_apart, _where_equal(s.overlap**s.level)), _PAIRS,
    ByObligations("induction in the order by Stein's lemma for a pair", _mehler),
    ByNumbers("Gauss rule exact for the degrees, orders up to eight", pairs, tolerances.QUADRATURE, points=120),
    wrong={
        "linear": _where_equal(s.overlap),
        "one order more": _where_equal(s.overlap ** (s.level + 1)),
        "every pair": s.overlap**s.level,
    },
    uses=("hermite.orthogonality",), note="Polynomials normalised to E[h_k^2] = 1. At epsilon = 1 it is orthogonality.",
)

# ---- series ----

_ACTIVATIONS = ("tanh", "sin", "erf", "shifted sin", "quadratic")
_DEGREES = tuple(str(n) for n in range(2, 9))
_SERIES = Domain((Range("activation", choices=_ACTIVATIONS), Range("degree", choices=_DEGREES),
                  Range(s.correlation, -0.9, 0.9)),
                 ("sigma and sigma' have finite second moments under the normal law",),
                 ({"s": lambda k: 0.9 / (1.3 + k)}, {"s": lambda k: 0.4 + 0.1 * np.cos(k)}))


def _normalised(k: int, z: Array) -> Array:
    """He_k/sqrt(k!) by the recurrence of orthonormal polynomials."""
    before, now = np.zeros_like(z), np.ones_like(z)
    for j in range(k):
        before, now = now, (z * now - math.sqrt(j) * before) / math.sqrt(j + 1)
    return now


def _coefficients(name: str, count: int) -> list[float]:
    value = SMOOTH[name].value
    return [average(lambda z, k=k: _normalised(k, z) * value(z)) for k in range(count)]  # type: ignore[misc]


def series(point: Point) -> dict[str, float]:
    """Remainders of the series of sigma and sigma' as mean squares on a grid, and E[h_J sigma'], from definitions."""
    student, degree = SMOOTH[str(point["activation"])], int(str(point["degree"]))
    found = _coefficients(str(point["activation"]), degree + 2)
    slopes = [average(lambda z, k=k: _normalised(k, z) * student.prime(z)) for k in range(degree + 1)]  # type: ignore[misc]

    def left(function: object, weights: list[float]) -> float:
        def square(z: Array) -> Array:
            fitted = sum((w * _normalised(k, z) for k, w in enumerate(weights)), np.zeros_like(z))
            return np.asarray((function(z) - fitted) ** 2)  # type: ignore[operator]

        return average(square)

    return {
        s.series_degree.name: degree,  # an integer: it bounds sums
        s.level.name: degree,
        s.h2.name: average(lambda z: student.value(z) ** 2),
        s.h1_check.name: average(lambda z: (student.prime(z) - slopes[0]) ** 2),
        s.series_tail.name: left(student.value, found[: degree + 1]),
        s.slope_tail.name: left(student.prime, slopes[:degree]),
        s.slope_moment.name: slopes[degree],
        s.next_coefficient.name: found[degree + 1],
    }


def series_functions(point: Point) -> Functions:
    """s_k of the activation of the point."""
    found = _coefficients(str(point["activation"]), 12)
    return {"s": lambda k: found[int(k)]}


_numbers = ByNumbers("trapezoidal sums, degrees two to eight", series, tolerances.QUADRATURE, series_functions)
_SQUARES = sp.Sum(coefficient(index) ** 2, (index, 0, s.series_degree))
_SLOPES = sp.Sum(index * coefficient(index) ** 2, (index, 2, s.series_degree))
_LAST = s.series_degree + 1


def _tail(statement: sp.Basic) -> tuple[Obligation, ...]:
    """One more term: E(r - s h)^2 = E r^2 - 2 s E[r h] + s^2 with E[r h_{N+1}] = s_{N+1}, r the remainder."""
    cross, new = sp.symbols("c_0 s_0", real=True)
    gained = (-2 * new * cross + new**2).subs({cross: new}).subs(new, coefficient(_LAST))
    first = s.h2 - 2 * coefficient(0) ** 2 + coefficient(0) ** 2
    return (*_rules(), *hermite_orders.degree_induction(statement.rhs, 0, first, gained))


def _slope_tail(statement: sp.Basic) -> tuple[Obligation, ...]:
    """The same for sigma', whose coefficient of order N is sqrt(N + 1) s_{N+1}; h1 is that of order zero."""
    moment = sp.sqrt(_LAST) * coefficient(_LAST)
    return (*_rules(), *hermite_orders.degree_induction(statement.rhs, 1, s.h1_check, -(moment**2)))


def _covariance(statement: sp.Basic) -> tuple[Obligation, ...]:
    """One more term adds s^2 E[h_{N+1} h'_{N+1}]; products of different orders vanish by Mehler's formula."""
    gained = coefficient(_LAST) ** 2 * s.correlation**_LAST
    return (*_rules(), *hermite_orders.degree_induction(statement.rhs, 0, sp.S.Zero, gained))


SLOPE = claim(
    "hermite.slope", "The orthonormal coefficient of order k of sigma' is sqrt(k + 1) s_{k+1}", paper(BEHIND),
    eq(s.slope_moment, sp.sqrt(s.level + 1) * s.next_coefficient), _SERIES,
    ByDerivation(hermite_orders.slope), _numbers,
    wrong={"k": sp.sqrt(s.level) * s.next_coefficient, "without the root": (s.level + 1) * s.next_coefficient},
    uses=("hermite.orthogonality",),
)

PARSEVAL = claim(
    "hermite.parseval", "A Hermite series of degree N leaves E sigma^2 less the squares of its coefficients, for all N",
    paper(BEHIND),
    eq(s.series_tail, s.h2 - _SQUARES), _SERIES,
    ByObligations("induction in the degree", _tail), _numbers,
    wrong={
        "k s_k^2": s.h2 - sp.Sum(index * coefficient(index) ** 2, (index, 0, s.series_degree)),
        "without the mean": s.h2 - sp.Sum(coefficient(index) ** 2, (index, 1, s.series_degree)),
    },
    uses=("hermite.orthogonality",),
    note="Exact at every N. That the remainder tends to zero, E sigma^2 = sum_k s_k^2, is completeness of the "
         "polynomials, a lemma that is used by name and not proved here.",
)

SLOPE_PARSEVAL = claim(
    "hermite.slope-parseval",
    "What the series of sigma' of degree N - 1 leaves: h1_check less the sum of k s_k^2 from 2 to N", paper(BEHIND),
    eq(s.slope_tail, s.h1_check - _SLOPES), _SERIES,
    ByObligations("induction in the degree", _slope_tail), _numbers,
    wrong={
        "no factor k": s.h1_check - sp.Sum(coefficient(index) ** 2, (index, 2, s.series_degree)),
        "the linear part as well": s.h1_check - _SLOPES - coefficient(1) ** 2,
        "k - 1": s.h1_check - sp.Sum((index - 1) * coefficient(index) ** 2, (index, 2, s.series_degree)),
    },
    uses=("hermite.slope", "hermite.orthogonality"),
    note="With completeness of the polynomials, h1_check = sum_{k >= 2} k s_k^2 for every sigma' of finite variance.",
)


def truncated(point: Point) -> dict[str, float]:
    """Cov[sigma_N(z), sigma_N(z')] of the series cut at degree N, on a product Gauss rule exact for its degree."""
    degree, epsilon = int(str(point["degree"])), float(point[s.correlation.name])
    found = _coefficients(str(point["activation"]), degree + 1)
    line, weight = normal_rule(12)

    def cut(z: Array) -> Array:
        return np.asarray(sum((w * _normalised(k, z) for k, w in enumerate(found)), np.zeros_like(z)))

    other = cut(epsilon * line[:, None] + math.sqrt(1 - epsilon**2) * line)
    mean = float(weight @ cut(line))
    return {
        s.series_degree.name: degree,
        s.pair_covariance.name: float((weight * cut(line)) @ other @ weight) - mean**2,
    }


_POWERS = sp.Sum(coefficient(index) ** 2 * s.correlation**index, (index, 1, s.series_degree))
COVARIANCE = claim(
    "hermite.covariance-series", "Covariance of two features of correlated inputs, for polynomials of any degree N",
    paper(BEHIND),
    eq(s.pair_covariance, _POWERS), _SERIES,
    ByObligations("induction in the degree", _covariance),
    ByNumbers("series cut at degree two to eight, exact Gauss rule", truncated, tolerances.QUADRATURE,
              series_functions),
    wrong={
        "linear in the correlation": s.correlation * sp.Sum(coefficient(index) ** 2, (index, 1, s.series_degree)),
        "the mean as well": sp.Sum(coefficient(index) ** 2 * s.correlation**index, (index, 0, s.series_degree)),
    },
    uses=("hermite.mehler",),
    note="Other activations are limits N -> infinity: the series converges absolutely, being dominated by sum s_k^2.",
)

CLAIMS: tuple[Claim, ...] = (ORTHOGONALITY, MEHLER, SLOPE, PARSEVAL, SLOPE_PARSEVAL, COVARIANCE)
