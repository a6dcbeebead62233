"""Numbers for the replica computation: small Gibbs measures, explicit replicas and readouts, dense matrices.

Numbers for Appendix D up to the free energy: features, random readouts, replicas, and the model that is simulated.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
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
from giantsteps.verify.second_route.grids import normal_line
from giantsteps.verify.second_route.models import GENERIC
from giantsteps.verify.second_route.saddle_point.letters import (
    DOMAIN,
    GENERIC_LETTERS,
    model_at,
)
from giantsteps.verify.second_route.values import LETTERS, PAIRS, by_glyph, value

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
    z, weight = normal_line(0.05, 10.0)
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


def letters(point: Point) -> Mapping[str, Callable[..., object]]:
    return GENERIC_LETTERS


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
    generator = np.random.default_rng(int(value(point, "seed")))
    p, d, kappa = 9, 7, value(point, s.kappa)
    group = np.arange(p) >= 4
    W = generator.normal(size=(p, d))
    v = generator.normal(size=d)
    v /= np.linalg.norm(v)
    a, a2 = generator.normal(size=(2, p))
    noise, across = generator.normal(size=p), generator.normal(size=d)
    across -= v * (v @ across)
    mu = [np.where(group, GENERIC_LETTERS[f"mu{j}_2"](kappa), GENERIC_LETTERS[f"mu{j}_1"](kappa)) for j in range(3)]
    features = mu[0] + mu[1] * (W @ (kappa * v + across)) + mu[2] * noise
    # h is linear in x_perp and xi: its covariance between two readouts is a sum over their coefficients.
    project = np.eye(d) - np.outer(v, v)
    covariance = ((a * mu[1]) @ W @ project @ W.T @ (a2 * mu[1]) + (a * mu[2]) @ (a2 * mu[2])) / p
    field = ((a * mu[1]) @ W @ across + (a * mu[2]) @ noise) / np.sqrt(p)
    hats = {(b, c): generator.uniform(0.2, 1.0) for b, c in PAIRS}
    own = generator.uniform(0.2, 1.0, size=2)
    blocks = np.diag(np.where(group, own[1], own[0]))
    values: dict[sp.Symbol, float] = {
        s.letter_output: a @ features / np.sqrt(p),
        s.letter_field: field,
        s.field_covariance: covariance,
    }
    bulk = W @ project @ W.T
    for b in LETTERS:
        part = group == bool(b)
        values |= {
            s_saddle.m_of[b]: a[part].sum() / np.sqrt(p),
            s_saddle.zeta_of[b]: a[part] @ W[part] @ v / np.sqrt(p),
            s_saddle.q2_of[b]: a[part] @ a2[part] / p,
            s.V2_hat_of[b]: own[b],
        }
        for c in LETTERS:
            other = group == bool(c)
            values[s.V1_hat_of[b][c]] = hats[min(b, c), max(b, c)]
            blocks += hats[min(b, c), max(b, c)] * np.outer(part, other) * bulk
    for b, c in PAIRS:
        first, second = group == bool(b), group == bool(c)
        one = (a * first) @ bulk @ (a2 * second) / p
        two = (a * second) @ bulk @ (a2 * first) / p
        values[s_saddle.q1_of[b][c]] = (one + two) / 2  # only the symmetric part enters the covariance
    values[s_saddle.block_form] = a @ blocks @ a2 / p
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


def nothing_else(point: Point) -> Mapping[str, float]:
    """The point says it all."""
    return {}


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
