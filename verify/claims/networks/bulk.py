"""Beyond the paper: the readout of a network, whose bulk rows are neither isotropic nor of equal norm.

A conjecture, built by leave-one-out arguments and tested on real networks: what simulation earns is CONFIRMED.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import sympy as sp
from sympy.core.relational import Relational

from giantsteps.derivations.bounds.network import ONE_LETTER, Readout, floor
from giantsteps.derivations.bulk import network as network_bulk
from giantsteps.derivations.bulk import network_rows
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.free_energy.along_spike import mu0, mu1, y0
from giantsteps.derivations.kernel.algebra import order
from giantsteps.derivations.kernel.theorem import Theorem
from giantsteps.derivations.language import inequalities
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import sigma, sigma_check
from giantsteps.verify.checks.points import ByNumbers, BySearch
from giantsteps.verify.checks.proofs import ByDerivation, ByTheorem, said
from giantsteps.verify.checks.simulation import BySimulation, Experiment, together
from giantsteps.verify.claims.networks.rows import BEYOND, STEP, STEPS
from giantsteps.verify.claims.saddle_point.formulas import V, e2_of, fit
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import MORE, Wrong, claim, eq, ge, without
from giantsteps.verify.second_route.equivalence import twins
from giantsteps.verify.second_route.grids import INTERPRETATIONS
from giantsteps.verify.second_route.models import GENERIC
from giantsteps.verify.second_route.networks import draws, one_letter_rows
from giantsteps.verify.second_route.networks.letter_networks import third_at
from giantsteps.verify.second_route.networks.step import bulk_at, functions_at
from giantsteps.verify.solver.models import beside
from giantsteps.verify.solver.networks import floor_numbers, limits, of_networks, solved_large_batch, solver_bulk

_ROWS = Domain(ranges=STEPS.ranges, hypotheses=(network_bulk.ROWS,), interpretations=INTERPRETATIONS)

_BOTH = tuple(draws.BULK_MODELS)
_ONE = _BOTH[1:]
OF_TWINS = (
    "Measured as the difference from an isotropic twin on the same draws, whose limit is that of Result 3.3. The "
    "difference is a few per cent of the whole. An error that both theories share is not detected by it, and five per "
    "cent of the whole is detected by the limit of the twin. The twin has the network's rows without their measured "
    "covariance, so that it does not depend on the theory's covariance."
)
_TURNED = (
    "On real networks this overlap is at most a sixth of the geometric mean of its diagonal entries: the quick profile "
    "measures it on rows of a law under which it is large, the others on real networks too, less that of their rows "
    "made even."
)
_TOO_SMALL = (
    "On real networks this overlap is a few per cent of the geometric mean of its diagonal entries, too small to be "
    "measured to the protocol's precision at an affordable size: it is measured on rows of a law under which it is "
    "large."
)
_SMALL_TERMS = (
    "On real networks the terms that tell this from simpler formulas are small: it is measured on them, and on rows of "
    "a law under which these terms are large."
)
DRAWN = "rows drawn with given covariances and norms, two laws"
_OFF_DIAGONAL = {
    "overlap-spike-target": (BySimulation(DRAWN, twins.spike_and_target), _TURNED),
    "overlap-target-norm": (BySimulation(DRAWN, one_letter_rows.DRAWN_ROWS), _TOO_SMALL),
}


def of_rows(symbol: sp.Symbol, measured: Experiment, models: int) -> tuple[BySimulation, str]:
    """An entry of K, measured on rows of real networks, and beside the first but on drawn ones; what the note says."""
    names = f"rows of real networks, {('one model', 'two models')[models - 1]}"
    if symbol not in one_letter_rows.COLUMNS:
        return BySimulation(names, measured), ""
    both = partial(together, (measured, one_letter_rows.DRAWN_ROWS))
    return BySimulation(f"{names}, and {DRAWN}", both), _SMALL_TERMS


EQUIVALENT = beside("the bulk's equivalent, compiled, against the solver", solver_bulk, bulk_at)


def _bulk(
    id_: str,
    title: str,
    statement: sp.Equality,
    build: Callable[[], Derivation],
    *, wrong: Wrong,
    models: tuple[str, ...] = _BOTH,
) -> Claim:
    simulated, note = _OFF_DIAGONAL.get(id_) or of_rows(statement.lhs, draws.bulks(*models), len(models))
    return claim(
        f"beyond.{id_}", title, BEYOND,
        statement, _ROWS,
        ByDerivation(build), EQUIVALENT, simulated,
        kind=Kind.LIMIT, wrong=wrong, uses=("beyond.row-covariance", "beyond.batch-trace"),
        note=note,
    )


_shift = s.ridge + s.V2_hat
TAU = _bulk(
    "V2", "The trace of the readout's resolvent", eq(s.V2, 1 / (_shift + s.V1_hat * (1 - s.row_trace) / s.gain)),
    network_bulk.rows,
    wrong={"the trace of the inverse lost": 1 / (_shift + s.V1_hat / s.gain)},
)
WIDTH = _bulk(
    "V1", "The trace of W W^T against the readout's resolvent", eq(s.V1, (1 - _shift * s.V2) / s.V1_hat),
    network_bulk.width,
    wrong={"without the ridge": (1 - s.V2_hat * s.V2) / s.V1_hat},
)

_unit = s.beta * s.V2
OVERLAPS = tuple(
    _bulk(
        f"overlap-{id_}", title, eq(symbol, formula), network_bulk.overlaps,
        # The simulation alone has to notice a fifth.
        wrong={**wrong, "a fifth less": sp.Rational(4, 5) * formula}, models=models,
    )
    for id_, title, symbol, formula, wrong, models in (
        ("spike", "The overlap of the spike direction", s.overlap_vv,
         _unit * (1 - s.row_vv) / (s.gain * s.row_vv),
         {"the spike left in the bulk": _unit * (1 - s.row_vv) / s.gain}, _BOTH),
        ("spike-target", "The overlap of spike direction and target", s.overlap_vp,
         -_unit * s.row_vp / (s.gain * s.row_vv),
         {"isotropic": sp.S.Zero}, ()),
        ("target", "The overlap of the target across the spike", s.overlap_pp,
         _unit * (1 - s.row_pp + s.row_vp**2 / s.row_vv) / s.gain,
         {"the spike left in the bulk": _unit * (1 - s.row_pp) / s.gain}, _BOTH),
        ("spike-norm", "The overlap of spike direction and norms", s.overlap_vd,
         _unit * s.row_vh / s.row_vv,
         {"the spike left in the bulk": _unit * s.row_vh}, _ONE),
        ("target-norm", "The overlap of target and norms", s.overlap_pd,
         _unit * (s.row_ph - s.row_vp * s.row_vh / s.row_vv),
         {"the spike left in the bulk": _unit * s.row_ph}, ()),
        ("norm", "The overlap of the norms with themselves", s.overlap_dd,
         _unit * (s.norm_variance - s.gain * (s.row_hh - s.row_vh**2 / s.row_vv)),
         {"norms independent of the rows": _unit * s.norm_variance}, _ONE),
    )
)

# --- the readout -----------------------------------------------------------------------------------------------------

_argument = s.r * s.kappa + sp.sqrt(s.c) * s.z
THIRD = claim(
    "beyond.third-function", "The function of kappa that a readout gains from unequal norms", BEYOND,
    eq(s.third, Expectation((s.z**2 - 1) * sigma(_argument), s.z) / (2 * s.c)),
    Domain(ranges=(Range("activation", choices=("tanh", "sin", "erf")), Range("target", choices=("sin",)),
                   Range(s.r, 0.3, 3.0), Range(s.c, 0.6, 3.0), Range(s.kappa, -2.0, 2.0)),
           interpretations=INTERPRETATIONS),
    ByDerivation(network_bulk.third_function),
    ByNumbers("central differences of mu0 in c", partial(third_at, c=s.c, third=s.third), tolerances.FINITE_DIFFERENCE,
              functions=functions_at),
    wrong={
        "without the -1": Expectation(s.z**2 * sigma(_argument), s.z) / (2 * s.c),
        "without the c": Expectation((s.z**2 - 1) * sigma(_argument), s.z) / 2,
    },
    uses=("result-3-2.heat-equation",),
)

_k2 = sp.Function("k2", real=True)(s.kappa)
OUTPUT = fit + _k2 * s.chi
_e2 = e2_of(OUTPUT)
GENERIC_WITH_THIRD = {**GENERIC, "k2": GENERIC["mu0"]}
_READOUTS = Domain(ranges=(Range("activation", choices=("tanh", "erf")), Range("target", choices=("tanh", "sin")),
                           Range(s.alpha, 0.5, 3.0, log=True), Range(s.beta, 0.5, 2.0, log=True),
                           Range(s.ridge, 0.02, 1.0, log=True), Range(s.noise, 0.0, 0.0),
                           Range(s.alpha0, 2.0, 30.0, log=True), Range("rate", 1.0, 8.0)),
                   interpretations=(GENERIC_WITH_THIRD,))
# One experiment for all three, each recalled.
_MEASURED = partial(twins.beside_twins, twins.NETWORKS, limits)


def _error(
    id_: str,
    title: str,
    symbol: sp.Symbol,
    formula: sp.Expr,
    plain: sp.Symbol,
    build: Callable[[], Derivation] = network_bulk.errors,
) -> Claim:
    e_minus = formula - s.noise if symbol == s.test_error else formula
    return claim(
        f"beyond.{id_}", title, BEYOND,
        eq(symbol, e_minus), _READOUTS,
        BySimulation("real networks beside their isotropic twins, two models", _MEASURED), ByDerivation(build),
        of_networks("the readout of a network"),
        kind=Kind.LIMIT,
        wrong={"the isotropic bulk of the paper": plain, "without the third function": without(e_minus, s.chi)},
        # Result 3.3 is the limit of the twin.
        uses=("beyond.third-function", "beyond.V2", "beyond.V1", *(c.id for c in OVERLAPS),
              "result-3-3.test-error", "result-3-3.training-error"),
        note=OF_TWINS,
    )


TEST_ERROR = _error(
    "test-error", "The test error of a network", s.test_error, Expectation(_e2, s.kappa), s.error_isotropic,
)
TRAINING_ERROR = _error(
    "training-error", "The training error of a network", s.training_error, Expectation(_e2 / (1 + V) ** 2, s.kappa),
    s.training_isotropic,
)

# E[mu0 (y0 - yhat)/(1 + V)] = 0, solved for m.
MEAN = _error(
    "readout-mean", "The mean of a network's readout", s.m,
    Expectation(mu0 * (y0 - s.kappa * mu1 * s.zeta - _k2 * s.chi) / (1 + V), s.kappa)
    / Expectation(mu0**2 / (1 + V), s.kappa),
    s.m_isotropic, network_bulk.readout_mean,
)

_WELL_FED = Domain(ranges=(Range("activation", choices=("tanh", "erf")), Range("target", choices=("tanh", "sin")),
                           Range(s.alpha, 1e7, 1e8, log=True), Range(s.beta, 300.0, 1000.0, log=True),
                           Range(s.ridge, 1e-4, 1e-3, log=True), Range(s.noise, 0.0, 0.0),
                           Range(s.alpha0, 1e3, 1e4, log=True), Range("rate", 2.0, 8.0)))
_LARGE_BATCH = Domain(ranges=(*(r for r in _READOUTS.ranges if r.name != s.alpha0.name),
                              Range(s.alpha0, 1e4, 1e6, log=True)),
                      interpretations=INTERPRETATIONS)
LARGE_BATCH = claim(
    "beyond.large-batch", "With a large batch the norms follow the overlaps with the spike", BEYOND,
    eq(s.chi, 2 * STEP * Expectation(s.z**2 * sigma_check(s.z), s.z) * s.h1_star * s.zeta), _LARGE_BATCH,
    ByDerivation(network_rows.large_batch),
    ByNumbers("the solver at alpha0 from 1e4 on", solved_large_batch, tolerances.ASYMPTOTIC,
              functions=functions_at, points=6),
    wrong={"equal norms": sp.S.Zero},
    uses=("beyond.norm-variance", "beyond.overlap-norm"),
    note="So the three functions of the floor act as two there, mu0 and kappa mu1 + 2 e E[z^2 s] h1* k2: the floor is "
         "not attained in this limit, and the network does not become the isotropic model.",
)


def above_span(readout: Readout, statement: Relational) -> Theorem:
    """test error >= distance: a mean square of what the readout combines, and squares."""
    return order(floor(readout).theorems[-1:], said(statement), (sp.Integer(1),))


FLOOR = claim(
    "beyond.floor", "No network gets below the distance to three functions", BEYOND,
    ge(s.test_error, s.distance_third), _WELL_FED,
    BySearch("the solver with many samples and neurons", floor_numbers, tolerances.QUADRATURE),
    ByTheorem("an infimum and a sum of squares", partial(above_span, ONE_LETTER),
              hypotheses=(network_bulk.ROWS, network_bulk.WITH_NORMS, inequalities.ONE_READOUT)),
    wrong={"eight per cent more": MORE * s.distance_third, "root for square": sp.sqrt(s.distance_third)},
    uses=("beyond.test-error",),
)

CLAIMS: tuple[Claim, ...] = (
    TAU, WIDTH, *OVERLAPS, THIRD, MEAN, TEST_ERROR, TRAINING_ERROR, LARGE_BATCH, FLOOR,
)
