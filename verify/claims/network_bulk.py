"""Beyond the paper: a network's own bulk, whose rows are neither isotropic nor of equal norm.

A conjecture, built by leave-one-out arguments and tested on real networks: what simulation earns is CONFIRMED.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import sympy as sp

from derivations import network_bulk, network_rows
from derivations import symbols as s
from derivations.derivation import Derivation
from derivations.expectation import Expectation
from derivations.named_functions import g, sigma, sigma_check
from derivations.network_bulk import PREDICTION
from verify import tolerances
from verify.checks import ByDerivation, ByNumbers, BySearch
from verify.claim import Claim, Domain, Kind, Mutant, Range, Source
from verify.claims import network_numbers as numbers
from verify.claims.brute_force import INTERPRETATIONS
from verify.claims.models import GENERIC
from verify.simulation_check import BySimulation

BEYOND = Source("this suite", "beyond the paper: the network's own bulk")
STEP = s.eta / s.beta

_y = g(s.z)
_s = sigma_check(s.z)


def _mean(integrand: sp.Expr) -> sp.Expr:
    return Expectation(integrand, s.z)


_c2 = _mean(s.z**2 * _s)
_skew = STEP**3 * _mean(_s**3) / s.alpha0**2
_v_square = s.h1_star**2 + s.h2_star / s.alpha0

_STEPS = Domain(
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


def _law(
    id_: str, title: str, statement: sp.Equality, build: Callable[[], Derivation], statistic: str, *mutants: Mutant
) -> Claim:
    """A claim on the law of the rows: derived, compared with the solver's averages, measured on real networks."""
    return Claim(
        id=f"beyond.{id_}",
        title=title,
        source=BEYOND,
        kind=Kind.LIMIT,
        statement=statement,
        domain=_STEPS,
        checks=(
            ByDerivation(build),
            ByNumbers(
                "the solver's averages", numbers.solver_law, tolerances.QUADRATURE, functions=numbers.solver_functions
            ),
            BySimulation("rows of real networks, two models", partial(numbers.row_experiment, statistic)),
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
    "covariance",
    Mutant("isotropic, as in the paper", sp.Eq(s.row_form, 1 + STEP**2 * s.h1_check / s.alpha0 * s.h2_star)),
    Mutant("the initial row alone", sp.Eq(s.row_form, sp.S.One)),
)

_h_target = 2 * STEP * _c2 * s.h1_star + _skew * _mean(s.z * _y**3)
NORM_TARGET = _law(
    "norm-along-target",
    "A row's norm covaries with its overlap with the target",
    sp.Eq(s.norm_overlap, _h_target),
    network_rows.norm_covariance,
    "target",
    Mutant("equal norms, as in the paper", sp.Eq(s.norm_overlap, sp.S.Zero)),
    Mutant("without the third moment", sp.Eq(s.norm_overlap, 2 * STEP * _c2 * s.h1_star)),
)

_h_spike = 2 * STEP * _c2 * _v_square + _skew * (s.h1_star * _mean(s.z * _y**3) + _mean(_y**4) / s.alpha0)
NORM_SPIKE = _law(
    "norm-along-spike",
    "A row's norm covaries with its overlap with the spike",
    sp.Eq(s.norm_spike_overlap, _h_spike),
    network_rows.norm_covariance,
    "spike",
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
    "variance",
    Mutant("pairs left out", sp.Eq(s.norm_variance, _variance.subs(s.h2_star**2, 0))),
    Mutant("equal norms, as in the paper", sp.Eq(s.norm_variance, sp.S.Zero)),
)

_growth = 1 + STEP**2 * s.h2_star / s.alpha0 * (_mean(s.z**2 * _s**2) - s.h1_check) / 2
GAUSSIAN_VARIANCE = _law(
    "gaussian-rows-variance",
    "The variance of a row's squared norm after a step from Gaussian initial rows",
    sp.Eq(s.norm_variance_gaussian, s.norm_variance + 2 * _growth**2),
    network_rows.gaussian_rows,
    "variance gaussian",
    Mutant("the initial norm alone", sp.Eq(s.norm_variance_gaussian, s.norm_variance + 2)),
    Mutant("unit rows", sp.Eq(s.norm_variance_gaussian, s.norm_variance)),
)
_gaussian_spike = s.norm_spike_overlap + STEP * _c2 * _v_square * _growth
GAUSSIAN_SPIKE = _law(
    "gaussian-rows-spike",
    "The covariance of norm and spike overlap after a step from Gaussian initial rows",
    sp.Eq(s.spike_overlap_gaussian, _gaussian_spike),
    network_rows.gaussian_rows,
    "spike gaussian",
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
    domain=_STEPS,
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
    column: int,
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
            BySimulation("batches of two targets", partial(numbers.batch_experiment, column)),
        ),
        mutants=mutants,
    )


