r"""Gaussian integrals over R replicas with a replica-symmetric matrix, for symbolic R, and their R -> 0 limits.

A matrix A delta_ij - B has the eigenvalue A on differences of replicas (R - 1 times) and A - R B on their sum. So

    ln int prod da_i exp(-(1/2) sum_ij (A delta_ij - B) a_i a_j + f sum_i a_i)
        = (R/2) ln 2 pi - ((R-1) ln A + ln(A - R B))/2 + R f^2/(2 (A - R B)),

and per replica, as R -> 0: (ln 2 pi - ln A + (B + f^2)/A)/2. Section C and F of arXiv 2402.04980 use nothing else.
"""

from __future__ import annotations

import functools

import sympy as sp

from onestep.derivations.language import symbols as s
from onestep.derivations.language.derivation import Derivation, Step, Vanishing, eq

A, B, f = s.mode_curvature, s.mode_coupling, s.mode_force
R = s.replicas


def eigenvalues() -> tuple[sp.Expr, sp.Expr]:
    """Of A delta_ij - B: on a difference of two replicas, and on their sum."""
    return A, A - R * B


def log_determinant(count: sp.Expr = R) -> sp.Expr:
    """ln det(A delta_ij - B) for R replicas."""
    difference, total = eigenvalues()
    return (count - 1) * sp.log(difference) + sp.log(total)


def log_integral() -> sp.Expr:
    """The logarithm of the Gaussian integral with a force f on every replica, without (R/2) ln 2 pi."""
    _, total = eigenvalues()
    return -log_determinant() / 2 + R * f**2 / (2 * total)


def at_zero(expression: sp.Expr) -> sp.Expr:
    """The coefficient of R as R -> 0, for an expression that vanishes at R = 0."""
    return sp.diff(expression, R).subs(R, 0)


@functools.cache
def integral() -> Derivation:
    """The Gaussian integral and its replica limit."""
    result = sp.expand(at_zero(log_integral()))
    difference, total = eigenvalues()
    checks, forces = [], []
    for count in (2, 3, 4):
        matrix = sp.Matrix(count, count, lambda i, j: (A if i == j else 0) - B)
        determinant = (difference ** (count - 1) * total).subs(R, count)
        checks.append(Vanishing(f"the determinant for R = {count}", sp.expand(matrix.det() - determinant)))
        ones = sp.ones(count, 1)
        response = (ones.T * matrix.inv() * ones)[0]
        written_out = -sp.log(sp.factor(matrix.det())) / 2 + f**2 * response / 2
        forces.append(Vanishing(f"written out for R = {count}", log_integral().subs(R, count) - written_out))
    steps = (
        Step(
            "A replica-symmetric matrix acts on a difference of two replicas as A, and on their sum as A - R B.",
            eq(sp.Symbol(r"\ln\det(A\delta_{ij}-B)"), log_determinant()),
            Vanishing("on a difference of two replicas", (A - B) + B - difference),
            Vanishing("on the sum of the replicas", (A - B) - (R - 1) * B - total),
            *checks,
        ),
        Step(
            "A force f on every replica acts on their sum only and adds R f^2/(2(A - R B)).",
            eq(s.log_mode_integral, log_integral()),
            *forces,
        ),
        Step(
            "It vanishes at R = 0; the coefficient of R is what the replica trick keeps.",
            eq(sp.Symbol(r"\partial_R\ln Z_R|_{R=0}"), result),
            Vanishing("zero replicas", log_integral().subs(R, 0)),
            Vanishing("the coefficient of R", result + sp.log(A) / 2 - (B + f**2) / (2 * A)),
        ),
    )
    return Derivation(
        "Gaussian integral over replicas",
        "Appendix F, (182)-(186)",
        *steps,
        results={s.log_mode_integral: log_integral()},
    )


def log_bracket() -> sp.Expr:
    """One sample at square loss: ln of the average of exp(-(B/2) sum_i (b - h_i)^2), h_i of covariance V delta_ij + q.

    1 + B Q has the eigenvalue 1 + B V on differences and 1 + B (V + R q) on the sum, where (b, ..., b) lies.
    """
    beta = s.inverse_temperature
    difference, total = 1 + beta * s.own_overlap, 1 + beta * (s.own_overlap + R * s.shared_overlap)
    return -((R - 1) * sp.log(difference) + sp.log(total)) / 2 - R * beta * s.residual**2 / (2 * total)


@functools.cache
def bracket() -> Derivation:
    """Equation (143) and the energetic part of (182), for any number of replicas and any temperature."""
    beta, b, V, q = s.inverse_temperature, s.residual, s.own_overlap, s.shared_overlap
    h, variance = sp.symbols("h v", positive=True)
    # For one Gaussian variable h of variance v: int exp(-h^2/(2v) - B(b-h)^2/2) = exp(-B b^2/(2(1+Bv)))/sqrt(1+Bv).
    mean = beta * variance * b / (1 + beta * variance)
    exponent = h**2 / (2 * variance) + beta * (b - h) ** 2 / 2
    rest = exponent - (1 + beta * variance) * (h - mean) ** 2 / (2 * variance)
    value = log_bracket()
    zero = at_zero(value)
    steps = (
        *integral().steps[:1],
        Step(
            "For one Gaussian field of variance v completing the square leaves exp(-B b^2/(2(1 + B v)))/sqrt(1 + B v).",
            eq(sp.Symbol("Z_h"), sp.exp(-beta * b**2 / (2 * (1 + beta * variance))) / sp.sqrt(1 + beta * variance)),
            Vanishing("what is left of the exponent", sp.together(rest - beta * b**2 / (2 * (1 + beta * variance)))),
        ),
        Step(
            "The fields have covariance V delta_ij + q: R - 1 differences of variance V, and the sum with V + R q, on "
            "which all of (b, ..., b) falls.",
            eq(s.log_bracket, value),
            Vanishing(
                "one replica is one field of variance V + q",
                value.subs(R, 1) + sp.log(1 + beta * (V + q)) / 2 + beta * b**2 / (2 * (1 + beta * (V + q))),
            ),
            Vanishing("zero replicas", value.subs(R, 0)),
        ),
        Step(
            "Per replica as R -> 0.",
            eq(sp.Symbol(r"\partial_R|_{R=0}"), zero),
            Vanishing("the coefficient of R", zero + (sp.log(1 + beta * V) + beta * (q + b**2) / (1 + beta * V)) / 2),
        ),
    )
    return Derivation(
        "replicated average of one sample",
        "Appendix D, (143); Appendix F, (182)",
        *steps,
        results={s.log_bracket: value},
    )
