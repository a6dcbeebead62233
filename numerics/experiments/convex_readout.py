"""The readout for another loss at finite size: argmin_a sum_mu l(y_mu, a.phi_mu/sqrt p) + (ridge/2) |a|^2.

Solved by SciPy's L-BFGS-B: the logistic loss over a (p unknowns), the others through the dual, a quadratic problem in
a box over the forces f (n unknowns), A = Phi/sqrt(p),

    min over f of |A^T f|^2/(2 ridge) + sum_mu l*_mu(f_mu),    a = A^T f/ridge,

    absolute: l* = -y f on |f| <= 1;  Huber: f^2/2 - y f on |f| <= delta;  hinge: -y f on 0 <= y f <= 1.

Every f bounds the least energy from below, so each readout comes with a certificate, the duality gap: the energy of a
exceeds the least one by at most `gap`, hence |a - argmin|^2 <= 2 gap/ridge. Where forces end on the box (absolute,
hinge) L-BFGS-B leaves a gap of 1e-5 to 1e-7 of the energy, and a few Newton steps on the free forces close it. A gap
above GAP_GOAL of the energy is an error, not a result.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from giantsteps.numerics.experiments.ensembles import Array
from giantsteps.numerics.models.losses import ClippedLoss, Loss, ProximalLoss
from giantsteps.numerics.models.network import SimulationError

# Relative to the energy. |a - argmin|^2/|a|^2 is then 1e-7 at most in units of E/(ridge |a|^2), far below what seeds
# scatter at any size that is simulated.
GAP_GOAL = 1e-7
_MOST_POLISHING = 30
_MOST_STARTS = 6
# Added to the free block of the dual's Gram matrix, relative to its mean diagonal: as many free forces as neurons, or
# more on the way, make it singular.
_LIFT = 1e-12
_OPTIONS = {"maxiter": 20_000, "maxfun": 40_000, "maxcor": 20, "ftol": 1e-15, "gtol": 1e-7}


@dataclass(frozen=True, eq=False)
class ConvexReadout:
    """The readout a (p,), its outputs on the training set (n,), its energy (all samples) and the duality gap."""

    a: Array
    outputs: Array
    energy: float
    gap: float


def fit(phi: Array, y: Array, loss: Loss, ridge: float) -> ConvexReadout:
    """The readout for features phi (n, p) and labels y (n,); labels are +-1 for margin losses.

    Raises SimulationError at ridge = 0, for a loss without a finite-size solver, and where the gap stays too large.
    """
    if ridge <= 0.0:
        raise SimulationError("a readout with another loss needs a positive ridge, for example ridge = 1e-3")
    matrix = phi / math.sqrt(phi.shape[1])
    if isinstance(loss, ClippedLoss):
        found = _in_a_box(matrix, y, loss, ridge)
    elif loss.name == "logistic":
        found = _logistic(matrix, y, loss, ridge)
    elif loss.name == "hinge":
        found = _in_a_box(matrix, y, loss, ridge)
    else:
        raise SimulationError(f"the loss {loss.name} has no solver at finite size: use logistic, hinge, huber:1 ...")
    if not found.gap <= GAP_GOAL * found.energy:
        raise SimulationError(
            f"the readout with the {loss.name} loss was not found: the duality gap is {found.gap / found.energy:.0e} "
            f"of the energy and has to be under {GAP_GOAL:.0e}; a larger ridge makes the problem better conditioned"
        )
    return found


def _logistic(matrix: Array, y: Array, loss: ProximalLoss, ridge: float) -> ConvexReadout:
    from scipy.optimize import minimize
    from scipy.special import entr, expit

    def objective(a: Array) -> tuple[float, Array]:
        h = matrix @ a
        value = float(np.sum(loss.value(y, h)) + 0.5 * ridge * a @ a)
        return value, ridge * a - matrix.T @ (y * expit(-y * h))

    a = np.asarray(minimize(objective, np.zeros(matrix.shape[1]), jac=True, method="L-BFGS-B", options=_OPTIONS).x)
    h = matrix @ a
    share = expit(-y * h)  # y times the force, in (0, 1): the dual loss is minus its entropy
    back = matrix.T @ (y * share)
    lower = float(np.sum(entr(share) + entr(1.0 - share)) - back @ back / (2.0 * ridge))
    energy = float(np.sum(loss.value(y, h)) + 0.5 * ridge * a @ a)
    return ConvexReadout(a, h, energy, energy - lower)


def _in_a_box(matrix: Array, y: Array, loss: Loss, ridge: float) -> ConvexReadout:
    from scipy.optimize import minimize

    n, p = matrix.shape
    if isinstance(loss, ClippedLoss):
        low, high = np.full(n, -loss.delta), np.full(n, loss.delta)
        curvature = 0.0 if loss.absolute else 1.0
    else:
        low, high, curvature = np.minimum(y, 0.0), np.maximum(y, 0.0), 0.0
    gram = matrix @ matrix.T / ridge if n <= p else None

    def outputs(f: Array) -> Array:
        return np.asarray(gram @ f if gram is not None else matrix @ (matrix.T @ f) / ridge)

    def objective(f: Array) -> tuple[float, Array]:
        h = outputs(f)
        return float(0.5 * f @ h + 0.5 * curvature * f @ f - y @ f), h + curvature * f - y

    f, found = 0.5 * (low + high), None
    for _ in range(_MOST_STARTS):
        # A line search that gives up at rounding is begun again where it stopped, with no memory of the past.
        f = np.asarray(
            minimize(
                objective, f, jac=True, bounds=list(zip(low, high, strict=True)), method="L-BFGS-B", options=_OPTIONS
            ).x
        )
        tried = _of_forces(matrix, y, loss, ridge, f, objective(f)[0])
        if tried.gap > 1e-2 * GAP_GOAL * tried.energy:
            tried = _polished(matrix, y, loss, ridge, (low, high), curvature, tried, f)
        found = tried if found is None or tried.gap < found.gap else found
        if found.gap <= GAP_GOAL * found.energy:
            break
    assert found is not None
    return found


def _of_forces(matrix: Array, y: Array, loss: Loss, ridge: float, f: Array, dual: float) -> ConvexReadout:
    a = matrix.T @ f / ridge
    h = matrix @ a
    energy = float(np.sum(loss.value(y, h)) + 0.5 * ridge * a @ a)
    return ConvexReadout(a, h, energy, energy + dual)


def _polished(
    matrix: Array,
    y: Array,
    loss: Loss,
    ridge: float,
    box: tuple[Array, Array],
    curvature: float,
    found: ConvexReadout,
    forces: Array,
) -> ConvexReadout:
    """Newton steps on the forces that are inside the box, by the primal-dual active set; the best certificate wins."""
    low, high = box
    f = np.array(forces)
    scale = ridge / float(np.mean(np.einsum("ij,ij->i", matrix, matrix)))
    slack = y - found.outputs - curvature * f  # minus the gradient: pushes f up where positive
    for _ in range(_MOST_POLISHING):
        wanted = f + scale * slack
        fixed = (wanted <= low) | (wanted >= high)
        f = np.where(wanted <= low, low, np.where(wanted >= high, high, f))
        free = ~fixed
        if free.any():
            rows = matrix[free]
            right = y[free] - rows @ (matrix[fixed].T @ f[fixed]) / ridge
            f[free] = _free_forces(rows, right, ridge, curvature)
        clipped = np.clip(f, low, high)
        h = matrix @ (matrix.T @ clipped) / ridge
        dual = float(0.5 * clipped @ h + 0.5 * curvature * clipped @ clipped - y @ clipped)
        tried = _of_forces(matrix, y, loss, ridge, clipped, dual)
        found = tried if tried.gap < found.gap else found
        if found.gap <= 1e-3 * GAP_GOAL * found.energy:
            break
        slack = y - matrix @ (matrix.T @ f) / ridge - curvature * f
    return found


def _free_forces(rows: Array, right: Array, ridge: float, curvature: float) -> Array:
    """Solve (A_F A_F^T/ridge + curvature) f = right."""
    from scipy.linalg import cho_factor, cho_solve

    gram = rows @ rows.T / ridge
    gram[np.diag_indices_from(gram)] += curvature + _LIFT * float(np.mean(np.diag(gram)))
    return np.asarray(cho_solve(cho_factor(gram, lower=True), right))