def _inverse(weight: sp.Expr) -> sp.Expr:
    return 1 / (s.batch_shift + _mean(weight / _shrunk))


TRACE = _batch(
    "batch-trace",
    "The trace of the batch's resolvent",
    0,
    sp.Eq(s.batch_trace, _inverse(_y**2)),
    Mutant("no leave-one-out", sp.Eq(s.batch_trace, 1 / (s.batch_shift + _mean(_y**2)))),
)
TARGET = _batch(
    "batch-target",
    "The batch's resolvent along the target",
    1,
    sp.Eq(s.batch_target, _inverse(_y**2 * s.z**2)),
    Mutant("isotropic", sp.Eq(s.batch_target, _inverse(_y**2))),
)
MIXED = _batch(
    "batch-mixed",
    "The batch's resolvent between target and v~",
    2,
    sp.Eq(s.batch_mixed, s.batch_target * _mean(s.z * _y / _shrunk)),
    Mutant("no leave-one-out", sp.Eq(s.batch_mixed, s.batch_target * _mean(s.z * _y))),
    build=network_bulk.batch_vectors,
)
CUBE = _batch(
    "batch-cube",
    "The batch's resolvent between target and w3",
    3,
    sp.Eq(s.batch_cube, s.batch_target * _mean(s.z * _y**3 / _shrunk)),
    Mutant("no leave-one-out", sp.Eq(s.batch_cube, s.batch_target * _mean(s.z * _y**3))),
    build=network_bulk.batch_vectors,
)
_pair = s.batch_target * _mean(s.z * _y / _shrunk) * _mean(s.z * _y**3 / _shrunk) + s.leverage * _mean(_y**4 / _shrunk)
PAIR = _batch(
    "batch-pair",
    "The batch's resolvent between v~ and w3",
    4,
    sp.Eq(s.batch_pair, _pair),
    Mutant("no diagonal", sp.Eq(s.batch_pair, _pair.subs(s.leverage * _mean(_y**4 / _shrunk), 0))),
    build=network_bulk.batch_vectors,
)

_ROWS = Domain(ranges=_STEPS.ranges, hypotheses=(network_bulk.ROWS,), interpretations=INTERPRETATIONS)


_BOTH = tuple(numbers.BULK_MODELS)
_ONE = _BOTH[1:]
_TOO_SMALL = (
    "No simulation here: this overlap is a few per cent of the geometric mean of its diagonal entries, too small to be"
    " measured to the protocol's precision at an affordable size."
)


def _bulk(
    id_: str,
    title: str,
    statement: sp.Equality,
    build: Callable[[], Derivation],
    *mutants: Mutant,
    models: tuple[str, ...] = _BOTH,
) -> Claim:
    names = {1: "one model", 2: "two models"}
    measured = partial(numbers.bulk_experiment, str(statement.lhs), models)
    simulated = (BySimulation(f"rows of real networks, {names[len(models)]}", measured),) if models else ()
    return Claim(
        id=f"beyond.{id_}",
        title=title,
        source=BEYOND,
        kind=Kind.LIMIT,
        statement=statement,
        domain=_ROWS,
        checks=(
            ByDerivation(build),
            ByNumbers("the solver's equivalent", numbers.solver_bulk, tolerances.SOLVER),
            *simulated,
        ),
        mutants=mutants,
        note="" if models else _TOO_SMALL,
        uses=("beyond.row-covariance", "beyond.batch-trace"),
    )


