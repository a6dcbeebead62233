"""The warning for an activation with an even part: the size of the terms that the isotropic bulk neglects.

With E[sigma''] != 0 one step multiplies the initial rows of a group of readout weight u by 1 + u nu M with
nu = (eta/beta) E[sigma''] and M = (1/n0) sum y x x^T, whose eigenvalues have the root mean square
sqrt(E[y^2]/alpha0). The isotropic bulk takes the mean of what that does to the length of the rows, and neither their
directions nor their scatter: an error of leading order, measured on networks by `benchmarks.studies.even_part`.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from functools import lru_cache

from giantsteps.derivations.activations.activation import Activation
from giantsteps.numerics.gaussian.coefficients import hermite_constants
from giantsteps.numerics.models.gradient_step import even_part

# (strength, alpha0, least and largest deviation of a network's test error from the isotropic theory and the largest
# standard error of one, in per cent), over three networks of d = DIMENSION; a test computes them from the samples.
DIMENSION = 600
MEASURED: tuple[tuple[float, float, float, float, float], ...] = (
    (0.03, 1.0, -4.1, 3.1, 1.6),
    (0.03, 4.0, -1.3, 0.9, 2.6),
    (0.03, 16.0, 0.1, 3.7, 1.5),
    (0.1, 1.0, -1.9, 5.0, 2.1),
    (0.1, 4.0, -1.2, 2.5, 1.6),
    (0.1, 16.0, -0.5, 13.3, 1.9),
    (0.3, 1.0, -2.2, 1.4, 1.5),
    (0.3, 4.0, -0.8, 10.5, 2.1),
    (0.3, 16.0, -0.2, 12.6, 1.7),
    (1.0, 1.0, -7.2, 0.4, 1.6),
    (1.0, 4.0, -7.0, 2.7, 1.8),
    (1.0, 16.0, -5.9, -0.2, 1.7),
)

# An even part of less strength than this is not worth a word: its effect goes like the square.
_FAINT = 1e-3


def strength(
    activation: Activation, target: Activation, *, alpha0: float, eta: float, beta: float, noise: float = 0.0
) -> float:
    """(eta/beta) |E[sigma'']| sqrt(E[y^2]/alpha0), the root mean square of the eigenvalues of nu M; 0.0 without one."""
    if alpha0 == 0.0 or eta == 0.0:
        return 0.0
    curvature = abs(even_part(activation).curvature)
    return eta / beta * curvature * math.sqrt((hermite_constants(target).h2 + noise) / alpha0) if curvature else 0.0


@lru_cache(maxsize=256)
def even_part_warning(
    activation: Activation,
    target: Activation,
    alpha0: float,
    eta: float,
    beta: float,
    noise: float,
    largest_weight: float = 1.0,
) -> str | None:
    """One sentence on the error of the isotropic bulk after such a step; None for an activation without even part.

    largest_weight: the largest |u| of the readout groups.
    """
    found = largest_weight * strength(activation, target, alpha0=alpha0, eta=eta, beta=beta, noise=noise)
    if found < _FAINT:
        return None
    curvature = hermite_constants(activation).curvature
    length = "|u E[sigma'']|" if largest_weight != 1.0 else "|E[sigma'']|"
    neglected = (
        f"the isotropic bulk neglects the even part of the activation (E[sigma''] = {curvature:.3g}), which turns the "
        f"rows by (eta/beta) {length} sqrt(E[y^2]/alpha0) = {found:.2g} of their length"
    )
    instead = "the network's own bulk (bulk model network) does not neglect it, and simulations of kind network have it"
    ranges = _range(found, alpha0)
    if ranges is None:
        ends = (f"{max(cell[0] for cell in MEASURED):g}", *(f"{end(c[1] for c in MEASURED):g}" for end in (min, max)))
        return (
            f"{neglected}: what that does to networks is measured up to {ends[0]} and for alpha0 from {ends[1]} to "
            f"{ends[2]}, not here, and they may be far from this theory; {instead}"
        )
    least, most, error = ranges
    return (
        f"{neglected}; with the square loss the test errors of simulated networks (d = {DIMENSION}) of three pairs of "
        f"activation and target, near that, differ from this theory by {least:+.1f} % to {most:+.1f} %, each measured "
        f"to {error:.1f} %, and others may differ by more; {instead}"
    )


def _range(found: float, alpha0: float) -> tuple[float, float, float] | None:
    """Least and largest deviation and standard error of the cells around; None beyond what was measured. An even part
    weaker than all that were does no more than the weakest."""
    strengths, batches = (sorted({cell[k] for cell in MEASURED}) for k in (0, 1))
    if found > strengths[-1] or not batches[0] <= alpha0 <= batches[-1]:
        return None
    near, beside = _around(strengths, found), _around(batches, alpha0)
    cells = [cell for cell in MEASURED if cell[0] in near and cell[1] in beside]
    return min(cell[2] for cell in cells), max(cell[3] for cell in cells), max(cell[4] for cell in cells)


def _around(grid: list[float], x: float) -> list[float]:
    """The values of a grid on both sides of x, or the one at its end."""
    place = bisect_left(grid, x)
    return grid[max(place - 1, 0) : place + 1]
