"""Claims of Section 4.3 and Appendix E: bounds over the ridge and the learning rate, (26)-(31), (165)-(172)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np
import sympy as sp

from giantsteps.derivations.bounds import heavy_ridge
from giantsteps.derivations.bounds import ridge as bounds
from giantsteps.derivations.bounds import symbols as s
from giantsteps.derivations.free_energy.along_spike import g, mu0, mu1, mu2, y0, y1
from giantsteps.derivations.language import inequalities
from giantsteps.numerics.bounds import ridge as numeric_bounds
from giantsteps.numerics.models.model import Model
from giantsteps.verify.checks.points import ByNumbers, BySearch, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem
from giantsteps.verify.claims.bounds.proofs import (
    above_span,
    at_gamma_one,
    below_limit,
    cauchy_schwarz,
    complete_the_square,
    cross,
    infima_above,
    infima_below,
    noise_of_output,
    norm,
    overlap,
    second,
    second_overlap,
    target_square,
)
from giantsteps.verify.claims.saddle_point.formulas import E
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Role, Source
from giantsteps.verify.protocol.statement import MORE, claim, eq, ge, le
from giantsteps.verify.protocol.tolerances import ASYMPTOTIC, QUADRATURE, SOLVER
from giantsteps.verify.second_route.grids import normal_line
from giantsteps.verify.second_route.models import DOMAIN, GENERIC, functions_at, functions_of, model_at
from giantsteps.verify.solver.models import measured, numbers, solved

SECTION, APPENDIX = "Section 4.3", "Appendix E"

# What the paper states, typed. At gamma = 1, y0 = g and y1 = 0.
upper = target_square - overlap**2 / norm
along = (overlap**2 * second - 2 * overlap * second_overlap * cross + second_overlap**2 * norm) / (
    norm * second - cross**2
)
lower = target_square - along - E(mu1 * y1) ** 2 / E(mu1**2)

# The regime decides alpha, beta and the ridge: few samples make the upper bound tight, many samples and a wide
# network the lower one. A false bound has to be seen where it is tight.
_REGIMES = {
    "generic": (1.5, 1.2, 0.1),
    "few samples": (0.01, 1.0, 0.1),
    "many samples": (3e4, 3e2, 1e-3),
}
_TIGHT_RANGES = (
    Range("activation", choices=("tanh(z)", "erf(z)", "sin(z)", "atan(z)")),
    Range("target", choices=("tanh(z)", "erf(z)", "sin(z)", "z")),
    Range("regime", choices=tuple(_REGIMES)),
    Range(s.noise, 0.0, 0.2),
    Range(s.r, 0.5, 2.0),
    Range(s.c, 0.6, 1.5),
)
TIGHT = Domain((*_TIGHT_RANGES, Range(s.gamma, -1.0, 1.0)), ("odd activation and target",), (GENERIC,))
ALIGNED = Domain(_TIGHT_RANGES, ("gamma = 1, reached as alpha0 -> infinity", "odd activation and target"), (GENERIC,))

# The infimum over the ridge is reached at infinity at times; at this ridge the error is within 1e-9 of its limit.
LARGE = 1e10


def _full(point: Point) -> dict[str, float | str]:
    """A point of a domain with regimes as a point of the models' domain; gamma = 1 where the domain has no gamma."""
    alpha, beta, ridge = _REGIMES[str(point["regime"])]
    given = {k: v for k, v in point.items() if k != "regime"}
    return {s.gamma.name: 1.0, **given, s.alpha.name: alpha, s.beta.name: beta, s.ridge.name: ridge}


def _functions(point: Point) -> Mapping[str, Callable[..., object]]:
    return functions_of(model_at(_full(point)))


@lru_cache(maxsize=1024)
def _best(model: Model) -> float:
    """The least test error over 17 ridges from 1e-4 to 1e4 and one that stands for infinity."""
    errors = [solved(replace(model, ridge=float(x))) for x in (*np.geomspace(1e-4, 1e4, 17), LARGE)]
    return min(e.test_error for e in errors if e.converged)


