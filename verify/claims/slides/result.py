"""The saddle point as the slides print it: the law nu of the bulk, conjugates, overlaps, test error (Result 3.3)."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import sympy as sp

from giantsteps.derivations.free_energy.along_spike import mu1, mu2, varpi, varrho, vartau
from giantsteps.derivations.saddle_point import conventions as slides_conventions
from giantsteps.derivations.saddle_point import symbols as s
from giantsteps.derivations.spectrum.small_bulk import resolvent_of_modes, small_bulk
from giantsteps.verify.checks.points import ByNumbers, Point
from giantsteps.verify.checks.proofs import ByDerivation
from giantsteps.verify.claims.saddle_point import result_3_3 as section_3_3
from giantsteps.verify.claims.saddle_point.formulas import E2, E, I_nu, S, V, b, nu, q, ratio, x
from giantsteps.verify.claims.slides import saddle_point as slides_saddle_point
from giantsteps.verify.claims.slides.printed import as_printed, convention, named, printed
from giantsteps.verify.claims.sources import paper
from giantsteps.verify.protocol.claim import Claim, Domain, Range
from giantsteps.verify.protocol.statement import Wrong, claim, eq
from giantsteps.verify.protocol.tolerances import ROUNDING

FRAME, LAW_FRAME = "Exact asymptotics", "Exact asymptotics, the law nu"

# ---- conjugates ----

_saddle = partial(named, section_3_3.CLAIMS)
_in_slides = partial(named, slides_saddle_point.CLAIMS)
_error = b**2 + s.rho * q - mu1**2 * s.psi_paper**2
_force = E2((sp.sqrt(s.rho) * s.z * mu1 * b + s.psi_paper * mu1**2) / (1 + V))

_CONJUGATES = (
    printed(
        _saddle("result-3-3.saddle.V2-hat"), "V2-hat-with-rho", "The conjugate of q2, with a factor rho", FRAME,
        eq(s.V2_hat, ratio * E(s.rho * mu2**2 / (1 + V))),
        note="The factor rho belongs to none of the conjugates; at gamma = 1 it would make them vanish.",
    ),
    printed(
        _saddle("result-3-3.saddle.q2-hat"), "q2-hat-with-rho", "The conjugate of V2, where a factor 1/rho is missing",
        FRAME, eq(s.q2_hat, ratio * E2(mu2**2 * _error / (1 + V) ** 2)),
        note="With the factor 1/rho restored it is b^2 + q - mu1^2 psi^2/rho.",
    ),
    printed(
        _in_slides("result-3-3.slides.psi-hat"), "psi-hat-without-rho",
        "The conjugate of psi, where a factor 1/rho is missing", FRAME,
        eq(s.psi_hat_slides, s.alpha / sp.sqrt(s.beta) * _force),
        note="y has variance rho there: the force on a unit vector across the spike is E[y ...]/sqrt(rho).",
    ),
    as_printed(_in_slides("result-3-3.slides.zeta-hat"), "zeta-hat", "The conjugate of zeta", FRAME),
)

# ---- overlaps, for any law of the bulk ----


def _size(name: str, title: str, conjugate: sp.Symbol, unknown: sp.Symbol, right: sp.Expr, ours: str) -> Claim:
    right_one, proof = _saddle(ours), ByDerivation(partial(slides_conventions.size, conjugate))
    ours_restated = replace(right_one, statement=eq(unknown, right), checks=(proof,), uses=(), mutants=(), note="")
    return as_printed(ours_restated, name, title, FRAME)


_zeta2, _psi2 = s.zeta_hat_slides**2, s.psi_hat_slides**2
_source = s.q1_hat * varrho + s.q2_hat + _zeta2 * varrho * vartau**2 + _psi2 * varrho * (sp.sqrt(s.rho) * varpi) ** 2
_OVERLAPS = (
    as_printed(_saddle("result-3-3.saddle.V1"), "V1", "Response of the projected readout", FRAME),
    as_printed(_saddle("result-3-3.saddle.V2"), "V2", "Response of the readout", FRAME),
    as_printed(_saddle("result-3-3.saddle.m"), "m", "Mean of the readout", FRAME),
    as_printed(_in_slides("result-3-3.slides.zeta"), "zeta", "Overlap with the spike", FRAME),
    as_printed(_in_slides("result-3-3.slides.psi"), "psi", "Overlap with the target's other direction", FRAME),
    _size(
        "q1", "Size of the projected readout", s.V1_hat, s.q1,
        nu(varrho * _source / S**2)
        - s.beta * _zeta2 * I_nu**2 / (1 - x) ** 2
        - _zeta2 * nu(vartau**2 * varrho**2 / S**2) * ((1 - x) ** 2 - 1) / (1 - x) ** 2,
        "result-3-3.saddle.q1",
    ),
    _size(
        "q2", "Size of the readout", s.V2_hat, s.q2,
        nu(_source / S**2) - _zeta2 * nu(vartau**2 * varrho / S**2) * (1 - 1 / (1 - x) ** 2), "result-3-3.saddle.q2",
    ),
    as_printed(_saddle("result-3-3.test-error-as-printed"), "test-error", "Test error as an average over kappa and z",
               FRAME),
)

# ---- the law nu, on a bulk of three neurons and two inputs ----


def _small_bulk(point: Point) -> dict[str, float]:
    """Dense resolvents of a random 3 x 2 bulk and a random unit v; singular values and projections by numpy."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    W, v = generator.standard_normal((3, 2)), generator.standard_normal(2)
    v /= np.linalg.norm(v)
    ridge, V1_hat, V2_hat = (float(point[y.name]) for y in (s.ridge, s.V1_hat, s.V2_hat))
    inverse = np.linalg.inv((ridge + V2_hat) * np.eye(3) + V1_hat * W @ W.T)
    _, values, right = np.linalg.svd(W)
    return {
        **{name.name: float(value) for name, value in zip(s.singular, values, strict=True)},
        **{name.name: float(f @ v) for name, f in zip(s.spike_share, right, strict=True)},
        s.V1.name: float(np.trace(W @ W.T @ inverse)) / 3,
        s.V2.name: float(np.trace(inverse)) / 3,
        s.spike_resolvent.name: float((W @ v) @ inverse @ (W @ v)),
        s.beta.name: 1.5,
    }


