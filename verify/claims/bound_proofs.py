"""Proofs of the bounds of Section 4.3: obligations computed from the inequality that is claimed."""

from __future__ import annotations

import sympy as sp

from derivations import bounds
from derivations import symbols as s
from derivations.along_spike import mu0, mu1, mu2, y0, y1, y2
from derivations.derivation import NonNegative, Obligation, Vanishing
from derivations.expectation import expand_expectations
from verify.claims.saddle_formulas import E

# The averages that the bounds are made of.
overlap, norm = E(mu0 * y0), E(mu0**2)
cross, second, second_overlap = E(s.kappa * mu0 * mu1), E(s.kappa**2 * mu1**2), E(s.kappa * mu1 * y0)
target_square = E(y2) - s.noise


def complete_the_square(statement: sp.Basic) -> tuple[Obligation, ...]:
    """left - right = |mu0|^2 (b1 - <g, mu0>/|mu0|^2)^2, with |mu0|^2 > 0."""
    size = sp.Symbol("|\\mu_0|^2", positive=True)
    left, right = statement.args
    difference = (expand_expectations(left) - expand_expectations(right)).subs(norm, size)
    return (
        Vanishing("left less right is a square with weight |mu0|^2", difference - size * (s.b1 - overlap / size) ** 2),
        NonNegative("the weight", size, ((size, sp.S.One),)),
    )


def cauchy_schwarz(statement: sp.Basic) -> tuple[Obligation, ...]:
    """right - left at the isotropic saddle point, as a sum of non-negative terms (see ``bounds.lower_bound``)."""
    lesser, greater = (statement.lts, statement.gts)
    regular = sp.Symbol("1-\\beta\\hat{V}_1^2 V_1^2", positive=True)
    M22 = s.V1**2 * (s.beta + s.V1**2 / (s.c**2 * s.V2**2 * regular))
    M12 = s.V1**2 / (s.c * regular)
    at = {
        s.q1: (s.q1_hat + s.beta * s.psi_hat**2) * M22 + (s.q2_hat + s.beta * s.c * s.zeta_hat**2) * M12,
        s.psi: s.beta * s.V1 * s.psi_hat,
    }
    return (
        NonNegative(
            "q1 - psi^2 at the saddle point",
            (greater - lesser).subs(at),
            (
                (s.q1_hat * M22, sp.S.One),
                ((s.q2_hat + s.beta * s.c * s.zeta_hat**2) * M12, sp.S.One),
                (s.beta * s.V1**4 / (s.c**2 * s.V2**2 * regular), s.psi_hat),
            ),
        ),
    )


def above_span(statement: sp.Basic) -> tuple[Obligation, ...]:
    """test error - distance = noise of the readout + a quadratic form in (m, zeta, psi) - (b1, b2, b3), by its squares.

    The quadratic form is |mu0|^2 (m - b1 + t (zeta - b2))^2 + (rest) (zeta - b2)^2 + E[mu1^2] (psi - b3)^2.
    """
    a, b, d, e = sp.symbols("a b d e", real=True)
    noise_2, gram = sp.symbols("n_2 G", nonnegative=True)
    size, across = sp.symbols("|\\mu_0|^2 |\\mu_1|^2", positive=True)
    error = bounds.lower_bound().results[s.test_error]
    left = expand_expectations(statement.lhs.subs(s.test_error, error).subs(s.q1, s.excess + s.psi**2))
    # Averages by name; G = |mu0|^2 E[kappa^2 mu1^2] - E[kappa mu0 mu1]^2 >= 0 is the Gram determinant of the first two.
    names = {
        norm: size,
        E(mu1**2): across,
        overlap: a,
        second_overlap: b,
        cross: d,
        E(mu1 * y1): e,
        second: (gram + d**2) / size,
    }
    difference = (left - expand_expectations(statement.rhs)).subs(names)
    positive = sp.Symbol("G", positive=True)
    best_2 = (size * b - a * d) / gram
    best_1 = (a - d * best_2) / size
    squares = (
        (size, s.m - best_1 + d / size * (s.zeta - best_2)),
        (gram / size, s.zeta - best_2),
        (across, s.psi - e / across),
        (across * s.excess, sp.S.One),
        (noise_2 * s.q2, sp.S.One),
    )
    rename = {gram: positive, E(mu2**2): noise_2}
    return (
        NonNegative(
            "test error less distance",
            difference.subs(rename),
            tuple((weight.subs(rename), base.subs(rename)) for weight, base in squares),
        ),
    )
