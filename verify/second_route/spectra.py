"""Numbers for Appendix F: small random features, and simulated spectra, resolvents and log-determinants."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.free_energy.along_spike import mu0, mu1, mu2, over_kappa
from giantsteps.derivations.spectrum import symbols as s
from giantsteps.numerics.experiments.ensembles import Sizes, spiked_random_features, trained_network
from giantsteps.numerics.experiments.ridge import at_sizes as at_ratios
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.verify.checks.evaluate import Functions, evaluate
from giantsteps.verify.checks.points import Point
from giantsteps.verify.checks.simulation import Measured, at_sizes, column
from giantsteps.verify.protocol.claim import Domain, Profile, Range
from giantsteps.verify.second_route.grids import normal_line
from giantsteps.verify.second_route.models import GENERIC, between, functions_of
from giantsteps.verify.second_route.sampled import Sampled, steadied
from giantsteps.verify.second_route.values import by_glyph, generator_at

Array = NDArray[np.float64]


# The formulas as the paper states them, typed here and nowhere derived.
z = s.stieltjes_argument


V = mu1**2 * s.V1 + mu2**2 * s.V2


BELOW = Range(z, -3.0, -0.2)


PLAIN = Domain((BELOW, Range(s.kappa, -1.5, 1.5)), (), (GENERIC,))


SEEDED = Domain((Range("seed", 0.0, 1e6), BELOW, Range(s.kappa, -1.5, 1.5)), (), (GENERIC,))


def population(point: Point) -> Mapping[str, float]:
    """E[phi_k phi_l] of the equivalent map in three dimensions, by sums over kappa and exact cubature across it."""
    generator = generator_at(point)
    rows = generator.normal(size=(2, 3))
    same = int(float(point["seed"])) % 2 == 0
    if same:
        rows[1] = rows[0]
    line, weight = normal_line(1 / 32, 12.0)
    mu = [GENERIC[f"mu{j}"](line) for j in range(3)]
    total, signs = np.zeros_like(line), (-1.0, 1.0)
    # Quadratic in every Gaussian variable: the two points -1 and 1 average exactly.
    for x in np.array(np.meshgrid(signs, signs, signs, signs)).reshape(4, -1).T:
        noise = (x[2], x[2] if same else x[3])
        total += (
            np.prod(
                [mu[0] + mu[1] * (line * rows[i, 0] + rows[i, 1:] @ x[:2]) + mu[2] * noise[i] for i in (0, 1)], axis=0
            )
            / 16
        )
    return {
        s.population.name: float(total @ weight),
        s.spike_overlap.name: float(rows[0, 0]),
        s.other_overlap.name: float(rows[1, 0]),
        s.projected_product.name: float(rows[0, 1:] @ rows[1, 1:]),
        s.replica_delta.name: float(same),
    }


def finite_features(point: Point) -> Mapping[str, float]:
    """Random features: the resolvent's trace, the slope of the log-determinant, and the weight of a random readout."""
    generator = generator_at(point)
    n, p, argument, step = 9, 7, float(point[z.name]), 1e-5
    features = generator.normal(size=(n, p))
    covariance, readout = features.T @ features / p, generator.normal(size=p)

    def log_partition(at: float) -> float:
        return float(-np.linalg.slogdet(covariance - at * np.eye(p))[1]) / 2

    slope = (log_partition(argument + step) - log_partition(argument - step)) / (2 * step)
    values = {
        s.log_partition_slope: 2 * slope / p,
        s.trace_resolvent: np.trace(np.linalg.inv(covariance - argument * np.eye(p))) / p,
        s.readout_norm: readout @ readout,
        s.readout_energy: np.sum((features @ readout) ** 2) / p,
        s.gibbs_exponent: -readout @ (covariance - argument * np.eye(p)) @ readout / 2,
    }
    return by_glyph(values)


def moments(point: Point) -> Mapping[str, float]:
    """A law of five values: the slope of ln E Z^R at zero by differences, and E ln Z."""
    generator = generator_at(point)
    logs, weights = generator.normal(size=5), generator.dirichlet(np.ones(5))

    def log_moment(power: float) -> float:
        return float(np.log(weights @ np.exp(power * logs)))

    return {s.moment_slope.name: (log_moment(1e-5) - log_moment(-1e-5)) / 2e-5, s.mean_log.name: float(weights @ logs)}


def samples(point: Point) -> Mapping[str, float]:
    """Features of three values, two readouts and four samples: the average over all 81 data sets, and one sample's."""
    generator = generator_at(point)
    count, p = 4, 3
    values, weights = generator.normal(size=(3, p)), generator.dirichlet(np.ones(3))
    readouts = generator.normal(size=(2, p))
    energies = np.sum((values @ readouts.T) ** 2, axis=1) / (2 * p)
    total = 0.0
    for chosen in np.ndindex(*([3] * count)):
        total += np.prod(weights[list(chosen)]) * np.exp(-np.sum(energies[list(chosen)]))
    return {
        s.n.name: float(count),
        s.replicated_weight.name: float(total),
        s.sample_average.name: float(weights @ np.exp(-energies)),
    }


MODES = Domain(
    (
        Range(s.mode_curvature, 3.0, 5.0),
        Range(s.mode_coupling, 0.1, 0.6),
        Range(s.mode_force, -1.5, 1.5),
        Range("seed", 0.0, 1e6),
    )
)


