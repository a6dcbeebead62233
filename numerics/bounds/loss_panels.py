"""The functions that a prediction is made of, on panels fit for averages of a loss that bends.

omega = f + noise with f in the span of mu0_a, kappa mu1_a (dmu0_a/dc_a where norms vary) and mu1_a z (`bounds`). Two
layouts: panels in z at every kappa of a rule along the spike, and panels along the spike itself where z is averaged out
beforehand, since label and prediction do not know it otherwise (alignment 1), or since the label takes two values only
and the prediction depends on kappa alone.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.bounds.split_panels import Panels, Places
from giantsteps.numerics.gaussian.coefficients import conditional_moments_of
from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.gaussian.quadrature import Integrand, across_rule, integrand
from giantsteps.numerics.gaussian.smooth_panels import gauss_legendre
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.saddle_point.any_loss.sample_averages import SignLabel, has_signs
from giantsteps.numerics.saddle_point.profile import Profile, profile

Array = NDArray[np.float64]

# Half the length and the number of panels in z of the coarsest rule.
_REACH, _PANELS = 9.0, 12
# Nodes of one panel of a rule of many nodes, as which a panel counts.
_NODES_OF_A_PANEL = 8
# Panels along the spike: at first, and how they are bisected until the functions' last Legendre coefficients on them,
# times the density, are below this share of their size.
_FIRST_PANELS, _MOST_BISECTIONS = 24, 16
_ORDER = 14
_RESOLVED = 1e-11
# Shorter panels are nothing but rounding of their ends.
_EMPTY = 1e-13


def panels_of(model: Model, *, across: bool, refine: int = 0) -> Panels:
    """Panels with the functions of the span: mu0_a and, with `across`, kappa_j mu1_a, dmu0_a/dc_a and mu1_a z.

    mu1_a z is left out at alignment 1, where no label depends on z.
    """
    table = profile(model, refine, 0, whole=True)
    tilted = across and model.remainder > 0.0
    knows_kappa = model.remainder == 0.0 or (has_signs(model.target) and not tilted)
    if model.rank == 1 and knows_kappa:
        return _along_panels(model, float(np.max(np.abs(table.kappa))), across, refine)
    flat = np.concatenate([table.mu0, table.along]) if across else table.mu0
    return _across_panels(model, table, flat, table.mu1 if tilted else table.mu1[:0], refine)


def _across_panels(model: Model, table: Profile, flat: Array, tilt: Array, refine: int) -> Panels:
    """Panels in z for each node of a rule along the spike: f = flat + tilt z, both tabulated (., n)."""
    teacher, scale = integrand(model.target), math.sqrt(model.remainder)
    place = np.asarray(model.alignments) @ table.nodes
    row, left, right = _edges_in_z(teacher, place, scale, refine)

    def features(which: Places, t: Array) -> Array:
        at = row[which]
        return np.concatenate([np.broadcast_to(flat[:, at, None], (len(flat), *t.shape)), tilt[:, at, None] * t])

    def label(which: Places, t: Array) -> Array:
        return np.asarray(teacher.values(place[row[which], None] + scale * t))

    def weight(which: Places, t: Array) -> Array:
        return np.asarray(table.weights[row[which], None] * density(t))

    return Panels(left, right, features, label, weight)


def _edges_in_z(teacher: Integrand, place: Array, scale: float, refine: int) -> tuple[Places, Array, Array]:
    """Rows, left and right ends of panels on the z line that end where the target breaks.

    Panels are split where the loss bends, so that halving them once is enough; what is left comes from kappas at which
    two bends meet, and the rule along the spike goes on.
    """
    if scale == 0.0:
        edges = np.tile(np.linspace(-_REACH, _REACH, _PANELS * 2 ** min(refine, 1) + 1), (len(place), 1))
    else:
        z, _ = across_rule(teacher, place, scale, 0)
        length = max(_REACH, float(np.max(np.abs(z))))
        count = max(_PANELS, z.shape[-1] // _NODES_OF_A_PANEL) * 2 ** min(refine, 1)
        even = np.broadcast_to(np.linspace(-length, length, count + 1), (len(place), count + 1))
        breaks = (np.array(teacher.breakpoints) - place[:, None]) / scale
        edges = np.sort(np.concatenate([even, np.clip(breaks, -length, length)], axis=1), axis=1)
    left, right = edges[:, :-1], edges[:, 1:]
    row, column = np.nonzero(right - left > _EMPTY)
    return row, left[row, column], right[row, column]


@dataclass(frozen=True)
class _Branch:
    """A label g(kappa) that holds with a probability given kappa."""

    label: Callable[[Array], Array]
    probability: Callable[[Array], Array]


def _along_panels(model: Model, length: float, across: bool, refine: int) -> Panels:
    """Panels along the spike, where the functions are read off Legendre series; label branches stand side by side."""
    branches, breaks = _branches(model)

    def functions(kappa: Array) -> Array:
        moments = [
            conditional_moments_of(model.activation, slope, bulk, bias, kappa)
            for slope, bulk, bias in zip(model.slopes, model.bulks, model.biases, strict=True)
        ]
        rows = [part.mean for part in moments]
        if across:
            rows += [kappa * part.slope / math.sqrt(bulk) for part, bulk in zip(moments, model.bulks, strict=True)]
        if across and model.unequal_norms:
            rows += [part.curvature / (2.0 * bulk) for part, bulk in zip(moments, model.bulks, strict=True)]
        return np.array(rows)

    def all_functions(kappa: Array) -> Array:
        return np.concatenate(
            [functions(kappa), [b.label(kappa) for b in branches], [b.probability(kappa) for b in branches]]
        )

    edges = _resolved(
        all_functions, sorted({-length, length, *np.linspace(-length, length, _FIRST_PANELS + 1), *breaks})
    )
    for _ in range(refine):
        edges = np.sort(np.concatenate([edges, 0.5 * (edges[1:] + edges[:-1])]))
    left, right = edges[:-1], edges[1:]
    count = len(left)
    series = _series(functions, left, right)

    def features(which: Places, t: Array) -> Array:
        at = which % count
        x = (2.0 * t - (left + right)[at, None]) / (right - left)[at, None]
        polynomials = np.polynomial.legendre.legvander(x, _ORDER - 1)
        return np.asarray(np.einsum("rmk,mqk->rmq", series[:, at], polynomials))

    def label(which: Places, t: Array) -> Array:
        return _by_branch([branch.label for branch in branches], which // count, t)

    def weight(which: Places, t: Array) -> Array:
        return density(t) * _by_branch([branch.probability for branch in branches], which // count, t)

    return Panels(np.tile(left, len(branches)), np.tile(right, len(branches)), features, label, weight)


def _branches(model: Model) -> tuple[list[_Branch], list[float]]:
    """The label's values with their probabilities given kappa, and where along the spike they jump."""
    teacher, gamma = integrand(model.target), model.alignment
    if model.remainder == 0.0:
        branch = _Branch(lambda kappa: np.asarray(teacher.values(gamma * kappa)), lambda kappa: np.ones_like(kappa))
        return [branch], [place / gamma for place in teacher.breakpoints]
    signs, scale = SignLabel.of(model.target, 0.0), np.array(math.sqrt(model.remainder))

    def positive(kappa: Array) -> Array:
        return signs.given(gamma * kappa, scale)[0]

    return [
        _Branch(lambda kappa: np.ones_like(kappa), positive),
        _Branch(lambda kappa: -np.ones_like(kappa), lambda kappa: 1.0 - positive(kappa)),
    ], []


