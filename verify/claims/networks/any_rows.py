"""Beyond the paper: a gradient step with any activation, the law of its rows, and the resolvent of its batch.

A conjecture, built by chaos expansions and leave-one-out arguments and tested on real networks.
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from giantsteps.derivations.bulk import any_activation, two_batch_matrices
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.bulk.network import SAMPLES
from giantsteps.derivations.bulk.two_batch_matrices import over
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq, without
from giantsteps.verify.second_route.any_activation import draws, numbers
from giantsteps.verify.second_route.any_activation.curves import CURVES
from giantsteps.verify.second_route.networks.step import bulk_at, law_at, step_at
from giantsteps.verify.solver.models import beside
from giantsteps.verify.solver.networks import any_law, solver_blocks

ANY = Source("this suite", "beyond the paper: a step with any activation")
STEP = s.eta / s.beta

_SMOOTH = ("softplus", "leaning tanh", "shifted tanh", "quadratic")
INTERPRETATIONS = tuple(
    {"sigma": CURVES[student].value, "g": CURVES[target].value}
    for student, target in (("softplus", "shifted sin"), ("leaning tanh", "tanh"))
)
STEPS = Domain(ranges=(Range("activation", choices=_SMOOTH), Range("target", choices=("tanh", "shifted sin", "sin")),
                       Range(s.alpha0, 0.7, 20.0, log=True), Range("rate", 0.5, 5.0),
                       Range(s.beta, 0.4, 3.0, log=True), Range(s.V1_hat, 0.1, 5.0, log=True),
                       Range("shift", 0.05, 2.0, log=True)),
               interpretations=INTERPRETATIONS)
_BATCHES = Domain(ranges=(Range("activation", choices=("shifted sin", "quadratic")),
                          Range("target", choices=("shifted sin", "sin")), Range("batch", choices=tuple(numbers.SMALL)),
                          Range(s.alpha0, 1.0, 2.0), Range("rate", 0.5, 3.0), Range(s.beta, 0.5, 2.0)))

# E[Y^k], E[u Y^k], E[u^2 Y^k] and E[z^j s^k].
_m, _t, _v, _s = s.label_moment, s.label_slope, s.label_curve, s.slope_moment


# --- exact, at every n0 and d ----------------------------------------------------------------------------------------

_exact_norm = (1 - 1 / s.n0) * _t[1] ** 2 + ((s.d - 1) * _m[2] + _v[2]) / s.n0
NORM_EXACT = claim(
    "beyond.any-norm-exact", "The average of |w_Y|^2 over batches of n0 samples in d dimensions", ANY,
    eq(s.batch_norm, _exact_norm), _BATCHES,
    ByDerivation(any_activation.spike),
    ByNumbers("all inputs of small batches by a product rule", numbers.small_batch, tolerances.ROUNDING),
    wrong={"all pairs alike": _t[1] ** 2 + ((s.d - 1) * _m[2] + _v[2]) / s.n0,
           "|x|^2 = d": (1 - 1 / s.n0) * _t[1] ** 2 + s.d * _m[2] / s.n0},
)

# E[(sigma' - h1)^2] and the same with z^2, in averages of s.
_check = s.curvature**2 + _s[0, 2]
_check_z = 3 * s.curvature**2 + 2 * s.curvature * _s[3, 1] + _s[2, 2]
_exact_row = (
    1 + 2 * STEP * s.curvature * _m[1]
    + STEP**2 * ((_m[2] * ((s.d - 2) * _check + _check_z) + _v[2] * _check) / s.n0
                 + (1 - 1 / s.n0) * s.curvature**2 * _m[1] ** 2)
)
ROW_EXACT = claim(
    "beyond.any-row-exact", "The average of |b|^2 over batches, for a row across the target", ANY,
    eq(s.row_norm, _exact_row), _BATCHES,
    ByDerivation(any_activation.bulk),
    ByNumbers("all inputs of small batches by a product rule", numbers.small_batch, tolerances.ROUNDING),
    wrong={"the row turned only": (1 + STEP * s.curvature * _m[1]) ** 2,
           "third moment lost": without(_exact_row, _s[3, 1])},
)

# --- the map of the step ---------------------------------------------------------------------------------------------

_square = _t[1] ** 2 + _m[2] / s.alpha0


def _limit(
    id_: str, title: str, statement: sp.Equality, build: Callable[[], Derivation],
    *, wrong: Wrong, kind: Kind = Kind.LIMIT, uses: tuple[str, ...] = (),
) -> Claim:
    """A claim on the rows: derived, compared with the solver's averages, measured on real networks."""
    return claim(
        f"beyond.any-{id_}", title, ANY,
        statement, STEPS,
        ByDerivation(build, conjecture=True),
        beside("the law of the rows, compiled, against the solver", any_law, law_at,
               tolerance=tolerances.QUADRATURE, points=12),
        BySimulation("rows of real networks, two models", draws.ROWS),
        kind=kind, wrong=wrong, uses=uses,
    )


