"""The spectrum of Phi^T Phi/p: Stieltjes transform, density, edges, atom and outliers (Appendix F of arXiv 2402.04980).

The transform g(z) = lim (1/p) tr (Phi^T Phi/p - z)^-1 is reached by continuation from a large imaginary part; the
density is Im g/pi on the real axis itself. The share of eigenvalues below a point is known there without any integral
(`numerics.spectrum.point`): the density is integrated in panels, each compared with it and halved until they agree.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.accepts import accepts
from giantsteps.numerics.bulk.network_steps import by_pencil
from giantsteps.numerics.gaussian.quadrature import conditional_moments, integrand
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.models.documents import finite
from giantsteps.numerics.models.given import model_of, within_reach
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.notebook import Shown
from giantsteps.numerics.saddle_point.profile import Profile, profile
from giantsteps.numerics.spectrum.axis import Axis, SpectrumError, continued, mean_eigenvalue
from giantsteps.numerics.spectrum.band_edges import LEAST_SHARE, Band, bands
from giantsteps.numerics.spectrum.network import NetworkEquations, unbounded_labels
from giantsteps.numerics.spectrum.outliers import Outlier, detached_eigenvalues, outliers_of
from giantsteps.numerics.spectrum.point import Equations

__all__ = ["Spectrum", "SpectrumError", "atom_at_zero", "spectrum", "stieltjes"]

Array = NDArray[np.float64]

MASS_GOAL = 1e-6
# The scan for bands, in units of the mean eigenvalue: points a decade, and where. Below 1e-26 the variances of
# saturated features are rounding; what lies there is counted, and no density is given.
_SCAN = ((2.0, 4.0, 4), (-3.0, 2.0, 12), (-26.0, -3.0, 3))
_DEEP = 1e-12
# A panel of the density, in an angle, and what its integral may differ by.
_NODES = 16
_FIRST_PANELS = 6
_PANEL_GOAL = 1e-9
_NARROWEST = 1e-7
_MOST_PANELS = 600
# A variance that is more than this many times as large further out grows; from where to where it is looked at.
_GROWS = 1.1
_FAR_OUT = np.concatenate([np.arange(12.0, 24.0, 0.37), np.arange(24.0, 48.0, 0.74)])
# This far from both ends of a band, in shares of all eigenvalues, a point outside the support lies in a gap.
_GAP = 1e-8
_MOST_GAPS = 30


@dataclass(frozen=True, repr=False, eq=False)
class Spectrum(Shown):
    """The limiting spectrum of Phi^T Phi/p.

    edges: the intervals of the support, the last end infinite where the features are unbounded in variance.
    atom_at_zero: the share of zero eigenvalues.
    outliers: eigenvalues of size p: n times `per_sample` plus `correction`.
    detached: isolated eigenvalues of O(1).
    x: (N,), points of every interval with its ends.
    density: (N,), at these points.
    cumulative: (N,), the share of eigenvalues below x, atom included.
    below_resolution: the share of positive eigenvalues under the first x, where the support reaches 0.
    mass: atom_at_zero plus below_resolution plus the integral of the density: 1 up to mass_error.
    mass_error: by how much the panels of the integral differ from the cumulative shares.
    mean_error: how far the integral of x is off the mean eigenvalue, relative.
    converged: whether the density is complete.
    status: "converged", or the reason.
    model: the problem.

    >>> giantsteps.spectrum(model).atom_at_zero
    0.0
    """

    edges: tuple[tuple[float, float], ...]
    atom_at_zero: float
    outliers: tuple[Outlier, ...]
    detached: tuple[float, ...]
    x: Array
    density: Array
    cumulative: Array
    below_resolution: float
    mass: float
    mass_error: float
    mean_error: float
    converged: bool
    status: str
    model: Model | None = field(default=None, repr=False, compare=False)

    def _columns(self) -> dict[str, Array]:
        return {name: getattr(self, name) for name in _CURVES}

    def _title(self) -> str:
        isolated = ", ".join(f"{value:.6g}" for value in self.detached)
        beside = f", isolated eigenvalues {isolated}" if isolated else ""
        of = "" if self.model is None else f"{self.model.described(but=('ridge', 'noise'))}: "
        return f"{of}spectrum of Phi^T Phi/p: atom at zero {self.atom_at_zero:.6g}{beside}"

    def __repr__(self) -> str:
        edges = ", ".join(f"[{low:.6g}, {high:.6g}]" for low, high in self.edges)
        return f"Spectrum({edges or 'no interval'}, atom_at_zero={self.atom_at_zero:.6g}, {self.status})"

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return dict(finite(self.document()))

    def document(self) -> dict[str, Any]:
        """As `to_dict`, infinite edges as numbers. Outliers that grow carry their slope per sample, their correction of
        order one, and the number of samples from which on they are where these say.
        """
        same = "another outlier has the same slope, and their difference grows with the root of the number of samples"
        grown = (
            {
                "per_sample": outlier.slope,
                "correction": outlier.correction,
                "from_samples": finite(least if math.isinf(least := outlier.from_samples) else math.ceil(least), same),
            }
            for outlier in self.outliers
        )
        return {
            "edges": [list(interval) for interval in self.edges],
            "atom_at_zero": self.atom_at_zero,
            "outliers": [*grown, *self.detached],
            **{name: getattr(self, name).tolist() for name in _CURVES},
            **{name: getattr(self, name) for name in ("below_resolution", "mass", "mass_error", "mean_error")},
            "converged": self.converged,
            "status": self.status,
        }


def equations_of(
    model: Model, isotropic: type[Equations] = Equations, network: type[NetworkEquations] = NetworkEquations
) -> Equations:
    """The equations of a model's bulk, of either kind. Raises ModelError for a network with several readout groups or
    steps."""
    if model.network_step is None:
        return isotropic(model)
    if by_pencil(model):
        if model.step is not None and model.step.several:
            raise ModelError(
                "the spectrum of a network's own bulk is only supported for one gradient step: use steps=1, or the "
                'isotropic bulk, bulk_model="isotropic"'
            )
        raise ModelError(
            "from Gaussian rows the spectrum of a network's own bulk is only supported for an odd activation: use "
            'gaussian_rows=False, or the isotropic bulk, bulk_model="isotropic"'
        )
    if len(model.groups) > 1 or model.biases != (0.0,):
        raise ModelError(
            "the spectrum of a network's own bulk is only supported for one readout group without bias: omit the "
            'groups, or use the isotropic bulk, bulk_model="isotropic"'
        )
    return network(model)


@within_reach
def stieltjes(model: Model, z: complex) -> complex:
    """g(z), Im z >= 0; on the real axis the limit from above. Raises SpectrumError where continuation gets stuck."""
    return complex(np.sum(continued(equations_of(model), z).values[-len(model.groups) :]))


@within_reach
def atom_at_zero(model: Model) -> float:
    """The share of zero eigenvalues, 1 - rank/p: n samples, and d where the features are linear given kappa."""
    equations = Equations(model)
    k = equations.groups
    inner = equations.coarse.features @ equations.coarse.weights
    present = inner > 1e-24 * max(float(np.max(inner)), 1e-300)
    diagonal = [i * k - i * (i - 1) // 2 for i in range(k)]
    noisy, linear = present[-k:], present[diagonal]
    # Neurons with a part of their own count one by one, those without at most d together, constant ones none.
    wide = float(np.sum(equations.fractions[noisy]))
    narrow = min(float(np.sum(equations.fractions[linear & ~noisy])), 1.0 / model.beta)
    return 1.0 - min(model.alpha / model.beta, wide + narrow)


@accepts(model=model_of)
@lru_cache(maxsize=16)
@within_reach
def spectrum(model: Model) -> Spectrum:
    """The limiting spectrum of Phi^T Phi/p: density, edges, atom and outliers.

    model: the problem. Its ridge, target and noise play no part, except through a gradient step.

    Raises ModelError for several spike directions or, with a network's own bulk, for several groups or a bias, and
    SpectrumError for a point of the spectrum that continuation does not reach.

    >>> found = giantsteps.spectrum(model)
    >>> found.edges, found.to_dict()["outliers"][0]["per_sample"]
    (((0.00451..., 2.47664...),), 0.23600...)
    """
    equations = equations_of(model)
    atom = atom_at_zero(model)
    # The mean of the eigenvalues that are not zero.
    scale = mean_eigenvalue(equations) / max(1.0 - atom, 1e-300)
    table = profile(model, 1)
    outliers = outliers_of(model, table, equations.rows)
    if scale <= 1e-300 or atom >= 1.0:
        nothing = np.zeros(0)
        status = "converged: the features are constant"
        return Spectrum((), 1.0, outliers, (), nothing, nothing, nothing, 0.0, 1.0, 0.0, 0.0, True, status, model)
    axis = Axis(equations)
    to_zero = equations.ratio < 1.0 and _vanishing(table)
    unbounded = _unbounded(table, model) or (model.network_step is not None and unbounded_labels(model))
    found, pieces = _resolved(axis, _grid(axis, scale, atom), to_zero, unbounded)
    below = max(0.0, found[0].below_low - atom) if found and found[0].open_below else 0.0
    total = atom + below + sum(piece.mass for piece in pieces)
    error = sum(piece.error for piece in pieces)
    mean = sum(piece.first_moment for piece in pieces) / mean_eigenvalue(equations) - 1.0
    x, density, cumulative = (np.concatenate([getattr(piece, name) for piece in pieces]) for name in _CURVES)
    fine = max(abs(total - 1.0), error, abs(mean)) <= MASS_GOAL and bool(np.all(density >= 0.0))
    edges = tuple(band.edges for band in found)
    outliers = tuple(outlier.outside(edges[-1][1]) for outlier in outliers) if edges else outliers
    detached = detached_eigenvalues(table, edges, lambda at: axis.at(at).values, equations.overlap)
    return Spectrum(
        edges, atom, outliers, detached, x, density, cumulative, below, total, error, abs(mean), fine,
        _status(fine, total, error, mean, below, float(x[0])), model,
    )  # fmt: skip


def _status(fine: bool, total: float, error: float, mean: float, below: float, lowest: float) -> str:
    if not fine:
        return (
            f"not converged: atom and density add up to {total:.9g} instead of 1, by panels that are off by"
            f" {error:.1e}, and the mean by {abs(mean):.1e}; a larger bulk makes the functions along the spike smoother"
        )
    if below > LEAST_SHARE:
        return f"converged; a share of {below:.3g} lies below {lowest:.1e}, where no density is given"
    return "converged"


def _variances(table: Profile) -> Array:
    """The features' variance given kappa, up to constants, in the order of kappa."""
    total: Array = np.sum(table.mu1**2 + table.mu2_squared, axis=0)
    return total


