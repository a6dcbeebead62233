"""Beyond the paper: what follows from several steps on fresh batches, from the first one to the last."""

from __future__ import annotations

from functools import partial

import sympy as sp

from giantsteps.derivations.bulk import symbols as s_bulk
from giantsteps.derivations.several_steps import descent, erf_flow, first_step, long_spikes, same_batch
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.several_steps.step import NAMES, SIZES, STATE, STEP, STEPS, derived
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import Wrong, without
from giantsteps.verify.second_route.gradient_step.steps import ABSTRACT
from giantsteps.verify.second_route.several_steps import averages, draws
from giantsteps.verify.solver.several_steps import reused_batch

# --- the first step --------------------------------------------------------------------------------------------------


def _first(of: sp.Symbol, right: sp.Expr, odd: bool, *, wrong: Wrong) -> Claim:
    """A number of the state after the first step, without a spike and with rows of length one before it."""
    models, build = (draws.ODD, first_step.odd) if odd else (draws.FIRST, first_step.any_activation)
    return derived(
        "first-odd-{}" if odd else "first-{}",
        f"{{}} after the first of several steps, with {'an odd' if odd else 'any'} activation", of, right, build,
        BySimulation("real networks after one step", partial(draws.experiment, models)), ABSTRACT, "{}",
        kind=Kind.IDENTITY if of == s.overlap_next else Kind.CONCENTRATION, wrong=wrong,
        note="Result 3.1." if odd else "The claims beyond.any-*, by another derivation.",
    )


_slope, _mean, _moment = s_bulk.label_slope[1], s_bulk.label_moment[1], s_bulk.label_moment[2]
_size, _kept = STEP**2 * s.h1**2, (1 + STEP * s_bulk.curvature * _mean) ** 2
_noise, _seen = STEP**2 * s.h1_check / s.alpha0, s.h2_star + s.noise
FIRST = (
    _first(s.square_next, _size * (_slope**2 + _moment / s.alpha0), False,
           wrong={"batch forgotten": _size * _slope**2, "square lost": _size * (_slope + _moment / s.alpha0)}),
    _first(s.overlap_next, STEP * s.h1 * _slope, False,
           wrong={"the other way": -STEP * s.h1 * _slope, "the slope forgotten": STEP * _slope}),
    _first(s.c_next, _kept + _noise * _moment, False,
           wrong={"not stretched": 1 + _noise * _moment, "no noise of the batch": _kept}),
    _first(s.square_next, _size * (s.h1_star**2 + _seen / s.alpha0), True,
           wrong={"batch forgotten": _size * s.h1_star**2,
                  "labels without noise": _size * (s.h1_star**2 + s.h2_star / s.alpha0)}),
    _first(s.overlap_next, STEP * s.h1 * s.h1_star, True,
           wrong={"the slope forgotten": STEP * s.h1_star, "the target's square": STEP * s.h1 * s.h2_star}),
    _first(s.c_next, 1 + _noise * _seen, True,
           wrong={"rows keep their norm": sp.S.One, "labels without noise": 1 + _noise * s.h2_star}),
)

# --- gradient descent on the error of the best approximation ---------------------------------------------------------

_LOSS = ("l(rho, q) = (1/2) E (y - (P_{q^2} sigma)(rho.x))^2, rho in the plane of spike and target, q = sqrt(c): the "
         "error of the best approximation of the labels by functions P_c sigma(r .) of one direction.")
_slopes = ByNumbers("slopes of the loss by complex steps", averages.descent_at, tolerances.QUADRATURE)
LOSS = tuple(
    derived(f"loss-{place}", f"The slope of the loss {words}", of, right, descent.descent, _slopes, STEPS, note=_LOSS,
        wrong={"uphill": -right, slip: other})
    for place, words, of, right, slip, other in (
        ("along", "along the spike", s.loss_along, -s.along, "across", -s.across),
        ("across", "across the spike", s.loss_across, -s.across, "along", -s.along),
        ("width", "in the width of the bulk", s.loss_width, -sp.sqrt(s.c) * s.stretch, "in c for its root",
         -s.stretch / 2),
    )
)  # fmt: skip
_down = (s.r - STEP * s.loss_along) ** 2 + STEP**2 * s.loss_across**2
_spike_noise, _row_noise = (STEP**2 * noise / s.alpha0 for noise in (s.spike_noise, s.row_noise))
_turned = s.gamma * (s.r - STEP * s.loss_along)
_narrower = (sp.sqrt(s.c) - STEP * s.loss_width) ** 2
DESCENT = tuple(
    derived("descent-{}", f"{{}} takes a step of gradient descent, {noise}", of, right, descent.descent, _slopes, STEPS,
        "{}", "loss-along", "loss-across", "loss-width", wrong=wrong)
    for of, noise, right, wrong in (
        (s.square_next, "and noise of the batch", _down + _spike_noise,
         {"without noise": _down, "up the slope": _down + 4 * STEP * s.r * s.loss_along + _spike_noise}),
        (s.overlap_next, "alone", _turned - sp.sqrt(1 - s.gamma**2) * STEP * s.loss_across,
         {"along the spike alone": _turned, "nothing moves": s.gamma * s.r}),
        (s.c_next, "and noise of the batch", _narrower + _row_noise,
         {"without noise": _narrower, "c for its root": s.c - STEP * s.loss_width + _row_noise}),
    )
)  # fmt: skip

