"""The saddle point for a convex loss: argmin_a sum_mu l(y_mu, a.phi_mu/sqrt p) + (ridge/2) |a|^2.

Equations (19)-(24) of arXiv 2402.04980 in their general form (Appendix C): with the averages E[. | kappa] of the force
f of `numerics.sample_averages` and (T, tau) = Gamma(C, D),

    C_ab = (alpha/beta) E[mu1_a mu1_b (-df/domega)],  D_a = (alpha/beta) E[mu2_a^2 (-df/domega)]
    0 = E[mu0_a f],  zeta force = E[kappa mu1_a f],  psi force = E[mu1_a (z f + P (-df/domega))]
    C_hat_ab = (alpha/beta) E[mu1_a mu1_b f^2],  D_hat_a = (alpha/beta) E[mu2_a^2 f^2]

and overlaps and (Q, q2) follow from Gamma as for the ridge readout, for any number of groups. The square loss means
(y - h)^2/2 here, so that its ridge is that of the ridge readout.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from numerics.bulk_model import equivalent_of
from numerics.deterministic_equivalent import DeterministicEquivalent, EquivalentPoint, pack, unpack
from numerics.documents import solution_document
from numerics.finite_width import checked_width, means
from numerics.losses import Loss, ProximalLoss
from numerics.model import Model, ModelError
from numerics.profile import Profile, profile
from numerics.ridge import solve as solve_ridge
from numerics.saddle_point import fit, multiplicity
from numerics.sample_averages import Averages, Sampler, has_signs, labels, normal_cdf, sampler, sign_model
from numerics.solution import WIDTH, Conjugates, OrderParameters, by_direction

Array = NDArray[np.float64]

RESIDUAL_GOAL = 1e-9
_GOAL = 1e-12
_MOST_ITERATIONS = 400
_MEMORY = 8
# Weights of the fit of (m, zeta) are kept above this share of the largest: a Newton step where -df/domega vanishes.
_FLOOR = 1e-3


@dataclass(frozen=True, repr=False)
class ConvexSolution:
    """The readout of least sum of losses plus (ridge/2) |a|^2.

    test_loss, training_loss: E l(y, omega) on new labels and E l(y, prox), per sample. mean_squared_error:
    E(g - omega)^2, noiseless target; classification_error: P(sign omega != g) for targets in {-1, 1}, else None.
    energy: (alpha/beta) E l(y, prox) + (ridge/2) sum_a q2_a, the minimum over p. residual: max over all unknowns of
    |x - F(x)|/(1 + |x|). error_estimate: how far the test loss moved when the rules were doubled.
    """

    model: Model
    loss: Loss
    test_loss: float
    training_loss: float
    mean_squared_error: float
    classification_error: float | None
    energy: float
    order_parameters: OrderParameters
    residual: float
    error_estimate: float
    converged: bool
    status: str
    iterations: int

    @property
    def warnings(self) -> tuple[str, ...]:
        """What has to be known before these numbers are used: the model's warnings."""
        return self.model.warnings

    def at_width(self, width: int = WIDTH) -> ConvexSolution:
        """The same at a finite width of p neurons, with what the limit drops at order 1/p (`numerics.finite_width`).

        Computed when asked for. Raises ModelError for a width below one.
        """
        return solve(self.model, self.loss, width=int(checked_width(width)))

    @property
    def test_error(self) -> float:
        """The loss on new samples; for the square loss the mean squared error."""
        return self.mean_squared_error if self.loss.name == "square" else self.test_loss

    @property
    def training_error(self) -> float:
        """The loss on the training samples; for the square loss the mean squared residual."""
        return 2.0 * self.training_loss if self.loss.name == "square" else self.training_loss

    def to_dict(self) -> dict[str, Any]:
        """As plain data for JSON, in the words of the command line."""
        return solution_document(self)

    def __repr__(self) -> str:
        return f"ConvexSolution({self.loss.name}, test_error={self.test_error:.10g}, {self.status})"