def _vanishing(table: Profile) -> bool:
    """Whether features saturate along the spike: then some eigenvalues are arbitrarily small."""
    variance = _variances(table)
    return bool(min(variance[0], variance[-1]) < 1e-9 * np.max(variance))


def _unbounded(table: Profile, model: Model) -> bool:
    """Whether the variance grows along the spike: then some eigenvalues are arbitrarily large.

    It has to grow within reach, and still far out: that of relu goes from 0 to 1 and stays, however wide that step is.
    """
    variance = _variances(table)
    outer = np.abs(table.kappa) > 0.5 * table.kappa[-1]
    if not np.max(variance[outer]) > _GROWS * np.max(variance[~outer]):
        return False
    half, before, after = len(_FAR_OUT) // 2, 0.0, 0.0
    for side, scale in itertools.product((1.0, -1.0), np.sqrt(model.bulks)):
        places = side * _FAR_OUT * max(1.0, scale)
        parts = conditional_moments(integrand(model.activation), places, float(scale), accept=math.inf)
        with np.errstate(all="ignore"):  # what overflows grows
            far = parts.slope**2 + parts.rest
        before, after = max(before, float(np.max(far[:half]))), max(after, float(np.max(far[half:])))
    return math.isinf(after) or not after <= _GROWS * before


