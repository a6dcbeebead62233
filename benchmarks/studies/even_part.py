"""How far the isotropic bulk is from real networks whose activation has an even part.

python -m benchmarks.studies even_part simulate    run what is not in even_part.json yet (some ten minutes of one core)
python -m benchmarks.studies even_part             print the deviations by strength and alpha0 from the stored samples

A gradient step of sigma with E[sigma''] != 0 multiplies the initial rows by 1 + nu M, nu = (eta/beta) E[sigma''] and
M = (1/n0) sum y x x^T, which the isotropic bulk replaces by a multiple of the identity. The eigenvalues of nu M have
the root mean square |nu| sqrt(E[y^2]/alpha0), the strength of the even part. Each cell of the grid of strengths and
alpha0 is measured on three networks at two dimensions, as the relative deviation of the mean test error from the
isotropic theory at the realised ratios and the simulated width. `numerics.models.even_part` keeps the ranges at the
larger dimension, which a test computes again from the samples.
"""

from __future__ import annotations

import math

from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.ridge import at_sizes
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.measurements.experiments import Data, Experiment, Measurement, stored
from giantsteps.reports.measurements.study import Study, Table, command

SLUG, SEED = "even_part", 3107
DIMENSIONS = ((300, 16), (600, 12))
STRENGTHS = (0.1, 0.3, 1.0, 0.03)
BATCHES = (1.0, 4.0, 16.0)
# Student with its even part to be scaled, E of the second derivative of that part, and the network without its batch.
CASES = (
    ("tanh(z) + {}*(z**2 - 1)", 2.0, Network("tanh", "tanh", 1.5, 1.0, 0.1, alpha0=1.0, eta=3.0)),
    ("sin(z) + {}*(cos(z) - exp(-1/2))", -math.exp(-0.5), Network("sin", "sin", 1.0, 2.0, 0.01, alpha0=1.0, eta=6.0)),
    ("tanh(z) + {}*(z**2 - 1)", 2.0, Network("tanh", "sin(2*z)", 1.5, 1.0, 0.1, alpha0=1.0, eta=1.5)),
)


def network(case: int, strength: float, alpha0: float) -> Network:
    """The network of a case whose even part has the given strength, to three digits of its factor."""
    student, curvature, one = CASES[case]
    nu = strength * math.sqrt(alpha0 / hermite_constants(one.target).h2)
    factor = f"{nu * one.beta / (one.step.only.eta * abs(curvature)):.3g}"
    return Network(
        student.format(factor), one.target, one.alpha, one.beta, one.ridge, alpha0=alpha0, eta=one.step.only.eta
    )  # fmt: skip


# By strength and alpha0: all cases at both dimensions.
CELLS = {
    (strength, alpha0): [
        Experiment(
            f"case {case}, strength {strength:g}, alpha0 {alpha0:g}, d {d}", network(case, strength, alpha0), d, seeds,
            stream=100 * case + 10 * STRENGTHS.index(strength) + BATCHES.index(alpha0),
        )
        for case in range(len(CASES)) for d, seeds in DIMENSIONS
    ]
    for strength in STRENGTHS for alpha0 in BATCHES
}  # fmt: skip


def deviation(experiment: Experiment, data: Data) -> tuple[float, float]:
    """(mean/theory - 1, its standard error)."""
    one = experiment.subject
    assert isinstance(one, Network)
    sizes = Sizes.of(one, experiment.dimension)
    realised = at_sizes(one, sizes)
    assert isinstance(realised, Network)
    theory = at_width(solve(realised.model("isotropic")), sizes.p).test_error
    found = experiment.measured(data)
    return found.mean / theory - 1.0, found.error / theory


def ranges() -> tuple[tuple[float, float, float, float, float], ...]:
    """Strength, alpha0, least and largest deviation and the largest standard error, in per cent, at the larger d."""
    data, kept = stored(SLUG), []
    for (strength, alpha0), experiments in sorted(CELLS.items()):
        found = [deviation(one, data) for one in experiments if one.dimension == DIMENSIONS[-1][0]]
        deviations, errors = zip(*found, strict=True)
        least, largest, loosest = (round(100.0 * x, 1) for x in (min(deviations), max(deviations), max(errors)))
        kept.append((strength, alpha0, least, largest, loosest))
    return tuple(kept)


def page(data: Data) -> Study:
    """The deviations of all experiments."""
    found = ((one.name, deviation(one, data)) for experiments in CELLS.values() for one in experiments)
    rows = [f"{name} | {100 * off:+.1f} +- {100 * error:.1f} %" for name, (off, error) in found]
    table = Table.of("Test errors of networks above the isotropic theory", "network | deviation", rows)
    return Study(SLUG, "Even parts", (f"MEASURED = {ranges()}",), (table,), (), command(SLUG))


STUDY = Measurement(SLUG, SEED, tuple(one for experiments in CELLS.values() for one in experiments), page)