SPIKE = _limit(
    "spike-strength", "The spike after a step with any activation", eq(s.r, STEP * s.h1 * sp.sqrt(_square)),
    any_activation.spike, kind=Kind.CONCENTRATION, uses=("beyond.any-norm-exact",),
    wrong={"labels not centred":
           STEP * s.h1 * sp.sqrt(_t[1] ** 2 + (_m[2] + 2 * s.mean_output * _m[1] + s.mean_output**2) / s.alpha0),
           "batch forgotten": STEP * s.h1 * _t[1]},
)
ALIGNMENT = _limit(
    "alignment", "The alignment after a step with any activation", eq(s.gamma, _t[1] / sp.sqrt(_square)),
    any_activation.spike, kind=Kind.CONCENTRATION, uses=("beyond.any-norm-exact",),
    wrong={"labels not centred":
           _t[1] / sp.sqrt(_t[1] ** 2 + (_m[2] + 2 * s.mean_output * _m[1] + s.mean_output**2) / s.alpha0),
           "always one": sp.S.One},
)
_bulk = (1 + STEP * s.curvature * _m[1]) ** 2 + STEP**2 * _check * _m[2] / s.alpha0
BULK = _limit(
    "bulk-variance", "The bulk variance after a step with any activation", eq(s.c, _bulk), any_activation.bulk,
    kind=Kind.CONCENTRATION, uses=("beyond.any-row-exact",),
    wrong={"Result 3.1 as for odd activations": 1 + STEP**2 * _check * _m[2] / s.alpha0,
           "the linear part of sigma' lost": without(_bulk, s.curvature)},
)

# --- the law of the rows ---------------------------------------------------------------------------------------------

_form = (1 + s.turn * _v[1]) ** 2 + (s.turn**2 / s.alpha0 + s.row_weight) * _v[2]
ROW_COVARIANCE = _limit(
    "row-covariance", "The variance of a bulk row along the target, any activation", eq(s.row_form, _form),
    any_activation.row_law, uses=("beyond.any-bulk-variance",),
    wrong={"rows not turned": 1 + s.row_weight * _v[2],
           "P without its noise": (1 + s.turn * _v[1]) ** 2 + s.row_weight * _v[2]},
)