def _grid(axis: Axis, scale: float, atom: float) -> list[float]:
    """Points of the scan, increasing, from above all of the spectrum to below it."""
    grid: list[float] = []
    for start, stop, each in _SCAN:
        for exponent in np.arange(stop, start, -1.0 / each):
            x = float(scale * 10.0**exponent)
            try:
                empty = not axis.inside(x) and axis.below(x) < atom + LEAST_SHARE
            except SpectrumError:
                if x > _DEEP * scale or not axis.inside(grid[-1]):
                    raise
                # With as many samples as features half of the digits of x are lost: three decades above the last, and
                # no deeper than there are eigenvalues to be seen.
                while axis.below(grid[-10]) < atom + LEAST_SHARE:
                    grid.pop()
                return grid[-10::-1]
            grid.append(x)
            if empty:
                return grid[::-1]
    return grid[::-1]


@dataclass(frozen=True)
class _Piece:
    """The density on one band, its integral and first moment, and the sum of the panels' errors."""

    x: Array
    density: Array
    cumulative: Array
    mass: float
    first_moment: float
    error: float


_CURVES = ("x", "density", "cumulative")


def _resolved(axis: Axis, grid: list[float], to_zero: bool, unbounded: bool) -> tuple[tuple[Band, ...], list[_Piece]]:
    """All bands with their densities; a gap that the scan has stepped over shows in the density, and is a new point."""
    for _ in range(_MOST_GAPS):
        found = bands(axis, grid, to_zero=to_zero, unbounded=unbounded)
        pieces = []
        for band in found:
            piece = _integrated(axis, band)
            if isinstance(piece, float):
                grid = sorted([*grid, piece])
                break
            pieces.append(piece)
        else:
            return found, pieces
    raise SpectrumError(f"the support falls into more than {_MOST_GAPS} intervals")


