"""Random models for the claims of Sections 3.3 and 4.3: a point of a domain, solved by the numerics.

The solver comes from leave-one-out equations and knows nothing of the free energy; its numbers enter statements whose
expectations are then summed by the verifier's own evaluator. Activations and targets are smooth, so that the
evaluator's fixed grid is accurate to rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache, partial
from typing import Any

import numpy as np
import sympy as sp
from numpy.typing import NDArray

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.checks.points import ByNumbers, ByTheorem, FunctionsAt
from giantsteps.verify.compiled import along, saddle_points, theorems
from giantsteps.verify.compiled.random_features import marchenko_pastur
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.protocol.tolerances import SOLVER, Tolerance
from giantsteps.verify.second_route.values import by_glyph

Array = NDArray[np.float64]
Point = Mapping[str, float | str]
Measure = Callable[[Point], Mapping[str, float] | None]
ModelAt = Callable[[Point], Model]
Bounds = tuple[float, float]

SMOOTH = ("tanh(z)", "erf(z)", "sin(z)", "atan(z)", "z/sqrt(1 + z**2) + 1/4")

# Functions for witnesses against false statements: generic, smooth, of order one, and of no particular parity.
GENERIC: Mapping[str, Callable[..., Any]] = {
    "mu0": lambda x: np.tanh(x) + 0.2 * np.cos(x),
    "mu1": lambda x: 0.3 + np.exp(-0.4 * x * x),
    "mu2": lambda x: 0.5 + 0.1 * np.sin(x),
    "y0": lambda x: np.sin(x) + 0.3,
    "y1": lambda x: 0.4 * np.cos(x) + 0.1 * x,
    "y2": lambda x: 1.5 + 0.2 * np.tanh(x),
    "g": lambda x: np.tanh(x) + 0.1 * x,
    "varrho": lambda u: 1.2 + np.tanh(u),
    "vartau": lambda u: u + 0.3,
    "varpi": lambda u: 0.7 - 0.2 * u,
}


def between(student: str, target: str, **values: float) -> Model:
    """The model of a student and a target given as text."""
    return Model(activation(student), activation(target), **values)  # type: ignore[arg-type]


def problem(
    students: tuple[str, ...], targets: tuple[str, ...], alpha: Bounds, beta: Bounds, ridge: Bounds,
    noise: Bounds = (0.0, 0.3),
) -> tuple[Range, ...]:  # fmt: skip
    """Student and target, the ratios and the ridge (spread evenly in the logarithm), and the label noise."""
    return (
        Range("activation", choices=students),
        Range("target", choices=targets),
        *(Range(x, *ends, log=True) for x, ends in ((s.alpha, alpha), (s.beta, beta), (s.ridge, ridge))),
        Range(s.noise, *noise),
    )


RANGES = (
    *problem(SMOOTH, SMOOTH, (0.3, 4.0), (0.3, 3.0), (0.02, 5.0)),
    Range(s.r, 0.3, 2.5),
    Range(s.c, 0.6, 1.8),
    Range(s.gamma, -0.9, 0.9),
)
DOMAIN = Domain(ranges=RANGES, interpretations=(GENERIC,))


@lru_cache(maxsize=4096)
def _model(key: tuple[float | str, ...]) -> Model:
    student, target, alpha, beta, ridge, noise, spike, bulk, alignment = key
    return Model(
        activation(str(student)),
        activation(str(target)),
        alpha=float(alpha),
        beta=float(beta),
        ridge=float(ridge),
        noise=float(noise),
        spike=float(spike),
        bulk=float(bulk),
        alignment=float(alignment),
    )


_COORDINATES = ("activation", "target", *(x.name for x in (s.alpha, s.beta, s.ridge, s.noise, s.r, s.c, s.gamma)))


def model_at(point: Point) -> Model:
    """The model of a point whose coordinates are those of ``RANGES``."""
    return _model(tuple(point[name] for name in _COORDINATES))


@lru_cache(maxsize=4096)
def solved(model: Model) -> Solution:
    """The saddle point of a model, remembered."""
    return solve(model)


def measured(point: Point) -> Mapping[str, float] | None:
    """Numbers for every order parameter, conjugate and error at a point; None where the solver did not converge."""
    solution = solved(model_at(point))
    return numbers(solution) if solution.converged else None


def common_numbers(solution: Solution) -> dict[sp.Symbol, float]:
    """A solution for one group, any number of directions: all values but those of zeta, its conjugate and the spike."""
    model, order = solution.model, solution.order_parameters
    hats = order.conjugates
    return {
        s.alpha: model.alpha,
        s.beta: model.beta,
        s.ridge: model.ridge,
        s.noise: model.noise,
        s.c: model.bulk,
        s.m: order.m[0],
        s.psi: order.psi[0],
        s.q1: order.q1[0, 0],
        s.q2: order.q2[0],
        s.V1: order.V1[0, 0],
        s.V2: order.V2[0],
        s.V1_hat: hats.C[0, 0],
        s.V2_hat: hats.D[0],
        s.q1_hat: hats.C_hat[0, 0],
        s.q2_hat: hats.D_hat[0],
        s.psi_hat: model.alpha / model.beta * hats.psi_force[0],
        s.test_error: solution.test_error,
        s.training_error: solution.training_error,
    }


def numbers(solution: Solution) -> dict[str, float]:
    """A solution for one group and one direction as values of the symbols of the theory, by name."""
    model, order = solution.model, solution.order_parameters
    values = common_numbers(solution) | {
        s.r: model.spike,
        s.gamma: model.alignment,
        s.rho: (1.0 - model.alignment) * (1.0 + model.alignment),
        s.zeta: order.zeta[0],
        s.zeta_hat: model.alpha / model.beta * order.conjugates.zeta_force[0],
    }
    named = by_glyph(values)
    root = np.sqrt(named[s.rho.name])
    named[s.psi_paper.name] = root * named[s.psi.name]
    named[s.zeta_hat_slides.name] = np.sqrt(model.beta) * named[s.zeta_hat.name]
    named[s.psi_hat_slides.name] = np.sqrt(model.beta) * named[s.psi_hat.name] / root if root else float("nan")
    return named


def functions_at(point: Point) -> Mapping[str, Callable[..., Any]]:
    """mu0, mu1, mu2, y0, y1, y2 (with label noise) and g of the model at a point."""
    return functions_of(model_at(point))


def functions_of(
    model: Model, along_spike: Callable[[Model], Mapping[str, Callable[[Array], Array]]] = saddle_points.functions_of
) -> Mapping[str, Callable[..., Any]]:
    """The functions along the spike of a model, from their definitions, and its target."""
    functions = {name: partial(_at_distinct, of) for name, of in along_spike(model).items()}
    return {**functions, "g": partial(along.evaluated, model.target.expression)}


def _at_distinct(function: Callable[[Array], Array], kappa: Array) -> Array:
    """The function at each distinct place once: grids in several variables repeat them."""
    kappa = np.asarray(kappa, dtype=float)
    distinct, inverse = _distinct(kappa.tobytes(), kappa.shape)
    return function(distinct)[inverse]


@lru_cache(maxsize=16)
def _distinct(raw: bytes, shape: tuple[int, ...]) -> tuple[Array, NDArray[np.intp]]:
    distinct, inverse = np.unique(np.frombuffer(raw).reshape(shape), return_inverse=True)
    return distinct, inverse


@lru_cache(maxsize=4096)
def density_integrals(beta: float, c: float, shift: float, conjugate: float) -> Mapping[str, float]:
    """Integrals over the Marchenko-Pastur density: V1, V2 and the second moments of the resolvent."""
    eigenvalue, weight = marchenko_pastur(beta, c)
    resolvent = 1 / (shift + conjugate * eigenvalue)

    def moment(k: int, j: int) -> float:
        return float(weight @ (eigenvalue**k * resolvent**j))

    return {
        s.V1.name: moment(1, 1),
        s.V2.name: moment(0, 1),
        s.resolvent_square.name: moment(0, 2),
        s.resolvent_mixed.name: moment(1, 2),
        s.resolvent_double.name: moment(2, 2),
    }


@lru_cache(maxsize=256)
def _by_theorems(model: Model) -> Mapping[str, float]:
    family = theorems.two_letters() if len(model.slopes) > 1 else theorems.one_letter()
    return saddle_points.solved(model, family)[0].values


def _beside(measured: Measure, found_at: Measure, point: Point, kept: frozenset[str]) -> Mapping[str, float] | None:
    """What is ``found_at`` a point, but for what is ``kept`` of what was measured, and what only the latter has."""
    numbers, found = measured(point), found_at(point)
    if numbers is None or found is None:
        return None
    return {**numbers, **{name: value for name, value in found.items() if name not in kept}}


def computed(title: str, measured: Measure, model_at: ModelAt) -> ByTheorem:
    """The theorems that derive a model's saddle point, computed, beside the solver's numbers."""
    return beside(
        title, measured, lambda point: _by_theorems(model_at(point)), lambda point: functions_of(model_at(point))
    )


def beside(
    title: str, measured: Measure, found_at: Measure, functions: FunctionsAt | None = None,
    tolerance: Tolerance = SOLVER, points: int = 4,
) -> ByTheorem:  # fmt: skip
    """Theorems, computed: the left side of a statement as ``measured``, all else as ``found_at`` the point."""
    return ByTheorem(title, partial(_beside, measured, found_at), tolerance, functions, points=points)


result_3_3 = computed("Result 3.3, compiled, against the solver on random models", measured, model_at)
solver = ByNumbers("the leave-one-out solver on random models", measured, SOLVER, functions_at)
# Statements averaged over two variables cost fifty times more; four models are enough to see eight per cent.
solver_in_two_variables = ByNumbers(
    "the leave-one-out solver on random models, average over kappa and z", measured, SOLVER, functions_at, points=4
)
