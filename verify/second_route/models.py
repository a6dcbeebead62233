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
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients, target_moments
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.numerics.models.solution import Solution
from giantsteps.numerics.saddle_point.ridge import solve
from giantsteps.verify.checks.points import ByNumbers, ByTheorem
from giantsteps.verify.compiled import along, saddle_points, theorems
from giantsteps.verify.protocol.claim import Domain, Range
from giantsteps.verify.protocol.tolerances import SOLVER
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


def functions_of(model: Model) -> Mapping[str, Callable[..., Any]]:
    """The functions along the spike of a model, from their definitions, and its target."""

    def student(index: int) -> Callable[[Array], Array]:
        return lambda kappa: _along(model, kappa)[index]

    return {
        **{f"mu{i}": student(i) for i in range(3)},
        **{f"y{i}": student(3 + i) for i in range(3)},
        "g": compile_numpy(model.target.expression),
    }


def _along(model: Model, kappa: Array) -> tuple[Array, ...]:
    kappa = np.asarray(kappa, dtype=float)
    distinct, inverse = _distinct(kappa.tobytes(), kappa.shape)
    return tuple(values[inverse] for values in _table(model, distinct.tobytes()))


@lru_cache(maxsize=16)
def _distinct(raw: bytes, shape: tuple[int, ...]) -> tuple[Array, NDArray[np.intp]]:
    distinct, inverse = np.unique(np.frombuffer(raw).reshape(shape), return_inverse=True)
    return distinct, inverse


@lru_cache(maxsize=512)
def _table(model: Model, raw: bytes) -> tuple[Array, ...]:
    kappa = np.frombuffer(raw)
    student = conditional_coefficients(model.activation, model.spike, model.bulk, 0.0, kappa)
    target = target_moments(model.target, model.alignment, kappa)
    return (*student, target.y0, target.y1, target.y2 + model.noise)


# In t = ln tan(angle/2) all poles of the integrands lie at distance pi/2 from the real line, also at beta = 1 where the
# smallest eigenvalue is zero: the trapezoidal sum of step h leaves exp(-pi^2/h), 1e-43 here. The tails left out, where
# the integrand is below exp(3 t) on the left and exp(-t) on the right, are below 1e-17.
_STEP = 0.1
_GRID = np.arange(-14.0, 40.0, _STEP)


@lru_cache(maxsize=4096)
def density_integrals(beta: float, c: float, shift: float, conjugate: float) -> Mapping[str, float]:
    """Integrals over the Marchenko-Pastur density, eigenvalues c(1 + beta + 2 sqrt(beta) cos angle), an atom at zero.

    cos angle = -tanh t and sin angle = 1/cosh t.
    """
    eigenvalue = (1 - np.sqrt(beta)) ** 2 + 4 * np.sqrt(beta) / (1 + np.exp(2 * _GRID))
    weight = 2 / np.pi * _STEP / np.cosh(_GRID) ** 3 / eigenvalue
    atom = max(0.0, 1 - 1 / beta)
    resolvent = 1 / (shift + conjugate * c * eigenvalue)

    def moment(k: int, j: int) -> float:
        return float(weight @ ((c * eigenvalue) ** k * resolvent**j)) + (atom / shift**j if k == 0 else 0.0)

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


def _beside(measured: Measure, model_at: ModelAt, point: Point, kept: frozenset[str]) -> Mapping[str, float] | None:
    """What the theorems give, but for what is ``kept`` of the solver's numbers and what only the solver has."""
    numbers = measured(point)
    if numbers is None:
        return None
    theirs = {name: value for name, value in _by_theorems(model_at(point)).items() if name not in kept}
    return {**numbers, **theirs}


def _functions_beside(model_at: ModelAt, point: Point) -> Mapping[str, Callable[..., Any]]:
    model = model_at(point)
    target = partial(along.evaluated, model.target.expression)
    return {name: partial(_at_distinct, function) for name, function in saddle_points.functions_of(model).items()} | {
        "g": target
    }


def _at_distinct(function: Callable[[Array], Array], kappa: Array) -> Array:
    """The function at each distinct place once: grids in several variables repeat them."""
    kappa = np.asarray(kappa, dtype=float)
    distinct, inverse = _distinct(kappa.tobytes(), kappa.shape)
    return function(distinct)[inverse]


def computed(title: str, measured: Measure, model_at: ModelAt) -> ByTheorem:
    """The theorems that derive a model's saddle point, computed, beside the solver's numbers."""
    return ByTheorem(
        title, partial(_beside, measured, model_at), SOLVER, partial(_functions_beside, model_at), points=4
    )


result_3_3 = computed("Result 3.3, compiled, against the solver on random models", measured, model_at)
solver = ByNumbers("the leave-one-out solver on random models", measured, SOLVER, functions_at)
# Statements averaged over two variables cost fifty times more; four models are enough to see eight per cent.
solver_in_two_variables = ByNumbers(
    "the leave-one-out solver on random models, average over kappa and z", measured, SOLVER, functions_at, points=4
)
