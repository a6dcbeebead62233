"""The solver's saddle points of models with isotropic rows at the points of claims, and beside them the theorems'.

The solver comes from leave-one-out equations and knows nothing of the free energy; its numbers enter statements whose
expectations are then summed by the verifier's own evaluator.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.saddle_point import directions
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.bulk.given_bulk import SpectralMeasure
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.any_loss.convex import solve as solve_convex
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import ByNumbers, ByTheorem, FunctionsAt, Measure, Point
from giantsteps.verify.compiled import directions as compiled_directions
from giantsteps.verify.compiled import losses, saddle_points, theorems
from giantsteps.verify.protocol.tolerances import CONVEX_SOLVER, MINIMUM, SOLVER, Tolerance
from giantsteps.verify.second_route import given_bulk
from giantsteps.verify.second_route import losses as convex
from giantsteps.verify.second_route.models import density_integrals, functions_at, functions_of, model_at
from giantsteps.verify.second_route.saddle_point import convex_losses, letters
from giantsteps.verify.second_route.saddle_point.directions import MODELS as OF_DIRECTIONS
from giantsteps.verify.second_route.values import LETTERS, by_glyph, by_letter, by_pair, value

ModelAt = Callable[[Point], Model]


@lru_cache(maxsize=4096)
def solved(model: Model) -> Solution:
    """The saddle point of a model, remembered."""
    return solve(model)


def numbers(solution: Solution) -> dict[str, float]:
    """A solution for one letter or two, one direction or two, as values of the symbols of the theory, by name."""
    model, order = solution.model, solution.order_parameters
    hats, ratio, rho = order.conjugates, model.alpha / model.beta, (1.0 - model.alignment) * (1.0 + model.alignment)
    values: dict[sp.Symbol, Any] = {
        s.alpha: model.alpha, s.beta: model.beta, s.ridge: model.ridge, s.noise: model.noise,
        s.test_error: solution.test_error, s.training_error: solution.training_error,
    }  # fmt: skip
    vectors: dict[Any, Any] = {
        (s.m, s.m_of): order.m, (s.psi, s.psi_of): order.psi, (s.psi_hat, s.psi_hat_of): ratio * hats.psi_force,
        (s.q2, s.q2_of): order.q2, (s.V2, s.V2_of): order.V2, (s.q2_hat, s.q2_hat_of): hats.D_hat,
        (s.V2_hat, s.V2_hat_of): hats.D, (s.c, s.c_of): model.bulks,
    }  # fmt: skip
    matrices: dict[Any, Any] = {
        (s.q1, s.q1_of): order.q1, (s.V1, s.V1_of): order.V1, (s.q1_hat, s.q1_hat_of): hats.C_hat,
        (s.V1_hat, s.V1_hat_of): hats.C,
    }  # fmt: skip
    if model.rank > 1:
        for j in directions.DIRECTIONS:
            values[directions.zeta[j]] = order.zeta[0, j]
            values[directions.zeta_hat[j]] = ratio * hats.zeta_force[0, j]
    else:
        values |= {s.r: model.spike, s.gamma: model.alignment, s.rho: rho}
        vectors |= {(s.zeta, s.zeta_of): order.zeta, (s.zeta_hat, s.zeta_hat_of): ratio * hats.zeta_force}
    if len(model.groups) > 1:
        vectors[None, s.fraction] = model.fractions
        theta_C = model.beta * np.array(model.bulks)[:, None] * order.V2[:, None] * hats.C
        matrices[None, s.mixed] = hats.C @ np.linalg.inv(np.eye(len(hats.C)) + theta_C)
        values |= by_letter({of: found for (_, of), found in vectors.items()})
        values |= by_pair({of: found for (_, of), found in matrices.items()})
        return by_glyph(values)
    values |= {one: found[0] for (one, _), found in vectors.items()}
    values |= {one: found[0, 0] for (one, _), found in matrices.items()}
    if model.rank == 1:
        root = np.sqrt(rho)
        values[s.psi_paper] = root * values[s.psi]
        values[s.zeta_hat_slides] = np.sqrt(model.beta) * values[s.zeta_hat]
        values[s.psi_hat_slides] = np.sqrt(model.beta) * values[s.psi_hat] / root if root else np.nan
    return by_glyph(values)


def with_moments(solution: Solution) -> dict[str, float]:
    """A solution's numbers for one letter, with the second moments of the resolvent at its conjugates."""
    values = numbers(solution)
    shift = values[s.ridge.name] + values[s.V2_hat.name]
    return {**density_integrals(values[s.beta.name], values[s.c.name], shift, values[s.V1_hat.name]), **values}


def _at(
    model_of: ModelAt, point: Point, found: Callable[[Solution], Mapping[str, float]] = numbers
) -> Mapping[str, float] | None:
    solution = solved(model_of(point))
    return found(solution) if solution.converged else None


def _of_directions(point: Point) -> Model:
    return OF_DIRECTIONS[str(point["model"])]


# Numbers for every order parameter, conjugate and error at a point; None where the solver did not converge.
measured: Measure = partial(_at, model_at)
measured_with_moments: Measure = partial(_at, model_at, found=with_moments)
measured_letters: Measure = partial(_at, letters.model_at)
measured_directions: Measure = partial(_at, _of_directions, found=with_moments)


def beside_functions(model: Model) -> tuple[Mapping[str, float], Functions]:
    """What statements on simulated readouts of one letter or two are evaluated with: numbers and functions."""
    solution = solved(model)
    found = numbers(solution) if len(model.groups) > 1 else with_moments(solution)
    return found, compiled_directions.functions_of(model) if model.rank > 1 else functions_of(model)


