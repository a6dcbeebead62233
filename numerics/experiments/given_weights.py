"""Given first-layer weights, measured and compared with the theory. The formulas of the errors are derived in
docs/howto/my_network.md: over neurons, over batches (to first order a constant times d^(-1/2)), and an allowance for
terms of order 1/d."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from giantsteps.numerics.bulk.network_constants import labels, slope_constants
from giantsteps.numerics.experiments.ensembles import Array
from giantsteps.numerics.experiments.weights import moments_of
from giantsteps.numerics.models.given import model_of, within_reach
from giantsteps.numerics.models.gradient_step import check_uniform, even_part
from giantsteps.numerics.models.model import Model, ModelError
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.notebook import Shown
from giantsteps.numerics.spectrum.weights import weight_quantiles

Numbers = dict[str, tuple[float, float]]

# Neighbours among the largest singular values of a bulk have ratios 1 + O(d^(-2/3)), below 1.3 at d = 50.
_GAP, _LEAST = 2.0, 4
_LARGEST = 1e50  # fourth powers of a million such numbers are within the range of doubles
_SHARES = {"eigenvalue_10": 0.1, "eigenvalue_50": 0.5, "eigenvalue_90": 0.9}
# What has an allowance of 2 (1 + |x|)/d for terms of order 1/d: in 12 simulated settings they were at most 3.2/d.
_EXPANDED = ("spike", "alignment", "bulk", "step_bulk")


class Measure(NamedTuple):
    """A measured number and its error, a standard deviation; the theory's, and the difference in units of the error."""

    name: str
    measured: float
    error: float
    theory: float | None = None
    difference: float | None = None


@dataclass(frozen=True, eq=False)
class Measured(Shown):
    """Given weights, measured; beside the theory of a model where one was given.

    measures: named numbers (name, measured, error, theory, difference), as `measure` lists them; the error is a
        standard deviation, and the difference from the theory is in units of it.
    eigenvalues: of W W^T, decreasing, min(p, d) of them.
    step_values: the singular values of W - W0, decreasing; none without W0.
    direction: (d,), theta as a unit vector. Where it was not given, the top right singular vector of W - W0 or, without
        W0, the direction of the mean row: both estimate the spike's direction v, not theta.
    origin: which of these: "theta", "step" or "mean row".

    >>> found = giantsteps.measure(np.vstack([np.eye(4), np.eye(4)]) + [1.0, 0.0, 0.0, 0.0])
    >>> found["spike"].measured
    1.28...
    """

    measures: tuple[Measure, ...]
    eigenvalues: Array = field(repr=False)
    step_values: Array = field(repr=False)
    direction: Array = field(repr=False)
    origin: str

    def __getitem__(self, name: str) -> Measure:
        """The measure of a name; KeyError where there is none."""
        return {one.name: one for one in self.measures}[name]

    def rows(self) -> list[dict[str, Any]]:
        """The measures as dictionaries."""
        return [one._asdict() for one in self.measures]

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        curves = {name: getattr(self, name).tolist() for name in ("eigenvalues", "step_values", "direction")}
        return {"measures": {row.pop("name"): row for row in self.rows()}, "origin": self.origin, **curves}

    def _columns(self) -> Mapping[str, Any]:
        return dict(zip(Measure._fields, zip(*self.measures, strict=True), strict=True))


def _numbers(name: str, given: Any, shape: tuple[int, ...] = ()) -> Array:
    """Finite numbers, (p, d) unless of this shape. Raises ModelError."""
    try:
        found = np.full(1, math.nan) if np.iscomplexobj(given) else np.asarray(given, dtype=float)
    except (TypeError, ValueError, RuntimeError):  # what PyTorch raises for a tensor that needs a gradient
        found = np.full(1, math.nan)
    size = float(np.abs(found).max(initial=0.0))
    if not (size == 0.0 or 1.0 / _LARGEST <= size <= _LARGEST):  # neither is NaN
        wanted = "finite real numbers, the largest between 1e-50 and 1e50, like W.detach().numpy()"
        raise ModelError(f"{name} is not accepted: it has to be an array of {wanted}")
    if found.shape != shape if shape else found.ndim != 2 or min(found.shape) < _LEAST:
        wanted = f"{shape}" if shape else f"(neurons, inputs) with at least {_LEAST} of each"
        raise ModelError(f"{name} has the shape {found.shape}, and accepted is {wanted}")
    return found


