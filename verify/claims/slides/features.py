"""What the slides print about features without a spike: Hermite series, Gaussian equivalence, what can be learned."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import sympy as sp

from giantsteps.derivations.equivalence import hermite_features, hermite_orders
from giantsteps.derivations.equivalence import symbols as s
from giantsteps.derivations.gradient_step import symbols as s_step
from giantsteps.derivations.gradient_step.hermite_tensors import hermite
from giantsteps.derivations.language.derivation import Obligation, Vanishing
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByObligations
from giantsteps.verify.claims.gradient_step import result_3_1 as section_3_1
from giantsteps.verify.claims.random_features import no_spike as random_features
from giantsteps.verify.claims.slides.printed import as_printed, convention, printed
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Role, Source
from giantsteps.verify.protocol.statement import claim, eq
from giantsteps.verify.second_route.grids import ANY, ANY_INTERPRETATIONS, SMOOTH, TARGETS, average, grid
from giantsteps.verify.second_route.models import model_at
from giantsteps.verify.solver.models import solved

SERIES_FRAME = LIMITS_FRAME = "Limitations of random features"

# ---- the Hermite series ----


def _polynomial(point: Point) -> dict[str, float]:
    """A random polynomial of degree four at a random argument, and its Hermite coefficients by trapezoidal sums."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    coefficients = generator.standard_normal(5)
    x = float(generator.standard_normal())

    def moment(order: int) -> float:
        series = [0.0] * order + [1.0]
        he, plain = np.polynomial.hermite_e, np.polynomial.polynomial
        return average(lambda z: he.hermeval(z, series) * plain.polyval(z, coefficients))

    values = {name.name: moment(k) for k, name in enumerate(s.hermite_moments)}
    return {**values, s.x.name: x, s.feature_value.name: float(np.polynomial.polynomial.polyval(x, coefficients))}


_terms = [moment / sp.factorial(k) * hermite(k, s.x) for k, moment in enumerate(s.hermite_moments)]

SERIES = claim(
    "slides.hermite-series", "A feature as a Hermite series", Source("slides", SERIES_FRAME),
    eq(s.feature_value, sum(_terms, sp.S.Zero)), Domain((Range("seed"),)),
    ByDerivation(hermite_features.series),
    ByNumbers("random polynomials, trapezoidal sums", _polynomial, tolerances.ROUNDING),
    role=Role.PRINTED,
    wrong={
        "orthonormal weights on unnormalised polynomials":
            sum((t * sp.sqrt(sp.factorial(k)) for k, t in enumerate(_terms)), sp.S.Zero),
        "factorials forgotten": sum(_terms[:3], sp.S.Zero) + 6 * _terms[3] + _terms[4],
    },
    uses=("hermite.parseval",),
    note="Checked value by value for polynomials of degree four; what any number of terms leaves of any activation, "
         "in mean square, is hermite.parseval.",
)


# ---- the order of its terms ----


def _orders(point: Point) -> dict[str, float]:
    """Two directions with overlap epsilon in the plane: averages of Hermite polynomials by a product rule."""
    order, overlap = int(str(point["order"])), float(point[s.overlap.name])
    points, weights = grid(2)
    first = points[:, 0]
    second = overlap * first + np.sqrt(1 - overlap**2) * points[:, 1]
    series = [0.0] * order + [1.0]
    one, other = (np.polynomial.hermite_e.hermeval(u, series) for u in (first, second))
    coefficient = average(lambda z: np.sin(z + 0.7) * np.polynomial.hermite_e.hermeval(z, series))
    factorial = float(sp.factorial(order))
    return {
        s.level.name: order,
        s.d.name: 7.0,
        s.hermite_covariance.name: float(weights @ (one * other)),
        s.hermite_moment.name: coefficient,
        s.hermite_term.name: float(weights @ (coefficient * one / factorial) ** 2),
    }


def _covariance_obligations(statement: sp.Basic) -> tuple[Obligation, ...]:
    """The statement by induction in the order: Stein's lemma for a pair lowers both orders by one."""
    return (*hermite_orders.rules().obligations, *hermite_orders.power_induction(statement.rhs, s.overlap))


