"""Plain random features: the solvers at r = 0, and the slides' equations and plain Gaussian equivalence by theorems."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.losses import LOGISTIC
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.any_loss.convex import solve
from giantsteps.verify.checks.evaluate import Functions
from giantsteps.verify.checks.points import Point
from giantsteps.verify.compiled.losses import LOSSES
from giantsteps.verify.compiled.random_features import plain, slides_of, target_constants
from giantsteps.verify.protocol.tolerances import CONVEX_SOLVER
from giantsteps.verify.second_route.losses import for_solver
from giantsteps.verify.second_route.models import model_at
from giantsteps.verify.second_route.saddle_point.plain_equivalence import plain_at, plain_equivalence
from giantsteps.verify.solver.models import beside, numbers, solved


def _model(point: Point) -> Model:
    model = model_at({**point, s.r.name: 0.0})
    if point.get("regime") == "many samples":
        model = replace(model, alpha=3e4, beta=3e2, ridge=1e-3, noise=0.0)
    return model


def _plain(point: Point) -> Mapping[str, float]:
    """Section 3.3 at r = 0."""
    model = _model(point)
    return plain(model, *target_constants(model.target))


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


by_theorems = beside("Section 3.3 at r = 0, compiled, against the solver", without_spike, _plain)
slides_by_theorems = beside(
    "the slides' equations, compiled, against the ridge solver at r = 0", slides_at, without_spike
)


def linear_fit(point: Point) -> Mapping[str, float] | None:
    """The solver's test error at r = 0; h1* and h2* of the target."""
    solution = solved(_model(point))
    first, second = target_constants(solution.model.target)
    found = {s.test_error: solution.test_error, s.h1_star: first, s.h2_star: second}
    return {symbol.name: value for symbol, value in found.items()} if solution.converged else None


TINY_SPIKE = 1e-3  # corrections are of order r^2


def tiny_spike(point: Point) -> Mapping[str, float] | None:
    """The solver at r = 1e-3, and plain random features for the target without its linear part along v."""
    model = model_at({**point, s.r.name: TINY_SPIKE})
    solution = solved(model)
    if not solution.converged:
        return None
    first, second = target_constants(model.target)
    gamma, values = model.alignment, numbers(solution)
    across = plain(model, np.sqrt(1 - gamma**2) * first, second - gamma**2 * first**2)
    return {
        **across,
        s.psi.name: across[s.M.name],
        s.q1.name: across[s.Q1.name],
        s.h1_star.name: first,
        s.h2_star.name: second,
        s.m_no_spike.name: TINY_SPIKE * values[s.m.name],
        s.zeta_no_spike.name: values[s.zeta.name],
        s.error_no_spike.name: values[s.test_error.name],
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
def _slides_in(case: str) -> Mapping[str, float]:
    """The slides' equations of a case; labels are the target, or its sign for the logistic loss."""
    point = CASES[case]
    loss = str(point["loss"])
    return slides_of(_model(point), LOSSES[loss], signs=loss == "logistic")


@lru_cache(maxsize=8)
def _solver_in(case: str) -> Mapping[str, float] | None:
    """The solver for convex losses in a case."""
    point = CASES[case]
    loss = str(point["loss"])
    solution = solve(replace(_model(point), loss=LOGISTIC if loss == "logistic" else for_solver(loss)))
    return _by_one_overlap(solution) if solution.converged else None


any_loss_by_theorems = beside(
    "the slides' equations, compiled, against the solver for convex losses at r = 0",
    lambda point: _slides_in(str(point["case"])), lambda point: _solver_in(str(point["case"])), tolerance=CONVEX_SOLVER,
)  # fmt: skip


# ---- plain Gaussian equivalence after a giant step ----


@lru_cache(maxsize=64)
def _plain_by_solver(model: Model) -> float:
    """The error of the solver without a spike: mu1 z + mu* (z^2 - c)/(c sqrt(2)) learns what the fit along v leaves."""
    found = plain_equivalence(model)
    mu1, mu2, first, second = (found[x.name] for x in (s.mu1_constant, s.mu2_constant, s.h1_star, s.h2_star))
    linear = math.sqrt(1 - model.alignment**2) * first
    rest = math.sqrt((second - first**2) / 2)
    c = model.bulk
    student = activation(f"{mu1!r}*z + {mu2 / (c * math.sqrt(2))!r}*(z**2 - {c!r})")
    target = activation(f"{linear!r}*z + {rest!r}*he(2, z)")
    return solved(replace(model, activation=student, target=target, spike=0.0, alignment=0.0)).test_error


plain_by_theorems = beside(
    "the plain map after a step, compiled, against the solver without a spike",
    lambda point: {s.gaussian_error.name: _plain_by_solver(model_at(point))}, plain_at,
)  # fmt: skip


def beside_plain(model: Model) -> tuple[Mapping[str, float], Functions]:
    """What statements on both Gaussian equivalents of a model are evaluated with."""
    found = solved(model)
    return {**plain_equivalence(model), **numbers(found), s_map.equivalent_error.name: found.test_error}, {}