@dataclass(frozen=True)
class _System:
    """The equations on one rule. Unknowns: (T, tau), m, overlaps (zeta, chi, psi), (Q, q2)."""

    table: Profile
    model: Model
    equivalent: DeterministicEquivalent
    sample: Sampler
    width: int | None = None

    @property
    def cuts(self) -> list[int]:
        """Where the four kinds of unknowns end."""
        pair = len(self.table.features)
        k = self.table.groups
        return [pair, pair + k, pair + 2 * k + len(self.table.along)]

    def split(self, x: Array) -> list[Array]:
        return [np.asarray(part) for part in np.split(x, self.cuts)]

    def averages(self, x: Array) -> tuple[Averages, Array, Array, Array]:
        """The averages with V, yhat and P at x."""
        table = self.table
        values, m, overlaps, q = self.split(x)
        count = len(table.along)
        yhat = m @ table.mu0 + overlaps[:count] @ table.along
        across = overlaps[count:] @ table.mu1
        V = values @ table.multiplied_features
        # A Schwarz inequality that an iterate may violate by rounding.
        variance = np.maximum(q @ table.multiplied_features, across**2 * (1.0 + 1e-14) + 1e-300)
        return self.sample(yhat, across, variance, V), V, yhat, across

    def forces(self, averages: Averages, across: Array) -> Array:
        table = self.table
        along = table.along @ (table.weights * averages.force)
        return np.concatenate([along, table.mu1 @ (table.weights * (averages.label + across * averages.slope))])

    def conjugates(self, averages: Averages) -> tuple[Array, Array]:
        """(C, D) and their hats, packed."""
        ratio = self.model.alpha / self.model.beta
        weighted = self.table.weighted_features
        return ratio * (weighted @ averages.slope), ratio * (weighted @ averages.square)

    def map(self, x: Array) -> Array:
        """F(x), whose fixed point is the saddle point; (m, zeta) by a step of Newton's method."""
        table, ratio = self.table, self.model.alpha / self.model.beta
        averages, _, yhat, across = self.averages(x)
        conjugates, hats = self.conjugates(averages)
        if not np.all(np.isfinite([*conjugates, *hats])):
            return np.full_like(x, np.nan)
        point = self.equivalent.at(conjugates)
        forces = self.forces(averages, across)
        overlap = ratio * point.overlap
        slope = np.maximum(averages.slope, _FLOOR * float(np.max(averages.slope)))
        count = len(table.along)
        y0, weights, tau = yhat + averages.force / slope, table.weights * slope, point.values[-table.groups :]
        psi = (overlap @ forces)[count:]
        q = -point.jacobian @ hats - signal_part(table.groups, ratio, forces, point)
        if self.width is None:
            m, along = fit(replace(table, y0=y0), weights, overlap, forces[count:], tau)
        else:
            # What a uniform readout costs at finite width, as in `numerics.finite_width`.
            given = overlap[:count, count:] @ forces[count:]
            m, along = means(table.mu0, table.along, weights, y0, ratio * self.width * tau, overlap, given)
            cost = (m**2 / (self.width * tau**2)) @ point.jacobian[-table.groups :]
            q = q - cost / multiplicity(table.groups)
        return np.concatenate([point.values, m, along, psi, q])


def signal_part(groups: int, ratio: float, forces: Array, point: EquivalentPoint) -> Array:
    """Derivatives of (alpha/beta)^2 f.K f at fixed forces f, in the directions (E_ab + E_ba)/2 of C and D_a."""
    signal = ratio**2 * np.einsum("i,dij,j->d", forces, point.overlap_jacobian(), forces)
    return np.asarray(signal / multiplicity(groups))