# pi = p0 + p1 Y = x.P x/d and dP = q1 Y + q2 Y^2 = x.P^2 x/d - (1/d) tr P^2 for a sample of the batch.
_p0, _p1 = 1 + s.turn * _m[1], s.turn / s.alpha0
_q1, _q2 = 2 * s.turn * _p0 / s.alpha0, s.turn**2 / s.alpha0**2
# h = P w_f + w_f', f = f1 Y + f2 Y^2, f' = k2 Y^2 + k3 Y^3.
_f1 = 2 * STEP * _s[2, 1] * _p0
_f2 = 2 * STEP * _s[2, 1] * _p1 + STEP**2 * _s[1, 2] / s.alpha0
_k2 = STEP * _s[2, 1] * _q1 + 2 * STEP**2 * _s[1, 2] * _p0 / s.alpha0
_k3 = STEP * _s[2, 1] * _q2 + 2 * STEP**2 * _s[1, 2] * _p1 / s.alpha0 + STEP**3 * _s[0, 3] / s.alpha0**2
_f_u, _k_u = _f1 * _t[1] + _f2 * _t[2], _k2 * _t[2] + _k3 * _t[3]
_h_target = (1 + s.turn * _v[1]) * _f_u + _p1 * (_f1 * _t[2] + _f2 * _t[3]) + _k_u
NORM_TARGET = _limit(
    "norm-along-target", "A row's norm covaries with its overlap with the target, any activation",
    eq(s.norm_overlap, _h_target), any_activation.row_law,
    wrong={"equal norms": sp.S.Zero, "rows not turned": _f_u + _k_u},
)
_with_y = _f1 * _m[2] + _f2 * _m[3]
_h_spike = (
    _t[1] * _f_u + _with_y / s.alpha0
    + s.turn * (_t[1] * _f_u * _v[1] + (_t[2] * _f_u + _t[1] * (_f1 * _t[2] + _f2 * _t[3]) + _with_y * _m[1]) / s.alpha0
                + (_f1 * _m[3] + _f2 * _m[4]) / s.alpha0**2)
    + _t[1] * _k_u + (_k2 * _m[3] + _k3 * _m[4]) / s.alpha0
)
NORM_SPIKE = _limit(
    "norm-along-spike", "A row's norm covaries with its overlap with the spike, any activation",
    eq(s.norm_spike_overlap, _h_spike), any_activation.row_law,
    wrong={"equal norms": sp.S.Zero, "rows not turned": without(_h_spike, s.turn)},
)

# Moments of M - E[Y]: 0, m2, m3 and m4 by the free cumulants E[Y^n]/alpha0^(n-1); P^2 = p0^2 + 2 nu p0 X + nu^2 X^2.
_x2, _x3 = _m[2] / s.alpha0, _m[3] / s.alpha0**2
_x4 = _m[4] / s.alpha0**3 + 2 * _x2**2
_turned = 4 * s.turn**2 * _p0**2 * _x2 + 4 * s.turn**3 * _p0 * _x3 + s.turn**4 * (_x4 - _x2**2)
_pi_u = _p0 * _t[1] + _p1 * _t[2]
_variance = (
    2 * _turned
    + 4 * STEP * _s[3, 1] * (_p0 * _q1 * _m[2] + (_p0 * _q2 + _p1 * _q1) * _m[3] + _p1 * _q2 * _m[4])
    + 4 * STEP**2 / s.alpha0 * ((_p0**2 * _m[2] + 2 * _p0 * _p1 * _m[3] + _p1**2 * _m[4]) * _s[2, 2]
                                + s.turn**2 * _m[2] ** 2 * _s[0, 2] / s.alpha0)
    + 4 * STEP**2 * _s[2, 1] ** 2 * _pi_u**2
    + 2 * STEP**2 / s.alpha0 * (_s[2, 2] - _s[0, 2]) * (_q1 * _m[3] + _q2 * _m[4])
    + 4 * STEP**3 / s.alpha0**2 * _s[1, 3] * (_p0 * _m[3] + _p1 * _m[4])
    + 4 * STEP**3 / s.alpha0 * _s[2, 1] * _s[1, 2] * _pi_u * _t[2]
    + STEP**4 * (_m[4] * (_s[0, 4] - _s[0, 2] ** 2) / s.alpha0**3 + _s[1, 2] ** 2 * _t[2] ** 2 / s.alpha0**2
                 + 2 * _m[2] ** 2 * _s[0, 2] ** 2 / s.alpha0**2)
)
NORM_VARIANCE = _limit(
    "norm-variance", "The variance of a row's squared norm, any activation", eq(s.norm_variance, _variance),
    any_activation.norm_variance,
    wrong={"rows not turned": without(_variance, s.turn), "turned rows alone": 2 * _turned,
           "as for an odd activation": without(_variance, s.turn, _s[1, 2], _s[1, 3])},
)

# --- the resolvent of the batch --------------------------------------------------------------------------------------

_Y, _U = any_activation.Y, any_activation.U
_S1, _S2 = over(_Y), over(_Y**2)
_T1, _T2 = over(_Y * _U**2), over(_Y**2 * _U**2)
_bend = s.gain * s.turn**2 / s.alpha0 * _S2
_level = 1 + s.gain * (s.row_weight * _S2 + (1 + s.turn * _S1) ** 2)


