"""Section 3.1: one gradient step turns the first layer into spiked random features (Result 3.1)."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial

import numpy as np
import sympy as sp

from giantsteps.derivations.equivalence import hermite_orders
from giantsteps.derivations.equivalence import symbols as s_map
from giantsteps.derivations.gradient_step import alignment
from giantsteps.derivations.gradient_step import bulk as gradient_bulk
from giantsteps.derivations.gradient_step import spike as gradient_step
from giantsteps.derivations.gradient_step import symbols as s
from giantsteps.derivations.language.derivation import Derivation, Obligation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma_prime
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation, ByObligations, ByTheorem
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import Wrong, claim, eq, le
from giantsteps.verify.second_route.gradient_step import steps
from giantsteps.verify.second_route.grids import INTERPRETATIONS, average

STEP = s.eta / s.beta


# --- the constants ---------------------------------------------------------------------------------------------------

FIRST_COEFFICIENT = claim(
    "result-3-1.first-coefficient", "h1 is the mean of sigma'", paper("Section 3.1, on (12)"),
    eq(s.h1, Expectation(sigma_prime(s.z), s.z)), steps.ONE_NEURON,
    ByDerivation(alignment.first_coefficient),
    ByNumbers("E[z sigma] against E[sigma'], trapezoidal sums", steps.numbers_at, tolerances.ROUNDING,
              functions=steps.functions_at),
    wrong={
        "second moment of sigma'": Expectation(sigma_prime(s.z) ** 2, s.z),
        "E[z sigma']": Expectation(s.z * sigma_prime(s.z), s.z),
    },
)

_coefficients = s.hermite_coefficients


def _polynomial(point: Point) -> dict[str, float]:
    """h1_check of the polynomial with the Hermite coefficients of the point up to its degree, by Gaussian sums."""
    he, degree = np.polynomial.hermite_e, int(str(point["degree"]))
    chosen = _coefficients[: degree + 1]
    normalised = [float(point[c.name]) / math.sqrt(math.factorial(k)) for k, c in enumerate(chosen)]
    slope = he.hermeder(np.array(normalised))
    h1 = average(lambda z: z * he.hermeval(z, normalised))
    return {
        s.h1_check.name: average(lambda z: (he.hermeval(z, slope) - h1) ** 2),
        s_map.series_degree.name: degree,  # an integer: it bounds a sum
    }


def _sum_over_orders(weight: sp.Expr, first: int = 2) -> sp.Expr:
    k = hermite_orders.index
    return sp.Sum(weight * hermite_orders.coefficient(k) ** 2, (k, first, s_map.series_degree))


def _one_more_degree(statement: sp.Basic) -> tuple[Obligation, ...]:
    """A term of degree N + 1 adds sqrt(N + 1) s_{N+1} h_N to sigma', orthogonal to all before; none at degree one."""
    last = s_map.series_degree + 1
    gained = last * hermite_orders.coefficient(last) ** 2
    rules = hermite_orders.rules().obligations
    return (*rules, *hermite_orders.degree_induction(statement.rhs, 1, sp.S.Zero, gained))


_series = _sum_over_orders(hermite_orders.index)

PARSEVAL = claim(
    "result-3-1.hermite-sum", "E[(sigma' - h1)^2] is the sum of k s_k^2 from k = 2 on", paper("Section 3.1", 12),
    eq(s.h1_check, _series),
    Domain(ranges=(Range("degree", choices=("2", "3", "4", "5", "6")), *(Range(c, -1.0, 1.0) for c in _coefficients)),
           hypotheses=("the activation is a polynomial of degree N, for any integer N",),
           interpretations=({"s": lambda k: 0.9 / (1.3 + k)}, {"s": lambda k: 0.4 + 0.1 * np.cos(k)})),
    ByObligations("induction in the degree", _one_more_degree),
    ByNumbers("polynomials of degree 2 to 6 with random coefficients, trapezoidal sums", _polynomial,
              tolerances.ROUNDING, functions=lambda point: {"s": lambda k: float(point[_coefficients[int(k)].name])}),
    wrong={
        "the linear part left in": _sum_over_orders(hermite_orders.index, 1),
        "no factor k": _sum_over_orders(sp.S.One),
        "k - 1 for k": _sum_over_orders(hermite_orders.index - 1),
    },
    uses=("result-3-1.first-coefficient", "hermite.slope", "hermite.slope-parseval"),
    note="Proved for polynomials of any degree. For other activations N is infinite, by completeness of the Hermite "
         "polynomials; what a series of finite degree leaves is exact, hermite.slope-parseval.",
)


def _linear_floor(point: Point) -> dict[str, float]:
    numbers = steps.numbers_at(point)
    target = steps.functions_at(point)["g"]
    slope = numbers[s.h1_star.name]
    return {**numbers, s.linear_floor.name: average(lambda z: (target(z) - slope * z) ** 2)}