def few_replicas(point: Point) -> Mapping[str, float]:
    """The Gaussian integral over one to four replicas, by linear algebra."""
    count = 1 + int(float(point["seed"])) % 4
    curvature, coupling, force = (float(point[x.name]) for x in (s.mode_curvature, s.mode_coupling, s.mode_force))
    matrix = curvature * np.eye(count) - coupling
    vector = np.full(count, force)
    log = -np.linalg.slogdet(matrix)[1] / 2 + vector @ np.linalg.solve(matrix, vector) / 2
    return {s.replicas.name: float(count), s.log_mode_integral.name: float(log)}


MODELS: Mapping[str, Model] = {
    "tanh, alpha = 1.5": between(
        "tanh(z)", "sin(z)", alpha=1.5, beta=1.0, ridge=0.3, spike=1.2, bulk=1.3, alignment=0.5
    ),
    "sin, alpha = 0.8": between("sin(z)", "sin(z)", alpha=0.8, beta=0.6, ridge=0.1, spike=0.8, bulk=0.9, alignment=0.5),
}


def _resolvent(model: Model, dimension: int, seed: int) -> tuple[float]:
    sizes, generator = _sizes(model, dimension), np.random.default_rng((190, dimension, seed))
    features = spiked_random_features(model, sizes, generator).features(generator.normal(size=(sizes.n, dimension)))
    return (float(np.mean(1 / (np.linalg.eigvalsh(features.T @ features / sizes.p) + model.ridge))),)


def resolvents(beside: Callable[[Model | Network], tuple[dict[str, float], Functions]]) -> Sampled[Model]:
    """The trace of the resolvent at z = -lambda, against V2 at the realised ratios."""
    return Sampled(
        (s.stieltjes,), MODELS, _resolvent, lambda model, d: (beside(at_ratios(model, _sizes(model, d)))[0], {}), 1
    )


def _sizes(subject: Model | Network, d: int) -> Sizes:
    """Whole sizes at dimension d."""
    alpha0 = subject.alpha0 if isinstance(subject, Network) else 0.0
    return Sizes.rounded(d, alpha=subject.alpha, beta=subject.beta, alpha0=alpha0, fractions=(1.0,))


def _outlier(model: Model, dimension: int, seed: int) -> tuple[float]:
    functions, p = functions_of(model), round(model.beta * dimension)
    mean, mixed, along, linear, rest = (
        evaluate(over_kappa(f), {}, functions)
        for f in (mu0**2, s.kappa * mu0 * mu1, s.kappa**2 * mu1**2, mu1**2, mu2**2)
    )
    rows = np.random.default_rng((191, dimension, seed)).normal(size=(p, dimension))
    rows *= np.sqrt(model.bulk) / np.linalg.norm(rows, axis=1)[:, None]
    spike, one = rows[:, 0], np.ones(p)
    covariance = mean + mixed * (np.outer(one, spike) + np.outer(spike, one)) + along * np.outer(spike, spike)
    covariance += linear * rows[:, 1:] @ rows[:, 1:].T + rest * np.eye(p)
    return (float(np.linalg.eigvalsh(covariance)[-1]) / p,)


# The largest eigenvalue of population covariances, over p.
OUTLIERS = Sampled((s.spike_eigenvalue_rate,), MODELS, _outlier, lambda model, d: ({}, functions_of(model)), draws=1)


@lru_cache(maxsize=64)
def _sampled(subject: Model | Network, d: int, draws: range) -> tuple[tuple[float, Array], ...]:
    """The log-determinants of sampled features over p, each with its inputs' components kappa along the spike."""
    found = []
    sizes = _sizes(subject, d)
    for seed in draws:
        weights, batch, generator = (np.random.default_rng((89, d, seed, k)) for k in range(3))
        if isinstance(subject, Network):
            drawn = trained_network(subject, sizes, weights, batch)
        else:
            drawn = spiked_random_features(subject, sizes, weights)
        inputs = generator.standard_normal((sizes.n, d))
        phi = drawn.features(inputs)
        # The outlier would add ln(d)/p.
        values = np.linalg.eigvalsh(phi.T @ phi / sizes.p)[:-1]
        found.append((float(np.mean(np.log(np.maximum(values, 0.0) + subject.ridge))), inputs @ drawn.direction))
    return tuple(found)


def sampled(
    subjects: Mapping[str, Model | Network], beside: Callable[[Model | Network], tuple[dict[str, float], Functions]],
    draws: int, quantity: sp.Basic, profile: Profile,
) -> Mapping[str, tuple[Measured, ...]]:  # fmt: skip
    """The log-determinants of features without their largest eigenvalue, less what the draw of kappa alone explains:
    the mean of ln(1 + V(kappa)) over the inputs, minus E ln(1 + V). Inputs are drawn after the rows, so that it has
    mean zero.
    """
    column(quantity, s.features_log_det)
    line, weight = normal_line(1 / 16, 12.0)

    def one(subject: Model | Network, d: int) -> Measured:
        values, functions = beside(at_ratios(subject, _sizes(subject, d)))

        def log(kappa: Array) -> Array:
            V = functions["mu1"](kappa) ** 2 * values[s.V1.name] + functions["mu2"](kappa) ** 2 * values[s.V2.name]
            return np.asarray(np.log1p(V))

        found, mean = _sampled(subject, d, profile.draws(draws)), float(weight @ log(line))
        controls = np.array([[float(np.mean(log(kappa))) - mean] for _, kappa in found])
        return Measured(d, tuple(steadied(np.array([x for x, _ in found]), controls)), values, functions)

    return at_sizes(subjects, profile, one)


# A small batch and a large rate: the covariance of the rows is far from isotropic.
NETWORKS = {
    "tanh student, sine target": Network(
        activation("tanh"), activation("sin"), alpha=1.5, beta=1.0, ridge=0.1, alpha0=1.0, eta=6.0
    )
}
