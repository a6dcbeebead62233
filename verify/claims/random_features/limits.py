"""Claims about limits and symmetries: no spike, a vanishing spike, the alignment, rescalings, both bounds at once."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import sympy as sp

from giantsteps.derivations.activations.activation import activation
from giantsteps.derivations.gradient_step import alignment
from giantsteps.derivations.gradient_step import spike as gradient_step
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.saddle_point import conventions as invariances
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.numerics.gaussian.evaluate import compile_numpy
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import BySearch, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem
from giantsteps.verify.claims.bounds.proofs import between
from giantsteps.verify.claims.bounds.ridge import TIGHT, lower, seek_best, upper
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import MORE, Wrong, claim, eq, ge, le
from giantsteps.verify.protocol.tolerances import SOLVER
from giantsteps.verify.second_route.grids import average
from giantsteps.verify.second_route.models import GENERIC, RANGES, model_at
from giantsteps.verify.solver.models import solved

ODD = ("tanh(z)", "erf(z)", "sin(z)", "atan(z)")
k1, k2 = s.mu1_constant, s.mu2_constant

# ---- the alignment ----

_STEP = Domain((Range("target", choices=("tanh(z)", "erf(z)", "sin(z)", "z**3 - z", "atan(z)")),
                Range(s.alpha0, 0.05, 50.0, log=True), Range("increase", 0.01, 3.0, log=True),
                Range(s.noise, 0.0, 0.5)),
               ("h1* is not zero",))


def _alignments(point: Point) -> Mapping[str, float]:
    """|gamma| at alpha0 and at a larger one: the length of the label-weighted mean sample, by its pairs of samples.

    Of n0 samples in d dimensions E|(1/n0) sum y x|^2 = (E[y^2] (d - 1) + E[y^2 u^2])/n0 + (1 - 1/n0) E[y u]^2, averages
    over u = theta.x by trapezoidal sums; gamma is E[y u] over its root, at d = 1e9.
    """
    target = compile_numpy(activation(str(point["target"])).expression)
    noise, d = float(point[s.noise.name]), 1e9
    overlap = average(lambda z: z * target(z))
    second = average(lambda z: target(z) ** 2) + noise
    fourth = average(lambda z: (z * target(z)) ** 2) + noise

    def gamma(alpha0: float) -> float:
        n0 = alpha0 * d
        return overlap / float(np.sqrt((second * (d - 1) + fourth) / n0 + (1 - 1 / n0) * overlap**2))

    alpha0 = float(point[s.alpha0.name])
    return {
        s.gamma.name: gamma(alpha0),
        s.gamma_more.name: gamma(alpha0 * (1 + float(point["increase"]))),
    }


def _alignment_claims() -> tuple[Claim, ...]:
    search = BySearch("the mean sample at finite size, by pairs of samples", _alignments, SOLVER, examples=200)
    return (
        claim(
            "alignment.at-most-one", "The alignment lies between -1 and 1", paper("Section 3.1"),
            le(s.gamma**2, sp.S.One), _STEP,
            ByTheorem("the alignment of the gradient step", alignment.alignment_at_most_one,
                      gradient_step.OF_THE_SPIKE),
            search,
            wrong={"eight per cent less": 1 / MORE, "the other way round": ge(s.gamma**2, sp.S.One)},
            uses=("result-3-1.alignment-noisy",),
        ),
        claim(
            "alignment.increasing", "The alignment grows with the number of samples of the gradient step",
            paper("Section 3.1"),
            ge(s.gamma_more**2, s.gamma**2), _STEP,
            ByTheorem("the alignment of the gradient step",
                      partial(alignment.alignment_increases, s.gamma_more), gradient_step.OF_THE_SPIKE),
            search,
            wrong={"the other way round": le(s.gamma_more**2, s.gamma**2), "eight per cent more": MORE * s.gamma**2},
            uses=("result-3-1.alignment-noisy",),
        ),
    )


# ---- rescalings ----

_SCALED = Domain((*RANGES, Range(s.scale, 0.4, 2.5, log=True)), (), (GENERIC,))


def _scale(point: Point) -> float:
    return round(float(point[s.scale.name]), 3)


def _two_errors(first: Model, second: Model, scale: float) -> Mapping[str, float] | None:
    one, two = solved(first), solved(second)
    if not (one.converged and two.converged):
        return None
    return {s.test_error.name: one.test_error, s.error_rescaled.name: two.test_error, s.scale.name: scale}


def _scaled_activation(point: Point) -> Mapping[str, float] | None:
    model, scale = model_at(point), _scale(point)
    other = activation(f"{scale!r}*({point['activation']})")
    return _two_errors(model, replace(model, activation=other, ridge=scale**2 * model.ridge), scale)


def _scaled_target(point: Point) -> Mapping[str, float] | None:
    model, scale = model_at(point), _scale(point)
    other = activation(f"{scale!r}*({point['target']})")
    return _two_errors(model, replace(model, target=other, noise=scale**2 * model.noise), scale)


def _scaled_bulk(point: Point) -> Mapping[str, float] | None:
    model = model_at(point)
    root = float(np.sqrt(model.bulk))
    other = activation(str(point["activation"]).replace("z", f"({root!r}*z)"))
    return _two_errors(model, replace(model, activation=other, spike=model.spike / root, bulk=1.0), root)


def _invariance_claims() -> tuple[Claim, ...]:
    def invariance(
        name: str,
        title: str,
        right: sp.Expr,
        build: Callable[[], Derivation],
        measure: Callable[[Point], Mapping[str, float] | None],
        wrong: Wrong | None = None,
    ) -> Claim:
        return claim(
            f"invariance.{name}", title, paper("Section 3.3"),
            eq(s.error_rescaled, right), _SCALED,
            ByDerivation(build), BySearch("the solver on both problems", measure, SOLVER),
            kind=Kind.FIXED_POINT, wrong=wrong, uses=("result-3-3.free-energy", "result-3-3.marchenko-pastur-V1"),
        )

    return (
        invariance(
            "activation", "sigma -> s sigma with lambda -> s^2 lambda leaves the test error alone", s.test_error,
            partial(invariances.rescaling, invariances.ACTIVATION), _scaled_activation,
            wrong={"scaled by s^2": s.scale**2 * s.test_error, "divided by s": s.test_error / s.scale},
        ),
        invariance(
            "target", "g -> s g with Delta -> s^2 Delta multiplies the test error by s^2", s.scale**2 * s.test_error,
            partial(invariances.rescaling, invariances.TARGET), _scaled_target,
        ),
        invariance(
            "bulk", "(sigma(z), r, c) and (sigma(sqrt(c) z), r/sqrt(c), 1) have the same test error", s.test_error,
            partial(invariances.rescaling, invariances.BULK), _scaled_bulk,
            wrong={"multiplied by c": s.c * s.test_error},
        ),
    )


# ---- both bounds at once ----


def _sandwich_claims() -> tuple[Claim, ...]:
    return (
        claim(
            "bounds.sandwich", "The best test error over the ridge lies between the two bounds, at any alignment",
            paper("Section 4.3"),
            sp.And(ge(s.best_error, lower), le(s.best_error, upper), evaluate=False), TIGHT,
            seek_best, ByTheorem("both bounds", between),
            kind=Kind.INEQUALITY,
            wrong={
                "eight per cent more below": sp.And(ge(s.best_error, MORE * lower), le(s.best_error, upper),
                                                    evaluate=False),
                "eight per cent less above": sp.And(ge(s.best_error, lower), le(s.best_error, upper / MORE),
                                                    evaluate=False),
            },
            uses=("bounds.upper-any-alignment", "bounds.lower-any-alignment"),
        ),
    )


CLAIMS: tuple[Claim, ...] = (
    *_alignment_claims(), *_invariance_claims(), *_sandwich_claims(),
)