LINEAR_FLOOR = claim(
    "result-3-1.linear-floor", "The best linear fit of the target leaves h2* - h1*^2",
    paper("Section 3.1 and Section 4.2, on (12)"),
    eq(s.linear_floor, s.h2_star - s.h1_star**2), steps.ONE_NEURON,
    ByDerivation(alignment.alignment_growth),
    ByNumbers("E(g - h1* z)^2, trapezoidal sums", _linear_floor, tolerances.ROUNDING),
    wrong={"square lost": s.h2_star - s.h1_star},
)


# --- Result 3.1: r and gamma -----------------------------------------------------------------------------------------


def _strength(noise: sp.Expr) -> sp.Expr:
    return STEP * s.h1 * sp.sqrt(s.h1_star**2 + (s.h2_star + noise) / s.alpha0)


def _alignment(noise: sp.Expr) -> sp.Expr:
    return s.h1_star / sp.sqrt(s.h1_star**2 + (s.h2_star + noise) / s.alpha0)


def _bulk(noise: sp.Expr) -> sp.Expr:
    return 1 + STEP**2 * (s.h2_star + noise) / s.alpha0 * s.h1_check


NOISE = 0.5  # variance of the label noise in the simulations with noise

_bare_root = sp.sqrt(s.h1_star + s.h2_star / s.alpha0)

SPIKE = claim(
    "result-3-1.spike-strength", "Result 3.1: the spike strength",
    paper("Section 3.1 and Appendix A.2", 7, 8, 9, 37, 43, 57),
    eq(s.r, _strength(sp.S.Zero)), steps.ABSTRACT,
    ByDerivation(gradient_step.spike), BySimulation("one real gradient step, two models", steps.experiment()),
    kind=Kind.CONCENTRATION,
    wrong={
        "as printed on the slides": s.eta * s.beta * s.h1 * _bare_root,
        "square lost": STEP * s.h1 * _bare_root,
        "batch forgotten": STEP * s.h1 * s.h1_star,
    },
    uses=("result-3-1.spike-factor", "result-3-1.spike-norm", "result-3-1.spike-concentration",
          "result-3-1.overlap-variance"),
)

ALIGNMENT = claim(
    "result-3-1.alignment", "Result 3.1: the alignment of the spike with the target",
    paper("Section 3.1 and Appendix A.3", 10, 45, 58),
    eq(s.gamma, _alignment(sp.S.Zero)), steps.ABSTRACT,
    ByDerivation(gradient_step.spike), BySimulation("one real gradient step, two models", steps.experiment()),
    kind=Kind.CONCENTRATION,
    wrong={"as printed on the slides": s.h1_star / _bare_root, "always one": sp.S.One},
    uses=("result-3-1.overlap-mean", "result-3-1.overlap-variance", "result-3-1.spike-norm",
          "result-3-1.spike-concentration"),
)


def _noisy(
    id_: str, title: str, number: int, statement: sp.Basic, build: Callable[[sp.Expr], Derivation],
    *uses: str, wrong: Wrong,
) -> Claim:  # fmt: skip
    """A constant of Result 3.1 with label noise, which adds to the second moment of the labels."""
    return claim(
        f"result-3-1.{id_}-noisy", f"{title} with label noise: h2* becomes h2* + Delta",
        paper(f"Section 3.1, with label noise, on ({number})"),
        statement, steps.ABSTRACT,
        ByDerivation(partial(build, s.noise)),
        BySimulation("one real gradient step with label noise, two models", steps.experiment(NOISE)),
        kind=Kind.CONCENTRATION,
        wrong=wrong,
        uses=uses,
    )  # fmt: skip


_NOISY_MOMENTS = ("result-3-1.spike-norm-exact-noisy", "result-3-1.spike-concentration-noisy",
                  "result-3-1.overlap-variance-noisy")

SPIKE_NOISY = _noisy(
    "spike-strength", "The spike strength", 9, eq(s.r, _strength(s.noise)), gradient_step.spike,
    "result-3-1.spike-strength", *_NOISY_MOMENTS,
    wrong={
        "noise averages out": _strength(sp.S.Zero),
        "noise in both terms": STEP * s.h1 * sp.sqrt(s.h1_star**2 + s.noise + (s.h2_star + s.noise) / s.alpha0),
    },
)

ALIGNMENT_NOISY = _noisy(
    "alignment", "The alignment", 10, eq(s.gamma, _alignment(s.noise)), gradient_step.spike,
    "result-3-1.alignment", *_NOISY_MOMENTS,
    wrong={"noise averages out": _alignment(sp.S.Zero), "noise not divided by alpha0": _alignment(s.alpha0 * s.noise)},
)


# --- consequences for gamma ------------------------------------------------------------------------------------------


