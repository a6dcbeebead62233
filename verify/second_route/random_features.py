"""Plain random features: the solvers at r = 0, and the slides' equations by their theorems, at points of a domain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.losses import LOGISTIC
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.any_loss.convex import solve
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled.losses import LOSSES
from giantsteps.verify.compiled.random_features import slides_of
from giantsteps.verify.second_route.losses import for_solver
from giantsteps.verify.second_route.models import model_at, numbers, solved


def _model(point: Point) -> Model:
    return model_at({**point, s.r.name: 0.0})


def slides_at(point: Point) -> Mapping[str, float]:
    """The slides' equations of the square loss."""
    return slides_of(_model(point))


def without_spike(point: Point) -> Mapping[str, float] | None:
    """The ridge solver's overlaps and conjugates at r = 0."""
    solution = solved(_model(point))
    return _by_one_overlap(solution) if solution.converged else None


def _by_one_overlap(solution: Solution) -> Mapping[str, float]:
    """psi = sqrt(rho) M, psi^ = sqrt(rho) M^ and Q1 = q1 + zeta^2."""
    found = numbers(solution)
    root = np.sqrt(found[s.rho.name])
    return {
        **found,
        s.M.name: found[s.psi.name] / root,
        s.M_hat.name: found[s.psi_hat.name] / root,
        s.Q1.name: found[s.q1.name] + found[s.zeta.name] ** 2,
    }


# Few models, each solved once for all claims.
_NAMES = (s.alpha, s.beta, s.ridge, s.gamma)
CASES: Mapping[str, Point] = {
    f"{loss}, {student} learns {teacher}": {
        "loss": loss,
        "activation": student,
        "target": teacher,
        **{x.name: value for x, value in zip(_NAMES, values, strict=True)},
        **{x.name: value for x, value in ((s.c, 1.0), (s.noise, 0.0))},
    }
    for loss, student, teacher, values in (
        ("logistic", "tanh(z)", "erf(z)", (1.7, 0.6, 0.3, 0.5)),
        ("logistic", "erf(z)", "atan(z)", (0.8, 1.4, 0.8, 0.7)),
        ("pseudo-Huber", "atan(z)", "tanh(z)", (2.3, 1.2, 0.15, 0.4)),
        ("pseudo-Huber", "tanh(z)", "sin(z)", (0.6, 0.5, 1.2, 0.6)),
    )
}


@lru_cache(maxsize=8)
def slides_in(case: str) -> Mapping[str, float]:
    """The slides' equations of a case; labels are the target, or its sign for the logistic loss."""
    point = CASES[case]
    loss = str(point["loss"])
    return slides_of(_model(point), LOSSES[loss], signs=loss == "logistic")


@lru_cache(maxsize=8)
def solver_in(case: str) -> Mapping[str, float] | None:
    """The solver for convex losses in a case."""
    point = CASES[case]
    loss = str(point["loss"])
    solution = solve(replace(_model(point), loss=LOGISTIC if loss == "logistic" else for_solver(loss)))
    return _by_one_overlap(solution) if solution.converged else None
