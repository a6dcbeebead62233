"""Beyond the paper: the bulk of a network whose initial readout has a vocabulary of weights, with quenched biases.

A conjecture, built by leave-one-out arguments and tested on random matrices and on real networks. Written for two
letters; every sum over letters shows both. An average over nu stands for one over the spectrum of A, g_a for beta tau_a
and Theta_a(nu) for g_a (1 + u_a^2 omega varrho(nu)).
"""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from giantsteps.derivations.bulk import letters as network_groups
from giantsteps.derivations.bulk import letters as network_groups_rows
from giantsteps.derivations.bulk import symbols as s
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.expectation import Expectation
from giantsteps.derivations.language.named_functions import g, sigma_check
from giantsteps.derivations.saddle_point import network as network_groups_readout
from giantsteps.derivations.saddle_point import symbols as s_saddle
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.networks.rows import STEPS
from giantsteps.verify.claims.saddle_point.formulas import over_z as _mean
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Check, Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.second_route.networks import letter_numbers as numbers
from giantsteps.verify.second_route.networks import letter_steps as steps
from giantsteps.verify.second_route.networks.step import functions_at

BEYOND = Source("this suite", "beyond the paper: the network's own bulk with a vocabulary")

# --- the rows of one letter ------------------------------------------------------------------------------------------

_STEP = s.letter[0] * s.eta / s.beta
_y, _s = g(s.z), sigma_check(s.z)
_LETTER_STEPS = Domain(ranges=(*STEPS.ranges, Range(s.letter[0], -1.3, -0.3)), hypotheses=STEPS.hypotheses,
                       interpretations=STEPS.interpretations)


_c2 = _mean(s.z**2 * _s)
_skew = _STEP**3 * _mean(_s**3) / s.alpha0**2
_v_square = s.h1_star**2 + s.h2_star / s.alpha0


def _row(id_: str, title: str, left: sp.Symbol, right: sp.Expr, uses: str, *, wrong: Wrong) -> Claim:
    return claim(
        f"beyond.groups.{id_}", title, BEYOND, eq(left, right), _LETTER_STEPS,
        ByDerivation(network_groups_rows.rows, conjecture=True),
        ByNumbers("averages on a fixed grid, at the letter's own rate", steps.letter_law, tolerances.QUADRATURE,
                  functions=functions_at, points=6),
        BySimulation("rows of one of two letters, real networks", steps.STEPPED_ROWS),
        kind=Kind.LIMIT, wrong={**wrong, "the letter forgotten": right.xreplace({s.letter[0]: sp.S.One})},
        uses=(f"beyond.{uses}",),
    )


_variance = 4 * _STEP**2 * (
    s.h2_star / s.alpha0 * (_mean(s.z**2 * _s**2) - _c2**2) + _c2**2 * _v_square
) + _STEP**4 * (
    _mean(_y**4) * (_mean(_s**4) - s.h1_check**2) / s.alpha0**3 + 2 * s.h2_star**2 * s.h1_check**2 / s.alpha0**2
)
ROWS = (
    _row(
        "row-covariance", "The variance of a letter's bulk row along the target", s.row_form_of,
        1 + _STEP**2 * s.h1_check / s.alpha0 * _mean(s.z**2 * _y**2), "row-covariance",
        wrong={"isotropic": 1 + _STEP**2 * s.h1_check / s.alpha0 * s.h2_star},
    ),
    _row(
        "norm-along-target", "The norm of a letter's row covaries with its overlap with the target", s.norm_overlap_of,
        2 * _STEP * _c2 * s.h1_star + _skew * _mean(s.z * _y**3), "norm-along-target",
        wrong={"equal norms": sp.S.Zero},
    ),
    _row(
        "norm-along-spike", "The norm of a letter's row covaries with its overlap with the spike",
        s.norm_spike_overlap_of,
        2 * _STEP * _c2 * _v_square + _skew * (s.h1_star * _mean(s.z * _y**3) + _mean(_y**4) / s.alpha0),
        "norm-along-spike",
        wrong={"equal norms": sp.S.Zero},
    ),
    _row(
        "norm-variance", "The variance of the squared norm of a letter's row", s.norm_variance_of[0], _variance,
        "norm-variance",
        wrong={"equal norms": sp.S.Zero},
    ),
)

# --- the readout's resolvent, for any spectrum of A ------------------------------------------------------------------

