"""Numbers by NumPy alone, from definitions: matrices, a quadrature rule, the law of eigenvalues."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from giantsteps.verify.checks.points import Point

from . import symbols as s


def _generator(point: Point) -> np.random.Generator:
    return np.random.default_rng(int(1e6 * float(point["seed"])))


def covariances(point: Point) -> Mapping[str, float]:
    """The three moments of random vectors and covariances, and the error as the variance of a combination."""
    draws = _generator(point)
    p, d, k = 4, 6, float(point.get(s.factor.name, 1.0))
    root = draws.standard_normal((p + d, p + d))
    joint = root @ root.T
    t, w = draws.standard_normal(p) / np.sqrt(p), draws.standard_normal(d) / np.sqrt(d)
    difference = root.T @ np.concatenate([t, -k * w])
    return {
        s.teacher.name: float(t @ joint[:p, :p] @ t),
        s.overlap.name: float(t @ joint[:p, p:] @ w),
        s.student.name: float(w @ joint[p:, p:] @ w),
        s.test.name: float(difference @ difference),
        s.scaled.name: float(difference @ difference),
    }


def two_fits(point: Point) -> Mapping[str, float]:
    """A ridge fit of eight samples, and one of nine; the response by the inverse matrix."""
    draws = _generator(point)
    x, y, penalty = draws.standard_normal((9, 5)), draws.standard_normal(9), 0.3

    def prediction(count: int) -> float:
        kept, labels = x[:count], y[:count]
        return float(x[8] @ np.linalg.solve(kept.T @ kept + penalty * np.eye(5), kept.T @ labels))

    response = x[8] @ np.linalg.inv(x[:8].T @ x[:8] + penalty * np.eye(5)) @ x[8]
    return {
        s.label.name: float(y[8]),
        s.unseen.name: prediction(8),
        s.seen.name: prediction(9),
        s.response.name: float(response),
    }


def residuals(point: Point) -> Mapping[str, float]:
    """Both errors, averaged over a rule that is exact for squares.

    A prediction h is where (y - h)^2/2 + (h - omega)^2/(2 V) is least, by least squares.
    """
    rho, m, q, noise, v = (float(point[one.name]) for one in (s.teacher, s.overlap, s.student, s.noise, s.response))
    nodes, weights = np.polynomial.hermite_e.hermegauss(3)
    normal = np.stack([axis.ravel() for axis in np.meshgrid(nodes, nodes, nodes)])
    weight = np.einsum("i,j,k->ijk", weights, weights, weights).ravel() / np.sum(weights) ** 3
    teacher, unseen = np.linalg.cholesky(np.array([[rho, m], [m, q]])) @ normal[:2]
    label = teacher + np.sqrt(noise) * normal[2]
    (seen,), *_ = np.linalg.lstsq(np.array([[1.0], [v**-0.5]]), np.stack([label, unseen * v**-0.5]), rcond=None)
    return {s.test.name: float(weight @ (teacher - unseen) ** 2), s.training.name: float(weight @ (label - seen) ** 2)}


def response(point: Point) -> Mapping[str, float]:
    """The trace of the resolvent by the density of the eigenvalues of X^T X/n at alpha > 1, in a periodic variable."""
    alpha, ridge = float(point[s.ratio.name]), float(point[s.ridge.name])
    angle = (np.arange(4000) + 0.5) * np.pi / 4000
    eigenvalue = 1 + 1 / alpha + 2 / np.sqrt(alpha) * np.cos(angle)
    density = 2 / np.pi * np.sin(angle) ** 2 / eigenvalue
    return {s.response.name: float(np.mean(np.pi * density / (alpha * eigenvalue + ridge)))}
