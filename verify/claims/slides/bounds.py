"""What the slides print about bounds on the test error, and for which batches they hold (Section 4.3)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial
from typing import Any

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.bounds import ridge as bounds
from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.free_energy.along_spike import mu0, mu1, y0, y1, y2
from giantsteps.derivations.language.named_functions import g
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import ByNumbers, BySearch, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.bounds import ridge as section_4_3
from giantsteps.verify.claims.gradient_step import result_3_1 as section_3_1
from giantsteps.verify.claims.saddle_point.formulas import E
from giantsteps.verify.claims.slides.printed import as_printed, convention, printed
from giantsteps.verify.protocol.claim import Claim, Domain, Range, Role, Source
from giantsteps.verify.protocol.statement import MORE, claim, eq, ge, le
from giantsteps.verify.protocol.tolerances import QUADRATURE, SOLVER
from giantsteps.verify.second_route.grids import LINE, WEIGHT
from giantsteps.verify.second_route.models import GENERIC, at_distinct, functions_of, model_at
from giantsteps.verify.solver.models import solved

FRAME = "Bounds on the risk"
_bound = {c.id: c for c in section_4_3.CLAIMS}.__getitem__

# ---- the bounds at gamma = 1, and taken for any batch ----

_AT_ONE = (
    as_printed(_bound("bounds.upper"), "upper-bound", "The upper bound of large batches", FRAME),
    as_printed(_bound("bounds.lower"), "lower-bound", "The lower bound, on the frame that has kappa", FRAME),
)
_unit_upper = E(g(s.kappa) ** 2) - E(mu0 * g(s.kappa)) ** 2 / E(mu0**2)
_ANY_BATCH = convention(
    _bound("bounds.upper-any-alignment"), "upper-bound-any-batch",
    "The upper bound with the target along the spike, for any batch", FRAME, le(s.best_error, _unit_upper),
    wrong={
        "eight per cent less": le(s.best_error, _unit_upper * sp.Rational(25, 27)),
        "half of it": le(s.best_error, _unit_upper / 2),
    },
    note="Stated for any batch, it needs gamma = 1, an infinite one; below, E[g | kappa] takes the place of g.",
)

# ---- the span ----

slope = sp.Function("mu1_slope", real=True)(s.kappa)  # derivative of mu1 in kappa, r E sigma''
_overlap, _norm, _cross, _second = E(mu0 * y0), E(mu0**2), E(mu0 * slope), E(slope**2)
_along = (_overlap**2 * _second - 2 * _overlap * E(slope * y0) * _cross + E(slope * y0) ** 2 * _norm) / (
    _norm * _second - _cross**2
)
_with_slope = E(y2) - s.noise - _along - E(mu1 * y1) ** 2 / E(mu1**2)


def _functions_with_slope(point: Point) -> Mapping[str, Callable[..., Any]]:
    """The functions along the spike, with mu1' = r E[(z^2 - 1) sigma(r kappa + sqrt(c) z)]/c by Stein's lemma."""
    from giantsteps.numerics.gaussian.evaluate import compile_numpy

    model = model_at(point)
    student = compile_numpy(model.activation.expression)
    weight = WEIGHT * (LINE**2 - 1)

    def mu1_slope(kappa: Any) -> Any:
        values = student(model.spike * kappa[:, None] + np.sqrt(model.bulk) * LINE) @ weight
        return model.spike * values / model.bulk

    return {**functions_of(model), "mu1_slope": partial(at_distinct, mu1_slope)}


_distance = _bound("bounds.distance")
_SPAN = replace(
    printed(
        _distance, "span-with-derivative", "The distance of the target from the span of mu0 and mu1'", FRAME,
        eq(s.distance, _with_slope),
        note="mu1' is proportional to kappa mu1 for erf and sign, whose mu1 is Gaussian-shaped; not for tanh.",
    ),
    domain=Domain(_distance.domain.ranges, (), ({**GENERIC, "mu1_slope": lambda u: np.cos(u) - 0.4 * u},)),
    checks=(
        ByDerivation(bounds.span),
        ByNumbers("least squares on a grid", section_4_3._least_squares, QUADRATURE, _functions_with_slope),
    ),
)

# ---- monotony in the batch ----

_RIDGES = tuple(float(x) for x in np.geomspace(1e-4, 1e4, 13))


@lru_cache(maxsize=256)
def _least(model: Model) -> float:
    errors = [solved(replace(model, ridge=ridge)) for ridge in _RIDGES]
    return min(e.test_error for e in errors if e.converged)


def _batches(point: Point) -> Mapping[str, float]:
    """Least errors over a grid of ridges at a finite batch and at an infinite one, by the mapping of Result 3.1."""
    student, target = (activation(str(point[name])) for name in ("activation", "target"))
    batch, eta, beta = float(str(point["batch"])), float(point[s.eta.name]), float(point[s.beta.name])
    alpha = float(point[s.alpha.name])

    def least(alpha0: float) -> float:
        mapped = Model.from_gradient_step(
            student, target, alpha0=alpha0, eta=eta, alpha=alpha, beta=beta, ridge=1.0, bulk_model="isotropic"
        )
        return _least(mapped)

    # At 1e8 samples per dimension c - 1 and 1 - gamma are of order 1e-8.
    return {s.best_error_batch.name: least(batch), s.best_error_large_batch.name: least(1e8)}


MONOTONE = claim(
    "slides.monotone-in-batch", "The least error falls with the batch, from no step at all to an infinite batch",
    Source("slides", FRAME),
    ge(s.best_error_batch, s.best_error_large_batch),
    Domain((Range("activation", choices=("tanh(z)",)), Range("target", choices=("z",)),
            Range("batch", choices=("0", "3")), Range(s.alpha, 15.0, 25.0), Range(s.beta, 1.5, 2.5),
            Range(s.eta, 6.0, 10.0))),
    BySearch("the solver, best of 13 ridges", _batches, SOLVER),
    role=Role.PRINTED,
    wrong={"by eight per cent": s.best_error_large_batch * MORE, "twice": 2 * s.best_error_large_batch},
    note="A linear target is learned better without a step than with a strong spike. What grows is the alignment.",
    correction=section_3_1.ALIGNMENT_GROWTH,
)

CLAIMS: tuple[Claim, ...] = (*_AT_ONE, _ANY_BATCH, _SPAN, MONOTONE)
