r"""Rescalings that leave the theory alone: of the activation, of the target, and of the bulk.

Each maps the thirteen variables so that the free energy is multiplied by a constant and the Marchenko-Pastur relation
is kept; saddle points are then mapped to saddle points.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

import sympy as sp

from derivations.bulk.marchenko_pastur import closure
from derivations.free_energy.along_spike import PAPER, mu0, mu1, mu2, squared_residual, y0, y1, y2
from derivations.language import symbols as s
from derivations.language.derivation import Derivation, Step, Vanishing
from derivations.language.expectation import Expectation, expand_expectations
from derivations.saddle_point import T_trace, isotropic_free_energy, tau_trace

_s, _root = s.scale, sp.sqrt(s.c)

# New values of everything, in terms of the old ones.
ACTIVATION = {
    mu0: _s * mu0,
    mu1: _s * mu1,
    mu2: _s * mu2,
    s.ridge: _s**2 * s.ridge,
    s.m: s.m / _s,
    s.zeta: s.zeta / _s,
    s.psi: s.psi / _s,
    s.q1: s.q1 / _s**2,
    s.q2: s.q2 / _s**2,
    s.V1: s.V1 / _s**2,
    s.V2: s.V2 / _s**2,
    s.V1_hat: _s**2 * s.V1_hat,
    s.V2_hat: _s**2 * s.V2_hat,
    s.q1_hat: _s**2 * s.q1_hat,
    s.q2_hat: _s**2 * s.q2_hat,
    s.zeta_hat: _s * s.zeta_hat,
    s.psi_hat: _s * s.psi_hat,
}
TARGET = {
    y0: _s * y0,
    y1: _s * y1,
    y2: _s**2 * y2,
    s.noise: _s**2 * s.noise,
    s.m: _s * s.m,
    s.zeta: _s * s.zeta,
    s.psi: _s * s.psi,
    s.q1: _s**2 * s.q1,
    s.q2: _s**2 * s.q2,
    s.q1_hat: _s**2 * s.q1_hat,
    s.q2_hat: _s**2 * s.q2_hat,
    s.zeta_hat: _s * s.zeta_hat,
    s.psi_hat: _s * s.psi_hat,
}
BULK = {
    mu1: _root * mu1,
    s.c: sp.S.One,
    s.zeta: s.zeta / _root,
    s.psi: s.psi / _root,
    s.q1: s.q1 / s.c,
    s.V1: s.V1 / s.c,
    s.V1_hat: s.c * s.V1_hat,
    s.q1_hat: s.c * s.q1_hat,
    s.zeta_hat: _root * s.zeta_hat,
    s.psi_hat: _root * s.psi_hat,
}


def rescaled(expression: sp.Expr, mapping: Mapping[sp.Expr, sp.Expr]) -> sp.Expr:
    """Replace everything at once."""
    return expression.xreplace(dict(mapping))


def _invariance(
    title: str, mapping: Mapping[sp.Expr, sp.Expr], factor: sp.Expr, closure_factor: sp.Expr, trace_shares_V1: str
) -> Derivation:
    # With T and tau written V1 and V2 (which they are at the saddle point) they are mapped as V1 and V2 are.
    T, tau = sp.symbols("T tau", positive=True)
    phi = isotropic_free_energy().results[s.free_energy].subs({T_trace: T, tau_trace: tau})
    traces = {T: T * mapping.get(s.V1, s.V1) / s.V1, tau: tau * mapping.get(s.V2, s.V2) / s.V2}
    law = s.V1 * (1 + s.beta * s.c * s.V1_hat * s.V2) - s.c * s.V2
    law_factor = mapping.get(s.V1, s.V1) / s.V1
    error = Expectation(squared_residual, s.kappa) - s.noise
    steps = (
        Step(
            "The rescaled variables multiply the free energy by a constant, so stationary points go to stationary "
            "points.",
            sp.Eq(sp.Symbol("\\Phi'"), factor * s.free_energy, evaluate=False),
            (Vanishing("the free energy", expand_expectations(rescaled(phi, {**mapping, **traces}) - factor * phi)),),
        ),
        Step(
            trace_shares_V1,
            sp.Eq(closure(s.V2), 0, evaluate=False),
            (
                Vanishing("the equation for V2", rescaled(closure(s.V2), mapping) - closure_factor * closure(s.V2)),
                Vanishing("the relation between V1 and V2", rescaled(law, mapping) - law_factor * law),
            ),
        ),
        Step(
            "The test error is mapped with it.",
            sp.Eq(s.error_rescaled, factor * s.test_error, evaluate=False),
            (Vanishing("the test error", expand_expectations(rescaled(error, mapping) - factor * error)),),
        ),
    )
    return Derivation(
        title,
        f"{PAPER}, Section 3.3",
        steps,
        {s.error_rescaled: factor * s.test_error},
        isotropic_free_energy().hypotheses,
    )


@functools.cache
def activation_scale() -> Derivation:
    """sigma -> s sigma and lambda -> s^2 lambda leave predictions alone."""
    return _invariance(
        "scale of the activation",
        ACTIVATION,
        sp.S.One,
        s.scale**2,
        "V1 and V2 are divided by s^2 when lambda, V1^ and V2^ are multiplied by it.",
    )


@functools.cache
def target_scale() -> Derivation:
    """g -> s g and Delta -> s^2 Delta multiply the test error by s^2."""
    return _invariance("scale of the target", TARGET, s.scale**2, sp.S.One, "The traces do not know the target.")


@functools.cache
def bulk_scale() -> Derivation:
    """(sigma(z), r, c) and (sigma(sqrt(c) z), r/sqrt(c), 1) are the same problem."""
    base = _invariance(
        "scale of the bulk",
        BULK,
        sp.S.One,
        sp.S.One,
        "V1 is divided by c and V1^ multiplied by it: their product with c does not change.",
    )
    argument = s.r * s.kappa + sp.sqrt(s.c) * s.z
    step = Step(
        "sigma(sqrt(c)(r kappa/sqrt(c) + z)) = sigma(r kappa + sqrt(c) z): mu0 and mu2 are the same functions, mu1 "
        "= E[z sigma]/sqrt(c) gains sqrt(c).",
        sp.Eq(sp.Symbol("\\mu_1'"), sp.sqrt(s.c) * mu1, evaluate=False),
        (Vanishing("the argument", sp.sqrt(s.c) * (s.r / sp.sqrt(s.c) * s.kappa + s.z) - argument),),
    )
    return Derivation(base.title, base.source, (step, *base.steps), base.results, base.hypotheses)
