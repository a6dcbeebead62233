"""Numbers for spikes of several directions: models solved, the same simulated, and one given bulk.

The solver comes from leave-one-out equations with one row per direction and knows nothing of the free energy.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.saddle_point import directions
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.numerics.models.solution import Solution
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.simulation import Measured, column
from giantsteps.verify.compiled import directions as compiled
from giantsteps.verify.compiled.directions import functions_of
from giantsteps.verify.protocol.claim import Domain, Profile, Range
from giantsteps.verify.protocol.tolerances import SOLVER
from giantsteps.verify.second_route.models import GENERIC, Point, beside, common_numbers, density_integrals, solved
from giantsteps.verify.second_route.saddle_point.simulations import simulated_at
from giantsteps.verify.second_route.values import by_glyph


def _model(student: str, target: str, spike: tuple[float, float], gamma: tuple[float, float], **values: float) -> Model:
    return Model(
        activation(student),
        activation(target),
        alignment=gamma[0],
        further_alignments=(gamma[1],),
        readout=(ReadoutGroup(spike[0], further_weights=(spike[1],)),),
        spike=1.0,
        **values,  # type: ignore[arg-type]
    )


MODELS: Mapping[str, Model] = {
    "tanh learns sin": _model(
        "tanh(z)", "sin(z)", (0.9, 0.6), (0.3, 0.8), alpha=1.5, beta=0.7, ridge=0.3, noise=0.05, bulk=1.1
    ),
    "sin learns tanh": _model(
        "sin(z)", "tanh(z)", (0.8, -0.5), (0.7, 0.4), alpha=1.2, beta=1.3, ridge=0.4, noise=0.1, bulk=0.8
    ),
    "erf learns a bump": _model(
        "erf(z)", "exp(-z**2/2) + z", (-0.4, 1.1), (0.5, -0.6), alpha=2.0, beta=0.9, ridge=0.2, bulk=1.3
    ),
}
# The functions of two variables for witnesses against false statements.
GENERIC_PLANE: Mapping[str, Callable[..., Any]] = {
    name: lambda x, y, f=f: f(0.8 * x - 0.5 * y) + 0.1 * x
    for name, f in GENERIC.items()
    if name in ("mu0", "mu1", "mu2", "y0", "y1", "y2")
}
DOMAIN = Domain(
    (Range("model", choices=tuple(MODELS)),), hypotheses=(directions.ORTHOGONAL,), interpretations=(GENERIC_PLANE,)
)
SEED = 34


def measured(point: Point) -> Mapping[str, float] | None:
    """Numbers for every order parameter and conjugate at a point; None where the solver did not converge."""
    solution = solved(MODELS[str(point["model"])])
    return numbers(solution) if solution.converged else None


def numbers(solution: Solution) -> dict[str, float]:
    """A solution for one group and two directions as values of the symbols of the theory, by name."""
    model, order = solution.model, solution.order_parameters
    values = common_numbers(solution)
    for j in directions.DIRECTIONS:
        values |= {
            directions.zeta[j]: order.zeta[0, j],
            directions.zeta_hat[j]: model.alpha / model.beta * order.conjugates.zeta_force[0, j],
        }
    named = by_glyph(values)
    # The second moments of the resolvent, from the density of the bulk's eigenvalues.
    shift = named[s.ridge.name] + named[s.V2_hat.name]
    return {**density_integrals(model.beta, model.bulk, shift, named[s.V1_hat.name]), **named}


def experiment(quantity: sp.Basic, profile: Profile) -> Mapping[str, tuple[Measured, ...]]:
    """One observable of two of the models at half the profile's dimensions, with three times its seeds."""
    name = ("test_error",)[column(quantity, s.test_error)]
    return {
        model: tuple(_measure(MODELS[model], name, d // 2, profile.draws(3)) for d in profile.dimensions)
        for model in tuple(MODELS)[:2]
    }


def _measure(model: Model, observable: str, dimension: int, draws: range) -> Measured:
    simulation, at_sizes = simulated_at(model, dimension, draws, SEED)
    return Measured(dimension, simulation.values(observable), numbers(solved(at_sizes)), functions_of(at_sizes))


GIVEN_BULK = Domain((Range("seed", 0.0, 1e6), Range(s.V1_hat, 0.2, 0.9), Range(s.ridge, 0.5, 2.0)))


def given_bulk(point: Point) -> Mapping[str, float]:
    """s_j.G0 s_l and s_j.G s_l for one random bulk and two orthonormal directions, by inverting both matrices."""
    generator = np.random.default_rng(int(float(point["seed"])))
    t, ridge = float(point[s.V1_hat.name]), float(point[s.ridge.name])
    W = generator.normal(size=(9, 7)) / np.sqrt(7.0)
    v = np.linalg.qr(generator.normal(size=(7, 2)))[0]
    S = W @ v
    whole = ridge * np.eye(9) + t * W @ W.T
    X = S.T @ np.linalg.solve(whole, S)
    K = S.T @ np.linalg.solve(whole - t * S @ S.T, S)
    pairs = ((0, 0), (0, 1), (1, 1))
    return {directions.whole_gram[a, b].name: float(X[a, b]) for a, b in pairs} | {
        directions.spike_gram[a, b].name: float(K[a, b]) for a, b in pairs
    }


@lru_cache(maxsize=8)
def _compiled(name: str) -> Mapping[str, float]:
    return compiled.solved(MODELS[name])


def _functions_at(point: Point) -> Mapping[str, Callable[..., Any]]:
    return functions_of(MODELS[str(point["model"])])


solver = ByNumbers("the leave-one-out solver on three models", measured, SOLVER, _functions_at, points=3)
by_theorems = beside(
    "the equations of two directions, compiled, against the solver",
    measured, lambda point: _compiled(str(point["model"])), _functions_at,
)  # fmt: skip