def _by_branch(functions: list[Callable[[Array], Array]], branch: Places, t: Array) -> Array:
    values = np.empty_like(t)
    for number, function in enumerate(functions):
        values[branch == number] = function(t[branch == number])
    return values


def _series(functions: Callable[[Array], Array], left: Array, right: Array) -> Array:
    """Legendre coefficients (r, panels, order) of functions on panels."""
    nodes, weights = gauss_legendre(_ORDER)
    t = 0.5 * (left + right)[:, None] + 0.5 * (right - left)[:, None] * nodes
    values = functions(t.ravel()).reshape(-1, *t.shape)
    transform = np.polynomial.legendre.legvander(nodes, _ORDER - 1) * weights[:, None] * (np.arange(_ORDER) + 0.5)
    return np.asarray(values @ transform)


def _resolved(functions: Callable[[Array], Array], edges: list[float]) -> Array:
    """Edges of panels, bisected until every function is a Legendre series on each of them."""
    done, left, right = [], np.array(edges[:-1]), np.array(edges[1:])
    sizes = 0.0
    for _ in range(_MOST_BISECTIONS):
        series = _series(functions, left, right)
        nearest = np.where(left * right < 0.0, 0.0, np.minimum(np.abs(left), np.abs(right)))
        likely = density(nearest)
        sizes = np.maximum(sizes, np.max(np.abs(series[:, :, 0]) * likely, axis=1, initial=1e-30))
        tail = np.max(np.abs(series[:, :, -2:]), axis=2) * likely
        good = np.all(tail <= _RESOLVED * sizes[:, None], axis=0)
        done.append(left[good])
        left, right = left[~good], right[~good]
        if not len(left):
            break
        middle = 0.5 * (left + right)
        left, right = np.concatenate([left, middle]), np.concatenate([middle, right])
    return np.sort(np.concatenate([*done, left, [edges[-1]]]))