_SMALL = Domain((Range("seed"), Range(s.ridge, 0.1, 2.0), Range(s.V1_hat, 0.3, 2.0), Range(s.V2_hat, 0.1, 1.5)))
_SMALL_CHECKS = (
    ByDerivation(small_bulk),
    ByNumbers("dense resolvents of random bulks", _small_bulk, ROUNDING),
)
_squares = [y**2 for y in s.singular]
_third = sp.Rational(1, 3)


def _on_small_bulk(name: str, title: str, statement: sp.Equality, *, wrong: Wrong) -> Claim:
    return claim(
        f"finite-bulk.{name}", title, paper("Section 3.3, Assumption 3.2"),
        statement, _SMALL,
        *_SMALL_CHECKS,
        wrong=wrong,
    )


_modes = sum((resolvent_of_modes(y) for y in _squares), sp.S.Zero)
NULL_MODES = _on_small_bulk(
    "V2", "Three neurons on two inputs: the null mode counts in V2",
    eq(s.V2, _third * (_modes + resolvent_of_modes(sp.S.Zero))),
    wrong={"a null mode for each input": _third * (_modes + 2 * resolvent_of_modes(sp.S.Zero))},
)
EIGENVALUES = _on_small_bulk(
    "V1", "Three neurons on two inputs: V1 from squared singular values",
    eq(s.V1, _third * sum((y * resolvent_of_modes(y) for y in _squares), sp.S.Zero)),
    wrong={"per input": sum((y * resolvent_of_modes(y) for y in _squares), sp.S.Zero) / 2},
)
# tau = sqrt(d) f.v, d = 2, and nu gives each of p = 3 modes the weight 1/3; beta = 3/2.
_tau = [sp.sqrt(2) * share for share in s.spike_share]


