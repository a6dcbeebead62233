"""Conditional averages of features and their derivatives, from definitions.

Derivatives are Cauchy integrals: f^(k)(0) = k!/(N r^k) sum_j f(r w^j) w^(-jk) over the N-th roots of unity w,
accurate to rounding for functions analytic in a disc a few times wider than r.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from giantsteps.derivations.equivalence import symbols as s
from giantsteps.verify.checks.points import Point
from giantsteps.verify.second_route.grids import LINE, SMOOTH, WEIGHT, Array, grid, normal_panels
from giantsteps.verify.second_route.values import value

_CIRCLE = 16


def derivative(function: Callable[[complex], complex], order: int, radius: float = 0.1) -> float:
    """The derivative of given order at zero of a function that is real on the real line."""
    roots = np.exp(2j * np.pi * np.arange(_CIRCLE) / _CIRCLE)
    values = np.array([function(radius * root) for root in roots])
    return float((math.factorial(order) / radius**order * np.mean(values * roots**-order)).real)


def complex_average(values: Array) -> complex:
    """The trapezoidal sum of values on the line of ``brute_force.average``."""
    return complex(WEIGHT @ values)


def coefficients(point: Point, bias: complex = 0.0, bulk: complex = 0.0) -> tuple[complex, complex, complex]:
    """mu0, mu1 and mu2^2 from their definitions, with ``bias`` added to r kappa and ``bulk`` to c."""
    sigma = SMOOTH[str(point["activation"])].value
    c = value(point, s.c) + bulk
    root = np.sqrt(c)
    values = sigma(value(point, s.r) * value(point, s.kappa) + bias + root * LINE)
    mu0 = complex_average(values)
    mu1 = complex_average(LINE * values) / root
    return mu0, mu1, complex_average((values - mu0 - root * mu1 * LINE) ** 2)


def names(point: Point) -> dict[str, float]:
    """mu0, mu1, mu2^2 under the names of their symbols."""
    mu0, mu1, mu2_square = coefficients(point)
    return {s.mu0.name: mu0.real, s.mu1.name: mu1.real, s.mu2_square.name: mu2_square.real}


def mean_at(point: Point, overlap: complex) -> complex:
    """E[phi | kappa] of a neuron of overlap ``overlap`` with v."""
    sigma = SMOOTH[str(point["activation"])].value
    c, kappa = value(point, s.c), value(point, s.kappa)
    return complex_average(sigma(kappa * (value(point, s.r) + overlap) + np.sqrt(c - overlap**2) * LINE))


def pair_at(point: Point, overlap: complex) -> complex:
    """E[phi_k phi_l | kappa] of two neurons whose inputs have variance c and covariance ``overlap``."""
    sigma = SMOOTH[str(point["activation"])].value
    c, argument = value(point, s.c), value(point, s.r) * value(point, s.kappa)
    points, weights = grid(2)
    first = np.sqrt(c) * points[:, 0]
    second = overlap / np.sqrt(c) * points[:, 0] + np.sqrt(c - overlap**2 / c) * points[:, 1]
    return complex(weights @ (sigma(argument + first) * sigma(argument + second)))


def slopes(point: Point) -> dict[str, float]:
    """Derivatives of the coefficients in kappa, in a bias and in c."""
    r = value(point, s.r)
    return {
        **names(point),
        s.mu0_slope.name: derivative(lambda h: coefficients(point, bias=r * h)[0], 1),
        s.mu0_bulk_slope.name: derivative(lambda h: coefficients(point, bulk=h)[0], 1),
        s.mu1_bias_slope.name: derivative(lambda h: coefficients(point, bias=h)[1], 1),
        s.mu2_bias_slope.name: derivative(lambda h: coefficients(point, bias=h)[2], 1),
    }


def mean_slopes(point: Point) -> dict[str, float]:
    """Derivatives of the conditional mean in the overlap with v, at zero."""
    return {
        **names(point),
        s.feature_mean_slope.name: derivative(lambda h: mean_at(point, h), 1),
        s.feature_mean_curvature.name: derivative(lambda h: mean_at(point, h), 2),
    }


def pair_slopes(point: Point) -> dict[str, float]:
    """Derivatives of the conditional covariance in the overlap of two neurons, at zero."""
    return {
        **names(point),
        s.covariance_slope.name: derivative(lambda h: pair_at(point, h), 1),
        s.covariance_curvature.name: derivative(lambda h: pair_at(point, h), 2),
    }


def finite_gaps(point: Point) -> dict[str, float]:
    """d times the differences of mean and covariance between the two maps, at d = 10^6 and 4 10^6.

    The corrections are a series in d^(-1/2), so twice the second value minus the first is left
    with an error of order 1/d.
    """
    tau, kappa = value(point, s.scaled_overlap), value(point, s.kappa)
    numbers = names(point)
    mu0, mu1 = numbers[s.mu0.name], numbers[s.mu1.name]

    def gaps(d: float) -> tuple[float, float]:
        small = tau / math.sqrt(d)
        means = mean_at(point, small).real - mu0 - kappa * small * mu1
        covariances = pair_at(point, small).real - pair_at(point, 0.0).real - small * mu1**2
        return d * means, d * covariances

    near, far = gaps(1e6), gaps(4e6)
    return {**numbers, s.mean_gap.name: 2 * far[0] - near[0], s.covariance_gap.name: 2 * far[1] - near[1]}


def in_space(point: Point) -> dict[str, float]:
    """A neuron in R^3 with v on the first axis: mean and variance of its feature, summed over x_perp.

    Its row has squared norm c and overlap s_k with v; the variance is measured at s_k = 0.
    """
    sigma = SMOOTH[str(point["activation"])].value
    c, r, kappa = value(point, s.c), value(point, s.r), value(point, s.kappa)
    overlap = value(point, s.spike_overlap)
    points, weights = grid(2)
    direction = np.array([0.6, -0.8])
    values = sigma(kappa * (r + overlap) + points @ (math.sqrt(c - overlap**2) * direction))
    centred = sigma(kappa * r + points @ (math.sqrt(c) * direction))
    mean = float(weights @ centred)
    return {
        **names(point),
        s.feature_mean.name: float(weights @ values),
        s.feature_variance.name: float(weights @ (centred - mean) ** 2),
    }


def projected_rows(point: Point) -> dict[str, float]:
    """Random vectors in R^4 and the projector 1 - v v^T as a matrix."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    v, theta, first, second = generator.standard_normal((4, 4))
    v, theta = v / np.linalg.norm(v), theta / np.linalg.norm(theta)
    projector = np.eye(4) - np.outer(v, v)
    return {
        s.projected_product.name: float(first @ projector @ second),
        s.row_product.name: float(first @ second),
        s.spike_overlap.name: float(first @ v),
        s.other_overlap.name: float(second @ v),
        s.rho.name: float(np.sum((projector @ theta) ** 2)),
        s.gamma.name: float(v @ theta),
    }