def _term_obligations(statement: sp.Basic) -> tuple[Obligation, ...]:
    """E He_k^2 = k! by the same induction at overlap one; then the statement at any order."""
    norm = sp.factorial(s.level)
    square = (s.hermite_moment / sp.factorial(s.level)) ** 2 * norm
    at_order = (statement.lhs - statement.rhs).subs(s.hermite_term, square)
    return (
        *hermite_orders.rules().obligations,
        *hermite_orders.power_induction(norm, sp.S.One),
        Vanishing("the statement", hermite_orders.factorials(at_order)),
    )


_ORDERS = Domain((Range("order", choices=("1", "2", "3", "4", "5", "6")), Range(s.overlap, -0.8, 0.8)))
_orders_in_the_plane = ByNumbers("product Gauss-Hermite rule in the plane", _orders, tolerances.QUADRATURE)
_covariance = sp.factorial(s.level) * s.overlap**s.level

COVARIANCE = claim(
    "random-features.hermite-covariance",
    "Two neurons share the term of order k in proportion to the k-th power of their overlap", paper("Section 3.2"),
    eq(s.hermite_covariance, _covariance), _ORDERS,
    ByObligations("induction in the order", _covariance_obligations), _orders_in_the_plane,
    wrong={"overlap to the first power": sp.factorial(s.level) * s.overlap, "factorial forgotten": s.overlap**s.level},
    note="The overlap of two rows is of order d^(-1/2): terms of order two and more decouple, and act as noise.",
)

TERM = claim(
    "random-features.hermite-term", "The size of one term of the Hermite series does not depend on the dimension",
    paper("Section 3.2"),
    eq(s.hermite_term, s.hermite_moment**2 / sp.factorial(s.level)), _ORDERS,
    ByObligations("induction in the order", _term_obligations), _orders_in_the_plane,
    wrong={
        "factorial squared": s.hermite_moment**2 / sp.factorial(s.level) ** 2,
        "factorial forgotten": s.hermite_moment**2,
    },
)

PRINTED_TERM = convention(
    TERM, "order-of-terms", "The terms of the Hermite series as of order d^(-k/2)", SERIES_FRAME,
    eq(s.hermite_term, s.hermite_moment**2 / sp.factorial(s.level) / s.d**s.level),
    wrong={"not squared": s.hermite_moment**2 / sp.factorial(s.level) / s.d ** (s.level / 2)},
    note="The order is that of the covariance of two neurons; each term of one neuron is of order one.",
)


# ---- Gaussian equivalence ----


def _constants(point: Point) -> dict[str, float]:
    """mu0, mu1, E sigma^2, and mu* as the root of the mean square of what a linear fit leaves."""
    f = SMOOTH[str(point["activation"])].value
    mean, slope = average(f), average(lambda z: z * f(z))
    return {
        s.mu0_constant.name: mean,
        s.mu1_constant.name: slope,
        s.mu2_constant.name: float(np.sqrt(average(lambda z: (f(z) - mean - slope * z) ** 2))),
        s.h2.name: average(lambda z: f(z) ** 2),
    }


_left = s.h2 - s.mu0_constant**2 - s.mu1_constant**2
_CONSTANTS = Domain((Range("activation", choices=ANY), Range(s.h2, 3.0, 5.0)), (), ANY_INTERPRETATIONS)

MU_STAR = claim(
    "random-features.mu-star", "The noise of Gaussian-equivalent features", paper("Section 3.2"),
    eq(s.mu2_constant**2, _left), _CONSTANTS,
    ByDerivation(hermite_features.residual),
    ByNumbers("E(sigma - mu0 - mu1 z)^2, trapezoidal sums", _constants, tolerances.ROUNDING),
    wrong={"mu0 forgotten": s.h2 - s.mu1_constant**2},
)

PRINTED_MU_STAR = as_printed(MU_STAR, "mu-star", "The noise of Gaussian-equivalent features, with its root",
                             SERIES_FRAME)

