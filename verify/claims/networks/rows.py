"""Beyond the paper: the law of a network's bulk rows after its step, and of the batch that made them.

A conjecture, built by leave-one-out arguments and tested on real networks: what simulation earns is CONFIRMED.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from onestep.derivations.bulk import network as network_bulk
from onestep.derivations.bulk import network_rows
from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation
from onestep.derivations.language.expectation import Expectation
from onestep.derivations.language.named_functions import g, sigma_check
from onestep.verify.checks.kinds import ByDerivation, ByNumbers
from onestep.verify.checks.simulation import BySimulation
from onestep.verify.protocol import tolerances
from onestep.verify.protocol.claim import Claim, Domain, Kind, Mutant, Range, Source
from onestep.verify.second_route.grids import INTERPRETATIONS
from onestep.verify.second_route.networks import draws, numbers

BEYOND = Source("this suite", "beyond the paper: the network's own bulk")
STEP = s.eta / s.beta

STEPS = Domain(
    ranges=(
        Range("activation", choices=("tanh", "erf")),
        Range("target", choices=("tanh", "sin")),
        Range(s.alpha0, 0.7, 20.0, log=True),
        Range("rate", 1.0, 8.0),
        Range(s.beta, 0.4, 3.0, log=True),
        Range(s.V1_hat, 0.1, 5.0, log=True),
        Range("shift", 0.05, 2.0, log=True),
    ),
    interpretations=INTERPRETATIONS,
)

_y = g(s.z)
_s = sigma_check(s.z)


def _mean(integrand: sp.Expr) -> sp.Expr:
    return Expectation(integrand, s.z)


_c2 = _mean(s.z**2 * _s)
_skew = STEP**3 * _mean(_s**3) / s.alpha0**2
_v_square = s.h1_star**2 + s.h2_star / s.alpha0


def _law(id_: str, title: str, statement: sp.Equality, build: Callable[[], Derivation], *mutants: Mutant) -> Claim:
    """A claim on the law of the rows: derived, compared with the solver's averages, measured on real networks."""
    return Claim(
        id=f"beyond.{id_}",
        title=title,
        source=BEYOND,
        kind=Kind.LIMIT,
        statement=statement,
        domain=STEPS,
        checks=(
            ByDerivation(build, conjecture=True),
            ByNumbers(
                "the solver's averages", numbers.solver_law, tolerances.QUADRATURE, functions=numbers.solver_functions
            ),
            BySimulation("rows of real networks, two models", draws.row_experiment),
        ),
        mutants=mutants,
        uses=("result-3-1.bulk-variance",),
    )


_form = 1 + STEP**2 * s.h1_check / s.alpha0 * _mean(s.z**2 * _y**2)
ROW_COVARIANCE = _law(
    "row-covariance",
    "The variance of a bulk row along the target",
    sp.Eq(s.row_form, _form),
    network_rows.covariance,
    Mutant("isotropic, as in the paper", sp.Eq(s.row_form, 1 + STEP**2 * s.h1_check / s.alpha0 * s.h2_star)),
    Mutant("the initial row alone", sp.Eq(s.row_form, sp.S.One)),
)

_h_target = 2 * STEP * _c2 * s.h1_star + _skew * _mean(s.z * _y**3)
NORM_TARGET = _law(
    "norm-along-target",
    "A row's norm covaries with its overlap with the target",
    sp.Eq(s.norm_overlap, _h_target),
    network_rows.norm_covariance,
    Mutant("equal norms, as in the paper", sp.Eq(s.norm_overlap, sp.S.Zero)),
    Mutant("without the third moment", sp.Eq(s.norm_overlap, 2 * STEP * _c2 * s.h1_star)),
)

_h_spike = 2 * STEP * _c2 * _v_square + _skew * (s.h1_star * _mean(s.z * _y**3) + _mean(_y**4) / s.alpha0)
NORM_SPIKE = _law(
    "norm-along-spike",
    "A row's norm covaries with its overlap with the spike",
    sp.Eq(s.norm_spike_overlap, _h_spike),
    network_rows.norm_covariance,
    Mutant("without the batch's noise", sp.Eq(s.norm_spike_overlap, _h_spike.subs(s.h2_star, 0))),
    Mutant("equal norms, as in the paper", sp.Eq(s.norm_spike_overlap, sp.S.Zero)),
)

_variance = 4 * STEP**2 * (
    s.h2_star / s.alpha0 * (_mean(s.z**2 * _s**2) - _c2**2) + _c2**2 * _v_square
) + STEP**4 * (
    _mean(_y**4) * (_mean(_s**4) - s.h1_check**2) / s.alpha0**3 + 2 * s.h2_star**2 * s.h1_check**2 / s.alpha0**2
)  # fmt: skip
NORM_VARIANCE = _law(
    "norm-variance",
    "The variance of a row's squared norm",
    sp.Eq(s.norm_variance, _variance),
    network_rows.norm_variance,
    Mutant("pairs left out", sp.Eq(s.norm_variance, _variance.subs(s.h2_star**2, 0))),
    Mutant("equal norms, as in the paper", sp.Eq(s.norm_variance, sp.S.Zero)),
)