def _rank(values: Array, size: int) -> int:
    """How many singular values, decreasing, stand before the largest gap, looked for among the first sqrt(min(p, d)).

    (A step on n0 < d samples has at most n0 of them: that gap is further down.)
    """
    there, most = values[values > np.finfo(float).eps * size * values[0]], math.isqrt(len(values))
    if len(there) <= most:
        return len(there)
    ratios = there[:most] / there[1 : most + 1]
    return int(np.argmax(ratios)) + 1 if ratios.max() >= _GAP else 0


def _over_neurons(rows: Array, theta: Array, squares: Array) -> Numbers:
    """Spike, alignment and bulk with their errors; `squares` are the eigenvalues of rows rows^T, decreasing."""
    p, found, along = len(rows), moments_of(rows, theta), rows @ rows.mean(axis=0)
    r, gamma = found["spike"], found["alignment"]
    of_square = math.sqrt(4.0 * float(along.var()) / p + 2.0 * float(squares[1:] @ squares[1:]) / (p**3 * (p - 1)))
    turned = float(np.std(rows @ theta - gamma * along / r)) / (r * math.sqrt(p)) if r else 1.0
    norms = float(np.std(np.einsum("ij,ij->i", rows, rows) - 2.0 * along)) / math.sqrt(p)
    longest, least = math.sqrt(r * r + of_square), math.sqrt(max(r * r - of_square, 0.0))
    return {
        "spike": (r, max(longest - r, r - least)), "alignment": (gamma, turned), "bulk": (found["bulk"], norms),
    }  # fmt: skip


def _theory(model: Model, p: int, d: int) -> Numbers:
    """The theory's numbers, spike >= 0, with the standard deviations over batches. Raises ModelError."""
    check_uniform(model.readout, "solve, simulate and compare, not beside given weights")
    if model.step is not None and model.step.several:
        raise ModelError("the errors beside given weights are only known for one gradient step: use steps=1")
    if round(model.beta * d) != p:
        raise ModelError(f"the model has beta = {model.beta:g}, and these weights p/d = {p}/{d}: use beta={p / d:.6g}")
    side = math.copysign(1.0, model.spike)
    found = {"spike": abs(model.spike), "alignment": side * model.alignment, "bulk": model.bulk}
    found |= dict(zip(_SHARES, weight_quantiles(model, tuple(_SHARES.values())), strict=True))
    if model.step is None or (model.spike, model.bulk) == (0.0, 1.0):  # no step, or one that changes nothing
        return {name: (value, 0.0) for name, value in found.items()}
    (alpha0, eta), even = model.step.only, even_part(model.activation)
    rule, e = labels(model.target, model.noise, 0.0, even.mean), eta / model.beta
    nu, Y, uY = e * even.curvature, rule.moments, rule.first
    S = np.array([Y[1], uY[0], Y[2]])
    second = np.array([[Y[2], uY[1], Y[3]], [uY[1], rule.table[-1].sum(), uY[2]], [Y[3], uY[2], Y[4]]])
    length = math.sqrt(S[1] ** 2 + S[2] / alpha0)
    # d ln L in (S_0, S_1, S_2), and of the chi^2 beside them.
    longer, chi = np.array([0.0, S[1], 0.5 / alpha0]) / length**2, S[2] / alpha0 / length**2 / math.sqrt(2.0 * d)
    own = nu**2 / alpha0 + e**2 * slope_constants(model.activation).square / alpha0
    slopes = {
        "spike": (model.spike * longer, model.spike * chi),
        "alignment": (np.array([0.0, 1.0 / length, 0.0]) - model.alignment * longer, model.alignment * chi),
        "bulk": (np.array([2.0 * nu * (1.0 + nu * S[0]), 0.0, own]), 0.0),
        "step_bulk": (np.array([2.0 * nu**2 * S[0], 0.0, own]), 0.0),
    }
    covariance = (second - np.outer(S, S)) / (alpha0 * d)
    if not model.spike:  # which has no direction
        del found["alignment"]
    spread = {name: math.hypot(math.sqrt(by @ covariance @ by), x) for name, (by, x) in slopes.items()}
    # A batch moves the eigenvalues as it moves their mean (to a fifth, by simulation and by the law of the labels).
    spread |= {name: found[name] * spread["bulk"] / model.bulk for name in _SHARES}
    found |= {"step_bulk": model.bulk - 1.0 - 2.0 * nu * float(S[0]), "rank": float(model.spike != 0.0)}
    return {name: (limit, spread.get(name, 0.0)) for name, limit in found.items()}


