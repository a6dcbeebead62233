"""Numbers of the solver for the claims on a network's own bulk, and readouts of real networks."""

from __future__ import annotations

import math
from collections.abc import Mapping
from functools import lru_cache

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bulk import symbols as s
from giantsteps.numerics.bulk.network import NetworkBulk
from giantsteps.numerics.bulk.network_law import BulkLaw, network_law
from giantsteps.numerics.gaussian.coefficients import conditional_moments_of
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.network import Network
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import ByTheorem, Point
from giantsteps.verify.compiled import network as compiled
from giantsteps.verify.second_route.gradient_step.real import BULK_COLUMNS
from giantsteps.verify.second_route.grids import LINE, WEIGHT, Array, hermite_numbers, interpretation
from giantsteps.verify.second_route.models import beside, functions_of, numbers, solved
from giantsteps.verify.second_route.networks.step import Step, equivalent, law
from giantsteps.verify.second_route.values import by_glyph


def step_at(point: Point) -> Step:
    """The step of a point of the domain."""
    numbers_ = (float(point.get(name, 0.0)) for name in (s.alpha0.name, "rate", s.beta.name, s.noise.name))
    return Step(str(point["activation"]), str(point["target"]), *numbers_)


def law_of(step: Step) -> BulkLaw:
    """The solver's law of the rows."""
    made = step.compiled
    return network_law(made.activation, made.target, made.alpha0, made.eta, made.beta, made.noise)


def law_at(point: Point) -> Mapping[str, float]:
    """The law of the rows by the theorems."""
    return law(step_at(point))


def hermite_law_at(point: Point) -> Mapping[str, float]:
    """The same for an odd activation, in Hermite numbers."""
    rows = law_at(point)
    named = {s.h1_star: s.label_slope[1], s.h2_star: s.label_moment[2]}
    return {**rows, **{x.name: rows[of.name] for x, of in named.items()}}


def solver_bulk(point: Point) -> dict[str, float]:
    """V2, V1 and K by the solver's equivalent."""
    step = step_at(point)
    return by_solver(law_of(step), step.beta, *conjugates_at(point))


def bulk_at(point: Point) -> Mapping[str, float]:
    """V2, V1 and K by the theorems, and what they are made of."""
    return equivalent(step_at(point), *conjugates_at(point))


def conjugates_at(point: Point) -> tuple[float, float]:
    """C, and the ridge and D together."""
    return float(point[s.V1_hat.name]), float(point["shift"])


def by_solver(law: BulkLaw, beta: float, conjugate: float, shift: float) -> dict[str, float]:
    """V2, V1 and K by the solver's equivalent of a law of rows; keys are glyphs."""
    at = NetworkBulk(shift, beta, law).at(np.array([conjugate, 0.0]))
    (V1, V2), K = at.values, at.overlap
    entries = (V2, V1, *(K[i, j] for i, j in ((0, 0), (0, 2), (2, 2), (0, 1), (1, 2), (1, 1))))
    return by_glyph(dict(zip(BULK_COLUMNS, entries, strict=True)))


def solver_law(point: Point) -> dict[str, float]:
    """The law of the rows by the solver's averages."""
    step = step_at(point)
    law, made = law_of(step), step.compiled
    gaussian = network_law(made.activation, made.target, made.alpha0, made.eta, made.beta, 0.0, gaussian_rows=True)
    along, norm = gaussian.independent[0], gaussian.independent[2]
    moments, first = law.labels.moments, np.asarray(law.labels.first)
    # On theta and on n_1, n_3, for an odd activation.
    h = np.array([law.pulled[0] * first[0] + law.added[2] * first[2], law.pulled[0], law.added[2]])
    v = np.array([first[0], 1.0, 0.0])
    metric = np.zeros((3, 3))
    metric[0, 0] = 1.0
    metric[1:, 1:] = moments[[[2, 4], [4, 6]]] / step.alpha0
    spike = float(v @ metric @ h)
    size = math.sqrt(float(v @ metric @ v))
    return {
        s.row_form.name: 1.0 + law.omega * float(law.labels.over(0.0, 0.0)[13, 0]),
        s.c.name: law.bulk,
        s.norm_overlap.name: float(h[0]),
        s.norm_spike_overlap.name: spike,
        s.norm_variance.name: law.norm_variance,
        s.norm_variance_gaussian.name: law.norm_variance + norm**2,
        s.spike_overlap_gaussian.name: spike + size * along * norm,
    }


def solver_functions(point: Point) -> Functions:
    """Implementations of sigma, g and their derivatives at a point."""
    step = step_at(point)
    return interpretation(step.student, step.target)


