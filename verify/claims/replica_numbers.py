"""Numbers for the replica computation: small Gibbs measures, explicit replicas and readouts, dense matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from derivations.activations.activation import activation
from derivations.language import symbols as s
from numerics.gaussian.coefficients import conditional_coefficients
from verify.checks.kinds import Point
from verify.claims.models import GENERIC

R, B = s.replicas, s.inverse_temperature
LOGS: Mapping[str, Callable[..., Any]] = {"L": lambda z: np.sin(z) + 0.3 * z + 0.5}


def _random(point: Point) -> np.random.Generator:
    return np.random.default_rng(int(float(point["seed"])))


def gibbs(point: Point) -> Mapping[str, float]:
    """A quartic averaged with weight exp(-B risk) at B = 1e6, on a grid around the minimum of a quartic risk."""
    curvature, minimum = float(point[s.mode_curvature.name]), float(point[s.minimum_point.name])
    temperature = 1e6
    width = 1 / np.sqrt(temperature * curvature)
    a = minimum + width * np.linspace(-10, 10, 4001)
    offset = a - minimum
    exponent = -temperature * (curvature * offset**2 / 2 + 0.1 * offset**3 + 0.2 * offset**4)
    weight = np.exp(exponent - exponent.max())
    coefficients = _random(point).uniform(0.2, 1.0, 5)
    value = sum(h * a**k for k, h in enumerate(coefficients))
    return {
        s.gibbs_average.name: float(weight @ value / weight.sum()),
        **{h.name: float(x) for h, x in zip(s.test_coefficients, coefficients, strict=True)},
    }


def log_average(point: Point) -> Mapping[str, float]:
    """(E Z^h - E Z^-h)/(2h) at h = 1e-5 by the trapezoidal rule."""
    z = np.arange(-10, 10.01, 0.05)
    weight = 0.05 * np.exp(-(z**2) / 2) / np.sqrt(2 * np.pi)
    scale = float(point[s.scale.name])
    log = scale * LOGS["L"](z)
    h = 1e-5
    return {s.mean_log.name: float(weight @ (np.exp(h * log) - np.exp(-h * log))) / (2 * h)}


def triples(point: Point) -> Mapping[str, float]:
    """E of the product over three samples of exp(-B sum of two losses), by enumeration of all outcomes."""
    generator = _random(point)
    x, y = generator.normal(size=(4, 3)), generator.normal(size=4)
    probability = generator.dirichlet(np.ones(4))
    a = generator.normal(size=(2, 3))
    factor = np.exp(-float(point[B.name]) * ((y[:, None] - x @ a.T) ** 2 / 2).sum(axis=1))
    total = 0.0
    for i in range(4):
        for j in range(4):
            for k in range(4):
                total += probability[i] * probability[j] * probability[k] * factor[i] * factor[j] * factor[k]
    return {
        s.replicated_average.name: float(total),
        s.sample_bracket.name: float(probability @ factor),
        s.n.name: 3.0,
        s.d.name: 5.0,
    }


def sample(point: Point) -> Mapping[str, float]:
    """Output, m, zeta and local field of a readout on one input, as matrix products."""
    generator = _random(point)
    p, d = 5, 4
    W, v, x = generator.normal(size=(p, d)) / 2, generator.normal(size=d), generator.normal(size=d)
    v /= np.linalg.norm(v)
    a, xi = generator.normal(size=p), generator.normal(size=p)
    kappa = float(v @ x)
    across = x - kappa * v
    zero, one, two = (float(GENERIC[f"mu{k}"](kappa)) for k in range(3))
    root = np.sqrt(p)
    return {
        s.kappa.name: kappa,
        s.output.name: float(a @ (zero + one * (W @ x) + two * xi)) / root,
        s.m.name: float(a.sum()) / root,
        s.zeta.name: float(a @ (W @ v)) / root,
        s.local_field.name: float(a @ (one * (W @ across) + two * xi)) / root,
    }


def fields(point: Point) -> Mapping[str, float]:
    """Covariances of the fields of two readouts from the linear maps that make them of (g, xi)."""
    generator = _random(point)
    p, d = 5, 4
    W, v, theta = generator.normal(size=(p, d)) / 2, generator.normal(size=d), generator.normal(size=d)
    v /= np.linalg.norm(v)
    Pi = np.eye(d) - np.outer(v, v)
    theta = Pi @ theta
    theta /= np.linalg.norm(theta)
    first, second = generator.normal(size=(2, p))
    kappa = float(generator.normal())
    one, two = (float(GENERIC[f"mu{k}"](kappa)) for k in (1, 2))
    rows = [np.concatenate([one * (a @ W @ Pi), two * a]) / np.sqrt(p) for a in (first, second)]
    return {
        s.kappa.name: kappa,
        s.field_covariance.name: float(rows[0] @ rows[1]),
        s.label_field_covariance.name: float(rows[0][:d] @ theta),
        s.overlap_pair[0].name: float(first @ W @ Pi @ W.T @ second) / p,
        s.overlap_pair[1].name: float(first @ second) / p,
        s.psi_pair.name: float(first @ W @ theta) / np.sqrt(p),
    }


def matrix(point: Point) -> Mapping[str, float]:
    """Inverse and determinant of V^0 1 + q^0 11^T for an integer number of replicas, by numpy."""
    count = int(float(point["count"]))
    own, shared = float(point[s.own_overlap.name]), float(point[s.shared_overlap.name])
    matrix = own * np.eye(int(count)) + shared
    inverse = np.linalg.inv(matrix)
    return {
        R.name: float(count),
        s.inverse_same.name: float(inverse[0, 0]),
        s.inverse_other.name: float(inverse[0, 1]),
        s.log_det.name: float(np.linalg.slogdet(matrix)[1]),
        s.difference_eigenvalue.name: float(np.linalg.eigvalsh(matrix)[0]),
        s.own_square.name: float(matrix[0, 0]),
    }


def form(point: Point) -> Mapping[str, float]:
    """(1/2) a.q^ a for the matrix of conjugates written out."""
    generator = _random(point)
    count = int(float(point["count"]))
    a = generator.normal(size=count)
    matrix = float(point[s.q2_hat.name]) - float(point[s.V2_hat.name]) * np.eye(int(count))
    return {
        s.conjugate_form.name: float(a @ matrix @ a) / 2,
        s.replica_sum.name: float(a.sum()),
        s.replica_squares.name: float(a @ a),
    }


def coupling(point: Point) -> Mapping[str, float]:
    """E exp(sqrt(q^) Xi sum) by the trapezoidal rule."""
    root = np.sqrt(float(point[s.q2_hat.name])) * float(point[s.replica_sum.name])
    x = np.arange(-16, 16.01, 0.02)
    return {s.replica_coupling.name: float(np.sum(np.exp(root * x - x**2 / 2)) * 0.02 / np.sqrt(2 * np.pi))}


def entropic(point: Point) -> Mapping[str, float]:
    """d/dR at 0 of ln Z_R for one mode, Z_R from the dense Gaussian integral at R = 1, ..., 12 extrapolated to zero.

    ln Z_R/R is analytic in R, with coefficients of order (k/S)^j. The polynomial through twelve integers leaves
    12! (k/S)^12 and higher orders: 1e-10 at k/S = 0.025.
    """
    S, k, f = (float(point[x.name]) for x in (s.mode_curvature, s.mode_noise, s.mode_signal))
    counts = np.arange(1, 13)
    values = []
    for count in counts:
        matrix = S * np.eye(int(count)) - k
        force = np.full(int(count), f)
        values.append((-np.linalg.slogdet(matrix)[1] + force @ np.linalg.solve(matrix, force)) / (2 * count))
    weights = [np.prod([-j / (i - j) for j in counts if j != i]) for i in counts]
    return {s.entropic_log.name: float(np.dot(weights, values))}


def coefficients(point: Point) -> Mapping[str, float]:
    r, c, kappa = (float(point[x.name]) for x in (s.r, s.c, s.kappa))
    found = conditional_coefficients(activation(str(point["activation"])), r, c, 0.0, np.array([kappa]))
    return {
        s.mu0.name: float(found.mu0[0]),
        s.mu1.name: float(found.mu1[0]),
        s.mu2_square.name: float(found.mu2[0] ** 2),
    }