def _along(shares: list[sp.Expr]) -> sp.Expr:
    modes = (y * t**2 * resolvent_of_modes(y) for y, t in zip(_squares, shares, strict=True))
    return s.beta * _third * sum(modes, sp.S.Zero)


_three_halves = {s.beta: sp.Rational(3, 2)}
PROJECTIONS = _on_small_bulk(
    "spike-resolvent", "Three neurons on two inputs: (Wv).G0 Wv is beta I with tau = sqrt(d) f.v",
    eq(s.spike_resolvent, _along(_tau).subs(_three_halves)),
    wrong={"tau not squared": _along([sp.sqrt(abs(t)) for t in _tau]).subs(_three_halves)},
)
_LAW = (
    NULL_MODES,
    EIGENVALUES,
    PROJECTIONS,
    printed(
        NULL_MODES, "law-without-null-modes", "The law nu as a sum over min(p, d) modes", LAW_FRAME,
        eq(s.V2, _third * _modes),
        note="V2 = (1/p) tr S^-1 runs over p modes; above p = d those without an eigenvalue carry 1 - 1/beta of it.",
    ),
    printed(
        EIGENVALUES, "law-of-singular-values", "The law nu at singular values instead of their squares", LAW_FRAME,
        eq(s.V1, _third * sum((y * resolvent_of_modes(y) for y in s.singular), sp.S.Zero)),
        note="varrho multiplies V1^ in S: it is an eigenvalue of W W^T.",
    ),
    convention(
        PROJECTIONS, "law-of-unit-projections", "The law nu with projections f.v of order d^(-1/2)", LAW_FRAME,
        eq(s.spike_resolvent, _along(list(s.spike_share)).subs(_three_halves)),
        note="With |v| = 1 on the frame before, the projections need a factor sqrt(d) to have a limit.",
    ),
)

# ---- zeta ----


def _spike_slope(point: Point) -> dict[str, float]:
    """The slope of a.Wx/sqrt p in kappa, x = kappa v + x_perp, from two inputs of a random network."""
    generator = np.random.default_rng(int(1e6 * float(point["seed"])))
    p, d = 6, 4
    a, W, v, x_any = (generator.standard_normal(shape) for shape in (p, (p, d), d, d))
    v /= np.linalg.norm(v)
    across = x_any - (v @ x_any) * v
    slope = (a @ W @ (2 * v + across) - a @ W @ (v + across)) / np.sqrt(p)
    return {s.zeta.name: float(slope), s.readout_spike.name: float(a @ W @ v), s.p.name: p, s.d.name: d}


ZETA = claim(
    "result-3-3.spike-overlap", "zeta, the slope of the output in kappa mu1", paper("Section 3.3"),
    eq(s.zeta, s.readout_spike / sp.sqrt(s.p)), Domain((Range("seed"),)),
    ByDerivation(slides_conventions.spike_overlap),
    ByNumbers("a random readout of 6 neurons and 4 inputs", _spike_slope, ROUNDING),
    wrong={"per neuron": s.readout_spike / s.p},
)
_ZETA = (
    ZETA,
    convention(
        ZETA, "zeta-over-root-d", "zeta divided by sqrt(d p)", "Main result",
        eq(s.zeta, s.readout_spike / sp.sqrt(s.d * s.p)),
        note="That is for |v| = sqrt(d); v is a unit vector on the other frames and in Pi = 1 - v v^T.",
    ),
    convention(
        ZETA, "output-without-root-p", "The output of the readout as a.sigma(W x), without 1/sqrt(p)", "Main result",
        eq(s.zeta, s.readout_spike),
        wrong={"per neuron": s.readout_spike / s.p},
        note="With it m, zeta and psi would have no 1/sqrt(p) either; the order parameters on the same frame have it.",
    ),
)

CLAIMS: tuple[Claim, ...] = (*_CONJUGATES, *_OVERLAPS, *_LAW, *_ZETA)
