"""Beyond the paper: the law of a network's bulk rows after its step, and of the batch that made them.

A conjecture, built by leave-one-out arguments and tested on real networks: what simulation earns is CONFIRMED.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import sympy as sp

from giantsteps.derivations.bulk import network as network_bulk
from giantsteps.derivations.bulk import network_rows
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.named_functions import g, sigma_check
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.saddle_point.formulas import over_z as _mean
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq, without
from giantsteps.verify.second_route.grids import INTERPRETATIONS
from giantsteps.verify.second_route.networks import draws
from giantsteps.verify.second_route.networks.step import functions_at, hermite_law_at
from giantsteps.verify.solver.models import beside
from giantsteps.verify.solver.networks import odd_law

BEYOND = Source("this suite", "beyond the paper: the network's own bulk")
STEP = s.eta / s.beta

STEPS = Domain(ranges=(Range("activation", choices=("tanh", "erf")), Range("target", choices=("tanh", "sin")),
                       Range(s.alpha0, 0.7, 20.0, log=True), Range("rate", 1.0, 8.0), Range(s.beta, 0.4, 3.0, log=True),
                       Range(s.V1_hat, 0.1, 5.0, log=True), Range("shift", 0.05, 2.0, log=True)),
               interpretations=INTERPRETATIONS)

_y = g(s.z)
_s = sigma_check(s.z)


_c2 = _mean(s.z**2 * _s)
_skew = STEP**3 * _mean(_s**3) / s.alpha0**2
_v_square = s.h1_star**2 + s.h2_star / s.alpha0


def _law(id_: str, title: str, statement: sp.Equality, build: Callable[[], Derivation], *, wrong: Wrong) -> Claim:
    """A claim on the law of the rows: derived, compared with the solver's averages, measured on real networks."""
    rows = draws.GAUSSIAN_ROWS if statement.lhs in draws.GAUSSIAN_ROWS.columns else draws.ROWS
    return claim(
        f"beyond.{id_}", title, BEYOND,
        statement, STEPS,
        ByDerivation(build, conjecture=True),
        beside("the law of the rows, compiled, against the solver", odd_law, hermite_law_at,
               functions_at, tolerances.QUADRATURE, points=12),
        BySimulation("rows of real networks, two batches at two rates", rows),
        kind=Kind.LIMIT, wrong=wrong, uses=("result-3-1.bulk-variance",),
    )


def _each_less(terms: Mapping[str, sp.Expr]) -> dict[str, sp.Expr]:
    """The sum of terms with one of them a fifth less, each in turn: the simulation alone has to notice."""
    total = sum(terms.values())
    return {f"{name} a fifth less": total - term / 5 for name, term in terms.items()}


_form = 1 + STEP**2 * s.h1_check / s.alpha0 * _mean(s.z**2 * _y**2)
ROW_COVARIANCE = _law(
    "row-covariance", "The variance of a bulk row along the target", eq(s.row_form, _form), network_rows.covariance,
    wrong={
        "isotropic, as in the paper": 1 + STEP**2 * s.h1_check / s.alpha0 * s.h2_star,
        "the initial row alone": sp.S.One,
    },
)

# What each term of h and of v_c says, so that each can be wrong alone.
_VECTOR, _THIRD = "the term along v~", "the term of E[s^3]"
_h_target = {_VECTOR: 2 * STEP * _c2 * s.h1_star, _THIRD: _skew * _mean(s.z * _y**3)}
NORM_TARGET = _law(
    "norm-along-target", "A row's norm covaries with its overlap with the target",
    eq(s.norm_overlap, sum(_h_target.values())), network_rows.norm_covariance,
    wrong={
        "equal norms, as in the paper": sp.S.Zero,
        "without the third moment": _h_target[_VECTOR],
        "E[s^3] of the other sign": _h_target[_VECTOR] - _h_target[_THIRD],
        "alpha0 for alpha0^2": _h_target[_VECTOR] + s.alpha0 * _h_target[_THIRD],
    } | _each_less(_h_target),
)

_h_spike = {
    _VECTOR: 2 * STEP * _c2 * _v_square,
    _THIRD: _skew * (s.h1_star * _mean(s.z * _y**3) + _mean(_y**4) / s.alpha0),
}
NORM_SPIKE = _law(
    "norm-along-spike", "A row's norm covaries with its overlap with the spike",
    eq(s.norm_spike_overlap, sum(_h_spike.values())), network_rows.norm_covariance,
    wrong={
        "without the batch's noise": without(sum(_h_spike.values()), s.h2_star),
        "equal norms, as in the paper": sp.S.Zero,
        "E[s^3] of the other sign": _h_spike[_VECTOR] - _h_spike[_THIRD],
        "alpha0 for alpha0^2": _h_spike[_VECTOR] + s.alpha0 * _h_spike[_THIRD],
        "E[y^4] dropped": without(sum(_h_spike.values()), _mean(_y**4)),
    } | _each_less(_h_spike),
)