def own_model(network: Network, bulk_model: str = "network") -> Model:
    """The theory's model of a network."""
    return Model.from_gradient_step(
        network.activation, network.target, alpha=network.alpha, beta=network.beta, ridge=network.ridge,
        alpha0=network.alpha0, eta=network.eta, noise=network.noise, bulk_model=bulk_model,
    )  # fmt: skip


def network_values(solution: Solution) -> dict[str, float]:
    """A network's solution as values of the symbols of the theory, with the isotropic predictions beside it."""
    model = solution.model
    plain = solved(Model(model.activation, model.target, alpha=model.alpha, beta=model.beta, ridge=model.ridge,
                         noise=model.noise, spike=model.spike, bulk=model.bulk, alignment=model.alignment))  # fmt: skip
    return numbers(solution) | {
        s.chi.name: float(solution.order_parameters.chi[0]),
        s.error_isotropic.name: plain.test_error,
        s.training_isotropic.name: plain.training_error,
        s.m_isotropic.name: float(plain.order_parameters.m[0]),
    }


def functions_with_third(model: Model) -> Functions:
    """The functions along the spike, k2 = d mu0/dc among them."""

    def third(kappa: Array) -> Array:
        flat = np.asarray(kappa, dtype=float).ravel()
        moments = conditional_moments_of(model.activation, model.spike, model.bulk, 0.0, flat)
        return np.asarray((moments.curvature / (2.0 * model.bulk)).reshape(np.shape(kappa)))

    return {**functions_of(model), "k2": third}


def model_at(point: Point) -> Model:
    """The network of a point, as a model."""
    made = step_at(point).compiled
    return Model.from_gradient_step(
        made.activation, made.target, alpha=float(point[s.alpha.name]), beta=made.beta,
        ridge=float(point[s.ridge.name]), alpha0=made.alpha0, eta=made.eta, noise=made.noise, bulk_model="network",
    )  # fmt: skip


def solved_network(point: Point) -> dict[str, float] | None:
    """Order parameters and errors of the network of a point; None where the solver did not converge."""
    solution = solved(model_at(point))
    return network_values(solution) if solution.converged else None


@lru_cache(maxsize=64)
def _by_theorems(model: Model) -> Mapping[str, float]:
    return compiled.solved(model)[0].values


def computed_network(point: Point) -> Mapping[str, float]:
    """Order parameters and errors of the network of a point by the theorems."""
    return _by_theorems(model_at(point))


def computed_functions(point: Point) -> Functions:
    """The functions along the spike of a point's network, by the law of its rows, and its target."""
    return functions_of(model_at(point), compiled.functions_of)




def of_networks(what: str) -> ByTheorem:
    """The theorems on a network's readout, computed, beside the solver."""
    title = f"{what}, compiled, against the solver"
    return beside(title, solved_network, computed_network, computed_functions)


def floor_numbers(point: Point) -> dict[str, float] | None:
    """The test error of a network with many samples and neurons, and the distance of y0 from the three functions."""
    solution = solve(model_at(point))
    if not solution.converged:
        return None
    model = solution.model
    functions = functions_with_third(model)
    root = np.sqrt(WEIGHT)
    span = np.stack([functions["mu0"](LINE), LINE * functions["mu1"](LINE), functions["k2"](LINE)], axis=1)
    y0 = functions["y0"](LINE)
    span, right = span * root[:, None], y0 * root
    basis = np.linalg.qr(span)[0]
    left = right - basis @ (basis.T @ right)
    return {s.test_error.name: solution.test_error, s.distance_third.name: float(left @ left)}


def third_at(point: Point) -> dict[str, float]:
    """d mu0/dc at a point, by central differences of the solver's mu0."""
    student, kappa = activation(str(point["activation"])), np.array([float(point[s.kappa.name])])
    r, c, h = float(point[s.r.name]), float(point[s.c.name]), 1e-5
    up, down = (conditional_moments_of(student, r, c + sign * h, 0.0, kappa).mean[0] for sign in (1.0, -1.0))
    return {s.third.name: float(up - down) / (2 * h)}


def third_functions(point: Point) -> Functions:
    """Implementations of sigma at a point."""
    return interpretation(str(point["activation"]), str(point["target"]))


def solved_large_batch(point: Point) -> dict[str, float] | None:
    """Order parameters of the network of a point, with the Hermite numbers beside them."""
    found = solved_network(point)
    if found is None:
        return None
    eta = float(point["rate"]) * float(point[s.beta.name])
    return found | hermite_numbers(str(point["activation"]), str(point["target"])) | {s.eta.name: eta}


def solved_activation(point: Point) -> Functions:
    """Implementations of sigma, g and their derivatives for the network of a point."""
    return interpretation(str(point["activation"]), str(point["target"]))
