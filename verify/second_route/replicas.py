"""Numbers for the replica computation: small Gibbs measures, explicit replicas and readouts, dense matrices.

Numbers for Appendix D up to the free energy: features, random readouts, replicas, and the model that is simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.free_energy import symbols as s
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.numerics.experiments.ensembles import Sizes, equivalent_map, spiked_random_features
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import Point
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.second_route.grids import Array, normal_line
from giantsteps.verify.second_route.models import GENERIC
from giantsteps.verify.second_route.saddle_point.letters import DOMAIN, GENERIC_LETTERS, model_at
from giantsteps.verify.second_route.values import LETTERS, PAIRS, by_glyph, generator_at, value

R, B = s.replicas, s.inverse_temperature
LOGS: Mapping[str, Callable[..., Any]] = {"L": lambda z: np.sin(z) + 0.3 * z + 0.5}


def gibbs(point: Point) -> Mapping[str, float]:
    """A quartic averaged with weight exp(-B risk) at B = 1e6, on a grid around the minimum of a quartic risk."""
    curvature, minimum = float(point[s.mode_curvature.name]), float(point[s.minimum_point.name])
    temperature = 1e6
    width = 1 / np.sqrt(temperature * curvature)
    a = minimum + width * np.linspace(-10, 10, 4001)
    offset = a - minimum
    exponent = -temperature * (curvature * offset**2 / 2 + 0.1 * offset**3 + 0.2 * offset**4)
    weight = np.exp(exponent - exponent.max())
    coefficients = generator_at(point).uniform(0.2, 1.0, 5)
    value = sum(h * a**k for k, h in enumerate(coefficients))
    return {
        s.gibbs_average.name: float(weight @ value / weight.sum()),
        **{h.name: float(x) for h, x in zip(s.test_coefficients, coefficients, strict=True)},
    }


def log_average(point: Point) -> Mapping[str, float]:
    """(E Z^h - E Z^-h)/(2h) at h = 1e-5 by the trapezoidal rule."""
    z, weight = normal_line(0.05, 10.0)
    scale = float(point[s.scale.name])
    log = scale * LOGS["L"](z)
    h = 1e-5
    return {s.mean_log.name: float(weight @ (np.exp(h * log) - np.exp(-h * log))) / (2 * h)}


def triples(point: Point) -> Mapping[str, float]:
    """E of the product over three samples of exp(-B sum of two losses), by enumeration of all outcomes."""
    generator = generator_at(point)
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


@dataclass(frozen=True)
class Readouts:
    """Two readouts a (2, p) of features mu0 + mu1 W x + mu2 xi at kappa: drawn, with what they see."""

    a: Array
    W: Array
    v: Array
    output: float
    field: float
    covariance: float

    @property
    def bulk(self) -> Array:
        """W (1 - v v^T) W^T."""
        planar = self.W - np.outer(self.W @ self.v, self.v)
        return np.asarray(planar @ planar.T)


def drawn_readouts(generator: np.random.Generator, kappa: float, mu: Array, d: int) -> Readouts:
    """On one input with kappa along v; a field is linear in x_perp and xi: its covariance sums their coefficients."""
    p = mu.shape[1]
    W, a, noise = generator.normal(size=(p, d)) / 2, generator.normal(size=(2, p)), generator.normal(size=p)
    v, across = generator.normal(size=(2, d))
    v /= np.linalg.norm(v)
    across -= v * (v @ across)
    features = mu[0] + mu[1] * (W @ (kappa * v + across)) + mu[2] * noise
    field = mu[1] * (W @ across) + mu[2] * noise
    coefficients = np.hstack([(mu[1] * a) @ (W - np.outer(W @ v, v)), mu[2] * a]) / np.sqrt(p)
    return Readouts(
        a, W, v, float(a[0] @ features / np.sqrt(p)), float(a[0] @ field / np.sqrt(p)),
        float(coefficients[0] @ coefficients[1]),
    )  # fmt: skip


def readouts(point: Point) -> Mapping[str, float]:
    """Output, m, zeta, local field, overlaps and covariances of the fields of two readouts, at the point's kappa or one
    that is drawn.
    """
    generator = generator_at(point)
    kappa = float(point.get(s.kappa.name, generator.normal()))
    mu = np.repeat([[float(GENERIC[f"mu{k}"](kappa))] for k in range(3)], 8, axis=1)
    at = drawn_readouts(generator, kappa, mu, 6)
    (a, b), W, v, root = at.a, at.W, at.v, np.sqrt(8.0)
    theta = generator.normal(size=6)
    theta -= v * (v @ theta)
    theta /= np.linalg.norm(theta)
    q1, q2, psi = a @ at.bulk @ b / 8, a @ b / 8, a @ W @ theta / root
    return by_glyph({
        s.kappa: kappa, s.output: at.output, s.letter_output: at.output, s.m: a.sum() / root, s.zeta: a @ W @ v / root,
        s.local_field: at.field, s.letter_field: at.field, s.field_covariance: at.covariance,
        s.overlap_pair[0]: q1, s.overlap_pair[1]: q2, s.q1: q1, s.q2: q2, s.psi_pair: psi,
        s.label_field_covariance: (mu[1] * a) @ (W - np.outer(W @ v, v)) @ theta / root,
    })  # fmt: skip


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
    generator = generator_at(point)
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
    x, weight = normal_line(0.02, 16.0)
    return {s.replica_coupling.name: float(weight @ np.exp(root * x))}


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


# Activations of no parity, even up to a constant: otherwise some wrong signs would be right.
UNSYMMETRIC = Range("activation", choices=("tanh(z + 1/2)", "sin(z) + cos(z)", "erf(z) + exp(-z**2)"))


AT_KAPPA = Domain((UNSYMMETRIC, *DOMAIN.ranges[1:], Range(s.kappa, -2.0, 2.0)), (), (GENERIC_LETTERS,))


SEEDED = Domain((Range("seed", 0.0, 1e6), Range(s.kappa, -1.5, 1.5)), (), (GENERIC_LETTERS,))


def random_features(point: Point) -> Mapping[str, float]:
    """One entry of the first layer of a random draw, with the bulk from the same draw without spike."""
    model = model_at(point)
    sizes = Sizes.rounded(6, alpha=model.alpha, beta=2.0, fractions=model.fractions)
    drawn = spiked_random_features(model, sizes, np.random.default_rng(7))
    bare = spiked_random_features(model.changed(spike=0.0), sizes, np.random.default_rng(7))
    return {
        s_saddle.first_layer_entry.name: float(drawn.weights[0, 0]),
        s_saddle.bulk_entry.name: float(bare.weights[0, 0]),
        s_saddle.direction_entry.name: float(drawn.direction[0]),
    }


def equivalent_feature(point: Point) -> Mapping[str, float]:
    """One feature of the equivalent map with two letters at one input, and the noise it was made with."""
    model = model_at(point)
    sizes = Sizes.rounded(6, alpha=model.alpha, beta=2.0, fractions=model.fractions)
    drawn = equivalent_map(model, sizes, np.random.default_rng(7), np.random.default_rng(11))
    x = np.random.default_rng(13).normal(size=(1, sizes.d))
    x[0, 0] = value(point, s.kappa)
    noise = np.random.default_rng(11).standard_normal((1, sizes.p))
    return {
        s.feature_value.name: float(drawn.features(x)[0, 0]),
        s_saddle.row_input.name: float(drawn.weights[0] @ x[0]),
        s.xi.name: float(noise[0, 0]),
    }


def random_readout(point: Point) -> Mapping[str, float]:
    """Output, overlaps and covariance of the local fields of two random readouts, with two letters."""
    generator, kappa, p = generator_at(point), value(point, s.kappa), 9
    group = np.arange(p) >= 4
    mu = [np.where(group, GENERIC_LETTERS[f"mu{j}_2"](kappa), GENERIC_LETTERS[f"mu{j}_1"](kappa)) for j in range(3)]
    at = drawn_readouts(generator, kappa, np.array(mu), 7)
    a, b = at.a
    hats = {pair: generator.uniform(0.2, 1.0) for pair in PAIRS}
    own, masks = generator.uniform(0.2, 1.0, size=2), [(group == bool(e)).astype(float) for e in LETTERS]
    blocks = np.diag(own[group.astype(int)])
    values: dict[sp.Symbol, float] = {
        s.letter_output: at.output, s.letter_field: at.field, s.field_covariance: at.covariance,
    }  # fmt: skip
    for e, part in enumerate(masks):
        values |= {
            s_saddle.m_of[e]: part @ a / np.sqrt(p),
            s_saddle.zeta_of[e]: (part * a) @ at.W @ at.v / np.sqrt(p),
            s_saddle.q2_of[e]: (part * a) @ b / p,
            s.V2_hat_of[e]: own[e],
        }
        for f, other in enumerate(masks):
            hat = hats[min(e, f), max(e, f)]
            values[s.V1_hat_of[e][f]] = hat
            blocks += hat * np.outer(part, other) * at.bulk
    for e, f in PAIRS:
        one, two = (masks[i] * a @ at.bulk @ (masks[j] * b) / p for i, j in ((e, f), (f, e)))
        values[s_saddle.q1_of[e][f]] = (one + two) / 2  # only the symmetric part enters the covariance
    values[s_saddle.block_form] = a @ blocks @ b / p
    return by_glyph(values)


REPLICAS = Domain(
    (
        Range(s.inverse_temperature, 0.3, 3.0, log=True),
        Range(s.own_overlap, 0.2, 2.0),
        Range(s.shared_overlap, 0.2, 2.0),
        Range(s.residual, -2.0, 2.0),
        Range("seed", 0.0, 1e6),
    )
)


def few_replicas(point: Point) -> Mapping[str, float]:
    """ln of the average of exp(-(B/2) sum (b - h_i)^2) over R = 1, 2, 3 or 4 fields, by linear algebra."""
    count = 1 + int(value(point, "seed")) % 4
    B, own, shared, b = (value(point, x) for x in (s.inverse_temperature, s.own_overlap, s.shared_overlap, s.residual))
    curvature = np.eye(count) + B * (own * np.eye(count) + shared)
    target = np.full(count, b)
    quadratic = B * target @ np.linalg.solve(curvature, target)
    log = -0.5 * np.linalg.slogdet(curvature)[1] - 0.5 * quadratic
    return {s.replicas.name: float(count), s.log_bracket.name: float(log)}


SIMULATED: Mapping[str, Model] = {
    "tanh for sin, letters 1.2 and -0.8": model_at(
        {
            "activation": "z/sqrt(1 + z**2) + 1/4",
            "target": "sin(z)",
            s.alpha.name: 1.5,
            s.beta.name: 0.8,
            s.ridge.name: 0.1,
            s.noise.name: 0.1,
            s.gamma.name: 0.8,
            s.r.name: 1.0,
            s.letter[0].name: 1.2,
            s.letter[1].name: -0.8,
            s.c_of[0].name: 1.2,
            s.c_of[1].name: 0.9,
            s.fraction[0].name: 0.4,
        }
    )
}