def _least_error(point: Point) -> Mapping[str, float]:
    model = model_at(_full(point))
    return {s.best_error.name: _best(model), s.noise.name: model.noise}


def _one_error(point: Point) -> Mapping[str, float] | None:
    solution = solved(model_at(_full(point)))
    return numbers(solution) if solution.converged else None


def _large_ridge(point: Point) -> Mapping[str, float] | None:
    """m and test error at ridge 1e5, where corrections are O(1e-5) times ratios up to ten."""
    solution = solved(replace(model_at(point), ridge=1e5))
    if not solution.converged:
        return None
    values = numbers(solution)
    return {**values, s.m_infinity.name: values[s.m.name], s.error_infinity.name: values[s.test_error.name]}


large_ridge = ByNumbers("the solver at ridge 1e5", _large_ridge, ASYMPTOTIC, functions_at, finite_size=True)


def _limit_claims() -> tuple[Claim, ...]:
    return (
        claim(
            "bounds.m-infinity", "The readout mean as the ridge grows: the projection of the target on mu0",
            paper(APPENDIX, 165),
            eq(s.m_infinity, overlap / norm), DOMAIN,
            ByDerivation(heavy_ridge.heavy_ridge), large_ridge,
            kind=Kind.LIMIT, uses=("result-3-3.saddle.m", "result-3-3.isotropic.zeta"),
        ),
        claim(
            "bounds.error-infinity", "The test error as the ridge grows", paper(APPENDIX, 168),
            eq(s.error_infinity, upper), DOMAIN,
            ByDerivation(heavy_ridge.heavy_ridge), large_ridge,
            kind=Kind.LIMIT, uses=("bounds.m-infinity", "result-3-3.test-error"),
        ),
        claim(
            "bounds.projection", "The limit is the least distance of the target from the line through mu0",
            paper(APPENDIX, 167),
            ge(target_square - 2 * s.b1 * overlap + s.b1**2 * norm, upper),
            Domain((*DOMAIN.ranges, Range(s.b1, -3.0, 3.0)), (), (GENERIC,)),
            ByTheorem("completing the square in b1", complete_the_square),
            BySearch("random models and multiples of mu0", measured, QUADRATURE, functions_at),
            wrong={
                "eight per cent more": upper * MORE,
                "norm not squared away": target_square - overlap**2,
                "sign": target_square + overlap**2 / norm,
            },
        ),
    )


seek_best = BySearch("the solver, best of 18 ridges", _least_error, SOLVER, _functions)


