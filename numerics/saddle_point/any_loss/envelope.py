"""The averaged Moreau envelope of a convex loss at each place along the spike, with its gradient and Hessian.

Given kappa, the output at V = 0 is omega = yhat + P z + sqrt(q - P^2) xi, with P = sum_a mu1_a psi_a and q the variance
of the output, and the label y = g(gamma kappa + sqrt(1 - gamma^2) z) + sqrt(noise) N(0, 1). The envelope is

    e(yhat, P, q, V) = E M,   M = min_h l(y, h) + (h - omega)^2/(2V),   dM/dV = -(M')^2/2,   M' = dM/domega = -force,

and a derivative in q is half a second one in omega. So every derivative of e up to the second is a combination of
averages of M', M'', M''', M'''', (M')^2, M' M'', (M' M'')', (M')^2 M'' and of some of these times z and z^2.

Forces that are clipped lines: omega is Gaussian given z, closed forms, and a rule in z. Margin losses with derivatives:
z is averaged out given omega in closed form, and a rule in omega remains. Any other loss: rules in z and xi.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from giantsteps.numerics.gaussian.nodes import density
from giantsteps.numerics.gaussian.quadrature import WIDEST_PANEL, integrand
from giantsteps.numerics.models.losses import ClippedLoss, Loss, ProximalLoss
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.saddle_point.any_loss.clipped_lines import clipped_loss, clipped_moments
from giantsteps.numerics.saddle_point.any_loss.sample_averages import SignLabel, normal_cdf
from giantsteps.numerics.saddle_point.any_loss.sample_panels import (
    FAR,
    Nodes,
    Rows,
    bends_near,
    crosses,
    label_rule,
    looks,
    nodes_on,
    parts,
)

Array = NDArray[np.float64]

# A variance of less than this is none.
_LEAST = 1e-300


@dataclass(frozen=True)
class Output:
    """The output at V = 0 and V, along the spike: yhat, P, q and V, each (n,)."""

    yhat: Array
    across: Array
    variance: Array
    V: Array

    def at(self, rows: slice) -> Output:
        """The same on some of the rows."""
        return Output(self.yhat[rows], self.across[rows], self.variance[rows], self.V[rows])


@dataclass(frozen=True)
class Envelope:
    """First and second derivatives of e in (yhat, P, q, V): (4, n) and (4, 4, n)."""

    slope: Array
    curvature: Array

    @property
    def square(self) -> Array:
        """E f^2."""
        return np.asarray(-2.0 * self.slope[3])


class Sampler(Protocol):
    """The averages for a loss and a model on a rule made for one output."""

    def envelope(self, at: Output) -> Envelope:
        """Derivatives of the averaged envelope."""

    def loss(self, at: Output, new: bool) -> Array:
        """E l(y, omega) on a new label, or E l(y, prox) on one that the readout was fitted to, (n,)."""

    @property
    def count(self) -> int:
        """The number of nodes."""


def sampler(loss: Loss, model: Model, place: Array, along: Array, near: Output, refine: int) -> Sampler:
    """The averages that suit the loss; place = gamma.kappa and the weights `along` (n,) of the rule along the spike.

    `near` is an output beside which the averages will be asked for. Raises ModelError for label noise that is not
    built.
    """
    starts = range(0, len(place), _ROWS)
    if len(starts) == 1:
        return _one_sampler(loss, model, place, along, near, refine)
    rows = [slice(start, start + _ROWS) for start in starts]
    return _Pieces([(row, _one_sampler(loss, model, place[row], along[row], near.at(row), refine)) for row in rows])


def known_by_its_map_alone(loss: Loss) -> bool:
    """Whether averages know nothing of the loss but its proximal map: rules in z and xi, at every node along the spike.

    Every refinement then costs eight times the one before.
    """
    if isinstance(loss, ClippedLoss) or loss.line is not None:
        return False
    return not (loss.margin and loss.derivatives is not None and loss.bends is not None)


def _one_sampler(loss: Loss, model: Model, place: Array, along: Array, near: Output, refine: int) -> Sampler:
    if isinstance(loss, ClippedLoss) or loss.line is not None:
        return _Lines(loss, model, place, along, near, refine)
    kind = _General if known_by_its_map_alone(loss) else _Smooth
    return kind(loss, model, place, along, near, refine)


# Rows that are averaged together: arrays of some ten thousand numbers stay in the processor's cache.
_ROWS = 200


class _Pieces:
    """Many rows, some at a time."""

    def __init__(self, pieces: list[tuple[slice, Sampler]]) -> None:
        self.pieces = pieces
        self.count = sum(piece.count for _, piece in pieces)

    def envelope(self, at: Output) -> Envelope:
        found = [piece.envelope(at.at(row)) for row, piece in self.pieces]
        slope = np.concatenate([part.slope for part in found], axis=-1)
        return Envelope(slope, np.concatenate([part.curvature for part in found], axis=-1))

    def loss(self, at: Output, new: bool) -> Array:
        return np.concatenate([piece.loss(at.at(row), new) for row, piece in self.pieces])


class _Rule:
    """What the samplers share."""

    nodes: Nodes

    @property
    def count(self) -> int:
        """The number of nodes."""
        return len(self.nodes.row)


# Averages of one node, weighted: M', M'', M''', M'''', (M')^2, M'M'', (M'M'')', (M')^2 M'' (8, N) with weight 1, then
# M', M'', M''', M'M'' with weight z, then M'' with weight z^2 - 1.
_ONE, _TILTED, _CURVED = slice(0, 8), slice(8, 12), 12


def _assembled(sums: Array, across: Array, blind: bool) -> Envelope:
    """Gradient and Hessian from the 13 sums; `blind` says that no label knows z, and then nothing depends on P."""
    M1, M2, M3, M4, W, MM, MM1, VV, zM1, zM2, zM3, zMM, zzM2 = sums
    P = across
    if blind:
        none = np.zeros_like(P)
        slope = np.array([M1, none, 0.5 * M2, -0.5 * W])
        yP = PP = Pq = PV = none
    else:
        slope = np.array([M1, zM1 - P * M2, 0.5 * M2, -0.5 * W])
        yP, PP = zM2 - P * M3, zzM2 - 2.0 * P * zM3 + P * P * M4
        Pq, PV = 0.5 * (zM3 - P * M4), P * MM1 - zMM
    yq, yV, qq, qV = 0.5 * M3, -MM, 0.25 * M4, -0.5 * MM1
    return Envelope(slope, np.array([[M2, yP, yq, yV], [yP, PP, Pq, PV], [yq, Pq, qq, qV], [yV, PV, qV, VV]]))


def blind_nodes(rows: int) -> Nodes:
    """One node a row, at z = 0: no label depends on z."""
    return Nodes(np.arange(rows), np.zeros(rows), np.ones(rows), np.arange(rows))


# ---- forces that are clipped lines ----


class _Lines(_Rule):
    """r = offset - sign omega is Gaussian given z, and the force is sign times a clipped line in r."""

    def __init__(self, loss: Loss, model: Model, place: Array, along: Array, near: Output, refine: int) -> None:
        line = loss.line
        assert line is not None
        self.line, self.near = line, near
        self.margin = isinstance(loss, ProximalLoss)
        self.noise = 0.0 if self.margin else model.noise
        self.scale = math.sqrt(model.remainder)
        if self.scale == 0.0:
            self.nodes = blind_nodes(len(place))
            g = integrand(model.target).values(place)
        else:
            self.labels = label_rule(model.target, place, self.scale, along)
            self.nodes = self.labels.nodes(refine, self._too_wide)
            g = self.labels.labels(self.nodes.row, self.nodes.place)
        self.z, self.weight = self.nodes.place, self.nodes.weight
        self.sign, self.offset = (g, np.ones_like(g)) if self.margin else (np.ones_like(g), g)
        if self.margin and model.noise > 0.0:
            self._flipped(model)

    def _flipped(self, model: Model) -> None:
        """Every node twice, with the label that it has and with the one that noise turns it into."""
        flip = float(normal_cdf(np.array(-1.0 / math.sqrt(model.noise))))
        self.nodes = Nodes(
            np.repeat(self.nodes.row, 2), np.repeat(self.z, 2), np.repeat(self.weight, 2), 2 * self.nodes.starts
        )
        self.weight = self.nodes.weight * np.tile([1.0 - flip, flip], len(self.z))
        self.sign = np.repeat(self.sign, 2) * np.tile([1.0, -1.0], len(self.z))
        self.z, self.offset = self.nodes.place, np.repeat(self.offset, 2)

    def _deviation(self, at: Output) -> Array:
        own = at.variance if self.scale == 0.0 else at.variance - at.across**2
        return np.asarray(np.sqrt(np.maximum(own + self.noise, _LEAST)))

    def _too_wide(self, row: Rows, left: Array, right: Array) -> NDArray[np.bool_]:
        at, (rows, z) = self.near, looks(row, left, right)
        g = self.labels.labels(rows, z)
        drift = at.yhat[rows] + at.across[rows] * z
        r = 1.0 - g * drift if self.margin else g - drift
        deviation, width = self._deviation(at)[row], self.line.quadratic + at.V[row]
        levels = tuple(bound * width / deviation for bound in (self.line.low, self.line.high) if abs(bound) < 1e50)
        return crosses(r / deviation[:, None], levels)

    def _given(self, at: Output) -> tuple[Array, Array]:
        """Mean and standard deviation of r at the nodes."""
        row = self.nodes.row
        mean = self.offset - self.sign * (at.yhat[row] + at.across[row] * self.z)
        return mean, self._deviation(at)[row]

    def envelope(self, at: Output) -> Envelope:
        u, D = self._given(at)
        width = self.line.quadratic + at.V[self.nodes.row]
        force, S, dS, ddS, square, ff, dff, fff = clipped_moments(u, D, width, self.line)
        z, even = self.z, self.weight
        odd = -self.sign * even  # of what turns with the sign of r
        weighted = [
            (force, odd), (S, even), (dS, odd), (ddS, even), (square, even), (ff, odd), (dff, even), (fff, even),
            (force, odd * z), (S, even * z), (dS, odd * z), (ff, odd * z), (S, even * (z * z - 1.0)),
        ]  # fmt: skip
        # Summed one by one: arrays of all nodes are small, and one of all sums over them is not.
        sums = np.array([self.nodes.sums(part * weight) for part, weight in weighted])
        return _assembled(sums, at.across, self.scale == 0.0)

    def loss(self, at: Output, new: bool) -> Array:
        u, D = self._given(at)
        V = np.zeros_like(u) if new else at.V[self.nodes.row]
        return self.nodes.sums(self.weight * clipped_loss(u, D, V, self.line))


# ---- margin losses with derivatives ----


class _Smooth(_Rule):
    """Panels in t, omega = yhat + sqrt(q) t; a label, its z and its z^2 are averaged out given t."""

    def __init__(self, loss: ProximalLoss, model: Model, place: Array, along: Array, near: Output, refine: int) -> None:
        self.loss_function, self.place, self.near = loss, place, near
        self.scale = math.sqrt(model.remainder)
        self.label = SignLabel.of(model.target, model.noise)
        length = np.full(len(place), FAR)
        panels = parts(np.arange(len(place)), -length, length, WIDEST_PANEL)
        self.nodes = nodes_on(*panels, self._too_wide, along, refine)

    def _given(self, at: Output) -> tuple[Array, Array, Array]:
        """Standard deviation, correlation of omega and z, and sqrt(1 - correlation^2), each (n,)."""
        deviation = np.sqrt(np.maximum(at.variance, _LEAST))
        overlap = np.clip(at.across / deviation, -1.0, 1.0)
        return deviation, overlap, np.sqrt((1.0 - overlap) * (1.0 + overlap))

    def _too_wide(self, row: Rows, left: Array, right: Array) -> NDArray[np.bool_]:
        at, (rows, t) = self.near, looks(row, left, right)
        deviation, overlap, rest = self._given(at)
        step = self.scale * np.maximum(rest, 1e-12)[rows]
        wide: NDArray[np.bool_] = np.zeros(len(row), dtype=bool)
        if self.scale > 0.0:
            drift = self.place[rows] + self.scale * overlap[rows] * t
            for place in self.label.places:
                wide |= crosses((drift - place) / step, (0.0,))
        assert self.loss_function.bends is not None
        bends, height = self.loss_function.bends(at.V[row])
        omega = at.yhat[rows] + deviation[rows] * t
        return np.asarray(wide | bends_near(omega, bends, height) | bends_near(-omega, bends, height))

    def _labels(self, at: Output) -> list[tuple[float, Array, Array, Array]]:
        """For each label: P(y), E[z; y] and E[z^2 - 1; y] given t, times the weight of the node."""
        nodes, (_, overlap, rest) = self.nodes, self._given(at)
        t, o, r = nodes.place, overlap[nodes.row], rest[nodes.row]
        positive, tilt, curved = self.label.given(self.place[nodes.row] + self.scale * o * t, self.scale * r)
        # z = o t + r x with x standard normal, and E[x^2 - 1] = 0.
        w, ot = nodes.weight, o * t
        z = ot * positive + r * tilt
        zz = (ot * ot - o * o) * positive + 2.0 * ot * r * tilt + r * r * curved
        other = ot * ot - o * o - zz
        return [(1.0, w * positive, w * z, w * zz), (-1.0, w * (1.0 - positive), w * (ot - z), w * other)]

    def envelope(self, at: Output) -> Envelope:
        row = self.nodes.row
        deviation, _, _ = self._given(at)
        omega, V = at.yhat[row] + deviation[row] * self.nodes.place, at.V[row]
        total = np.zeros((13, len(row)))
        assert self.loss_function.derivatives is not None
        for sign, one, z, zz in self._labels(at):
            y = np.full_like(omega, sign)
            l1, l2, l3, l4 = self.loss_function.derivatives(y, self.loss_function.prox(y, omega, V))
            inverse = 1.0 / (1.0 + V * l2)
            M2, cube = l2 * inverse, inverse**3
            M3, M4 = l3 * cube, (l4 - 3.0 * V * l3 * l3 * inverse) * cube * inverse
            mm = l1 * M2
            terms = np.array([l1, M2, M3, M4, l1 * l1, mm, M2 * M2 + l1 * M3, l1 * mm])
            total[:8] += one * terms
            total[8:11] += z * terms[:3]
            total[11] += z * mm
            total[12] += zz * M2
        return _assembled(self.nodes.sums(total), at.across, self.scale == 0.0)

    def loss(self, at: Output, new: bool) -> Array:
        row = self.nodes.row
        omega, V = at.yhat[row] + self._given(at)[0][row] * self.nodes.place, at.V[row]
        total = np.zeros(len(row))
        for sign, one, _, _ in self._labels(at):
            y = np.full_like(omega, sign)
            total += one * self.loss_function.value(y, omega if new else self.loss_function.prox(y, omega, V))
        return self.nodes.sums(total)


# ---- any loss with a proximal operator ----


class _General(_Rule):
    """Rules in z and xi; derivatives of M'' by parts in xi, which is Gaussian."""

    def __init__(self, loss: ProximalLoss, model: Model, place: Array, along: Array, near: Output, refine: int) -> None:
        if model.noise > 0.0:
            raise ModelError(
                f"label noise with the loss {loss.name!r} is not supported: omit the noise, or use the square, Huber "
                "or absolute loss"
            )
        self.loss_function, self.scale = loss, math.sqrt(model.remainder)
        if self.scale == 0.0:
            self.nodes = blind_nodes(len(place))
        else:
            self.nodes = label_rule(model.target, place, self.scale, along).nodes(refine)
        self.g = integrand(model.target).values(place[self.nodes.row] + self.scale * self.nodes.place)
        step = 0.5 / 2.0**refine
        self.xi: Array = step * np.arange(-math.ceil(FAR / step), math.ceil(FAR / step) + 1, dtype=np.float64)
        self.xi_weights = step * density(self.xi)

    def _given(self, at: Output) -> tuple[Array, Array, Array]:
        """Mean and standard deviation of omega given z, and V, at the nodes."""
        row = self.nodes.row
        spread = at.variance if self.scale == 0.0 else at.variance - at.across**2
        deviation = np.sqrt(np.maximum(spread, _LEAST))
        return at.yhat[row] + at.across[row] * self.nodes.place, deviation[row], at.V[row]

    def envelope(self, at: Output) -> Envelope:
        centre, deviation, V = self._given(at)
        total = np.zeros((8, len(centre)))
        for xi, weight in zip(self.xi, self.xi_weights, strict=True):
            omega = centre + deviation * xi
            M1 = (omega - self.loss_function.prox(self.g, omega, V)) / V
            M2 = self.loss_function.force_slope(self.g, omega, V)
            tilted, mm = M2 * (xi / deviation), M1 * M2
            curved = M2 * ((xi * xi - 1.0) / deviation**2)
            total += weight * np.array([M1, M2, tilted, curved, M1 * M1, mm, mm * (xi / deviation), M1 * mm])
        z = self.nodes.place
        terms = np.concatenate([total, z * total[:3], z * total[5:6], (z * z - 1.0) * total[1:2]]) * self.nodes.weight
        return _assembled(self.nodes.sums(terms), at.across, self.scale == 0.0)

    def loss(self, at: Output, new: bool) -> Array:
        centre, deviation, V = self._given(at)
        total = np.zeros(len(centre))
        for xi, weight in zip(self.xi, self.xi_weights, strict=True):
            omega = centre + deviation * xi
            h = omega if new else self.loss_function.prox(self.g, omega, V)
            total += weight * self.loss_function.value(self.g, h)
        return self.nodes.sums(total * self.nodes.weight)