def _iterated(system: _System, start: Array, goal: float) -> tuple[Array, float, int]:
    """A fixed point of the map by Anderson's acceleration, and its residual |x - F(x)|/(1 + |x|)."""
    x = start
    history: list[tuple[Array, Array]] = []
    best, best_size = x, math.inf
    scale = 1.0 + np.abs(x)
    for iteration in range(1, _MOST_ITERATIONS + 1):
        image = system.map(x)
        if not np.all(np.isfinite(image)):
            return best, best_size, iteration
        size = float(np.max(np.abs(image - x) / (1.0 + np.abs(x))))
        if size < best_size:
            best, best_size = x, size
        if size <= goal:
            return x, size, iteration
        scale = 1.0 + np.abs(x)
        history = [*history, (x, image)][-_MEMORY:]
        x = _mixed(history, scale)
        if not _admissible(system, x) or size > 1e3 * best_size:
            # Forget the past: a plain step, half way.
            x, history = 0.5 * (history[-1][0] + history[-1][1]), []
    return best, best_size, iteration


def _mixed(history: list[tuple[Array, Array]], scale: Array) -> Array:
    """The combination of images whose combined gap is least."""
    gaps = np.array([(image - x) / scale for x, image in history])
    if len(history) < 3:
        x, image = history[-1]
        return np.asarray(0.5 * (x + image))
    differences = (gaps[1:] - gaps[:-1]).T
    weights = np.linalg.lstsq(differences, gaps[-1], rcond=1e-12)[0]
    images = np.array([image for _, image in history])
    return np.asarray(images[-1] - (images[1:] - images[:-1]).T @ weights)


def _admissible(system: _System, x: Array) -> bool:
    values, _, overlaps, q = system.split(x)
    table = system.table
    V = values @ table.multiplied_features
    variance = q @ table.multiplied_features
    across = overlaps[len(table.along) :] @ table.mu1
    positive = bool(np.all(values[-table.groups :] > 0.0) and np.all(V > 0.0))
    return positive and bool(np.all(variance > 0.0) and np.all(variance >= across**2 * (1.0 - 1e-9)))


def solve(model: Model, loss: Loss, *, refine: int = 0, width: int | None = None) -> ConvexSolution:
    """The saddle point for a convex loss; the rules are doubled once to estimate the error of the quadrature.

    Margin losses take the sign of the target as label. With a `width` p the one known term of order 1/p is kept
    (`numerics.finite_width`), and q1, q2 are without the uniform readout's own c_a m_a^2/(pi_a p) and m_a^2/(pi_a p),
    as a simulation reports them; residual and status are those of the equations with that term.

    Raises ModelError at ridge = 0, and for what is not built: label noise beside margin losses and targets that are
    not +-1, a network's own bulk beside a margin loss and a target that is not +-1.
    """
    if model.ridge == 0.0:
        raise ModelError("ridge = 0 is built for the square loss only: give a small ridge, for example ridge = 1e-3")
    if model.rank > 2:
        raise ModelError(
            f"convex losses are built for spikes of at most two directions, and here there are {model.rank}: take the "
            "square loss, or for example --alignment 0.6/0.5"
        )
    margin = isinstance(loss, ProximalLoss) and loss.margin
    labelled = sign_model(model) if margin else model
    ridge = solve_ridge(labelled).order_parameters
    overlaps = [ridge.m, ridge.zeta.ravel(), ridge.chi, ridge.psi]
    start = np.concatenate([pack(ridge.V1, ridge.V2), *overlaps, pack(ridge.q1, ridge.q2)])
    rough = _System(*_parts(labelled, loss, refine), width)
    coarse, *_ = _iterated(rough, start, _GOAL)
    system = _System(*_parts(labelled, loss, refine + 1), width)
    x, size, iterations = _iterated(system, coarse, _GOAL)
    averages, _, _, across = system.averages(x)
    weights = system.table.weights
    test, training = float(weights @ averages.test), float(weights @ averages.training)
    rough_test = float(rough.table.weights @ rough.averages(coarse)[0].test)
    _, _, _, q = system.split(x)
    _, q2 = unpack(q)
    moved = abs(test - rough_test)
    converged = size <= RESIDUAL_GOAL and moved <= 1e-6 * (1.0 + abs(test))
    return ConvexSolution(
        model=model,
        loss=loss,
        test_loss=test,
        training_loss=training,
        mean_squared_error=_mean_squared_error(model, system, x, refine + 1),
        classification_error=_classification_error(system, x) if has_signs(model.target) else None,
        energy=model.alpha / model.beta * training + 0.5 * model.ridge * float(np.sum(q2)),
        order_parameters=_order_parameters(system, x, averages, across, width),
        residual=size,
        error_estimate=moved,
        converged=converged,
        status="converged" if converged else (
            f"not converged: the residual is {size:.1e} and has to be under {RESIDUAL_GOAL:.0e}, and doubling the "
            f"rules moves the loss by {moved:.1e}; a larger ridge makes the problem better conditioned"
        ),
        iterations=iterations,
    )  # fmt: skip