# ---- theorems, computed ----


def _beside(measured: Measure, found_at: Measure, point: Point, kept: frozenset[str]) -> Mapping[str, float] | None:
    """What is ``found_at`` a point, but for what is ``kept`` of what was measured, and what only the latter has."""
    given, found = measured(point), found_at(point)
    if given is None or found is None:
        return None
    return {**given, **{name: number for name, number in found.items() if name not in kept}}


def beside(
    title: str, measured: Measure, found_at: Measure, functions: FunctionsAt | None = None,
    tolerance: Tolerance = SOLVER, points: int = 4,
) -> ByTheorem:  # fmt: skip
    """Theorems, computed: the left side of a statement as ``measured``, all else as ``found_at`` the point."""
    return ByTheorem(title, partial(_beside, measured, found_at), tolerance, functions, points=points)


@lru_cache(maxsize=256)
def _by_theorems(model: Model) -> Mapping[str, float]:
    family = theorems.two_letters() if len(model.slopes) > 1 else theorems.one_letter()
    return saddle_points.solved(model, family)[0].values


@lru_cache(maxsize=8)
def _by_theorems_of_directions(name: str) -> Mapping[str, float]:
    return compiled_directions.solved(OF_DIRECTIONS[name])


def _functions_of_directions(point: Point) -> Functions:
    return compiled_directions.functions_of(_of_directions(point))


result_3_3 = beside(
    "Result 3.3, compiled, against the solver on random models", measured,
    lambda point: _by_theorems(model_at(point)), functions_at,
)  # fmt: skip
appendix_d = beside(
    "Appendix D, compiled, against the solver on random models with two letters", measured_letters,
    lambda point: _by_theorems(letters.model_at(point)), lambda point: functions_of(letters.model_at(point)),
)  # fmt: skip
two_directions = beside(
    "the equations of two directions, compiled, against the solver", measured_directions,
    lambda point: _by_theorems_of_directions(str(point["model"])), _functions_of_directions,
)  # fmt: skip
solver = ByNumbers("the leave-one-out solver on random models", measured, SOLVER, functions_at)
# Statements averaged over two variables cost fifty times more; four models are enough to see eight per cent.
solver_in_two_variables = ByNumbers(
    "the leave-one-out solver on random models, average over kappa and z", measured, SOLVER, functions_at, points=4
)
solver_of_directions = ByNumbers(
    "the leave-one-out solver on three models", measured_directions, SOLVER, _functions_of_directions, points=3
)


# ---- another loss ----


@lru_cache(maxsize=256)
def solved_convex(model: Model, loss: str) -> Solution:
    """The saddle point of a model with a loss of the claims."""
    return solve_convex(replace(model, loss=convex.for_solver(loss)))


@lru_cache(maxsize=8)
def _convex_by_theorems(loss: str, model: Model) -> Mapping[str, float]:
    return losses.solved(model, losses.LOSSES[loss])


def _functions_of_loss(point: Point) -> Functions:
    loss, model = convex_losses.case(point)
    return {**functions_of(model), **losses.forces(losses.LOSSES[loss])}


square_loss = beside(
    "equations (119)-(120) at the square loss, compiled, against the ridge solver",
    measured, lambda point: _convex_by_theorems("square", model_at(point)), functions_at, MINIMUM,
)  # fmt: skip
any_loss_by_theorems = beside(
    "equations (119)-(120), compiled, against the solver for square and pseudo-Huber losses",
    lambda point: numbers(solved_convex(*convex_losses.case(point)[::-1])),
    lambda point: _convex_by_theorems(*convex_losses.case(point)), _functions_of_loss, CONVEX_SOLVER,
)  # fmt: skip


# ---- the training objective ----


def _objective(point: Point) -> Mapping[str, float] | None:
    """The training objective per neuron for the law of the modes of a given bulk."""
    model = model_at(point)
    modes = given_bulk.modes_at(int(value(point, "seed")), model.beta)
    law = SpectralMeasure(model.beta, *modes, np.full(given_bulk.MODES, 1 / given_bulk.MODES))
    solution = solve(model, bulk=law.at_ridge)
    if not solution.converged:
        return None
    values = numbers(solution)
    cost = model.alpha / model.beta * solution.training_error + model.ridge * values[s.q2.name]
    return {**values, **given_bulk.atoms(modes), s.free_energy.name: cost / 2}


objective = given_bulk.OnAtoms(
    ByNumbers(
        "the training objective of the leave-one-out solver, four modes", _objective, SOLVER, functions_at, points=6
    )
)


def trained(point: Point) -> Mapping[str, float] | None:
    """The training objective per neuron at the solver's saddle point of two letters, and the entropic term of isotropic
    rows there.
    """
    found = measured_letters(point)
    if found is None:
        return None
    v, beta, ridge = dict(found), value(point, s.beta), value(point, s.ridge)
    psi_hat, entropic = s.psi_hat_of, 0.0
    for a in LETTERS:
        along = v[s.q2_hat_of[a].name] + beta * value(point, s.c_of[a]) * v[s.zeta_hat_of[a].name] ** 2
        entropic += along * v[s.V2_of[a].name]
        for b in LETTERS:
            drawn = v[s.q1_hat_of[a][b].name] + beta * v[psi_hat[a].name] * v[psi_hat[b].name]
            entropic += drawn * v[s.V1_of[a][b].name]
    size = sum(v[x.name] for x in s.q2_of)
    objective = (value(point, s.alpha) / beta * v[s.training_error.name] + ridge * size) / 2
    return {**v, s.entropic_term.name: entropic / 2, s.free_energy.name: objective}