def _bound_claims() -> tuple[Claim, ...]:
    # Few models refute some of the mutants, and one ridge is quickly solved: of eight searches of a dozen models six
    # miss the lost kappa, and two the eight per cent more.
    seek_at_kappa = BySearch("the solver at one ridge, one kappa", _one_error, SOLVER, _functions, examples=200)
    seek_any = BySearch("the solver at one ridge", _one_error, SOLVER, _functions, examples=200)
    seek_below = replace(seek_best, examples=100)
    unit_upper, unit_lower = at_gamma_one(upper), at_gamma_one(lower)
    even = E(mu0 * mu1), E(mu1**2), E(mu1 * g(s.kappa))
    printed_along = (
        (E(mu0 * g(s.kappa))) ** 2 * even[1] - 2 * E(mu0 * g(s.kappa)) * even[2] * even[0] + even[2] ** 2 * norm
    ) / (norm * even[1] - even[0] ** 2)
    printed_lower = E(g(s.kappa) ** 2) - printed_along
    return (
        claim(
            "bounds.upper", "Upper bound on the best test error over the ridge, gamma = 1", paper(SECTION, 26),
            le(s.best_error, unit_upper), ALIGNED,
            seek_best, ByTheorem("an infimum is not above a limit", partial(below_limit, at_one=True)),
            wrong={
                "eight per cent less": unit_upper / MORE,
                "norm squared": E(g(s.kappa) ** 2) - E(mu0 * g(s.kappa)) ** 2 / norm**2,
                "the lower bound instead": unit_lower,
            },
            uses=("bounds.error-infinity", "bounds.projection"),
            note="The infimum over the ridge is not above the limit of large ridge, whose value is proved.",
        ),
        claim(
            "bounds.upper-any-alignment", "Upper bound on the best test error over the ridge, any alignment",
            paper(APPENDIX, 169),
            le(s.best_error, upper), TIGHT,
            seek_best, ByTheorem("an infimum is not above a limit", below_limit),
            wrong={"eight per cent less": upper / MORE, "the form of gamma = 1": unit_upper},
            uses=("bounds.error-infinity", "bounds.projection"),
            note="With y0 = E[g | kappa] in place of g: the form printed for gamma = 1 is not a bound below it.",
        ),
        claim(
            "bounds.cauchy-schwarz", "psi^2 is at most q1", paper(APPENDIX, 170),
            le(s.psi**2, s.q1), TIGHT,
            ByTheorem("Cauchy-Schwarz by components", cauchy_schwarz, hypotheses=(inequalities.ONE_READOUT,)),
            seek_any,
            wrong={
                "the other way round": ge(s.psi**2, s.q1),
                "twice psi^2": le(2 * s.psi**2, s.q1),
                "eight per cent more": le(MORE * s.psi**2, s.q1),
            },
        ),
        claim(
            "bounds.output-noise",
            "At every kappa the output varies at given label: mu1^2 (q1 - psi^2) + mu2^2 q2 is not negative",
            paper(APPENDIX, 171),
            ge(mu1**2 * s.q1 + mu2**2 * s.q2 - mu1**2 * s.psi**2, sp.S.Zero),
            Domain((*_TIGHT_RANGES, Range(s.gamma, -1.0, 1.0), Range(s.kappa, -2.0, 2.0)), (), (GENERIC,)),
            seek_at_kappa, ByTheorem("Cauchy-Schwarz", noise_of_output, hypotheses=(inequalities.ONE_READOUT,)),
            wrong={
                "sign of psi^2 q1": ge(mu1**2 * (s.psi**2 - s.q1) - mu2**2 * s.q2, sp.S.Zero),
                "without the square of psi": ge(mu1**2 * s.q1 + mu2**2 * s.q2 - mu1**2 * sp.Abs(s.psi), 0),
            },
            uses=("bounds.cauchy-schwarz",),
        ),
        claim(
            "bounds.distance", "Squared distance of the target from the span of mu0, kappa mu1 and mu1 z",
            paper(SECTION),
            eq(s.distance, lower), DOMAIN,
            ByDerivation(bounds.span),
            ByNumbers("least squares on a grid", _least_squares, QUADRATURE, functions_at),
        ),
        claim(
            "bounds.lower-any-alignment", "The test error is never below the distance from the span, any alignment",
            paper(APPENDIX, 172),
            ge(s.test_error, lower), TIGHT,
            ByTheorem("noise of the readout plus a quadratic form", above_span,
                      hypotheses=(inequalities.ONE_READOUT,)),
            seek_any,
            wrong={
                "eight per cent more": MORE * lower,
                "mu1 z left out": target_square - along,
                "kappa lost": lower.xreplace({s.kappa * mu1 * y0: mu1 * y0}),
            },
            uses=("bounds.cauchy-schwarz", "bounds.distance", "result-3-3.test-error"),
        ),
        claim(
            "bounds.lower", "Lower bound on the best test error over the ridge, gamma = 1", paper(SECTION, 27),
            ge(s.best_error, unit_lower), ALIGNED,
            seek_below,
            ByTheorem("at every ridge, noise of the readout plus a quadratic form", partial(above_span, at_one=True),
                      hypotheses=(inequalities.ONE_READOUT,)),
            wrong={
                "eight per cent more": MORE * unit_lower,
                "the upper bound instead": unit_upper,
                "mu1 for kappa mu1, as on one slide": printed_lower,
            },
            uses=("bounds.lower-any-alignment",),
        ),
        claim(
            "slides.lower-bound-without-kappa", "One slide's lower bound, with mu1 in place of kappa mu1",
            Source("slides", "Bounds on the risk", (27,)),
            ge(s.best_error, printed_lower), ALIGNED,
            seek_best,
            role=Role.PRINTED,
            wrong={"eight per cent more": MORE * printed_lower, "the upper bound instead": unit_upper},
            note="For odd target and activation mu1 is orthogonal to both: the printed bound is the upper bound.",
        ),
    )