PRINTED_MU_STAR_SQUARE = printed(
    MU_STAR, "mu-star-without-root", "The noise of Gaussian-equivalent features, without its root",
    "Saddle point of random features", eq(s.mu2_constant, _left),
    wrong={"mu1 not squared": s.h2 - s.mu0_constant**2 - s.mu1_constant},
    note="The same letter has a root two frames earlier.",
)


# ---- what can be learned ----


def _slope(point: Point) -> dict[str, float]:
    """The slope of the target by least squares on a weighted grid."""
    target = SMOOTH[str(point["target"])].value
    return {
        s.linear_coefficient.name: average(lambda z: z * target(z)) / average(lambda z: z * z),
        s.h1_star.name: average(SMOOTH[str(point["target"])].prime),
    }


LINEAR_PART = claim(
    "random-features.linear-part", "The linear part of the target", paper("Section 4.2"),
    eq(s.linear_coefficient, s.h1_star), Domain((Range("target", choices=TARGETS),), (), ANY_INTERPRETATIONS),
    ByDerivation(hermite_features.linear_part), ByNumbers("least squares against E[g']", _slope, tolerances.ROUNDING),
    wrong={"square": s.h1_star**2, "half of it": s.h1_star / 2},
)

PRINTED_LINEAR_PART = convention(
    LINEAR_PART, "linear-part", "The target as theta.x and a non-linear rest", LIMITS_FRAME,
    eq(s.linear_coefficient, sp.S.One),
    wrong={"no linear part": sp.S.Zero},
    note="With |theta| = 1 the linear part is h1* theta.x; with coefficient one the rest is not orthogonal to it.",
)

PRINTED_BEST_LINEAR = printed(
    section_3_1.LINEAR_FLOOR, "best-linear-predictor",
    "The error of the best linear predictor as the norm of the linear part", "Batch size",
    eq(s_step.linear_floor, s.h1_star**2),
    wrong={"the constant as well": s.h1_star**2 + s.h2_star},
    note="The error is the part of the target that is not learned, of degree above one.",
)


def _many_samples(point: Point) -> Mapping[str, float] | None:
    """The solver without a spike or noise; the error exceeds its floor by a quantity of order 1/beta + beta/alpha."""
    model = model_at({**point, s.r.name: 0.0})
    solution = solved(replace(model, alpha=3e8, beta=3e4, ridge=1e-3, noise=0.0))
    if not solution.converged:
        return None
    g = compile_numpy(model.target.expression)
    return {
        s.test_error.name: solution.test_error,
        s.h1_star.name: average(lambda z: z * g(z)),
        s.h2_star.name: average(lambda z: g(z) ** 2),
    }


MANY_SAMPLES = claim(
    "random-features.many-samples",
    "With many samples and neurons plain random features learn the linear part of the target, and no more",
    paper("Section 4.2"),
    eq(s.test_error, s.h2_star - s.h1_star**2), random_features.NO_SPIKE,
    ByNumbers("the solver at alpha = 3e8, beta = 3e4", _many_samples, tolerances.ASYMPTOTIC, finite_size=True),
    kind=Kind.LIMIT,
    wrong={"square lost": s.h2_star - s.h1_star},
    uses=("no-spike.floor",), note="One is the largest degree that n, p = O(d) allow; the floor itself is proved.",
)

PRINTED_MANY_SAMPLES = printed(
    MANY_SAMPLES, "error-of-random-features", "The error of random features as the norm of the part of low degree",
    LIMITS_FRAME, eq(s.test_error, s.h1_star**2),
    wrong={"not squared": s.h1_star},
    note="P_{<= kappa} is the part that is learned; the error is the norm of the rest.",
)

CLAIMS: tuple[Claim, ...] = (
    SERIES, COVARIANCE, TERM, PRINTED_TERM, MU_STAR, PRINTED_MU_STAR, PRINTED_MU_STAR_SQUARE, LINEAR_PART,
    PRINTED_LINEAR_PART, PRINTED_BEST_LINEAR, MANY_SAMPLES, PRINTED_MANY_SAMPLES,
)
