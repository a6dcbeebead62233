"""Beyond the paper: what follows from several steps on fresh batches, from the first one to the last."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import sympy as sp

from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.several_steps import descent, erf_flow, first_step, long_spikes
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.several_steps.step import SEVERAL, SIZES, STATE, STEP, STEPS
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import Wrong, claim, eq, without
from giantsteps.verify.second_route.gradient_step.steps import ABSTRACT
from giantsteps.verify.second_route.several_steps import averages, draws

# --- the first step --------------------------------------------------------------------------------------------------

_IDS = {s.square_next: "spike", s.overlap_next: "overlap", s.c_next: "bulk"}
_TITLES = {s.square_next: "The squared spike", s.overlap_next: "The overlap of the spike with the target",
           s.c_next: "The bulk variance"}


def _first(
    kind: str, title: str, of: sp.Symbol, right: sp.Expr, build: Callable[[], Derivation], models: draws.Models,
    uses: str, *, wrong: Wrong,
) -> Claim:
    """A number of the state after the first step, without a spike and with rows of length one before it."""
    return claim(
        f"several-steps.{kind}-{_IDS[of]}", f"{_TITLES[of]} after the first of several steps, {title}", SEVERAL,
        eq(of, right), ABSTRACT,
        ByDerivation(build), BySimulation("real networks after one step", partial(draws.experiment, models)),
        kind=Kind.IDENTITY if of == s.overlap_next else Kind.CONCENTRATION, wrong=wrong,
        uses=(f"several-steps.{_IDS[of]}",), note=f"The step of {uses}.",
    )


_slope, _mean, _moment = s_bulk.label_slope[1], s_bulk.label_moment[1], s_bulk.label_moment[2]
_kept = (1 + STEP * s_bulk.curvature * _mean) ** 2
FIRST = tuple(
    _first("first", "with any activation", of, right, first_step.any_activation, draws.FIRST, uses, wrong=wrong)
    for of, right, uses, wrong in (
        (s.square_next, STEP**2 * s.h1**2 * (_slope**2 + _moment / s.alpha0), "beyond.any-spike-strength",
         {"batch forgotten": STEP**2 * s.h1**2 * _slope**2, "square lost": STEP * s.h1 * (_slope**2 + _moment / s.alpha0)}),
        (s.overlap_next, STEP * s.h1 * _slope, "beyond.any-alignment",
         {"the other way": -STEP * s.h1 * _slope, "the slope forgotten": STEP * _slope}),
        (s.c_next, _kept + STEP**2 * s.h1_check * _moment / s.alpha0, "beyond.any-bulk-variance",
         {"not stretched": 1 + STEP**2 * s.h1_check * _moment / s.alpha0, "no noise of the batch": _kept}),
    )
)  # fmt: skip
_seen = s.h2_star + s.noise
FIRST_ODD = tuple(
    _first("first-odd", "with an odd activation", of, right, first_step.odd, draws.ODD, uses, wrong=wrong)
    for of, right, uses, wrong in (
        (s.square_next, STEP**2 * s.h1**2 * (s.h1_star**2 + _seen / s.alpha0), "result-3-1.spike-strength",
         {"noise averages out": STEP**2 * s.h1**2 * (s.h1_star**2 + s.h2_star / s.alpha0),
          "batch forgotten": STEP**2 * s.h1**2 * s.h1_star**2}),
        (s.overlap_next, STEP * s.h1 * s.h1_star, "result-3-1.alignment",
         {"the slope forgotten": STEP * s.h1_star, "the target's second moment": STEP * s.h1 * s.h2_star}),
        (s.c_next, 1 + STEP**2 * _seen * s.h1_check / s.alpha0, "result-3-1.bulk-variance",
         {"rows keep their norm": sp.S.One, "noise averages out": 1 + STEP**2 * s.h2_star * s.h1_check / s.alpha0}),
    )
)  # fmt: skip

# --- gradient descent on the error of the best approximation ---------------------------------------------------------

_ENTIRE = Domain(ranges=(Range("activation", choices=("tanh", "erf", "shifted tanh")), *STEPS.ranges[1:]),
                 interpretations=STEPS.interpretations)


def _descent(
    id_: str, title: str, statement: sp.Equality, build: Callable[[], Derivation] = descent.descent,
    *uses: str, wrong: Wrong, kind: Kind = Kind.IDENTITY, domain: Domain = _ENTIRE, note: str = "",
) -> Claim:  # fmt: skip
    return claim(
        f"several-steps.{id_}", title, SEVERAL, statement, domain,
        ByDerivation(build),
        ByNumbers("slopes of the loss by complex steps", averages.descent_at, tolerances.QUADRATURE),
        kind=kind, wrong=wrong, uses=uses, note=note,
    )


_LOSS = ("l(rho, q) = (1/2) E (y - (P_{q^2} sigma)(rho.x))^2, rho in the plane of spike and target, q = sqrt(c): the "
         "error of the best approximation of the labels by functions P_c sigma(r .) of one direction.")
LOSS_ALONG = _descent("loss-along", "The slope of the loss along the spike", eq(s.loss_along, -s.along), note=_LOSS,
                      wrong={"uphill": s.along, "across": -s.across})
LOSS_ACROSS = _descent("loss-across", "The slope of the loss across the spike", eq(s.loss_across, -s.across),
                       note=_LOSS, wrong={"uphill": s.across, "along": -s.along})
LOSS_WIDTH = _descent("loss-width", "The slope of the loss in the width of the bulk",
                      eq(s.loss_width, -sp.sqrt(s.c) * s.stretch), note=_LOSS,
                      wrong={"uphill": sp.sqrt(s.c) * s.stretch, "in c for its root": -s.stretch / 2})
_down = (s.r - STEP * s.loss_along) ** 2 + STEP**2 * s.loss_across**2
DESCENT_SPIKE = _descent(
    "descent-spike", "The spike takes a step of gradient descent, and noise of the batch",
    eq(s.square_next, _down + STEP**2 * s.spike_noise / s.alpha0), descent.descent, "several-steps.spike",
    wrong={"without noise": _down, "up the slope": _down + 4 * STEP * s.r * s.loss_along
           + STEP**2 * s.spike_noise / s.alpha0},
)
DESCENT_OVERLAP = _descent(
    "descent-overlap", "The spike's overlap with the target takes a step of gradient descent alone",
    eq(s.overlap_next, s.gamma * (s.r - STEP * s.loss_along) - sp.sqrt(1 - s.gamma**2) * STEP * s.loss_across),
    descent.descent, "several-steps.overlap",
    wrong={"along the spike alone": s.gamma * (s.r - STEP * s.loss_along), "nothing moves": s.gamma * s.r},
)
_narrower = (sp.sqrt(s.c) - STEP * s.loss_width) ** 2
DESCENT_BULK = _descent(
    "descent-bulk", "The width of the bulk takes a step of gradient descent, and noise of the batch",
    eq(s.c_next, _narrower + STEP**2 * s.row_noise / s.alpha0), descent.descent, "several-steps.bulk",
    wrong={"without noise": _narrower, "c for its root": s.c - STEP * s.loss_width + STEP**2 * s.row_noise / s.alpha0},
)

_FITS = Domain(ranges=(Range(s.c, 0.3, 2.0), *SIZES), interpretations=STEPS.interpretations)


def _fit(of: sp.Symbol, before: sp.Expr) -> Claim:
    return claim(
        f"several-steps.fit-{_IDS[of]}", f"{_TITLES[of]} stays where it is at a perfect fit, whatever the batch", SEVERAL,
        eq(of, before), _FITS,
        ByDerivation(descent.perfect_fit),
        ByNumbers("an erf student that says an erf target", averages.fit_at, tolerances.QUADRATURE),
        wrong={"shrinks": before / (1 + STEP), "noise stays": before + STEP**2 / s.alpha0},
        uses=(f"several-steps.{_IDS[of]}",),
        note="gamma = 1, labels without noise and g = P_c sigma(r .): at any rate the residual of every sample is zero.",
    )


FIT = (_fit(s.square_next, s.r**2), _fit(s.c_next, s.c))

# --- many small batches, and how the alignment starts ----------------------------------------------------------------

_ONE_PASS = Domain(ranges=(*STEPS.ranges, Range(s.small_rate, 0.3, 2.0)), interpretations=STEPS.interpretations)


def _drift(id_: str, title: str, statement: sp.Equality, uses: str, *, wrong: Wrong) -> Claim:
    return claim(
        f"several-steps.one-pass-{id_}", title, SEVERAL, statement, _ONE_PASS,
        ByDerivation(descent.one_pass),
        ByNumbers("a batch of alpha0 = 1e-5", averages.drift_at, tolerances.ASYMPTOTIC, finite_size=True),
        kind=Kind.LIMIT, wrong=wrong, uses=(uses,),
        note="Batches of alpha0 d samples with alpha0 -> 0 at a rate epsilon alpha0: the equations of one-pass "
             "stochastic gradient descent in the samples seen per dimension.",
    )


_spike_drift = 2 * s.small_rate * s.r * s.along + s.small_rate**2 * s.spike_noise
DRIFT_SPIKE = _drift(
    "spike", "How the squared spike drifts over many small batches", eq(s.spike_drift, _spike_drift), "several-steps.spike",
    wrong={"no noise": without(_spike_drift, s.spike_noise), "half the pull": _spike_drift - s.small_rate * s.r * s.along},
)
_turn = sp.sqrt(1 - s.gamma**2) * s.across
DRIFT_OVERLAP = _drift(
    "overlap", "How the spike's overlap with the target drifts over many small batches",
    eq(s.overlap_drift, s.small_rate * (s.gamma * s.along + _turn)), "several-steps.overlap",
    wrong={"nothing across": s.small_rate * s.gamma * s.along,
           "with noise": s.small_rate * (s.gamma * s.along + _turn) + s.small_rate**2 * s.spike_noise},
)
_bulk_drift = 2 * s.small_rate * s.c * s.stretch + s.small_rate**2 * s.row_noise
DRIFT_BULK = _drift(
    "bulk", "How the bulk variance drifts over many small batches", eq(s.bulk_drift, _bulk_drift), "several-steps.bulk",
    wrong={"no noise": without(_bulk_drift, s.row_noise), "half the stretch": _bulk_drift - s.small_rate * s.c * s.stretch},
)
_BLIND = Domain(ranges=(*STEPS.ranges[:3], *STEPS.ranges[4:]), interpretations=STEPS.interpretations)
START = claim(
    "several-steps.start-of-alignment", "On fresh batches the alignment starts from the target's first coefficient alone",
    SEVERAL, eq(s.overlap_next, STEP * s.h1_star * s.slope_mean), _BLIND,
    ByDerivation(descent.start_of_the_alignment),
    ByNumbers("sums over grids without an alignment", averages.blind_at, tolerances.QUADRATURE),
    wrong={"its second moment": STEP * s.h2_star * s.slope_mean, "the slope forgotten": STEP * s.h1_star},
    uses=("several-steps.overlap",),
    note="Where gamma = 0 and h1* = 0, information exponent above one, gamma stays zero on fresh batches at every step.",
)

# --- where it blows up -----------------------------------------------------------------------------------------------

_LONG = Domain(ranges=(Range(s.slope_right, 0.5, 1.5), Range(s.slope_left, 0.0, 0.5), *STATE[1:], *SIZES,
                       Range(s.noise, 0.0, 0.5), Range("target", choices=("tanh", "sin", "quadratic"))),
               interpretations=STEPS.interpretations)
_second, _fourth = (s.slope_right**k + s.slope_left**k for k in (2, 4))
_growth = (1 - STEP * _second / 2) ** 2 + STEP**2 * _fourth / (2 * s.alpha0)
GROWTH = claim(
    "several-steps.growth", "By what a long spike of a piecewise linear student grows in one step, whatever the target",
    SEVERAL, eq(s.growth_square, _growth), _LONG,
    ByDerivation(long_spikes.growth),
    ByNumbers("a spike of length 1e5", averages.growth_at, tolerances.ASYMPTOTIC, finite_size=True),
    kind=Kind.LIMIT,
    wrong={"without the batch": (1 - STEP * _second / 2) ** 2,
           "both sides counted twice": (1 - STEP * _second) ** 2 + STEP**2 * _fourth / s.alpha0,
           "the square of the squares": (1 - STEP * _second / 2) ** 2 + STEP**2 * _second**2 / (2 * s.alpha0)},
    uses=("several-steps.spike",),
    note="sigma' -> s+ and s- far out is all that counts: relu, gelu, softplus have s+ = 1, s- = 0.",
)
_critical = 4 * s.alpha0 * _second / (s.alpha0 * _second**2 + 2 * _fourth)
CRITICAL = claim(
    "several-steps.blow-up", "The rate eta/beta beyond which long spikes of a piecewise linear student grow", SEVERAL,
    eq(s.critical_rate, _critical), _LONG,
    ByDerivation(long_spikes.critical_rate),
    ByNumbers("the rate at which a spike of length 1e5 keeps its length", averages.critical_at, tolerances.ASYMPTOTIC,
              finite_size=True),
    kind=Kind.LIMIT,
    wrong={"an infinite batch": 4 / _second, "the batch counted once": 4 * s.alpha0 * _second
           / (s.alpha0 * _second**2 + _fourth), "half": _critical / 2},
    uses=("several-steps.growth",),
    note="relu, gelu, softplus: 4 alpha0/(alpha0 + 2); linear: 2 alpha0/(alpha0 + 1).",
)

# --- an erf student --------------------------------------------------------------------------------------------------

_ERF = Domain(ranges=(Range("activation", choices=("erf",)), *STEPS.ranges[1:]), interpretations=STEPS.interpretations)
_stretch = -2 * s.r * s.along / (1 + 2 * s.c)
ERF_STRETCH = _descent(
    "erf-stretch", "A row of an erf student is stretched as its spike is pulled, whatever the target",
    eq(s.stretch, _stretch), erf_flow.tie, domain=_ERF,
    wrong={"the other way": -_stretch, "a narrower bell": -2 * s.r * s.along / (1 + s.c), "half": _stretch / 2},
)
ERF_CONSERVED = _descent(
    "erf-conserved", "Gradient flow of an erf student conserves r^2 + c + (1/2) ln c, whatever the target",
    eq(s.flow_drift, 0), erf_flow.tie, "several-steps.erf-stretch", "several-steps.loss-along",
    "several-steps.loss-width", domain=_ERF,
    wrong={"the spike moves alone": 2 * s.r * s.along, "ln c left out": -s.stretch, "c left out": -2 * s.c * s.stretch},
)
ERF_END = claim(
    "several-steps.erf-end", "Where gradient flow of an erf student of an erf target ends: c = W(6)/6", SEVERAL,
    eq(sp.log(s.bulk_end), -6 * s.bulk_end), Domain(ranges=(Range("seed"),)),
    ByDerivation(erf_flow.end),
    ByNumbers("the flow, integrated", averages.flow_end_at, tolerances.QUADRATURE, points=1),
    wrong={"ln c for its half": -3 * s.bulk_end, "r^2 = 1 + c": -4 * s.bulk_end},
    uses=("several-steps.erf-conserved",),
    note="c = 0.238734, r^2 = 1 + 2 c, r = 1.215512: several steps lead to the perfect learning that one step has to be "
         "tuned for.",
)

CLAIMS: tuple[Claim, ...] = (
    *FIRST, *FIRST_ODD, LOSS_ALONG, LOSS_ACROSS, LOSS_WIDTH, DESCENT_SPIKE, DESCENT_OVERLAP, DESCENT_BULK, *FIT,
    DRIFT_SPIKE, DRIFT_OVERLAP, DRIFT_BULK, START, GROWTH, CRITICAL, ERF_STRETCH, ERF_CONSERVED, ERF_END,
)