def _integrated(axis: Axis, band: Band) -> _Piece | float:
    """The density on a band in log x = a + (b - a) sin^2, which takes square roots at both ends away.

    Returns a point of a gap where there is one inside.
    """
    a, b = math.log(band.low), math.log(band.high)
    nodes, rule = gauss_legendre(_NODES)

    def place(angle: Array) -> Array:
        return np.asarray(np.exp(a + (b - a) * np.sin(angle) ** 2))

    def below(angle: float) -> float:
        if angle <= 0.0:
            return band.below_low
        return band.below_high if angle >= 0.5 * math.pi else axis.below(float(place(np.array(angle))))

    ends = [0.5 * math.pi * i / _FIRST_PANELS for i in range(_FIRST_PANELS + 1)]
    pending = list(pairwise(ends))
    xs, curve = [], []
    mass = moment = error = 0.0
    count = 0
    while pending:
        low, high = pending.pop()
        count += 1
        angle = 0.5 * (low + high) + 0.5 * (high - low) * nodes
        x = place(angle)
        values = np.array([axis.density(float(at)) if axis.inside(float(at)) else 0.0 for at in x])
        for at, value in zip(x, values, strict=True):
            share = axis.below(float(at))
            if value == 0.0 and band.below_low + _GAP < share < band.below_high - _GAP:
                return float(at)
        measure = 0.5 * (high - low) * rule * (b - a) * np.sin(2.0 * angle) * x
        integral = float(measure @ values)
        off = abs(integral - (below(high) - below(low)))
        if off > _PANEL_GOAL and high - low > _NARROWEST and count < _MOST_PANELS:
            middle = 0.5 * (low + high)
            pending += [(low, middle), (middle, high)]
            continue
        xs.append(x)
        curve.append(values)
        mass, moment, error = mass + integral, moment + float(measure @ (x * values)), error + off
    places, density = np.concatenate(xs), np.concatenate(curve)
    order = np.argsort(places)
    inner = [axis.below(float(x)) for x in places[order]]
    return _Piece(
        np.concatenate([[band.low], places[order], [band.high]]),
        np.concatenate([[_at_end(axis, band, low=True)], density[order], [_at_end(axis, band, low=False)]]),
        np.concatenate([[band.below_low], inner, [band.below_high]]),
        mass, moment, error,
    )  # fmt: skip


def _at_end(axis: Axis, band: Band, *, low: bool) -> float:
    """The density at an end of a band: none at an edge."""
    if low:
        return axis.density(band.low) if band.open_below else 0.0
    return axis.density(band.high) if band.open_above else 0.0
