"""Beyond the paper: one more step on a fresh batch, from any spike, alignment and bulk."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import sympy as sp

from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma_second
from giantsteps.derivations.several_steps import fresh_batch, slope_given_spike
from giantsteps.derivations.several_steps import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Check, Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq, without
from giantsteps.verify.second_route.grids import ANY, ANY_INTERPRETATIONS, TARGETS
from giantsteps.verify.second_route.several_steps import averages, draws
from giantsteps.verify.solver.several_steps import after_steps

SEVERAL = Source("this suite", "beyond the paper: several gradient steps")
STEP = s.eta / s.beta

STATE = (Range(s.r, 0.2, 1.6), Range(s.gamma, -0.9, 0.9), Range(s.c, 0.3, 2.0))
SIZES = (Range(s.alpha0, 1.0, 20.0, log=True), Range("rate", 0.5, 2.0), Range(s.beta, 0.4, 3.0, log=True))
STEPS = Domain(ranges=(Range("activation", choices=("tanh", "erf", "shifted tanh")),
                       Range("target", choices=("tanh", "sin", "shifted sin", "quadratic")), *STATE, *SIZES,
                       Range(s.noise, 0.0, 0.5), Range("steps", choices=("2", "3", "4"))),
               interpretations=ANY_INTERPRETATIONS)
_BATCHES = Domain(ranges=(Range("activation", choices=("quadratic", "cubic")),
                          Range("target", choices=("quadratic", "cubic")),
                          Range("batch", choices=tuple(averages.BATCHES)), *STATE, *SIZES))
_SLOPES = Domain(ranges=(Range("activation", choices=ANY), Range("target", choices=TARGETS), *STATE,
                         Range(s.kappa, -1.5, 1.5)),
                 interpretations=ANY_INTERPRETATIONS)

NAMES = {s.square_next: ("spike", "The squared spike"), s.c_next: ("bulk", "The bulk variance"),
         s.overlap_next: ("overlap", "The overlap of the spike with the target")}


def derived(
    id_: str, title: str, of: sp.Expr, right: sp.Expr | int, build: Callable[[], Derivation],
    checks: Check | tuple[Check, ...], domain: Domain, *uses: str, wrong: Wrong, kind: Kind = Kind.IDENTITY,
    note: str = "",
) -> Claim:  # fmt: skip
    """A claim, derived and checked in other ways; braces in id, title and uses are for what is said after a step."""
    name, subject = NAMES.get(of, ("", ""))
    others = checks if isinstance(checks, tuple) else (checks,)
    return claim(
        f"several-steps.{id_.format(name)}", title.format(subject), SEVERAL,
        eq(of, right), domain,
        ByDerivation(build), *others,
        kind=kind, wrong=wrong, uses=tuple(f"several-steps.{use.format(name)}" for use in uses), note=note,
    )


# --- sigma' given kappa, and exact averages at every n0 and d --------------------------------------------------------

_given = ByNumbers("trapezoidal sums at a value of kappa", averages.slopes_at, tolerances.QUADRATURE,
                   functions=averages.functions_at)
_curved = Expectation(sigma_second(s.r * s.kappa + sp.sqrt(s.c) * s.z), s.z)
SLOPES = tuple(
    derived(f"slope-{id_}", title, of, right, slope_given_spike.decomposition, _given, _SLOPES, wrong=wrong)
    for id_, title, of, right, wrong in (
        ("line", "The linear coefficient of sigma' given kappa is a mean of sigma''", s.bend, _curved,
         {"a root of c too much": sp.sqrt(s.c) * _curved, "the spike forgotten": _curved.subs(s.r, 0)}),
        ("change", "The mean of sigma' along the spike changes by r times its linear coefficient", s.mu1_slope,
         s.r * s.bend, {"in kappa for in r kappa": s.bend, "with the bulk": s.r * s.c * s.bend}),
        ("rest", "What a constant and a line leave of sigma' given kappa", s.rest_square,
         s.slope_variance - s.c * s.bend**2,
         {"the line left in": s.slope_variance, "a root of c lost": s.slope_variance - sp.sqrt(s.c) * s.bend**2}),
    )
)  # fmt: skip

_small = ByNumbers("all inputs of small batches by a product rule", averages.small_batch, tolerances.ROUNDING, points=6)
_force = s.along**2 + s.across**2
_met = s.r**2 + 2 * STEP * s.r * s.along
_once = ((s.d - 2) * s.spike_noise + s.spike_planar) / s.n0
_spike_exact = _met + STEP**2 * ((1 - 1 / s.n0) * _force + _once)
SPIKE_EXACT = derived(
    "spike-exact", "The average of the squared spike over fresh batches of n0 samples in d dimensions", s.spike_square,
    _spike_exact, fresh_batch.spike, _small, _BATCHES,
    wrong={"all pairs alike": _met + STEP**2 * (_force + _once),
           "|x|^2 = d": _met + STEP**2 * ((1 - 1 / s.n0) * _force + s.d * s.spike_noise / s.n0),
           "the spike meets no sample": _spike_exact - 2 * STEP * s.r * s.along},
)
_row_met = s.c * (1 + 2 * STEP * s.stretch)
_row_once = ((s.d - 3) * s.row_noise + s.row_planar) / s.n0
_row_exact = _row_met + STEP**2 * (s.c * (1 - 1 / s.n0) * s.stretch**2 + _row_once)
ROW_EXACT = derived(
    "row-exact", "The average of a bulk row's squared norm over fresh batches, for a row across spike and target",
    s.row_square, _row_exact, fresh_batch.bulk, _small, _BATCHES,
    wrong={"all pairs alike": _row_met + STEP**2 * (s.c * s.stretch**2 + _row_once),
           "only equal samples": _row_met + STEP**2 * _row_once,
           "the row meets no sample": _row_exact - 2 * STEP * s.c * s.stretch},
)

# --- the map of a step -----------------------------------------------------------------------------------------------

_later = (
    ByNumbers("the solver's states", after_steps, tolerances.QUADRATURE, points=8),
    BySimulation("real networks after two and three steps", partial(draws.experiment, draws.LATER)),
)
_forward = s.r + STEP * s.along
_square = _forward**2 + STEP**2 * (s.across**2 + s.spike_noise / s.alpha0)
_across = sp.sqrt(1 - s.gamma**2) * STEP * s.across
_overlap = s.gamma * _forward + _across
SPIKE = derived(
    "spike", "The spike after one more step", s.r_next, sp.sqrt(_square), fresh_batch.spike, _later, STEPS,
    "spike-exact", kind=Kind.CONCENTRATION,
    wrong={"no noise of the batch": sp.sqrt(without(_square, s.spike_noise)),
           "a tenth more noise": sp.sqrt(_square.xreplace({s.spike_noise: sp.Rational(11, 10) * s.spike_noise})),
           "nothing across the spike": sp.sqrt(without(_square, s.across)),
           "uphill along the spike": sp.sqrt(_square.xreplace({s.along: -s.along})),
           "the spike starts anew": sp.sqrt(_square.xreplace({s.r: sp.S.Zero}))},
)
ALIGNMENT = derived(
    "alignment", "The alignment after one more step", s.gamma_next, _overlap / sp.sqrt(_square), fresh_batch.spike,
    _later, STEPS, "spike-exact", kind=Kind.CONCENTRATION,
    wrong={"no noise of the batch": _overlap / sp.sqrt(without(_square, s.spike_noise)), "the old direction": s.gamma,
           "nothing across the spike": without(_overlap, s.across) / sp.sqrt(_square)},
)
_stretched = s.c * (1 + STEP * s.stretch) ** 2
_bulk = _stretched + STEP**2 * s.row_noise / s.alpha0
BULK = derived(
    "bulk", "The bulk variance after one more step", s.c_next, _bulk, fresh_batch.bulk, _later, STEPS, "row-exact",
    kind=Kind.CONCENTRATION,
    wrong={"no noise of the batch": _stretched, "not stretched": s.c + STEP**2 * s.row_noise / s.alpha0,
           "stretched the other way": _bulk.xreplace({s.stretch: -s.stretch}),
           "the whole second moment of sigma'": _stretched + STEP**2 * s.whole_noise / s.alpha0},
)
OVERLAP = derived(
    "overlap", "The noise of the batch adds nothing to the spike's overlap with the target", s.overlap_next, _overlap,
    fresh_batch.spike, _later, STEPS, "alignment",
    wrong={"with noise": _overlap + STEP**2 * s.spike_noise / s.alpha0, "nothing across": without(_overlap, s.across),
           "away from the target": s.gamma * _forward - _across},
    note="alpha0 does not stand in it: on average over batches it is exact at every n0 and d.",
)
_noiseless = _forward**2 + STEP**2 * s.across**2 + _stretched
LAYER = derived(
    "noise", "What a batch adds at random to a row of the first layer", s.layer_next,
    _noiseless + STEP**2 * s.whole_noise / s.alpha0, fresh_batch.both, _later, STEPS, "spike", "bulk",
    kind=Kind.CONCENTRATION,
    wrong={"no noise": _noiseless, "the noise of the spike alone": _square + _stretched,
           "the noise of the bulk alone": without(_square, s.spike_noise) + _bulk},
)

CLAIMS: tuple[Claim, ...] = (*SLOPES, SPIKE_EXACT, ROW_EXACT, SPIKE, ALIGNMENT, BULK, OVERLAP, LAYER)
