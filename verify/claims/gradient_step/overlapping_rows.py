"""Beyond the paper: Result 3.1 for initial rows with a mutual overlap."""

from __future__ import annotations

from collections.abc import Callable

import sympy as sp

from giantsteps.derivations.gradient_step import overlapping_rows as rows
from giantsteps.derivations.language import symbols as s
from giantsteps.derivations.language.derivation import Derivation
from giantsteps.derivations.language.named_functions import g
from giantsteps.verify.checks.points import ByNumbers
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.checks.simulation import BySimulation
from giantsteps.verify.claims.saddle_point.formulas import over_z as _mean
from giantsteps.verify.protocol import tolerances
from giantsteps.verify.protocol.claim import Claim, Domain, Kind, Range, Source
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.second_route.networks import overlapping_draws as draws
from giantsteps.verify.solver.networks import overlapping_map

BEYOND = Source("this suite", "beyond the paper: initial rows that overlap")
STEP = rows.STEP

STEPS = Domain(ranges=(Range("activation", choices=("tanh", "erf", "sin", "shifted sin")),
                       Range("target", choices=("tanh", "sin", "shifted sin", "quadratic")),
                       Range(s.alpha0, 0.7, 20.0, log=True), Range("rate", 0.5, 4.0), Range(s.beta, 0.4, 3.0, log=True),
                       Range(s.row_overlap, 0.05, 0.8), Range(s.noise, 0.0, 0.5)),
               interpretations=(draws.functions_for("tanh", "shifted sin", 0.3),
                                draws.functions_for("shifted sin", "quadratic", 0.6)))

_F, _G, _K, _H = (function(s.z) for function in (rows.output, rows.slope, rows.curvature, rows.scatter))


_target = _mean(g(s.z))


def _residual_square(weight: sp.Expr) -> sp.Expr:
    """E[(y - F)^2 weight(t)]."""
    return (s.h2_star + s.noise) * _mean(weight) - 2 * _target * _mean(_F * weight) + _mean(_F**2 * weight)


_along = _target * _mean(s.z * _G) - _mean(s.z * _F * _G)
_kept = _target * _mean(_K) - _mean(_F * _K)
_root = sp.sqrt(s.row_overlap)


def _strength(common: sp.Expr, along: sp.Expr, square: sp.Expr) -> sp.Expr:
    return sp.sqrt((common + STEP * along) ** 2 + STEP**2 * (s.h1**2 * s.h1_star**2 + square / s.alpha0))


_spike = _strength(_root, _along, _residual_square(_G**2))
_label_only = (s.h2_star + s.noise) * _mean(_G**2)


def _bulk(share: sp.Expr, kept: sp.Expr, square: sp.Expr) -> sp.Expr:
    return share * (1 + STEP * kept) ** 2 + STEP**2 * square / s.alpha0


def _claim(
    id_: str, title: str, statement: sp.Equality, build: Callable[[], Derivation], uses: str, *, wrong: Wrong
) -> Claim:
    """Derived, compared with the solver's map, measured on real networks."""
    return claim(
        f"beyond.{id_}", title, BEYOND,
        statement, STEPS,
        ByDerivation(build, conjecture=True),
        ByNumbers("the solver's map", overlapping_map, tolerances.QUADRATURE, functions=draws.functions_at),
        BySimulation("steps of real networks, two models", draws.STEPS),
        kind=Kind.LIMIT, wrong=wrong, uses=(uses,),
        note="F_0, G_0, K_0 and H_0 at t = e.x are averages over the neurons: of sigma, sigma' and sigma'', and the "
             "variance of sigma'. e is the direction that the rows have in common, orthogonal to the target.",
    )


SPIKE = _claim(
    "overlapping-rows-spike", "The spike after a step from rows that overlap", eq(s.r, _spike), rows.spike_of_step,
    "result-3-1.spike-strength",
    wrong={
        "Result 3.1, which knows no overlap": STEP * s.h1 * sp.sqrt(s.h1_star**2 + (s.h2_star + s.noise) / s.alpha0),
        "the label in place of the residual": _strength(_root, _target * _mean(s.z * _G), _label_only),
        "the rows' common part forgotten": _strength(sp.S.Zero, _along, _residual_square(_G**2)),
        "square root lost": _strength(s.row_overlap, _along, _residual_square(_G**2)),
    },
)

ALIGNMENT = _claim(
    "overlapping-rows-alignment", "The alignment after a step from rows that overlap",
    eq(s.gamma, STEP * s.h1 * s.h1_star / _spike), rows.spike_of_step, "result-3-1.alignment",
    wrong={
        "Result 3.1, which knows no overlap": s.h1_star / sp.sqrt(s.h1_star**2 + (s.h2_star + s.noise) / s.alpha0),
        "the label in place of the residual":
            STEP * s.h1 * s.h1_star / _strength(_root, _target * _mean(s.z * _G), _label_only),
    },
)

BULK = _claim(
    "overlapping-rows-bulk", "The bulk variance after a step from rows that overlap",
    eq(s.c, _bulk(1 - s.row_overlap, _kept, _residual_square(_H))), rows.bulk_of_step, "result-3-1.bulk-variance",
    wrong={
        "the common part counted as bulk": _bulk(sp.S.One, _kept, _residual_square(_H)),
        "the rows not turned by the curvature": _bulk(1 - s.row_overlap, sp.S.Zero, _residual_square(_H)),
        "the label in place of the residual": _bulk(1 - s.row_overlap, _target * _mean(_K),
                                                    (s.h2_star + s.noise) * _mean(_H)),
    },
)

CLAIMS: tuple[Claim, ...] = (SPIKE, ALIGNMENT, BULK)