def equivalent_moments(point: Point) -> dict[str, float]:
    """Mean and covariance of two features mu0 + mu1 w.x + mu2 xi given kappa, summed over x_perp in the plane and
    the two xi.
    """
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    rows = 0.5 * generator.standard_normal((2, 3))
    kappa, mu0, mu1 = value(point, s.kappa), value(point, s.mu0), value(point, s.mu1)
    points, weights = grid(4)
    x = np.column_stack([np.full(len(points), kappa), points[:, :2]])
    features = mu0 + mu1 * x @ rows.T + math.sqrt(value(point, s.mu2_square)) * points[:, 2:]
    means = weights @ features
    return {
        s.feature_mean.name: float(means[0]),
        s.equivalent_covariance.name: float(weights @ ((features[:, 0] - means[0]) * (features[:, 1] - means[1]))),
        s.projected_product.name: float(rows[0, 1:] @ rows[1, 1:]),
        s.spike_overlap.name: float(rows[0, 0]),
        s.row_product.name: float(rows[0] @ rows[1]),
    }


def sphere(point: Point) -> dict[str, float]:
    """Rows uniform on the circle or on the sphere in R^3: |Wv|^2 for p rows, and the variance of the dropped term."""
    inputs, width, c = int(str(point["inputs"])), 5, value(point, s.c)
    node, weight = np.polynomial.legendre.leggauss(12)
    # The coordinate of a uniform point on the sphere in R^3 is uniform; on the circle it is a cosine of a uniform
    # angle.
    coordinate = node if inputs == 3 else np.cos(np.pi * (np.arange(12) + 0.5) / 12)
    weights = weight / 2 if inputs == 3 else np.full(12, 1 / 12)
    square = c * coordinate**2
    return {
        s.spike_row_norm.name: float(width * weights @ square),
        s.hadamard_variance.name: float(value(point, s.q2) * (weights @ (square * (c - square)))),
        s.d.name: inputs,
        s.beta.name: width / inputs,
        s.p.name: width,
    }


def sign_coefficients(point: Point) -> dict[str, float]:
    """mu0, mu1, mu2^2 of the sign activation: Gauss-Legendre panels on either side of the jump."""
    r, c, kappa = value(point, s.r), value(point, s.c), value(point, s.kappa)
    root = math.sqrt(c)
    jump = max(-12.0, min(12.0, -r * kappa / root))
    edges = np.concatenate([np.linspace(-12, jump, 40), np.linspace(jump, 12, 40)[1:]])
    z, weights = normal_panels(edges, 20)
    values = np.sign(r * kappa + root * z)
    mu0 = float(weights @ values)
    mu1 = float(weights @ (z * values)) / root
    residual = float(weights @ (values - mu0 - root * mu1 * z) ** 2)
    return {s.mu0.name: mu0, s.mu1.name: mu1, s.mu2_square.name: residual}


def polynomial_features(point: Point) -> dict[str, float]:
    """A feature with the Hermite coefficients of the point: residual of its linear fit, and covariance of two
    neurons.
    """
    he = np.polynomial.hermite_e
    series = [value(point, c) / math.sqrt(math.factorial(k)) for k, c in enumerate(s.hermite_coefficients[:6])]
    correlation = value(point, s.correlation)
    points, weights = grid(2)
    first = he.hermeval(points[:, 0], series)
    second = he.hermeval(correlation * points[:, 0] + math.sqrt(1 - correlation**2) * points[:, 1], series)
    mean = float(weights @ first)
    slope = float(weights @ (points[:, 0] * first))
    return {
        s.mu2_square.name: float(weights @ (first - mean - slope * points[:, 0]) ** 2),
        s.pair_covariance.name: float(weights @ ((first - mean) * (second - mean))),
    }


def linear_fit_error(point: Point) -> dict[str, float]:
    """E(sigma - A - B z)^2 at the point's A and B."""
    sigma = SMOOTH[str(point["activation"])].value
    values = sigma(value(point, s.r) * value(point, s.kappa) + math.sqrt(value(point, s.c)) * LINE)
    error = (values - value(point, s.fit_constant) - value(point, s.fit_slope) * LINE) ** 2
    return {**names(point), s.linear_fit_error.name: float(WEIGHT @ error)}