_FITS = Domain(ranges=(Range(s.c, 0.3, 2.0), *SIZES), interpretations=STEPS.interpretations)
_fits = ByNumbers("an erf student that says an erf target", averages.fit_at, tolerances.QUADRATURE)
FIT = tuple(
    derived("fit-{}", "{} stays where it is at a perfect fit, whatever the batch", of, before, descent.perfect_fit,
        _fits, _FITS, "{}", wrong={"shrinks": before / (1 + STEP), "noise stays": before + STEP**2 / s.alpha0},
        note="gamma = 1, labels without noise, g = P_c sigma(r .): at any rate the residual of every sample is zero.")
    for of, before in ((s.square_next, s.r**2), (s.c_next, s.c))
)  # fmt: skip

# --- many small batches, and how the alignment starts ----------------------------------------------------------------

_ONE_PASS = Domain(ranges=(*STEPS.ranges, Range(s.small_rate, 0.3, 2.0)), interpretations=STEPS.interpretations)
_few = ByNumbers("a batch of alpha0 = 1e-5", averages.drift_at, tolerances.ASYMPTOTIC, finite_size=True)
_turn = s.small_rate * (s.gamma * s.along + sp.sqrt(1 - s.gamma**2) * s.across)
_pull, _widen = 2 * s.small_rate * s.r * s.along, 2 * s.small_rate * s.c * s.stretch
_shot, _row_shot = (s.small_rate**2 * noise for noise in (s.spike_noise, s.row_noise))
ONE_PASS = tuple(
    derived(f"one-pass-{name}", f"{NAMES[after][1]} drifts over many small batches", of, right, descent.one_pass, _few,
        _ONE_PASS, name, kind=Kind.LIMIT, wrong=wrong,
        note="alpha0 -> 0 at a rate epsilon alpha0: the equations of one-pass stochastic gradient descent, per "
             "sample and dimension.")
    for after, name, of, right, wrong in (
        (s.square_next, "spike", s.spike_drift, _pull + _shot, {"no noise": _pull, "half the pull": _pull / 2 + _shot}),
        (s.overlap_next, "overlap", s.overlap_drift, _turn,
         {"nothing across": without(_turn, s.across), "with noise": _turn + _shot}),
        (s.c_next, "bulk", s.bulk_drift, _widen + _row_shot,
         {"no noise": _widen, "half the stretch": _widen / 2 + _row_shot}),
    )
)  # fmt: skip
START = derived(
    "start-of-alignment", "On fresh batches the alignment starts from the target's first coefficient alone",
    s.overlap_next, STEP * s.h1_star * s.slope_mean, descent.start_of_the_alignment,
    ByNumbers("sums over grids without an alignment", averages.blind_at, tolerances.QUADRATURE),
    Domain(ranges=(*STEPS.ranges[:3], *STEPS.ranges[4:]), interpretations=STEPS.interpretations), "overlap",
    wrong={"its second moment": STEP * s.h2_star * s.slope_mean, "the slope forgotten": STEP * s.h1_star},
    note="Where gamma = 0 and h1* = 0, information exponent above one, gamma stays zero on fresh batches at any step.",
)

_TWICE = Domain(ranges=(Range("activation", choices=("gelu", "softplus")), Range(s.alpha0, 0.5, 5.0)))
REUSED = derived(
    "reused-batch", "On a batch that is used twice the alignment starts from the label's square", s.reused_turn,
    s_bulk.label_slope[2] * s.slope_curve / s.alpha0, same_batch.overlap,
    ByNumbers("the solver's state after two steps on one batch", reused_batch, tolerances.ASYMPTOTIC, points=3,
              finite_size=True), _TWICE,
    "start-of-alignment", kind=Kind.LIMIT,
    wrong={"as on fresh batches": sp.S.Zero, "batch forgotten": s_bulk.label_slope[2] * s.slope_curve,
           "the other way": -s_bulk.label_slope[2] * s.slope_curve / s.alpha0},
    note="E[u Y] = 0: fresh batches leave gamma at zero. Each step is one of a small rate e; an odd student needs "
         "further orders of e.",
)