_shift = s.ridge + s.V2_hat
TAU = _bulk(
    "V2",
    "The trace of the readout's resolvent",
    sp.Eq(s.V2, 1 / (_shift + s.V1_hat * (1 - s.row_trace) / s.gain)),
    network_bulk.rows,
    Mutant("the trace of the inverse lost", sp.Eq(s.V2, 1 / (_shift + s.V1_hat / s.gain))),
)
WIDTH = _bulk(
    "V1",
    "The trace of W W^T against the readout's resolvent",
    sp.Eq(s.V1, (1 - _shift * s.V2) / s.V1_hat),
    network_bulk.width,
    Mutant("without the ridge", sp.Eq(s.V1, (1 - s.V2_hat * s.V2) / s.V1_hat)),
)

_unit = s.beta * s.V2
OVERLAPS = tuple(
    _bulk(f"overlap-{id_}", title, sp.Eq(symbol, formula), network_bulk.overlaps, *mutants, models=models)
    for id_, title, symbol, formula, mutants, models in (
        (
            "spike",
            "The overlap of the spike direction",
            s.overlap_vv,
            _unit * (1 - s.row_vv) / (s.gain * s.row_vv),
            (Mutant("the spike left in the bulk", sp.Eq(s.overlap_vv, _unit * (1 - s.row_vv) / s.gain)),),
            _BOTH,
        ),
        (
            "spike-target",
            "The overlap of spike direction and target",
            s.overlap_vp,
            -_unit * s.row_vp / (s.gain * s.row_vv),
            (Mutant("isotropic", sp.Eq(s.overlap_vp, sp.S.Zero)),),
            (),
        ),
        (
            "target",
            "The overlap of the target across the spike",
            s.overlap_pp,
            _unit * (1 - s.row_pp + s.row_vp**2 / s.row_vv) / s.gain,
            (Mutant("the spike left in the bulk", sp.Eq(s.overlap_pp, _unit * (1 - s.row_pp) / s.gain)),),
            _BOTH,
        ),
        (
            "spike-norm",
            "The overlap of spike direction and norms",
            s.overlap_vd,
            _unit * s.row_vh / s.row_vv,
            (Mutant("the spike left in the bulk", sp.Eq(s.overlap_vd, _unit * s.row_vh)),),
            _ONE,
        ),
        (
            "target-norm",
            "The overlap of target and norms",
            s.overlap_pd,
            _unit * (s.row_ph - s.row_vp * s.row_vh / s.row_vv),
            (Mutant("the spike left in the bulk", sp.Eq(s.overlap_pd, _unit * s.row_ph)),),
            (),
        ),
        (
            "norm",
            "The overlap of the norms with themselves",
            s.overlap_dd,
            _unit * (s.norm_variance - s.gain * (s.row_hh - s.row_vh**2 / s.row_vv)),
            (Mutant("norms independent of the rows", sp.Eq(s.overlap_dd, _unit * s.norm_variance)),),
            _ONE,
        ),
    )
)

# --- the readout -----------------------------------------------------------------------------------------------------

_argument = s.r * s.kappa + sp.sqrt(s.c) * s.z
THIRD = Claim(
    id="beyond.third-function",
    title="The function of kappa that a readout gains from unequal norms",
    source=BEYOND,
    kind=Kind.IDENTITY,
    statement=sp.Eq(s.third, _mean((s.z**2 - 1) * sigma(_argument)) / (2 * s.c)),
    domain=Domain(
        ranges=(Range("activation", choices=("tanh", "sin", "erf")), Range("target", choices=("sin",)),
                Range(s.r, 0.3, 3.0), Range(s.c, 0.6, 3.0), Range(s.kappa, -2.0, 2.0)),
        interpretations=INTERPRETATIONS,
    ),
    checks=(
        ByDerivation(network_bulk.third_function),
        ByNumbers("central differences of mu0 in c", numbers.third_at, tolerances.FINITE_DIFFERENCE,
                  functions=numbers.third_functions),
    ),
    mutants=(
        Mutant("without the -1", sp.Eq(s.third, _mean(s.z**2 * sigma(_argument)) / (2 * s.c))),
        Mutant("without the c", sp.Eq(s.third, _mean((s.z**2 - 1) * sigma(_argument)) / 2)),
    ),
    uses=("result-3-2.heat-equation",),
)  # fmt: skip

_mu0, _mu1, _mu2 = (sp.Function(f"mu{k}", real=True)(s.kappa) for k in range(3))
_y0, _y1, _y2 = (sp.Function(f"y{k}", real=True)(s.kappa) for k in range(3))
_k2 = sp.Function("k2", real=True)(s.kappa)

