"""Claims about a bias that all neurons share: coefficients and the improved lower bound, equations (131)-(132)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bounds import symbols as s_bounds
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.bounds import ridge as numeric_bounds
from giantsteps.numerics.gaussian.coefficients import conditional_coefficients
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model, ReadoutGroup
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByTheorem
from giantsteps.verify.claims.bounds.proofs import infima_below
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import claim, eq, ge
from giantsteps.verify.protocol.tolerances import QUADRATURE, SOLVER
from giantsteps.verify.solver.models import solved

APPENDIX = "Appendix C"


def _coefficients(point: Point) -> Mapping[str, float]:
    names = (s.r, s.c, s.uniform_bias, s.kappa)
    r, c, bias, kappa = (float(point[x.name]) for x in names)
    found = conditional_coefficients(activation(str(point["activation"])), r, c, bias, np.array([kappa]))
    return {
        s.mu0.name: float(found.mu0[0]),
        s.mu1.name: float(found.mu1[0]),
        s.mu2_square.name: float(found.mu2[0] ** 2),
    }


_value = sigma(s.r * s.kappa + sp.sqrt(s.c) * s.z + s.uniform_bias)
_without = sigma(s.r * s.kappa + sp.sqrt(s.c) * s.z)


def _three(value: sp.Expr) -> sp.Basic:
    return sp.And(
        eq(s.mu0, Expectation(value, s.z)),
        eq(s.mu1, Expectation(s.z * value, s.z) / sp.sqrt(s.c)),
        eq(s.mu2_square, Expectation(value**2, s.z) - s.mu0**2 - s.c * s.mu1**2),
        evaluate=False,
    )


# Many samples and a wide network: the test error comes down to the bound.
_MODELS = {
    "tanh learns a tilted parabola": ("tanh(z)", "z + z**2/3"),
    "erf learns a shifted tanh": ("erf(z)", "tanh(z - 1)"),
    "tanh learns a shifted sine": ("tanh(z)", "sin(z + 1/2)"),
}
_BIASES = (-1.2, -0.8, -0.4, 0.0, 0.4, 0.8, 1.2)


@lru_cache(maxsize=64)
def _sweep(model: Model) -> tuple[float, float, float]:
    at = [replace(model, readout=(ReadoutGroup(bias=b),)) for b in _BIASES]
    errors = [solved(x) for x in at]
    lower = [numeric_bounds.lower_bound(x) for x in at]
    return min(e.test_error for e in errors if e.converged), min(lower), lower[_BIASES.index(0.0)]


def _best(point: Point) -> Mapping[str, float]:
    student, target = _MODELS[str(point["model"])]
    model = Model(
        activation(student),
        activation(target),
        alpha=3e4,
        beta=3e2,
        ridge=1e-3,
        spike=float(point[s.r.name]),
        bulk=float(point[s.c.name]),
        alignment=1.0,
    )
    error, least, plain = _sweep(model)
    return {s.best_error_bias.name: error, s.best_lower_bias.name: least, s_bounds.distance.name: plain}


CLAIMS: tuple[Claim, ...] = (
    claim(
        "definitions.biased-coefficients", "The coefficients with a bias that all neurons share", paper(APPENDIX, 131),
        _three(_value),
        Domain((Range("activation", choices=("tanh(z)", "erf(z)", "sin(z)")), Range(s.r, 0.3, 2.0),
                Range(s.c, 0.6, 1.5), Range(s.kappa, -2.0, 2.0), Range(s.uniform_bias, -1.5, 1.5))),
        ByNumbers("the coefficients of the solver", _coefficients, QUADRATURE,
                  lambda point: {"sigma": compile_numpy(activation(str(point["activation"])).expression)}),
        kind=Kind.DEFINITION,
        wrong={"the bias left out": _three(_without)},
        note="A definition. The check shows that the solver computes it.",
    ),
    claim(
        "bounds.lower-over-bias", "Lower bound on the best test error over ridge and a uniform bias, gamma = 1",
        paper(APPENDIX, 132),
        ge(s.best_error_bias, s.best_lower_bias),
        Domain((Range("model", choices=tuple(_MODELS)), Range(s.r, 0.8, 1.5), Range(s.c, 0.8, 1.2)),
               ("gamma = 1, reached as alpha0 -> infinity",)),
        ByNumbers("the solver with seven biases, many samples", _best, SOLVER, points=4),
        ByTheorem("from the bound at every bias", infima_below),
        wrong={"the bound without bias": s_bounds.distance, "twice": 2 * s.best_lower_bias},
        uses=("bounds.lower-any-alignment", "definitions.uniform-bias", "definitions.biased-coefficients"),
        note="The proof of the bound uses nothing of mu0, mu1 and mu2, so it holds for those of any bias.",
    ),
)
