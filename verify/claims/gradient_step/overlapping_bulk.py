"""Beyond the paper: the bulk rows after a step from rows that overlap, turned by the curvature of the activation."""

from __future__ import annotations

import sympy as sp

from giantsteps.derivations.bulk import overlapping_bulk as bulk
from giantsteps.derivations.bulk.overlapping_bulk import averaged, residual, t, turn, u
from giantsteps.derivations.gradient_step.overlapping_rows import STEP, scatter
from giantsteps.derivations.language import symbols as s
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.gradient_step.overlapping_rows import BEYOND
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Check, Claim, Domain, Kind, Range
from giantsteps.verify.protocol.statement import MORE, Wrong, claim, eq, without
from giantsteps.verify.second_route.networks import overlapping_bulk as numbers
from giantsteps.verify.solver.networks import turned_rows

_share = 1 - s.row_overlap

ROWS = Domain(ranges=(Range(s.alpha0, 0.7, 8.0, log=True), Range(s.beta, 0.4, 3.0, log=True),
                      Range(s.row_overlap, 0.05, 0.8)),
              hypotheses=(numbers.NO_NOISE,), interpretations=numbers.INTERPRETATIONS)


def _along(moved: sp.Expr, square: sp.Expr) -> sp.Equality:
    return eq(bulk.row_target, _share * (1 + STEP * moved) ** 2 + STEP**2 / s.alpha0 * square)


_moved, _square = averaged(turn * u**2), averaged(residual**2 * scatter(t) * u**2)

COVARIANCE = claim(
    "beyond.overlapping-rows-covariance", "Turned rows: their variance along the target", BEYOND,
    _along(_moved, _square), ROWS,
    ByDerivation(bulk.covariance, conjecture=True),
    BySimulation("rows of real networks, two models", numbers.ROWS),
    kind=Kind.LIMIT,
    wrong={
        "the curvature's noise counted twice": _along(_moved, _square + _share * averaged(turn**2 * u**2)),
        "isotropic noise": _along(_moved, averaged(residual**2 * scatter(t))),
        "the rows' shared direction counted": _along(_moved, _square + s.row_overlap * s.alpha0),
    },
    uses=("beyond.overlapping-rows-bulk",),
    note="d times the variance of b.theta over the rows of one network; theta is the target's direction.",
)

_root = sp.sqrt(s.gain * _share)
_a, _b, _c = (entry / s.alpha0 for entry in bulk.blocks)
_p, _q = bulk.sample
_det = 1 + _a * _p + 2 * _b * _q + (_b**2 - _a * _c) * _q**2
_first, _second, _third = bulk.alone
_inverse = (_third - 1) / ((1 + _first) * (_third - 1) - (_root + _second) ** 2)


def _claim(
    id_: str,
    title: str,
    symbol: sp.Symbol,
    right: sp.Expr,
    checks: tuple[Check, ...],
    *, wrong: Wrong,
    kind: Kind = Kind.LIMIT,
    note: str = "",
) -> Claim:
    return claim(
        f"beyond.overlapping-rows-{id_}", title, BEYOND,
        eq(symbol, right), numbers.RESOLVENT,
        ByDerivation(bulk.resolvent, conjecture=True), *checks,
        kind=kind, wrong={**wrong, "eight per cent more": right * MORE},
        uses=("beyond.overlapping-rows-covariance",),
        note="(1 + g B)^-1 is the first block of the inverse of a matrix that is linear in the samples, with W = [[p, "
             "q], [q, 0]] for one sample, p = g eps^2/alpha0 R^2 (H - (1 - o) K^2), q = eps sqrt(g (1 - o)) R K, R = "
             f"y - F, and G the traces of its blocks, G = (Z + E W')^-1.{note}",
    )


_solver = ByNumbers("the solver's equivalent", turned_rows, tolerances.SOLVER, points=6)
_dense = BySimulation("dense batches, two models", numbers.RESOLVENTS)
_m = bulk.target_matrix()


def _first_entry(matrix: sp.Matrix) -> sp.Expr:
    return sp.together(matrix.adjugate()[0, 0] / matrix.det(method="berkowitz"))


def _changed(**entries: sp.Expr) -> sp.Matrix:
    """The matrix with some entries (and their mirror images) replaced; m01 is row 0, column 1."""
    changed = _m.copy()
    for name, value in entries.items():
        i, k = int(name[1]), int(name[2])
        changed[i, k] = changed[k, i] = value
    return changed


CLAIMS: tuple[Claim, ...] = (
    COVARIANCE,
    _claim(
        "sample", "Turned rows: what one sample does to the resolvent", bulk.answer, (_p - _c * _q**2) / _det,
        (ByNumbers("matrices inverted", numbers.sample_answer, tolerances.ROUNDING),),
        wrong={
            "without an answer": _p,
            "the blocks that mix forgotten": (_p - _c * _q**2) / without(_det, bulk.blocks[1]),
        },
        kind=Kind.IDENTITY,
    ),
    _claim(
        "trace", "Turned rows: the trace of (1 + g B)^-1", s.row_trace, _inverse, (_solver, _dense),
        wrong={
            "the rows not turned": 1 / (1 + _first),
            "turned on average only": without(_inverse, _first, _third),
        },
    ),
    _claim(
        "target", "Turned rows: the target's direction in (1 + g B)^-1", bulk.target_form, _first_entry(_m),
        (_solver, _dense),
        wrong={
            "a direction like any other": _inverse,
            "what the samples know of both directions forgotten": _first_entry(_changed(m02=0, m12=0)),
        },
        note=" The smallest of the terms of this entry, written out, is half a per cent of it or less at all rates, "
             "overlaps and gains that were looked at, and the dense batches know it to four per cent: dropped or with "
             "the other sign it is out of their reach at any affordable size.",
    ),
)