def _rate_claims() -> tuple[Claim, ...]:
    """Equations (28)-(31): at gamma = c = 1 the learning rate only moves the spike; everything is taken over it."""
    search = BySearch("the solver and both bounds on 25 spikes", _over_the_spike, SOLVER)
    domain = Domain(ALIGNED.ranges[:4], ("gamma = c = 1, reached as alpha0 -> infinity", "odd activation and target"))
    return (
        claim(
            "bounds.upper-over-rate", "Upper bound on the best test error over ridge and learning rate",
            paper(SECTION, 28, 29),
            le(s.best_error_rate, s.best_upper), domain,
            search, ByTheorem("from the bound at every spike", infima_above),
            wrong={"eight per cent less": s.best_upper / MORE, "the lower bound instead": s.best_lower},
            uses=("bounds.upper",),
        ),
        claim(
            "bounds.lower-over-rate", "Lower bound on the best test error over ridge and learning rate",
            paper(SECTION, 30, 31),
            ge(s.best_error_rate, s.best_lower), domain,
            search, ByTheorem("from the bound at every spike", infima_below),
            wrong={"the upper bound instead": s.best_upper, "three times more": 3 * s.best_lower},
            uses=("bounds.lower",),
        ),
    )


_SPIKES = tuple(float(r) for r in np.linspace(0.2, 5.0, 25))


@lru_cache(maxsize=256)
def _sweep(model: Model) -> tuple[float, float, float]:
    at = [replace(model, spike=r) for r in _SPIKES]
    errors = [solved(replace(x, ridge=ridge)) for x in at for ridge in (1e-3, 1e-2, 0.1, 1.0, 10.0, LARGE)]
    return (
        min(e.test_error for e in errors if e.converged),
        min(numeric_bounds.upper_bound(x) for x in at),
        min(numeric_bounds.lower_bound(x) for x in at),
    )


def _over_the_spike(point: Point) -> Mapping[str, float]:
    error, above, below = _sweep(model_at(_full({**point, s.r.name: 1.0, s.c.name: 1.0})))
    return {s.best_error_rate.name: error, s.best_upper.name: above, s.best_lower.name: below}


def _least_squares(point: Point) -> Mapping[str, float]:
    """The distance by numpy's least squares on a product grid of kappa and z, target evaluated directly."""
    model = model_at(point)
    line, weight = normal_line(0.1)
    kappa, across = (x.ravel() for x in np.meshgrid(line, line, indexing="ij"))
    root = np.sqrt(np.multiply.outer(weight, weight).ravel())
    functions = functions_of(model)
    student = {name: np.repeat(functions[name](line), line.size) for name in ("mu0", "mu1")}
    width = np.sqrt((1 - model.alignment) * (1 + model.alignment))
    target = functions["g"](model.alignment * kappa + width * across)
    columns = np.stack([student["mu0"], kappa * student["mu1"], student["mu1"] * across], axis=1) * root[:, None]
    solution = np.linalg.lstsq(columns, root * target, rcond=None)[0]
    rest = root * target - columns @ solution
    return {s.distance.name: float(rest @ rest), s.noise.name: model.noise}


CLAIMS: tuple[Claim, ...] = (*_limit_claims(), *_bound_claims(), *_rate_claims())