def _parts(model: Model, loss: Loss, refine: int) -> tuple[Profile, Model, DeterministicEquivalent, Sampler]:
    table = profile(model, refine, 0, whole=True)
    return table, model, equivalent_of(model, model.ridge), sampler(loss, model, _place(table, model), refine)


def _place(table: Profile, model: Model) -> Array:
    """gamma.kappa at the nodes, (n,)."""
    return np.asarray(model.alignments) @ table.nodes


def _mean_squared_error(model: Model, system: _System, x: Array, refine: int) -> float:
    """E(g - omega)^2 for the target itself, whose rule may differ from that of its sign."""
    table = system.table if model is system.model else profile(model, refine, 0, whole=True)
    _, m, overlaps, q = system.split(x)
    count = len(table.along)
    deviation = table.y0 - m @ table.mu0 - overlaps[:count] @ table.along
    across = overlaps[count:] @ table.mu1
    error = deviation**2 + table.spread + table.y1 * (table.y1 - 2.0 * across) + q @ table.multiplied_features
    return float(table.weights @ error)


def _classification_error(system: _System, x: Array) -> float:
    """P(sign omega != g), by a rule in z: omega is Gaussian given z."""
    table, model = system.table, system.model
    _, m, overlaps, q = system.split(x)
    count = len(table.along)
    yhat = m @ table.mu0 + overlaps[:count] @ table.along
    across = overlaps[count:] @ table.mu1
    z, weights, g = labels(model, _place(table, model), 1)
    variance = q @ table.multiplied_features - (0.0 if z.shape == (1, 1) else across**2)
    right = normal_cdf(g * (yhat[:, None] + across[:, None] * z) / np.sqrt(np.maximum(variance, 1e-300))[:, None])
    return float(table.weights @ np.sum(weights * (1.0 - right), axis=1))


def _order_parameters(
    system: _System, x: Array, averages: Averages, across: Array, width: int | None
) -> OrderParameters:
    values, m, overlaps, q = system.split(x)
    model, groups = system.model, system.table.groups
    conjugates, hats = system.conjugates(averages)
    forces = system.forces(averages, across)
    count, spiked = len(system.table.along), groups * model.rank
    overlap, tau = unpack(values)
    q1, q2 = unpack(q)
    uniform = np.zeros(groups) if width is None else m**2 / (width * np.array(model.fractions))
    return OrderParameters(
        m=m,
        zeta=by_direction(overlaps[:spiked], model.rank),
        psi=overlaps[count:],
        q1=q1 - np.diag(np.array(model.bulks) * uniform),
        q2=q2 - uniform,
        V1=overlap,
        V2=tau,
        conjugates=Conjugates(
            *unpack(conjugates), *unpack(hats), by_direction(forces[:spiked], model.rank), forces[count:],
            forces[spiked:count],
        ),
        chi=overlaps[spiked:count],
    )  # fmt: skip