# --- where it blows up -----------------------------------------------------------------------------------------------

_LONG = Domain(ranges=(Range(s.slope_right, 0.5, 1.5), Range(s.slope_left, 0.0, 0.5), *STATE[1:], *SIZES,
                       Range(s.noise, 0.0, 0.5), Range("target", choices=("tanh", "sin", "quadratic"))),
               interpretations=STEPS.interpretations)
_second, _fourth = (s.slope_right**k + s.slope_left**k for k in (2, 4))
_drawn = (1 - STEP * _second / 2) ** 2
GROWTH = derived(
    "growth", "By what a long spike of a piecewise linear student grows in one step, whatever the target",
    s.growth_square, _drawn + STEP**2 * _fourth / (2 * s.alpha0), long_spikes.growth,
    ByNumbers("a spike of length 1e5", averages.growth_at, tolerances.ASYMPTOTIC, finite_size=True), _LONG, "spike",
    kind=Kind.LIMIT,
    wrong={"without the batch": _drawn, "both sides counted twice": _drawn + STEP**2 * _fourth / s.alpha0,
           "the square of the squares": _drawn + STEP**2 * _second**2 / (2 * s.alpha0)},
    note="What counts is what sigma' tends to far out: relu, gelu and softplus have s+ = 1, s- = 0.",
)
_critical = 4 * s.alpha0 * _second / (s.alpha0 * _second**2 + 2 * _fourth)
CRITICAL = derived(
    "blow-up", "The rate eta/beta beyond which long spikes of a piecewise linear student grow", s.critical_rate,
    _critical, long_spikes.critical_rate,
    ByNumbers("the rate that keeps a spike of length 1e5", averages.critical_at, tolerances.ASYMPTOTIC,
              finite_size=True),
    _LONG, "growth", kind=Kind.LIMIT,
    wrong={"an infinite batch": 4 / _second, "half": _critical / 2,
           "the batch counted once": 4 * s.alpha0 * _second / (s.alpha0 * _second**2 + _fourth)},
    note="relu, gelu, softplus: 4 alpha0/(alpha0 + 2); linear: 2 alpha0/(alpha0 + 1).",
)

# --- an erf student --------------------------------------------------------------------------------------------------

_ERF = Domain(ranges=(Range("activation", choices=("erf",)), *STEPS.ranges[1:]), interpretations=STEPS.interpretations)
_tied = -2 * s.r * s.along / (1 + 2 * s.c)
ERF_STRETCH = derived(
    "erf-stretch", "A row of an erf student is stretched as its spike is pulled, whatever the target", s.stretch, _tied,
    erf_flow.tie, _slopes, _ERF,
    wrong={"the other way": -_tied, "a narrower bell": -2 * s.r * s.along / (1 + s.c), "half": _tied / 2},
)
ERF_CONSERVED = derived(
    "erf-conserved", "Gradient flow of an erf student conserves r^2 + c + (1/2) ln c, whatever the target",
    s.flow_drift, 0, erf_flow.tie, _slopes, _ERF, "erf-stretch", "loss-along", "loss-width",
    wrong={"the spike moves alone": 2 * s.r * s.along, "ln c left out": -s.stretch, "c left out": -2 * s.c * s.stretch},
)
ERF_END = derived(
    "erf-end", "Where gradient flow of an erf student of an erf target ends: c = W(6)/6", sp.log(s.bulk_end),
    -6 * s.bulk_end, erf_flow.end,
    ByNumbers("the flow, integrated", averages.flow_end_at, tolerances.QUADRATURE, points=1),
    Domain(ranges=(Range("seed"),)), "erf-conserved",
    wrong={"ln c for its half": -3 * s.bulk_end, "r^2 = 1 + c": -4 * s.bulk_end},
    note="c = 0.238734, r^2 = 1 + 2 c, r = 1.215512: several steps lead to the perfect fit that one step is tuned for.",
)

CLAIMS: tuple[Claim, ...] = (
    *FIRST, *LOSS, *DESCENT, *FIT, *ONE_PASS, START, REUSED, GROWTH, CRITICAL, ERF_STRETCH, ERF_CONSERVED, ERF_END,
)