def _block(
    id_: str, title: str, statement: sp.Equality, build: Callable[[], Derivation] = two_batch_matrices.blocks,
    *, wrong: Wrong, simulated: bool = True,
) -> Claim:
    checks = (BySimulation("batches of two models", draws.BATCHES),) if simulated else ()
    return claim(
        f"beyond.any-{id_}", title, ANY,
        statement, Domain(ranges=STEPS.ranges, hypotheses=(SAMPLES,), interpretations=INTERPRETATIONS),
        ByDerivation(build),
        beside("the blocks of the resolvent, compiled, against the solver", solver_blocks, bulk_at,
               lambda point: numbers.functions_of(step_at(point)), points=6),
        *checks,
        kind=Kind.LIMIT if simulated else Kind.IDENTITY, wrong=wrong,
    )


PLACE_LINEAR = _block(
    "place-linear", "Where the averages of the resolvent are taken, linear in the label",
    eq(s.place_linear, 2 * s.gain * s.turn * s.bridge_trace / s.alpha0), two_batch_matrices.places, simulated=False,
    wrong={"one block for two": s.gain * s.turn * s.bridge_trace / s.alpha0},
)
_place = s.gain / s.alpha0 * (
    s.row_weight * s.row_trace
    + s.turn**2 / s.alpha0 * (s.row_trace * s.rest_trace + s.gain * s.bridge_trace**2)
)
PLACE_SQUARE = _block(
    "place-square", "Where the averages of the resolvent are taken, square in the label",
    eq(s.place_square, _place), two_batch_matrices.places, simulated=False,
    wrong={"rows not turned": s.gain * s.row_weight * s.row_trace / s.alpha0},
)
TRACE = _block(
    "trace", "The trace of (1 + g B)^-1 for any activation",
    eq(s.row_trace, 2 / (_level + sp.sqrt(_level**2 + 4 * _bend * _level))), two_batch_matrices.trace,
    wrong={"as if P did not see its sample": 1 / _level,
           "rows not turned": 1 / (1 + s.gain + s.gain * s.row_weight * _S2)},
)
BRIDGE = _block(
    "bridge", "The trace of (1 + g B)^-1 P", eq(s.bridge_trace, (1 + s.turn * _S1) * s.row_trace),
    wrong={"P = 1": s.row_trace},
)
REST = _block(
    "rest", "One less g times the trace of P (1 + g B)^-1 P",
    eq(s.rest_trace, (1 + s.gain * s.row_weight * _S2) * s.row_trace),
    wrong={"P alone": s.row_trace},
)
_bend_t = s.gain * s.turn**2 / s.alpha0 * _T2
_own_t = 1 + s.gain * s.row_weight * _T2 + s.rest_trace * _bend_t
_slant_t = 1 + s.turn * _T1 + s.bridge_trace * _bend_t
_whole_t = _own_t * (1 + s.row_trace * _bend_t) + s.gain * _slant_t**2
TARGET = _block(
    "target", "The resolvent along the target, any activation",
    eq(s.target_form, (1 + s.row_trace * _bend_t) / _whole_t), two_batch_matrices.target_forms,
    wrong={"isotropic": s.row_trace, "rows not turned": 1 / (1 + s.gain + s.gain * s.row_weight * _T2)},
)
TARGET_BRIDGE = _block(
    "target-bridge", "The resolvent and P along the target", eq(s.target_bridge, _slant_t / _whole_t),
    two_batch_matrices.target_forms,
    wrong={"isotropic": s.bridge_trace, "P = 1": (1 + s.row_trace * _bend_t) / _whole_t},
)

CLAIMS: tuple[Claim, ...] = (
    NORM_EXACT, ROW_EXACT, SPIKE, ALIGNMENT, BULK, ROW_COVARIANCE, NORM_TARGET, NORM_SPIKE, NORM_VARIANCE,
    PLACE_LINEAR, PLACE_SQUARE, TRACE, BRIDGE, REST, TARGET, TARGET_BRIDGE,
)