_v_c = {
    "the term of E[z^2 s^2]": 4 * STEP**2 * s.h2_star / s.alpha0 * (_mean(s.z**2 * _s**2) - _c2**2),
    "the term of v~": 4 * STEP**2 * _c2**2 * _v_square,
    "the term of E[y^4]": STEP**4 * _mean(_y**4) * (_mean(_s**4) - s.h1_check**2) / s.alpha0**3,
    "the term of pairs": 2 * STEP**4 * s.h2_star**2 * s.h1_check**2 / s.alpha0**2,
}
NORM_VARIANCE = _law(
    "norm-variance", "The variance of a row's squared norm", eq(s.norm_variance, sum(_v_c.values())),
    network_rows.norm_variance,
    wrong={
        "pairs left out": sum(_v_c.values()) - _v_c["the term of pairs"],
        "equal norms, as in the paper": sp.S.Zero,
        "E[y^4] dropped": sum(_v_c.values()) - _v_c["the term of E[y^4]"],
    } | _each_less(_v_c),
)

_growth = 1 + STEP**2 * s.h2_star / s.alpha0 * (_mean(s.z**2 * _s**2) - s.h1_check) / 2
GAUSSIAN_VARIANCE = _law(
    "gaussian-rows-variance", "The variance of a row's squared norm after a step from Gaussian initial rows",
    eq(s.norm_variance_gaussian, s.norm_variance + 2 * _growth**2), network_rows.gaussian_rows,
    wrong={"the initial norm alone": s.norm_variance + 2, "unit rows": s.norm_variance},
)
_gaussian_spike = s.norm_spike_overlap + STEP * _c2 * _v_square * _growth
GAUSSIAN_SPIKE = _law(
    "gaussian-rows-spike", "The covariance of norm and spike overlap after a step from Gaussian initial rows",
    eq(s.spike_overlap_gaussian, _gaussian_spike), network_rows.gaussian_rows,
    wrong={
        "unit rows": s.norm_spike_overlap,
        "norms as before the step": s.norm_spike_overlap + STEP * _c2 * _v_square,
    },
)

GAUSSIAN_NORMS = claim(
    "beyond.gaussian-norms", "The squared norm of a Gaussian row", BEYOND,
    eq(s.row_norm_variance, 2 * s.c**2), Domain(ranges=(Range(s.c, 0.5, 5.0),), interpretations=INTERPRETATIONS),
    ByDerivation(network_rows.gaussian_rows),
    wrong={"square lost": 2 * s.c},
)

BULK_TRACE = claim(
    "beyond.bulk-trace", "The trace of the rows' covariance is the bulk variance of Result 3.1", BEYOND,
    eq(s.c, 1 + s.row_weight * s.h2_star), STEPS,
    ByDerivation(network_rows.covariance),
    beside("the law of the rows, compiled, against the solver", odd_law, hermite_law_at,
           tolerance=tolerances.QUADRATURE, points=12),
    wrong={"one row of the initial layer lost": s.row_weight * s.h2_star},
    uses=("result-3-1.bulk-variance",),
)

# --- the resolvents --------------------------------------------------------------------------------------------------

_shrunk = 1 + _y**2 * s.leverage
_BATCHES = Domain(ranges=(Range(s.batch_shift, 0.3, 2.0), Range(s.leverage, 0.1, 1.0), Range(s.batch_target, 0.3, 1.0)),
                  hypotheses=(network_bulk.SAMPLES,), interpretations=INTERPRETATIONS)


def _batch(
    id_: str,
    title: str,
    statement: sp.Equality,
    *, wrong: Wrong,
    build: Callable[[], Derivation] = network_bulk.batch,
) -> Claim:
    return claim(
        f"beyond.{id_}", title, BEYOND,
        statement, _BATCHES,
        ByDerivation(build), BySimulation("batches of two targets", draws.BATCHES),
        kind=Kind.LIMIT, wrong=wrong,
    )


def _inverse(weight: sp.Expr) -> sp.Expr:
    return 1 / (s.batch_shift + _mean(weight / _shrunk))


TRACE = _batch(
    "batch-trace", "The trace of the batch's resolvent", eq(s.batch_trace, _inverse(_y**2)),
    wrong={"no leave-one-out": 1 / (s.batch_shift + _mean(_y**2))},
)
TARGET = _batch(
    "batch-target", "The batch's resolvent along the target", eq(s.batch_target, _inverse(_y**2 * s.z**2)),
    wrong={"isotropic": _inverse(_y**2)},
)
MIXED = _batch(
    "batch-mixed", "The batch's resolvent between target and v~",
    eq(s.batch_mixed, s.batch_target * _mean(s.z * _y / _shrunk)),
    wrong={"no leave-one-out": s.batch_target * _mean(s.z * _y)},
    build=network_bulk.batch_vectors,
)
CUBE = _batch(
    "batch-cube", "The batch's resolvent between target and w3",
    eq(s.batch_cube, s.batch_target * _mean(s.z * _y**3 / _shrunk)),
    wrong={"no leave-one-out": s.batch_target * _mean(s.z * _y**3)},
    build=network_bulk.batch_vectors,
)
_pair = s.batch_target * _mean(s.z * _y / _shrunk) * _mean(s.z * _y**3 / _shrunk) + s.leverage * _mean(_y**4 / _shrunk)
PAIR = _batch(
    "batch-pair", "The batch's resolvent between v~ and w3", eq(s.batch_pair, _pair),
    wrong={"no diagonal": without(_pair, s.leverage * _mean(_y**4 / _shrunk))},
    build=network_bulk.batch_vectors,
)

CLAIMS: tuple[Claim, ...] = (
    BULK_TRACE, ROW_COVARIANCE, NORM_TARGET, NORM_SPIKE, NORM_VARIANCE, GAUSSIAN_NORMS, GAUSSIAN_VARIANCE,
    GAUSSIAN_SPIKE, TRACE, TARGET, MIXED, CUBE, PAIR,
)