_e2 = (
    _y2 - 2 * _y0 * PREDICTION + PREDICTION**2 - 2 * _y1 * _mu1 * s.psi + _mu1**2 * s.q1 + _mu2**2 * s.q2
)  # fmt: skip
_V = _mu1**2 * s.V1 + _mu2**2 * s.V2
_GENERIC = {**GENERIC, "k2": GENERIC["mu0"]}
_READOUTS = Domain(
    ranges=(
        Range("activation", choices=("tanh", "erf")),
        Range("target", choices=("tanh", "sin")),
        Range(s.alpha, 0.5, 3.0, log=True),
        Range(s.beta, 0.5, 2.0, log=True),
        Range(s.ridge, 0.02, 1.0, log=True),
        Range(s.noise, 0.0, 0.0),
        Range(s.alpha0, 2.0, 30.0, log=True),
        Range("rate", 1.0, 8.0),
    ),
    interpretations=(_GENERIC,),
)


def _error(id_: str, title: str, symbol: sp.Symbol, formula: sp.Expr, plain: sp.Symbol, observable: str) -> Claim:
    e_minus = formula - s.noise if symbol == s.test_error else formula
    return Claim(
        id=f"beyond.{id_}",
        title=title,
        source=BEYOND,
        kind=Kind.LIMIT,
        statement=sp.Eq(symbol, e_minus),
        domain=_READOUTS,
        checks=(
            BySimulation("readouts of real networks, two models", partial(numbers.readout_experiment, observable)),
            ByNumbers(
                "the solver's own rules", numbers.solved_network, tolerances.SOLVER, functions=numbers.solved_functions,
                points=6,
            ),
        ),
        mutants=(
            Mutant("the isotropic bulk of the paper", sp.Eq(symbol, plain)),
            Mutant("without the third function", sp.Eq(symbol, e_minus.subs(s.chi, 0))),
        ),
        uses=("beyond.third-function", "beyond.V2", "beyond.V1", *(claim.id for claim in OVERLAPS)),
    )  # fmt: skip


TEST_ERROR = _error(
    "test-error",
    "The test error of a network",
    s.test_error,
    Expectation(_e2, s.kappa),
    s.error_isotropic,
    "test_error",
)
TRAINING_ERROR = _error(
    "training-error",
    "The training error of a network",
    s.training_error,
    Expectation(_e2 / (1 + _V) ** 2, s.kappa),
    s.training_isotropic,
    "training_error",
)

# E[mu0 (y0 - yhat)/(1 + V)] = 0, solved for m.
MEAN = _error(
    "readout-mean",
    "The mean of a network's readout",
    s.m,
    Expectation(_mu0 * (_y0 - s.kappa * _mu1 * s.zeta - _k2 * s.chi) / (1 + _V), s.kappa)
    / Expectation(_mu0**2 / (1 + _V), s.kappa),
    s.m_isotropic,
    "m",
)

_WELL_FED = Domain(
    ranges=(
        Range("activation", choices=("tanh", "erf")),
        Range("target", choices=("tanh", "sin")),
        Range(s.alpha, 1e7, 1e8, log=True),
        Range(s.beta, 300.0, 1000.0, log=True),
        Range(s.ridge, 1e-4, 1e-3, log=True),
        Range(s.noise, 0.0, 0.0),
        Range(s.alpha0, 1e3, 1e4, log=True),
        Range("rate", 2.0, 8.0),
    ),
)
FLOOR = Claim(
    id="beyond.floor",
    title="No network gets below the distance to three functions",
    source=BEYOND,
    kind=Kind.INEQUALITY,
    statement=sp.Ge(s.test_error, s.distance_third),
    domain=_WELL_FED,
    checks=(BySearch("the solver with many samples and neurons", numbers.floor_numbers, tolerances.QUADRATURE),),
    mutants=(
        Mutant("eight per cent more", sp.Ge(s.test_error, sp.Rational(27, 25) * s.distance_third)),
        Mutant("root for square", sp.Ge(s.test_error, sp.sqrt(s.distance_third))),
    ),
    uses=("beyond.test-error",),
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
    TAU,
    WIDTH,
    *OVERLAPS,
    THIRD,
    MEAN,
    TEST_ERROR,
    TRAINING_ERROR,
    FLOOR,
)