_nu = s.spectrum_mode
_a = sp.Function("varrho", nonnegative=True)(_nu)
_f1, _f2, _h1, _h2 = (sp.Function(name, real=True)(_nu) for name in ("f_1", "f_2", "h_1", "h_2"))
_C11, _C12, _C22 = s.V1_hat_of[0][0], s.V1_hat_of[0][1], s.V1_hat_of[1][1]
_det = _C11 * _C22 - _C12**2
_rows = tuple(1 + u**2 * s.row_weight * _a for u in s.letter)
_th1, _th2 = (sp.Function(f"Theta_{a}", positive=True)(_nu) for a in (1, 2))
_whole = 1 + _C11 * _th1 + _C22 * _th2 + _det * _th1 * _th2
_shift = tuple(s.ridge + D for D in s.V2_hat_of)


def _over(integrand: sp.Expr) -> sp.Expr:
    """The average over the spectrum of A."""
    return Expectation(integrand, _nu)


_SPECTRA = Domain(ranges=(Range(s.beta, 0.4, 2.5, log=True), Range(s.ridge, 0.1, 2.0, log=True),
                          Range(s.fraction[0], 0.25, 0.75), Range(s.row_weight, 0.2, 1.5, log=True),
                          Range(s.letter[0], 0.6, 1.5), Range(s.letter[1], -1.2, 0.3),
                          *(Range(x, 0.3, 1.5) for x in (_C11, _C22, *s.V2_hat_of)), Range(_C12, -0.28, 0.28),
                          *(Range(x, 1.0, 2.0) for x in s.norm_variance_of)),
                  hypotheses=(network_groups.ROWS_OF_GROUPS,), interpretations=(numbers.GENERIC_SPECTRAL,))
_MATRICES = ByNumbers("matrices of both letters at each eigenvalue, iterated",
                      lambda point: numbers.limits(numbers.drawing_at(point)), tolerances.SOLVER,
                      lambda point: numbers.functions_of(numbers.drawing_at(point)), points=6)
_DRAWN, _SIZED = (BySimulation("rows drawn with these covariances, one letter zero in one of two models", experiment)
                  for experiment in (numbers.DRAWN_FORMS, numbers.DRAWN_SIZES))
_TIED = BySimulation("rows drawn with these covariances, norms that follow them", numbers.TIED_FORMS)


def _bulk(
    id_: str,
    title: str,
    left: sp.Symbol,
    right: sp.Expr,
    build: Callable[[], Derivation],
    *, wrong: Wrong,
    checks: tuple[Check, ...] = (_MATRICES, _DRAWN),
    uses: tuple[str, ...] = ("beyond.groups.row-covariance",),
    note: str = "",
) -> Claim:
    return claim(
        f"beyond.groups.{id_}", title, BEYOND,
        eq(left, right), _SPECTRA,
        ByDerivation(build), *checks,
        kind=Kind.LIMIT, wrong=wrong, uses=uses, note=note,
    )


_isotropic_form = _over(_rows[0]) * _over((_C11 + _det * _th2) / _whole)
TRACES = (
    _bulk(
        "V2", "The trace of the readout's resolvent over the neurons of a letter", s.V2_of[0],
        s.fraction[0] / (_shift[0] + _over(_rows[0] * (_C11 + _det * _th2) / _whole)), network_groups.traces,
        wrong={
            "letters do not mix": s.fraction[0] / (_shift[0] + _over(_rows[0] * _C11 / (1 + _C11 * _th1))),
            "isotropic rows": s.fraction[0] / (_shift[0] + _isotropic_form),
        },
    ),
    _bulk(
        "V1-own", "The trace of W W^T against the readout's resolvent, one letter", s.V1_of[0][0],
        _over(_th1 * (1 + _C22 * _th2) / _whole) / s.beta, network_groups.traces,
        wrong={"letters do not mix": _over(_th1 / (1 + _C11 * _th1)) / s.beta},
    ),
    _bulk(
        "V1-mixed", "The trace of W W^T against the readout's resolvent, two letters", s.V1_of[0][1],
        -_C12 * _over(_th1 * _th2 / _whole) / s.beta, network_groups.traces,
        wrong={"letters do not mix": sp.S.Zero},
    ),
    _bulk(
        "log-determinant", "The log-determinant of the readout's S", s_saddle.log_det_of_rows,
        sum(
            (_shift[a] * s.V2_of[a] - s.fraction[a] - s.fraction[a] * sp.log(s.V2_of[a] / s.fraction[a])
             for a in (0, 1)), sp.S.Zero) + _over(sp.log(_whole)) / s.beta,
        network_groups_readout.log_determinant,
        wrong={"without the bulk": sum(s.fraction[a] * sp.log(_shift[a]) for a in (0, 1))},
        checks=(_DRAWN,), uses=("beyond.groups.V2", "beyond.groups.V1-own", "beyond.groups.V1-mixed"),
        note="Stationary in tau_a at fixed g_a = beta tau_a: its slopes in D and C are tau and T, so that the "
             "derivative of (T, tau) in (C, D) is symmetric.",
    ),
)