_growth = 1 + STEP**2 * s.h2_star / s.alpha0 * (_mean(s.z**2 * _s**2) - s.h1_check) / 2
GAUSSIAN_VARIANCE = _law(
    "gaussian-rows-variance",
    "The variance of a row's squared norm after a step from Gaussian initial rows",
    sp.Eq(s.norm_variance_gaussian, s.norm_variance + 2 * _growth**2),
    network_rows.gaussian_rows,
    Mutant("the initial norm alone", sp.Eq(s.norm_variance_gaussian, s.norm_variance + 2)),
    Mutant("unit rows", sp.Eq(s.norm_variance_gaussian, s.norm_variance)),
)
_gaussian_spike = s.norm_spike_overlap + STEP * _c2 * _v_square * _growth
GAUSSIAN_SPIKE = _law(
    "gaussian-rows-spike",
    "The covariance of norm and spike overlap after a step from Gaussian initial rows",
    sp.Eq(s.spike_overlap_gaussian, _gaussian_spike),
    network_rows.gaussian_rows,
    Mutant("unit rows", sp.Eq(s.spike_overlap_gaussian, s.norm_spike_overlap)),
    Mutant("norms as before the step", sp.Eq(s.spike_overlap_gaussian, s.norm_spike_overlap + STEP * _c2 * _v_square)),
)

GAUSSIAN_NORMS = Claim(
    id="beyond.gaussian-norms",
    title="The squared norm of a Gaussian row",
    source=BEYOND,
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.row_norm_variance, 2 * s.c**2),
    domain=Domain(ranges=(Range(s.c, 0.5, 5.0),), interpretations=INTERPRETATIONS),
    checks=(ByDerivation(network_rows.gaussian_rows),),
    mutants=(Mutant("square lost", sp.Eq(s.row_norm_variance, 2 * s.c)),),
)

BULK_TRACE = Claim(
    id="beyond.bulk-trace",
    title="The trace of the rows' covariance is the bulk variance of Result 3.1",
    source=BEYOND,
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.c, 1 + s.row_weight * s.h2_star),
    domain=STEPS,
    checks=(
        ByDerivation(network_rows.covariance),
        ByNumbers("the solver's averages", numbers.solver_law, tolerances.QUADRATURE),
    ),
    mutants=(Mutant("one row of the initial layer lost", sp.Eq(s.c, s.row_weight * s.h2_star)),),
    uses=("result-3-1.bulk-variance",),
)

# --- the resolvents --------------------------------------------------------------------------------------------------

_shrunk = 1 + _y**2 * s.leverage
_BATCHES = Domain(
    ranges=(Range(s.batch_shift, 0.3, 2.0), Range(s.leverage, 0.1, 1.0), Range(s.batch_target, 0.3, 1.0)),
    hypotheses=(network_bulk.SAMPLES,),
    interpretations=INTERPRETATIONS,
)


def _batch(
    id_: str,
    title: str,
    statement: sp.Equality,
    *mutants: Mutant,
    build: Callable[[], Derivation] = network_bulk.batch,
) -> Claim:
    return Claim(
        id=f"beyond.{id_}",
        title=title,
        source=BEYOND,
        kind=Kind.LIMIT,
        statement=statement,
        domain=_BATCHES,
        checks=(
            ByDerivation(build),
            BySimulation("batches of two targets", draws.batch_experiment),
        ),
        mutants=mutants,
    )


def _inverse(weight: sp.Expr) -> sp.Expr:
    return 1 / (s.batch_shift + _mean(weight / _shrunk))


TRACE = _batch(
    "batch-trace",
    "The trace of the batch's resolvent",
    sp.Eq(s.batch_trace, _inverse(_y**2)),
    Mutant("no leave-one-out", sp.Eq(s.batch_trace, 1 / (s.batch_shift + _mean(_y**2)))),
)
TARGET = _batch(
    "batch-target",
    "The batch's resolvent along the target",
    sp.Eq(s.batch_target, _inverse(_y**2 * s.z**2)),
    Mutant("isotropic", sp.Eq(s.batch_target, _inverse(_y**2))),
)
MIXED = _batch(
    "batch-mixed",
    "The batch's resolvent between target and v~",
    sp.Eq(s.batch_mixed, s.batch_target * _mean(s.z * _y / _shrunk)),
    Mutant("no leave-one-out", sp.Eq(s.batch_mixed, s.batch_target * _mean(s.z * _y))),
    build=network_bulk.batch_vectors,
)
CUBE = _batch(
    "batch-cube",
    "The batch's resolvent between target and w3",
    sp.Eq(s.batch_cube, s.batch_target * _mean(s.z * _y**3 / _shrunk)),
    Mutant("no leave-one-out", sp.Eq(s.batch_cube, s.batch_target * _mean(s.z * _y**3))),
    build=network_bulk.batch_vectors,
)
_pair = s.batch_target * _mean(s.z * _y / _shrunk) * _mean(s.z * _y**3 / _shrunk) + s.leverage * _mean(_y**4 / _shrunk)
PAIR = _batch(
    "batch-pair",
    "The batch's resolvent between v~ and w3",
    sp.Eq(s.batch_pair, _pair),
    Mutant("no diagonal", sp.Eq(s.batch_pair, _pair.subs(s.leverage * _mean(_y**4 / _shrunk), 0))),
    build=network_bulk.batch_vectors,
)

CLAIMS: tuple[Claim, ...] = (
    BULK_TRACE,
    ROW_COVARIANCE,
    NORM_TARGET,
    NORM_SPIKE,
    NORM_VARIANCE,
    GAUSSIAN_NORMS,
    GAUSSIAN_VARIANCE,
    GAUSSIAN_SPIKE,
    TRACE,
    TARGET,
    MIXED,
    CUBE,
    PAIR,
)