@within_reach
def measure(W: object, W0: object = None, theta: object = None, model: Model | Network | None = None) -> Measured:
    """Spike, alignment, bulk, step and spectrum of given first-layer weights, with errors, beside the theory.

    The neurons have equal readout weights. spike, alignment, bulk: r, gamma and c of rows r v + b_i. step_bulk: the c
    of the rows of W - W0. rank: the number of singular values of W - W0 before the largest gap. eigenvalue_10, _50 and
    _90: percentiles of the positive eigenvalues of W W^T. An error is a standard deviation: s/sqrt(p) over neurons and,
    beside the theory, a constant times d^(-1/2) over batches and 2 (1 + |x|)/d (docs/howto/my_network.md).

    W: (p, d), a row a neuron: an array, or a tensor in memory without gradient.
    W0: (p, d), the weights before the step, for its rank and bulk.
    theta: (d,), the direction of the target, of any length. Without it the alignment is not measured.
    model: a Network, or a Model of one gradient step or of a given spike, whose theory is wanted; its beta is p/d.

    Raises ModelError for arrays of other shapes or with numbers that are not finite, and for a model with several
    steps or spike directions, with another readout than ones, or of another beta; SpectrumError as `spectrum`.

    >>> network = giantsteps.Network("tanh", "sin", alpha=1.5, beta=0.5, ridge=0.1, alpha0=2, eta=3)
    >>> rows = np.random.default_rng(1).standard_normal((50, 100)) / 10
    >>> giantsteps.measure(rows, model=network)["spike"].difference < -10
    True
    """
    after = _numbers("W", W)
    p, d = after.shape
    step = None if W0 is None else after - _numbers("W0", W0, after.shape)
    theory = {} if model is None else _theory(model_of(model), p, d)
    eigenvalues = np.asarray(np.linalg.svd(after, compute_uv=False) ** 2, dtype=float)
    values, direction, origin = np.zeros(0), after.mean(axis=0), "mean row"
    if step is not None:
        _, values, turned = np.linalg.svd(step, full_matrices=False)
        if step.any():
            direction, origin = turned[0] * math.copysign(1.0, float(turned[0] @ direction)), "step"
    if theta is not None:
        direction, origin = _numbers("theta", theta, (d,)), "theta"
    if not direction.any():
        raise ModelError(f"the {origin} is zero, and has no direction")
    direction = direction / np.linalg.norm(direction)
    found = _over_neurons(after, direction, eigenvalues)
    if theta is None:
        del found["alignment"]
    if step is not None:
        found["step_bulk"] = _over_neurons(step, direction, values**2)["bulk"] if step.any() else (0.0, 0.0)
        found["rank"] = float(_rank(values, max(p, d))), 0.0
    found |= {name: _quantile(eigenvalues, share, p) for name, share in _SHARES.items()}
    measures = []
    for name, (value, error) in found.items():
        limit, spread = theory.get(name, (None, 0.0))
        # An eigenvalue has its allowance, a place, in its error.
        spread = math.hypot(spread, 2.0 * (1.0 + abs(limit)) / d) if limit is not None and name in _EXPANDED else spread
        whole = math.hypot(error, spread)
        apart = None if limit is None or not whole else (value - limit) / whole
        measures.append(Measure(name, value, whole, limit, apart))
    return Measured(tuple(measures), eigenvalues, values, direction, origin)


def _quantile(eigenvalues: Array, share: float, p: int) -> tuple[float, float]:
    """The quantile of decreasing eigenvalues: they scatter by sqrt(2 (ln 2 pi p + 0.35))/pi places; one is allowed."""
    places, near = math.sqrt(2.0 * (math.log(2.0 * math.pi * p) + 0.35)) / math.pi, math.isqrt(len(eigenvalues)) // 2
    at = min(max(round((1.0 - share) * len(eigenvalues)), near), len(eigenvalues) - 1 - near)
    place = float(eigenvalues[at - near] - eigenvalues[at + near]) / (2 * near)
    return float(np.quantile(eigenvalues, share, method="hazen")), math.hypot(places, 1.0) * place
