"""How far the isotropic bulk is from real networks whose activation has an even part.

python -m benchmarks.studies.even_part simulate    run what is not in even_part.json yet (some ten minutes of one core)
python -m benchmarks.studies.even_part             print the deviations by strength and alpha0 from the stored samples

A gradient step of sigma with E[sigma''] != 0 multiplies the initial rows by 1 + nu M, nu = (eta/beta) E[sigma''] and
M = (1/n0) sum y x x^T, which the isotropic bulk replaces by a multiple of the identity. The eigenvalues of nu M have
the root mean square |nu| sqrt(E[y^2]/alpha0), the strength of the even part. Each cell of the grid of strengths and
alpha0 is measured on three networks at two dimensions, as the relative deviation of the mean test error from the
isotropic theory at the realised ratios and the simulated width. `numerics.models.even_part` keeps the ranges at the
larger dimension, which a test computes again from the samples.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterator
from dataclasses import dataclass

from giantsteps.derivations.activations.activation import activation
from giantsteps.numerics.experiments.ensembles import Sizes
from giantsteps.numerics.experiments.ridge import at_sizes
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.saddle_point.finite_width import at_width
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.reports.measurements.experiments import Experiment, Measured, measure, stored

SLUG, SEED = "even_part", 3107
DIMENSIONS = ((300, 16), (600, 12))
STRENGTHS = (0.1, 0.3, 1.0, 0.03)
BATCHES = (1.0, 4.0, 16.0)
# Student with its even part to be scaled, E of the second derivative of that part, target, eta, beta, alpha, ridge.
CASES = (
    ("tanh(z) + {}*(z**2 - 1)", 2.0, "tanh", 3.0, 1.0, 1.5, 0.1),
    ("sin(z) + {}*(cos(z) - exp(-1/2))", -math.exp(-0.5), "sin", 6.0, 2.0, 1.0, 0.01),
    ("tanh(z) + {}*(z**2 - 1)", 2.0, "sin(2*z)", 1.5, 1.0, 1.5, 0.1),
)


@dataclass(frozen=True)
class Cell:
    """One network of the grid: how far its test error is from the isotropic theory, relative, with standard error."""

    strength: float
    alpha0: float
    case: int
    dimension: int
    deviation: float
    error: float


def network(case: int, strength: float, alpha0: float) -> Network:
    """The network of a case whose even part has the given strength, to three digits of its factor."""
    student, curvature, target, eta, beta, alpha, ridge = CASES[case]
    teacher = activation(target)
    nu = strength * math.sqrt(alpha0 / hermite_constants(teacher).h2)
    factor = f"{nu * beta / (eta * abs(curvature)):.3g}"
    return Network(
        activation(student.format(factor)), teacher, alpha=alpha, beta=beta, ridge=ridge, alpha0=alpha0, eta=eta
    )


def experiments() -> Iterator[tuple[int, float, float, Experiment]]:
    """Every experiment with its case, strength and alpha0; those of one case, strength and alpha0 stand together."""
    for strength in STRENGTHS:
        for alpha0 in BATCHES:
            for case in range(len(CASES)):
                for d, seeds in DIMENSIONS:
                    name = f"case {case}, strength {strength:g}, alpha0 {alpha0:g}, d {d}"
                    stream = 100 * case + 10 * STRENGTHS.index(strength) + BATCHES.index(alpha0)
                    subject = network(case, strength, alpha0)
                    yield case, strength, alpha0, Experiment(name, subject, d, seeds, stream=stream)


def cells(least: int = 0) -> tuple[Cell, ...]:
    """The deviations of all experiments at dimensions from `least` on. Raises KeyError where one is not stored."""
    data = stored(SLUG)
    return tuple(
        Cell(strength, alpha0, case, one.dimension, *_deviation(one, data[one.name]["test_error"]))
        for case, strength, alpha0, one in experiments()
        if one.dimension >= least
    )


def ranges() -> tuple[tuple[float, float, float, float, float], ...]:
    """Strength, alpha0, least and largest deviation and the largest standard error, in per cent, at the larger d."""
    found = cells(DIMENSIONS[-1][0])
    kept = []
    for strength in sorted(STRENGTHS):
        for alpha0 in BATCHES:
            here = [cell for cell in found if (cell.strength, cell.alpha0) == (strength, alpha0)]
            deviations, errors = [100.0 * cell.deviation for cell in here], [100.0 * cell.error for cell in here]
            least, largest, loosest = (round(x, 1) for x in (min(deviations), max(deviations), max(errors)))
            kept.append((strength, alpha0, least, largest, loosest))
    return tuple(kept)


def _deviation(experiment: Experiment, samples: list[float]) -> tuple[float, float]:
    """(mean/theory - 1, its standard error)."""
    subject = experiment.subject
    assert isinstance(subject, Network)
    sizes = Sizes.rounded(
        experiment.dimension, alpha=subject.alpha, beta=subject.beta, alpha0=subject.alpha0, fractions=(1.0,)
    )
    realised = at_sizes(subject, sizes)
    assert isinstance(realised, Network)
    theory = at_width(solve(realised.model("isotropic")), sizes.p).test_error
    found = Measured.of(samples)
    return found.mean / theory - 1.0, found.error / theory


def main() -> None:
    """See the module's first lines."""
    if sys.argv[1:] == ["simulate"]:
        measure(SLUG, [experiment for *_, experiment in experiments()], SEED)
    for cell in cells():
        print(
            f"strength {cell.strength:g}, alpha0 {cell.alpha0:g}, case {cell.case}, d = {cell.dimension}: "
            f"{100 * cell.deviation:+.1f} +- {100 * cell.error:.1f} %"
        )
    print(f"MEASURED = {ranges()}")


if __name__ == "__main__":
    main()