def _square_alignment(point: Point, ratio: complex) -> complex:
    """gamma^2 at a ratio of samples: the overlap of the label-weighted mean sample over its length, squared.

    The length is summed over the pairs of n0 samples in d = 1e14 dimensions, u = theta.x:
    E|(1/n0) sum y x|^2 = (E[y^2] (d - 1) + E[y^2 u^2])/n0 + (1 - 1/n0) E[y u]^2.
    """
    target, d = steps.functions_at(point)["g"], 1e14
    overlap = average(lambda z: z * target(z))
    second, fourth = average(lambda z: target(z) ** 2), average(lambda z: (z * target(z)) ** 2)
    n0 = d * ratio
    return overlap**2 / ((second * (d - 1) + fourth) / n0 + (1 - 1 / n0) * overlap**2)


def _growth(point: Point) -> dict[str, float]:
    """d gamma^2/d alpha0 by a complex step."""
    stepped = _square_alignment(point, complex(float(point[s.alpha0.name]), 1e-30))
    return {**steps.numbers_at(point), s.gamma_square_growth.name: stepped.imag / 1e-30}


def _alignment_at(point: Point) -> dict[str, float]:
    return {s.gamma.name: math.sqrt(_square_alignment(point, complex(float(point[s.alpha0.name]))).real)}


_slope = s.h1_star**2 * s.h2_star / (s.alpha0 * s.h1_star**2 + s.h2_star) ** 2

_ALPHA0 = Range(s.alpha0, 0.1, 30.0, log=True)

ALIGNMENT_GROWTH = claim(
    "result-3-1.alignment-growth", "The alignment grows with the batch: the derivative of gamma^2 in alpha0",
    paper("Section 3.1, after Result 3.1, on (10)"),
    eq(s.gamma_square_growth, _slope),
    Domain(ranges=(*steps.ONE_NEURON.ranges, _ALPHA0), interpretations=INTERPRETATIONS),
    ByDerivation(alignment.alignment_growth),
    ByNumbers("the mean sample by its pairs, complex step in alpha0", _growth, tolerances.ROUNDING),
    wrong={"decreasing": -_slope},
    uses=("result-3-1.alignment",),
    note="That it is not negative, h2* times a square, is a step of the derivation.",
)


ALIGNMENT_BOUND = claim(
    "result-3-1.alignment-bound", "The alignment is below sqrt(alpha0/(1 + alpha0)), with equality for a linear target",
    paper("Section 3.1, consequence of Result 3.1, on (10)"),
    le(s.gamma**2, s.alpha0 / (1 + s.alpha0)),
    Domain((*steps.ONE_NEURON.ranges, _ALPHA0), ("h1* is not zero",), INTERPRETATIONS),
    ByTheorem("h2* >= h1*^2, Bessel's inequality", alignment.alignment_bound),
    ByNumbers("the mean sample by its pairs", _alignment_at, tolerances.ROUNDING),
    wrong={"tighter by a square": (s.alpha0 / (1 + s.alpha0)) ** 2, "tighter by a factor": s.alpha0 / (2 + s.alpha0)},
    uses=("result-3-1.alignment", "result-3-1.linear-floor"),
    note="Sharper than |gamma| <= 1; the bound tends to one as the batch grows.",
)

_slides_bulk = 1 + STEP**2 * s.h1**2 * (s.h2_star / s.alpha0) * s.h1_check

BULK = claim(
    "result-3-1.bulk-variance", "Result 3.1: the bulk variance", paper("Section 3.1 and Appendix A.4", 11, 46, 56, 59),
    eq(s.c, _bulk(sp.S.Zero)), steps.ABSTRACT,
    ByDerivation(gradient_bulk.bulk), BySimulation("one real gradient step, two models", steps.experiment()),
    kind=Kind.CONCENTRATION,
    wrong={
        "as printed on the slides": _slides_bulk,
        "rows keep their norm": sp.S.One,
        "the width forgotten": _bulk(sp.S.Zero).xreplace({s.beta: sp.S.One}),
    },
    uses=("result-3-1.row-correction", "result-3-1.cross-term"),
)

BULK_NOISY = _noisy(
    "bulk-variance", "The bulk variance", 11, eq(s.c, _bulk(s.noise)), gradient_bulk.bulk, "result-3-1.bulk-variance",
    wrong={"noise averages out": _bulk(sp.S.Zero), "noise subtracted": _bulk(-s.noise)},
)

CLAIMS: tuple[Claim, ...] = (
    FIRST_COEFFICIENT, PARSEVAL, LINEAR_FLOOR, SPIKE, ALIGNMENT, SPIKE_NOISY, ALIGNMENT_NOISY, ALIGNMENT_GROWTH,
    ALIGNMENT_BOUND, BULK, BULK_NOISY,
)