OVERLAPS = (
    _bulk(
        "overlap-own", "The overlap of two directions, one letter", s.forms_own,
        _over(_f1 * _f2 * _th1 * (1 + _C22 * _th2) / _whole), network_groups.traces,
        wrong={"letters do not mix": _over(_f1 * _f2 * _th1 / (1 + _C11 * _th1))},
        uses=("beyond.groups.V2",),
    ),
    _bulk(
        "overlap-mixed", "The overlap of two directions, two letters", s.forms_mixed,
        -_C12 * _over(_f1 * _f2 * _th1 * _th2 / _whole), network_groups.traces,
        wrong={"letters do not mix": sp.S.Zero},
        uses=("beyond.groups.V2",),
    ),
    _bulk(
        "overlap-norm-own", "The overlap of a direction and the norms, one letter", s.form_norm_own,
        s.row_gain[0] * _over(_f1 * _h1 * (1 + _C22 * _th2) / _whole), network_groups.norms,
        wrong={"the other letter forgotten": s.row_gain[0] * _over(_f1 * _h1 / (1 + _C11 * _th1))},
        uses=("beyond.groups.V2", "beyond.groups.norm-along-spike"),
    ),
    _bulk(
        "overlap-norm-mixed", "The overlap of a direction and the norms of the other letter", s.form_norm_mixed,
        -s.row_gain[1] * _C12 * _over(_f1 * _h2 * _th1 / _whole), network_groups.norms,
        wrong={"letters do not mix": sp.S.Zero},
        checks=(_MATRICES, _TIED), uses=("beyond.groups.V2", "beyond.groups.norm-along-spike"),
    ),
    _bulk(
        "norms-own", "The overlap of the norms with themselves, one letter", s.norms_own,
        s.row_gain[0] * (s.norm_variance_of[0] - s.row_gain[0] * _over(_h1**2 * (_C11 + _det * _th2) / _whole)),
        network_groups.norms,
        wrong={"norms independent of the rows": s.row_gain[0] * s.norm_variance_of[0]},
        uses=("beyond.groups.V2", "beyond.groups.norm-variance"),
    ),
    _bulk(
        "norms-mixed", "The overlap of the norms of two letters", s.norms_mixed,
        -s.row_gain[0] * s.row_gain[1] * _C12 * _over(_h1 * _h2 / _whole), network_groups.norms,
        wrong={"letters do not mix": sp.S.Zero},
        checks=(_MATRICES, _TIED), uses=("beyond.groups.V2", "beyond.groups.norm-variance"),
    ),
)

# --- the readout's sizes ---------------------------------------------------------------------------------------------

SIZES = (
    _bulk(
        "q2", "The size of a letter's readout is a slope of the entropic term",
        s_saddle.q2_of[0], -s_saddle.entropic_slope_own, network_groups_readout.sizes,
        wrong={"half of it": -s_saddle.entropic_slope_own / 2},
        checks=(_SIZED,), uses=("beyond.groups.log-determinant", "beyond.groups.without-spike"),
        note="Twice the entropic term is sum q1^_ab T_ab + sum q2^_a tau_a + (alpha/beta)^2 f.K f at fixed forces f.",
    ),
    _bulk(
        "q1", "The overlap of two letters' readouts is a slope of the entropic term", s_saddle.q1_of[0][1],
        -s_saddle.entropic_slope_mixed / 2, network_groups_readout.sizes,
        wrong={"one block of two": -s_saddle.entropic_slope_mixed},
        checks=(_SIZED,), uses=("beyond.groups.log-determinant", "beyond.groups.without-spike"),
        note="C_12 moves both blocks of S between the letters.",
    ),
)

CLAIMS: tuple[Claim, ...] = (*ROWS, *TRACES, *OVERLAPS, *SIZES)
